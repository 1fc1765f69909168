package main

import (
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
	// again is how long to wait before the next attempt, 0 for five seconds.
	again time.Duration
}

// register keeps the server in the masterserver's list until ctx ends. A masterserver that cannot be reached, or that
// ends and begins again, is asked anew.
func (s *server) register(ctx context.Context) {
	again := s.master.again
	if again == 0 {
		again = 5 * time.Second
	}
	for ctx.Err() == nil {
		if err := s.listed(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("not listed", "masterserver", s.master.address, "error", err)
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// listed registers once, and tells how many play until the connection ends.
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
	p, err := play.Dial(ctx, "tcp", s.master.address, masterserver.NewGameserverRunner(), h,
		play.Options{Logger: s.log})
	if err != nil {
		return err
	}
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
			return p.Close()
		}
	}
	return errors.Join(err, p.Close(), refused)
}
