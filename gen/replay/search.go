package replay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// Options bound the search for a run.
type Options struct {
	// MaxStates is the greatest number of distinct (machine, frames read,
	// frames sent) that are looked at; 0 means 2,000,000.
	MaxStates int
	// Silent is the greatest number of commands in a row that send nothing;
	// 0 means 4.
	Silent int
	// Ahead is how many of the side's next frames are looked at for arguments of
	// commands; 0 means 12.
	Ahead int
	// Reliable: the network between the sides, as that within one computer, loses nothing, copies nothing and
	// keeps the order, whatever the protocol's channel may do.
	Reliable bool
	// Loose: a frame is explained by a message of its name, whatever is in its fields.
	Loose bool
	// Passive: the side's program gives no commands.
	Passive bool
	// Unseen: what the peer sent is not in the recording, so the side may have read whatever its role takes. Of
	// fields with many values only those are tried that are in what the side sent.
	Unseen bool

	whole bool // the recording goes on until all that was sent has come
	every bool // all ends are looked for
}

func (o Options) withDefaults() Options {
	if o.MaxStates == 0 {
		o.MaxStates = 2_000_000
	}
	if o.Silent == 0 {
		o.Silent = 4
	}
	if o.Ahead == 0 {
		o.Ahead = 12
	}
	return o
}

// node is a place in the search: the machine's value after it has sent some of its frames and has read
// some of the peer's.
type node struct {
	value  interp.Value
	end    end
	read   progress     // of what came in
	sent   progress     // of what went out
	silent int          // commands in a row that sent nothing
	parent int          // index in nodes, -1 for the first
	again  bool         // what explains nothing was put off when it was expanded, and comes now
	group  int          // where in the stack what is put off goes, of a node after a command that sent nothing
	left   *model.Event // the command with which the program closed the connection, if nobody saw that
	// move led here, what says what became of it, and event what the machine got or would have got.
	move  move
	what  world.What
	event interp.Event
}

// lane is what a side sent and may have heard in one channel, to and from one peer if there are several: places in
// rec.Frames.
type lane struct {
	channel int
	out, in []int
	missing []bool // of out, as in a Part
	lossy   bool   // the party may have missed what was sent to it
	copies  []bool // of out: the network may have made it, of one shortly before
	loose   bool   // frames may overtake each other, before they are captured and after
	bundles [][]bundle
}

// end is what is around the machine. A message is the place of its frame in rec.Frames.
type end = world.End[int]

// move is what can happen to the machine next.
type move struct {
	kind    world.MoveKind // MoveStart, Up, Deliver, Copy, Offer, Command, Expire, Lost or Lose
	frame   int            // of MoveDeliver, MoveCopy, MoveOffer and MoveLose: the place in rec.Frames
	peer    int            // of MoveUp and MoveLost
	timer   int            // of MoveExpire: the place in alarms
	command interp.Event   // of MoveCommand
	unseen  bool           // of MoveDeliver: the frame is not in the capture
}

// search explains one side. It is the machine of an instance of runtime/world, see Step: what the
// side hears, holds and may still send is for the rules there.
type search struct {
	rec     *Recording
	machine *model.Machine
	step    *interp.Machine
	opts    Options
	side    int
	part    *Part
	shared  bool   // as in a Part
	lanes   []lane // by channel
	// furthest is the place in lanes[0].out of the last frame that some step should have sent and did not.
	furthest int
	nodes    []node
	stack    []int
	seen     map[[16]byte]int // what can happen after a node, with the fewest commands in a row that sent nothing
	best     []int            // nodes that explain the most
	bestKey  [2]int
	scratch  []byte
	full     bool
	found    int // the node that explains everything, -1 if there is none
	refusal  *Refusal
	refused  int             // the node of the refusal
	ends     []int           // nodes that explain everything, if all are looked for
	frames   int             // how many were captured; behind these in rec are those that Unseen stands for
	made     map[string]int  // their places, by event and fields
	owed     map[string]bool // what would have been sent behind the end of a whole recording
	quick    bool            // what explains nothing is put off
	putOff   bool            // something was
	base     int             // the group of what is put off
	left     []int           // ends of connections of which it is known when the side had heard of them
	rules    world.Rules
	alarms   []stage.Alarm
	// The step of the machine that was taken last: the event, and what came of it. A command is in
	// last.event before.
	last struct {
		event   interp.Event
		effects []interp.Effect
		fault   *interp.Fault
	}
	asked []world.Effect[int] // of the last step
	// What candidates have been worked out once, by the first field of a
	// list, and fields that stand alone.
	domains map[*model.Field][][]int64
	alone   map[*model.Field]*model.Field
	guesses map[guess][][]int64
	// unseenAt are frames that the peer may have sent, likewise.
	unseenAt map[guess][]int
}

