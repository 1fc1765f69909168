package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/machines/stream"
)

// From one address come silence, half connections, garbage, huge lines and datagrams with forged senders, before and
// during a match. Two who come from elsewhere play it to its end.
func TestAttack(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Skip("this computer has one address for itself")
	} else {
		l.Close()
	}
	links := []string{"udp"}
	if os.Getenv("PARLEY_LONG") != "" {
		links = append(links, "tcp")
	}
	for _, link := range links {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only ends a test that would hang
			defer cancel()
			s := parsed(t, "-link "+link+" -rounds 1 -bots 1 -rate 100 -listen 127.0.0.1:0")
			s.least = 2
			h, at, err := s.host(ctx, s.carrier())
			if err != nil {
				t.Fatal(err)
			}
			hosted, attacked := make(chan struct{}), make(chan struct{})
			go func() { h.Run(ctx); close(hosted) }()
			first := make(chan struct{})
			attack, stop := context.WithCancel(ctx)
			go func() {
				defer close(attacked)
				if link == "udp" {
					forge(attack, t, at, first)
				} else {
					crowd(attack, at, first)
				}
			}()
			<-first
			ends := make(chan error, 2)
			over := make(chan match.Result, 2)
			for _, name := range []string{"Ann", "Bob"} {
				p := match.NewPlayer(match.PlayerConfig{Name: name, Dial: s.dialer(at, s.carrier()), Auto: true,
					Matches: 1, Length: 10 * time.Millisecond, OnMatch: func(r match.Result) { over <- r },
					Source: (*game.State).Advice})
				go func() { ends <- p.Run(ctx) }()
			}
			for range 2 {
				if err := <-ends; err != nil {
					t.Fatal(err)
				}
			}
			if a, b := <-over, <-over; a.Err != nil || a.State.Phase != game.Over || a.Sum != b.Sum {
				t.Errorf("the match came to %v in phase %d, and the sums are %x and %x", a.Err, a.State.Phase, a.Sum,
					b.Sum)
			}
			stop()
			<-attacked
			cancel()
			<-hosted
		})
	}
}

// crowd connects from 127.0.0.2, again and again, and keeps what it is left.
func crowd(ctx context.Context, at string, first chan struct{}) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	huge := bytes.Repeat([]byte("A"), 1<<18)
	says := [][]byte{nil, {controlDoor}, {framesDoor}, {99}, append([]byte{controlDoor}, huge...),
		append([]byte{framesDoor}, huge...), {controlDoor, 1, 2, 3}}
	var all []net.Conn
	defer func() {
		for _, c := range all {
			c.Close()
		}
	}()
	for n := 0; ctx.Err() == nil; n++ {
		if n == 60 {
			close(first)
		}
		if len(all) == 200 { // descriptors are few
			all[0].Close()
			all = all[1:]
		}
		c, err := from.DialContext(ctx, "tcp", at)
		if err != nil { // shown the door
			continue
		}
		all = append(all, c)
		c.SetWriteDeadline(time.Now().Add(5 * time.Millisecond)) // who is not read is not waited for
		c.Write(says[n%len(says)])
	}
}

// forge sends what a forger can, who hears no answer: calls from thousands of ports, garbage and huge datagrams.
func forge(ctx context.Context, t *testing.T, at string, first chan struct{}) {
	to, err := net.ResolveUDPAddr("udp", at)
	if err != nil {
		t.Error(err)
	}
	call, err := stream.AppendMessage(nil, &stream.Message{Kind: stream.MessageHello,
		Hello: stream.HelloMessage{Mine: 7}})
	if err != nil {
		t.Error(err)
	}
	says := [][]byte{call, {}, []byte("garbage"), bytes.Repeat([]byte{0xff}, 60000), call[:3]}
	for n := 0; ctx.Err() == nil; n++ {
		if n == 1000 {
			close(first)
		}
		c, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, byte(n>>8), byte(2+n%250))}, to)
		if err != nil {
			continue
		}
		for _, b := range says {
			c.Write(b)
		}
		c.Close()
	}
}
