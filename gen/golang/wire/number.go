package wire

import (
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/model"
)

// number composes statements that read a number, work on it, and go behind it. What works on it gets
// the number, and leads to an error by d.at, where the number begins. plain says that it mentions the
// number once.
func (d *layout) number(n model.Number, field string, plain bool, use func(v gotree.Expr) []gotree.Stmt) {
	if n.Varint == model.Fixed {
		d.need(field, n.Bits/8)
		read := ints.Read(n, d.at)
		if !plain && !(n.Bits == 8 && !n.Signed) {
			d.t.P("{\nv := $1\n$2\n}", read, use(gotree.X("v")))
		} else {
			d.t.Add(use(read)...)
		}
		d.advance(n.Bits / 8)
		return
	}
	d.float()
	v := gotree.X("v")
	if n.Signed {
		v = gotree.X("wire.Unzigzag(v)")
	}
	code := use(v)
	if n.Signed && !plain {
		code = append(gotree.S("v := wire.Unzigzag(v)"), use(gotree.X("v"))...)
		code = gotree.S("{\n$1\n}", code)
	}
	got := "v"
	if !gotree.Uses(code, "v") {
		got = "_"
	}
	d.t.P("{\n$1, n := $2\nif n <= 0 {\nreturn $3\n}\n$4\nat += n\n}", got, ints.Varint(n, d.at),
		d.badVarint(n, field), code)
}

// badVarint composes the error of a number of varying length, of which n tells what is wrong.
func (d *layout) badVarint(n model.Number, field string) gotree.Expr {
	if n.Varint == model.Decimal || n.Varint == model.Hex {
		return gotree.X("wire.BadDigits($1, $2, b, $3, n)", d.messageName(), gotree.Str(field), d.at)
	}
	return gotree.X("wire.BadVarint($1, $2, b, $3, n)", d.messageName(), gotree.Str(field), d.at)
}

// bits composes statements that read the items of a number.
func (d *layout) bits(it *model.WireBits, of gotree.Expr, names []string, prefix string) {
	d.need("", it.Bits/8)
	code := d.inner(func() {
		for _, part := range it.Parts {
			d.bit(part.Item, part.Bits, ints.Cut(gotree.X("word"), ints.Type(it.Number), it.Bits, part), of, names,
				prefix)
		}
	})
	if len(code) > 0 && gotree.Uses(code, "word") {
		d.t.P("{\nword := $1\n$2\n}", ints.Read(it.Number, d.at), code)
	}
	d.advance(it.Bits / 8)
}

// bit composes statements that take the number of one item of several in a number.
func (d *layout) bit(item model.WireItem, bits int, v gotree.Expr, of gotree.Expr, names []string, prefix string) {
	switch x := item.(type) {
	case *model.WireInt:
		d.take(x, v, d.member(of, names, x.Field), prefix+x.Field.Name)
	case *model.WirePresent:
		d.flag(x, v, d.member(of, names, x.Field), prefix+x.Field.Name)
	case *model.WireConst:
		d.t.P("if v := $1; v != $2 {\nreturn $3\n}", v, x.Value,
			d.err("", d.at, "Mismatch", gotree.X("int64(v)"), gotree.Int(x.Value)))
	}
}
