package check

import (
	"fmt"
	"slices"
	"strings"

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

// deadVars are the variables of each machine that are dead, by state.
type deadVars map[*model.Machine][][]*model.Var

// findDead looks for them; why says what stands against it, if nothing is gained.
func (s *System) findDead() (dead deadVars, why string) {
	for _, c := range s.Check.Claims {
		if c.Kind == model.Confluent {
			return nil, "dead variables: " + c.Name + " compares configurations with all they hold"
		}
	}
	outside := map[*model.Var]bool{}
	read := func(e model.Expr) {
		model.Walk(e, func(e model.Expr) {
			if v, ok := e.(*model.VarRef); ok {
				outside[v.Var] = true
			}
		})
	}
	read(s.Check.Quiet)
	for _, c := range s.Check.Claims {
		for _, e := range append([]model.Expr{c.When, c.Expr}, c.Exprs...) {
			read(e)
		}
	}
	for _, r := range s.Check.Rules {
		read(r.When)
	}
	var machines []*model.Machine
	for _, p := range s.procs {
		machines = innerMachines(machines, p.role)
	}
	var flows []*flow
	for _, m := range machines {
		for _, p := range m.Parts {
			read(p.To)
			for _, send := range p.Sends {
				if send != nil {
					(&flow{outside: outside, all: true}).stmts([]model.Stmt{send.Send}, nil)
				}
			}
		}
		flows = append(flows, newFlow(m, outside))
	}
	dead = deadVars{}
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

// innerMachines adds m and the machines of its parts, at any depth, each once.
func innerMachines(list []*model.Machine, m *model.Machine) []*model.Machine {
	if slices.Contains(list, m) {
		return list
	}
	list = append(list, m)
	for _, p := range m.Parts {
		list = innerMachines(list, p.Machine)
	}
	return list
}

// flow is the analysis of one machine.
type flow struct {
	m       *model.Machine
	outside map[*model.Var]bool // read from elsewhere
	all     bool                // what is read counts as read from elsewhere
	use     map[*model.Var]bool // read by the branch at hand before it is assigned
	edges   [][]flowEdge        // by state
}

// flowEdge is one transition.
type flowEdge struct {
	use, def map[*model.Var]bool
	to       int
}

func newFlow(m *model.Machine, outside map[*model.Var]bool) *flow {
	f := &flow{m: m, outside: outside, edges: make([][]flowEdge, len(m.States))}
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h == nil || h.Mode != model.Handle {
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
				f.edges[st.Index] = append(f.edges[st.Index], flowEdge{f.use, def, to.Index})
			}
		}
	}
	return f
}

// read notes what e reads; def is what was assigned before.
func (f *flow) read(e model.Expr, def map[*model.Var]bool) {
	model.Walk(e, func(e model.Expr) {
		v, ok := e.(*model.VarRef)
		switch {
		case !ok:
		case f.all || len(v.Path) > 0:
			f.outside[v.Var] = true
		case !def[v.Var]:
			f.use[v.Var] = true
		}
	})
}

// stmts goes through statements and returns what is assigned for certain afterwards.
func (f *flow) stmts(list []model.Stmt, def map[*model.Var]bool) map[*model.Var]bool {
	with := func(v *model.Var) map[*model.Var]bool {
		out := map[*model.Var]bool{v: true}
		for x := range def {
			out[x] = true
		}
		return out
	}
	each := func(list ...model.Expr) {
		for _, e := range list {
			f.read(e, def)
		}
	}
	for _, st := range list {
		switch st := st.(type) {
		case *model.Set:
			each(st.Value)
			for _, sel := range st.Select {
				each(sel.Index)
			}
			if len(st.Select) > 0 {
				each(&model.VarRef{Var: st.Var})
			} else {
				def = with(st.Var)
			}
		case *model.Send:
			each(append(slices.Clone(st.Fields), st.To)...)
		case *model.ReportStmt:
			each(st.Fields...)
		case *model.Run:
			each(append(slices.Clone(st.Keys), st.Args...)...)
		case *model.Restart:
			each(st.Keys...)
		case *model.If:
			each(st.Cond)
			a, b := f.stmts(st.Then, def), f.stmts(st.Else, def)
			def = map[*model.Var]bool{}
			for x := range a {
				if b[x] {
					def[x] = true
				}
			}
		case *model.Each:
			each(st.Over)
			f.stmts(st.Body, def)
		case *model.Close:
			each(st.To)
		case *model.StartTimer:
			each(append(slices.Clone(st.Keys), st.Ticks)...)
		case *model.StopTimer:
			each(st.Keys...)
		case *model.Refuse:
		default:
			for _, v := range f.m.Vars { // unknown here: it may read anything
				f.outside[v] = true
			}
		}
	}
	return def
}

// dead gives, by state, what is neither read from elsewhere nor alive: read on some way before it is assigned.
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

// is says whether a variable is dead in a state.
func (d deadVars) is(m *model.Machine, state int64, v *model.Var) bool {
	return d != nil && slices.Contains(d[m][state], v)
}

// clean gives dead variables of v, and of the machines in it, their values in init.
func (d deadVars) clean(m *model.Machine, v, init interp.Value) (changed bool) {
	for _, x := range d[m][v[0]] {
		to := x.Offset + x.Type.Slots()
		changed = changed || !slices.Equal(v[x.Offset:to], init[x.Offset:to])
		copy(v[x.Offset:to], init[x.Offset:to])
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			at := p.Offset + i*p.Machine.Size
			changed = d.clean(p.Machine, v[at:at+p.Machine.Size], init[at:at+p.Machine.Size]) || changed
		}
	}
	return changed
}

// cleaned is a machine's value without what is dead in it.
func (p *process) cleaned(v interp.Value) interp.Value {
	s := p.sys
	if s.dead == nil {
		return v
	}
	out := slices.Clone(v)
	if s.dead.clean(p.role, out, p.init) {
		s.spared[string(appendSlots([]byte{byte(p.inst.Index), byte(p.inst.Index >> 8)}, v))] = true
	}
	return out
}

// deadNames says in words what was found and what it was good for.
func (s *System) deadNames() []string {
	var machines []*model.Machine
	for _, p := range s.procs {
		machines = innerMachines(machines, p.role)
	}
	out := []string{fmt.Sprintf("dead variables: %d local values became others", len(s.spared))}
	for _, m := range machines {
		for _, v := range m.Vars {
			var in []string
			for _, st := range m.States {
				if s.dead.is(m, int64(st.Index), v) {
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
