// Package world says what lies between machines: the channels and what they do to messages,
// deferral, links that come up and end, timers and the beats of time, crashes, and commands of the
// environment. It is the only place that says so: the checker, the prover, the scenario runner, the
// simulator and the tests of the driver take their steps from it, or are held against it by a test.
//
// It knows nothing of specifications, wire formats or real time, and imports the contract of
// machines, runtime/fsm, alone. It comes in three layers:
//
//   - [Rules] is data: how many instances there are, which channels and links, what may go wrong.
//   - The functions of queues ([Channel.Push], [Channel.Heads] and so on) say what a channel does;
//     the steps of one instance ([Deliver], [Offer], [Expire] and so on) say what an instance makes
//     of an event. A step sees one [End], one value and one item, never a configuration, so that a
//     search can tabulate it.
//   - [World] puts both together: [World.Moves] lists all that can happen in a [Configuration] and
//     [World.Do] takes one move.
//
// # Deferral
//
// A message that the receiver's state defers leaves its channel and is held by the receiver: see
// [End].Held. An instance that holds a message which its present state no longer defers is due: its
// next step is to handle the oldest such message, and until then it takes nothing else ([Crash]
// aside). Rules.Deferred bounds how many messages an instance holds; one more is the fault
// [DeferredOverflow]. Held messages take no capacity, cannot be lost, copied or overtaken, and do
// not hold time up. What is held of a peer is discarded when its link is lost or closed, everything
// when the instance crashes.
//
// # Links
//
// A link has two ends. An end that is told of it waits until it comes up ([LinkUp]), once, at any
// moment, but before the first message from there. What is sent over a waiting link arrives. The
// link ends for an end when it hears that it is lost ([LinkLost], or the news [Cut]), or closes it:
// then it hears nothing more of the other end, its own machine gets no event for a close, and what
// it sends there is gone at once. A close, like a crash, is heard by the other end behind all that
// was sent before. A break is heard by each end at a moment of its own; what is then still under
// way to it is lost. An instance that begins anew after a crash has its links as at the beginning,
// but for those that have broken. The others hear `up`, behind all that it sent before the crash,
// and answer; until then nothing that comes from there is heard. Who is down answers that its end
// is gone.
//
// # Parties that come and go
//
// Nobody is at an instance of Rules.Come at first. Somebody comes ([Come]), at any moment, and begins as
// an instance does that nobody has been before, with its links as at the beginning: it asks for them as
// who restarts does. Who has come to the end of its machine goes ([Go]): its links end as if it had closed
// them, and what it sent before arrives. Then another one may come, who knows nothing of the one before.
// An instance stands for an address: without links, what was sent to the one before may reach the next.
//
// # Hostile peers
//
// An instance of Rules.Hostile has no machine. At any moment another one may get from it any message
// that a [Forger] lists ([MoveForge]), and hear that it has closed the link ([MoveHangup]) or, if it is
// in Rules.Malformed, that it has sent what is no message ([MoveMalformed]). What is sent to it is gone
// at once. As it sends whatever and whenever it likes, nothing from it has to lie in a channel. A
// message from there that the receiver refuses, or has no room to defer, is no fault: the receiver
// closes the link, as a driver does, and its machine hears `lost`. Where there is no link it is dropped.
package world

import (
	"math"
	"slices"

	"github.com/parley-go/parley/runtime/fsm"
)

// MaxInstances is the greatest number of instances of a world, so that a set of them fits in 64
// bits.
const MaxInstances = 64

// Rules describe what lies between instances. No function of this package changes them.
type Rules struct {
	// Instances is their number, at most MaxInstances.
	Instances int
	// Channels are the paths of messages, at most one for each ordered pair of instances and class.
	Channels []Channel
	// Links are the pairs whose connection comes up and ends. Between others there are datagrams,
	// or nothing.
	Links []Link
	// Deferred is, by instance, the most messages that it may hold.
	Deferred []int
	// Timers is, by instance, how many timers it has.
	Timers []int
	Faults Faults
	// Come is, by instance, how many parties may come to it, one after another; 0: it is there from the
	// beginning. Nil: all are.
	Come []int
	// Time is nil if a timer may expire at any moment after it was started.
	Time *Time
	// Hostile is the set of instances without a machine, which do what they like. Malformed are those
	// of them that send what is no message, too.
	Hostile, Malformed uint64
	// Plant brings back meanings that were wrong, for tests that have to find them. It is 0
	// everywhere else.
	Plant Plant
}

