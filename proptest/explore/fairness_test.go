package explore

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Claims about fair runs, decided in another way: a run that goes on for ever visits some set of
// configurations again and again, and the best it can do for fairness is to take every step
// inside that set. So all sets are tried, which is possible where there are few configurations.

// fairGraph is what can be visited without meeting Eval.
type fairGraph struct {
	confs  []*conf
	edges  [][]fairEdge
	starts []int
}

// fairEdge is one step; to is -1 if it leads out, unit -1 if it need never happen.
type fairEdge struct{ to, unit int }

// fairGraph builds it for claim i.
func (n *naive) fairGraph(i int) *fairGraph {
	cl := &n.sys.Claims[i]
	g := &fairGraph{}
	number := map[string]int{}
	for at, c := range n.confs {
		if n.holds(c, cl, cl.Eval) {
			continue
		}
		if cl.Kind == Eventually && at == 0 || cl.Kind == LeadsTo && (cl.Relevant == nil || n.holds(c, cl, cl.Relevant)) {
			g.starts = append(g.starts, len(g.confs))
		}
		number[c.key()] = len(g.confs)
		g.confs = append(g.confs, c)
	}
	for _, c := range g.confs {
		var edges []fairEdge
		for _, s := range n.succ[c.key()] {
			if s.spontaneous && cl.Calm {
				continue
			}
			to, ok := number[s.key]
			if !ok {
				to = -1
			}
			edges = append(edges, fairEdge{to, n.unit(&s)})
		}
		g.edges = append(g.edges, edges)
	}
	return g
}

// unit is what a step is for fairness.
func (n *naive) unit(s *naiveStep) int {
	switch {
	case s.spontaneous || s.fault:
		return -1
	case s.kind == LocalStep:
		return int(s.step.Label)
	}
	return len(n.sys.Labels) + s.ch
}

// reach is all that can be reached from the configurations in from, staying inside within.
func (g *fairGraph) reach(from, within uint64) uint64 {
	for todo := from; todo != 0; {
		v := bits.TrailingZeros64(todo)
		todo &^= 1 << v
		for _, e := range g.edges[v] {
			if e.to >= 0 && within>>e.to&1 != 0 && from>>e.to&1 == 0 {
				from |= 1 << e.to
				todo |= 1 << e.to
			}
		}
	}
	return from
}

// fails says whether some fair run from a start stays in the graph; ok is false if
// that would take too long to find out.
func (g *fairGraph) fails(fair Fairness) (fails, ok bool) {
	if len(g.confs) > 64 {
		return false, false
	}
	from := uint64(0)
	for _, v := range g.starts {
		from |= 1 << v
	}
	from = g.reach(from, ^uint64(0))
	for v := range g.confs {
		if from>>v&1 != 0 && !slices.ContainsFunc(g.edges[v], func(e fairEdge) bool { return e.unit >= 0 }) {
			return true, true // it may stop here
		}
	}
	for v := range g.confs { // sets whose least member is v
		if from>>v&1 == 0 {
			continue
		}
		forward := g.reach(1<<v, from&^(1<<v-1))
		both := uint64(0)
		for x := range g.confs {
			if forward>>x&1 != 0 && g.reach(1<<x, from&^(1<<v-1))>>v&1 != 0 {
				both |= 1 << x
			}
		}
		if bits.OnesCount64(both) > 11 {
			return false, false
		}
		for set := both; set != 0; set = (set - 1) & both {
			if set>>v&1 != 0 && g.staysFair(set, fair) {
				return true, true
			}
		}
	}
	return false, true
}

// staysFair says whether a run can visit exactly set again and again, and be fair.
func (g *fairGraph) staysFair(set uint64, fair Fairness) bool {
	always, sometimes, taken := map[int]int{}, map[int]bool{}, map[int]bool{}
	inner := false
	for v := range g.confs {
		if set>>v&1 == 0 {
			continue
		}
		if g.reach(1<<v, set) != set {
			return false
		}
		here := map[int]bool{}
		for _, e := range g.edges[v] {
			here[e.unit], sometimes[e.unit] = true, true
			if e.to >= 0 && set>>e.to&1 != 0 {
				inner, taken[e.unit] = true, true
			}
		}
		for u := range here {
			always[u]++
		}
	}
	for u := range sometimes {
		if u >= 0 && !taken[u] && (fair == Strong || fair == Weak && always[u] == bits.OnesCount64(set)) {
			return false
		}
	}
	return inner
}

