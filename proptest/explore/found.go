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
	cut   bool // see Violation.Cut
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
	x, y := e.unpack(a), e.unpack(b)
	for i := range x {
		if x[i] != y[i] {
			return e.compareField(i, x[i], y[i])
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

// violation turns a finding and its trace into a report.
func (s *search) violation(f *finding, before parents) Violation {
	e := s.e
	trace, at := s.trace(before, f.c)
	v := Violation{Claim: -1, Label: -1, Trace: trace, End: e.configuration(at), Loop: f.loop, Text: f.text, Cut: f.cut}
	if f.end != nil {
		v.Trace = append(v.Trace, f.stem...)
		v.End = e.configuration(e.unpack(f.end))
	}
	switch f.key.what {
	case foundClaim:
		v.Kind, v.Claim = ClaimViolated, f.key.claim
		if v.Text == "" {
			v.Text = fmt.Sprintf("%q does not hold", e.sys.Claims[f.key.claim].Name)
		}
	case foundDeadlock:
		v.Kind, v.Text = Deadlock, "nothing can happen any more, yet "+s.unfinished(at)
		v.Cut = e.faultyAt(at, false)
	case foundOrphan:
		v.Kind, v.Text = Orphan, "all machines are at their end, yet "+s.waiting(at)
		v.Cut = e.faultyAt(at, false)
	case foundFault:
		v.Kind, v.Label = f.key.kind, f.key.label
		last := e.stepWhere(at, func(m *move) bool {
			return m.fault != nil && int(m.rule.label) == f.key.label && m.kindOfFault() == f.key.kind
		})
		if last.Fault == nil { // it is another machine's, in a renaming of f.c
			last = e.stepWhere(at, func(m *move) bool { return m.fault != nil && m.kindOfFault() == f.key.kind })
			v.Label = last.Label
		}
		if last.Fault != nil {
			v.Text = last.Fault.Text
		}
		v.Trace = append(v.Trace, last)
	}
	return v
}

// passes are the ways in which a claim about what follows is decided. Where runs ended at faults, a violation is looked for first that holds
// whatever comes behind them (cut): a fault counts as a way to what the claim wants. Then faults count as no step at all.
func (s *search) passes() []bool {
	if slices.ContainsFunc(s.finds, func(f finding) bool { return f.key.what == foundFault }) {
		return []bool{true, false}
	}
	return []bool{false}
}

// faultyAt says whether a step that is a fault is possible at ids; calm: one that is not spontaneous.
func (e *engine) faultyAt(ids []uint32, calm bool) bool {
	found := false
	e.moves(slices.Clone(ids), func(m *move) bool {
		found = m.fault != nil && !(calm && m.kind == LocalStep && m.rule.flags&spontaneousFlag != 0)
		return !found
	})
	return found
}

func (m *move) kindOfFault() Kind {
	if m.fault.Kind == 0 {
		return OtherFault
	}
	return m.fault.Kind
}

// unfinished names the machines that are not at an end.
func (s *search) unfinished(ids []uint32) string {
	e := s.e
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
		text += "; " + s.waiting(ids)
	}
	return text
}

// waiting names the messages that are still in channels.
func (s *search) waiting(ids []uint32) string {
	var parts []string
	for k, w := range s.e.configuration(ids).Channels {
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
