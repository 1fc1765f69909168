package tables

import (
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// canon maps a configuration to the canonical representative of its orbit, which is all its
// renamings (Ip, Dill 1996; Emerson, Sistla 1996). Of the images under the shuffles, each with its
// values renamed in the order in which they first occur, it is the least. As everywhere, what the
// functions of the system say is kept in tables by number, so that workers only look up: which
// values were met in which order after this local value or word, and what it becomes when they are
// renamed in that order.
type canon struct {
	e        *Engine
	spec     *api.Symmetry
	Shuffles []shuffle // the first is the identity
	// An order says which values of each domain were met, and in which order.
	// Order 0 is that none was.
	ids    map[string]uint32
	orders [][][]uint8
	to     [][][]uint8 // by order: what each value becomes
	same   []bool      // by order: every value stays
	// By field (machines, then channels): (id, order) to the order after it
	// plus 1, and to the renamed id plus 1.
	scan, Image []store.PairTable
	// By field and id: a number that depends on the contents alone, by which
	// images are compared.
	weight [][]uint64
	// By field, and local id or message: the values in it, in order. By channel:
	// (message, order) to the renamed message plus 1.
	values   [][]occurrences
	messages []store.PairTable
	// Broken says which step is no other one renamed; empty: none is known. See try.go.
	Broken string
}

// occurrences are the values that occur, by domain; nil: not yet asked.
type occurrences []struct{ domain, value uint8 }

// shuffle is one Shuffle; word or local id by field to its image plus 1.
type shuffle struct {
	Spec  *api.Shuffle
	place []int // by field
	image [][]uint32
}

func NewCanon(e *Engine, spec *api.Symmetry) *canon {
	fields := len(e.Procs) + len(e.Chans)
	k := &canon{e: e, spec: spec, ids: map[string]uint32{}}
	k.scan, k.Image, k.weight = make([]store.PairTable, fields), make([]store.PairTable, fields),
		make([][]uint64, fields)
	k.values, k.messages = make([][]occurrences, fields), make([]store.PairTable, len(e.Chans))
	k.Order(make([][]uint8, len(spec.Domains)))
	k.Shuffles = make([]shuffle, 1+len(spec.Shuffles))
	for i := range k.Shuffles {
		f := &k.Shuffles[i]
		f.place, f.image = make([]int, fields), make([][]uint32, fields)
		for at := range f.place {
			f.place[at] = at
		}
		if i == 0 {
			continue
		}
		f.Spec = &spec.Shuffles[i-1]
		copy(f.place, f.Spec.Procs)
		for c, to := range f.Spec.Chans {
			f.place[len(e.Procs)+c] = len(e.Procs) + to
		}
	}
	return k
}

// Order returns the number of an order. It first completes each domain that lacks only one value.
func (k *canon) Order(o [][]uint8) uint32 {
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

// Look copies the configuration that stands for ids to out, by look-up alone. It returns false if
// something is missing in the tables.
func (k *canon) Look(ids, out, a, b []uint32) bool { return k.find(ids, out, a, b, false) }

// Learn does what Look does, and fills in what is missing.
func (k *canon) Learn(ids, out []uint32) {
	k.find(ids, out, make([]uint32, len(ids)), make([]uint32, len(ids)), true)
}

// find tries all shuffles; a and b are memory for it.
func (k *canon) find(ids, out, a, b []uint32, fill bool) bool {
	for i := range k.Shuffles {
		from := ids
		if i > 0 {
			if !k.Shuffle(&k.Shuffles[i], ids, a, fill) {
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
		if len(k.Shuffles) == 1 {
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
		next := k.scan[at].Get(ids[at], order)
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
	for at := range k.Image {
		id := k.Image[at].Get(ids[at], order)
		if id == 0 {
			if !fill {
				return false
			}
			id = k.LearnImage(at, ids[at], order)
		}
		out[at] = id - 1
	}
	return true
}

// Shuffle copies the image of ids under f to out.
func (k *canon) Shuffle(f *shuffle, ids, out []uint32, fill bool) bool {
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
		return k.e.CompareField(at, a[at], b[at]) < 0, true
	}
	return false, true
}

// Widen makes room for all orders in the tables.
func (k *canon) Widen() {
	for at := range k.scan {
		k.scan[at].Widen(len(k.orders))
		k.Image[at].Widen(len(k.orders))
	}
}

func (k *canon) bytes() (n uint64) {
	for at := range k.scan {
		n += k.scan[at].Bytes() + k.Image[at].Bytes() + uint64(len(k.weight[at]))*8
	}
	for i := range k.Shuffles {
		for _, image := range k.Shuffles[i].image {
			n += uint64(len(image)) * 4
		}
	}
	return n
}

// WidestOfAll gives channels that stand for each other the same width.
func (e *Engine) WidestOfAll(widest []int) {
	if e.Canon == nil {
		return
	}
	own := slices.Clone(widest)
	for _, f := range e.Canon.Shuffles {
		for k, n := range own {
			to := f.place[len(e.Procs)+k] - len(e.Procs)
			widest[to] = max(widest[to], n)
		}
	}
}

// reductions decides what to use and says why not.
func (e *Engine) reductions() {
	if e.Opt.Reduce&api.ReduceSymmetry == 0 || e.Sys.Symmetry == nil || e.Opt.Mode == api.RandomWalk {
		return
	}
	y := *e.Sys.Symmetry
	for i := range e.Sys.Claims {
		switch c := &e.Sys.Claims[i]; c.Kind {
		case api.LeadsTo, api.Eventually:
			e.Refused = append(e.Refused, "symmetry: "+quote(c.Name)+
				" is about fair runs, which tell equal machines and values apart")
			return
		case api.Confluent:
			var stay []api.Shuffle
			for _, f := range y.Shuffles {
				if !f.Moves() {
					stay = append(stay, f)
				}
			}
			if len(stay) < len(y.Shuffles) {
				e.Refused = append(e.Refused, "symmetry of machines: "+quote(c.Name)+
					" is about pairs of their transitions")
				y.Shuffles = stay
			}
		}
	}
	if len(y.Domains) == 0 && len(y.Shuffles) == 0 {
		return
	}
	e.Canon = NewCanon(e, &y)
	e.Reduced = append(e.Reduced, "symmetry")
	for _, n := range y.Names {
		e.Reduced = append(e.Reduced, "symmetry: "+n)
	}
}

func quote(s string) string { return "\"" + s + "\"" }
