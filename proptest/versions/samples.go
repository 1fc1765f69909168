package versions

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// drawn is how many messages with random values are tried, besides those with the least, the greatest and single
// greatest values.
const drawn = 400

// samples are values of a message: the least, the greatest, each field greatest alone, and some drawn ones, the same
// each time.
func samples(m *model.Message, strs *interp.Strings) (list [][]int64) {
	least := make([]int64, interp.FieldSlots(m.Fields))
	for _, f := range m.Fields {
		interp.Zero(f.Type, least[f.Offset:f.Offset+f.Type.Slots()])
	}
	list = append(list, least)
	r := filler{strs: strs}
	all := slices.Clone(least)
	for _, f := range m.Fields {
		one := slices.Clone(least)
		r.fill(f.Type, one[f.Offset:])
		r.fill(f.Type, all[f.Offset:])
		list = append(list, one)
	}
	list = append(list, all)
	r.draw = rand.New(rand.NewPCG(13, 4))
	for range drawn {
		one := slices.Clone(least)
		for _, f := range m.Fields {
			r.fill(f.Type, one[f.Offset:])
		}
		list = append(list, one)
	}
	return list
}

// filler fills in values: the greatest ones, or drawn ones.
type filler struct {
	strs *interp.Strings
	draw *rand.Rand
}

// upTo is a number from 0 to n: n itself if nothing is drawn, and else often one of the two ends, where
// versions differ.
func (r *filler) upTo(n int64) int64 {
	if r.draw == nil || n <= 0 {
		return n
	}
	switch r.draw.IntN(4) {
	case 0:
		return n
	case 1:
		return 0
	}
	return r.draw.Int64N(n + 1)
}

// length is a number of elements. A short list is likelier to have a frame: what a tag says of the optional parts of
// an element must be true of each.
func (r *filler) length(most int) int {
	if r.draw != nil && most > 0 && r.draw.IntN(2) == 0 {
		return 1
	}
	return int(r.upTo(int64(most)))
}

func (r *filler) fill(t *model.Type, v []int64) {
	elems := func(n int, v []int64) {
		for i := range n {
			r.fill(t.Elem, v[i*t.Elem.Slots():])
		}
	}
	switch t.Kind {
	case model.KindBool:
		v[0] = r.upTo(1)
	case model.KindInt, model.KindNode:
		v[0] = t.Lo + r.upTo(t.Hi-t.Lo)
	case model.KindEnum:
		v[0] = r.upTo(int64(len(t.Names)) - 1)
	case model.KindOpaque:
		v[0] = -1
		if t.Bits < 64 {
			v[0] = r.upTo(1<<t.Bits - 1)
		}
	case model.KindBytes:
		n := min(t.Cap, 1<<10)
		if !t.Exact {
			n = int(r.upTo(int64(n)))
		}
		v[0] = r.strs.Intern([]byte(strings.Repeat("x", n)))
	case model.KindOptional:
		if v[0] = r.upTo(1); v[0] != 0 {
			r.fill(t.Elem, v[1:])
		}
	case model.KindRecord:
		for _, f := range t.Fields {
			r.fill(f.Type, v[f.Offset:])
		}
	case model.KindArray:
		elems(int(t.Index.Count()), v)
	case model.KindList:
		n := r.length(t.Cap)
		v[0] = int64(n)
		elems(n, v[1:])
	case model.KindSet:
		for i := range t.Elem.Count() {
			v[0] |= r.upTo(1) << i
		}
	}
}

// tries lets each version read messages of the other that have changed: at most one of each reader, one that it
// refuses or misreads before one that it reads. other gives the counterpart of each message that has one.
func (x *pair) tries(m [2]*model.Message) (list []Try) {
	for v, one := range m {
		if one == nil {
			continue
		}
		var best *Try
		for _, slots := range samples(one, x.strs) {
			t := x.try(v, one, m[1-v], slots)
			if t != nil && (best == nil || worse(t.Result) > worse(best.Result)) {
				best = t
			}
		}
		if best != nil {
			list = append(list, *best)
		}
	}
	return list
}

func worse(result string) int { return slices.Index([]string{Reads, Misreads, Refuses}, result) }

// try lets the other version read one message; nil if it has no frame.
func (x *pair) try(v int, m, meant *model.Message, slots []int64) *Try {
	wired := x.p[v].WireOf(m) != nil
	if wired {
		if _, err := interp.AppendFrame(x.p[v], x.strs, nil, m, slots); err.Problem != 0 {
			return nil
		}
	}
	t := &Try{Reader: names[1-v], Sent: string(interp.AppendMessage(nil, x.strs, m, slots))}
	r := x.reads(v, m, slots, x.receiver(1-v, m))
	t.Frame = shortHex(r.frame)
	if r.message == nil {
		t.Result, t.Why, t.At = Refuses, r.why, r.err.Offset
		return t
	}
	t.Result, t.Read = Reads, string(interp.AppendMessage(nil, x.strs, r.message, r.slots))
	if r.message != meant || !x.same(v, m, slots, r) {
		t.Result = Misreads
	}
	return t
}

// same reports whether what was read is what was sent: all fields of the same name have the same values, and where the
// names are others those at the same place.
func (x *pair) same(v int, m *model.Message, slots []int64, r reading) bool {
	for k, f := range m.Fields {
		at := slices.IndexFunc(r.message.Fields, func(o *model.Field) bool { return o.Name == f.Name })
		if at < 0 && len(m.Fields) == len(r.message.Fields) {
			at = k
		}
		if at < 0 {
			continue
		}
		o := r.message.Fields[at]
		a := interp.AppendValue(nil, x.strs, f.Type, slots[f.Offset:f.Offset+f.Type.Slots()])
		b := interp.AppendValue(nil, x.strs, o.Type, r.slots[o.Offset:o.Offset+o.Type.Slots()])
		if string(a) != string(b) && !alias(f.Type, o.Type, slots[f.Offset], r.slots[o.Offset]) {
			return false
		}
	}
	return true
}

// alias reports whether two values of enumerations are one under two names: they have the same code and place.
func alias(a, b *model.Type, v, w int64) bool {
	return a.Kind == model.KindEnum && b.Kind == model.KindEnum && v == w && a.Codes[v] == b.Codes[w] &&
		!slices.Contains(b.Names, a.Names[v])
}

// receiver is a role that gets a message of the other version; empty if any does.
func (x *pair) receiver(v int, m *model.Message) string {
	if m.From == "" {
		return ""
	}
	for _, r := range x.p[v].Roles {
		if r.Name != m.From {
			return r.Name
		}
	}
	return ""
}

// shownBytes is how many bytes of a frame are told.
const shownBytes = 16

func shortHex(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	text, rest := "", ""
	if len(b) > shownBytes {
		b, rest = b[:shownBytes], " …"
	}
	for i, c := range b {
		if i > 0 {
			text += " "
		}
		text += hex.EncodeToString([]byte{c})
	}
	return text + rest
}
