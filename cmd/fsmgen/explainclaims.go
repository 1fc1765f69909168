package main

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

// builtinClaim explains one of the claims that every check makes.
type builtinClaim struct{ name, title, text string }

// builtinClaims are in the order in which the page on the checker has them; a test holds them
// against what a check may expect.
var builtinClaims = []builtinClaim{
	{"unspecified-reception", "a message arrives where nobody thought of it",
		"A message arrives in a state that neither handles, ignores nor defers it, or no guard of its " +
			"branches holds. " +
			"Say in that state what is to happen, or see to it that the other side does not send it then: " +
			"ignoring what is unexpected often hides a race."},
	{"fault", "a statement cannot be executed",
		"On a message or a timer a number leaves its range, an index its array, or none is used as a value. " +
			"Guard the statement with a condition, or give the type a range in which all values fit."},
	{"overflow", "a channel is full",
		"A message is sent into a channel that holds as many as its capacity. " +
			"Bound how often commands are given (environment), let the protocol wait for answers, or say " +
			"with full: lose or full: wait what a full channel does."},
	{"deferred-overflow", "too many messages are deferred",
		"A message arrives in a state that defers it, and the machine holds as many deferred messages as " +
			"its role allows. " +
			"Let the other side wait for an answer before it sends more, leave the state sooner, or give " +
			"the role a greater bound (deferred: 16)."},
	{"deadlock", "nothing can go on, and not everybody is at the end",
		"No step is possible, and not every machine is in a final state; or only commands are possible and " +
			"the check's quiet does not hold. " +
			"Follow the run to the state in which each waits for the other: one of them needs a message, a " +
			"timer or a command there, or the state is final."},
	{"orphan-message", "a message that nobody will read",
		"Every machine is in a final state, nothing can happen any more, and a message is still under way, " +
			"or held because every state since has deferred it. " +
			"Let its receiver wait for it, or ignore it in the final state."},
	{"never-fires", "a transition that is never taken",
		"A transition is taken in none of the checks of the file. " +
			"Its guard may never hold, or no check gives its command; take it out, or write a check in " +
			"which it happens. " +
			"It is judged only when every check was searched to its end."},
	{"unreachable-state", "a state that is never entered",
		"A state is reached in none of the checks of the file. " +
			"Nothing leads to it, or only what never happens; take it out, or write a check in which it is reached. " +
			"It is judged only when every check was searched to its end."},
}

// claimNames are the names of builtinClaims.
func claimNames() []string {
	var names []string
	for _, c := range builtinClaims {
		names = append(names, c.name)
	}
	return names
}

// explainClaim explains a claim by its name.
func explainClaim(name string) (text string, ok bool) {
	for _, c := range builtinClaims {
		if c.name == strings.ToLower(name) {
			return fmt.Sprintf("%s: %s (a claim that every check makes)\n\n%s\n\n"+
				"fsmgen check shows a shortest run to it; if it is meant to be found, the check lists the "+
				"name under expect.\n", c.name, c.title, diag.Wrap(c.text)), true
		}
	}
	return "", false
}
