package prove

import (
	"encoding/binary"
	"slices"
)

// block is a stretch of a channel: exactly one letter (least 0), or at least
// least letters, each of which is one of letters.
type block struct {
	least   int32
	letters []int32 // sorted
}

func (b *block) open() bool { return b.least > 0 }

// collapse says which runs of letters become blocks.
type collapse struct {
	// group has, by channel, the letters that are collapsed; letters of one
	// group collapse together, whatever their order.
	group []map[int32]int32
	// exact is how many letters of a group in a row are still told apart.
	exact int32
}

func newCollapse(channels int) *collapse {
	c := &collapse{group: make([]map[int32]int32, channels)}
	for i := range c.group {
		c.group[i] = map[int32]int32{}
	}
	return c
}

// words numbers the contents that channels have; 0 is the empty one.
type words struct {
	list [][]block
	ids  map[string]int32
	// sorted channels deliver in any order: their words are kept sorted
	sorted []bool
}

func newWords(sorted []bool) *words {
	w := &words{ids: map[string]int32{}, sorted: sorted}
	w.id(nil)
	return w
}

func (w *words) id(word []block) int32 {
	var key []byte
	for _, b := range word {
		key = binary.AppendUvarint(key, uint64(b.least))
		key = binary.AppendUvarint(key, uint64(len(b.letters)))
		for _, l := range b.letters {
			key = binary.AppendUvarint(key, uint64(l))
		}
	}
	if id, ok := w.ids[string(key)]; ok {
		return id
	}
	id := int32(len(w.list))
	w.ids[string(key)] = id
	w.list = append(w.list, word)
	return id
}

// push appends a letter to a word in channel ch.
func (w *words) push(id int32, letter int32, ch int, c *collapse) int32 {
	word := w.list[id]
	at := len(word)
	for w.sorted[ch] && at > 0 && word[at-1].letters[0] > letter {
		at--
	}
	g, collapsed := c.group[ch][letter]
	if !collapsed {
		return w.id(slices.Concat(word[:at], []block{{0, []int32{letter}}}, word[at:]))
	}
	from, least := at, int32(1)
	letters := []int32{letter}
	for from > 0 {
		b := &word[from-1]
		if h, ok := c.group[ch][b.letters[0]]; !ok || h != g || w.sorted[ch] && b.letters[0] != letter {
			break
		}
		from--
		least += max(b.least, 1)
		letters = append(letters, b.letters...)
		if b.open() {
			break
		}
	}
	if least <= c.exact && (from == at || !word[from].open()) {
		return w.id(slices.Concat(word[:at], []block{{0, []int32{letter}}}, word[at:]))
	}
	slices.Sort(letters)
	run := block{min(least, c.exact+1), slices.Compact(letters)}
	return w.id(slices.Concat(word[:from], []block{run}, word[at:]))
}

// without lists what a word may be when a letter of block b has been taken out.
func (w *words) without(id int32, b int) []int32 {
	word := w.list[id]
	gone := slices.Concat(word[:b], word[b+1:])
	switch {
	case !word[b].open():
		return []int32{w.id(gone)}
	case word[b].least > 1:
		fewer := block{word[b].least - 1, word[b].letters}
		return []int32{w.id(slices.Concat(word[:b], []block{fewer}, word[b+1:]))}
	}
	return []int32{w.id(gone), id}
}

// heads lists the blocks that may deliver in channel ch: the first, or all of a sorted word.
func (w *words) heads(id int32, ch int) int {
	if w.sorted[ch] {
		return len(w.list[id])
	}
	return min(1, len(w.list[id]))
}

// size is the number of blocks.
func (w *words) size(id int32) int { return len(w.list[id]) }

// count bounds the letters of a word for which counts is true; hi < 0 is no bound.
func (w *words) count(id int32, counts func(letter int32) bool) (lo, hi int) {
	for _, b := range w.list[id] {
		n := 0
		for _, l := range b.letters {
			if counts(l) {
				n++
			}
		}
		if n == len(b.letters) {
			lo += int(max(b.least, 1))
		}
		switch {
		case n > 0 && b.open():
			hi = -1
		case n > 0 && hi >= 0:
			hi++
		}
	}
	return lo, hi
}
