package explore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The reference: an explorer with nothing but maps, written from the
// documentation of System and used on small random systems.

// conf is one configuration in the plainest form.
type conf struct {
	locals [][]byte
	words  []Word
	used   [7]int // the parts of a budget
}

func (c *conf) clone() *conf {
	n := &conf{locals: slices.Clone(c.locals), words: make([]Word, len(c.words)), used: c.used}
	for i, w := range c.words {
		n.words[i] = slices.Clone(w)
	}
	return n
}

func (c *conf) key() string {
	var b []byte
	text := func(s []byte) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for _, v := range c.locals {
		text(v)
	}
	for _, w := range c.words {
		b = binary.AppendUvarint(b, uint64(len(w)))
		for _, msg := range w {
			text(msg)
		}
	}
	for _, n := range c.used {
		b = binary.AppendVarint(b, int64(n))
	}
	return string(b)
}

// naiveFind is how far away something was first found.
type naiveFind map[string]int

func (f naiveFind) add(what string, depth int) {
	if old, ok := f[what]; !ok || depth < old {
		f[what] = depth
	}
}

// naiveStep is one step of the graph.
type naiveStep struct {
	key                string
	spontaneous, fault bool
	kind               StepKind
	proc, ch           int // -1: a channel's step, a local step
	at                 int
	msg                []byte
	step               Step
}

type naive struct {
	sys   *System
	depth map[string]int
	confs []*conf
	succ  map[string][]naiveStep
	// erring are the configurations in which a step is an error: any, and one that is not spontaneous.
	erring [2]map[string]bool
	// avoidable are the claims about the future that fail; how long the
	// shortest example is is not computed.
	avoidable map[string]bool
	steps     uint64
	levels    []uint64
	counts    []uint64
	faults    [3]uint64
	found     naiveFind
	// messages numbers what is received, for claims that treat each message for itself.
	messages map[string]int
}

func naiveRun(sys *System) *naive { return naiveUpTo(sys, math.MaxInt) }

// naiveDrawn searches a drawn system whole. One of more than 1,000 configurations, as now and then one
// has millions, is left out.
func naiveDrawn(t *rapid.T, sys *System) *naive {
	const most = 1000
	n := naiveUpTo(sys, most)
	if len(n.confs) > most {
		t.Skip("too large")
	}
	return n
}

// naiveUpTo gives up where there are more than so many configurations: confs has more then, and the
// rest says nothing.
func naiveUpTo(sys *System, most int) *naive {
	n := &naive{
		sys: sys, depth: map[string]int{}, succ: map[string][]naiveStep{}, avoidable: map[string]bool{},
		found: naiveFind{}, counts: make([]uint64, len(sys.Labels)),
	}
	first := &conf{words: make([]Word, len(sys.Channels))}
	for _, p := range sys.Procs {
		first.locals = append(first.locals, p.Init())
	}
	queue := []*conf{n.remember(first)}
	n.depth[first.key()] = 0
	for i := 0; i < len(queue) && len(queue) <= most; i++ {
		c := queue[i]
		key := c.key()
		d := n.depth[key]
		for len(n.levels) <= d {
			n.levels = append(n.levels, 0)
		}
		n.levels[d]++
		n.judge(c, d)
		n.each(c, d, func(next *conf, s naiveStep) {
			s.key = next.key()
			n.succ[key] = append(n.succ[key], s)
			if _, ok := n.depth[s.key]; !ok {
				n.depth[s.key] = d + 1
				queue = append(queue, next)
			}
		})
	}
	n.confs = queue
	return n
}

