package explore

import (
	"math/bits"
	"slices"
)

// layout says where the fields of a configuration are in its packed words. A
// field never straddles two words.
type layout struct {
	stride int // words in a configuration
	fields []field
}

type field struct {
	word, shift uint32
	mask        uint32
	width       uint32
}

// wordBits is less than 64 so that a packed word plus one is never 0 nor the
// mark of a slot being written.
const wordBits = 63

// newLayout gives every field room for twice its count at least and shares out
// the bits left over, in as few words as possible but not fewer than least.
func newLayout(n int, counts []int, least int) layout {
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
	l := layout{stride: len(load), fields: make([]field, n)}
	for w, fs := range in {
		l.fill(w, fs, need, wordBits-load[w])
	}
	for l.stride < least {
		l.stride++
	}
	return l
}

// fill places the fields fs in word w and shares out spare bits.
func (l *layout) fill(w int, fs, need []int, spare int) {
	shift := 0
	for i, f := range fs {
		width := min(need[f]+spare/(len(fs)-i), 31)
		spare -= width - need[f]
		l.fields[f] = field{uint32(w), uint32(shift), 1<<width - 1, uint32(width)}
		shift += width
	}
}

// fits says whether every id below counts can be packed. The greatest value
// of a field is not used.
func (l *layout) fits(counts []int) bool {
	for i, n := range counts {
		if n > int(l.fields[i].mask) {
			return false
		}
	}
	return true
}

func (l *layout) pack(ids []uint32, out []uint64) {
	clear(out)
	for i, f := range l.fields {
		out[f.word] |= uint64(ids[i]) << f.shift
	}
}

func (l *layout) unpack(c []uint64, out []uint32) {
	for i, f := range l.fields {
		out[i] = uint32(c[f.word]>>f.shift) & f.mask
	}
}

func (l *layout) bits(counts []int) int {
	n := 0
	for _, c := range counts {
		n += bits.Len(uint(max(c-1, 1)))
	}
	return n
}
