package lint_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/lint"
)

const covered = `protocol: demo
messages: {A: , B: }
channel: CHANNEL
roles:
  peer:
    commands: {go: {}, quiet: {}}
    initial: idle
    states:
      idle: {final: true, go: {send: A}, quiet: {goto: idle}, ignore: [A, B], LOST}
ALLOW
checks:
  one:
    instances: {a: peer, b: peer}
    claims: {rests: {always: a.idle}, comes: {eventually: a.idle}}
  stranger:
    like: one
    hostile: b
  two:
    like: one
    MORE
`

// TestCoverage: what all checks together leave out is said, with its code, unless it is allowed with
// a reason, or some check expects violations.
func TestCoverage(t *testing.T) {
	const loses, reorders = "{lossy: true}", "{order: any}"
	for _, c := range []struct {
		channel, lost, allow, more string
		want                       []string
	}{
		{"{capacity: 4}", "", "", "doc: the same", nil},
		{loses, "", "", "faults: {crash: 1}", nil},
		{loses, "", "", "faults: {crash: {b: 1}, lose: 0}", nil}, // another one loses
		{loses, "", "", "environment: {go: false}\n    faults: {crash: 1}", nil},
		{loses, "", "", "doc: the same", []string{"FSM093 messages may be lost, so nobody need hear that " +
			"another program has stopped, and in no check one crashes"}},
		{loses, "", "allow: {FSM093: both are parts of one program}", "doc: the same", nil},
		{reorders, "", "", "channel: {order: fifo}", nil},
		{"{duplicates: true}", "", "", "doc: the same", nil},
		{"{capacity: 4}", "lost: ignore", "", "doc: the same",
			[]string{"FSM093 `peer` hears that a link is lost, and in no check one breaks"}},
		{"{capacity: 4}", "lost: ignore", "", "faults: {break: 1}", nil},
		{"{capacity: 4}", "lost: ignore", "", "faults: {crash: {b: 1}}", nil},
		{"{capacity: 4}", "lost: ignore", "", "faults: {crash: 1}", nil},
		{"{capacity: 4}", "lost: ignore", "allow: {FSM093: the cable is short}", "doc: the same", nil},
		{"{capacity: 4}", "lost: ignore", "allow: {FSM093: ' '}", "doc: the same", []string{"FSM093 `peer` hears"}},
		{"{capacity: 4}", "lost: ignore", "", "expect: [rests]", nil},
		{"{capacity: 4}", "lost: ignore", "", "expect: [never-fires]", []string{"FSM093 `peer` hears"}},
	} {
		text := strings.NewReplacer("CHANNEL", c.channel, ", LOST", strings.TrimRight(", "+c.lost, ", "),
			"ALLOW", c.allow, "MORE", c.more).Replace(covered)
		same(t, text, c.want)
	}
}

// TestCommandsMeetFaults: each command that sends is given where the channel does its worst.
func TestCommandsMeetFaults(t *testing.T) {
	base := strings.NewReplacer(", LOST", "", "MORE", "doc: the same",
		"one:\n", "one:\n    environment: {go: false, quiet: false}\n",
		"hostile: b\n", "hostile: b\n    faults: {crash: {a: 1}}\n")
	lossy := base.Replace(strings.ReplaceAll(covered, "CHANNEL", "{lossy: true}"))
	same(t, strings.ReplaceAll(lossy, "ALLOW", ""),
		[]string{"FSM092 `go` sends, and no check gives it where messages may be lost"})
	same(t, strings.ReplaceAll(lossy, "ALLOW", "allow: {FSM092: it is never given}"), nil)
	same(t, strings.ReplaceAll(base.Replace(strings.ReplaceAll(covered, "CHANNEL", "{order: any}")), "ALLOW", ""),
		[]string{"FSM092 `go` sends, and no check gives it where messages may arrive in any order"})
	// It is given where nothing is lost.
	same(t, strings.NewReplacer("ALLOW", "",
		"doc: the same", "channel: {lossy: false}\n    environment: {go: null}").Replace(lossy),
		[]string{"FSM092 `go` sends, and no check gives it where messages may be lost"})
	same(t, strings.NewReplacer("ALLOW", "", "doc: the same", "environment: {go: {times: 1}}").Replace(lossy), nil)
	// A partition takes messages, too.
	same(t, strings.NewReplacer("ALLOW", "", "doc: the same", "channel: {lossy: false}\n    environment: {go: null}\n"+
		"    faults: {partition: 1, crash: {a: 1}}").Replace(lossy), nil)
	reliable := strings.NewReplacer("CHANNEL", "{lossy: true, order: any, duplicates: true}",
		"ALLOW", "", ", LOST", "", "MORE", "doc: the same", "hostile: b\n", "hostile: b\n    faults: {crash: {a: 1}}\n",
		"one:\n", "one:\n    channel: {lossy: false, order: fifo, duplicates: false}\n").Replace(covered)
	same(t, reliable, []string{"FSM093 the channel says that messages may be lost, and no check has it",
		"FSM093 the channel says that messages may arrive in any order, and no check has it",
		"FSM093 the channel says that messages may arrive twice, and no check has it"})
	budgets := strings.Replace(reliable, "doc: the same", "faults: {lose: 1, duplicate: 1, overtake: 1}", 1)
	same(t, budgets, []string{"FSM093 messages may be lost for as long as one likes, and in no check they are"})
	same(t, strings.Replace(budgets, "overtake: 1", "overtake: 1, partition: 1", 1), nil)
}

