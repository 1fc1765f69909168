package after

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// pairKey is a pair of steps whose order matters, as reported once.
type pairKey struct{ claim, procA, procB, a, b int }

// Conflict is a pair of steps whose order matters, with its least example.
type Conflict struct {
	pairKey
	c     []uint64
	depth int
	text  string
}

// taken is a move with its result kept.
type taken struct {
	tables.Move
	next []uint32
}

// findConflicts looks for pairs of steps whose order matters. Whether it does for two steps of one
// machine depends only on its local value, the messages that it can receive and, where guards or full
// channels play a part, the channels; so each such case is tried once for each depth.
func findConflicts(s *search.Search, claim int) (pairs []Conflict) {
	e := s.Engine
	seen := map[string]int{}
	found := map[pairKey]*Conflict{}
	ids := make([]uint32, e.Fields())
	guarded := anyGuard(e)
	s.ForEach(func(depth int, c []uint64) bool {
		e.Lay.Unpack(c, ids)
		for p := range e.Procs {
			if !guarded {
				key := caseKey(e, p, ids)
				if at, ok := seen[key]; ok && at != depth {
					continue
				}
				seen[key] = depth
			}
			tryPairs(s, claim, p, c, ids, depth, found)
		}
		return !s.Stop.Load()
	})
	for _, f := range found {
		pairs = append(pairs, *f)
	}
	slices.SortFunc(pairs, func(x, y Conflict) int {
		return cmp.Or(x.claim-y.claim, x.depth-y.depth, x.procA-y.procA, x.a-y.a, x.procB-y.procB, x.b-y.b)
	})
	return pairs
}

// anyGuard reports whether the order of steps of different machines, or the
// contents of channels beyond the next message, can matter.
func anyGuard(e *tables.Engine) bool {
	if len(e.Lens) > 1 || len(e.Ages) > 0 || e.Budgets != nil {
		return true
	}
	for i := range e.Chans {
		if e.Chans[i].Widest == e.Chans[i].Spec.Cap {
			return true
		}
	}
	writer := map[uint32]uint16{}
	for p := range e.Procs {
		for i := range e.Procs[p].Rules {
			r := &e.Procs[p].Rules[i]
			for _, x := range e.Sends[r.Sends.Off : r.Sends.Off+r.Sends.N] {
				if w, ok := writer[x.Ch]; ok && w != r.Proc || e.Chans[x.Ch].Spec.Block {
					return true
				}
				writer[x.Ch] = r.Proc
			}
		}
	}
	return false
}

// caseKey tells cases for machine p apart, where channels do not matter beyond
// what can be delivered.
func caseKey(e *tables.Engine, p int, ids []uint32) string {
	key := binary.LittleEndian.AppendUint32(nil, uint32(p))
	key = binary.LittleEndian.AppendUint32(key, ids[p])
	for k := range e.Chans {
		if e.Chans[k].Spec.To != p {
			continue
		}
		w := ids[len(e.Procs)+k]
		for i := uint32(0); ; i++ {
			l := e.Chans[k].Deliverable(w, i)
			if l == nil {
				break
			}
			key = binary.LittleEndian.AppendUint32(key, l.Msg)
		}
		key = append(key, 0xff, 0xff, 0xff, 0xff)
	}
	return string(key)
}

// steps gives the moves of machines at ids that are no faults.
func machineMoves(e *tables.Engine, ids []uint32) []taken {
	var out []taken
	e.Moves(slices.Clone(ids), func(m *tables.Move) bool {
		if m.Rule != nil && m.Fault == nil && m.Kind != api.DupStep {
			out = append(out, taken{*m, e.Forgetting(ids, slices.Clone(m.Next))})
		}
		return true
	})
	return out
}

