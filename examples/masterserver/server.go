package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// maxParties is how many game servers the machine can tell apart: its parties without the
// masterserver itself.
const maxParties = len(masterserver.Master{}.List) - 1

// maxLinks is how many connections there may be at a time. They are fewer, since one that has just
// ended keeps its number until the machine has heard of it.
const maxLinks = maxParties - 16

// perAddress is how many of them one address may have: many game servers run on one computer, and
// nobody shall fill the list alone.
const perAddress = 16

// limits are for who says nothing.
type limits struct {
	handshake time.Duration // until the first request
	idle      time.Duration // until the next one
}

// listen opens the masterserver's port.
func listen(address string) (*tcp.Listener, error) {
	return tcp.Listen("tcp", address, tcp.Config{MaxLinks: maxLinks, PerAddress: perAddress, Logger: slog.Default()})
}

// entry is one line of the list.
type entry struct {
	masterserver.Entry
	address string // of the game server, without its port
}

// numbers gives connections the numbers by which the machine knows them: the least that is free.
type numbers struct {
	mu        sync.Mutex
	addresses [maxParties + 1]string // "" where free; 0 is the masterserver
	freed     chan struct{}          // one is free again
}

// take waits for a free number, until ctx ends. A link that has just ended keeps its number until
// the machine has heard of it, so there may be none for a moment.
func (n *numbers) take(ctx context.Context, address string) (fsm.Peer, error) {
	for {
		if p, ok := n.least(address); ok {
			return p, nil
		}
		select {
		case <-n.freed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (n *numbers) least(address string) (fsm.Peer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := 1; i < len(n.addresses); i++ {
		if n.addresses[i] == "" {
			n.addresses[i] = address
			return fsm.Peer(i), true
		}
	}
	return 0, false
}

func (n *numbers) free(p fsm.Peer) {
	n.mu.Lock()
	n.addresses[p] = ""
	n.mu.Unlock()
	select {
	case n.freed <- struct{}{}:
	default: // it is known already
	}
}

func (n *numbers) address(i int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addresses[i]
}

// serve runs the masterserver until ctx ends, which is no error. It calls changed, from one
// goroutine, with the list whenever the list has changed.
func serve(ctx context.Context, listener *tcp.Listener, l limits, changed func([]entry)) error {
	peers := numbers{freed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := driver.New(masterserver.NewMasterRunner(), driver.Options[*masterserver.MasterRunner]{
		HandshakeLimit: l.handshake,
		IdleLimit:      l.idle,
		OnReport: func(r *masterserver.MasterRunner, _ int) {
			var list []entry
			for i := range r.Machine.List {
				if e := &r.Machine.List[i]; e.Present {
					list = append(list, entry{e.Value, peers.address(i)})
				}
			}
			changed(list)
		},
		OnLink: func(_ *masterserver.MasterRunner, p fsm.Peer, up bool, _ error) {
			if !up {
				peers.free(p)
			}
		},
	})
	accepting := make(chan error, 1)
	go func() {
		accepting <- accept(ctx, listener, &peers, d)
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

// accept gives the driver each connection under a number of its own.
func accept(ctx context.Context, listener *tcp.Listener, peers *numbers,
	d *driver.Driver[*masterserver.MasterRunner]) error {
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
		peer, err := peers.take(ctx, host)
		if err != nil {
			link.Abort()
			return nil
		}
		if err := d.Attach(peer, link); err != nil {
			peers.free(peer)
			if errors.Is(err, driver.ErrStopped) {
				return nil
			}
		}
	}
}
