package formats

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// load compiles a specification; it returns nil and why if that has no meaning.
func load(text string) (*model.Protocol, diag.List) {
	return compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
}

// meant draws a specification that has a meaning.
func meant(t *rapid.T) (string, *model.Protocol) {
	for {
		text := Draw().Draw(t, "specification")
		if p, _ := load(text); p != nil {
			return text, p
		}
	}
}

// frames draws messages of a protocol. For each that has a frame it calls use with that, and with what is left of it
// after a few changes.
func frames(t *rapid.T, p *model.Protocol, messages, changes int,
	drawn func(*interp.Strings, *model.Message, []int64), use func(frame []byte)) {
	strs := &interp.Strings{}
	for range messages {
		m := rapid.SampledFrom(p.Messages).Draw(t, "message")
		slots := Message(t, strs, m)
		if drawn != nil {
			drawn(strs, m, slots)
		}
		frame, err := interp.AppendFrame(p, strs, nil, m, slots)
		if err.Problem != 0 {
			continue
		}
		use(frame)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "changes"), 1))
		for range changes {
			use(changed(r, frame))
		}
	}
}

// changed changes a few bytes of a frame, leaves some out, or puts some in.
func changed(r *rand.Rand, frame []byte) []byte {
	b := bytes.Clone(frame)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b) + 1)
		switch kind := r.IntN(6); {
		case kind == 0 && at < len(b):
			b = append(b[:at], b[at+1:]...)
		case kind == 1:
			b = append(b[:at:at], append([]byte{byte(r.IntN(256))}, b[at:]...)...)
		case kind == 2 && at < len(b):
			b[at] += byte(r.IntN(5)) - 2
		case kind == 3 && r.IntN(4) == 0:
			b = b[:at]
		case at < len(b):
			b[at] = byte([]int{0, 1, 127, 128, 255, r.IntN(256)}[r.IntN(6)])
		}
	}
	return b
}

// tally counts what happened, so that a test can see that it was not idle.
type tally struct{ specs, frames, accepted int }

// comesBack sees that what the reference accepts, it writes again: byte by byte, unless the format says that there
// is what is not looked at.
func (n *tally) comesBack(t rapid.TB, text string, p *model.Protocol, frame []byte) {
	strs := &interp.Strings{}
	n.frames++
	m, slots, err := interp.DecodeFrame(p, strs, frame)
	if err.Problem != 0 {
		if err.Offset < 0 || err.Offset > len(frame) && err.Problem != wire.Short {
			t.Fatalf("%s\n% x: the error %v is beyond the frame", text, frame, err)
		}
		return
	}
	n.accepted++
	said := string(interp.AppendMessage(nil, strs, m, slots))
	again, err := interp.AppendFrame(p, strs, nil, m, slots)
	if err.Problem != 0 || !bytes.Equal(again, frame) && !p.Wire.Loose(m) {
		t.Fatalf("%s\n% x is\n%s, which is written as\n% x, %v", text, frame, said, again, err)
	}
	m2, slots2, err := interp.DecodeFrame(p, strs, again)
	if err.Problem != 0 || string(interp.AppendMessage(nil, strs, m2, slots2)) != said {
		t.Fatalf("%s\n% x is\n%s, and what is written of it, % x, is not: %v", text, frame, said, again, err)
	}
	size, err := interp.FrameSize(p, frame)
	if size != len(frame) || err.Problem != 0 {
		t.Fatalf("%s\n% x has the size %d, %v", text, frame, size, err)
	}
	for k := range frame {
		if size, err := interp.FrameSize(p, frame[:k]); err.Problem != 0 && hasLength(p.Wire) ||
			size != 0 && size != len(frame) && hasLength(p.Wire) {
			t.Fatalf("%s\n% x: its first %d bytes have the size %d, %v", text, frame, k, size, err)
		}
	}
}

// hasLength reports whether a frame says how long it is.
func hasLength(w *model.Wire) bool {
	for _, item := range w.Header {
		if _, ok := item.(*model.WireLength); ok {
			return true
		}
	}
	return w.Self
}

// cuts reports whether texts of a message are cut, or may be.
func cuts(items []model.WireItem) bool {
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireBytes:
			if it.Cut {
				return true
			}
		case *model.WireSized:
			if cuts(it.Items) {
				return true
			}
		case *model.WireIf:
			if cuts(it.Items) {
				return true
			}
		case *model.WireCase:
			for _, b := range it.Branches {
				if cuts(b.Items) {
					return true
				}
			}
		case *model.WireEach:
			if cuts(it.Items) {
				return true
			}
		}
	}
	return false
}

// TestReference holds the reference codec to itself on drawn formats: each message that it writes it reads as the
// same, and each frame that it accepts it writes again.
func TestReference(t *testing.T) {
	var n tally
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			n.specs++
			text, p := meant(t)
			for _, k := range Kinds(text) {
				seen[k]++
			}
			frames(t, p, 8, 30, func(strs *interp.Strings, m *model.Message, slots []int64) {
				readAsWritten(t, text, p, strs, m, slots)
			}, func(frame []byte) { n.comesBack(t, text, p, frame) })
		}
	})
	t.Logf("%d formats, %d frames, of which %d were accepted", n.specs, n.frames, n.accepted)
	if n.accepted*20 < n.frames {
		t.Errorf("of %d frames only %d were accepted", n.frames, n.accepted)
	}
}

// readAsWritten sees that a message which has a frame is read as it was.
func readAsWritten(t rapid.TB, text string, p *model.Protocol, strs *interp.Strings, m *model.Message,
	slots []int64) {
	frame, err := interp.AppendFrame(p, strs, nil, m, slots)
	if err.Problem != 0 || cuts(m.Layout) {
		return
	}
	was := string(interp.AppendMessage(nil, strs, m, slots))
	again, slots, err := interp.DecodeFrame(p, strs, frame)
	if err.Problem != 0 {
		t.Fatalf("%s\n%s is written as\n% x, which is malformed: %v", text, was, frame, err)
	}
	if is := string(interp.AppendMessage(nil, strs, again, slots)); is != was {
		t.Fatalf("%s\n%s is written as\n% x, which is read as\n%s", text, was, frame, is)
	}
}

// TestDrawnFormatsHaveMeanings: few drawn specifications are refused, and all items are drawn.
func TestDrawnFormatsHaveMeanings(t *testing.T) {
	refused, seen := 0, map[string]bool{}
	const all = 400
	for i := range all {
		text := Draw().Example(i)
		p, list := load(text)
		if p == nil {
			refused++
			t.Logf("%v\n%s", list, text)
			continue
		}
		for _, k := range Kinds(text) {
			seen[k] = true
		}
	}
	if refused*10 > all {
		t.Errorf("%d of %d specifications are refused", refused, all)
	}
	for _, k := range kinds {
		if !seen[k] {
			t.Errorf("no specification has %s", k)
		}
	}
}
