package reduce

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// If every value of one type belongs to one index of another (the values of one
// property are never compared with, or copied to, those of another), the values of
// each index may be exchanged on their own. A value belongs to an index if it is
// in the part or the element of an array that the index selects, or in a message,
// command or report beside the index. This file checks that nothing carries
// a value from one index to another.

// owners is one such check.
type owners struct {
	value, index string // tags
	why          string // the first reason against it
	seen         map[ownedMachine]bool
}

// ownedMachine is a machine and whether all its values belong to one index.
type ownedMachine struct {
	m    *core.Machine
	self bool
}

// What the values in an expression belong to: nothing in particular, the index of
// the machine at hand, each element of an array to its index; else the name of the
// expression that is the index.
const (
	nobody = ""
	mine   = "self"
	theirs = "array"
)

// frame is where an expression stands.
type frame struct {
	self   bool // inside a part with an index
	locals map[*model.Local]string
}

// owned says why values do not belong to indices; empty if they do.
func (u *uses) owned(value, index string) string {
	o := &owners{value: value, index: index, seen: map[ownedMachine]bool{}}
	check := u.check
	for _, m := range u.machines {
		if slices.ContainsFunc(check.Instances, func(i *model.Instance) bool { return i.Role == m.Model }) {
			o.machine(m, false)
		}
	}
	for _, r := range check.Rules {
		f := frame{locals: map[*model.Local]string{}}
		o.bind(f, r.Command.Fields, r.Params)
		o.check(f, core.Of(r.When))
	}
	for _, c := range check.Claims {
		f := frame{locals: map[*model.Local]string{}}
		o.check(f, core.Of(c.When))
		o.check(f, core.Of(c.Expr))
		for _, e := range c.Exprs {
			o.check(f, core.Of(e))
			o.same(o.owner(f, core.Of(e)), o.owner(f, core.Of(c.Exprs[0])))
		}
	}
	o.check(frame{locals: map[*model.Local]string{}}, core.Of(check.Quiet))
	return o.why
}

func (o *owners) fail(format string, args ...any) string {
	if o.why == "" {
		o.why = fmt.Sprintf(format, args...)
	}
	return nobody
}

// holds reports whether a type has values in it.
func (o *owners) holds(t *model.Type) bool {
	found := false
	leaves(t, func(t *model.Type) { found = found || tagOf(t) == o.value })
	return found
}

// inArray reports whether all values in t are in elements of arrays over the index.
func (o *owners) inArray(t *model.Type) bool {
	switch {
	case !o.holds(t):
		return true
	case t.Kind == model.KindArray:
		return tagOf(t.Index) == o.index && !o.hasArray(t.Elem)
	case t.Kind == model.KindRecord:
		for _, f := range t.Fields {
			if !o.inArray(f.Type) {
				return false
			}
		}
		return true
	}
	return false
}

// hasArray reports whether some value in t is in an array over the index. Beside
// another index that would be one too many.
func (o *owners) hasArray(t *model.Type) bool {
	if t == nil || !o.holds(t) {
		return false
	}
	if t.Kind == model.KindArray && tagOf(t.Index) == o.index {
		return true
	}
	for _, f := range t.Fields {
		if o.hasArray(f.Type) {
			return true
		}
	}
	return o.hasArray(t.Elem)
}

// same joins what two expressions belong to.
func (o *owners) same(a, b string) string {
	switch {
	case a == nobody:
		return b
	case b == nobody || a == b:
		return a
	}
	return o.fail("values of different ones meet")
}

// name gives the name of an index.
func (o *owners) name(f frame, e core.Expr) string {
	switch e := core.Bare(e).(type) {
	case *core.Local:
		if e.Local != nil && tagOf(e.Local.Type) == o.index {
			return fmt.Sprintf("%p", e.Local)
		}
	case *core.Const:
		return fmt.Sprint("the ", e.Value)
	}
	return o.fail("one is selected by a computed index (%s)", e.Node().Pos().Place())
}

// keyed reports whether a part is selected by the index.
func (o *owners) keyed(p *model.Part) bool {
	return len(p.Keys) == 1 && tagOf(p.Keys[0].Type) == o.index
}

