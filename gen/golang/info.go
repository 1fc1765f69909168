package golang

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// info emits the description of a role (fsm.Info) and its tables.
func (g *gen) info(f *jen.File, r *types.Machine) {
	m, p := r.M, g.P
	var states, messages, commands, reports, timers []string
	var finals []bool
	var legal []gotree.Elem
	for i, s := range m.States {
		states, finals = append(states, s.Name), append(finals, s.Final)
		legal = append(legal, gotree.At(gotree.X(r.States[i]), gotree.Str(legalIn(m, s))))
	}
	for _, x := range p.Messages {
		messages = append(messages, x.Name)
	}
	for _, x := range m.Commands {
		commands = append(commands, x.Name)
	}
	for _, x := range m.Reports {
		reports = append(reports, x.Name)
	}
	for _, x := range r.Alarms {
		timers = append(timers, x.Name)
	}
	name := g.Table(r, "Info")
	info := gotree.F("func (r *$1) Info() *fsm.Info { return &$2 }", r.Runner, name)
	info.Doc = "// Info implements fsm.Runner."
	funcs(f, []*gotree.Func{info})
	elems := []gotree.Elem{
		gotree.Field("Protocol", gotree.Str(p.Name)), gotree.Field("Role", gotree.Str(m.Name)), gotree.Field("Hash",
			gotree.X("hash")),
		gotree.Field("States", names(states)), gotree.Field("Final", flags(finals)), gotree.Field("Messages",
			names(messages)),
		gotree.Field("Commands", names(commands)), gotree.Field("Reports", names(reports)), gotree.Field("Timers",
			names(timers)),
		gotree.Field("Transitions", g.transitions(m)),
	}
	if slices.ContainsFunc(r.Alarms, func(a types.Alarm) bool { return a.Timer.Absolute }) {
		var absolute []bool // whether the timer runs on while the machine is away
		for _, a := range r.Alarms {
			absolute = append(absolute, a.Timer.Absolute)
		}
		elems = append(elems, gotree.Field("Absolute", flags(absolute)))
	}
	elems = append(elems, gotree.Field("TickNanos", gotree.Int(p.Tick.Nanoseconds())))
	if m.Deferred > 0 {
		elems = append(elems, gotree.Field("Deferred", gotree.Int(m.Deferred)))
	}
	if p.Parties != fsm.DefaultParties {
		elems = append(elems, gotree.Field("Parties", gotree.Int(p.Parties)))
	}
	news := p.News()
	if p.Several() {
		elems = append(elems, g.channels(news)...)
	}
	if p.Phased() {
		elems = append(elems, phases(p, m.Name)...)
	}
	ch := p.Channels()[news]
	elems = append(elems, gotree.Field("MaxFrame", gotree.X("maxFrame")),
		gotree.Field("MaxEffects", gotree.Int(g.MaxEffects(r))),
		gotree.Field("Ordered", flag(ch.Ordered)), gotree.Field("Reliable",
			flag(!ch.Lossy)), gotree.Field("Duplicates", flag(ch.Duplicates)))
	table(f, name, "", gotree.X("fsm.Info{\n$1,\n}", elems))
	g.infoTables(f, r, legal)
}

// channels composes what tells the channels of a protocol with several.
func (g *gen) channels(news int) []gotree.Elem {
	var list, of []gotree.Expr
	for k, c := range g.P.Channels() {
		list = append(list, gotree.Composite{Elems: []gotree.Elem{gotree.Field("Name", gotree.Str(c.Name)),
			gotree.Field("Ordered", flag(c.Ordered)), gotree.Field("Reliable", flag(!c.Lossy)),
			gotree.Field("Duplicates", flag(c.Duplicates)),
			gotree.Field("MaxFrame", gotree.X(g.OfChannel("maxFrame", k)))}})
	}
	for _, m := range g.P.Messages {
		of = append(of, gotree.Int(m.Channel))
	}
	return []gotree.Elem{
		gotree.Field("Channels", gotree.Composite{Type: gotree.X("[]fsm.Channel"), Elems: gotree.Elems(list...),
			Lines: true}),
		gotree.Field("ChannelOf", gotree.Composite{Type: gotree.X("[]uint8"), Elems: gotree.Elems(of...)}),
		gotree.Field("News", gotree.Int(news)),
	}
}

