// Package looplab shows a generated machine as a machine of github.com/looplab/fsm, for programs
// that have such machines already: their callbacks run, their questions are answered, and what
// happens is what the specification says. One generic adapter serves every generated runner.
//
// The package must not know any particular protocol. No machine imports it, so a program that does
// without looplab/fsm does not link it. The type to start from is [Adapter].
package looplab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	looplab "github.com/looplab/fsm"

	"github.com/parley-go/parley/runtime/fsm"
)

// Runner is implemented by every generated runner; E is its type of events.
type Runner[E any] interface {
	fsm.Commander
	// Step gives the machine an event.
	Step(ev *E) fsm.Result
	// Event returns the last event.
	Event() *E
}

// An Adapter is a generated machine behind a machine of looplab/fsm: M is the machine's struct and E
// its type of events. The FSM's states are those of the specification, and its events are the
// transitions by name, such as `waiting confirm` or `localOk CHANGE/2`. One goroutine owns it.
//
// It is a runner as well, so a driver can run it. Its stepping methods and [Adapter.Fire] compute
// the step first and then fire the FSM's events: one for the transition, and one for each further
// transition that events of the machine's parts cause in the same step. The machine keeps its old
// value until the FSM has entered the new state. Callbacks may cancel the step until then, also at a
// further transition; machine and FSM are then as before, and there are no effects.
//
// Commands are to be given with [Adapter.Command] or [Adapter.Step]. The runner's own methods would
// move the machine without its FSM; the next step notices that and refuses. What the runner says of
// the last step, such as its reports, may be asked as ever.
type Adapter[M comparable, E any] struct {
	// FSM may be asked anything. Its Event method works with the machine's event, a *E, as only
	// argument; [Adapter.Fire] calls it so that a context cancelled at the wrong moment cannot leave
	// the FSM between two states.
	FSM *looplab.FSM

	commander // answers what is asked; what steps is below
	runner    Runner[E]
	machine   *M     // the runner's
	watched   []bool // for each transition: a callback of the program hears of it

	old, next M        // before and after the step that is being carried out
	fired     []uint16 // the transitions of the step,
	rest      []uint16 // and those that are still to be fired

	busy    bool  // a step is being carried out
	expects bool  // the next event of the FSM is fired by the adapter itself
	kept    bool  // the last step was carried through
	failed  error // why it was not

	guarded *looplab.Event // the event that guard has looked at,
	allowed bool           // and its answer
}

type commander = fsm.Commander

// New puts a runner behind a new FSM. The machine is the runner's: New(r, &r.Machine, callbacks).
// The callbacks are those of looplab/fsm and may be nil; the machine's event is their event's only
// argument. They must not call Event.Async, nor fire events.
func New[M comparable, E any](r Runner[E], machine *M, callbacks looplab.Callbacks) *Adapter[M, E] {
	a := &Adapter[M, E]{commander: r, runner: r, machine: machine}
	a.FSM = looplab.NewFSM(a.state(), Events(r.Info()), a.around(callbacks))
	info := r.Info()
	a.watched = make([]bool, len(info.Transitions))
	for i, t := range info.Transitions {
		a.watched[i] = hears(callbacks, t.Name, info.States[t.From], info.States[t.To])
	}
	return a
}

// hears reports whether one of the callbacks is called for a transition.
func hears(callbacks looplab.Callbacks, name, from, to string) bool {
	for _, key := range [...]string{
		"before_event", "before_" + name, "leave_state", "leave_" + from,
		"enter_state", "enter_" + to, to, "after_event", "after_" + name, name,
	} {
		if callbacks[key] != nil {
			return true
		}
	}
	return false
}

// Events lists the transitions of a machine as events of looplab/fsm. What a state ignores or defers
// is no transition.
func Events(info *fsm.Info) looplab.Events {
	var events looplab.Events
	for _, t := range info.Transitions {
		if t.Code == fsm.Took {
			src := []string{info.States[t.From]}
			events = append(events, looplab.EventDesc{Name: t.Name, Src: src, Dst: info.States[t.To]})
		}
	}
	return events
}

// Machine returns the machine's value.
func (a *Adapter[M, E]) Machine() M { return *a.machine }

// Restore puts the machine and the FSM to a value that Machine returned.
func (a *Adapter[M, E]) Restore(machine M) {
	*a.machine = machine
	a.busy, a.rest = false, nil
	a.FSM.SetState(a.state())
}

// Step gives the machine an event. The error is not nil if a callback cancelled the step, or if
// something else moved the FSM; then the machine has not changed, and the result is fsm.Refused.
// With any other result the step was carried out, and the error is the one that a callback left in
// Event.Err.
func (a *Adapter[M, E]) Step(ev *E) (fsm.Result, error) {
	return a.carry(func() (fsm.Result, error) { return a.runner.Step(ev), nil })
}

// Fire fires an event of the FSM by name, for an event of the machine. The error says that the FSM
// is in another state, that the machine chooses another transition, or that ctx was already
// cancelled; then nothing has changed. Once begun, the event is carried through.
func (a *Adapter[M, E]) Fire(ctx context.Context, name string, ev *E) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a.kept = false
	err := moved(a.FSM.Event(context.WithoutCancel(ctx), name, ev))
	if a.failed = nil; !a.kept {
		a.failed = err
	}
	return err
}

