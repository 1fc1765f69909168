package replay

import "math/bits"

// window is how many frames behind the next one of a channel that keeps no order may come before it.
const window = 8

// progress says of each channel how many of its frames are explained: all up to one, and in a channel that keeps
// no order some of the next ones.
type progress struct {
	first [8]uint32 // the first that is not
	over  [8]uint8  // of the window frames behind it, bit by bit
}

func (p *progress) sum() (n int) {
	for c := range p.first {
		n += int(p.first[c]) + bits.OnesCount8(p.over[c])
	}
	return n
}

// has reports whether frame k of a channel is explained.
func (p *progress) has(c, k int) bool {
	n := k - int(p.first[c])
	return n < 0 || n >= 1 && n <= window && p.over[c]>>(n-1)&1 != 0
}

// take notes that frame k of a channel is explained, which is the first one or in the window behind it.
func (p *progress) take(c, k int) {
	if n := k - int(p.first[c]); n > 0 {
		p.over[c] |= 1 << (n - 1)
		return
	}
	for again := true; again; {
		again = p.over[c]&1 != 0
		p.first[c]++
		p.over[c] >>= 1
	}
}
