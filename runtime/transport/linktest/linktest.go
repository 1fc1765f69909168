// Package linktest holds the conformance suite that every link passes: what
// drivers rely on, tried on a pair of connected links from both sides. Each
// kind of link calls [Run] from a test of its own. It knows links by
// [transport.Link] alone.
package linktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Pair makes two links that are connected to each other, each with the other as its peer 0, which a
// link with several peers announces by itself. Their send queues must hold at least Queue bytes and
// be limited.
type Pair func(t *testing.T) (a, b transport.Link)

// Queue is the least limit of a send queue that the suite is written for, in bytes.
const Queue = 64 << 10

// patience ends a test that would otherwise hang. It is not a measure of speed.
const patience = time.Minute

// Run runs the suite. Parts that only a reliable, ordered link can pass are
// left out for others, by what the link itself declares. except names tests
// that a link is known not to pass, for a reason that stands where Run is called.
func Run(t *testing.T, pair Pair, except ...string) {
	tests := []test{
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
		{"promises", testPromises},
		{"small buffer", testSmallBuffer},
		{"flood without a reader", testFloodUnreliable},
	}
	for _, name := range except {
		before := len(tests)
		if tests = slices.DeleteFunc(tests, func(tt test) bool { return tt.name == name }); len(tests) == before {
			t.Errorf("there is no test %q to be left out", name)
		}
	}
	run(t, pair, tests)
}

// Promises runs the one test that also holds for a link that really loses,
// doubles and reorders: what arrives was sent, whole, and no oftener and in no
// other order than the link's Properties allow; and something does arrive.
func Promises(t *testing.T, pair Pair) {
	run(t, pair, []test{{"promises", testPromises}})
}

type test struct {
	name string
	test func(t *testing.T, a, b transport.Link)
}

func run(t *testing.T, pair Pair, tests []test) {
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
			greet(t, a)
			greet(t, b)
			tt.test(t, a, b)
		})
	}
}

// greet waits until a link with several peers has announced the other side.
func greet(t *testing.T, l transport.Link) {
	if l.Properties().Peers == 0 {
		return
	}
	if got, err := l.Receive(make([]byte, maxFrame)); err != nil || got.Kind != transport.PeerUp || got.Peer != 0 {
		t.Fatalf("the first thing received is %v, %v; a link with several peers first announces the one it has",
			got, err)
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
	lost  error // why the other side of a stream is gone, for a link with several peers
}

func newReader(l transport.Link) *reader {
	r := &reader{link: l, buf: make([]byte, maxFrame)}
	if l.Properties().Stream {
		r.split = transport.NewSplitter(frameSize, maxFrame, 0)
	}
	return r
}

func (r *reader) next() ([]byte, error) {
	for r.split == nil {
		got, err := r.link.Receive(r.buf)
		if err != nil || got.Kind == transport.Data {
			return r.buf[:got.N], err
		}
	}
	for {
		if f, err := r.split.Next(); f != nil || err != nil {
			return f, err
		}
		if r.lost != nil {
			return nil, r.lost
		}
		got, err := r.link.Receive(r.split.Space())
		if err != nil {
			return nil, err
		}
		if got.Kind == transport.PeerLost {
			if r.lost = got.Why; r.lost == nil {
				r.lost = errors.New("the peer was lost for no reason")
			}
			continue
		}
		if got.N < 1 {
			return nil, errors.New("received nothing and no error")
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
