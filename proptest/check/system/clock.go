package system

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// Time passes in beats. One machine more, the clock, has a channel of capacity 1 to each instance and
// sends the beat into all of them when they are empty. An instance takes the beat
// when nothing under way to it is too old and none of its timers is overdue; taking it counts its
// timers down.

// clock is the machine that makes the beats.
type clock struct {
	sys   *Machines
	label uint32
	lens  []explore.LenRange
	sends []explore.Send
}

// addClock adds the clock and its channels.
func (s *Machines) addClock() {
	s.clockAt = len(s.System.Channels)
	if s.Check.Time == nil {
		return
	}
	c := &clock{sys: s, label: uint32(len(s.System.Labels))}
	proc := len(s.System.Procs)
	for j, inst := range s.Check.Instances {
		k := len(s.System.Channels)
		s.System.Channels = append(s.System.Channels, explore.Channel{Name: "clock", From: proc, To: j, Cap: 1})
		if inst.IsHostile() {
			continue // it has no timers
		}
		c.lens = append(c.lens, explore.LenRange{Channel: k})
		c.sends = append(c.sends, explore.Send{Channel: k, Msg: codec.PackNews(s.Protocol, codec.NewsBeat, 0)})
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

// layTime makes room in an instance's local value for timers and monitors.
func (p *Process) layTime() {
	p.atLeft = -1
	t := p.sys.Check.Time
	if t == nil {
		return
	}
	p.atLeft = p.bounded
	p.bounded += 2 * len(p.Timers) // at least, and at most
	for _, c := range p.sys.Check.Claims {
		if c.Within == 0 {
			continue
		}
		if in := core.Observes(core.Of(c.Expr), core.Of(c.When)); len(in) != 1 || in[0] != p.Inst {
			continue // see stopwatch
		}
		p.monitors = append(p.monitors, monitor{c, core.Of(c.When), core.Of(c.Expr), t.Beats(c.Within), p.bounded})
		p.bounded++
	}
	for k := range p.sys.System.Channels[:p.sys.Own] {
		if p.sys.System.Channels[k].To == p.Inst.Index {
			p.quietInput = append(p.quietInput, explore.LenRange{Channel: k, Kind: explore.Everything})
		}
	}
}

// timed reports whether time is counted.
func (p *Process) timed() bool { return p.atLeft >= 0 }

// beat lets an instance feel a beat.
func (p *Process) beat(l codec.Local, emit func(explore.Step)) {
	res := world.Beat(&p.sys.Rules, p.Inst.Index, p.end(l), l.Value, stepper{p})
	if res.What == world.Blocked {
		return
	}
	n := p.put(l, res.End)
	for _, m := range p.monitors {
		if c := &n.Used[m.at]; *c > 0 && *c < m.most+2 {
			*c++
		}
	}
	s := p.step(codec.NoteBeat, p.Pack(n, l.Value))
	s.Lens = p.sys.reaching(p.quietInput, uint64(l.Get(p.AtCutoff))&p.peers)
	if p.sys.Check.Time.Delay > 1 {
		for _, q := range s.Lens {
			s.Ages = append(s.Ages, q.Channel)
		}
		s.Lens = nil
	}
	emit(s)
}

// after packs what an instance is after a step, when monitors have looked.
func (p *Process) after(l codec.Local, next interp.Value) []byte {
	if !p.timed() {
		return p.Pack(l, next)
	}
	for i, t := range p.Timers {
		if next[t.slot] == 0 {
			l.Used[p.atLeft+2*i], l.Used[p.atLeft+2*i+1] = 0, 0
		}
	}
	for _, m := range p.monitors {
		c := &l.Used[m.at]
		switch {
		case *c == m.most+2:
		case p.says(m.goal, l, next):
			*c = 0
		case *c == 0 && p.says(m.when, l, next):
			*c = 1
		}
	}
	return p.Pack(l, next)
}

// says evaluates a condition about this instance alone; one that faults does not hold.
func (p *Process) says(e core.Expr, l codec.Local, v interp.Value) bool {
	if p.watch.Instances == nil {
		p.watch.Strings = p.sys.Texts
		p.watch.Instances = make([][]int64, len(p.sys.Check.Instances))
	}
	p.watch.Instances[p.Inst.Index] = append(append(p.watched[:0], v...), l.Get(p.AtDown))
	ok, err := p.watch.Bool(e, nil, nil)
	return ok && err == nil
}
