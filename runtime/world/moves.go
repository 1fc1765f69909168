package world

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// ErrBlocked is wrapped by the error of a move that is not possible now: the instance is down, has not
// begun, has ended, or would send where there is no room.
var ErrBlocked = errors.New("cannot do that now")

// World is the instances and what lies between them. Its methods do not change it.
type World[V any, M comparable] struct {
	Rules *Rules
	// Machines are the instances, by number; equal ones may be the same.
	Machines []Machine[V, M]
	// Allowed reports whether the environment lets an instance have a command or a timer expire; nil:
	// always.
	Allowed func(c *Configuration[V, M], i int, ev Event[M]) bool
}

// Configuration is the state of all instances, and everything under way, at one moment. [World.Do]
// returns new configurations and changes none; they share parts.
type Configuration[V any, M comparable] struct {
	Ends   []End[M]
	Values []V
	// Queues are what lies in each channel of Rules.Channels, oldest first.
	Queues [][]Item[M]
	// Split is one side of the present partition; 0: there is none. Splits are, by instance, the
	// partitions and ends of partitions that have not reached it yet, oldest first.
	Split  uint64
	Splits [][]uint64
	// Beats is the set of instances that have not yet felt the present beat.
	Beats uint64
	// Spent is what has gone wrong so far.
	Spent Spent
}

// Spent counts the faults that have happened.
type Spent struct{ Lose, Duplicate, Overtake, Crash, Break, Return, Partition int }

// MoveKind is the kind of a [Move].
type MoveKind uint8

// The kinds of move, with the fields of Move that they use.
const (
	MoveStart     MoveKind = iota // Who
	MoveOffer                     // Who
	MoveUp                        // Who, Peer
	MoveLost                      // Who, Peer: the link is taken for dead
	MoveReturn                    // Who, Peer: the link is wanted back
	MoveCommand                   // Who, Message
	MoveExpire                    // Who, Timer
	MoveCrash                     // Who
	MoveRestart                   // Who
	MoveCome                      // Who
	MoveGo                        // Who
	MoveBeat                      // Who feels a beat
	MoveDeliver                   // Channel, At
	MoveCopy                      // Channel, At: delivered, and stays under way
	MoveLose                      // Channel, At
	MoveOvertake                  // Channel, At: the message behind overtakes the one there
	MoveTail                      // Channel: the youngest item before a reset is lost
	MoveSwallow                   // Channel, At: a partition takes what is under way to one that it cuts off
	MovePartition                 // Set: one side
	MoveHeal                      // the partition ends
	MoveCutoff                    // Who hears of the next partition, or of its end
	MoveTick                      // a beat begins
	MoveForge                     // Who, Peer, Message: what hostile Peer sends arrives
	MoveHangup                    // Who, Peer: hostile Peer has closed the link
	MoveMalformed                 // Who, Peer: hostile Peer has sent what is no message
)

var moveNames = [...]string{"start", "offer", "up", "lost", "return", "command", "expire",
	"crash", "restart", "come", "go", "beat", "deliver", "copy", "lose", "overtake", "tail", "swallow",
	"partition", "heal", "cutoff", "tick",
	"forge", "hangup", "malformed"}

// String returns the kind in lower case.
func (k MoveKind) String() string { return moveNames[k] }

// Move is one thing that can happen in a configuration.
type Move[M comparable] struct {
	Kind      MoveKind
	Who, Peer int
	// Channel is an index into Rules.Channels, At the place of an item in it.
	Channel, At int
	Timer       int
	Message     M
	Set         uint64
	// Torn, if not 0, says that the instance that steps crashes after Torn-1 of its sends.
	Torn int
}

