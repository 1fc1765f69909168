package machine

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Value is bool, int64, Text, Name (of an enumeration), List, Set, *Array, *Record, or nil for none.
// Claims have [instance], [group] and [partRef] besides.
type Value any

type (
	// Text is a text, or bytes.
	Text string
	// Name is a value of an enumeration; N is its place there.
	Name struct {
		S string
		N int
	}
	// List is a list or queue.
	List []Value
	// Set is a set, in the order of its type.
	Set []Value
	// Array has one value for each key of T; a map is an array of optional values.
	Array struct {
		T *Type
		V []Value
	}
	// Record has the values of T's fields.
	Record struct {
		T *Type
		V []Value
	}
)

// instance is the number of an instance, as claims name it; group is several, of which the first has number lo.
type (
	Instance int
	Group    struct {
		Lo   int64
		All  []Instance
		Lone bool // a single one
	}
)

type kind int

const (
	KBool kind = iota
	KInt       // and opaque numbers
	KEnum
	KText
	KOptional
	KRecord
	KArray
	KList
	KSet
)

// Type is a type with the domain that the check gives it.
type Type struct {
	Kind    kind
	Lo, Hi  int64
	opaque  bool
	texts   int64  // kText: how many different ones there are
	more    []Text // kText: others that there are
	without string // KText: characters that no line has in it
	names   []Name
	fields  []field
	key     *Type
	Elem    *Type
	Max     int64   // of a list its length, of a text its bytes
	all     []Value // what values returns
}

type field struct {
	Name string
	T    *Type
}

// Unsupported is the panic of what this checker does not know; [Spec.Run] turns it into an error.
type Unsupported string

// fault is the panic of a step that faults; refusal is that of one that is refused.
type (
	Fault   struct{ Why string }
	wrong   struct{ why string } // no domain of a check excuses it
	refusal struct{ why string }
)

func faultf(format string, args ...any) { panic(Fault{fmt.Sprintf(format, args...)}) }

// Write writes a value so that equal values have equal texts.
func Write(v Value) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case Instance:
		return strconv.Itoa(int(v))
	case Text:
		return strconv.Quote(string(v))
	case Name:
		return v.S
	case List:
		return "[" + Texts(v) + "]"
	case Set:
		return "[" + Texts(v) + "]"
	case *Array:
		return "(" + Texts(v.V) + ")"
	case *Record:
		return "{" + Texts(v.V) + "}"
	}
	panic(fmt.Sprintf("no text of %T", v))
}

func Texts(vs []Value) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = Write(v)
	}
	return strings.Join(out, ",")
}

func Equal(a, b Value) bool {
	switch x := a.(type) {
	case int64:
		if y, same := b.(int64); same {
			return x == y
		}
	case bool:
		if y, same := b.(bool); same {
			return x == y
		}
	case Name:
		if y, same := b.(Name); same {
			return x.S == y.S
		}
	case Text:
		if y, same := b.(Text); same {
			return x == y
		}
	}
	if s, ok := a.(Set); ok {
		if l, ok := b.(List); ok {
			return Write(s) == Write(setOf(l))
		}
	}
	if s, ok := b.(Set); ok {
		if l, ok := a.(List); ok {
			return Write(s) == Write(setOf(l))
		}
	}
	return Write(a) == Write(b)
}

// order is the place of a scalar among the values of its type.
func order(v Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case Instance:
		return int64(v)
	case bool:
		if v {
			return 1
		}
		return 0
	case Name:
		return int64(v.N)
	}
	faultf("%s has no order", Write(v))
	return 0
}

func setOf(vs []Value) Set {
	out := slices.Clone(vs)
	sort.SliceStable(out, func(i, j int) bool { return order(out[i]) < order(out[j]) })
	return Set(slices.CompactFunc(out, Equal))
}

func has(vs []Value, x Value) bool {
	return slices.ContainsFunc(vs, func(v Value) bool { return Equal(v, x) })
}

func without(vs []Value, x Value) []Value {
	out := []Value{}
	for _, v := range vs {
		if !Equal(v, x) {
			out = append(out, v)
		}
	}
	return out
}

// sample is the n-th of the texts that a check tells apart.
func sample(n int64) Text {
	if n == 0 {
		return ""
	}
	return Text(string(rune('a' + n - 1)))
}

// Values returns all values of t, lowest first.
func (t *Type) Values() []Value {
	if t.all == nil {
		t.all = t.list()
	}
	return t.all
}

