package match_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/skirmish/match"
)

// At the next host nobody has a slot of the match that goes on but who had it: neither a stranger who comes first and
// wishes for it, nor one with a key of its own, nor another player of the match. The one whose slot it is has it then.
func TestThief(t *testing.T) {
	for _, kind := range []string{"wishes", "makes up a key", "has another slot's key"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old := newRoom(t, match.HostConfig{Least: 3, Settings: match.Settings{Rounds: 3}})
				var saved [3]*match.Saved
				var ends []chan error
				for i := range 3 {
					_, done := old.sit(fmt.Sprint("bot", i), 2, func(c *match.PlayerConfig) {
						c.OnLost = func(s *match.Saved) { saved[i] = s }
					})
					ends = append(ends, done)
				}
				time.Sleep(9 * time.Second) // virtual: they fight
				old.host.Kill()
				for _, done := range ends {
					<-done
				}
				if saved[0].Key == saved[1].Key || saved[0].Marks != saved[1].Marks {
					t.Fatalf("%+v and %+v", saved[0], saved[1])
				}
				next := newRoom(t, match.HostConfig{Resume: saved[1]})
				thief, stolen := next.sit("thief", 1, func(c *match.PlayerConfig) {
					c.Wish = saved[0].Slot + 1
					switch s := *saved[0]; kind {
					case "makes up a key":
						s.Key = 4711
						c.Saved = &s
					case "has another slot's key":
						s.Slot, s.Key = saved[2].Slot, saved[2].Key
						c.Saved = &s
					}
				})
				time.Sleep(time.Second)
				ends = nil
				for _, i := range []int{1, 0} {
					_, done := next.sit(fmt.Sprint("bot", i), 1, func(c *match.PlayerConfig) {
						c.Auto, c.Saved, c.Wish = false, saved[i], saved[i].Slot+1
					})
					ends = append(ends, done)
				}
				if err := errors.Join(<-ends[0], <-ends[1]); err != nil {
					t.Error(err)
				}
				if next.played["bot0"] != 1 || next.played["bot1"] != 1 || next.played["thief"] != 0 {
					t.Errorf("played %v", next.played)
				}
				for _, res := range next.results[saved[1].Seed] {
					if res.Slot != saved[0].Slot && res.Slot != saved[1].Slot {
						t.Errorf("somebody has played in slot %d", res.Slot)
					}
				}
				thief.Kill()
				<-stolen
			})
		})
	}
}
