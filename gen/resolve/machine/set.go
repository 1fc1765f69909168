// Package machine resolves roles: what they declare, what their states do, and the machines that
// run inside them. It knows nothing of checks, and reaches imported units only through [Importer].
// Start from [Set].
package machine

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Set holds the roles of one pass.
type Set struct {
	*types.Table
	Roles   map[string]*Role
	Imports Importer
	watched map[*model.Event]diag.Span // by event of a monitor: where the instances are declared that it comes from
}

// Importer resolves imported units. Package resolve implements it, since an imported unit goes
// through all stages.
type Importer interface {
	// Check reports the errors of a unit once, and returns whether it has none.
	Check(u *pass.Unit) bool
	// Instantiate resolves a unit once more with other types in place of some of its own. It
	// returns its roles by name, or the first error. Both are nil if there are too many instances
	// of units.
	Instantiate(u *pass.Unit, subst map[string]*model.Type) (map[string]*Role, *diag.Diagnostic)
}

// New returns the set of a pass, still empty.
func New(t *types.Table, imports Importer) *Set {
	return &Set{Table: t, Roles: map[string]*Role{}, Imports: imports, watched: map[*model.Event]diag.Span{}}
}

// Declare resolves what roles declare, without what their states do.
func (r *Set) Declare() {
	n := r.Root.Get("roles")
	if n == nil || len(n.Entries) == 0 {
		r.Errorf("FSM009", r.Root.Src.Span(0, 0), "the protocol has no `roles`")
		return
	}
	for _, e := range n.Entries {
		if e.Value.Kind != ast.Map {
			r.Errorf("FSM008", e.Value.Span(), "a role is a map, not empty")
			continue
		}
		ro := r.role(e)
		r.Protocol.Roles = append(r.Protocol.Roles, ro.Machine)
	}
}

// role declares a role once: in its turn, or earlier if it is the machine of a part.
func (r *Set) role(e ast.Entry) *Role {
	if ro := r.Roles[e.Key.Text]; ro != nil {
		return ro
	}
	ro := r.declareRole(e)
	return ro
}

func (r *Set) declareRole(e ast.Entry) *Role {
	m := &model.Machine{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
		Protocol: r.Protocol.Name, Messages: r.Protocol.Messages, Span: e.Key.Span()}
	ro := &Role{
		Names: convert.NewNames(r.Table, m), r: r, Node: e.Value, children: map[*model.Part]*Role{},
		Events: map[string]*model.Event{}, routines: map[string]*routine{},
		reports: map[string]*model.Report{},
		Sends:   map[*model.Message]diag.Span{}, Hears: map[*model.Message]bool{},
		badGuard: map[*model.Transition]bool{},
	}
	ro.declaring = true
	r.Roles[e.Key.Text] = ro // before its parts, so that a role inside itself finds itself
	ro.declareVars("params")
	ro.DeclareGiven(ro.Node)
	ro.declareVars("vars")
	ro.declareTimers()
	ro.declareStates()
	if n := ro.Node.Get("deferred"); n != nil {
		if v, ok := ro.ConstIn(n, 1, maxDeferred, "how many deferred messages it may hold"); ok {
			ro.Machine.Deferred = int(v)
		}
	}
	ro.Machine.External = pass.IsTrue(ro.Node.Get("external"))
	ro.declareReports()
	ro.basicEvents()
	ro.declareParts()
	ro.declareRoutines()
	ro.declaring = false
	return ro
}

// Resolve resolves what the states of all roles do.
func (r *Set) Resolve() {
	for _, m := range r.Protocol.Roles {
		r.Roles[m.Name].complete()
	}
}
