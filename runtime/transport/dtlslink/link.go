// Package dtlslink puts DTLS 1.2 between a driver and any link that carries
// datagrams: a UDP socket with many peers, or the IPX tunnel.
//
// It is a module of its own, so that clients that do not need it do not link
// it. It knows no protocol, and no carrier but by [transport.Link]; the
// cryptography is that of pion/dtls. Start from [Wrap], which gives a [Link].
package dtlslink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/dtls/v3"

	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/internal/door"
	"github.com/parley-go/parley/runtime/transport/tlslink"
)

// Stats counts what a link has refused or dropped since it was made.
type Stats struct {
	Failed  uint64 // handshakes that did not come to their end
	Refused uint64 // beginnings of handshakes while Config.Handshakes were under way
	Crowded uint64 // the same for Config.PerAddress
	Evicted uint64 // handshakes that were given up because others began while Config.Handshakes were under way
	Foreign uint64 // datagrams of new peers that begin no handshake, as far as the link below has let them in
	Clear   uint64 // datagrams with a record in the clear that belongs to no handshake: forged, or damaged
	Dropped uint64 // received frames that found no room
	Peers   int    // peers now
	Shaking int    // handshakes that are under way
}

// Link is a link through DTLS. It always announces its peers, when their handshake has ended, by
// the numbers they have below. Frames cannot be broadcast: All means each in turn.
type Link struct {
	inner transport.Link
	cfg   Config
	in    inbox
	door  *door.Door // handshakes that are under way
	out   sync.Mutex // held while something is sent below

	mu       sync.Mutex       // guards what follows
	below    map[int]bool     // peers that are there below
	sessions map[int]*session // one for each peer at most
	renewing map[int]*session // handshakes of peers that begin anew while their session is still there
	closed   bool
	stats    Stats
	lastErr  error
	shaking  door.HalfOpen[*session]
	notes    door.Notes
	running  sync.WaitGroup
}

// Wrap begins to speak DTLS on a link that carries datagrams and belongs to it
// from then on, also when Wrap fails.
func Wrap(inner transport.Link, cfg Config) (*Link, error) {
	cfg = cfg.withDefaults()
	var err error
	if inner.Properties().Stream {
		err = errors.New("DTLS needs a link that carries datagrams; see tlslink for streams")
	} else if cfg.Server && len(cfg.Certificate.Certificate) == 0 {
		err = errors.New("a server needs a certificate: set Config.Certificate, for example to one of " +
			"tlslink.SelfSigned")
	}
	if err != nil {
		return nil, errors.Join(err, inner.Abort())
	}
	l := &Link{inner: inner, cfg: cfg, door: door.New(door.Limits{Open: cfg.Handshakes, PerOrigin: cfg.PerAddress}),
		below: map[int]bool{}, sessions: map[int]*session{}, renewing: map[int]*session{}}
	l.in.init(cfg.Queue, &l.notes)
	l.notes.Logger, l.notes.Place = cfg.Logger, func() string { return fmt.Sprint("DTLS over ", inner.LocalAddr()) }
	if g, ok := inner.(transport.Guarded); ok && cfg.Server {
		g.Guard(isClientHello)
	}
	if inner.Properties().Peers == 0 {
		l.appear(0)
	}
	l.running.Go(l.receive)
	return l, nil
}

// receive hands what arrives below to the sessions, until the link below ends.
func (l *Link) receive() {
	buf := make([]byte, 1<<16)
	for {
		got, err := l.inner.Receive(buf)
		switch {
		case errors.Is(err, transport.ErrInterrupted):
		case err != nil:
			l.end(err)
			return
		case got.Kind == transport.PeerUp:
			l.appear(got.Peer)
		case got.Kind == transport.PeerLost:
			l.drop(got.Peer)
		default:
			l.deliver(got.Peer, buf[:got.N])
		}
	}
}

