package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// complete resolves what the role's states do, once. A role that is the machine of a part is
// complete before the role around it is declared.
func (ro *Role) complete() {
	if !ro.begun {
		ro.begun = true
		ro.states()
		ro.layout()
	}
}

// mention is one place where a state says what it does with an event: a handler, or an item of
// `ignore`, `defer` or `forward`.
type mention struct {
	event string
	key   *ast.Node // as written, perhaps with other events
	from  int       // where the event begins in it
	with  []string  // all events of the key, if there are several
	at    diag.Span
	mode  model.Mode
	node  *ast.Node  // handler
	owner *composite // the state around that says so; nil: the state itself
	place *ast.Node  // forward: the part, with its keys or without
}

// mentions lists what a state or a common entry says about events, in order.
func (ro *Role) mentions(n *ast.Node) []mention {
	var out []mention
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "ignore", "defer":
			mode := model.Ignore
			if e.Key.Text == "defer" {
				mode = model.Defer
			}
			for _, it := range pass.Scalars(e.Value) {
				out = append(out, mention{event: it.Text, key: it, at: it.Span(), mode: mode})
			}
		case "forward":
			for _, p := range e.Value.Entries {
				for _, it := range pass.Scalars(p.Value) {
					out = append(out, mention{event: it.Text, key: it, at: it.Span(), place: p.Key})
				}
			}
		case "doc", "entry", "exit", "final", "initial", "states":
		default:
			out = append(out, handled(e)...)
		}
	}
	return out
}

// inCommon lists what a common entry says about events. Its handlers stand under `on`, which in a
// state would be an event.
func (ro *Role) inCommon(n *ast.Node) []mention {
	var out []mention
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "on":
			for _, h := range e.Value.Entries {
				out = append(out, handled(h)...)
			}
		case "ignore", "defer", "forward":
			one := *n
			one.Entries = []ast.Entry{e}
			out = append(out, ro.mentions(&one)...)
		}
	}
	return out
}

// handled returns a mention for each event that the key of a handler names.
func handled(e ast.Entry) []mention {
	m := mention{key: e.Key, node: e.Value}
	if e.Value.Kind == ast.Scalar && e.Value.Text == "ignore" {
		m.mode = model.Ignore
	} else if e.Value.Kind == ast.Scalar && e.Value.Text == "defer" {
		m.mode = model.Defer
	}
	names := strings.Split(e.Key.Text, ",")
	var out []mention
	from := 0
	for _, name := range names {
		m.event = strings.TrimSpace(name)
		m.from = from + strings.Index(name, m.event)
		m.at = e.Key.Part(m.from, m.from+len(m.event))
		out = append(out, m)
		from += len(name) + 1
	}
	if len(out) > 1 {
		for i := range out {
			for _, o := range out {
				out[i].with = append(out[i].with, o.event)
			}
		}
	}
	return out
}

// states resolves all states of the role and the common handlers.
func (ro *Role) states() {
	common := ro.Node.Get("common")
	picked := ro.pickStates(common)
	ro.actions()
	for _, st := range ro.Machine.States {
		n := ro.nodes[st]
		st.Handlers = make([]*model.Handler, len(ro.Machine.Events))
		ro.entry(st, n.Get("entry"))
		for _, m := range ro.mentions(n) {
			ev := ro.event(m)
			if ev == nil {
				continue
			}
			if old := st.Handlers[ev.Index]; old != nil {
				ro.Errorf("FSM052", m.at, "state %s mentions %s twice", diag.Quote(st.Name),
					diag.Quote(ev.Name)).See(old.Span, "first here")
				continue
			}
			if ev.Kind == model.EventStart && st != ro.Machine.Initial && ro.Machine.Initial != nil {
				ro.Warnf("FSM055", m.at, "start comes once, in the initial state %s, never in %s",
					diag.Quote(ro.Machine.Initial.Name), diag.Quote(st.Name))
			}
			ro.handler(st, ev, m)
		}
		ro.inherited(st)
		ro.commonHandlers(st, common, picked)
		ro.begins(st)
	}
	if ro.Machine.External {
		ro.ignoreRest()
	}
	for i, t := range ro.Machine.Transitions {
		t.ID = i
	}
	ro.reachable()
}

// unmentioned ignores the events of which a state says nothing, those of some kinds.
func (ro *Role) unmentioned(st *model.State, some func(*model.Event) bool) {
	for i, h := range st.Handlers {
		if ev := ro.Machine.Events[i]; h == nil && some(ev) {
			st.Handlers[i] = &model.Handler{Event: ev, Mode: model.Ignore, Span: st.Span}
			ro.otherwise(st, st.Handlers[i])
		}
	}
}

