package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// runnerMethods are the names that the methods for commands must not take.
var runnerMethods = []string{"Info", "Start", "LinkUp", "LinkLost", "Timeout", "Frame", "FrameSize", "Effects", "Effect",
	"AppendFrame", "State", "AppendEvent", "AppendEffect", "AppendMachine", "AppendLegal", "Machine", "Step", "Event", "Message", "Report", "Fired", "Refusal", "Command", "Stream"}

// runnerFile holds the implementation of fsm.Runner for a role.
func (g *gen) runnerFile(r *machine) *jen.File {
	f := g.file(g.o.Package)
	f.Comment(comment(r.runner, "runs a "+r.typ+": the machine, one event and the effects of its last step. It implements fsm.Runner, fsm.Commander and fsm.Streamer; one goroutine owns it."))
	f.Type().Id(r.runner).Struct(
		jen.Id("Machine").Id(r.typ).Comment("may be read between steps, and replaced by a snapshot of the same specification"),
		jen.Id("event").Id(r.event), jen.Id("effects").Id(r.effects))
	f.Line()
	f.Add(rawf("var (\n_ fsm.Commander = (*%[1]s)(nil)\n_ fsm.Streamer = (*%[1]s)(nil)\n)", r.runner))
	var t text
	g.newRunner(r, &t)
	g.commandMethods(r, &t)
	g.commandText(r, &t)
	g.eventMethods(r, &t)
	g.effectAccess(r, &t)
	g.renderMethods(r, &t)
	f.Line()
	f.Add(raw(strings.TrimSpace(t.String())))
	g.info(f, r)
	return f
}

func (g *gen) newRunner(r *machine, t *text) {
	c := g.newBody(r, "r")
	var params, args []string

	for _, p := range r.m.Params {
		n := c.names.local(p.Name)
		params, args = append(params, n+" "+g.typ(p.Type, "").name), append(args, n)
	}
	errs := strings.Contains(g.constructor(r), ", error)")
	make_ := fmt.Sprintf("effects: %s{list: make([]%s, 0, %d)}", r.effects, r.effect, min(g.maxEffects(r), 64))
	call := fmt.Sprintf("%s(%s)", g.maker(r.typ), strings.Join(args, ", "))
	name := g.maker(r.runner)
	doc := "makes a runner with a machine in its initial state."
	if errs {
		t.p("%s", comment(name, doc+" The error says which parameter is wrong."))
		t.p("func %s(%s) (*%s, error) {\nm, err := %s\nif err != nil {\nreturn nil, err\n}\nreturn &%s{Machine: m, %s}, nil\n}", name, strings.Join(params, ", "), r.runner, call, r.runner, make_)
		return
	}
	t.p("%s", comment(name, doc))
	t.p("func %s(%s) *%s {\nreturn &%s{Machine: %s, %s}\n}", name, strings.Join(params, ", "), r.runner, r.runner, call, make_)
}

// commandNames are the methods for the commands of a role, in their order.
func commandNames(r *machine) []string {
	methods := scope{}
	for _, n := range runnerMethods {
		methods[n] = true
	}
	var out []string
	for _, ev := range r.m.Commands {
		name := GoName(ev.Name)
		if methods[name] {
			name += "Command"
		}
		out = append(out, methods.take(name))
	}
	return out
}

func (g *gen) commandMethods(r *machine, t *text) {
	names := commandNames(r)
	for _, e := range r.events {
		if e.ev.Kind != model.EventCommand {
			continue
		}
		name := names[slices.Index(r.m.Commands, e.ev)]
		c := g.newBody(r, "r")
		var params, fields []string
		for i, f := range e.ev.Fields {
			n := c.names.local(f.Name)
			params = append(params, n+" "+g.typ(f.Type, "").name)
			fields = append(fields, e.fields[i]+": "+n)
		}
		doc := "gives the command " + e.ev.Name + "."
		if e.ev.Doc != "" {
			doc = "gives the command " + e.ev.Name + ": " + sentence(e.ev.Doc)
		}
		t.p("\n%s", comment(name, doc+" Refused means that it is not available now."))
		t.p("func (r *%s) %s(%s) fsm.Result {\nr.event.Kind = %s", r.runner, name, strings.Join(params, ", "), e.kind)
		if e.member != "" {
			t.p("r.event.%s = %s{%s}", e.member, e.typ, strings.Join(fields, ", "))
		}
		t.p("return r.Machine.Step(&r.event, &r.effects)\n}")
	}
}

