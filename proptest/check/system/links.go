package system

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// Links that come up and end, and instances that crash, as runtime/world has them. What a channel
// carries besides messages is news of its link, in its place among them; it takes no room. A partition
// is told to each instance through a channel of its own.

// news is what a channel carries besides messages. Its number follows those of the messages.
type news int

const (
	newsCut news = iota
	newsAsk
	newsAnswer
	newsReset
	newsParted
	newsBeat
	newsCount
)

var newsNames = [newsCount]string{"lost", "up", "up", "lost", "partition", "beat"}

var newsOfItem = [...]news{world.Cut: newsCut, world.Ask: newsAsk, world.Answer: newsAnswer, world.Reset: newsReset}

// NewsOf tells news from messages.
func (s *Machines) NewsOf(msg []byte) (news, bool) {
	n := MessageIndex(msg) - len(s.Protocol.Messages)
	return news(n), n >= 0
}

func (s *Machines) packNews(n news, number int64) []byte {
	return PackMessage(&model.Message{Index: len(s.Protocol.Messages) + int(n)}, []int64{number})
}

// resets reports whether what was sent right before may have gone with the sender.
func (s *Machines) resets(msg []byte) bool {
	n, ok := s.NewsOf(msg)
	return ok && n == newsReset
}

// item is what the bytes in a channel are.
func (s *Machines) item(msg []byte) world.Item[string] {
	n, ok := s.NewsOf(msg)
	if !ok {
		return world.Item[string]{Message: string(msg)}
	}
	return world.Item[string]{News: [newsCount]world.News{world.Cut, world.Ask, world.Answer, world.Reset}[n], Number: uint8(number(msg) & 255), Heard: uint8(number(msg) >> 8)}
}