// explain looks for a run of the machine, beginning with value, that sends the side's frames.
func explain(ctx context.Context, rec *Recording, m *model.Machine, value interp.Value, t *Part, opts Options) *search {
	s := &search{rec: rec, machine: m, step: interp.New(m, rec.Strings), opts: opts.withDefaults(),
		found: -1, side: t.Party, part: t, shared: t.shared, lanes: t.lanes(rec),
		seen: map[[16]byte]int{}, domains: map[*model.Field][][]int64{}, alone: map[*model.Field]*model.Field{},
		guesses: map[guess][][]int64{}, unseenAt: map[guess][]int{}, owed: map[string]bool{}, frames: len(rec.Frames)}
	if opts.Unseen {
		mine := *rec
		mine.Frames = slices.Clip(mine.Frames)
		s.rec, s.made = &mine, map[string]int{}
	}
	for _, k := range t.in {
		if f := &rec.Frames[k]; f.Ends && f.Heard > 0 {
			s.left = append(s.left, k)
		}
	}
	if opts.Reliable {
		s.reliable()
	}
	s.alarms = stage.Alarms(m)
	deferred, untold := m.DeferredMost(), !m.Mentions(model.EventUp)
	n := len(rec.Names)
	told := untold && len(rec.Since) == 0 // of several peers each comes at a moment of its own
	s.rules = world.Rules{Instances: n, Deferred: slices.Repeat([]int{deferred}, n),
		Timers: slices.Repeat([]int{len(s.alarms)}, n)}
	if s.shared {
		s.rules.Faults.Return = -1
	}
	for peer := range n {
		if peer != s.side && rec.met(peer) {
			s.rules.Links = append(s.rules.Links, world.Link{A: min(peer, s.side), B: max(peer, s.side),
				Untold: [2]bool{told, told}, Datagrams: rec.Datagrams})
		}
	}
	s.begin(value)
	for len(s.stack) > 0 && ctx.Err() == nil {
		n := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if s.done(&s.nodes[n]) && s.found < 0 {
			s.found, s.best = n, []int{n}
		}
		if s.done(&s.nodes[n]) && opts.every && !s.nodes[n].again {
			s.ends = append(s.ends, n)
		} else if s.found >= 0 && !opts.every {
			break
		}
		if len(s.nodes) > s.opts.MaxStates {
			s.full = true
			break
		}
		s.expand(n)
	}
	s.full = s.full || s.found < 0 && ctx.Err() != nil
	if s.end() != nil && rec.ended(s.side) {
		s.hunt(ctx)
	}
	return s
}

// begin starts the machine. The result of start is the first node.
func (s *search) begin(value interp.Value) {
	first := node{value: value, end: world.End0[int](&s.rules, s.side), parent: -1}
	if c, ok := s.take(&first, move{kind: world.MoveStart}); ok {
		c.parent, c.value = -1, slices.Clone(c.value)
		first = c
	}
	s.add(first)
}

// done reports whether a node explains everything.
func (s *search) done(n *node) bool {
	k := s.unread(n)
	return s.allSent(n) && (k < 0 || !s.needs(k)) && s.due(n) < 0 &&
		!(s.opts.whole && len(s.rec.Since) > 0 && n.end.Waiting != 0) // who has connected is heard of
}

