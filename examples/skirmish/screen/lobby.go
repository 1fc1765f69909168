package screen

import (
	"fmt"

	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/skirmish/game"
)

// Room is what there is to see between matches.
type Room struct {
	Title               string
	Names               [game.Players]string // of who is there
	Me                  int
	Arena, Rounds, Bots int
	Agreed              bool // the own agreement stands
	Last                *game.State
	Played              game.Mask // whose points of the last match are shown
	Talk                []Line
	Lines               []string // what else is to be said
	Below               string
}

// Lobby draws a room: the arena of the next match, and before it who is there and what is to be agreed on.
func Lobby(r *Room) *Grid {
	next := game.New(game.Config{Seed: 1, Arena: uint8(r.Arena), Rounds: uint8(r.Rounds)})
	g, c := new(Grid), new(canvas)
	c.arena(next)
	for y := range game.Height / 2 {
		for x := range game.Width {
			g[y+1][x] = cell('▀', mix(c[2*y][x], black, 110), mix(c[2*y+1][x], black, 110))
		}
	}
	for x := range Columns {
		g[0][x], g[Rows-1][x] = cell(' ', dim, black), cell(' ', dim, black)
	}
	g.Text(0, 0, " SKIRMISH  "+r.Title, white, black)
	panel := Color{12, 13, 16}
	const left, width = 14, 52
	row := 2
	put := func(s string, fg Color) {
		g.Text(row, left, fmt.Sprintf("%-*s", width, "  "+terminal.Clip(s, width-4)), fg, panel)
		row++
	}
	put("", dim)
	for i, n := range r.Names {
		if n == "" {
			continue
		}
		if i == r.Me {
			n += "  (you)"
		}
		if r.Last != nil && r.Played.Has(i) {
			n = fmt.Sprintf("%-24s %d points", n, r.Last.Tanks[i].Score)
		}
		put("■ "+n, Tanks[i])
	}
	put("", dim)
	put(fmt.Sprintf("[1] arena   %s", game.Arenas[r.Arena%len(game.Arenas)].Name), white)
	put(fmt.Sprintf("[2] rounds  %d", r.Rounds), white)
	put(fmt.Sprintf("[3] bots    %d", r.Bots), white)
	put("", dim)
	if r.Agreed {
		put("You agree. Enter takes it back.", Color{120, 220, 110})
	} else {
		put("Enter: play with these settings", Color{250, 210, 80})
	}
	for _, l := range r.Lines {
		for _, part := range terminal.Wrap(l, width-4) {
			put(part, dim)
		}
	}
	put("", dim)
	g.talk(r.Talk, Rows-2)
	g.Text(Rows-1, 0, terminal.Clip(r.Below, Columns), dim, black)
	return g
}

// Notice draws a screen that says one thing, in the middle.
func Notice(text, below string) *Grid {
	g := new(Grid)
	for y := range g {
		for x := range g[y] {
			g[y][x] = cell(' ', dim, black)
		}
	}
	lines := terminal.Wrap(text, 60)
	for i, l := range lines {
		g.Text(Rows/2-len(lines)/2+i, (Columns-len([]rune(l)))/2, l, white, black)
	}
	g.Text(Rows-1, 0, terminal.Clip(below, Columns), dim, black)
	return g
}
