package prove

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// TestHostileProved proves claims against somebody who sends what they like. Each configuration of the
// certificate is needed, so the verifier takes the steps of the hostile instance, too.
func TestHostileProved(t *testing.T) {
	for _, name := range []string{"ready", "update", "confirm", "setup"} {
		load := specification(t, name)
		r, c := proved(t, load, "stranger", Options{})
		if r.Verdict != Proved || !r.Verified || c == nil {
			t.Errorf("%s: %s", name, r.Text(false))
			continue
		}
		if !slices.ContainsFunc(r.Established, func(s string) bool { return strings.HasPrefix(s, "b is hostile") }) {
			t.Errorf("%s: it is not said that b is hostile: %q", name, r.Established)
		}
		for n := 0; n < len(c.Configurations); n += 1 + len(c.Configurations)/25 {
			fewer := *c
			fewer.Configurations = slices.Concat(c.Configurations[:n:n], c.Configurations[n+1:])
			p, err := load("stranger")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := fewer.Audit(p); err == nil {
				t.Errorf("%s: the certificate holds without configuration %d of %d", name, n, len(c.Configurations))
			}
		}
	}
}

const locked = `protocol: lock
messages: {KEY: {fields: {n: WIDTH}}, OPEN: }
roles:
  door:
    vars: {tried: 0..3}
    initial: shut
    states:
      shut:
        KEY: [{when: n == 5, goto: open}, {when: tried < 3, set: {tried: tried + 1}}, {goto: stuck}]
        MORE
      open: {KEY: ignore}
      stuck: {KEY: ignore}
  hand:
    commands: {turn: }
    initial: a
    states: {a: {turn: {send: "KEY{n: 5}", to: 0}}}
checks:
  stranger:
    instances: INSTANCES
    hostile: h
    quiet: "true"
    claims: {shut: {always: CLAIM}}
`

func TestHostileLimits(t *testing.T) {
	for _, c := range []struct{ width, more, instances, claim, verdict, want string }{
		{"0..9", "OPEN: ignore", "{d: door, h: hand}", "!(d.open && d.tried > 3)", Proved, "shut, always: proved"},
		{"0..9", "OPEN: ignore", "{d: door, h: hand}", "!d.open", Violated, "1. d ← KEY{n: 5}   shut → open"},
		{"0..9", "OPEN: {set: {tried: tried + 3}}", "{d: door, h: hand}", "d.tried <= 3", Proved, "is dropped"},
		{"0..99", "OPEN: ignore", "{d: door, h: hand}", "!d.stuck", NotAttempted,
			"sends only some values: n of KEY has too many; `domains` with 64 values or fewer"},
		{"0..9", "lost: ignore", "{d: door, h: hand}", "!d.open", NotAttempted,
			"a hostile instance ends links: role door"},
		{"text 3", "OPEN: ignore", "{d: door, h: hand}", "!d.stuck", NotAttempted, "sends texts: n of KEY"},
		{"0..9", "OPEN: ignore", "{d: door, h: hand, i: hand}", "!d.open", NotAttempted,
			"several are honest beside a hostile instance: d and i"},
	} {
		text := strings.NewReplacer("WIDTH", c.width, "MORE", c.more, "INSTANCES", c.instances, "CLAIM",
			"\""+c.claim+"\"").Replace(locked)
		if strings.HasPrefix(c.width, "text") {
			text = strings.NewReplacer("n == 5", "n == 'abc'", "n: 5", "n: 'abc'").Replace(text)
		}
		r, _ := proved(t, written(t, text), "stranger", Options{})
		if text := r.Text(false); r.Verdict != c.verdict || !strings.Contains(text, c.want) {
			t.Errorf("%+v:\n%s", c, text)
		}
	}
}

// written compiles a text.
func written(t *testing.T, text string) Loader {
	return func(check string) (*model.Protocol, error) {
		p, list := compile.Load("lock.yaml", compile.Options{Check: check,
			FS: fstest.MapFS{"lock.yaml": {Data: []byte(text)}}})
		if p == nil {
			t.Fatalf("%s: %v", text, list)
		}
		return p, nil
	}
}

// TestHostileBringsValues: a message of a hostile instance has values that nobody else has. With the two of
// the check three of them never differ; with more they do.
func TestHostileBringsValues(t *testing.T) {
	const text = `protocol: lock
types: {Value: opaque u8}
messages: {KEY: {fields: {v: Value}}}
roles:
  door:
    vars: {x: Value, y: Value}
    initial: shut
    states: {shut: {KEY: {set: {x: y, y: v}}}}
  hand:
    commands: {turn: }
    initial: a
    states: {a: {turn: {send: "KEY{v: 0}", to: 0}}}
checks:
  stranger:
    instances: {d: door, h: hand}
    hostile: h
    domains: {Value: 0..1}
    quiet: "true"
    claims: {same: {always: "d.x == d.y || d.x == 0 || d.y == 0"}}
`
	r, _ := proved(t, written(t, text), "stranger", Options{})
	if text := r.Text(false); r.Verdict != Violated || !strings.Contains(text, "with 3 values of each opaque type") {
		t.Error(text)
	}
}
