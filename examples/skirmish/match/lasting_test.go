package match_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/lockstep/frames"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
)

// cut breaks the last link of a player, without a word.
func (r *room) cut(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links[name][len(r.links[name])-1].Abort()
}

// recorded is a recorder for the first match of a player, and ends is what playing it comes to.
func recorded(file *bytes.Buffer) func(*match.PlayerConfig) {
	return func(c *match.PlayerConfig) {
		c.Record = func() *frames.Recorder { rec, _ := frames.NewRecorder(file); return rec }
	}
}

func ends(t *testing.T, file *bytes.Buffer) uint32 {
	t.Helper()
	var last game.State
	if _, err := frames.Play(file, match.Playback(func(s *game.State, _ *match.Roster) {
		if last.Phase != game.Over {
			last = *s
		}
	}), nil); err != nil || last.Phase != game.Over {
		t.Errorf("%v, the recording ends in phase %d", err, last.Phase)
	}
	return last.Checksum()
}

// A player whose link breaks in a duel comes back, as often as it breaks, and both come to the same end. The recordings
// of both are whole, and so is the one of those who look on.
func TestDuelComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Settings: match.Settings{Rounds: 3, Bots: 1}})
		r.faults = impair.Faults{Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}
		var files [2]bytes.Buffer
		_, ann := r.sit("Ann", 1, recorded(&files[0]))
		_, bob := r.sit("Bob", 1, recorded(&files[1]))
		var seen match.End
		look, stop := context.WithCancel(r.ctx)
		w := match.Watcher{Dial: func(ctx context.Context) (transport.Link, error) { return r.dial("w")(ctx, 1) },
			OnFrame: func(*game.State, *match.Roster) {}, OnEnd: func(e match.End) { seen = e }}
		looked := make(chan error, 1)
		go func() { looked <- w.Run(look) }()
		time.Sleep(6 * time.Second)
		for range 4 {
			time.Sleep(2 * time.Second)
			r.cut("Bob")
			time.Sleep(time.Second)
			r.cut("Ann")
			r.cut("Bob")
		}
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		stop()
		<-looked
		if r.same() != 1 || r.played["Ann"] != 1 || r.played["Bob"] != 1 || len(r.links["Bob"]) < 10 {
			t.Errorf("played %v, with %d links of Bob", r.played, len(r.links["Bob"]))
		}
		for _, list := range r.results {
			for _, res := range list {
				if res.Left || res.State.Bots.Len() != 1 || seen.Left != -1 || seen.State.Checksum() != res.Sum {
					t.Errorf("slot %d is alone: %v; who looks on sees %+v", res.Slot, res.Left, seen.Left)
				}
				for i := range files {
					if sum := ends(t, bytes.NewBuffer(files[i].Bytes())); sum != res.Sum {
						t.Errorf("recording %d comes to %x, the match to %x", i, sum, res.Sum)
					}
				}
			}
		}
	})
}

