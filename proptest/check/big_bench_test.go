package check

import (
	"context"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/explore"
)

// manyParties are checks of many parties that are searched to the end.
var manyParties = []struct{ file, check string }{
	{"lockstep/documented.yaml", "three"},
	{"lockstep/big.yaml", "threeLeaving"},
	{"lockstep/big.yaml", "delayThree"},
	{"startup/spec.yaml", "three"},
	{"startup/big.yaml", "lossyThree"},
	{"startup/big.yaml", "takeover"},
	{"startup/big.yaml", "inTimeThree"},
	{"startup/four.yaml", "fourForTwo"},
}

// BenchmarkManyParties searches lockstep with three players, command delay 1 and 2, and the startup
// with three and four starters, from the text of the specification to the verdict: each to its end
// within 8 GB, and nothing is violated.
func BenchmarkManyParties(b *testing.B) {
	if os.Getenv("PARLEY_BIG") == "" || testing.Short() {
		b.Skip("set PARLEY_BIG=1 to run benchmarks of minutes and gigabytes")
	}
	for _, x := range manyParties {
		b.Run(x.file+"/"+x.check, func(b *testing.B) {
			for b.Loop() {
				debug.FreeOSMemory()
				before := processorTime()
				p, list := compile.Load("../../specs/"+x.file, compile.Options{Check: x.check})
				if p == nil {
					b.Fatal(list)
				}
				s, err := New(p, p.Checks[0])
				if err != nil {
					b.Fatal(err)
				}
				r, err := s.Run(context.Background(), explore.Options{Workers: 1, MaxBytes: 8 << 30}, nil)
				if err != nil || r.Verdict != Holds {
					b.Fatal(err, r.Verdict, r.Why)
				}
				used := processorTime() - before
				each := float64(r.TableBytes) / float64(r.Configurations)
				b.Logf("%d configurations, %d steps, depth %d, %.1f s of processor, %.1f "+
					"bytes/configuration, peak %d MB",
					r.Configurations, r.Steps, r.Depth, used.Round(100*time.Millisecond).Seconds(), each,
					r.PeakBytes>>20)
				b.ReportMetric(float64(r.Configurations), "configurations")
				b.ReportMetric(float64(r.Steps), "steps")
				b.ReportMetric(used.Seconds(), "cpu-s")
				b.ReportMetric(each, "B/conf")
				b.ReportMetric(float64(r.PeakBytes>>20), "peak-MB")
			}
		})
	}
}