// lanes sorts what a part sent and may have heard by channel.
func (t *Part) lanes(rec *Recording) []lane {
	channels := rec.Protocol.Channels()
	list := make([]lane, len(channels))
	if !t.shared {
		list = make([]lane, len(channels)*(len(rec.Names)-1))
	}
	for i, k := range t.out {
		l := &list[t.lane(rec, rec.Frames[k].To, rec.Frames[k].Channel)]
		l.out, l.missing = append(l.out, k), append(l.missing, t.missing[i])
	}
	for _, k := range t.in {
		l := &list[t.lane(rec, rec.Frames[k].From, rec.Frames[k].Channel)]
		l.in = append(l.in, k)
	}
	for k := range list {
		l := &list[k]
		l.channel = k % len(channels)
		ch := &channels[l.channel]
		l.bundles = make([][]bundle, len(l.out))
		l.lossy = ch.Lossy
		l.copies = make([]bool, len(l.out))
		if ch.Duplicates && !t.shared {
			l.mayBeCopies(rec)
		}
		l.loose = !ch.Ordered && !t.shared
	}
	return list
}

// MostLanes is how many channels to all peers together one party can have.
const MostLanes = len(progress{}.first)

// lane is the place of the lane in which messages to and from a peer go in a channel.
func (t *Part) lane(rec *Recording, peer, channel int) int {
	if t.shared || len(rec.Names) == 2 {
		return channel
	}
	if peer > t.Party {
		peer--
	}
	return peer*len(rec.Protocol.Channels()) + channel
}

// laneOf is the lane of a frame, which the side has sent or may have heard.
func (s *search) laneOf(frame int) int {
	f := &s.rec.Frames[frame]
	if f.From == s.side {
		return s.part.lane(s.rec, f.To, f.Channel)
	}
	return s.part.lane(s.rec, f.From, f.Channel)
}

// mayBeCopies notes which frames of a lane are as one that was sent shortly before.
func (l *lane) mayBeCopies(rec *Recording) {
	last := map[string]time.Time{}
	for i, k := range l.out {
		f := &rec.Frames[k]
		before, sent := last[string(f.Bytes)]
		l.copies[i] = sent && f.Time.Sub(before) <= longestQueue
		last[string(f.Bytes)] = f.Time
	}
}

// next returns the frame that the side sends next at a node, and its lane: of several lanes that which was
// captured first. It returns -1 if there is none.
func (s *search) next(n *node) (frame, lane int) {
	frame = -1
	for c := range s.lanes {
		if k := int(n.sent.first[c]); k < len(s.lanes[c].out) && (frame < 0 || s.lanes[c].out[k] < frame) {
			frame, lane = s.lanes[c].out[k], c
		}
	}
	return frame, lane
}

// allSent reports whether all that the side sent is explained.
func (s *search) allSent(n *node) bool { k, _ := s.next(n); return k < 0 }

// unread returns the first frame that the side has not read at a node, of all channels; -1 if there is none.
func (s *search) unread(n *node) int {
	frame := -1
	for c := range s.lanes {
		if k := s.coming(n, c); k >= 0 && (frame < 0 || k < frame) {
			frame = k
		}
	}
	return frame
}

// coming returns the next frame of a channel that the side has not read; -1 if there is none.
func (s *search) coming(n *node, channel int) int {
	if k := int(n.read.first[channel]); k < len(s.lanes[channel].in) {
		return s.lanes[channel].in[k]
	}
	return -1
}

// overtaking lists the frames of a channel that may be read before the next one: those in the window that were
// captured before what the side sends next.
func (s *search) overtaking(n *node, channel int) (frames []int) {
	l := &s.lanes[channel]
	if !l.loose {
		return nil
	}
	out, _ := s.next(n)
	first := int(n.read.first[channel])
	for k := first + 1; k < len(l.in) && k <= first+window && (out < 0 || l.in[k] < out); k++ {
		if !n.read.has(channel, k) {
			frames = append(frames, l.in[k])
		}
	}
	return frames
}

// accepted reports whether the search has found a run, and returns the run's last node.
func (s *search) accepted() (int, bool) {
	return s.found, s.found >= 0
}

