package fsmtest_test

import (
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
		w := fsmtest.New(t, fsmtest.Options{Capacity: 4}, fsmtest.Machine{Name: "a", Runner: a}, fsmtest.Machine{Name: "b", Runner: b})
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
		}
		if w.Len("b", "a", "NOTE") != 0 {
			t.Errorf("crash %v: still held:\n%s", crash, w)
		}
		if r := a.Effect(0); !crash && (a.M.State != pingpong.Idle || r.Kind != fsm.Report || r.ID != pingpong.Noted) {
			t.Errorf("%+v in state %d", r, a.M.State)
		}
	}
}
