package check

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// maxReadings bounds what is listed of the values that a claim looks at.
const maxReadings = 256

// reads tells what the expressions look at in a configuration, in their order, each thing once.
func (s *System) reads(c explore.Configuration, list ...model.Expr) []run.Reading {
	r := reader{sys: s, eval: s.look(c), budget: maxReadings}
	for _, e := range list {
		r.read(e)
	}
	return r.found
}

// explain fills in what a violated claim looks at where a run ends: of a conjunction, in what is
// false of it.
func (s *System) explain(r *run.Run, c *model.Claim, at explore.Configuration) {
	if c.Kind != model.Always {
		r.Reads = s.reads(at, append([]model.Expr{c.When, c.Expr}, c.Exprs...)...)
		return
	}
	budget := system.MaxUnroll
	x := s.look(at)
	all, wrong := system.Conjuncts(system.Unroll(c.Expr, &budget)), []model.Expr(nil)
	for _, e := range all {
		if ok, err := x.Bool(core.Of(e), nil, nil); err != nil || !ok {
			wrong = append(wrong, e)
		}
	}
	r.Reads = s.reads(at, wrong...)
	for _, e := range wrong {
		if len(all) > 1 {
			r.False = append(r.False, model.MeaningString(e))
		}
	}
}

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
			if !s.LooksAt(nil, l, k) {
				continue
			}
			for _, msg := range w {
				if s.Counts(l.Message, l.News, msg) {
					n++
				}
			}
		}
		for _, h := range held {
			if s.LooksAt(nil, l, s.Channel(h.From, h.to)) && (l.Message == nil || l.Message.Index == system.MessageIndex([]byte(h.Message))) {
				n++
			}
		}
		return n
	}}
	for i, b := range c.Locals[:len(s.Procs)] {
		v := s.Procs[i].Unpack(b).Value
		x.Instances = append(x.Instances, slices.Clone(v[:len(v)+1])) // with down
	}
	return x
}

// reader collects what an expression looks at.
type reader struct {
	sys    *System
	eval   *interp.Eval
	budget int
	found  []run.Reading
}

func (r *reader) read(e model.Expr) {
	switch x := e.(type) {
	case nil:
		return
	case *model.StateTest:
		if len(x.Path) == 0 {
			r.state(x.Inst)
			return
		}
		r.note(e)
	case *model.VarRef, *model.TimerTest, *model.ChanLen:
		r.note(e)
	case *model.Binary:
		if l := system.ComparedWithZero(e); l != nil && l.News && x.Op == model.OpEq { // `empty(a -> b)`
			r.note(e)
			return
		}
	case *model.Quantified:
		if r.each(x.Values, x.Local, x.X) {
			return
		}
	case *model.Find:
		if r.each(x.Values, x.Local, x.X) {
			return
		}
	case *model.Build:
		if r.each(x.Values, x.Local, x.Elem, x.If) {
			return
		}
	}
	model.Rewrite(e, func(c model.Expr) model.Expr {
		r.read(c)
		return c
	})
}

// each reads expressions for every value of a local, if they use it to say where they look:
// `update[p].own`. It reports whether it did.
func (r *reader) each(values *model.Type, l *model.Local, list ...model.Expr) bool {
	if values == nil || values.Slots() != 1 || values.Count() > int64(r.budget) || !slices.ContainsFunc(list, func(e model.Expr) bool { return selects(e, l) }) {
		return false
	}
	v := make([]int64, 1)
	for interp.Zero(values, v); ; {
		for _, e := range list {
			if e != nil {
				r.budget--
				r.read(system.Substitute(e, l, v[0]))
			}
		}
		if r.budget <= 0 || !interp.Next(values, v) {
			return true
		}
	}
}

// selects reports whether a local stands in the keys of a part or timer in e.
func selects(e model.Expr, l *model.Local) bool {
	found := false
	model.Walk(e, func(e model.Expr) {
		switch e.(type) {
		case *model.VarRef, *model.StateTest, *model.TimerTest:
			found = found || slices.Contains(system.Free(e), l)
		}
	})
	return found
}

// note adds what e gives. What cannot be told, since it depends on the element of a list or is
// outside of an array, is left out.
func (r *reader) note(e model.Expr) {
	name := model.MeaningString(e)
	if len(system.Free(e)) > 0 || len(r.found) >= maxReadings || slices.ContainsFunc(r.found, func(x run.Reading) bool { return x.Name == name }) {
		return
	}
	v := make([]int64, e.Type().Slots())
	if r.eval.Into(core.Of(e), v, nil, nil) == nil {
		r.found = append(r.found, run.Reading{Name: name, Value: string(interp.AppendValue(nil, r.sys.Texts, e.Type(), v))})
	}
}

// state adds the state of an instance under the instance's name, in place of each test of it.
func (r *reader) state(inst *model.Instance) {
	if inst == nil || len(r.found) >= maxReadings || slices.ContainsFunc(r.found, func(x run.Reading) bool { return x.Name == inst.Name }) {
		return
	}
	r.found = append(r.found, run.Reading{Name: inst.Name, Value: inst.Role.States[r.eval.Instances[inst.Index][0]].Name})
}
