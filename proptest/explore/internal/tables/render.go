package tables

import (
	"cmp"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// Numbers as what they stand for: configurations, steps and their order.

// Lift turns a path between configurations that stand for others into a run
// of the system: of the steps possible, it takes the first to a renaming of the
// next one on the path.
func (e *Engine) Lift(path [][]uint64) (steps []api.TraceStep, at []uint32) {
	at = e.Initial()
	rep := make([]uint32, e.Fields())
	for _, c := range path[1:] {
		want := e.Unpack(c)
		e.Moves(slices.Clone(at), func(m *Move) bool {
			if m.Fault != nil {
				return true
			}
			if e.Canon.Learn(m.Next, rep); !slices.Equal(rep, want) {
				return true
			}
			steps = append(steps, e.render(at, m))
			at = slices.Clone(m.Next)
			return false
		})
	}
	return steps, at
}

func (e *Engine) Unpack(c []uint64) []uint32 {
	ids := make([]uint32, e.Fields())
	e.Lay.Unpack(c, ids)
	return ids
}

// StepBetween gives the first move that leads from a to b.
func (e *Engine) StepBetween(a, b []uint64) api.TraceStep {
	to := e.Unpack(b)
	return e.StepWhere(e.Unpack(a), func(m *Move) bool { return m.Fault == nil && slices.Equal(m.Next, to) })
}

// StepWhere gives the first move from a that satisfies ok.
func (e *Engine) StepWhere(from []uint32, ok func(*Move) bool) (t api.TraceStep) {
	e.Moves(from, func(m *Move) bool {
		if !ok(m) {
			return true
		}
		t = e.render(from, m)
		return false
	})
	return t
}

func (e *Engine) render(from []uint32, m *Move) api.TraceStep {
	t := api.TraceStep{Kind: m.Kind, Proc: m.Proc, Label: -1, Channel: m.Ch, At: m.At, Fault: m.Fault}
	if m.Ch >= 0 {
		t.Msg = []byte(e.Chans[m.Ch].msgs.Vals[m.Msg])
	}
	if m.Rule == nil {
		return t
	}
	t.Label = int(m.Rule.Label)
	t.Note = e.Notes[m.Rule.Note].Note
	t.Before = []byte(e.Procs[m.Proc].Locals.Vals[from[m.Proc]])
	if m.Fault == nil {
		t.After = []byte(e.Procs[m.Proc].Locals.Vals[m.Rule.Next])
	}
	for _, s := range e.Sends[m.Rule.Sends.Off : m.Rule.Sends.Off+m.Rule.Sends.N] {
		t.Sends = append(t.Sends, api.Send{Channel: int(s.Ch), Msg: []byte(e.Chans[s.Ch].msgs.Vals[s.Msg])})
	}
	return t
}

// Configuration renders ids as bytes.
func (e *Engine) Configuration(ids []uint32) api.Configuration {
	var out api.Configuration
	for p := range e.Procs {
		out.Locals = append(out.Locals, []byte(e.Procs[p].Locals.Vals[ids[p]]))
	}
	for k := range e.Chans {
		out.Channels = append(out.Channels, e.Chans[k].bytes(ids[len(e.Procs)+k]))
	}
	if e.Budgets != nil {
		out.Used = e.Budgets[ids[len(ids)-1]]
	}
	return out
}

// Compare orders configurations by what they hold, not by ids, which depend on
// the order of the search.
func (e *Engine) Compare(a, b []uint64) int {
	x, y := e.Unpack(a), e.Unpack(b)
	for i := range x {
		if x[i] != y[i] {
			return e.CompareField(i, x[i], y[i])
		}
	}
	return 0
}

// CompareField orders two ids of one field by what they stand for.
func (e *Engine) CompareField(at int, x, y uint32) int {
	switch k := at - len(e.Procs); {
	case k < 0:
		return cmp.Compare(e.Procs[at].Locals.Vals[x], e.Procs[at].Locals.Vals[y])
	case k < len(e.Chans):
		return slices.CompareFunc(e.Chans[k].bytes(x), e.Chans[k].bytes(y), slices.Compare)
	default:
		p, q := e.Budgets[x], e.Budgets[y]
		for i, n := range p.Parts() {
			if d := *n - *q.Parts()[i]; d != 0 {
				return d
			}
		}
		return 0
	}
}

func (e *Engine) Receptions(p int, a uint32) []api.Reception {
	var out []api.Reception
	for k := range e.Chans {
		c := &e.Chans[k]
		if c.Spec.To != p {
			continue
		}
		for msg, b := range c.msgs.Vals {
			if run := c.Recv.Get(a, uint32(msg)); run != 0 {
				out = append(out, api.Reception{Channel: k, Msg: []byte(b), Steps: e.Steps(p, run)})
			}
		}
	}
	return out
}

// Steps gives a run of rules as the steps they came from.
func (e *Engine) Steps(p int, run uint32) []api.Step {
	var out []api.Step
	if run == 1 {
		return nil
	}
	m := &e.Procs[p]
	for i := run; ; i++ {
		r := &m.Rules[i]
		s := api.Step{Label: r.Label, Note: e.Notes[r.Note].Note, Fault: e.Notes[r.Note].fault,
			Spontaneous: r.Flags&SpontaneousFlag != 0, Spends: api.Spends(r.Spends)}
		for _, u := range e.Constraints[r.Does] {
			s.Constraints = append(s.Constraints, int(u)-len(e.Sys.Labels)-len(e.Chans))
		}
		if s.Fault == nil {
			s.Next = []byte(m.Locals.Vals[r.Next])
		}
		for _, x := range e.Sends[r.Sends.Off : r.Sends.Off+r.Sends.N] {
			s.Sends = append(s.Sends, api.Send{Channel: int(x.Ch), Msg: []byte(e.Chans[x.Ch].msgs.Vals[x.Msg])})
		}
		for _, k := range e.Ages[r.Ages.Off : r.Ages.Off+r.Ages.N] {
			s.Ages = append(s.Ages, int(k))
		}
		for j := r.Lens; j != 0; j++ {
			x := e.Lens[j]
			s.Lens = append(s.Lens, api.LenRange{Channel: int(x.ch), Lo: int(x.lo), Hi: int(x.hi), Kind: x.kind})
			if x.last {
				break
			}
		}
		out = append(out, s)
		if r.Flags&LastFlag != 0 {
			return out
		}
	}
}
