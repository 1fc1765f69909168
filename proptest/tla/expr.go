package tla

import (
	"slices"
)

// expr compiles an expression.
func (c *compiler) expr(n *node) compiled {
	switch n.op {
	case "number":
		v := Value(n.n)
		return compiled{eval: func(*frame) Value { return v }}
	case "string":
		v := Value(n.text)
		return compiled{eval: func(*frame) Value { return v }}
	case "TRUE", "FALSE":
		v := Value(n.op == "TRUE")
		return compiled{eval: func(*frame) Value { return v }}
	case "BOOLEAN":
		v := Value(&Set{[]Value{false, true}})
		return compiled{eval: func(*frame) Value { return v }}
	case "()":
		return c.expr(n.x[0])
	case "name":
		return c.name(n)
	case "call":
		return c.call(n)
	case "/\\", "\\/":
		return c.junction(n)
	case "IF":
		return c.choice(n)
	case "CASE":
		return c.cases(n)
	case "LET":
		return c.let(n)
	case "\\A", "\\E":
		return c.quantifier(n)
	case "'":
		return c.primed(n)
	case "UNCHANGED":
		return c.unchanged(n)
	case "ENABLED":
		return c.enabled(n)
	case "[]", "<>", "~>", "box", "WF_", "SF_":
		return c.temporal(n)
	case "@":
		return compiled{level: state, eval: func(f *frame) Value {
			if len(f.w.at) == 0 {
				stopf("line %d: @ outside of an EXCEPT", n.at.line)
			}
			return f.w.at[len(f.w.at)-1]
		}}
	case "=":
		return c.equation(n)
	case "LAMBDA":
		n.at.fail("a LAMBDA that is no argument")
	}
	return c.values(n)
}

// operands compiles expressions that must be no actions, and gives the highest of their levels.
func (c *compiler) operands(list []*node) (out []eval, l level) {
	for _, x := range list {
		e := below(c.expr(x), action, x.at, "an operand")
		l = max(l, e.level)
		out = append(out, e.eval)
	}
	return out, l
}

func (c *compiler) name(n *node) compiled {
	if b := c.find(n.text); b != nil {
		hops, slot := b.hops, b.slot
		switch b.kind {
		case isOperator, isFunction:
			if b.args != 0 || b.kind == isFunction {
				n.at.fail("%s without its arguments", n.text)
			}
		case isValue:
			return compiled{level: b.level, eval: func(f *frame) Value { return f.slot(hops, slot) }}
		}
		return compiled{level: b.level, eval: func(f *frame) Value { return force(f.slot(hops, slot)) }}
	}
	if i := slices.Index(c.spec.vars, n.text); i >= 0 {
		return compiled{level: state, eval: func(f *frame) Value { return f.w.now[i] }}
	}
	op := c.operator(n.at, n.text)
	if op == nil {
		n.at.fail("%s is not declared", n.text)
	}
	if op.params > 0 {
		n.at.fail("%s without its arguments", n.text)
	}
	return c.applied(op, nil)
}

// argument makes what a parameter is bound to.
type argument func(f *frame) any

// applied is the application of an operator of the module.
func (c *compiler) applied(op *operator, args []argument) compiled {
	enter := func(f *frame) *frame {
		n := &frame{w: f.w, slots: make([]any, max(op.slots, len(args)))}
		for i, a := range args {
			n.slots[i] = a(f)
		}
		return n
	}
	l := op.level
	if !op.done {
		l = state // recursive
	}
	x := compiled{level: l, eval: func(f *frame) Value { return op.eval(enter(f)) }}
	if op.act != nil {
		x.act = func(f *frame, then func() bool) bool { return op.act(enter(f), then) }
	}
	return x
}

// call is the application of an operator to arguments.
func (c *compiler) call(n *node) compiled {
	if b, ok := builtin[n.text]; ok {
		if len(n.x) != b.args {
			n.at.fail("%s takes %d arguments", n.text, b.args)
		}
		return c.standard(n)
	}
	if b := c.find(n.text); b != nil {
		if b.kind != isOperator || b.args != len(n.x) {
			n.at.fail("%s with %d arguments", n.text, len(n.x))
		}
		args, l := c.thunks(n.x)
		hops, slot := b.hops, b.slot
		return compiled{level: max(l, b.level), eval: func(f *frame) Value {
			o := f.slot(hops, slot).(*closure)
			in := &frame{up: o.f, w: f.w, slots: make([]any, o.slots)}
			for i, a := range args {
				in.slots[i] = a(f)
			}
			return o.body(in)
		}}
	}
	op := c.operator(n.at, n.text)
	if op == nil {
		n.at.fail("%s is not declared", n.text)
	}
	if op.params != len(n.x) {
		n.at.fail("%s takes %d arguments", n.text, op.params)
	}
	var args []argument
	l := constant
	for i, x := range n.x {
		if want := op.definition.params[i].args; want > 0 {
			a, al := c.operatorArgument(x, want)
			args, l = append(args, a), max(l, al)
			continue
		}
		list, al := c.thunks([]*node{x})
		args, l = append(args, list[0]), max(l, al)
	}
	x := c.applied(op, args)
	x.level = max(x.level, l)
	return x
}

