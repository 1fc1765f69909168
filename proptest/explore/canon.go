package explore

import (
	"cmp"
	"slices"
)

// canon maps a configuration to the one that stands for all its renamings. Of
// the images under the shuffles, each with its values renamed in the order in
// which they first occur, it is the least. As everywhere, what the functions of
// the system say is kept in tables by number, so that workers only look up:
// which values were met in which order after this local value or word, and what
// it becomes when they are renamed in that order.
type canon struct {
	e        *engine
	spec     *Symmetry
	shuffles []shuffle // the first is the identity
	// An order says which values of each domain were met, and in which order.
	// Order 0 is that none was.
	ids    map[string]uint32
	orders [][][]uint8
	to     [][][]uint8 // by order: what each value becomes
	same   []bool      // by order: every value stays
	// By field (machines, then channels): (id, order) to the order after it
	// plus 1, and to the renamed id plus 1.
	scan, image []pairTable
	// By field and id: a number that depends on the contents alone, by which
	// images are compared.
	weight [][]uint64
	// By field, and local id or message: the values in it, in order. By channel:
	// (message, order) to the renamed message plus 1.
	values   [][]occurrences
	messages []pairTable
}

// occurrences are the values that occur, by domain; nil: not yet asked.
type occurrences []struct{ domain, value uint8 }

// shuffle is one Shuffle; word or local id by field to its image plus 1.
type shuffle struct {
	spec  *Shuffle
	place []int // by field
	image [][]uint32
}

func newCanon(e *engine, spec *Symmetry) *canon {
	fields := len(e.procs) + len(e.chans)
	k := &canon{e: e, spec: spec, ids: map[string]uint32{}}
	k.scan, k.image, k.weight = make([]pairTable, fields), make([]pairTable, fields), make([][]uint64, fields)
	k.values, k.messages = make([][]occurrences, fields), make([]pairTable, len(e.chans))
	k.order(make([][]uint8, len(spec.Domains)))
	k.shuffles = make([]shuffle, 1+len(spec.Shuffles))
	for i := range k.shuffles {
		f := &k.shuffles[i]
		f.place, f.image = make([]int, fields), make([][]uint32, fields)
		for at := range f.place {
			f.place[at] = at
		}
		if i == 0 {
			continue
		}
		f.spec = &spec.Shuffles[i-1]
		copy(f.place, f.spec.Procs)
		for c, to := range f.spec.Chans {
			f.place[len(e.procs)+c] = len(e.procs) + to
		}
	}
	return k
}

// order gives the number of an order, in which it completes domains where only
// one value is left.
func (k *canon) order(o [][]uint8) uint32 {
	var key []byte
	same := true
	to := make([][]uint8, len(o))
	for d := range o {
		size := k.spec.Domains[d].Size
		to[d] = make([]uint8, size)
		full := slices.Clone(o[d])
		for v := range size {
			if !slices.Contains(full, uint8(v)) {
				full = append(full, uint8(v))
			}
		}
		for i, v := range full {
			to[d][v] = uint8(i)
			same = same && int(v) == i
		}
		if len(o[d]) == size-1 {
			o[d] = full
		}
		key = append(append(key, byte(len(o[d]))), o[d]...)
	}
	if id, ok := k.ids[string(key)]; ok {
		return id
	}
	id := uint32(len(k.orders))
	k.ids[string(key)] = id
	k.orders, k.to, k.same = append(k.orders, o), append(k.to, to), append(k.same, same)
	return id
}

// look puts the configuration that stands for ids into out, by look-up alone.
// It is false if something is missing in the tables.
func (k *canon) look(ids, out, a, b []uint32) bool { return k.find(ids, out, a, b, false) }

// learn is look, but fills in what is missing.
func (k *canon) learn(ids, out []uint32) {
	k.find(ids, out, make([]uint32, len(ids)), make([]uint32, len(ids)), true)
}

