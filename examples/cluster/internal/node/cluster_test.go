package node_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/seek"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/internal/waits"
	"github.com/parley-go/parley/machines/lobby"
)

// lease is short, so that tests are.
const lease = 1500 * time.Millisecond

// calm is the lease of tests in which nobody loses a session, however busy the computer is.
const calm = 20 * time.Second

// cluster is a NATS server and servers of this process.
type cluster struct {
	t   *testing.T
	ctx context.Context
	url string
	log *slog.Logger

	lease    time.Duration
	replicas int
	burst    int // of games that one address begins
	refill   time.Duration
	now      func() time.Time // of the servers that follow; nil for this computer's clock
}

// mainOfHost is the program of a host, where there is one.
var mainOfHost = func([]string) {}

// TestMain is also the program of a host: see network_linux_test.go.
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "-host" {
		mainOfHost(os.Args[2:])
	}
	os.Exit(waits.Main(m))
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	e, err := store.Embed(store.EmbedConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Shutdown)
	return withNATS(t, e.URL(), 1)
}

func withNATS(t *testing.T, url string, replicas int) *cluster {
	c := &cluster{t: t, url: url, lease: lease, replicas: replicas, burst: 512, refill: time.Hour / 4}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	if os.Getenv("CLUSTER_LOG") != "" {
		c.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return c
}

func (c *cluster) store(url string) *store.Store {
	c.t.Helper()
	nc, err := store.Connect(url, c.t.Name())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(nc.Close)
	s, err := store.Open(c.ctx, nc, store.Config{Lease: c.lease, Replicas: c.replicas, Burst: c.burst,
		Refill: c.refill, Now: c.now})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// running is a server.
type running struct {
	*node.Node
	address string
	st      *store.Store
	stop    func() // gives back what it has
	up      chan bool
}

// kill ends a server as a crash does: it can say nothing more to the store.
func (r *running) kill() { r.st.Conn().Close(); r.stop() }

func (c *cluster) server(url string, cfg node.Config) *running {
	c.t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		c.t.Fatal(err)
	}
	r := &running{address: l.Addr().String(), st: c.store(url), up: make(chan bool, 16)}
	cfg.OnSession = func(up bool) { // on a busy computer there are more of these than anybody waits for
		for {
			select {
			case r.up <- up:
				return
			default:
			}
			select {
			case <-r.up:
			default:
			}
		}
	}
	cfg.Logger = c.log
	if cfg.Length == 0 {
		cfg.Length, cfg.Spacing = 10*time.Millisecond, 1
	}
	r.Node = node.New(r.st, cfg)
	ctx, cancel := context.WithCancel(c.ctx)
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.t.Error(err)
		}
	})
	c.t.Cleanup(r.stop)
	c.session(r, true)
	return r
}

// session waits until a server may serve, or must not any more.
func (c *cluster) session(r *running, want bool) {
	c.t.Helper()
	for {
		select {
		case up := <-r.up:
			if up == want {
				return
			}
		case <-c.ctx.Done():
			c.t.Fatalf("no session that is %t", want)
		}
	}
}

// player is somebody in a lobby.
type player struct {
	*seek.Seeker
	name string
	conn *net.TCPConn
}

func (c *cluster) player(name, who string, doors ...string) *player {
	c.t.Helper()
	s, err := seek.New(doors, tenure.KindLobby, name, who, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	p := &player{Seeker: s, name: name}
	c.enter(p)
	return p
}

// enter finds the lobby, and sees that it answers.
func (c *cluster) enter(p *player) {
	c.t.Helper()
	var err error
	if p.conn, _, err = p.Find(c.ctx, 0); err != nil {
		c.t.Fatal(err)
	}
	conn := p.conn
	c.t.Cleanup(func() { conn.Close() })
	c.send(p, &lobby.Message{Kind: lobby.MessageGameInfo})
	if m := c.hear(p); m.Kind != lobby.MessageGames {
		c.t.Fatalf("the lobby says %v", m.Kind)
	}
}

func (c *cluster) send(p *player, m *lobby.Message) {
	c.t.Helper()
	b, err := lobby.AppendMessage(nil, m)
	if err == nil {
		_, err = p.conn.Write(b)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) hear(p *player) (m lobby.Message) {
	c.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	head := make([]byte, 3)
	_, err := io.ReadFull(p.conn, head)
	if err == nil {
		var n int
		if n, err = lobby.FrameSize(append(head, make([]byte, 2000)...)); err == nil {
			b := make([]byte, n)
			copy(b, head)
			if _, err = io.ReadFull(p.conn, b[3:]); err == nil {
				err = lobby.DecodeMessage(b, &m)
			}
		}
	}
	if err != nil {
		c.t.Fatalf("hear: %v", err)
	}
	return m
}

// eventually waits for something that happens by itself.
func (c *cluster) eventually(what string, ok func() bool) {
	c.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			c.t.Fatalf("%s: it does not come to that", what)
		}
	}
}

