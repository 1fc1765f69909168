package tla

import (
	"slices"
)

// values compiles an expression whose operands are all evaluated and that is no action.
func (c *compiler) values(n *node) compiled {
	switch n.op {
	case "filter", "map", "function", "CHOOSE":
		return c.binder(n)
	case "EXCEPT":
		return c.except(n)
	case "apply":
		return c.apply(n)
	case "record":
		return c.record(n)
	}
	x, l := c.operands(n.x)
	for i, e := range x {
		if e == nil {
			n.x[i].at.fail("a temporal formula as operand")
		}
	}
	at := n.at
	do := func(f func(v []Value) Value) compiled {
		return compiled{level: l, eval: func(fr *frame) Value {
			v := make([]Value, len(x))
			for i, e := range x {
				v[i] = e(fr)
			}
			return f(v)
		}}
	}
	ints := func(f func(a, b int) Value) compiled {
		return do(func(v []Value) Value { return f(asInt(v[0], at), asInt(v[1], at)) })
	}
	switch n.op {
	case "<<":
		return do(func(v []Value) Value { return sequence(v) })
	case "set":
		return do(func(v []Value) Value { return newSet(v) })
	case "field":
		return do(func(v []Value) Value { return asFunc(v[0], at).at(n.text) })
	case "=":
		return do(func(v []Value) Value { return equal(v[0], v[1]) })
	case "#":
		return do(func(v []Value) Value { return !equal(v[0], v[1]) })
	case "~":
		return do(func(v []Value) Value { return !asBool(v[0], at) })
	case "=>":
		return compiled{level: l, eval: func(f *frame) Value {
			return !asBool(x[0](f), at) || asBool(x[1](f), at)
		}}
	case "<":
		return ints(func(a, b int) Value { return a < b })
	case ">":
		return ints(func(a, b int) Value { return a > b })
	case "<=":
		return ints(func(a, b int) Value { return a <= b })
	case ">=":
		return ints(func(a, b int) Value { return a >= b })
	case "+":
		return ints(func(a, b int) Value { return small(a+b, at) })
	case "-":
		return ints(func(a, b int) Value { return small(a-b, at) })
	case "*":
		return ints(func(a, b int) Value { return small(a*b, at) })
	case "negative":
		return do(func(v []Value) Value { return small(-asInt(v[0], at), at) })
	case "\\div", "%":
		return ints(func(a, b int) Value {
			if b <= 0 { // TLC divides by what is greater than 0 alone
				stopf("line %d: %d is divided by %d", at.line, a, b)
			}
			r := ((a % b) + b) % b
			if n.op == "%" {
				return r
			}
			return (a - r) / b
		})
	case "..":
		return ints(func(a, b int) Value { return interval(a, b) })
	case "\\in":
		return do(func(v []Value) Value { return asSet(v[1], at).has(v[0]) })
	case "\\notin":
		return do(func(v []Value) Value { return !asSet(v[1], at).has(v[0]) })
	}
	return c.more(n, do)
}

// small stops where a number has more than 31 bits, as TLC does.
func small(v int, at token) Value {
	if v != int(int32(v)) {
		stopf("line %d: the number %d has more than 31 bits", at.line, v)
	}
	return v
}

