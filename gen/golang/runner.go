package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/body"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// runnerMethods are names that methods for commands must not have; the last four mean something to package fmt.
var runnerMethods = []string{
	"Info", "Start", "LinkUp", "LinkLost", "Timeout", "Command", "Frame", "FrameSize", "Stream",
	"Effects", "Effect", "Fired", "Refusal", "State", "Machine", "Step", "Event", "Message", "Report",
	"AppendFrame", "FrameOn", "FrameSizeOn", "FrameIn", "FrameSizeIn",
	"AppendEvent", "AppendEffect", "AppendMachine", "AppendLegal",
	"String", "GoString", "Error", "Format",
}

// runnerFile composes the file that implements fsm.Runner for a role.
func (g *gen) runnerFile(r *types.Machine) *jen.File {
	f := g.File(g.O.Package)
	more := "fsm.Streamer"
	if g.P.Phased() {
		more = "fsm.Phased"
	}
	f.Comment(base.Comment(r.Runner,
		"runs a "+r.Typ+": the machine, one event and the effects of its last step. It implements fsm.Runner, "+
			"fsm.Commander and "+more+"; one goroutine owns it."))
	f.Type().Id(r.Runner).Struct(
		jen.Id("Machine").Id(r.Typ).Comment("may be read between steps, and replaced by a snapshot of the same "+
			"specification"),
		jen.Id("event").Id(r.Event), jen.Id("effects").Id(r.Effects))
	f.Line()
	implements := func(name string) jen.Code {
		return jen.Id("_").Add(gotree.Code(gotree.X("fsm.$1", name))).Op("=").Add(gotree.Code(gotree.X("(*$1)(nil)",
			r.Runner)))
	}
	defs := []jen.Code{implements("Commander")}
	switch {
	case g.P.Phased():
		defs = append(defs, implements("Phased"))
	case g.P.Several() && firstMessage(r) != "":
		defs = append(defs, implements("Streamer"), implements("Channeled"))
	default:
		defs = append(defs, implements("Streamer"))
	}
	f.Var().Defs(defs...)
	funcs(f, g.newRunner(r))
	funcs(f, g.commandMethods(r))
	funcs(f, g.commandText(r))
	funcs(f, g.eventMethods(r))
	if g.P.Several() && firstMessage(r) != "" {
		funcs(f, g.onChannels(r))
	}
	funcs(f, g.effectAccess(r))
	funcs(f, g.renderMethods(r))
	g.handlers(f, r)
	g.info(f, r)
	return f
}

// handlers declares a struct with a function for each report, and the method that calls them.
func (g *gen) handlers(f *jen.File, r *types.Machine) {
	if len(r.Reports) == 0 {
		return
	}
	name := g.Top.Take(r.Typ + "Handlers")
	var members []jen.Code
	var cases []*gotree.Case
	for _, n := range r.Reports {
		member := strings.TrimPrefix(n.Kind, r.Prefix+"Report")
		if member == "OnReport" { // the method's name
			member += "Handler"
		}
		typ, call := jen.Func().Params(), gotree.X("h.$1()", member)
		if n.Member != "" {
			typ = jen.Func().Params(jen.Id(n.Typ))
			call = gotree.X("h.$1(r.Report(i).$2)", member, n.Member)
		}
		x := jen.Id(member).Add(typ)
		if n.R.Doc != "" {
			x.Comment(base.Sentence(n.R.Doc))
		}
		members = append(members, x)
		cases = append(cases, when(gotree.S("if h.$1 != nil {\n$2\n}", member, call), n.Kind))
	}
	f.Line()
	f.Comment(base.Comment(name, "has a function for each report of a "+r.Typ+"; those that are nil are not called."))
	f.Type().Id(name).Struct(members...)
	report := gotree.F("func (h *$1) OnReport(r *$2, i int) {\n$3\n}", name, r.Runner,
		choice(gotree.X("r.Report(i).Kind"), cases))
	report.Doc = base.Comment("OnReport", "calls the function for effect i of r's last step, which is a report. "+
		"It is for driver.Options and package play.")
	funcs(f, []*gotree.Func{report})
}

