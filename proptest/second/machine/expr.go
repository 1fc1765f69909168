package machine

import (
	"slices"

	"github.com/parley-go/parley/gen/syntax"
)

// Env is what names mean in an expression. A role's expression has a machine, a claim's has a
// configuration; a constant has neither.
type Env struct {
	U      *Unit
	R      *Role
	M      *Machine
	Self   int
	Sender int              // -1: there is none
	Msg    map[string]Value // the fields of the event; nil where there are none
	locals *scope
	Out    outside // what is there besides: in claims and rules of the environment; nil elsewhere
}

// outside is what an expression can name besides what its role has.
type outside interface {
	Name(name string) (Value, bool)
	Of(i Instance, name string) (Value, bool) // what a name means behind an instance
	Call(e *Env, n *syntax.Call) (Value, bool)
}

type scope struct {
	name string
	v    Value
	next *scope
}

func (e *Env) With(name string, v Value) *Env {
	out := *e
	out.locals = &scope{name, v, e.locals}
	return &out
}

// PartRef is a part (or a monitor) as a value: its states and variables can be selected.
type PartRef struct{ M *Machine }

// keyed is a part with keys that are still to come.
type keyed struct {
	m *Machine
	p *Part
}

func Number(v Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case Instance:
		return int64(v)
	}
	if v == nil {
		faultf("none is used as a number")
	}
	panic(Unsupported("a number that is " + Write(v)))
}

func Truth(v Value) bool {
	b, ok := v.(bool)
	if !ok {
		faultf("not a truth value")
	}
	return b
}

// Eval evaluates an expression whose type nobody asks for.
func (e *Env) Eval(n syntax.Node) Value {
	switch n := n.(type) {
	case *syntax.Number:
		return n.Value
	case *syntax.String:
		return Text(n.Value)
	case *syntax.Ident:
		return e.name(n.Name)
	case *syntax.Unary:
		if n.Op == "!" {
			return !Truth(e.Eval(n.X))
		}
		return -Number(e.Eval(n.X))
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
			out = append(out, e.Eval(x))
		}
		return out
	case *syntax.Literal:
		return e.record(n)
	case *syntax.Build:
		return e.build(n, nil)
	case *syntax.Quantified:
		return e.quantified(n)
	case *syntax.Range:
		return List(ints(Number(e.Eval(n.Lo)), Number(e.Eval(n.Hi))).Values())
	}
	panic(Unsupported("the expression " + syntax.Source(n)))
}

