// Package explain describes in Markdown what a name of a specification means, and what the language's
// own words mean. Start from [Name].
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/lsp/source"
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/symbols"
)

// Key explains a key of the language.
func Key(src *ast.Source, off int) string {
	root, _ := parse.Tree(src.Name, src.Text)
	if root == nil {
		return ""
	}
	c, ok := source.Locate(root, off)
	if !ok || !c.Key {
		return ""
	}
	g, ok := parse.Look(c.Path)
	if !ok {
		return ""
	}
	for _, k := range g.Keys {
		if k.Name == c.Node.Text {
			return "`" + k.Name + "`, key of " + g.What + "\n\n" + k.Doc
		}
	}
	return ""
}

// Name describes a name that a specification declares. p is nil while the specification has errors.
func Name(p *model.Protocol, sym *symbols.Symbol) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** `%s`", sym.Kind, sym.Name)
	if sym.Owner != "" {
		fmt.Fprintf(&b, " of `%s`", sym.Owner)
	}
	b.WriteString("\n")
	if sym.Doc != "" {
		b.WriteString("\n" + sym.Doc + "\n")
	}
	switch sym.Kind {
	case symbols.Message:
		b.WriteString(messageText(p, sym))
	case symbols.Type:
		b.WriteString(typeText(p, sym))
	case symbols.State:
		b.WriteString(stateText(p, sym))
	case symbols.Const:
		if c := find(p, func(p *model.Protocol) []*model.Const {
			return p.Consts
		}, func(c *model.Const) bool { return c.Span == sym.At }); c != nil {
			fmt.Fprintf(&b, "\n`%d`\n", c.Value)
		}
	case symbols.Role:
		b.WriteString(roleText(p, sym))
	case symbols.Check:
	default:
		if sym.Text != "" && sym.Text != sym.Name {
			fmt.Fprintf(&b, "\n```yaml\n%s: %s\n```\n", sym.Name, sym.Text)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// find returns the first element of one of the protocol's lists that fits.
func find[T any](p *model.Protocol, list func(*model.Protocol) []T, fits func(T) bool) T {
	var zero T
	if p == nil {
		return zero
	}
	for _, x := range list(p) {
		if fits(x) {
			return x
		}
	}
	return zero
}

// messageText says where a message is sent and handled, and how it looks on the wire.
func messageText(p *model.Protocol, sym *symbols.Symbol) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	var sent, handled []string
	for _, m := range p.Roles {
		for _, st := range m.States {
			for _, h := range st.Handlers {
				if h == nil {
					continue
				}
				if h.Event.Message != nil && h.Event.Message.Span == sym.At {
					handled = append(handled, m.Name+"."+st.Name+[]string{"", " (ignored)",
						" (deferred)"}[h.Mode])
				}
				for _, t := range h.Branches {
					if sends(t.Body, sym.At) && !slices.Contains(sent, m.Name+"."+st.Name) {
						sent = append(sent, m.Name+"."+st.Name)
					}
				}
			}
			if sends(st.Entry, sym.At) && !slices.Contains(sent, m.Name+"."+st.Name) {
				sent = append(sent, m.Name+"."+st.Name)
			}
		}
	}
	if len(sent) > 0 {
		b.WriteString("\nsent in " + strings.Join(sent, ", ") + "\n")
	}
	if len(handled) > 0 {
		b.WriteString("\nhandled in " + strings.Join(handled, ", ") + "\n")
	}
	if m := find(p, func(p *model.Protocol) []*model.Message {
		return p.Messages
	}, func(m *model.Message) bool { return m.Span == sym.At }); m != nil {
		b.WriteString(fields(m.Fields))
		b.WriteString(layout(p, m))
	}
	return b.String()
}

// fields lists what a message carries.
func fields(list []*model.Field) string {
	var b strings.Builder
	for i, f := range list {
		if i == 0 {
			b.WriteString("\nfields\n")
		}
		fmt.Fprintf(&b, "- `%s: %s`", f.Name, model.TypeString(f.Type))
		if f.Doc != "" {
			b.WriteString(" " + f.Doc)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// roleText says what a role can be told, what it tells, and in which states it can be.
func roleText(p *model.Protocol, sym *symbols.Symbol) string {
	m := find(p, func(p *model.Protocol) []*model.Machine {
		return p.Roles
	}, func(m *model.Machine) bool { return m.Span == sym.At })
	if m == nil {
		return ""
	}
	var commands, reports, states []string
	for _, e := range m.Commands {
		commands = append(commands, e.Name)
	}
	for _, r := range m.Reports {
		reports = append(reports, r.Name)
	}
	for _, st := range m.States {
		name := st.Name
		switch {
		case st == m.Initial:
			name += " (initial)"
		case st.Final:
			name += " (final)"
		}
		states = append(states, name)
	}
	var b strings.Builder
	for _, l := range []struct {
		what  string
		names []string
	}{{"commands", commands}, {"reports", reports}, {"states", states}} {
		if n := len(l.names); n > 40 {
			l.names = append(l.names[:40:40], fmt.Sprintf("… %d more", n-40))
		}
		if len(l.names) > 0 {
			b.WriteString("\n" + l.what + " " + strings.Join(l.names, ", ") + "\n")
		}
	}
	return b.String()
}

// sends reports whether statements send the message declared at a place, by themselves or by a part.
func sends(list []model.Stmt, decl diag.Span) bool {
	for _, st := range list {
		switch st := st.(type) {
		case *model.Send:
			if st.Message.Span == decl {
				return true
			}
		case *model.If:
			if sends(st.Then, decl) || sends(st.Else, decl) {
				return true
			}
		case *model.Each:
			if sends(st.Body, decl) {
				return true
			}
		case *model.Run:
			for _, ps := range st.Part.Sends {
				if ps != nil && ps.Send.Message.Span == decl {
					return true
				}
			}
		}
	}
	return false
}

func typeText(p *model.Protocol, sym *symbols.Symbol) string {
	t := find(p, func(p *model.Protocol) []*model.Type {
		return p.Types
	}, func(t *model.Type) bool { return t.Span == sym.At })
	if t == nil {
		return "\n```yaml\n" + sym.Name + ": " + sym.Text + "\n```\n"
	}
	var b strings.Builder
	switch t.Kind {
	case model.KindInt:
		fmt.Fprintf(&b, "\n`%d..%d`, %s\n", t.Lo, t.Hi, diag.Counted(t.Count(), "value"))
	case model.KindEnum:
		b.WriteString("\n| name | code |\n|---|---|\n")
		for i, n := range t.Names {
			if i == 40 {
				fmt.Fprintf(&b, "| … | %d more |\n", len(t.Names)-i)
				break
			}
			if t.Words != nil {
				n += ", in a line " + t.Words[i]
			}
			fmt.Fprintf(&b, "| %s | %d |\n", n, t.Codes[i])
		}
	case model.KindRecord:
		b.WriteString("\n")
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "- `%s`\n", f.Name)
		}
	default:
		b.WriteString("\n```yaml\n" + sym.Name + ": " + sym.Text + "\n```\n")
	}
	return b.String()
}

// stateText says what a state handles and from where it is entered.
func stateText(p *model.Protocol, sym *symbols.Symbol) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	for _, m := range p.Roles {
		for _, st := range m.States {
			if st.Span != sym.At {
				continue
			}
			if st == m.Initial {
				b.WriteString("\ninitial state\n")
			}
			if st.Final {
				b.WriteString("\nfinal state\n")
			}
			var handles, from []string
			for _, h := range st.Handlers {
				if h != nil && h.Mode == model.Handle {
					handles = append(handles, h.Event.Name)
				}
			}
			for _, t := range m.Transitions {
				if t.To == st && t.From != st && !slices.Contains(from, t.From.Name) {
					from = append(from, t.From.Name)
				}
			}
			if len(handles) > 0 {
				b.WriteString("\nhandles " + strings.Join(handles, ", ") + "\n")
			}
			if len(from) > 0 {
				b.WriteString("\nentered from " + strings.Join(from, ", ") + "\n")
			}
		}
	}
	return b.String()
}
