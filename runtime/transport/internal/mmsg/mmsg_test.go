package mmsg

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"
)

// end is a socket on loopback with what the tests put on it.
type end struct {
	*net.UDPConn
	c    *Conn
	want [][]byte
}

func newEnd(t *testing.T, address string, o Options) *end {
	t.Helper()
	pc, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Skip(err)
	}
	conn := pc.(*net.UDPConn)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute)) // ends a test that would hang
	conn.SetReadBuffer(4 << 20)
	c, err := New(conn, o)
	if err != nil {
		t.Fatal(err)
	}
	return &end{UDPConn: conn, c: c}
}

func (e *end) addr() netip.AddrPort { return e.LocalAddr().(*net.UDPAddr).AddrPort() }

// expect reads what was put, in its order.
func (e *end) expect(t *testing.T, from netip.AddrPort) {
	t.Helper()
	for i, want := range e.want {
		b, who, err := e.c.Read()
		if err != nil {
			t.Fatalf("datagram %d of %d: %v", i, len(e.want), err)
		}
		if !bytes.Equal(b, want) || who != from {
			t.Fatalf("datagram %d has %d bytes and comes from %v; want %d bytes from %v", i, len(b), who,
				len(want), from)
		}
	}
	e.want = e.want[:0]
	if e.c.Held() {
		t.Fatal("more came than was sent")
	}
}

// Datagrams of many sizes for several peers arrive whole, and for each peer in the order of
// sending, whether the kernel cuts and joins them or not.
func TestOrder(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		for _, offload := range []bool{false, true} {
			t.Run(fmt.Sprint(address, offload), func(t *testing.T) {
				src := newEnd(t, address, Options{MaxFrame: 2000, Peers: 3, Offload: offload})
				var to [4]*end // the last one has no number
				for i := range to {
					to[i] = newEnd(t, address, Options{MaxFrame: 2000, Offload: offload && i != 1})
				}
				rng, size := uint64(7), 0
				for range 60 {
					for n := rng >> 33 % 150; n > 0; n-- {
						rng = rng*6364136223846793005 + 1442695040888963407
						if rng>>40%4 == 0 { // else as the one before
							size = int(rng >> 50 % 1500)
						}
						if rng>>45%20 == 0 {
							size = 0
						}
						b := bytes.Repeat([]byte{byte(rng >> 30)}, size)
						k := int(rng >> 57 % 4)
						peer := k
						if k == 3 {
							peer = -1
						}
						if lost, err := src.c.Put(peer, b, to[k].addr()); lost > 0 || err != nil {
							t.Fatal(lost, err)
						}
						to[k].want = append(to[k].want, b)
					}
					if lost := src.c.Flush(); lost > 0 || src.c.Waiting() > 0 {
						t.Fatal(lost, src.c.Waiting())
					}
					for _, e := range to {
						e.expect(t, src.addr())
					}
					rng = rng*6364136223846793005 + 1442695040888963407
				}
			})
		}
	}
}

// What waits is bounded: it is sent before Flush.
func TestBounds(t *testing.T) {
	src, to := newEnd(t, "127.0.0.1:0", Options{Peers: 1, Offload: true}),
		newEnd(t, "127.0.0.1:0", Options{MaxFrame: 60000})
	for _, size := range []int{1, 40000} {
		for n := range 2*maxFrames + 10 {
			src.c.Put(0, bytes.Repeat([]byte{byte(n)}, size), to.addr())
			if w := src.c.Waiting(); w > maxFrames || w*size > maxData {
				t.Fatalf("%d datagrams of %d bytes wait", w, size)
			}
		}
		src.c.Flush()
	}
	if _, _, err := to.c.Read(); err != nil {
		t.Error(err)
	}
}

// Of a datagram that is too long one byte more than MaxFrame is given, so that it shows.
func TestTooLong(t *testing.T) {
	src, to := newEnd(t, "127.0.0.1:0", Options{}), newEnd(t, "127.0.0.1:0", Options{MaxFrame: 100})
	src.c.Put(-1, make([]byte, 5000), to.addr())
	src.c.Put(-1, make([]byte, 100), to.addr())
	src.c.Flush()
	for _, want := range []int{101, 100} {
		if b, _, err := to.c.Read(); len(b) != want || err != nil {
			t.Errorf("%d bytes, %v; want %d", len(b), err, want)
		}
	}
}

// A destination that cannot be reached from the socket is an error, and a closed socket loses
// everything.
func TestLost(t *testing.T) {
	src := newEnd(t, "127.0.0.1:0", Options{})
	if lost, err := src.c.Put(-1, nil, netip.MustParseAddrPort("[::1]:9")); lost != 1 || err == nil {
		t.Error(lost, err)
	}
	to := newEnd(t, "127.0.0.1:0", Options{MaxFrame: 10})
	src.Close()
	lost, _ := src.c.Put(-1, []byte("x"), to.addr())
	if lost += src.c.Flush(); lost != 1 {
		t.Errorf("%d lost after Close", lost)
	}
}

// A number may be given to another address while datagrams wait.
func TestNumberGivenAgain(t *testing.T) {
	src := newEnd(t, "127.0.0.1:0", Options{Peers: 1, Offload: true})
	for _, text := range []string{"a", "b"} {
		to := newEnd(t, "127.0.0.1:0", Options{MaxFrame: 10})
		src.c.Put(0, []byte(text), to.addr())
		defer func() { to.want = [][]byte{[]byte(text)}; to.expect(t, src.addr()) }()
	}
	src.c.Flush()
}
