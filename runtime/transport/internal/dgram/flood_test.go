package dgram

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// wire is a socket in memory: as a kernel's, it keeps so many datagrams and drops further ones.
type wire struct {
	mu       sync.Mutex
	room     int
	waiting  []datagram
	together []datagram // read at once, and held
	deadline time.Time
	closed   bool
	changed  chan struct{}
	sent     []datagram
	dropped  int
	last     int // read at once
}

type datagram struct {
	peer  netip.AddrPort
	frame []byte
}

const atOnce = 32

func newWire(room int) *wire { return &wire{room: room, changed: make(chan struct{}, 1)} }

func (w *wire) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// come has a datagram arrive.
func (w *wire) come(from netip.AddrPort, frame string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) >= w.room {
		w.dropped++
		return
	}
	w.waiting = append(w.waiting, datagram{from, []byte(frame)})
	w.poke()
}

func (w *wire) Read([]byte) ([]byte, netip.AddrPort, error) {
	for {
		w.mu.Lock()
		if len(w.together) == 0 && !w.closed && (w.deadline.IsZero() || time.Now().Before(w.deadline)) {
			w.take()
		}
		if len(w.together) > 0 {
			d := w.together[0]
			w.together = w.together[1:]
			w.mu.Unlock()
			return d.frame, d.peer, nil
		}
		closed, at := w.closed, w.deadline
		w.mu.Unlock()
		var alarm <-chan time.Time
		switch {
		case closed:
			return nil, netip.AddrPort{}, net.ErrClosed
		case !at.IsZero() && !time.Now().Before(at):
			return nil, netip.AddrPort{}, os.ErrDeadlineExceeded
		case !at.IsZero():
			alarm = time.After(time.Until(at))
		}
		select {
		case <-w.changed:
		case <-alarm:
		}
	}
}

func (w *wire) take() {
	n := min(len(w.waiting), atOnce)
	w.together, w.waiting, w.last = w.waiting[:n:n], w.waiting[n:], n
}

func (w *wire) Fetch() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.together) == 0 {
		w.take()
	}
	return len(w.together) > 0
}

func (w *wire) Crowded() bool { return w.last == atOnce }

func (w *wire) Held() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.together) > 0
}

func (w *wire) Write(frame []byte, to netip.AddrPort) error {
	_, err := w.Put(-1, frame, to)
	return err
}

func (w *wire) Put(_ int, frame []byte, to netip.AddrPort) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, datagram{to, append([]byte(nil), frame...)})
	return 0, nil
}

func (w *wire) Flush() int { return 0 }

func (w *wire) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = t
	w.poke()
	return nil
}

func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.poke()
	return nil
}

func (w *wire) LocalAddr() net.Addr            { return &net.UDPAddr{} }
func (w *wire) Addr(a netip.AddrPort) net.Addr { return net.UDPAddrFromAddrPort(a) }
func origin(a netip.AddrPort) netip.Addr       { return a.Addr() }
func at(address, port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(address >> 8), byte(address)}), uint16(port))
}

// opened returns a link over a wire; its peers are counted by who takes its arrivals.
func opened(t *testing.T, w *wire, cfg Config[netip.AddrPort], peers ...netip.AddrPort) *Link[netip.AddrPort] {
	t.Helper()
	cfg.MaxFrame, cfg.Origin = 100, origin
	l, err := New[netip.AddrPort](w, cfg, peers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Abort() })
	return l
}

// hall is who is there, as far as a link has said so, and what they have sent.
type hall struct {
	l    *Link[netip.AddrPort]
	here map[netip.AddrPort]bool
	said map[netip.AddrPort]int
	at   map[int]netip.AddrPort
}

func newHall(l *Link[netip.AddrPort]) *hall {
	return &hall{l, map[netip.AddrPort]bool{}, map[netip.AddrPort]int{}, map[int]netip.AddrPort{}}
}

// take takes up to n arrivals that are there.
func (h *hall) take(n int) {
	buf := make([]byte, 200)
	for range n {
		h.l.Interrupt(time.Now().Add(time.Nanosecond))
		got, err := h.l.Receive(buf)
		if err != nil {
			return
		}
		h.note(got)
	}
}

func (h *hall) note(got transport.Arrival) {
	switch got.Kind {
	case transport.PeerUp:
		a, _ := h.l.PeerAddr(got.Peer)
		h.here[a], h.at[got.Peer] = true, a
	case transport.PeerLost:
		delete(h.here, h.at[got.Peer])
	default:
		h.said[h.at[got.Peer]]++
	}
}

