package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

const deny = `protocol: deny
types: {Number: 0..9}
messages:
  ASK: {fields: {number: Number}}
  DENY: {fields: {code: u16}}
channel: {capacity: 2}
roles:
  peer:
    commands:
      ask: {fields: {number: Number}}
      deny: {fields: {code: u16}}
    vars: {last: u16, asked: 0..3}
    initial: idle
    states:
      idle:
        ask: {send: "ASK{number}"}
        deny: {send: "DENY{code}"}
        ASK: {when: asked < 3, set: {asked: asked + 1}}
        DENY: {set: {last: code}}
checks:
  all:
    instances: {a: peer, b: peer}
    claims:
      small: {always: a.last >= 0}
`

// TestMultiplies: a command with very many arguments is named before the search, and what took most
// values after it; the limits end it although a single configuration has 131,112 steps.
func TestMultiplies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deny.yaml")
	if err := os.WriteFile(file, []byte(deny), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, limits := range []explore.Options{{MaxTime: 100 * time.Millisecond}, {MaxBytes: 100 << 20}} {
		var before []string
		r, list, err := check.Suite(t.Context(), file, check.Config{Explore: limits,
			Warn: func(text string) { before = append(before, text) }})
		if err != nil || len(list) > 0 && r == nil {
			t.Fatal(err, list)
		}
		c := r.Checks[0]
		want := "deny.yaml:11: check all gives deny with 65,536 different arguments in every configuration"
		if len(before) != 1 || !strings.Contains(before[0], want) ||
			!strings.Contains(before[0], "types: {Name: u16}") {
			t.Errorf("before the search: %q", before)
		}
		if c.Ended == "" || c.PeakBytes > 1<<30 {
			t.Errorf("%q, %d bytes", c.Ended, c.PeakBytes)
		}
		if limits.MaxBytes > 0 && !slices.Contains(c.Multiplied, "code of DENY in a -> b took 65,536 values") ||
			slices.ContainsFunc(c.Multiplied, func(s string) bool { return strings.HasPrefix(s, "asked") }) {
			t.Errorf("what multiplies: %q", c.Multiplied)
		}
		if !slices.Contains(c.Assumptions, "code of deny takes each of its 65,536 values") {
			t.Errorf("assumptions: %q", c.Assumptions)
		}
	}
}

// TestNarrowed: values of a command that the environment never gives are not counted, neither before the search nor
// among the assumptions; what a rule says of several fields or of variables does not count.
func TestNarrowed(t *testing.T) {
	for rule, want := range map[string]string{
		"{}":                               "n of go takes each of its 1,201 values",
		"{when: n < 3}":                    "n of go takes 3 of its 1,201 values",
		"{when: n < 3 && m == 1}":          "n of go takes 3 of its 1,201 values",
		"{when: n < 3 || m == 1}":          "n of go takes each of its 1,201 values",
		"{when: n == k, times: 1}":         "n of go takes each of its 1,201 values",
		"{when: n != 7 && k < 9 && n > 4}": "n of go takes 1,195 of its 1,201 values",
	} {
		file := filepath.Join(t.TempDir(), "narrow.yaml")
		text := strings.Replace(narrow, "RULE", rule, 1)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var before []string
		r, list, err := check.Suite(t.Context(), file, check.Config{
			Explore: explore.Options{MaxConfigurations: 50}, Warn: func(s string) { before = append(before, s) }})
		if err != nil || list.HasErrors() {
			t.Fatal(err, list)
		}
		c := r.Checks[0]
		if !slices.Contains(c.Assumptions, want) {
			t.Errorf("%s: %q", rule, c.Assumptions)
		}
		if few := strings.HasPrefix(want, "n of go takes 3 "); few != (len(before) == 0) {
			t.Errorf("%s: before the search: %q", rule, before)
		}
	}
}

const narrow = `protocol: narrow
messages: {A: {fields: {n: 0..1200}}}
roles:
  r:
    commands: {go: {fields: {n: 0..1200, m: 0..1}}}
    vars: {k: 0..9}
    initial: s
    states:
      s: {go: {send: "A{n: n}", goto: t}, A: {goto: t}}
      t: {final: true, A: ignore}
checks:
  c: {instances: {a: r, b: r}, environment: {go: RULE}, claims: {x: {sometimes: a.t}}}
`
