package types

import (
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// Machine is a role or a part, with the Go names that its code uses.
type Machine struct {
	M    *model.Machine
	Core *core.Machine // what M says, lowered
	Part *model.Part   // nil for a role
	Use  *core.Part    // what Part says, lowered
	Up   *Machine
	Role *Machine
	File string // without .go

	Prefix  string // of all package-level names
	Typ     string
	State   string   // type of the control state
	States  []string // constants
	Params  []string // Go names of members, in the order of m.Params and so on
	Vars    []string
	Timers  []string
	Members []string
	Parts   []*Machine
	// keys are the parameters of every method of a keyed part: those of
	// the parts around it first.
	Keys    []keyParam
	Queue   string // member of the effects that holds waiting events of parts, "" without parts
	Queued  string // their type
	Waiting []Waiting
	Methods []*gotree.Func // methods of the part, in the order of their first use
	Done    map[string]*Facts
	Calls   base.Scope // names of methods
	Created bool       // the function that makes the part is called
	Settled *Facts     // of the method that handles waiting events

	// Of roles only.
	Events     []RoleEvent
	Event      string // type Event
	Kind       string // type EventKind
	Effect     string
	Effects    string
	Report     string
	Reports    []reportNames
	Runner     string
	Alarms     []Alarm
	ReportKind string
	EventMsg   bool // Event has a field Message
	Named      bool // some effect names its destination
}

// keyParam is a key of a part as a method's parameter.
type keyParam struct {
	Name  string
	Field *model.Field
	Part  *model.Part
	Index int // of the key in the part
}

// Waiting is an event of a part that its parent's queue can have.
type Waiting struct {
	Ev     *model.Event
	Kind   string // constant
	Member string // "" without fields
	Fields []string
}

// RoleEvent is an event that comes from outside.
type RoleEvent struct {
	Ev     *model.Event
	Kind   string // constant
	Member string // of Event, for commands with fields
	Typ    string // struct of a command's fields
	Fields []string
	Alarm  int // index of a timer's alarm
}

// reportNames are the Go names of a report.
type reportNames struct {
	R      *model.Report
	Kind   string
	Member string
	Typ    string
	Fields []string
}

// Alarm is a timer of a role or of one of its parts, as Info.Timers lists it.
type Alarm struct {
	Name  string
	Id    string // constant
	Timer *model.Timer
	Of    *Machine
}

// Keyed reports whether there are several of the timer.
func (a Alarm) Keyed() bool { return len(a.Of.Keys)+len(a.Timer.Keys) > 0 }

// Keys returns the keys that select an instance: those of the parts around the timer, then its own.
func (a Alarm) Keys() []*model.Field {
	var out []*model.Field
	for _, k := range a.Of.Keys {
		out = append(out, k.Field)
	}
	return append(out, a.Timer.Keys...)
}

// newMachine returns a machine without names, except those of methods that every machine has.
func newMachine(m *core.Machine) *Machine {
	return &Machine{M: m.Model, Core: m, Done: map[string]*Facts{},
		Calls: base.Scope{"settle": true, "undo": true, "unmentioned": true}}
}

// NewRole chooses the names of a role and its parts.
func (g *Gen) NewRole(m *model.Machine) *Machine {
	r := newMachine(core.Lower(m))
	if len(g.P.Roles) > 1 {
		r.Prefix = base.GoName(m.Name)
	}
	r.Role = r
	r.File = strings.ToLower(base.GoName(m.Name))
	if g.out[r.File] {
		r.File += "_role"
	}
	r.File = g.out.Take(r.File)
	r.Typ = g.Top.Take(base.GoName(m.Name))
	r.Runner = g.Top.Take(base.GoName(m.Name) + "Runner")
	g.Maker(r.Typ)
	g.Maker(r.Runner)
	for _, n := range []struct {
		to   *string
		name string
	}{{&r.Event, "Event"}, {&r.Kind, "EventKind"}, {&r.Effect, "Effect"}, {&r.Effects, "Effects"}, {&r.Report,
		"Report"}} {
		*n.to = g.Top.Take(r.Prefix + n.name)
	}
	g.nameMachine(r)
	g.nameEvents(r)
	g.nameReports(r)
	return r
}

// nameMachine chooses the names of members and states, also of the parts.
func (g *Gen) nameMachine(r *Machine) {
	m := r.M
	r.State = g.Top.Take(r.Prefix + "State")
	for _, n := range stateNames(m) {
		r.States = append(r.States, g.Top.Take(r.State+n))
	}
	r.Members = base.MachineMembers(m)
	rest := r.Members[1:]
	take := func(n int) []string { s := rest[:n]; rest = rest[n:]; return s }
	r.Params, r.Vars, r.Timers = take(len(m.Params)), take(len(m.Vars)), take(len(m.Timers))
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			g.Typ(v.Type, r.Typ+base.GoName(v.Name))
		}
	}
	for _, p := range r.Core.Parts {
		r.Parts = append(r.Parts, g.newPart(r, p))
	}
	if len(m.Parts) > 0 {
		r.Queued = g.Top.Take(base.Unexported(r.Prefix + "Waiting"))
		r.Queue = g.Top.Take(base.Unexported(r.Prefix + "Queue"))
		g.nameWaiting(r)
	}
}

