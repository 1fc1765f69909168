// Package dhcp gets an address from a server of DHCP with the machine of specs/library/lease. It says which and
// for how long; it configures nothing, and the computer needs an address from which it asks. Start from [New].
package dhcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/parley-go/parley/machines/lease"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// MaxFrame is the largest message in bytes; a link has to carry it.
const MaxFrame = 10600

// Lease is an address and how long it may be used.
type Lease struct {
	IP  netip.Addr
	For time.Duration
}

// Client is one network card. Its methods are for one goroutine at a time.
type Client struct {
	driver *driver.Driver[*lease.ClientRunner]
	told   chan told
	stop   context.CancelFunc
	ended  chan error
}

// told is a report: a lease, or why there is none.
type told struct {
	Lease
	why error
}

// ErrLost says that the address must not be used any more.
var ErrLost = errors.New("the lease has ended")

// New runs a client for a card of six bytes at a link whose only peer is a server, or the address at which
// servers hear. It closes the link in the end.
func New(link transport.Link, card net.HardwareAddr) (*Client, error) {
	if len(card) != 6 {
		return nil, fmt.Errorf("a card has an address of 6 bytes, not %d", len(card))
	}
	mac := lease.Hardware{Len: 16}
	copy(mac.Data[:], card)
	r, err := lease.NewClientRunner(mac, 0)
	if err != nil {
		return nil, err
	}
	c := &Client{told: make(chan told, 4), ended: make(chan error, 1)}
	h := &lease.ClientHandlers{
		Bound: func(b lease.ClientBoundReport) {
			c.told <- told{Lease: Lease{netip.AddrFrom4(b.Ip.Data), time.Duration(b.Seconds) * time.Second}}
		},
		Lost:   func() { c.told <- told{why: ErrLost} },
		Failed: func() { c.told <- told{why: errors.New("no server leases an address")} },
	}
	c.driver = driver.New(r, driver.Options[*lease.ClientRunner]{OnReport: h.OnReport})
	if err := c.driver.Attach(0, link); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() { c.ended <- c.driver.Run(ctx) }()
	return c, nil
}

// Acquire gets an address.
func (c *Client) Acquire(ctx context.Context) (Lease, error) {
	key := lease.Key(rand.Uint32())
	return c.give(ctx, func(r *lease.ClientRunner) fsm.Result { return r.Acquire(key) })
}

// Renew asks for more time. It is for when half of it is over; while nobody answers it waits for ctx to end, and
// may then be called again.
func (c *Client) Renew(ctx context.Context) (Lease, error) {
	return c.give(ctx, (*lease.ClientRunner).Renew)
}

// Release gives the address back.
func (c *Client) Release(ctx context.Context) error {
	_, err := c.give(ctx, (*lease.ClientRunner).Release)
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// give gives a command and returns what is told next.
func (c *Client) give(ctx context.Context, command func(*lease.ClientRunner) fsm.Result) (Lease, error) {
	if err := c.driver.Post(command); err != nil {
		return Lease{}, err
	}
	select {
	case t := <-c.told:
		return t.Lease, t.why
	case err := <-c.ended:
		c.ended <- err
		return Lease{}, fmt.Errorf("the client has ended: %w", err)
	case <-ctx.Done():
		return Lease{}, ctx.Err()
	}
}

// Close ends the client, without giving an address back.
func (c *Client) Close() error {
	c.stop()
	err := <-c.ended
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