// phases composes what tells the phases of what a role receives.
func phases(p *model.Protocol, role string) []gotree.Elem {
	var list, of []gotree.Expr
	for k, name := range p.Wire.Phases {
		elems := []gotree.Elem{gotree.Field("Name", gotree.Str(name))}
		if p.Raw(k, role) {
			elems = append(elems, gotree.Field("Raw", flag(true)))
		}
		list = append(list, gotree.Composite{Elems: elems})
	}
	for _, m := range p.Messages {
		of = append(of, gotree.Int(m.FirstPhase()))
	}
	return []gotree.Elem{
		gotree.Field("Phases", gotree.Composite{Type: gotree.X("[]fsm.Phase"), Elems: gotree.Elems(list...),
			Lines: true}),
		gotree.Field("PhaseOf", gotree.Composite{Type: gotree.X("[]uint8"), Elems: gotree.Elems(of...)}),
	}
}

// transitions composes the list of a machine's transitions.
func (g *gen) transitions(m *model.Machine) gotree.Expr {
	var list []gotree.Expr
	for _, x := range m.Transitions {
		to := x.From.Index
		if x.To != nil {
			to = x.To.Index
		}
		elems := []gotree.Elem{gotree.Field("Name", gotree.Str(x.Name)),
			gotree.Field("From", gotree.Int(x.From.Index)), gotree.Field("To", gotree.Int(to))}
		switch x.Mode {
		case model.Ignore:
			elems = append(elems, gotree.Field("Code", gotree.X("fsm.Ignored")))
		case model.Defer:
			elems = append(elems, gotree.Field("Code", gotree.X("fsm.Deferred")))
		}
		at := x.Span.Start
		list = append(list, gotree.Composite{Elems: append(elems,
			gotree.Field("File", gotree.Str(g.Place(x.Span.File))),
			gotree.Field("Line", gotree.Int(at.Line)),
			gotree.Field("Col", gotree.Int(at.Col)))})
	}
	return gotree.Composite{Type: gotree.X("[]fsm.Transition"), Elems: gotree.Elems(list...), Lines: len(list) > 0}
}

// names composes a list of texts, flags one of truth values.
func names(list []string) gotree.Expr { return gotree.X("[]string{$1}", texts(list)) }

func flags(list []bool) gotree.Expr {
	var out []gotree.Expr
	for _, b := range list {
		out = append(out, flag(b))
	}
	return gotree.X("[]bool{$1}", out)
}

func flag(b bool) gotree.Expr { return gotree.X("$1", b) }

// table emits the declaration of a variable with its value.
func table(f *jen.File, name, doc string, value gotree.Expr) {
	f.Line()
	if doc != "" {
		f.Comment("// " + doc)
	}
	f.Var().Id(name).Op("=").Add(gotree.Code(value))
}

// infoTables emits the tables that the runner uses.
func (g *gen) infoTables(f *jen.File, r *types.Machine, legal []gotree.Elem) {
	table(f, g.Table(r, "Legal"), "What each state handles or ignores.", gotree.X("[...]string{\n$1,\n}", legal))
	if rows := g.handled(r); len(rows) > 0 {
		table(f, g.Table(r, "Handles"), "The first branch of each event that a state handles, plus 1.",
			gotree.X("[][]uint16{\n$1,\n}", rows))
	}
}

// legalIn returns the events from outside that a state handles or ignores.
func legalIn(m *model.Machine, s *model.State) string {
	var names []string
	for _, ev := range m.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished {
			continue
		}
		if h := types.HandlerOf(s, ev); h != nil && h.Mode != model.Defer {
			names = append(names, ev.Name)
		}
	}
	return strings.Join(names, ", ")
}
