package explore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// TestFairRunsAgainstNaive decides every claim about runs of thousands of small
// systems in both ways, and follows every counterexample: it must be a fair run.
func TestFairRunsAgainstNaive(t *testing.T) {
	rounds := uint64(race.Draws(1000, 3000))
	if testing.Short() || race.Enabled { // it decides; concurrency has tests of its own
		rounds = 500
	}
	decided, failed, apart := map[string]int{}, map[string]int{}, 0
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 7))
		sys := drawnSystem(rng)
		drawnClaims(rng, sys)
		n := naiveUpTo(sys, 200)
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
			if cl.Fair == StrongMessages && !want { // do messages matter?
				channels := *cl
				channels.Fair = Strong
				if fails, ok := n.fairGraphOf(&channels).fails(Strong); ok && fails {
					apart++
				}
			}
			for _, what := range kindsOf(sys, cl) {
				decided[what]++
				if want {
					failed[what]++
				}
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
		if f := failed[what]; f < n/20 || f > n*19/20 || n < int(rounds)/50 {
			t.Errorf("%s: %d decided, %d of them violated: not much of a test", what, n, f)
		}
	}
	if len(decided) != 16+16 {
		t.Errorf("%d kinds of claim and constraints, want 32", len(decided))
	}
	if apart < int(rounds)/100 {
		t.Errorf("%d claims hold because each message is treated for itself: not much of a test", apart)
	}
}

// kindsOf says what a claim is, and what constraints it is under.
func kindsOf(sys *System, cl *Claim) []string {
	kinds := []string{fmt.Sprint(cl.Kind == LeadsTo, cl.Fair, cl.Calm)}
	if !cl.Calm {
		for d := range sys.Constraints {
			if f := sys.Constraints[d].Fair; d == 0 && len(sys.Constraints) == 1 ||
				len(sys.Constraints) == 2 && d == 1 && sys.Constraints[0].Fair != f {
				kinds = append(kinds, fmt.Sprint(len(sys.Constraints), " constraints, ", f, cl.Fair))
			}
		}
	}
	return kinds
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
		if cl.Kind == Eventually && i == 0 || cl.Kind == LeadsTo &&
			(cl.Relevant == nil || n.holds(stem[i], cl, cl.Relevant)) {
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
			if n.units(&s, cl.Fair)[0] >= 0 && !(cl.Calm && s.spontaneous) {
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
			for _, u := range n.units(&s, cl.Fair) {
				here[u] = here[u] || !cl.Calm || !s.spontaneous
			}
		}
		for u, is := range here {
			if is {
				possible[u]++
			}
		}
		for _, s := range n.matching(loop[i], &v.Loop[i]) {
			if s.key == c.key() {
				for _, u := range n.units(&s, cl.Fair) {
					taken[u] = true
				}
			}
		}
	}
	for u, k := range possible {
		if !taken[u] && unfair(u, k, len(loop)-1, cl.Fair, n.constraints()) {
			return fmt.Errorf("the loop is unfair to %d", u)
		}
	}
	return nil
}

// spontaneous reports whether a step of a run need not have happened.
func (n *naive) spontaneous(s *TraceStep, from *conf) bool {
	return !slices.ContainsFunc(n.matching(from, s), func(x naiveStep) bool { return !x.spontaneous })
}

// matching gives the steps from a configuration that look like s.
func (n *naive) matching(from *conf, s *TraceStep) (out []naiveStep) {
	for _, x := range n.succ[from.key()] {
		if x.kind == s.Kind && x.proc == s.Proc && x.ch == s.Channel &&
			(x.kind == SwapStep && x.at == s.At || x.kind != SwapStep && bytes.Equal(x.msg, s.Msg)) &&
			(s.Proc < 0 || int(x.step.Label) == s.Label && bytes.Equal(x.step.Next, s.After) &&
				fmt.Sprint(x.step.Sends) == fmt.Sprint(s.Sends)) {
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
