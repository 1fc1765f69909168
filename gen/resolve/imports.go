package resolve

import (
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/machine"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/symbols"
)

// imports has the imported units, for all passes.
type imports struct {
	right map[*pass.Unit]bool // whether a unit that was looked at has no error
	count int                 // how many were resolved for parts
}

// importer resolves the units that one pass imports.
type importer struct{ r *resolver }

// checkImports resolves each imported unit once by itself, so that its errors are reported in its
// own file.
func (r *resolver) checkImports() {
	n := r.Root.Get("import")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		r.Set.Imports.Check(r.Unit.Imports[e.Key.Text])
	}
}

// Check reports the errors of an imported unit, and returns whether it has none.
func (i *importer) Check(u *pass.Unit) bool {
	if u == nil {
		return false
	}
	known := i.r.imports
	if right, ok := known.right[u]; ok {
		return right
	}
	known.right[u] = true
	sub := i.r.sub(u, nil)
	sub.declarations()
	sub.checkImports()
	sub.Resolve()
	if sub.HasErrors() {
		known.right[u] = false
		i.r.Collector.Join(sub.Collector)
	}
	return known.right[u]
}

// Instantiate resolves an imported unit once more with the types of a part.
func (i *importer) Instantiate(u *pass.Unit, subst map[string]*model.Type) (map[string]*machine.Role,
	*diag.Diagnostic) {
	known := i.r.imports
	if known.count++; known.count > pass.MaxParts {
		return nil, nil
	}
	sub := i.r.sub(u, subst)
	sub.declarations()
	sub.Resolve()
	if sub.HasErrors() {
		first := sub.List().Errors()[0]
		return nil, &first
	}
	return sub.Roles, nil
}

// sub returns the resolver of an imported unit; subst replaces some of its types.
func (r *resolver) sub(u *pass.Unit, subst map[string]*model.Type) *resolver {
	s := newResolver(u, pass.Config{}, r.Shared, r.imports)
	s.Imported, s.Special, s.Substitute, s.MaxInstance, s.Outer = true, r.Special, subst,
		r.MaxInstance, true
	return s
}

// declareSymbols enters what a unit and its imports declare.
func declareSymbols(u *pass.Unit, t *symbols.Table, seen map[*pass.Unit]bool) {
	if u == nil || t == nil || seen[u] {
		return
	}
	seen[u] = true
	t.Declarations(u.Root)
	for _, name := range slices.Sorted(maps.Keys(u.Imports)) {
		declareSymbols(u.Imports[name], t, seen)
	}
}
