package drive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/draw"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/sim"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/world"
)

// follower reads the records of all machines of a simulated run, in the order in which the lines
// were written, and makes each line a move of the world.
type follower struct {
	*setting
	now   *stage.Configuration
	log   []string
	over  bool // the world has seen a fault
	err   error
	lines int
	// returns counts the links that came back.
	returns int
	// comes counts those who came, goes those who went.
	comes, goes int
}

// line is the sink for the record of one machine.
type line struct {
	f *follower
	i int
}

func (l line) Begin(trace.Header) {}
func (l line) Flush() error       { return nil }

func (l line) Step(s *trace.Step) {
	f := l.f
	if s.Kind == trace.Closed && string(s.Note) == "it has ended and goes" && f.err == nil && !f.over {
		f.going(l.i)
	}
	if f.err != nil || f.over || s.Kind == trace.Closed {
		return // after a fault a driver closes the link, which is its own affair
	}
	f.lines++
	again := map[bool]string{true: "again"}[s.Again]
	f.log = append(f.log, fmt.Sprintf("%v %d %s %s %s %v%s",
		s.At, l.i, s.Kind, again, s.Event, s.Code, s.Problem))
	f.err = f.step(l.i, s)
}

// step makes the move of one line.
func (f *follower) step(i int, s *trace.Step) error {
	p := f.Parties[i]
	j := slices.IndexFunc(f.Parties, func(q *stage.Party) bool {
		return q != p && f.peer(i, slices.Index(f.Parties, q)) == s.Peer
	})
	mv := stage.Move{Who: i, Peer: j}
	switch s.Kind {
	case trace.Start:
		if mv.Kind = world.MoveStart; f.now.Ends[i].Down {
			for k := range f.now.Queues { // what came while nobody was there
				if err := f.drain(k, i); err != nil {
					return err
				}
			}
			t, err := f.World.Do(f.now, stage.Move{Kind: world.MoveCome, Who: i})
			if err != nil {
				return err
			}
			f.now, f.comes = t.Next, f.comes+1
		}
	case trace.Up:
		return f.up(i, j, s)
	case trace.Lost:
		return f.lost(i, j, s)
	case trace.Message:
		if !s.Again {
			name, _, _ := strings.Cut(string(s.Event), "{")
			at := slices.IndexFunc(f.protocol.Messages, func(m *model.Message) bool { return m.Name == name })
			return f.arrive(j, i, f.protocol.Messages[at].Channel, s, func(x world.Item[string]) bool {
				return x.News == world.NoNews && x.Message == string(s.Event)
			})
		}
		mv.Kind = world.MoveOffer
	case trace.Timeout, trace.Command:
		ev, err := interp.ParseEvent(p.Machine, f.Strings, string(s.Event))
		if err != nil {
			return err
		}
		if mv.Kind, mv.Message = world.MoveCommand, p.Command(ev); s.Kind == trace.Timeout {
			mv.Kind = world.MoveExpire
			mv.Timer = slices.IndexFunc(p.Alarms, func(a stage.Alarm) bool {
				return a.Event.Event == ev.Event && slices.Equal(a.Event.Args, ev.Args)
			})
		}
		if _, err := f.World.Do(f.now, mv); s.Kind == trace.Command && s.Code == fsm.Refused && err != nil {
			return nil
		}
	default:
		return fmt.Errorf("a line is %s", s.Kind)
	}
	return f.do(i, mv, s)
}

// going makes the move of one that goes.
func (f *follower) going(i int) {
	t, err := f.World.Do(f.now, stage.Move{Kind: world.MoveGo, Who: i})
	if f.err = err; err == nil {
		f.now, f.goes = t.Next, f.goes+1
	}
}

