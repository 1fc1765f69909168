package tla

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// Graph has all configurations of a module with the steps between them, for what is said of whole runs.
type Graph struct {
	spec  *Spec
	ctx   context.Context
	index map[string]int
	confs [][]Value
	steps [][]int // to other configurations
}

// caught turns the panics of an evaluation into an error.
func (s *Spec) caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = fmt.Errorf("%s: %s", s.Name, r.text)
	case *Error:
		*err = r
	default:
		*err = fmt.Errorf("%s: %v\n%s", s.Name, r, debug.Stack())
	}
}

// Graph visits all configurations, as Search does, and keeps them. It ends with an error when the context does.
func (s *Spec) Graph(ctx context.Context) (g *Graph, err error) {
	defer s.caught(&err)
	g = &Graph{spec: s, ctx: ctx, index: map[string]int{}}
	for _, c := range s.first() {
		g.number(c)
	}
	next := s.op("Next")
	for i := 0; i < len(g.confs); i++ {
		g.steps = append(g.steps, g.after(i, next.act, g.frame(i, next.slots)))
	}
	return g, nil
}

// number is that of a configuration, which is kept if it is new.
func (g *Graph) number(c []Value) int {
	key := string(text(c))
	i, known := g.index[key]
	if !known {
		i = len(g.confs)
		g.index[key] = i
		g.confs = append(g.confs, c)
	}
	return i
}

func (g *Graph) frame(i, slots int) *frame {
	now := g.confs[i]
	w := &walk{now: now, next: make([]Value, len(now)), ended: func() bool { return g.ctx.Err() != nil }}
	return &frame{w: w, slots: make([]any, slots)}
}

// after lists the other configurations to which an action leads.
func (g *Graph) after(i int, a act, f *frame) (out []int) {
	a(f, func() bool {
		if to := g.number(g.spec.whole(f.w)); to != i && !slices.Contains(out, to) {
			out = append(out, to)
		}
		return true
	})
	return out
}

// fairness is WF or SF of an action, with what the quantifiers around it have bound.
type fairness struct {
	strong bool
	act    act
	bound  []any
	steps  [][]int // by configuration
}

// Violated reports whether a property, which is <>P or P ~> Q, fails in some run that a specification allows: one
// that is fair as its conjuncts WF and SF say. Like every formula of TLA+ it may stutter.
func (g *Graph) Violated(spec, property string) (is bool, err error) {
	defer g.spec.caught(&err)
	p := g.spec.op(property).body
	for p.op == "()" {
		p = p.x[0]
	}
	var from []bool
	switch p.op {
	case "<>":
		from = make([]bool, len(g.confs))
		from[0] = true
	case "~>":
		from = g.where(p.x[0])
	default:
		stopf("%s is of a form that is not evaluated: %s", property, p.op)
	}
	goal := g.where(p.x[len(p.x)-1])
	fair := g.conditions(g.spec.op(spec).body)
	var without []int
	for i := range g.confs {
		if !goal[i] {
			without = append(without, i)
		}
	}
	bad := make([]bool, len(g.confs)) // a fair run can stay here for ever
	g.stays(without, fair, bad)
	// Whoever can come there without the goal can miss it.
	for again := true; again; {
		again = false
		for i := range slices.Backward(g.confs) {
			if !bad[i] && !goal[i] && slices.ContainsFunc(g.steps[i], func(to int) bool { return bad[to] }) {
				bad[i], again = true, true
			}
		}
	}
	for i := range g.confs {
		if from[i] && bad[i] {
			return true, nil
		}
	}
	return false, nil
}

// where evaluates a condition in all configurations.
func (g *Graph) where(n *node) []bool {
	c := g.spec.compiler()
	e := below(c.expr(n), state, n.at, "a condition of a property")
	out := make([]bool, len(g.confs))
	for i := range g.confs {
		out[i] = asBool(e.eval(g.frame(i, c.scopes[0].slots)), n.at)
	}
	return out
}

