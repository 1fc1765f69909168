package machine

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// stmts resolves the statements of one branch or entry.
type stmts struct {
	*expr.Resolver
	ro    *Role
	event *model.Event // nil in an entry
}

// companions maps keys that begin no statement to the statement that they belong to.
var companions = map[string]string{"to": "send", "ticks": "start", "then": "if", "else": "if",
	"do": "each"}

// whenNotIf says what is meant, most likely, by an `if` that has no `then`.
const whenNotIf = "the condition of a branch is `when: EXPR`; `if` chooses between statements: " +
	"`{if: EXPR, then: [{send: A}], else: [{send: B}]}`"

// branchBody resolves the statements of a branch: those of `do`, or those written directly.
func (w *stmts) branchBody(b *ast.Node) []model.Stmt {
	do := b.Entry("do")
	if do == nil || b.Get("each") != nil {
		return w.direct(b)
	}
	for _, e := range b.Entries {
		switch e.Key.Text {
		case "do", "when", "goto", "resume", "doc", "defensive":
		case "if":
			if b.Get("then") == nil {
				w.Errorf("FSM059", e.Key.Span(), "`if` has no `then`").With(whenNotIf)
				return nil
			}
			fallthrough
		default:
			w.Errorf("FSM059", e.Key.Span(), "a branch holds either direct statements or `do`").
				With("move " + diag.Quote(e.Key.Text) + " into the list of `do`")
			return nil
		}
	}
	return w.list(do.Value)
}

// list resolves a list of maps with statements.
func (w *stmts) list(n *ast.Node) []model.Stmt {
	var out []model.Stmt
	if n == nil {
		return nil
	}
	for _, it := range n.Items {
		if it.Kind == ast.Map {
			out = append(out, w.direct(it)...)
		} else {
			w.Errorf("FSM008", it.Span(), "a statement is missing here")
		}
	}
	return out
}

// direct resolves the statements of one map in the order in which they are written.
func (w *stmts) direct(n *ast.Node) []model.Stmt {
	var out []model.Stmt
	for _, e := range n.Entries {
		switch k := e.Key.Text; k {
		case "when", "goto", "resume", "doc", "defensive":
			continue
		case "to", "ticks", "then", "else", "do":
			owner := companions[k]
			if n.Get(owner) == nil && !(k == "to" && n.Get("close") != nil) {
				w.Errorf("FSM059", e.Key.Span(), "%s belongs to %s", diag.Quote(k), diag.Quote(owner))
			}
			continue
		}
		out = append(out, w.stmt(n, e)...)
	}
	return out
}

// stmt resolves one statement of the map n. Some become several: set, call, and send to a set.
func (w *stmts) stmt(n *ast.Node, e ast.Entry) []model.Stmt {
	base := model.StmtBase{Span: e.Key.Span()}
	var st model.Stmt
	switch e.Key.Text {
	case "set":
		return w.set(e.Value)
	case "send":
		return w.send(n, e.Value, base)
	case "call":
		return w.call(e.Value)
	case "report":
		st = w.report(e.Value, base)
	case "run":
		st = w.run(e.Value)
	case "restart":
		st = w.restart(e.Value, base)
	case "start", "stop":
		st = w.timer(n, e, base)
	case "if":
		st = w.ifStmt(n, e.Value, base)
	case "each":
		st = w.each(n, e, base)
	case "close":
		return w.close(n, base)
	case "refuse":
		st = &model.Refuse{StmtBase: base, Reason: e.Value.Text}
	}
	if st == nil {
		return nil
	}
	return []model.Stmt{st}
}

// set resolves assignments. Each is to a variable or to a place within one.
func (w *stmts) set(n *ast.Node) []model.Stmt {
	var out []model.Stmt
	for _, e := range n.Entries {
		target, err := syntax.Parse(e.Key.Text, e.Key.Part)
		if err != nil {
			w.SyntaxError(err)
			continue
		}
		st := &model.Set{StmtBase: model.StmtBase{Span: e.Key.Span()}}
		t := w.place(target, st)
		x := w.Parse(e.Value)
		if t == nil || x == nil {
			continue
		}
		if st.Value = w.Value(x, t); st.Value != nil {
			out = append(out, st)
		}
	}
	return out
}

