package after

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/store"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// Which configurations can reach a good one, each expanded once.
//
// This is a depth-first search with the stack of Tarjan ("Depth-first search and linear graph
// algorithms", 1972), cut short: of everything that lies on his stack there is a way to the
// configuration at hand. So one good successor makes the whole stack good and empties it, while a
// strongly connected component that is completed without one is dead, as are all configurations
// that it leads to. What is good or dead is noted by slot of the visited set and never taken back,
// so that workers can search at once: what one of them decides holds for all, and two that meet the
// same configurations at most do the same work twice.

// search decides what is not decided yet. It is false if there is not memory enough within the
// limit; what it has marked good until then is good.
func (r *reach) search() bool {
	s := r.s
	e, t := s.Engine, s.Visited
	if t.N > 1<<32 {
		return false
	}
	dead := make(store.Bitset, len(r.good))
	used := s.Bytes() + uint64(len(r.good)+len(dead))*8
	var more atomic.Int64
	var stop atomic.Bool
	parts := newParts(s, true)
	s.Each(func(_ int, w *search.Worker) {
		d := &dive{r: r, w: w, good: r.good, dead: dead, stop: &stop, more: &more, limit: int64(e.Opt.MaxBytes),
			used: int64(used)}
		if r.calm {
			w.Skip = tables.SpontaneousFlag
		}
		parts.each(w, &stop, func(x root) {
			if !d.good.Has(x.slot) && !d.dead.Has(x.slot) {
				if d.tries.put(x) {
					d.decide()
				}
			}
		})
		d.decide()
		w.Skip = 0
		w.Buf = w.Buf[:0]
	})
	s.Peak = max(s.Peak, used+uint64(more.Load()))
	return !stop.Load()
}

// tries are configurations whose successors are looked up together. Most have a good successor as
// soon as many configurations are good, and messages under way are all delivered in the end; so
// deliveries are tried first, the first of each configuration, then the second of those that are
// left, and so on. The look-ups of one round are independent of each other, and many are under way
// at once.
type tries struct {
	slots []uint32 // of the configurations
	confs []uint64 // the configurations
	left  []int    // those not known to be good
	done  []int    // of them those with no successor left to try
	next  []uint64 // their successors by a part of the steps
	from  []int    // by configuration: where its successors not tried yet are in next
	to    []int
	block []uint64 // the successors of one round
	look  lookup
}

const triesAtOnce = 256

// put adds a configuration, and reports whether there are now as many as are to be tried at once.
func (b *tries) put(x root) (full bool) {
	b.slots = append(b.slots, uint32(x.slot))
	b.confs = append(b.confs, x.c...)
	return len(b.slots) == triesAtOnce
}

// decide decides the configurations that were put.
func (d *dive) decide() {
	b, stride := &d.tries, d.r.s.Engine.Lay.Stride
	if d.r.s.Stop.Load() {
		d.stop.Store(true)
	}
	b.left = b.left[:0]
	for i := range b.slots {
		b.left = append(b.left, i)
	}
	b.from, b.to = slices.Grow(b.from[:0], len(b.slots))[:len(b.slots)],
		slices.Grow(b.to[:0], len(b.slots))[:len(b.slots)]
	d.try(search.Deliveries)
	d.try(search.OtherSteps)
	for _, i := range b.left {
		if slot := uint64(b.slots[i]); !d.good.Has(slot) && !d.dead.Has(slot) && !d.stop.Load() {
			d.from(b.slots[i], b.confs[i*stride:][:stride])
		}
	}
	b.slots, b.confs = b.slots[:0], b.confs[:0]
}

