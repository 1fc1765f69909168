package wire

// LEB128 reads a number of seven bits in each byte, the lowest first, at the beginning of b: all bytes
// but the last have the bit 128. The number has at most so many bits. n is how many bytes it takes; 0 if b
// ends before it does, and -1 if it has more bits or, without overlong, more bytes than it needs.
func LEB128(b []byte, bits int, overlong bool) (v uint64, n int) {
	if len(b) > 0 && b[0] < 128 && bits > 6 {
		return uint64(b[0]), 1
	}
	return longLEB128(b, bits, overlong)
}

func longLEB128(b []byte, bits int, overlong bool) (v uint64, n int) {
	for i, c := range b {
		if 7*i >= bits || 7*i+7 > bits && c&127>>(bits-7*i) != 0 {
			return 0, -1
		}
		v |= uint64(c&127) << (7 * i)
		if c < 128 {
			if c == 0 && i > 0 && !overlong {
				return 0, -1
			}
			return v, i + 1
		}
	}
	if 7*len(b) >= bits {
		return 0, -1
	}
	return 0, 0
}

// AppendLEB128 appends a number as [LEB128] reads it.
func AppendLEB128(dst []byte, v uint64) []byte {
	for v > 127 {
		dst = append(dst, byte(v)|128)
		v >>= 7
	}
	return append(dst, byte(v))
}

// QUIC reads a number of at most 62 bits in 1, 2, 4 or 8 bytes, big-endian, at the beginning of b: the two
// highest bits of the first byte say how many. n is how many; 0 if b ends before the number does, and -1
// if, without overlong, fewer would do.
func QUIC(b []byte, overlong bool) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	n = 1 << (b[0] >> 6)
	if len(b) < n {
		return 0, 0
	}
	v = uint64(b[0] & 63)
	for _, c := range b[1:n] {
		v = v<<8 | uint64(c)
	}
	if n > 1 && !overlong && v>>(n/2*8-2) == 0 {
		return 0, -1
	}
	return v, n
}

// AppendQUIC appends a number of at most 62 bits as [QUIC] reads it.
func AppendQUIC(dst []byte, v uint64) []byte {
	switch {
	case v < 1<<6:
		return append(dst, byte(v))
	case v < 1<<14:
		return append(dst, 1<<6|byte(v>>8), byte(v))
	case v < 1<<30:
		return append(dst, 2<<6|byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return append(dst, 3<<6|byte(v>>56), byte(v>>48), byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16),
		byte(v>>8), byte(v))
}

// Zigzag makes a number of a signed one: 0, -1, 1, -2 become 0, 1, 2, 3.
func Zigzag(v int64) uint64 { return uint64(v<<1 ^ v>>63) }

// Unzigzag is the inverse of [Zigzag].
func Unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// Unsigned reads all of b as one number.
func Unsigned(b []byte, little bool) (v uint64) {
	for i := range b {
		k := i
		if little {
			k = len(b) - 1 - i
		}
		v = v<<8 | uint64(b[k])
	}
	return v
}

// AppendUnsigned appends the lowest n bytes of a number.
func AppendUnsigned(dst []byte, v uint64, n int, little bool) []byte {
	for i := range n {
		k := n - 1 - i
		if little {
			k = i
		}
		dst = append(dst, byte(v>>(8*k)))
	}
	return dst
}

// Widen makes room for n more bytes of dst at a place, and moves up what is behind it.
func Widen(dst []byte, at, n int) []byte {
	for range n {
		dst = append(dst, 0)
	}
	copy(dst[at+n:], dst[at:len(dst)-n])
	return dst
}

// BadVarint returns the error of a number of varying length at an offset of a frame, of which
// [LEB128] or [QUIC] gave n.
func BadVarint(message, field string, frame []byte, at, n int) Error {
	e := Error{Message: message, Field: field, Offset: at, Problem: Varint}
	if n == 0 {
		e.Problem, e.Value, e.Limit = Short, int64(len(frame)), int64(len(frame)+1)
	}
	return e
}

// BadDigits returns the error of a number in digits at an offset of a frame, of which [Digits] or [Integer] gave n.
func BadDigits(message, field string, frame []byte, at, n int) Error {
	e := BadVarint(message, field, frame, at, n)
	if n != 0 {
		e.Problem = NoDigits
	}
	return e
}

// SetLEB128 writes a number as [LEB128] reads it in place of the byte at a place, and moves up what is
// behind it.
func SetLEB128(dst []byte, at int, v uint64) []byte {
	if v < 128 {
		dst[at] = byte(v)
		return dst
	}
	n := 1
	for rest := v >> 7; rest > 0; rest >>= 7 {
		n++
	}
	dst = Widen(dst, at, n-1)
	AppendLEB128(dst[:at], v)
	return dst
}

// SetQUIC does the same for a number as [QUIC] reads it.
func SetQUIC(dst []byte, at int, v uint64) []byte {
	n := 1
	for n < 8 && v>>(8*n-2) > 0 {
		n *= 2
	}
	dst = Widen(dst, at, n-1)
	AppendQUIC(dst[:at], v)
	return dst
}

// Run returns how many bytes at the beginning of b are a certain one.
func Run(b []byte, is byte) int {
	for i, c := range b {
		if c != is {
			return i
		}
	}
	return len(b)
}

// AppendRun appends so many bytes of one kind.
func AppendRun(dst []byte, n int, is byte) []byte {
	for range n {
		dst = append(dst, is)
	}
	return dst
}

// Differs returns the index of the first byte of b that is not that of want, -1 if b begins with want.
// b is at least as long.
func Differs(b []byte, want string) int {
	for i := range len(want) {
		if b[i] != want[i] {
			return i
		}
	}
	return -1
}
