package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// effectsFile holds a role's events, reports and effects.
func (g *gen) effectsFile(r *machine) *jen.File {
	f := g.file(g.o.Package)
	g.declareEvents(f, r)
	g.declareReports(f, r)
	g.declareEffects(f, r)
	return f
}

func (g *gen) declareEvents(f *jen.File, r *machine) {
	f.Comment(comment(r.kind, "says which event it is."))
	f.Type().Id(r.kind).Uint8()
	f.Line()
	f.Comment(comment("", "The events of "+r.typ+"."))
	var names, docs []string
	fields := []jen.Code{jen.Id("Kind").Id(r.kind)}
	keys := false
	var structs []roleEvent
	for _, e := range r.events {
		names, docs = append(names, e.kind), append(docs, r.eventDoc(e))
		switch e.ev.Kind {
		case model.EventTimer:
			keys = keys || r.alarms[e.alarm].keyed()
		case model.EventMessage:
			r.eventMsg = true
		}
		if e.typ != "" {
			structs = append(structs, e)
		}
	}
	g.enumConsts(f, r.kind, names, docs)
	g.stringer(f, r.kind, r.eventNames())
	fields = append(fields, jen.Id("From").Add(raw("fsm.Peer")).Comment("who sent the message, or whose link it is"))
	if keys {
		fields = append(fields, jen.Id("Key").Uint32().Comment("which instance's timer expired"))
	}
	if r.eventMsg {
		fields = append(fields, jen.Id("Message").Id("Message").Comment("for the Receive kinds"))
	}
	for _, e := range structs {
		fields = append(fields, jen.Id(e.member).Id(e.typ).Comment("for "+e.kind))
	}
	f.Line()
	f.Comment(comment(r.event, "is one event for a "+r.typ+". Fields that do not belong to the kind are not looked at."))
	f.Type().Id(r.event).Struct(fields...)
	for _, e := range structs {
		f.Line()
		f.Comment(comment(e.typ, strings.TrimSuffix("are the fields of command "+e.ev.Name+": "+e.ev.Doc, ": ")+"."))
		f.Type().Id(e.typ).StructFunc(func(s *jen.Group) { g.structFields(s, e.fields, e.ev.Fields) })
	}
	g.declareEventChecks(f, r)
}

// eventDoc is what the comment beside an event's constant says.
func (r *machine) eventDoc(e roleEvent) string {
	switch e.ev.Kind {
	case model.EventTimer:
		return strings.TrimSuffix("timer "+r.alarms[e.alarm].name+" expired; "+e.ev.Doc, "; ")
	case model.EventStart:
		return "the machine begins"
	case model.EventUp:
		return "the link to From came up"
	case model.EventLost:
		return "the link to From was lost"
	case model.EventMessage:
		return e.ev.Message.Doc
	}
	return e.ev.Doc
}

// declareEventChecks writes what refuses events with fields outside their ranges, if there can be any.
func (g *gen) declareEventChecks(f *jen.File, r *machine) {
	checks := g.eventChecks(r)
	if checks == "" {
		return
	}
	f.Line()
	f.Comment(comment("invalid", "says whether a field is outside its type's range; such an event is refused."))
	f.Add(rawf("func (ev *%s) invalid() bool {\nswitch ev.Kind {\n%s}\nreturn false\n}", r.event, checks))
	f.Line()
	f.Comment(comment("outside", "names the first field that is outside its type's range, and what it may be."))
	f.Add(rawf("func (ev *%s) outside() (field, values string) {\nswitch ev.Kind {\n%s}\nreturn\n}", r.event, g.eventComplaints(r)))
}

