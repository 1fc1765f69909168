package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// info emits the description of a role, and its tables.
func (g *gen) info(f *jen.File, r *machine) {
	m := r.m
	quote := func(names []string) string {
		for i, n := range names {
			names[i] = strconv.Quote(n)
		}
		return "[]string{" + strings.Join(names, ", ") + "}"
	}
	var states, finals, messages, commands, reports, timers, legal []string
	for i, s := range m.States {
		states = append(states, s.Name)
		finals = append(finals, strconv.FormatBool(s.Final))
		legal = append(legal, r.states[i]+": "+strconv.Quote(legalIn(m, s)))
	}
	for _, x := range g.p.Messages {
		messages = append(messages, x.Name)
	}
	for _, x := range m.Commands {
		commands = append(commands, x.Name)
	}
	for _, x := range m.Reports {
		reports = append(reports, x.Name)
	}
	for _, x := range r.alarms {
		timers = append(timers, x.name)
	}
	name := g.table(r, "Info")
	f.Line()
	f.Comment("// Info implements fsm.Runner.")
	f.Add(rawf("func (r *%s) Info() *fsm.Info { return &%s }", r.runner, name))
	var t text
	t.p("var %s = fsm.Info{\nProtocol: %q,\nRole: %q,\nHash: hash,\nStates: %s,\nFinal: []bool{%s},\nMessages: %s,\nCommands: %s,\nReports: %s,\nTimers: %s,",
		name, g.p.Name, m.Name, quote(states), strings.Join(finals, ", "), quote(messages), quote(commands), quote(reports), quote(timers))
	t.p("Transitions: []fsm.Transition{")
	for _, x := range m.Transitions {
		to := x.From.Index
		if x.To != nil {
			to = x.To.Index
		}
		t.p("{Name: %q, From: %d, To: %d, File: %q, Line: %d, Col: %d},", x.Name, x.From.Index, to, g.place(x.Span.File), x.Span.Start.Line, x.Span.Start.Col)
	}
	if slices.ContainsFunc(r.alarms, func(a alarm) bool { return a.timer.Absolute }) {
		t.p("},\nAbsolute: []bool{%s,", absolutes(r))
	}
	t.p("},\nTickNanos: %d,\nMaxFrame: maxFrame,\nMaxEffects: %d,\nOrdered: %v,\nReliable: %v,\nDuplicates: %v,\n}", g.p.Tick.Nanoseconds(), g.maxEffects(r), g.p.Channel.Ordered, !g.p.Channel.Lossy, g.p.Channel.Duplicates)
	f.Line()
	f.Add(raw(strings.TrimSpace(t.String())))
	g.infoTables(f, r, legal)
}

// infoTables emits the tables that the runner looks things up in.
func (g *gen) infoTables(f *jen.File, r *machine, legal []string) {
	f.Line()
	f.Comment("// What each state handles or ignores.")
	f.Add(rawf("var %s = [...]string{\n%s,\n}", g.table(r, "Legal"), strings.Join(legal, ",\n")))
	if rows := g.handled(r); len(rows) > 0 {
		f.Line()
		f.Comment("// The first branch of each event that a state handles, plus 1.")
		f.Add(rawf("var %s = [...][%d]uint16{\n%s,\n}", g.table(r, "Handles"), len(r.events), strings.Join(rows, ",\n")))
	}
	if table := g.messageEvents(r); len(table) > 0 {
		f.Line()
		f.Comment("// The events of the messages.")
		f.Add(rawf("var %s = [...]%s{\n%s,\n}", g.table(r, "Receives"), r.kind, strings.Join(table, ",\n")))
	}
}

// absolutes says of each timer whether it runs on while the machine is away.
func absolutes(r *machine) string {
	words := make([]string, len(r.alarms))
	for i, a := range r.alarms {
		words[i] = strconv.FormatBool(a.timer.Absolute)
	}
	return strings.Join(words, ", ")
}

// legalIn lists the events that a state handles or ignores and that come from outside.
func legalIn(m *model.Machine, s *model.State) string {
	var names []string
	for _, ev := range m.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished {
			continue
		}
		if h := handlerOf(s, ev); h != nil && h.Mode != model.Defer {
			names = append(names, ev.Name)
		}
	}
	return strings.Join(names, ", ")
}
