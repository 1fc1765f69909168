package world

import (
	"slices"

	"github.com/parley-go/parley/runtime/fsm"
)

// What is the result of a step.
type What uint8

const (
	// Blocked: the step is not possible now. The item stays where it is.
	Blocked What = iota
	// Stepped: the machine handled the event; Result.Code says how.
	Stepped
	// Kept: the message is deferred, and held from now on.
	Kept
	// Dropped: nobody hears it; the machine got no event. News may still have been answered.
	Dropped
	// Done: a crash, a restart, a beat, or that somebody comes or goes, of which the machine gets no event.
	Done
)

var whatNames = [...]string{"blocked", "stepped", "held", "dropped", "done"}

// String returns the name of w in lower case.
func (w What) String() string { return whatNames[w] }

// FaultKind is the kind of error of a step.
type FaultKind uint8

// The faults of a step. After one of them nothing is to be done with the rest of the result.
const (
	NoFault          FaultKind = iota
	Refusal                    // the machine refused the event
	Overflow                   // a channel is full
	DeferredOverflow           // more messages are held than the bound allows
	// NoLink is that a message was sent over a link that is not there yet, or that was closed, see Link.Late.
	NoLink
)

var faultNames = [...]string{"", "refused", "overflow", "deferred-overflow", "no link"}

// String returns the name of k in lower case.
func (k FaultKind) String() string { return faultNames[k] }

// Sent is an item sent to another instance, in the channel of a class.
type Sent[M comparable] struct {
	To, Class int
	Item      Item[M]
}

// Result is the outcome of one step of one instance.
type Result[V any, M comparable] struct {
	What What
	// Event is what the machine was given. Kind is Nothing if it got no event.
	Event Event[M]
	Code  fsm.Code
	// End and Value are what the instance is afterwards.
	End   End[M]
	Value V
	// Sends go into the channels, in order.
	Sends []Sent[M]
	// Torn: the instance has crashed in the course of the step. Sends are those before the crash and
	// what the crash itself tells the others.
	Torn  bool
	Fault FaultKind
	// Why is the fault for people.
	Why string
}

// instance is a step at work.
type instance[V any, M comparable] struct {
	r *Rules
	i int
	m Machine[V, M]
	Result[V, M]
}

func at[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) *instance[V, M] {
	s := &instance[V, M]{r: r, i: i, m: m}
	s.End, s.Value = e, v
	return s
}

// blocked reports whether the instance takes no event now, because it has no machine, has crashed, has
// not been started, or has a held message to handle.
func (s *instance[V, M]) blocked() bool {
	return s.r.IsHostile(s.i) || s.End.Down || !s.End.Started ||
		s.r.Plant&DeferBlocks == 0 && Due(s.r, &s.End, s.Value, s.m) >= 0
}

// Begin gives instance i the event start. Nothing but a crash comes before it.
func Begin[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	if e.Down || e.Started {
		return s.Result
	}
	s.End.Started = true
	return s.step(Event[M]{Kind: Start})
}

// Deliver gives instance i an item from another.
func Deliver[V any, M comparable](r *Rules, i int, e End[M], v V, from int, x Item[M], m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	bit := uint64(1) << from
	l, _ := r.link(i, from)
	linked := l != nil
	switch {
	case !e.Down && e.Cutoff&bit != 0 && (x.News == Ask || x.News == Answer):
		return s.Result
	case x.News == Ask && !e.Down && x.Heard != uint8(e.Told>>(4*from)&15):
		// Whoever asked had not heard yet that this end has lost the link, and will.
		s.What = Dropped
		return s.Result
	case x.News == Reset && !e.Down && linked && e.Asked&bit != 0:
		return s.failed(from, x)
	case e.Down || linked && e.Asked&bit != 0 && (r.Plant&OldIsHeard == 0 || x.News != NoNews):
		s.unheard(from, x)
		return s.Result
	case linked && (e.Waiting|e.Up)&bit == 0 && x.News == NoNews:
		s.What = Dropped
		return s.Result
	case s.blocked() || linked && e.Waiting&bit != 0:
		return s.Result
	case x.News != NoNews:
		return s.news(from, x)
	case m.Defers(v, x.Message):
		return rejected(s, s.hold(from, x.Message), e)
	}
	return rejected(s, s.step(Event[M]{Kind: Message, Peer: from, Message: x.Message}), e)
}

