package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// stmts resolves the statements of one branch or entry.
type stmts struct {
	*scope
	ro    *role
	event *model.Event // nil in an entry
}

// companions are keys that belong to a statement and begin none.
var companions = map[string]string{"to": "send", "ticks": "start", "then": "if", "else": "if", "do": "each"}

// branchBody resolves the statements of a branch: those of `do`, or those written directly.
func (w *stmts) branchBody(b *ast.Node) []model.Stmt {
	do := b.Entry("do")
	if do == nil || b.Get("each") != nil {
		return w.direct(b)
	}
	for _, e := range b.Entries {
		switch e.Key.Text {
		case "do", "when", "goto", "doc":
		default:
			w.r.Errorf("FSM059", e.Key.Span(), "a branch holds either direct statements or `do`").
				With("move " + diag.Quote(e.Key.Text) + " into the list of `do`")
			return nil
		}
	}
	return w.list(do.Value)
}

// list resolves a list of statement maps.
func (w *stmts) list(n *ast.Node) []model.Stmt {
	var out []model.Stmt
	if n == nil {
		return nil
	}
	for _, it := range n.Items {
		if it.Kind == ast.Map {
			out = append(out, w.direct(it)...)
		} else {
			w.r.Errorf("FSM008", it.Span(), "a statement is missing here")
		}
	}
	return out
}

// direct resolves the statements of one map, in the order written.
func (w *stmts) direct(n *ast.Node) []model.Stmt {
	var out []model.Stmt
	for _, e := range n.Entries {
		switch k := e.Key.Text; k {
		case "when", "goto", "doc":
			continue
		case "to", "ticks", "then", "else", "do":
			owner := companions[k]
			if n.Get(owner) == nil && !(k == "to" && n.Get("close") != nil) {
				w.r.Errorf("FSM059", e.Key.Span(), "%s belongs to %s", diag.Quote(k), diag.Quote(owner))
			}
			continue
		}
		out = append(out, w.stmt(n, e)...)
	}
	return out
}

// stmt resolves one statement; n is the map it stands in. set, send to several and call make several.
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

// set resolves assignments, each to a variable or a place within one.
func (w *stmts) set(n *ast.Node) []model.Stmt {
	var out []model.Stmt
	for _, e := range n.Entries {
		target, err := expr.Parse(e.Key.Text, e.Key.Part)
		if err != nil {
			w.r.syntax(err)
			continue
		}
		st := &model.Set{StmtBase: model.StmtBase{Span: e.Key.Span()}}
		t := w.place(target, st)
		x := w.r.parse(e.Value)
		if t == nil || x == nil {
			continue
		}
		if st.Value = w.value(x, t); st.Value != nil {
			out = append(out, st)
		}
	}
	return out
}

// place resolves the left side of an assignment and returns its type.
func (w *stmts) place(n expr.Node, st *model.Set) *model.Type {
	switch n := n.(type) {
	case *expr.Ident:
		return w.variable(n, st)
	case *expr.Select:
		t := w.place(n.X, st)
		if t == nil {
			return nil
		}
		if t.Kind == model.KindOptional {
			t = t.Elem
		}
		if t.Kind != model.KindRecord {
			w.r.Errorf("FSM030", n.NamePos, "only a record has fields to assign to, not %s", describe(t))
			return nil
		}
		f := fieldNamed(t.Fields, n.Name)
		if f == nil {
			w.r.unknownAt("FSM021", n.NamePos, n.Name, "field of "+describe(t)+" named", fieldNames(t.Fields))
			return nil
		}
		w.r.refer(n.NamePos, f.Span)
		st.Select = append(st.Select, model.Selector{Field: f})
		return f.Type
	case *expr.Index:
		t := w.place(n.X, st)
		for _, a := range n.Args {
			if t = w.placeIndex(t, a, n.Pos(), st); t == nil {
				return nil
			}
		}
		return t
	}
	w.r.Errorf("FSM030", n.Pos(), "only a variable, or a field or element of one, can be assigned to")
	return nil
}

func (w *stmts) placeIndex(t *model.Type, a expr.Node, at diag.Span, st *model.Set) *model.Type {
	if t == nil {
		return nil
	}
	want := t.Index
	switch t.Kind {
	case model.KindArray:
	case model.KindList:
		want = intType(0, int64(t.Cap)-1)
	default:
		w.r.Errorf("FSM030", at, "only arrays and lists have elements to assign to, not %s", describe(t))
		return nil
	}
	i := w.value(a, want)
	if i == nil {
		return nil
	}
	st.Select = append(st.Select, model.Selector{Index: i})
	return t.Elem
}

