package wire

import (
	"fmt"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/model"
)

// tooShort leaves a function that reads b where b is shorter than the header, if there is one.
func (g *Codec) tooShort(returned string) []gotree.Stmt {
	if g.P.Wire.HeaderLen == 0 {
		return nil
	}
	return gotree.S(fmt.Sprintf("if len(b) < %d {\nreturn %s\n}", g.P.Wire.HeaderLen, returned))
}

// frameHead composes the reading of the header.
func (g *Codec) frameHead() {
	w := g.P.Wire
	read := "_, total, e := readHeader(b)"
	if w.Varies {
		read = "_, total, _, e := readHeader(b)"
	}
	g.add(gotree.F(`// FrameSize returns the length in bytes of the frame that starts at b[0], 0 if b is too short to tell, or an
// error, a wire.Error, if no valid frame can start so.
func FrameSize(b []byte) (int, error) {
	$1
	$2
	if e.Problem != 0 {
		return 0, e
	}
	return total, nil
}`, g.tooShort("0, nil"), gotree.S(read)))
	h := &headReader{g: g, at: gotree.Int(0), length: gotree.X("int64(len(b))"), lengthAt: gotree.Int(0)}
	for _, item := range w.Header {
		h.item(item)
	}
	switch {
	case !h.typed && len(g.P.Messages) == 0:
		h.b.Add(h.fail(gotree.X("wire.Error{Problem: wire.UnknownType}")))
	case len(g.P.Messages) > 0: // else every type was unknown
		h.checkSize()
	}
	results := gotree.F("func f() (kind MessageKind, total int, e wire.Error) {}")
	if w.Varies {
		results = gotree.F("func f() (kind MessageKind, total, body int, e wire.Error) {}")
	}
	f := gotree.F("func readHeader(b []byte) {\n$1\n}", h.b.List)
	f.Results = results.Results
	f.Doc = fmt.Sprintf("// readHeader reads the header of a frame that has at least its %d bytes.", w.HeaderLen)
	if w.Varies {
		f.Doc = fmt.Sprintf("// readHeader reads the header of a frame, of which at least %d bytes are there; body is "+
			"where it\n// ends. total is 0 if b ends before the header does.", w.HeaderLen)
	}
	g.add(f)
}

// headReader composes the reading of a header.
type headReader struct {
	g        *Codec
	b        gotree.Block
	at       gotree.Expr // offset of the next item: a number as long as it is known
	typed    bool
	length   gotree.Expr // bytes of the frame
	lengthAt gotree.Expr
}

// fail composes the return of an error.
func (h *headReader) fail(e gotree.Expr) gotree.Stmt {
	if h.g.P.Wire.Varies {
		return gotree.S("return 0, 0, 0, $1", e)[0]
	}
	return gotree.S("return 0, 0, $1", e)[0]
}