func (g *gen) eventMethods(r *machine, t *text) {
	p := func(doc, format string, args ...any) {
		t.p("\n// %s\nfunc (r *%s) "+format, append([]any{doc, r.runner}, args...)...)
	}
	kind := func(k model.EventKind) string {
		for _, e := range r.events {
			if e.ev.Kind == k {
				return e.kind
			}
		}
		return ""
	}
	const step = "return r.Machine.Step(&r.event, &r.effects)\n}"
	p("Step gives the machine an event.", "Step(ev *%s) fsm.Result {\nr.event = *ev\n%s", r.event, step)
	p("Start implements fsm.Runner.", "Start() fsm.Result {\nr.event.Kind = %s\n%s", kind(model.EventStart), step)
	p("LinkUp implements fsm.Runner.", "LinkUp(peer fsm.Peer) fsm.Result {\nr.event.Kind, r.event.From = %s, peer\n%s", kind(model.EventUp), step)
	p("LinkLost implements fsm.Runner.", "LinkLost(peer fsm.Peer) fsm.Result {\nr.event.Kind, r.event.From = %s, peer\n%s", kind(model.EventLost), step)
	g.timeout(r, p)
	p("Frame implements fsm.Runner. The frame is decoded in place and not kept.", "%s", g.frameMethod(r))
	p("FrameSize implements fsm.Runner.", "FrameSize(b []byte) (int, error) { return FrameSize(b) }")
	p("Stream implements fsm.Streamer.", "%s", streamMethod)
}

func (g *gen) timeout(r *machine, p func(doc, format string, args ...any)) {
	if len(r.alarms) == 0 {
		p("Timeout implements fsm.Runner; the machine has no timers.", "Timeout(uint16, uint32) fsm.Result {\nr.effects.reset(0)\nreturn refused(fsm.NoTransition)\n}")
		g.helpers["refused"] = true
		return
	}
	cases, keyed := "", false
	for _, e := range r.events {
		if e.ev.Kind == model.EventTimer {
			cases += fmt.Sprintf("case %d:\nr.event.Kind = %s\n", e.alarm, e.kind)
			keyed = keyed || r.alarms[e.alarm].keyed()
		}
	}
	name, set := "_", ""
	if keyed {
		name, set = "key", "r.event.Key = key\n"
	}
	g.helpers["refused"] = true
	p("Timeout implements fsm.Runner.", "Timeout(timer uint16, %s uint32) fsm.Result {\n%sswitch timer {\n%sdefault:\nr.effects.reset(0)\nreturn refused(fsm.NoTransition)\n}\nreturn r.Machine.Step(&r.event, &r.effects)\n}", name, set, cases)
}

// frameMethod composes Runner.Frame: decode, find the event of the message, step.
func (g *gen) frameMethod(r *machine) string {
	var t text
	t.p("Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {")
	table := g.messageEvents(r)
	if len(table) == 0 {
		t.p("r.effects.reset(from)\n_ = frame\nreturn fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}, nil\n}")
		return t.String()
	}
	t.p("if err := DecodeMessage(frame, &r.event.Message); err != nil {\nr.effects.reset(from)\nreturn fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}, err\n}")
	t.p("r.event.Kind, r.event.From = %s[r.event.Message.Kind], from", g.table(r, "Receives"))
	t.p("return r.Machine.Step(&r.event, &r.effects), nil\n}")
	return t.String()
}

// messageEvents lists the event of each message, in the order of the messages.
func (g *gen) messageEvents(r *machine) []string {
	var out []string
	for i, m := range g.p.Messages {
		for _, e := range r.events {
			if e.ev.Kind == model.EventMessage && e.ev.Message.Name == m.Name {
				out = append(out, g.messages[i].kind+": "+e.kind)
			}
		}
	}
	return out
}

