// Package convert holds what names can mean in an expression, and converts expressions to the
// types that are wanted. It builds expressions from others and reads none. Start from [Scope].
package convert

import (
	"fmt"

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
		if s.Locals[i].Name == name {
			return s.Locals[i]
		}
	}
	return nil
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
	case s.Own != nil && !s.NoValues && name == SelfName:
		s.Own.HidesSelf(name, func(first diag.Span) { s.NameTaken(at, name, "variable", first) })
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

// DeclareField declares the local of an event's field. If the event is handled, the field must not
// hide a value of the role.
func (s *Scope) DeclareField(f *model.Field, at diag.Span, handled bool) *model.Local {
	if handled {
		hides := func(what string, first diag.Span) {
			s.Errorf("FSM040", at, "the field %s of this event hides a %s of the role",
				diag.Quote(f.Name), what).
				See(first, "the %s", what).See(f.Span, "the field").With("rename one of them")
		}
		if v := s.Own.Values[f.Name]; v != nil {
			hides(ValueKind(v))
		}
		s.Own.HidesSelf(f.Name, func(first diag.Span) { hides("variable", first) })
	}
	l := &model.Local{Name: f.Name, Type: f.Type, Offset: s.frame}
	s.NoteLocal(l, f.Span, false)
	s.Push([]*model.Local{l})
	return l
}