// One address that sends from many ports gets some of the places, and the others come in.
func TestOneAddressFillsNoTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(10000)
		h := newHall(opened(t, w, Config[netip.AddrPort]{}))
		for round := range 3 {
			for port := range 300 {
				w.come(at(1, 1000+port), "hello")
			}
			h.take(2000)
			if n := len(h.here); n > DefaultPeers/4 {
				t.Fatalf("round %d: one address has %d places", round, n)
			}
		}
		friend := at(2, 5)
		w.come(friend, "hello")
		h.take(10)
		if !h.here[friend] || h.said[friend] != 1 {
			t.Errorf("another address is kept out; %+v", h.l.Stats())
		}
		if s := h.l.Stats(); s.Crowded+s.Hasty == 0 || s.Strangers != s.Crowded+s.Hasty {
			t.Errorf("%+v", s)
		}
	})
}

// Places that were given to whoever sent one datagram go to those who come after them.
func TestHalfOpenPlacesGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(10000)
		h := newHall(opened(t, w, Config[netip.AddrPort]{}))
		player := at(9999, 1)
		w.come(player, "hello")
		w.come(player, "again")
		for a := range DefaultPeers {
			w.come(at(a, 1), "x")
		}
		h.take(1000)
		friend := at(5000, 1)
		w.come(friend, "hello")
		w.come(friend, "again")
		h.take(10)
		for a := range DefaultPeers {
			w.come(at(1000+a, 1), "x")
		}
		h.take(1000)
		if !h.here[friend] || !h.here[player] {
			t.Errorf("friend %v, player %v; %+v", h.here[friend], h.here[player], h.l.Stats())
		}
		if s := h.l.Stats(); s.Evicted == 0 {
			t.Errorf("%+v", s)
		}
		for p := range DefaultPeers {
			h.l.Drop(p)
		}
		if n := h.l.table.door.Open(); n != 0 {
			t.Errorf("nobody is there, and %d are behind the door", n)
		}
	})
}

// Nobody who is dead or silent has a place after a minute, whether it sent once or often, and
// whatever is sent to it; who was configured keeps its number and hears nothing of it.
func TestNobodyHoldsAPlaceForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(10000)
		fixed := at(7, 7)
		h := newHall(opened(t, w, Config[netip.AddrPort]{}, fixed))
		for a := range 40 {
			for range 1 + a%3 {
				w.come(at(100+a, 1), "hello")
			}
		}
		h.take(1000)
		if len(h.here) != 41 {
			t.Fatalf("%d are there", len(h.here))
		}
		for range 59 {
			time.Sleep(time.Second) // of the bubble
			h.l.Send(transport.All, []byte("state"))
			h.take(1000)
		}
		if len(h.here) != 1 || !h.here[fixed] {
			t.Errorf("after a minute %d are still there; %+v", len(h.here), h.l.Stats())
		}
		if s := h.l.Stats(); s.Silent == 0 || s.Expired == 0 {
			t.Errorf("%+v", s)
		}
	})
}

// With a program that can tell what is valid, rubbish takes no place at all, and who sends nothing
// acceptable leaves its place.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(10000)
		h := newHall(opened(t, w, Config[netip.AddrPort]{}))
		h.l.Guard(func(b []byte) bool { return len(b) > 1 })
		for a := range DefaultPeers {
			w.come(at(a, 1), "x")
		}
		h.take(1000)
		if len(h.here) != 0 {
			t.Errorf("%d have a place for a single byte", len(h.here))
		}
		w.come(at(500, 1), "hello")
		h.take(10)
		h.l.Confirm(0)
		w.come(at(501, 1), "hello")
		for range 15 {
			w.come(at(501, 1), "blah") // is not acceptable, says whoever does not confirm it
			w.come(at(500, 1), "play")
			h.take(10)
			time.Sleep(time.Second)
		}
		if !h.here[at(500, 1)] || h.said[at(500, 1)] != 16 {
			t.Errorf("who was confirmed is gone; %+v", h.l.Stats())
		}
		if s := h.l.Stats(); s.Invalid != DefaultPeers || s.Expired == 0 {
			t.Errorf("%+v", s)
		}
	})
}

// proving is a gate that takes every "let me in" for the proof of an address.
type proving struct{}

func (proving) Judge(reply, frame []byte, _ netip.AddrPort, _ time.Time) ([]byte, Verdict) {
	if string(frame) == "let me in" {
		return reply, Admit
	}
	return reply, Pass
}
func (proving) Ask(dst []byte, _ netip.AddrPort) []byte { return dst }
func (proving) Retry() time.Duration                    { return time.Second }

// The same holds for addresses that were proved.
func TestOneProvedAddressFillsNoTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(10000)
		h := newHall(opened(t, w, Config[netip.AddrPort]{Gate: proving{}}))
		for port := range 300 {
			w.come(at(1, 1000+port), "let me in")
		}
		h.take(1000)
		friend := at(2, 5)
		w.come(friend, "let me in")
		w.come(friend, "hello")
		h.take(10)
		if !h.here[friend] || h.said[friend] != 1 || len(h.here) > 1+DefaultPeers/4 {
			t.Errorf("%d are there, friend %v; %+v", len(h.here), h.here[friend], h.l.Stats())
		}
		for range 59 {
			time.Sleep(time.Second)
			h.take(100)
		}
		if len(h.here) != 0 {
			t.Errorf("after a minute %d are still there", len(h.here))
		}
	})
}

