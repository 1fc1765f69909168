// Package play lets a program take part in a protocol of two with few words: it connects or listens,
// runs the machine on the link, and calls a function for each report. Limits, timeouts and transports
// have defaults that fit the internet.
//
// The peer of a Session has the number 0, whatever numbers the two have in the checks of the protocol. So a
// machine with a parameter that says who the other one is gets 0 there.
//
// It adds nothing to package driver and the packages below transport, which a program uses itself as soon
// as it needs more: several peers, other transports, snapshots. Start from [Dial] and [Listen].
package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// Handlers are told what the machine reports. The generator writes a struct for each role that has
// reports, such as PeerHandlers; a pointer to it is one. nil is told nothing.
type Handlers[R fsm.Runner] interface {
	// OnReport is called for effect i of r's last step, by the goroutine that runs the machine. It
	// must not wait, and must not call Give.
	OnReport(r R, i int)
}

// Options are what a program may choose. The zero value is usable.
type Options struct {
	// Handshake is how long the peer may take for its first message, 0 for ten seconds, negative for
	// ever.
	Handshake time.Duration
	// Idle is how long the peer may be silent after that, 0 for ever. Over UDP a peer that connected
	// is lost after 45 seconds of silence in any case.
	Idle time.Duration
	// Record gets a line for each step, for fsmgen replay. May be nil.
	Record io.Writer
	// Name is that of this end in records and logs. May be empty.
	Name string
	// Logger is told of links, errors and limits that bite. May be nil.
	Logger *slog.Logger
	// Peers is how many addresses may answer what Dial sends over UDP, 0 for the one that is dialled alone. The
	// others are numbered 1 and on as they are heard: TFTP's server answers from a port of its own. With more than
	// one, the loss of a peer does not end the session.
	Peers int
	// HandOver gets the connection, over TCP, if the machine has come to a final state and what the peer sends is
	// no messages any more, as behind a proxy's answer. May be nil; then it is closed.
	HandOver func(conn net.Conn)
}

// handshake is how long a peer may take for its first message by default.
const handshake = 10 * time.Second

// handshake is the limit as the driver has it: 0 for none.
func (o Options) handshake() time.Duration {
	if o.Handshake == 0 {
		return handshake
	}
	return max(o.Handshake, 0)
}

// Session is one machine and its links. All methods may be called by any goroutine.
type Session[R fsm.Runner] struct {
	d     *driver.Driver[R]
	ended chan struct{} // closed when err is set

	mu  sync.Mutex
	why error // what went wrong first
	err error
}

// Dial connects to a peer over tcp or udp (tcp4, udp6 and so on) at host:port, and runs the machine until
// it has ended, the link is lost, or ctx ends. Over UDP it returns at once, whether somebody is there or
// not. It is an error if the protocol needs more than the network promises, if it has several channels, see
// DialChannels, or if the machine begins in a final state.
func Dial[R fsm.Runner](ctx context.Context, network, address string, r R, h Handlers[R],
	o Options) (*Session[R], error) {
	if err := errors.Join(one(r.Info()), unended(r)); err != nil {
		return nil, err
	}
	link, err := dial(ctx, network, address, o)
	if err != nil {
		return nil, err
	}
	return start(ctx, nil, []transport.Link{link}, r, h, o)
}

func dial(ctx context.Context, network, address string, o Options) (transport.Link, error) {
	switch {
	case streams[network]:
		return tcp.Dial(ctx, network, address, tcp.Config{Logger: o.Logger})
	case datagrams[network]:
		peers := max(o.Peers, 1)
		return udp.Open(network, "", udp.Config{Peers: []string{address},
			Limits: udp.Limits{MaxPeers: peers, Closed: peers == 1, Logger: o.Logger}})
	}
	return nil, unknown(network)
}

var (
	streams   = map[string]bool{"tcp": true, "tcp4": true, "tcp6": true}
	datagrams = map[string]bool{"udp": true, "udp4": true, "udp6": true}
)

func unknown(network string) error {
	return fmt.Errorf("play: there is no network %q; it is tcp or udp, or one of them with 4 or 6 behind it", network)
}

// Listener waits for peers.
type Listener struct {
	streams *tcp.Listener
	single  *udp.Link // nil once it is a session's
	mu      sync.Mutex
	places  []Place // of several channels; then doors wait at each, in this order
	doors   []*Listener
	host    atomic.Pointer[netip.Addr] // of the last session over several channels
}

// Listen waits for peers over tcp or udp at host:port. Over UDP one peer comes, whoever is first.
func Listen(network, address string, o Options) (*Listener, error) {
	return listen(network, address, o, nil)
}

func listen(network, address string, o Options, from func(netip.Addr) bool) (*Listener, error) {
	switch {
	case streams[network]:
		l, err := tcp.Listen(network, address, tcp.Config{Logger: o.Logger})
		return &Listener{streams: l}, err
	case datagrams[network]:
		l, err := udp.Open(network, address, udp.Config{From: from, Limits: udp.Limits{MaxPeers: 1, Logger: o.Logger}})
		return &Listener{single: l}, err
	}
	return nil, unknown(network)
}

// Addr returns the address at which the listener waits, nil after a session of UDP has begun. Of several channels
// it is that of the first place, see AddrOf.
func (l *Listener) Addr() net.Addr {
	if len(l.doors) > 0 {
		return l.doors[0].Addr()
	}
	if l.streams != nil {
		return l.streams.Addr()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.single == nil {
		return nil
	}
	return l.single.LocalAddr()
}

// Close ends waiting. Sessions that have begun go on.
func (l *Listener) Close() error {
	var err error
	for _, d := range l.doors {
		err = errors.Join(err, d.Close())
	}
	if len(l.doors) > 0 {
		return err
	}
	if l.streams != nil {
		return l.streams.Close()
	}
	if link := l.take(); link != nil {
		return link.Close()
	}
	return nil
}

func (l *Listener) take() *udp.Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	link := l.single
	l.single = nil
	return link
}

