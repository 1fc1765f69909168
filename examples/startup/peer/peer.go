// Package peer runs one peer of Parsec's peer-to-peer startup on a link: it connects, tells all
// players at every send tick that it is there, and says at any time who is in the game.
//
// It knows the generated machine and the driver, and neither flags nor terminals. Start from [New].
package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
)

// Parties is how many numbers the machine has for addresses, itself included.
const Parties = 254

// Link is a link whose peers are numbered in the order of addresses, as package book makes one.
type Link interface {
	transport.Link
	// Self is this end's number.
	Self() int
}

// Config says how a peer behaves. The zero value is usable.
type Config struct {
	// Tick is the time between two NODE_ALIVE to each player, 0 for half a second. The original
	// sends 20 a second.
	Tick time.Duration
	// Silence is how long a player may be silent before it is given up, 0 for the original's 20 s;
	// at most 200 s.
	Silence time.Duration
	// Announce is the time between two announcements of the game to everybody, 0 for ten times Tick.
	Announce time.Duration
	// Again is how long to wait before the next attempt when the game is full or nobody answers, 0
	// to ask only once.
	Again time.Duration
	// Name is the peer's name in records.
	Name string
	// Sinks record each step.
	Sinks []trace.Sink
	// OnError is told of packets that are none of the protocol, and the like. May be nil.
	OnError func(error)
}

// Peer is a peer that runs.
type Peer struct {
	cfg   Config
	link  Link
	first startup.Try // number of the first attempt, beyond all of earlier runs
	d     *driver.Driver[*startup.PeerRunner]
	done  chan struct{}
}

// New attaches a machine to a link, which belongs to the peer from then on; Run runs it.
func New(link Link, cfg Config) (*Peer, error) {
	if cfg.Tick <= 0 {
		cfg.Tick = 500 * time.Millisecond
	}
	if cfg.Announce <= 0 {
		cfg.Announce = 10 * cfg.Tick
	}
	if cfg.Silence <= 0 {
		cfg.Silence = Silence
	}
	r, err := startup.NewPeerRunner(fsm.Peer(link.Self()))
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	p := &Peer{cfg: cfg, link: link, first: clock(time.Now()), done: make(chan struct{})}
	// Whoever sends nonsense is not given up: on a broadcast network anybody may.
	o := driver.Options[*startup.PeerRunner]{KeepRefused: true, KeepMalformed: true, Instance: cfg.Name,
		Trace: cfg.Sinks}
	o.OnLink = func(_ *startup.PeerRunner, peer fsm.Peer, up bool, _ error) {
		if !up { // a packet that names it could not leave
			go p.give(func(r *startup.PeerRunner) fsm.Result { return r.Vanished(peer) })
		}
	}
	o.OnError = func(_ *startup.PeerRunner, err *driver.Error) {
		if cfg.OnError != nil {
			cfg.OnError(err)
		}
	}
	p.d = driver.New(r, o)
	if err := p.d.Attach(0, link); err != nil {
		return nil, err
	}
	return p, nil
}

// Run connects and stays until ctx ends; then it leaves the game, telling all players, and closes
// the link. It returns nil then, or why the driver has ended.
func (p *Peer) Run(ctx context.Context) error {
	defer close(p.done)
	ended := make(chan error, 1)
	go func() { ended <- p.d.Run(context.Background()) }()
	tick := time.NewTicker(p.cfg.Tick)
	defer tick.Stop()
	announce := time.NewTicker(p.cfg.Announce)
	defer announce.Stop()
	p.give(func(r *startup.PeerRunner) fsm.Result {
		return r.Prepare(p.first, startup.Patience(min(int64(p.cfg.Silence)/r.Info().TickNanos, maxPatience)))
	})
	p.give((*startup.PeerRunner).Connect)
	var again <-chan time.Time
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			p.give((*startup.PeerRunner).Leave)
			p.d.Stop()
			return <-ended
		case <-again:
			again = nil
			p.give((*startup.PeerRunner).Connect)
		case <-announce.C:
			p.give((*startup.PeerRunner).Announce)
		case <-tick.C:
			switch state := p.state(); {
			case state == startup.StateGame:
				p.give((*startup.PeerRunner).Alive)
			case (state == startup.StateRefused || state == startup.StateFailed) && p.cfg.Again > 0 && again == nil:
				again = time.After(p.cfg.Again)
			}
		}
	}
}

