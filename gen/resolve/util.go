package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Limits of one specification.
const (
	maxInstances = 62      // parties of a check, and of a protocol that does not say; a set of instances still fits
	maxParties   = 1024    // of a protocol that says so
	maxTypeSlots = 1 << 16 // slots of one value
	maxMachine   = 1 << 20 // slots of one machine
	maxParts     = 4096    // instances of one part
	maxSet       = 62      // values that a set can hold
	maxLoop      = 4096    // values that a loop or a list builder goes through
	maxImports   = 16      // nesting of imports
	maxWritten   = 4096    // copies of a condition that is written out for instances
	maxNumber    = 1 << 61 // magnitude of every number on the way
)

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func quoteAll(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = diag.Quote(n)
	}
	return strings.Join(q, ", ")
}

// describe renders a type for people.
func describe(t *model.Type) string {
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
		return fmt.Sprintf("opaque u%d", t.Bits)
	case model.KindBytes:
		return fmt.Sprintf("text %d", t.Cap)
	case model.KindOptional:
		return describe(t.Elem) + "?"
	case model.KindArray:
		if isMap(t) {
			return fmt.Sprintf("map from %s to %s", describe(t.Index), describe(t.Elem.Elem))
		}
		return fmt.Sprintf("array of %s by %s", describe(t.Elem), describe(t.Index))
	case model.KindList:
		return fmt.Sprintf("list of at most %d %s", t.Cap, describe(t.Elem))
	case model.KindSet:
		return "set of " + describe(t.Elem)
	case model.KindNode:
		return "instance"
	}
	return "an unnamed type"
}

// compatible reports whether a value of one type can stand where the other is
// wanted, with the same layout; ranges may differ.
func compatible(t, u *model.Type) bool {
	if t == u {
		return true
	}
	if !t.Same(u) {
		return false
	}
	switch t.Kind {
	case model.KindList:
		return t.Cap == u.Cap && compatible(t.Elem, u.Elem)
	case model.KindOptional, model.KindSet:
		return compatible(t.Elem, u.Elem) && (t.Kind != model.KindSet || sameDomain(t.Elem, u.Elem))
	case model.KindArray:
		return sameDomain(t.Index, u.Index) && compatible(t.Elem, u.Elem)
	case model.KindEnum, model.KindRecord, model.KindOpaque:
		return t.Slots() == u.Slots() && t.Bits == u.Bits && slices.Equal(t.Names, u.Names)
	}
	return true
}

func sameDomain(t, u *model.Type) bool {
	return t == u || t.Kind == u.Kind && t.Lo == u.Lo && t.Hi == u.Hi && slices.Equal(t.Names, u.Names)
}

// isNumber reports whether values of t can be computed with.
func isNumber(t *model.Type) bool { return t.Kind == model.KindInt || t.Kind == model.KindNode }

var boolType = &model.Type{Kind: model.KindBool}

func init() { boolType.Slots() }

func intType(lo, hi int64) *model.Type {
	t := &model.Type{Kind: model.KindInt, Lo: lo, Hi: hi}
	t.Slots()
	return t
}
