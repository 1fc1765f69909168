package main

import (
	"fmt"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
)

// report is a match in one line.
func report(r match.Result, names func(int) string) string {
	s := fmt.Sprintf("match %08x: %d frames", r.Seed, r.State.Frame)
	if w := r.State.Winner; r.State.Phase == game.Over && w < game.Players {
		s += fmt.Sprintf(", %s wins with %d points", names(int(w)), r.State.Tanks[w].Score)
	} else if r.State.Phase == game.Over {
		s += ", a draw"
	}
	if r.Err != nil {
		s += fmt.Sprintf(", and then: %v", r.Err)
	}
	return s
}