func (w *stmts) variable(n *expr.Ident, st *model.Set) *model.Type {
	if w.has(n.Name) {
		w.r.Errorf("FSM030", n.Pos(), "%s is a field of the event or a loop's variable and keeps its value", diag.Quote(n.Name))
		return nil
	}
	if w.ro.taken[n.Name] {
		return nil
	}
	switch v := w.ro.values[n.Name].(type) {
	case *model.Var:
		if w.ro.params[v] {
			w.r.Errorf("FSM030", n.Pos(), "%s is a parameter and keeps its value", diag.Quote(n.Name)).See(v.Span, "declared here")
			return nil
		}
		w.r.useSet(v.Span)
		w.r.refer(n.Pos(), v.Span)
		st.Var = v
		return v.Type
	case nil:
		var vars []string
		for _, v := range w.ro.m.Vars {
			vars = append(vars, v.Name)
		}
		w.r.unknownAt("FSM021", n.Pos(), n.Name, "variable", vars)
	default:
		what, first := valueKind(v)
		d := w.r.Errorf("FSM030", n.Pos(), "%s is a %s and cannot be assigned to", diag.Quote(n.Name), what).See(first, "declared here")
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
		w.r.unknownAt("FSM060", id.Pos(), id.Name, "report", w.ro.node.Get("reports").Keys())
		return nil
	}
	if !w.mentioned(id, rep.Span) {
		return nil
	}
	fields := w.fieldValues(given, rep.Fields, "report "+diag.Quote(rep.Name), at)
	if fields == nil {
		return nil
	}
	return &model.ReportStmt{StmtBase: base, Report: rep, Fields: fields}
}

// invocation takes `name` and `name{field: value}` apart, as calls and reports are written; id is nil after an error.
func (w *stmts) invocation(v *ast.Node, what string) (id *expr.Ident, given []expr.FieldValue, at diag.Span) {
	x := w.r.parse(v)
	if x == nil {
		return nil, nil, diag.Span{}
	}
	name, given := splitLiteral(x)
	id, ok := name.(*expr.Ident)
	if !ok {
		w.r.Errorf("FSM060", x.Pos(), "%s is name or name{field: value}", what)
	}
	return id, given, x.Pos()
}

// mentioned notes that a statement names what is declared there. It is false if the declaration has an error, since
// what follows from that would be an echo.
func (w *stmts) mentioned(id *expr.Ident, declared diag.Span) bool {
	w.r.use(declared)
	w.r.refer(id.Pos(), declared)
	return !w.r.isBroken(declared)
}

func (w *stmts) ifStmt(n, cond *ast.Node, base model.StmtBase) model.Stmt {
	st := &model.If{StmtBase: base, Cond: w.cond(w.r.parse(cond))}
	w.ro.constantGuard(st.Cond)
	then := n.Get("then")
	if then == nil {
		w.r.Errorf("FSM059", base.Span, "`if` has no `then`")
	}
	st.Then = w.list(then)
	st.Else = w.list(n.Get("else"))
	return st
}

func (w *stmts) each(n *ast.Node, e ast.Entry, base model.StmtBase) model.Stmt {
	do := n.Get("do")
	if do == nil {
		w.r.Errorf("FSM059", base.Span, "`each` has no `do`")
		return nil
	}
	if len(e.Value.Entries) != 1 {
		return nil
	}
	v := e.Value.Entries[0]
	if v.Value.Kind != ast.Scalar {
		w.r.Errorf("FSM008", v.Value.Span(), "a list, a set, a type or a range is needed here")
		return nil
	}
	over, err := expr.ParseOver(v.Value.Text, v.Value.Part)
	if err != nil {
		w.r.syntax(err)
		return nil
	}
	g := w.over(over)
	if g.each == nil {
		return nil
	}
	if g.of != nil {
		g.values, g.over = nil, w.words(w.keysOf(g.of, base.Span), over)
	}
	st := &model.Each{StmtBase: base, Values: g.values, Over: g.over}
	st.Local = w.declareLocal(v.Key.Text, g.each, v.Key.Span())
	w.inside(&g, func() { st.Body = w.list(do) })
	w.drop()
	if g.empty {
		return nil
	}
	return st
}
