package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/runtime/run"
)

// spot is a state and an event of a role.
type spot struct{ role, state, event int }

// guide says what counterexamples touch, and so where edits may be.
type guide struct {
	p     *model.Protocol // without a check
	spots map[spot]bool
	all   bool         // something has no counterexample: edits may be anywhere
	hold  map[int]bool // roles that defer more messages than they may hold
}

func newGuide(p *model.Protocol) *guide {
	return &guide{p: p, spots: map[spot]bool{}, hold: map[int]bool{}}
}

// report takes in all unexpected violations of a check.
func (g *guide) report(r *check.Report) {
	c := g.check(r.Check)
	for i := range r.Claims {
		x := &r.Claims[i]
		if x.Result != check.Violated || x.Expected {
			continue
		}
		if x.Counterexample == nil {
			g.all = true // nothing satisfies a sometimes claim
			continue
		}
		g.run(c, x.Counterexample, x.Name != check.UnspecifiedReception && x.Name != check.FaultClaim)
		if n := len(x.Counterexample.Steps); x.Name == check.DeferredOverflow && n > 0 {
			who := c.Instances[x.Counterexample.Steps[n-1].Who].Role.Name
			g.hold[slices.IndexFunc(g.p.Roles, func(m *model.Machine) bool { return m.Name == who })] = true
		}
	}
}

func (g *guide) check(name string) *model.Check {
	i := slices.IndexFunc(g.p.Checks, func(c *model.Check) bool { return c.Name == name })
	return g.p.Checks[i]
}

// run takes in one counterexample. If the end itself is at fault every event is missing there.
func (g *guide) run(c *model.Check, r *run.Run, end bool) {
	at := map[string]string{}
	for _, i := range c.Instances {
		at[i.Name] = i.Role.Initial.Name
	}
	for _, s := range r.Steps {
		i := s.Mover()
		if i < 0 {
			continue // something between machines moved
		}
		name := c.Instances[i].Name
		role := slices.Index(g.p.Roles, c.Instances[i].Role)
		if role < 0 {
			role = slices.IndexFunc(g.p.Roles, func(m *model.Machine) bool {
				return m.Name == c.Instances[i].Role.Name
			})
		}
		m := g.p.Roles[role]
		event, _, _ := strings.Cut(s.Event, "{")
		ev := slices.IndexFunc(m.Events, func(e *model.Event) bool { return e.Name == event })
		st := slices.IndexFunc(m.States, func(st *model.State) bool { return st.Name == at[name] })
		if ev >= 0 && st >= 0 && !m.External {
			g.spots[spot{role, st, ev}] = true
		}
		own, _, _ := strings.Cut(s.State, " (")
		if _, after, moved := strings.Cut(own, " → "); moved {
			at[name] = after
		}
	}
	if !end {
		return
	}
	for _, i := range c.Instances {
		for role, m := range g.p.Roles {
			for st := range m.States {
				if m.Name == i.Role.Name && m.States[st].Name == at[i.Name] {
					g.state(role, st)
					g.news(c, role, st)
				}
			}
		}
	}
}

// state adds every message and command in a state.
func (g *guide) state(role, state int) {
	if g.p.Roles[role].External {
		return // we do not write it
	}
	for _, ev := range g.p.Roles[role].Events {
		if ev.Kind == model.EventMessage || ev.Kind == model.EventCommand {
			g.spots[spot{role, state, ev.Index}] = true
		}
	}
}

// news adds that a link is lost, if a check lets that happen.
func (g *guide) news(c *model.Check, role, state int) {
	if g.p.Roles[role].External {
		return
	}
	for _, ev := range g.p.Roles[role].Events {
		if ev.Kind == model.EventLost && c.Faults != nil {
			g.spots[spot{role, state, ev.Index}] = true
		}
	}
}

// edits lists every edit at the spots, simple ones first, in a fixed order.
func (g *guide) edits() []edit {
	if g.all {
		for role, m := range g.p.Roles {
			for st := range m.States {
				g.state(role, st)
			}
		}
	}
	var out []edit
	for role := range g.hold {
		out = append(out, g.bounds(role)...)
	}
	for s := range g.spots {
		if h := g.p.Roles[s.role].States[s.state].Handlers[s.event]; h == nil {
			out = append(out, g.additions(s)...)
		} else {
			out = append(out, g.changes(s, h)...)
		}
	}
	slices.SortFunc(out, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.cost(), b.cost()), cmp.Compare(a.role, b.role),
			cmp.Compare(a.state, b.state), cmp.Compare(a.event, b.event),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.branch, b.branch), cmp.Compare(a.to, b.to),
			cmp.Compare(a.send, b.send), cmp.Compare(a.stmt, b.stmt),
			cmp.Compare(a.with, b.with), cmp.Compare(a.set, b.set))
	})
	return out
}

// maxDeferred is the greatest bound of deferred messages that a role can have.
const maxDeferred = 1000

// bounds lists greater bounds of the messages that a role may hold, up to four times the present one.
func (g *guide) bounds(role int) []edit {
	most := g.p.Roles[role].DeferredMost()
	var out []edit
	for n := most + 1; n <= min(4*most, maxDeferred); n += max(1, (n-most)/2) {
		out = append(out, edit{kind: holdMore, role: role, to: n, send: none})
	}
	return out
}

