package wire

import (
	"strconv"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// decodeValue composes statements that decode a value of any type, laid out as model.WireValue says.
func (d *layout) decodeValue(t *model.Type, place gotree.Expr, field string) {
	d.float()
	switch t.Kind {
	case model.KindRecord:
		for i, f := range t.Fields {
			d.decodeValue(f.Type, gotree.X("$1.$2", place, d.g.Typ(t, "").Fields[i]), field)
		}
	case model.KindArray:
		d.loop(place, func(i string) { d.decodeValue(t.Elem, gotree.X("$1[$2]", place, i), field) })
	case model.KindList:
		d.decodeLength(place, field, t.Cap)
		d.loop(gotree.X("$1.Items[:$1.Len]", place), func(i string) {
			d.decodeValue(t.Elem,
				gotree.X("$1.Items[$2]", place, i), field)
		})
	case model.KindBytes:
		d.decodeLength(place, field, t.Cap)
		n := gotree.X("int($1.Len)", place)
		d.t.P("if len(b)-at < $1 {\nreturn $2\n}\nat += copy($3.Data[:$3.Len], b[at:])", n,
			d.err(field, d.at, "Short", gotree.X("int64(len(b))"), gotree.X("int64(at + $1)", n)), place)
	case model.KindOptional:
		d.decodeNumber(1, 1, true, field, gotree.S("$1.Present = v != 0", place))
		d.t.P("if $1.Present {\n$2\n}", place, d.inner(func() {
			d.decodeValue(t.Elem, gotree.X("$1.Value", place),
				field)
		}))
	default:
		d.decodeScalar(t, place, field)
	}
}

func (d *layout) decodeScalar(t *model.Type, place gotree.Expr, field string) {
	typ := d.g.Typ(t, "").X
	n, most := model.ValueBytes(t)
	set := gotree.X("$1(v)", typ)
	switch {
	case t.Kind == model.KindBool:
		set = gotree.X("v != 0")
	case t.Lowest() != 0:
		set = gotree.X("$1($2)", typ, gotree.Plus(gotree.X("int64(v)"), t.Lowest()))
	}
	d.decodeNumber(n, most, most < ints.Largest(8*n), field, gotree.S("$1 = $2", place, set))
}

// decodeNumber composes statements that read a number v of n bytes, and check that it is at most limit.
func (d *layout) decodeNumber(n int, limit uint64, checked bool, field string, set []gotree.Stmt) {
	d.need(field, n)
	var check []gotree.Stmt
	if checked {
		check = gotree.S("if v > $1 {\nreturn $2\n}", limit, d.err(field, d.at, "Range", gotree.X("int64(v)"),
			gotree.Int(limit)))
	}
	d.t.P("{\nv := $1\n$2\n$3\n}", ints.Read(model.Number{Bits: 8 * n}, d.at), check, set)
	d.advance(n)
}

func (d *layout) decodeLength(place gotree.Expr, field string, most int) {
	d.need(field, 2)
	d.t.P("{\nn := binary.BigEndian.Uint16(b[at:])\nif n > $1 {\nreturn $2\n}\n$3.Len = $4(n)\n}", most,
		d.err(field, d.at, "Count", gotree.X("int64(n)"), gotree.Int(most)), place, types.LenType(most))
	d.advance(2)
}

// loop composes a loop that has an index.
func (d *layout) loop(over gotree.Expr, inside func(i string)) {
	d.nested++
	i := "i" + strconv.Itoa(d.nested)
	d.t.P("for $1 := range $2 {\n$3\n}", i, over, d.inner(func() { inside(i) }))
	d.nested--
}

// encodeValue composes statements that encode a value of any type. A value outside its type is an error.
func (d *layout) encodeValue(t *model.Type, place gotree.Expr, field string) {
	switch t.Kind {
	case model.KindRecord:
		for i, f := range t.Fields {
			d.encodeValue(f.Type, gotree.X("$1.$2", place, d.g.Typ(t, "").Fields[i]), field)
		}
	case model.KindArray:
		d.loop(place, func(i string) { d.encodeValue(t.Elem, gotree.X("$1[$2]", place, i), field) })
	case model.KindList, model.KindBytes:
		d.t.P("if int($1.Len) > $2 {\nreturn dst, $3\n}\ndst = binary.BigEndian.AppendUint16(dst, uint16($1.Len))",
			place, t.Cap,
			d.err(field, here, "Count", gotree.X("int64($1.Len)", place), gotree.Int(t.Cap)))
		if t.Kind == model.KindBytes {
			d.t.P("dst = append(dst, $1.Data[:$1.Len]...)", place)
			return
		}
		d.loop(gotree.X("$1.Items[:$1.Len]", place), func(i string) {
			d.encodeValue(t.Elem,
				gotree.X("$1.Items[$2]", place, i), field)
		})
	case model.KindOptional:
		d.t.P("dst = append(dst, byte($1))\nif $2.Present {\n$3\n}", d.ordinal(gotree.X("$1.Present", place)), place,
			d.inner(func() { d.encodeValue(t.Elem, gotree.X("$1.Value", place), field) }))
	default:
		n, _ := model.ValueBytes(t)
		if bad := d.g.Invalid(t, place); bad != nil {
			d.t.P("if $1 {\nreturn dst, $2\n}", bad, d.err(field, here, "Range", gotree.X("int64($1)", place), nil))
		}
		v := place
		switch {
		case t.Kind == model.KindBool:
			v = d.ordinal(place)
		case t.Lowest() != 0:
			v = gotree.Plus(gotree.X("int64($1)", place), -t.Lowest())
		}
		d.t.Add(ints.Append(model.Number{Bits: 8 * n}, v))
	}
}
