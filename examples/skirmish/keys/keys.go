// Package keys turns what is typed at a terminal into what a tank does.
//
// A terminal tells of keys that go down and not of keys that come up. So a tank drives on in the direction of the
// last arrow until another one or x is pressed, and a press of space fires for a moment. It knows bytes alone, and
// no terminal. Start from [Keys].
package keys

import (
	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/skirmish/game"
)

// Keys is the keyboard of one player.
type Keys struct {
	dir        game.Dir
	fire, mine int // frames for which they count as held
	sign       game.Sign
	shows      int // frames for which the sign does
	escape     []byte
	// Line is what the player says; t begins it, Enter ends it.
	Line terminal.Line
	// Quit is set by q and by Ctrl-C, Enter by the return key.
	Quit, Enter bool
	// Typed are the letters and digits since it was last emptied, at most 64.
	Typed []byte
}

// held is how many frames a button counts as held after a press: until a terminal repeats it.
const held = 3

// Press takes what was read from the terminal.
func (k *Keys) Press(b []byte) {
	for _, c := range b {
		if k.Line.Open && len(k.escape) == 0 && c != 3 {
			if c == 0x1b && len(b) > 1 { // some key: of no use in a line
				k.escape = append(k.escape, c)
				continue
			}
			k.Line.Type(c)
			continue
		}
		if len(k.escape) > 0 {
			k.sequence(c)
			continue
		}
		switch c {
		case 0x1b:
			k.escape = append(k.escape, c)
		case 'w', 'W', 'k':
			k.dir = game.Up
		case 'd', 'D', 'l':
			k.dir = game.Right
		case 's', 'S', 'j':
			k.dir = game.Down
		case 'a', 'A', 'h':
			k.dir = game.Left
		case 'x', 'X', '.':
			k.dir = game.Stop
		case ' ':
			k.fire = held
		case 't', 'T':
			k.Line.Open = true
			continue
		case 'm', 'M', 'e', 'E':
			k.mine = held
		case 'q', 'Q', 3, 4:
			k.Quit = true
		case '6', '7', '8', '9':
			k.sign, k.shows = game.Sign(c-'5'), held
		case '\r', '\n':
			k.Enter = true
		}
		if c > ' ' && c < 0x7f && len(k.Typed) < 64 {
			k.Typed = append(k.Typed, c)
		}
	}
}

// sequence goes on with what began with Escape: arrows are ESC [ A to D or ESC O A to D.
func (k *Keys) sequence(c byte) {
	if len(k.escape) == 1 {
		switch c {
		case '[', 'O':
			k.escape = append(k.escape, c)
		case 0x1b:
		default:
			k.escape = k.escape[:0]
		}
		return
	}
	if c >= 0x20 && c < 0x40 && len(k.escape) < 16 { // parameters of some other key
		k.escape = append(k.escape, c)
		return
	}
	if k.Line.Open {
		k.escape = k.escape[:0]
		return
	}
	if d, ok := map[byte]game.Dir{'A': game.Up, 'B': game.Down, 'C': game.Right, 'D': game.Left}[c]; ok {
		k.dir = d
	}
	k.escape = k.escape[:0]
}

// Input is what the keys say in this frame. Call it once for each.
func (k *Keys) Input() game.Input {
	in := game.Input(k.dir)
	if k.fire > 0 {
		k.fire--
		in |= game.Fire
	}
	if k.mine > 0 {
		k.mine--
		in |= game.Mine
	}
	if k.shows > 0 {
		k.shows--
		in |= k.sign.Showing()
	}
	return in
}
