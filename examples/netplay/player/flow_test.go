package player_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/trace"
)

// specification is the protocol as the compiler knows it.
var specification = sync.OnceValues(func() (*model.Protocol, error) {
	p, errs := compile.Load("../../../specs/netplay/spec.yaml", compile.Options{})
	if len(errs) > 0 {
		return nil, errors.New(errs[0].Message)
	}
	return p, nil
})

// follows says that what a side has recorded is a run of the specification, by the interpreter.
func (a *account) follows(t *testing.T) {
	t.Helper()
	p, err := specification()
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(bytes.NewReader(a.json.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.Check(p, r)
	if err != nil {
		t.Fatal(err)
	}
	if c.Deviation != nil || c.Cut || c.Steps == 0 {
		t.Errorf("the record is no run of the protocol: %+v, %+v", c.Deviation, c)
	}
}

func ships(t *testing.T, list string) []netplay.Ship {
	t.Helper()
	fleet, err := player.ParseFleet(list)
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// Whole conversations of two sides, each with what it must come to.
func TestFlows(t *testing.T) {
	t.Parallel()
	flows := []struct {
		name                 string
		server, client       string // scripts
		matches              int
		ended, left          int // ended -1: it depends on who is faster
		frames               int // at least
		serverHas, clientHas []string
		// for PAUSE in the client's script; four times as long while the server has not done
		// meanwhile what it is to say
		pause time.Duration
	}{
		{name: "two matches", matches: 2, ended: 2, frames: 100, clientHas: []string{"match 2 ended"}},
		{name: "edits from both sides, a cancel, names",
			server:  "edit own 0 chmmr\nedit other 13 utwig\nname other Yours now\nconfirm\ncancel",
			client:  "edit other 0 druuge\nedit other 5 umgah\nedit own 13 zoq\nname own Mine\nsleep 100ms\nconfirm",
			matches: 1, ended: 1, frames: 50},
		{name: "changes after a confirmation take it back",
			client: "sleep PAUSE\nedit own 7 orz\nsleep PAUSE\nedit own 7 -", pause: 30 * time.Millisecond,
			matches: 1, ended: 1, serverHas: []string{"report cancelled"}},
		{name: "reset in battle, then a match", client: "wait inBattle\nwait frames 20\nreset", matches: 2,
			ended: 1, left: 1,
			serverHas: []string{"report matchReset{reason: 2}", "match 1 was left"}},
		{name: "reset by both", client: "wait inBattle\nwait frames 9\nreset 5",
			server: "wait inBattle\nwait frames 9\nreset 6", matches: 2, ended: -1, left: 1},
		{name: "reset in ship selection, twice", server: "wait selectShip\nreset\nwait selectShip\nreset 0",
			matches: 3, ended: 1, left: 2,
			clientHas: []string{"report matchReset{reason: 0}"}},
		{name: "reset before the battle", client: "wait preBattle\nreset", matches: 2, ended: 1, left: 1},
		{name: "picks and chance", server: "pick 2\npick 1\npick random",
			client: "pick random\npick random\nauto", matches: 1, ended: 1},
		{name: "pings", server: "ping\nwait inBattle\nping\nping", client: "wait inBattle\nping", matches: 1,
			ended: 1, serverHas: []string{"report alive{id: 16777217}", "report alive{id: 50331651}"}},
		{name: "own ship gone by its own hand",
			server: "edit own 0 shofixti\npick 0\ninput special x3\ninput none x30", matches: 1, ended: 1,
			clientHas: []string{"battle 1 ended: ship lost: other"}},
	}
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			cfg := player.Config{Matches: f.matches, Checksums: player.Own, Delay: 2, Seed: 77,
				Fleet: ships(t, "orz, spathi, -, vux")}
			s, c := cfg, cfg
			s.Name, s.Script, s.Fleet = "Server", script(t, f.server), ships(t, "orz,kohr-ah,mycon")
			c.Name, c.Delay = "Client", 1
			var a, b *account
			for again := true; again; f.pause *= 4 {
				c.Script = script(t, strings.ReplaceAll(f.client, "PAUSE", f.pause.String()))
				a, b = pair(t, s, c)
				again = f.pause > 0 && f.pause < 5*time.Second && !a.has(f.serverHas[0])
			}
			if a.err != nil || b.err != nil {
				t.Fatalf("%v, %v", a.err, b.err)
			}
			for _, x := range []*account{a, b} {
				x.follows(t)
				if x.res.Matches() != f.matches || x.res.Frames < f.frames ||
					f.ended >= 0 && (x.res.Ended != f.ended || x.res.Left != f.left) {
					t.Errorf("%+v", x.res)
				}
			}
			if f.left == 0 && a.res.Frames != b.res.Frames {
				t.Errorf("%d and %d frames", a.res.Frames, b.res.Frames)
			}
			sameTeams(t, &a.res.Machine, &b.res.Machine)
			for _, want := range f.serverHas {
				if !a.has(want) {
					t.Errorf("the server has not said %q", want)
				}
			}
			for _, want := range f.clientHas {
				if !b.has(want) {
					t.Errorf("the client has not said %q", want)
				}
			}
		})
	}
}

