package linktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// pause is how long a reader waits for a frame that may have been lost.
const pause = 20 * time.Millisecond

// tryNext is next, with nil for a frame that does not come.
func (r *reader) tryNext() ([]byte, error) {
	r.link.Interrupt(time.Now().Add(pause))
	defer r.link.Interrupt(time.Time{})
	f, err := r.next()
	if errors.Is(err, transport.ErrInterrupted) {
		return nil, nil
	}
	return f, err
}

// promises holds what arrives against what the link declares.
type promises struct {
	props transport.Properties
	seen  map[int]bool
	last  int
}

func (p *promises) check(t *testing.T, f []byte) {
	t.Helper()
	if len(f) < 6 {
		t.Fatalf("% x arrived, which was not sent", f)
	}
	n := int(binary.BigEndian.Uint32(f[2:]))
	if !bytes.Equal(f, frame(n, sizeOf(n))) {
		t.Fatalf("frame %d arrived as % x", n, f)
	}
	if p.seen[n] && !p.props.Duplicating {
		t.Fatalf("frame %d arrived twice", n)
	}
	if n < p.last && p.props.Ordered {
		t.Fatalf("frame %d arrived after frame %d", n, p.last)
	}
	p.seen[n], p.last = true, max(n, p.last)
}

// sizeOf is the size of frame n: a few have the same, then comes a longer or a shorter one.
func sizeOf(n int) int { return 6 + n/3*37%300 }

// testPromises sends frames of many sizes in small portions, each frame by itself or all of a
// portion in one flush.
func testPromises(t *testing.T, a, b transport.Link) {
	if a.Properties().Stream {
		t.Skip("a stream has no frames")
	}
	const count = 300
	r, p := newReader(b), promises{props: a.Properties(), seen: map[int]bool{}}
	for n := 0; n < count; n++ {
		if err := a.Send(0, frame(n, sizeOf(n))); err != nil {
			t.Fatal(err)
		}
		if n%20 > 10 && n%10 != 9 {
			continue
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		if n%10 != 9 {
			continue
		}
		for range 10 {
			f, err := r.tryNext()
			if err != nil {
				t.Fatal(err)
			}
			if f == nil {
				break
			}
			p.check(t, f)
		}
	}
	for p.props.Reliable && len(p.seen) < count { // they come, however late
		f, err := r.next()
		if err != nil {
			t.Fatalf("%d of %d frames arrived over a reliable link: %v", len(p.seen), count, err)
		}
		p.check(t, f)
	}
	for {
		f, err := r.tryNext()
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			break
		}
		p.check(t, f)
	}
	if n := len(p.seen); n < count/4 {
		t.Errorf("%d of %d frames arrived", n, count)
	}
}

// testSmallBuffer receives into a buffer that is too small for one frame: it
// is dropped whole, and the next one arrives.
func testSmallBuffer(t *testing.T, a, b transport.Link) {
	if a.Properties().Stream {
		t.Skip("a stream has no frames")
	}
	send(t, a, frame(1, 200))
	send(t, a, frame(2, 100))
	small := make([]byte, 100)
	got, err := b.Receive(small)
	if err != nil || !bytes.Equal(small[:got.N], frame(2, 100)) {
		t.Errorf("got % x, %v", small[:got.N], err)
	}
}

// testFloodUnreliable sends far more than anybody buffers to a peer that does
// not read: sending neither blocks nor ends the link.
func testFloodUnreliable(t *testing.T, a, b transport.Link) {
	if reliable(a) {
		t.Skip("a reliable link says that its queue is full")
	}
	for n := range 5000 { // no link buffers half as many
		if err := a.Send(0, frame(n, 1000)); err != nil && !errors.Is(err, transport.ErrQueueFull) {
			t.Fatal(err)
		}
		if err := a.Flush(); err != nil && !errors.Is(err, transport.ErrQueueFull) {
			t.Fatal(err)
		}
	}
	r := newReader(b)
	for {
		f, err := r.tryNext()
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			break
		}
		if !flooded(f) {
			t.Fatalf("in the flood arrived % x", f)
		}
	}
	for { // until it comes, or the patience of the suite is over
		send(t, a, frame(7, 30))
		f, err := r.tryNext()
		switch {
		case err != nil:
			t.Fatalf("nothing arrives after the flood: %v", err)
		case bytes.Equal(f, frame(7, 30)):
			return
		case f != nil && !flooded(f): // who carries the flood may still be at it
			t.Fatalf("after the flood: % x", f)
		}
	}
}

// flooded says that a frame is one of the flood.
func flooded(f []byte) bool {
	return len(f) == 1000 && bytes.Equal(f, frame(int(binary.BigEndian.Uint32(f[2:])), 1000))
}