// String describes the move with the numbers of instances and channels.
func (m Move[M]) String() string {
	if n := m.Torn; n > 0 {
		m.Torn = 0
		return fmt.Sprintf("%s, torn after %d", m.String(), n-1)
	}
	switch m.Kind {
	case MoveUp, MoveLost, MoveReturn, MoveHangup, MoveMalformed:
		return fmt.Sprintf("%s %d %d", m.Kind, m.Who, m.Peer)
	case MoveForge:
		return fmt.Sprintf("forge %d %d %v", m.Who, m.Peer, m.Message)
	case MoveCommand:
		return fmt.Sprintf("command %d %v", m.Who, m.Message)
	case MoveExpire:
		return fmt.Sprintf("expire %d timer %d", m.Who, m.Timer)
	case MoveDeliver, MoveCopy, MoveLose, MoveOvertake, MoveTail, MoveSwallow:
		return fmt.Sprintf("%s channel %d at %d", m.Kind, m.Channel, m.At)
	case MovePartition:
		return fmt.Sprintf("partition %b", m.Set)
	case MoveTick, MoveHeal:
		return m.Kind.String()
	}
	return fmt.Sprintf("%s %d", m.Kind, m.Who)
}

// Taken is the result of a move.
type Taken[V any, M comparable] struct {
	// Result is the step of the instance that took part; What is Done where none did.
	Result[V, M]
	// Who is that instance, or -1.
	Who int
	// Next is the configuration afterwards; nil after a fault.
	Next *Configuration[V, M]
	// Gone lists the places in Sends of messages that found their channel full and were lost. After
	// an Overflow the last one is that for which there is no room.
	Gone []int
}

// Begin returns the configuration in which nothing has happened.
func (w *World[V, M]) Begin(values []V) *Configuration[V, M] {
	c := &Configuration[V, M]{Values: slices.Clone(values), Queues: make([][]Item[M], len(w.Rules.Channels)),
		Splits: make([][]uint64, w.Rules.Instances)}
	for i := range w.Rules.Instances {
		c.Ends = append(c.Ends, End0[M](w.Rules, i))
	}
	return c
}

// Channel is the index of the channel of a class between two instances, -1 if there is none.
func (r *Rules) Channel(from, to, class int) int {
	return slices.IndexFunc(r.Channels, func(c Channel) bool {
		return c.From == from && c.To == to && c.Class == class
	})
}

// NewsClass is the class of the channels between two instances in which news of their link travels; 0 if there is
// no link.
func (r *Rules) NewsClass(i, j int) int {
	if l, _ := r.link(i, j); l != nil {
		return l.Class
	}
	return 0
}

// Moves yields every possible move with its result, in a fixed order.
func (w *World[V, M]) Moves(c *Configuration[V, M]) iter.Seq2[Move[M], Taken[V, M]] {
	return func(yield func(Move[M], Taken[V, M]) bool) {
		for mv := range w.candidates(c) {
			t, err := w.Do(c, mv)
			if err == nil && !yield(mv, t) {
				return
			}
			for mv.Torn = 1; w.Rules.Faults.Torn && t.What == Stepped && mv.Torn <= len(t.Sends); mv.Torn++ {
				if torn, err := w.Do(c, mv); err == nil && !yield(mv, torn) {
					return
				}
			}
		}
	}
}

// candidates yields moves among which are all that can happen.
func (w *World[V, M]) candidates(c *Configuration[V, M]) iter.Seq[Move[M]] {
	return func(yield func(Move[M]) bool) {
		for i := range w.Rules.Instances {
			for _, mv := range w.own(c, i) {
				if !yield(mv) {
					return
				}
			}
		}
		for k := range w.Rules.Channels {
			ch, q := &w.Rules.Channels[k], c.Queues[k]
			for _, at := range Heads(ch, q) {
				for _, kind := range []MoveKind{MoveDeliver, MoveCopy, MoveLose, MoveSwallow} {
					if !yield(Move[M]{Kind: kind, Channel: k, At: at}) {
						return
					}
				}
			}
			for at := range len(q) - 1 {
				if !yield(Move[M]{Kind: MoveOvertake, Channel: k, At: at}) {
					return
				}
			}
			if !yield(Move[M]{Kind: MoveTail, Channel: k}) {
				return
			}
		}
		for _, side := range w.Rules.Sides() {
			if !yield(Move[M]{Kind: MovePartition, Set: side}) {
				return
			}
		}
		if !yield(Move[M]{Kind: MoveHeal}) {
			return
		}
		yield(Move[M]{Kind: MoveTick})
	}
}

