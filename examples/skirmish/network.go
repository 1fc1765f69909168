package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/runtime/transport"
)

// dialer calls a host; with a place, its door for matches.
type dialer func(ctx context.Context, place uint16) (transport.Link, error)

// socket is the IPX socket of a host, and usual its port elsewhere.
const (
	socket = 0x5359
	usual  = "7532"
)

// The doors of a host.
const (
	controlDoor = iota
	framesDoor
	backDoor
	doorCount
)

// The players of a match know the door for who comes back by its number, too.
var _ = [1]struct{}{}[backDoor-match.Back]

// dialer calls a host at an address: host:port, over IPX NETWORK.NODE.SOCKET, and through a gameserver a slot.
func (s *settings) dialer(address string, cfg carrier.Config) dialer {
	if node := s.through; node != nil {
		return func(ctx context.Context, place uint16) (transport.Link, error) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			var slot int
			if _, err := fmt.Sscanf(address, "slot %d", &slot); err != nil {
				return nil, fmt.Errorf("%q is no slot of a gameserver", address)
			}
			l, err := node.Dial(ctx, slot)
			if err != nil {
				return nil, err
			}
			return carrier.Enter(l, byte(place))
		}
	}
	if _, _, err := net.SplitHostPort(address); err != nil && s.link != carrier.IPX {
		address = net.JoinHostPort(address, usual)
	}
	return func(ctx context.Context, place uint16) (transport.Link, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return carrier.DialPart(ctx, s.link, address, cfg, byte(place))
	}
}

// host opens the doors of a host. If the usual port is taken, as by another host on this computer, it has any, and
// s.elsewhere says so.
func (s *settings) host(ctx context.Context, cfg carrier.Config) (h *match.Host, at string, err error) {
	s.elsewhere = ""
	address := s.listen
	switch {
	case s.through != nil:
	case s.link == carrier.IPX:
		address = fmt.Sprintf("%x", socket)
	case !s.given("listen") && !s.fixed && taken(s.link, address):
		s.elsewhere = fmt.Sprintf(" (somebody has port %s here)", usual)
		own, _, _ := net.SplitHostPort(address)
		address = net.JoinHostPort(own, "0")
	}
	var d carrier.Door
	if s.through != nil {
		d, err = s.through.Listen()
	} else {
		d, err = carrier.Listen(ctx, s.link, address, cfg)
	}
	if err != nil {
		return nil, "", err
	}
	parts := carrier.Split(ctx, d, doorCount)
	h, err = match.NewHost(match.HostConfig{Control: parts[controlDoor], Frames: parts[framesDoor], Place: framesDoor,
		Back:     parts[backDoor],
		Settings: match.Settings{Arena: s.arena, Rounds: s.rounds, Bots: s.bots}, Least: s.least, Duel: s.duel,
		Resume: s.resume, PerAddress: s.mostOfOne,
		Length: time.Second / time.Duration(s.hz)})
	return h, reachable(d.Addr()), err
}

// taken reports whether a port is somebody else's.
func taken(link, address string) bool {
	if link == carrier.UDP {
		c, err := net.ListenPacket("udp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	}
	l, err := net.Listen("tcp", address)
	if err == nil {
		l.Close()
	}
	return err != nil
}

// reachable is an address at which others reach a door: of the first network if it is open to all.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		addrs, _ := net.InterfaceAddrs()
		for _, x := range addrs {
			if n, ok := x.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
				host = n.IP.String()
				break
			}
		}
	}
	return net.JoinHostPort(host, port)
}

// spectator looks on, as a session.
type spectator struct {
	mu   sync.Mutex
	grid *screen.Grid
	over chan struct{}
}

func newSpectator(ctx context.Context, at string, dial dialer) *spectator {
	v := &spectator{over: make(chan struct{})}
	say := func(text string) { v.show(screen.Notice(text, "you look on   q quits")) }
	say("calling the host at " + at + " ...")
	last := ""
	w := match.Watcher{
		Dial: func(ctx context.Context) (transport.Link, error) { return dial(ctx, framesDoor) },
		OnFrame: func(s *game.State, who *match.Roster) {
			v.show(screen.Draw(s, session.Known(who, "you look on   q quits")))
		},
		OnEnd: func(e match.End) { last = session.Ended(e) + " " },
		OnIdle: func(err error) {
			if err != nil {
				say(last + "No host answers at " + at + ", and it is called again each second: " + err.Error())
				return
			}
			say(last + "There is no match at " + at + " now. It is shown as soon as one begins.")
		},
	}
	go func() {
		defer close(v.over)
		w.Run(ctx)
	}()
	return v
}

func (v *spectator) show(g *screen.Grid) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.grid = g
}

// Over implements show.
func (v *spectator) Over() <-chan struct{} { return v.over }

// Frame implements show.
func (v *spectator) Frame(game.Input) *screen.Grid {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.grid
}

// Type implements show.
func (v *spectator) Type(context.Context, byte) {}