// try makes those that are left good if a part of their steps leads to a good configuration.
func (d *dive) try(part search.Steps) {
	b, t, stride := &d.tries, d.r.s.Visited, d.r.s.Engine.Lay.Stride
	b.next, b.done = b.next[:0], b.done[:0]
	for _, i := range b.left {
		d.w.SomeSuccessors(b.confs[i*stride:][:stride], part)
		b.from[i] = len(b.next)
		b.next = append(b.next, d.w.Buf...)
		b.to[i] = len(b.next)
	}
	for len(b.left) > 0 {
		b.block = b.block[:0]
		n := 0
		for _, i := range b.left {
			if b.from[i] == b.to[i] {
				b.done = append(b.done, i)
				continue
			}
			b.block = append(b.block, b.next[b.from[i]:][:stride]...)
			b.from[i] += stride
			b.left[n] = i
			n++
		}
		b.left = b.left[:n]
		lookUp(d.r.s, b.block, &b.look)
		for _, slot := range b.look.slots {
			b.look.touch ^= d.good.Word(slot)
		}
		n = 0
		for k, i := range b.left {
			if slot := b.look.slots[k]; slot < t.N && d.good.Has(slot) {
				d.good.Set(uint64(b.slots[i]))
				continue
			}
			b.left[n] = i
			n++
		}
		b.left = b.left[:n]
	}
	b.left, b.done = b.done, b.left
}

// dive is the depth-first search of one worker.
type dive struct {
	r     *reach
	w     *search.Worker
	good  store.Bitset
	dead  store.Bitset
	stack []onStack // Tarjan's: what was met and is not decided, in the order in which it was met
	calls []dived   // the way to the configuration at hand
	// open has the slots of the successors yet to be followed, of all calls; confs has the
	// configurations, if the visited set has only fingerprints.
	open   []uint32
	confs  []uint64
	places places
	look   lookup
	c      []uint64
	steps  int          // since the memory was counted
	stop   *atomic.Bool // there is not memory enough, or the search is to stop
	more   *atomic.Int64
	limit  int64 // of memory; 0: none
	used   int64 // without what the dives take
	taken  int64 // by this one
	tries  tries
}

// onStack is a configuration on Tarjan's stack; low is the lowest place that it is known to lead to.
type onStack struct{ slot, low uint32 }

// dived is a call: the place of its configuration, and where its successors begin in open.
type dived struct {
	place uint32
	open  uint64
}

// from decides one configuration, and others with it.
func (d *dive) from(slot uint32, c []uint64) {
	if d.enter(slot, c) {
		d.settle()
	}
	for !d.over() && len(d.calls) > 0 {
		call := &d.calls[len(d.calls)-1]
		at := &d.stack[call.place]
		if uint64(len(d.open)) == call.open {
			d.leave()
			continue
		}
		next, c := d.pop()
		switch place, met := d.places.find(next, d.stack); {
		case d.good.Has(uint64(next)), d.good.Has(uint64(at.slot)):
			d.settle()
		case d.dead.Has(uint64(next)):
		case met:
			at.low = min(at.low, place)
		case d.enter(next, c):
			d.settle()
		}
	}
}

// pop takes the next successor to follow.
func (d *dive) pop() (slot uint32, c []uint64) {
	t, stride := d.r.s.Visited, d.r.s.Engine.Lay.Stride
	slot = d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	if t.Hashed {
		c = d.confs[len(d.confs)-stride:]
		d.confs = d.confs[:len(d.confs)-stride]
		return slot, c
	}
	if d.c == nil {
		d.c = make([]uint64, stride)
	}
	t.At(uint64(slot), d.c)
	return slot, d.c
}

// enter puts a configuration onto the stack and looks up its successors. It reports whether one is
// good.
func (d *dive) enter(slot uint32, c []uint64) bool {
	d.steps++
	place := uint32(len(d.stack))
	d.calls = append(d.calls, dived{place, uint64(len(d.open))})
	d.stack = append(d.stack, onStack{slot, place})
	d.places.add(d.stack)
	s, w := d.r.s, d.w
	t, stride := s.Visited, s.Engine.Lay.Stride
	w.Successors(c)
	lookUp(s, w.Buf, &d.look)
	low := place
	for i, to := range d.look.slots {
		switch {
		case to == t.N || to == uint64(slot):
			continue
		case d.good.Has(to):
			return true
		case d.dead.Has(to):
			continue
		}
		if p, met := d.places.find(uint32(to), d.stack); met {
			low = min(low, p)
			continue
		}
		d.open = append(d.open, uint32(to))
		if t.Hashed {
			d.confs = append(d.confs, w.Buf[i*stride:][:stride]...)
		}
	}
	d.stack[place].low = low
	return false
}

