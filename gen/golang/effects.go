package golang

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// effectsFile composes the file with a role's events, reports and effects.
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
	fields = append(fields, jen.Id("From").Add(gotree.Code(gotree.X("fsm.Peer"))).
		Comment("who sent the message, or whose link it is"))
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
	f.Comment(base.Comment(r.Event,
		"is one event for a "+r.Typ+". Fields that do not belong to the kind are not looked at."))
	f.Type().Id(r.Event).Struct(fields...)
	for _, e := range structs {
		f.Line()
		f.Comment(fieldsComment(e.Typ, "command", e.Ev.Name, e.Ev.Doc))
		f.Type().Id(e.Typ).StructFunc(func(s *jen.Group) { g.structFields(s, e.Fields, e.Ev.Fields) })
	}
	g.declareEventChecks(f, r)
}

// eventDoc returns the comment for an event's constant.
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

// declareEventChecks emits the methods that find events with fields outside their ranges, if there can be
// such events.
func (g *gen) declareEventChecks(f *jen.File, r *types.Machine) {
	invalid, outside := g.eventChecks(r)
	if len(invalid) == 0 {
		return
	}
	ev := gotree.X("ev.Kind")
	funcs(f, []*gotree.Func{
		gotree.F(`// invalid reports whether a field is outside its type's range; such an event is refused.
			func (ev *$1) invalid() bool {
				$2
				return false
			}`, r.Event, choice(ev, invalid)),
		gotree.F(`// outside notes the first field that is outside its type's range.
			func (ev *$1) outside(why *fsm.Refusal) {
				$2
			}`, r.Event, choice(ev, outside)),
	})
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
	f.Comment(base.Comment(r.Report,
		"is what a "+r.Typ+" tells the embedding program. Fields that do not belong to the kind are zero."))
	f.Type().Id(r.Report).Struct(fields...)
	for _, n := range r.Reports {
		if n.Member != "" {
			f.Line()
			f.Comment(fieldsComment(n.Typ, "report", n.R.Name, n.R.Doc))
			f.Type().Id(n.Typ).StructFunc(func(s *jen.Group) { g.structFields(s, n.Fields, n.R.Fields) })
		}
	}
	r.ReportKind = kind
}

// fieldsComment is the comment of the struct that has the fields of a command or a report.
func fieldsComment(typ, kind, name, doc string) string {
	text := "are the fields of " + kind + " " + name
	if doc != "" {
		text += ": " + doc
	}
	return base.Comment(typ, text+".")
}

func (g *gen) declareEffects(f *jen.File, r *types.Machine) {
	f.Line()
	text := "is one thing that a " + r.Typ + " asks for."
	if g.large(r) {
		text += " What belongs to another kind means nothing."
	}
	f.Comment(base.Comment(r.Effect, text))
	fields := []jen.Code{gotree.Code(gotree.X("fsm.Effect"))}
	if r.Named {
		fields = append(fields, jen.Id("Named").Bool().Comment("the specification names the destination"))
	}
	fields = append(fields, jen.Id("Message").Id("Message").Comment("for fsm.Send"))
	if len(r.Reports) > 0 {
		fields = append(fields, jen.Id("Report").Id(r.Report).Comment("for fsm.Report"))
	}
	f.Type().Id(r.Effect).Struct(fields...)
	f.Line()
	f.Comment(base.Comment(r.Effects,
		"is the list of what one step asks for. It keeps its memory from step to step, "+
			"so that a step does not allocate."))
	list := []jen.Code{jen.Id("list").Index().Id(r.Effect),
		jen.Id("from").Add(gotree.Code(gotree.X("fsm.Peer"))).Comment("of the event being handled")}
	reset := gotree.S("fx.list = fx.list[:0]\nfx.from = from")
	if r.Queue != "" {
		list = append(list, jen.Id("fired").Index().Uint16(),
			jen.Id("settled").Int().Comment("events of parts handled in this step"))
		reset = append(reset, gotree.S("fx.fired = fx.fired[:0]\nfx.settled = 0")...)
		for _, m := range r.WithParts() {
			list = append(list, jen.Id(m.Queue).Index().Id(m.Queued).Comment("events of the parts of "+m.Typ))
			reset = append(reset, gotree.S("fx.$1 = fx.$1[:0]", m.Queue)...)
		}
	}
	f.Type().Id(r.Effects).Struct(list...)
	methods := []*gotree.Func{
		gotree.F("// Len returns the number of effects.\nfunc (fx *$1) Len() int { return len(fx.list) }", r.Effects),
		gotree.F(`// At returns effect i, 0 <= i < Len(). It holds until the next step and must not be changed.
			func (fx *$1) At(i int) *$2 { return &fx.list[i] }`, r.Effects, r.Effect),
	}
	if r.Queue != "" {
		fired := gotree.F("func (fx *$1) Fired() []uint16 { return fx.fired }", r.Effects)
		fired.Doc = base.Comment("Fired",
			"lists the transitions of the last step in order: that of the event, then those of its parts' events. It "+
				"holds until the next step and means something only if the result was Took.")
		methods = append(methods, fired)
	}
	funcs(f, append(methods, gotree.F("func (fx *$1) reset(from fsm.Peer) {\n$2\n}", r.Effects, reset)))
	g.effectMethods(f, r)
	for _, m := range r.WithParts() {
		g.declareWaiting(f, m)
	}
}

