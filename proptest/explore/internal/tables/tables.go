package tables

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// Everything a system can do is kept in tables of dense ids: local values,
// messages and channel words are interned, and what happens at a local value
// (alone, or with a message) is a run of rules. Tables grow only between the
// parallel phases of a search, so that workers read them without locks.

// interner gives equal byte strings equal dense ids.
type interner struct {
	ids  map[string]uint32
	Vals []string
}

func (t *interner) id(b []byte) uint32 {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	id := uint32(len(t.Vals))
	s := string(b)
	t.ids[s] = id
	t.Vals = append(t.Vals, s)
	return id
}

// What has to be done besides taking delta and looking at lens.
const (
	PlainRule   = iota // only the local value changes
	SendRule           // and one message is sent
	generalRule        // several messages, budget
	FaultRule          // an error
	noRule             // stands for an empty run
)

const (
	LastFlag = 1 << iota // the run of rules ends here
	SpontaneousFlag
	AmpleFlag // of the first of a run: see ample
	OnceFlag  // Step.Once
)

// hotRule is the part of a rule that the inner loop needs, kept small so that more of them stay in
// the cache.
type hotRule struct {
	Delta uint64 // what to add to the word of the packed configuration that holds the local value
	Label uint32 // where it is counted
	Msg0  uint32
	Lens  uint32 // offset in engine.lens, 0 for none
	Chan0 uint16
	Kind  uint8
	Flags uint8
}

// Rule is one Step at one local value (and message).
type Rule struct {
	Label uint32
	Count uint32 // where it is counted: the label, or, with a tally, behind all labels
	Next  uint32
	chan0 uint32 // the first message sent
	msg0  uint32
	Sends span   // in engine.sends
	Ages  span   // in engine.Ages
	Lens  uint32 // offset in engine.lens, 0 for none
	Note  uint32
	Does  uint32 // in engine.constraints, 0 for none
	self  uint32 // the local value it belongs to
	Proc  uint16
	Kind  uint8
	Flags uint8
	// Spends is the set of parts of the budget it counts against.
	Spends uint8
}

type span struct{ Off, N uint32 }

type sendID struct{ Ch, Msg uint32 }

// Machine is the table of one Process. Run indexes point into rules; 0 is
// unknown, 1 is the empty run.
type Machine struct {
	Proc   api.Process
	Locals interner
	Runs   []uint32 // by local id: its local rules
	final  []bool
	holds  []bool // by local id: it holds deferred messages, see System.Held
	Rules  []Rule
	Hot    []hotRule // the same, for the inner loop
}

// delivery is one in-flight message that can be delivered from a word.
type delivery struct {
	Msg  uint32 // unknownMsg until the word was first met
	Rest uint32 // the word without it; unknownWord until needed
	More uint32 // index into channel.more of the next possible delivery, 0 if none
	n    uint32 // length of the word
}

const (
	UnknownMsg   = ^uint32(0)
	UnknownWord  = ^uint32(0)
	OverflowWord = ^uint32(0)
)

// channel is the table of one Channel. Word 0 is the empty word.
type channel struct {
	Spec   *api.Channel
	msgs   interner
	ids    map[string]uint32
	Words  [][]uint32 // message ids, oldest first; a bag is sorted by id
	Heads  []delivery
	More   []delivery
	Append store.PairTable // (word, message) to word; 0 is unknown
	Recv   store.PairTable // (local id of To, message) to a run in its rules
	Swaps  map[uint32][]swap
	Tails  map[uint32]uint32
	Olders map[uint32]uint32 // OverflowWord: a message may not get so old
	kinds  [][]uint16        // by word: how many messages of each kind, from kind 1; nil without Channel.Kind
	frees  []uint32          // by word: how many of its messages are free; nil without Channel.Free
	Widest int
	key    []byte
}

func (c *channel) init(spec *api.Channel) {
	c.Spec = spec
	c.ids = map[string]uint32{}
	c.More = make([]delivery, 1)
	c.word(nil)
	c.Heads[0].Msg = 0
}

