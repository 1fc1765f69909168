package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// inlineBranches is how many branches a role may have for Step to be one
// function; a larger one gets a method for each state.
const inlineBranches = 40

// stepCode composes Step and what it calls; the methods of parts are left with them.
func (g *gen) stepCode(r *machine) string {
	var states, methods text
	split := len(r.m.Transitions) > inlineBranches
	for _, st := range r.m.States {
		cases := g.stateCases(r, st)
		if cases == "" {
			continue
		}
		if !split {
			states.p("case %s:\nswitch ev.Kind {\n%s}", r.states[st.Index], cases)
			continue
		}
		name := "in" + strings.TrimPrefix(r.states[st.Index], r.state)
		states.p("case %s:\nreturn m.%s(ev, fx)", r.states[st.Index], name)
		methods.p("\n%s\nfunc (m *%s) %s(ev *%s, fx *%s) fsm.Result {\nswitch ev.Kind {\n%s}\nreturn m.unmentioned(ev, fx)\n}",
			comment(name, "is Step in the state "+st.Name+"."), r.typ, name, r.event, r.effects, cases)
	}
	var t text
	t.p("%s", comment("Step", "gives the machine one event and fills fx with what is to be done, in order. If the event is refused, deferred or ignored nothing has changed and fx is empty."))
	t.p("func (m *%s) Step(ev *%s, fx *%s) fsm.Result {\nfx.reset(ev.From)", r.typ, r.event, r.effects)
	if g.eventChecks(r) != "" {
		t.p("if ev.invalid() {\nreturn refused(fsm.NoTransition)\n}")
	}
	g.alarmCases(r, &t)
	if states.Len() > 0 {
		t.p("switch m.State {\n%s}", states.String())
	}
	rest := g.unmentioned(r)
	if split {
		t.p("return m.unmentioned(ev, fx)\n}")
		methods.p("\n%s\nfunc (m *%s) unmentioned(ev *%s, fx *%s) fsm.Result {\n%s}",
			comment("unmentioned", "is what becomes of an event that the state does not mention."), r.typ, r.event, r.effects, rest)
	} else {
		t.p("%s}", rest)
	}
	t.WriteString(methods.String())
	t.WriteString(r.methods.String()) // settle
	all := t.String()
	if strings.Contains(all, "m.undo(") {
		t.p("\n%s\nfunc (m *%s) undo(old *%s, fx *%s, transition uint16) fsm.Result {\n*m = *old\nfx.reset(fx.from)\nreturn refused(transition)\n}",
			comment("undo", "refuses a step after something has changed."), r.typ, r.typ, r.effects)
	}
	return t.String()
}

// stateCases composes the cases of one state.
func (g *gen) stateCases(r *machine, st *model.State) string {
	var t text
	var mentioned []roleEvent
	for _, e := range r.events {
		if e.ev.Kind == model.EventTimer && r.alarms[e.alarm].of != r {
			continue
		}
		if handlerOf(st, e.ev) != nil {
			mentioned = append(mentioned, e)
		}
	}
	slices.SortStableFunc(mentioned, func(a, b roleEvent) int { return firstBranch(st, a.ev) - firstBranch(st, b.ev) })
	for _, e := range mentioned {
		h := handlerOf(st, e.ev)
		c := g.newBody(r)
		c.handle(h, e.args(g), stepReturns)
		t.p("case %s:\n%s", e.kind, strings.TrimSuffix(c.out.String(), "\n"))
	}
	return t.String()
}

// firstBranch is the place of an event among those of a state, as the author wrote them.
func firstBranch(st *model.State, ev *model.Event) int {
	if h := handlerOf(st, ev); len(h.Branches) > 0 {
		return h.Branches[0].ID
	}
	return -1
}

// alarmCases composes the expiry of timers that are not armed, and of those of parts.
func (g *gen) alarmCases(r *machine, t *text) {
	if len(r.alarms) == 0 {
		return
	}
	t.p("switch ev.Kind {")
	for _, e := range r.events {
		if e.ev.Kind != model.EventTimer {
			continue
		}
		a := r.alarms[e.alarm]
		if a.of == r {
			place := "m." + r.timers[a.timer.Index]
			t.p("case %s:", e.kind)
			if len(a.timer.Keys) > 0 {
				t.p("if ev.Key >= %d {\nreturn refused(fsm.NoTransition)\n}", a.timer.Count)
				place += "[ev.Key]"
			}
			t.p("if !%s {\nreturn ignored(fsm.NoTransition)\n}", place)
			continue
		}
		t.p("case %s:", e.kind)
		g.partExpiry(r, a, t)
	}
	t.p("}")
}