// otherwise adds a branch that does nothing: what a state says nothing about is of no interest to it.
func (ro *Role) otherwise(st *model.State, h *model.Handler) {
	s := convert.Scope{Table: ro.Table, Own: ro.Names}
	t := &model.Transition{ID: len(ro.Machine.Transitions), Name: st.Name + " " + h.Event.Name, From: st,
		Event: h.Event, Mode: h.Mode, Span: h.Span}
	if n := len(h.Branches); n > 0 {
		t.Name += fmt.Sprintf("/%d", n+1)
	}
	for _, f := range h.Event.Fields {
		t.Params = append(t.Params, s.DeclareField(f, h.Span, false))
	}
	t.Locals = s.Slots
	h.Branches, ro.Machine.Transitions = append(h.Branches, t), append(ro.Machine.Transitions, t)
}

// ignoreRest lets an external role take whatever peers send: also where a state mentions an event and no
// branch holds. News of links stay unknown to a role that mentions none.
func (ro *Role) ignoreRest() {
	m := ro.Machine
	up, lost := m.Mentions(model.EventUp), m.Mentions(model.EventLost)
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h != nil && h.Mode == model.Handle && h.Event.FromPeer() && len(h.Branches) > 0 &&
				h.Branches[len(h.Branches)-1].When != nil {
				ro.otherwise(st, h)
			}
		}
		ro.unmentioned(st, func(ev *model.Event) bool {
			return ev.Kind == model.EventMessage || ev.Kind == model.EventUp && up || ev.Kind == model.EventLost && lost
		})
	}
}

// pickStates returns the states for which each common entry is.
func (ro *Role) pickStates(common *ast.Node) []map[string]bool {
	if common == nil {
		return nil
	}
	out := make([]map[string]bool, len(common.Items))
	for i, c := range common.Items {
		out[i] = map[string]bool{}
		in, except := c.Entry("in"), c.Entry("except")
		if in != nil && except != nil {
			ro.Errorf("FSM059", except.Key.Span(), "a common entry has either `in` or `except`")
		}
		for _, st := range ro.Machine.States {
			out[i][st.Name] = in == nil
		}
		for _, e := range []*ast.Entry{in, except} {
			if e == nil {
				continue
			}
			for _, it := range pass.Scalars(e.Value) {
				for _, st := range ro.statesOf(it) {
					out[i][st.Name] = e == in
				}
			}
		}
	}
	return out
}

func (ro *Role) commonHandlers(st *model.State, common *ast.Node, picked []map[string]bool) {
	if common == nil {
		return
	}
	own := append([]*model.Handler{}, st.Handlers...)
	for i, c := range common.Items {
		if !picked[i][st.Name] {
			continue
		}
		for _, m := range ro.inCommon(c) {
			ev := ro.event(m)
			if ev == nil || own[ev.Index] != nil {
				continue
			}
			if old := st.Handlers[ev.Index]; old != nil {
				ro.Errorf("FSM052", m.at, "two common entries are for %s in state %s",
					diag.Quote(ev.Name), diag.Quote(st.Name)).See(old.Span, "the other one")
				continue
			}
			ro.handler(st, ev, m)
		}
	}
}

// event finds the event that a mention names.
func (ro *Role) event(m mention) *model.Event {
	ev := ro.Events[m.event]
	if ev == nil {
		part, _, dotted := strings.Cut(m.event, ".")
		if p, ok := ro.Values[part].(*model.Part); dotted && (ro.Taken[part] || ok && p.Machine == nil) {
			return nil // the part is broken, and reported
		}
		names := make([]string, len(ro.Machine.Events), len(ro.Machine.Events)+len(stateKeys))
		for i, e := range ro.Machine.Events {
			names[i] = e.Name
		}
		if m.node != nil {
			names = append(names, stateKeys...)
		}
		d := ro.UnknownAt("FSM050", m.at, m.event, "event", names)
		if slices.ContainsFunc(ro.r.Protocol.Messages, func(x *model.Message) bool { return x.Name == m.event }) {
			d.With("it is a message, and a monitor sees the commands and reports of the program alone")
		}
		return nil
	}
	ro.r.referEvent(m, ev)
	if m.mode == model.Defer && ev.Kind != model.EventMessage {
		ro.Errorf("FSM063", m.at, "%s is a %s; only messages can be deferred", diag.Quote(ev.Name),
			eventWord(ev.Kind))
		return nil
	}
	if ev.Message != nil {
		ro.Hears[ev.Message] = true
	}
	if ev.Kind == model.EventTimer {
		ro.UseAs(ev.Timer.Span, pass.Heard)
	} else {
		ro.UseAs(ev.Span, pass.Heard)
	}
	return ev
}

