package wire

import "math/bits"

// Flags packs truth values, the first into bit 0. There are at most 64.
func Flags(list ...bool) (packed uint64) {
	for i, b := range list {
		if b {
			packed |= 1 << i
		}
	}
	return packed
}

// Misplaced is the error for a union whose fields are not those of its kind: the first field that is there
// and has no place in the kind, or that is missing. there and want are as [Flags] packs them, and differ.
func Misplaced(message string, fields []string, there, want uint64, offset int) Error {
	i := bits.TrailingZeros64(there ^ want)
	e := Error{Message: message, Field: fields[i], Offset: offset, Problem: Union}
	if want>>i&1 != 0 {
		e.Limit = 1
	} else {
		e.Value = 1
	}
	return e
}
