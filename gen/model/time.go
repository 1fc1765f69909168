package model

import (
	"cmp"
	"slices"

	"github.com/parley-go/parley/gen/diag"
)

// Time is the length of a beat, the delay of messages and the drift of clocks in a check that counts
// ticks.
type Time struct {
	Beat  int64 // ticks
	Delay int   // beats within which a message arrives
	// Drift is, by Instance.Index, how far the rate of its clock is from 1 at most, in millionths;
	// nil: all clocks go right.
	Drift []int
	Span  diag.Span
}

// Beats returns how many beats a machine may feel in so many ticks at most, for a claim that is sure to hold:
// who has felt n beats between two moments has waited less than n + 1 of them. -1: not even
// none, since already that may take longer.
func (t *Time) Beats(ticks int64) int64 { return ticks/t.Beat - 1 }

// Million is a rate of 1 in the units of Time.Drift.
const Million = 1_000_000

// Length is a time that a check counts: that of a timer, or the bound of a claim.
type Length struct {
	Name  string // the timer's, or the claim's
	Ticks int64
	Bound bool // of a claim
	// Computed: the starts of the timer say how long it runs, and Ticks is the longest time.
	Computed bool
}

// Lengths lists the times that a check counts, each once, by name.
func (c *Check) Lengths() []Length {
	var all []Length
	for _, in := range c.Instances {
		if in.Role != nil {
			all = append(all, in.Role.lengths()...)
		}
	}
	for _, x := range c.Claims {
		if x.Within > 0 {
			all = append(all, Length{Name: x.Name, Ticks: x.Within, Bound: true})
		}
	}
	slices.SortFunc(all, func(a, b Length) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Ticks, b.Ticks))
	})
	return slices.Compact(all)
}

// lengths are those of the timers of a machine and of its parts.
func (m *Machine) lengths() (all []Length) {
	for _, t := range m.Timers {
		all = append(all, Length{Name: t.Name, Ticks: t.Ticks, Computed: t.Length != nil})
	}
	for _, p := range m.Parts {
		if p.Machine != nil {
			all = append(all, p.Machine.lengths()...)
		}
	}
	return all
}

// CommonBeat is the longest beat of which all lengths are multiples, 0 if there are none.
func CommonBeat(all []Length) int64 {
	beat := int64(0)
	for _, l := range all {
		for a := l.Ticks; a != 0; {
			beat, a = a, beat%a
		}
	}
	return beat
}
