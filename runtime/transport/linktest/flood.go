package linktest

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// Flooder is a process of its own that sends one datagram again and again, or connects again and
// again, from an address of this computer. In the process that is measured it would take turns
// with it, which says much about Go's scheduler and nothing about a link.
type Flooder struct {
	b    *testing.B
	from *os.File // the socket that it sends from; nil for connections
	what string   // the datagram in hexadecimal, or where to connect to
}

// Datagrams returns a flooder that sends a datagram from an address, "127.0.0.2", to another one.
func Datagrams(b *testing.B, from, to string, datagram []byte) *Flooder {
	b.Helper()
	d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("udp4", to)
	if err != nil {
		b.Skipf("this computer has no address %s: %v", from, err)
	}
	defer c.Close()
	return Through(b, c, datagram)
}

// Through returns a flooder that sends a datagram through a connected socket of UDP.
func Through(b *testing.B, c net.Conn, datagram []byte) *Flooder {
	b.Helper()
	f, err := c.(*net.UDPConn).File()
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { f.Close() })
	return &Flooder{b, f, hex.EncodeToString(datagram)}
}

// Connections returns a flooder that connects from an address to another one, and leaves at once.
func Connections(b *testing.B, from, to string) *Flooder { return &Flooder{b, nil, from + " " + to} }

// variable has what a process of a flooder is to do; it has no other use.
const variable = "PARLEY_FLOOD"

