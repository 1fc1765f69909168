package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// noLines reports templates in a protocol of binary frames.
func (r *resolver) noLines(n *ast.Node) {
	if e := n.Entry("charset"); e != nil {
		r.Errorf("FSM077", e.Key.Span(), "`charset` is for protocols of lines").With("add `lines: lf`")
	}
	for _, m := range r.p.Messages {
		if e := r.root.Get("messages").Get(m.Name).Entry("line"); e != nil {
			r.Errorf("FSM077", e.Key.Span(), "`line` is for protocols of lines").With("add `lines: lf` under `wire`")
		}
	}
}

// lines resolves the templates of a protocol of lines.
func (r *resolver) lines(w *model.Wire, n *ast.Node) {
	w.Lines, w.ASCII = true, textOf(n, "charset") == "ascii"
	for _, k := range []string{"header", "order", "surplus"} {
		if e := n.Entry(k); e != nil {
			r.Errorf("FSM077", e.Key.Span(), "%s is for binary frames, and these are lines", diag.Quote(k))
		}
	}
	for _, m := range r.p.Messages {
		decl := r.root.Get("messages").Get(m.Name)
		for _, k := range []string{"wire", "id"} {
			if e := decl.Entry(k); e != nil {
				r.Errorf("FSM077", e.Key.Span(), "%s is for binary frames, and these are lines", diag.Quote(k)).With("write `line: …`")
			}
		}
		line := decl.Get("line")
		if line == nil {
			r.Errorf("FSM077", m.Span, "message %s has no `line`", diag.Quote(m.Name))
			continue
		}
		if !r.isBroken(m.Span) {
			r.template(w, m, line)
		}
	}
	for i, m := range r.p.Messages {
		r.overlap(m, r.p.Messages[:i])
	}
}

// template resolves the line of one message.
func (r *resolver) template(w *model.Wire, m *model.Message, n *ast.Node) {
	before := r.Len()
	parts := r.lineParts(m, n)
	m.MinLen, m.MaxLen = 1, 1
	placed := map[string]int{}
	for i := range parts {
		p := &parts[i]
		if len(p.Path) == 0 {
			m.MinLen += len(p.Text)
			m.MaxLen += len(p.Text)
			r.literalText(w, p)
			continue
		}
		var names []string
		for _, f := range p.Path {
			names = append(names, f.Name)
		}
		placed[strings.Join(names, ".")]++
		p.Stop = model.LineEnd
		if i+1 < len(parts) {
			if len(parts[i+1].Path) > 0 {
				r.Errorf("FSM077", parts[i+1].Span, "two fields follow each other, so a reader cannot tell where the first ends").See(p.Span, "the first")
				return
			}
			p.Stop = parts[i+1].Text[0]
		}
		r.lineField(w, m, p)
	}
	if before == r.Len() {
		r.placedOnce(m, m.Fields, "", placed, n)
	}
	if before != r.Len() {
		return
	}
	m.Line = parts
	if w.Max > 0 && m.MaxLen > w.Max {
		r.Errorf("FSM075", m.Span, "message %s can have %d bytes, more than the line's %d", diag.Quote(m.Name), m.MaxLen, w.Max).
			With("raise `max` under `wire`, or lower the bounds of its texts")
	}
}

// lineField checks that a reader can tell where a field ends, and adds to the message's lengths.
func (r *resolver) lineField(w *model.Wire, m *model.Message, p *model.LinePart) {
	t := p.Type()
	if t.Kind == model.KindOptional {
		t = t.Elem
	}
	least, most, ends := 1, 0, true
	stop := string(p.Stop)
	switch t.Kind {
	case model.KindBool:
		most, ends = 1, stop != "0" && stop != "1"
	case model.KindInt, model.KindNode, model.KindOpaque:
		lo, hi := codeRange(t)
		if lo < 0 {
			r.Errorf("FSM077", p.Span, "%s has negative values, which no line has", describe(t))
			return
		}
		most, ends = digits(uint64(hi)), stop < "0" || stop > "9"
		if t.Kind == model.KindOpaque && t.Bits == 64 {
			most = 20
		}
	case model.KindEnum:
		least = len(t.InLine()[0])
		for _, word := range t.InLine() {
			least, most = min(least, len(word)), max(most, len(word))
			ends = ends && !strings.Contains(word, stop)
			if i := notASCII(word); w.ASCII && i >= 0 {
				r.Errorf("FSM077", p.Span, "%q of the word %s cannot stand in a line", word[i], diag.Quote(word))
				return
			}
		}
	case model.KindBytes:
		least, most = 0, t.Cap
		ends = p.Stop == model.LineEnd || strings.Contains(t.Without, stop)
		if !ends {
			r.Errorf("FSM077", p.Span, "a reader cannot tell where this text ends: it may contain %q, with which what follows begins", p.Stop).
				With("say so at its type: {type: text n, without: \"" + stop + "\"}")
			return
		}
	default:
		r.Errorf("FSM077", p.Span, "%s has no form in a line", describe(t))
		return
	}
	if p.Type().Kind == model.KindOptional {
		least, most = min(least, len(p.None)), max(most, len(p.None))
		if t.Kind == model.KindBytes || strings.Contains(p.None, stop) || isWord(t, p.None) {
			r.Errorf("FSM077", p.Span, "a reader cannot tell none from a value or from what follows")
			return
		}
	}
	if !ends {
		r.Errorf("FSM077", p.Span, "a reader cannot tell where this field ends: what follows begins with %q", p.Stop)
		return
	}
	m.MinLen += least
	m.MaxLen += most
}

// notASCII finds the first byte that `charset: ascii` does not allow.
func notASCII(s string) int {
	return strings.IndexFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

func digits(n uint64) int {
	d := 1
	for ; n > 9; n /= 10 {
		d++
	}
	return d
}

// isWord reports whether a text is how some value of a scalar type could be written.
func isWord(t *model.Type, s string) bool {
	if t.Kind == model.KindEnum {
		return containsString(t.InLine(), s)
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// placedOnce reports fields that a template has never or twice.
func (r *resolver) placedOnce(m *model.Message, fields []*model.Field, prefix string, placed map[string]int, n *ast.Node) {
	for _, f := range fields {
		name := prefix + f.Name
		switch {
		case placed[name] > 1:
			r.Errorf("FSM077", n.Span(), "the line has the field %s twice", diag.Quote(name))
		case placed[name] == 0 && f.Type.Kind == model.KindRecord:
			r.placedOnce(m, f.Type.Fields, name+".", placed, n)
		case placed[name] == 0:
			r.Errorf("FSM077", n.Span(), "the line does not have the field %s", diag.Quote(name)).See(f.Span, "declared here")
		}
	}
}