// TestClaimKinds: a specification claims that something never happens, and that something comes.
func TestClaimKinds(t *testing.T) {
	plain := strings.NewReplacer("CHANNEL", "{capacity: 4}", "ALLOW", "", ", LOST", "",
		"MORE", "doc: the same").Replace(covered)
	same(t, strings.Replace(plain, "rests: {always: a.idle}, ", "", 1),
		[]string{"FSM094 no check makes a claim of safety"})
	same(t, strings.Replace(plain, "comes: {eventually: a.idle}", "can: {reachable: a.idle}", 1),
		[]string{"FSM094 no check makes a claim of liveness"})
	same(t, strings.Replace(plain, "comes: {eventually: a.idle}", "comes: {leadsTo: a.idle, when: a.idle}", 1), nil)
}

// TestHostile: in some check somebody is hostile, if anybody hears anything.
func TestHostile(t *testing.T) {
	plain := strings.NewReplacer("CHANNEL", "{capacity: 4}", ", LOST", "", "MORE", "doc: the same",
		"    hostile: b\n", "").Replace(covered)
	lacks := []string{"FSM095 no check has a hostile peer"}
	same(t, strings.Replace(plain, "ALLOW", "", 1), lacks)
	same(t, strings.Replace(plain, "ALLOW", "allow: {FSM095: ' '}", 1), lacks)
	same(t, strings.Replace(plain, "ALLOW", "allow: {FSM095: both are parts of one program}", 1), nil)
	same(t, strings.NewReplacer("ALLOW", "", "doc: the same", "hostile: {b: malformed}").Replace(plain), nil)
	same(t, strings.NewReplacer("ALLOW", "", "doc: the same", "expect: [rests]").Replace(plain), nil)
	same(t, strings.NewReplacer("ALLOW", "", ", b: peer", "").Replace(plain), nil)
}

// same compares what a specification is warned about with the beginnings of what is wanted.
func same(t *testing.T, text string, want []string) {
	t.Helper()
	p, l := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatalf("%s\n%s", l.Error(), text)
	}
	var got []string
	for _, d := range lint.Whole(p) {
		if got = append(got, d.Code+" "+d.Message); d.Hint == "" {
			t.Errorf("%s has no remedy", d)
		}
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got %q, want %q of\n%s", got, want, text)
	}
}

// TestCertain: a claim that no run can violate is no claim of its kind.
func TestCertain(t *testing.T) {
	base := strings.NewReplacer("CHANNEL", "{capacity: 4}", ", LOST", "", "MORE", "doc: the same",
		"ALLOW", "allow: {FSM095: both are parts of one program}",
		"  stranger:\n    like: one\n    hostile: b\n", "").Replace(covered)
	const says = "FSM094 no check makes a claim of safety, what must never happen; `rests` says nothing, for it is " +
		"true whatever happens"
	for claim, want := range map[string][]string{
		`"true"`:                                {says},
		`"a.idle => a.idle"`:                    {says},
		`"a.idle || !a.idle"`:                   {says},
		`"(a.idle && b.idle) => a.idle"`:        {says},
		`"a.idle => b.idle"`:                    nil,
		`"a.idle || b.idle"`:                    nil,
		`"len(a -> b) < 1 || len(a -> b) >= 1"`: nil, // its form does not tell
	} {
		same(t, strings.Replace(base, "always: a.idle", "always: "+claim, 1), want)
	}
	group := strings.NewReplacer("{a: peer, b: peer}", `{"p[1..2]": peer}`, "eventually: a.idle", `eventually: "p[1].idle"`,
		"always: a.idle", `always: "some(x in p: x.idle) => all(x in p: x.idle)"`).Replace(base)
	same(t, group, nil)
}
