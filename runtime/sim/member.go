package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
)

// Command is something that the player of a machine may do.
type Command[R fsm.Runner] struct {
	// Do calls one command method of the runner. It may be refused, and often is.
	Do func(w *World, r R) fsm.Result
	// May, if set, reports whether the player thinks of it. A refused command
	// costs far more than one that is not given.
	May func(r R) bool
	// Calm: it is also given in the second phase, of which the goal must be
	// reachable by these commands alone.
	Calm bool
}

// Add puts a machine into the world under a name. A refused or malformed
// message is a failure, unless it comes from who is hostile, or o.OnError is set, which then decides.
func Add[R fsm.Runner](w *World, name string, r R, o driver.Options[R], commands ...Command[R]) ID {
	m := &member{world: w, name: name, info: r.Info(), next: noTime, rate: 1}
	o.Instance = name
	if told := o.OnReport; told != nil { // who has crashed sees no report of its last step
		o.OnReport = func(r R, i int) {
			if !m.dying {
				told(r, i)
			}
		}
	}
	if o.OnError == nil {
		o.OnError = func(_ R, err *driver.Error) {
			if !m.excused(err) {
				w.fail("%s: %v", name, err)
			}
		}
	}
	sinks, renewed := o.Trace, 0
	var core *driver.Core[R]
	m.renew = func() {
		if w.traces != nil {
			file := name
			if renewed++; renewed > 1 {
				file = fmt.Sprintf("%s.%d", name, renewed)
			}
			o.Trace = append([]trace.Sink{w.traces(file)}, sinks...)
		}
		core = driver.NewCore(r, o, m)
		m.core = core
	}
	m.renew()
	m.commands = len(commands)
	m.state = func() string { return m.info.States[r.State()] }
	m.command = func(i int) bool {
		c := &commands[i]
		if w.calm && !c.Calm || c.May != nil && !c.May(r) {
			return false
		}
		core.Command(m.clock(w.now), func(r R) fsm.Result { return c.Do(w, r) }, true)
		return true
	}
	w.members = append(w.members, m)
	return ID(len(w.members) - 1)
}

// member is a machine in a world, and the carrier of its core.
type member struct {
	world    *World
	name     string
	info     *fsm.Info
	core     machine
	commands int
	command  func(i int) bool
	state    func() string
	next     time.Duration // when its player thinks next
	peers    []end
	left     int    // how many may still come there
	fresh    func() // makes its runner as new for who comes; nil: it is there from the beginning
	going    bool   // it has ended, and will go
	reset    func() // makes its runner as new; nil: it does not crash
	renew    func() // makes its core
	rate     float64
	begun    time.Duration // since when its clock runs
	down     bool
	torn     int  // after how many sends it crashes, 0: it does not
	dying    bool // it has crashed in the course of its step
	hostile  bool // it has no machine, info is nil
}

// end is where a member's peer is found.
type end struct {
	peer fsm.Peer
	path *path // to that peer
}

// path is one direction between two members. Where there are several channels it is that of the one with which the
// link comes and goes, and has the others beside it.
type path struct {
	medium   impair.Medium
	channel  int   // its place in fsm.Info.Channels
	lossless bool  // what was assumed of the channel: nothing is lost
	reliable bool  // and nothing overtakes, so that the end of the link is heard
	link     *path // that of the link: another one if this is beside it
	beside   []*path
	from, to ID
	as       fsm.Peer // the sender's number at the receiver
	back     *path
	open     bool
	asked    bool          // the sender wants the link back and was not heard yet
	epoch    uint32        // how often the link has come back
	upAt     time.Duration // when the receiver learns of the link
}

// Connect joins two machines; each numbers the other as given. At most one of them may be hostile.
func (w *World) Connect(a, b ID, bAtA, aAtB fsm.Peer) {
	there, back := w.path(a, b, aAtB), w.path(b, a, bAtA)
	there.back, back.back = back, there
	w.members[a].peers = append(w.members[a].peers, end{bAtA, there})
	w.members[b].peers = append(w.members[b].peers, end{aAtB, back})
}

// ConnectAll joins all machines but hostile ones with each other; each numbers every other one by its ID.
func (w *World) ConnectAll() {
	for a := range w.members {
		for b := range a {
			if w.members[a].hostile && w.members[b].hostile {
				continue
			}
			w.Connect(ID(a), ID(b), fsm.Peer(b), fsm.Peer(a))
		}
	}
}

