package golang

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// method notes that a list's method is called.
func (c *body) method(t *model.Type, name string) string {
	c.g.typ(t, "").methods[name] = true
	return name
}

func (c *body) call(e *model.Call) val {
	switch e.Fn {
	case model.FnUnion, model.FnMinus, model.FnIntersect:
		return c.combine(e)
	case model.FnIf:
		return c.choose(e)
	case model.FnMin, model.FnMax:
		x, y := c.wide(c.value(e.Args[0])), c.wide(c.value(e.Args[1]))
		if x.lit && y.lit {
			x = val{s: "int64(" + x.s + ")"}
		}
		return val{s: fmt.Sprintf("%s(%s, %s)", e.Fn, x.s, y.s), prec: precPrimary, t: e.T, wide: true}
	}
	if lit, ok := e.Args[0].(*model.ListLit); ok && e.Fn == model.FnContains {
		return c.among(lit, e.Args[1], e.T)
	}
	t := e.Args[0].Type()
	l := c.value(e.Args[0])
	if t.Kind == model.KindSet {
		return c.setCall(e, l, t)
	}
	switch e.Fn {
	case model.FnLen:
		return val{s: l.in(precPrimary) + ".Len", prec: precPrimary, t: &model.Type{Kind: model.KindInt, Hi: int64(t.Cap)}, addr: l.addr}
	case model.FnFirst:
		l = c.addressable(l)
		c.check("%s.Len == 0", l.s)
		return val{s: l.s + ".Items[0]", prec: precPrimary, t: t.Elem, addr: true}
	case model.FnContains:
		l = c.addressable(l)
		x := c.value(e.Args[1])
		if !c.representable(x, bounds(e.Args[1]), t.Elem) {
			return c.search(l, t, x, e.T)
		}
		return val{s: fmt.Sprintf("%s.%s(%s)", l.s, c.method(t, "contains"), c.cast(x, t.Elem)), prec: precPrimary, t: e.T}
	}
	name := c.names.local("list")
	c.out.p("%s := %s", name, c.fitted(l, everything, e.T))
	r := val{s: name, prec: precPrimary, t: e.T, addr: true}
	c.edit(e, r)
	return r
}

// edit applies append, tail or without to the list r, which holds the first argument.
func (c *body) edit(e *model.Call, r val) {
	switch e.Fn {
	case model.FnAppend, model.FnWith:
		c.add(r, e.T, e.Args[1])
	case model.FnTail:
		c.check("!%s.%s()", r.s, c.method(e.T, "dropFirst"))
	case model.FnWithout:
		x := c.value(e.Args[1])
		if in := bounds(e.Args[1]); !c.representable(x, in, e.T.Elem) && (e.T.Elem.Kind == model.KindInt || e.T.Elem.Kind == model.KindNode) {
			x = c.steady(c.wide(x)) // a value that no element can have is in no list
			c.out.p("if %s >= %d && %s <= %d {\n%s.%s(%s)\n}", x.s, e.T.Elem.Lo, x.s, e.T.Elem.Hi, r.s, c.method(e.T, "remove"), c.cast(x, e.T.Elem))
			return
		}
		x = c.addressable(x)
		c.out.p("%s.%s(%s)", r.s, c.method(e.T, "remove"), c.fitted(x, everything, e.T.Elem))
	}
}

// representable says whether the Go type of t can hold every value that x may
// have, though the range of t need not.
func (c *body) representable(x val, in interval, t *model.Type) bool {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		return fits(t, in.lo) && fits(t, in.hi)
	case model.KindBool, model.KindEnum:
		return true
	}
	return x.lit || c.sameGo(x.t, t)
}

// cast converts without a check.
func (c *body) cast(x val, t *model.Type) string {
	if x.lit || !x.wide && c.sameGo(x.t, t) {
		return x.s
	}
	return c.goType(t) + "(" + x.s + ")"
}

// search looks for a value in a list whose elements have another Go type.
func (c *body) search(l val, t *model.Type, x val, bool_ *model.Type) val {
	x = c.steady(x)
	found, i := c.names.local("found"), c.names.local("i")
	eq := c.same(val{s: fmt.Sprintf("%s.Items[%s]", l.s, i), prec: precPrimary, t: t.Elem, addr: true}, x, true, bool_)
	c.out.p("%s := false\nfor %s := range %s.Items[:%s.Len] {\nif %s {\n%s = true\n}\n}", found, i, l.s, l.s, eq.s, found)
	return val{s: found, prec: precPrimary, t: bool_, addr: true}
}

