// Package convert holds what names can mean in an expression, and converts expressions to the
// types that are wanted. It builds expressions from others and reads none. Start from [Scope].
package convert

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Scope holds what names can mean in an expression, and the frame of its locals.
type Scope struct {
	*types.Table
	Own *Names // values of the machine; nil if none are visible

	Locals []*model.Local
	frame  int // first free slot
	Slots  int // slots the frame needs

	Constant    bool // nothing but constants is visible
	ParamsOnly  bool // of the machine only its parameters are visible
	NoValues    bool // nothing of the machine is visible: only keys and fields are
	Environment bool // len(out) and len(in) are channels of the machine
	Instances   map[string]*Instance
	Groups      map[string]*Group
	Monitors    map[string]*Instance // those of several instances
	Ghosts      *Ghosts              // what claims ask of the past; nil where nothing can be asked of it
	Bindings    []Binding            // names that stand for instances while a condition is written out
	Written     int                  // how many copies of the present condition are made
	// Lenient is set if the event's fields could not be resolved. Unknown names may be theirs and
	// are not reported.
	Lenient bool
	// Event is the one that is handled; nil if there is none, or several.
	Event *model.Event
	// Together holds the events of a key that names several. What is said of one is said of all.
	Together []*model.Event
	// Forwards says that names mean fields of the event first, as where it is given on to a part.
	Forwards bool
	// plain are the places where a name that a field has, too, means a value of the role; reached are the
	// fields that msg has reached.
	plain   []plainUse
	reached map[string]bool
	// Args holds the fields of a routine that stand for an expression at the call.
	Args map[string]Argument
}

// Instance is an instance of a check with its role.
type Instance struct {
	Model *model.Instance
	Names *Names // nil: the role has an error
}

// Binding is a name that stands for one instance of a group, or for a number, while a condition is
// written out for all of them.
type Binding struct {
	Name     string
	Instance *Instance // nil if the name stands for a number
	Group    *Group
	Value    int64 // the number, or the instance's number in the group
	At       diag.Span
}

// Group is a declaration `p[1..nodes]: role`, which makes the instances p[1], p[2], … of one role.
type Group struct {
	Name   string
	Lo, Hi int64
	All    []*Instance
	At     diag.Span
}

// Hint shows how to mention the instances of the group.
func (g *Group) Hint() string {
	return fmt.Sprintf("write `%s[%d]`, or go through them: all(x in %s: …)", g.Name, g.Lo, g.Name)
}

// Argument is the value of a routine's field.
type Argument struct {
	Value model.Expr
	At    diag.Span // where the field is declared
}

// Push makes locals visible. They have their offsets already.
func (s *Scope) Push(ls []*model.Local) {
	for _, l := range ls {
		s.Locals = append(s.Locals, l)
		s.frame = max(s.frame, l.Offset+l.Type.Slots())
	}
	s.Slots = max(s.Slots, s.frame)
}

// Local returns the visible local with a name, or nil.
func (s *Scope) Local(name string) *model.Local {
	for i := len(s.Locals) - 1; i >= 0; i-- {
		if l := s.Locals[i]; l.Name == name && (!l.Hidden || s.Forwards) {
			return l
		}
	}
	return nil
}

// HasFields reports whether an event is handled, so that msg means something.
func (s *Scope) HasFields() bool {
	of := func(l *model.Local) bool { return l.Event }
	return s.Event != nil && s.Args == nil || slices.ContainsFunc(s.Locals, of)
}

// Field returns the field of the event that is handled, whether its name is hidden or not, or nil.
func (s *Scope) Field(name string) *model.Local {
	for _, l := range s.Locals {
		if l.Event && l.Name == name {
			if s.reached == nil {
				s.reached = map[string]bool{}
			}
			s.reached[name] = true
			return l
		}
	}
	return nil
}

// plainUse is a place where a name could be taken for that of a field.
type plainUse struct {
	name, what string
	at         diag.Span
}

