package gotest

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// rehearsal does a run with the interpreter, on the machines that the test will drive: a check may
// explore smaller machines than the specification's own.
type rehearsal struct {
	*stage.Stage
	now *stage.Configuration
}

// possible reports whether the run is one of the machines of full and shows there what it shows in
// the check, whose model is p: with the same constants, or if the machines end with the same
// values.
func possible(full, p *model.Protocol, cl *check.ClaimReport) bool {
	end, ok := rehearse(full, p.Checks[0], cl)
	if !ok || slices.EqualFunc(full.Consts, p.Consts, func(a, b *model.Const) bool { return a.Value == b.Value }) {
		return ok
	}
	small, ok := rehearse(p, p.Checks[0], cl)
	return ok && slices.Equal(end, small)
}

// rehearse does the run of a claim with the machines of a model and tells what they hold at the end.
func rehearse(p *model.Protocol, c *model.Check, cl *check.ClaimReport) (end []string, ok bool) {
	s, err := stage.New(p, c)
	if err != nil {
		return nil, false
	}
	const often = 255
	rules, n := s.World.Rules, len(s.Parties)
	rules.Faults = world.Faults{Lose: -1, Duplicate: -1, Overtake: -1, Break: -1,
		Crash: slices.Repeat([]int{often}, n), Restart: slices.Repeat([]int{often}, n)}
	for k := range rules.Channels { // what the run says may happen, may
		ch := &rules.Channels[k]
		ch.Lossy, ch.Duplicates, ch.Overtakes = true, true, true
	}
	rules.Links = slices.DeleteFunc(rules.Links, func(l world.Link) bool { return !s.Parties[l.A].Linked() && !s.Parties[l.B].Linked() })
	r := &rehearsal{s, s.World.Begin(s.Values())}
	steps := cl.Counterexample.Steps
	for i := range s.Parties {
		told := slices.ContainsFunc(steps, func(m run.Step) bool { return m.Kind == run.Start && m.Who == i })
		if !told && !r.do(stage.Move{Kind: world.MoveStart, Who: i}, false) { // one that does nothing
			return nil, false
		}
	}
	for i := range steps {
		last := i == len(steps)-1 && cl.Kind == "built-in" && slices.Contains(wrong, cl.Name)
		mv, ok := r.move(&steps[i])
		if !ok || !r.do(mv, last) {
			return nil, false
		}
	}
	for i, p := range s.Parties {
		end = append(end, string(interp.AppendMachine(nil, s.Strings, p.Machine, r.now.Values[i])))
	}
	return end, true
}

// do takes a move; last says that it should be an error.
func (r *rehearsal) do(mv stage.Move, last bool) bool {
	t, err := r.World.Do(r.now, mv)
	if err != nil || r.Wrong != "" || (t.Fault != world.NoFault) != last {
		return false
	}
	if !last {
		r.now = t.Next
	}
	return true
}

// move is a step of the run as a move of the world.
func (r *rehearsal) move(m *run.Step) (mv stage.Move, ok bool) {
	mv = stage.Move{Who: m.Who, Peer: m.From, At: m.At}
	k := r.Channel(m.From, m.Who)
	var next world.News // what comes next from there
	if k >= 0 {
		if mv.Channel = k; len(r.now.Queues[k]) > 0 {
			next = r.now.Queues[k][0].News
		}
	}
	switch m.Kind {
	case run.Start:
		mv.Kind = world.MoveStart
	case run.Offer:
		mv.Kind = world.MoveOffer
	case run.Crash:
		mv.Kind = world.MoveCrash
	case run.Swapped:
		mv.Kind = world.MoveOvertake
	case run.LinkUp, run.LinkLost:
		mv.Kind = map[run.Kind]world.MoveKind{run.LinkUp: world.MoveUp, run.LinkLost: world.MoveLost}[m.Kind]
		if next != world.NoNews {
			mv.Kind, mv.At = world.MoveDeliver, 0
		}
	case run.Message, run.Copy, run.Lost:
		mv.Kind = map[run.Kind]world.MoveKind{run.Message: world.MoveDeliver, run.Copy: world.MoveCopy, run.Lost: world.MoveLose}[m.Kind]
		return mv, k >= 0 && m.At < len(r.now.Queues[k]) && r.now.Queues[k][m.At].Message == m.Event
	case run.Command, run.Timer:
		p := r.Parties[m.Who]
		ev, err := interp.ParseEvent(p.Machine, r.Strings, m.Event)
		if err != nil {
			return mv, false
		}
		if m.Kind == run.Command {
			mv.Kind, mv.Message = world.MoveCommand, p.Command(ev)
			return mv, true
		}
		mv.Kind = world.MoveExpire
		mv.Timer = slices.IndexFunc(p.Alarms, func(a stage.Alarm) bool {
			return string(interp.AppendEvent(nil, r.Strings, a.Event)) == string(interp.AppendEvent(nil, r.Strings, ev))
		})
	default:
		return mv, false
	}
	return mv, true
}