func (h *headReader) item(item model.WireItem) {
	known := true
	if _, ok := gotree.Number(h.at); !ok {
		known = false
	}
	size := model.FixedBytes(item)
	if !known && size > 0 {
		h.b.P("if len(b)-at < $1 {\n$2\n}", size, h.fail(gotree.X("e")))
	}
	switch it := item.(type) {
	case *model.WireLength:
		v := h.number(it.Number, "length")
		end := gotree.Plus(h.at, int64(size))
		h.lengthAt = h.at
		if it.Varint != model.Fixed {
			h.lengthAt, end = gotree.X("lengthAt"), gotree.X("at")
		} else if !known { // it is read at the end, when `at` is behind it
			h.b.P("lengthAt := at")
			h.lengthAt, end = gotree.X("lengthAt"), gotree.Plus(gotree.X("lengthAt"), int64(size))
			v = ints.Read(it.Number, h.lengthAt)
		}
		h.length = gotree.X("int64($1)", v)
		switch {
		case !h.g.P.Wire.Varies:
			h.length = gotree.Plus(h.length, int64(max(it.Less, 0)))
		case it.Of == model.LengthOfBody:
			h.length = gotree.X("$1 + int64(at)", h.length) // the offset of the body, at the end
		case it.Of == model.LengthOfRest:
			h.b.P("lengthEnd := $1", end)
			h.length = gotree.X("$1 + int64(lengthEnd)", h.length)
		}
	case *model.WireType:
		h.kind(h.number(it.Number, "id"), it.Bits)
	case *model.WireConst:
		at := h.at
		if it.Varint != model.Fixed {
			h.b.P("constAt := $1", at)
			at = gotree.X("constAt")
		}
		h.constant(it, h.number(it.Number, "value"), at)
	case *model.WireLiteral:
		h.b.P("if i := wire.Differs(b[$1:], $2); i >= 0 {\n$3\n}", h.at, gotree.Str(it.Bytes),
			h.fail(literalError(gotree.Str(""), h.at, it.Bytes)))
	case *model.WireBits:
		for _, part := range it.Parts {
			v := ints.Cut(ints.Read(it.Number, h.at), ints.Type(it.Number), it.Bits, part)
			switch x := part.Item.(type) {
			case *model.WireType:
				h.kind(v, x.Bits)
			case *model.WireConst:
				h.constant(x, v, h.at)
			}
		}
	}
	switch {
	case size > 0 && known:
		h.at = gotree.Plus(h.at, int64(size))
	case size > 0:
		h.b.P("at += $1", size)
	}
}

// number composes a number, and the reading of one of varying length, whose name it becomes.
func (h *headReader) number(n model.Number, name string) gotree.Expr {
	if n.Varint == model.Fixed {
		return ints.Read(n, h.at)
	}
	if _, known := gotree.Number(h.at); known {
		h.b.P("at := $1", h.at)
		h.at = gotree.X("at")
	}
	size := name + "Size"
	h.b.P("$1, $2 := $3", name, size, ints.Varint(n, h.at))
	h.b.P("if $1 < 0 {\n$2\n}\nif $1 == 0 {\n$3\n}", size,
		h.fail(gotree.X(`wire.BadVarint("", "", b, at, $1)`, size)), h.fail(gotree.X("e")))
	if name == "length" {
		h.b.P("lengthAt := at")
	}
	if name != "id" {
		h.b.P("at += $1", size)
	}
	return gotree.Name{Name: name}
}

func (h *headReader) constant(it *model.WireConst, v, at gotree.Expr) {
	h.b.P("if v := $1; v != $2 {\n$3\n}", v, ints.Const(it), h.fail(mismatch("", at, it.Value)))
}

// kind composes the choice of the message by its type number.
func (h *headReader) kind(id gotree.Expr, bits int) {
	h.typed = true
	unknown := h.fail(gotree.X("wire.Error{Offset: $1, Problem: wire.UnknownType, Value: int64(id)}", h.at))
	ids := &gotree.Switch{Init: gotree.S("id := $1", id)[0], Tag: gotree.X("id")}
	if gotree.Equal(id, gotree.Expr(gotree.Name{Name: "id"})) {
		ids.Init = nil
	}
	seen := map[int64]bool{}
	for _, m := range h.g.P.Messages {
		if m.ID >= 0 && uint64(m.ID) <= ints.Largest(bits) && !seen[m.ID] {
			seen[m.ID] = true
			ids.Cases = append(ids.Cases, &gotree.Case{List: []gotree.Expr{gotree.Int(m.ID)},
				Body: gotree.S("kind = $1", h.g.Messages[m.Index].Kind)})
		}
	}
	ids.Cases = append(ids.Cases, &gotree.Case{Body: []gotree.Stmt{unknown}})
	h.b.Add(ids)
	if ids.Init == nil {
		h.b.P("at += idSize")
	}
}