// own lists what an instance may do by itself.
func (w *World[V, M]) own(c *Configuration[V, M], i int) []Move[M] {
	if w.Rules.IsHostile(i) { // others feel what it does, and it has no timers
		return []Move[M]{{Kind: MoveCutoff, Who: i}}
	}
	list := []Move[M]{{Kind: MoveStart, Who: i}, {Kind: MoveOffer, Who: i}}
	for _, kind := range []MoveKind{MoveUp, MoveLost, MoveReturn} {
		for j := range w.Rules.Instances {
			if w.Rules.Peers(i)>>j&1 != 0 {
				list = append(list, Move[M]{Kind: kind, Who: i, Peer: j})
			}
		}
	}
	for j := range w.Rules.Instances {
		if !w.Rules.IsHostile(j) {
			continue
		}
		list = append(list, Move[M]{Kind: MoveHangup, Who: i, Peer: j}, Move[M]{Kind: MoveMalformed, Who: i, Peer: j})
		if m, ok := w.Machines[j].(Forger[M]); ok {
			for _, x := range m.Forged(i) {
				list = append(list, Move[M]{Kind: MoveForge, Who: i, Peer: j, Message: x})
			}
		}
	}
	if m, ok := w.Machines[i].(Commander[V, M]); ok {
		for _, x := range m.Commands(c.Values[i]) {
			list = append(list, Move[M]{Kind: MoveCommand, Who: i, Message: x})
		}
	}
	for t := range c.Ends[i].Left {
		list = append(list, Move[M]{Kind: MoveExpire, Who: i, Timer: t})
	}
	for _, kind := range []MoveKind{MoveCrash, MoveRestart, MoveCome, MoveGo, MoveCutoff, MoveBeat} {
		list = append(list, Move[M]{Kind: kind, Who: i})
	}
	return list
}

// Do takes one move. The error says why it is not possible.
func (w *World[V, M]) Do(c *Configuration[V, M], mv Move[M]) (Taken[V, M], error) {
	n := c.clone()
	t := Taken[V, M]{Who: -1, Next: n}
	var err error
	switch mv.Kind {
	case MoveDeliver, MoveCopy, MoveLose, MoveOvertake, MoveTail, MoveSwallow:
		err = w.onChannel(c, n, mv, &t)
	case MovePartition, MoveHeal:
		err = w.splits(n, mv, &t)
	case MoveTick:
		if w.Rules.Time == nil || c.Beats != 0 {
			return t, errors.New("the beat before has not been felt by all")
		}
		t.What, n.Beats = Done, math.MaxUint64>>(64-w.Rules.Instances)&^w.Rules.Hostile
	default:
		err = w.alone(c, n, mv, &t)
	}
	if err != nil {
		return t, err
	}
	if t.Who >= 0 {
		if t.What == Blocked {
			return t, fmt.Errorf("instance %d %w", t.Who, ErrBlocked)
		}
		if mv.Torn > 0 {
			if err := w.tear(n, c.Values[t.Who], mv.Torn-1, &t); err != nil {
				return t, err
			}
		}
		if err := w.settle(n, &t); err != nil {
			return t, err
		}
	}
	if t.Fault != NoFault {
		t.Next = nil
	}
	return t, nil
}

func (c *Configuration[V, M]) clone() *Configuration[V, M] {
	n := *c
	n.Ends, n.Values, n.Queues = slices.Clone(c.Ends), slices.Clone(c.Values), slices.Clone(c.Queues)
	n.Splits = slices.Clone(c.Splits)
	return &n
}

