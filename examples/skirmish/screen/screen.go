// Package screen draws a match as a grid of characters, two pixels of the arena in each: what a terminal shows,
// and what recordings and the browser show as well.
//
// It only reads the game. Start from [Draw]; [NewWriter] brings a grid to a terminal and [Film] to a moving picture.
package screen

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/skirmish/game"
)

// The size of a screen in characters: a line of points, the arena, and a line below.
const (
	Columns = game.Width
	Rows    = game.Height/2 + 2
)

// Color and Cell are those of a terminal.
type (
	Color = terminal.Color
	Cell  = terminal.Cell
)

func cell(r rune, fg, bg Color) Cell { return Cell{Rune: r, Fg: fg, Bg: bg} }

// Grid is a whole screen.
type Grid [Rows][Columns]Cell

// The colours of things.
var (
	ground = [2]Color{{24, 26, 30}, {21, 23, 27}}
	steel  = [2]Color{{112, 122, 134}, {86, 95, 106}}
	brick  = [2]Color{{168, 84, 56}, {128, 60, 40}}
	broken = [2]Color{{128, 60, 40}, {52, 34, 28}}
	water  = [2]Color{{28, 66, 120}, {36, 80, 140}}
	bush   = [2]Color{{34, 84, 46}, {26, 66, 38}}
	fire   = [3]Color{{150, 42, 18}, {190, 76, 20}, {120, 26, 16}}
	white  = Color{240, 240, 240}
	dim    = Color{130, 134, 140}
	black  = Color{0, 0, 0}
)

// Tanks are the colours of the slots.
var Tanks = [game.Players]Color{
	{90, 190, 255}, {255, 110, 100}, {120, 220, 110}, {250, 210, 80}, {210, 130, 255}, {80, 220, 210},
	{255, 160, 70}, {235, 235, 245},
}

// Things to pick up, by kind.
var items = [...]Color{game.Repair: {250, 70, 110}, game.Rapid: {255, 200, 40}, game.Shield: {80, 200,
	255}, game.Mines: {200, 200, 200}}

// Info is what a screen says besides the game itself.
type Info struct {
	Names [game.Players]string
	Me    int    // the own slot, to be told from others; -1 for who only looks on
	Below string // the last line
	Gear  bool   // the last line ends with what the own tank has
	Talk  []Line // the last ones
}

// Line is what somebody has said.
type Line struct {
	Slot int // -1 for nobody
	Text string
}

// talk writes lines of talk, the last one into a row.
func (g *Grid) talk(lines []Line, last int) {
	for i, l := range lines {
		text := terminal.Clip(l.Text, Columns-4)
		col := white
		if l.Slot >= 0 {
			col = Tanks[l.Slot]
		}
		g.Text(last-len(lines)+1+i, 1, " "+text+" ", col, Color{10, 10, 14})
	}
}

// Name is the name of a slot, or its number.
func (f *Info) Name(slot int) string {
	if n := f.Names[slot]; n != "" {
		return n
	}
	return fmt.Sprintf("Tank %d", slot+1)
}

type canvas [game.Height][game.Width]Color

// Draw draws a match.
func Draw(s *game.State, f *Info) *Grid {
	g, c := new(Grid), new(canvas)
	c.arena(s)
	c.things(s, f.Me)
	for y := range game.Height / 2 {
		for x := range game.Width {
			g[y+1][x] = cell('▀', c[2*y][x], c[2*y+1][x])
		}
	}
	for i := range s.Tanks {
		if i == f.Me && s.Tanks[i].Health > 0 && s.Phase == game.Ready {
			g.Text(row(s.Tanks[i].Y)-1, int(s.Tanks[i].X/game.Unit)-1, "you", Tanks[i], ground[0])
		}
	}
	g.points(s, f)
	g.signs(s)
	g.message(s, f)
	g.talk(f.Talk, Rows-2)
	own := ""
	if f.Gear && f.Me >= 0 && s.Tanks[f.Me].Health > 0 {
		own = "  " + gear(&s.Tanks[f.Me])
	}
	g.Text(Rows-1, 0, fmt.Sprintf("%-*s", Columns, fit(f.Below, Columns-len(own))), dim, black)
	if own != "" {
		g.Text(Rows-1, Columns-len(own), own, Tanks[f.Me], black)
	}
	return g
}

