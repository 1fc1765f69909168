package capi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// places are the numbers that connections get: the least that is free.
type places struct {
	mu    sync.Mutex
	first fsm.Peer
	taken []bool
	freed chan struct{} // closed when one is free again; nil while nobody waits
}

func (p *places) take() (fsm.Peer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, taken := range p.taken {
		if !taken {
			p.taken[i] = true
			return p.first + fsm.Peer(i), true
		}
	}
	return 0, false
}

func (p *places) free(n fsm.Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken[n-p.first] = false
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}

// wait is take for a connection that was let in: a link that has given way to it, or has ended, is
// still there for a moment. It reports false when ctx ends.
func (p *places) wait(ctx context.Context) (fsm.Peer, bool) {
	for {
		p.mu.Lock()
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		if n, ok := p.take(); ok {
			return n, true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return 0, false
		}
	}
}

// number gives a link a number. Who reads from a socket for many peers cannot wait for one.
func (p *places) number(ctx context.Context, l transport.Link) (fsm.Peer, bool) {
	if _, ok := l.(*spread); ok {
		return p.take()
	}
	return p.wait(ctx)
}

// handshakeLimit is how long a connection has for its first acceptable message, unless `.handshake`
// says something else: that is then the business of the driver. The links below have the same limit
// for peers of datagrams.
var handshakeLimit = 10 * time.Second

// held is a link that was let in: it says when it is given up, and ends when its peer has said nothing
// acceptable in time.
type held struct {
	transport.Link
	once      sync.Once
	up        func()
	confirmed func()      // may be nil
	limit     *time.Timer // nil: no limit
	late      atomic.Bool
}

// hold has m's peer in a link; up is called when the link is given up, and confirmed, which may be nil,
// when the machine has accepted a message.
func hold(m *Machine, l transport.Link, up, confirmed func()) *held {
	h := &held{Link: l, up: up, confirmed: confirmed}
	if _, datagrams := l.(*spread); !datagrams && !m.ownHandshake {
		h.limit = time.AfterFunc(handshakeLimit, func() {
			h.late.Store(true)
			h.Link.Abort()
		})
	}
	return h
}

func (h *held) ended() {
	if h.limit != nil {
		h.limit.Stop()
	}
	h.up()
}

// Receive implements [transport.Link].
func (h *held) Receive(buf []byte) (transport.Arrival, error) {
	got, err := h.Link.Receive(buf)
	if err != nil && err != transport.ErrInterrupted && h.late.Load() {
		err = transport.ErrYielded
	}
	return got, err
}

func (h *held) Close() error {
	h.once.Do(h.ended)
	return h.Link.Close()
}

func (h *held) Abort() error {
	h.once.Do(h.ended)
	return h.Link.Abort()
}

// Guard implements [transport.Guarded]: a connection that says nothing gives way to others. For a peer
// of datagrams the server has set a guard already.
func (h *held) Guard(valid func(frame []byte) bool) {
	if g, ok := h.Link.(transport.Guarded); ok {
		g.Guard(valid)
	}
}

// Confirm implements [transport.Guarded]: a peer of datagrams keeps its place.
func (h *held) Confirm(int) {
	if h.limit != nil {
		h.limit.Stop()
	}
	if h.confirmed != nil {
		h.confirmed()
	}
	switch l := h.Link.(type) {
	case *spread:
		l.confirm()
	case transport.Guarded:
		l.Confirm(0)
	}
}

// acceptor waits for connections.
type acceptor struct {
	ln   *tcp.Listener
	wrap Wrap
	text linkText
	// opening, if it has a Size, is what a connection has to send before it is handed on.
	opening transport.Opening
	done    atomic.Bool  // nobody is waited for any more
	told    atomic.Int64 // connections that were not let in
}

// close says that nobody is waited for any more.
func (a *acceptor) close() {
	a.done.Store(true)
	a.ln.Close()
}