// expand pushes what the machine can do at n. What is pushed last is tried first: reading, then commands
// that explain the next frame. Commands that send nothing are many and seldom needed, so they are put off until all of
// those were in vain. Then one of them is tried everywhere before two are: who reads what it need not read there will
// lack it much later.
func (s *search) expand(n int) {
	at := &s.nodes[n]
	s.base = len(s.stack)
	place := s.base
	if at.silent > 0 {
		place, s.base = min(at.group, place), at.group
	}
	s.quick, s.putOff = !at.again && !s.opts.every, false
	s.moves(n)
	if s.quick = false; s.putOff {
		s.nodes[n].again = true
		s.stack = slices.Insert(s.stack, place, n)
	}
}

// moves pushes what the machine can do at n, in order.
func (s *search) moves(n int) {
	at := s.nodes[n] // a copy: nodes grows
	if due := s.due(&at); due >= 0 {
		if !s.try(n, move{kind: world.MoveOffer, frame: at.end.Held[due].Message}) {
			s.rate(n) // here it ends
		}
		return
	}
	base := len(s.stack)
	for c := range s.lanes {
		if s.canRead(&at, c) {
			s.try(n, move{kind: world.MoveDeliver, frame: s.coming(&at, c)})
			if s.lanes[c].lossy {
				s.try(n, move{kind: world.MoveLose, frame: s.coming(&at, c)})
			}
			for _, k := range s.overtaking(&at, c) {
				s.try(n, move{kind: world.MoveDeliver, frame: k})
			}
		}
	}
	if s.stale(&at) {
		s.order(n, base)
		return
	}
	losable := s.machine.EventOf(model.EventLost) != nil
	for peer := range s.rec.Names {
		if peer != s.side && s.there(&at, peer) {
			s.try(n, move{kind: world.MoveUp, peer: peer})
		}
		if losable && s.quiet(&at, peer) {
			s.try(n, move{kind: world.MoveLost, peer: peer})
		}
	}
	alarm := 0
	for _, ev := range s.machine.Events {
		switch ev.Kind {
		case model.EventCommand:
			if s.opts.Passive {
				continue
			}
			for _, args := range s.candidates(&at, ev) {
				s.try(n, move{kind: world.MoveCommand, command: interp.Event{Event: ev, Args: args}})
			}
		case model.EventMessage:
			if !s.opts.Unseen {
				continue
			}
			for _, frame := range s.unseenFrames(&at, ev) {
				s.try(n, move{kind: world.MoveDeliver, frame: frame, unseen: true})
			}
		case model.EventTimer:
			for range ev.Timer.Count {
				s.try(n, move{kind: world.MoveExpire, timer: alarm})
				alarm++
			}
		}
	}
	for ; alarm < len(s.alarms); alarm++ { // those of parts
		s.try(n, move{kind: world.MoveExpire, timer: alarm})
	}
	for c := range s.lanes { // last, since of two moves to one place the first is kept: who may have sent it, has
		if l, k := &s.lanes[c], int(at.sent.first[c]); k < len(l.out) && l.copies[k] {
			s.try(n, move{kind: world.MoveCopy, frame: l.out[k]})
		}
	}
	s.order(n, base)
}

// order sorts the children of a node, which are on the stack from base on. Reading is tried first, then
// those that explain a frame, then commands that send nothing.
func (s *search) order(n, base int) {
	added := s.stack[base:]
	slices.Reverse(added)
	slices.SortStableFunc(added, func(a, b int) int {
		return rank(&s.nodes[n], &s.nodes[b]) - rank(&s.nodes[n], &s.nodes[a])
	})
}

// rankSends is the greatest rank of what a machine does that explains a frame, rankLoses the least of what only the
// network does.
const (
	rankSends = 2
	rankLoses = 6
)

// rank returns the rank of a child of a node. 0 is tried first.
func rank(p, c *node) int {
	switch {
	case c.read.first == p.read.first && c.read != p.read, c.sent.first == p.sent.first && c.sent != p.sent:
		return 7 // one has overtaken another
	case c.move.kind == world.MoveLose, c.move.kind == world.MoveCopy:
		return rankLoses
	case c.move.kind == world.MoveLost:
		return 5
	case c.read != p.read:
		return 0
	case c.sent != p.sent && c.move.kind == world.MoveExpire:
		return rankSends // a timer may expire at any time here, and seldom does
	case c.sent != p.sent:
		return 1
	case c.end.Up != p.end.Up:
		return 3
	}
	return 4
}

