// Package tcp carries frames over TCP, IPv4 and IPv6: [Dial] and [Listen] give
// a [Link], which is a [transport.Link] with one peer; [Serve] gives a
// [Server], which is one with as many peers as connect.
//
// It knows no protocol: boundaries of frames are the business of
// [transport.Splitter]. Small frames are coalesced into one write for each
// Flush, the Nagle algorithm is off, and nothing here ever blocks its caller
// but Receive, Close, Dial and Accept. Start from [Link].
package tcp

import (
	"log/slog"
	"net"
	"time"
)

// Config holds the limits of a link. The zero value is usable.
type Config struct {
	// SendQueue is the most bytes that wait because the peer does not take
	// them, 0 for 256 KiB. Beyond it Send fails with transport.ErrQueueFull.
	// While more than half of it waits, nothing is received either, so that a
	// peer that asks without reading the answers is slowed down.
	SendQueue int
	// Linger is how long Close waits for the peer's own close, 0 for two seconds.
	Linger time.Duration
	// Stall is how long a peer may take no byte at all while some wait, 0 for
	// thirty seconds. Then the link is lost with transport.ErrStalled.
	Stall time.Duration

	// Timeout limits one attempt to connect to one address, 0 for two seconds. Dial only.
	Timeout time.Duration
	// Attempts is how often Dial tries all addresses of the peer: 0 means
	// once, a negative number means until the context ends.
	Attempts int
	// Pause is the time between two attempts, 0 for two seconds. Dial only.
	Pause time.Duration
	// OnRetry, if set, is told of each failed round before the pause. Dial only.
	OnRetry func(attempt int, err error)

	// MaxLinks is the most links of one Listener that are open at a time, 0 for 1024. Connections
	// beyond it are closed at once and counted, as are those beyond the limits that follow. Listen
	// only.
	MaxLinks int
	// PerAddress is the most links that are open at a time with one IPv4 address or one IPv6
	// network of 64 bits, 0 for a quarter of MaxLinks but at least 16, negative for no limit.
	// Listen only.
	PerAddress int
	// AddressRate is the most connections of one such address that are accepted in a second, 0 for
	// 50, negative for no limit. A second's worth may come at once. Listen only.
	AddressRate int
	// AcceptRate is the same for all addresses together, 0 for 1000. What PerAddress and
	// AddressRate turn away does not count against it, so that one address cannot use it up. Listen
	// only.
	AcceptRate int
	// Handshake is how long a connection may stay at the door of [Listener.AcceptOne], 0 for ten
	// seconds, negative for ever.
	Handshake time.Duration
	// OnTurnedAway, if set, is told of each connection that AcceptOne has let go. Several goroutines
	// may call it at a time.
	OnTurnedAway func(from net.Addr, why error)
	// Logger is told of each limit of the listener that bites, once. May be nil.
	Logger *slog.Logger
}

// leastPlaces is how many places one address may have in any case.
const leastPlaces = 16

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.Linger, 2*time.Second)
	def(&c.Stall, 30*time.Second)
	def(&c.Timeout, 2*time.Second)
	def(&c.Pause, 2*time.Second)
	if c.Handshake == 0 {
		c.Handshake = 10 * time.Second
	}
	if c.SendQueue <= 0 {
		c.SendQueue = 256 << 10
	}
	if c.MaxLinks <= 0 {
		c.MaxLinks = 1024
	}
	if c.Attempts == 0 {
		c.Attempts = 1
	}
	return c
}
