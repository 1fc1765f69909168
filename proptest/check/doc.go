// Package check turns a check of a specification into a system for the
// exhaustive checker, runs it, and says in the author's words what was found.
// It must not know YAML or how the search works: machines are stepped by the
// interpreter, configurations are visited by explore. Start from [Suite] for a
// whole specification, or from [New] for the system of one check.
//
// # What is explored
//
// The machines are the instances of the check; there is one channel for each
// ordered pair of them, with the check's channel meaning. A step is one event
// handled to its end by one machine:
//
//   - start, where the machine's start does something; before it the machine
//     takes nothing else;
//   - a command, with every tuple of arguments in the domains of their types,
//     where the machine does not refuse it and the environment rule allows it;
//   - the expiry of any armed timer, at any moment, or, where the check counts
//     time, when it is due (see clock.go of package system);
//   - the reception of a message that the channel can deliver.
//
// Messages that are refused are the violations `unspecified-reception` (the state
// does not mention them, no guard holds, or a refuse statement) and `fault` (a
// statement faulted); so are refused expiries and starts. Crashes, restarts and
// links that come up and break occur only where the check has faults (see
// links.go there); elsewhere there is no up and lost, and close has no effect on what is under way.
//
// never-fires, unreachable-state and defensive-fires are judged over all checks of a
// specification together, for the transitions and states of the roles that take
// part in one: a line of the specification that no check ever takes (lines
// that ignore or defer, and handlers of up and lost, left out).
package check
