package explore

// Everything a system can do is kept in tables of dense ids: local values,
// messages and channel words are interned, and what happens at a local value
// (alone, or with a message) is a run of rules. Tables grow only between the
// parallel phases of a search, so that workers read them without locks.

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
