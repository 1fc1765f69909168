package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// dest is where something goes.
type dest struct {
	kind model.Dest
	to   model.Expr // ToExpr: a number; of several it is the local
	// several: one after the other to each of a set of instances.
	several model.Expr
	local   *model.Local
	set     model.Expr // several, as the author has it
}

func (w *stmts) send(n, v *ast.Node, base model.StmtBase) []model.Stmt {
	x := w.r.parse(v)
	if x == nil {
		return nil
	}
	m, fields := w.messageLiteral(x)
	d, ok := w.dest(n.Get("to"))
	if m == nil {
		return nil
	}
	w.ro.sent(m, v.Span())
	if ok && d.kind == model.ToPeer && w.ro.peerless.IsZero() {
		w.ro.peerless = v.Span()
	}
	if !ok {
		return nil
	}
	send := func(to model.Expr) model.Stmt {
		return &model.Send{StmtBase: base, Message: m, Fields: fields, Dest: d.kind, To: to}
	}
	return d.each(send, base)
}

func (w *stmts) close(n *ast.Node, base model.StmtBase) []model.Stmt {
	d, ok := dest{}, true
	if n.Get("send") == nil {
		d, ok = w.dest(n.Get("to"))
	}
	if !ok {
		return nil
	}
	return d.each(func(to model.Expr) model.Stmt { return &model.Close{StmtBase: base, Dest: d.kind, To: to} }, base)
}

// each puts a loop around a statement that is for several.
func (d *dest) each(st func(to model.Expr) model.Stmt, base model.StmtBase) []model.Stmt {
	if d.several == nil {
		return []model.Stmt{st(d.to)}
	}
	return []model.Stmt{&model.Each{StmtBase: base, Local: d.local, Over: d.several, Body: []model.Stmt{st(d.to)}, As: st(d.set)}}
}

// dest resolves `to`; n may be nil. It comes last in a statement, so that the local of several is behind
// all others.
func (w *stmts) dest(n *ast.Node) (dest, bool) {
	switch {
	case n == nil:
		return dest{kind: model.ToPeer}, true
	case n.Text == "all":
		return dest{kind: model.ToBroadcast}, true
	case n.Text == "sender":
		if w.event == nil || !w.event.FromPeer() {
			w.r.Errorf("FSM059", n.Span(), "only a message, `up` and `lost` have a sender")
			return dest{}, false
		}
		return dest{kind: model.ToSender}, true
	}
	node := w.r.basicType("instance", n.Span())
	x := w.expr(w.r.parse(n), &model.Type{Kind: model.KindSet, Elem: node})
	if x == nil {
		return dest{}, false
	}
	if x.Type() != nil {
		x = w.present(x)
	}
	t := x.Type()
	switch {
	case t != nil && t.Kind == model.KindSet && t.Elem.Count() > maxSet:
		w.r.Errorf("FSM042", n.Span(), "%s has %d values, a set at most %d", describe(t.Elem), t.Elem.Count(), maxSet).
			With("send to one after the other: {each: {p: LIST}, do: [{send: …, to: p}]}")
		return dest{}, false
	case t != nil && t.Kind == model.KindSet && isNumber(t.Elem):
		return w.several(x, n.Span())
	case t != nil && isNumber(t):
		x = w.coerce(x, node)
		return dest{kind: model.ToExpr, to: x}, x != nil
	}
	d := w.r.Errorf("FSM023", n.Span(), "an instance or a set of instances is needed here, not %s", describe(t))
	if t != nil && t.Kind == model.KindList {
		d.With("make a set of the list: [x for x in list]")
	}
	return dest{}, false
}

// several is for each of a set but the machine itself, whose number the role needs for that.
func (w *stmts) several(set model.Expr, at diag.Span) (dest, bool) {
	self := w.ro.self
	if self == nil {
		if v := w.ro.values[selfName]; v != nil {
			what, first := valueKind(v)
			w.r.Errorf("FSM040", at, "what is sent to a set leaves out the machine itself, but here %s is a %s", diag.Quote(selfName), what).
				See(first, "declared here").With("rename it")
			return dest{}, false
		}
		w.r.needSelf[w.ro.node] = true
		return dest{}, false
	}
	t := set.Type()
	me := &model.VarRef{ExprBase: model.ExprBase{T: self.Type, Span: at}, Var: self}
	others := &model.Call{ExprBase: model.ExprBase{T: t, Span: at}, Fn: model.FnWithout, Args: []model.Expr{set, me}}
	w.carry(others, set)
	l := &model.Local{Name: "peer", Type: t.Elem, Offset: w.max}
	w.max++
	to := &model.LocalRef{ExprBase: model.ExprBase{T: t.Elem, Span: at}, Local: l}
	return dest{kind: model.ToExpr, to: to, several: others, local: l, set: set}, true
}