// deliver gives a datagram to whom it is for. What does not fit is lost, as datagrams may be.
func (l *Link) deliver(peer int, b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, renewed := l.sessions[peer], l.renewing[peer]
	switch {
	case old == nil && l.cfg.Server && !isClientHello(b):
		l.stats.Foreign++
		l.dismiss(peer)
		return
	case old == nil:
		if old = l.begin(peer, l.sessions); old == nil && l.cfg.Server {
			l.dismiss(peer)
		}
	case renewed == nil && old.up && l.cfg.Server && isClientHello(b):
		// The peer may have begun anew, or somebody pretends that. Who cannot
		// end a handshake does no harm to the session there is (RFC 6347, section 4.2.8).
		renewed = l.begin(peer, l.renewing)
	}
	if !ofHandshake(b) {
		l.stats.Clear++
		return
	}
	if renewed != nil {
		renewed.pipe.in.Write(b, nil)
		if epoch(b) == 0 {
			return
		}
	}
	if old != nil {
		old.pipe.in.Write(b, nil)
	}
}

// ofHandshake reports whether all records of a datagram that are in the clear can be of a handshake.
// pion/dtls ends the session over any other, also when it is up: it answers with a fatal alert, which the
// real peer believes. Anybody could have sent such a record.
func ofHandshake(b []byte) bool {
	const changeCipherSpec, alert, handshake = 20, 21, 22
	for len(b) >= 13 {
		size := int(b[11])<<8 | int(b[12])
		if 13+size > len(b) {
			return true // pion/dtls drops the whole datagram
		}
		if epoch(b) == 0 {
			switch b[0] {
			case alert, handshake:
			case changeCipherSpec:
				if size != 1 || b[13] != 1 {
					return false
				}
			default:
				return false
			}
		}
		b = b[13+size:]
	}
	return true
}

// epoch is that of a record: 0 during a handshake.
func epoch(b []byte) uint16 {
	if len(b) < 13 {
		return 0
	}
	return uint16(b[3])<<8 | uint16(b[4])
}

// isClientHello tells the first message of a handshake by its content type, epoch and handshake type.
func isClientHello(b []byte) bool { return len(b) > 13 && b[0] == 22 && epoch(b) == 0 && b[13] == 1 }

// appear notes a peer of the link below. A client begins to speak to it; a server waits.
func (l *Link) appear(peer int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.below[peer] = true
	if !l.cfg.Server && l.sessions[peer] == nil {
		l.begin(peer, l.sessions)
	}
}

// begin begins a session; nil if there is no room. The caller holds mu.
func (l *Link) begin(peer int, in map[int]*session) *session {
	if l.closed {
		return nil
	}
	from := origin(l.inner.RemoteAddr(peer))
	verdict := l.door.Enter(from, 0)
	if verdict == door.Full && l.cfg.Server {
		// The oldest handshake is the least likely to come to an end.
		if s, _, ok := l.shaking.Oldest(); ok {
			l.stats.Evicted++
			s.evicted = true
			l.notes.Bite("Handshakes, oldest", "the oldest handshakes are given up", s.from.String)
			s.leave()
			s.pipe.Close()
			verdict = l.door.Enter(from, 0)
		}
	}
	if verdict != door.In {
		limit := map[door.Verdict]string{door.Full: "Handshakes", door.Crowded: "PerAddress"}[verdict]
		l.notes.Bite(limit, "beginnings of handshakes are turned away",
			func() string { return fmt.Sprint(l.inner.RemoteAddr(peer)) })
		return nil
	}
	s := newSession(l, peer)
	s.from, s.inside = from, true
	l.shaking.Add(s, 0)
	s.renewal = l.sessions[peer] != nil
	in[peer] = s
	l.running.Go(s.run)
	return s
}

// origin returns the address by which a peer is counted; a peer without an IP address is not
// counted.
func origin(a net.Addr) netip.Addr {
	if u, ok := a.(*net.UDPAddr); ok {
		return door.Origin(u.AddrPort().Addr())
	}
	return netip.Addr{}
}

