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
	// OnEnd is called when the match is over at which one has looked on, before OnIdle. It may be nil.
	OnEnd func(End)
	// OnIdle is called when there is nothing to look at: nil where the host has no match, and else why there is none.
	// It may be nil.
	OnIdle func(error)
}

// End is how a match has ended, as who looks on sees it.
type End struct {
	State game.State
	Names [game.Players]string
	// Left is the slot of the player who has left a duel, -1 if it was played to its end.
	Left int
}

// view is what is seen of one match.
type view struct {
	w      *Watcher
	m      *sim
	seen   bool
	people game.Mask // in the first frame
	end    End
}

func (w *Watcher) view() *view {
	v := &view{w: w, m: newSim(frames.Watch, 0)}
	v.m.each = v.frame
	return v
}

func (v *view) frame(s *game.State, r *Roster) {
	if v.seen && v.end.State.Phase == game.Over {
		return // what comes behind the end changes nothing
	}
	if !v.seen {
		v.seen, v.people = true, s.Slots&^s.Bots
	}
	v.end.State, v.end.Names = *s, r.Names
	v.w.OnFrame(s, r)
}

// over tells how the match has ended, if it has.
func (v *view) over() {
	v.end.Left = -1
	if gone := v.people & v.end.State.Bots; v.seen && v.end.State.Phase != game.Over {
		for i := range game.Players {
			if gone.Has(i) {
				v.end.Left = i
			}
		}
	}
	if v.seen && v.w.OnEnd != nil && (v.end.Left >= 0 || v.end.State.Phase == game.Over) {
		v.w.OnEnd(v.end)
	}
}

// Run looks on at one match after the other until ctx ends. While there is none, it asks each second.
func (w *Watcher) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		link, err := w.Dial(ctx)
		if err == nil {
			if w.OnIdle != nil {
				w.OnIdle(nil) // until something is to be seen
			}
			v := w.view()
			c := frames.NewClient(frames.ClientConfig{Slot: frames.Watch, Name: "watches", Game: v.m,
				MaxSnapshot: 1 << 16})
			if c.Run(ctx, link); v.seen && v.end.State.Phase == game.Over {
				v.over()
			} else if !v.seen && ctx.Err() == nil {
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
		v := w.view()
		if frames.Play(received{link}, v.m, nil); ctx.Err() == nil { // it comes as it is played
			v.over()
		}
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