// Plain notes a name that means a value of the role.
func (s *Scope) Plain(name, what string, at diag.Span) {
	for _, l := range s.Locals {
		if l.Hidden && l.Name == name {
			s.plain = append(s.plain, plainUse{name, what, at})
		}
	}
}

// WarnPlain warns of names that mean values of the role although the event has a field of the name, which nothing
// in the scope has reached.
func (s *Scope) WarnPlain() {
	for _, x := range s.plain {
		if s.reached[x.name] {
			continue
		}
		hint := "write `" + model.MsgName + "." + x.name + "` for the field, or rename one of them"
		if s.Own.Has(model.MsgName) {
			hint = "rename one of them; `" + model.MsgName + "` is a name of the role, so it does not lead to fields"
		}
		s.Warnf("FSM101", x.at, "%s is the %s of the role here, not the field of the event",
			diag.Quote(x.name), x.what).With(hint)
	}
}

// Has reports whether a name is a field of the event or routine, or a loop's variable.
func (s *Scope) Has(name string) bool {
	_, arg := s.Args[name]
	return arg || s.Local(name) != nil
}

// DeclareLocal makes a new local that is visible until [Scope.Drop].
func (s *Scope) DeclareLocal(name string, t *model.Type, at diag.Span) *model.Local {
	switch {
	case s.Has(name):
		s.Errorf("FSM040", at, "%s is already the name of a field or loop variable here",
			diag.Quote(name))
	case s.Own != nil && !s.NoValues && s.Own.Values[name] != nil:
		what, first := ValueKind(s.Own.Values[name])
		s.NameTaken(at, name, what, first)
	case s.Own != nil && !s.NoValues && s.Own.Given(name) != nil:
		s.Own.HidesGiven(name, func(first diag.Span) { s.NameTaken(at, name, "variable", first) })
	case s.Instances[name] != nil:
		s.NameTaken(at, name, "instance", s.Instances[name].Model.Span)
	case s.Groups[name] != nil:
		s.NameTaken(at, name, "instance", s.Groups[name].At)
	case s.BoundTo(name) != nil:
		s.Errorf("FSM040", at, "%s is already the name of a field or loop variable here",
			diag.Quote(name))
	}
	l := &model.Local{Name: name, Type: t, Offset: s.frame}
	s.NoteLocal(l, at, true)
	s.Push([]*model.Local{l})
	return l
}

// Drop hides the newest local and frees its slots.
func (s *Scope) Drop() {
	l := s.Locals[len(s.Locals)-1]
	s.Locals = s.Locals[:len(s.Locals)-1]
	s.frame = l.Offset
}

// Bind makes a name stand for an instance or a number until the returned function is called.
func (s *Scope) Bind(b Binding) (unbind func()) {
	s.Bindings = append(s.Bindings, b)
	return func() { s.Bindings = s.Bindings[:len(s.Bindings)-1] }
}

// BoundTo returns what a name stands for, or nil.
func (s *Scope) BoundTo(name string) *Binding {
	for i := len(s.Bindings) - 1; i >= 0; i-- {
		if s.Bindings[i].Name == name {
			return &s.Bindings[i]
		}
	}
	return nil
}

// DeclareField declares the local of an event's field. If the event is handled, a field may have the name of a
// value of the role, but for self and parties; it is then hidden.
func (s *Scope) DeclareField(f *model.Field, at diag.Span, handled bool) *model.Local {
	l := &model.Local{Name: f.Name, Type: f.Type, Offset: s.frame, Event: handled}
	if handled {
		l.Hidden = s.Own.Values[f.Name] != nil && s.Own.Given(f.Name) == nil
		s.Own.HidesGiven(f.Name, func(first diag.Span) {
			what := "the number of the instance"
			if f.Name == PartiesName {
				what = "the number of parties"
			}
			s.Errorf("FSM040", at, "the field %s of this event hides %s", diag.Quote(f.Name), what).
				See(first, "the role").See(f.Span, "the field").With("rename the field")
		})
	}
	s.NoteLocal(l, f.Span, false)
	s.Push([]*model.Local{l})
	return l
}
