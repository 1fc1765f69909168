// Package resolve gives a specification its meaning: it binds names, checks types,
// expands what is written once for several states, and lays out values and
// frames. Its result is a model in which nothing can be wrong. It reads trees
// whose keys are known to stand in their places and knows nothing of files.
// Start from [Protocol]; the stages are listed there in order.
package resolve

import (
	"path"
	"time"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/symbols"
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
	// Symbols, if not nil, is told where names are declared and used.
	Symbols *symbols.Table
}

// resolver is one pass over one unit. Parts are resolved by resolvers of their own.
type resolver struct {
	*diag.Collector
	*shared
	unit *Unit
	root *ast.Node
	cfg  Config
	p    *model.Protocol

	check    *ast.Node // the check to specialise for, or nil
	consts   map[string]*constant
	types    map[string]*namedType
	subst    map[string]*model.Type // of an imported unit: types given by the part
	enums    map[string][]enumValue
	opaques  map[string]*model.Type
	messages map[string]*model.Message
	roles    map[string]*role
	nodeHi   int64 // greatest number of an instance
	parties  int   // most instances of a check
	outer    bool  // nodeHi is that of the importing unit
	imported bool
	broken   map[diag.Span]bool // declarations whose fields could not be resolved
	// special is set when constants or domains are replaced: values that can
	// then no longer occur are not worth a word.
	special bool
}

// shared is what a resolver has in common with those of its parts and with the passes
// for its checks.
type shared struct {
	used map[use]bool
	info map[*model.Machine]*role
	// fromConst marks expressions that mention a constant by name, which a check may replace.
	fromConst map[model.Expr]bool
	depth     int
	names     *symbols.Table             // nil: nobody asks
	localAt   map[*model.Local]diag.Span // where a local is declared; kept for names
	enumAt    map[enumName]diag.Span     // where an enumeration's name is declared; kept for names
	// needSelf are roles that need their own number though they do not say so: they send to sets of
	// instances. That is known only when the types are, so that such a role is resolved once more.
	needSelf map[*ast.Node]bool
}

type use struct {
	what diag.Span
	how  string // "", or "set" for variables
}

func newShared(names *symbols.Table) *shared {
	return &shared{used: map[use]bool{}, info: map[*model.Machine]*role{}, fromConst: map[model.Expr]bool{},
		names: names, localAt: map[*model.Local]diag.Span{}, enumAt: map[enumName]diag.Span{}}
}

// Protocol resolves a unit. The protocol is nil if there are errors; warnings alone keep
// it. Without cfg.Check all checks are resolved, each with its own constants
// and domains; with it only that one is.
func Protocol(u *Unit, cfg Config) (*model.Protocol, diag.List) {
	declareSymbols(u, cfg.Symbols, map[*Unit]bool{})
	needSelf := map[*ast.Node]bool{}
	for {
		known := len(needSelf)
		p, l := protocol(u, cfg, needSelf)
		if len(needSelf) == known {
			return p, l
		}
	}
}

func protocol(u *Unit, cfg Config, needSelf map[*ast.Node]bool) (*model.Protocol, diag.List) {
	s := newShared(cfg.Symbols)
	s.needSelf = needSelf
	r := newResolver(u, cfg, s)
	r.findCheck()
	r.declarations()
	r.checkImports()
	r.bodies()
	r.checks()
	if !r.HasErrors() {
		r.unused()
	}
	l := r.List()
	l.Sort()
	if l.HasErrors() {
		return nil, l
	}
	return r.p, l
}

func newResolver(u *Unit, cfg Config, s *shared) *resolver {
	r := &resolver{
		Collector: &diag.Collector{}, shared: s, unit: u, root: u.Root, cfg: cfg,
		consts: map[string]*constant{}, types: map[string]*namedType{}, enums: map[string][]enumValue{},
		opaques: map[string]*model.Type{}, messages: map[string]*model.Message{}, roles: map[string]*role{},
		nodeHi: maxInstances - 1, parties: maxInstances, broken: map[diag.Span]bool{},
	}
	r.p = &model.Protocol{
		Name: textOf(r.root, "protocol"), Doc: textOf(r.root, "doc"), Source: textOf(r.root, "source"),
		Dir: path.Dir(u.Path), Files: u.Files, Hash: u.Hash, Text: u.Text, Span: r.root.Span(),
	}
	return r
}

