package explore

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// outcomes is all of a result that does not depend on time and memory.
func outcomes(r *Result) string {
	x := *r
	x.Seconds, x.Space, x.TableBytes, x.PeakBytes = 0, nil, 0, 0
	text, err := json.Marshal(x)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// bothWays decides the Possible claims of sys by depth-first search and by passes over the whole
// set; the results must be equal.
func bothWays(t failer, sys *System, opt Options) *Result {
	t.Helper()
	got := mustRun(t, sys, opt)
	ByPasses(&opt)
	if want := mustRun(t, sys, opt); outcomes(got) != outcomes(want) {
		t.Fatal(fmt.Sprintf("depth first: %s\nby passes:   %s", outcomes(got), outcomes(want)))
	}
	return got
}

// possibleClaims draws claims about what can still be reached.
func possibleClaims(rng *rand.Rand, sys *System) {
	for i := range 4 {
		c := Claim{Name: fmt.Sprint("claim ", i), Kind: Possible,
			At: []When{Everywhere, Everywhere, Quiescent, AtEnd}[rng.IntN(4)], Calm: rng.IntN(3) == 0}
		var at []byte
		for range sys.Procs {
			at = append(at, byte(rng.IntN(3)))
			c.Procs = append(c.Procs, func(v []byte) uint32 { return uint32(v[0]) })
		}
		c.Chans = []func(Word) uint32{func(w Word) uint32 { return uint32(len(w)) }}
		room, few := uint32(rng.IntN(3)), rng.IntN(2) == 0
		c.Eval = func(p, k []uint32) bool {
			here := p[0] == uint32(at[0]) && k[0] <= room
			return here && (!few || p[len(p)-1] == uint32(at[len(p)-1]))
		}
		if rng.IntN(2) == 0 {
			c.Relevant = func(p, k []uint32) bool { return k[0] == room || p[len(p)-1] == uint32(at[0]) }
		}
		sys.Claims = append(sys.Claims, c)
	}
}

// TestReachableIsWhatPassesSay compares the depth-first search with the passes on random systems,
// of one word and of two, with one worker and with several that have to wait for each other, exact
// and with fingerprints.
func TestReachableIsWhatPassesSay(t *testing.T) {
	rounds := uint64(1000)
	if testing.Short() {
		rounds = 200
	}
	seen := map[string]int{}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 9))
		sys := drawnSystem(rng)
		possibleClaims(rng, sys)
		opt := Options{Workers: 1 + int(seed%3), KeepGoing: true, Tune: wide(nil, 1+int(seed%2)),
			MaxConfigurations: 20000}
		if seed%5 == 0 {
			opt.Tune = wide(hurried(seed), 1+int(seed%2))
		}
		if seed%4 == 1 {
			opt.Reduce = ReduceHash
		}
		r := bothWays(t, sys, opt)
		for _, v := range r.Violations {
			if v.Kind == ClaimViolated {
				seen[fmt.Sprint("violated, cut ", v.Cut)]++
			}
		}
		for _, c := range r.Claims {
			seen[fmt.Sprint(c.Verdict)]++
		}
	}
	if len(seen) < 4 {
		t.Errorf("not every outcome was met: %v", seen)
	}
	t.Log(seen)
}

// TestReachableOfRandomSystems is the same for systems with every feature.
func TestReachableOfRandomSystems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sys := randomSystem(t)
		if !slices.ContainsFunc(sys.Claims, func(c Claim) bool { return c.Kind == Possible }) {
			t.Skip("no claim about what can still be reached")
		}
		naiveDrawn(t, sys)
		for _, reduce := range []Reduction{0, ReduceLocal | ReducePartialOrder} {
			bothWays(t, sys, Options{Workers: 2, KeepGoing: true, Reduce: reduce})
		}
	})
}

