package match_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// door is one in memory.
type door chan transport.Link

func (d door) Accept(ctx context.Context) (transport.Link, error) {
	select {
	case l := <-d:
		return l, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// room is a host and who plays there, in a bubble of synctest: time is virtual.
type room struct {
	t               *testing.T
	ctx             context.Context
	host            *match.Host
	control, frames door
	back            door
	seed            uint64
	faults          impair.Faults

	mu      sync.Mutex
	results map[uint32][]match.Result // by seed
	played  map[string]int            // matches to the end, by name
	links   map[string][]transport.Link
}

func newRoom(t *testing.T, cfg match.HostConfig) *room {
	r := &room{t: t, control: make(door), frames: make(door), back: make(door),
		results: map[uint32][]match.Result{},
		played:  map[string]int{}, links: map[string][]transport.Link{}}
	cfg.Control, cfg.Frames, cfg.Back, cfg.Place = r.control, r.frames, r.back, 1
	var err error
	if r.host, err = match.NewHost(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.ctx = ctx
	done := make(chan error, 1)
	go func() { done <- r.host.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// dial calls the host, over links that are as slow as the room has them.
func (r *room) dial(name string) func(context.Context, uint16) (transport.Link, error) {
	return func(ctx context.Context, place uint16) (transport.Link, error) {
		here, there := mem.Pair(mem.Config{Stream: true})
		r.mu.Lock()
		r.seed++
		seed := r.seed
		r.links[name] = append(r.links[name], here)
		r.mu.Unlock()
		near, err := impair.New(here, impair.Config{Seed: seed, Faults: r.faults})
		if err != nil {
			return nil, err
		}
		far, err := impair.New(there, impair.Config{Seed: seed + 1<<32, Faults: r.faults})
		if err != nil {
			return nil, err
		}
		d := r.control
		switch place {
		case 1:
			d = r.frames
		case match.Back:
			d = r.back
		}
		select {
		case d <- far:
			return near, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// sit has a bot play; the channel gets what Run returns.
func (r *room) sit(name string, matches int, more ...func(*match.PlayerConfig)) (*match.Player, chan error) {
	cfg := match.PlayerConfig{Name: name, Dial: r.dial(name), Auto: true, Matches: matches,
		Source: (*game.State).Advice,
		OnMatch: func(res match.Result) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.results[res.Seed] = append(r.results[res.Seed], res)
			if res.Err == nil && res.State.Phase == game.Over {
				r.played[name]++
			}
		}}
	for _, f := range more {
		f(&cfg)
	}
	p := match.NewPlayer(cfg)
	done := make(chan error, 1)
	go func() { done <- p.Run(r.ctx) }()
	return p, done
}

// same fails if players of one match have not come to the same end.
func (r *room) same() (matches int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for seed, list := range r.results {
		first := -1
		for i, res := range list {
			if res.Err != nil || res.Left {
				continue
			}
			if first < 0 {
				first = i
				matches++
			} else if res.Sum != list[first].Sum {
				r.t.Errorf("match %d: slots %d and %d have come to another end", seed, res.Slot, list[first].Slot)
			}
		}
	}
	return matches
}

// Bots play matches one after the other, all agree each time, and come to the same end.
func TestMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 3, Settings: match.Settings{Arena: 2, Rounds: 2, Bots: 2}})
		r.faults = impair.Faults{Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}
		var ends []chan error
		for i := range 3 {
			_, done := r.sit(fmt.Sprint("bot", i), 3)
			ends = append(ends, done)
		}
		for i, done := range ends {
			if err := <-done; err != nil {
				t.Errorf("player %d: %v", i, err)
			}
		}
		if n := r.same(); n != 3 {
			t.Errorf("%d matches, not 3", n)
		}
		for _, list := range r.results {
			s := &list[0].State
			if len(list) != 3 || s.Arena != 2 || s.Rounds != 2 || s.Slots.Len() != 5 || s.Bots.Len() != 2 {
				t.Errorf("%d results, %d rounds in arena %d, %d of %d bots", len(list), s.Rounds, s.Arena,
					s.Bots.Len(), s.Slots.Len())
			}
		}
	})
}

// If the host goes in the middle of a match, everybody plays it to its end against bots.
func TestHostGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 3, Settings: match.Settings{Rounds: 2, Bots: 1}})
		var ends []chan error
		for i := range 3 {
			_, done := r.sit(fmt.Sprint("bot", i), 2, func(c *match.PlayerConfig) { c.Alone = true })
			ends = append(ends, done)
		}
		time.Sleep(9 * time.Second) // virtual: they fight
		r.host.Kill()
		for i, done := range ends {
			if err := <-done; !errors.Is(err, match.ErrHost) {
				t.Errorf("player %d: %v", i, err)
			}
		}
		for _, list := range r.results {
			for _, res := range list {
				if res.State.Phase != game.Over || !errors.Is(res.Err, match.ErrHost) || res.State.Bots.Len() != 3 {
					t.Errorf("slot %d: %v, phase %d, %d bots", res.Slot, res.Err, res.State.Phase,
						res.State.Bots.Len())
				}
			}
		}
		if len(r.results) != 1 {
			t.Errorf("%d matches", len(r.results))
		}
	})
}

