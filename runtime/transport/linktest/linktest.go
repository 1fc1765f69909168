// Package linktest holds the conformance suite that every link passes: what
// drivers rely on, tried on a pair of connected links from both sides. Each
// kind of link calls [Run] from a test of its own. It knows links by
// [transport.Link] alone.
package linktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Pair makes two links that are connected to each other, each with the other
// as its peer 0. Their send queues must hold at least Queue bytes and be limited.
type Pair func(t *testing.T) (a, b transport.Link)

// Queue is the least limit of a send queue that the suite is written for, in bytes.
const Queue = 64 << 10

// patience ends a test that would otherwise hang. It is not a measure of speed.
const patience = 30 * time.Second

// Run runs the suite. Parts that only a reliable, ordered link can pass are
// left out for others, by what the link itself declares.
func Run(t *testing.T, pair Pair) {
	tests := []struct {
		name string
		test func(t *testing.T, a, b transport.Link)
	}{
		{"both ways", testBothWays},
		{"order", testOrder},
		{"many in one flush", testCoalesced},
		{"byte by byte", testByteByByte},
		{"interrupt", testInterrupt},
		{"interrupt while waiting", testInterruptWaiting},
		{"silent peer", testSilent},
		{"close delivers", testClose},
		{"close from both sides", testCloseBoth},
		{"sending after the peer's close", testHalfClosed},
		{"abort", testAbort},
		{"use after close", testAfterClose},
		{"flood", testFlood},
		{"oversize", testOversize},
		{"unknown peer", testNoPeer},
		{"everything at once", testConcurrent},
		{"no allocation", testNoAllocation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := pair(t)
			watch := time.AfterFunc(patience, func() { a.Abort(); b.Abort() })
			defer func() {
				if !watch.Stop() {
					t.Errorf("the test did not end by itself")
				}
				a.Abort()
				b.Abort()
			}()
			tt.test(t, a, b)
		})
	}
}

// frame number n: length u16, number u32, filler.
func frame(n, size int) []byte {
	b := make([]byte, max(size, 6))
	binary.BigEndian.PutUint16(b, uint16(len(b)))
	binary.BigEndian.PutUint32(b[2:], uint32(n))
	for i := 6; i < len(b); i++ {
		b[i] = byte(n + i)
	}
	return b
}

func frameSize(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, nil
	}
	return int(binary.BigEndian.Uint16(b)), nil
}

const maxFrame = 1024

// reader takes frames from a link of either kind.
type reader struct {
	link  transport.Link
	split *transport.Splitter
	buf   []byte
}

func newReader(l transport.Link) *reader {
	r := &reader{link: l, buf: make([]byte, maxFrame)}
	if l.Properties().Stream {
		r.split = transport.NewSplitter(frameSize, maxFrame, 0)
	}
	return r
}

func (r *reader) next() ([]byte, error) {
	if r.split == nil {
		got, err := r.link.Receive(r.buf)
		return r.buf[:got.N], err
	}
	for {
		if f, err := r.split.Next(); f != nil || err != nil {
			return f, err
		}
		got, err := r.link.Receive(r.split.Space())
		if err != nil {
			return nil, err
		}
		if got.N < 1 {
			return nil, errors.New("Receive returned nothing and no error")
		}
		r.split.Filled(got.N)
	}
}

func (r *reader) expect(t *testing.T, n, size int) {
	t.Helper()
	f, err := r.next()
	if err != nil {
		t.Fatalf("frame %d: %v", n, err)
	}
	if !bytes.Equal(f, frame(n, size)) {
		t.Fatalf("frame %d arrived as % x", n, f)
	}
}