// checkSize composes the test of a frame's length, which the header has at an offset.
func (h *headReader) checkSize() {
	g := h.g
	least := make([]gotree.Elem, len(g.P.Messages))
	for i, m := range g.P.Messages {
		body := model.LeastBody(g.P.Wire.HeaderLen, m.Layout)
		for _, o := range g.P.Alike(m) {
			body = min(body, model.LeastBody(g.P.Wire.HeaderLen, o.Layout))
		}
		least[i] = gotree.At(gotree.Name{Name: g.Messages[m.Index].Kind}, gotree.Int(g.P.Wire.HeaderLen+body))
	}
	g.tail = append(g.tail, table{"// leastFrame has the least length of each message's frame.", "leastFrame",
		gotree.Composite{Type: gotree.X("[...]uint16{}").(gotree.Composite).Type, Elems: least, Lines: true}})
	bad := func(problem string, limit any) gotree.Stmt {
		elems := []gotree.Elem{gotree.Field("Message", gotree.X("kind.String()"))}
		if n, ok := gotree.Number(h.lengthAt); !ok || n != 0 {
			elems = append(elems, gotree.Field("Offset", h.lengthAt))
		}
		elems = append(elems, gotree.Field("Problem", gotree.X("wire.$1", problem)),
			gotree.Field("Value", gotree.X("size")), gotree.Field("Limit", gotree.X("$1", limit)))
		return h.fail(gotree.Struct(gotree.X("wire.Error"), elems...))
	}
	done := gotree.S("return kind, int(size), e")
	if g.P.Wire.Varies {
		done = gotree.S("return kind, int(size), $1, e", h.at)
	}
	var within []gotree.Stmt
	if g.P.Wire.Varies {
		within = gotree.S("if size < int64($1) {\n$2\n}", h.at, bad("Short", gotree.X("int64($1)", h.at)))
	}
	h.b.P(`size := $1
		if least := int64(leastFrame[kind]); size < least {
			$2
		}
		$5
		if size > maxFrame {
			$3
		}
		$4`, h.length, bad("Short", "least"), bad("Long", "maxFrame"), done, within)
}

func (g *Codec) appendMessageCode() {
	w := g.P.Wire
	var b, lengths, varying gotree.Block
	b.P("start := len(dst)")
	at := 0
	for _, item := range w.Header {
		place := gotree.Plus(gotree.X("start"), int64(at))
		switch it := item.(type) {
		case *model.WireLength:
			size, _ := it.Bytes()
			n := gotree.Plus(gotree.X("len(dst) - start"), -int64(max(it.Less, 0)))
			if w.Varies {
				b.P("lengthAt := len(dst)")
				place = gotree.X("lengthAt")
				switch it.Of {
				case model.LengthOfBody:
					n = gotree.X("len(dst) - body")
				case model.LengthOfRest:
					n = gotree.Plus(gotree.X("len(dst) - lengthAt"), -int64(size))
				}
			}
			b.Add(ints.Append(model.Number{Bits: 8 * size}, gotree.Int(0)),
				&gotree.Comment{Text: "// length, set below", Behind: true})
			set, offset := &lengths, gotree.Expr(gotree.Int(at))
			if it.Varint != model.Fixed {
				set = &varying
			}
			if w.Varies {
				offset = gotree.X("lengthAt - start")
			}
			if _, most := it.Range(); uint64(w.Max-it.Less) > most {
				set.P(`if n := $1; n > $2 {
						return dst[:start], wire.Error{Message: m.Kind.String(), Offset: $3, Problem: wire.Range, Value: int64(n), Limit: $2}
					}`, n, most, offset)
			}
			switch it.Varint {
			case model.LEB128:
				set.P("dst = wire.SetLEB128(dst, lengthAt, uint64($1))", n)
			case model.QUIC:
				set.P("dst = wire.SetQUIC(dst, lengthAt, uint64($1))", n)
			default:
				set.Add(ints.Put(it.Number, place, n))
			}
		case *model.WireType:
			b.Add(ints.Append(it.Number, g.typeNumber(it, &b)))
		case *model.WireConst:
			b.Add(ints.Append(it.Number, ints.Const(it)))
		case *model.WireLiteral:
			b.P("dst = append(dst, $1...)", gotree.Str(it.Bytes))
		case *model.WireBits:
			g.appendBits(it, &b)
		default:
			if checksum, ok := item.(*model.WireChecksum); ok {
				lengths.Add(ints.Put(model.Number{Bits: 32, Little: checksum.Little}, place,
					gotree.X("wire.Checksum(dst[start:], $1)", at)))
			}
			b.Add(padCode(model.FixedBytes(item)))
		}
		at += model.FixedBytes(item)
	}
	if gotree.Uses(varying.List, "body") || gotree.Uses(lengths.List, "body") {
		b.P("body := len(dst)")
	}
	kinds := &gotree.Switch{Tag: gotree.X("m.Kind")}
	for _, m := range g.P.Messages {
		if bodyCode(m) {
			kinds.Cases = append(kinds.Cases, g.kindCase(m.Index, gotree.S("dst, err = $1(dst, start, $2)",
				g.Messages[m.Index].Encode, g.fieldsOf(m.Index))...))
		}
	}
	if len(kinds.Cases) > 0 {
		b.P("var err error\n$1\nif err != nil {\nreturn dst[:start], err\n}", gotree.Stmt(kinds))
	}
	b.Add(varying.List...)
	g.add(gotree.F(`// AppendMessage appends the frame of m to dst. If m has no encoding the error is a wire.Error and dst is returned
// as it was.
func AppendMessage(dst []byte, m *Message) ([]byte, error) {
	$1
	if n := len(dst) - start; n > maxFrame {
		return dst[:start], wire.Error{Message: m.Kind.String(), Problem: wire.Long, Value: int64(n), Limit: maxFrame}
	}
	$2
	return dst, nil
}`, b.List, lengths.List))
}