// among is `x in [a, b]`.
func (c *body) among(lit *model.ListLit, x model.Expr, t *model.Type) val {
	v := c.steady(c.value(x))
	var tests []string
	for _, e := range lit.Elems {
		tests = append(tests, c.same(v, c.value(e), true, t).in(precAnd))
	}
	switch len(tests) {
	case 0:
		return val{s: "false", prec: precPrimary, t: t}
	case 1:
		return val{s: tests[0], prec: precCompare, t: t}
	}
	return val{s: strings.Join(tests, " || "), prec: precOr, t: t}
}

// bit composes the mask of one element of a set, with the check that there is such an element.
func (c *body) bit(e model.Expr, t *model.Type, check bool) string {
	v := c.steady(c.wide(c.value(e)))
	if v.lit && bounds(e).within(t.Elem) {
		return "1<<" + strconv.FormatInt(bounds(e).lo-lowest(t.Elem), 10)
	}
	if in := bounds(e); check && !in.within(t.Elem) {
		c.rangeCheck(v, in, domain(t.Elem))
	}
	if low := lowest(t.Elem); low != 0 {
		return fmt.Sprintf("1<<uint64(%s)", plus(v.in(precAdd), -low))
	}
	return "1<<uint64(" + v.s + ")"
}

func (c *body) setCall(e *model.Call, l val, t *model.Type) val {
	switch e.Fn {
	case model.FnLen:
		c.g.helpers["bits"] = true
		return val{s: "countBits(uint64(" + l.s + "))", prec: precPrimary, t: e.T, wide: true}
	case model.FnContains, model.FnWithout:
		v := c.steady(c.wide(c.value(e.Args[1])))
		c.g.helpers["mask"] = true
		mask := fmt.Sprintf("maskOf(%s)", plus(v.in(precAdd), -lowest(t.Elem)))
		if e.Fn == model.FnContains {
			return val{s: fmt.Sprintf("uint64(%s)&%s != 0", l.s, mask), prec: precCompare, t: e.T}
		}
		return val{s: fmt.Sprintf("%s &^ %s(%s)", l.in(precMul), c.goType(t), mask), prec: precMul, t: t}
	case model.FnWith:
		s := c.fitted(l, everything, e.T)
		return val{s: fmt.Sprintf("%s | %s(%s)", s, c.goType(e.T), c.bit(e.Args[1], e.T, true)), prec: precAdd, t: e.T}
	}
	c.g.fail(e.Pos(), "%s of a set is not known", e.Fn)
	return val{}
}

// add appends an element to the list l, which is a variable, or puts it into a set.
func (c *body) add(l val, t *model.Type, e model.Expr) {
	if t.Kind == model.KindSet {
		c.out.p("%s |= %s", l.s, c.bit(e, t, true))
		return
	}
	x := c.store(e, t.Elem)
	c.check("!%s.%s(%s)", l.s, c.method(t, "add"), x)
}

// listLit composes a list or set literal of type t.
func (c *body) listLit(e *model.ListLit, t *model.Type) val {
	if t.Kind == model.KindSet {
		if len(e.Elems) == 0 {
			return val{s: c.goType(t) + "(0)", prec: precPrimary, t: t}
		}
		var bits []string
		for _, el := range e.Elems {
			bits = append(bits, c.bit(el, t, true))
		}
		return val{s: c.goType(t) + "(" + strings.Join(bits, " | ") + ")", prec: precPrimary, t: t}
	}
	if len(e.Elems) == 0 {
		return val{s: c.goType(t) + "{}", prec: precLiteral, t: t}
	}
	elems := make([]string, len(e.Elems))
	for i, el := range e.Elems {
		elems[i] = c.store(el, t.Elem)
	}
	if len(elems) > t.Cap {
		c.out.p("%s // more elements than the list takes", c.fault())
		return val{s: c.goType(t) + "{}", prec: precLiteral, t: t}
	}
	return val{s: fmt.Sprintf("%s{Len: %d, Items: [%d]%s{%s}}", c.goType(t), len(elems), t.Cap, c.goType(t.Elem), strings.Join(elems, ", ")),
		prec: precLiteral, t: t}
}

// choose is if(c, a, b); only one of a and b is evaluated.
func (c *body) choose(e *model.Call) val {
	cond := c.value(e.Args[0])
	r := c.names.local("value")
	t := e.T
	wide := t.Kind == model.KindInt || t.Kind == model.KindNode
	give := func(arg model.Expr) string {
		return c.inner(func() {
			if wide {
				c.out.p("%s = %s", r, c.wide(c.value(arg)).s)
			} else {
				c.out.p("%s = %s", r, c.store(arg, t))
			}
		})
	}
	if wide {
		c.out.p("var %s int64", r)
	} else {
		c.out.p("var %s %s", r, c.goType(t))
	}
	c.out.p("if %s {\n%s} else {\n%s}", cond.s, give(e.Args[1]), give(e.Args[2]))
	return val{s: r, prec: precPrimary, t: t, wide: wide, addr: true}
}

