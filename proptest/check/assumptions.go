package check

import (
	"context"
	"slices"

	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
)

// assumption is one that can be dropped, and how.
type assumption struct {
	text, fault string
	made        func(c *explore.Channel) bool
	drop        func(c *explore.Channel)
	budget      explore.Budget
}

var assumptionsOfChannels = []assumption{
	{"messages arrive in order", "once, two messages next to each other change places",
		func(c *explore.Channel) bool { return c.Order == explore.FIFO },
		func(c *explore.Channel) { c.Swap = true }, explore.Budget{Swap: 1}},
	{"nothing is lost", "one message is lost",
		func(c *explore.Channel) bool { return !c.Lossy },
		func(c *explore.Channel) { c.Lossy = true }, explore.Budget{Loss: 1}},
	{"nothing arrives twice", "one message arrives twice",
		func(c *explore.Channel) bool { return !c.Dup },
		func(c *explore.Channel) { c.Dup = true }, explore.Budget{Dup: 1}},
}

// Needs runs the check without each of the assumptions it makes about its
// channels. r is the report of the check as it is, for the same options. The error is as for Run.
func (s *System) Needs(ctx context.Context, o explore.Options, r *Report) ([]Need, error) {
	var out []Need
	for i := range assumptionsOfChannels {
		a := &assumptionsOfChannels[i]
		t := s.without(a)
		if t == nil {
			continue
		}
		found, err := t.Run(ctx, o, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, report.NewNeed(a.text, a.fault, r, found))
	}
	return out, nil
}

// without is the system in which one fault may happen; nil if the check does not
// make the assumption, or has no channels.
func (s *System) without(a *assumption) *System {
	if len(s.System.Channels) == 0 || !a.made(&s.System.Channels[0]) {
		return nil
	}
	t, sys := *s.Machines, *s.System
	sys.Channels = slices.Clone(sys.Channels)
	for k := range sys.Channels {
		a.drop(&sys.Channels[k])
	}
	sys.Budget = a.budget
	t.System = &sys
	return &System{&t}
}
