package body

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// stepFunc starts a function with Step's parameters.
func stepFunc(r *types.Machine, name, doc string, body []gotree.Stmt) *gotree.Func {
	f := gotree.F("func (m *$1) $2(ev *$3, fx *$4) fsm.Result {\n$5\n}", r.Typ, name, r.Event, r.Effects, body)
	f.Doc = base.Comment(name, doc)
	return f
}

// Step composes the method Step and the methods that it calls, but for those of parts.
func (g *Funcs) Step(r *types.Machine) []*gotree.Func {
	g.Constructor(r) // it may need methods, too
	scope := append([]gotree.Param{{Name: "ev", Type: gotree.X("*$1", r.Event)}}, g.always(r)...)
	var list []handled
	for _, st := range r.Core.States {
		for _, e := range g.mentioned(r, st) {
			list = append(list, handled{handlerOf(st, e.Ev), g.args(e)})
		}
	}
	branches := g.share(r, scope, stepReturns, list)
	states := &gotree.Switch{Tag: gotree.X("m.State")}
	for _, st := range r.Core.States {
		if cases := g.stateCases(r, st, branches); cases != nil {
			events := &gotree.Switch{Tag: gotree.X("ev.Kind"), Cases: cases}
			states.Cases = append(states.Cases, &gotree.Case{List: gotree.Names([]string{r.States[st.Model.Index]}),
				Body: []gotree.Stmt{events}})
		}
	}
	var b gotree.Block
	b.P("fx.reset(ev.From)")
	if g.Checked(r) {
		b.P("if ev.invalid() {\nreturn refused(fsm.NoTransition)\n}")
	}
	g.alarmCases(r, &b)
	rest := g.unmentioned(r)
	around := gotree.Lines(b.List) + gotree.Lines(rest) + 2
	var methods []*gotree.Func
	limit := 0
	if length(states)+around <= whole {
		limit = longest - around
		methods = g.shorten(r, "", states, limit)
	}
	if len(states.Cases) > 0 {
		b.Add(states)
	}
	if length(states)+around > longest {
		methods = append(g.split(r, states, limit), methods...)
		b.P("return m.unmentioned(ev, fx)")
		methods = append(methods,
			stepFunc(r, "unmentioned", "handles the events that the state does not mention.", rest))
	} else {
		b.Add(rest...)
	}
	all := append([]*gotree.Func{stepFunc(r, "Step",
		"gives the machine one event and fills fx with what is to be done, in order. If the event is refused, "+
			"deferred or ignored nothing has changed and fx is empty.", b.List)}, methods...)
	all = append(all, r.Methods...) // settle
	for _, f := range all {
		f.Tidy()
		lookOnce(f)
	}
	if slices.ContainsFunc(all, func(f *gotree.Func) bool { return gotree.Calls(f, "m", "undo") }) {
		undo := gotree.F(`func (m *$1) undo(old *$1, fx *$2, transition uint16) fsm.Result {
			*m = *old
			fx.reset(fx.from)
			return refused(transition)
		}`, r.Typ, r.Effects)
		undo.Doc = base.Comment("undo", "refuses the step and takes back what it has changed.")
		all = append(all, undo)
	}
	for _, h := range []string{"took", "ignored", "deferred", "refused"} {
		if slices.ContainsFunc(all, func(f *gotree.Func) bool { return gotree.Calls(f, "", h) }) {
			g.Helpers[h] = true
		}
	}
	return all
}

