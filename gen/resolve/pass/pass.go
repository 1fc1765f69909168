// Package pass holds what all stages of the resolver share: the unit that they work on, how they
// report errors, what they note for editors and for warnings about unused declarations, and how they
// read the nodes of a tree. It knows nothing of types and expressions. Start from [Pass].
package pass

import (
	"path"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/symbols"
	"github.com/parley-go/parley/gen/syntax"
)

// Unit is one specification with what it imports.
type Unit struct {
	Path    string // main file, as the user named it
	Root    *ast.Node
	Imports map[string]*Unit // by the name under `import`; nil where it could not be read
	Files   []string         // main file, then those it extends, then those of its imports
	Hash    string           // of what its machines depend on
	Text    string           // hash of all that its files say
}

// Config says what the model is specialised for.
type Config struct {
	Check  string           // the check whose consts and domains are applied; empty: none
	Consts map[string]int64 // replace constants, after those of the check
	// Parties is how many parties there are instead of the protocol's `parties`, if it is more than 0
	// and less than that.
	Parties int
	// Symbols, if not nil, is told where names are declared and used.
	Symbols *symbols.Table
}

// Pass is one pass over one unit. A part from another unit gets a pass of its own, and so does a
// check that replaces constants or domains.
type Pass struct {
	*diag.Collector
	*Shared
	Unit     *Unit
	Root     *ast.Node
	Config   Config
	Protocol *model.Protocol
	Check    *ast.Node // the check to specialise for, or nil
	Imported bool      // the unit is one that another imports
	// Special is set when constants or domains are replaced. Values that can no longer occur then
	// are not worth a warning.
	Special bool
	broken  map[diag.Span]bool // declarations whose fields could not be resolved
}

// Shared is the state that a pass shares with those for its parts and its checks.
type Shared struct {
	Symbols *symbols.Table // nil if nobody asks where names are declared and used
	used    map[use]bool
	enumAt  map[enumName]diag.Span // where an enumeration's name is declared
	parsed  map[*ast.Node]parsed   // the expressions that were read
}

// parsed is a syntax tree, which nobody changes, or what is wrong.
type parsed struct {
	syntax.Node
	err *syntax.Error
}

type use struct {
	what diag.Span
	how  string
}

// Ways in which a declaration is used.
const (
	Looked = ""      // its value is looked at
	Set    = "set"   // a variable is set, a timer is started
	Heard  = "heard" // a state mentions the event
)

// NewShared returns what the passes over one specification have in common.
func NewShared(names *symbols.Table) *Shared {
	return &Shared{Symbols: names, used: map[use]bool{}, enumAt: map[enumName]diag.Span{},
		parsed: map[*ast.Node]parsed{}}
}

// New returns a pass over a unit, with a protocol that has nothing but a name yet.
func New(u *Unit, cfg Config, s *Shared) *Pass {
	p := &Pass{Collector: &diag.Collector{}, Shared: s, Unit: u, Root: u.Root, Config: cfg,
		broken: map[diag.Span]bool{}}
	p.Protocol = &model.Protocol{
		Allow: allowed(p.Root.Get("allow")),
		Name:  TextOf(p.Root, "protocol"), Doc: TextOf(p.Root, "doc"), Source: TextOf(p.Root, "source"),
		Dir: path.Dir(u.Path), Files: u.Files, Hash: u.Hash, Text: u.Text, Span: p.Root.Span(),
	}
	return p
}

// FindCheck finds the check that the model is specialised for, if the configuration names one.
func (r *Pass) FindCheck() {
	if len(r.Config.Consts) > 0 {
		r.Special = true
	}
	if r.Config.Check == "" {
		return
	}
	all := r.Root.Get("checks")
	r.Check = all.Get(r.Config.Check)
	if r.Check == nil {
		r.Errorf("FSM085", r.Root.Src.Span(0, 0), "there is no check %s", diag.Quote(r.Config.Check)).
			With(diag.DidYouMean(r.Config.Check, all.Keys()))
		return
	}
	r.Special = r.Special || r.Check.Get("consts") != nil || r.Check.Get("domains") != nil
}

// Silent reports whether this pass gives no warnings. Several passes may go over the same text, and
// the one without a check gives them.
func (r *Pass) Silent() bool { return r.Imported || r.Special || r.Config.Check != "" }

// Warnf adds a warning, unless the pass is silent.
func (r *Pass) Warnf(code string, at diag.Span, format string, args ...any) *diag.Diagnostic {
	if r.Silent() {
		return &diag.Diagnostic{}
	}
	return r.Collector.Warnf(code, at, format, args...)
}

// Use notes that the value of a declaration is looked at.
func (s *Shared) Use(at diag.Span) { s.UseAs(at, Looked) }

// UseSet notes that a declared variable is set, or a declared timer started.
func (s *Shared) UseSet(at diag.Span) { s.UseAs(at, Set) }

// UseAs notes that a declaration is used in a way.
func (s *Shared) UseAs(at diag.Span, how string) { s.used[use{at, how}] = true }

// IsUsed reports whether a declaration is used in a way.
func (s *Shared) IsUsed(at diag.Span, how string) bool { return s.used[use{at, how}] }

// Limits of one specification.
const (
	MaxInstances = 62      // parties of a check, and of a protocol that does not say; a set of instances still fits
	MaxParties   = 1024    // of a protocol that says so
	MaxTypeSlots = 1 << 16 // slots of one value
	MaxMachine   = 1 << 20 // slots of one machine
	MaxParts     = 4096    // instances of one part
	MaxSet       = 62      // values that a set can hold
	MaxLoop      = 4096    // values that a loop or a list builder goes through
	MaxWritten   = 4096    // copies of a condition that is written out for instances
	MaxNumber    = 1 << 61 // magnitude of every number on the way
)

// allowed reads the reasons for which warnings are left out.
func allowed(n *ast.Node) map[string]string {
	if n == nil || n.Kind != ast.Map {
		return nil
	}
	out := map[string]string{}
	for _, e := range n.Entries {
		out[e.Key.Text] = e.Value.Text
	}
	return out
}
