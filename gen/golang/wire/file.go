package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/golang/lines"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// File holds the codecs of all messages, both ways, with the errors that
// package interp documents. Of several channels each has a codec of its own.
func (g *Codec) File() *jen.File {
	f := g.Gen.File(g.O.Package)
	f.Comment("// maxFrame is the largest frame in bytes.")
	f.Const().Id("maxFrame").Op("=").Lit(g.MaxFrame())
	channels := g.P.Channels()
	for k := range channels {
		own := *g.Gen
		own.P = g.P.Over(k)
		c := New(&own)
		c.compose()
		if g.P.Several() {
			c.rename(g.Gen, k)
			f.Line()
			f.Comment("// maxFrame" + g.Suffix(k) + " is the largest frame of the channel " + channels[k].Name + ".")
			f.Const().Id("maxFrame" + g.Suffix(k)).Op("=").Lit(own.P.Wire.Max)
		}
		c.write(f)
	}
	if g.P.Several() {
		f.Line()
		f.Add(appendAny(g.Gen).Code())
	}
	return f
}

// compose composes the codec of one channel.
func (g *Codec) compose() {
	w := g.P.Wire
	if w.Lines {
		g.funcs = lines.Functions(g.Gen)
		return
	}
	if g.P.Phased() {
		g.inPhases()
	} else {
		g.reading()
	}
	g.appendMessageCode()
	for _, m := range g.P.Messages {
		g.decodeBody(m, g.Messages[m.Index])
		g.funcs, g.behind = append(g.funcs, g.behind...), nil
		g.encodeBody(m, g.Messages[m.Index])
		g.funcs, g.behind = append(g.funcs, g.behind...), nil
	}
	g.shape()
}

// reading composes what finds and reads frames, but for the items of messages.
func (g *Codec) reading() {
	if g.P.Wire.Self {
		g.selfDecode()
	} else {
		g.frameHead()
		g.decodeMessage()
	}
	g.funcs = append(g.funcs, g.later...)
}

// inPhases composes the reading of frames of a stream with phases: for each phase what a protocol with its messages
// alone has, under names of its own, and functions that choose among these.
func (g *Codec) inPhases() {
	g.funcs = append(g.funcs, choosers(g.Gen)...)
	for k := range g.P.Wire.Phases {
		own := *g.Gen
		if own.P = g.P.In(k); len(own.P.Messages) == 0 {
			continue // its bytes are nobody's
		}
		c := New(&own)
		c.reading()
		c.funcs = slices.DeleteFunc(c.funcs, func(f *gotree.Func) bool { return unnamed(own.P, f.Name) })
		names := map[string]string{}
		for _, n := range base.PhaseNames {
			names[n] = g.OfPhase(n, k)
		}
		c.renameTo(names)
		g.funcs, g.tail = append(g.funcs, c.funcs...), append(g.tail, c.tail...)
	}
}

// write writes what was composed.
func (g *Codec) write(f *jen.File) {
	for _, fn := range g.funcs {
		f.Line()
		f.Add(fn.Code())
		if strings.HasPrefix(fn.Name, "readHeader") && len(g.tail) > 0 && strings.HasPrefix(g.tail[0].name,
			"leastFrame") {
			g.tail[0].write(f)
			g.tail = g.tail[1:]
		}
	}
	for _, t := range g.tail {
		t.write(f)
	}
}

// rename gives what every codec has the names of one channel's.
func (g *Codec) rename(all *types.Gen, channel int) {
	names := map[string]string{}
	for _, n := range base.CodecNames {
		names[n] = all.OfChannel(n, channel)
	}
	g.renameTo(names)
}

func (g *Codec) renameTo(names map[string]string) {
	for _, fn := range g.funcs {
		fn.Doc = base.Reworded(fn.Doc, names)
		gotree.Rename(fn, names)
	}
	for i := range g.tail {
		t := &g.tail[i]
		t.doc = base.Reworded(t.doc, names)
		if names[t.name] != "" {
			t.name = names[t.name]
		}
		gotree.Rename(&t.value, names)
	}
}

