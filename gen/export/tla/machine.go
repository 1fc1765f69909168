package tla

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// stateField is the field of a machine's record that has its control state. No name of a specification is the same.
const stateField = "state_"

// machines writes the operators of all machines of the check, those of parts before those of what they are parts of.
func (m *module) machines() {
	var order []*core.Machine
	var visit func(code *core.Machine)
	visit = func(code *core.Machine) {
		if slices.Contains(order, code) {
			return
		}
		for _, p := range code.Parts {
			visit(p.Machine)
		}
		order = append(order, code)
	}
	for _, inst := range m.c.Instances {
		visit(m.codes[inst.Role])
	}
	for _, code := range order {
		m.machine(code)
	}
}

// machine writes the operators of one machine.
func (m *module) machine(code *core.Machine) {
	name := m.prefix[code.Model]
	m.section("%s %s", map[bool]string{true: "part", false: "role"}[m.part[code.Model]], code.Model.Name)
	m.create(code)
	m.older(code)
	if m.has["crash"] {
		m.crashed(code)
		m.restarted(code)
	}
	for _, p := range code.Parts {
		m.after(code, p)
	}
	for _, ev := range code.Model.Events {
		m.handle(code, ev)
	}
	if len(m.partEvents(code.Model)) > 0 {
		m.drain(code)
	}
	for k, t := range m.alarms(code) {
		m.define(fmt.Sprintf("%s_Expiry%d(s, i)", name, k+1), m.expiry(code, t, "s"))
	}
	m.timerList(code)
	if slices.ContainsFunc(m.c.Instances, func(in *model.Instance) bool { return in.Role == code.Model }) {
		m.step(code)
	}
}

// create writes the value with which a machine begins, from its parameters.
func (m *module) create(code *core.Machine) {
	mach := code.Model
	sc := &scope{m: m, self: "v", mach: mach, locals: map[*model.Local]string{}}
	var fields, params []string
	for k, p := range mach.Params {
		params = append(params, fmt.Sprintf("%s |-> a[%d]", m.field(mach, p.Name), k+1))
	}
	fields = append(fields, stateField+" |-> "+quoted(mach.Initial.Name))
	fields = append(fields, params...)
	for k, v := range mach.Vars {
		text := m.zero(v.Type)
		if e := code.Inits[k]; e != nil {
			core.Walk(e, func(e core.Expr) {
				if r, ok := e.(*core.Read); ok && (r.What != core.ReadVar || !slices.Contains(mach.Params, r.Var)) {
					refuse("a variable that begins as another one (%s)", e.Node().Pos())
				}
			})
			text = sc.eval(e).text
		}
		fields = append(fields, m.field(mach, v.Name)+" |-> "+text)
	}
	for _, t := range mach.Timers {
		fields = append(fields, m.field(mach, t.Name)+" |-> "+m.timers(t))
	}
	for _, p := range code.Parts {
		fields = append(fields, m.field(mach, p.Model.Name)+" |-> "+m.newPart(mach, p, "v"))
	}
	text := "[" + strings.Join(fields, ",\n") + "]"
	if len(params) > 0 {
		text = "LET v == " + record(params) + " IN\n" + text
	}
	m.define(m.prefix[mach]+"_New(a)", text)
}

// zero writes the zero value of a type.
func (m *module) zero(t *model.Type) string {
	v := make([]int64, t.Slots())
	interp.Zero(t, v)
	return m.literal(t, v)
}

// newPart writes the value with which a part begins; v is that of its parent.
func (m *module) newPart(mach *model.Machine, p *core.Part, v string) string {
	args := func(keys []string) string {
		sc := &scope{m: m, self: v, mach: mach, locals: map[*model.Local]string{}}
		for k, l := range p.Model.KeyLocals {
			sc.locals[l] = keys[k]
		}
		return m.prefix[p.Machine.Model] + "_New(" + sc.list(p.Args).text + ")"
	}
	if len(p.Model.Keys) == 0 {
		return args(nil)
	}
	k := m.fresh("k")
	var keys []string
	for i := range p.Model.Keys {
		keys = append(keys, k)
		if len(p.Model.Keys) > 1 {
			keys[i] = fmt.Sprintf("%s[%d]", k, i+1)
		}
	}
	all := m.keys(p.Model.Keys, p.Model.Count, func(i int) []int64 { return interp.PartKeys(p.Model, i) })
	return "[" + k + " \\in {" + strings.Join(all, ", ") + "} |-> " + args(keys) + "]"
}