// rejected is what becomes of a message that the machine has refused, or for which there was no room:
// a fault, unless a hostile instance has sent it. Then the link to that one ends. e is the instance
// without the message.
func rejected[V any, M comparable](s *instance[V, M], res Result[V, M], e End[M]) Result[V, M] {
	from := res.Event.Peer
	if res.Fault != Refusal && res.Fault != DeferredOverflow || !s.r.IsHostile(from) {
		return res
	}
	n := at(s.r, s.i, e, s.Value, s.m)
	if l, _ := s.r.link(s.i, from); l == nil || s.r.Plant&RefusalIsDropped != 0 {
		n.What = Dropped
		return n.Result
	}
	n.End.lose(s.r, from)
	return n.step(Event[M]{Kind: Lost, Peer: from})
}

// Forge gives instance i a message that a hostile one sends now.
func Forge[V any, M comparable](r *Rules, i int, e End[M], v V, from int, x M, m Machine[V, M]) Result[V, M] {
	if !r.IsHostile(from) || r.IsHostile(i) || e.Down {
		return Result[V, M]{End: e, Value: v}
	}
	return Deliver(r, i, e, v, from, Item[M]{Message: x}, m)
}

// Hangup tells instance i that the link to a hostile one has ended: that one has closed it or, if
// malformed is set, has sent what is no message, upon which this end closes it.
func Hangup[V any, M comparable](
	r *Rules, i int, e End[M], v V, from int, malformed bool, m Machine[V, M],
) Result[V, M] {
	s := at(r, i, e, v, m)
	l, _ := r.link(i, from)
	switch {
	case !r.IsHostile(from) || l == nil || s.blocked() || e.Up>>from&1 == 0:
		return s.Result
	case malformed && r.Malformed>>from&1 == 0 || !malformed && l.Datagrams:
		return s.Result
	}
	s.End.lose(r, from)
	return s.step(Event[M]{Kind: Lost, Peer: from})
}

// unheard drops what comes to an instance that is down, or that has begun anew and was not answered
// yet: then only the answer counts, or that the other end has begun anew itself. One that is down
// answers that its end is gone.
func (s *instance[V, M]) unheard(from int, x Item[M]) {
	s.What = Dropped
	e, bit := &s.End, uint64(1)<<from
	switch {
	case x.News == Reset:
		s.r.count(&e.Heard, from, x.Number)
	case x.News == Ask:
		e.Asked &^= bit
		s.tell(from, Item[M]{News: Answer, Number: x.Number})
		if e.Down {
			s.cut(from)
		}
	case x.News == Answer && x.Number == e.asking(from):
		e.Asked &^= bit
	}
}

// failed hears of a reset while the instance wants the link again: the other end will find what was
// asked too old. A link that has not come up yet is asked for once more, and nobody notices.
func (s *instance[V, M]) failed(from int, x Item[M]) Result[V, M] {
	if s.blocked() {
		return s.Result
	}
	s.What = Dropped
	if x.Number == 0 {
		return s.Result
	}
	s.r.count(&s.End.Heard, from, x.Number)
	if s.End.Up>>from&1 == 0 {
		s.r.count(&s.End.Returns, from, 1) // an answer to the question before is none to this one
		s.ask(from)
		return s.Result
	}
	s.End.lose(s.r, from)
	return s.step(Event[M]{Kind: Lost, Peer: from})
}

// hold sets a message aside.
func (s *instance[V, M]) hold(from int, x M) Result[V, M] {
	switch {
	case s.r.Plant&DeferBlocks != 0:
		return s.Result
	case s.r.Plant&DeferDrops != 0:
		s.What = Dropped
		return s.Result
	}
	s.What, s.Code = Kept, fsm.Deferred
	s.Event = Event[M]{Kind: Message, Peer: from, Message: x}
	var full bool
	if s.End.Held, full = Hold(s.End.Held, s.r.Deferred[s.i], Held[M]{From: from, Message: x}); full {
		s.Fault, s.Why = DeferredOverflow, "as many messages as the role may defer are held already"
	}
	return s.Result
}

