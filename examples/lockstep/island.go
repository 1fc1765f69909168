package main

import (
	"encoding/binary"
	"errors"
	"hash/fnv"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/machines/lockstep"
)

// side is the length of the island's sides, in steps of a settler.
const side = 1000

// settler belongs to a player. It walks towards where it is sent.
type settler struct {
	here, there lockstep.Point
	flags       uint32 // that it has put up
	plays       bool
}

// island is the simulation: every player has a settler, who walks where the player says and puts up a flag where it
// arrives. Where nobody says anything chance does, which is the same everywhere.
type island struct {
	step     uint32
	chance   uint32
	settlers [frames.Slots]settler
}

// dice returns the next number of the island's own chance.
func (w *island) dice() uint32 {
	w.chance = w.chance*1664525 + 1013904223
	return w.chance >> 8
}

// Start implements frames.Game.
func (w *island) Start(seed uint32, players []int) {
	*w = island{chance: seed}
	for _, p := range players {
		w.settlers[p] = w.land()
	}
}

func (w *island) land() settler {
	at := lockstep.Point{X: uint16(w.dice() % side), Y: uint16(w.dice() % side)}
	return settler{here: at, there: at, plays: true}
}

// Turn implements frames.Game.
func (w *island) Turn(t *frames.Turn) {
	for _, slot := range t.Left {
		w.settlers[slot].plays = false
	}
	for _, slot := range t.Joined {
		w.settlers[slot] = w.land()
	}
	for _, o := range t.Orders {
		s := &w.settlers[o.Slot]
		for _, c := range o.Commands {
			if c.Kind == lockstep.KindOrder {
				at := c.Order.Value.At
				s.there = lockstep.Point{X: at.X % side, Y: at.Y % side}
			}
		}
	}
}

// Step implements frames.Game.
func (w *island) Step() {
	w.step++
	for i := range w.settlers {
		s := &w.settlers[i]
		if !s.plays {
			continue
		}
		if s.here == s.there {
			s.flags++
			s.there = lockstep.Point{X: uint16(w.dice() % side), Y: uint16(w.dice() % side)}
		}
		s.here.X, s.here.Y = towards(s.here.X, s.there.X), towards(s.here.Y, s.there.Y)
	}
}

func towards(a, b uint16) uint16 {
	switch {
	case a < b:
		return a + 1
	case a > b:
		return a - 1
	}
	return a
}

const settlerSize = 13

// Snapshot implements frames.Game.
func (w *island) Snapshot() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 8+settlerSize*frames.Slots), w.step)
	b = binary.BigEndian.AppendUint32(b, w.chance)
	for _, s := range w.settlers {
		for _, n := range []uint16{s.here.X, s.here.Y, s.there.X, s.there.Y} {
			b = binary.BigEndian.AppendUint16(b, n)
		}
		b = binary.BigEndian.AppendUint32(b, s.flags)
		if s.plays {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

// Restore implements frames.Game.
func (w *island) Restore(b []byte) error {
	if len(b) != 8+settlerSize*frames.Slots {
		return errors.New("it is not that of an island")
	}
	*w = island{step: binary.BigEndian.Uint32(b), chance: binary.BigEndian.Uint32(b[4:])}
	for i := range w.settlers {
		b := b[8+settlerSize*i:]
		n := func(k int) uint16 { return binary.BigEndian.Uint16(b[k:]) }
		w.settlers[i] = settler{lockstep.Point{X: n(0), Y: n(2)}, lockstep.Point{X: n(4), Y: n(6)},
			binary.BigEndian.Uint32(b[8:]), b[12] == 1}
	}
	return nil
}

// Sum implements frames.Game.
func (w *island) Sum() uint32 {
	h := fnv.New32a()
	h.Write(w.Snapshot())
	return h.Sum32()
}
