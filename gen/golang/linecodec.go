package golang

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// lineNames are the names of a message's functions in a codec of lines.
type lineNames struct{ match, encode string }

// lineCodec composes the codec of a protocol of lines, with the errors that package interp documents.
func (g *gen) lineCodec(t *text) {
	w := g.p.Wire
	names := make([]lineNames, len(g.p.Messages))
	for i := range names {
		n := strings.TrimPrefix(g.messages[i].kind, "Message")
		names[i] = lineNames{g.top.take("match" + n), g.top.take("write" + n)}
	}
	t.p("// FrameSize returns the length in bytes of the line that starts at b[0], its end included, 0 if b is too short to")
	t.p("// tell, or an error, a wire.Error, if no valid line can start so.")
	t.p("func FrameSize(b []byte) (int, error) {\nn, e := wire.LineSize(b, maxFrame)\nif e.Problem != 0 {\nreturn 0, e\n}\nreturn n, nil\n}")
	t.p("\n// DecodeMessage decodes one whole line, its end included, into m. The error is a wire.Error; m is of no use then. The")
	t.p("// line is not kept, and nothing is allocated unless there is an error.")
	t.p("func DecodeMessage(b []byte, m *Message) error {\nif e := decode(b, m); e.Problem != 0 {\nreturn e\n}\nreturn nil\n}")
	t.p("\nfunc decode(b []byte, m *Message) wire.Error {\nline, e := wire.CutLine(b, maxFrame, %v)\nif e.Problem != 0 {\nreturn e\n}", w.ASCII)
	for i := range g.p.Messages {
		t.p("if *m = (Message{Kind: %s}); %s {\nreturn wire.Error{}\n}", g.messages[i].kind, g.matches(i, names[i], "m"))
	}
	t.p("return wire.Error{Problem: wire.Text, Value: int64(len(line))}\n}")
	g.appendLines(names, t)
	for i, m := range g.p.Messages {
		if g.messages[i].member == "" {
			continue
		}
		g.matchLine(m, g.messages[i], names[i].match, t)
		g.encodeLine(m, g.messages[i], names[i].encode, t)
	}
}

// matches composes the test that line is message i, which is read into m.
func (g *gen) matches(i int, n lineNames, m string) string {
	if g.messages[i].member == "" {
		return "string(line) == " + strconv.Quote(lineText(g.p.Messages[i]))
	}
	return fmt.Sprintf("%s(line, &%s.%s)", n.match, m, g.messages[i].member)
}

// lineText is the line of a message without fields.
func lineText(m *model.Message) string {
	s := ""
	for i := range m.Line {
		s += m.Line[i].Text
	}
	return s
}

func (g *gen) appendLines(names []lineNames, t *text) {
	t.p("\n// AppendMessage appends the line of m to dst. If m has no encoding the error is a wire.Error and dst is returned")
	t.p("// as it was.")
	t.p("func AppendMessage(dst []byte, m *Message) ([]byte, error) {\nstart := len(dst)")
	failing := false
	var cases strings.Builder
	for i, m := range g.p.Messages {
		if g.messages[i].member == "" {
			fmt.Fprintf(&cases, "case %s:\ndst = append(dst, %q...)\n", g.messages[i].kind, lineText(m))
			continue
		}
		failing = true
		fmt.Fprintf(&cases, "case %s:\ndst, e = %s(dst, start, &m.%s)\n", g.messages[i].kind, names[i].encode, g.messages[i].member)
	}
	if failing {
		t.p("var e wire.Error")
	}
	t.p("switch m.Kind {\n%sdefault:\nreturn dst, wire.Error{Problem: wire.UnknownType, Value: int64(m.Kind)}\n}", cases.String())
	if failing {
		t.p("if e.Problem != 0 {\nreturn dst[:start], e\n}")
	}
	t.p("dst = append(dst, '\\n')")
	t.p("if n := len(dst) - start; n > maxFrame {\nreturn dst[:start], wire.Error{Message: m.Kind.String(), Problem: wire.Long, Value: int64(n), Limit: maxFrame}\n}")
	for i, m := range g.p.Messages {
		if m.CatchAll() {
			g.notAnother(i, names, t)
		}
	}
	t.p("return dst, nil\n}")
}

// notAnother composes the test that the text of a message that takes every line is not the line of one before it.
func (g *gen) notAnother(i int, names []lineNames, t *text) {
	if i == 0 {
		return
	}
	t.p("if m.Kind == %s {\n// a text that is the line of another message would not come back as itself\nline, other := dst[start:len(dst)-1], Message{}", g.messages[i].kind)
	for k := range i {
		t.p("if %s {\nreturn dst[:start], wire.Error{Message: m.Kind.String(), Field: %q, Problem: wire.Text, Value: %d}\n}",
			g.matches(k, names[k], "other"), linePath(&g.p.Messages[i].Line[0]), k)
	}
	used := false
	for k := range i {
		used = used || g.messages[k].member != ""
	}
	if !used {
		t.p("_ = other")
	}
	t.p("}")
}

// place is where the field of a template's part lies in the message's struct v.
func (g *gen) linePlace(mn messageNames, p *model.LinePart) string {
	s := "v." + mn.fields[p.Path[0].Index]
	for i, f := range p.Path[1:] {
		s += "." + g.typ(p.Path[i].Type, "").fields[f.Index]
	}
	return s
}

func linePath(p *model.LinePart) string {
	var names []string
	for _, f := range p.Path {
		names = append(names, f.Name)
	}
	return strings.Join(names, ".")
}