// find tries all shuffles; a and b are memory for it.
func (k *canon) find(ids, out, a, b []uint32, fill bool) bool {
	for i := range k.shuffles {
		from := ids
		if i > 0 {
			if !k.shuffle(&k.shuffles[i], ids, a, fill) {
				return false
			}
			from = a
		}
		to := b
		if i == 0 {
			to = out
		}
		if !k.rename(from, to, fill) {
			return false
		}
		if len(k.shuffles) == 1 {
			return true
		}
		if fill {
			k.weigh(to)
		}
		if i == 0 {
			continue
		}
		less, known := k.less(to, out)
		if !known {
			return false
		}
		if less {
			copy(out, to)
		}
	}
	return true
}

// rename renames values in the order in which they occur.
func (k *canon) rename(ids, out []uint32, fill bool) bool {
	copy(out, ids)
	if len(k.spec.Domains) == 0 {
		return true
	}
	order := uint32(0)
	for at := range k.scan {
		next := k.scan[at].get(ids[at], order)
		if next == 0 {
			if !fill {
				return false
			}
			next = k.learnScan(at, ids[at], order)
		}
		order = next - 1
	}
	if k.same[order] {
		return true
	}
	for at := range k.image {
		id := k.image[at].get(ids[at], order)
		if id == 0 {
			if !fill {
				return false
			}
			id = k.learnImage(at, ids[at], order)
		}
		out[at] = id - 1
	}
	return true
}

// shuffle puts the image of ids under f into out.
func (k *canon) shuffle(f *shuffle, ids, out []uint32, fill bool) bool {
	copy(out, ids) // what was used of the budget stays
	for at, to := range f.place {
		id := ids[at]
		if int(id) >= len(f.image[at]) || f.image[at][id] == 0 {
			if !fill {
				return false
			}
			k.learnShuffle(f, at, id)
		}
		out[to] = f.image[at][id] - 1
	}
	return true
}

// less compares two configurations by what they hold.
func (k *canon) less(a, b []uint32) (less, known bool) {
	for at, w := range k.weight {
		if a[at] == b[at] {
			continue
		}
		if int(a[at]) >= len(w) || int(b[at]) >= len(w) {
			return false, false
		}
		if x, y := w[a[at]], w[b[at]]; x != y {
			return x < y, true
		}
		// Different contents of one weight: hardly ever.
		return k.e.compareField(at, a[at], b[at]) < 0, true
	}
	return false, true
}

// widen makes room for all orders in the tables.
func (k *canon) widen() {
	for at := range k.scan {
		k.scan[at].widen(len(k.orders))
		k.image[at].widen(len(k.orders))
	}
}

// compareField orders two ids of one field by what they stand for.
func (e *engine) compareField(at int, x, y uint32) int {
	switch k := at - len(e.procs); {
	case k < 0:
		return cmp.Compare(e.procs[at].locals.vals[x], e.procs[at].locals.vals[y])
	case k < len(e.chans):
		return slices.CompareFunc(e.chans[k].bytes(x), e.chans[k].bytes(y), slices.Compare)
	default:
		p, q := e.budgets[x], e.budgets[y]
		return cmp.Or(p.Loss-q.Loss, p.Dup-q.Dup, p.Swap-q.Swap, p.Crash-q.Crash)
	}
}

// canonize replaces the successors in buf from mark on by those that stand for
// them. It is false if something is missing in the tables.
func (w *worker) canonize(mark int) bool {
	e := w.e
	stride := e.lay.stride
	for o := mark; o < len(w.buf); o += stride {
		c := w.buf[o : o+stride]
		e.lay.unpack(c, w.raw)
		if !e.canon.look(w.raw, w.rep, w.one, w.two) {
			return false
		}
		e.lay.pack(w.rep, c)
	}
	return true
}

func (k *canon) bytes() (n uint64) {
	for at := range k.scan {
		n += k.scan[at].bytes() + k.image[at].bytes() + uint64(len(k.weight[at]))*8
	}
	for i := range k.shuffles {
		for _, image := range k.shuffles[i].image {
			n += uint64(len(image)) * 4
		}
	}
	return n
}

// widestOfAll gives channels that stand for each other the same width.
func (e *engine) widestOfAll(widest []int) {
	if e.canon == nil {
		return
	}
	own := slices.Clone(widest)
	for _, f := range e.canon.shuffles {
		for k, n := range own {
			to := f.place[len(e.procs)+k] - len(e.procs)
			widest[to] = max(widest[to], n)
		}
	}
}