// layFaults makes room in an instance's local value for its links and what faults do to it.
func (p *Process) layFaults() {
	for _, at := range []*int{&p.AtDown, &p.atWaiting, &p.atUp, &p.atAsked, &p.atBroken, &p.AtCutoff, &p.atTold, &p.atHeard, &p.atCrashes, &p.atRestarts, &p.atReturns} {
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
	place(&p.AtDown, crashes)
	place(&p.atCrashes, crashes && f.CrashAll == 0)
	place(&p.atRestarts, restarts)
	place(&p.atUp, p.peers != 0)
	place(&p.atWaiting, world.End0[string](&p.sys.Rules, i).Waiting != 0)
	returns := p.peers != 0 && f.Return != 0
	place(&p.atAsked, p.peers != 0 && restarts || returns)
	place(&p.atBroken, returns)
	place(&p.atReturns, p.atAsked >= 0)
	place(&p.AtCutoff, f.Partition > 0)
	place(&p.atTold, p.peers != 0 && p.sys.Rules.Revives())
	place(&p.atHeard, p.atTold >= 0)
}

type end = world.End[string]

// end is what the world wants to know of an instance besides its machine's value.
func (p *Process) end(l Local) end {
	e := end{Started: l.Started, Down: l.Get(p.AtDown) != 0, Waiting: uint64(l.Get(p.atWaiting)), Up: uint64(l.Get(p.atUp)), Asked: uint64(l.Get(p.atAsked)),
		Broken: uint64(l.Get(p.atBroken)), Cutoff: uint64(l.Get(p.AtCutoff)), Told: uint64(l.Get(p.atTold)), Heard: uint64(l.Get(p.atHeard)), Held: l.Held,
		Crashes: uint8(l.Get(p.atCrashes)), Restarts: uint8(l.Get(p.atRestarts)), Returns: uint8(l.Get(p.atReturns)), Left: make([]int32, len(p.Timers))}
	for i, t := range p.Timers {
		switch {
		case l.Value[t.slot] == 0:
			e.Left[i] = world.Disarmed
		case p.timed():
			e.Left[i] = int32(l.Used[p.atLeft+i])
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
func (p *Process) put(l Local, e end) Local {
	n := l.own()
	n.Started, n.Held = e.Started, e.Held
	down := int64(0)
	if e.Down {
		down = 1
	}
	n.set(p.AtDown, down)
	n.set(p.atWaiting, int64(e.Waiting))
	n.set(p.atUp, int64(e.Up))
	n.set(p.atAsked, int64(e.Asked))
	n.set(p.atBroken, int64(e.Broken))
	n.set(p.atCrashes, int64(e.Crashes))
	n.set(p.atRestarts, int64(e.Restarts))
	n.set(p.atReturns, int64(e.Returns))
	n.set(p.AtCutoff, int64(e.Cutoff))
	n.set(p.atTold, int64(e.Told))
	n.set(p.atHeard, int64(e.Heard))
	if p.timed() {
		for i, left := range e.Left {
			n.Used[p.atLeft+i] = int64(max(left, 0))
		}
	}
	return n
}

// Get reads one of the places of layFaults; 0 if there is none.
func (l *Local) Get(at int) int64 {
	if at < 0 {
		return 0
	}
	return l.Used[at]
}

// own gives the local value memory of its own for what is not the machine's value, to be changed.
func (l Local) own() Local {
	l.Used = slices.Clone(l.Used)
	return l
}

func (l *Local) set(at int, v int64) {
	if at >= 0 {
		l.Used[at] = v
	}
}

// faults offers what may go wrong with an instance.
func (p *Process) faults(l Local, emit func(explore.Step)) {
	r, i, e := &p.sys.Rules, p.Inst.Index, p.end(l)
	if p.peers != 0 && (r.Faults.Break > 0 || r.Faults.Partition > 0) {
		p.linkFaults(l, e, emit)
	}
	if p.AtDown < 0 {
		return
	}
	if res := world.Crash(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		p.told(l, res.Sends, explore.Step{Label: p.special(NoteCrash), Next: p.Pack(p.put(l, res.End), res.Value), Note: packSpecial(NoteCrash),
			Spontaneous: true, Spends: p.crashing()}, emit)
	}
	if res := world.Restart(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		n := p.put(l, res.End)
		n.Started = p.noStart
		emit(explore.Step{Label: p.special(NoteRestart), Next: p.after(n, res.Value), Note: packSpecial(NoteRestart),
			Sends: p.sends(res.Sends), Spontaneous: true})
	}
}

func (s *Machines) addParter() {
	most := s.Rules.Faults.Partition
	if most == 0 {
		return
	}
	proc, n := len(s.System.Procs), len(s.Check.Instances)
	b := &parter{begins: uint32(len(s.System.Labels)), ends: uint32(len(s.System.Labels)) + 1, first: len(s.System.Channels)}
	for _, side := range append([]uint64{0}, s.Rules.Sides()...) {
		p := parting{side: side}
		for i := range n {
			p.news = append(p.news, s.packNews(newsParted, int64(s.Rules.Away(i, side))))
		}
		b.partings = append(b.partings, p)
	}
	for j := range n {
		s.System.Channels = append(s.System.Channels, explore.Channel{Name: "partition", From: proc, To: j, Cap: 2 * most})
	}
	s.addLabel("a partition begins", proc)
	s.addLabel("the partition ends", proc)
	s.System.Procs = append(s.System.Procs, b)
	s.System.ProcNames = append(s.System.ProcNames, "partition")
}

// linkFaults offers that the instance takes a link for dead, or wants a lost one back.
func (p *Process) linkFaults(l Local, e end, emit func(explore.Step)) {
	r, i := &p.sys.Rules, p.Inst.Index
	for peers := p.peers; peers != 0; peers &= peers - 1 {
		j := bits.TrailingZeros64(peers)
		apart := e.Cutoff>>j&1 != 0
		if r.Faults.Break > 0 || apart {
			p.emit(l, world.LinkLost(r, i, e, l.Value, j, stepper{p}), func(s explore.Step) {
				if s.Spontaneous = true; !apart {
					s.Spends |= explore.SpendsBreak
				}
				if s.Label == p.special(NoteDrop) { // the machine does not listen
					s.Note = appendSlots(packSpecial(NoteSilence), []int64{int64(j)})
				}
				p.sys.roomy(s, emit)
			})
		}
		if res := world.Return(r, i, e, l.Value, j, stepper{p}); r.Faults.Return != 0 && res.What == world.Done {
			s := explore.Step{Label: p.special(NoteReturn), Next: p.Pack(p.put(l, res.End), res.Value), Note: appendSlots(packSpecial(NoteReturn), []int64{int64(j)}),
				Sends: p.sends(res.Sends), Spontaneous: true}
			if r.Faults.Return > 0 {
				s.Spends |= explore.SpendsReturn
			}
			emit(s)
		}
	}
}

// told emits a crash. Where nothing was under way to an instance to which there is no link at l, the news
// of it changes nothing, and is not sent.
func (p *Process) told(l Local, sends []world.Sent[string], step explore.Step, emit func(explore.Step)) {
	for k, x := range sends {
		to := func(y world.Sent[string]) bool { return y.To == x.To }
		if x.Item.News != world.Reset || uint64(l.Get(p.atWaiting)|l.Get(p.atUp))>>x.To&1 != 0 || slices.Contains(p.settled, x.To) || slices.ContainsFunc(sends[:k], to) {
			continue
		}
		ch, lens := p.sys.Channel(p.Inst.Index, x.To), step.Lens
		p.settled = append(p.settled, x.To)
		step.Lens = append(slices.Clip(lens), explore.LenRange{Channel: ch, Lo: 1, Hi: -1, Kind: explore.Everything})
		p.told(l, sends, step, emit)
		step.Lens = append(slices.Clip(lens), explore.LenRange{Channel: ch, Hi: 0, Kind: explore.Everything})
		p.told(l, slices.Delete(slices.Clone(sends), k, k+1), step, emit)
		p.settled = p.settled[:len(p.settled)-1]
		return
	}
	step.Sends = p.sends(sends)
	emit(step)
}

// torn emits what becomes of a step if the instance crashes in the course of it.
func (p *Process) torn(l Local, whole world.Result[interp.Value, string], note []byte, emit func(explore.Step)) {
	if p.AtDown < 0 || !p.sys.Rules.Faults.Torn {
		return
	}
	for n := range whole.Sends {
		res := world.Tear(&p.sys.Rules, p.Inst.Index, whole, n, stepper{p})
		if res.What == world.Blocked {
			return
		}
		p.told(l, res.Sends, explore.Step{Label: p.special(NoteCrash), Next: p.Pack(p.put(l, res.End), res.Value),
			Note: append(binary.AppendUvarint(packSpecial(NoteTorn), uint64(n)), note...), Spontaneous: true, Spends: p.crashing()}, emit)
	}
}

// faultBudget turns the check's bounds into those of the explorer.
func (s *Machines) faultBudget() {
	f := s.Check.Faults
	if f == nil {
		return
	}
	s.System.Budget = explore.Budget{Loss: max(f.Lose, 0), Dup: max(f.Duplicate, 0), Swap: max(f.Overtake, 0), Crash: f.CrashAll, Break: f.Break, Return: f.Return, Partition: f.Partition}
	if f.Partition > 0 {
		s.System.Budget.Return = 0
	}
	for k := range s.System.Channels[:s.Own] {
		c := &s.System.Channels[k]
		if f.Lose >= 0 {
			c.Lossy = f.Lose > 0
		}
		if f.Duplicate >= 0 {
			c.Dup = f.Duplicate > 0
		}
		c.Swap = f.Overtake > 0
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