// appendBits composes the statement that appends a number of the header with several items, of which
// messages fill in theirs later.
func (g *Codec) appendBits(it *model.WireBits, b *gotree.Block) {
	word, fixed := gotree.Expr(nil), uint64(0)
	for _, part := range it.Parts {
		switch x := part.Item.(type) {
		case *model.WireConst:
			fixed |= uint64(x.Value) & ints.Largest(x.Bits) << part.Shift
		case *model.WireType:
			word = gotree.X("uint64($1)", g.typeNumber(x, b))
			if part.Shift > 0 {
				word = gotree.X("$1<<$2", word, part.Shift)
			}
		}
	}
	switch {
	case word == nil:
		word = gotree.Int(fixed)
	case fixed != 0:
		word = gotree.X("$1|$2", word, fixed)
	}
	b.Add(ints.Append(it.Number, word))
}

// typeNumber composes the number of a message's type, and the check that there is one.
func (g *Codec) typeNumber(it *model.WireType, b *gotree.Block) gotree.Expr {
	ids := make([]gotree.Elem, len(g.P.Messages))
	plain, kinds := true, 0
	for i, m := range g.P.Messages {
		ids[i] = gotree.At(gotree.Name{Name: g.Messages[m.Index].Kind}, gotree.Int(uint64(max(m.ID, 0))))
		plain, kinds = plain && m.ID == int64(m.Index), m.Index+1
	}
	if len(g.P.Messages) == 0 {
		b.Comment("// There is no message.")
	}
	b.P(`if int(m.Kind) >= $1 {
			return dst[:start], wire.Error{Offset: len(dst) - start, Problem: wire.UnknownType, Value: int64(m.Kind)}
		}`, kinds)
	if plain {
		return gotree.X("m.Kind")
	}
	typ := gotree.Array{Len: gotree.Name{Name: "..."}, Elem: gotree.Name{Name: ints.Type(it.Number)}}
	g.tail = append(g.tail, table{"// messageIDs are the type numbers.", "messageIDs",
		gotree.Composite{Type: typ, Elems: ids, Lines: true}})
	return gotree.X("messageIDs[m.Kind]")
}