func send(t *testing.T, l transport.Link, b []byte) {
	t.Helper()
	if err := l.Send(0, b); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

func reliable(l transport.Link) bool {
	p := l.Properties()
	return p.Ordered && p.Reliable && !p.Duplicating
}

func testBothWays(t *testing.T, a, b transport.Link) {
	ra, rb := newReader(a), newReader(b)
	for n := range 10 {
		send(t, a, frame(n, 20))
		rb.expect(t, n, 20)
		send(t, b, frame(n, 30))
		ra.expect(t, n, 30)
	}
	if err := a.Send(transport.All, frame(10, 8)); err != nil {
		t.Fatal(err)
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	rb.expect(t, 10, 8)
}

func testOrder(t *testing.T, a, b transport.Link) {
	if !reliable(a) {
		t.Skip("the link does not promise it")
	}
	const count = 2000
	r := newReader(b)
	for n := 0; n < count; n += 10 {
		for i := range 10 {
			send(t, a, frame(n+i, 6+(n+i)%200))
		}
		for i := range 10 {
			r.expect(t, n+i, 6+(n+i)%200)
		}
	}
}

func testCoalesced(t *testing.T, a, b transport.Link) {
	const count = 100
	for n := range count {
		if err := a.Send(0, frame(n, 40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	r := newReader(b)
	for n := range count {
		r.expect(t, n, 40)
	}
}

func testByteByByte(t *testing.T, a, b transport.Link) {
	if !a.Properties().Stream {
		t.Skip("not a stream")
	}
	r := newReader(b)
	for n := range 5 {
		f := frame(n, 50)
		for i := range f {
			send(t, a, f[i:i+1])
		}
		r.expect(t, n, 50)
	}
}

func testInterrupt(t *testing.T, a, b transport.Link) {
	r := newReader(b)
	b.Interrupt(time.Unix(1, 0))
	for range 3 {
		if _, err := r.next(); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatalf("with a time long past: %v", err)
		}
	}
	b.Interrupt(time.Time{})
	send(t, a, frame(1, 20))
	r.expect(t, 1, 20)
	b.Interrupt(time.Now().Add(time.Hour))
	send(t, a, frame(2, 20))
	r.expect(t, 2, 20)
}

func testInterruptWaiting(t *testing.T, a, b transport.Link) {
	for n := range 20 {
		var wg sync.WaitGroup
		wg.Go(func() { b.Interrupt(time.Now()) })
		if _, err := b.Receive(make([]byte, maxFrame)); !errors.Is(err, transport.ErrInterrupted) {
			t.Fatalf("round %d: %v", n, err)
		}
		wg.Wait()
		b.Interrupt(time.Time{})
	}
	send(t, a, frame(1, 20))
	newReader(b).expect(t, 1, 20)
}

func testSilent(t *testing.T, a, b transport.Link) {
	b.Interrupt(time.Now().Add(time.Millisecond))
	if _, err := b.Receive(make([]byte, maxFrame)); !errors.Is(err, transport.ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
}

func drain(r *reader) (count int, err error) {
	for {
		if _, err := r.next(); err != nil {
			return count, err
		}
		count++
	}
}

func testClose(t *testing.T, a, b transport.Link) {
	if !reliable(a) {
		t.Skip("the link does not promise it")
	}
	send(t, b, frame(9, 100)) // never read by a: it must not destroy what a sent
	for n := range 50 {
		if err := a.Send(0, frame(n, 100)); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	r := newReader(b)
	for n := range 50 {
		r.expect(t, n, 100)
	}
	for range 2 {
		if _, err := r.next(); err != io.EOF {
			t.Errorf("after the last frame: %v", err)
		}
	}
	if err := b.Close(); err != nil {
		t.Errorf("the other Close: %v", err)
	}
	wg.Wait()
}

func testCloseBoth(t *testing.T, a, b transport.Link) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { a.Close() })
		wg.Go(func() { b.Close() })
	}
	wg.Wait()
}

func testHalfClosed(t *testing.T, a, b transport.Link) {
	if !reliable(a) {
		t.Skip("the link does not promise it")
	}
	var wg sync.WaitGroup
	wg.Go(func() { a.Close() })
	if n, err := drain(newReader(b)); n != 0 || err != io.EOF {
		t.Fatalf("%d frames, %v", n, err)
	}
	// The peer reads nothing more. Sending may fail or lead nowhere, and must not hang.
	for n := range 100 {
		if b.Send(0, frame(n, 100)) != nil || b.Flush() != nil {
			break
		}
	}
	b.Close()
	wg.Wait()
}

func testAbort(t *testing.T, a, b transport.Link) {
	send(t, a, frame(1, 100))
	a.Abort()
	if !reliable(a) {
		return
	}
	n, err := drain(newReader(b))
	if n > 1 || err == nil || errors.Is(err, transport.ErrInterrupted) || errors.Is(err, transport.ErrClosed) {
		t.Errorf("the other side: %d frames, %v", n, err)
	}
	if _, err := a.Receive(make([]byte, maxFrame)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("this side: %v", err)
	}
}

func testAfterClose(t *testing.T, a, b transport.Link) {
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := a.Receive(make([]byte, maxFrame)); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Receive that waits while the link is closed: %v", err)
		}
	})
	wg.Go(func() { b.Close() })
	a.Close()
	wg.Wait()
	if _, err := a.Receive(make([]byte, maxFrame)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Receive: %v", err)
	}
	if err := a.Send(0, frame(1, 10)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send: %v", err)
	}
	a.Interrupt(time.Now())
	a.Flush()
	if err := a.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	a.Abort()
}