// enumName is a name of an enumeration, if n can be one of type t (nil: of any).
func (e *Env) enumName(n syntax.Node, t *Type) (Value, bool) {
	id, ok := n.(*syntax.Ident)
	if !ok || e.local(id.Name) {
		return nil, false
	}
	if t == nil {
		t = e.U.enums[id.Name]
	}
	if t == nil || t.Kind != KEnum {
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
func (e *Env) local(name string) bool {
	for s := e.locals; s != nil; s = s.next {
		if s.name == name {
			return true
		}
	}
	if e.M != nil && e.M.R.variable(name) {
		return true
	}
	_, is := e.Msg[name]
	return is
}

func (r *Role) variable(name string) bool {
	named := func(v variable) bool { return v.Name == name }
	return slices.ContainsFunc(r.Vars, named) || slices.ContainsFunc(r.Params, named)
}

// Typed evaluates an expression of which a value of t is wanted. The value need not fit yet.
func (e *Env) Typed(n syntax.Node, t *Type) Value {
	for t != nil && t.Kind == KOptional {
		t = t.Elem
	}
	if t == nil {
		return e.Eval(n)
	}
	if v, ok := e.enumName(n, t); ok {
		return v
	}
	switch x := n.(type) {
	case *syntax.List:
		if t.Kind == KList || t.Kind == KSet {
			out := List{}
			for _, el := range x.Elems {
				out = append(out, e.Typed(el, t.Elem))
			}
			return out
		}
	case *syntax.Build:
		return e.build(x, t)
	case *syntax.Call:
		switch x.Fn {
		case "if":
			if Truth(e.Eval(x.Args[0])) {
				return e.Typed(x.Args[1], t)
			}
			return e.Typed(x.Args[2], t)
		case "append", "with", "without":
			if t.Kind == KList || t.Kind == KSet {
				return e.collect(x, t.Elem)
			}
		}
	}
	return e.Eval(n)
}

func (e *Env) name(name string) Value {
	for s := e.locals; s != nil; s = s.next {
		if s.name == name {
			return s.v
		}
	}
	if e.Out != nil {
		if v, ok := e.Out.Name(name); ok {
			return v
		}
	}
	if e.M != nil {
		if v, ok := e.M.Value(name); ok {
			return v
		}
	}
	if v, ok := e.Msg[name]; ok {
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
		return int64(e.Self)
	case "sender":
		if e.Sender >= 0 {
			return int64(e.Sender)
		}
	case "parties":
		return int64(e.U.parties)
	}
	if n, ok := e.U.constant(name); ok {
		return n
	}
	if t := e.U.enums[name]; t != nil {
		for _, x := range t.names {
			if x.S == name {
				return x
			}
		}
		return Name{name, -1} // a name that the domain leaves out
	}
	if _, twice := e.U.enums[name]; twice {
		return Name{name, -1}
	}
	panic(Unsupported("the name " + name))
}

func (e *Env) binary(n *syntax.Binary) Value {
	switch n.Op {
	case "&&":
		return Truth(e.Eval(n.X)) && Truth(e.Eval(n.Y))
	case "||":
		return Truth(e.Eval(n.X)) || Truth(e.Eval(n.Y))
	case "=>":
		return !Truth(e.Eval(n.X)) || Truth(e.Eval(n.Y))
	case "==", "!=":
		a, b := e.pair(n.X, n.Y)
		return Equal(a, b) == (n.Op == "==")
	case "in":
		return e.in(n.X, n.Y)
	}
	a, b := e.Eval(n.X), e.Eval(n.Y)
	switch n.Op {
	case "<", "<=", ">", ">=":
		if a == nil || b == nil {
			faultf("none is compared")
		}
		x, y := order(a), order(b)
		return n.Op[0] == '<' && x < y || n.Op[0] == '>' && x > y || len(n.Op) == 2 && x == y
	}
	x, y := Number(a), Number(b)
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
func (e *Env) pair(x, y syntax.Node) (Value, Value) {
	if v, ok := e.enumName(x, nil); ok {
		if other := e.Eval(y); isEnum(other) {
			return v, other
		}
	} else if v, ok := e.enumName(y, nil); ok {
		if other := e.Eval(x); isEnum(other) {
			return other, v
		}
	}
	return e.Eval(x), e.Eval(y)
}

func isEnum(v Value) bool {
	_, is := v.(Name)
	return is || v == nil
}

func (e *Env) in(x, y syntax.Node) Value {
	over := e.Eval(y)
	v := e.Eval(x)
	switch over := over.(type) {
	case List:
		return has(over, v)
	case Set:
		return has(over, v)
	case *Array:
		return over.V[over.T.place(v)] != nil
	case Group:
		for _, i := range over.All {
			if int64(i) == Number(v) {
				return true
			}
		}
		return false
	}
	panic(Unsupported("in " + syntax.Source(y)))
}

func (e *Env) sel(n *syntax.Select) Value {
	if id, ok := n.X.(*syntax.Ident); ok {
		if id.Name == "msg" {
			if v, ok := e.Msg[n.Name]; ok {
				return v
			}
		}
		if names := e.U.declared(id.Name); names != nil {
			for _, x := range names {
				if x.S == n.Name {
					return x
				}
			}
		}
	}
	switch x := e.Eval(n.X).(type) {
	case *Record:
		if i := x.T.fieldAt(n.Name); i >= 0 {
			return x.V[i]
		}
	case PartRef:
		if v, ok := x.M.Value(n.Name); ok {
			return v
		}
	case Instance:
		if v, ok := e.Out.Of(x, n.Name); ok {
			return v
		}
	case nil:
		faultf("none has no %s", n.Name)
	}
	panic(Unsupported(syntax.Source(n)))
}

func (e *Env) index(n *syntax.Index) Value {
	x := e.Eval(n.X)
	switch x := x.(type) {
	case keyed:
		var keys []Value
		for i, a := range n.Args {
			keys = append(keys, x.p.keys[i].T.Fit(e.Typed(a, x.p.keys[i].T)))
		}
		return PartRef{x.m.part(x.p, keys)}
	case timerRef:
		var keys []Value
		for i, a := range n.Args {
			keys = append(keys, x.t.keys[i].T.Fit(e.Typed(a, x.t.keys[i].T)))
		}
		return x.m.armed(KeyText(x.t.Name, keys))
	case Group:
		i := Number(e.Eval(n.Args[0])) - x.Lo
		if i < 0 || i >= int64(len(x.All)) {
			panic(Unsupported(syntax.Source(n)))
		}
		return x.All[i]
	case *Array:
		return x.V[x.T.place(e.Typed(n.Args[0], x.T.key))]
	case List:
		i := Number(e.Eval(n.Args[0]))
		if i < 0 || i >= int64(len(x)) {
			faultf("index %d of a list of %d", i, len(x))
		}
		return x[i]
	case nil:
		faultf("none has no elements")
	}
	panic(Unsupported(syntax.Source(n)))
}

func (e *Env) record(n *syntax.Literal) Value {
	id, ok := n.X.(*syntax.Ident)
	if !ok {
		panic(Unsupported(syntax.Source(n)))
	}
	t := e.U.named(id.Name)
	r := &Record{T: t, V: make([]Value, len(t.fields))}
	for _, f := range n.Fields {
		i := t.fieldAt(f.Name)
		r.V[i] = t.fields[i].T.Fit(e.Typed(f.Value, t.fields[i].T))
	}
	return r
}

// over returns what a loop or quantifier goes through.
func (e *Env) over(n syntax.Node) []Value {
	if id, ok := n.(*syntax.Ident); ok && !e.local(id.Name) {
		known := false
		if e.Out != nil {
			_, known = e.Out.Name(id.Name)
		}
		if e.M != nil && !known {
			_, known = e.M.Value(id.Name)
		}
		if _, ok := e.Msg[id.Name]; ok {
			known = true
		}
		if !known {
			return e.U.named(id.Name).Values()
		}
	}
	switch x := e.Eval(n).(type) {
	case List:
		return x
	case Set:
		return x
	case Group:
		var out []Value
		for _, i := range x.All {
			out = append(out, i)
		}
		return out
	case *Array:
		var out []Value
		for i, k := range x.T.key.Values() {
			if x.V[i] != nil {
				out = append(out, k)
			}
		}
		return out
	case nil:
		faultf("none has no elements")
	}
	panic(Unsupported("going through " + syntax.Source(n)))
}

func (e *Env) build(n *syntax.Build, t *Type) Value {
	var elem *Type
	if t != nil {
		elem = t.Elem
	}
	if t != nil && t.Kind == KArray {
		out := t.Zero().(*Array)
		for i := range out.V {
			out.V[i] = nil // a map's other keys get none
		}
		for _, v := range e.over(n.Over) {
			in := e.With(n.Var, v)
			if n.If == nil || Truth(in.Eval(n.If)) {
				out.V[t.place(v)] = in.Typed(n.Elem, elem)
			}
		}
		for i := range out.V {
			out.V[i] = elem.Fit(out.V[i])
		}
		return out
	}
	out := List{}
	for _, v := range e.over(n.Over) {
		in := e.With(n.Var, v)
		if n.If == nil || Truth(in.Eval(n.If)) {
			out = append(out, in.Typed(n.Elem, elem))
		}
	}
	return out
}

func (e *Env) quantified(n *syntax.Quantified) Value {
	count := int64(0)
	for _, v := range e.over(n.Over) {
		holds := Truth(e.With(n.Var, v).Eval(n.X))
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

func Elements(v Value) []Value {
	switch v := v.(type) {
	case List:
		return v
	case Set:
		return v
	case nil:
		faultf("none has no elements")
	}
	panic(Unsupported("a collection that is " + Write(v)))
}

// collect evaluates append, with and without.
func (e *Env) collect(n *syntax.Call, elem *Type) Value {
	c, x := e.Eval(n.Args[0]), e.Typed(n.Args[1], elem)
	switch n.Fn {
	case "append":
		return append(List(slices.Clone(Elements(c))), x)
	case "with":
		return setOf(append(slices.Clone(Elements(c)), x))
	}
	out := without(Elements(c), x)
	if _, is := c.(Set); is {
		return Set(out)
	}
	return List(out)
}

func (e *Env) call(n *syntax.Call) Value {
	if e.Out != nil {
		if v, ok := e.Out.Call(e, n); ok {
			return v
		}
	}
	switch n.Fn {
	case "if":
		if Truth(e.Eval(n.Args[0])) {
			return e.Eval(n.Args[1])
		}
		return e.Eval(n.Args[2])
	case "append", "with", "without":
		return e.collect(n, nil)
	case "contains":
		return e.in(n.Args[1], n.Args[0])
	}
	var args []Value
	for _, a := range n.Args {
		args = append(args, e.Eval(a))
	}
	switch n.Fn {
	case "len":
		switch x := args[0].(type) {
		case Text:
			return int64(len(x))
		case *Array:
			return int64(present(x))
		}
		return int64(len(Elements(args[0])))
	case "min":
		return min(Number(args[0]), Number(args[1]))
	case "max":
		return max(Number(args[0]), Number(args[1]))
	case "first", "tail":
		l := Elements(args[0])
		if len(l) == 0 {
			faultf("%s of an empty list", n.Fn)
		}
		if n.Fn == "first" {
			return l[0]
		}
		return List(l[1:])
	case "union":
		return setOf(append(slices.Clone(Elements(args[0])), Elements(args[1])...))
	case "minus", "intersect":
		var out []Value
		for _, x := range Elements(args[0]) {
			if has(Elements(args[1]), x) == (n.Fn == "intersect") {
				out = append(out, x)
			}
		}
		return setOf(out)
	}
	panic(Unsupported("the function " + n.Fn))
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