// alone takes a move of one instance by itself.
func (w *World[V, M]) alone(c, n *Configuration[V, M], mv Move[M], t *Taken[V, M]) error {
	i := mv.Who
	if i < 0 || i >= w.Rules.Instances {
		return fmt.Errorf("there is no instance %d", i)
	}
	e, v, m, r := c.Ends[i], c.Values[i], w.Machines[i], w.Rules
	t.Who = i
	switch mv.Kind {
	case MoveStart:
		t.Result = Begin(r, i, e, v, m)
	case MoveOffer:
		t.Result = Offer(r, i, e, v, m)
	case MoveUp:
		t.Result = LinkUp(r, i, e, v, mv.Peer, m)
	case MoveLost:
		if e.Cutoff>>mv.Peer&1 == 0 && !spend(&n.Spent.Break, r.Faults.Break) {
			return errors.New("no link may break there")
		}
		t.Result = LinkLost(r, i, e, v, mv.Peer, m)
	case MoveForge:
		t.Result = Forge(r, i, e, v, mv.Peer, mv.Message, m)
	case MoveHangup, MoveMalformed:
		t.Result = Hangup(r, i, e, v, mv.Peer, mv.Kind == MoveMalformed, m)
	case MoveReturn:
		if !spend(&n.Spent.Return, r.Faults.Return) {
			return errors.New("no link may come back there")
		}
		t.Result = Return(r, i, e, v, mv.Peer, m)
	case MoveCutoff:
		if len(c.Splits[i]) == 0 {
			return errors.New("there is nothing to hear of a partition")
		}
		t.Result = Cutoff(r, i, e, v, r.Away(i, c.Splits[i][0]), m)
		n.Splits[i] = c.Splits[i][1:]
	case MoveCommand:
		if w.Allowed != nil && !w.Allowed(c, i, Event[M]{Kind: Command, Message: mv.Message}) {
			return errors.New("the environment does not give that command")
		}
		t.Result = Give(r, i, e, v, mv.Message, m)
	case MoveExpire:
		if mv.Timer < 0 || mv.Timer >= len(e.Left) {
			return fmt.Errorf("instance %d has no timer %d", i, mv.Timer)
		}
		if w.Allowed != nil && !w.Allowed(c, i, Event[M]{Kind: Timeout, Timer: mv.Timer}) {
			return errors.New("the environment does not let that timer expire")
		}
		t.Result = Expire(r, i, e, v, mv.Timer, m)
	case MoveCrash:
		if err := w.crashes(n); err != nil {
			return err
		}
		t.Result = Crash(r, i, e, v, m)
	case MoveRestart:
		t.Result = Restart(r, i, e, v, m)
	case MoveCome:
		t.Result = Come(r, i, e, v, m)
	case MoveGo:
		t.Result = Go(r, i, e, v, m)
	case MoveBeat:
		return w.beat(c, n, i, t)
	}
	return nil
}

// beat has an instance feel a beat.
func (w *World[V, M]) beat(c, n *Configuration[V, M], i int, t *Taken[V, M]) error {
	if c.Beats>>i&1 == 0 {
		return errors.New("there is no beat to be felt")
	}
	n.Beats &^= 1 << i
	for k, ch := range w.Rules.Channels {
		if ch.To != i || c.Ends[i].Cutoff>>ch.From&1 != 0 && w.Rules.HoldsUp(&ch) {
			continue // a partition holds up what is in a link
		}
		var ok bool
		if n.Queues[k], ok = Older(w.Rules.Time, c.Queues[k]); !ok {
			return errors.New("something under way has to arrive before")
		}
	}
	t.Result = Beat(w.Rules, i, c.Ends[i], c.Values[i], w.Machines[i])
	return nil
}

