package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/examples/remote/scene"
)

// The size of the view in characters: a radar with an edge, a column of players beside it, and lines of talk below.
const (
	columns    = 80
	rows       = 24
	radarRows  = 17
	radarWidth = 2*radarRows + 13 // a character is about twice as high as wide
	beside     = radarWidth + 3
	talkRows   = rows - radarRows - 3
)

// reach is how far the radar shows upwards and downwards.
const reach = 160.0

// The colours of the view.
var (
	bright = terminal.Color{235, 235, 235}
	grey   = terminal.Color{125, 130, 138}
	black  = terminal.Color{0, 0, 0}
	dark   = terminal.Color{6, 22, 12}
	green  = terminal.Color{60, 150, 80}
	amber  = terminal.Color{250, 200, 80}
)

// hulls are the colours of ships, by slot.
var hulls = [scene.Slots]terminal.Color{
	{90, 190, 255}, {255, 110, 100}, {120, 220, 110}, {250, 210, 80}, {210, 130, 255}, {80, 220, 210},
	{255, 160, 70}, {235, 235, 245}, {160, 160, 255}, {255, 150, 190}, {170, 200, 120}, {200, 170, 90},
	{190, 150, 220}, {130, 170, 180}, {220, 120, 60}, {180, 180, 190},
}

// view is the session on a whole screen: ships on a radar, who plays, and what was told last.
type view struct {
	w    *terminal.Writer
	size func() (columns, lines int, ok bool)
	line terminal.Line
	quit bool
	told []string
	part []byte // of a key that comes as several bytes
}

func newView(out io.Writer, size func() (int, int, bool)) *view {
	return &view{size: size, w: &terminal.Writer{Out: out, Columns: columns, Rows: rows, Name: "The radar",
		Meanwhile: "Your ship flies on; q quits."}}
}

// tell adds a line to those below.
func (v *view) tell(text string) {
	for _, l := range strings.Split(text, "\n") {
		v.told = append(v.told, terminal.Wrap(l, columns-2)...)
	}
	v.told = v.told[max(0, len(v.told)-talkRows):]
}

// glance is what there is to see at one moment.
type glance struct {
	scene   *scene.Scene
	at      time.Duration
	players []pilot.Player
	flies   bool
	x, y    float64
	turned  float64
	speed   float64
	shots   uint16
}

// draw returns the lines of the view.
func (v *view) draw(g *glance) [][]terminal.Cell {
	lines := make([][]terminal.Cell, rows)
	for y := range lines {
		lines[y] = make([]terminal.Cell, columns)
		for x := range lines[y] {
			lines[y][x] = terminal.Cell{Rune: ' ', Fg: grey, Bg: black}
		}
	}
	edge := "+" + strings.Repeat("-", radarWidth) + "+"
	terminal.Print(lines[0], 0, edge, green, black)
	terminal.Print(lines[radarRows+1], 0, edge, green, black)
	for y := 1; y <= radarRows; y++ {
		terminal.Print(lines[y], 0, "|"+strings.Repeat(" ", radarWidth)+"|", green, dark)
	}
	v.radar(lines, g)
	v.list(lines, g)
	for i, l := range v.told {
		terminal.Print(lines[radarRows+2+i], 1, l, bright, black)
	}
	below := "arrows fly, space fires, m missile, e drops, j joins, t talks, q quits"
	if v.line.Open {
		terminal.Print(lines[rows-1], 0, "> "+v.line.Text()+"_", amber, black)
	} else {
		terminal.Print(lines[rows-1], 0, below, grey, black)
	}
	return lines
}

// radar draws what is around the own place: ships with where they fly to and their names, and extras.
func (v *view) radar(lines [][]terminal.Cell, g *glance) {
	spot := func(p scene.Place) (row, column int, ok bool) {
		dx, dy := float64(p.X)-g.x, g.y-float64(p.Y)
		row = 1 + int(math.Round((dy/reach+1)/2*(radarRows-1)))
		column = 1 + int(math.Round((dx/(reach*radarWidth/radarRows/2)+1)/2*(radarWidth-1)))
		return row, column, row >= 1 && row <= radarRows && column >= 1 && column <= radarWidth
	}
	terminal.Print(lines[1+radarRows/2], 1+radarWidth/2, "+", green, dark)
	for _, p := range g.scene.Extras() {
		if row, column, ok := spot(p); ok {
			terminal.Print(lines[row], column, "*", amber, dark)
		}
	}
	for _, p := range g.players {
		at, ok := g.scene.Where(p.Slot, g.at)
		if !ok {
			continue
		}
		row, column, ok := spot(at)
		if !ok {
			continue
		}
		dx, dy, _ := g.scene.Heading(p.Slot)
		terminal.Print(lines[row], column, arrow(float64(dx), float64(dy)), hulls[p.Slot], dark)
		name := terminal.Clip(typed.Clean(p.Name), max(0, radarWidth-column-1))
		terminal.Print(lines[row], column+2, name, hulls[p.Slot], dark)
	}
}

