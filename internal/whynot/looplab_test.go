package whynot

import (
	"context"
	"errors"
	"testing"

	"github.com/looplab/fsm"
)

var table = fsm.Events{
	{Name: "open", Src: []string{"closed"}, Dst: "open"},
	{Name: "close", Src: []string{"open"}, Dst: "closed"},
}

// One event with a cancelled context, and the machine takes no event ever again.
func TestLooplabCancelledContextWedges(t *testing.T) {
	m := fsm.NewFSM("closed", table, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.Event(ctx, "open"); err == nil {
		t.Fatal("a cancelled context is no error any more")
	}
	err := m.Event(context.Background(), "open")
	var stuck fsm.InTransitionError
	if !errors.As(err, &stuck) {
		t.Errorf("the machine is usable after a cancelled context: %v", err)
	}
}

// Two transitions for the same event and state: the last one wins.
func TestLooplabTakesTwoTransitions(t *testing.T) {
	m := fsm.NewFSM("closed", append(fsm.Events{{Name: "open", Src: []string{"closed"}, Dst: "ajar"}}, table...), nil)
	if err := m.Event(context.Background(), "open"); err != nil || m.Current() != "open" {
		t.Errorf("got %q, %v; two transitions are noticed now", m.Current(), err)
	}
}

// A callback with a misspelt state is never called.
func TestLooplabTakesMisspeltCallback(t *testing.T) {
	called := false
	m := fsm.NewFSM("closed", table, fsm.Callbacks{"enter_opne": func(context.Context, *fsm.Event) { called = true }})
	if err := m.Event(context.Background(), "open"); err != nil || called {
		t.Errorf("error %v, called %v; misspelt callbacks are noticed now", err, called)
	}
}

// A machine may be put into a state that does not exist.
func TestLooplabTakesUnknownState(t *testing.T) {
	m := fsm.NewFSM("closed", table, nil)
	m.SetState("nonsense")
	if m.Current() != "nonsense" {
		t.Error("unknown states are noticed now")
	}
}
