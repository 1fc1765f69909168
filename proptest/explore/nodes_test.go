package explore

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestOneByOneAgainstNaive: searches in another order find the same configurations
// and the same things wrong, though farther away.
func TestOneByOneAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sys := randomSystem(t)
		want := naiveDrawn(t, sys)
		want.possible()
		nearest := foundBy(mustRun(t, sys, Options{KeepGoing: true}))
		for i, opt := range []Options{{Mode: DepthFirst}, {Mode: Guided}, {Mode: DepthFirst, Tune: wide(hurried(2), 2)},
			{Mode: Guided, Tune: wide(nil, 2), Reduce: ReduceHash}} {
			opt.KeepGoing = true
			r := mustRun(t, sys, opt)
			if !r.Complete {
				t.Fatal(r.Why)
			}
			got, exp := fmt.Sprint(r.Configurations, r.Steps, r.LabelCount, r.Faults),
				fmt.Sprint(len(want.confs), want.steps, want.counts,
					struct{ a, b, c uint64 }{want.faults[0], want.faults[1], want.faults[2]})
			if got != exp {
				t.Fatalf("%d: got %s, want %s", i, got, exp)
			}
			found := foundBy(r)
			for name, length := range want.found {
				if n, ok := found[name]; !ok || n < length {
					t.Fatalf("%d: %s is found in %d steps (%v), the nearest is in %d", i, name, n, ok, length)
				}
			}
			for name := range found {
				if _, ok := nearest[name]; !ok {
					t.Fatalf("%d: %s is found, but not breadth-first", i, name)
				}
			}
			for _, v := range r.Violations {
				if c := v.Claim; len(v.End.Locals) > 0 && (c < 0 || sys.Claims[c].Kind < Possible) {
					follow(t, sys, v.Trace, v.End, v.Label >= 0)
				}
			}
			for _, w := range r.Witnesses {
				follow(t, sys, w.Trace, w.End, false)
			}
		}
	})
}

func TestOneByOneReduced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sys := randomRegisters(t)
		plain := mustRun(t, sys, Options{Workers: 1, KeepGoing: true, MaxConfigurations: 20000})
		if plain.Configurations > 20000 {
			t.Skip("too large")
		}
		r := mustRun(t, sys, Options{Mode: DepthFirst, KeepGoing: true, Reduce: ReduceSymmetry})
		if len(kinds(r)) != len(kinds(plain)) || r.Verdict != plain.Verdict {
			t.Fatalf("found %v, want %v", kinds(r), kinds(plain))
		}
		for _, v := range r.Violations {
			if len(v.End.Locals) > 0 {
				follow(t, sys, v.Trace, v.End, v.Label >= 0)
			}
		}
	})
}

// countdown needs n steps of each of two machines, in any order, for its claim to
// be violated; everything else is a wide plain.
func countdown(n int) *System {
	sys := &System{Labels: make([]Label, 3)}
	for p := range 3 {
		var local [][]Step
		for i := range 256 {
			up, down := Step{Label: uint32(p), Next: []byte{byte(min(i+1, 255))}},
				Step{Label: uint32(p), Next: []byte{byte(max(i-1, 0))}}
			local = append(local, []Step{up, down})
		}
		sys.Procs = append(sys.Procs, &tableProc{local: local, final: make([]bool, 256)})
	}
	at := func(v []byte) uint32 { return uint32(v[0]) }
	sys.Claims = []Claim{{Name: "never both", Procs: []func([]byte) uint32{at, at},
		Eval:     func(p, _ []uint32) bool { return int(p[0]) < n || int(p[1]) < n },
		Distance: func(p, _ []uint32) int { return max(n-int(p[0]), 0) + max(n-int(p[1]), 0) }}}
	return sys
}

func TestGuidedFindsFarViolation(t *testing.T) {
	sys := countdown(200)
	r := mustRun(t, sys, Options{Mode: Guided, Target: 1, KeepGoing: true, MaxConfigurations: 100000})
	if r.Verdict != Violated || len(r.Violations[0].Trace) < 400 || r.Configurations > 5000 {
		t.Errorf("%v after %d configurations", r.Verdict, r.Configurations)
	}
	if r := mustRun(t, sys, Options{MaxConfigurations: 100000}); r.Verdict != Incomplete {
		t.Errorf("breadth first: %v; the example is too small", r.Verdict)
	}
}

func TestDepthLimit(t *testing.T) {
	r := mustRun(t, countdown(20), Options{Mode: DepthFirst, MaxDepth: 9})
	if r.Verdict != Incomplete || r.Why == "" || r.Depth != 9 || r.Frontier == 0 {
		t.Errorf("%v (%s), depth %d, %d not expanded", r.Verdict, r.Why, r.Depth, r.Frontier)
	}
}
