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
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// TestCounterexamples has real drivers do every shortest run to a violated safety claim of every
// shipped specification and variant.
func TestCounterexamples(t *testing.T) {
	files, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	done, skipped := 0, map[string]int{}
	for _, file := range files {
		full, list := compile.Load(file, compile.Options{})
		if full == nil {
			t.Fatal(list)
		}
		for _, c := range full.Checks {
			p, _ := compile.Load(file, compile.Options{Check: c.Name})
			i := slices.IndexFunc(p.Checks, func(x *model.Check) bool { return x.Name == c.Name })
			if len(p.Checks[i].Expect) == 0 {
				continue // nothing is violated
			}
			s, err := check.New(p, p.Checks[i])
			if err != nil {
				t.Fatal(err)
			}
			o := explore.Options{MaxConfigurations: 200_000}
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
				}
			}
		}
	}
	t.Logf("%d runs were done again; not done: %v", done, skipped)
}

// reproduce does a run with drivers. why says why drivers cannot do it; the error, where they and
// the world, or the run, differ.
func reproduce(t *testing.T, p *model.Protocol, c *model.Check, cl *check.ClaimReport) (why string, err error) {
	set, err := settle(p, c, 0)
	if err != nil {
		return "", err
	}
	f := &set.World.Rules.Faults
	f.Overtake, f.Break = -1, 1000
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
			if why, err = r.again(&list[i], p.Tick); err != nil || why != "" {
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

// late finds the links that come up some time after the start, so that nothing is sent before.
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
				early = early || !up[e[0]] && slices.ContainsFunc(x.Sent, func(m run.Sent) bool { return m.To == e[1] })
			}
		}
		l.Late = !early && l.Untold == [2]bool{}
	}
}

// timed is a machine whose timers run until the step of a run in which they expire.
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

// expires is the timer of the machine that a step is about.
func (a *actor) expires(x *run.Step) int {
	return slices.IndexFunc(a.alarms, func(t stage.Alarm) bool { return string(interp.AppendEvent(nil, a.strs, t.Event)) == x.Event })
}

// again does a step of a run. why says why drivers cannot do it.
func (r *play) again(x *run.Step, tick time.Duration) (why string, err error) {
	timer := func() error { time.Sleep(max(tick, 1)); return nil }
	if x.Kind == run.Timer {
		if _, err := r.act("wait for "+x.Event, timer); err != nil {
			return "", err
		}
		if len(r.seen) != 1 || r.seen[0].Who != x.Who {
			return "", fmt.Errorf("not only %s of %d expires: %v", x.Event, x.Who, r.seen)
		}
		return "", nil
	}
	if _, err := r.act("wait", timer); err != nil {
		return "", err
	}
	if len(r.seen) > 0 {
		return "", fmt.Errorf("a timer expires before its time: %v", r.seen)
	}
	if x.Who >= 0 && !r.seats[x.Who].started && !r.seats[x.Who].down && x.Kind != run.Start {
		// A start that does nothing is not told.
		if err := r.start(x.Who); err != nil {
			return "", err
		}
	}
	k, at := -1, -1
	if x.From >= 0 && x.Who >= 0 {
		k = r.channel(x.From, x.Who)
		at = r.find(k, x.Event)
	}
	switch x.Kind {
	case run.Start:
		return "", r.start(x.Who)
	case run.Command:
		if err := r.command(x.Who, x.Event); err != nil {
			return "", err
		}
		if !strings.HasPrefix(r.log[len(r.log)-1], " ") {
			return "", errors.New("the command is refused")
		}
		return "", nil
	case run.Offer:
		return "", nil // a driver has done so at once
	case run.Clock, run.Beat:
		return "", nil // timers run until the step in which they expire
	case run.Message, run.Drop, run.Copy, run.Lost:
		if at < 0 && x.Kind == run.Drop && len(r.queues[k]) > 0 && r.queues[k][0].news != world.NoNews {
			at = 0
		}
		if at < 0 {
			return "", fmt.Errorf("%s is not under way", x.Event)
		}
		switch x.Kind {
		case run.Copy:
			return "", r.deliver(k, at, world.MoveCopy)
		case run.Lost:
			if n := slices.IndexFunc(r.queues[k], func(q item) bool { return q.news == world.Reset }); n > at {
				return "", r.tail(k, n-1)
			}
			return "", r.drop(k, at)
		}
		return "", r.deliver(k, at, world.MoveDeliver)
	case run.Swapped:
		return "", r.overtake(k)
	case run.Crash:
		return "", r.crash(x.Who)
	case run.Restart:
		return "", r.restart(x.Who)
	case run.LinkUp:
		switch {
		case r.waits(x.Who, x.From):
			return "", r.up(x.Who, x.From)
		case len(r.queues[k]) > 0 && r.queues[k][0].news == world.Ask && !r.seats[x.Who].asked[x.From]:
			return "", r.deliver(k, 0, world.MoveDeliver)
		}
		return "", nil
	case run.LinkLost:
		if len(r.queues[k]) > 0 && (r.queues[k][0].news == world.Cut || r.queues[k][0].news == world.Reset) {
			return "", r.deliver(k, 0, world.MoveDeliver)
		}
		return "", r.lose(x.Who, x.From)
	}
	return "a step is " + string(x.Kind), nil
}

// find is the place of a message in a channel, -1 if it is not there.
func (r *play) find(k int, text string) int {
	from := r.World.Rules.Channels[k].From
	return slices.IndexFunc(r.queues[k], func(x item) bool { return r.text(from, x) == text })
}

// ended compares the states of the machines with what the run says of its end.
func (r *play) ended(c *model.Check, end []string) error {
	for i, p := range r.Parties {
		state := c.Instances[i].Name + ": " + p.States[r.c.Values[i][0]].Name
		if !r.c.Ends[i].Down && !slices.ContainsFunc(end, func(line string) bool { return strings.HasPrefix(line, state) }) {
			return fmt.Errorf("%s, and not as in %q", state, end)
		}
	}
	return nil
}
