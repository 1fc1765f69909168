package core

import (
	"slices"

	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// What follows from the parts of an expression: its type's shape, its interval, whether it can
// fail. The lowering and the rewriter make every expression here.

func base(t *model.Type, from model.Expr, operands ...Expr) Base {
	b := Base{T: t, Slots: t.Slots(), Num: t.Scalar(), In: domain(t), From: from}
	for _, x := range operands {
		b.CanFail = b.CanFail || x != nil && x.Node().CanFail
	}
	return b
}

// domain is the interval of the numbers of a type; of an optional, of what it has.
func domain(t *model.Type) interval.Interval {
	if t.Kind == model.KindOptional {
		return interval.Of(t.Elem)
	}
	return interval.Of(t)
}

// number makes a constant of one slot.
func number(t *model.Type, v int64, from model.Expr) *Const {
	e := &Const{Base: base(t, from), Value: v}
	e.In = interval.Interval{Lo: v, Hi: v}
	return e
}

// payload makes the expression of what an optional has.
func payload(x Expr, from model.Expr) *Field {
	e := &Field{Base: base(x.Node().T.Elem, from), X: x}
	e.In, e.CanFail = x.Node().In, true
	return e
}

func newField(x Expr, f *model.Field, from model.Expr) *Field {
	return &Field{Base: base(f.Type, from, x), X: x, Field: f}
}

func newIndex(x, i Expr, t *model.Type, from model.Expr) *Index {
	e := &Index{Base: base(t, from, x, i), X: x, I: i}
	e.In = domain(x.Node().T.Elem)
	e.CanFail = e.CanFail || x.Node().T.Kind == model.KindList || !i.Node().In.In(places(x.Node().T.Index))
	return e
}

// places is the interval of the numbers that a type which selects has.
func places(t *model.Type) interval.Interval {
	return interval.Interval{Lo: t.Lowest(), Hi: t.Lowest() + t.Count() - 1}
}

func newApply(op Op, args []Expr, t *model.Type, from model.Expr) *Apply {
	e := &Apply{Base: base(t, from), Op: op, Args: args}
	e.apply()
	return e
}

func newIf(form Form, cond, then, els Expr, t *model.Type, from model.Expr) *If {
	e := &If{Base: base(t, from, cond, then, els), Form: form, Cond: cond, Then: then, Else: els}
	e.In = then.Node().In.Union(els.Node().In)
	return e
}

// Join makes x && y (FormAnd) or x || y (FormOr) of two conditions; from has its place and words.
func Join(form Form, x, y Expr, from model.Expr) *If {
	t := x.Node().T
	if form == FormAnd {
		return newIf(form, x, y, number(t, 0, from), t, from)
	}
	return newIf(form, x, number(t, 1, from), y, t, from)
}

// Conjuncts splits e at &&; a nil e has none.
func Conjuncts(e Expr) []Expr {
	if x, ok := e.(*If); ok && x.Form == FormAnd {
		return append(Conjuncts(x.Cond), Conjuncts(x.Then)...)
	}
	if e == nil {
		return nil
	}
	return []Expr{e}
}

func newMake(elems []Expr, t *model.Type, from model.Expr) *Make {
	e := &Make{Base: base(t, from, elems...), Elems: elems}
	switch t.Kind {
	case model.KindOptional:
		e.In = elems[0].Node().In
	case model.KindList:
		e.CanFail = e.CanFail || len(elems) > t.Cap
	}
	return e
}

func newFold(f Fold, t *model.Type, from model.Expr) *Fold {
	f.Base = base(t, from, f.Over, f.Where, f.Elem)
	switch f.How {
	case First:
		f.In = interval.Of(f.Local.Type)
	case List:
		f.CanFail = f.CanFail || Rounds(f.Values, f.Over) > int64(t.Cap)
	case Array:
		f.CanFail = f.CanFail || !interval.Of(f.Local.Type).In(places(t.Index))
	}
	return &f
}

// Rounds returns how many rounds a loop over the values of a type, or over elements, has at most.
func Rounds(values *model.Type, over Expr) int64 {
	if values != nil {
		return values.Count()
	}
	switch t := over.Node().T; t.Kind {
	case model.KindSet:
		return t.Elem.Count()
	case model.KindArray:
		return t.Index.Count()
	default:
		return int64(t.Cap)
	}
}

// fitted converts x to the type of the place that stores it, if that is needed.
func fitted(x Expr, t *model.Type, at diag.Span, words string) Expr {
	if alike(x.Node().T, t) && fits(x, t) {
		return x
	}
	return newFit(x, t, at, words)
}

func newFit(x Expr, t *model.Type, at diag.Span, words string) *Fit {
	e := &Fit{Base: base(t, x.Node().From, x), X: x, At: at, Words: words}
	e.In = x.Node().In.Meet(e.In)
	e.CanFail = e.CanFail || !fits(x, t)
	return e
}

// Bare returns the expression that is fitted, or e itself: what was written, without the place that
// stores it.
func Bare(e Expr) Expr {
	if f, ok := e.(*Fit); ok {
		return f.X
	}
	return e
}

// alike reports whether values of both types take the same slots in the same way.
func alike(t, u *model.Type) bool {
	if t == u {
		return true
	}
	switch u.Kind {
	case model.KindOptional:
		return alike(t.Elem, u.Elem)
	case model.KindRecord:
		return slices.EqualFunc(t.Fields, u.Fields, func(f, g *model.Field) bool { return alike(f.Type, g.Type) })
	case model.KindArray:
		return t.Index.Count() == u.Index.Count() && alike(t.Elem, u.Elem)
	case model.KindList:
		return t.Cap == u.Cap && alike(t.Elem, u.Elem)
	case model.KindSet:
		return t.Elem.Lowest() == u.Elem.Lowest()
	}
	return true
}

// fits reports whether every value of x is one of t.
func fits(x Expr, t *model.Type) bool {
	switch x := x.(type) {
	case *Const:
		if x.IsText {
			return len(x.Text) <= t.Cap
		}
		if t.Kind == model.KindOptional {
			return true
		}
	case *Make:
		if t.Kind == model.KindOptional {
			return fits(x.Elems[0], t.Elem)
		}
	case *Field:
		if m, ok := x.X.(*Make); ok && x.Field == nil {
			return fits(m.Elems[0], t) // whose range was not checked
		}
	case *If:
		return fits(x.Then, t) && fits(x.Else, t)
	}
	switch t.Kind {
	case model.KindBool, model.KindInt, model.KindNode, model.KindEnum:
		return x.Node().In.In(interval.Of(t))
	}
	return Within(x.Node().T, t)
}

// Within reports whether every value of t is one of u; both are Same.
func Within(t, u *model.Type) bool {
	if t == u {
		return true
	}
	switch u.Kind {
	case model.KindOptional:
		return Within(t.Elem, u.Elem)
	case model.KindRecord:
		return slices.EqualFunc(t.Fields, u.Fields, func(f, g *model.Field) bool { return Within(f.Type, g.Type) })
	case model.KindArray:
		return t.Index.Count() == u.Index.Count() && Within(t.Elem, u.Elem)
	case model.KindList:
		return t.Cap <= u.Cap && Within(t.Elem, u.Elem)
	case model.KindSet:
		return places(t.Elem).In(places(u.Elem))
	case model.KindBytes:
		return t.Cap <= u.Cap
	case model.KindOpaque:
		return t.Bits <= u.Bits
	}
	return interval.Of(t).In(interval.Of(u))
}

// at fills in where a place lies: offset is that of what is meant in the machine that Path leads
// to, and stride is how far apart its instances are if keys, of the given fields, select one.
func (p *Place) at(offset int, fields []*model.Field, stride int) {
	p.Offset, p.Moves = offset, nil
	for _, s := range p.Path {
		p.Offset += s.Part.Offset
		p.move(s.Part.Keys, s.Keys, s.Part.Machine.Size)
	}
	p.move(fields, p.Keys, stride)
}

func (p *Place) move(fields []*model.Field, keys []Expr, stride int) {
	strides := make([]int, len(keys))
	for i := len(keys) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= int(fields[i].Type.Count())
	}
	for i, k := range keys {
		low := fields[i].Type.Lowest()
		if c, ok := k.(*Const); ok {
			p.Offset += int(c.Value-low) * strides[i]
			continue
		}
		p.Moves = append(p.Moves, Move{k, low, strides[i]})
	}
}
