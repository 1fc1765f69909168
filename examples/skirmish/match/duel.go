package match

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// A duel is a match of two as Netplay plays one: the simulations are in step with each other, without a server of
// frames, and agree on the last frame. The host only puts the two links together, and keeps what is said for one whose
// link breaks.

// ErrStep is why a duel ends whose simulations differ.
var ErrStep = errors.New("the two simulations are out of step")

// duel is one side. Its machine's goroutine has the inputs.
type duel struct {
	m     *sim
	d     *driver.Driver[*battleend.PeerRunner]
	other int           // slot
	long  time.Duration // a frame
	own   []game.Input  // not played yet, the next one first
	heard []game.Input
	ended chan error
	moved atomic.Int64 // when the last frame was played
	mute  atomic.Bool  // the own link is lost
	note  func(string) // what there is to know
}

func newDuel(m *sim, other int, long time.Duration) *duel {
	f := &duel{m: m, other: other, long: long, ended: make(chan error, 4)}
	f.own, f.heard = make([]game.Input, delay), make([]game.Input, delay) // the first ones are empty
	f.d = driver.New(battleend.NewPeerRunner(), driver.Options[*battleend.PeerRunner]{OnReport: f.report,
		OnLink: func(_ *battleend.PeerRunner, _ fsm.Peer, up bool, _ error) {
			if !up {
				f.end(errGone)
			}
		}})
	return f
}

var errGone = errors.New("the other player has left")

func (f *duel) end(err error) {
	select {
	case f.ended <- err:
	default: // there are reasons enough
	}
}

func (f *duel) report(r *battleend.PeerRunner, i int) {
	switch v := r.Report(i); v.Kind {
	case battleend.ReportHeardInput:
		f.heard = append(f.heard, game.Input(v.HeardInput.Bits))
	case battleend.ReportSimulate:
		f.m.exchange(f.own, f.other, f.heard[0], f.long)
		f.own, f.heard = f.own[1:], f.heard[1:]
		f.moved.Store(time.Now().UnixNano())
	case battleend.ReportOutOfStep:
		f.end(ErrStep)
	case battleend.ReportEnded:
		f.end(nil)
	}
}

// frame gives the machine what is due in a frame: the checksum, and then the input.
func (f *duel) frame(ctx context.Context) {
	f.d.Do(ctx, func(r *battleend.PeerRunner) fsm.Result { // refused while the other one is behind
		return r.Checksum(battleend.Crc(f.m.Sum()))
	})
	f.d.Do(ctx, func(r *battleend.PeerRunner) fsm.Result {
		in := f.m.now()
		res := r.Input(battleend.Input(in))
		if res.Code != fsm.Refused {
			f.own = append(f.own, in)
		}
		return res
	})
}

// play plays over a link, which belongs to it from then on, until both have played the last frame.
func (f *duel) play(ctx context.Context, link transport.Link, alone func() bool) error {
	if f.d.Attach(0, link) != nil {
		link.Abort()
		return errGone
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { f.d.Run(ctx); close(over) }()
	defer func() { cancel(); <-over }()
	f.d.Do(ctx, func(r *battleend.PeerRunner) fsm.Result { return r.Begin(delay) })
	tick := time.NewTicker(f.long)
	defer tick.Stop()
	f.moved.Store(time.Now().UnixNano())
	for seen := f.m.over; ; {
		select {
		case <-tick.C:
			if alone() {
				return errGone
			}
			f.tell()
			f.frame(ctx)
		case <-seen:
			seen = nil
			f.d.Do(ctx, (*battleend.PeerRunner).Finish)
		case err := <-f.ended:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stands is how long a duel stands still until the player is told why.
const stands = time.Second

// tell says why the duel stands still, as long as it does.
func (f *duel) tell() {
	switch still := time.Since(time.Unix(0, f.moved.Load())) > stands; {
	case f.mute.Load():
		f.note("Your link to the host is lost, and made anew ...")
	case still:
		f.note(f.m.called(f.other) + " is not heard, and the duel waits ...")
	default:
		f.note("")
	}
}

// duel plays a match of two. Who is left alone plays on against a bot.
func (p *Player) duel(ctx context.Context, m *sim, place uint16, key uint64) error {
	p.mu.Lock()
	players := p.there
	m.names = p.view.Names // both have heard the same before the match
	m.known = p.view.Names
	p.mu.Unlock()
	var slots []int
	other := -1
	for i := range game.Players {
		if players.Has(i) {
			slots = append(slots, i)
			if i != m.me {
				other = i
			}
		}
	}
	m.Start(m.seed, slots)
	if p.cfg.Record != nil {
		m.record = p.cfg.Record()
	}
	m.record.Begin(m.seed, slots)
	err := errGone
	var d *duel
	link, dialed := p.cfg.Dial(ctx, place)
	p.d.Do(ctx, (*skirmish.PlayerRunner).Ready)
	again := func(ctx context.Context) (transport.Link, error) { return p.cfg.Dial(ctx, place) }
	switch {
	case dialed == nil && other >= 0:
		d = newDuel(m, other, p.length())
		d.note = func(text string) { p.set(func(v *View) { v.Note = text }) }
		err = d.play(ctx, newLasting(ctx, link, key, again, d.mute.Store), func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return !p.there.Has(other)
		})
	case dialed == nil:
		newLasting(ctx, link, key, again, func(bool) {}).Close() // the host waits until we have come
	}
	if errors.Is(err, errGone) && ctx.Err() == nil {
		m.left = true
		note := "The other one has left the duel. A bot drives on."
		switch {
		case d != nil && d.mute.Load():
			note = "Your link to the duel is lost. You play on against a bot, and for yourself."
		case other >= 0:
			note = fmt.Sprintf("%s has left the duel, so you have won it. You play on against a bot.", m.called(other))
		}
		p.set(func(v *View) { v.Note = note })
		p.alone(ctx, m)
		err = ctx.Err()
	}
	select {
	case <-p.d.Done():
		return ErrHost
	default:
	}
	return err
}
