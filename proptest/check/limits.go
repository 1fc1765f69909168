package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// Limit is how far a bounded value got: the greatest value of a number, the greatest length of a list, or how often a rule of the
// environment was used. If Free, its limit had no part in the result: with any greater one, and all else as it is, the same
// configurations are reached and the same claims hold.
type Limit struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // number, list or times
	Most  int64  `json:"most"`
	Limit int64  `json:"limit"`
	Free  bool   `json:"free"`
}

// limits collects what bounded values hold. That a limit was never reached is not enough to say that it had no part: nothing may
// have been refused because a value would have left its range (which happens from below the limit, too), nothing
// may go through the values of the type or the places of the list, and, since an author who raises a limit is likely to
// mean it, nothing may compare with it.
type limits struct {
	s        *System
	found    map[string]*Limit
	order    []string
	types    map[string]*model.Type // of numbers and lists, by name in found
	walked   map[*model.Type]bool   // types whose values something goes through
	compared map[int64]bool
	seen     map[*model.Machine]bool
}

// limitsOf looks at every local value that was reached. It is nil where nothing can be said.
func (s *System) limitsOf(res *explore.Result, r *Report) []Limit {
	if !res.Complete || len(res.Reductions) > 0 || s.dead != nil || s.refusal != "" {
		return nil
	}
	for _, c := range r.Claims {
		if c.Name == FaultClaim && c.Kind == "built-in" && c.Result != Holds {
			return nil
		}
	}
	l := &limits{s: s, found: map[string]*Limit{}, types: map[string]*model.Type{}, walked: map[*model.Type]bool{}, compared: map[int64]bool{}, seen: map[*model.Machine]bool{}}
	l.expressions()
	res.Space.ForEachLocal(func(at explore.LocalUse) bool {
		if at.Proc < len(s.procs) {
			p := s.procs[at.Proc]
			v := p.unpack(at.Value)
			l.machine(p.role, p.role.Name, v.value)
			l.rules(p, v)
		}
		return true
	})
	slices.Sort(l.order)
	var out []Limit
	for _, name := range l.order {
		x := l.found[name]
		x.Free = x.Most < x.Limit && (x.Kind == "times" || !l.walks(l.types[name]) && !l.compared[x.Limit] && !l.compared[x.Limit+1] && !l.compared[x.Limit-1])
		out = append(out, *x)
	}
	return out
}

func (l *limits) note(name, kind string, t *model.Type, v, limit int64) {
	x := l.found[name]
	if x == nil {
		x = &Limit{Name: name, Kind: kind, Most: v, Limit: limit}
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
func (l *limits) rules(p *process, v local) {
	note := func(r *rule, count int) {
		if r != nil && count >= 0 {
			l.note(p.role.Name+": "+r.env.Command.Name, "times", nil, v.used[count], int64(r.env.Times))
		}
	}
	for i := range p.commands {
		note(p.commands[i].rule, p.commands[i].count)
	}
	for i := range p.timers {
		note(p.timers[i].rule, p.timers[i].count)
	}
}

// walks says whether something goes through all values of a type, or through all lists.
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
	for _, inst := range c.Instances {
		l.says(inst.Role)
	}
	for _, r := range c.Rules {
		l.expr(r.When)
	}
	l.expr(c.Quiet)
	for _, cl := range c.Claims {
		l.expr(cl.When)
		l.expr(cl.Expr)
		for _, e := range cl.Exprs {
			l.expr(e)
		}
	}
}

func (l *limits) says(m *model.Machine) {
	if l.seen[m] {
		return
	}
	l.seen[m] = true
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			l.indices(v.Type)
			l.expr(v.Init)
		}
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
	for _, t := range m.Transitions {
		l.expr(t.When)
		l.stmts(t.Body)
	}
	for _, st := range m.States {
		l.stmts(st.Entry)
	}
	for _, p := range m.Parts {
		for _, k := range p.Keys {
			l.through(k.Type)
		}
		for _, e := range append(slices.Clone(p.Args), p.To) {
			l.expr(e)
		}
		for _, ps := range p.Sends {
			if ps != nil {
				l.stmt(ps.Send)
			}
		}
		l.says(p.Machine)
	}
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

func (l *limits) stmts(list []model.Stmt) {
	for _, s := range list {
		l.stmt(s)
	}
}

func (l *limits) stmt(s model.Stmt) {
	var all []model.Expr
	switch s := s.(type) {
	case *model.Set:
		for _, x := range s.Select {
			all = append(all, x.Index)
		}
		all = append(all, s.Value)
	case *model.Send:
		all = append(slices.Clone(s.Fields), s.To)
	case *model.ReportStmt:
		all = s.Fields
	case *model.Run:
		all = slices.Concat(s.Keys, s.Args)
	case *model.Restart:
		all = s.Keys
	case *model.StartTimer:
		all = append(slices.Clone(s.Keys), s.Ticks)
	case *model.StopTimer:
		all = s.Keys
	case *model.If:
		all = []model.Expr{s.Cond}
		l.stmts(s.Then)
		l.stmts(s.Else)
	case *model.Each:
		l.through(s.Values)
		all = []model.Expr{s.Over}
		l.stmts(s.Body)
	case *model.Close:
		all = []model.Expr{s.To}
	}
	for _, e := range all {
		l.expr(e)
	}
}

func (l *limits) expr(e model.Expr) {
	model.Walk(e, func(e model.Expr) {
		switch e := e.(type) {
		case *model.Binary:
			if e.Op >= model.OpEq && e.Op <= model.OpGe {
				for _, side := range []model.Expr{e.X, e.Y} {
					if lit, ok := side.(*model.Lit); ok {
						l.compared[lit.Value] = true
					}
				}
			}
		case *model.Build:
			l.through(e.Values)
		case *model.Quantified:
			l.through(e.Values)
		}
		l.indices(e.Type())
	})
}

// limitWords say which limits had no part in the result.
func limitWords(list []Limit) []string {
	var out []string
	words := map[string]string{"number": "%s never exceeds %d (limit %d)", "list": "%s never holds more than %d (limit %d)", "times": "%s was given at most %s (limit %d)"}
	for _, x := range list {
		if x.Free && x.Kind == "times" {
			out = append(out, fmt.Sprintf(words[x.Kind], x.Name, counted(int(x.Most), "time"), x.Limit))
		} else if x.Free {
			out = append(out, fmt.Sprintf(words[x.Kind], x.Name, x.Most, x.Limit))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []string{strings.Join(out, "; ") + ": nothing was refused for such a limit, compares with it, or goes through all values below it, so the result holds for every larger one"}
}