// thunks makes arguments that are evaluated when they are asked for.
func (c *compiler) thunks(list []*node) (args []argument, l level) {
	for _, x := range list {
		e := below(c.expr(x), action, x.at, "an argument")
		l = max(l, e.level)
		run := e.eval
		switch x.op {
		case "number", "string", "TRUE", "FALSE":
			v := run(nil)
			args = append(args, func(*frame) any { return v })
		default:
			args = append(args, func(f *frame) any { return &thunk{f: f, e: run} })
		}
	}
	return args, l
}

// operatorArgument is a LAMBDA, or the name of an operator.
func (c *compiler) operatorArgument(x *node, want int) (argument, level) {
	if x.op == "LAMBDA" {
		if len(x.bound) != want {
			x.at.fail("a LAMBDA of %d parameters instead of %d", len(x.bound), want)
		}
		body, slots, l := c.lambda(x.bound, x.x[0])
		return func(f *frame) any { return &closure{f: f, body: body, slots: slots, params: want} }, l
	}
	if x.op != "name" {
		x.at.fail("no operator")
	}
	if b := c.find(x.text); b != nil {
		if b.kind != isOperator || b.args != want {
			x.at.fail("%s is no operator of %d arguments", x.text, want)
		}
		hops, slot := b.hops, b.slot
		return func(f *frame) any { return f.slot(hops, slot) }, b.level
	}
	op := c.operator(x.at, x.text)
	if op == nil || op.params != want {
		x.at.fail("%s is no operator of %d arguments", x.text, want)
	}
	return func(f *frame) any {
		return &closure{f: f, body: func(in *frame) Value { return op.eval(in) }, slots: max(op.slots, want),
			params: want}
	}, op.level
}

// lambda compiles a body with parameters, in a frame of its own.
func (c *compiler) lambda(params []token, x *node) (body eval, slots int, l level) {
	s := &scope{names: map[string]*binding{}}
	c.scopes = append(c.scopes, s)
	for _, p := range params {
		c.bind(p).kind = isThunk
	}
	e := below(c.expr(x), state, x.at, "the body of an operator that is an argument")
	c.scopes = c.scopes[:len(c.scopes)-1]
	return e.eval, s.slots, e.level
}

// junction is a list of conditions, which are evaluated from the first on.
func (c *compiler) junction(n *node) compiled {
	var list []compiled
	x := compiled{}
	acts := false
	for _, o := range n.x {
		e := c.expr(o)
		x.level = max(x.level, e.level)
		acts = acts || e.act != nil
		list = append(list, e)
	}
	and := n.op == "/\\"
	x.eval = func(f *frame) Value {
		for i, e := range list {
			if asBool(e.eval(f), n.x[i].at) != and {
				return !and
			}
		}
		return and
	}
	if !acts {
		return x
	}
	var steps []act
	for i, e := range list {
		steps = append(steps, test(e, n.x[i].at))
	}
	if !and {
		x.act = func(f *frame, then func() bool) bool {
			for _, s := range steps {
				if !s(f, then) {
					return false
				}
			}
			return true
		}
		return x
	}
	x.act = func(f *frame, then func() bool) bool { return allOf(steps, f, then) }
	return x
}

// allOf takes the steps that all of several actions allow.
func allOf(steps []act, f *frame, then func() bool) bool {
	if len(steps) == 0 {
		return then()
	}
	return steps[0](f, func() bool { return allOf(steps[1:], f, then) })
}

