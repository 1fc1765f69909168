package resolve

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// role is a machine under construction, with its three sets of names.
type role struct {
	r    *resolver
	m    *model.Machine
	node *ast.Node
	// values are parameters and variables (*model.Var), timers, parts and states. A
	// variable without type or a part without machine is broken: its error is reported.
	values map[string]any
	// taken are the names that stand for two values, which is reported: what they mean cannot be told.
	taken   map[string]bool
	params  map[*model.Var]bool
	self    *model.Var // the number of the instance, a parameter that nobody writes; nil: not used
	events  map[string]*model.Event
	reports map[string]*model.Report
	sends   map[*model.Message]diag.Span // what the machine sends, and where first
	hears   map[*model.Message]bool      // what it handles, ignores or defers somewhere
	// peerless is the first statement that sends to the peer without saying to
	// whom; wrong where there are more than two parties.
	peerless  diag.Span
	size      int64
	progress  progress // whether what its states do is resolved
	routines  map[string]*routine
	calling   []*routine                 // those being written out
	calls     int                        // how many were written out
	declaring bool                       // its declaration has not ended: who meets it now is inside it
	badGuard  map[*model.Transition]bool // the guard has an error, which is reported
}

// stateKeys are the keys of a state that are no events.
var stateKeys = []string{"doc", "entry", "final", "ignore", "defer", "forward"}

func (r *resolver) declareRoles() {
	n := r.root.Get("roles")
	if n == nil || len(n.Entries) == 0 {
		r.Errorf("FSM009", r.root.Src.Span(0, 0), "the protocol has no `roles`")
		return
	}
	for _, e := range n.Entries {
		if e.Value.Kind != ast.Map {
			r.Errorf("FSM008", e.Value.Span(), "a role is a map, not empty")
			continue
		}
		ro := r.role(e)
		r.p.Roles = append(r.p.Roles, ro.m)
	}
}

// role declares a role once: in its turn, or earlier as the machine of a part.
func (r *resolver) role(e ast.Entry) *role {
	if ro := r.roles[e.Key.Text]; ro != nil {
		return ro
	}
	ro := r.declareRole(e)
	r.info[ro.m] = ro
	return ro
}

func (r *resolver) declareRole(e ast.Entry) *role {
	ro := &role{
		r: r, node: e.Value, values: map[string]any{}, taken: map[string]bool{}, params: map[*model.Var]bool{},
		events: map[string]*model.Event{}, routines: map[string]*routine{}, reports: map[string]*model.Report{},
		sends: map[*model.Message]diag.Span{}, hears: map[*model.Message]bool{}, badGuard: map[*model.Transition]bool{}, size: 1,
		m: &model.Machine{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Protocol: r.p.Name, Messages: r.p.Messages, Span: e.Key.Span()},
	}
	ro.declaring = true
	r.roles[e.Key.Text] = ro // before its parts, so that a role inside itself is met again
	ro.declareVars("params")
	ro.declareSelf()
	ro.declareVars("vars")
	ro.declareTimers()
	ro.declareStates()
	ro.declareReports()
	ro.basicEvents()
	ro.declareParts()
	ro.declareRoutines()
	ro.m.Size = int(min(ro.size, maxMachine))
	ro.declaring = false
	return ro
}

// declare enters a value and reports a name that is taken.
func (ro *role) declare(key *ast.Node, what string, v any) bool {
	name := key.Text
	if old, ok := ro.values[name]; ok {
		ro.taken[name] = true
		w, at := valueKind(old)
		ro.r.hides(key.Span(), name, w, at)
		return false
	}
	if c := ro.r.consts[name]; c != nil {
		ro.r.hides(key.Span(), name, "constant", c.m.Span)
		return false
	}
	ro.values[name] = v
	return true
}

// valueKind says what a declared value is, and where it is declared.
func valueKind(v any) (string, diag.Span) {
	switch v := v.(type) {
	case *model.Var:
		return "variable", v.Span
	case *model.Timer:
		return "timer", v.Span
	case *model.Part:
		return "part", v.Span
	case *model.State:
		return "state", v.Span
	}
	return "value", diag.Span{}
}

func (ro *role) grow(slots int64, at diag.Span) bool {
	ro.size += slots
	if ro.size > maxMachine {
		ro.r.Errorf("FSM042", at, "the machine has more than %d numbers", maxMachine)
		ro.size = 1
		return false
	}
	return true
}

func (ro *role) declareVars(section string) {
	n := ro.node.Get(section)
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		v := &model.Var{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Span: e.Key.Span()}
		v.Type = ro.r.typeOf(e.Value, "")
		if e.Value.IsNull() {
			ro.r.Errorf("FSM041", e.Key.Span(), "%s has no type", diag.Quote(v.Name))
		}
		if !ro.declare(e.Key, section, v) {
			continue
		}
		if section == "params" {
			ro.r.noInit(e.Value)
			ro.params[v] = true
			ro.m.Params = append(ro.m.Params, v)
		} else {
			ro.initial(v, e.Value.Get("init"))
			v.Kept = isTrue(e.Value.Get("kept"))
			ro.m.Vars = append(ro.m.Vars, v)
		}
		if v.Type == nil {
			continue
		}
		v.Offset = int(ro.size)
		ro.grow(int64(v.Type.Slots()), v.Span)
	}
}

