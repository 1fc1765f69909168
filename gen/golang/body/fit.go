package body

import (
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// fit is a function that converts between two types with different ranges or bounds.
type fit struct {
	name     string
	from, to *model.Type
}

// fit returns the name of the function that converts from one type to another.
func (g *Funcs) fit(from, to *model.Type) string {
	a, b := g.Typ(from, ""), g.Typ(to, "")
	for _, f := range g.fits {
		if types.Key(f.from) == types.Key(from) && types.Key(f.to) == types.Key(to) {
			return f.name
		}
	}
	f := &fit{g.Top.Take("fit" + types.SimpleName(a.Name) + "To" + types.SimpleName(b.Name)), from, to}
	g.fits = append(g.fits, f)
	return f.name
}

// FitFuncs returns the functions that convert between types.
func (g *Funcs) FitFuncs() []*gotree.Func {
	var out []*gotree.Func
	for i := 0; i < len(g.fits); i++ { // one may need others
		c := g.fits[i]
		b := &gotree.Block{}
		g.fitBody(c, b)
		f := gotree.F("func $1(v *$2) (r $3, ok bool) {\n$4\nreturn r, true\n}", c.name, g.Typ(c.from, "").X,
			g.Typ(c.to, "").X, b.List)
		f.Doc = base.Comment(c.name, "converts a value; false if it does not fit.")
		out = append(out, f)
	}
	return out
}

func (g *Funcs) fitBody(c *fit, out *gotree.Block) {
	one := func(to *model.Type, dst gotree.Expr, from *model.Type, src gotree.Expr) []gotree.Stmt {
		b := &body{g: g, r: &types.Machine{}, out: &gotree.Block{}, names: g.Locals(), f: &types.Facts{},
			refuse: func(bool) gotree.Stmt { return gotree.Returns(gotree.X("r"), gotree.X("false")) }}
		for _, n := range [...]string{"v", "r", "ok"} {
			b.names.Take(n)
		}
		s := b.fitted(variable(src, from), interval.Of(from), to)
		b.out.P("$1 = $2", dst, s)
		return b.out.List
	}
	x := gotree.X
	switch c.to.Kind {
	case model.KindOptional:
		out.P("if v.Present {\nr.Present = true\n$1\n}", one(c.to.Elem, x("r.Value"), c.from.Elem, x("v.Value")))
	case model.KindRecord:
		for i, f := range c.to.Fields {
			out.Add(one(f.Type, x("r.$1", g.Typ(c.to, "").Fields[i]), c.from.Fields[i].Type,
				x("v.$1", g.Typ(c.from, "").Fields[i]))...)
		}
	case model.KindArray:
		if c.to.Index.Count() != c.from.Index.Count() {
			out.P("if len(v) != len(r) {\nreturn r, false\n}")
		}
		out.P("for i := range min(len(v), len(r)) {\n$1\n}", one(c.to.Elem, x("r[i]"), c.from.Elem, x("v[i]")))
	case model.KindList:
		out.P(`if int(v.Len) > len(r.Items) {
				return r, false
			}
			r.Len = $1(v.Len)
			for i := range v.Items[:v.Len] {
				$2
			}`,
			types.LenType(c.to.Cap), one(c.to.Elem, x("r.Items[i]"), c.from.Elem, x("v.Items[i]")))
	case model.KindBytes:
		out.P("if int(v.Len) > len(r.Data) {\nreturn r, false\n}\nr.Len = $1(copy(r.Data[:], v.Data[:v.Len]))",
			types.LenType(c.to.Cap))
	case model.KindSet:
		shift := c.from.Elem.Lowest() - c.to.Elem.Lowest()
		out.P("w := uint64(*v)")
		if shift < 0 {
			out.P("if w&(1<<$1-1) != 0 {\nreturn r, false\n}\nw >>= $1", -shift)
		} else if shift > 0 {
			out.P("if w>>$1 != 0 {\nreturn r, false\n}\nw <<= $2", 64-shift, shift)
		}
		if n := c.to.Elem.Count(); n < 64 {
			out.P("if w>>$1 != 0 {\nreturn r, false\n}", n)
		}
		out.P("r = $1(w)", g.Typ(c.to, "").X)
	}
}