func (t *Type) list() (out []Value) {
	switch t.Kind {
	case KBool:
		return []Value{false, true}
	case KInt:
		for i := t.Lo; i <= t.Hi; i++ {
			out = append(out, i)
			if len(out) > 1<<17 {
				panic(Unsupported("a type of more than 131,072 values"))
			}
		}
	case KEnum:
		for _, n := range t.names {
			out = append(out, n)
		}
	case KText:
		for i := range t.texts {
			out = append(out, sample(i))
		}
		for _, x := range t.more {
			if !slices.Contains(out, Value(x)) {
				out = append(out, x)
			}
		}
	case KOptional:
		return append([]Value{nil}, t.Elem.Values()...)
	case KRecord:
		for _, vs := range Product(len(t.fields), func(i int) []Value { return t.fields[i].T.Values() }) {
			out = append(out, &Record{t, vs})
		}
	case KArray:
		for _, vs := range Product(len(t.key.Values()), func(int) []Value { return t.Elem.Values() }) {
			out = append(out, &Array{t, vs})
		}
	case KList:
		for n := range int(t.Max) + 1 {
			for _, vs := range Product(n, func(int) []Value { return t.Elem.Values() }) {
				out = append(out, List(vs))
			}
		}
	case KSet:
		elems := t.Elem.Values()
		for _, vs := range Product(len(elems), func(int) []Value { return []Value{false, true} }) {
			s := Set{}
			for i, in := range vs {
				if in.(bool) {
					s = append(s, elems[i])
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// Size is how many values t has, or most if there are more.
func (t *Type) Size(most int64) int64 {
	n := int64(1)
	times := func(of int64, how int64) {
		for range min(how, most) {
			n = min(n*of, most)
		}
	}
	switch t.Kind {
	case KBool:
		n = 2
	case KInt:
		n = t.Hi - t.Lo + 1
	case KEnum:
		n = int64(len(t.names))
	case KText:
		n = t.texts + int64(len(t.more))
	case KOptional:
		n = t.Elem.Size(most) + 1
	case KRecord:
		for _, f := range t.fields {
			times(f.T.Size(most), 1)
		}
	case KArray:
		times(t.Elem.Size(most), t.key.Size(most))
	case KSet:
		times(2, t.Elem.Size(most))
	case KList:
		one := t.Elem.Size(most)
		for all := int64(1); all <= t.Max && n < most; all++ {
			each := int64(1)
			for range all {
				each = min(each*one, most)
			}
			n += each
		}
	}
	return min(n, most)
}

// Product returns all tuples of n values.
func Product(n int, of func(i int) []Value) [][]Value {
	out := [][]Value{{}}
	for i := range n {
		var next [][]Value
		for _, head := range out {
			for _, v := range of(i) {
				next = append(next, append(slices.Clone(head), v))
			}
			if len(next) > 1<<17 {
				panic(Unsupported("more than 131,072 different values"))
			}
		}
		out = next
	}
	return out
}

// Zero is the value with which a variable begins.
func (t *Type) Zero() Value {
	switch t.Kind {
	case KBool:
		return false
	case KInt:
		return t.Lo
	case KEnum:
		return t.names[0]
	case KText:
		return Text("")
	case KRecord:
		r := &Record{T: t}
		for _, f := range t.fields {
			r.V = append(r.V, f.T.Zero())
		}
		return r
	case KArray:
		a := &Array{T: t}
		for range t.key.Values() {
			a.V = append(a.V, t.Elem.Zero())
		}
		return a
	case KList:
		return List{}
	case KSet:
		return Set{}
	}
	return nil
}

// Fit is v as a value of t; what is none fits nowhere but into an optional, and what is outside of a range
// is a fault.
func (t *Type) Fit(v Value) Value {
	if in, ok := v.(Instance); ok {
		v = int64(in)
	}
	if t.Kind == KOptional {
		if v == nil {
			return nil
		}
		return t.Elem.Fit(v)
	}
	if v == nil {
		faultf("none is used as a value")
	}
	switch t.Kind {
	case KInt:
		if n := v.(int64); !t.opaque && (n < t.Lo || n > t.Hi) {
			faultf("%d is outside of %d..%d", n, t.Lo, t.Hi)
		}
	case KList:
		l, ok := v.(List)
		if s, is := v.(Set); is {
			l, ok = List(s), true
		}
		if !ok {
			panic(fmt.Sprintf("%T for a list", v))
		}
		if int64(len(l)) > t.Max {
			faultf("a list of at most %d has %d", t.Max, len(l))
		}
		out := make(List, len(l))
		for i := range l {
			out[i] = t.Elem.Fit(l[i])
		}
		return out
	case KSet:
		var in []Value
		switch v := v.(type) {
		case Set:
			in = v
		case List:
			in = v
		}
		out := []Value{}
		for _, x := range in {
			out = append(out, t.Elem.Fit(x))
		}
		return setOf(out)
	case KRecord:
		r := v.(*Record)
		out := &Record{T: t}
		for i, f := range t.fields {
			out.V = append(out.V, f.T.Fit(r.V[i]))
		}
		return out
	case KArray:
		a := v.(*Array)
		out := &Array{T: t}
		for i := range a.V {
			out.V = append(out.V, t.Elem.Fit(a.V[i]))
		}
		return out
	}
	return v
}

// place returns where the value of a key stands; outside of the keys is a fault.
func (t *Type) place(key Value) int {
	n := order(key)
	if t.key.Kind == KEnum {
		for i, v := range t.key.names {
			if int64(v.N) == n {
				return i
			}
		}
		faultf("no key %s", Write(key))
	}
	lo, size := int64(0), int64(2)
	if t.key.Kind == KInt {
		lo, size = t.key.Lo, t.key.Hi-t.key.Lo+1
	}
	if n < lo || n >= lo+size {
		faultf("no key %s", Write(key))
	}
	return int(n - lo)
}

func (t *Type) fieldAt(name string) int {
	return slices.IndexFunc(t.fields, func(f field) bool { return f.Name == name })
}
