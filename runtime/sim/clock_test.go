package sim

import (
	"testing"
	"time"
)

// alarm is a machine of which only the next timer matters.
type alarm struct {
	machine
	at time.Duration
}

func (a alarm) NextTimer() (time.Duration, bool) { return a.at, true }

// TestClocks: a timer is due at the first moment at which the machine's own clock shows its time.
func TestClocks(t *testing.T) {
	w := &World{rng: 1}
	for range 100_000 {
		m := &member{rate: 0.5 + float64(w.Rand(1000))/1000, begun: w.upTo(time.Hour)}
		m.core = alarm{at: w.upTo(10 * time.Minute)}
		t0, _ := m.core.NextTimer()
		at, ok := m.nextTimer()
		if !ok || m.clock(at) < t0 || m.clock(at-2) >= t0 && t0 > 0 {
			t.Fatalf("rate %v, begun at %v: due at %v, when the clock shows %v and not %v", m.rate, m.begun, at,
				m.clock(at), t0)
		}
	}
}
