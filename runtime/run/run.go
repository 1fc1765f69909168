// Package run is what happened in a protocol, step by step: a counterexample of the checker, a way
// through a recording, what several drivers recorded together, a scenario. Whoever finds a run
// gives it as a [Run]; whoever shows one, or does it again, takes a [Run].
//
// [Run.Text] writes a run for people, [Run.Chart] lays it out for drawings. Its JSON, which [Parse]
// reads, has all of it. [Run.Scenario] writes the lines of a scenario, [ReadStep] reads one, and
// [ReadTrail] reads a trail of Spin. [Merge] makes a run of the records of drivers. Generated Go
// tests, pictures and explained captures are written where their languages are known:
// cmd/internal/gotest, gen/graph, gen/replay.
package run

import "time"

// Run is a sequence of steps from the beginning.
type Run struct {
	// Title says what the run is called in a drawing; may be empty.
	Title string
	// Protocol, Check and Hash say what it is a run of, as far as that is known: the name of the
	// protocol, the check whose instances take part, and the hash of the machines, which generated
	// code and records carry, too.
	Protocol, Check, Hash string
	// Instances are the machines that take part. Steps name them by their index.
	Instances []Instance
	// Steps are all steps. The last Loop of them are repeated for ever; 0 if the run ends.
	Steps []Step
	Loop  int
	// Problem is what is wrong at the end, in words; empty if nothing is.
	Problem string
	// End is the last configuration in words: machines, then channels.
	End []string
	// False are the parts of a violated claim, which is a conjunction, that do not hold in the last
	// configuration.
	False []string
	// Reads are the values in the last configuration of what a violated claim looks at, in the
	// claim's order; of a conjunction, of what False has. States of instances are left out: End has
	// them.
	Reads []Reading
}

// Instance is a machine that takes part in a run.
type Instance struct {
	Name string `json:"name"`
	// Role is the name of its role, Start its state before the first step; empty if unknown.
	Role  string `json:"role,omitempty"`
	Start string `json:"start,omitempty"`
	// Hostile: it has no machine and sends what it likes. What it sends is received at once, so that
	// such a message has no identity.
	Hostile bool `json:"hostile,omitempty"`
}

// Stem returns the steps before the part that is repeated for ever: all steps if none is.
func (r *Run) Stem() []Step { return r.Steps[:len(r.Steps)-r.Loop] }

// Cycle returns the steps that are repeated for ever, none if the run ends.
func (r *Run) Cycle() []Step { return r.Steps[len(r.Steps)-r.Loop:] }

// Of returns the steps in which an instance moves.
func (r *Run) Of(who int) []Step {
	var list []Step
	for i := range r.Steps {
		if r.Steps[i].Mover() == who {
			list = append(list, r.Steps[i])
		}
	}
	return list
}

// Kind is the kind of a step.
type Kind string

// What happens to a machine, and what it does.
const (
	Start   Kind = "start"
	Command Kind = "command"
	Timer   Kind = "timer"
	Message Kind = "message"
	// Copy is the reception of a message that stays under way, so that it may come again.
	Copy Kind = "copy"
	// Offer: a message that was deferred is given to the machine again.
	Offer Kind = "offer"
	// Drop: a machine that has ended, or that is down, drops a message.
	Drop Kind = "drop"
	// LinkUp and LinkLost are news of the link to From. Break: the machine takes that link for dead.
	LinkUp   Kind = "up"
	LinkLost Kind = "link"
	Break    Kind = "break"
	Crash    Kind = "crash"
	Restart  Kind = "restart"
	// Come: somebody comes to an instance at which nobody is, and begins. Go: who has ended goes.
	Come Kind = "come"
	Go   Kind = "go"
	// Return: the machine's program wants a link back that was lost. Cutoff: the partition, or its
	// end, has reached the machine.
	Return Kind = "return"
	Cutoff Kind = "cutoff"
	Beat   Kind = "beat"
	// Malformed: bytes arrived that are no message. Closed: the machine is given up, and its record
	// ends.
	Malformed Kind = "malformed"
	Closed    Kind = "closed"
	// Unseen is a step of a machine that nobody recorded. What is known of it is what it sent or
	// received.
	Unseen Kind = "unseen"
)

// Absent is told of an instance at which nobody is, in place of its state.
const Absent = "nobody is there"