// place resolves the left side of an assignment and returns its type.
func (w *stmts) place(n syntax.Node, st *model.Set) *model.Type {
	switch n := n.(type) {
	case *syntax.Ident:
		return w.variable(n, st)
	case *syntax.Select:
		t := w.place(n.X, st)
		if t == nil {
			return nil
		}
		if t.Kind == model.KindOptional {
			t = t.Elem
		}
		if t.Kind != model.KindRecord {
			w.Errorf("FSM030", n.NamePos, "only a record has fields to assign to, not %s",
				types.Describe(t))
			return nil
		}
		f := types.FieldNamed(t.Fields, n.Name)
		if f == nil {
			w.UnknownAt("FSM021", n.NamePos, n.Name, "field of "+types.Describe(t)+" named",
				types.FieldNames(t.Fields))
			return nil
		}
		w.Refer(n.NamePos, f.Span)
		st.Select = append(st.Select, model.Selector{Field: f})
		return f.Type
	case *syntax.Index:
		t := w.place(n.X, st)
		for _, a := range n.Args {
			if t = w.placeIndex(t, a, n.Pos(), st); t == nil {
				return nil
			}
		}
		return t
	}
	w.Errorf("FSM030", n.Pos(), "only a variable, or a field or element of one, can be assigned to")
	return nil
}

func (w *stmts) placeIndex(t *model.Type, a syntax.Node, at diag.Span, st *model.Set) *model.Type {
	if t == nil {
		return nil
	}
	want := t.Index
	switch t.Kind {
	case model.KindArray:
	case model.KindList:
		want = types.Int(0, int64(t.Cap)-1)
	default:
		w.Errorf("FSM030", at, "only arrays and lists have elements to assign to, not %s",
			types.Describe(t))
		return nil
	}
	i := w.Value(a, want)
	if i == nil {
		return nil
	}
	st.Select = append(st.Select, model.Selector{Index: i})
	return t.Elem
}

func (w *stmts) variable(n *syntax.Ident, st *model.Set) *model.Type {
	if w.Has(n.Name) {
		w.Errorf("FSM030", n.Pos(), "%s is a field of the event or a loop's variable and keeps its value",
			diag.Quote(n.Name))
		return nil
	}
	if w.ro.Taken[n.Name] {
		return nil
	}
	switch v := w.ro.Values[n.Name].(type) {
	case *model.Var:
		if w.ro.Params[v] {
			w.Errorf("FSM030", n.Pos(), "%s is a parameter and keeps its value",
				diag.Quote(n.Name)).See(v.Span, "declared here")
			return nil
		}
		w.UseSet(v.Span)
		w.Refer(n.Pos(), v.Span)
		st.Var = v
		return v.Type
	case nil:
		var vars []string
		for _, v := range w.ro.Machine.Vars {
			vars = append(vars, v.Name)
		}
		w.UnknownAt("FSM021", n.Pos(), n.Name, "variable", vars)
	default:
		what, first := convert.ValueKind(v)
		d := w.Errorf("FSM030", n.Pos(), "%s is a %s and cannot be assigned to", diag.Quote(n.Name),
			what).See(first, "declared here")
		switch what {
		case "state":
			d.With("states change by `goto`")
		case "timer":
			d.With("timers have `start` and `stop`")
		}
	}
	return nil
}

func (w *stmts) report(v *ast.Node, base model.StmtBase) model.Stmt {
	id, given, at := w.invocation(v, "a report")
	if id == nil {
		return nil
	}
	rep := w.ro.reports[id.Name]
	if rep == nil {
		w.UnknownAt("FSM060", id.Pos(), id.Name, "report", w.ro.Node.Get("reports").Keys())
		return nil
	}
	if !w.mentioned(id, rep.Span) {
		return nil
	}
	fields := w.FieldValues(given, rep.Fields, "report "+diag.Quote(rep.Name), at)
	if fields == nil {
		return nil
	}
	return &model.ReportStmt{StmtBase: base, Report: rep, Fields: fields}
}

// invocation takes `name` and `name{field: value}` apart, as calls and reports are written. id is
// nil after an error.
func (w *stmts) invocation(v *ast.Node, what string) (id *syntax.Ident, given []syntax.FieldValue,
	at diag.Span) {
	x := w.Parse(v)
	if x == nil {
		return nil, nil, diag.Span{}
	}
	name, given := expr.SplitLiteral(x)
	id, ok := name.(*syntax.Ident)
	if !ok {
		w.Errorf("FSM060", x.Pos(), "%s is name or name{field: value}", what)
	}
	return id, given, x.Pos()
}

// mentioned notes that a statement mentions a declaration. It returns false if the declaration has
// an error, since anything else would be an echo of it.
func (w *stmts) mentioned(id *syntax.Ident, declared diag.Span) bool {
	w.Use(declared)
	w.Refer(id.Pos(), declared)
	return !w.IsBroken(declared)
}