// fit makes room in a line of parts that have two blanks between them: the last one stays, and before it as many of the
// first ones as there is room for. So no part is cut in its middle.
func fit(line string, width int) string {
	parts := strings.Split(line, "  ")
	for len([]rune(line)) > width && len(parts) > 1 {
		parts = append(parts[:len(parts)-2], parts[len(parts)-1])
		line = strings.Join(parts, "  ")
	}
	return terminal.Clip(line, width)
}

func row(y int32) int { return max(2, int(y/game.Unit/2)) }

// Text writes into the grid, as far as it fits.
func (g *Grid) Text(row, column int, s string, fg, bg Color) {
	if row >= 0 && row < Rows {
		terminal.Print(g[row][:], column, s, fg, bg)
	}
}

// Lines are those of the grid, for a terminal.
func (g *Grid) Lines() [][]Cell {
	lines := make([][]Cell, Rows)
	for y := range g {
		lines[y] = g[y][:]
	}
	return lines
}

// NewWriter shows the lines of grids on a terminal.
func NewWriter(out io.Writer) *terminal.Writer {
	return &terminal.Writer{Out: out, Columns: Columns, Rows: Rows, Name: "Skirmish",
		Meanwhile: "The match goes on; q quits."}
}

func (c *canvas) put(x, y int32, col Color) {
	if x >= 0 && y >= 0 && x < game.Width && y < game.Height {
		c[y][x] = col
	}
}

func (c *canvas) arena(s *game.State) {
	for y := range int32(game.Height) {
		for x := range int32(game.Width) {
			tx, ty := x/game.TilePixels, y/game.TilePixels
			var even bool
			two := ground
			switch s.Tiles[ty][tx] {
			case game.Steel:
				two, even = steel, (x&3 == 0 || y&3 == 0) && x&3 != 3 && y&3 != 3
			case game.Brick:
				two, even = brick, y&1 == 0 && (x+y)%4 != 3
			case game.Broken:
				two, even = broken, (x*7+y*13)%5 < 2
			case game.Water:
				two, even = water, (x+2*y+int32(s.Frame/8))%5 < 2
			case game.Bush:
				two, even = bush, (x*3+y*5)%4 < 2
			default:
				even = (tx+ty)&1 == 0
			}
			c[y][x] = two[1]
			if even {
				c[y][x] = two[0]
			}
			r := int32(s.Ring)
			if r > 0 && (tx < r || ty < r || tx >= game.TilesX-r || ty >= game.TilesY-r) {
				c[y][x] = mix(c[y][x], fire[(uint32(x*5+y*3)+s.Frame/3)%3], 150)
			}
		}
	}
}

// mix is two colours mixed, so many 256ths of the second.
func mix(a, b Color, n int) (m Color) {
	for i := range m {
		m[i] = uint8((int(a[i])*(256-n) + int(b[i])*n) / 256)
	}
	return m
}

func (c *canvas) things(s *game.State, me int) {
	for _, it := range s.Items {
		if it.Kind == game.Nothing {
			continue
		}
		x, y := int32(it.X)*game.TilePixels+1, int32(it.Y)*game.TilePixels+1
		col := items[it.Kind]
		if s.Frame/10%2 == 0 {
			col = mix(col, white, 90)
		}
		for _, d := range [][2]int32{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
			c.put(x+d[0], y+d[1], col)
		}
	}
	for _, m := range s.Traps {
		if m.Here && (m.Armed > 0 || int(m.Owner) == me || s.Frame/15%4 == 0) {
			c.put(m.X/game.Unit, m.Y/game.Unit, mix(Tanks[m.Owner], black, 60))
			c.put(m.X/game.Unit-1, m.Y/game.Unit, mix(Tanks[m.Owner], black, 140))
		}
	}
	for i := range s.Tanks {
		c.tank(s, i)
	}
	for _, sh := range s.Shots {
		if sh.Dir != game.Stop {
			c.put(sh.X/game.Unit, sh.Y/game.Unit, mix(Tanks[sh.Owner], white, 170))
		}
	}
	for _, b := range s.Blasts {
		if b.Age == 0 {
			continue
		}
		x, y, r := b.X/game.Unit, b.Y/game.Unit, int32(b.Size)*int32(4+2*b.Size-b.Age)/int32(2+2*b.Size)
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				if d := dx*dx + dy*dy; d <= r*r && (d > (r-2)*(r-2) || b.Age > b.Size) &&
					(dx*3+dy*5+int32(b.Age))&1 == 0 {
					c.put(x+dx, y+dy, Color{255, uint8(120 + 12*min(10, b.Age)), 60})
				}
			}
		}
	}
}

