package core

import (
	"math"

	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/model"
)

// Op is an operation of [Apply].
type Op uint8

// The operations.
const (
	Not Op = iota + 1
	Neg
	Add
	Sub
	Mul
	Div // truncates toward zero
	Mod // has the sign of the dividend
	Eq  // compares values of types that are Same
	Ne
	Lt
	Le
	Gt
	Ge
	Min
	Max
	Len       // of a list, set or text
	Append    // of a list and an element; whether there is room is asked before the element is evaluated
	Head      // the first element of a list
	Tail      // a list without its first element
	With      // a set and an element
	Without   // a list or set without all elements that are equal to one
	Has       // whether a list or set has an element
	Union     // of two sets
	Minus     // what is in the first set and not in the second
	Intersect // of two sets
)

// Use says what an operation does with its operands, for analyses that ask whether values may be
// exchanged for others.
type Use uint8

// What an operation does with its operands.
const (
	Copies   Use = iota // puts them, or parts of them, elsewhere
	Compares            // asks whether they are equal
	Computes            // computes with them or orders them
	Decides             // takes them as truth values
	Counts              // asks how many there are
)

// Fault says how an operation can fail by itself.
type Fault uint8

// How an operation can fail.
const (
	Never    Fault = iota
	Overflow       // the result needs more than 64 bits
	Division       // by zero, or it overflows
	Full           // there is no room
	Empty          // there is no element
)

// Info is a row of the table of operations.
type Info struct {
	Name  string // as authors write it
	Arity int
	Fault Fault
	Use   Use
	// Range computes the interval of the result and whether it fits 64 bits; nil: that of the
	// result's type.
	Range func(a, b interval.Interval) (interval.Interval, bool)
}

var table = [...]Info{
	Not:       {"!", 1, Never, Decides, nil},
	Neg:       {"-", 1, Overflow, Computes, negated},
	Add:       {"+", 2, Overflow, Computes, interval.Add},
	Sub:       {"-", 2, Overflow, Computes, interval.Sub},
	Mul:       {"*", 2, Overflow, Computes, interval.Mul},
	Div:       {"/", 2, Division, Computes, interval.Div},
	Mod:       {"%", 2, Division, Computes, interval.Mod},
	Eq:        {"==", 2, Never, Compares, nil},
	Ne:        {"!=", 2, Never, Compares, nil},
	Lt:        {"<", 2, Never, Computes, nil},
	Le:        {"<=", 2, Never, Computes, nil},
	Gt:        {">", 2, Never, Computes, nil},
	Ge:        {">=", 2, Never, Computes, nil},
	Min:       {"min", 2, Never, Computes, interval.Min},
	Max:       {"max", 2, Never, Computes, interval.Max},
	Len:       {"len", 1, Never, Counts, nil},
	Append:    {"append", 2, Full, Copies, nil},
	Head:      {"first", 1, Empty, Copies, nil},
	Tail:      {"tail", 1, Empty, Copies, nil},
	With:      {"with", 2, Never, Copies, nil},
	Without:   {"without", 2, Never, Compares, nil},
	Has:       {"contains", 2, Never, Compares, nil},
	Union:     {"union", 2, Never, Copies, nil},
	Minus:     {"minus", 2, Never, Copies, nil},
	Intersect: {"intersect", 2, Never, Copies, nil},
}

// Info returns the operation's row of the table.
func (o Op) Info() *Info { return &table[o] }

// String returns the operation as authors write it.
func (o Op) String() string { return table[o].Name }

func negated(a, _ interval.Interval) (interval.Interval, bool) {
	return interval.Sub(interval.Interval{}, a)
}

// Compute computes an operation on single numbers, truth values and enumerations as such. ok is
// false if it fails: the result needs more than 64 bits, or it divides by zero.
func (o Op) Compute(a, b int64) (r int64, ok bool) {
	switch o {
	case Not:
		return truth(a == 0), true
	case Eq:
		return truth(a == b), true
	case Ne:
		return truth(a != b), true
	case Lt:
		return truth(a < b), true
	case Le:
		return truth(a <= b), true
	case Gt:
		return truth(a > b), true
	case Ge:
		return truth(a >= b), true
	case Min:
		return min(a, b), true
	case Max:
		return max(a, b), true
	case Add:
		r = a + b
		return r, (r > a) == (b > 0)
	case Neg:
		return -a, a != math.MinInt64
	case Sub:
		r = a - b
		return r, (r < a) == (b > 0)
	case Mul:
		if a == 0 || b == 0 {
			return 0, true
		}
		r = a * b
		return r, r/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
	case Div:
		if b == 0 || a == math.MinInt64 && b == -1 {
			return 0, false
		}
		return a / b, true
	case Mod:
		if b == 0 {
			return 0, false
		}
		if b == -1 {
			return 0, true
		}
		return a % b, true
	}
	return 0, false
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// OfOperator returns the operation of an operator; 0 for &&, || and =>, which are an [If].
func OfOperator(op model.Op) Op { return operators[op] }

// OfFunction returns the operation of a function; 0 for if(), which is an [If].
func OfFunction(fn model.Builtin) Op { return functions[fn] }

var operators = map[model.Op]Op{
	model.OpNot: Not, model.OpNeg: Neg, model.OpAdd: Add, model.OpSub: Sub, model.OpMul: Mul, model.OpDiv: Div,
	model.OpMod: Mod,
	model.OpEq:  Eq, model.OpNe: Ne, model.OpLt: Lt, model.OpLe: Le, model.OpGt: Gt, model.OpGe: Ge,
}

var functions = map[model.Builtin]Op{
	model.FnLen: Len, model.FnMin: Min, model.FnMax: Max, model.FnAppend: Append, model.FnTail: Tail,
	model.FnFirst:    Head,
	model.FnContains: Has, model.FnWith: With, model.FnWithout: Without,
	model.FnUnion: Union, model.FnMinus: Minus, model.FnIntersect: Intersect,
}

// apply fills in what follows from an operation and its operands.
func (e *Apply) apply() {
	info := e.Op.Info()
	fails := info.Fault == Full || info.Fault == Empty
	var a, b interval.Interval
	for i, x := range e.Args {
		e.CanFail = e.CanFail || x.Node().CanFail
		if i == 0 {
			a = x.Node().In
		} else {
			b = x.Node().In
		}
	}
	switch {
	case info.Range != nil:
		var fit bool
		e.In, fit = info.Range(a, b)
		fails = fails || !fit || info.Fault == Division && b.Has(0)
	case e.Op == Len && e.Args[0].Node().T.Kind == model.KindSet:
		e.In = interval.Interval{Lo: 0, Hi: 64}
	case e.Op == Len:
		e.In = interval.Interval{Lo: 0, Hi: int64(e.Args[0].Node().T.Cap)}
	case e.Op == Head:
		e.In = domain(e.Args[0].Node().T.Elem)
	}
	e.CanFail = e.CanFail || fails
}
