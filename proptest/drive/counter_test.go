package drive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// TestCounterexamples repeats with real drivers the shortest run to each violated safety claim of
// every shipped specification and variant, or of one check in six unless tests have all the time
// they want.
func TestCounterexamples(t *testing.T) {
	files, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	checks, done, strange, skipped := 0, 0, 0, map[string]int{}
	for _, file := range files {
		full, list := compile.Load(file, compile.Options{})
		if full == nil {
			t.Fatal(list)
		}
		for _, c := range full.Checks {
			if len(c.Expect) == 0 {
				continue // nothing is violated
			}
			if checks++; !race.Some(checks, 6) {
				continue
			}
			p, _ := compile.Load(file, compile.Options{Check: c.Name})
			i := slices.IndexFunc(p.Checks, func(x *model.Check) bool { return x.Name == c.Name })
			s, err := check.New(p, p.Checks[i])
			if err != nil {
				t.Fatal(err)
			}
			o := explore.Options{MaxConfigurations: 1_500}
			if race.Nightly() {
				o.MaxConfigurations = 200_000
			}
			report, err := s.Run(context.Background(), o, full)
			if err != nil {
				t.Fatal(err)
			}
			for k := range report.Claims {
				cl := &report.Claims[k]
				if cl.Counterexample == nil || cl.Counterexample.Loop > 0 {
					continue
				}
				why, err := reproduce(t, p, p.Checks[i], cl)
				switch name := filepath.ToSlash(file) + " " + c.Name + "." + cl.Name; {
				case err != nil:
					t.Errorf("%s: %v\n%s", name, err, cl.Counterexample.Text())
				case why != "":
					skipped[why]++
					t.Logf("%s: %s", name, why)
				default:
					done++
					if p.Checks[i].HasHostile() {
						strange++
					}
				}
			}
		}
	}
	t.Logf("%d runs were done again, %d of them with hostile instances; not done: %v", done, strange, skipped)
	if done < race.Draws(6, 25) || strange < race.Draws(1, 2) {
		t.Errorf("only %d runs were done again, %d of them with hostile instances", done, strange)
	}
}

// reproduce repeats a run with drivers. If drivers cannot do what the run does, why says why. The
// error says where the drivers differ from the world, or from the run.
func reproduce(t *testing.T, p *model.Protocol, c *model.Check, cl *check.ClaimReport) (why string, err error) {
	set, err := settle(p, c, 0)
	if err != nil {
		return "", err
	}
	f := &set.World.Rules.Faults
	f.Overtake, f.Break, f.Return, f.Partition = -1, 1000, -1, 1000
	f.Torn = c.Faults != nil && !c.Faults.Atomic
	for range c.Instances {
		f.Crash, f.Restart = append(f.Crash, 100), append(f.Restart, 100)
	}
	for k := range set.World.Rules.Channels {
		set.World.Rules.Channels[k].Overtakes = true
		if c.Faults != nil {
			set.World.Rules.Channels[k].Lossy, set.World.Rules.Channels[k].Duplicates = true, true
		}
	}
	list := cl.Counterexample.Steps
	late(set, list)
	var now atomic.Int64 // the step at hand; drivers look at it
	set.make = func(i int, machine string) (fsm.Runner, error) {
		a, err := newActor(p, set.Parties[i].Machine, machine, set.World.Rules.Deferred[i], 0)
		return &timed{a, func(alarm int) uint32 {
			at := int(now.Load())
			for k := at + 1; k < len(list); k++ {
				if list[k].Kind == run.Timer && list[k].Who == i && a.expires(&list[k]) == alarm {
					return uint32(k - at)
				}
			}
			return 1 << 20 // never
		}}, err
	}
	synctest.Test(t, func(*testing.T) {
		r := newPlay(set)
		defer r.stop()
		for i := range list {
			now.Store(int64(i))
			if err = r.again(&list[i], p.Tick); err != nil {
				break
			}
			if r.over && i < len(list)-1 {
				err = errors.New("it ends before")
				break
			}
		}
		switch {
		case errors.Is(err, errLeft):
			why, err = "drivers cannot follow", nil
		case err == nil && why == "" && list[len(list)-1].Fault != "" && !r.over:
			err = fmt.Errorf("the last step is no error: %s", list[len(list)-1].Fault)
		case err == nil && why == "" && !r.over:
			err = r.ended(c, cl.Counterexample.End)
		}
		if err != nil {
			err = fmt.Errorf("%w, after\n%s", err, r)
		}
	})
	return why, err
}

