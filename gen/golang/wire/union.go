package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// The elements of many formats are tagged unions of many kinds, such as the attributes of STUN. Their
// codec is a function that all messages share, and so is that of a kind where it would be long.

// function returns a layout for a function of its own, whose element is e.
func (d *layout) function(elem *types.Type, split bool) *layout {
	return &layout{g: d.g, t: &gotree.Block{}, message: d.message, at: gotree.X("at"),
		counts: map[*model.Field]string{}, nested: 1, took: d.took, begins: d.begins, elem: elem, split: split}
}

// composed calls compose with a layout for a function, and once more with one that makes functions of
// long kinds if the function gets too long. It returns nil if the statements need a variable around them.
func (d *layout) composed(elem *types.Type, compose func(f *layout)) *layout {
	f := d.function(elem, false)
	compose(f)
	if gotree.Lines(f.t.List) > base.Longest-10 {
		f = d.function(elem, true)
		compose(f)
	}
	if d.needs(f.t.List) {
		return nil
	}
	return f
}

// needs reports whether statements use a variable of those around them.
func (d *layout) needs(list []gotree.Stmt) bool {
	if d.took != "" && gotree.Uses(list, d.took) {
		return true
	}
	for _, begin := range d.begins {
		for _, x := range begin {
			if n, ok := x.(gotree.Name); ok && gotree.Uses(list, n.Name) {
				return true
			}
		}
	}
	return false
}

// sharing adds a function, unless there is one that does the same. It returns the name.
func (g *Codec) sharing(name string, f *gotree.Func, doc string) string {
	for _, old := range g.shared {
		if gotree.Alike(old, f) {
			return old.Name
		}
	}
	f.Name = g.Top.Take(name)
	f.Doc = base.Comment(f.Name, doc)
	g.shared = append(g.shared, f)
	g.behind = append(g.behind, f)
	return f.Name
}

// decoder adds a function that decodes into e. It returns the statements that call it.
func (d *layout) decoder(f *layout, name, doc string, one gotree.Expr) []gotree.Stmt {
	fn := d.g.sharing("decode"+name, gotree.F(`func x(b []byte, at int, e *$1, message string) (int, wire.Error) {
			$2
			return at, wire.Error{}
		}`, f.elem.X, gotree.Returning(f.t.List, gotree.X("at"))), "decodes "+doc+". It returns the offset behind it.")
	return gotree.S("var err wire.Error\nif at, err = $1(b, at, $2, $3); err.Problem != 0 {\nreturn err\n}", fn, one,
		d.messageName())
}

// encoder adds a function that appends e.
func (d *layout) encoder(f *layout, name, doc string, one gotree.Expr) []gotree.Stmt {
	code := ints.Merged(f.t.List)
	fn := d.g.sharing("encode"+name, gotree.F(`func x(dst []byte, $1 int, e *$2, message string) ([]byte, error) {
			$3
			return dst, nil
		}`, gotree.Used(code, "start"), f.elem.X, code), "appends "+doc+".")
	return gotree.S("var err error\nif dst, err = $1(dst, start, $2, $3); err != nil {\nreturn dst, err\n}",
		fn, one, d.messageName())
}

// messageName composes the name of the message for errors.
func (d *layout) messageName() gotree.Expr {
	if d.elem != nil {
		return gotree.X("message")
	}
	return gotree.Str(d.message)
}

// element composes the decoding of an element of a list. It reports whether that is a call.
func (d *layout) element(items []model.WireItem, t *model.Type, one gotree.Expr, field string) bool {
	return d.calls(items, t, one, field, (*layout).decode, d.decoder)
}

// putElement composes the encoding of an element. It reports whether that is a call.
func (e *layout) putElement(items []model.WireItem, t *model.Type, one gotree.Expr, field string) bool {
	return e.calls(items, t, one, field, (*layout).encode, e.encoder)
}

// calls composes an element: as a call of a function that messages share, which it reports, if the element
// has a union of many kinds or is long and stands in several lists; else its statements.
func (d *layout) calls(items []model.WireItem, t *model.Type, one gotree.Expr, field string,
	compose func(f *layout, items []model.WireItem, of gotree.Expr, names []string, prefix string),
	call func(f *layout, name, doc string, one gotree.Expr) []gotree.Stmt) bool {
	elem, many := d.g.Typ(t.Elem, ""), manyOf(items)
	if t.Elem.Kind == model.KindRecord && (many || d.g.often(t.Elem)) {
		f := d.composed(elem, func(f *layout) { compose(f, items, gotree.X("e"), elem.Fields, field+".") })
		if f != nil && (many || gotree.Lines(f.t.List) >= longElement) {
			d.t.Add(&gotree.Braces{Body: call(f, elem.Name, "an element of "+field, gotree.X("&$1", one))})
			return true
		}
	}
	compose(d, items, d.row(t, one), elem.Fields, field+".")
	return false
}