// more compiles operators on sets, sequences and functions.
func (c *compiler) more(n *node, do func(func(v []Value) Value) compiled) compiled {
	at := n.at
	sets := func(f func(a, b *Set) Value) compiled {
		return do(func(v []Value) Value { return f(asSet(v[0], at), asSet(v[1], at)) })
	}
	switch n.op {
	case "\\subseteq":
		return sets(func(a, b *Set) Value {
			return !slices.ContainsFunc(a.elems,
				func(v Value) bool { return !b.has(v) })
		})
	case "\\cup":
		return sets(func(a, b *Set) Value { return newSet(slices.Concat(a.elems, b.elems)) })
	case "\\cap":
		return sets(func(a, b *Set) Value { return kept(a, b.has) })
	case "\\":
		return sets(func(a, b *Set) Value { return kept(a, func(v Value) bool { return !b.has(v) }) })
	case "\\X":
		return sets(func(a, b *Set) Value {
			var list []Value
			for _, x := range a.elems {
				for _, y := range b.elems {
					list = append(list, sequence([]Value{x, y}))
				}
			}
			return newSet(list)
		})
	case "UNION":
		return do(func(v []Value) Value {
			var list []Value
			for _, s := range asSet(v[0], at).elems {
				list = append(list, asSet(s, at).elems...)
			}
			return newSet(list)
		})
	case "DOMAIN":
		return do(func(v []Value) Value { return asFunc(v[0], at).domain() })
	case "\\o":
		return do(func(v []Value) Value {
			return sequence(slices.Concat(asSequence(v[0], at), asSequence(v[1], at)))
		})
	case ":>":
		return do(func(v []Value) Value { return newFunc(v[:1], v[1:]) })
	case "@@":
		return do(func(v []Value) Value { return joined(asFunc(v[0], at), asFunc(v[1], at)) })
	}
	n.at.fail("%s is not known", n.op)
	return compiled{}
}

func kept(s *Set, is func(Value) bool) *Set {
	out := &Set{}
	for _, v := range s.elems {
		if is(v) {
			out.elems = append(out.elems, v)
		}
	}
	return out
}

// joined is f @@ g: where both have a value, it is that of f.
func joined(f, g *Func) *Func {
	keys := newSet(slices.Concat(f.domain().elems, g.domain().elems)).elems
	values := make([]Value, len(keys))
	for i, k := range keys {
		if at := f.find(k); at >= 0 {
			values[i] = f.values[at]
		} else {
			values[i] = g.at(k)
		}
	}
	return newFunc(keys, values)
}

// binder compiles what binds a name over a set to values.
func (c *compiler) binder(n *node) compiled {
	set := below(c.expr(n.x[0]), state, n.x[0].at, "a set")
	b := c.bind(n.bound[0])
	body := below(c.expr(n.x[1]), state, n.x[1].at, "what is said of each element")
	c.drop(n.bound[0])
	slot := b.slot
	x := compiled{level: max(set.level, body.level)}
	each := func(f *frame, do func(v, is Value) bool) {
		for _, v := range asSet(set.eval(f), n.at).elems {
			f.slots[slot] = v
			if !do(v, body.eval(f)) {
				return
			}
		}
	}
	switch n.op {
	case "filter":
		x.eval = func(f *frame) Value {
			out := &Set{}
			each(f, func(v, is Value) bool {
				if asBool(is, n.at) {
					out.elems = append(out.elems, v)
				}
				return true
			})
			return out
		}
	case "map":
		x.eval = func(f *frame) Value {
			var list []Value
			each(f, func(_, is Value) bool { list = append(list, is); return true })
			return newSet(list)
		}
	case "function":
		x.eval = func(f *frame) Value {
			var keys, list []Value
			each(f, func(v, is Value) bool { keys, list = append(keys, v), append(list, is); return true })
			return newFunc(keys, list)
		}
	default:
		x.eval = func(f *frame) Value {
			var hit Value
			each(f, func(v, is Value) bool {
				if asBool(is, n.at) {
					hit = v
				}
				return hit == nil
			})
			if hit == nil {
				stopf("line %d: CHOOSE of nothing", n.at.line)
			}
			return hit
		}
	}
	return x
}

