package drive

import (
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/conform/sample/gne"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/fsmtest"
)

// TestRepeatedChannels: a run that is repeated with generated machines has a queue for each of two channels.
func TestRepeatedChannels(t *testing.T) {
	c, s := gne.NewClientRunner(), gne.NewServerRunner()
	w := fsmtest.New(t, fsmtest.Options{
		Channels: []fsmtest.Channel{{Name: "events", Capacity: 2, Lossless: true},
			{Name: "places", Capacity: 1, Unordered: true, Full: fsmtest.Lose}},
		Links: []fsmtest.Link{{A: "c", B: "s", Channel: "events"}},
	}, fsmtest.Machine{Name: "c", Runner: c, Starts: true}, fsmtest.Machine{Name: "s", Runner: s, Starts: true})
	w.Up("c", "s")
	w.Up("s", "c")
	w.Command("c", "enter", c.Enter)
	w.Deliver("c", "s", "ENTER", 0)
	w.Command("s", "move", func() fsm.Result { return s.Move(9) })
	w.Command("s", "move", func() fsm.Result { return s.Move(8) }) // finds no room
	if w.Len("s", "c", "") != 2 || w.Len("s", "c", "", "places") != 1 || w.Total("PLACE", "events") != 0 ||
		!strings.Contains(w.String(), "s -> c (events): ENTERED\n  s -> c (places): PLACE{frame: 1, place: 9}") {
		t.Errorf("under way is\n%s", w)
	}
	w.Crash("s")
	if w.Pending("s", "c", "", "events") != 2 || w.Pending("s", "c", "", "places") != 1 {
		t.Errorf("behind a crash is\n%s", w)
	}
	w.Deliver("s", "c", "ENTERED", 0)
	w.News("s", "c", "events")
	w.Deliver("s", "c", "PLACE{frame: 1, place: 9}", 0) // nobody hears it
	if w.Total("") != 0 || c.Machine.State != gne.ClientStateOver {
		t.Errorf("at the end is\n%s", w)
	}
}