// Event returns the machine's last event.
func (a *Adapter[M, E]) Event() *E { return a.runner.Event() }

// Err returns why the last step was not carried out. It is nil if the step was carried out, or if
// the machine itself refused it.
func (a *Adapter[M, E]) Err() error { return a.failed }

// Effects implements fsm.Runner. A step that was not carried out has none.
func (a *Adapter[M, E]) Effects() int {
	if !a.kept {
		return 0
	}
	return a.runner.Effects()
}

// plain carries out a step that cannot return an error; Err has it.
func (a *Adapter[M, E]) plain(step func() fsm.Result) fsm.Result {
	res, _ := a.carry(func() (fsm.Result, error) { return step(), nil })
	return res
}

// Start implements fsm.Runner.
func (a *Adapter[M, E]) Start() fsm.Result { return a.plain(a.runner.Start) }

// LinkUp implements fsm.Runner.
func (a *Adapter[M, E]) LinkUp(peer fsm.Peer) fsm.Result {
	return a.plain(func() fsm.Result { return a.runner.LinkUp(peer) })
}

// LinkLost implements fsm.Runner.
func (a *Adapter[M, E]) LinkLost(peer fsm.Peer) fsm.Result {
	return a.plain(func() fsm.Result { return a.runner.LinkLost(peer) })
}

// Timeout implements fsm.Runner.
func (a *Adapter[M, E]) Timeout(timer uint16, key uint32) fsm.Result {
	return a.plain(func() fsm.Result { return a.runner.Timeout(timer, key) })
}

// Frame implements fsm.Runner. The error may be that of a callback, too.
func (a *Adapter[M, E]) Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	return a.carry(func() (fsm.Result, error) { return a.runner.Frame(from, frame) })
}

// FrameIn implements fsm.Phased where the streams of the protocol have phases.
func (a *Adapter[M, E]) FrameIn(from fsm.Peer, phase uint8, frame []byte) (next uint8, res fsm.Result, err error) {
	next = phase
	res, err = a.carry(func() (res fsm.Result, err error) {
		if p, ok := a.runner.(fsm.Phased); ok {
			next, res, err = p.FrameIn(from, phase, frame)
			return res, err
		}
		return a.runner.Frame(from, frame)
	})
	return next, res, err
}

// FrameSizeIn implements fsm.Phased where the streams of the protocol have phases.
func (a *Adapter[M, E]) FrameSizeIn(phase uint8, b []byte) (int, error) {
	if p, ok := a.runner.(fsm.Phased); ok {
		return p.FrameSizeIn(phase, b)
	}
	return a.runner.FrameSize(b)
}

// FrameOn implements fsm.Channeled where the protocol has several channels. The error may be that of a callback, too.
func (a *Adapter[M, E]) FrameOn(from fsm.Peer, channel int, frame []byte) (fsm.Result, error) {
	c, ok := a.runner.(fsm.Channeled)
	if !ok {
		return refused, errOneChannel
	}
	return a.carry(func() (fsm.Result, error) { return c.FrameOn(from, channel, frame) })
}

// FrameSizeOn implements fsm.Channeled where the protocol has several channels.
func (a *Adapter[M, E]) FrameSizeOn(channel int, b []byte) (int, error) {
	c, ok := a.runner.(fsm.Channeled)
	if !ok {
		return 0, errOneChannel
	}
	return c.FrameSizeOn(channel, b)
}

var errOneChannel = errors.New("the runner behind the adapter does not tell channels apart: it is no fsm.Channeled")

// Command implements fsm.Commander. The error may be that of a callback, too.
func (a *Adapter[M, E]) Command(text string) (fsm.Result, error) {
	return a.carry(func() (fsm.Result, error) { return a.runner.Command(text) })
}

var refused = fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}

func (a *Adapter[M, E]) state() string { return a.runner.Info().States[a.runner.State()] }

// carry computes a step and fires its transitions.
func (a *Adapter[M, E]) carry(step func() (fsm.Result, error)) (fsm.Result, error) {
	a.kept = false
	if a.failed = a.ready(); a.failed != nil {
		return refused, a.failed
	}
	res, err := a.compute(step)
	if len(a.rest) == 0 {
		*a.machine = a.next
		a.kept = true
		return res, err
	}
	a.busy = true
	err = a.fire()
	a.busy = false
	if a.kept {
		return res, err
	}
	a.failed = err
	return refused, err
}

// ready says why no step can begin.
func (a *Adapter[M, E]) ready() error {
	if a.busy {
		return errors.New("a step is being carried out")
	}
	if now := a.FSM.Current(); now != a.state() {
		return fmt.Errorf("the FSM is in state %s, the machine in %s", now, a.state())
	}
	return nil
}

