package player_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/netplay/internal/refgame"
	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/machines/netplay"
)

const (
	orz      = 11
	shofixti = 13
	spathi   = 15
)

// against plays a side against the reference game, which accepts or connects as its plan says.
func against(t *testing.T, cfg player.Config, plan refgame.Plan) (*account, refgame.Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	a := new(account)
	var rep refgame.Report
	var gameErr error
	var wg sync.WaitGroup
	if plan.Server {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		cfg.Connect = l.Addr().String()
		wg.Go(func() { a.play(ctx, cfg) })
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		rep, gameErr = refgame.Play(ctx, conn, plan)
	} else {
		addr := make(chan net.Addr, 1)
		cfg.Listen, cfg.OnListen = "127.0.0.1:0", func(a net.Addr) { addr <- a }
		wg.Go(func() { a.play(ctx, cfg) })
		conn, err := net.Dial("tcp", (<-addr).String())
		if err != nil {
			t.Fatal(err)
		}
		rep, gameErr = refgame.Play(ctx, conn, plan)
	}
	wg.Wait()
	t.Cleanup(func() {
		if t.Failed() || testing.Verbose() {
			t.Logf("%v\n%s\ngame: %v\n%+v", a.err, strings.Join(a.lines, "\n"), gameErr, rep)
		}
	})
	return a, rep, gameErr
}