// Who does not come back loses the duel: the other one is told first that it waits, and then that it has won, and so
// are those who look on.
func TestDuelNotBack(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Patience: 5 * time.Second,
				Settings: match.Settings{Rounds: 2}})
			p, ann := r.sit("Ann", 1)
			var lost atomic.Bool
			_, bob := r.sit("Bob", 1, func(c *match.PlayerConfig) {
				dial := c.Dial
				c.Dial = func(ctx context.Context, place uint16) (transport.Link, error) {
					if lost.Load() && place != 0 {
						return nil, errors.New("the network is gone")
					}
					return dial(ctx, place)
				}
				think := c.Source
				c.Source = func(s *game.State, slot int) game.Input {
					if lost.Load() && silent {
						<-r.ctx.Done() // stopped, and its links are up
					}
					return think(s, slot)
				}
			})
			var seen atomic.Pointer[match.End]
			look, stop := context.WithCancel(r.ctx)
			w := match.Watcher{Dial: func(ctx context.Context) (transport.Link, error) { return r.dial("w")(ctx, 1) },
				OnFrame: func(*game.State, *match.Roster) {}, OnEnd: func(e match.End) { seen.Store(&e) }}
			looked := make(chan error, 1)
			go func() { looked <- w.Run(look) }()
			time.Sleep(8 * time.Second)
			lost.Store(true)
			if !silent {
				r.cut("Bob")
			}
			time.Sleep(3 * time.Second)
			if v := p.View(false); v.Note != "Bob is not heard, and the duel waits ..." {
				t.Errorf("Ann is told %q", v.Note)
			}
			time.Sleep(14 * time.Second)
			if v := p.View(false); v.Note != "Bob has left the duel, so you have won it. You play on against a bot." {
				t.Errorf("Ann is told %q", v.Note)
			}
			if v := seen.Load(); v == nil || v.Left < 0 || v.Names[v.Left] != "Bob" {
				t.Errorf("who looks on is told %+v", v)
			}
			if err := <-ann; err != nil || r.played["Ann"] != 1 {
				t.Errorf("%v, played %v", err, r.played)
			}
			stop()
			<-looked
			r.host.Kill()
			if !silent {
				<-bob
			}
		})
	}
}

// The two of a duel can talk; the recording and who looks on have it, too.
func TestDuelTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Settings: match.Settings{Rounds: 2}})
		var file bytes.Buffer
		a, ann := r.sit("Ann", 1, recorded(&file))
		b, bob := r.sit("Bob", 1)
		heard := map[string]bool{}
		look, stop := context.WithCancel(r.ctx)
		w := match.Watcher{Dial: func(ctx context.Context) (transport.Link, error) { return r.dial("w")(ctx, 1) },
			OnFrame: func(_ *game.State, who *match.Roster) {
				for _, s := range who.Talk {
					heard[who.Names[s.Slot]+": "+s.Text] = true
				}
			}}
		looked := make(chan error, 1)
		go func() { looked <- w.Run(look) }()
		time.Sleep(8 * time.Second)
		if !a.Say(r.ctx, "hello") || !b.Say(r.ctx, "good luck") {
			t.Error("nobody may talk")
		}
		time.Sleep(time.Second)
		for _, p := range []*match.Player{a, b} {
			v := p.View(false)
			said := map[string]string{}
			for _, s := range v.Talk {
				said[v.Names[s.Slot]] = s.Text
			}
			if len(said) != 2 || said["Ann"] != "hello" || said["Bob"] != "good luck" {
				t.Errorf("slot %d has heard %+v", v.Slot, v.Talk)
			}
		}
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		stop()
		<-looked
		played := map[string]bool{}
		_, err := frames.Play(&file, match.Playback(func(_ *game.State, who *match.Roster) {
			for _, s := range who.Talk {
				played[who.Names[s.Slot]+": "+s.Text] = true
			}
		}), nil)
		for _, line := range []string{"Ann: hello", "Bob: good luck"} {
			if !heard[line] || !played[line] || err != nil {
				t.Errorf("%q: looking on %v, in the recording %v, %v", line, heard, played, err)
			}
		}
	})
}

// A recording goes on when the link of a match was lost and is made anew, and comes to the same end.
func TestRecordedThroughLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Settings: match.Settings{Rounds: 3, Bots: 1}})
		var file bytes.Buffer
		_, ann := r.sit("Ann", 1, recorded(&file))
		_, bob := r.sit("Bob", 1)
		for range 2 {
			time.Sleep(8 * time.Second)
			r.cut("Ann")
		}
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		if len(r.links["Ann"]) != 4 {
			t.Errorf("%d links", len(r.links["Ann"]))
		}
		sum := ends(t, &file)
		for _, list := range r.results {
			for _, res := range list {
				if res.Sum != sum {
					t.Errorf("slot %d comes to %x, the recording to %x", res.Slot, res.Sum, sum)
				}
			}
		}
	})
}
