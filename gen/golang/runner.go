package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// runnerMethods are the names that the methods for commands must not take.
var runnerMethods = []string{"Info", "Start", "LinkUp", "LinkLost", "Timeout", "Frame", "FrameSize", "Effects", "Effect",
	"AppendFrame", "State", "AppendEvent", "AppendEffect", "AppendMachine", "AppendLegal", "Machine", "Step", "Event", "Message", "Report", "Fired", "Refusal", "Command", "Stream"}

// runnerFile holds the implementation of fsm.Runner for a role.
func (g *gen) runnerFile(r *types.Machine) *jen.File {
	f := g.File(g.O.Package)
	f.Comment(base.Comment(r.Runner, "runs a "+r.Typ+": the machine, one event and the effects of its last step. It implements fsm.Runner, fsm.Commander and fsm.Streamer; one goroutine owns it."))
	f.Type().Id(r.Runner).Struct(
		jen.Id("Machine").Id(r.Typ).Comment("may be read between steps, and replaced by a snapshot of the same specification"),
		jen.Id("event").Id(r.Event), jen.Id("effects").Id(r.Effects))
	f.Line()
	f.Add(base.Rawf("var (\n_ fsm.Commander = (*%[1]s)(nil)\n_ fsm.Streamer = (*%[1]s)(nil)\n)", r.Runner))
	var t base.Text
	g.newRunner(r, &t)
	g.commandMethods(r, &t)
	g.commandText(r, &t)
	g.eventMethods(r, &t)
	g.effectAccess(r, &t)
	g.renderMethods(r, &t)
	f.Line()
	f.Add(base.Raw(strings.TrimSpace(t.String())))
	g.info(f, r)
	return f
}

func (g *gen) newRunner(r *types.Machine, t *base.Text) {
	names := g.Locals()
	names.Take("r")
	var params, args []string

	for _, p := range r.M.Params {
		n := names.Local(p.Name)
		params, args = append(params, n+" "+g.Typ(p.Type, "").Name), append(args, n)
	}
	errs := len(g.Constructor(r).Results) > 1
	make_ := fmt.Sprintf("effects: %s{list: make([]%s, 0, %d)}", r.Effects, r.Effect, min(g.MaxEffects(r), 64))
	call := fmt.Sprintf("%s(%s)", g.Maker(r.Typ), strings.Join(args, ", "))
	name := g.Maker(r.Runner)
	doc := "makes a runner with a machine in its initial state."
	if errs {
		t.P("%s", base.Comment(name, doc+" The error says which parameter is wrong."))
		t.P("func %s(%s) (*%s, error) {\nm, err := %s\nif err != nil {\nreturn nil, err\n}\nreturn &%s{Machine: m, %s}, nil\n}", name, strings.Join(params, ", "), r.Runner, call, r.Runner, make_)
		return
	}
	t.P("%s", base.Comment(name, doc))
	t.P("func %s(%s) *%s {\nreturn &%s{Machine: %s, %s}\n}", name, strings.Join(params, ", "), r.Runner, r.Runner, call, make_)
}

// commandNames are the methods for the commands of a role, in their order.
func commandNames(r *types.Machine) []string {
	methods := base.Scope{}
	for _, n := range runnerMethods {
		methods[n] = true
	}
	var out []string
	for _, ev := range r.M.Commands {
		name := base.GoName(ev.Name)
		if methods[name] {
			name += "Command"
		}
		out = append(out, methods.Take(name))
	}
	return out
}

func (g *gen) commandMethods(r *types.Machine, t *base.Text) {
	names := commandNames(r)
	for _, e := range r.Events {
		if e.Ev.Kind != model.EventCommand {
			continue
		}
		name := names[slices.Index(r.M.Commands, e.Ev)]
		names := g.Locals()
		names.Take("r")
		var params, fields []string
		for i, f := range e.Ev.Fields {
			n := names.Local(f.Name)
			params = append(params, n+" "+g.Typ(f.Type, "").Name)
			fields = append(fields, e.Fields[i]+": "+n)
		}
		doc := "gives the command " + e.Ev.Name + "."
		if e.Ev.Doc != "" {
			doc = "gives the command " + e.Ev.Name + ": " + base.Sentence(e.Ev.Doc)
		}
		t.P("\n%s", base.Comment(name, doc+" Refused means that it is not available now."))
		t.P("func (r *%s) %s(%s) fsm.Result {\nr.event.Kind = %s", r.Runner, name, strings.Join(params, ", "), e.Kind)
		if e.Member != "" {
			t.P("r.event.%s = %s{%s}", e.Member, e.Typ, strings.Join(fields, ", "))
		}
		t.P("return r.Machine.Step(&r.event, &r.effects)\n}")
	}
}

