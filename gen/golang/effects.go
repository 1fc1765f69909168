package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// effectsFile holds a role's events, reports and effects.
func (g *gen) effectsFile(r *types.Machine) *jen.File {
	f := g.File(g.O.Package)
	g.declareEvents(f, r)
	g.declareReports(f, r)
	g.declareEffects(f, r)
	return f
}

func (g *gen) declareEvents(f *jen.File, r *types.Machine) {
	f.Comment(base.Comment(r.Kind, "says which event it is."))
	f.Type().Id(r.Kind).Uint8()
	f.Line()
	f.Comment(base.Comment("", "The events of "+r.Typ+"."))
	var names, docs []string
	fields := []jen.Code{jen.Id("Kind").Id(r.Kind)}
	keys := false
	var structs []types.RoleEvent
	for _, e := range r.Events {
		names, docs = append(names, e.Kind), append(docs, eventDoc(r, e))
		switch e.Ev.Kind {
		case model.EventTimer:
			keys = keys || r.Alarms[e.Alarm].Keyed()
		case model.EventMessage:
			r.EventMsg = true
		}
		if e.Typ != "" {
			structs = append(structs, e)
		}
	}
	g.enumConsts(f, r.Kind, names, docs)
	g.stringer(f, r.Kind, r.EventNames())
	fields = append(fields, jen.Id("From").Add(base.Raw("fsm.Peer")).Comment("who sent the message, or whose link it is"))
	if keys {
		fields = append(fields, jen.Id("Key").Uint32().Comment("which instance's timer expired"))
	}
	if r.EventMsg {
		fields = append(fields, jen.Id("Message").Id("Message").Comment("for the Receive kinds"))
	}
	for _, e := range structs {
		fields = append(fields, jen.Id(e.Member).Id(e.Typ).Comment("for "+e.Kind))
	}
	f.Line()
	f.Comment(base.Comment(r.Event, "is one event for a "+r.Typ+". Fields that do not belong to the kind are not looked at."))
	f.Type().Id(r.Event).Struct(fields...)
	for _, e := range structs {
		f.Line()
		f.Comment(base.Comment(e.Typ, strings.TrimSuffix("are the fields of command "+e.Ev.Name+": "+e.Ev.Doc, ": ")+"."))
		f.Type().Id(e.Typ).StructFunc(func(s *jen.Group) { g.structFields(s, e.Fields, e.Ev.Fields) })
	}
	g.declareEventChecks(f, r)
}

// eventDoc is what the comment beside an event's constant says.
func eventDoc(r *types.Machine, e types.RoleEvent) string {
	switch e.Ev.Kind {
	case model.EventTimer:
		return strings.TrimSuffix("timer "+r.Alarms[e.Alarm].Name+" expired; "+e.Ev.Doc, "; ")
	case model.EventStart:
		return "the machine begins"
	case model.EventUp:
		return "the link to From came up"
	case model.EventLost:
		return "the link to From was lost"
	case model.EventMessage:
		return e.Ev.Message.Doc
	}
	return e.Ev.Doc
}

// declareEventChecks writes what refuses events with fields outside their ranges, if there can be any.
func (g *gen) declareEventChecks(f *jen.File, r *types.Machine) {
	checks := g.eventChecks(r)
	if checks == "" {
		return
	}
	f.Line()
	f.Comment(base.Comment("invalid", "reports whether a field is outside its type's range; such an event is refused."))
	f.Add(base.Rawf("func (ev *%s) invalid() bool {\nswitch ev.Kind {\n%s}\nreturn false\n}", r.Event, checks))
	f.Line()
	f.Comment(base.Comment("outside", "notes the first field that is outside its type's range."))
	f.Add(base.Rawf("func (ev *%s) outside(why *fsm.Refusal) {\nswitch ev.Kind {\n%s}\n}", r.Event, g.eventComplaints(r)))
}