// Two players who come by different servers are in one lobby, whatever its name is, and hear each other.
func TestLobby(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	a, b := c.server(c.url, node.Config{}), c.server(c.url, node.Config{})
	const name = "Grün & <b>.*.> $KV"
	x := c.player(name, "Ann of Arc", a.address, b.address)
	y := c.player(name, "", b.address, a.address)
	text, _ := lobby.NewLine("hello")
	c.send(x, &lobby.Message{Kind: lobby.MessageChat, Chat: lobby.ChatMessage{Text: text}})
	if m := c.hear(y); m.Kind != lobby.MessageSaid || m.Said.Text != text {
		t.Errorf("heard %+v", m)
	}
	if x.Epoch() != y.Epoch() {
		t.Errorf("epochs %d and %d", x.Epoch(), y.Epoch())
	}
	c.eventually("presence", func() bool {
		e, err := a.st.Presence.Get(c.ctx, node.PresenceKey("Ann of Arc"))
		return err == nil && string(e.Value()) == `{"kind":"lobby","game":"Grün \u0026 \u003cb\u003e.*.\u003e $KV"}`
	})
	// Who gives back leaves nothing to wait for.
	before := x.Epoch()
	left, other := a, b
	if y.conn.RemoteAddr().String() == b.address {
		left, other = b, a
	}
	left.stop()
	read := tenure.Message{Kind: tenure.MessageRead}
	e, ok := other.st.Answer(c.ctx, store.Game{Kind: tenure.KindLobby, Name: name}, "", &read)
	if !ok || e.Entry.Owner != 0 || uint32(e.Entry.Epoch) < before {
		t.Errorf("the server that has ended leaves %+v", e.Entry)
	}
	c.enter(y)
	c.enter(x)
	if x.Epoch() <= before {
		t.Errorf("after epoch %d came %d", before, x.Epoch())
	}
}

// A server that is killed loses its lobbies to others, and all who were there meet there again.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var all []string
	var servers []*running
	for range 3 {
		s := c.server(c.url, node.Config{})
		servers, all = append(servers, s), append(all, s.address)
	}
	var players []*player
	for i := range 12 {
		doors := append([]string{servers[i%3].address}, all...)
		players = append(players, c.player(fmt.Sprint("lobby ", i/2), "", doors...))
	}
	epochs := map[int]uint32{}
	for i, p := range players {
		epochs[i] = p.Epoch()
	}
	killed, lost := servers[0], 0
	for _, s := range servers { // on a busy computer the first one may have lost its session, and its lobbies
		if n, _ := s.Games(); n > lost {
			killed, lost = s, n
		}
	}
	if lost == 0 {
		t.Fatal("the server that is killed has no lobby")
	}
	killed.kill()
	var entering sync.WaitGroup
	for _, p := range players {
		if p.conn.RemoteAddr().String() == killed.address {
			entering.Go(func() { c.enter(p) })
		}
	}
	entering.Wait()
	moved := 0
	for i := 0; i < len(players); i += 2 {
		x, y := players[i], players[i+1]
		together := func() bool {
			return x.Epoch() == y.Epoch() && x.conn.RemoteAddr().String() == y.conn.RemoteAddr().String()
		}
		for !together() { // on a busy computer a server may lose its session meanwhile
			c.enter(x)
			c.enter(y)
		}
		if x.Epoch() > epochs[i] {
			moved++
		}
	}
	if moved < lost {
		t.Errorf("%d lobbies lost, %d moved", lost, moved)
	}
}

// A server that is full has lobbies begun by others.
func TestFull(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	a, b := c.server(c.url, node.Config{Lobbies: 1}), c.server(c.url, node.Config{})
	for i := range 5 {
		c.player(fmt.Sprint(i), "", a.address)
	}
	here, _ := a.Games()
	there, _ := b.Games()
	if here != 1 || there != 4 || a.Moves.Load() < 4 {
		t.Errorf("%d lobbies here, %d there, %d sent on", here, there, a.Moves.Load())
	}
}
