package compile

import (
	"strings"
	"testing"
	"testing/fstest"
)

const slipsBase = `protocol: room
parties: 3
tick: 50ms
consts: {rounds: 3}
messages: {JOIN: {fields: {n: 0..rounds}}}
roles:
  host:
    vars: {inside: {set: instance}}
    timers: {again: {ticks: 2}}
    initial: lobby
    states:
      lobby: {JOIN: {set: {inside: "with(inside, sender)"}, start: again, goto: done}, again: ignore}
      done: {final: true}
  guest:
    commands: {join: }
    initial: out
    states:
      out: {join: {send: "JOIN{n: 1}", to: 0, goto: inside}}
      inside: {final: true}
checks:
  c:
    instances: {h: host, "g[1..2]": guest}
    claims: {all-in: {always: "h.done => g[1].inside"}}
`

// TestSlipsHelp: a slip of the pen gets the remedy that its author needs.
func TestSlipsHelp(t *testing.T) {
	load := func(text string) string {
		_, list := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
		var b strings.Builder
		for _, d := range list {
			b.WriteString(d.Message + " | " + d.Hint + "\n")
		}
		return b.String()
	}
	if got := load(slipsBase); strings.Contains(got, "FSM0") || got != "" {
		t.Fatalf("the text without a slip: %s", got)
	}
	for _, c := range []struct{ from, to, want string }{
		{"start: again, goto: done", "start: again goto: done",
			"a comma is missing before `goto`, or the text needs quotes | write `, goto:`"},
		{"goto: done", "goto:done", "a space is missing behind the colon: write `goto: done`"},
		{`"with(inside, sender)"}, start: again`, `"with(inside, sender)}, start: "again"`,
			"ends right before `again` | a quote is missing in it, or before it"},
		{`"with(inside, sender)"`, "\u201cwith(inside, sender)\u201d", "these are quotes of prose; write straight ones"},
		{"h.done =>", "host.done =>", "`host` is a role, and here are its instances meant | write `h`"},
		{"=> g[1].inside", "=> guest.inside", "| write `g[1]` or `g[2]`"},
		{"h.done =>", "h.done ->", "`->` is not an operator here; write =>"},
		{"with(inside", "add(inside", "there is no function `add` | write `with`"},
		{"rounds: 3}", "rounds: 3,, }", "remove one comma"},
	} {
		if got := load(strings.Replace(slipsBase, c.from, c.to, 1)); !strings.Contains(got, c.want) {
			t.Errorf("%s for %s: got %s, want %s", c.to, c.from, got, c.want)
		}
	}
}
