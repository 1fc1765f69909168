package check

import (
	"fmt"

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
	m    *model.Machine
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

// ownersOf says why values do not belong to indices; empty if they do.
func ownersOf(s *System, value, index string) string {
	o := &owners{value: value, index: index, seen: map[ownedMachine]bool{}}
	for _, p := range s.procs {
		o.machine(p.role, false)
	}
	for _, r := range s.Check.Rules {
		f := frame{locals: map[*model.Local]string{}}
		o.bind(f, r.Command.Fields, r.Params)
		o.check(f, r.When)
	}
	for _, c := range s.Check.Claims {
		f := frame{locals: map[*model.Local]string{}}
		o.check(f, c.When)
		o.check(f, c.Expr)
		for _, e := range c.Exprs {
			o.check(f, e)
			o.same(o.owner(f, e), o.owner(f, c.Exprs[0]))
		}
	}
	o.check(frame{locals: map[*model.Local]string{}}, s.Check.Quiet)
	return o.why
}

func (o *owners) fail(format string, args ...any) string {
	if o.why == "" {
		o.why = fmt.Sprintf(format, args...)
	}
	return nobody
}

// holds says whether a type has values in it.
func (o *owners) holds(t *model.Type) bool {
	found := false
	leaves(t, func(t *model.Type) { found = found || tagOf(t) == o.value })
	return found
}

// inArray says whether all values in t are in elements of arrays over the index.
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

// hasArray says whether some value in t is in an array over the index. Beside
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
func (o *owners) name(f frame, e model.Expr) string {
	switch e := e.(type) {
	case *model.LocalRef:
		if tagOf(e.Local.Type) == o.index {
			return fmt.Sprintf("%p", e.Local)
		}
	case *model.Lit:
		return fmt.Sprint("the ", e.Value)
	}
	return o.fail("one is selected by a computed index (%s)", place(e.Pos()))
}

// keyed says whether a part is selected by the index.
func (o *owners) keyed(p *model.Part) bool {
	return len(p.Keys) == 1 && tagOf(p.Keys[0].Type) == o.index
}

// owner says what the values in e belong to.
func (o *owners) owner(f frame, e model.Expr) string {
	if e == nil || !o.holds(e.Type()) {
		return nobody
	}
	switch e := e.(type) {
	case *model.VarRef:
		return o.variable(f, e)
	case *model.LocalRef:
		if w, ok := f.locals[e.Local]; ok {
			return w
		}
		return o.fail("%s belongs to none (%s)", e.Local.Name, place(e.Span))
	case *model.Index:
		x := o.owner(f, e.X)
		if t := e.X.Type(); x == theirs && t.Kind == model.KindArray && tagOf(t.Index) == o.index {
			return o.name(f, e.I)
		}
		return x
	case *model.None:
		return nobody
	}
	all := nobody
	for _, c := range children(e) {
		all = o.same(all, o.owner(f, c))
	}
	return all
}

func (o *owners) variable(f frame, e *model.VarRef) string {
	w := nobody
	if f.self && e.Inst == nil {
		w = mine
	}
	for _, step := range e.Path {
		if !o.keyed(step.Part) {
			continue
		}
		if w != nobody {
			return o.fail("parts with that index are inside each other (%s)", place(e.Span))
		}
		w = o.name(f, step.Keys[0])
	}
	switch {
	case w != nobody && o.hasArray(e.Var.Type):
		return o.fail("%s has a second index (%s)", e.Var.Name, place(e.Span))
	case w == nobody && o.inArray(e.Var.Type):
		return theirs
	case w == nobody:
		return o.fail("%s belongs to none (%s)", e.Var.Name, place(e.Span))
	}
	return w
}

// check looks at e and everything inside it.
func (o *owners) check(f frame, e model.Expr) {
	if e == nil {
		return
	}
	switch e := e.(type) {
	case *model.Build:
		o.over(f, e.Local, e.Over)
	case *model.Find:
		o.over(f, e.Local, e.Over)
	case *model.Quantified:
		o.over(f, e.Local, e.Over)
	case *model.Binary:
		if e.Op == model.OpEq || e.Op == model.OpNe {
			o.same(o.owner(f, e.X), o.owner(f, e.Y))
		}
	case *model.Call:
		all := nobody
		for _, a := range e.Args {
			all = o.same(all, o.owner(f, a))
		}
	}
	o.owner(f, e)
	for _, c := range children(e) {
		o.check(f, c)
	}
}

func (o *owners) over(f frame, l *model.Local, over model.Expr) {
	if over != nil && o.holds(l.Type) {
		f.locals[l] = o.owner(f, over)
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
			o.fail("there are two indices beside it (%s)", place(x.Span))
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
			o.fail("%s has a second index (%s)", x.Name, place(x.Span))
		case at >= 0:
			out[i] = index(at)
		case f.self:
			out[i] = mine
		default:
			o.fail("no index is beside %s (%s)", x.Name, place(x.Span))
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
func (o *owners) gives(f frame, to frame, fields []*model.Field, values []model.Expr, self string) {
	want := o.signature(to, fields, func(i int) string { return o.name(f, values[i]) })
	for i, e := range values {
		o.check(f, e)
		if want[i] == mine && self != nobody {
			want[i] = self
		}
		o.same(want[i], o.owner(f, e))
	}
}
