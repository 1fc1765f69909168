// Package lines resolves the templates of a protocol of lines, and checks that a reader can tell what was
// written. It knows nothing of binary frames. Start from [Resolve].
package lines

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/apart"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// resolver resolves the templates of all messages.
type resolver struct{ *types.Table }

// Refuse reports templates of messages that are binary frames, as n says.
func Refuse(r *types.Table, n *ast.Node, messages []*model.Message) {
	if e := n.Entry("charset"); e != nil {
		r.Errorf("FSM077", e.Key.Span(), "`charset` is for protocols of lines").With("add `lines: lf`")
	}
	for _, m := range messages {
		if e := r.Root.Get("messages").Get(m.Name).Entry("line"); e != nil {
			r.Errorf("FSM077", e.Key.Span(), "`line` is for protocols of lines").
				With("add `lines: lf` under `wire`")
		}
	}
}

// Resolve resolves the templates of messages that are lines, as n says.
func Resolve(t *types.Table, w *model.Wire, n *ast.Node, messages []*model.Message) {
	r := &resolver{t}
	w.Lines, w.ASCII = true, pass.TextOf(n, "charset") == "ascii"
	end := pass.TextOf(n, "lines")
	w.CRLF, w.Strict = end != "lf", end == "crlf"
	for _, k := range []string{"header", "order", "surplus", "selfDelimiting", "phases"} {
		if e := n.Entry(k); e != nil {
			r.Errorf("FSM077", e.Key.Span(), "%s is for binary frames, and these are lines",
				diag.Quote(k))
		}
	}
	for _, m := range messages {
		decl := r.Root.Get("messages").Get(m.Name)
		for _, k := range []string{"wire", "id", "from", "phase", "next"} {
			if e := decl.Entry(k); e != nil {
				r.Errorf("FSM077", e.Key.Span(), "%s is for binary frames, and these are lines",
					diag.Quote(k)).With("write `line: …`")
			}
		}
		line := decl.Get("line")
		if line == nil {
			r.Errorf("FSM077", m.Span, "message %s has no `line`", diag.Quote(m.Name))
			continue
		}
		if !r.IsBroken(m.Span) {
			r.template(w, m, line)
		}
	}
	for i, m := range messages {
		r.overlap(m, messages[:i])
	}
}

