package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What a finding is.
const (
	foundClaim = iota
	foundDeadlock
	foundOrphan
	foundFault
	foundWitness
)

// findKey tells findings apart; of equal ones only the first and least is kept.
type findKey struct {
	what  int
	kind  Kind
	claim int
	label int
}

// finding is a configuration worth a trace.
type finding struct {
	key   findKey
	c     []uint64
	depth int
	stem  []TraceStep // for liveness: from c to end
	loop  []TraceStep
	end   []uint64
	text  string
}

// length is the number of steps of the finding's trace.
func (f *finding) length() int {
	if f.key.what == foundFault {
		return f.depth + 1
	}
	return f.depth + len(f.stem)
}

// note keeps c for key if it is the least one so far.
func (w *worker) note(key findKey, c []uint64) {
	if w.s.reported[key] {
		return
	}
	if old, ok := w.found[key]; ok && w.e.compare(old, c) <= 0 {
		return
	}
	w.found[key] = slices.Clone(c)
}

// compare orders configurations by what they hold, not by ids, which depend on
// the order of the search.
func (e *engine) compare(a, b []uint64) int {
	x, y := make([]uint32, e.fields()), make([]uint32, e.fields())
	e.lay.unpack(a, x)
	e.lay.unpack(b, y)
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		switch k := i - len(e.procs); {
		case k < 0:
			return cmp.Compare(e.procs[i].locals.vals[x[i]], e.procs[i].locals.vals[y[i]])
		case k < len(e.chans):
			return slices.CompareFunc(e.chans[k].bytes(x[i]), e.chans[k].bytes(y[i]), slices.Compare)
		default:
			p, q := e.budgets[x[i]], e.budgets[y[i]]
			return cmp.Or(p.Loss-q.Loss, p.Dup-q.Dup, p.Swap-q.Swap, p.Crash-q.Crash)
		}
	}
	return 0
}

// harvest collects what the workers found in a level and says whether there is
// a violation among it.
func (s *search) harvest(depth int) bool {
	best := map[findKey][]uint64{}
	for _, w := range s.workers {
		for k, c := range w.found {
			if old, ok := best[k]; !ok || s.e.compare(c, old) < 0 {
				best[k] = c
			}
		}
		clear(w.found)
	}
	bad := false
	for k, c := range best {
		s.reported[k] = true
		s.finds = append(s.finds, finding{key: k, c: c, depth: depth})
		bad = bad || k.what != foundWitness
	}
	return bad
}

// order sorts findings: shortest first, then by what they are.
func (s *search) order() {
	slices.SortFunc(s.finds, func(a, b finding) int {
		return cmp.Or(a.length()-b.length(), compareKeys(a.key, b.key))
	})
}

func compareKeys(a, b findKey) int {
	return cmp.Or(a.what-b.what, a.claim-b.claim, a.label-b.label, int(a.kind)-int(b.kind))
}

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

// trace gives the steps from the start to c.
func (s *search) trace(before parents, c []uint64) []TraceStep {
	e := s.e
	path := [][]uint64{c}
	for {
		p, ok := before[e.key(c)]
		if !ok {
			break
		}
		path = append(path, p)
		c = p
	}
	slices.Reverse(path)
	var steps []TraceStep
	for i := 1; i < len(path); i++ {
		steps = append(steps, e.stepBetween(path[i-1], path[i]))
	}
	return steps
}

// stepBetween gives the first move that leads from a to b.
func (e *engine) stepBetween(a, b []uint64) TraceStep {
	to := make([]uint32, e.fields())
	e.lay.unpack(b, to)
	return e.stepWhere(a, func(m *move) bool { return m.fault == nil && slices.Equal(m.next, to) })
}

// stepWhere gives the first move from a that satisfies ok.
func (e *engine) stepWhere(a []uint64, ok func(*move) bool) (t TraceStep) {
	from := make([]uint32, e.fields())
	e.lay.unpack(a, from)
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

// configuration renders a packed configuration as bytes.
func (e *engine) configuration(c []uint64) Configuration {
	ids := make([]uint32, e.fields())
	e.lay.unpack(c, ids)
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

// violation turns a finding and its trace into a report.
func (s *search) violation(f *finding, before parents) Violation {
	e := s.e
	v := Violation{Claim: -1, Label: -1, Trace: s.trace(before, f.c), End: e.configuration(f.c), Loop: f.loop, Text: f.text}
	if f.end != nil {
		v.Trace = append(v.Trace, f.stem...)
		v.End = e.configuration(f.end)
	}
	switch f.key.what {
	case foundClaim:
		v.Kind, v.Claim = ClaimViolated, f.key.claim
		if v.Text == "" {
			v.Text = fmt.Sprintf("%q does not hold", e.sys.Claims[f.key.claim].Name)
		}
	case foundDeadlock:
		v.Kind, v.Text = Deadlock, "nothing can happen any more, yet "+s.unfinished(f.c)
	case foundOrphan:
		v.Kind, v.Text = Orphan, "all machines are at their end, yet "+s.waiting(f.c)
	case foundFault:
		v.Kind, v.Label = f.key.kind, f.key.label
		last := e.stepWhere(f.c, func(m *move) bool {
			return m.fault != nil && int(m.rule.label) == f.key.label && m.kindOfFault() == f.key.kind
		})
		if last.Fault != nil {
			v.Text = last.Fault.Text
		}
		v.Trace = append(v.Trace, last)
	}
	return v
}

func (m *move) kindOfFault() Kind {
	if m.fault.Kind == 0 {
		return OtherFault
	}
	return m.fault.Kind
}

// unfinished names the machines that are not at an end.
func (s *search) unfinished(c []uint64) string {
	e := s.e
	ids := make([]uint32, e.fields())
	e.lay.unpack(c, ids)
	var names []string
	for p := range e.procs {
		if !e.procs[p].proc.Final([]byte(e.procs[p].locals.vals[ids[p]])) {
			names = append(names, e.procName(p))
		}
	}
	text := strings.Join(names, ", ") + " is not at an end"
	if len(names) > 1 {
		text = strings.Join(names, ", ") + " are not at an end"
	}
	if !e.empty(ids) {
		text += "; " + s.waiting(c)
	}
	return text
}

// waiting names the messages that are still in channels.
func (s *search) waiting(c []uint64) string {
	var parts []string
	for k, w := range s.e.configuration(c).Channels {
		if len(w) == 0 {
			continue
		}
		var names []string
		for _, m := range w {
			names = append(names, s.e.msgName(k, m))
		}
		parts = append(parts, s.e.chanName(k)+" still holds "+strings.Join(names, " "))
	}
	return strings.Join(parts, ", ")
}
