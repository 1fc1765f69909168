// Command peer is the other side of the client in C: it waits for one
// connection, changes property 1 to 9, and confirms until both sides agree.
//
//	peer -listen 127.0.0.1:21837
//
// Exit codes: 0 both agreed, 1 they did not, 2 wrong usage or no such address.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/parley-go/parley/examples/internal/usage"
	"github.com/parley-go/parley/internal/interrupt"
	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

func main() {
	f := flag.NewFlagSet("peer", flag.ContinueOnError)
	address := f.String("listen", "127.0.0.1:21837", "`address` to wait for the client on")
	if code, done := usage.Parse(f, os.Args[1:], os.Stdout, os.Stderr); done {
		os.Exit(code)
	}
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	listener, err := tcp.Listen("tcp", *address, tcp.Config{
		OnTurnedAway: func(from net.Addr, why error) { fmt.Println("turned away", from, "-", why) }})
	if err != nil {
		os.Exit(usage.Wrong(f, os.Stderr, err))
	}
	fmt.Println("waiting at", listener.Addr())
	link, err := listener.AcceptOne(ctx, opening().Await)
	if err == nil {
		err = agree(ctx, link)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

// opening is a message that the machine accepts first. Who connects and does not send one keeps no
// client out.
func opening() transport.Opening {
	fresh := func() *setup.PeerRunner {
		r, err := setup.NewPeerRunner(1)
		if err != nil {
			panic(err) // 1 is an index
		}
		r.LinkUp(0)
		return r
	}
	r := fresh()
	return transport.Opening{Size: r.FrameSize, Max: r.Info().MaxFrame, Valid: func(frame []byte) bool {
		res, err := fresh().Frame(0, frame)
		return err == nil && res.Code != fsm.Refused
	}}
}

// agree plays until both sides agree.
func agree(ctx context.Context, link transport.Link) error {
	r, err := setup.NewPeerRunner(1)
	if err != nil {
		return err
	}
	var d *driver.Driver[*setup.PeerRunner]
	var why error
	d = driver.New(r, driver.Options[*setup.PeerRunner]{StopAtFinal: true,
		OnLink: func(_ *setup.PeerRunner, _ fsm.Peer, up bool, reason error) {
			if !up {
				why = reason
				d.Stop()
				return
			}
			d.Post(func(r *setup.PeerRunner) fsm.Result { return r.Change(1, 9) })
			d.Post((*setup.PeerRunner).Confirm)
		},
		OnReport: func(r *setup.PeerRunner, i int) {
			fmt.Println(string(r.AppendEffect(nil, i)))
			d.Post((*setup.PeerRunner).Confirm) // refused where that has been said already
		}})
	if err := d.Attach(0, link); err != nil {
		return err
	}
	if err := d.Run(ctx); err != nil {
		return err
	}
	fmt.Println(string(r.AppendMachine(nil)))
	if r.Machine.State != setup.StateDone {
		return fmt.Errorf("the link was lost before both agreed: %v", why)
	}
	return nil
}