func (g *Gen) newPart(up *Machine, use *core.Part) *Machine {
	p := use.Model
	r := newMachine(use.Machine)
	r.Part, r.Use, r.Up, r.Role = p, use, up, up.Role
	r.Prefix = up.Prefix + base.GoName(p.Name)
	r.File = g.out.Take(strings.TrimSuffix(up.File, "_part") + "_" + strings.ToLower(base.GoName(p.Name)) + "_part")
	r.Typ = g.Top.Take(r.Prefix + "Part")
	r.Keys = append(r.Keys, up.Keys...)
	names := g.Locals()
	for _, k := range up.Keys {
		names.Take(k.Name)
	}
	for i, k := range p.Keys {
		g.Typ(k.Type, r.Prefix+base.GoName(k.Name))
		r.Keys = append(r.Keys, keyParam{names.Local(k.Name), k, p, i})
	}
	g.nameMachine(r)
	return r
}

func (g *Gen) nameWaiting(r *Machine) {
	var names []string
	var list []*model.Event
	for _, ev := range r.M.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished {
			names, list = append(names, ev.Name), append(list, ev)
		}
	}
	go_ := base.GoNames(names...)
	members := base.UnexportedNames(append([]string{"kind"}, names...)...)[1:]
	for i, ev := range list {
		w := Waiting{Ev: ev, Kind: g.Top.Take(r.Queued + go_[i])}
		if len(ev.Fields) > 0 {
			fields := make([]string, len(ev.Fields))
			for j, f := range ev.Fields {
				fields[j] = f.Name
			}
			w.Member, w.Fields = members[i], base.UnexportedNames(fields...)
		}
		r.Waiting = append(r.Waiting, w)
	}
}

func (r *Machine) SubPart(p *model.Part) *Machine {
	for _, s := range r.Parts {
		if s.Part == p {
			return s
		}
	}
	panic("part " + p.Name + " is no part of " + r.M.Name)
}

func fieldNames(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return base.GoNames(names...)
}

func stateNames(m *model.Machine) []string {
	names := make([]string, len(m.States))
	for i, s := range m.States {
		names[i] = s.Name
	}
	return base.GoNames(names...)
}

func (g *Gen) nameMessages() {
	for i, n := range base.MessageMembers(g.P.Messages) {
		m := g.P.Messages[i]
		mn := MessageNames{Kind: g.Top.Take("Message" + n), Encode: g.Top.Take("encode" + n),
			Decode: g.Top.Take("decode" + n)}
		if len(m.Fields) > 0 {
			mn.Member, mn.Typ, mn.Fields = n, g.Top.Take(n+"Message"), fieldNames(m.Fields)
			for j, f := range m.Fields {
				g.Typ(f.Type, n+mn.Fields[j])
			}
		}
		g.Messages = append(g.Messages, mn)
	}
}

