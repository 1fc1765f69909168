package node_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/seek"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/trace"
)

// records are those of all machines of all servers.
type records struct {
	mu   sync.Mutex
	list []*recorded
}

// recorded is a record, and who wrote it.
type recorded struct {
	server int
	game   store.Game
	text   bytes.Buffer
	*trace.Writer
}

// of returns who records the machines of a server.
func (r *records) of(server int) func(store.Game) trace.Sink {
	return func(game store.Game) trace.Sink {
		x := &recorded{server: server, game: game}
		x.Writer = trace.NewWriter(&x.text)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.list = append(r.list, x)
		return x
	}
}

var begins = regexp.MustCompile(`here\{epoch: (\d+)\}`)

// check holds each record against the specification, and returns how many steps there are, and how often a game began
// somewhere. No two servers have begun a game in one epoch.
func (r *records) check(t *testing.T) (steps, begun, over int) {
	t.Helper()
	p, errs := compile.Load("../../specs/tenure/spec.yaml", compile.Options{})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	type epoch struct {
		game store.Game
		n    int
	}
	owner := map[epoch]*recorded{}
	for _, x := range r.list {
		in, err := trace.NewReader(bytes.NewReader(x.text.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := replay.Check(p, in)
		if err != nil || got.Deviation != nil || got.Refused+got.Malformed > 0 || got.Unclosed {
			t.Fatalf("%v of server %d: %v, %+v\n%s", x.game, x.server, err, got, x.text.Bytes())
		}
		steps += got.Steps
		if got.Header.Role == "session" && got.State == "over" {
			over++
		}
		for _, here := range begins.FindAllSubmatch(x.text.Bytes(), -1) {
			n, err := strconv.Atoi(string(here[1]))
			if err != nil {
				t.Fatal(err)
			}
			e := epoch{x.game, n}
			switch was := owner[e]; {
			case was == nil:
				owner[e] = x
				begun++
			case was != x:
				t.Errorf("%v has epoch %d at server %d and at server %d:\n%s\n%s", x.game, n, was.server, x.server,
					was.text.Bytes(), x.text.Bytes())
			}
		}
	}
	return steps, begun, over
}

// Players come and go while one server after another is cut off, hears nothing for long and then all of it, or hears
// everything late. What the servers did is what the specification says, step by step; no game is two servers' in one
// epoch; and no player sees an epoch that is older than one that it has seen, or at another server.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.burst, c.refill = 100000, time.Second
	var all records
	var wires []*cable
	var servers []*running
	var doors []string
	for i := range 3 {
		w := newCable(t, c.url)
		// Games are given back at once, so that servers race for them all the time.
		s := c.server(w.url(), node.Config{Trace: all.of(i), Idle: time.Millisecond, GamesPerAddress: 1000})
		wires, servers, doors = append(wires, w), append(servers, s), append(doors, s.address)
	}
	crowd := play(c, doors)
	for i, s := range servers {
		crowd.more(20)
		w := wires[i]
		switch i {
		case 0:
			w.set(true)
			c.session(s, false)
			crowd.more(20)
			w.set(false)
		case 1:
			w.stall(true)
			c.session(s, false)
			crowd.more(20)
			w.stall(false) // what it asked long ago arrives now
		case 2:
			w.late.Store(true)
			crowd.more(50)
			w.late.Store(false)
			continue
		}
		c.session(s, true)
		crowd.more(20)
	}
	crowd.stop()
	for _, s := range servers {
		s.stop()
	}
	steps, begun, over := all.check(t)
	if over < 2 || begun < 6 || len(crowd.seen) < 6 {
		t.Errorf("%d steps, %d sessions were over, games began %d times, players saw %d epochs", steps, over, begun,
			len(crowd.seen))
	}
	t.Logf("%d joins, %d records, %d steps, games began %d times, %d sessions were over", crowd.joins.Load(),
		len(all.list), steps, begun, over)
}

// crowd are players who come and go.
type crowd struct {
	c     *cluster
	joins atomic.Int64
	halt  chan struct{}
	all   sync.WaitGroup

	mu   sync.Mutex
	seen map[place]string
}

// place is a game in one epoch, which is one server's.
type place struct {
	kind  tenure.Kind
	game  string
	epoch uint32
}

// games is how many games a crowd has: lobbies and matches in turn.
const games = 6

func seeker(doors []string, game int) (*seek.Seeker, error) {
	kind, seats := tenure.KindLobby, 0
	if game%2 == 1 {
		kind, seats = tenure.KindMatch, 2
	}
	return seek.New(doors, kind, fmt.Sprint("g", game), "", seats)
}

// play has eight players come and go until they are stopped. A game that is at two servers in one epoch is an error.
func play(c *cluster, doors []string) *crowd {
	p := &crowd{c: c, halt: make(chan struct{}), seen: map[place]string{}}
	for i := range 8 {
		p.all.Go(func() {
			var seekers []*seek.Seeker
			for j := range games {
				s, err := seeker(doors, j)
				if err != nil {
					c.t.Error(err)
					return
				}
				seekers = append(seekers, s)
			}
			rng := rand.New(rand.NewPCG(uint64(i), 1)) //nolint:gosec // a test
			for {
				select {
				case <-p.halt:
					return
				default:
				}
				if j := rng.IntN(games); !p.enter(seekers[j], j) {
					return
				}
			}
		})
	}
	return p
}

// enter has a player find a game, look around and leave.
func (p *crowd) enter(s *seek.Seeker, game int) bool {
	before := s.Epoch()
	conn, _, err := s.Find(p.c.ctx, 0)
	if err != nil {
		p.c.t.Error(err)
		return false
	}
	defer conn.Close()
	at, here := place{tenure.Kind(game % 2), fmt.Sprint("g", game), s.Epoch()}, conn.RemoteAddr().String()
	p.mu.Lock()
	defer p.mu.Unlock()
	if was, ok := p.seen[at]; ok && was != here || s.Epoch() < before {
		p.c.t.Errorf("%v is at %s and was at %s; the player knew of epoch %d", at, here, was, before)
	}
	p.seen[at] = here
	p.joins.Add(1)
	return true
}

// more waits until so many more have come in.
func (p *crowd) more(n int64) {
	p.c.t.Helper()
	to := p.joins.Load() + n
	p.c.eventually("players come in", func() bool { return p.joins.Load() >= to })
}

func (p *crowd) stop() {
	close(p.halt)
	p.all.Wait()
}

// latest returns the latest epoch in which a game was seen.
func (p *crowd) latest(game int) (epoch uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := range p.seen {
		if at.game == fmt.Sprint("g", game) {
			epoch = max(epoch, at.epoch)
		}
	}
	return epoch
}