// conditions are those of fairness in the body of a specification, with the steps that they are about.
func (g *Graph) conditions(n *node) (all []*fairness) {
	c := g.spec.compiler()
	var find func(n *node, f *frame)
	find = func(n *node, f *frame) {
		switch n.op {
		case "()":
			find(n.x[0], f)
		case "/\\":
			for _, x := range n.x {
				find(x, f)
			}
		case "\\A":
			set := c.expr(n.x[0])
			b := c.bind(n.bound[0])
			f.slots = append(f.slots, make([]any, max(0, c.scopes[0].slots-len(f.slots)))...)
			for _, v := range asSet(set.eval(f), n.at).elems {
				f.slots[b.slot] = v
				find(n.x[1], f)
			}
			c.drop(n.bound[0])
		case "WF_", "SF_":
			e := c.expr(n.x[0])
			if e.act == nil {
				stopf("line %d: fairness of what is no action", n.at.line)
			}
			all = append(all, &fairness{strong: n.op == "SF_", act: e.act, bound: slices.Clone(f.slots)})
		case "name":
			if op := g.spec.op(n.text); op.body.op == "/\\" {
				return // Init /\ [][Next]_vars, which the graph is made of
			}
			fallthrough
		default:
			stopf("line %d: a part of a specification that is not evaluated: %s", n.at.line, n.op)
		}
	}
	find(n, g.frame(0, 0))
	for _, x := range all {
		for i := range g.confs {
			f := g.frame(i, c.scopes[0].slots)
			copy(f.slots, x.bound)
			known := len(g.confs)
			x.steps = append(x.steps, g.after(i, x.act, f))
			if len(g.confs) > known {
				stopf("fairness of an action that is no step of Next")
			}
		}
	}
	return all
}

// stays marks the configurations, among some, in which a fair run can stay for ever. It may stutter, so that a single
// configuration is a cycle, too.
func (g *Graph) stays(among []int, fair []*fairness, mark []bool) {
	for _, comp := range g.components(among) {
		inside := map[int]bool{}
		for _, i := range comp {
			inside[i] = true
		}
		fails, away := false, map[int]bool{}
		for _, x := range fair {
			taken, possible := false, 0
			for _, i := range comp {
				taken = taken || slices.ContainsFunc(x.steps[i], func(to int) bool { return inside[to] })
				if len(x.steps[i]) > 0 {
					possible++
				}
			}
			switch {
			case taken:
			case x.strong:
				for _, i := range comp {
					if len(x.steps[i]) > 0 {
						away[i] = true
					}
				}
			case possible == len(comp):
				fails = true
			}
		}
		switch {
		case fails:
		case len(away) == 0:
			for _, i := range comp {
				mark[i] = true
			}
		default:
			g.stays(slices.DeleteFunc(slices.Clone(comp), func(i int) bool { return away[i] }), fair, mark)
		}
	}
}

// components are the strongly connected components among some configurations: who reaches whom and back (Kosaraju).
func (g *Graph) components(among []int) (out [][]int) {
	inside, back := map[int]bool{}, map[int][]int{}
	for _, i := range among {
		inside[i] = true
	}
	for _, i := range among {
		for _, to := range g.steps[i] {
			if inside[to] {
				back[to] = append(back[to], i)
			}
		}
	}
	// walk visits what can be reached from i, and gives each configuration once it has left it.
	walk := func(i int, next func(i int) []int, seen map[int]bool, leave func(i int)) {
		type place struct{ at, edge int }
		seen[i] = true
		for todo := []place{{i, 0}}; len(todo) > 0; {
			p := &todo[len(todo)-1]
			if list := next(p.at); p.edge < len(list) {
				to := list[p.edge]
				p.edge++
				if inside[to] && !seen[to] {
					seen[to] = true
					todo = append(todo, place{to, 0})
				}
				continue
			}
			leave(p.at)
			todo = todo[:len(todo)-1]
		}
	}
	var order []int
	seen := map[int]bool{}
	for _, i := range among {
		if !seen[i] {
			walk(i, func(i int) []int { return g.steps[i] }, seen, func(i int) { order = append(order, i) })
		}
	}
	seen = map[int]bool{}
	for _, i := range slices.Backward(order) {
		if !seen[i] {
			var comp []int
			walk(i, func(i int) []int { return back[i] }, seen, func(i int) { comp = append(comp, i) })
			out = append(out, comp)
		}
	}
	return out
}
