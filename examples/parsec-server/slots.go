package main

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/machines/slotserver"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// maxParties is how many clients the machine can tell apart: its parties without the server itself. More than have
// slots, so that there is somebody to be told that the server is full.
const maxParties = len(slotserver.Server{}.List) - 1

// perAddress is how many of them one address may have: players behind one router, but nobody fills the server alone.
const perAddress = 8

// server is a slotserver and what its administrator says of it.
type server struct {
	name            slotserver.Name
	greeting        slotserver.LineList
	handshake, idle time.Duration // for who says nothing
	bans            bans
	about           about
	master          master
	log             *slog.Logger
	changed         chan struct{} // the number of players may have changed

	mu      sync.Mutex
	players []slotserver.Player // by slot
}

// listen opens the server's port. The protocol's updates have addresses of IPv4 alone.
func listen(address string, log *slog.Logger) (*tcp.Listener, error) {
	return tcp.Listen("tcp4", address, tcp.Config{MaxLinks: maxParties - 4, PerAddress: perAddress, Logger: log})
}

// serve runs the server until ctx ends, which is no error.
func (s *server) serve(ctx context.Context, listener *tcp.Listener) error {
	r, err := slotserver.NewServerRunner(s.name, s.greeting)
	if err != nil {
		listener.Close()
		return err
	}
	peers := doors.New(maxParties)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var d *driver.Driver[*slotserver.ServerRunner]
	h := slotserver.ServerHandlers{
		Asks: func(a slotserver.ServerAsksReport) {
			d.Post(s.answer(a.Client, peers.Address(int(a.Client))))
		},
		Changed: func() { s.note(&r.Machine) },
	}
	d = driver.New(r, driver.Options[*slotserver.ServerRunner]{
		HandshakeLimit: s.handshake, IdleLimit: s.idle, Logger: s.log, OnReport: h.OnReport,
		OnLink: func(_ *slotserver.ServerRunner, p fsm.Peer, up bool, _ error) {
			if !up {
				peers.Free(p)
			}
		},
	})
	accepting := make(chan error, 1)
	go func() {
		accepting <- doors.Accept(ctx, listener, peers, d)
		d.Stop()
	}()
	err = d.Run(ctx)
	ended := ctx.Err() != nil
	listener.Close()
	cancel()
	err = errors.Join(err, <-accepting)
	if ended {
		return nil
	}
	return err
}

// answer looks up whether a client may play.
func (s *server) answer(client fsm.Peer, address string) func(*slotserver.ServerRunner) fsm.Result {
	a, err := netip.ParseAddr(address)
	banned := err != nil // it has gone meanwhile
	if !banned {
		if banned, err = s.bans.has(a); err != nil {
			s.log.Error("the bans are as they were", "error", err)
		}
	}
	ip, ok := slotserver.NewAddress(address)
	return func(r *slotserver.ServerRunner) fsm.Result {
		if banned || !ok {
			return r.Ban(client)
		}
		return r.Admit(client, ip)
	}
}

// note keeps the list for the page and the masterserver.
func (s *server) note(m *slotserver.Server) {
	var slots [16]*slotserver.Player
	for i := range m.List {
		if p := &m.List[i]; p.Present {
			slots[p.Value.Slot] = &p.Value
		}
	}
	s.mu.Lock()
	s.players = s.players[:0]
	for _, p := range slots {
		if p != nil {
			s.players = append(s.players, *p)
		}
	}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// list returns a copy of the list, by slot.
func (s *server) list() []slotserver.Player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]slotserver.Player(nil), s.players...)
}
