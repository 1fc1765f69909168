package campaign

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// Repeat takes the steps of a run of a check, such as one that a campaign has written, and tells what
// they violate, as the checker repeats them; nothing if they violate nothing. The error says which
// step is not possible. compare, if set, gives what the machines are compared with, as in Options.
func (c *Campaign) Repeat(r *run.Run, compare Compare) ([]Finding, error) {
	at := 0
	for at < len(c.Checks) && c.Checks[at].Name != r.Check {
		at++
	}
	if at == len(c.Checks) {
		return nil, fmt.Errorf("the run is one of the check %q, which the specification has not", r.Check)
	}
	p, err := c.compared(at, compare)
	if err != nil {
		return nil, err
	}
	found, err := p.take(r)
	if err != nil {
		return nil, err
	}
	var list []Finding
	moves := slices.Clone(p.run)
	for _, v := range found {
		f := Finding{Claim: v.Claim, Expected: p.check.Expects(v.Claim), Runs: 1, Moves: len(moves)}
		if f.Run, err = p.Tell(moves, v); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// take takes the steps of a run.
func (p *Player) take(r *run.Run) (found []*Violation, err error) {
	c, bad := p.start()
	note := func() {
		for ; bad != nil; bad = p.judge.judge(c) {
			if found = append(found, bad); bad.Kind == StepFault {
				return
			}
		}
	}
	note()
	for n := range r.Steps {
		impossible := func(why any) error {
			return fmt.Errorf("step %d of the run, %s, is not possible: %v", n+1, r.Steps[n].Event, why)
		}
		if c == nil {
			return nil, impossible("the step before it is an error")
		}
		list, err := p.stage.Moves(p.staged(c), &r.Steps[n])
		if err != nil {
			return nil, impossible(err)
		}
		mv, err := p.own(&list[0]) // the start of one that begins again follows by itself
		if err != nil {
			return nil, impossible(err)
		}
		next, v, ok := p.try(c, mv, false)
		if !ok {
			return nil, impossible("the machines, the environment or the faults of the check do not let it happen")
		}
		c, bad = next, v
		note()
	}
	if c != nil && p.halts(c) {
		if v := p.ends(c); v != nil {
			found = append(found, v)
		}
	}
	return found, nil
}

// staged is a configuration with the values and messages of the stage.
func (p *Player) staged(c *configuration) *stage.Configuration {
	out := &stage.Configuration{Split: c.Split, Splits: c.Splits, Beats: c.Beats, Spent: c.Spent}
	for i := range c.Ends {
		e := &c.Ends[i]
		out.Ends = append(out.Ends, world.End[string]{Started: e.Started, Down: e.Down, Absent: e.Absent,
			Waiting: e.Waiting,
			Up:      e.Up, Asked: e.Asked})
		out.Values = append(out.Values, p.parties[i].values[c.Values[i]])
	}
	for _, q := range c.Queues {
		var list []world.Item[string]
		for _, x := range q {
			item := world.Item[string]{News: x.News, Number: x.Number}
			if x.News == world.NoNews {
				item.Message = p.alphabet.texts[x.Message]
			}
			list = append(list, item)
		}
		out.Queues = append(out.Queues, list)
	}
	return out
}

// own is a move of the stage as one of the player.
func (p *Player) own(mv *stage.Move) (move, error) {
	out := move{Kind: mv.Kind, Who: mv.Who, Peer: mv.Peer, Channel: mv.Channel, At: mv.At, Timer: mv.Timer,
		Set: mv.Set, Torn: mv.Torn}
	if mv.Kind == world.MoveForge {
		out.Message = p.alphabet.number(p.stage, mv.Message)
	}
	if mv.Kind != world.MoveCommand {
		return out, nil
	}
	k := slices.IndexFunc(p.parties[mv.Who].commands, func(c command) bool { return c.text == mv.Message })
	if k < 0 {
		return out, fmt.Errorf("the check does not give this command")
	}
	out.Message = letter(k)
	return out, nil
}
