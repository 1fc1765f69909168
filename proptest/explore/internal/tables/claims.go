package tables

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// Bundle evaluates several claims together by look-ups: for each observed
// field, a table from id to the classes all its claims give it (as one small
// number); those numbers together index a table of outcomes. A bundle whose
// table would become large is divided.
type Bundle struct {
	Where    api.When
	Claims   []int
	watch    *watch   // not nil: it is of this watch instead, and outcomes are local values
	kept     []uint32 // of a watch, all that was learnt: numbers of the fields and outcome
	Fields   []bundleField
	bits     uint32            // of a combination
	memo     []uint32          // by combination: outcome plus 1, 0 unknown
	big      store.PairTable   // instead, for a claim with very many combinations
	wide     map[string]uint32 // instead, when a combination exceeds 60 bits
	Outcomes []outcome
	byBits   map[string]uint32
}

// outcome is the result of the claims of a bundle: heldBit and relevantBit for each.
type outcome struct {
	Bits []uint8
	Note bool // a claim is violated or witnessed
}

const (
	HeldBit = 1 << iota
	RelevantBit
)

type bundleField struct {
	At      int      // field of the configuration
	Places  []uint64 // by id: its number in its place of a combination; noPlace if unknown
	dense   map[string]uint32
	Classes [][]uint32 // by number: the class for each claim
	Shift   uint32
	Width   uint32
}

const (
	noPlace     = ^uint64(0)
	maxMemoBits = 18
)

// initClaims makes one bundle for each When.
func (e *Engine) initClaims() {
	for _, where := range []api.When{api.Everywhere, api.Quiescent, api.AtEnd} {
		var claims []int
		for i := range e.Sys.Claims {
			if c := &e.Sys.Claims[i]; c.At == where && c.Kind != api.Confluent {
				claims = append(claims, i)
			}
		}
		if len(claims) > 0 {
			e.Bundles = append(e.Bundles, e.NewBundle(where, claims))
		}
	}
}

func (e *Engine) NewBundle(where api.When, claims []int) *Bundle {
	b := &Bundle{Where: where, Claims: claims, byBits: map[string]uint32{}}
	for at := range len(e.Procs) + len(e.Chans) {
		for _, i := range claims {
			if observes(e.looker(i), at, len(e.Procs)) {
				b.Fields = append(b.Fields, bundleField{At: at, dense: map[string]uint32{}, Width: 2})
				break
			}
		}
	}
	b.place()
	return b
}

// observes reports whether the claim looks at a field of a configuration.
func observes(c *api.Claim, at, procs int) bool {
	if at < procs {
		return at < len(c.Procs) && c.Procs[at] != nil
	}
	at -= procs
	return at < len(c.Chans) && c.Chans[at] != nil
}

// place lays the numbers of the fields out side by side and forgets outcomes.
func (b *Bundle) place() {
	b.bits = 0
	old := make([]uint32, len(b.Fields)) // widths
	for i := range b.Fields {
		f := &b.Fields[i]
		old[i] = f.Width
		for len(f.Classes) >= 1<<f.Width {
			f.Width++
		}
		b.bits += f.Width
	}
	shift := uint32(0)
	for i := range b.Fields {
		f := &b.Fields[i]
		oldShift := f.Shift
		f.Shift = shift
		if b.bits > 60 {
			f.Shift = 0
		}
		shift += f.Width
		for id, p := range f.Places {
			if p != noPlace {
				f.Places[id] = p >> oldShift & (1<<old[i] - 1) << f.Shift
			}
		}
	}
	b.memo, b.big, b.wide = nil, store.PairTable{}, nil
	switch {
	case b.bits <= maxMemoBits:
		b.memo = make([]uint32, 1<<b.bits)
	case b.bits > 60:
		b.wide = map[string]uint32{}
	}
	b.recall()
}

// Outcome returns the number of the outcome for ids plus 1, or 0 if it is unknown.
func (b *Bundle) Outcome(ids []uint32) uint32 {
	at := uint64(0)
	for i := range b.Fields {
		f := &b.Fields[i]
		id := ids[f.At]
		if int(id) >= len(f.Places) {
			return 0
		}
		at |= f.Places[id]
	}
	if at < uint64(len(b.memo)) {
		return b.memo[at]
	}
	return b.rare(at, ids)
}

// rare is outcome for a bundle without a memo, or an unknown class.
func (b *Bundle) rare(at uint64, ids []uint32) uint32 {
	switch {
	case at == noPlace || b.memo != nil:
		return 0
	case b.wide != nil:
		return b.wide[b.wideKey(ids)]
	}
	return b.big.Get(uint32(at>>32), uint32(at))
}

// wideKey is a combination as a string.
func (b *Bundle) wideKey(ids []uint32) string {
	key := make([]byte, 0, 4*len(b.Fields))
	for i := range b.Fields {
		key = binary.LittleEndian.AppendUint32(key, uint32(b.Fields[i].Places[ids[b.Fields[i].At]]))
	}
	return string(key)
}

// Learn computes the outcome for ids. It returns false if the bundle has become too large and
// should be divided.
func (e *Engine) Learn(b *Bundle, ids []uint32) bool {
	for i := range b.Fields {
		e.Classify(b, i, ids)
	}
	if b.bits > maxMemoBits && len(b.Claims) > 1 {
		return false
	}
	at := uint64(0)
	classes := make([][]uint32, len(b.Fields))
	for i := range b.Fields {
		f := &b.Fields[i]
		p := f.Places[ids[f.At]]
		at |= p
		classes[i] = f.Classes[p>>f.Shift&(1<<f.Width-1)]
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
		b.big.Set(uint32(at>>32), uint32(at), v)
	}
	return true
}