// tryPairs tries all pairs that involve machine p at one configuration.
func tryPairs(s *search.Search, claim, p int, c []uint64, ids []uint32, depth int, found map[pairKey]*Conflict) {
	e := s.Engine
	exempt := e.Sys.Claims[claim].Exempt
	moves := machineMoves(e, ids)
	for i := range moves {
		for j := range moves {
			x, y := &moves[i], &moves[j]
			if x.Proc != p || x.Proc > y.Proc || x.Proc == y.Proc && !pair(e, x, y) {
				continue
			}
			lo, hi := min(x.Rule.Label, y.Rule.Label), max(x.Rule.Label, y.Rule.Label)
			if exempt != nil && exempt(lo, hi) {
				continue
			}
			key := pairKey{claim, x.Proc, y.Proc, int(x.Rule.Label), int(y.Rule.Label)}
			old := found[key]
			if old != nil && (old.depth < depth || e.Compare(old.c, c) <= 0) {
				continue
			}
			if text := compareOrders(e, moves, x, y); text != "" {
				found[key] = &Conflict{key, slices.Clone(c), depth, text}
			}
		}
	}
}

// pair reports whether two moves of one machine are a pair to be compared, in this order of the two:
// different events, local ones first, and otherwise by label.
func pair(e *tables.Engine, x, y *taken) bool {
	local := x.Kind == api.LocalStep
	return !sameMove(e, &x.Move, y) &&
		(local && y.Kind != api.LocalStep || local == (y.Kind == api.LocalStep) && x.Rule.Label <= y.Rule.Label)
}

// compareOrders compares the two orders of a pair, of all that is possible; empty if they agree.
func compareOrders(e *tables.Engine, moves []taken, x, y *taken) string {
	xy, yx := inOrder(e, moves, x, y), inOrder(e, moves, y, x)
	name := func(m *taken) string { return e.Sys.Labels[m.Rule.Label].Name }
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
func inOrder(e *tables.Engine, moves []taken, x, y *taken) [][]uint32 {
	var out [][]uint32
	for i := range moves {
		if m := &moves[i]; sameMove(e, &m.Move, x) {
			next := movesAfter(e, m, y)
			if len(next) == 0 {
				return nil
			}
			out = append(out, next...)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// sameMove reports whether a move is event y, perhaps in another way.
func sameMove(e *tables.Engine, m *tables.Move, y *taken) bool {
	return m.Proc == y.Proc && m.Kind == y.Kind && m.Ch == y.Ch && m.Msg == y.Msg &&
		sameEvent(e, m.Rule, y.Rule, m.Kind)
}

// movesAfter gives where y leads once x was taken.
func movesAfter(e *tables.Engine, x, y *taken) [][]uint32 {
	var out [][]uint32
	for _, m := range machineMoves(e, x.next) {
		if sameMove(e, &m.Move, y) {
			out = append(out, m.next)
		}
	}
	return out
}

// sameEvent reports whether two steps of one machine are the same event, though
// perhaps handled by different transitions: receptions of one message are;
// local steps are if their notes are equal, or, without notes, their labels.
func sameEvent(e *tables.Engine, a, b *tables.Rule, kind api.StepKind) bool {
	if kind != api.LocalStep {
		return true
	}
	x, y := e.Notes[a.Note].Note, e.Notes[b.Note].Note
	if len(x) == 0 && len(y) == 0 {
		return a.Label == b.Label
	}
	return bytes.Equal(x, y)
}

// Report turns conflicts into their reports.
func Report(s *search.Search, r *api.Result, pairs []Conflict) {
	finds := make([]search.Finding, len(pairs))
	for i, c := range pairs {
		finds[i] = search.Finding{Conf: c.c, Depth: c.depth}
	}
	before := s.Trails(finds)
	for _, c := range pairs {
		trace, end := s.Trace(before, c.c)
		r.Conflicts = append(r.Conflicts, api.Conflict{Claim: c.claim, A: uint32(c.a), B: uint32(c.b),
			ProcA: c.procA, ProcB: c.procB,
			Text: c.text, Trace: trace, Before: s.Engine.Configuration(end)})
	}
	slices.SortStableFunc(r.Conflicts, func(x, y api.Conflict) int {
		return cmp.Or(x.Claim-y.Claim, len(x.Trace)-len(y.Trace), bytes.Compare([]byte(x.Text), []byte(y.Text)))
	})
}
