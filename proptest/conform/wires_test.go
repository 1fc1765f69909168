package conform

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/conform/sample/arena"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/wire"
)

// TestWires holds the codec of each channel against the reference codec: what its frames are, how long they are, and
// what becomes of damaged ones. Three messages have the number 1, one in each channel and direction.
func TestWires(t *testing.T) {
	t.Parallel()
	p, diags := compile.Load("testdata/arena/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	runners := map[string]fsm.Channeled{"client": arena.NewClientRunner(), "server": arena.NewServerRunner()}
	strs, random := &interp.Strings{}, rand.New(rand.NewPCG(1, 2))
	accepted := map[string]int{}
	for k, ch := range p.Channels() {
		view := p.Over(k)
		for try := range 4000 {
			m := p.Messages[random.IntN(len(p.Messages))] // of any channel
			slots := make([]int64, interp.FieldSlots(m.Fields))
			for i, f := range m.Fields {
				slots[i] = f.Type.Lo + random.Int64N(2000)%(max(f.Type.Hi-f.Type.Lo, 200)+1)
			}
			frame, werr := interp.AppendFrame(p, strs, nil, m, slots)
			if werr.Problem != 0 {
				t.Fatal(m.Name, werr)
			}
			switch random.IntN(4) {
			case 0:
				frame[random.IntN(len(frame))] ^= 1 << random.IntN(8)
			case 1:
				frame = frame[:random.IntN(len(frame)+1)]
			}
			for role, r := range runners {
				size, serr := interp.FrameSizeTo(view, frame, role)
				if n, err := r.FrameSizeOn(k, frame); n != size || !same(err, serr) {
					t.Fatalf("%s: % x has the size %d, %v; %d, %v in the reference", ch.Name, frame, n, err, size, serr)
				}
				got, gslots, gerr := interp.DecodeFrameTo(view, strs, frame, role)
				var msg arena.Message
				err := decodeOn(k, role, frame, &msg)
				if !same(err, gerr) {
					t.Fatalf("%s, to %s: % x: %v, not %v", ch.Name, role, frame, err, gerr)
				}
				if err != nil {
					continue
				}
				if msg.Kind.String() != got.Name || got.Channel != k {
					t.Fatalf("%s: % x is %s, not %s", ch.Name, frame, msg.Kind, got.Name)
				}
				accepted[got.Name+" to "+role]++
				again, err := arena.AppendMessage(nil, &msg)
				want, werr := interp.AppendFrame(p, strs, nil, got, gslots)
				if err != nil || werr.Problem != 0 || !bytes.Equal(again, want) || !bytes.Equal(want, frame) {
					t.Fatalf("%s, try %d: % x comes back as % x and % x (%v, %v)", ch.Name, try, frame, again, want,
						err, werr)
				}
			}
		}
	}
	for _, m := range p.Messages {
		for _, role := range p.Roles {
			if n := accepted[m.Name+" to "+role.Name]; (n > 100) != (m.From != role.Name) {
				t.Errorf("%s came to %s %d times", m.Name, role.Name, n)
			}
		}
	}
}

func decodeOn(channel int, to string, frame []byte, m *arena.Message) error {
	if channel == 1 {
		return arena.DecodeMessageToOnState(to, frame, m)
	}
	return arena.DecodeMessageToOnControl(to, frame, m)
}

// same reports whether an error of a generated codec is that of the reference, which has none without a problem.
func same(err error, want wire.Error) bool {
	var e wire.Error
	return err == nil && want.Problem == 0 || errors.As(err, &e) && e == want
}

// TestWireOf: a view of one channel has that channel's messages and wire alone.
func TestWireOf(t *testing.T) {
	t.Parallel()
	p, diags := compile.Load("testdata/arena/spec.yaml", compile.Options{})
	if p == nil {
		t.Fatal(diags)
	}
	control, state := p.Over(0), p.Over(1)
	if control.Wire != p.Wire || state.Wire == p.Wire || state.Wire.HeaderLen != 5 || control.Several() {
		t.Errorf("wires of %d and %d bytes", control.Wire.HeaderLen, state.Wire.HeaderLen)
	}
	for _, m := range p.Messages {
		if own := map[int]*model.Wire{0: control.Wire, 1: state.Wire}[m.Channel]; p.WireOf(m) != own {
			t.Errorf("%s has the wire of another channel", m.Name)
		}
	}
}
