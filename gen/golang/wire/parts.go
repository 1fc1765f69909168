package wire

import (
	"fmt"
	"maps"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/model"
)

// sized composes the reading of a region. Inside of it b ends where the region does.
func (d *layout) sized(it *model.WireSized, of gotree.Expr, names []string, prefix string) {
	d.float()
	field := prefix + it.Name()
	d.regions++
	size := fmt.Sprintf("size%d", d.regions)
	if it.Varint != model.Fixed {
		d.t.P("var $1 uint64", size)
	}
	d.number(it.Number, field, true, func(v gotree.Expr) []gotree.Stmt {
		if it.Varint != model.Fixed {
			return gotree.S("$1 = $2", size, v)
		}
		return gotree.S("$1 := uint64($2)", size, v)
	})
	short := d.err(field, d.at, "Short", gotree.X("int64(len(b))"),
		gotree.X("int64(uint64(at) + min($1, 1<<32))", size))
	d.nested++
	code := d.inner(func() { d.decode(it.Items, of, names, prefix) })
	d.nested--
	left := d.err(field, d.at, "Trailing", gotree.X("int64(len(b) - at)"), nil)
	if d.g.P.Wire.Self {
		d.t.P("if $1 > maxFrame {\nreturn $2\n}", size,
			d.err(field, d.at, "Long", gotree.X("int64($1)", size), gotree.X("maxFrame")))
	}
	d.t.P(`if $1 > uint64(len(b)-at) {
			return $2
		}
		{
			b := b[:at+int($1)]
			$3
			if len(b) > at {
				return $4
			}
		}`, size, short, code, left)
}

// present composes the reading of what says whether elements of an array or an optional field are there.
func (d *layout) present(it *model.WirePresent, place gotree.Expr, field string) {
	if it.Field.Type.Kind != model.KindOptional {
		d.need(field, model.FixedBytes(it))
		d.advance(model.FixedBytes(it))
		return
	}
	d.number(it.Number, field, false, func(v gotree.Expr) []gotree.Stmt {
		return d.inner(func() { d.flag(it, v, place, field) })
	})
}

func (d *layout) flag(it *model.WirePresent, v, place gotree.Expr, field string) {
	if it.Bits > 1 {
		d.t.P("if $1 > 1 {\nreturn $2\n}", v, d.err(field, d.at, "Range", gotree.X("int64($1)", v), gotree.Int(1)))
	}
	d.t.P("$1.Present = $2 != 0", place, v)
}

// part composes the reading of items that are there if an optional field is.
func (d *layout) part(it *model.WireIf, of gotree.Expr, names []string, prefix string) {
	d.float()
	place, counts := d.member(of, names, it.Field), maps.Clone(d.counts)
	d.nested++
	code := d.inner(func() { d.decode(it.Items, of, names, prefix) })
	d.nested--
	if f := d.longPart(it, code, counts, func(f *layout) { f.decode(it.Items, gotree.X("e"), nil, prefix) }); f != nil {
		code = d.decoder(f, f.elem.Name, "the record of "+prefix+it.Field.Name, gotree.X("&$1.Value", place))
	}
	if !it.Flagged {
		d.t.P("$1.Present = len(b) > at", place)
	}
	d.t.P("if $1.Present {\n$2\n}", place, code)
}

// cases composes the branches of a tag.
func (d *layout) cases(it *model.WireCase, tag gotree.Expr, branch func(b model.WireBranch)) *gotree.Switch {
	s := &gotree.Switch{Tag: tag}
	d.nested++
	for _, b := range it.Branches {
		var list []gotree.Expr
		for _, v := range b.Values {
			switch it.Tag.Type.Kind {
			case model.KindEnum:
				list = append(list, gotree.Name{Name: d.g.EnumNames(d.g.Typ(it.Tag.Type, ""))[v]})
			case model.KindBool:
				list = append(list, gotree.X("$1", v != 0))
			default:
				list = append(list, gotree.Int(v))
			}
		}
		s.Cases = append(s.Cases, &gotree.Case{List: list, Body: d.inner(func() { branch(b) })})
	}
	d.nested--
	return s
}

