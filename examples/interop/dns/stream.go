package dns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/parley-go/parley/machines/lookuptcp"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// LookupTCP asks the name server at the other end of a link of TCP, which it closes.
func LookupTCP(ctx context.Context, link transport.Link, host string) ([]netip.Addr, error) {
	name, ok := lookuptcp.NewName(host)
	if !ok {
		return nil, errors.New("the name is too long")
	}
	var found []netip.Addr
	var why error
	var d *driver.Driver[*lookuptcp.ClientRunner]
	h := &lookuptcp.ClientHandlers{
		Answered: func(r lookuptcp.ClientAnsweredReport) {
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
	d = driver.New(lookuptcp.NewClientRunner(), driver.Options[*lookuptcp.ClientRunner]{OnReport: h.OnReport})
	if err := d.Attach(0, link); err != nil {
		return nil, err
	}
	number := lookuptcp.Ident(rand.Uint32())
	if err := d.Post(func(r *lookuptcp.ClientRunner) fsm.Result { return r.Ask(number, name) }); err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	return found, why
}

// ServeTCP is [Serve] for the connections that a listener accepts.
func ServeTCP(ctx context.Context, link transport.Link, known map[string][]netip.Addr) error {
	var host *driver.Host[*lookuptcp.ServerRunner, lookuptcp.Server]
	h := &lookuptcp.ServerHandlers{
		Asked: func(a lookuptcp.ServerAskedReport) {
			var ips lookuptcp.Ips
			for _, address := range known[a.Host.String()] {
				ips.Items[ips.Len] = lookuptcp.Ip{Len: 4, Data: address.As4()}
				ips.Len++
			}
			host.Post(host.Peer(), func(r *lookuptcp.ServerRunner) fsm.Result { return r.Answer(ips) })
		},
	}
	host, err := driver.NewHost(lookuptcp.NewServerRunner(),
		func(r *lookuptcp.ServerRunner) *lookuptcp.Server { return &r.Machine }, nil, link,
		driver.Options[*lookuptcp.ServerRunner]{OnReport: h.OnReport})
	if err != nil {
		return err
	}
	return host.Run(ctx)
}
