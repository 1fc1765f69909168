package interp

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Limits of one step.
const (
	// MaxQueued is how many events of parts a step may queue.
	MaxQueued = 256
	// MaxRounds is how often a step may go round its loops.
	MaxRounds = 1 << 20
)

// Eval evaluates expressions of claims, environment rules and constants. It
// keeps memory between calls and is not safe for concurrent use. Strings must
// be set if texts occur.
type Eval struct {
	Strings *Strings
	// Instances are the values of a check's instances, by Instance.Index.
	Instances [][]int64
	// ChanLen answers the length of channels; nil makes ChanLen fault.
	ChanLen func(*model.ChanLen) int64

	sender int // of the event being handled
	rounds int
	reason string
	span   diag.Span
	arena  arena
}

// scope is where names are looked up: a machine inside the value of the
// outermost one, and the frame of locals.
type scope struct {
	v      []int64
	base   int
	locals []int64
}

// Bool evaluates a truth value over a machine's value v (nil in claims) and a
// frame of locals. It returns the reason if the expression faults.
func (x *Eval) Bool(e core.Expr, v Value, locals []int64) (bool, error) {
	x.arena.reset()
	x.rounds = 0
	s := scope{v: v, locals: locals}
	r, ok := x.num(&s, e)
	if !ok {
		return false, &EvalError{Reason: x.reason, Span: x.span}
	}
	return r != 0, nil
}

// Into evaluates e and writes its slots to dst. The error is an [*EvalError].
func (x *Eval) Into(e core.Expr, dst []int64, v Value, locals []int64) error {
	x.arena.reset()
	x.rounds = 0
	s := scope{v: v, locals: locals}
	if x.into(&s, e, dst) {
		return nil
	}
	return &EvalError{Reason: x.reason, Span: x.span}
}

// EvalError is a fault of an expression outside a step.
type EvalError struct {
	Reason string
	Span   diag.Span
}

func (e *EvalError) Error() string { return e.Span.String() + ": " + e.Reason }

// fail notes why evaluation stops; it returns false for the caller to return.
func (x *Eval) fail(at diag.Span, reason string) bool {
	x.reason, x.span = reason, at
	return false
}

// placed is something at a place of the specification.
type placed interface{ Pos() diag.Span }

// round counts one turn of a loop.
func (x *Eval) round(at placed) bool {
	if x.rounds++; x.rounds > MaxRounds {
		return x.fail(at.Pos(), "the step goes round its loops too often")
	}
	return true
}

// setLocal writes a local, making room where the frame's size is not known
// beforehand (claims, constants).
func (s *scope) setLocal(l *model.Local, v []int64) {
	n := l.Type.Slots()
	if need := l.Offset + n; need > len(s.locals) {
		s.locals = append(s.locals, make([]int64, need-len(s.locals))...)
	}
	copy(s.locals[l.Offset:l.Offset+n], v)
}

// address finds the first slot of what a place leads to.
func (x *Eval) address(s *scope, p *core.Place) ([]int64, int, bool) {
	v, at := s.v, s.base+p.Offset
	if p.Inst != nil {
		v, at = x.Instances[p.Inst.Index], p.Offset
	}
	for i := range p.Moves {
		m := &p.Moves[i]
		k, ok := x.num(s, m.Key)
		if !ok {
			return nil, 0, false
		}
		at += int(k-m.Low) * m.Stride
	}
	return v, at, true
}

// TimerIndex computes which instance of a timer the fields of its expiry select.
func TimerIndex(t *model.Timer, args []int64) int {
	index := 0
	for i, k := range t.Keys {
		index = index*int(k.Type.Count()) + int(args[i]-k.Type.Lowest())
	}
	return index
}

func (x *Eval) outside(t *model.Type, v int64) string {
	if why := x.misfit(t, v); why != "" {
		return why
	}
	return "out of range"
}

// PartKeys gives the key values of an instance of a part, one slot each.
func PartKeys(p *model.Part, index int) []int64 {
	keys := make([]int64, len(p.Keys))
	keysAt(p.Keys, index, keys)
	return keys
}

// TimerKeys gives the key values of an instance of a timer: the fields of its expiry.
func TimerKeys(t *model.Timer, index int) []int64 {
	keys := make([]int64, len(t.Keys))
	keysAt(t.Keys, index, keys)
	return keys
}

func keysAt(keys []*model.Field, index int, dst []int64) {
	for i := len(keys) - 1; i >= 0; i-- {
		n := int(keys[i].Type.Count())
		dst[i] = keys[i].Type.Lowest() + int64(index%n)
		index /= n
	}
}

// arena is memory for temporaries of one step, handed out like a stack. What
// was handed out stays where it is when the arena grows.
type arena struct {
	chunks [][]int64
	at     arenaMark
}

type arenaMark struct{ chunk, used int }

func (a *arena) mark() arenaMark     { return a.at }
func (a *arena) release(m arenaMark) { a.at = m }
func (a *arena) reset()              { a.at = arenaMark{} }

// alloc returns n zeroed slots.
func (a *arena) alloc(n int) []int64 {
	for ; a.at.chunk < len(a.chunks); a.at = (arenaMark{a.at.chunk + 1, 0}) {
		c := a.chunks[a.at.chunk]
		if a.at.used+n <= len(c) {
			s := c[a.at.used : a.at.used+n : a.at.used+n]
			a.at.used += n
			clear(s)
			return s
		}
	}
	a.chunks = append(a.chunks, make([]int64, max(n, 512<<min(len(a.chunks), 12))))
	return a.alloc(n)
}