// choice composes the reading of the items that a tag says.
func (d *layout) choice(it *model.WireCase, of gotree.Expr, names []string, prefix string) {
	d.float()
	d.t.Add(d.cases(it, d.member(of, names, it.Tag), func(b model.WireBranch) {
		for _, f := range b.Fields {
			d.t.P("$1.Present = true", d.member(of, names, f))
		}
		d.kind(b, of, func(f *layout) { f.decode(b.Items, of, names, prefix) }, d.decoder)
	}))
}

// open composes the reading of a list that goes on to the end, or to a number.
func (d *layout) open(it *model.WireEach, of gotree.Expr, names []string, prefix string) {
	t, place, field := it.Field.Type, d.member(of, names, it.Field), prefix+it.Field.Name
	d.countsAhead(it)
	d.nested++
	i := "i"
	if d.nested > 1 {
		i = fmt.Sprintf("i%d", d.nested)
	}
	code := d.inner(func() {
		if u := it.Until; u != nil {
			d.need(field, u.Bits/8)
			d.t.P("if $1 == $2 {\nat += $3\nbreak\n}", ints.Read(u.Number, d.at), u.Value, u.Bits/8)
		}
		d.named(it, of, names, prefix)
		d.t.P("$1 := int($2.Len)\nif $1 == $3 {\nreturn $4\n}\n$2.Len++", i, place, t.Cap,
			d.err(field, d.at, "Count", gotree.Int(t.Cap+1), gotree.Int(t.Cap)))
		d.element(it.Items, t, gotree.X("$1.Items[$2]", place, i), field)
	})
	loop := &gotree.For{Body: code}
	if it.ToEnd {
		loop.Cond = gotree.X("len(b) > at")
	}
	if len(it.Behind.Counts) > 0 || it.Behind.Bytes > 0 {
		ahead := d.inner(func() { d.room(it.Behind, field) })
		d.t.P("{\n$1\nb := b[:len(b)-int(behind)]\n$2\n}", ahead, gotree.Stmt(loop))
	} else {
		d.t.Add(loop)
	}
	d.nested--
}

// countsAhead declares the lengths of texts that rows with a name may have; the texts come behind the rows.
func (d *layout) countsAhead(it *model.WireEach) {
	for _, row := range it.Named {
		for _, item := range row.Items {
			if c, ok := item.(*model.WireCount); ok && c.Field.Type.Kind == model.KindBytes {
				if d.ahead == nil {
					d.ahead = map[string]bool{}
				}
				name := d.counting(c.Field)
				d.ahead[name] = true
				d.t.P("var $1 uint64", name)
			}
		}
	}
}

// named composes the reading of a row that begins with a name.
func (d *layout) named(it *model.WireEach, of gotree.Expr, names []string, prefix string) {
	if len(it.Named) == 0 {
		return
	}
	d.t.P("named := wire.Named(b[at:], $1[:])\nif named == wire.Unknown {\nreturn $2\n}", d.g.rowTable(it, prefix),
		d.err(prefix+it.Field.Name, d.at, "Short", gotree.X("int64(len(b))"), gotree.X("int64(len(b) + 1)")))
	for i, row := range it.Named {
		place := d.member(of, names, row.Field)
		code := d.inner(func() {
			d.t.P("if $1.Present {\nreturn $2\n}\n$1.Present = true\nat += $3", place,
				d.err(prefix+row.Field.Name, d.at, "Count", gotree.Int(2), gotree.Int(1)), len(row.Name))
			d.decode(row.Items, of, names, prefix)
			d.t.P("continue")
		})
		d.t.P("if named == $1 {\n$2\n}", i, code)
	}
}

// putNamed appends the rows that begin with a name.
func (e *layout) putNamed(it *model.WireEach, of gotree.Expr, names []string, prefix string) {
	for _, row := range it.Named {
		e.nested++
		code := e.inner(func() { e.encode(row.Items, of, names, prefix) })
		e.nested--
		e.t.P("if $1.Present {\ndst = append(dst, $2...)\n$3\n}", e.member(of, names, row.Field),
			gotree.Str(row.Name), code)
	}
}

