package machine

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/syntax"
)

// routine is a list of statements with a name. It is written out wherever it is called, so that
// readers of the model need not know of it.
type routine struct {
	key    *ast.Node
	fields []*model.Field
	do     *ast.Node
	doc    string
	open   bool // it is being written out
}

// maxCalls bounds how often the routines of one machine are written out.
const maxCalls = 1 << 14

// declareRoutines enters the routines. It comes after everything that their fields could hide.
func (ro *Role) declareRoutines() {
	n := ro.Node.Get("routines")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		rt := &routine{key: e.Key, fields: ro.DeclaredFields(e), do: e.Value.Get("do")}
		if doc := e.Value.Get("doc"); doc != nil {
			rt.doc = doc.Text
		}
		ro.routines[e.Key.Text] = rt
		if rt.do == nil {
			ro.Errorf("FSM009", e.Key.Span(), "routine %s has no `do`", diag.Quote(e.Key.Text))
		}
		for _, f := range rt.fields {
			if v := ro.Values[f.Name]; v != nil {
				what, first := convert.ValueKind(v)
				ro.NameTaken(f.Span, f.Name, what, first)
			}
			ro.HidesGiven(f.Name, func(first diag.Span) {
				ro.NameTaken(f.Span, f.Name, "variable", first)
			})
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
		w.UnknownAt("FSM060", id.Pos(), id.Name, "routine", w.ro.Node.Get("routines").Keys())
		return nil
	}
	if !w.mentioned(id, rt.key.Span()) || rt.do == nil {
		return nil
	}
	values := w.FieldValues(given, rt.fields, "routine "+diag.Quote(id.Name), at)
	switch {
	case values == nil:
		return nil
	case rt.open:
		w.cycle(rt, id)
		return nil
	case w.ro.calls >= maxCalls:
		w.Errorf("FSM042", id.Pos(), "the routines of this role are written out more than %d times",
			maxCalls)
		return nil
	}
	w.ro.calls++
	return w.writeRoutine(rt, values, id)
}

// cycle reports a routine that calls itself, directly or not.
func (w *stmts) cycle(rt *routine, at *syntax.Ident) {
	var way []string
	for i := len(w.ro.calling) - 1; i >= 0; i-- {
		way = append([]string{w.ro.calling[i].key.Text}, way...)
		if w.ro.calling[i] == rt {
			break
		}
	}
	way = append(way, rt.key.Text)
	w.Errorf("FSM078", at.Pos(), "the routine %s would run without end: %s",
		diag.Quote(rt.key.Text), strings.Join(way, " → ")).
		See(rt.key.Span(), "declared here")
}

// writeRoutine resolves the statements of a routine at a call. Errors inside the routine also name
// the call.
func (w *stmts) writeRoutine(rt *routine, values []model.Expr, at *syntax.Ident) []model.Stmt {
	outer := w.Collector
	w.Collector = &diag.Collector{}
	rt.open = true
	w.ro.calling = append(w.ro.calling, rt)
	defer func() {
		rt.open = false
		w.ro.calling = w.ro.calling[:len(w.ro.calling)-1]
		for _, d := range w.Collector.List() {
			d.See(at.Pos(), "called here")
			outer.Add(d)
		}
		w.Collector = outer
	}()
	inner := *w.Scope
	inner.Locals, inner.Together, inner.Args, inner.Lenient = nil, nil,
		map[string]convert.Argument{}, false
	call := &model.RoutineCall{Name: rt.key.Text, Doc: rt.doc}
	var lets []*model.Each
	for i, f := range rt.fields {
		if fixed(values[i], f.Type) {
			inner.Args[f.Name] = convert.Argument{Value: values[i], At: f.Span}
			switch v := values[i].(type) {
			case *model.LocalRef:
				call.Fields = append(call.Fields, model.RoutineField{Name: f.Name, Local: v.Local})
			case *model.Sender:
				call.Fields = append(call.Fields, model.RoutineField{Name: f.Name})
			}
			continue
		}
		l := &model.Local{Name: f.Name, Type: f.Type, Offset: inner.Slots}
		w.NoteLocal(l, f.Span, false)
		inner.Push([]*model.Local{l})
		lets = append(lets, let(l, values[i], at.Pos()))
	}
	body := (&stmts{Resolver: expr.In(&inner), ro: w.ro, event: w.event}).list(rt.do)
	for _, s := range body {
		s.Base().Calls = append([]*model.RoutineCall{call}, s.Base().Calls...)
	}
	w.Slots = max(w.Slots, inner.Slots)
	for i := len(lets) - 1; i >= 0; i-- {
		lets[i].Body = body
		body = []model.Stmt{lets[i]}
	}
	return body
}