// there reports whether a peer has come before the side sends what it sends next at a node.
func (s *search) there(n *node, peer int) bool {
	if len(s.rec.Since) == 0 {
		return true
	}
	out, _ := s.next(n)
	return s.rec.met(peer) && (out < 0 || s.rec.Since[peer] <= out)
}

// canRead reports whether the peer's next frame in a channel was captured before the side's next frame in any.
func (s *search) canRead(n *node, channel int) bool {
	k := s.coming(n, channel)
	out, _ := s.next(n)
	return k >= 0 && (out < 0 || k < out) && !s.leftBefore(n, k)
}

// leftBefore reports whether the side has not heard yet that a peer has gone, of which it had heard when a frame came.
func (s *search) leftBefore(n *node, frame int) bool {
	for _, e := range s.left {
		at := s.laneOf(e)
		if frame > s.rec.Frames[e].Heard && !n.read.has(at, slices.Index(s.lanes[at].in, e)) {
			return true
		}
	}
	return false
}

// due returns the place of the held message that the machine must handle before anything else. It returns
// -1 if there is none.
func (s *search) due(n *node) int { return world.Due(&s.rules, &n.end, n.value, s) }

// reception returns the event of a frame of the peer.
func (s *search) reception(frame int) interp.Event {
	f := &s.rec.Frames[frame]
	if f.Ends {
		return interp.Event{Event: s.machine.EventOf(model.EventLost), Sender: f.From}
	}
	return interp.Event{Event: s.messageEvent(f.Message), Args: f.Slots, Sender: f.From}
}

// Step implements [world.Machine].
func (s *search) Step(v interp.Value, ev world.Event[int]) world.Outcome[interp.Value, int] {
	last := &s.last
	switch ev.Kind {
	case world.Start:
		last.event = interp.Event{Event: s.machine.EventOf(model.EventStart)}
	case world.Up:
		last.event = interp.Event{Event: s.machine.EventOf(model.EventUp), Sender: ev.Peer}
	case world.Lost:
		last.event = interp.Event{Event: s.machine.EventOf(model.EventLost), Sender: ev.Peer}
	case world.Message:
		last.event = s.reception(ev.Message)
	case world.Timeout:
		last.event = s.alarms[ev.Timer].Event
	}
	if last.event.Event == nil && (ev.Kind == world.Up || ev.Kind == world.Lost) {
		last.effects, last.fault = nil, nil
		return world.Outcome[interp.Value, int]{Code: fsm.Ignored, Value: v}
	}
	next, effects, res, fault := s.step.Step(v, last.event)
	last.effects, last.fault = effects, fault
	s.asked = s.asked[:0]
	for i := range effects {
		f := world.Effect[int]{Kind: effects[i].Kind, To: s.to(&effects[i]), Message: i}
		switch f.Kind {
		case fsm.Report:
			continue
		case fsm.StartTimer, fsm.StopTimer:
			f.Timer = stage.AlarmOf(s.alarms, &effects[i])
		}
		s.asked = append(s.asked, f)
	}
	return world.Outcome[interp.Value, int]{Code: res.Code, Value: next, Effects: s.asked}
}

// Defers implements [world.Machine].
func (s *search) Defers(v interp.Value, frame int) bool {
	return defers(s.machine, v, s.messageEvent(s.rec.Frames[frame].Message))
}

// Final implements [world.Machine].
func (s *search) Final(v interp.Value) bool { return s.machine.States[v[0]].Final }

