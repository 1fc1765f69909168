package refgame

import (
	"errors"
	"hash/crc32"
	"slices"
	"time"
)

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
