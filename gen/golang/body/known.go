package body

import (
	"math"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// known are conditions that hold where code is being composed: a guard holds in its branch, the guards
// before it do not, and the left side of an && holds on its right side. A check that follows from them
// is left out. A condition is forgotten when something that it reads changes.
type known struct {
	facts []gotree.Expr
	until int // how long the list of changes was
}

// learn notes that conditions hold here.
func (c *body) learn(list ...gotree.Expr) {
	facts := c.facts()
	for _, x := range list {
		for _, t := range gotree.Operands("&&", x) {
			if steady(t) && !among(facts, t) {
				facts = append(facts, t)
			}
		}
	}
	for _, f := range facts { // where all terms but one are false that one holds
		terms := gotree.Operands("||", f)
		open := slices.DeleteFunc(terms, func(t gotree.Expr) bool { return among(facts, gotree.Not(t)) })
		if len(open) == 1 && !among(facts, open[0]) {
			facts = append(facts, open[0])
		}
	}
	c.known = known{facts, len(c.changes)}
}

// facts returns the conditions that still hold. Those about the event always do.
func (c *body) facts() []gotree.Expr {
	facts := slices.Clone(c.known.facts)
	for _, member := range c.changes[min(c.known.until, len(c.changes)):] {
		facts = slices.DeleteFunc(facts, func(f gotree.Expr) bool {
			if member == "" {
				return gotree.Uses(f, "m")
			}
			return gotree.UsesMember(f, "m", member)
		})
	}
	return facts
}

func among(facts []gotree.Expr, x gotree.Expr) bool {
	return slices.ContainsFunc(facts, func(f gotree.Expr) bool { return gotree.Equal(f, x) })
}

// steady reports whether a condition gives the same result when it is evaluated again. One that calls a
// method may not, since the method can change something.
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

// knows reports whether a condition is known to hold: all terms of a conjunction, one of a disjunction.
func (c *body) knows(x gotree.Expr) bool {
	facts := c.facts()
	for _, t := range gotree.Operands("&&", x) {
		one := func(t gotree.Expr) bool { return among(facts, t) || decided(facts, t) }
		if !one(t) && !slices.ContainsFunc(gotree.Operands("||", t), one) {
			return false
		}
	}
	return true
}

// compared returns the parts of a comparison with a number, the number last. It looks through a
// conversion to int64.
func compared(x gotree.Expr) (op string, of gotree.Expr, n int64, ok bool) {
	b, is := x.(gotree.Binary)
	if !is {
		return "", nil, 0, false
	}
	op, of, other := b.Op, b.X, b.Y
	if n, ok = gotree.Number(other); !ok {
		if n, ok = gotree.Number(of); !ok {
			return "", nil, 0, false
		}
		of = other
		if turned := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]; turned != "" {
			op = turned
		}
	}
	if call, is := of.(gotree.Call); is && gotree.Equal(call.Fun, gotree.X("int64")) {
		of = call.Args[0]
	}
	return op, of, n, true
}

// narrowed returns the part of the interval in that the facts leave for the number of.
func narrowed(facts []gotree.Expr, of gotree.Expr, in interval.Interval) interval.Interval {
	for range 2 { // that a number is not the least one counts only when the least one is known
		for _, f := range facts {
			op, x, n, ok := compared(f)
			if !ok || !gotree.Equal(x, of) {
				continue
			}
			switch {
			case op == "==":
				in.Lo, in.Hi = max(in.Lo, n), min(in.Hi, n)
			case op == "<" && n > math.MinInt64:
				in.Hi = min(in.Hi, n-1)
			case op == "<=":
				in.Hi = min(in.Hi, n)
			case op == ">" && n < math.MaxInt64:
				in.Lo = max(in.Lo, n+1)
			case op == ">=":
				in.Lo = max(in.Lo, n)
			case op == "!=" && n == in.Lo && n < in.Hi:
				in.Lo++
			case op == "!=" && n == in.Hi && n > in.Lo:
				in.Hi--
			}
		}
	}
	return in
}

// decided reports whether a comparison with a number follows from the facts.
func decided(facts []gotree.Expr, x gotree.Expr) bool {
	op, of, n, ok := compared(x)
	if !ok {
		return false
	}
	in := interval.Everything
	if s, ok := of.(gotree.Sel); ok && s.Name == "Len" {
		in.Lo = 0
	}
	in = narrowed(facts, of, in)
	switch op {
	case "==":
		return in.Lo == n && in.Hi == n
	case "!=":
		return n < in.Lo || n > in.Hi
	case "<":
		return in.Hi < n
	case "<=":
		return in.Hi <= n
	case ">":
		return in.Lo > n
	case ">=":
		return in.Lo >= n
	}
	return false
}

// bounds returns the interval of an expression, which follows from its types and from what is known
// here.
func (c *body) bounds(e core.Expr) interval.Interval {
	facts := c.facts()
	if len(facts) == 0 {
		return e.Node().In
	}
	return core.Narrow(e, func(e core.Expr, in interval.Interval) interval.Interval {
		if x := c.place(e); x != nil {
			return narrowed(facts, x, in)
		}
		return in
	}).Node().In
}

// place composes an expression that reads a place and has no index. It returns nil for any other
// expression.
func (c *body) place(e core.Expr) gotree.Expr {
	switch e := e.(type) {
	case *core.Read:
		for _, s := range e.Path {
			if len(s.Keys) > 0 {
				return nil
			}
		}
		if e.What == core.ReadVar {
			return c.value(e).x
		}
	case *core.Local:
		if v, ok := c.locals[e.Local]; ok {
			return v.x
		}
	case *core.Field:
		x := c.place(e.X)
		switch {
		case x == nil:
		case e.Field == nil:
			return gotree.X("$1.Value", x)
		default:
			return gotree.X("$1.$2", x, c.fieldName(e))
		}
	case *core.Apply:
		if e.Op == core.Len && e.Args[0].Node().T.Kind == model.KindList {
			if x := c.place(e.Args[0]); x != nil {
				return gotree.X("$1.Len", x)
			}
		}
	}
	return nil
}

// assuming runs compose, whose code runs only if the conditions hold.
func (c *body) assuming(list []gotree.Expr, compose func()) {
	before := c.known
	c.learn(list...)
	compose()
	c.known = before
}
