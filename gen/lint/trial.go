package lint

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// trial tries values on one handler of one state.
type trial struct {
	l       *linter
	code    *core.Machine
	st      *model.State
	h       *model.Handler
	guarded []*core.Transition // the branches of h
	strs    *interp.Strings
	v       interp.Value // of the machine, in the state
}

// frame is the number of slots of the locals of all branches.
func (t *trial) frame() int {
	n := 0
	for _, b := range t.h.Branches {
		n = max(n, b.Locals)
	}
	return n
}

// each sets the atoms to every combination of their values until visit returns false or the budget
// ends. complete reports whether it has tried all combinations.
func (t *trial) each(g *gatherer, visit func(locals []int64) bool) (complete bool) {
	complete = !g.beyond
	count := int64(1)
	for _, a := range g.atoms {
		complete = complete && a.exact
		if count *= int64(len(a.values)); count > maxValues {
			return false
		}
	}
	if count *= g.cost(); count > t.l.trials {
		return false
	}
	t.l.trials -= count
	locals := make([]int64, t.frame())
	for _, p := range t.h.Branches[0].Params {
		interp.Zero(p.Type, locals[p.Offset:])
	}
	index := make([]int, len(g.atoms))
	for {
		for i, a := range g.atoms {
			place := []int64(t.v)
			if a.local {
				place = locals
			}
			copy(place[a.offset:], a.values[index[i]])
		}
		if !visit(locals) {
			return complete
		}
		i := len(index) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < len(g.atoms[i].values) {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return complete
		}
	}
}

// example writes the values that are set: "total = 3 and seen = none".
func (t *trial) example(g *gatherer, locals []int64) string {
	var parts []string
	for _, a := range g.atoms {
		place := []int64(t.v)
		if a.local {
			place = locals
		}
		text := string(interp.AppendValue(nil, t.strs, a.t, place[a.offset:a.offset+a.t.Slots()]))
		if len(text) > 40 {
			text = text[:40] + "…"
		}
		parts = append(parts, a.name+" = "+text)
	}
	if len(parts) == 0 {
		return "always"
	}
	return "with " + diag.And(parts)
}
