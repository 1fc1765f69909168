package player_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-go/parley/examples/netplay/internal/refgame"
	"github.com/parley-go/parley/examples/netplay/player"
	"github.com/parley-go/parley/machines/netplay"
)

// After a battle that may have been the last, this side waits for the game's word, and counts the match as played
// only when there is one.
func TestUndecided(t *testing.T) {
	t.Parallel()
	over := []refgame.Battle{{OwnDies: true, After: 5}, {After: 1}} // the second is never begun
	chmmr := netplay.ShipChmmr
	for name, x := range map[string]struct {
		ours    []netplay.Ship
		plan    refgame.Plan
		matches int
		doubt   time.Duration
		ended   int
		wants   []string // lines
		reason  string   // of the failure; none: all is well
	}{
		"told by a confirmation": {ours: []netplay.Ship{chmmr, chmmr}, matches: 1, ended: 1,
			plan:  refgame.Plan{Fleet: []byte{orz}, Battles: over},
			wants: []string{"command follow", "state undecided -> inSetup", "left in good order"}},
		"told by an edit": {ours: []netplay.Ship{chmmr, chmmr}, matches: 1, ended: 1,
			plan: refgame.Plan{Fleet: []byte{orz}, Battles: over,
				Later: []refgame.Edit{{Own: true, Slot: 5, Ship: spathi}}},
			wants: []string{"state undecided -> inSetup", "report shipChanged{own: false, slot: 5, ship: spathi}",
				"left in good order"}},
		"told by a name": {ours: []netplay.Ship{chmmr, chmmr}, matches: 1, ended: 1,
			plan:  refgame.Plan{Fleet: []byte{orz}, Battles: over, Rename: "Once more"},
			wants: []string{`report nameChanged{own: false, name: "Once more"}`, "left in good order"}},
		"told by a choice": {ours: []netplay.Ship{chmmr}, matches: 1, ended: 1,
			plan: refgame.Plan{Fleet: []byte{orz, orz}, Battles: []refgame.Battle{{OwnDies: true, After: 5},
				{OwnDies: true, After: 5}}},
			wants: []string{"state undecided -> selectShip", "command skip{own: true}", "command matchOver",
				"left in good order"}},
		"told by a choice, in haste": {ours: []netplay.Ship{chmmr}, ended: 1, doubt: time.Nanosecond,
			plan: refgame.Plan{Fleet: []byte{orz, orz}, Battles: []refgame.Battle{{OwnDies: true, After: 5},
				{OwnDies: true, After: 5}}},
			wants: []string{"command skip{own: true}", "command matchOver", "left in good order"}},
		"and played again": {ours: []netplay.Ship{chmmr, chmmr}, matches: 2, ended: 2,
			plan: refgame.Plan{Fleet: []byte{orz}, Battles: []refgame.Battle{{OwnDies: true, After: 5},
				{OwnDies: true, OtherDies: true, After: 5}, {After: 1}}},
			wants: []string{"match 2 ended", "left in good order"}},
		"guessed right, and shown to be": {ours: []netplay.Ship{netplay.ShipShofixti, chmmr}, matches: 1, ended: 1,
			plan: refgame.Plan{Fleet: []byte{orz}, Battles: []refgame.Battle{{OtherDies: true, After: 30},
				{OwnDies: true, After: 5}}},
			wants: []string{"note this side has guessed that our ship was lost in battle 1",
				"state undecided -> selectShip", "command matchOver", "left in good order"}},
		"guessed wrong": {ours: []netplay.Ship{netplay.ShipShofixti, chmmr}, matches: 1,
			plan: refgame.Plan{Fleet: []byte{orz}, Battles: []refgame.Battle{{OwnDies: true, After: 30}},
				At: func(m refgame.Moment) refgame.Instead {
					return refgame.Instead{Mute: m.Point == "over"}
				}},
			reason: "this side has guessed that our ship was lost in battle 1, wrongly by all appearances"},
		"told late, when our last ship was lost by all appearances": {ours: []netplay.Ship{netplay.ShipShofixti},
			matches: 1, ended: 1,
			plan: refgame.Plan{Fleet: []byte{orz, orz},
				Battles: []refgame.Battle{{OtherDies: true, After: 30}, {After: 1}},
				At: func(m refgame.Moment) refgame.Instead {
					if m.Point == "over" {
						time.Sleep(20 * time.Second) // of the bubble
					}
					return refgame.Instead{}
				}},
			wants: []string{"state undecided -> inSetup", "left in good order"}},
		"never told": {ours: []netplay.Ship{chmmr, chmmr}, matches: 1,
			plan:   refgame.Plan{Fleet: []byte{orz}, Battles: over[:1]},
			reason: "nothing has told whether match 1 is over"},
		"left for want of a word": {ours: []netplay.Ship{chmmr}, matches: 1,
			plan: refgame.Plan{Fleet: []byte{orz, orz}, Battles: []refgame.Battle{{OtherDies: true, After: 5}},
				At: func(m refgame.Moment) refgame.Instead {
					return refgame.Instead{Mute: m.Point == "over"}
				}},
			reason: "left without knowing whether match 1 is over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := player.Config{Matches: x.matches, Fleet: x.ours, Checksums: player.Echo,
				Doubt: x.doubt}
			if x.ours[0] == netplay.ShipShofixti {
				cfg.Script = script(t, "input special x3")
			}
			var a *account
			var err error
			synctest.Test(t, func(t *testing.T) { a, err = unhurried(t, cfg, x.plan) })
			defer func() {
				if t.Failed() {
					t.Log(strings.Join(a.lines, "\n"))
				}
			}()
			f := new(player.Failure)
			switch {
			case x.reason == "" && (a.err != nil || err != nil):
				t.Fatalf("%v, %v", a.err, err)
			case x.reason != "" && (!errors.As(a.err, &f) || !strings.Contains(f.Reason, x.reason)):
				t.Fatalf("%v", a.err)
			case x.reason != "" && a.has("good order"):
				t.Error("left in good order")
			}
			if a.res.Ended != x.ended {
				t.Errorf("%d matches", a.res.Ended)
			}
			for _, want := range x.wants {
				if !a.has(want) {
					t.Errorf("not said: %s", want)
				}
			}
			a.follows(t)
		})
	}
}