// news handles news of a link.
func (s *instance[V, M]) news(from int, x Item[M]) Result[V, M] {
	e, bit := &s.End, uint64(1)<<from
	switch {
	case (x.News == Cut || x.News == Reset) && s.r.Plant&LostWaits != 0 && e.HeldOf(from) > 0:
		return s.Result
	case x.News == Cut && e.Up&bit != 0:
		e.shut(from)
		if s.r.Plant&CloserHears != 0 {
			s.tell(from, Item[M]{News: Cut})
		}
		return s.step(Event[M]{Kind: Lost, Peer: from})
	case x.News == Reset && e.Up&bit != 0 && x.Number != 0:
		s.r.count(&e.Heard, from, x.Number)
		e.lose(s.r, from)
		return s.step(Event[M]{Kind: Lost, Peer: from})
	case x.News == Ask && e.Up&bit == 0:
		e.Up, e.Broken = e.Up|bit, e.Broken&^bit
		s.tell(from, Item[M]{News: Answer, Number: x.Number})
		return s.step(Event[M]{Kind: Up, Peer: from})
	case x.News == Reset:
		s.r.count(&e.Heard, from, x.Number)
	case x.News == Ask && e.Up&bit != 0:
		s.tell(from, Item[M]{News: Answer, Number: x.Number})
	}
	s.What = Dropped
	return s.Result
}

// Offer has instance i handle the oldest message that it holds and no longer defers.
func Offer[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	k := Due(r, &e, v, m)
	if e.Down || !e.Started || k < 0 {
		return s.Result
	}
	h := e.Held[k]
	s.End.Held = Release(e.Held, k)
	rest := s.End
	return rejected(s, s.step(Event[M]{Kind: Message, Peer: h.From, Message: h.Message}), rest)
}

// Expire lets a timer of instance i expire. That disarms it, whatever the machine does with the event.
func Expire[V any, M comparable](r *Rules, i int, e End[M], v V, timer int, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	if s.blocked() || e.Left[timer].Least != 0 {
		return s.Result
	}
	s.arm(timer, Stopped)
	res := s.step(Event[M]{Kind: Timeout, Timer: timer})
	if r.Plant&IgnoredStaysArmed != 0 && res.Code == fsm.Ignored {
		res.End.Left = e.Left
	}
	return res
}

// Give gives instance i a command. If the machine refuses it, the command is not possible, which is
// no fault.
func Give[V any, M comparable](r *Rules, i int, e End[M], v V, command M, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	if s.blocked() {
		return s.Result
	}
	res := s.step(Event[M]{Kind: Command, Message: command})
	if res.Fault == Refusal {
		return Result[V, M]{End: e, Value: v, Why: res.Why}
	}
	return res
}

// LinkUp tells instance i that its link to a peer has come up.
func LinkUp[V any, M comparable](r *Rules, i int, e End[M], v V, peer int, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	if s.blocked() || e.Waiting>>peer&1 == 0 || e.Cutoff>>peer&1 != 0 {
		return s.Result
	}
	s.End.Waiting &^= 1 << peer
	s.End.Up |= 1 << peer
	return s.step(Event[M]{Kind: Up, Peer: peer})
}

// LinkLost has instance i take its link to a peer for dead. What is under way to it is lost. The
// other end hears the reset, unless the link is of datagrams.
func LinkLost[V any, M comparable](r *Rules, i int, e End[M], v V, peer int, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	l, _ := r.link(i, peer)
	if l == nil || s.blocked() || e.Up>>peer&1 == 0 || r.Plant&LostWaits != 0 && e.HeldOf(peer) > 0 {
		return s.Result
	}
	s.End.lose(r, peer)
	if !l.Datagrams {
		s.reset(peer)
	}
	return s.step(Event[M]{Kind: Lost, Peer: peer})
}

