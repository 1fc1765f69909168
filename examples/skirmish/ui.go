package main

import (
	"context"
	"os"
	"time"

	"github.com/parley-go/parley/examples/internal/terminal/raw"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/keys"
	"github.com/parley-go/parley/examples/skirmish/screen"
)

// show is what happens, as a person sees it.
type show interface {
	// Frame takes what the player does now, and returns what there is to see. It is called Rate times a second.
	Frame(in game.Input) *screen.Grid
	// Type takes a key that means nothing to a tank; '\r' is Enter.
	Type(ctx context.Context, key byte)
	// Over is closed when there is nothing more to see.
	Over() <-chan struct{}
}

// talker is a show in which the player can talk to others.
type talker interface {
	Draft(text string, talking bool)
	Say(ctx context.Context, text string)
}

// terminal shows a session on a terminal and takes its keys, until the player quits, ctx ends or it is over.
func terminal(ctx context.Context, in, out *os.File, s show) error {
	t, err := raw.Open(ctx, in, out)
	if err != nil {
		return err
	}
	defer t.Close()
	w := screen.NewWriter(out)
	if err := w.Begin(); err != nil {
		return err
	}
	defer w.End()
	var k keys.Keys
	tick := time.NewTicker(time.Second / game.Rate)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.Over():
			return nil
		case b := <-t.Typed:
			k.Press(b)
			if k.Quit {
				return nil
			}
			if to, ok := s.(talker); ok {
				to.Draft(k.Line.Text(), k.Line.Open)
				if k.Line.Said != "" {
					to.Say(ctx, k.Line.Said)
				}
			}
			k.Line.Said = ""
			for _, c := range k.Typed {
				s.Type(ctx, c)
			}
			k.Typed = k.Typed[:0]
			if k.Enter {
				k.Enter = false
				s.Type(ctx, '\r')
			}
		case <-tick.C:
			g := s.Frame(k.Input())
			if c, r, ok := t.Size(); ok && !w.Fits(c, r) {
				continue
			}
			if err := w.Show(g.Lines()); err != nil {
				return err
			}
		}
	}
}
