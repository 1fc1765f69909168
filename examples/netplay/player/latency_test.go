package player_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/netplay/internal/refgame"
	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// far joins two ends that are 100 ms away from each other.
func far(t *testing.T) (transport.Link, transport.Link) {
	t.Helper()
	var ends [2]transport.Link
	a, b := mem.Pair(mem.Config{Stream: true})
	for i, l := range []transport.Link{a, b} {
		end, err := impair.New(l, impair.Config{Faults: impair.Faults{Delay: 100 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = end
	}
	return ends[0], ends[1]
}

// conn is a link as the reference game takes it.
type conn struct {
	net.Conn
	link transport.Link
}

func (c conn) Read(b []byte) (int, error) {
	got, err := c.link.Receive(b)
	return got.N, err
}

func (c conn) Write(b []byte) (int, error) {
	return len(b), errors.Join(c.link.Send(0, b), c.link.Flush())
}

func (c conn) Close() error                { return c.link.Close() }
func (c conn) SetDeadline(time.Time) error { return c.link.Abort() }

// clock measures how many frames a second are played between the hundredth and the four hundredth.
type clock struct {
	frames int
	begun  time.Time
	rate   float64
}

func (c *clock) frame() {
	switch c.frames++; c.frames {
	case 100:
		c.begun = time.Now()
	case 400:
		c.rate = 300 / time.Since(c.begun).Seconds()
	}
}

// faraway plays a side at the end of a link.
func faraway(t *testing.T, link transport.Link, cfg player.Config, c *clock) {
	cfg.Link, cfg.Matches, cfg.Verbose = link, 1, true
	var lines []string
	cfg.OnLine = func(line string) {
		if c != nil && strings.HasPrefix(line, "report simulate{") {
			c.frame()
		}
		if !strings.Contains(line, "frame:") {
			lines = append(lines, line)
		}
	}
	if _, err := player.Play(t.Context(), cfg); err != nil {
		t.Errorf("%v\n%s", err, strings.Join(lines, "\n"))
	}
}

// faraway24 plays the reference game at the end of a link, at its pace of 24 frames a second.
func faraway24(t *testing.T, link transport.Link, server bool, c *clock) {
	plan := refgame.Plan{Server: server, Fleet: []byte{orz}, Delay: 3, FPS: 24,
		Battles: []refgame.Battle{{OwnDies: true, OtherDies: true, After: 450}}}
	plan.At = func(m refgame.Moment) (do refgame.Instead) {
		if c != nil && m.Point == "inBattle" {
			c.frame()
		}
		return do
	}
	if _, err := refgame.Play(t.Context(), conn{link: link}, plan); err != nil {
		t.Errorf("game: %v", err)
	}
}

// Over 100 ms one way the frames go at the game's pace, if the delay is as long as the way. The time is
// that of the bubble, so nothing here depends on the computer.
func TestFarAway(t *testing.T) {
	fleet := []netplay.Ship{netplay.ShipOrz}
	idle := script(t, "input none x460\nquit")
	watch := script(t, "input none x9999")
	for name, x := range map[string]struct {
		play  func(t *testing.T, a, b transport.Link, c *clock)
		least float64
		most  float64
	}{
		"two games, delay 3": {least: 23.9, most: 24.1, play: func(t *testing.T, a, b transport.Link, c *clock) {
			var wg sync.WaitGroup
			wg.Go(func() { faraway24(t, a, true, c) })
			wg.Go(func() { faraway24(t, b, false, nil) })
			wg.Wait()
		}},
		// A checksum that is sent back has a whole round trip, and takes it in three frames and the one it is for.
		"a game and this side, delay 3": {least: 16, most: 17,
			play: againstGame(player.Config{Delay: 3, Fleet: fleet})},
		"a game and this side, which adapts": {least: 23.9, most: 24.1,
			play: againstGame(player.Config{Delay: 3, Adapt: true, Fleet: fleet})},
		"two of this side, delay 0": {least: 0, most: 10.1, play: twoPlayers(player.Config{Fleet: fleet,
			Checksums: player.Own, FPS: 24}, idle, watch)},
		"two of this side, which adapt": {least: 23.9, most: 24.1, play: twoPlayers(player.Config{Fleet: fleet,
			Checksums: player.Own, FPS: 24, Adapt: true}, idle, watch)},
		"two of this side, which adapt and find out": {least: 23.9, most: 24.1, play: twoPlayers(player.Config{
			Fleet: fleet, FPS: 24, Adapt: true}, idle, watch)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := far(t)
				var c clock
				x.play(t, a, b, &c)
				t.Logf("%.2f frames a second", c.rate)
				if c.rate < x.least || c.rate > x.most {
					t.Errorf("%.2f frames a second, not %.1f to %.1f", c.rate, x.least, x.most)
				}
			})
		})
	}
}

func againstGame(cfg player.Config) func(t *testing.T, a, b transport.Link, c *clock) {
	return func(t *testing.T, a, b transport.Link, c *clock) {
		var wg sync.WaitGroup
		cfg.Server, cfg.Checksums = true, player.Echo
		wg.Go(func() { faraway(t, a, cfg, nil) })
		wg.Go(func() { faraway24(t, b, false, c) })
		wg.Wait()
	}
}

func twoPlayers(cfg player.Config, one, other *player.Script) func(t *testing.T, a, b transport.Link, c *clock) {
	return func(t *testing.T, a, b transport.Link, c *clock) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		cfg := cfg
		cfg.Server, cfg.Link, cfg.Script, cfg.Matches = true, a, other, 1
		go func() { _, err := player.Play(ctx, cfg); done <- err }()
		mine := cfg
		mine.Server, mine.Script = false, one
		faraway(t, b, mine, c)
		if f := new(player.Failure); !errors.As(<-done, &f) {
			t.Error("the other side has left in the battle, and nobody says so")
		}
	}
}
