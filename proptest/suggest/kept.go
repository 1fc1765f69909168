package suggest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// How far runs are followed to see how many of them stay possible: so many steps, and so many different configurations
// behind each number of steps.
const (
	keptSteps = 14
	keptWidth = 1500
)

// kept is the share of the runs of a check that stay possible with edits: the mean, over the lengths of runs, of how
// many of those of that length do. before and after are the check without and with them. A run is a sequence of
// events, each with its values; what goes wrong ends it. Runs with faults of the network are left out.
func kept(before, after *check.System) float64 {
	a, b := walker{before.Machines.System}, walker{after.Machines.System}
	level := map[string]*twin{}
	first := &twin{a: a.begin(), b: b.begin(), runs: 1}
	level[first.key()] = first
	sum, lengths := 0.0, 0
	for range keptSteps {
		next := map[string]*twin{}
		all, alive := 0.0, 0.0
		for _, t := range level {
			theirs := map[string]*place{}
			if t.b != nil {
				for key, p := range b.steps(t.b) {
					theirs[key] = p
				}
			}
			for key, p := range a.steps(t.a) {
				x := &twin{a: p, b: theirs[key], runs: t.runs}
				all += x.runs
				if x.b != nil {
					alive += x.runs
				}
				k := x.key()
				if old := next[k]; old != nil {
					old.runs += x.runs
				} else {
					next[k] = x
				}
			}
		}
		if all == 0 || len(next) > keptWidth {
			break
		}
		for _, t := range next { // numbers of runs grow with each step
			t.runs /= all
		}
		sum, lengths, level = sum+alive/all, lengths+1, next
	}
	if lengths == 0 {
		return 1
	}
	return sum / float64(lengths)
}

// twin is where runs have come to without the edits and with them; b is nil if they are not possible with them.
type twin struct {
	a, b *place
	runs float64
}

func (t *twin) key() string {
	if t.b == nil {
		return t.a.key() + "|"
	}
	return t.a.key() + "|" + t.b.key()
}

// place is a configuration.
type place struct {
	locals [][]byte
	words  []explore.Word
}

func (p *place) key() string {
	var k []byte
	add := func(b []byte) { k = append(binary.AppendUvarint(k, uint64(len(b))), b...) }
	for _, l := range p.locals {
		add(l)
	}
	for _, w := range p.words {
		k = binary.AppendUvarint(k, uint64(len(w)))
		for _, m := range w {
			add(m)
		}
	}
	return string(k)
}

// walker takes steps of a system.
type walker struct{ *explore.System }

func (w walker) begin() *place {
	p := &place{words: make([]explore.Word, len(w.Channels))}
	for _, m := range w.Procs {
		p.locals = append(p.locals, slices.Clone(m.Init()))
	}
	return p
}

// steps are the steps without an error from a configuration, by what happens.
func (w walker) steps(p *place) map[string]*place {
	out := map[string]*place{}
	take := func(proc, channel, at int, msg []byte) func(explore.Step) {
		return func(s explore.Step) {
			if s.Fault != nil || s.Spends != explore.SpendsNothing || !w.enabled(p, s.Lens) {
				return
			}
			n := &place{locals: slices.Clone(p.locals), words: slices.Clone(p.words)}
			if channel >= 0 {
				n.words[channel] = slices.Delete(slices.Clone(n.words[channel]), at, at+1)
			}
			n.locals[proc] = slices.Clone(s.Next)
			for _, x := range s.Sends {
				n.words[x.Channel] = append(slices.Clip(n.words[x.Channel]), slices.Clone(x.Msg))
				if len(n.words[x.Channel]) > w.Channels[x.Channel].Cap {
					return
				}
				if w.Channels[x.Channel].Order == explore.Bag {
					slices.SortFunc(n.words[x.Channel], bytes.Compare)
				}
			}
			out[fmt.Sprintf("%d %d %x %x", proc, channel, msg, s.Note)] = n
		}
	}
	for i, m := range w.Procs {
		m.Local(p.locals[i], take(i, -1, 0, nil))
	}
	for k, word := range p.words {
		for at, msg := range word {
			if at > 0 && w.Channels[k].Order != explore.Bag {
				break
			}
			to := w.Channels[k].To
			w.Procs[to].Receive(p.locals[to], k, msg, take(to, k, at, msg))
		}
	}
	return out
}

// enabled reports whether the lengths of channels are as a step wants them.
func (w walker) enabled(p *place, lens []explore.LenRange) bool {
	for _, l := range lens {
		n := 0
		for _, msg := range p.words[l.Channel] {
			c := &w.Channels[l.Channel]
			switch {
			case l.Kind == explore.Everything:
				n++
			case l.Kind != 0:
				if c.Kind != nil && c.Kind(msg) == l.Kind {
					n++
				}
			case c.Free == nil || !c.Free(msg):
				n++
			}
		}
		if n < l.Lo || l.Hi >= 0 && n > l.Hi {
			return false
		}
	}
	return true
}
