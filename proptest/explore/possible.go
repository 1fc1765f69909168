package explore

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// Claims that need the whole reached set are decided after the search, while
// the visited set is still there: the slot of a configuration is its number.

// afterwards decides them.
func (s *search) afterwards() {
	for i := range s.e.sys.Claims {
		if s.stop.Load() {
			return
		}
		switch s.e.sys.Claims[i].Kind {
		case Possible:
			s.possible(i)
		case LeadsTo, Eventually:
			s.leadsTo(i)
		case Confluent:
			s.confluent(i)
		}
	}
}

// bitset has one bit for each slot of the visited set.
type bitset []uint64

func (b bitset) has(i uint64) bool { return atomic.LoadUint64(&b[i>>6])>>(i&63)&1 != 0 }
func (b bitset) set(i uint64)      { atomic.OrUint64(&b[i>>6], 1<<(i&63)) }

// forEach calls f for every configuration of the levels, nearest first.
func (s *search) forEach(f func(depth int, c []uint64) bool) {
	stride := s.e.lay.stride
	for depth, l := range s.e.levels {
		for _, b := range l.blocks {
			for ; len(b) > 0; b = b[stride:] {
				if !f(depth, b[:stride]) {
					return
				}
			}
		}
	}
}

// possible decides claim i: from each configuration a good one is reachable.
// Good ones are marked, then all that have a step to a marked one, last levels
// first, until nothing changes.
func (s *search) possible(i int) {
	passes := s.passes()
	for _, cut := range passes {
		if s.impossible(i, cut, len(passes) > 1 && !cut) || s.stop.Load() {
			return
		}
	}
}

// impossible looks for a violation of claim i; with faults, configurations in which one is possible are good, too. cut
// is noted of what is found.
func (s *search) impossible(i int, faults, cut bool) bool {
	e := s.e
	good := make(bitset, e.visited.n/64+1)
	ids := make([]uint32, e.fields())
	var rest [][]uint64
	s.forEach(func(_ int, c []uint64) bool {
		e.lay.unpack(c, ids)
		if e.claimBits(i, ids)&heldBit != 0 || faults && e.faultyAt(ids, e.sys.Claims[i].Calm) {
			slot, _ := e.visited.find(c)
			good.set(slot)
		} else {
			rest = appendBlock(rest, c)
		}
		return true
	})
	slices.Reverse(rest)
	for changed := true; changed && !s.stop.Load(); {
		n := len(rest)
		before := blockLen(rest)
		rest = s.spreadGood(rest, good, e.sys.Claims[i].Calm)
		changed = blockLen(rest) < before && n > 0
	}
	if s.stop.Load() {
		return false // what was not looked at is no violation
	}
	return s.leastBad(i, good, cut)
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
func (s *search) spreadGood(rest [][]uint64, good bitset, calm bool) [][]uint64 {
	var cursor atomic.Int64
	stride := s.e.lay.stride
	s.each(func(_ int, w *worker) {
		if calm {
			w.skip = spontaneousFlag
		}
		for {
			at := int(cursor.Add(1)) - 1
			if at >= len(rest) || s.stop.Load() {
				break
			}
			b := rest[at]
			var kept []uint64
			for end := len(b); end > 0; end -= stride {
				if c := b[end-stride : end]; !w.markGood(c, good) {
					kept = append(kept, c...)
				}
			}
			rest[at] = kept
		}
		w.skip = 0
	})
	return slices.DeleteFunc(rest, func(b []uint64) bool { return len(b) == 0 })
}

func (w *worker) markGood(c []uint64, good bitset) bool {
	t := w.e.visited
	w.successors(c)
	for next := w.buf; len(next) > 0; next = next[len(c):] {
		if slot, ok := t.find(next[:len(c)]); ok && good.has(slot) {
			slot, _ = t.find(c)
			good.set(slot)
			w.buf = w.buf[:0]
			return true
		}
	}
	w.buf = w.buf[:0]
	return false
}

// leastBad notes the nearest configuration that is not good, and says whether there is any.
func (s *search) leastBad(i int, good bitset, cut bool) bool {
	e := s.e
	claim := &e.sys.Claims[i]
	ids := make([]uint32, e.fields())
	var best []uint64
	at := 0
	s.forEach(func(depth int, c []uint64) bool {
		if best != nil && depth > at {
			return false
		}
		if slot, _ := e.visited.find(c); good.has(slot) {
			return true
		}
		e.lay.unpack(c, ids)
		if claim.Relevant != nil && e.claimBits(i, ids)&relevantBit == 0 {
			return true
		}
		if best == nil || e.compare(c, best) < 0 {
			best, at = slices.Clone(c), depth
		}
		return true
	})
	if best != nil {
		s.finds = append(s.finds, finding{key: findKey{what: foundClaim, claim: i}, c: best, depth: at, cut: cut,
			text: fmt.Sprintf("from here on %q can never hold any more", claim.Name)})
	}
	return best != nil
}