// owner says what the values in e belong to.
func (o *owners) owner(f frame, e core.Expr) string {
	if e == nil || !o.holds(core.Bare(e).Node().T) {
		return nobody
	}
	switch e := core.Bare(e).(type) {
	case *core.Read:
		if e.What == core.ReadVar {
			return o.variable(f, e.Var, &e.Place, e.Pos())
		}
	case *core.Local:
		if e.Local == nil {
			return nobody
		}
		if w, ok := f.locals[e.Local]; ok {
			return w
		}
		return o.fail("%s belongs to none (%s)", e.Local.Name, e.Pos().Place())
	case *core.Index:
		x := o.owner(f, e.X)
		if t := e.X.Node().T; x == theirs && t.Kind == model.KindArray && tagOf(t.Index) == o.index {
			return o.name(f, e.I)
		}
		return x
	}
	return o.joined(f, core.Bare(e))
}

// joined says what all operands of e together belong to.
func (o *owners) joined(f frame, e core.Expr) string {
	all := nobody
	core.Operands(e, func(x core.Expr) { all = o.same(all, o.owner(f, x)) })
	return all
}

// variable says what the values in a variable belong to, of the machine that a place leads to.
func (o *owners) variable(f frame, v *model.Var, p *core.Place, at diag.Span) string {
	w := nobody
	if f.self && p.Inst == nil {
		w = mine
	}
	for _, step := range p.Path {
		if !o.keyed(step.Part) {
			continue
		}
		if w != nobody {
			return o.fail("parts with that index are inside each other (%s)", at.Place())
		}
		w = o.name(f, step.Keys[0])
	}
	switch {
	case w != nobody && o.hasArray(v.Type):
		return o.fail("%s has a second index (%s)", v.Name, at.Place())
	case w == nobody && o.inArray(v.Type):
		return theirs
	case w == nobody:
		return o.fail("%s belongs to none (%s)", v.Name, at.Place())
	}
	return w
}

// check looks at e and everything inside it.
func (o *owners) check(f frame, e core.Expr) {
	if e == nil {
		return
	}
	switch e := e.(type) {
	case *core.Fold:
		if e.Over != nil {
			o.gets(f, e.Local, e.Over)
		}
	case *core.Apply, *core.If:
		o.joined(f, e)
	}
	o.owner(f, e)
	core.Operands(e, func(x core.Expr) { o.check(f, x) })
}

// gets notes that a local gets values of e.
func (o *owners) gets(f frame, l *model.Local, e core.Expr) {
	if o.holds(l.Type) {
		f.locals[l] = o.owner(f, e)
	}
}

// signature gives, for the fields of an event, what the values in each belong
// to; index names the value of a field.
func (o *owners) signature(f frame, fields []*model.Field, index func(i int) string) []string {
	at := -1
	for i, x := range fields {
		if tagOf(x.Type) != o.index {
			continue
		}
		if at >= 0 {
			o.fail("there are two indices beside it (%s)", x.Span.Place())
		}
		at = i
	}
	out := make([]string, len(fields))
	for i, x := range fields {
		switch {
		case !o.holds(x.Type):
		case o.inArray(x.Type):
			out[i] = theirs
		case o.hasArray(x.Type):
			o.fail("%s has a second index (%s)", x.Name, x.Span.Place())
		case at >= 0:
			out[i] = index(at)
		case f.self:
			out[i] = mine
		default:
			o.fail("no index is beside %s (%s)", x.Name, x.Span.Place())
		}
	}
	return out
}

// bind says what the parameters of an event belong to.
func (o *owners) bind(f frame, fields []*model.Field, params []*model.Local) {
	if len(params) != len(fields) {
		return // ignored or deferred
	}
	for i, w := range o.signature(f, fields, func(i int) string { return fmt.Sprintf("%p", params[i]) }) {
		f.locals[params[i]] = w
	}
}

