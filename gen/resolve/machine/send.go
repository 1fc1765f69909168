package machine

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// dest is the destination of a message.
type dest struct {
	kind model.Dest
	to   model.Expr // for ToExpr the number of an instance; with several it is the local
	// several is not nil if the destination is a set of instances, one after the other.
	several model.Expr
	local   *model.Local
	set     model.Expr // the set as the author wrote it
}

func (w *stmts) send(n, v *ast.Node, base model.StmtBase) []model.Stmt {
	x := w.Parse(v)
	if x == nil {
		return nil
	}
	m, fields := w.MessageLiteral(x)
	d, ok := w.dest(n.Get("to"))
	if m == nil {
		return nil
	}
	w.ro.sent(m, v.Span())
	if self := w.ro.Machine.Name; m.From != "" && m.From != self && w.Root.Get("roles").Entry(self) != nil {
		w.Errorf("FSM071", v.Span(), "%s is sent by %s alone, so that frames can be told apart", diag.Quote(m.Name),
			diag.Quote(m.From)).See(m.Span, "it says so here")
	}
	if ok && d.kind == model.ToPeer && w.ro.Peerless.IsZero() {
		w.ro.Peerless = v.Span()
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
	return d.each(func(to model.Expr) model.Stmt {
		return &model.Close{StmtBase: base, Dest: d.kind, To: to}
	}, base)
}

// each repeats a statement for every instance of the destination.
func (d *dest) each(st func(to model.Expr) model.Stmt, base model.StmtBase) []model.Stmt {
	if d.several == nil {
		return []model.Stmt{st(d.to)}
	}
	return []model.Stmt{&model.Each{StmtBase: base, Local: d.local, Over: d.several,
		Body: []model.Stmt{st(d.to)}, As: st(d.set)}}
}

// dest resolves `to`; n may be nil. It must come last in a statement, so that the local of several
// comes behind all others.
func (w *stmts) dest(n *ast.Node) (dest, bool) {
	switch {
	case n == nil:
		return dest{kind: model.ToPeer}, true
	case n.Text == "all":
		return dest{kind: model.ToBroadcast}, true
	case n.Text == "sender":
		if w.event == nil || !w.event.FromPeer() {
			w.Errorf("FSM059", n.Span(), "only a message, `up` and `lost` have a sender")
			return dest{}, false
		}
		return dest{kind: model.ToSender}, true
	}
	node := w.Basic("instance", n.Span())
	wanted, text := &model.Type{Kind: model.KindSet, Elem: node}, w.Parse(n)
	if choosesOne(text) {
		wanted = nil
	}
	x := w.Expr(text, wanted)
	if x == nil {
		return dest{}, false
	}
	if x.Type() != nil {
		x = w.Present(x)
	}
	t := x.Type()
	switch {
	case t != nil && t.Kind == model.KindSet && t.Elem.Count() > pass.MaxSet:
		w.Errorf("FSM042", n.Span(), "%s has %d values, a set at most %d", types.Describe(t.Elem),
			t.Elem.Count(), pass.MaxSet).
			With("send to one after the other: {each: {p: LIST}, do: [{send: …, to: p}]}")
		return dest{}, false
	case t != nil && t.Kind == model.KindSet && types.IsNumber(t.Elem):
		return w.several(x, n.Span())
	case t != nil && types.IsNumber(t):
		x = w.Coerce(x, node)
		return dest{kind: model.ToExpr, to: x}, x != nil
	}
	d := w.Errorf("FSM023", n.Span(), "an instance or a set of instances is needed here, not %s",
		types.Describe(t))
	if t != nil && t.Kind == model.KindList {
		d.With("make a set of the list: [x for x in list]")
	}
	return dest{}, false
}

// several resolves a set of instances as a destination. The machine itself is left out, for which
// the role needs its own number.
func (w *stmts) several(set model.Expr, at diag.Span) (dest, bool) {
	self := w.ro.UseGiven(convert.SelfName)
	if self == nil {
		what, first := convert.ValueKind(w.ro.Values[convert.SelfName])
		w.Errorf("FSM040", at, "what is sent to a set leaves out the machine itself, but here %s is a %s",
			diag.Quote(convert.SelfName), what).
			See(first, "declared here").With("rename it")
		return dest{}, false
	}
	t := set.Type()
	me := &model.VarRef{ExprBase: model.ExprBase{T: self.Type, Span: at}, Var: self}
	others := &model.Call{ExprBase: model.ExprBase{T: t, Span: at}, Fn: model.FnWithout,
		Args: []model.Expr{set, me}}
	w.Carry(others, set)
	l := &model.Local{Name: "peer", Type: t.Elem, Offset: w.Slots}
	w.Slots++
	to := &model.LocalRef{ExprBase: model.ExprBase{T: t.Elem, Span: at}, Local: l}
	return dest{kind: model.ToExpr, to: to, several: others, local: l, set: set}, true
}
