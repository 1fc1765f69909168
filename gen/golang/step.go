package golang

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// returns are the ends of a function that handles events.
type returns struct {
	took     func(id int) string
	ignored  func(id int) string
	deferred func(id int) string
	// refused is for a refusal after branch id was taken, unexplained for one
	// that no branch explains.
	refused     func(id int, dirty bool) string
	unexplained func(dirty bool) string
	// settles: what parts reported is handled before the function ends.
	settles bool
	// saves: a branch that can refuse after a change keeps the old value.
	saves bool
}

var stepReturns = returns{
	took:     func(id int) string { return fmt.Sprintf("return took(%d)", id) },
	ignored:  func(id int) string { return fmt.Sprintf("return ignored(%d)", id) },
	deferred: func(id int) string { return fmt.Sprintf("return deferred(%d)", id) },
	refused: func(id int, dirty bool) string {
		if dirty {
			return fmt.Sprintf("return m.undo(&old, fx, %d)", id)
		}
		return fmt.Sprintf("return refused(%d)", id)
	},
	unexplained: func(dirty bool) string {
		if dirty {
			return "return m.undo(&old, fx, fsm.NoTransition)"
		}
		return "return refused(fsm.NoTransition)"
	},
	settles: true, saves: true,
}

// done marks the end of a part's method that worked; what becomes of it is
// known when it is known whether the method can refuse.
const done = "return \x00"

var partReturns = returns{
	took:        func(int) string { return done },
	ignored:     func(int) string { return done },
	deferred:    func(int) string { return "return false" },
	refused:     func(int, bool) string { return "return false" },
	unexplained: func(bool) string { return "return false" },
	settles:     true,
}

var settleReturns = returns{
	took:        func(int) string { return "continue" },
	ignored:     func(int) string { return "continue" },
	deferred:    func(int) string { return "return false" },
	refused:     func(int, bool) string { return "return false" },
	unexplained: func(bool) string { return "return false" },
}

var expiryReturns = returns{
	took:        func(int) string { return "return fsm.Took" },
	ignored:     func(int) string { return "return fsm.Ignored" },
	deferred:    func(int) string { return "return fsm.Deferred" },
	refused:     func(int, bool) string { return "return fsm.Refused" },
	unexplained: func(bool) string { return "return fsm.Refused" },
	settles:     true,
}

// handle composes what a state does with an event; args are the event's fields.
func (c *body) handle(h *model.Handler, args []val, ret returns) {
	if h.Mode != model.Handle {
		c.mode(h, ret)
		return
	}
	outer := c.f
	c.f = &facts{}
	dirty := c.dirty
	text := c.inner(func() {
		if h.Event.Kind == model.EventTimer {
			index := ""
			for i, k := range h.Event.Timer.Keys {
				index = nextIndex(index, c.g.index(args[i], k.Type), k)
			}
			if index != "" {
				index = "[" + index + "]"
			}
			c.out.p("m.%s%s = false", c.r.timers[h.Event.Timer.Index], index)
			c.changed()
		}
		guarded := true
		for _, t := range h.Branches {
			if c.branch(t, args, ret); t.When == nil {
				guarded = false
				break
			}
		}
		if guarded {
			c.refuse = ret.unexplained
			c.out.p("%s", c.fault())
		}
	})
	if ret.saves && strings.Contains(text, "&old") && (h.Event.Kind == model.EventTimer || strings.Contains(text, "&old, fx, fsm.NoTransition")) {
		text = "old := *m\n" + strings.ReplaceAll(text, "\nold := *m\n", "\n")
	}
	c.out.WriteString(text)
	c.dirty = dirty
	outer.and(c.f)
	outer.waits = outer.waits || c.f.waits
	c.f = outer
}

// mode composes ignore and defer.
func (c *body) mode(h *model.Handler, ret returns) {
	id, end := -1, ret.ignored
	if h.Mode == model.Defer {
		end = ret.deferred
	}
	if len(h.Branches) > 0 {
		id = h.Branches[0].ID
		c.out.p("%s", c.g.at(h.Branches[0].Span.File, h.Branches[0].Span.Start.Line))
	}
	s := end(id)
	c.out.p("%s", strings.Replace(s, "(-1)", "(fsm.NoTransition)", 1))
	if strings.HasSuffix(s, "false") {
		c.f.refuses = true
		c.f.refusesDirty = c.f.refusesDirty || c.dirty
	}
}