// Return has instance i want a link back that it has lost. It asks for it; a link of datagrams waits
// to come up.
func Return[V any, M comparable](r *Rules, i int, e End[M], v V, peer int, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	l, end := r.link(i, peer)
	if l == nil || s.blocked() || e.Broken>>peer&1 == 0 || e.Cutoff>>peer&1 != 0 {
		return s.Result
	}
	s.What = Done
	bit := uint64(1) << peer
	s.End.Broken &^= bit
	if l.Untold[end] {
		s.End.Up |= bit
	} else {
		s.End.Waiting |= bit
	}
	if !l.Datagrams && !r.IsHostile(peer) {
		r.count(&s.End.Returns, peer, 1)
		if r.Plant&LostComesBack == 0 {
			s.End.Asked |= bit
		}
		s.ask(peer)
	}
	return s.Result
}

// Cutoff has instance i hear whom a partition keeps away from it; nobody when it is over.
func Cutoff[V any, M comparable](r *Rules, i int, e End[M], v V, away uint64, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	s.What = Done
	s.End.Cutoff = away &^ (1 << i)
	return s.Result
}

// Swallows reports whether a partition may take an item that is under way in a channel, whose receiver
// has the end e: a datagram from the other side. Where messages are lost as often as they can be, that
// is a loss like others.
func Swallows[M comparable](r *Rules, ch *Channel, e *End[M], x Item[M]) bool {
	l, _ := r.link(ch.To, ch.From)
	return r.datagrams(l, ch.From, ch.To, ch.Class) && !e.Down && e.Cutoff>>ch.From&1 != 0 && x.News == NoNews &&
		!(ch.Lossy && r.Faults.Lose < 0) && r.Plant&PartitionSpares == 0
}

// Crash stops instance i: its timers, what it holds and its links are gone. The others hear of it
// behind what survives of all that it has sent, and over a link that had ended before nothing: but what
// was sent before its end may go, too.
func Crash[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	return crash(r, i, e, v, v, m)
}

// crash is Crash in the course of a step from the value before.
func crash[V any, M comparable](r *Rules, i int, e End[M], before, v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	f := &r.Faults
	if e.Down || i >= len(f.Crash) || int(e.Crashes) >= f.Crash[i] {
		return s.Result
	}
	s.What = Done
	s.End = e.away(false)
	s.End.Crashes++
	for j := range r.Instances {
		l, _ := r.link(i, j)
		switch {
		case j == i || l != nil && l.Datagrams:
		case l != nil && (e.Waiting|e.Up)>>j&1 != 0 && f.Torn:
			s.reset(j)
		case l != nil && (e.Waiting|e.Up)>>j&1 != 0:
			s.tell(j, Item[M]{News: Cut})
		case f.Torn && l != nil:
			s.send(j, l.Class, Item[M]{News: Reset})
		case f.Torn:
			for k := range r.Channels {
				if ch := &r.Channels[k]; ch.From == i && ch.To == j && r.keeps(ch) {
					s.send(j, ch.Class, Item[M]{News: Reset})
				}
			}
		}
	}
	if c, ok := m.(Crasher[V]); ok {
		s.Value = c.Crashed(before, v)
	}
	return s.Result
}

// reset tells a peer that an open link has been lost.
func (s *instance[V, M]) reset(peer int) {
	s.r.count(&s.End.Told, peer, 1)
	s.tell(peer, Item[M]{News: Reset, Number: 1})
}

// ask wants a link again.
func (s *instance[V, M]) ask(peer int) {
	s.tell(peer, Item[M]{News: Ask, Number: s.End.asking(peer), Heard: uint8(s.End.Heard >> (4 * peer) & 15)})
}

// keeps reports whether a channel keeps order and does not lose messages as often as it can, so that a
// crash can take the last ones with it and no other fault does.
func (r *Rules) keeps(ch *Channel) bool {
	return ch.Order == Fifo && (!ch.Lossy || r.Faults.Lose >= 0)
}

