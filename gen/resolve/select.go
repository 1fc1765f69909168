package resolve

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

func (s *scope) selection(n *expr.Select) ref {
	x := s.ref(n.X, nil)
	switch {
	case x.info != nil:
		return s.value_(x.info, x.inst, x.path, n.Name, spanOf(n, n.NamePos))
	case x.part != nil:
		s.r.Errorf("FSM061", n.X.Pos(), "part %s has several instances; say which", diag.Quote(x.part.Name)).
			With(keysHint(x.part))
		return errRef
	case x.timer != nil:
		s.r.Errorf("FSM023", n.NamePos, "a timer has nothing behind a dot")
		return errRef
	case x.group != nil:
		s.r.Errorf("FSM023", n.X.Pos(), "%s is several instances; say which", diag.Quote(x.group.name)).With(x.group.hint())
		return errRef
	case x.t != nil:
		return s.qualified(x.t, n)
	case x.e == nil:
		return errRef
	}
	e := s.present(x.e)
	if e.Type() == nil || e.Type().Kind != model.KindRecord {
		s.r.Errorf("FSM023", n.NamePos, "only records, parts and enumerations have something behind a dot, not %s", describe(e.Type()))
		return errRef
	}
	f := fieldNamed(e.Type().Fields, n.Name)
	if f == nil {
		s.r.unknownAt("FSM021", n.NamePos, n.Name, "field of "+describe(e.Type())+" named", fieldNames(e.Type().Fields))
		return errRef
	}
	s.r.refer(n.NamePos, f.Span)
	return ref{e: &model.FieldRef{ExprBase: model.ExprBase{T: f.Type, Span: n.Pos()}, X: e, Field: f}}
}

// spanOf is where a path's end is blamed: at its last name.
func spanOf(_ *expr.Select, name diag.Span) diag.Span { return name }

func keysHint(p *model.Part) string {
	return "write `" + p.Name + "[" + joinNames(p.Keys) + "]`"
}

// qualified resolves Type.name.
func (s *scope) qualified(t *model.Type, n *expr.Select) ref {
	if t.Kind != model.KindEnum {
		s.r.Errorf("FSM023", n.X.Pos(), "%s is no enumeration and has no names", describe(t))
		return errRef
	}
	for _, v := range s.r.enums[n.Name] {
		if v.t == t || v.t.Name == t.Name {
			return s.enumLit(n.Name, v, n.Pos(), n.NamePos)
		}
	}
	s.r.unknownAt("FSM021", n.NamePos, n.Name, "value of "+diag.Quote(t.Name)+" named", t.Names)
	return errRef
}

func (s *scope) index(n *expr.Index) ref {
	x := s.ref(n.X, nil)
	switch {
	case x.part != nil:
		keys := s.keys(x.part, n.Args, n.Pos())
		if keys == nil {
			return errRef
		}
		path := append(slices.Clone(x.path), model.PathStep{Part: x.part, Keys: keys})
		return ref{info: s.r.info[x.part.Machine], inst: x.inst, path: path}
	case x.timer != nil:
		keys := s.timerKeys(x.timer, n.Args, n.Pos())
		if keys == nil {
			return errRef
		}
		return ref{e: &model.TimerTest{ExprBase: model.ExprBase{T: boolType, Span: n.Pos()}, Inst: x.inst, Path: x.path, Timer: x.timer, Keys: keys}}
	case x.group != nil:
		in := s.instanceIndex(x.group, n.Args, n.Pos())
		if in == nil || in.ro == nil {
			return errRef
		}
		return ref{info: in.ro, inst: in.m}
	case x.info != nil || x.t != nil:
		s.r.Errorf("FSM023", n.X.Pos(), "this has no index")
		return errRef
	case x.e == nil:
		return errRef
	}
	e := s.present(x.e)
	for _, a := range n.Args {
		if e = s.element(e, a, n.Pos()); e == nil {
			return errRef
		}
	}
	return ref{e: e}
}

// keys resolves the keys of a part, one for each; nil after an error.
func (s *scope) keys(p *model.Part, args []expr.Node, at diag.Span) []model.Expr {
	if len(args) != len(p.Keys) {
		s.r.Errorf("FSM061", at, "part %s has %d key%s, not %d", diag.Quote(p.Name), len(p.Keys), plural(len(p.Keys)), len(args)).With(keysHint(p))
		return nil
	}
	keys := make([]model.Expr, len(args))
	ok := true
	for i, a := range args {
		keys[i] = s.value(a, p.Keys[i].Type)
		ok = ok && keys[i] != nil
	}
	if !ok {
		return nil
	}
	return keys
}

// element resolves one index into an array or list.
func (s *scope) element(x model.Expr, a expr.Node, at diag.Span) model.Expr {
	t := x.Type()
	if t == nil || t.Kind != model.KindArray && t.Kind != model.KindList {
		s.r.Errorf("FSM023", at, "only arrays, lists and keyed parts have an index, not %s", describe(t))
		return nil
	}
	want := t.Index
	if t.Kind == model.KindList {
		want = intType(0, int64(t.Cap)-1)
	}
	i := s.value(a, want)
	if i == nil {
		return nil
	}
	e := &model.Index{ExprBase: model.ExprBase{T: t.Elem, Span: at}, X: x, I: i}
	s.carry(e, x, i)
	return e
}

func fieldNamed(fields []*model.Field, name string) *model.Field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func fieldNames(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
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