// method composes a method of a runner. The template has the rest of its signature, and its body; $1 is
// the runner.
func method(r *types.Machine, doc, template string, args ...any) *gotree.Func {
	f := gotree.F("func (r *$1) "+template, append([]any{r.Runner}, args...)...)
	f.Doc = base.Comment("", doc)
	return f
}

func (g *gen) newRunner(r *types.Machine) []*gotree.Func {
	scope := g.Locals()
	scope.Take("r")
	params := g.Params(r, scope)
	var args []gotree.Expr
	for _, p := range params {
		args = append(args, gotree.Name{Name: p.Name})
	}
	effects := gotree.X("$1{list: make([]$2, 0, $3)}", r.Effects, r.Effect, min(g.MaxEffects(r), 64))
	call := gotree.X("$1($2)", g.Maker(r.Typ), args)
	f := &gotree.Func{Name: g.Maker(r.Runner), Params: params,
		Results: []gotree.Param{{Type: gotree.X("*$1", r.Runner)}}}
	doc := "makes a runner with a machine in its initial state."
	if len(g.Constructor(r).Results) > 1 {
		doc += " The error says which parameter is wrong."
		f.Results = append(f.Results, gotree.Param{Type: gotree.X("error")})
		f.Body = gotree.S(`m, err := $1
			if err != nil {
				return nil, err
			}
			return &$2{Machine: m, effects: $3}, nil`, call, r.Runner, effects)
	} else {
		f.Body = gotree.S("return &$1{Machine: $2, effects: $3}", r.Runner, call, effects)
	}
	f.Doc = base.Comment(f.Name, doc+body.SetsDoc(r))
	return []*gotree.Func{f}
}

// commandNames returns the names of the methods for a role's commands, in the commands' order.
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

func (g *gen) commandMethods(r *types.Machine) []*gotree.Func {
	var out []*gotree.Func
	names := commandNames(r)
	for _, e := range r.Events {
		if e.Ev.Kind != model.EventCommand {
			continue
		}
		name := names[slices.Index(r.M.Commands, e.Ev)]
		scope := g.Locals()
		scope.Take("r")
		var params []gotree.Param
		var fields []gotree.Elem
		for i, f := range e.Ev.Fields {
			n := scope.Local(f.Name)
			params = append(params, gotree.Param{Name: n, Type: g.Typ(f.Type, "").X})
			fields = append(fields, gotree.Field(e.Fields[i], gotree.Name{Name: n}))
		}
		doc := name + " gives the command " + e.Ev.Name + "."
		if e.Ev.Doc != "" {
			doc = name + " gives the command " + e.Ev.Name + ": " + base.Sentence(e.Ev.Doc)
		}
		var given []gotree.Stmt
		if e.Member != "" {
			given = gotree.S("r.event.$1 = $2{$3}", e.Member, e.Typ, fields)
		}
		f := method(r, doc+" Refused means that it is not available now.",
			`$2() fsm.Result {
				r.event.Kind = $3
				$4
				return r.Machine.Step(&r.event, &r.effects)
			}`, name, e.Kind, given)
		f.Params = params
		out = append(out, f)
	}
	return out
}

