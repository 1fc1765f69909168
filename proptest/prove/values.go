package prove

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// A result for some number of values of the opaque types holds for every greater number if values
// are told apart by nothing but being equal, and if there were enough of them: with at most m
// different values in any configuration and at most r new ones in a command, m + r. For then any
// step of the larger system can be renamed, value by value, into one of the smaller: the values
// that the step involves are at most m + r, and those that are no longer in use can be used again.
// Zero and the constants of the specification cannot be renamed, so they count as always in use.

// opaque has the facts about a check that the argument needs.
type opaque struct {
	constants []int64 // that cannot be renamed
	fresh     int     // most new values in one command
	why       string  // the argument does not apply
}

// opaqueTypes looks at everything that a check does with opaque values; nil if there are none.
func opaqueTypes(p *model.Protocol, c *model.Check) *opaque {
	o := &opaque{constants: []int64{0}}
	found := false
	model.EachType(p, func(t *model.Type) {
		found = found || t.Kind == model.KindOpaque
		if t.Kind == model.KindSet && holdsOpaque(t.Elem) || t.Kind == model.KindArray && holdsOpaque(t.Index) {
			o.why = "opaque values are indices or elements of sets"
		}
	})
	if !found {
		return nil
	}
	var roles []*model.Machine
	for _, inst := range c.Instances {
		o.exprs(inst.Args...)
		roles = append(roles, inst.Role)
		for _, ev := range inst.Role.Commands {
			o.fresh = max(o.fresh, len(opaqueSlots(ev.Fields)))
		}
		for _, ev := range inst.Role.Events {
			if ev.Kind == model.EventMessage && c.HasHostile() { // it may bring values that nobody has
				o.fresh = max(o.fresh, len(opaqueSlots(ev.Message.Fields)))
			}
		}
	}
	for _, m := range core.Machines(roles...) {
		o.machine(m)
	}
	for _, r := range c.Rules {
		o.exprs(r.When)
	}
	for _, k := range c.Claims {
		o.exprs(k.When, k.Expr)
		o.exprs(k.Exprs...)
	}
	o.exprs(c.Quiet)
	return o
}

func holdsOpaque(t *model.Type) bool {
	if t == nil {
		return false
	}
	return t.Kind == model.KindOpaque || holdsOpaque(t.Elem) || holdsOpaque(t.Index) ||
		slices.ContainsFunc(t.Fields, func(f *model.Field) bool { return holdsOpaque(f.Type) })
}

func (o *opaque) machine(m *core.Machine) {
	for _, p := range m.Model.Parts {
		if slices.ContainsFunc(p.Keys, func(f *model.Field) bool { return holdsOpaque(f.Type) }) {
			o.why = "opaque values are keys of parts"
		}
	}
	m.Each(func(s core.Stmt) {
		if f, ok := s.(*core.For); ok {
			o.loop(f.Values)
		}
	}, o.expr)
}

func (o *opaque) exprs(list ...model.Expr) {
	for _, e := range list {
		o.expr(core.Of(e))
	}
}

func (o *opaque) expr(e core.Expr) {
	core.Walk(e, func(e core.Expr) {
		switch e := e.(type) {
		case *core.Const:
			if e.T.Kind == model.KindOpaque && !slices.Contains(o.constants, e.Value) {
				o.constants = append(o.constants, e.Value)
			}
		case *core.Fold:
			o.loop(e.Values)
		}
	})
}

func (o *opaque) loop(values *model.Type) {
	if holdsOpaque(values) {
		o.why = "something is done for every opaque value"
	}
}

// opaqueSlots lists the slots of fields that hold opaque values. Those of absent values hold
// zero, which counts as in use anyway.
func opaqueSlots(fields []*model.Field) []int {
	var out []int
	for _, f := range fields {
		out = append(out, typeSlots(f.Type, f.Offset)...)
	}
	return out
}

func typeSlots(t *model.Type, at int) []int {
	var out []int
	many := func(n, first int) {
		for i := range n {
			out = append(out, typeSlots(t.Elem, at+first+i*t.Elem.Slots())...)
		}
	}
	switch t.Kind {
	case model.KindOpaque:
		out = []int{at}
	case model.KindOptional:
		many(1, 1)
	case model.KindList:
		many(t.Cap, 1)
	case model.KindArray:
		many(int(t.Index.Count()), 0)
	case model.KindRecord:
		for _, f := range t.Fields {
			out = append(out, typeSlots(f.Type, at+f.Offset)...)
		}
	}
	return out
}

func machineSlots(m *model.Machine, base int) []int {
	var out []int
	for _, d := range slices.Concat(m.Params, m.Vars) {
		out = append(out, typeSlots(d.Type, base+d.Offset)...)
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			out = append(out, machineSlots(p.Machine, base+p.Offset+i*p.Machine.Size)...)
		}
	}
	return out
}

// live counts the most different opaque values in one configuration, constants included.
func (o *opaque) live(sys *check.System, space explore.Space) int {
	locals, messages := make([]map[string][]int64, len(sys.System.Procs)), map[string][]int64{}
	slots := make([][]int, len(locals))
	for i, inst := range sys.Check.Instances {
		locals[i] = map[string][]int64{}
		slots[i] = machineSlots(inst.Role, 0)
	}
	most := 0
	var all []int64
	space.ForEachConfiguration(func(_ int, c explore.Configuration) bool {
		all = append(all[:0], o.constants...)
		for i, b := range c.Locals {
			v, known := locals[i][string(b)]
			if !known {
				_, _, value := sys.Local(i, b)
				v = pick(value, slots[i])
				locals[i][string(b)] = v
			}
			all = append(all, v...)
		}
		for _, w := range c.Channels {
			for _, b := range w {
				v, known := messages[string(b)]
				if !known {
					m, value := sys.Message(b)
					v = pick(value, opaqueSlots(m.Fields))
					messages[string(b)] = v
				}
				all = append(all, v...)
			}
		}
		slices.Sort(all)
		most = max(most, len(slices.Compact(all)))
		return true
	})
	return most
}

func pick(value []int64, slots []int) []int64 {
	out := make([]int64, len(slots))
	for i, at := range slots {
		out[i] = value[at]
	}
	return out
}

// enough reports whether a result for so many values holds for every greater number of them.
func (o *opaque) enough(values int64, live int) bool {
	return o.why == "" && slices.Max(o.constants) < values && values >= int64(live+o.fresh)
}
