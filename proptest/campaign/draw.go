package campaign

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/parley-go/parley/runtime/world"
)

// Fault is a kind of fault.
type Fault uint8

// The kinds of fault.
const (
	Lose Fault = iota
	Duplicate
	Overtake
	Tail // the last messages before a crash or a break go with it
	Crash
	Torn // a crash in the course of a step
	Restart
	Break
	Return
	Partition
	Swallow   // it takes a datagram under way
	Forge     // of a hostile instance, here and below: a message
	Hangup    // it closes a link
	Malformed // it sends what is no message
	Faults    // their number
)

var faultNames = [Faults]string{"loss", "copy", "overtaking", "lost tail", "crash", "torn step", "restart",
	"break", "return", "partition", "swallowed message", "forged message", "hangup", "malformed frame"}

// String returns the name of f in lower case.
func (f Fault) String() string { return faultNames[f] }

// swarm is what is drawn for one run: how likely each class of moves is against the others. The
// faults of a run, and the commands, are a subset of those that there may be, so that what hides
// another thing is often left out (Groce, Zhang, Eide, Chen, Regehr: Swarm testing, 2012).
type swarm struct {
	faults   [Faults]uint32
	torn     uint32 // of 256 steps that send
	own      []uint32
	timers   []uint32
	commands [][]uint32 // by instance and command
	channels []uint32
	beats    uint32
	// chaos is after how many moves faults and commands end.
	chaos int
}

// source draws numbers: splitmix64.
type source struct{ pcg rand.PCG }

func (s *source) seed(seed uint64, what string) {
	h := fnv.New64a()
	h.Write([]byte(what))
	s.pcg.Seed(seed, h.Sum64())
}

// below draws 0 <= n < most.
func (s *source) below(most uint32) uint32 {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(most))
	return uint32(hi)
}

// one draws one of several weights.
func (s *source) one(list ...uint32) uint32 { return list[s.below(uint32(len(list)))] }

// possible lists the faults that the rules of a check let happen.
func possible(r *world.Rules) (has [Faults]bool) {
	f := &r.Faults
	crash := slices.ContainsFunc(f.Crash, func(n int) bool { return n > 0 })
	breaks := len(r.Links) > 0 && (f.Break != 0 || f.Partition != 0)
	has[Crash], has[Torn] = crash, crash && f.Torn
	has[Restart] = crash && slices.ContainsFunc(f.Restart, func(n int) bool { return n > 0 })
	has[Break], has[Partition] = breaks, f.Partition != 0
	has[Swallow] = f.Partition != 0
	has[Return] = f.Return != 0 && len(r.Links) > 0
	for _, c := range r.Channels {
		has[Lose] = has[Lose] || c.Lossy && f.Lose != 0
		has[Duplicate] = has[Duplicate] || c.Duplicates && f.Duplicate != 0
		has[Overtake] = has[Overtake] || c.Overtakes && f.Overtake != 0 && c.Order == world.Fifo
		has[Tail] = has[Tail] || c.Order == world.Fifo && (has[Torn] || breaks)
	}
	has[Forge] = r.Hostile != 0
	has[Malformed] = r.Malformed != 0 && len(r.Links) > 0 // without a link it is dropped
	has[Hangup] = r.Hostile != 0 && len(r.Links) > 0
	return has
}

// draw draws the swarm of a run of at most so many moves.
func (p *Player) draw(most int) {
	s, w := &p.rand, &p.swarm
	for f := range Faults {
		w.faults[f] = 0
		if p.faults[f] {
			w.faults[f] = s.one(0, 0, 0, 2, 8, 32)
		}
	}
	if w.torn = 0; w.faults[Torn] > 0 {
		w.torn = s.one(8, 32, 128)
	}
	for i := range p.parties {
		w.own[i], w.timers[i] = s.one(4, 16, 64), s.one(1, 4, 16, 64)
		none := true
		for k := range w.commands[i] {
			w.commands[i][k] = s.one(0, 0, 4, 16, 32, 64)
			none = none && w.commands[i][k] == 0
		}
		for k := range w.commands[i] {
			if none {
				w.commands[i][k] = 16
			}
		}
	}
	for k := range w.channels {
		w.channels[k] = s.one(1, 16, 32, 64)
	}
	w.beats = s.one(4, 16, 64)
	w.chaos = 1 + int(s.below(uint32(max(most*3/4, 1))))
}