func (g *gen) eventMethods(r *types.Machine, t *base.Text) {
	p := func(doc, format string, args ...any) {
		t.P("\n// %s\nfunc (r *%s) "+format, append([]any{doc, r.Runner}, args...)...)
	}
	kind := func(k model.EventKind) string {
		for _, e := range r.Events {
			if e.Ev.Kind == k {
				return e.Kind
			}
		}
		return ""
	}
	const step = "return r.Machine.Step(&r.event, &r.effects)\n}"
	p("Step gives the machine an event.", "Step(ev *%s) fsm.Result {\nr.event = *ev\n%s", r.Event, step)
	p("Start implements fsm.Runner.", "Start() fsm.Result {\nr.event.Kind = %s\n%s", kind(model.EventStart), step)
	p("LinkUp implements fsm.Runner.", "LinkUp(peer fsm.Peer) fsm.Result {\nr.event.Kind, r.event.From = %s, peer\n%s", kind(model.EventUp), step)
	p("LinkLost implements fsm.Runner.", "LinkLost(peer fsm.Peer) fsm.Result {\nr.event.Kind, r.event.From = %s, peer\n%s", kind(model.EventLost), step)
	g.timeout(r, p)
	p("Frame implements fsm.Runner. The frame is decoded in place and not kept.", "%s", g.frameMethod(r))
	p("FrameSize implements fsm.Runner.", "FrameSize(b []byte) (int, error) { return FrameSize(b) }")
	p("Stream implements fsm.Streamer.", "%s", streamMethod)
}

func (g *gen) timeout(r *types.Machine, p func(doc, format string, args ...any)) {
	if len(r.Alarms) == 0 {
		p("Timeout implements fsm.Runner; the machine has no timers.", "Timeout(uint16, uint32) fsm.Result {\nr.effects.reset(0)\nreturn refused(fsm.NoTransition)\n}")
		g.Helpers["refused"] = true
		return
	}
	first, keyed := "", false
	for _, e := range r.Events {
		if e.Ev.Kind == model.EventTimer {
			if e.Alarm == 0 {
				first = e.Kind
			}
			keyed = keyed || r.Alarms[e.Alarm].Keyed()
		}
	}
	name, set := "_", ""
	if keyed {
		name, set = "key", "r.event.Key = key\n"
	}
	g.Helpers["refused"] = true
	p("Timeout implements fsm.Runner.", "Timeout(timer uint16, %s uint32) fsm.Result {\nif timer >= %d {\nr.effects.reset(0)\nreturn refused(fsm.NoTransition)\n}\n%sr.event.Kind = %s + %s(timer)\nreturn r.Machine.Step(&r.event, &r.effects)\n}",
		name, len(r.Alarms), set, first, r.Kind)
}

// frameMethod composes Runner.Frame: decode, find the event of the message, step.
func (g *gen) frameMethod(r *types.Machine) string {
	var t base.Text
	t.P("Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {")
	first := firstMessage(r)
	if first == "" {
		t.P("r.effects.reset(from)\n_ = frame\nreturn refused(fsm.NoTransition), nil\n}")
		return t.String()
	}
	t.P("if err := DecodeMessage(frame, &r.event.Message); err != nil {\nr.effects.reset(from)\nreturn refused(fsm.NoTransition), err\n}")
	t.P("r.event.Kind, r.event.From = %s+%s(r.event.Message.Kind), from", first, r.Kind)
	t.P("return r.Machine.Step(&r.event, &r.effects), nil\n}")
	return t.String()
}

// firstMessage is the event of the first message; those of the others follow it in the order of the
// messages. "" if there are no messages.
func firstMessage(r *types.Machine) string {
	first, n := "", 0
	for i, e := range r.Events {
		if e.Ev.Kind != model.EventMessage {
			continue
		}
		if first == "" {
			first, n = e.Kind, i
		}
		if e.Ev.Message.Index != i-n {
			panic("the events of messages do not stand in the order of the messages")
		}
	}
	return first
}