func (g *gen) effectAccess(r *machine, t *text) {
	p := func(doc, format string, args ...any) {
		t.p("\n%s\nfunc (r *%s) "+format, append([]any{comment("", doc), r.runner}, args...)...)
	}
	p("Effects implements fsm.Runner.", "Effects() int { return len(r.effects.list) }")
	p("Effect implements fsm.Runner.", "Effect(i int) fsm.Effect { return r.effects.list[i].Effect }")
	p("Message returns the message of the Send effect i of the last step. It holds until the next step.", "Message(i int) *Message { return &r.effects.list[i].Message }")
	if len(r.reports) > 0 {
		p("Report returns the report of the Report effect i of the last step. It holds until the next step.", "Report(i int) *%s { return &r.effects.list[i].Report }", r.report)
	}
	p("Event returns the last event. It holds until the next one.", "Event() *%s { return &r.event }", r.event)
	if r.queue != "" {
		p("Fired lists the transitions of the last step, as Effects.Fired does.", "Fired() []uint16 { return r.effects.fired }")
	}
	p("AppendFrame implements fsm.Runner.", "AppendFrame(dst []byte, i int) ([]byte, error) {\nreturn AppendMessage(dst, &r.effects.list[i].Message)\n}")
	p("State implements fsm.Runner.", "State() uint16 { return uint16(r.Machine.State) }")
}

func (g *gen) renderMethods(r *machine, t *text) {
	t.p("\n// AppendEvent implements fsm.Runner.\nfunc (r *%s) AppendEvent(b []byte) []byte {\nswitch ev := &r.event; ev.Kind {", r.runner)
	var messages []string
	for _, e := range r.events {
		switch e.ev.Kind {
		case model.EventMessage:
			messages = append(messages, e.kind)
		case model.EventTimer:
			t.p("case %s:\n%s", e.kind, strings.TrimSuffix(g.alarmText(r.alarms[e.alarm], "ev.Key", true), "\n"))
		default:
			t.p("case %s:\n%s", e.kind, strings.TrimSuffix(g.renderedFields(e.ev.Fields, "ev."+e.member+".", e.fields, e.ev.Name), "\n"))
		}
	}
	if len(messages) > 0 {
		t.p("case %s:\nb = appendMessage(b, &ev.Message)", strings.Join(messages, ", "))
	}
	t.p("}\nreturn b\n}")
	g.effectText(r, t)
	g.refusal(r, t)
	t.p("\n// AppendMachine implements fsm.Runner.\nfunc (r *%s) AppendMachine(b []byte) []byte { return %s(b, &r.Machine) }", r.runner, g.machineFunc(r))
	t.p("\n// AppendLegal implements fsm.Runner.\nfunc (r *%s) AppendLegal(b []byte) []byte { return append(b, %s[r.Machine.State]...) }", r.runner, g.table(r, "Legal"))
}

// refusal composes Runner.Refusal. It is told by a table, so that the step itself need not know.
func (g *gen) refusal(r *machine, t *text) {
	t.p("\n// Refusal implements fsm.Runner.\nfunc (r *%s) Refusal() fsm.Refusal {", r.runner)
	if g.eventChecks(r) != "" {
		t.p("if field, values := r.event.outside(); field != \"\" {\nreturn fsm.Refusal{Reason: fsm.OutOfRange, Branch: fsm.NoTransition, Field: field, Type: values}\n}")
	}
	if len(g.handled(r)) > 0 {
		t.p("if s, e := int(r.Machine.State), int(r.event.Kind); s < len(%s) && e < len(%s[0]) && %s[s][e] != 0 {\nreturn fsm.Refusal{Reason: fsm.Unguarded, Branch: %s[s][e] - 1}\n}",
			g.table(r, "Handles"), g.table(r, "Handles"), g.table(r, "Handles"), g.table(r, "Handles"))
	}
	t.p("return fsm.Refusal{Branch: fsm.NoTransition}\n}")
}

