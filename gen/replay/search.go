package replay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
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

// node is a place in the search: the machine's value after some of its frames
// were sent and some of the peer's were read.
type node struct {
	value  interp.Value
	read   int // of in
	sent   int // of out
	silent int // commands in a row that sent nothing
	up     bool
	parent int // index in nodes, -1 for the first
	event  interp.Event
	// frame is the place in rec.Frames of the message that event is, -1 if it is none.
	frame int
	// held are the places in rec.Frames of the messages that are deferred, oldest first.
	held []int
}

// search explains one side.
type search struct {
	rec     *Recording
	machine *model.Machine
	step    *interp.Machine
	opts    Options
	side    int
	out, in []int // indices into rec.Frames
	nodes   []node
	stack   []int
	seen    map[[16]byte]bool
	best    []int // nodes that explain the most
	bestKey [2]int
	scratch []byte
	full    bool
	// What candidates have been worked out once, by the first field of a
	// list, and fields that stand alone.
	domains map[*model.Field][][]int64
	alone   map[*model.Field]*model.Field
	bundles [][]bundle // by index in out
	guesses map[guess][][]int64
}

// explain looks for a run of machine, begun as value, that sends side's frames.
func explain(ctx context.Context, rec *Recording, m *model.Machine, value interp.Value, side int, opts Options) *search {
	s := &search{rec: rec, machine: m, step: interp.New(m, rec.Strings), opts: opts.withDefaults(), side: side, seen: map[[16]byte]bool{},
		domains: map[*model.Field][][]int64{}, alone: map[*model.Field]*model.Field{}, guesses: map[guess][][]int64{}}
	for i, f := range rec.Frames {
		if f.From == side {
			s.out = append(s.out, i)
		} else {
			s.in = append(s.in, i)
		}
	}
	s.bundles = make([][]bundle, len(s.out))
	s.begin(value)
	for len(s.stack) > 0 && ctx.Err() == nil {
		n := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if s.done(&s.nodes[n]) {
			s.best = []int{n}
			return s
		}
		if len(s.nodes) > s.opts.MaxStates {
			break
		}
		s.expand(n)
	}
	s.full = len(s.stack) > 0
	return s
}

// begin starts the machine; what start does is the first node.
func (s *search) begin(value interp.Value) {
	first := node{value: value, parent: -1, frame: -1}
	if start := event(s.machine, model.EventStart); start != nil {
		next, effects, res, _ := s.step.Step(value, interp.Event{Event: start})
		if sends, ok := s.match(0, effects); ok && res.Code == fsm.Took {
			first.value, first.sent = slices.Clone(next), sends
		}
	}
	s.add(first)
}

// done reports whether a node explains everything.
func (s *search) done(n *node) bool {
	return n.sent == len(s.out) && n.read == len(s.in) && s.due(n) < 0
}

// accepted reports whether the search found a run, and its last node.
func (s *search) accepted() (int, bool) {
	if len(s.best) == 1 && s.done(&s.nodes[s.best[0]]) {
		return s.best[0], true
	}
	return 0, false
}

// expand pushes what the machine can do at n; what is pushed last is tried
// first: reading, then commands that explain the next frame, then silent ones.
func (s *search) expand(n int) {
	at := s.nodes[n] // a copy: nodes grows
	if due := s.due(&at); due >= 0 {
		if !s.try(n, s.reception(at.held[due]), at.held[due], at.up) {
			s.rate(n) // here it ends
		}
		return
	}
	base := len(s.stack)
	if s.canRead(&at) {
		s.try(n, s.reception(s.in[at.read]), s.in[at.read], at.up)
	}
	if !at.up {
		if up := event(s.machine, model.EventUp); up != nil {
			s.try(n, interp.Event{Event: up, Sender: 1 - s.side}, -1, true)
		}
	}
	for _, ev := range s.machine.Events {
		switch ev.Kind {
		case model.EventCommand:
			for _, args := range s.candidates(&at, ev) {
				s.try(n, interp.Event{Event: ev, Args: args}, -1, at.up)
			}
		case model.EventTimer:
			for i := range ev.Timer.Count {
				if at.value[ev.Timer.Offset+i] != 0 {
					s.try(n, interp.Event{Event: ev, Args: interp.TimerKeys(ev.Timer, i)}, -1, at.up)
				}
			}
		}
	}
	// Of the new ones, those that explain a frame are to be tried before
	// silent commands, and reading first of all: it was pushed first.
	added := s.stack[base:]
	slices.Reverse(added)
	slices.SortStableFunc(added, func(a, b int) int { return s.rank(n, b) - s.rank(n, a) })
}

// rank orders the children of a node: 0 is tried first.
func (s *search) rank(parent, child int) int {
	p, c := &s.nodes[parent], &s.nodes[child]
	switch {
	case c.read > p.read:
		return 0
	case c.sent > p.sent:
		return 1
	case c.up != p.up:
		return 2
	}
	return 3
}

// canRead: the peer's next frame had been captured before the side's next frame was.
func (s *search) canRead(n *node) bool {
	if n.read == len(s.in) {
		return false
	}
	return n.sent == len(s.out) || s.in[n.read] < s.out[n.sent]
}

