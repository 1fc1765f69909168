// Package capi is the runtime for clients in C and C++: machines behind
// handles, everything that happens as data. A program of a few lines registers the
// machines it wants and is built as a C library; see examples/c.
//
// It knows no protocol. What is here is Go and can be tested as Go; exports.go
// gives it C's names, and parley.h documents them. Start from [Register].
package capi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// New makes a machine from its parameters. It takes each with a method of p; an error
// among these is found by the caller.
type New func(p *Params) (fsm.Commander, error)

var registry = struct {
	sync.Mutex
	news map[string]New
}{news: map[string]New{}}

// Register makes a machine known to callers by a name such as "confirm.peer". It is
// called by init functions, and panics if the name is taken.
func Register(name string, f New) {
	registry.Lock()
	defer registry.Unlock()
	if registry.news[name] != nil {
		panic("capi: " + name + " is registered twice")
	}
	registry.news[name] = f
}

// Kind is the kind of an event. The numbers are those of parley.h.
type Kind int32

// Kinds of events.
const (
	None     Kind = iota
	Report        // Text is the report, such as `changed{item: 3}`
	State         // Text is the state that the machine has entered
	LinkUp        // Peer can be reached
	LinkLost      // Text says why
	Refused       // Text says which event was refused, or what else went wrong
	Frame         // Data is a frame for Peer, on an own link
	Stopped       // the machine takes nothing any more; Text says why
)

// Event is one thing that has happened.
type Event struct {
	Kind Kind
	Peer fsm.Peer // whom a frame is for, and whose link it is; fsm.Broadcast for everybody
	Text string
	Data []byte
}

// MaxEvents is the greatest number of events that can wait to be polled. A machine with more is
// stopped: no event is dropped.
const MaxEvents = 4096

// Errors of the calls.
var (
	ErrRefused  = errors.New("refused")
	ErrNoHandle = errors.New("there is no such machine")
	ErrTimeout  = errors.New("nothing within the time")
	ErrShort    = errors.New("the buffer is too small")
)

// Machine is a machine with its driver and its queue of events.
type Machine struct {
	d      *driver.Driver[fsm.Commander]
	cancel context.CancelCauseFunc
	ended  chan struct{}
	more   chan struct{} // capacity 1: something waits

	mu      sync.Mutex
	events  []Event
	own     map[fsm.Peer]transport.Link // other ends of own links
	closing []func()
	full    bool
}

// Open makes a machine by its registered name and runs it. params are those of its New, and of the
// driver: idle and handshake in milliseconds, names with a dot before them: `.idle: 5000`.
func Open(name, params string) (*Machine, error) {
	registry.Lock()
	f := registry.news[name]
	names := slices.Sorted(maps.Keys(registry.news))
	registry.Unlock()
	if f == nil {
		return nil, fmt.Errorf("there is no machine %q; there are %s", name, strings.Join(names, ", "))
	}
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	m := &Machine{ended: make(chan struct{}), more: make(chan struct{}, 1), own: map[fsm.Peer]transport.Link{}}
	o := m.options()
	for name, at := range map[string]*time.Duration{".idle": &o.IdleLimit, ".handshake": &o.HandshakeLimit} {
		if p.Has(name) {
			*at = time.Duration(p.Int(name, 0, 1<<31)) * time.Millisecond
		}
	}
	r, err := f(p)
	if bad := p.End(); bad != nil {
		err = bad
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.d = driver.New(r, o)
	ctx, cancel := context.WithCancelCause(context.Background())
	m.cancel = cancel
	go func() {
		err := m.d.Run(ctx)
		text := "final state"
		if err != nil {
			text = err.Error()
		}
		m.put(Event{Kind: Stopped, Peer: fsm.Broadcast, Text: text})
		close(m.ended)
	}()
	return m, nil
}

// options say what becomes an event.
func (m *Machine) options() driver.Options[fsm.Commander] {
	return driver.Options[fsm.Commander]{
		OnReport: func(r fsm.Commander, i int) {
			m.put(Event{Kind: Report, Peer: fsm.Broadcast, Text: strings.TrimPrefix(string(r.AppendEffect(nil, i)), "report ")})
		},
		OnState: func(r fsm.Commander, _, to uint16) {
			m.put(Event{Kind: State, Peer: fsm.Broadcast, Text: r.Info().States[to]})
		},
		OnLink: func(_ fsm.Commander, peer fsm.Peer, up bool, why error) {
			e := Event{Kind: LinkUp, Peer: peer}
			if !up {
				e.Kind, e.Text = LinkLost, fmt.Sprint(why)
			}
			m.put(e)
		},
		OnError: func(_ fsm.Commander, err *driver.Error) {
			m.put(Event{Kind: Refused, Peer: err.Peer, Text: err.Error()})
		},
	}
}

// put queues an event. When there is no room the machine is stopped, which is
// the last event.
func (m *Machine) put(e Event) {
	m.mu.Lock()
	if m.full && e.Kind != Stopped {
		m.mu.Unlock()
		return
	}
	full := len(m.events) >= MaxEvents
	if !full || e.Kind == Stopped {
		m.events = append(m.events, e)
	}
	m.full = m.full || full
	m.mu.Unlock()
	if full {
		m.cancel(fmt.Errorf("%d events wait and nobody takes them", MaxEvents))
	}
	select {
	case m.more <- struct{}{}:
	default:
	}
}

// Step gives a command as text and waits until it is carried out. The error wraps ErrRefused if it
// is not available now.
func (m *Machine) Step(command string) error {
	var bad error
	res, err := m.d.Do(context.Background(), func(r fsm.Commander) fsm.Result {
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
	return err
}

// Poll takes the oldest event. It waits for at most wait, or for ever if wait is negative. If no
// event comes the error is ErrTimeout. An event with more than most bytes stays in the queue, and
// the error is ErrShort.
func (m *Machine) Poll(wait time.Duration, most int) (Event, error) {
	var timeout <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timeout = t.C
	}
	for {
		if e, ok, err := m.take(most); ok {
			return e, err
		}
		if wait == 0 {
			return Event{}, ErrTimeout
		}
		select {
		case <-m.more:
		case <-timeout:
			wait = 0 // one look more
		}
	}
}

func (m *Machine) take(most int) (e Event, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.events) == 0 {
		return Event{}, false, nil
	}
	e = m.events[0]
	if n := len(e.Text) + len(e.Data); n > most {
		return e, true, fmt.Errorf("%w: the event has %d bytes", ErrShort, n)
	}
	m.events = m.events[1:]
	if len(m.events) == 0 {
		m.events = nil
	}
	return e, true, nil
}

// Text returns the machine's state and variables as text.
func (m *Machine) Text() (text string, err error) {
	err = m.d.Read(context.Background(), func(r fsm.Commander) { text = string(r.AppendMachine(nil)) })
	return text, err
}

// Close ends the machine, closes its links in good order and waits for that.
func (m *Machine) Close() {
	m.mu.Lock()
	closing := m.closing
	m.closing = nil
	m.mu.Unlock()
	for _, f := range closing {
		f()
	}
	m.d.Stop()
	<-m.ended
}
