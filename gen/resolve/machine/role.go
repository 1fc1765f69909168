package machine

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// Role is a machine under construction.
type Role struct {
	*convert.Names
	r       *Set
	Node    *ast.Node
	Events  map[string]*model.Event
	reports map[string]*model.Report
	Sends   map[*model.Message]diag.Span // what the machine sends, with the first place
	Hears   map[*model.Message]bool      // what it handles, ignores or defers somewhere
	// Peerless is the first statement that sends without saying to whom. That is wrong where there
	// are more than two parties.
	Peerless  diag.Span
	begun     bool // resolving what its states do has begun
	routines  map[string]*routine
	calling   []*routine                 // those that are being written out
	calls     int                        // how many were written out
	declaring bool                       // its declaration has not ended; whoever finds it now is inside it
	lost      bool                       // some goto leads to no state
	badGuard  map[*model.Transition]bool // those whose guard has an error
	children  map[*model.Part]*Role      // the roles that its parts run
	// nodes has the states that have none of their own, composites the others, outermost first.
	nodes      map[*model.State]*ast.Node
	composites []*composite
}

// declare enters a value, or reports that its name is taken.
func (ro *Role) declare(key *ast.Node, what string, v any) bool {
	name := key.Text
	if old, ok := ro.Values[name]; ok {
		ro.Taken[name] = true
		w, at := convert.ValueKind(old)
		ro.NameTaken(key.Span(), name, w, at)
		return false
	}
	if at, known := ro.ConstAt(name); known {
		ro.NameTaken(key.Span(), name, "constant", at)
		return false
	}
	ro.Values[name] = v
	return true
}

func (ro *Role) declareVars(section string) {
	n := ro.Node.Get(section)
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		v := &model.Var{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"), Span: e.Key.Span()}
		v.Type = ro.TypeOf(e.Value, "")
		if e.Value.IsNull() {
			ro.Errorf("FSM041", e.Key.Span(), "%s has no type", diag.Quote(v.Name))
		}
		if !ro.declare(e.Key, section, v) {
			continue
		}
		if section == "params" {
			ro.RefuseInit(e.Value)
			ro.Params[v] = true
			ro.Machine.Params = append(ro.Machine.Params, v)
		} else {
			ro.initial(v, e.Value.Get("init"))
			v.Kept = pass.IsTrue(e.Value.Get("kept"))
			ro.Machine.Vars = append(ro.Machine.Vars, v)
		}
	}
}

// initial resolves the value with which a variable begins.
func (ro *Role) initial(v *model.Var, n *ast.Node) {
	if n == nil || v.Type == nil {
		return
	}
	s := expr.In(&convert.Scope{Table: ro.Table, Constant: true})
	v.Init = s.Value(ro.Parse(n), v.Type)
	v.Locals = s.Slots
}

// maxDeferred is the greatest bound of deferred messages.
const maxDeferred = 1000

func (ro *Role) declareStates() {
	n := ro.Node.Get("states")
	if n == nil || len(n.Entries) == 0 {
		ro.Errorf("FSM009", ro.Machine.Span, "role %s has no states", diag.Quote(ro.Machine.Name))
		return
	}
	ro.nodes = map[*model.State]*ast.Node{}
	ro.declareIn(n, nil)
	ro.initials()
	in := ro.Node.Get("initial")
	if in == nil {
		ro.Errorf("FSM009", ro.Machine.Span, "role %s does not say in which state it begins",
			diag.Quote(ro.Machine.Name)).
			With("add `initial: " + n.Entries[0].Key.Text + "`")
		return
	}
	ro.Machine.Initial, _ = ro.stateOf(in)
}

func (ro *Role) stateNames() []string {
	names := make([]string, len(ro.Machine.States))
	for i, s := range ro.Machine.States {
		names[i] = s.Name
	}
	return append(names, ro.compositeNames()...)
}

// state finds a state by name.
func (ro *Role) state(n *ast.Node) *model.State {
	for _, s := range ro.Machine.States {
		if s.Name == n.Text {
			ro.Refer(n.Span(), s.Span)
			return s
		}
	}
	if !ro.Taken[n.Text] {
		ro.Unknown("FSM051", n, "state", ro.stateNames())
	}
	ro.lost = true
	return nil // or its name is taken, which is reported
}