// try takes a move from node n. It keeps the result if that explains the frames that are sent. It reports
// whether the machine can take the move.
func (s *search) try(n int, mv move) bool {
	at := &s.nodes[n]
	c, ok := s.take(at, mv)
	if !ok {
		return false
	}
	if c.sent == at.sent && c.read == at.read && mv.kind != world.MoveOffer {
		up := c.end.Up != at.end.Up
		if !up && c.value.Equal(at.value) {
			return false // it explains nothing
		}
		c.silent = at.silent
		if !up && mv.kind != world.MoveLost {
			c.silent++
		}
		if c.silent > s.opts.Silent {
			return false
		}
	}
	if r := rank(at, &c); s.quick && r > rankSends && r < rankLoses {
		s.putOff = true
		return true
	}
	c.left = s.leaves(at, &c)
	c.group = s.base
	c.value, c.event.Args, c.parent = slices.Clone(c.value), slices.Clone(c.event.Args), n
	return s.add(c)
}

// take takes a move from a node. ok is false if the move is not possible, or if the machine sends
// something else than the side did. The value of the result is valid until the next step.
func (s *search) take(at *node, mv move) (c node, ok bool) {
	takes := mv.kind == world.MoveDeliver && !mv.unseen || mv.kind == world.MoveLose
	read := at.read
	if takes {
		at := s.laneOf(mv.frame)
		l := &s.lanes[at]
		near := l.in[read.first[at]:]
		k := slices.Index(near[:min(len(near), window+1)], mv.frame)
		if k < 0 || k > 0 && !l.loose {
			return c, false
		}
		if k += int(read.first[at]); read.has(at, k) {
			return c, false
		}
		read.take(at, k)
	}
	if mv.kind == world.MoveLose {
		return node{value: at.value, end: at.end, read: read, sent: at.sent, move: mv, what: world.Dropped,
			event: s.reception(mv.frame)}, true
	}
	if mv.kind == world.MoveCopy {
		c, sent := s.laneOf(mv.frame), at.sent
		if k := int(sent.first[c]); k == len(s.lanes[c].out) || s.lanes[c].out[k] != mv.frame {
			return node{}, false
		}
		sent.take(c, int(sent.first[c]))
		return node{value: at.value, end: at.end, read: read, sent: sent, move: mv, what: world.Dropped}, true
	}
	if due := s.due(at); mv.kind == world.MoveOffer && (due < 0 || at.end.Held[due].Message != mv.frame) {
		return c, false
	}
	res := s.happen(at, mv)
	if res.What == world.Blocked || res.Fault != world.NoFault {
		return c, false
	}
	sent, ok := s.match(at.sent, at.end.Up, res.Sends)
	c = node{value: res.Value, end: res.End, read: read, sent: sent, move: mv, what: res.What, event: s.last.event}
	if mv.kind == world.MoveDeliver {
		c.event = s.reception(mv.frame)
	}
	return c, ok
}

// happen lets the world take a move.
func (s *search) happen(at *node, mv move) world.Result[interp.Value, int] {
	r, i, e, v := &s.rules, s.side, at.end, at.value
	switch mv.kind {
	case world.MoveStart:
		return world.Begin(r, i, e, v, s)
	case world.MoveUp:
		return world.LinkUp(r, i, e, v, mv.peer, s)
	case world.MoveDeliver:
		x := world.Item[int]{Message: mv.frame}
		if s.rec.Frames[mv.frame].Ends {
			x.News = world.Cut
		}
		return world.Deliver(r, i, e, v, s.rec.Frames[mv.frame].From, x, s)
	case world.MoveOffer:
		return world.Offer(r, i, e, v, s)
	case world.MoveExpire:
		return world.Expire(r, i, e, v, mv.timer, s)
	case world.MoveLost:
		res := world.LinkLost(r, i, e, v, mv.peer, s)
		if res.What == world.Stepped && res.Fault == world.NoFault { // it may be heard again
			res.End = world.Return(r, i, res.End, res.Value, mv.peer, s).End
		}
		return res
	}
	s.last.event = mv.command
	return world.Give(r, i, e, v, 0, s)
}

