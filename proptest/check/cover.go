package check

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// cover counts which lines of a specification the steps of a search used. The search itself only adds: every step
// has a number (explore.Step.Tally) that stands for all the marks of its trail.
type cover struct {
	ids    map[string]uint32
	trails [][]markKey // by tally minus 1
}

// markKey is what lines are counted by: a handler that several states share, and a machine that several roles
// or parts run, is one place.
type markKey struct{ at, what string }

func keyOf(m interp.Mark) markKey {
	if m.Entry != nil {
		return markKey{m.Entry.Entry[0].Pos().String(), "entry"}
	}
	return markKey{m.Transition.Span.String(), m.Transition.Event.Name}
}

// Cover asks for the lines that are used to be counted; call it before Run.
func (s *System) Cover() {
	s.cover = &cover{ids: map[string]uint32{}}
	for _, p := range s.procs {
		p.m.Follow = true
	}
}

// tally is the number of the trail of the step just taken; 0 if it used nothing of the specification.
func (p *process) tally() uint32 {
	c := p.sys.cover
	trail := p.m.Trail()
	if c == nil || len(trail) == 0 {
		return 0
	}
	var id []byte
	keys := make([]markKey, len(trail))
	for i, m := range trail {
		keys[i] = keyOf(m)
		id = append(binary.AppendUvarint(id, uint64(len(keys[i].at))), keys[i].at...)
		id = append(binary.AppendUvarint(id, uint64(len(keys[i].what))), keys[i].what...)
	}
	n, ok := c.ids[string(id)]
	if !ok {
		c.trails = append(c.trails, keys)
		n = uint32(len(c.trails))
		c.ids[string(id)] = n
	}
	return n
}

// usage is how often each place was used: by steps, and by steps that are errors.
type usage map[markKey]howOftenUsed

type howOftenUsed struct{ taken, faults uint64 }

// covered adds up what a search counted. A step that uses a place several times counts once.
func (s *System) covered(res *explore.Result) usage {
	out := usage{}
	for _, t := range res.Tallies {
		var done []markKey
		for _, k := range s.cover.trails[t.Tally-1] {
			if !slices.Contains(done, k) {
				done = append(done, k)
				u := out[k]
				out[k] = howOftenUsed{u.taken + t.Taken, u.faults + t.Faults}
			}
		}
	}
	s.deferred(res, out)
	return out
}

// deferred counts what is no step: the values of machines at which a message was deferred.
func (s *System) deferred(res *explore.Result, out usage) {
	res.Space.ForEachLocal(func(at explore.LocalUse) bool {
		if at.Proc >= len(s.procs) {
			return true
		}
		p := s.procs[at.Proc]
		for _, r := range at.Receptions {
			if _, news := s.newsOf(r.Msg); news || len(r.Steps) > 0 {
				continue
			}
			m, slots := unpackMessage(s.Protocol, r.Msg)
			ev := interp.Event{Event: p.reception(m), Args: slots, Sender: s.System.Channels[r.Channel].From}
			if _, _, got, _ := p.m.Step(p.unpack(at.Value).value, ev); got.Code != fsm.Deferred {
				continue
			}
			for _, x := range p.m.Trail() {
				if x.Transition != nil && x.Transition.Mode == model.Defer {
					u := out[keyOf(x)]
					u.taken++
					out[keyOf(x)] = u
				}
			}
		}
		return true
	})
}
