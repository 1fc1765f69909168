package expr

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// pastCalls are the functions over what the program of an instance has seen and done, with their use.
var pastCalls = map[string]string{
	"reported":  "`reported(a.changed)` or `reported(a.changed, 2)`",
	"commanded": "`commanded(a.confirm)` or `commanded(a.confirm, 2)`",
	"last":      "`last(a.changed.value)`",
	"pending":   "`pending(a.confirm, a.passed, a.cancelled)`",
}

// PastCalls lists the names of these functions.
func PastCalls() []string { return []string{"reported", "commanded", "last", "pending"} }

// maxTimes is how far a claim can count what happens.
const maxTimes = 1000

// past resolves a function over the past. isPast is false if the call is about something else.
func (s *Resolver) past(n *syntax.Call, base model.ExprBase) (e model.Expr, isPast bool) {
	use, isPast := pastCalls[n.Fn]
	if !isPast {
		return nil, false
	}
	if s.Ghosts == nil {
		s.Errorf("FSM026", n.FnPos, "%s() is for claims: a machine does not remember what was", n.Fn).
			With("keep what is needed in a variable")
		return nil, true
	}
	if len(n.Args) == 0 || n.Fn == "last" && len(n.Args) > 1 || n.Fn == "pending" && len(n.Args) < 2 ||
		n.Fn != "pending" && len(n.Args) > 2 {
		s.Errorf("FSM026", n.Pos(), "%s() needs other arguments", n.Fn).With("write " + use)
		return nil, true
	}
	switch n.Fn {
	case "last":
		e = s.lastOf(n, base)
	case "pending":
		e = s.pending(n, base)
	default:
		e = s.times(n, base)
	}
	if e == nil {
		return nil, true
	}
	return s.KeepWords(e, n), true
}

// times resolves reported(a.x, n) and commanded(a.x, n): x has happened n times at least.
func (s *Resolver) times(n *syntax.Call, base model.ExprBase) model.Expr {
	of, h := s.happening(n.Args[0], n.Fn)
	if of.info == nil {
		return nil
	}
	least, ok := int64(1), true
	if len(n.Args) == 2 {
		if least, ok = s.ConstNode(n.Args[1], 1, maxTimes, "the number of times"); !ok {
			return nil
		}
	}
	v := s.Ghosts.Count(of.info, h, least)
	count := &model.VarRef{ExprBase: model.ExprBase{T: v.Type, Span: base.Span}, Inst: of.inst, Var: v}
	base.T = types.Bool
	return &model.Binary{ExprBase: base, Op: model.OpGe, X: count,
		Y: s.Literal(types.Int(least, least), least, base.Span)}
}

// lastOf resolves last(a.x.field).
func (s *Resolver) lastOf(n *syntax.Call, base model.ExprBase) model.Expr {
	x, ok := n.Args[0].(*syntax.Select)
	if !ok {
		s.Errorf("FSM026", n.Args[0].Pos(), "last() needs a field of a command or report").
			With("write " + pastCalls["last"])
		return nil
	}
	switch x.X.(type) {
	case *syntax.Select, *syntax.Call:
	default: // an instance
		s.Errorf("FSM026", x.Pos(), "last() needs a field of %s", diag.Quote(x.Name)).
			With("name one: `last(…." + x.Name + ".FIELD)`; whether it has happened says `reported` or `commanded`")
		return nil
	}
	of, h := s.happening(x.X, "")
	if of.info == nil {
		return nil
	}
	f := types.FieldNamed(h.Fields(), x.Name)
	if f == nil {
		s.UnknownAt("FSM021", x.NamePos, x.Name, "field of "+diag.Quote(h.Name())+" named",
			types.FieldNames(h.Fields()))
		return nil
	}
	s.Refer(x.NamePos, f.Span)
	v := s.Ghosts.Last(of.info, h, f)
	base.T = v.Type
	return &model.VarRef{ExprBase: base, Inst: of.inst, Var: v}
}

