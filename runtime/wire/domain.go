package wire

// jumps is how often a name may point back.
const jumps = 32

// Domain reads a name of the DNS at a place of a frame: labels, each behind its length, up to an empty one. It
// writes them into dst with dots between them, and returns how many bytes that are and the place behind the name.
// With back, a name may go on at an earlier place of the frame (RFC 1035, section 4.1.4), which is counted from
// base. If it is no such name, or dst is too short, the error's Problem is not 0; a dot within a label is one.
func Domain(dst, frame []byte, at, base int, back bool) (n, end int, e Error) {
	first, end := at, 0
	for jumped := 0; ; {
		if at >= len(frame) {
			return 0, 0, Error{Offset: at, Problem: Short, Value: int64(len(frame)), Limit: int64(at + 1)}
		}
		size := int(frame[at])
		switch {
		case size == 0:
			if end == 0 {
				end = at + 1
			}
			return n, end, e
		case size >= 192 && back:
			if at+1 >= len(frame) {
				return 0, 0, Error{Offset: at, Problem: Short, Value: int64(len(frame)), Limit: int64(at + 2)}
			}
			if end == 0 {
				end = at + 2
			}
			to := base + size&63<<8 + int(frame[at+1])
			// Each part begins before those that were read, so that the name ends.
			if to >= first {
				return 0, 0, Error{Offset: at, Problem: Range, Value: int64(to), Limit: int64(first - 1)}
			}
			if jumped++; jumped > jumps {
				return 0, 0, Error{Offset: at, Problem: Count, Value: int64(jumped), Limit: jumps}
			}
			at, first = to, to
			continue
		case size > 63:
			return 0, 0, Error{Offset: at, Problem: Range, Value: int64(size), Limit: 63}
		case at+1+size > len(frame):
			return 0, 0, Error{Offset: at, Problem: Short, Value: int64(len(frame)), Limit: int64(at + 1 + size)}
		}
		if n > 0 {
			if n < len(dst) {
				dst[n] = '.'
			}
			n++
		}
		if n+size > len(dst) {
			return 0, 0, Error{Offset: at, Problem: Count, Value: int64(n + size), Limit: int64(len(dst))}
		}
		for i, c := range frame[at+1 : at+1+size] {
			if c == '.' {
				return 0, 0, Error{Offset: at + 1 + i, Problem: Charset, Value: '.'}
			}
			dst[n+i] = c
		}
		n += size
		at += 1 + size
	}
}

// AppendDomain appends a name as [Domain] reads it; it does not point back. If a label has no bytes or more than 63,
// bad is its place in the name, else -1.
func AppendDomain(dst, name []byte) (out []byte, bad int) {
	for from := 0; len(name) > 0; {
		to := from
		for to < len(name) && name[to] != '.' {
			to++
		}
		if to == from || to-from > 63 {
			return dst, from
		}
		dst = append(dst, byte(to-from))
		dst = append(dst, name[from:to]...)
		if to == len(name) {
			break
		}
		from = to + 1
	}
	return append(dst, 0), -1
}
