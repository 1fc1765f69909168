// Package board is the game of examples/gne: objects with values that all players share, and who is in the game. Server
// and clients apply the same changes in the same order, so all have the same board. It knows no network. Start from
// [Board].
package board

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/examples/internal/typed"
)

// CleanName makes of a name one that can be shown beside others without looking like something else: whatever cannot be
// shown is replaced, and so are the marks that end a name where it is printed.
func CleanName(s string) string {
	return strings.TrimSpace(strings.NewReplacer(":", "?", ";", "?").Replace(typed.Clean(s)))
}

// Bounds of a board. All objects and players fit into the pieces of a copy, one in each, and each into a packet.
const (
	MaxObjects = 48
	MaxPlayers = 16
	MaxName    = 31
	MaxValue   = 100
)

// Board is the state of the game.
type Board struct {
	Objects map[string]string
	Players map[int]string
}

// New returns a board with nothing on it.
func New() *Board { return &Board{map[string]string{}, map[int]string{}} }

// Change is something that becomes different. It says by how much where a value is added to, so whoever applies it
// twice, or not at all, has another board.
type Change struct {
	Kind   Kind
	Player int
	Name   string
	Value  string
}

// Kind says what a change is about.
type Kind byte

// The kinds of changes. A player asks for the first three; the others the server makes.
const (
	Set    Kind = '=' // an object has this value
	Add    Kind = '+' // an object, which is a number or not there, is so much more
	Remove Kind = '-' // an object is not there any more
	Comes  Kind = '>' // a player is in the game
	Goes   Kind = '<' // a player is not any more
)

// String returns the change as packets have it.
func (c Change) String() string {
	switch c.Kind {
	case Set, Add:
		return string(c.Kind) + c.Name + " " + c.Value
	case Remove:
		return string(c.Kind) + c.Name
	case Comes:
		return string(c.Kind) + strconv.Itoa(c.Player) + " " + c.Name
	}
	return string(c.Kind) + strconv.Itoa(c.Player)
}

// Parse reads a change as packets have it. The error says what is wrong with it.
func Parse(s string) (c Change, err error) {
	if s == "" {
		return c, errors.New("a change is not empty")
	}
	if s != typed.Clean(s) {
		return c, errors.New("there is something in it that cannot be shown")
	}
	c.Kind = Kind(s[0])
	first, second, _ := strings.Cut(s[1:], " ")
	switch c.Kind {
	case Set, Add:
		c.Name, c.Value = first, second
	case Remove:
		c.Name = s[1:]
	case Comes, Goes:
		if c.Player, err = strconv.Atoi(first); err != nil || c.Player < 1 || c.Player > MaxPlayers {
			return c, fmt.Errorf("a player has a number from 1 to %d", MaxPlayers)
		}
		c.Name = second
	default:
		return c, fmt.Errorf("a change does not begin with %q", s[0])
	}
	switch {
	case c.Kind != Goes && (c.Name == "" || len(c.Name) > MaxName):
		return c, fmt.Errorf("a name has 1 to %d bytes", MaxName)
	case c.Name != CleanName(c.Name):
		return c, errors.New("a name has no : and ; in it, and no blanks around it")
	case strings.Contains(c.Value, ";"):
		return c, errors.New("a value has no ; in it")
	case c.Kind == Goes && c.Name != "":
		return c, errors.New("nothing stands behind the number of a player who goes")
	case c.Kind == Remove && strings.Contains(c.Name, " "):
		return c, errors.New("the name of an object has no space in it")
	case len(c.Value) > MaxValue:
		return c, fmt.Errorf("a value has at most %d bytes", MaxValue)
	case c.Kind == Add:
		if _, err := strconv.ParseInt(c.Value, 10, 32); err != nil {
			return c, fmt.Errorf("%q is no number of 32 bits", c.Value)
		}
	}
	return c, nil
}

// Apply makes a change. The error says why it is not possible; then nothing is different.
func (b *Board) Apply(c Change) error {
	switch c.Kind {
	case Comes:
		b.Players[c.Player] = c.Name
		return nil
	case Goes:
		delete(b.Players, c.Player)
		return nil
	}
	old, there := b.Objects[c.Name]
	if !there && c.Kind != Remove && len(b.Objects) == MaxObjects {
		return fmt.Errorf("there are %d objects, and no more fit", MaxObjects)
	}
	switch c.Kind {
	case Set:
		b.Objects[c.Name] = c.Value
	case Remove:
		if !there {
			return fmt.Errorf("there is no %s", c.Name)
		}
		delete(b.Objects, c.Name)
	case Add:
		var n int64
		if there {
			var err error
			if n, err = strconv.ParseInt(old, 10, 64); err != nil {
				return fmt.Errorf("%s is %q, which is no number", c.Name, old)
			}
		}
		more, _ := strconv.ParseInt(c.Value, 10, 32)
		if n+more > 1<<62 || n+more < -1<<62 {
			return fmt.Errorf("%s does not get that large", c.Name)
		}
		b.Objects[c.Name] = strconv.FormatInt(n+more, 10)
	}
	return nil
}

// Possible reports why a change is not possible, nil if it is. Nothing is different.
func (b *Board) Possible(c Change) error {
	return (&Board{Objects: maps.Clone(b.Objects), Players: maps.Clone(b.Players)}).Apply(c)
}

// Copy returns the changes that make this board out of an empty one, in a fixed order. It is the copy that a newcomer
// gets.
func (b *Board) Copy() (list []Change) {
	for _, name := range slices.Sorted(maps.Keys(b.Objects)) {
		list = append(list, Change{Kind: Set, Name: name, Value: b.Objects[name]})
	}
	for _, id := range slices.Sorted(maps.Keys(b.Players)) {
		list = append(list, Change{Kind: Comes, Player: id, Name: b.Players[id]})
	}
	return list
}

// String returns all that is on the board, in one line.
func (b *Board) String() string {
	var s strings.Builder
	for _, c := range b.Copy() {
		fmt.Fprintf(&s, "%v; ", c)
	}
	return s.String()
}
