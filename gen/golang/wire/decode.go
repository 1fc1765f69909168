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

// layout composes the decoding or encoding of the items of one message.
type layout struct {
	g       *Codec
	t       *gotree.Block
	message string
	at      gotree.Expr // offset of the next item: a number as long as it is known, else `at`
	sure    int         // so many bytes of the frame are known to be there
	counts  map[*model.Field]string
	ahead   map[string]bool // the variables of counts that are declared before the rows that may have them
	nested  int
	regions int
	unions  int
	last    bool                  // nobody asks where the item at hand ends
	begins  []map[int]gotree.Expr // where items begin, of the lists of items that enclose each other
	list    string                // as took, also in regions within an element
	took    string                // when writing elements: the variable that notes that one took the rest
	rounds  []round
	elem    *types.Type // of a function that decodes or encodes an element, which is e
	split   bool        // and long kinds of its union are functions
	opened  string      // or e is the record of this optional field
}

// round is a loop over the records of a list. It can become a function.
type round struct {
	loop  *gotree.Range
	field string
	elem  *types.Type
	of    gotree.Expr
	name  string // of the element in the loop
	depth int
	// from and to are the statements of an element in the body, when it is written.
	from, to int
}

func (g *Codec) decodeBody(m *model.Message, n types.MessageNames) {
	if !bodyCode(m) {
		return
	}
	w := g.P.Wire
	d := &layout{g: g, t: &gotree.Block{}, message: m.Name, at: gotree.Int(w.HeaderLen),
		counts: map[*model.Field]string{},
		sure:   w.HeaderLen + model.LeastBody(w.HeaderLen, m.Layout)}
	done := gotree.X("wire.Error{}")
	if w.Self {
		d.sure = 0
	}
	for _, h := range m.Head {
		d.at = gotree.Int(h.At)
		d.bit(h.Item, ints.Of(h.Item).Bits, ints.Cut(ints.Read(h.In, d.at), ints.Type(h.In), h.In.Bits,
			model.WireBit{Item: h.Item, Shift: h.Shift, Bits: ints.Of(h.Item).Bits}), gotree.X("m"), n.Fields, "")
	}
	d.at = gotree.Int(w.HeaderLen)
	if w.Varies {
		d.at = gotree.X("at")
	}
	d.decode(m.Layout, gotree.X("m"), n.Fields, "")
	if w.Self {
		done = gotree.X("wire.Error{Offset: $1}", d.at)
	} else if !w.Surplus {
		d.t.P("if len(b) > $1 {\nreturn $2\n}", d.at, d.err("", d.at, "Trailing",
			gotree.X("int64(len(b) - $1)", d.at), nil))
	} else if n := len(m.Layout); n > 0 {
		if last, ok := m.Layout[n-1].(*model.WireEach); ok && last.Until != nil {
			d.t.P("_ = $1", d.at) // nobody looks behind the list
		}
	}
	more := d.shorten(n.Decode)
	d.t.Add(gotree.Returns(done))
	params := fieldsParam(d.t.List, n)
	if w.Varies {
		params = append([]gotree.Param{{Name: gotree.Used(d.t.List, "at"), Type: gotree.X("int")}}, params...)
	}
	g.add(gotree.F("func $1($2 []byte, _ $3) wire.Error {\n$4\n}", n.Decode,
		gotree.Used(d.t.List, "b"), params, d.t.List))
	for _, f := range more {
		g.add(f)
	}
}

// shorten makes functions of the longest loops over records, until the rest is short enough.
func (d *layout) shorten(name string) []*gotree.Func {
	var out []*gotree.Func
	d.sortRounds()
	for _, r := range d.rounds {
		if gotree.Lines(d.t.List) <= base.Longest-5 {
			break
		}
		fn := d.g.Top.Take(name + base.GoName(r.field))
		body := gotree.Returning(r.loop.Body[1:], gotree.X("at")) // the first statement is e
		f := gotree.F(`func $1(b []byte, at int, $4 *$2) (int, wire.Error) {
			$3
			return at, wire.Error{}
		}`, fn, r.elem.X, body, r.name)
		f.Doc = base.Comment(fn, "decodes an element of "+r.field+". It returns the offset behind it.")
		out = append(out, f)
		r.loop.Body = gotree.S("var err wire.Error\nif at, err = $1(b, at, &$2); err.Problem != 0 {\nreturn err\n}",
			fn, r.of)
	}
	return out
}

