// Package doors numbers the connections of a server that anybody may come to: each gets the least number that is
// free, until it is closed, whoever closes it. Start from [New] and [Serve].
package doors

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// Numbers gives connections the numbers by which the machine knows them: the least that is free.
type Numbers struct {
	// Each is how many numbers one address may have, 0 for all. It is set before the first is taken. Who has no
	// address is not counted.
	Each int

	mu        sync.Mutex
	addresses []string      // "" where free; 0 is the server
	freed     chan struct{} // one is free again
}

// New returns numbers from 1 to max.
func New(max int) *Numbers {
	return &Numbers{addresses: make([]string, max+1), freed: make(chan struct{}, 1)}
}

// Take waits for a free number, until ctx ends. A link that has just ended keeps its number until
// the machine has heard of it, so there may be none for a moment.
func (n *Numbers) Take(ctx context.Context, address string) (fsm.Peer, error) {
	for {
		if p, ok := n.Try(address); ok {
			return p, nil
		}
		select {
		case <-n.freed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Try takes a number if one is free now.
func (n *Numbers) Try(address string) (fsm.Peer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	free, own := 0, 0
	for i := len(n.addresses) - 1; i > 0; i-- {
		switch n.addresses[i] {
		case "":
			free = i
		case address:
			own++
		}
	}
	if free == 0 || n.Each > 0 && own >= n.Each && address != nowhere {
		return 0, false
	}
	n.addresses[free] = address
	return fsm.Peer(free), true
}

// nowhere is the address of who has none.
const nowhere = "nowhere"

// Customer returns whom an address belongs to, as far as limits know: of IPv6 it is the network of 64 bits, since a
// customer has all of its addresses.
func Customer(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		network, _ := a.Prefix(64)
		a = network.Addr()
	}
	return a
}

// From returns who is at the other end of a link, for [Numbers.Take]: a computer without its port, as the [Customer].
func From(l transport.Link) string {
	a := l.RemoteAddr(0)
	if a == nil || a.Network() == "mem" { // in this program
		return nowhere
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		if n := strings.Split(a.String(), "."); len(n) == 3 { // of IPX: the network and the node
			return n[0] + "." + n[1]
		}
		return a.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return Customer(ip).String()
	}
	return host
}

// Door returns the link in such a form that the number is free again when it is closed. A driver closes each link
// whose end it has heard of or that its machine has closed, and handles a new one with the number after that.
func (n *Numbers) Door(p fsm.Peer, link transport.Link) transport.Link {
	free := sync.OnceFunc(func() { n.free(p) })
	if l, ok := link.(*tcp.Link); ok {
		return &tcpDoor{l, free}
	}
	return &door{link, free}
}

type door struct {
	transport.Link
	free func()
}

func (d *door) Close() error {
	d.free()
	return d.Link.Close()
}

func (d *door) Abort() error {
	d.free()
	return d.Link.Abort()
}

// tcpDoor has all that a link over TCP can do.
type tcpDoor struct {
	*tcp.Link
	free func()
}

func (d *tcpDoor) Close() error {
	d.free()
	return d.Link.Close()
}

func (d *tcpDoor) Abort() error {
	d.free()
	return d.Link.Abort()
}

func (n *Numbers) free(p fsm.Peer) {
	n.mu.Lock()
	n.addresses[p] = ""
	n.mu.Unlock()
	select {
	case n.freed <- struct{}{}:
	default: // it is known already
	}
}

// Address returns the host at the other end of connection i, without its port, or "" where there is none.
func (n *Numbers) Address(i int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addresses[i]
}

// Serve runs the driver and gives it each connection under a number of its own, until ctx ends, which is no error, or
// the listener or the driver fails. It closes the listener. If behind is not nil, the driver gets in place of each
// connection the link that it returns.
func Serve[R fsm.Runner](ctx context.Context, listener *tcp.Listener, peers *Numbers, d *driver.Driver[R],
	behind func(transport.Link) transport.Link) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	accepting := make(chan error, 1)
	go func() {
		accepting <- accept(ctx, listener, peers, d, behind)
		d.Stop()
	}()
	err := d.Run(ctx)
	ended := ctx.Err() != nil
	listener.Close()
	cancel()
	err = errors.Join(err, <-accepting)
	if ended {
		return nil
	}
	return err
}

// Accept gives the driver each connection under a number of its own. It returns nil when ctx ends or the driver
// stops, and an error if the listener fails.
func Accept[R fsm.Runner](ctx context.Context, listener *tcp.Listener, peers *Numbers, d *driver.Driver[R]) error {
	return accept(ctx, listener, peers, d, nil)
}

func accept[R fsm.Runner](ctx context.Context, listener *tcp.Listener, peers *Numbers, d *driver.Driver[R],
	behind func(transport.Link) transport.Link) error {
	for {
		link, err := listener.Accept(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		host, _, err := net.SplitHostPort(link.RemoteAddr(0).String())
		if err != nil {
			link.Abort()
			continue
		}
		peer, err := peers.Take(ctx, host)
		if err != nil {
			link.Abort()
			return nil
		}
		l := transport.Link(link)
		if behind != nil {
			l = behind(l)
		}
		// The number is free when the driver closes what it has, and not before, as when the connection behind it ends.
		if err := d.Attach(peer, peers.Door(peer, l)); err != nil {
			if errors.Is(err, driver.ErrStopped) {
				return nil
			}
		}
	}
}
