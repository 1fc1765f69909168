package node

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lockstep"
	"github.com/parley-go/parley/runtime/transport"
)

// relay is a match. One goroutine owns it; others tell it what happens.
//
// A new match begins when as many have come as the first of them said. One that was another relay's is gathered: the
// player who has executed most frames begins it, alone and with its state, and the others join as who comes late to
// any match. So what somebody has seen happen stays.
type relay struct {
	n        *Node
	name     string
	epoch    tenure.Epoch
	arrivals chan visitor
	news     news
	cancel   context.CancelFunc
	ended    chan struct{}
	inside   atomic.Int64
	isOver   atomic.Bool

	match   store.Match
	again   bool      // it was another relay's
	waiting []visitor // who are told where to go on when the match runs
	seats   int
	came    int
	running bool
	server  *frames.Server
	stopped context.CancelFunc // ends the server
	gone    chan struct{}      // it has ended
	leads   *visitor
	due     *time.Timer // the gathering, or the one who leads, has had its time
	lost    bool        // the last who went has lost the connection, and not left
}

// news is what a server has said and the relay not heard yet. Whoever says it does not wait: the relay may be waiting
// for it. A server says something when a player comes, sits down or goes, so there is never much.
type news struct {
	mu   sync.Mutex
	list []func()
	wake chan struct{}
}

func (n *news) put(f func()) {
	n.mu.Lock()
	n.list = append(n.list, f)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *news) take() []func() {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	return list
}

// maxLinks is how many a relay's machine can tell apart.
const maxLinks = 32

func newRelay(n *Node, game store.Game, epoch tenure.Epoch) service {
	r := &relay{n: n, name: game.Name, epoch: epoch, arrivals: make(chan visitor, maxLinks),
		news: news{wake: make(chan struct{}, 1)}, ended: make(chan struct{}), due: time.NewTimer(time.Hour)}
	r.due.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go r.run(ctx)
	return r
}

// join implements [service].
func (r *relay) join(v visitor, _ tenure.Epoch) {
	done := v.done
	v.done = sync.OnceFunc(func() { r.inside.Add(-1); done() })
	r.inside.Add(1)
	select {
	case r.arrivals <- v:
	default:
		r.n.later(v)
	}
}

func (r *relay) players() int { return int(r.inside.Load()) }
func (r *relay) over() bool   { return r.isOver.Load() }

// stop implements [service].
func (r *relay) stop() {
	r.cancel()
	<-r.ended
}

