// Package model is the checked, immutable meaning of a specification. Everything
// behind the resolver (interpreter, checker, generator, diagrams, exports) is a
// pure function of a [Protocol]; nothing in it can be wrong, and a failure
// there is a bug of Parley, not of the author.
//
// A machine's value is laid out as a flat list of integers ("slots"); see
// [Machine] and [Type.Slots]. The interpreter and the checker work on slots;
// the generator turns the same layout into Go structs.
package model

import (
	"fmt"
	"time"

	"github.com/parley-go/parley/gen/diag"
)

// Protocol is one resolved specification, possibly specialised for one check
// (constants and domains replaced).
type Protocol struct {
	Name, Doc, Source string
	// Dir is the folder of the main file, Files all files read, main file first,
	// as the user named them, with forward slashes.
	Dir   string
	Files []string
	// Hash is the SHA-256 of what the machines depend on, in hexadecimal: all but checks,
	// docs and sources. Generated code, records and snapshots carry it.
	Hash string
	// Text is the SHA-256 of all that the files say, checks and docs too. Verdicts carry it.
	Text string

	Consts   []*Const
	Types    []*Type // named types, in source order
	Messages []*Message
	Roles    []*Machine
	// Channel is the channel of messages that name none, Beside are the others of a protocol with several.
	Channel Channel
	Beside  []Channel
	// Wire is how frames are written; nil if the specification does not say. Of several channels it is that of
	// those that have none of their own, see Over.
	Wire   *Wire
	Checks []*Check
	// Parties is how many instances take part at most: peers are numbered from 0 to Parties - 1.
	// Of a model that is specialised for a check it is how many the check has.
	Parties int
	// Tick is the length of a tick; 0 if there are no timers.
	Tick time.Duration
	// Allow has the reasons why warnings about the checks as a whole are to be left out, by code.
	Allow map[string]string
	Span  diag.Span
}

// MaxConst is the greatest value of a constant; the least is its negation.
const MaxConst = 1 << 40

// Const is a named integer of the specification.
type Const struct {
	Name  string
	Value int64
	Doc   string
	Span  diag.Span
	// Uses are the places that mention it, each once.
	Uses []diag.Span
}

// Message is a message of the protocol.
type Message struct {
	Name, Doc string
	Index     int // in Protocol.Messages (of the protocol that declares it)
	Fields    []*Field
	// Layout is the body on the wire, after the frame's header; nil without Wire.
	Layout []WireItem
	// Head has the items of the frame's header that depend on the message.
	Head []HeadField
	// Line is the template of a protocol of lines; nil otherwise.
	Line []LinePart
	// ID is the type number on the wire; -1 if none.
	ID int64
	// From is the role that alone sends the message, so that it does not receive it; empty if nothing
	// is said.
	From string
	// Channel is the place of its channel in Protocol.Channels.
	Channel int
	// Phases is the set of phases of its stream, by place in Wire.Phases, in which it may be sent; 0: all. Behind
	// it the stream is in phase Next, or as before if that is -1.
	Phases uint16
	Next   int
	// MinLen and MaxLen are the least and greatest length of its frames in
	// bytes, header included; 0 without Wire. MinLen leaves out padding at the
	// end, which a sender may omit.
	MinLen, MaxLen int
	Span           diag.Span
}

// Field is a field of a message, record, command or report.
type Field struct {
	Name, Doc string
	Index     int
	Type      *Type
	// Offset is the first slot of the field within its owner.
	Offset int
	// Unwrapped is set in the fields of wire items that stand for the value of an optional field:
	// Type and Offset are then those of the value.
	Unwrapped bool
	// Path is set in the fields of wire items that name a field of a record,
	// `program.version.major`: the fields that lead from the message or element to it, itself last.
	// Name is then the whole path, Offset counts from its beginning.
	Path []*Field
	Span diag.Span
}

// Channels are all channels of the protocol, of which one lies between each two instances.
func (p *Protocol) Channels() []Channel { return append([]Channel{p.Channel}, p.Beside...) }

// Several reports whether the protocol has more than one channel.
func (p *Protocol) Several() bool { return len(p.Beside) > 0 }

// Over returns the protocol as one channel of several has it: with that channel's messages and wire alone. What is
// read from the channel is read by it. Of a protocol with one channel it is the protocol. The messages keep their
// Index.
func (p *Protocol) Over(channel int) *Protocol {
	if !p.Several() {
		return p
	}
	c := *p
	c.Channel, c.Beside, c.Messages = p.Channels()[channel], nil, nil
	if c.Channel.Wire != nil {
		c.Wire = c.Channel.Wire
	}
	for _, m := range p.Messages {
		if m.Channel == channel {
			c.Messages = append(c.Messages, m)
		}
	}
	return &c
}

