// Package apart finds what tells messages from each other: numbers that are never equal at one place, lengths, and
// the bytes with which they begin. It only looks at layouts. Start from [Messages].
package apart

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// claim is what a message has in some bits of the header or body: a number within bounds.
type claim struct {
	at     int // bytes from the body's first one; of the header, counted from its first one, less headerSpace
	bits   int
	shift  int
	in     model.Number
	lo, hi int64
}

const headerSpace = 1 << 20

// Messages reports whether no frame can be both messages: they have lengths, or numbers in one place, that are
// never equal, or differ in one of their first bytes or last constants. header is the greatest size of the header.
func Messages(m, o *model.Message, w *model.Wire, header int) bool {
	if disjoint(m, o) {
		return true
	}
	if w.Self {
		return false // one may begin another
	}
	// Both have the same header, however long it is.
	shorter := func(m, o *model.Message) bool { return m.MaxLen-header < o.MinLen-w.HeaderLen }
	if !w.Surplus && (shorter(m, o) || shorter(o, m)) {
		return true
	}
	theirs := claims(o)
	for _, a := range claims(m) {
		for _, b := range theirs {
			if a.at == b.at && a.in == b.in && a.shift == b.shift && a.bits == b.bits && (a.hi < b.lo || b.hi < a.lo) {
				return true
			}
		}
	}
	if !w.Surplus {
		mine, theirs := last(m), last(o)
		for at, b := range mine {
			if c, known := theirs[at]; known && b != c {
				return true
			}
		}
	}
	return false
}

// last returns the constant bytes at the end of a message, by how many bytes are from there to the end.
func last(m *model.Message) map[int]byte {
	out := map[int]byte{}
	at := 0
	for _, item := range slices.Backward(m.Layout) {
		n := model.FixedBytes(item)
		if n == 0 {
			break
		}
		at += n
		tail := model.Message{Layout: []model.WireItem{item}}
		for _, c := range claims(&tail) {
			if b := byte(c.lo); c == byteClaim(c.at, b) {
				out[at-c.at] = b
			}
		}
	}
	return out
}

// claims lists what a message has at known places.
func claims(m *model.Message) (out []claim) {
	add := func(item model.WireItem, at, shift, bits int, in model.Number) {
		switch it := item.(type) {
		case *model.WireConst:
			out = append(out, claim{at, bits, shift, in, it.Value, it.Value})
			for i := 0; shift == 0 && bits == in.Bits && in.Varint == model.Fixed && i < bits/8; i++ {
				k := i // the byte of the number, from its lowest
				if !in.Little {
					k = bits/8 - 1 - i
				}
				out = append(out, byteClaim(at+i, byte(it.Value>>(8*k))))
			}
		case *model.WireInt:
			if t := it.Field.Type; t.Kind == model.KindEnum || t.Kind == model.KindInt ||
				t.Kind == model.KindBool && !it.Nonzero {
				lo, hi := Codes(t)
				out = append(out, claim{at, bits, shift, in, lo, hi})
			}
		}
	}
	for _, h := range m.Head {
		add(h.Item, h.At-headerSpace, h.Shift, itemBits(h.Item), h.In)
	}
	at := 0
	for _, item := range m.Layout {
		switch it := item.(type) {
		case *model.WireConst:
			add(it, at, 0, it.Bits, it.Number)
		case *model.WireInt:
			if it.Varint == model.Fixed {
				add(it, at, 0, it.Bits, it.Number)
			}
		case *model.WireLiteral:
			for i := range len(it.Bytes) {
				out = append(out, byteClaim(at+i, it.Bytes[i]))
			}
		case *model.WireBits:
			for _, part := range it.Parts {
				add(part.Item, at, part.Shift, part.Bits, it.Number)
			}
		}
		n := model.FixedBytes(item)
		if n == 0 {
			break
		}
		at += n
	}
	return out
}

func byteClaim(at int, b byte) claim {
	return claim{at, 8, 0, model.Number{Bits: 8}, int64(b), int64(b)}
}

func itemBits(item model.WireItem) int {
	switch it := item.(type) {
	case *model.WireInt:
		return it.Bits
	case *model.WireConst:
		return it.Bits
	}
	return 0
}

// Begin finds the bytes with which items may begin. It reports whether they are known.
func Begin(items []model.WireItem, set *[256]bool) bool {
	if len(items) == 0 {
		return false
	}
	sets := leading(items, 1)
	if len(sets) == 0 {
		return false
	}
	*set = sets[0]
	return true
}

