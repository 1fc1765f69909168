package graph

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// folded is a machine's handlers, divided into those drawn at their state and
// those that are said once for many states.
type folded struct {
	rest   []*model.Handler
	common []commonGroup
}

// commonGroup is a set of states with the handlers that they have in common.
type commonGroup struct {
	states   []*model.State
	handlers []*model.Handler // one example each
}

// fold finds handlers that states share: equal ones in at least four and more than half of the states, and
// those that one line under `common` gave to several states and that lead nowhere. One that leads elsewhere
// is an edge that the picture lacks, so there have to be many.
func fold(m *model.Machine, o Options) folded {
	var f folded
	shared := map[*model.Handler]bool{}
	if !o.Unfold {
		f.common = groups(m, shared)
	}
	for _, s := range m.States {
		for _, h := range s.Handlers {
			if h != nil && !shared[h] {
				f.rest = append(f.rest, h)
			}
		}
	}
	return f
}

// family is all states that treat one event alike.
type family struct {
	states   []*model.State
	handlers []*model.Handler
	oneLine  bool // all come from the same place in the specification
}

func groups(m *model.Machine, shared map[*model.Handler]bool) []commonGroup {
	var list []commonGroup
	for _, fam := range families(m) {
		if fam.handlers[0].Branches[0].By != nil {
			continue // it is drawn at the frame
		}
		often := len(fam.states) >= 4 && 2*len(fam.states) > len(m.States) && fam.handlers[0].Mode != model.Ignore
		if !often && (!fam.oneLine || len(fam.states) < 2 || fam.moves()) {
			continue
		}
		for _, h := range fam.handlers {
			shared[h] = true
		}
		i := slices.IndexFunc(list, func(g commonGroup) bool { return slices.Equal(g.states, fam.states) })
		if i < 0 {
			list = append(list, commonGroup{states: fam.states})
			i = len(list) - 1
		}
		list[i].handlers = append(list[i].handlers, fam.handlers[0])
	}
	return list
}

// families are in the order of their first member, states before events.
func families(m *model.Machine) []*family {
	type key struct {
		event int
		text  string
	}
	index := map[key]*family{}
	var list []*family
	for _, s := range m.States {
		for e, h := range s.Handlers {
			if h == nil {
				continue
			}
			k := key{e, handlerText(h)}
			fam := index[k]
			if fam == nil {
				fam = &family{oneLine: !h.Span.IsZero()}
				index[k] = fam
				list = append(list, fam)
			}
			fam.states = append(fam.states, s)
			fam.handlers = append(fam.handlers, h)
			fam.oneLine = fam.oneLine && samePlace(h.Span, fam.handlers[0].Span)
		}
	}
	return list
}

// moves reports whether the event leads to another state.
func (f *family) moves() bool {
	for _, h := range f.handlers {
		for _, t := range h.Branches {
			if t.To != nil && t.To != t.From {
				return true
			}
		}
	}
	return false
}

func samePlace(a, b diag.Span) bool { return a.File == b.File && a.Start == b.Start }

// handlerText is all that a handler does, for comparing.
func handlerText(h *model.Handler) string {
	var b strings.Builder
	for _, t := range h.Branches {
		b.WriteByte('0' + byte(t.Mode))
		b.WriteString(model.ExprString(t.When))
		b.WriteString(" / ")
		b.WriteString(model.StmtsString(t.Body))
		if t.To != nil {
			b.WriteString(" > " + t.To.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// statesText names a set of states in the shorter way.
func statesText(m *model.Machine, states []*model.State) string {
	in := map[*model.State]bool{}
	var names, others []string
	every := "in every state"
	for _, s := range states {
		in[s] = true
		names = append(names, s.Name)
	}
	for _, s := range m.States {
		switch {
		case in[s]:
		case s.Final:
			every = "in every state that is not final"
		default:
			others = append(others, s.Name)
		}
	}
	switch {
	case len(others) == 0:
		return every
	case len(others) < len(names):
		return every + " except " + strings.Join(others, ", ")
	}
	return "in " + strings.Join(names, ", ")
}