func (g *Codec) decodeMessage() {
	w := g.P.Wire
	to, pass := []gotree.Param{}, []gotree.Expr{}
	if g.P.Directed() {
		to, pass = []gotree.Param{{Name: "to", Type: gotree.X("string")}}, []gotree.Expr{gotree.X("to")}
		g.add(gotree.F(`// DecodeMessage is DecodeMessageTo for a frame of which nobody knows who receives it.
func DecodeMessage(b []byte, m *Message) error { return DecodeMessageTo("", b, m) }`))
		g.add(gotree.F(`// DecodeMessageTo decodes one whole frame that a role receives into m. The error is a wire.Error; m is of no use
// then. The frame is not kept, and nothing is allocated unless there is an error.
func DecodeMessageTo(to string, b []byte, m *Message) error {
	if e := decode(to, b, m); e.Problem != 0 {
		return e
	}
	return nil
}`))
	} else {
		g.add(gotree.F(`// DecodeMessage decodes one whole frame into m. The error is a wire.Error; m is of no use then. The frame is
// not kept, and nothing is allocated unless there is an error.
func DecodeMessage(b []byte, m *Message) error {
	if e := decode(b, m); e.Problem != 0 {
		return e
	}
	return nil
}`))
	}
	name := "decode"
	if at, little := checksumAt(w); at >= 0 {
		name = "decodeItems"
		g.add(gotree.F(`func decode(_ $3, b []byte, m *Message) wire.Error {
	if e := decodeItems($4, b, m); e.Problem != 0 {
		return e
	}
	if got, want := $1, wire.Checksum(b, $2); got != want {
		return wire.Error{Message: m.Kind.String(), Field: "checksum", Offset: $2, Problem: wire.BadSum, Value: int64(got), Limit: int64(want)}
	}
	return wire.Error{}
}`, ints.Read(model.Number{Bits: 32, Little: little}, gotree.Int(at)), at, to, pass))
	}
	kinds := &gotree.Switch{Tag: gotree.X("kind")}
	for _, m := range g.P.Messages {
		i, alike := m.Index, g.P.Alike(m)
		switch {
		case len(alike) > 1 && alike[0] == m:
			f, pass := g.oneOf(alike)
			kinds.Cases = append(kinds.Cases, g.kindCase(i, gotree.S("return $1($2)", f, pass)...))
		case len(alike) == 1 && bodyCode(m):
			args := g.fieldsOf(i)
			if w.Varies {
				args = append([]gotree.Expr{gotree.X("body")}, args...)
			}
			clear := []gotree.Stmt{}
			if n := g.Messages[i]; n.Member != "" {
				clear = gotree.S("m.$1 = $2{}", n.Member, n.Typ)
			}
			kinds.Cases = append(kinds.Cases, g.kindCase(i,
				append(clear, gotree.S("return $1(b, $2)", g.Messages[i].Decode, args)...)...))
		}
	}
	var rest gotree.Block
	if len(kinds.Cases) > 0 {
		rest.Add(kinds)
	}
	head, body := "kind, total, e := readHeader(b)", gotree.Int(w.HeaderLen)
	if w.Varies {
		head, body = "kind, total, body, e := readHeader(b)", gotree.X("body")
	}
	if !w.Surplus {
		rest.P(`if len(b) > $1 {
				return wire.Error{Message: kind.String(), Offset: $1, Problem: wire.Trailing, Value: int64(len(b) - $1)}
			}`, body)
	}
	incomplete := []gotree.Stmt{}
	if w.Varies {
		incomplete = gotree.S(`if total == 0 {
			return wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: int64(len(b) + 1)}
		}`)
		if !gotree.Uses(rest.List, "body") {
			head = "kind, total, _, e := readHeader(b)"
		}
	}
	if len(to) > 0 {
		to[0].Name = gotree.Used(rest.List, "to")
	}
	g.add(gotree.F(`func $1(_ $6, b []byte, m *Message) wire.Error {
	$2
	$4
	if e.Problem != 0 {
		return e
	}
	$5
	if len(b) < total {
		return wire.Error{Message: kind.String(), Problem: wire.Short, Value: int64(len(b)), Limit: int64(total)}
	}
	if len(b) > total {
		return wire.Error{Message: kind.String(), Offset: total, Problem: wire.Trailing, Value: int64(len(b) - total)}
	}
	// Beside the message of its kind nothing is set in m.
	if m.Kind != kind {
		*m = Message{Kind: kind}
	}
	$3
	return e
}`, name, g.tooShort("wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: "+strconv.Itoa(w.HeaderLen)+"}"),
		rest.List, gotree.S(head), incomplete, to))
}

