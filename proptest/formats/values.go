package formats

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/draw"
)

// Message draws the fields of a message, most of them such as have an encoding.
func Message(t *rapid.T, strs *interp.Strings, m *model.Message) []int64 {
	slots := draw.Fields(t, strs, m.Fields, false)
	if rapid.IntRange(0, 9).Draw(t, "any") > 0 {
		v := values{t, strs}
		v.settle(m.Layout, slots)
	}
	return slots
}

// values makes drawn values such as a layout can write.
type values struct {
	t    *rapid.T
	strs *interp.Strings
}

// settle makes optional fields present where they have to be, and gives texts bytes that they may have.
func (v values) settle(items []model.WireItem, slots []int64) {
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireBytes:
			v.text(it, slots[it.Field.Offset:])
		case *model.WireSized:
			v.settle(it.Items, slots)
		case *model.WireIf:
			if it.After != nil && slots[it.After.Offset] == 0 {
				clear(slots[it.Field.Offset : it.Field.Offset+it.Field.Type.Slots()])
			}
			if slots[it.Field.Offset] != 0 {
				v.settle(it.Items, slots)
			}
		case *model.WireCase:
			v.choice(it, slots)
		case *model.WireEach:
			v.elements(it, slots)
		}
	}
}

// choice makes the fields present that the tag chooses, and no others.
func (v values) choice(it *model.WireCase, slots []int64) {
	for _, f := range it.Fields {
		clear(slots[f.Offset : f.Offset+f.Type.Slots()])
	}
	for _, b := range it.Branches {
		if !b.Has(slots[it.Tag.Offset]) {
			continue
		}
		for _, f := range b.Fields {
			slots[f.Offset] = 1
			draw.Value(v.t, v.strs, f.Type.Elem, slots[f.Offset+1:], false)
		}
		v.settle(b.Items, slots)
		return
	}
}

func (v values) elements(it *model.WireEach, slots []int64) {
	t, at := it.Field.Type, it.Field.Offset
	n, size := 0, t.Elem.Slots()
	if t.Kind == model.KindList {
		n, at = int(slots[at]), at+1
	} else {
		n = int(t.Index.Count())
	}
	for i := range n {
		v.settle(it.Items, slots[at+i*size:])
	}
}

// text gives a text or bytes a value that can be written.
func (v values) text(it *model.WireBytes, slots []int64) {
	t := it.Field.Type
	if it.Domain {
		slots[0] = v.strs.Intern([]byte(rapid.SampledFrom([]string{"", "a", "a.bc", "x.a.bc"}).Draw(v.t, "name")))
		return
	}
	if !it.Whole && t.Binary && it.End == "" {
		return // any bytes will do
	}
	least := 0
	if it.Whole {
		least = t.Cap
	}
	b := rapid.SliceOfN(rapid.SampledFrom([]byte("abc~ ")), least, t.Cap).Draw(v.t, "text")
	if it.Tight {
		b = []byte(strings.TrimLeft(string(b), " "))
	}
	slots[0] = v.strs.Intern(b)
}
