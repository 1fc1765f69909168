package check

import (
	"strings"
	"testing"
)

// untold is a protocol whose machine sends what has no frame on its second command, and texts of
// which not all have one.
const untold = `protocol: untold
types: {Kind: {enum: [one, two]}, Long: text 9}
wire: {header: [type: u8], max: 64}
messages:
  TAG:
    id: 0
    fields: {kind: Kind, a: "0..1?", b: "0..1?"}
    wire: [kind: u8, case kind: [one: [a: u8], two: [b: u8]]]
  SAY:
    id: 1
    fields: {text: Long}
    wire: [text: nul]
roles:
  asker:
    commands: {first: {}, second: {}, say: {fields: {text: Long}}}
    initial: idle
    states:
      idle:
        doc: waits
        first: {send: "TAG{kind: one, a: 1, b: none}", goto: begun}
      begun:
        second: {send: "TAG{kind: KIND, a: none, b: 1}", goto: done}
        say: {send: "SAY{text}", goto: done}
      done: {final: true}
  hearer:
    initial: idle
    states:
      idle: {final: true, ignore: [TAG, SAY]}
checks:
  pair: {instances: {a: asker, b: hearer}, quiet: "true", EXPECT claims: {done: {sometimes: a.done}}}
`

// TestMessagesWithoutFrame holds that a message without a frame is found, with its place and by the shortest
// run, that it is a finding of its own, and that texts that the check does not look into are an assumption.
func TestMessagesWithoutFrame(t *testing.T) {
	good := strings.NewReplacer("KIND", "two", "EXPECT", "").Replace(untold)
	bad := strings.NewReplacer("KIND", "one", "EXPECT", "expect: [unencodable], ").Replace(untold)
	r := checked(t, good)
	if r.Verdict != Holds {
		t.Fatalf("with frames for all messages:\n%s", r.Text(false))
	}
	want := "texts and opaque numbers that the check does not look into fit into frames; not all would: " +
		"SAY: field text: the text has in it what ends it, or is too long"
	if !strings.Contains(strings.Join(r.Assumptions, "\n"), want) {
		t.Errorf("assumed is %q", r.Assumptions)
	}
	r = checked(t, bad)
	for _, c := range r.Claims {
		if c.Name != Unencodable {
			continue
		}
		if c.Result != Violated || len(c.Counterexample.Steps) != 2 {
			t.Fatalf("not violated in two steps:\n%s", r.Text(false))
		}
		want := "a: sends TAG{kind: one, a: none, b: 1}, which has no frame: field a is none, and by what the other " +
			"fields say the frame has it (spec.yaml:22:18)"
		if !strings.HasSuffix(c.Counterexample.Problem, want) {
			t.Errorf("%q, not %q", c.Counterexample.Problem, want)
		}
		return
	}
	t.Errorf("no claim of this name:\n%s", r.Text(false))
}