// up makes the moves for a link that comes up, for the first time or again after it was lost.
func (f *follower) up(i, j int, s *trace.Step) error {
	if err := errors.Join(f.forget(i, j), f.forget(j, i)); err != nil {
		return err
	}
	e, bit := &f.now.Ends[i], uint64(1)<<j
	k, asks := f.Channel(j, i), func(x world.Item[string]) bool { return x.News == world.Ask }
	if e.Waiting&bit == 0 && e.Broken&bit != 0 && !slices.ContainsFunc(f.now.Queues[k], asks) {
		for len(f.now.Queues[k]) > 0 { // that the other end has lost it, too
			if err := f.unheard(stage.Move{Kind: world.MoveDeliver, Channel: k}); err != nil {
				return err
			}
		}
		t, err := f.World.Do(f.now, stage.Move{Kind: world.MoveReturn, Who: i, Peer: j})
		if err != nil {
			return err
		}
		f.now, f.returns = t.Next, f.returns+1
		e = &f.now.Ends[i]
	}
	switch {
	case e.Waiting&bit != 0:
		return f.do(i, stage.Move{Kind: world.MoveUp, Who: i, Peer: j}, s)
	case f.untold(i, j) && (e.Asked&bit != 0 || !slices.ContainsFunc(f.now.Queues[k], asks)):
		return nil
	}
	for len(f.now.Queues[k]) > 0 {
		mv := stage.Move{Kind: world.MoveDeliver, Channel: k}
		if f.now.Queues[k][0].News == world.Ask {
			return f.do(i, mv, s)
		}
		if err := f.unheard(mv); err != nil {
			return err
		}
	}
	return errors.New("nobody asks for the link in the world")
}

