package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// codecFile holds the codecs of all messages, both ways, with the errors that
// package interp documents.
func (g *gen) codecFile() *jen.File {
	f := g.file(g.o.Package)
	w := g.p.Wire
	f.Comment("// maxFrame is the largest frame in bytes.")
	f.Const().Id("maxFrame").Op("=").Lit(w.Max)
	var t text
	if w.Lines {
		g.lineCodec(&t)
		f.Line()
		f.Add(raw(strings.TrimSpace(t.String())))
		return f
	}
	g.frameHead(&t)
	g.decodeMessage(&t)
	g.appendMessageCode(&t)
	for i, m := range g.p.Messages {
		g.decodeBody(m, g.messages[i], &t)
		g.encodeBody(m, g.messages[i], &t)
	}
	g.codeTables(&t)
	g.shape(&t)
	f.Line()
	f.Add(raw(strings.TrimSpace(t.String())))
	return f
}

// readNumber composes the number of so many bits at an offset of b; its Go type is the
// smallest that holds it.
func readNumber(bits int, little bool, at string) string {
	order := "binary.BigEndian"
	if little {
		order = "binary.LittleEndian"
	}
	switch bits {
	case 8:
		return "b[" + at + "]"
	case 24:
		shifts := [3]int{16, 8, 0}
		if little {
			shifts = [3]int{0, 8, 16}
		}
		return strings.Replace(fmt.Sprintf("uint32(b[%s])<<%d | uint32(b[%s])<<%d | uint32(b[%s])<<%d", at, shifts[0], add(at, 1), shifts[1], add(at, 2), shifts[2]), "<<0", "", 1)
	}
	return fmt.Sprintf("%s.Uint%d(b[%s:])", order, bits, at)
}

// appendNumber composes the appending of a number to dst.
func appendNumber(bits int, little bool, v string) string {
	order := "binary.BigEndian"
	if little {
		order = "binary.LittleEndian"
	}
	if n, err := strconv.ParseUint(v, 10, 64); err == nil && bits <= 32 { // a constant: its bytes
		var parts []string
		for i := range bits / 8 {
			k := bits/8 - 1 - i
			if little {
				k = i
			}
			parts = append(parts, strconv.Itoa(int(byte(n>>(8*k)))))
		}
		return "dst = append(dst, " + strings.Join(parts, ", ") + ")"
	}
	switch bits {
	case 8:
		return "dst = append(dst, byte(" + v + "))"
	case 24:
		v = "uint32(" + v + ")"
		if little {
			return fmt.Sprintf("dst = append(dst, byte(%s), byte(%s>>8), byte(%s>>16))", v, v, v)
		}
		return fmt.Sprintf("dst = append(dst, byte(%s>>16), byte(%s>>8), byte(%s))", v, v, v)
	}
	return fmt.Sprintf("dst = %s.AppendUint%d(dst, uint%d(%s))", order, bits, bits, v)
}

// add renders at + n, where at is a number or a name.
func add(at string, n int) string {
	if v, err := strconv.Atoi(at); err == nil {
		return strconv.Itoa(v + n)
	}
	if n == 0 {
		return at
	}
	return at + "+" + strconv.Itoa(n)
}

// largest is the greatest number of so many bits, as the bits of an int64.
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

// frameHead composes the reading of the header.
func (g *gen) frameHead(t *text) {
	w := g.p.Wire
	t.p("// FrameSize returns the length in bytes of the frame that starts at b[0], 0 if b is too short to tell, or an")
	t.p("// error, a wire.Error, if no valid frame can start so.")
	t.p("func FrameSize(b []byte) (int, error) {\nif len(b) < %d {\nreturn 0, nil\n}\n_, total, e := readHeader(b)\nif e.Problem != 0 {\nreturn 0, e\n}\nreturn total, nil\n}", w.HeaderLen)
	t.p("\n// readHeader reads the header of a frame that has at least its %d bytes.", w.HeaderLen)
	t.p("func readHeader(b []byte) (kind MessageKind, total int, e wire.Error) {")
	at, lengthAt, typed, length := 0, 0, false, "int64(len(b))"
	for _, item := range w.Header {
		pos := strconv.Itoa(at)
		switch it := item.(type) {
		case *model.WireLength:
			lengthAt = at
			length = "int64(" + readNumber(it.Bits, it.Little, pos) + ")"
			if it.Less > 0 {
				length += fmt.Sprintf(" + %d", it.Less)
			}
		case *model.WireType:
			typed = true
			t.p("switch id := %s; id {", readNumber(it.Bits, it.Little, pos))
			seen := map[int64]bool{}
			for i, m := range g.p.Messages {
				if m.ID >= 0 && uint64(m.ID) <= largest(it.Bits) && !seen[m.ID] {
					seen[m.ID] = true
					t.p("case %d:\nkind = %s", m.ID, g.messages[i].kind)
				}
			}
			t.p("default:\nreturn 0, 0, wire.Error{Offset: %d, Problem: wire.UnknownType, Value: int64(id)}\n}", at)
		case *model.WireConst:
			t.p("if v := %s; v != %d {\nreturn 0, 0, wire.Error{Offset: %d, Problem: wire.Mismatch, Value: int64(v), Limit: %d}\n}",
				readNumber(it.Bits, it.Little, pos), uint64(it.Value), at, it.Value)
		}
		at += itemBits(item) / 8
	}
	if !typed && len(g.p.Messages) != 1 {
		t.p("return 0, 0, wire.Error{Problem: wire.UnknownType}\n}")
		return
	}
	if len(g.p.Messages) == 0 { // every type was unknown
		t.p("}")
		return
	}
	t.p("size := %s", length)
	offset := ""
	if lengthAt != 0 {
		offset = fmt.Sprintf("Offset: %d, ", lengthAt)
	}
	least := make([]string, len(g.p.Messages))
	for i, m := range g.p.Messages {
		least[i] = fmt.Sprintf("%s: %d", g.messages[i].kind, w.HeaderLen+minBody(w.HeaderLen, m.Layout))
	}
	t.p("if least := int64(leastFrame[kind]); size < least {\nreturn 0, 0, wire.Error{Message: kind.String(), %sProblem: wire.Short, Value: size, Limit: least}\n}", offset)
	t.p("if size > maxFrame {\nreturn 0, 0, wire.Error{Message: kind.String(), %sProblem: wire.Long, Value: size, Limit: maxFrame}\n}", offset)
	t.p("return kind, int(size), e\n}")
	t.p("\n// leastFrame has the least length of each message's frame.\nvar leastFrame = [...]uint16{\n%s,\n}", strings.Join(least, ",\n"))
}

