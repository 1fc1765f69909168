package world

import "slices"

// Order is the order in which a channel delivers.
type Order uint8

// The orders of a channel. Fifo: the oldest item alone. Any: every item.
const (
	Fifo Order = iota
	Any
)

// Full is what a send into a full channel does.
type Full uint8

// What a full channel does. FullFault: the send is the fault Overflow. FullLose: the message is
// lost. FullWait: the step that would send it is not possible before there is room.
const (
	FullFault Full = iota
	FullLose
	FullWait
)

// Channel is the path of messages from one instance to another.
type Channel struct {
	From, To int
	// Class tells the channels from one instance to another apart, if there are several.
	Class int
	Order Order
	// Capacity is the most messages under way, at least 1. News of links takes no room.
	Capacity int
	Full     Full
	// Lossy channels lose messages, Duplicates ones deliver them again, as often as Faults allow. A
	// message may overtake the one before it where Order is Fifo and Overtakes is set, and then the next.
	Lossy, Duplicates, Overtakes bool
}

// News is news of a link. It travels in a channel, in its place among the messages.
type News uint8

const (
	NoNews News = iota // the item is a message
	Cut                // the sender has closed the link
	Ask                // the sender wants the link again
	Answer             // the answer to Ask
	Reset              // the sender has crashed, or its link broke; what lies before it may be lost
)

var newsNames = [...]string{"", "cut", "ask", "answer", "reset"}

// String returns the name of n in lower case.
func (n News) String() string { return newsNames[n] }

// loose reports whether the channel may lose, copy or reorder messages.
func (c *Channel) loose() bool { return c.Order == Any || c.Lossy || c.Duplicates || c.Overtakes }

// Item is a message in a channel, or news of the link. News takes no capacity, and is neither lost
// nor copied nor overtaken.
type Item[M comparable] struct {
	News News
	// Number tells what an instance asks apart: Ask has that of its sender, Answer that of the Ask. Of a
	// Reset it is 1 if a link was open, and 0 if it only takes away what lay before it.
	Number uint8
	// Heard, of an Ask, is how many resets its sender had heard, see End.Heard.
	Heard uint8
	// Age is how many beats the receiver has felt since a message was sent, if time is counted.
	Age     uint8
	Message M
}

// Length returns the number of messages in a queue.
func Length[M comparable](q []Item[M]) int {
	n := 0
	for i := range q {
		if q[i].News == NoNews {
			n++
		}
	}
	return n
}

// Push appends an item. full reports that there is no room for it; then rest is q itself.
func Push[M comparable](c *Channel, q []Item[M], x Item[M]) (rest []Item[M], full bool) {
	return push(c, q, x, Length(q))
}

// push appends an item to a queue of which so many places are taken.
func push[M comparable](c *Channel, q []Item[M], x Item[M], taken int) ([]Item[M], bool) {
	if x.News == NoNews && taken >= c.Capacity {
		return q, true
	}
	return append(q[:len(q):len(q)], x), false
}

// Heads returns the places of the items that can be delivered, without those that are equal to an
// earlier one. In any order of the channel, news of a link waits for everything sent before it, and
// everything sent after it waits for the news.
func Heads[M comparable](c *Channel, q []Item[M]) []int {
	if len(q) == 0 {
		return nil
	}
	if c.Order == Fifo {
		return []int{0}
	}
	var heads []int
	for i, x := range q {
		if x.News != NoNews {
			if i == 0 {
				heads = append(heads, 0)
			}
			break
		}
		if !slices.Contains(q[:i], x) {
			heads = append(heads, i)
		}
	}
	return heads
}

// Take returns the queue without the item at a place, which was delivered or lost.
func Take[M comparable](q []Item[M], at int) []Item[M] {
	rest := make([]Item[M], 0, len(q)-1)
	return append(append(rest, q[:at]...), q[at+1:]...)
}

// Copies reports whether the item at a place, one of Heads, may be delivered and stay. The copy
// comes before everything younger.
func Copies[M comparable](c *Channel, q []Item[M], at int) bool {
	return c.Duplicates && q[at].News == NoNews
}

// Loses reports whether the item at a place, one of Heads, may be lost.
func Loses[M comparable](c *Channel, q []Item[M], at int) bool {
	return c.Lossy && q[at].News == NoNews
}

// Tail returns the queue without the youngest message that a reset may have taken with it: the last one
// before the first [Reset]. ok is false if there is none.
func Tail[M comparable](q []Item[M]) (rest []Item[M], ok bool) {
	at := slices.IndexFunc(q, func(x Item[M]) bool { return x.News == Reset }) - 1
	for at >= 0 && q[at].News != NoNews {
		at--
	}
	if at < 0 {
		return q, false
	}
	return Take(q, at), true
}

// Overtake returns the queue in which the message behind a place has overtaken the one there. ok is
// false if that is not possible, or changes nothing.
func Overtake[M comparable](c *Channel, q []Item[M], at int) (rest []Item[M], ok bool) {
	if !c.Overtakes || c.Order != Fifo || at < 0 || at+1 >= len(q) {
		return q, false
	}
	if q[at].News != NoNews || q[at+1].News != NoNews || q[at] == q[at+1] {
		return q, false
	}
	rest = slices.Clone(q)
	rest[at], rest[at+1] = rest[at+1], rest[at]
	return rest, true
}

// Older returns the queue after its receiver has felt a beat. ok is false if the beat cannot be
// felt, because something under way would be too old.
func Older[M comparable](t *Time, q []Item[M]) (rest []Item[M], ok bool) {
	for i := range q {
		if int(q[i].Age) >= t.Delay-1 {
			return q, false
		}
	}
	rest = slices.Clone(q)
	for i := range rest {
		rest[i].Age++
	}
	return rest, true
}
