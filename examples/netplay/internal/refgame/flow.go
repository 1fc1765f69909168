package refgame

import (
	"errors"
	"hash/crc32"
	"slices"
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
	for _, e := range g.plan.Before {
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

// choose has the sides that lost a ship choose another.
func (g *game) choose(own bool) error {
	if err := g.at("selectShip", 0); err != nil {
		return err
	}
	if own {
		g.selecting[1] = false
		g.slot[1] = g.first()
		slot := g.slot[1]
		if g.plan.Random {
			g.slot[1], slot = g.chance(1), 0xffff
		}
		if err := g.send(tSelect, append(u16(slot), 0, 0)...); err != nil {
			return err
		}
	}
	if err := g.until(func() bool { return !g.selecting[0] }); err != nil {
		return err
	}
	if err := g.at("chosen", 0); err != nil {
		return err
	}
	if err := g.barrier("interBattle"); err != nil {
		return err
	}
	if err := g.at("spawning", 0); err != nil {
		return err
	}
	return g.barrier("inBattle")
}

// chance is the ship of a side that leaves it to chance: its last one.
func (g *game) chance(t int) int {
	for s := 13; s >= 0; s-- {
		if g.fleet[t][s] != Vacant && !g.dead[t][s] {
			return s
		}
	}
	return -1
}

// first is the first ship of our own that lives.
func (g *game) first() int {
	for s, v := range g.fleet[1] {
		if v != Vacant && !g.dead[1][s] {
			return s
		}
	}
	return -1
}

func (g *game) living(t int) (n int) {
	for s, v := range g.fleet[t] {
		if v != Vacant && !g.dead[t][s] {
			n++
		}
	}
	return n
}

func (g *game) losses() (lost [2]bool) {
	b := g.plan.Battles[g.battle-1]
	lost = [2]bool{b.OtherDies, b.OwnDies}
	for t := range lost {
		if lost[t] {
			g.dead[t][g.slot[t]] = true
		}
	}
	return lost
}

// fight plays a battle through its last frame.
func (g *game) fight() error {
	b := Battle{OwnDies: true, After: 1}
	if g.battle < len(g.plan.Battles) {
		b = g.plan.Battles[g.battle]
	}
	g.battle++
	g.rep.Battles++
	g.endFrame = 0
	for n := 0; ; n++ {
		if g.state != "endingBattle" { // asked when it began
			if err := g.at(g.state, n); err != nil {
				return err
			}
		}
		if n == b.After+b.Lag {
			if err := g.send(tReady); err != nil {
				return err
			}
			g.ready[0] = true
			if err := g.bothReady(); err != nil {
				return err
			}
		}
		if g.state == "endingBattle" && g.frame > g.endFrame {
			if err := g.until(func() bool { return g.state == "endingBattle2" }); err != nil {
				return err
			}
		}
		if g.state == "endingBattle2" && g.frame > g.endFrame {
			return nil
		}
		if err := g.play(b, n); err != nil {
			return err
		}
	}
}

// bothReady names a frame when both sides have seen the end of a ship.
func (g *game) bothReady() error {
	if g.state != "inBattle" || g.ready != [2]bool{true, true} {
		return nil
	}
	g.ready, g.state = [2]bool{}, "endingBattle"
	g.endFrame = max(g.endFrame, g.frame+1)
	if err := g.send(tFrameCount, u32(g.frame+1)...); err != nil {
		return err
	}
	return g.at("endingBattle", int(g.frame))
}

// play plays one frame: n is its number in this battle.
func (g *game) play(b Battle, n int) error {
	sum := crc32.ChecksumIEEE(append(u32(g.sim), u32(g.frame)...))
	g.own[g.frame] = sum
	if err := g.send(tChecksum, append(u32(g.frame), u32(sum)...)...); err != nil {
		return err
	}
	if err := g.poll(); err != nil {
		return err
	}
	in := byte(0)
	for _, s := range b.Special {
		if s == n {
			in = 0x10
		}
	}
	if err := g.send(tInput, in, 0, 0, 0); err != nil {
		return err
	}
	g.local = append(g.local, in)
	return g.advance()
}

// advance waits for the other side's input and simulates.
func (g *game) advance() error {
	if err := g.until(func() bool { return len(g.remote) > 0 }); err != nil {
		return err
	}
	if g.frame >= g.delay {
		n := g.frame - g.delay
		if sum, ok := g.sums[n]; !ok || sum != g.own[n] {
			return errors.New("out of step")
		}
		delete(g.sums, n)
		delete(g.own, n)
	}
	in := []byte{g.local[0], g.remote[0]}
	if !g.plan.Server { // the accepting side's first, on both sides
		slices.Reverse(in)
	}
	g.sim = crc32.Update(g.sim, crc32.IEEETable, in)
	g.local, g.remote = g.local[1:], g.remote[1:]
	g.frame++
	g.rep.Frames++
	if g.plan.FPS > 0 {
		time.Sleep(time.Second / time.Duration(g.plan.FPS))
	}
	return nil
}
