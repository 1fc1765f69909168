package node

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// allowance is what addresses may still begin here. What that is in the whole cluster is in the store; a server takes
// some at a time from there, and remembers for how long an address has none left. What it forgets, it asks again.
type allowance struct {
	st    *store.Store
	chunk int

	mu     sync.Mutex
	shares map[netip.Addr]*share
}

// share is what one address has here.
type share struct {
	mu    sync.Mutex // held while the store is asked
	left  int
	until time.Time // nothing is left before
	used  time.Time
}

// maxShares is how many addresses are known, and shareTime for how long.
const (
	maxShares = 1 << 16
	shareTime = time.Minute
)

func newAllowance(st *store.Store) *allowance {
	return &allowance{st: st, chunk: max(1, st.Burst()/64), shares: map[netip.Addr]*share{}}
}

func (a *allowance) share(of netip.Addr) *share {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.shares[of]
	if s == nil {
		for old := range a.shares {
			if len(a.shares) < maxShares {
				break
			}
			delete(a.shares, old)
		}
		s = &share{}
		a.shares[of] = s
	}
	s.used = time.Now()
	return s
}

// spend reports whether an address may begin a game.
func (a *allowance) spend(ctx context.Context, of netip.Addr) bool {
	s := a.share(of)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		if time.Now().Before(s.until) {
			return false
		}
		got, wait, err := a.st.Spend(ctx, of, a.chunk)
		if err != nil {
			return false
		}
		s.left, s.until = got, time.Now().Add(wait)
	}
	if s.left == 0 {
		return false
	}
	s.left--
	return true
}

// sweep forgets who has not asked for a while.
func (a *allowance) sweep(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for of, s := range a.shares {
		if now.Sub(s.used) > shareTime {
			delete(a.shares, of)
		}
	}
}

// held is how many games an address may have begun of those that are here.
func (n *Node) held(kind tenure.Kind) int {
	if n.cfg.GamesPerAddress > 0 {
		return n.cfg.GamesPerAddress
	}
	most := n.cfg.Lobbies
	if kind == tenure.KindMatch {
		most = n.cfg.Matches
	}
	return max(1, most/4)
}

// begins is who a game begins for.
type begins struct {
	kind tenure.Kind
	by   netip.Addr
}

// mayBegin reports whether a game that is nobody's may begin here for an address. The others have their places, then,
// and NATS room for their entries. A game that was another server's goes on for whoever comes.
func (n *Node) mayBegin(ctx context.Context, it *item, by netip.Addr) bool {
	who := begins{it.game.Kind, by}
	n.mu.Lock()
	room := it.by == by || n.begun[who] < n.held(who.kind)
	n.mu.Unlock()
	if !room || !n.allowance.spend(ctx, by) {
		n.Limited.Add(1)
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !it.gone && it.by != by {
		it.by = by
		n.begun[who]++
	}
	return true
}

// freed is for a game that is here no more. The caller has the lock.
func (n *Node) freed(it *item) {
	if who := (begins{it.game.Kind, it.by}); it.by.IsValid() {
		if n.begun[who]--; n.begun[who] == 0 {
			delete(n.begun, who)
		}
		it.by = netip.Addr{}
	}
}
