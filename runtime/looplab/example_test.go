package looplab_test

import (
	"context"
	"fmt"

	fsmlib "github.com/looplab/fsm"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/connection"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/looplab"
)

// A callback sees every transition; the FSM answers as ever, and the runner says what the step asks
// for.
func Example() {
	r := confirm.NewPeerRunner()
	p := looplab.New(r, &r.Machine, fsmlib.Callbacks{
		"enter_state": func(_ context.Context, e *fsmlib.Event) {
			fmt.Printf("%s → %s because of %q\n", e.Src, e.Dst, e.Event)
		},
	})
	steps := []confirm.EventKind{confirm.CommandConfirm, confirm.ReceiveChange, confirm.CommandCancel}
	for _, kind := range steps {
		res, err := p.Step(&confirm.Event{Kind: kind})
		fmt.Println(kind, "was", res.Code, err)
		for i := range p.Effects() {
			fmt.Printf("  %s\n", p.AppendEffect(nil, i))
		}
	}
	fmt.Println(p.FSM.Current(), p.FSM.Can("cancelWaiting CANCELACK"), p.FSM.Can("waiting confirm"))
	// Output:
	// waiting → localOk because of "waiting confirm"
	// confirm was took <nil>
	//   send CONFIRM1
	// localOk → cancelWaiting because of "localOk CHANGE"
	// CHANGE was took <nil>
	//   send CANCEL
	//   report cancelled
	// cancel was refused <nil>
	// cancelWaiting true false
}

// A callback may forbid a transition. Machine and FSM stay as they were, and there is nothing to be
// carried out.
func Example_cancel() {
	r := confirm.NewPeerRunner()
	p := looplab.New(r, &r.Machine, fsmlib.Callbacks{
		"before_waiting confirm": func(_ context.Context, e *fsmlib.Event) {
			e.Cancel(fmt.Errorf("the player has left the room"))
		},
	})
	res, err := p.Command("confirm")
	fmt.Println(res, "-", err)
	fmt.Println(p.FSM.Current(), r.Machine.State, p.Effects())
	// Output:
	// refused - transition canceled with error: the player has left the room
	// waiting waiting 0
}

// Without a driver nobody holds a deferred message: the program does. After each step that has
// changed the state it gives the machine the oldest one that the state no longer defers.
func Example_deferred() {
	r := connection.NewClientRunner()
	p := looplab.New(r, &r.Machine, nil)
	p.Restore(connection.Client{State: connection.ClientStateJoining})
	var held []connection.ClientEvent
	step := func(ev connection.ClientEvent) {
		res, err := p.Step(&ev)
		fmt.Println(ev.Kind, "was", res.Code, err)
		if res.Code == fsm.Deferred {
			held = append(held, ev) // the machine has not changed
		}
	}
	admitted := connection.ClientEvent{Kind: connection.ClientReceiveAdmitted}
	admitted.Message.Admitted.Yes = true
	step(admitted)
	before := r.Machine.State
	step(connection.ClientEvent{Kind: connection.ClientCommandJoined})
	if r.Machine.State != before {
		again := held
		held = nil
		for _, ev := range again {
			step(ev)
		}
	}
	fmt.Println(p.FSM.Current(), len(held))
	// Output:
	// ADMITTED was deferred <nil>
	// joined was took <nil>
	// ADMITTED was took <nil>
	// connected 0
}
