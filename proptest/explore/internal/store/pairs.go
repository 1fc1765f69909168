package store

// PairTable maps pairs of small ids to numbers; 0 is unset. It is a matrix while that stays small,
// and else a hash table.
type PairTable struct {
	Cells  []uint32
	shift  uint32   // a row of the matrix has 1<<shift columns
	keys   []uint64 // hash table: x<<32|y + 1
	vals   []uint32
	used   int
	hashed bool
}

const maxMatrix = 1 << 22 // cells

// Get looks up a pair; y must be below the last argument of Widen.
func (t *PairTable) Get(x, y uint32) uint32 {
	if at := t.Index(x, y); at < uint64(len(t.Cells)) {
		return t.Cells[at]
	}
	return t.Probe(x, y)
}

// Index returns the place of a pair in the matrix.
func (t *PairTable) Index(x, y uint32) uint64 { return uint64(x)<<(t.shift&31) | uint64(y) }

// Widen makes room in the matrix for second numbers below n.
func (t *PairTable) Widen(n int) {
	if !t.hashed && n > 1<<t.shift {
		t.enlarge(0, uint32(n-1))
	}
}

func (t *PairTable) Probe(x, y uint32) uint32 {
	if !t.hashed {
		return 0
	}
	key := uint64(x)<<32 | uint64(y)
	mask := uint64(len(t.keys) - 1)
	for i := Hash1(key) & mask; t.keys[i] != 0; i = (i + 1) & mask {
		if t.keys[i] == key+1 {
			return t.vals[i]
		}
	}
	return 0
}

func (t *PairTable) Set(x, y, v uint32) {
	if !t.hashed && !t.covers(x, y) {
		t.enlarge(x, y)
	}
	if !t.hashed {
		t.Cells[x<<t.shift|y] = v
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

func (t *PairTable) put(key uint64, v uint32) {
	mask := uint64(len(t.keys) - 1)
	i := Hash1(key) & mask
	for ; t.keys[i] != 0 && t.keys[i] != key+1; i = (i + 1) & mask {
	}
	if t.keys[i] == 0 {
		t.used++
	}
	t.keys[i], t.vals[i] = key+1, v
}

func (t *PairTable) covers(x, y uint32) bool {
	return y>>t.shift == 0 && uint64(x) < uint64(len(t.Cells))>>t.shift
}

// enlarge makes room for (x, y), as a matrix if it stays small enough.
func (t *PairTable) enlarge(x, y uint32) {
	old := *t
	rows, shift := max(uint64(len(old.Cells))>>old.shift, 16), max(old.shift, 2)
	for rows <= uint64(x) {
		rows *= 2
	}
	for y>>shift != 0 {
		shift++
	}
	if rows<<shift > maxMatrix {
		*t = PairTable{hashed: true, keys: make([]uint64, 1<<16), vals: make([]uint32, 1<<16)}
	} else {
		*t = PairTable{Cells: make([]uint32, rows<<shift), shift: shift}
	}
	for i, v := range old.Cells {
		if v != 0 {
			t.Set(uint32(i)>>old.shift, uint32(i)&(1<<old.shift-1), v)
		}
	}
}

func (t *PairTable) Bytes() uint64 {
	return uint64(4*len(t.Cells) + 12*len(t.keys))
}
