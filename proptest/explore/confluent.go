package explore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// pairKey is a pair of steps whose order matters, as reported once.
type pairKey struct{ claim, procA, procB, a, b int }

// conflict is such a pair with its least example.
type conflict struct {
	pairKey
	c     []uint64
	depth int
	text  string
}

// taken is a move with its result kept.
type taken struct {
	move
	next []uint32
}

// confluent looks for pairs of steps whose order matters. Whether it does for
// a local step and a reception of one machine depends only on its local value,
// the message and, where guards or full channels play a part, the channels; so
// each such case is tried once for each depth.
func (s *search) confluent(claim int) {
	e := s.e
	seen := map[string]int{}
	found := map[pairKey]*conflict{}
	ids := make([]uint32, e.fields())
	guarded := e.guarded()
	s.forEach(func(depth int, c []uint64) bool {
		e.lay.unpack(c, ids)
		for p := range e.procs {
			if !guarded {
				key := e.caseKey(p, ids)
				if at, ok := seen[key]; ok && at != depth {
					continue
				}
				seen[key] = depth
			}
			s.tryPairs(claim, p, c, ids, depth, found)
		}
		return !s.stop.Load()
	})
	for _, f := range found {
		s.conflicts = append(s.conflicts, *f)
	}
	slices.SortFunc(s.conflicts, func(x, y conflict) int {
		return cmp.Or(x.claim-y.claim, x.depth-y.depth, x.procA-y.procA, x.a-y.a, x.procB-y.procB, x.b-y.b)
	})
}

// guarded says whether the order of steps of different machines, or the
// contents of channels beyond the next message, can matter.
func (e *engine) guarded() bool {
	if len(e.lens) > 1 || e.budgets != nil {
		return true
	}
	for i := range e.chans {
		if e.chans[i].widest == e.chans[i].spec.Cap {
			return true
		}
	}
	writer := map[uint32]uint16{}
	for p := range e.procs {
		for i := range e.procs[p].rules {
			r := &e.procs[p].rules[i]
			for _, x := range e.sends[r.sends.off : r.sends.off+r.sends.n] {
				if w, ok := writer[x.ch]; ok && w != r.proc || e.chans[x.ch].spec.Block {
					return true
				}
				writer[x.ch] = r.proc
			}
		}
	}
	return false
}

// caseKey tells cases for machine p apart, where channels do not matter beyond
// what can be delivered.
func (e *engine) caseKey(p int, ids []uint32) string {
	key := binary.LittleEndian.AppendUint32(nil, uint32(p))
	key = binary.LittleEndian.AppendUint32(key, ids[p])
	for k := range e.chans {
		if e.chans[k].spec.To != p {
			continue
		}
		w := ids[len(e.procs)+k]
		for i := uint32(0); ; i++ {
			l := e.chans[k].letterAt(w, i)
			if l == nil {
				break
			}
			key = binary.LittleEndian.AppendUint32(key, l.msg)
		}
		key = append(key, 0xff, 0xff, 0xff, 0xff)
	}
	return string(key)
}

// steps gives the moves of machines at ids that are no faults.
func (e *engine) machineMoves(ids []uint32) []taken {
	var out []taken
	e.moves(slices.Clone(ids), func(m *move) bool {
		if m.rule != nil && m.fault == nil && m.kind != DupStep {
			out = append(out, taken{*m, e.forgetting(ids, slices.Clone(m.next))})
		}
		return true
	})
	return out
}

// tryPairs tries all pairs that involve machine p at one configuration.
func (s *search) tryPairs(claim, p int, c []uint64, ids []uint32, depth int, found map[pairKey]*conflict) {
	e := s.e
	exempt := e.sys.Claims[claim].Exempt
	moves := e.machineMoves(ids)
	for i := range moves {
		for j := range moves {
			x, y := &moves[i], &moves[j]
			if x.proc != p || !independent(x, y) || x.proc == y.proc && x.kind != LocalStep || x.proc > y.proc {
				continue
			}
			lo, hi := min(x.rule.label, y.rule.label), max(x.rule.label, y.rule.label)
			if exempt != nil && exempt(lo, hi) {
				continue
			}
			key := pairKey{claim, x.proc, y.proc, int(x.rule.label), int(y.rule.label)}
			old := found[key]
			if old != nil && (old.depth < depth || e.compare(old.c, c) <= 0) {
				continue
			}
			if text := e.orders(moves, x, y); text != "" {
				found[key] = &conflict{key, slices.Clone(c), depth, text}
			}
		}
	}
}