// Faults bound what may go wrong in one run. 0 means never.
type Faults struct {
	// Lose, Duplicate and Overtake count messages in all channels that allow it; -1: as often as
	// possible.
	Lose, Duplicate, Overtake int
	// Crash and Restart say how often each instance may; nil: never.
	Crash, Restart []int
	// CrashAll bounds the crashes of all instances together; 0: only Crash does.
	CrashAll int
	// Torn: a crash may come within a step, and what was sent last may be lost with its sender.
	Torn bool
	// Break counts how often an end takes its link for dead, Return how often a lost link is wanted
	// back; -1: as often as possible.
	Break, Return int
	// Partition counts partitions. A link in one may break, and come back after it, without being
	// counted.
	Partition int
	// Bridge is the set of instances that no partition cuts off: both sides hear them, and they hear both.
	Bridge uint64
}

// Time relates timers and messages. Time passes in beats. Each instance feels each beat once, in
// any order, and the next one only after all have felt this one.
type Time struct {
	// Beat is its length in ticks, at least 1. A timer of t ticks may expire from the floor(t/Beat)-th
	// beat felt after its start on, and is due at the ceil(t/Beat)-th. See [Time.Beats].
	Beat int64
	// Drift is, by instance, how far the rate of its clock is from 1 at most, in millionths and less
	// than a million; nil: all clocks go right.
	Drift []int
	// Delay is within how many beats of the receiver a message arrives, at least 1.
	Delay int
}

// Link is a connection between two instances.
type Link struct {
	A, B int
	// Untold says of A and of B that their machines mention `up` nowhere; their ends begin as if
	// they had come up.
	Untold [2]bool
	// Late: the program gives the link only at the moment when it comes up, so that a send or close
	// before, which names this peer, is the fault NoLink; what goes to everyone passes it over.
	// Otherwise it is there before the event start, and what is sent before `up` arrives.
	Late bool
	// Datagrams: nobody hears of a close, a crash or a break at the other end. The link comes up, an
	// end can be closed, and it may take the link for dead.
	Datagrams bool
	// Class is that of the channels in which news of the link travels. A link is of all channels between the
	// two: what is in another one when it ends is heard before the news, or never. Channels of other
	// classes that lose, copy or reorder messages are of datagrams, whatever the link is.
	Class int
}

// Plant is a set of wrong meanings, which tests switch on and must then find.
type Plant uint32

// The old meanings, by the number of the difference that decisions/0011 settles, and what could be
// wrong of the faults that decisions/0018 settles.
const (
	DeferBlocks         Plant = 1 << iota // D1: a deferred message stays at the head of its channel
	DeferDrops                            // D1: it is dropped
	OfferNewest                           // D1, D9: held messages are not offered oldest first
	IgnoredStaysArmed                     // D2: a timer that expired and was ignored may expire again
	CloserHears                           // D3: who closes goes on hearing, and hears `lost` when the other end answers
	NeverTold                             // D4: links do not come up
	SendNeedsUp                           // D5: what is sent before `up` is gone
	NewsTakesRoom                         // D6: news of a link counts for the capacity
	LostWaits                             // D7: `lost` is not heard while a message of that peer is held
	HeldStopsTime                         // D8: no beat is felt while a message is held
	HeldTakesRoom                         // D9: held messages count for the capacity of their channel
	OldIsHeard                            // D11: who begins anew hears what was sent to the one before
	ClosesWhatIsMissing                   // D5: a link can be closed before the program has given it
	TornIsWhole                           // F2: a step that a crash cuts short has sent everything
	TailStays                             // F3: nothing that was sent is lost with its sender
	LostComesBack                         // F1: over a link that is wanted back comes what was sent over the lost one
	PartitionLeaks                        // F5: datagrams pass a partition
	PartitionSpares                       // F5: a partition takes no datagrams that are under way
	RefusalIsDropped                      // what is refused of a hostile peer closes no link
	GoneStays                             // C1: the others do not hear that somebody has gone
	ComerRemembers                        // C2: who comes begins with what the one before had kept
	RoundsUp                              // T1, T2: a timer runs its ticks by a right clock, rounded up to beats
)

