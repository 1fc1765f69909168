package check

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
)

// limits collects what bounded values hold. That a limit was never reached is not enough to say
// that it had no part: nothing may have been refused because a value would have left its range
// (which happens from below the limit, too), nothing may go through the values of the type or the
// places of the list, and, since an author who raises a limit is likely to mean it, nothing may
// compare with it.
type limits struct {
	s        *System
	found    map[string]*report.Limit
	order    []string
	types    map[string]*model.Type // of numbers and lists, by name in found
	times    map[string][]diag.Span // of rules: where constants stand in how often they are used
	walked   map[*model.Type]bool   // types whose values something goes through
	compared map[int64]bool
}

// limitsOf looks at every local value that was reached. It is nil where nothing can be said.
func (s *System) limitsOf(res *explore.Result, r *report.Report) []report.Limit {
	if !res.Complete || len(res.Reductions) > 0 || s.Dead != nil || s.Refusal != "" {
		return nil
	}
	for _, c := range r.Claims {
		if c.Name == FaultClaim && c.Kind == "built-in" && c.Result != Holds {
			return nil
		}
	}
	l := &limits{s: s, found: map[string]*report.Limit{}, types: map[string]*model.Type{},
		times:  map[string][]diag.Span{},
		walked: map[*model.Type]bool{}, compared: map[int64]bool{}}
	l.expressions()
	res.Space.ForEachLocal(func(at explore.LocalUse) bool {
		if at.Proc < len(s.Procs) {
			p := s.Procs[at.Proc]
			v := p.Unpack(at.Value)
			l.machine(p.Role, p.Role.Name, v.Value)
			l.rules(p, v)
		}
		return true
	})
	slices.Sort(l.order)
	var out []report.Limit
	for _, name := range l.order {
		x := l.found[name]
		x.Free = x.Most < x.Limit && (x.Kind == "times" || !l.walks(l.types[name]) && !l.compared[x.Limit] &&
			!l.compared[x.Limit+1] && !l.compared[x.Limit-1])
	}
	for l.together() {
	}
	for _, name := range l.order {
		out = append(out, *l.found[name])
	}
	return out
}

// bounds are the places of constants in what limits a value.
func (l *limits) bounds(name string) []diag.Span {
	if t := l.types[name]; t != nil {
		return t.Bounds
	}
	return l.times[name]
}

// together takes back that a limit had no part if, with it, another one changes that had: that of the
// same type, or whatever else says a constant that it mentions. It reports whether it did.
func (l *limits) together() (again bool) {
	free := map[diag.Span]bool{} // places of constants that bound types alone which had no part
	for pass := range 2 {
		for _, name := range l.order {
			if pass == 0 || !l.found[name].Free {
				for _, at := range l.bounds(name) {
					free[at] = pass == 0
				}
			}
		}
	}
	for _, name := range l.order {
		x, t := l.found[name], l.types[name]
		if !x.Free {
			continue
		}
		mine := l.bounds(name)
		for _, c := range l.s.Protocol.Consts {
			bounds := slices.ContainsFunc(c.Uses, func(at diag.Span) bool { return slices.Contains(mine, at) })
			if bounds && slices.ContainsFunc(c.Uses, func(at diag.Span) bool { return !free[at] }) {
				x.Free = false
			}
		}
		for _, other := range l.order {
			u := l.types[other]
			if t != nil && u != nil && (u == t || t.Name != "" && u.Name == t.Name) && !l.found[other].Free {
				x.Free = false
			}
		}
		again = again || !x.Free
	}
	return again
}

func (l *limits) note(name, kind string, t *model.Type, v, limit int64) {
	x := l.found[name]
	if x == nil {
		x = &report.Limit{Name: name, Kind: kind, Most: v, Limit: limit}
		l.found[name], l.types[name] = x, t
		l.order = append(l.order, name)
	}
	x.Most = max(x.Most, v)
}

// machine notes the variables of a machine and its parts.
func (l *limits) machine(m *model.Machine, name string, v interp.Value) {
	for _, d := range m.Vars {
		l.value(d.Type, name+"."+d.Name, v[d.Offset:])
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			l.machine(p.Machine, name+"."+p.Name, v[p.Offset+i*p.Machine.Size:])
		}
	}
}