func (g *gen) eventMethods(r *types.Machine) []*gotree.Func {
	kind := func(k model.EventKind) string {
		for _, e := range r.Events {
			if e.Ev.Kind == k {
				return e.Kind
			}
		}
		return ""
	}
	out := []*gotree.Func{
		method(r, "Step gives the machine an event.",
			"Step(ev *$2) fsm.Result {\nr.event = *ev\nreturn r.Machine.Step(&r.event, &r.effects)\n}", r.Event),
		method(r, "Start implements fsm.Runner.",
			`Start() fsm.Result {
					r.event.Kind = $2
					return r.Machine.Step(&r.event, &r.effects)
				}`, kind(model.EventStart)),
		method(r, "LinkUp implements fsm.Runner.",
			`LinkUp(peer fsm.Peer) fsm.Result {
					r.event.Kind, r.event.From = $2, peer
					return r.Machine.Step(&r.event, &r.effects)
				}`, kind(model.EventUp)),
		method(r, "LinkLost implements fsm.Runner.",
			`LinkLost(peer fsm.Peer) fsm.Result {
					r.event.Kind, r.event.From = $2, peer
					return r.Machine.Step(&r.event, &r.effects)
				}`, kind(model.EventLost)),
		g.timeout(r),
	}
	if g.P.Phased() {
		return append(out, g.inPhases(r)...)
	}
	return append(out,
		g.frameMethod(r),
		method(r, "FrameSize implements fsm.Runner.", "FrameSize(b []byte) (int, error) { return $2 }",
			g.frameSize(r, gotree.X("b"), g.P.News())),
		// Written for each role, because only the methods of a known type are called directly and inlined.
		method(r, "Stream implements fsm.Streamer.", streamMethod,
			g.frameSize(r, gotree.X("in[s.Bytes:]"), g.P.News())))
}

// inPhases composes the methods of Phased, and those of Runner for the first phase.
func (g *gen) inPhases(r *types.Machine) []*gotree.Func {
	frame := `FrameIn(from fsm.Peer, phase uint8, frame []byte) (uint8, fsm.Result, error) {
	if err := DecodeMessageIn($2, phase, frame, &r.event.Message); err != nil {
		r.effects.reset(from)
		return phase, refused(fsm.NoTransition), err
	}
	r.event.Kind, r.event.From = $3+$4(r.event.Message.Kind), from
	return PhaseAfter(phase, r.event.Message.Kind), r.Machine.Step(&r.event, &r.effects), nil
}`
	role := gotree.Str(r.M.Name)
	return []*gotree.Func{
		method(r, "FrameIn implements fsm.Phased. The frame is decoded in place and not kept.", frame, role,
			firstMessage(r), r.Kind),
		method(r, "FrameSizeIn implements fsm.Phased.",
			"FrameSizeIn(phase uint8, b []byte) (int, error) { return FrameSizeIn($2, phase, b) }", role),
		method(r, "Frame implements fsm.Runner, for the first phase.",
			`Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
				_, res, err := r.FrameIn(from, 0, frame)
				return res, err
			}`),
		method(r, "FrameSize implements fsm.Runner, for the first phase.",
			"FrameSize(b []byte) (int, error) { return FrameSizeIn($2, 0, b) }", role),
	}
}

