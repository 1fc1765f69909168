package transport

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Opening says by which first frame whoever connects shows that it speaks the protocol, for links
// that carry a stream and for protocols whose other side speaks without being spoken to.
type Opening struct {
	// Size is [fsm.Runner].FrameSize, and Max the most bytes of a frame.
	Size func(b []byte) (int, error)
	Max  int
	// Valid reports whether a first frame is acceptable; nil: each whole one is. The frame is not
	// kept. Several goroutines may call it at a time.
	Valid func(frame []byte) bool
}

// Errors of [Opening.Await]. The link is lost with them.
var (
	ErrUnopened = errors.New("the peer said nothing acceptable in time")
	ErrStranger = errors.New("the peer does not begin as one of the protocol does")
)

// Await receives until the first frame is whole, for as long as ctx lasts, and returns a link that
// gives the same bytes again. If none comes, or one that is not valid, the link is aborted.
func (o Opening) Await(ctx context.Context, l Link) (Link, error) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { l.Interrupt(time.Unix(1, 0)); close(over) })
	buf, err := o.first(ctx, l)
	if !stop() {
		<-over // so that nothing interrupts the link later
	}
	if err != nil {
		l.Abort()
		return nil, err
	}
	l.Interrupt(time.Time{})
	return &opened{l, buf}, nil
}

// first returns what has come when the first frame is whole.
func (o Opening) first(ctx context.Context, l Link) ([]byte, error) {
	buf := make([]byte, 0, min(256, o.Max))
	for {
		if whole, err := o.judge(buf); whole || err != nil {
			return buf, err
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(2*cap(buf), o.Max)), buf...)
		}
		got, err := l.Receive(buf[len(buf):cap(buf)])
		switch {
		case err == nil:
			buf = buf[:len(buf)+got.N]
		case !errors.Is(err, ErrInterrupted):
			return nil, err
		case ctx.Err() != nil:
			return nil, ErrUnopened
		}
	}
}

// judge looks at what has come so far.
func (o Opening) judge(b []byte) (whole bool, err error) {
	if len(b) == 0 {
		return false, nil
	}
	n, err := o.Size(b)
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrStranger, err)
	case n < 0 || n > o.Max:
		return false, fmt.Errorf("%w: a frame of %d bytes, and %d are the limit", ErrStranger, n, o.Max)
	case n == 0 || n > len(b):
		return false, nil
	case o.Valid != nil && !o.Valid(b[:n:n]):
		return false, ErrStranger
	}
	return true, nil
}

// opened is a link that gives first what has been received already.
type opened struct {
	Link
	ahead []byte
}

// Receive implements [Link].
func (l *opened) Receive(buf []byte) (Arrival, error) {
	if len(l.ahead) == 0 {
		return l.Link.Receive(buf)
	}
	n := copy(buf, l.ahead)
	if l.ahead = l.ahead[n:]; len(l.ahead) == 0 {
		l.ahead = nil
	}
	return Arrival{N: n}, nil
}
