package game

// Advice is what a bot would do in a slot now. The state stays as it is.
func (s State) Advice(slot int) Input {
	if s.Phase != Fight || s.Tanks[slot].Health == 0 {
		return 0
	}
	return s.think(slot)
}

// think is what a bot does in this frame. It sees the whole arena, and shoots a little less often than it could.
func (s *State) think(i int) Input {
	t := &s.Tanks[i]
	if d := s.dodge(i); d != Stop {
		return Input(d)
	}
	enemy, far := -1, int32(1<<30)
	for n := range Players { // each begins with the next one: so no slot is shot at before others
		j := (i + 1 + n) % Players
		o := &s.Tanks[j]
		if j == i || o.Health == 0 {
			continue
		}
		if n := abs(o.X-t.X) + abs(o.Y-t.Y); n < far {
			enemy, far = j, n
		}
		if d := s.aim(t, o); d != Stop && !s.burning(t.X/tile, t.Y/tile) {
			in := Input(d)
			if far < 3*tile {
				in = Input(s.around(t, o, d))
			}
			if t.Facing == d && s.random(5) == 0 {
				in = Input(d) | Fire
			} else if t.Facing != d {
				in = Input(d)
			}
			return in
		}
	}
	if enemy < 0 {
		return 0
	}
	d := s.path(i, enemy)
	in := Input(d)
	x, y := t.X/tile+delta[d][0], t.Y/tile+delta[d][1]
	if x >= 0 && y >= 0 && x < TilesX && y < TilesY && (s.Tiles[y][x] == Brick ||
		s.Tiles[y][x] == Broken) && t.Facing == d {
		in |= Fire
	}
	if t.Mines > 0 && far < 4*tile && s.random(90) == 0 {
		in |= Mine
	}
	return in
}

// dodge is where to go before a shot that comes near, Stop if none does.
func (s *State) dodge(i int) Dir {
	t := &s.Tanks[i]
	for k := range s.Shots {
		sh := &s.Shots[k]
		if sh.Dir == Stop || int(sh.Owner) == i || t.Shield > 0 {
			continue
		}
		d := delta[sh.Dir]
		ahead := (t.X-sh.X)*d[0] + (t.Y-sh.Y)*d[1]
		aside := abs((t.X-sh.X)*d[1]) + abs((t.Y-sh.Y)*d[0])
		if ahead <= 0 || ahead > 6*tile || aside > reach+Unit/2 || s.random(8) < 2 {
			continue
		}
		sides := [2]Dir{Up, Down}
		if d[1] != 0 {
			sides = [2]Dir{Left, Right}
		}
		for n := range sides {
			e := sides[(n+int(s.Frame>>4)+i)%2]
			if x, y := t.X/tile+delta[e][0], t.Y/tile+delta[e][1]; s.passable(x, y) && !s.burning(x, y) {
				return e
			}
		}
	}
	return Stop
}

// aim is the direction in which a tank has another one before its gun, with nothing between them that a shot does
// not get through.
func (s *State) aim(t, o *Tank) Dir {
	var d Dir
	switch dx, dy := o.X-t.X, o.Y-t.Y; {
	case abs(dx) <= reach-Unit/4 && dy < 0:
		d = Up
	case abs(dx) <= reach-Unit/4 && dy > 0:
		d = Down
	case abs(dy) <= reach-Unit/4 && dx < 0:
		d = Left
	case abs(dy) <= reach-Unit/4 && dx > 0:
		d = Right
	default:
		return Stop
	}
	x, y := t.X/tile, t.Y/tile
	for n := 0; (x != o.X/tile || y != o.Y/tile) && n < TilesX; n++ {
		if x < 0 || y < 0 || x >= TilesX || y >= TilesY || s.Tiles[y][x] == Steel {
			return Stop
		}
		x, y = x+delta[d][0], y+delta[d][1]
	}
	return d
}

// around is a way round one who is near: bots do not stand still.
func (s *State) around(t, o *Tank, d Dir) Dir {
	e := 1 + (d+Dir(s.Frame>>5&1)*2)%4
	if s.passable(t.X/tile+delta[e][0], t.Y/tile+delta[e][1]) {
		return e
	}
	return d
}

// path is the first step of a shortest way to an enemy, or to a thing on the way that is nearer. Bricks can be
// shot away, which takes time; where it burns nobody goes who is not there.
func (s *State) path(i, enemy int) Dir {
	const never = 1 << 30
	var cost [TilesY][TilesX]int32
	for y := range cost {
		for x := range cost[y] {
			cost[y][x] = never
		}
	}
	// From the goals to the tank, so that its neighbours know the way.
	var queue [4 * TilesX * TilesY][2]int32
	head, tail := 0, 0
	push := func(x, y, c int32) {
		if x < 0 || y < 0 || x >= TilesX || y >= TilesY || tail >= len(queue) || s.Tiles[y][x] >= Water ||
			cost[y][x] <= c {
			return
		}
		cost[y][x] = c
		queue[tail] = [2]int32{x, y}
		tail++
	}
	t, o := &s.Tanks[i], &s.Tanks[enemy]
	if s.burning(t.X/tile, t.Y/tile) { // out of the fire, to the middle
		push(TilesX/2, TilesY/2, 0)
		push(TilesX/2-1, TilesY/2-1, 0)
		push(TilesX/2+1, TilesY/2+1, 0)
	}
	push(o.X/tile, o.Y/tile, 3)
	for _, it := range s.Items {
		if it.Kind != Nothing {
			push(int32(it.X), int32(it.Y), 0)
		}
	}
	for ; head < tail; head++ {
		x, y := queue[head][0], queue[head][1]
		c := cost[y][x] + 1
		if s.Tiles[y][x] > Bush {
			c += 3
		}
		if s.burning(x, y) {
			c += 20
		}
		for d := Up; d <= Left; d++ {
			push(x+delta[d][0], y+delta[d][1], c)
		}
	}
	best, to := int32(never), Stop
	for n := range Dir(4) {
		d := Up + (n+Dir(i)+Dir(s.Frame>>6))%4 // of ways that are as long each is the first one for a while
		x, y := t.X/tile+delta[d][0], t.Y/tile+delta[d][1]
		if x < 0 || y < 0 || x >= TilesX || y >= TilesY {
			continue
		}
		if c := cost[y][x]; c < best {
			best, to = c, d
		}
	}
	return to
}
