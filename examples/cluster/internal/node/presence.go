package node

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
)

// presence writes who is where into a bucket whose entries expire, some time after it happened. It is for people:
// nothing is decided by it. What does not fit into its queue is written by the next renewal.
type presence struct {
	st    *store.Store
	queue chan string
	lost  atomic.Int64

	mu    sync.Mutex
	there map[string]*player
}

// player is somebody who is here. Who comes twice is there until both have left.
type player struct {
	game  store.Game
	count int
}

// Presence is the value of an entry.
type Presence struct {
	Kind string `json:"kind"`
	Game string `json:"game"`
}

// PresenceKey is where the entry of a player is.
func PresenceKey(who string) string { return "player." + store.Encode(who) }

func newPresence(st *store.Store) *presence {
	return &presence{st: st, queue: make(chan string, 4096), there: map[string]*player{}}
}

func (p *presence) came(who string, game store.Game) {
	p.mu.Lock()
	if e := p.there[who]; e != nil {
		e.count++
		e.game = game
	} else {
		p.there[who] = &player{game, 1}
	}
	p.mu.Unlock()
	p.write(who)
}

func (p *presence) left(who string) {
	p.mu.Lock()
	if e := p.there[who]; e != nil {
		if e.count--; e.count == 0 {
			delete(p.there, who)
		}
	}
	p.mu.Unlock()
}

func (p *presence) write(who string) {
	select {
	case p.queue <- who:
	default:
		p.lost.Add(1)
	}
}

// run writes, and renews what is still so three times within the time that it lasts.
func (p *presence) run(ctx context.Context) {
	tick := time.NewTicker(store.PresenceTTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case who := <-p.queue:
			p.put(ctx, who)
		case <-tick.C:
			p.mu.Lock()
			list := make([]string, 0, len(p.there))
			for who := range p.there {
				list = append(list, who)
			}
			p.mu.Unlock()
			for _, who := range list {
				p.put(ctx, who)
			}
		}
	}
}

func (p *presence) put(ctx context.Context, who string) {
	p.mu.Lock()
	e := p.there[who]
	var v Presence
	if e != nil {
		v = Presence{Kind: e.game.Kind.String(), Game: e.game.Name}
	}
	p.mu.Unlock()
	if e == nil {
		return // has left meanwhile
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = p.st.Presence.Put(ctx, PresenceKey(who), b)
	}
	if err != nil {
		p.lost.Add(1)
		p.st.Mend()
	}
}
