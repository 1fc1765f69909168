// Package wire composes the codec of a package: the functions that read and write the frames or
// lines of its messages. It must not know of machines. Start from [New].
package wire

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// Codec composes the codec's file.
type Codec struct {
	*types.Gen
	codes map[*types.Type]string // tables of codes
	funcs []*gotree.Func
	tail  []table // behind the functions
}

// table is a variable of the file.
type table struct {
	doc, name string
	value     gotree.Expr
}

// New starts the composition of a codec.
func New(g *types.Gen) *Codec { return &Codec{Gen: g, codes: map[*types.Type]string{}} }

// File holds the codecs of all messages, both ways, with the errors that
// package interp documents.
func (g *Codec) File() *jen.File {
	f := g.Gen.File(g.O.Package)
	w := g.P.Wire
	f.Comment("// maxFrame is the largest frame in bytes.")
	f.Const().Id("maxFrame").Op("=").Lit(w.Max)
	if w.Lines {
		g.lineCodec()
	} else {
		g.frameHead()
		g.decodeMessage()
		g.appendMessageCode()
		for i, m := range g.P.Messages {
			g.decodeBody(m, g.Messages[i])
			g.encodeBody(m, g.Messages[i])
		}
		g.shape()
	}
	for _, fn := range g.funcs {
		f.Line()
		f.Add(fn.Code())
		if fn.Name == "readHeader" && len(g.tail) > 0 && g.tail[0].name == "leastFrame" {
			g.tail[0].write(f)
			g.tail = g.tail[1:]
		}
	}
	for _, t := range g.tail {
		t.write(f)
	}
	return f
}

func (t table) write(f *jen.File) {
	f.Line()
	f.Comment(t.doc)
	f.Var().Id(t.name).Op("=").Add(gotree.Code(t.value))
}

// add adds a function to the file.
func (g *Codec) add(f *gotree.Func) { g.funcs = append(g.funcs, f) }

// order returns the byte order of numbers, a value of encoding/binary.
func order(little bool) gotree.Expr {
	if little {
		return gotree.X("binary.LittleEndian")
	}
	return gotree.X("binary.BigEndian")
}

// readNumber composes the number of so many bits at an offset of b; its Go type is the
// smallest that holds it.
func readNumber(bits int, little bool, at gotree.Expr) gotree.Expr {
	switch bits {
	case 8:
		return gotree.X("b[$1]", at)
	case 24:
		second, third := gotree.Plus(at, 1), gotree.Plus(at, 2)
		if little {
			return gotree.X("uint32(b[$1]) | uint32(b[$2])<<8 | uint32(b[$3])<<16", at, second, third)
		}
		return gotree.X("uint32(b[$1])<<16 | uint32(b[$2])<<8 | uint32(b[$3])", at, second, third)
	}
	return gotree.X("$1.$2(b[$3:])", order(little), "Uint"+strconv.Itoa(bits), at)
}

// appendNumber composes the statement that appends a number to dst.
func appendNumber(bits int, little bool, v gotree.Expr) gotree.Stmt {
	if n, ok := gotree.Number(v); ok && bits <= 32 { // a constant: its bytes
		var parts []gotree.Expr
		for i := range bits / 8 {
			k := bits/8 - 1 - i
			if little {
				k = i
			}
			parts = append(parts, gotree.Int(int(byte(uint64(n)>>(8*k)))))
		}
		return appended(parts...)
	}
	switch bits {
	case 8:
		return appended(gotree.X("byte($1)", v))
	case 24:
		parts := []gotree.Expr{gotree.X("byte(uint32($1)>>16)", v), gotree.X("byte(uint32($1)>>8)", v),
			gotree.X("byte(uint32($1))", v)}
		if little {
			slices.Reverse(parts)
		}
		return appended(parts...)
	}
	return gotree.S("dst = $1.$2(dst, $3($4))", order(little), "AppendUint"+strconv.Itoa(bits),
		"uint"+strconv.Itoa(bits), v)[0]
}

// appended composes the statement that appends bytes to dst.
func appended(parts ...gotree.Expr) gotree.Stmt { return gotree.S("dst = append(dst, $1)", parts)[0] }