// pending resolves pending(a.x, a.y, a.z): x has happened, and since then neither y nor z.
func (s *Resolver) pending(n *syntax.Call, base model.ExprBase) model.Expr {
	of, h := s.happening(n.Args[0], "")
	if of.info == nil {
		return nil
	}
	var ends []convert.Happening
	for _, a := range n.Args[1:] {
		other, end := s.happening(a, "")
		if other.info == nil {
			return nil
		}
		if other.inst != of.inst {
			s.Errorf("FSM026", a.Pos(), "pending() is about one instance, and this is another").
				See(n.Args[0].Pos(), "the one").
				With("say it with `reported` and `commanded` of both")
			return nil
		}
		if end == h {
			s.Errorf("FSM026", a.Pos(), "%s would end what it begins", diag.Quote(h.Name()))
			return nil
		}
		if !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	v := s.Ghosts.Pending(of.info, h, ends)
	base.T = types.Bool
	return &model.VarRef{ExprBase: base, Inst: of.inst, Var: v}
}

// happening resolves a command or report of an instance: a.x, or with its kind, reported(a.x). It
// returns the machine, which is nil after an error.
func (s *Resolver) happening(n syntax.Node, kind string) (of ref, h convert.Happening) {
	if c, isCall := n.(*syntax.Call); isCall && kind == "" && len(c.Args) == 1 &&
		(c.Fn == "reported" || c.Fn == "commanded") {
		return s.happening(c.Args[0], c.Fn)
	}
	x, isSelect := n.(*syntax.Select)
	if !isSelect {
		s.Errorf("FSM026", n.Pos(), "a command or report of an instance is needed here").
			With("write it as `a.confirm`")
		return errRef, h
	}
	of = s.ref(x.X, nil)
	switch {
	case of.group != nil:
		s.Errorf("FSM023", x.X.Pos(), "%s is several instances; say which", diag.Quote(of.group.Name)).
			With(of.group.Hint())
		return errRef, h
	case of.info == nil || of.inst == nil:
		if of.e != nil || of.part != nil || of.timer != nil || of.t != nil {
			s.Errorf("FSM026", x.X.Pos(), "a command or report of an instance is needed here").
				With("write it as `a.confirm`")
		}
		return errRef, h
	case of.inst.Monitor:
		s.Errorf("FSM026", x.X.Pos(), "a monitor has no program that gives it commands or is told its reports").
			With("say it of one of the instances that it watches")
		return errRef, h
	case len(of.path) > 0:
		s.Errorf("FSM026", x.X.Pos(), "a part has no program that gives it commands or is told its reports").
			With("say it of the instance around it")
		return errRef, h
	}
	m := of.info.Machine
	for _, ev := range m.Commands {
		if ev.Name == x.Name && kind != "reported" {
			h.Command = ev
		}
	}
	for _, rep := range m.Reports {
		if rep.Name == x.Name && kind != "commanded" {
			h.Report = rep
		}
	}
	switch {
	case h.Command != nil && h.Report != nil:
		s.Errorf("FSM022", x.NamePos, "%s is a command and a report of %s", diag.Quote(x.Name), diag.Quote(m.Name)).
			With("write `commanded(…)` or `reported(…)` around it")
		return errRef, h
	case h.Command != nil:
		s.Refer(x.NamePos, h.Command.Span)
	case h.Report != nil:
		s.Refer(x.NamePos, h.Report.Span)
	default:
		what, names := "command or report", []string{}
		if kind != "reported" {
			for _, ev := range m.Commands {
				names = append(names, ev.Name)
			}
		} else {
			what = "report"
		}
		if kind != "commanded" {
			for _, rep := range m.Reports {
				names = append(names, rep.Name)
			}
		} else {
			what = "command"
		}
		d := s.UnknownAt("FSM021", x.NamePos, x.Name, what+" of "+diag.Quote(m.Name)+" named", names)
		given := func(ev *model.Event) bool { return ev.Name == x.Name }
		told := func(rep *model.Report) bool { return rep.Name == x.Name }
		if kind == "reported" && slices.ContainsFunc(m.Commands, given) {
			d.With("it is a command: write `commanded(…)`")
		} else if kind == "commanded" && slices.ContainsFunc(m.Reports, told) {
			d.With("it is a report: write `reported(…)`")
		}
		return errRef, h
	}
	return of, h
}