// handled lists for each state its events with the numbers of their first branches, plus one.
func (g *gen) handled(r *machine) []string {
	var rows []string
	for _, st := range r.m.States {
		var list []string
		for _, e := range r.events {
			if e.ev.Kind == model.EventTimer && r.alarms[e.alarm].of != r {
				continue
			}
			if h := handlerOf(st, e.ev); h != nil && h.Mode == model.Handle && len(h.Branches) > 0 {
				list = append(list, fmt.Sprintf("%s: %d", e.kind, h.Branches[0].ID+1))
			}
		}
		if len(list) > 0 {
			rows = append(rows, fmt.Sprintf("%s: {%s}", r.states[st.Index], strings.Join(list, ", ")))
		}
	}
	return rows
}

func (g *gen) effectText(r *machine, t *text) {
	t.p("\n// AppendEffect implements fsm.Runner.\nfunc (r *%s) AppendEffect(b []byte, i int) []byte {\ne := &r.effects.list[i]\nswitch e.Kind {", r.runner)
	to := ""
	if r.named {
		to = "if e.Named {\nif e.Peer == fsm.Broadcast {\nreturn append(b, \" to all\"...)\n}\nb = strconv.AppendInt(append(b, \" to \"...), int64(e.Peer), 10)\n}\n"
	}
	t.p("case fsm.Send:\nb = appendMessage(append(b, \"send \"...), &e.Message)\n%scase fsm.Close:\nb = append(b, \"close\"...)\n%s", to, strings.TrimSuffix(to, "\n"))
	if len(r.reports) > 0 {
		t.p("case fsm.Report:\nb = append(b, \"report \"...)\nswitch e.Report.Kind {")
		for _, n := range r.reports {
			t.p("case %s:\n%s", n.kind, strings.TrimSuffix(g.renderedFields(n.r.Fields, "e.Report."+n.member+".", n.fields, n.r.Name), "\n"))
		}
		t.p("}")
	}
	if len(r.alarms) > 0 {
		t.p("case fsm.StartTimer, fsm.StopTimer:\nif e.Kind == fsm.StartTimer {\nb = append(b, \"start \"...)\n} else {\nb = append(b, \"stop \"...)\n}\nswitch e.ID {")
		for i, a := range r.alarms {
			text := g.alarmText(a, "e.Key", false)
			if a.timer.Length != nil {
				text += "if e.Kind == fsm.StartTimer {\nb = strconv.AppendUint(append(b, \" for \"...), uint64(e.Ticks), 10)\n}\n"
			}
			t.p("case %d:\n%s", i, strings.TrimSuffix(text, "\n"))
		}
		t.p("}")
	}
	t.p("}\nreturn b\n}")
}

// alarmText composes the name of a timer with the part it is in: `fleet[true, 3].retry`. The keys of the timer
// itself are fields of its expiry, `alive{p: 2}`, and an index elsewhere, `alive[2]`.
func (g *gen) alarmText(a alarm, key string, event bool) string {
	var chain []*machine
	for m := a.of; m.part != nil; m = m.up {
		chain = append([]*machine{m}, chain...)
	}
	keys := keysFrom(key, a.keys())
	s, pending, n := "", "", 0
	c := g.newBody(&machine{})
	one := func(before string, k *model.Field) {
		pending += before
		x := "key" + strconv.Itoa(n)
		s += fmt.Sprintf("b = append(b, %q...)\n%s := %s\n%s", pending, x, c.fromIndex("("+keys[n]+")", k.Type), g.rendered(k.Type, x))
		pending = ""
		n++
	}
	for _, m := range chain {
		pending += m.part.Name
		for i, k := range m.part.Keys {
			one(map[bool]string{true: "[", false: ", "}[i == 0], k)
		}
		if len(m.part.Keys) > 0 {
			pending = "]"
		}
		pending += "."
	}
	pending += a.timer.Name
	for i, k := range a.timer.Keys {
		switch {
		case event:
			one(map[bool]string{true: "{", false: ", "}[i == 0]+k.Name+": ", k)
		default:
			one(map[bool]string{true: "[", false: ", "}[i == 0], k)
		}
	}
	if len(a.timer.Keys) > 0 {
		pending = map[bool]string{true: "}", false: "]"}[event]
	}
	return s + fmt.Sprintf("b = append(b, %q...)\n", pending)
}
