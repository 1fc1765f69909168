package check

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// Time passes in beats. One machine more, the clock, has a channel of capacity 1 to each instance and
// sends the beat into all of them when they are empty. An instance takes the beat
// when nothing is under way to it and none of its timers is due; taking it counts its timers down. A
// timer of t ticks is due at the ⌈t / beat⌉-th beat after it was started.

// spent is what a timer has left that has expired, but was ignored: it counts as armed and is
// never due again.
const spent = -1

// clock is the machine that makes the beats.
type clock struct {
	sys   *System
	label uint32
	lens  []explore.LenRange
	sends []explore.Send
}

// addClock adds the clock's channels; the clock itself follows with addClockProc.
func (s *System) clockChannels(proc int) {
	if s.Check.Time == nil {
		return
	}
	for j := range s.Check.Instances {
		s.System.Channels = append(s.System.Channels, explore.Channel{Name: "clock", From: proc, To: j, Cap: 1})
	}
}

func (s *System) addClock() {
	if s.Check.Time == nil {
		return
	}
	c := &clock{sys: s, label: uint32(len(s.System.Labels))}
	proc := len(s.System.Procs)
	s.clockChannels(proc)
	for k := range s.System.Channels[s.own:] {
		c.lens = append(c.lens, explore.LenRange{Channel: s.own + k})
		c.sends = append(c.sends, explore.Send{Channel: s.own + k, Msg: s.packNews(newsBeat)})
	}
	s.addLabel("a beat", proc)
	s.System.Procs = append(s.System.Procs, c)
	s.System.ProcNames = append(s.System.ProcNames, "clock")
}

func (c *clock) Init() []byte      { return []byte{0} }
func (c *clock) Final([]byte) bool { return true }

func (c *clock) Receive([]byte, int, []byte, func(explore.Step)) {}

func (c *clock) Local(v []byte, emit func(explore.Step)) {
	emit(explore.Step{Label: c.label, Next: v, Sends: c.sends, Lens: c.lens})
}

// monitor watches a leadsTo with a bound, at the one instance that it is about.
type monitor struct {
	claim *model.Claim
	most  int64 // beats
	at    int   // where it counts: 0 nothing is due, n+1 after n beats; most+2 too late
}

// layTime makes room in an instance's local value for timers and monitors.
func (p *process) layTime() {
	p.atLeft = -1
	t := p.sys.Check.Time
	if t == nil {
		return
	}
	p.atLeft = p.bounded
	p.bounded += len(p.timers)
	for _, c := range p.sys.Check.Claims {
		if c.Within == 0 {
			continue
		}
		if in := model.Observed(c.Expr, c.When); len(in) != 1 || in[0] != p.inst {
			continue // see stopwatch
		}
		p.monitors = append(p.monitors, monitor{c, p.sys.beats(c), p.bounded})
		p.bounded++
	}
	for k := range p.sys.System.Channels[:p.sys.own] {
		if p.sys.System.Channels[k].To == p.inst.Index {
			p.quietInput = append(p.quietInput, explore.LenRange{Channel: k})
		}
	}
	p.layAges()
}

// timed says whether time is counted.
func (p *process) timed() bool { return p.atLeft >= 0 }

// due says whether an armed timer may expire now.
func (p *process) due(l *local, i int) bool {
	return l.value[p.timers[i].slot] != 0 && (!p.timed() || l.used[p.atLeft+i] == 0)
}

// beat lets an instance feel a beat.
func (p *process) beat(l local, emit func(explore.Step)) {
	if !l.started && l.get(p.atDown) == 0 {
		return
	}
	n := l.own()
	for i := range p.timers {
		if p.due(&l, i) {
			return
		}
		if left := &n.used[p.atLeft+i]; *left > 0 {
			*left--
		}
	}
	for _, m := range p.monitors {
		if c := &n.used[m.at]; *c > 0 && *c < m.most+2 {
			*c++
		}
	}
	p.aged(n, 0, p.quietInput, func(n local, lens []explore.LenRange) {
		emit(explore.Step{Label: p.special(noteBeat), Next: p.pack(n, l.value), Note: packSpecial(noteBeat), Lens: lens})
	})
}

// clearTime forgets how long timers still run.
func (p *process) clearTime(l local) {
	if p.timed() {
		clear(l.used[p.atLeft : p.atLeft+len(p.timers)])
	}
}

// after packs what an instance is after a step: the timers that the step started begin to
// run, and monitors look.
func (p *process) after(l local, next interp.Value, effects []interp.Effect) []byte {
	if !p.timed() {
		return p.pack(l, next)
	}
	l = l.own()
	for k := range effects {
		if e := &effects[k]; e.Kind == fsm.StartTimer {
			i := slices.IndexFunc(p.timers, func(t timer) bool { return t.ev.Timer == e.Timer && t.index == e.Index && slices.Equal(t.at, e.At) })
			l.used[p.atLeft+i] = (e.Ticks + p.sys.Check.Time.Beat - 1) / p.sys.Check.Time.Beat
		}
	}
	for i, t := range p.timers { // also one that the same step has started and stopped
		if next[t.slot] == 0 {
			l.used[p.atLeft+i] = 0
		}
	}
	for _, m := range p.monitors {
		c := &l.used[m.at]
		switch {
		case *c == m.most+2:
		case p.says(m.claim.Expr, l, next):
			*c = 0
		case *c == 0 && p.says(m.claim.When, l, next):
			*c = 1
		}
	}
	return p.pack(l, next)
}

// says evaluates a condition about this instance alone; one that faults does not hold.
func (p *process) says(e model.Expr, l local, v interp.Value) bool {
	if p.watch.Instances == nil {
		p.watch.Strings = p.sys.strs
		p.watch.Instances = make([][]int64, len(p.sys.Check.Instances))
	}
	p.watch.Instances[p.inst.Index] = append(append(p.watched[:0], v...), l.get(p.atDown))
	ok, err := p.watch.Bool(e, nil, nil)
	return ok && err == nil
}

// timeWords say what is assumed of time.
func (s *System) timeWords() string {
	t := s.Check.Time
	next := "the next beat"
	if t.Delay > 1 {
		next = fmt.Sprintf("beat number %d after it was sent", t.Delay)
	}
	return fmt.Sprintf("time passes in beats of %d ticks, which all instances feel once each, in any order; a message arrives before its receiver feels %s; "+
		"a timer expires after its ticks, rounded up to beats", t.Beat, next)
}
