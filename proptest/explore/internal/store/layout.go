package store

import (
	"math/bits"
	"slices"
)

// Layout maps the fields of a configuration to its packed words. A field never straddles two words.
type Layout struct {
	Stride int // words in a configuration
	Fields []field
}

type field struct {
	Word, Shift uint32
	mask        uint32
	width       uint32
}

// wordBits is less than 64 so that a packed word plus one is never 0 nor the
// mark of a slot being written.
const wordBits = 63

// NewLayout gives every field room for at least twice its count, and distributes the remaining
// bits. It uses as few words as possible, but not fewer than least.
func NewLayout(n int, counts []int, least int) Layout {
	need := make([]int, n)
	order := make([]int, n)
	for i := range need {
		need[i] = max(bits.Len(uint(counts[i]))+1, 4)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return need[b] - need[a] })
	var load []int
	var in [][]int
	for _, f := range order {
		w := slices.IndexFunc(load, func(l int) bool { return l+need[f] <= wordBits })
		if w < 0 || len(load) < least {
			w = len(load)
			load, in = append(load, 0), append(in, nil)
		}
		load[w] += need[f]
		in[w] = append(in[w], f)
	}
	l := Layout{Stride: len(load), Fields: make([]field, n)}
	for w, fs := range in {
		l.fill(w, fs, need, wordBits-load[w])
	}
	for l.Stride < least {
		l.Stride++
	}
	return l
}

// fill places the fields fs in word w and shares out spare bits.
func (l *Layout) fill(w int, fs, need []int, spare int) {
	shift := 0
	for i, f := range fs {
		width := min(need[f]+spare/(len(fs)-i), 31)
		spare -= width - need[f]
		l.Fields[f] = field{uint32(w), uint32(shift), 1<<width - 1, uint32(width)}
		shift += width
	}
}

// Fits reports whether every id below counts can be packed. The greatest value
// of a field is not used.
func (l *Layout) Fits(counts []int) bool {
	for i, n := range counts {
		if n > int(l.Fields[i].mask) {
			return false
		}
	}
	return true
}

func (l *Layout) Pack(ids []uint32, out []uint64) {
	clear(out)
	for i, f := range l.Fields {
		out[f.Word] |= uint64(ids[i]) << f.Shift
	}
}

func (l *Layout) Unpack(c []uint64, out []uint32) {
	for i, f := range l.Fields {
		out[i] = uint32(c[f.Word]>>f.Shift) & f.mask
	}
}

func (l *Layout) Bits(counts []int) int {
	n := 0
	for _, c := range counts {
		n += bits.Len(uint(max(c-1, 1)))
	}
	return n
}

// Repack returns a copy in this layout of block b, which old has packed.
func (l *Layout) Repack(old *Layout, b []uint64) []uint64 {
	n := len(b) / old.Stride
	out := make([]uint64, n*l.Stride, cap(b)/old.Stride*l.Stride)
	ids := make([]uint32, len(l.Fields))
	for i := range n {
		old.Unpack(b[i*old.Stride:(i+1)*old.Stride], ids)
		l.Pack(ids, out[i*l.Stride:(i+1)*l.Stride])
	}
	return out
}