func (g *gen) declareReports(f *jen.File, r *types.Machine) {
	if len(r.Reports) == 0 {
		return
	}
	kind := g.Top.Take(r.Prefix + "ReportKind")
	f.Line()
	f.Comment(base.Comment(kind, "says which report it is."))
	f.Type().Id(kind).Uint8()
	f.Line()
	f.Comment(base.Comment("", "The reports of "+r.Typ+"."))
	var names, docs, own []string
	fields := []jen.Code{jen.Id("Kind").Id(kind)}
	for _, n := range r.Reports {
		names, docs, own = append(names, n.Kind), append(docs, n.R.Doc), append(own, n.R.Name)
		if n.Member != "" {
			fields = append(fields, jen.Id(n.Member).Id(n.Typ).Comment("for "+n.Kind))
		}
	}
	g.enumConsts(f, kind, names, docs)
	g.stringer(f, kind, own)
	f.Line()
	f.Comment(base.Comment(r.Report, "is what a "+r.Typ+" tells the embedding program. Fields that do not belong to the kind are zero."))
	f.Type().Id(r.Report).Struct(fields...)
	for _, n := range r.Reports {
		if n.Member != "" {
			f.Line()
			f.Comment(base.Comment(n.Typ, strings.TrimSuffix("are the fields of report "+n.R.Name+": "+n.R.Doc, ": ")+"."))
			f.Type().Id(n.Typ).StructFunc(func(s *jen.Group) { g.structFields(s, n.Fields, n.R.Fields) })
		}
	}
	r.ReportKind = kind
}

func (g *gen) declareEffects(f *jen.File, r *types.Machine) {
	f.Line()
	f.Comment(base.Comment(r.Effect, "is one thing that a "+r.Typ+" asks for."))
	fields := []jen.Code{jen.Add(base.Raw("fsm.Effect"))}
	if r.Named {
		fields = append(fields, jen.Id("Named").Bool().Comment("the specification names the destination"))
	}
	fields = append(fields, jen.Id("Message").Id("Message").Comment("for fsm.Send"))
	if len(r.Reports) > 0 {
		fields = append(fields, jen.Id("Report").Id(r.Report).Comment("for fsm.Report"))
	}
	f.Type().Id(r.Effect).Struct(fields...)
	f.Line()
	f.Comment(base.Comment(r.Effects, "is the list of what one step asks for. It keeps its memory from step to step, so that a step does not allocate."))
	list := []jen.Code{jen.Id("list").Index().Id(r.Effect), jen.Id("from").Add(base.Raw("fsm.Peer")).Comment("of the event being handled")}
	reset := "fx.list = fx.list[:0]\nfx.from = from\n"
	if r.Queue != "" {
		list = append(list, jen.Id("fired").Index().Uint16(), jen.Id("settled").Int().Comment("events of parts handled in this step"))
		reset += "fx.fired = fx.fired[:0]\nfx.settled = 0\n"
		for _, m := range r.WithParts() {
			list = append(list, jen.Id(m.Queue).Index().Id(m.Queued).Comment("events of the parts of "+m.Typ))
			reset += fmt.Sprintf("fx.%s = fx.%s[:0]\n", m.Queue, m.Queue)
		}
	}
	f.Type().Id(r.Effects).Struct(list...)
	f.Line()
	f.Comment(base.Comment("Len", "returns the number of effects."))
	f.Add(base.Rawf("func (fx *%s) Len() int { return len(fx.list) }", r.Effects))
	f.Line()
	f.Comment(base.Comment("At", "returns effect i, 0 <= i < Len(). It holds until the next step and must not be changed."))
	f.Add(base.Rawf("func (fx *%s) At(i int) *%s { return &fx.list[i] }", r.Effects, r.Effect))
	if r.Queue != "" {
		f.Line()
		f.Comment(base.Comment("Fired", "lists the transitions of the last step in order: that of the event, then those of its parts' events. It holds until the next step and means something only if the result was Took."))
		f.Add(base.Rawf("func (fx *%s) Fired() []uint16 { return fx.fired }", r.Effects))
	}
	f.Line()
	f.Add(base.Rawf("func (fx *%s) reset(from fsm.Peer) {\n%s}", r.Effects, reset))
	g.effectMethods(f, r)
	for _, m := range r.WithParts() {
		g.declareWaiting(f, m)
	}
}

