// Package lines composes the codec of a protocol of lines: the functions that read and write the lines of
// its messages. It knows neither frames nor machines. Start from [Functions].
package lines

import (
	"fmt"
	"math"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// lineNames returns the names of a message's functions in a codec of lines.
type lineNames struct{ match, encode string }

// codec composes the functions.
type codec struct {
	*types.Gen
	funcs []*gotree.Func
}

func (g *codec) add(f *gotree.Func) { g.funcs = append(g.funcs, f) }

// message returns the names of the message at a place.
func (g *codec) message(i int) types.MessageNames { return g.Messages[g.P.Messages[i].Index] }

// kindCase returns the case of a message.
func (g *codec) kindCase(i int, body ...gotree.Stmt) *gotree.Case {
	return &gotree.Case{List: []gotree.Expr{gotree.Name{Name: g.message(i).Kind}}, Body: body}
}

// Functions composes the codec of a protocol of lines, with the errors that package interp documents.
func Functions(all *types.Gen) []*gotree.Func {
	g := &codec{Gen: all}
	w := g.P.Wire
	names := make([]lineNames, len(g.P.Messages))
	for i := range names {
		n := strings.TrimPrefix(g.message(i).Kind, "Message")
		names[i] = lineNames{g.Top.Take("match" + n), g.Top.Take("write" + n)}
	}
	g.add(gotree.F(`// FrameSize returns the length in bytes of the line that starts at b[0], its end included, 0 if b is too short to
// tell, or an error, a wire.Error, if no valid line can start so.
func FrameSize(b []byte) (int, error) {
	n, e := wire.LineSize(b, maxFrame)
	if e.Problem != 0 {
		return 0, e
	}
	return n, nil
}`))
	g.add(gotree.F(`// DecodeMessage decodes one whole line, its end included, into m. The error is a wire.Error; m is of no use then. The
// line is not kept, and nothing is allocated unless there is an error.
func DecodeMessage(b []byte, m *Message) error {
	if e := decode(b, m); e.Problem != 0 {
		return e
	}
	return nil
}`))
	cut := gotree.X("wire.CutLine")
	if w.Strict {
		cut = gotree.X("wire.CutCRLF")
	}
	var b gotree.Block
	for i := range g.P.Messages {
		b.P("if *m = (Message{Kind: $1}); $2 {\nreturn wire.Error{}\n}", g.message(i).Kind,
			g.matches(i, names[i], gotree.X("m")))
	}
	g.add(gotree.F(`func decode(b []byte, m *Message) wire.Error {
	line, e := $3(b, maxFrame, $1)
	if e.Problem != 0 {
		return e
	}
	$2
	return wire.Error{Problem: wire.Text, Value: int64(len(line))}
}`, w.ASCII, b.List, cut))
	g.appendLines(names)
	for i, m := range g.P.Messages {
		if g.message(i).Member != "" {
			g.matchLine(m, g.message(i), names[i].match)
			g.encodeLine(m, g.message(i), names[i].encode)
		}
	}
	return g.funcs
}

// matches composes the test that line is message i, which is read into m.
func (g *codec) matches(i int, n lineNames, m gotree.Expr) gotree.Expr {
	if g.message(i).Member == "" {
		return gotree.X("string(line) == $1", gotree.Str(lineText(g.P.Messages[i])))
	}
	return gotree.X("$1(line, &$2.$3)", n.match, m, g.message(i).Member)
}

// lineText returns the line of a message without fields.
func lineText(m *model.Message) string {
	s := ""
	for i := range m.Line {
		s += m.Line[i].Text
	}
	return s
}

func (g *codec) appendLines(names []lineNames) {
	var failing, failed []gotree.Stmt
	kinds := &gotree.Switch{Tag: gotree.X("m.Kind")}
	for i, m := range g.P.Messages {
		if g.message(i).Member == "" {
			constant := gotree.S("dst = append(dst, $1...)", gotree.Str(lineText(m)))
			kinds.Cases = append(kinds.Cases, g.kindCase(i, constant...))
			continue
		}
		failing = gotree.S("var err error")
		failed = gotree.S("if err != nil {\nreturn dst[:start], err\n}")
		kinds.Cases = append(kinds.Cases, g.kindCase(i, gotree.S("dst, err = $1(dst, start, &m.$2)", names[i].encode,
			g.message(i).Member)...))
	}
	kinds.Cases = append(kinds.Cases,
		&gotree.Case{Body: gotree.S("return dst, wire.Error{Problem: wire.UnknownType, Value: int64(m.Kind)}")})
	var others gotree.Block
	for i, m := range g.P.Messages {
		if m.CatchAll() {
			g.notAnother(i, names, &others)
		}
	}
	g.add(gotree.F(`// AppendMessage appends the line of m to dst. If m has no encoding the error is a wire.Error and dst is returned
// as it was.
func AppendMessage(dst []byte, m *Message) ([]byte, error) {
	start := len(dst)
	$1
	$2
	$3
	dst = append(dst, $5...)
	if n := len(dst) - start; n > maxFrame {
		return dst[:start], wire.Error{Message: m.Kind.String(), Problem: wire.Long, Value: int64(n), Limit: maxFrame}
	}
	$4
	return dst, nil
}`, failing, gotree.Stmt(kinds), failed, others.List, gotree.Str(g.P.Wire.EndOfLine())))
}

// notAnother composes the test for a message that accepts every line: its text must not be the line of an
// earlier message.
func (g *codec) notAnother(i int, names []lineNames, b *gotree.Block) {
	if i == 0 {
		return
	}
	var tests gotree.Block
	for k := range i {
		tests.P(`if $1 {
				return dst[:start], wire.Error{Message: m.Kind.String(), Field: $2, Problem: wire.Text, Value: $3}
			}`,
			g.matches(k, names[k], gotree.X("other")), gotree.Str(linePath(&g.P.Messages[i].Line[0])),
			g.P.Messages[k].Index)
	}
	end := len(g.P.Wire.EndOfLine())
	line := gotree.S("line := dst[start:len(dst)-$1]", end)
	if gotree.Uses(tests.List, "other") {
		line = gotree.S("line, other := dst[start:len(dst)-$1], Message{}", end)
	}
	b.P(`if m.Kind == $1 {
			// a text that is the line of another message would not come back as itself
			$2
			$3
		}`, g.message(i).Kind, line, tests.List)
}

// linePlace composes the place of a field in the message's struct v.
func (g *codec) linePlace(mn types.MessageNames, p *model.LinePart) gotree.Expr {
	x := gotree.X("v.$1", mn.Fields[p.Path[0].Index])
	for i, f := range p.Path[1:] {
		x = gotree.X("$1.$2", x, g.Typ(p.Path[i].Type, "").Fields[f.Index])
	}
	return x
}

func linePath(p *model.LinePart) string {
	var names []string
	for _, f := range p.Path {
		names = append(names, f.Name)
	}
	return strings.Join(names, ".")
}

func (g *codec) matchLine(m *model.Message, mn types.MessageNames, name string) {
	var b gotree.Block
	for i := range m.Line {
		p := &m.Line[i]
		if len(p.Path) == 0 {
			b.P("if line, ok = wire.Literal(line, $1); !ok {\nreturn false\n}", gotree.Str(p.Text))
			continue
		}
		b.P("word, line = wire.Word(line, $1)", gotree.Char(p.Stop))
		at, typ := g.linePlace(mn, p), p.Type()
		if typ.Kind == model.KindOptional {
			b.P("if string(word) != $1 {\n$2\n$3.Present = true\n}", gotree.Str(p.None),
				g.lineWord(typ.Elem, gotree.X("$1.Value", at)), at)
			continue
		}
		b.Add(g.lineWord(typ, at)...)
	}
	head := gotree.S("var word []byte")
	if gotree.Uses(b.List, "n") {
		head = append(head, gotree.S("var n uint64")...)
	}
	if gotree.Uses(b.List, "ok") {
		head = append(head, gotree.S("var ok bool")...)
	}
	fn := gotree.F("func $1(line []byte, v *$2) bool {\n$3\n$4\nreturn len(line) == 0\n}", name, mn.Typ, head, b.List)
	fn.Doc = base.Comment(name, fmt.Sprintf("reads a line of the form `%s`.", templateText(m)))
	g.add(fn)
}

// lineWord composes statements that read a word into a place.
func (g *codec) lineWord(typ *model.Type, at gotree.Expr) []gotree.Stmt {
	gt := g.Typ(typ, "")
	switch typ.Kind {
	case model.KindBytes:
		test := gotree.X("len(word) > $1", typ.Cap)
		if typ.Without != "" {
			test = gotree.X("$1 || wire.BadByte(word, $2, false) >= 0", test, gotree.Str(typ.Without))
		}
		if bad := types.BadIn(typ, "word"); bad != nil {
			test = gotree.X("$1 || $2 >= 0", test, bad)
		}
		return gotree.S(`if $1 {
				return false
			}
			$2.Len = $3(copy($2.Data[:], word))`, test, at, types.LenType(typ.Cap))
	case model.KindEnum:
		words := &gotree.Switch{Tag: gotree.X("string(word)")}
		for i, name := range g.EnumNames(gt) {
			words.Cases = append(words.Cases, &gotree.Case{List: []gotree.Expr{gotree.Str(typ.InLine()[i])},
				Body: gotree.S("$1 = $2", at, name)})
		}
		words.Cases = append(words.Cases, &gotree.Case{Body: gotree.S("return false")})
		return []gotree.Stmt{words}
	case model.KindBool:
		return gotree.S("if n, ok = wire.Decimal(word, 1); !ok {\nreturn false\n}\n$1 = n == 1", at)
	}
	least, most := int64(0), uint64(math.MaxUint64)
	if typ.Kind == model.KindOpaque && typ.Bits < 64 {
		most = 1<<typ.Bits - 1
	} else if typ.Kind != model.KindOpaque {
		least, most = typ.Lo, uint64(typ.Hi)
	}
	bad := gotree.X("!ok")
	if least > 0 {
		bad = gotree.X("!ok || n < $1", least)
	}
	return gotree.S("if n, ok = wire.Decimal(word, $1); $2 {\nreturn false\n}\n$3 = $4(n)", most, bad, at, gt.X)
}

// templateText returns a template as the author wrote it.
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

func (g *codec) encodeLine(m *model.Message, mn types.MessageNames, name string) {
	var b gotree.Block
	texts := false
	for i := range m.Line {
		p := &m.Line[i]
		if len(p.Path) == 0 {
			b.P("dst = append(dst, $1...)", gotree.Str(p.Text))
			continue
		}
		at, typ := g.linePlace(mn, p), p.Type()
		if typ.Kind == model.KindOptional {
			value := g.appendWord(typ.Elem, gotree.X("$1.Value", at))
			b.P(`if $1.Present {
					$2
				} else {
					dst = append(dst, $3...)
				}`, at, value, gotree.Str(p.None))
			continue
		}
		if typ.Kind != model.KindBytes {
			b.Add(g.appendWord(typ, at)...)
			continue
		}
		text := gotree.S("text := $1.Data[:min(int($1.Len), $2)]", at, typ.Cap)
		if texts {
			text = gotree.S("text = $1.Data[:min(int($1.Len), $2)]", at, typ.Cap)
		}
		texts = true
		b.P(`$1
			if i := wire.BadByte(text, $2, $3); i >= 0 {
				return dst, wire.Error{Message: $4, Field: $5, Offset: len(dst) - start + i, Problem: wire.Text,
					Value: int64(text[i])}
			}`, text, gotree.Str(typ.Without), g.P.Wire.ASCII, gotree.Str(m.Name), gotree.Str(linePath(p)))
		if bad := types.BadIn(typ, "text"); bad != nil {
			b.P(`if i := $1; i >= 0 {
				return dst, wire.Error{Message: $2, Field: $3, Offset: len(dst) - start + i, Problem: wire.Charset,
					Value: int64(text[i])}
			}`, bad, gotree.Str(m.Name), gotree.Str(linePath(p)))
		}
		b.P("dst = append(dst, text...)")
	}
	g.add(gotree.F(`func $1(dst []byte, $2 int, v *$3) ([]byte, error) {
			$4
			return dst, nil
		}`, name, gotree.Used(b.List, "start"), mn.Typ, b.List))
}

// appendWord composes statements that append a scalar.
func (g *codec) appendWord(typ *model.Type, at gotree.Expr) []gotree.Stmt {
	switch typ.Kind {
	case model.KindBool:
		return gotree.S("if $1 {\ndst = append(dst, '1')\n} else {\ndst = append(dst, '0')\n}", at)
	case model.KindEnum:
		if typ.Words == nil {
			return gotree.S("dst = append(dst, $1.String()...)", at)
		}
		values := &gotree.Switch{Tag: at}
		for i, name := range g.EnumNames(g.Typ(typ, "")) {
			if typ.Words[i] != typ.Names[i] {
				values.Cases = append(values.Cases, &gotree.Case{
					List: []gotree.Expr{gotree.Name{Name: name}},
					Body: gotree.S("dst = append(dst, $1...)", gotree.Str(typ.Words[i])),
				})
			}
		}
		values.Cases = append(values.Cases, &gotree.Case{Body: gotree.S("dst = append(dst, $1.String()...)", at)})
		return []gotree.Stmt{values}
	}
	return gotree.S("dst = strconv.AppendUint(dst, uint64($1), 10)", at)
}
