package game

// How things move, in units a frame, and how large they are.
const (
	speed     = 112
	flight    = 2 * 176 // in two halves
	reach     = 3 * Unit / 2
	coolTime  = 14
	rapidCool = 6
	boostTime = 12 * Rate
	guardTime = 8 * Rate
)

// drive moves a tank. One that does not fit round a corner is pushed towards the middle of the lane.
func (s *State) drive(i int, d Dir) {
	if d == Stop {
		return
	}
	t := &s.Tanks[i]
	t.Facing = d
	dx, dy := delta[d][0]*speed, delta[d][1]*speed
	if s.move(i, dx, dy) {
		return
	}
	// Blocked: look whether the lane ahead is free, and slide to its middle.
	if dx != 0 {
		if off := middle(t.Y/tile) - t.Y; off != 0 && s.passable(t.X/tile+delta[d][0], t.Y/tile) {
			s.move(i, 0, min(max(off, -speed), speed))
			return
		}
	} else if off := middle(t.X/tile) - t.X; off != 0 && s.passable(t.X/tile, t.Y/tile+delta[d][1]) {
		s.move(i, min(max(off, -speed), speed), 0)
		return
	}
	for step := int32(speed / 2); step > 0; step /= 2 { // as near as it gets
		s.move(i, delta[d][0]*step, delta[d][1]*step)
	}
}

// move moves a tank if there is room.
func (s *State) move(i int, dx, dy int32) bool {
	t := &s.Tanks[i]
	x, y := t.X+dx, t.Y+dy
	if x < reach || y < reach || x > Width*Unit-reach || y > Height*Unit-reach {
		return false
	}
	for _, cy := range [2]int32{y - reach, y + reach - 1} {
		for _, cx := range [2]int32{x - reach, x + reach - 1} {
			if !s.passable(cx/tile, cy/tile) {
				return false
			}
		}
	}
	for j := range s.Tanks {
		o := &s.Tanks[j]
		if j == i || o.Health == 0 {
			continue
		}
		near := max(abs(o.X-x), abs(o.Y-y))
		if near < 2*reach && near < max(abs(o.X-t.X), abs(o.Y-t.Y)) { // those that overlap may part
			return false
		}
	}
	t.X, t.Y = x, y
	s.pick(i)
	return true
}

func abs(n int32) int32 { return max(n, -n) }

// passable reports whether a tank can be in a tile.
func (s *State) passable(x, y int32) bool {
	return x >= 0 && y >= 0 && x < TilesX && y < TilesY && s.Tiles[y][x] <= Bush
}

// pick takes what lies where a tank is.
func (s *State) pick(i int) {
	t := &s.Tanks[i]
	for k := range s.Items {
		it := &s.Items[k]
		if it.Kind == Nothing || abs(middle(int32(it.X))-t.X) > 2*Unit || abs(middle(int32(it.Y))-t.Y) > 2*Unit {
			continue
		}
		switch it.Kind {
		case Repair:
			t.Health = min(fullHealth+1, t.Health+1)
		case Rapid:
			t.Rapid = boostTime
		case Shield:
			t.Shield = guardTime
		case Mines:
			t.Mines = min(5, t.Mines+2)
		}
		*it = Item{}
	}
}

// shoot fires, if the gun is ready and fewer than three shots of it fly.
func (s *State) shoot(i int) {
	t := &s.Tanks[i]
	if t.Cool > 0 {
		return
	}
	for k := 3 * i; k < 3*i+3; k++ {
		sh := &s.Shots[k]
		if sh.Dir != Stop {
			continue
		}
		d := delta[t.Facing]
		*sh = Shot{X: t.X + d[0]*(reach-1), Y: t.Y + d[1]*(reach-1), Dir: t.Facing, Owner: uint8(i)}
		t.Cool = coolTime
		if t.Rapid > 0 {
			t.Cool = rapidCool
		}
		return
	}
}

// lay leaves a mine where the tank is, which arms itself.
func (s *State) lay(i int) {
	t := &s.Tanks[i]
	if t.Mines == 0 {
		return
	}
	for k := range s.Traps {
		m := &s.Traps[k]
		if m.Here && max(abs(m.X-t.X), abs(m.Y-t.Y)) < tile {
			return // one is enough
		}
	}
	for k := range s.Traps {
		if m := &s.Traps[k]; !m.Here {
			*m = Trap{X: t.X, Y: t.Y, Owner: uint8(i), Armed: Rate, Here: true}
			t.Mines--
			return
		}
	}
}

