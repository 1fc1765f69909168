package transport

// DefaultReceiveBuffer is the least size of a Splitter's buffer in bytes: small
// frames that arrive together are read with one call.
const DefaultReceiveBuffer = 16 << 10

// Splitter cuts a stream into frames. Its memory is fixed: one buffer of at
// least the largest frame. Use: read into Space, say Filled, then take frames
// with Next until there is none. It is not safe for concurrent use.
type Splitter struct {
	size       func([]byte) (int, error)
	max        int
	buf        []byte
	start, end int // buf[start:end] is received and not yet taken
}

// NewSplitter returns a splitter for frames of at most max bytes. The function
// size is [fsm.Runner].FrameSize. A buffer smaller than max is enlarged to max;
// 0 means DefaultReceiveBuffer.
func NewSplitter(size func([]byte) (int, error), max, buffer int) *Splitter {
	if max < 1 {
		max = 1
	}
	if buffer == 0 {
		buffer = DefaultReceiveBuffer
	}
	if buffer < max {
		buffer = max
	}
	return &Splitter{size: size, max: max, buf: make([]byte, buffer)}
}

// Space returns where to put the next bytes of the stream. It is never empty
// if Next was called until it returned no frame. It ends the life of the frames
// returned before.
func (s *Splitter) Space() []byte {
	if s.start == s.end {
		s.start, s.end = 0, 0
	} else if len(s.buf)-s.start < s.max {
		// The frame that has begun may not fit behind start.
		copy(s.buf, s.buf[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	return s.buf[s.end:]
}

// Filled says that n bytes were put into Space.
func (s *Splitter) Filled(n int) { s.end += n }

// Next returns the next whole frame, valid until Space is called, or nil if
// it has not arrived completely. After an error the stream has no
// recognisable boundaries any more, and every further call fails too.
func (s *Splitter) Next() ([]byte, error) {
	rest := s.buf[s.start:s.end]
	if len(rest) == 0 {
		return nil, nil
	}
	n, err := s.size(rest)
	if !whole(n, err, s.max, len(rest)) {
		return nil, unwhole(n, err, s.max, len(rest))
	}
	s.start += n
	return rest[:n:n], nil
}

// Skip takes the next n bytes, n <= len(Rest()), that were found to be whole frames.
func (s *Splitter) Skip(n int) { s.start += n }

// Rest returns the bytes that have arrived and belong to no frame yet. After
// an error of Next they start with the bytes at fault.
func (s *Splitter) Rest() []byte { return s.buf[s.start:s.end] }

// Reset forgets everything received.
func (s *Splitter) Reset() { s.start, s.end = 0, 0 }
