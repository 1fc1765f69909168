package dgram

import (
	"errors"
	"net"
	"time"
)

// ErrSkip is returned by Socket.Read for a datagram that the socket has dealt
// with itself or that does not concern the link.
var ErrSkip = errors.New("nothing for the link")

// Socket sends and receives datagrams.
type Socket[A comparable] interface {
	// Read waits for a datagram and returns its frame, somewhere in buf, and
	// its sender. It fails with os.ErrDeadlineExceeded at the read deadline,
	// even if datagrams are waiting, with net.ErrClosed, or with ErrSkip.
	Read(buf []byte) (frame []byte, from A, err error)
	// Write sends a frame, or fails; it does not block. Any goroutine may call it.
	Write(frame []byte, to A) error
	SetReadDeadline(t time.Time) error
	Close() error
	// LocalAddr is this end's address; Addr is that of a peer.
	LocalAddr() net.Addr
	Addr(a A) net.Addr
}

// Batch is a [Socket] that reads and sends several datagrams at once. A frame that it has read is
// valid until the next Read, whose buffer it does not use.
type Batch[A comparable] interface {
	Socket[A]
	// Held reports whether Read returns at once, whatever the deadline, with what has come together
	// with the frame before.
	Held() bool
	// Fetch reads what has come, without waiting, unless something is held. It reports whether
	// something is held then.
	Fetch() bool
	// Crowded reports whether what was read last was as much as is read at once.
	Crowded() bool
	// Put keeps a copy of a frame for a peer, or with a negative number for an address that is
	// none, until Flush or until too much waits. Both return how many frames were lost. Any
	// goroutine may call them.
	Put(peer int, frame []byte, to A) (lost int, err error)
	Flush() (lost int)
}