func (g *gen) declareReports(f *jen.File, r *machine) {
	if len(r.reports) == 0 {
		return
	}
	kind := g.top.take(r.prefix + "ReportKind")
	f.Line()
	f.Comment(comment(kind, "says which report it is."))
	f.Type().Id(kind).Uint8()
	f.Line()
	f.Comment(comment("", "The reports of "+r.typ+"."))
	var names, docs, own []string
	fields := []jen.Code{jen.Id("Kind").Id(kind)}
	for _, n := range r.reports {
		names, docs, own = append(names, n.kind), append(docs, n.r.Doc), append(own, n.r.Name)
		if n.member != "" {
			fields = append(fields, jen.Id(n.member).Id(n.typ).Comment("for "+n.kind))
		}
	}
	g.enumConsts(f, kind, names, docs)
	g.stringer(f, kind, own)
	f.Line()
	f.Comment(comment(r.report, "is what a "+r.typ+" tells the embedding program. Fields that do not belong to the kind are zero."))
	f.Type().Id(r.report).Struct(fields...)
	for _, n := range r.reports {
		if n.member != "" {
			f.Line()
			f.Comment(comment(n.typ, strings.TrimSuffix("are the fields of report "+n.r.Name+": "+n.r.Doc, ": ")+"."))
			f.Type().Id(n.typ).StructFunc(func(s *jen.Group) { g.structFields(s, n.fields, n.r.Fields) })
		}
	}
	r.reportKind = kind
}

func (g *gen) declareEffects(f *jen.File, r *machine) {
	f.Line()
	f.Comment(comment(r.effect, "is one thing that a "+r.typ+" asks for."))
	fields := []jen.Code{jen.Add(raw("fsm.Effect"))}
	if r.named {
		fields = append(fields, jen.Id("Named").Bool().Comment("the specification names the destination"))
	}
	fields = append(fields, jen.Id("Message").Id("Message").Comment("for fsm.Send"))
	if len(r.reports) > 0 {
		fields = append(fields, jen.Id("Report").Id(r.report).Comment("for fsm.Report"))
	}
	f.Type().Id(r.effect).Struct(fields...)
	f.Line()
	f.Comment(comment(r.effects, "is the list of what one step asks for. It keeps its memory from step to step, so that a step does not allocate."))
	list := []jen.Code{jen.Id("list").Index().Id(r.effect), jen.Id("from").Add(raw("fsm.Peer")).Comment("of the event being handled")}
	reset := "fx.list = fx.list[:0]\nfx.from = from\n"
	if r.queue != "" {
		list = append(list, jen.Id("fired").Index().Uint16(), jen.Id("settled").Int().Comment("events of parts handled in this step"))
		reset += "fx.fired = fx.fired[:0]\nfx.settled = 0\n"
		for _, m := range r.withParts() {
			list = append(list, jen.Id(m.queue).Index().Id(m.queued).Comment("events of the parts of "+m.typ))
			reset += fmt.Sprintf("fx.%s = fx.%s[:0]\n", m.queue, m.queue)
		}
	}
	f.Type().Id(r.effects).Struct(list...)
	f.Line()
	f.Comment(comment("Len", "returns the number of effects."))
	f.Add(rawf("func (fx *%s) Len() int { return len(fx.list) }", r.effects))
	f.Line()
	f.Comment(comment("At", "returns effect i, 0 <= i < Len(). It holds until the next step and must not be changed."))
	f.Add(rawf("func (fx *%s) At(i int) *%s { return &fx.list[i] }", r.effects, r.effect))
	if r.queue != "" {
		f.Line()
		f.Comment(comment("Fired", "lists the transitions of the last step in order: that of the event, then those of its parts' events. It holds until the next step and means something only if the result was Took."))
		f.Add(rawf("func (fx *%s) Fired() []uint16 { return fx.fired }", r.effects))
	}
	f.Line()
	f.Add(rawf("func (fx *%s) reset(from fsm.Peer) {\n%s}", r.effects, reset))
	g.effectMethods(f, r)
	for _, m := range r.withParts() {
		g.declareWaiting(f, m)
	}
}

// withParts lists the role and those of its parts that have parts themselves.
func (r *machine) withParts() []*machine {
	var out []*machine
	if r.queue != "" {
		out = append(out, r)
	}
	for _, p := range r.parts {
		out = append(out, p.withParts()...)
	}
	return out
}

