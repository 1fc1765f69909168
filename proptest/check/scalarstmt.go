package check

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// machine looks at all that a machine and its parts can do after they began.
// What they begin with may be anything: a run of the reduced system begins with a
// renaming of it.
func (u *uses) machine(m *model.Machine) {
	if u.seen[m] {
		return
	}
	u.seen[m] = true
	for _, v := range m.Vars {
		leaves(v.Type, func(t *model.Type) { u.use(t) })
	}
	for _, st := range m.States {
		u.stmts(st.Entry)
	}
	for _, t := range m.Timers {
		for _, k := range t.Keys {
			u.fix(k.Type, t.Span, "it selects a timer")
		}
	}
	for _, t := range m.Transitions {
		u.visit(t.When)
		u.stmts(t.Body)
		for i, l := range t.Params {
			u.pair(l.Type, t.Event.Fields[i].Type, t.Span)
		}
	}
	for _, ev := range m.Events {
		if ev.Kind == model.EventReport {
			own := ev.Fields[len(ev.Part.Keys):]
			for i, f := range ev.Report.Fields {
				u.pair(own[i].Type, f.Type, ev.Span)
			}
		}
	}
	for _, p := range m.Parts {
		u.machine(p.Machine)
		u.instance(p.To)
		for i, ps := range p.Sends {
			if ps == nil {
				continue
			}
			for k, f := range p.Machine.Messages[i].Fields {
				u.pair(ps.Params[k].Type, f.Type, ps.Send.Span)
			}
			u.stmt(ps.Send)
		}
	}
}

func (u *uses) stmts(list []model.Stmt) {
	for _, s := range list {
		u.stmt(s)
	}
}

func (u *uses) stmt(s model.Stmt) {
	switch s := s.(type) {
	case *model.Set:
		u.pair(u.target(s), s.Value.Type(), s.Span)
		u.visit(s.Value)
	case *model.Send:
		u.fields(s.Message.Fields, s.Fields)
		u.instance(s.To)
	case *model.ReportStmt:
		u.fields(s.Report.Fields, s.Fields)
	case *model.Run:
		u.keys(s.Part, s.Keys)
		u.fields(s.Event.Fields, s.Args)
	case *model.Restart:
		u.keys(s.Part, s.Keys)
		u.restart(s.Part, s.Span)
	case *model.StartTimer:
		u.timer(s.Keys)
		u.visit(s.Ticks)
	case *model.StopTimer:
		u.timer(s.Keys)
	case *model.If:
		u.visit(s.Cond)
		u.stmts(s.Then)
		u.stmts(s.Else)
	case *model.Each:
		u.loop(s.Local, s.Values, s.Over, s.Span, true)
		u.visit(s.Over)
		u.stmts(s.Body)
	case *model.Close:
		u.instance(s.To)
	}
}

// target is the type of the place that is set.
func (u *uses) target(s *model.Set) *model.Type {
	t := s.Var.Type
	for _, sel := range s.Select {
		switch {
		case sel.Field != nil:
			t = sel.Field.Type
			continue
		case t.Kind == model.KindArray:
			u.selects(t.Index, sel.Index)
		default:
			u.visit(sel.Index)
			u.fix(sel.Index.Type(), s.Span, "it is used as a number")
		}
		t = t.Elem
	}
	return t
}

func (u *uses) fields(fields []*model.Field, values []model.Expr) {
	for i, e := range values {
		u.pair(fields[i].Type, e.Type(), e.Pos())
		u.visit(e)
	}
}

// timer looks at the keys of a timer. Timers are not exchanged with what selects them.
func (u *uses) timer(keys []model.Expr) {
	for _, e := range keys {
		u.visit(e)
		u.fix(e.Type(), e.Pos(), "it selects a timer")
	}
}

// instance looks at an expression that says which instance is meant.
func (u *uses) instance(e model.Expr) {
	if e != nil {
		u.visit(e)
		u.fix(e.Type(), e.Pos(), "it says to which instance something goes")
		u.addressed = place(e.Pos())
	}
}

// restart puts constants into what it restarts.
func (u *uses) restart(p *model.Part, at diag.Span) {
	const why = "a restart sets it to a constant"
	for _, v := range p.Machine.Params {
		u.fix(v.Type, at, why)
	}
	if len(p.Machine.Params) > 0 {
		for _, k := range p.Keys {
			u.fix(k.Type, at, "a restart may give each part its own parameters")
		}
	}
	for _, v := range p.Machine.Vars {
		switch e := v.Init.(type) {
		case nil:
			u.zeroes(v.Type, at, why)
		case *model.None:
		case *model.ListLit:
			if len(e.Elems) > 0 {
				u.fix(v.Type, at, why)
			}
		default:
			u.fix(v.Type, at, why)
		}
	}
	for _, q := range p.Machine.Parts {
		u.restart(q, at)
	}
}

// zeroes fixes the types that have a value in the zero of t: what is absent has
// none, and that of an array is the same for every index.
func (u *uses) zeroes(t *model.Type, at diag.Span, why string) {
	switch t.Kind {
	case model.KindOptional, model.KindList, model.KindSet:
	case model.KindArray:
		u.zeroes(t.Elem, at, why)
	case model.KindRecord:
		for _, f := range t.Fields {
			u.zeroes(f.Type, at, why)
		}
	default:
		u.fix(t, at, why)
	}
}
