package refgame

import (
	"errors"
	"time"
)

// run goes through the states of the game.
func (g *game) run() error {
	if err := g.at("init", 0); err != nil {
		return err
	}
	if err := g.send(tInit, 0, 4, 0, 0, 0, 8, 0, 0); err != nil {
		return err
	}
	if err := g.until(func() bool { return g.ready[1] }); err != nil {
		return err
	}
	g.ready, g.state = [2]bool{}, "inSetup"
	if err := g.bootstrap(); err != nil {
		return err
	}
	for first := true; ; first = false {
		err := g.setup(first)
		if err == nil {
			err = g.match()
		}
		switch {
		case errors.Is(err, errReset):
			if err := g.left(); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			g.rep.Ended++
		}
		g.state = "inSetup"
	}
}

// bootstrap tells the own team.
func (g *game) bootstrap() error {
	b := []byte{1, 0, 0, 14}
	for s, v := range g.fleet[1] {
		b = append(b, byte(s), v)
		g.sent[1][s] = int(v)
	}
	if err := g.send(tFleet, b...); err != nil {
		return err
	}
	g.nameOpen[1], g.sentName[1] = true, g.name[1]
	return g.sendName(1)
}

const calm = 20 * time.Millisecond

// setup edits and confirms, until both sides have confirmed.
func (g *game) setup(first bool) error {
	if err := g.quiet(calm); err != nil {
		return err
	}
	if !first {
		if err := g.at("over", 0); err != nil {
			return err
		}
	}
	if g.battle >= len(g.plan.Battles) {
		return errStop
	}
	if err := g.at("inSetup", 0); err != nil {
		return err
	}
	if first {
		if err := g.before(); err != nil {
			return err
		}
	} else if err := g.later(); err != nil {
		return err
	}
	for g.state == "inSetup" {
		if !g.ok[0] {
			if err := g.confirm(); err != nil {
				return err
			}
		}
		if err := g.until(func() bool { return g.state != "inSetup" || !g.ok[0] }); err != nil {
			return err
		}
		if g.state == "inSetup" {
			if err := g.quiet(calm); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *game) before() error {
	if err := g.edit(g.plan.Before); err != nil {
		return err
	}
	if g.plan.Ping {
		if err := g.send(tPing, 1, 2, 3, 4); err != nil {
			return err
		}
		if err := g.until(func() bool { return g.rep.Alive }); err != nil {
			return err
		}
	}
	if err := g.quiet(calm); err != nil || !g.plan.Waver || g.ok[1] {
		return err
	}
	return errors.Join(g.confirm(), g.cancel())
}

// later is what is done in each setup but the first.
func (g *game) later() error {
	if n := g.plan.Rename; n != "" && !g.nameOpen[1] {
		g.name[1], g.nameOpen[1], g.sentName[1] = n, true, n
		if err := g.sendName(1); err != nil {
			return err
		}
	}
	if err := g.edit(g.plan.Later); err != nil {
		return err
	}
	return g.quiet(calm)
}

func (g *game) edit(edits []Edit) error {
	for _, e := range edits {
		t := 0
		if e.Own {
			t = 1
		}
		g.fleet[t][e.Slot] = e.Ship
		if g.sent[t][e.Slot] >= 0 {
			continue // told when the turn is over
		}
		g.sent[t][e.Slot] = int(e.Ship)
		if err := g.sendShip(t, e.Slot); err != nil {
			return err
		}
	}
	return nil
}

// left goes back to the setup after a RESET.
func (g *game) left() error {
	if !g.reset[0] {
		if err := g.popup(); err != nil {
			return err
		}
	}
	g.reset, g.ready = [2]bool{}, [2]bool{}
	g.rep.Left++
	return nil
}

// popup answers a RESET and shows the player that the match was left. Meanwhile
// nothing is read; what has come then is dropped, but for PING. A frame of
// a battle that was interrupted is gone on with afterwards, so that its input is said in the setup.
func (g *game) popup() error {
	inBattle := g.state == "inBattle"
	g.reset[0], g.state = true, "inSetup"
	if err := g.send(tReset, 0, 2, 0xab, 0xcd); err != nil { // the padding is whatever there was
		return err
	}
	var heard [][]byte
	for showing := true; showing; {
		t := time.NewTimer(calm)
		select {
		case f, open := <-g.in:
			if heard = append(heard, f); !open {
				return errClosed
			}
		case <-t.C:
			showing = false
		}
		t.Stop()
	}
	for _, f := range heard {
		if err := g.handle(f); err != nil {
			return err
		}
	}
	if inBattle {
		return g.send(tInput, 8, 0, 0, 0)
	}
	return nil
}

// leave resets the match from this side.
func (g *game) leave() error {
	g.reset[0] = true
	if err := g.send(tReset, 0, 2, 0, 0); err != nil {
		return err
	}
	return g.until(func() bool { return g.reset[1] })
}

func (g *game) match() error {
	if err := g.at("preBattle", 0); err != nil {
		return err
	}
	g.delay = max(0, g.plan.Delay)
	if err := g.send(tDelay, u32(g.plan.Delay)...); err != nil {
		return err
	}
	if g.plan.Server {
		g.seed = g.plan.Seed
		if err := g.send(tSeed, u32(g.seed)...); err != nil {
			return err
		}
	}
	if err := g.barrier("interBattle"); err != nil {
		return err
	}
	g.frame, g.sim, g.dead = 0, g.seed, [2][14]bool{}
	g.sums, g.own = map[uint32]uint32{}, map[uint32]uint32{}
	g.remote, g.local = make([]byte, g.delay), make([]byte, g.delay)
	g.selecting = [2]bool{true, true}
	for {
		due := g.selecting
		if err := g.at("interBattle", 0); err != nil {
			return err
		}
		if err := g.barrier("selectShip"); err != nil {
			return err
		}
		if err := g.choose(due[1]); err != nil {
			return err
		}
		if err := g.fight(); err != nil {
			return err
		}
		// the barrier at the end of the battle, and the checkpoint
		if err := g.at("ended", 0); err != nil {
			return err
		}
		if err := g.barrier("interBattle"); err != nil {
			return err
		}
		if err := g.at("checkpoint", 0); err != nil {
			return err
		}
		if err := g.barrier("interBattle"); err != nil {
			return err
		}
		if g.selecting = g.losses(); g.living(0) == 0 || g.living(1) == 0 {
			return g.barrier("inSetup")
		}
	}
}