func (c *canvas) tank(s *game.State, i int) {
	t := &s.Tanks[i]
	if t.Health == 0 {
		return
	}
	col := Tanks[i]
	if t.Hurt > 0 && t.Hurt%4 < 2 {
		col = white
	}
	x, y := t.X/game.Unit, t.Y/game.Unit
	hidden := s.Tiles[t.Y/(game.TilePixels*game.Unit)][t.X/(game.TilePixels*game.Unit)] == game.Bush
	for dy := int32(-1); dy <= 1; dy++ {
		for dx := int32(-1); dx <= 1; dx++ {
			p := mix(col, black, 70)
			if dx == 0 && dy == 0 {
				p = col
			}
			if track(t.Facing, dx, dy) {
				p = mix(col, black, 140)
			}
			if hidden {
				p = mix(p, bush[0], 150)
			}
			c.put(x+dx, y+dy, p)
		}
	}
	bx, by := x, y
	switch t.Facing {
	case game.Up:
		by -= 2
	case game.Down:
		by += 2
	case game.Left:
		bx -= 2
	case game.Right:
		bx += 2
	}
	gun := mix(col, white, 120)
	c.put((x+bx)/2, (y+by)/2, gun)
	if !hidden {
		c.put(bx, by, gun)
	}
	if t.Shield > 0 && s.Frame/3%2 == 0 {
		for _, d := range [][2]int32{{-2, -2}, {2, -2}, {-2, 2}, {2, 2}} {
			c.put(x+d[0], y+d[1], items[game.Shield])
		}
	}
}

// track reports whether a pixel of a tank is one of its tracks.
func track(facing game.Dir, dx, dy int32) bool {
	if facing == game.Up || facing == game.Down {
		return dx != 0
	}
	return dy != 0
}

// points is the first line: who has how much.
func (g *Grid) points(s *game.State, f *Info) {
	for x := range Columns {
		g[0][x] = cell(' ', dim, black)
	}
	g.Text(0, 0, fmt.Sprintf("%d/%d", min(s.Round+1, s.Rounds), s.Rounds), dim, black)
	n := max(1, s.Slots.Len())
	width := (Columns - 5) / n
	column := 5
	for i := range s.Tanks {
		if !s.Slots.Has(i) {
			continue
		}
		t := &s.Tanks[i]
		name := terminal.Clip(f.Name(i), max(1, width-10))
		hearts := ""
		for h := range 4 {
			if h < int(t.Health) {
				hearts += "♥"
			}
		}
		if width < 14 {
			hearts = ""
			name = terminal.Clip(f.Name(i), max(1, width-4))
		}
		col := Tanks[i]
		if t.Health == 0 {
			col = mix(col, black, 130)
		}
		mark := " "
		if i == f.Me {
			mark = "▸"
		}
		g.Text(0, column, terminal.Clip(fmt.Sprintf("%s%s %d %s", mark, name, t.Score, hearts), width), col, black)
		column += width
	}
}

// message is what is said across the arena: between fights all that there is to know, and in them what happens.
func (g *Grid) message(s *game.State, f *Info) {
	var lines []string
	col := white
	switch s.Phase {
	case game.Ready:
		lines = []string{fmt.Sprintf("%s, round %d of %d", game.Arenas[s.Arena].Name, s.Round+1, s.Rounds),
			fmt.Sprintf("- %d -", 3-int(s.Clock)/game.Rate)}
	case game.Pause:
		lines = []string{"nobody is left"}
		if s.Winner < game.Players {
			col = Tanks[s.Winner]
			lines = []string{f.Name(int(s.Winner)) + " wins the round"}
		}
	case game.Over:
		lines = []string{"the match is over", "a draw"}
		if s.Winner < game.Players {
			col = Tanks[s.Winner]
			lines[1] = f.Name(int(s.Winner)) + " wins the match"
		}
	case game.Fight:
		g.news(s, f)
		if s.Ring > 0 && s.Clock/10%6 < 4 {
			g.Text(1, Columns/2-12, " the arena burns: go in! ", Color{255, 200, 80}, Color{90, 20, 10})
		}
		return
	}
	row := Rows/2 - 1
	if s.Phase != game.Ready {
		row -= s.Slots.Len() / 2
	}
	for _, l := range lines {
		g.middle(row, l, col)
		row++
	}
	if s.Phase != game.Ready {
		for _, i := range ranking(s) {
			t := &s.Tanks[i]
			g.middle(row, fmt.Sprintf("%-16s %s  %s  %s", f.Name(i), counted(int(t.Score), "point"),
				counted(int(t.Kills), "kill"), counted(int(t.Wins), "round")), Tanks[i])
			row++
		}
	}
}