// retry is how long a client waits before it begins anew.
const retry = time.Second

// beginAgain has a client try again after a while, as long as the peer is there below.
func (l *Link) beginAgain(peer int) {
	if l.cfg.Server {
		return
	}
	time.AfterFunc(retry, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.below[peer] && l.sessions[peer] == nil {
			l.begin(peer, l.sessions)
		}
	})
}

// dismiss takes the place of a peer below away, if the link there can do that.
func (l *Link) dismiss(peer int) {
	if d, ok := l.inner.(interface{ Drop(peer int) }); ok {
		d.Drop(peer)
	}
}

// Drop ends a peer. Receive announces its loss if it was announced, and a server gives its place
// away.
func (l *Link) Drop(peer int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range []*session{l.sessions[peer], l.renewing[peer]} {
		if s != nil {
			s.pipe.Close()
		}
	}
}

// drop ends the session of a peer that is gone below.
func (l *Link) drop(peer int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.below, peer)
	for _, s := range []*session{l.sessions[peer], l.renewing[peer]} {
		if s != nil {
			s.lostBelow = true
			s.pipe.Close()
		}
	}
}

// settled notes that a handshake has come to an end.
func (l *Link) settled(s *session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.leave()
	if err != nil && !l.closed {
		l.stats.Failed++
		if errors.Is(err, context.DeadlineExceeded) {
			l.notes.Bite("Handshake", "handshakes that take longer are given up", s.from.String)
		}
		l.lastErr = err
	}
	if g, ok := l.inner.(transport.Guarded); ok && err == nil && l.cfg.Server && !s.lostBelow {
		g.Confirm(s.peer)
	}
}

// leave ends the time of a handshake. The caller holds mu.
func (s *session) leave() {
	if s.inside {
		s.inside = false
		s.link.door.Leave(s.from)
		s.link.shaking.Remove(s)
	}
}

// forget takes a session out.
func (l *Link) forget(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range []map[int]*session{l.sessions, l.renewing} {
		if m[s.peer] == s {
			delete(m, s.peer)
		}
	}
	if l.cfg.Server && !s.lostBelow && !l.closed && l.sessions[s.peer] == nil {
		l.dismiss(s.peer)
	}
}

// all returns every session. The caller holds mu.
func (l *Link) all() (all []*session) {
	for _, m := range []map[int]*session{l.sessions, l.renewing} {
		for _, s := range m {
			all = append(all, s)
		}
	}
	return all
}

// end says that nothing is received any more, and why.
func (l *Link) end(why error) {
	l.mu.Lock()
	l.closed = true
	for _, s := range l.all() {
		s.pipe.Close()
	}
	l.mu.Unlock()
	l.in.stop(why)
}

// Stats returns the totals, and the reason of the last handshake that failed, or nil.
func (l *Link) Stats() (Stats, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, c := l.stats, l.door.Counts()
	s.Refused, s.Crowded = c[door.Full]-s.Evicted, c[door.Crowded]
	s.Dropped = l.in.dropped()
	s.Shaking = l.shaking.Len()
	for _, one := range l.sessions {
		if one.up {
			s.Peers++
		}
	}
	return s, l.lastErr
}

// Counts implements [transport.Counted].
func (l *Link) Counts() []transport.Count {
	s, _ := l.Stats()
	all := []transport.Count{
		{Name: "dtls_peers", Help: "Peers whose handshake has ended", Level: true, Value: uint64(s.Peers)},
		{Name: "dtls_handshakes", Help: "Handshakes that are under way", Level: true, Value: uint64(s.Shaking)},
		{Name: "dtls_failed", Help: "Handshakes that did not come to their end", Value: s.Failed},
		{Name: "dtls_refused", Value: s.Refused,
			Help: "Beginnings of handshakes turned away because too many were under way"},
		{Name: "dtls_crowded", Value: s.Crowded,
			Help: "Beginnings of handshakes turned away because too many of their address were under way"},
		{Name: "dtls_evicted", Help: "Handshakes given up because others began", Value: s.Evicted},
		{Name: "dtls_foreign", Help: "Datagrams of new peers that begin no handshake", Value: s.Foreign},
		{Name: "dtls_clear", Help: "Datagrams with a record in the clear that belongs to no handshake", Value: s.Clear},
		{Name: "dtls_dropped", Help: "Received frames that found no room", Value: s.Dropped},
	}
	if c, ok := l.inner.(transport.Counted); ok {
		all = append(all, c.Counts()...)
	}
	return all
}