// minBody counts the bytes of a body whose lists and texts are empty, without
// aligning at the end.
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

func (g *gen) decodeMessage(t *text) {
	w := g.p.Wire
	t.p("\n// DecodeMessage decodes one whole frame into m. The error is a wire.Error; m is of no use then. The frame is")
	t.p("// not kept, and nothing is allocated unless there is an error.")
	t.p("func DecodeMessage(b []byte, m *Message) error {\nif e := decode(b, m); e.Problem != 0 {\nreturn e\n}\nreturn nil\n}")
	name := "decode"
	if at, little := checksumAt(w); at >= 0 {
		name = "decodeItems"
		t.p("\nfunc decode(b []byte, m *Message) wire.Error {\nif e := decodeItems(b, m); e.Problem != 0 {\nreturn e\n}")
		t.p("if got, want := %s, wire.Checksum(b, %d); got != want {", readNumber(32, little, strconv.Itoa(at)), at)
		t.p("return wire.Error{Message: m.Kind.String(), Offset: %d, Problem: wire.Mismatch, Value: int64(got), Limit: int64(want)}\n}\nreturn wire.Error{}\n}", at)
	}
	t.p("\nfunc %s(b []byte, m *Message) wire.Error {", name)
	t.p("if len(b) < %d {\nreturn wire.Error{Problem: wire.Short, Value: int64(len(b)), Limit: %d}\n}", w.HeaderLen, w.HeaderLen)
	t.p("kind, total, e := readHeader(b)\nif e.Problem != 0 {\nreturn e\n}")
	t.p("if len(b) < total {\nreturn wire.Error{Message: kind.String(), Problem: wire.Short, Value: int64(len(b)), Limit: int64(total)}\n}")
	t.p("if len(b) > total {\nreturn wire.Error{Message: kind.String(), Offset: total, Problem: wire.Trailing, Value: int64(len(b) - total)}\n}")
	t.p("*m = Message{Kind: kind}")
	var cases []string
	for i, m := range g.p.Messages {
		if bodyCode(m) {
			arg := ""
			if g.messages[i].member != "" {
				arg = ", &m." + g.messages[i].member
			}
			cases = append(cases, fmt.Sprintf("case %s:\nreturn %s(b%s)", g.messages[i].kind, g.messages[i].decode, arg))
		}
	}
	if len(cases) > 0 {
		t.p("switch kind {\n%s\n}", strings.Join(cases, "\n"))
	}
	if !w.Surplus {
		t.p("if len(b) > %d {\nreturn wire.Error{Message: kind.String(), Offset: %d, Problem: wire.Trailing, Value: int64(len(b) - %d)}\n}", w.HeaderLen, w.HeaderLen, w.HeaderLen)
	}
	t.p("return e\n}")
}

// bodyCode says whether a message has functions of its own in the codec.
func bodyCode(m *model.Message) bool { return len(m.Layout) > 0 }

