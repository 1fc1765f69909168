package drive

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/conform/sample/wharf"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

type (
	captain = *wharf.ClientRunner
	harbour = *wharf.ServerRunner
)

// quay is a server of many clients over two TCP ports and one UDP socket.
type quay struct {
	*driver.Host[harbour, wharf.Server]
	orders, goods *tcp.Server
	state         *udp.Link
	told          chan string
	ran           chan error
}

// docks opens a quay. whose says whose a connection for goods is.
func docks(t *testing.T, whose driver.Whose, limit time.Duration) *quay {
	t.Helper()
	q := &quay{told: make(chan string, 1000), ran: make(chan error, 1)}
	var err error
	for _, l := range []**tcp.Server{&q.orders, &q.goods} {
		if *l, err = tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{Linger: short}); err != nil {
			t.Skip(err)
		}
	}
	if q.state, err = udp.Open("udp4", "127.0.0.1:0", udp.Config{}); err != nil {
		t.Fatal(err)
	}
	say := func(what string) { q.told <- fmt.Sprintf("%d %s", q.Peer(), what) }
	q.Host, err = driver.NewHost(wharf.NewServerRunner(), func(r harbour) *wharf.Server { return &r.Machine }, nil,
		q.orders, driver.Options[harbour]{
			HandshakeLimit: limit,
			OnReport:       func(r harbour, i int) { say(string(r.AppendEffect(nil, i))) },
			OnError: func(_ harbour, err *driver.Error) {
				say(fmt.Sprintf("error %v: %v", err.Kind, err.Cause))
			},
			OnLink: func(_ harbour, _ fsm.Peer, up bool, _ error) { say(fmt.Sprintf("up %v", up)) },
		})
	if err != nil {
		t.Fatal(err)
	}
	byPlace := func(_ net.Addr, frame []byte) int { return int(frame[2]) } // the low byte of WHERE
	if err := errors.Join(q.Beside("goods", q.goods, whose), q.Beside("state", q.state, byPlace)); err != nil {
		t.Fatal(err)
	}
	go func() { q.ran <- q.Run(context.Background()) }()
	t.Cleanup(func() {
		q.Stop()
		if err := <-q.ran; err != nil {
			t.Error(err)
		}
	})
	return q
}

// hears waits for what is told, in any order of the peers, and fails if anything else comes before all has.
func (q *quay) hears(t *testing.T, want ...string) {
	t.Helper()
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	for range want {
		select {
		case got := <-q.told:
			if left[got]--; left[got] < 0 {
				t.Fatalf("%q, not one of %q", got, want)
			}
		case <-time.After(longest):
			t.Fatalf("nobody says all of %q", want)
		}
	}
}

