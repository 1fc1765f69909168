// Package capi is the runtime for clients in C and C++: machines behind
// handles, everything that happens as data. A program of a few lines registers the
// machines it wants and is built as a C library; see examples/c.
//
// It knows no protocol. What is here is Go and can be tested as Go; exports.go and parley.c
// give it C's names, and parley.h documents them. Start from [Register].
package capi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Errors of the calls.
var (
	ErrRefused  = errors.New("refused")
	ErrNoHandle = errors.New("there is no such machine")
	ErrTimeout  = errors.New("nothing within the time")
	ErrShort    = errors.New("the buffer is too small")
	ErrEnded    = errors.New("the machine has stopped, and its last event was taken")
)

// Machine is a machine with its driver and the events that wait. Any goroutine may call its methods.
type Machine struct {
	d     *driver.Driver[fsm.Commander]
	r     fsm.Commander // the machine itself; the driver's goroutine has it while it runs
	info  *fsm.Info
	q     *queue
	as    fsm.Peer        // the connection of a server that it is for; fsm.Broadcast if it is for itself
	lost  func()          // called when the link to a peer is lost, by a handler; may be nil
	among context.Context // that of the server whose machine it is, or never done
	life  context.Context
	fail  context.CancelCauseFunc // ends life and the driver
	ended chan struct{}

	ownHandshake bool // the program has said how long a handshake may take

	joining sync.Mutex     // held while a link is given to the driver, and while a frame is delivered
	serving sync.WaitGroup // its listeners
	mu      sync.Mutex
	verdict error                       // why the driver refused the link that is joining
	own     map[fsm.Peer]transport.Link // other ends of own links
	links   map[joint]transport.Link    // by the number of their first peer: for addresses
}

// Open makes a machine by its registered name and runs it. params are those of its New, and of the
// driver, with a dot before them: `.idle: 5000` and `.handshake: 2000` in milliseconds, 0 for no limit,
// `.keepRefused: true` and `.keepMalformed: true` as in driver.Options.
func Open(name, params string) (*Machine, error) {
	q := &queue{}
	m, err := open(context.Background(), name, params, q, fsm.Broadcast)
	if err != nil {
		return nil, err
	}
	q.stop = m.fail
	m.run(q.end)
	return m, nil
}

// open makes a machine, which does not run yet. Its events go to q.
func open(ctx context.Context, name, params string, q *queue, as fsm.Peer) (*Machine, error) {
	f, err := lookup(name)
	if err != nil {
		return nil, err
	}
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	m := &Machine{q: q, as: as, among: ctx, ended: make(chan struct{}),
		own: map[fsm.Peer]transport.Link{}, links: map[joint]transport.Link{}}
	m.ownHandshake = p.Has(".handshake")
	o := m.options()
	for name, at := range map[string]*time.Duration{".idle": &o.IdleLimit, ".handshake": &o.HandshakeLimit} {
		if p.Has(name) {
			*at = time.Duration(p.Int(name, 0, 1<<31)) * time.Millisecond
		}
	}
	for name, at := range map[string]*bool{".keepRefused": &o.KeepRefused, ".keepMalformed": &o.KeepMalformed} {
		*at = p.Has(name) && p.Bool(name)
	}
	dialing, done := context.WithTimeout(ctx, dialLimit)
	defer done()
	r, link, err := f(dialing, p)
	if bad := p.End(); bad != nil {
		err = bad
	}
	if err != nil {
		if link != nil {
			link.Abort()
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.info = r.Info()
	m.r, m.d = r, driver.New(r, o)
	if link != nil {
		m.links[m.joint(0, "")] = link
		if err := m.d.Attach(0, link); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	m.life, m.fail = context.WithCancelCause(ctx)
	return m, nil
}

// run runs the driver, and calls end with the last event.
func (m *Machine) run(end func(Event)) {
	go func() {
		err := m.drive()
		m.mu.Lock()
		m.fail(err) // whoever waits for the machine does so no longer, and nobody listens from now on
		m.mu.Unlock()
		m.serving.Wait()
		text := "closed"
		if err != nil && !errors.Is(err, context.Canceled) {
			text = err.Error()
		}
		end(Event{Kind: Stopped, Peer: m.as, Text: text})
		close(m.ended)
	}()
}

// drive runs the driver. A panic in a machine or a handler ends the machine, not the program.
func (m *Machine) drive() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault(p)
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, l := range m.links {
				if l != nil {
					l.Abort()
				}
			}
		}
	}()
	return m.d.Run(m.life)
}

