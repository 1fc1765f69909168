package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
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
	doorCount
)

// dialer calls a host at an address: host:port, and over IPX NETWORK.NODE.SOCKET.
func (s *settings) dialer(address string, cfg carrier.Config) dialer {
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
	case s.link == carrier.IPX:
		address = fmt.Sprintf("%x", socket)
	case !s.given("listen") && !s.fixed && taken(s.link, address):
		s.elsewhere = fmt.Sprintf(" (somebody has port %s here)", usual)
		own, _, _ := net.SplitHostPort(address)
		address = net.JoinHostPort(own, "0")
	}
	d, err := carrier.Listen(ctx, s.link, address, cfg)
	if err != nil {
		return nil, "", err
	}
	parts := carrier.Split(ctx, d, doorCount)
	h, err = match.NewHost(match.HostConfig{Control: parts[controlDoor], Frames: parts[framesDoor], Place: framesDoor,
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

// errWrong says that a match went wrong, and errInterrupted that not all were played.
var (
	errWrong       = errors.New("a match went wrong")
	errInterrupted = errors.New("interrupted")
)

// play lets bots play over real sockets, and says how it went.
func (s *settings) play(ctx context.Context, stdout io.Writer) error {
	cfg := s.carrier()
	if s.loss > 0 {
		var mu sync.Mutex
		seed := uint64(s.seed)
		cfg.Impair = func(l transport.Link) (transport.Link, error) {
			mu.Lock()
			defer mu.Unlock()
			seed++
			return impair.New(l, impair.Config{Seed: seed, Faults: impair.Faults{Loss: s.loss,
				Duplicate: s.loss / 2, Reorder: s.loss}})
		}
	}
	n := max(2, s.bots)
	own := *s
	if !s.given("listen") {
		own.listen = "127.0.0.1:0"
	}
	own.bots, own.least = 0, n
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h, at, err := own.host(ctx, cfg)
	if err != nil {
		return err
	}
	hosted := make(chan error, 1)
	go func() { hosted <- h.Run(ctx) }()
	began := time.Now()
	var mu sync.Mutex
	sums, wrong := map[uint32]uint32{}, 0
	ends := make(chan error, n)
	var up, down, frames atomic.Int64
	call := own.dialer(at, cfg)
	dial := func(ctx context.Context, place uint16) (transport.Link, error) {
		l, err := call(ctx, place)
		if err != nil {
			return nil, err
		}
		return counted{l, &up, &down}, nil
	}
	for i := range n {
		p := match.NewPlayer(match.PlayerConfig{Name: session.BotNames[i], Dial: dial, Auto: true,
			Matches: s.matches, Length: time.Second / time.Duration(s.hz),
			Source: func(st *game.State, slot int) game.Input { return st.Advice(slot) },
			Record: map[bool]*recording{true: s.recording}[i == 0].begin,
			OnMatch: func(r match.Result) {
				mu.Lock()
				defer mu.Unlock()
				sum, known := sums[r.Seed]
				switch {
				case outer.Err() != nil: // it was cut short, which is no defect
				case r.Err != nil || r.State.Phase != game.Over:
					wrong++
					fmt.Fprintln(stdout, report(r, func(i int) string { return session.BotNames[i] }))
				case !known:
					frames.Add(int64(r.State.Frame))
					sums[r.Seed] = r.Sum
					fmt.Fprintln(stdout, report(r, func(i int) string { return session.BotNames[i] }))
				case sum != r.Sum:
					wrong++
					fmt.Fprintf(stdout, "match %08x: slot %d has come to another end\n", r.Seed, r.Slot)
				}
			}})
		go func() { ends <- p.Run(ctx) }()
	}
	if s.ready != nil {
		s.ready()
	}
	for range n {
		if err := <-ends; err != nil && outer.Err() == nil {
			wrong++
			fmt.Fprintln(stdout, err)
		}
	}
	cancel()
	<-hosted
	fmt.Fprintf(stdout, "%d matches of %d bots over %s in %.1f s, %d wrong\n", len(sums), n, s.link,
		time.Since(began).Seconds(), wrong)
	if f := frames.Load() * int64(n); f > 0 {
		fmt.Fprintf(stdout, "for each player %d bytes a second up and %d down, at %d frames a second\n",
			up.Load()*game.Rate/f, down.Load()*game.Rate/f, game.Rate)
	}
	switch {
	case wrong > 0:
		return errWrong
	case len(sums) < s.matches && outer.Err() != nil:
		return fmt.Errorf("%w after %d of %d matches", errInterrupted, len(sums), s.matches)
	}
	return nil
}

// counted counts the bytes of a link: what the protocols send, without the headers of the network.
type counted struct {
	transport.Link
	up, down *atomic.Int64
}

func (c counted) Send(peer int, frame []byte) error {
	c.up.Add(int64(len(frame)))
	return c.Link.Send(peer, frame)
}

func (c counted) Receive(buf []byte) (transport.Arrival, error) {
	got, err := c.Link.Receive(buf)
	c.down.Add(int64(got.N))
	return got, err
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
	w := match.Watcher{
		Dial: func(ctx context.Context) (transport.Link, error) { return dial(ctx, framesDoor) },
		OnFrame: func(s *game.State, who *match.Roster) {
			v.show(screen.Draw(s, session.Known(who, "you look on   q quits")))
		},
		OnIdle: func(err error) {
			if err != nil {
				say("No host answers at " + at + ", and it is called again each second: " + err.Error())
				return
			}
			say("There is no match at " + at + " now. It is shown as soon as one begins.")
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
