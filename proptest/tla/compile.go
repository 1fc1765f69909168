package tla

import (
	"slices"
)

// level says what an expression depends on (Specifying Systems, 17.2).
type level uint8

const (
	constant level = iota
	state
	action
	temporal
)

// Spec is a module whose operators can be evaluated.
type Spec struct {
	Name string
	vars []string
	ops  map[string]*operator
}

// operator is a definition at the top of a module.
type operator struct {
	*definition
	params int
	level  level
	done   bool
	slots  int // of its frame
	eval   eval
	act    act
	recurs bool
}

// frame has what names are bound to where something is evaluated: values, thunks and closures.
type frame struct {
	up    *frame
	slots []any
	w     *walk
}

// thunk is an argument, or what a LET defines, that is evaluated when it is asked for, and once.
type thunk struct {
	f     *frame
	e     eval
	value Value
	done  bool
}

// closure is an operator as an argument, or one that a LET defines.
type closure struct {
	f      *frame // in which it was written
	body   eval
	slots  int
	params int
}

// walk is the state of an evaluation: the configuration, and the next one as far as it is known.
type walk struct {
	now, next []Value
	at        []Value     // what @ stands for
	ended     func() bool // whether the search is to end; nil: it is not
	tried     int
}

// try counts what a quantifier looks at, so that a search ends in time within a single step, too.
func (w *walk) try() {
	if w.tried++; w.tried%256 == 0 && w.ended != nil && w.ended() {
		stopf("the search was ended")
	}
}

type (
	eval func(f *frame) Value
	// act takes the steps that an action allows: it sets variables of the next configuration and calls then for
	// each way in which it holds. It returns false to stop.
	act func(f *frame, then func() bool) bool
)

// compiled is an expression: how it is evaluated and, of an action, how steps are taken.
type compiled struct {
	level level
	eval  eval
	act   act // nil: below the level of actions
}

// binding says what a name is.
type binding struct {
	kind  bindingKind
	hops  int // up the frames
	slot  int
	args  int // of operators
	level level
}

type bindingKind uint8

const (
	isValue bindingKind = iota
	isThunk
	isOperator
	isFunction // of a LET, recursive: a closure that is applied with [ ]
)

// compiler turns expressions into functions.
type compiler struct {
	spec *Spec
	m    *module
	// scopes are the frames, the innermost last; names their bindings.
	scopes []*scope
	inside []string // operators that are being compiled
}

type scope struct {
	names map[string]*binding
	slots int
}

// builtin are the operators of the standard modules, with the number of their arguments and the module.
var builtin = map[string]struct {
	args   int
	module string
}{
	"Len": {1, "Sequences"}, "Head": {1, "Sequences"}, "Tail": {1, "Sequences"}, "Append": {2, "Sequences"},
	"SubSeq": {3, "Sequences"}, "SelectSeq": {2, "Sequences"}, "Cardinality": {1, "FiniteSets"},
}

// standard are other names that the standard modules declare, so that nobody else may.
var standard = []string{"Nat", "Int", "Seq", "IsFiniteSet", "Print", "PrintT", "Assert", "JavaTime", "TLCGet",
	"TLCSet",
	"TLCEval", "Permutations", "SortSeq", "RandomElement", "Any", "ToString"}

func compile(m *module) *Spec {
	s := &Spec{Name: m.name, ops: map[string]*operator{}}
	c := &compiler{spec: s, m: m}
	for _, x := range []string{"Integers", "Sequences", "FiniteSets", "TLC"} {
		if !slices.Contains(m.extends, x) {
			end.fail("the module does not extend %s", x)
		}
	}
	declared := map[string]bool{}
	declare := func(t token) {
		if declared[t.text] || builtin[t.text].args > 0 || slices.Contains(standard, t.text) {
			t.fail("%s is declared twice", t.text)
		}
		declared[t.text] = true
	}
	for _, v := range m.variables {
		declare(v)
		s.vars = append(s.vars, v.text)
	}
	for _, d := range m.defs {
		declare(d.name)
		s.ops[d.name.text] = &operator{definition: d, params: len(d.params), recurs: m.recursive[d.name.text] > 0}
	}
	// An operator is defined before it is used, unless it is declared as recursive.
	for _, d := range m.defs {
		c.operator(d.name, d.name.text)
	}
	return s
}

