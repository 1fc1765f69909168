package match

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/battleend"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// A duel is a match of two as Netplay plays one: the simulations are in step with each other, without a server of
// frames, and agree on the last frame. The host only puts the two links together.

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

var errGone = errors.New("the other player has gone")

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
	for seen := f.m.over; ; {
		select {
		case <-tick.C:
			if alone() {
				return errGone
			}
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

// duel plays a match of two. Who is left alone plays on against a bot.
func (p *Player) duel(ctx context.Context, m *sim, place uint16, key uint64) error {
	p.mu.Lock()
	players := p.there
	m.names = p.view.Names // both have heard the same before the match
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
	link, dialed := p.cfg.Dial(ctx, place)
	p.d.Do(ctx, (*skirmish.PlayerRunner).Ready)
	if dialed == nil {
		dialed = errors.Join(link.Send(0, binary.BigEndian.AppendUint64(nil, key)), link.Flush())
	}
	switch {
	case dialed == nil && other >= 0:
		err = newDuel(m, other, p.length()).play(ctx, link, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return !p.there.Has(other)
		})
	case dialed == nil:
		link.Close()
	}
	if errors.Is(err, errGone) && ctx.Err() == nil {
		m.left = true
		p.set(func(v *View) { v.Note = "The other one is gone. A bot drives on in this duel." })
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

// pair puts the links of the two players of a duel together.
type pair struct {
	came func(slot int)

	mu    sync.Mutex
	keys  map[int]uint64
	links []transport.Link
	slots [2]int // of the links
	seed  uint32
	names [game.Players]string
	tap   *tap // when both are there
}

// sit takes a link whose first eight bytes are the key of a slot.
func (q *pair) sit(ctx context.Context, l transport.Link) {
	stop := context.AfterFunc(ctx, func() { l.Abort() })
	l.Interrupt(time.Now().Add(10 * time.Second))
	var b [8]byte
	for n := 0; n < len(b); {
		got, err := l.Receive(b[n:])
		if n += got.N; err != nil {
			l.Abort()
			return
		}
	}
	l.Interrupt(time.Time{})
	if !stop() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for slot, key := range q.keys {
		if key != binary.BigEndian.Uint64(b[:]) {
			continue
		}
		delete(q.keys, slot)
		if len(q.links) < 2 {
			q.slots[len(q.links)] = slot
		}
		if q.links = append(q.links, l); len(q.links) == 2 {
			x, y := q.links[0], q.links[1]
			t := newTap(q.seed, q.slots, q.names)
			q.tap = t
			context.AfterFunc(ctx, func() { x.Abort(); y.Abort(); t.end() })
			go bring(x, y, t, 0)
			go bring(y, x, t, 1)
		}
		q.came(slot)
		return
	}
	if q.tap != nil && binary.BigEndian.Uint64(b[:]) == lookOn {
		go q.tap.show(ctx, l)
		return
	}
	l.Abort() // nobody's key
}

// bring brings bytes from one link to another one until either ends.
func bring(from, to transport.Link, t *tap, side int) {
	defer t.end()
	buf := make([]byte, 4096)
	for {
		got, err := from.Receive(buf)
		if err == nil && got.N > 0 {
			t.hear(side, buf[:got.N])
			err = errors.Join(to.Send(0, buf[:got.N]), to.Flush())
		}
		switch {
		case errors.Is(err, io.EOF):
			to.Close()
			return
		case err != nil:
			from.Abort()
			to.Abort()
			return
		}
	}
}