// rowTable returns the name of the table of the names with which rows begin.
func (g *Codec) rowTable(it *model.WireEach, prefix string) string {
	var list []string
	var elems []gotree.Expr
	for _, row := range it.Named {
		list = append(list, row.Name)
		elems = append(elems, gotree.Str(row.Name))
	}
	key := "\x00" + strings.Join(list, "\x00")
	if g.parts == nil {
		g.parts = map[string]string{}
	}
	if g.parts[key] == "" {
		name := g.Top.Take(base.Unexported(base.GoName(prefix+it.Field.Name)) + "Names")
		g.parts[key] = name
		g.tail = append(g.tail, table{base.Comment(name, "are the names with which rows of "+prefix+it.Field.Name+
			" begin that are fields of their own."), name, gotree.X("[...]string{$1}", elems)})
	}
	return g.parts[key]
}

// putSized appends a region, and how many bytes it has.
func (e *layout) putSized(it *model.WireSized, of gotree.Expr, names []string, prefix string) {
	e.regions++
	at := fmt.Sprintf("sizeAt%d", e.regions)
	least, _ := it.Bytes()
	e.nested++
	last := e.took
	e.took = ""
	code := e.inner(func() { e.encode(it.Items, of, names, prefix) })
	e.took = last
	e.nested--
	_, most := it.Range()
	n := gotree.Plus(gotree.X("len(dst) - $1", at), -int64(least))
	set := ints.Put(it.Number, gotree.X("$1", at), gotree.X("n"))
	switch it.Varint {
	case model.LEB128:
		set = gotree.S("dst = wire.SetLEB128(dst, $1, uint64(n))", at)[0]
	case model.QUIC:
		set = gotree.S("dst = wire.SetQUIC(dst, $1, uint64(n))", at)[0]
	}
	e.t.P("$1 := len(dst)\n$2\n{\n$3\n}", at, padCode(least), code)
	if most < 1<<40 {
		e.t.P("if n := $1; uint64(n) > $2 {\nreturn dst, $3\n}", n, most,
			e.err(prefix+it.Name(), gotree.X("$1 - start", at), "Range", gotree.X("int64(n)"), gotree.Int(most)))
	}
	e.t.P("{\nn := $1\n$2\n}", n, set)
}

// putPart appends items that are there if an optional field is.
func (e *layout) putPart(it *model.WireIf, of gotree.Expr, names []string, prefix string) {
	e.nested++
	code := e.inner(func() {
		if it.After != nil {
			e.t.P("if !$1.Present {\nreturn dst, $2\n}", e.member(of, names, it.After),
				e.err(prefix+it.Field.Name, here, "Union", gotree.Int(1), nil))
		}
		e.encode(it.Items, of, names, prefix)
	})
	e.nested--
	place := e.member(of, names, it.Field)
	if it.After == nil {
		compose := func(f *layout) { f.encode(it.Items, gotree.X("e"), nil, prefix) }
		if f := e.longPart(it, code, nil, compose); f != nil {
			code = e.encoder(f, f.elem.Name, "the record of "+prefix+it.Field.Name,
				gotree.X("&$1.Value", place))
		}
	}
	e.t.P("if $1.Present {\n$2\n}", place, code)
}

// longPart returns the layout of a function for the record of an optional part, nil if the statements for it are
// not many, or need a variable around them.
func (d *layout) longPart(it *model.WireIf, code []gotree.Stmt, counts map[*model.Field]string,
	compose func(f *layout)) *layout {
	t := it.Field.Type.Elem
	if t.Kind != model.KindRecord || gotree.Lines(code) < longPart {
		return nil
	}
	f := d.function(d.g.Typ(t, ""), false)
	f.opened = it.Field.Name
	maps.Copy(f.counts, counts)
	compose(f)
	for _, name := range counts {
		if gotree.Uses(f.t.List, name) {
			return nil
		}
	}
	if d.needs(f.t.List) {
		return nil
	}
	return f
}

// longPart is how many lines the codec of an optional record has to have to become a function.
const longPart = 30

// putChoice appends the items that a tag says; fields of the other branches must not be there.
func (e *layout) putChoice(it *model.WireCase, of gotree.Expr, names []string, prefix string) {
	before, check := e.there(it, of, names, prefix)
	e.t.Add(before...)
	e.t.Add(e.cases(it, e.member(of, names, it.Tag), func(b model.WireBranch) {
		e.t.Add(check(b)...)
		e.kind(b, of, func(f *layout) { f.encode(b.Items, of, names, prefix) }, e.encoder)
	}))
}