// due is the place in held of the message that the machine has to handle before anything else: the
// oldest that its state no longer defers. It is -1 if there is none.
func (s *search) due(n *node) int {
	return slices.IndexFunc(n.held, func(frame int) bool {
		return !defers(s.machine, n.value, s.messageEvent(s.rec.Frames[frame].Message))
	})
}

// reception is the event of a frame of the peer.
func (s *search) reception(frame int) interp.Event {
	f := &s.rec.Frames[frame]
	return interp.Event{Event: s.messageEvent(f.Message), Args: f.Slots, Sender: 1 - s.side}
}

// try takes one step from node n and keeps the result if it explains the
// frames that the step sends. It reports whether the machine can do that.
func (s *search) try(n int, ev interp.Event, frame int, up bool) bool {
	at := &s.nodes[n]
	c, ok := s.take(at, ev, frame, up)
	if !ok {
		return false
	}
	if c.sent == at.sent && frame < 0 {
		if up == at.up && c.value.Equal(at.value) {
			return false // it explains nothing
		}
		c.silent = at.silent
		if up == at.up {
			c.silent++
		}
		if c.silent > s.opts.Silent {
			return false
		}
	}
	c.value, c.event.Args, c.parent = slices.Clone(c.value), slices.Clone(ev.Args), n
	return s.add(c)
}

// take gives the machine at a node an event: a message if frame is not negative, either the peer's
// next one or one that is held. ok is false if the event is not possible, or sends something else
// than the side did. The value of the result holds until the next step.
func (s *search) take(at *node, ev interp.Event, frame int, up bool) (c node, ok bool) {
	c = node{value: at.value, read: at.read, sent: at.sent, up: up, held: at.held, event: ev, frame: frame}
	due := s.due(at)
	switch {
	case due >= 0 && at.held[due] == frame:
		c.held = slices.Delete(slices.Clone(at.held), due, due+1)
	case due >= 0:
		return c, false
	case frame >= 0 && (at.read == len(s.in) || s.in[at.read] != frame):
		return c, false
	case frame >= 0:
		c.read++
		if defers(s.machine, at.value, ev.Event) {
			c.held = append(slices.Clip(at.held), frame)
			return c, len(c.held) <= s.machine.DeferredMost()
		}
	}
	next, effects, res, _ := s.step.Step(at.value, ev)
	if res.Code == fsm.Refused || res.Code == fsm.Deferred || res.Code == fsm.Ignored && frame < 0 {
		return c, false
	}
	sends, ok := s.match(at.sent, effects)
	c.value, c.sent = next, at.sent+sends
	if slices.ContainsFunc(effects, func(e interp.Effect) bool { return e.Kind == fsm.Close }) {
		c.held = nil // all of it is of the peer
	}
	return c, ok
}

// match compares what a step sends with the side's next frames. Behind the end
// of the recording anything may be sent: the capture ended first.
func (s *search) match(sent int, effects []interp.Effect) (n int, ok bool) {
	for _, e := range effects {
		if e.Kind != fsm.Send {
			continue
		}
		if sent+n == len(s.out) {
			continue
		}
		f := &s.rec.Frames[s.out[sent+n]]
		if f.Message != e.Message || !slices.Equal(f.Slots, e.Slots) {
			return 0, false
		}
		n++
	}
	return n, true
}

// add keeps a node that is new. A machine that has ended sends nothing more, so
// ending while frames are still to be explained is no explanation, and add reports false.
func (s *search) add(c node) bool {
	if s.machine.States[c.value[0]].Final && c.sent < len(s.out) {
		return false
	}
	key := s.key(&c)
	if s.seen[key] {
		return true
	}
	s.seen[key] = true
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

// reach measures how much a node explains: first how far in the recording all
// is explained, then how much in all.
func (s *search) reach(n *node) [2]int {
	k := len(s.rec.Frames)
	if n.sent < len(s.out) {
		k = s.out[n.sent]
	}
	if n.read < len(s.in) && n.sent == len(s.out) {
		k = min(k, s.in[n.read])
	}
	return [2]int{k, n.read + n.sent}
}

// key identifies a node by what can happen behind it.
func (s *search) key(n *node) [16]byte {
	b := s.scratch[:0]
	for _, v := range n.value {
		b = binary.AppendVarint(b, v)
	}
	b = binary.AppendUvarint(b, uint64(n.read))
	b = binary.AppendUvarint(b, uint64(n.sent))
	b = append(b, byte(min(n.silent, 255)))
	if n.up {
		b = append(b, 1)
	}
	for _, frame := range n.held {
		b = binary.AppendUvarint(b, uint64(frame)+2)
	}
	s.scratch = b
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

func event(m *model.Machine, kind model.EventKind) *model.Event {
	for _, ev := range m.Events {
		if ev.Kind == kind {
			return ev
		}
	}
	return nil
}

func (s *search) messageEvent(msg *model.Message) *model.Event {
	for _, ev := range s.machine.Events {
		if ev.Kind == model.EventMessage && ev.Message == msg {
			return ev
		}
	}
	return nil
}
