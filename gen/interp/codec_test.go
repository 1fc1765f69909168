package interp

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
	"pgregory.net/rapid"
)

func width(n int) model.Number { return model.Number{Bits: n} }

// fleetProtocol has the wire of three messages of a real game.
func fleetProtocol(forgiving bool) *model.Protocol {
	ship := &model.Type{Kind: model.KindEnum, Name: "Ship", Names: []string{"orz", "vux", "empty"},
		Codes: []int64{11, 22, 255}}
	entry := &model.Type{Kind: model.KindRecord, Fields: fields("slot", ranged(0, 13), "ship", ship)}
	fleet := &model.Message{Name: "FLEET", ID: 4,
		Fields: fields("own", boolType, "entries", &model.Type{Kind: model.KindList, Elem: entry, Cap: 3})}
	f := fleet.Fields
	fleet.Layout = []model.WireItem{
		&model.WireInt{Field: f[0], Number: width(8)}, &model.WirePad{Bytes: 1},
		&model.WireCount{Field: f[1], Number: width(16)},
		&model.WireEach{Field: f[1], Items: []model.WireItem{&model.WireInt{Field: entry.Fields[0], Number: width(8)},
			&model.WireInt{Field: entry.Fields[1], Number: width(8)}}},
		&model.WireAlign{To: 4, Since: -1},
	}
	name := &model.Message{Name: "NAME", ID: 5,
		Fields: fields("own", boolType, "name", &model.Type{Kind: model.KindBytes, Cap: 5})}
	name.Layout = []model.WireItem{
		&model.WireInt{Field: name.Fields[0], Number: model.Number{Bits: 8, Nonzero: forgiving}},
		&model.WirePad{Bytes: 1},
		&model.WireBytes{Field: name.Fields[1], Nul: true, Cut: true}, &model.WireAlign{To: 4, Since: 2},
	}
	sel := &model.Message{Name: "SELECT", ID: 12,
		Fields: fields("slot", optional(ranged(1, 13)), "seed", &model.Type{Kind: model.KindOpaque, Bits: 16})}
	sel.Layout = []model.WireItem{
		&model.WireInt{Field: sel.Fields[0], Number: width(16), HasNone: true, None: 0xFFFF},
		&model.WireInt{Field: sel.Fields[1], Number: model.Number{Bits: 24, Little: true}},
		&model.WireConst{Number: width(8), Value: 7},
	}
	return &model.Protocol{
		Messages: []*model.Message{fleet, name, sel},
		Wire: &model.Wire{
			Header:    []model.WireItem{&model.WireLength{Number: width(16)}, &model.WireType{Number: width(16)}},
			HeaderLen: 4, Max: 24, Surplus: forgiving},
	}
}

func TestFrames(t *testing.T) {
	p := fleetProtocol(false)
	strs := &Strings{}
	for text, frame := range map[string]string{
		"FLEET{own: true, entries: []}": "\x00\x08\x00\x04\x01\x00\x00\x00",
		"FLEET{own: false, entries: [{slot: 3, ship: " +
			"orz}]}": "\x00\x0c\x00\x04\x00\x00\x00\x01\x03\x0b\x00\x00",
		"FLEET{own: false, entries: [{slot: 3, ship: orz}, {slot: 13, ship: " +
			"empty}]}": "\x00\x0c\x00\x04\x00\x00\x00\x02\x03\x0b\x0d\xff",
		`NAME{own: true, name: ""}`:     "\x00\x0a\x00\x05\x01\x00\x00\x00\x00\x00",
		`NAME{own: true, name: "abcd"}`: "\x00\x0e\x00\x05\x01\x00abcd\x00\x00\x00\x00",
		"SELECT{slot: none, seed: 258}": "\x00\x0a\x00\x0c\xff\xff\x02\x01\x00\x07",
		"SELECT{slot: 13, seed: 65535}": "\x00\x0a\x00\x0c\x00\x0d\xff\xff\x00\x07",
	} {
		msg, slots, err := ParseMessage(p, strs, text)
		if err != nil {
			t.Fatal(err)
		}
		got, werr := AppendFrame(p, strs, []byte("x"), msg, slots)
		if werr.Problem != 0 || string(got) != "x"+frame {
			t.Errorf("%s: %q, %v", text, got, werr)
		}
		msg2, slots2, werr := DecodeFrame(p, strs, []byte(frame))
		if msg2 != msg || !slices.Equal(slots, slots2) || werr.Problem != 0 {
			t.Errorf("%s: %v, %v", text, slots2, werr)
		}
		if n, werr := FrameSize(p, []byte(frame+"more")); n != len(frame) || werr.Problem != 0 {
			t.Errorf("%s: size %d, %v", text, n, werr)
		}
	}
}