// onChannel takes a move of a channel.
func (w *World[V, M]) onChannel(c, n *Configuration[V, M], mv Move[M], t *Taken[V, M]) error {
	if mv.Channel < 0 || mv.Channel >= len(w.Rules.Channels) {
		return fmt.Errorf("there is no channel %d", mv.Channel)
	}
	k, f := mv.Channel, &w.Rules.Faults
	ch, q := &w.Rules.Channels[k], c.Queues[k]
	if mv.Kind == MoveTail {
		var ok bool
		if n.Queues[k], ok = Tail(q); !ok || w.Rules.Plant&TailStays != 0 {
			return errors.New("nothing was lost there with its sender")
		}
		t.What = Done
		return nil
	}
	if mv.Kind == MoveOvertake {
		var ok bool
		if n.Queues[k], ok = Overtake(ch, q, mv.At); !ok || !spend(&n.Spent.Overtake, f.Overtake) {
			return errors.New("no message may overtake another there")
		}
		t.What = Done
		return nil
	}
	if !slices.Contains(Heads(ch, q), mv.At) {
		return errors.New("nothing arrives there now")
	}
	x := q[mv.At]
	if mv.Kind != MoveCopy {
		n.Queues[k] = Take(q, mv.At)
	}
	switch mv.Kind {
	case MoveCopy:
		if !Copies(ch, q, mv.At) || !spend(&n.Spent.Duplicate, f.Duplicate) {
			return errors.New("that may not arrive again")
		}
	case MoveLose:
		if !Loses(ch, q, mv.At) || !spend(&n.Spent.Lose, f.Lose) {
			return errors.New("that may not be lost")
		}
		t.What = Done
		return nil
	case MoveSwallow:
		if !Swallows(w.Rules, ch, &c.Ends[ch.To], x) {
			return errors.New("no partition takes that")
		}
		t.What = Done
		return nil
	}
	t.Who = ch.To
	t.Result = Deliver(w.Rules, ch.To, c.Ends[ch.To], c.Values[ch.To], ch.From, x, w.Machines[ch.To])
	return nil
}

// crashes counts a crash.
func (w *World[V, M]) crashes(n *Configuration[V, M]) error {
	if most := w.Rules.Faults.CrashAll; most > 0 && !spend(&n.Spent.Crash, most) {
		return errors.New("there have been all crashes that there may be")
	}
	return nil
}

// tear cuts the step that an instance has taken short.
func (w *World[V, M]) tear(n *Configuration[V, M], before V, sends int, t *Taken[V, M]) error {
	if err := w.crashes(n); err != nil {
		return err
	}
	if t.Result = Tear(w.Rules, t.Who, before, t.Result, sends, w.Machines[t.Who]); t.What == Blocked {
		return fmt.Errorf("instance %d cannot crash in that step", t.Who)
	}
	return nil
}

// Sides lists the sets that a partition may part from the others: each partition by its [Rules.Side].
func (r *Rules) Sides() []uint64 {
	if r.Faults.Partition == 0 {
		return nil
	}
	var sides []uint64
	for side := uint64(1); side < 1<<r.Instances; side++ {
		if side&r.Faults.Bridge == 0 && r.Side(side) == side {
			sides = append(sides, side)
		}
	}
	return sides
}

// Side is the side of a partition, given by either of them, on which the first instance is not that it cuts off.
func (r *Rules) Side(side uint64) uint64 {
	if first := bits.TrailingZeros64(^r.Faults.Bridge); side>>first&1 != 0 {
		return r.Away(first, side)
	}
	return side
}

// Away is the set that a partition keeps away from instance i; side 0 is no partition.
func (r *Rules) Away(i int, side uint64) uint64 {
	all := (uint64(1)<<r.Instances - 1) &^ r.Faults.Bridge
	switch {
	case side == 0 || r.Faults.Bridge>>i&1 != 0:
		return 0
	case side>>i&1 != 0:
		return all &^ side
	}
	return side
}

