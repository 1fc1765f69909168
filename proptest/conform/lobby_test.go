package conform

import (
	"testing"

	"github.com/parley-go/parley/proptest/conform/sample/lobby"
	"github.com/parley-go/parley/runtime/fsm"
)

// TestCollectionsAllocateNothing: sets, maps, queues, what is looked for in them, and messages to
// several are values on the stack.
func TestCollectionsAllocateNothing(t *testing.T) {
	fresh, err := lobby.NewServer(0)
	if err != nil {
		t.Fatal(err)
	}
	var fx lobby.ServerEffects
	events := []lobby.ServerEvent{
		{Kind: lobby.ServerReceiveJoin, From: 1}, {Kind: lobby.ServerReceiveJoin, From: 2},
		{Kind: lobby.ServerReceiveJoin, From: 3},
		{Kind: lobby.ServerReceiveSay, From: 1,
			Message: lobby.Message{Kind: lobby.MessageSay, Say: lobby.SayMessage{Word: 1}}},
		{Kind: lobby.ServerCommandTell}, {Kind: lobby.ServerReceiveLeave, From: 1}, {Kind: lobby.ServerCommandShut},
	}
	sent := 0
	round := func() {
		m := fresh
		sent = 0
		for i := range events {
			if res := m.Step(&events[i], &fx); res.Code != fsm.Took {
				t.Fatal(i, res)
			}
			for k := range fx.Len() {
				if fx.At(k).Kind == fsm.Send {
					sent++
				}
			}
		}
	}
	round()
	// Two are seated, both get the waiting list, each is told what the other said and both who is here;
	// who waits gets the free seat, and the two who are left are sent home.
	if sent != 2+2+2+3+1+2 {
		t.Errorf("%d messages", sent)
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
}