// fly moves all shots, in two halves, so that none passes through anything.
func (s *State) fly() {
	for range 2 {
		for k := range s.Shots {
			sh := &s.Shots[k]
			if sh.Dir == Stop {
				continue
			}
			sh.X += delta[sh.Dir][0] * flight / 2
			sh.Y += delta[sh.Dir][1] * flight / 2
			if !inside(sh.X, sh.Y) || s.strike(sh) {
				*sh = Shot{}
			}
		}
		for a := range s.Shots { // shots that meet end each other
			for b := a + 1; b < len(s.Shots); b++ {
				p, q := &s.Shots[a], &s.Shots[b]
				if p.Dir != Stop && q.Dir != Stop && p.Owner != q.Owner && max(abs(p.X-q.X), abs(p.Y-q.Y)) < Unit {
					s.blast(p.X, p.Y, 1)
					*p, *q = Shot{}, Shot{}
				}
			}
		}
	}
}

// strike reports whether a shot has hit something.
func (s *State) strike(sh *Shot) bool {
	switch t := &s.Tiles[sh.Y/tile][sh.X/tile]; *t {
	case Brick:
		*t = Broken
		s.blast(sh.X, sh.Y, 1)
		return true
	case Broken:
		*t = Free
		s.blast(sh.X, sh.Y, 2)
		return true
	case Steel:
		s.blast(sh.X, sh.Y, 1)
		return true
	}
	for i := range s.Tanks {
		t := &s.Tanks[i]
		if t.Health > 0 && i != int(sh.Owner) && max(abs(t.X-sh.X), abs(t.Y-sh.Y)) <= reach {
			s.blast(sh.X, sh.Y, 1)
			s.harm(i, int(sh.Owner), Shell, 1)
			return true
		}
	}
	return false
}

// harm takes health from a tank; by is who has done it, Players for nobody.
func (s *State) harm(i, by int, how How, n uint8) {
	t := &s.Tanks[i]
	if t.Shield > 0 && by < Players || t.Health == 0 {
		return
	}
	t.Hurt = 8
	if t.Health -= min(n, t.Health); t.Health > 0 {
		return
	}
	t.Died, t.By, t.How = s.Clock, uint8(by), how
	s.blast(t.X, t.Y, 5)
	if by < Players && by != i {
		s.Tanks[by].Kills++
		s.Tanks[by].Score++
		if s.Bots.Has(by) && s.random(3) == 0 {
			s.Tanks[by].Sign, s.Tanks[by].Shown = 4, Rate
		}
	}
}

// blast shows something in the place of the oldest one.
func (s *State) blast(x, y int32, size uint8) {
	old := 0
	for k := range s.Blasts {
		if s.Blasts[k].Age < s.Blasts[old].Age {
			old = k
		}
	}
	s.Blasts[old] = Blast{X: min(max(x, 0), Width*Unit-1), Y: min(max(y, 0), Height*Unit-1), Size: size,
		Age: 4 + 2*size}
}

// trip lets mines go off under whoever comes too near, but their owner.
func (s *State) trip() {
	for k := range s.Traps {
		m := &s.Traps[k]
		if !m.Here {
			continue
		}
		if m.Armed > 0 {
			m.Armed--
			continue
		}
		off := false
		for i := range s.Tanks {
			t := &s.Tanks[i]
			off = off || t.Health > 0 && i != int(m.Owner) && max(abs(t.X-m.X), abs(t.Y-m.Y)) < 2*reach-Unit/2
		}
		if !off {
			continue
		}
		m.Here = false
		s.blast(m.X, m.Y, 4)
		for i := range s.Tanks {
			if t := &s.Tanks[i]; t.Health > 0 && max(abs(t.X-m.X), abs(t.Y-m.Y)) < 3*reach {
				s.harm(i, int(m.Owner), Blown, 2)
			}
		}
	}
}

// burning reports whether a tile is in the part of the arena that burns.
func (s *State) burning(x, y int32) bool {
	r := int32(s.Ring)
	return x < r || y < r || x >= TilesX-r || y >= TilesY-r
}

// burn lets the arena burn from its edge, so that every round ends.
func (s *State) burn() {
	if s.Clock >= stormTime {
		s.Ring = uint8(min(TilesY/2+1, 1+(int32(s.Clock)-stormTime)/ringTime))
	}
	if s.Ring == 0 || s.Clock%(2*Rate/3) != 0 {
		return
	}
	for i := range s.Tanks {
		if t := &s.Tanks[i]; t.Health > 0 && s.burning(t.X/tile, t.Y/tile) {
			s.harm(i, Players, Burnt, 1)
		}
	}
}

// supply puts a thing into the arena now and then.
func (s *State) supply() {
	if s.Clock%(4*Rate) != 2*Rate {
		return
	}
	for k := range s.Items {
		it := &s.Items[k]
		if it.Kind != Nothing {
			continue
		}
		x, y := s.random(TilesX), s.random(TilesY)
		kind := Kind(1 + s.random(uint32(kinds)-1))
		if s.passable(int32(x), int32(y)) && !s.burning(int32(x), int32(y)) {
			*it = Item{X: uint8(x), Y: uint8(y), Kind: kind}
		}
		return
	}
}