// each writes what becomes of a part, or of each of its instances.
func (m *module) each(p *model.Part, place string, f func(part string) string) string {
	if len(p.Keys) == 0 {
		return f(place)
	}
	k := m.fresh("k")
	return "[" + k + " \\in DOMAIN " + place + " |-> " + f(place+"["+k+"]") + "]"
}

// update writes a record with some fields changed.
func update(v string, changes []string) string {
	if len(changes) == 0 {
		return v
	}
	return "[" + v + " EXCEPT " + strings.Join(changes, ", ") + "]"
}

// older writes the value of a machine when a beat was felt.
func (m *module) older(code *core.Machine) {
	if !m.has["time"] {
		return
	}
	var changes []string
	for _, t := range code.Model.Timers {
		f := m.field(code.Model, t.Name)
		text := "OlderTimer(v." + f + ")"
		if len(t.Keys) > 0 {
			k := m.fresh("k")
			text = "[" + k + " \\in DOMAIN v." + f + " |-> OlderTimer(v." + f + "[" + k + "])]"
		}
		changes = append(changes, "!."+f+" = "+text)
	}
	for _, p := range code.Parts {
		f := m.field(code.Model, p.Model.Name)
		changes = append(changes, "!."+f+" = "+m.each(p.Model, "v."+f, func(part string) string {
			return m.prefix[p.Machine.Model] + "_Older(" + part + ")"
		}))
	}
	m.define(m.prefix[code.Model]+"_Older(v)", update("v", changes))
}

// crashed writes what is left of a machine after a crash; b is its value before the step that the crash cuts short.
func (m *module) crashed(code *core.Machine) {
	mach := code.Model
	var changes []string
	for _, t := range mach.Timers {
		changes = append(changes, "!."+m.field(mach, t.Name)+" = "+m.timers(t))
	}
	for _, v := range mach.Vars {
		f := m.field(mach, v.Name)
		switch {
		case v.Ghost != model.GhostOfReports:
		case v.Kept:
			changes = append(changes, "!."+f+" = b."+f)
		default:
			changes = append(changes, "!."+f+" = "+m.literal(v.Type, make([]int64, v.Type.Slots())))
		}
	}
	for _, p := range code.Parts {
		f := m.field(mach, p.Model.Name)
		if p.Model.Monitor {
			changes = append(changes, "!."+f+" = b."+f)
			continue
		}
		changes = append(changes, "!."+f+" = "+m.each(p.Model, "v."+f, func(part string) string {
			return m.prefix[p.Machine.Model] + "_Stopped(" + part + ")"
		}))
	}
	m.define(m.prefix[mach]+"_Crashed(b, v)", update("v", changes))
	// A part's own ghosts are looked at by nobody: only its timers stop.
	changes = nil
	for _, t := range mach.Timers {
		changes = append(changes, "!."+m.field(mach, t.Name)+" = "+m.timers(t))
	}
	for _, p := range code.Parts {
		f := m.field(mach, p.Model.Name)
		changes = append(changes, "!."+f+" = "+m.each(p.Model, "v."+f, func(part string) string {
			return m.prefix[p.Machine.Model] + "_Stopped(" + part + ")"
		}))
	}
	m.define(m.prefix[mach]+"_Stopped(v)", update("v", changes))
}

// restarted writes the value with which a machine begins anew: v, with what it keeps of o.
func (m *module) restarted(code *core.Machine) {
	mach := code.Model
	var changes []string
	for _, v := range mach.Vars {
		if v.Kept {
			f := m.field(mach, v.Name)
			changes = append(changes, "!."+f+" = o."+f)
		}
	}
	for _, p := range code.Parts {
		f := m.field(mach, p.Model.Name)
		if p.Model.Monitor {
			changes = append(changes, "!."+f+" = o."+f)
			continue
		}
		text := m.prefix[p.Machine.Model] + "_Restarted(v." + f + ", o." + f + ")"
		if len(p.Model.Keys) > 0 {
			k := m.fresh("k")
			text = "[" + k + " \\in DOMAIN v." + f + " |-> " + m.prefix[p.Machine.Model] + "_Restarted(v." + f +
				"[" + k +
				"], o." + f + "[" + k + "])]"
		}
		changes = append(changes, "!."+f+" = "+text)
	}
	m.define(m.prefix[mach]+"_Restarted(v, o)", update("v", changes))
}

