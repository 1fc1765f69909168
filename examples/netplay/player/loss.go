package player

import (
	"fmt"
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
	m.verdict, m.said = unknown, false
	switch {
	case b.battle.mode != Echo:
		m.verdict = b.simVerdict()
	case len(m.died) > 0:
		m.verdict, m.said, m.died = m.died[0], true, m.died[1:]
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
		return ownDied, weak // a person takes as long to choose a ship, and some ships shoot by themselves
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

// prospect is what comes after a battle.
type prospect uint8

const (
	open   prospect = iota // the match may be over or not: nothing here tells
	goesOn                 // both sides have a ship left, whoever lost one
	isOver                 // a fleet is empty, whoever lost a ship
)

// prospect says what comes after the battle, as far as the ships that are left tell.
func (b *brain) prospect() prospect {
	m := &b.match
	ships := [2]int{m.count(other), m.count(own)}
	if m.verdict == unknown { // one of them has lost another
		ships[own], ships[other] = ships[own]-1, ships[other]-1
	}
	switch {
	case ships[own] > 0 && ships[other] > 0:
		return goesOn
	case m.verdict != unknown || ships[own] <= 0 && ships[other] <= 0:
		return isOver
	}
	return open
}

// dueUndecided waits for the other side's word. A game that waits for our choice of a ship says nothing,
// and neither does one whose match is over and whose player looks on. So when nothing has come
// for long, a ship is chosen if ours was lost by all appearances. Otherwise this side leaves if the
// match would have been the last.
func (b *brain) dueUndecided() *command {
	m := &b.match
	if !b.since(m.choosing, m.patience) {
		return nil
	}
	switch {
	case m.likely == ownDied && m.count(own) > 1:
		c := next(ownDied)
		c.done = func() {
			m.verdict = ownDied
			b.loses(own)
			b.guess(ownDied)
		}
		return c
	case b.cfg.Matches > 0 && b.res.Matches()+1 >= b.cfg.Matches && b.position.over() &&
		b.since(m.choosing, b.cfg.Doubt): // a person has to press a key and to confirm first
		b.fail(fmt.Sprintf("left without knowing whether match %d is over: nothing was said since its last battle",
			b.res.Matches()+1), nil)
		return b.quit()
	}
	return nil
}

// stake is something about the end of a battle that this side has acted on and that the other side has
// not shown to be right yet.
type stake struct {
	what  string
	guess bool // nobody has told it
}

var lossNames = [...]string{ownDied: "that our ship was lost", otherDied: "that the other side's ship was lost",
	bothDied: "that both ships were lost"}

// guess notes that this side acts on a guess.
func (b *brain) guess(v verdict) {
	b.stake = stake{fmt.Sprintf("this side has guessed %s in battle %d", lossNames[v], b.match.battles), true}
	b.line("note %s", b.stake.what)
}

// rely notes that this side acts on what the script says.
func (b *brain) rely() {
	if b.match.said {
		b.stake = stake{what: fmt.Sprintf("the script says %s in battle %d", lossNames[b.match.verdict],
			b.match.battles)}
	}
}

// proved ends what is at stake: the other side goes on as it must if it is right.
func (b *brain) proved() { b.stake = stake{} }

// blame puts the reason of a failure into the light of what is at stake.
func (b *brain) blame(reason string) string {
	if b.stake.what == "" {
		return reason
	}
	return b.stake.what + ", wrongly by all appearances: " + reason
}

// doubtful says that a choice of ships goes on in which it is not known who has one.
func (b *brain) doubtful() bool { return b.match.battles > 0 && b.match.verdict == unknown }

// resolve ends doubts about who has to choose. The other side goes on only when
// everybody who has to has chosen, so when it does, nobody else had to.
func (b *brain) resolve() *command {
	if !b.doubtful() || b.m.OwnDue == b.m.OtherDue {
		return nil
	}
	who := b.m.OwnDue
	// With our last ship lost the match would be over, and nobody would choose.
	if b.m.Ready.State != netplay.ReadyStateRemoteReady && !(who && b.match.count(own) <= 1) {
		return nil
	}
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
