package second

import (
	"slices"

	"github.com/parley-go/parley/gen/syntax"
)

// env is what names mean in an expression. A role's expression has a machine, a claim's has a
// configuration; a constant has neither.
type env struct {
	u      *unit
	r      *role
	m      *machine
	self   int
	sender int              // -1: there is none
	msg    map[string]Value // the fields of the event; nil where there are none
	locals *scope
	claim  *view  // for claims
	rule   *rules // for rules of the environment: len(out) and len(in)
}

type scope struct {
	name string
	v    Value
	next *scope
}

func (e *env) with(name string, v Value) *env {
	out := *e
	out.locals = &scope{name, v, e.locals}
	return &out
}

// partRef is a part (or a monitor) as a value: its states and variables can be selected.
type partRef struct{ m *machine }

// keyed is a part with keys that are still to come.
type keyed struct {
	m *machine
	p *part
}

func number(v Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case instance:
		return int64(v)
	}
	if v == nil {
		faultf("none is used as a number")
	}
	panic(unsupported("a number that is " + text(v)))
}

func truth(v Value) bool {
	b, ok := v.(bool)
	if !ok {
		faultf("not a truth value")
	}
	return b
}

// eval evaluates an expression whose type nobody asks for.
func (e *env) eval(n syntax.Node) Value {
	switch n := n.(type) {
	case *syntax.Number:
		return n.Value
	case *syntax.String:
		return Text(n.Value)
	case *syntax.Ident:
		return e.name(n.Name)
	case *syntax.Unary:
		if n.Op == "!" {
			return !truth(e.eval(n.X))
		}
		return -number(e.eval(n.X))
	case *syntax.Binary:
		return e.binary(n)
	case *syntax.Select:
		return e.sel(n)
	case *syntax.Index:
		return e.index(n)
	case *syntax.Call:
		return e.call(n)
	case *syntax.List:
		out := List{}
		for _, x := range n.Elems {
			out = append(out, e.eval(x))
		}
		return out
	case *syntax.Literal:
		return e.record(n)
	case *syntax.Build:
		return e.build(n, nil)
	case *syntax.Quantified:
		return e.quantified(n)
	case *syntax.Range:
		return List(ints(number(e.eval(n.Lo)), number(e.eval(n.Hi))).values())
	}
	panic(unsupported("the expression " + syntax.Source(n)))
}

// enumName is a name of an enumeration, if n can be one of type t (nil: of any).
func (e *env) enumName(n syntax.Node, t *Type) (Value, bool) {
	id, ok := n.(*syntax.Ident)
	if !ok || e.local(id.Name) {
		return nil, false
	}
	if t == nil {
		t = e.u.enums[id.Name]
	}
	if t == nil || t.kind != kEnum {
		return nil, false
	}
	for _, x := range t.names {
		if x.S == id.Name {
			return x, true
		}
	}
	return nil, false
}

// local reports whether a name is a variable, parameter or field here, rather than one of an enumeration.
func (e *env) local(name string) bool {
	for s := e.locals; s != nil; s = s.next {
		if s.name == name {
			return true
		}
	}
	if e.m != nil && e.m.r.variable(name) {
		return true
	}
	_, is := e.msg[name]
	return is
}

func (r *role) variable(name string) bool {
	named := func(v variable) bool { return v.name == name }
	return slices.ContainsFunc(r.vars, named) || slices.ContainsFunc(r.params, named)
}

// typed evaluates an expression of which a value of t is wanted. The value need not fit yet.
func (e *env) typed(n syntax.Node, t *Type) Value {
	for t != nil && t.kind == kOptional {
		t = t.elem
	}
	if t == nil {
		return e.eval(n)
	}
	if v, ok := e.enumName(n, t); ok {
		return v
	}
	switch x := n.(type) {
	case *syntax.List:
		if t.kind == kList || t.kind == kSet {
			out := List{}
			for _, el := range x.Elems {
				out = append(out, e.typed(el, t.elem))
			}
			return out
		}
	case *syntax.Build:
		return e.build(x, t)
	case *syntax.Call:
		switch x.Fn {
		case "if":
			if truth(e.eval(x.Args[0])) {
				return e.typed(x.Args[1], t)
			}
			return e.typed(x.Args[2], t)
		case "append", "with", "without":
			if t.kind == kList || t.kind == kSet {
				return e.collect(x, t.elem)
			}
		}
	}
	return e.eval(n)
}

func (e *env) name(name string) Value {
	for s := e.locals; s != nil; s = s.next {
		if s.name == name {
			return s.v
		}
	}
	if e.claim != nil {
		if v, ok := e.claim.name(name); ok {
			return v
		}
	}
	if e.m != nil {
		if v, ok := e.m.value(name); ok {
			return v
		}
	}
	if v, ok := e.msg[name]; ok {
		return v
	}
	switch name {
	case "true":
		return true
	case "false":
		return false
	case "none":
		return nil
	case "self":
		return int64(e.self)
	case "sender":
		if e.sender >= 0 {
			return int64(e.sender)
		}
	case "parties":
		return int64(e.u.parties)
	}
	if n, ok := e.u.constant(name); ok {
		return n
	}
	if t := e.u.enums[name]; t != nil {
		for _, x := range t.names {
			if x.S == name {
				return x
			}
		}
		return Name{name, -1} // a name that the domain leaves out
	}
	if _, twice := e.u.enums[name]; twice {
		return Name{name, -1}
	}
	panic(unsupported("the name " + name))
}

