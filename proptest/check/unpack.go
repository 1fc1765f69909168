package check

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Local takes a local value of instance i apart: whether it was started, how
// often each command that a rule gives a number of times was given (0 for other commands), and the
// machine's value.
func (s *System) Local(i int, b []byte) (started bool, given []int64, v interp.Value) {
	p := s.procs[i]
	l := p.unpack(b)
	for _, c := range p.commands {
		if c.count >= 0 {
			given = append(given, l.used[c.count])
		} else {
			given = append(given, 0)
		}
	}
	return l.started, given, slices.Clone(l.value)
}

// Message takes a message apart.
func (s *System) Message(b []byte) (*model.Message, []int64) { return unpackMessage(s.Protocol, b) }

// Walk visits e and all expressions inside it, those of part keys included.
func Walk(e model.Expr, visit func(model.Expr)) { walk(e, visit) }
