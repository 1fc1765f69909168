package export

import (
	"math/bits"
	"slices"
	"strconv"
)

// term is an expression over numbers of one slot each. Terms are never changed. They cannot fault: the
// condition under which an expression faults is a term of its own. Every term has bounds, so that
// conditions which the specification's ranges decide disappear.
type term struct {
	op     string // "" is the number lo; "var" is v; else an operator of Promela, "?" the conditional
	v      *variable
	x      []*term
	lo, hi int64
}

// variable is something that a term can read.
type variable struct {
	name   string
	kind   varKind
	lo, hi int64
	init   int64
	// names of the numbers from 0 on; nil: numbers are written as such.
	names []string
	doc   string
}

type varKind uint8

const (
	stateVar varKind = iota // part of a configuration
	countVar                // follows from the channels' contents
	fieldVar                // a field of the message that is being received
	tempVar                 // holds a value inside one step
)

// The least and the greatest number that Promela can compute with.
const (
	least    = -1 << 31
	greatest = 1<<31 - 1
)

func number(n int64) *term { return &term{lo: n, hi: n} }

func truth(b bool) *term {
	if b {
		return number(1)
	}
	return number(0)
}

var yes, no = number(1), number(0)

func read(v *variable) *term { return &term{op: "var", v: v, lo: v.lo, hi: v.hi} }

// constant reports whether t is a number.
func (t *term) constant() bool { return t.op == "" }

func (t *term) is(n int64) bool { return t.op == "" && t.lo == n }

// raw is a text in Promela, such as the length of a channel. What it reads changes only at the end of a
// step.
func raw(text string, hi int64) *term { return &term{op: "raw", v: &variable{name: text}, hi: hi} }

func not(x *term) *term {
	switch {
	case x.constant():
		return truth(x.lo == 0)
	case x.op == "!" && x.x[0].boolean():
		return x.x[0]
	case negated[x.op] != "":
		return &term{op: negated[x.op], x: x.x, hi: 1}
	}
	return &term{op: "!", x: []*term{x}, hi: 1}
}

var negated = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// boolean reports whether t is 0 or 1.
func (t *term) boolean() bool { return t.lo >= 0 && t.hi <= 1 }

func and(x, y *term) *term {
	switch {
	case x.is(0) || y.is(0):
		return no
	case x.lo > 0 || x.hi < 0:
		return asBool(y)
	case y.lo > 0 || y.hi < 0:
		return asBool(x)
	case same(x, y):
		return asBool(x)
	}
	return &term{op: "&&", x: []*term{x, y}, hi: 1}
}

func or(x, y *term) *term {
	switch {
	case x.lo > 0 || x.hi < 0 || y.lo > 0 || y.hi < 0:
		return yes
	case x.is(0):
		return asBool(y)
	case y.is(0):
		return asBool(x)
	case same(x, y):
		return asBool(x)
	case same(y, not(x)), same(x, not(y)):
		return yes
	}
	return &term{op: "||", x: []*term{x, y}, hi: 1}
}

func asBool(x *term) *term {
	if x.boolean() {
		return x
	}
	return compare("!=", x, no)
}

// pick returns c ? x : y.
func pick(c, x, y *term) *term {
	switch {
	case c.lo > 0 || c.hi < 0:
		return x
	case c.is(0):
		return y
	case same(x, y):
		return x
	case x.is(1) && y.is(0):
		return asBool(c)
	case x.is(0) && y.is(1):
		return not(c)
	case x.boolean() && y.is(0):
		return and(c, x)
	case x.is(1) && y.boolean():
		return or(c, y)
	case x.boolean() && y.is(1):
		return or(not(c), x)
	}
	return &term{op: "?", x: []*term{c, x, y}, lo: min(x.lo, y.lo), hi: max(x.hi, y.hi)}
}

var flipped = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

func compare(op string, x, y *term) *term {
	if x.constant() && !y.constant() {
		op, x, y = flipped[op], y, x
	}
	if known, result := decide(op, x, y); known {
		return truth(result)
	}
	if op == "==" && x.boolean() && y.constant() && (x.op != "var" || x.v.names == nil) {
		return pick(y, x, not(x))
	}
	if op == "!=" {
		return not(compare("==", x, y))
	}
	return &term{op: op, x: []*term{x, y}, hi: 1}
}

// decide decides a comparison by the bounds, if they are enough.
func decide(op string, x, y *term) (known, result bool) {
	switch op {
	case "==", "!=":
		if x.hi < y.lo || y.hi < x.lo {
			return true, op == "!="
		}
		if same(x, y) || x.constant() && y.constant() {
			return true, op == "=="
		}
		return false, false
	case ">":
		return decide("<", y, x)
	case "<=", ">=":
		known, result = decide(negated[op], x, y)
		return known, !result
	}
	return x.hi < y.lo || x.lo >= y.hi || same(x, y), x.hi < y.lo
}

