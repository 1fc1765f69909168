package dtlslink

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pion/dtls/v3"
	"github.com/pion/transport/v5/packetio"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tlslink"
)

// session is DTLS with one peer.
type session struct {
	link      *Link
	peer      int
	from      netip.Addr
	pipe      *pipe
	conn      *dtls.Conn // guarded by link.mu, and constant once up
	inside    bool       // has been let in for a handshake; guarded by link.mu, like the next two
	evicted   bool       // had to make room for another handshake
	lostBelow bool       // the link below has said that the peer is lost
	renewal   bool       // there was a session when this one began
	refused   error      // by VerifyConnection
	up        bool       // guarded by link.mu, as identity until up
	identity  tlslink.Identity
}

// waiting is how many datagrams of one peer wait for its session, and how many bytes.
const waiting, waitingBytes = 1024, 256 << 10

// renewalLimit is how long the handshake of a peer that begins anew may take.
const renewalLimit = 3 * time.Second

func newSession(l *Link, peer int) *session {
	s := &session{link: l, peer: peer, pipe: &pipe{link: l, peer: peer, in: packetio.NewBuffer()}}
	s.pipe.in.SetLimitCount(waiting)
	s.pipe.in.SetLimitSize(waitingBytes)
	return s
}

// run makes the handshake and receives until the session ends.
func (s *session) run() {
	defer s.link.beginAgain(s.peer)
	defer s.link.forget(s)
	defer s.pipe.Close()
	conn, err := s.handshake()
	s.link.settled(s, err)
	if err != nil {
		return
	}
	defer conn.Close()
	if !s.announce() {
		return
	}
	buf := make([]byte, maxRecord)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			break
		}
		s.link.in.put(transport.Arrival{Peer: s.peer, N: n}, buf[:n])
	}
	s.retire()
}

// announce makes the peer one that can be sent to, in place of what it was before.
func (s *session) announce() bool {
	l := s.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if old := l.sessions[s.peer]; old != s && old != nil {
		old.gone()
		old.pipe.Close()
	}
	delete(l.renewing, s.peer)
	l.sessions[s.peer] = s
	s.up = true
	l.in.put(transport.Arrival{Kind: transport.PeerUp, Peer: s.peer}, nil)
	return true
}

func (s *session) retire() {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	s.gone()
}

// gone says, once, that the peer can no longer be reached. The caller holds link.mu.
func (s *session) gone() {
	if s.up {
		s.up = false
		s.link.in.put(transport.Arrival{Kind: transport.PeerLost, Peer: s.peer}, nil)
	}
}

