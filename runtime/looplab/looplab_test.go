package looplab_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	fsmlib "github.com/looplab/fsm"

	"github.com/parley-go/parley/machines/confirm"
	"github.com/parley-go/parley/machines/reset"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/looplab"
)

type confirmFSM = looplab.Adapter[confirm.Peer, confirm.Event]

func newConfirm(callbacks fsmlib.Callbacks) (*confirmFSM, *confirm.PeerRunner) {
	r := confirm.NewPeerRunner()
	return looplab.New(r, &r.Machine, callbacks), r
}

func newSetup(t *testing.T, callbacks fsmlib.Callbacks) *looplab.Adapter[setup.Peer, setup.Event] {
	t.Helper()
	r, err := setup.NewPeerRunner(0)
	if err != nil {
		t.Fatal(err)
	}
	return looplab.New(r, &r.Machine, callbacks)
}

func event(kind confirm.EventKind) *confirm.Event { return &confirm.Event{Kind: kind} }

// TestCancelledContext: a cancelled context changes nothing and leaves the FSM ready for the next
// event, through the adapter and past it.
func TestCancelledContext(t *testing.T) {
	p, _ := newConfirm(nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ev := event(confirm.CommandConfirm)
	if err := p.Fire(ctx, "waiting confirm", ev); !errors.Is(err, context.Canceled) {
		t.Errorf("Fire: %v", err)
	}
	if err := p.FSM.Event(ctx, "waiting confirm", ev); !errors.Is(err, context.Canceled) {
		t.Errorf("FSM.Event: %v", err)
	}
	if p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() {
		t.Fatalf("now in %s, %v", p.FSM.Current(), p.Machine())
	}
	err := p.Fire(context.Background(), "waiting confirm", ev)
	if err != nil || p.FSM.Current() != "localOk" || p.Effects() != 1 {
		t.Errorf("then: %v, in %s, %d effects", err, p.FSM.Current(), p.Effects())
	}
}

// TestCancelledBetween: a context that is cancelled after the guard has looked does not leave the FSM
// between two states.
func TestCancelledBetween(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, _ := newConfirm(fsmlib.Callbacks{"leave_waiting": func(context.Context, *fsmlib.Event) { cancel() }})
	ev := event(confirm.CommandConfirm)
	if err := p.FSM.Event(ctx, "waiting confirm", ev); err == nil {
		t.Error("the step was carried out")
	}
	if p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() {
		t.Fatalf("now in %s, %v", p.FSM.Current(), p.Machine())
	}
	if err := p.FSM.Event(context.Background(), "waiting confirm", ev); err != nil {
		t.Errorf("then: %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	p.Restore(confirm.NewPeer())
	if err := p.Fire(ctx, "waiting confirm", ev); err != nil || p.FSM.Current() != "localOk" {
		t.Errorf("Fire, once begun: %v, in %s", err, p.FSM.Current())
	}
}

// TestByName: the FSM's own events work too, are guarded, and a transition to the same state is no
// error.
func TestByName(t *testing.T) {
	p, _ := newConfirm(nil)
	ctx, change := context.Background(), event(confirm.CommandChange)
	for range 2 {
		if err := p.Fire(ctx, "waiting change", change); err != nil || p.Effects() != 1 {
			t.Errorf("a change where nobody agreed: %v, %d effects", err, p.Effects())
		}
	}
	for name, err := range map[string]error{
		"another event": p.Fire(ctx, "waiting confirm", change),
		"another state": p.Fire(ctx, "localOk cancel", event(confirm.CommandCancel)),
		"no argument":   p.FSM.Event(ctx, "waiting confirm"),
	} {
		if err == nil {
			t.Errorf("%s was fired", name)
		}
	}
	if p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() || p.Err() == nil {
		t.Errorf("now in %s, %v, %v", p.FSM.Current(), p.Machine(), p.Err())
	}
}

// TestOtherHands: whoever moves the FSM or the machine past the adapter is told at the next step.
func TestOtherHands(t *testing.T) {
	p, r := newConfirm(nil)
	for name, move := range map[string]func(){
		"the FSM":     func() { p.FSM.SetState("done") },
		"the machine": func() { r.Confirm() },
	} {
		move()
		before := p.Machine()
		if res, err := p.Step(event(confirm.CommandConfirm)); err == nil || res.Code != fsm.Refused ||
			p.Machine() != before {
			t.Errorf("%s moved: %v, %v", name, res, err)
		}
		p.Restore(confirm.NewPeer())
		if res, err := p.Step(event(confirm.CommandConfirm)); err != nil || res.Code != fsm.Took {
			t.Errorf("after Restore: %v, %v", res, err)
		}
		p.Restore(confirm.NewPeer())
	}
}

// TestRunner: everything that a driver gives to a runner goes through the FSM.
func TestRunner(t *testing.T) {
	var seen []string
	p, _ := newConfirm(fsmlib.Callbacks{"after_event": func(_ context.Context, e *fsmlib.Event) {
		seen = append(seen, e.Event)
	}})
	var r fsm.Commander = p
	r.Start()
	r.LinkUp(0)
	if res, err := r.Command("confirm"); err != nil || res.Code != fsm.Took || r.Effects() != 1 {
		t.Errorf("confirm: %v, %v, %d effects", res, err, r.Effects())
	}
	frame, err := r.AppendFrame(nil, 0) // the other peer's would be the same
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.Frame(0, frame); err != nil || res.Code != fsm.Took {
		t.Errorf("CONFIRM1: %v, %v", res, err)
	}
	if _, err := r.Frame(0, []byte{0xff}); err == nil {
		t.Error("a malformed frame was taken")
	}
	if _, err := r.Command("nonsense"); err == nil {
		t.Error("nonsense was taken")
	}
	r.Timeout(0, 0)
	r.LinkLost(0)
	want := []string{"waiting confirm", "localOk CONFIRM1"}
	if !slices.Equal(seen, want) || p.FSM.Current() != "committed" {
		t.Errorf("fired %q, now in %s", seen, p.FSM.Current())
	}
}

// TestCallbacks: callbacks see the machine as it was until the new state has been entered, and the
// machine's event.
func TestCallbacks(t *testing.T) {
	var p *confirmFSM
	var seen []string
	note := func(_ context.Context, e *fsmlib.Event) {
		ev := e.Args[0].(*confirm.Event)
		seen = append(seen, p.Machine().State.String()+" "+ev.Kind.String())
	}
	callbacks := fsmlib.Callbacks{}
	for _, name := range []string{"before_waiting confirm", "before_event", "leave_waiting", "leave_state",
		"enter_localOk", "enter_state", "after_waiting confirm", "after_event"} {
		callbacks[name] = note
	}
	p, _ = newConfirm(callbacks)
	if _, err := p.Step(event(confirm.CommandConfirm)); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(slices.Repeat([]string{"waiting confirm"}, 4), slices.Repeat([]string{"localOk confirm"}, 4))
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q", seen)
	}
}

// TestEveryCallback: each kind of name is heard of once, though the FSM skips events that none of the
// program's callbacks hears of.
func TestEveryCallback(t *testing.T) {
	for _, name := range []string{"before_waiting confirm", "before_event", "leave_waiting", "leave_state",
		"enter_localOk", "localOk", "enter_state", "after_waiting confirm", "waiting confirm", "after_event",
		"enter_waiting", "localOk confirm"} {
		calls := 0
		p, _ := newConfirm(fsmlib.Callbacks{name: func(context.Context, *fsmlib.Event) { calls++ }})
		if res, err := p.Step(event(confirm.CommandConfirm)); err != nil || res.Code != fsm.Took ||
			p.FSM.Current() != "localOk" || p.Machine().State != confirm.StateLocalOk || p.Effects() != 1 {
			t.Errorf("%s: %v, %v, in %s and %v", name, res, err, p.FSM.Current(), p.Machine().State)
		}
		want := 1
		if name == "enter_waiting" || name == "localOk confirm" {
			want = 0
		}
		if calls != want {
			t.Errorf("%s was called %d times", name, calls)
		}
	}
}

// TestCallbackCancels: a callback may forbid what the machine would do, wherever looplab/fsm lets it.
func TestCallbackCancels(t *testing.T) {
	forbidden := errors.New("forbidden")
	for _, name := range []string{"before_waiting confirm", "before_event", "leave_waiting", "leave_state"} {
		once := true
		p, _ := newConfirm(fsmlib.Callbacks{name: func(_ context.Context, e *fsmlib.Event) {
			if once {
				e.Cancel(forbidden)
			}
		}})
		res, err := p.Step(event(confirm.CommandConfirm))
		if !errors.Is(err, forbidden) || res.Code != fsm.Refused || p.Effects() != 0 || !errors.Is(p.Err(), forbidden) {
			t.Errorf("%s: %v, %v, %d effects", name, res, err, p.Effects())
		}
		if p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() {
			t.Errorf("%s: now in %s", name, p.FSM.Current())
		}
		once = false
		if res, err := p.Step(event(confirm.CommandConfirm)); err != nil || res.Code != fsm.Took || p.Err() != nil {
			t.Errorf("%s: then %v, %v", name, res, err)
		}
	}
}

// TestCallbackFires: a callback that gives the machine the next event is told that it must not.
func TestCallbackFires(t *testing.T) {
	var p *confirmFSM
	var errs []error
	p, _ = newConfirm(fsmlib.Callbacks{"enter_localOk": func(context.Context, *fsmlib.Event) {
		_, err := p.Step(event(confirm.CommandCancel))
		errs = append(errs, err, p.Fire(context.Background(), "localOk cancel", event(confirm.CommandCancel)))
	}})
	if _, err := p.Step(event(confirm.CommandConfirm)); err != nil || p.Effects() != 1 {
		t.Errorf("%v, %d effects", err, p.Effects())
	}
	if len(errs) != 2 || errs[0] == nil || errs[1] == nil || p.FSM.Current() != "localOk" {
		t.Errorf("inside: %v, in %s", errs, p.FSM.Current())
	}
}

// agreed brings a setup to where one more CONFIRM2 ends it.
func agreed(t *testing.T, p *looplab.Adapter[setup.Peer, setup.Event]) (fsm.Result, error) {
	t.Helper()
	if res, err := p.Step(&setup.Event{Kind: setup.CommandConfirm}); err != nil || res.Code != fsm.Took {
		t.Fatal(res, err)
	}
	return p.Step(&setup.Event{Kind: setup.ReceiveConfirm2})
}

// TestParts: what a part's event causes is a transition of its own.
func TestParts(t *testing.T) {
	var seen []string
	p := newSetup(t, fsmlib.Callbacks{"after_event": func(_ context.Context, e *fsmlib.Event) {
		seen = append(seen, e.Event)
	}})
	if res, err := agreed(t, p); err != nil || res.Code != fsm.Took {
		t.Fatal(res, err)
	}
	if p.FSM.Current() != "done" || p.Machine().State != setup.StateDone {
		t.Errorf("FSM in %s, machine in %s", p.FSM.Current(), p.Machine().State)
	}
	if len(seen) < 3 {
		t.Errorf("fired %q", seen)
	}
}

// TestPartsCancelled: a callback that forbids a further transition of the step takes all of it back.
func TestPartsCancelled(t *testing.T) {
	var last string
	p := newSetup(t, fsmlib.Callbacks{"enter_done": func(_ context.Context, e *fsmlib.Event) { last = e.Event }})
	if _, err := agreed(t, p); err != nil || last == "" {
		t.Fatal(err, last)
	}
	// The one callback hears of every transition, or of the last one alone.
	for _, name := range []string{"before_event", "before_" + last} {
		t.Run(name, func(t *testing.T) { testPartsCancelled(t, name) })
	}
}

func testPartsCancelled(t *testing.T, name string) {
	forbid := true
	p := newSetup(t, fsmlib.Callbacks{name: func(_ context.Context, e *fsmlib.Event) {
		if forbid && e.Dst == "done" {
			e.Cancel(errors.New("not yet"))
		}
	}})
	res, err := agreed(t, p)
	if err == nil || !strings.Contains(err.Error(), "not yet") || res.Code != fsm.Refused || p.Effects() != 0 {
		t.Errorf("%v, %v, %d effects", res, err, p.Effects())
	}
	before := p.Machine()
	if now := p.FSM.Current(); now == "done" || now != before.State.String() {
		t.Fatalf("FSM in %s, machine in %s", now, before.State)
	}
	forbid = false
	if res, err := p.Step(&setup.Event{Kind: setup.ReceiveConfirm2}); err != nil || res.Code != fsm.Took ||
		p.FSM.Current() != "done" {
		t.Errorf("then %v, %v, in %s", res, err, p.FSM.Current())
	}
}

// two takes the confirmation of the other side together with one's own, in a step of two transitions.
type two struct {
	*confirm.PeerRunner
	fired []uint16
}

func (r *two) Step(ev *confirm.Event) fsm.Result {
	r.fired = append(r.fired[:0], r.PeerRunner.Step(ev).Transition)
	res := r.PeerRunner.Step(event(confirm.ReceiveConfirm1))
	r.fired = append(r.fired, res.Transition)
	return res
}

func (r *two) Fired() []uint16 { return r.fired }

// TestBackToTheFirst: a second transition that is forbidden takes back a first one that has changed the
// state, whether or not a callback heard of that one.
func TestBackToTheFirst(t *testing.T) {
	for _, name := range []string{"before_event", "before_localOk CONFIRM1"} {
		forbid := true
		r := &two{PeerRunner: confirm.NewPeerRunner()}
		p := looplab.New(r, &r.Machine, fsmlib.Callbacks{name: func(_ context.Context, e *fsmlib.Event) {
			if forbid && e.Src == "localOk" {
				e.Cancel(errors.New("not yet"))
			}
		}})
		res, err := p.Step(event(confirm.CommandConfirm))
		if err == nil || !strings.Contains(err.Error(), "not yet") || res.Code != fsm.Refused ||
			p.FSM.Current() != "waiting" || p.Machine() != confirm.NewPeer() {
			t.Errorf("%s: %v, %v, in %s", name, res, err, p.FSM.Current())
		}
		forbid = false
		if _, err := p.Step(event(confirm.CommandConfirm)); err != nil || p.FSM.Current() != "committed" ||
			p.Machine().State != confirm.StateCommitted {
			t.Errorf("%s: then %v, in %s", name, err, p.FSM.Current())
		}
	}
}

// TestEvents: the FSM has the transitions of the machine and nothing that a state only ignores.
func TestEvents(t *testing.T) {
	r := reset.NewPeerRunner()
	events := looplab.Events(r.Info())
	count := 0
	for _, tr := range r.Info().Transitions {
		if tr.Code == fsm.Took {
			count++
		}
	}
	if len(events) != count || count == 0 || count == len(r.Info().Transitions) {
		t.Errorf("%d events, %d transitions", len(events), count)
	}
}
