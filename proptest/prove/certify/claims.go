package certify

import (
	"github.com/parley-go/parley/gen/model"
)

// allowed reports whether the environment may make a move.
func (v *verifier) allowed(i int, m move) Truth {
	if m.rule == nil || m.rule.When == nil {
		return Yes
	}
	frame := make([]int64, max(m.rule.Locals, len(m.args)))
	from := 0
	for _, l := range m.rule.Params {
		n := l.Type.Slots()
		copy(frame[l.Offset:l.Offset+n], m.args[from:from+n])
		from += n
	}
	v.eval.Range = func(l *model.ChanLen) (int64, int64) {
		if v.c.Lift == "lengths" {
			return 0, Endless
		}
		return v.count(v.check.Instances[i], l)
	}
	t, err := v.eval.Truth(m.rule.When, v.c.Locals[v.locals[i]][2+len(v.role(i).Commands):], frame)
	switch {
	case err != nil: // the checker does not give the command then; more steps do no harm
		return Maybe
	case t == Maybe && v.c.Lift == "lengths":
		return Yes
	}
	return t
}

// claims notes what is violated in the configuration at hand; moves says that it can
// go on, alone that it can without a command.
func (v *verifier) claims(moves, alone bool) {
	v.claimView()
	final, empty := true, true
	for i, value := range v.eval.Instances {
		final = final && (v.check.Instances[i].IsHostile() || v.role(i).States[value[0]].Final)
	}
	for _, w := range v.words {
		empty = empty && len(w) == 0
	}
	if final && !moves && !empty {
		v.breaks(OrphanMessage, "every machine is in a final state, it may be that nothing is possible any "+
			"more, and a message is under way")
	}
	if v.check.Quiet != nil && !alone && !final && !v.holds(v.check.Quiet) || v.check.Quiet == nil && !moves && !final {
		v.breaks(Deadlock, "it may be that nothing is possible")
	}
	for _, c := range v.stated {
		if c.Quiescent && !empty {
			continue
		}
		if !v.holds(Condition(c)) {
			v.breaks(c.Name, "it does not hold, or not of all that the configuration stands for")
		}
	}
}

// claimView lets conditions of claims see the configuration at hand.
func (v *verifier) claimView() {
	for i, id := range v.locals {
		v.eval.Instances = append(v.eval.Instances[:i], v.c.Locals[id][2+len(v.role(i).Commands):])
	}
	v.eval.Range = func(l *model.ChanLen) (int64, int64) { return v.count(nil, l) }
}

func (v *verifier) holds(e model.Expr) bool {
	t, err := v.eval.Truth(e, nil, nil)
	return err == nil && t == Yes
}

// may reports whether a condition holds of something that the configuration stands for, as far as
// is known.
func (v *verifier) may(e model.Expr) bool {
	t, err := v.eval.Truth(e, nil, nil)
	return err != nil || t != No
}

// Condition returns the condition of an always or agree claim, as one expression.
func Condition(c *model.Claim) model.Expr {
	all := c.Expr
	base := model.ExprBase{T: &model.Type{Kind: model.KindBool}, Span: c.Span}
	if c.Kind == model.Agree {
		for i := 1; i < len(c.Exprs); i++ {
			eq := model.Expr(&model.Binary{ExprBase: base, Op: model.OpEq, X: c.Exprs[0], Y: c.Exprs[i]})
			if all != nil {
				eq = &model.Binary{ExprBase: base, Op: model.OpAnd, X: all, Y: eq}
			}
			all = eq
		}
	}
	if c.When != nil {
		return &model.Binary{ExprBase: base, Op: model.OpImplies, X: c.When, Y: all}
	}
	return all
}

// count bounds the number of messages that l asks for; inst is the machine whose rule asks.
func (v *verifier) count(inst *model.Instance, l *model.ChanLen) (lo, hi int64) {
	for k, w := range v.words {
		switch {
		case l.Self && (l.Out && v.from[k] != inst.Index || !l.Out && v.to[k] != inst.Index):
			continue
		case !l.Self && (l.From != nil && l.From.Index != v.from[k] || l.To != nil && l.To.Index != v.to[k]):
			continue
		case l.Over != "" && l.Class != v.class[k]:
			continue
		}
		for _, b := range w {
			counted := 0
			for _, m := range b[1:] {
				if l.Message == nil || int64(l.Message.Index) == v.c.Messages[m][0] {
					counted++
				}
			}
			if counted == len(b)-1 {
				lo += int64(b.Least())
			}
			if hi += 1; counted == 0 {
				hi--
			} else if b.Open() {
				hi = Endless
			}
		}
	}
	return lo, min(hi, Endless)
}

// Widen gives the opaque types of a specification so many values.
func Widen(p *model.Protocol, values int64) {
	model.EachType(p, func(t *model.Type) {
		if t.Kind == model.KindOpaque {
			t.Hi = values - 1
		}
	})
}
