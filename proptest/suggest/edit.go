package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// kind says what an edit does.
type kind uint8

const (
	addIgnore kind = iota
	addDefer
	addHandler // with a message to send, a state to go to, both or neither
	addLike    // the handler that another state has for the event
	setTarget
	addSend
	dropStmt
	dropBranch
	holdMore // the role may hold more deferred messages; state and event mean nothing
	setValue // an assignment gives another value
	addSet
	flip // the guards of the handler compare the other way
)

// edit is one small change. It names things by their indices, which are the same in the models for all
// checks of a specification.
type edit struct {
	kind               kind
	role, state, event int
	branch             int // of the handler
	to                 int // state to go to, or whose handler is copied; none: no goto; the bound of holdMore
	send               int // message, or none
	stmt               int // statement that is dropped, or whose value is another
	// with is what the fields of the message that is sent are, or the other value of an assignment, or the comparison
	// that is turned; set is an assignment that is added.
	with, set string
}

// none stands for no state and no message.
const none = -1

// cost orders edits of which as many are needed: simple ones first.
func (e edit) cost() int {
	c := 1
	switch e.kind {
	case addHandler:
		if e.to != none {
			c++
		}
		if e.send != none {
			c += 2
		}
	case addLike:
		c = 2
	case setTarget, holdMore:
		c = 4
	case addDefer, addSend, dropStmt:
		c = 5 // deferring mends much that is better mended otherwise
	case setValue, flip:
		c = 4
	case addSet:
		c = 5
	case dropBranch:
		c = 6
	}
	if e.set != "" && e.kind == addHandler {
		c++
	}
	return c
}

// precise reports whether the edit changes single words of a handler, so that others of the kind can change others.
func (e edit) precise() bool { return e.kind == setValue || e.kind == flip }

// adds reports whether the edit is for an event that the state does not mention.
func (e edit) adds() bool { return e.kind <= addLike }

// apply changes p and returns what undoes it. The edit must fit p.
func (e edit) apply(p *model.Protocol) (undo func()) {
	m := p.Roles[e.role]
	if e.kind == holdMore {
		old := m.Deferred
		m.Deferred = e.to
		return func() { m.Deferred = old }
	}
	st := m.States[e.state]
	if e.adds() {
		return e.add(p, m, st)
	}
	h := st.Handlers[e.event]
	t := h.Branches[e.branch]
	old := *t
	switch e.kind {
	case setTarget:
		t.To = nil
		if e.to != none {
			t.To = m.States[e.to]
		}
	case addSend:
		t.Body = append(slices.Clone(t.Body), e.message(p, m, t))
	case addSet:
		t.Body = append(slices.Clone(t.Body), assign(m, t, e.set))
	case setValue:
		k := written(t.Body, e.stmt)
		set := *t.Body[k].(*model.Set)
		if v := read(m, t, e.with, set.Var.Type); v != nil { // a check may have fewer names
			set.Value = v
		}
		t.Body = slices.Clone(t.Body)
		t.Body[k] = &set
	case flip:
		var guards []model.Expr
		for _, b := range h.Branches {
			guards = append(guards, b.When)
			b.When = flipped(b.When, e.with)
		}
		return func() {
			for i, b := range h.Branches {
				b.When = guards[i]
			}
		}
	case dropStmt:
		k := written(t.Body, e.stmt)
		drop := t.Body[k]
		_, report := drop.(*model.ReportStmt)
		t.Body = slices.DeleteFunc(slices.Clone(t.Body), func(s model.Stmt) bool {
			return s == drop || report && model.Watches(s) && s.Pos() == drop.Pos()
		})
	case dropBranch:
		if len(h.Branches) == 1 {
			st.Handlers[e.event] = nil
			return func() { st.Handlers[e.event] = h }
		}
		all := h.Branches
		h.Branches = slices.Concat(all[:e.branch], all[e.branch+1:])
		return func() { h.Branches = all }
	}
	return func() { *t = old }
}