// effectMethods emits the methods that append effects, those that the role's code calls.
func (g *gen) effectMethods(f *jen.File, r *machine) {
	named := ""
	if r.named {
		named = ", Named: true"
	}
	methods := []struct{ call, doc, code string }{
		{"fx.send(", "send appends a message to the only peer and returns it for its fields to be set.",
			"send(kind MessageKind) *Message {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Send, ID: uint16(kind)}, Message: Message{Kind: kind}})\nreturn &fx.list[len(fx.list)-1].Message\n}"},
		{"fx.sendTo(", "sendTo appends a message to a peer and returns it for its fields to be set.",
			"sendTo(kind MessageKind, to fsm.Peer) *Message {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Send, Peer: to, ID: uint16(kind)}, Message: Message{Kind: kind}" + named + "})\nreturn &fx.list[len(fx.list)-1].Message\n}"},
		{"fx.report(", "report appends a report and returns it for its fields to be set.",
			"report(kind " + r.reportKind + ") *" + r.report + " {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Report, ID: uint16(kind)}, Report: " + r.report + "{Kind: kind}})\nreturn &fx.list[len(fx.list)-1].Report\n}"},
		{"fx.start(", "start asks for a timer to be armed.",
			"start(timer uint16, key uint32) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.StartTimer, ID: timer, Key: key, Ticks: " + g.table(r, "Ticks") + "[timer]}})\n}"},
		{"fx.startFor(", "startFor asks for a timer to be armed for so many ticks.",
			"startFor(timer uint16, key, ticks uint32) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.StartTimer, ID: timer, Key: key, Ticks: ticks}})\n}"},
		{"fx.stop(", "stop asks for a timer to be disarmed.",
			"stop(timer uint16, key uint32) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.StopTimer, ID: timer, Key: key}})\n}"},
		{"fx.close(", "close asks for the link to the only peer to be closed.",
			"close() {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Close}})\n}"},
		{"fx.closeTo(", "closeTo asks for the link to a peer to be closed.",
			"closeTo(to fsm.Peer) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Close, Peer: to}" + named + "})\n}"},
	}
	code := g.code[r]
	for _, m := range methods {
		if strings.Contains(code, m.call) {
			f.Line()
			f.Comment("// " + m.doc)
			f.Add(raw(fmt.Sprintf("func (fx *%s) ", r.effects) + strings.ReplaceAll(m.code, "E{", r.effect+"{")))
		}
	}
	if len(r.alarms) == 0 {
		return
	}
	f.Line()
	f.Comment("// The timers by their index in Info.Timers.")
	f.Const().DefsFunc(func(d *jen.Group) {
		for i, a := range r.alarms {
			if strings.Contains(code, a.id) {
				d.Id(a.id).Op("=").Lit(i)
			}
		}
	})
	if strings.Contains(code, "fx.start(") {
		ticks := make([]string, len(r.alarms))
		for i, a := range r.alarms {
			ticks[i] = fmt.Sprint(a.timer.Ticks)
		}
		f.Line()
		f.Comment("// The durations of the timers, in ticks.")
		f.Var().Id(g.table(r, "Ticks")).Op("=").Add(raw("[...]uint32{" + strings.Join(ticks, ", ") + "}"))
	}
}

// fieldsType names the struct of a waiting event's fields.
func (g *gen) fieldsType(w waiting) string { return g.top.own("fields of "+w.kind, w.kind+"Fields") }

// declareWaiting emits the type of the events of parts that wait for their parent.
func (g *gen) declareWaiting(f *jen.File, r *machine) {
	kind := g.top.take(r.queued + "Kind")
	f.Line()
	f.Comment(comment(r.queued, "is an event of a part of "+r.typ+" that waits for the end of the statements that caused it."))
	fields := []jen.Code{jen.Id("kind").Id(kind)}
	var names []string
	for _, w := range r.waiting {
		names = append(names, w.kind)
		if w.member != "" {
			fields = append(fields, jen.Id(w.member).Id(g.fieldsType(w)))
		}
	}
	f.Type().Id(r.queued).Struct(fields...)
	f.Line()
	f.Type().Id(kind).Uint8()
	f.Line()
	g.enumConsts(f, kind, names, nil)
	for _, w := range r.waiting {
		if w.member != "" {
			f.Line()
			f.Type().Id(g.fieldsType(w)).StructFunc(func(s *jen.Group) {
				for i, fl := range w.ev.Fields {
					s.Id(w.fields[i]).Add(raw(g.typ(fl.Type, "").name))
				}
			})
		}
	}
}