// link returns the link between two instances and which end of it i is.
func (r *Rules) link(i, j int) (l *Link, end int) {
	for k := range r.Links {
		switch l := &r.Links[k]; {
		case l.A == i && l.B == j:
			return l, 0
		case l.B == i && l.A == j:
			return l, 1
		}
	}
	return nil, 0
}

// IsHostile reports whether instance i has no machine and does what it likes.
func (r *Rules) IsHostile(i int) bool { return r.Hostile>>i&1 != 0 }

// Peers returns the set of instances to which i has a link.
func (r *Rules) Peers(i int) uint64 {
	var set uint64
	for _, l := range r.Links {
		switch i {
		case l.A:
			set |= 1 << l.B
		case l.B:
			set |= 1 << l.A
		}
	}
	return set
}

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of event. Nothing: the machine got no event.
const (
	Nothing EventKind = iota
	Start
	Up
	Lost
	Message
	Timeout
	Command
)

var eventNames = [...]string{"nothing", "start", "up", "lost", "message", "timeout", "command"}

// String returns the kind in lower case.
func (k EventKind) String() string { return eventNames[k] }

// Event is one thing that happens to a machine.
type Event[M comparable] struct {
	Kind EventKind
	// Peer is the instance that a Message comes from, or whose link an Up or Lost is about.
	Peer int
	// Message is a Message's content, or a Command.
	Message M
	// Timer is the number of the timer of a Timeout, from 0.
	Timer int
}

// Everyone is the destination of an effect for all other instances.
const Everyone = -1

// Effect is one request of a machine.
type Effect[M comparable] struct {
	// Kind: reports may be left out.
	Kind fsm.EffectKind
	// To is the instance that a Send or Close is for, or Everyone.
	To      int
	Message M
	// Class is that of the channel into which a Send goes.
	Class int
	// Timer and Ticks are those of a StartTimer or StopTimer.
	Timer int
	Ticks int64
}

// Outcome is the result of giving a machine an event.
type Outcome[V any, M comparable] struct {
	Code fsm.Code
	// Value is the machine afterwards. After Refused it is not looked at.
	Value V
	// Effects are those of a step that was Took, in order.
	Effects []Effect[M]
	// Fault says why the machine refused, for people.
	Fault string
}

// Machine steps values that the world does not look into. Its methods are pure: they neither keep
// nor change their arguments.
type Machine[V any, M comparable] interface {
	// Step gives the machine an event. It is never given a message that it defers.
	Step(v V, ev Event[M]) Outcome[V, M]
	// Defers reports whether the control state of v defers a message.
	Defers(v V, m M) bool
	// Final reports whether the machine has finished.
	Final(v V) bool
}

// Crasher is implemented by machines that can crash and begin anew. A machine without it keeps its
// value in a crash and cannot restart.
type Crasher[V any] interface {
	// Crashed is the value after a crash, for those who still look at it. Before is the one before
	// the step that the crash cuts short, whose reports nobody sees; or v, if it cuts none.
	Crashed(before, v V) V
	// Restarted is the value with which the machine begins anew, with what it has kept of v.
	Restarted(v V) V
}

// Comer is implemented by machines that can come and go. A machine without it cannot.
type Comer[V any] interface {
	// New is the value with which one begins whom nobody has been before.
	New() V
}