// sameTeams says that both sides have the same fleets and names.
func sameTeams(t *testing.T, a, b *netplay.Peer) {
	t.Helper()
	for i := range 2 {
		if x, y := a.Team[i].Own.String(), b.Team[1-i].Own.String(); x != y {
			t.Errorf("names %q and %q", x, y)
		}
		for s := range player.Slots {
			if x, y := a.Fleet[i][s].Own, b.Fleet[1-i][s].Own; x != y {
				t.Errorf("slot %d: %v and %v", s, x, y)
			}
		}
	}
}

// Each side leaves in each state that a script can wait for; the other says
// where it was, and both records are runs of the protocol.
func TestQuits(t *testing.T) {
	t.Parallel()
	for state := netplay.StateInSetup; state < netplay.StateClosed; state++ {
		switch state {
		case netplay.StateResetting, netplay.StateEndingBattle2: // over before anybody can look
			continue
		case netplay.StateUndecided: // who has a simulation never is
			continue
		}
		for _, how := range []string{"quit", "abort 3"} {
			text := "wait " + state.String() + "\n" + how
			if state == netplay.StateInSetup {
				text = "sleep 10ms\n" + how
			}
			cfg := player.Config{Matches: 1, Checksums: player.Own, Name: "One"}
			s, c := cfg, cfg
			s.Script = script(t, text)
			a, b := pair(t, s, c)
			f := new(player.Failure)
			if a.err != nil || !errors.As(b.err, &f) {
				t.Errorf("%s: %v, %v", text, a.err, b.err)
			}
			if aborted := strings.Contains(f.Reason, "aborted for reason 3"); aborted != (how != "quit") {
				t.Errorf("%s: %s", text, f.Reason)
			}
			a.follows(t)
			b.follows(t)
		}
	}
}

// Simulations that differ are noticed by both sides, which leave the match.
func TestOutOfStep(t *testing.T) {
	cfg := player.Config{Matches: 1, Checksums: player.Own}
	s, c := cfg, cfg
	s.Fleet = ships(t, "orz,orz")
	c.Seed = 1
	a, b := pair(t, s, c)
	if a.err != nil || b.err != nil {
		t.Fatal("the seed is the server's alone: ", a.err, b.err)
	}
	player.Disturb(&c)
	a, b = pair(t, s, c)
	for _, x := range []*account{a, b} {
		f := new(player.Failure)
		if !errors.As(x.err, &f) || x.res.Left != 1 {
			t.Errorf("%v %+v", x.err, x.res)
		}
	}
	if !a.has("report outOfStep") && !b.has("report outOfStep") {
		t.Error("nobody has said so")
	}
}

// In auto mode two copies find out that they can check each other, and a
// silent one is no reason to fail.
func TestAuto(t *testing.T) {
	t.Parallel()
	a, b := pair(t, player.Config{Matches: 1}, player.Config{Matches: 1})
	if a.err != nil || b.err != nil || a.res.Mode != player.Own || b.res.Checked != a.res.Checked ||
		a.res.Checked == 0 {
		t.Errorf("%v, %v, %+v", a.err, b.err, a.res)
	}
	a, b = pair(t, player.Config{Matches: 1, Script: script(t, "sleep 50ms\nquit")}, player.Config{Idle: true})
	if a.err != nil || b.err != nil || a.has("report confirmed") {
		t.Errorf("%v, %v", a.err, b.err)
	}
}

// The scripts that come with the command do what they say.
func TestScripts(t *testing.T) {
	for name, want := range map[string]struct {
		fleet       string
		ended, left int
		has         string
	}{
		"edits.txt":  {"orz", 1, 0, "command name{own: true, name: \"The new name\"}"},
		"device.txt": {"shofixti,shofixti", 1, 0, "battle 2 ended: ship lost: own"},
		"leave.txt":  {"orz,orz", 1, 2, "report alive"},
	} {
		text, err := os.ReadFile("../scripts/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := player.ParseScript(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		cfg := player.Config{Matches: want.ended + want.left, Checksums: player.Own,
			Fleet: ships(t, "chmmr,chmmr,chmmr"), Script: script(t, "input none x9999")}
		if name == "leave.txt" {
			cfg.Script = nil
		}
		c := cfg
		c.Script, c.Fleet = s, ships(t, want.fleet)
		a, b := pair(t, cfg, c)
		if a.err != nil || b.err != nil || b.res.Ended < want.ended || b.res.Left != want.left || !b.has(want.has) {
			t.Errorf("%s: %v, %v, %+v", name, a.err, b.err, b.res)
		}
	}
}
