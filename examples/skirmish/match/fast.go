package match

import (
	"context"
	"errors"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
)

// Fast plays a match of n players to its end, as fast as it can and without a network: each is asked once a frame what
// it does, and it is played three frames later, as over a network. Equal arguments give equal matches. The recorder may
// be nil.
func Fast(
	ctx context.Context, chance uint32, set Settings, n int,
	source func(s *game.State, slot int) game.Input, record *frames.Recorder,
) (Result, error) {
	n = min(max(n, 1), game.Players)
	m := newSim(frames.Watch, pack(chance, set))
	m.record = record
	slots := make([]int, n)
	who := game.Mask(0)
	for i := range slots {
		slots[i], who = i, who.With(i)
	}
	m.Start(m.seed, slots)
	record.Begin(m.seed, slots)
	var due [delay + 1][game.Players]game.Input // what is done now is the last one
	for n := 0; n < longestMatch && ctx.Err() == nil; n++ {
		copy(due[:], due[1:])
		for _, i := range slots {
			due[delay][i] = source(m.state, i)
		}
		m.turn(who, due[0], nil, frameTime)
		m.Step()
		select {
		case <-m.over:
			return Result{Seed: m.seed, Slot: m.me, State: m.final, Sum: m.final.Checksum()}, nil
		default:
		}
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return Result{}, errors.New("the match has no end")
}