// written is the place in a body of the n-th statement that the author wrote. The model of a check has others, which
// note what happens for its claims and its monitors.
func written(body []model.Stmt, n int) int {
	for i, s := range body {
		if model.Watches(s) {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(body) - 1
}

// changed is the statement that an edit is about.
func changed(st *model.State, e edit) model.Stmt {
	body := st.Handlers[e.event].Branches[e.branch].Body
	return body[written(body, e.stmt)]
}

// add gives the state a handler for an event that it does not mention.
func (e edit) add(p *model.Protocol, m *model.Machine, st *model.State) func() {
	ev := m.Events[e.event]
	transitions := m.Transitions
	h := &model.Handler{Event: ev}
	if e.kind == addLike {
		for i, b := range m.States[e.to].Handlers[e.event].Branches {
			t := *b
			t.From, t.ID, t.Name = st, len(transitions)+i, st.Name+" "+ev.Name
			h.Branches = append(h.Branches, &t)
		}
	} else {
		t := &model.Transition{ID: len(transitions), Name: st.Name + " " + ev.Name, From: st, Event: ev}
		for _, f := range ev.Fields {
			t.Params = append(t.Params, &model.Local{Name: f.Name, Type: f.Type, Offset: t.Locals})
			t.Locals += f.Type.Slots()
		}
		switch e.kind {
		case addIgnore:
			h.Mode = model.Ignore
		case addDefer:
			h.Mode = model.Defer
		}
		t.Mode = h.Mode
		if e.kind == addHandler && e.set != "" {
			t.Body = append(t.Body, assign(m, t, e.set))
		}
		if e.kind == addHandler && e.send != none {
			t.Body = append(t.Body, e.message(p, m, t))
		}
		if e.kind == addHandler && e.to != none {
			t.To = m.States[e.to]
		}
		h.Branches = []*model.Transition{t}
	}
	m.Transitions = append(slices.Clone(transitions), h.Branches...)
	st.Handlers[e.event] = h
	return func() {
		st.Handlers[e.event] = nil
		m.Transitions = transitions
	}
}

// message is the statement that sends the edit's message.
func (e edit) message(p *model.Protocol, m *model.Machine, t *model.Transition) model.Stmt {
	s := &model.Send{Message: p.Messages[e.send]}
	for i, f := range s.Message.Fields {
		v := read(m, t, strings.Split(e.with, ",")[i], f.Type)
		if v == nil { // the model of a check may have fewer names
			v = &model.Lit{ExprBase: model.ExprBase{T: f.Type}, Value: f.Type.Lowest()}
		}
		s.Fields = append(s.Fields, v)
	}
	if !two(p) {
		s.Dest = model.ToBroadcast
		if t.Event.Kind == model.EventMessage {
			s.Dest = model.ToSender
		}
	}
	return s
}

// two reports whether every check has two instances, so that there is only one peer to send to.
func two(p *model.Protocol) bool {
	return !slices.ContainsFunc(p.Checks, func(c *model.Check) bool { return len(c.Instances) != 2 })
}

// sent is the message that the edit sends, in words.
func (e edit) sent(p *model.Protocol) string {
	m := p.Messages[e.send]
	var list []string
	for i, f := range m.Fields {
		list = append(list, f.Name+": "+strings.Split(e.with, ",")[i])
	}
	if list == nil {
		return m.Name
	}
	return m.Name + "{" + strings.Join(list, ", ") + "}"
}

// words says what the edit does, in terms of the specification.
func (e edit) words(p *model.Protocol) string {
	m := p.Roles[e.role]
	if e.kind == holdMore {
		return fmt.Sprintf("%s may hold %s instead of %d", m.Name, diag.Counted(e.to, "deferred message"),
			m.DeferredMost())
	}
	st, ev := m.States[e.state], m.Events[e.event]
	where := "state " + st.Name
	if len(p.Roles) > 1 {
		where = m.Name + ", " + where
	}
	target := "stay"
	if e.to != none {
		target = "go to " + m.States[e.to].Name
	}
	if !e.adds() && len(st.Handlers[e.event].Branches) > 1 {
		where += fmt.Sprintf(", branch %d", e.branch+1)
	}
	switch e.kind {
	case addIgnore:
		return where + ": ignore " + ev.Name
	case addDefer:
		return where + ": defer " + ev.Name
	case addLike:
		return where + ": " + ev.Name + " as in state " + m.States[e.to].Name
	case addHandler:
		if e.send != none {
			target = "send " + e.sent(p) + ", " + target
		}
		if e.set != "" {
			target = "set " + strings.Replace(e.set, "=", " to ", 1) + ", " + target
		}
		return where + ": on " + ev.Name + " " + target
	case setTarget:
		return where + ": after " + ev.Name + " " + target
	case addSend:
		return where + ": on " + ev.Name + " also send " + e.sent(p)
	case addSet:
		return where + ": on " + ev.Name + " also set " + strings.Replace(e.set, "=", " to ", 1)
	case setValue:
		set := changed(st, e).(*model.Set)
		return fmt.Sprintf("%s: on %s set %s to %s instead of %s", where, ev.Name, set.Var.Name, e.with,
			model.ExprString(set.Value))
	case flip:
		return strings.TrimSuffix(where, ", branch 1") + ": on " + ev.Name + " ask " + contrary(e.with) +
			" instead of " + e.with
	case dropStmt:
		return where + ": on " + ev.Name + " do not " +
			model.StmtString(changed(st, e))
	}
	return where + ": " + ev.Name + " is not handled"
}
