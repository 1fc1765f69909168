package interp

import (
	"fmt"

	"github.com/parley-go/parley/gen/model"
)

// fit copies a value of type from to a place of type to; both are Same but may
// differ in ranges and bounds. It returns the reason if the value does not fit.
// dst and src must not overlap.
func (x *Eval) fit(to *model.Type, dst []int64, from *model.Type, src []int64) string {
	switch to.Kind {
	case model.KindOptional:
		if src[0] == 0 {
			clear(dst[:to.Slots()])
			return ""
		}
		dst[0] = 1
		return x.fit(to.Elem, dst[1:], from.Elem, src[1:])
	case model.KindRecord:
		for i, f := range to.Fields {
			g := from.Fields[i]
			if why := x.fit(f.Type, dst[f.Offset:], g.Type, src[g.Offset:]); why != "" {
				return why
			}
		}
		return ""
	case model.KindArray:
		return x.fitArray(to, dst, from, src)
	case model.KindList:
		return x.fitList(to, dst, from, src)
	case model.KindSet:
		return fitSet(to, dst, from, src)
	}
	dst[0] = src[0]
	return x.misfit(to, src[0])
}

// misfit says why a number is no value of a scalar type; empty if it is one.
// Opaque values are carried whole: their domain bounds what is explored, not
// what is allowed.
func (x *Eval) misfit(t *model.Type, v int64) string {
	lo, hi := int64(0), int64(0)
	switch t.Kind {
	case model.KindBool:
		hi = 1
	case model.KindInt, model.KindNode:
		lo, hi = t.Lo, t.Hi
	case model.KindEnum:
		hi = int64(len(t.Names)) - 1
	case model.KindBytes:
		if n := len(x.Strings.Get(v)); n > t.Cap {
			return fmt.Sprintf("a text of %d bytes is longer than the %d of its type", n, t.Cap)
		}
		return ""
	case model.KindOpaque:
		if t.Bits < 64 && (v < 0 || v>>t.Bits != 0) {
			return fmt.Sprintf("%d does not fit %d bits", v, t.Bits)
		}
		return ""
	default:
		return ""
	}
	if v >= lo && v <= hi {
		return ""
	}
	name := ""
	if t.Name != "" {
		name = t.Name + ", "
	}
	return fmt.Sprintf("%d is outside %s%d..%d", v, name, lo, hi)
}

func (x *Eval) fitArray(to *model.Type, dst []int64, from *model.Type, src []int64) string {
	n := int(to.Index.Count())
	if int(from.Index.Count()) != n {
		return fmt.Sprintf("an array of %d elements where %d are needed", from.Index.Count(), n)
	}
	return x.fitElems(to.Elem, dst, from.Elem, src, n)
}

func (x *Eval) fitElems(to *model.Type, dst []int64, from *model.Type, src []int64, n int) string {
	a, b := to.Slots(), from.Slots()
	for i := range n {
		if why := x.fit(to, dst[i*a:], from, src[i*b:]); why != "" {
			return why
		}
	}
	return ""
}

func (x *Eval) fitList(to *model.Type, dst []int64, from *model.Type, src []int64) string {
	n := int(src[0])
	if n > to.Cap {
		return fmt.Sprintf("a list of %d elements is longer than the %d of its type", n, to.Cap)
	}
	clear(dst[:to.Slots()])
	dst[0] = src[0]
	if n == 0 {
		return ""
	}
	return x.fitElems(to.Elem, dst[1:], from.Elem, src[1:], n)
}

func fitSet(to *model.Type, dst []int64, from *model.Type, src []int64) string {
	shift := from.Elem.Lowest() - to.Elem.Lowest()
	mask, room := src[0], int64(1)<<min(to.Elem.Count(), 62)-1
	dst[0] = 0
	for i := int64(0); mask != 0; i, mask = i+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		bit := i + shift
		if bit < 0 || bit >= 62 || room>>bit&1 == 0 {
			return fmt.Sprintf("the set has the element %d, which its type has not", i+from.Elem.Lowest())
		}
		dst[0] |= 1 << bit
	}
	return ""
}

// equal compares two values of types that are Same.
func equal(t *model.Type, a []int64, u *model.Type, b []int64) bool {
	switch t.Kind {
	case model.KindOptional:
		if a[0] == 0 || b[0] == 0 {
			return a[0] == b[0]
		}
		return equal(t.Elem, a[1:], u.Elem, b[1:])
	case model.KindRecord:
		for i, f := range t.Fields {
			g := u.Fields[i]
			if !equal(f.Type, a[f.Offset:], g.Type, b[g.Offset:]) {
				return false
			}
		}
		return true
	case model.KindArray:
		n := int(t.Index.Count())
		return n == int(u.Index.Count()) && equalElems(t.Elem, a, u.Elem, b, n)
	case model.KindList:
		return a[0] == b[0] && equalElems(t.Elem, a[1:], u.Elem, b[1:], int(a[0]))
	case model.KindSet:
		d := [1]int64{}
		return fitSet(u, d[:], t, a) == "" && d[0] == b[0]
	}
	return a[0] == b[0]
}

func equalElems(t *model.Type, a []int64, u *model.Type, b []int64, n int) bool {
	p, q := t.Slots(), u.Slots()
	for i := range n {
		if !equal(t, a[i*p:], u, b[i*q:]) {
			return false
		}
	}
	return true
}
