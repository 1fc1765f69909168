package campaign

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// replay takes moves one after the other, passing over those that are not possible. It returns the
// moves up to where the run shows what is wanted, nil if it does not. see, if set, sees each move.
func (p *Player) replay(moves []move, want *Violation, see func(mv *move, t *taken)) []move {
	p.see = see
	defer func() { p.see = nil }()
	c, bad := p.start()
	for ; bad != nil && !bad.same(want); bad = p.judge.judge(c) {
	}
	if bad.same(want) {
		return p.run
	}
	for _, mv := range moves {
		next, bad, ok := p.try(c, mv, false)
		for ; ok && bad != nil && next != nil && !bad.same(want); bad = p.judge.judge(next) {
		}
		switch {
		case !ok:
			continue
		case bad.same(want):
			return p.run
		case next == nil:
			return nil
		}
		c = next
	}
	if (want.Kind == AtEnd || want.Kind == NeverComes) && p.halts(c) && p.ends(c).same(want) {
		return p.run
	}
	return nil
}

// halts reports whether nothing happens any more that has to.
func (p *Player) halts(c *configuration) bool {
	if p.over(c) {
		return true
	}
	for _, x := range slices.Clone(p.classes(c, true)) {
		for _, mv := range p.members(c, x) {
			if _, err := p.world.Do(c, mv); err == nil {
				return false
			}
		}
	}
	return true
}

// Shrink makes a run that shows v as short as it gets by leaving out moves: what is left
// shows v, and does not if any one move is left out (delta debugging: Zeller, Hildebrandt 2002).
// most bounds how often the run is tried. Nothing of this is counted.
func (p *Player) Shrink(run []move, v *Violation, most int) []move {
	defer func(c Counts) { p.Counts = c }(p.Counts.own())
	best := slices.Clone(p.replay(run, v, nil))
	tries := 0
	try := func(moves []move) bool {
		if tries++; tries > most {
			return false
		}
		got := p.replay(moves, v, nil)
		if got == nil {
			return false
		}
		best = slices.Clone(got)
		return true
	}
	for size := max(len(best)/2, 1); ; {
		removed := false
		for at := 0; at < len(best); {
			if n := len(best); try(slices.Delete(slices.Clone(best), at, min(at+size, n))) {
				removed = true
			} else {
				at += size
			}
		}
		switch {
		case tries > most, size == 1 && !removed && !p.whole(&best, try):
			return best
		case size > 1:
			size /= 2
		}
	}
}

// whole makes steps of a run whole that are torn, where that makes no difference.
func (p *Player) whole(best *[]move, try func([]move) bool) (changed bool) {
	for at := 0; at < len(*best); at++ {
		if (*best)[at].Torn == 0 {
			continue
		}
		moves := slices.Clone(*best)
		moves[at].Torn = 0
		changed = try(moves) || changed
	}
	return changed
}

// Tell has the checker repeat a run that shows v, and tells it as the checker does.
func (p *Player) Tell(moves []move, v *Violation) (*run.Run, error) {
	var list []system.Move
	if p.replay(moves, v, func(mv *move, t *taken) { list = append(list, p.told(mv, t)) }) == nil {
		return nil, fmt.Errorf("%s: the run of %s does not show it again", v.Claim, diag.Counted(len(moves), "move"))
	}
	r, err := p.claims.Repeat(list, v.Claim)
	if err == nil && v.Kind == Differs {
		r.Problem = "✗ " + v.Claim + ": " + v.Why
	}
	return r, err
}

// told is a move in the bytes of the checker.
func (p *Player) told(mv *move, t *taken) system.Move {
	out := system.Move{Move: world.Move[string]{Kind: mv.Kind, Who: mv.Who, Peer: mv.Peer, Channel: mv.Channel,
		At: mv.At, Timer: mv.Timer, Set: mv.Set, Torn: mv.Torn}}
	switch mv.Kind {
	case world.MoveCommand:
		c := &p.parties[mv.Who].commands[mv.Message]
		out.Event, out.Message = c.event, c.text
	case world.MoveForge:
		out.Message = string(p.judge.bytes(mv.Message))
	case world.MoveExpire:
		out.Event = p.parties[mv.Who].Alarms[mv.Timer].Event
	}
	if t.Fault == world.Overflow {
		x := t.Sends[t.Gone[len(t.Gone)-1]]
		k := p.world.Rules.Channel(t.Who, x.To, x.Class)
		out.Overflow = &explore.Send{Channel: k, Msg: p.judge.bytes(x.Item.Message)}
	}
	if t.Next == nil {
		return out
	}
	c := t.Next
	out.After = &world.Configuration[interp.Value, string]{Split: c.Split, Splits: c.Splits, Beats: c.Beats}
	for i := range c.Ends {
		e := &c.Ends[i]
		n := world.End[string]{Started: e.Started, Down: e.Down, Absent: e.Absent,
			Waiting: e.Waiting, Up: e.Up, Asked: e.Asked,
			Broken: e.Broken, Cutoff: e.Cutoff,
			Told: e.Told, Heard: e.Heard, Left: e.Left, Crashes: e.Crashes, Restarts: e.Restarts, Comes: e.Comes,
			Returns: e.Returns}
		for _, h := range e.Held {
			n.Held = append(n.Held, world.Held[string]{From: h.From, Message: string(p.judge.bytes(h.Message))})
		}
		out.After.Ends = append(out.After.Ends, n)
		out.After.Values = append(out.After.Values, p.parties[i].values[c.Values[i]])
	}
	for _, q := range c.Queues {
		var list []world.Item[string]
		for _, x := range q {
			item := world.Item[string]{News: x.News, Number: x.Number, Heard: x.Heard}
			if x.News == world.NoNews {
				item.Message = string(p.judge.bytes(x.Message))
			}
			list = append(list, item)
		}
		out.After.Queues = append(out.After.Queues, list)
	}
	return out
}