// drawnSystem is a small system for claims about runs: few labels, so that fairness says something, and channels that wait when full.
func drawnSystem(rng *rand.Rand) *System {
	sys := &System{Labels: make([]Label, 8)}
	procs, states, chans := 1+rng.IntN(2), 2+rng.IntN(2), 1+rng.IntN(2)
	for range chans {
		sys.Channels = append(sys.Channels, Channel{To: rng.IntN(procs), Cap: 1 + rng.IntN(2), Order: Order(rng.IntN(2)),
			Block: rng.IntN(8) > 0, Lossy: rng.IntN(6) == 0, Dup: rng.IntN(9) == 0})
	}
	step := func(p int) Step {
		s := Step{Label: uint32(4*p + rng.IntN(4)), Next: []byte{byte(rng.IntN(states))}, Spontaneous: rng.IntN(4) == 0}
		for rng.IntN(3) == 0 {
			s.Sends = append(s.Sends, Send{rng.IntN(chans), []byte{byte(rng.IntN(2))}})
		}
		if rng.IntN(6) == 0 {
			s.Lens = []LenRange{{Channel: rng.IntN(chans), Hi: rng.IntN(2)}}
		}
		if rng.IntN(20) == 0 {
			s.Fault = &Fault{UnspecifiedReception, "planted"}
		}
		return s
	}
	for p := range procs {
		t := &tableProc{recv: map[string][]Step{}}
		for v := range states {
			t.final = append(t.final, rng.IntN(2) == 0)
			var local []Step
			for range rng.IntN(3) {
				local = append(local, step(p))
			}
			t.local = append(t.local, local)
			for ch := range chans {
				for m := range 2 {
					for range []int{0, 1, 1, 1, 2}[rng.IntN(5)] {
						key := fmt.Sprint([]byte{byte(v)}, ch, []byte{byte(m)})
						t.recv[key] = append(t.recv[key], step(p))
					}
				}
			}
		}
		sys.Procs = append(sys.Procs, t)
	}
	return sys
}

// drawnClaims are claims about runs, of every kind and fairness.
func drawnClaims(rng *rand.Rand, sys *System) {
	for _, fair := range []Fairness{Unfair, Weak, Strong, Weak, Strong} {
		c := Claim{Name: fmt.Sprint("claim ", len(sys.Claims)), Kind: []ClaimKind{LeadsTo, Eventually}[rng.IntN(2)], Fair: fair, Calm: rng.IntN(2) == 0}
		for range sys.Procs {
			at := byte(rng.IntN(3))
			c.Procs = append(c.Procs, func(v []byte) uint32 { return map[bool]uint32{true: 1}[v[0] == at] })
		}
		c.Chans = []func(Word) uint32{func(w Word) uint32 { return uint32(len(w)) }}
		kind, other := rng.IntN(3), rng.IntN(3)
		test := func(kind int, p, k []uint32) bool {
			switch kind {
			case 0:
				return p[0] == 1
			case 1:
				return p[len(p)-1] == 1 && k[0] == 0
			}
			return k[0] > 1
		}
		c.Eval = func(p, k []uint32) bool { return test(kind, p, k) }
		if c.Kind == LeadsTo && other != kind {
			c.Relevant = func(p, k []uint32) bool { return test(other, p, k) }
		}
		sys.Claims = append(sys.Claims, c)
	}
}