func (s *session) handshake() (*dtls.Conn, error) {
	conn, err := s.open()
	if err != nil {
		return nil, err
	}
	s.link.mu.Lock()
	s.conn = conn
	s.link.mu.Unlock()
	limit := s.link.cfg.Handshake
	if s.renewal { // somebody else may have begun it, and then it is in the way
		limit = min(limit, renewalLimit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		conn.Close()
		s.link.mu.Lock()
		if s.evicted {
			err = errEvicted
		}
		s.link.mu.Unlock()
		return nil, fmt.Errorf("DTLS with %v: %w", s.pipe.RemoteAddr(), errors.Join(s.refused, err))
	}
	return conn, nil
}

var errEvicted = errors.New("the handshake took long, and others began: too many were under way " +
	"(see Config.Handshakes)")

func (s *session) open() (*dtls.Conn, error) {
	c := s.link.cfg
	options := []dtls.Option{
		dtls.WithExtendedMasterSecret(dtls.RequireExtendedMasterSecret),
		dtls.WithFlightInterval(250 * time.Millisecond),
		dtls.WithVerifyConnection(s.verify),
		dtls.WithCipherSuites(dtls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, dtls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			dtls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, dtls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
	}
	if len(c.Certificate.Certificate) > 0 {
		options = append(options, dtls.WithCertificates(c.Certificate))
	}
	if c.Server {
		return dtls.ServerWithOptions(s.pipe, s.pipe.RemoteAddr(), s.serverOptions(options)...)
	}
	return dtls.ClientWithOptions(s.pipe, s.pipe.RemoteAddr(), s.clientOptions(options)...)
}

func (s *session) serverOptions(common []dtls.Option) (all []dtls.ServerOption) {
	for _, o := range common {
		all = append(all, o)
	}
	switch c := s.link.cfg; {
	case len(c.Keys) > 0:
		all = append(all, dtls.WithClientAuth(dtls.RequireAnyClientCert))
	case c.Roots != nil:
		all = append(all, dtls.WithClientAuth(dtls.RequireAndVerifyClientCert), dtls.WithClientCAs(c.Roots))
	}
	return all
}

func (s *session) clientOptions(common []dtls.Option) (all []dtls.ClientOption) {
	for _, o := range common {
		all = append(all, o)
	}
	switch c := s.link.cfg; {
	case len(c.Keys) > 0:
		all = append(all, dtls.WithInsecureSkipVerify(true)) // verify compares the key itself
	default:
		if c.Roots != nil {
			all = append(all, dtls.WithRootCAs(c.Roots))
		}
		all = append(all, dtls.WithServerName(c.ServerName))
	}
	return all
}

// verify notes who the peer is and refuses whom Config.Keys does not name.
func (s *session) verify(state *dtls.State) error {
	s.refused = s.examine(state)
	return s.refused
}

func (s *session) examine(state *dtls.State) error {
	keys := s.link.cfg.Keys
	if len(state.PeerCertificates) == 0 {
		if len(keys) > 0 {
			return fmt.Errorf("%w: it showed none", tlslink.ErrUnknownKey)
		}
		return nil
	}
	leaf, err := x509.ParseCertificate(state.PeerCertificates[0])
	if err != nil {
		return err
	}
	s.identity = tlslink.IdentityOf(leaf, len(keys) == 0)
	if len(keys) > 0 && !slices.Contains(keys, s.identity.Key) {
		return fmt.Errorf("%w: it is %v", tlslink.ErrUnknownKey, s.identity.Key)
	}
	return nil
}

func (s *session) send(frame []byte) error {
	if _, err := s.conn.Write(frame); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrNoPeer, err) // the session has just ended
	}
	return nil
}

// pipe is one peer of the link below, as pion/dtls wants it.
type pipe struct {
	link *Link
	peer int
	in   *packetio.Buffer
}

func (p *pipe) ReadFrom(b []byte) (int, net.Addr, error) {
	n, _, err := p.in.Read(b, nil)
	return n, p.RemoteAddr(), err
}

// WriteTo sends a datagram at once. One that the link below has no room for is
// lost, as datagrams may be: handshakes repeat themselves.
func (p *pipe) WriteTo(b []byte, _ net.Addr) (int, error) {
	p.link.out.Lock()
	defer p.link.out.Unlock()
	err := p.link.inner.Send(p.peer, b)
	if err == nil {
		err = p.link.inner.Flush()
	}
	if err != nil && !errors.Is(err, transport.ErrQueueFull) {
		return 0, err
	}
	return len(b), nil
}

func (p *pipe) Close() error                       { return p.in.Close() }
func (p *pipe) LocalAddr() net.Addr                { return address(p.link.inner.LocalAddr()) }
func (p *pipe) RemoteAddr() net.Addr               { return address(p.link.inner.RemoteAddr(p.peer)) }
func (p *pipe) SetDeadline(t time.Time) error      { return p.in.SetReadDeadline(t) }
func (p *pipe) SetReadDeadline(t time.Time) error  { return p.in.SetReadDeadline(t) }
func (p *pipe) SetWriteDeadline(t time.Time) error { return nil }

// address stands in where a link has no address.
func address(a net.Addr) net.Addr {
	if a == nil {
		return &net.UDPAddr{}
	}
	return a
}
