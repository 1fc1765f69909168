package tables

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
)

// Moves: everything that can happen in a configuration, one after the other,
// with all details. The inner loop in expand.go says the same by look-ups.

// Move is one thing that can happen in a configuration; overwritten by the next one.
type Move struct {
	Kind api.StepKind
	Proc int // -1: the channel itself
	Ch   int // -1: a local step
	Msg  uint32
	At   int   // of a SwapStep, as in api.TraceStep
	Rule *Rule // nil: the channel itself
	// fault is set if the move is an error; next is then of no use.
	Fault *api.Fault
	Next  []uint32 // ids afterwards; overwritten by the next move
}

// Moves calls fn for everything that can happen at ids, in a fixed order, and
// interns what it meets. fn returns false to stop.
func (e *Engine) Moves(ids []uint32, fn func(*Move) bool) {
	if e.Watches != nil {
		fn = e.remembering(fn)
	}
	for p := range e.Procs {
		run := e.localRun(p, ids[p])
		if run == 1 {
			continue
		}
		for i := run; ; i++ {
			r := &e.Procs[p].Rules[i]
			if !e.try(ids, ids, e.is(Move{Kind: api.LocalStep, Proc: p, Ch: -1, Rule: r}), fn) {
				return
			}
			if r.Flags&LastFlag != 0 {
				break
			}
		}
	}
	for k := range e.Chans {
		if !e.deliveries(ids, k, fn) {
			return
		}
	}
}

// deliveries are the moves of one channel and its receiver.
func (e *Engine) deliveries(ids []uint32, k int, fn func(*Move) bool) bool {
	c := &e.Chans[k]
	at := len(e.Procs) + k
	w, to := ids[at], c.Spec.To
	c.meet(w)
	base := append(e.baseBuf[:0], ids...)
	e.baseBuf = base
	for i := uint32(0); ; i++ {
		l := c.Deliverable(w, i)
		if l == nil {
			break
		}
		msg := l.Msg
		run := e.recvRun(k, ids[to], msg)
		for j := run; run != 1; j++ {
			r := &e.Procs[to].Rules[j]
			copy(base, ids)
			if r.Kind != FaultRule {
				base[at] = c.take(w, i)
			}
			if !e.try(ids, base, e.is(Move{Kind: api.ReceiveStep, Proc: to, Ch: k, Msg: msg, Rule: r}), fn) {
				return false
			}
			if c.Spec.Dup && r.Kind != FaultRule && r.Flags&OnceFlag == 0 && !c.IsFree(msg) {
				copy(base, ids)
				again := e.is(Move{Kind: api.DupStep, Proc: to, Ch: k, Msg: msg, Rule: r})
				if e.spend(base, DupFault) && !e.try(ids, base, again, fn) {
					return false
				}
			}
			if r.Flags&LastFlag != 0 {
				break
			}
		}
		copy(base, ids)
		if c.Spec.Lossy && !c.IsFree(msg) && e.spend(base, LossFault) {
			base[at] = c.take(w, i)
			if !fn(e.is(Move{Kind: api.LoseStep, Proc: -1, Ch: k, Msg: msg, Next: base})) {
				return false
			}
		}
	}
	if c.Spec.Swap {
		for _, x := range c.swapped(w) {
			copy(base, ids)
			if !e.spend(base, SwapFault) {
				break
			}
			base[at] = x.Word
			if !fn(e.is(Move{Kind: api.SwapStep, Proc: -1, Ch: k, Msg: c.Heads[w].Msg, At: x.At, Next: base})) {
				return false
			}
		}
	}
	copy(base, ids)
	if c.Spec.Tail != nil && c.curtailed(w) != w {
		base[at] = c.curtailed(w)
		return fn(e.is(Move{Kind: api.LoseStep, Proc: -1, Ch: k, Msg: c.Words[w][c.tailOf(w)], Next: base}))
	}
	return true
}

