package probe

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/world"
)

// pair is two transitions of the program that follow each other.
type pair struct{ first, then *model.Transition }

// coverage is which transitions of the program's machine were seen, and which of them one after the other.
type coverage struct {
	all   []*model.Transition
	taken map[*model.Transition]bool
	pairs map[pair]bool
	whole int // how many pairs there are by their states
}

// newCoverage is of the transitions that a machine handles something in. What it ignores nobody can see, and a passive
// program gives no commands.
func newCoverage(m *model.Machine, passive bool) *coverage {
	c := &coverage{taken: map[*model.Transition]bool{}, pairs: map[pair]bool{}}
	for _, t := range m.Transitions {
		if t.Mode == model.Handle && !(passive && t.Event.Kind == model.EventCommand) {
			c.all = append(c.all, t)
		}
	}
	for _, a := range c.all {
		for _, b := range c.all {
			if follows(a, b) {
				c.whole++
			}
		}
	}
	return c
}

// follows reports whether b may come right after a, by their states.
func follows(a, b *model.Transition) bool {
	if b.Event.Kind == model.EventStart {
		return false
	}
	to := a.To
	if to == nil {
		to = a.From
	}
	return to == b.From
}

// add counts what a run takes, and reports how much of it is new.
func (c *coverage) add(order []*model.Transition) (fresh int) {
	var last *model.Transition
	for _, t := range order {
		if !slices.Contains(c.all, t) {
			continue
		}
		if !c.taken[t] {
			c.taken[t] = true
			fresh++
		}
		if last != nil && follows(last, t) && !c.pairs[pair{last, t}] {
			c.pairs[pair{last, t}] = true
			fresh++
		}
		last = t
	}
	return fresh
}

// left are the transitions that were not seen.
func (c *coverage) left() (list []*model.Transition) {
	for _, t := range c.all {
		if !c.taken[t] {
			list = append(list, t)
		}
	}
	return list
}

// vain is something that the program might do by itself and has not done when it was waited for.
type vain struct {
	state string
	event string
}

// planner looks for acts that bring the program to what is not covered.
type planner struct {
	*game
	covered *coverage
	vain    map[vain]int
	passive bool // the program does nothing by itself
	most    int  // moves that are looked at for one plan
	looked  int
	// hopeless are questions to which there was no answer.
	hopeless map[string]bool
	key      []byte
}

// How often the program is waited for to do something by itself: in one state, and anywhere if it never has.
const (
	timesInVain = 1
	timesAtAll  = 6
)

// inVain notes that the program was waited for in vain.
func (p *planner) inVain(v vain) {
	p.vain[v]++
	p.vain[vain{event: v.event}]++
}

// idle reports whether nobody waits any more for the program to do something.
func (p *planner) idle(v vain) bool {
	return p.vain[v] >= timesInVain || p.vain[vain{event: v.event}] >= timesAtAll || p.passive
}

// step is a configuration of a plan and the move that led there.
type planned struct {
	c      *configuration
	last   *model.Transition // of the program
	move   move
	parent int
}

// goal says what a plan is to reach.
type goal uint8

const (
	newTransition goal = iota
	newPair
)

// way says which ways are looked for, from the surest on: on which we alone act, each time when everything has arrived;
// on which the program does something by itself, too; and on which what is under way is overtaken.
type way uint8

const (
	alone way = iota
	together
	crossing
	ways
)

// plan looks for the nearest goal from some configurations. It returns the acts, and the last thing that is expected of
// the program itself.
func (p *planner) plan(from []*configuration, last *model.Transition, g goal, w way) ([]act, *vain) {
	var nodes []planned
	seen, start := map[string]bool{}, p.looked
	question := fmt.Sprint(g, w, len(p.covered.taken), len(p.vain))
	if g == newPair {
		question += fmt.Sprint(" ", len(p.covered.pairs))
	}
	add := func(n planned) {
		k := p.keyOf(&n, g)
		if !seen[k] {
			seen[k] = true
			nodes = append(nodes, n)
		}
	}
	for _, c := range from {
		n := planned{c: c, last: last, parent: -1}
		add(n)
		question += p.keyOf(&n, g)
	}
	if p.hopeless[question] {
		return nil, nil
	}
	leave := len(p.us) > 1 && p.role(p.they).Mentions(model.EventLost)
	for i := 0; i < len(nodes) && p.looked-start < p.most; i++ {
		at := nodes[i]
		busy := w != crossing && !at.c.Quiet()
		for mv, t := range p.world.Moves(at.c) {
			if !p.may(at.c, mv, busy, w) || t.Next == nil {
				continue
			}
			p.looked++
			if p.stage.Wrong != "" {
				p.stage.Wrong = ""
				continue
			}
			n := planned{c: t.Next, last: at.last, move: mv, parent: i}
			if t.Who == p.they && t.What == world.Stepped {
				for _, x := range p.players[p.they].Fired() {
					if g == newTransition && slices.Contains(p.covered.all, x) && !p.covered.taken[x] ||
						g == newPair && n.last != nil && follows(n.last, x) && slices.Contains(p.covered.all, x) &&
							!p.covered.pairs[pair{n.last, x}] {
						return p.acts(append(nodes, n))
					}
					n.last = x
				}
			}
			add(n)
		}
		for _, who := range p.us {
			if leave && !busy && at.c.Ends[who].Up>>p.they&1 != 0 && at.c.Ends[p.they].Up>>who&1 != 0 {
				mv := move{Kind: world.MoveHangup, Who: who}
				add(planned{c: p.left(at.c, who), last: at.last, move: mv, parent: i})
			}
		}
	}
	p.hopeless[question] = true
	return nil, nil
}

