package main

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
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

// server is a slot- or gameserver, and what its administrator says of it.
type server struct {
	name            string
	greeting        []string
	handshake, idle time.Duration // for who says nothing
	bans            bans
	about           about
	master          registration
	log             *slog.Logger
	changed         chan struct{} // the number of players may have changed

	mu      sync.Mutex
	players []player // by slot
}

// player is one in the list, as pages show it.
type player struct {
	slot         int
	name, ip, os string
}

// listen opens the server's port. The protocol's updates have addresses of IPv4 alone.
func listen(address string, most int, log *slog.Logger) (*tcp.Listener, error) {
	return tcp.Listen("tcp4", address, tcp.Config{MaxLinks: maxParties - 4, PerAddress: most, Logger: log})
}

// serve runs the server until ctx ends, which is no error.
func (s *server) serve(ctx context.Context, listener *tcp.Listener) error {
	r, err := s.runner()
	if err != nil {
		listener.Close()
		return err
	}
	peers := doors.New(maxParties)
	var d *driver.Driver[*slotserver.ServerRunner]
	h := slotserver.ServerHandlers{
		Asks: func(a slotserver.ServerAsksReport) {
			d.Post(s.answer(a.Client, peers.Address(int(a.Client))))
		},
		Changed: func() {
			var list []player
			for i := range r.Machine.List {
				if p := &r.Machine.List[i]; p.Present {
					v := &p.Value
					list = append(list, player{int(v.Slot), v.Name.String(), v.Ip.String(), v.Os.String()})
				}
			}
			s.note(list)
		},
	}
	d = driver.New(r, driver.Options[*slotserver.ServerRunner]{
		HandshakeLimit: s.handshake, IdleLimit: s.idle, Logger: s.log, OnReport: h.OnReport,
	})
	return doors.Serve(ctx, listener, peers, d, nil)
}

// runner returns the machine with what the administrator says.
func (s *server) runner() (*slotserver.ServerRunner, error) {
	name, _ := slotserver.NewName(s.name)
	var lines slotserver.LineList
	for i, l := range s.greeting {
		lines.Items[i], _ = slotserver.NewLine(l)
		lines.Len++
	}
	return slotserver.NewServerRunner(name, lines)
}

// answer looks up whether a client may play.
func (s *server) answer(client fsm.Peer, address string) func(*slotserver.ServerRunner) fsm.Result {
	ip, ok := slotserver.NewAddress(address)
	banned := s.banned(address)
	return func(r *slotserver.ServerRunner) fsm.Result {
		if banned || !ok {
			return r.Ban(client)
		}
		return r.Admit(client, ip)
	}
}

// banned reports whether nobody at an address may play.
func (s *server) banned(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return true // it has gone meanwhile
	}
	banned, err := s.bans.has(a)
	if err != nil {
		s.log.Error("the bans are as they were", "error", err)
	}
	return banned
}

// note keeps the list for the page and the masterserver.
func (s *server) note(list []player) {
	slices.SortFunc(list, func(a, b player) int { return a.slot - b.slot })
	s.mu.Lock()
	s.players = list
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// list returns the players by slot; nobody changes it.
func (s *server) list() []player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.players
}
