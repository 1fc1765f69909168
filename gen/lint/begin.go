package lint

import (
	"fmt"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// beginnings finds variables that begin below 0 though the author does not say so. The zero value
// of a range is its low bound, and who writes -48..48 seldom wants -48.
func (l *linter) beginnings(m *model.Machine) {
	for _, v := range m.Vars {
		if v.Init != nil || v.Type == nil {
			continue
		}
		path, t := belowZero(v.Name, v.Type)
		if t == nil {
			continue
		}
		what := "the variable " + diag.Quote(path) + " begins"
		if path != v.Name {
			what = diag.Quote(path) + " begins"
		}
		l.warn("FSM032", v.Span, "%s at %d, the low bound of %s, and not at 0", what, t.Lo,
			model.TypeString(t)).With(remedy(v.Type, t))
	}
}

// belowZero returns the first range within t that contains 0 and begins below it, and what has
// that range; nil if there is none. Optionals begin as none, and lists and sets empty.
func belowZero(path string, t *model.Type) (string, *model.Type) {
	switch t.Kind {
	case model.KindInt:
		if t.Lo < 0 && t.Hi >= 0 {
			return path, t
		}
	case model.KindArray:
		return belowZero(path+"[…]", t.Elem)
	case model.KindRecord:
		for _, f := range t.Fields {
			if p, low := belowZero(path+"."+f.Name, f.Type); low != nil {
				return p, low
			}
		}
	}
	return "", nil
}

// remedy returns how to write the value with which a variable begins.
func remedy(t, low *model.Type) string {
	meant := fmt.Sprintf("; if it is meant so, `init: %d` says it", low.Lo)
	switch {
	case t == low:
		return fmt.Sprintf("write `{type: %s, init: 0}`", model.TypeString(t)) + meant
	case t.Kind == model.KindArray && t.Elem == low:
		return fmt.Sprintf("write `init: \"[0 for k in %s]\"`", model.TypeString(t.Index))
	}
	return "say with `init` what it begins with"
}