// longElement is how many lines the codec of an element has to have to become a function, if several messages
// have such elements.
const longElement = 12

// often reports whether elements of a record type stand in several lists of the messages.
func (g *Codec) often(t *model.Type) bool {
	if g.lists == nil {
		g.lists = map[string]int{}
		for _, m := range g.P.Messages {
			g.count(m.Layout)
		}
	}
	return g.lists[g.Typ(t, "").Name] > 1
}

// count counts the lists of record types.
func (g *Codec) count(items []model.WireItem) {
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireEach:
			if t := it.Field.Type.Elem; t.Kind == model.KindRecord && it.Present == nil && !it.Last {
				g.lists[g.Typ(t, "").Name]++
			}
			g.count(it.Items)
		case *model.WireSized:
			g.count(it.Items)
		case *model.WireIf:
			g.count(it.Items)
		case *model.WireCase:
			for _, b := range it.Branches {
				g.count(b.Items)
			}
		}
	}
}

// longKind is how many lines the codec of a kind has to have to become a function.
const longKind = 8

// kind composes a branch of a union: its statements, or a call of a function that has them.
func (d *layout) kind(b model.WireBranch, of gotree.Expr, compose func(f *layout),
	call func(f *layout, name, doc string, one gotree.Expr) []gotree.Stmt) {
	if d.split && gotree.Equal(of, gotree.X("e")) && len(b.Fields) > 0 {
		f := d.function(d.elem, true)
		compose(f)
		if gotree.Lines(f.t.List) >= longKind && !d.needs(f.t.List) {
			d.t.Add(call(f, d.elem.Name+base.GoName(b.Fields[0].Name), b.Fields[0].Name, of)...)
			return
		}
	}
	compose(d)
}

// there composes what a union's fields must be in each of its kinds: those of the kind are there, and
// no others. before stands in front of all kinds.
func (e *layout) there(it *model.WireCase, of gotree.Expr, names []string, prefix string) (before []gotree.Stmt,
	in func(b model.WireBranch) []gotree.Stmt) {
	if len(it.Fields) < manyKinds || len(it.Fields) > 64 {
		return nil, func(b model.WireBranch) (out []gotree.Stmt) {
			for _, f := range it.Fields {
				place := gotree.X("$1.Present", e.member(of, names, f))
				if slices.Contains(b.Fields, f) {
					out = append(out, gotree.S("if !$1 {\nreturn dst, $2\n}", place,
						e.err(prefix+f.Name, here, "Union", nil, gotree.Int(1)))...)
				} else {
					out = append(out, gotree.S("if $1 {\nreturn dst, $2\n}", place,
						e.err(prefix+f.Name, here, "Union", gotree.Int(1), nil))...)
				}
			}
			return out
		}
	}
	var full []string
	var flags []gotree.Expr
	for _, f := range it.Fields {
		full = append(full, prefix+f.Name)
		flags = append(flags, gotree.X("$1.Present", e.member(of, names, f)))
	}
	e.unions++
	there := fmt.Sprintf("there%d", e.unions)
	parts := e.g.partNames(full)
	before = gotree.S("$1 := $2", there, gotree.X("wire.Flags($1)", flags))
	return before, func(b model.WireBranch) []gotree.Stmt {
		want := uint64(0)
		for i, f := range it.Fields {
			if slices.Contains(b.Fields, f) {
				want |= 1 << i
			}
		}
		return gotree.S("if $1 != $2 {\nreturn dst, wire.Misplaced($3, $4[:], $1, $2, $5)\n}", gotree.X(there),
			gotree.Int(want), e.messageName(), parts, here)
	}
}

// partNames returns the name of a table of fields' names.
func (g *Codec) partNames(full []string) string {
	key := strings.Join(full, " ")
	if g.parts == nil {
		g.parts = map[string]string{}
	}
	if name := g.parts[key]; name != "" {
		return name
	}
	list := strings.Split(full[0], ".")
	name := g.Top.Take(base.Unexported(base.GoName(strings.Join(list[:len(list)-1], "_") + "_parts")))
	g.parts[key] = name
	elems := make([]gotree.Expr, len(full))
	for i, s := range full {
		elems[i] = gotree.Str(s)
	}
	typ := gotree.Array{Len: gotree.Name{Name: "..."}, Elem: gotree.Name{Name: "string"}}
	g.tail = append(g.tail, table{base.Comment(name, "are the fields of a union, for errors."), name,
		gotree.Composite{Type: typ, Elems: gotree.Elems(elems...), Lines: true}})
	return name
}
