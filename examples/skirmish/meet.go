package main

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/examples/skirmish/relay"
	"github.com/parley-go/parley/examples/startup/peer"
	"github.com/parley-go/parley/machines/slotserver"
	"github.com/parley-go/parley/machines/startup"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// finder finds the host among players one of whom is it.
type finder interface {
	// run takes part until ctx ends.
	run(ctx context.Context)
	// host waits until it is known who the host is, and returns its address, "" if it is ours to be.
	host(ctx context.Context) (string, error)
}

// beside is the address of a host at another player's: the port is the same for all.
func (s *settings) beside(host string) string {
	_, port, _ := net.SplitHostPort(s.listen)
	return net.JoinHostPort(host, port)
}

// equals find each other by Parsec's startup; who keeps that game is the host.
type equals struct {
	s *settings
	p *peer.Peer
}

func newEquals(ctx context.Context, s *settings) (*equals, error) {
	place := peer.Place{Bind: s.bind, Broadcast: s.broadcast, Server: s.tunnel, Silence: 4 * time.Second}
	open := func() (peer.Link, error) { return peer.OpenUDP(place) }
	if s.link == carrier.IPX {
		open = func() (peer.Link, error) { return peer.OpenTunnel(ctx, place) }
	}
	link, err := open()
	if err != nil {
		return nil, err
	}
	p, err := peer.New(link, peer.Config{Tick: 100 * time.Millisecond, Silence: 4 * time.Second, Again: time.Second})
	return &equals{s, p}, err
}

func (e *equals) run(ctx context.Context) { e.p.Run(ctx) }

func (e *equals) host(ctx context.Context) (string, error) {
	keeper, err := e.keeper(ctx)
	switch {
	case err != nil || keeper == "":
		return "", err
	case e.s.link != carrier.IPX:
		return e.s.beside(keeper), nil
	}
	find, stop := context.WithTimeout(ctx, 3*time.Second) // a door has a node of its own there
	defer stop()
	return carrier.Find(find, fmt.Sprintf("%x", socket), e.s.carrier())
}

