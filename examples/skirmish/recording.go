package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
)

// recording is the file that the first match is recorded in. If it cannot be written any more the match goes on.
type recording struct {
	path string

	mu    sync.Mutex
	begun bool
	file  *os.File
	err   error // why there is nothing in it, or not all
}

// openRecording returns the recording in a file, nil if there is none to be. What the file has stays there until a
// match begins.
func openRecording(path string) (*recording, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("-record: %w", err)
	}
	return &recording{path: path}, f.Close()
}

// begin returns the recorder of a match, nil if this is not the first one.
func (r *recording) begin() *frames.Recorder {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	if r.begun {
		r.mu.Unlock()
		return nil
	}
	r.begun = true
	r.file, r.err = os.Create(r.path)
	r.mu.Unlock()
	rec, _ := frames.NewRecorder(r) // it never fails, see Write
	return rec
}

// Write implements io.Writer. An error is kept for end, and nobody else hears of it.
func (r *recording) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.file.Write(b)
	}
	return len(b), nil
}

// end closes the file, and says whether all is in it.
func (r *recording) end() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
		r.file = nil
	}
	if r.err == nil {
		r.err = os.ErrClosed // for who writes still
		return nil
	}
	return fmt.Errorf("-record: the match is not recorded to its end: %w", r.err)
}

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