// word interns a sequence of message ids, which it may keep.
func (c *channel) word(w []uint32) uint32 {
	c.key = c.key[:0]
	for _, m := range w {
		c.key = binary.LittleEndian.AppendUint32(c.key, m)
	}
	if id, ok := c.ids[string(c.key)]; ok {
		return id
	}
	id := uint32(len(c.Words))
	c.ids[string(c.key)] = id
	c.Words = append(c.Words, w)
	c.Heads = append(c.Heads, delivery{Msg: UnknownMsg, Rest: UnknownWord, n: uint32(len(w))})
	c.countKinds(w)
	if c.Spec.Free != nil {
		c.frees = append(c.frees, c.countFree(w))
	}
	return id
}

// IsFree reports whether a message takes no room. Such a one is neither lost nor copied nor exchanged.
func (c *channel) IsFree(m uint32) bool {
	return c.Spec.Free != nil && c.Spec.Free([]byte(c.msgs.Vals[m]))
}

// countFree is how many messages of a word take no room.
func (c *channel) countFree(w []uint32) uint32 {
	n := uint32(0)
	for _, m := range w {
		if c.IsFree(m) {
			n++
		}
	}
	return n
}

// countKinds notes how many messages of each kind a new word has.
func (c *channel) countKinds(w []uint32) {
	if c.Spec.Kind == nil {
		return
	}
	var n []uint16
	for _, m := range w {
		k := int(c.Spec.Kind([]byte(c.msgs.Vals[m])))
		for len(n) < k {
			n = append(n, 0)
		}
		if k > 0 {
			n[k-1]++
		}
	}
	c.kinds = append(c.kinds, n)
}

// length is the number of messages of a kind in w; of all that take room if kind is 0.
func (c *channel) length(w uint32, kind uint8) uint32 {
	switch {
	case kind == 0 && c.frees != nil:
		return c.Heads[w].n - c.frees[w]
	case kind == 0, kind == api.Everything:
		return c.Heads[w].n
	}
	if c.kinds == nil || int(kind) > len(c.kinds[w]) {
		return 0
	}
	return uint32(c.kinds[w][kind-1])
}

// push appends message m to word w; overflowWord if there is no room.
func (c *channel) push(w, m uint32) uint32 {
	c.Append.Widen(len(c.msgs.Vals))
	if id := c.Append.Get(w, m); id != 0 {
		return id
	}
	old := c.Words[w]
	id := OverflowWord
	taken, free := len(old), false
	if c.Spec.Free != nil {
		free = c.Spec.Free([]byte(c.msgs.Vals[m]))
		taken -= int(c.frees[w])
	}
	if free || taken < c.Spec.Cap {
		n := append(slices.Clone(old), m)
		if c.Spec.Order == api.Bag {
			slices.Sort(n)
		}
		id = c.word(n)
		if !free {
			c.Widest = max(c.Widest, taken+1)
		}
	}
	c.Append.Set(w, m, id)
	return id
}

// meet fills in what can be delivered from w.
func (c *channel) meet(w uint32) {
	word := c.Words[w]
	if len(word) == 0 || c.Heads[w].Msg != UnknownMsg {
		return
	}
	c.Heads[w].Msg = word[0]
	if c.Spec.Order == api.FIFO {
		return
	}
	last := uint32(0)
	for i := len(word) - 1; i > 0; i-- {
		if word[i] == word[i-1] {
			continue
		}
		c.More = append(c.More, delivery{Msg: word[i], Rest: UnknownWord, More: last})
		last = uint32(len(c.More) - 1)
	}
	c.Heads[w].More = last
}

// take gives the word that is left when the i-th possible delivery is taken
// out of w.
func (c *channel) take(w, i uint32) uint32 {
	l := c.Deliverable(w, i)
	if l.Rest != UnknownWord {
		return l.Rest
	}
	word := c.Words[w]
	at := slices.Index(word, l.Msg)
	rest := c.word(slices.Delete(slices.Clone(word), at, at+1))
	c.Deliverable(w, i).Rest = rest // interning may have moved the deliveries
	return rest
}

// Messages are the different messages that have been met in the channel, by their numbers.
func (c *channel) Messages() []string { return c.msgs.Vals }

