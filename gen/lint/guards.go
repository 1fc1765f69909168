package lint

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// verdicts holds what the guards of a handler come to over all values.
type verdicts struct {
	taken   []bool // the branch is taken with some values
	holds   []bool // its guard holds with some values
	missing string // values with which no guard holds
	overlap map[[2]int]string
}

// guards finds which cases a handler's guards leave out or cover twice, and which branches are
// never taken.
func (t *trial) guards() {
	branches := t.h.Branches
	last := branches[len(branches)-1]
	if len(branches) == 1 && last.When == nil {
		return
	}
	g := &gatherer{t: t}
	for _, b := range t.guarded {
		g.expr(b.When)
	}
	g.choose()
	v, complete := t.try(g)
	// Where every branch has a guard they are meant to tell cases apart.
	if len(branches) > 1 && last.When != nil {
		for i := range branches {
			for j := i + 1; j < len(branches); j++ {
				if with := v.overlap[[2]int{i, j}]; with != "" {
					t.l.warn("FSM068", branches[j].When.Pos(),
						"this guard and an earlier one both hold %s; the earlier branch is taken", with).
						See(branches[i].When.Pos(), "the other guard").
						With("let one guard exclude the other, or leave out `when` in the last branch if it " +
							"is for everything else")
				}
			}
		}
	}
	if v.missing != "" && last.When != nil && t.mustHandle() {
		d := t.l.warn("FSM066", t.h.Span, "no guard holds %s: state %s then refuses %s", v.missing,
			diag.Quote(t.st.Name), diag.Quote(t.h.Event.Name))
		d.With("add a branch without `when`; with `refuse: reason` if it cannot happen")
	}
	if complete {
		t.untaken(v)
	}
}

// mustHandle reports whether the event comes even if the machine is not ready for it.
func (t *trial) mustHandle() bool { return t.h.Event.Kind != model.EventCommand }

// try evaluates all guards with all values.
func (t *trial) try(g *gatherer) (*verdicts, bool) {
	n := len(t.h.Branches)
	v := &verdicts{taken: make([]bool, n), holds: make([]bool, n), overlap: map[[2]int]string{}}
	x := &interp.Eval{Strings: t.strs}
	faulted := false
	complete := t.each(g, func(locals []int64) bool {
		first := -1
		for i, b := range t.h.Branches {
			ok := b.When == nil
			if !ok {
				var err error
				if ok, err = x.Bool(t.guarded[i].When, t.v, locals); err != nil {
					faulted = true // the step is refused; which branch was meant cannot be said
					return true
				}
			}
			if !ok {
				continue
			}
			v.holds[i] = true
			if first < 0 {
				first, v.taken[i] = i, true
			} else if pair := [2]int{first, i}; v.overlap[pair] == "" {
				v.overlap[pair] = t.example(g, locals)
			}
		}
		if first < 0 && v.missing == "" && len(g.atoms) > 0 {
			v.missing = t.example(g, locals)
		}
		return true
	})
	return v, complete && !faulted
}

// untaken reports branches that no values lead to. A guard without variables was judged by the
// compiler, or depends on a constant that a check replaces.
func (t *trial) untaken(v *verdicts) {
	for i, b := range t.h.Branches {
		g := &gatherer{t: t}
		for _, c := range t.guarded[:i+1] {
			g.expr(c.When)
		}
		if v.taken[i] || b.When == nil && i == 0 || len(g.atoms) == 0 {
			continue
		}
		at := b.Span
		if b.When != nil {
			at = b.When.Pos()
		}
		if b.When != nil && !v.holds[i] {
			t.l.warn("FSM067", at, "this guard never holds, with whatever values")
			continue
		}
		t.l.warn("FSM067", at, "this branch is never taken: the ones before cover all its cases").
			See(t.h.Branches[0].Span, "the first branch")
	}
}

// assignments looks for values with which an assignment leaves its range.
func (t *trial) assignments() {
	sets := map[diag.Span]bool{}
	g := &gatherer{t: t}
	for _, b := range t.guarded {
		g.expr(b.When)
		g.stmts(b.Body, sets)
		if b.To != nil {
			g.stmts(b.To.Entry, sets)
		}
	}
	if len(sets) == 0 {
		return
	}
	g.choose()
	t.sample(g)
	machine := interp.Run(t.code, t.strs)
	fields := interp.FieldSlots(t.h.Event.Fields)
	t.each(g, func(locals []int64) bool {
		_, _, _, fault := machine.Step(t.v, interp.Event{Event: t.h.Event,
			Args: slices.Clone(locals[:fields])})
		if fault == nil || fault.Kind != interp.Failed || len(fault.Path) > 0 {
			return true
		}
		if sets[fault.Span] {
			t.l.warn("FSM069", fault.Span, "%s: %s", t.example(g, locals), fault.Reason).
				With("the step is then refused; guard against it, or bound the value with min() or max()")
			delete(sets, fault.Span)
		}
		return len(sets) > 0
	})
}

// sample thins out the values until there are few enough combinations. It keeps the outermost.
func (t *trial) sample(g *gatherer) {
	for {
		count, widest := 1, 0
		for i, a := range g.atoms {
			count *= len(a.values)
			if len(a.values) > len(g.atoms[widest].values) {
				widest = i
			}
			if count > maxSteps {
				break
			}
		}
		if count <= maxSteps || len(g.atoms[widest].values) <= 2 {
			return
		}
		a := g.atoms[widest]
		a.exact = false
		if n := len(a.values); n > maxSamples {
			a.values = slices.Concat(a.values[:maxSamples/2], a.values[n-maxSamples/2:])
		} else {
			a.values = [][]int64{a.values[0], a.values[n-1]}
		}
	}
}

// stmts collects from statements, and where numbers are stored in sets.
func (g *gatherer) stmts(list []core.Stmt, sets map[diag.Span]bool) {
	stored := func(e core.Expr, at diag.Span) {
		if k := core.Bare(e).Node().T.Kind; k == model.KindInt || k == model.KindNode {
			sets[at] = true
		}
		g.expr(e)
	}
	for _, st := range list {
		switch st := st.(type) {
		case *core.Assign:
			if st.Var == nil {
				g.expr(st.Value)
				break
			}
			stored(st.Value, st.Pos())
			for _, s := range st.Select {
				g.expr(s.Index)
			}
		case *core.Timer:
			if st.Ticks != nil {
				stored(st.Ticks, st.Ticks.Node().Pos())
			}
		case *core.Branch:
			g.expr(st.Cond)
			g.stmts(st.Then, sets)
			g.stmts(st.Else, sets)
		case *core.For:
			g.expr(st.Over)
			g.loop(st.Values, st.Over, func() { g.stmts(st.Body, sets) })
		case *core.Give:
			g.loops += runCost * 16
			for _, a := range st.Args {
				g.expr(a)
			}
		}
	}
}
