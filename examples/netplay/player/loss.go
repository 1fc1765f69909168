package player

import (
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
)

// verdict says who lost a ship in a battle.
type verdict uint8

const (
	unknown verdict = iota // neither the simulation nor the script says
	ownDied
	otherDied
	bothDied
)

var verdictNames = [...]string{"unknown", "own", "other", "both"}

// lost is who has lost a ship and has to choose the next; both when it is unknown.
func (v verdict) lost() [2]bool {
	switch v {
	case ownDied:
		return [2]bool{own: true}
	case otherDied:
		return [2]bool{other: true}
	}
	return [2]bool{true, true}
}

// seen records what one side's inputs have shown in this battle.
type seen struct {
	inputs  int
	fired   int // number of the last input with weapon or special, 0 if there was none
	special int // number of the last input with special
}

// recent is for how many frames a shot may explain the end of a ship: the end
// is shown for about five seconds before both sides say that it was.
const recent = 300

func (s *seen) lately(n int) bool { return n > 0 && s.inputs-n < recent }

func (b *battle) watch(i int, in netplay.Input) {
	s := &b.seen[i]
	s.inputs++
	if in&(inputWeapon|inputSpecial) != 0 {
		s.fired = s.inputs
	}
	if in&inputSpecial != 0 {
		s.special = s.inputs
	}
}

// battleEnded finds out who lost a ship. When that cannot be known, both sides
// are given a choice, and whoever then chooses has lost one: see resolve.
func (b *brain) battleEnded() {
	m := &b.match
	m.verdict = unknown
	switch {
	case b.battle.mode != Echo:
		m.verdict = b.simVerdict()
	case len(m.died) > 0:
		m.verdict, m.died = m.died[0], m.died[1:]
	default:
		m.likely, m.patience = b.evidence()
	}
	if m.verdict != unknown {
		lost := m.verdict.lost()
		for i := range lost {
			if lost[i] {
				b.loses(i)
			}
		}
		b.line("battle %d ended: ship lost: %s; ships left: own %d, other %d",
			m.battles, verdictNames[m.verdict], m.count(own), m.count(other))
		return
	}
	b.line("battle %d ended: ship lost: %s, by all appearances; ships left before: own %d, other %d",
		m.battles, verdictNames[m.likely], m.count(own), m.count(other))
}

func (b *brain) simVerdict() verdict {
	switch dead := [2]bool{b.battle.sim.dead(b.index(other)), b.battle.sim.dead(b.index(own))}; {
	case dead[own] && dead[other]:
		return bothDied
	case dead[own]:
		return ownDied
	case dead[other]:
		return otherDied
	}
	return unknown
}

// evidence is the likely loss in a battle of which only the inputs are known,
// and how long to wait for the other side's choice before making one. A
// Shofixti's special destroys itself; otherwise who does nothing is hit.
func (b *brain) evidence() (verdict, time.Duration) {
	weak := b.cfg.Doubt
	device := [2]bool{b.device(other), b.device(own)}
	switch {
	case device[own] && !device[other]:
		return ownDied, weak / 30
	case device[other] && !device[own]:
		return otherDied, 4 * weak
	case b.battle.seen[other].lately(b.battle.seen[other].fired):
		return ownDied, weak / 8
	case b.battle.seen[own].lately(b.battle.seen[own].fired):
		return otherDied, 4 * weak
	}
	return ownDied, weak
}

// device says that a side's ship is, or may be, a Shofixti that has just used its special.
func (b *brain) device(i int) bool {
	s := &b.battle.seen[i]
	if !s.lately(s.special) {
		return false
	}
	if slot := b.match.slot[i]; slot >= 0 {
		return b.match.fleet[i][slot] == netplay.ShipShofixti
	}
	for slot, ship := range b.match.fleet[i] {
		if ship == netplay.ShipShofixti && b.match.left[i].Has(netplay.Slot(slot)) {
			return true
		}
	}
	return false
}

// loses takes a ship off a side's list.
func (b *brain) loses(i int) {
	if s := b.match.slot[i]; s >= 0 {
		b.match.left[i] = b.match.left[i].Without(netplay.Slot(s))
		return
	}
	b.match.unknown[i]++
}

// overNow reports whether the battle has emptied a fleet, as far as one can tell.
func (b *brain) overNow() bool {
	m := &b.match
	if m.verdict != unknown {
		return m.count(own) <= 0 || m.count(other) <= 0
	}
	likely := m.likely.lost()
	return likely[own] && m.count(own) <= 1 || likely[other] && m.count(other) <= 1
}

// doubtful says that a choice of ships goes on in which it is not known who has one.
func (b *brain) doubtful() bool { return b.match.battles > 0 && b.match.verdict == unknown }

// resolve ends doubts about who has to choose. The other side goes on only when
// everybody who has to has chosen, so when it does, nobody else had to.
func (b *brain) resolve() *command {
	if !b.doubtful() || b.m.Ready.State != netplay.ReadyStateRemoteReady || b.m.OwnDue == b.m.OtherDue {
		return nil
	}
	who := b.m.OwnDue
	return &command{give: func(r runner) fsm.Result { return r.Skip(who) }}
}

// mayPick says that we have to choose, or have waited long enough for the other side to choose or,
// once it has chosen, to go on without us. The game takes half a second for that.
func (b *brain) mayPick() bool {
	switch {
	case !b.doubtful():
		return true
	case b.m.OtherDue:
		return b.since(b.match.choosing, b.match.patience)
	}
	return b.since(b.match.answered, b.cfg.Doubt/8)
}
