package explore

import "encoding/binary"

// bundle evaluates several claims together by look-ups: for each observed
// field, a table from id to the classes all its claims give it (as one small
// number); those numbers together index a table of outcomes. A bundle whose
// table would become large is divided.
type bundle struct {
	where    When
	claims   []int
	watch    *watch   // not nil: it is of this watch instead, and outcomes are local values
	kept     []uint32 // of a watch, all that was learnt: numbers of the fields and outcome
	fields   []bundleField
	bits     uint32            // of a combination
	memo     []uint32          // by combination: outcome plus 1, 0 unknown
	big      pairTable         // instead, for a claim with very many combinations
	wide     map[string]uint32 // instead, when a combination exceeds 60 bits
	outcomes []outcome
	byBits   map[string]uint32
}

// outcome is what the claims of a bundle say: for each, heldBit and relevantBit.
type outcome struct {
	bits []uint8
	note bool // a claim is violated or witnessed
}

const (
	heldBit = 1 << iota
	relevantBit
)

type bundleField struct {
	at      int      // field of the configuration
	places  []uint64 // by id: its number in its place of a combination; noPlace if unknown
	dense   map[string]uint32
	classes [][]uint32 // by number: the class for each claim
	shift   uint32
	width   uint32
}

const (
	noPlace     = ^uint64(0)
	maxMemoBits = 18
)

// initClaims makes one bundle for each When.
func (e *engine) initClaims() {
	for _, where := range []When{Everywhere, Quiescent, AtEnd} {
		var claims []int
		for i := range e.sys.Claims {
			if c := &e.sys.Claims[i]; c.At == where && c.Kind != Confluent {
				claims = append(claims, i)
			}
		}
		if len(claims) > 0 {
			e.bundles = append(e.bundles, e.newBundle(where, claims))
		}
	}
}

func (e *engine) newBundle(where When, claims []int) *bundle {
	b := &bundle{where: where, claims: claims, byBits: map[string]uint32{}}
	for at := range len(e.procs) + len(e.chans) {
		for _, i := range claims {
			if e.looker(i).observes(at, len(e.procs)) {
				b.fields = append(b.fields, bundleField{at: at, dense: map[string]uint32{}, width: 2})
				break
			}
		}
	}
	b.place()
	return b
}

// observes says whether the claim looks at a field of a configuration.
func (c *Claim) observes(at, procs int) bool {
	if at < procs {
		return at < len(c.Procs) && c.Procs[at] != nil
	}
	at -= procs
	return at < len(c.Chans) && c.Chans[at] != nil
}

// place lays the numbers of the fields out side by side and forgets outcomes.
func (b *bundle) place() {
	b.bits = 0
	old := make([]uint32, len(b.fields)) // widths
	for i := range b.fields {
		f := &b.fields[i]
		old[i] = f.width
		for len(f.classes) >= 1<<f.width {
			f.width++
		}
		b.bits += f.width
	}
	shift := uint32(0)
	for i := range b.fields {
		f := &b.fields[i]
		oldShift := f.shift
		f.shift = shift
		if b.bits > 60 {
			f.shift = 0
		}
		shift += f.width
		for id, p := range f.places {
			if p != noPlace {
				f.places[id] = p >> oldShift & (1<<old[i] - 1) << f.shift
			}
		}
	}
	b.memo, b.big, b.wide = nil, pairTable{}, nil
	switch {
	case b.bits <= maxMemoBits:
		b.memo = make([]uint32, 1<<b.bits)
	case b.bits > 60:
		b.wide = map[string]uint32{}
	}
	b.recall()
}

// outcome gives the number of the outcome for ids plus 1, or 0 if unknown.
func (b *bundle) outcome(ids []uint32) uint32 {
	at := uint64(0)
	for i := range b.fields {
		f := &b.fields[i]
		id := ids[f.at]
		if int(id) >= len(f.places) {
			return 0
		}
		at |= f.places[id]
	}
	if at < uint64(len(b.memo)) {
		return b.memo[at]
	}
	return b.rare(at, ids)
}

// rare is outcome for a bundle without a memo, or an unknown class.
func (b *bundle) rare(at uint64, ids []uint32) uint32 {
	switch {
	case at == noPlace || b.memo != nil:
		return 0
	case b.wide != nil:
		return b.wide[b.wideKey(ids)]
	}
	return b.big.get(uint32(at>>32), uint32(at))
}

// wideKey is a combination as a string.
func (b *bundle) wideKey(ids []uint32) string {
	key := make([]byte, 0, 4*len(b.fields))
	for i := range b.fields {
		key = binary.LittleEndian.AppendUint32(key, uint32(b.fields[i].places[ids[b.fields[i].at]]))
	}
	return string(key)
}