// initial resolves the value a variable begins with.
func (ro *role) initial(v *model.Var, n *ast.Node) {
	if n == nil || v.Type == nil {
		return
	}
	s := &scope{r: ro.r, constant: true}
	v.Init = s.value(ro.r.parse(n), v.Type)
	v.Locals = s.max
}

func (ro *role) declareStates() {
	n := ro.node.Get("states")
	if n == nil || len(n.Entries) == 0 {
		ro.r.Errorf("FSM009", ro.m.Span, "role %s has no states", diag.Quote(ro.m.Name))
		return
	}
	for _, e := range n.Entries {
		st := &model.State{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Index: len(ro.m.States), Final: isTrue(e.Value.Get("final")), Span: e.Key.Span()}
		if !ro.declare(e.Key, "state", st) {
			continue
		}
		ro.m.States = append(ro.m.States, st)
	}
	in := ro.node.Get("initial")
	if in == nil {
		ro.r.Errorf("FSM009", ro.m.Span, "role %s does not say in which state it begins", diag.Quote(ro.m.Name)).
			With("add `initial: " + n.Entries[0].Key.Text + "`")
		return
	}
	ro.m.Initial = ro.state(in)
}

func (ro *role) stateNames() []string {
	names := make([]string, len(ro.m.States))
	for i, s := range ro.m.States {
		names[i] = s.Name
	}
	return names
}

// state finds a state by name.
func (ro *role) state(n *ast.Node) *model.State {
	for _, s := range ro.m.States {
		if s.Name == n.Text {
			ro.r.refer(n.Span(), s.Span)
			return s
		}
	}
	if ro.node.Get("states").Get(n.Text) == nil {
		ro.r.unknown("FSM051", n, "state", ro.stateNames())
	}
	return nil // or its name is taken, which is reported
}

func (ro *role) declareReports() {
	n := ro.node.Get("reports")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		rep := &model.Report{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Index: len(ro.m.Reports), Span: e.Key.Span()}
		rep.Fields = ro.r.declaredFields(e)
		if rep.Name == "finished" {
			ro.r.Errorf("FSM011", e.Key.Span(), "`finished` is the event of a part that entered a final state").With("choose another name")
			continue
		}
		ro.reports[rep.Name] = rep
		ro.m.Reports = append(ro.m.Reports, rep)
	}
}

// declaredFields resolves the fields of a command or report.
func (r *resolver) declaredFields(e ast.Entry) []*model.Field {
	f := r.fields(e.Value.Get("fields"))
	if f == nil {
		r.brokenFields(e.Key.Span())
		return []*model.Field{}
	}
	return f
}

// addEvent enters an event and reports a name that is taken.
func (ro *role) addEvent(ev *model.Event) bool {
	if old := ro.events[ev.Name]; old != nil && old.Kind < model.EventMessage {
		ro.r.Errorf("FSM040", ev.Span, "every machine has the event %s; a %s needs another name", diag.Quote(ev.Name), eventWord(ev.Kind))
		return false
	} else if old != nil {
		ro.r.hides(ev.Span, ev.Name, eventWord(old.Kind), old.Span)
		return false
	}
	if slices.Contains(stateKeys, ev.Name) {
		ro.r.Errorf("FSM011", ev.Span, "%s is a key of every state and cannot be an event", diag.Quote(ev.Name)).With("choose another name")
		return false
	}
	ev.Index = len(ro.m.Events)
	ro.events[ev.Name] = ev
	ro.m.Events = append(ro.m.Events, ev)
	return true
}

func eventWord(k model.EventKind) string {
	return [...]string{"basic event", "basic event", "basic event", "message", "command", "timer", "part's event", "part's event"}[k]
}

// basicEvents enters all events but those of parts, in the order of the model.
func (ro *role) basicEvents() {
	for i, name := range []string{"start", "up", "lost"} {
		ro.addEvent(&model.Event{Kind: model.EventStart + model.EventKind(i), Name: name, Fields: []*model.Field{}, Span: ro.m.Span})
	}
	for _, m := range ro.r.p.Messages {
		ro.addEvent(&model.Event{Kind: model.EventMessage, Name: m.Name, Doc: m.Doc, Message: m, Fields: m.Fields, Span: m.Span})
	}
	if n := ro.node.Get("commands"); n != nil {
		for _, e := range n.Entries {
			ev := &model.Event{Kind: model.EventCommand, Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Span: e.Key.Span()}
			ev.Fields = ro.r.declaredFields(e)
			if ro.addEvent(ev) {
				ro.m.Commands = append(ro.m.Commands, ev)
			}
		}
	}
	for _, t := range ro.m.Timers {
		ro.addEvent(&model.Event{Kind: model.EventTimer, Name: t.Name, Doc: t.Doc, Timer: t, Fields: append([]*model.Field{}, t.Keys...), Span: t.Span})
	}
}