func (w *stmts) ifStmt(n, cond *ast.Node, base model.StmtBase) model.Stmt {
	st := &model.If{StmtBase: base, Cond: w.Cond(w.Parse(cond))}
	w.ro.constantGuard(st.Cond)
	then := n.Get("then")
	if then == nil {
		w.Errorf("FSM059", base.Span, "`if` has no `then`").With(whenNotIf)
	}
	st.Then = w.list(then)
	st.Else = w.list(n.Get("else"))
	return st
}

func (w *stmts) each(n *ast.Node, e ast.Entry, base model.StmtBase) model.Stmt {
	do := n.Get("do")
	if do == nil {
		w.Errorf("FSM059", base.Span, "`each` has no `do`")
		return nil
	}
	if len(e.Value.Entries) != 1 {
		return nil
	}
	v := e.Value.Entries[0]
	if v.Value.Kind != ast.Scalar {
		w.Errorf("FSM008", v.Value.Span(), "a list, a set, a type or a range is needed here")
		return nil
	}
	over, err := syntax.ParseOver(v.Value.Text, v.Value.Part)
	if err != nil {
		w.SyntaxError(err)
		return nil
	}
	g := w.Over(over)
	if g.Var == nil {
		return nil
	}
	if g.Map != nil {
		g.Values, g.Over = nil, w.KeepWords(w.KeysOf(g.Map, base.Span), over)
	}
	st := &model.Each{StmtBase: base, Values: g.Values, Over: g.Over}
	st.Local = w.DeclareLocal(v.Key.Text, g.Var, v.Key.Span())
	w.Inside(&g, func() { st.Body = w.list(do) })
	w.Drop()
	if g.Empty {
		return nil
	}
	return st
}

// timer resolves start and stop.
func (w *stmts) timer(n *ast.Node, e ast.Entry, base model.StmtBase) model.Stmt {
	x, err := syntax.Parse(e.Value.Text, e.Value.Part)
	if err != nil {
		w.SyntaxError(err)
		return nil
	}
	t, keys, ok := w.ownTimer(x)
	if !ok {
		return nil
	}
	if e.Key.Text == "stop" {
		return &model.StopTimer{StmtBase: base, Timer: t, Keys: keys}
	}
	w.UseSet(t.Span)
	if keys == nil && len(t.Keys) > 0 {
		w.Errorf("FSM049", x.Pos(), "timer %s has several instances; say which",
			diag.Quote(t.Name)).With(expr.TimerHint(t))
		return nil
	}
	st := &model.StartTimer{StmtBase: base, Timer: t, Keys: keys}
	ticks := n.Entry("ticks")
	switch {
	case ticks == nil && t.Length != nil:
		w.Errorf("FSM049", e.Value.Span(), "timer %s runs for %d to %d ticks; say how long",
			diag.Quote(t.Name), t.Length.Lo, t.Length.Hi).
			With("add `ticks: EXPR`").See(t.Length.Span, "declared here")
		return nil
	case ticks != nil && t.Length == nil:
		w.Errorf("FSM049", ticks.Key.Span(), "timer %s always runs for %s",
			diag.Quote(t.Name), diag.Counted(t.Ticks, "tick")).
			With("leave out `ticks` here, or give its declaration a range: `ticks: 0..800`").
			See(t.Span, "declared here")
		return nil
	case ticks != nil:
		x := w.Parse(ticks.Value)
		if x == nil {
			return nil
		}
		if st.Ticks = w.Value(x, t.Length); st.Ticks == nil {
			return nil
		}
	}
	return st
}

// ownTimer resolves a timer of this machine, with its keys if they are written. ok is false after
// an error.
func (w *stmts) ownTimer(n syntax.Node) (t *model.Timer, keys []model.Expr, ok bool) {
	id, args, indexed := splitKeys(n)
	if id == nil {
		w.Errorf("FSM060", n.Pos(), "a timer is needed here: timer or timer[key]")
		return nil, nil, false
	}
	if w.ro.Taken[id.Name] {
		return nil, nil, false
	}
	t, isTimer := w.ro.Values[id.Name].(*model.Timer)
	if !isTimer {
		w.UnknownAt("FSM060", id.Pos(), id.Name, "timer", w.ro.Node.Get("timers").Keys())
		return nil, nil, false
	}
	w.Refer(id.Pos(), t.Span)
	if !indexed {
		return t, nil, true
	}
	keys = w.TimerKeys(t, args, n.Pos())
	return t, keys, keys != nil
}
