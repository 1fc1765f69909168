//go:build !linux

package store

// allocWords gives n zero words.
func allocWords(n uint64) ([]uint64, error) { return make([]uint64, n), nil }

// freeWords leaves them to the garbage collector.
func freeWords([]uint64) {}

// growWords gives a longer copy.
func growWords(w []uint64, n uint64) ([]uint64, error) {
	out := make([]uint64, n)
	copy(out, w)
	return out, nil
}