// split makes methods of the longest states, until the switch has at most limit lines. It takes no more
// than that, because the call costs a step about eight instructions.
func (g *Funcs) split(r *types.Machine, states *gotree.Switch, limit int) []*gotree.Func {
	order := slices.Clone(states.Cases)
	slices.SortStableFunc(order, func(a, b *gotree.Case) int { return gotree.Lines(b.Body) - gotree.Lines(a.Body) })
	apart := map[*gotree.Case]bool{}
	lines := length(states)
	for _, c := range order {
		if lines > limit {
			apart[c] = true
			lines -= gotree.Lines(c.Body) - 1
		}
	}
	var out []*gotree.Func
	for _, c := range states.Cases {
		if !apart[c] {
			continue
		}
		state := strings.TrimPrefix(c.List[0].(gotree.Name).Name, r.State)
		name, events := "step"+state, c.Body[0].(*gotree.Switch)
		more := g.shorten(r, name, events, longest-5)
		fn := stepFunc(r, name, "is Step in the state "+base.Unexported(state)+".",
			gotree.S("$1\nreturn m.unmentioned(ev, fx)", gotree.Stmt(events)))
		out = append(append(out, fn), more...)
		c.Body = gotree.S("return m.$1(ev, fx)", name)
	}
	return out
}

// shorten makes methods of the longest handlers in a switch over states or events, until the switch has
// at most limit lines.
func (g *Funcs) shorten(r *types.Machine, in string, s *gotree.Switch, limit int) []*gotree.Func {
	var out []*gotree.Func
	for length(s) > limit {
		state, c := longestCase(s)
		if c == nil {
			break
		}
		event := c.List[0].(gotree.Name).Name
		for _, e := range r.Events {
			if e.Kind == event {
				prefix := in
				if state != "" {
					prefix = "step" + strings.TrimPrefix(state, r.State)
				}
				name := r.Calls.Take(prefix + base.GoName(r.EventName(e)))
				in := base.Unexported(strings.TrimPrefix(prefix, "step"))
				doc := "handles " + r.EventName(e) + " in the state " + in + "."
				out = append(out, stepFunc(r, name, doc, c.Body))
				c.Body = gotree.S("return m.$1(ev, fx)", name)
			}
		}
	}
	return out
}

// mentioned returns the events from outside that a state mentions, in the author's order.
func (g *Funcs) mentioned(r *types.Machine, st *core.State) []types.RoleEvent {
	var mentioned []types.RoleEvent
	for _, e := range r.Events {
		if e.Ev.Kind == model.EventTimer && r.Alarms[e.Alarm].Of != r {
			continue
		}
		if handlerOf(st, e.Ev) != nil {
			mentioned = append(mentioned, e)
		}
	}
	slices.SortStableFunc(mentioned, func(a, b types.RoleEvent) int {
		return firstBranch(st,
			a.Ev) - firstBranch(st, b.Ev)
	})
	return mentioned
}

// stateCases composes the cases of one state.
func (g *Funcs) stateCases(r *types.Machine, st *core.State, branches *sharer) []*gotree.Case {
	var cases []*gotree.Case
	for _, e := range g.mentioned(r, st) {
		c := g.newStmts(r)
		c.scope, c.sharer = branches.scope, branches
		c.handle(handlerOf(st, e.Ev), g.args(e), stepReturns)
		cases = append(cases, &gotree.Case{List: gotree.Names([]string{e.Kind}), Body: gotree.Tidy(c.out.List)})
	}
	return cases
}

// firstBranch returns the number of an event's first branch in a state, which gives the author's order.
func firstBranch(st *core.State, ev *model.Event) int {
	if h := handlerOf(st, ev); len(h.Branches) > 0 {
		return h.Branches[0].Model.ID
	}
	return -1
}

