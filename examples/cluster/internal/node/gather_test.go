package node_test

import (
	"testing"
	"time"

	"github.com/parley-go/parley/examples/cluster/internal/node"
	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
)

// Of those who come for a match that goes on elsewhere, the one leads who has executed most frames; if that one is
// gone, the next.
func TestGather(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	s := c.server(c.url, node.Config{Gather: time.Minute}) // nothing happens by time alone
	keys := map[int]uint64{0: 0xA, 2: 0xB, 5: 0xC}
	if err := s.st.SaveMatch(c.ctx, "m", store.Match{Epoch: 1, Keys: keys}); err != nil {
		t.Fatal(err)
	}
	type told struct {
		frame tenure.Frame
		m     tenure.Message
	}
	answers := make(chan told)
	name, _ := tenure.NewName("m")
	for i, frame := range []tenure.Frame{20, 30, 10} {
		secret, _ := tenure.NewSecret(string(rune('a' + i)))
		join := tenure.JoinMessage{Kind: tenure.KindMatch, Game: name, Seats: 3, Frame: frame, Secret: secret}
		// Who has an answer goes when it has been heard, so that the next one cannot be heard before.
		go sayUntil(t, s.address, join, func(m tenure.Message) { answers <- told{frame, m} })
	}
	for _, want := range []tenure.Frame{30, 20, 10} {
		a := <-answers
		if a.frame != want || a.m.Kind != tenure.MessageHere || !a.m.Here.Leads {
			t.Errorf("who has seen %d is told %+v; it is the turn of who has %d", a.frame, a.m.Here, want)
		}
	}
}

// Who waits for a match when its server ends is told to come later, and is counted.
func TestWaitsInVain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.lease = calm
	s := c.server(c.url, node.Config{Gather: time.Minute})
	if err := s.st.SaveMatch(c.ctx, "m", store.Match{Epoch: 1, Keys: map[int]uint64{0: 0xA, 1: 0xB}}); err != nil {
		t.Fatal(err)
	}
	name, _ := tenure.NewName("m")
	secret, _ := tenure.NewSecret("a")
	answer := make(chan tenure.Message, 1)
	go sayUntil(t, s.address, tenure.JoinMessage{Kind: tenure.KindMatch, Game: name, Seats: 2, Secret: secret},
		func(m tenure.Message) { answer <- m })
	c.eventually("the player is let in to wait", func() bool { return s.Joins.Load() == 1 })
	s.stop()
	if m := <-answer; m.Kind != tenure.MessageLater || s.Laters.Load() != 1 {
		t.Errorf("the player is told %v, and %d are counted", m.Kind, s.Laters.Load())
	}
}