// Tear cuts a step of instance i, from the value before, short by a crash after its first so many
// sends. What is Blocked if there is no such crash.
func Tear[V any, M comparable](r *Rules, i int, before V, whole Result[V, M], sends int, m Machine[V, M]) Result[V, M] {
	if !r.Faults.Torn || whole.What != Stepped || whole.Code != fsm.Took || whole.Fault != NoFault ||
		sends >= len(whole.Sends) {
		return Result[V, M]{}
	}
	crash := crash(r, i, whole.End, before, whole.Value, m)
	if crash.What != Done {
		return Result[V, M]{}
	}
	if r.Plant&TornIsWhole != 0 {
		sends = len(whole.Sends)
	}
	torn := whole
	torn.Torn, torn.End, torn.Value = true, crash.End, crash.Value
	torn.Sends = slices.Clone(whole.Sends[:sends])
	for _, x := range whole.Sends[sends:] {
		switch x.Item.News {
		case Cut: // a close that did not go out any more
			r.count(&torn.End.Told, x.To, 1)
			torn.Sends = append(torn.Sends, Sent[M]{x.To, x.Class, Item[M]{News: Reset, Number: 1}})
		case Reset: // a link taken for dead
			torn.Sends = append(torn.Sends, x)
		case Answer: // else who asked would wait for ever, and not hear that nobody is there
			torn.Sends = append(torn.Sends, x)
		}
	}
	for _, x := range crash.Sends {
		told := func(y Sent[M]) bool { return y.To == x.To && y.Class == x.Class && y.Item.News == Reset }
		if !slices.ContainsFunc(torn.Sends[sends:], told) {
			torn.Sends = append(torn.Sends, x)
		}
	}
	return torn
}

// Restart lets a crashed instance begin anew, with its links as at the beginning. It asks the others to
// answer, and hears nothing from there before they do. Over datagrams nobody is asked.
func Restart[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	f := &r.Faults
	c, ok := m.(Crasher[V])
	if !ok || !e.Down || e.Absent || i >= len(f.Restart) || int(e.Restarts) >= f.Restart[i] {
		return s.Result
	}
	s.What, s.Value = Done, c.Restarted(v)
	s.End.Restarts++
	s.begins()
	return s.Result
}

// begins gives the links that an instance has at the beginning to one that begins now, and asks for them.
func (s *instance[V, M]) begins() {
	r, i := s.r, s.i
	s.End.Down, s.End.Absent = false, false
	s.End.Waiting, s.End.Up = r.Beginning(i)
	for j := range r.Instances {
		if l, _ := r.link(i, j); l != nil && !l.Datagrams && !r.IsHostile(j) {
			s.End.Asked |= 1 << j
			s.ask(j)
		}
	}
}

// Come has somebody come to instance i, where nobody is. It asks for its links as one does that begins
// again after a crash, and knows nothing of who was there before.
func Come[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	c, ok := m.(Comer[V])
	if !ok || !e.Down || !r.comes(i) || int(e.Comes) >= r.Come[i] {
		return s.Result
	}
	s.What, s.Value = Done, c.New()
	if again, ok := m.(Crasher[V]); ok && r.Plant&ComerRemembers != 0 && e.Comes > 0 {
		s.Value = again.Restarted(v)
	}
	s.End.Comes++
	s.begins()
	return s.Result
}

// Go has who is at instance i and has come to the end of its machine go. The others hear of it behind all
// that it has sent.
func Go[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	c, ok := m.(Comer[V])
	if !ok || !r.comes(i) || s.blocked() || !m.Final(v) {
		return s.Result
	}
	s.What, s.Value = Done, c.New()
	if r.Plant&ComerRemembers != 0 {
		s.Value = v
	}
	if r.Plant&GoneStays == 0 {
		for j := range r.Instances {
			if (e.Waiting|e.Up)>>j&1 != 0 {
				s.cut(j)
			}
		}
	}
	s.End = e.away(true)
	return s.Result
}

// away is the end of an instance at which nobody is any more.
func (e End[M]) away(absent bool) End[M] {
	return End[M]{Down: true, Absent: absent, Cutoff: e.Cutoff, Crashes: e.Crashes, Restarts: e.Restarts,
		Comes: e.Comes, Returns: e.Returns, Told: e.Told, Heard: e.Heard,
		Left: slices.Repeat([]Left{Stopped}, len(e.Left))}
}