// template resolves the line of one message.
func (r *resolver) template(w *model.Wire, m *model.Message, n *ast.Node) {
	before := r.Len()
	parts := r.lineParts(m, n)
	m.MinLen, m.MaxLen = 1, len(w.EndOfLine())
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
				r.Errorf("FSM077", parts[i+1].Span,
					"two fields follow each other, so a reader cannot tell where the first ends").
					See(p.Span, "the first")
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
		r.Errorf("FSM075", m.Span, "message %s can have %d bytes, more than the line's %d",
			diag.Quote(m.Name), m.MaxLen, w.Max).
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
		lo, hi := apart.Codes(t)
		if lo < 0 {
			r.Errorf("FSM077", p.Span, "%s has negative values, which no line has", types.Describe(t))
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
			if strings.ContainsAny(word, "\r\n") {
				r.Errorf("FSM077", p.Span, "the word %q cannot stand in a line, which it would end", word)
				return
			}
			if i := notASCII(word); w.ASCII && i >= 0 {
				r.Errorf("FSM077", p.Span, "%q of the word %s cannot stand in a line", word[i],
					diag.Quote(word))
				return
			}
		}
	case model.KindBytes:
		if t.Binary {
			r.Errorf("FSM077", p.Span, "%s has no form in a line, which they could end", types.Describe(t)).
				With("a line has a text")
			return
		}
		least, most = 0, t.Cap
		ends = p.Stop == model.LineEnd || strings.Contains(t.Without, stop)
		if !ends {
			r.Errorf("FSM077", p.Span, "a reader cannot tell where this text ends: it may contain %q, with "+
				"which what follows begins", p.Stop).
				With("say so at its type: {type: text n, without: \"" + stop + "\"}")
			return
		}
	default:
		r.Errorf("FSM077", p.Span, "%s has no form in a line", types.Describe(t))
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

// isWord reports whether some value of a scalar type is written like this.
func isWord(t *model.Type, s string) bool {
	if t.Kind == model.KindEnum {
		return slices.Contains(t.InLine(), s)
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// placedOnce reports fields that a template lacks or has twice.
func (r *resolver) placedOnce(m *model.Message, fields []*model.Field, prefix string,
	placed map[string]int, n *ast.Node) {
	for _, f := range fields {
		name := prefix + f.Name
		switch {
		case placed[name] > 1:
			r.Errorf("FSM077", n.Span(), "the line has the field %s twice", diag.Quote(name))
		case placed[name] == 0 && f.Type.Kind == model.KindRecord:
			r.placedOnce(m, f.Type.Fields, name+".", placed, n)
		case placed[name] == 0:
			r.Errorf("FSM077", n.Span(), "the line does not have the field %s", diag.Quote(name)).
				See(f.Span, "declared here")
		}
	}
}

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
			r.Errorf("FSM077", n.Part(i, i+1), "this brace is not closed").
				With("a brace in the text is written twice: {{")
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

// linePath resolves `field`, `record.field` and `field|none`; at is its offset in the template.
func (r *resolver) linePath(m *model.Message, text string, n *ast.Node, at int) (p model.LinePart,
	ok bool) {
	path, none, optional := strings.Cut(text, "|")
	p.None, p.Span = none, n.Part(at, at+len(text))
	fields := m.Fields
	for i, name := range strings.Split(path, ".") {
		if i > 0 {
			t := p.Type()
			if t.Kind != model.KindRecord {
				r.Errorf("FSM077", p.Span, "%s is no record", types.Describe(t))
				return p, false
			}
			fields = t.Fields
		}
		f := types.FieldNamed(fields, name)
		where := n.Part(at, at+len(name))
		at += len(name) + 1
		if f == nil {
			r.UnknownAt("FSM021", where, name, "field named", types.FieldNames(fields))
			return p, false
		}
		r.Refer(where, f.Span)
		p.Path = append(p.Path, f)
	}
	if t := p.Type(); optional != (t.Kind == model.KindOptional) {
		d := r.Errorf("FSM077", p.Span, "%s is %s", diag.Quote(path), types.Describe(t))
		if optional {
			d.With("only what is optional has a text for none")
		} else {
			d.With("say how none is written: {" + path + "|none}")
		}
		return p, false
	}
	return p, true
}

// overlap reports an earlier template of the same channel that matches some line of this one.
func (r *resolver) overlap(m *model.Message, earlier []*model.Message) {
	if m.Line == nil || m.CatchAll() {
		return
	}
	for _, e := range earlier {
		if e.Line != nil && e.Channel == m.Channel && meet(flat(e), flat(m)) {
			r.Errorf("FSM077", m.Span, "some lines are both %s and %s", diag.Quote(e.Name),
				diag.Quote(m.Name)).See(e.Span, "the other one").
				With("only a template that is a single text may take what others leave, and it comes last")
			return
		}
	}
}

// flatPart is one byte of a line, or, with many, any number of bytes from a set.
type flatPart struct {
	set  [256]bool
	many bool
}

// flat describes the lines of a message. A field becomes any number of the bytes that it may
// contain.
func flat(m *model.Message) []flatPart {
	var out []flatPart
	for i := range m.Line {
		p := &m.Line[i]
		if len(p.Path) == 0 {
			for k := range len(p.Text) {
				var f flatPart
				f.set[p.Text[k]] = true
				out = append(out, f)
			}
			continue
		}
		f := flatPart{many: true}
		t := p.Type()
		add := func(s string) {
			for k := range len(s) {
				f.set[s[k]] = true
			}
		}
		if t.Kind == model.KindOptional {
			add(p.None)
			t = t.Elem
		}
		switch t.Kind {
		case model.KindEnum:
			for _, word := range t.InLine() {
				add(word)
			}
		case model.KindBytes:
			for c := range f.set {
				f.set[c] = c != '\n' && c != '\r' && !strings.Contains(t.Without, string(rune(c)))
			}
		default:
			add("0123456789")
		}
		out = append(out, f)
	}
	return out
}

// meet reports whether two descriptions have a line in common.
func meet(a, b []flatPart) bool {
	seen := make([]bool, (len(a)+1)*(len(b)+1))
	var from func(i, j int) bool
	from = func(i, j int) bool {
		at := i*(len(b)+1) + j
		if seen[at] {
			return false
		}
		seen[at] = true
		if i == len(a) && j == len(b) {
			return true
		}
		if i < len(a) && a[i].many && from(i+1, j) || j < len(b) && b[j].many && from(i, j+1) {
			return true
		}
		if i == len(a) || j == len(b) {
			return false
		}
		common := false
		for c := range a[i].set {
			common = common || a[i].set[c] && b[j].set[c]
		}
		if !common {
			return false
		}
		next := func(p []flatPart, k int) int {
			if p[k].many {
				return k
			}
			return k + 1
		}
		return from(next(a, i), next(b, j))
	}
	return from(0, 0)
}
