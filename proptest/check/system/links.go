package system

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// Links that come up and end, and instances that crash, as runtime/world has them. What a channel
// carries besides messages is news of its link, in its place among them; it takes no room. A partition
// is told to each instance through a channel of its own.

// layFaults makes room in an instance's local value for its links and what faults do to it.
func (p *Process) layFaults() {
	for _, at := range []*int{
		&p.AtDown, &p.atWaiting, &p.atUp, &p.atAsked, &p.atBroken, &p.AtCutoff, &p.atTold, &p.atHeard,
		&p.AtAbsent, &p.atCrashes, &p.atRestarts, &p.atComes, &p.atReturns,
	} {
		*at = -1
	}
	place := func(at *int, needed bool) {
		if needed {
			*at = p.bounded
			p.bounded++
		}
	}
	i, f := p.Inst.Index, &p.sys.Rules.Faults
	p.peers = p.sys.Rules.Peers(i)
	crashes, restarts := i < len(f.Crash) && f.Crash[i] > 0, i < len(f.Restart) && f.Restart[i] > 0
	comes := p.Inst.Comes()
	place(&p.AtDown, crashes || comes)
	place(&p.AtAbsent, comes)
	place(&p.atComes, comes)
	place(&p.atCrashes, crashes && f.CrashAll == 0)
	place(&p.atRestarts, restarts)
	place(&p.atUp, p.peers != 0)
	waiting, _ := p.sys.Rules.Beginning(i)
	place(&p.atWaiting, waiting != 0)
	returns := p.peers != 0 && f.Return != 0
	place(&p.atAsked, p.peers != 0 && (restarts || comes) || returns)
	place(&p.atBroken, returns)
	place(&p.atReturns, p.atAsked >= 0)
	place(&p.AtCutoff, f.Partition > 0)
	place(&p.atTold, p.peers != 0 && p.sys.Rules.Revives())
	place(&p.atHeard, p.atTold >= 0)
}

// resets reports whether what was sent right before may have gone with the sender.
func (s *Machines) resets(msg []byte) bool {
	n, ok := codec.NewsOf(s.Protocol, msg)
	return ok && n == codec.NewsReset
}

type (
	end    = world.End[string]
	result = world.Result[interp.Value, string]
)

// end is what the world wants to know of an instance besides its machine's value.
func (p *Process) end(l codec.Local) end {
	set := func(at int) uint64 { return uint64(l.Get(at)) }
	count := func(at int) uint8 { return uint8(l.Get(at)) }
	e := end{
		Started: l.Started, Down: l.Get(p.AtDown) != 0, Absent: l.Get(p.AtAbsent) != 0,
		Held: l.Held, Left: make([]world.Left, len(p.Timers)),
		Waiting: set(p.atWaiting), Up: set(p.atUp), Asked: set(p.atAsked), Broken: set(p.atBroken),
		Cutoff: set(p.AtCutoff), Told: set(p.atTold), Heard: set(p.atHeard),
		Crashes: count(p.atCrashes), Restarts: count(p.atRestarts), Comes: count(p.atComes),
		Returns: set(p.atReturns),
	}
	for i, t := range p.Timers {
		switch {
		case l.Value[t.slot] == 0:
			e.Left[i] = world.Stopped
		case p.timed():
			e.Left[i] = world.Left{Least: int32(l.Used[p.atLeft+2*i]), Most: int32(l.Used[p.atLeft+2*i+1])}
		}
	}
	return e
}

// Shut reports whether the link to another instance has ended at a local value.
func (p *Process) Shut(b []byte, peer int) bool {
	if b == nil || p.peers>>peer&1 == 0 {
		return false
	}
	e := p.end(p.Unpack(b))
	return (e.Waiting|e.Up)>>peer&1 == 0
}

// put is the inverse of end: it gives l memory of its own.
func (p *Process) put(l codec.Local, e end) codec.Local {
	n := l.Own()
	n.Started, n.Held = e.Started, e.Held
	flag := func(at int, is bool) {
		if n.Set(at, 0); is {
			n.Set(at, 1)
		}
	}
	flag(p.AtDown, e.Down)
	flag(p.AtAbsent, e.Absent)
	n.Set(p.atWaiting, int64(e.Waiting))
	n.Set(p.atUp, int64(e.Up))
	n.Set(p.atAsked, int64(e.Asked))
	n.Set(p.atBroken, int64(e.Broken))
	n.Set(p.atCrashes, int64(e.Crashes))
	n.Set(p.atRestarts, int64(e.Restarts))
	n.Set(p.atComes, int64(e.Comes))
	n.Set(p.atReturns, int64(e.Returns))
	n.Set(p.AtCutoff, int64(e.Cutoff))
	n.Set(p.atTold, int64(e.Told))
	n.Set(p.atHeard, int64(e.Heard))
	if p.timed() {
		for i, left := range e.Left {
			n.Used[p.atLeft+2*i], n.Used[p.atLeft+2*i+1] = int64(max(left.Least, 0)), int64(max(left.Most, 0))
		}
	}
	return n
}

