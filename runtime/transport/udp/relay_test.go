//go:build linux

package udp_test

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/udp"
)

const (
	clients  = 16  // of a session
	rate     = 60  // frames a second from each
	relayed  = 100 // bytes of a frame
	sessions = 6   // on one socket
)

// relay is a machine that passes each frame of one peer on to the others of its session.
type relay struct {
	frame []byte
	up    [sessions * clients]bool
	to    []fsm.Peer
}

var relayInfo = fsm.Info{Protocol: "relay", Role: "hub", States: []string{"on"}, Final: []bool{false},
	Transitions: []fsm.Transition{{Name: "on"}}, MaxFrame: relayed, MaxEffects: clients - 1, Duplicates: true}

var took = fsm.Result{Code: fsm.Took}

func (r *relay) Info() *fsm.Info                     { return &relayInfo }
func (r *relay) nothing() fsm.Result                 { r.to = r.to[:0]; return took }
func (r *relay) Start() fsm.Result                   { return r.nothing() }
func (r *relay) LinkUp(p fsm.Peer) fsm.Result        { r.up[p] = true; return r.nothing() }
func (r *relay) LinkLost(p fsm.Peer) fsm.Result      { r.up[p] = false; return r.nothing() }
func (r *relay) Timeout(uint16, uint32) fsm.Result   { return r.nothing() }
func (r *relay) FrameSize(b []byte) (int, error)     { return len(b), nil }
func (r *relay) Effects() int                        { return len(r.to) }
func (r *relay) Effect(i int) fsm.Effect             { return fsm.Effect{Kind: fsm.Send, Peer: r.to[i]} }
func (r *relay) State() uint16                       { return 0 }
func (r *relay) AppendEvent(b []byte) []byte         { return b }
func (r *relay) AppendEffect(b []byte, _ int) []byte { return b }
func (r *relay) AppendMachine(b []byte) []byte       { return b }
func (r *relay) AppendLegal(b []byte) []byte         { return b }
func (r *relay) Refusal() fsm.Refusal                { return fsm.Refusal{} }

func (r *relay) AppendFrame(b []byte, _ int) ([]byte, error) { return append(b, r.frame...), nil }

func (r *relay) Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	r.frame, r.to = append(r.frame[:0], frame...), r.to[:0]
	first := from / clients * clients
	for p := first; p < first+clients; p++ {
		if p != from && r.up[p] {
			r.to = append(r.to, p)
		}
	}
	return took, nil
}

// plainRelay does the same as plain Go code would.
func plainRelay(conn *net.UDPConn) {
	var members []netip.AddrPort
	number := map[netip.AddrPort]int{}
	buf := make([]byte, 2000)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		i, ok := number[from]
		if !ok {
			i = len(members)
			number[from] = i
			members = append(members, from)
		}
		first := i / clients * clients
		for k := first; k < min(first+clients, len(members)); k++ {
			if k != i {
				conn.WriteToUDPAddrPort(buf[:n], members[k])
			}
		}
	}
}

// crowd is the clients of all sessions.
type crowd struct {
	conns    []*net.UDPConn
	readers  sync.WaitGroup
	received []int // bytes by client
}

// gather opens the clients and has each say something, in the order of their numbers.
func gather(tb testing.TB, addr string, join bool) *crowd {
	c := &crowd{received: make([]int, sessions*clients)}
	for i := range c.received {
		nc, err := net.Dial("udp4", addr)
		if err != nil {
			tb.Fatal(err)
		}
		conn := nc.(*net.UDPConn)
		conn.SetReadBuffer(1 << 20)
		if join {
			raw, _ := conn.SyscallConn()
			raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), 17, 104, 1) }) // UDP_GRO
		}
		c.conns = append(c.conns, conn)
		conn.Write(make([]byte, relayed))
		c.readers.Go(func() {
			buf := make([]byte, 1<<16)
			for {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				c.received[i] += n
			}
		})
	}
	return c
}

