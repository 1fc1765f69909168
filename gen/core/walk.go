package core

import (
	"slices"

	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/model"
)

// Walk visits e and all expressions inside it, those of keys included, each before its operands. A
// nil e is nothing.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	Operands(e, func(x Expr) { Walk(x, visit) })
}

// Operands visits the expressions that e is made of, in order.
func Operands(e Expr, visit func(Expr)) {
	some := func(list ...Expr) {
		for _, x := range list {
			if x != nil {
				visit(x)
			}
		}
	}
	switch e := e.(type) {
	case *Read:
		some(e.keys()...)
	case *Field:
		visit(e.X)
	case *Index:
		some(e.X, e.I)
	case *Apply:
		some(e.Args...)
	case *If:
		some(e.Cond, e.Then, e.Else)
	case *Make:
		some(e.Elems...)
	case *Fold:
		some(e.Over, e.Where, e.Elem)
	case *Fit:
		visit(e.X)
	}
}

// Rewrite copies e with its operands replaced by f, which is given each in turn and never nil. What
// follows from the operands, such as intervals, is computed anew, and a conversion that is no longer
// needed goes. From stays: it is what the author wrote, not what the copy says.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	all := func(list []Expr) []Expr {
		out := slices.Clone(list)
		for i, x := range out {
			out[i] = f(x)
		}
		return out
	}
	maybe := func(x Expr) Expr {
		if x == nil {
			return nil
		}
		return f(x)
	}
	switch e := e.(type) {
	case *Read:
		c := *e
		c.Path = slices.Clone(e.Path)
		for i, s := range c.Path {
			c.Path[i].Keys = all(s.Keys)
		}
		c.Keys = all(e.Keys)
		return c.placed()
	case *Field:
		if e.Field == nil {
			return payload(f(e.X), e.From)
		}
		return newField(f(e.X), e.Field, e.From)
	case *Index:
		return newIndex(f(e.X), f(e.I), e.T, e.From)
	case *Apply:
		return newApply(e.Op, all(e.Args), e.T, e.From)
	case *If:
		return newIf(e.Form, f(e.Cond), f(e.Then), f(e.Else), e.T, e.From)
	case *Make:
		return newMake(all(e.Elems), e.T, e.From)
	case *Fold:
		c := *e
		c.Over, c.Where, c.Elem = maybe(e.Over), maybe(e.Where), maybe(e.Elem)
		return newFold(c, e.T, e.From)
	case *Fit:
		return fitted(f(e.X), e.T, e.At, e.Words)
	}
	return e
}

// Substitute copies e with a number in place of a local.
func Substitute(e Expr, l *model.Local, v int64) Expr {
	if x, ok := e.(*Local); ok && x.Local == l {
		return number(x.T, v, &model.Lit{ExprBase: model.ExprBase{T: x.T, Span: x.Pos()}, Value: v})
	}
	return Rewrite(e, func(x Expr) Expr { return Substitute(x, l, v) })
}

// Narrow copies e with the intervals that are left of it where more is known than types say: what
// gives the interval of an expression whose interval by its operands is in. What follows is computed
// anew, so that a conversion that can no longer fail goes.
func Narrow(e Expr, what func(e Expr, in interval.Interval) interval.Interval) Expr {
	switch x := e.(type) {
	case *Const, *Observe:
		return e
	case *Local:
		l := *x
		e = &l
	default:
		e = Rewrite(e, func(x Expr) Expr { return Narrow(x, what) })
	}
	b := e.Node()
	b.In = what(e, b.In)
	return e
}

// Free lists the locals that e reads and does not bind, each time; a nil one is the sender.
func Free(e Expr) []*model.Local {
	var bound, out []*model.Local
	Walk(e, func(e Expr) {
		if f, ok := e.(*Fold); ok {
			bound = append(bound, f.Local)
		}
	})
	Walk(e, func(e Expr) {
		if x, ok := e.(*Local); ok && !slices.Contains(bound, x.Local) {
			out = append(out, x.Local)
		}
	})
	return out
}

// FrameEnd returns the first slot behind all locals of e.
func FrameEnd(e Expr) int {
	end := 0
	note := func(l *model.Local) {
		if l != nil {
			end = max(end, l.Offset+l.Type.Slots())
		}
	}
	Walk(e, func(e Expr) {
		switch e := e.(type) {
		case *Local:
			note(e.Local)
		case *Fold:
			note(e.Local)
		}
	})
	return end
}