// effectMethods emits the methods that append effects, those that the role's code calls.
func (g *gen) effectMethods(f *jen.File, r *types.Machine) {
	named := ""
	if r.Named {
		named = ", Named: true"
	}
	methods := []struct{ call, doc, code string }{
		{"send", "send appends a message to the only peer and returns it for its fields to be set.",
			"send(kind MessageKind) *Message {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Send, ID: uint16(kind)}, Message: Message{Kind: kind}})\nreturn &fx.list[len(fx.list)-1].Message\n}"},
		{"sendTo", "sendTo appends a message to a peer and returns it for its fields to be set.",
			"sendTo(kind MessageKind, to fsm.Peer) *Message {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Send, Peer: to, ID: uint16(kind)}, Message: Message{Kind: kind}" + named + "})\nreturn &fx.list[len(fx.list)-1].Message\n}"},
		{"report", "report appends a report and returns it for its fields to be set.",
			"report(kind " + r.ReportKind + ") *" + r.Report + " {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Report, ID: uint16(kind)}, Report: " + r.Report + "{Kind: kind}})\nreturn &fx.list[len(fx.list)-1].Report\n}"},
		{"start", "start asks for a timer to be armed.",
			"start(timer uint16, key uint32) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.StartTimer, ID: timer, Key: key, Ticks: " + g.Table(r, "Ticks") + "[timer]}})\n}"},
		{"startFor", "startFor asks for a timer to be armed for so many ticks.",
			"startFor(timer uint16, key, ticks uint32) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.StartTimer, ID: timer, Key: key, Ticks: ticks}})\n}"},
		{"stop", "stop asks for a timer to be disarmed.",
			"stop(timer uint16, key uint32) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.StopTimer, ID: timer, Key: key}})\n}"},
		{"close", "close asks for the link to the only peer to be closed.",
			"close() {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Close}})\n}"},
		{"closeTo", "closeTo asks for the link to a peer to be closed.",
			"closeTo(to fsm.Peer) {\nfx.list = append(fx.list, E{Effect: fsm.Effect{Kind: fsm.Close, Peer: to}" + named + "})\n}"},
	}
	for _, m := range methods {
		if g.calls(r, m.call) {
			f.Line()
			f.Comment("// " + m.doc)
			f.Add(base.Raw(fmt.Sprintf("func (fx *%s) ", r.Effects) + strings.ReplaceAll(m.code, "E{", r.Effect+"{")))
		}
	}
	if len(r.Alarms) == 0 {
		return
	}
	f.Line()
	f.Comment("// The timers by their index in Info.Timers.")
	f.Const().DefsFunc(func(d *jen.Group) {
		for i, a := range r.Alarms {
			if gotree.Uses(g.code[r], a.Id) {
				d.Id(a.Id).Op("=").Lit(i)
			}
		}
	})
	if g.calls(r, "start") {
		ticks := make([]string, len(r.Alarms))
		for i, a := range r.Alarms {
			ticks[i] = fmt.Sprint(a.Timer.Ticks)
		}
		f.Line()
		f.Comment("// The durations of the timers, in ticks.")
		f.Var().Id(g.Table(r, "Ticks")).Op("=").Add(base.Raw("[...]uint32{" + strings.Join(ticks, ", ") + "}"))
	}
}

// declareWaiting emits the type of the events of parts that wait for their parent.
func (g *gen) declareWaiting(f *jen.File, r *types.Machine) {
	kind := g.Top.Take(r.Queued + "Kind")
	f.Line()
	f.Comment(base.Comment(r.Queued, "is an event of a part of "+r.Typ+" that waits for the end of the statements that caused it."))
	fields := []jen.Code{jen.Id("kind").Id(kind)}
	var names []string
	for _, w := range r.Waiting {
		names = append(names, w.Kind)
		if w.Member != "" {
			fields = append(fields, jen.Id(w.Member).Id(g.FieldsType(w)))
		}
	}
	f.Type().Id(r.Queued).Struct(fields...)
	f.Line()
	f.Type().Id(kind).Uint8()
	f.Line()
	g.enumConsts(f, kind, names, nil)
	for _, w := range r.Waiting {
		if w.Member != "" {
			f.Line()
			f.Type().Id(g.FieldsType(w)).StructFunc(func(s *jen.Group) {
				for i, fl := range w.Ev.Fields {
					s.Id(w.Fields[i]).Add(base.Raw(g.Typ(fl.Type, "").Name))
				}
			})
		}
	}
}
