package explore

// The rarer steps of the inner loop: several messages, budgets, channel faults.

// general takes a rule that is neither plain nor a single send; with keep, a
// reception that leaves the message in its channel.
func (w *worker) general(r *rule, keep bool, at int, rest uint32) bool {
	e := w.e
	if r.kind == faultRule {
		w.bad = append(w.bad, r.count|uint32(e.faultKind(r))<<24)
		return true
	}
	np := len(e.procs)
	copy(w.next, w.ids)
	if at >= 0 {
		w.next[np+at] = rest
	}
	if keep {
		if known, ok := w.spend(dupFault); !known || !ok {
			return known
		}
	}
	if r.flags&crashFlag != 0 {
		if known, ok := w.spend(crashFault); !known || !ok {
			return known
		}
	}
	w.next[r.proc] = r.next
	for _, s := range e.sends[r.sends.off : r.sends.off+r.sends.n] {
		c := &e.chans[s.ch]
		n := c.append.get(w.next[np+int(s.ch)], s.msg)
		if n == 0 {
			return false
		}
		if n == overflowWord {
			if !c.spec.Block {
				w.bad = append(w.bad, r.count|uint32(ChannelOverflow)<<24)
			}
			return true
		}
		w.next[np+int(s.ch)] = n
	}
	if keep {
		w.counts[len(e.sys.Labels)+dupCount] += w.inc
	}
	w.emit(int(r.count))
	return true
}

// emit packs w.next and counts it.
func (w *worker) emit(count int) {
	o := len(w.buf)
	for range w.e.lay.stride {
		w.buf = append(w.buf, 0)
	}
	w.e.lay.pack(w.next, w.buf[o:])
	w.counts[count] += w.inc
}

// spend counts a fault in w.next by look-up.
func (w *worker) spend(kind int) (known, ok bool) {
	e := w.e
	if e.budgets == nil {
		return true, true
	}
	at := len(e.procs) + len(e.chans)
	id := e.spent[w.next[at]][kind]
	if id == 0 {
		return false, false
	}
	if id == overflowWord {
		return true, false
	}
	w.next[at] = id - 1
	return true, true
}

// keepers takes the receptions of a run that leave the message in channel k.
func (w *worker) keepers(k int, run uint32) bool {
	rules := w.e.procs[w.e.chans[k].spec.To].rules
	for i := run; ; i++ {
		r := &rules[i]
		if r.kind != faultRule && (r.lens == 0 || w.e.allows(r.lens, w.ids)) && !w.general(r, true, -1, 0) {
			return false
		}
		if r.flags&lastFlag != 0 {
			return true
		}
	}
}

// channelFaults appends what lossy and swapping channels can do.
func (w *worker) channelFaults() bool {
	e := w.e
	for k := range e.chans {
		ch := &e.chans[k]
		if w.ids[len(e.procs)+k] == 0 {
			continue
		}
		if ch.spec.Lossy && !w.lose(k) || ch.spec.Swap && !w.swap(k) {
			return false
		}
	}
	return true
}

func (w *worker) lose(k int) bool {
	e := w.e
	ch, at := &e.chans[k], len(e.procs)+k
	copy(w.next, w.ids)
	known, ok := w.spend(lossFault)
	for l := &ch.heads[w.ids[at]]; ok; l = &ch.more[l.more] {
		if l.rest == unknownWord {
			return false
		}
		w.next[at] = l.rest
		w.emit(len(e.sys.Labels) + lostCount)
		if l.more == 0 {
			break
		}
	}
	return known
}

func (w *worker) swap(k int) bool {
	e := w.e
	ch, at := &e.chans[k], len(e.procs)+k
	copy(w.next, w.ids)
	n, met := ch.swaps[w.ids[at]]
	if !met {
		return false
	}
	if n == w.ids[at] {
		return true
	}
	w.next[at] = n
	known, ok := w.spend(swapFault)
	if ok {
		w.emit(len(e.sys.Labels) + swapCount)
	}
	return known
}
