package main

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/diag"
)

// builtinClaim explains one of the claims that every check makes.
type builtinClaim struct {
	name, title, text string
	absent            bool // what is found is that something never happens
}

// builtinClaims are in the order in which the page on the checker has them; a test holds them
// against what a check may expect.
var builtinClaims = []builtinClaim{
	{name: "unspecified-reception", title: "a message arrives where nobody thought of it",
		text: "A message arrives in a state that neither handles, ignores nor defers it, or no guard of its " +
			"branches holds. " +
			"Say in that state what is to happen, or see to it that the other side does not send it then: " +
			"ignoring what is unexpected often hides a race."},
	{name: "fault", title: "a statement cannot be executed",
		text: "On a message or a timer a number leaves its range, an index its array, or none is used as a value. " +
			"Guard the statement with a condition, or give the type a range in which all values fit."},
	{name: "unencodable", title: "a message is sent that has no frame",
		text: "A machine sends a message whose fields have values for which the protocol's wire has no bytes: " +
			"a field that is set though the tag says that it is not there, a text that has in it what ends it, " +
			"an element that looks like the end of its list. " +
			"At run time the link ends with an error of the encoder. " +
			"Set the fields that the tag says, give the field a type whose values all fit, or write it in " +
			"another way on the wire. A protocol without a wire section has no such claim."},
	{name: "overflow", title: "a channel is full",
		text: "A message is sent into a channel that holds as many as its capacity. " +
			"Bound how often commands are given (environment), let the protocol wait for answers, or say " +
			"with full: lose or full: wait what a full channel does."},
	{name: "deferred-overflow", title: "too many messages are deferred",
		text: "A message arrives in a state that defers it, and the machine holds as many deferred messages as " +
			"its role allows. " +
			"Let the other side wait for an answer before it sends more, leave the state sooner, or give " +
			"the role a greater bound (deferred: 16)."},
	{name: "deadlock", title: "nothing can go on, and not everybody is at the end",
		text: "No step is possible, and not every machine is in a final state; or only commands are possible and " +
			"the check's quiet does not hold. " +
			"Follow the run to the state in which each waits for the other: one of them needs a message, a " +
			"timer or a command there, or the state is final."},
	{name: "orphan-message", title: "a message that nobody will read",
		text: "Every machine is in a final state, nothing can happen any more, and a message is still under way, " +
			"or held because every state since has deferred it. " +
			"Let its receiver wait for it, or ignore it in the final state."},
	{name: "never-fires", title: "a transition that is never taken",
		text: "A transition is taken in none of the checks of the file. " +
			"Its guard may never hold, or no check gives its command; take it out, or write a check in " +
			"which it happens. A branch that is only there as a defence says defensive: true. " +
			"It is judged only when every check was searched to its end.", absent: true},
	{name: "unreachable-state", title: "a state that is never entered",
		text: "A state is reached in none of the checks of the file. " +
			"Nothing leads to it, or only what never happens; take it out, or write a check in which it is reached. " +
			"It is judged only when every check was searched to its end.", absent: true},
	{name: "defensive-fires", title: "a defensive branch is taken",
		text: "A branch with defensive: true is taken in a check in which every instance keeps to its role. " +
			"So it is no defence: take defensive away and say what the branch is for. " +
			"Checks with a hostile instance may take it.", absent: true},
}

// claimNames are the names of builtinClaims.
func claimNames() []string {
	var names []string
	for _, c := range builtinClaims {
		names = append(names, c.name)
	}
	return names
}

// explainClaim explains a claim by its name, or by the beginning of that of one claim alone.
func explainClaim(name string) (text string, ok bool) {
	name = strings.ToLower(name)
	var found []builtinClaim
	for _, c := range builtinClaims {
		if c.name == name {
			return c.explain(), true
		}
		if name != "" && strings.HasPrefix(c.name, name) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0].explain(), true
}

func (c *builtinClaim) explain() string {
	shown := "fsmgen check shows a shortest run to it."
	if c.absent {
		shown = "fsmgen check names it with its line; there is no run to show, for none comes to it."
	}
	return fmt.Sprintf("%s: %s (a claim that every check makes)\n\n%s\n\n%s\n", c.name, c.title, diag.Wrap(c.text),
		diag.Wrap(shown+" If it is meant to be so, the check lists the name under expect."))
}