// Exprs visits the expressions that stand in a statement itself, not in the statements inside it,
// in the order in which they are evaluated.
func Exprs(s Stmt, visit func(Expr)) {
	some := func(list ...Expr) {
		for _, x := range list {
			if x != nil {
				visit(x)
			}
		}
	}
	switch s := s.(type) {
	case *Assign:
		for _, sel := range s.Select {
			some(sel.Index)
		}
		some(s.Value)
	case *Emit:
		some(s.Fields...)
		some(s.To)
	case *Timer:
		some(s.keys()...)
		some(s.Ticks)
	case *Give:
		some(s.keys()...)
		some(s.Args...)
	case *Reset:
		some(s.keys()...)
	case *Branch:
		some(s.Cond)
	case *For:
		some(s.Over)
	}
}

// Inside returns the lists of statements inside a statement.
func Inside(s Stmt) [][]Stmt {
	switch s := s.(type) {
	case *Branch:
		return [][]Stmt{s.Then, s.Else}
	case *For:
		return [][]Stmt{s.Body}
	}
	return nil
}

// WalkStmts visits all statements of a list and inside them, each before those inside it.
func WalkStmts(list []Stmt, visit func(Stmt)) {
	for _, s := range list {
		visit(s)
		for _, in := range Inside(s) {
			WalkStmts(in, visit)
		}
	}
}

// Reads visits the variables that evaluating e reads, each time; own is true for those of the
// machine that runs. States and timers are none of them.
func Reads(e Expr, visit func(v *model.Var, own bool)) {
	Walk(e, func(e Expr) {
		if r, ok := e.(*Read); ok && r.What == ReadVar {
			visit(r.Var, r.Inst == nil && len(r.Path) == 0)
		}
	})
}

// Writes returns the variable of its own machine that a statement itself changes; whole is false if
// a part of it keeps its value. nil: none. What [Give] and [Reset] change is of another machine.
func Writes(s Stmt) (v *model.Var, whole bool) {
	if a, ok := s.(*Assign); ok && a.Var != nil {
		return a.Var, len(a.Select) == 0
	}
	return nil, false
}

// Observes lists the instances of a check that expressions look at, each once; a nil one stands for
// channels.
func Observes(list ...Expr) []*model.Instance {
	var out []*model.Instance
	note := func(i *model.Instance) {
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	for _, e := range list {
		Walk(e, func(e Expr) {
			switch e := e.(type) {
			case *Read:
				if e.Inst != nil {
					note(e.Inst)
				}
			case *Observe:
				note(nil)
			}
		})
	}
	return out
}

// Looked lists, of n instances of a check, the numbers of those that conditions look at: those that
// they name, and the ends of channels. Conditions that look at all channels, or at nothing, look at
// all instances.
func Looked(n int, conditions ...Expr) []int {
	seen := map[int]bool{}
	all := false
	look := func(in *model.Instance) {
		if in == nil {
			all = true
		} else {
			seen[in.Index] = true
		}
	}
	for _, e := range conditions {
		Walk(e, func(e Expr) {
			switch e := e.(type) {
			case *Read:
				if e.Inst != nil {
					look(e.Inst)
				}
			case *Observe:
				look(e.Of.From)
				look(e.Of.To)
			}
		})
	}
	var out []int
	for i := range n {
		if all || seen[i] || len(seen) == 0 {
			out = append(out, i)
		}
	}
	return out
}

// Each visits all that a machine says, without the machines of its parts: every statement, and
// every expression that stands in one, in a guard, in the beginning of a variable or in the
// declaration of a part (not those inside expressions).
func (m *Machine) Each(stmt func(Stmt), expr func(Expr)) {
	one := func(e Expr) {
		if e != nil {
			expr(e)
		}
	}
	all := func(list []Stmt) {
		WalkStmts(list, func(s Stmt) {
			stmt(s)
			Exprs(s, expr)
		})
	}
	for _, e := range m.Inits {
		one(e)
	}
	for _, st := range m.States {
		all(st.Entry)
		for _, h := range st.Handlers {
			if h == nil {
				continue
			}
			for _, t := range h.Branches {
				one(t.When)
				all(t.Body)
			}
		}
	}
	for _, p := range m.Parts {
		for _, e := range p.Args {
			one(e)
		}
		one(p.To)
		for _, s := range p.Sends {
			if s != nil {
				all([]Stmt{s.Send})
			}
		}
	}
}

// Machines lowers machines and lists them with the machines of their parts, at any depth, each once.
func Machines(list ...*model.Machine) []*Machine {
	l := lowering{machines: map[*model.Machine]*Machine{}}
	var out []*Machine
	var add func(m *Machine)
	add = func(m *Machine) {
		if slices.Contains(out, m) {
			return
		}
		out = append(out, m)
		for _, p := range m.Parts {
			add(p.Machine)
		}
	}
	for _, m := range list {
		add(l.machine(m))
	}
	return out
}
