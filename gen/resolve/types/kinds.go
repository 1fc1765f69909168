package types

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// Describe names a type in the words of messages.
func Describe(t *model.Type) string {
	switch {
	case t == nil:
		return "nothing"
	case t.Name != "":
		return t.Name
	}
	switch t.Kind {
	case model.KindBool:
		return "bool"
	case model.KindInt:
		if t.Lo == t.Hi {
			return fmt.Sprintf("the number %d", t.Lo)
		}
		return fmt.Sprintf("%d..%d", t.Lo, t.Hi)
	case model.KindOpaque:
		if t.Float {
			return fmt.Sprintf("f%d", t.Bits)
		}
		return fmt.Sprintf("opaque u%d", t.Bits)
	case model.KindBytes:
		return model.BytesString(t)
	case model.KindOptional:
		return Describe(t.Elem) + "?"
	case model.KindArray:
		if IsMap(t) {
			return fmt.Sprintf("map from %s to %s", Describe(t.Index), Describe(t.Elem.Elem))
		}
		return fmt.Sprintf("array of %s by %s", Describe(t.Elem), Describe(t.Index))
	case model.KindList:
		return fmt.Sprintf("list of at most %d %s", t.Cap, Describe(t.Elem))
	case model.KindSet:
		return "set of " + Describe(t.Elem)
	case model.KindNode:
		return "instance"
	}
	return "an unnamed type"
}

// Compatible reports whether a value of one type can stand where the other one is wanted. Both
// have the same layout then; their ranges may differ.
func Compatible(t, u *model.Type) bool {
	if t == u {
		return true
	}
	if !t.Same(u) {
		return false
	}
	switch t.Kind {
	case model.KindList:
		return t.Cap == u.Cap && Compatible(t.Elem, u.Elem)
	case model.KindOptional, model.KindSet:
		return Compatible(t.Elem, u.Elem) && (t.Kind != model.KindSet || SameDomain(t.Elem, u.Elem))
	case model.KindArray:
		return SameDomain(t.Index, u.Index) && Compatible(t.Elem, u.Elem)
	case model.KindEnum, model.KindRecord, model.KindOpaque:
		return t.Slots() == u.Slots() && t.Bits == u.Bits && t.Float == u.Float && slices.Equal(t.Names, u.Names)
	}
	return true
}

// Common returns the narrowest type that values of two compatible types have.
func Common(t, u *model.Type) *model.Type {
	if t == u {
		return t
	}
	switch t.Kind {
	case model.KindInt, model.KindNode:
		if t.Lo <= u.Lo && u.Hi <= t.Hi {
			return t
		}
		return Int(min(t.Lo, u.Lo), max(t.Hi, u.Hi))
	case model.KindList, model.KindOptional, model.KindArray:
		if elem := Common(t.Elem, u.Elem); elem != t.Elem {
			c := *t
			c.Name, c.Elem = "", elem
			return &c
		}
	}
	return t
}

// SameDomain reports whether two types have the same values.
func SameDomain(t, u *model.Type) bool {
	return t == u || t.Kind == u.Kind && t.Lo == u.Lo && t.Hi == u.Hi && slices.Equal(t.Names, u.Names)
}

// IsNumber reports whether one can compute with values of t.
func IsNumber(t *model.Type) bool { return t.Kind == model.KindInt || t.Kind == model.KindNode }

// WithLayout computes how many slots values of t have, and returns t.
func WithLayout(t *model.Type) *model.Type {
	t.Slots()
	return t
}

// Bool is the type of conditions.
var Bool = WithLayout(&model.Type{Kind: model.KindBool})

// Int returns the type of the numbers from lo to hi.
func Int(lo, hi int64) *model.Type {
	return WithLayout(&model.Type{Kind: model.KindInt, Lo: lo, Hi: hi})
}

// IsDiscrete reports whether the values of t can be counted up one by one.
func IsDiscrete(t *model.Type) bool {
	switch t.Kind {
	case model.KindBool, model.KindInt, model.KindEnum, model.KindNode:
		return true
	}
	return false
}

// IsMap reports whether t is a map, which is an array of optional values.
func IsMap(t *model.Type) bool {
	return t != nil && t.Kind == model.KindArray && t.Elem.Kind == model.KindOptional
}

// Optional returns the type of values of t that may be absent.
func Optional(t *model.Type) *model.Type {
	return WithLayout(&model.Type{Kind: model.KindOptional, Elem: t})
}

// Wide is the type of the numbers in a list whose type nothing declares.
var Wide = Int(-pass.MaxNumber, pass.MaxNumber)

// ElemOf returns the type of the elements of a wanted list or set, and the list or set. Both are
// nil if something else is wanted.
func ElemOf(want *model.Type) (elem, t *model.Type) {
	if want != nil && want.Kind == model.KindOptional {
		want = want.Elem
	}
	if want != nil && (want.Kind == model.KindList || want.Kind == model.KindSet) {
		return want.Elem, want
	}
	return nil, nil
}

// ArrayOf returns the type of the elements of a wanted array, and the array. Both are nil if
// something else is wanted.
func ArrayOf(want *model.Type) (elem, t *model.Type) {
	if want != nil && want.Kind == model.KindOptional {
		want = want.Elem
	}
	if want != nil && want.Kind == model.KindArray {
		return want.Elem, want
	}
	return nil, nil
}

// Fits reports whether a number fits into so many bits.
func Fits(v int64, bits int) bool { return v >= 0 && (bits >= 63 || v < 1<<bits) }
