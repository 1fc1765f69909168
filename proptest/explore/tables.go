package explore

import (
	"encoding/binary"
	"fmt"
	"slices"
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
)

// hotRule is what the inner loop needs of a rule, kept small so that more of
// them stay in the cache.
type hotRule struct {
	delta uint64 // what to add to the word of the packed configuration that holds the local value
	label uint32
	msg0  uint32
	lens  uint32 // offset in engine.lens, 0 for none
	chan0 uint16
	kind  uint8
	flags uint8
}

// rule is one Step at one local value (and message).
type rule struct {
	label uint32
	next  uint32
	chan0 uint32 // the first message sent
	msg0  uint32
	sends span   // in engine.sends
	lens  uint32 // offset in engine.lens, 0 for none
	note  uint32
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

// pairTable maps two small ids to a number; 0 is unset. It is a plain matrix
// while that stays small, else a hash table.
type pairTable struct {
	cells  []uint32
	shift  uint32   // a row of the matrix has 1<<shift columns
	keys   []uint64 // hash table: x<<32|y + 1
	vals   []uint32
	used   int
	hashed bool
}

const maxMatrix = 1 << 22 // cells

// get looks up a pair; y must be below what widen was last told.
func (t *pairTable) get(x, y uint32) uint32 {
	if at := t.index(x, y); at < uint64(len(t.cells)) {
		return t.cells[at]
	}
	return t.probe(x, y)
}

// index is the place of a pair in the matrix.
func (t *pairTable) index(x, y uint32) uint64 { return uint64(x)<<(t.shift&31) | uint64(y) }

// widen gives the matrix room for second numbers below n.
func (t *pairTable) widen(n int) {
	if !t.hashed && n > 1<<t.shift {
		t.enlarge(0, uint32(n-1))
	}
}

func (t *pairTable) probe(x, y uint32) uint32 {
	if !t.hashed {
		return 0
	}
	key := uint64(x)<<32 | uint64(y)
	mask := uint64(len(t.keys) - 1)
	for i := hash1(key) & mask; t.keys[i] != 0; i = (i + 1) & mask {
		if t.keys[i] == key+1 {
			return t.vals[i]
		}
	}
	return 0
}

func (t *pairTable) set(x, y, v uint32) {
	if !t.hashed && !t.covers(x, y) {
		t.enlarge(x, y)
	}
	if !t.hashed {
		t.cells[x<<t.shift|y] = v
		return
	}
	if 2*(t.used+1) > len(t.keys) {
		keys, vals := t.keys, t.vals
		t.keys, t.vals, t.used = make([]uint64, 2*len(keys)), make([]uint32, 2*len(keys)), 0
		for i, k := range keys {
			if k != 0 {
				t.put(k-1, vals[i])
			}
		}
	}
	t.put(uint64(x)<<32|uint64(y), v)
}

func (t *pairTable) put(key uint64, v uint32) {
	mask := uint64(len(t.keys) - 1)
	i := hash1(key) & mask
	for ; t.keys[i] != 0 && t.keys[i] != key+1; i = (i + 1) & mask {
	}
	if t.keys[i] == 0 {
		t.used++
	}
	t.keys[i], t.vals[i] = key+1, v
}

func (t *pairTable) covers(x, y uint32) bool {
	return y>>t.shift == 0 && uint64(x) < uint64(len(t.cells))>>t.shift
}

// enlarge makes room for (x, y), as a matrix if it stays small enough.
func (t *pairTable) enlarge(x, y uint32) {
	old := *t
	rows, shift := max(uint64(len(old.cells))>>old.shift, 16), max(old.shift, 2)
	for rows <= uint64(x) {
		rows *= 2
	}
	for y>>shift != 0 {
		shift++
	}
	if rows<<shift > maxMatrix {
		*t = pairTable{hashed: true, keys: make([]uint64, 1<<16), vals: make([]uint32, 1<<16)}
	} else {
		*t = pairTable{cells: make([]uint32, rows<<shift), shift: shift}
	}
	for i, v := range old.cells {
		if v != 0 {
			t.set(uint32(i)>>old.shift, uint32(i)&(1<<old.shift-1), v)
		}
	}
}

func (t *pairTable) bytes() uint64 {
	return uint64(4*len(t.cells) + 12*len(t.keys))
}

// check says what is wrong with a system before anything runs.
func (s *System) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrSystem, fmt.Sprintf(format, args...))
	}
	if len(s.Channels) > 1<<15 {
		return bad("%d channels; there may be 32768", len(s.Channels))
	}
	if len(s.Procs) == 0 || len(s.Procs) > 1<<15 {
		return bad("%d machines; there must be between 1 and 32768", len(s.Procs))
	}
	if len(s.Labels) >= maxLabel {
		return bad("%d labels; there may be %d", len(s.Labels), maxLabel)
	}
	for i, p := range s.Procs {
		if p == nil {
			return bad("machine %d is nil", i)
		}
	}
	for i := range s.Channels {
		c := &s.Channels[i]
		if c.To < 0 || c.To >= len(s.Procs) {
			return bad("channel %d (%s) leads to machine %d of %d", i, c.Name, c.To, len(s.Procs))
		}
		if c.Cap < 1 || c.Cap > 65535 {
			return bad("channel %d (%s) has capacity %d; give 1 to 65535", i, c.Name, c.Cap)
		}
	}
	for _, n := range []int{s.Budget.Loss, s.Budget.Dup, s.Budget.Swap, s.Budget.Crash} {
		if n < 0 || n > 255 {
			return bad("a fault budget of %d; give 0 (no limit) to 255", n)
		}
	}
	for i := range s.Claims {
		if s.Claims[i].Eval == nil && s.Claims[i].Kind != Confluent {
			return bad("claim %d (%s) has no Eval", i, s.Claims[i].Name)
		}
	}
	return nil
}