// each calls next for every successor and counts steps.
func (n *naive) each(c *conf, d int, next func(*conf, naiveStep)) {
	moved := false
	take := func(base *conf, p int, s Step, is naiveStep) (*conf, bool) {
		for _, l := range s.Lens {
			if k := n.length(c.words[l.Channel], l); k < l.Lo || l.Hi >= 0 && k > l.Hi {
				return nil, false
			}
		}
		if s.Fault != nil {
			n.found.add(fmt.Sprintf("%v %d", s.Fault.Kind, s.Label), d+1)
			n.err(c, is)
			return nil, true
		}
		o := base.clone()
		for part := range 7 {
			if s.Spends>>part&1 != 0 && !n.spend(o, part) {
				return nil, false
			}
		}
		for _, k := range s.Ages {
			var w Word
			for _, m := range o.words[k] {
				older, ok := n.sys.Channels[k].Older(m)
				if !ok {
					return nil, false
				}
				w = append(w, older)
			}
			if o.words[k] = w; n.sys.Channels[k].Order == Bag {
				slices.SortFunc(w, bytes.Compare)
			}
		}
		o.locals[p] = s.Next
		for _, m := range s.Sends {
			ch := &n.sys.Channels[m.Channel]
			if len(o.words[m.Channel]) == ch.Cap {
				if ch.Block {
					return nil, false
				}
				n.found.add(fmt.Sprintf("%v %d", ChannelOverflow, s.Label), d+1)
				n.err(c, is)
				return nil, true
			}
			o.words[m.Channel] = append(o.words[m.Channel], m.Msg)
			if ch.Order == Bag {
				slices.SortFunc(o.words[m.Channel], bytes.Compare)
			}
		}
		n.counts[s.Label]++
		next(n.remember(o), is)
		return o, true
	}
	count := func(_ *conf, ok bool) bool {
		if ok {
			n.steps++
			moved = true
		}
		return ok
	}
	for p, proc := range n.sys.Procs {
		proc.Local(c.locals[p], func(s Step) {
			count(take(c, p, s, naiveStep{spontaneous: s.Spontaneous, proc: p, ch: -1, step: s}))
		})
	}
	for k := range n.sys.Channels {
		n.deliver(c, k, next, func(base *conf, p int, s Step, is naiveStep) (*conf, bool) {
			o, ok := take(base, p, s, is)
			return o, count(o, ok)
		})
	}
	if !moved {
		n.stuck(c, d)
	}
}

func (n *naive) err(c *conf, is naiveStep) {
	if n.erring[0] == nil {
		n.erring = [2]map[string]bool{{}, {}}
	}
	n.erring[0][c.key()] = true
	if !is.spontaneous {
		n.erring[1][c.key()] = true
	}
}

// stuck notes what is wrong with a configuration that has no successor.
func (n *naive) stuck(c *conf, d int) {
	final := true
	for p, proc := range n.sys.Procs {
		final = final && proc.Final(c.locals[p])
	}
	empty := true
	for _, w := range c.words {
		empty = empty && len(w) == 0
	}
	if !final {
		n.found.add("deadlock", d)
	}
	if final && !empty {
		n.found.add("orphan", d)
	}
}

func (n *naive) length(w Word, l LenRange) int {
	k := 0
	for _, m := range w {
		if l.Kind == 0 || n.sys.Channels[l.Channel].Kind(m) == l.Kind {
			k++
		}
	}
	return k
}

func (n *naive) spend(c *conf, kind int) bool {
	b := n.sys.Budget
	most := *b.Parts()[kind]
	if most == 0 {
		return true
	}
	c.used[kind]++
	return c.used[kind] <= most
}

