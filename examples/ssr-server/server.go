package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/examples/internal/pipe"
	"github.com/parley-go/parley/machines/ssr"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// maxParties is how many players the machine can tell apart: its parties without the server itself.
const maxParties = 61

// rate is how many bytes a second are read of one player, so that who floods the server floods nobody else.
const rate = 8 << 10

// server is a game server.
type server struct {
	handshake  time.Duration // for who says nothing
	perAddress int
	log        *slog.Logger
	d          *driver.Driver[*ssr.ServerRunner]
}

// listen opens the server's port.
func (s *server) listen(address string) (*tcp.Listener, error) {
	// A connection that has just ended keeps its number until the machine has heard of it.
	return tcp.Listen("tcp", address, tcp.Config{MaxLinks: maxParties - 4, PerAddress: s.perAddress, Logger: s.log})
}

// serve runs the server until ctx ends, which is no error.
func (s *server) serve(ctx context.Context, listener *tcp.Listener) error {
	r, err := ssr.NewServerRunner(0)
	if err != nil {
		listener.Close()
		return err
	}
	peers := doors.New(maxParties)
	h := ssr.ServerHandlers{
		Compared: func(c ssr.ServerComparedReport) {
			s.log.Info("a player's clock", "player", c.Player, "ms behind", c.Lag)
		},
		Silent: func(c ssr.ServerSilentReport) { s.log.Info("a player says nothing any more", "player", c.Player) },
	}
	s.d = driver.New(r, driver.Options[*ssr.ServerRunner]{
		HandshakeLimit: s.handshake, Logger: s.log, OnReport: h.OnReport, Steady: true,
	})
	slowed := func(l transport.Link) transport.Link { return pipe.Slowed(l, rate) }
	return doors.Serve(ctx, listener, peers, s.d, slowed)
}
