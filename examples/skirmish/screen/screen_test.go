package screen

import (
	"bytes"
	"image/gif"
	"strings"
	"testing"

	"github.com/parley-go/parley/examples/skirmish/game"
)

func match(frames int) *game.State {
	s := game.New(game.Config{Seed: 4, Rounds: 3, Slots: 0xf, Bots: 0xf})
	for range frames {
		s.Step(&game.Frame{})
	}
	return s
}

func line(g *Grid, y int) string {
	var b strings.Builder
	for _, c := range g[y] {
		b.WriteRune(c.Rune)
	}
	return b.String()
}

// A screen says who plays, and what happens between fights.
func TestDraw(t *testing.T) {
	info := &Info{Names: [8]string{"Ann", "Bob"}, Me: 1, Below: "below"}
	g := Draw(match(10), info)
	var all string
	for y := range g {
		all += line(g, y) + "\n"
	}
	for _, want := range []string{"1/3", "Ann 0", "▸Bob 0", "Tank 3", "♥♥♥", "Crossroads, round 1 of 3",
		"- 3 -", "you", "below"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// text is all that is written on a grid.
func text(g *Grid) (all string) {
	for y := range g {
		all += line(g, y) + "\n"
	}
	return all
}

// Who is dead hears by whom, all see it for a while, and in the end there is who has what.
func TestNews(t *testing.T) {
	s := match(120) // they fight
	info := &Info{Names: [8]string{"Ann", "Bob", "Cy", "Dee"}, Me: 1, Gear: true, Below: "below"}
	s.Tanks[1].Mines = 2
	if all := text(Draw(s, info)); !strings.Contains(all, "mines 2") || strings.Contains(all, "shot") {
		t.Errorf("a tank that is alive:\n%s", all)
	}
	for i, k := range []game.Tank{{By: 3, How: game.Shell}, {By: 0, How: game.Blown}, {By: 8, How: game.Burnt},
		{By: 1, How: game.Shell}} {
		k.Died = s.Clock
		s.Tanks[i] = k
	}
	all := text(Draw(s, info))
	for _, want := range []string{" Dee shot Ann ", " Ann blew up you ", " Cy has burnt ", " you shot Dee ",
		"Ann blew up you. The next round begins when one is left."} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	s.Tanks[0].Sign, s.Tanks[0].Shown = 3, 1
	if all := text(Draw(s, info)); !strings.Contains(all, " GG ") {
		t.Errorf("no sign in\n%s", all)
	}
	s.Tanks[0].Shown = 0
	s.Clock += fresh
	if all := text(Draw(s, info)); strings.Contains(all, "Cy has burnt") || !strings.Contains(all, "Ann blew up you.") {
		t.Errorf("later:\n%s", all)
	}
	s.Phase, s.Winner = game.Pause, 3
	s.Tanks[2].Score, s.Tanks[3].Score = 7, 12
	all = text(Draw(s, info))
	dee, cy := strings.Index(all, "Dee               12 points"), strings.Index(all, "Cy                 7 points")
	if dee < 0 || cy < dee || !strings.Contains(all, "Dee wins the round") {
		t.Errorf("at the end of a round:\n%s", all)
	}
}

// Where the own tank has much, the help has less, and nothing of it is cut.
func TestHelp(t *testing.T) {
	s := match(120)
	help := "arrows drive  x stop  space fire  m mine  6-9 ! ? GG ha  t talk  q quit"
	info := &Info{Me: 1, Gear: true, Below: help}
	t1 := &s.Tanks[1]
	t1.Health, t1.Mines, t1.Rapid, t1.Shield = 4, 3, 200, 100
	if got := line(Draw(s, info), Rows-1); got !=
		"arrows drive  x stop  space fire  q quit       mines 3  fast gun 7 s  shield 4 s" {
		t.Errorf("%q", got)
	}
	t1.Health = 0
	if got := strings.TrimRight(line(Draw(s, info), Rows-1), " "); got != help {
		t.Errorf("%q", got)
	}
}

// What is written for a second grid is what has changed, and nothing for the same again.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	s := match(120)
	w.Show(Draw(s, &Info{}).Lines())
	whole := out.Len()
	out.Reset()
	w.Show(Draw(s, &Info{}).Lines())
	same := out.Len()
	out.Reset()
	s.Step(&game.Frame{})
	w.Show(Draw(s, &Info{}).Lines())
	if same > 20 || out.Len() >= whole/4 || out.Len() <= same {
		t.Errorf("%d bytes, %d for the same and %d for the next", whole, same, out.Len())
	}
}

// A film can be read as a GIF that has as many pictures.
func TestFilm(t *testing.T) {
	s := match(0)
	f := Film{Delay: 6}
	for n := range 150 {
		s.Step(&game.Frame{})
		if n%30 == 0 {
			f.Add(Draw(s, &Info{}))
		}
	}
	var b bytes.Buffer
	if err := f.Encode(&b); err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(&b)
	if err != nil || len(g.Image) != 5 || g.Config.Width != Columns*CellWidth {
		t.Errorf("%v, %+v", err, g)
	}
}

// A painting is the same whether all of it is drawn, or what has changed.
func TestPainting(t *testing.T) {
	s := match(100)
	var all, steps Painting
	for range 30 {
		s.Step(&game.Frame{})
		steps.Paint(Draw(s, &Info{}))
	}
	if steps.Pix == all.Pix {
		t.Error("nothing is drawn")
	}
	all.Paint(Draw(s, &Info{}))
	if steps.Pix != all.Pix {
		t.Error("something that has changed was not drawn")
	}
}

// A name cannot say anything to a terminal, neither in the lobby nor in a match.
func TestNamesAreText(t *testing.T) {
	for _, name := range []string{"\x1b[2J", "a\nb", "\u009b2Jx", "e\u0301", "\u202eab", "\u200bab"} {
		for _, g := range []*Grid{
			Lobby(&Room{Names: [8]string{name}, Title: name, Lines: []string{name}}),
			Draw(match(10), &Info{Names: [8]string{name}}),
		} {
			for y := range g {
				for x, c := range g[y] {
					if c.Rune < ' ' || strings.ContainsRune("\u007f\u009b\u0301\u202e\u200b", c.Rune) {
						t.Fatalf("name %q: row %d, column %d has %q", name, y, x, c.Rune)
					}
				}
			}
		}
	}
}

// What strangers say moves no cursor, and takes a cell for each character.
func TestTalk(t *testing.T) {
	info := &Info{Talk: []Line{{2, "Eve: \x1b[2J\a\u202e漢é\u0301"}, {1, "Bob: last"}}}
	g := Draw(match(10), info)
	if got := strings.TrimRight(line(g, Rows-3), "▀"); got != "▀ Eve: ?[2J???é? " {
		t.Errorf("%q", got)
	}
	if got := strings.TrimRight(line(g, Rows-2), "▀"); got != "▀ Bob: last " {
		t.Errorf("%q", got)
	}
}

// A terminal that is too small is told so once, and has the whole picture when it is large enough.
func TestSmall(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	g := Draw(match(120), &Info{})
	w.Show(g.Lines())
	whole := out.Len()
	out.Reset()
	once, again := w.Fits(Columns-1, 3), w.Fits(Columns-1, 3)
	if once || again || strings.Count(out.String(), "Skirmish needs") != 1 ||
		strings.Contains(out.String(), "\x1b[4;") {
		t.Errorf("%q", out.String())
	}
	if w.Fits(0, 0) || w.Fits(1, 1) {
		t.Error("there is room in nothing")
	}
	out.Reset()
	if !w.Fits(Columns, Rows) || w.Show(g.Lines()) != nil || out.Len() != whole {
		t.Errorf("%d bytes of %d are shown", out.Len(), whole)
	}
}
