package wire

import (
	"slices"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/ints"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// What items say by themselves, whichever way they are taken.

// anchors returns which items an align counts from.
func anchors(items []model.WireItem) map[int]bool {
	used := map[int]bool{}
	for _, item := range items {
		if a, ok := item.(*model.WireAlign); ok && a.Since >= 0 {
			used[a.Since] = true
		}
	}
	summed(items, 0, used)
	return used
}

// summed adds the items of a list at which sums begin or end; items are that list, or so many further in.
func summed(items []model.WireItem, up int, used map[int]bool) {
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireSum:
			for _, a := range []model.Anchor{it.From, it.To} {
				if a.Up == up && a.Index >= 0 && !(it.Ahead && a == it.To) {
					used[a.Index] = true
				}
			}
		case *model.WireSized:
			summed(it.Items, up+1, used)
		case *model.WireIf:
			summed(it.Items, up+1, used)
		case *model.WireCase:
			for _, b := range it.Branches {
				summed(b.Items, up+1, used)
			}
		}
	}
}

func isAlign(item model.WireItem) bool {
	_, ok := item.(*model.WireAlign)
	return ok
}

// elements composes the element of an array in row i, and that part of the array that has rows.
func elements(it *model.WireEach, place gotree.Expr) (one, over gotree.Expr) {
	t := it.Field.Type
	if t.Kind != model.KindArray || it.Rows == 0 {
		return gotree.X("$1[i]", place), place
	}
	from, to := it.Elements()
	if from == 0 && to == int(t.Index.Count()) {
		return gotree.X("$1[i]", place), place
	}
	if from == 0 {
		return gotree.X("$1[i]", place), gotree.X("$1[:$2]", place, to)
	}
	return gotree.X("$1[$2+i]", place, from), gotree.X("$1[$2:$3]", place, from, to)
}

// manyKinds is how many kinds a union has to have for functions of its own.
const manyKinds = 4

// manyOf reports whether items have a union of many kinds.
func manyOf(items []model.WireItem) bool {
	for _, item := range items {
		switch it := item.(type) {
		case *model.WireCase:
			if len(it.Branches) >= manyKinds {
				return true
			}
		case *model.WireSized:
			if manyOf(it.Items) {
				return true
			}
		case *model.WireIf:
			if manyOf(it.Items) {
				return true
			}
		}
	}
	return false
}

// fieldsParam returns the parameter for a message's fields, if it has any.
func fieldsParam(code []gotree.Stmt, n types.MessageNames) []gotree.Param {
	if n.Member == "" {
		return []gotree.Param{}
	}
	return []gotree.Param{{Name: gotree.Used(code, "m"), Type: gotree.X("*$1", n.Typ)}}
}

func assigns(s gotree.Stmt) bool {
	_, ok := s.(*gotree.Assign)
	return ok
}

// directed reports whether some of the messages do not reach every role.
func directed(list []*model.Message) bool {
	return slices.ContainsFunc(list, func(m *model.Message) bool { return m.From != "" })
}

// converted converts v to a type. It returns v if v has the type already.
func converted(typ *types.Type, n model.Number, v gotree.Expr) gotree.Expr {
	if typ.Name == ints.Type(n) {
		return v
	}
	return gotree.Conv(typ.X, v)
}
