package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/symbols"
)

// enumName is a name of the enumeration declared at a place.
type enumName struct {
	of   diag.Span
	name string
}

// declareSymbols enters what a unit and its imports declare.
func declareSymbols(u *Unit, t *symbols.Table, seen map[*Unit]bool) {
	if u == nil || t == nil || seen[u] {
		return
	}
	seen[u] = true
	t.Declarations(u.Root)
	for _, name := range sortedKeys(u.Imports) {
		declareSymbols(u.Imports[name], t, seen)
	}
}

// mute stops notes until the function it returns is called: what is resolved then is nowhere
// written as such.
func (s *shared) mute() (unmute func()) {
	names := s.names
	s.names = nil
	return func() { s.names = names }
}

// refer notes that the name at a place means what is declared at decl.
func (s *shared) refer(at, decl diag.Span) { s.names.Use(at, decl) }

// referEvent notes the name of an event where a state mentions it; that of a part's event has
// the part's name in it.
func (r *resolver) referEvent(m mention, ev *model.Event) {
	if r.names == nil || m.key == nil {
		return
	}
	part, rest, dotted := strings.Cut(m.event, ".")
	if !dotted || ev.Part == nil {
		if ev.Kind >= model.EventMessage {
			r.refer(m.at, ev.Span)
		}
		return
	}
	r.refer(m.key.Part(m.from, m.from+len(part)), ev.Part.Span)
	if ev.Report != nil {
		r.refer(m.key.Part(m.from+len(part)+1, m.from+len(part)+1+len(rest)), ev.Report.Span)
	}
}

// noteEnum remembers where the names of a declared enumeration stand.
func (r *resolver) noteEnum(nt *namedType, t *model.Type) {
	if r.names == nil || t.Kind != model.KindEnum || t.Span != nt.key.Span() {
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
		r.enumAt[enumName{t.Span, it.Text}] = it.Span()
	}
	for _, e := range en.Entries {
		r.enumAt[enumName{t.Span, e.Key.Text}] = e.Key.Span()
	}
}

func (r *resolver) referEnum(at diag.Span, t *model.Type, name string) {
	r.refer(at, r.enumAt[enumName{t.Span, name}])
}

// noteLocal remembers where a local is declared.
func (r *resolver) noteLocal(l *model.Local, at diag.Span, loop bool) {
	if r.names == nil {
		return
	}
	r.localAt[l] = at
	if loop {
		r.names.Declare(symbols.Symbol{Kind: symbols.Local, Name: l.Name, Text: describe(l.Type), At: at, Body: at})
	}
}

// referWire notes the field that a wire item is about; prefix is the length of what stands before its name.
func (w *wireWriter) referWire(key *ast.Node, prefix int, f *model.Field) {
	if f.Name == "" {
		return
	}
	for _, step := range pathOf(f) {
		w.r.refer(key.Part(prefix, prefix+len(step.Name)), step.Span)
		prefix += len(step.Name) + 1
	}
}

// referRule notes the names in the key of an environment's rule.
func (r *resolver) referRule(key *ast.Node, m *model.Machine, ev *model.Event) {
	role, _, dotted := strings.Cut(key.Text, ".")
	if !dotted {
		r.refer(key.Span(), ev.Span)
		return
	}
	r.refer(key.Part(0, len(role)), m.Span)
	r.refer(key.Part(len(role)+1, len(key.Text)), ev.Span)
}