func (ro *Role) declareReports() {
	n := ro.Node.Get("reports")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		rep := &model.Report{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
			Index: len(ro.Machine.Reports), Span: e.Key.Span()}
		rep.Fields = ro.DeclaredFields(e)
		if rep.Name == "finished" {
			ro.Errorf("FSM011", e.Key.Span(),
				"`finished` is the event of a part that entered a final state").With("choose another name")
			continue
		}
		ro.reports[rep.Name] = rep
		ro.Machine.Reports = append(ro.Machine.Reports, rep)
	}
}

// addEvent enters an event, or reports that its name is taken.
func (ro *Role) addEvent(ev *model.Event) bool {
	if old := ro.Events[ev.Name]; old != nil && old.Kind < model.EventMessage {
		ro.Errorf("FSM040", ev.Span, "every machine has the event %s; a %s needs another name",
			diag.Quote(ev.Name), eventWord(ev.Kind))
		return false
	} else if old != nil {
		ro.NameTaken(ev.Span, ev.Name, eventWord(old.Kind), old.Span)
		return false
	}
	if slices.Contains(stateKeys, ev.Name) {
		ro.Errorf("FSM011", ev.Span, "%s is a key of every state and cannot be an event",
			diag.Quote(ev.Name)).With("choose another name")
		return false
	}
	ev.Index = len(ro.Machine.Events)
	ro.Events[ev.Name] = ev
	ro.Machine.Events = append(ro.Machine.Events, ev)
	return true
}

// basicEvents enters all events but those of parts, in the order of the model.
func (ro *Role) basicEvents() {
	for i, name := range []string{"start", "up", "lost"} {
		ro.addEvent(&model.Event{Kind: model.EventStart + model.EventKind(i), Name: name,
			Fields: []*model.Field{}, Span: ro.Machine.Span})
	}
	for _, m := range ro.Protocol.Messages {
		ro.addEvent(&model.Event{Kind: model.EventMessage, Name: m.Name, Doc: m.Doc, Message: m,
			Fields: m.Fields, Span: m.Span})
	}
	if n := ro.Node.Get("commands"); n != nil {
		for _, e := range n.Entries {
			ev := &model.Event{Kind: model.EventCommand, Name: e.Key.Text,
				Doc: pass.TextOf(e.Value, "doc"), Span: e.Key.Span()}
			ev.Fields = ro.DeclaredFields(e)
			if ro.addEvent(ev) {
				ro.Machine.Commands = append(ro.Machine.Commands, ev)
			}
		}
	}
	for _, t := range ro.Machine.Timers {
		ro.addEvent(&model.Event{Kind: model.EventTimer, Name: t.Name, Doc: t.Doc, Timer: t,
			Fields: append([]*model.Field{}, t.Keys...), Span: t.Span})
	}
}

// layout gives each value its place in the machine. Only when all that the role does is resolved
// is it known whether it has the parameter self.
func (ro *Role) layout() {
	ro.SettleGiven()
	ro.place()
}

// place lays the values of the machine out, one behind the other.
func (ro *Role) place() {
	size := int64(1)
	place := func(slots int64, at diag.Span) int {
		offset := size
		if size += slots; size > pass.MaxMachine {
			ro.Errorf("FSM042", at, "the machine has more than %d numbers", pass.MaxMachine)
			size = 1
		}
		return int(offset)
	}
	for _, list := range [][]*model.Var{ro.Machine.Params, ro.Machine.Vars} {
		for _, v := range list {
			if v.Type != nil {
				v.Offset = place(int64(v.Type.Slots()), v.Span)
			}
		}
	}
	for _, t := range ro.Machine.Timers {
		t.Offset = place(int64(t.Count), t.Span)
	}
	for _, p := range ro.Machine.Parts {
		if p.Machine != nil {
			p.Offset = place(int64(p.Count)*int64(p.Machine.Size), p.Span)
		}
	}
	ro.Machine.Size = int(size)
}
