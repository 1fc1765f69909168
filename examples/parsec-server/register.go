package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/parley-go/parley/machines/masterserver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
)

// registration is the masterserver that lists this server.
type registration struct {
	address, url string
	// again is how long to wait after the first failure, 0 for a second.
	again time.Duration
}

// slowest is the longest time between two attempts to be listed.
const slowest = time.Minute

// farewell is how long the masterserver has to answer that it has taken the server from its list.
const farewell = time.Second

// register keeps the server in the masterserver's list until ctx ends. A masterserver that cannot be reached, that
// refuses, or that ends and begins again, is asked anew, each time after twice the time up to a minute. Once the
// server was in the list for longer than that, it is asked soon again.
func (s *server) register(ctx context.Context) {
	first := cmp.Or(s.master.again, time.Second)
	for again := first; ctx.Err() == nil; again = min(2*again, slowest) {
		begun := time.Now()
		err := s.listed(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it has ended the connection")
		}
		if time.Since(begun) > 2*again {
			again = first
		}
		s.log.Warn("not listed", "masterserver", s.master.address, "error", err, "again in", again.String())
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// listed registers once, and tells how many play until the connection or ctx ends. In the latter case the server takes
// its leave.
func (s *server) listed(ctx context.Context) error {
	name, _ := masterserver.NewName(s.name)
	os, _ := masterserver.NewSystem("go")
	url, ok := masterserver.NewUrl(s.master.url)
	if !ok {
		return errors.New("-url has more than 127 characters")
	}
	var refused error
	h := &masterserver.GameserverHandlers{
		Refused:      func() { refused = errors.New("its list is full") },
		Incompatible: func() { refused = errors.New("its version is another") },
		Rejected:     func() { refused = errors.New("it could not make anything of the request") },
	}
	// The masterserver says nothing by itself, and the peer is a server: no limit on its silence.
	life, die := context.WithCancel(context.WithoutCancel(ctx)) // the session's, which ends a little later than ctx
	defer die()
	dialing := context.AfterFunc(ctx, die)
	p, err := play.Dial(life, "tcp", s.master.address, masterserver.NewGameserverRunner(), h,
		play.Options{Logger: s.log})
	if err != nil {
		return err
	}
	dialing()
	err = p.Give(func(r *masterserver.GameserverRunner) fsm.Result {
		return r.Begin(name, os, url, masterserver.Version{Major: 1})
	})
	for told := 0; err == nil; {
		if n := len(s.list()); n != told { // the machine knows that nobody plays at first
			told = n
			err = p.Give(func(r *masterserver.GameserverRunner) fsm.Result {
				return r.Players(masterserver.Players(n))
			})
		}
		select {
		case <-s.changed:
		case <-p.Done():
			return errors.Join(p.Wait(), refused)
		case <-ctx.Done():
			leave(p)
			return p.Close()
		}
	}
	return errors.Join(err, p.Close(), refused)
}

// leave has the masterserver take the server from its list, which it cannot be asked for before it has answered what
// it was told last.
func leave(p *play.Session[*masterserver.GameserverRunner]) {
	late := time.After(farewell)
	for p.Give((*masterserver.GameserverRunner).End) != nil {
		select {
		case <-p.Done():
			return
		case <-late:
			return
		case <-time.After(farewell / 100):
		}
	}
	select {
	case <-p.Done():
	case <-late:
	}
}