// unhurried plays a side against the reference game over a long way. The game waits for half a second when
// ships have been chosen, as the real one does.
func unhurried(t *testing.T, cfg player.Config, plan refgame.Plan) (*account, error) {
	end, other := far(t)
	cfg.Link, cfg.Server = end, !plan.Server
	at := plan.At
	plan.At = func(m refgame.Moment) (do refgame.Instead) {
		if m.Point == "chosen" {
			time.Sleep(time.Second / 2) // of the bubble
		}
		if at != nil {
			do = at(m)
		}
		return do
	}
	a := new(account)
	done := make(chan error)
	go func() { _, err := refgame.Play(t.Context(), conn{link: other}, plan); done <- err }()
	a.play(t.Context(), cfg)
	return a, <-done
}

// A script that is wrong about a loss is what the failure names, and not the other side.
func TestScriptIsWrong(t *testing.T) {
	t.Parallel()
	for script1, ours := range map[string]int{"died own": 2, "died other": 1, "died both": 1} {
		plan := refgame.Plan{Fleet: []byte{orz, orz},
			Battles: []refgame.Battle{{OtherDies: true, OwnDies: true, After: 5}, {After: 2}}}
		switch script1 {
		case "died own": // the match is over
			plan.Fleet = plan.Fleet[:1]
			plan.Battles[0].OtherDies = false
		case "died other": // it is, too
			plan.Battles[0].OwnDies = false
		case "died both": // it is not
			plan.Battles[0].OtherDies = false
		}
		cfg := player.Config{Matches: 2, Checksums: player.Echo, Script: script(t, script1),
			Fleet: []netplay.Ship{netplay.ShipOrz, netplay.ShipOrz}[:ours]}
		a, _, _ := against(t, cfg, plan)
		f := new(player.Failure)
		if !errors.As(a.err, &f) || !strings.Contains(f.Reason, "the script says that ") ||
			!strings.Contains(f.Reason, "wrongly by all appearances") {
			t.Errorf("%s: %v", script1, a.err)
		}
	}
}

// Whenever this side is told to leave, it does not crash a game that is at the end of a battle.
func TestLeavesNoBattlesEnd(t *testing.T) {
	t.Parallel()
	at := map[string]int{}
	for frames := range 14 {
		for _, how := range []string{"quit", "abort", "wait endingBattle\nquit", "wait endingBattle2\nabort"} {
			plan := refgame.Plan{Server: frames%2 == 0, Fleet: []byte{orz, orz}, Delay: 2,
				Battles: []refgame.Battle{{OwnDies: true, After: 5, Lag: frames % 3}, {OwnDies: true, After: 5}}}
			cfg := player.Config{Matches: 1, Checksums: player.Echo, Script: script(t, fmt.Sprintf(
				"died other\nwait inBattle\nwait frames %d\n%s", max(1, frames/2), how))}
			a, _, err := against(t, cfg, plan)
			if errors.Is(err, refgame.ErrCrashed) || err == nil {
				t.Errorf("%d frames, %s: %v", frames, how, err)
			}
			if a.err != nil {
				t.Errorf("%d frames, %s: %v", frames, how, a.err)
			}
			at[a.lines[len(a.lines)-3]]++
		}
	}
	t.Log(at)
}
