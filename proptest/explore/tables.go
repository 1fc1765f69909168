package explore

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Everything a system can do is kept in tables of dense ids: local values,
// messages and channel words are interned, and what happens at a local value
// (alone, or with a message) is a run of rules. Tables grow only between the
// parallel phases of a search, so that workers read them without locks.

// interner gives equal byte strings equal dense ids.
type interner struct {
	ids  map[string]uint32
	vals []string
}

func (t *interner) id(b []byte) uint32 {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	id := uint32(len(t.vals))
	s := string(b)
	t.ids[s] = id
	t.vals = append(t.vals, s)
	return id
}

// What has to be done besides taking delta and looking at lens.
const (
	plainRule   = iota // only the local value changes
	sendRule           // and one message is sent
	generalRule        // several messages, budget
	faultRule          // an error
	noRule             // stands for an empty run
)

const (
	lastFlag = 1 << iota // the run of rules ends here
	spontaneousFlag
	crashFlag
	firstFlag // of the first of a run: see ample
)

// hotRule is what the inner loop needs of a rule, kept small so that more of
// them stay in the cache.
type hotRule struct {
	delta uint64 // what to add to the word of the packed configuration that holds the local value
	label uint32 // where it is counted
	msg0  uint32
	lens  uint32 // offset in engine.lens, 0 for none
	chan0 uint16
	kind  uint8
	flags uint8
}

// rule is one Step at one local value (and message).
type rule struct {
	label uint32
	count uint32 // where it is counted: the label, or, with a tally, behind all labels
	next  uint32
	chan0 uint32 // the first message sent
	msg0  uint32
	sends span   // in engine.sends
	lens  uint32 // offset in engine.lens, 0 for none
	note  uint32
	does  uint32 // in engine.duties, 0 for none
	self  uint32 // the local value it belongs to
	proc  uint16
	kind  uint8
	flags uint8
}

type span struct{ off, n uint32 }

type sendID struct{ ch, msg uint32 }

// machine is the table of one Process. Run indexes point into rules; 0 is
// unknown, 1 is the empty run.
type machine struct {
	proc   Process
	locals interner
	runs   []uint32 // by local id: its local rules
	final  []bool
	rules  []rule
	hot    []hotRule // the same, for the inner loop
}

// letter is one message that can be delivered from a word.
type letter struct {
	msg  uint32 // unknownMsg until the word was first met
	rest uint32 // the word without it; unknownWord until needed
	more uint32 // index into channel.more of the next deliverable letter, 0 if none
	n    uint32 // length of the word
}

const (
	unknownMsg   = ^uint32(0)
	unknownWord  = ^uint32(0)
	overflowWord = ^uint32(0)
)

// channel is the table of one Channel. Word 0 is the empty word.
type channel struct {
	spec   *Channel
	msgs   interner
	ids    map[string]uint32
	words  [][]uint32 // message ids, oldest first; a bag is sorted by id
	heads  []letter
	more   []letter
	append pairTable // (word, message) to word; 0 is unknown
	recv   pairTable // (local id of To, message) to a run in its rules
	swaps  map[uint32]uint32
	kinds  [][]uint16 // by word: how many messages of each kind, from kind 1; nil without Channel.Kind
	widest int
	key    []byte
}

func (c *channel) init(spec *Channel) {
	c.spec = spec
	c.ids = map[string]uint32{}
	c.more = make([]letter, 1)
	c.word(nil)
	c.heads[0].msg = 0
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
	id := uint32(len(c.words))
	c.ids[string(c.key)] = id
	c.words = append(c.words, w)
	c.heads = append(c.heads, letter{msg: unknownMsg, rest: unknownWord, n: uint32(len(w))})
	c.countKinds(w)
	return id
}