// What one address sends above what is taken costs the others nothing: neither a frame nor their
// turn.
func TestFloodIsFair(t *testing.T) {
	for _, hosts := range []int{1, 8} { // addresses of the flooder's ports are one all the same
		synctest.Test(t, func(t *testing.T) {
			w := newWire(200)
			h := newHall(opened(t, w, Config[netip.AddrPort]{}))
			loud, quiet := at(1, 1), at(2, 1)
			w.come(quiet, "hello")
			for p := range hosts {
				w.come(at(1, 1+p), "hello")
			}
			h.take(100)
			const rounds = 2000
			late := 0
			for n := range rounds {
				for k := range 10 {
					w.come(at(1, 1+(n+k)%hosts), fmt.Sprint("noise ", n))
				}
				if n%2 == 0 {
					w.come(quiet, "word")
				}
				h.take(5)
				if h.said[quiet] < (n-20)/2 {
					late++
				}
			}
			h.take(100000)
			if h.said[quiet] != 1+rounds/2 || late > 0 {
				t.Errorf("%d of %d frames came, %d times more than 10 were late; the kernel dropped %d; %+v",
					h.said[quiet], 1+rounds/2, late, w.dropped, h.l.Stats())
			}
			if s := h.l.Stats(); s.Displaced == 0 || h.said[loud] == 0 {
				t.Errorf("%d of the flooder's; %+v", h.said[loud], s)
			}
		})
	}
}

// Frames of a peer that lost its place are not those of who has it next.
func TestPlaceIsNotInherited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(10000)
		l := opened(t, w, Config[netip.AddrPort]{Limits: Limits{MaxPeers: 3}})
		h := newHall(l)
		first, other, next := at(1, 1), at(2, 1), at(3, 1)
		for range 100 {
			w.come(other, "other")
			w.come(first, "first")
		}
		h.take(60) // all is read, and some of it waits
		l.Drop(1)
		l.Add(next)
		h.take(1000)
		if h.said[next] != 0 {
			t.Errorf("%d frames of another are taken for those of the newcomer", h.said[next])
		}
	})
}

// TestEverythingIsCounted: every number of Stats has a metric, which reads it.
func TestEverythingIsCounted(t *testing.T) {
	fields := reflect.TypeFor[Stats]()
	seen := map[string]bool{}
	for i := range fields.NumField() {
		var s Stats
		if v := reflect.ValueOf(&s).Elem().Field(i); v.CanUint() {
			v.SetUint(7)
		} else {
			v.SetInt(7)
		}
		reading := 0
		for _, c := range s.Counts() {
			if c.Value == 7 {
				reading++
				seen[c.Name] = true
			}
		}
		if reading != 1 {
			t.Errorf("%s is read by %d metrics", fields.Field(i).Name, reading)
		}
	}
	if n := len(Stats{}.Counts()); n != fields.NumField() || len(seen) != n {
		t.Errorf("%d numbers, %d metrics, %d names", fields.NumField(), n, len(seen))
	}
}

// TestLimitsAreToldOnce: the log has one line for each limit that has bitten, however often.
func TestLimitsAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWire(10000)
		limits := Limits{MaxPeers: 8, FrameRate: 5, Even: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		h := newHall(opened(t, w, Config[netip.AddrPort]{Limits: limits}))
		for n := range 200 {
			w.come(at(1, n), "from one address")
			w.come(at(100+n, 1), "from many")
			w.come(at(100, 1), "from one port")
		}
		w.come(at(100, 1), strings.Repeat("too long ", 500))
		h.take(1000)
		for n := range 2 * maxInjected {
			h.l.Inject([]byte("heard"), at(100, n))
			h.l.Send(0, make([]byte, 100))
		}
		time.Sleep(time.Minute)
		h.take(1000)
		for _, limit := range []string{"PerAddress", "MaxPeers", "HalfOpen", "FrameRate or ByteRate", "MaxFrame",
			"64 heard broadcasts", "Even"} {
			text := log.String()
			if n := strings.Count(text, "limit="+limit) + strings.Count(text, "limit=\""+limit); n != 1 {
				t.Errorf("%s is told %d times:\n%s", limit, n, log.String())
			}
		}
		if s := h.l.Stats(); s.Crowded+s.Hasty == 0 || s.Evicted == 0 || s.Limited == 0 {
			t.Errorf("%+v", s)
		}
	})
}
