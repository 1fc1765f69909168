package sim

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
)

// Failure says what went wrong in a run.
type Failure struct {
	// At is the virtual time, Calm whether it was in the second phase.
	At   time.Duration
	Calm bool
	// What says it in words.
	What string
	// States are the machines and their states at that time.
	States string
}

// Error returns the failure in one line.
func (f *Failure) Error() string {
	phase := "with faults"
	if f.Calm {
		phase = "after the faults"
	}
	return fmt.Sprintf("at %v, %s: %s (%s)", f.At, phase, f.What, f.States)
}

func (w *World) fail(format string, args ...any) {
	if w.result.Failure == nil {
		w.result.Failure = &Failure{At: w.now, Calm: w.calm, What: fmt.Sprintf(format, args...), States: w.states()}
	}
}

func (w *World) states() string {
	var b strings.Builder
	for i, m := range w.members {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(m.name + " in " + m.state())
	}
	return b.String()
}

// run goes through both phases.
func (w *World) run() {
	s := w.scenario
	if w.Goal == nil {
		w.Goal = w.allFinal
	}
	for range s.Partitions {
		if n := w.draw(); n&1 == 1 && len(w.members) > 1 {
			from := w.upTo(s.Chaos)
			w.cuts = append(w.cuts, cut{from: from, until: from + w.upTo(s.Chaos-from), half: n >> 1})
		}
	}
	w.drawTroubles()
	w.drawComers()
	for _, m := range w.members {
		if m.down {
			continue
		}
		m.core.Start(time.Time{})
		m.next = w.think()
	}
	for w.result.Failure == nil && !w.settled() && w.step(s.Chaos) {
	}
	w.now = max(w.now, s.Chaos)
	w.result.Chaos = w.now
	w.heal()
	limit := w.now + s.Calm
	for w.result.Failure == nil && !w.reached() {
		if !w.step(limit) {
			w.fail("the goal is not reached %v after the last fault", s.Calm)
		}
	}
	w.result.End, w.result.Digest = w.now, w.digest
	reason := "the goal is reached"
	if f := w.result.Failure; f != nil {
		reason = f.What
	}
	if w.traces != nil {
		for _, m := range w.members {
			m.core.End(m.clock(w.now), reason)
		}
	}
}

// heal ends all faults. What is on its way keeps its fate.
func (w *World) heal() {
	w.calm, w.cuts = true, nil
	for _, p := range w.paths {
		p.medium.SetFaults(impair.Faults{Delay: w.scenario.Latency})
	}
	for _, m := range w.members {
		if m.torn = 0; m.commands > 0 && !m.down {
			m.next = w.think()
		}
	}
}

func (w *World) allFinal() bool {
	for _, m := range w.members {
		if !m.core.Final() && (m.fresh == nil || !m.down) {
			return false
		}
	}
	return true
}

// settled reports that nothing can happen any more.
func (w *World) settled() bool { return len(w.queue.list) == 0 && w.allFinal() }

// reached asks for the goal once nothing is under way that might undo it.
func (w *World) reached() bool { return len(w.queue.list) == 0 && w.Goal() }

// think returns when a player thinks next: at random, 1 to about 4 times Pace
// being the usual range.
func (w *World) think() time.Duration {
	u := float64(w.draw()>>11+1) / (1 << 53)
	return w.now + time.Duration(-math.Log(u)*float64(w.scenario.Pace))
}

// step lets the next thing happen; it returns false if that is after limit. Of
// what is due at the same time frames come first, then timers, then players,
// each by the order of the machines.
func (w *World) step(limit time.Duration) bool {
	at, timer, player := w.queue.next(), -1, -1
	for i, m := range w.members {
		if t, ok := m.nextTimer(); ok && t < at {
			at, timer = t, i
		}
	}
	for i, m := range w.members {
		if m.next < at {
			at, timer, player = m.next, -1, i
		}
	}
	if at > limit || at == noTime {
		return false
	}
	w.now = max(w.now, at)
	w.result.Events++
	switch {
	case player >= 0:
		w.play(player)
	case timer >= 0:
		w.note(uint64(timer), 1)
		m := w.members[timer]
		m.core.Expire(m.clock(w.now))
		w.stepped(m)
	default:
		w.happen()
	}
	if w.Always != nil && w.result.Failure == nil {
		if text := w.Always(); text != "" {
			w.fail("%s", text)
		}
	}
	if w.result.Events >= w.scenario.MaxEvents {
		w.fail("%d events and no end", w.result.Events)
	}
	return true
}

// play has the player of a machine give a command.
func (w *World) play(i int) {
	m := w.members[i]
	m.next = noTime
	if m.commands == 0 {
		return
	}
	first := w.Rand(m.commands)
	for k := range m.commands {
		if n := (first + k) % m.commands; m.command(n) {
			w.note(uint64(i), uint64(2+n))
			w.result.Commands++
			break
		}
	}
	if w.stepped(m); !m.down {
		m.next = w.think()
	}
}

// happen lets the first of the queue happen.
func (w *World) happen() {
	h := w.queue.pop()
	if m := h.member; m != nil {
		w.note(uint64(h.kind), uint64(h.torn))
		switch h.kind {
		case kindCrash:
			w.crash(m, h.torn)
		case kindRestart:
			w.restart(m)
		case kindCome:
			w.comes(m)
		case kindGo:
			w.goes(m)
		}
		return
	}
	p, m := h.path, w.members[h.path.to]
	w.note(uint64(p.to), uint64(len(h.frame))<<8|uint64(h.kind))
	// What may be lost or reordered beside a link may still come when the link has been lost and is back. Nothing is
	// heard before the other end is.
	stray := p != p.link && !p.reliable && !p.link.back.asked
	heard := p.link.back.open && (h.epoch == p.link.epoch || stray) && !m.down
	switch h.kind {
	case kindBreak:
		w.breaks(p)
		return
	case kindReturn:
		w.returns(p)
		return
	case kindAsked:
		if h.epoch == p.epoch {
			w.asked(p)
		}
		return
	case kindUp:
		if heard && h.at == p.upAt { // and not that of one who was there before
			m.core.LinkUp(m.clock(w.now), p.as, "")
		}
	case kindFrame:
		switch {
		case !heard:
		case w.now < p.link.upAt: // it was sent before the receiver began, whose link comes up first
			w.queue.push(p.link.upAt, kindFrame, p, h.frame)
		case !p.lossless && w.cut(p) != nil: // a partition takes what is under way
			p.medium.Stats.Cut++
		default:
			m.core.FrameOn(m.clock(w.now), p.as, p.channel, h.frame)
		}
		w.queue.free = append(w.queue.free, h.frame)
	case kindLost:
		if heard {
			p.back.open = false
			m.core.LinkLost(m.clock(w.now), p.as, transport.ErrReset)
		}
	}
	w.stepped(m)
}

// note takes an event into the digest.
func (w *World) note(a, b uint64) {
	w.digest = (w.digest ^ uint64(w.now) ^ a<<56 ^ b<<40) * 0x100000001b3
}
