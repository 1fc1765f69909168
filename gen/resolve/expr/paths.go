package expr

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

func (s *Resolver) selection(n *syntax.Select) ref {
	if id, ok := n.X.(*syntax.Ident); ok && s.isMsg(id.Name) {
		return s.eventField(n)
	}
	x := s.ref(n.X, nil)
	switch {
	case x.info != nil:
		return s.valueOf(x.info, x.inst, x.path, n.Name, n.NamePos)
	case x.part != nil:
		s.Errorf("FSM061", n.X.Pos(), "part %s has several instances; say which",
			diag.Quote(x.part.Name)).
			With(KeysHint(x.part))
		return errRef
	case x.timer != nil:
		s.Errorf("FSM023", n.NamePos, "a timer has nothing behind a dot")
		return errRef
	case x.group != nil:
		s.Errorf("FSM023", n.X.Pos(), "%s is several instances; say which",
			diag.Quote(x.group.Name)).With(x.group.Hint())
		return errRef
	case x.t != nil:
		return s.qualified(x.t, n)
	case x.e == nil:
		return errRef
	}
	e := s.Present(x.e)
	if e.Type() == nil || e.Type().Kind != model.KindRecord {
		s.Errorf("FSM023", n.NamePos, "only records, parts and enumerations have something behind a dot, "+
			"not %s", types.Describe(e.Type()))
		return errRef
	}
	f := types.FieldNamed(e.Type().Fields, n.Name)
	if f == nil {
		s.UnknownAt("FSM021", n.NamePos, n.Name, "field of "+types.Describe(e.Type())+" named",
			types.FieldNames(e.Type().Fields))
		return errRef
	}
	s.Refer(n.NamePos, f.Span)
	return ref{e: &model.FieldRef{ExprBase: model.ExprBase{T: f.Type, Span: n.Pos()}, X: e, Field: f}}
}

// KeysHint shows how to mention one instance of a part.
func KeysHint(p *model.Part) string {
	return "write `" + p.Name + "[" + joinNames(p.Keys) + "]`"
}

// qualified resolves Type.name, a value of an enumeration.
func (s *Resolver) qualified(t *model.Type, n *syntax.Select) ref {
	if t.Kind != model.KindEnum {
		s.Errorf("FSM023", n.X.Pos(), "%s is no enumeration and has no names", types.Describe(t))
		return errRef
	}
	for _, v := range s.Enums[n.Name] {
		if v.Type == t || v.Type.Name == t.Name {
			return s.enumLit(n.Name, v, n.Pos(), n.NamePos)
		}
	}
	s.UnknownAt("FSM021", n.NamePos, n.Name, "value of "+diag.Quote(t.Name)+" named", t.Names)
	return errRef
}

func (s *Resolver) index(n *syntax.Index) ref {
	x := s.ref(n.X, nil)
	switch {
	case x.part != nil:
		keys := s.Keys(x.part, n.Args, n.Pos())
		if keys == nil {
			return errRef
		}
		path := append(slices.Clone(x.path), model.PathStep{Part: x.part, Keys: keys})
		return ref{info: x.runs, inst: x.inst, path: path}
	case x.timer != nil:
		keys := s.TimerKeys(x.timer, n.Args, n.Pos())
		if keys == nil {
			return errRef
		}
		return ref{e: &model.TimerTest{ExprBase: model.ExprBase{T: types.Bool, Span: n.Pos()},
			Inst: x.inst, Path: x.path, Timer: x.timer, Keys: keys}}
	case x.group != nil:
		in := s.instanceIndex(x.group, n.Args, n.Pos())
		if in == nil || in.Names == nil {
			return errRef
		}
		return ref{info: in.Names, inst: in.Model}
	case x.info != nil || x.t != nil:
		s.Errorf("FSM023", n.X.Pos(), "this has no index")
		return errRef
	case x.e == nil:
		return errRef
	}
	e := s.Present(x.e)
	for _, a := range n.Args {
		if e = s.element(e, a, n.Pos()); e == nil {
			return errRef
		}
	}
	return ref{e: e}
}

// Keys resolves the keys that select one instance of a part. It returns nil after an error.
func (s *Resolver) Keys(p *model.Part, args []syntax.Node, at diag.Span) []model.Expr {
	if len(args) != len(p.Keys) {
		s.Errorf("FSM061", at, "part %s has %d key%s, not %d", diag.Quote(p.Name), len(p.Keys),
			diag.Plural(len(p.Keys)), len(args)).With(KeysHint(p))
		return nil
	}
	keys := make([]model.Expr, len(args))
	ok := true
	for i, a := range args {
		keys[i] = s.Value(a, p.Keys[i].Type)
		ok = ok && keys[i] != nil
	}
	if !ok {
		return nil
	}
	return keys
}

// element resolves one index into an array or list.
func (s *Resolver) element(x model.Expr, a syntax.Node, at diag.Span) model.Expr {
	t := x.Type()
	if t == nil || t.Kind != model.KindArray && t.Kind != model.KindList {
		s.Errorf("FSM023", at, "only arrays, lists and keyed parts have an index, not %s",
			types.Describe(t))
		return nil
	}
	want := t.Index
	if t.Kind == model.KindList {
		want = types.Int(0, int64(t.Cap)-1)
	}
	i := s.Value(a, want)
	if i == nil {
		return nil
	}
	e := &model.Index{ExprBase: model.ExprBase{T: t.Elem, Span: at}, X: x, I: i}
	s.Carry(e, x, i)
	return e
}

func joinNames(fields []*model.Field) string {
	out := ""
	for i, f := range fields {
		if i > 0 {
			out += ", "
		}
		out += f.Name
	}
	return out
}

// TimerKeys resolves the keys that select one instance of a timer. It returns nil after an error.
func (s *Resolver) TimerKeys(t *model.Timer, args []syntax.Node, at diag.Span) []model.Expr {
	if len(args) != len(t.Keys) {
		s.Errorf("FSM049", at, "timer %s has %d key%s, not %d", diag.Quote(t.Name), len(t.Keys),
			diag.Plural(len(t.Keys)), len(args)).With(TimerHint(t))
		return nil
	}
	keys := make([]model.Expr, len(args))
	ok := true
	for i, a := range args {
		keys[i] = s.Value(a, t.Keys[i].Type)
		ok = ok && keys[i] != nil
	}
	if !ok {
		return nil
	}
	return keys
}

// TimerHint shows how to mention one instance of a timer.
func TimerHint(t *model.Timer) string {
	if len(t.Keys) == 0 {
		return "write `" + t.Name + "`"
	}
	return "write `" + t.Name + "[" + joinNames(t.Keys) + "]`"
}

// isMsg reports whether a name stands for the event that is handled. What the role or the protocol declares comes
// first.
func (s *Resolver) isMsg(name string) bool {
	return name == model.MsgName && s.HasFields() && s.Local(name) == nil && s.BoundTo(name) == nil &&
		(s.Own == nil || !s.Own.Has(name)) && s.Root.Get("types").Get(name) == nil
}

// eventField resolves msg.FIELD, a field of the event that is handled.
func (s *Resolver) eventField(n *syntax.Select) ref {
	if s.differs(n.Name, n.NamePos) || s.Lenient {
		return errRef
	}
	l := s.Field(n.Name)
	if l == nil {
		var names []string
		for _, x := range s.Locals {
			if x.Event {
				names = append(names, x.Name)
			}
		}
		s.UnknownAt("FSM021", n.NamePos, n.Name, "field of the event named", names)
		return errRef
	}
	s.ReferLocal(n.NamePos, l)
	return ref{e: &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: n.Pos()}, Local: l}}
}
