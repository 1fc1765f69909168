package conform

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/confirm/looplabconfirm"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/machines/setup/looplabsetup"
	"github.com/parley-go/parley/runtime/fsm"
)

// TestLooplabCancelled: a cancelled context changes nothing and leaves the FSM ready for
// the next event, through the adapter and past it.
func TestLooplabCancelled(t *testing.T) {
	p := looplabconfirm.NewPeer()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ev := &confirm.Event{Kind: confirm.CommandConfirm}
	if err := p.Fire(ctx, "waiting confirm", ev); !errors.Is(err, context.Canceled) {
		t.Errorf("Fire: %v", err)
	}
	if err := p.FSM.Event(ctx, "waiting confirm", ev); err == nil {
		t.Error("FSM.Event with a cancelled context was carried out")
	}
	if p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() {
		t.Fatalf("now in %s, %v", p.FSM.Current(), p.Machine())
	}
	if err := p.Fire(context.Background(), "waiting confirm", ev); err != nil || p.FSM.Current() != "localOk" {
		t.Errorf("then: %v, in %s", err, p.FSM.Current())
	}
}

// TestLooplabByName: the FSM's own events work too, are guarded, and a
// transition to the same state is no error.
func TestLooplabByName(t *testing.T) {
	p := looplabconfirm.NewPeer()
	change := &confirm.Event{Kind: confirm.CommandChange}
	for range 2 {
		if err := p.Fire(context.Background(), "waiting change", change); err != nil || p.Effects().Len() != 1 {
			t.Errorf("a change where nobody agreed: %v, %d effects", err, p.Effects().Len())
		}
	}
	if err := p.Fire(context.Background(), "waiting confirm", change); err == nil {
		t.Error("the event confirm took a change")
	}
	if err := p.Fire(context.Background(), "localOk cancel", &confirm.Event{Kind: confirm.CommandCancel}); err == nil {
		t.Error("an event of another state was fired")
	}
	if err := p.FSM.Event(context.Background(), "waiting confirm"); err == nil {
		t.Error("an event without the machine's event was fired")
	}
	if p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() {
		t.Errorf("now in %s, %v", p.FSM.Current(), p.Machine())
	}
}

// TestLooplabOtherHands: whoever moves the FSM past the adapter is told at the next step.
func TestLooplabOtherHands(t *testing.T) {
	p := looplabconfirm.NewPeer()
	p.FSM.SetState("done")
	if res, err := p.Step(&confirm.Event{Kind: confirm.CommandConfirm}); err == nil || res.Code != fsm.Refused {
		t.Errorf("%v, %v", res, err)
	}
	p.Restore(confirm.NewPeer())
	if res, err := p.Step(&confirm.Event{Kind: confirm.CommandConfirm}); err != nil || res.Code != fsm.Took {
		t.Errorf("after Restore: %v, %v", res, err)
	}
}

// TestLooplabParts: what a part's event causes is a transition of its own.
func TestLooplabParts(t *testing.T) {
	p, err := looplabsetup.NewPeer(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []setup.EventKind{setup.CommandConfirm, setup.ReceiveConfirm2} {
		if res, err := p.Step(&setup.Event{Kind: kind}); err != nil || res.Code != fsm.Took {
			t.Fatal(res, err)
		}
	}
	if p.FSM.Current() != "done" || p.Machine().State != setup.StateDone {
		t.Errorf("FSM in %s, machine in %s", p.FSM.Current(), p.Machine().State)
	}
	if _, err := looplabsetup.NewPeer(7); err == nil {
		t.Error("index 7 was accepted")
	}
}
