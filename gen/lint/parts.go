package lint

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// deferringParts warns of messages that a role defers which is nothing but a part of others: a part
// cannot keep what it is given.
func (l *linter) deferringParts() {
	for _, parent := range l.p.Roles {
		for _, part := range parent.Parts {
			if m := part.Machine; slices.Contains(l.p.Roles, m) && !l.plays(m) {
				l.defers(m, parent, part)
			}
		}
	}
}

// plays reports whether a role is an instance of a check.
func (l *linter) plays(m *model.Machine) bool {
	return slices.ContainsFunc(l.p.Checks, func(c *model.Check) bool {
		return slices.ContainsFunc(c.Instances, func(i *model.Instance) bool { return i.Role == m })
	})
}

func (l *linter) defers(m, parent *model.Machine, part *model.Part) {
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h == nil || h.Mode != model.Defer {
				continue
			}
			l.warn("FSM091", h.Span, "a part cannot defer %s, and %s is a part of %s", diag.Quote(h.Event.Name),
				diag.Quote(m.Name), diag.Quote(parent.Name)).
				See(part.Span, "the part").
				With("defer it in " + diag.Quote(parent.Name) + ", in the states that do not forward it")
		}
	}
}