func (r *relay) run(ctx context.Context) {
	defer close(r.ended)
	defer r.end()
	for wait := time.Duration(0); ; wait = r.n.st.Patience() / 2 {
		var err error
		if r.match, r.again, err = r.n.st.LoadMatch(ctx, r.name); err == nil {
			break
		}
		select { // who waits is told later
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
	if !r.again {
		r.match.Seed = uint32(time.Now().UnixNano())
	}
	r.match.Epoch = r.epoch
	for {
		select {
		case v := <-r.arrivals:
			r.arrive(ctx, v)
		case <-r.news.wake:
			for _, f := range r.news.take() {
				f()
			}
		case <-r.due.C:
			r.lead(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// end lets everybody go.
func (r *relay) end() {
	r.halt()
	for {
		select {
		case v := <-r.arrivals:
			r.n.later(v)
			continue
		default:
		}
		break
	}
	for _, v := range r.waiting {
		r.n.later(v)
	}
}

// halt ends the server, if there is one.
func (r *relay) halt() {
	if r.server != nil {
		r.stopped()
		<-r.gone
		r.server, r.running, r.came = nil, false, 0
	}
}

func (r *relay) arrive(ctx context.Context, v visitor) {
	switch {
	case r.running:
		r.letIn(ctx, v, false)
	case r.again:
		if len(r.waiting) >= maxLinks {
			r.n.later(v)
			return
		}
		if !r.plays(v.join.Secret.String()) {
			v.join.Seats = 0 // whoever is not one of them may watch
		}
		r.waiting = append(r.waiting, v)
		players := 0
		for i := range r.waiting {
			if r.waiting[i].join.Seats > 0 {
				players++
			}
		}
		switch {
		case r.leads != nil:
		case players >= len(r.match.Keys):
			r.lead(ctx)
		case len(r.waiting) == 1:
			r.due.Reset(r.n.cfg.Gather)
		}
	default:
		if r.server == nil {
			r.seats = max(1, int(v.join.Seats))
			r.serve(ctx)
		}
		r.letIn(ctx, v, false)
	}
}

// plays reports whether somebody knows the key of a player.
func (r *relay) plays(secret string) bool {
	key, err := strconv.ParseUint(secret, 16, 64)
	if err != nil {
		return false
	}
	for _, k := range r.match.Keys {
		if k == key {
			return true
		}
	}
	return false
}

// lead lets the player begin who is furthest. If there was one before, it has had its time.
func (r *relay) lead(ctx context.Context) {
	if r.running {
		return
	}
	r.halt()
	r.leads = nil
	best := -1
	for i := range r.waiting {
		j := &r.waiting[i].join
		if j.Seats > 0 && (best < 0 || j.Frame > r.waiting[best].join.Frame) {
			best = i
		}
	}
	if best < 0 {
		if len(r.waiting) > 0 { // they only watch
			r.due.Reset(r.n.cfg.Gather)
		}
		return
	}
	v := r.waiting[best]
	r.waiting = append(r.waiting[:best], r.waiting[best+1:]...)
	r.leads, r.seats = &v, 1
	r.serve(ctx)
	r.due.Reset(2*r.n.cfg.Gather + time.Second) // to begin; then it is the next one's turn
	done := v.done
	v.done = func() { // its link is over
		done()
		r.news.put(func() {
			if r.leads == &v {
				r.lead(ctx)
			}
		})
	}
	if !r.letIn(ctx, v, true) {
		r.lead(ctx)
	}
}

// letIn lets a player go on to the server.
func (r *relay) letIn(ctx context.Context, v visitor, leads bool) bool {
	link, err := v.here(r.epoch, leads)
	if err != nil {
		v.refuse(nil)
		return false
	}
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	return r.server.Attach(soon, &guest{link, v.done}) == nil
}

// guest is a link that frees its place when it is over.
type guest struct {
	transport.Link
	done func()
}

func (g *guest) Close() error { defer g.done(); return g.Link.Close() }
func (g *guest) Abort() error { defer g.done(); return g.Link.Abort() }

// serve begins a server.
func (r *relay) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	tell := func(f func()) { // what this server says is done by the relay's goroutine
		r.news.put(func() {
			if r.gone == gone && r.server != nil {
				f()
			}
		})
	}
	cfg := frames.ServerConfig{Length: r.n.cfg.Length, Spacing: r.n.cfg.Spacing, Seed: r.match.Seed,
		Logger: r.n.cfg.Logger, Patience: r.n.cfg.Silence, Grace: 30 * time.Second}
	if r.again {
		cfg.Keys, cfg.First = r.match.Keys, uint32(r.leads.join.Frame)
	}
	cfg.OnCame = func(_ string, slot int) {
		if slot >= 0 {
			tell(func() { r.seated(ctx) })
		}
	}
	cfg.OnRunning = func() { tell(func() { r.runs(ctx) }) }
	cfg.OnSat = func(string, int) { tell(func() { r.save(ctx) }) }
	cfg.OnWent = func(_ int, why lockstep.Reason) {
		tell(func() {
			r.lost = why != lockstep.ReasonNoCause
		})
	}
	cfg.OnOver = func() { tell(func() { r.finish(ctx) }) }
	server, err := frames.NewServer(cfg)
	if err != nil {
		panic(err) // the configuration has been checked
	}
	r.server, r.stopped, r.gone = server, cancel, gone
	go func() {
		if err := server.Run(ctx); err != nil {
			r.n.cfg.Logger.Error("the match has ended", "match", r.name, "error", err)
		}
		close(gone)
	}()
}

// seated begins the match if all are there.
func (r *relay) seated(ctx context.Context) {
	if r.running {
		return
	}
	if r.came++; r.came >= r.seats {
		if err := r.server.Begin(ctx); err != nil && r.again {
			r.lead(ctx)
		}
	}
}

// runs lets in who has waited.
func (r *relay) runs(ctx context.Context) {
	r.running, r.lost, r.leads = true, false, nil
	r.due.Stop()
	if err := r.server.Shut(ctx); err != nil {
		return // it has ended
	}
	r.save(ctx)
	waiting := r.waiting
	r.waiting = nil
	for _, v := range waiting {
		r.letIn(ctx, v, false)
	}
}

// save writes down who plays.
func (r *relay) save(ctx context.Context) {
	if !r.running {
		return
	}
	keys, err := r.server.Keys(ctx)
	if err != nil || len(keys) == 0 {
		return
	}
	if !r.again {
		r.match.Keys = keys
	} else { // who has not come back yet may still do so
		for slot, key := range keys {
			r.match.Keys[slot] = key
		}
	}
	if err := r.n.st.SaveMatch(ctx, r.name, r.match); errors.Is(err, store.ErrEpoch) {
		r.isOver.Store(true) // it is another's, and we are the last to know
	} else if err != nil {
		r.n.cfg.Logger.Warn("who plays could not be written down", "match", r.name, "error", err)
	}
}

// finish is for when nobody plays any more. If they have not left, they may come again.
func (r *relay) finish(ctx context.Context) {
	if !r.lost {
		if err := r.n.st.DropMatch(ctx, r.name, r.epoch); err != nil {
			r.n.cfg.Logger.Warn("the match could not be forgotten", "match", r.name, "error", err)
		}
	}
	r.isOver.Store(true)
}