// left is a configuration after an instance of ours has closed its connection.
func (p *planner) left(c *configuration, who int) *configuration {
	next := *c
	next.Ends, next.Queues = slices.Clone(c.Ends), slices.Clone(c.Queues)
	next.Ends[who].Up &^= 1 << p.they
	k := p.queue(who, p.they, p.protocol.News())
	next.Queues[k] = append(slices.Clip(next.Queues[k]), world.Item[string]{News: world.Cut})
	return &next
}

// may reports whether a move is one that a plan takes.
func (p *planner) may(c *configuration, mv move, busy bool, w way) bool {
	if !p.plays(mv.Who) {
		return false
	}
	switch mv.Kind {
	case world.MoveDeliver, world.MoveOffer, world.MoveUp, world.MoveStart:
		return true
	case world.MoveCommand, world.MoveExpire:
		if busy {
			return false
		}
		return mv.Who != p.they || w != alone && !p.idle(vain{p.state(p.they, c.Values[p.they]), p.event(mv)})
	}
	return false
}

// event is the name of the command or timer of a move.
func (p *planner) event(mv move) string {
	if mv.Kind == world.MoveExpire {
		return p.players[mv.Who].Alarms[mv.Timer].Name
	}
	return word(mv.Message)
}

// keyOf identifies what can happen after a node.
func (p *planner) keyOf(n *planned, g goal) string {
	b := p.key[:0]
	for i := range n.c.Values {
		for _, v := range n.c.Values[i] {
			b = binary.AppendVarint(b, v)
		}
		e := &n.c.Ends[i]
		b = binary.AppendUvarint(binary.AppendUvarint(b, e.Up), e.Waiting)
		for _, h := range e.Held {
			b = append(append(b, h.Message...), 0)
		}
		for _, l := range e.Left {
			b = binary.AppendVarint(b, int64(l.Most))
		}
		b = append(b, 1)
	}
	for _, q := range n.c.Queues {
		for _, x := range q {
			b = append(append(append(b, byte(x.News)), x.Message...), 0)
		}
		b = append(b, 2)
	}
	if g == newPair && n.last != nil {
		b = binary.AppendVarint(b, int64(n.last.ID))
	}
	p.key = b
	return string(b)
}

// acts turns the way to the last node into acts of ours. What the program does by itself on the way is waited for.
func (p *planner) acts(nodes []planned) (list []act, expects *vain) {
	var path []int
	for n := len(nodes) - 1; n >= 0; n = nodes[n].parent {
		path = append(path, n)
	}
	slices.Reverse(path)
	waits := false
	for i, n := range path {
		if i == 0 && nodes[n].parent < 0 {
			continue
		}
		at := nodes[nodes[n].parent].c
		mv := nodes[n].move
		own := mv.Kind == world.MoveCommand || mv.Kind == world.MoveExpire
		switch {
		case mv.Kind == world.MoveHangup:
			if waits {
				list = append(list, act{kind: wait})
				waits = false
			}
			list = append(list, act{kind: hangUp, who: mv.Who})
		case own && mv.Who == p.they:
			waits = true
			expects = &vain{p.state(p.they, at.Values[p.they]), p.event(mv)}
		case own:
			if waits {
				list = append(list, act{kind: wait, cross: p.waits(at, p.they, mv.Who)})
				waits = false
			}
			text := mv.Message
			if mv.Kind == world.MoveExpire {
				a := p.players[mv.Who].Alarms[mv.Timer]
				text = string(interp.AppendEvent(nil, p.strs, a.Event))
			}
			cross := p.waits(at, p.they, mv.Who)
			for _, i := range p.us {
				cross = cross || p.waits(at, i, p.they)
			}
			list = append(list, act{kind: event, who: mv.Who, text: text, cross: cross && len(list) > 0})
		}
	}
	if waits {
		list = append(list, act{kind: wait})
	}
	return list, expects
}