func (g *gen) matchLine(m *model.Message, mn messageNames, name string, t *text) {
	var body text
	numbers, literals := false, false
	for i := range m.Line {
		p := &m.Line[i]
		if len(p.Path) == 0 {
			literals = true
			body.p("if line, ok = wire.Literal(line, %q); !ok {\nreturn false\n}", p.Text)
			continue
		}
		body.p("word, line = wire.Word(line, %q)", p.Stop)
		at, typ := g.linePlace(mn, p), p.Type()
		if typ.Kind == model.KindOptional {
			body.p("if string(word) != %q {", p.None)
			numbers = g.lineWord(typ.Elem, at+".Value", &body) || numbers
			body.p("%s.Present = true\n}", at)
			continue
		}
		numbers = g.lineWord(typ, at, &body) || numbers
	}
	t.p("\n// %s reads a line of the form `%s`.\nfunc %s(line []byte, v *%s) bool {\nvar word []byte", name, templateText(m), name, mn.typ)
	if numbers {
		t.p("var n uint64")
	}
	if numbers || literals {
		t.p("var ok bool")
	}
	t.p("%sreturn len(line) == 0\n}", body.String())
}

// lineWord composes the reading of word into a place; it says whether it used n and ok.
func (g *gen) lineWord(typ *model.Type, at string, t *text) bool {
	gt := g.typ(typ, "")
	switch typ.Kind {
	case model.KindBytes:
		test := fmt.Sprintf("len(word) > %d", typ.Cap)
		if typ.Without != "" {
			test += fmt.Sprintf(" || wire.BadByte(word, %q, false) >= 0", typ.Without)
		}
		t.p("if %s {\nreturn false\n}\n%s.Len = %s(copy(%s.Data[:], word))", test, at, lenType(typ.Cap), at)
		return false
	case model.KindEnum:
		t.p("switch string(word) {")
		for i, name := range g.enumNames(gt) {
			t.p("case %q:\n%s = %s", typ.InLine()[i], at, name)
		}
		t.p("default:\nreturn false\n}")
		return false
	case model.KindBool:
		t.p("if n, ok = wire.Decimal(word, 1); !ok {\nreturn false\n}\n%s = n == 1", at)
		return true
	}
	least, most := int64(0), uint64(math.MaxUint64)
	if typ.Kind == model.KindOpaque && typ.Bits < 64 {
		most = 1<<typ.Bits - 1
	} else if typ.Kind != model.KindOpaque {
		least, most = typ.Lo, uint64(typ.Hi)
	}
	low := ""
	if least > 0 {
		low = fmt.Sprintf(" || n < %d", least)
	}
	t.p("if n, ok = wire.Decimal(word, %d); !ok%s {\nreturn false\n}\n%s = %s(n)", most, low, at, gt.name)
	return true
}

// templateText is a template as the author wrote it.
func templateText(m *model.Message) string {
	var b strings.Builder
	for i := range m.Line {
		p := &m.Line[i]
		switch {
		case len(p.Path) == 0:
			b.WriteString(strings.NewReplacer("{", "{{", "}", "}}", "`", "'").Replace(p.Text))
		case p.Type().Kind == model.KindOptional:
			b.WriteString("{" + linePath(p) + "|" + p.None + "}")
		default:
			b.WriteString("{" + linePath(p) + "}")
		}
	}
	return b.String()
}

func (g *gen) encodeLine(m *model.Message, mn messageNames, name string, t *text) {
	t.p("\nfunc %s(dst []byte, start int, v *%s) ([]byte, wire.Error) {", name, mn.typ)
	texts := false
	for i := range m.Line {
		p := &m.Line[i]
		if len(p.Path) == 0 {
			t.p("dst = append(dst, %q...)", p.Text)
			continue
		}
		at, typ := g.linePlace(mn, p), p.Type()
		if typ.Kind == model.KindOptional {
			t.p("if %s.Present {", at)
			g.appendWord(typ.Elem, at+".Value", t)
			t.p("} else {\ndst = append(dst, %q...)\n}", p.None)
			continue
		}
		if typ.Kind != model.KindBytes {
			g.appendWord(typ, at, t)
			continue
		}
		assign := ":="
		if texts {
			assign = "="
		}
		texts = true
		t.p("text %s %s.Data[:min(int(%s.Len), %d)]", assign, at, at, typ.Cap)
		t.p("if i := wire.BadByte(text, %q, %v); i >= 0 {\nreturn dst, wire.Error{Message: %q, Field: %q, Offset: len(dst) - start + i, Problem: wire.Text, Value: int64(text[i])}\n}\ndst = append(dst, text...)",
			typ.Without, g.p.Wire.ASCII, m.Name, linePath(p))
	}
	if !texts {
		t.p("_ = start")
	}
	t.p("return dst, wire.Error{}\n}")
}

// appendWord composes the writing of a scalar.
func (g *gen) appendWord(typ *model.Type, at string, t *text) {
	switch typ.Kind {
	case model.KindBool:
		t.p("if %s {\ndst = append(dst, '1')\n} else {\ndst = append(dst, '0')\n}", at)
	case model.KindEnum:
		if typ.Words == nil {
			t.p("dst = append(dst, %s.String()...)", at)
			return
		}
		t.p("switch %s {", at)
		for i, name := range g.enumNames(g.typ(typ, "")) {
			if typ.Words[i] != typ.Names[i] {
				t.p("case %s:\ndst = append(dst, %q...)", name, typ.Words[i])
			}
		}
		t.p("default:\ndst = append(dst, %s.String()...)\n}", at)
	default:
		t.p("dst = strconv.AppendUint(dst, uint64(%s), 10)", at)
	}
}