// handler resolves one mention of an event in one state.
func (ro *Role) handler(st *model.State, ev *model.Event, m mention) {
	h := st.Handlers[ev.Index] // of a state inside; its last branch has a guard
	if h == nil {
		h = &model.Handler{Event: ev, Mode: m.mode, Span: m.at}
		st.Handlers[ev.Index] = h
	}
	branches := []*ast.Node{m.node}
	if m.node != nil && m.node.Kind == ast.List {
		branches = m.node.Items
		if len(branches) == 0 {
			ro.Errorf("FSM008", m.node.Span(), "the list of branches is empty").
				With("write ignore, or {} to do nothing")
		}
	}
	for _, b := range branches {
		if b != nil && b.IsNull() {
			ro.Errorf("FSM008", m.at, "nothing is said about %s", diag.Quote(ev.Name)).
				With("write ignore, or {} to do nothing")
			continue
		}
		ro.branch(st, h, b, m)
	}
	for i, t := range h.Branches {
		t.Name = st.Name + " " + ev.Name
		if len(h.Branches) > 1 {
			t.Name += fmt.Sprintf("/%d", i+1)
		}
	}
	ro.checkOrder(h, m, branches)
}

// checkOrder reports a branch that cannot be reached.
func (ro *Role) checkOrder(h *model.Handler, m mention, from []*ast.Node) {
	for i, t := range h.Branches[:max(0, len(h.Branches)-1)] {
		if ro.badGuard[t] {
			continue
		}
		if t.When != nil {
			v, ok := types.Constant(t.When)
			if !ok || v == 0 || ro.Replaceable(t.When) {
				continue
			}
		}
		ro.Errorf("FSM053", h.Branches[i+1].Span, "this branch is never reached: the one before has no condition").See(
			t.Span, "always taken").With(alternatives(m.key, from))
		return
	}
}

// branch resolves one branch; b is nil if the event is forwarded. A branch that resumes a composite state
// becomes one for each state in it.
func (ro *Role) branch(st *model.State, h *model.Handler, b *ast.Node, m mention) {
	var c *composite
	r := b.Get("resume")
	if r != nil {
		if c = ro.compositeOf(r.Text); c == nil {
			if what, _ := convert.ValueKind(ro.Values[r.Text]); what == "state" {
				ro.Errorf("FSM051", r.Span(), "%s has no states of its own, so there is none to resume",
					diag.Quote(r.Text)).With("write `goto: " + r.Text + "`")
			} else {
				ro.Unknown("FSM051", r, "state with states of its own", ro.compositeNames())
			}
			return
		}
		if g := b.Entry("goto"); g != nil {
			ro.Errorf("FSM059", g.Key.Span(), "a branch has either `goto` or `resume`")
		}
	}
	if c == nil || c.last == nil {
		ro.oneBranch(st, h, b, m, func(t *model.Transition, w *stmts) {
			g := b.Get("goto")
			if g == nil {
				g = r
			}
			var x way
			switch {
			case g != nil:
				var target *composite
				if t.To, target = ro.stateOf(g); t.To == nil {
					return
				}
				x = ro.wayTo(st, m.owner, t.To, target)
			case h.Event.Kind == model.EventStart && st == ro.Machine.Initial:
				// the state stays, and is come into
			default:
				return
			}
			ro.moves(t, w, h, x)
		})
		return
	}
	ro.Refer(r.Span(), c.Span)
	if c.index(st) >= 0 { // it is left by the branch itself
		ro.oneBranch(st, h, b, m, func(t *model.Transition, w *stmts) {
			t.To = st
			ro.moves(t, w, h, ro.wayTo(st, m.owner, st, c))
		})
		return
	}
	for i, to := range c.States {
		ro.oneBranch(st, h, b, m, func(t *model.Transition, w *stmts) {
			t.To, t.Resumes = to, c.Composite
			if i+1 < len(c.States) {
				base := model.ExprBase{T: types.Bool, Span: r.Span()}
				ref := &model.VarRef{ExprBase: model.ExprBase{T: c.last.Type, Span: r.Span()}, Var: c.last}
				is := &model.Binary{ExprBase: base, Op: model.OpEq, X: ref,
					Y: w.Literal(c.last.Type, int64(i), r.Span())}
				t.When = convert.Combine(base, model.OpAnd, t.When, is)
			}
			ro.moves(t, w, h, ro.wayTo(st, m.owner, to, c))
		})
	}
}

// moves adds the entry and exit actions of composite states to a branch.
func (ro *Role) moves(t *model.Transition, w *stmts, h *model.Handler, x way) {
	if h.Event.Kind == model.EventStart { // the machine was nowhere
		to := t.To
		if to == nil {
			to = t.From
		}
		x = way{enter: ro.around(to)}
		slices.Reverse(x.enter)
	}
	t.Body = slices.Concat(w.leaving(x), t.Body, w.entering(x))
}

