package golang

import (
	"strconv"

	"github.com/parley-go/parley/gen/model"
)

func (d *layout) each(it *model.WireEach, place, field string) {
	t := it.Field.Type
	if it.AheadOf > 0 {
		d.ahead(it, place, field)
	}
	if it.Rows == 0 {
		d.float()
		d.rows(it, t, place, field)
		return
	}
	d.need(field, it.Rows*it.RowBytes)
	begin := d.at
	d.t.p("{\nat := %s", begin) // a variable of their own: what follows has its place whatever the rows are
	d.at = "at"
	d.rows(it, t, place, field)
	d.t.p("}")
	d.at = begin
	d.advance(it.Rows * it.RowBytes)
}

// ahead composes the reading of the count or the presence that stands behind the rows.
func (d *layout) ahead(it *model.WireEach, place, field string) {
	begin, last := d.at, d.last
	d.at, d.last = add(begin, it.AheadOf), true // nothing moves on
	if it.Present == nil {
		d.count(it.Count, place, field)
	} else {
		d.need(field, it.Rows)
		d.t.p("for i := range %s {\n%s[i].Present = b[%s+i] != 0\n}", place, place, d.at)
	}
	d.at, d.last = begin, last
}

// rows composes the loop over the elements.
func (d *layout) rows(it *model.WireEach, t *model.Type, place, field string) {
	d.nested++
	v := "e"
	if d.nested > 1 {
		v += strconv.Itoa(d.nested)
	}
	one := place + ".Items[i]"
	if t.Kind == model.KindArray {
		one = place + "[i]"
		d.t.p("for i := range %s {", place)
	} else {
		d.t.p("for i := range %s.Items[:%s.Len] {", place, place)
	}
	if it.Present != nil {
		d.t.p("if !%s.Present {\nat += %d\ncontinue\n}", one, it.RowBytes)
	}
	if t.Elem.Kind == model.KindRecord {
		d.t.p("%s := &%s", v, one)
	} else {
		v = one
	}
	d.decode(it.Items, v, d.g.typ(t.Elem, "").fields, field+".")
	d.t.p("}")
	d.nested--
}

// address composes the reading of the number + 1 of an instance, with zeros behind it.
func (d *layout) address(it *model.WireAddress, place, field string) {
	d.need(field, it.Bytes)
	d.g.helpers["numbered"] = true
	t, optional := it.Field.Type, it.Field.Type.Kind == model.KindOptional
	d.t.p("{\nv := numbered(b[%s:], %d)", d.at, it.Bytes)
	if optional {
		d.t.p("%s.Present = v >= 0", place)
		t, place = t.Elem, place+".Value"
		d.t.p("if v >= 0 {")
	}
	least := ""
	if !optional {
		least = "v < 0 || "
	}
	d.t.p("if %sv > %d {\nreturn %s\n}\n%s = %s(v)", least, t.Hi, d.err(field, d.at, "Range", "v", strconv.FormatInt(t.Hi, 10)), place, d.g.typ(t, "").name)
	if optional {
		d.t.p("}")
	}
	d.t.p("}")
	d.advance(it.Bytes)
}
