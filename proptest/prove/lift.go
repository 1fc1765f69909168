package prove

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
)

// Lift says which environment rules are left out.
type Lift string

const (
	// LiftNothing keeps all rules: they are part of what is proved.
	LiftNothing Lift = ""
	// LiftLengths leaves out what rules say about lengths of channels; what they say of values and
	// arguments stays.
	LiftLengths Lift = "lengths"
	// LiftRules leaves out all rules: every command at any moment with any arguments, as often as
	// possible, or never.
	LiftRules Lift = "rules"
)

// lifted copies a check with the rules that remain and another capacity, that of its other channels in proportion. A
// message that finds no room is an error in all of them, so that it is seen.
func lifted(c *model.Check, lift Lift, capacity int) *model.Check {
	out := *c
	out.Channel.Capacity, out.Channel.Full = capacity, model.FullFault
	out.Beside = slices.Clone(c.Beside)
	for k := range out.Beside {
		ch := &out.Beside[k]
		ch.Capacity, ch.Full = max(1, ch.Capacity*capacity/c.Channel.Capacity), model.FullFault
	}
	out.Rules = nil
	if lift == LiftRules {
		return &out
	}
	opened := func(ev *model.Event) bool {
		return lift == LiftLengths && slices.ContainsFunc(lengthRules(c),
			func(r *model.EnvRule) bool { return r.Command == ev })
	}
	for _, r := range c.Rules {
		rule := *r
		// a program that waits because of what is left out would seem to break its word, and its
		// runs would not be looked at
		if opened(r.Command) || slices.ContainsFunc(r.Or, opened) {
			rule.Fair, rule.Or = "", nil
		}
		if lift == LiftLengths && r.When != nil && AsksLengths(r.When) {
			rule.When = open(r.When, true)
		}
		if !isLit(rule.When, 1) || r.Times > 0 || rule.Fair != "" {
			out.Rules = append(out.Rules, &rule)
		}
	}
	return &out
}

// open puts want in place of every condition on lengths, with the sign that makes the whole allow
// as much as possible.
func open(e model.Expr, want bool) model.Expr {
	if !AsksLengths(e) {
		return e
	}
	switch e := e.(type) {
	case *model.Unary:
		if e.Op == model.OpNot {
			c := *e
			c.X = open(e.X, !want)
			return &c
		}
	case *model.Binary:
		switch e.Op {
		case model.OpAnd, model.OpOr:
			c := *e
			c.X, c.Y = open(e.X, want), open(e.Y, want)
			return simplify(&c)
		case model.OpImplies:
			c := *e
			c.X, c.Y = open(e.X, !want), open(e.Y, want)
			return &c
		}
	}
	l := &model.Lit{ExprBase: model.ExprBase{T: e.Type(), Span: e.Pos()}}
	if want {
		l.Value = 1
	}
	return l
}

// simplify drops an operand that cannot matter, for the reports.
func simplify(e *model.Binary) model.Expr {
	decides, neutral := int64(0), int64(1) // of &&
	if e.Op == model.OpOr {
		decides, neutral = 1, 0
	}
	switch {
	case isLit(e.X, decides), isLit(e.Y, neutral):
		return e.X
	case isLit(e.Y, decides) && e.Op == model.OpOr, isLit(e.X, neutral):
		return e.Y
	}
	return e
}

func isLit(e model.Expr, value int64) bool {
	l, ok := e.(*model.Lit)
	return ok && l.T != nil && l.T.Kind == model.KindBool && l.Value == value
}

// AsksLengths reports whether an expression depends on the length of a channel.
func AsksLengths(e model.Expr) bool {
	found := false
	core.Walk(core.Of(e), func(e core.Expr) {
		_, is := e.(*core.Observe)
		found = found || is
	})
	return found
}

// lengthRules lists the rules that speak of lengths.
func lengthRules(c *model.Check) []*model.EnvRule {
	return slices.DeleteFunc(slices.Clone(c.Rules), func(r *model.EnvRule) bool {
		return r.When == nil || !AsksLengths(r.When)
	})
}