// is keeps m where the next one will be: moves are many, and looked at one by one.
func (e *Engine) is(m Move) *Move {
	e.move = m
	return &e.move
}

// try takes a rule from base (ids with the message already taken) if it is
// enabled at ids.
func (e *Engine) try(ids, base []uint32, m *Move, fn func(*Move) bool) bool {
	r := m.Rule
	if r.Lens != 0 && !e.Allows(r.Lens, ids) {
		return true
	}
	next := append(e.nextBuf[:0], base...)
	e.nextBuf = next
	if r.Kind == FaultRule {
		m.Fault = e.Notes[r.Note].fault
		return fn(m)
	}
	for left := r.Spends; left != 0; left &= left - 1 {
		if !e.spend(next, bits.TrailingZeros8(left)) {
			return true
		}
	}
	for _, k := range e.Ages[r.Ages.Off : r.Ages.Off+r.Ages.N] {
		at := len(e.Procs) + int(k)
		if next[at] = e.Chans[k].older(next[at]); next[at] == OverflowWord {
			return true
		}
	}
	next[m.Proc] = r.Next
	for _, s := range e.Sends[r.Sends.Off : r.Sends.Off+r.Sends.N] {
		at := len(e.Procs) + int(s.Ch)
		w := e.Chans[s.Ch].push(next[at], s.Msg)
		if w == OverflowWord {
			if e.Chans[s.Ch].Spec.Block {
				return true
			}
			m.Fault = e.overflow(int(s.Ch), s.Msg)
			return fn(m)
		}
		next[at] = w
	}
	m.Next = next
	return fn(m)
}

// spend counts one fault of the given kind; ok is false if there is none left.
func (e *Engine) spend(ids []uint32, kind int) (ok bool) {
	if e.Budgets == nil {
		return true
	}
	at := len(e.Procs) + len(e.Chans)
	id := e.Spent[ids[at]][kind]
	if id == 0 {
		id = e.spendSlow(ids[at], kind)
	}
	if id == OverflowWord {
		return false
	}
	ids[at] = id - 1
	return true
}

func (e *Engine) spendSlow(from uint32, kind int) uint32 {
	b, limit := e.Budgets[from], e.Sys.Budget
	used, most := b.Parts()[kind], *limit.Parts()[kind]
	id := OverflowWord
	switch {
	case most == 0:
		id = from + 1 // no limit, nothing to count
	case *used < most:
		*used++
		id = e.budgetID(b) + 1
	}
	e.Spent[from][kind] = id
	return id
}

func (e *Engine) budgetID(b api.Budget) uint32 {
	for i, x := range e.Budgets {
		if x == b {
			return uint32(i)
		}
	}
	e.Budgets = append(e.Budgets, b)
	e.Spent = append(e.Spent, [api.BudgetParts]uint32{})
	return uint32(len(e.Budgets) - 1)
}

func (e *Engine) FaultKind(r *Rule) api.Kind {
	if k := e.Notes[r.Note].fault.Kind; k != 0 {
		return k
	}
	return api.OtherFault
}

func (e *Engine) overflow(ch int, msg uint32) *api.Fault {
	c := &e.Chans[ch]
	return &api.Fault{Kind: api.ChannelOverflow, Text: fmt.Sprintf("%s holds %d already and has no room for %s",
		e.ChanName(ch), c.Spec.Cap, e.MsgName(ch, []byte(c.msgs.Vals[msg])))}
}

// FaultyAt reports whether a step that is a fault is possible at ids; calm: one that is not spontaneous.
func (e *Engine) FaultyAt(ids []uint32, calm bool) bool {
	found := false
	e.Moves(slices.Clone(ids), func(m *Move) bool {
		found = m.Fault != nil && !(calm && m.Kind == api.LocalStep && m.Rule.Flags&SpontaneousFlag != 0)
		return !found
	})
	return found
}

func (m *Move) KindOfFault() api.Kind {
	if m.Fault.Kind == 0 {
		return api.OtherFault
	}
	return m.Fault.Kind
}
