// Package node is one server of a cluster: players connect to it, it has lobbies and relays matches while they are
// its own, and sends players on to where theirs are.
//
// Whose a game is, and for how long, is the business of machines/tenure; what is said in a lobby that of
// machines/lobby, and in a match that of machines/lockstep. It must not know what a match is about. Start from
// [New] and [Node.Run].
package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/runtime/trace"
)

// Config says what a server does. The zero value is usable.
type Config struct {
	Public string // where players connect, if not at the listener's address
	// Lobbies and Matches are how many the server has at a time: 0 for 4096 and 1024, negative for none.
	Lobbies, Matches int
	// Connections is how many players there are at a time, 0 for 16,384, and PerAddress how many of them may have one
	// address, 0 for a quarter. So many of an address may come at once, too, and then a sixteenth of that each second.
	Connections, PerAddress int
	// GamesPerAddress is how many lobbies, and how many matches, one address may have begun of those that are here, 0
	// for a quarter. How many it may begin in a time is the store's business.
	GamesPerAddress int
	// Idle is after how long a lobby or match that nobody is in is given back, 0 for 30 seconds.
	Idle time.Duration
	// Gather is how long a match that was another's waits for its players, 0 for two seconds.
	Gather time.Duration
	// Handshake is in how long who connects has to say what it wants, 0 for ten seconds.
	Handshake time.Duration
	// Length is that of a match's game frame, and Spacing how many there are from one command frame to the next, as
	// in frames.ServerConfig; Silence is how long a player may send no commands, 0 for ten seconds.
	Length  time.Duration
	Spacing int
	Silence time.Duration
	// OnSession is told when the server may serve, and when it must not.
	OnSession func(up bool)
	Logger    *slog.Logger
	// Trace returns who records what a machine of machines/tenure does: a claim of a game, or a session, whose game is
	// empty. May be nil, and return nil.
	Trace func(store.Game) trace.Sink
}

// sink returns who records what a machine does, nil for nobody.
func (c *Config) sink(game store.Game) trace.Sink {
	if c.Trace == nil {
		return nil
	}
	return c.Trace(game)
}

// Node is a server of a cluster.
type Node struct {
	cfg  Config
	st   *store.Store
	here string // where players connect

	current   atomic.Pointer[session]
	presence  *presence
	places    places
	allowance *allowance

	mu    sync.Mutex
	items map[store.Game]*item
	count [2]int         // of items, by kind
	begun map[begins]int // of items, by who they began for

	Counters
}

// Counters count what has happened since the start. [Node.Status] says what each is.
type Counters struct {
	Joins, Moves, Laters, Turned, Limited, Busy, Taken, Fenced atomic.Int64
}

// New returns a server.
func New(st *store.Store, cfg Config) *Node {
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	span := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&cfg.Lobbies, 4096)
	def(&cfg.Matches, 1024)
	def(&cfg.Connections, 16384)
	def(&cfg.PerAddress, max(1, cfg.Connections/4))
	span(&cfg.Idle, 30*time.Second)
	span(&cfg.Gather, 2*time.Second)
	span(&cfg.Handshake, 10*time.Second)
	span(&cfg.Silence, 10*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Node{cfg: cfg, st: st, items: map[store.Game]*item{}, begun: map[begins]int{},
		presence: newPresence(st), places: newPlaces(cfg.Connections, cfg.PerAddress), allowance: newAllowance(st)}
}