func (n *naive) deliver(c *conf, k int, next func(*conf, naiveStep),
	take func(*conf, int, Step, naiveStep) (*conf, bool)) {
	ch := &n.sys.Channels[k]
	w := c.words[k]
	seen := map[string]bool{}
	for i, m := range w {
		if i > 0 && ch.Order == FIFO {
			break
		}
		if seen[string(m)] {
			continue
		}
		seen[string(m)] = true
		popped := c.clone()
		popped.words[k] = slices.Delete(popped.words[k], i, i+1)
		n.sys.Procs[ch.To].Receive(c.locals[ch.To], k, m, func(s Step) {
			take(popped, ch.To, s, naiveStep{kind: ReceiveStep, proc: ch.To, ch: k, msg: m, step: s})
			if kept := c.clone(); ch.Dup && s.Fault == nil && !s.Once && n.spend(kept, 1) {
				again := naiveStep{fault: true, kind: DupStep, proc: ch.To, ch: k, msg: m, step: s}
				if o, _ := take(kept, ch.To, s, again); o != nil {
					n.faults[1]++
				}
			}
		})
		if lost := popped.clone(); ch.Lossy && n.spend(lost, 0) {
			n.steps++
			n.faults[0]++
			next(n.remember(lost), naiveStep{fault: true, kind: LoseStep, proc: -1, ch: k, msg: m})
		}
	}
	for i := 0; ch.Swap && ch.Order == FIFO && i+1 < len(w); i++ {
		swapped := c.clone()
		if bytes.Equal(w[i], w[i+1]) || !n.spend(swapped, 2) {
			continue
		}
		s := swapped.words[k]
		s[i], s[i+1] = s[i+1], s[i]
		n.steps++
		n.faults[2]++
		next(n.remember(swapped), naiveStep{fault: true, kind: SwapStep, proc: -1, ch: k, at: i})
	}
	if ch.Tail != nil && ch.Order == FIFO {
		for at := 1; at < len(w); at++ {
			if !ch.Tail(w[at]) || ch.Tail(w[0]) {
				continue
			}
			cut := c.clone()
			cut.words[k] = slices.Delete(cut.words[k], at-1, at)
			n.steps++
			n.faults[0]++
			next(n.remember(cut), naiveStep{fault: true, kind: LoseStep, proc: -1, ch: k, msg: w[at-1]})
			break
		}
	}
}

// holds evaluates a predicate of a claim the plain way.
func (n *naive) holds(c *conf, cl *Claim, f func(p, c []uint32) bool) bool {
	p, k := make([]uint32, len(c.locals)), make([]uint32, len(c.words))
	for i := range p {
		if i < len(cl.Procs) && cl.Procs[i] != nil {
			p[i] = cl.Procs[i](c.locals[i])
		}
	}
	for i := range k {
		if i < len(cl.Chans) && cl.Chans[i] != nil {
			k[i] = cl.Chans[i](c.words[i])
		}
	}
	return f(p, k)
}

func (n *naive) judge(c *conf, d int) {
	for i := range n.sys.Claims {
		cl := &n.sys.Claims[i]
		switch cl.Kind {
		case Always:
			if !n.holds(c, cl, cl.Eval) {
				n.found.add(fmt.Sprintf("claim %d", i), d)
			}
		case Sometimes:
			if n.holds(c, cl, cl.Eval) {
				n.found.add(fmt.Sprintf("witness %d", i), d)
			}
		}
	}
}

// foundBy gives what a result found in the same words as naive.
func foundBy(r *Result) naiveFind {
	f := naiveFind{}
	for _, v := range r.Violations {
		switch {
		case v.Kind == ClaimViolated && v.Trace == nil && len(v.End.Locals) == 0:
		case v.Kind == ClaimViolated && v.Cut:
			f.add(fmt.Sprintf("claim %d cut", v.Claim), len(v.Trace))
		case v.Kind == ClaimViolated:
			f.add(fmt.Sprintf("claim %d", v.Claim), len(v.Trace))
		case v.Kind == Deadlock:
			f.add("deadlock", len(v.Trace))
		case v.Kind == Orphan:
			f.add("orphan", len(v.Trace))
		default:
			f.add(fmt.Sprintf("%v %d", v.Kind, v.Label), len(v.Trace))
		}
	}
	for _, w := range r.Witnesses {
		f.add(fmt.Sprintf("witness %d", w.Claim), len(w.Trace))
	}
	return f
}

