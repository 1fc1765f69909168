package mutate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Operator is a kind of mistake that a mutant has.
type Operator string

// The operators. A mutant is one of them at one place of the text.
const (
	DropSend      Operator = "drop-send"      // a message is not sent
	DropReport    Operator = "drop-report"    // the program is not told
	DropSet       Operator = "drop-set"       // an assignment is forgotten
	DropTimer     Operator = "drop-timer"     // a timer is not started or stopped
	DropRun       Operator = "drop-run"       // a part is not told, or not put back
	DropClose     Operator = "drop-close"     // a link stays open
	DropBranch    Operator = "drop-branch"    // a branch is missing
	DropIgnore    Operator = "drop-ignore"    // what was ignored or deferred is refused
	IgnoreIt      Operator = "ignore"         // a message is ignored instead of handled or deferred
	NoGoto        Operator = "no-goto"        // the state stays
	OtherGoto     Operator = "other-goto"     // the machine goes elsewhere
	WeakGuard     Operator = "weak-guard"     // a condition, or a part of one, is missing
	StrongGuard   Operator = "strong-guard"   // one of two alternatives of a condition is missing
	Compare       Operator = "compare"        // < for <=, == for !=, and so on
	OffByOne      Operator = "off-by-one"     // a number is one more or less
	WrongReceiver Operator = "wrong-receiver" // a message goes to all instead of to the sender
)

// Operators are all of them.
var Operators = []Operator{DropSend, DropReport, DropSet, DropTimer, DropRun, DropClose, DropBranch, DropIgnore,
	IgnoreIt, NoGoto, OtherGoto, WeakGuard, StrongGuard, Compare, OffByOne, WrongReceiver}

// HeldBack are operators that nobody should look at while writing claims: claims that kill the others and not these
// repeat transitions instead of saying what a protocol is for.
var HeldBack = []Operator{OtherGoto, StrongGuard, OffByOne, WrongReceiver}

// Mutant is a specification with one mistake.
type Mutant struct {
	Operator Operator `json:"operator"`
	Role     string   `json:"role"`
	Where    string   `json:"where"` // file:line:col
	Words    string   `json:"words"` // what is different
	Result   Result   `json:"result"`
	// Check and Claim killed it. Differs says, of one that survived, where it first does something else.
	Check   string `json:"check,omitempty"`
	Claim   string `json:"claim,omitempty"`
	Differs string `json:"differs,omitempty"`
	// Proposal would kill one that survived, if one was asked for and found.
	Proposal *Proposal `json:"proposal,omitempty"`

	change change
	line   int
}

// Mutants lists the mutants of the roles of a specification that we write, in the order of its text. No check has run.
func Mutants(p *model.Protocol) []*Mutant { return all(p) }

// In makes the mistake in a model, for good. It reports whether the model has the place.
func (m *Mutant) In(p *model.Protocol) bool {
	for _, role := range p.Roles {
		if role.Name == m.Role {
			return m.change(role)
		}
	}
	return false
}

// change makes the mistake in a machine and reports whether it found the place. Models for different checks have
// the same texts at the same places.
type change func(m *model.Machine) bool

// all lists the mutants of the roles that we write, in the order of the text.
func all(p *model.Protocol) []*Mutant {
	var list []*Mutant
	known := map[string]bool{}
	many := slices.ContainsFunc(p.Checks, func(c *model.Check) bool { return len(c.Instances) > 2 })
	for _, m := range p.Roles {
		if m.External {
			continue
		}
		l := &lister{role: m, many: many, add: func(op Operator, at diag.Span, in, words string, c change) {
			key := fmt.Sprint(op, m.Name, at, words) // a line in several states is one place
			if at.IsZero() || known[key] {
				return
			}
			known[key] = true
			list = append(list, &Mutant{Operator: op, Role: m.Name, Where: at.String(), Words: in + words, change: c,
				line: at.Start.Line})
		}}
		for _, t := range m.Transitions {
			l.transition(t)
		}
	}
	return list
}

// lister lists the mutants of one role.
type lister struct {
	role *model.Machine
	many bool // some check has more than two instances
	// add adds a mutant: at a place, in the handler of a line, with words for what is different.
	add func(op Operator, at diag.Span, in, words string, c change)
}

// same reports whether two transitions are the same line of the text.
func same(a, b *model.Transition) bool {
	return a.Span == b.Span && a.Event.Name == b.Event.Name && a.Mode == b.Mode
}

// each returns a change of every transition that a line stands for.
func each(t *model.Transition, f func(m *model.Machine, t *model.Transition)) change {
	return func(m *model.Machine) (found bool) {
		for _, u := range slices.Clone(m.Transitions) {
			if same(t, u) {
				f(m, u)
				found = true
			}
		}
		return found
	}
}

