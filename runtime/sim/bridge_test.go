package sim

import (
	"testing"
	"time"
)

// TestBridge: no partition lies on the paths of who is on both sides.
func TestBridge(t *testing.T) {
	w := &World{scenario: &Scenario{Bridge: []ID{1}}, cuts: []cut{{until: time.Second, half: 1<<0 | 1<<1}}}
	for _, x := range []struct {
		from, to ID
		cut      bool
	}{{0, 2, true}, {2, 0, true}, {0, 1, false}, {1, 2, false}, {2, 1, false}, {2, 3, false}} {
		if got := w.cut(&path{from: x.from, to: x.to}) != nil; got != x.cut {
			t.Errorf("from %d to %d: cut is %v", x.from, x.to, got)
		}
	}
}
