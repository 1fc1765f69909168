package body

import (
	"slices"

	"github.com/parley-go/parley/gen/golang/gotree"
)

// known are truth values that hold where code is being composed: the left side of an && on its
// right side, a guard in its branch, and that the guards before were false. A check that they
// answer is not made again. They hold until something changes.
type known struct {
	facts []gotree.Expr
	until int // how often something had changed
}

// learn notes that a truth value holds.
func (c *body) learn(x gotree.Expr) {
	facts := c.facts()
	for _, t := range gotree.Operands("&&", x) {
		if steady(t) {
			facts = append(facts, t)
		}
	}
	for _, f := range facts { // where all terms but one are false that one holds
		terms := gotree.Operands("||", f)
		open := slices.DeleteFunc(terms, func(t gotree.Expr) bool { return among(facts, gotree.Not(t)) })
		if len(open) == 1 && !among(facts, open[0]) {
			facts = append(facts, open[0])
		}
	}
	c.known = known{facts, c.changes}
}

// facts returns what still holds: nothing that a statement does changes what the event says.
func (c *body) facts() []gotree.Expr {
	facts := slices.Clone(c.known.facts)
	if c.known.until != c.changes {
		facts = slices.DeleteFunc(facts, func(f gotree.Expr) bool { return gotree.Uses(f, "m") })
	}
	return facts
}

func among(facts []gotree.Expr, x gotree.Expr) bool {
	return slices.ContainsFunc(facts, func(f gotree.Expr) bool { return gotree.Equal(f, x) })
}

// steady reports whether a truth value has the same result when it is asked again; a method may
// change something.
func steady(x gotree.Expr) bool {
	calls := false
	gotree.Walk(x, func(n any) bool {
		if call, ok := n.(gotree.Call); ok {
			_, method := call.Fun.(gotree.Sel)
			calls = calls || method
		}
		return !calls
	})
	return !calls
}

// knows reports whether a truth value is known to hold.
func (c *body) knows(x gotree.Expr) bool { return among(c.facts(), x) }

// assuming composes code that runs only if x holds.
func (c *body) assuming(x gotree.Expr, compose func()) {
	before := c.known
	c.learn(x)
	compose()
	c.known = before
}