// sortRounds puts the loops first that are within others, then the longest.
func (d *layout) sortRounds() {
	slices.SortStableFunc(d.rounds, func(a, b round) int {
		if a.depth != b.depth {
			return b.depth - a.depth
		}
		return gotree.Lines(b.loop.Body) - gotree.Lines(a.loop.Body)
	})
}

// inner returns the statements that compose appends, instead of appending them.
func (d *layout) inner(compose func()) []gotree.Stmt {
	outer := d.t
	d.t = &gotree.Block{}
	compose()
	list := d.t.List
	d.t = outer
	return list
}

// err composes an error value. It leaves out parts that are nil or 0.
func (d *layout) err(field string, offset gotree.Expr, problem string, value, limit gotree.Expr) gotree.Expr {
	elems := []gotree.Elem{gotree.Field("Message", d.messageName())}
	if field != "" {
		elems = append(elems, gotree.Field("Field", gotree.Str(field)))
	}
	some := func(name string, x gotree.Expr) {
		if n, ok := gotree.Number(x); x != nil && !(ok && n == 0) {
			elems = append(elems, gotree.Field(name, x))
		}
	}
	some("Offset", offset)
	elems = append(elems, gotree.Field("Problem", gotree.X("wire.$1", problem)))
	some("Value", value)
	some("Limit", limit)
	return gotree.Struct(gotree.X("wire.Error"), elems...)
}

// known returns the offset of the next item, if that is a constant.
func (d *layout) known() (int, bool) {
	n, ok := gotree.Number(d.at)
	return int(n), ok
}

// need appends the check that n more bytes are there. It appends nothing if that is known.
func (d *layout) need(field string, n int) {
	if at, ok := d.known(); ok && at+n <= d.sure {
		return
	}
	end := gotree.Plus(d.at, int64(n))
	d.t.P("if len(b) < $1 {\nreturn $2\n}", end, d.err(field, d.at, "Short", gotree.X("int64(len(b))"),
		gotree.X("int64($1)", end)))
}

// advance moves the offset by a fixed number of bytes.
func (d *layout) advance(n int) {
	if d.last {
		return
	}
	if _, ok := d.known(); ok {
		d.at = gotree.Plus(d.at, int64(n))
	} else if n == 1 {
		d.t.P("at++")
	} else {
		d.t.P("at += $1", n)
	}
}

// float appends a variable for the offset.
func (d *layout) float() {
	if _, ok := d.known(); ok {
		d.t.P("at := $1", d.at)
		d.at = gotree.X("at")
	}
}

