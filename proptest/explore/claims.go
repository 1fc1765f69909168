package explore

import "encoding/binary"

// claimTable evaluates one claim by look-ups: each observed field has a table
// from id to class, the classes together index a table of answers.
type claimTable struct {
	spec   *Claim
	fields []claimField
	memo   []uint8          // by combined class
	big    pairTable        // instead of memo when there are too many combinations
	wide   map[string]uint8 // instead of both when a combination exceeds 60 bits
	bits   uint32           // of a combined class
	where  When
	procs  []uint32 // arguments of Eval
	chans  []uint32
}

type claimField struct {
	at      int      // field of the configuration
	bits    []uint64 // by id: its class in its place of the combination; noClass if unknown
	dense   map[uint32]uint32
	classes []uint32 // by dense class: what the claim's function gave
	shift   uint32
	width   uint32
}

const noClass = ^uint64(0)

// Answers in the memo.
const (
	memoKnown = 1 << iota
	memoHeld
	memoRelevant
)

const maxMemoBits = 20

func (e *engine) initClaims() {
	np := len(e.procs)
	e.claims = make([]claimTable, len(e.sys.Claims))
	for i := range e.claims {
		c := &e.sys.Claims[i]
		t := &e.claims[i]
		*t = claimTable{spec: c, where: c.At, procs: make([]uint32, np), chans: make([]uint32, len(e.chans))}
		for p := range e.procs {
			if p < len(c.Procs) && c.Procs[p] != nil {
				t.fields = append(t.fields, claimField{at: p, dense: map[uint32]uint32{}, width: 2})
			}
		}
		for k := range e.chans {
			if k < len(c.Chans) && c.Chans[k] != nil {
				t.fields = append(t.fields, claimField{at: np + k, dense: map[uint32]uint32{}, width: 2})
			}
		}
		t.place()
	}
}

// place lays the fields' classes out side by side and forgets all answers.
func (t *claimTable) place() {
	t.bits = 0
	for i := range t.fields {
		f := &t.fields[i]
		old, oldMask := f.shift, uint64(1)<<f.width-1
		if len(f.classes) >= 1<<f.width {
			f.width++
		}
		f.shift = t.bits
		t.bits += f.width
		for id, b := range f.bits {
			if b != noClass {
				f.bits[id] = b >> old & oldMask << f.shift
			}
		}
	}
	t.memo, t.big, t.wide = nil, pairTable{}, nil
	switch {
	case t.bits <= maxMemoBits:
		t.memo = make([]uint8, 1<<t.bits)
	case t.bits > 60:
		t.wide = map[string]uint8{}
		for i := range t.fields {
			f := &t.fields[i]
			for id, b := range f.bits {
				if b != noClass {
					f.bits[id] = b >> f.shift
				}
			}
			f.shift = 0
		}
	}
}

// wideKey is the combination of classes as a string, false if a class is not
// known yet.
func (t *claimTable) wideKey(ids []uint32) (string, bool) {
	key := make([]byte, 0, 8*len(t.fields))
	for i := range t.fields {
		f := &t.fields[i]
		if int(ids[f.at]) >= len(f.bits) || f.bits[ids[f.at]] == noClass {
			return "", false
		}
		key = binary.LittleEndian.AppendUint32(key, uint32(f.bits[ids[f.at]]))
	}
	return string(key), true
}

// answer gives the memo for ids, 0 if it is not known yet.
func (t *claimTable) answer(ids []uint32) uint8 {
	if t.wide != nil {
		key, _ := t.wideKey(ids)
		return t.wide[key]
	}
	at := uint64(0)
	for i := range t.fields {
		f := &t.fields[i]
		id := ids[f.at]
		if int(id) >= len(f.bits) {
			return 0
		}
		at |= f.bits[id]
	}
	if t.memo == nil {
		if at == noClass {
			return 0
		}
		return uint8(t.big.get(uint32(at>>32), uint32(at)))
	}
	if at >= uint64(len(t.memo)) {
		return 0
	}
	return t.memo[at]
}

// learn makes answer known for ids.
func (e *engine) learn(t *claimTable, ids []uint32) {
	for i := range t.fields {
		e.classify(t, i, ids)
	}
	at := uint64(0)
	for i := range t.fields {
		f := &t.fields[i]
		b := f.bits[ids[f.at]]
		at |= b
		class := f.classes[b>>f.shift&(1<<f.width-1)]
		if f.at < len(e.procs) {
			t.procs[f.at] = class
		} else {
			t.chans[f.at-len(e.procs)] = class
		}
	}
	v := uint8(memoKnown)
	if t.spec.Eval != nil && t.spec.Eval(t.procs, t.chans) {
		v |= memoHeld
	}
	if t.spec.Relevant == nil || t.spec.Relevant(t.procs, t.chans) {
		v |= memoRelevant
	}
	switch {
	case t.memo != nil:
		t.memo[at] = v
	case t.wide != nil:
		key, _ := t.wideKey(ids)
		t.wide[key] = v
	default:
		t.big.set(uint32(at>>32), uint32(at), uint32(v))
	}
}

// classify finds the class of one field.
func (e *engine) classify(t *claimTable, i int, ids []uint32) {
	f := &t.fields[i]
	id := ids[f.at]
	for int(id) >= len(f.bits) {
		f.bits = append(f.bits, noClass)
	}
	if f.bits[id] != noClass {
		return
	}
	var class uint32
	if f.at < len(e.procs) {
		class = t.spec.Procs[f.at]([]byte(e.procs[f.at].locals.vals[id]))
	} else {
		k := f.at - len(e.procs)
		class = t.spec.Chans[k](e.chans[k].bytes(id))
	}
	d, ok := f.dense[class]
	if !ok {
		d = uint32(len(f.classes))
		f.dense[class] = d
		f.classes = append(f.classes, class)
		if len(f.classes) >= 1<<f.width {
			t.place()
		}
	}
	f.bits[id] = uint64(d) << f.shift
}

// applies says whether a claim is evaluated at ids at all.
func (e *engine) applies(where When, ids []uint32) bool {
	switch where {
	case Quiescent:
		return e.empty(ids)
	case AtEnd:
		return e.allFinal(ids)
	}
	return true
}

func (e *engine) empty(ids []uint32) bool {
	for _, w := range ids[len(e.procs) : len(e.procs)+len(e.chans)] {
		if w != 0 {
			return false
		}
	}
	return true
}

func (e *engine) allFinal(ids []uint32) bool {
	for p := range e.procs {
		if !e.procs[p].final[ids[p]] {
			return false
		}
	}
	return true
}