func (g *gen) effectAccess(r *types.Machine, t *base.Text) {
	p := func(doc, format string, args ...any) {
		t.P("\n%s\nfunc (r *%s) "+format, append([]any{base.Comment("", doc), r.Runner}, args...)...)
	}
	p("Effects implements fsm.Runner.", "Effects() int { return len(r.effects.list) }")
	p("Effect implements fsm.Runner.", "Effect(i int) fsm.Effect { return r.effects.list[i].Effect }")
	p("Message returns the message of the Send effect i of the last step. It holds until the next step.", "Message(i int) *Message { return &r.effects.list[i].Message }")
	if len(r.Reports) > 0 {
		p("Report returns the report of the Report effect i of the last step. It holds until the next step.", "Report(i int) *%s { return &r.effects.list[i].Report }", r.Report)
	}
	p("Event returns the last event. It holds until the next one.", "Event() *%s { return &r.event }", r.Event)
	if r.Queue != "" {
		p("Fired lists the transitions of the last step, as Effects.Fired does.", "Fired() []uint16 { return r.effects.fired }")
	}
	p("AppendFrame implements fsm.Runner.", "AppendFrame(dst []byte, i int) ([]byte, error) {\nreturn AppendMessage(dst, &r.effects.list[i].Message)\n}")
	p("State implements fsm.Runner.", "State() uint16 { return uint16(r.Machine.State) }")
}

func (g *gen) renderMethods(r *types.Machine, t *base.Text) {
	t.P("\n// AppendEvent implements fsm.Runner.\nfunc (r *%s) AppendEvent(b []byte) []byte {", r.Runner)
	var cases base.Text
	var messages []string
	for _, e := range r.Events {
		switch {
		case e.Ev.Kind == model.EventMessage:
			messages = append(messages, e.Kind)
		case e.Ev.Kind == model.EventTimer && r.Alarms[e.Alarm].Keyed():
			cases.P("case %s:\n%s", e.Kind, g.alarmText(r.Alarms[e.Alarm], "r.event.Key", true, "return "))
		case e.Member != "":
			cases.P("case %s:\n%s", e.Kind, strings.TrimSpace(g.renderedFields(e.Ev.Fields, "r.event."+e.Member+".", e.Fields, e.Ev.Name, "return ")))
		}
	}
	if len(messages) > 0 {
		cases.P("case %s:\nreturn appendMessage(b, &r.event.Message)", strings.Join(messages, ", "))
	}
	if cases.Len() > 0 {
		t.P("switch r.event.Kind {\n%s}", cases.String())
	}
	t.P("return append(b, r.event.Kind.String()...)\n}")
	g.effectText(r, t)
	g.refusal(r, t)
	t.P("\n// AppendMachine implements fsm.Runner.\nfunc (r *%s) AppendMachine(b []byte) []byte { return %s(b, &r.Machine) }", r.Runner, g.machineFunc(r))
	t.P("\n// AppendLegal implements fsm.Runner.\nfunc (r *%s) AppendLegal(b []byte) []byte { return append(b, %s[r.Machine.State]...) }", r.Runner, g.Table(r, "Legal"))
}

// refusal composes Runner.Refusal. It is told by a table, so that the step itself need not know.
func (g *gen) refusal(r *types.Machine, t *base.Text) {
	why := "fsm.Refusal{Branch: fsm.NoTransition}"
	if len(g.handled(r)) > 0 {
		why = fmt.Sprintf("fsm.Handled(%s, int(r.Machine.State), int(r.event.Kind))", g.Table(r, "Handles"))
	}
	t.P("\n// Refusal implements fsm.Runner.")
	if g.eventChecks(r) == "" {
		t.P("func (r *%s) Refusal() fsm.Refusal { return %s }", r.Runner, why)
		return
	}
	t.P("func (r *%s) Refusal() fsm.Refusal {\nwhy := %s\nr.event.outside(&why)\nreturn why\n}", r.Runner, why)
}

// handled lists for each state its events with the numbers of their first branches, plus one.
func (g *gen) handled(r *types.Machine) []string {
	var rows []string
	for _, st := range r.M.States {
		var list []string
		for _, e := range r.Events {
			if e.Ev.Kind == model.EventTimer && r.Alarms[e.Alarm].Of != r {
				continue
			}
			if h := types.HandlerOf(st, e.Ev); h != nil && h.Mode == model.Handle && len(h.Branches) > 0 {
				list = append(list, fmt.Sprintf("%s: %d", e.Kind, h.Branches[0].ID+1))
			}
		}
		if len(list) > 0 {
			rows = append(rows, fmt.Sprintf("%s: {%s}", r.States[st.Index], strings.Join(list, ", ")))
		}
	}
	return rows
}