// branch composes one branch: guard, statements, goto, entry.
func (c *body) branch(t *model.Transition, args []val, ret returns) {
	c.locals = map[*model.Local]val{}
	for i, l := range t.Params {
		c.locals[l] = args[i]
	}
	dirty := c.dirty
	c.refuse = ret.unexplained
	note := c.g.at(t.Span.File, t.Span.Start.Line)
	if t.Doc != "" {
		note += " " + strings.Join(strings.Fields(t.Doc), " ")
	}
	c.out.p("%s", note)
	if t.When != nil {
		c.out.p("if %s {", c.value(t.When).s)
	}
	c.refuse = func(dirty bool) string { return ret.refused(t.ID, dirty) }
	outer := c.f
	c.f = &facts{}
	body := c.inner(func() { c.taken(t, ret) })
	if ret.saves && c.f.refusesDirty {
		c.out.p("old := *m")
	}
	c.out.WriteString(body)
	outer.and(c.f)
	outer.waits = outer.waits || c.f.waits
	c.f = outer
	if t.When != nil {
		c.out.p("}")
		c.dirty = dirty
	}
}

// taken composes what follows the guard.
func (c *body) taken(t *model.Transition, ret returns) {
	if c.r.part == nil && c.r.queue != "" {
		c.out.p("fx.fired = append(fx.fired, %d)", t.ID)
	}
	if !c.statements(t.Body) {
		return
	}
	entered := t.To
	if t.To != nil {
		c.out.p("m.State = %s", c.r.states[t.To.Index])
		c.changed()
		if t.To.Final && c.r.part != nil {
			c.finished()
		}
	} else if t.Event.Kind == model.EventStart && t.From == c.r.m.Initial {
		entered = t.From
	}
	if entered != nil && !c.entry(entered) {
		return
	}
	c.settle(ret)
	c.out.p("%s", ret.took(t.ID))
}

// entry composes the entry of a state.
func (c *body) entry(s *model.State) bool {
	if len(s.Entry) == 0 {
		return true
	}
	c.out.p("%s entry", c.g.at(s.Entry[0].Pos().File, s.Entry[0].Pos().Start.Line))
	c.locals = map[*model.Local]val{}
	return c.statements(s.Entry)
}

// finished lets part.finished wait for the parent.
func (c *body) finished() {
	for _, w := range c.r.up.waiting {
		if w.ev.Kind == model.EventFinished && w.ev.Part == c.r.part {
			c.enqueue(w, nil)
			return
		}
	}
}

// settle composes the call that handles what parts reported, if they can have.
func (c *body) settle(ret returns) {
	if !ret.settles || !c.f.waits {
		return
	}
	f := c.g.settleFacts(c.r)
	args := []string{"fx"}
	for _, k := range c.r.keys {
		args = append(args, k.name)
	}
	c.dirty = true
	if f.changes {
		c.changed()
	}
	c.f.queues = c.f.queues || f.queues
	c.check("!m.settle(%s)", strings.Join(args, ", "))
}

// newBody starts the composition of a function of machine r.
func (g *gen) newBody(r *machine, extra ...string) *body {
	c := &body{g: g, r: r, out: &text{}, names: g.locals(), locals: map[*model.Local]val{}, f: &facts{}}
	for _, k := range r.keys {
		c.names.take(k.name)
	}
	for _, n := range extra {
		c.names.take(n)
	}
	return c
}

// handlerWords are how the methods by which a part takes its events are called, and what is said of them.
var handlerWords = map[model.EventKind]struct{ method, what string }{
	model.EventMessage: {"receive", "the message"}, model.EventCommand: {"command", "the command"}, model.EventTimer: {"expire", "the expiry of timer"},
	model.EventUp: {"link", "the event"}, model.EventLost: {"link", "the event"},
}

