package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// What a finding is.
const (
	FoundClaim = iota
	foundDeadlock
	foundOrphan
	foundStuck
	foundFault
	FoundWitness
)

// FindKey identifies a finding. Of equal findings, only the first and least is kept.
type FindKey struct {
	What  int
	kind  api.Kind
	Claim int
	label int
}

// Finding is a configuration worth a trace.
type Finding struct {
	Key   FindKey
	Conf  []uint64
	Depth int
	Stem  []api.TraceStep // for liveness: from c to end
	Loop  []api.TraceStep
	End   []uint64
	Text  string
	Cut   bool // see Violation.Cut
}

// length is the number of steps of the finding's trace.
func (f *Finding) length() int {
	if f.Key.What == foundFault {
		return f.Depth + 1
	}
	return f.Depth + len(f.Stem)
}

// note keeps c for key if it is the least one so far.
func (w *Worker) note(key FindKey, c []uint64) {
	if w.Search.reported[key] {
		return
	}
	if old, ok := w.found[key]; ok && w.Engine.Compare(old, c) <= 0 {
		return
	}
	w.found[key] = slices.Clone(c)
}

// harvest collects what the workers found in a level and reports whether there is
// a violation among it.
func (s *Search) harvest(depth int) bool {
	best := map[FindKey][]uint64{}
	for _, w := range s.Workers {
		for k, c := range w.found {
			if old, ok := best[k]; !ok || s.Engine.Compare(c, old) < 0 {
				best[k] = c
			}
		}
		clear(w.found)
	}
	bad := false
	for k, c := range best {
		s.reported[k] = true
		s.Finds = append(s.Finds, Finding{Key: k, Conf: c, Depth: depth})
		bad = bad || k.What != FoundWitness
	}
	return bad
}

// Order sorts findings: shortest first, and of equal length by what they are.
func (s *Search) Order() {
	slices.SortFunc(s.Finds, func(a, b Finding) int {
		return cmp.Or(a.length()-b.length(), compareKeys(a.Key, b.Key))
	})
}

func compareKeys(a, b FindKey) int {
	return cmp.Or(a.What-b.What, a.Claim-b.Claim, a.label-b.label, int(a.kind)-int(b.kind))
}

// Violation makes a report of a finding and its trace.
func (s *Search) Violation(f *Finding, before parents) api.Violation {
	e := s.Engine
	trace, at := s.Trace(before, f.Conf)
	v := api.Violation{Claim: -1, Label: -1, Trace: trace, End: e.Configuration(at), Loop: f.Loop, Text: f.Text,
		Cut: f.Cut}
	if f.End != nil {
		v.Trace = append(v.Trace, f.Stem...)
		v.End = e.Configuration(e.Unpack(f.End))
	}
	switch f.Key.What {
	case FoundClaim:
		v.Kind, v.Claim = api.ClaimViolated, f.Key.Claim
		if v.Text == "" {
			v.Text = fmt.Sprintf("%q does not hold", e.Sys.Claims[f.Key.Claim].Name)
		}
	case foundDeadlock:
		v.Kind, v.Text = api.Deadlock, "nothing can happen any more, yet "+s.unfinished(at)
		v.Cut = e.FaultyAt(at, false)
	case foundOrphan:
		v.Kind, v.Text = api.Orphan, "nothing can happen any more, yet "+s.waiting(at)
		v.Cut = e.FaultyAt(at, false)
	case foundStuck:
		v.Kind, v.Text = api.Stuck, "nobody takes what is under way: "+s.waiting(at)
	case foundFault:
		v.Kind, v.Label = f.Key.kind, f.Key.label
		last := e.StepWhere(at, func(m *tables.Move) bool {
			return m.Fault != nil && int(m.Rule.Label) == f.Key.label && m.KindOfFault() == f.Key.kind
		})
		if last.Fault == nil { // it is another machine's, in a renaming of f.c
			last = e.StepWhere(at, func(m *tables.Move) bool { return m.Fault != nil && m.KindOfFault() == f.Key.kind })
			v.Label = last.Label
		}
		if last.Fault != nil {
			v.Text = last.Fault.Text
		}
		v.Trace = append(v.Trace, last)
	}
	return v
}

// Passes are the ways in which a claim about fair runs is decided. Where runs ended at faults, a
// violation is looked for first that holds whatever comes behind them (cut): a run may have to take
// the fault. Then faults count as no step at all.
func (s *Search) Passes() []bool {
	if s.Faulted() {
		return []bool{true, false}
	}
	return []bool{false}
}

// Faulted reports whether a run ended at a fault.
func (s *Search) Faulted() bool {
	return slices.ContainsFunc(s.Finds, func(f Finding) bool { return f.Key.What == foundFault })
}

// unfinished names the machines that are not at an end.
func (s *Search) unfinished(ids []uint32) string {
	e := s.Engine
	var names []string
	for p := range e.Procs {
		if !e.Procs[p].Proc.Final([]byte(e.Procs[p].Locals.Vals[ids[p]])) {
			names = append(names, e.ProcName(p))
		}
	}
	text := strings.Join(names, ", ") + " is not at an end"
	if len(names) > 1 {
		text = strings.Join(names, ", ") + " are not at an end"
	}
	if !e.Empty(ids) {
		text += "; " + s.waiting(ids)
	}
	return text
}

// waiting names the messages that are still in channels.
func (s *Search) waiting(ids []uint32) string {
	var parts []string
	for k, w := range s.Engine.Configuration(ids).Channels {
		if len(w) == 0 {
			continue
		}
		var names []string
		for _, m := range w {
			names = append(names, s.Engine.MsgName(k, m))
		}
		parts = append(parts, s.Engine.ChanName(k)+" still holds "+strings.Join(names, " "))
	}
	e := s.Engine
	for p := range e.Procs {
		if e.Sys.Held == nil {
			break
		}
		var names []string
		for _, m := range e.Sys.Held(p, []byte(e.Procs[p].Locals.Vals[ids[p]])) {
			names = append(names, e.MsgName(-1, m))
		}
		if len(names) > 0 {
			parts = append(parts, e.ProcName(p)+" still holds "+strings.Join(names, " ")+", deferred")
		}
	}
	return strings.Join(parts, ", ")
}
