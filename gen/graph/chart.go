package graph

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/runtime/run"
)

// flight is a message's way through the chart.
type flight struct {
	run.Sent
	from      int
	sent      int   // step
	nth       int   // among the messages of that step
	received  []int // steps; more than one if duplicated
	lost      int   // step, or -1
	underWay  bool  // neither received nor lost
	unheard   bool  // it goes to somebody hostile, of whom nobody knows when it hears it
	crossings bool  // the message crosses another one going the other way
}

// flights follows every message. The order is that of sending.
func flights(c *run.Chart) []*flight {
	byID := map[int]*flight{}
	var list []*flight
	for i, s := range c.Steps {
		if f := byID[s.Receives]; f != nil {
			f.received = append(f.received, i)
		}
		if f := byID[s.Lost]; f != nil {
			f.lost = i
		}
		for n, m := range s.Sends {
			f := &flight{Sent: m, from: s.Who, sent: i, nth: n, lost: -1}
			byID[m.ID] = f
			list = append(list, f)
		}
	}
	for _, f := range list {
		f.underWay = len(f.received) == 0 && f.lost < 0
		f.unheard = f.underWay && at(c.Hostile, f.To)
	}
	for _, f := range list {
		f.crossings = slices.ContainsFunc(list, f.crosses)
	}
	return list
}

// What stands behind a message that arrives once more, and behind one that has not arrived.
const (
	again    = " (again)"
	underWay = " (under way)"
)

// longest is the longest text of its arrows.
func (f *flight) longest() string {
	switch {
	case f.underWay:
		return f.Label() + underWay
	case len(f.received) > 1:
		return f.Label() + again
	}
	return f.Label()
}

// crosses reports whether f and g are under way between the same two
// instances, in opposite directions, at the same time.
func (f *flight) crosses(g *flight) bool {
	return !f.unheard && !g.unheard &&
		f.from == g.To && f.To == g.from && f.from != f.To && f.sent < g.end() && g.sent < f.end()
}

// end is the step at which f is no longer under way.
func (f *flight) end() int {
	switch {
	case len(f.received) > 0:
		return f.received[len(f.received)-1]
	case f.lost >= 0:
		return f.lost
	}
	return 1 << 30
}

// stillUnderWay begins the note of a message that never arrives.
const stillUnderWay = "under way: "

// withoutStubs is a chart in which messages that are still under way at the end are notes beside the steps that send
// them. Their arrows would end nowhere, among the texts of columns in the middle; with two columns there are none, and
// the chart stays as it is.
func withoutStubs(c *run.Chart) *run.Chart {
	if len(c.Instances) < 3 {
		return c
	}
	stub := map[int]bool{}
	for _, f := range flights(c) {
		stub[f.ID] = f.underWay
	}
	out := *c
	out.Steps = slices.Clone(c.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		var sends []run.Sent
		var notes []string
		var to []string // whom the last of the notes goes to
		for _, m := range s.Sends {
			if !stub[m.ID] {
				sends = append(sends, m)
				continue
			}
			text := stillUnderWay + m.Label()
			if n := len(notes); n > 0 && strings.HasPrefix(notes[n-1], text+" to ") {
				notes, to = notes[:n-1], append(to, c.Instances[m.To])
			} else {
				to = []string{c.Instances[m.To]}
			}
			notes = append(notes, text+" to "+strings.Join(to, ", "))
		}
		s.Sends, s.Notes = sends, append(notes, s.Notes...)
	}
	return &out
}