func (g *gen) appendMessageCode(t *text) {
	w := g.p.Wire
	t.p("\n// AppendMessage appends the frame of m to dst. If m has no encoding the error is a wire.Error and dst is returned")
	t.p("// as it was.")
	t.p("func AppendMessage(dst []byte, m *Message) ([]byte, error) {\nstart := len(dst)")
	at, lengths := 0, ""
	for _, item := range w.Header {
		switch it := item.(type) {
		case *model.WireLength:
			t.p("%s // length, set below", appendNumber(it.Bits, it.Little, "0"))
			n := "len(dst)-start"
			if it.Less > 0 {
				n += fmt.Sprintf("-%d", it.Less)
			}
			most := largest(it.Bits)
			if uint64(w.Max-it.Less) > most {
				lengths += fmt.Sprintf("if n := %s; n > %d {\nreturn dst[:start], wire.Error{Message: m.Kind.String(), Offset: %d, Problem: wire.Range, Value: int64(n), Limit: %d}\n}\n", n, most, at, most)
			}
			lengths += putNumber(it.Bits, it.Little, fmt.Sprintf("start+%d", at), n)
		case *model.WireType:
			g.appendType(it, t)
		case *model.WireConst:
			t.p("%s", appendNumber(it.Bits, it.Little, strconv.FormatUint(uint64(it.Value), 10)))
		default:
			if checksum, ok := item.(*model.WireChecksum); ok {
				lengths += putNumber(32, checksum.Little, fmt.Sprintf("start+%d", at), fmt.Sprintf("wire.Checksum(dst[start:], %d)", at))
			}
			t.p("%s", padCode(itemBits(item)/8))
		}
		at += itemBits(item) / 8
	}
	var cases []string
	for i, m := range g.p.Messages {
		if bodyCode(m) {
			arg := ""
			if g.messages[i].member != "" {
				arg = ", &m." + g.messages[i].member
			}
			cases = append(cases, fmt.Sprintf("case %s:\ndst, e = %s(dst, start%s)", g.messages[i].kind, g.messages[i].encode, arg))
		}
	}
	if len(cases) > 0 {
		t.p("var e wire.Error\nswitch m.Kind {\n%s\n}\nif e.Problem != 0 {\nreturn dst[:start], e\n}", strings.Join(cases, "\n"))
	}
	t.p("if n := len(dst) - start; n > maxFrame {\nreturn dst[:start], wire.Error{Message: m.Kind.String(), Problem: wire.Long, Value: int64(n), Limit: maxFrame}\n}")
	t.p("%sreturn dst, nil\n}", lengths)
}

// appendType composes the appending of the type number.
func (g *gen) appendType(it *model.WireType, t *text) {
	ids := make([]string, len(g.p.Messages))
	plain := true
	for i, m := range g.p.Messages {
		ids[i] = fmt.Sprintf("%s: %d", g.messages[i].kind, uint64(max(m.ID, 0)))
		plain = plain && m.ID == int64(i)
	}
	if len(g.p.Messages) == 0 {
		t.p("// There is no message.")
	}
	t.p("if int(m.Kind) >= %d {\nreturn dst[:start], wire.Error{Offset: len(dst) - start, Problem: wire.UnknownType, Value: int64(m.Kind)}\n}", len(ids))
	if plain {
		t.p("%s", appendNumber(it.Bits, it.Little, "m.Kind"))
		return
	}
	t.p("%s", appendNumber(it.Bits, it.Little, "messageIDs[m.Kind]"))
	g.tail = append(g.tail, fmt.Sprintf("// messageIDs are the type numbers.\nvar messageIDs = [...]uint%d{\n%s,\n}", max(goBits(it.Bits), 8), strings.Join(ids, ",\n")))
}

func goBits(bits int) int {
	if bits == 24 {
		return 32
	}
	return bits
}

// putNumber composes the writing of a number at a place of dst.
func putNumber(bits int, little bool, at, v string) string {
	order := "binary.BigEndian"
	if little {
		order = "binary.LittleEndian"
	}
	switch bits {
	case 8:
		return fmt.Sprintf("dst[%s] = byte(%s)\n", at, v)
	case 24:
		if little {
			return fmt.Sprintf("{\nn := %s\ndst[%s], dst[%s+1], dst[%s+2] = byte(n), byte(n>>8), byte(n>>16)\n}\n", v, at, at, at)
		}
		return fmt.Sprintf("{\nn := %s\ndst[%s], dst[%s+1], dst[%s+2] = byte(n>>16), byte(n>>8), byte(n)\n}\n", v, at, at, at)
	}
	return fmt.Sprintf("%s.PutUint%d(dst[%s:], uint%d(%s))\n", order, bits, at, bits, v)
}

// padCode composes the appending of zeros.
func padCode(n int) string {
	if n > 16 {
		return fmt.Sprintf("dst = append(dst, make([]byte, %d)...)", n)
	}
	return "dst = append(dst, " + zeros(n) + ")"
}

// checksumAt returns where the header has its checksum, or -1.
func checksumAt(w *model.Wire) (at int, little bool) {
	for _, item := range w.Header {
		if it, ok := item.(*model.WireChecksum); ok {
			return it.Offset, it.Little
		}
	}
	return -1, false
}

func zeros(n int) string { return strings.TrimSuffix(strings.Repeat("0, ", n), ", ") }

// codeTables emits the tables of enumerations whose codes on the wire are not their numbers.
func (g *gen) codeTables(t *text) {
	for _, s := range g.tail {
		t.p("\n%s", s)
	}
}
