package compile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// ruling has two roles with a command of one name, and a part that somebody else's protocol has.
const ruling = `protocol: ruling
import: {pulse: pulse.yaml}
messages: {A: }
consts: {most: %s}
types: {Kept: {list: 0..9, max: most}}
roles:
  first:
    vars: {kept: Kept}
    commands: {go: }
    parts: {pulse: {machine: pulse.peer}}
    initial: idle
    states: {idle: {start: {run: pulse.begin}, go: {send: A}, A: ignore}}
  second: {commands: {go: }, initial: idle, states: {idle: {go: {send: A}, A: ignore}}}
checks:
  both:
    consts: {most: 0}
    instances: {a: first, b: second}
    environment: {%s}
    claims: {stays: {always: a.idle && len(a.kept) == 0, why: it has to claim something}}
`

const pulse = `protocol: pulse
tick: 1s
roles:
  peer:
    vars: {beats: 0..3}
    timers: {beat: {ticks: 1}}
    commands: {begin: }
    initial: still
    states: {still: {begin: {start: beat, goto: going}}, going: {beat: {when: beats < 3, set: {beats: beats + 1}, start: beat}}}
`

// ruled compiles the check of a specification that imports pulse.
func ruled(text string) (*model.Protocol, diag.List) {
	return Load("spec.yaml", Options{Check: "both",
		FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}, "pulse.yaml": {Data: []byte(pulse)}}})
}

// TestRules: a rule that names a role counts there in the place of the general one, wherever it stands; a rule may
// name a timer of a part whose role is imported, and no command of it.
func TestRules(t *testing.T) {
	for rules, want := range map[string]string{
		"go: {times: 1}":                               "first.go 1, second.go 1",
		"go: {times: 1}, second.go: {times: 2}":        "first.go 1, second.go 2",
		"second.go: {times: 2}, go: {times: 1}":        "second.go 2, first.go 1",
		"second.go: {times: 2}":                        "second.go 2",
		"beat: {times: 3}":                             "peer.beat 3",
		"peer.beat: {when: beats < 2}, go: {times: 4}": "peer.beat 0, first.go 4, second.go 4",
		"begin: {times: 1}":                            "there is no command or timer `begin`",
	} {
		p, found := ruled(fmt.Sprintf(ruling, "2", rules))
		var got []string
		if p == nil {
			got = append(got, found.Error())
		} else {
			machines := append(slices.Clone(p.Roles), p.Roles[0].Parts[0].Machine)
			for _, r := range p.Checks[0].Rules {
				m := slices.IndexFunc(machines, func(m *model.Machine) bool {
					return slices.Contains(m.Events, r.Command)
				})
				got = append(got, fmt.Sprintf("%s.%s %d", machines[m].Name, r.Command.Name, r.Times))
			}
		}
		if text := strings.Join(got, ", "); text != want && !(p == nil && strings.Contains(text, want)) {
			t.Errorf("%s: %s, want %s", rules, text, want)
		}
	}
}

// TestListsThatStayEmpty: a check may set the constant of a list's bound to 0, but a list without a name for its
// bound holds something.
func TestListsThatStayEmpty(t *testing.T) {
	if p, found := ruled(fmt.Sprintf(ruling, "2", "go: {times: 1}")); p == nil {
		t.Error(found)
	}
	text := strings.Replace(fmt.Sprintf(ruling, "2", "go: {times: 1}"), "max: most", "max: 0", 1)
	if p, found := ruled(text); p != nil || !strings.Contains(found.Error(), "the bound is 0, not within 1..4096") {
		t.Errorf("a list that never holds anything: %v", found)
	}
}
