// Package dns looks addresses up with the machines of specs/library/lookup and lookuptcp, as a client or a
// server. Start from [Resolve], [Serve] and [ServeTCP].
package dns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/parley-go/parley/machines/lookup"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// MaxFrame is the largest message in bytes; a link has to carry it.
const MaxFrame = 65507

// Dial returns a link to a name server.
func Dial(address string) (transport.Link, error) {
	return udp.Open("udp", "", udp.Config{Peers: []string{address}, MaxFrame: MaxFrame})
}

// ErrTruncated says that the answer is too large for UDP.
var ErrTruncated = errors.New("the answer is too large for UDP")

// Resolve asks the name server at address for the addresses of a name: over UDP, and over TCP if the answer
// is too large for that.
func Resolve(ctx context.Context, address, host string) ([]netip.Addr, error) {
	link, err := Dial(address)
	if err != nil {
		return nil, err
	}
	found, err := Lookup(ctx, link, host)
	if !errors.Is(err, ErrTruncated) {
		return found, err
	}
	stream, err := tcp.Dial(ctx, "tcp", address, tcp.Config{})
	if err != nil {
		return nil, err
	}
	return LookupTCP(ctx, stream, host)
}

// Lookup asks the name server at the other end of a link of datagrams, which it closes, for the addresses of a
// name. The error may be [ErrTruncated].
func Lookup(ctx context.Context, link transport.Link, host string) ([]netip.Addr, error) {
	name, ok := lookup.NewName(host)
	if !ok {
		return nil, errors.New("the name is too long")
	}
	var found []netip.Addr
	var why error
	var d *driver.Driver[*lookup.ClientRunner]
	h := &lookup.ClientHandlers{
		Answered: func(r lookup.ClientAnsweredReport) {
			if r.Code != 0 {
				why = fmt.Errorf("the server says %d", r.Code)
			}
			for _, record := range r.Answers.Items[:r.Answers.Len] {
				if record.Address.Present {
					found = append(found, netip.AddrFrom4(record.Address.Value.Data))
				}
			}
			d.Stop()
		},
		Truncated: func() {
			why = ErrTruncated
			d.Stop()
		},
		Failed: func() {
			why = errors.New("no answer")
			d.Stop()
		},
	}
	d = driver.New(lookup.NewClientRunner(), driver.Options[*lookup.ClientRunner]{OnReport: h.OnReport})
	if err := d.Attach(0, link); err != nil {
		return nil, err
	}
	number := lookup.Ident(rand.Uint32())
	if err := d.Post(func(r *lookup.ClientRunner) fsm.Result { return r.Ask(number, name) }); err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	return found, why
}

// Serve answers everybody who asks at a link of datagrams, until ctx ends. It has one machine for each client.
// A name has at most twelve addresses.
func Serve(ctx context.Context, link transport.Link, known map[string][]netip.Addr) error {
	var host *driver.Host[*lookup.ServerRunner, lookup.Server]
	h := &lookup.ServerHandlers{
		Asked: func(a lookup.ServerAskedReport) {
			var ips lookup.Ips
			for _, address := range known[a.Host.String()] {
				ips.Items[ips.Len] = lookup.Ip{Len: 4, Data: address.As4()}
				ips.Len++
			}
			host.Post(host.Peer(), func(r *lookup.ServerRunner) fsm.Result { return r.Answer(ips) })
		},
	}
	host, err := driver.NewHost(lookup.NewServerRunner(),
		func(r *lookup.ServerRunner) *lookup.Server { return &r.Machine }, nil, link,
		driver.Options[*lookup.ServerRunner]{OnReport: h.OnReport})
	if err != nil {
		return err
	}
	return host.Run(ctx)
}
