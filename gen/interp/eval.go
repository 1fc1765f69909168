package interp

import (
	"math"

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
func (x *Eval) Bool(e model.Expr, v Value, locals []int64) (bool, error) {
	var d [1]int64
	if err := x.Into(e, d[:], v, locals); err != nil {
		return false, err
	}
	return d[0] != 0, nil
}

// Into evaluates e and writes its slots to dst. The error is an [*EvalError].
func (x *Eval) Into(e model.Expr, dst []int64, v Value, locals []int64) error {
	x.arena.reset()
	x.rounds = 0
	s := scope{v: v, locals: locals}
	if x.eval(&s, e, dst) {
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

// round counts one turn of a loop.
func (x *Eval) round(at diag.Span) bool {
	if x.rounds++; x.rounds > MaxRounds {
		return x.fail(at, "the step goes round its loops too often")
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

// scalar evaluates an expression of one slot.
func (x *Eval) scalar(s *scope, e model.Expr) (int64, bool) {
	if l, ok := e.(*model.Lit); ok {
		return l.Value, true
	}
	m := x.arena.mark()
	d := x.arena.alloc(1)
	ok := x.eval(s, e, d)
	v := d[0]
	x.arena.release(m)
	return v, ok
}

// temp evaluates an expression into fresh temporary memory.
func (x *Eval) temp(s *scope, e model.Expr) ([]int64, bool) {
	d := x.arena.alloc(e.Type().Slots())
	return d, x.eval(s, e, d)
}

// place finds the first slot of the machine that a path leads to.
func (x *Eval) place(s *scope, inst *model.Instance, path model.Path) ([]int64, int, bool) {
	v, base := s.v, s.base
	if inst != nil {
		v, base = x.Instances[inst.Index], 0
	}
	for i := range path {
		k, ok := x.instance(s, path[i].Part, path[i].Keys)
		if !ok {
			return nil, 0, false
		}
		p := path[i].Part
		base += p.Offset + k*p.Machine.Size
	}
	return v, base, true
}

// instance computes which instance of a part the keys select.
func (x *Eval) instance(s *scope, p *model.Part, keys []model.Expr) (int, bool) {
	return x.selected(s, "part", p.Name, p.Keys, keys)
}

// timer computes which instance of a timer the keys select.
func (x *Eval) timer(s *scope, t *model.Timer, keys []model.Expr) (int, bool) {
	return x.selected(s, "timer", t.Name, t.Keys, keys)
}

func (x *Eval) selected(s *scope, what, name string, fields []*model.Field, keys []model.Expr) (int, bool) {
	index := 0
	for i, k := range fields {
		v, ok := x.scalar(s, keys[i])
		if !ok {
			return 0, false
		}
		n := k.Type.Count()
		off := v - lowest(k.Type)
		if off < 0 || off >= n {
			return 0, x.fail(keys[i].Pos(), "no instance of "+what+" "+name+": key "+k.Name+": "+x.outside(k.Type, v))
		}
		index = index*int(n) + int(off)
	}
	return index, true
}

// TimerIndex computes which instance of a timer the fields of its expiry select.
func TimerIndex(t *model.Timer, args []int64) int {
	index := 0
	for i, k := range t.Keys {
		index = index*int(k.Type.Count()) + int(args[i]-lowest(k.Type))
	}
	return index
}

func (x *Eval) outside(t *model.Type, v int64) string {
	if why := x.misfit(t, v); why != "" {
		return why
	}
	return "out of range"
}

// PartKeys writes the key values of an instance of a part, one slot each.
func PartKeys(p *model.Part, index int, dst []int64) { keysAt(p.Keys, index, dst) }

// TimerKeys gives the key values of an instance of a timer: the fields of its expiry.
func TimerKeys(t *model.Timer, index int) []int64 {
	keys := make([]int64, len(t.Keys))
	keysAt(t.Keys, index, keys)
	return keys
}

func keysAt(keys []*model.Field, index int, dst []int64) {
	for i := len(keys) - 1; i >= 0; i-- {
		n := int(keys[i].Type.Count())
		dst[i] = lowest(keys[i].Type) + int64(index%n)
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

// arith does exact 64-bit arithmetic; ok is false if the result needs more, or for a
// division by zero.
func arith(op model.Op, a, b int64) (r int64, ok bool) {
	switch op {
	case model.OpAdd:
		r = a + b
		return r, (r > a) == (b > 0)
	case model.OpSub:
		r = a - b
		return r, (r < a) == (b > 0)
	case model.OpMul:
		if a == 0 || b == 0 {
			return 0, true
		}
		r = a * b
		return r, r/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
	case model.OpDiv:
		if b == 0 || a == math.MinInt64 && b == -1 {
			return 0, false
		}
		return a / b, true
	case model.OpMod:
		if b == 0 {
			return 0, false
		}
		if b == -1 {
			return 0, true
		}
		return a % b, true
	}
	return 0, false
}
