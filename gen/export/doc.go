// Package export writes a checked specification in the languages of other programs: a check as a
// model for Spin ([Promela]), everything as JSON ([JSON]). An export is a pure function of the
// model: same model, same bytes. It must not know the checker; that what it writes means the same
// is tested where both are known, in proptest/check. What an output language cannot say is an
// [Unsupported] error, never a model that means something else.
//
// # Promela
//
// Each instance is a process with one control state and one alternative for each thing it can do: a
// command with its arguments, the expiry of a timer, a message from each of the others. An
// alternative is a d_step, so that a step of the specification, parts and all, is a step of Spin.
// Everything that a machine remembers is a global variable of its own; parameters are constants and
// no variables. What only lives inside a step is hidden and no part of a state. Claims are looked
// at by a process that takes a step only to fail an assertion. So Spin's states are the checker's
// configurations, one for one, and the numbers of both agree exactly when Spin does not reduce
// (-DNOREDUCE) and leaves no variable out (spin -o2, or it drops those that nothing reads): nothing
// is to be added for the beginning, since processes are active from the start and do nothing before
// their loop.
//
// The code of a step comes from running the interpreter's rules on terms instead of numbers: see
// step, which mirrors interp.Machine on the core, function by function. A command is possible where its step
// would not be refused; that is the weakest precondition of its code, see possible.
//
// Each of these uses only what stands before it: term, an expression of Promela, with value, the
// terms of a whole value; code, the statements of a step; layout, the instances, variables and
// channels of a check; scope, which evaluates an expression; step, which writes what one event
// does; system, what the instances can do and what must hold of them; writer, the text.
package export

import (
	"github.com/parley-go/parley/gen/model"
)

// Promela writes a check as a model for Spin. p must have been compiled for the check (its
// constants and domains applied). The error is an [*Unsupported], or says that an instance cannot
// be made.
func Promela(p *model.Protocol, c *model.Check) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			why, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			err = &Unsupported{Check: c.Name, Language: "Promela", What: why.what}
		}
	}()
	l, err := newLayout(p, c)
	if err != nil {
		return nil, err
	}
	sys := &system{layout: l}
	procs := sys.processes()
	return write(l, procs, sys.assertions(), sys.left), nil
}
