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
	OnFrame func(*game.State)
}

// Run looks on at one match after the other until ctx ends. While there is none, it asks each second.
func (w *Watcher) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if link, err := w.Dial(ctx); err == nil {
			m := newSim(frames.Watch, 0)
			m.each = w.OnFrame
			c := frames.NewClient(frames.ClientConfig{Slot: frames.Watch, Name: "watches", Game: m,
				MaxSnapshot: 1 << 16})
			c.Run(ctx, link)
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
