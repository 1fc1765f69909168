package explore

// judge notes what is wrong with c, from which machines have so many moves.
func (w *worker) judge(c []uint64, moves int) {
	e := w.e
	for i, v := range w.said {
		if v != 0 {
			w.judgeClaims(i, v-1, c)
		}
	}
	for _, b := range w.bad {
		w.faulty(b & maxLabel)
		w.note(findKey{what: foundFault, label: e.labelOf(b & maxLabel), kind: Kind(b >> 24)}, c)
	}
	final := e.allFinal(w.ids)
	checks := w.s.checks
	switch {
	case final && moves == 0 && checks&CheckOrphan != 0 && !e.empty(w.ids):
		w.note(findKey{what: foundOrphan}, c)
	case final:
	case moves == 0 && checks&CheckDeadlock != 0:
		w.note(findKey{what: foundDeadlock}, c)
	case checks&CheckStuck != 0 && w.stuck():
		w.note(findKey{what: foundDeadlock}, c)
	}
}

// judgeClaims counts an outcome of a bundle and notes c if it is worth a trace.
func (w *worker) judgeClaims(i int, v uint32, c []uint64) {
	if int(v) >= len(w.by[i]) {
		more := apart[uint64](2 * int(v+1))
		copy(more, w.by[i])
		w.by[i] = more
	}
	w.by[i][v]++
	b := w.e.bundles[i]
	if !b.outcomes[v].note {
		return
	}
	for j, claim := range b.claims {
		held := b.outcomes[v].bits[j]&heldBit != 0
		switch kind := w.e.sys.Claims[claim].Kind; {
		case kind == Sometimes && held:
			w.note(findKey{what: foundWitness, claim: claim}, c)
		case kind == Always && !held:
			w.note(findKey{what: foundClaim, claim: claim}, c)
		}
	}
}

// stuck says whether only spontaneous steps are possible at w.ids.
func (w *worker) stuck() bool {
	stuck := true
	w.s.sequential.Lock()
	defer w.s.sequential.Unlock()
	w.e.moves(w.ids, func(m *move) bool {
		if m.rule != nil && (m.rule.flags&spontaneousFlag == 0 || m.kind != LocalStep) {
			stuck = false
		}
		return stuck
	})
	return stuck
}