// Two play duels one after the other, in step with each other and to the same last frame, and strangers at the door
// disturb them no more than they can.
func TestDuel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Settings: match.Settings{Rounds: 2, Bots: 2}})
		r.faults = impair.Faults{Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}
		_, ann := r.sit("Ann", 2)
		_, bob := r.sit("Bob", 2)
		strange, cancel := context.WithCancel(r.ctx)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for strange.Err() == nil {
					if l, err := r.dial("x")(strange, 1); err == nil {
						l.Send(0, []byte("whatever one may say"))
						l.Flush()
						l.Receive(make([]byte, 1))
						l.Abort()
					}
					time.Sleep(50 * time.Millisecond) // virtual
				}
			})
		}
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		cancel()
		all.Wait()
		if n := r.same(); n != 2 || r.played["Ann"] != 2 || r.played["Bob"] != 2 {
			t.Errorf("%d duels, played %v", n, r.played)
		}
		for seed, list := range r.results {
			if s := &list[0].State; seed&64 == 0 || len(list) != 2 || s.Slots.Len() != 4 || s.Bots.Len() != 2 {
				t.Errorf("seed %x: %d results, slots %b, bots %b", seed, len(list), s.Slots, s.Bots)
			}
		}
	})
}

// Who looks on at a duel sees it from its beginning to its end, whenever it comes, and holds nobody up.
func TestDuelWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Settings: match.Settings{Rounds: 2, Bots: 1}})
		r.faults = impair.Faults{Delay: 20 * time.Millisecond, Jitter: 20 * time.Millisecond}
		_, ann := r.sit("Ann", 1)
		_, bob := r.sit("Bob", 1)
		time.Sleep(8 * time.Second) // virtual: they fight
		ctx, cancel := context.WithCancel(r.ctx)
		first, sum, names := uint32(0), uint32(0), [game.Players]string{}
		w := match.Watcher{Dial: func(ctx context.Context) (transport.Link, error) { return r.dial("w")(ctx, 1) },
			OnFrame: func(s *game.State, who *match.Roster) {
				if names = who.Names; first == 0 {
					first = s.Frame
				}
				if s.Phase == game.Over && sum == 0 {
					sum = s.Checksum()
				}
			}}
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(time.Second)
		var shown atomic.Int32
		for range 14 { // more than may look on: strangers
			l, err := r.dial("x")(r.ctx, 1)
			if err != nil {
				t.Fatal(err)
			}
			l.Send(0, make([]byte, 8))
			l.Flush()
			go func() { // they read once, and no more
				if got, _ := l.Receive(make([]byte, 100)); got.N > 0 {
					shown.Add(1)
				}
			}()
		}
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		cancel()
		<-done
		if shown := shown.Load(); shown != 11 {
			t.Errorf("%d strangers may look on beside one, not 11", shown)
		}
		if n := r.same(); n != 1 || first != 1 {
			t.Errorf("%d duels, seen from frame %d", n, first)
		}
		for _, list := range r.results {
			for _, res := range list {
				if res.Sum != sum || names[res.Slot] == "" {
					t.Errorf("slot %d has come to %08x, and who looks on to %08x with the names %q", res.Slot, res.Sum,
						sum, names)
				}
			}
		}
	})
}

