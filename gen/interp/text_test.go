package interp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"pgregory.net/rapid"
)

var scalars = []*model.Type{
	boolType, ranged(0, 13), ranged(-5, 5),
	{Kind: model.KindEnum, Name: "Ship", Names: []string{"orz", "vux", "empty"}, Codes: []int64{0, 7, 255}},
	{Kind: model.KindOpaque, Bits: 64}, {Kind: model.KindOpaque, Bits: 8},
	{Kind: model.KindBytes, Cap: 9},
	{Kind: model.KindNode, Hi: 3},
}

// drawType makes a random type; deep limits nesting.
func drawType(t *rapid.T, deep int) *model.Type {
	kind := rapid.IntRange(0, 12).Draw(t, "kind")
	if deep == 0 {
		kind %= len(scalars)
	}
	switch kind {
	case 8:
		return optional(drawType(t, 0))
	case 9:
		list := []any{}
		for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
			list = append(list, fmt.Sprint("f", i), drawType(t, deep-1))
		}
		return &model.Type{Kind: model.KindRecord, Fields: fields(list...)}
	case 10:
		return &model.Type{Kind: model.KindArray,
			Index: rapid.SampledFrom([]*model.Type{boolType, ranged(2, 4)}).Draw(t, "index"), Elem: drawType(t, deep-1)}
	case 11:
		return &model.Type{Kind: model.KindList, Cap: rapid.IntRange(0, 4).Draw(t, "cap"), Elem: drawType(t, deep-1)}
	case 12:
		return &model.Type{Kind: model.KindSet, Elem: ranged(-2, 9)}
	}
	return scalars[kind]
}

// drawValue fills v with a random value of t.
func drawValue(rt *rapid.T, strs *Strings, t *model.Type, v []int64) {
	switch t.Kind {
	case model.KindOpaque:
		v[0] = int64(rapid.Uint64Range(0, largest(t.Bits)).Draw(rt, "opaque"))
	case model.KindBytes:
		b := rapid.SliceOfN(rapid.ByteRange(1, 255), 0, t.Cap).Draw(rt, "text")
		v[0] = strs.Intern(b)
	case model.KindOptional:
		if v[0] = truth(rapid.Bool().Draw(rt, "some")); v[0] != 0 {
			drawValue(rt, strs, t.Elem, v[1:])
		}
	case model.KindRecord:
		for _, f := range t.Fields {
			drawValue(rt, strs, f.Type, v[f.Offset:])
		}
	case model.KindArray, model.KindList:
		count := 0
		if t.Kind == model.KindArray {
			count = int(t.Index.Count())
		} else {
			count = rapid.IntRange(0, t.Cap).Draw(rt, "len")
			v[0], v = int64(count), v[1:]
		}
		for i := range count {
			drawValue(rt, strs, t.Elem, v[i*t.Elem.Slots():])
		}
	default:
		v[0] = rapid.Int64Range(t.Lowest(), highest(t)).Draw(rt, "number")
	}
}

func TestValueText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		strs := &Strings{}
		typ := drawType(rt, 2)
		v := make([]int64, typ.Slots())
		drawValue(rt, strs, typ, v)
		text := string(AppendValue(nil, strs, typ, v))
		got, err := ParseValue(typ, strs, text)
		if err != nil || !slices.Equal(got, v) {
			rt.Fatalf("%s: %v, %v; want %v", text, got, err, v)
		}
		x := Eval{Strings: strs}
		if why := x.fit(typ, make([]int64, len(v)), typ, v); why != "" {
			rt.Fatalf("%s does not fit its own type: %s", text, why)
		}
	})
}

func TestMachineText(t *testing.T) {
	m, _ := setupPeer(&model.Type{Kind: model.KindBytes, Cap: 9})
	rapid.Check(t, func(rt *rapid.T) {
		strs := &Strings{}
		v := must(NewValue(m, strs))
		v[0] = rapid.Int64Range(0, 1).Draw(rt, "state")
		for i := range 2 {
			base := m.Parts[0].Offset + i*m.Parts[0].Machine.Size
			for _, d := range m.Parts[0].Machine.Vars {
				drawValue(rt, strs, d.Type, v[base+d.Offset:])
			}
		}
		text := string(AppendMachine(nil, strs, m, v))
		got, err := ParseMachine(m, strs, text)
		if err != nil || !got.Equal(v) {
			rt.Fatalf("%s: %v, %v; want %v", text, got, err, v)
		}
	})
}

func TestEffectText(t *testing.T) {
	m, change := setupPeer(ranged(0, 3))
	for text, want := range map[string]Effect{
		"send CHANGE{property: 1, value: 3} to all": {Kind: fsm.Send, Dest: model.ToBroadcast, To: -1,
			Message: change, Slots: []int64{1, 3}},
		"report changed{property: 0, value: 2}": {Kind: fsm.Report, Report: m.Reports[0], Slots: []int64{0, 2}},
		"close to 2":                            {Kind: fsm.Close, Dest: model.ToExpr, To: 2},
	} {
		got, err := ParseEffect(m, nil, text)
		if err != nil || string(AppendEffect(nil, nil, &got)) != text || got.To != want.To ||
			got.Message != want.Message || !slices.Equal(got.Slots, want.Slots) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestTextErrors(t *testing.T) {
	m, _ := setupPeer(ranged(0, 3))
	for text, want := range map[string]string{
		"bad":                              "peer has no event bad",
		"leave{}":                          `column 6: "{}" is too much`,
		"change":                           `column 7: "{" expected`,
		"change{value: 1}":                 "column 13: field property expected, not value",
		"change{property: 1, value: 4}":    "column 29: 4 is outside 0..3",
		"change{property: x, value: 4}":    "column 18: a number expected",
		"change{property: 1, value: 2} no": `column 31: "no" is too much`,
	} {
		if _, err := ParseEvent(m, nil, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzParseEvent sees that no text makes the parser fail otherwise than by an
// error, and that what it accepts is written the same way again.
func FuzzParseEvent(f *testing.F) {
	m, _ := setupPeer(&model.Type{Kind: model.KindRecord,
		Fields: fields("t", scalars[6], "o", optional(scalars[3]), "l",
			&model.Type{Kind: model.KindList, Cap: 2, Elem: boolType})})
	f.Add(`change{property: 1, value: {t: "a\n", o: vux, l: [true, false]}}`)
	f.Add(`update.changed{property: 0, value: {t: "", o: none, l: []}}`)
	f.Fuzz(func(t *testing.T, text string) {
		strs := &Strings{}
		ev, err := ParseEvent(m, strs, text)
		if err != nil {
			return
		}
		again := string(AppendEvent(nil, strs, ev))
		ev2, err := ParseEvent(m, strs, again)
		if err != nil || ev2.Event != ev.Event || !slices.Equal(ev.Args, ev2.Args) {
			t.Fatalf("%q was written as %q, which is %v, %v", text, again, ev2, err)
		}
	})
}