// late finds the links that come up some time after the start. Nothing is sent on them before.
func late(s *setting, list []run.Step) {
	for k := range s.World.Rules.Links {
		l := &s.World.Rules.Links[k]
		up, early := map[int]bool{}, false
		for i := range list {
			for _, e := range [2][2]int{{l.A, l.B}, {l.B, l.A}} {
				x := &list[i]
				if x.Who != e[0] {
					continue
				}
				if x.Kind == run.Restart {
					up[e[0]] = false
				}
				if x.Kind == run.LinkUp && x.From == e[1] {
					up[e[0]] = true
				}
				early = early || !up[e[0]] && slices.ContainsFunc(x.Sent,
					func(m run.Sent) bool { return m.To == e[1] })
			}
		}
		l.Late = !early && l.Untold == [2]bool{}
	}
}

// timed is a machine whose timers take as long as it takes to the step in which they expire.
type timed struct {
	*actor
	ticks func(alarm int) uint32
}

func (x *timed) Effect(i int) fsm.Effect {
	e := x.actor.Effect(i)
	if e.Kind == fsm.StartTimer {
		e.Ticks = x.ticks(stage.AlarmOf(x.alarms, &x.effects[i]))
	}
	return e
}

// expires returns the number of the timer that expires in a step.
func (a *actor) expires(x *run.Step) int {
	return slices.IndexFunc(a.alarms, func(t stage.Alarm) bool {
		return string(interp.AppendEvent(nil, a.strs, t.Event)) == x.Event
	})
}

// again repeats a step of a run.
func (r *play) again(x *run.Step, tick time.Duration) error {
	timer := func() error { time.Sleep(max(tick, 1)); return nil }
	if x.Kind == run.Timer {
		if _, err := r.act("wait for "+x.Event, timer); err != nil {
			return err
		}
		if len(r.seen) != 1 || r.seen[0].Who != x.Who {
			return fmt.Errorf("not only %s of %d expires: %v", x.Event, x.Who, r.seen)
		}
		return nil
	}
	if _, err := r.act("wait", timer); err != nil {
		return err
	}
	if len(r.seen) > 0 {
		return fmt.Errorf("a timer expires before its time: %v", r.seen)
	}
	if x.Who >= 0 && !r.hostile(x.Who) && !r.seats[x.Who].started && !r.seats[x.Who].down && x.Kind != run.Start {
		// Runs leave out a start that does nothing.
		if err := r.start(x.Who); err != nil {
			return err
		}
	}
	if x.Kind == run.Offer || x.Kind == run.Clock || x.Kind == run.Beat {
		return nil // a driver has done so at once; timers run until the step in which they expire
	}
	moves, err := r.Moves(r.c, x)
	if err != nil {
		return err
	}
	for _, mv := range moves {
		if x.Kind == run.LinkUp && !r.waits(x.Who, x.From) && !r.wanted(mv) {
			return nil // a driver has heard so at once
		}
		if err := r.perform(op{mv, r.limit(mv)}); err != nil {
			return err
		}
		if mv.Torn > 0 && !r.seats[x.Who].down {
			return errors.New("the step is not cut short")
		}
	}
	if x.Kind == run.Command && !strings.HasPrefix(r.log[len(r.log)-1], " ") {
		return errors.New("the command is refused")
	}
	return nil
}

// wanted reports whether a move delivers the question for a link.
func (r *play) wanted(mv stage.Move) bool {
	return mv.Kind == world.MoveDeliver && r.queues[mv.Channel][mv.At].news == world.Ask
}

// limit returns how much goes out of a step that a crash cuts short. It is nil if no crash does.
func (r *play) limit(mv stage.Move) *limits {
	if mv.Torn == 0 {
		return nil
	}
	n := mv.Torn - 1
	mv.Torn = 0
	t, err := r.World.Do(r.c, mv)
	if err != nil {
		return nil
	}
	l := &limits{who: t.Who}
	for _, s := range t.Sends[:n] {
		switch s.Item.News {
		case world.NoNews:
			l.frames++
		case world.Cut:
			l.closes++
		}
	}
	return l
}

// ended compares the states of the machines with those at the end of the run.
func (r *play) ended(c *model.Check, end []string) error {
	for i, p := range r.Parties {
		state := c.Instances[i].Name + ": " + p.States[r.c.Values[i][0]].Name
		same := func(line string) bool { return strings.HasPrefix(line, state) }
		if !r.c.Ends[i].Down && !r.hostile(i) && !slices.ContainsFunc(end, same) {
			return fmt.Errorf("%s, and not as in %q", state, end)
		}
	}
	return nil
}
