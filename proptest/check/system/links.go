package system

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// Links that come up and end, and instances that crash, as runtime/world has them. What a channel
// carries besides messages is news of its link, in its place among them; it takes no room. That a
// link breaks is told to each end through a channel of its own, so that it may hear it before what
// is still under way.

// news is what a channel carries besides messages. Its number follows those of the messages.
type news int

const (
	newsCut news = iota
	newsAsk
	newsAnswer
	newsBroken
	newsBeat
	newsCount
)

var newsNames = [newsCount]string{"lost", "up", "up", "broken", "beat"}

var newsOfItem = [...]news{world.Cut: newsCut, world.Ask: newsAsk, world.Answer: newsAnswer}

// NewsOf tells news from messages.
func (s *Machines) NewsOf(msg []byte) (news, bool) {
	n := MessageIndex(msg) - len(s.Protocol.Messages)
	return news(n), n >= 0
}

// Broken reports whether a message is the news that a link has broken, and to whom.
func (s *Machines) Broken(msg []byte) (peer int, ok bool) {
	if n, is := s.NewsOf(msg); !is || n != newsBroken {
		return 0, false
	}
	return int(s.item(msg).Number), true
}

func (s *Machines) packNews(n news, number int64) []byte {
	return PackMessage(&model.Message{Index: len(s.Protocol.Messages) + int(n)}, []int64{number})
}

// item is what the bytes in a channel are.
func (s *Machines) item(msg []byte) world.Item[string] {
	n, ok := s.NewsOf(msg)
	if !ok {
		return world.Item[string]{Message: string(msg)}
	}
	number := make([]int64, 1)
	_, at := binary.Uvarint(msg)
	ReadSlots(msg[at:], number)
	return world.Item[string]{News: [newsCount]world.News{world.Cut, world.Ask, world.Answer}[n], Number: uint8(number[0])}
}

// layFaults makes room in an instance's local value for its links and what faults do to it.
func (p *Process) layFaults() {
	p.AtDown, p.atWaiting, p.atUp, p.atAsked, p.atBroken, p.atCrashes, p.atRestarts = -1, -1, -1, -1, -1, -1, -1
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
	place(&p.atAsked, p.peers != 0 && restarts)
	place(&p.atBroken, p.peers != 0 && f.Break > 0)
}

type end = world.End[string]

// end is what the world wants to know of an instance besides its machine's value.
func (p *Process) end(l Local) end {
	e := end{Started: l.Started, Down: l.Get(p.AtDown) != 0, Waiting: uint64(l.Get(p.atWaiting)), Up: uint64(l.Get(p.atUp)), Asked: uint64(l.Get(p.atAsked)),
		Broken: uint64(l.Get(p.atBroken)), Held: l.Held, Crashes: uint8(l.Get(p.atCrashes)), Restarts: uint8(l.Get(p.atRestarts)), Left: make([]int32, len(p.Timers))}
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
	if p.AtDown < 0 {
		return
	}
	r, i, e := &p.sys.Rules, p.Inst.Index, p.end(l)
	if res := world.Crash(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		emit(explore.Step{Label: p.special(NoteCrash), Next: p.Pack(p.put(l, res.End), res.Value), Note: packSpecial(NoteCrash),
			Sends: p.sends(res.Sends), Spontaneous: true, Crash: r.Faults.CrashAll > 0})
	}
	if res := world.Restart(r, i, e, l.Value, stepper{p}); res.What == world.Done {
		n := p.put(l, res.End)
		n.Started = p.noStart
		emit(explore.Step{Label: p.special(NoteRestart), Next: p.after(n, res.Value), Note: packSpecial(NoteRestart),
			Sends: p.sends(res.Sends), Spontaneous: true})
	}
}

// breaker is the machine that breaks links; its value is the set of those it has broken.
type breaker struct {
	sys   *Machines
	label uint32
	first int // the channel to instance 0; those to the others follow
	pairs [][2]int
}

func (s *Machines) addBreaker() {
	f := s.Check.Faults
	if f == nil || f.Break == 0 {
		return
	}
	b := &breaker{sys: s, label: uint32(len(s.System.Labels)), first: len(s.System.Channels)}
	for _, l := range s.Rules.Links {
		if !l.Datagrams && len(b.pairs) < 62 {
			b.pairs = append(b.pairs, [2]int{l.A, l.B})
		}
	}
	proc := len(s.System.Procs)
	for j := range s.Check.Instances {
		s.System.Channels = append(s.System.Channels, explore.Channel{Name: "links", From: proc, To: j, Cap: max(len(b.pairs), 1), Order: explore.Bag})
	}
	s.addLabel("a link breaks", proc)
	s.System.Procs = append(s.System.Procs, b)
	s.System.ProcNames = append(s.System.ProcNames, "links")
}

func (b *breaker) Init() []byte      { return appendSlots(nil, []int64{0}) }
func (b *breaker) Final([]byte) bool { return true }

func (b *breaker) Receive([]byte, int, []byte, func(explore.Step)) {}

func (b *breaker) Local(v []byte, emit func(explore.Step)) {
	broken := make([]int64, 1)
	ReadSlots(v, broken)
	if bits.OnesCount64(uint64(broken[0])) >= b.sys.Check.Faults.Break {
		return
	}
	for k, p := range b.pairs {
		if broken[0]>>k&1 != 0 {
			continue
		}
		emit(explore.Step{Label: b.label, Next: appendSlots(nil, []int64{broken[0] | 1<<k}), Spontaneous: true,
			Note: appendSlots(nil, []int64{int64(p[0]), int64(p[1])}),
			Sends: []explore.Send{{Channel: b.first + p[0], Msg: b.sys.packNews(newsBroken, int64(p[1]))},
				{Channel: b.first + p[1], Msg: b.sys.packNews(newsBroken, int64(p[0]))}}})
	}
}

// faultBudget turns the check's bounds into those of the explorer.
func (s *Machines) faultBudget() {
	f := s.Check.Faults
	if f == nil {
		return
	}
	s.System.Budget = explore.Budget{Loss: max(f.Lose, 0), Dup: max(f.Duplicate, 0), Swap: max(f.Overtake, 0), Crash: f.CrashAll}
	for k := range s.System.Channels[:s.Own] {
		c := &s.System.Channels[k]
		if f.Lose >= 0 {
			c.Lossy = f.Lose > 0
		}
		if f.Duplicate >= 0 {
			c.Dup = f.Duplicate > 0
		}
		c.Swap = f.Overtake > 0
	}
}