// A duel is recorded, and the recording comes to the same end, also if one of the two goes and the other plays on.
func TestDuelRecorded(t *testing.T) {
	for _, after := range []time.Duration{time.Hour, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Patience: 5 * time.Second,
				Settings: match.Settings{Rounds: 2, Bots: 1}})
			var file bytes.Buffer
			_, ann := r.sit("Ann", 1, func(c *match.PlayerConfig) {
				c.Record = func() *frames.Recorder { rec, _ := frames.NewRecorder(&file); return rec }
			})
			killed, bob := r.sit("Bob", 1)
			time.AfterFunc(after, killed.Kill)
			if err := <-ann; err != nil {
				t.Error(err)
			}
			<-bob
			var last game.State
			_, err := frames.Play(&file, match.Playback(func(s *game.State, _ *match.Roster) {
				if last.Phase != game.Over {
					last = *s
				}
			}), nil)
			for _, list := range r.results {
				for _, res := range list {
					if res.Err == nil && (err != nil || last.Checksum() != res.Sum) {
						t.Errorf("%v: %v, the recording ends in %+v", after, err, last.Tanks)
					}
				}
			}
			if bots := last.Bots.Len(); r.played["Ann"] != 1 || (bots == 2) != (after == 9*time.Second) {
				t.Errorf("%v: played %v, %d bots", after, r.played, bots)
			}
		})
	}
}

// Who is left alone in a duel plays it to its end, whether the other one leaves before it or in it.
func TestDuelLeft(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond, 3 * time.Second,
		8 * time.Second, 15 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Patience: 5 * time.Second,
					Settings: match.Settings{Rounds: 2, Bots: 2}})
				_, ann := r.sit("Ann", 1)
				killed, bob := r.sit("Bob", 1)
				time.Sleep(after)
				killed.Kill()
				<-bob
				_, cy := r.sit("Cy", 1) // with whom Ann plays if there was no match yet
				if err := <-ann; err != nil || r.played["Ann"] != 1 {
					t.Errorf("%v, played %v", err, r.played)
				}
				r.host.Kill()
				<-cy
			})
		})
	}
}

// Who agrees to a duel and never comes to it is not waited for longer than the host's patience.
func TestDuelHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Patience: 5 * time.Second,
			Settings: match.Settings{Rounds: 1, Bots: 1}})
		_, ann := r.sit("Ann", 1)
		_, bob := r.sit("Bob", 1, func(c *match.PlayerConfig) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, place uint16) (transport.Link, error) {
				if place != 0 {
					<-ctx.Done()
				}
				return dial(ctx, place)
			}
		})
		select {
		case err := <-ann:
			if err != nil || r.played["Ann"] != 1 {
				t.Errorf("%v, played %v", err, r.played)
			}
		case <-time.After(10 * time.Minute): // virtual
			t.Error("Ann waits for Bob")
		}
		r.host.Kill()
		<-bob
	})
}

// If the host of a duel goes another one goes on with the match.
func TestDuelGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Settings: match.Settings{Rounds: 2}})
		var saved *match.Saved
		_, ann := r.sit("Ann", 1, func(c *match.PlayerConfig) { c.OnLost = func(s *match.Saved) { saved = s } })
		_, bob := r.sit("Bob", 1)
		time.Sleep(8 * time.Second)
		r.host.Kill()
		if x, y := <-ann, <-bob; !errors.Is(x, match.ErrHost) || !errors.Is(y, match.ErrHost) || saved == nil {
			t.Fatalf("%v, %v, saved %v", x, y, saved != nil)
		}
		next := newRoom(t, match.HostConfig{Resume: saved, Duel: true})
		_, ann = next.sit("Ann", 1, func(c *match.PlayerConfig) {
			c.Auto, c.Saved, c.Wish = false, saved, saved.Slot+1
		})
		if err := <-ann; err != nil || next.played["Ann"] != 1 || next.results[saved.Seed] == nil {
			t.Errorf("%v, played %v", err, next.played)
		}
	})
}