// ErrTaken is returned by Accept when the one session over UDP has begun, or the listener is closed.
var ErrTaken = errors.New("play: over UDP a listener has one session, and it has begun")

// Accept waits for a peer and runs a machine for it, as Dial does. Over UDP it does not wait: the machine
// runs, and the peer comes up when it is heard.
func Accept[R fsm.Runner](ctx context.Context, l *Listener, r R, h Handlers[R], o Options) (*Session[R], error) {
	if err := unended(r); err != nil {
		return nil, err
	}
	if len(l.doors) > 0 {
		if err := each(r.Info(), l.places); err != nil {
			return nil, err
		}
		links, err := l.acceptAll(ctx, o)
		if err != nil {
			return nil, err
		}
		return start(ctx, l.places, links, r, h, o)
	}
	if err := one(r.Info()); err != nil {
		return nil, err
	}
	if l.streams != nil {
		link, err := l.streams.Accept(ctx)
		if err != nil {
			return nil, err
		}
		return start(ctx, nil, []transport.Link{link}, r, h, o)
	}
	link := l.take()
	if link == nil {
		return nil, ErrTaken
	}
	return start(ctx, nil, []transport.Link{link}, r, h, o)
}

// one reports an error if a protocol has several channels.
func one(info *fsm.Info) error {
	if len(info.Channels) > 0 {
		return fmt.Errorf("play: %s has several channels: call DialChannels or ListenChannels", info.Protocol)
	}
	return nil
}

// unended reports an error if a machine is in a final state before anything has happened. Its session would end at
// once, and Wait would call that a good end.
func unended[R fsm.Runner](r R) error {
	info := r.Info()
	if !info.Final[r.State()] {
		return nil
	}
	return fmt.Errorf("play: %s.%s begins in the final state %[3]s, so its session would end before it has begun; "+
		"take `final` from %[3]s, and let a check have it rest there with `quiet`, "+
		"or use package driver, which does not end there", info.Protocol, info.Role, info.States[r.State()])
}

// start runs a machine on its links, which belong to the session from now on; of several channels places says
// whose each is.
func start[R fsm.Runner](ctx context.Context, places []Place, links []transport.Link, r R, h Handlers[R],
	o Options) (*Session[R], error) {
	s := &Session[R]{ended: make(chan struct{})}
	opts := driver.Options[R]{StopAtFinal: true, Instance: o.Name, Logger: o.Logger,
		HandshakeLimit: o.handshake(), IdleLimit: o.Idle}
	if o.Record != nil {
		opts.Trace = []trace.Sink{trace.NewWriter(o.Record)}
	}
	if h != nil {
		opts.OnReport = h.OnReport
	}
	if o.HandOver != nil {
		opts.HandOver = func(_ R, _ fsm.Peer, conn net.Conn) { o.HandOver(conn) }
	}
	opts.OnLink = func(r R, _ fsm.Peer, up bool, why error) {
		if !up && o.Peers <= 1 {
			s.note(lost(r, why))
			s.d.Stop()
		}
	}
	opts.OnError = func(_ R, err *driver.Error) { s.note(err) }
	s.d = driver.New(r, opts)
	for i, link := range links {
		var err error
		if places == nil {
			err = s.d.Attach(0, link)
		} else {
			err = s.d.AttachOn(0, places[i].Channel, link)
		}
		if err != nil {
			return nil, errors.Join(err, abort(links))
		}
	}
	go func() {
		err := s.d.Run(ctx)
		s.mu.Lock()
		s.err = s.why
		if info := r.Info(); info.Final[r.State()] {
			s.err = nil
		} else if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
		close(s.ended)
	}()
	return s, nil
}

// lost says why a session has ended whose link was lost.
func lost[R fsm.Runner](r R, why error) error {
	if errors.Is(why, io.EOF) {
		return fmt.Errorf("play: the peer has gone in state %s: %w", r.Info().States[r.State()], why)
	}
	return why
}

// note keeps the first reason why the session will end.
func (s *Session[R]) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == nil {
		s.why = err
	}
}

// Give gives the machine a command: s.Give((*trade.PlayerRunner).Agree), or a function that calls a method
// with arguments. It returns an error if the machine refuses the command in its present state, or has
// ended.
func (s *Session[R]) Give(command func(R) fsm.Result) error {
	_, err := s.d.Do(context.Background(), command)
	return err
}

// Look calls f with the runner between two steps. f must not step it.
func (s *Session[R]) Look(f func(R)) error { return s.d.Read(context.Background(), f) }

// Done is closed when the session has ended.
func (s *Session[R]) Done() <-chan struct{} { return s.ended }

// Wait waits for the end of the session. It returns nil if the machine came to a final state, or if Close was
// called before anything went wrong. Else it returns what went wrong first: what the peer did, that it has
// gone, or that ctx has ended.
func (s *Session[R]) Wait() error {
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the session and its link, and waits until both have ended.
func (s *Session[R]) Close() error {
	s.d.Stop()
	return s.Wait()
}

// Driver returns what runs the machine, for all that a Session does not offer.
func (s *Session[R]) Driver() *driver.Driver[R] { return s.d }