func TestFrameErrors(t *testing.T) {
	p, strs := fleetProtocol(false), &Strings{}
	for frame, want := range map[string]wire.Error{
		"\x00\x08\x00":                         {Problem: wire.Short, Value: 3, Limit: 4},
		"\x00\x08\x00\x63\x00\x00\x00\x00":     {Offset: 2, Problem: wire.UnknownType, Value: 99},
		"\x00\x07\x00\x04\x00\x00\x00\x00":     {Message: "FLEET", Problem: wire.Short, Value: 7, Limit: 8},
		"\x00\x19\x00\x04\x00\x00\x00\x00":     {Message: "FLEET", Problem: wire.Long, Value: 25, Limit: 24},
		"\x00\x09\x00\x04\x00\x00\x00\x00":     {Message: "FLEET", Problem: wire.Short, Value: 8, Limit: 9},
		"\x00\x08\x00\x04\x00\x00\x00\x00\x00": {Message: "FLEET", Offset: 8, Problem: wire.Trailing, Value: 1},
		"\x00\x09\x00\x04\x00\x00\x00\x00\x00": {Message: "FLEET", Offset: 8, Problem: wire.Trailing, Value: 1},
		"\x00\x08\x00\x05\x02\x09ab": {Message: "NAME", Field: "own", Offset: 4,
			Problem: wire.Range, Value: 2, Limit: 1},
		"\x00\x08\x00\x04\x00\x00\x00\x04": {Message: "FLEET", Field: "entries", Offset: 6,
			Problem: wire.Count, Value: 4, Limit: 3},
		"\x00\x09\x00\x04\x00\x00\x00\x01\x01": {Message: "FLEET", Field: "entries.ship", Offset: 9,
			Problem: wire.Short, Value: 9, Limit: 10},
		"\x00\x0a\x00\x04\x00\x00\x00\x01\x0e\x0b": {Message: "FLEET", Field: "entries.slot", Offset: 8,
			Problem: wire.Range, Value: 14, Limit: 13},
		"\x00\x0a\x00\x04\x00\x00\x00\x01\x0d\x0c": {Message: "FLEET", Field: "entries.ship", Offset: 9,
			Problem: wire.Range, Value: 12, Limit: 255},
		"\x00\x0a\x00\x0c\x00\x00\x00\x00\x00\x07": {Message: "SELECT", Field: "slot", Offset: 4,
			Problem: wire.Range, Value: 0, Limit: 1},
		"\x00\x0a\x00\x0c\x00\x01\x00\x00\x01\x07": {Message: "SELECT", Field: "seed", Offset: 6,
			Problem: wire.Range, Value: 65536, Limit: 65535},
		"\x00\x0a\x00\x0c\x00\x01\x00\x00\x00\x08": {Message: "SELECT", Offset: 9, Problem: wire.Mismatch,
			Value: 8, Limit: 7},
	} {
		if _, _, err := DecodeFrame(p, strs, []byte(frame)); err != want {
			t.Errorf("%q:\n got %+v\nwant %+v", frame, err, want)
		}
	}
	long, _, _ := ParseMessage(p, strs, `NAME{own: true, name: "abcde"}`)
	if b, err := AppendFrame(p, strs, []byte("x"), long, []int64{1, strs.Intern([]byte("a\x00b"))}); string(b) != "x" ||
		err != (wire.Error{Message: "NAME", Field: "name", Offset: 6, Problem: wire.Unterminated, Value: 3, Limit: 5}) {
		t.Errorf("%q, %+v", b, err)
	}
	b, err := AppendFrame(p, strs, nil, long, []int64{1, strs.Intern([]byte("abcdefg"))})
	if msg, slots, err2 := DecodeFrame(p, strs, b); err.Problem != 0 || err2.Problem != 0 || msg != long ||
		strs.Get(slots[1]) != "abcde" {
		t.Errorf("a long text was not cut: %q, %v, %v", b, err, err2)
	}
}

// TestUnfinishedFrames takes what the protocol forgives: missing padding, a text
// without its zero byte, surplus bytes, any number for true.
func TestUnfinishedFrames(t *testing.T) {
	p, strs := fleetProtocol(true), &Strings{}
	for frame, want := range map[string]string{
		"\x00\x0b\x00\x04\x00\x00\x00\x01\x03\x0b\x00":         "FLEET{own: false, entries: [{slot: 3, ship: orz}]}",
		"\x00\x08\x00\x05\x07\x09ab":                           `NAME{own: true, name: "ab"}`,
		"\x00\x06\x00\x05\x00\x00":                             `NAME{own: false, name: ""}`,
		"\x00\x0d\x00\x0c\xff\xff\x02\x01\x00\x07\x01\x02\x03": "SELECT{slot: none, seed: 258}",
	} {
		msg, slots, err := DecodeFrame(p, strs, []byte(frame))
		if err.Problem != 0 {
			t.Errorf("%q: %v", frame, err)
		} else if got := string(AppendMessage(nil, strs, msg, slots)); got != want {
			t.Errorf("%q is %s, want %s", frame, got, want)
		}
	}
}