// WireOf returns how the frames of a message are written; nil if the specification does not say.
func (p *Protocol) WireOf(m *Message) *Wire {
	if p.Several() && p.Channels()[m.Channel].Wire != nil {
		return p.Channels()[m.Channel].Wire
	}
	return p.Wire
}

// News is the place in Channels of the channel with which links come and go: the first that keeps order and loses
// and copies nothing, or the first of all.
func (p *Protocol) News() int {
	for k, c := range p.Channels() {
		if c.Ordered && !c.Lossy && !c.Duplicates {
			return k
		}
	}
	return 0
}

// OneChannel returns an error if the protocol has several channels: what cannot work with these says so.
func (p *Protocol) OneChannel(what string) error {
	if !p.Several() {
		return nil
	}
	var names []string
	for _, c := range p.Channels() {
		names = append(names, c.Name)
	}
	return fmt.Errorf("%s has several channels, %s: %s works with one channel only so far "+
		"(`fsmgen check` takes them as they are)", p.Name, diag.And(names), what)
}

// Channel is the declared behaviour of the channels between instances.
type Channel struct {
	Name       string // empty if the protocol has no other
	Ordered    bool   // FIFO; otherwise any order
	Lossy      bool   // may lose messages
	Duplicates bool   // may deliver a message more than once
	Capacity   int    // messages per direction
	Full       Full   // what a send into a full channel does
	// Wire is how the frames of one of several channels are written; nil if as the protocol says.
	Wire *Wire
	Span diag.Span
}

// Full is what a send into a full channel does.
type Full uint8

const (
	FullFault Full = iota // the send is a fault (overflow)
	FullLose              // the message is lost
	FullWait              // the step that would send it is not possible until there is room
)

// Machine is a role, or the machine of a part. Its value has Size slots:
// the index of the control state; the parameters; the variables, ghosts last; one slot for each timer and
// each of its keys (0 disarmed, 1 armed); then the parts, each instance with its own machine's Size.
type Machine struct {
	Name, Doc string
	Protocol  string     // name of the protocol that declares it
	Messages  []*Message // of that protocol
	Params    []*Var     // constant after creation
	Vars      []*Var
	Timers    []*Timer
	Parts     []*Part
	Commands  []*Event // Kind EventCommand
	Reports   []*Report
	States    []*State
	Initial   *State
	// Events are all events the machine may be given, in a fixed order:
	// start, up, lost, messages, commands, timers, reports and finish of parts.
	Events []*Event
	// Transitions in source order; Transition.ID indexes it.
	Transitions []*Transition
	// Sender is the type of the expression sender, if the machine or a part of it uses that; else
	// nil. A message, up and lost from a number outside of it are refused.
	Sender *Type
	// Deferred is how many deferred messages the machine may hold; 0: DefaultDeferred.
	Deferred int
	// External says that a program which we do not write has this role. What peers send and its states do
	// not mention is ignored, in Handlers. Its machine is a stand-in for tests.
	External bool
	Size     int
	Span     diag.Span
}

// Linked reports whether some state of the machine mentions up or lost, so that links matter to it.
func (m *Machine) Linked() bool { return m.Mentions(EventUp) || m.Mentions(EventLost) }

// EventOf returns the first event of a kind that a machine has, the only one of start, up and lost; nil if it has none.
func (m *Machine) EventOf(kind EventKind) *Event {
	for _, ev := range m.Events {
		if ev.Kind == kind {
			return ev
		}
	}
	return nil
}

// Mentions reports whether some state of the machine mentions events of a kind.
func (m *Machine) Mentions(kind EventKind) bool {
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h != nil && h.Event.Kind == kind {
				return true
			}
		}
	}
	return false
}

// Defers reports whether some state of the machine defers a message.
func (m *Machine) Defers() bool {
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h != nil && h.Mode == Defer {
				return true
			}
		}
	}
	return false
}

// Hears reports whether some state of the machine mentions a message that another sends.
func (m *Machine) Hears(other *Machine) bool {
	sent := other.Sends()
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h != nil && h.Event.Kind == EventMessage && sent[h.Event.Message.Name] {
				return true
			}
		}
	}
	return false
}

// Sends is the set of the names of the messages that the machine sends, for its parts as well.
func (m *Machine) Sends() map[string]bool {
	sent := map[string]bool{}
	m.sends(sent)
	return sent
}

