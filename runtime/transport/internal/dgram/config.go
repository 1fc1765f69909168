package dgram

import "time"

// Verdict is a Gate's decision about a datagram.
type Verdict uint8

const (
	// Pass: it is no business of the gate's. A peer that is up may have sent it; from others it is
	// dropped.
	Pass Verdict = iota
	// Done: the gate has dealt with it.
	Done
	// Admit: likewise, and its sender is a peer from now on.
	Admit
)

// Gate decides who becomes a peer. It is called by the goroutine that receives.
type Gate[A comparable] interface {
	// Judge looks at a datagram, and appends to reply what to send back at
	// once, which must not be longer than the datagram.
	Judge(reply, frame []byte, from A, now time.Time) ([]byte, Verdict)
	// Ask appends the datagram that asks a configured peer to admit us. It is
	// sent again and again until the gate admits that peer.
	Ask(dst []byte, to A) []byte
	// Retry is the time between two of them.
	Retry() time.Duration
}

// Config describes a link.
type Config[A comparable] struct {
	Limits
	// MaxFrame is the largest frame in bytes, and Overhead what the socket
	// needs in its buffer in addition.
	MaxFrame, Overhead int
	// All is where frames for everybody go; empty: to each peer that is up.
	All []A
	// Own reports whether an address is this end's. May be nil.
	Own func(A) bool
	// Gate is asked about everybody who is not yet a peer. May be nil.
	Gate Gate[A]
	// Gather is how long frames may wait after Flush, so that more of them leave at once. With a
	// Batch only.
	Gather time.Duration
}

// Limits are the limits that a user may set for any link over datagrams. The zero value is usable.
type Limits struct {
	// MaxPeers is the most peers at a time, 0 for 64. What comes from further
	// senders is dropped and counted.
	MaxPeers int
	// Closed admits configured peers only.
	Closed bool
	// Silence is after how long without a datagram a peer is lost (at most a
	// quarter later), 0 for never. A configured peer comes up again when it is heard.
	Silence time.Duration
	// FrameRate and ByteRate are the most frames and bytes a second that are
	// taken from one peer, 0 for no limit. A second's worth may come at once;
	// what exceeds it is dropped and counted.
	FrameRate, ByteRate int
	// Even lets no peer that was not configured be sent more bytes than it has sent itself, frames
	// for everybody included unless they are broadcast. It is for what answers strangers without a
	// cookie, such as the search for games: a forged request then brings its victim no more than
	// the forger has sent. What exceeds it is dropped and counted, and Send fails.
	Even bool
}

// Stats count what a link has dropped.
type Stats struct {
	Own       uint64 // own broadcasts that came back
	Strangers uint64 // from senders that are no peers and could not become any
	Limited   uint64 // above FrameRate or ByteRate
	TooLong   uint64 // longer than MaxFrame or the receiver's buffer
	Overrun   uint64 // injected while too many waited
	Gate      uint64 // datagrams that the gate dealt with
	Unsent    uint64 // frames that the carrier did not take
	Withheld  uint64 // frames that Even has held back
	Skipped   uint64 // datagrams the socket dealt with or could not read
}

// DefaultPeers is the most peers of a link unless Limits.MaxPeers says otherwise.
const DefaultPeers = 64
