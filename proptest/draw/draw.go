// Package draw draws values of the types of a specification at random, and whole specifications. Start from [Value] and
// [Protocol].
package draw

import (
	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Value draws a value of the full type into dst, in slots of the interpreter, now and then one just outside its range.
func Value(t *rapid.T, strs *interp.Strings, ty *model.Type, dst []int64, stray bool) {
	switch ty.Kind {
	case model.KindBool:
		dst[0] = rapid.Int64Range(0, 1).Draw(t, "bool")
	case model.KindInt, model.KindNode:
		hi := ty.Hi
		if stray && Beyond(ty) && rapid.IntRange(0, 19).Draw(t, "stray") == 0 {
			hi++
		}
		dst[0] = rapid.Int64Range(ty.Lo, hi).Draw(t, "number")
	case model.KindEnum:
		dst[0] = rapid.Int64Range(0, int64(len(ty.Names))-1).Draw(t, "name")
	case model.KindOpaque:
		// Few values, so that equal ones meet, and the largest.
		most := int64(1)<<min(ty.Bits, 63) - 1
		dst[0] = rapid.OneOf(rapid.Int64Range(0, 2), rapid.Int64Range(most-1, most)).Draw(t, "opaque")
	case model.KindBytes:
		least := 0
		if ty.Exact && rapid.IntRange(0, 9).Draw(t, "given") > 0 {
			least = ty.Cap
		}
		b := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\x00é")), least, ty.Cap).Draw(t, "text")
		dst[0] = strs.Intern(b)
	case model.KindSet:
		dst[0] = rapid.Int64Range(0, int64(1)<<min(ty.Elem.Count(), 62)-1).Draw(t, "set")
	case model.KindOptional:
		clear(dst[:ty.Slots()])
		if dst[0] = rapid.Int64Range(0, 1).Draw(t, "present"); dst[0] != 0 {
			Value(t, strs, ty.Elem, dst[1:], stray)
		}
	case model.KindRecord:
		for _, f := range ty.Fields {
			Value(t, strs, f.Type, dst[f.Offset:], stray)
		}
	case model.KindArray:
		for i := range int(ty.Index.Count()) {
			Value(t, strs, ty.Elem, dst[i*ty.Elem.Slots():], stray)
		}
	case model.KindList:
		clear(dst[:ty.Slots()])
		n := rapid.IntRange(0, ty.Cap).Draw(t, "length")
		dst[0] = int64(n)
		for i := range n {
			Value(t, strs, ty.Elem, dst[1+i*ty.Elem.Slots():], stray)
		}
	}
}

// Fields draws the fields of an event or message.
func Fields(t *rapid.T, strs *interp.Strings, fields []*model.Field, stray bool) []int64 {
	slots, at := make([]int64, interp.FieldSlots(fields)), 0
	for _, f := range fields {
		Value(t, strs, f.Type, slots[at:], stray)
		at += f.Type.Slots()
	}
	return slots
}

// Beyond reports whether the smallest Go type for a range has a value above it.
func Beyond(t *model.Type) bool {
	if t.Kind != model.KindInt {
		return false
	}
	for _, most := range []int64{1<<7 - 1, 1<<8 - 1, 1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1<<32 - 1} {
		if t.Hi == most {
			return false
		}
	}
	return t.Hi < 1<<32
}