func (w *World) path(from, to ID, as fsm.Peer) *path {
	info := w.members[to].info
	if info == nil {
		info = w.members[from].info
	}
	channels := info.Channels
	if len(channels) == 0 {
		channels = []fsm.Channel{{Ordered: info.Ordered, Reliable: info.Reliable, Duplicates: info.Duplicates}}
	}
	p := w.over(from, to, as, info.News, channels[info.News])
	p.link, p.open = p, true
	p.upAt = w.upTo(10 * time.Millisecond)
	w.queue.push(p.upAt, kindUp, p, nil)
	for k, ch := range channels {
		if k == info.News {
			continue
		}
		b := w.over(from, to, as, k, ch)
		b.link, p.beside = p, append(p.beside, b)
	}
	return p
}

// over makes a path for one channel.
func (w *World) over(from, to ID, as fsm.Peer, channel int, ch fsm.Channel) *path {
	f := w.result.Faults
	lossless := ch.Reliable && !w.scenario.Lossy
	p := &path{from: from, to: to, as: as, channel: channel, lossless: lossless, reliable: lossless && ch.Ordered}
	if ch.Ordered {
		f.Reorder = 0
	}
	if lossless && !p.reliable {
		f.Loss, f.Queue = 0, math.MaxInt
	}
	if !ch.Duplicates {
		f.Duplicate = 0
	}
	p.medium = impair.NewMedium(w.draw(), f)
	w.paths = append(w.paths, p)
	return p
}

// on is the path of a channel with that of its link.
func (p *path) on(channel int) *path {
	for _, b := range p.beside {
		if b.channel == channel {
			return b
		}
	}
	return p
}

// Send implements [driver.Carrier].
func (m *member) Send(peer fsm.Peer, frame []byte) error { return m.SendOn(peer, m.info.News, frame) }

// SendOn implements [driver.ChannelCarrier].
func (m *member) SendOn(peer fsm.Peer, channel int, frame []byte) error {
	err := error(transport.ErrNoPeer)
	if !m.sends() {
		return nil
	}
	for i := range m.peers {
		if e := &m.peers[i]; (e.peer == peer || peer == fsm.Broadcast) && e.path.open {
			m.world.send(e.path.on(channel), frame)
			err = nil
		}
	}
	return err
}

// Close implements [driver.Carrier]. The other side learns of it after what was sent before; of
// datagrams nobody can hear that they end.
func (m *member) Close(peer fsm.Peer, why *driver.Error) error {
	if m.dying { // the close does not go out any more
		return nil
	}
	for i := range m.peers {
		e := &m.peers[i]
		if e.peer != peer && peer != fsm.Broadcast || !e.path.open {
			continue
		}
		e.path.open = false
		if !e.path.reliable {
			continue
		}
		at := max(e.path.medium.PassReliable(m.world.now, 0), e.path.upAt)
		m.world.queue.push(at, kindLost, e.path, nil)
	}
	return nil
}

func (w *World) send(p *path, frame []byte) {
	if w.hostile && !w.members[p.from].hostile {
		w.see(p.channel, frame)
	}
	if p.reliable {
		at := max(p.medium.PassReliable(w.now, len(frame)), p.link.upAt)
		if c := w.cut(p); c != nil {
			p.medium.Stats.Cut++
			at = max(at, c.until) // it arrives when the network is whole again
			p.medium.Hold(at)
		}
		w.queue.push(at, kindFrame, p, frame)
		return
	}
	whole := p.link.upAt // when frames can get there
	if c := w.cut(p); c != nil {
		p.medium.Stats.Cut++
		if !p.lossless {
			return
		}
		whole = max(whole, c.until)
	}
	fate := p.medium.Pass(w.now, len(frame))
	for _, at := range fate.At[:fate.Copies] {
		w.queue.push(max(at, whole), kindFrame, p, frame)
	}
}

// cut is a time in which the network is in two halves.
type cut struct {
	from, until time.Duration
	half        uint64 // the members of one half, as bits
}

// cut returns the cut that lies across a path now.
func (w *World) cut(p *path) *cut {
	if slices.Contains(w.scenario.Bridge, p.from) || slices.Contains(w.scenario.Bridge, p.to) {
		return nil
	}
	for i := range w.cuts {
		c := &w.cuts[i]
		if c.from <= w.now && w.now < c.until && (c.half>>(p.from&63)^c.half>>(p.to&63))&1 == 1 {
			return c
		}
	}
	return nil
}
