package mutate

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
)

// tape is what a machine can do by itself at each of its local values in a check as it is. With a mistake it does the
// same wherever the mistake took no part. That is worth keeping where hostile instances may send thousands of
// messages, most of which lead to the same.
type tape struct {
	moves map[string]*moves // by local value
	now   *moves            // being noted; nil: none
}

// moves are the different steps at a local value, with what their labels stand for, and all places that decided on
// them, also on those that were refused.
type moves struct {
	steps  []explore.Step
	labels []system.Meant
	places map[place]bool
}

// newTape returns the tape of an instance; nil if it is not worth it, or if steps cannot be told apart without knowing
// all that the search has met before.
func newTape(s *check.System, p *system.Process) *tape {
	confluent := slices.ContainsFunc(s.Check.Claims, func(c *model.Claim) bool { return c.Kind == model.Confluent })
	if len(p.Attacks) == 0 || len(s.Joint) > 0 || confluent {
		return nil
	}
	return &tape{moves: map[string]*moves{}}
}

// around notes that places take part in what is noted now.
func (t *tape) around(list []place) {
	if t.now != nil {
		for _, p := range list {
			t.now.places[p] = true
		}
	}
}

// recorder is a process whose moves are kept.
type recorder struct {
	*system.Process
	t *tape
}

// Local implements [explore.Process].
func (r *recorder) Local(b []byte, emit func(explore.Step)) {
	x := &moves{places: map[place]bool{}}
	r.t.now = x
	r.Process.Local(b, different(func(s explore.Step) {
		emit(s)
		s.Next, s.Note = slices.Clone(s.Next), slices.Clone(s.Note)
		s.Lens, s.Sends = slices.Clone(s.Lens), slices.Clone(s.Sends)
		for i := range s.Sends {
			s.Sends[i].Msg = slices.Clone(s.Sends[i].Msg)
		}
		x.steps, x.labels = append(x.steps, s), append(x.labels, r.Meant(s.Label))
	}))
	r.t.now = nil
	r.t.moves[string(b)] = x
}

// replayer is a process of a system with a mistake. It does what is on the tape where the mistake takes no part.
type replayer struct {
	*system.Process
	t   *tape
	by  *touched
	ids bool // the mistake is one of the instance's own role, so transitions may have other IDs
}

// replay lets the processes of a system repeat what they did without a mistake.
func (n *noted) replay(s *check.System, t *touched, role string) {
	if n.tapes == nil || t == nil {
		return
	}
	same := n.strs.Len() == s.Texts.Len() && n.surrounds(s)
	for i, p := range s.Procs {
		switch {
		case n.tapes[i] != nil && same:
			s.System.Procs[i] = &replayer{p, n.tapes[i], t, p.Role.Name == role}
		case n.tapes[i] != nil:
			s.System.Procs[i] = &replayer{Process: p, t: &tape{}}
		}
	}
}

// Local implements [explore.Process].
func (r *replayer) Local(b []byte, emit func(explore.Step)) {
	x := r.t.moves[string(b)]
	if x == nil || slices.ContainsFunc(r.by.places, func(p place) bool { return x.places[p] }) {
		r.Process.Local(b, different(emit))
		return
	}
	for i, s := range x.steps {
		m := x.labels[i]
		if r.ids && len(m.Taken) > 0 {
			ids := make([]int, len(m.Taken))
			for k, id := range m.Taken {
				ids[k] = r.by.ids[id]
			}
			m.Taken = ids
		}
		s.Label = r.Meaning(m)
		emit(s)
	}
}

// different leaves out steps that differ from an earlier one in their notes alone.
func different(emit func(explore.Step)) func(explore.Step) {
	var key []byte
	seen := map[string]bool{}
	number := func(list ...int) {
		for _, x := range list {
			key = binary.AppendVarint(key, int64(x))
		}
	}
	text := func(list ...[]byte) {
		for _, b := range list {
			number(len(b))
			key = append(key, b...)
		}
	}
	return func(s explore.Step) {
		key = key[:0]
		number(int(s.Label), int(s.Tally), int(s.Spends), len(s.Sends), len(s.Lens), len(s.Constraints), len(s.Ages))
		text(s.Next)
		for _, x := range s.Sends {
			number(x.Channel)
			text(x.Msg)
		}
		for _, l := range s.Lens {
			number(l.Channel, l.Lo, l.Hi, int(l.Kind))
		}
		number(s.Constraints...)
		number(s.Ages...)
		for _, is := range []bool{s.Spontaneous, s.Once, s.Fault != nil} {
			if is {
				number(1)
			} else {
				number(0)
			}
		}
		if s.Fault != nil {
			number(int(s.Fault.Kind))
			text([]byte(s.Fault.Text))
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			emit(s)
		}
	}
}