// after writes what a machine does with the effects of a part: k are the part's keys, r is the part's step.
func (m *module) after(code *core.Machine, p *core.Part) {
	mach := code.Model
	sc := &scope{m: m, self: "t.v", mach: mach, sender: "f", locals: map[*model.Local]string{}}
	for i, l := range p.Model.KeyLocals {
		sc.locals[l] = fmt.Sprintf("k[%d]", i+1)
	}
	place := "." + m.field(mach, p.Model.Name)
	switch len(p.Model.Keys) {
	case 0:
	case 1:
		place += "[k[1]]"
	default:
		place += "[k]"
	}
	to, toOK := "x[3]", ""
	if p.To != nil {
		notInParts(p.To)
		v := sc.eval(p.To)
		to, toOK = "(IF x[3] = ToPeer THEN "+v.text+" ELSE x[3])", v.ok
		if toOK != "" {
			toOK = "(x[3] = ToPeer => " + toOK + ")"
		}
	}
	var arms []string
	sends := map[string]string{}
	var names []string
	for i, msg := range p.Machine.Model.Messages {
		text := "t"
		if ps := p.Sends[i]; ps != nil {
			text = m.mapped(sc, ps, to, toOK)
		}
		names = append(names, msg.Name)
		sends[msg.Name] = text
	}
	if len(names) > 0 {
		var inner []string
		for _, n := range names {
			inner = append(inner, "x[2][1] = "+quoted(n)+" -> "+sends[n])
		}
		arms = append(arms, "x[1] = \"send\" -> (CASE "+strings.Join(inner, "\n[] ")+")")
	}
	closing := guard(toOK, "t", "Close(t, "+strings.ReplaceAll(to, "x[3]", "x[2]")+")")
	arms = append(arms, "x[1] = \"close\" -> ("+strings.ReplaceAll(closing, "x[3]", "x[2]")+")")
	for _, ev := range mach.Events {
		if ev.Part != p.Model {
			continue
		}
		switch ev.Kind {
		case model.EventReport:
			arms = append(arms, "x[1] = \"tell\" /\\ x[2] = "+quoted(ev.Report.Name)+" -> Queue(t, "+quoted(ev.Name)+
				", k \\o x[3])")
		case model.EventFinished:
			arms = append(arms, "x[1] = \"tell\" /\\ x[2] = \"\" -> Queue(t, "+quoted(ev.Name)+", k)")
		}
	}
	arms = append(arms, "OTHER -> t")
	m.define(m.prefix[mach]+"_"+identifier(p.Model.Name)+"_After(s, i, f, k, r)",
		"LET e[j \\in 0..Len(r.fx)] ==\nIF j = 0 THEN [s EXCEPT !.v"+place+" = r.v, !.n = r.n] ELSE\n"+
			"LET t == e[j - 1]\nx == r.fx[j] IN\nIF t.err # \"\" THEN t ELSE\nCASE "+strings.Join(arms, "\n[] ")+
			"\nIN LET u == e[Len(r.fx)] IN\nIF u.err = \"\" THEN [u EXCEPT !.err = r.err] ELSE u")
}

// mapped writes the message that a machine sends instead of that of a part, x[2].
func (m *module) mapped(sc *scope, ps *core.PartSend, to, toOK string) string {
	in := sc.with()
	for k, l := range ps.Model.Params {
		in.locals[l] = fmt.Sprintf("x[2][%d]", k+2)
	}
	for _, e := range ps.Send.Fields {
		notInParts(e)
	}
	v := in.message(ps.Send.Message, ps.Send.Fields)
	if ps.Send.Dest != model.ToPeer {
		d := in.destination(ps.Send.Dest, ps.Send.To)
		to, toOK = d.text, all(toOK, d.ok)
	}
	return "(" + guard(all(toOK, v.ok), "t", "Send(t, "+v.text+", "+to+")") + ")"
}

// notInParts refuses a mapping that reads a variable of a part: the part may have changed it since it sent.
func notInParts(e core.Expr) {
	core.Walk(e, func(e core.Expr) {
		if r, ok := e.(*core.Read); ok && len(r.Path) > 0 {
			refuse("a message of a part into which the variable of a part is put (%s)", e.Node().Pos())
		}
	})
}

