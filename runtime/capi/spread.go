package capi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// maxSockets is the most peers of a server over datagrams.
const maxSockets = 1024

// spreader gives each peer of a link of datagrams a link of its own.
type spreader struct {
	link   transport.Link
	peers  map[int]*spread
	failed func(error)
	unsent sync.Once // a frame was not sent, and the program has been told so

	mu      sync.Mutex // guards what follows, and the sending half of link
	open    int        // links of peers that their machines have not closed
	closing bool
}

// gather opens the socket of a server, for at most so many peers; judge says what a stranger's first
// datagram has to be. Links that know better, as those with a handshake, ask for more.
func gather(ctx context.Context, t linkText, most int, judge func(frame []byte) bool) (*spreader, error) {
	if most > maxSockets {
		return nil, fmt.Errorf("%d connections: a server over datagrams has at most %d", most, maxSockets)
	}
	t.most = most
	l, server, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	if !server {
		l.Abort()
		return nil, fmt.Errorf("%q: the peers of a server come by themselves; want KIND:ADDRESS:PORT", t.text)
	}
	if g, ok := l.(transport.Guarded); ok {
		g.Guard(judge)
	}
	return &spreader{link: l, peers: map[int]*spread{}}, nil
}

// valid makes the judgement of a stranger's first frame from a machine of the server: it begins as one
// of the protocol does.
func valid(r fsm.Runner) func(frame []byte) bool {
	return func(frame []byte) bool {
		n, err := r.FrameSize(frame)
		return err == nil && 0 < n && n <= len(frame)
	}
}

func (s *spreader) at() string { return s.link.LocalAddr().String() }

// run receives until ctx ends, and gives the link of each peer that comes to took.
func (s *spreader) run(ctx context.Context, took func(transport.Link), failed func(error)) {
	s.failed = failed
	defer context.AfterFunc(ctx, func() { s.count(0, true) })()
	buf := make([]byte, max(s.link.Properties().MaxFrame, 1<<16))
	for {
		got, err := s.link.Receive(buf)
		p := s.peers[got.Peer]
		switch {
		case errors.Is(err, transport.ErrInterrupted):
		case err != nil:
			for _, p := range s.peers {
				p.end()
			}
			if ctx.Err() == nil {
				failed(err)
			}
			return
		case got.Kind == transport.PeerUp:
			if p != nil {
				p.end()
			}
			inside, outside := mem.Pair(mem.Config{Queue: ownQueue, Linger: 1})
			p = &spread{Link: inside, outside: outside, all: s, number: got.Peer, addr: s.link.RemoteAddr(got.Peer)}
			s.peers[got.Peer] = p
			s.count(1, false)
			go p.carry()
			took(p)
		case p == nil:
		case got.Kind == transport.PeerLost:
			delete(s.peers, got.Peer)
			p.end()
		default: // what finds the queue full is lost, as datagrams are
			p.outside.Send(0, buf[:got.N])
			p.outside.Flush()
		}
	}
}

// count counts links of peers. The link below is closed when nothing more comes and the last of them has
// ended, so that what their machines have said at the end still leaves.
func (s *spreader) count(more int, closing bool) {
	s.mu.Lock()
	s.open += more
	s.closing = s.closing || closing
	end := s.closing && s.open == 0
	s.mu.Unlock()
	if end {
		s.link.Close()
	}
}

// spread is the link of one peer.
type spread struct {
	transport.Link // to a machine
	outside        *mem.Link
	all            *spreader
	number         int
	addr           net.Addr

	mu    sync.Mutex
	ended bool // the number is another's by now
}

// Properties implements [transport.Link]: those of the link below, but for one peer.
func (p *spread) Properties() transport.Properties {
	props := p.all.link.Properties()
	props.Peers = 0
	return props
}

// RemoteAddr implements [transport.Link].
func (p *spread) RemoteAddr(int) net.Addr { return p.addr }

// LocalAddr implements [transport.Link].
func (p *spread) LocalAddr() net.Addr { return p.all.link.LocalAddr() }

// confirm says that the machine has accepted a message of the peer.
func (p *spread) confirm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g, ok := p.all.link.(transport.Guarded); ok && !p.ended {
		g.Confirm(p.number)
	}
}

// withheld says why a frame was not sent, and what to do.
func withheld(err error) error {
	return fmt.Errorf("a frame was not sent, and others may follow untold: %w; "+
		"a server that says more than it is told wants {cookie: true} at both ends, or {even: false}", err)
}

// end says that the peer is gone.
func (p *spread) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.outside.Abort()
}

// carry sends what the machine sends, until it closes its link or the peer is gone.
func (p *spread) carry() {
	defer p.all.count(-1, false)
	buf := make([]byte, max(p.all.link.Properties().MaxFrame, 1<<16))
	for {
		got, err := p.outside.Receive(buf)
		p.mu.Lock()
		gone := p.ended
		if err == nil && !gone {
			p.all.mu.Lock()
			unsent := p.all.link.Send(p.number, buf[:got.N])
			p.all.link.Flush()
			p.all.mu.Unlock()
			if errors.Is(unsent, transport.ErrUneven) {
				p.all.unsent.Do(func() { p.all.failed(withheld(unsent)) })
			}
		}
		if d, ok := p.all.link.(interface{ Drop(peer int) }); ok && err != nil && !gone {
			d.Drop(p.number)
		}
		p.mu.Unlock()
		if err != nil || gone {
			p.outside.Abort()
			return
		}
	}
}