// maxPatience is the longest silence that the machine counts, in ticks.
const maxPatience = 120000

// clock is the number of quarters of a second since 2020. A program that begins anew counts on from
// there, so what an earlier run has sent is not taken for its own. It holds until 2054, and unless a
// run has used more than four numbers a second, which takes as many players that come and go.
func clock(now time.Time) startup.Try {
	return startup.Try(now.Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) / (time.Second / 4))
}

// give gives a command; that the machine does not take it in its present state is no error here.
func (p *Peer) give(command func(*startup.PeerRunner) fsm.Result) {
	p.d.Do(context.Background(), command)
}

func (p *Peer) state() (s startup.State) {
	p.d.Read(context.Background(), func(r *startup.PeerRunner) { s = r.Machine.State })
	return s
}

// Kill ends the peer without a word, as a crash does. Run returns.
func (p *Peer) Kill() {
	p.d.Stop()
	<-p.done
}

// Player is one line of a View.
type Player struct {
	Taken      bool
	Address    string
	Self       bool
	Keeper     bool // gives slots
	Unresolved bool // the machine knows it, the link does not any more
}

// View is what a peer shows.
type View struct {
	State   string
	Address string
	// Slot is the own slot, -1 for none.
	Slot int
	// Founder and Round name the game: who founded it in which of its attempts; empty outside of one.
	Founder string
	Round   int
	Players []Player
	// Waiting is how many requests the peer holds, its own among them.
	Waiting int
}

// View returns what there is to see. After the end it is empty.
func (p *Peer) View(ctx context.Context) View {
	v := View{Slot: -1, Address: text(p.link.LocalAddr())}
	p.d.Read(ctx, func(r *startup.PeerRunner) {
		m := &r.Machine
		v.State = r.Info().States[r.State()]
		if m.Own.Present {
			v.Slot = int(m.Own.Value)
		}
		if m.Party.Present {
			v.Round = int(m.Party.Value.Round)
			v.Founder = "an original peer"
			if f := m.Party.Value.Founder; f.Present {
				v.Founder = p.address(m.Self, f.Value)
			}
		}
		for _, q := range m.Queue {
			if q.Present {
				v.Waiting++
			}
		}
		keeper := true
		v.Players = make([]Player, len(m.Table))
		for i, n := range m.Table {
			if !n.Present {
				continue
			}
			a := p.address(m.Self, n.Value)
			v.Players[i] = Player{Taken: true, Address: a, Self: n.Value == m.Self, Keeper: keeper, Unresolved: a == ""}
			keeper = false
		}
	})
	return v
}

func (p *Peer) address(self, n fsm.Peer) string {
	if n == self {
		return text(p.link.LocalAddr())
	}
	return text(p.link.RemoteAddr(int(n)))
}

func text(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// Taken is how many slots are taken.
func (v View) Taken() (n int) {
	for _, p := range v.Players {
		if p.Taken {
			n++
		}
	}
	return n
}

// String is the view in one line.
func (v View) String() string {
	s := v.State
	if v.Slot >= 0 {
		s = fmt.Sprintf("%s, slot %d, founded by %s (%d)", s, v.Slot, v.Founder, v.Round)
	}
	for i, p := range v.Players {
		switch {
		case p.Taken && p.Self:
			s += fmt.Sprintf(" | %d %s (me)", i, p.Address)
		case p.Taken:
			s += fmt.Sprintf(" | %d %s", i, p.Address)
		}
	}
	return s
}