// sends notes the names of the messages that the machine sends, for its parts as well.
func (m *Machine) sends(out map[string]bool) {
	var in func(list []Stmt)
	in = func(list []Stmt) {
		for _, st := range list {
			switch st := st.(type) {
			case *Send:
				out[st.Message.Name] = true
			case *If:
				in(st.Then)
				in(st.Else)
			case *Each:
				in(st.Body)
			}
		}
	}
	for _, t := range m.Transitions {
		in(t.Body)
	}
	for _, st := range m.States {
		in(st.Entry)
	}
	for _, p := range m.Parts {
		inner := map[string]bool{}
		p.Machine.sends(inner)
		for i, x := range p.Machine.Messages {
			if ps := p.Sends[i]; ps != nil && inner[x.Name] {
				out[ps.Send.Message.Name] = true
			}
		}
	}
}

// DefaultDeferred is how many deferred messages a machine may hold if its role does not say.
const DefaultDeferred = 8

// DeferredMost returns how many deferred messages the machine may hold.
func (m *Machine) DeferredMost() int {
	if m.Deferred > 0 {
		return m.Deferred
	}
	return DefaultDeferred
}

// Closes reports whether some statement of the machine, or of a part of it, closes a link.
func (m *Machine) Closes() bool {
	var in func(list []Stmt) bool
	in = func(list []Stmt) bool {
		for _, st := range list {
			switch st := st.(type) {
			case *Close:
				return true
			case *If:
				if in(st.Then) || in(st.Else) {
					return true
				}
			case *Each:
				if in(st.Body) {
					return true
				}
			}
		}
		return false
	}
	for _, t := range m.Transitions {
		if in(t.Body) {
			return true
		}
	}
	for _, st := range m.States {
		if in(st.Entry) {
			return true
		}
	}
	for _, p := range m.Parts {
		if p.Machine.Closes() {
			return true
		}
	}
	return false
}

// Var is a parameter or variable.
type Var struct {
	Name, Doc string
	Type      *Type
	Init      Expr // constant; nil means the type's zero (parameters have none)
	Locals    int  // slots of the frame of locals that Init needs
	Kept      bool // survives a restart after a crash
	Self      bool // the parameter self, which checks and parents give: the number of the instance
	Parties   bool // the parameter parties, which they give, too: how many instances take part
	// Ghost says that a check has added the variable, for its claims alone.
	Ghost  Ghost
	Offset int // first slot in the machine's value
	Span   diag.Span
}

// Ghost says what sets a variable that a check has added to a role.
type Ghost uint8

const (
	NoGhost         Ghost = iota // the role has the variable
	GhostOfCommands              // the commands that the machine takes
	GhostOfReports               // what the machine reports; nobody sees a report of a step that a crash cuts short

	// A ghost of reports that is not kept is pending(), false from a crash on.
)

// Timer is a timer of a machine, or one for each key.
type Timer struct {
	Name, Doc string
	Index     int
	Ticks     int64    // duration; the greatest if Length is not nil
	Length    *Type    // the durations that a start can give; nil: always Ticks
	Keys      []*Field // empty if not keyed
	Count     int      // instances: product of the keys' domain sizes, 1 if not keyed
	Absolute  bool     // it runs on while a saved machine is away
	Offset    int      // slot of the first; that of the last key's next value follows
	Span      diag.Span
}

// Part is a machine that runs inside another, once or once for each key.
type Part struct {
	Name, Doc string
	Index     int
	Machine   *Machine
	Keys      []*Field // empty if not keyed
	Count     int      // instances: product of the keys' domain sizes, 1 if not keyed
	// Args give the part's parameters, one for each Machine.Params, over the
	// parent's parameters and the key locals. Evaluated once, at creation.
	Args []Expr
	// KeyLocals are the locals that hold the keys in Args and Sends.
	KeyLocals []*Local
	// ArgLocals is the number of slots of the frame that Args need, KeyLocals included.
	ArgLocals int
	// Sends holds, for each message of the part's protocol, what the parent sends instead. nil
	// means that nothing is sent: the message means something only inside the parent.
	Sends []*PartSend
	// To is the number of the part's peer, over KeyLocals: what the part sends or closes without a
	// destination goes there. nil means the parent's peer.
	To Expr
	// ToLocals is the number of slots of the frame that To needs, KeyLocals included.
	ToLocals int
	// Offset is the first slot of instance 0 in the parent's value.
	Offset int
	// Monitor says that a check has added the part, for its claims alone: the machine gives it its
	// commands and reports, and it does nothing.
	Monitor bool
	Span    diag.Span
}