// handler gives the method by which a part takes an event, composing it at its first use.
func (g *gen) handler(r *machine, ev *model.Event) *facts {
	id := fmt.Sprintf("%d %s", ev.Kind, ev.Name)
	if f := r.done[id]; f != nil {
		return f
	}
	c := g.newBody(r)
	word := handlerWords[ev.Kind]
	c.f.name = r.calls.take(word.method + GoName(ev.Name))
	r.done[id] = c.f
	params := []string{"fx *" + r.role.effects}
	for _, k := range r.keys {
		params = append(params, k.name+" "+g.typ(k.field.Type, "").name)
	}
	args := make([]val, len(ev.Fields))
	for i, f := range ev.Fields {
		name := c.names.local(f.Name)
		g.typ(f.Type, r.prefix+GoName(ev.Name)+GoName(f.Name))
		params = append(params, name+" "+g.typ(f.Type, "").name)
		args[i] = val{s: name, prec: precPrimary, t: f.Type, addr: true}
	}
	ret, result := partReturns, "bool"
	if ev.Kind == model.EventTimer {
		ret, result = expiryReturns, "fsm.Code"
	}
	all := true
	c.out.p("switch m.State {")
	for _, st := range r.m.States {
		h := handlerOf(st, ev)
		if h == nil {
			all = false
			continue
		}
		c.out.p("case %s:", r.states[st.Index])
		c.dirty = false
		c.handle(h, args, ret)
	}
	c.out.p("}")
	silent := ev.Kind == model.EventUp || ev.Kind == model.EventLost // where they are not mentioned they are ignored
	if !all && !silent {
		c.f.refuses = true
	}
	code := c.out.String()
	switch {
	case ev.Kind == model.EventTimer:
		code += "return fsm.Refused\n"
	case c.f.refuses:
		code = strings.ReplaceAll(code, done, "return true") + fmt.Sprintf("return %v\n", silent)
	default:
		code, result = strings.ReplaceAll(code, done, "return"), ""
	}
	doc := fmt.Sprintf("gives the part %s %s.", word.what, ev.Name)
	if result == "bool" {
		doc = fmt.Sprintf("gives the part %s %s; false: refused.", word.what, ev.Name)
	}
	r.methods.p("\n%s\nfunc (m *%s) %s(%s) %s {\n%s}", comment(c.f.name, doc), r.typ, c.f.name, strings.Join(params, ", "), result, code)
	return c.f
}

func handlerOf(st *model.State, ev *model.Event) *model.Handler {
	if ev.Index < 0 || ev.Index >= len(st.Handlers) {
		return nil
	}
	return st.Handlers[ev.Index]
}

// settleFacts composes the method that handles waiting events of parts.
func (g *gen) settleFacts(r *machine) *facts {
	if r.settled != nil {
		return r.settled
	}
	c := g.newBody(r, "i", "next")
	c.dirty, c.f.refuses, c.f.refusesDirty = true, true, true
	r.settled = c.f
	params := []string{"fx *" + r.role.effects}
	for _, k := range r.keys {
		params = append(params, k.name+" "+g.typ(k.field.Type, "").name)
	}
	for _, st := range r.m.States {
		cases := c.inner(func() {
			for _, w := range r.waiting {
				if h := handlerOf(st, w.ev); h != nil {
					c.out.p("case %s:", w.kind)
					c.handle(h, w.args("next"), settleReturns)
				}
			}
		})
		if cases != "" {
			c.out.p("case %s:\nswitch next.kind {\n%s}", r.states[st.Index], cases)
		}
	}
	next := "next := fx." + r.queue + "[i]"
	if !mentions(c.out.String(), "next") {
		next = ""
	}
	end := ""
	if r.part != nil {
		end = fmt.Sprintf("fx.%s = fx.%s[:0]\n", r.queue, r.queue)
	}
	var t text
	t.p("\n%s", comment("settle", "handles what the parts reported in this step, oldest first; false: refused."))
	t.p("func (m *%s) settle(%s) bool {", r.typ, strings.Join(params, ", "))
	t.p("for i := 0; i < len(fx.%s); i++ {\nif fx.settled++; fx.settled > maxQueued {\nreturn false\n}\n%s\nswitch m.State {\n%s}\nreturn false\n}\n%sreturn true\n}",
		r.queue, next, c.out.String(), end)
	r.methods.WriteString(t.String())
	return c.f
}

// args are the fields of a waiting event.
func (w waiting) args(from string) []val {
	out := make([]val, len(w.ev.Fields))
	for i, f := range w.ev.Fields {
		out[i] = val{s: from + "." + w.member + "." + w.fields[i], prec: precPrimary, t: f.Type, addr: true}
	}
	return out
}

// args are the fields of an event from outside.
func (e roleEvent) args(g *gen) []val {
	out := make([]val, len(e.ev.Fields))
	if e.ev.Kind == model.EventTimer { // one of the role's own: the number of the instance is all there is
		c := g.newBody(&machine{})
		for i, x := range keysFrom("ev.Key", e.ev.Fields) {
			t := e.ev.Fields[i].Type
			out[i] = val{s: c.fromIndex(x, t), prec: precPrimary, t: t}
		}
		return out
	}
	for i, f := range e.ev.Fields {
		s := "ev." + e.member + "." + e.fields[i]
		if e.ev.Kind == model.EventMessage {
			s = "ev.Message." + g.messages[e.ev.Message.Index].member + "." + e.fields[i]
		}
		out[i] = val{s: s, prec: precPrimary, t: f.Type, addr: true}
	}
	return out
}