// partExpiry composes the expiry of a part's timer, which the part takes itself; then
// the machines around it handle what it reported, from the inside out.
func (g *gen) partExpiry(r *machine, a alarm, t *text) {
	p := a.of
	keys := a.keys()
	if len(keys) > 0 {
		t.p("if ev.Key >= %d {\nreturn refused(fsm.NoTransition)\n}", instances(keys))
	}
	index := keysFrom("ev.Key", keys)
	args := []string{"fx"}
	for i, k := range keys {
		args = append(args, g.newBody(r).fromIndex("("+index[i]+")", k.Type))
	}
	at := map[*machine]string{r: "m"}
	for _, x := range p.way() {
		at[x] = at[x.up] + "." + x.up.member(x)
		for i := len(x.up.keys); i < len(x.keys); i++ {
			at[x] += "[" + index[i] + "]"
		}
	}
	armed := ""
	for i, k := range a.timer.Keys {
		armed = nextIndex(armed, index[len(p.keys)+i], k)
	}
	if armed != "" {
		armed = "[" + armed + "]"
	}
	t.p("if !%s.%s%s {\nreturn ignored(fsm.NoTransition)\n}\nold := *m", at[p], p.timers[a.timer.Index], armed)
	f := g.handler(p, p.expiry(a.timer))
	t.p("switch %s.%s(%s) {\ncase fsm.Ignored:\nreturn ignored(fsm.NoTransition)\ncase fsm.Deferred:\nreturn deferred(fsm.NoTransition)\ncase fsm.Refused:\nreturn m.undo(&old, fx, fsm.NoTransition)\n}",
		at[p], f.name, strings.Join(args, ", "))
	for up := p.up; up != nil && f.queues; up = up.up {
		f = g.settleFacts(up)
		t.p("if !%s.settle(%s) {\nreturn m.undo(&old, fx, fsm.NoTransition)\n}", at[up], strings.Join(args[:1+len(up.keys)], ", "))
	}
	t.p("return took(fsm.NoTransition)")
}

// instances counts the combinations of keys.
func instances(keys []*model.Field) int {
	n := 1
	for _, k := range keys {
		n *= int(k.Type.Count())
	}
	return n
}

// keysFrom composes the index of each key from the number of an instance.
func keysFrom(number string, keys []*model.Field) []string {
	count := instances(keys)
	index := make([]string, len(keys))
	for i, k := range keys {
		n := int(k.Type.Count())
		count /= n
		index[i] = fmt.Sprintf("%s/%d%%%d", number, count, n)
		switch {
		case len(keys) == 1:
			index[i] = number
		case count == 1:
			index[i] = fmt.Sprintf("%s%%%d", number, n)
		}
	}
	return index
}

// way lists the parts that lead from the role to r, r included.
func (r *machine) way() []*machine {
	if r.part == nil {
		return nil
	}
	return append(r.up.way(), r)
}

func (r *machine) expiry(t *model.Timer) *model.Event { return timerEvent(r.m, t) }

// unmentioned composes what becomes of events that the state does not mention.
func (g *gen) unmentioned(r *machine) string {
	var t text
	var outside []string
	start := ""
	for _, e := range r.events {
		switch e.ev.Kind {
		case model.EventUp, model.EventLost:
			outside = append(outside, e.kind)
		case model.EventStart:
			start = e.kind
		}
	}
	t.p("switch ev.Kind {\ncase %s:\nreturn ignored(fsm.NoTransition)\ncase %s:", strings.Join(outside, ", "), start)
	c := g.newBody(r)
	ret := stepReturns
	c.refuse = ret.unexplained
	entry := c.inner(func() {
		if c.entry(r.m.Initial) {
			c.settle(ret)
		}
	})
	if c.f.refusesDirty {
		entry = "old := *m\n" + entry
	}
	if entry != "" {
		t.p("if m.State == %s {\n%s}", r.states[r.m.Initial.Index], entry)
	}
	t.p("return took(fsm.NoTransition)\n}\nreturn refused(fsm.NoTransition)")
	return t.String()
}

