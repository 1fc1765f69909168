package interp

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Value is everything a machine remembers, in the layout of model.Machine. It
// is treated as immutable; a step makes a new one.
type Value []int64

// Equal reports whether two values of the same machine are equal.
func (v Value) Equal(w Value) bool { return slices.Equal(v, w) }

// NewValue creates a machine: the initial state, the parameters given by args
// (the slots of each, in order), initial variables, disarmed timers, and parts created
// alike. The entry of the initial state does not run; that is for the event start.
// strs may be nil if no texts occur.
func NewValue(m *model.Machine, strs *Strings, args ...[]int64) (Value, error) {
	return Begin(core.Lower(m), strs, args...)
}

// Begin is NewValue for a machine that is lowered already.
func Begin(code *core.Machine, strs *Strings, args ...[]int64) (Value, error) {
	m := code.Model
	if len(args) != len(m.Params) {
		return nil, fmt.Errorf("%s takes %d parameters, got %d", m.Name, len(m.Params), len(args))
	}
	v := make(Value, m.Size)
	x := &Eval{Strings: strs}
	for i, p := range m.Params {
		if len(args[i]) != p.Type.Slots() {
			return nil, fmt.Errorf("parameter %s of %s takes %d slots, got %d", p.Name, m.Name, p.Type.Slots(),
				len(args[i]))
		}
		if why := x.fit(p.Type, v[p.Offset:], p.Type, args[i]); why != "" {
			return nil, fmt.Errorf("parameter %s of %s: %s", p.Name, m.Name, why)
		}
	}
	if !x.create(code, v, 0) {
		return nil, &EvalError{Reason: x.reason, Span: x.span}
	}
	return v, nil
}

// Unfit says why v, in the slots of t, is no value of t, such as a number outside the range; "" if it is
// one.
func Unfit(t *model.Type, v []int64) string {
	if len(v) != t.Slots() {
		return fmt.Sprintf("takes %d slots, got %d", t.Slots(), len(v))
	}
	x := &Eval{}
	return x.fit(t, make([]int64, len(v)), t, v)
}

// create fills in a machine whose parameters are set already.
func (x *Eval) create(m *core.Machine, v []int64, base int) bool {
	v[base] = int64(m.Model.Initial.Index)
	s := scope{v: v, base: base}
	for i, d := range m.Model.Vars {
		place := v[base+d.Offset : base+d.Offset+d.Type.Slots()]
		if m.Inits[i] == nil {
			Zero(d.Type, place)
		} else if !x.into(&s, m.Inits[i], place) {
			return false
		}
	}
	for _, t := range m.Model.Timers {
		clear(v[base+t.Offset : base+t.Offset+t.Count])
	}
	for _, p := range m.Parts {
		for i := range p.Model.Count {
			if !x.createPart(p, i, v, base) {
				return false
			}
		}
	}
	return true
}

// createPart puts an instance of a part to its beginning; base is where its parent lies.
func (x *Eval) createPart(p *core.Part, index int, v []int64, base int) bool {
	m := x.arena.mark()
	defer x.arena.release(m)
	s := scope{v: v, base: base, locals: x.keyFrame(p.Model, index, 0)}
	at := base + p.Model.Offset + index*p.Model.Machine.Size
	for i, param := range p.Model.Machine.Params {
		if !x.into(&s, p.Args[i], v[at+param.Offset:]) {
			return false
		}
	}
	return x.create(p.Machine, v, at)
}

// keyFrame makes a frame of locals that holds the keys of an instance and has
// room for more slots behind them.
func (x *Eval) keyFrame(p *model.Part, index, more int) []int64 {
	n := more
	for _, l := range p.KeyLocals {
		n = max(n, l.Offset+1+more)
	}
	frame := x.arena.alloc(n)
	keys := x.arena.alloc(len(p.Keys))
	keysAt(p.Keys, index, keys)
	for i, l := range p.KeyLocals {
		frame[l.Offset] = keys[i]
	}
	return frame
}

// noPlace is the span of things that no line of the specification says.
var noPlace diag.Span

// Restarted is the value with which a machine begins anew after a crash: begin, with the variables of
// old that are kept, those of its parts too, and what its monitors know.
func Restarted(m *model.Machine, begin, old Value) Value {
	v := slices.Clone(begin)
	keep(m, old, v)
	return v
}

// keep copies the variables of a machine and of its parts that are kept, and what its monitors know.
func keep(m *model.Machine, from, to Value) {
	for _, d := range m.Vars {
		if d.Kept {
			copy(to[d.Offset:d.Offset+d.Type.Slots()], from[d.Offset:])
		}
	}
	for _, p := range m.Parts {
		for i := 0; i < p.Count && !p.Monitor; i++ {
			at := p.Offset + i*p.Machine.Size
			keep(p.Machine, from[at:], to[at:])
		}
	}
	monitors(m, from, to)
}

// monitors copies what the monitors of a machine know.
func monitors(m *model.Machine, from, to Value) {
	for _, p := range m.Parts {
		if p.Monitor {
			copy(to[p.Offset:p.Offset+p.Machine.Size], from[p.Offset:])
		}
	}
}

// Crashed makes v what claims see after a crash. What ghosts remembered of reports is as in the value
// before, and so is what monitors knew: of a step that a crash cuts short nobody has seen a report. Nothing
// is pending any more, for the program has ended.
func Crashed(m *model.Machine, before, v Value) {
	for _, d := range m.Vars {
		at := v[d.Offset : d.Offset+d.Type.Slots()]
		switch {
		case d.Ghost != model.GhostOfReports:
		case d.Kept:
			copy(at, before[d.Offset:])
		default:
			clear(at)
		}
	}
	monitors(m, before, v)
}