func script(t *testing.T, text string) *player.Script {
	t.Helper()
	s, err := player.ParseScript("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A whole match with the game on either side, without a simulation: losses of
// both sides that the script tells, game over, and a second match.
func TestGame(t *testing.T) {
	t.Parallel()
	for _, server := range []bool{true, false} {
		for _, delay := range []uint32{0, 2, 7} {
			plan := refgame.Plan{Server: server, Fleet: []byte{orz, spathi}, Name: "The game", Seed: 99,
				Delay: delay, Ping: true, Random: delay == 7,
				Battles: []refgame.Battle{{OwnDies: true, After: 30}, {OtherDies: true, After: 1},
					{OwnDies: true, OtherDies: true, After: 25, Lag: 4},
					{OtherDies: true, After: 12}, {OtherDies: true, After: 12}, {OtherDies: true, After: 12}}}
			cfg := player.Config{Name: "Parley", Delay: 1, Matches: 2,
				Fleet:  []netplay.Ship{netplay.ShipOrz, netplay.ShipVux, netplay.ShipZoq},
				Script: script(t, "died other\ndied own\ndied both\ndied own\ndied own\ndied own\nping")}
			a, rep, err := against(t, cfg, plan)
			if a.err != nil || err != nil {
				t.Fatalf("server %v, delay %d: %v, %v", server, delay, a.err, err)
			}
			if a.res.Mode != player.Echo || a.res.Ended != 2 || rep.Battles != 6 || a.res.Battles != 6 ||
				a.res.Frames != rep.Frames {
				t.Errorf("%+v\n%+v", a.res, rep)
			}
			if want := max(delay, 1); rep.Delay != want {
				t.Errorf("delay %d, want %d", rep.Delay, want)
			}
			if !a.has("report alive") || !rep.Alive {
				t.Error("a PING was not answered")
			}
		}
	}
}

// This side leaves matches. What it edits afterwards arrives although the game
// shows the player meanwhile that the match was left, and hears nothing.
func TestLeavesGame(t *testing.T) {
	t.Parallel()
	plan := refgame.Plan{Fleet: []byte{orz, spathi}, Name: "The game",
		Battles: []refgame.Battle{{OwnDies: true, After: 50}, {OwnDies: true, After: 50},
			{OwnDies: true, After: 10}, {OwnDies: true, After: 10}}}
	cfg := player.Config{Matches: 3, Checksums: player.Echo, Script: script(t, `
		wait inBattle
		wait frames 5
		reset
		edit own 5 spathi
		confirm
		wait selectShip
		reset 0
		edit other 6 spathi
		edit other 6 -
		ping
		confirm
		died other
		died other
		wait frames 3`)}
	a, rep, err := against(t, cfg, plan)
	if a.err != nil || err != nil || a.res.Left != 2 || rep.Left != 2 || a.res.Ended != 1 ||
		rep.OtherFleet[5] != spathi {
		t.Errorf("%v, %v, %+v, %+v", a.err, err, a.res, rep)
	}
}

// Without a number of matches, the other side may leave in the setup, and nowhere else.
func TestAnyNumber(t *testing.T) {
	t.Parallel()
	plan := refgame.Plan{Fleet: []byte{orz}, Battles: []refgame.Battle{{OwnDies: true, After: 5},
		{OwnDies: true, After: 5}}}
	cfg := player.Config{Checksums: player.Echo, Script: script(t, "died other\ndied other\ndied other")}
	a, _, err := against(t, cfg, plan)
	if a.err != nil || err != nil || a.res.Ended != 2 {
		t.Errorf("%v, %v, %+v", a.err, err, a.res)
	}
	plan.At = func(m refgame.Moment) refgame.Instead {
		return refgame.Instead{Close: m.Battle == 1 && m.Point == "selectShip"}
	}
	if a, _, err = against(t, cfg, plan); a.err == nil || err != nil || a.res.Ended != 1 {
		t.Errorf("%v, %v, %+v", a.err, err, a.res)
	}
}

// A game that is too old is told so, and refuses one itself.
func TestVersions(t *testing.T) {
	t.Parallel()
	a, _, err := against(t, player.Config{Minor: 6, Patch: 8, Matches: 1}, refgame.Plan{Server: true})
	if err == nil || a.err == nil || !a.has("state init -> ") {
		t.Errorf("%v, %v", a.err, err)
	}
	a, _, err = against(t, player.Config{Minor: 6, Patch: 9, Checksums: player.Echo, Matches: 1},
		refgame.Plan{Fleet: []byte{orz}, Battles: []refgame.Battle{{OwnDies: true, OtherDies: true, After: 1}},
			At: func(m refgame.Moment) refgame.Instead { return refgame.Instead{Leave: m.Point == "inBattle"} }})
	if err != nil || a.err != nil {
		t.Errorf("%v, %v", a.err, err)
	}
}

// Without a script, who lost a ship is found out by who chooses the next one.
func TestGameUnseenLosses(t *testing.T) {
	t.Parallel()
	plan := refgame.Plan{Server: true, Fleet: []byte{orz, spathi, shofixti}, Name: "The game", Delay: 2,
		Battles: []refgame.Battle{{OwnDies: true, After: 40},
			{OtherDies: true, After: 40, Special: []int{3, 7}}, {OtherDies: true, OwnDies: true, After: 30},
			{OwnDies: true, After: 40, Special: []int{3, 7}},
			{After: 1}}} // never begun: its confirmation tells
	cfg := player.Config{Matches: 1, Fleet: []netplay.Ship{netplay.ShipOrz, netplay.ShipVux, netplay.ShipZoq,
		netplay.ShipZoq}}
	for cfg.Doubt = 2 * time.Second; ; cfg.Doubt *= 4 {
		a, rep, err := against(t, cfg, plan)
		if err == nil && a.err == nil && a.res.Ended == 1 && rep.Battles == 4 &&
			a.has("command skip{own: true}") && a.has("command skip{own: false}") && a.has("command follow") {
			return
		}
		if cfg.Doubt > 30*time.Second { // else the game may have been slow to choose, and was not waited for
			t.Fatalf("%v, %v, %+v", a.err, err, rep)
		}
	}
}

// Both sides edit the same slots at the same time, waver and confirm again;
// both end with equal fleets.
func TestGameEdits(t *testing.T) {
	t.Parallel()
	for _, server := range []bool{true, false} {
		plan := refgame.Plan{Server: server, Fleet: []byte{orz, spathi}, Name: "The game", Waver: true,
			Before: []refgame.Edit{{Own: true, Slot: 3, Ship: 5}, {Own: false, Slot: 1, Ship: 6},
				{Own: false, Slot: 2, Ship: refgame.Vacant}, {Own: true, Slot: 0, Ship: 1}},
			Battles: []refgame.Battle{{OwnDies: true, After: 4}}}
		cfg := player.Config{Name: "Parley", Matches: 1, Script: script(t, `
			edit own 1 chmmr
			edit own 13 kohr-ah
			edit other 3 mycon
			edit other 12 umgah
			name own Another name
			confirm
			cancel
			edit other 0 -
			confirm
			reset   # once the match has begun
		`)}
		a, rep, err := against(t, cfg, plan)
		if a.err != nil || err != nil {
			t.Fatalf("server %v: %v, %v", server, a.err, err)
		}
		for s := range player.Slots {
			if x, y := code(a.res.Machine.Fleet[1][s].Own), rep.OtherFleet[s]; x != y {
				t.Errorf("slot %d of our fleet: %d here, %d there", s, x, y)
			}
			if x, y := code(a.res.Machine.Fleet[0][s].Own), rep.OwnFleet[s]; x != y {
				t.Errorf("slot %d of the other fleet: %d here, %d there", s, x, y)
			}
		}
		if rep.OtherName != "Another name" || a.res.Left != 1 {
			t.Errorf("%+v %+v", rep, a.res)
		}
	}
}

// code is a ship on the wire.
func code(s netplay.Ship) byte {
	if s == netplay.ShipVacant {
		return refgame.Vacant
	}
	return byte(s) - 1
}

// The game leaves the match in each state; this side goes back to the setup and plays on.
func TestGameResets(t *testing.T) {
	for _, point := range refgame.Points {
		switch point {
		case "init", "inSetup":
			continue // no match to leave
		}
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			left := false
			plan := refgame.Plan{Server: true, Fleet: []byte{orz, spathi}, Name: "The game",
				Battles: []refgame.Battle{{OwnDies: true, After: 10}, {OwnDies: true, After: 10},
					{OwnDies: true, After: 10}, {OwnDies: true, After: 10}},
				At: func(m refgame.Moment) (do refgame.Instead) {
					do.Leave = !left && m.Point == point
					left = left || do.Leave
					return do
				}}
			a, rep, err := against(t, player.Config{Matches: 2, Checksums: player.Echo,
				Script: script(t, "died other\ndied other\ndied other\ndied other")}, plan)
			if err != nil || a.err != nil || a.res.Left != 1 || a.res.Ended != 1 {
				t.Errorf("%v %v %+v %+v", err, a.err, a.res, rep)
			}
		})
	}
}
