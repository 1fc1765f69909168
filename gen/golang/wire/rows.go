package wire

import (
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

func (d *layout) each(it *model.WireEach, of gotree.Expr, names []string, prefix string) {
	t, place, field := it.Field.Type, d.member(of, names, it.Field), prefix+it.Field.Name
	if it.AheadOf > 0 {
		d.readAhead(it, place, field)
	}
	if it.ToEnd || it.Until != nil {
		d.last = false
		d.float()
		d.open(it, of, names, prefix)
		return
	}
	if it.Rows == 0 {
		d.float()
		d.rows(it, t, place, field)
		return
	}
	d.need(field, it.Rows*it.RowBytes)
	begin := d.at
	d.at = gotree.X("at") // a variable of their own: what follows has its place whatever the rows are
	code := d.inner(func() { d.rows(it, t, place, field) })
	d.t.P("{\nat := $1\n$2\n}", begin, code)
	d.at = begin
	d.advance(it.Rows * it.RowBytes)
}

// readAhead composes statements that read the count, or whether the value is there, from behind the rows.
func (d *layout) readAhead(it *model.WireEach, place gotree.Expr, field string) {
	begin, last := d.at, d.last
	d.at, d.last = gotree.Plus(begin, int64(it.AheadOf)), true // nothing moves on
	if it.Present == nil && it.Count.Varint != model.Fixed {
		d.need(field, 1)
		d.t.Add(&gotree.Braces{Body: d.inner(func() { d.count(it.Count, place, field) })})
	} else if it.Present == nil {
		d.count(it.Count, place, field)
	} else {
		d.need(field, it.Rows)
		one, over := elements(it, place)
		d.t.P("for i := range $1 {\n$2.Present = b[$3+i] != 0\n}", over, one, d.at)
	}
	d.at, d.last = begin, last
}

// rows composes the loop over the elements.
func (d *layout) rows(it *model.WireEach, t *model.Type, place gotree.Expr, field string) {
	d.nested++
	one, over := elements(it, place)
	if t.Kind != model.KindArray {
		one, over = gotree.X("$1.Items[i]", place), gotree.X("$1.Items[:$1.Len]", place)
	}
	call := false
	code := d.inner(func() {
		if it.Present != nil {
			d.t.P("if !$1.Present {\nat += $2\ncontinue\n}", one, it.RowBytes)
		}
		call = d.element(it.Items, t, one, field)
	})
	loop := &gotree.Range{Key: gotree.X("i"), X: over, Body: code}
	if !call && t.Elem.Kind == model.KindRecord && it.Present == nil {
		d.rounds = append(d.rounds, round{loop: loop, field: field, elem: d.g.Typ(t.Elem, ""), of: one,
			name: d.rowName(), depth: d.nested})
	}
	d.t.Add(loop)
	d.nested--
}

// address composes statements that read an instance: its number + 1, and zeros.
func (d *layout) address(it *model.WireAddress, place gotree.Expr, field string) {
	d.need(field, it.Bytes)
	d.g.Helpers["numbered"] = true
	t, optional := it.Field.Type, it.Field.Type.Kind == model.KindOptional
	outside := gotree.X("v < 0 || v > $1", t.Hi)
	to := place
	if optional {
		t, to = t.Elem, gotree.X("$1.Value", place)
		outside = gotree.X("v > $1", t.Hi)
	}
	set := gotree.S("if $1 {\nreturn $2\n}\n$3 = $4", outside,
		d.err(field, d.at, "Range", gotree.X("v"), gotree.Int(t.Hi)), to, gotree.X("$1(v)", d.g.Typ(t, "").X))
	if optional {
		set = gotree.S("$1.Present = v >= 0\nif v >= 0 {\n$2\n}", place, set)
	}
	d.t.P("{\nv := numbered(b[$1:], $2)\n$3\n}", d.at, it.Bytes, set)
	d.advance(it.Bytes)
}