func (c *body) quantified(e *model.Quantified) val {
	name, start, test := "some", "false", "if %s {\n%s = true\nbreak\n}"
	if e.All {
		name, start, test = "all", "true", "if %s {\n%s = false\nbreak\n}"
	}
	r := c.names.local(name)
	c.out.p("%s := %s", r, start)
	c.iterate(e.Local, e.Values, e.Over, e, false, func() {
		if e.All {
			c.out.p(test, c.not(e.X).s, r)
		} else {
			c.out.p(test, c.value(e.X).s, r)
		}
	})
	return val{s: r, prec: precPrimary, t: e.T, addr: true}
}

// iterate composes a loop over the values of a type or the elements of a list.
// copied says that the list may change inside and must be copied before.
func (c *body) iterate(l *model.Local, values *model.Type, over model.Expr, at model.Expr, copied bool, inside func()) {
	x := c.names.local(l.Name)
	c.locals[l] = val{s: x, prec: precPrimary, t: l.Type, addr: true}
	block := func(head, first string) {
		body := c.inner(inside)
		if !mentions(body, x) { // Go wants variables to be used
			head = strings.Replace(strings.Replace(head, "for _, "+x+" := range", "for range", 1), "for "+x+" := range", "for range", 1)
			if strings.Contains(first, x+" :=") {
				first = strings.Replace(first, x+" :=", "_ =", 1)
			}
		}
		c.out.p("%s {\n%s%s}", head, first, body)
	}
	if values != nil {
		head, first := c.valuesLoop(x, values, at)
		block(head, first)
		return
	}
	t := over.Type()
	list := c.value(over)
	if copied || !list.addr {
		list = c.hoist(list, "list")
	}
	switch t.Kind {
	case model.KindArray:
		block(fmt.Sprintf("for _, %s := range %s", x, list.s), "")
	case model.KindSet:
		i := c.names.local("i")
		block(fmt.Sprintf("for %s := range %d", i, t.Elem.Count()),
			fmt.Sprintf("if uint64(%s)>>%s&1 == 0 {\ncontinue\n}\n%s := %s\n", list.s, i, x, c.fromIndex(i, t.Elem)))
	default:
		block(fmt.Sprintf("for _, %s := range %s.Items[:%s.Len]", x, list.s, list.s), "")
	}
}

// fromIndex makes a value of t from its number.
func (c *body) fromIndex(i string, t *model.Type) string {
	switch {
	case t.Kind == model.KindBool:
		return i + " != 0"
	case lowest(t) != 0:
		return fmt.Sprintf("%s(%s)", c.goType(t), plus(i, lowest(t)))
	}
	return fmt.Sprintf("%s(%s)", c.goType(t), i)
}

// valuesLoop gives the head of a loop over all values of a type.
func (c *body) valuesLoop(x string, t *model.Type, at model.Expr) (head, first string) {
	switch t.Kind {
	case model.KindBool:
		return fmt.Sprintf("for _, %s := range [2]bool{false, true}", x), ""
	case model.KindInt, model.KindNode, model.KindEnum:
		n := domain(t).hi - domain(t).lo + 1
		if lowest(t) == 0 && fits(t, n) {
			return fmt.Sprintf("for %s := range %s(%d)", x, c.goType(t), n), ""
		}
		i := c.names.local("i")
		return fmt.Sprintf("for %s := range %d", i, n), fmt.Sprintf("%s := %s\n", x, c.fromIndex(i, t))
	}
	c.g.fail(at.Pos(), "a loop over all values of %s is not supported in generated code", model.TypeString(t))
	return "", ""
}

// mentions says whether code uses a name: not as a member of something else or in a comment.
func mentions(code, name string) bool {
	if !strings.Contains(code, name) {
		return false
	}
	var sc scanner.Scanner
	sc.Init(token.NewFileSet().AddFile("", -1, len(code)), []byte(code), func(token.Position, string) {}, 0)
	before, found := token.ILLEGAL, false
	for {
		_, tok, lit := sc.Scan()
		switch {
		case found && (tok != token.COLON || before != token.LBRACE && before != token.COMMA):
			return true // and no key of a literal
		case tok == token.EOF:
			return false
		}
		if found = tok == token.IDENT && lit == name && before != token.PERIOD; !found {
			before = tok
		}
	}
}

func wordPattern(name string) *regexp.Regexp { return regexp.MustCompile(`\b` + name + `\b`) }