// Forger is implemented by what stands for a hostile instance: it lists the messages that the
// instance may send to another.
type Forger[M comparable] interface {
	Forged(to int) []M
}

// Commander is implemented by machines that can list the possible commands.
type Commander[V any, M comparable] interface {
	Commands(v V) []M
}

// End is the state of an instance apart from the value of its machine. [End0] returns the first
// one. It is a value: no step changes the slices of the End that it was given.
type End[M comparable] struct {
	// Started: the event start was handled. Down: nobody is there, since the instance has crashed or, if
	// Absent is set, has gone or has not come yet.
	Started, Down, Absent bool
	// Waiting, Up and Asked are sets of linked instances. Waiting: the link has not come up yet.
	// Up: it has. One that is in neither is shut. Asked, of those in either: this instance has begun
	// anew and the other has not answered yet, so that what comes from there is old.
	Waiting, Up, Asked uint64
	// Broken is the set of links that this end has lost and may want back.
	Broken uint64
	// Cutoff is the set of instances that the present partition keeps away.
	Cutoff uint64
	// Told and Heard count, by peer, the resets of open links that this end has sent and heard, modulo
	// 16 in four bits each, where links may come back. An Ask that was sent before a reset was heard is
	// old.
	Told, Heard uint64
	// Held are the deferred messages, oldest first.
	Held []Held[M]
	// Left is, by timer, how many beats it still has to run.
	Left []Left
	// Crashes, Restarts and Comes count. Returns counts, by peer as Told does, how often the link was wanted
	// back, or asked for once more.
	Crashes, Restarts, Comes uint8
	Returns                  uint64
}

// Left is how many beats a timer still has to run, at least and at most. Without [Time] both are 0
// while it runs. Most is [Disarmed] if it does not.
type Left struct{ Least, Most int32 }

// Disarmed is what a timer has left that does not run, both at least and at most.
const Disarmed = -1

// Stopped is a timer that does not run.
var Stopped = Left{Disarmed, Disarmed}

// Runs reports whether the timer has been started and has not expired.
func (l Left) Runs() bool { return l.Most != Disarmed }

// older is what is left one beat later.
func (l Left) older() Left {
	if !l.Runs() {
		return l
	}
	return Left{max(l.Least-1, 0), l.Most - 1}
}

// million is a rate of 1 in the units of Time.Drift.
const million = 1_000_000

// Beats is how many beats a timer of instance i runs that was started for so many ticks, from 0 to
// 2^43. Its clock needs between ticks/(1+drift) and ticks/(1-drift) for them, and a time that is no
// whole number of beats can be that of the beat before or behind it. Nil is no time.
func (t *Time) Beats(i int, ticks int64) Left {
	if t == nil {
		return Left{}
	}
	drift := int64(0)
	if t.Drift != nil {
		drift = int64(t.Drift[i])
	}
	fast, slow := (million+drift)*t.Beat, (million-drift)*t.Beat
	return Left{int32(min(ticks*million/fast, math.MaxInt32)), int32(min((ticks*million+slow-1)/slow, math.MaxInt32))}
}

// comes reports whether nobody is at instance i in the beginning.
func (r *Rules) comes(i int) bool { return i < len(r.Come) && r.Come[i] > 0 }

// End0 returns the end with which instance i begins.
func End0[M comparable](r *Rules, i int) End[M] {
	e := End[M]{Started: r.IsHostile(i), Down: r.comes(i), Absent: r.comes(i)}
	e.Waiting, e.Up = r.Beginning(i)
	for _, l := range r.Links {
		// A link to somebody who has not come is as one that was lost: who comes asks for it.
		if i == l.A && (e.Absent || r.comes(l.B) && !l.Datagrams) {
			e.shut(l.B)
		} else if i == l.B && (e.Absent || r.comes(l.A) && !l.Datagrams) {
			e.shut(l.A)
		}
	}
	if i < len(r.Timers) {
		e.Left = slices.Repeat([]Left{Stopped}, r.Timers[i])
	}
	return e
}

