package resolve

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// bodies resolves what states do.
func (r *resolver) bodies() {
	for _, m := range r.p.Roles {
		r.info[m].complete()
	}
}

// complete resolves what the role's states do, once: a role that is the machine of a part
// is complete before the role around it is declared.
func (ro *role) complete() {
	if ro.progress == untouched {
		ro.progress = busy
		ro.states()
		ro.progress = done
	}
}

// mention is one place where a state says what it does with an event: a
// handler, or a line of ignore, defer or forward.
type mention struct {
	event string
	key   *ast.Node // as written, perhaps with other events
	from  int       // where the event begins in it
	with  []string  // all events of the key, if there are several
	at    diag.Span
	mode  model.Mode
	node  *ast.Node // handler
	place *ast.Node // forward: the part, with its keys or without
}

// mentions lists what a state or a common entry says, in order.
func (ro *role) mentions(n *ast.Node) []mention {
	var out []mention
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "ignore", "defer":
			mode := model.Ignore
			if e.Key.Text == "defer" {
				mode = model.Defer
			}
			for _, it := range scalars(e.Value) {
				out = append(out, mention{event: it.Text, key: it, at: it.Span(), mode: mode})
			}
		case "forward":
			for _, p := range e.Value.Entries {
				for _, it := range scalars(p.Value) {
					out = append(out, mention{event: it.Text, key: it, at: it.Span(), place: p.Key})
				}
			}
		case "doc", "entry", "final":
		default:
			out = append(out, handled(e)...)
		}
	}
	return out
}

// inCommon lists what a common entry says. Its handlers stand under `on`, which in a state
// is an event like any other.
func (ro *role) inCommon(n *ast.Node) []mention {
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

// handled makes mentions of a key with its handler: one for each event that the key names.
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

// states resolves all states of the role with the common handlers.
func (ro *role) states() {
	common := ro.node.Get("common")
	picked := ro.pickStates(common)
	for _, st := range ro.m.States {
		n := ro.node.Get("states").Get(st.Name)
		st.Handlers = make([]*model.Handler, len(ro.m.Events))
		ro.entry(st, n.Get("entry"))
		for _, m := range ro.mentions(n) {
			ev := ro.event(m)
			if ev == nil {
				continue
			}
			if old := st.Handlers[ev.Index]; old != nil {
				ro.r.Errorf("FSM052", m.at, "state %s mentions %s twice", diag.Quote(st.Name), diag.Quote(ev.Name)).See(old.Span, "first here")
				continue
			}
			if ev.Kind == model.EventStart && st != ro.m.Initial && ro.m.Initial != nil {
				ro.r.warnf("FSM055", m.at, "start comes once, in the initial state %s, never in %s", diag.Quote(ro.m.Initial.Name), diag.Quote(st.Name))
			}
			ro.handler(st, ev, m)
		}
		ro.commonHandlers(st, common, picked)
	}
	for i, t := range ro.m.Transitions {
		t.ID = i
	}
	ro.reachable()
}

// pickStates returns, for each common entry, the states it is for.
func (ro *role) pickStates(common *ast.Node) []map[string]bool {
	if common == nil {
		return nil
	}
	out := make([]map[string]bool, len(common.Items))
	for i, c := range common.Items {
		out[i] = map[string]bool{}
		in, except := c.Entry("in"), c.Entry("except")
		if in != nil && except != nil {
			ro.r.Errorf("FSM059", except.Key.Span(), "a common entry has either `in` or `except`")
		}
		for _, st := range ro.m.States {
			out[i][st.Name] = in == nil
		}
		for _, e := range []*ast.Entry{in, except} {
			if e == nil {
				continue
			}
			for _, it := range scalars(e.Value) {
				if st := ro.state(it); st != nil {
					out[i][st.Name] = e == in
				}
			}
		}
	}
	return out
}

func (ro *role) commonHandlers(st *model.State, common *ast.Node, picked []map[string]bool) {
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
				ro.r.Errorf("FSM052", m.at, "two common entries are for %s in state %s", diag.Quote(ev.Name), diag.Quote(st.Name)).See(old.Span, "the other one")
				continue
			}
			ro.handler(st, ev, m)
		}
	}
}

// event finds the event a state mentions.
func (ro *role) event(m mention) *model.Event {
	ev := ro.events[m.event]
	if ev == nil {
		part, _, dotted := strings.Cut(m.event, ".")
		if p, ok := ro.values[part].(*model.Part); dotted && (ro.taken[part] || ok && p.Machine == nil) {
			return nil // the part is broken, and reported
		}
		names := make([]string, len(ro.m.Events), len(ro.m.Events)+len(stateKeys))
		for i, e := range ro.m.Events {
			names[i] = e.Name
		}
		if m.node != nil {
			names = append(names, stateKeys...)
		}
		ro.r.unknownAt("FSM050", m.at, m.event, "event", names)
		return nil
	}
	ro.r.referEvent(m, ev)
	if m.mode == model.Defer && ev.Kind != model.EventMessage {
		ro.r.Errorf("FSM063", m.at, "%s is a %s; only messages can be deferred", diag.Quote(ev.Name), eventWord(ev.Kind))
		return nil
	}
	if ev.Message != nil {
		ro.hears[ev.Message] = true
	}
	if ev.Kind == model.EventTimer {
		ro.r.used[use{ev.Timer.Span, "heard"}] = true
	} else {
		ro.r.used[use{ev.Span, "heard"}] = true
	}
	return ev
}

