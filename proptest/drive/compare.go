package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// compare compares the drivers and the network with the configuration of the world.
func (r *play) compare() error {
	if r.full {
		if r.waitsForRoom() {
			return errLeft
		}
		return errors.New("a channel is full, and the world goes on")
	}
	for k, q := range r.queues {
		var got, want []string
		for _, x := range q {
			got = append(got, r.text(r.World.Rules.Channels[k].To, x))
		}
		for _, x := range r.c.Queues[k] {
			if x.News != world.NoNews {
				want = append(want, x.News.String())
			} else {
				want = append(want, x.Message)
			}
		}
		if !slices.Equal(got, want) {
			ch := &r.World.Rules.Channels[k]
			return fmt.Errorf("from %d to %d %q are under way, in the world %q", ch.From, ch.To, got, want)
		}
	}
	for i, s := range r.seats {
		if !s.started || s.down {
			continue
		}
		// A driver that has lost a link may still send there. It reports that and does nothing else.
		s.failures(r.blamed(i))
		errs := s.failures(func(e *driver.Error) bool {
			lost := func(k [2]int) bool { return k[0] == i && r.peer(i, k[1]) == e.Peer }
			return e.Kind == driver.NoLink && slices.ContainsFunc(slices.Collect(maps.Keys(r.lost)), lost)
		})
		if len(errs) > 0 {
			return fmt.Errorf("instance %d: %v; the world goes on", i, errs[0])
		}
		if s.blames != s.wanted {
			return fmt.Errorf("instance %d has refused %d frames of hostile ones, in the world %d",
				i, s.blames, s.wanted)
		}
		if err := r.compareSeat(i); err != nil {
			return fmt.Errorf("instance %d: %w", i, err)
		}
	}
	return nil
}

func (r *play) compareSeat(i int) error {
	s, p, e := r.seats[i], r.Parties[i], &r.c.Ends[i]
	var machine string
	read := func(f fsm.Runner) { machine = string(f.AppendMachine(nil)) }
	if err := r.quiet(i).Read(context.Background(), read); err != nil {
		return err
	}
	if want := string(interp.AppendMachine(nil, r.Strings, p.Machine, r.c.Values[i])); machine != want {
		return fmt.Errorf("the machine is %s, in the world %s", machine, want)
	}
	if n := s.recorded.Load(); r.record && n != int64(s.handled) {
		return fmt.Errorf("%d messages are recorded, in the world there were %d", n, s.handled)
	}
	for j := range r.seats {
		open := (e.Up|e.Waiting)>>j&1 != 0 && !r.waits(i, j)
		if l := r.link(i, j); l != nil && r.hostile(j) && open != (s.ends[j] != nil) {
			return fmt.Errorf("the link to %d is there: %v, in the world: %v", j, s.ends[j] != nil, open)
		}
	}
	saved := r.snapshot(i)
	var got, want []string
	for _, d := range saved.Deferred {
		for j := range r.seats {
			if j != i && r.peer(i, j) == d.Peer {
				got = append(got, fmt.Sprintf("%d: %s", j, r.text(i, item{frame: d.Frame, class: d.Channel,
					phase: int(d.Phase)})))
			}
		}
	}
	for _, h := range e.Held {
		want = append(want, fmt.Sprintf("%d: %s", h.From, h.Message))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%q are held, in the world %q", got, want)
	}
	got, want = nil, nil
	for _, t := range saved.Timers {
		left := 0
		if r.World.Rules.Time != nil {
			// A link that lingers may take a millisecond of the bubble's clock.
			left = int((t.Left + r.protocol.Tick/2) / r.protocol.Tick)
		}
		got = append(got, fmt.Sprintf("%s[%d] for %d", s.inner.Info().Timers[t.ID], t.Key, left))
	}
	for k, left := range e.Left {
		if left.Runs() {
			want = append(want, fmt.Sprintf("%s[%d] for %d", p.Alarms[k].Name, p.Alarms[k].Key, left.Most))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%q run, in the world %q", got, want)
	}
	return nil
}
