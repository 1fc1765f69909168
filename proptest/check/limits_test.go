package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const upwards = `
protocol: counting
types: {N: 0..LIMIT, Bit: 0..1}
messages: {PING: }
roles:
  peer:
    vars: {n: N, q: {list: Bit, max: LIMIT}, other: 0..1}
    commands: {go: {}}
    initial: counting
    states:
      counting:
        go: GO
        ignore: [PING]
checks:
  one:
    instances: {a: peer, b: peer}
    environment: {go: {times: LIMIT}}
    quiet: "true"
`

func limitsWith(t *testing.T, handler string, limit int) *Report {
	t.Helper()
	text := strings.ReplaceAll(strings.ReplaceAll(upwards, "GO", handler), "LIMIT", fmt.Sprint(limit))
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r, list, err := Suite(context.Background(), file, Config{})
	if err != nil || r == nil {
		t.Fatal(err, list)
	}
	return r.Checks[0]
}

// TestFreeLimits: a limit that had no part in the result is free, and really has no part: with a
// greater one as many configurations and steps are found.
func TestFreeLimits(t *testing.T) {
	for _, c := range []struct {
		handler, free string
	}{
		{`{when: n < 3, set: {n: n + 1}}`, "peer.n peer: go"},
		{`{when: n < 3, set: {n: n + 1, q: "append(q, 1)"}}`, "peer.n peer.q peer: go"},
		{`{when: "n < 3 && len(q) < 9", set: {n: n + 1, q: "append(q, 1)"}}`, "peer.n peer.q peer: go"},
		{`{when: n != 9 && n < 3, set: {n: n + 1}}`, "peer.n peer: go"},
		// what compares with the limit, reaches it, goes through it, or was refused for it
		{`{when: n != 7 && n < 3, set: {n: n + 1}}`, "peer: go"},
		{
			`{when: n < 3, do: [{set: {n: n + 1}}, {each: {x: N}, do: [{if: x == n, then: [{set: {other: 1}}]}]}]}`, "peer: go"},
		{`{when: "some(x in N: x > n + 2) && n < 3", set: {n: n + 1}}`, "peer: go"},
		{`{set: {n: n + 1}}`, ""},
		{`{set: {n: n + 5}}`, ""},
	} {
		r := limitsWith(t, c.handler, 7)
		var free []string
		for _, l := range r.Limits {
			if l.Free && l.Most > 0 {
				free = append(free, l.Name)
			}
		}
		if got := strings.Join(free, " "); got != c.free {
			t.Errorf("%s: %q are free, expected %q\n%+v", c.handler, got, c.free, r.Limits)
		}
		if c.free == "" {
			continue
		}
		if more := limitsWith(t, c.handler, 12); len(free) > 1 &&
			(more.Configurations != r.Configurations || more.Steps != r.Steps) {
			t.Errorf("%s: %d configurations and %d steps with one limit, %d and %d with another", c.handler,
				r.Configurations, r.Steps, more.Configurations, more.Steps)
		}
	}
	if r := limitsWith(t, `{set: {n: n + 5}}`, 7); !strings.Contains(r.Refused, "n: 10 is outside N") ||
		r.Limits != nil {
		t.Errorf("a command that is refused for a limit: %q, %+v", r.Refused, r.Limits)
	}
}

// TestLimitsOfConstants: nothing is said of greater limits where the author can raise one only by
// a constant that says something else, too, or together with another limit that had a part.
func TestLimitsOfConstants(t *testing.T) {
	for _, c := range []struct{ bound, other, guard, times, consts, free string }{
		{"0..most", "0..5", "n < 3", "", "", "peer.n peer.other"},
		{"0..most", "0..5", "n < most - 2", "", "", "peer.other"},
		{"0..most", "0..most", "n < 3", "", "", "peer.n peer.other"},
		{"0..most", "0..most", "n < 3 || other == most", "", "", ""},
		{"0..most", "0..some", "n < 3", "", ", some: most + 1", "peer.other"}, // most stands in some
		{"0..most", "0..5", "n < 3", "times: most", "", "peer.n peer.other peer: go"},
		{"0..most", "0..5", "n < 3", "times: most, when: n < most", "", ""},
		{"Named", "Named", "n < 3", "", "", "peer.n peer.other"},
		{"Named", "0..5", "n < 3", "", "", "peer.n peer.other"},
	} {
		text := strings.NewReplacer("BOUND", c.bound, "OTHER", c.other, "GUARD", c.guard, "TIMES", c.times,
			"CONSTS", c.consts).Replace(`
protocol: constants
consts: {most: 5CONSTS}
types: {Named: 0..6}
messages: {PING: }
roles:
  peer:
    vars: {n: BOUND, other: OTHER}
    commands: {go: }
    initial: up
    states: {up: {final: true, go: {when: GUARD, set: {n: n + 1, other: n}}, PING: ignore}}
checks:
  one: {instances: {a: peer, b: peer}, environment: {go: {TIMES}}}
`)
		text = strings.Replace(text, ", environment: {go: {}}", "", 1)
		file := filepath.Join(t.TempDir(), "spec.yaml")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, list, err := Suite(context.Background(), file, Config{})
		if err != nil || r == nil {
			t.Fatal(err, list)
		}
		var free []string
		for _, l := range r.Checks[0].Limits {
			if l.Free {
				free = append(free, l.Name)
			}
		}
		if got := strings.Join(free, " "); got != c.free {
			t.Errorf("%+v: %q are free\n%+v", c, got, r.Checks[0].Limits)
		}
	}
}
