package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/examples/skirmish/relay"
	"github.com/parley-go/parley/examples/skirmish/session"
)

// BenchmarkInput measures how long it takes from a key to a screen that shows it, over TCP on this computer: ahead
// of the match, as the terminal shows it, and as all others see it. The screen is looked at each millisecond.
func BenchmarkInput(b *testing.B) {
	input(b, "-link tcp", func(*settings, string) {})
}

// BenchmarkRelayed is BenchmarkInput for a match that goes through a gameserver of Parsec, with a host that does not
// play. It measures what one player sends and gets, too, in bytes of datagrams.
func BenchmarkRelayed(b *testing.B) {
	at, packets := parsec(b, "-mode", "game", "-udp", "127.0.0.1:0")
	var up, down atomic.Int64
	began := time.Time{}
	input(b, "-link udp", func(s *settings, name string) {
		own := packets
		if name == "Ann" {
			own = counting(b, packets, &up, &down)
		}
		n, err := relay.Join(b.Context(), relay.Config{Lines: at, Packets: own, Name: name})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(n.Close)
		s.through, began = n, time.Now()
	})
	b.ReportMetric(float64(up.Load())/time.Since(began).Seconds(), "B/s-up")
	b.ReportMetric(float64(down.Load())/time.Since(began).Seconds(), "B/s-down")
}

// counting passes datagrams of one player on to a server, and its own back, and counts their bytes.
func counting(b *testing.B, server string, up, down *atomic.Int64) (at string) {
	near, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	far, err := net.Dial("udp4", server)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { near.Close(); far.Close() })
	var player atomic.Pointer[net.UDPAddr]
	go func() {
		for buf := make([]byte, 2000); ; {
			n, from, err := near.ReadFromUDP(buf)
			if err != nil {
				return
			}
			player.Store(from)
			up.Add(int64(n))
			far.Write(buf[:n])
		}
	}()
	go func() {
		for buf := make([]byte, 2000); ; {
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			down.Add(int64(n))
			near.WriteToUDP(buf[:n], player.Load())
		}
	}()
	return near.LocalAddr().String()
}

// input has a host and two players, of whom one drives to and fro; reach says how each reaches the others.
func input(b *testing.B, flags string, reach func(s *settings, name string)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := new(settings)
	f := s.flags()
	f.Parse(strings.Fields("-listen 127.0.0.1:0 -bots 0 -rounds 1 " + flags))
	if err := s.check(f); err != nil {
		b.Fatal(err)
	}
	s.least, s.bots = 2, 0
	reach(s, "host")
	h, at, err := s.host(ctx, s.carrier())
	if err != nil {
		b.Fatal(err)
	}
	go h.Run(ctx)
	person := func(name string) *session.Online {
		own := *s
		reach(&own, name)
		return session.NewOnline(ctx, "", true, true, own.player(own.dialer(at, own.carrier())))
	}
	o := person("Ann")
	person("Bob")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	until := func(ahead bool, ok func(v match.View) bool) time.Duration {
		for began := time.Now(); ; <-tick.C {
			if v := o.Seen(ahead); v.State != nil && (ok(v) || v.State.Phase > game.Fight) {
				return time.Since(began)
			}
			if time.Since(began) > time.Minute {
				b.Fatal(fmt.Sprint("nothing happens at ", at))
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
