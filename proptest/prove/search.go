package prove

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/explore"
)

// search visits every configuration of the collapsed system. It does not judge: that is the verifier's.
type search struct {
	sys    *explore.System
	c      *collapse
	words  *words
	n      int // machines
	width  int // machines and channels
	blocks int // the most blocks that a channel may have

	locals   []table   // by machine
	letters  table     // messages
	own      [][][]hop // by machine and local value; nil: not computed
	received map[[3]int32][]hop

	confs  []int32 // width numbers for each configuration
	parent []int32
	seen   map[string]int32
	steps  int
	// full is the configuration that had too many blocks in channel fullAt, -1 if none; it is not
	// among those seen.
	full   []int32
	fullAt int
	from   int32 // its parent
}

// table numbers byte strings.
type table struct {
	list [][]byte
	ids  map[string]int32
}

func (t *table) id(b []byte) int32 {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]int32{}
	}
	id := int32(len(t.list))
	s := append([]byte(nil), b...)
	t.ids[string(s)] = id
	t.list = append(t.list, s)
	return id
}

// hop is a step of one machine.
type hop struct {
	next  int32
	sends []push
	lens  []explore.LenRange
}

type push struct {
	channel int
	letter  int32
}

func newSearch(sys *explore.System, c *collapse, blocks int) *search {
	s := &search{sys: sys, c: c, n: len(sys.Procs), width: len(sys.Procs) + len(sys.Channels), blocks: blocks,
		received: map[[3]int32][]hop{}, seen: map[string]int32{}}
	var sorted []bool
	for _, ch := range sys.Channels {
		sorted = append(sorted, ch.Order == explore.Bag)
	}
	s.words = newWords(sorted)
	s.locals = make([]table, s.n)
	s.own = make([][][]hop, s.n)
	return s
}

// reset forgets what was visited, but not what the machines do.
func (s *search) reset() {
	s.words = newWords(s.words.sorted)
	s.confs, s.parent, s.seen, s.steps, s.full = nil, nil, map[string]int32{}, 0, nil
}

// run searches; it says why it gave up, or "" if it saw everything. With s.full set it stopped at a
// channel that grew too long.
func (s *search) run(ctx context.Context, limit int) string {
	first := make([]int32, s.width)
	for i, p := range s.sys.Procs {
		first[i] = s.locals[i].id(p.Init())
	}
	s.add(first, -1)
	conf := make([]int32, s.width)
	for n := int32(0); int(n)*s.width < len(s.confs) && s.full == nil; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return context.Cause(ctx).Error()
		}
		if len(s.parent) > limit {
			return fmt.Sprintf("more than %s (--max-configurations gives more)",
				diag.Counted(limit, "collapsed configuration"))
		}
		copy(conf, s.confs[int(n)*s.width:])
		s.expand(conf, n)
	}
	return ""
}

func (s *search) add(conf []int32, parent int32) {
	if s.full != nil {
		return
	}
	for k := s.n; k < s.width; k++ {
		if s.words.size(conf[k]) > s.blocks {
			s.full, s.fullAt, s.from = append([]int32(nil), conf...), k-s.n, parent
			return
		}
	}
	key := make([]byte, 0, 4*s.width)
	for _, x := range conf {
		key = binary.AppendUvarint(key, uint64(x))
	}
	if _, known := s.seen[string(key)]; known {
		return
	}
	s.seen[string(key)] = int32(len(s.parent))
	s.parent = append(s.parent, parent)
	s.confs = append(s.confs, conf...)
}

func (s *search) expand(conf []int32, n int32) {
	next := make([]int32, s.width)
	take := func(i int, h *hop, k int, rest int32) {
		for _, l := range h.lens {
			if !s.mayBe(conf, l) {
				return
			}
		}
		copy(next, conf)
		if k >= 0 {
			next[s.n+k] = rest
		}
		next[i] = h.next
		for _, p := range h.sends {
			next[s.n+p.channel] = s.words.push(next[s.n+p.channel], p.letter, p.channel, s.c)
		}
		s.steps++
		s.add(next, n)
	}
	for i := range s.n {
		hops := s.ownHops(i, conf[i])
		for h := range hops {
			take(i, &hops[h], -1, 0)
		}
	}
	for k := range s.sys.Channels {
		s.deliver(conf, k, n, take)
	}
}

// deliver takes every reception from channel k.
func (s *search) deliver(conf []int32, k int, n int32, take func(i int, h *hop, k int, rest int32)) {
	ch, id := &s.sys.Channels[k], conf[s.n+k]
	for b := range s.words.heads(id, k) {
		rests := s.words.without(id, b)
		for _, letter := range s.words.list[id][b].letters {
			hops := s.receptions(ch.To, conf[ch.To], k, letter)
			for h := range hops {
				for _, rest := range rests {
					take(ch.To, &hops[h], k, rest)
				}
				if ch.Dup {
					take(ch.To, &hops[h], k, id)
				}
			}
		}
		if ch.Lossy {
			for _, rest := range rests {
				lost := append([]int32(nil), conf...)
				lost[s.n+k] = rest
				s.steps++
				s.add(lost, n)
			}
		}
	}
}

// mayBe reports whether a length may be in a range.
func (s *search) mayBe(conf []int32, l explore.LenRange) bool {
	kind := s.sys.Channels[l.Channel].Kind
	lo, hi := s.words.count(conf[s.n+l.Channel], func(letter int32) bool {
		return l.Kind == 0 || kind != nil && kind(s.letters.list[letter]) == l.Kind
	})
	return (l.Hi < 0 || lo <= l.Hi) && (hi < 0 || hi >= l.Lo)
}

func (s *search) ownHops(i int, local int32) []hop {
	for int(local) >= len(s.own[i]) {
		s.own[i] = append(s.own[i], nil)
	}
	if s.own[i][local] == nil {
		hops := []hop{}
		s.sys.Procs[i].Local(s.locals[i].list[local], func(st explore.Step) { hops = s.hop(hops, i, &st) })
		s.own[i][local] = hops
	}
	return s.own[i][local]
}

func (s *search) receptions(i int, local int32, k int, letter int32) []hop {
	key := [3]int32{local, int32(k), letter}
	hops, ok := s.received[key]
	if !ok {
		s.sys.Procs[i].Receive(s.locals[i].list[local], k, s.letters.list[letter],
			func(st explore.Step) { hops = s.hop(hops, i, &st) })
		s.received[key] = hops
	}
	return hops
}

// hop keeps a step; nothing is behind one that is an error.
func (s *search) hop(hops []hop, i int, st *explore.Step) []hop {
	if st.Fault != nil {
		return hops
	}
	h := hop{next: s.locals[i].id(st.Next), lens: st.Lens}
	for _, x := range st.Sends {
		h.sends = append(h.sends, push{x.Channel, s.letters.id(x.Msg)})
	}
	return append(hops, h)
}