// Identity says who a peer is, and whether it has one and is there.
func (l *Link) Identity(peer int) (tlslink.Identity, bool) {
	if s := l.ready(peer); s != nil {
		return s.identity, true
	}
	return tlslink.Identity{}, false
}

// ready returns the session of a peer whose handshake has ended.
func (l *Link) ready(peer int) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sessions[peer]; s != nil && s.up {
		return s
	}
	return nil
}

// Properties implements [transport.Link]. DTLS recognises frames that arrive
// twice, and drops what comes faster than it is taken.
func (l *Link) Properties() transport.Properties {
	p := l.inner.Properties()
	p.Duplicating, p.Reliable = false, false
	p.Peers = max(p.Peers, 1)
	p.MaxFrame = min(p.MaxFrame, maxRecord) - Overhead
	if l.inner.Properties().MaxFrame == 0 {
		p.MaxFrame = maxRecord - Overhead
	}
	return p
}

const maxRecord = 1 << 14

// Receive implements [transport.Link].
func (l *Link) Receive(buf []byte) (transport.Arrival, error) { return l.in.take(buf) }

// Interrupt implements [transport.Link].
func (l *Link) Interrupt(at time.Time) { l.in.interrupt(at) }

// Send implements [transport.Link]. The frame leaves at once: a datagram is a record.
func (l *Link) Send(peer int, frame []byte) error {
	p := l.Properties()
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	switch {
	case closed:
		return transport.ErrClosed
	case len(frame) > p.MaxFrame:
		return fmt.Errorf("%w: %d bytes, at most %d fit into a datagram with DTLS", transport.ErrFrameTooLong,
			len(frame), p.MaxFrame)
	case peer == transport.All:
		return l.sendAll(frame)
	}
	s := l.ready(peer)
	if s == nil {
		return transport.ErrNoPeer
	}
	return s.send(frame)
}

func (l *Link) sendAll(frame []byte) error {
	l.mu.Lock()
	var all []*session
	for _, s := range l.sessions {
		if s.up {
			all = append(all, s)
		}
	}
	l.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.send(frame))
	}
	return errors.Join(errs...)
}

// Flush implements [transport.Link].
func (l *Link) Flush() error { return nil }

// Close implements [transport.Link]: it tells every peer that nothing follows.
func (l *Link) Close() error { return l.release(true) }

// Abort implements [transport.Link].
func (l *Link) Abort() error { return l.release(false) }

func (l *Link) release(orderly bool) error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	all := l.all()
	conns := make([]*dtls.Conn, len(all))
	for i, s := range all {
		conns[i] = s.conn
	}
	l.mu.Unlock()
	l.in.stop(transport.ErrClosed)
	if !first {
		return nil
	}
	for i, s := range all {
		if orderly && conns[i] != nil {
			conns[i].Close()
		}
		s.pipe.Close()
	}
	var err error
	if orderly {
		err = l.inner.Close()
	} else {
		err = l.inner.Abort()
	}
	l.running.Wait()
	return err
}

// LocalAddr implements [transport.Link].
func (l *Link) LocalAddr() net.Addr { return l.inner.LocalAddr() }

// RemoteAddr implements [transport.Link].
func (l *Link) RemoteAddr(peer int) net.Addr { return l.inner.RemoteAddr(peer) }