func (e *env) binary(n *syntax.Binary) Value {
	switch n.Op {
	case "&&":
		return truth(e.eval(n.X)) && truth(e.eval(n.Y))
	case "||":
		return truth(e.eval(n.X)) || truth(e.eval(n.Y))
	case "=>":
		return !truth(e.eval(n.X)) || truth(e.eval(n.Y))
	case "==", "!=":
		a, b := e.pair(n.X, n.Y)
		return equal(a, b) == (n.Op == "==")
	case "in":
		return e.in(n.X, n.Y)
	}
	a, b := e.eval(n.X), e.eval(n.Y)
	switch n.Op {
	case "<", "<=", ">", ">=":
		if a == nil || b == nil {
			faultf("none is compared")
		}
		x, y := order(a), order(b)
		return n.Op[0] == '<' && x < y || n.Op[0] == '>' && x > y || len(n.Op) == 2 && x == y
	}
	x, y := number(a), number(b)
	switch n.Op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 {
		faultf("division by zero")
	}
	if n.Op == "/" {
		return x / y
	}
	return x % y
}

// pair evaluates two values that are compared. A name that could be a state is that of the enumeration
// if the other value is one.
func (e *env) pair(x, y syntax.Node) (Value, Value) {
	if v, ok := e.enumName(x, nil); ok && e.isEnum(y) {
		return v, e.eval(y)
	}
	if v, ok := e.enumName(y, nil); ok && e.isEnum(x) {
		return e.eval(x), v
	}
	return e.eval(x), e.eval(y)
}

func (e *env) isEnum(n syntax.Node) bool {
	v := e.eval(n)
	_, is := v.(Name)
	return is || v == nil
}

func (e *env) in(x, y syntax.Node) Value {
	over := e.eval(y)
	v := e.eval(x)
	switch over := over.(type) {
	case List:
		return has(over, v)
	case Set:
		return has(over, v)
	case *Array:
		return over.V[over.T.place(v)] != nil
	case group:
		for _, i := range over.all {
			if int64(i) == number(v) {
				return true
			}
		}
		return false
	}
	panic(unsupported("in " + syntax.Source(y)))
}

func (e *env) sel(n *syntax.Select) Value {
	if id, ok := n.X.(*syntax.Ident); ok {
		if id.Name == "msg" {
			if v, ok := e.msg[n.Name]; ok {
				return v
			}
		}
		if names := e.u.declared(id.Name); names != nil {
			for _, x := range names {
				if x.S == n.Name {
					return x
				}
			}
		}
	}
	switch x := e.eval(n.X).(type) {
	case *Record:
		if i := x.T.fieldAt(n.Name); i >= 0 {
			return x.V[i]
		}
	case partRef:
		if v, ok := x.m.value(n.Name); ok {
			return v
		}
	case instance:
		if v, ok := e.claim.of(x, n.Name); ok {
			return v
		}
	case nil:
		faultf("none has no %s", n.Name)
	}
	panic(unsupported(syntax.Source(n)))
}

func (e *env) index(n *syntax.Index) Value {
	x := e.eval(n.X)
	switch x := x.(type) {
	case keyed:
		var keys []Value
		for i, a := range n.Args {
			keys = append(keys, x.p.keys[i].t.fit(e.typed(a, x.p.keys[i].t)))
		}
		return partRef{x.m.part(x.p, keys)}
	case timerRef:
		var keys []Value
		for i, a := range n.Args {
			keys = append(keys, x.t.keys[i].t.fit(e.typed(a, x.t.keys[i].t)))
		}
		return x.m.armed(keyText(x.t.name, keys))
	case group:
		i := number(e.eval(n.Args[0])) - x.lo
		if i < 0 || i >= int64(len(x.all)) {
			panic(unsupported(syntax.Source(n)))
		}
		return x.all[i]
	case *Array:
		return x.V[x.T.place(e.typed(n.Args[0], x.T.key))]
	case List:
		i := number(e.eval(n.Args[0]))
		if i < 0 || i >= int64(len(x)) {
			faultf("index %d of a list of %d", i, len(x))
		}
		return x[i]
	case nil:
		faultf("none has no elements")
	}
	panic(unsupported(syntax.Source(n)))
}

func (e *env) record(n *syntax.Literal) Value {
	id, ok := n.X.(*syntax.Ident)
	if !ok {
		panic(unsupported(syntax.Source(n)))
	}
	t := e.u.named(id.Name)
	r := &Record{T: t, V: make([]Value, len(t.fields))}
	for _, f := range n.Fields {
		i := t.fieldAt(f.Name)
		r.V[i] = t.fields[i].t.fit(e.typed(f.Value, t.fields[i].t))
	}
	return r
}