// If the host goes in the middle of a match another one goes on with it: those who come there have their tanks again,
// bots drive those of the others, and all come to the same end.
func TestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newRoom(t, match.HostConfig{Least: 3, Settings: match.Settings{Rounds: 3, Bots: 1}})
		var saved [3]*match.Saved
		var ends []chan error
		var slots [3]int
		for i := range 3 {
			_, done := old.sit(fmt.Sprint("bot", i), 2, func(c *match.PlayerConfig) {
				c.OnLost = func(s *match.Saved) { saved[i] = s }
				c.Source = func(s *game.State, slot int) game.Input { slots[i] = slot; return s.Advice(slot) }
			})
			ends = append(ends, done)
		}
		time.Sleep(9 * time.Second) // virtual: they fight
		old.host.Kill()
		for i, done := range ends {
			if err := <-done; !errors.Is(err, match.ErrHost) || saved[i] == nil || saved[i].Slot != slots[i] {
				t.Fatalf("player %d: %v, saved %+v", i, err, saved[i])
			}
		}
		again := newRoom(t, match.HostConfig{Resume: saved[1]})
		again.faults = impair.Faults{Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}
		saved[2] = &match.Saved{Seed: saved[2].Seed, Slot: saved[2].Slot, Key: saved[2].Key,
			Marks: saved[2].Marks} // it gets the match from the other one
		first, ends := [3]uint32{}, nil
		for _, i := range []int{2, 1} { // the one who has the match need not come first
			_, done := again.sit(fmt.Sprint("bot", i), 1, func(c *match.PlayerConfig) {
				c.Auto, c.Saved, c.Wish = false, saved[i], saved[i].Slot+1
				c.Source = func(s *game.State, slot int) game.Input {
					if first[i] == 0 {
						first[i] = s.Frame
					}
					if slot != saved[i].Slot {
						t.Errorf("%d is in slot %d and not %d", i, slot, saved[i].Slot)
					}
					return s.Advice(slot)
				}
			})
			ends = append(ends, done)
			time.Sleep(time.Second)
		}
		if err := errors.Join(<-ends[0], <-ends[1]); err != nil {
			t.Error(err)
		}
		if n := again.same(); n != 1 || again.played["bot1"] != 1 || again.played["bot2"] != 1 {
			t.Errorf("%d matches, played %v", n, again.played)
		}
		for seed, list := range again.results {
			s := &list[0].State
			if seed != saved[1].Seed || first[1] < 200 || first[2] < first[1] || s.Slots.Len() != 4 ||
				s.Bots.Len() != 2 || !s.Bots.Has(slots[0]) {
				t.Errorf("seed %d of %d, from frames %v, slots %b, bots %b", seed, saved[1].Seed, first, s.Slots,
					s.Bots)
			}
		}
	})
}

// If nobody comes who has the match that a host wants to go on with, those who come play another one.
func TestGoesOnWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Resume: &match.Saved{Seed: 1 << 7, Slot: 3, There: 1 << 3}})
		_, ann := r.sit("Ann", 1)
		if err := <-ann; err != nil || r.same() != 1 || r.played["Ann"] != 1 {
			t.Errorf("%v, played %v", err, r.played)
		}
	})
}

// Who leaves in a match is driven on by a bot, and who hangs is not waited for longer than the host's patience.
func TestLeftAndHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 4, Patience: 5 * time.Second, Settings: match.Settings{Rounds: 3}})
		_, first := r.sit("bot0", 1)
		_, second := r.sit("bot1", 1)
		killed, gone := r.sit("bot2", 1)
		_, hangs := r.sit("hangs", 1, func(c *match.PlayerConfig) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, place uint16) (transport.Link, error) {
				if place != 0 { // it never comes to the match
					<-ctx.Done()
				}
				return dial(ctx, place)
			}
		})
		time.Sleep(11 * time.Second) // virtual: they have waited for the one who hangs, and fight
		killed.Kill()
		<-gone
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
		if r.same() != 1 || r.played["bot0"] != 1 || r.played["bot1"] != 1 {
			t.Errorf("played %v", r.played)
		}
		for _, list := range r.results {
			for _, res := range list {
				if s := &res.State; res.Err == nil && (s.Slots.Len() != 3 || s.Bots.Len() != 1) {
					t.Errorf("slot %d: %d of %d are bots", res.Slot, s.Bots.Len(), s.Slots.Len())
				}
			}
		}
		r.host.Kill()
		<-hangs
	})
}