// start begins to send rate datagrams a second, or as many as can be. The function that it returns
// ends that and says how many were sent.
func (f *Flooder) start(rate int) (stop func() int) {
	f.b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", variable, rate, f.what), "GOMAXPROCS=1")
	if f.from != nil {
		cmd.ExtraFiles = []*os.File{f.from}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		f.b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.b.Skip(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil { // it has begun
		f.b.Fatal(err)
	}
	return func() int {
		in.Close()
		said, _ := lines.ReadString('\n')
		if err := cmd.Wait(); err != nil {
			f.b.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscan(said, &n); err != nil {
			f.b.Fatal(err)
		}
		return n
	}
}

// init is the process of a flooder, if this is one.
func init() {
	said, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	if err := beFlooder(said); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// burst is the most that a flooder sends at once: what it could not send in time is not sent.
const burst = 256

func beFlooder(said string) error {
	var rate int
	var what, to string
	if n, _ := fmt.Sscan(said, &rate, &what, &to); n < 2 {
		return fmt.Errorf("%s=%s", variable, said)
	}
	send := func() { // of a connection
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(what)}, Timeout: time.Second}
		if c, err := d.Dial("tcp4", to); err == nil {
			c.(*net.TCPConn).SetLinger(0) // no port is kept for a connection that has ended
			c.Close()
		}
	}
	if to == "" {
		datagram, err := hex.DecodeString(what)
		if err != nil {
			return err
		}
		f := os.NewFile(3, "socket")
		c, err := net.FileConn(f)
		if err != nil {
			return err
		}
		send = func() { c.Write(datagram) }
	}
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	fmt.Println()
	sent, counted := 0, 0
	for began := time.Now(); !over.Load(); {
		due := counted + burst
		if rate > 0 {
			time.Sleep(100 * time.Microsecond)
			due = int(time.Since(began).Seconds() * float64(rate))
		}
		for range min(due-counted, burst) {
			send()
			sent++
		}
		counted = due
	}
	fmt.Println(strconv.Itoa(sent))
	return nil
}

// Drained returns how many datagrams a second a bare loop takes from a UDP socket while a flooder
// sends as fast as it can: what a flood is measured by.
func Drained(b *testing.B) int {
	b.Helper()
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer pc.Close()
	stop := Datagrams(b, "127.0.0.1", pc.LocalAddr().String(), make([]byte, 100)).start(0)
	conn, buf, got, began := pc.(*net.UDPConn), make([]byte, 2000), 0, time.Now()
	for time.Since(began) < 300*time.Millisecond {
		if _, _, err := conn.ReadFromUDPAddrPort(buf); err != nil {
			b.Fatal(err)
		}
		got++
	}
	drained := int(float64(got) / time.Since(began).Seconds())
	stop()
	return drained
}

// Felt is what somebody notices of a flood.
type Felt struct {
	Sent, Lost int
	P50, P99   time.Duration // of the way there and back
}

// asker sends frames and gets them back.
type asker struct {
	send    func(frame []byte) bool
	receive func(buf []byte) (n int, ok bool) // 0: something else
	until   func(t time.Time)
}

// overLink asks the peer 0 of a link.
func overLink(l transport.Link) asker {
	return asker{
		func(frame []byte) bool { return l.Send(0, frame) == nil && l.Flush() == nil },
		func(buf []byte) (int, bool) {
			got, err := l.Receive(buf)
			if got.Kind != transport.Data {
				got.N = 0
			}
			return got.N, err == nil
		},
		l.Interrupt,
	}
}

// overBare asks a bare loop behind two sockets of its own, which nobody floods.
func overBare(b *testing.B) asker {
	b.Helper()
	far, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	near, err := net.Dial("udp4", far.LocalAddr().String())
	if err != nil {
		b.Fatal(err)
	}
	go Echo(far.(*net.UDPConn))
	b.Cleanup(func() { far.Close(); near.Close() })
	return overSocket(near)
}

func overSocket(c net.Conn) asker {
	return asker{
		func(frame []byte) bool { _, err := c.Write(frame); return err == nil },
		func(buf []byte) (int, bool) { n, err := c.Read(buf); return n, err == nil },
		func(t time.Time) { c.SetReadDeadline(t) },
	}
}

// Echo answers each datagram that comes to a socket, one by one, until it is closed.
func Echo(c *net.UDPConn) {
	buf := make([]byte, 2000)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		c.WriteToUDPAddrPort(buf[:n], from)
	}
}

// feel sends a frame of 12 bytes each millisecond, which somebody answers, for a while.
func (a asker) feel(lasts time.Duration) Felt {
	var f Felt
	var ways []time.Duration
	var done sync.WaitGroup
	began := time.Now()
	a.until(began.Add(lasts + 200*time.Millisecond))
	done.Go(func() {
		buf := make([]byte, 2000)
		for {
			n, ok := a.receive(buf)
			if !ok {
				return
			}
			for in := buf[:n]; len(in) >= 12; in = in[12:] {
				ways = append(ways, time.Since(began)-time.Duration(binary.BigEndian.Uint64(in)))
			}
		}
	})
	for time.Since(began) < lasts {
		frame := binary.BigEndian.AppendUint64(nil, uint64(time.Since(began)))
		if a.send(append(frame, "ping"...)) {
			f.Sent++
		}
		time.Sleep(time.Millisecond)
	}
	done.Wait()
	slices.Sort(ways)
	f.Lost = f.Sent - len(ways)
	if n := len(ways); n > 0 {
		f.P50, f.P99 = ways[n/2], ways[n*99/100]
	}
	return f
}

// Flood says what peer 0 of a link, which answers each frame, notices of a flooder that sends 0.8
// of what a bare socket drains, or connects as fast as it can. Beside it, in the same run, a bare
// loop behind sockets of its own is asked, which nobody floods: what it notices is the part of the
// processor, which the flooder shares.
func Flood(b *testing.B, l transport.Link, f *Flooder) {
	b.Helper()
	flood(b, overLink(l), f)
}

// FloodSocket is Flood for a connected socket of UDP, whose other end answers each datagram.
func FloodSocket(b *testing.B, c net.Conn, f *Flooder) {
	b.Helper()
	flood(b, overSocket(c), f)
}

func flood(b *testing.B, a asker, f *Flooder) {
	b.Helper()
	beside := overBare(b)
	both := func(lasts time.Duration) (felt, bare Felt) {
		var done sync.WaitGroup
		done.Go(func() { bare = beside.feel(lasts) })
		felt = a.feel(lasts)
		done.Wait()
		return felt, bare
	}
	rate := 0
	if f.from != nil {
		drained := Drained(b)
		rate = drained * 8 / 10
		b.ReportMetric(float64(drained), "drained/s")
	}
	idle, _ := both(time.Second)
	stop, began := f.start(rate), time.Now()
	felt, bare := both(2 * time.Second)
	b.ReportMetric(float64(stop())/time.Since(began).Seconds(), "flood/s")
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(us(idle.P99), "idle-p99-us")
	b.ReportMetric(us(felt.P50), "flood-p50-us")
	b.ReportMetric(us(felt.P99), "flood-p99-us")
	b.ReportMetric(us(bare.P99), "bare-p99-us")
	b.ReportMetric(us(felt.P99)/max(us(idle.P99), 1), "over-idle")
	b.ReportMetric(us(felt.P99)/max(us(bare.P99), 1), "over-bare")
	b.ReportMetric(100*float64(felt.Lost)/float64(max(felt.Sent, 1)), "lost-%")
}

// Answer answers every frame of a link until it ends.
func Answer(l transport.Link) {
	buf := make([]byte, 2000)
	more, _ := l.(transport.Batched)
	for {
		got, err := l.Receive(buf)
		for n := 0; err == nil && n < 64; n++ { // as a driver does
			if got.Kind == transport.Data {
				l.Send(got.Peer, buf[:got.N])
			}
			ok := false
			if more != nil {
				got, ok = more.Next(buf)
			}
			if !ok {
				break
			}
		}
		if err != nil {
			return
		}
		l.Flush()
	}
}
