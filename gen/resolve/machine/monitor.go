package machine

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Monitors adds the monitors of a check to the roles that they watch: each is a part, which the machine
// gives its commands and its reports, and which does nothing to the machine.
func (r *Set) Monitors(n *ast.Node) {
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		if e.Value.Kind != ast.Map {
			r.Errorf("FSM008", e.Value.Span(), "a monitor is a map, not empty")
			continue
		}
		of := e.Value.Get("of")
		if of == nil {
			r.Errorf("FSM009", e.Key.Span(), "monitor %s does not say which role it watches", diag.Quote(e.Key.Text)).
				With("add `of: ROLE`, for one in each instance of it, or `of: [a, b]`, for one of several")
			continue
		}
		if of.Kind == ast.List {
			continue // of instances, which the check knows
		}
		ro := r.Roles[of.Text]
		if ro == nil {
			r.Unknown("FSM021", of, "role", r.Root.Get("roles").Keys())
			continue
		}
		r.Refer(of.Span(), ro.Machine.Span)
		ro.monitor(e)
	}
	done := map[*Role]bool{}
	for _, m := range r.Protocol.Roles {
		r.Roles[m.Name].replace(done)
	}
}

// monitor adds one monitor to a role.
func (ro *Role) monitor(e ast.Entry) {
	before := ro.Len()
	mon := ro.r.Watcher(e, Heard(ro.Machine, "", diag.Span{}))
	m := mon.Machine
	p := &model.Part{Name: m.Name, Doc: m.Doc, Index: len(ro.Machine.Parts), Machine: m, Count: 1, Monitor: true,
		Sends: make([]*model.PartSend, len(m.Messages)), Span: m.Span}
	if !ro.declare(e.Key, "monitor", p) || ro.Len() > before {
		return
	}
	ro.Machine.Parts = append(ro.Machine.Parts, p)
	ro.Names.Parts[p] = mon.Names
	give := func(h convert.Happening, base model.StmtBase, field func(i int) model.Expr) []model.Stmt {
		ev := mon.Events[h.Name()]
		if !mon.Handles(ev) {
			return nil
		}
		run := &model.Run{StmtBase: base, Part: p, Event: ev}
		for i := range ev.Fields {
			run.Args = append(run.Args, field(i))
		}
		return []model.Stmt{run}
	}
	ro.observed(give)
}

// Hearing is what a monitor hears as an event: a command or a report. From is the name of the instances
// that it comes from, empty if the monitor watches one alone.
type Hearing struct {
	convert.Happening
	From string
	At   diag.Span // where these instances are declared
	Role string
}

// name is the name of the event.
func (h Hearing) name() string {
	if h.From == "" {
		return h.Happening.Name()
	}
	return h.From + "." + h.Happening.Name()
}

// Heard are the commands and reports of a role, as a monitor hears them.
func Heard(m *model.Machine, from string, at diag.Span) (list []Hearing) {
	for _, ev := range m.Commands {
		list = append(list, Hearing{convert.Happening{Command: ev}, from, at, m.Name})
	}
	for _, rep := range m.Reports {
		list = append(list, Hearing{convert.Happening{Report: rep}, from, at, m.Name})
	}
	return list
}

