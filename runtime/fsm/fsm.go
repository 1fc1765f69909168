// Package fsm is the contract between generated machines and everything that
// runs them: the driver, the simulator, the tracer and the tests.
//
// A generated machine is a comparable struct. Its Step method takes one event,
// changes the struct and fills a list of effects; it cannot block, fail, log,
// look at a clock, or allocate. This package imports nothing, knows nothing of
// sockets, time or particular protocols, and must stay that way, because every
// game client links it. The type to start from is [Runner].
package fsm

// GeneratedV3 is a constant that generated code refers to. A generator for a newer contract refers
// to a newer constant. So a mismatch between generated code and this module is a compile error with
// a telling name.
const GeneratedV3 = true

// GeneratedV2 is the constant that older generated code refers to. Such code still works with this
// package.
const GeneratedV2 = true

// Code is the outcome of giving a machine an event.
type Code uint8

const (
	// Took: a transition fired; its effects are in the effect list.
	Took Code = iota
	// Ignored: the state lists the event under ignore; nothing changed.
	Ignored
	// Deferred: the state defers the message; nothing changed. The driver holds the message and gives
	// it to the machine again in the first state that does not defer it, the oldest one first. Only
	// messages can be deferred.
	Deferred
	// Refused: the state neither handles, ignores nor defers the event, or the
	// specification refuses it by a `refuse` statement. The machine is
	// unchanged and the effect list is empty.
	Refused
	// NotRun: the event never came to the machine, because its driver did not run or the caller did
	// not wait. No machine returns it; a driver does, with an error that says why.
	NotRun
)

// String returns the name of c in lower case.
func (c Code) String() string {
	switch c {
	case Took:
		return "took"
	case Ignored:
		return "ignored"
	case Deferred:
		return "deferred"
	case Refused:
		return "refused"
	case NotRun:
		return "not run"
	}
	return "invalid"
}

// Result is the outcome of one step.
type Result struct {
	Code Code
	// Transition is the index into [Info].Transitions of the transition that
	// fired, was ignored, deferred, or contains the refusing statement. It is
	// NoTransition when the state does not mention the event at all.
	Transition uint16
}

// String returns the outcome and the index of its transition in [Info]: `took, transition 3`.
func (r Result) String() string {
	if r.Transition == NoTransition {
		return r.Code.String()
	}
	var digits [5]byte
	at := len(digits)
	for n := r.Transition; ; n /= 10 {
		at--
		digits[at] = byte('0' + n%10)
		if n < 10 {
			return r.Code.String() + ", transition " + string(digits[at:])
		}
	}
}

// NoTransition is the Transition of a Result for which no line of the specification is responsible.
const NoTransition = 0xFFFF

// Peer is the index of an instance as a driver numbers them, from 0.
type Peer int16

// Broadcast is the destination of an effect for all peers.
const Broadcast Peer = -1

// EffectKind is the kind of an effect.
type EffectKind uint8

const (
	// Send asks for one message to be sent to Effect.Peer.
	Send EffectKind = iota
	// Report tells the embedding program something.
	Report
	// StartTimer arms (or rearms) a timer for Effect.Ticks.
	StartTimer
	// StopTimer disarms a timer; stopping a timer that is not armed does nothing.
	StopTimer
	// Close asks for the link to Effect.Peer to be closed after everything
	// sent before has been flushed.
	Close
)

// String returns the effect's verb: send, report and so on.
func (k EffectKind) String() string { return Name(effectKinds[:], int(k)) }

var effectKinds = [...]string{"send", "report", "start", "stop", "close"}

// Effect is one request of a machine to its driver, without its payload. The
// payload of a Send is encoded by [Runner.AppendFrame]; that of a Report is
// read from the typed effect list of the generated package.
type Effect struct {
	Kind EffectKind
	Peer Peer   // Send, Close: to whom
	ID   uint16 // Send: message; Report: report; StartTimer, StopTimer: timer; index into the lists of Info
	Key  uint32 // StartTimer, StopTimer: which of a keyed timer's instances; 0 if it has no key
	// Ticks is the duration of a StartTimer, in ticks of Info.TickNanos.
	Ticks uint32
}