// keeper waits until it is known who keeps the game, and returns the host of its address, "" if we do.
func (e *equals) keeper(ctx context.Context) (string, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		v := e.p.View(ctx)
		if v.State == startup.StateGame.String() {
			for _, q := range v.Players {
				if q.Keeper && q.Self {
					return "", nil
				} else if q.Keeper && q.Address != "" {
					host, _, err := net.SplitHostPort(q.Address)
					if err != nil {
						host = q.Address
					}
					return host, nil
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// slots are the players whom a slotserver of Parsec names. It sees nothing of the game: a host is whoever answers as
// one, and if nobody does, the player in the first slot becomes it.
type slots struct {
	s *settings

	mu     sync.Mutex
	joined bool
	own    int
	others [len(slotserver.Client{}.Others)]other // by slot
	err    error                                  // why we are not let in

	search search
}

// other is another player of a server of Parsec; the name is "" where there is none.
type other struct{ name, at string }

// told is the name that a server of Parsec has: the own one, and the port at which the own host would be, since the
// server tells the others addresses without ports.
func (s *settings) told() string {
	_, port, _ := net.SplitHostPort(s.listen)
	return strings.ReplaceAll(s.name, " ", "_") + ":" + port
}

// heard takes a name apart. Who tells no port has the same as we.
func (s *settings) heard(name, ip string) other {
	if before, port, ok := strings.Cut(name, ":"); ok {
		if at := strings.LastIndex(name, ":"); at > len(before) {
			before, port = name[:at], name[at+1:]
		}
		if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 {
			return other{before, net.JoinHostPort(ip, port)}
		}
	}
	return other{name, s.beside(ip)}
}

// run keeps a connection to the server, until ctx ends.
func (f *slots) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := f.connect(ctx)
		f.mu.Lock()
		f.joined = false
		if err != nil {
			f.err = err
		}
		f.mu.Unlock()
		t := time.NewTimer(time.Second)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

// connect joins, and learns who is there until the connection ends.
func (f *slots) connect(ctx context.Context) error {
	name, ok := slotserver.NewName(f.s.told())
	os, _ := slotserver.NewSystem(strings.ToUpper(runtime.GOOS))
	if !ok || f.s.name == "" {
		return fmt.Errorf("the name %q is not one for a slotserver", f.s.name)
	}
	dial, stop := context.WithTimeout(ctx, 5*time.Second)
	link, err := tcp.Dial(dial, "tcp4", f.s.slots, tcp.Config{})
	stop()
	if err != nil {
		return err
	}
	d := driver.New(slotserver.NewClientRunner(), driver.Options[*slotserver.ClientRunner]{OnReport: f.report,
		StopAtFinal: true})
	if err := d.Attach(0, link); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	if _, err := d.Do(ctx, func(r *slotserver.ClientRunner) fsm.Result {
		return r.Join(slotserver.Version{Major: 1}, name, os)
	}); err != nil {
		d.Stop()
	}
	<-ended
	return nil
}

func (f *slots) report(r *slotserver.ClientRunner, i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch v := r.Report(i); v.Kind {
	case slotserver.ClientReportWelcome:
		f.joined, f.own, f.err = true, int(v.Welcome.Slot), nil
	case slotserver.ClientReportRefused:
		f.err = fmt.Errorf("the slotserver at %s does not let us in: %v", f.s.slots, v.Refused.Why)
	case slotserver.ClientReportLost:
		f.err = fmt.Errorf("the slotserver at %s is gone", f.s.slots)
	}
	for slot := range f.others {
		f.others[slot] = other{}
		if o := &r.Machine.Others[slot]; o.Present {
			f.others[slot] = f.s.heard(o.Value.Name.String(), o.Value.Ip.String())
		}
	}
}

// patience is how long those who are there may take until one of them is the host, before we say what may be wrong.
const patience = 10 * time.Second

func (f *slots) host(ctx context.Context) (string, error) {
	f.mu.Lock()
	joined, own, others, err := f.joined, f.own, f.others, f.err
	f.mu.Unlock()
	if !joined && err == nil {
		err = fmt.Errorf("the slotserver at %s is called", f.s.slots)
	}
	if !joined {
		return "", err
	}
	return f.search.host(ctx, f.s, own, others[:])
}

// search asks those who are there who the host is.
type search struct {
	since time.Time // since when nobody is found
}

// host asks all others at once. A host is whoever answers as one; if nobody does, the player in the first slot becomes
// it.
func (f *search) host(ctx context.Context, s *settings, own int, others []other) (string, error) {
	first := true
	answers := make([]chan bool, len(others))
	var asked []string
	for slot, o := range others {
		if o.at == "" {
			continue
		}
		first = first && slot > own
		asked = append(asked, o.name+" at "+o.at)
		there := make(chan bool, 1)
		answers[slot] = there
		go func() { there <- s.answers(ctx, o.at) }()
	}
	for slot, there := range answers {
		if there != nil && <-there {
			f.since = time.Time{}
			return others[slot].at, nil
		}
	}
	if first {
		f.since = time.Time{}
		return "", nil
	}
	if f.since.IsZero() {
		f.since = time.Now()
	}
	return "", &nobody{asked, s.link, time.Since(f.since) > patience}
}

// nobody says that none of those who are there is the host, or can be reached.
type nobody struct {
	asked []string
	link  string
	long  bool
}

func (e *nobody) Error() string {
	if !e.long {
		return "nobody is the host yet, and all are asked again"
	}
	asked := e.asked
	if more := len(asked) - 3; more > 0 {
		asked = append(slices.Clone(asked[:3]), fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("No host answers over %s, and all are asked again: %s. Have they the same -link, and "+
		"does their -listen let others in?", strings.ToUpper(e.link), strings.Join(asked, ", "))
}

// answers reports whether somebody is a host at an address.
func (s *settings) answers(ctx context.Context, at string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	l, err := s.dialer(at, s.carrier())(ctx, controlDoor)
	if err != nil {
		return false
	}
	l.Abort()
	return true
}

// pilots are the players at a gameserver of Parsec. Over UDP the match goes through it. It passes on no streams, so over
// TCP it only tells who is there, as a slotserver does.
type pilots struct {
	s      *settings
	search search

	mu   sync.Mutex
	node *relay.Node
	err  error // why we are not let in
}

// run keeps a connection to the server, until ctx ends.
func (f *pilots) run(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := f.join(ctx)
		f.mu.Lock()
		f.node, f.err = n, err
		f.mu.Unlock()
		if err == nil {
			select {
			case <-n.Over():
			case <-ctx.Done():
			}
			n.Close()
			f.mu.Lock()
			f.node, f.err = nil, n.Err()
			f.mu.Unlock()
		}
		t := time.NewTimer(time.Second)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

func (f *pilots) join(ctx context.Context) (*relay.Node, error) {
	lines := f.s.gameserver
	host, _, err := net.SplitHostPort(lines)
	if err != nil {
		host, lines = lines, net.JoinHostPort(lines, "6581")
	}
	return relay.Join(ctx, relay.Config{Lines: lines, Packets: net.JoinHostPort(host, f.s.packets), Name: f.s.told()})
}

func (f *pilots) host(ctx context.Context) (string, error) {
	f.mu.Lock()
	node, err := f.node, f.err
	f.mu.Unlock()
	if node == nil {
		if err == nil {
			err = fmt.Errorf("the gameserver at %s is called", f.s.gameserver)
		}
		return "", err
	}
	own, there := node.Who()
	if f.s.through = nil; f.s.link == carrier.UDP {
		f.s.through = node
	}
	var others [relay.Players]other
	for slot, o := range there {
		if o.Name == "" {
			continue
		}
		others[slot] = f.s.heard(o.Name, o.IP)
		if f.s.through != nil {
			others[slot].at = fmt.Sprint("slot ", slot)
		}
	}
	return f.search.host(ctx, f.s, own, others[:])
}
