package gotest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// move is one move of a run, and what lies in its channel where it takes something from there.
type move struct {
	stage.Move
	item  world.Item[string]
	frame []byte // of a message that a hostile instance sends
}

// rehearsal is a run that was done with the interpreter, on the machines that the test will drive: a
// check may explore smaller machines than the specification's own.
type rehearsal struct {
	rules  *world.Rules
	starts []bool   // by instance: the run does not tell its start
	moves  []move   // by step
	end    []string // what the machines hold
}

// possible reports whether the run is one of the machines of full and shows there what it shows in
// the check, whose model is p: with the same constants, or if the machines end with the same
// values.
func possible(full, p *model.Protocol, cl *check.ClaimReport) bool {
	there, err := rehearse(full, p.Checks[0], cl)
	if err != nil || slices.EqualFunc(full.Consts, p.Consts,
		func(a, b *model.Const) bool { return a.Value == b.Value }) {
		return err == nil
	}
	small, err := rehearse(p, p.Checks[0], cl)
	return err == nil && slices.Equal(there.end, small.end)
}

// rehearse does the run of a claim with the machines of a model.
func rehearse(p *model.Protocol, c *model.Check, cl *check.ClaimReport) (*rehearsal, error) {
	s, err := stage.New(p, c)
	if err != nil {
		return nil, err
	}
	s.Follow()
	r := &rehearsal{rules: s.World.Rules}
	now := s.World.Begin(s.Values())
	for i, p := range s.Parties {
		r.starts = append(r.starts, !c.Instances[i].IsHostile() && p.Startless())
		if !r.starts[i] || now.Ends[i].Absent {
			continue // who comes starts then
		}
		t, err := s.World.Do(now, stage.Move{Kind: world.MoveStart, Who: i})
		if err != nil {
			return nil, err
		}
		now = t.Next
	}
	steps := cl.Counterexample.Steps
	for i := range steps {
		moves, err := s.Moves(now, &steps[i])
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		var told move
		for k, mv := range moves {
			m := move{Move: mv}
			switch mv.Kind {
			case world.MoveDeliver, world.MoveCopy, world.MoveLose:
				m.item = now.Queues[mv.Channel][mv.At]
			case world.MoveForge:
				if m.frame, err = s.Frame(mv.Message); err != nil {
					return nil, err
				}
			}
			if k == 0 {
				told = m
			}
			t, err := s.World.Do(now, mv)
			last := i == len(steps)-1 && k == len(moves)-1 && cl.Kind == "built-in" && slices.Contains(wrong, cl.Name)
			switch wrong := t.Fault != world.NoFault || s.Wrong != ""; {
			case err != nil:
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			case wrong && !last:
				return nil, fmt.Errorf("step %d is an error: %s%s", i+1, t.Why, s.Wrong)
			case !wrong && last:
				return nil, errors.New("the last step is no error")
			case !wrong:
				now = t.Next
			}
		}
		r.moves = append(r.moves, told)
	}
	for i, p := range s.Parties {
		r.end = append(r.end, string(interp.AppendMachine(nil, s.Strings, p.Machine, now.Values[i])))
	}
	return r, nil
}

// looksBack reports whether a claim looks at what was, for which the check adds variables or monitors to the
// machines.
func looksBack(c *model.Claim) bool {
	return reads(c, func(r *core.Read) bool {
		return r.Var != nil && r.Var.Ghost != model.NoGhost ||
			slices.ContainsFunc(r.Path, func(s core.Step) bool { return s.Part.Monitor })
	})
}

// monitored reports whether a claim looks at a monitor of several instances.
func monitored(c *model.Claim) bool {
	return reads(c, func(r *core.Read) bool { return r.Inst != nil && r.Inst.Monitor })
}

// reads reports whether a claim looks at something of a kind. A nil claim is a built-in one.
func reads(c *model.Claim, is func(*core.Read) bool) (found bool) {
	if c == nil {
		return false
	}
	for _, e := range append([]model.Expr{c.When, c.Expr}, c.Exprs...) {
		core.Walk(core.Of(e), func(e core.Expr) {
			r, ok := e.(*core.Read)
			found = found || ok && is(r)
		})
	}
	return found
}

// torn reports whether a crash cuts a step of the counterexample short.
func torn(cl *check.ClaimReport) bool {
	return slices.ContainsFunc(cl.Counterexample.Steps, func(s run.Step) bool { return s.Torn > 0 })
}
