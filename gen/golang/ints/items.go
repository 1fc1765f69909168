package ints

import (
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// What items of a frame make of numbers.

// Const composes a constant as a number of its Go type.
func Const(it *model.WireConst) gotree.Expr {
	if it.Signed {
		return gotree.Int(it.Value)
	}
	return gotree.Int(uint64(it.Value))
}

// Shifted composes the number of an item at its place in a word of a Go type.
func Shifted(word string, it *model.WireInt, v gotree.Expr, shift int) gotree.Expr {
	if n, ok := gotree.Number(v); ok {
		return gotree.Int(uint64(n) & Largest(it.Bits) << shift)
	}
	v = gotree.X("$1($2)", word, v)
	if it.Signed {
		v = gotree.X("$1&$2", v, Largest(it.Bits))
	}
	if shift > 0 {
		v = gotree.X("$1<<$2", v, shift)
	}
	return v
}

// Merged joins neighbouring appends of bytes, as long as they fit on one line.
func Merged(list []gotree.Stmt) []gotree.Stmt {
	var out []gotree.Stmt
	for _, s := range list {
		switch s := s.(type) {
		case *gotree.If:
			s.Then, s.Else = Merged(s.Then), Merged(s.Else)
		case *gotree.Range:
			s.Body = Merged(s.Body)
		case *gotree.Braces:
			s.Body = Merged(s.Body)
		}
		if n := len(out) - 1; n >= 0 {
			a, b := bytesAppended(out[n]), bytesAppended(s)
			if a != nil && b != nil && len(gotree.Text(gotree.Call{Fun: gotree.X("append"), Args: a})) < 84 {
				out[n] = Appended(append(a, b...)...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// bytesAppended returns the bytes that a statement appends to dst. It returns nil for any other
// statement.
func bytesAppended(s gotree.Stmt) []gotree.Expr {
	a, ok := s.(*gotree.Assign)
	if !ok || a.Op != "=" || len(a.Right) != 1 {
		return nil
	}
	call, ok := a.Right[0].(gotree.Call)
	if !ok || call.Spread || !gotree.Equal(call.Fun, gotree.X("append")) || !gotree.Equal(a.Left,
		[]gotree.Expr{gotree.X("dst")}) {
		return nil
	}
	return call.Args[1:len(call.Args):len(call.Args)]
}

// None composes the number that stands for none.
func None(it *model.WireInt) gotree.Expr {
	if it.Signed {
		return gotree.Int(it.None)
	}
	return gotree.Int(uint64(it.None))
}

// Of returns the number of an item that has one.
func Of(item model.WireItem) model.Number {
	switch it := item.(type) {
	case *model.WireInt:
		return it.Number
	case *model.WireConst:
		return it.Number
	}
	return model.Number{}
}
