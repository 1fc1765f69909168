package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// info emits the description of a role, and its tables.
func (g *gen) info(f *jen.File, r *types.Machine) {
	m := r.M
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
		legal = append(legal, r.States[i]+": "+strconv.Quote(legalIn(m, s)))
	}
	for _, x := range g.P.Messages {
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
	f.Line()
	f.Comment("// Info implements fsm.Runner.")
	f.Add(base.Rawf("func (r *%s) Info() *fsm.Info { return &%s }", r.Runner, name))
	var t base.Text
	t.P("var %s = fsm.Info{\nProtocol: %q,\nRole: %q,\nHash: hash,\nStates: %s,\nFinal: []bool{%s},\nMessages: %s,\nCommands: %s,\nReports: %s,\nTimers: %s,",
		name, g.P.Name, m.Name, quote(states), strings.Join(finals, ", "), quote(messages), quote(commands), quote(reports), quote(timers))
	t.P("Transitions: []fsm.Transition{")
	for _, x := range m.Transitions {
		to := x.From.Index
		if x.To != nil {
			to = x.To.Index
		}
		code := ""
		switch x.Mode {
		case model.Ignore:
			code = " Code: fsm.Ignored,"
		case model.Defer:
			code = " Code: fsm.Deferred,"
		}
		t.P("{Name: %q, From: %d, To: %d,%s File: %q, Line: %d, Col: %d},", x.Name, x.From.Index, to, code, g.Place(x.Span.File), x.Span.Start.Line, x.Span.Start.Col)
	}
	if slices.ContainsFunc(r.Alarms, func(a types.Alarm) bool { return a.Timer.Absolute }) {
		t.P("},\nAbsolute: []bool{%s,", absolutes(r))
	}
	bound := ""
	if m.Deferred > 0 {
		bound = fmt.Sprintf("Deferred: %d,\n", m.Deferred)
	}
	if g.P.Parties != fsm.DefaultParties {
		bound += fmt.Sprintf("Parties: %d,\n", g.P.Parties)
	}
	t.P("},\nTickNanos: %d,\n%sMaxFrame: maxFrame,\nMaxEffects: %d,\nOrdered: %v,\nReliable: %v,\nDuplicates: %v,\n}", g.P.Tick.Nanoseconds(), bound, g.MaxEffects(r), g.P.Channel.Ordered, !g.P.Channel.Lossy, g.P.Channel.Duplicates)
	f.Line()
	f.Add(base.Raw(strings.TrimSpace(t.String())))
	g.infoTables(f, r, legal)
}

// infoTables emits the tables that the runner looks things up in.
func (g *gen) infoTables(f *jen.File, r *types.Machine, legal []string) {
	f.Line()
	f.Comment("// What each state handles or ignores.")
	f.Add(base.Rawf("var %s = [...]string{\n%s,\n}", g.Table(r, "Legal"), strings.Join(legal, ",\n")))
	if rows := g.handled(r); len(rows) > 0 {
		f.Line()
		f.Comment("// The first branch of each event that a state handles, plus 1.")
		f.Add(base.Rawf("var %s = [][]uint16{\n%s,\n}", g.Table(r, "Handles"), strings.Join(rows, ",\n")))
	}
}

// absolutes says of each timer whether it runs on while the machine is away.
func absolutes(r *types.Machine) string {
	words := make([]string, len(r.Alarms))
	for i, a := range r.Alarms {
		words[i] = strconv.FormatBool(a.Timer.Absolute)
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
		if h := types.HandlerOf(s, ev); h != nil && h.Mode != model.Defer {
			names = append(names, ev.Name)
		}
	}
	return strings.Join(names, ", ")
}
