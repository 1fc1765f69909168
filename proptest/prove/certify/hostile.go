package certify

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Hostile instances have no machine. What one sends arrives as it is sent, so a single honest instance
// takes any message with any values as a step of its own, and what it refuses is dropped. It sends into
// channels that are always empty. Where several are honest, or links can end, nothing is certified.

// mostEach is how many values a part of a message may have for the search to try them all.
const mostEach = 64

// beyondHostile says why a check with a hostile instance is beyond what can be certified, or "".
func beyondHostile(c *model.Check) string {
	if !c.HasHostile() {
		return ""
	}
	var honest *model.Instance
	for _, in := range c.Instances {
		switch {
		case in.IsHostile():
		case honest != nil:
			return "proofs are not made for a check in which several are honest beside a hostile instance: " +
				honest.Name + " and " + in.Name
		default:
			honest = in
		}
	}
	if honest == nil {
		return "proofs are not made for a check in which nobody is honest"
	}
	if honest.Role.Linked() {
		return "proofs are not made for a check in which a hostile instance ends links: role " + honest.Role.Name
	}
	for _, ev := range honest.Role.Events {
		if ev.Kind != model.EventMessage {
			continue
		}
		for _, f := range ev.Message.Fields {
			if f.Type.HasText() {
				return fmt.Sprintf("proofs are not made for a check in which a hostile instance sends texts: %s of %s",
					f.Name, ev.Message.Name)
			}
			if !whole(f.Type) {
				return fmt.Sprintf("proofs are not made for a check in which a hostile instance sends only some "+
					"values: %s of %s has too many; `domains` with %d values or fewer has all of them sent",
					f.Name, ev.Message.Name, mostEach)
			}
		}
	}
	return ""
}

// whole reports whether the search tries all values of a type.
func whole(t *model.Type) bool {
	switch {
	case t.Count() <= mostEach:
		return true
	case t.Kind == model.KindOptional:
		return whole(t.Elem)
	case t.Kind != model.KindRecord:
		return false
	}
	for _, f := range t.Fields {
		if !whole(f.Type) {
			return false
		}
	}
	return true
}

// forged lists what instance i does with the messages that hostile ones can send it: all, with all values.
func (v *verifier) forged(i int, local []int64) []move {
	var out []move
	for _, from := range v.check.Instances {
		if !from.IsHostile() {
			continue
		}
		for _, ev := range v.role(i).Events {
			if ev.Kind != model.EventMessage {
				continue
			}
			arg := make([]int64, interp.FieldSlots(ev.Message.Fields))
			t := &model.Type{Kind: model.KindRecord, Fields: ev.Message.Fields}
			interp.Zero(t, arg)
			for more := true; more; more = interp.Next(t, arg) {
				m, taken := v.take(i, local, interp.Event{Event: ev, Args: slices.Clone(arg), Sender: from.Index})
				if taken || m.fault == "" { // or ignored
					m.forged = true
					out = append(out, m)
				}
			}
		}
	}
	return out
}