// fault is a panic as an error.
func fault(p any) error {
	return fmt.Errorf("a fault inside the library, please report it: %v", p)
}

// put queues an event. For the machine of a server, its peer is the connection.
func (m *Machine) put(e Event) {
	if m.as >= 0 {
		e.Peer = m.as
	}
	m.q.put(e)
}

// options say what becomes an event.
func (m *Machine) options() driver.Options[fsm.Commander] {
	return driver.Options[fsm.Commander]{
		OnReport: func(r fsm.Commander, i int) {
			text := strings.TrimPrefix(string(r.AppendEffect(nil, i)), "report ")
			m.put(Event{Kind: Report, Peer: fsm.Broadcast, Text: text})
		},
		OnState: func(r fsm.Commander, _, to uint16) {
			m.put(Event{Kind: State, Peer: fsm.Broadcast, Text: r.Info().States[to]})
		},
		OnLink: func(_ fsm.Commander, peer fsm.Peer, up bool, why error) {
			e := Event{Kind: LinkUp, Peer: peer, Text: m.address(peer)}
			if !up {
				e.Kind, e.Text = LinkLost, fmt.Sprint(why)
				if why == nil {
					e.Text = "disconnected"
				}
				m.unlink(peer)
			}
			m.put(e)
			if !up && m.lost != nil {
				m.lost()
			}
		},
		OnError: func(_ fsm.Commander, err *driver.Error) {
			if err.Kind == driver.BadLink {
				m.mu.Lock()
				m.verdict = err
				m.mu.Unlock()
				return
			}
			m.put(Event{Kind: Refused, Peer: err.Peer, Text: err.Error()})
		},
	}
}

// Step gives a command as text and waits until it is carried out. The error wraps ErrRefused if it
// is not available now.
func (m *Machine) Step(command string) error {
	var bad error
	res, err := m.d.Do(m.life, func(r fsm.Commander) fsm.Result {
		var res fsm.Result
		res, bad = r.Command(command)
		return res
	})
	switch {
	case bad != nil:
		return bad
	case err != nil && res.Code == fsm.Refused:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return m.stopped(err)
}

// stopped says why a call failed whose machine came to its end meanwhile. That of a connection ends with
// it, so that a call comes too late as if it had never found the connection.
func (m *Machine) stopped(err error) error {
	switch ended := errors.Is(err, context.Canceled) || errors.Is(err, driver.ErrStopped); {
	case ended && m.as >= 0 && m.among.Err() == nil:
		return noConnection(m.as)
	case ended:
		return driver.ErrStopped
	}
	return err
}

// Poll takes the oldest event, waiting for one for at most wait, for ever if that is negative.
// Without one the error is ErrTimeout, and ErrEnded if the last one has been taken. An event with
// more than most bytes stays, and the error is ErrShort.
func (m *Machine) Poll(wait time.Duration, most int) (Event, error) { return m.q.poll(wait, most) }

// Text returns the machine's state and variables as text.
func (m *Machine) Text() (text string, err error) {
	err = m.d.Read(m.life, func(r fsm.Commander) { text = string(r.AppendMachine(nil)) })
	return text, m.stopped(err)
}

// Close ends the machine, closes its links in good order and waits for that. Nobody listens then any
// more. Whoever waits for something of it gets an error.
func (m *Machine) Close() {
	m.d.Stop()
	<-m.ended
}