// circles are two wheels of a and b positions that turn for ever and meet at their last positions:
// one component.
func circles(a, b int) *System {
	sys := wheels(a, b, Unfair, nil)
	c := &sys.Claims[0]
	c.Kind, c.Relevant = Possible, nil
	c.Eval = func(p, _ []uint32) bool { return p[0] == uint32(a-1) && p[1] == uint32(b-1) }
	return sys
}

// TestReachableBeyondMemory: where the stacks would need more memory than there is, the passes decide.
func TestReachableBeyondMemory(t *testing.T) {
	sys := circles(120, 90)
	free := mustRun(t, sys, Options{Workers: 1})
	plain := *sys
	plain.Claims = nil
	most := mustRun(t, &plain, Options{Workers: 1}).PeakBytes + 1<<13
	if free.Verdict != Holds || free.PeakBytes <= most {
		t.Fatalf("%v, %d bytes, and %d without the claim", free.Verdict, free.PeakBytes, most)
	}
	r := mustRun(t, sys, Options{Workers: 1, MaxBytes: most})
	if r.Verdict != Holds || r.PeakBytes >= free.PeakBytes {
		t.Errorf("%v %s with %d bytes, of %d", r.Verdict, r.Why, r.PeakBytes, most)
	}
}

// TestReachableComponents: one large component is good as a whole, and dead as a whole.
func TestReachableComponents(t *testing.T) {
	for _, workers := range []int{1, 2} {
		sys := circles(120, 90)
		if r := bothWays(t, sys, Options{Workers: workers}); r.Verdict != Holds {
			t.Errorf("%v, it should hold", r.Verdict)
		}
		sys.Claims[0].Eval = func([]uint32, []uint32) bool { return false }
		if r := bothWays(t, sys, Options{Workers: workers}); r.Verdict != Violated || len(r.Violations[0].Trace) != 0 {
			t.Errorf("%v, it should be violated at the start", r.Verdict)
		}
	}
}

// BenchmarkReachable is a search with a claim about what can still be reached, and without, in turn.
func BenchmarkReachable(b *testing.B) {
	x := small[4]
	done := func(v []byte) uint32 { return map[bool]uint32{true: 1}[v[0] == 8] }
	claim := Claim{Name: "can end", Kind: Possible, Procs: []func([]byte) uint32{done, done},
		Eval: func(p, _ []uint32) bool { return p[0]+p[1] == 2 }}
	if testing.Short() {
		b.Skip("two searches each time")
	}
	for b.Loop() {
		plain, with := x.system(), x.system()
		with.Claims = append(with.Claims, claim)
		start := processorTime()
		mustRun(b, plain, Options{})
		middle := processorTime()
		if r := mustRun(b, with, Options{}); r.Verdict != Holds {
			b.Fatal(r.Verdict)
		}
		b.ReportMetric(float64(processorTime()-middle)/float64(middle-start), "times-search-cpu")
	}
}

// TestReachableThroughTheStack: what leads only back to where the search came from is good if that
// is. From 1 the search goes to 2, 3 and back to 1 first, and finds the way over 4 and 5
// afterwards.
func TestReachableThroughTheStack(t *testing.T) {
	to := func(next ...byte) (out []Step) {
		for _, x := range next {
			out = append(out, Step{Next: []byte{x}})
		}
		return out
	}
	sys := &System{Labels: make([]Label, 1), Procs: []Process{&tableProc{
		final: make([]bool, 7), local: [][]Step{to(1), to(4, 2), to(3), to(1), to(5), to(6), to(6)}}},
		Claims: []Claim{{Name: "there", Kind: Possible,
			Procs: []func([]byte) uint32{func(v []byte) uint32 { return uint32(v[0]) }},
			Eval:  func(p, _ []uint32) bool { return p[0] == 6 }}}}
	if r := bothWays(t, sys, Options{Workers: 1}); r.Verdict != Holds {
		t.Errorf("%v: %+v", r.Verdict, r.Violations)
	}
}