// leave ends a call whose successors were all followed. If nothing older than its configuration can
// be reached from there, the component is complete, and dead.
func (d *dive) leave() {
	place := d.calls[len(d.calls)-1].place
	d.calls = d.calls[:len(d.calls)-1]
	low := d.stack[place].low
	if low < place {
		up := &d.stack[d.calls[len(d.calls)-1].place]
		up.low = min(up.low, low)
		return
	}
	for _, x := range d.stack[place:] {
		d.dead.Set(uint64(x.slot))
	}
	d.stack = d.stack[:place]
}

// settle makes all that lies on the stack good and empties it.
func (d *dive) settle() {
	for _, x := range d.stack {
		d.good.Set(uint64(x.slot))
	}
	d.clear()
}

func (d *dive) clear() {
	d.stack, d.calls, d.open, d.confs = d.stack[:0], d.calls[:0], d.open[:0], d.confs[:0]
}

// over reports whether the search ends without a decision. Every few steps it counts the memory.
func (d *dive) over() bool {
	if d.steps < 1<<10 {
		return false
	}
	d.steps = 0
	now := int64(cap(d.stack))*int64(unsafe.Sizeof(onStack{})) + int64(cap(d.calls))*int64(unsafe.Sizeof(dived{})) +
		int64(cap(d.open)+cap(d.places.cells))*4 + int64(cap(d.confs))*8
	all := d.more.Add(now - d.taken)
	d.taken = now
	if d.limit > 0 && d.used+all > d.limit || d.r.s.Stop.Load() {
		d.stop.Store(true)
	}
	if d.stop.Load() {
		d.clear()
		return true
	}
	return false
}

// places finds configurations on a stack: a hash table of places plus 1. What was taken off the
// stack is not removed but recognised, since the stack no longer has it at that place.
type places struct {
	cells []uint32
	shift uint   // of a hash to a cell
	used  uint32 // cells that are not 0
}

// find gives the place of a slot on the stack.
func (p *places) find(slot uint32, stack []onStack) (place uint32, ok bool) {
	if len(p.cells) == 0 {
		return 0, false
	}
	for i := store.Hash1(uint64(slot)) >> p.shift; p.cells[i] != 0; i = (i + 1) & uint64(len(p.cells)-1) {
		if at := p.cells[i] - 1; int(at) < len(stack) && stack[at].slot == slot {
			return at, true
		}
	}
	return 0, false
}

// add notes the last place of the stack.
func (p *places) add(stack []onStack) {
	if 4*int(p.used+1) > 3*len(p.cells) {
		p.renew(stack[:len(stack)-1])
	}
	p.put(uint32(len(stack)-1), stack)
}

func (p *places) put(place uint32, stack []onStack) {
	i := store.Hash1(uint64(stack[place].slot)) >> p.shift
	for ; p.cells[i] != 0; i = (i + 1) & uint64(len(p.cells)-1) {
	}
	p.cells[i] = place + 1
	p.used++
}

// renew makes the table anew, with room for twice the stack at least.
func (p *places) renew(stack []onStack) {
	n, shift := 1<<8, uint(64-8)
	for n < 4*len(stack) {
		n, shift = 2*n, shift-1
	}
	if n <= cap(p.cells) {
		p.cells = p.cells[:n]
		clear(p.cells)
	} else {
		p.cells = make([]uint32, n)
	}
	p.shift, p.used = shift, 0
	for i := range stack {
		p.put(uint32(i), stack)
	}
}
