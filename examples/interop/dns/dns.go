// Package dns looks addresses up with the machines of specs/library/lookup, as a client or a server. Start
// from [Lookup] and [Serve].
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
	"github.com/parley-go/parley/runtime/transport/udp"
)

// MaxFrame is the largest message in bytes; a link has to carry it.
const MaxFrame = 65507

// Dial returns a link to a name server.
func Dial(address string) (transport.Link, error) {
	return udp.Open("udp", "", udp.Config{Peers: []string{address}, MaxFrame: MaxFrame})
}

// Lookup asks the name server at the other end of a link, which it closes, for the addresses of a name.
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

// Serve answers everybody who asks at the link, until ctx ends. It has one machine for each client.
func Serve(ctx context.Context, link transport.Link, known map[string]netip.Addr) error {
	var host *driver.Host[*lookup.ServerRunner, lookup.Server]
	h := &lookup.ServerHandlers{
		Asked: func(a lookup.ServerAskedReport) {
			var ip lookup.Optional[lookup.Ip]
			if address, ok := known[a.Host.String()]; ok {
				ip.Present, ip.Value = true, lookup.Ip{Len: 4, Data: address.As4()}
			}
			host.Post(host.Peer(), func(r *lookup.ServerRunner) fsm.Result { return r.Answer(ip) })
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