// testFlood sends to a peer that does not read: the queue is bounded, and
// what was accepted arrives.
func testFlood(t *testing.T, a, b transport.Link) {
	if !reliable(a) {
		t.Skip("the link does not promise it")
	}
	const size, most = 1000, 64 << 20
	sent := 0
	for sent*size < most {
		err := a.Send(0, frame(sent, size))
		if err == nil {
			sent++
			err = a.Flush()
		}
		if errors.Is(err, transport.ErrQueueFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if sent*size >= most {
		t.Fatalf("%d bytes were accepted", sent*size)
	}
	r := newReader(b)
	for n := range sent {
		r.expect(t, n, size)
	}
}

func testOversize(t *testing.T, a, b transport.Link) {
	if limit := a.Properties().MaxFrame; limit > 0 {
		if err := a.Send(0, make([]byte, limit+1)); !errors.Is(err, transport.ErrFrameTooLong) {
			t.Fatalf("Send of %d bytes: %v", limit+1, err)
		}
		return
	}
	if !a.Properties().Stream {
		return
	}
	send(t, a, frame(1, maxFrame+1))
	r := newReader(b)
	for range 2 {
		if _, err := r.next(); !errors.Is(err, transport.ErrFrameTooLong) {
			t.Fatalf("got %v", err)
		}
	}
}

func testNoPeer(t *testing.T, a, b transport.Link) {
	for _, peer := range []int{-2, 1 << 20} {
		if err := a.Send(peer, frame(1, 10)); !errors.Is(err, transport.ErrNoPeer) {
			t.Errorf("peer %d: %v", peer, err)
		}
	}
}

// testConcurrent lets both sides send, receive, and be interrupted, while
// both are closed from elsewhere.
func testConcurrent(t *testing.T, a, b transport.Link) {
	var wg sync.WaitGroup
	half := make(chan struct{})
	for _, l := range []transport.Link{a, b} {
		wg.Go(func() {
			for n := 0; ; n++ {
				if n == 200 && l == a {
					close(half)
				}
				if l.Send(0, frame(n, 60)) != nil || l.Flush() != nil {
					if n < 200 && l == a {
						close(half)
					}
					return
				}
			}
		})
		wg.Go(func() {
			r := newReader(l)
			for {
				if _, err := r.next(); err != nil && !errors.Is(err, transport.ErrInterrupted) {
					return
				}
				l.Interrupt(time.Time{})
			}
		})
		wg.Go(func() {
			for range 100 {
				l.Interrupt(time.Now())
			}
		})
	}
	<-half
	wg.Go(func() { a.Close() })
	wg.Go(func() { b.Close() })
	wg.Go(func() { a.Abort() })
	wg.Wait()
}

func testNoAllocation(t *testing.T, a, b transport.Link) {
	f, buf := frame(1, 60), make([]byte, maxFrame)
	round := func() {
		if a.Send(0, f) != nil || a.Flush() != nil {
			t.Fatal("cannot send")
		}
		if _, err := b.Receive(buf); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, round); n > 0 && !raceEnabled {
		t.Errorf("%v allocations for a frame sent and received", n)
	}
}