func (l *lister) transition(t *model.Transition) {
	in := t.From.Name
	if t.By != nil {
		in = t.By.Name
	}
	what := in + " " + t.Event.Name + ": "
	switch t.Mode {
	case model.Ignore, model.Defer:
		word := map[model.Mode]string{model.Ignore: "ignored", model.Defer: "deferred"}[t.Mode]
		l.add(DropIgnore, t.Span, what, "is not "+word, each(t, drop))
		if t.Mode == model.Defer {
			l.add(IgnoreIt, t.Span, what, "is ignored instead of deferred", each(t, ignore))
		}
		return
	}
	l.add(DropBranch, t.Span, what, "the branch is missing", each(t, drop))
	if t.Event.Kind == model.EventMessage && t.When == nil && (len(t.Body) > 0 || t.To != nil) {
		l.add(IgnoreIt, t.Span, what, "is ignored", each(t, ignore))
	}
	if t.To != nil {
		l.add(NoGoto, t.Span, what, "does not go to "+t.To.Name, each(t, func(_ *model.Machine, t *model.Transition) {
			t.To = nil
		}))
		for _, step := range []int{1, len(l.role.States) - 1} {
			k := (t.To.Index + step) % len(l.role.States)
			if to := l.role.States[k]; to != t.To {
				l.add(OtherGoto, t.Span, what, "goes to "+to.Name+" instead of "+t.To.Name,
					each(t, func(m *model.Machine, t *model.Transition) {
						i := slices.IndexFunc(m.States, func(st *model.State) bool { return st.Name == to.Name })
						if i >= 0 { // a variant may have no such state
							t.To = m.States[i]
						}
					}))
			}
		}
	}
	if t.When != nil {
		l.add(WeakGuard, t.Span, what, "is not conditional on "+model.ExprString(t.When),
			each(t, func(_ *model.Machine, t *model.Transition) { t.When = nil }))
		l.expr(t.When)
	}
	l.stmts(what, t.Body)
}

// drop takes a branch away, and its handler with the last one. IDs are places in the list.
func drop(m *model.Machine, t *model.Transition) {
	m.Transitions = slices.DeleteFunc(slices.Clone(m.Transitions), func(u *model.Transition) bool { return u == t })
	for i, u := range m.Transitions {
		u.ID = i
	}
	h := t.From.Handlers[t.Event.Index]
	if h == nil {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(h.Branches), func(u *model.Transition) bool { return u == t })
	if len(rest) == 0 {
		t.From.Handlers[t.Event.Index] = nil
		return
	}
	c := *h
	c.Branches = rest
	t.From.Handlers[t.Event.Index] = &c
}

func ignore(_ *model.Machine, t *model.Transition) {
	if t.Mode == model.Defer {
		h := *t.From.Handlers[t.Event.Index]
		h.Mode = model.Ignore
		t.From.Handlers[t.Event.Index] = &h
		t.Mode = model.Ignore
		return
	}
	t.Body, t.To = nil, nil
}

// statement returns a change of each statement of the role that stands at a place of the text, wherever it is
// written out. What a check has added to a report, for its claims, goes with the report.
func statement(s model.Stmt, repl func(model.Stmt) []model.Stmt) change {
	at, text := s.Pos(), model.StmtString(s)
	_, report := s.(*model.ReportStmt)
	with := func(is func(model.Stmt) bool) change {
		return code(func(x model.Stmt) ([]model.Stmt, bool) {
			switch {
			case x.Pos() != at:
				return nil, false
			case report && model.Watches(x):
				return nil, true
			}
			return repl(x), is(x)
		}, func(model.Expr) model.Expr { return nil })
	}
	return either(with(func(x model.Stmt) bool { return model.StmtString(x) == text }),
		with(func(x model.Stmt) bool { return reflect.TypeOf(x) == reflect.TypeOf(s) && !model.Watches(x) }))
}

// either is the first change that finds its place. In the model of a check a text may be written out in other words,
// since constants have other values there; then the place and the kind have to do.
func either(exact, like change) change {
	return func(m *model.Machine) bool { return exact(m) || like(m) }
}

// expression returns a change of each expression of the role that stands at a place of the text.
func expression(e model.Expr, repl func(model.Expr) model.Expr) change {
	at, text := e.Pos(), model.ExprString(e)
	with := func(is func(model.Expr) bool) change {
		return code(func(model.Stmt) ([]model.Stmt, bool) { return nil, false }, func(x model.Expr) model.Expr {
			if x.Pos() != at || !is(x) {
				return nil
			}
			return repl(x)
		})
	}
	return either(with(func(x model.Expr) bool { return sameKind(x, e) && model.ExprString(x) == text }),
		with(func(x model.Expr) bool { return sameKind(x, e) }))
}

// sameKind reports whether two expressions are the same operation.
func sameKind(a, b model.Expr) bool {
	x, ok := a.(*model.Binary)
	y, too := b.(*model.Binary)
	return reflect.TypeOf(a) == reflect.TypeOf(b) && (!ok || !too || x.Op == y.Op)
}

func code(f func(model.Stmt) ([]model.Stmt, bool), g func(model.Expr) model.Expr) change {
	return func(m *model.Machine) (found bool) {
		for _, t := range m.Transitions {
			if t.When != nil {
				if w := rewrite(t.When, g); w != t.When {
					t.When, found = w, true
				}
			}
			if body, changed := rewriteStmts(t.Body, f, g); changed {
				t.Body, found = body, true
			}
		}
		for _, st := range m.States {
			if entry, changed := rewriteStmts(st.Entry, f, g); changed {
				st.Entry, found = entry, true
			}
		}
		return found
	}
}

