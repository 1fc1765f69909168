package match

import (
	"context"
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
			m := newSim(frames.Watch, 0)
			m.each = w.OnFrame
			c := frames.NewClient(frames.ClientConfig{Slot: frames.Watch, Name: "watches", Game: m,
				MaxSnapshot: 1 << 16})
			c.Run(ctx, link)
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