// except is [f EXCEPT !.a[b] = e, ...], one change after the other.
func (c *compiler) except(n *node) compiled {
	of := below(c.expr(n.x[0]), state, n.x[0].at, "a function")
	l := of.level
	type change struct {
		path []eval
		to   eval
	}
	var changes []change
	for _, x := range n.x[1:] {
		list, al := c.operands(x.x)
		if al > state {
			x.at.fail("an action in an EXCEPT")
		}
		l = max(l, al)
		changes = append(changes, change{list[:len(list)-1], list[len(list)-1]})
	}
	return compiled{level: l, eval: func(f *frame) Value {
		v := of.eval(f)
		for _, ch := range changes {
			path := make([]Value, len(ch.path))
			for i, e := range ch.path {
				path[i] = e(f)
			}
			v = with(v, path, func(old Value) Value {
				f.w.at = append(f.w.at, old)
				now := ch.to(f)
				f.w.at = f.w.at[:len(f.w.at)-1]
				return now
			})
		}
		return v
	}}
}

// apply is f[x], of a function or of one that a LET defines.
func (c *compiler) apply(n *node) compiled {
	args, l := c.operands(n.x[1:])
	if len(args) != 1 {
		n.at.fail("a function of several arguments")
	}
	arg := args[0]
	if fn := n.x[0]; fn.op == "name" {
		if b := c.find(fn.text); b != nil && b.kind == isFunction {
			hops, slot := b.hops, b.slot
			return compiled{level: max(l, b.level), eval: func(f *frame) Value {
				o := f.slot(hops, slot).(*closure)
				in := &frame{up: o.f, w: f.w, slots: make([]any, o.slots)}
				in.slots[0] = arg(f)
				return o.body(in)
			}}
		}
	}
	fn := below(c.expr(n.x[0]), action, n.at, "a function")
	return compiled{level: max(l, fn.level), eval: func(f *frame) Value {
		return asFunc(fn.eval(f), n.at).at(arg(f))
	}}
}

// record is [a |-> x, b |-> y].
func (c *compiler) record(n *node) compiled {
	x, l := c.operands(n.x)
	var keys []Value
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compare(n.bound[a].text, n.bound[b].text) })
	for _, i := range order {
		keys = append(keys, n.bound[i].text)
	}
	return compiled{level: l, eval: func(f *frame) Value {
		values := make([]Value, len(x))
		for k, i := range order {
			values[k] = x[i](f)
		}
		return &Func{keys: keys, values: values}
	}}
}

// standard compiles the operators of the standard modules.
func (c *compiler) standard(n *node) compiled {
	at := n.at
	if n.text == "SelectSeq" {
		list := below(c.expr(n.x[0]), state, at, "a sequence")
		arg, l := c.operatorArgument(n.x[1], 1)
		return compiled{level: max(l, list.level), eval: func(f *frame) Value {
			o := arg(f).(*closure)
			var out []Value
			for _, v := range asSequence(list.eval(f), at) {
				in := &frame{up: o.f, w: f.w, slots: make([]any, o.slots)}
				if in.slots[0] = v; asBool(o.body(in), at) {
					out = append(out, v)
				}
			}
			return sequence(out)
		}}
	}
	x, l := c.operands(n.x)
	return compiled{level: l, eval: func(f *frame) Value {
		v := x[0](f)
		switch n.text {
		case "Len":
			return len(asSequence(v, at))
		case "Cardinality":
			return len(asSet(v, at).elems)
		case "Append":
			return sequence(append(slices.Clone(asSequence(v, at)), x[1](f)))
		case "SubSeq":
			list, lo, hi := asSequence(v, at), asInt(x[1](f), at), asInt(x[2](f), at)
			if lo > hi {
				return sequence(nil)
			}
			if lo < 1 || hi > len(list) {
				stopf("line %d: SubSeq from %d to %d of %d", at.line, lo, hi, len(list))
			}
			return sequence(slices.Clone(list[lo-1 : hi]))
		}
		list := asSequence(v, at)
		if len(list) == 0 {
			stopf("line %d: %s of the empty sequence", at.line, n.text)
		}
		if n.text == "Head" {
			return list[0]
		}
		return sequence(list[1:])
	}}
}
