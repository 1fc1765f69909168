package player

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
)

// match is the player's knowledge of the current match.
type match struct {
	on      bool
	fleet   [2][Slots]netplay.Ship
	left    [2]netplay.Picks // slots not known to be lost
	unknown [2]int           // ships lost of which the slot is not known
	slot    [2]int           // in battle, -1 if not known
	fights  [2]bool          // a ship is in battle
	chance  [2]int           // what a choice by chance comes to, for the built-in simulation
	picks   [2]bool          // who has chosen since the last battle
	verdict verdict          // who lost a ship in the last battle
	likely  verdict          // who did, if that is unknown
	died    []verdict        // what the script says of the battles to come
	said    bool             // verdict is the script's

	patience time.Duration // how long to wait for the other side's choice when the verdict is unknown

	choosing time.Time // since when ships are chosen
	answered time.Time // when the other side last chose
	battles  int
	frames   int
}

// matchBegins sets up everything that counts from the beginning of a match.
func (b *brain) matchBegins(delay netplay.Delay, seed netplay.Optional[netplay.Seed]) {
	b.match = match{on: true, died: b.match.died}
	for i := range b.match.fleet {
		for s := range b.match.fleet[i] {
			b.match.fleet[i][s] = b.m.Fleet[i][s].Own
		}
		b.match.left[i] = living(&b.m.Fleet[i])
		b.match.slot[i] = -1
		b.battle.inputs[i] = inputs{}
		for range delay {
			b.battle.inputs[i].push(0)
		}
	}
	b.battle.sim = newSim(uint32(seed.Value))
	if b.cfg.disturbed {
		b.battle.sim.frame++
	}
	b.battle.rng = uint32(b.cfg.Seed)<<1 ^ 0x5bd1e995
	if b.cfg.Server {
		b.battle.rng ^= 0xa5a5a5a5
	}
	if b.battle.rng == 0 {
		b.battle.rng = 1
	}
}

// count is how many ships a side has left.
func (m *match) count(i int) int { return bits.OnesCount64(uint64(m.left[i])) - m.unknown[i] }

// index is a side's place in the simulation, where the accepting side comes first.
func (b *brain) index(i int) int {
	if (i == own) == b.cfg.Server {
		return 0
	}
	return 1
}

// choose draws what choices by chance come to, in the same order on both sides.
func (b *brain) choose() {
	b.match.picks = [2]bool{}
	for _, i := range [2]int{b.sideAt(0), b.sideAt(1)} {
		b.match.chance[i] = b.battle.sim.chance(b.match.left[i])
	}
}

func (b *brain) sideAt(index int) int {
	if b.index(own) == index {
		return own
	}
	return other
}

// picked notes the choice of a side.
func (b *brain) picked(i int, slot netplay.Optional[netplay.Slot]) {
	b.match.picks[i] = true
	if b.doubtful() {
		b.loses(i)
	}
	switch {
	case slot.Present:
		b.match.slot[i] = int(slot.Value)
	case b.battle.mode == Echo:
		b.match.slot[i] = -1 // only the game knows
	default:
		b.match.slot[i] = b.match.chance[i]
	}
}

// dueNext goes on with the next ships, or ends the match.
func (b *brain) dueNext() *command {
	if b.m.Ready.State == netplay.ReadyStateLocalReady {
		return nil
	}
	if b.match.battles == 0 {
		return next(bothDied)
	}
	switch b.prospect() {
	case isOver:
		return &command{give: func(r runner) fsm.Result { return r.MatchOver() }, done: b.rely}
	case goesOn:
		c := next(b.match.verdict)
		c.done = b.rely
		return c
	}
	return &command{give: func(r runner) fsm.Result { return r.Follow() }}
}

// next goes on with the next ships of those who lost one, of both if that is unknown.
func next(v verdict) *command {
	lost := v.lost()
	return &command{give: func(r runner) fsm.Result { return r.Next(lost[own], lost[other]) }}
}

// dueSelect chooses a ship if one is due.
func (b *brain) dueSelect() *command {
	if c := b.resolve(); c != nil {
		return c
	}
	switch {
	case b.m.OwnDue && b.mayPick() && !b.position.picks():
		for s := range Slots {
			if s := netplay.Slot(s); b.match.left[own].Has(s) && !b.m.OwnGone.Has(s) {
				return b.pick(netplay.Some(s))
			}
		}
		return b.pick(netplay.Optional[netplay.Slot]{})
	case !b.m.OwnDue && !b.m.OtherDue && b.m.Ready.State != netplay.ReadyStateLocalReady:
		return ready()
	}
	return nil
}

func (b *brain) pick(slot netplay.Optional[netplay.Slot]) *command {
	return &command{give: func(r runner) fsm.Result { return r.Pick(slot) }, done: func() {
		if b.doubtful() {
			b.guess(map[bool]verdict{true: bothDied, false: ownDied}[b.match.picks[other]])
		}
		b.picked(own, slot)
	}}
}

func ready() *command { return &command{give: func(r runner) fsm.Result { return r.Ready() }} }

// dueSpawning shows the ships, that is, does nothing, and says so.
func (b *brain) dueSpawning() *command {
	if b.m.Battle.Ready.State == netplay.BattleReadyStateLocalReady {
		return nil
	}
	return ready()
}

// battleBegins puts the chosen ships into the battle.
func (b *brain) battleBegins() {
	b.res.Battles++
	b.match.battles++
	b.battle.sim.begin()
	for _, i := range [2]int{b.sideAt(0), b.sideAt(1)} {
		if !b.match.picks[i] {
			continue
		}
		b.match.fights[i] = true
		ship := netplay.ShipVacant
		if s := b.match.slot[i]; s >= 0 {
			ship = b.match.fleet[i][s]
		}
		b.battle.sim.enter(b.index(i), ship)
	}
	b.battle.seen = [2]seen{}
	b.battle.finished = false
	b.line("battle %d: own %s, other %s", b.match.battles, b.shipName(own), b.shipName(other))
}

func (b *brain) shipName(i int) string {
	if s := b.match.slot[i]; s >= 0 {
		return fmt.Sprintf("%v (slot %d)", b.match.fleet[i][s], s)
	}
	return "by chance"
}
