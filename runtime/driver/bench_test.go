package driver_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/internal/pingpong"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// window is how many pings are under way at a time in the throughput benchmarks.
const window = 64

func appendPing(b []byte, n uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0, 7, pingpong.PING), n)
}

// answering runs a driver on link that answers pings.
func answering(tb testing.TB, link transport.Link, o driver.Options[runner]) (stop func()) {
	d := driver.New(pingpong.New(), o)
	if err := d.Attach(0, link); err != nil {
		tb.Fatal(err)
	}
	go d.Run(context.Background())
	return func() {
		d.Stop()
		<-d.Done()
		if c := d.Counters(); c.Refused+c.Malformed+c.SendsDropped > 0 {
			tb.Errorf("not everything was answered: %+v", c)
		}
	}
}

// bareServer answers pings as plain Go code would: one read, all answers in one write. For each
// frame it does what any program for this protocol has to: finds the frame's end, checks that the
// length is one a frame may have, looks at the type, checks that the body is a ping's, and writes
// the answer behind the others. It keeps no counters and has no state, timers, queue limit or other
// messages.
func bareServer(conn net.Conn) {
	defer conn.Close()
	in, out := make([]byte, transport.DefaultReceiveBuffer), make([]byte, 0, transport.DefaultReceiveBuffer)
	for held := 0; ; {
		n, err := conn.Read(in[held:])
		if err != nil {
			return
		}
		held += n
		rest := in[:held]
		for len(rest) >= 3 {
			size := int(binary.BigEndian.Uint16(rest))
			if size < 3 || size > 3+pingpong.MaxNote {
				return
			}
			if size > len(rest) {
				break
			}
			if rest[2] != pingpong.PING || size != 7 {
				return
			}
			out = binary.BigEndian.AppendUint32(append(out, 0, 7, pingpong.PONG), binary.BigEndian.Uint32(rest[3:]))
			rest = rest[size:]
		}
		held = copy(in, rest)
		if _, err := conn.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// client sends rounds of pings and reads the answers.
type client struct {
	conn    net.Conn
	out, in []byte
}

func newClient(conn net.Conn, pings int) *client {
	c := &client{conn: conn}
	for n := range pings {
		c.out = appendPing(c.out, uint32(n))
	}
	c.in = make([]byte, len(c.out))
	return c
}

func (c *client) round(tb testing.TB) {
	if _, err := c.conn.Write(c.out); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.ReadFull(c.conn, c.in); err != nil {
		tb.Fatal(err)
	}
}

func socketPair(tb testing.TB) (*net.TCPConn, *net.TCPConn) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// BenchmarkMem measures the driver itself: 64 pings answered over memory.
func BenchmarkMem(b *testing.B) {
	for name, o := range map[string]driver.Options[runner]{
		"plain":    {},
		"recorded": {Trace: []trace.Sink{trace.NewWriter(io.Discard)}},
	} {
		b.Run(name, func(b *testing.B) {
			x, y := mem.Pair(mem.Config{Stream: true, Linger: time.Millisecond})
			stop := answering(b, x, o)
			round := memRound(b, y)
			round()
			b.ReportAllocs()
			for b.Loop() {
				round()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N*window), "ns/msg")
			y.Abort()
			stop()
		})
	}
}

// memRound returns a function that has 64 pings answered.
func memRound(tb testing.TB, y transport.Link) func() {
	var out []byte
	for n := range uint32(window) {
		out = appendPing(out, n)
	}
	in := make([]byte, 1<<12)
	return func() {
		if y.Send(0, out) != nil || y.Flush() != nil {
			tb.Fatal("cannot send")
		}
		for got := 0; got < len(out); {
			a, err := y.Receive(in)
			if err != nil {
				tb.Fatal(err)
			}
			got += a.N
		}
	}
}

// BenchmarkCore is a frame through the machine alone and through the core.
func BenchmarkCore(b *testing.B) {
	frame := appendPing(nil, 1)
	b.Run("machine alone", func(b *testing.B) {
		var r fsm.Runner = pingpong.New()
		r.Start()
		r.LinkUp(0)
		out := make([]byte, 0, 64)
		b.ReportAllocs()
		for b.Loop() {
			if n, err := r.FrameSize(frame); n != len(frame) || err != nil {
				b.Fatal(n, err)
			}
			r.Frame(0, frame)
			for i := range r.Effects() {
				if r.Effect(i).Kind == fsm.Send {
					out, _ = r.AppendFrame(out[:0], i)
				}
			}
		}
	})
	b.Run("core", func(b *testing.B) {
		c := driver.NewCore(pingpong.New(), driver.Options[runner]{}, &sink{})
		c.Start(time.Time{})
		c.LinkUp(0, 0, "")
		b.ReportAllocs()
		for b.Loop() {
			c.Frame(0, 0, frame)
		}
	})
}

// sink is a carrier that only copies.
type sink struct{ out [64]byte }

func (s *sink) Send(_ fsm.Peer, frame []byte) error { copy(s.out[:], frame); return nil }
func (s *sink) Close(fsm.Peer, *driver.Error) error { return nil }