// class is what is drawn first: moves that are alike. Among them it is drawn evenly.
type class struct {
	kind    classKind
	who, at int
	weight  uint32
}

type classKind uint8

const (
	ofStart classKind = iota
	ofOffer
	ofUp
	ofBreak
	ofReturn
	ofCommand // at: the command's kind
	ofExpire
	ofCrash
	ofRestart
	ofCome
	ofGo
	ofCutoff
	ofBeat
	ofDeliver // at: the channel, here and below
	ofCopy
	ofLose
	ofSwallow
	ofOvertake
	ofTail
	ofPartition
	ofHeal
	ofTick
	ofForge // at: the hostile peer, here and below
	ofHangup
	ofMalformed
)

// classes lists what may be possible in c. Of calm runs it leaves out what need never happen.
func (p *Player) classes(c *configuration, calm bool) []class {
	list := p.list[:0]
	w, r, f := &p.swarm, p.world.Rules, &p.world.Rules.Faults
	add := func(k classKind, who, at int, weight uint32) {
		if weight > 0 {
			list = append(list, class{k, who, at, weight})
		}
	}
	fault := func(k classKind, who, at int, what Fault, enough bool) {
		if enough && !calm {
			add(k, who, at, w.faults[what])
		}
	}
	for i := range c.Ends {
		e := &c.Ends[i]
		if len(c.Splits[i]) > 0 {
			add(ofCutoff, i, 0, w.own[i])
		}
		if c.Beats>>i&1 != 0 {
			add(ofBeat, i, 0, w.beats)
		}
		if r.IsHostile(i) {
			continue
		}
		if e.Down {
			if !calm && int(e.Comes) < p.check.Instances[i].Come {
				add(ofCome, i, 0, w.own[i])
			}
			fault(ofRestart, i, 0, Restart, i < len(f.Restart) && int(e.Restarts) < f.Restart[i])
			continue
		}
		fault(ofCrash, i, 0, Crash, i < len(f.Crash) && int(e.Crashes) < f.Crash[i] &&
			(f.CrashAll == 0 || c.Spent.Crash < f.CrashAll))
		if !e.Started {
			add(ofStart, i, 0, w.own[i])
			continue
		}
		if p.goes(c, i) {
			add(ofGo, i, 0, w.own[i])
		}
		if len(e.Held) > 0 {
			add(ofOffer, i, 0, 4*w.own[i])
		}
		if e.Waiting != 0 {
			add(ofUp, i, 0, w.own[i])
		}
		fault(ofBreak, i, 0, Break, e.Up&^e.Cutoff != 0 && (f.Break < 0 || c.Spent.Break < f.Break) ||
			e.Up&e.Cutoff != 0)
		fault(ofReturn, i, 0, Return, e.Broken != 0 && (f.Return < 0 || c.Spent.Return < f.Return))
		if slices.ContainsFunc(e.Left, due) {
			add(ofExpire, i, 0, w.timers[i])
		}
		if calm {
			continue
		}
		for hostile := r.Hostile; hostile != 0; hostile &= hostile - 1 {
			j := bits.TrailingZeros64(hostile)
			fault(ofForge, i, j, Forge, true)
			fault(ofHangup, i, j, Hangup, e.Up>>j&1 != 0)
			fault(ofMalformed, i, j, Malformed, e.Up>>j&1 != 0 && r.Malformed>>j&1 != 0)
		}
		st := p.parties[i].state(c.Values[i])
		for k, ev := range p.parties[i].Commands {
			if w.commands[i][k] > 0 && ev.Index < len(st.Handlers) && st.Handlers[ev.Index] != nil {
				add(ofCommand, i, k, w.commands[i][k])
			}
		}
	}
	for k := range c.Queues {
		q, ch := c.Queues[k], &r.Channels[k]
		if len(q) == 0 {
			continue
		}
		add(ofDeliver, ch.To, k, w.channels[k])
		fault(ofCopy, ch.To, k, Duplicate, ch.Duplicates && (f.Duplicate < 0 || c.Spent.Duplicate < f.Duplicate))
		fault(ofLose, ch.To, k, Lose, ch.Lossy && (f.Lose < 0 || c.Spent.Lose < f.Lose))
		fault(ofSwallow, ch.To, k, Swallow, c.Ends[ch.To].Cutoff>>ch.From&1 != 0)
		fault(ofOvertake, ch.To, k, Overtake, ch.Overtakes && len(q) > 1 &&
			(f.Overtake < 0 || c.Spent.Overtake < f.Overtake))
		fault(ofTail, ch.To, k, Tail, p.faults[Tail] && len(q) > 1)
	}
	if c.Split != 0 {
		add(ofHeal, 0, 0, 8)
	} else {
		fault(ofPartition, 0, 0, Partition, c.Spent.Partition < f.Partition)
	}
	if r.Time != nil && c.Beats == 0 {
		add(ofTick, 0, 0, w.beats)
	}
	p.list = list
	return list
}