func (l *limits) value(t *model.Type, name string, v []int64) {
	switch t.Kind {
	case model.KindInt:
		l.note(name, "number", t, v[0], t.Hi)
	case model.KindOptional:
		if v[0] != 0 {
			l.value(t.Elem, name, v[1:])
		}
	case model.KindArray:
		for i := range int(t.Index.Count()) {
			l.value(t.Elem, name+"[]", v[i*t.Elem.Slots():])
		}
	case model.KindList:
		l.note(name, "list", t, v[0], int64(t.Cap))
	case model.KindRecord:
		for _, f := range t.Fields {
			l.value(f.Type, name+"."+f.Name, v[f.Offset:])
		}
	}
}

// rules notes how often bounded rules of the environment were used.
func (l *limits) rules(p *system.Process, v codec.Local) {
	note := func(r *cond.Rule, count int) {
		if r != nil && count >= 0 {
			name := p.Role.Name + ": " + r.Env.Command.Name
			l.note(name, "times", nil, v.Used[count], int64(r.Env.Times))
			l.times[name] = r.Env.Bounds
		}
	}
	for i := range p.Commands {
		note(p.Commands[i].Rule, p.Commands[i].Count)
	}
	for i := range p.Timers {
		note(p.Timers[i].Rule, p.Timers[i].Count)
	}
}

// walks reports whether something goes through all values of a type, or through all lists.
func (l *limits) walks(t *model.Type) bool {
	for w := range l.walked {
		if w == t || t.Name != "" && w.Name == t.Name {
			return true
		}
	}
	return false
}

// through notes that all values of a type are gone through.
func (l *limits) through(t *model.Type) {
	if t == nil || l.walked[t] {
		return
	}
	l.walked[t] = true
	l.through(t.Elem)
	l.through(t.Index)
	for _, f := range t.Fields {
		l.through(f.Type)
	}
}

// expressions looks at all that machines, rules and claims say.
func (l *limits) expressions() {
	c := l.s.Check
	var roles []*model.Machine
	for _, inst := range c.Instances {
		roles = append(roles, inst.Role)
	}
	for _, m := range core.Machines(roles...) {
		l.says(m)
	}
	if c.HasHostile() { // it sends all values that there are
		for _, m := range l.s.Protocol.Messages {
			for _, f := range m.Fields {
				l.through(f.Type)
			}
		}
	}
	for _, r := range c.Rules {
		l.expr(core.Of(r.When))
	}
	l.expr(core.Of(c.Quiet))
	for _, cl := range c.Claims {
		for _, e := range append([]model.Expr{cl.When, cl.Expr}, cl.Exprs...) {
			l.expr(core.Of(e))
		}
	}
}

func (l *limits) says(code *core.Machine) {
	m := code.Model
	for _, v := range slices.Concat(m.Params, m.Vars) {
		l.indices(v.Type)
	}
	for _, ev := range m.Commands {
		for _, f := range ev.Fields {
			l.through(f.Type)
		}
	}
	for _, t := range m.Timers {
		for _, k := range t.Keys {
			l.through(k.Type)
		}
		l.through(t.Length)
	}
	for _, p := range m.Parts {
		for _, k := range p.Keys {
			l.through(k.Type)
		}
	}
	code.Each(func(s core.Stmt) {
		if f, ok := s.(*core.For); ok {
			l.through(f.Values)
		}
	}, l.expr)
}

// indices notes the types that have a place for each value.
func (l *limits) indices(t *model.Type) {
	if t == nil {
		return
	}
	l.through(t.Index)
	if t.Kind == model.KindSet {
		l.through(t.Elem)
	}
	l.indices(t.Elem)
	for _, f := range t.Fields {
		l.indices(f.Type)
	}
}

func (l *limits) expr(e core.Expr) {
	core.Walk(e, func(e core.Expr) {
		switch e := e.(type) {
		case *core.Apply:
			if e.Op < core.Eq || e.Op > core.Ge {
				break
			}
			for _, side := range e.Args {
				if c, ok := side.(*core.Const); ok {
					l.compared[c.Value] = true
				}
			}
		case *core.Fold:
			l.through(e.Values)
		}
		l.indices(e.Node().T)
	})
}
