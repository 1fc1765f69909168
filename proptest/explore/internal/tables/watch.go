package tables

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// watch is a Watch with the table of what it said.
type watch struct {
	Spec *api.Watch
	look api.Claim // the classes, with the watch's own local value among them
	B    *Bundle
}

// initWatches makes the tables of the watches.
func (e *Engine) initWatches() {
	for i := range e.Sys.Watches {
		e.Watches = append(e.Watches, watch{Spec: &e.Sys.Watches[i]})
	}
	for i := range e.Watches {
		x := &e.Watches[i]
		x.look = api.Claim{Procs: make([]func([]byte) uint32, len(e.Procs)), Chans: x.Spec.Chans}
		copy(x.look.Procs, x.Spec.Procs)
		for k := range e.Watches {
			x.look.Procs[e.Watches[k].Spec.Proc] = nil
		}
		locals := &e.Procs[x.Spec.Proc].Locals
		x.look.Procs[x.Spec.Proc] = func(v []byte) uint32 { return locals.id(v) }
	}
	for i := range e.Watches {
		e.Watches[i].B = e.NewBundle(api.Everywhere, []int{len(e.Sys.Claims) + i})
		e.Watches[i].B.watch = &e.Watches[i]
	}
	for p := range e.Procs {
		is := func(x watch) bool { return x.Spec.Proc == p }
		if e.Sys.Settle != nil && !slices.ContainsFunc(e.Watches, is) {
			e.Settled = append(e.Settled, settled{Proc: p})
		}
	}
}

// settled is a machine with what Settle says of its local values.
type settled struct {
	Proc int
	to   []uint32 // by local value: the one with which it goes on plus 1, 0 unknown
}

// Of gives the local value with which the machine goes on plus 1, or 0 if that is unknown.
func (s *settled) Of(id uint32) uint32 {
	if int(id) < len(s.to) {
		return s.to[id]
	}
	return 0
}

// settle brings the machines in ids, which the watches have seen, to the local values with which they go on.
func (e *Engine) settle(ids []uint32) {
	for i := range e.Settled {
		s := &e.Settled[i]
		id := ids[s.Proc]
		for int(id) >= len(s.to) {
			s.to = append(s.to, 0)
		}
		if s.to[id] == 0 {
			t := &e.Procs[s.Proc].Locals
			s.to[id] = t.id(e.Sys.Settle(s.Proc, []byte(t.Vals[id]))) + 1
		}
		ids[s.Proc] = s.to[id] - 1
	}
}

// looker returns evaluation i of a bundle: a claim or, after all claims, a watch.
func (e *Engine) looker(i int) *api.Claim {
	if n := len(e.Sys.Claims); i >= n {
		return &e.Watches[i-n].look
	}
	return &e.Sys.Claims[i]
}

// next asks a watch for its local value in a configuration of these classes.
func (x *watch) next(e *Engine, procs, chans []uint32) uint32 {
	m := &e.Procs[x.Spec.Proc]
	was := []byte(m.Locals.Vals[procs[x.Spec.Proc]])
	procs[x.Spec.Proc] = 0
	return m.Locals.id(x.Spec.Next(was, procs, chans))
}

// remember brings the watches in ids, the configuration after a step, from what they were before it
// to what they are, and interns what it meets.
func (e *Engine) remember(ids []uint32) {
	for i := range e.Watches {
		x := &e.Watches[i]
		for x.B.Outcome(ids) == 0 {
			e.Learn(x.B, ids)
		}
		ids[x.Spec.Proc] = x.B.Outcome(ids) - 1
	}
	e.settle(ids)
}

// remembering makes of fn what is called with moves whose watches still are as before.
func (e *Engine) remembering(fn func(*Move) bool) func(*Move) bool {
	return func(m *Move) bool {
		if m.Fault == nil {
			e.remember(m.Next)
		}
		return fn(m)
	}
}

// Forgetting undoes in next what the watches remember of a step from ids.
func (e *Engine) Forgetting(ids, next []uint32) []uint32 {
	for i := range e.Watches {
		p := e.Watches[i].Spec.Proc
		next[p] = ids[p]
	}
	return next
}

// keep notes what a watch said. Passes after the search only look up, so what a bundle of claims may
// forget and learn again when it is laid out anew, a watch must not.
func (b *Bundle) keep(ids []uint32, v uint32) {
	for i := range b.Fields {
		f := &b.Fields[i]
		b.kept = append(b.kept, uint32(f.Places[ids[f.At]]>>f.Shift))
	}
	b.kept = append(b.kept, v)
}

// recall fills the tables of a watch that was laid out anew.
func (b *Bundle) recall() {
	n := len(b.Fields)
	var key []byte
	for list := b.kept; len(list) > 0; list = list[n+1:] {
		at := uint64(0)
		key = key[:0]
		for i, d := range list[:n] {
			at |= uint64(d) << b.Fields[i].Shift
			key = binary.LittleEndian.AppendUint32(key, d)
		}
		switch v := list[n]; {
		case b.memo != nil:
			b.memo[at] = v
		case b.wide != nil:
			b.wide[string(key)] = v
		default:
			b.big.Set(uint32(at>>32), uint32(at), v)
		}
	}
}
