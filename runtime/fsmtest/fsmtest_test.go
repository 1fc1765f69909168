package fsmtest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/fsmtest"
	"github.com/parley-go/parley/runtime/internal/pingpong"
)

// What a state defers is held, counts as not handled, and is handled when the state has changed; a
// crash drops it.
func TestDeferred(t *testing.T) {
	for _, crash := range []bool{false, true} {
		a, b := pingpong.New(), pingpong.New()
		w := fsmtest.New(t, fsmtest.Options{Capacity: 4, Links: []fsmtest.Link{{A: "a", B: "b"}}},
			fsmtest.Machine{Name: "a", Runner: a}, fsmtest.Machine{Name: "b", Runner: b})
		w.Start("a")
		w.Start("b")
		w.Up("a", "b")
		w.Up("b", "a")
		w.Command("a", "barrier", a.Barrier)
		w.Command("b", "say", func() fsm.Result { return b.Say("x") })
		w.Command("b", "barrier", b.Barrier)
		note := strings.TrimPrefix(string(b.AppendEffect(nil, 0)), "send ")
		if note != "READY" {
			t.Fatal(note)
		}
		w.Deliver("b", "a", `NOTE{text: "x"}`, 0)
		if w.Len("b", "a", "NOTE") != 1 || a.M.State != pingpong.Ready || !strings.Contains(w.String(), `a holds NOTE{text: "x"} from b`) {
			t.Errorf("not held:\n%s", w)
		}
		if crash {
			w.Crash("a")
		} else {
			w.Deliver("b", "a", "READY", 0)
			w.Offer("a")
		}
		if w.Len("b", "a", "NOTE") != 0 {
			t.Errorf("crash %v: still held:\n%s", crash, w)
		}
		if r := a.Effect(0); !crash && (a.M.State != pingpong.Idle || r.Kind != fsm.Report || r.ID != pingpong.Noted) {
			t.Errorf("%+v in state %d", r, a.M.State)
		}
	}
}

// Links come up once, close, break, and come back when a machine begins again; what the others hear
// of it comes behind what was sent before.
func TestLinks(t *testing.T) {
	begin := func(t *testing.T) (w *fsmtest.World, a, b *pingpong.Runner) {
		a, b = pingpong.New(), pingpong.New()
		w = fsmtest.New(t, fsmtest.Options{Links: []fsmtest.Link{{A: "a", B: "b"}}},
			fsmtest.Machine{Name: "a", Runner: a, Starts: true, Restart: func() { *a = *pingpong.New() }},
			fsmtest.Machine{Name: "b", Runner: b, Starts: true})
		w.Up("a", "b")
		w.Up("b", "a")
		return w, a, b
	}
	states := func(t *testing.T, a, b *pingpong.Runner, want ...uint16) {
		t.Helper()
		if a.State() != want[0] || b.State() != want[1] {
			t.Errorf("states %d and %d, want %d", a.State(), b.State(), want)
		}
	}
	t.Run("restart", func(t *testing.T) {
		w, a, b := begin(t)
		w.Command("a", "ping", func() fsm.Result { return a.Ping(5) })
		w.Crash("a")
		if !w.Crashed("a") || !w.Possible() {
			t.Errorf("not crashed:\n%s", w)
		}
		w.Copy("a", "b", "PING{n: 5}", 0)
		w.Drop("a", "b", "PING{n: 5}", 0)
		w.News("a", "b")
		states(t, a, b, pingpong.Idle, pingpong.Off)
		w.Restart("a")
		w.Deliver("b", "a", "PONG{n: 5}", 0) // of the link before
		w.News("a", "b")
		w.News("b", "a")
		w.Up("a", "b")
		states(t, a, b, pingpong.Idle, pingpong.Idle)
		if a.M.Open != 0 || w.Crashed("a") || w.Possible() {
			t.Errorf("%+v\n%s", a.M, w)
		}
	})
	t.Run("break", func(t *testing.T) {
		w, a, b := begin(t)
		w.Command("a", "say", func() fsm.Result { return a.Say("x") })
		w.Down("b", "a")
		w.Deliver("a", "b", `NOTE{text: "x"}`, 0)
		states(t, a, b, pingpong.Idle, pingpong.Off)
		w.News("b", "a")
		states(t, a, b, pingpong.Off, pingpong.Off)
	})
	t.Run("close", func(t *testing.T) {
		w, a, b := begin(t)
		w.Command("b", "ping", func() fsm.Result { return b.Ping(5) })
		w.Command("a", "quit", a.Quit)
		w.Deliver("b", "a", "PING{n: 5}", 0) // is not heard
		w.Deliver("a", "b", "BYE", 0)
		w.News("a", "b")
		states(t, a, b, pingpong.Gone, pingpong.Gone)
		if !w.Possible() {
			t.Error("a timer is armed")
		}
		if w.Ruled("b", "wait"); w.Possible() {
			t.Error("a timer counts that rules keep from expiring")
		}
		w.Expire("b", "wait", 5)
		if w.Possible() {
			t.Errorf("nothing can happen any more:\n%s", w)
		}
	})
	t.Run("time", func(t *testing.T) {
		a := pingpong.New()
		w := fsmtest.New(t, fsmtest.Options{
			Time:  &fsmtest.Time{Beat: 1 << 40, Delay: 1},
			Links: []fsmtest.Link{{A: "a", B: "b", Untold: [2]bool{false, true}}},
		},
			fsmtest.Machine{Name: "a", Runner: a, Starts: true},
			fsmtest.Machine{Name: "b", Runner: pingpong.New(), Starts: true})
		w.Up("a", "b")
		w.Command("a", "ping", func() fsm.Result { return a.Ping(1) })
		w.Drop("a", "b", "PING{n: 1}", 0)
		w.Tick()
		w.Beat("b")
		w.Beat("a")
		w.Expire("a", "wait", 1)
		if a.M.Open != 0 {
			t.Errorf("%+v", a.M)
		}
	})
}

