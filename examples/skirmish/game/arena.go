package game

// Arena is a place to fight in. Rows are its upper half with the middle row; the lower half is the same turned by
// half a circle, so that no side is better. A to D are where tanks begin.
type Arena struct {
	Name string
	Rows [TilesY/2 + 1]string
}

// Arenas are all there are.
var Arenas = []Arena{
	{"Crossroads", [6]string{
		"A..+....+......+...B",
		"..#+.##.+..%%..+##..",
		"..#....#..%%%%......",
		"+++.%%.+..##...++.++",
		"C...%%.+......+....D",
		"..##...+.~..~.+...##",
	}},
	{"The Ford", [6]string{
		"A.......+..+.......B",
		".##.++.........++##.",
		".#..%+...##...+%...#",
		"....%%...##...%%....",
		"C.+......++......+.D",
		"~~~~..~~~..~~~..~~~~",
	}},
	{"Brickyard", [6]string{
		"A.+++..+++++..+++..B",
		"..+.+..+.+.+..+.+...",
		"+++.+++++#+++++.+.++",
		"+..........%%%.....+",
		"C.+##+.++..++.+##+.D",
		"..+..+.+.%%.+.+..+..",
	}},
	{"Open Field", [6]string{
		"A..................B",
		"...%%....#.....%%...",
		"...%%....#.....%%...",
		"......+......+......",
		"C..#..+.~~~..+..#..D",
		"...#.....%%.....#...",
	}},
}

// tiles are the whole arena, and the tiles in which slots begin: opposite ones for the first two.
func (a Arena) tiles() (t [TilesY][TilesX]Tile, spawns [Players][2]int32) {
	for y := range t {
		for x := range t[y] {
			c := byte('.')
			turned := y >= len(a.Rows)
			if turned {
				c = a.Rows[TilesY-1-y][TilesX-1-x]
			} else {
				c = a.Rows[y][x]
			}
			switch c {
			case '#':
				t[y][x] = Steel
			case '+':
				t[y][x] = Brick
			case '~':
				t[y][x] = Water
			case '%':
				t[y][x] = Bush
			case 'A', 'B', 'C', 'D':
				n := 2 * int(c-'A')
				if turned {
					n++
				}
				spawns[n] = [2]int32{int32(x), int32(y)}
			}
		}
	}
	return t, spawns
}
