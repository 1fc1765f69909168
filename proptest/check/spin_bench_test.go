package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// twin is an instance of three models of one protocol: specs/setup/big.yaml, what is exported from
// it to Promela, and confirm-update.pml, which was written by hand.
type twin struct {
	properties, values int64
	want               uint64 // configurations
	depth, table       string // flags of pan
}

var (
	smallTwin = twin{2, 3, 272988, "-m1000000", "-w20"}
	bigTwin   = twin{3, 3, 19027683, "-m9000000", "-w25"}
)

func (x twin) consts() map[string]int64 {
	return map[string]int64{"properties": x.properties, "values": x.values}
}

// measure is the cost of one of the three, from the text of its model to the verdict.
type measure struct {
	name       string
	count      uint64
	wall, used time.Duration
	memory     int64
}

func (m measure) String() string {
	return fmt.Sprintf("%-24s %9d configurations, %6.2f s, %6.2f s of processor, %5d MB", m.name, m.count,
		m.wall.Seconds(), m.used.Seconds(), m.memory>>20)
}

// ours compiles the specification and searches.
func (x twin) ours(t testing.TB, reduce explore.Reduction) measure {
	start, before := time.Now(), processorTime()
	p, list := compile.Load("../../specs/setup/big.yaml", compile.Options{Check: "big", Consts: x.consts()})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), explore.Options{Reduce: reduce}, nil)
	if err != nil || r.Verdict != Holds {
		t.Fatal(err, r.Verdict)
	}
	return measure{"fsmgen", r.Configurations, time.Since(start), processorTime() - before, int64(r.PeakBytes)}
}

// processorTime of this process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// exported writes the model, compiles it and searches with Spin.
func (x twin) exported(t testing.TB, flags ...string) measure {
	start, before := time.Now(), processorTime()
	_, text := exported(t, "../../specs/setup/big.yaml", "big", x.consts())
	return x.spin(t, "Spin, exported model", text, nil, flags, start, before)
}

// written compiles the model that was written by hand and searches with Spin.
func (x twin) written(t testing.TB, flags ...string) measure {
	start, before := time.Now(), processorTime()
	text, err := os.ReadFile(filepath.FromSlash("../explore/testdata/confirm-update.pml"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{fmt.Sprintf("-DD=%d", x.values), fmt.Sprintf("-DP=%d", x.properties), "-DK=1", "-DOWN"}
	return x.spin(t, "Spin, model by hand", text, args, flags, start, before)
}

func (x twin) spin(t testing.TB, name string, text []byte, args, flags []string, start time.Time,
	before time.Duration) measure {
	children := childTime()
	pan, err := compileSpin(t.TempDir(), text, args, flags...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runSpin(pan, x.depth, x.table)
	if err != nil || r.failed != "" {
		t.Fatal(name, err, r)
	}
	return measure{name, r.states, time.Since(start), childTime() - children + processorTime() - before, r.memory}
}

// childTime is the processor time of the programs run so far.
func childTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestThreeModelsCountTheSame is the small instance of the benchmark with Spin, for every day.
func TestThreeModelsCountTheSame(t *testing.T) {
	race.SkipShort(t, "TestSpinCountsTheSame compares the exported models")
	needSpin(t)
	x := smallTwin
	for _, m := range []measure{x.ours(t, 0), x.exported(t), x.written(t)} {
		if m.count != x.want {
			t.Errorf("%s: %d configurations, want %d", m.name, m.count, x.want)
		}
	}
}

// BenchmarkAgainstSpin checks the big setup from the text of its specification, and with Spin: the
// model that is exported from the specification, and one written by hand. Without reductions all
// three count the same configurations. The ratios are of wall time and processor time, the
// compilation of models included, and of memory; with our reductions (Spin's own find nothing here)
// the verdict is the same.
func BenchmarkAgainstSpin(b *testing.B) {
	if os.Getenv("PARLEY_BIG") == "" || testing.Short() {
		b.Skip("set PARLEY_BIG=1 to run benchmarks of minutes and gigabytes")
	}
	needSpin(b)
	x := bigTwin
	for b.Loop() {
		whole := x.ours(b, 0)
		runtime.GC()
		reduced := x.ours(b, explore.ReduceSymmetry)
		reduced.name = "fsmgen, reduced"
		exported, written := x.exported(b, "-O3"), x.written(b, "-O3")
		for _, m := range []measure{whole, exported, written} {
			if m.count != x.want {
				b.Errorf("%s: %d configurations, want %d", m.name, m.count, x.want)
			}
		}
		for _, m := range []measure{whole, reduced, exported, written} {
			b.Log(m)
		}
		for _, spin := range []struct {
			name string
			m    measure
		}{{"exported", exported}, {"by-hand", written}} {
			b.ReportMetric(spin.m.wall.Seconds()/whole.wall.Seconds(), "times-"+spin.name)
			b.ReportMetric(spin.m.used.Seconds()/whole.used.Seconds(), "times-"+spin.name+"-cpu")
			b.ReportMetric(float64(spin.m.memory)/float64(whole.memory), "memory-"+spin.name)
			b.ReportMetric(spin.m.used.Seconds()/reduced.used.Seconds(), "times-"+spin.name+"-reduced-cpu")
			b.ReportMetric(spin.m.wall.Seconds()/reduced.wall.Seconds(), "times-"+spin.name+"-reduced")
		}
	}
}

// BenchmarkSmall takes small protocols from the text of the specification to the verdict; 50 ms are
// the aim.
func BenchmarkSmall(b *testing.B) {
	for _, name := range []string{"ready", "update", "confirm"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, list, err := Suite(context.Background(), "../../specs/"+name+"/spec.yaml", Config{})
				if err != nil || r == nil || !r.Passes {
					b.Fatal(err, list)
				}
			}
		})
	}
}
