package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

func (r *resolver) literalText(w *model.Wire, p *model.LinePart) {
	for i := range len(p.Text) {
		if c := p.Text[i]; c == '\n' || c == '\r' || w.ASCII && (c < ' ' || c > '~') {
			r.Errorf("FSM077", p.Span, "%q cannot stand in a line", c)
			return
		}
	}
}

// lineParts cuts a template at its braces.
func (r *resolver) lineParts(m *model.Message, n *ast.Node) []model.LinePart {
	var out []model.LinePart
	text := n.Text
	var lit strings.Builder
	from := 0
	flush := func(to int) {
		if lit.Len() > 0 {
			out = append(out, model.LinePart{Text: lit.String(), Span: n.Part(from, to)})
			lit.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if (c == '{' || c == '}') && i+1 < len(text) && text[i+1] == c {
			lit.WriteByte(c)
			i++
			continue
		}
		if c == '}' {
			r.Errorf("FSM077", n.Part(i, i+1), "a brace in the text is written twice: }}")
			return nil
		}
		if c != '{' {
			lit.WriteByte(c)
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			r.Errorf("FSM077", n.Part(i, i+1), "this brace is not closed").With("a brace in the text is written twice: {{")
			return nil
		}
		flush(i)
		if p, ok := r.linePath(m, text[i+1:i+end], n, i+1); ok {
			out = append(out, p)
		}
		i += end
		from = i + 1
	}
	flush(len(text))
	if len(out) == 0 {
		r.Errorf("FSM077", n.Span(), "the line is empty")
	}
	return out
}

// linePath resolves `field`, `record.field` and `field|none`; at is where it begins in the template.
func (r *resolver) linePath(m *model.Message, text string, n *ast.Node, at int) (p model.LinePart, ok bool) {
	path, none, optional := strings.Cut(text, "|")
	p.None, p.Span = none, n.Part(at, at+len(text))
	fields := m.Fields
	for i, name := range strings.Split(path, ".") {
		if i > 0 {
			t := p.Type()
			if t.Kind != model.KindRecord {
				r.Errorf("FSM077", p.Span, "%s is no record", describe(t))
				return p, false
			}
			fields = t.Fields
		}
		f := fieldNamed(fields, name)
		where := n.Part(at, at+len(name))
		at += len(name) + 1
		if f == nil {
			r.unknownAt("FSM021", where, name, "field named", fieldNames(fields))
			return p, false
		}
		r.refer(where, f.Span)
		p.Path = append(p.Path, f)
	}
	if t := p.Type(); optional != (t.Kind == model.KindOptional) {
		d := r.Errorf("FSM077", p.Span, "%s is %s", diag.Quote(path), describe(t))
		if optional {
			d.With("only what is optional has a text for none")
		} else {
			d.With("say how none is written: {" + path + "|none}")
		}
		return p, false
	}
	return p, true
}