// countKinds notes how many messages of each kind a new word has.
func (c *channel) countKinds(w []uint32) {
	if c.spec.Kind == nil {
		return
	}
	var n []uint16
	for _, m := range w {
		k := int(c.spec.Kind([]byte(c.msgs.vals[m])))
		for len(n) < k {
			n = append(n, 0)
		}
		if k > 0 {
			n[k-1]++
		}
	}
	c.kinds = append(c.kinds, n)
}

// length is the number of messages of a kind in w; of all if kind is 0.
func (c *channel) length(w uint32, kind uint8) uint32 {
	if kind == 0 {
		return c.heads[w].n
	}
	if c.kinds == nil || int(kind) > len(c.kinds[w]) {
		return 0
	}
	return uint32(c.kinds[w][kind-1])
}

// push appends message m to word w; overflowWord if there is no room.
func (c *channel) push(w, m uint32) uint32 {
	c.append.widen(len(c.msgs.vals))
	if id := c.append.get(w, m); id != 0 {
		return id
	}
	old := c.words[w]
	id := overflowWord
	if len(old) < c.spec.Cap {
		n := append(slices.Clone(old), m)
		if c.spec.Order == Bag {
			slices.Sort(n)
		}
		id = c.word(n)
		c.widest = max(c.widest, len(n))
	}
	c.append.set(w, m, id)
	return id
}

// meet fills in what can be delivered from w.
func (c *channel) meet(w uint32) {
	word := c.words[w]
	if len(word) == 0 || c.heads[w].msg != unknownMsg {
		return
	}
	c.heads[w].msg = word[0]
	if c.spec.Order == FIFO {
		return
	}
	last := uint32(0)
	for i := len(word) - 1; i > 0; i-- {
		if word[i] == word[i-1] {
			continue
		}
		c.more = append(c.more, letter{msg: word[i], rest: unknownWord, more: last})
		last = uint32(len(c.more) - 1)
	}
	c.heads[w].more = last
}

// take gives the word that is left when the i-th deliverable letter is taken
// out of w.
func (c *channel) take(w, i uint32) uint32 {
	l := c.letterAt(w, i)
	if l.rest != unknownWord {
		return l.rest
	}
	word := c.words[w]
	at := slices.Index(word, l.msg)
	rest := c.word(slices.Delete(slices.Clone(word), at, at+1))
	c.letterAt(w, i).rest = rest // interning may have moved the letters
	return rest
}

// letterAt returns the i-th deliverable letter of w, nil after the last.
func (c *channel) letterAt(w, i uint32) *letter {
	if w == 0 {
		return nil
	}
	l := &c.heads[w]
	for ; i > 0; i-- {
		if l.more == 0 {
			return nil
		}
		l = &c.more[l.more]
	}
	return l
}

// swapped is w with its first two messages exchanged; w itself if that
// changes nothing.
func (c *channel) swapped(w uint32) uint32 {
	if id, ok := c.swaps[w]; ok {
		return id
	}
	id := w
	if word := c.words[w]; c.spec.Order == FIFO && len(word) >= 2 && word[0] != word[1] {
		n := slices.Clone(word)
		n[0], n[1] = n[1], n[0]
		id = c.word(n)
	}
	if c.swaps == nil {
		c.swaps = map[uint32]uint32{}
	}
	c.swaps[w] = id
	return id
}

// sorted gives the messages of a word by number; a bag's in the order of their bytes.
func (c *channel) sorted(w uint32) []uint32 {
	if c.spec.Order == FIFO {
		return c.words[w]
	}
	out := slices.Clone(c.words[w])
	slices.SortFunc(out, func(a, b uint32) int { return strings.Compare(c.msgs.vals[a], c.msgs.vals[b]) })
	return out
}

// bytes gives the messages of a word; a bag in the order of their bytes.
func (c *channel) bytes(w uint32) Word {
	out := make(Word, 0, len(c.words[w]))
	for _, m := range c.words[w] {
		out = append(out, []byte(c.msgs.vals[m]))
	}
	if c.spec.Order == Bag {
		slices.SortFunc(out, slices.Compare)
	}
	return out
}
