package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/session"
)

// BenchmarkInput measures how long it takes from a key to a screen that shows it, over TCP on this computer: ahead
// of the match, as the terminal shows it, and as all others see it. The screen is looked at each millisecond.
func BenchmarkInput(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := new(settings)
	f := s.flags()
	f.Parse(strings.Fields("-listen 127.0.0.1:0 -bots 0 -rounds 1"))
	if err := s.check(f); err != nil {
		b.Fatal(err)
	}
	s.least, s.bots = 2, 0
	h, at, err := s.host(ctx, s.carrier())
	if err != nil {
		b.Fatal(err)
	}
	go h.Run(ctx)
	o := session.NewOnline(ctx, "", true, true, s.player(s.dialer(at, s.carrier())))
	session.NewOnline(ctx, "", true, true, s.player(s.dialer(at, s.carrier())))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	until := func(ahead bool, ok func(v match.View) bool) time.Duration {
		for began := time.Now(); ; <-tick.C {
			if v := o.Seen(ahead); v.State != nil && (ok(v) || v.State.Phase > game.Fight) {
				return time.Since(began)
			}
		}
	}
	until(false, func(v match.View) bool { return v.State.Phase == game.Fight })
	var ahead, all time.Duration
	n := 0
	for b.Loop() {
		d := []game.Dir{game.Left, game.Right}[n%2] // to and fro
		shown := func(v match.View) bool { return v.State.Tanks[v.Slot].Facing == d }
		o.Frame(game.Input(d))
		ahead += until(true, shown)
		all += until(false, shown)
		n++
	}
	b.ReportMetric(float64(ahead.Milliseconds())/float64(n), "ms-ahead")
	b.ReportMetric(float64((ahead+all).Milliseconds())/float64(n), "ms-for-all")
}