// additions lists what can be done about an event that a state does not mention.
func (g *guide) additions(s spot) []edit {
	m := g.p.Roles[s.role]
	base := edit{role: s.role, state: s.state, event: s.event, to: none, send: none}
	ev := m.Events[s.event]
	with := func(k kind, to, send int) edit {
		e := base
		e.kind, e.to, e.send = k, to, send
		return e
	}
	var out []edit
	switch ev.Kind {
	case model.EventMessage:
		out = append(out, with(addIgnore, none, none), with(addDefer, none, none))
	case model.EventLost:
		out = append(out, with(addIgnore, none, none))
	}
	for _, send := range append([]sending{{to: none}}, g.sendings(m, ev)...) {
		for to := none; to < len(m.States); to++ {
			if to == s.state {
				continue
			}
			e := with(addHandler, to, send.to)
			if e.with = send.with; to != none || send.to != none {
				out = append(out, e)
			}
			if send.to != none && send.with == "" {
				continue // what is set and sent with it is looked for where it is sent with a field, too
			}
			for _, set := range assignments(m, ev) {
				if e.set = set; ev.Kind == model.EventMessage {
					out = append(out, e)
				}
			}
		}
	}
	seen := map[string]bool{}
	for to, st := range m.States {
		h := st.Handlers[s.event]
		if h == nil || h.Mode != model.Handle || simple(h) {
			continue
		}
		if text := body(h); !seen[text] {
			seen[text] = true
			out = append(out, with(addLike, to, none))
		}
	}
	return out
}

// simple reports whether a handler is one of those that are tried anyway.
func simple(h *model.Handler) bool {
	if len(h.Branches) != 1 || h.Branches[0].When != nil || len(h.Branches[0].Body) > 1 {
		return false
	}
	for _, s := range h.Branches[0].Body {
		if send, ok := s.(*model.Send); !ok || len(send.Message.Fields) > 0 {
			return false
		}
	}
	return true
}

// body tells handlers apart.
func body(h *model.Handler) string {
	text := ""
	for _, t := range h.Branches {
		text += fmt.Sprint(model.ExprString(t.When), model.StmtsString(t.Body), t.To != nil)
		if t.To != nil {
			text += t.To.Name
		}
	}
	return text
}

// sending is a message that an edit may send, by its place, and what its fields are.
type sending struct {
	to   int
	with string
}

// sendings lists the messages that a role may send upon an event, with what is in scope there in their fields. One
// with fields has to be sent by the role already, as it is.
func (g *guide) sendings(role *model.Machine, ev *model.Event) []sending {
	var out []sending
	for i, m := range g.p.Messages {
		if len(m.Fields) == 0 {
			out = append(out, sending{to: i})
			continue
		}
		if !sends(role, m) {
			continue
		}
		for _, with := range fillings(role, ev, m) {
			out = append(out, sending{i, with})
		}
	}
	return out
}

// sends reports whether some branch of a role sends a message.
func sends(role *model.Machine, m *model.Message) bool {
	return slices.ContainsFunc(role.Transitions, func(t *model.Transition) bool {
		return slices.ContainsFunc(t.Body, func(s model.Stmt) bool {
			send, ok := s.(*model.Send)
			return ok && send.Message == m
		})
	})
}

// changes lists what can be changed about a handler.
func (g *guide) changes(s spot, h *model.Handler) []edit {
	if h.Mode != model.Handle {
		return nil
	}
	m := g.p.Roles[s.role]
	var out []edit
	for b, t := range h.Branches {
		base := edit{role: s.role, state: s.state, event: s.event, branch: b, to: none, send: none}
		for to := none; to < len(m.States); to++ {
			if same := to == none && t.To == nil || to != none && t.To == m.States[to]; !same {
				e := base
				e.kind, e.to = setTarget, to
				out = append(out, e)
			}
		}
		for _, send := range g.sendings(m, t.Event) {
			e := base
			e.kind, e.send, e.with = addSend, send.to, send.with
			out = append(out, e)
		}
		place := -1
		for _, stmt := range t.Body {
			if model.Watches(stmt) {
				continue
			}
			place++
			e := base
			e.kind, e.stmt = dropStmt, place
			out = append(out, e)
			set, ok := stmt.(*model.Set)
			if !ok || len(set.Select) > 0 {
				continue
			}
			for _, name := range sources(m, t.Event, set.Var.Type) {
				if name != model.ExprString(set.Value) && name != set.Var.Name {
					e.kind, e.with = setValue, name
					out = append(out, e)
				}
			}
		}
		for _, set := range assignments(m, t.Event) {
			if e := base; !setsVar(t, set) {
				e.kind, e.set = addSet, set
				out = append(out, e)
			}
		}
		e := base
		e.kind = dropBranch
		out = append(out, e)
	}
	for _, text := range comparisons(h) {
		out = append(out, edit{kind: flip, role: s.role, state: s.state, event: s.event, to: none, send: none,
			with: text})
	}
	return out
}

// setsVar reports whether a branch assigns to the variable of an assignment already.
func setsVar(t *model.Transition, set string) bool {
	name, _, _ := strings.Cut(set, "=")
	return slices.ContainsFunc(t.Body, func(s model.Stmt) bool {
		own, ok := s.(*model.Set)
		return ok && own.Var.Name == name
	})
}
