// Package wire composes the codec of a package: the functions that read and write the frames or
// lines of its messages. It must not know of machines. Start from [New].
package wire

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// Codec composes the codec's file.
type Codec struct {
	*types.Gen
	codes map[*types.Type]string // tables of codes
	words map[*types.Type]string // tables of words
	funcs []*gotree.Func
	later []*gotree.Func // behind that which calls them
	// shared are functions for what several messages have in common, behind those that are not written yet.
	shared, behind []*gotree.Func
	parts          map[string]string // tables of the fields of unions
	lists          map[string]int    // how many lists have elements of a type
	tail           []table           // behind the functions
}

// table is a variable of the file.
type table struct {
	doc, name string
	value     gotree.Expr
}

// New starts the composition of a codec.
func New(g *types.Gen) *Codec {
	return &Codec{Gen: g, codes: map[*types.Type]string{}, words: map[*types.Type]string{}}
}

func (t table) write(f *jen.File) {
	f.Line()
	f.Comment(t.doc)
	f.Var().Id(t.name).Op("=").Add(gotree.Code(t.value))
}

// add adds a function to the file.
func (g *Codec) add(f *gotree.Func) { g.funcs = append(g.funcs, f) }

// kindCase returns the case of a message.
func (g *Codec) kindCase(i int, body ...gotree.Stmt) *gotree.Case {
	return &gotree.Case{List: []gotree.Expr{gotree.Name{Name: g.Messages[i].Kind}}, Body: body}
}

// fieldsOf composes the place of a message's fields, if it has any.
func (g *Codec) fieldsOf(i int) []gotree.Expr {
	if g.Messages[i].Member == "" {
		return nil
	}
	return []gotree.Expr{gotree.X("&m.$1", g.Messages[i].Member)}
}

// bodyCode reports whether a message has functions of its own in the codec.
func bodyCode(m *model.Message) bool { return len(m.Layout) > 0 || len(m.Head) > 0 }

// padCode composes the statements that append zeros.
func padCode(n int) gotree.Stmt {
	if n > 16 {
		return gotree.S("dst = append(dst, make([]byte, $1)...)", n)[0]
	}
	return ints.Appended(zeros(n)...)
}

func zeros(n int) []gotree.Expr { return slices.Repeat([]gotree.Expr{gotree.Int(0)}, n) }

// checksumAt returns the offset of the checksum in the header; -1 if there is none.
func checksumAt(w *model.Wire) (at int, little bool) {
	for _, item := range w.Header {
		if it, ok := item.(*model.WireChecksum); ok {
			return it.Offset, it.Little
		}
	}
	return -1, false
}

func mismatch(message string, at gotree.Expr, want int64) gotree.Expr {
	elems := []gotree.Elem{}
	if message != "" {
		elems = append(elems, gotree.Field("Message", gotree.Str(message)))
	}
	if n, ok := gotree.Number(at); !ok || n != 0 || message == "" {
		elems = append(elems, gotree.Field("Offset", at))
	}
	return gotree.Struct(gotree.X("wire.Error"), append(elems, gotree.Field("Problem", gotree.X("wire.Mismatch")),
		gotree.Field("Value", gotree.X("int64(v)")), gotree.Field("Limit", gotree.Int(want)))...)
}

// literalError composes the error of byte i of a constant text.
func literalError(message, at gotree.Expr, want string) gotree.Expr {
	return gotree.X("wire.Error{Message: $1, Offset: $2 + i, Problem: wire.Byte, Value: int64(b[$2+i]), "+
		"Limit: int64($3[i])}", message, at, gotree.Str(want))
}
