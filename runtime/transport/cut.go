package transport

import "fmt"

// Cut returns the size of the frame that begins a stream's bytes b, 0 if it is not whole yet, which
// len(b) < max then holds for. The function size is [fsm.Runner].FrameSize and max the largest
// frame in bytes. After an error the stream has no recognisable boundaries any more.
func Cut(size func([]byte) (int, error), max int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := size(b)
	if !whole(n, err, max, len(b)) {
		return 0, unwhole(n, err, max, len(b))
	}
	return n, nil
}

// whole reports whether have bytes begin with a frame, by what its function size says of them. It
// is apart from unwhole, and Next calls both instead of Cut, since it is inlined: a further call
// for each frame can be measured.
func whole(n int, err error, max, have int) bool {
	return err == nil && 0 < n && n <= max && n <= have
}

// unwhole says why the bytes do not begin with a frame: nil if the rest of it has to come.
func unwhole(n int, err error, max, have int) error {
	switch {
	case err != nil:
		return err
	case n < 0:
		return fmt.Errorf("frame of %d bytes", n)
	case n > max:
		return fmt.Errorf("%w: %d bytes, at most %d allowed", ErrFrameTooLong, n, max)
	case n == 0 && have >= max:
		return fmt.Errorf("%w: %d bytes and no end", ErrFrameTooLong, have)
	}
	return nil
}
