package keys

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/skirmish/game"
)

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		typed string
		want  game.Input
	}{
		{"", 0}, {"w", 1}, {"\x1b[A", 1}, {"\x1bOC", 2}, {"\x1b[1;5D", 4}, {"\x1b[As", 3}, {"ax", 0}, {" ",
			game.Fire}, {"dm", 2 | game.Mine},
		{"\x1b\x1b[A", 1}, {"d6", 2 | 1<<5}, {"9", 4 << 5},
		{"\x1b[\x7f\x1b[B", 3},
	} {
		var k Keys
		k.Press([]byte(c.typed))
		if got := k.Input(); got != c.want {
			t.Errorf("%q: %d, not %d", c.typed, got, c.want)
		}
	}
	k := Keys{}
	k.Press([]byte("d q"))
	for n := range 5 {
		if in := k.Input(); in&game.Fire != 0 != (n < held) || in.Dir() != game.Right {
			t.Errorf("frame %d: %d", n, in)
		}
	}
	if !k.Quit {
		t.Error("q does not quit")
	}
}

// Whatever a terminal sends, nothing grows and nothing fails.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[A d\x1b[999;999;999;999;999;999~"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var k Keys
		k.Press(b)
		if in := k.Input(); in.Dir() > game.Left || len(k.escape) > 17 || len(k.Typed) > 64 {
			t.Errorf("%d, %d bytes kept", in, len(k.escape)+len(k.Typed))
		}
	})
}

// A line of talk is typed without driving, also with characters of several bytes, and Escape forgets it.
func TestLine(t *testing.T) {
	var k Keys
	k.Press([]byte("d"))
	k.Press([]byte("tq was\xc3\xa4"))
	if k.Quit || k.Input() != game.Input(game.Right) || k.Line.Text() != "q wasä" {
		t.Errorf("quit %v, %d, %q", k.Quit, k.Input(), k.Line.Text())
	}
	k.Press([]byte{0x7f, 0x7f})
	k.Press([]byte("\x1b[A"))
	k.Press([]byte("\r"))
	if k.Line.Said != "q wa" || k.Line.Open || k.Enter || k.Input() != game.Input(game.Right) {
		t.Errorf("%+v, Enter %v, %d", k.Line, k.Enter, k.Input())
	}
	k.Line.Said = ""
	k.Press([]byte("tno"))
	k.Press([]byte{0x1b})
	k.Press([]byte("a"))
	if k.Line.Open || k.Line.Said != "" || k.Input() != game.Input(game.Left) {
		t.Errorf("%+v, %d", k.Line, k.Input())
	}
	k.Press([]byte("t" + strings.Repeat("x", 300) + "\r"))
	if len(k.Line.Said) != terminal.Longest {
		t.Errorf("%d bytes", len(k.Line.Said))
	}
	k.Press([]byte("t\x03"))
	if !k.Quit {
		t.Error("Ctrl-C does not end a line")
	}
}
