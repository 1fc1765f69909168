package conform

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/draw"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/wire"
)

// TestRandomRuns compares the implementations along random sequences of
// events with arguments of the full types. Of several candidates that the
// present state takes one is chosen, so that runs get somewhere.
func TestRandomRuns(t *testing.T) {
	for _, target := range allTargets() {
		p := load(t, filepath.Join("../..", target.Spec), compile.Options{})
		t.Run(p.Name, func(t *testing.T) {
			pair, err := New(p, target)
			if err != nil {
				t.Fatal(err)
			}
			events := Samples(pair.Role)
			rapid.Check(t, func(t *rapid.T) {
				v := make(interp.Value, pair.Role.Size)
				if rapid.Bool().Draw(t, "anywhere") {
					drawMachine(t, pair.Strings, pair.Role, v)
				} else {
					v = begin(t, pair)
				}
				for range rapid.IntRange(1, 60).Draw(t, "steps") {
					ev := drawEvent(t, pair, v, events)
					next, err := pair.Compare(v, ev)
					if err != nil {
						t.Fatal(err)
					}
					v = append(v[:0:0], next...)
				}
			})
			for _, tr := range pair.Role.Transitions {
				if tr.Mode == model.Handle && !pair.Fired[tr.ID] {
					t.Logf("%s: %s was never taken", tr.Span, tr.Name)
				}
			}
		})
	}
}