// handle writes what a machine does with an event in each of its states.
func (m *module) handle(code *core.Machine, ev *model.Event) {
	mach := code.Model
	type arm struct {
		states []string
		text   string
	}
	var arms []arm
	other := "Refused(s)"
	if ev.Kind == model.EventUp || ev.Kind == model.EventLost {
		other = "Ignored(s)"
	} else if ev.Kind == model.EventStart {
		other = "s"
	}
	from := m.count
	most := from
	for _, st := range code.States {
		m.count = from
		text := m.inState(code, st, ev)
		most = max(most, m.count)
		if text == other {
			continue
		}
		k := slices.IndexFunc(arms, func(a arm) bool { return a.text == text })
		if k < 0 {
			k = len(arms)
			arms = append(arms, arm{text: text})
		}
		arms[k].states = append(arms[k].states, quoted(st.Model.Name))
	}
	m.count = most
	name := m.prefix[mach] + "_" + m.event(mach, ev) + "(s, i, f, a)"
	var list []string
	for _, a := range arms {
		list = append(list, among("s.v."+stateField, a.states)+" ->\n("+a.text+")")
	}
	if len(arms) == 0 {
		m.define(name, other)
		return
	}
	m.define(name, "CASE "+strings.Join(append(list, "OTHER -> "+other), "\n[] "))
}

// inState writes what a state does with an event.
func (m *module) inState(code *core.Machine, st *core.State, ev *model.Event) string {
	var h *core.Handler
	if ev.Index < len(st.Handlers) {
		h = st.Handlers[ev.Index]
	}
	cur, let := "s", ""
	if ev.Kind == model.EventTimer {
		cur = m.fresh("s")
		place := m.field(code.Model, ev.Timer.Name)
		switch n := len(ev.Timer.Keys); {
		case n == 1:
			place += "[a[1]]"
		case n > 1:
			place += "[a]"
		}
		let = "LET " + cur + " == [s EXCEPT !.v." + place + " = " + m.stopped() + "] IN\n"
	}
	switch {
	case h == nil && ev.Kind == model.EventStart && st.Model == code.Model.Initial:
		return m.entry(code, st, cur)
	case h == nil && ev.Kind == model.EventStart:
		return "s"
	case h == nil && (ev.Kind == model.EventUp || ev.Kind == model.EventLost):
		return "Ignored(s)"
	case h == nil:
		return "Refused(s)"
	case h.Model.Mode == model.Ignore:
		return let + "Ignored(" + cur + ")"
	case h.Model.Mode == model.Defer:
		return "Refused(s)" // only a part of a machine is asked: others hold the message
	}
	return let + m.branches(code, h, cur)
}

// branches writes the branches of a handler.
func (m *module) branches(code *core.Machine, h *core.Handler, cur string) string {
	text := "Refused(" + cur + ")"
	var texts []func(rest string) string
	closed := false
	for _, t := range h.Branches {
		b := &body{&scope{m: m, self: cur + ".v", mach: code.Model, sender: "f", locals: map[*model.Local]string{}},
			code}
		for k, l := range t.Model.Params {
			b.locals[l] = fmt.Sprintf("a[%d]", k+1)
		}
		var when value
		if t.When != nil {
			when = b.at(cur).cond(t.When)
		}
		taken := b.run(t.Body, cur, func(cur string) string { return m.goTo(code, t, cur) })
		if t.When == nil {
			texts = append(texts, func(string) string { return taken })
			closed = true
			break
		}
		texts = append(texts, func(rest string) string {
			return guard(when.ok, cur, "IF "+when.text+"\nTHEN ("+taken+")\nELSE "+rest)
		})
	}
	if closed {
		text = ""
	}
	for _, f := range slices.Backward(texts) {
		text = f(text)
	}
	return text
}

// goTo writes the end of a branch: its goto, and the entry of the new state.
func (m *module) goTo(code *core.Machine, t *core.Transition, cur string) string {
	mach := code.Model
	if t.To == nil {
		if t.Model.Event.Kind == model.EventStart && t.Model.From == mach.Initial {
			return m.entry(code, code.States[mach.Initial.Index], cur)
		}
		return cur
	}
	text := "[" + cur + " EXCEPT !.v." + stateField + " = " + quoted(t.To.Model.Name) + "]"
	told := t.To.Model.Final && m.part[mach]
	if told {
		text = "Tell(" + text + ", \"\", <<>>)"
	}
	next := m.fresh("s")
	rest := m.entry(code, t.To, next)
	if rest == next {
		return text
	}
	if told {
		rest = "IF " + next + ".err # \"\" THEN " + next + " ELSE\n" + rest
	}
	return "LET " + next + " == " + text + " IN\n" + rest
}

