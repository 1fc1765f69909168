package explore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// naiveStuck is how far away the nearest configurations are in which messages lie that nobody takes:
// with nothing possible but spontaneous steps, and with nothing possible at all.
func (n *naive) naiveStuck() naiveFind {
	out := naiveFind{}
	for _, c := range n.confs {
		key, waits, blocks, alone, moves := c.key(), false, false, n.erring[1][c.key()], n.erring[0][c.key()]
		for k, w := range c.words {
			waits = waits || len(w) > 0
			blocks = blocks || len(w) > 0 && n.sys.Channels[k].Block
		}
		for _, x := range n.succ[key] {
			moves = moves || x.proc >= 0
			alone = alone || x.proc >= 0 && !(x.step.Spontaneous && x.kind == LocalStep)
		}
		final := true
		for p, proc := range n.sys.Procs {
			final = final && proc.Final(c.locals[p])
		}
		switch {
		case waits && final && !moves:
			out.add("orphan", n.depth[key])
		case blocks && !alone:
			out.add("stuck", n.depth[key])
		case waits && !final && !moves:
			out.add("orphan", n.depth[key])
		}
	}
	return out
}

// TestStuckAgainstNaive: where machines may rest, messages that nobody can take are still found.
func TestStuckAgainstNaive(t *testing.T) {
	rounds := uint64(2000)
	if testing.Short() || race.Enabled {
		rounds = 300
	}
	stuck, none := 0, 0
	for seed := range rounds {
		sys := drawnSystem(rand.New(rand.NewPCG(seed, 21)))
		n := naiveUpTo(sys, 300)
		if len(n.confs) > 300 {
			continue
		}
		want, got := n.naiveStuck(), naiveFind{}
		r := mustRun(t, sys, Options{Workers: 1 + int(seed%2), KeepGoing: true,
			Checks: CheckStuck | CheckOrphan | CheckLeft})
		for _, v := range r.Violations {
			switch v.Kind {
			case Stuck:
				got.add("stuck", len(v.Trace))
			case Orphan:
				got.add("orphan", len(v.Trace))
			case Deadlock:
				t.Errorf("seed %d: a deadlock, which was not asked for", seed)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d\ngot  %v\nwant %v", seed, got, want)
		}
		if _, ok := want["stuck"]; ok {
			stuck++
		} else {
			none++
		}
	}
	if stuck < int(rounds)/50 || none < int(rounds)/50 {
		t.Errorf("%d systems that are stuck, %d that are not: not much of a test", stuck, none)
	}
}
