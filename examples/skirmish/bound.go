package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/screen"
	"github.com/parley-go/parley/examples/skirmish/session"
	"github.com/parley-go/parley/runtime/binding"
)

// The protocols by which players meet. Parsec's three: all are equal and find each other, a slotserver tells who is
// there, or all goes through a gameserver; with each one of the players is the host. And there may be a host that is
// known.
const (
	peerToPeer = "peer-to-peer"
	slotServer = "slotserver"
	gameServer = "gameserver"
	server     = "server"
)

// medium is what a transport opens: the network over which the system then makes its links.
type medium string

// Close implements io.Closer: a system closes its links itself.
func (medium) Close() error { return nil }

// bound is a session whose protocol and transport are switched between matches, while it goes on.
type bound struct {
	s    *settings
	b    *binding.Binding[*system, medium]
	over chan struct{}

	mu  sync.Mutex
	say string // the last word of a switch
}

// newBound returns a session with a pair bound: what the flags -meet and -link say.
func newBound(ctx context.Context, s *settings) (*bound, error) {
	v := &bound{s: s, over: make(chan struct{})}
	open := func(link string) func(context.Context) (medium, error) {
		return func(context.Context) (medium, error) { return medium(link), nil }
	}
	var err error
	protocol := func(name string) binding.Protocol[*system, medium] {
		return binding.Protocol[*system, medium]{Name: name, PeerToPeer: name == peerToPeer,
			Init: func(_ context.Context, m medium) (*system, error) { return newSystem(ctx, s, string(m), name) }}
	}
	protocols := []binding.Protocol[*system, medium]{protocol(peerToPeer), protocol(server)}
	if s.slots != "" {
		protocols = append(protocols, protocol(slotServer))
	}
	if s.gameserver != "" {
		protocols = append(protocols, protocol(gameServer))
	}
	v.b, err = binding.New(protocols,
		[]binding.Transport[medium]{
			{Name: carrier.UDP, Open: open(carrier.UDP)},
			{Name: carrier.TCP, Open: open(carrier.TCP)},
			{Name: carrier.IPX, PeerToPeerOnly: true, Open: open(carrier.IPX)}, // Parsec's rule
		})
	if err != nil {
		return nil, err
	}
	if err := v.b.Switch(ctx, binding.Pair{Protocol: s.meet, Transport: s.link}); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		v.b.Unbind(context.Background())
		close(v.over)
	})
	return v, nil
}

// Over implements show.
func (v *bound) Over() <-chan struct{} { return v.over }

// Frame implements show.
func (v *bound) Frame(in game.Input) (g *screen.Grid) {
	v.mu.Lock()
	say := v.say
	v.mu.Unlock()
	if say == "" {
		at := v.b.Bound()
		say = fmt.Sprintf("[4] meet %s, [5] over %s", at.Protocol, at.Transport)
	}
	v.b.Use(func(s *system) error {
		g = s.frame(in, say)
		return nil
	})
	if g == nil { // a switch is under way
		g = screen.Lobby(&screen.Room{Title: say, Me: -1})
	}
	return g
}

// Type implements show: 4 binds the next protocol, 5 the next transport.
func (v *bound) Type(ctx context.Context, key byte) {
	protocols, transports := v.b.Names()
	at := v.b.Bound()
	switch key {
	case '4':
		v.change(ctx, binding.Pair{Protocol: next(protocols, at.Protocol)})
	case '5':
		v.change(ctx, binding.Pair{Transport: next(transports, at.Transport)})
	default:
		v.b.Use(func(s *system) error {
			if o := s.current(); o != nil {
				o.Type(ctx, key)
			}
			return nil
		})
	}
}

// unmet says why there was no host when the session was left, nil if there was one.
func (v *bound) unmet() (err error) {
	v.b.Use(func(s *system) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = s.wrong
		return nil
	})
	return err
}

// Draft implements talker.
func (v *bound) Draft(text string, talking bool) {
	v.b.Use(func(s *system) error {
		if o := s.current(); o != nil {
			o.Draft(text, talking)
		}
		return nil
	})
}

