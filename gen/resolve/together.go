package resolve

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// differs reports a name that is a field of some events of a key but does not mean the same in all of them.
func (s *scope) differs(name string, at diag.Span) bool {
	var has, lacks *model.Event
	var first *model.Field
	for _, ev := range s.together {
		f := fieldNamed(ev.Fields, name)
		switch {
		case f == nil:
			lacks = ev
		case first == nil:
			has, first = ev, f
		case !compatible(first.Type, f.Type) || !sameDomain(first.Type, f.Type):
			s.r.Errorf("FSM079", at, "%s is %s in %s, but %s in %s", diag.Quote(name), describe(first.Type), diag.Quote(has.Name), describe(f.Type), diag.Quote(ev.Name)).
				See(first.Span, "the one").See(f.Span, "the other").With("say what to do with each of the events on its own")
			return true
		}
	}
	if has == nil || lacks == nil {
		return false
	}
	s.r.Errorf("FSM079", at, "%s is a field of %s, but not of %s, for which this stands, too", diag.Quote(name), diag.Quote(has.Name), diag.Quote(lacks.Name)).
		See(first.Span, "the field").With("say what to do with each of the events on its own")
	return true
}
