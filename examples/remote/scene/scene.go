// Package scene is what can be seen of a session: who plays, where the ships are, what lies around, and what has been
// said. It is made of records alone, so a session and its playback look the same.
//
// It has no clock and no connection. Start from [Scene].
package scene

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/examples/internal/typed"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/machines/events"
)

// Slots is how many players there may be.
const Slots = 16

// maxExtras is how many extras are kept in mind.
const maxExtras = 64 * Slots

// Scene is what is there. The zero value is empty.
type Scene struct {
	ships  [Slots]ship
	names  [Slots]string
	extras map[events.Object]Place
}

type ship struct {
	flies bool
	state remote.Ship
	at    time.Duration
}

// Place is where something is.
type Place struct{ X, Y, Z float32 }

// Apply takes a record, and returns what a reader is to be told of it, a line each. Ships that move are not told.
func (s *Scene) Apply(r remote.Record) (told []string) {
	if r.Kind == remote.LineRecord && r.Slot == remote.ToAll {
		return []string{"server: " + typed.Clean(string(r.Data))}
	}
	if r.Kind != remote.EventsRecord && r.Slot >= Slots {
		return nil
	}
	switch r.Kind {
	case remote.LineRecord:
		return s.listed(r.Slot, string(r.Data))
	case remote.ShipRecord:
		state, ok := remote.ParseShip(r.Data)
		if !ok {
			return nil
		}
		before := s.ships[r.Slot].flies
		s.ships[r.Slot] = ship{true, state, r.At}
		if !before {
			x, y, _ := state.Position()
			return []string{fmt.Sprintf("%s flies at %.0f %.0f", s.Name(r.Slot), x, y)}
		}
	case remote.HiddenRecord:
		if s.ships[r.Slot].flies {
			s.ships[r.Slot].flies = false
			return []string{s.Name(r.Slot) + " is not to be seen any more"}
		}
	case remote.EventsRecord:
		err := remote.Each(r.Data, r.Slot, func(owner uint8, _ []byte, m *events.Message) {
			if owner < Slots {
				told = append(told, s.happened(owner, m)...)
			}
		})
		if err != nil {
			told = append(told, err.Error())
		}
	}
	return told
}

// listed takes what a server says of a player in a slot.
func (s *Scene) listed(slot uint8, line string) []string {
	before := s.names[slot]
	if strings.HasPrefix(line, "remove ip: ") {
		s.names[slot], s.ships[slot] = "", ship{}
		if before == "" {
			return nil
		}
		return []string{typed.Clean(before) + " has gone"}
	}
	_, name, ok := strings.Cut(line, " name: ")
	if end := strings.LastIndex(name, " in "); end >= 0 {
		name = name[:end]
	}
	if !ok || name == before {
		return nil
	}
	s.names[slot] = name
	if before == "" {
		return []string{fmt.Sprintf("%s is here, slot %d", s.Name(slot), slot)}
	}
	return []string{fmt.Sprintf("%s is called %s now", typed.Clean(before), s.Name(slot))}
}

// happened takes an event of a player.
func (s *Scene) happened(owner uint8, m *events.Message) []string {
	who := s.Name(owner)
	switch m.Kind {
	case events.MessageSendText: // its first word is the name that it had then
		_, what, _ := strings.Cut(m.SendText.Text.String(), " ")
		return []string{who + ": " + typed.Clean(what)}
	case events.MessagePlayerName:
		return nil // the list of the server has it
	case events.MessageCreateExtra:
		if s.extras == nil {
			s.extras = map[events.Object]Place{}
		}
		p := &m.CreateExtra.Place
		if len(s.extras) < maxExtras {
			s.extras[m.CreateExtra.Object] = Place{p[3].Float(), p[7].Float(), p[11].Float()}
		}
		return []string{fmt.Sprintf("%s drops %s", who, object(m.CreateExtra.Object))}
	case events.MessageKillObject:
		delete(s.extras, m.KillObject.Object)
		return []string{fmt.Sprintf("%s takes %s", who, object(m.KillObject.Object))}
	case events.MessageCreateLaser:
		return []string{who + " fires a laser"}
	case events.MessageCreateMissile:
		return []string{fmt.Sprintf("%s fires a missile at %s", who, s.Name(remote.Owner(m.CreateMissile.Target)))}
	}
	return []string{fmt.Sprintf("%s: %v", who, m)}
}

func object(o events.Object) string {
	return fmt.Sprintf("extra %d of slot %d", o&0xffff, remote.Owner(o))
}

// Name is that of the player in a slot, as it can be shown.
func (s *Scene) Name(slot uint8) string {
	if slot >= Slots || s.names[slot] == "" {
		return fmt.Sprint("slot ", slot)
	}
	return typed.Clean(s.names[slot])
}

// Where returns where a player's ship is at a time, as far as is known; false if it has none to be seen.
func (s *Scene) Where(slot uint8, at time.Duration) (Place, bool) {
	if slot >= Slots || !s.ships[slot].flies {
		return Place{}, false
	}
	sh := &s.ships[slot]
	x, y, z := sh.state.Predict(max(at-sh.at, 0))
	return Place{x, y, z}, true
}

// Heading returns the direction in which a player's ship was turned when it was seen last, in the plane of the map.
func (s *Scene) Heading(slot uint8) (x, y float32, ok bool) {
	if slot >= Slots || !s.ships[slot].flies {
		return 0, 0, false
	}
	m := &s.ships[slot].state.Matrix
	return m[2], m[6], true
}

// Extras returns where the extras lie, in the order of their numbers.
func (s *Scene) Extras() (list []Place) {
	for _, o := range slices.Sorted(maps.Keys(s.extras)) {
		list = append(list, s.extras[o])
	}
	return list
}

// Extra returns where an extra lies, false if it is not there.
func (s *Scene) Extra(o events.Object) (Place, bool) {
	p, ok := s.extras[o]
	return p, ok
}

// Size of a map in characters, and how far it shows to each side of its middle.
const (
	Columns = 61
	Rows    = 21
	Reach   = 150
)

// Map draws what is around a place: ships by the first character of their slot in base 16, extras as dots.
func (s *Scene) Map(middle Place, at time.Duration) string {
	var grid [Rows][Columns]byte
	for i := range grid {
		for j := range grid[i] {
			grid[i][j] = ' '
		}
	}
	put := func(p Place, c byte) {
		x := (p.X - middle.X + Reach) / (2 * Reach)
		y := (middle.Y - p.Y + Reach) / (2 * Reach)
		if x >= 0 && x <= 1 && y >= 0 && y <= 1 {
			grid[int(y*(Rows-1)+0.5)][int(x*(Columns-1)+0.5)] = c
		}
	}
	for _, p := range s.extras {
		put(p, '.')
	}
	var list []string
	for slot := range uint8(Slots) {
		if p, ok := s.Where(slot, at); ok {
			c := "0123456789abcdef"[slot]
			put(p, c)
			list = append(list, fmt.Sprintf("%c %s at %.0f %.0f", c, s.Name(slot), p.X, p.Y))
		}
	}
	edge := "+" + strings.Repeat("-", Columns) + "+\n"
	var b strings.Builder
	b.WriteString(edge)
	for _, row := range grid {
		b.WriteString("|" + string(row[:]) + "|\n")
	}
	b.WriteString(edge + strings.Join(list, "; "))
	return b.String()
}