// alarmCases appends what becomes of the expiry of a timer that is not armed, or that belongs to a part.
func (g *Funcs) alarmCases(r *types.Machine, b *gotree.Block) {
	if len(r.Alarms) == 0 {
		return
	}
	kinds := &gotree.Switch{Tag: gotree.X("ev.Kind")}
	for _, e := range r.Events {
		if e.Ev.Kind != model.EventTimer {
			continue
		}
		var code gotree.Block
		if a := r.Alarms[e.Alarm]; a.Of == r {
			place := gotree.X("m.$1", r.Timers[a.Timer.Index])
			if len(a.Timer.Keys) > 0 {
				code.P("if ev.Key >= $1 {\nreturn refused(fsm.NoTransition)\n}", a.Timer.Count)
				place = gotree.X("$1[ev.Key]", place)
			}
			code.P("if !$1 {\nreturn ignored(fsm.NoTransition)\n}", place)
		} else {
			g.partExpiry(r, a, &code)
		}
		kinds.Cases = append(kinds.Cases, &gotree.Case{List: gotree.Names([]string{e.Kind}), Body: code.List})
	}
	b.Add(kinds)
}

// partExpiry appends the expiry of a part's timer. The part handles it; then the machines around it
// handle what it reported, from the inside out.
func (g *Funcs) partExpiry(r *types.Machine, a types.Alarm, b *gotree.Block) {
	p := a.Of
	keys := a.Keys()
	if len(keys) > 0 {
		b.P("if ev.Key >= $1 {\nreturn refused(fsm.NoTransition)\n}", types.Instances(keys))
	}
	index := types.KeysFrom(gotree.X("ev.Key"), keys)
	var args []gotree.Expr
	for i, k := range keys {
		args = append(args, g.FromIndex(index[i], k.Type))
	}
	at := map[*types.Machine]gotree.Expr{r: gotree.X("m")}
	for _, x := range p.Way() {
		at[x] = gotree.X("$1.$2", at[x.Up], x.Up.Member(x))
		for i := len(x.Up.Keys); i < len(x.Keys); i++ {
			at[x] = gotree.X("$1[$2]", at[x], index[i])
		}
	}
	armed := gotree.X("$1.$2", at[p], p.Timers[a.Timer.Index])
	var which gotree.Expr
	for i, k := range a.Timer.Keys {
		which = nextIndex(which, index[len(p.Keys)+i], k)
	}
	if which != nil {
		armed = gotree.X("$1[$2]", armed, which)
	}
	f := g.handler(p, p.Expiry(a.Timer))
	b.P(`if !$1 {
			return ignored(fsm.NoTransition)
		}
		old := *m
		switch $2.$3(fx, $4) {
		case fsm.Ignored:
			return ignored(fsm.NoTransition)
		case fsm.Deferred:
			return deferred(fsm.NoTransition)
		case fsm.Refused:
			return m.undo(&old, fx, fsm.NoTransition)
		}`, armed, at[p], f.Name, args)
	for up := p.Up; up != nil && f.Queues; up = up.Up {
		f = g.settleFacts(up)
		b.P("if !$1.settle(fx, $2) {\nreturn m.undo(&old, fx, fsm.NoTransition)\n}", at[up], args[:len(up.Keys)])
	}
	b.P("return took(fsm.NoTransition)")
}

// unmentioned composes the handling of events that the state does not mention.
func (g *Funcs) unmentioned(r *types.Machine) []gotree.Stmt {
	var outside []gotree.Expr
	start := ""
	for _, e := range r.Events {
		switch e.Ev.Kind {
		case model.EventUp, model.EventLost:
			outside = append(outside, gotree.Name{Name: e.Kind})
		case model.EventStart:
			start = e.Kind
		}
	}
	c := g.newStmts(r)
	c.refuse = stepReturns.unexplained
	entry := c.inner(func() {
		if c.entry(r.Core.States[r.M.Initial.Index]) {
			c.settle(stepReturns)
		}
	})
	if c.f.RefusesDirty {
		entry = append(saved(), entry...)
	}
	if entry != nil {
		entry = gotree.S("if m.State == $1 {\n$2\n}", r.States[r.M.Initial.Index], entry)
	}
	return gotree.S(`switch ev.Kind {
		case $1:
			return ignored(fsm.NoTransition)
		case $2:
			$3
			return took(fsm.NoTransition)
		}
		return refused(fsm.NoTransition)`, outside, start, entry)
}