func (a *acceptor) at() string { return a.ln.Addr().String() }

// listen listens for at most most connections at a time, to machines such as m. The option `opening` has
// a connection send a whole frame first.
func listen(link string, most int, m *Machine) (*acceptor, error) {
	t, err := parseLink(link)
	if err != nil {
		return nil, err
	}
	inner, wrap := layered(t.kind)
	if inner != "tcp" {
		return nil, fmt.Errorf("%q: want tcp:ADDRESS:PORT, or tls: where the library has it; "+
			"over datagrams Connect takes who sends something, and a server has a machine for each", link)
	}
	var opening transport.Opening
	if t.o.Has("opening") && t.o.Bool("opening") {
		opening = m.opening(t.channel)
	}
	if err := t.tried(wrap, true); err != nil {
		return nil, err
	}
	ln, err := tcp.Listen("tcp", t.address, tcp.Config{MaxLinks: most})
	if err != nil {
		return nil, err
	}
	return &acceptor{ln: ln, wrap: wrap, text: t, opening: opening}, nil
}

// opening is what has to come first over a link.
func (m *Machine) opening(channel string) transport.Opening {
	first := transport.Opening{Size: m.r.FrameSize, Max: m.info.MaxFrame}
	several, ok := m.r.(fsm.Channeled)
	if !ok {
		return first
	}
	for k, c := range m.info.Channels {
		if c.Name == m.joint(0, channel).channel {
			first.Size = func(b []byte) (int, error) { return several.FrameSizeOn(k, b) }
			first.Max = cmp.Or(c.MaxFrame, first.Max)
		}
	}
	return first
}

// tried refuses options that are wrong before a connection is made.
func (t linkText) tried(wrap Wrap, server bool) error {
	if wrap == nil {
		return t.o.End()
	}
	if _, err := wrap(context.Background(), nil, server, t.o); err != nil {
		return err
	}
	return t.o.End()
}

// run accepts until ctx ends, and gives each connection to took, in a goroutine of its own: a
// handshake that takes its time keeps nobody waiting.
func (a *acceptor) run(ctx context.Context, took func(transport.Link), failed func(error)) {
	defer a.ln.Close()
	for {
		l, err := a.ln.Accept(ctx)
		if err != nil {
			if ctx.Err() == nil && !a.done.Load() {
				failed(err)
			}
			return
		}
		l.Guard(nil) // one that comes to no end with what follows gives way to others
		go func() {
			if inside, err := a.secure(ctx, l); err != nil {
				a.turnedAway(err, failed)
			} else {
				took(inside)
			}
		}()
	}
}

// mostTold is how many strangers that were turned away become events.
const mostTold = 16

// turnedAway tells that a connection was not let in, a few times.
func (a *acceptor) turnedAway(why error, failed func(error)) {
	switch n := a.told.Add(1); {
	case n < mostTold:
		failed(why)
	case n == mostTold:
		failed(fmt.Errorf("%w; others may follow untold", why))
	}
}