// TestFairRunsAgainstNaive decides every claim about runs of thousands of small
// systems in both ways, and follows every counterexample: it must be a fair run.
func TestFairRunsAgainstNaive(t *testing.T) {
	rounds := uint64(4000)
	if testing.Short() {
		rounds = 500
	}
	decided, failed := map[string]int{}, map[string]int{}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 7))
		sys := drawnSystem(rng)
		drawnClaims(rng, sys)
		n := naiveRun(sys)
		if len(n.confs) > 200 {
			continue
		}
		r := mustRun(t, sys, Options{Workers: 1, KeepGoing: true, Checks: CheckNothing})
		for i := range sys.Claims {
			cl := &sys.Claims[i]
			want, ok := n.fairGraph(i).fails(cl.Fair)
			if !ok {
				continue
			}
			what := fmt.Sprint(cl.Kind == LeadsTo, cl.Fair, cl.Calm)
			decided[what]++
			if want {
				failed[what]++
			}
			if got := r.Claims[i].Verdict == Violated; got != want {
				t.Fatalf("seed %d, %+v: violated is %v, want %v", seed, cl, got, want)
			}
			for j := range r.Violations {
				if v := &r.Violations[j]; v.Kind == ClaimViolated && v.Claim == i {
					if err := n.fairRun(cl, v); err != nil {
						t.Fatalf("seed %d, %+v: %v\n%+v", seed, cl, err, v)
					}
				}
			}
		}
	}
	for what, n := range decided {
		if f := failed[what]; f < n/20 || f > n*19/20 || n < int(rounds)/20 {
			t.Errorf("%s: %d decided, %d of them violated: not much of a test", what, n, f)
		}
	}
	if len(decided) != 12 {
		t.Errorf("%d kinds of claim, want 12", len(decided))
	}
}

// fairRun follows a counterexample and says what is wrong with it.
func (n *naive) fairRun(cl *Claim, v *Violation) error {
	stem, err := n.follow(n.confs[0], v.Trace)
	if err != nil {
		return err
	}
	end := stem[len(stem)-1]
	trigger := -1 // the last place from which on the run stays in the graph
	for i := len(stem) - 1; i >= 0 && !n.holds(stem[i], cl, cl.Eval); i-- {
		if cl.Kind == Eventually && i == 0 || cl.Kind == LeadsTo && (cl.Relevant == nil || n.holds(stem[i], cl, cl.Relevant)) {
			trigger = i
			break
		}
		if i > 0 && cl.Calm && n.spontaneous(&v.Trace[i-1], stem[i-1]) {
			break
		}
	}
	if trigger < 0 {
		return fmt.Errorf("nothing triggers the claim")
	}
	if len(v.Loop) == 0 {
		for _, s := range n.succ[end.key()] {
			if n.unit(&s) >= 0 {
				return fmt.Errorf("the run must go on with %+v", s)
			}
		}
		return nil
	}
	loop, err := n.follow(end, v.Loop)
	if err != nil {
		return err
	}
	if loop[len(loop)-1].key() != end.key() {
		return fmt.Errorf("the loop does not close")
	}
	return n.fairLoop(cl, v, loop)
}

func (n *naive) fairLoop(cl *Claim, v *Violation, loop []*conf) error {
	possible, taken := map[int]int{}, map[int]bool{}
	for i, c := range loop[1:] {
		if n.holds(c, cl, cl.Eval) {
			return fmt.Errorf("the claim holds in the loop")
		}
		if cl.Calm && n.spontaneous(&v.Loop[i], loop[i]) {
			return fmt.Errorf("a command in the loop")
		}
		here := map[int]bool{}
		for _, s := range n.succ[c.key()] {
			here[n.unit(&s)] = true
		}
		for u := range here {
			possible[u]++
		}
		for _, s := range n.matching(loop[i], &v.Loop[i]) {
			if s.key == c.key() {
				taken[n.unit(&s)] = true
			}
		}
	}
	for u, k := range possible {
		if u >= 0 && !taken[u] && (cl.Fair == Strong || cl.Fair == Weak && k == len(loop)-1) {
			return fmt.Errorf("the loop is unfair to %d", u)
		}
	}
	return nil
}

// spontaneous says whether a step of a run need not have happened.
func (n *naive) spontaneous(s *TraceStep, from *conf) bool {
	return !slices.ContainsFunc(n.matching(from, s), func(x naiveStep) bool { return !x.spontaneous })
}

