package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/parley-go/parley/runtime/trace"
)

// The environment of a campaign: one seed to repeat, the first seed and the number of runs,
// and the folder for traces.
const (
	envSeed  = "PARLEY_SIM_SEED"
	envFirst = "PARLEY_SIM_FIRST"
	envRuns  = "PARLEY_SIM_RUNS"
	envTrace = "PARLEY_SIM_TRACE"
)

// Campaign runs the scenario with seeds 1 to runs, or as PARLEY_SIM_FIRST and
// PARLEY_SIM_RUNS say, and fails tb at the first run that fails: it prints the seed and
// the command that repeats it, and leaves a trace of each machine. It returns
// what all runs had in sum, for tb to assert that faults did happen, if they were many:
// somebody who repeats a seed asks for one run, which need not meet any.
func (s *Scenario) Campaign(tb testing.TB, runs int) (sum Result) {
	tb.Helper()
	first := number(tb, envFirst, 1)
	runs = int(number(tb, envRuns, uint64(runs)))
	if os.Getenv(envSeed) != "" {
		first, runs = number(tb, envSeed, 0), 1
	}
	start := time.Now()
	for n := range runs {
		r := s.Run(first+uint64(n), nil)
		if r.Failure != nil {
			tb.Fatal(s.explain(tb, r))
		}
		add(&sum.Stats, &r.Stats)
		sum.Breaks, sum.Crashes, sum.Torn = sum.Breaks+r.Breaks, sum.Crashes+r.Crashes, sum.Torn+r.Torn
		sum.Forged += r.Forged
		sum.Events += r.Events
		sum.Commands += r.Commands
		sum.End += r.End
		sum.Digest ^= r.Digest
	}
	sum.Runs = runs
	took := time.Since(start)
	tb.Logf("%s: %d runs, %d events, %d commands, %v of virtual time in %v (%.0f runs/s, %.0f events/s); %+v",
		s.Name, runs, sum.Events,
		sum.Commands, sum.End.Round(time.Second), took.Round(time.Millisecond), float64(runs)/
			took.Seconds(), float64(sum.Events)/took.Seconds(), sum.Stats)
	return sum
}

func number(tb testing.TB, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return n
}

// explain repeats a failed run with traces and says all there is to know.
func (s *Scenario) explain(tb testing.TB, r *Result) string {
	text := fmt.Sprintf("%s, seed %d: %v\nfaults: %+v\nwhat befell frames: %+v\n%d events, %d commands\n"+
		"repeat it with:\n  %s=%d go test -count=1 -run '^%s$' ./...",
		s.Name, r.Seed, r.Failure, r.Faults, r.Stats, r.Events, r.Commands, envSeed, r.Seed, tb.Name())
	files, again, err := s.Trace(r.Seed, os.Getenv(envTrace))
	if err != nil {
		return text + fmt.Sprintf("\nno trace: %v", err)
	}
	if again.Digest != r.Digest {
		text += "\nthe repetition took another course: the scenario uses something that is not from the seed"
	}
	text += "\ntraces:"
	for _, f := range files {
		text += "\n  fsmviz --seq " + f
	}
	return text
}

// Trace runs the scenario once and writes a trace of each machine into a
// folder, or a new temporary one, and returns the files.
func (s *Scenario) Trace(seed uint64, dir string) (files []string, r *Result, err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "parley-sim-")
	} else {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, nil, err
	}
	var open []*os.File
	r = s.Run(seed, func(name string) trace.Sink {
		f, e := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.jsonl", s.Name, seed, name)))
		if e != nil {
			err = e
			return trace.NewWriter(new(nowhere))
		}
		open, files = append(open, f), append(files, f.Name())
		return trace.NewWriter(f)
	})
	for _, f := range open {
		if e := f.Close(); e != nil && err == nil {
			err = e
		}
	}
	return files, r, err
}

type nowhere struct{}

func (*nowhere) Write(b []byte) (int, error) { return len(b), nil }