// nameEvents chooses the names for a role's events from outside.
func (g *Gen) nameEvents(r *Machine) {
	members := []string{"Kind", "From", "Key", "Message"}
	for _, c := range r.M.Commands {
		members = append(members, c.Name)
	}
	commands := base.GoNames(members...)[4:]
	g.nameAlarms(r, r, "")
	has := map[model.EventKind]bool{}
	add := func(e RoleEvent) { r.Events = append(r.Events, e) }
	nth := 0
	for _, ev := range r.M.Events {
		e := RoleEvent{Ev: ev, Fields: fieldNames(ev.Fields)}
		has[ev.Kind] = true
		switch ev.Kind {
		case model.EventStart:
			e.Kind = g.Top.Take(r.Prefix + "EventStart")
		case model.EventUp:
			e.Kind = g.Top.Take(r.Prefix + "EventUp")
		case model.EventLost:
			e.Kind = g.Top.Take(r.Prefix + "EventLost")
		case model.EventMessage:
			e.Kind = g.Top.Take(r.Prefix + "Receive" + strings.TrimPrefix(g.Messages[ev.Message.Index].Kind, "Message"))
		case model.EventCommand:
			name := commands[nth]
			nth++
			e.Kind = g.Top.Take(r.Prefix + "Command" + name)
			if len(ev.Fields) > 0 {
				e.Member, e.Typ = name, g.Top.Take(r.Prefix+name+"Command")
				for j, f := range ev.Fields {
					g.Typ(f.Type, r.Prefix+name+e.Fields[j])
				}
			}
		default:
			continue
		}
		add(e)
	}
	for _, missing := range []model.EventKind{model.EventStart, model.EventUp, model.EventLost} {
		if !has[missing] {
			name := map[model.EventKind]string{model.EventStart: "Start", model.EventUp: "Up",
				model.EventLost: "Lost"}[missing]
			ev := &model.Event{Kind: missing, Name: strings.ToLower(name), Index: -1}
			add(RoleEvent{Ev: ev, Kind: g.Top.Take(r.Prefix + "Event" + name)})
		}
	}
	for i, a := range r.Alarms {
		add(RoleEvent{Ev: TimerEvent(a.Of.M, a.Timer), Kind: g.Top.Take(r.Prefix + "Timer" + base.GoName(a.Name)),
			Alarm: i})
	}
}

func TimerEvent(m *model.Machine, t *model.Timer) *model.Event {
	for _, ev := range m.Events {
		if ev.Kind == model.EventTimer && ev.Timer == t {
			return ev
		}
	}
	return &model.Event{Kind: model.EventTimer, Name: t.Name, Timer: t, Index: -1}
}

// nameAlarms adds the timers of a machine to the role's alarms, then those of its parts.
func (g *Gen) nameAlarms(role, of *Machine, path string) {
	for _, t := range of.M.Timers {
		name := path + t.Name
		role.Alarms = append(role.Alarms,
			Alarm{name, g.Top.Take(base.Unexported(role.Prefix + "Alarm" + base.GoName(name))), t, of})
	}
	for _, p := range of.Parts {
		g.nameAlarms(role, p, path+p.Part.Name+".")
	}
}

func (r *Machine) AlarmOf(t *model.Timer, of *Machine) Alarm {
	for _, a := range r.Alarms {
		if a.Timer == t && a.Of == of {
			return a
		}
	}
	panic("timer " + t.Name + " is no timer of " + r.M.Name)
}

func (g *Gen) nameReports(r *Machine) {
	names := []string{"Kind"}
	for _, p := range r.M.Reports {
		names = append(names, p.Name)
	}
	for i, n := range base.GoNames(names...)[1:] {
		p := r.M.Reports[i]
		rn := reportNames{R: p, Kind: g.Top.Take(r.Prefix + "Report" + n)}
		if len(p.Fields) > 0 {
			rn.Member, rn.Typ, rn.Fields = n, g.Top.Take(r.Prefix+n+"Report"), fieldNames(p.Fields)
			for j, f := range p.Fields {
				g.Typ(f.Type, r.Prefix+n+rn.Fields[j])
			}
		}
		r.Reports = append(r.Reports, rn)
	}
}

