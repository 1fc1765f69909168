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

// rest waits, but not longer than ctx.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
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
		rest(ctx, time.Second)
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
		f.search.begin()
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
	f.search.note(f.others[:])
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

// search finds out who of those who are there is the host.
type search struct {
	mu   sync.Mutex
	came time.Time         // when we joined
	met  map[string]*visit // the others by name
	// vain is since when nobody is found, and found whether there was a host since we joined.
	vain  time.Time
	found bool
}

// visit is when somebody came, and went.
type visit struct{ came, went time.Time }

// A host that goes leaves others, one of whom is the next one, and has the match. Who has just come lets them: so long
// is one new. A server names those who are there as soon as it lets somebody in, within the time of a burst. It may say
// of those who stay that they have gone, and name them again at once; blink is more than that takes.
const (
	settled = 3 * time.Second
	burst   = 250 * time.Millisecond
	blink   = time.Second
)

// begin is told that we have joined a server.
func (f *search) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.came, f.met, f.vain, f.found = time.Now(), map[string]*visit{}, time.Time{}, false
}

// note is told who is there.
func (f *search) note(others []other) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, there := time.Now(), map[string]bool{}
	for _, o := range others {
		there[o.name] = true
		v := f.met[o.name]
		switch {
		case o.name == "":
		case v == nil || !v.went.IsZero() && now.Sub(v.went) > blink:
			f.met[o.name] = &visit{came: now}
		default:
			v.went = time.Time{}
		}
	}
	for name, v := range f.met {
		switch {
		case there[name]:
		case v.went.IsZero():
			v.went = now
		case now.Sub(v.went) > blink:
			delete(f.met, name)
		}
	}
}

// first reports whether we are to be the host where nobody is: we are the first of those who are not new. We are not
// new if there was a host before, and nobody is left who was there before us.
func (f *search) first(own int, others []other) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, alone, senior := time.Now(), true, false
	for slot, o := range others {
		v := f.met[o.name]
		if o.at == "" || v == nil {
			alone = alone && o.at == ""
			continue
		}
		if alone = false; now.Sub(v.came) > settled && slot < own {
			return false
		}
		senior = senior || v.came.Sub(f.came) < burst
	}
	return alone || now.Sub(f.came) > settled || f.found && !senior
}

// host asks all others at once. A host is whoever answers as one.
func (f *search) host(ctx context.Context, s *settings, own int, others []other) (string, error) {
	answers := make([]chan bool, len(others))
	var asked []string
	for slot, o := range others {
		if o.at == "" {
			continue
		}
		asked = append(asked, o.name+" at "+o.at)
		there := make(chan bool, 1)
		answers[slot] = there
		go func() { there <- s.answers(ctx, o.at) }()
	}
	at, found := "", false
	for slot, there := range answers {
		if found = there != nil && <-there; found {
			at = others[slot].at
			break
		}
	}
	found = found || f.first(own, others)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case found:
		f.vain, f.found = time.Time{}, true
		return at, nil
	case f.vain.IsZero():
		f.vain = time.Now()
	}
	return "", &nobody{asked, s.link, time.Since(f.vain) > patience}
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

// pilots are the players at a gameserver of Parsec. Over UDP the match goes through it. It passes on no streams, so
// over TCP it only tells who is there, as a slotserver does.
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
		rest(ctx, time.Second)
	}
}

func (f *pilots) join(ctx context.Context) (*relay.Node, error) {
	lines := f.s.gameserver
	host, _, err := net.SplitHostPort(lines)
	if err != nil {
		host, lines = lines, net.JoinHostPort(lines, "6581")
	}
	packets := net.JoinHostPort(host, f.s.packets)
	return relay.Join(ctx, relay.Config{Lines: lines, Packets: packets, Name: f.s.told(),
		OnWelcome: f.search.begin,
		OnChange:  func(there [relay.Players]relay.Other) { f.search.note(f.heard(there)) }})
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
	others := f.heard(there)
	for slot := range others {
		if f.s.through != nil && others[slot].at != "" {
			others[slot].at = fmt.Sprint("slot ", slot)
		}
	}
	return f.search.host(ctx, f.s, own, others)
}

// heard is who is there, with the addresses of their hosts.
func (f *pilots) heard(there [relay.Players]relay.Other) []other {
	others := make([]other, len(there))
	for slot, o := range there {
		if o.Name != "" {
			others[slot] = f.s.heard(o.Name, o.IP)
		}
	}
	return others
}
