package check

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// maxReadings bounds what is listed of the values that a claim looks at.
const maxReadings = 256

// reads tells what the expressions look at in a configuration, in their order, each thing once.
func (s *System) reads(c explore.Configuration, list ...model.Expr) []run.Reading {
	r := s.reader(c)
	for _, e := range list {
		r.read(core.Of(e))
	}
	return r.found
}

// explain fills in what a violated claim looks at where a run ends: of a conjunction, in what is
// false of it.
func (s *System) explain(out *run.Run, c *model.Claim, at explore.Configuration) {
	if c.Kind != model.Always {
		out.Reads = s.reads(at, append([]model.Expr{c.When, c.Expr}, c.Exprs...)...)
		return
	}
	r := s.reader(at)
	n, budget := 0, cond.MaxUnroll
	r.conjuncts(core.Of(c.Expr), &budget, func(e core.Expr) {
		n++
		if ok, err := r.eval.Bool(e, nil, r.frame); err != nil || !ok {
			out.False = append(out.False, r.text(e))
			r.read(e)
		}
	})
	if n == 1 {
		out.False = nil
	}
	out.Reads = r.found
}

// classOf is the channel of a message, by its place in Protocol.Channels.
func (s *System) classOf(msg []byte) int { return s.Protocol.Messages[codec.MessageIndex(msg)].Channel }

// look makes an evaluator of expressions over one configuration.
func (s *System) look(c explore.Configuration) *interp.Eval {
	type heldAt struct {
		world.Held[string]
		to int
	}
	var held []heldAt
	for i, b := range c.Locals[:len(s.Procs)] {
		for _, h := range s.Procs[i].Unpack(b).Held {
			held = append(held, heldAt{h, i})
		}
	}
	x := &interp.Eval{Strings: s.Texts, ChanLen: func(l *model.ChanLen) int64 {
		n := int64(0)
		for k, w := range c.Channels {
			if !s.Parts.LooksAt(nil, l, k) {
				continue
			}
			for _, msg := range w {
				if codec.Counts(s.Protocol, l.Message, l.News, msg) {
					n++
				}
			}
		}
		for _, h := range held {
			if s.Parts.LooksAt(nil, l, s.Channel(h.From, h.to, s.classOf([]byte(h.Message)))) &&
				codec.Counts(s.Protocol, l.Message, false, []byte(h.Message)) {
				n++
			}
		}
		return n
	}}
	for i, b := range c.Locals[:len(s.Procs)] {
		v := s.Procs[i].Unpack(b).Value
		x.Instances = append(x.Instances, slices.Clone(v[:len(v)+1])) // with down
	}
	for k := range s.Joint {
		v := s.Monitored(k, c.Locals[s.Parts.MonitorsAt+k])
		x.Instances = append(x.Instances, slices.Clone(v[:len(v)+1]))
	}
	return x
}

// reader collects what an expression looks at.
type reader struct {
	sys    *System
	eval   *interp.Eval
	budget int
	found  []run.Reading
	// bound are the values of the locals that loops around what is read give them; frame has them, too.
	bound map[*model.Local]*model.Lit
	frame []int64
}

func (s *System) reader(c explore.Configuration) *reader {
	return &reader{sys: s, eval: s.look(c), budget: maxReadings, bound: map[*model.Local]*model.Lit{}}
}

// text writes an expression with the values of the locals that are bound.
func (r *reader) text(e core.Expr) string { return model.MeaningAt(e.Node().From, r.bound) }

// bind runs do for each value of a type of one slot, with the local bound to it, until do returns
// false.
func (r *reader) bind(l *model.Local, values *model.Type, do func() bool) {
	if need := l.Offset + 1 - len(r.frame); need > 0 {
		r.frame = append(r.frame, make([]int64, need)...)
	}
	v := make([]int64, 1)
	for interp.Zero(values, v); ; {
		r.frame[l.Offset] = v[0]
		r.bound[l] = &model.Lit{ExprBase: model.ExprBase{T: l.Type}, Value: v[0]}
		if !do() || !interp.Next(values, v) {
			break
		}
	}
	delete(r.bound, l)
}

// conjuncts splits e at &&, and at all(x in T: ...) over several instances.
func (r *reader) conjuncts(e core.Expr, budget *int, do func(core.Expr)) {
	switch x := e.(type) {
	case *core.If:
		if x.Form == core.FormAnd {
			r.conjuncts(x.Cond, budget, do)
			r.conjuncts(x.Then, budget, do)
			return
		}
	case *core.Fold:
		if x.How == core.All && cond.Spreads(x, *budget) {
			r.bind(x.Local, x.Values, func() bool {
				*budget--
				r.conjuncts(x.Where, budget, do)
				return true
			})
			return
		}
	}
	do(e)
}

func (r *reader) read(e core.Expr) {
	switch x := e.(type) {
	case nil:
		return
	case *core.Read:
		if x.What == core.ReadState && len(x.Path) == 0 {
			r.state(x.Inst)
			return
		}
		if x.What != core.ReadDown {
			r.note(e)
		}
	case *core.Observe:
		r.note(e)
	case *core.Apply:
		if l := cond.ComparedWithZero(e); l != nil && x.Op == core.Eq && l.Of.News { // `empty(a -> b)`
			r.note(e)
			return
		}
	case *core.Fold:
		if r.each(x) {
			return
		}
	}
	core.Operands(e, r.read)
}

// each reads the operands of a loop for every value of its local, if they use it to say where they
// look: `update[p].own`. It reports whether it did.
func (r *reader) each(f *core.Fold) bool {
	t := f.Values
	if t == nil || t.Slots() != 1 || t.Count() > int64(r.budget) ||
		!selects(f.Elem, f.Local) && !selects(f.Where, f.Local) {
		return false
	}
	r.bind(f.Local, t, func() bool {
		for _, e := range []core.Expr{f.Elem, f.Where} {
			if e != nil {
				r.budget--
				r.read(e)
			}
		}
		return r.budget > 0
	})
	return true
}

// selects reports whether a local stands in the keys of a part or timer in e.
func selects(e core.Expr, l *model.Local) bool {
	found := false
	core.Walk(e, func(e core.Expr) {
		if _, ok := e.(*core.Read); ok {
			found = found || slices.Contains(core.Free(e), l)
		}
	})
	return found
}

// note adds what e gives. What cannot be told, since it depends on the element of a list or is
// outside of an array, is left out.
func (r *reader) note(e core.Expr) {
	unbound := func(l *model.Local) bool { return r.bound[l] == nil }
	if len(r.found) >= maxReadings || slices.ContainsFunc(core.Free(e), unbound) {
		return
	}
	name := r.text(e)
	if slices.ContainsFunc(r.found, func(x run.Reading) bool { return x.Name == name }) {
		return
	}
	b := e.Node()
	v := make([]int64, b.Slots)
	if r.eval.Into(e, v, nil, r.frame) == nil {
		r.found = append(r.found, run.Reading{Name: name, Value: string(interp.AppendValue(nil, r.sys.Texts, b.T, v))})
	}
}

// state adds the state of an instance under the instance's name, in place of each test of it.
func (r *reader) state(inst *model.Instance) {
	if inst == nil || len(r.found) >= maxReadings ||
		slices.ContainsFunc(r.found, func(x run.Reading) bool { return x.Name == inst.Name }) {
		return
	}
	r.found = append(r.found, run.Reading{Name: inst.Name,
		Value: inst.Role.States[r.eval.Instances[inst.Index][0]].Name})
}
