package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// maxTicks is the longest duration of a timer.
const maxTicks = 1 << 31

func (ro *role) declareTimers() {
	n := ro.node.Get("timers")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		t := &model.Timer{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Index: len(ro.m.Timers), Ticks: 1, Count: 1, Span: e.Key.Span()}
		if ticks := e.Value.Get("ticks"); ticks != nil {
			ro.duration(t, ticks)
		} else {
			ro.r.Errorf("FSM009", e.Key.Span(), "timer %s has no `ticks`", diag.Quote(t.Name))
		}
		if keys, count, ok := ro.r.keyFields(e.Value.Get("key"), "the timer"); ok {
			t.Keys, t.Count = keys, count
		}
		t.Absolute = textOf(e.Value, "deadline") == "absolute"
		if !ro.declare(e.Key, "timer", t) {
			continue
		}
		t.Offset = int(ro.size)
		ro.grow(int64(t.Count), t.Span)
		ro.m.Timers = append(ro.m.Timers, t)
	}
	if ro.r.root.Get("tick") == nil && len(n.Entries) > 0 {
		ro.r.Errorf("FSM009", n.Entries[0].Key.Span(), "there are timers, but no `tick` at the top says how long a tick is").
			With("add `tick: 50ms`")
	}
}

// duration resolves how long a timer runs: a number, or the range of what its starts say.
func (ro *role) duration(t *model.Timer, n *ast.Node) {
	if n.Kind == ast.Scalar {
		if x, err := expr.ParseOver(n.Text, n.Part); err == nil {
			if x, isRange := x.(*expr.Range); isRange {
				ro.durations(t, x)
				return
			}
		}
	}
	if v, ok := ro.r.constIn(n, 1, maxTicks, "the duration in ticks"); ok {
		t.Ticks = v
	}
}

func (ro *role) durations(t *model.Timer, x *expr.Range) {
	lo, ok1 := ro.r.constNode(x.Lo, 0, maxTicks, "the least duration in ticks")
	hi, ok2 := ro.r.constNode(x.Hi, 0, maxTicks, "the greatest duration in ticks")
	if !ok1 || !ok2 {
		return
	}
	if lo > hi {
		ro.r.Errorf("FSM041", x.Pos(), "the range %d..%d is empty", lo, hi)
		return
	}
	t.Ticks, t.Length = hi, intType(lo, hi)
	t.Length.Span = x.Pos()
}

// keyFields resolves the keys of a part or timer and counts their combinations.
func (r *resolver) keyFields(n *ast.Node, what string) (fields []*model.Field, count int, ok bool) {
	if n == nil {
		return nil, 1, true
	}
	if fields = r.fields(n); fields == nil {
		return nil, 1, false
	}
	all := int64(1)
	for _, f := range fields {
		if !isDiscrete(f.Type) {
			r.Errorf("FSM061", f.Span, "a key is bool, a range, an enumeration or an instance, not %s", describe(f.Type))
			return nil, 1, false
		}
		all *= min(f.Type.Count(), maxParts+1)
		if all > maxParts {
			r.Errorf("FSM042", f.Span, "%s has more than %d instances", what, maxParts)
			return nil, 1, false
		}
	}
	return fields, int(all), true
}

// timerKeys resolves the keys that select one instance of a timer; nil after an error.
func (s *scope) timerKeys(t *model.Timer, args []expr.Node, at diag.Span) []model.Expr {
	if len(args) != len(t.Keys) {
		s.r.Errorf("FSM049", at, "timer %s has %d key%s, not %d", diag.Quote(t.Name), len(t.Keys), plural(len(t.Keys)), len(args)).With(timerHint(t))
		return nil
	}
	keys := make([]model.Expr, len(args))
	ok := true
	for i, a := range args {
		keys[i] = s.value(a, t.Keys[i].Type)
		ok = ok && keys[i] != nil
	}
	if !ok {
		return nil
	}
	return keys
}

func timerHint(t *model.Timer) string {
	if len(t.Keys) == 0 {
		return "write `" + t.Name + "`"
	}
	return "write `" + t.Name + "[" + joinNames(t.Keys) + "]`"
}

// timer resolves start and stop.
func (w *stmts) timer(n *ast.Node, e ast.Entry, base model.StmtBase) model.Stmt {
	x, err := expr.Parse(e.Value.Text, e.Value.Part)
	if err != nil {
		w.r.syntax(err)
		return nil
	}
	t, keys, ok := w.ownTimer(x)
	if !ok {
		return nil
	}
	if e.Key.Text == "stop" {
		return &model.StopTimer{StmtBase: base, Timer: t, Keys: keys}
	}
	w.r.useSet(t.Span)
	if keys == nil && len(t.Keys) > 0 {
		w.r.Errorf("FSM049", x.Pos(), "timer %s has several instances; say which", diag.Quote(t.Name)).With(timerHint(t))
		return nil
	}
	st := &model.StartTimer{StmtBase: base, Timer: t, Keys: keys}
	ticks := n.Entry("ticks")
	switch {
	case ticks == nil && t.Length != nil:
		w.r.Errorf("FSM049", e.Value.Span(), "timer %s runs for %d to %d ticks; say how long", diag.Quote(t.Name), t.Length.Lo, t.Length.Hi).
			With("add `ticks: EXPR`").See(t.Length.Span, "declared here")
		return nil
	case ticks != nil && t.Length == nil:
		w.r.Errorf("FSM049", ticks.Key.Span(), "timer %s always runs for %d ticks", diag.Quote(t.Name), t.Ticks).
			With("leave out `ticks` here, or give its declaration a range: `ticks: 0..800`").See(t.Span, "declared here")
		return nil
	case ticks != nil:
		x := w.r.parse(ticks.Value)
		if x == nil {
			return nil
		}
		if st.Ticks = w.value(x, t.Length); st.Ticks == nil {
			return nil
		}
	}
	return st
}

// ownTimer resolves a timer of this machine, with its keys or without; ok is false after an error.
func (w *stmts) ownTimer(n expr.Node) (t *model.Timer, keys []model.Expr, ok bool) {
	id, args, indexed := splitKeys(n)
	if id == nil {
		w.r.Errorf("FSM060", n.Pos(), "a timer is needed here: timer or timer[key]")
		return nil, nil, false
	}
	if w.ro.taken[id.Name] {
		return nil, nil, false
	}
	t, isTimer := w.ro.values[id.Name].(*model.Timer)
	if !isTimer {
		w.r.unknownAt("FSM060", id.Pos(), id.Name, "timer", w.ro.node.Get("timers").Keys())
		return nil, nil, false
	}
	w.r.refer(id.Pos(), t.Span)
	if !indexed {
		return t, nil, true
	}
	keys = w.timerKeys(t, args, n.Pos())
	return t, keys, keys != nil
}

// splitKeys takes `name` and `name[key, …]` apart; id is nil if n is neither. What is indexed has keys, maybe none.
func splitKeys(n expr.Node) (id *expr.Ident, keys []expr.Node, indexed bool) {
	if ix, ok := n.(*expr.Index); ok {
		n, keys, indexed = ix.X, ix.Args, true
	}
	id, _ = n.(*expr.Ident)
	return id, keys, indexed
}
