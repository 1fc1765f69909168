// Package after decides, when a search has visited everything, the claims about what follows from a
// configuration: what can still be reached, what every fair run comes to, and whether steps
// commute. It must not change what was visited. Start from [Decide].
package after

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/store"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Claims that need the whole reached set are decided after the search, while
// the visited set is still there: the slot of a configuration is its number.

// Decide decides the claims about what is possible. It notes violations, and returns the pairs of
// steps that do not commute.
func Decide(s *search.Search) (pairs []Conflict) {
	for i := range s.Engine.Sys.Claims {
		if s.Stop.Load() {
			return pairs
		}
		switch s.Engine.Sys.Claims[i].Kind {
		case api.Possible:
			DecidePossible(s, i)
		case api.LeadsTo, api.Eventually:
			LeadsTo(s, i)
		case api.Confluent:
			pairs = append(pairs, findConflicts(s, i)...)
		}
	}
	return pairs
}

// DecidePossible decides claim i: from each configuration where it is relevant, one where it holds
// can be reached.
//
// Where runs ended at faults, a violation is looked for first that holds whatever comes behind
// them: a configuration in which a fault is possible counts as good. Only if there is none, faults
// count as no step at all, and the violation is marked as cut.
func DecidePossible(s *search.Search, i int) {
	r := &reach{s: s, claim: i, calm: s.Engine.Sys.Claims[i].Calm, good: make(store.Bitset, s.Visited.N/64+1)}
	r.markHolding()
	r.decide()
	if s.Stop.Load() {
		return // what was not looked at is no violation
	}
	least, depth := r.nearestBad()
	if least == nil {
		return
	}
	cut := s.Faulted()
	if cut {
		sooner := *r
		sooner.good = slices.Clone(r.good)
		sooner.markFaulty()
		sooner.decide()
		if s.Stop.Load() {
			return
		}
		if c, at := sooner.nearestBad(); c != nil {
			least, depth, cut = c, at, false
		}
	}
	s.Finds = append(s.Finds, search.Finding{Key: search.FindKey{What: search.FoundClaim, Claim: i},
		Conf: least, Depth: depth, Cut: cut,
		Text: fmt.Sprintf("from here on %q can never hold any more", s.Engine.Sys.Claims[i].Name)})
}

// reach is the question from which configurations a good one can be reached.
type reach struct {
	s     *search.Search
	claim int
	calm  bool         // spontaneous steps do not count
	good  store.Bitset // by slot: a good configuration can be reached
}

// decide completes good: at first it holds the configurations to be reached, in the end all from
// which one of them can be.
func (r *reach) decide() {
	if t := &r.s.Tune; !t.Passes && r.search() || r.s.Stop.Load() {
		return
	}
	r.passes()
}

// markHolding makes the configurations good in which the claim holds.
func (r *reach) markHolding() {
	e := r.s.Engine
	missed := make([][]root, len(r.s.Workers))
	parts := newParts(r.s, false)
	r.s.Each(func(k int, w *search.Worker) {
		parts.each(w, &r.s.Stop, func(x root) {
			e.Lay.Unpack(x.c, w.Ids)
			switch held, known := e.Holds(r.claim, w.Ids); {
			case !known:
				missed[k] = append(missed[k], root{x.slot, slices.Clone(x.c)})
			case held:
				r.good.Set(x.slot)
			}
		})
	})
	ids := make([]uint32, e.Fields())
	for _, list := range missed {
		for _, x := range list {
			e.Lay.Unpack(x.c, ids)
			if e.ClaimBits(r.claim, ids)&tables.HeldBit != 0 {
				r.good.Set(x.slot)
			}
		}
	}
}

// markFaulty makes the configurations good in which a fault is possible.
func (r *reach) markFaulty() {
	e := r.s.Engine
	ids := make([]uint32, e.Fields())
	r.s.ForEach(func(_ int, c []uint64) bool {
		if slot, _ := r.s.Visited.Find(c); !r.good.Has(slot) {
			e.Lay.Unpack(c, ids)
			if e.FaultyAt(ids, r.calm) {
				r.good.Set(slot)
			}
		}
		return !r.s.Stop.Load()
	})
}

// nearestBad gives the nearest configuration that is not good and in which the claim is relevant,
// and its depth; nil if there is none.
func (r *reach) nearestBad() (best []uint64, at int) {
	e := r.s.Engine
	if r.all() {
		return nil, 0
	}
	claim := &e.Sys.Claims[r.claim]
	ids := make([]uint32, e.Fields())
	r.s.ForEach(func(depth int, c []uint64) bool {
		if best != nil && depth > at {
			return false
		}
		if slot, _ := r.s.Visited.Find(c); r.good.Has(slot) {
			return true
		}
		e.Lay.Unpack(c, ids)
		if claim.Relevant != nil && e.ClaimBits(r.claim, ids)&tables.RelevantBit == 0 {
			return true
		}
		if best == nil || e.Compare(c, best) < 0 {
			best, at = slices.Clone(c), depth
		}
		return true
	})
	return best, at
}

// all reports whether every configuration is good.
func (r *reach) all() bool {
	n := uint64(0)
	for _, x := range r.good {
		n += uint64(bits.OnesCount64(x))
	}
	return n == r.s.Total
}

// A root is a configuration with its slot in the visited set. Its words are overwritten by the next
// one.
type root struct {
	slot uint64
	c    []uint64
}