// cleared composes the clearing of a message before it is decoded. Beside the message of its kind nothing is set
// in m, and to clear all of it costs more than to decode.
func (g *Codec) cleared(i int) []gotree.Stmt {
	n := g.Messages[i]
	if n.Member == "" {
		return gotree.S("if m.Kind != $1 {\n*m = Message{Kind: $1}\n}", n.Kind)
	}
	return gotree.S("if m.Kind == $1 {\nm.$2 = $3{}\n} else {\n*m = Message{Kind: $1}\n}", n.Kind, n.Member, n.Typ)
}

// oneOf composes the function that tries messages which the header does not tell from each other, and
// returns its name and what to pass. What would make it too long is left to a function of its own.
func (g *Codec) oneOf(alike []*model.Message) (name string, pass []gotree.Expr) {
	w := g.P.Wire
	name = g.Top.Take("oneOf" + strings.TrimPrefix(g.Messages[alike[0].Index].Kind, "Message"))
	params := []gotree.Param{{Name: "b", Type: gotree.X("[]byte{}").(gotree.Composite).Type}}
	pass = []gotree.Expr{gotree.X("b")}
	for _, p := range []struct {
		name, typ string
		there     bool
	}{{"body", "int", w.Varies}, {"m", "*Message", true}, {"to", "string", directed(alike)}} {
		if p.there {
			params = append(params, gotree.Param{Name: p.name, Type: gotree.X(p.typ)})
			pass = append(pass, gotree.X(p.name))
		}
	}
	current, doc := name, "tries the messages that the header does not tell apart, in their order."
	var b gotree.Block
	b.P("var worst wire.Error")
	end := func() {
		own := slices.Clone(params)
		for i := range own {
			own[i].Name = gotree.Used(b.List, own[i].Name)
		}
		f := gotree.F("func $1(_ $2) wire.Error {\n$3\n}", current, own, b.List)
		f.Doc = "// " + current + " " + doc
		g.later = append(g.later, f)
	}
	for _, m := range alike {
		n := g.Messages[m.Index]
		least := w.HeaderLen + model.LeastBody(w.HeaderLen, m.Layout)
		args := g.fieldsOf(m.Index)
		body := gotree.Expr(gotree.Int(w.HeaderLen))
		if w.Varies {
			args = append([]gotree.Expr{gotree.X("body")}, args...)
			body = gotree.X("body")
		}
		read := gotree.S("e := wire.Error{}")
		switch {
		case bodyCode(m):
			read = gotree.S("e := $1(b, $2)", n.Decode, args)
		case !w.Surplus:
			read = gotree.S(`e := wire.Error{}
				if len(b) > $1 {
					e = wire.Error{Message: $2, Offset: $1, Problem: wire.Trailing, Value: int64(len(b) - $1)}
				}`, body, gotree.Str(m.Name))
		}
		try := gotree.S(`$1
			$2
			if e.Problem == 0 {
				return e
			}
			worst = wire.Farther(worst, e)`, g.cleared(m.Index), read)
		if least > w.HeaderLen {
			try = gotree.S(`if len(b) < $1 {
					worst = wire.Farther(worst, wire.Error{Message: $2, Problem: wire.Short, Value: int64(len(b)), Limit: $1})
				} else {
					$3
				}`, least, gotree.Str(m.Name), try)
		} else if m.From == "" || len(g.P.Roles) < 2 {
			try = gotree.S("{\n$1\n}", try)
		}
		if m.From != "" && len(g.P.Roles) > 1 {
			try = gotree.S("if to != $1 {\n$2\n}", gotree.Str(m.From), try)
		}
		if gotree.Lines(b.List)+gotree.Lines(try) > base.Longest-10 {
			more := g.Top.Take(name + "Next")
			b.P("return $1($2, worst)", more, pass)
			if end(); current == name {
				params = append(params, gotree.Param{Name: "worst", Type: gotree.X("wire.Error")})
			}
			current, doc, b = more, "is "+name+" for the messages that follow.", gotree.Block{}
		}
		b.Add(try...)
	}
	b.P(`if worst.Problem == 0 {
			worst.Problem = wire.UnknownType
		}
		return worst`)
	end()
	return name, pass
}
