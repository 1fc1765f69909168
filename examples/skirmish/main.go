// Command skirmish is a game for one to eight: small tanks in an arena, until one is left.
//
//	skirmish             play at once, against bots
//	skirmish -film FILE  draw a match of bots into a GIF
//
// Arrows drive, space fires, m lays a mine, x stops, q quits.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/screen"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type settings struct {
	name                string
	film                string
	arena, rounds, bots int
	seed                uint
}

func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	f := flag.NewFlagSet("skirmish", flag.ContinueOnError)
	f.StringVar(&s.name, "name", "You", "your `name`")
	f.StringVar(&s.film, "film", "", "draw a match of bots into this `file`, a GIF")
	f.IntVar(&s.arena, "arena", 0, "`number` of the arena")
	f.IntVar(&s.rounds, "rounds", 5, "`number` of rounds")
	f.IntVar(&s.bots, "bots", 3, "`number` of bots")
	f.UintVar(&s.seed, "seed", 0, "`number` that decides what is left to chance; 0: another one each time")
	if code, done := usage.Parse(f, args, stdout, stderr); done {
		return code
	}
	if err := s.check(); err != nil {
		return usage.Wrong(f, stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintf(stderr, "skirmish: %v\n", err)
		return 2
	}
	return 0
}

func (s *settings) check() error {
	switch {
	case s.arena < 0 || s.arena >= len(game.Arenas):
		return fmt.Errorf("-arena %d: it is a number from 0 to %d", s.arena, len(game.Arenas)-1)
	case s.rounds < 1 || s.rounds > 20:
		return fmt.Errorf("-rounds %d: it is a number from 1 to 20", s.rounds)
	case s.bots < 0 || s.bots >= game.Players:
		return fmt.Errorf("-bots %d: it is a number from 0 to %d", s.bots, game.Players-1)
	}
	if s.seed == 0 {
		s.seed = uint(time.Now().UnixNano() & 0x7fffffff)
	}
	return nil
}

func (s *settings) run(ctx context.Context) error {
	if s.film != "" {
		return s.draw()
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("this is no terminal to play on")
	}
	return terminal(ctx, os.Stdin, os.Stdout, newLocal(s))
}

func (s *settings) draw() error {
	f, err := os.Create(s.film)
	if err != nil {
		return err
	}
	n := game.Mask(1<<(s.bots+1) - 1)
	c := game.Config{Seed: uint32(s.seed), Arena: uint8(s.arena), Rounds: uint8(s.rounds), Slots: n, Bots: n}
	info := &screen.Info{Me: -1, Names: names(s.name), Below: "go run ./examples/skirmish"}
	return errors.Join(film(f, c, info, 2*game.Rate, 12*game.Rate), f.Close())
}

// names are those of the bots, with the player's in the first place.
func names(own string) (n [game.Players]string) {
	n = [game.Players]string{own, "Ada", "Brook", "Cleo", "Dov", "Edda", "Finn", "Gus"}
	return n
}

// local is a match against bots without any network.
type local struct {
	s     *settings
	state *game.State
	info  screen.Info
}

func newLocal(s *settings) *local {
	l := &local{s: s, info: screen.Info{Names: names(s.name)}}
	l.begin()
	return l
}

func (l *local) begin() {
	slots := game.Mask(1<<(l.s.bots+1) - 1)
	l.state = game.New(game.Config{Seed: uint32(l.s.seed), Arena: uint8(l.s.arena),
		Rounds: uint8(l.s.rounds), Slots: slots, Bots: slots.Without(0)})
	l.info.Below = "arrows drive  space fires  m lays a mine  x stops  q quits"
}

// Frame implements session.
func (l *local) Frame(in game.Input) (*game.State, *screen.Info) {
	f := game.Frame{}
	f.Inputs[0] = in
	l.state.Step(&f)
	if l.state.Phase == game.Over {
		l.info.Below = "Enter plays again, q quits"
	}
	return l.state, &l.info
}

// Again implements session.
func (l *local) Again() {
	if l.state.Phase == game.Over {
		l.s.seed++
		l.s.arena = (l.s.arena + 1) % len(game.Arenas)
		l.begin()
	}
}
