package dtlslink

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/parley-go/parley/runtime/transport/tlslink"
)

// Overhead is the most that DTLS adds to a frame, in bytes: the header of a record, an explicit
// nonce and a tag.
const Overhead = 13 + 8 + 16

// Config says who this side is, who is accepted, and how much is kept.
type Config struct {
	// Server: this side answers handshakes; otherwise it begins one with each
	// peer that the link below announces. Of two sides one must be the server.
	Server bool
	// Certificate is this side's; a server must have one. tlslink.SelfSigned makes one.
	Certificate tls.Certificate
	// Keys are the peers that are accepted, whatever their certificates say. A peer without one of
	// them is refused.
	Keys []tlslink.Fingerprint
	// Roots are the authorities that vouch for peers where Keys is empty. A
	// client that has neither takes those of the computer; a server that has neither asks no
	// client who it is.
	Roots *x509.CertPool
	// ServerName is whom a client without Keys expects.
	ServerName string

	// Handshake is how long a handshake may take, 0 for ten seconds. A peer that does not end it is
	// never announced.
	Handshake time.Duration
	// Handshakes is how many may be under way at a time, 0 for 64. When another one
	// begins, a server gives up the oldest of them.
	Handshakes int
	// PerAddress is how many of them a server makes with one IPv4 address or one IPv6 network of 64
	// bits, 0 for a quarter of Handshakes but at least 4, negative for no limit. It says little of
	// addresses that can be forged: see udp.Config.Cookie.
	PerAddress int
	// Queue is how many received frames wait to be taken, 0 for 1024. The peers have turns, and what
	// exceeds it is lost by who has most of them there.
	Queue int
	// Logger is told of each limit that bites, once. May be nil.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Handshake == 0 {
		c.Handshake = 10 * time.Second
	}
	if c.Handshakes == 0 {
		c.Handshakes = 64
	}
	if c.PerAddress == 0 {
		c.PerAddress = max(4, c.Handshakes/4)
	}
	if !c.Server {
		c.PerAddress = -1 // a client chooses its peers
	}
	if c.Queue == 0 {
		c.Queue = 1024
	}
	return c
}