// matching gives the steps from a configuration that look like s.
func (n *naive) matching(from *conf, s *TraceStep) (out []naiveStep) {
	for _, x := range n.succ[from.key()] {
		if x.kind == s.Kind && x.proc == s.Proc && x.ch == s.Channel && (x.kind == SwapStep || bytes.Equal(x.msg, s.Msg)) &&
			(s.Proc < 0 || int(x.step.Label) == s.Label && bytes.Equal(x.step.Next, s.After) && fmt.Sprint(x.step.Sends) == fmt.Sprint(s.Sends)) {
			out = append(out, x)
		}
	}
	return out
}

// follow gives the configurations of a run.
func (n *naive) follow(from *conf, steps []TraceStep) ([]*conf, error) {
	out := []*conf{from}
	for i := range steps {
		m := n.matching(out[i], &steps[i])
		if len(m) == 0 {
			return nil, fmt.Errorf("step %d cannot be taken: %+v", i+1, steps[i])
		}
		at := slices.IndexFunc(n.confs, func(c *conf) bool { return c.key() == m[0].key })
		out = append(out, n.confs[at])
	}
	return out, nil
}

// naiveConflicts are all pairs of steps whose order matters, by machines and labels, with how far away the nearest is.
func (n *naive) naiveConflicts() naiveFind {
	out := naiveFind{}
	for _, c := range n.confs {
		steps := n.succ[c.key()]
		for _, x := range steps {
			for _, y := range steps {
				switch {
				case x.kind > ReceiveStep || y.kind > ReceiveStep, x.proc > y.proc:
				case x.proc == y.proc && (x.kind != LocalStep || y.kind != ReceiveStep):
				case fmt.Sprint(n.afterwards(steps, x, y)) != fmt.Sprint(n.afterwards(steps, y, x)) || len(n.afterwards(steps, x, y)) == 0:
					out.add(fmt.Sprint(x.proc, y.proc, x.step.Label, y.step.Label), n.depth[c.key()])
				}
			}
		}
	}
	return out
}

// afterwards is where event x and then event y can lead, of steps; nothing if x can make y impossible.
func (n *naive) afterwards(steps []naiveStep, x, y naiveStep) (out []string) {
	like := func(s, y naiveStep) bool {
		return s.kind == y.kind && s.proc == y.proc && s.ch == y.ch && bytes.Equal(s.msg, y.msg) && (s.kind == ReceiveStep || s.step.Label == y.step.Label)
	}
	for _, first := range steps {
		if !like(first, x) {
			continue
		}
		possible := false
		for _, s := range n.succ[first.key] {
			if like(s, y) {
				possible = true
				out = append(out, s.key)
			}
		}
		if !possible {
			return nil
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestConfluentAgainstNaive tries all pairs of steps of small systems everywhere.
func TestConfluentAgainstNaive(t *testing.T) {
	rounds := uint64(3000)
	if testing.Short() {
		rounds = 300
	}
	pairs, none := 0, 0
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 8))
		sys := drawnSystem(rng)
		sys.Claims = []Claim{{Name: "any order", Kind: Confluent}}
		for i := range sys.Channels {
			c := &sys.Channels[i]
			c.Block, c.Cap = c.Block && seed%2 == 0, c.Cap+int(seed%3)
		}
		n := naiveRun(sys)
		if len(n.confs) > 150 {
			continue
		}
		want, got := n.naiveConflicts(), naiveFind{}
		r := mustRun(t, sys, Options{Workers: 1, KeepGoing: true, Checks: CheckNothing})
		for _, c := range r.Conflicts {
			got.add(fmt.Sprint(c.ProcA, c.ProcB, c.A, c.B), len(c.Trace))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d\ngot  %v\nwant %v", seed, got, want)
		}
		if pairs += len(want); len(want) == 0 {
			none++
		}
	}
	if pairs < int(rounds)/2 || none < int(rounds)/20 {
		t.Errorf("%d pairs whose order matters, %d systems without: not much of a test", pairs, none)
	}
}