// begin makes a machine with drawn parameters at its beginning.
func begin(t *rapid.T, pair *Pair) interp.Value {
	var args [][]int64
	for _, param := range pair.Role.Params {
		a := make([]int64, param.Type.Slots())
		draw.Value(t, pair.Strings, param.Type, a, false)
		args = append(args, a)
	}
	v, err := interp.NewValue(pair.Role, pair.Strings, args...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTargets holds the table of packages against the specifications.
func TestTargets(t *testing.T) {
	files, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	known := map[string]bool{}
	for _, target := range Targets {
		known[target.Spec+" "+target.Role] = true
	}
	for _, f := range files {
		for _, r := range golang.Programs(load(t, f, compile.Options{})) {
			if name := strings.TrimPrefix(filepath.ToSlash(f), "../../") + " " + r.Name; !known[name] {
				t.Errorf("%s is not in Targets: add a line to targets.go", name)
			}
		}
	}
}

// drawEvent draws an event. Most are such that the machine takes them, if one is met in a few draws; in
// one of four draws it may as well refuse, which both must do then.
func drawEvent(t *rapid.T, pair *Pair, v interp.Value, events []interp.Event) interp.Event {
	any := rapid.IntRange(0, 3).Draw(t, "any") == 0
	for try := 0; ; try++ {
		ev := rapid.SampledFrom(events).Draw(t, "event")
		// a driver has timers by number
		ev.Args = draw.Fields(t, pair.Strings, ev.Event.Fields, ev.Event.Kind != model.EventTimer)
		ev.Sender = rapid.IntRange(0, 2).Draw(t, "sender")
		if _, _, res, _ := pair.in.Step(v, ev); any || res.Code == fsm.Took || try == 8 {
			return ev
		}
	}
}

// drawMachine draws any value of a machine: any state, variables, timers and parts, also such as
// no run leads to. A step means something for each of them.
func drawMachine(t *rapid.T, strs *interp.Strings, m *model.Machine, dst []int64) {
	dst[0] = rapid.Int64Range(0, int64(len(m.States))-1).Draw(t, "state")
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, d := range list {
			draw.Value(t, strs, d.Type, dst[d.Offset:], false)
		}
	}
	for _, d := range m.Timers {
		for i := range d.Count {
			dst[d.Offset+i] = rapid.Int64Range(0, 1).Draw(t, "armed")
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			drawMachine(t, strs, p.Machine, dst[p.Offset+i*p.Machine.Size:])
		}
	}
}

// codec is a package's codec with the model it was generated from.
type codec struct {
	*Pair
	decode, append reflect.Value
	message        reflect.Value
}

func newCodec(t testing.TB, target Target) *codec {
	pair, err := New(load(t, filepath.Join("../..", target.Spec), compile.Options{}), target)
	if err != nil {
		t.Fatal(err)
	}
	c := &codec{Pair: pair, decode: reflect.ValueOf(target.Decode), append: reflect.ValueOf(target.Append)}
	c.message = reflect.New(c.decode.Type().In(1).Elem())
	return c
}

// encoded compares the encodings of one message and returns the frame.
func (c *codec) encoded(t rapid.TB, m *model.Message, slots []int64) []byte {
	c.setMessage(c.message.Elem(), m, slots)
	out := c.append.Call([]reflect.Value{reflect.ValueOf([]byte("x")), c.message})
	err, _ := out[1].Interface().(error)
	want, werr := interp.AppendFrame(c.Protocol, c.Strings, []byte("x"), m, slots)
	if got := out[0].Bytes(); !bytes.Equal(got, want) || !sameError(err, werr) {
		t.Fatalf("%s encodes to % x, %v; the interpreter has % x, %v",
			interp.AppendMessage(nil, c.Strings, m, slots), got, err, want, werr)
	}
	return want[1:]
}

// decoded compares the decodings of some bytes.
func (c *codec) decoded(t rapid.TB, b []byte) {
	wm, wslots, werr := interp.DecodeFrame(c.Protocol, c.Strings, b)
	err, _ := c.decode.Call([]reflect.Value{reflect.ValueOf(b), c.message})[0].Interface().(error)
	if !sameError(err, werr) {
		t.Fatalf("% x: %#v; the interpreter says %#v", b, err, werr)
	}
	if err == nil {
		m, slots := c.getMessage(c.message.Elem())
		if m != wm || !interp.Value(slots).Equal(wslots) {
			t.Fatalf("% x: %s %v; the interpreter has %s %v", b, m.Name, slots, wm.Name, wslots)
		}
	}
	n, err := c.target.FrameSize(b)
	wn, werr := interp.FrameSize(c.Protocol, b)
	if werr.Problem != 0 {
		wn = 0
	}
	if n != wn || !sameError(err, werr) {
		t.Fatalf("% x: size %d, %v; the interpreter has %d, %v", b, n, err, wn, werr)
	}
}

// TestCodecs compares the codecs on random messages, and on what is left of
// their frames after a few changes.
func TestCodecs(t *testing.T) {
	for _, target := range allTargets() {
		c := newCodec(t, target)
		if c.Protocol.Several() {
			continue // TestWires has the codecs of channels
		}
		t.Run(c.Protocol.Name, func(t *testing.T) {
			for _, m := range c.Protocol.Messages {
				record := &model.Type{Kind: model.KindRecord, Fields: m.Fields}
				for _, high := range []bool{false, true} {
					slots := make([]int64, interp.FieldSlots(m.Fields))
					Extreme(c.Strings, record, slots, high)
					c.decoded(t, c.encoded(t, m, slots))
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				m := rapid.SampledFrom(c.Protocol.Messages).Draw(t, "message")
				slots := draw.Fields(t, c.Strings, m.Fields, false)
				frame := c.encoded(t, m, slots)
				c.decoded(t, frame)
				if _, _, err := interp.DecodeFrame(c.Protocol, c.Strings, frame); err.Problem != 0 &&
					err.Problem != wire.Short && len(frame) > 0 {
					t.Logf("%s does not come back: %v", m.Name, err)
				}
				c.decoded(t, damaged(t, frame))
			})
		})
	}
}

// damaged changes a few bytes of a frame, cuts it or makes it longer.
func damaged(t *rapid.T, frame []byte) []byte {
	b := append([]byte(nil), frame...)
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		if len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
	}
	b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
	return append(b, rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "more")...)
}

// FuzzCodecs compares the codecs on any bytes; the first byte chooses the protocol.
func FuzzCodecs(f *testing.F) {
	var codecs []*codec
	for i, target := range allTargets() {
		c := newCodec(f, target)
		if c.Protocol.Several() {
			continue
		}
		codecs = append(codecs, c)
		for _, m := range c.Protocol.Messages {
			slots := make([]int64, interp.FieldSlots(m.Fields))
			interp.Zero(&model.Type{Kind: model.KindRecord, Fields: m.Fields}, slots)
			if frame, err := interp.AppendFrame(c.Protocol, c.Strings, []byte{byte(i)}, m, slots); err.Problem == 0 {
				f.Add(frame)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 0 {
			codecs[int(b[0])%len(codecs)].decoded(t, b[1:])
		}
	})
}
