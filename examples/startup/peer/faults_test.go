package peer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/runtime/transport/book"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// nodes is how nodes of a network in memory stand in packets: node 0 has an address, too.
var nodes = book.Form[mem.Address]{
	Size: 6,
	Put: func(dst []byte, a mem.Address) {
		copy(dst, []byte{1, byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a), 0})
	},
	Get: func(src []byte) (mem.Address, bool) {
		return mem.Address(src[1])<<24 | mem.Address(src[2])<<16 | mem.Address(src[3])<<8 |
			mem.Address(src[4]), src[0] == 1
	},
}

func join(n *mem.Network, a mem.Address) (*book.Link[mem.Address], error) {
	l, err := n.Join(a, mem.NodeLimits{Silence: 3 * time.Second, MaxPeers: Parties})
	if err != nil {
		return nil, err
	}
	return book.New(l, a, nodes, numbers(Place{}))
}

func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n mem.Network
		next := mem.Address(7)
		x := newTable(t, func() (Link, error) { // addresses that neither rise nor fall
			next = next * 31 % 101
			return join(&n, next)
		})
		life(x, x.kill)
	})
}

// impaired is a book whose frames meet faults.
type impaired struct {
	*impair.Link
	self int
}

func (l impaired) Self() int { return l.self }

// TestFaults lets up to six peers start at random times while packets are lost, doubled and
// overtake each other, and kills some, founders among them. Then the faults end, and everybody has
// to come to an end where the players of each game agree on who is where; and one who comes then
// gets a slot, unless a game is full. PARLEY_SIM_SEED repeats one run.
func TestFaults(t *testing.T) {
	t.Parallel()
	first, runs := uint64(1), uint64(12)
	if os.Getenv("PARLEY_LONG") != "" {
		runs = 40
	}
	if s := os.Getenv("PARLEY_SIM_SEED"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
		runs = 1
	}
	var sum impair.Stats
	killed, games, refused, failed := 0, 0, 0, 0
	for seed := first; seed < first+runs; seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			w.chaos()
			w.calm()
			for _, l := range w.links {
				s := l.Stats()
				sum.Lost += s.Lost
				sum.Duplicated += s.Duplicated
				sum.Reordered += s.Reordered
			}
			killed += w.killed
			g, r, f := w.count()
			games, refused, failed = games+g, refused+r, failed+f
			w.end()
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d runs: %d players, %d refused, %d failed, %d killed; packets: %d lost, %d doubled, %d reordered",
		runs, games, refused, failed, killed, sum.Lost, sum.Duplicated, sum.Reordered)
	if runs > 1 && (sum.Lost == 0 || sum.Duplicated == 0 || sum.Reordered == 0 || killed == 0 || games == 0) {
		t.Error("the runs met too little")
	}
}

// world is one run.
type world struct {
	*table
	seed   uint64
	random *rand.Rand
	net    mem.Network
	faults impair.Faults
	peers  []*Peer
	links  []*impair.Link
	killed int
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{seed: seed, random: rand.New(rand.NewPCG(seed, 0))}
	f := func(most float64) float64 { return most * w.random.Float64() }
	w.faults = impair.Faults{Loss: f(0.4), Duplicate: f(0.3), Reorder: f(0.3), Late: 200 * time.Millisecond,
		Delay: 5 * time.Millisecond, Jitter: 20 * time.Millisecond}
	w.table = newTable(t, func() (Link, error) {
		l, err := join(&w.net, mem.Address(w.random.Uint32N(1<<20)))
		if err != nil {
			return nil, err
		}
		bad, err := impair.New(l, impair.Config{Seed: seed<<8 + uint64(len(w.links)), Faults: w.faults, Weak: true})
		if err != nil {
			return nil, err
		}
		w.links = append(w.links, bad)
		return impaired{bad, l.Self()}, nil
	})
	w.silence = 1500 * time.Millisecond
	return w
}

// chaos is the phase with faults.
func (w *world) chaos() {
	for range 2 + w.random.IntN(5) {
		w.peers = append(w.peers, w.start())
		time.Sleep(time.Duration(w.random.IntN(3000)) * time.Millisecond) // virtual
		if w.random.IntN(4) == 0 {
			w.killOne()
		}
	}
	time.Sleep(5 * time.Second)
	if w.random.IntN(2) == 0 {
		w.killOne()
	}
}

func (w *world) killOne() {
	i := w.random.IntN(len(w.peers))
	w.kill(w.peers[i])
	w.peers = append(w.peers[:i], w.peers[i+1:]...)
	w.killed++
	if len(w.peers) == 0 {
		w.peers = append(w.peers, w.start())
	}
}

// calm is the phase without, which has to come to a good end.
func (w *world) calm() {
	for _, l := range w.links {
		l.SetFaults(impair.Faults{Delay: time.Millisecond})
	}
	w.faults = impair.Faults{Delay: time.Millisecond}
	w.until(fmt.Sprintf("an end of every search; PARLEY_SIM_SEED=%d repeats it", w.seed), w.settled, w.peers...)
	full := w.full()
	late := w.start()
	w.peers = append(w.peers, late)
	w.until(fmt.Sprintf("an end of the late search; PARLEY_SIM_SEED=%d repeats it", w.seed), w.settled, w.peers...)
	if v := late.View(context.Background()); v.State != "game" && !(v.State == "refused" && full) {
		w.t.Errorf("seed %d: one who comes when all is calm: %v", w.seed, v)
	}
}

// settled says what is not yet as it should be: nothing.
func (w *world) settled() bool { return w.trouble() == "" }

func (w *world) trouble() string {
	views := map[string]View{}
	for _, p := range w.peers {
		v := p.View(context.Background())
		views[v.Address] = v
		switch v.State {
		default:
			return v.String()
		case "game", "refused", "failed":
		}
	}
	for _, v := range views {
		for i, p := range v.Players {
			o, there := views[p.Address]
			if p.Taken && (!there || o.Slot != i || o.Founder != v.Founder || o.Round != v.Round) {
				return fmt.Sprintf("%v has %s in slot %d", v, p.Address, i)
			}
		}
		for _, o := range views {
			if o.Slot >= 0 && v.Slot >= 0 && o.Founder == v.Founder && o.Round == v.Round &&
				v.Players[o.Slot].Address != o.Address {
				return fmt.Sprintf("%v does not know %v", v, o)
			}
		}
	}
	return ""
}

// full reports whether a game has no free slot.
func (w *world) full() bool {
	for _, p := range w.peers {
		taken := 0
		for _, q := range p.View(context.Background()).Players {
			if q.Taken {
				taken++
			}
		}
		if v := p.View(context.Background()); taken > 0 && taken == len(v.Players) {
			return true
		}
	}
	return false
}

func (w *world) count() (games, refused, failed int) {
	for _, p := range w.peers {
		switch p.View(context.Background()).State {
		case "game":
			games++
		case "refused":
			refused++
		case "failed":
			failed++
		}
	}
	return
}

func (w *world) end() {
	for _, p := range w.peers {
		w.leave(p)
	}
}
