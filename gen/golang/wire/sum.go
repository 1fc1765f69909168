package wire

import (
	"fmt"

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

// sumAhead is a checksum that stands before the end of its bytes: the variables that have the number which was read
// and its place.
type sumAhead struct {
	it      *model.WireSum
	got, at gotree.Expr
}

// sumAhead composes the reading of a checksum whose bytes end later.
func (d *layout) sumAhead(it *model.WireSum, i int) (s sumAhead) {
	s.it, s.at = it, d.at
	s.got = gotree.Name{Name: fmt.Sprintf("sum%d%d", d.nested, i)}
	d.need("checksum", it.Bits/8)
	d.t.P("$1 := uint64($2)", s.got, ints.Read(it.Number, d.at))
	if _, ok := d.known(); !ok {
		s.at = gotree.Name{Name: fmt.Sprintf("sumAt%d%d", d.nested, i)}
		d.t.P("$1 := at", s.at)
	}
	d.advance(it.Bits / 8)
	return s
}

// summed composes the comparison of the checksums whose bytes end before item i of their list.
func (d *layout) summed(sums []sumAhead, i int) {
	for _, s := range sums {
		if s.it.To.Index != i {
			continue
		}
		from := d.place(s.it.From, gotree.Int(0))
		place := gotree.X("$1 - $2", s.at, from)
		if n, ok := gotree.Number(from); ok {
			place = gotree.Plus(s.at, -n)
		}
		d.t.P("if want := wire.$1.Around(b[$2:$3], $4); $5 != want {\nreturn $6\n}", string(s.it.Sum), from, d.at,
			place, s.got, d.err("checksum", s.at, "BadSum", gotree.X("int64($1)", s.got), gotree.X("int64(want)")))
	}
}

// putSumAhead composes the place of a checksum whose bytes end later.
func (e *layout) putSumAhead(it *model.WireSum, i int) (s sumAhead) {
	s.it, s.at = it, gotree.Name{Name: fmt.Sprintf("sumAt%d%d", e.nested, i)}
	e.t.P("$1 := len(dst)", s.at)
	e.t.Add(padCode(it.Bits / 8))
	return s
}

// putSummed fills in the checksums whose bytes end before item i of their list.
func (e *layout) putSummed(sums []sumAhead, i int) {
	for _, s := range sums {
		it := s.it
		if it.To.Index != i {
			continue
		}
		if it.Ends {
			e.t.Add(ints.Put(it.Length, gotree.Plus(gotree.X("start"), int64(it.LengthAt)),
				gotree.Plus(gotree.X("len(dst) - start"), -int64(it.Less))))
		}
		from := gotree.Expr(gotree.X("start"))
		if it.From.Index >= 0 {
			from = gotree.X("(start + $1)", e.place(it.From, nil))
		}
		v := gotree.Expr(gotree.X("wire.$1.Around(dst[$2:], $3 - $2)", string(it.Sum), from, s.at))
		if it.Xor != 0 || it.XorAt > 0 {
			v = ints.Xored(it.Number, gotree.Conv(gotree.Name{Name: ints.Type(it.Number)}, v), gotree.X("dst"),
				gotree.X("start"))
		}
		e.t.Add(ints.Put(ints.Plain(it.Number), s.at, v))
	}
}