// handler resolves one mention in one state.
func (ro *role) handler(st *model.State, ev *model.Event, m mention) {
	h := &model.Handler{Event: ev, Mode: m.mode, Span: m.at}
	st.Handlers[ev.Index] = h
	branches := []*ast.Node{m.node}
	if m.node != nil && m.node.Kind == ast.List {
		branches = m.node.Items
		if len(branches) == 0 {
			ro.r.Errorf("FSM008", m.node.Span(), "the list of branches is empty").With("write ignore, or {} to do nothing")
		}
	}
	for _, b := range branches {
		if b != nil && b.IsNull() {
			ro.r.Errorf("FSM008", m.at, "nothing is said about %s", diag.Quote(ev.Name)).With("write ignore, or {} to do nothing")
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
	ro.checkOrder(h)
}

// checkOrder reports branches that cannot be reached.
func (ro *role) checkOrder(h *model.Handler) {
	for i, t := range h.Branches[:max(0, len(h.Branches)-1)] {
		if ro.badGuard[t] {
			continue
		}
		if t.When != nil {
			v, ok := evalConst(t.When)
			if !ok || v == 0 || ro.r.fromConst[t.When] {
				continue
			}
		}
		next := h.Branches[i+1]
		ro.r.Errorf("FSM053", next.Span, "this branch is never reached: the one before has no condition").See(t.Span, "always taken")
		return
	}
}

// branch resolves one branch; b is nil for what is forwarded.
func (ro *role) branch(st *model.State, h *model.Handler, b *ast.Node, m mention) {
	t := &model.Transition{From: st, Event: h.Event, Mode: h.Mode, Span: m.at}
	h.Branches = append(h.Branches, t)
	ro.m.Transitions = append(ro.m.Transitions, t)
	s := &scope{r: ro.r, ro: ro, lenient: ro.brokenEvent(h.Event), event: h.Event}
	for _, name := range m.with {
		if ev := ro.events[name]; ev != nil {
			s.together = append(s.together, ev)
			s.lenient = s.lenient || ro.brokenEvent(ev)
		}
	}
	for _, f := range h.Event.Fields {
		t.Params = append(t.Params, s.param(f, m.at, h.Mode == model.Handle))
	}
	t.Locals = s.max
	if h.Mode != model.Handle {
		return
	}
	w := &stmts{scope: s, ro: ro, event: h.Event}
	if b == nil {
		t.Body = w.forward(m)
		t.Locals = s.max
		return
	}
	t.Span, t.Doc = b.Span(), textOf(b, "doc")
	if when := b.Get("when"); when != nil {
		t.When = s.cond(ro.r.parse(when))
		ro.badGuard[t] = t.When == nil
		ro.constantGuard(t.When)
	}
	t.Body = w.branchBody(b)
	if g := b.Get("goto"); g != nil {
		t.To = ro.state(g)
	}
	t.Locals = s.max
}

// brokenEvent reports whether the fields of an event could not be resolved.
func (ro *role) brokenEvent(ev *model.Event) bool {
	return ro.r.isBroken(ev.Span) || ev.Report != nil && ro.r.isBroken(ev.Report.Span)
}

func (ro *role) constantGuard(x model.Expr) {
	if x == nil || ro.r.fromConst[x] {
		return
	}
	if v, ok := evalConst(x); ok {
		word := "false"
		if v != 0 {
			word = "true"
		}
		ro.r.warnf("FSM057", x.Pos(), "this condition is always %s", word)
	}
}

// param declares the local of an event's field. Where the event is handled it
// must not hide a value of the role.
func (s *scope) param(f *model.Field, at diag.Span, handled bool) *model.Local {
	if handled {
		if v := s.ro.values[f.Name]; v != nil {
			what, first := valueKind(v)
			s.r.Errorf("FSM040", at, "the field %s of this event hides a %s of the role", diag.Quote(f.Name), what).
				See(first, "the %s", what).See(f.Span, "the field").With("rename one of them")
		}
	}
	l := &model.Local{Name: f.Name, Type: f.Type, Offset: s.frame}
	s.r.noteLocal(l, f.Span, false)
	s.push([]*model.Local{l})
	return l
}

func (ro *role) entry(st *model.State, n *ast.Node) {
	if n == nil {
		return
	}
	s := &scope{r: ro.r, ro: ro}
	w := &stmts{scope: s, ro: ro}
	st.Entry = w.list(n)
	st.EntryLocals = s.max
}