// evaluate calls the claims' functions and gives the outcome.
func (e *Engine) evaluate(b *Bundle, classes [][]uint32) uint32 {
	o := outcome{Bits: make([]uint8, len(b.Claims))}
	procs, chans := make([]uint32, len(e.Procs)), make([]uint32, len(e.Chans))
	for j, i := range b.Claims {
		c := e.looker(i)
		for k := range b.Fields {
			if at := b.Fields[k].At; at < len(procs) {
				procs[at] = classes[k][j]
			} else {
				chans[at-len(procs)] = classes[k][j]
			}
		}
		if b.watch != nil {
			return b.watch.next(e, procs, chans)
		}
		if c.Eval(procs, chans) {
			o.Bits[j] |= HeldBit
		}
		if c.Relevant == nil || c.Relevant(procs, chans) {
			o.Bits[j] |= RelevantBit
		}
		held := o.Bits[j]&HeldBit != 0
		o.Note = o.Note || c.Kind == api.Always && !held || c.Kind == api.Sometimes && held
	}
	if id, ok := b.byBits[string(o.Bits)]; ok {
		return id
	}
	id := uint32(len(b.Outcomes))
	b.byBits[string(o.Bits)] = id
	b.Outcomes = append(b.Outcomes, o)
	return id
}

// Classify computes the number of one field.
func (e *Engine) Classify(b *Bundle, i int, ids []uint32) {
	f := &b.Fields[i]
	id := ids[f.At]
	for int(id) >= len(f.Places) {
		f.Places = append(f.Places, noPlace)
	}
	if f.Places[id] != noPlace {
		return
	}
	classes := make([]uint32, len(b.Claims))
	var key []byte
	for j, c := range b.Claims {
		classes[j] = e.class(e.looker(c), f.At, id)
		key = binary.LittleEndian.AppendUint32(key, classes[j])
	}
	d, ok := f.dense[string(key)]
	if !ok {
		d = uint32(len(f.Classes))
		f.dense[string(key)] = d
		f.Classes = append(f.Classes, classes)
		if len(f.Classes) >= 1<<f.Width {
			b.place()
		}
	}
	f.Places[id] = uint64(d) << f.Shift
}

// class calls the claim's function for one field.
func (e *Engine) class(c *api.Claim, at int, id uint32) uint32 {
	if !observes(c, at, len(e.Procs)) {
		return 0
	}
	if at < len(e.Procs) {
		return c.Procs[at]([]byte(e.Procs[at].Locals.Vals[id]))
	}
	k := at - len(e.Procs)
	return c.Chans[k](e.Chans[k].bytes(id))
}

// Holds reports, by look-up alone, whether claim i holds at ids. known is false if the tables do
// not have that.
func (e *Engine) Holds(i int, ids []uint32) (held, known bool) {
	for _, b := range e.Bundles {
		j := slices.Index(b.Claims, i)
		if j < 0 {
			continue
		}
		if !e.Applies(b.Where, ids) {
			return false, true
		}
		v := b.Outcome(ids)
		return v != 0 && b.Outcomes[v-1].Bits[j]&HeldBit != 0, v != 0
	}
	return false, true
}

// ClaimBits returns the result of claim i at ids: heldBit, relevantBit; also 0 where it does not
// apply.
func (e *Engine) ClaimBits(i int, ids []uint32) uint8 {
	for _, b := range e.Bundles {
		for j, c := range b.Claims {
			if c != i || !e.Applies(b.Where, ids) {
				continue
			}
			for b.Outcome(ids) == 0 {
				if !e.Learn(b, ids) {
					return e.claimBitsAlone(i, ids)
				}
			}
			return b.Outcomes[b.Outcome(ids)-1].Bits[j]
		}
	}
	return 0
}

// claimBitsAlone is claimBits for a claim taken out of a bundle too large.
func (e *Engine) claimBitsAlone(i int, ids []uint32) uint8 {
	b := e.NewBundle(e.Sys.Claims[i].At, []int{i})
	for b.Outcome(ids) == 0 {
		e.Learn(b, ids)
	}
	return b.Outcomes[b.Outcome(ids)-1].Bits[0]
}

// Applies reports whether a claim is evaluated at ids at all.
func (e *Engine) Applies(where api.When, ids []uint32) bool {
	switch where {
	case api.Quiescent:
		return e.Empty(ids)
	case api.AtEnd:
		return e.AllFinal(ids)
	}
	return true
}

// Empty reports whether no message is under way and none is held.
func (e *Engine) Empty(ids []uint32) bool {
	if e.Sys.Held != nil {
		for p := range e.Procs {
			if holds := e.Procs[p].holds; int(ids[p]) < len(holds) && holds[ids[p]] {
				return false
			}
		}
	}
	for _, w := range ids[len(e.Procs) : len(e.Procs)+len(e.Chans)] {
		if w != 0 {
			return false
		}
	}
	return true
}

// Waiting reports whether a channel that Blocks is not empty.
func (e *Engine) Waiting(ids []uint32) bool {
	for k := range e.Chans {
		if e.Chans[k].Spec.Block && ids[len(e.Procs)+k] != 0 {
			return true
		}
	}
	return false
}

// AllFinal reports whether all machines may rest. Local values never met count
// as not final.
func (e *Engine) AllFinal(ids []uint32) bool {
	for p := range e.Procs {
		if final := e.Procs[p].final; int(ids[p]) >= len(final) || !final[ids[p]] {
			return false
		}
	}
	return true
}
