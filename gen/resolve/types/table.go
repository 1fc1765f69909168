// Package types resolves the constants, types and messages that a specification declares. It also
// knows what follows from types alone: which of them fit each other, and the range of a result.
// Expressions come in only where a constant is evaluated. Start from [Table].
package types

import (
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/symbols"
	"github.com/parley-go/parley/gen/syntax"
)

// Table holds the constants, types and messages of one pass.
type Table struct {
	*pass.Pass
	consts      map[string]*constant
	types       map[string]*namedType
	Substitute  map[string]*model.Type // of an imported unit: types that the part gives it
	Enums       map[string][]EnumValue
	opaques     map[string]*model.Type
	Messages    map[string]*model.Message
	MaxInstance int64 // greatest number of an instance
	Parties     int   // most instances of a check
	Outer       bool  // MaxInstance is that of the importing unit
	// eval resolves a constant expression. Types contain constants and expressions mention types,
	// so a table cannot do without it.
	eval      func(*Table, syntax.Node) model.Expr
	constants map[model.Expr]bool        // those with the mark of SetReplaceable
	localAt   map[*model.Local]diag.Span // where a local is declared
	mentions  []diag.Span                // of constants, in the order of evaluation
}

// New returns the table of a pass, still empty. eval resolves constant expressions.
func New(p *pass.Pass, eval func(*Table, syntax.Node) model.Expr) *Table {
	return &Table{
		Pass: p, consts: map[string]*constant{}, types: map[string]*namedType{},
		Enums:   map[string][]EnumValue{},
		opaques: map[string]*model.Type{}, Messages: map[string]*model.Message{},
		MaxInstance: pass.MaxInstances - 1, Parties: pass.MaxInstances, eval: eval,
		constants: map[model.Expr]bool{}, localAt: map[*model.Local]diag.Span{},
	}
}

// SetReplaceable marks an expression whose value depends on a named constant or on the number of
// instances. Another check may change that value, so it is not worth a warning if a comparison
// with it always holds here.
func (r *Table) SetReplaceable(e model.Expr) { r.constants[e] = true }

// Replaceable reports whether an expression has the mark of [Table.SetReplaceable].
func (r *Table) Replaceable(e model.Expr) bool { return r.constants[e] }

// Declared lists the names of constants, types and values of enumerations.
func (r *Table) Declared() []string {
	names := append(slices.Sorted(maps.Keys(r.consts)), slices.Sorted(maps.Keys(r.types))...)
	return append(names, slices.Sorted(maps.Keys(r.Enums))...)
}

// noteEnum remembers where the names of a declared enumeration stand.
func (r *Table) noteEnum(nt *namedType, t *model.Type) {
	if r.Symbols == nil || t.Kind != model.KindEnum || t.Span != nt.key.Span() {
		return
	}
	v := nt.value
	for v.Get("type") != nil {
		v = v.Get("type")
	}
	en := v.Get("enum")
	if en == nil {
		return
	}
	for _, it := range en.Items {
		r.NoteName(t.Span, it.Text, it.Span())
	}
	for _, e := range en.Entries {
		r.NoteName(t.Span, e.Key.Text, e.Key.Span())
	}
}

// ReferLocal notes that the name at a place means a local.
func (r *Table) ReferLocal(at diag.Span, l *model.Local) { r.Refer(at, r.localAt[l]) }

// NoteLocal remembers where a local is declared. Variables of loops become symbols of their own.
func (r *Table) NoteLocal(l *model.Local, at diag.Span, loop bool) {
	if r.Symbols == nil {
		return
	}
	r.localAt[l] = at
	if loop {
		r.Symbols.Declare(symbols.Symbol{Kind: symbols.Local, Name: l.Name, Text: Describe(l.Type),
			At: at, Body: at})
	}
}
