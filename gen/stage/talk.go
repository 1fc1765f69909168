package stage

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// talk is which instance of a check may send which message to which others, as far as the machines
// say so: where the receiver is computed from variables it may be anybody.
type talk struct {
	check *model.Check
	sends [][]outgoing        // by instance
	reach []map[string]uint64 // by instance and message: the receivers
	kept  bool                // all keep to their roles, the hostile ones too
	plays *talk               // the same with all kept to their roles; nil until it is asked for
	lower func(*model.Machine) *core.Machine
}

// outgoing is a send of a machine.
type outgoing struct {
	message string
	to      uint64
	// answers, if not empty, is the message whose sender it goes to, instead of to.
	answers string
}

// talks finds out who may send what to whom.
func talks(c *model.Check) *talk { return (&talk{check: c, lower: core.Once()}).find() }

// kept finds out the same as if all instances kept to their roles.
func kept(c *model.Check) *talk { return (&talk{check: c, kept: true, lower: core.Once()}).find() }

func (t *talk) find() *talk {
	c := t.check
	for i := range c.Instances {
		t.sends, t.reach = append(t.sends, t.outgoing(i)), append(t.reach, map[string]uint64{})
	}
	for more := true; more; {
		more = false
		for i, list := range t.sends {
			for _, s := range list {
				to := s.to
				if s.answers != "" {
					to = t.from(i, s.answers)
				}
				if was := t.reach[i][s.message]; was|to != was {
					t.reach[i][s.message], more = was|to, true
				}
			}
		}
	}
	return t
}

// hostile reports whether an instance sends whatever it likes to whom it likes.
func (t *talk) hostile(i int) bool { return !t.kept && t.check.Instances[i].IsHostile() }

// from is the set of instances that may send a message to i.
func (t *talk) from(i int, message string) (set uint64) {
	for k := range t.reach {
		if k != i && t.hostile(k) || t.reach[k][message]>>i&1 != 0 {
			set |= 1 << k
		}
	}
	return set
}

// between reports whether one of two instances may send the other something that its role mentions. For
// a hostile one its role says that.
func (t *talk) between(i, j int) bool {
	if t.hostile(i) || t.hostile(j) {
		if t.plays == nil {
			t.plays = (&talk{check: t.check, kept: true, lower: t.lower}).find()
		}
		return t.plays.between(i, j)
	}
	hears := func(i, j int) bool {
		for name, set := range t.reach[j] {
			if set>>i&1 != 0 && takes(t.check.Instances[i].Role, name) {
				return true
			}
		}
		return false
	}
	return hears(i, j) || hears(j, i)
}

// takes reports whether a machine mentions a message.
func takes(m *model.Machine, message string) bool {
	return slices.ContainsFunc(m.Events, func(e *model.Event) bool {
		return e.Kind == model.EventMessage && e.Message.Name == message &&
			slices.ContainsFunc(m.States, func(st *model.State) bool {
				return e.Index < len(st.Handlers) && st.Handlers[e.Index] != nil
			})
	})
}

// others are all instances but one.
func (t *talk) others(i int) uint64 { return (1<<len(t.check.Instances) - 1) &^ (1 << i) }

// outgoing lists what the machine of an instance sends.
func (t *talk) outgoing(i int) (list []outgoing) {
	inst := t.check.Instances[i]
	strs := &interp.Strings{}
	var value interp.Value
	m := t.lower(inst.Role)
	if args, err := Arguments(inst, inst.Role, strs); err == nil {
		value, _ = interp.Begin(m, strs, args...)
	}
	add := func(body []core.Stmt, on *model.Event) {
		core.WalkStmts(body, func(s core.Stmt) {
			if e, ok := s.(*core.Emit); ok && e.Message != nil {
				list = append(list, t.receivers(i, e, on, value, strs))
			}
		})
	}
	for _, st := range m.States {
		add(st.Entry, nil)
		for _, h := range st.Handlers {
			if h == nil {
				continue
			}
			for _, b := range h.Branches {
				add(b.Body, h.Model.Event)
			}
		}
	}
	for _, p := range m.Parts {
		to := t.others(i)
		if p.To != nil && silent(p.Machine) && settled(p.To, inst.Role) {
			to = t.number(to, p.To, value, strs)
		}
		for _, x := range p.Sends {
			if x != nil {
				list = append(list, outgoing{message: x.Send.Message.Name, to: to})
			}
		}
	}
	return list
}

// silent reports whether a part says nothing of where its messages go: the machine around it does.
func silent(m *core.Machine) bool {
	ok := true
	look := func(body []core.Stmt) {
		core.WalkStmts(body, func(s core.Stmt) {
			if e, is := s.(*core.Emit); is && e.Message != nil {
				ok = ok && e.Dest == model.ToPeer
			}
		})
	}
	for _, st := range m.States {
		look(st.Entry)
		for _, h := range st.Handlers {
			if h != nil {
				for _, b := range h.Branches {
					look(b.Body)
				}
			}
		}
	}
	for _, p := range m.Parts {
		ok = ok && p.To == nil && silent(p.Machine)
	}
	return ok
}

// number is the one of some instances that an expression over parameters names, or all of them where it names none.
func (t *talk) number(of uint64, e core.Expr, value interp.Value, strs *interp.Strings) uint64 {
	n := make([]int64, e.Node().T.Slots())
	if value == nil {
		return of
	}
	if err := (&interp.Eval{Strings: strs}).Into(e, n, value, nil); err != nil || len(n) != 1 || n[0] < 0 {
		return of
	}
	return of & (1 << n[0])
}

// receivers says where a send in the handler of an event goes; on is nil if any event may have led
// there.
func (t *talk) receivers(i int, e *core.Emit, on *model.Event, value interp.Value, strs *interp.Strings) outgoing {
	out := outgoing{message: e.Message.Name, to: t.others(i)}
	sender := e.Dest == model.ToSender
	if x, ok := e.To.(*core.Local); ok && x.Local == nil {
		sender = true
	}
	switch {
	case sender && on != nil && on.Kind == model.EventMessage:
		out.answers = on.Message.Name
	case e.Dest == model.ToExpr && !sender && settled(e.To, t.check.Instances[i].Role):
		out.to = t.number(out.to, e.To, value, strs)
	}
	return out
}

// settled reports whether an expression has the same value all the time: it looks at parameters alone.
func settled(e core.Expr, m *model.Machine) bool {
	ok := true
	core.Walk(e, func(e core.Expr) {
		switch e := e.(type) {
		case *core.Local, *core.Observe:
			ok = false
		case *core.Read:
			ok = ok && e.What == core.ReadVar && slices.Contains(m.Params, e.Var)
		}
	})
	return ok
}
