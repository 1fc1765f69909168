package dgram

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/parley-go/parley/runtime/transport"
)

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
	// From reports whether somebody at an address who was not configured may become a peer. nil: anybody.
	// The goroutine that receives calls it.
	From func(A) bool
	// Origin is what counts as one address: see [door.Origin]. nil: no sender has one.
	Origin func(A) netip.Addr
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
	// PerAddress is the most peers at a time, configured ones not counted, of one IPv4 address, one
	// IPv6 network of 64 bits or one IPX node; 0 for a quarter of MaxPeers but at least 4, negative
	// for no limit.
	PerAddress int
	// AddressRate is the most peers of one such address that come up in a second, 0 for 50, negative
	// for no limit; AcceptRate the same for all addresses together, 0 for 1000. What PerAddress and
	// AddressRate turn away does not count against it.
	AddressRate, AcceptRate int
	// HalfOpen is how long somebody may have a place without having shown that it deserves it, 0 for
	// ten seconds, negative for ever. It has when a second datagram has come from it, when it has
	// proved its address to a gate, or, under [transport.Guarded], when it is confirmed. While all
	// places are taken, the oldest half-open one is given to who comes.
	HalfOpen time.Duration
	// Silence is after how long without a datagram a peer is lost (at most a quarter later), negative
	// for never. 0: after 45 seconds if it was not configured, else never. A configured peer comes
	// up again when it is heard.
	Silence time.Duration
	// Waiting is how many frames wait, when they come faster than they are taken, 0 for 1024. The
	// addresses have turns, and what exceeds it is lost by who has most of them there. It needs a
	// carrier that brings several datagrams at once; elsewhere the system's queue is all there is.
	Waiting int
	// ReceiveBuffer is what the system is asked to keep of datagrams that come while nobody
	// receives, in bytes; 0 asks for 4 MiB, negative for nothing. If it grants less than a positive
	// number, Logger is told.
	ReceiveBuffer int
	// Logger is told of each limit that bites, once. May be nil.
	Logger *slog.Logger
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

// Stats count whom a link has turned away and what it has dropped.
type Stats struct {
	Own       uint64 // own broadcasts that came back
	Strangers uint64 // datagrams of senders that are no peers and could not become any
	Invalid   uint64 // of these, what a guard did not take for valid
	Full      uint64 // because all places were taken
	Crowded   uint64 // because of PerAddress
	Hasty     uint64 // because of AddressRate
	Flooded   uint64 // because of AcceptRate
	Evicted   uint64 // half-open peers whose place was given to somebody else
	Expired   uint64 // half-open peers after HalfOpen
	Silent    uint64 // peers lost after Silence
	Displaced uint64 // frames that found no room among those that wait
	Limited   uint64 // frames above FrameRate or ByteRate
	TooLong   uint64 // longer than MaxFrame or the receiver's buffer
	Overrun   uint64 // injected while too many waited
	Gate      uint64 // datagrams that the gate dealt with
	Unsent    uint64 // frames that the carrier did not take
	Withheld  uint64 // frames that Even has held back
	Skipped   uint64 // datagrams the socket dealt with or could not read
	Peers     int    // peers now
	HalfOpen  int    // of these, half-open ones
}

// Counts is s for [transport.Counted].
func (s Stats) Counts() []transport.Count {
	return []transport.Count{
		{Name: "peers", Help: "Peers now", Level: true, Value: uint64(s.Peers)},
		{Name: "half_open", Level: true, Value: uint64(s.HalfOpen),
			Help: "Peers now that have shown nothing acceptable yet"},
		{Name: "strangers", Help: "Datagrams of senders that could not become peers", Value: s.Strangers},
		{Name: "invalid", Help: "Datagrams of strangers that are not valid", Value: s.Invalid},
		{Name: "full", Help: "Strangers turned away because all places were taken", Value: s.Full},
		{Name: "crowded", Help: "Strangers turned away because their address has its places", Value: s.Crowded},
		{Name: "hasty", Value: s.Hasty,
			Help: "Strangers turned away because too many of their address came in a second"},
		{Name: "flooded", Help: "Strangers turned away because too many came in a second", Value: s.Flooded},
		{Name: "evicted", Help: "Half-open peers whose place was given to somebody else", Value: s.Evicted},
		{Name: "expired", Help: "Half-open peers whose time was over", Value: s.Expired},
		{Name: "silent", Help: "Peers lost because nothing came from them", Value: s.Silent},
		{Name: "displaced", Help: "Frames that found no room among those that wait", Value: s.Displaced},
		{Name: "limited", Help: "Frames above the rates of a peer", Value: s.Limited},
		{Name: "too_long", Help: "Datagrams that are too long", Value: s.TooLong},
		{Name: "overrun", Help: "Broadcasts heard while too many waited", Value: s.Overrun},
		{Name: "gate", Help: "Datagrams of the proof of addresses", Value: s.Gate},
		{Name: "own", Help: "Own broadcasts that came back", Value: s.Own},
		{Name: "unsent", Help: "Frames that the system did not take", Value: s.Unsent},
		{Name: "withheld", Help: "Frames held back because the peer has sent less", Value: s.Withheld},
		{Name: "skipped", Help: "Datagrams that do not concern the link", Value: s.Skipped},
	}
}

// DefaultPeers is the most peers of a link unless Limits.MaxPeers says otherwise.
const DefaultPeers = 64

// The defaults of Limits.
const (
	leastPlaces     = 4 // of one address
	defaultHalfOpen = 10 * time.Second
	defaultSilence  = 45 * time.Second
	defaultWaiting  = 1024
	defaultBuffer   = 4 << 20
)

// withDefaults fills in what is 0; what is negative is 0 then.
func (c Limits) withDefaults() Limits {
	if c.MaxPeers <= 0 {
		c.MaxPeers = DefaultPeers
	}
	if c.HalfOpen == 0 {
		c.HalfOpen = defaultHalfOpen
	}
	if c.Waiting <= 0 {
		c.Waiting = defaultWaiting
	}
	return c
}