// Runner is a machine together with one event and one list of effects: what
// a driver needs to run any generated machine without knowing its types. The
// generator emits an implementation for every role. A Runner is not safe for
// concurrent use; one goroutine owns it.
//
// Each stepping method replaces the effect list. Effects are to be carried out
// in order, all of them, before the next event is given.
type Runner interface {
	// Info describes the machine. The value is shared and must not be changed.
	Info() *Info

	// Start delivers the event start. It is the first event, and comes once.
	Start() Result
	// LinkUp and LinkLost deliver the events up and lost for a peer.
	LinkUp(peer Peer) Result
	LinkLost(peer Peer) Result
	// Timeout delivers the expiry of a timer.
	Timeout(timer uint16, key uint32) Result
	// Frame decodes one whole frame and delivers its message. If the frame is
	// malformed the error says why, the machine is unchanged and the effect
	// list is empty. The frame is not kept.
	Frame(from Peer, frame []byte) (Result, error)

	// FrameSize returns the length in bytes of the frame that starts at b[0],
	// 0 if b is too short to tell, or an error if no valid frame can start so
	// (unknown type, length out of range). It is for links that carry a stream;
	// a datagram is one frame.
	FrameSize(b []byte) (int, error)

	// Effects returns the number of effects of the last step.
	Effects() int
	// Effect returns effect i of the last step, 0 <= i < Effects().
	Effect(i int) Effect
	// AppendFrame appends the encoding of the message of Send effect i to dst.
	// It fails only if the message cannot be represented on the wire.
	AppendFrame(dst []byte, i int) ([]byte, error)

	// State returns the index of the control state in Info().States.
	State() uint16
	// AppendEvent appends the last event as text in the syntax of scenarios,
	// for example `FLEET{own: true, entries: [{slot: 3, ship: orz}]}`.
	AppendEvent(dst []byte) []byte
	// AppendEffect appends effect i as text, for example `send CANCEL`.
	AppendEffect(dst []byte, i int) []byte
	// AppendMachine appends the machine's state and variables as text.
	AppendMachine(dst []byte) []byte
	// AppendLegal appends the names of the events the present state handles
	// or ignores, separated by ", ": what would have been legal.
	AppendLegal(dst []byte) []byte
	// Refusal explains the Refused with NoTransition that the last event met. It looks at the event
	// and the state again, so that a step costs nothing more; it means nothing after another
	// result.
	Refusal() Refusal
}

// Reason says why an event was refused.
type Reason uint8

const (
	// Unmentioned: the state neither handles, ignores nor defers the event.
	Unmentioned Reason = iota
	// Unguarded: the state handles the event, but no branch takes it as things are.
	Unguarded
	// OutOfRange: a value that came with the event is none of its type.
	OutOfRange
)

// Commander is implemented by generated runners that take a command as text, in the form that
// AppendEvent writes: for consoles, scripts and callers in other languages. If the text is no
// command, the error says why, and nothing has happened.
type Commander interface {
	Runner
	Command(text string) (Result, error)
}

// Streamer is implemented by generated runners that take many frames of a stream at a time, which
// saves a driver several calls for each frame. A runner that wraps another and changes Frame must
// change Stream too.
type Streamer interface {
	Runner
	// Stream delivers the frames at the start of in one after the other, each as FrameSize and
	// Frame do, and appends what they are answered with to out. It goes on while the outcome is
	// plain: the machine took the message, stays in its control state, and asks for nothing but
	// messages to the sender, for which out need not be longer than limit bytes. The frame after
	// these may have been delivered too; then its effects are still to be carried out, all of them.
	Stream(from Peer, in, out []byte, limit int) Streamed
}

// Channeled is implemented by generated runners of a protocol with several channels.
type Channeled interface {
	Runner
	// FrameOn and FrameSizeOn are Frame and FrameSize for the channel at a place in Info.Channels, whose frames may be
	// written as those of no other one. A message of another channel is malformed there. Without On they are of
	// Channels[News].
	FrameOn(from Peer, channel int, frame []byte) (Result, error)
	FrameSizeOn(channel int, b []byte) (int, error)
}

// Phased is implemented by generated runners of a protocol whose streams have phases. What a peer sends begins in
// phase 0 when its link comes up.
type Phased interface {
	Runner
	// FrameIn and FrameSizeIn are Frame and FrameSize for a stream in a phase, a place in Info.Phases. FrameIn
	// returns the phase behind the frame. Without In they are of phase 0. In a raw phase no frame begins.
	FrameIn(from Peer, phase uint8, frame []byte) (next uint8, res Result, err error)
	FrameSizeIn(phase uint8, b []byte) (int, error)
}

// Phase is a phase of what a machine receives.
type Phase struct {
	Name string
	// Raw: the machine receives no message in it. The bytes are somebody else's.
	Raw bool
}