func (ro *Role) compositeNames() (names []string) {
	for _, c := range ro.composites {
		names = append(names, c.Name)
	}
	return names
}

// oneBranch resolves a branch that leads to one state. finish says where that is.
func (ro *Role) oneBranch(st *model.State, h *model.Handler, b *ast.Node, m mention,
	finish func(*model.Transition, *stmts)) {
	t := &model.Transition{From: st, Event: h.Event, Mode: h.Mode, Span: m.at}
	if m.owner != nil {
		t.By = m.owner.Composite
	}
	h.Branches = append(h.Branches, t)
	ro.Machine.Transitions = append(ro.Machine.Transitions, t)
	s := expr.In(&convert.Scope{Table: ro.Table, Own: ro.Names, Lenient: ro.BrokenEvent(h.Event),
		Event: h.Event})
	for _, name := range m.with {
		if ev := ro.Events[name]; ev != nil {
			s.Together = append(s.Together, ev)
			s.Lenient = s.Lenient || ro.BrokenEvent(ev)
		}
	}
	for _, f := range h.Event.Fields {
		t.Params = append(t.Params, s.DeclareField(f, m.at, h.Mode == model.Handle))
	}
	t.Locals = s.Slots
	if h.Mode != model.Handle {
		return
	}
	w := &stmts{Resolver: s, ro: ro, event: h.Event}
	if b == nil {
		w.Forwards = true
		t.Body = w.forward(m)
		t.Locals = s.Slots
		return
	}
	t.Span, t.Doc = b.Span(), pass.TextOf(b, "doc")
	t.Defensive = pass.IsTrue(b.Get("defensive"))
	if when := b.Get("when"); when != nil {
		t.When = s.Cond(ro.Parse(when))
		ro.badGuard[t] = t.When == nil
		ro.constantGuard(t.When)
	}
	t.Body = w.branchBody(b)
	finish(t, w)
	t.Locals = s.Slots
	s.WarnPlain()
}

// BrokenEvent reports whether the fields of an event could not be resolved.
func (ro *Role) BrokenEvent(ev *model.Event) bool {
	return ro.IsBroken(ev.Span) || ev.Report != nil && ro.IsBroken(ev.Report.Span)
}

func (ro *Role) constantGuard(x model.Expr) {
	if x == nil || ro.Replaceable(x) {
		return
	}
	if v, ok := types.Constant(x); ok {
		word := "false"
		if v != 0 {
			word = "true"
		}
		ro.Warnf("FSM057", x.Pos(), "this condition is always %s", word)
	}
}

func (ro *Role) entry(st *model.State, n *ast.Node) {
	if n == nil {
		return
	}
	s := expr.In(&convert.Scope{Table: ro.Table, Own: ro.Names})
	w := &stmts{Resolver: s, ro: ro}
	st.Entry = w.list(n)
	st.EntryLocals = s.Slots
}

// reachable warns about states to which no goto leads.
func (ro *Role) reachable() {
	if ro.Machine.Initial == nil || ro.lost { // the state that is missing may have led to others
		return
	}
	seen := map[*model.State]bool{ro.Machine.Initial: true}
	for again := true; again; {
		again = false
		for _, t := range ro.Machine.Transitions {
			if t.To != nil && seen[t.From] && !seen[t.To] {
				seen[t.To], again = true, true
			}
		}
	}
	for _, st := range ro.Machine.States {
		if !seen[st] {
			ro.Warnf("FSM054", st.Span, "no way leads from %s to the state %s",
				diag.Quote(ro.Machine.Initial.Name), diag.Quote(st.Name))
		}
	}
}

// referEvent notes what the name of an event means where a state mentions it. The name of a part's
// event contains the part's name.
func (r *Set) referEvent(m mention, ev *model.Event) {
	if r.Symbols == nil || m.key == nil {
		return
	}
	part, rest, dotted := strings.Cut(m.event, ".")
	if dotted && ev.Watched {
		r.Refer(m.key.Part(m.from, m.from+len(part)), r.watched[ev])
		r.Refer(m.key.Part(m.from+len(part)+1, m.from+len(m.event)), ev.Span)
		return
	}
	if !dotted || ev.Part == nil {
		if ev.Kind >= model.EventMessage {
			r.Refer(m.at, ev.Span)
		}
		return
	}
	r.Refer(m.key.Part(m.from, m.from+len(part)), ev.Part.Span)
	if ev.Report != nil {
		r.Refer(m.key.Part(m.from+len(part)+1, m.from+len(part)+1+len(rest)), ev.Report.Span)
	}
}