// secure puts the layer around a connection, and waits for its first frame if it has to send one.
func (a *acceptor) secure(ctx context.Context, l transport.Link) (inside transport.Link, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Abort()
			err = fault(p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	if a.wrap != nil {
		o, err := parseLink(a.text.text) // parameters are taken once, and by one goroutine
		if err != nil {
			return nil, err
		}
		if l, err = a.wrap(ctx, l, true, o.o); err != nil {
			return nil, err
		}
	}
	if a.opening.Size != nil {
		return a.opening.Await(ctx, l)
	}
	return l, nil
}

// Serve gives the machine each connection that comes to a TCP address, as the link to the peer with
// the least free number from first to last; those beyond are closed at once. It returns the
// address with its port, and does not wait for connections.
func (m *Machine) Serve(first, last fsm.Peer, link string) (string, error) {
	var address string
	err := m.serve(first, last, link, false, func(at string) error { address = at; return nil })
	return address, err
}

// Listen is Serve for one peer alone: nobody is waited for any more when the machine has accepted a
// message. Until then a connection that says nothing gives way to the next one.
func (m *Machine) Listen(peer fsm.Peer, link string) (string, error) {
	var address string
	err := m.serve(peer, peer, link, true, func(at string) error { address = at; return nil })
	return address, err
}

// serve tells the address before anybody is let in; an error of told is returned, and then nothing
// has happened.
func (m *Machine) serve(first, last fsm.Peer, link string, once bool, told func(address string) error) error {
	for _, p := range []fsm.Peer{first, last} {
		if err := m.known(p); err != nil {
			return err
		}
	}
	if last < first {
		return fmt.Errorf("from peer %d to peer %d: there is none", first, last)
	}
	if first < last {
		if err := m.alone(); err != nil {
			return err
		}
	}
	n := int(last-first) + 1
	a, err := listen(link, n, m)
	if err != nil {
		return err
	}
	if err := m.serves(); err != nil {
		a.ln.Close()
		return err
	}
	if err := told(a.ln.Addr().String()); err != nil {
		a.ln.Close()
		m.serving.Done()
		return err
	}
	free := &places{first: first, taken: make([]bool, n)}
	var found func()
	if once {
		found = a.close
	}
	took := func(l transport.Link) {
		peer, ok := free.wait(m.life)
		if !ok {
			l.Abort()
			return
		}
		if err := m.join(m.joint(peer, a.text.channel), hold(m, l, func() { free.free(peer) }, found)); err != nil {
			m.put(Event{Kind: Refused, Peer: peer, Text: err.Error()})
		}
	}
	go func() {
		defer m.serving.Done()
		a.run(m.life, took, func(err error) { m.put(Event{Kind: Refused, Peer: first, Text: err.Error()}) })
	}()
	return nil
}

// serves notes one more listener, for whose end the machine waits at its own.
func (m *Machine) serves() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life.Err() != nil {
		return m.stopped(driver.ErrStopped)
	}
	m.serving.Add(1)
	return nil
}

// Server runs a machine for each connection, all of them with the same parameters. Every machine
// knows its peer by the number 0; in the events of the server, and in its calls, a number from 0
// says whose machine it is.
type Server struct {
	name, params string
	q            *queue
	life         context.Context
	fail         context.CancelCauseFunc
	free         *places
	from         arrivals
	ended        chan struct{}

	mu       sync.Mutex
	sessions map[fsm.Peer]*Machine
	running  sync.WaitGroup // machines of connections, and who lets them in
	closed   bool
}

// MaxSessions is the most connections of a Server.
const MaxSessions = 10000

// arrivals is where the links of a server come from, until ctx ends.
type arrivals interface {
	at() string
	run(ctx context.Context, took func(transport.Link), failed func(error))
}

// source is where the connections to a link come from, or the peers of one over datagrams.
func source(ctx context.Context, link string, most int, trial *Machine) (arrivals, error) {
	t, err := parseLink(link)
	if err != nil {
		return nil, err
	}
	if inner, _ := layered(t.kind); inner != "udp" {
		return listen(link, most, trial)
	}
	return gather(ctx, t, most, valid(trial.r))
}

// alone refuses a protocol with several channels for a server of many peers.
func (m *Machine) alone() error {
	if len(m.info.Channels) == 0 {
		return nil
	}
	return fmt.Errorf("%s has several channels, and nothing says which of many connections are those of one peer: "+
		"connect each peer by itself, or use a driver.Host in Go", m.info.Protocol)
}