func (c *compiler) choice(n *node) compiled {
	cond := below(c.expr(n.x[0]), state, n.x[0].at, "a condition")
	a, b := c.expr(n.x[1]), c.expr(n.x[2])
	x := compiled{level: max(cond.level, a.level, b.level)}
	x.eval = func(f *frame) Value {
		if asBool(cond.eval(f), n.at) {
			return a.eval(f)
		}
		return b.eval(f)
	}
	if a.act != nil || b.act != nil {
		yes, no := test(a, n.x[1].at), test(b, n.x[2].at)
		x.act = func(f *frame, then func() bool) bool {
			if asBool(cond.eval(f), n.at) {
				return yes(f, then)
			}
			return no(f, then)
		}
	}
	return x
}

// cases is CASE. If two of its conditions held, what it means would be open: so all are evaluated.
func (c *compiler) cases(n *node) compiled {
	all, l := c.operands(n.x)
	for _, x := range all {
		if x == nil {
			n.at.fail("an action in a CASE")
		}
	}
	pairs := len(n.x) / 2
	return compiled{level: l, eval: func(f *frame) Value {
		hit := -1
		for i := range pairs {
			if asBool(all[2*i](f), n.x[2*i].at) {
				if hit >= 0 {
					stopf("line %d: two conditions of a CASE hold", n.at.line)
				}
				hit = i
			}
		}
		switch {
		case hit >= 0:
			return all[2*hit+1](f)
		case len(n.x)%2 == 1:
			return all[len(all)-1](f)
		}
		stopf("line %d: no condition of a CASE holds", n.at.line)
		return nil
	}}
}

// let is LET: values and operators, and functions that may use themselves.
func (c *compiler) let(n *node) compiled {
	var binds []func(f *frame)
	l := constant
	for _, d := range n.defs {
		b, bl := c.define(d)
		binds, l = append(binds, b), max(l, bl)
	}
	body := c.expr(n.x[0])
	for _, d := range slices.Backward(n.defs) {
		c.drop(d.name)
	}
	begin := func(f *frame) {
		for _, b := range binds {
			b(f)
		}
	}
	x := compiled{level: max(l, body.level), eval: func(f *frame) Value { begin(f); return body.eval(f) }}
	if body.act != nil {
		x.act = func(f *frame, then func() bool) bool { begin(f); return body.act(f, then) }
	}
	return x
}

// define compiles one definition of a LET.
func (c *compiler) define(d *definition) (func(f *frame), level) {
	switch {
	case d.index != nil:
		set := below(c.expr(d.set), state, d.name, "a domain")
		b := c.bind(d.name)
		b.kind, b.args, b.level = isFunction, 1, set.level
		body, slots, l := c.lambda([]token{*d.index}, d.body)
		slot := b.slot
		b.level = max(l, set.level)
		return func(f *frame) {
			f.slots[slot] = &closure{f: f, slots: slots, params: 1, body: func(in *frame) Value {
				if k := force(in.slots[0]); !asSet(set.eval(f), d.name).has(k) {
					stopf("line %d: %s applied to %s, which is not in its domain", d.name.line, d.name.text, Text(k))
				}
				return body(in)
			}}
		}, b.level
	case len(d.params) > 0:
		var params []token
		for _, p := range d.params {
			if p.args > 0 {
				p.name.fail("an operator as parameter of one in a LET")
			}
			params = append(params, p.name)
		}
		body, slots, l := c.lambda(params, d.body)
		b := c.bind(d.name)
		b.kind, b.args, b.level = isOperator, len(params), l
		slot := b.slot
		return func(f *frame) {
			f.slots[slot] = &closure{f: f, body: body, slots: slots, params: len(params)}
		}, l
	}
	e := below(c.expr(d.body), state, d.name, "what a LET defines")
	b := c.bind(d.name)
	b.kind, b.level = isThunk, e.level
	slot := b.slot
	return func(f *frame) { f.slots[slot] = &thunk{f: f, e: e.eval} }, e.level
}

// quantifier is \A or \E over a finite set, in its order.
func (c *compiler) quantifier(n *node) compiled {
	set := below(c.expr(n.x[0]), state, n.x[0].at, "a set")
	b := c.bind(n.bound[0])
	body := c.expr(n.x[1])
	c.drop(n.bound[0])
	slot := b.slot
	all := n.op == "\\A"
	x := compiled{level: max(set.level, body.level)}
	if body.level == temporal {
		return compiled{level: temporal}
	}
	x.eval = func(f *frame) Value {
		for _, v := range asSet(set.eval(f), n.at).elems {
			f.w.try()
			if f.slots[slot] = v; asBool(body.eval(f), n.at) != all {
				return !all
			}
		}
		return all
	}
	if body.act == nil {
		return x
	}
	if all {
		n.at.fail("an action under \\A")
	}
	x.act = func(f *frame, then func() bool) bool {
		for _, v := range asSet(set.eval(f), n.at).elems {
			f.w.try()
			if f.slots[slot] = v; !body.act(f, then) {
				return false
			}
		}
		return true
	}
	return x
}

