package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/internal/terminal"
	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/examples/remote/scene"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/runtime/wire"
)

// seen is a moment with three players: this one and another fly, the third watches.
func seen(t *testing.T) (*view, *glance) {
	t.Helper()
	g := &glance{scene: new(scene.Scene), at: time.Second, flies: true, x: 10, y: 20, turned: -45, speed: 30, shots: 2,
		players: []pilot.Player{{Slot: 0, Name: "anna", Me: true}, {Slot: 3, Name: "bob\x1b[2J"},
			{Slot: 11, Name: "carl"}}}
	v := newView(nil, nil)
	at := func(k remote.Kind, slot uint8, data []byte) {
		for _, line := range g.scene.Apply(remote.Record{Kind: k, At: time.Second, Slot: slot, Data: data}) {
			v.tell(line)
		}
	}
	for _, p := range g.players {
		at(remote.LineRecord, p.Slot, fmt.Appendf(nil, "add ip: 10.0.0.1 name: %s in %d", p.Name, p.Slot))
	}
	own := &session{x: g.x, y: g.y, turned: g.turned}
	ship := own.ship()
	at(remote.ShipRecord, 0, ship.Append(nil))
	ship = remote.Ship{Matrix: [12]float32{2: 1, 3: 90, 7: -60}}
	at(remote.ShipRecord, 3, ship.Append(nil))
	m := events.Message{Kind: events.MessageCreateExtra, CreateExtra: events.CreateExtraMessage{
		Object: 3<<16 | 1, Place: events.Matrix{3: wire.MakeF32(-70), 7: wire.MakeF32(120)}}}
	var out remote.Outbox
	if !out.Add(&m) {
		t.Fatal("an extra has no room")
	}
	list, _ := out.Flush(nil, remote.MaxList, nil)
	at(remote.EventsRecord, 3, list)
	return v, g
}

// text is what the lines say, without their colours and the blanks at their ends.
func text(lines [][]terminal.Cell) string {
	var b strings.Builder
	for _, line := range lines {
		var row []rune
		for _, c := range line {
			row = append(row, c.Rune)
		}
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

// The view has ships with their courses, names that strangers chose, extras, and what was told last.
func TestView(t *testing.T) {
	v, g := seen(t)
	const want = `
+-----------------------------------------------+ at 10 20
|                                               | speed 30  course 315
|                                               | shots 2
|                                               |
|               *                               |  0 anna         you
|                                               |  3 bob?[2J      113 away
|                                               | 11 carl         watches
|                                               |
|                                               |
|                       ↖ anna                  |
|                                               |
|                                               |
|                                               |
|                               → bob?[2J       |
|                                               |
|                                               |
|                                               |
|                                               |
+-----------------------------------------------+
 carl is here, slot 11
 anna flies at 10 20
 bob?[2J flies at 90 -60
 bob?[2J drops extra 1 of slot 3
 arrows fly, space fires, m missile, e drops, j joins, t talks, q quits
`
	got := "\n" + text(v.draw(g))
	if want := strings.Replace(want, "\n arrows", "\narrows", 1); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
	v.press([]byte("thi"), g)
	g.flies, g.players[1].Slot = false, 15
	got = text(v.draw(g))
	if !strings.HasSuffix(got, "\n> hi_\n") || !strings.Contains(got, "you watch; j joins") ||
		strings.Contains(got, "→") {
		t.Error(got)
	}
}

// Whatever is said and however far away ships are, the view has its size, and moves no cursor.
func TestViewBounds(t *testing.T) {
	v, g := seen(t)
	for slot := range uint8(scene.Slots) {
		g.players = append(g.players, pilot.Player{Slot: slot, Name: strings.Repeat("界\r\n", 10)})
		ship := remote.Ship{Matrix: [12]float32{3: float32(slot) * 1e5, 7: -3e38}}
		g.scene.Apply(remote.Record{Kind: remote.ShipRecord, Slot: slot, Data: ship.Append(nil)})
	}
	for range 100 {
		v.tell(strings.Repeat("\x1b[2J\x00", 200) + "\nend")
	}
	lines := v.draw(g)
	if len(lines) != rows || len(v.told) != talkRows {
		t.Fatalf("%d lines, %d of talk", len(lines), len(v.told))
	}
	for y, line := range lines {
		if len(line) != columns {
			t.Errorf("line %d has %d columns", y, len(line))
		}
		for _, c := range line {
			if c.Rune < ' ' || c.Rune == 0x7f {
				t.Errorf("line %d has %q", y, c.Rune)
			}
		}
	}
	var out bytes.Buffer
	small := 20
	v = newView(&out, func() (int, int, bool) { return small, small, true })
	if err := v.show(g); err != nil || !strings.Contains(out.String(), "radar") ||
		strings.Contains(out.String(), "anna") {
		t.Errorf("a small terminal gets %q (%v)", &out, err)
	}
	small = 100
	if err := v.show(g); err != nil || !strings.Contains(out.String(), "anna") {
		t.Errorf("a large terminal gets %q (%v)", &out, err)
	}
	out.Reset()
	if err := v.show(g); err != nil || out.Len() > 30 {
		t.Errorf("the same again: %d bytes (%v)", out.Len(), err)
	}
}

// Keys are commands, arrows come as several bytes, and what is typed in a line is no key.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		typed string
		want  string
		quits bool
	}{
		{"w", "/speed 40", false}, {"\x1b[A", "/speed 40", false}, {"\x1bOB", "/speed 20", false},
		{"\x1b[1;5D", "/turn -15", false}, {"\x1b[C", "/turn 15", false}, {"\x1b[Z", "", false}, {"\x1b", "", false},
		{" e", "/fire,/drop", false}, {"m", "/missile 3", false}, {"j", "/unjoin", false},
		{"thello q w\r", "hello q w", false}, {"/who\r", "/who", false}, {"\rhi\r", "hi", false},
		{"t\x1b", "", false}, {"to\x1b[Ak\rw", "ok,/speed 40", false}, {"t\r", "", false},
		{"q", "", true}, {"tx\x03", "", true}, {"\x04", "", true},
	} {
		v, g := seen(t)
		got := strings.Join(v.press([]byte(c.typed), g), ",")
		if got != c.want || v.quit != c.quits {
			t.Errorf("%q: %q, quits %v", c.typed, got, v.quit)
		}
	}
	v, g := seen(t)
	g.flies = false
	if got := v.press([]byte("j"), g); !slices.Equal(got, []string{"/join"}) {
		t.Error(got)
	}
	g.players = g.players[:1]
	if got := v.press([]byte("m"), g); got != nil {
		t.Errorf("a missile at nobody: %q", got)
	}
}

// Whatever a terminal sends, nothing grows and nothing fails.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[A d\x1b[999;999;999;999;999;999~t\x1b[Bx\r"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v := newView(nil, nil)
		v.press(b, &glance{scene: new(scene.Scene)})
		if len(v.part) > 17 || len(v.line.Text()) > terminal.Longest {
			t.Errorf("%d and %d bytes are kept", len(v.part), len(v.line.Text()))
		}
	})
}
