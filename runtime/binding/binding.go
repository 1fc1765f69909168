// Package binding lets a program change, while it goes on, which protocol it
// speaks and what carries it: Parsec's dynamic subsystem binding
// (000_57a3499f8efb85b3.txt, section 1.4; parsec facts e).
//
// Protocol and transport are two axes, each with a name for each choice, and a
// pair of them is bound at a time. To switch is always the same three steps:
// the bound system is killed, another pair is bound, and its system is
// initialised. The package knows no protocol and no link: a program says how its systems
// are made and uses them through an interface of its own. Start from [Binding];
// [Start] makes a system of a machine and its driver.
package binding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// A System is an initialised protocol on a transport. A program talks to it, whatever is bound, and
// adds its own methods to it.
type System interface {
	// Connected reports whether the system takes part in a session with
	// others. While it does, or if that cannot be told, nothing can be switched.
	Connected(ctx context.Context) (bool, error)
	// Kill leaves what is left to leave, closes the carrier, and ends every
	// goroutine of the system. It returns when that is done or ctx has ended; the system is
	// not used afterwards, whatever it returns.
	Kill(ctx context.Context) error
}

// A Protocol is one choice of the first axis.
type Protocol[S System, C io.Closer] struct {
	Name string
	// PeerToPeer: there is no server, all parties are equal.
	PeerToPeer bool
	// Init makes a running system. The carrier belongs to it from then on,
	// unless Init fails: then the binding closes it.
	Init func(ctx context.Context, carrier C) (S, error)
}

// A Transport is one choice of the second axis. What it opens is a
// transport.Link, or something that makes links, such as a listener.
type Transport[C io.Closer] struct {
	Name string
	// PeerToPeerOnly: protocols with a server cannot use it, as with IPX in Parsec (section 2.4.2).
	PeerToPeerOnly bool
	Open           func(ctx context.Context) (C, error)
}

// A Pair names a choice on each axis. As an argument, an empty name stands for what is bound.
type Pair struct{ Protocol, Transport string }

func (p Pair) String() string {
	if p == (Pair{}) {
		return "nothing"
	}
	return p.Protocol + " over " + p.Transport
}

// Reasons why nothing was switched; see [SwitchError]. The bound system is
// untouched.
var (
	ErrUnknown        = errors.New("no such name")
	ErrConnected      = errors.New("only possible while disconnected")
	ErrPeerToPeerOnly = errors.New("the transport is for peer-to-peer protocols only")
	ErrSwitching      = errors.New("a switch is under way")
	ErrInUse          = errors.New("the system is in use")
	ErrUnbound        = errors.New("nothing is bound")
)

// Patience is how long a switch waits for calls of Use to return.
const Patience = 5 * time.Second

// Binding is the pair that is bound. Any goroutine may call its methods.
type Binding[S System, C io.Closer] struct {
	protocols  []Protocol[S, C]
	transports []Transport[C]

	mu        sync.Mutex // guards what follows; never held in the program's functions
	pair      Pair       // empty if nothing is bound
	system    S
	switching bool
	uses      int
	unused    chan struct{} // closed when uses becomes 0 during a switch
}

// New returns a binding with nothing bound. It fails if a name is empty, has a
// space, or is given twice on its axis, or if a function is missing.
func New[S System, C io.Closer](protocols []Protocol[S, C], transports []Transport[C]) (*Binding[S, C], error) {
	b := &Binding[S, C]{protocols: slices.Clone(protocols), transports: slices.Clone(transports)}
	seen := map[string]bool{}
	check := func(axis, name string, whole bool) error {
		if name == "" || strings.ContainsAny(name, " \t\r\n") {
			return fmt.Errorf("%s %q: a name has at least one character and no spaces", axis, name)
		}
		if seen[axis+name] {
			return fmt.Errorf("%s %s is given twice", axis, name)
		}
		if !whole {
			return fmt.Errorf("%s %s: its function is missing", axis, name)
		}
		seen[axis+name] = true
		return nil
	}
	var errs []error
	for _, p := range protocols {
		errs = append(errs, check("protocol", p.Name, p.Init != nil))
	}
	for _, t := range transports {
		errs = append(errs, check("transport", t.Name, t.Open != nil))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b, nil
}

// Bound returns the bound pair. It is empty if nothing is bound.
func (b *Binding[S, C]) Bound() Pair {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pair
}

// Names returns the names of both axes in the order they were given.
func (b *Binding[S, C]) Names() (protocols, transports []string) {
	for _, p := range b.protocols {
		protocols = append(protocols, p.Name)
	}
	for _, t := range b.transports {
		transports = append(transports, t.Name)
	}
	return protocols, transports
}

// Parse reads what a user types at a console, as Parsec's net.subsys takes it: "",
// TRANSPORT, or PROTOCOL TRANSPORT. A word alone that is no transport may be a
// protocol. Which pairs are possible is for Switch to say.
func (b *Binding[S, C]) Parse(text string) (Pair, error) {
	words := strings.Fields(text)
	switch len(words) {
	case 0:
		return Pair{}, nil
	case 1:
		if b.protocol(words[0]) != nil && b.transport(words[0]) == nil {
			return Pair{Protocol: words[0]}, nil
		}
		return Pair{Transport: words[0]}, nil
	case 2:
		return Pair{words[0], words[1]}, nil
	}
	return Pair{}, fmt.Errorf("%d words: want [[PROTOCOL] TRANSPORT]", len(words))
}

// Use calls f with the bound system and keeps it bound until f returns. The
// error is f's, ErrUnbound or ErrSwitching. f may call Use, and must not switch: that
// would wait for f, and ends with ErrInUse.
func (b *Binding[S, C]) Use(f func(S) error) error {
	s, err := b.acquire()
	if err != nil {
		return err
	}
	defer b.release()
	return f(s)
}

func (b *Binding[S, C]) acquire() (s S, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.switching {
		return s, ErrSwitching
	}
	if b.pair == (Pair{}) {
		return s, ErrUnbound
	}
	b.uses++
	return b.system, nil
}

func (b *Binding[S, C]) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.uses--
	if b.uses == 0 && b.unused != nil {
		close(b.unused)
		b.unused = nil
	}
}

func (b *Binding[S, C]) protocol(name string) *Protocol[S, C] {
	return find(b.protocols, func(p *Protocol[S, C]) bool { return p.Name == name })
}

func (b *Binding[S, C]) transport(name string) *Transport[C] {
	return find(b.transports, func(t *Transport[C]) bool { return t.Name == name })
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
