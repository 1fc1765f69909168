package conform

import (
	"bytes"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/draw"
)

// Samples gives every event that a role can be given from outside, with a few
// arguments each: the zero values, the next ones, and one outside the types' ranges where
// there is such a Go value. Timers of parts expire in the first, the middle and the last instance.
func Samples(role *model.Machine) []interp.Event {
	var out []interp.Event
	for _, ev := range role.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished {
			continue
		}
		t := &model.Type{Kind: model.KindRecord, Fields: ev.Fields}
		zero := make([]int64, interp.FieldSlots(ev.Fields))
		interp.Zero(t, zero)
		out = append(out, interp.Event{Event: ev, Args: zero, Sender: 1})
		next := append([]int64(nil), zero...)
		if role.Sender != nil && ev.FromPeer() {
			out = append(out, interp.Event{Event: ev, Args: zero, Sender: int(role.Sender.Hi) + 1})
		}
		if at := 0; len(ev.Fields) > 0 {
			for _, f := range ev.Fields {
				interp.Next(f.Type, next[at:])
				at += f.Type.Slots()
			}
			out = append(out, interp.Event{Event: ev, Args: next, Sender: 1})
		}
		for i, f := range ev.Fields {
			if draw.Beyond(f.Type) && ev.Kind != model.EventTimer {
				args := append([]int64(nil), next...)
				args[offset(ev.Fields, i)] = f.Type.Hi + 1
				out = append(out, interp.Event{Event: ev, Args: args, Sender: 1})
			}
		}
	}
	return append(out, expiries(role, nil)...)
}

// expiries lists the expiry of the timers of all parts of m.
func expiries(m *model.Machine, way []interp.At) []interp.Event {
	var out []interp.Event
	for _, p := range m.Parts {
		for _, i := range []int{0, p.Count / 2, p.Count - 1} {
			at := append(way[:len(way):len(way)], interp.At{Part: p, Index: i})
			for _, ev := range p.Machine.Events {
				if ev.Kind == model.EventTimer {
					for _, k := range []int{0, ev.Timer.Count - 1} {
						out = append(out, interp.Event{Event: ev, At: at, Args: interp.TimerKeys(ev.Timer, k)})
					}
				}
			}
			out = append(out, expiries(p.Machine, at)...)
		}
	}
	return out
}

func offset(fields []*model.Field, i int) int {
	return interp.FieldSlots(fields[:i])
}

// Extreme writes the greatest value of t, with full lists and texts, to dst; or for !high
// the least, but with present optionals and a list of one.
func Extreme(strs *interp.Strings, t *model.Type, dst []int64, high bool) {
	switch t.Kind {
	case model.KindBytes:
		n := 0
		if high {
			n = t.Cap
		}
		dst[0] = strs.Intern(bytes.Repeat([]byte("z"), n))
	case model.KindOpaque:
		if dst[0] = 0; high {
			dst[0] = int64(uint64(1)<<t.Bits - 1)
		}
	case model.KindOptional:
		dst[0] = 1
		Extreme(strs, t.Elem, dst[1:], high)
	case model.KindRecord:
		for _, f := range t.Fields {
			Extreme(strs, f.Type, dst[f.Offset:], high)
		}
	case model.KindArray, model.KindList:
		n, at := t.Cap, 1
		if t.Kind == model.KindArray {
			n, at = int(t.Index.Count()), 0
		} else {
			if !high {
				n = min(n, 1)
			}
			dst[0] = int64(n)
		}
		for i := range n {
			Extreme(strs, t.Elem, dst[at+i*t.Elem.Slots():], high)
		}
	default:
		if interp.Zero(t, dst); high {
			dst[0] = greatest(t)
		}
	}
}

// greatest is the greatest value of a scalar.
func greatest(t *model.Type) int64 {
	switch t.Kind {
	case model.KindBool:
		return 1
	case model.KindEnum:
		return int64(len(t.Names)) - 1
	case model.KindSet:
		return 1<<t.Elem.Count() - 1
	}
	return t.Hi
}
