package player

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
)

// position is where in its script a side is.
type position struct {
	script *Script
	at     int       // the line that is done next
	since  time.Time // since when, for sleep; zero if it has not begun
	used   int       // frames waited for, or inputs made
	auto   bool      // see ScriptHelp
	err    error     // a line is impossible
}

func (p *position) line() *line {
	if p.script == nil || p.at >= len(p.script.lines) {
		return nil
	}
	return &p.script.lines[p.at]
}

// over says that nothing is left to do.
func (p *position) over() bool { return p.line() == nil }

func (p *position) next(b *brain) {
	l := p.line()
	b.line("script %s:%d: %s", p.script.file, l.no, l.text)
	p.at++
	p.since, p.used = time.Time{}, 0
}

func (p *position) fail(format string, args ...any) {
	l := p.line()
	p.err = fmt.Errorf("%s:%d: %s: %s", p.script.file, l.no, l.text, fmt.Sprintf(format, args...))
}

// coming reports whether one of these verbs comes next. Lines that do nothing
// to the match may stand before it.
func (p *position) coming(verbs string) bool {
	if p.script == nil || p.auto || p.err != nil {
		return false
	}
	for _, l := range p.script.lines[p.at:] {
		switch {
		case strings.Contains(verbs, l.verb):
			return true
		case l.verb != "sleep" && l.verb != "ping" && l.verb != "died":
			return false
		}
	}
	return false
}

func (p *position) setsUp() bool { return p.coming("edit name confirm cancel quit abort") }
func (p *position) picks() bool  { return p.coming("pick") }

// entered notes that the machine has come to a state.
func (p *position) entered(b *brain, s netplay.State) {
	if l := p.line(); l != nil && l.verb == "wait" && !l.frames && l.state == s {
		p.next(b)
	}
}

// frame notes that a frame was played.
func (p *position) frame(b *brain) {
	if l := p.line(); l != nil && l.verb == "wait" && l.frames {
		if p.used++; p.used >= l.count {
			p.next(b)
		}
	}
}

// input returns the script's input in the present frame.
func (p *position) input() (netplay.Input, bool) {
	if l := p.line(); l != nil && l.verb == "input" {
		return l.bits, true
	}
	return 0, false
}

// sent notes that an input was made.
func (p *position) sent(b *brain) {
	if l := p.line(); l != nil && l.verb == "input" {
		if p.used++; p.used >= l.count {
			p.next(b)
		}
	}
}

// due returns the command of the present line when it is possible. With only,
// the default has to wait until the line is done.
func (p *position) due(b *brain) (c *command, only bool) {
	for p.err == nil {
		l := p.line()
		if l == nil {
			return nil, false
		}
		at := p.at
		if c = p.command(b, l); c != nil {
			done := c.done
			c.done = func() {
				if done != nil {
					done()
				}
				p.next(b)
			}
			return c, true
		}
		if p.at == at {
			return nil, false
		}
	}
	return nil, true
}

// command returns what the line wants done if it is possible now, and goes on
// itself where nothing is to be done.
func (p *position) command(b *brain, l *line) *command {
	m := &b.m
	inSetup := m.State == netplay.StateInSetup && b.brought && (b.named || b.cfg.Name == "") && !b.deaf && !m.Away
	connected := m.State > netplay.StateInit && m.State < netplay.StateClosed
	switch l.verb {
	case "edit":
		if inSetup && !b.confirmed() {
			return &command{give: func(r runner) fsm.Result { return r.Ship(l.own, l.slot.Value, l.ship) },
				done: func() { b.changed = b.now }}
		}
	case "name":
		if inSetup && !b.confirmed() {
			return &command{give: func(r runner) fsm.Result { return r.Name(l.own, l.name) },
				done: func() { b.changed = b.now }}
		}
	case "confirm":
		if inSetup && b.canConfirm() && b.since(b.changed, b.cfg.Calm) {
			return b.confirm()
		}
	case "cancel":
		return p.cancel(b)
	case "pick":
		if m.State == netplay.StateSelectShip && m.OwnDue && b.mayPick() && p.canPick(b, l) {
			return b.pick(l.slot)
		}
	case "reset":
		if m.State > netplay.StateInSetup && m.State < netplay.StateResetting && !m.GameOver {
			return &command{give: func(r runner) fsm.Result { return r.Reset(netplay.Reason(l.reason)) }}
		}
	case "ping":
		if connected {
			return b.ping()
		}
	case "quit":
		if connected && b.mayLeave() {
			return b.quit()
		}
	case "abort":
		if connected && b.mayLeave() {
			return &command{give: func(r runner) fsm.Result { return r.Abort(netplay.AbortReason(l.reason)) },
				done: func() { b.leaving = true }}
		}
	default:
		p.pass(b, l)
	}
	return nil
}

// pass goes on from a line that gives no command.
func (p *position) pass(b *brain, l *line) {
	switch l.verb {
	case "wait":
		if !l.frames && b.m.State == l.state {
			p.next(b)
		}
	case "sleep":
		if p.since.IsZero() {
			p.since = b.now
		}
		if b.since(p.since, l.span) {
			p.next(b)
		}
	case "died":
		b.match.died = append(b.match.died, l.died)
		p.next(b)
	case "auto":
		p.auto = true
		p.next(b)
	}
}

// cancel takes the confirmation back, unless it is too late for that.
func (p *position) cancel(b *brain) *command {
	switch s := b.m.Confirm.State; {
	case b.m.State == netplay.StateInSetup && (s == netplay.ConfirmStateLocalOk ||
		s == netplay.ConfirmStateCancelLocalOk):
		return &command{give: func(r runner) fsm.Result { return r.Cancel() }, done: func() { b.changed = b.now }}
	case b.m.State > netplay.StateInSetup || s == netplay.ConfirmStateCommitted:
		b.line("note too late: both sides have confirmed")
		p.next(b)
	case b.m.State == netplay.StateInSetup && s != netplay.ConfirmStateCancelCommitted:
		b.line("note nothing to take back")
		p.next(b)
	}
	return nil
}

// canPick says that the slot has a ship to choose; if not, the script has failed.
func (p *position) canPick(b *brain, l *line) bool {
	if !l.slot.Present {
		return true
	}
	left := b.match.left[own] &^ b.m.OwnGone
	if left&(1<<l.slot.Value) != 0 {
		return true
	}
	var can []string
	for s := range Slots {
		if left&(1<<s) != 0 {
			can = append(can, fmt.Sprint(s))
		}
	}
	p.fail("there is no living ship in this slot; there is one in %s", strings.Join(can, ", "))
	return false
}