// faults offers what may go wrong with an instance.
func (p *Process) faults(l codec.Local, emit func(explore.Step)) {
	r, i, e := &p.sys.Rules, p.Inst.Index, p.end(l)
	if p.peers != 0 && (r.Faults.Break > 0 || r.Faults.Partition > 0 || r.Faults.Return != 0) {
		p.linkFaults(l, e, emit)
	}
	if p.AtDown < 0 {
		return
	}
	if res := world.Crash(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		s := p.step(codec.NoteCrash, p.Pack(p.put(l, res.End), res.Value))
		s.Spontaneous, s.Spends = true, p.crashing()
		p.told(res.Sends, s, emit)
	}
	if res := world.Restart(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		n := p.put(l, res.End)
		n.Started = p.noStart
		s := p.step(codec.NoteRestart, p.after(n, res.Value))
		s.Sends, s.Spontaneous = p.sends(res.Sends), true
		emit(s)
	}
	p.comings(l, e, emit)
}

// comings offers that somebody comes to an instance, or goes. Who comes is given each command as often as
// the one before.
func (p *Process) comings(l codec.Local, e end, emit func(explore.Step)) {
	r, i := &p.sys.Rules, p.Inst.Index
	if res := world.Come(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		n := p.anew(l, res.End)
		n.Started = p.noStart
		s := p.step(codec.NoteCome, p.after(n, res.Value))
		s.Sends, s.Spontaneous = p.sends(res.Sends), true
		emit(s)
	}
	if res := world.Go(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		s := p.step(codec.NoteGo, p.after(p.anew(l, res.End), res.Value))
		s.Sends = p.sends(res.Sends)
		emit(s)
	}
}

// anew is put where nobody has been given a command yet.
func (p *Process) anew(l codec.Local, e end) codec.Local {
	n := p.put(l, e)
	for _, at := range p.Counts() {
		n.Used[at] = 0
	}
	return n
}

// Counts are the places in a local value of what the environment's rules count.
func (p *Process) Counts() (places []int) {
	for _, c := range p.Commands {
		if c.Count >= 0 {
			places = append(places, c.Count)
		}
	}
	for _, t := range p.Timers {
		if t.Count >= 0 {
			places = append(places, t.Count)
		}
	}
	return places
}

// remains reports whether somebody may still come to an instance at which nobody is.
func (p *Process) remains(l codec.Local) bool {
	return l.Get(p.AtDown) != 0 && p.Inst.Comes() && int(l.Get(p.atComes)) < p.Inst.Come
}

func (s *Machines) addParter() {
	most := s.Rules.Faults.Partition
	if most == 0 {
		return
	}
	proc, n := len(s.System.Procs), len(s.Check.Instances)
	label := uint32(len(s.System.Labels))
	b := &parter{begins: label, ends: label + 1, first: len(s.System.Channels)}
	for _, side := range append([]uint64{0}, s.Rules.Sides()...) {
		p := parting{side: side}
		for i := range n {
			if s.Rules.Faults.Bridge>>i&1 != 0 {
				p.news = append(p.news, nil)
				continue
			}
			p.news = append(p.news, codec.PackNews(s.Protocol, codec.NewsParted, int64(s.Rules.Away(i, side))))
		}
		b.partings = append(b.partings, p)
	}
	for j := range n {
		c := explore.Channel{Name: "partition", From: proc, To: j, Cap: 2 * most}
		s.System.Channels = append(s.System.Channels, c)
	}
	s.addLabel("a partition begins", proc)
	s.addLabel("the partition ends", proc)
	s.System.Procs = append(s.System.Procs, b)
	s.System.ProcNames = append(s.System.ProcNames, "partition")
}