// drawLayout makes a layout for fields of any scalar type, lists of records and texts.
func drawLayout(rt *rapid.T, n int) (*model.Message, []model.WireItem) {
	msg := &model.Message{Name: "M"}
	var list []any
	var make []func(f *model.Field) []model.WireItem
	little := rapid.Bool().Draw(rt, "little")
	for i := range n {
		t := rapid.SampledFrom([]*model.Type{scalars[0], scalars[1], scalars[3], scalars[4], scalars[5],
			scalars[6]}).Draw(rt, "type")
		item := func(f *model.Field) []model.WireItem {
			return []model.WireItem{&model.WireInt{Field: f, Number: model.Number{Bits: 64, Little: little}}}
		}
		switch shape := rapid.IntRange(0, 3).Draw(rt, "shape"); {
		case t.Kind == model.KindBytes && shape < 2:
			item = func(f *model.Field) []model.WireItem {
				return []model.WireItem{&model.WireBytes{Field: f, Nul: true}}
			}
		case t.Kind == model.KindBytes:
			item = func(f *model.Field) []model.WireItem {
				return []model.WireItem{&model.WireCount{Field: f, Number: width(8)},
					&model.WirePad{Bytes: shape},
					&model.WireBytes{Field: f, Count: true}}
			}
		case shape == 1 && t.Kind != model.KindOpaque:
			t = optional(t)
			item = func(f *model.Field) []model.WireItem {
				return []model.WireItem{&model.WireInt{Field: f, Number: width(16), HasNone: true, None: 999}}
			}
		case shape == 2:
			rec := &model.Type{Kind: model.KindRecord, Fields: fields("x", t)}
			t = &model.Type{Kind: model.KindList, Cap: 3, Elem: rec}
			item = func(f *model.Field) []model.WireItem {
				return []model.WireItem{&model.WireCount{Field: f, Number: model.Number{Bits: 16, Little: little}},
					&model.WireEach{Field: f,
						Items: []model.WireItem{&model.WireInt{Field: rec.Fields[0], Number: width(64)},
							&model.WireAlign{To: 3, Since: 0}}}}
			}
		}
		list, make = append(list, fmt.Sprint("f", i), t), append(make, item)
	}
	msg.Fields = fields(list...)
	for i, f := range msg.Fields {
		msg.Layout = append(msg.Layout, make[i](f)...)
	}
	return msg, msg.Layout
}

func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		msg, _ := drawLayout(rt, rapid.IntRange(0, 4).Draw(rt, "fields"))
		p := &model.Protocol{Messages: []*model.Message{msg}, Wire: &model.Wire{
			Header: []model.WireItem{&model.WireConst{Number: width(8), Value: 9}, &model.WireLength{Number: width(16),
				Of: rapid.SampledFrom([]model.LengthOf{0, 1, 2}).Draw(rt, "of")}},
			HeaderLen: 3, Max: 500}}
		strs := &Strings{}
		slots := make([]int64, FieldSlots(msg.Fields))
		for _, f := range msg.Fields {
			drawValue(rt, strs, f.Type, slots[f.Offset:])
		}
		b, err := AppendFrame(p, strs, nil, msg, slots)
		if err.Problem != 0 {
			rt.Fatal(err)
		}
		_, got, err := DecodeFrame(p, strs, b)
		if err.Problem != 0 || !slices.Equal(got, slots) {
			rt.Fatalf("%q: %v, %v; want %v", b, got, err, slots)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(rt, "cut")
		if n, err := FrameSize(p, b[:cut]); err.Problem != 0 || n != 0 && n != len(b) {
			rt.Fatalf("%q: size %d, %v", b[:cut], n, err)
		}
		if _, _, err := DecodeFrame(p, strs, b[:cut]); err.Problem == 0 {
			rt.Fatalf("%q was taken for a whole frame", b[:cut])
		}
	})
}

// FuzzDecodeFrame sees that what decodes has an encoding that decodes to the same.
func FuzzDecodeFrame(f *testing.F) {
	p := fleetProtocol(true)
	f.Add([]byte("\x00\x0c\x00\x04\x00\x00\x00\x01\x03\x0b\x00\x00"))
	f.Add([]byte("\x00\x0e\x00\x05\x01\x00abcd\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x0a\x00\x0c\xff\xff\x02\x01\x00\x07"))
	f.Fuzz(func(t *testing.T, b []byte) {
		strs := &Strings{}
		old := bytes.Clone(b)
		msg, slots, err := DecodeFrame(p, strs, b)
		if !bytes.Equal(b, old) {
			t.Fatal("the frame was changed")
		}
		if err.Problem != 0 {
			return
		}
		again, err := AppendFrame(p, strs, nil, msg, slots)
		if err.Problem != 0 {
			t.Fatalf("%q: %v", b, err)
		}
		msg2, slots2, err := DecodeFrame(p, strs, again)
		if msg2 != msg || !slices.Equal(slots, slots2) || err.Problem != 0 {
			t.Fatalf("%q: %v, %v", again, slots2, err)
		}
	})
}