// constructor composes the function that makes a machine.
func (g *gen) constructor(r *machine) string {
	c := g.newBody(r)
	var params, checks []string
	name := g.creator(r)
	fail := "return m, errors.New(%q)"
	var t text
	fields := []string{}
	if r.m.Initial.Index != 0 {
		fields = append(fields, "State: "+r.states[r.m.Initial.Index])
	}
	for i, p := range r.m.Params {
		n := c.names.local(p.Name)
		params = append(params, n+" "+g.typ(p.Type, "").name)
		fields = append(fields, r.params[i]+": "+n)
		if v := g.invalid(p.Type, n); v != "" {
			checks = append(checks, fmt.Sprintf("if %s {\n"+fail+"\n}", v,
				fmt.Sprintf("%s: parameter %s is no %s", r.m.Name, p.Name, model.TypeString(p.Type))))
		}
	}
	faults := false
	c.refuse = func(bool) string {
		faults = true
		return fmt.Sprintf(fail, r.m.Name+": a value of a part is outside its range")
	}
	for i, v := range r.m.Vars {
		if v.Init != nil {
			if l, ok := v.Init.(*model.Lit); !ok || l.Value != 0 {
				c.out.p("m.%s = %s", r.vars[i], c.store(v.Init, v.Type))
			}
		} else if z := g.zero(v.Type); z != "" {
			c.out.p("m.%s = %s", r.vars[i], z)
		}
	}
	for _, p := range r.parts {
		c.create(p, "m."+r.member(p), map[*model.Local]val{}, 0)
	}
	errs := faults || len(checks) > 0 && r.part == nil
	if faults && r.part != nil {
		g.fail(r.part.Span, "a part whose parameters can be outside their range is not supported in generated code")
	}
	result, end := r.typ, "return m"
	if errs {
		result, end = "("+r.typ+", error)", "return m, nil"
	}
	doc := "makes a " + r.typ + " in its initial state."
	if errs {
		doc += " The error says which parameter is wrong."
	}
	t.p("%s", comment(name, doc))
	literal := r.typ + "{" + strings.Join(fields, ", ") + "}"
	if r.part != nil {
		checks = nil
	}
	if c.out.Len() == 0 && len(checks) == 0 {
		t.p("func %s(%s) %s { return %s }", name, strings.Join(params, ", "), result, literal)
		return t.String()
	}
	t.p("func %s(%s) %s {\nm := %s\n%s%s%s\n}", name, strings.Join(params, ", "), result, literal, lines(checks), c.out.String(), end)
	return t.String()
}

func lines(l []string) string {
	if len(l) == 0 {
		return ""
	}
	return strings.Join(l, "\n") + "\n"
}

// create composes the creation of all instances of a part.
func (c *body) create(p *machine, at string, keys map[*model.Local]val, level int) {
	if level < len(p.part.Keys) {
		k := p.part.Keys[level]
		x := c.names.local(k.Name)
		keys[p.part.KeyLocals[level]] = val{s: x, prec: precPrimary, t: k.Type, addr: true}
		head, first := c.valuesLoop(x, k.Type, &model.None{ExprBase: model.ExprBase{Span: p.part.Span}})
		inside := c.inner(func() {
			c.create(p, at+"["+c.g.index(val{s: x, prec: precPrimary, t: k.Type}, k.Type)+"]", keys, level+1)
		})
		if inside != "" {
			c.out.p("%s {\n%s%s}", head, first, inside)
		}
		return
	}
	if c.g.plain(p) {
		return
	}
	outer := c.locals
	c.locals = keys
	c.out.p("%s = %s", at, c.creation(p))
	c.locals = outer
	if c.f.refuses && c.r.part != nil { // the function that makes a part has no way to refuse
		c.g.fail(p.part.Span, "a part inside a part, whose parameters can be outside their range, is not supported in generated code")
	}
}

// plain says whether Go's zero value is the beginning of a part.
func (g *gen) plain(r *machine) bool {
	if r.m.Initial.Index != 0 || len(r.m.Params) > 0 {
		return false
	}
	for _, v := range r.m.Vars {
		if l, ok := v.Init.(*model.Lit); v.Init != nil && (!ok || l.Value != 0) || v.Init == nil && g.zero(v.Type) != "" {
			return false
		}
	}
	for _, p := range r.parts {
		if !g.plain(p) {
			return false
		}
	}
	return true
}

// creator names the function that makes a machine.
func (g *gen) creator(r *machine) string {
	if r.part == nil {
		return g.maker(r.typ)
	}
	return g.top.own("make "+r.typ, "new"+r.typ)
}

// creation composes the initial value of a part; the locals are the part's keys.
func (c *body) creation(p *machine) string {
	var args []string
	for i, param := range p.m.Params {
		args = append(args, c.store(p.part.Args[i], param.Type))
	}
	p.created = true
	return c.g.creator(p) + "(" + strings.Join(args, ", ") + ")"
}
