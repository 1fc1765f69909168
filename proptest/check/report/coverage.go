package report

import (
	"cmp"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Mark is the key by which uses of a line are counted. A handler that several states share, and a
// machine that several roles or parts run, is one place.
type Mark struct{ At, What string }

// MarkOf returns the mark of a place that a step used.
func MarkOf(m interp.Mark) Mark {
	if m.Entry != nil {
		return Mark{m.Entry.Entry[0].Pos().String(), "entry"}
	}
	return Mark{m.Transition.Span.String(), m.Transition.Event.Name}
}

// Uses has how often each place was used.
type Uses map[Mark]Count

// Count is the number of steps that used a place, and of those among them that were errors.
type Count struct{ Taken, Faults uint64 }

// Coverage has how often the checks used each line of a specification. The JSON names are stable.
type Coverage struct {
	// Checks are the checks that were run, in order.
	Checks []string `json:"checks"`
	// Cut are those whose search was cut off: what they did not use they may use further on.
	Cut []string `json:"cut_off,omitempty"`
	// Total is the number of places: branches, what is ignored or deferred, entry statements. Used
	// is how many of them some check used.
	Used  int         `json:"used"`
	Total int         `json:"total"`
	Files []CoverFile `json:"files"`
}

// CoverFile is one file of the specification; the main file comes first.
type CoverFile struct {
	File   string  `json:"file"`
	Places []Usage `json:"places"`
}

// Usage is one place of a specification and how often it was used.
type Usage struct {
	Line int `json:"line"`
	Col  int `json:"col"`
	// Kind is transition, ignore, defer or entry.
	Kind string `json:"kind"`
	// Names are the transitions that stand there (a handler that states share is several), or
	// `entry of STATE`.
	Names []string `json:"names"`
	// Taken is the number of steps that used the place, in all checks together: each step of each
	// configuration counts once. For defer it is the number of machine values at which a message
	// was deferred, since that is no step.
	Taken uint64 `json:"taken"`
	// Faults is the number of steps that were errors there.
	Faults uint64       `json:"faults,omitempty"`
	Checks []CheckUsage `json:"checks"`
}

// CheckUsage is how often one check used a place.
type CheckUsage struct {
	Check  string `json:"check"`
	Taken  uint64 `json:"taken"`
	Faults uint64 `json:"faults,omitempty"`
}

// Percent returns the share of places that were used, in percent; 100 if there are no places.
func (c *Coverage) Percent() float64 {
	if c.Total == 0 {
		return 100
	}
	return 100 * float64(c.Used) / float64(c.Total)
}

// collector lists the places of a protocol.
type collector struct {
	places map[Mark]*placed
	seen   map[*model.Machine]bool
}

type placed struct {
	span  diag.Span
	usage Usage
}

var modeWords = map[model.Mode]string{model.Handle: "transition", model.Ignore: "ignore", model.Defer: "defer"}

func (c *collector) add(m interp.Mark, span diag.Span, kind, name string) {
	k := MarkOf(m)
	p := c.places[k]
	if p == nil {
		p = &placed{span: span, usage: Usage{Line: span.Start.Line, Col: span.Start.Col, Kind: kind}}
		c.places[k] = p
	}
	if !slices.Contains(p.usage.Names, name) {
		p.usage.Names = append(p.usage.Names, name)
	}
}

func (c *collector) machine(m *model.Machine) {
	if c.seen[m] {
		return
	}
	c.seen[m] = true
	for _, t := range m.Transitions {
		c.add(interp.Mark{Transition: t}, t.Span, modeWords[t.Mode], m.Name+": "+t.Name)
	}
	for _, st := range m.States {
		if len(st.Entry) > 0 {
			c.add(interp.Mark{Entry: st}, st.Entry[0].Pos(), "entry", m.Name+": entry of "+st.Name)
		}
	}
	for _, p := range m.Parts {
		c.machine(p.Machine)
	}
}

// Cover combines what the checks used. p is the specification compiled for no particular check.
func (r *SuiteReport) Cover(p *model.Protocol) {
	c := collector{map[Mark]*placed{}, map[*model.Machine]bool{}}
	for _, m := range p.Roles {
		c.machine(m)
	}
	out := &Coverage{Checks: []string{}, Cut: r.Cut(), Total: len(c.places)}
	for _, k := range r.Checks {
		out.Checks = append(out.Checks, k.Check)
	}
	files := map[string][]Usage{}
	for key, at := range c.places {
		u := at.usage
		for _, k := range r.Checks {
			n := k.Uses[key]
			u.Taken, u.Faults = u.Taken+n.Taken, u.Faults+n.Faults
			u.Checks = append(u.Checks, CheckUsage{k.Check, n.Taken, n.Faults})
		}
		if u.Taken+u.Faults > 0 {
			out.Used++
		}
		files[at.span.File] = append(files[at.span.File], u)
	}
	for _, name := range p.Files {
		list := files[name]
		slices.SortFunc(list, func(a, b Usage) int {
			return cmp.Or(a.Line-b.Line, a.Col-b.Col, cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Names, b.Names))
		})
		if len(list) > 0 {
			out.Files = append(out.Files, CoverFile{name, list})
		}
	}
	r.Coverage = out
}
