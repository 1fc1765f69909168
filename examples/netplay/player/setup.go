package player

import (
	"fmt"

	"github.com/parley-go/parley/machines/netplay"
	"github.com/parley-go/parley/runtime/fsm"
)

// entered notes a change of the machine's state.
func (b *brain) entered(from, to netplay.State) {
	switch to {
	case netplay.StateInSetup:
		b.changed = b.now
	case netplay.StatePreBattle, netplay.StateSpawning:
		b.proved()
	case netplay.StateUndecided:
		b.match.choosing = b.now
	case netplay.StateSelectShip:
		b.match.choosing = b.now
		b.match.answered = b.now
	case netplay.StateInBattle:
		b.battle.begun = b.now
	}
}

// heard takes a report into account.
func (b *brain) heard(r *netplay.Report) {
	switch r.Kind {
	case netplay.ReportShipChanged, netplay.ReportNameChanged, netplay.ReportCancelled:
		b.changed = b.now
	case netplay.ReportConfirmed:
		b.match.on = true
	case netplay.ReportMatchBegins:
		b.matchBegins(r.MatchBegins.Delay, r.MatchBegins.Seed)
	case netplay.ReportChoose:
		b.choose()
	case netplay.ReportOtherPicked:
		b.picked(other, r.OtherPicked.Slot)
		b.match.answered = b.now
	case netplay.ReportBattleBegins:
		b.battleBegins()
	case netplay.ReportHeardInput:
		b.battle.inputs[other].push(r.HeardInput.Bits)
		b.battle.watch(other, r.HeardInput.Bits)
	case netplay.ReportSimulate:
		b.simulate(r.Simulate.Frame)
		b.position.frame(b)
	case netplay.ReportOutOfStep:
		b.fail(fmt.Sprintf("the simulations of both sides differ in frame %d", r.OutOfStep.Frame), nil)
	case netplay.ReportBattleEnded:
		b.battleEnded()
	case netplay.ReportAlive:
		b.way.replied(b.now)
	case netplay.ReportMatchEnded:
		b.res.Ended++
		b.over("ended")
	case netplay.ReportMatchReset:
		b.deaf = true
		b.proved() // or of no interest any more
		if b.match.on {
			b.res.Left++
			b.over("was left")
		}
	case netplay.ReportAborted:
		b.fail(fmt.Sprintf("aborted for reason %d (0 unspecified, 1 version, 2 hash, 3 protocol)",
			r.Aborted.Reason), nil)
	}
}

func (b *brain) over(how string) {
	b.line("match %d %s: %d battles, %d frames", b.res.Matches(), how, b.match.battles, b.match.frames)
	b.match.on = false
}

// dueSetup brings the own team, confirms when nothing changes any more, and leaves when all is played.
func (b *brain) dueSetup() *command {
	switch {
	case !b.brought:
		entries := b.fleet()
		return &command{give: func(r runner) fsm.Result { return r.Bring(entries) },
			done: func() { b.brought, b.changed = true, b.now }}
	case !b.named && b.cfg.Name != "":
		name, _ := netplay.NewName(b.cfg.Name)
		return &command{give: func(r runner) fsm.Result { return r.Name(true, name) },
			done: func() { b.named, b.changed = true, b.now }}
	case b.cfg.Matches > 0 && b.played() && !b.confirmed():
		return b.quit()
	case b.deaf:
		return b.probe()
	case b.m.Away:
		return nil
	}
	if c, wait := b.dueReply(); wait {
		return c
	}
	switch {
	case !b.canConfirm() || b.position.setsUp() || !b.since(b.changed, b.cfg.Calm):
		return nil
	}
	return b.confirm()
}

// confirmed says that we have agreed to play (one more match, as a script may want).
func (b *brain) confirmed() bool {
	switch b.m.Confirm.State {
	case netplay.ConfirmStateWaiting, netplay.ConfirmStateRemoteOk, netplay.ConfirmStateCancelWaiting,
		netplay.ConfirmStateCancelRemoteOk:
		return false
	}
	return true
}

func (b *brain) fleet() netplay.Entries {
	e := netplay.Entries{Len: Slots}
	for s := range e.Items {
		e.Items[s] = netplay.Entry{Slot: netplay.Slot(s)}
		if s < len(b.cfg.Fleet) {
			e.Items[s].Ship = b.cfg.Fleet[s]
		}
	}
	return e
}

func (b *brain) quit() *command {
	return &command{give: func(r runner) fsm.Result { return r.Quit() }, done: func() { b.leaving = true }}
}

// mayLeave says that the other side takes our leaving well: at the end of a battle it would crash a game.
func (b *brain) mayLeave() bool {
	switch b.m.State {
	case netplay.StateInBattle:
		return b.m.Battle.Ready.State != netplay.BattleReadyStateLocalReady
	case netplay.StateEndingBattle, netplay.StateEndingBattle2:
		return false
	}
	return true
}

func (b *brain) confirm() *command {
	return &command{give: func(r runner) fsm.Result { return r.Confirm() }}
}

// ping asks for a sign of life. The game says the number backwards; these
// numbers are the same both ways.
func (b *brain) ping() *command {
	n := b.pings%255 + 1
	return &command{give: func(r runner) fsm.Result { return r.Ping(n<<24 | n) }, done: func() { b.pings = n }}
}

// probe waits, after a RESET, until the other side hears: as long as the game
// shows its player that the match was left, it drops what it is told in the setup.
func (b *brain) probe() *command {
	if b.m.Away {
		return nil
	}
	return &command{give: func(r runner) fsm.Result { return r.Probe() }, done: func() { b.deaf = false }}
}

// canConfirm says that the machine takes a confirmation and that no turn of
// ours is open: its answer would take the confirmation back.
func (b *brain) canConfirm() bool {
	if b.m.Away {
		return false // the other side may still be leaving the match and would not hear of it
	}
	if b.confirmed() || b.m.Away {
		return false
	}
	for i := range b.m.Fleet {
		if living(&b.m.Fleet[i]) == 0 || b.m.Team[i].State != netplay.TeamStateSettled {
			return false
		}
		for s := range b.m.Fleet[i] {
			if b.m.Fleet[i][s].State != netplay.FleetStateSettled {
				return false
			}
		}
	}
	return b.brought && !b.deaf && (!b.cfg.Adapt || b.way.replies >= samples)
}

// dueStart agrees on delay and seed.
func (b *brain) dueStart() *command {
	if b.m.Ready.State == netplay.ReadyStateLocalReady {
		return nil
	}
	delay, seed := b.delay(), netplay.Seed(b.cfg.Seed)
	return &command{give: func(r runner) fsm.Result { return r.Agree(delay, seed) }}
}
