package tla

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Value is a value of TLA+: an int, a bool, a string, a *Set, or a *Func, which records and sequences are, too.
type Value any

// Set is a finite set, in the order of [compare].
type Set struct{ elems []Value }

// Func is a function, by its domain in order. Of a sequence keys is nil: its domain is 1..Len.
type Func struct {
	keys   []Value
	values []Value
}

// stop is a panic about what TLC would not evaluate.
type stop struct{ text string }

func stopf(format string, args ...any) { panic(stop{fmt.Sprintf(format, args...)}) }

func sequence(list []Value) *Func { return &Func{values: list} }

// newFunc makes a function of a domain in order.
func newFunc(keys, values []Value) *Func {
	for i, k := range keys {
		if k != i+1 {
			return &Func{keys: keys, values: values}
		}
	}
	return &Func{values: values}
}

// isRecord reports whether the domain is of strings.
func (f *Func) isRecord() bool {
	if len(f.keys) == 0 {
		return false
	}
	_, ok := f.keys[0].(string)
	return ok
}

func (f *Func) domain() *Set {
	if f.keys != nil {
		return &Set{f.keys}
	}
	return interval(1, len(f.values))
}

func interval(lo, hi int) *Set {
	s := &Set{}
	for i := lo; i <= hi; i++ {
		s.elems = append(s.elems, i)
	}
	return s
}

// find is the place of an argument; -1 if it is outside.
func (f *Func) find(k Value) int {
	if f.keys == nil {
		i, ok := k.(int)
		if !ok || i < 1 || i > len(f.values) {
			return -1
		}
		return i - 1
	}
	i, ok := slices.BinarySearchFunc(f.keys, k, compare)
	if !ok {
		return -1
	}
	return i
}

func (f *Func) at(k Value) Value {
	i := f.find(k)
	if i < 0 {
		stopf("the function %s applied to %s, which is not in its domain", Text(f), Text(k))
	}
	return f.values[i]
}

// kind is a number for each kind of value. Sequences, records and other functions are of one.
func kind(v Value) int {
	switch v.(type) {
	case int:
		return 0
	case bool:
		return 1
	case string:
		return 2
	case *Func:
		return 3
	case *Set:
		return 4
	}
	if name, is := v.(notYet); is {
		stopf("%s' is not known yet", string(name))
	}
	panic(fmt.Sprintf("a value of type %T", v))
}

// compare orders values. It stops where TLC would not compare two values. Sequences are compared by their lengths
// first and then from the front, and so are the domains of functions before their values.
func compare(a, b Value) int {
	if kind(a) != kind(b) {
		stopf("%s is compared with %s", Text(a), Text(b))
	}
	switch a := a.(type) {
	case int:
		return cmp.Compare(a, b.(int))
	case bool:
		return cmp.Compare(truth(a), truth(b.(bool)))
	case string:
		return strings.Compare(a, b.(string))
	case *Set:
		return compareAll(a.elems, b.(*Set).elems)
	case *Func:
		f := b.(*Func)
		if len(a.values) == 0 || len(f.values) == 0 {
			return cmp.Compare(len(a.values), len(f.values))
		}
		if a.isRecord() != f.isRecord() {
			stopf("%s is compared with %s", Text(a), Text(b))
		}
		if (a.keys == nil) != (f.keys == nil) {
			return compareAll(a.domain().elems, f.domain().elems)
		}
		if a.keys != nil {
			if c := compareAll(a.keys, f.keys); c != 0 {
				return c
			}
		}
		return compareAll(a.values, f.values)
	}
	panic("no value")
}

func compareAll(a, b []Value) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	for i := range a {
		if c := compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func equal(a, b Value) bool { return compare(a, b) == 0 }

// newSet makes a set of elements in any order.
func newSet(list []Value) *Set {
	slices.SortFunc(list, compare)
	return &Set{slices.CompactFunc(list, equal)}
}

func (s *Set) has(v Value) bool {
	_, ok := slices.BinarySearchFunc(s.elems, v, compare)
	return ok
}

// Text writes a value as TLC would.
func Text(v Value) string { return string(appendText(nil, v)) }

func appendText(b []byte, v Value) []byte {
	list := func(open string, list []Value, closing string) []byte {
		b = append(b, open...)
		for i, x := range list {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendText(b, x)
		}
		return append(b, closing...)
	}
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case bool:
		if v {
			return append(b, "TRUE"...)
		}
		return append(b, "FALSE"...)
	case string:
		return strconv.AppendQuote(b, v)
	case *Set:
		return list("{", v.elems, "}")
	case *Func:
		if v.keys == nil {
			return list("<<", v.values, ">>")
		}
		b = append(b, '[')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendText(b, k), " |-> "...)
			b = appendText(b, v.values[i])
		}
		return append(b, ']')
	}
	return append(b, '?')
}

// with is the function with another value at a path.
func with(v Value, path []Value, change func(old Value) Value) Value {
	if len(path) == 0 {
		return change(v)
	}
	f, ok := v.(*Func)
	if !ok {
		stopf("EXCEPT of %s, which is no function", Text(v))
	}
	i := f.find(path[0])
	if i < 0 {
		// TLC says so and goes on; what is written for it must not come to this.
		stopf("EXCEPT of %s at %s, which is not in its domain", Text(v), Text(path[0]))
	}
	n := &Func{keys: f.keys, values: slices.Clone(f.values)}
	n.values[i] = with(f.values[i], path[1:], change)
	return n
}
