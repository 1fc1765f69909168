package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

func (g *Codec) encodeBody(m *model.Message, n types.MessageNames) {
	if !bodyCode(m) {
		return
	}
	e := &layout{g: g, t: &gotree.Block{}, message: m.Name, counts: map[*model.Field]string{}}
	for _, h := range m.Head {
		e.putHead(h, gotree.X("m"), n.Fields)
	}
	e.encode(m.Layout, gotree.X("m"), n.Fields, "")
	more := e.shortenPut(n.Encode)
	code := ints.Merged(e.t.List)
	g.add(gotree.F("func $1(dst []byte, $2 int, _ $3) ([]byte, error) {\n$4\nreturn dst, nil\n}",
		n.Encode, gotree.Used(code, "start"), fieldsParam(code, n), code))
	for _, f := range more {
		g.add(f)
	}
}

// shortenPut makes functions of the longest loops over records, until the rest is short enough.
func (e *layout) shortenPut(name string) []*gotree.Func {
	var out []*gotree.Func
	e.sortRounds()
	for _, r := range e.rounds {
		if gotree.Lines(e.t.List) <= base.Longest-5 {
			break
		}
		fn := e.g.Top.Take(name + base.GoName(r.field))
		body := ints.Merged(slices.Clone(r.loop.Body[r.from+1 : r.to])) // the first statement is e
		f := gotree.F(`func $1(dst []byte, $4 int, $5 *$2) ([]byte, error) {
			$3
			return dst, nil
		}`, fn, r.elem.X, body, gotree.Used(body, "start"), r.name)
		f.Doc = base.Comment(fn, "appends an element of "+r.field+".")
		out = append(out, f)
		call := gotree.S(`var err error
			if dst, err = $1(dst, start, &$2); err != nil {
				return dst, err
			}`, fn, r.of)
		r.loop.Body = slices.Replace(slices.Clone(r.loop.Body), r.from, r.to, call...)
	}
	return out
}

// here composes the offset of the next item.
var here = gotree.X("len(dst) - start")