// Streamed is the result of [Streamer].Stream.
type Streamed struct {
	Out []byte // out and what was appended
	// Frames is how many frames had a plain outcome, Bytes their length together, and Sent how many
	// were appended to Out.
	Frames, Bytes, Sent int
	// Next is the length of the frame after these if it was delivered, and Result and Err are what
	// Frame returned for it. 0: it was not delivered, because it is not whole or no frame begins
	// there.
	Next   int
	Result Result
	Err    error
}

// DefaultParties is how many instances take part at most where a specification does not say so.
const DefaultParties = 62

// Refusal says why an event was refused that no branch of the specification refuses.
type Refusal struct {
	Reason Reason
	// Branch is the first branch for the event, an index into [Info].Transitions, if it is
	// Unguarded; else NoTransition.
	Branch uint16
	// Field and Type are the field that is OutOfRange and what it may be, such as 0..3; else empty.
	Field, Type string
}

// DefaultDeferred is how many messages a machine may hold if its specification does not say.
const DefaultDeferred = 8

// Outside notes that a field is outside its type's range, unless it is inside or an earlier field
// was outside.
func (r *Refusal) Outside(is bool, field, values string) {
	if is && r.Reason != OutOfRange {
		*r = Refusal{Reason: OutOfRange, Branch: NoTransition, Field: field, Type: values}
	}
}

// Handled explains a refusal with a table that has, by state and event, the index of the first
// branch plus 1. The event is Unguarded if there is such a branch, and Unmentioned otherwise.
func Handled(branches [][]uint16, state, event int) Refusal {
	if state < len(branches) && event < len(branches[state]) && branches[state][event] != 0 {
		return Refusal{Reason: Unguarded, Branch: branches[state][event] - 1}
	}
	return Refusal{Branch: NoTransition}
}

// Name returns the name of value i of an enumeration, as its String method does. For other values
// it returns a name that no value has.
func Name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	for _, n := range names {
		if n == "invalid" {
			return "(invalid)"
		}
	}
	return "invalid"
}

// Info describes a generated machine.
type Info struct {
	Protocol string
	Role     string
	// Hash is the hash of what the specification says of the machines, 64 hexadecimal digits:
	// not of its checks and docs. Snapshots and traces carry it and are refused by a machine
	// of another hash.
	Hash string

	States   []string
	Final    []bool // by state: the machine has finished
	Messages []string
	Commands []string
	Reports  []string
	Timers   []string

	Transitions []Transition

	// Absolute says of each timer whether it runs on while a saved machine is away; nil if none does.
	Absolute []bool

	// TickNanos is the length of a tick in nanoseconds, 0 if the protocol has no timers.
	TickNanos int64
	// MaxFrame is the largest frame in bytes, sent or received, of all channels.
	MaxFrame int
	// MaxEffects is the largest number of effects of one step.
	MaxEffects int
	// Deferred is how many deferred messages the machine may hold at a time; one more is an
	// error, which the checker finds. 0 stands for DefaultDeferred.
	Deferred int
	// Parties is how many instances take part at most, the machine's own among them: peers are
	// numbered from 0 to Parties - 1. 0 stands for DefaultParties.
	Parties int

	// Channels are those of a protocol with several, nil if it has one; ChannelOf is, by message, its place
	// among them. A peer comes up and is lost with the link of Channels[News], of which Ordered, Reliable
	// and Duplicates tell.
	Channels  []Channel
	ChannelOf []uint8
	News      int

	// Phases are those of the streams of the protocol, nil if it has none; PhaseOf is, by message, the first in
	// which it may be sent.
	Phases  []Phase
	PhaseOf []uint8

	// Ordered and Reliable are what the checker assumed of the channel. A
	// driver refuses a link that promises less.
	Ordered, Reliable bool
	// Duplicates: the checker let the channel deliver a message twice. A
	// driver refuses a link that duplicates frames otherwise.
	Duplicates bool
}

// Channel describes one of several channels between two parties, as Info does the only one.
type Channel struct {
	Name                          string
	Ordered, Reliable, Duplicates bool
	MaxFrame                      int
}

// Transition describes one branch of the specification.
type Transition struct {
	// Name is the state, the event and, where the event has several branches
	// in that state, the branch's number from 1: `localOk CHANGE/2`.
	Name string
	// From and To are indices into States. To equals From when the branch has no goto.
	From, To uint16
	// Code is Took for a branch, and Ignored or Deferred where the state says that of the event.
	Code Code
	// File, Line and Col point at the branch in the specification.
	File      string
	Line, Col int
}