// match compares what a step sends with the side's next frames, and returns what is explained then. After the end of
// the recording anything can be sent, since the capture ended before. What is sent to somebody who has not come yet may
// be gone at once; up are those who have.
func (s *search) match(sent progress, up uint64, list []world.Sent[int]) (progress, bool) {
	if s.shared {
		n, ok := s.matchShared(int(sent.first[0]))
		sent.first[0] += uint32(n)
		return sent, ok
	}
	for i := range list {
		if list[i].Item.News != world.NoNews {
			continue
		}
		e := &s.last.effects[list[i].Item.Message]
		c := s.part.lane(s.rec, list[i].To, e.Message.Channel)
		if len(s.rec.Since) > 0 && up>>list[i].To&1 == 0 {
			if k := s.sentAs(&sent, e, c); k >= 0 {
				sent.take(c, k)
			}
			continue
		}
		if int(sent.first[c]) == len(s.lanes[c].out) {
			if s.opts.whole {
				s.owed[string(interp.AppendMessage(nil, s.rec.Strings, e.Message, e.Slots))] = true
				return sent, false
			}
			continue
		}
		k := s.sentAs(&sent, e, c)
		if k < 0 {
			return sent, false
		}
		sent.take(c, k)
	}
	return sent, true
}

// sentAs finds the frame that an effect has sent, in its lane: the next one, or in a channel that keeps no order one
// of those behind it. It returns -1 if there is none.
func (s *search) sentAs(sent *progress, e *interp.Effect, c int) int {
	l, first := &s.lanes[c], int(sent.first[c])
	for k := first; k < len(l.out) && (k == first || l.loose && k <= first+window); k++ {
		f := &s.rec.Frames[l.out[k]]
		if f.Message == e.Message && (s.opts.Loose || slices.Equal(f.Slots, e.Slots)) && !sent.has(c, k) {
			return k
		}
	}
	return -1
}

// add keeps a node that is new. It reports false for a machine that has ended while frames still need an
// explanation, since it sends nothing more.
func (s *search) add(c node) bool {
	if ended(s.machine, c.value) && !s.allSent(&c) {
		return false
	}
	key := s.key(&c)
	if silent, ok := s.seen[key]; ok && silent <= c.silent {
		return true
	}
	s.seen[key] = c.silent
	s.nodes = append(s.nodes, c)
	i := len(s.nodes) - 1
	s.stack = append(s.stack, i)
	if s.due(&c) < 0 {
		s.rate(i)
	}
	return true
}

// rate compares a node with those that explain the most.
func (s *search) rate(i int) {
	reach := s.reach(&s.nodes[i])
	switch cmp := slices.Compare(reach[:], s.bestKey[:]); {
	case cmp > 0:
		s.best, s.bestKey = []int{i}, reach
	case cmp == 0 && len(s.best) < 64:
		s.best = append(s.best, i)
	}
}

// reach measures how much a node explains: first up to where in the recording everything is explained,
// then how much is explained in all.
func (s *search) reach(n *node) [2]int {
	k, _ := s.next(n)
	if k < 0 {
		k = s.unread(n)
	}
	if k < 0 {
		k = s.frames
	}
	return [2]int{k, n.read.sum() + n.sent.sum()}
}

// key identifies a node by what can happen after it, but for how many silent commands may follow.
func (s *search) key(n *node) [16]byte {
	b := s.scratch[:0]
	for _, v := range n.value {
		b = binary.AppendVarint(b, v)
	}
	for c := range s.lanes {
		b = binary.AppendUvarint(b, uint64(n.read.first[c]))
		b = binary.AppendUvarint(b, uint64(n.sent.first[c]))
		b = append(b, n.read.over[c], n.sent.over[c])
	}
	left := byte(0)
	if n.left != nil {
		left = 1
	}
	b = append(b, left)
	b = binary.AppendUvarint(binary.AppendUvarint(b, n.end.Up), n.end.Waiting)
	for _, h := range n.end.Held {
		b = binary.AppendUvarint(b, uint64(h.Message))
	}
	s.scratch = b
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

func (s *search) messageEvent(msg *model.Message) *model.Event {
	for _, ev := range s.machine.Events {
		if ev.Kind == model.EventMessage && ev.Message == msg {
			return ev
		}
	}
	return nil
}

// reliable has the search take the network for one that does nothing to what is sent.
func (s *search) reliable() {
	for k := range s.lanes {
		l := &s.lanes[k]
		l.lossy, l.loose = false, false
		clear(l.copies)
	}
}
