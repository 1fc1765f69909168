package sim

import "time"

// went is why the record of one ends who has gone.
const went = "it has ended and goes"

// Comes says that nobody is at a machine at first, as runtime/world has it. At most so many parties come in
// the first phase, one after another, each at a moment that is drawn. One goes when its machine has ended,
// and its links end behind what it has sent. reset makes its runner as new. Who is hostile neither comes nor
// goes.
func (w *World) Comes(id ID, most int, reset func()) {
	if m := w.members[id]; !m.hostile && most > 0 {
		m.left, m.fresh = most, reset
	}
}

// drawComers takes away who has not come yet, and draws when the first ones come.
func (w *World) drawComers() {
	for _, m := range w.members {
		if m.fresh == nil {
			continue
		}
		m.down = true
		for _, e := range m.peers {
			p := e.path
			p.back.epoch++ // what would come up at first does not
			if p.reliable {
				p.open, p.back.open = false, false
				p.epoch++
			}
		}
		w.queue.add(happening{at: w.upTo(w.scenario.Chaos / 2), kind: kindCome, member: m})
	}
}

// comes has a machine begin that nobody has been before.
func (w *World) comes(m *member) {
	if !m.down || w.calm || m.left == 0 {
		return
	}
	m.left--
	w.result.Comes++
	w.begins(m, m.fresh)
}

// ends draws when who has ended goes.
func (w *World) ends(m *member) {
	if m.fresh != nil && !m.down && !m.going && m.core.Final() {
		m.going = true
		w.queue.add(happening{at: w.now + w.upTo(10*time.Millisecond), kind: kindGo, member: m})
	}
}

// goes has who has ended go. The next one comes when the others have heard of it.
func (w *World) goes(m *member) {
	if m.going = false; m.down || !m.core.Final() {
		return
	}
	m.core.End(m.clock(w.now), went)
	m.down, m.torn, m.next = true, 0, noTime
	heard := w.now
	for _, e := range m.peers {
		p := e.path
		if !p.reliable || !p.open && !p.back.open {
			continue
		}
		at := max(p.medium.PassReliable(w.now, 0), p.upAt)
		if heard = max(heard, at); p.open {
			p.open = false
			w.queue.push(at, kindLost, p, nil)
		}
	}
	if m.left > 0 {
		w.queue.add(happening{at: heard + 1 + w.upTo(w.scenario.Chaos/4), kind: kindCome, member: m})
	}
}
