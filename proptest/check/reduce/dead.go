package reduce

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Dead variables. What a variable holds does not matter in a state from which, whatever happens,
// it is assigned before it is read. There it gets its initial value, so that configurations that
// differ only in what nobody will look at are one. They behave alike, step by step with
// the same transitions, so this changes no claim about configurations or runs, and no length
// of a shortest run.
//
// A machine's transitions are the steps of the analysis, since any event may come at any time. A
// place inside a variable that is assigned keeps the rest, so it counts as a reading. Read from
// outside, and so alive everywhere, is what claims, rules of the environment and machines around a
// part look at, and what survives a crash.

// Dead has the dead variables of each machine, by state. The zero value has none.
type Dead map[*model.Machine][][]*model.Var

// FindDead finds the dead variables of a check. If nothing is gained, why says what stands against
// it.
func FindDead(check *model.Check) (dead Dead, why string) {
	for _, c := range check.Claims {
		if c.Kind == model.Confluent {
			return nil, "dead variables: " + c.Name + " compares configurations with all they hold"
		}
	}
	outside := map[*model.Var]bool{}
	read := func(e core.Expr) {
		core.Reads(e, func(v *model.Var, _ bool) { outside[v] = true })
	}
	read(core.Of(check.Quiet))
	for _, c := range check.Claims {
		for _, e := range append([]model.Expr{c.When, c.Expr}, c.Exprs...) {
			read(core.Of(e))
		}
	}
	for _, r := range check.Rules {
		read(core.Of(r.When))
	}
	var flows []*flow
	for _, m := range machinesOf(check, anybody) {
		for _, p := range m.Parts {
			read(p.To)
			for _, s := range p.Sends {
				if s != nil {
					core.Exprs(s.Send, read)
				}
			}
		}
		flows = append(flows, newFlow(m, outside))
	}
	dead = Dead{}
	found := false
	for _, f := range flows {
		dead[f.m] = f.dead()
		found = found || slices.ContainsFunc(dead[f.m], func(list []*model.Var) bool { return len(list) > 0 })
	}
	if !found {
		return nil, "dead variables: what any variable holds may be read in every state"
	}
	return dead, ""
}

// machinesOf lowers the machines of those instances of a check that is accepts, and of their parts, each
// once.
func machinesOf(check *model.Check, is func(*model.Instance) bool) []*core.Machine {
	var roles []*model.Machine
	for _, inst := range check.Instances {
		if is(inst) {
			roles = append(roles, inst.Role)
		}
	}
	return core.Machines(roles...)
}

// anybody accepts all instances, honest those that have a machine.
func anybody(*model.Instance) bool  { return true }
func honest(i *model.Instance) bool { return !i.IsHostile() }

// flow is the analysis of one machine.
type flow struct {
	m       *model.Machine
	outside map[*model.Var]bool // read from elsewhere
	use     map[*model.Var]bool // read by the branch at hand before it is assigned
	edges   [][]flowEdge        // by state
}

// flowEdge is one transition.
type flowEdge struct {
	use, def map[*model.Var]bool
	to       int
}

func newFlow(m *core.Machine, outside map[*model.Var]bool) *flow {
	f := &flow{m: m.Model, outside: outside, edges: make([][]flowEdge, len(m.States))}
	for i, st := range m.States {
		for _, h := range st.Handlers {
			if h == nil || h.Model.Mode != model.Handle {
				continue
			}
			for _, t := range h.Branches {
				f.use = map[*model.Var]bool{}
				f.read(t.When, nil)
				def := f.stmts(t.Body, map[*model.Var]bool{})
				to := st
				if t.To != nil {
					to = t.To
					def = f.stmts(to.Entry, def)
				}
				f.edges[i] = append(f.edges[i], flowEdge{f.use, def, to.Model.Index})
			}
		}
	}
	return f
}

// read notes what e reads; def has what was assigned before.
func (f *flow) read(e core.Expr, def map[*model.Var]bool) {
	core.Reads(e, func(v *model.Var, own bool) {
		switch {
		case !own:
			f.outside[v] = true
		case !def[v]:
			f.use[v] = true
		}
	})
}

// stmts goes through statements and returns what is assigned for certain afterwards.
func (f *flow) stmts(list []core.Stmt, def map[*model.Var]bool) map[*model.Var]bool {
	for _, s := range list {
		core.Exprs(s, func(e core.Expr) { f.read(e, def) })
		switch s := s.(type) {
		case *core.Branch:
			a, b := f.stmts(s.Then, def), f.stmts(s.Else, def)
			def = map[*model.Var]bool{}
			for x := range a {
				if b[x] {
					def[x] = true
				}
			}
		case *core.For: // there may be no round
			f.stmts(s.Body, def)
		}
		switch v, whole := core.Writes(s); {
		case v == nil:
		case whole:
			def = maps.Clone(def)
			def[v] = true
		case !def[v]: // what is not assigned keeps its value
			f.use[v] = true
		}
	}
	return def
}

// dead gives, by state, what is neither read from elsewhere nor alive: read on some way before it
// is assigned.
func (f *flow) dead() [][]*model.Var {
	live := make([]map[*model.Var]bool, len(f.m.States))
	for i := range live {
		live[i] = map[*model.Var]bool{}
	}
	for changed := true; changed; {
		changed = false
		for i, edges := range f.edges {
			for _, e := range edges {
				for _, v := range f.m.Vars {
					if !live[i][v] && (e.use[v] || live[e.to][v] && !e.def[v]) {
						live[i][v], changed = true, true
					}
				}
			}
		}
	}
	out := make([][]*model.Var, len(f.m.States))
	for i := range out {
		for _, v := range f.m.Vars {
			if !live[i][v] && !f.outside[v] && !v.Kept {
				out[i] = append(out[i], v)
			}
		}
	}
	return out
}

// Is reports whether a variable is dead in a state.
func (d Dead) Is(m *model.Machine, state int64, v *model.Var) bool {
	return d != nil && slices.Contains(d[m][state], v)
}

// Clean sets the dead variables of v, and of the machines in it, to their values in init. It
// reports whether that changes v.
func (d Dead) Clean(m *model.Machine, v, init interp.Value) (changed bool) {
	for _, x := range d[m][v[0]] {
		to := x.Offset + x.Type.Slots()
		changed = changed || !slices.Equal(v[x.Offset:to], init[x.Offset:to])
		copy(v[x.Offset:to], init[x.Offset:to])
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			changed = d.Clean(p.Machine, v[at:at+p.Machine.Size], init[at:at+p.Machine.Size]) || changed
		}
	}
	return changed
}

// Names describes which variables of a check are dead where.
func (d Dead) Names(check *model.Check) (out []string) {
	for _, code := range machinesOf(check, anybody) {
		m := code.Model
		for _, v := range m.Vars {
			var in []string
			for _, st := range m.States {
				if d.Is(m, int64(st.Index), v) {
					in = append(in, st.Name)
				}
			}
			switch {
			case len(in) == len(m.States):
				out = append(out, "dead variables: nobody reads "+m.Name+"."+v.Name)
			case len(in) > 0:
				out = append(out, "dead variables: "+m.Name+"."+v.Name+" in "+strings.Join(in, ", "))
			}
		}
	}
	return out
}