func (q *quay) dial(t *testing.T, to net.Addr) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp4", to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// boards has a client come, over its connections in the given order.
func (q *quay) boards(t *testing.T, first string) *player[captain] {
	t.Helper()
	c := starts(wharf.NewClientRunner())
	socket, err := udp.Open("udp4", "127.0.0.1:0",
		udp.Config{Peers: []string{q.state.LocalAddr().String()}, Limits: udp.Limits{MaxPeers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]net.Addr{"orders": q.orders.LocalAddr(), "goods": q.goods.LocalAddr()}
	names := []string{"orders", "goods"}
	if first == "goods" {
		names = []string{"goods", "orders"}
	}
	for _, name := range names {
		if err := c.AttachOn(0, name, tcp.New(q.dial(t, at[name]), tcp.Config{Linger: short})); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.AttachOn(0, "state", socket); err != nil {
		t.Fatal(err)
	}
	c.run(t)
	c.hears(t, "up true")
	return c
}

func does(t *testing.T, c *player[captain], f func(captain) fsm.Result) { t.Helper(); c.gives(t, f) }

// TestHostTwoStreams: each client of a host has two connections, and a datagram socket beside them. Its machine
// begins when both are there, whichever came first, hears what came over all of its own and of nobody else's, and
// ends with any of the two.
func TestHostTwoStreams(t *testing.T) {
	q := docks(t, nil, 0)
	one := q.boards(t, "orders")
	q.hears(t, "0 up true")
	two := q.boards(t, "goods")
	q.hears(t, "1 up true")
	if n := q.Sessions(); n != 2 {
		t.Fatalf("%d machines", n)
	}
	for i, c := range []*player[captain]{one, two} {
		for n := range 50 {
			does(t, c, func(r captain) fsm.Result { return r.Give(wharf.Amount(100*i + n)) })
			q.hears(t, fmt.Sprintf("%d report got{amount: %d}", i, 100*i+n))
		}
		does(t, c, func(r captain) fsm.Result { return r.Order(wharf.Amount(7 + i)) })
		q.hears(t, fmt.Sprintf("%d report wanted{amount: %d}", i, 7+i))
		c.hears(t, fmt.Sprintf("report got{amount: %d}", 7+i))
		does(t, c, func(r captain) fsm.Result { return r.Tell(wharf.Amount(i)) })
		q.hears(t, fmt.Sprintf("%d report at{place: %d}", i, i))
	}

	// One leaves: both connections end, in good order, and the other plays on.
	does(t, one, func(r captain) fsm.Result { return r.Leave() })
	q.hears(t, "0 report gone")
	one.hears(t, "report gone")
	does(t, two, func(r captain) fsm.Result { return r.Order(9) })
	q.hears(t, "1 report wanted{amount: 9}")
	two.hears(t, "report got{amount: 9}")

	// The next one has the number of the first, once its connections are gone for good.
	three, n := q.boards(t, "goods"), 0
	if _, err := fmt.Sscanf(<-q.told, "%d up true", &n); err != nil || n == 1 {
		t.Fatal(n, err)
	}
	does(t, three, func(r captain) fsm.Result { return r.Give(5) })
	q.hears(t, fmt.Sprintf("%d report got{amount: 5}", n))
	if err := q.Post(n, func(r harbour) fsm.Result { return r.Expel() }); err != nil {
		t.Fatal(err)
	}
	q.hears(t, fmt.Sprintf("%d report gone", n))
	three.hears(t, "report gone")
}

// TestHostWaitsForAll: what comes over one connection before the other is there waits, in its order, and is heard
// then. A frame tells whose it is where the address does not: here it has the port of the other connection.
func TestHostWaitsForAll(t *testing.T) {
	var q *quay
	ready := make(chan struct{}) // the host runs before docks returns
	q = docks(t, func(_ net.Addr, frame []byte) int {
		<-ready
		for peer := range 4 {
			a, ok := q.orders.RemoteAddr(peer).(*net.TCPAddr)
			if ok && frame != nil && a.Port == int(frame[2])<<8|int(frame[3]) {
				return peer
			}
		}
		return -1
	}, 0)
	close(ready)
	port := func(c net.Conn) int { return c.LocalAddr().(*net.TCPAddr).Port }
	goods := func(n int) []byte { return []byte{4, 1, byte(n >> 8), byte(n)} }
	first, second := q.dial(t, q.orders.LocalAddr()), q.dial(t, q.goods.LocalAddr())
	second.Write(append(goods(port(first)), goods(50)[:3]...)) // and the first half of a frame
	first.Write([]byte{4, 1, 0, 9})                            // HAIL
	q.hears(t, "0 up true", "0 report hailed{token: 9}", fmt.Sprintf("0 report got{amount: %d}", port(first)))
	second.Write(goods(50)[3:])
	q.hears(t, "0 report got{amount: 50}")

	// The connections of the next: what is for a peer that is not there yet waits as well.
	second = q.dial(t, q.goods.LocalAddr())
	first = q.dial(t, q.orders.LocalAddr())
	second.Write(append(goods(port(first)), goods(60)...))
	q.hears(t, "1 up true", fmt.Sprintf("1 report got{amount: %d}", port(first)), "1 report got{amount: 60}")

	// What is no frame of the channel ends both.
	second.Write([]byte{2, 77})
	q.hears(t, "1 error 2: over the channel goods: bad frame at byte 1: no message has type 77",
		"1 report gone", "1 up false")
	first.SetReadDeadline(time.Now().Add(longest))
	if n, err := first.Read(make([]byte, 1)); n != 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the other connection is still there: %d, %v", n, err)
	}
}

// TestHostEndsTogether: a connection that ends takes the other one with it, whichever it is.
func TestHostEndsTogether(t *testing.T) {
	for _, which := range []string{"orders", "goods"} {
		q := docks(t, nil, 0)
		first, second := q.dial(t, q.orders.LocalAddr()), q.dial(t, q.goods.LocalAddr())
		q.hears(t, "0 up true")
		if which == "orders" {
			first, second = second, first
		}
		second.Close()
		q.hears(t, "0 report gone", "0 up false")
		first.SetReadDeadline(time.Now().Add(longest))
		if n, err := first.Read(make([]byte, 1)); n != 0 || err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s has ended, and the other connection is still there: %d, %v", which, n, err)
		}
	}
}

// TestHostGivesUp: who has not all connections in time, or sends too much before, is given up, and so are its others.
func TestHostGivesUp(t *testing.T) {
	ends := func(c *net.TCPConn) {
		t.Helper()
		c.SetReadDeadline(time.Now().Add(longest))
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, context.DeadlineExceeded) ||
			strings.Contains(err.Error(), "timeout") {
			t.Errorf("the connection is still there: %d, %v", n, err)
		}
	}
	q := docks(t, nil, 20*time.Millisecond)
	ends(q.dial(t, q.orders.LocalAddr()))
	ends(q.dial(t, q.goods.LocalAddr()))
	never := docks(t, func(net.Addr, []byte) int { return -1 }, 0)
	for _, at := range []net.Addr{never.orders.LocalAddr(), never.goods.LocalAddr()} {
		c := never.dial(t, at)
		go func() {
			for {
				if _, err := c.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		}()
		ends(c)
	}
	if n := never.Sessions(); n != 0 || q.Sessions() != 0 {
		t.Errorf("%d and %d machines", n, q.Sessions())
	}
}

// TestHostLacksLink: without a link for a channel that loses nothing a host does not run, and says which.
func TestHostLacksLink(t *testing.T) {
	l, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{Linger: short})
	if err != nil {
		t.Skip(err)
	}
	h, err := driver.NewHost(wharf.NewServerRunner(), func(r harbour) *wharf.Server { return &r.Machine }, nil, l,
		driver.Options[harbour]{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `"goods" loses nothing and has no`) {
		t.Error(err)
	}
}
