package golang

import (
	"fmt"
	"strconv"

	"github.com/parley-go/parley/gen/model"
)

// decodeValue composes the decoding of a value of any type, as model.WireValue lays it out.
func (d *layout) decodeValue(t *model.Type, place, field string) {
	d.float()
	switch t.Kind {
	case model.KindRecord:
		for i, f := range t.Fields {
			d.decodeValue(f.Type, place+"."+d.g.typ(t, "").fields[i], field)
		}
	case model.KindArray:
		d.loop(fmt.Sprintf("range %s", place), func(i string) { d.decodeValue(t.Elem, place+"["+i+"]", field) })
	case model.KindList:
		d.decodeLength(place, field, t.Cap)
		d.loop(fmt.Sprintf("range %s.Items[:%s.Len]", place, place), func(i string) { d.decodeValue(t.Elem, place+".Items["+i+"]", field) })
	case model.KindBytes:
		d.decodeLength(place, field, t.Cap)
		n := "int(" + place + ".Len)"
		d.t.p("if len(b)-at < %s {\nreturn %s\n}\nat += copy(%s.Data[:%s.Len], b[at:])", n,
			d.err(field, "at", "Short", "int64(len(b))", "int64(at + "+n+")"), place, place)
	case model.KindOptional:
		d.decodeNumber(1, "1", field, place+".Present = v != 0")
		d.t.p("if %s.Present {", place)
		d.decodeValue(t.Elem, place+".Value", field)
		d.t.p("}")
	default:
		d.decodeScalar(t, place, field)
	}
}

func (d *layout) decodeScalar(t *model.Type, place, field string) {
	typ := d.g.typ(t, "").name
	n, most := model.ValueBytes(t)
	limit := strconv.FormatUint(most, 10)
	if most == largest(8*n) {
		limit = ""
	}
	set := fmt.Sprintf("%s = %s(v)", place, typ)
	switch {
	case t.Kind == model.KindBool:
		set = place + " = v != 0"
	case lowest(t) != 0:
		set = fmt.Sprintf("%s = %s(%s)", place, typ, plusSigned("int64(v)", lowest(t)))
	}
	d.decodeNumber(n, limit, field, set)
}

// decodeNumber composes the reading of v, n bytes, at most limit ("": any).
func (d *layout) decodeNumber(n int, limit, field, set string) {
	d.need(field, n)
	d.t.p("{\nv := %s", readNumber(8*n, false, "at"))
	if limit != "" {
		d.t.p("if v > %s {\nreturn %s\n}", limit, d.err(field, "at", "Range", "int64(v)", limit))
	}
	d.t.p("%s\n}", set)
	d.advance(n)
}

func (d *layout) decodeLength(place, field string, most int) {
	d.need(field, 2)
	d.t.p("{\nn := binary.BigEndian.Uint16(b[at:])\nif n > %d {\nreturn %s\n}\n%s.Len = %s(n)\n}", most,
		d.err(field, "at", "Count", "int64(n)", strconv.Itoa(most)), place, lenType(most))
	d.advance(2)
}

// loop composes a loop with an index of its own.
func (d *layout) loop(over string, inside func(i string)) {
	d.nested++
	i := "i" + strconv.Itoa(d.nested)
	d.t.p("for %s := %s {", i, over)
	inside(i)
	d.t.p("}")
	d.nested--
}

// encodeValue composes the encoding of a value of any type. A value outside its type is an error.
func (d *layout) encodeValue(t *model.Type, place, field string) {
	switch t.Kind {
	case model.KindRecord:
		for i, f := range t.Fields {
			d.encodeValue(f.Type, place+"."+d.g.typ(t, "").fields[i], field)
		}
	case model.KindArray:
		d.loop(fmt.Sprintf("range %s", place), func(i string) { d.encodeValue(t.Elem, place+"["+i+"]", field) })
	case model.KindList, model.KindBytes:
		d.t.p("if int(%s.Len) > %d {\nreturn dst, %s\n}\ndst = binary.BigEndian.AppendUint16(dst, uint16(%s.Len))", place, t.Cap,
			d.err(field, here, "Count", "int64("+place+".Len)", strconv.Itoa(t.Cap)), place)
		if t.Kind == model.KindBytes {
			d.t.p("dst = append(dst, %s.Data[:%s.Len]...)", place, place)
			return
		}
		d.loop(fmt.Sprintf("range %s.Items[:%s.Len]", place, place), func(i string) { d.encodeValue(t.Elem, place+".Items["+i+"]", field) })
	case model.KindOptional:
		d.g.helpers["ordinal"] = true
		d.t.p("dst = append(dst, byte(ordinal(%s.Present)))\nif %s.Present {", place, place)
		d.encodeValue(t.Elem, place+".Value", field)
		d.t.p("}")
	default:
		n, _ := model.ValueBytes(t)
		if bad := d.g.invalid(t, place); bad != "" {
			d.t.p("if %s {\nreturn dst, %s\n}", bad, d.err(field, here, "Range", "int64("+place+")", ""))
		}
		v := place
		switch {
		case t.Kind == model.KindBool:
			d.g.helpers["ordinal"] = true
			v = "ordinal(" + place + ")"
		case lowest(t) != 0:
			v = plusSigned("int64("+place+")", -lowest(t))
		}
		d.t.p("%s", appendNumber(8*n, false, v))
	}
}
