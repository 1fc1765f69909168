package search

import (
	"math/bits"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// The rarer steps of the inner loop: several messages, budgets, channel faults.

// general takes a rule that is neither plain nor a single send; with keep, a
// reception that leaves the message in its channel.
func (w *Worker) general(r *tables.Rule, keep bool, at int, rest uint32) bool {
	e := w.Engine
	if r.Kind == tables.FaultRule {
		w.bad = append(w.bad, r.Count|uint32(e.FaultKind(r))<<24)
		return true
	}
	np := len(e.Procs)
	copy(w.next, w.Ids)
	if at >= 0 {
		w.next[np+at] = rest
	}
	if keep {
		if known, ok := w.spend(tables.DupFault); !known || !ok {
			return known
		}
	}
	for left := r.Spends; left != 0; left &= left - 1 {
		if known, ok := w.spend(bits.TrailingZeros8(left)); !known || !ok {
			return known
		}
	}
	for _, k := range e.Ages[r.Ages.Off : r.Ages.Off+r.Ages.N] {
		older, met := e.Chans[k].Olders[w.next[np+int(k)]]
		if !met || older == tables.OverflowWord {
			return met
		}
		w.next[np+int(k)] = older
	}
	w.next[r.Proc] = r.Next
	for _, s := range e.Sends[r.Sends.Off : r.Sends.Off+r.Sends.N] {
		c := &e.Chans[s.Ch]
		n := c.Append.Get(w.next[np+int(s.Ch)], s.Msg)
		if n == 0 {
			return false
		}
		if n == tables.OverflowWord {
			if !c.Spec.Block {
				w.bad = append(w.bad, r.Count|uint32(api.ChannelOverflow)<<24)
			}
			return true
		}
		w.next[np+int(s.Ch)] = n
	}
	if keep {
		w.Counts[len(e.Sys.Labels)+tables.DupCount] += w.inc
	}
	w.emit(int(r.Count))
	return true
}

// emit packs w.next and counts it.
func (w *Worker) emit(count int) {
	o := len(w.Buf)
	for range w.Engine.Lay.Stride {
		w.Buf = append(w.Buf, 0)
	}
	w.Engine.Lay.Pack(w.next, w.Buf[o:])
	w.Counts[count] += w.inc
}

// spend counts a fault in w.next by look-up.
func (w *Worker) spend(kind int) (known, ok bool) {
	e := w.Engine
	if e.Budgets == nil {
		return true, true
	}
	at := len(e.Procs) + len(e.Chans)
	id := e.Spent[w.next[at]][kind]
	if id == 0 {
		return false, false
	}
	if id == tables.OverflowWord {
		return true, false
	}
	w.next[at] = id - 1
	return true, true
}

// keepers takes the receptions of a run that leave the message in channel k.
func (w *Worker) keepers(k int, run uint32) bool {
	rules := w.Engine.Procs[w.Engine.Chans[k].Spec.To].Rules
	for i := run; ; i++ {
		r := &rules[i]
		copies := r.Kind != tables.FaultRule && r.Flags&tables.OnceFlag == 0
		if copies && (r.Lens == 0 || w.Engine.Allows(r.Lens, w.Ids)) && !w.general(r, true, -1, 0) {
			return false
		}
		if r.Flags&tables.LastFlag != 0 {
			return true
		}
	}
}

// channelFaults appends what lossy and swapping channels can do.
func (w *Worker) channelFaults() bool {
	e := w.Engine
	for k := range e.Chans {
		ch := &e.Chans[k]
		if w.Ids[len(e.Procs)+k] == 0 {
			continue
		}
		if ch.Spec.Lossy && !w.lose(k) || ch.Spec.Swap && !w.swap(k) || ch.Spec.Tail != nil && !w.curtail(k) {
			return false
		}
	}
	return true
}

func (w *Worker) lose(k int) bool {
	e := w.Engine
	ch, at := &e.Chans[k], len(e.Procs)+k
	copy(w.next, w.Ids)
	known, ok := w.spend(tables.LossFault)
	for l := &ch.Heads[w.Ids[at]]; ok; l = &ch.More[l.More] {
		switch {
		case l.Rest == tables.UnknownWord:
			return false
		case !ch.IsFree(l.Msg):
			w.next[at] = l.Rest
			w.emit(len(e.Sys.Labels) + tables.LostCount)
		}
		if l.More == 0 {
			break
		}
	}
	return known
}

// curtail loses what went with a crash or a break: that counts against no budget.
func (w *Worker) curtail(k int) bool {
	e := w.Engine
	at := len(e.Procs) + k
	n, met := e.Chans[k].Tails[w.Ids[at]]
	if !met || n == w.Ids[at] {
		return met
	}
	copy(w.next, w.Ids)
	w.next[at] = n
	w.emit(len(e.Sys.Labels) + tables.LostCount)
	return true
}

func (w *Worker) swap(k int) bool {
	e := w.Engine
	ch, at := &e.Chans[k], len(e.Procs)+k
	list, met := ch.Swaps[w.Ids[at]]
	if !met || len(list) == 0 {
		return met
	}
	copy(w.next, w.Ids)
	known, ok := w.spend(tables.SwapFault)
	if !ok {
		return known
	}
	for _, x := range list {
		w.next[at] = x.Word
		w.emit(len(e.Sys.Labels) + tables.SwapCount)
	}
	return true
}
