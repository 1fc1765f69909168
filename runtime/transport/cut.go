package transport

import "fmt"

// Cut returns the size of the frame that begins a stream's bytes b, 0 if it is not whole yet, which len(b) < max then holds for. The function size is
// [fsm.Runner].FrameSize and max the largest frame in bytes. After an error the stream has no recognisable boundaries any more.
func Cut(size func([]byte) (int, error), max int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := size(b)
	switch {
	case err != nil:
		return 0, err
	case n < 0:
		return 0, fmt.Errorf("frame of %d bytes", n)
	case n > max:
		return 0, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrFrameTooLong, n, max)
	case n == 0 && len(b) >= max:
		return 0, fmt.Errorf("%w: %d bytes and no end", ErrFrameTooLong, len(b))
	case n > len(b):
		return 0, nil
	}
	return n, nil
}