// operator compiles a definition, once.
func (c *compiler) operator(at token, name string) *operator {
	op := c.spec.ops[name]
	if op == nil || op.done {
		return op
	}
	if slices.Contains(c.inside, name) {
		if !op.recurs {
			at.fail("%s uses itself, and is not declared as recursive", name)
		}
		return op
	}
	if op.name.line > at.line && !op.recurs {
		at.fail("%s is used before it is defined", name)
	}
	if n := c.m.recursive[name]; n > 0 && n != op.params {
		op.name.fail("%s is declared with %d parameters", name, n)
	}
	c.inside = append(c.inside, name)
	outer := c.scopes
	c.scopes = []*scope{{names: map[string]*binding{}}}
	for _, p := range op.definition.params {
		b := c.bind(p.name)
		if b.kind = isThunk; p.args > 0 {
			b.kind, b.args = isOperator, p.args
		}
	}
	body := c.expr(op.body)
	op.level, op.eval, op.act = body.level, body.eval, body.act
	op.slots = c.scopes[0].slots
	op.done = true
	c.scopes = outer
	c.inside = c.inside[:len(c.inside)-1]
	return op
}

// bind declares a name in the innermost frame.
func (c *compiler) bind(t token) *binding {
	if c.find(t.text) != nil || c.spec.ops[t.text] != nil || slices.Contains(c.spec.vars, t.text) ||
		builtin[t.text].args > 0 || slices.Contains(standard, t.text) {
		t.fail("%s is declared already", t.text)
	}
	s := c.scopes[len(c.scopes)-1]
	b := &binding{slot: s.slots}
	s.names[t.text] = b
	s.slots++
	return b
}

// drop forgets a name. Its slot is not given to another one: a step may come back to where the name is known.
func (c *compiler) drop(t token) { delete(c.scopes[len(c.scopes)-1].names, t.text) }

func (c *compiler) find(name string) *binding {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if b := c.scopes[i].names[name]; b != nil {
			found := *b
			found.hops = len(c.scopes) - 1 - i
			return &found
		}
	}
	return nil
}

func (f *frame) slot(hops, slot int) any {
	for ; hops > 0; hops-- {
		f = f.up
	}
	return f.slots[slot]
}

// force is the value of what a name is bound to.
func force(x any) Value {
	t, ok := x.(*thunk)
	if !ok {
		return x
	}
	if !t.done {
		t.value, t.done = t.e(t.f), true
	}
	return t.value
}

func asBool(v Value, at token) bool {
	b, ok := v.(bool)
	if !ok {
		stopf("line %d: %s is no truth value", at.line, Text(v))
	}
	return b
}

func asInt(v Value, at token) int {
	n, ok := v.(int)
	if !ok {
		stopf("line %d: %s is no number", at.line, Text(v))
	}
	return n
}

func asSet(v Value, at token) *Set {
	s, ok := v.(*Set)
	if !ok {
		stopf("line %d: %s is no set", at.line, Text(v))
	}
	return s
}

func asFunc(v Value, at token) *Func {
	f, ok := v.(*Func)
	if !ok {
		stopf("line %d: %s is no function", at.line, Text(v))
	}
	return f
}

func asSequence(v Value, at token) []Value {
	f := asFunc(v, at)
	if f.keys != nil {
		stopf("line %d: %s is no sequence", at.line, Text(v))
	}
	return f.values
}

// test makes an action of an expression that is none: it holds or does not.
func test(x compiled, at token) act {
	if x.act != nil {
		return x.act
	}
	return func(f *frame, then func() bool) bool {
		if !asBool(x.eval(f), at) {
			return true
		}
		return then()
	}
}

// below fails if an expression is of a level at which it cannot stand.
func below(x compiled, most level, at token, what string) compiled {
	if x.level > most {
		at.fail("%s of a level that cannot stand here", what)
	}
	return x
}