// Beginning is the links with which the program of instance i begins: those that wait to come up, and those of
// which its machine is not told.
func (r *Rules) Beginning(i int) (waiting, up uint64) {
	for _, l := range r.Links {
		for side, me := range [2]int{l.A, l.B} {
			if me != i {
				continue
			}
			if other := [2]int{l.B, l.A}[side]; l.Untold[side] || r.Plant&NeverTold != 0 {
				up |= 1 << other
			} else {
				waiting |= 1 << other
			}
		}
	}
	return waiting, up
}

// Due returns the place in e.Held of the message that the instance must handle next, or -1 if its
// state defers all that it holds.
func Due[V any, M comparable](r *Rules, e *End[M], v V, m Machine[V, M]) int {
	if len(e.Held) == 0 {
		return -1
	}
	if r.Plant&OfferNewest != 0 {
		k := len(e.Held) - 1
		for k >= 0 && m.Defers(v, e.Held[k].Message) {
			k--
		}
		return k
	}
	return Oldest(e.Held, func(x M) bool { return m.Defers(v, x) })
}

// HeldOf returns the number of messages held from a peer.
func (e *End[M]) HeldOf(peer int) int {
	n := 0
	for _, h := range e.Held {
		if h.From == peer {
			n++
		}
	}
	return n
}

// shut ends the link to a peer.
func (e *End[M]) shut(peer int) {
	bit := uint64(1) << peer
	e.Waiting, e.Up, e.Asked, e.Broken = e.Waiting&^bit, e.Up&^bit, e.Asked&^bit, e.Broken&^bit
	e.Held = Forget(e.Held, peer)
}

// lose ends the link to a peer, so that it may be wanted back if any may.
func (e *End[M]) lose(r *Rules, peer int) {
	if e.shut(peer); r.Faults.Return != 0 {
		e.Broken |= 1 << peer
	}
}

// Revives reports whether a link may come up again after it was lost.
func (r *Rules) Revives() bool {
	some := func(n int) bool { return n > 0 }
	return r.Faults.Return != 0 || slices.ContainsFunc(r.Faults.Restart, some) || slices.ContainsFunc(r.Come, some)
}

// count adds to one of the counters of a peer in Told or Heard.
func (r *Rules) count(of *uint64, peer int, n uint8) {
	if r.Revives() {
		at := 4 * peer
		*of = *of&^(15<<at) | (*of>>at+uint64(n))&15<<at
	}
}

// asking is the number of what the instance asks a peer next, or has asked it last.
func (e *End[M]) asking(peer int) uint8 {
	return (e.Restarts + e.Comes + uint8(e.Returns>>(4*peer)&15)) & 15
}

// gone reports whether what this end sends to a peer, in a channel of a class, is gone at once.
func (e *End[M]) gone(r *Rules, i, peer, class int) bool {
	l, _ := r.link(i, peer)
	if e.Cutoff>>peer&1 != 0 && r.datagrams(l, i, peer, class) && r.Plant&PartitionLeaks == 0 {
		return true
	}
	return l != nil && (e.Waiting|e.Up)>>peer&1 == 0
}

// datagrams reports whether a partition takes what is in a channel, l being the link beside it or nil.
func (r *Rules) datagrams(l *Link, from, to, class int) bool {
	if l == nil || l.Datagrams {
		return true
	}
	k := -1
	if class != l.Class {
		k = r.Channel(from, to, class)
	}
	return k >= 0 && r.Channels[k].loose()
}

// Datagrams reports whether a partition takes what is sent in the channel of a class between two instances.
func (r *Rules) Datagrams(from, to, class int) bool {
	l, _ := r.link(from, to)
	return r.datagrams(l, from, to, class)
}

// HoldsUp reports whether a partition holds up what is in a channel, instead of taking it: then beats do not
// wait for that.
func (r *Rules) HoldsUp(ch *Channel) bool {
	l, _ := r.link(ch.From, ch.To)
	return l != nil && (l.Datagrams || !r.datagrams(l, ch.From, ch.To, ch.Class))
}
