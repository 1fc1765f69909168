package explore

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/explore/internal/after"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// wheel goes round n positions and on, each step with its own label.
type wheel struct {
	n     int
	label uint32
}

func (w wheel) Init() []byte { return []byte{0, 0} }
func (w wheel) Local(v []byte, emit func(Step)) {
	at := (int(v[0])<<8 + int(v[1]) + 1) % w.n
	emit(Step{Next: []byte{byte(at >> 8), byte(at)}, Label: w.label})
}
func (w wheel) Receive([]byte, int, []byte, func(Step)) {}
func (w wheel) Final([]byte) bool                       { return false }

// wheels are two that turn independently, with a claim that some run comes round to.
func wheels(a, b int, fair Fairness, eval func(x, y uint32) bool) *System {
	at := func(v []byte) uint32 { return uint32(v[0])<<8 + uint32(v[1]) }
	return &System{Procs: []Process{wheel{a, 0}, wheel{b, 1}}, Labels: make([]Label, 2),
		Claims: []Claim{{Name: "there", Kind: LeadsTo, Fair: fair, Procs: []func([]byte) uint32{at, at},
			Relevant: func(p, _ []uint32) bool { return p[0] == 0 },
			Eval:     func(p, _ []uint32) bool { return eval(p[0], p[1]) }}}}
}

// TestLargeLiveGraph: graphs of more than one block. One wheel comes to every position if steps are
// fair; both at once at the last need not, whatever is fair, and the loop that shows it has steps
// of both.
func TestLargeLiveGraph(t *testing.T) {
	const a, b = 130, 70 // more than two blocks
	one, both := func(x, _ uint32) bool { return x == a-1 }, func(x, y uint32) bool { return x == a-1 && y == b-1 }
	for fair, want := range map[Fairness]Verdict{Strong: Holds, Weak: Holds, Unfair: Violated} {
		for _, least := range []int{0, 2} {
			if r := mustRun(t, wheels(a, b, fair, one), Options{Tune: wide(nil, least)}); r.Verdict != want ||
				r.Configurations != a*b {
				t.Errorf("fairness %v: %v after %d configurations, want %v", fair, r.Verdict, r.Configurations, want)
			}
		}
		for _, workers := range []int{1, 2} {
			r := mustRun(t, wheels(a, b, fair, both), Options{Workers: workers})
			if r.Verdict != Violated || len(r.Violations[0].Loop) == 0 {
				t.Fatalf("fairness %v: %v %+v", fair, r.Verdict, r.Violations)
			}
			taken, x, y := map[int]bool{}, 0, 0
			for _, s := range r.Violations[0].Loop {
				taken[s.Label] = true
				x, y = x+1-s.Label, y+s.Label
			}
			if fair != Unfair && len(taken) < 2 || x%a != 0 || y%b != 0 {
				t.Errorf("fairness %v: the loop has %d and %d steps", fair, x, y)
			}
		}
	}
}

// TestLiveGraphLimits: a graph that is too large, or takes too long, is no verdict.
func TestLiveGraphLimits(t *testing.T) {
	sys := wheels(500, 400, Strong, func(x, _ uint32) bool { return x == 1 })
	free := mustRun(t, sys, Options{Workers: 1})
	sys.Claims[0].Eval = func(p, _ []uint32) bool { return p[0] == 499 }
	if r := mustRun(t, sys, Options{Workers: 1, MaxBytes: free.PeakBytes}); r.Complete || r.Verdict != Incomplete {
		t.Errorf("%v with the memory of the search alone", r.Verdict)
	}
	if r := mustRun(t, sys, Options{Workers: 1}); r.Verdict != Holds || r.PeakBytes <= free.PeakBytes {
		t.Errorf("%v, %d bytes, %d without the graph", r.Verdict, r.PeakBytes, free.PeakBytes)
	}
	s := search.NewSearch(context.Background(),
		tables.NewEngine(wheels(300, 300, Unfair, func(uint32, uint32) bool { return false }), Options{Workers: 1}))
	defer s.Close()
	s.BreadthFirst()
	g := after.NewLiveGraph(s, 0, false)
	s.Halt("the time is over")
	if c := after.FairComponents(s, g, Unfair); len(c) != 0 {
		t.Errorf("%d components though the search is over", len(c))
	}
	if after.LeadsTo(s, 0); len(s.Finds) != 0 {
		t.Errorf("%d findings though the search is over", len(s.Finds))
	}
}

// BenchmarkLiveness is a claim about fair runs on a graph that has every configuration, millions
// with PARLEY_BIG=1, and the search alone.
func BenchmarkLiveness(b *testing.B) {
	n := 600
	if os.Getenv("PARLEY_BIG") != "" {
		n = 2000
	}
	for _, kind := range []string{"search", "holds", "violated"} {
		sys := wheels(n, n, Strong, func(x, y uint32) bool {
			return x == uint32(n-1) && (kind == "holds" || y == uint32(n-1))
		})
		if kind == "search" {
			sys.Claims = nil
		}
		b.Run(fmt.Sprintf("%s/%d", kind, n*n), func(b *testing.B) {
			for b.Loop() {
				before := processorTime()
				r := mustRun(b, sys, Options{Workers: 1})
				b.ReportMetric(float64(processorTime()-before)/float64(time.Second), "processor-s")
				b.ReportMetric(float64(r.PeakBytes)/float64(r.Configurations), "B/configuration")
			}
		})
	}
}
