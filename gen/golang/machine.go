package golang

import (
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// machine is a role or a part with the Go names that its code uses.
type machine struct {
	m    *model.Machine
	part *model.Part // nil for a role
	up   *machine
	role *machine
	file string // without .go

	prefix  string // of all package-level names
	typ     string
	state   string   // type of the control state
	states  []string // constants
	params  []string // Go names of members, in the order of m.Params and so on
	vars    []string
	timers  []string
	members []string
	parts   []*machine
	// keys are the parameters of every method of a keyed part: those of
	// the parts around it first.
	keys    []keyParam
	queue   string // member of the effects that holds waiting events of parts, "" without parts
	queued  string // their type
	waiting []waiting
	methods text // methods of the part, in the order of their first use
	done    map[string]*facts
	calls   scope  // names of methods
	created bool   // the function that makes the part is called
	settled *facts // of the method that handles waiting events

	// Of roles only.
	events     []roleEvent
	event      string // type Event
	kind       string // type EventKind
	effect     string
	effects    string
	report     string
	reports    []reportNames
	runner     string
	alarms     []alarm
	reportKind string
	eventMsg   bool // Event has a field Message
	named      bool // some effect names its destination
}

// keyParam is a key of a part as a method's parameter.
type keyParam struct {
	name  string
	field *model.Field
	part  *model.Part
	index int // of the key in the part
}

// waiting is an event of a part as an element of its parent's queue.
type waiting struct {
	ev     *model.Event
	kind   string // constant
	member string // "" without fields
	fields []string
}

// roleEvent is an event that comes from outside.
type roleEvent struct {
	ev     *model.Event
	kind   string // constant
	member string // of Event, for commands with fields
	typ    string // struct of a command's fields
	fields []string
	alarm  int // index of a timer's alarm
}

// reportNames are the Go names of a report.
type reportNames struct {
	r      *model.Report
	kind   string
	member string
	typ    string
	fields []string
}

// alarm is a timer of a role or of one of its parts, as Info.Timers lists it.
type alarm struct {
	name  string
	id    string // constant
	timer *model.Timer
	of    *machine
}

// keyed says whether there are several of the timer.
func (a alarm) keyed() bool { return len(a.of.keys)+len(a.timer.Keys) > 0 }

// keys are those that select one of them: of the parts around it, then its own.
func (a alarm) keys() []*model.Field {
	var out []*model.Field
	for _, k := range a.of.keys {
		out = append(out, k.field)
	}
	return append(out, a.timer.Keys...)
}

func (g *gen) newRole(m *model.Machine) *machine {
	r := &machine{m: m, done: map[string]*facts{}, calls: scope{"settle": true}}
	if len(g.p.Roles) > 1 {
		r.prefix = GoName(m.Name)
	}
	r.role = r
	r.file = strings.ToLower(GoName(m.Name))
	if g.out[r.file] {
		r.file += "_role"
	}
	r.file = g.out.take(r.file)
	r.typ = g.top.take(GoName(m.Name))
	r.runner = g.top.take(GoName(m.Name) + "Runner")
	g.maker(r.typ)
	g.maker(r.runner)
	for _, n := range []struct {
		to   *string
		name string
	}{{&r.event, "Event"}, {&r.kind, "EventKind"}, {&r.effect, "Effect"}, {&r.effects, "Effects"}, {&r.report, "Report"}} {
		*n.to = g.top.take(r.prefix + n.name)
	}
	g.nameMachine(r)
	g.nameEvents(r)
	g.nameReports(r)
	return r
}

// nameMachine chooses the names of members and states, and those of the parts inside.
func (g *gen) nameMachine(r *machine) {
	m := r.m
	r.state = g.top.take(r.prefix + "State")
	for _, n := range stateNames(m) {
		r.states = append(r.states, g.top.take(r.state+n))
	}
	r.members = MachineMembers(m)
	rest := r.members[1:]
	take := func(n int) []string { s := rest[:n]; rest = rest[n:]; return s }
	r.params, r.vars, r.timers = take(len(m.Params)), take(len(m.Vars)), take(len(m.Timers))
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			g.typ(v.Type, r.typ+GoName(v.Name))
		}
	}
	for _, p := range m.Parts {
		r.parts = append(r.parts, g.newPart(r, p))
	}
	if len(m.Parts) > 0 {
		r.queued = g.top.take(unexported(r.prefix + "Waiting"))
		r.queue = g.top.take(unexported(r.prefix + "Queue"))
		g.nameWaiting(r)
	}
}

