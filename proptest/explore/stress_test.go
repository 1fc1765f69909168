package explore

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/store"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
	"pgregory.net/rapid"
)

// hurried is a tuning under which nearly every batch ends a round: the visited
// set begins with a few slots and grows many times, tables are filled in a few
// configurations at a time, and workers give way between looking at a slot and
// taking it.
func hurried(seed uint64) *api.Tuning {
	var n atomic.Uint64
	return &api.Tuning{Slots: 8 + seed%7, Quota: 1 + int64(seed%5), Batch: 1 + int(seed%4),
		Misses: 1 + int(seed%3), Share: 2, Piece: 4 + seed%13,
		Yield: func() {
			if n.Add(seed|1)%3 == 0 {
				runtime.Gosched()
			}
		}}
}

// wide is t for configurations of so many words at least.
func wide(t *api.Tuning, words int) *api.Tuning {
	if t == nil {
		t = &api.Tuning{}
	}
	t.MinStride = words
	return t
}

// manyThreads lets more goroutines run at once than there are processors.
func manyThreads(t *testing.T) {
	old := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// TestGrowthUnderWorkers repeats one search with several workers and a visited
// set that grows at every opportunity. Everything in the result is fixed.
func TestGrowthUnderWorkers(t *testing.T) {
	manyThreads(t)
	rounds := uint64(120)
	if testing.Short() {
		rounds = 20
	}
	summary := func(r *Result) string {
		return fmt.Sprint(r.Verdict, r.Complete, r.Configurations, r.Steps, r.Levels, r.LabelCount, r.Claims)
	}
	for k, x := range []instance{small[0], small[1], small[0]} {
		want := summary(mustRun(t, x.system(), Options{Workers: 1}))
		sys := x.system()
		for seed := range rounds {
			opt := Options{Workers: 2 + int(seed%4), Tune: wide(hurried(seed), 1+int(seed%2))}
			if k == 2 {
				opt.Reduce, opt.Tune = ReduceHash, wide(opt.Tune, 2)
			}
			if got := summary(mustRun(t, sys, opt)); got != want {
				t.Fatalf("%v, seed %d\ngot  %s\nwant %s", x, seed, got, want)
			}
			if k > 0 && seed > rounds/10 {
				break
			}
		}
	}
}

// TestRandomSystemsUnderWorkers is the same on systems with every feature.
func TestRandomSystemsUnderWorkers(t *testing.T) {
	manyThreads(t)
	rapid.Check(t, func(t *rapid.T) {
		sys := randomSystem(t)
		want := naiveDrawn(t, sys)
		for seed := range uint64(4) {
			r := mustRun(t, sys, Options{Workers: 3, KeepGoing: true, Tune: wide(hurried(seed+1), 1+int(seed%2))})
			got, exp := fmt.Sprint(r.Configurations, r.Steps, r.Levels, r.LabelCount),
				fmt.Sprint(len(want.confs), want.steps, want.levels, want.counts)
			if got != exp {
				t.Fatalf("seed %d\ngot  %s\nwant %s", seed, got, exp)
			}
		}
	})
}

// TestTableGrowth grows a visited set in place again and again, with entries
// that crowd some homes and the end of the table, and looks for all of them.
func TestTableGrowth(t *testing.T) {
	manyThreads(t)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		stride := 1 + int(seed%3)
		opt := Options{Workers: 1 + int(seed%4), Tune: hurried(seed)}
		s := &search.Search{Engine: &tables.Engine{Opt: opt, Sys: &System{}}, Tune: opt.Tune.Complete()}
		s.Workers = make([]*search.Worker, opt.Workers)
		s.Engine.Lay.Stride = stride
		table, err := store.NewTable(8+seed%90, stride)
		if err != nil {
			t.Fatal(err)
		}
		s.Visited = table
		var all [][]uint64
		for len(all) < 3000 {
			for table.Room() <= 0 {
				before := table.N
				s.Enlarge(table.N + table.N/2)
				if table.N <= before {
					t.Fatal("it did not grow")
				}
			}
			c := make([]uint64, stride)
			for i := range c {
				c[i] = rng.Uint64() >> (1 + rng.IntN(3)*20)
			}
			if _, known := table.Find(c); known == table.Insert(c) {
				t.Fatalf("seed %d: find says %v before insert", seed, known)
			} else if !known {
				table.Used++
				all = append(all, c)
			}
		}
		occupied := 0
		for i := range table.N {
			if table.Slots[i*table.Stride] != 0 {
				occupied++
			}
		}
		if occupied != len(all) {
			t.Fatalf("seed %d: %d of %d slots in use for %d entries", seed, occupied, table.N, len(all))
		}
		for _, c := range all {
			if table.Insert(c) {
				t.Fatalf("seed %d: %x was lost", seed, c)
			}
		}
		table.Free()
	}
}

// guardedSender is a machine that meets its fifth message first behind a guard
// that does not hold, and sends it only when its channel has drained.
func guardedSender() *System {
	send := func(label uint32, next, msg byte, lo, hi int) Step {
		return Step{Label: label, Next: []byte{next}, Sends: []Send{{Channel: 0, Msg: []byte{msg}}},
			Lens: []LenRange{{Channel: 0, Lo: lo, Hi: hi}}}
	}
	p := &tableProc{final: []bool{false, true}, local: [][]Step{
		{send(0, 0, 0, 0, 1), send(0, 0, 1, 0, 1), send(0, 0, 2, 0, 1), send(0, 0, 3, 0, 1),
			{Label: 1, Next: []byte{1}, Lens: []LenRange{{Channel: 0, Lo: 1, Hi: -1}}}},
		{send(2, 1, 4, 0, 0)},
	}}
	q := &tableProc{final: []bool{true}, local: [][]Step{nil}, recv: map[string][]Step{}}
	for m := range byte(5) {
		q.recv[fmt.Sprint([]byte{0}, 0, []byte{m})] = []Step{{Label: 3, Next: []byte{0}}}
	}
	return &System{Procs: []Process{p, q}, Channels: []Channel{{From: 0, To: 1, Cap: 2}}, Labels: make([]Label, 4)}
}

// TestMessageFirstMetBehindGuard: a message may be given a number that the
// table of successors of words has no column for yet. Once this read the column of
// another word, and so a configuration was reached that does not exist.
func TestMessageFirstMetBehindGuard(t *testing.T) {
	sys := guardedSender()
	want := naiveRun(sys)
	for _, opt := range []Options{{Workers: 1}, {Workers: 2}, {Workers: 2, Tune: hurried(3)}} {
		r := mustRun(t, sys, opt)
		if got, exp := fmt.Sprint(r.Configurations, r.Steps, r.Levels),
			fmt.Sprint(len(want.confs), want.steps, want.levels); got != exp {
			t.Errorf("%+v: got %s, want %s", opt, got, exp)
		}
	}
}
