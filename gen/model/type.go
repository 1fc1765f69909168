package model

import (
	"github.com/parley-go/parley/gen/diag"
	"slices"
)

// TypeKind is the kind of a type.
type TypeKind uint8

const (
	KindBool   TypeKind = iota // 0 or 1
	KindInt                    // Lo..Hi
	KindEnum                   // index into Names
	KindOpaque                 // carried, compared for equality, never computed with; Bits wide
	// opaque text of at most Cap bytes; its slot holds a handle (see interp.Strings), 0 is the empty text
	KindBytes
	KindOptional // Elem or none
	KindRecord   // Fields
	KindArray    // one Elem for each value of Index
	KindList     // at most Cap elements
	KindSet      // subset of Elem (at most 62 values): one slot, a bit mask
	KindNode     // an instance, by number: Lo..Hi
)

// Type is a type. Types are compared by pointer only if named; use Same.
type Type struct {
	Kind      TypeKind
	Name, Doc string // Name is empty if the type was written in place
	Lo, Hi    int64  // Int, Node: range; Opaque: 0..Hi explored in checks (0..0 unless the check gives a domain)
	Bits      int    // Opaque: width of the generated unsigned integer: 8, 16, 32 or 64
	Float     bool   // Opaque: the bits of a floating-point number of IEEE 754
	// Names and Codes of an Enum: Codes are the numbers on the wire.
	Names []string
	Codes []int64
	// Words are the words for the values of an Enum in a line, all different. nil means that they
	// are Names; see InLine.
	Words []string
	// Without are bytes that a text of a line must not contain.
	Without string
	// Charset is which bytes a text may have on the wire: "utf8", "ascii" or "printable"; empty: any.
	Charset string
	// Binary is set for Bytes that are no text. Exact: a value on the wire has Cap bytes; one
	// that has fewer, as long as nothing gave it any, has no encoding.
	Binary, Exact bool
	Elem          *Type
	Index         *Type
	Fields        []*Field
	Cap           int
	slots         int
	Span          diag.Span
	// Bounds are the places of constants in its range, or in the bound of a list.
	Bounds []diag.Span
}

// InLine returns the words for the values of an Enum in a line, by index.
func (t *Type) InLine() []string {
	if t.Words != nil {
		return t.Words
	}
	return t.Names
}

// Slots returns how many slots a value of t takes:
// Bool, Int, Enum, Opaque, Bytes, Set, Node 1; Optional 1 (present) + Elem; Record the sum of its
// fields; Array the product; List 1 (length) + Cap × Elem. Slots of absent
// values and of list places beyond the length are 0.
func (t *Type) Slots() int {
	if t.slots == 0 {
		t.slots = t.countSlots()
	}
	return t.slots
}

func (t *Type) countSlots() int {
	switch t.Kind {
	case KindOptional:
		return 1 + t.Elem.Slots()
	case KindRecord:
		n := 0
		for _, f := range t.Fields {
			n += f.Type.Slots()
		}
		return n
	case KindArray:
		return int(t.Index.Count()) * t.Elem.Slots()
	case KindList:
		return 1 + t.Cap*t.Elem.Slots()
	}
	return 1
}

// Scalar reports whether a value of t is a single number that can be compared
// with == as such.
func (t *Type) Scalar() bool {
	switch t.Kind {
	case KindBool, KindInt, KindEnum, KindOpaque, KindBytes, KindNode, KindSet:
		return true
	}
	return false
}

// Lowest returns the number of the first value of a scalar type that can be an index or key: the
// low bound of a range, else 0.
func (t *Type) Lowest() int64 {
	if t.Kind == KindInt || t.Kind == KindNode {
		return t.Lo
	}
	return 0
}

// Count returns the number of values of t that a check explores, saturating at
// 1<<40. Bytes count as 1: texts are carried, not explored, unless given a domain.
func (t *Type) Count() int64 {
	const most = 1 << 40
	mul := func(a, b int64) int64 {
		if a != 0 && b > most/a {
			return most
		}
		return min(a*b, most)
	}
	switch t.Kind {
	case KindBool:
		return 2
	case KindInt, KindNode, KindOpaque:
		return min(t.Hi-t.Lo+1, most)
	case KindEnum:
		return int64(len(t.Names))
	case KindBytes:
		return t.Hi + 1
	case KindOptional:
		return min(1+t.Elem.Count(), most)
	case KindRecord:
		n := int64(1)
		for _, f := range t.Fields {
			n = mul(n, f.Type.Count())
		}
		return n
	case KindArray:
		n := int64(1)
		for range t.Index.Count() {
			n = mul(n, t.Elem.Count())
			if n == most {
				break
			}
		}
		return n
	case KindList:
		n, p := int64(1), int64(1)
		for range t.Cap {
			p = mul(p, t.Elem.Count())
			n = min(n+p, most)
		}
		return n
	case KindSet:
		return 1 << min(t.Elem.Count(), 40)
	}
	return 1
}

// HasText reports whether a value of the type has a text or bytes in it. It may be called on nil.
func (t *Type) HasText() bool {
	return t != nil && (t.Kind == KindBytes || t.Elem.HasText() ||
		slices.ContainsFunc(t.Fields, func(f *Field) bool { return f.Type.HasText() }))
}

// Same reports whether values of t and u can be assigned to each other without
// a change of representation (ranges may differ; assignments check them).
func (t *Type) Same(u *Type) bool {
	if t == u {
		return true
	}
	if t.Kind != u.Kind {
		return (t.Kind == KindInt || t.Kind == KindNode) && (u.Kind == KindInt || u.Kind == KindNode)
	}
	switch t.Kind {
	case KindEnum, KindRecord, KindOpaque:
		if t.Float != u.Float {
			return false
		}
		return t.Name == u.Name && t.Name != "" && len(t.Fields) == len(u.Fields)
	case KindBytes:
		return t.Binary == u.Binary
	case KindOptional, KindSet:
		return t.Elem.Same(u.Elem)
	case KindList:
		return t.Elem.Same(u.Elem)
	case KindArray:
		return t.Index.Same(u.Index) && t.Elem.Same(u.Elem)
	}
	return true
}
