package machine

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// lineUp numbers fields anew that come from several declarations.
func lineUp(fields []*model.Field) []*model.Field {
	out := make([]*model.Field, len(fields))
	off := 0
	for i, f := range fields {
		c := *f
		c.Index, c.Offset = i, off
		off += f.Type.Slots()
		out[i] = &c
	}
	return out
}

// literalOf makes the literal NAME{a, b} with all fields of a declaration.
func literalOf(name string, fields []*model.Field, at diag.Span) syntax.Node {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return syntax.Shorthand(syntax.Name(name, at), names, at)
}

// fixed reports whether a value of type t keeps its value whatever the statements do, so that it
// can stand wherever the field is mentioned.
func fixed(x model.Expr, t *model.Type) bool {
	switch e := x.(type) {
	case *model.LocalRef, *model.Sender:
	case *model.VarRef:
		if len(e.Path) > 0 || !e.Var.Self && !e.Var.Parties {
			return false
		}
	default:
		return false
	}
	return types.Compatible(x.Type(), t) && types.SameDomain(x.Type(), t) && x.Type().Kind == t.Kind
}

// let binds a local to a value. It is a loop over a list with this one element.
func let(l *model.Local, value model.Expr, at diag.Span) *model.Each {
	t := types.WithLayout(&model.Type{Kind: model.KindList, Elem: l.Type, Cap: 1})
	list := &model.ListLit{ExprBase: model.ExprBase{T: t, Span: value.Pos()}, Elems: []model.Expr{value}}
	return &model.Each{StmtBase: model.StmtBase{Span: at}, Local: l, Over: list}
}

// splitKeys takes `name` and `name[key, …]` apart. id is nil if n is neither.
func splitKeys(n syntax.Node) (id *syntax.Ident, keys []syntax.Node, indexed bool) {
	if ix, ok := n.(*syntax.Index); ok {
		n, keys, indexed = ix.X, ix.Args, true
	}
	id, _ = n.(*syntax.Ident)
	return id, keys, indexed
}

// choosesOne reports whether an expression is an `if(…)` that has no list of instances among its sides, so that these
// say by themselves whether each is an instance or a set.
func choosesOne(n syntax.Node) bool {
	c, ok := n.(*syntax.Call)
	return ok && c.Fn == "if" && !slices.ContainsFunc(c.Args[min(1, len(c.Args)):], lists)
}

// lists reports whether an expression writes instances one by one.
func lists(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.List, *syntax.Build:
		return true
	case *syntax.Call:
		return n.Fn == "if" && slices.ContainsFunc(n.Args[min(1, len(n.Args)):], lists)
	}
	return false
}
