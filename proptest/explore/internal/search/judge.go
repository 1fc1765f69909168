package search

import (
	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// judge notes what is wrong with c, from which machines have so many moves.
func (w *Worker) judge(c []uint64, moves int) {
	e := w.Engine
	for i, v := range w.said {
		if v != 0 {
			w.judgeClaims(i, v-1, c)
		}
	}
	for _, b := range w.bad {
		w.faulty(b & api.MaxLabel)
		w.note(FindKey{What: foundFault, label: e.LabelOf(b & api.MaxLabel), kind: api.Kind(b >> 24)}, c)
	}
	final := e.AllFinal(w.Ids)
	checks := w.Search.checks
	switch {
	case final && moves == 0 && checks&api.CheckOrphan != 0 && !e.Empty(w.Ids):
		w.note(FindKey{What: foundOrphan}, c)
	case checks&api.CheckStuck != 0 && e.Waiting(w.Ids) && w.stuck():
		w.note(FindKey{What: foundStuck}, c)
	case final || moves > 0:
	case checks&api.CheckDeadlock != 0:
		w.note(FindKey{What: foundDeadlock}, c)
	case checks&api.CheckLeft != 0 && !e.Empty(w.Ids):
		w.note(FindKey{What: foundOrphan}, c)
	}
}

// judgeClaims counts an outcome of a bundle and notes c if it is worth a trace.
func (w *Worker) judgeClaims(i int, v uint32, c []uint64) {
	if int(v) >= len(w.by[i]) {
		more := apart[uint64](2 * int(v+1))
		copy(more, w.by[i])
		w.by[i] = more
	}
	w.by[i][v]++
	b := w.Engine.Bundles[i]
	if !b.Outcomes[v].Note {
		return
	}
	for j, claim := range b.Claims {
		held := b.Outcomes[v].Bits[j]&tables.HeldBit != 0
		switch kind := w.Engine.Sys.Claims[claim].Kind; {
		case kind == api.Sometimes && held:
			w.note(FindKey{What: FoundWitness, Claim: claim}, c)
		case kind == api.Always && !held:
			w.note(FindKey{What: FoundClaim, Claim: claim}, c)
		}
	}
}

// stuck reports whether only spontaneous steps are possible at w.ids.
func (w *Worker) stuck() bool {
	stuck := true
	w.Search.sequential.Lock()
	defer w.Search.sequential.Unlock()
	w.Engine.Moves(w.Ids, func(m *tables.Move) bool {
		if m.Rule != nil && (m.Rule.Flags&tables.SpontaneousFlag == 0 || m.Kind != api.LocalStep) {
			stuck = false
		}
		return stuck
	})
	return stuck
}

// faulty counts a step that is an error, if steps are tallied.
func (w *Worker) faulty(count uint32) {
	if len(w.Engine.Tallies.Keys) > 0 {
		w.Faults = w.Engine.Room(w.Faults)
		w.Faults[count]++
	}
}