// independent says whether two moves are a pair to be compared: by different
// machines, or a local step and a reception.
func independent(x, y *taken) bool {
	return x.proc != y.proc || (x.kind == LocalStep) != (y.kind == LocalStep)
}

// orders compares the two orders of a pair, of all that is possible; empty if they agree.
func (e *engine) orders(moves []taken, x, y *taken) string {
	xy, yx := e.inOrder(moves, x, y), e.inOrder(moves, y, x)
	name := func(m *taken) string { return e.sys.Labels[m.rule.label].Name }
	switch {
	case len(xy) == 0 && len(yx) == 0:
		return fmt.Sprintf("%s and %s exclude each other", name(x), name(y))
	case len(xy) == 0:
		return fmt.Sprintf("after %s, %s is no longer possible", name(x), name(y))
	case len(yx) == 0:
		return fmt.Sprintf("after %s, %s is no longer possible", name(y), name(x))
	case !slices.EqualFunc(xy, yx, slices.Equal):
		return fmt.Sprintf("%s then %s differs from %s then %s", name(x), name(y), name(y), name(x))
	}
	return ""
}

// inOrder gives, sorted, where event x and then event y can lead; nothing if after some way
// of taking x there is no way of taking y.
func (e *engine) inOrder(moves []taken, x, y *taken) [][]uint32 {
	var out [][]uint32
	for i := range moves {
		if m := &moves[i]; e.same(&m.move, x) {
			next := e.after(m, y)
			if len(next) == 0 {
				return nil
			}
			out = append(out, next...)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// same says whether a move is event y, perhaps in another way.
func (e *engine) same(m *move, y *taken) bool {
	return m.proc == y.proc && m.kind == y.kind && m.ch == y.ch && m.msg == y.msg && e.sameEvent(m.rule, y.rule, m.kind)
}

// after gives where y leads once x was taken.
func (e *engine) after(x, y *taken) [][]uint32 {
	var out [][]uint32
	for _, m := range e.machineMoves(x.next) {
		if e.same(&m.move, y) {
			out = append(out, m.next)
		}
	}
	return out
}

// sameEvent says whether two steps of one machine are the same event, though
// perhaps handled by different transitions: receptions of one message are;
// local steps are if their notes are equal, or, without notes, their labels.
func (e *engine) sameEvent(a, b *rule, kind StepKind) bool {
	if kind != LocalStep {
		return true
	}
	x, y := e.notes[a.note].note, e.notes[b.note].note
	if len(x) == 0 && len(y) == 0 {
		return a.label == b.label
	}
	return bytes.Equal(x, y)
}

// conflictReports turns conflicts into their reports.
func (s *search) conflictReports(r *Result) {
	finds := make([]finding, len(s.conflicts))
	for i, c := range s.conflicts {
		finds[i] = finding{c: c.c, depth: c.depth}
	}
	before := s.trails(finds)
	for _, c := range s.conflicts {
		trace, end := s.trace(before, c.c)
		r.Conflicts = append(r.Conflicts, Conflict{Claim: c.claim, A: uint32(c.a), B: uint32(c.b), ProcA: c.procA, ProcB: c.procB,
			Text: c.text, Trace: trace, Before: s.e.configuration(end)})
	}
	slices.SortStableFunc(r.Conflicts, func(x, y Conflict) int {
		return cmp.Or(x.Claim-y.Claim, len(x.Trace)-len(y.Trace), bytes.Compare([]byte(x.Text), []byte(y.Text)))
	})
}
