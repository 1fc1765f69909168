// Package stun asks a server from which address it sees us, with the machine of specs/library/stun. Start
// from [Bind].
package stun

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/parley-go/parley/machines/stun"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Bind asks the server at the other end of a link, which it closes.
func Bind(ctx context.Context, link transport.Link) (netip.AddrPort, error) {
	var address netip.AddrPort
	var why error
	var d *driver.Driver[*stun.ClientRunner]
	h := &stun.ClientHandlers{
		Bound: func(r stun.ClientBoundReport) {
			ip, ok := netip.AddrFromSlice(r.Address.Ip.Data[:r.Address.Ip.Len])
			if !ok {
				why = fmt.Errorf("an address of %d bytes", r.Address.Ip.Len)
			}
			address = netip.AddrPortFrom(ip, r.Address.Port)
			d.Stop()
		},
		Rejected: func(r stun.ClientRejectedReport) {
			why = fmt.Errorf("the server says %d%02d: %s", r.Error.Class, r.Error.Number, r.Error.Reason)
			d.Stop()
		},
		Failed: func() {
			why = errors.New("no answer")
			d.Stop()
		},
	}
	d = driver.New(stun.NewClientRunner(), driver.Options[*stun.ClientRunner]{OnReport: h.OnReport})
	if err := d.Attach(0, link); err != nil {
		return address, err
	}
	var number [12]byte
	rand.Read(number[:])
	key := stun.Key(binary.BigEndian.Uint64(number[:]))
	rest := stun.Rest(binary.BigEndian.Uint32(number[8:]))
	if err := d.Post(func(r *stun.ClientRunner) fsm.Result { return r.Bind(key, rest) }); err != nil {
		return address, err
	}
	if err := d.Run(ctx); err != nil {
		return address, err
	}
	return address, why
}
