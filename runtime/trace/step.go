// Package trace records what a machine did, step by step, as lines of JSON
// that a person can read and a program can run again.
//
// The first line is a [Header]; each further line is a [Step]: one event, what
// became of it, and the effects it had, with the bytes of every frame. The
// events of a record, given to a machine of the same specification, repeat
// the run exactly. The package knows no clock and no socket; times are given
// to it. Start from [Writer] and [Reader].
package trace

import (
	"time"

	"github.com/parley-go/parley/runtime/fsm"
)

// Version is the version of the format that this package writes.
const Version = 1

// Header identifies the machine that a record is about.
type Header struct {
	Protocol string
	Role     string
	// Instance is the name of this machine among several, empty if it has none.
	Instance string
	// Hash is [fsm.Info].Hash: a record can be run again only by a machine of the same hash.
	Hash string
	// Machine is the machine before its first step as text, by
	// [fsm.Runner].AppendMachine: its parameters, above all.
	Machine string
	// Channels are the names of [fsm.Info].Channels, nil if the protocol has one.
	Channels []string
	// Time is when the record began; the offsets of the steps count from it.
	Time time.Time
}

// Kind is the kind of a line of the record.
type Kind uint8

const (
	Start     Kind = iota // the event start
	Up                    // the link to Peer came up; Note is its address
	Lost                  // the link to Peer was lost; Note is the reason
	Timeout               // a timer expired
	Message               // a frame from Peer was delivered
	Command               // the program gave a command
	Malformed             // a frame from Peer was not decoded; Problem says why
	Closed                // the record ends here; Note is the reason
	kinds
)

var kindNames = [kinds]string{"start", "up", "lost", "timeout", "message", "command", "malformed", "closed"}

// String returns the name of k in the record.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "invalid"
}

// TooManyDeferred begins the Problem of a message that was dropped because as many as the role may
// defer are held.
const TooManyDeferred = "dropped: too many deferred messages; "

// Step is one line of a record. A driver reuses one Step and its buffers, so
// a [Sink] must copy what it keeps.
type Step struct {
	// Seq counts the lines after the header from 1.
	Seq uint64
	// At is the time since Header.Time.
	At   time.Duration
	Kind Kind
	// Again: the message was deferred before, and is handled now.
	Again bool
	// Peer is whom the event concerns, for Up, Lost, Message and Malformed; else fsm.Broadcast.
	Peer fsm.Peer
	// Channel is the place of the frame's channel in fsm.Info.Channels; 0 where there is one, or no frame.
	Channel int
	// Event is the event as text, by [fsm.Runner].AppendEvent; empty for Malformed and Closed.
	Event []byte
	// Frame holds the bytes of a message or malformed frame as they came from the wire.
	Frame []byte
	// Code and Transition are the result; Name is the transition's name, empty for fsm.NoTransition.
	Code       fsm.Code
	Transition uint16
	Name       string
	// Before and After are the names of the control state.
	Before, After string
	Effects       []Effect
	// Problem says why a frame is malformed or an event was refused.
	Problem []byte
	// Note is a remark: an address, a reason.
	Note []byte
}

// Effect is one effect of a step.
type Effect struct {
	Kind fsm.EffectKind
	// Peer is to whom a frame goes or whose link is closed; else 0.
	Peer fsm.Peer
	// Channel is that of the frame, as in a Step.
	Channel int
	// Text is the effect as text, by [fsm.Runner].AppendEffect.
	Text []byte
	// Frame holds the bytes handed to the link, empty unless Kind is fsm.Send.
	Frame []byte
}

// Reset empties s but keeps its buffers.
func (s *Step) Reset() {
	effects := s.Effects[:0]
	*s = Step{Peer: fsm.Broadcast, Transition: fsm.NoTransition,
		Event: s.Event[:0], Frame: s.Frame[:0], Problem: s.Problem[:0], Note: s.Note[:0], Effects: effects}
}

// AddEffect appends an effect with empty texts to s and returns it.
func (s *Step) AddEffect() *Effect {
	if n := len(s.Effects); n < cap(s.Effects) {
		s.Effects = s.Effects[:n+1]
		e := &s.Effects[n]
		*e = Effect{Text: e.Text[:0], Frame: e.Frame[:0]}
		return e
	}
	s.Effects = append(s.Effects, Effect{})
	return &s.Effects[len(s.Effects)-1]
}

// Sink takes the steps of one machine: a [Writer], a packet capture, a test.
type Sink interface {
	// Begin is called once, before the first step.
	Begin(h Header)
	// Step is called after each step, in order. It must not keep s, must not
	// block, and keeps its errors for Flush.
	Step(s *Step)
	// Flush hands everything to the underlying file. It returns the first
	// error there ever was, and does so on every call after it.
	Flush() error
}
