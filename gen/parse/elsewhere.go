package parse

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
)

// elsewhere has words of other languages and tools, by the shape in which somebody writes them, and what to write
// here: those of SCXML and UML, XState, looplab/fsm, TLA+, Promela and AsyncAPI.
var elsewhere = func() map[string]map[string]string {
	branch := words(
		"guard cond condition", "a guard is `when: EXPR`",
		"target next dst transition", "the next state is `goto: STATE`",
		"action actions effect effects",
		"statements stand in the branch itself, or in a list `do: [{send: A}, {set: {x: 1}}]`",
		"assign update let", "write `set: {NAME: EXPR}`",
		"emit raise notify callback",
		"what a program hears is `report: NAME`, what a peer hears is `send: MESSAGE`",
		"after delay timeout",
		"a timer is declared under `timers` of the role; `start: NAME` arms it, and NAME is an event")
	return map[string]map[string]string{
		"a branch":                        branch,
		"what a state does with an event": branch,
		"a state": words(
			"on events transitions", "events stand in the state itself: `EVENT: {send: …, goto: …}`",
			"onEntry on_entry onenter enter onEnter",
			"what is done when a state is entered is `entry: [STATEMENT]`",
			"onExit on_exit leave onLeave", "what is done when a state is left is `exit: [STATEMENT]`",
			"type", "a state in which the machine ends is `{final: true}`",
			"substates children", "the states within a state are its `states`",
			"history", "write `resume: STATE` in place of `goto`; it leads to where STATE was left last",
			"after",
			"a timer is declared under `timers` of the role; `start: NAME` arms it, and NAME is an event"),
		"a role": words(
			"variables data context", "variables are `vars: {NAME: TYPE}`",
			"inputs actions", "what the program may do is `commands: {NAME: }`",
			"outputs events",
			"what the program hears is `reports: {NAME: }`; messages are declared above the roles",
			"transitions", "what a state does stands in it: `states: {s: {EVENT: {goto: t}}}`"),
		"a check": words(
			"ghost ghosts history observers observer", "variables that no machine has are those of a monitor: "+
				"`monitors: {NAME: {of: ROLE, vars: {…}, states: {…}}}`",
			"invariant invariants properties assertions ltl", "write `claims: {NAME: {always: EXPR}}`",
			"init next spec", "each role has its `initial` state and `vars`; the check names `instances`"),
		"a claim": words(
			"invariant globally assert", "what holds everywhere is `always: EXPR`",
			"never", "write `always: \"!(EXPR)\"`",
			"leads_to leadsto response", "write `leadsTo: EXPR` and, where it begins, `when: EXPR`",
			"ltl",
			"the forms are `always`, `sometimes`, `leadsTo` with `when`, `agree`, `eventually`, monitors"),
		"a specification": words(
			"name title", "the name is `protocol: NAME`",
			"machines actors participants", "machines are `roles: {NAME: {initial: …, states: …}}`",
			"states initial vars",
			"states, variables and timers are those of a role: `roles: {NAME: {initial: …, states: …}}`",
			"constants", "constants are `consts: {NAME: 14}`"),
	}
}()

// words makes a table of pairs: words with blanks between them, and what is written for each of them here.
func words(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		for _, w := range strings.Fields(pairs[i]) {
			m[w] = pairs[i+1]
		}
	}
	return m
}

// reportElsewhere reports a word of another language in a state, if what stands behind it is nothing that a state
// does with an event.
func reportElsewhere(e ast.Entry, s *shape, c *diag.Collector) bool {
	hint := elsewhere[s.what][e.Key.Text]
	if hint == "" {
		return false
	}
	var trial diag.Collector
	if checkShape(e.Value, s.open, &trial); !trial.HasErrors() {
		return false
	}
	c.Errorf("FSM007", e.Key.Span(), "%s has no key %s", s.what, diag.Quote(e.Key.Text)).With(hint)
	return true
}