// forget drops what lies from j to i beside a link that is lost at both ends, in channels that keep order and lose
// nothing. The others are left: what is in them may still be heard.
func (f *follower) forget(i, j int) error {
	if (f.now.Ends[i].Up|f.now.Ends[i].Waiting)>>j&1 != 0 || (f.now.Ends[j].Up|f.now.Ends[j].Waiting)>>i&1 != 0 {
		return nil
	}
	for _, x := range f.now.Queues[f.Channel(j, i)] {
		if x.News == world.Ask {
			return nil // who has asked since has closed the link again
		}
	}
	for k, ch := range f.World.Rules.Channels {
		if ch.From != j || ch.To != i || k == f.Channel(j, i) || ch.Order == world.Any || ch.Lossy {
			continue
		}
		for len(f.now.Queues[k]) > 0 {
			if err := f.unheard(stage.Move{Kind: world.MoveDeliver, Channel: k}); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain makes the deliveries of a link to one who is not there.
func (f *follower) drain(k, i int) error {
	ch := &f.World.Rules.Channels[k]
	if ch.To != i || !f.now.Ends[i].Down || f.link(ch.From, i).Datagrams {
		return nil
	}
	if k != f.Channel(ch.From, i) && (ch.Order == world.Any || ch.Lossy) {
		return nil // it may still come
	}
	for len(f.now.Queues[k]) > 0 {
		if err := f.unheard(stage.Move{Kind: world.MoveDeliver, Channel: k}); err != nil {
			return err
		}
	}
	return nil
}

// unheard makes a delivery that the machine does not see.
func (f *follower) unheard(mv stage.Move) error {
	t, err := f.World.Do(f.now, mv)
	if err != nil || t.What != world.Dropped {
		return fmt.Errorf("the machine should have heard what comes before: %v, %w", t.What, err)
	}
	f.now = t.Next
	return nil
}

// lost makes the moves for a link that is lost, and for the messages that are lost with it.
func (f *follower) lost(i, j int, s *trace.Step) error {
	if string(s.Note) == transport.ErrSilent.Error() {
		return f.do(i, stage.Move{Kind: world.MoveLost, Who: i, Peer: j}, s)
	}
	k := f.Channel(j, i)
	if err := f.drain(f.Channel(i, j), j); err != nil {
		return err
	}
	for len(f.now.Queues[k]) > 0 {
		first := f.now.Queues[k][0].News
		mv := stage.Move{Kind: world.MoveDeliver, Channel: k}
		switch {
		case (first == world.Cut || first == world.Reset) && f.now.Ends[i].Asked>>j&1 == 0:
			return f.do(i, mv, s)
		case first == world.NoNews:
			t, err := f.World.Do(f.now, stage.Move{Kind: world.MoveTail, Channel: k})
			if err != nil {
				return fmt.Errorf("something else comes before the link is lost: %w", err)
			}
			f.now = t.Next
		default:
			if err := f.unheard(mv); err != nil {
				return err
			}
		}
	}
	return errors.New("no link is lost in the world")
}

// arrive delivers the item that a line is about. Items before it that must be lost are lost first.
func (f *follower) arrive(j, i, class int, s *trace.Step, is func(world.Item[string]) bool) error {
	k, news := f.World.Rules.Channel(j, i, class), f.Channel(j, i)
	ch := &f.World.Rules.Channels[k]
	for f.now.Ends[i].Asked>>j&1 != 0 && len(f.now.Queues[news]) > 0 { // up to the answer nothing is heard
		if err := f.unheard(stage.Move{Kind: world.MoveDeliver, Channel: news}); err != nil {
			return err
		}
	}
	at := slices.IndexFunc(f.now.Queues[k], is)
	if at < 0 {
		return errors.New("that is not under way in the world")
	}
	mv := stage.Move{Kind: world.MoveDeliver, Channel: k, At: at}
	for ; at > 0 && (ch.Order == world.Fifo || f.now.Queues[k][at].News != world.NoNews); at-- {
		first := stage.Move{Kind: world.MoveLose, Channel: k}
		if f.now.Queues[k][0].News != world.NoNews { // nobody hears that somebody asked before it was lost again
			first.Kind = world.MoveDeliver
		}
		t, err := f.World.Do(f.now, first)
		if err == nil && first.Kind == world.MoveDeliver && t.What != world.Dropped {
			err = fmt.Errorf("%v of the link is heard", f.now.Queues[k][0].News)
		}
		if err != nil {
			return fmt.Errorf("something else comes before it: %w in %v", err, f.now.Queues[k])
		}
		f.now, mv.At = t.Next, at-1
	}
	if ch.Duplicates && f.now.Queues[k][mv.At].News == world.NoNews && (ch.Order == world.Any || ch.Lossy) {
		mv.Kind = world.MoveCopy // it may come again
	}
	return f.do(i, mv, s)
}

// do makes a move and compares the result with the line.
func (f *follower) do(i int, mv stage.Move, s *trace.Step) error {
	t, err := f.World.Do(f.now, mv)
	if err != nil {
		return fmt.Errorf("it does %v, which is no move of the world: %w", mv, err)
	}
	if fault := len(s.Problem) > 0; fault != (t.Fault != world.NoFault) {
		return fmt.Errorf("it says %q, the world %v %s", s.Problem, t.Fault, t.Why)
	} else if fault {
		f.over = true
		return nil
	}
	f.now = t.Next
	if state := f.Parties[i].States[t.Value[0]].Name; t.What == world.Dropped || t.Code != s.Code ||
		state != s.After {
		return fmt.Errorf("it is %v and in %s, in the world %v, %v and in %s", s.Code, s.After, t.What, t.Code, state)
	}
	return nil
}

// ended compares the machines at the end of a run.
func (f *follower) ended(runners []fsm.Runner) error {
	for i, r := range runners {
		if f.now.Ends[i].Down {
			continue
		}
		want := string(interp.AppendMachine(nil, f.Strings, f.Parties[i].Machine, f.now.Values[i]))
		if got := string(r.AppendMachine(nil)); got != want {
			return fmt.Errorf("instance %d is %s, in the world %s", i, got, want)
		}
	}
	for k, q := range f.now.Queues {
		ch := &f.World.Rules.Channels[k]
		heard := (f.now.Ends[ch.To].Up|f.now.Ends[ch.To].Waiting)>>ch.From&1 != 0
		if f.now.Ends[ch.To].Asked>>ch.From&1 != 0 || f.setting.comes(ch.To) && f.link(ch.From, ch.To).Datagrams {
			continue // up to the answer nothing is heard; nor are datagrams where nobody is
		}
		l := f.link(ch.From, ch.To)
		stray := l != nil && ch.Class != l.Class && ch.Order == world.Any // sent before the link was lost
		if len(q) > 0 && heard && l != nil && !ch.Lossy && !ch.Duplicates && !stray {
			return fmt.Errorf("nothing is under way, in the world still %v from %d to %d", q, ch.From, ch.To)
		}
	}
	return nil
}

// simulated runs a random specification in the simulator.
func simulated(seed uint64) (f *follower, err error) {
	r := rand.New(rand.NewPCG(seed, 3))
	beside := ""
	if seed%3 == 0 {
		beside = draw.Besides[seed/3%uint64(len(draw.Besides))]
	}
	s, text, err := randomSetting(r, false, beside, 0)
	if err != nil {
		return nil, err
	}
	rules, lossy := s.World.Rules, r.IntN(3) == 0
	rules.Faults, rules.Time = world.Faults{Lose: -1, Duplicate: -1, Break: -1, Return: -1}, nil
	for k := range rules.Channels {
		ch := &rules.Channels[k]
		ch.Capacity, ch.Overtakes, ch.Lossy = 1<<30, false, ch.Lossy || lossy
	}
	for k := range rules.Links {
		ch := &rules.Channels[rules.Links[k].Class] // those from one to another are next to each other
		rules.Links[k].Late, rules.Links[k].Datagrams = false, ch.Order == world.Any || ch.Lossy
	}
	f = &follower{setting: s, now: s.World.Begin(s.Values())}
	var runners []fsm.Runner
	scenario := &sim.Scenario{
		Name:       "random",
		Lossy:      lossy,
		Partitions: 1,
		Chaos:      2 * time.Second,
		Pace:       60 * time.Millisecond,
		MaxEvents:  400,
		Worst: impair.Faults{
			Loss: 0.3, Duplicate: 0.3, Reorder: 0.3,
			Late: 100 * time.Millisecond, Delay: 100 * time.Millisecond, Jitter: 200 * time.Millisecond,
			Rate: 200, Queue: 50,
		},
	}
	if n := len(s.Parties); len(rules.Links) == n*(n-1)/2 { // what machines ignore is no link of the world
		scenario.Breaks, scenario.Drift = 3, 0.5
		if sound(rules) > 1 { // as checks refuse it
			scenario.Breaks = 0
		}
	}
	scenario.Setup = func(w *sim.World) {
		for i, p := range s.Parties {
			x, e := s.make(i, string(interp.AppendMachine(nil, s.Strings, p.Machine, p.Begin)))
			if e != nil {
				err = e
				return
			}
			var commands []sim.Command[fsm.Runner]
			for _, c := range s.commands[i] {
				commands = append(commands, sim.Command[fsm.Runner]{Do: func(_ *sim.World, r fsm.Runner) fsm.Result {
					res, e := r.(fsm.Commander).Command(c)
					if e != nil {
						panic(e)
					}
					return res
				}})
			}
			runners = append(runners, x)
			id := sim.Add(w, fmt.Sprint(i), x, driver.Options[fsm.Runner]{}, commands...)
			begin := x.(*actor).value
			w.Comes(id, rules.Come[i], func() { x.(*actor).value = slices.Clone(begin) })
		}
		for i := range s.Parties {
			for j := range i {
				w.Connect(sim.ID(i), sim.ID(j), s.peer(i, j), s.peer(j, i))
			}
		}
		w.Goal = func() bool { return true }
	}
	res := scenario.Run(seed, func(name string) trace.Sink { return line{f, int(name[0] - '0')} })
	if err = errors.Join(err, f.err); err == nil && res.Failure == nil && !f.over {
		err = f.ended(runners)
	}
	if err == nil && f.over && res.Failure == nil {
		err = errors.New("the world sees a fault, and the run has none")
	}
	if err != nil {
		err = fmt.Errorf("%w, after\n%s\nwith links %+v, held %v, channels %+v\n%s",
			err, strings.Join(f.log, "\n"), rules.Links, rules.Deferred, rules.Channels[:2], text)
	}
	return f, err
}

// TestSimulated draws specifications and simulated runs. Each must be a run of the world.
func TestSimulated(t *testing.T) {
	lines, over, returns, runs := 0, 0, 0, draws(race.Draws(300, 1000))
	comes, goes := 0, 0
	for seed := range runs {
		f, err := simulated(uint64(seed))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		lines, returns = lines+f.lines, returns+f.returns
		comes, goes = comes+f.comes, goes+f.goes
		if f.over {
			over++
		}
	}
	t.Logf("%d runs, %d lines, %d links came back, %d came and %d went; %d ended with a fault",
		runs, lines, returns, comes, goes, over)
	if returns < runs/200 || comes < runs/20 || goes < runs/40 {
		t.Error("too few links came back, or too few parties came and went")
	}
}