// gives checks the values given to the fields of an event.
func (o *owners) gives(f frame, to frame, fields []*model.Field, values []core.Expr, self string) {
	want := o.signature(to, fields, func(i int) string { return o.name(f, values[i]) })
	for i, e := range values {
		o.check(f, e)
		if want[i] == mine && self != nobody {
			want[i] = self
		}
		o.same(want[i], o.owner(f, e))
	}
}

// machine checks a machine and its parts; self: all its values belong to one
// index of the machine around it.
func (o *owners) machine(m *core.Machine, self bool) {
	key := ownedMachine{m, self}
	if o.seen[key] || o.why != "" {
		return
	}
	o.seen[key] = true
	for _, v := range slices.Concat(m.Model.Vars, m.Model.Params) {
		if o.holds(v.Type) && !self && !o.inArray(v.Type) {
			o.fail("%s belongs to none (%s)", v.Name, v.Span.Place())
		}
	}
	for _, st := range m.States {
		o.stmts(frame{self, map[*model.Local]string{}}, st.Entry)
	}
	for _, t := range m.Transitions {
		f := frame{self, map[*model.Local]string{}}
		o.bind(f, t.Model.Event.Fields, t.Model.Params)
		o.check(f, t.When)
		o.stmts(f, t.Body)
	}
	for _, p := range m.Parts {
		o.part(p, self)
	}
}

// part checks a part and what its messages become.
func (o *owners) part(code *core.Part, self bool) {
	p := code.Model
	if o.keyed(p) && self {
		o.fail("parts with that index are inside each other (%s)", p.Span.Place())
		return
	}
	o.machine(code.Machine, self || o.keyed(p))
	if code.To != nil {
		f := frame{self, map[*model.Local]string{}}
		o.bind(f, p.Keys, p.KeyLocals)
		o.check(f, code.To)
	}
	for i, ps := range code.Sends {
		if ps == nil {
			continue
		}
		f := frame{self, map[*model.Local]string{}}
		fields := slices.Concat(p.Keys, p.Machine.Messages[i].Fields)
		o.bind(f, fields, slices.Concat(p.KeyLocals, ps.Model.Params))
		o.stmt(f, ps.Send)
	}
}

func (o *owners) stmts(f frame, list []core.Stmt) {
	for _, s := range list {
		o.stmt(f, s)
	}
}

func (o *owners) stmt(f frame, s core.Stmt) {
	switch s := s.(type) {
	case *core.Assign:
		o.check(f, s.Value)
		if s.Var == nil {
			o.gets(f, s.Local, s.Value)
			return
		}
		o.same(o.place(f, s), o.owner(f, s.Value))
	case *core.Emit:
		switch {
		case s.Message != nil:
			o.gives(f, f, s.Message.Fields, s.Fields, nobody)
			o.check(f, s.To)
		case s.Report != nil:
			o.gives(f, f, s.Report.Fields, s.Fields, nobody)
		}
	case *core.Give:
		self := nobody
		to := frame{self: f.self}
		if o.keyed(s.Part.Model) {
			self, to.self = o.name(f, s.Keys[0]), true
		}
		for _, k := range s.Keys {
			o.check(f, k)
		}
		o.gives(f, to, s.Event.Fields, s.Args, self)
	case *core.Branch:
		o.check(f, s.Cond)
		o.stmts(f, s.Then)
		o.stmts(f, s.Else)
	case *core.For:
		o.check(f, s.Over)
		if s.Over != nil {
			o.gets(f, s.Local, s.Over)
		}
		o.stmts(f, s.Body)
	}
}

// place says what the place that is set belongs to.
func (o *owners) place(f frame, s *core.Assign) string {
	if !o.holds(s.Var.Type) {
		return nobody
	}
	w := o.variable(f, s.Var, &core.Place{}, s.Pos())
	t := s.Var.Type
	for _, sel := range s.Select {
		switch {
		case sel.Field != nil:
			t = sel.Field.Type
			continue
		case w == theirs && t.Kind == model.KindArray && tagOf(t.Index) == o.index:
			w = o.name(f, sel.Index)
		}
		o.check(f, sel.Index)
		t = t.Elem
	}
	if !o.holds(t) {
		return nobody
	}
	return w
}
