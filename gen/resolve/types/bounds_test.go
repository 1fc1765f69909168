package types

import (
	"testing"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// calc computes what an operator gives for two numbers; defined is false where it faults.
func calc(op model.Op, a, b int64) (v int64, defined bool) {
	lit := func(v int64) model.Expr {
		return &model.Lit{ExprBase: model.ExprBase{T: Int(v, v)}, Value: v}
	}
	return Constant(&model.Binary{Op: op, X: lit(a), Y: lit(b)})
}

// eachRange calls visit for all pairs of small ranges.
func eachRange(visit func(a, b *model.Type)) {
	const lo, hi = -3, 3
	for al := int64(lo); al <= hi; al++ {
		for ah := al; ah <= hi; ah++ {
			for bl := int64(lo); bl <= hi; bl++ {
				for bh := bl; bh <= hi; bh++ {
					visit(Int(al, ah), Int(bl, bh))
				}
			}
		}
	}
}

// eachPair calls visit for all values of two ranges that op is defined for.
func eachPair(op model.Op, a, b *model.Type, visit func(v int64)) {
	for x := a.Lo; x <= a.Hi; x++ {
		for y := b.Lo; y <= b.Hi; y++ {
			if v, ok := calc(op, x, y); ok {
				visit(v)
			}
		}
	}
}

// TestBounds tries all values of all small ranges: results stay within the bounds, and sums,
// differences and products reach them.
func TestBounds(t *testing.T) {
	for _, op := range []model.Op{model.OpAdd, model.OpSub, model.OpMul, model.OpDiv, model.OpMod} {
		eachRange(func(a, b *model.Type) {
			lo, hi := Bounds(core.OfOperator(op), a, b)
			least, most, any := int64(0), int64(0), false
			eachPair(op, a, b, func(v int64) {
				if !any {
					least, most, any = v, v, true
				}
				least, most = min(least, v), max(most, v)
			})
			if any && (least < lo || most > hi) || op <= model.OpMul && (least != lo || most != hi) {
				t.Fatalf("op %d of %d..%d and %d..%d: %d..%d, bounds say %d..%d", op, a.Lo, a.Hi,
					b.Lo, b.Hi, least, most, lo, hi)
			}
		})
	}
	const big = pass.MaxNumber
	if lo, hi := Bounds(core.Mul, Int(-big, big), Int(-big, big)); lo >= -big || hi <= big {
		t.Errorf("a product beyond the limit is said to be %d..%d", lo, hi)
	}
}

// TestCompareRanges tries all values of all small ranges: a comparison is called decided
// exactly where it is.
func TestCompareRanges(t *testing.T) {
	for _, op := range []model.Op{model.OpEq, model.OpNe, model.OpLt, model.OpLe, model.OpGt, model.OpGe} {
		eachRange(func(a, b *model.Type) {
			always, never := CompareRanges(op, a, b)
			all, none := true, true
			eachPair(op, a, b, func(v int64) {
				all, none = all && v == 1, none && v == 0
			})
			if always != all || never != none {
				t.Fatalf("op %d of %d..%d and %d..%d: always %v, never %v; said %v, %v", op, a.Lo,
					a.Hi, b.Lo, b.Hi, all, none, always, never)
			}
		})
	}
}
