package wire

import (
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/model"
)

// place composes where an anchor is; without an item it is otherwise.
func (d *layout) place(a model.Anchor, otherwise gotree.Expr) gotree.Expr {
	if a.Index < 0 {
		return otherwise
	}
	return d.begins[len(d.begins)-1-a.Up][a.Index]
}

// sum composes the reading of a checksum, and the comparison.
func (d *layout) sum(it *model.WireSum) {
	d.need("checksum", it.Bits/8)
	var end []gotree.Stmt
	if it.Ends {
		stated := gotree.Plus(gotree.X("int64($1)", ints.Read(it.Length, gotree.Int(it.LengthAt))),
			int64(it.Less)-int64(it.Bits/8))
		end = gotree.S("if n := $1; n != int64($2) {\nreturn $3\n}", stated, d.at, d.err("checksum",
			gotree.Plus(d.at, int64(it.Bits/8)), "Trailing", gotree.X("n - int64($1)", d.at), nil))
	}
	d.t.P("{\n$1\ngot := uint64($2)\nif want := $3; got != want {\nreturn $4\n}\n}", end, ints.Read(it.Number, d.at),
		gotree.X("wire.$1.Of(b[$2:$3])", string(it.Sum), d.place(it.From, gotree.Int(0)), d.place(it.To, d.at)),
		d.err("checksum", d.at, "BadSum", gotree.X("int64(got)"), gotree.X("int64(want)")))
	d.advance(it.Bits / 8)
}

// putSum appends a checksum. One over the length is that of a frame which ends behind it.
func (e *layout) putSum(it *model.WireSum) {
	if it.Ends {
		e.t.Add(ints.Put(it.Length, gotree.Plus(gotree.X("start"), int64(it.LengthAt)),
			gotree.Plus(gotree.X("len(dst) - start"), int64(it.Bits/8-it.Less))))
		if e.list != "" {
			e.t.P("$1 = true", e.list)
		}
	}
	from := gotree.Expr(gotree.X("start"))
	to := gotree.Expr(gotree.X("len(dst)"))
	if it.From.Index >= 0 {
		from = gotree.X("start + $1", e.place(it.From, nil))
	}
	if it.To.Index >= 0 {
		to = gotree.X("start + $1", e.place(it.To, nil))
	}
	e.t.Add(ints.Append(it.Number, gotree.X("wire.$1.Of(dst[$2:$3])", string(it.Sum), from, to)))
}
