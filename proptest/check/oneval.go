package check

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/cond"
)

// oneValue says that a claim compares values of types of which there is only one in this check, as
// data has that is carried and not explored; empty if there are none.
func oneValue(c *model.Claim) string {
	var names []string
	exprs := []core.Expr{core.Of(c.When), core.Of(c.Expr)}
	if c.Kind == model.Agree {
		exprs[1] = core.Of(cond.Equalities(c))
	}
	for _, e := range exprs {
		core.Walk(e, func(e core.Expr) {
			x, ok := e.(*core.Apply)
			if !ok || x.Op < core.Eq || x.Op > core.Ge {
				return
			}
			for _, arg := range x.Args {
				for _, name := range single(arg.Node().T, nil) {
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		})
	}
	if len(names) == 0 {
		return ""
	}
	return "it compares values of " + diag.And(names) + ", of which there is one in this check" +
		strings.Repeat(" each", min(1, len(names)-1)) + ": nothing is said for others (`domains` gives more)"
}

// single lists the types within t that have one value. Bounds of numbers that nobody has named are no types of
// the author's.
func single(t *model.Type, names []string) []string {
	if t == nil {
		return names
	}
	name := t.Name
	switch t.Kind {
	case model.KindOpaque, model.KindBytes:
		if name == "" {
			name = map[model.TypeKind]string{model.KindOpaque: "opaque", model.KindBytes: "text"}[t.Kind]
		}
	case model.KindInt, model.KindEnum:
	default:
		for _, f := range t.Fields {
			names = single(f.Type, names)
		}
		return single(t.Elem, names)
	}
	if name != "" && t.Count() == 1 {
		names = append(names, name)
	}
	return names
}