// parts cuts the reached set into parts that workers take one after the other. A visited set that
// holds the configurations themselves is read as it lies in memory; one of fingerprints is asked
// for each configuration of the levels.
type parts struct {
	s      *search.Search
	cursor atomic.Int64
	blocks [][]uint64 // for a visited set of fingerprints
}

const slotsInPart = 1 << 12

func newParts(s *search.Search, levels bool) *parts {
	levels = levels || s.Visited.Hashed
	p := &parts{s: s}
	if levels {
		for i := range s.Levels {
			s.Split(&s.Levels[i])
			p.blocks = append(p.blocks, s.Tasks...)
		}
		s.Tasks = s.Tasks[:0]
	}
	return p
}

// each calls f for the configurations of one part after the other until there is none left, or stop
// is set.
func (p *parts) each(w *search.Worker, stop *atomic.Bool, f func(root)) {
	t, stride := p.s.Visited, p.s.Engine.Lay.Stride
	c := make([]uint64, stride)
	var look lookup
	for !stop.Load() {
		at := uint64(p.cursor.Add(1)) - 1
		if p.blocks != nil {
			if at >= uint64(len(p.blocks)) {
				return
			}
			b := p.blocks[at]
			lookUp(p.s, b, &look)
			for i, slot := range look.slots {
				f(root{slot, b[i*stride:][:stride]})
			}
			continue
		}
		if at *= slotsInPart; at >= t.N {
			return
		}
		for slot := at; slot < min(at+slotsInPart, t.N); slot++ {
			if t.At(slot, c) {
				f(root{slot, c})
			}
		}
	}
}

// lookup is where some configurations are in the visited set.
type lookup struct {
	slots []uint64
	keys  []uint64 // fingerprints
	touch uint64
}

// lookUp looks up the configurations of a block. They are independent of each other, so the memory
// is asked for all homes before any is waited for. The slot of what is not there is the number of
// slots.
func lookUp(s *search.Search, block []uint64, l *lookup) {
	t, stride := s.Visited, s.Engine.Lay.Stride
	l.slots, l.keys = l.slots[:0], l.keys[:0]
	for c := block; len(c) > 0; c = c[stride:] {
		var h uint64
		switch {
		case t.Hashed:
			k := store.Fingerprint(c[:stride])
			l.keys = append(l.keys, k)
			h = store.Hash1(k)
		case stride == 1:
			h = store.Hash1(c[0])
		default:
			h = store.HashN(c[:stride])
		}
		h = t.Home(h)
		l.slots = append(l.slots, h)
		l.touch ^= t.Slots[h*t.Stride]
	}
	for i, h := range l.slots {
		c := block[i*stride:][:stride]
		if t.Hashed {
			c = l.keys[i : i+1]
		}
		slot, ok := t.FindFrom(h, c)
		if !ok {
			slot = t.N
		}
		l.slots[i] = slot
	}
}

// passes decides by marking all that have a step to a marked one, last levels first, until nothing
// changes. It needs no memory but for the configurations not marked yet; [reach.search] is faster.
func (r *reach) passes() {
	s := r.s
	var rest [][]uint64
	s.ForEach(func(_ int, c []uint64) bool {
		if slot, _ := s.Visited.Find(c); !r.good.Has(slot) {
			rest = appendBlock(rest, c)
		}
		return true
	})
	slices.Reverse(rest)
	for changed := true; changed && !s.Stop.Load(); {
		n := len(rest)
		before := blockLen(rest)
		rest = spreadGood(s, rest, r.good, r.calm)
		changed = blockLen(rest) < before && n > 0
	}
}

// appendBlock adds c to the last of some blocks.
func appendBlock(blocks [][]uint64, c []uint64) [][]uint64 {
	last := len(blocks) - 1
	if last < 0 || len(blocks[last])+len(c) > cap(blocks[last]) {
		blocks = append(blocks, make([]uint64, 0, (1<<12)*len(c)))
		last++
	}
	blocks[last] = append(blocks[last], c...)
	return blocks
}

func blockLen(blocks [][]uint64) (n int) {
	for _, b := range blocks {
		n += len(b)
	}
	return n
}

// spreadGood marks those of rest that have a step to a good one and returns the
// others.
func spreadGood(s *search.Search, rest [][]uint64, good store.Bitset, calm bool) [][]uint64 {
	var cursor atomic.Int64
	stride := s.Engine.Lay.Stride
	s.Each(func(_ int, w *search.Worker) {
		if calm {
			w.Skip = tables.SpontaneousFlag
		}
		for {
			at := int(cursor.Add(1)) - 1
			if at >= len(rest) || s.Stop.Load() {
				break
			}
			b := rest[at]
			var kept []uint64
			for end := len(b); end > 0; end -= stride {
				if c := b[end-stride : end]; !markGood(w, c, good) {
					kept = append(kept, c...)
				}
			}
			rest[at] = kept
		}
		w.Skip = 0
	})
	return slices.DeleteFunc(rest, func(b []uint64) bool { return len(b) == 0 })
}

func markGood(w *search.Worker, c []uint64, good store.Bitset) bool {
	t := w.Search.Visited
	w.Successors(c)
	for next := w.Buf; len(next) > 0; next = next[len(c):] {
		if slot, ok := t.Find(next[:len(c)]); ok && good.Has(slot) {
			slot, _ = t.Find(c)
			good.Set(slot)
			w.Buf = w.Buf[:0]
			return true
		}
	}
	w.Buf = w.Buf[:0]
	return false
}
