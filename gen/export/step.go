package export

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// machine is one machine inside a step: that of the instance, or of a part.
type machine struct {
	m      *model.Machine
	base   int // its first slot in the instance's value
	up     *machine
	part   *model.Part
	index  int
	locals []*term
}

// pendingEvent is an event of a part that waits for the end of its parent's statements.
type pendingEvent struct {
	at   *machine // the parent
	ev   *model.Event
	args []*term
	when *term // whether it waits at all
}

// Bounds of what is written for one step.
const (
	maxPending = 200
	maxStmts   = 20000
)

// step writes what an instance does with one event. sender is the number of the instance it comes from.
type step struct {
	g       *generator
	inst    *instance
	sender  int
	command bool // an event that is not handled is no error but not available
	b       *block
	temps   int
	pending int
	stmts   int
}

func (s *step) emit(x stmt) {
	if s.b.dead {
		return
	}
	if s.stmts++; s.stmts > maxStmts {
		refuse("a step of more than %d statements", maxStmts)
	}
	s.b.list = append(s.b.list, x)
}

// set gives a variable a value.
func (s *step) set(v *variable, x *term) {
	if s.b.dead || same(s.read(v), x) && s.read(v).constant() {
		return
	}
	s.emit(&assign{v, x})
	delete(s.b.known, v)
	if x.constant() {
		s.b.known[v] = x
	}
}

func (s *step) read(v *variable) *term {
	if x := s.b.known[v]; x != nil {
		return x
	}
	return read(v)
}

// fail ends the block with an error.
func (s *step) fail(flag, why string) {
	if !s.b.dead {
		s.emit(&failure{flag, why})
		s.b.dead = true
	}
}

func (s *step) fault(ok *term, at diag.Span, why string) {
	if ok.is(1) || s.b.dead {
		return
	}
	f := failure{faultFlag, s.g.place(at) + why}
	if ok.is(0) {
		s.fail(f.flag, f.why)
		return
	}
	s.emit(&require{ok, f})
}

// temp is a fresh variable for a value inside the step.
func (s *step) temp(hi int64) *variable {
	v := s.g.temp(s.temps)
	s.temps++
	w := *v
	w.hi = hi
	if hi > 1 {
		w.lo = least
	}
	return &w
}

// hold keeps values from changing under what follows.
func (s *step) hold(list []*term) []*term {
	out := slices.Clone(list)
	for i, x := range list {
		volatile := false
		x.visit(func(v *variable) { volatile = volatile || v.kind != fieldVar })
		if !volatile {
			continue
		}
		v := s.temp(x.hi)
		v.lo, v.hi = x.lo, x.hi
		s.emit(&assign{v, x})
		out[i] = read(v)
	}
	return out
}

// keys are the keys of the part that c is.
func (c *machine) keys() []*term { return numbers(partKeys(c.part)(c.index)) }

func numbers(list []int64) []*term {
	out := make([]*term, len(list))
	for i, n := range list {
		out[i] = number(n)
	}
	return out
}

func (c *machine) enter(p *model.Part, index int) *machine {
	return &machine{m: p.Machine, base: c.base + p.Offset + index*p.Machine.Size, up: c, part: p, index: index}
}

// comment is the place of a branch, for comments.
func (g *generator) comment(at diag.Span) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s:%d", at.File, at.Start.Line)
}

func (g *generator) place(at diag.Span) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", at.File, at.Start.Line)
}
