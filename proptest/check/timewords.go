package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// timeWords say what is assumed of time.
func (s *System) timeWords() string {
	t := s.Check.Time
	next := "the next beat"
	if t.Delay > 1 {
		next = fmt.Sprintf("beat number %d after it was sent", t.Delay)
	}
	length := "a timer expires after its ticks"
	between := func(l model.Length) bool { return !l.Bound && (l.Computed || l.Ticks%t.Beat != 0) }
	if slices.ContainsFunc(s.Check.Lengths(), between) {
		length += ", or a beat before or behind where they are no whole number of beats"
	}
	if slices.ContainsFunc(s.Check.Claims, func(c *model.Claim) bool { return c.Within > 0 }) {
		length += "; who has felt n beats may have waited almost n + 1 of them, and `within` allows for that"
	}
	return fmt.Sprintf("time passes in beats of %s, which all instances feel once each, in any order; "+
		"a message arrives before its receiver feels %s; %s; %s",
		diag.Counted(t.Beat, "tick"), next, length, s.driftWords())
}

// driftWords say what is assumed of clocks.
func (s *System) driftWords() string {
	t := s.Check.Time
	if t.Drift == nil {
		return "all clocks go right"
	}
	var who []string
	for i, d := range t.Drift {
		off := "goes right"
		if d > 0 {
			off = fmt.Sprintf("is off by at most %s%%", strconv.FormatFloat(float64(d)*100/model.Million, 'f', -1, 64))
		}
		who = append(who, "the clock of "+s.Check.Instances[i].Name+" "+off)
	}
	if first := t.Drift[0]; !slices.ContainsFunc(t.Drift, func(d int) bool { return d != first }) {
		who = []string{strings.Replace(who[0], "the clock of "+s.Check.Instances[0].Name, "each clock", 1)}
	}
	return diag.And(who) + ", anew for each start of a timer, and rounded to beats, down and up"
}
