package explore

// tallyKey is a label with a step's tally.
type tallyKey struct{ label, tally uint32 }

// tallies number what steps are counted under besides their labels.
type tallies struct {
	ids  map[tallyKey]uint32
	keys []tallyKey
}

// counted is where a step is counted: by its label, or behind all labels if it has a tally.
func (e *engine) counted(label, tally uint32) uint32 {
	if tally == 0 {
		return label
	}
	key := tallyKey{label, tally}
	id, ok := e.tallies.ids[key]
	if !ok {
		if e.tallies.ids == nil {
			e.tallies.ids = map[tallyKey]uint32{}
		}
		id = uint32(len(e.sys.Labels) + moreCounts + len(e.tallies.keys))
		if id > maxLabel {
			return label
		}
		e.tallies.ids[key] = id
		e.tallies.keys = append(e.tallies.keys, key)
	}
	return id
}

// labelOf is the label of what is counted at count.
func (e *engine) labelOf(count uint32) int {
	if i := int(count) - len(e.sys.Labels) - moreCounts; i >= 0 {
		return int(e.tallies.keys[i].label)
	}
	return int(count)
}

// room makes counts long enough for all tallies there are.
func (e *engine) room(counts []uint64) []uint64 {
	if n := len(e.sys.Labels) + moreCounts + len(e.tallies.keys); len(counts) < n {
		counts = append(counts, make([]uint64, n-len(counts))...)
	}
	return counts
}

// faulty counts a step that is an error, if steps are tallied.
func (w *worker) faulty(count uint32) {
	if len(w.e.tallies.keys) > 0 {
		w.faults = w.e.room(w.faults)
		w.faults[count]++
	}
}

// tallied adds up what the workers counted under tallies.
func (s *search) tallied(r *Result) {
	e := s.e
	base := len(e.sys.Labels) + moreCounts
	for i, k := range e.tallies.keys {
		t := Tally{Label: uint64(k.label), Tally: uint64(k.tally)}
		for _, w := range s.workers {
			t.Taken += e.room(w.counts)[base+i]
			t.Faults += e.room(w.faults)[base+i]
		}
		r.LabelCount[k.label] += t.Taken
		r.Tallies = append(r.Tallies, t)
	}
}