// linkFaults offers that the instance takes a link for dead, or wants a lost one back.
func (p *Process) linkFaults(l codec.Local, e end, emit func(explore.Step)) {
	r, i := &p.sys.Rules, p.Inst.Index
	for peers := p.peers; peers != 0; peers &= peers - 1 {
		j := bits.TrailingZeros64(peers)
		apart := e.Cutoff>>j&1 != 0
		if r.Faults.Break > 0 || apart {
			p.emit(l, world.LinkLost(r, i, e, l.Value, j, stepper{p}), func(s explore.Step) {
				if s.Spontaneous = true; !apart {
					s.Spends |= explore.SpendsBreak
				}
				if s.Label == p.special(codec.NoteDrop) { // the machine does not listen
					s.Note = codec.AppendSlots(codec.PackSpecial(codec.NoteSilence), []int64{int64(j)})
				}
				p.sys.roomy(s, emit)
			})
		}
		if res := world.Return(r, i, e, l.Value, j, stepper{p}); r.Faults.Return != 0 && res.What == world.Done {
			s := p.step(codec.NoteReturn, p.Pack(p.put(l, res.End), res.Value))
			s.Note = codec.AppendSlots(s.Note, []int64{int64(j)})
			s.Sends, s.Spontaneous = p.sends(res.Sends), true
			if r.Faults.Return > 0 {
				s.Spends |= explore.SpendsReturn
			}
			emit(s)
		}
	}
}

// told emits a crash. Where nothing was under way to an instance to which there is no link any more, the
// news of it changes nothing, and is not sent.
func (p *Process) told(sends []world.Sent[string], step explore.Step, emit func(explore.Step)) {
	for k, x := range sends {
		to := func(y world.Sent[string]) bool { return y.To == x.To && y.Class == x.Class }
		ch, lens := p.sys.Channel(p.Inst.Index, x.To, x.Class), step.Lens
		if x.Item.News != world.Reset || x.Item.Number != 0 || slices.Contains(p.settled, ch) ||
			slices.ContainsFunc(sends[:k], to) {
			continue
		}
		p.settled = append(p.settled, ch)
		some := explore.LenRange{Channel: ch, Lo: 1, Hi: -1, Kind: explore.Everything}
		step.Lens = append(slices.Clip(lens), some)
		p.told(sends, step, emit)
		none := explore.LenRange{Channel: ch, Hi: 0, Kind: explore.Everything}
		step.Lens = append(slices.Clip(lens), none)
		p.told(slices.Delete(slices.Clone(sends), k, k+1), step, emit)
		p.settled = p.settled[:len(p.settled)-1]
		return
	}
	step.Sends = p.sends(sends)
	emit(step)
}

// torn emits what becomes of a step if the instance crashes in the course of it.
func (p *Process) torn(l codec.Local, whole result, note []byte, emit func(explore.Step)) {
	if p.AtDown < 0 || !p.sys.Rules.Faults.Torn {
		return
	}
	for n := range whole.Sends {
		res := world.Tear(&p.sys.Rules, p.Inst.Index, l.Value, whole, n, stepper{p})
		if res.What == world.Blocked {
			return
		}
		s := p.step(codec.NoteCrash, p.Pack(p.put(l, res.End), res.Value))
		s.Note = append(binary.AppendUvarint(codec.PackSpecial(codec.NoteTorn), uint64(n)), note...)
		s.Spontaneous, s.Spends = true, p.crashing()
		p.told(res.Sends, s, emit)
	}
}

// faultBudget turns the check's bounds into those of the explorer.
func (s *Machines) faultBudget() {
	f := s.Check.Faults
	if f == nil {
		return
	}
	s.System.Budget = explore.Budget{
		Loss: max(f.Lose, 0), Dup: max(f.Duplicate, 0), Swap: max(f.Overtake, 0),
		Crash: f.CrashAll, Break: f.Break, Return: f.Return, Partition: f.Partition,
	}
	if f.Partition > 0 {
		s.System.Budget.Return = 0
	}
	for k := range s.System.Channels[:s.Own] {
		c, r := &s.System.Channels[k], &s.Rules.Channels[k]
		c.Lossy, c.Dup, c.Swap = r.Lossy, r.Duplicates, r.Overtakes
		if c.Order == explore.FIFO && (f.Break > 0 || f.Partition > 0 || !f.Atomic) {
			c.Tail = s.resets
		}
	}
}

// crashing is what a crash is counted against, if instances share their crashes.
func (p *Process) crashing() explore.Spends {
	if p.sys.Rules.Faults.CrashAll > 0 {
		return explore.SpendsCrash
	}
	return explore.SpendsNothing
}
