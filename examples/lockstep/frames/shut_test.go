package frames_test

import (
	"maps"
	"testing"
	"testing/synctest"

	"github.com/parley-go/parley/examples/lockstep/frames"
)

// TestShut: when a match runs its program is told so once, learns who plays by which key, and can have the slots
// that nobody has stay empty. Who has lost the connection has its own again.
func TestShut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		came, ran := make(chan int, 8), make(chan bool, 8)
		tb := newTable(t, frames.ServerConfig{Seed: 7, OnCame: func(_ string, slot int) { came <- slot },
			OnRunning: func() { ran <- true }})
		players := tb.meet(came, 1, 4)
		<-ran
		keys, err := tb.server.Keys(tb.ctx)
		if err != nil || !maps.Equal(keys, map[int]uint64{1: 1, 4: 4}) {
			t.Errorf("the keys are %v, %v", keys, err)
		}
		if err := tb.server.Shut(tb.ctx); err != nil {
			t.Fatal(err)
		}
		events := make(chan frames.Event, 8)
		join := func(slot int, key uint64) *guest {
			return tb.invite(frames.ClientConfig{Slot: slot, Key: key, OnEvent: func(e frames.Event) {
				if e.Kind == frames.Seated || e.Kind == frames.Refused {
					events <- e
				}
			}})
		}
		join(6, 6)
		if e := <-events; e.Kind != frames.Refused {
			t.Errorf("a stranger sits in slot %d", e.Slot)
		}
		tb.links[1].Abort() // of slot 4
		<-players[1].done
		join(4, 5)
		if e := <-events; e.Kind != frames.Refused {
			t.Errorf("a stranger has somebody else's slot %d", e.Slot)
		}
		join(4, 4)
		if e := <-events; e.Kind != frames.Seated || e.Slot != 4 {
			t.Errorf("who comes back: %+v", e)
		}
		select {
		case <-ran:
			t.Error("it begins to run again")
		default:
		}
	})
}
