package export

import (
	"fmt"
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// machine is one machine inside a step: that of the instance, or of a part.
type machine struct {
	m      *core.Machine
	base   int // its first slot in the instance's value
	up     *machine
	part   *core.Part
	index  int
	locals []*term
}

// pendingEvent is an event of a part that is queued until its parent's statements have run.
type pendingEvent struct {
	at   *machine // the parent
	ev   *model.Event
	args []*term
	when *term // whether it waits at all
}

// block is a list of statements that is being written, and what is known of variables at its end.
type block struct {
	list  []stmt
	known known
	dead  bool // an error ended it
	pend  []*pendingEvent
}

func (b *block) fork() *block { return &block{known: maps.Clone(b.known)} }

// Limits of what is written for one step.
const (
	maxPending = 200
	maxStmts   = 20000
)

// step writes what an instance does with one event. sender is the number of the instance that the event
// comes from.
type step struct {
	l       *layout
	inst    *instance
	sender  int
	command bool // an event that is not handled is no error but not available
	b       *block
	temps   int
	pending int
	stmts   int
}

func newStep(l *layout, in *instance, sender int, command bool) *step {
	return &step{l: l, inst: in, sender: sender, command: command, b: &block{known: known{}}}
}

func root(in *instance) *machine { return &machine{m: in.code} }

func (s *step) emit(x stmt) {
	if s.b.dead {
		return
	}
	if s.stmts++; s.stmts > maxStmts {
		refuse("a step of more than %d statements", maxStmts)
	}
	s.b.list = append(s.b.list, x)
}

// set writes an assignment to a variable.
func (s *step) set(v *variable, x *term) {
	if s.b.dead || same(s.b.known.read(v), x) && s.b.known.read(v).constant() {
		return
	}
	s.emit(&assign{v, x})
	delete(s.b.known, v)
	if x.constant() {
		s.b.known[v] = x
	}
}

// fail ends the block with an error of the step.
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
	f := failure{faultFlag, linePrefix(at) + why}
	if ok.is(0) {
		s.fail(f.flag, f.why)
		return
	}
	s.emit(&require{ok, f})
}

// temp returns a new variable for a value inside the step.
func (s *step) temp(hi int64) *variable {
	v := s.l.temp(s.temps)
	s.temps++
	w := *v
	w.hi = hi
	if hi > 1 {
		w.lo = least
	}
	return &w
}

// hold returns values that later statements do not change: it copies those that can change.
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

// keys returns the keys of the part that c is.
func (c *machine) keys() []*term { return numbers(interp.PartKeys(c.part.Model, c.index)) }

func (c *machine) enter(p *core.Part, index int) *machine {
	return &machine{m: p.Machine, base: c.base + p.Model.Offset + index*p.Model.Machine.Size, up: c,
		part: p, index: index}
}

// option is one arm of a choice while it is written.
type option struct {
	cond *term
	note string
	body func()
}

// choose writes the first option whose condition holds, or else otherwise. A nil otherwise does nothing.
func (s *step) choose(options []option, exclusive bool, otherwise func()) {
	if s.b.dead {
		return
	}
	var open []option
	for _, o := range options {
		if o.cond.is(0) {
			continue
		}
		if o.cond.lo > 0 {
			if len(open) == 0 {
				o.body()
				return
			}
			otherwise = o.body
			break
		}
		open = append(open, o)
	}
	if len(open) == 0 {
		if otherwise != nil {
			otherwise()
		}
		return
	}
	before := s.b
	c := &choice{exclusive: exclusive}
	var ends []*block
	for _, o := range open {
		s.b = before.fork()
		s.assume(o.cond)
		o.body()
		ends = append(ends, s.b)
	}
	s.b = before.fork()
	if otherwise != nil {
		otherwise()
	}
	ends = append(ends, s.b)
	s.b = before
	s.join(c, open, ends)
}

// assume notes what follows for variables from a condition that holds.
func (s *step) assume(cond *term) {
	switch {
	case cond.op == "&&":
		s.assume(cond.x[0])
		s.assume(cond.x[1])
	case cond.op == "==" && cond.x[0].op == "var" && cond.x[1].constant():
		s.b.known[cond.x[0].v] = cond.x[1]
	case cond.op == "var" && cond.boolean():
		s.b.known[cond.v] = yes
	case cond.op == "!" && cond.x[0].op == "var" && cond.x[0].boolean():
		s.b.known[cond.x[0].v] = no
	}
}

// join writes the arms as one choice. An event that only some arms queue gets a flag.
func (s *step) join(c *choice, open []option, ends []*block) {
	alive := 0
	for _, e := range ends {
		if !e.dead {
			alive++
		}
	}
	for _, e := range ends {
		if e.dead {
			continue
		}
		for _, p := range e.pend {
			if alive > 1 {
				flag := s.temp(1)
				s.emit(&assign{flag, no})
				e.list = append(e.list, &assign{flag, p.when})
				p.when = read(flag)
			}
			s.b.pend = append(s.b.pend, p)
		}
	}
	for i, o := range open {
		c.arms = append(c.arms, arm{o.cond, ends[i].list, o.note})
	}
	c.otherwise = ends[len(ends)-1].list
	s.emit(c)
	if alive == 0 {
		s.b.dead = true
		return
	}
	var common known
	for _, e := range ends {
		switch {
		case e.dead:
		case common == nil:
			common = e.known
		default:
			for v, t := range common {
				if e.known[v] == nil || !same(e.known[v], t) {
					delete(common, v)
				}
			}
		}
	}
	s.b.known = common
}

// comment returns the place of a branch for a comment.
func lineNote(at diag.Span) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s:%d", at.File, at.Start.Line)
}

func linePrefix(at diag.Span) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", at.File, at.Start.Line)
}
