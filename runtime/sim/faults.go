package sim

import (
	"math"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

// What befalls machines and links, as runtime/world has it: links that break and come back, machines
// that crash in the course of a step and begin anew, clocks that go wrong. Each happens in half of the
// runs, and no draw is made for what a scenario does not have.

// Restarts lets a machine crash, see Scenario.Crashes. reset makes its runner as new, but for what its
// program keeps. Who is hostile does not crash: it may do what it likes anyway.
func (w *World) Restarts(id ID, reset func()) {
	if m := w.members[id]; !m.hostile {
		m.reset = reset
	}
}

// drawTroubles draws when links break and machines crash, and how clocks go.
func (w *World) drawTroubles() {
	s := w.scenario
	var links []*path
	for _, p := range w.paths {
		if p.reliable {
			links = append(links, p)
		}
	}
	for range s.Breaks {
		if n := w.draw(); n&1 == 1 && len(links) > 0 {
			w.queue.push(w.upTo(s.Chaos), kindBreak, links[n>>1%uint64(len(links))], nil)
		}
	}
	var frail []*member
	for _, m := range w.members {
		if m.reset != nil {
			frail = append(frail, m)
		}
	}
	for range s.Crashes {
		if n := w.draw(); n&1 == 1 && len(frail) > 0 {
			m := frail[n>>8%uint64(len(frail))]
			w.queue.add(happening{at: w.upTo(s.Chaos), kind: kindCrash, member: m, torn: int(n >> 1 % 4)})
		}
	}
	for _, m := range w.members {
		if m.rate = 1; s.Drift > 0 {
			if n := w.draw(); n&1 == 1 {
				m.rate += s.Drift * (2*float64(n>>11)/(1<<53) - 1)
			}
		}
	}
}

// clock is what a machine's clock shows at a time of the world, counted from its beginning.
func (m *member) clock(now time.Duration) time.Duration {
	if m.rate == 1 {
		return now - m.begun
	}
	return time.Duration(float64(now-m.begun) * m.rate)
}

// nextTimer is when the machine's next timer expires, in the time of the world.
func (m *member) nextTimer() (time.Duration, bool) {
	t, ok := m.core.NextTimer()
	if !ok || m.down {
		return noTime, false
	}
	if m.rate == 1 {
		return t + m.begun, true
	}
	at := m.begun + time.Duration(math.Ceil(float64(t)/m.rate))
	for m.clock(at) < t {
		at++
	}
	return at, true
}

// breaks has the receiver's end of a path live on, and the sender's end take the link for dead: it hears
// nothing more from there. The other hears of it behind what survives. Later both get the link again.
func (w *World) breaks(p *path) {
	m := w.members[p.from]
	if !p.open || m.down || p.back.upAt > w.now {
		return
	}
	w.result.Breaks++
	p.open = false
	heard := w.reset(p)
	m.core.LinkLost(m.clock(w.now), p.back.as, transport.ErrSilent)
	w.stepped(m)
	w.queue.push(heard+1+w.upTo(w.scenario.Chaos/4), kindReturn, p, nil)
}

// reset tells the receiver of a path that the link is lost, when some of what is under way has arrived,
// and returns when it hears that.
func (w *World) reset(p *path) time.Duration {
	last := max(p.medium.PassReliable(w.now, 0), p.upAt)
	at := max(w.now+w.upTo(last-w.now), p.upAt)
	w.queue.push(at, kindLost, p, nil)
	return at
}

// returns gives the sender's end of a path its link again.
func (w *World) returns(p *path) {
	if m := w.members[p.from]; !w.members[p.to].down && w.opens(p) {
		m.core.LinkUp(m.clock(w.now), p.back.as, "")
		w.stepped(m)
	}
}

// opens opens the sender's end of a path, and the other end when that is asked. Nothing that was sent before
// is heard. It reports whether it did: if the other has asked before, that is heard soon.
func (w *World) opens(p *path) bool {
	if p.open || p.back.open || w.members[p.from].down {
		return false
	}
	p.epoch++
	p.back.epoch++
	p.open, p.upAt, p.back.upAt = true, w.now+w.upTo(10*time.Millisecond), w.now
	p.asked = true
	w.queue.push(p.upAt, kindAsked, p, nil)
	return true
}

// unanswered has the sender's end of a path hear that nobody was there when it asked.
func (w *World) unanswered(p *path) {
	if m := w.members[p.from]; p.open && !m.down {
		p.open, p.asked = false, false
		m.core.LinkLost(m.clock(w.now), p.back.as, transport.ErrReset)
		w.stepped(m)
	}
}

// asked has the receiver's end of a path hear that the other wants the link again, even if that one has
// lost it meanwhile: it hears of this next. If it is down, the other hears so.
func (w *World) asked(p *path) {
	p.asked = false
	switch m, other := w.members[p.to], w.members[p.from]; {
	case m.down && (other.down || !p.open):
	case m.down:
		w.unanswered(p)
	default:
		p.back.open = true
		m.core.LinkUp(m.clock(w.now), p.as, "")
		w.stepped(m)
	}
}

// crash stops a machine: at once, or after some more of its sends, in the course of the step that they are
// of.
func (w *World) crash(m *member, torn int) {
	switch {
	case m.down || w.calm:
	case torn > 0:
		m.torn = torn
	default:
		w.halt(m)
	}
}

// halt switches a machine off, tells the others and has it begin anew later, when all have heard of it.
func (w *World) halt(m *member) {
	w.result.Crashes++
	m.core.End(m.clock(w.now), "it crashes")
	m.down, m.dying, m.torn, m.next = true, false, 0, noTime
	heard := w.now
	for _, e := range m.peers {
		if e.path.open && e.path.reliable {
			heard = max(heard, w.reset(e.path))
		}
		e.path.open = e.path.open && !e.path.reliable
	}
	at := heard + 1 + w.upTo(w.scenario.Chaos/4)
	w.queue.add(happening{at: at, kind: kindRestart, member: m})
}

// restart has a machine begin anew, with its links as at the beginning.
func (w *World) restart(m *member) { w.begins(m, m.reset) }

// begins has a machine begin that is not there, after its runner was reset.
func (w *World) begins(m *member, reset func()) {
	m.down, m.begun = false, w.now
	reset()
	m.renew()
	var open []end
	for _, e := range m.peers {
		if e.path.reliable {
			w.unanswered(e.path.back)
			if w.opens(e.path) {
				open = append(open, e)
			}
			continue
		}
		e.path.open, e.path.back.upAt = true, w.now+w.upTo(10*time.Millisecond)
		w.queue.push(e.path.back.upAt, kindUp, e.path.back, nil)
	}
	m.core.Start(time.Time{})
	for _, e := range open {
		if e.path.open {
			m.core.LinkUp(m.clock(w.now), e.peer, "")
		}
	}
	if m.commands > 0 {
		m.next = w.think()
	}
	w.stepped(m)
}

// sends counts what a machine that is to crash in the course of a step sends, and reports whether it
// still gets out.
func (m *member) sends() bool {
	switch {
	case m.dying:
		return false
	case m.torn > 0:
		m.torn--
		m.dying = m.torn == 0
	}
	return true
}

// stepped ends the step of a machine, which may have crashed in the course of it.
func (w *World) stepped(m *member) {
	if m.dying {
		w.result.Torn++
		w.halt(m)
	}
	w.ends(m)
}
