package main

import (
	"io"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/screen"
)

// film writes a moving picture of a match of bots, of so many frames from the first on.
func film(w io.Writer, c game.Config, info *screen.Info, first, frames int) error {
	s := game.New(c)
	f := screen.Film{Delay: 200 / game.Rate}
	for n := range first + frames {
		s.Step(&game.Frame{})
		if n >= first && n%2 == 0 {
			f.Add(screen.Draw(s, info))
		}
	}
	return f.Encode(w)
}