// due reports whether a timer may expire.
func due(left world.Left) bool { return left.Least == 0 }

// members lists the moves of a class; some may be impossible.
func (p *Player) members(c *configuration, x class) []move {
	list := p.moves[:0]
	each := func(set uint64, kind world.MoveKind) {
		for ; set != 0; set &= set - 1 {
			list = append(list, move{Kind: kind, Who: x.who, Peer: bits.TrailingZeros64(set)})
		}
	}
	e := &c.Ends[x.who]
	switch x.kind {
	case ofUp:
		each(e.Waiting, world.MoveUp)
	case ofBreak:
		each(e.Up&p.world.Rules.Peers(x.who), world.MoveLost)
	case ofReturn:
		each(e.Broken, world.MoveReturn)
	case ofCommand:
		y := p.parties[x.who]
		for n := y.first[x.at]; n < y.first[x.at+1]; n++ {
			list = append(list, move{Kind: world.MoveCommand, Who: x.who, Message: letter(n)})
		}
	case ofExpire:
		for t, left := range e.Left {
			if due(left) {
				list = append(list, move{Kind: world.MoveExpire, Who: x.who, Timer: t})
			}
		}
	case ofDeliver, ofCopy, ofLose, ofSwallow:
		kind := heads[x.kind-ofDeliver]
		ch := &p.world.Rules.Channels[x.at]
		if ch.Order == world.Fifo {
			list = append(list, move{Kind: kind, Channel: x.at})
			break
		}
		for _, at := range world.Heads(ch, c.Queues[x.at]) {
			list = append(list, move{Kind: kind, Channel: x.at, At: at})
		}
	case ofForge:
		for _, m := range p.parties[x.at].forged[x.who] {
			list = append(list, move{Kind: world.MoveForge, Who: x.who, Peer: x.at, Message: m})
		}
	case ofHangup, ofMalformed:
		kind := world.MoveHangup
		if x.kind == ofMalformed {
			kind = world.MoveMalformed
		}
		list = append(list, move{Kind: kind, Who: x.who, Peer: x.at})
	case ofOvertake:
		for at := range len(c.Queues[x.at]) - 1 {
			list = append(list, move{Kind: world.MoveOvertake, Channel: x.at, At: at})
		}
	case ofTail:
		list = append(list, move{Kind: world.MoveTail, Channel: x.at})
	case ofPartition:
		for _, side := range p.sides {
			list = append(list, move{Kind: world.MovePartition, Set: side})
		}
	default:
		list = append(list, move{Kind: alone[x.kind], Who: x.who})
	}
	p.moves = list
	return list
}

// heads are the moves that take what may arrive next, from ofDeliver on.
var heads = [...]world.MoveKind{world.MoveDeliver, world.MoveCopy, world.MoveLose, world.MoveSwallow}

var alone = map[classKind]world.MoveKind{ofStart: world.MoveStart, ofOffer: world.MoveOffer,
	ofCrash: world.MoveCrash, ofRestart: world.MoveRestart, ofCome: world.MoveCome, ofGo: world.MoveGo,
	ofCutoff: world.MoveCutoff, ofBeat: world.MoveBeat, ofHeal: world.MoveHeal, ofTick: world.MoveTick}