// leading finds the bytes that may stand in each of the first places, as many as it can, up to a bound.
func leading(items []model.WireItem, most int) (out [][256]bool) {
	number := func(n model.Number) (more bool) {
		if n.Varint != model.Decimal && n.Varint != model.Hex {
			return false
		}
		var set [256]bool
		for _, c := range []byte("0123456789") {
			set[c] = true
		}
		for _, c := range []byte("abcdef") {
			set[c] = n.Varint == model.Hex
			set[c-'a'+'A'] = n.Varint == model.Hex && n.Overlong
		}
		set['-'] = n.Signed
		out = append(out, set)
		return false
	}
	for _, item := range items {
		more := false
		switch it := item.(type) {
		case *model.WireLiteral:
			for _, c := range []byte(it.Bytes) {
				var set [256]bool
				set[c] = true
				out = append(out, set)
			}
			more = true
		case *model.WireWord:
			more = leadingWords(it, &out)
		case *model.WireConst:
			if more = it.Varint == model.Fixed; more {
				for i := range it.Bits / 8 {
					k := it.Bits/8 - 1 - i
					if it.Little {
						k = i
					}
					var set [256]bool
					set[byte(it.Value>>(8*k))] = true
					out = append(out, set)
				}
			} else {
				more = number(it.Number)
			}
		case *model.WireInt:
			more = number(it.Number)
			if it.Varint == model.Fixed {
				more = leadingInt(it, &out)
			}
		case *model.WireCount:
			if more = number(it.Number); it.Varint == model.Fixed {
				more = anything(it.Bits/8, &out)
			}
		case *model.WireSized:
			if it.Varint == model.Fixed {
				leadingSize(it, &out)
				out = append(out, leading(it.Items, most)...)
			}
		case *model.WireBytes:
			if t := it.Field.Type; it.End != "" && !t.Binary {
				var set [256]bool
				for c := range 256 {
					set[c] = c != '\n' && c != '\r' && !strings.Contains(t.Without, string([]byte{byte(c)}))
				}
				set[it.End[0]] = true
				set['\n'] = set['\n'] || it.LoneLF
				out = append(out, set)
			}
		}
		if !more || len(out) >= most {
			break
		}
	}
	return out[:min(len(out), most)]
}

// leadingWords adds the bytes of words, and reports whether all of them are as long.
func leadingWords(it *model.WireWord, out *[][256]bool) bool {
	least, most := model.Extent(it)
	for i := range least {
		var set [256]bool
		for _, word := range it.Field.Type.InLine() {
			set[(word + it.End)[i]] = true
		}
		*out = append(*out, set)
	}
	return least == most
}

// leadingInt adds the bytes of a number of whole bytes: the highest, and any others.
func leadingInt(it *model.WireInt, out *[][256]bool) bool {
	t := it.Field.Type
	if it.Little && it.Bits > 8 || it.Signed || t.Kind != model.KindInt && t.Kind != model.KindBool || it.HasNone ||
		it.Nonzero || it.Xor != 0 || it.XorAt > 0 {
		return anything(it.Bits/8, out)
	}
	lo, hi := Codes(t)
	return leadingRange(lo, hi, it.Bits, out)
}

// leadingSize adds the bytes of a region's size.
func leadingSize(it *model.WireSized, out *[][256]bool) {
	if it.Little && it.Bits > 8 {
		anything(it.Bits/8, out)
		return
	}
	_, most := it.Range()
	leadingRange(int64(model.LeastBody(0, it.Items)), int64(min(most, 1<<24)), it.Bits, out)
}

// leadingRange adds the bytes of a number from lo to hi: as far as they are the same, one more, and any others.
func leadingRange(lo, hi int64, bits int, out *[][256]bool) bool {
	for k := bits/8 - 1; k >= 0; k-- {
		from, to := byte(lo>>(8*k)), byte(hi>>(8*k))
		var set [256]bool
		for c := int(from); c <= int(to); c++ {
			set[c] = true
		}
		*out = append(*out, set)
		if lo>>(8*k) != hi>>(8*k) {
			return anything(k, out)
		}
	}
	return true
}

// anything adds bytes of which nothing is known.
func anything(n int, out *[][256]bool) bool {
	var set [256]bool
	for c := range set {
		set[c] = true
	}
	for range n {
		*out = append(*out, set)
	}
	return true
}

// disjoint reports whether two messages always differ in one of their first bytes.
func disjoint(m, o *model.Message) bool {
	a, b := leading(m.Layout, 64), leading(o.Layout, 64)
	for i := range min(len(a), len(b)) {
		common := false
		for c := range 256 {
			common = common || a[i][c] && b[i][c]
		}
		if !common {
			return true
		}
	}
	return false
}

// Common returns bytes that frames of both messages may have, by their place in the body.
func Common(m, o *model.Message, w *model.Wire) map[int]byte {
	fixed := map[int]byte{}
	if !w.Self {
		for _, c := range append(claims(m), claims(o)...) {
			if c.lo == c.hi && c.bits == 8 && c.at >= 0 {
				fixed[c.at] = byte(c.lo)
			}
		}
		return fixed
	}
	a, b := leading(m.Layout, 64), leading(o.Layout, 64)
	var any [256]bool
	for c := range any {
		any[c] = true
	}
	for i := range max(len(a), len(b)) {
		one, other := any, any
		if i < len(a) {
			one = a[i]
		}
		if i < len(b) {
			other = b[i]
		}
		for c := range 256 {
			if one[c] && other[c] {
				fixed[i] = byte(c)
				break
			}
		}
	}
	return fixed
}

// Codes returns the least and the greatest number that a value of t has on the wire.
func Codes(t *model.Type) (lo, hi int64) {
	switch t.Kind {
	case model.KindBool:
		return 0, 1
	case model.KindEnum:
		lo, hi = t.Codes[0], t.Codes[0]
		for _, c := range t.Codes {
			lo, hi = min(lo, c), max(hi, c)
		}
		return lo, hi
	case model.KindOpaque:
		if t.Bits == 64 {
			return 0, 1<<63 - 1
		}
		return 0, 1<<t.Bits - 1
	case model.KindSet: // bit i is set if value number i is in the set
		return 0, 1<<t.Elem.Count() - 1
	}
	return t.Lo, t.Hi
}