// over returns what a loop or quantifier goes through.
func (e *env) over(n syntax.Node) []Value {
	if id, ok := n.(*syntax.Ident); ok && !e.local(id.Name) {
		known := false
		if e.claim != nil {
			_, known = e.claim.name(id.Name)
		}
		if e.m != nil && !known {
			_, known = e.m.value(id.Name)
		}
		if _, ok := e.msg[id.Name]; ok {
			known = true
		}
		if !known {
			return e.u.named(id.Name).values()
		}
	}
	switch x := e.eval(n).(type) {
	case List:
		return x
	case Set:
		return x
	case group:
		var out []Value
		for _, i := range x.all {
			out = append(out, i)
		}
		return out
	case *Array:
		var out []Value
		for i, k := range x.T.key.values() {
			if x.V[i] != nil {
				out = append(out, k)
			}
		}
		return out
	case nil:
		faultf("none has no elements")
	}
	panic(unsupported("going through " + syntax.Source(n)))
}

func (e *env) build(n *syntax.Build, t *Type) Value {
	var elem *Type
	if t != nil {
		elem = t.elem
	}
	if t != nil && t.kind == kArray {
		out := t.zero().(*Array)
		for i := range out.V {
			out.V[i] = nil // a map's other keys get none
		}
		for _, v := range e.over(n.Over) {
			in := e.with(n.Var, v)
			if n.If == nil || truth(in.eval(n.If)) {
				out.V[t.place(v)] = in.typed(n.Elem, elem)
			}
		}
		for i := range out.V {
			out.V[i] = elem.fit(out.V[i])
		}
		return out
	}
	out := List{}
	for _, v := range e.over(n.Over) {
		in := e.with(n.Var, v)
		if n.If == nil || truth(in.eval(n.If)) {
			out = append(out, in.typed(n.Elem, elem))
		}
	}
	return out
}

func (e *env) quantified(n *syntax.Quantified) Value {
	count := int64(0)
	for _, v := range e.over(n.Over) {
		holds := truth(e.with(n.Var, v).eval(n.X))
		switch {
		case n.Fn == "all" && !holds:
			return false
		case n.Fn == "some" && holds:
			return true
		case n.Fn == "first" && holds:
			return v
		case holds:
			count++
		}
	}
	switch n.Fn {
	case "all":
		return true
	case "some":
		return false
	case "first":
		return nil
	}
	return count
}

func elements(v Value) []Value {
	switch v := v.(type) {
	case List:
		return v
	case Set:
		return v
	case nil:
		faultf("none has no elements")
	}
	panic(unsupported("a collection that is " + text(v)))
}

// collect evaluates append, with and without.
func (e *env) collect(n *syntax.Call, elem *Type) Value {
	c, x := e.eval(n.Args[0]), e.typed(n.Args[1], elem)
	switch n.Fn {
	case "append":
		return append(List(slices.Clone(elements(c))), x)
	case "with":
		return setOf(append(slices.Clone(elements(c)), x))
	}
	out := without(elements(c), x)
	if _, is := c.(Set); is {
		return Set(out)
	}
	return List(out)
}

func (e *env) call(n *syntax.Call) Value {
	if e.claim != nil {
		if v, ok := e.claim.call(e, n); ok {
			return v
		}
	}
	if e.rule != nil && n.Fn == "len" {
		if v, ok := e.rule.length(n); ok {
			return v
		}
	}
	switch n.Fn {
	case "if":
		if truth(e.eval(n.Args[0])) {
			return e.eval(n.Args[1])
		}
		return e.eval(n.Args[2])
	case "append", "with", "without":
		return e.collect(n, nil)
	case "contains":
		return e.in(n.Args[1], n.Args[0])
	}
	var args []Value
	for _, a := range n.Args {
		args = append(args, e.eval(a))
	}
	switch n.Fn {
	case "len":
		switch x := args[0].(type) {
		case Text:
			return int64(len(x))
		case *Array:
			return int64(present(x))
		}
		return int64(len(elements(args[0])))
	case "min":
		return min(number(args[0]), number(args[1]))
	case "max":
		return max(number(args[0]), number(args[1]))
	case "first", "tail":
		l := elements(args[0])
		if len(l) == 0 {
			faultf("%s of an empty list", n.Fn)
		}
		if n.Fn == "first" {
			return l[0]
		}
		return List(l[1:])
	case "union":
		return setOf(append(slices.Clone(elements(args[0])), elements(args[1])...))
	case "minus", "intersect":
		var out []Value
		for _, x := range elements(args[0]) {
			if has(elements(args[1]), x) == (n.Fn == "intersect") {
				out = append(out, x)
			}
		}
		return setOf(out)
	}
	panic(unsupported("the function " + n.Fn))
}

// present is how many keys a map has.
func present(a *Array) (n int) {
	for _, v := range a.V {
		if v != nil {
			n++
		}
	}
	return n
}
