package body

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// What a specification says once is generated once. Methods are made of branches that several states
// have (they stand under `in:` or came from another state), of entries that several branches lead to,
// and of quantifiers. A call that Go does not inline costs half as much as a small step. So only what
// Go inlines becomes a method, or what takes much longer than a call.

// candidate is a branch whose body could be shared.
type candidate struct {
	t    *core.Transition
	proc *proc
}

// sharer makes the methods that branches of one machine share; shared has them by branch.
type sharer struct {
	g      *Funcs
	r      *types.Machine
	scope  []gotree.Param
	ret    returns
	shared map[*core.Transition]*proc
}

// share finds branches of the handlers that do the same, and makes methods of them.
func (g *Funcs) share(r *types.Machine, scope []gotree.Param, ret returns, handlers []handled) *sharer {
	s := &sharer{g, r, scope, ret, map[*core.Transition]*proc{}}
	groups := map[string][]candidate{}
	var order []string
	for _, h := range handlers {
		for _, t := range h.Branches {
			if h.Model.Mode == model.Handle {
				if p := s.compose(t, h.args); p != nil {
					k := gotree.Key(p.fn) + fmt.Sprint(p.args, p.fn.Params)
					if groups[k] == nil {
						order = append(order, k)
					}
					groups[k] = append(groups[k], candidate{t, p})
				}
			}
			if t.When == nil {
				break
			}
		}
	}
	for _, k := range order {
		list := groups[k]
		p := list[0].proc
		if !s.worth(p, len(list), list[0].t) {
			continue
		}
		p.fn.Name = r.Calls.First(branchName(r, list[0].t.Model.Event), placesOf(list)...)
		p.fn.Doc = base.Comment(p.fn.Name, "handles "+eventsOf(list)+" in "+statesOf(list)+"."+p.refusal())
		g.shared[p.fn] = true
		for _, c := range list {
			if gotree.Equal(c.proc.fn.Body, p.fn.Body) {
				s.shared[c.t] = p
			}
		}
		r.Methods = append(r.Methods, p.fn)
	}
	return s
}

// handled is a handler with the fields of its event.
type handled struct {
	*core.Handler
	args []val
}

// worth reports whether so many branches should share a method.
func (s *sharer) worth(p *proc, users int, t *core.Transition) bool {
	lines := gotree.Lines(p.fn.Body)
	if users < 2 {
		return false
	}
	rare := t.To != nil && t.To.Model.Final     // a run does that once
	slow := p.facts.RefusesDirty && s.ret.saves // the step keeps a copy of the machine
	return lines > 1 && (inlineCost(p.fn) <= inlined || long(lines, users) || gotree.Loops(p.fn) || rare || slow)
}

// long reports whether code of so many lines, in so many places, is worth a call that Go does not
// inline.
func long(lines, users int) bool {
	return lines > large || lines > large/2 && lines*users > 2*large
}

// statesOf returns the names of the branches' states for a comment.
func statesOf(list []candidate) string {
	var names []string
	for _, c := range list {
		if !slices.Contains(names, c.t.Model.From.Name) {
			names = append(names, c.t.Model.From.Name)
		}
	}
	if n := len(names); n > 4 {
		return fmt.Sprintf("the states %s, %s and %d others", names[0], names[1], n-2)
	} else if n > 1 {
		return "the states " + enumerated(names)
	}
	return "the state " + names[0]
}

// placesOf returns endings for the name of a method of branches: the states that they begin in.
func placesOf(list []candidate) []string {
	var out []string
	for _, c := range list {
		out = append(out, "In"+base.GoName(c.t.Model.From.Name))
	}
	return out
}

// eventsOf returns the names of the branches' events for a comment.
func eventsOf(list []candidate) string {
	var names []string
	for _, c := range list {
		if !slices.Contains(names, c.t.Model.Event.Name) {
			names = append(names, c.t.Model.Event.Name)
		}
	}
	return enumerated(names)
}

// enumerated joins names with commas and "and".
func enumerated(names []string) string {
	n := len(names) - 1
	if n == 0 {
		return names[0]
	}
	return strings.Join(names[:n], ", ") + " and " + names[n]
}

// compose makes a method of what follows a branch's guard. It returns nil if that always ends in a
// refusal.
func (s *sharer) compose(t *core.Transition, args []val) *proc {
	c := s.g.newStmts(s.r)
	for _, v := range s.scope {
		c.names.Take(v.Name)
	}
	c.scope = s.scope
	for i, l := range t.Model.Params {
		c.locals[l] = args[i]
	}
	c.dirty = t.Model.Event.Kind == model.EventTimer
	c.refuse = func(bool) gotree.Stmt { return gotree.Returns(gotree.X("false")) }
	if !c.effects(t) {
		return nil
	}
	c.settle(s.ret)
	return c.proc(c.out.List, nil)
}

// branchName returns the name for the method of an event's branch.
func branchName(r *types.Machine, ev *model.Event) string {
	if word := handlerWords[ev.Kind].method; word != "" && r.Part == nil { // a part has methods of such names
		return word + base.GoName(ev.Name)
	}
	return "on" + base.GoName(ev.Name)
}

// invoke appends the call of a shared method.
func (c *stmts) invoke(p *proc) {
	call := gotree.X("m.$1($2)", p.fn.Name, p.args)
	dirty := c.dirty
	c.dirty = dirty || p.facts.RefusesDirty
	if p.facts.Refuses {
		c.check(gotree.Not(call))
	} else {
		c.out.P("$1", call)
	}
	c.dirty = dirty
	if p.facts.Changes {
		c.changed(p.changes...)
	}
	c.f.Queues = c.f.Queues || p.facts.Queues
	c.f.Waits = c.f.Waits || p.facts.Waits
}

// entryProc returns the method for a state's entry. It returns nil if the entry should be written out.
func (g *Funcs) entryProc(r *types.Machine, s *core.State) *proc {
	if p, ok := g.entries[entryOf{r, s}]; ok {
		return p
	}
	g.entries[entryOf{r, s}] = nil
	users := 0
	for _, t := range r.Core.Transitions {
		if entered(r, t) == s {
			users++
		}
	}
	if users < 2 || len(s.Entry) == 0 {
		return nil
	}
	c := g.newStmts(r)
	c.scope = g.always(r)
	c.dirty = true
	c.refuse = func(bool) gotree.Stmt { return gotree.Returns(gotree.X("false")) }
	if !c.statements(s.Entry) {
		return nil
	}
	p := c.proc(c.out.List, nil)
	if lines := gotree.Lines(p.fn.Body); lines < 3 || inlineCost(p.fn) > inlined && !long(lines,
		users) && !gotree.Loops(p.fn) {
		return nil
	}
	p.fn.Name = r.Calls.Take("enter" + base.GoName(s.Model.Name))
	p.fn.Doc = base.Comment(p.fn.Name, "runs the entry actions of the state "+s.Model.Name+"."+p.refusal())
	g.shared[p.fn] = true
	r.Methods = append(r.Methods, p.fn)
	g.entries[entryOf{r, s}] = p
	return p
}

// always returns the parameters that all methods of a machine have.
func (g *Funcs) always(r *types.Machine) []gotree.Param {
	return g.method(r, "").Params
}