func (g *gen) effectText(r *types.Machine, t *base.Text) {
	t.P("\n// AppendEffect implements fsm.Runner.\nfunc (r *%s) AppendEffect(b []byte, i int) []byte {", r.Runner)
	t.P("e := &r.effects.list[i]\nb = append(b, e.Kind.String()...)\nswitch e.Kind {")
	t.P("case fsm.Send:\nb = appendMessage(append(b, ' '), &e.Message)")
	if len(r.Reports) > 0 {
		t.P("case fsm.Report:\n%s", g.reportText(r))
	}
	if len(r.Alarms) > 0 {
		t.P("case fsm.StartTimer, fsm.StopTimer:\n%s", g.timerText(r))
	}
	t.P("}")
	if r.Named {
		t.P("if e.Named {\nb = wire.AppendTo(b, e.Peer)\n}")
	}
	t.P("return b\n}")
}

// reportText composes the text of a report, with a space before it.
func (g *gen) reportText(r *types.Machine) string {
	var cases base.Text
	for _, n := range r.Reports {
		if n.Member != "" {
			cases.P("case %s:\n%s", n.Kind, strings.TrimSpace(g.renderedFields(n.R.Fields, "e.Report."+n.Member+".", n.Fields, " "+n.R.Name, "return ")))
		}
	}
	const plain = `b = wire.AppendWord(b, " ", e.Report.Kind.String())`
	if cases.Len() == 0 {
		return plain
	}
	return fmt.Sprintf("switch e.Report.Kind {\n%s}\n%s", cases.String(), plain)
}

// timerText composes the name of a timer that is started or stopped, with a space before it, and for
// how long it is started if that is computed.
func (g *gen) timerText(r *types.Machine) string {
	var cases base.Text
	var computed []string
	for i, a := range r.Alarms {
		if a.Keyed() {
			cases.P("case %d:\n%s", i, g.alarmText(a, "e.Key", false, "b = "))
		}
		if a.Timer.Length != nil {
			computed = append(computed, fmt.Sprintf("e.ID == %d", i))
		}
	}
	s := fmt.Sprintf("b = append(b, ' ')\nswitch e.ID {\n%sdefault:\nb = append(b, %s.Timers[e.ID]...)\n}", cases.String(), g.Table(r, "Info"))
	if cases.Len() == 0 {
		s = fmt.Sprintf("b = wire.AppendWord(b, \" \", %s.Timers[e.ID])", g.Table(r, "Info"))
	}
	if len(computed) > 0 {
		s += fmt.Sprintf("\nif e.Kind == fsm.StartTimer && (%s) {\nb = wire.AppendUint(b, \" for \", uint64(e.Ticks))\n}", strings.Join(computed, " || "))
	}
	return s
}

// alarmText composes the name of a timer with the part it is in: `fleet[true, 3].retry`. The keys
// of the timer itself are fields of its expiry, `alive{p: 2}`, and an index elsewhere, `alive[2]`.
func (g *gen) alarmText(a types.Alarm, key string, event bool, end string) string {
	var chain []*types.Machine
	for m := a.Of; m.Part != nil; m = m.Up {
		chain = append([]*types.Machine{m}, chain...)
	}
	keys := types.KeysFrom(gotree.X(key), a.Keys())
	s, pending, n := "", "", 0
	one := func(before string, k *model.Field) {
		x := gotree.Text(g.FromIndex(keys[n], k.Type))
		if !k.Type.Scalar() || k.Type.Kind == model.KindSet {
			name := "key" + strconv.Itoa(n)
			s += fmt.Sprintf("%s := %s\n", name, x)
			x = name
		}
		s += g.rendered(pending+before, k.Type, x)
		pending = ""
		n++
	}
	for _, m := range chain {
		pending += m.Part.Name
		for i, k := range m.Part.Keys {
			one(map[bool]string{true: "[", false: ", "}[i == 0], k)
		}
		if len(m.Part.Keys) > 0 {
			pending = "]"
		}
		pending += "."
	}
	pending += a.Timer.Name
	for i, k := range a.Timer.Keys {
		switch {
		case event:
			one(map[bool]string{true: "{", false: ", "}[i == 0]+k.Name+": ", k)
		default:
			one(map[bool]string{true: "[", false: ", "}[i == 0], k)
		}
	}
	if len(a.Timer.Keys) > 0 {
		pending = map[bool]string{true: "}", false: "]"}[event]
	}
	return s + fmt.Sprintf("%sappend(b, %q...)", end, pending)
}