// learn makes the outcome for ids known. It is false if the bundle has become
// too large and should be divided.
func (e *engine) learn(b *bundle, ids []uint32) bool {
	for i := range b.fields {
		e.classify(b, i, ids)
	}
	if b.bits > maxMemoBits && len(b.claims) > 1 {
		return false
	}
	at := uint64(0)
	classes := make([][]uint32, len(b.fields))
	for i := range b.fields {
		f := &b.fields[i]
		p := f.places[ids[f.at]]
		at |= p
		classes[i] = f.classes[p>>f.shift&(1<<f.width-1)]
	}
	v := e.evaluate(b, classes) + 1
	if b.watch != nil {
		b.keep(ids, v)
	}
	switch {
	case b.memo != nil:
		b.memo[at] = v
	case b.wide != nil:
		b.wide[b.wideKey(ids)] = v
	default:
		b.big.set(uint32(at>>32), uint32(at), v)
	}
	return true
}

// evaluate calls the claims' functions and gives the outcome.
func (e *engine) evaluate(b *bundle, classes [][]uint32) uint32 {
	o := outcome{bits: make([]uint8, len(b.claims))}
	procs, chans := make([]uint32, len(e.procs)), make([]uint32, len(e.chans))
	for j, i := range b.claims {
		c := e.looker(i)
		for k := range b.fields {
			if at := b.fields[k].at; at < len(procs) {
				procs[at] = classes[k][j]
			} else {
				chans[at-len(procs)] = classes[k][j]
			}
		}
		if b.watch != nil {
			return b.watch.next(e, procs, chans)
		}
		if c.Eval(procs, chans) {
			o.bits[j] |= heldBit
		}
		if c.Relevant == nil || c.Relevant(procs, chans) {
			o.bits[j] |= relevantBit
		}
		held := o.bits[j]&heldBit != 0
		o.note = o.note || c.Kind == Always && !held || c.Kind == Sometimes && held
	}
	if id, ok := b.byBits[string(o.bits)]; ok {
		return id
	}
	id := uint32(len(b.outcomes))
	b.byBits[string(o.bits)] = id
	b.outcomes = append(b.outcomes, o)
	return id
}

// classify finds the number of one field.
func (e *engine) classify(b *bundle, i int, ids []uint32) {
	f := &b.fields[i]
	id := ids[f.at]
	for int(id) >= len(f.places) {
		f.places = append(f.places, noPlace)
	}
	if f.places[id] != noPlace {
		return
	}
	classes := make([]uint32, len(b.claims))
	var key []byte
	for j, c := range b.claims {
		classes[j] = e.class(e.looker(c), f.at, id)
		key = binary.LittleEndian.AppendUint32(key, classes[j])
	}
	d, ok := f.dense[string(key)]
	if !ok {
		d = uint32(len(f.classes))
		f.dense[string(key)] = d
		f.classes = append(f.classes, classes)
		if len(f.classes) >= 1<<f.width {
			b.place()
		}
	}
	f.places[id] = uint64(d) << f.shift
}

// class calls the claim's function for one field.
func (e *engine) class(c *Claim, at int, id uint32) uint32 {
	if !c.observes(at, len(e.procs)) {
		return 0
	}
	if at < len(e.procs) {
		return c.Procs[at]([]byte(e.procs[at].locals.vals[id]))
	}
	k := at - len(e.procs)
	return c.Chans[k](e.chans[k].bytes(id))
}

// claimBits gives what claim i says of ids: heldBit, relevantBit; 0 also where
// it does not apply.
func (e *engine) claimBits(i int, ids []uint32) uint8 {
	for _, b := range e.bundles {
		for j, c := range b.claims {
			if c != i || !e.applies(b.where, ids) {
				continue
			}
			for b.outcome(ids) == 0 {
				if !e.learn(b, ids) {
					return e.claimBitsAlone(i, ids)
				}
			}
			return b.outcomes[b.outcome(ids)-1].bits[j]
		}
	}
	return 0
}

// claimBitsAlone is claimBits for a claim taken out of a bundle too large.
func (e *engine) claimBitsAlone(i int, ids []uint32) uint8 {
	b := e.newBundle(e.sys.Claims[i].At, []int{i})
	for b.outcome(ids) == 0 {
		e.learn(b, ids)
	}
	return b.outcomes[b.outcome(ids)-1].bits[0]
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

// allFinal says whether all machines may rest. Local values never met count
// as not final.
func (e *engine) allFinal(ids []uint32) bool {
	for p := range e.procs {
		if final := e.procs[p].final; int(ids[p]) >= len(final) || !final[ids[p]] {
			return false
		}
	}
	return true
}
