package linktest

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/internal/race"
	"github.com/parley-go/parley/runtime/transport"
)

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
	if n > 1 || errors.Is(err, transport.ErrInterrupted) || errors.Is(err, transport.ErrClosed) {
		t.Errorf("the other side: %d frames, %v", n, err)
	}
	if _, err := a.Receive(make([]byte, maxFrame)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("this side: %v", err)
	}
}

func testAfterClose(t *testing.T, a, b transport.Link) {
	var wg sync.WaitGroup
	wg.Go(func() {
		// EOF if the other was first
		if _, err := newReader(a).next(); !errors.Is(err, transport.ErrClosed) && err != io.EOF {
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
	if n := testing.AllocsPerRun(100, round); n > 0 && !race.Enabled {
		t.Errorf("%v allocations for a frame sent and received", n)
	}
}
