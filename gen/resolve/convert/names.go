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
	Parties *model.Var             // how many instances take part; nil if another value has the name parties
	laidOut bool                   // all that the role does is resolved
	hiding  []func()               // reports of what hides these two, for the case that the role uses them
}

// NewNames returns the names of a machine, still empty.
func NewNames(t *types.Table, m *model.Machine) *Names {
	return &Names{Table: t, Machine: m, Values: map[string]any{}, Taken: map[string]bool{},
		Params: map[*model.Var]bool{}, Parts: map[*model.Part]*Names{}}
}

// SelfName is the name of a machine's own number, PartiesName that of how many instances take part. A role that
// uses one of them has a parameter of this name, which the author does not write. Checks and the machine around
// a part give it.
const (
	SelfName    = "self"
	PartiesName = "parties"
)

// DeclareGiven prepares the parameters self and parties, unless the role declares another value of that name.
func (ro *Names) DeclareGiven(node *ast.Node) {
	ro.Self = ro.given(node, &model.Var{Name: SelfName, Doc: "the number of this instance", Self: true,
		Type: ro.Basic("instance", ro.Machine.Span)})
	ro.Parties = ro.given(node, &model.Var{Name: PartiesName, Doc: "how many instances take part", Parties: true,
		Type: types.Int(1, ro.MaxInstance+1)})
}

// given returns a parameter that the author does not write, or nil if the role declares its name.
func (ro *Names) given(node *ast.Node, v *model.Var) *model.Var {
	for _, section := range []string{"params", "vars", "timers", "parts", "states"} {
		if node.Get(section).Get(v.Name) != nil {
			return nil
		}
	}
	v.Span = ro.Machine.Span
	ro.Params[v] = true
	return v
}

// Given returns the parameter with one of these names; nil if it is another name, or that of another value.
func (ro *Names) Given(name string) *model.Var {
	switch name {
	case SelfName:
		return ro.Self
	case PartiesName:
		return ro.Parties
	}
	return nil
}

// UseGiven returns what Given does. From then on the role has the parameter.
func (ro *Names) UseGiven(name string) *model.Var {
	v := ro.Given(name)
	if v != nil {
		ro.Values[name] = v
		ro.Use(v.Span)
	}
	return v
}

// uses reports whether the role has used a parameter of its own name so far.
func (ro *Names) uses(v *model.Var) bool { return v != nil && ro.Values[v.Name] == v }

// Has reports whether a name means a value of the role.
func (ro *Names) Has(name string) bool {
	return ro.Values[name] != nil || ro.Given(name) != nil && !ro.laidOut
}

// Lookup returns the value with a name, or nil. Asking for self or parties uses it.
func (ro *Names) Lookup(name string) any {
	if ro.Has(name) && ro.Values[name] == nil {
		ro.UseGiven(name)
	}
	return ro.Values[name]
}

// HidesGiven calls report if name is self or parties and the role uses that parameter, before or later.
func (ro *Names) HidesGiven(name string, report func(first diag.Span)) {
	v := ro.Given(name)
	switch {
	case v == nil:
	case ro.uses(v):
		report(v.Span)
	default:
		ro.hiding = append(ro.hiding, func() {
			if ro.uses(v) {
				report(v.Span)
			}
		})
	}
}

// SettleGiven must be called when all that the role does is resolved. If the role uses self or parties, it
// adds the parameter and reports what hides it.
func (ro *Names) SettleGiven() {
	ro.laidOut = true
	for _, v := range []*model.Var{ro.Parties, ro.Self} {
		if ro.uses(v) {
			ro.Machine.Params = append(ro.Machine.Params, v)
		}
	}
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