// Something is possible, but all of it is an error: the run is stuck, and stays as it was.
func TestStuck(t *testing.T) {
	for _, links := range [][]fsmtest.Link{nil, {{A: "a", B: "b"}}} {
		a := pingpong.New()
		w := fsmtest.New(t, fsmtest.Options{Links: links},
			fsmtest.Machine{Name: "a", Runner: a, Starts: true},
			fsmtest.Machine{Name: "b", Runner: pingpong.New(), Starts: true})
		w.Command("a", "ping", func() fsm.Result { return a.Ping(1) }) // b refuses it, and a its timer
		before := w.String()
		if stuck := w.Stuck(); !w.Possible() || stuck != (links == nil) {
			t.Errorf("links %v: stuck %v\n%s", links, stuck, w)
		}
		if links == nil && w.String() != before {
			t.Errorf("before:\n%safter:\n%s", before, w)
		}
	}
}

// A step that has no room for what it sends leaves nothing behind in its runner.
func TestStuckGoesBack(t *testing.T) {
	a, b := pingpong.New(), pingpong.New()
	w := fsmtest.New(t, fsmtest.Options{Capacity: 1, Links: []fsmtest.Link{{A: "a", B: "b"}}},
		fsmtest.Machine{Name: "a", Runner: a, Starts: true}, fsmtest.Machine{Name: "b", Runner: b, Starts: true})
	w.Up("a", "b")
	w.Up("b", "a")
	w.Command("a", "ping", func() fsm.Result { return a.Ping(1) })
	w.Expire("a", "wait", 1)
	w.Command("b", "say", func() fsm.Result { return b.Say("x") })
	before := *b
	if w.Stuck() || *b != before { // b's PONG finds no room behind the note, which a can take
		t.Errorf("%+v, and before %+v\n%s", b, before, w)
	}
}

// What is no longer possible ends a test as skipped, and says why.
func TestImpossible(t *testing.T) {
	for _, test := range []struct {
		step func(w *fsmtest.World, a *pingpong.Runner)
		why  string
	}{
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Up("a", "b") }, ""},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Deliver("b", "a", "READY", 0) },
			"READY is not under way from b to a"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.News("b", "a") },
			"no news of the link is under way from b to a"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Expire("a", "wait", 1) }, "the timer wait of a is not armed"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Command("a", "barrier", a.Barrier) },
			"a refuses barrier in off"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Down("a", "b") }, "instance 0 cannot do that now"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Restart("a") }, "cannot do that now"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Offer("a") }, "cannot do that now"},
		{func(w *fsmtest.World, a *pingpong.Runner) { w.Tick() }, "the beat before has not been felt by all"},
	} {
		said := &said{TB: t}
		func() {
			defer func() {
				if r := recover(); r != nil && r != errSkipped {
					panic(r)
				}
			}()
			a := pingpong.New()
			w := fsmtest.New(said, fsmtest.Options{Links: []fsmtest.Link{{A: "a", B: "b"}}},
				fsmtest.Machine{Name: "a", Runner: a, Starts: true},
				fsmtest.Machine{Name: "b", Runner: pingpong.New(), Starts: true})
			test.step(w, a)
		}()
		if (test.why == "") != (said.text == "") || !strings.Contains(said.text, test.why) {
			t.Errorf("got %q, want %q", said.text, test.why)
		}
	}
}

// said is a test that keeps why it was skipped.
type said struct {
	testing.TB
	text string
}

var errSkipped = errors.New("skipped")

func (s *said) Logf(format string, args ...any) { s.text = fmt.Sprintf(format, args...) }
func (s *said) Skip(...any)                     { panic(errSkipped) }
