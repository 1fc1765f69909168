package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/keys"
	"github.com/parley-go/parley/examples/skirmish/screen"
)

// session is a match as its player sees it.
type session interface {
	// Frame takes what the player does now, and returns what there is to see. It is called Rate times a second.
	Frame(in game.Input) (*game.State, *screen.Info)
	// Again says that the player would like another match.
	Again()
}

// terminal shows a session on a terminal and takes its keys, until the player quits or ctx ends.
func terminal(ctx context.Context, in, out *os.File, s session) error {
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(in.Fd()), old)
	w := screen.Writer{Out: out}
	if err := w.Begin(); err != nil {
		return err
	}
	defer w.End()
	typed := make(chan []byte, 16)
	go func() {
		for {
			b := make([]byte, 64)
			n, err := in.Read(b)
			if err != nil {
				return
			}
			select {
			case typed <- b[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	var k keys.Keys
	tick := time.NewTicker(time.Second / game.Rate)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case b := <-typed:
			k.Press(b)
			if k.Quit {
				return nil
			}
			if k.Enter {
				k.Enter = false
				s.Again()
			}
		case <-tick.C:
			if err := w.Show(screen.Draw(s.Frame(k.Input()))); err != nil {
				return err
			}
		}
	}
}