// declarations resolves everything that has a name, without the bodies of states.
func (r *resolver) declarations() {
	if r.p.Name == "" {
		r.Errorf("FSM009", r.root.Src.Span(0, 0), "the protocol has no name").With("start with `protocol: name`")
	}
	if t := r.root.Get("tick"); t != nil {
		r.p.Tick, _ = time.ParseDuration(t.Text)
	}
	r.declareConsts()
	if n := r.root.Get("parties"); n != nil && !r.outer {
		if v, ok := r.constIn(n, 1, maxParties, "the number of parties"); ok {
			r.parties, r.nodeHi = int(v), v-1
		}
	}
	if n := len(r.members(r.check.Get("instances"), false)); n > 0 && n <= maxInstances {
		r.nodeHi = int64(n) - 1
	}
	r.p.Channel = r.channel(r.root.Get("channel"), model.Channel{Ordered: true, Capacity: 8, Span: r.p.Span})
	r.declareTypes()
	r.declareMessages()
	r.wire()
	r.declareRoles()
}

// findCheck looks for the check that the model is specialised for.
func (r *resolver) findCheck() {
	if len(r.cfg.Consts) > 0 {
		r.special = true
	}
	if r.cfg.Check == "" {
		return
	}
	all := r.root.Get("checks")
	r.check = all.Get(r.cfg.Check)
	if r.check == nil {
		r.Errorf("FSM085", r.root.Src.Span(0, 0), "there is no check %s", diag.Quote(r.cfg.Check)).
			With(diag.DidYouMean(r.cfg.Check, all.Keys()))
		return
	}
	r.special = r.special || r.check.Get("consts") != nil || r.check.Get("domains") != nil
}

func (r *resolver) use(at diag.Span)    { r.used[use{at, ""}] = true }
func (r *resolver) useSet(at diag.Span) { r.used[use{at, "set"}] = true }

// silent reports whether this pass is one of several over the same text; the
// pass without a check says what there is to warn about.
func (r *resolver) silent() bool { return r.imported || r.special || r.cfg.Check != "" }

// warnf adds a warning, unless the pass is silent.
func (r *resolver) warnf(code string, at diag.Span, format string, args ...any) *diag.Diagnostic {
	if r.silent() {
		return &diag.Diagnostic{}
	}
	return r.Warnf(code, at, format, args...)
}

func textOf(n *ast.Node, key string) string {
	if v := n.Get(key); v != nil && v.Kind == ast.Scalar && !v.IsNull() {
		return v.Text
	}
	return ""
}

func isTrue(n *ast.Node) bool { return n != nil && n.Text == "true" }

// scalars returns the items of a list, or the node itself where one stands for a list.
func scalars(n *ast.Node) []*ast.Node {
	switch {
	case n == nil || n.IsNull():
		return nil
	case n.Kind == ast.List:
		return n.Items
	}
	return []*ast.Node{n}
}

func (r *resolver) channel(n *ast.Node, ch model.Channel) model.Channel {
	if n == nil {
		return ch
	}
	ch.Span = n.Span()
	if o := textOf(n, "order"); o != "" {
		ch.Ordered = o == "fifo"
	}
	if l := n.Get("lossy"); l != nil {
		ch.Lossy = isTrue(l)
	}
	if d := n.Get("duplicates"); d != nil {
		ch.Duplicates = isTrue(d)
	}
	if c := n.Get("capacity"); c != nil {
		if v, ok := r.constIn(c, 1, 1000, "the capacity"); ok {
			ch.Capacity = int(v)
		}
	}
	if f := textOf(n, "full"); f != "" {
		ch.Full = map[string]model.Full{"lose": model.FullLose, "wait": model.FullWait}[f]
	}
	return ch
}