func (m *module) entry(code *core.Machine, st *core.State, cur string) string {
	b := &body{&scope{m: m, self: cur + ".v", mach: code.Model, sender: "f", locals: map[*model.Local]string{}}, code}
	return b.run(st.Entry, cur, same)
}

// drain writes that a machine handles what its parts have queued, and what they queue meanwhile.
func (m *module) drain(code *core.Machine) {
	name := m.prefix[code.Model]
	var arms []string
	for _, ev := range m.partEvents(code.Model) {
		arms = append(arms, "x[1] = "+quoted(ev.Name)+" -> "+name+"_"+m.event(code.Model, ev)+"(t, i, f, x[2])")
	}
	m.line("RECURSIVE " + name + "_Drain(_, _, _)")
	m.define(name+"_Drain(s, i, f)", "IF s.err # \"\" \\/ s.q = <<>> THEN s ELSE\nLET x == Head(s.q)\n"+
		"t == [s EXCEPT !.q = Tail(@)]\nu == CASE "+strings.Join(arms, "\n[] ")+
		"\nIN "+name+"_Drain([u EXCEPT !.ign = FALSE], i, f)")
}

// alarm is a timer of a machine or of a part of it, with all keys.
type alarm struct {
	way   []place // the parts that lead there
	owner *core.Machine
	ev    *model.Event
	keys  []string
}

type place struct {
	part *core.Part
	key  string // "" if it has none
	keys []string
}

// alarms lists the timers of a machine, and then those of its parts.
func (m *module) alarms(code *core.Machine) (list []alarm) {
	for _, ev := range code.Model.Events {
		if ev.Kind != model.EventTimer {
			continue
		}
		for i := range ev.Timer.Count {
			keys := m.keyTexts(ev.Timer.Keys, interp.TimerKeys(ev.Timer, i))
			list = append(list, alarm{owner: code, ev: ev, keys: keys})
		}
	}
	for _, p := range code.Parts {
		for i := range p.Model.Count {
			at := place{part: p}
			if len(p.Model.Keys) > 0 {
				at.keys = m.keyTexts(p.Model.Keys, interp.PartKeys(p.Model, i))
				at.key = tuple(at.keys)
			}
			for _, a := range m.alarms(p.Machine) {
				a.way = append([]place{at}, a.way...)
				list = append(list, a)
			}
		}
	}
	return list
}

func (m *module) keyTexts(fields []*model.Field, keys []int64) (texts []string) {
	for k, f := range fields {
		texts = append(texts, m.literal(f.Type, keys[k:k+1]))
	}
	return texts
}

// path writes the record that owns the timer.
func (m *module) path(code *core.Machine, a alarm, v string) string {
	mach := code.Model
	for _, at := range a.way {
		v += "." + m.field(mach, at.part.Model.Name)
		if at.key != "" {
			v += "[" + at.key + "]"
		}
		mach = at.part.Machine.Model
	}
	return v
}

// expiry writes what a machine does when a timer of it or of a part expires.
func (m *module) expiry(code *core.Machine, a alarm, s string) string {
	if len(a.way) == 0 {
		return m.deliver(code, a.ev, s, "0", "<<"+strings.Join(a.keys, ", ")+">>")
	}
	at := a.way[0]
	part := s + ".v." + m.field(code.Model, at.part.Model.Name)
	if at.key != "" {
		part += "[" + at.key + "]"
	}
	inner := a
	inner.way = a.way[1:]
	k := slices.IndexFunc(m.alarms(at.part.Machine), func(b alarm) bool {
		return b.ev == a.ev && slices.Equal(b.keys, a.keys) &&
			slices.EqualFunc(b.way, inner.way, func(x, y place) bool { return x.part == y.part && x.key == y.key })
	})
	text := m.prefix[code.Model] + "_" + identifier(at.part.Model.Name) + "_After(" + s + ", i, 0, <<" +
		strings.Join(at.keys, ", ") + ">>, " + fmt.Sprintf("%s_Expiry%d(Given(%s, %s), i))",
		m.prefix[at.part.Machine.Model], k+1, part, s)
	if len(m.partEvents(code.Model)) > 0 {
		text = m.prefix[code.Model] + "_Drain(" + text + ", i, 0)"
	}
	return text
}

