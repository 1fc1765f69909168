// Package pingpong is a small protocol written by hand in the shape of
// generated code, for the tests of the runtime: pings that are answered or
// time out, notes that are deferred, and a barrier. It stands in for the
// machines that the generator writes, so that the runtime can be tested
// without it. Start from [Runner].
package pingpong

import "github.com/parley-go/parley/runtime/fsm"

// States.
const (
	Off    = iota // no link
	Idle          // nobody waits at the barrier
	Ready         // sent READY
	Behind        // received READY
	Gone          // left for good
)

// Messages, which are also the type bytes on the wire.
const (
	PING = iota
	PONG
	READY
	BYE
	NOTE
)

// Reports.
const (
	Ponged = iota // Value is the number of the ping
	Passed        // both sides reached the barrier
	Late          // Value is the number of the ping that was not answered
	Noted         // Value is the length of the note
	Parted        // the link was lost
)

// MaxNote is the longest note in bytes.
const MaxNote = 40

// WaitTicks is how long a ping waits for its answer, in ticks of 100 ms.
const WaitTicks = 10

// Machine is the state of one side.
type Machine struct {
	State  uint16
	Open   uint32 // pings that wait for an answer
	Passes uint32
}

// Event is the last event given to a Runner.
type Event struct {
	Kind   Kind
	ID     uint16 // message, command or timer
	Value  uint32
	Note   [MaxNote]byte
	Length uint8
}

// Kind is the kind of an Event.
type Kind uint8

// Kinds of events.
const (
	Start Kind = iota
	Up
	Lost
	Timeout
	Message
	Command
)

// Commands.
const (
	Ping = iota
	Barrier
	Quit
	Say
)

// Effect is an fsm.Effect with its payload.
type Effect struct {
	fsm.Effect
	Value uint32
	Note  [MaxNote]byte
	N     uint8
}

// Runner implements [fsm.Runner].
type Runner struct {
	M     Machine
	E     Event
	effs  [3]Effect
	count int
}

// New returns a runner whose machine is in its first state.
func New() *Runner { return &Runner{} }

// The transitions, in the order of info.Transitions.
const (
	tStart uint16 = iota
	tOffUp
	tPing
	tPING
	tPONG
	tLate
	tNote
	tSay
	tBarrier
	tREADY
	tReadyREADY
	tReadyDefer
	tReadyBarrier
	tBehindBarrier
	tQuit
	tBYE
	tLost
	tGone
)

func coded(code fsm.Code, t fsm.Transition) fsm.Transition {
	t.Code = code
	return t
}

func tr(name string, from, to uint16, line int) fsm.Transition {
	return fsm.Transition{Name: name, From: from, To: to, File: "pingpong.yaml", Line: line, Col: 3}
}

var info = fsm.Info{
	Protocol: "pingpong", Role: "peer", Hash: "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
	States:   []string{"off", "idle", "ready", "behind", "gone"},
	Final:    []bool{false, false, false, false, true},
	Messages: []string{"PING", "PONG", "READY", "BYE", "NOTE"},
	Commands: []string{"ping", "barrier", "quit", "say"},
	Reports:  []string{"ponged", "passed", "late", "noted", "parted"},
	Timers:   []string{"wait"},
	Transitions: []fsm.Transition{
		tr("off start", Off, Off, 10), tr("off up", Off, Idle, 11),
		tr("idle ping", Idle, Idle, 20), tr("idle PING", Idle, Idle, 21), tr("idle PONG", Idle, Idle, 22),
		tr("idle wait", Idle, Idle, 23), tr("idle NOTE", Idle, Idle, 24), tr("idle say", Idle, Idle, 25),
		tr("idle barrier", Idle, Ready, 26), tr("idle READY", Idle, Behind, 27),
		tr("ready READY", Ready, Idle, 30), coded(fsm.Deferred, tr("ready NOTE", Ready, Ready, 31)),
		coded(fsm.Ignored, tr("ready barrier", Ready, Ready, 32)),
		tr("behind barrier", Behind, Idle, 40),
		tr("idle quit", Idle, Gone, 50), tr("idle BYE", Idle, Gone, 51), tr("idle lost", Idle, Off, 52),
		tr("gone lost", Gone, Gone, 60),
	},
	TickNanos: 100e6, MaxFrame: 3 + MaxNote, MaxEffects: 3, Ordered: true, Reliable: true,
}

// Info implements fsm.Runner.
func (r *Runner) Info() *fsm.Info { return &info }

// Start implements fsm.Runner.
func (r *Runner) Start() fsm.Result { return r.do(Event{Kind: Start}) }

// LinkUp implements fsm.Runner.
func (r *Runner) LinkUp(fsm.Peer) fsm.Result { return r.do(Event{Kind: Up}) }

// LinkLost implements fsm.Runner.
func (r *Runner) LinkLost(fsm.Peer) fsm.Result { return r.do(Event{Kind: Lost}) }

// Timeout implements fsm.Runner.
func (r *Runner) Timeout(timer uint16, key uint32) fsm.Result {
	return r.do(Event{Kind: Timeout, ID: timer, Value: key})
}

// Ping gives the command ping.
func (r *Runner) Ping(n uint32) fsm.Result { return r.do(Event{Kind: Command, ID: Ping, Value: n}) }

// Barrier gives the command barrier.
func (r *Runner) Barrier() fsm.Result { return r.do(Event{Kind: Command, ID: Barrier}) }

// Quit gives the command quit.
func (r *Runner) Quit() fsm.Result { return r.do(Event{Kind: Command, ID: Quit}) }

// Say gives the command say. Only MaxNote bytes of text are kept.
func (r *Runner) Say(text string) fsm.Result {
	e := Event{Kind: Command, ID: Say}
	e.Length = uint8(copy(e.Note[:], text))
	return r.do(e)
}

// Value is the value of report effect i.
func (r *Runner) Value(i int) uint32 { return r.effs[i].Value }

// State implements fsm.Runner.
func (r *Runner) State() uint16 { return r.M.State }

// Effects implements fsm.Runner.
func (r *Runner) Effects() int { return r.count }

// Effect implements fsm.Runner.
func (r *Runner) Effect(i int) fsm.Effect { return r.effs[i].Effect }

func (r *Runner) do(e Event) fsm.Result {
	r.E, r.count = e, 0
	return r.step()
}

func (r *Runner) emit(kind fsm.EffectKind, id uint16, value uint32) *Effect {
	e := &r.effs[r.count]
	r.count++
	e.Effect, e.Value = fsm.Effect{Kind: kind, ID: id}, value
	if kind == fsm.StartTimer || kind == fsm.StopTimer {
		e.Key, e.Ticks = value, WaitTicks
	}
	return e
}