// TestAgainstNaive compares everything countable, on one and two workers and
// in configurations of one and of several words.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sys := randomSystem(t)
		want := naiveDrawn(t, sys)
		want.possible()
		for _, opt := range []Options{
			{Workers: 1},
			{Workers: 2},
			{Workers: 2, Tune: wide(nil, 2)},
			{Workers: 2, Tune: wide(nil, 2), Reduce: ReduceHash},
		} {
			opt.KeepGoing = true
			r := mustRun(t, sys, opt)
			found, avoidable := foundBy(r), map[string]bool{}
			for i, c := range sys.Claims {
				name := fmt.Sprintf("claim %d", i)
				for _, as := range []string{name, name + " cut"} {
					if _, ok := found[as]; ok && c.Kind >= LeadsTo && c.Kind <= Eventually {
						avoidable[name] = true
						delete(found, as)
					}
				}
			}
			got := fmt.Sprint(r.Configurations, r.Steps, r.Depth, r.Levels, r.LabelCount, r.Faults, found, avoidable)
			exp := fmt.Sprint(len(want.confs), want.steps, len(want.levels)-1, want.levels, want.counts,
				struct{ a, b, c uint64 }{want.faults[0], want.faults[1], want.faults[2]}, want.found, want.avoidable)
			if got != exp {
				t.Fatalf("options %+v\ngot  %s\nwant %s", opt, got, exp)
			}
			if !r.Complete {
				t.Fatalf("not complete: %s", r.Why)
			}
		}
	})
}

// possible decides the claims about the future by plain fixed points.
func (n *naive) possible() {
	for i := range n.sys.Claims {
		cl := &n.sys.Claims[i]
		held := map[string]bool{}
		for _, c := range n.confs {
			held[c.key()] = n.holds(c, cl, cl.Eval)
		}
		switch cl.Kind {
		case Possible:
			// What is violated whatever comes behind errors is found first.
			certain := maps.Clone(held)
			erring := n.erring[0]
			if cl.Calm {
				erring = n.erring[1]
			}
			maps.Copy(certain, erring)
			if !n.reach(i, certain, "") {
				n.reach(i, held, " cut")
			}
		case LeadsTo, Eventually:
			n.avoid(i, held)
		}
	}
}

// reach: from which configurations can one that is good be reached; whether there are others.
func (n *naive) reach(i int, good map[string]bool, how string) (bad bool) {
	for changed := true; changed; {
		changed = false
		for _, c := range n.confs {
			for _, s := range n.succ[c.key()] {
				if good[s.key] && !good[c.key()] && !(s.spontaneous && n.sys.Claims[i].Calm) {
					good[c.key()], changed = true, true
				}
			}
		}
	}
	for _, c := range n.confs {
		if !good[c.key()] {
			n.found.add(fmt.Sprintf("claim %d%s", i, how), n.depth[c.key()])
			bad = true
		}
	}
	return bad
}

// avoid: from which configurations can a run, fair or not, never meet one that
// held: the greatest set of the others that have a step into the set or need
// no step at all.
func (n *naive) avoid(i int, held map[string]bool) {
	cl := &n.sys.Claims[i]
	in := map[string]bool{}
	for k, h := range held {
		in[k] = !h
	}
	for changed := true; changed; {
		changed = false
		for _, c := range n.confs {
			if !in[c.key()] {
				continue
			}
			stay, must := false, false
			for _, s := range n.succ[c.key()] {
				must = must || !s.spontaneous && !s.fault
				stay = stay || in[s.key] && !(s.spontaneous && cl.Calm)
			}
			if !stay && must {
				in[c.key()], changed = false, true
			}
		}
	}
	for d, c := range n.confs {
		if !in[c.key()] || cl.Kind != LeadsTo && d != 0 {
			continue
		}
		if cl.Kind == Eventually || cl.Relevant == nil || n.holds(c, cl, cl.Relevant) {
			n.avoidable[fmt.Sprintf("claim %d", i)] = true
		}
	}
}
