package node_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/machines/lobby"
)

// cable is what a server has to NATS. It can be cut, be still for a while, and be late.
type cable struct {
	l     net.Listener
	to    string
	late  atomic.Bool
	mu    sync.Mutex
	moves *sync.Cond // it is not still any more
	still bool
	cut   bool
	conns map[net.Conn]bool
}

// lateness is what a cable that is late does to each piece. Others do not wait for it.
const lateness = 20 * time.Millisecond

func newCable(t *testing.T, natsURL string) *cable {
	t.Helper()
	u, err := url.Parse(natsURL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{l: l, to: u.Host, conns: map[net.Conn]bool{}}
	c.moves = sync.NewCond(&c.mu)
	t.Cleanup(func() { l.Close(); c.set(true); c.stall(false) })
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", c.to)
			if err != nil || !c.add(a, b) {
				a.Close()
				if b != nil {
					b.Close()
				}
				continue
			}
			go c.carry(a, b)
			go c.carry(b, a)
		}
	}()
	return c
}

// carry carries what one end says to the other.
func (c *cable) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		c.mu.Lock()
		for c.still && !c.cut {
			c.moves.Wait()
		}
		c.mu.Unlock()
		if c.late.Load() {
			<-time.After(lateness)
		}
		if _, e := to.Write(buf[:n]); e != nil || err != nil {
			return
		}
	}
}

// stall has nothing come through until it is called again; then, all of it.
func (c *cable) stall(still bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.still = still
	c.moves.Broadcast()
}

func (c *cable) url() string { return "nats://" + c.l.Addr().String() }

func (c *cable) add(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range conns {
		c.conns[x] = true
	}
	return !c.cut
}

func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.moves.Broadcast()
	if c.cut = cut; cut {
		for x := range c.conns {
			x.Close()
		}
		clear(c.conns)
	}
}

// A server that NATS does not hear stops serving by itself, and says so to whoever asks. Its games go on elsewhere,
// and when it is heard again it sends players there.
func TestPartition(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	wire := newCable(t, c.url)
	a := c.server(wire.url(), node.Config{})
	p := c.player("L", "", a.address)
	before := p.Epoch()
	b := c.server(c.url, node.Config{})
	wire.set(true)
	c.session(a, false)
	if lobbies, _ := a.Games(); lobbies != 0 || a.Fenced.Load() == 0 {
		t.Errorf("a server without a session has %d lobbies, and gave up %d", lobbies, a.Fenced.Load())
	}
	if _, err := p.conn.Read(make([]byte, 1)); err == nil {
		t.Error("the player is still there")
	}
	if m := ask(t, a.address, tenure.KindLobby, "L", before); m.Kind != tenure.MessageLater {
		t.Errorf("a server without a session says %v", m.Kind)
	}
	q := c.player("L", "", b.address)
	if q.Epoch() <= before {
		t.Errorf("after epoch %d came %d", before, q.Epoch())
	}
	wire.set(false)
	c.session(a, true)
	c.eventually("the player is sent on", func() bool {
		m := ask(t, a.address, tenure.KindLobby, "L", before)
		if m.Kind == tenure.MessageHere && uint32(m.Here.Epoch) <= q.Epoch() {
			t.Fatalf("two servers have one lobby: epochs %d and %d", m.Here.Epoch, q.Epoch())
		}
		return m.Kind == tenure.MessageMoved && m.Moved.There.String() == b.address
	})
}

// ask asks a server once.
func ask(t *testing.T, address string, kind tenure.Kind, game string, epoch uint32) (m tenure.Message) {
	t.Helper()
	name, _ := tenure.NewName(game)
	return say(t, address, tenure.JoinMessage{Kind: kind, Game: name, Epoch: tenure.Epoch(epoch)})
}

// say says one thing to a server, and returns what it answers.
func say(t *testing.T, address string, join tenure.JoinMessage) (m tenure.Message) {
	t.Helper()
	sayUntil(t, address, join, func(answer tenure.Message) { m = answer })
	return m
}

// sayUntil says one thing to a server, and stays until f has taken the answer.
func sayUntil(t *testing.T, address string, join tenure.JoinMessage, f func(tenure.Message)) {
	t.Helper()
	conn, m, err := knock(address, nil, join)
	if err != nil {
		t.Error(err)
	}
	f(m)
	if conn != nil {
		conn.Close()
	}
}

