package conform

import (
	"context"
	"testing"

	looplab "github.com/looplab/fsm"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
	adapter "github.com/parley-go/parley/runtime/looplab"
)

// hand is the Confirm machine as one would write it by hand: the same states
// and events, and a queue of message numbers to send.
type hand struct {
	state uint8
	out   []uint8
}

const (
	handWaiting = iota
	handLocalOk
	handRemoteOk
	handCommitted
	handCancelWaiting
)

// step takes the four events of the round: confirm, CONFIRM1, CANCEL, cancel, CANCELACK.
func (h *hand) step(ev confirm.EventKind) bool {
	h.out = h.out[:0]
	switch h.state {
	case handWaiting:
		switch ev {
		case confirm.CommandConfirm:
			h.out = append(h.out, uint8(confirm.MessageConfirm1))
			h.state = handLocalOk
			return true
		case confirm.ReceiveConfirm1:
			h.state = handRemoteOk
			return true
		}
	case handLocalOk:
		switch ev {
		case confirm.CommandCancel:
			h.out = append(h.out, uint8(confirm.MessageCancel))
			h.state = handCancelWaiting
			return true
		case confirm.ReceiveConfirm1:
			h.out = append(h.out, uint8(confirm.MessageConfirm2))
			h.state = handCommitted
			return true
		}
	case handCommitted:
		if ev == confirm.ReceiveCancel {
			h.out = append(h.out, uint8(confirm.MessageCancelack))
			h.state = handLocalOk
			return true
		}
	case handCancelWaiting:
		if ev == confirm.ReceiveCancelack {
			h.state = handWaiting
			return true
		}
	}
	return false
}

// round is a cycle through Confirm: five transitions, four of which send.
var round = [...]confirm.EventKind{confirm.CommandConfirm, confirm.ReceiveConfirm1, confirm.ReceiveCancel,
	confirm.CommandCancel, confirm.ReceiveCancelack}

// bare is the round for looplab/fsm as its users write it: strings, no effects.
func bare(callbacks looplab.Callbacks) (*looplab.FSM, []string) {
	names := []string{"confirm", "CONFIRM1", "CANCEL", "cancel", "CANCELACK"}
	states := []string{"waiting", "localOk", "committed", "localOk", "cancelWaiting"}
	var events looplab.Events
	for i, n := range names {
		events = append(events, looplab.EventDesc{Name: n, Src: []string{states[i]}, Dst: states[(i+1)%len(states)]})
	}
	return looplab.NewFSM("waiting", events, callbacks), names
}

// BenchmarkConfirm compares one step of Confirm in all its forms. Each reports
// ns/step, and how many times the hand-written switch it takes.
func BenchmarkConfirm(b *testing.B) {
	var base float64
	run := func(name string, step func(i int) bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range round {
					if !step(i) {
						b.Fatal("refused")
					}
				}
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N*len(round))
			if base == 0 {
				base = ns
			}
			b.ReportMetric(ns, "ns/step")
			b.ReportMetric(ns/base, "×hand")
		})
	}
	h := &hand{out: make([]uint8, 0, 4)}
	run("hand", func(i int) bool { return h.step(round[i]) })
	var m confirm.Peer
	r := confirm.NewPeerRunner() // warms the effects up
	var fx confirm.Effects
	run("generated", func(i int) bool { return m.Step(&confirm.Event{Kind: round[i]}, &fx).Code == fsm.Took })
	commands := [...]func() fsm.Result{r.Confirm, nil, nil, r.Cancel, nil}
	frames := make([][]byte, len(round))
	for i, kind := range []confirm.MessageKind{1: confirm.MessageConfirm1, 2: confirm.MessageCancel,
		4: confirm.MessageCancelack} {
		frames[i], _ = confirm.AppendMessage(nil, &confirm.Message{Kind: kind})
	}
	run("runner", func(i int) bool { // messages come as frames
		if commands[i] != nil {
			return commands[i]().Code == fsm.Took
		}
		res, err := r.Frame(0, frames[i])
		return err == nil && res.Code == fsm.Took
	})
	f, names := bare(nil)
	run("looplab", func(i int) bool { return f.Event(context.Background(), names[i]) == nil })
	entered := 0
	count := looplab.Callbacks{"enter_state": func(context.Context, *looplab.Event) { entered++ }}
	counting, _ := bare(count)
	run("looplab with a callback", func(i int) bool {
		return counting.Event(context.Background(), names[i], &confirm.Event{Kind: round[i]}) == nil
	})
	behind := func(callbacks looplab.Callbacks) func(i int) bool {
		r := confirm.NewPeerRunner()
		a := adapter.New(r, &r.Machine, callbacks)
		return func(i int) bool {
			res, err := a.Step(&confirm.Event{Kind: round[i]})
			return err == nil && res.Code == fsm.Took
		}
	}
	run("adapter", behind(nil))
	run("adapter with a callback", behind(count))
	if entered == 0 {
		b.Error("no callback was called")
	}
}

// TestStepAllocatesNothing holds generated machines to their promise, with messages
// that come as frames and go as frames. The runner's memory grows once.
func TestStepAllocatesNothing(t *testing.T) {
	a, b := netplay.NewPeerRunner(true), netplay.NewPeerRunner(false)
	var entries netplay.Entries
	for i := range entries.Items {
		entries.Items[i].Slot = netplay.Slot(i)
		entries.Len++
	}
	frame, err := netplay.AppendMessage(nil, &netplay.Message{Kind: netplay.MessageFleet,
		Fleet: netplay.FleetMessage{Own: true, Entries: entries}})
	if err != nil {
		t.Fatal(err)
	}
	b.Machine.State = netplay.StateInSetup
	start, out := b.Machine, make([]byte, 0, 4096)
	round := func() {
		b.Machine = start
		res, err := b.Frame(0, frame)
		if err != nil || res.Code != fsm.Took || b.Effects() == 0 {
			t.Fatal(res, err, b.Effects())
		}
		out = out[:0]
		for i := range b.Effects() {
			if b.Effect(i).Kind == fsm.Send {
				out, _ = b.AppendFrame(out, i)
			}
		}
		a.Start()
		a.LinkUp(0)
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
}