// PartSend maps a message that a part sends to one of the parent.
type PartSend struct {
	Params []*Local // the part's message fields
	Locals int      // slots of the frame: the part's KeyLocals, Params, and what Send needs
	Send   *Send    // over Params and the part's KeyLocals; never inside another part's scope
}

// EventKind is the kind of an event: where it comes from.
type EventKind uint8

const (
	EventStart    EventKind = iota // the machine begins
	EventUp                        // the link came up
	EventLost                      // the link was lost
	EventMessage                   // a message arrived
	EventCommand                   // the embedding program wants something
	EventTimer                     // an armed timer expired
	EventReport                    // a part reported
	EventFinished                  // a part entered a final state
)

// Event is an event that a machine may be given.
type Event struct {
	Kind  EventKind
	Name  string // as in the specification: READY, confirm, retry, fleet.changed, confirm.finished
	Doc   string
	Index int // in Machine.Events
	// Message, Timer, Part, Report are set according to Kind.
	Message *Message
	Timer   *Timer
	Part    *Part
	Report  *Report
	// Fields are the parameters: the message's or report's fields, or the command's
	// own. For events of keyed parts the keys come first; those of a timer are its keys.
	Fields []*Field
	// Watched says that a monitor of several instances hears the event from one of them.
	Watched bool
	Span    diag.Span
}

// FromPeer reports whether events of this kind come from another instance: a message, a link that came
// up or was lost, or what a monitor of several instances hears.
func (e *Event) FromPeer() bool {
	return e.Kind == EventMessage || e.Kind == EventUp || e.Kind == EventLost || e.Watched
}

// Report is a report that a machine makes to the embedding program, or to its parent.
type Report struct {
	Name, Doc string
	Index     int
	Fields    []*Field
	Span      diag.Span
}

// State is a control state.
type State struct {
	Name, Doc string
	Index     int
	Final     bool
	// Entry runs after every goto into this state (also from itself), before
	// reports of parts raised in the same step are handled.
	Entry       []Stmt
	EntryLocals int // locals that Entry needs
	// Handlers by Event.Index; nil where the state does not mention the event.
	Handlers []*Handler
	In       *Composite // the state around this one; nil if there is none
	Exit     []Stmt     // for readers, as in Composite
	Span     diag.Span
}

// Composite is a state that has states of its own. What it does stands in these: their handlers
// include its own, and branches that come into it or leave it contain its entry and exit actions.
type Composite struct {
	Name, Doc string
	In        *Composite // nil if no state is around it
	States    []*State   // all states in it that have none of their own, in order
	// Entry and Exit are what it does when the machine comes into it and leaves it, for readers: branches
	// contain it.
	Entry, Exit []Stmt
	Span        diag.Span
}

// Mode says whether a state handles, ignores or defers an event.
type Mode uint8

const (
	Handle Mode = iota
	Ignore      // drop it
	Defer       // keep it for a later state
)

// Handler is the response of one state to one event.
type Handler struct {
	Event *Event
	Mode  Mode
	// Branches are tried in order; the first whose When holds (or that has
	// none) is taken. If none is taken the event is refused. For Ignore and
	// Defer there is exactly one branch, without When and Body.
	Branches []*Transition
	Span     diag.Span
}

// Transition is one branch of one state's handler.
type Transition struct {
	ID    int
	Name  string // `localOk CHANGE/2`, see fsm.Transition
	From  *State
	Event *Event
	When  Expr // nil: always
	Body  []Stmt
	To    *State // nil: no goto, the state stays and Entry does not run
	// Params are the locals that hold the event's fields, one each, first in the frame.
	Params  []*Local
	Locals  int // slots of all locals of the branch, Params included
	Mode    Mode
	By      *Composite // the state around From that says so; nil: From itself
	Resumes *Composite // To is one of these, the one that was left last
	// Defensive says that instances that keep to their roles never make the machine take it.
	Defensive bool
	Doc       string
	Span      diag.Span
}

// MsgName stands for the event that is handled: msg.value is its field.
const MsgName = "msg"

// Local is a local name inside a branch: an event's field, the variable of an
// each, of a list builder or of a quantifier.
type Local struct {
	Name   string
	Type   *Type
	Offset int // first slot in the frame of locals
	// Event says that it is a field of the event that is handled, Hidden that a value of the role has the same
	// name: then `msg.NAME` means the field, and NAME that value.
	Event, Hidden bool
}