// counted is a number of things in a column of a table.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%3d %-6s", n, what)
}

// signs are shown above tanks, and of who has none where it ended: in the first row of the arena.
func (g *Grid) signs(s *game.State) {
	for i := range s.Tanks {
		t := &s.Tanks[i]
		if t.Shown == 0 || !s.Slots.Has(i) {
			continue
		}
		text := " " + game.Signs[t.Sign] + " "
		y := row(t.Y) - 1
		if t.Health == 0 {
			y = 1
		}
		x := min(max(int(t.X/game.Unit)-len(text)/2, 0), Columns-len(text))
		g.Text(y, x, text, Color{10, 10, 14}, Tanks[i])
	}
}

// middle writes a line in the middle of a row.
func (g *Grid) middle(row int, l string, col Color) {
	l = "  " + l + "  "
	g.Text(row, (Columns-len([]rune(l)))/2, l, col, Color{10, 10, 14})
}

// ranking are the slots, who has most points first.
func ranking(s *game.State) (slots []int) {
	for i := range s.Tanks {
		if s.Slots.Has(i) {
			slots = append(slots, i)
		}
	}
	slices.SortStableFunc(slots, func(a, b int) int { return int(s.Tanks[b].Score) - int(s.Tanks[a].Score) })
	return slots
}

// fresh is how many frames news are shown.
const fresh = 4 * game.Rate

// news are the ends of tanks, the last one first, and what became of the own one.
func (g *Grid) news(s *game.State, f *Info) {
	var ends []int
	for i := range s.Tanks {
		if s.Slots.Has(i) && s.Tanks[i].Health == 0 && s.Clock-s.Tanks[i].Died < fresh {
			ends = append(ends, i)
		}
	}
	slices.SortStableFunc(ends, func(a, b int) int { return int(s.Tanks[b].Died) - int(s.Tanks[a].Died) })
	for row, i := range ends {
		text := terminal.Clip(" "+end(s, f, i)+" ", Columns)
		g.Text(2+row, Columns-len([]rune(text)), text, Tanks[i], Color{10, 10, 14})
	}
	if f.Me >= 0 && s.Slots.Has(f.Me) && s.Tanks[f.Me].Health == 0 {
		g.middle(Rows-3, end(s, f, f.Me)+". The next round begins when one is left.", Tanks[f.Me])
	}
}

// end is how a tank has come to its end, in words.
func end(s *game.State, f *Info, i int) string {
	t, who := &s.Tanks[i], f.Name(i)
	if i == f.Me {
		who = "you"
	}
	by := "nobody"
	if t.By < game.Players {
		by = f.Name(int(t.By))
	}
	switch {
	case t.How == game.Burnt && i == f.Me:
		return "you have burnt"
	case t.How == game.Burnt:
		return who + " has burnt"
	case int(t.By) == i:
		return who + " stood at an own mine"
	case int(t.By) == f.Me:
		by = "you"
	}
	if t.How == game.Blown {
		return by + " blew up " + who
	}
	return by + " shot " + who
}

// gear is what the own tank has, in words.
func gear(t *game.Tank) string {
	s := fmt.Sprintf("mines %d", t.Mines)
	if t.Rapid > 0 {
		s += fmt.Sprintf("  fast gun %d s", 1+t.Rapid/game.Rate)
	}
	if t.Shield > 0 {
		s += fmt.Sprintf("  shield %d s", 1+t.Shield/game.Rate)
	}
	return s
}
