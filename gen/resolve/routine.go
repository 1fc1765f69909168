package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// routine is a list of statements with a name. It is written out wherever it is called, so that nothing
// behind the resolver knows of it.
type routine struct {
	key    *ast.Node
	fields []*model.Field
	do     *ast.Node
	open   bool // it is being written out
}

// argument is a field of a routine that stands for a value.
type argument struct {
	value model.Expr
	at    diag.Span // the field
}

// maxCalls is how often the routines of one machine are written out.
const maxCalls = 1 << 14

// declareRoutines enters the routines. It comes behind everything a field of them could hide.
func (ro *role) declareRoutines() {
	n := ro.node.Get("routines")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		rt := &routine{key: e.Key, fields: ro.r.declaredFields(e), do: e.Value.Get("do")}
		ro.routines[e.Key.Text] = rt
		if rt.do == nil {
			ro.r.Errorf("FSM009", e.Key.Span(), "routine %s has no `do`", diag.Quote(e.Key.Text))
		}
		for _, f := range rt.fields {
			if v := ro.values[f.Name]; v != nil {
				what, first := valueKind(v)
				ro.r.hides(f.Span, f.Name, what, first)
			}
		}
	}
}

// call writes out a routine.
func (w *stmts) call(v *ast.Node) []model.Stmt {
	id, given, at := w.invocation(v, "a call")
	if id == nil {
		return nil
	}
	rt := w.ro.routines[id.Name]
	if rt == nil {
		w.r.unknownAt("FSM060", id.Pos(), id.Name, "routine", w.ro.node.Get("routines").Keys())
		return nil
	}
	if !w.mentioned(id, rt.key.Span()) || rt.do == nil {
		return nil
	}
	values := w.fieldValues(given, rt.fields, "routine "+diag.Quote(id.Name), at)
	switch {
	case values == nil:
		return nil
	case rt.open:
		w.cycle(rt, id)
		return nil
	case w.ro.calls >= maxCalls:
		w.r.Errorf("FSM042", id.Pos(), "the routines of this role are written out more than %d times", maxCalls)
		return nil
	}
	w.ro.calls++
	return w.writeRoutine(rt, values, id)
}

// cycle reports a routine that is called in the course of itself.
func (w *stmts) cycle(rt *routine, at *expr.Ident) {
	var way []string
	for i := len(w.ro.calling) - 1; i >= 0; i-- {
		way = append([]string{w.ro.calling[i].key.Text}, way...)
		if w.ro.calling[i] == rt {
			break
		}
	}
	way = append(way, rt.key.Text)
	w.r.Errorf("FSM078", at.Pos(), "the routine %s would run without end: %s", diag.Quote(rt.key.Text), strings.Join(way, " → ")).
		See(rt.key.Span(), "declared here")
}

// writeRoutine resolves the statements of a routine where it is called. What is wrong in there
// stands in the routine and names the call.
func (w *stmts) writeRoutine(rt *routine, values []model.Expr, at *expr.Ident) []model.Stmt {
	outer := w.r.Collector
	w.r.Collector = &diag.Collector{}
	rt.open = true
	w.ro.calling = append(w.ro.calling, rt)
	defer func() {
		rt.open = false
		w.ro.calling = w.ro.calling[:len(w.ro.calling)-1]
		for _, d := range w.r.Collector.List() {
			d.See(at.Pos(), "called here")
			outer.Add(d)
		}
		w.r.Collector = outer
	}()
	inner := *w.scope
	inner.locals, inner.together, inner.args, inner.lenient = nil, nil, map[string]argument{}, false
	var lets []*model.Each
	for i, f := range rt.fields {
		if fixed(values[i], f.Type) {
			inner.args[f.Name] = argument{values[i], f.Span}
			continue
		}
		l := &model.Local{Name: f.Name, Type: f.Type, Offset: inner.max}
		w.r.noteLocal(l, f.Span, false)
		inner.push([]*model.Local{l})
		lets = append(lets, let(l, values[i], at.Pos()))
	}
	body := (&stmts{scope: &inner, ro: w.ro, event: w.event}).list(rt.do)
	w.max = max(w.max, inner.max)
	for i := len(lets) - 1; i >= 0; i-- {
		lets[i].Body = body
		body = []model.Stmt{lets[i]}
	}
	return body
}

// fixed reports whether a value of type t can be put wherever it is named: it stays as it is, whatever the
// statements do.
func fixed(x model.Expr, t *model.Type) bool {
	switch e := x.(type) {
	case *model.LocalRef, *model.Sender:
	case *model.VarRef:
		if len(e.Path) > 0 || !e.Var.Self {
			return false
		}
	default:
		return false
	}
	return compatible(x.Type(), t) && sameDomain(x.Type(), t) && x.Type().Kind == t.Kind
}

// let gives a local a value: what is done with it is done for each element of a list of one.
func let(l *model.Local, value model.Expr, at diag.Span) *model.Each {
	t := &model.Type{Kind: model.KindList, Elem: l.Type, Cap: 1}
	t.Slots()
	list := &model.ListLit{ExprBase: model.ExprBase{T: t, Span: value.Pos()}, Elems: []model.Expr{value}}
	return &model.Each{StmtBase: model.StmtBase{Span: at}, Local: l, Over: list}
}