// arith returns + - * / % & | << >> of two terms. The caller must make sure that a divisor is not 0. ok
// is false if the result can be outside of what Promela computes with.
func arith(op string, x, y *term) (*term, bool) {
	if x.constant() && y.constant() {
		n := apply(op, x.lo, y.lo)
		return number(n), n >= least && n <= greatest
	}
	t := &term{op: op, x: []*term{x, y}}
	switch op {
	case "+":
		if y.is(0) {
			return x, true
		}
		if x.is(0) {
			return y, true
		}
		t.lo, t.hi = x.lo+y.lo, x.hi+y.hi
	case "-":
		if y.is(0) {
			return x, true
		}
		t.lo, t.hi = x.lo-y.hi, x.hi-y.lo
	case "/", "%":
		m := max(x.hi, -x.lo)
		if op == "%" {
			m = min(m, max(y.hi, -y.lo)-1)
		}
		t.lo, t.hi = -m, m
		if x.lo >= 0 && (op == "%" || y.lo >= 0) {
			t.lo = 0
		}
	case "&", "|", ">>", "<<":
		if x.lo < 0 || y.lo < 0 {
			return t, false
		}
		t.hi = bitBound(op, x.hi, y.hi)
	default:
		ends := []int64{x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi}
		t.lo, t.hi = slices.Min(ends), slices.Max(ends)
	}
	return t, t.lo >= least && t.hi <= greatest
}

// bitBound returns the greatest result of an operation on bits.
func bitBound(op string, x, y int64) int64 {
	switch op {
	case "&":
		return min(x, y)
	case "|":
		return 1<<bits.Len64(uint64(max(x, y))) - 1
	case "<<":
		return x << min(y, 31)
	}
	return x
}

func apply(op string, a, b int64) int64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return a % b
	case "&":
		return a & b
	case "|":
		return a | b
	case "<<":
		return a << min(b, 40)
	}
	return a >> b
}

// same reports whether two terms are written the same way.
func same(x, y *term) bool {
	if x == y {
		return true
	}
	if x.op != y.op || x.v != y.v || len(x.x) != len(y.x) || x.op == "" && x.lo != y.lo {
		return false
	}
	for i := range x.x {
		if !same(x.x[i], y.x[i]) {
			return false
		}
	}
	return x.op != "raw" || x.v.name == y.v.name
}

// visit calls f for every variable that t reads.
func (t *term) visit(f func(*variable)) {
	if t.op == "var" {
		f(t.v)
	}
	for _, x := range t.x {
		x.visit(f)
	}
}

// size returns how many terms t is made of. It stops counting soon after most.
func (t *term) size(most int) int {
	n := 1
	for _, x := range t.x {
		if n > most {
			break
		}
		n += x.size(most - n)
	}
	return n
}

// subst replaces variables by terms.
func (t *term) subst(with map[*variable]*term) *term {
	if t.op == "var" {
		if x, ok := with[t.v]; ok {
			return x
		}
		return t
	}
	if len(t.x) == 0 {
		return t
	}
	x := make([]*term, len(t.x))
	changed := false
	for i := range t.x {
		x[i] = t.x[i].subst(with)
		changed = changed || x[i] != t.x[i]
	}
	if !changed {
		return t
	}
	return rebuild(t.op, x)
}

func rebuild(op string, x []*term) *term {
	switch op {
	case "!":
		return not(x[0])
	case "&&":
		return and(x[0], x[1])
	case "||":
		return or(x[0], x[1])
	case "?":
		return pick(x[0], x[1], x[2])
	case "==", "!=", "<", "<=", ">", ">=":
		return compare(op, x[0], x[1])
	}
	if (op == "/" || op == "%") && x[1].is(0) {
		return no // guarded by a condition that is false here
	}
	t, _ := arith(op, x[0], x[1])
	return t
}

var precedence = map[string]int{"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8,
	"<": 7, "<=": 7, ">": 7, ">=": 7, "==": 6, "!=": 6, "&": 5, "|": 4, "&&": 3, "||": 2}

// String writes t in Promela. It refuses by a panic. So fmt must not call it, which recovers from panics.
func (t *term) String() string { return string(t.append(nil, 0)) }

func (t *term) append(b []byte, outer int) []byte {
	switch t.op {
	case "":
		return append(b, digits(t.lo)...)
	case "var", "raw":
		return append(b, t.v.name...)
	case "!":
		return t.x[0].append(append(b, '!'), 11)
	case "?":
		b = append(t.x[0].append(append(b, '('), 2), " -> "...)
		b = append(t.x[1].append(b, 2), " : "...)
		return append(t.x[2].append(b, 2), ')')
	}
	p := precedence[t.op]
	parens := p < outer || p >= 4 && p <= 6 && outer > 3 || p == 3 && outer == 2
	if parens {
		b = append(b, '(')
	}
	b = t.x[0].append(b, p)
	b = append(append(append(b, ' '), t.op...), ' ')
	if y := t.x[1]; y.constant() && t.x[0].op == "var" && p >= 6 && p <= 7 {
		b = append(b, t.x[0].v.value(y.lo)...)
	} else {
		b = y.append(b, p+1)
	}
	if parens {
		b = append(b, ')')
	}
	return b
}

// value writes a number that v can hold.
func (v *variable) value(n int64) string {
	if n >= 0 && n < int64(len(v.names)) {
		return v.names[n]
	}
	return digits(n)
}

// digits writes a number in a form that Promela reads.
func digits(n int64) string {
	if n < least || n > greatest {
		refuse("numbers of more than 31 bits")
	}
	return strconv.FormatInt(n, 10)
}