// OpenServer makes a server for at most most connections at a time to a TCP address, or so many peers
// of a UDP address, and of what is around them, and returns the address with its port. A peer of a
// link of datagrams that has been silent for its limit is lost.
func OpenServer(name, params string, most int, link string) (*Server, string, error) {
	if most < 1 || most > MaxSessions {
		return nil, "", fmt.Errorf("%d connections: a server has 1 to %d", most, MaxSessions)
	}
	q := &queue{}
	s := &Server{name: name, params: params, q: q, sessions: map[fsm.Peer]*Machine{},
		free: &places{taken: make([]bool, most)}, ended: make(chan struct{})}
	s.life, s.fail = context.WithCancelCause(context.Background())
	q.stop = s.fail
	trial, err := open(s.life, name, params, q, 0) // what is wrong with the parameters is found now
	if err != nil {
		return nil, "", err
	}
	if err := trial.alone(); err != nil {
		return nil, "", err
	}
	if len(trial.links) > 0 {
		for _, l := range trial.links {
			l.Abort()
		}
		return nil, "", fmt.Errorf("%s has a link of its own: open it as a machine", name)
	}
	a, err := source(s.life, link, most, trial)
	if err != nil {
		return nil, "", err
	}
	s.from = a
	s.running.Go(func() {
		a.run(s.life, s.take, func(err error) { q.put(Event{Kind: Refused, Peer: fsm.Broadcast, Text: err.Error()}) })
	})
	context.AfterFunc(s.life, s.end)
	return s, a.at(), nil
}

// take makes a machine for a connection.
func (s *Server) take(l transport.Link) {
	n, ok := s.free.number(s.life, l)
	if !ok {
		l.Abort()
		return
	}
	m, err := open(s.life, s.name, s.params, s.q, n)
	if err == nil {
		m.lost = m.d.Stop
		err = m.d.Attach(0, hold(m, l, m.d.Stop, nil)) // the machine may close its link itself
		m.links[joint{}] = l
	} else {
		l.Abort()
	}
	s.mu.Lock()
	if err == nil && s.closed {
		err = driver.ErrStopped
	}
	if err != nil {
		s.mu.Unlock()
		s.free.free(n)
		s.q.put(Event{Kind: Refused, Peer: n, Text: err.Error()})
		return
	}
	s.sessions[n] = m
	s.running.Add(1)
	s.mu.Unlock()
	m.run(func(e Event) {
		defer s.running.Done()
		s.mu.Lock()
		delete(s.sessions, n)
		s.mu.Unlock()
		s.q.put(e)
		s.free.free(n)
	})
}

// end ends all machines and then the events.
func (s *Server) end() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait() // their lives end with the server's
	text := "closed"
	if why := context.Cause(s.life); !errors.Is(why, context.Canceled) {
		text = why.Error()
	}
	s.q.end(Event{Kind: Stopped, Peer: fsm.Broadcast, Text: text})
	close(s.ended)
}

// of is the machine of a connection.
func (s *Server) of(n fsm.Peer) (*Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.sessions[n]; m != nil {
		return m, nil
	}
	return nil, noConnection(n)
}

func noConnection(n fsm.Peer) error { return fmt.Errorf("there is no connection %d", n) }

// Disconnect closes a connection, and waits until its machine has heard of it. The machine ends then.
func (s *Server) Disconnect(n fsm.Peer) error {
	m, err := s.of(n)
	if err != nil {
		return err
	}
	if !m.linked(0) { // it has been lost a moment ago
		return noConnection(n)
	}
	if err := m.d.Detach(0); err != nil {
		return m.stopped(err)
	}
	err = m.d.Read(m.life, func(fsm.Commander) {})
	if errors.Is(err, driver.ErrStopped) || errors.Is(err, context.Canceled) {
		<-m.ended // sooner than it could answer
		return nil
	}
	return err
}

// Poll is Machine.Poll for the events of all connections.
func (s *Server) Poll(wait time.Duration, most int) (Event, error) { return s.q.poll(wait, most) }

// Close ends all machines, closes their links in good order, and waits for that. Nobody listens then any more.
func (s *Server) Close() {
	s.fail(nil)
	<-s.ended
}
