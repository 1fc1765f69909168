package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
)

// errWrong says that a match went wrong, and errInterrupted that not all were played.
var (
	errWrong       = errors.New("a match went wrong")
	errInterrupted = errors.New("interrupted")
)

// play lets bots play over real sockets, and says how it went.
func (s *settings) play(ctx context.Context, stdout io.Writer) error {
	cfg := s.carrier()
	if s.loss > 0 {
		var mu sync.Mutex
		seed := uint64(s.seed)
		cfg.Impair = func(l transport.Link) (transport.Link, error) {
			mu.Lock()
			defer mu.Unlock()
			seed++
			return impair.New(l, impair.Config{Seed: seed, Faults: impair.Faults{Loss: s.loss,
				Duplicate: s.loss / 2, Reorder: s.loss}})
		}
	}
	n := s.bots
	own := *s
	if !s.given("listen") {
		own.listen = "127.0.0.1:0"
	}
	own.bots, own.least = 0, n
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h, at, err := own.host(ctx, cfg)
	if err != nil {
		return err
	}
	hosted := make(chan error, 1)
	go func() { hosted <- h.Run(ctx) }()
	fmt.Fprintf(s.notes, "%d bots play at %s; skirmish -link %s -watch %[2]s looks on\n", n, at, s.link)
	l := newLeague(n, s.matches, stdout, s.notes)
	ends := make(chan error, n)
	var up, down atomic.Int64
	call := own.dialer(at, cfg)
	dial := func(ctx context.Context, place uint16) (transport.Link, error) {
		l, err := call(ctx, place)
		if err != nil {
			return nil, err
		}
		return counted{l, &up, &down}, nil
	}
	for i := range n {
		c := match.PlayerConfig{Name: session.BotNames[i], Wish: i + 1, Dial: dial, Auto: true,
			Matches: s.matches, Length: time.Second / time.Duration(s.hz),
			Source: (*game.State).Advice,
			OnMatch: func(r match.Result) {
				if outer.Err() == nil { // else it was cut short, which is no defect
					l.over(r)
				}
			}}
		if i == 0 {
			c.Record = s.recording.begin
			c.Source = func(st *game.State, slot int) game.Input { l.watch(st); return st.Advice(slot) }
		}
		p := match.NewPlayer(c)
		go func() { ends <- p.Run(ctx) }()
	}
	if s.ready != nil {
		s.ready()
	}
	for range n {
		if err := <-ends; err != nil && outer.Err() == nil {
			l.fail(err)
		}
	}
	cancel()
	<-hosted
	err = l.end("over "+s.link, outer.Err() != nil)
	if f := l.frames * int64(n); f > 0 {
		fmt.Fprintf(stdout, "for each player %d bytes a second up and %d down, at %d frames a second\n",
			up.Load()*game.Rate/f, down.Load()*game.Rate/f, game.Rate)
	}
	return err
}

// playFast lets bots play in virtual time and without a network.
func (s *settings) playFast(ctx context.Context, stdout io.Writer) error {
	l := newLeague(s.bots, s.matches, stdout, s.notes)
	chance := rand.New(rand.NewPCG(uint64(s.seed), 0))
	set := match.Settings{Arena: s.arena, Rounds: s.rounds}
	for range s.matches {
		r, err := match.Fast(ctx, chance.Uint32(), set, s.bots, (*game.State).Advice, s.recording.begin())
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			l.fail(err)
			continue
		}
		l.over(r)
	}
	return l.end("in virtual time", ctx.Err() != nil)
}

// counted counts the bytes of a link: what the protocols send, without the headers of the network.
type counted struct {
	transport.Link
	up, down *atomic.Int64
}

func (c counted) Send(peer int, frame []byte) error {
	c.up.Add(int64(len(frame)))
	return c.Link.Send(peer, frame)
}

func (c counted) Receive(buf []byte) (transport.Arrival, error) {
	got, err := c.Link.Receive(buf)
	c.down.Add(int64(got.N))
	return got, err
}
