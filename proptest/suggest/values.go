package suggest

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// What an edit may write: the values that are in scope in a branch, by the names that the author would write.

// mostValues is how many values are tried in one place, and mostSends how many ways to fill the fields of a message.
const (
	mostValues = 8
	mostSends  = 8
)

// sources lists what can stand where a value of a type is needed: fields of the event, variables and parameters of
// the role, and constants of small types.
func sources(m *model.Machine, ev *model.Event, t *model.Type) (names []string) {
	for _, f := range ev.Fields {
		own := slices.ContainsFunc(slices.Concat(m.Params, m.Vars), func(v *model.Var) bool { return v.Name == f.Name })
		if fits(f.Type, t) && !own && ev.Kind != model.EventTimer {
			names = append(names, f.Name)
		}
	}
	for _, v := range slices.Concat(m.Vars, m.Params) {
		if fits(v.Type, t) && v.Ghost == model.NoGhost && !v.Self && !v.Parties {
			names = append(names, v.Name)
		}
	}
	switch t.Kind {
	case model.KindOptional:
		names = append(names, "none")
	case model.KindBool:
		names = append(names, "true", "false")
	case model.KindEnum:
		names = append(names, t.Names...)
	}
	return names[:min(len(names), mostValues)]
}

// fits reports whether a value of one type can stand where another is needed, so that nothing can go wrong.
func fits(from, to *model.Type) bool {
	if to.Kind == model.KindOptional && from.Kind != model.KindOptional {
		return fits(from, to.Elem)
	}
	switch {
	case from.Kind != to.Kind || !from.Same(to):
		return false
	case from.Kind == model.KindInt || from.Kind == model.KindNode:
		return from.Lo >= to.Lo && from.Hi <= to.Hi
	case from.Kind == model.KindOptional:
		return fits(from.Elem, to.Elem)
	}
	return true
}

// read is the expression of a name in a branch, as a value of a type; nil if the name means nothing there.
func read(m *model.Machine, t *model.Transition, name string, to *model.Type) model.Expr {
	var e model.Expr
	for _, l := range t.Params {
		if l.Name == name && !l.Hidden {
			e = &model.LocalRef{ExprBase: model.ExprBase{T: l.Type}, Local: l}
		}
	}
	for _, v := range slices.Concat(m.Vars, m.Params) {
		if v.Name == name && e == nil {
			e = &model.VarRef{ExprBase: model.ExprBase{T: v.Type}, Var: v}
		}
	}
	switch {
	case e != nil && to.Kind == model.KindOptional && e.Type().Kind != model.KindOptional:
		return &model.Some{ExprBase: model.ExprBase{T: to}, X: e}
	case e != nil:
		return e
	case name == "none" && to.Kind == model.KindOptional:
		return &model.None{ExprBase: model.ExprBase{T: to}}
	case to.Kind == model.KindBool && (name == "true" || name == "false"):
		lit := &model.Lit{ExprBase: model.ExprBase{T: to}}
		if name == "true" {
			lit.Value = 1
		}
		return lit
	case to.Kind == model.KindEnum && slices.Contains(to.Names, name):
		return &model.Lit{ExprBase: model.ExprBase{T: to}, Value: int64(slices.Index(to.Names, name))}
	}
	return nil
}

// fillings lists ways to fill the fields of a message in a branch, each as names with commas between them: what has a
// field's own name comes first.
func fillings(m *model.Machine, ev *model.Event, msg *model.Message) (list []string) {
	all := [][]string{nil}
	for _, f := range msg.Fields {
		names := sources(m, ev, f.Type)
		slices.SortStableFunc(names, func(a, b string) int {
			switch {
			case a == f.Name && b != f.Name:
				return -1
			case b == f.Name && a != f.Name:
				return 1
			}
			return 0
		})
		var next [][]string
		for _, head := range all {
			for _, n := range names {
				next = append(next, append(slices.Clone(head), n))
			}
		}
		all = next[:min(len(next), 4*mostSends)]
	}
	for _, names := range all[:min(len(all), mostSends)] {
		list = append(list, strings.Join(names, ","))
	}
	return list
}

// assignments lists what an event may set besides what it does: variables to fields of the event of the same type, and
// to none.
func assignments(m *model.Machine, ev *model.Event) (list []string) {
	for _, v := range m.Vars {
		if v.Ghost != model.NoGhost {
			continue
		}
		for _, name := range sources(m, ev, v.Type) {
			field := slices.ContainsFunc(ev.Fields, func(f *model.Field) bool { return f.Name == name })
			if name != v.Name && (field || name == "none") {
				list = append(list, v.Name+"="+name)
			}
		}
	}
	return list[:min(len(list), 2*mostValues)]
}

// assign is the statement of an assignment, as [assignments] has it.
func assign(m *model.Machine, t *model.Transition, text string) model.Stmt {
	name, value, _ := strings.Cut(text, "=")
	k := slices.IndexFunc(m.Vars, func(v *model.Var) bool { return v.Name == name })
	v := read(m, t, value, m.Vars[k].Type)
	if v == nil { // the model of a check may have fewer names: nothing is changed there
		v = &model.VarRef{ExprBase: model.ExprBase{T: m.Vars[k].Type}, Var: m.Vars[k]}
	}
	return &model.Set{Var: m.Vars[k], Value: v}
}

// comparisons lists the texts of the comparisons for equality in the guards of a handler, each once.
func comparisons(h *model.Handler) (list []string) {
	for _, t := range h.Branches {
		eachComparison(t.When, func(b *model.Binary) {
			if text := model.ExprString(b); !slices.Contains(list, text) {
				list = append(list, text)
			}
		})
	}
	return list
}

func eachComparison(e model.Expr, visit func(*model.Binary)) {
	switch e := e.(type) {
	case *model.Unary:
		eachComparison(e.X, visit)
	case *model.Binary:
		if e.Op == model.OpEq || e.Op == model.OpNe {
			visit(e)
			return
		}
		eachComparison(e.X, visit)
		eachComparison(e.Y, visit)
	}
}

// flipped is a guard in which each comparison of a text asks the contrary.
func flipped(e model.Expr, text string) model.Expr {
	switch e := e.(type) {
	case *model.Unary:
		n := *e
		n.X = flipped(e.X, text)
		return &n
	case *model.Binary:
		n := *e
		switch {
		case e.Op != model.OpEq && e.Op != model.OpNe:
			n.X, n.Y = flipped(e.X, text), flipped(e.Y, text)
		case model.ExprString(e) == text && e.Op == model.OpEq:
			n.Op = model.OpNe
		case model.ExprString(e) == text:
			n.Op = model.OpEq
		}
		return &n
	}
	return e
}

// contrary is the text of a comparison that asks the contrary.
func contrary(text string) string {
	if strings.Contains(text, " != ") {
		return strings.Replace(text, " != ", " == ", 1)
	}
	return strings.Replace(text, " == ", " != ", 1)
}
