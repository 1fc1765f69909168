// Package master is the masterserver of Parsec's document of 1998: game servers register over TCP with lines of text,
// and an HTML page lists them, or JSON.
//
// Connections are the business of server.go, the page that of page.go, and what is said to whom that of the generated
// machine. It knows no flags. Start from [Serve].
package master

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/runtime/driver"
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

// Limits are for who says nothing.
type Limits struct {
	Handshake time.Duration // until the first request
	Idle      time.Duration // until the next one, 0 for never
}

// Listen opens the masterserver's port.
func Listen(address string) (*tcp.Listener, error) {
	return tcp.Listen("tcp", address, tcp.Config{MaxLinks: maxLinks, PerAddress: perAddress, Logger: slog.Default()})
}

// Entry is one line of the list.
type Entry struct {
	masterserver.Entry
	address string // of the game server, without its port
}

// Serve runs the masterserver until ctx ends, which is no error. It calls changed, from one
// goroutine, with the list whenever the list has changed.
func Serve(ctx context.Context, listener *tcp.Listener, l Limits, changed func([]Entry)) error {
	peers := doors.New(maxParties)
	d := driver.New(masterserver.NewMasterRunner(), driver.Options[*masterserver.MasterRunner]{
		HandshakeLimit: l.Handshake,
		IdleLimit:      l.Idle,
		OnReport: func(r *masterserver.MasterRunner, _ int) {
			var list []Entry
			for i := range r.Machine.List {
				if e := &r.Machine.List[i]; e.Present {
					list = append(list, Entry{e.Value, peers.Address(i)})
				}
			}
			changed(list)
		},
	})
	return doors.Serve(ctx, listener, peers, d, nil)
}