// What happens between machines.
const (
	// Lost: the message From sent to Who is lost. Swapped: two messages from From to Who, which are next
	// to each other, change places.
	Lost    Kind = "lost"
	Swapped Kind = "swapped"
	// Partition: the instances fall into two sets that do not hear each other, or hear each other
	// again. Clock: time passes.
	Partition Kind = "partition"
	Clock     Kind = "clock"
)

// Nobody is the index that stands for no instance.
const Nobody = -1

// Step is one step of a run.
type Step struct {
	Kind Kind
	// Who is the instance that moves. Of a message that is lost, or of two that change places, it
	// is the receiver. Nobody if time passes, and of a partition.
	Who int
	// From is the sender of the message, or the other end of the link; Nobody if there is none.
	From int
	// Channel names the channel that a message, or news that nobody hears, travels in, if the protocol has several;
	// empty otherwise.
	Channel string
	// Message is the identity of the message that is received or lost: the ID of one that was sent;
	// 0 if there is none. At is its place among those under way in its channel from From to Who, from 0; of two that
	// change places, that of the first; of a partition, the instances on one side of it as bits, 0
	// where it ends.
	Message, At int
	// Event is what happened in words: an event with its values, or the message that is lost.
	Event string
	// State is the machine's control state or its change, parts included, in words; After is the
	// state behind the step, with those of parts that are not in their initial state. Empty if
	// unknown.
	State, After string
	// Effects are what the machine did, in words that begin with a verb: sends, reports, arms.
	Effects []string
	// Sent are the messages that it sent, one for each receiver.
	Sent []Sent
	// Changes are the variables of the machine and its parts that the step changes, element by element.
	Changes []Change
	// Transition is the branch that was taken, Where its line.
	Transition, Where string
	// Note is a remark of whoever recorded the step: an address, the reason for which a link was lost.
	Note string
	// Fault says why the step is an error; empty if it is none.
	Fault string
	// Torn, if not 0, is one more than what had gone out when the machine crashed in the course of the
	// step: messages, one for each receiver, and closed links. Effects and Sent are those before.
	Torn int
	// Time is when it happened, from the beginning of the run, and Frame what came from the wire,
	// both if the step was recorded.
	Time  time.Duration
	Frame []byte
}

// Mover returns the instance that moves, or [Nobody] if something between the machines does.
func (s *Step) Mover() int {
	switch s.Kind {
	case Lost, Swapped, Partition, Clock:
		return Nobody
	}
	return s.Who
}

// Sent is a message that a step sent to one receiver.
type Sent struct {
	// ID is positive, and no other message of the run has it; 0 if the message was lost at once,
	// because its channel was full.
	ID   int
	To   int
	Text string
	// Channel names the message's channel, if the protocol has several.
	Channel string
}

// Change is a place in which two values of a machine differ: a parameter or variable, or an element
// or field of one. It is named as in an expression (`fleet[2]`, `update[1].own`), and has the texts
// of its values.
type Change struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Monitor says that a monitor of several instances changes, and not the machine.
	Monitor bool `json:"monitor,omitempty"`
}

// Reading is something that a claim reads (a variable, a part's state, a timer or the length of a
// channel), by the name that the claim uses, with its value.
type Reading struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Flying tells messages apart while a run is built: it has the messages under way on each channel,
// oldest first. The zero value is ready to use.
type Flying struct {
	channels map[[2]int][]flying
	last     int
}

type flying struct {
	id   int
	what string
}

// Send puts a message under way and returns its identity. Two messages have the same what if and
// only if they are equal.
func (f *Flying) Send(from, to int, what string) (id int) {
	if f.channels == nil {
		f.channels = map[[2]int][]flying{}
	}
	f.last++
	k := [2]int{from, to}
	f.channels[k] = append(f.channels[k], flying{f.last, what})
	return f.last
}

// Find returns the place and the identity of the oldest equal message under way, or -1 and 0 if
// there is none. Which of several equal messages on one channel is taken makes no difference to
// what can happen.
func (f *Flying) Find(from, to int, what string) (at, id int) {
	for i, m := range f.channels[[2]int{from, to}] {
		if m.what == what {
			return i, m.id
		}
	}
	return -1, 0
}

// Take removes the message at a place.
func (f *Flying) Take(from, to, at int) {
	k := [2]int{from, to}
	f.channels[k] = append(f.channels[k][:at:at], f.channels[k][at+1:]...)
}

// Swap exchanges the message at a place of a channel and the one behind it.
func (f *Flying) Swap(from, to, at int) {
	if c := f.channels[[2]int{from, to}]; at+1 < len(c) {
		c[at], c[at+1] = c[at+1], c[at]
	}
}