func (g *gen) timeout(r *types.Machine) *gotree.Func {
	g.Helpers["refused"] = true
	if len(r.Alarms) == 0 {
		return method(r, "Timeout implements fsm.Runner; the machine has no timers.",
			"Timeout(uint16, uint32) fsm.Result {\nr.effects.reset(0)\nreturn refused(fsm.NoTransition)\n}")
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
	name, set := "_", []gotree.Stmt{}
	if keyed {
		name, set = "key", gotree.S("r.event.Key = key")
	}
	return method(r, "Timeout implements fsm.Runner.", `Timeout(timer uint16, $2 uint32) fsm.Result {
	if timer >= $3 {
		r.effects.reset(0)
		return refused(fsm.NoTransition)
	}
	$4
	r.event.Kind = $5 + $6(timer)
	return r.Machine.Step(&r.event, &r.effects)
}`, name, len(r.Alarms), set, first, r.Kind)
}

// decode composes the decoding of a frame of a channel that the role receives.
func (g *gen) decode(r *types.Machine, channel int) gotree.Expr {
	if g.P.Over(channel).Directed() {
		return gotree.X("$2($1, frame, &r.event.Message)", gotree.Str(r.M.Name),
			g.OfChannel("DecodeMessageTo", channel))
	}
	return gotree.X("$1(frame, &r.event.Message)", g.OfChannel("DecodeMessage", channel))
}

// onChannels composes the methods of Channeled, which do as those of Runner with a frame of one channel.
func (g *gen) onChannels(r *types.Machine) []*gotree.Func {
	decode, size := &gotree.Switch{Tag: gotree.X("channel")}, &gotree.Switch{Tag: gotree.X("channel")}
	for k := range g.P.Channels() {
		at := []gotree.Expr{gotree.Int(k)}
		decode.Cases = append(decode.Cases, &gotree.Case{List: at, Body: gotree.S("err = $1", g.decode(r, k))})
		size.Cases = append(size.Cases, &gotree.Case{List: at,
			Body: gotree.S("return $1", g.frameSize(r, gotree.X("b"), k))})
	}
	return []*gotree.Func{
		method(r, "FrameSizeOn implements fsm.Channeled.", `FrameSizeOn(channel int, b []byte) (int, error) {
	$2
	return 0, wire.Error{Problem: wire.UnknownType}
}`, gotree.Stmt(size)),
		method(r, "FrameOn implements fsm.Channeled. The frame is decoded in place and not kept.",
			`FrameOn(from fsm.Peer, channel int, frame []byte) (fsm.Result, error) {
	var err error = wire.Error{Problem: wire.UnknownType}
	$4
	if err != nil {
		r.effects.reset(from)
		return refused(fsm.NoTransition), err
	}
	r.event.Kind, r.event.From = $2+$3(r.event.Message.Kind), from
	return r.Machine.Step(&r.event, &r.effects), nil
}`, firstMessage(r), r.Kind, gotree.Stmt(decode)),
	}
}

// frameMethod composes Runner.Frame: decode, find the event of the message, step.
func (g *gen) frameMethod(r *types.Machine) *gotree.Func {
	const doc = "Frame implements fsm.Runner. The frame is decoded in place and not kept."
	first := firstMessage(r)
	if first == "" {
		return method(r, doc, `Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
				r.effects.reset(from)
				_ = frame
				return refused(fsm.NoTransition), nil
			}`)
	}
	return method(r, doc, `Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	if err := $4; err != nil {
		r.effects.reset(from)
		return refused(fsm.NoTransition), err
	}
	r.event.Kind, r.event.From = $2+$3(r.event.Message.Kind), from
	return r.Machine.Step(&r.event, &r.effects), nil
}`, first, r.Kind, g.decode(r, g.P.News()))
}

// frameSize composes the size of the frame at the beginning of b, which the role receives from a channel.
func (g *gen) frameSize(r *types.Machine, b gotree.Expr, channel int) gotree.Expr {
	if p := g.P.Over(channel); p.Directed() && p.Wire.Self {
		return gotree.X("$3($1, $2)", gotree.Str(r.M.Name), b, g.OfChannel("FrameSizeTo", channel))
	}
	return gotree.X("$2($1)", b, g.OfChannel("FrameSize", channel))
}

// firstMessage returns the constant for the event of the first message. Those of the others follow it,
// in the order of the messages. It returns "" if there are no messages.
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

func (g *gen) effectAccess(r *types.Machine) []*gotree.Func {
	out := []*gotree.Func{
		method(r, "Effects implements fsm.Runner.", "Effects() int { return len(r.effects.list) }"),
		method(r, "Effect implements fsm.Runner.", "Effect(i int) fsm.Effect { return r.effects.list[i].Effect }"),
		method(r, "Message returns the message of the Send effect i of the last step. It holds until the next step.",
			"Message(i int) *Message { return &r.effects.list[i].Message }"),
	}
	if len(r.Reports) > 0 {
		out = append(out, method(r, "Report returns the report of the Report effect i of the last step. It holds "+
			"until the next step.", "Report(i int) *$2 { return &r.effects.list[i].Report }", r.Report))
	}
	out = append(out, method(r, "Event returns the last event. It holds until the next one.",
		"Event() *$2 { return &r.event }", r.Event))
	if r.Queue != "" {
		out = append(out, method(r, "Fired lists the transitions of the last step, as Effects.Fired does.",
			"Fired() []uint16 { return r.effects.fired }"))
	}
	return append(out,
		method(r, "AppendFrame implements fsm.Runner.",
			`AppendFrame(dst []byte, i int) ([]byte, error) {
				return AppendMessage(dst, &r.effects.list[i].Message)
			}`),
		method(r, "State implements fsm.Runner.", "State() uint16 { return uint16(r.Machine.State) }"))
}

func (g *gen) renderMethods(r *types.Machine) []*gotree.Func {
	var cases []*gotree.Case
	var messages []string
	event := gotree.X("r.event")
	for _, e := range r.Events {
		switch {
		case e.Ev.Kind == model.EventMessage:
			messages = append(messages, e.Kind)
		case e.Ev.Kind == model.EventTimer && r.Alarms[e.Alarm].Keyed():
			cases = append(cases, when(g.alarmText(r.Alarms[e.Alarm], gotree.X("$1.Key", event), true, give), e.Kind))
		case e.Member != "":
			cases = append(cases, when(g.renderedFields(e.Ev.Fields, gotree.X("$1.$2", event, e.Member), e.Fields,
				e.Ev.Name, give), e.Kind))
		}
	}
	if len(messages) > 0 {
		cases = append(cases, when(gotree.S("return appendMessage(b, &r.event.Message)"), messages...))
	}
	return []*gotree.Func{
		method(r, "AppendEvent implements fsm.Runner.",
			`AppendEvent(b []byte) []byte {
					$2
					return append(b, r.event.Kind.String()...)
				}`, choice(gotree.X("r.event.Kind"), cases)),
		g.effectText(r),
		g.refusal(r),
		method(r, "AppendMachine implements fsm.Runner.",
			"AppendMachine(b []byte) []byte { return $2(b, &r.Machine) }", g.machineFunc(r)),
		method(r, "AppendLegal implements fsm.Runner.",
			"AppendLegal(b []byte) []byte { return append(b, $2[r.Machine.State]...) }", g.Table(r, "Legal")),
	}
}

// refusal composes Runner.Refusal. It uses a table, so that a step need not know why it refuses.
func (g *gen) refusal(r *types.Machine) *gotree.Func {
	const doc = "Refusal implements fsm.Runner."
	why := gotree.X("fsm.Refusal{Branch: fsm.NoTransition}")
	if len(g.handled(r)) > 0 {
		why = gotree.X("fsm.Handled($1, int(r.Machine.State), int(r.event.Kind))", g.Table(r, "Handles"))
	}
	if !g.Checked(r) {
		return method(r, doc, "Refusal() fsm.Refusal { return $2 }", why)
	}
	return method(r, doc, "Refusal() fsm.Refusal {\nwhy := $2\nr.event.outside(&why)\nreturn why\n}", why)
}

// handled returns for each state the numbers of the first branches for its events, plus one.
func (g *gen) handled(r *types.Machine) []gotree.Elem {
	var rows []gotree.Elem
	for _, st := range r.M.States {
		var list []gotree.Elem
		for _, e := range r.Events {
			if e.Ev.Kind == model.EventTimer && r.Alarms[e.Alarm].Of != r {
				continue
			}
			if h := types.HandlerOf(st, e.Ev); h != nil && h.Mode == model.Handle && len(h.Branches) > 0 {
				list = append(list, gotree.At(gotree.X(e.Kind), gotree.Int(h.Branches[0].ID+1)))
			}
		}
		if len(list) > 0 {
			rows = append(rows, gotree.At(gotree.X(r.States[st.Index]), gotree.Composite{Elems: list}))
		}
	}
	return rows
}

func (g *gen) effectText(r *types.Machine) *gotree.Func {
	cases := []*gotree.Case{{List: []gotree.Expr{gotree.X("fsm.Send")},
		Body: gotree.S("b = appendMessage(append(b, ' '), &e.Message)")}}
	if len(r.Reports) > 0 {
		cases = append(cases, &gotree.Case{List: []gotree.Expr{gotree.X("fsm.Report")}, Body: g.reportText(r)})
	}
	if len(r.Alarms) > 0 {
		cases = append(cases, &gotree.Case{List: []gotree.Expr{gotree.X("fsm.StartTimer"),
			gotree.X("fsm.StopTimer")}, Body: g.timerText(r)})
	}
	var named []gotree.Stmt
	if r.Named {
		named = gotree.S("if e.Named {\nb = wire.AppendTo(b, e.Peer)\n}")
	}
	return method(r, "AppendEffect implements fsm.Runner.", `AppendEffect(b []byte, i int) []byte {
	e := &r.effects.list[i]
	b = append(b, e.Kind.String()...)
	$2
	$3
	return b
}`, choice(gotree.X("e.Kind"), cases), named)
}

// reportText composes the text of a report, after a space.
func (g *gen) reportText(r *types.Machine) []gotree.Stmt {
	var cases []*gotree.Case
	for _, n := range r.Reports {
		if n.Member != "" {
			cases = append(cases, when(g.renderedFields(n.R.Fields, gotree.X("e.Report.$1", n.Member), n.Fields,
				" "+n.R.Name, give), n.Kind))
		}
	}
	return append(choice(gotree.X("e.Report.Kind"), cases),
		gotree.S(`b = wire.AppendWord(b, " ", e.Report.Kind.String())`)...)
}

// timerText composes the name of a timer that is started or stopped, after a space. If the duration is
// computed, it follows.
func (g *gen) timerText(r *types.Machine) []gotree.Stmt {
	var cases []*gotree.Case
	var computed []gotree.Expr
	for i, a := range r.Alarms {
		if a.Keyed() {
			cases = append(cases, &gotree.Case{List: []gotree.Expr{gotree.Int(i)},
				Body: g.alarmText(a, gotree.X("e.Key"), false, keep)})
		}
		if a.Timer.Length != nil {
			computed = append(computed, gotree.X("e.ID == $1", i))
		}
	}
	name := gotree.X("$1.Timers[e.ID]", g.Table(r, "Info"))
	code := gotree.S(`b = wire.AppendWord(b, " ", $1)`, name)
	if len(cases) > 0 {
		cases = append(cases, &gotree.Case{Body: gotree.S("b = append(b, $1...)", name)})
		code = gotree.S("b = append(b, ' ')\n$1", choice(gotree.X("e.ID"), cases))
	}
	if len(computed) > 0 {
		code = append(code, gotree.S(`if e.Kind == fsm.StartTimer && $1 {
				b = wire.AppendUint(b, " for ", uint64(e.Ticks))
			}`, gotree.Or(computed...))...)
	}
	return code
}

// alarmText composes the name of a timer with the part that it is in: `fleet[true, 3].retry`. The keys
// of the timer itself are written as fields in its expiry, `alive{p: 2}`, and elsewhere as an index,
// `alive[2]`.
func (g *gen) alarmText(a types.Alarm, key gotree.Expr, event bool, end func(gotree.Expr) gotree.Stmt) []gotree.Stmt {
	var chain []*types.Machine
	for m := a.Of; m.Part != nil; m = m.Up {
		chain = append([]*types.Machine{m}, chain...)
	}
	keys := types.KeysFrom(key, a.Keys())
	var code []gotree.Stmt
	pending, n := "", 0
	one := func(before string, k *model.Field) {
		x := g.FromIndex(keys[n], k.Type)
		if !k.Type.Scalar() || k.Type.Kind == model.KindSet {
			name := "key" + strconv.Itoa(n)
			code = append(code, gotree.S("$1 := $2", name, x)...)
			x = gotree.Name{Name: name}
		}
		code = append(code, g.rendered(pending+before, k.Type, x)...)
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
	return append(code, end(after(pending)))
}
