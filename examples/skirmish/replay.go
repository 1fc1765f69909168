package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
)

// replay is a recording as a session.
type replay struct {
	grid chan *screen.Grid
	last *screen.Grid
	over chan struct{}
	err  error
}

// newReplay plays a recording; with a film it draws into that, as fast as it can.
func newReplay(ctx context.Context, file io.Reader, film *reel) *replay {
	r := &replay{grid: make(chan *screen.Grid, 1), over: make(chan struct{}), last: new(screen.Grid)}
	g := match.Playback(func(s *game.State, who *match.Roster) {
		info := session.Known(who, "a recording   q quits")
		if film != nil {
			film.add(s, info)
			return
		}
		select {
		case r.grid <- screen.Draw(s, info):
		case <-ctx.Done():
		}
	})
	wait := func(d time.Duration) {
		if film == nil {
			time.Sleep(d)
		}
	}
	go func() {
		defer close(r.over)
		if _, r.err = frames.Play(file, g, wait); errors.Is(r.err, frames.ErrCut) {
			r.err = fmt.Errorf("the recording ends early: %w", r.err)
		}
	}()
	return r
}

// Over implements show.
func (r *replay) Over() <-chan struct{} { return r.over }

// Frame implements show.
func (r *replay) Frame(game.Input) *screen.Grid {
	select {
	case r.last = <-r.grid:
	default:
	}
	return r.last
}

// Type implements show.
func (r *replay) Type(context.Context, byte) {}

// reel is a film of some frames of a match.
type reel struct {
	from, to uint32
	film     screen.Film
}

// frameOf is the frame that is played so long after the beginning.
func frameOf(d time.Duration) uint32 { return uint32(d * game.Rate / time.Second) }

// add takes every second frame, which is as often as browsers show pictures.
func (r *reel) add(s *game.State, info *screen.Info) {
	if s.Frame%2 == 0 && s.Frame >= r.from && s.Frame < r.to {
		r.film.Add(screen.Draw(s, info))
	}
}
