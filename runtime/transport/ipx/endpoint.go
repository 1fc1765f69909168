package ipx

import (
	"fmt"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
)

// Limits are the limits of a link and of each of its peers.
type Limits = dgram.Limits

// Stats count what a link has dropped.
type Stats = dgram.Stats

// DefaultMaxFrame is the largest frame in bytes unless Config says otherwise,
// and the most that DOSBox takes.
const DefaultMaxFrame = 1424 - HeaderSize

// Config describes a link over IPX. Socket must be set.
type Config struct {
	Limits
	// Socket is this end's socket, on which frames are received, and the one
	// to which frames for everybody are sent.
	Socket uint16
	// Type is the packet type of what is sent, 0 for 4.
	Type byte
	// Peers are there from the start, in the order of their numbers.
	Peers []Address
	// MaxFrame is the largest frame in bytes, 0 for DefaultMaxFrame.
	MaxFrame int
	// OnEcho, if set, is told who answers a ping. It is called by the goroutine that receives.
	OnEcho func(from Address)

	// Retry is the time between two attempts to register, 0 for one second.
	// DOSBox gives a place for each that it hears, so it should not be short. Dial only.
	Retry time.Duration
	// Attempts is how often Dial asks, 0 for 5; negative: until the context ends.
	Attempts int
}

// check fills in what is missing.
func (c Config) check() (Config, error) {
	if c.Socket == 0 || c.Socket == echoSocket {
		return c, fmt.Errorf("IPX socket %04X cannot be used: set Config.Socket to that of the game", c.Socket)
	}
	if c.MaxFrame <= 0 {
		c.MaxFrame = DefaultMaxFrame
	}
	if c.MaxFrame > 65535-HeaderSize {
		return c, fmt.Errorf("frames of %d bytes do not fit into an IPX packet", c.MaxFrame)
	}
	if c.Type == 0 {
		c.Type = 4
	}
	if c.Retry <= 0 {
		c.Retry = time.Second
	}
	if c.Attempts == 0 {
		c.Attempts = 5
	}
	return c, nil
}

// Endpoint is one IPX address on some carrier: it makes packets of frames and
// frames of packets, and answers pings. Carriers are made with it; programs
// use links.
type Endpoint struct {
	cfg   Config
	local Address

	mu  sync.Mutex // guards out: both goroutines of a link may send
	out []byte
}

// NewEndpoint returns an endpoint; local.Socket is taken from cfg.
func NewEndpoint(local Address, cfg Config) (*Endpoint, Config, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, cfg, err
	}
	local.Socket = cfg.Socket
	return &Endpoint{cfg: cfg, local: local, out: make([]byte, 0, HeaderSize+cfg.MaxFrame)}, cfg, nil
}

// Local is the endpoint's own address.
func (e *Endpoint) Local() Address { return e.local }

// Own reports whether a packet with this source is the endpoint's.
func (e *Endpoint) Own(a Address) bool {
	return a.Node == e.local.Node && a.Socket == e.local.Socket
}

// Everybody is where frames for everybody go.
func (e *Endpoint) Everybody() Address {
	return Address{Net: e.local.Net, Node: Broadcast, Socket: e.local.Socket}
}

// Open returns the frame of a packet and its sender. The error is
// dgram.ErrSkip for what is not for this endpoint. A ping is answered with send.
func (e *Endpoint) Open(packet []byte, send func(packet []byte, to Address) error) ([]byte, Address, error) {
	h, payload, err := Parse(packet)
	if err != nil || h.Dst.Node != e.local.Node && h.Dst.Node != Broadcast {
		return nil, h.Src, dgram.ErrSkip // keep-alives have a length of 0
	}
	if h.Dst.Socket == echoSocket {
		e.echo(&h, send)
		return nil, h.Src, dgram.ErrSkip
	}
	if h.Dst.Socket != e.local.Socket {
		return nil, h.Src, dgram.ErrSkip
	}
	return payload, h.Src, nil
}

func (e *Endpoint) echo(h *Header, send func([]byte, Address) error) {
	switch {
	case h.Src.Node == e.local.Node:
	case h.Dst.Node != Broadcast:
		if e.cfg.OnEcho != nil && h.Length == HeaderSize {
			e.cfg.OnEcho(h.Src)
		}
	case send != nil:
		answer := Header{Length: HeaderSize, Dst: h.Src, Src: e.local}
		answer.Dst.Socket, answer.Src.Socket = echoSocket, echoSocket
		send(answer.Append(make([]byte, 0, HeaderSize)), answer.Dst)
	}
}

// PingPacket returns the packet that everybody answers.
func (e *Endpoint) PingPacket() []byte {
	h := Header{Length: HeaderSize, Dst: Address{Net: e.local.Net, Node: Broadcast, Socket: echoSocket}, Src: e.local}
	h.Src.Socket = echoSocket
	return h.Append(nil)
}

// Send makes a packet of a frame and gives it to send, which must not keep it.
func (e *Endpoint) Send(frame []byte, to Address, send func(packet []byte, to Address) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := Header{Length: uint16(HeaderSize + len(frame)), Type: e.cfg.Type, Dst: to, Src: e.local}
	e.out = append(h.Append(e.out[:0]), frame...)
	return send(e.out, to)
}