// compute runs a step, notes its transitions and takes the machine's change back.
func (a *Adapter[M, E]) compute(step func() (fsm.Result, error)) (fsm.Result, error) {
	a.old = *a.machine
	res, err := step()
	a.next, *a.machine = *a.machine, a.old
	a.fired, a.rest = a.fired[:0], nil
	if lists, ok := a.runner.(interface{ Fired() []uint16 }); res.Code != fsm.Took {
		return res, err
	} else if ok {
		a.fired = append(a.fired, lists.Fired()...)
	} else if res.Transition != fsm.NoTransition {
		a.fired = append(a.fired, res.Transition)
	}
	a.rest = a.fired
	return res, err
}

func (a *Adapter[M, E]) name(transition uint16) string {
	return a.runner.Info().Transitions[transition].Name
}

// fire fires the next transition of the step. Where no callback of the program hears of it the FSM
// is put into the new state, which is quicker than an event.
func (a *Adapter[M, E]) fire() error {
	t := a.runner.Info().Transitions[a.rest[0]]
	if !a.watched[a.rest[0]] && a.FSM.Can(t.Name) {
		a.FSM.SetState(a.runner.Info().States[t.To])
		*a.machine = a.next
		return a.onward(a.runner.Info().States[t.From])
	}
	a.expects = true
	err := moved(a.FSM.Event(context.Background(), t.Name, a.runner.Event()))
	a.expects = false
	return err
}

// moved takes the FSM's complaint about a transition that leads back to its own state for what it
// is: none.
func moved(err error) error {
	if err == nil {
		return nil
	}
	var same looplab.NoTransitionError
	if errors.As(err, &same) {
		return same.Err
	}
	return err
}

// around adds to the callbacks what keeps machine and FSM together.
func (a *Adapter[M, E]) around(callbacks looplab.Callbacks) looplab.Callbacks {
	all := looplab.Callbacks{"before_event": a.before(nil), "leave_state": a.leave(nil), "after_event": a.after(nil)}
	for name, call := range callbacks {
		switch {
		case strings.HasPrefix(name, "before_"):
			all[name] = a.before(call)
		case strings.HasPrefix(name, "leave_"):
			all[name] = a.leave(call)
		case name == "after_event":
			all[name] = a.after(call)
		default: // the new state has been entered
			all[name] = func(ctx context.Context, e *looplab.Event) {
				*a.machine = a.next
				call(ctx, e)
			}
		}
	}
	return all
}

func (a *Adapter[M, E]) before(call looplab.Callback) looplab.Callback {
	return func(ctx context.Context, e *looplab.Event) {
		if a.guard(ctx, e) && call != nil {
			call(ctx, e)
			a.giveUp(ctx, e)
		}
	}
}

// guard reports whether the machine takes the event of the FSM, and cancels it if not. An event that
// the adapter did not fire is computed here.
func (a *Adapter[M, E]) guard(ctx context.Context, e *looplab.Event) bool {
	if a.guarded == e {
		return a.allowed
	}
	a.guarded, a.allowed = e, false
	ours := a.expects
	a.expects = false
	if !ours {
		if err := a.compare(ctx, e); err != nil {
			e.Cancel(err)
			return false
		}
	}
	a.allowed = true
	return true
}

// compare computes the step that an event of the FSM asks for, and says why it is another.
func (a *Adapter[M, E]) compare(ctx context.Context, e *looplab.Event) error {
	if err := errors.Join(ctx.Err(), a.ready()); err != nil {
		return err
	}
	var ev *E
	if len(e.Args) == 1 {
		ev, _ = e.Args[0].(*E)
	}
	if ev == nil {
		return errors.New("the FSM's event needs the machine's event as its only argument")
	}
	a.compute(func() (fsm.Result, error) { return a.runner.Step(ev), nil })
	if len(a.rest) == 0 || a.name(a.rest[0]) != e.Event {
		return fmt.Errorf("the machine does not take %s for this event now", e.Event)
	}
	a.busy, a.kept = true, false
	return nil
}

func (a *Adapter[M, E]) leave(call looplab.Callback) looplab.Callback {
	return func(ctx context.Context, e *looplab.Event) {
		if call != nil {
			call(ctx, e)
		}
		a.giveUp(ctx, e)
	}
}

// giveUp ends the step if a callback cancelled the event, or if its context was cancelled: the FSM
// would stay between two states if it went on.
func (a *Adapter[M, E]) giveUp(ctx context.Context, e *looplab.Event) {
	if ctx.Err() != nil {
		a.busy = false
		e.Cancel()
	}
}

// after carries the step on after an event of the FSM.
func (a *Adapter[M, E]) after(call looplab.Callback) looplab.Callback {
	return func(ctx context.Context, e *looplab.Event) {
		*a.machine = a.next
		if call != nil {
			call(ctx, e)
		}
		if err := a.onward(e.Src); err != nil {
			e.Err = err
		}
	}
}

// onward fires the step's further transitions after one that led from a state. If they are all done
// the machine keeps its new value; if one is cancelled, machine and FSM go back.
func (a *Adapter[M, E]) onward(from string) error {
	a.rest = a.rest[1:]
	if len(a.rest) == 0 {
		a.kept, a.busy = true, false
		return nil
	}
	err := a.fire()
	if !a.kept {
		*a.machine = a.old
		a.busy = false
		a.FSM.SetState(from)
	}
	return err
}