// Joined returns the names of fields with commas between them.
func Joined(fields []*model.Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func (r *Machine) VarName(v *model.Var) string {
	for i, p := range r.M.Params {
		if p == v {
			return r.Params[i]
		}
	}
	for i, p := range r.M.Vars {
		if p == v {
			return r.Vars[i]
		}
	}
	panic("variable " + v.Name + " is not of " + r.M.Name)
}

func (f *Facts) And(o *Facts) {
	f.Refuses = f.Refuses || o.Refuses
	f.RefusesDirty = f.RefusesDirty || o.RefusesDirty
	f.Changes = f.Changes || o.Changes
	f.Queues = f.Queues || o.Queues
}

// Facts are what callers of a function must know about it.
type Facts struct {
	Name         string
	Refuses      bool // it can refuse
	RefusesDirty bool // it can refuse after a change
	Changes      bool // it can change the machine or the effects
	Queues       bool // it can queue an event for the machine above
	Waits        bool // it can queue an event for the machine itself
}

// Member returns the Go name of a part in its parent's struct.
func (r *Machine) Member(p *Machine) string {
	for i, s := range r.Parts {
		if s == p {
			return r.Members[len(r.Members)-len(r.Parts)+i]
		}
	}
	panic("no such part")
}

// AllParts returns the parts of a machine, each followed by its own parts.
func AllParts(r *Machine) []*Machine {
	var out []*Machine
	for _, p := range r.Parts {
		out = append(append(out, p), AllParts(p)...)
	}
	return out
}

// FieldsType returns the name of the struct for a queued event's fields.
func (g *Gen) FieldsType(w Waiting) string { return g.Top.Own("fields of "+w.Kind, w.Kind+"Fields") }

// WithParts returns those that have parts, of the role and the parts in it.
func (r *Machine) WithParts() []*Machine {
	var out []*Machine
	if r.Queue != "" {
		out = append(out, r)
	}
	for _, p := range r.Parts {
		out = append(out, p.WithParts()...)
	}
	return out
}

func (r *Machine) Expiry(t *model.Timer) *model.Event { return TimerEvent(r.M, t) }

// Way returns the parts that lead from the role to r, r included.
func (r *Machine) Way() []*Machine {
	if r.Part == nil {
		return nil
	}
	return append(r.Up.Way(), r)
}

// KeysFrom composes the index of each key from the number of an instance.
func KeysFrom(number gotree.Expr, keys []*model.Field) []gotree.Expr {
	count := Instances(keys)
	index := make([]gotree.Expr, len(keys))
	for i, k := range keys {
		n := int(k.Type.Count())
		count /= n
		switch {
		case len(keys) == 1:
			index[i] = number
		case count == 1:
			index[i] = gotree.X("$1 % $2", number, n)
		default:
			index[i] = gotree.X("$1 / $2 % $3", number, count, n)
		}
	}
	return index
}

// Instances returns how many instances the keys select.
func Instances(keys []*model.Field) int {
	n := 1
	for _, k := range keys {
		n *= int(k.Type.Count())
	}
	return n
}

func HandlerOf(st *model.State, ev *model.Event) *model.Handler {
	if ev.Index < 0 || ev.Index >= len(st.Handlers) {
		return nil
	}
	return st.Handlers[ev.Index]
}

// EventNames returns the names of a role's events from outside, in the order of the constants.
func (r *Machine) EventNames() []string {
	names := make([]string, len(r.Events))
	for i, e := range r.Events {
		names[i] = r.EventName(e)
	}
	return names
}

// EventName returns the name of an event. The name of a part's timer begins with the way to the part.
func (r *Machine) EventName(e RoleEvent) string {
	if e.Ev.Kind == model.EventTimer {
		return r.Alarms[e.Alarm].Name
	}
	return e.Ev.Name
}
