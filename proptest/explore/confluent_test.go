package explore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// naiveConflicts are all pairs of steps whose order matters, by machines and labels, with how far
// away the nearest is.
func (n *naive) naiveConflicts() naiveFind {
	out := naiveFind{}
	for _, c := range n.confs {
		steps := n.succ[c.key()]
		for _, x := range steps {
			for _, y := range steps {
				switch {
				case x.kind > ReceiveStep || y.kind > ReceiveStep, x.proc > y.proc:
				case x.proc == y.proc && x.kind == LocalStep && y.kind == LocalStep && x.step.Label >= y.step.Label:
				case x.proc == y.proc && x.kind == ReceiveStep && (y.kind == LocalStep || x.step.Label > y.step.Label ||
					x.ch == y.ch && bytes.Equal(x.msg, y.msg)):
				case fmt.Sprint(n.afterwards(steps, x, y)) != fmt.Sprint(n.afterwards(steps, y, x)) ||
					len(n.afterwards(steps, x, y)) == 0:
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
		return s.kind == y.kind && s.proc == y.proc && s.ch == y.ch && bytes.Equal(s.msg, y.msg) &&
			(s.kind == ReceiveStep || s.step.Label == y.step.Label)
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
	rounds := uint64(race.Draws(1000, 3000))
	if testing.Short() || race.Enabled { // it decides; concurrency has tests of its own
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
		n := naiveUpTo(sys, 150)
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