// play has the clients send for so many frames each, evenly spread over time.
func (c *crowd) play(frames int) {
	frame := make([]byte, relayed)
	start := time.Now()
	total := frames * len(c.conns)
	step := time.Second / time.Duration(rate*len(c.conns))
	for n := 0; n < total; {
		due := min(int(time.Since(start)/step)+1, total)
		for ; n < due; n++ {
			c.conns[n*37%len(c.conns)].Write(frame) // neighbours of one session do not speak one after the other
		}
		time.Sleep(500 * time.Microsecond)
	}
}

func (c *crowd) leave() (datagrams int) {
	for _, conn := range c.conns {
		conn.Close()
	}
	c.readers.Wait()
	for _, n := range c.received {
		datagrams += n / relayed
	}
	return datagrams
}

// BenchmarkRelay passes what each of 16 clients sends 60 times a second, 100 bytes, on to the 15
// others: by a bare loop, by a driver, and by a driver that gathers frames for 4 ms and has the
// kernel cut them. It compares how many sessions one core could carry by the processor time that
// the relaying thread uses, in the best of its turns. The clients have the kernel join datagrams,
// as links with Offload do; the last two turns are without.
func BenchmarkRelay(b *testing.B) {
	// They are of one address, and come at once.
	all := udp.Limits{MaxPeers: sessions * clients, PerAddress: -1, AddressRate: -1, AcceptRate: -1}
	offload := udp.Config{Limits: all, Offload: true, Gather: udp.MaxGather}
	variants := []struct {
		name  string
		join  bool
		serve func() (string, func(), func())
	}{
		{"plain", true, relayPlain(b)},
		{"driver", true, relayDriver(b, udp.Config{Limits: offload.Limits})},
		{"offload", true, relayDriver(b, offload)},
		{"plain-apart", false, relayPlain(b)},
		{"offload-apart", false, relayDriver(b, offload)},
	}
	const frames = rate / 2 // half a second
	most := make([]float64, len(variants))
	for b.Loop() {
		for i, v := range variants {
			addr, answer, stop := v.serve()
			used := make(chan time.Duration)
			go func() {
				runtime.LockOSThread()
				before := cpu()
				answer()
				used <- cpu() - before
			}()
			c := gather(b, addr, v.join)
			c.play(frames)
			stop()
			spent := <-used
			got := c.leave()
			// What was lost on the way to a busy computer's clients is not counted, nor is a turn
			// in which much was.
			share := float64(got) / float64(sessions*clients*(clients-1)*frames)
			if share > 0.95 {
				most[i] = max(most[i], share*sessions*float64(frames)/rate/spent.Seconds())
			} else {
				b.Logf("%s: only %.0f %% of the datagrams arrived; this turn does not count", v.name, 100*share)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, v := range variants {
		b.ReportMetric(most[i], v.name+"-sessions/core")
	}
	b.ReportMetric(most[1]/most[0], "driver/plain")
	b.ReportMetric(most[2]/most[0], "offload/plain")
	b.ReportMetric(most[4]/most[3], "apart-offload/plain")
}

func relayPlain(tb testing.TB) func() (string, func(), func()) {
	return func() (string, func(), func()) {
		pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		conn := pc.(*net.UDPConn)
		return conn.LocalAddr().String(), func() { plainRelay(conn) }, func() { conn.Close() }
	}
}

func relayDriver(tb testing.TB, cfg udp.Config) func() (string, func(), func()) {
	return func() (string, func(), func()) {
		l := open(tb, "127.0.0.1:0", cfg)
		d := driver.New(&relay{}, driver.Options[*relay]{})
		if err := d.Attach(0, l); err != nil {
			tb.Fatal(err)
		}
		return l.LocalAddr().String(), func() { d.Run(context.Background()) }, func() { d.Stop(); <-d.Done() }
	}
}