// Watcher resolves the machine of a monitor that hears these commands and reports. Its events have the places
// of these in the list, but for those whose name is that of another one.
func (r *Set) Watcher(e ast.Entry, heard []Hearing) *Role {
	m := &model.Machine{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"), Protocol: r.Protocol.Name,
		Span: e.Key.Span()}
	mon := &Role{
		Names: convert.NewNames(r.Table, m), r: r, Node: e.Value, children: map[*model.Part]*Role{},
		Events: map[string]*model.Event{}, routines: map[string]*routine{}, reports: map[string]*model.Report{},
		Sends: map[*model.Message]diag.Span{}, Hears: map[*model.Message]bool{},
		badGuard: map[*model.Transition]bool{},
	}
	mon.declareVars("vars")
	for _, v := range m.Vars {
		if v.Type != nil && !remembers(v.Type) {
			r.Errorf("FSM098", v.Span, "a monitor remembers numbers, truth values, names and instances, not %s",
				types.Describe(v.Type))
		}
	}
	mon.declareStates()
	both := map[string]Hearing{}
	for _, h := range heard {
		name := h.name()
		if mon.Events[name] != nil {
			both[name] = h
			continue
		}
		doc, at := "", diag.Span{}
		if h.Report != nil {
			doc, at = h.Report.Doc, h.Report.Span
		} else {
			doc, at = h.Command.Doc, h.Command.Span
		}
		ev := &model.Event{Kind: model.EventCommand, Name: name, Doc: doc, Index: len(m.Events),
			Fields: h.Fields(), Watched: h.From != "", Span: at}
		if ev.Watched {
			r.watched[ev] = h.At
		}
		mon.Events[name] = ev
		m.Events, m.Commands = append(m.Events, ev), append(m.Commands, ev)
	}
	before := r.Len()
	mon.complete()
	if r.Len() > before {
		return mon
	}
	for _, st := range m.States {
		if st.Final {
			r.Errorf("FSM098", st.Span, "a monitor has no end, so no state of it is final")
		}
		for _, h := range st.Handlers {
			if h != nil && both[h.Event.Name].Role != "" {
				r.Errorf("FSM022", h.Span, "%s is a command and a report of %s, and a monitor cannot tell which",
					diag.Quote(h.Event.Name), diag.Quote(both[h.Event.Name].Role)).
					With("rename one of them, or say it with `commanded(…)` and `reported(…)` in claims")
			}
		}
		mon.unmentioned(st, func(*model.Event) bool { return true })
		mon.onlyRemembers(st.Entry)
	}
	for _, t := range m.Transitions {
		mon.onlyRemembers(t.Body)
	}
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h.Branches[len(h.Branches)-1].When != nil {
				mon.otherwise(st, h)
			}
		}
	}
	if r.Len() == before {
		mon.cannotFail()
	}
	return mon
}

// remembers reports whether a monitor may have a variable of the type.
func remembers(t *model.Type) bool {
	if t.Kind == model.KindOptional {
		t = t.Elem
	}
	switch t.Kind {
	case model.KindBool, model.KindInt, model.KindEnum, model.KindNode, model.KindOpaque:
		return true
	}
	return false
}

// Handles reports whether some state of a monitor does something about an event.
func (mon *Role) Handles(ev *model.Event) bool {
	for _, st := range mon.Machine.States {
		if h := st.Handlers[ev.Index]; h.Mode == model.Handle {
			return true
		}
	}
	return false
}

// onlyRemembers reports the statements of a monitor that would do something. The others keep numbers
// within their types.
func (mon *Role) onlyRemembers(list []model.Stmt) {
	for _, st := range list {
		switch st := st.(type) {
		case *model.Set:
			if t := st.Var.Type; t != nil && t.Kind == model.KindInt {
				st.Value = expr.Clamped(st.Value, t)
			}
		case *model.If:
			mon.onlyRemembers(st.Then)
			mon.onlyRemembers(st.Else)
		default:
			mon.Errorf("FSM098", st.Pos(), "a monitor watches, and does nothing but `set`, `if` and `goto`")
		}
	}
}

// cannotFail reports what of a monitor could be a fault: it would refuse the step of the machine.
func (mon *Role) cannotFail() {
	fail := func(at diag.Span) {
		mon.Errorf("FSM098", at, "this can be a fault, and a monitor must not disturb the machine that it watches").
			With("compare an optional with `==`, assign it to one, and divide by constants alone")
	}
	core.Lower(mon.Machine).Each(func(core.Stmt) {}, func(e core.Expr) {
		if e.Node().CanFail {
			fail(e.Node().Pos())
		}
	})
}