// notYet stands for the next value of a variable of this name, where it has none yet: it is of no kind.
type notYet string

// primed is a variable in the next configuration, or what an operator of configurations is there, once all that it
// looks at is known.
func (c *compiler) primed(n *node) compiled {
	i := c.variable(n.x[0])
	if i < 0 {
		if op := c.spec.ops[n.x[0].text]; n.x[0].op != "name" || op == nil || op.params > 0 {
			n.at.fail("only variables and operators without parameters are primed")
		}
		e := below(c.expr(n.x[0]), state, n.at, "what is primed")
		return compiled{level: action, eval: func(f *frame) Value {
			old := f.w.now
			f.w.now = slices.Clone(f.w.next)
			for k, v := range f.w.now {
				if v == nil {
					f.w.now[k] = notYet(c.spec.vars[k])
				}
			}
			v := e.eval(f)
			f.w.now = old
			return v
		}}
	}
	return compiled{level: action, eval: func(f *frame) Value {
		if f.w.next == nil || f.w.next[i] == nil {
			stopf("line %d: %s' is not known yet", n.at.line, c.spec.vars[i])
		}
		return f.w.next[i]
	}}
}

func (c *compiler) variable(n *node) int {
	if n.op != "name" || c.find(n.text) != nil {
		return -1
	}
	return slices.Index(c.spec.vars, n.text)
}

// equation is a = b, or an assignment to the next value of a variable.
func (c *compiler) equation(n *node) compiled {
	if n.x[0].op != "'" {
		return c.values(n)
	}
	c.primed(n.x[0])
	i := c.variable(n.x[0].x[0])
	e := c.expr(n.x[1])
	if e.act != nil {
		n.x[1].at.fail("the next value of a variable of a level that cannot stand here")
	}
	return compiled{level: action, eval: notAlone(n), act: func(f *frame, then func() bool) bool {
		return c.assign(f, n.at, i, e.eval(f), then)
	}}
}

// assign gives a variable its next value, once.
func (c *compiler) assign(f *frame, at token, i int, v Value, then func() bool) bool {
	if f.w.next[i] != nil {
		stopf("line %d: %s' is given a value twice", at.line, c.spec.vars[i])
	}
	f.w.next[i] = v
	more := then()
	f.w.next[i] = nil
	return more
}

func notAlone(n *node) eval {
	return func(*frame) Value {
		stopf("line %d: an action where a value is needed", n.at.line)
		return nil
	}
}

// unchanged is UNCHANGED <<x, y>>.
func (c *compiler) unchanged(n *node) compiled {
	list := n.x[0].x
	if n.x[0].op != "<<" {
		list = []*node{n.x[0]}
	}
	var steps []act
	for _, x := range list {
		i := c.variable(x)
		if i < 0 {
			x.at.fail("UNCHANGED of what is no variable")
		}
		steps = append(steps, func(f *frame, then func() bool) bool { return c.assign(f, n.at, i, f.w.now[i], then) })
	}
	return compiled{level: action, eval: notAlone(n),
		act: func(f *frame, then func() bool) bool { return allOf(steps, f, then) }}
}

// enabled is whether an action allows a step.
func (c *compiler) enabled(n *node) compiled {
	e := c.expr(n.x[0])
	if e.act == nil || e.level != action {
		n.at.fail("ENABLED of what is no action")
	}
	return compiled{level: state, eval: func(f *frame) Value {
		old := f.w.next
		f.w.next = make([]Value, len(f.w.now))
		found := false
		e.act(f, func() bool { found = true; return false })
		f.w.next = old
		return found
	}}
}

// temporal checks the levels of temporal formulas; [Graph.Violated] evaluates some.
func (c *compiler) temporal(n *node) compiled {
	switch n.op {
	case "box", "WF_", "SF_":
		if e := c.expr(n.x[0]); e.level > action {
			n.at.fail("an action is needed")
		}
		if op := c.spec.ops[n.text]; op == nil || op.params > 0 || c.operator(n.at, n.text).level != state {
			n.at.fail("%s is no state function", n.text)
		}
		return compiled{level: temporal}
	}
	for _, x := range n.x {
		e := c.expr(x)
		if e.level == action {
			n.at.fail("an action in a temporal formula")
		}
	}
	return compiled{level: temporal}
}
