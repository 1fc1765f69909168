package wire

import (
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// selfDecode composes the reading of frames that end where their last item does. A message's decoder gives
// where that is: the Offset of an error without a problem.
func (g *Codec) selfDecode() {
	to, pass := []gotree.Param{}, []gotree.Expr{}
	if g.P.Directed() {
		to, pass = []gotree.Param{{Name: "to", Type: gotree.X("string")}}, []gotree.Expr{gotree.X("to")}
		g.add(gotree.F(`// FrameSize is FrameSizeTo for a frame of which nobody knows who receives it.
func FrameSize(b []byte) (int, error) { return FrameSizeTo("", b) }`))
	}
	size := gotree.F(`func FrameSize(_ $1, b []byte) (int, error) {
	var m Message
	e := decode($2, b[:min(len(b), maxFrame)], &m)
	switch {
	case e.Problem == 0:
		return e.Offset, nil
	case e.Problem == wire.Short && len(b) < maxFrame:
		return 0, nil
	case e.Problem == wire.Short:
		return 0, wire.Error{Message: e.Message, Problem: wire.Long, Value: int64(len(b)), Limit: maxFrame}
	}
	return 0, e
}`, to, pass)
	read := gotree.F(`func DecodeMessage(_ $1, b []byte, m *Message) error {
	e := decode($2, b, m)
	if e.Problem == 0 && e.Offset < len(b) {
		e = wire.Error{Message: m.Kind.String(), Offset: e.Offset, Problem: wire.Trailing, Value: int64(len(b) - e.Offset)}
	}
	if e.Problem != 0 {
		return e
	}
	return nil
}`, to, pass)
	whose := ""
	if g.P.Directed() {
		size.Name, read.Name, whose = "FrameSizeTo", "DecodeMessageTo", " that a role receives"
		g.add(gotree.F(`// DecodeMessage is DecodeMessageTo for a frame of which nobody knows who receives it.
func DecodeMessage(b []byte, m *Message) error { return DecodeMessageTo("", b, m) }`))
	}
	size.Doc = base.Comment(size.Name, "returns the length in bytes of the frame"+whose+" and starts at b[0], 0 if b "+
		"is too short to tell, or an error, a wire.Error, if no valid frame can start so.")
	if whose == "" {
		size.Doc = base.Comment(size.Name, "returns the length in bytes of the frame that starts at b[0], 0 if b is "+
			"too short to tell, or an error, a wire.Error, if no valid frame can start so.")
	}
	read.Doc = base.Comment(read.Name, "decodes one whole frame"+whose+" into m. The error is a wire.Error; m is of "+
		"no use then. The frame is not kept, and nothing is allocated unless there is an error.")
	g.add(size)
	g.add(read)
	var b gotree.Block
	b.P("var worst wire.Error")
	for _, m := range g.P.Messages {
		n := g.Messages[m.Index]
		try := gotree.S(`{
				$1
				e := $2(b, $3)
				if e.Problem == 0 {
					return e
				}
				worst = wire.Unfinished(worst, e)
			}`, g.cleared(m.Index), n.Decode, g.fieldsOf(m.Index))
		if m.From != "" && len(g.P.Roles) > 1 {
			try = gotree.S("if to != $1 {\n$2\n}", gotree.Str(m.From), try[0].(*gotree.Braces).Body)
		}
		b.Add(try...)
	}
	b.P(`if worst.Problem == 0 {
			worst.Problem = wire.UnknownType
		}
		return worst`)
	if len(to) > 0 {
		to = []gotree.Param{{Name: gotree.Used(b.List, "to"), Type: gotree.X("string")}}
	}
	f := gotree.F("func decode(_ $1, b []byte, m *Message) wire.Error {\n$2\n}", to, b.List)
	f.Doc = base.Comment("decode", "decodes the frame at the beginning of b. The Offset of an error without a problem "+
		"is where it ends.")
	g.add(f)
}

// literal composes the reading of bytes that are always the same, which fails with the first other one.
func (d *layout) literal(it *model.WireLiteral) {
	short := d.err("", d.at, "Short", gotree.X("int64(len(b))"),
		gotree.X("int64($1)", gotree.Plus(d.at, int64(len(it.Bytes)))))
	d.t.P(`if i := wire.Begins(b[$1:], $2); i >= 0 {
			return $3
		} else if i == -2 {
			return $4
		}`, d.at, gotree.Str(it.Bytes), literalError(d.messageName(), d.at, it.Bytes), short)
	d.advance(len(it.Bytes))
}

// word composes the reading of an enumeration by its words.
func (d *layout) word(it *model.WireWord, place gotree.Expr, field string) {
	d.float()
	d.t.P(`{
			i, n := wire.Which(b[at:], $1, $2[:])
			if n <= 0 {
				return wire.BadWord($3, $4, b, at, n)
			}
			$5 = $6
			at += n
		}`, gotree.Str(it.End), d.g.wordTable(it.Field.Type), d.messageName(), gotree.Str(field), place,
		gotree.Conv(d.g.Typ(it.Field.Type, "").X, gotree.X("i")))
}

// putWord appends the word for the value of an enumeration.
func (e *layout) putWord(it *model.WireWord, place gotree.Expr, field string) {
	t := it.Field.Type
	e.t.P("if int($1) >= $2 {\nreturn dst, $3\n}\ndst = append(dst, $4[$1]...)", place, len(t.Names),
		e.err(field, here, "Range", gotree.X("int64($1)", place), gotree.Int(len(t.Names)-1)), e.g.wordTable(t))
	if it.End != "" {
		e.t.P("dst = append(dst, $1...)", gotree.Str(it.End))
	}
}

// wordTable returns the name of the table of the words that stand for an enumeration's values.
func (g *Codec) wordTable(t *model.Type) string {
	gt := g.Typ(t, "")
	if name := g.words[gt]; name != "" {
		return name
	}
	name := g.Top.Take(base.Unexported(gt.Name) + "Words")
	g.words[gt] = name
	var words []gotree.Expr
	for _, word := range t.InLine() {
		words = append(words, gotree.Str(word))
	}
	g.tail = append(g.tail, table{base.Comment(name, "are the words that stand for the values of "+gt.Name+"."), name,
		gotree.X("[...]string{$1}", words)})
	return name
}
