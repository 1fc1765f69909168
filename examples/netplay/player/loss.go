package player

import (
	"github.com/parley-go/parley/machines/netplay"
)

// verdict says who lost a ship, and how sure that is.
type verdict uint8

const (
	unknown   verdict = iota
	ownDied           // certain
	otherDied         // certain
	bothDied          // certain
)

// due is who has to choose a ship.
func (v verdict) due() [2]bool {
	switch v {
	case ownDied:
		return [2]bool{own: true}
	case otherDied:
		return [2]bool{other: true}
	}
	return [2]bool{true, true}
}

// seen is what one side's inputs have shown lately.
type seen struct {
	inputs  int
	fired   int // number of the last input with weapon or special, 0 if there was none
	special int // number of the last input with special
}

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

// battleEnded finds out who lost a ship.
func (b *brain) battleEnded() {
	m := &b.match
	if b.battle.mode != Echo {
		m.verdict = unknown
		dead := [2]bool{b.battle.sim.dead(b.index(other)), b.battle.sim.dead(b.index(own))}
		switch {
		case dead[own] && dead[other]:
			m.verdict = bothDied
		case dead[own]:
			m.verdict = ownDied
		case dead[other]:
			m.verdict = otherDied
		}
	}
	d := m.verdict.due()
	for i := range 2 {
		if d[i] {
			b.loses(i)
		}
	}
	b.line("battle %d ended: own ships left %d, other %d", m.battles, m.count(own), m.count(other))
}

// loses takes a ship off a side's list.
func (b *brain) loses(i int) {
	if s := b.match.slot[i]; s >= 0 {
		b.match.left[i] &^= 1 << s
		return
	}
	b.match.unknown[i]++
}

func (b *brain) settleLosses() {}
func (b *brain) resolve() *command { return nil }
func (b *brain) mayPick() bool     { return true }