// splits begins or ends a partition: each instance will hear of it that it cuts off.
func (w *World[V, M]) splits(n *Configuration[V, M], mv Move[M], t *Taken[V, M]) error {
	switch {
	case mv.Kind == MoveHeal && n.Split == 0:
		return errors.New("there is no partition")
	case mv.Kind == MovePartition &&
		(n.Split != 0 || mv.Set == 0 || !spend(&n.Spent.Partition, w.Rules.Faults.Partition)):
		return errors.New("there may be no other partition now")
	}
	if mv.Set&w.Rules.Faults.Bridge != 0 {
		return errors.New("a partition has no side for who hears both")
	}
	n.Split = mv.Set
	for i := range n.Splits {
		if w.Rules.Faults.Bridge>>i&1 != 0 {
			continue
		}
		n.Splits[i] = append(slices.Clip(n.Splits[i]), mv.Set)
	}
	t.What = Done
	return nil
}

// spend counts one fault; it reports whether there was one left. A negative bound is none.
func spend(n *int, most int) bool {
	if most < 0 {
		return true
	}
	*n++
	return *n <= most
}

// settle puts what an instance became into the configuration, and what it sent into the channels.
func (w *World[V, M]) settle(n *Configuration[V, M], t *Taken[V, M]) error {
	if t.Fault != NoFault {
		return nil
	}
	n.Ends[t.Who], n.Values[t.Who] = t.End, t.Value
	for at, s := range t.Sends {
		k := w.Rules.Channel(t.Who, s.To, s.Class)
		if k < 0 {
			return fmt.Errorf("there is no channel from %d to %d", t.Who, s.To)
		}
		ch := &w.Rules.Channels[k]
		if s.Item.News == Reset && s.Item.Number == 0 && len(n.Queues[k]) == 0 {
			continue // nothing can go with it, and nobody is told
		}
		rest, full := push(ch, n.Queues[k], s.Item, w.taken(n, ch, k))
		switch {
		case !full:
			n.Queues[k] = rest
		case ch.Full == FullWait:
			return errors.New("there is no room for what it sends")
		case ch.Full == FullLose:
			t.Gone = append(t.Gone, at)
		default:
			t.Gone = append(t.Gone, at)
			t.Fault, t.Why = Overflow, fmt.Sprintf("the channel from %d to %d is full", t.Who, s.To)
			return nil
		}
	}
	return nil
}

// taken is how many places of a channel are taken.
func (w *World[V, M]) taken(n *Configuration[V, M], ch *Channel, k int) int {
	taken := Length(n.Queues[k])
	if w.Rules.Plant&NewsTakesRoom != 0 {
		taken = len(n.Queues[k])
	}
	if w.Rules.Plant&HeldTakesRoom != 0 {
		taken += n.Ends[ch.To].HeldOf(ch.From)
	}
	return taken
}

// Quiet reports whether nothing is under way and nothing is held.
func (c *Configuration[V, M]) Quiet() bool {
	for i := range c.Ends {
		if len(c.Ends[i].Held) > 0 {
			return false
		}
	}
	for _, q := range c.Queues {
		if len(q) > 0 {
			return false
		}
	}
	return true
}

// Orphans returns the number of messages in channels or held. They are orphans if nothing more can
// happen.
func (c *Configuration[V, M]) Orphans() int {
	n := 0
	for i := range c.Ends {
		n += len(c.Ends[i].Held)
	}
	for _, q := range c.Queues {
		n += Length(q)
	}
	return n
}

// Final reports whether all machines have finished, or crashed, or nobody is there.
func (w *World[V, M]) Final(c *Configuration[V, M]) bool {
	for i, e := range c.Ends {
		if !e.Down && !w.Rules.IsHostile(i) && !w.Machines[i].Final(c.Values[i]) {
			return false
		}
	}
	return true
}