func (e *layout) encode(items []model.WireItem, of gotree.Expr, names []string, prefix string) {
	used := anchors(items)
	begin := map[int]gotree.Expr{}
	e.begins = append(e.begins, begin)
	defer func() { e.begins = e.begins[:len(e.begins)-1] }()
	var sums []sumAhead
	defer func() { e.putSummed(sums, len(items)) }()
	for i, item := range items {
		e.putSummed(sums, i)
		if used[i] {
			begin[i] = gotree.Name{Name: fmt.Sprintf("since%d%d", e.nested, i)}
			e.t.P("$1 := $2", begin[i], here)
		}
		switch it := item.(type) {
		case *model.WireInt:
			e.putInt(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePad:
			e.t.Add(padCode(it.Bytes))
		case *model.WireAddress:
			e.putAddress(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePresent:
			if it.Field.Type.Kind == model.KindOptional {
				e.t.Add(ints.Append(it.Number, e.ordinal(gotree.X("$1.Present", e.member(of, names, it.Field)))))
				continue
			}
			one, over := elements(it.Of, e.member(of, names, it.Field))
			e.t.P("for i := range $1 {\ndst = append(dst, byte($2))\n}", over, e.ordinal(gotree.X("$1.Present", one)))
			e.behind(it.Of, 1)
		case *model.WireConst:
			e.t.Add(ints.Append(it.Number, ints.Const(it)))
		case *model.WireWord:
			e.putWord(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireLiteral:
			e.t.P("dst = append(dst, $1...)", gotree.Str(it.Bytes))
		case *model.WireSum:
			if it.Ahead {
				sums = append(sums, e.putSumAhead(it, i))
				continue
			}
			e.putSum(it)
		case *model.WireBits:
			e.putBits(it, of, names, prefix)
		case *model.WireSized:
			e.putSized(it, of, names, prefix)
		case *model.WireIf:
			e.putPart(it, of, names, prefix)
		case *model.WireCase:
			e.putChoice(it, of, names, prefix)
		case *model.WireSpace:
			if it.Blanks > 0 {
				e.t.P("dst = append(dst, $1...)", gotree.Str(strings.Repeat(" ", it.Blanks)))
			}
		case *model.WireAlign:
			at := here
			if it.Since >= 0 {
				at = gotree.X("$1 - $2", here, begin[it.Since])
			}
			e.t.P("for $1 % $2 != 0 {\ndst = append(dst, 0)\n}", at, it.To)
		case *model.WireCount:
			e.putCount(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireEach:
			e.putNamed(it, of, names, prefix)
			e.putEach(it, e.member(of, names, it.Field), prefix+it.Field.Name, prefix)
		case *model.WireBytes:
			e.putText(it, e.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireRun:
			place := e.member(of, names, it.Field)
			checks, v := e.checked(it.Field.Type, &model.WireInt{Number: model.Number{Bits: 16}}, place,
				prefix+it.Field.Name)
			e.t.Add(checks...)
			e.t.P("dst = wire.AppendRun(dst, int($1), $2)", v, int(it.Byte))
		case *model.WireValue:
			e.encodeValue(it.Field.Type, e.member(of, names, it.Field), prefix+it.Field.Name)
		default:
			e.g.Fail(item.Pos(), "the generator does not know this wire item")
		}
	}
}

// ordinal converts a truth value to 0 or 1.
func (e *layout) ordinal(x gotree.Expr) gotree.Expr {
	e.g.Helpers["ordinal"] = true
	return gotree.X("ordinal($1)", x)
}

func (e *layout) putInt(it *model.WireInt, place gotree.Expr, field string) {
	t := it.Field.Type
	if t.Kind == model.KindOptional {
		e.t.P("if $1.Present {\n$2\n} else {\n$3\n}", place,
			e.scalarOut(t.Elem, it, gotree.X("$1.Value", place), field),
			ints.Append(it.Number, ints.None(it)))
		return
	}
	e.t.Add(e.scalarOut(t, it, place, field)...)
}

// scalarOut composes the statements that append a scalar.
func (e *layout) scalarOut(t *model.Type, it *model.WireInt, place gotree.Expr, field string) []gotree.Stmt {
	checks, v := e.checked(t, it, place, field)
	if it.Bits == 8 && it.Varint == model.Fixed && ints.Plain(it.Number) == it.Number &&
		e.g.Typ(t, "").Name == "uint8" && gotree.Equal(v, place) {
		return append(checks, ints.Appended(v))
	}
	return append(checks, ints.Append(it.Number, v))
}

// checked composes the number of a scalar, and the checks that it can be written.
func (e *layout) checked(t *model.Type, it *model.WireInt, place gotree.Expr, field string) ([]gotree.Stmt,
	gotree.Expr) {
	var s gotree.Block
	refuse := func(template string, limit any, value gotree.Expr) {
		s.P("if "+template+" {\nreturn dst, $3\n}", value, limit,
			e.err(field, here, "Range", gotree.X("int64($1)", value), gotree.X("$1", limit)))
	}
	v := place
	lo, hi := it.Range()
	switch t.Kind {
	case model.KindBool:
		v = e.ordinal(place)
	case model.KindEnum:
		most, plain := int64(0), true
		for i, c := range t.Codes {
			most, plain = max(most, c), plain && c == int64(i)
		}
		s.P("if int($1) >= $2 {\nreturn dst, $3\n}", place, len(t.Names),
			e.err(field, here, "Range", gotree.X("int64($1)", place), gotree.Int(len(t.Names)-1)))
		if !plain {
			v = gotree.X("$1[$2]", e.g.codeTable(t), place)
		}
		if uint64(most) > hi {
			refuse("$1 > $2", hi, v)
		}
	case model.KindOpaque:
		if t.Bits > it.Bits {
			refuse("$1 > $2", hi, place)
		}
	default:
		if types.Fits(t, lo-1) && lo > -1<<62 {
			refuse("$1 < $2", lo, place)
		}
		if hi < 1<<62 && types.Fits(t, int64(hi)+1) {
			refuse("$1 > $2", hi, place)
		}
	}
	return s.List, v
}

// putBits appends a number with several items.
func (e *layout) putBits(it *model.WireBits, of gotree.Expr, names []string, prefix string) {
	word, fixed := ints.Type(it.Number), uint64(0)
	var code gotree.Block
	for _, part := range it.Parts {
		switch x := part.Item.(type) {
		case *model.WireConst:
			fixed |= uint64(x.Value) & ints.Largest(x.Bits) << part.Shift
		case *model.WirePresent:
			code.P("word |= $1", ints.Shifted(word, &model.WireInt{Number: model.Number{Bits: part.Bits}},
				e.ordinal(gotree.X("$1.Present", e.member(of, names, x.Field))), part.Shift))
		case *model.WireInt:
			code.Add(e.bitsOf(x, e.member(of, names, x.Field), prefix+x.Field.Name, func(v gotree.Expr) gotree.Stmt {
				return gotree.S("word |= $1", ints.Shifted(word, x, v, part.Shift))[0]
			})...)
		}
	}
	if len(code.List) == 0 {
		e.t.Add(ints.Append(it.Number, gotree.Int(fixed)))
		return
	}
	e.t.P("{\nword := $1($2)\n$3\n$4\n}", word, fixed, code.List, ints.Append(it.Number, gotree.X("word")))
}

// bitsOf composes statements that give the number of a field to put.
func (e *layout) bitsOf(it *model.WireInt, place gotree.Expr, field string,
	put func(v gotree.Expr) gotree.Stmt) []gotree.Stmt {
	t := it.Field.Type
	if t.Kind != model.KindOptional {
		checks, v := e.checked(t, it, place, field)
		return append(checks, put(v))
	}
	checks, v := e.checked(t.Elem, it, gotree.X("$1.Value", place), field)
	return gotree.S("if $1.Present {\n$2\n$3\n} else {\n$4\n}", place, checks, put(v), put(ints.None(it)))
}

// putHead puts what a message has in the header there.
func (e *layout) putHead(h model.HeadField, of gotree.Expr, names []string) {
	at := gotree.Plus(gotree.X("start"), int64(h.At))
	word := ints.Type(h.In)
	put := func(v gotree.Expr) gotree.Stmt {
		if h.In.Bits == 8 {
			return gotree.S("dst[$1] |= $2", at, v)[0]
		}
		old := gotree.X("wire.Unsigned(dst[$1:$2], $3)", at, gotree.Plus(at, int64(h.In.Bits/8)), h.In.Little)
		return ints.Put(h.In, at, gotree.X("$1 | uint64($2)", old, v))
	}
	switch it := h.Item.(type) {
	case *model.WireConst:
		if it.Value != 0 {
			e.t.Add(put(gotree.Int(uint64(it.Value) & ints.Largest(it.Bits) << h.Shift)))
		}
	case *model.WireInt:
		e.t.Add(e.bitsOf(it, e.member(of, names, it.Field), it.Field.Name, func(v gotree.Expr) gotree.Stmt {
			return put(ints.Shifted(word, it, v, h.Shift))
		})...)
	}
}

// codeTable returns the name of the table of an enumeration's codes on the wire.
func (g *Codec) codeTable(t *model.Type) string {
	gt := g.Typ(t, "")
	if name := g.codes[gt]; name != "" {
		return name
	}
	name := g.Top.Take(base.Unexported(gt.Name) + "Codes")
	g.codes[gt] = name
	most := int64(0)
	codes := make([]gotree.Expr, len(t.Codes))
	for i, c := range t.Codes {
		most = max(most, c)
		codes[i] = gotree.Int(c)
	}
	width := types.Width(&model.Type{Kind: model.KindInt, Hi: most})
	g.tail = append(g.tail, table{base.Comment(name, "are the numbers of "+gt.Name+" on the wire."), name,
		gotree.X("[...]$1{$2}", width, codes)})
	return name
}

func (e *layout) putCount(it *model.WireCount, place gotree.Expr, field string) {
	t := it.Field.Type
	if t.Kind == model.KindArray {
		e.t.P("{\nn := 0\nfor i := range $1 {\nif $1[i].Present {\nn++\n}\n}\n$2\n}", place,
			ints.Append(it.Number, gotree.X("n")))
		return
	}
	_, hi := it.Range()
	most := min(uint64(t.Cap), hi)
	n := gotree.X("$1.Len", place)
	e.t.P("if int($1) > $2 {\nreturn dst, $3\n}", n, most, e.err(field, here, "Count", gotree.X("int64($1)", n),
		gotree.Int(most)))
	e.t.Add(ints.Append(it.Number, n))
}

func (e *layout) putEach(it *model.WireEach, place gotree.Expr, field, prefix string) {
	t := it.Field.Type
	e.nested++
	one, over := elements(it, place)
	if t.Kind != model.KindArray {
		one, over = gotree.X("$1.Items[i]", place), gotree.X("$1.Items[:min(int($1.Len), $2)]", place, t.Cap)
	}
	before, list := e.took, e.list
	e.took, e.list = "", ""
	if it.Last {
		e.took = fmt.Sprintf("took%d", e.nested)
		e.list = e.took
		e.t.P("$1 := false", e.took)
	}
	from, to, call := 0, 0, false
	code := e.inner(func() {
		if it.Last {
			e.t.P("if $1 {\nreturn dst, $2\n}", e.took, e.err(field, here, "Trailing",
				gotree.X("int64(int($1.Len) - i)", place), nil))
		}
		if it.Until != nil {
			e.t.P("begin := len(dst)")
		}
		if it.Present != nil {
			e.t.P("if !$1.Present {\n$2\ncontinue\n}", one, padCode(it.RowBytes))
		}
		from = len(e.t.List)
		call = e.putElement(it.Items, t, one, field)
		to = len(e.t.List)
		if it.Until != nil {
			v := gotree.X("wire.Unsigned(dst[begin:begin+$1], $2)", it.Until.Bits/8, it.Until.Little)
			e.t.P("if $1 == $2 {\nreturn dst, $3\n}", v, it.Until.Value,
				e.err(field, gotree.X("begin - start"), "EndMark", gotree.Int(it.Until.Value), nil))
		}
		if len(it.Named) > 0 {
			e.t.P("if wire.Named(dst[begin:], $1[:]) >= 0 {\nreturn dst, $2\n}", e.g.rowTable(it, prefix),
				e.err(field, gotree.X("begin - start"), "RowName", nil, nil))
		}
	})
	if it.ToEnd || it.Until != nil {
		e.t.P("if int($1.Len) > $2 {\nreturn dst, $3\n}", place, t.Cap, e.err(field, here, "Count",
			gotree.X("int64($1.Len)", place), gotree.Int(t.Cap)))
	}
	loop := &gotree.Range{Key: gotree.X("i"), X: over, Body: code}
	if !call && t.Elem.Kind == model.KindRecord && it.Present == nil && !it.Last {
		e.rounds = append(e.rounds, round{loop: loop, field: field, elem: e.g.Typ(t.Elem, ""), of: one,
			name: e.rowName(), depth: e.nested, from: from, to: to})
	}
	e.t.Add(loop)
	e.list = list
	if e.took = before; it.ToEnd && before != "" {
		e.t.P("$1 = true", before)
	}
	if it.Until != nil {
		e.t.Add(ints.Append(it.Until.Number, gotree.Int(it.Until.Value)))
	}
	if t.Kind == model.KindList && it.Rows > 0 {
		e.t.P("dst = append(dst, make([]byte, ($1-min(int($2.Len), $3))*$4)...)", it.Rows, place, t.Cap, it.RowBytes)
	} else if it.Rows > 0 {
		e.behind(it, it.RowBytes)
	}
	e.nested--
}

// behind composes the zeros of the rows for which an array has no elements.
func (e *layout) behind(it *model.WireEach, size int) {
	if from, to := it.Elements(); it.Rows > to-from {
		e.t.Add(padCode((it.Rows - (to - from)) * size))
	}
}

// row composes the place of an element in its loop: a variable for a record.
func (e *layout) row(t *model.Type, one gotree.Expr) gotree.Expr {
	if t.Elem.Kind != model.KindRecord {
		return one
	}
	e.t.P("$1 := &$2", e.rowName(), one)
	return gotree.Name{Name: e.rowName()}
}

// rowName is the name of an element in the loop at hand.
func (e *layout) rowName() string {
	if e.nested > 1 {
		return "e" + strconv.Itoa(e.nested)
	}
	return "e"
}

// putAddress appends an instance as its number + 1. The link replaces that by the instance's address.
func (e *layout) putAddress(it *model.WireAddress, place gotree.Expr, field string) {
	put := func(v gotree.Expr) []gotree.Stmt {
		return gotree.S("if $1 < -1 || $1 > 254 {\nreturn dst, $2\n}\ndst = append(dst, byte($1)+1, $3)", v,
			e.err(field, here, "Range", gotree.X("int64($1)", v), gotree.Int(254)), zeros(it.Bytes-1))
	}
	if it.Field.Type.Kind == model.KindOptional {
		e.t.P("if $1.Present {\n$2\n} else {\n$3\n}", place, put(gotree.X("$1.Value", place)), padCode(it.Bytes))
		return
	}
	e.t.Add(put(place)...)
}

func (e *layout) putText(it *model.WireBytes, place gotree.Expr, field string) {
	most := it.Field.Type.Cap
	put := gotree.S("dst = append(dst, text...)")
	if it.Domain {
		put = gotree.S("out, bad := wire.AppendDomain(dst, text)\nif bad >= 0 {\nreturn dst, $1\n}\ndst = out",
			e.err(field, gotree.X("len(dst) - start + bad"), "Range", gotree.X("int64(len(text))"), gotree.Int(63)))
	}
	if it.Whole {
		put = gotree.S("if len(text) < $1 {\nreturn dst, $2\n}\ndst = append(dst, text...)", most,
			e.err(field, here, "Count", gotree.X("int64(len(text))"), gotree.Int(most)))
	}
	if it.Nul {
		put = gotree.S("if bytes.IndexByte(text, 0) >= 0 {\nreturn dst, $1\n}\ndst = append(append(dst, text...), 0)",
			e.err(field, here, "Unterminated", gotree.X("int64(len(text))"), gotree.Int(most)))
	}
	if it.End != "" {
		put = gotree.S("if !wire.Holds(text, $1, $2) {\nreturn dst, $3\n}\ndst = append(append(dst, text...), $1...)",
			gotree.Str(it.End), it.LoneLF,
			e.err(field, here, "Unterminated", gotree.X("int64(len(text))"), gotree.Int(most)))
		if !it.Field.Type.Binary {
			put = append(gotree.S("if i := wire.BadByte(text, $1, false); i >= 0 {\nreturn dst, $2\n}",
				gotree.Str(it.Field.Type.Without),
				e.err(field, gotree.X("len(dst) - start + i"), "Charset", gotree.X("int64(text[i])"), nil)), put...)
		}
	}
	if it.Tight {
		put = append(gotree.S("if wire.Spaces(text) > 0 {\nreturn dst, $1\n}", e.err(field, here, "Charset",
			gotree.X("int64(text[0])"), nil)), put...)
	}
	if bad := types.BadIn(it.Field.Type, "text"); bad != nil {
		put = append(gotree.S("if i := $1; i >= 0 {\nreturn dst, $2\n}", bad, e.err(field,
			gotree.X("len(dst) - start + i"), "Charset", gotree.X("int64(text[i])"), nil)), put...)
		if it.Whole || it.Nul { // what is wrong with the length comes first
			put = append(put[1:2:2], append(put[:1:1], put[2:]...)...)
		}
	}
	e.t.P("{\ntext := $1.Data[:min(int($1.Len), $2)]\n$3\n}", place, most, put)
	if it.XorAt > 0 {
		e.t.P("wire.XorBytes(dst[len(dst)-min(int($1.Len), $2):], dst[$3:])", place, most,
			gotree.Plus(gotree.X("start"), int64(it.XorAt-1)))
	}
	if it.Rest && e.took != "" {
		e.t.P("$1 = true", e.took)
	}
}
