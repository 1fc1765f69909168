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
	drop        func(s *System, c *explore.Channel)
	budget      explore.Budget
	// further drops all of it; it is tried where nothing needs the little that drop takes.
	further *assumption
}

// anyOrder lets messages next to each other change places as often as they like, or, where nothing
// but messages is under way, does not ask for their order.
var anyOrder = assumption{
	text: "messages arrive in order", fault: "messages arrive in any order",
	drop: func(s *System, c *explore.Channel) {
		if c.Swap = len(s.Rules.Links) > 0 || s.Check.Faults != nil; !c.Swap {
			c.Order = explore.Bag
		}
	},
}

var assumptionsOfChannels = []assumption{
	{"messages arrive in order", "once, two messages next to each other change places",
		func(c *explore.Channel) bool { return c.Order == explore.FIFO && !c.Swap },
		func(_ *System, c *explore.Channel) { c.Swap = true }, explore.Budget{Swap: 1}, &anyOrder},
	{"nothing is lost", "one message is lost",
		func(c *explore.Channel) bool { return !c.Lossy },
		func(_ *System, c *explore.Channel) { c.Lossy = true }, explore.Budget{Loss: 1}, nil},
	{"nothing arrives twice", "one message arrives twice",
		func(c *explore.Channel) bool { return !c.Dup },
		func(_ *System, c *explore.Channel) { c.Dup = true }, explore.Budget{Dup: 1}, nil},
}

// Needs runs the check without each of the assumptions it makes about its
// channels. r is the report of the check as it is, for the same options. The error is as for Run.
func (s *System) Needs(ctx context.Context, o explore.Options, r *Report) ([]Need, error) {
	var out []Need
	for class, ch := range s.Check.Channels() {
		over := ""
		if s.Check.Several() {
			over = "over " + ch.Name + " "
		}
		for i := range assumptionsOfChannels {
			a := &assumptionsOfChannels[i]
			if class >= len(s.System.Channels) || !a.made(&s.System.Channels[class]) {
				continue
			}
			var need Need
			for a != nil {
				found, err := s.without(a, class).Run(ctx, o, nil)
				if err != nil {
					return nil, err
				}
				if need = report.NewNeed(over+a.text, over+a.fault, r, found); need.Result != report.NotNeeded {
					break
				}
				a = a.further
			}
			out = append(out, need)
		}
	}
	return out, nil
}

// without is the system in which what the assumption rules out may happen in the channels of a class.
func (s *System) without(a *assumption, class int) *System {
	t, sys := *s.Machines, *s.System
	sys.Channels = slices.Clone(sys.Channels)
	for k := range sys.Channels[:s.Own] {
		if s.Rules.Channels[k].Class == class {
			a.drop(s, &sys.Channels[k])
		}
	}
	for at, most := range a.budget.Parts() { // what the check itself lets go wrong stays
		if *most > 0 {
			*sys.Budget.Parts()[at] = *most
		}
	}
	t.System = &sys
	return &System{&t}
}
