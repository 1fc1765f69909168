package convert

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Names holds the values of a machine that expressions can mention.
type Names struct {
	*types.Table
	Machine *model.Machine
	// Values holds parameters and variables (*model.Var), timers, parts and states. A variable
	// without a type and a part without a machine have an error that is reported.
	Values map[string]any
	// Taken holds the names that two values have. That is reported, and nobody can tell what they
	// mean.
	Taken   map[string]bool
	Params  map[*model.Var]bool
	Parts   map[*model.Part]*Names // of the machines that the parts run
	Self    *model.Var             // the number of the instance; nil if another value has the name self
	laidOut bool                   // all that the role does is resolved
	hiding  []func()               // reports of what hides self, for the case that the role uses it
}

// NewNames returns the names of a machine, still empty.
func NewNames(t *types.Table, m *model.Machine) *Names {
	return &Names{Table: t, Machine: m, Values: map[string]any{}, Taken: map[string]bool{},
		Params: map[*model.Var]bool{}, Parts: map[*model.Part]*Names{}}
}

// SelfName is the name of a machine's own number. A role that uses it has a parameter of this
// name, which the author does not write. Checks and the machine around a part give it.
const SelfName = "self"

// DeclareSelf prepares the parameter self, unless the role declares another value of that name.
func (ro *Names) DeclareSelf(node *ast.Node) {
	for _, section := range []string{"params", "vars", "timers", "parts", "states"} {
		if node.Get(section).Get(SelfName) != nil {
			return
		}
	}
	ro.Self = &model.Var{
		Name: SelfName, Doc: "the number of this instance",
		Type: ro.Basic("instance", ro.Machine.Span), Self: true, Span: ro.Machine.Span,
	}
	ro.Params[ro.Self] = true
}

// UseSelf returns the parameter self, or nil if another value has that name. From then on the role
// has the parameter.
func (ro *Names) UseSelf() *model.Var {
	if ro.Self != nil {
		ro.Values[SelfName] = ro.Self
		ro.Use(ro.Self.Span)
	}
	return ro.Self
}

// usesSelf reports whether the role has used self so far.
func (ro *Names) usesSelf() bool { return ro.Self != nil && ro.Values[SelfName] == ro.Self }

// Has reports whether a name means a value of the role.
func (ro *Names) Has(name string) bool {
	return ro.Values[name] != nil || name == SelfName && ro.Self != nil && !ro.laidOut
}

// Lookup returns the value with a name, or nil. Asking for self uses it.
func (ro *Names) Lookup(name string) any {
	if name == SelfName && ro.Has(name) && ro.Values[name] == nil {
		ro.UseSelf()
	}
	return ro.Values[name]
}

// HidesSelf calls report if name is self and the role uses its own number, before or later.
func (ro *Names) HidesSelf(name string, report func(first diag.Span)) {
	if name == SelfName && ro.Self != nil && !ro.usesSelf() {
		ro.hiding = append(ro.hiding, func() { report(ro.Self.Span) })
	}
}

// SettleSelf must be called when all that the role does is resolved. If the role uses self, it
// adds the parameter and reports what hides it.
func (ro *Names) SettleSelf() {
	ro.laidOut = true
	if !ro.usesSelf() {
		return
	}
	ro.Machine.Params = append(ro.Machine.Params, ro.Self)
	for _, report := range ro.hiding {
		report()
	}
}

// ValueKind returns the word for a declared value, and where it is declared.
func ValueKind(v any) (string, diag.Span) {
	switch v := v.(type) {
	case *model.Var:
		return "variable", v.Span
	case *model.Timer:
		return "timer", v.Span
	case *model.Part:
		return "part", v.Span
	case *model.State:
		return "state", v.Span
	case *model.Composite:
		return "state", v.Span
	}
	return "value", diag.Span{}
}
