package match_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/examples/skirmish/match"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// from is a link that comes from an address.
type from struct {
	transport.Link
	host string
}

func (f from) RemoteAddr(int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.host), Port: 1} }

// strangers call a door from one address, and say this and nothing else.
func (r *room) strangers(d door, n int, host, say string) {
	for range n {
		near, far := mem.Pair(mem.Config{Stream: true})
		near.Send(0, []byte(say))
		near.Flush()
		d <- from{far, host}
		r.t.Cleanup(func() { near.Abort() })
	}
}

// hello is the first word of a player.
func hello(t *testing.T, name string) string {
	n, _ := skirmish.NewName(name)
	b, err := skirmish.AppendMessage(nil, &skirmish.Message{Kind: skirmish.MessageHello,
		Hello: skirmish.HelloMessage{Version: match.Version, Name: n}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever comes from one address, and however much of it, there is room for players from others, who begin a match and
// end it. Of those who say who they are and no more, not even two addresses hold all places for ever.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		name string
		come func(r *room)
	}{
		{"silent", func(r *room) {
			r.strangers(r.control, 100, "192.0.2.1", "")
			r.strangers(r.frames, 100, "192.0.2.1", "")
		}},
		{"players", func(r *room) { r.strangers(r.control, 100, "192.0.2.1", hello(r.t, "Eve")) }},
		{"two addresses", func(r *room) {
			r.strangers(r.control, 7, "192.0.2.1", hello(r.t, "Eve"))
			r.strangers(r.control, 1, "192.0.2.2", hello(r.t, "Mallory"))
		}},
		{"IPv6", func(r *room) {
			for i := range 100 {
				r.strangers(r.control, 1, fmt.Sprintf("2001:db8::%x", i+1), hello(r.t, "Eve"))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, match.HostConfig{Settings: match.Settings{Arena: 2, Rounds: 1, Bots: 1}})
				c.come(r)
				synctest.Wait()
				began := time.Now()
				_, ann := r.sit("Ann", 1)
				_, bob := r.sit("Bob", 1)
				limit := time.After(5 * time.Minute)
				for _, done := range []chan error{ann, bob} {
					select {
					case err := <-done:
						if err != nil {
							t.Error(err)
						}
					case <-limit:
						t.Fatal("no match is over after five minutes")
					}
				}
				t.Log(time.Since(began))
			})
		})
	}
}

// In a match, too, strangers from one address leave room at the door for frames: for players, and for who looks on.
func TestCrowdInMatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Settings: match.Settings{Arena: 2, Rounds: 1, Bots: 1}})
		playing := make(chan struct{}, 1)
		_, done := r.sit("Ann", 1, func(c *match.PlayerConfig) {
			next := c.Source
			c.Source = func(s *game.State, slot int) game.Input {
				select {
				case playing <- struct{}{}:
				default:
				}
				return next(s, slot)
			}
		})
		<-playing
		r.strangers(r.frames, 100, "192.0.2.1", "")
		ctx, cancel := context.WithCancel(r.ctx)
		defer cancel()
		seen := make(chan struct{}, 1)
		w := match.Watcher{Dial: func(ctx context.Context) (transport.Link, error) { return r.dial("Cy")(ctx, 1) },
			OnFrame: func(*game.State, *match.Roster) {
				select {
				case seen <- struct{}{}:
				default:
				}
			}}
		over := make(chan struct{})
		go func() { w.Run(ctx); close(over) }()
		select {
		case <-seen:
		case <-time.After(5 * time.Second): // the match is long over then
			t.Error("nobody can look on")
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		cancel()
		<-over
	})
}

// At a duel, strangers from one address leave room for others to look on.
func TestCrowdLooksOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Least: 2, Duel: true, Settings: match.Settings{Rounds: 1, Bots: 1}})
		_, ann := r.sit("Ann", 1)
		_, bob := r.sit("Bob", 1)
		time.Sleep(8 * time.Second) // virtual: they fight
		r.strangers(r.frames, 100, "192.0.2.1", string(make([]byte, 8)))
		synctest.Wait()
		ctx, cancel := context.WithCancel(r.ctx)
		seen := 0
		w := match.Watcher{Dial: func(ctx context.Context) (transport.Link, error) { return r.dial("w")(ctx, 1) },
			OnFrame: func(*game.State, *match.Roster) { seen++ }}
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		if err := errors.Join(<-ann, <-bob); err != nil {
			t.Error(err)
		}
		cancel()
		if <-done; seen == 0 {
			t.Error("who looks on from elsewhere sees nothing")
		}
	})
}

// Those for whom there is no number hold up nobody who comes after them.
func TestCrowdWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, match.HostConfig{Settings: match.Settings{Arena: 2, Rounds: 1, Bots: 1}})
		began := time.Now()
		r.strangers(r.control, 100, "192.0.2.1", hello(t, "Eve"))
		if waited := time.Since(began); waited > time.Second { // virtual
			t.Errorf("the door is open to others after %v", waited)
		}
		if _, done := r.sit("Ann", 1); <-done != nil {
			t.Error("Ann has no match")
		}
	})
}
