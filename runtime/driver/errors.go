package driver

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/runtime/fsm"
)

// ErrNoChannel is wrapped by the error of what is sent over a channel for which the driver was given no link.
var ErrNoChannel = errors.New("no link was given (AttachOn) for the channel")

var (
	// ErrStopped is returned when the driver does not run any more.
	ErrStopped = errors.New("the driver has stopped")
	// ErrMailboxFull is returned by Post and Attach when too much waits already.
	ErrMailboxFull = errors.New("the driver's mailbox is full")
	// ErrWouldDeadlock is returned by Do when the handler that runs does not return: it calls Do
	// itself, and so waits in the goroutine that would have to carry the command out, or it blocks.
	ErrWouldDeadlock = errors.New("a handler of the driver has not returned for five seconds: one that " +
		"calls Do has to use Post instead")
	// ErrLinkTooWeak is wrapped by the error of Attach for a link that
	// promises less than the specification was checked for.
	ErrLinkTooWeak = errors.New("the link promises too little")
	// ErrRunning is returned by a second Run.
	ErrRunning = errors.New("the driver runs or ran already")
)

// ErrorKind is the kind of an [Error].
type ErrorKind uint8

const (
	// Refused: the machine does not accept the event in its state.
	Refused ErrorKind = iota + 1
	// Malformed: bytes are no frame of the protocol.
	Malformed
	// Unsendable: a message of the machine has no encoding.
	Unsendable
	// DeferredFull: more messages are deferred than the specification allows, fsm.Info.Deferred.
	DeferredFull
	// Silent: the peer sent nothing for Options.IdleLimit.
	Silent
	// NoHandshake: the peer sent nothing acceptable within Options.HandshakeLimit.
	NoHandshake
	// TraceFailed: a recorder could not write.
	TraceFailed
	// BadLink: a link could not be attached.
	BadLink
	// NoLink: the machine has sent to a peer that never had a link or whose link has not come up yet,
	// or has closed that link. It is reported once for each peer; a message to a peer whose link was
	// lost is no error of the program, and only counted.
	NoLink
)

// Error says what went wrong in a machine's run: where, with which event or
// bytes, why, and what would have been right.
type Error struct {
	Kind           ErrorKind
	Protocol, Role string
	// State is the name of the control state in which it happened.
	State string
	// Peer is whose event or frame it was; fsm.Broadcast if nobody's.
	Peer fsm.Peer
	// Event is the event as text; empty for bytes that were not decoded.
	Event string
	// Frame holds the bytes as received, if the event came from the wire. At
	// most MaxErrorFrame bytes are kept.
	Frame []byte
	// Legal names the events that the state handles or ignores, separated by ", ".
	Legal string
	// Transition is the branch of the specification that refused or sent, or the first whose guard
	// did not hold; nil if the specification does not mention the event in that state.
	Transition *fsm.Transition
	// Refusal says why an event was refused that no branch refuses.
	Refusal fsm.Refusal
	info    *fsm.Info
	// Cause is the underlying error, nil if there is none.
	Cause error
}

// MaxErrorFrame is the most bytes that an Error keeps of a frame.
const MaxErrorFrame = 4096

// Unwrap returns e.Cause.
func (e *Error) Unwrap() error { return e.Cause }

// Error returns the error in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Protocol + "." + e.Role + " in state " + e.State + ": ")
	switch e.Kind {
	case Refused:
		b.WriteString(e.Event + e.from() + " is refused")
		if why := e.why(); why != "" {
			b.WriteString(": " + why)
		}
	case Malformed:
		b.WriteString("malformed frame" + e.from())
	case Unsendable:
		b.WriteString("cannot encode " + e.Event)
	case NoLink:
		b.WriteString(e.Event)
	case DeferredFull:
		b.WriteString("cannot defer " + e.Event + e.from())
	case Silent:
		b.WriteString("nothing heard" + e.from())
	case NoHandshake:
		b.WriteString("no acceptable message" + e.from() + " in time")
	case TraceFailed:
		b.WriteString("recording has stopped")
	case BadLink:
		b.WriteString("cannot use the link" + strings.Replace(e.from(), "from", "to", 1))
	}
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	if t := e.Transition; t != nil {
		b.WriteString(" (" + t.Name + " at " + t.File + ":" + strconv.Itoa(t.Line) + ":" + strconv.Itoa(t.Col) + ")")
	}
	if len(e.Frame) > 0 {
		b.WriteString("; bytes " + hex.EncodeToString(e.Frame[:min(len(e.Frame), 32)]))
		if len(e.Frame) > 32 {
			b.WriteString("… (" + strconv.Itoa(len(e.Frame)) + " in all)")
		}
	}
	if legal := e.legal(); legal != "" {
		b.WriteString("; legal here: " + legal)
	}
	if who := e.stranger(); who != "" {
		b.WriteString("; " + who)
	}
	return b.String()
}

// why says why an event was refused, if no branch of the specification says so.
func (e *Error) why() string {
	switch {
	case e.Refusal.Reason == fsm.OutOfRange:
		return e.Refusal.Field + " is outside " + e.Refusal.Type
	case e.Refusal.Reason == fsm.Unguarded:
		return "no guard holds for it now"
	case e.Transition == nil:
		return "the state does not mention it"
	}
	return ""
}

// problem returns the record's text for a refused or dropped event.
func (e *Error) problem() string {
	var parts []string
	if why := e.why(); why != "" && e.Kind == Refused {
		parts = append(parts, why)
	}
	if legal := e.legal(); legal != "" {
		parts = append(parts, "legal here: "+legal)
	}
	return strings.Join(parts, "; ")
}

// legal is Legal by kind of event. It is empty if the event itself was legal.
func (e *Error) legal() string {
	if e.Refusal.Reason != fsm.Unmentioned {
		return ""
	}
	if e.info == nil || e.Legal == "" {
		return e.Legal
	}
	kinds := [...]struct {
		what  string
		names []string
		found []string // of Legal
	}{{what: "messages", names: e.info.Messages}, {what: "commands", names: e.info.Commands},
		{what: "timers", names: e.info.Timers}, {what: "events"}}
	for _, name := range strings.Split(e.Legal, ", ") {
		i := 0
		for i < len(kinds)-1 && !slices.Contains(kinds[i].names, name) {
			i++
		}
		kinds[i].found = append(kinds[i].found, name)
	}
	var parts []string
	for _, k := range kinds {
		if len(k.found) > 0 {
			parts = append(parts, k.what+" "+strings.Join(k.found, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

func (e *Error) from() string {
	if e.Peer == fsm.Broadcast {
		return ""
	}
	return " from peer " + strconv.Itoa(int(e.Peer))
}
