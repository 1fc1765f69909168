package match

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/runtime/transport"
)

// Watcher looks on: it has a snapshot and then all that is played, and says nothing.
type Watcher struct {
	// Dial calls the host's door for matches.
	Dial func(ctx context.Context) (transport.Link, error)
	// OnFrame is called after each frame. The state is only to be read, and only until it returns.
	OnFrame func(*game.State, *Roster)
	// OnIdle is called when there is nothing to look at: nil where the host has no match, and else why there is none.
	// It may be nil.
	OnIdle func(error)
}

// Run looks on at one match after the other until ctx ends. While there is none, it asks each second.
func (w *Watcher) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		link, err := w.Dial(ctx)
		if err == nil {
			if w.OnIdle != nil {
				w.OnIdle(nil) // until something is to be seen
			}
			m, seen := newSim(frames.Watch, 0), false
			m.each = func(s *game.State, r *Roster) { seen = true; w.OnFrame(s, r) }
			c := frames.NewClient(frames.ClientConfig{Slot: frames.Watch, Name: "watches", Game: m,
				MaxSnapshot: 1 << 16})
			c.Run(ctx, link)
			if !seen && ctx.Err() == nil {
				w.duel(ctx)
			}
		}
		if ctx.Err() == nil && w.OnIdle != nil {
			w.OnIdle(err)
		}
		t := time.NewTimer(time.Second)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
	return context.Cause(ctx)
}

// duel looks on at a duel, if there is one.
func (w *Watcher) duel(ctx context.Context) {
	link, err := w.Dial(ctx)
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { link.Abort() })
	defer stop()
	defer link.Abort()
	if errors.Join(link.Send(0, binary.BigEndian.AppendUint64(nil, lookOn)), link.Flush()) == nil {
		frames.Play(received{link}, Playback(w.OnFrame), nil) // it comes as it is played
	}
}

// received reads what a link brings.
type received struct{ l transport.Link }

// Read implements io.Reader.
func (r received) Read(b []byte) (int, error) {
	for {
		got, err := r.l.Receive(b)
		if got.N > 0 || err != nil {
			return got.N, err
		}
	}
}
