// Package minecraft asks a server of Minecraft for its status, and answers such questions, with the machines of
// specs/library/minecraft. Start from [Ask] and [Serve].
package minecraft

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/parley-go/parley/machines/minecraft"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// Status is what a server says of itself, in JSON, and how long the way there and back took.
type Status struct {
	JSON  string
	Delay time.Duration
}

// Ask asks a server for its status. It is told the host and port under which it was found, and the version of
// the protocol; -1 is none.
func Ask(ctx context.Context, address, host string, port uint16, version int32) (Status, error) {
	name, ok := minecraft.NewAddress(host)
	if !ok {
		return Status{}, errors.New("the name of the host is too long")
	}
	link, err := tcp.Dial(ctx, "tcp", address, tcp.Config{})
	if err != nil {
		return Status{}, err
	}
	var s Status
	var why error
	var asked time.Time
	var d *driver.Driver[*minecraft.ClientRunner]
	h := &minecraft.ClientHandlers{
		Answered: func(r minecraft.ClientAnsweredReport) { s.JSON, asked = r.Json.String(), time.Now() },
		Ponged: func() {
			s.Delay = time.Since(asked)
			d.Stop()
		},
		Failed: func() {
			why = errors.New("no answer")
			d.Stop()
		},
	}
	d = driver.New(minecraft.NewClientRunner(), driver.Options[*minecraft.ClientRunner]{OnReport: h.OnReport})
	if err := d.Attach(0, link); err != nil {
		return s, err
	}
	err = d.Post(func(r *minecraft.ClientRunner) fsm.Result {
		return r.Ask(minecraft.Version(uint32(version)), name, minecraft.Port(port), minecraft.Time(rand.Uint64()))
	})
	if err != nil {
		return s, err
	}
	if err := d.Run(ctx); err != nil {
		return s, err
	}
	return s, why
}

// Serve tells everybody who asks at the link what status returns, until ctx ends. status is told the version,
// host and port that the other one has said, and must not wait. Who wants anything else is sent away.
func Serve(ctx context.Context, link transport.Link, status func(minecraft.ServerAskedReport) string) error {
	var host *driver.Host[*minecraft.ServerRunner, minecraft.Server]
	h := &minecraft.ServerHandlers{
		Asked: func(r minecraft.ServerAskedReport) {
			json, _ := minecraft.NewJson(status(r)) // a longer one is cut
			host.Post(host.Peer(), func(r *minecraft.ServerRunner) fsm.Result { return r.Tell(json) })
		},
	}
	host, err := driver.NewHost(minecraft.NewServerRunner(),
		func(r *minecraft.ServerRunner) *minecraft.Server { return &r.Machine }, nil, link,
		driver.Options[*minecraft.ServerRunner]{OnReport: h.OnReport})
	if err != nil {
		return err
	}
	return host.Run(ctx)
}