// campaign plays matches in which somebody dies at any moment, and says how many were played to the end.
func campaign(t *testing.T, seed uint64) (matches int) {
	synctest.Test(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		n := 2 + rnd.IntN(4)
		r := newRoom(t, match.HostConfig{Patience: 5 * time.Second, Duel: seed%3 == 0,
			Hesitation: 5 * time.Second, Settings: match.Settings{Arena: rnd.IntN(4), Rounds: 1, Bots: rnd.IntN(3)}})
		r.seed = seed << 16
		r.faults = impair.Faults{Delay: time.Duration(rnd.IntN(60)) * time.Millisecond,
			Jitter: time.Duration(rnd.IntN(40)) * time.Millisecond}
		if rnd.IntN(4) == 0 {
			r.faults = impair.Faults{} // everything at once: other orders than with delays
		}
		var ends []chan error
		players := make([]*match.Player, n)
		for i := range n {
			p, done := r.sit(fmt.Sprint("bot", i), 2)
			players[i] = p
			ends = append(ends, done)
			if rnd.IntN(3) == 0 {
				time.Sleep(time.Duration(rnd.IntN(12000)) * time.Millisecond) // virtual: comes later
			}
		}
		// All but the first may be killed, or lose a link, and one changes its mind about the settings.
		for i := 1; i < n; i++ {
			after := time.Duration(rnd.IntN(20000)) * time.Millisecond
			kind := rnd.IntN(4)
			go func() {
				timer := time.NewTimer(after)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-r.ctx.Done():
					return
				}
				switch kind {
				case 0:
					players[i].Kill()
				case 1:
					r.mu.Lock()
					links := r.links[fmt.Sprint("bot", i)]
					r.mu.Unlock()
					links[len(links)-1].Abort()
				case 2:
					players[i].Change(r.ctx, match.Settings{Arena: i % 4, Rounds: 1, Bots: i % 3})
				}
			}()
		}
		for i, done := range ends {
			err := <-done
			if i == 0 && err != nil {
				t.Errorf("seed %d: the one who stays: %v", seed, err)
			}
			if err != nil && !errors.Is(err, match.ErrHost) {
				t.Errorf("seed %d: player %d: %v", seed, i, err)
			}
		}
		matches = r.same()
		if r.played["bot0"] != 2 {
			t.Errorf("seed %d: the one who stays has played %d matches of 2", seed, r.played["bot0"])
		}
	})
	return matches
}

// Whoever dies, at any moment, leaves the others with a game: they play on, to the same end.
// PARLEY_MATCHES plays more of them.
func TestKilled(t *testing.T) {
	n := 12
	if v, err := strconv.Atoi(os.Getenv("PARLEY_MATCHES")); err == nil {
		n = v
	}
	matches := 0
	for seed := range uint64(n) {
		if matches += campaign(t, 1+seed); t.Failed() {
			t.Fatalf("with seed %d", 1+seed)
		}
	}
	t.Logf("%d matches in %d rooms, none stuck, none out of step", matches, n)
}

// A stranger cannot sit down in a match where nobody had a place when it began, and so cannot stop it.
func TestStrangerStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 3, Settings: match.Settings{Rounds: 3, Bots: 2}})
		_, ann := r.sit("Ann", 1)
		_, bob := r.sit("Bob", 1)
		_, gus := r.sit("Gus", 1)
		var events []frames.EventKind
		call := func(slot int) {
			run, leave := context.WithTimeout(r.ctx, 5*time.Second)
			defer leave()
			for run.Err() == nil {
				link, err := r.dial("x")(run, 1)
				if err != nil {
					return
				}
				c := frames.NewClient(frames.ClientConfig{Slot: slot, Key: 5,
					Game: match.Playback(func(*game.State, *match.Roster) {}),
					OnEvent: func(e frames.Event) {
						if e.Kind == frames.Seated || e.Kind == frames.Refused {
							events = append(events, e.Kind)
							leave()
						}
					}})
				c.Run(run, link)
				time.Sleep(10 * time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		call(6)
		if err := errors.Join(<-ann, <-bob, <-gus); err != nil {
			t.Error(err)
		}
		if len(events) != 1 || events[0] != frames.Refused {
			t.Errorf("the stranger was told %v, not %v", events, frames.Refused)
		}
		if r.same() != 1 || len(r.played) != 3 {
			t.Errorf("not all have played to the end: %v", r.played)
		}
	})
}