// largest returns the greatest number of so many bits.
func largest(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

func itemBits(item model.WireItem) int {
	switch it := item.(type) {
	case *model.WireLength:
		return it.Bits
	case *model.WireType:
		return it.Bits
	case *model.WireConst:
		return it.Bits
	case *model.WireInt:
		return it.Bits
	case *model.WireCount:
		return it.Bits
	case *model.WirePad:
		return it.Bytes * 8
	case *model.WireSequence:
		return it.Bits
	case *model.WireChecksum:
		return 32
	case *model.WireAddress:
		return it.Bytes * 8
	case *model.WireEach:
		return it.Rows * it.RowBytes * 8
	case *model.WirePresent:
		return int(it.Field.Type.Index.Count()) * 8
	}
	return 0
}

// kindCase returns the case of a message.
func (g *Codec) kindCase(i int, body ...gotree.Stmt) *gotree.Case {
	return &gotree.Case{List: []gotree.Expr{gotree.Name{Name: g.Messages[i].Kind}}, Body: body}
}

// frameHead composes the reading of the header.
func (g *Codec) frameHead() {
	w := g.P.Wire
	g.add(gotree.F(`// FrameSize returns the length in bytes of the frame that starts at b[0], 0 if b is too short to tell, or an
// error, a wire.Error, if no valid frame can start so.
func FrameSize(b []byte) (int, error) {
	if len(b) < $1 {
		return 0, nil
	}
	_, total, e := readHeader(b)
	if e.Problem != 0 {
		return 0, e
	}
	return total, nil
}`, w.HeaderLen))
	var b gotree.Block
	at, lengthAt, typed, length := 0, 0, false, gotree.X("int64(len(b))")
	for _, item := range w.Header {
		switch it := item.(type) {
		case *model.WireLength:
			lengthAt = at
			stated := gotree.X("int64($1)", readNumber(it.Bits, it.Little, gotree.Int(at)))
			length = gotree.Plus(stated, int64(max(it.Less, 0)))
		case *model.WireType:
			typed = true
			ids := gotree.S(`switch id := $1; id {
					default:
					return 0, 0, wire.Error{Offset: $2, Problem: wire.UnknownType, Value: int64(id)}
				}`,
				readNumber(it.Bits, it.Little, gotree.Int(at)), at)[0].(*gotree.Switch)
			other := ids.Cases[0]
			ids.Cases = nil
			seen := map[int64]bool{}
			for i, m := range g.P.Messages {
				if m.ID >= 0 && uint64(m.ID) <= largest(it.Bits) && !seen[m.ID] {
					seen[m.ID] = true
					ids.Cases = append(ids.Cases, &gotree.Case{List: []gotree.Expr{gotree.Int(m.ID)},
						Body: gotree.S("kind = $1", g.Messages[i].Kind)})
				}
			}
			ids.Cases = append(ids.Cases, other)
			b.Add(ids)
		case *model.WireConst:
			b.P(`if v := $1; v != $2 {
					return 0, 0, wire.Error{Offset: $3, Problem: wire.Mismatch, Value: int64(v), Limit: $4}
				}`,
				readNumber(it.Bits, it.Little, gotree.Int(at)), uint64(it.Value), at, it.Value)
		}
		at += itemBits(item) / 8
	}
	switch {
	case !typed && len(g.P.Messages) != 1:
		b.P("return 0, 0, wire.Error{Problem: wire.UnknownType}")
	case len(g.P.Messages) > 0: // else every type was unknown
		g.checkSize(&b, length, lengthAt)
	}
	g.add(gotree.F(`// readHeader reads the header of a frame that has at least its $1 bytes.
		func readHeader(b []byte) (kind MessageKind, total int, e wire.Error) {
			$2
		}`, w.HeaderLen, b.List))
	g.funcs[len(g.funcs)-1].Doc = fmt.Sprintf("// readHeader reads the header of a frame that has at least its "+
		"%d bytes.", w.HeaderLen)
}

// checkSize composes the test of a frame's length, which the header has at an offset.
func (g *Codec) checkSize(b *gotree.Block, length gotree.Expr, at int) {
	least := make([]gotree.Elem, len(g.P.Messages))
	for i, m := range g.P.Messages {
		least[i] = gotree.At(gotree.Name{Name: g.Messages[i].Kind},
			gotree.Int(g.P.Wire.HeaderLen+minBody(g.P.Wire.HeaderLen, m.Layout)))
	}
	g.tail = append(g.tail, table{"// leastFrame has the least length of each message's frame.", "leastFrame",
		gotree.Composite{Type: gotree.X("[...]uint16{}").(gotree.Composite).Type, Elems: least, Lines: true}})
	bad := func(problem string, limit any) gotree.Expr {
		elems := []gotree.Elem{gotree.Field("Message", gotree.X("kind.String()"))}
		if at != 0 {
			elems = append(elems, gotree.Field("Offset", gotree.Int(at)))
		}
		elems = append(elems, gotree.Field("Problem", gotree.X("wire.$1", problem)),
			gotree.Field("Value", gotree.X("size")), gotree.Field("Limit", gotree.X("$1", limit)))
		return gotree.Struct(gotree.X("wire.Error"), elems...)
	}
	b.P(`size := $1
		if least := int64(leastFrame[kind]); size < least {
			return 0, 0, $2
		}
		if size > maxFrame {
			return 0, 0, $3
		}
		return kind, int(size), e`, length, bad("Short", "least"), bad("Long", "maxFrame"))
}

// minBody counts the bytes of a body whose lists and texts are empty. It does not count padding at the
// end.
func minBody(start int, items []model.WireItem) int {
	at, least := start, start
	begin := make([]int, len(items))
	for i, item := range items {
		begin[i] = at
		if a, ok := item.(*model.WireAlign); ok {
			since := 0
			if a.Since >= 0 {
				since = begin[a.Since]
			}
			if over := (at - since) % a.To; over != 0 {
				at += a.To - over
			}
			continue
		}
		if n := itemBits(item) / 8; n > 0 {
			at += n
			least = at
		}
	}
	return least - start
}

func (g *Codec) decodeMessage() {
	w := g.P.Wire
	g.add(gotree.F(`// DecodeMessage decodes one whole frame into m. The error is a wire.Error; m is of no use then. The frame is
// not kept, and nothing is allocated unless there is an error.
func DecodeMessage(b []byte, m *Message) error {
	if e := decode(b, m); e.Problem != 0 {
		return e
	}
	return nil
}`))
	name := "decode"
	if at, little := checksumAt(w); at >= 0 {
		name = "decodeItems"
		g.add(gotree.F(`func decode(b []byte, m *Message) wire.Error {
	if e := decodeItems(b, m); e.Problem != 0 {
		return e
	}
	if got, want := $1, wire.Checksum(b, $2); got != want {
		return wire.Error{Message: m.Kind.String(), Offset: $2, Problem: wire.Mismatch, Value: int64(got), Limit: int64(want)}
	}
	return wire.Error{}
}`, readNumber(32, little, gotree.Int(at)), at))
	}
	kinds := &gotree.Switch{Tag: gotree.X("kind")}
	for i, m := range g.P.Messages {
		if bodyCode(m) {
			kinds.Cases = append(kinds.Cases, g.kindCase(i, gotree.S("return $1(b, $2)", g.Messages[i].Decode,
				g.fieldsOf(i))...))
		}
	}
	var rest gotree.Block
	if len(kinds.Cases) > 0 {
		rest.Add(kinds)
	}
	if !w.Surplus {
		rest.P(`if len(b) > $1 {
				return wire.Error{Message: kind.String(), Offset: $1, Problem: wire.Trailing, Value: int64(len(b) - $1)}
			}`, w.HeaderLen)
	}
	g.add(gotree.F(`func $1(b []byte, m *Message) wire.Error {
	if len(b) < $2 {
		return wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: $2}
	}
	kind, total, e := readHeader(b)
	if e.Problem != 0 {
		return e
	}
	if len(b) < total {
		return wire.Error{Message: kind.String(), Problem: wire.Short, Value: int64(len(b)), Limit: int64(total)}
	}
	if len(b) > total {
		return wire.Error{Message: kind.String(), Offset: total, Problem: wire.Trailing, Value: int64(len(b) - total)}
	}
	*m = Message{Kind: kind}
	$3
	return e
}`, name, w.HeaderLen, rest.List))
}

// fieldsOf composes the place of a message's fields, if it has any.
func (g *Codec) fieldsOf(i int) []gotree.Expr {
	if g.Messages[i].Member == "" {
		return nil
	}
	return []gotree.Expr{gotree.X("&m.$1", g.Messages[i].Member)}
}

// bodyCode reports whether a message has functions of its own in the codec.
func bodyCode(m *model.Message) bool { return len(m.Layout) > 0 }

func (g *Codec) appendMessageCode() {
	w := g.P.Wire
	var b, lengths gotree.Block
	b.P("start := len(dst)")
	at := 0
	for _, item := range w.Header {
		place := gotree.Plus(gotree.X("start"), int64(at))
		switch it := item.(type) {
		case *model.WireLength:
			b.Add(appendNumber(it.Bits, it.Little, gotree.Int(0)),
				&gotree.Comment{Text: "// length, set below", Behind: true})
			n := gotree.Plus(gotree.X("len(dst) - start"), -int64(max(it.Less, 0)))
			if most := largest(it.Bits); uint64(w.Max-it.Less) > most {
				lengths.P(`if n := $1; n > $2 {
						return dst[:start], wire.Error{Message: m.Kind.String(), Offset: $3, Problem: wire.Range, Value: int64(n), Limit: $2}
					}`, n, most, at)
			}
			lengths.Add(putNumber(it.Bits, it.Little, place, n))
		case *model.WireType:
			g.appendType(it, &b)
		case *model.WireConst:
			b.Add(appendNumber(it.Bits, it.Little, gotree.Int(uint64(it.Value))))
		default:
			if checksum, ok := item.(*model.WireChecksum); ok {
				lengths.Add(putNumber(32, checksum.Little, place, gotree.X("wire.Checksum(dst[start:], $1)", at)))
			}
			b.Add(padCode(itemBits(item) / 8))
		}
		at += itemBits(item) / 8
	}
	kinds := &gotree.Switch{Tag: gotree.X("m.Kind")}
	for i, m := range g.P.Messages {
		if bodyCode(m) {
			kinds.Cases = append(kinds.Cases, g.kindCase(i, gotree.S("dst, e = $1(dst, start, $2)",
				g.Messages[i].Encode, g.fieldsOf(i))...))
		}
	}
	if len(kinds.Cases) > 0 {
		b.P("var e wire.Error\n$1\nif e.Problem != 0 {\nreturn dst[:start], e\n}", gotree.Stmt(kinds))
	}
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

// appendType composes the statement that appends the type number.
func (g *Codec) appendType(it *model.WireType, b *gotree.Block) {
	ids := make([]gotree.Elem, len(g.P.Messages))
	plain := true
	for i, m := range g.P.Messages {
		ids[i] = gotree.At(gotree.Name{Name: g.Messages[i].Kind}, gotree.Int(uint64(max(m.ID, 0))))
		plain = plain && m.ID == int64(i)
	}
	if len(g.P.Messages) == 0 {
		b.Comment("// There is no message.")
	}
	b.P(`if int(m.Kind) >= $1 {
			return dst[:start], wire.Error{Offset: len(dst) - start, Problem: wire.UnknownType, Value: int64(m.Kind)}
		}`, len(ids))
	if plain {
		b.Add(appendNumber(it.Bits, it.Little, gotree.X("m.Kind")))
		return
	}
	b.Add(appendNumber(it.Bits, it.Little, gotree.X("messageIDs[m.Kind]")))
	typ := gotree.Array{Len: gotree.Name{Name: "..."}, Elem: gotree.Name{Name: fmt.Sprintf("uint%d",
		max(goBits(it.Bits), 8))}}
	g.tail = append(g.tail, table{"// messageIDs are the type numbers.", "messageIDs",
		gotree.Composite{Type: typ, Elems: ids, Lines: true}})
}

func goBits(bits int) int {
	if bits == 24 {
		return 32
	}
	return bits
}

// putNumber composes the statement that writes a number at a place of dst.
func putNumber(bits int, little bool, at, v gotree.Expr) gotree.Stmt {
	switch bits {
	case 8:
		return gotree.S("dst[$1] = byte($2)", at, v)[0]
	case 24:
		if little {
			return gotree.S("{\nn := $2\ndst[$1], dst[$1+1], dst[$1+2] = byte(n), byte(n>>8), byte(n>>16)\n}", at, v)[0]
		}
		return gotree.S("{\nn := $2\ndst[$1], dst[$1+1], dst[$1+2] = byte(n>>16), byte(n>>8), byte(n)\n}", at, v)[0]
	}
	return gotree.S("$1.$2(dst[$3:], $4($5))", order(little), "PutUint"+strconv.Itoa(bits), at,
		"uint"+strconv.Itoa(bits), v)[0]
}

// padCode composes the statements that append zeros.
func padCode(n int) gotree.Stmt {
	if n > 16 {
		return gotree.S("dst = append(dst, make([]byte, $1)...)", n)[0]
	}
	return appended(zeros(n)...)
}

func zeros(n int) []gotree.Expr { return slices.Repeat([]gotree.Expr{gotree.Int(0)}, n) }

// checksumAt returns the offset of the checksum in the header; -1 if there is none.
func checksumAt(w *model.Wire) (at int, little bool) {
	for _, item := range w.Header {
		if it, ok := item.(*model.WireChecksum); ok {
			return it.Offset, it.Little
		}
	}
	return -1, false
}