func (g *gen) newPart(up *machine, p *model.Part) *machine {
	r := &machine{m: p.Machine, part: p, up: up, role: up.role, done: map[string]*facts{}, calls: scope{"settle": true}}
	r.prefix = up.prefix + GoName(p.Name)
	r.file = g.out.take(strings.TrimSuffix(up.file, "_part") + "_" + strings.ToLower(GoName(p.Name)) + "_part")
	r.typ = g.top.take(r.prefix + "Part")
	r.keys = append(r.keys, up.keys...)
	names := g.locals()
	for _, k := range up.keys {
		names.take(k.name)
	}
	for i, k := range p.Keys {
		g.typ(k.Type, r.prefix+GoName(k.Name))
		r.keys = append(r.keys, keyParam{names.local(k.Name), k, p, i})
	}
	g.nameMachine(r)
	return r
}

func (g *gen) nameWaiting(r *machine) {
	var names []string
	var list []*model.Event
	for _, ev := range r.m.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished {
			names, list = append(names, ev.Name), append(list, ev)
		}
	}
	go_ := GoNames(names...)
	members := unexportedNames(append([]string{"kind"}, names...)...)[1:]
	for i, ev := range list {
		w := waiting{ev: ev, kind: g.top.take(r.queued + go_[i])}
		if len(ev.Fields) > 0 {
			fields := make([]string, len(ev.Fields))
			for j, f := range ev.Fields {
				fields[j] = f.Name
			}
			w.member, w.fields = members[i], unexportedNames(fields...)
		}
		r.waiting = append(r.waiting, w)
	}
}

// maker is the name of the function that makes a type's values.
func (g *gen) maker(typ string) string { return g.top.own("make "+typ, "New"+typ) }

// table is the name of something that there is once for each role.
func (g *gen) table(r *machine, what string) string {
	return g.top.own(what+" "+r.typ, unexported(r.prefix+what))
}

func (r *machine) subPart(p *model.Part) *machine {
	for _, s := range r.parts {
		if s.part == p {
			return s
		}
	}
	panic("part " + p.Name + " is no part of " + r.m.Name)
}

func fieldNames(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return GoNames(names...)
}

func stateNames(m *model.Machine) []string {
	names := make([]string, len(m.States))
	for i, s := range m.States {
		names[i] = s.Name
	}
	return GoNames(names...)
}

func (g *gen) nameMessages() {
	for i, n := range MessageMembers(g.p.Messages) {
		m := g.p.Messages[i]
		mn := messageNames{kind: g.top.take("Message" + n), encode: g.top.take("encode" + n), decode: g.top.take("decode" + n)}
		if len(m.Fields) > 0 {
			mn.member, mn.typ, mn.fields = n, g.top.take(n+"Message"), fieldNames(m.Fields)
			for j, f := range m.Fields {
				g.typ(f.Type, n+mn.fields[j])
			}
		}
		g.messages = append(g.messages, mn)
	}
}