// arrow points along a direction.
func arrow(dx, dy float64) string {
	if dx == 0 && dy == 0 {
		return "o"
	}
	turned := math.Atan2(dx, dy) * 180 / math.Pi
	return string([]rune("↑↗→↘↓↙←↖")[int(math.Round(turned/45)+8)%8])
}

// list writes who plays and how the own ship does.
func (v *view) list(lines [][]terminal.Cell, g *glance) {
	row := 0
	write := func(text string, c terminal.Color) {
		if row <= radarRows+1 {
			terminal.Print(lines[row], beside, terminal.Clip(text, columns-beside), c, black)
			row++
		}
	}
	if g.flies {
		write(fmt.Sprintf("at %.0f %.0f", g.x, g.y), bright)
		write(fmt.Sprintf("speed %.0f  course %.0f", g.speed, math.Mod(g.turned+360, 360)), bright)
		write(fmt.Sprintf("shots %d", g.shots), bright)
	} else {
		write("you watch; j joins", bright)
		row += 2
	}
	row++
	for _, p := range g.players {
		where := "watches"
		if at, ok := g.scene.Where(p.Slot, g.at); ok {
			where = fmt.Sprintf("%.0f away", math.Hypot(float64(at.X)-g.x, float64(at.Y)-g.y))
		}
		if p.Me {
			where = "you"
		}
		name := terminal.Clip(typed.Clean(p.Name), 12)
		write(fmt.Sprintf("%2d %-12s %s", p.Slot, name, where), hulls[p.Slot])
	}
}

// show brings the view to the terminal, if that is large enough.
func (v *view) show(g *glance) error {
	if c, r, ok := v.size(); ok && !v.w.Fits(c, r) {
		return nil
	}
	return v.w.Show(v.draw(g))
}

// press takes what was typed, and returns the commands that it means, as they can be typed in full.
func (v *view) press(b []byte, g *glance) (commands []string) {
	for _, c := range b {
		switch {
		case c == 3:
			v.quit = true
		case len(v.part) > 0 || c == 0x1b && len(b) > 1:
			if c = v.sequence(c); c != 0 && !v.line.Open {
				commands = append(commands, g.key(c)...)
			}
		case v.line.Open:
			if v.line.Type(c); v.line.Said != "" {
				commands = append(commands, v.line.Said)
				v.line.Said = ""
			}
		case c == 't' || c == '/' || c == '\r' || c == '\n':
			if v.line.Open = true; c == '/' {
				v.line.Type(c)
			}
		case c == 'q' || c == 4:
			v.quit = true
		default:
			commands = append(commands, g.key(c)...)
		}
	}
	return commands
}

// sequence goes on with a key that begins with Escape, and returns the letter that an arrow stands for when it is
// whole; 0 before, and for other keys.
func (v *view) sequence(c byte) byte {
	v.part = append(v.part, c)
	switch {
	case len(v.part) == 1, len(v.part) == 2 && (c == '[' || c == 'O'):
		return 0
	case len(v.part) > 2 && c >= 0x20 && c < 0x40 && len(v.part) < 16:
		return 0
	}
	arrow := len(v.part) > 2
	v.part = v.part[:0]
	if i := strings.IndexByte("ABCD", c); arrow && i >= 0 {
		return "wsda"[i]
	}
	return 0
}

// key returns the commands of one key.
func (g *glance) key(c byte) []string {
	switch c {
	case 'w':
		return []string{fmt.Sprintf("/speed %.0f", g.speed+10)}
	case 's':
		return []string{fmt.Sprintf("/speed %.0f", g.speed-10)}
	case 'a':
		return []string{"/turn -15"}
	case 'd':
		return []string{"/turn 15"}
	case ' ':
		return []string{"/fire"}
	case 'e':
		return []string{"/drop"}
	case 'j':
		if g.flies {
			return []string{"/unjoin"}
		}
		return []string{"/join"}
	case 'm':
		if slot, ok := g.nearest(); ok {
			return []string{fmt.Sprintf("/missile %d", slot)}
		}
	}
	return nil
}

// nearest is the ship of somebody else that is nearest.
func (g *glance) nearest() (slot uint8, ok bool) {
	away := func(p pilot.Player) float64 {
		at, _ := g.scene.Where(p.Slot, g.at)
		return math.Hypot(float64(at.X)-g.x, float64(at.Y)-g.y)
	}
	others := slices.DeleteFunc(slices.Clone(g.players), func(p pilot.Player) bool {
		_, flies := g.scene.Where(p.Slot, g.at)
		return p.Me || !flies
	})
	if len(others) == 0 {
		return 0, false
	}
	return slices.MinFunc(others, func(a, b pilot.Player) int { return cmp.Compare(away(a), away(b)) }).Slot, true
}