// effectMethods emits those methods that append effects which the role's code calls.
func (g *gen) effectMethods(f *jen.File, r *types.Machine) {
	effect := func(fields ...gotree.Elem) gotree.Expr { return gotree.Struct(gotree.X("fsm.Effect"), fields...) }
	element := func(effect gotree.Expr, more ...gotree.Elem) []gotree.Stmt {
		return gotree.S("fx.list = append(fx.list, $1)", gotree.Struct(gotree.X(r.Effect),
			append([]gotree.Elem{gotree.Field("Effect", effect)}, more...)...))
	}
	field := func(name, template string, args ...any) gotree.Elem {
		return gotree.Field(name, gotree.X(template, args...))
	}
	id, key, timer := field("ID", "uint16(kind)"), field("Key", "key"), field("ID", "timer")
	to, message := field("Peer", "to"), field("Message", "Message{Kind: kind}")
	var named []gotree.Elem
	if r.Named {
		named = []gotree.Elem{field("Named", "true")}
	}
	kind := func(k string) gotree.Elem { return field("Kind", "fsm.$1", k) }
	start := func(ticks gotree.Elem) []gotree.Stmt { return element(effect(kind("StartTimer"), timer, key, ticks)) }
	asks := []*gotree.Func{
		gotree.F(`// send appends a message to the only peer and returns it for its fields to be set.
			func (fx *$1) send(kind MessageKind) *Message {
				$2
				return &fx.list[len(fx.list)-1].Message
			}`,
			r.Effects, element(effect(kind("Send"), id), message)),
		gotree.F(`// sendTo appends a message to a peer and returns it for its fields to be set.
			func (fx *$1) sendTo(kind MessageKind, to fsm.Peer) *Message {
				$2
				return &fx.list[len(fx.list)-1].Message
			}`,
			r.Effects, element(effect(kind("Send"), to, id), append([]gotree.Elem{message}, named...)...)),
		gotree.F(`// report appends a report and returns it for its fields to be set.
			func (fx *$1) report(kind $2) *$3 {
				$4
				return &fx.list[len(fx.list)-1].Report
			}`,
			r.Effects, r.ReportKind, r.Report, element(effect(kind("Report"), id),
				field("Report", "$1{Kind: kind}", r.Report))),
		gotree.F("// start asks for a timer to be armed.\nfunc (fx *$1) start(timer uint16, key uint32) {\n$2\n}",
			r.Effects, start(field("Ticks", "$1[timer]", g.Table(r, "Ticks")))),
		gotree.F(`// startFor asks for a timer to be armed for so many ticks.
			func (fx *$1) startFor(timer uint16, key, ticks uint32) {
				$2
			}`,
			r.Effects, start(field("Ticks", "ticks"))),
		gotree.F("// stop asks for a timer to be disarmed.\nfunc (fx *$1) stop(timer uint16, key uint32) {\n$2\n}",
			r.Effects, element(effect(kind("StopTimer"), timer, key))),
		gotree.F("// close asks for the link to the only peer to be closed.\nfunc (fx *$1) close() {\n$2\n}",
			r.Effects, element(effect(kind("Close")))),
		gotree.F("// closeTo asks for the link to a peer to be closed.\nfunc (fx *$1) closeTo(to fsm.Peer) {\n$2\n}",
			r.Effects, element(effect(kind("Close"), to), named...)),
	}
	if g.large(r) {
		for i, fn := range asks {
			if again := g.inPlace(r, fn.Name); again != nil {
				asks[i] = again
			}
		}
	}
	added := false
	for _, fn := range asks {
		if !gotree.Calls(g.code[r], "fx", fn.Name) {
			continue
		}
		if gotree.Calls([]*gotree.Func{fn}, "fx", "next") && !added {
			added = true
			funcs(f, []*gotree.Func{g.nextEffect(r)})
		}
		funcs(f, []*gotree.Func{fn})
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
	if gotree.Calls(g.code[r], "fx", "start") {
		var ticks []gotree.Expr
		for _, a := range r.Alarms {
			ticks = append(ticks, gotree.Int(a.Timer.Ticks))
		}
		table(f, g.Table(r, "Ticks"), "The durations of the timers, in ticks.", gotree.X("[...]uint32{$1}", ticks))
	}
}

// muchMemory is the size of an effect, in bytes, from which a step keeps the memory of those before it as it is. To
// clear it for each one costs more than the rest of the step then.
const muchMemory = 8 << 10

// large reports whether the effects of a role are so large.
func (g *gen) large(r *types.Machine) bool {
	n := 0
	add := func(fields []*model.Field) {
		for _, f := range fields {
			n += model.MostBytes(f.Type)
		}
	}
	for _, m := range g.P.Messages {
		add(m.Fields)
	}
	for _, p := range r.M.Reports {
		add(p.Fields)
	}
	return n >= muchMemory
}

// nextEffect is the method that gives the memory of another effect, for those of inPlace.
func (g *gen) nextEffect(r *types.Machine) *gotree.Func {
	return gotree.F(`// next appends an effect and returns it as it was when its memory was used last.
		func (fx *$1) next() *$2 {
			if len(fx.list) == cap(fx.list) {
				fx.list = append(fx.list, $2{})
			} else {
				fx.list = fx.list[:len(fx.list)+1]
			}
			return &fx.list[len(fx.list)-1]
		}`, r.Effects, r.Effect)
}

// inPlace returns the method of that name, for large effects. A message or a report is cleared unless the one
// before was of the same kind: the caller sets all fields of that. It returns nil for methods that are called rarely.
func (g *gen) inPlace(r *types.Machine, name string) *gotree.Func {
	switch name {
	case "send":
		return gotree.F(`// send appends a message to the only peer and returns it for its fields to be set.
			func (fx *$1) send(kind MessageKind) *Message {
				e := fx.next()
				e.Effect = fsm.Effect{Kind: fsm.Send, ID: uint16(kind)}
				if e.Message.Kind != kind {
					e.Message = Message{Kind: kind}
				}
				return &e.Message
			}`, r.Effects)
	case "sendTo":
		return gotree.F(`// sendTo appends a message to a peer and returns it for its fields to be set.
			func (fx *$1) sendTo(kind MessageKind, to fsm.Peer) *Message {
				e := fx.next()
				e.Effect = fsm.Effect{Kind: fsm.Send, Peer: to, ID: uint16(kind)}
				$2
				if e.Message.Kind != kind {
					e.Message = Message{Kind: kind}
				}
				return &e.Message
			}`, r.Effects, named(r, "true"))
	case "report":
		return gotree.F(`// report appends a report and returns it for its fields to be set.
			func (fx *$1) report(kind $2) *$3 {
				e := fx.next()
				e.Effect = fsm.Effect{Kind: fsm.Report, ID: uint16(kind)}
				$4
				if e.Report.Kind != kind {
					e.Report = $3{Kind: kind}
				}
				return &e.Report
			}`, r.Effects, r.ReportKind, r.Report, named(r, "false"))
	case "start":
		return gotree.F(`// start asks for a timer to be armed.
			func (fx *$1) start(timer uint16, key uint32) {
				e := fx.next()
				e.Effect = fsm.Effect{Kind: fsm.StartTimer, ID: timer, Key: key, Ticks: $2[timer]}
				$3
			}`, r.Effects, g.Table(r, "Ticks"), named(r, "false"))
	case "stop":
		return gotree.F(`// stop asks for a timer to be disarmed.
			func (fx *$1) stop(timer uint16, key uint32) {
				e := fx.next()
				e.Effect = fsm.Effect{Kind: fsm.StopTimer, ID: timer, Key: key}
				$2
			}`, r.Effects, named(r, "false"))
	}
	return nil
}

// named sets whether the specification names the destination, if that may be so.
func named(r *types.Machine, value string) []gotree.Stmt {
	if !r.Named {
		return nil
	}
	return gotree.S("e.Named = " + value)
}

// declareWaiting emits the type of the queued events of parts.
func (g *gen) declareWaiting(f *jen.File, r *types.Machine) {
	kind := g.Top.Take(r.Queued + "Kind")
	f.Line()
	f.Comment(base.Comment(r.Queued,
		"is an event of a part of "+r.Typ+" that waits for the end of the statements that caused it."))
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
					s.Id(w.Fields[i]).Add(gotree.Code(g.Typ(fl.Type, "").X))
				}
			})
		}
	}
}