// Beat lets instance i feel a beat: each of its timers has one beat less to run. An instance feels
// no beat while one of its timers is due. The caller must see to it that nothing under way is too
// old, with [Older].
func Beat[V any, M comparable](r *Rules, i int, e End[M], v V, m Machine[V, M]) Result[V, M] {
	s := at(r, i, e, v, m)
	due := func(l Left) bool { return l.Most == 0 }
	stopped := slices.ContainsFunc(e.Left, due) || r.Plant&HeldStopsTime != 0 && len(e.Held) > 0
	if !e.Down && s.blocked() || stopped {
		return s.Result
	}
	s.What = Done
	s.End.Left = slices.Clone(e.Left)
	for t := range s.End.Left {
		s.End.Left[t] = e.Left[t].older()
	}
	return s.Result
}

// step gives the machine an event and carries out what it asks for.
func (s *instance[V, M]) step(ev Event[M]) Result[V, M] {
	out := s.m.Step(s.Value, ev)
	s.What, s.Event, s.Code = Stepped, ev, out.Code
	if out.Code == fsm.Refused {
		s.Fault, s.Why = Refusal, out.Fault
		return s.Result
	}
	s.Value = out.Value
	for k := range out.Effects {
		f := &out.Effects[k]
		switch f.Kind {
		case fsm.Send:
			s.each(f.To, func(j int) { s.message(j, f.Class, f.Message) })
		case fsm.Close:
			if r := s.r; r.Plant&ClosesWhatIsMissing != 0 && f.To != Everyone {
				s.close(f.To)
				break
			}
			s.each(f.To, s.close)
		case fsm.StartTimer:
			left := s.r.Time.Beats(s.i, f.Ticks)
			if t := s.r.Time; t != nil && s.r.Plant&RoundsUp != 0 {
				left.Most = int32((f.Ticks + t.Beat - 1) / t.Beat)
				left.Least = left.Most
			}
			s.arm(f.Timer, left)
		case fsm.StopTimer:
			s.arm(f.Timer, Stopped)
		}
	}
	return s.Result
}

// each calls f for an instance, or for all others. It passes over links that the program has not
// given yet: one that a step names is a fault.
func (s *instance[V, M]) each(to int, f func(j int)) {
	if to != Everyone {
		if !s.missing(to) {
			f(to)
		} else if s.Fault == NoFault {
			s.Fault, s.Why = NoLink, "there is no link yet"
		}
		return
	}
	for j := range s.r.Instances {
		if j != s.i && !s.missing(j) {
			f(j)
		}
	}
}

// missing reports whether the program has still to give the link to a peer.
func (s *instance[V, M]) missing(peer int) bool {
	l, _ := s.r.link(s.i, peer)
	return l != nil && l.Late && s.End.Waiting>>peer&1 != 0
}

func (s *instance[V, M]) message(to, class int, x M) {
	if !s.End.gone(s.r, s.i, to, class) && (s.End.Waiting>>to&1 == 0 || s.r.Plant&SendNeedsUp == 0) {
		s.send(to, class, Item[M]{Message: x})
	}
}

// tell sends news of the link to a peer.
func (s *instance[V, M]) tell(to int, x Item[M]) {
	if l, _ := s.r.link(s.i, to); l != nil {
		s.send(to, l.Class, x)
	}
}

// send puts something into a channel. Nobody looks at what a hostile instance gets.
func (s *instance[V, M]) send(to, class int, x Item[M]) {
	if !s.r.IsHostile(to) {
		s.Sends = append(s.Sends, Sent[M]{to, class, x})
	}
}

// close ends the link to a peer: this end hears nothing more.
func (s *instance[V, M]) close(peer int) {
	if (s.End.Waiting|s.End.Up)>>peer&1 == 0 {
		return
	}
	s.cut(peer)
	if s.r.Plant&CloserHears == 0 {
		s.End.shut(peer)
	}
}

// cut tells a peer that this end is gone.
func (s *instance[V, M]) cut(peer int) {
	if l, _ := s.r.link(s.i, peer); l != nil && !l.Datagrams {
		s.tell(peer, Item[M]{News: Cut})
	}
}

func (s *instance[V, M]) arm(timer int, left Left) {
	s.End.Left = slices.Clone(s.End.Left)
	s.End.Left[timer] = left
}