// Run serves until ctx ends, which is no error. It gives back what it has. The listener belongs to it.
func (n *Node) Run(ctx context.Context, listener *net.TCPListener) error {
	n.here = n.cfg.Public
	if n.here == "" {
		n.here = listener.Addr().String()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { n.presence.run(ctx) })
	others.Go(func() { n.sweep(ctx) })
	stop, err := n.offer()
	if err != nil {
		listener.Close()
		return err
	}
	defer stop()
	accepting := make(chan error, 1)
	go func() { accepting <- n.accept(ctx, listener) }()
	n.sessions(ctx, accepting)
	cancel()
	listener.Close()
	n.giveBack()
	if err := <-accepting; err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// sessions has one session after another, until ctx ends or nothing is accepted any more.
func (n *Node) sessions(ctx context.Context, accepting chan error) {
	for ctx.Err() == nil {
		s, err := openSession(context.WithoutCancel(ctx), n.st, n.here, n.cfg)
		if err != nil {
			n.cfg.Logger.Warn("no session; it is tried again", "error", err)
			n.st.Mend()
			select {
			case <-time.After(n.st.Lease() / 4):
			case <-ctx.Done():
			}
			continue
		}
		n.current.Store(s)
		n.tell(true)
		select {
		case <-s.over:
			n.cfg.Logger.Warn("the session is over", "session", s.id)
			n.current.Store(nil)
			n.fence()
			<-s.ended
			n.tell(false)
		case err := <-accepting:
			accepting <- err
			return
		case <-ctx.Done():
			return // the session goes on while games are given back
		}
	}
}

func (n *Node) tell(up bool) {
	if n.cfg.OnSession != nil {
		n.cfg.OnSession(up)
	}
}

// find returns the item of a game, which is new if room allows; nil if it does not.
func (n *Node) find(game store.Game) *item {
	s := n.current.Load()
	if s == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if it := n.items[game]; it != nil {
		return it
	}
	most := n.cfg.Lobbies
	if game.Kind == tenure.KindMatch {
		most = n.cfg.Matches
	}
	if n.count[game.Kind] >= most {
		return nil
	}
	claim, err := tenure.NewClaimRunner(int64(s.id), ticks(n.st.Patience()))
	if err != nil {
		n.cfg.Logger.Error("no claim", "game", game, "error", err)
		return nil
	}
	it := newItem(game, claim, n.cfg.sink(game))
	n.items[game] = it
	n.count[game.Kind]++
	return it
}

// has reports whether the game is known here.
func (n *Node) has(game store.Game) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.items[game] != nil
}

// forget takes an item out. The caller has the item's lock.
func (n *Node) forget(it *item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !it.gone {
		it.gone = true
		n.freed(it)
		n.count[it.game.Kind]--
		delete(n.items, it.game)
		it.record.end()
	}
}

func (n *Node) all() []*item {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]*item, 0, len(n.items))
	for _, it := range n.items {
		list = append(list, it)
	}
	return list
}

// Games returns how many lobbies and matches are here.
func (n *Node) Games() (lobbies, matches int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count[tenure.KindLobby], n.count[tenure.KindMatch]
}

// fence ends everything, since it may be another's from now on.
func (n *Node) fence() {
	for _, it := range n.all() {
		it.mu.Lock()
		if it.serves != nil {
			n.Fenced.Add(1)
		}
		it.fence()
		n.forget(it)
		it.mu.Unlock()
	}
}

// giveBack gives everything back, so that others may have it at once. It takes ten seconds at most.
func (n *Node) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var busy sync.WaitGroup
	list := make(chan *item)
	for range 16 {
		busy.Go(func() {
			for it := range list {
				it.mu.Lock()
				it.leave(ctx, n.st)
				n.forget(it)
				it.mu.Unlock()
			}
		})
	}
	for _, it := range n.all() {
		list <- it
	}
	close(list)
	busy.Wait()
	if s := n.current.Swap(nil); s != nil {
		s.end()
		<-s.ended
	}
}

// sweep gives back what nobody is in, and what has been here for so long that its entry would expire.
func (n *Node) sweep(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, n.cfg.Idle/2+time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		n.places.sweep()
		n.allowance.sweep(now)
		for _, it := range n.all() {
			if !it.mu.TryLock() {
				continue // somebody is asking
			}
			if it.serves != nil && it.serves.players() > 0 {
				it.idle = now
			}
			ended := it.serves != nil && it.serves.over()
			old := it.serves != nil && now.Sub(it.since) > store.GameTTL/2
			if ended || old || now.Sub(it.idle) > n.cfg.Idle {
				it.leave(ctx, n.st)
				n.forget(it)
			}
			it.mu.Unlock()
		}
	}
}
