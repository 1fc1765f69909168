package explore

import (
	"slices"
	"strings"
)

// parents maps a configuration to the one before it on the way from the start.
type parents map[string][]uint64

// trails finds a shortest way to every finding, by going back through the
// levels once: among the configurations of the level before that have a step
// to the one wanted, the least is taken.
func (s *search) trails(finds []finding) parents {
	e := s.e
	before := parents{}
	want := map[string]bool{}
	for depth := len(e.levels) - 1; depth > 0; depth-- {
		for _, f := range finds {
			if f.depth == depth {
				want[e.key(f.c)] = true
			}
		}
		if len(want) == 0 {
			continue
		}
		found := s.sweep(&e.levels[depth-1], want)
		clear(want)
		for child, parent := range found {
			before[child] = parent
			want[e.key(parent)] = true
		}
	}
	return before
}

// sweep finds, for each wanted configuration, the least one in l that has a
// step to it.
func (s *search) sweep(l *level, want map[string]bool) parents {
	filter := newFilter(s.e, want)
	n := len(s.workers)
	found := make([]parents, n)
	s.each(func(i int, w *worker) {
		found[i] = parents{}
		for b := i; b < len(l.blocks); b += n {
			w.sweepBlock(l.blocks[b], filter, want, found[i])
		}
	})
	best := found[0]
	for _, f := range found[1:] {
		for child, parent := range f {
			if old, ok := best[child]; !ok || s.e.compare(parent, old) < 0 {
				best[child] = parent
			}
		}
	}
	return best
}

// each runs f for every worker at once.
func (s *search) each(f func(i int, w *worker)) {
	s.e.widen()
	done := make(chan struct{})
	for i, w := range s.workers {
		go func() {
			f(i, w)
			done <- struct{}{}
		}()
	}
	for range s.workers {
		<-done
	}
}

func (w *worker) sweepBlock(b []uint64, f *filter, want map[string]bool, found parents) {
	e := w.e
	stride := e.lay.stride
	for ; len(b) > 0; b = b[stride:] {
		if !w.successors(b[:stride]) {
			continue // was never expanded, so nothing was found through it
		}
		for next := w.buf; len(next) > 0; next = next[stride:] {
			if !f.has(next[0]) {
				continue
			}
			key := e.key(next[:stride])
			if !want[key] {
				continue
			}
			if old, ok := found[key]; !ok || e.compare(b[:stride], old) < 0 {
				found[key] = slices.Clone(b[:stride])
			}
		}
	}
	w.buf = w.buf[:0]
}

// filter says quickly that most configurations are not wanted.
type filter [1 << 10]uint64

func newFilter(e *engine, want map[string]bool) *filter {
	f := new(filter)
	for k := range want {
		h := hash1(e.unkey(k)[0]) >> 48
		f[h>>6] |= 1 << (h & 63)
	}
	return f
}

func (f *filter) has(c uint64) bool {
	h := hash1(c) >> 48
	return f[h>>6]>>(h&63)&1 != 0
}

// key gives a packed configuration as a map key.
func (e *engine) key(c []uint64) string {
	var b strings.Builder
	for _, x := range c {
		for i := range 8 {
			b.WriteByte(byte(x >> (8 * i)))
		}
	}
	return b.String()
}

func (e *engine) unkey(k string) []uint64 {
	c := make([]uint64, len(k)/8)
	for i := range len(k) {
		c[i/8] |= uint64(k[i]) << (8 * (i % 8))
	}
	return c
}

// trace gives the steps from the start to c, and the ids it ends in: those of
// c, or of a renaming of c if the search kept one configuration for many.
func (s *search) trace(before parents, c []uint64) ([]TraceStep, []uint32) {
	e := s.e
	path := [][]uint64{c}
	for s.nodes == nil {
		p, ok := before[e.key(c)]
		if !ok {
			break
		}
		path = append(path, p)
		c = p
	}
	slices.Reverse(path)
	if s.nodes != nil {
		path = s.nodes.way(s, c)
	}
	if e.canon != nil {
		return e.lift(path)
	}
	var steps []TraceStep
	for i := 1; i < len(path); i++ {
		steps = append(steps, e.stepBetween(path[i-1], path[i]))
	}
	return steps, e.unpack(path[len(path)-1])
}

// lift turns a path between configurations that stand for others into a run
// of the system: of the steps possible, it takes the first to a renaming of the
// next one on the path.
func (e *engine) lift(path [][]uint64) (steps []TraceStep, at []uint32) {
	at = e.initial()
	rep := make([]uint32, e.fields())
	for _, c := range path[1:] {
		want := e.unpack(c)
		e.moves(slices.Clone(at), func(m *move) bool {
			if m.fault != nil {
				return true
			}
			if e.canon.learn(m.next, rep); !slices.Equal(rep, want) {
				return true
			}
			steps = append(steps, e.render(at, m))
			at = slices.Clone(m.next)
			return false
		})
	}
	return steps, at
}

func (e *engine) unpack(c []uint64) []uint32 {
	ids := make([]uint32, e.fields())
	e.lay.unpack(c, ids)
	return ids
}

// stepBetween gives the first move that leads from a to b.
func (e *engine) stepBetween(a, b []uint64) TraceStep {
	to := e.unpack(b)
	return e.stepWhere(e.unpack(a), func(m *move) bool { return m.fault == nil && slices.Equal(m.next, to) })
}

// stepWhere gives the first move from a that satisfies ok.
func (e *engine) stepWhere(from []uint32, ok func(*move) bool) (t TraceStep) {
	e.moves(from, func(m *move) bool {
		if !ok(m) {
			return true
		}
		t = e.render(from, m)
		return false
	})
	return t
}

func (e *engine) render(from []uint32, m *move) TraceStep {
	t := TraceStep{Kind: m.kind, Proc: m.proc, Label: -1, Channel: m.ch, Fault: m.fault}
	if m.ch >= 0 {
		t.Msg = []byte(e.chans[m.ch].msgs.vals[m.msg])
	}
	if m.rule == nil {
		return t
	}
	t.Label = int(m.rule.label)
	t.Note = e.notes[m.rule.note].note
	t.Before = []byte(e.procs[m.proc].locals.vals[from[m.proc]])
	if m.fault == nil {
		t.After = []byte(e.procs[m.proc].locals.vals[m.rule.next])
	}
	for _, s := range e.sends[m.rule.sends.off : m.rule.sends.off+m.rule.sends.n] {
		t.Sends = append(t.Sends, Send{int(s.ch), []byte(e.chans[s.ch].msgs.vals[s.msg])})
	}
	return t
}

// configuration renders ids as bytes.
func (e *engine) configuration(ids []uint32) Configuration {
	var out Configuration
	for p := range e.procs {
		out.Locals = append(out.Locals, []byte(e.procs[p].locals.vals[ids[p]]))
	}
	for k := range e.chans {
		out.Channels = append(out.Channels, e.chans[k].bytes(ids[len(e.procs)+k]))
	}
	if e.budgets != nil {
		out.Used = e.budgets[ids[len(ids)-1]]
	}
	return out
}