// nameEvents chooses the names for what a role is given from outside.
func (g *gen) nameEvents(r *machine) {
	members := []string{"Kind", "From", "Key", "Message"}
	for _, c := range r.m.Commands {
		members = append(members, c.Name)
	}
	commands := GoNames(members...)[4:]
	g.nameAlarms(r, r, "")
	has := map[model.EventKind]bool{}
	add := func(e roleEvent) { r.events = append(r.events, e) }
	nth := 0
	for _, ev := range r.m.Events {
		e := roleEvent{ev: ev, fields: fieldNames(ev.Fields)}
		has[ev.Kind] = true
		switch ev.Kind {
		case model.EventStart:
			e.kind = g.top.take(r.prefix + "EventStart")
		case model.EventUp:
			e.kind = g.top.take(r.prefix + "EventUp")
		case model.EventLost:
			e.kind = g.top.take(r.prefix + "EventLost")
		case model.EventMessage:
			e.kind = g.top.take(r.prefix + "Receive" + strings.TrimPrefix(g.messages[ev.Message.Index].kind, "Message"))
		case model.EventCommand:
			name := commands[nth]
			nth++
			e.kind = g.top.take(r.prefix + "Command" + name)
			if len(ev.Fields) > 0 {
				e.member, e.typ = name, g.top.take(r.prefix+name+"Command")
				for j, f := range ev.Fields {
					g.typ(f.Type, r.prefix+name+e.fields[j])
				}
			}
		default:
			continue
		}
		add(e)
	}
	for _, missing := range []model.EventKind{model.EventStart, model.EventUp, model.EventLost} {
		if !has[missing] {
			name := map[model.EventKind]string{model.EventStart: "Start", model.EventUp: "Up", model.EventLost: "Lost"}[missing]
			ev := &model.Event{Kind: missing, Name: strings.ToLower(name), Index: -1}
			add(roleEvent{ev: ev, kind: g.top.take(r.prefix + "Event" + name)})
		}
	}
	for i, a := range r.alarms {
		add(roleEvent{ev: timerEvent(a.of.m, a.timer), kind: g.top.take(r.prefix + "Timer" + GoName(a.name)), alarm: i})
	}
}

func timerEvent(m *model.Machine, t *model.Timer) *model.Event {
	for _, ev := range m.Events {
		if ev.Kind == model.EventTimer && ev.Timer == t {
			return ev
		}
	}
	return &model.Event{Kind: model.EventTimer, Name: t.Name, Timer: t, Index: -1}
}

// nameAlarms lists the timers of a machine, then those of its parts.
func (g *gen) nameAlarms(role, of *machine, path string) {
	for _, t := range of.m.Timers {
		name := path + t.Name
		role.alarms = append(role.alarms, alarm{name, g.top.take(unexported(role.prefix + "Alarm" + GoName(name))), t, of})
	}
	for _, p := range of.parts {
		g.nameAlarms(role, p, path+p.part.Name+".")
	}
}

func (r *machine) alarmOf(t *model.Timer, of *machine) alarm {
	for _, a := range r.alarms {
		if a.timer == t && a.of == of {
			return a
		}
	}
	panic("timer " + t.Name + " is no timer of " + r.m.Name)
}

func (g *gen) nameReports(r *machine) {
	names := []string{"Kind"}
	for _, p := range r.m.Reports {
		names = append(names, p.Name)
	}
	for i, n := range GoNames(names...)[1:] {
		p := r.m.Reports[i]
		rn := reportNames{r: p, kind: g.top.take(r.prefix + "Report" + n)}
		if len(p.Fields) > 0 {
			rn.member, rn.typ, rn.fields = n, g.top.take(r.prefix+n+"Report"), fieldNames(p.Fields)
			for j, f := range p.Fields {
				g.typ(f.Type, r.prefix+n+rn.fields[j])
			}
		}
		r.reports = append(r.reports, rn)
	}
}

// EventNames lists the events that a role is given from outside by name, in the
// order of the generated constants: EventKind i is the event named at i. The timers of parts come
// last, with the way to the part: fleet.retry.
func EventNames(role *model.Machine) []string {
	g := newGen(&model.Protocol{Name: role.Protocol, Messages: role.Messages}, Options{})
	g.prepare()
	return g.newRole(role).eventNames()
}

func (r *machine) eventNames() []string {
	names := make([]string, len(r.events))
	for i, e := range r.events {
		if names[i] = e.ev.Name; e.ev.Kind == model.EventTimer {
			names[i] = r.alarms[e.alarm].name
		}
	}
	return names
}

// joined lists the names of fields.
func joined(fields []*model.Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