// Say implements talker.
func (v *bound) Say(ctx context.Context, text string) {
	v.b.Use(func(s *system) error {
		if o := s.current(); o != nil {
			o.Say(ctx, text)
		}
		return nil
	})
}

// change switches, and remembers what came of it.
func (v *bound) change(ctx context.Context, to binding.Pair) {
	err := v.b.Switch(ctx, to)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.say = ""
	if err != nil {
		v.say = err.Error()
	}
}

// next is the name behind another one, the first behind the last.
func next(names []string, name string) string {
	for i, n := range names {
		if n == name {
			return names[(i+1)%len(names)]
		}
	}
	return names[0]
}

// system is a way to meet that is bound: it finds or becomes a host, and plays there.
type system struct {
	s       *settings
	link    string
	find    finder // nil where the host is known
	cancel  context.CancelFunc
	stopped chan struct{}

	mu     sync.Mutex
	online *session.Online
	state  string // what is done while there is no host
	wrong  error  // why there is none
	saved  *match.Saved
}

func newSystem(ctx context.Context, s *settings, link, protocol string) (*system, error) {
	own := *s
	own.link, own.fixed = link, protocol != server
	ctx, cancel := context.WithCancel(ctx)
	y := &system{s: &own, link: link, cancel: cancel, stopped: make(chan struct{}),
		state: "looking for others ..."}
	var err error
	switch protocol {
	case peerToPeer:
		y.find, err = newEquals(ctx, &own)
	case slotServer:
		y.find = &slots{s: &own}
	case gameServer:
		y.find = &pilots{s: &own}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(y.stopped)
		done := make(chan struct{})
		if y.find != nil {
			go func() { y.find.run(ctx); close(done) }()
		} else {
			close(done)
		}
		for ctx.Err() == nil {
			if err := y.meet(ctx); err != nil && ctx.Err() == nil {
				y.tell(err)
			}
			rest(ctx, 500*time.Millisecond)
		}
		<-done
	}()
	return y, nil
}

// meet finds the host, or becomes it, and plays until it is gone.
func (y *system) meet(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg := y.s.carrier()
	at, title := y.s.join, y.s.join
	keeps := false
	if y.find != nil {
		var err error
		if at, err = y.find.host(ctx); err != nil {
			return err
		}
		keeps = at == ""
		title = "with the host at " + at
		if y.s.through != nil {
			title += ", through the gameserver"
		}
	}
	y.mu.Lock()
	y.s.resume, y.saved = y.saved, nil
	y.mu.Unlock()
	if keeps || at == "" {
		h, where, err := y.s.host(ctx, cfg)
		if err != nil {
			return err
		}
		hosted := make(chan struct{})
		go func() { h.Run(ctx); close(hosted) }()
		defer func() { cancel(); <-hosted }()
		at, title = where, "you are the host, at "+where
	}
	player := y.s.player(y.s.dialer(at, cfg))
	if y.find != nil { // whoever is the next host goes on with the match
		player.OnLost = func(s *match.Saved) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.saved, y.state = s, "The host is gone. The match goes on with the next one, in a few seconds ..."
		}
	}
	o := y.s.online(ctx, title, false, player)
	y.mu.Lock()
	y.online, y.wrong = o, nil
	y.mu.Unlock()
	<-o.Over()
	y.mu.Lock()
	y.online = nil
	y.mu.Unlock()
	return o.Err()
}

func (y *system) tell(err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.state, y.wrong = err.Error(), err
}

func (y *system) current() *session.Online {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.online
}

func (y *system) frame(in game.Input, say string) *screen.Grid {
	if o := y.current(); o != nil {
		return o.With(in, say)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	return screen.Lobby(&screen.Room{Title: say, Me: -1, Lines: []string{y.state}})
}

// Connected implements binding.System: in a match nothing is switched.
func (y *system) Connected(context.Context) (bool, error) {
	o := y.current()
	if o == nil {
		return false, nil
	}
	phase := o.View().Phase
	return phase == match.Loading || phase == match.Playing, nil
}

// Kill implements binding.System.
func (y *system) Kill(ctx context.Context) error {
	y.cancel()
	select {
	case <-y.stopped:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("the network does not come to an end"), context.Cause(ctx))
	}
}