func (d *layout) decode(items []model.WireItem, of gotree.Expr, names []string, prefix string) {
	asked := items
	if n := len(items); d.nested == 0 && d.g.P.Wire.Surplus && n > 0 && isAlign(items[n-1]) {
		asked = items[:n-1] // nobody looks at it
	}
	used := anchors(asked)
	begin := map[int]gotree.Expr{}
	d.begins = append(d.begins, begin)
	defer func() { d.begins = d.begins[:len(d.begins)-1] }()
	var sums []sumAhead
	defer func() { d.summed(sums, len(items)) }()
	for i, item := range items {
		d.summed(sums, i)
		if used[i] {
			begin[i] = d.at
			if _, ok := d.known(); !ok {
				begin[i] = gotree.Name{Name: fmt.Sprintf("since%d%d", d.nested, i)}
				d.t.P("$1 := at", begin[i])
			}
		}
		d.last = d.nested == 0 && d.g.P.Wire.Surplus && (i == len(items)-1 || i == len(items)-2 && isAlign(items[i+1]))
		switch it := item.(type) {
		case *model.WireInt:
			d.int(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePad:
			d.need("", it.Bytes)
			d.advance(it.Bytes)
		case *model.WireConst:
			d.number(it.Number, "", true, func(v gotree.Expr) []gotree.Stmt {
				return gotree.S("if v := $1; v != $2 {\nreturn $3\n}", v, ints.Const(it),
					d.err("", d.at, "Mismatch", gotree.X("int64(v)"), gotree.Int(it.Value)))
			})
		case *model.WireWord:
			d.word(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireLiteral:
			if d.g.P.Wire.Self {
				d.literal(it)
				continue
			}
			d.need("", len(it.Bytes))
			d.t.P("if i := wire.Differs(b[$1:], $2); i >= 0 {\nreturn $3\n}", d.at, gotree.Str(it.Bytes),
				literalError(d.messageName(), d.at, it.Bytes))
			d.advance(len(it.Bytes))
		case *model.WireSum:
			if it.Ahead {
				sums = append(sums, d.sumAhead(it, i))
				continue
			}
			d.sum(it)
		case *model.WireBits:
			d.bits(it, of, names, prefix)
		case *model.WireSpace:
			d.float()
			d.t.P("at += wire.Spaces(b[at:])")
		case *model.WireAlign:
			if i < len(items)-1 || d.nested > 0 || !d.g.P.Wire.Surplus {
				d.align(it, begin)
			}
		case *model.WireAddress:
			d.address(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WirePresent:
			d.present(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireSized:
			d.last = false
			d.sized(it, of, names, prefix)
		case *model.WireIf:
			d.last = false
			d.part(it, of, names, prefix)
		case *model.WireCase:
			d.last = false
			d.choice(it, of, names, prefix)
		case *model.WireCount:
			d.count(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireEach:
			d.each(it, of, names, prefix)
		case *model.WireBytes:
			d.text(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireRun:
			d.run(it, d.member(of, names, it.Field), prefix+it.Field.Name)
		case *model.WireValue:
			d.last = false // it is several numbers
			d.decodeValue(it.Field.Type, d.member(of, names, it.Field), prefix+it.Field.Name)
		default:
			d.g.Fail(item.Pos(), "the generator does not know this wire item")
		}
	}
}

// member composes the place of a field. A list of single values has a field without a name in its
// layout, which stands for the element itself.
func (d *layout) member(of gotree.Expr, names []string, f *model.Field) gotree.Expr {
	switch {
	case f.Name == "":
		return of
	case f.Path != nil && f.Path[0].Unwrapped && d.opened == f.Path[0].Name:
		place := gotree.X("$1", of)
		for i, step := range f.Path[1:] {
			place = gotree.X("$1.$2", place, d.g.Typ(f.Path[i].Type, "").Fields[step.Index])
		}
		return place
	case f.Path == nil && f.Unwrapped:
		return gotree.X("$1.$2.Value", of, names[f.Index])
	case f.Path == nil:
		return gotree.X("$1.$2", of, names[f.Index])
	}
	place := gotree.X("$1.$2", of, names[f.Path[0].Index])
	if f.Path[0].Unwrapped {
		place = gotree.X("$1.Value", place)
	}
	for i, step := range f.Path[1:] {
		place = gotree.X("$1.$2", place, d.g.Typ(f.Path[i].Type, "").Fields[step.Index])
	}
	if f.Unwrapped { // the value of an optional field of a record
		place = gotree.X("$1.Value", place)
	}
	return place
}

func (d *layout) int(it *model.WireInt, place gotree.Expr, field string) {
	plain := false
	if t := it.Field.Type; t.Kind != model.KindOptional && it.Varint == model.Fixed {
		one := d.scalar(t, it.Number, place, field, gotree.X("v"))
		plain = it.Bits == 8 && !it.Signed || len(one) == 1 && assigns(one[0])
	}
	d.number(it.Number, field, plain || it.Field.Type.Kind == model.KindOptional && it.Varint == model.Fixed,
		func(v gotree.Expr) []gotree.Stmt {
			return d.inner(func() { d.take(it, v, place, field) })
		})
}

// take composes statements that take the number v of an item as a value of its field.
func (d *layout) take(it *model.WireInt, v, place gotree.Expr, field string) {
	t := it.Field.Type
	if t.Kind != model.KindOptional {
		code := d.scalar(t, it.Number, place, field, v)
		if _, whole := v.(gotree.Index); !whole && !(len(code) == 1 && assigns(code[0])) &&
			!gotree.Equal(v, gotree.X("v")) {
			d.t.P("{\nv := $1\n$2\n}", v, d.scalar(t, it.Number, place, field, gotree.X("v")))
			return
		}
		d.t.Add(code...)
		return
	}
	inner := d.scalar(t.Elem, it.Number, gotree.X("$1.Value", place), field, gotree.X("v"))
	if it.HasNone {
		d.t.P("if v := $1; v != $2 {\n$3.Present = true\n$4\n}", v, ints.None(it), place, inner)
	} else {
		d.t.P("{\nv := $1\n$2.Present = true\n$3\n}", v, place, inner)
	}
}

// scalar composes the conversion of the number v on the wire to a value of t.
func (d *layout) scalar(t *model.Type, n model.Number, place gotree.Expr, field string, v gotree.Expr) []gotree.Stmt {
	var s gotree.Block
	bad := func(limit int64) gotree.Stmt {
		return gotree.Returns(d.err(field, d.at, "Range", gotree.X("int64($1)", v), gotree.Int(limit)))
	}
	typ := d.g.Typ(t, "")
	set := func() { s.P("$1 = $2", place, converted(typ, n, v)) }
	switch t.Kind {
	case model.KindBool:
		if n.Bits > 1 && !n.Nonzero {
			s.P("if $1 > 1 {\n$2\n}", v, bad(1))
		}
		s.P("$1 = $2 != 0", place, v)
	case model.KindEnum:
		d.enum(t, n.Bits, place, bad, &s, v)
	case model.KindOpaque:
		if n.Bits > t.Bits {
			s.P("if $1 > $2 {\n$3\n}", v, ints.Largest(t.Bits), bad(int64(ints.Largest(t.Bits))))
		}
		set()
	case model.KindSet:
		if most := ints.Largest(int(t.Elem.Count())); ints.Largest(n.Bits) > most {
			s.P("if $1 > $2 {\n$3\n}", v, most, bad(int64(most)))
		}
		set()
	default:
		lo, hi := n.Range()
		if t.Hi < 0 && !n.Signed {
			s.Add(bad(t.Hi))
			break
		}
		if t.Hi < 0 || hi > uint64(t.Hi) {
			s.P("if $1 > $2 {\n$3\n}", v, t.Hi, bad(t.Hi))
		}
		if t.Lo > lo {
			s.P("if $1 < $2 {\n$3\n}", v, t.Lo, bad(t.Lo))
		}
		set()
	}
	return s.List
}

func (d *layout) enum(t *model.Type, bits int, place gotree.Expr, bad func(int64) gotree.Stmt, s *gotree.Block,
	v gotree.Expr) {
	most, plain := int64(0), true
	for i, c := range t.Codes {
		most = max(most, c)
		plain = plain && c == int64(i)
	}
	gt := d.g.Typ(t, "")
	if plain {
		if ints.Largest(bits) > uint64(most) {
			s.P("if $1 > $2 {\n$3\n}", v, most, bad(most))
		}
		s.P("$1 = $2", place, gotree.Conv(gt.X, v))
		return
	}
	codes := &gotree.Switch{Tag: v}
	add := func(list []gotree.Expr, value gotree.Expr) {
		codes.Cases = append(codes.Cases, &gotree.Case{List: list, Body: gotree.S("$1 = $2", place, value)})
	}
	seen := map[int64]bool{}
	// A run of consecutive codes is one case.
	for i := 0; i < len(t.Codes); {
		j := i
		for j+1 < len(t.Codes) && t.Codes[j+1] == t.Codes[j]+1 && !seen[t.Codes[j+1]] {
			j++
		}
		switch {
		case seen[t.Codes[i]] || uint64(t.Codes[i]) > ints.Largest(bits):
		case j > i+1 && uint64(t.Codes[j]) <= ints.Largest(bits):
			var list []gotree.Expr
			for k := i; k <= j; k++ {
				list = append(list, gotree.Int(t.Codes[k]))
				seen[t.Codes[k]] = true
			}
			add(list, gotree.Conv(gt.X, gotree.Plus(v, int64(i)-t.Codes[i])))
			i = j + 1
			continue
		default:
			add([]gotree.Expr{gotree.Int(t.Codes[i])}, gotree.Name{Name: d.g.EnumNames(gt)[i]})
		}
		seen[t.Codes[i]] = true
		i++
	}
	codes.Cases = append(codes.Cases, &gotree.Case{Body: []gotree.Stmt{bad(most)}})
	s.Add(codes)
}

func (d *layout) align(it *model.WireAlign, begin map[int]gotree.Expr) {
	since := gotree.Int(0)
	if it.Since >= 0 {
		since = begin[it.Since]
	}
	at, ok1 := d.known()
	from, ok2 := gotree.Number(since)
	if ok1 && ok2 {
		over := (at - int(from)) % it.To
		if over == 0 {
			return
		}
		d.at = gotree.Int(at + it.To - over)
		if at+it.To-over > d.sure { // a frame may end within its padding
			d.t.P("at := min($1, len(b))", d.at)
			d.at = gotree.X("at")
		}
		return
	}
	d.float()
	x := d.at
	if !ok2 || from != 0 {
		x = gotree.X("at - $1", since)
	}
	d.t.P("if over := $1 % $2; over != 0 {\nat = min(at+$2-over, len(b))\n}", x, it.To)
}

func (d *layout) count(it *model.WireCount, place gotree.Expr, field string) {
	kind := it.Field.Type.Kind
	if kind == model.KindBytes {
		name, declared := d.counts[it.Field], false
		if d.ahead[name] {
			declared = true
		} else {
			name = d.counting(it.Field)
			if declared = it.Varint != model.Fixed; declared {
				d.t.P("var $1 uint64", name)
			}
		}
		d.number(it.Number, field, true, func(v gotree.Expr) []gotree.Stmt {
			if declared && it.Varint == model.Fixed {
				return gotree.S("$1 = uint64($2)", name, v)
			}
			if declared {
				return gotree.S("$1 = $2", name, v)
			}
			return gotree.S("$1 := uint64($2)", name, v)
		})
		return
	}
	most := it.Field.Type.Cap
	typ := types.LenType(most)
	named := &types.Type{Name: typ, X: gotree.Name{Name: typ}}
	_, hi := it.Range()
	d.number(it.Number, field, true, func(v gotree.Expr) []gotree.Stmt {
		set := gotree.S("$1.Len = $2", place, converted(named, it.Number, v))
		switch {
		case kind == model.KindArray: // what is there is told elsewhere
			return nil
		case hi <= uint64(most):
			return set
		case it.Bits == 8 || it.Varint != model.Fixed:
			return gotree.S("if $1 > $2 {\nreturn $3\n}\n$4", v, most, d.err(field, d.at, "Count",
				gotree.X("int64($1)", v), gotree.Int(most)), set)
		}
		return gotree.S("{\nn := $1\nif n > $2 {\nreturn $3\n}\n$4.Len = $5(n)\n}", v, most,
			d.err(field, d.at, "Count", gotree.X("int64(n)"), gotree.Int(most)), place, typ)
	})
}

// counting names the variable for the length of a text.
func (d *layout) counting(f *model.Field) string {
	d.counts[f] = "count" + strconv.Itoa(len(d.counts)+1) + strings.Repeat("x", d.nested)
	return d.counts[f]
}

// room composes how many bytes come after something that takes the rest, and the check that they are there.
func (d *layout) room(b model.Behind, field string) {
	n := gotree.X("uint64($1)", b.Bytes)
	for _, f := range b.Counts {
		n = gotree.X("$1 + min($2, 1<<32)", n, gotree.Name{Name: d.counts[f]})
	}
	d.t.P("behind := $1\nif behind > uint64(len(b)-at) {\nreturn $2\n}", n, d.err(field, d.at, "Short",
		gotree.X("int64(len(b))"), gotree.X("int64(uint64(at) + behind)")))
}

// run composes the reading of bytes that are all the same.
func (d *layout) run(it *model.WireRun, place gotree.Expr, field string) {
	d.float()
	t := it.Field.Type
	var low []gotree.Stmt
	if t.Lo > 0 {
		low = gotree.S("if n < $1 {\nreturn $2\n}", t.Lo, d.err(field, d.at, "Range", gotree.X("int64(n)"),
			gotree.Int(t.Lo)))
	}
	d.t.P("{\nn := wire.Run(b[at:], $1)\nif n > $2 {\nreturn $3\n}\n$4\n$5 = $6(n)\nat += n\n}", int(it.Byte), t.Hi,
		d.err(field, d.at, "Count", gotree.X("int64(n)"), gotree.Int(t.Hi)), low, place, d.g.Typ(t, "").X)
}

func (d *layout) text(it *model.WireBytes, place gotree.Expr, field string) {
	d.float()
	most := it.Field.Type.Cap
	if it.Domain {
		d.t.P(`{
				n, end, err := wire.Domain($1.Data[:], b, at, $2, $3)
				if err.Problem != 0 {
					err.Message, err.Field = $4, $5
					return err
				}
				$1.Len, at = $6(n), end
			}`, place, it.Base, it.Back, d.messageName(), gotree.Str(field), types.LenType(most))
		return
	}
	code := d.inner(func() {
		switch {
		case it.Nul && d.last:
			d.t.P("text := b[at:]\nif i := bytes.IndexByte(text, 0); i >= 0 {\ntext = text[:i]\n}")
		case it.Nul:
			d.t.P(`text, end := b[at:], len(b)
				if i := bytes.IndexByte(text, 0); i >= 0 {
					text, end = text[:i], at+i+1
				}`)
		case it.Count:
			n := gotree.X("uint64(0)")
			if name := d.counts[it.Field]; name != "" {
				n = gotree.Name{Name: name}
			}
			short := d.err(field, d.at, "Short", gotree.X("int64(len(b))"),
				gotree.X("int64(uint64(at) + min($1, 1<<32))", n))
			if d.g.P.Wire.Self {
				d.t.P("if $1 > $2 {\nreturn $3\n}", n, most,
					d.err(field, d.at, "Count", gotree.X("int64($1)", n), gotree.Int(most)))
			}
			d.t.P(`if $1 > uint64(len(b)-at) {
					return $2
				}
				end := at + int($1)
				text := b[at:end]`, n, short)
		case it.End != "":
			bad := gotree.X("wire.BadText($1, $2, b, at, n, $3, $4)", d.messageName(), gotree.Str(field), most,
				gotree.Str(it.End))
			if it.Field.Type.Binary {
				bad = gotree.X("wire.BadEnded($1, $2, b, at, n, $3)", d.messageName(), gotree.Str(field), most)
			}
			d.t.P("i, n := wire.Ended(b[at:], $1, $2, $3)\nif n <= 0 {\nreturn $4\n}", gotree.Str(it.End), it.LoneLF,
				most, bad)
			if d.last {
				d.t.P("text := b[at:at+i]")
			} else {
				d.t.P("text, end := b[at:at+i], at+n")
			}
		case it.Whole:
			d.t.P("if len(b) < at+$1 {\nreturn $2\n}\nend := at + $1\ntext := b[at:end]", most,
				d.err(field, d.at, "Short", gotree.X("int64(len(b))"), gotree.X("int64(at + $1)", most)))
		case len(it.Behind.Counts) > 0 || it.Behind.Bytes > 0:
			d.room(it.Behind, field)
			d.t.P("end := len(b) - int(behind)\ntext := b[at:end]")
		case d.last:
			d.t.P("text := b[at:]")
		default:
			d.t.P("text, end := b[at:], len(b)")
		}
		problem := "Count"
		if it.Nul {
			problem = "Unterminated"
		}
		if !it.Cut && !it.Whole && it.End == "" && !(it.Count && d.g.P.Wire.Self) {
			d.t.P("if len(text) > $1 {\nreturn $2\n}", most, d.err(field, d.at, problem, gotree.X("int64(len(text))"),
				gotree.Int(most)))
		}
		if bad := types.BadIn(it.Field.Type, "text"); bad != nil {
			d.t.P("if i := $1; i >= 0 {\nreturn $2\n}", bad, d.err(field, gotree.X("at + i"), "Charset",
				gotree.X("int64(text[i])"), nil))
		}
		if it.End != "" && !it.Field.Type.Binary {
			d.t.P("if i := wire.BadByte(text, $1, false); i >= 0 {\nreturn $2\n}",
				gotree.Str(it.Field.Type.Without), d.err(field,
					gotree.X("at + i"), "Charset", gotree.X("int64(text[i])"), nil))
		}
		d.t.P("$1.Len = $2(copy($1.Data[:], text))", place, types.LenType(most))
		if it.XorAt > 0 {
			d.t.P("wire.XorBytes($1.Data[:$1.Len], b[$2:])", place, it.XorAt-1)
		}
		if !d.last {
			d.t.P("at = end")
		}
	})
	d.t.P("{\n$1\n}", code)
}