var nothing = func(model.Stmt) []model.Stmt { return nil }

func (l *lister) stmts(what string, list []model.Stmt) {
	for _, s := range list {
		what := what
		if calls := s.Base().Calls; len(calls) > 0 {
			what = calls[len(calls)-1].Name + ": " // whoever calls it
		}
		without := func(op Operator) {
			l.add(op, s.Pos(), what, "without "+model.StmtString(s), statement(s, nothing))
		}
		switch s := s.(type) {
		case *model.Send:
			without(DropSend)
			if l.many && s.Dest == model.ToSender {
				l.add(WrongReceiver, s.Pos(), what, model.StmtString(s)+" goes to all others",
					statement(s, func(x model.Stmt) []model.Stmt {
						c := *x.(*model.Send)
						c.Dest = model.ToBroadcast
						return []model.Stmt{&c}
					}))
			}
			l.exprs(s.Fields)
		case *model.ReportStmt:
			without(DropReport)
			l.exprs(s.Fields)
		case *model.Set:
			without(DropSet)
			l.expr(s.Value)
		case *model.StartTimer, *model.StopTimer:
			without(DropTimer)
		case *model.Run:
			if s.Part.Monitor {
				continue
			}
			without(DropRun)
			l.exprs(s.Args)
		case *model.Restart:
			without(DropRun)
		case *model.Close:
			without(DropClose)
		case *model.Each:
			if s.As != nil {
				if _, sends := s.As.(*model.Send); sends {
					without(DropSend)
				} else {
					without(DropClose)
				}
				continue
			}
			l.stmts(what, s.Body)
		case *model.If:
			l.add(WeakGuard, s.Pos(), what, "always does what is conditional on "+model.ExprString(s.Cond),
				statement(s, func(x model.Stmt) []model.Stmt { return x.(*model.If).Then }))
			l.expr(s.Cond)
			l.stmts(what, s.Then)
			l.stmts(what, s.Else)
		}
	}
}

func (l *lister) exprs(list []model.Expr) {
	for _, e := range list {
		l.expr(e)
	}
}

var others = map[model.Op]model.Op{model.OpLt: model.OpLe, model.OpLe: model.OpLt, model.OpGt: model.OpGe,
	model.OpGe: model.OpGt, model.OpEq: model.OpNe, model.OpNe: model.OpEq}

// expr lists the mutants of an expression and of what is inside.
func (l *lister) expr(e model.Expr) { l.inside(e, nil) }

// inside is expr for what is inside of whole, which the resolver wrote out, and which is not meant itself; nil: it
// wrote out nothing. A mistake is one in the author's text, so what that does not have is left out.
func (l *lister) inside(e, whole model.Expr) {
	rewrite(e, func(e model.Expr) model.Expr {
		switch text := model.WrittenOut(e); {
		case whole != nil && e == whole:
			return nil
		case text != "":
			if x, ok := e.(*model.Binary); ok && (x.Op == model.OpEq || x.Op == model.OpNe) {
				l.add(Compare, e.Pos(), "", "!("+text+") instead of "+text, expression(e, compared(others[x.Op])))
			}
			l.inside(e, e)
			return e
		case whole != nil && !strings.Contains(bare(model.WrittenOut(whole)), bare(model.ExprString(e))):
			return nil
		}
		instead := func(op Operator, repl func(model.Expr) model.Expr) {
			l.add(op, e.Pos(), "", model.ExprString(repl(e))+" instead of "+model.ExprString(e), expression(e, repl))
		}
		switch x := e.(type) {
		case *model.Binary:
			if op, ok := others[x.Op]; ok {
				instead(Compare, compared(op))
			}
			if x.Op == model.OpAnd || x.Op == model.OpOr {
				op := map[model.Op]Operator{model.OpAnd: WeakGuard, model.OpOr: StrongGuard}[x.Op]
				instead(op, func(e model.Expr) model.Expr { return e.(*model.Binary).X })
				instead(op, func(e model.Expr) model.Expr { return e.(*model.Binary).Y })
			}
			if x.Op == model.OpAdd || x.Op == model.OpSub {
				instead(OffByOne, func(e model.Expr) model.Expr { return e.(*model.Binary).X })
			}
		case *model.Unary:
			if x.Op == model.OpNot {
				instead(Compare, func(e model.Expr) model.Expr { return e.(*model.Unary).X })
			}
		case *model.Lit:
			if x.T.Kind == model.KindBool {
				instead(Compare, func(e model.Expr) model.Expr {
					c := *e.(*model.Lit)
					c.Value = 1 - c.Value
					return &c
				})
			}
		}
		return nil
	})
}

// compared returns what makes a comparison another one.
func compared(op model.Op) func(model.Expr) model.Expr {
	return func(e model.Expr) model.Expr {
		c := *e.(*model.Binary)
		c.Op, c.Written = op, model.Written{}
		return &c
	}
}

// bare is a text without its blanks, which an author may set otherwise.
func bare(text string) string { return strings.ReplaceAll(text, " ", "") }