// Strangers who are at the door for frames before the players, with keys of their own, take nobody's place, and those
// who look on leave room for the players.
func TestStrangerFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Settings: match.Settings{Rounds: 1, Bots: 2}})
		late := func(c *match.PlayerConfig) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, place uint16) (transport.Link, error) {
				if place != 0 {
					time.Sleep(3 * time.Second) // virtual: strangers have all the time that they need
				}
				return dial(ctx, place)
			}
		}
		first, ann := r.sit("Ann", 1, late)
		_, bob := r.sit("Bob", 1, late)
		ctx, cancel := context.WithCancel(r.ctx)
		var all sync.WaitGroup
		var mu sync.Mutex
		ends := map[error]int{}
		for i := range 40 {
			all.Go(func() {
				for slot := max(-1, i-38); ctx.Err() == nil; {
					link, err := r.dial("x")(ctx, 1)
					if err != nil {
						return
					}
					c := frames.NewClient(frames.ClientConfig{Slot: slot, Key: uint64(i),
						Game: match.Playback(func(*game.State, *match.Roster) {})})
					err = c.Run(ctx, link)
					mu.Lock()
					ends[err]++
					mu.Unlock()
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
		for range 100 {
			if time.Sleep(100 * time.Millisecond); first.View(false).Phase == match.Playing {
				break
			}
		}
		if first.View(false).Phase != match.Playing {
			t.Error("strangers keep the players from the match")
		}
		cancel()
		all.Wait()
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		if ends[frames.ErrTaken] == 0 || r.same() != 1 || len(r.played) != 2 {
			t.Errorf("strangers: %v; played to the end: %v", ends, r.played)
		}
	})
}

// Who does not agree holds nobody up: the others play, and who hesitated plays in the next match.
func TestHesitates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Hesitation: 7 * time.Second, Settings: match.Settings{Rounds: 1, Bots: 1}})
		idle, hesitates := r.sit("Idle", 1, func(c *match.PlayerConfig) { c.Auto = false })
		time.Sleep(time.Second)
		_, ann := r.sit("Ann", 1)
		time.Sleep(5 * time.Second)
		if v := idle.View(false); v.Phase != match.Lobby {
			t.Errorf("phase %d before it is late", v.Phase)
		}
		time.Sleep(5 * time.Second)
		if v := idle.View(false); v.Phase != match.Waiting {
			t.Errorf("phase %d when it is late", v.Phase)
		}
		if err := <-ann; err != nil || r.played["Ann"] != 1 {
			t.Errorf("%v, and %v have played", err, r.played)
		}
		time.Sleep(time.Second)
		if v := idle.View(false); v.Phase != match.Lobby || v.Names[v.Slot] != "Idle" {
			t.Errorf("after the match: phase %d, slot %d of %q", v.Phase, v.Slot, v.Names)
		}
		idle.Agree(r.ctx, true)
		if err := <-hesitates; err != nil || r.played["Idle"] != 1 {
			t.Errorf("%v, and %v have played", err, r.played)
		}
	})
}

// Who comes when all places are taken, those to wait as well, is told so, and keeps nobody from the door.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 99})
		for i := range 16 {
			r.sit(fmt.Sprint(i), 1)
		}
		time.Sleep(time.Second)
		for range 3 {
			_, late := r.sit("Late", 1)
			select {
			case err := <-late:
				if !errors.Is(err, match.ErrFull) {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("nobody tells that there is no room")
			}
		}
	})
}