// knock says one thing to a server from an address of this computer, nil for any, and returns what it answers. The
// connection is to be closed, and is nil if there was none.
func knock(address string, from net.IP, join tenure.JoinMessage) (conn net.Conn, m tenure.Message, err error) {
	frame, err := tenure.AppendMessage(nil, &tenure.Message{Kind: tenure.MessageJoin, Join: join})
	if err != nil {
		return nil, m, err
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 20 * time.Second}
	if conn, err = d.Dial("tcp", address); err != nil {
		return nil, m, err
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err = conn.Write(frame); err == nil {
		m, err = node.ReadFrame(conn)
	}
	return conn, m, err
}

// Who says what is no JOIN, or nothing, is let go and counted. A player who knows of an epoch that is none
// takes the lobby from nobody.
func TestStrangers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	a := c.server(c.url, node.Config{Handshake: time.Second, Connections: 40, PerAddress: 20})
	p := c.player("L", "", a.address)
	for epoch := range uint32(3) {
		if m := ask(t, a.address, tenure.KindLobby, "L", p.Epoch()+epoch*1000); m.Kind != tenure.MessageHere {
			t.Errorf("the answer to an epoch that is none is %v", m.Kind)
		}
	}
	long, err := tenure.AppendMessage(nil, &tenure.Message{Kind: tenure.MessageJoin})
	if err != nil {
		t.Fatal(err)
	}
	hello, _ := tenure.AppendMessage(nil, &tenure.Message{Kind: tenure.MessageLater})
	strangers := []string{"GET / HTTP/1.1\r\n\r\n", "\x00\x00", "\x00\x02", "\xff\xff" + strings.Repeat("x", 70000),
		string(long), string(hello), "\x00"}
	var talking sync.WaitGroup
	for _, s := range strangers {
		talking.Go(func() {
			conn, err := net.Dial("tcp", a.address)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = conn.Write([]byte(s))
			if rest, _ := io.ReadAll(conn); len(rest) > 0 { // until it is closed
				t.Errorf("%.20q is answered by %q", s, rest)
			}
		})
	}
	talking.Wait()
	c.eventually("they are counted", func() bool { return a.Turned.Load() == int64(len(strangers)) })
	// More than there are places for are turned away at once; those who say nothing, after a while.
	var open []net.Conn
	for range 40 {
		conn, err := net.Dial("tcp", a.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	for _, conn := range open {
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("who says nothing gets %v", err)
		}
	}
	c.send(p, &lobby.Message{Kind: lobby.MessageGameInfo})
	if m := c.hear(p); m.Kind != lobby.MessageGames {
		t.Errorf("the player hears %v", m.Kind)
	}
}

// What another server asks is looked at, too.
func TestQuestions(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a := c.server(c.url, node.Config{Matches: 2})
	bad := []string{"", "{", `{"name":""}`, `{"name":"a\n"}`, strings.Repeat("[", 10000), `{"name":"m","epoch":-1}`}
	for _, q := range bad {
		m, err := a.st.Conn().Request(a.st.Subject("serve.match"), []byte(q), 20*time.Second)
		if err != nil || !bytes.Contains(m.Data, []byte(`"address":""`)) {
			t.Errorf("%.20q: %v, %v", q, m, err)
		}
	}
	if lobbies, matches := a.Games(); lobbies+matches != 0 {
		t.Errorf("%d lobbies and %d matches came of that", lobbies, matches)
	}
}

func FuzzReadFrame(f *testing.F) {
	join, err := tenure.AppendMessage(nil, &tenure.Message{Kind: tenure.MessageJoin})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(join)
	f.Add([]byte{0, 2})
	f.Add([]byte{255, 255, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := node.ReadFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := tenure.AppendMessage(nil, &m)
		if err != nil || !bytes.HasPrefix(b, again) {
			t.Errorf("%x is read as %x, %v", b, again, err)
		}
		_ = store.CheckName(m.Join.Game.String())
	})
}

// One of three NATS servers may end: players find their lobby, and new ones are made. With the second,
// nobody can decide anything any more, so all stop serving.
func TestNATSServersEnd(t *testing.T) {
	t.Parallel()
	servers, err := store.EmbedCluster(3, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		t.Cleanup(s.Shutdown)
	}
	c := withNATS(t, servers[0].URL()+","+servers[1].URL()+","+servers[2].URL(), 3)
	c.lease = 4 * time.Second // a leader has to be found meanwhile
	a := c.server(c.url, node.Config{})
	p := c.player("old", "", a.address)
	servers[2].Shutdown()
	c.player("new", "", a.address)
	c.enter(p) // a busy computer may have lost the session meanwhile, so the lobby may have moved
	servers[1].Shutdown()
	c.session(a, false)
	if m := ask(t, a.address, tenure.KindLobby, "old", 0); m.Kind != tenure.MessageLater {
		t.Errorf("a server without a session says %v", m.Kind)
	}
}

// A server whose lobby was taken behind its back, as if it had stood still, serves on until a player comes who has
// been at the new owner. Then it looks, lets everybody go, and the lobby has a later epoch.
func TestTakenUnawares(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a := c.server(c.url, node.Config{})
	p := c.player("L", "", a.address)
	game := store.Game{Kind: tenure.KindLobby, Name: "L"}
	e, ok := a.st.Answer(c.ctx, game, "", &tenure.Message{Kind: tenure.MessageRead})
	if !ok || uint32(e.Entry.Epoch) != p.Epoch() {
		t.Fatalf("%+v", e.Entry)
	}
	take := tenure.Message{Kind: tenure.MessageTake,
		Take: tenure.TakeMessage{Was: e.Entry.Rev, Owner: 1 << 30, Epoch: e.Entry.Epoch + 1}}
	if m, ok := a.st.Answer(c.ctx, game, "", &take); !ok || m.Kind != tenure.MessageTaken {
		t.Fatalf("%v %t", m.Kind, ok)
	}
	if m := ask(t, a.address, tenure.KindLobby, "L", p.Epoch()); m.Kind != tenure.MessageHere ||
		uint32(m.Here.Epoch) != p.Epoch() {
		t.Errorf("who knows of nothing is told %v %+v", m.Kind, m.Here)
	}
	if m := ask(t, a.address, tenure.KindLobby, "L", p.Epoch()+1); m.Kind != tenure.MessageHere ||
		uint32(m.Here.Epoch) != p.Epoch()+2 {
		t.Errorf("who knows better is told %v %+v", m.Kind, m.Here)
	}
	if _, err := p.conn.Read(make([]byte, 1)); err == nil {
		t.Error("the player is still there")
	}
}

// A server's clock is set, forward and back. Its session is renewed all the while, its players stay and may say
// something, and games begin there and are found by way of others.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm / 2
	var shift atomic.Int64
	c.now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	a := c.server(c.url, node.Config{Idle: time.Minute})
	c.now = nil
	b := c.server(c.url, node.Config{})
	p := c.player("L", "", a.address)
	before := p.Epoch()
	look := func() tenure.FoundMessage {
		game := store.Game{Kind: tenure.KindLobby, Name: "L"}
		e, ok := b.st.Answer(c.ctx, game, "", &tenure.Message{Kind: tenure.MessageRead})
		if ok {
			m := tenure.Message{Kind: tenure.MessageLook, Look: tenure.LookMessage{Id: e.Entry.Owner}}
			if e, ok = b.st.Answer(c.ctx, game, "", &m); ok && e.Kind == tenure.MessageFound {
				return e.Found
			}
		}
		t.Fatal("the lobby has no owner whose session is there")
		return tenure.FoundMessage{}
	}
	first := look()
	for i, jump := range []time.Duration{25 * time.Hour, -25 * time.Hour} { // longer than an entry lasts
		shift.Store(int64(jump))
		was := look()
		c.eventually("the session is renewed", func() bool { return look().Rev > was.Rev })
		c.send(p, &lobby.Message{Kind: lobby.MessageGameInfo})
		if m := c.hear(p); m.Kind != lobby.MessageGames {
			t.Errorf("the player hears %v", m.Kind)
		}
		q := c.player(fmt.Sprint("M", i), "", a.address)
		r := c.player(fmt.Sprint("M", i), "", b.address)
		if q.conn.RemoteAddr().String() != a.address || r.conn.RemoteAddr().String() != a.address {
			t.Errorf("a lobby of %s is at %v and %v", a.address, q.conn.RemoteAddr(), r.conn.RemoteAddr())
		}
	}
	if last := look(); last.Id != first.Id || last.Rev == first.Rev {
		t.Errorf("the session was %+v and is %+v", first, last)
	}
	if m := ask(t, a.address, tenure.KindLobby, "L", before); m.Kind != tenure.MessageHere ||
		uint32(m.Here.Epoch) != before || a.Fenced.Load() != 0 {
		t.Errorf("the lobby of epoch %d: %v %+v; %d were let go", before, m.Kind, m.Here, a.Fenced.Load())
	}
}
