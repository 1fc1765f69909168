package explore

import "encoding/binary"

// Watch makes a machine of the system the memory of a run. It takes no steps of its own: with every step of
// another machine, or of a channel, its local value becomes Next of what it was and of the configuration that the
// step leads to. So a claim can speak of what was before, such as for how long something has been waited for, while the
// search goes on over configurations that hold all there is to know.
//
// Reductions that leave out orders of steps are refused, since a watch sees every step. With
// [ReduceSymmetry], Next must say the same of a configuration and its renamings. [Confluent] claims do not look at
// watches: what two steps lead to is the same although it was remembered differently.
type Watch struct {
	// Proc is the machine that remembers. Its Local emits nothing, no channel leads to it, and it is Final
	// everywhere. Claims look at it as at any machine.
	Proc int
	// Procs and Chans are classes, as those of a [Claim]. A watch does not see machines that are watches.
	Procs []func(v []byte) uint32
	Chans []func(w Word) uint32
	// Next gives the local value in a configuration of these classes; v is the one before, or, in the
	// first configuration, that of Init. It is called once for each combination. The result is copied.
	Next func(v []byte, procs, chans []uint32) []byte
}

// watch is a Watch with the table of what it said.
type watch struct {
	spec *Watch
	look Claim // the classes, with the watch's own local value among them
	b    *bundle
}

// initWatches makes the tables of the watches.
func (e *engine) initWatches() {
	for i := range e.sys.Watches {
		e.watches = append(e.watches, watch{spec: &e.sys.Watches[i]})
	}
	for i := range e.watches {
		x := &e.watches[i]
		x.look = Claim{Procs: make([]func([]byte) uint32, len(e.procs)), Chans: x.spec.Chans}
		copy(x.look.Procs, x.spec.Procs)
		for k := range e.watches {
			x.look.Procs[e.watches[k].spec.Proc] = nil
		}
		locals := &e.procs[x.spec.Proc].locals
		x.look.Procs[x.spec.Proc] = func(v []byte) uint32 { return locals.id(v) }
	}
	for i := range e.watches {
		e.watches[i].b = e.newBundle(Everywhere, []int{len(e.sys.Claims) + i})
		e.watches[i].b.watch = &e.watches[i]
	}
}

// looker is what a bundle evaluates under number i: a claim, or, behind all claims, a watch.
func (e *engine) looker(i int) *Claim {
	if n := len(e.sys.Claims); i >= n {
		return &e.watches[i-n].look
	}
	return &e.sys.Claims[i]
}

// next asks a watch for its local value in a configuration of these classes.
func (x *watch) next(e *engine, procs, chans []uint32) uint32 {
	m := &e.procs[x.spec.Proc]
	was := []byte(m.locals.vals[procs[x.spec.Proc]])
	procs[x.spec.Proc] = 0
	return m.locals.id(x.spec.Next(was, procs, chans))
}

// remember brings the watches in ids, the configuration after a step, from what they were before it to what
// they are, and interns what it meets.
func (e *engine) remember(ids []uint32) {
	for i := range e.watches {
		x := &e.watches[i]
		for x.b.outcome(ids) == 0 {
			e.learn(x.b, ids)
		}
		ids[x.spec.Proc] = x.b.outcome(ids) - 1
	}
}

// remembering makes of fn what is called with moves whose watches still are as before.
func (e *engine) remembering(fn func(*move) bool) func(*move) bool {
	return func(m *move) bool {
		if m.fault == nil {
			e.remember(m.next)
		}
		return fn(m)
	}
}

// forgetting undoes in next what the watches remember of a step from ids.
func (e *engine) forgetting(ids, next []uint32) []uint32 {
	for i := range e.watches {
		p := e.watches[i].spec.Proc
		next[p] = ids[p]
	}
	return next
}

// remember does by look-up what the engine's does, for all successors in buf from mark on. It is false if
// something is missing in the tables.
func (w *worker) remember(mark int) bool {
	e := w.e
	stride := e.lay.stride
	for o := mark; o < len(w.buf); o += stride {
		c := w.buf[o : o+stride]
		e.lay.unpack(c, w.raw)
		for i := range e.watches {
			x := &e.watches[i]
			next := x.b.outcome(w.raw)
			if next == 0 {
				return false
			}
			f := &e.lay.fields[x.spec.Proc]
			c[f.word] += (uint64(next-1) - uint64(w.raw[x.spec.Proc])) << f.shift
		}
	}
	return true
}

// keep notes what a watch said. Passes after the search only look up, so what a bundle of claims may
// forget and learn again when it is laid out anew, a watch must not.
func (b *bundle) keep(ids []uint32, v uint32) {
	for i := range b.fields {
		f := &b.fields[i]
		b.kept = append(b.kept, uint32(f.places[ids[f.at]]>>f.shift))
	}
	b.kept = append(b.kept, v)
}

// recall fills the tables of a watch that was laid out anew.
func (b *bundle) recall() {
	n := len(b.fields)
	var key []byte
	for list := b.kept; len(list) > 0; list = list[n+1:] {
		at := uint64(0)
		key = key[:0]
		for i, d := range list[:n] {
			at |= uint64(d) << b.fields[i].shift
			key = binary.LittleEndian.AppendUint32(key, d)
		}
		switch v := list[n]; {
		case b.memo != nil:
			b.memo[at] = v
		case b.wide != nil:
			b.wide[string(key)] = v
		default:
			b.big.set(uint32(at>>32), uint32(at), v)
		}
	}
}