// timerList writes the sequence of all timers of a machine and of its parts.
func (m *module) timerList(code *core.Machine) {
	var list []string
	for _, a := range m.alarms(code) {
		text := m.path(code, a, "v") + "." + m.field(a.owner.Model, a.ev.Timer.Name)
		if len(a.keys) > 0 {
			text += "[" + tuple(a.keys) + "]"
		}
		list = append(list, text)
	}
	m.define(m.prefix[code.Model]+"_Timers(v)", "<<"+strings.Join(list, ",\n")+">>")
}

// step writes what an instance of a role does with an event from outside.
func (m *module) step(code *core.Machine) {
	mach := code.Model
	of := func(ev *model.Event, f, args string) string { return m.deliver(code, ev, "s", f, args) }
	var arms, messages, commands []string
	for _, ev := range mach.Events {
		switch ev.Kind {
		case model.EventStart:
			arms = append(arms, "ev[1] = \"start\" -> "+of(ev, "0", "<<>>"))
		case model.EventUp, model.EventLost:
			if m.has["links"] {
				name := map[model.EventKind]string{model.EventUp: "up", model.EventLost: "lost"}[ev.Kind]
				arms = append(arms, "ev[1] = "+quoted(name)+" -> "+m.fromPeer(mach, of(ev, "ev[2]", "<<>>")))
			}
		case model.EventMessage:
			messages = append(messages, "ev[3][1] = "+quoted(ev.Message.Name)+" -> "+of(ev, "ev[2]", "Tail(ev[3])"))
		case model.EventCommand:
			commands = append(commands, "ev[2] = "+quoted(ev.Name)+" -> "+of(ev, "0", "ev[3]"))
		}
	}
	if len(messages) > 0 {
		messages = append(messages, "OTHER -> Refused(s)")
		arms = append(arms, "ev[1] = \"message\" -> "+
			m.fromPeer(mach, "(CASE "+strings.Join(messages, "\n[] ")+")"))
	}
	if len(commands) > 0 {
		arms = append(arms, "ev[1] = \"command\" -> (CASE "+strings.Join(commands, "\n[] ")+")")
	}
	if n := len(m.alarms(code)); n > 0 {
		var list []string
		for k := range n {
			list = append(list, fmt.Sprintf("ev[2] = %d -> %s_Expiry%d(s, i)", k+1, m.prefix[mach], k+1))
		}
		arms = append(arms, "ev[1] = \"timer\" -> (CASE "+strings.Join(list, "\n[] ")+")")
	}
	arms = append(arms, "OTHER -> Ignored(s)")
	m.define(m.prefix[mach]+"_Step(i, v, ev)", "LET s == Begun(v) IN\nCASE "+strings.Join(arms, "\n[] "))
	m.defers(code)
}

// fromPeer writes an event that comes from another instance, which must be of the type that the machine expects.
func (m *module) fromPeer(mach *model.Machine, text string) string {
	t := mach.Sender
	if t == nil || t.Lo <= 0 && t.Hi >= int64(len(m.c.Instances)-1) {
		return text
	}
	return fmt.Sprintf("(IF ev[2] \\notin %s THEN Faulted(s) ELSE %s)", m.domain(t), text)
}

// defers writes whether a machine defers a message.
func (m *module) defers(code *core.Machine) {
	if !m.has["hold"] {
		return
	}
	var list []string
	for _, st := range code.States {
		var names []string
		for _, h := range st.Handlers {
			if h != nil && h.Model.Mode == model.Defer && h.Model.Event.Kind == model.EventMessage {
				names = append(names, quoted(h.Model.Event.Message.Name))
			}
		}
		if len(names) > 0 {
			list = append(list, "(v."+stateField+" = "+quoted(st.Model.Name)+" /\\ "+among("x[1]", names)+")")
		}
	}
	text := "FALSE"
	if len(list) > 0 {
		text = strings.Join(list, " \\/ ")
	}
	m.define(m.prefix[code.Model]+"_Defers(v, x)", text)
}