// Deliverable returns the i-th possible delivery of w, nil after the last.
func (c *channel) Deliverable(w, i uint32) *delivery {
	if w == 0 {
		return nil
	}
	l := &c.Heads[w]
	for ; i > 0; i-- {
		if l.More == 0 {
			return nil
		}
		l = &c.More[l.More]
	}
	return l
}

// swap is a word in which two messages next to each other have changed places. At is how many
// messages that take room come before them.
type swap struct {
	Word uint32
	At   int
}

// swapped lists what becomes of w if two different messages next to each other change places.
func (c *channel) swapped(w uint32) []swap {
	if list, ok := c.Swaps[w]; ok {
		return list
	}
	var list []swap
	word, at := c.Words[w], 0
	for i := 0; c.Spec.Order == api.FIFO && i+1 < len(word); i++ {
		if c.IsFree(word[i]) {
			continue
		}
		if word[i] != word[i+1] && !c.IsFree(word[i+1]) {
			n := slices.Clone(word)
			n[i], n[i+1] = n[i+1], n[i]
			list = append(list, swap{c.word(n), at})
		}
		at++
	}
	if c.Swaps == nil {
		c.Swaps = map[uint32][]swap{}
	}
	c.Swaps[w] = list
	return list
}

// curtailed is w without the last message that takes room before the first that takes messages with it,
// see Channel.Tail; w itself if there is none.
func (c *channel) curtailed(w uint32) uint32 {
	if id, ok := c.Tails[w]; ok {
		return id
	}
	id := w
	if at := c.tailOf(w); c.Spec.Order == api.FIFO && at >= 0 {
		id = c.word(slices.Delete(slices.Clone(c.Words[w]), at, at+1))
	}
	if c.Tails == nil {
		c.Tails = map[uint32]uint32{}
	}
	c.Tails[w] = id
	return id
}

// older is w with all messages one step of Ages older; OverflowWord if one may not.
func (c *channel) older(w uint32) uint32 {
	if id, ok := c.Olders[w]; ok {
		return id
	}
	id := OverflowWord
	if word, ok := c.olderAll(c.Words[w]); ok {
		id = c.word(word)
	}
	if c.Olders == nil {
		c.Olders = map[uint32]uint32{}
	}
	c.Olders[w] = id
	return id
}

func (c *channel) olderAll(word []uint32) (older []uint32, ok bool) {
	for _, m := range word {
		b, ok := c.Spec.Older([]byte(c.msgs.Vals[m]))
		if !ok {
			return nil, false
		}
		older = append(older, c.msgs.id(b))
	}
	if c.Spec.Order == api.Bag {
		slices.Sort(older)
	}
	return older, true
}

// Bare is the number of a message as it was when it was sent.
func (c *channel) Bare(m uint32) uint32 {
	if c.Spec.Bare == nil {
		return m
	}
	return c.msgs.id(c.Spec.Bare([]byte(c.msgs.Vals[m])))
}

// tailOf is the place of the message that curtailed takes out of w, -1 if there is none.
func (c *channel) tailOf(w uint32) int {
	word := c.Words[w]
	at := slices.IndexFunc(word, func(m uint32) bool { return c.Spec.Tail([]byte(c.msgs.Vals[m])) }) - 1
	for at >= 0 && c.IsFree(word[at]) {
		at--
	}
	return max(at, -1)
}

// sorted gives the messages of a word by number; a bag's in the order of their bytes.
func (c *channel) sorted(w uint32) []uint32 {
	if c.Spec.Order == api.FIFO {
		return c.Words[w]
	}
	out := slices.Clone(c.Words[w])
	slices.SortFunc(out, func(a, b uint32) int { return strings.Compare(c.msgs.Vals[a], c.msgs.Vals[b]) })
	return out
}

// bytes gives the messages of a word; a bag in the order of their bytes.
func (c *channel) bytes(w uint32) api.Word {
	out := make(api.Word, 0, len(c.Words[w]))
	for _, m := range c.Words[w] {
		out = append(out, []byte(c.msgs.Vals[m]))
	}
	if c.Spec.Order == api.Bag {
		slices.SortFunc(out, slices.Compare)
	}
	return out
}
