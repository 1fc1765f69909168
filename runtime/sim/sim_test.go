package sim_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parley-go/parley/machines/update"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/sim"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport/impair"
)

func scenarios() []*sim.Scenario {
	return []*sim.Scenario{readyScenario(), confirmScenario(), updateScenario(), netplayScenario(), startupScenario(3)}
}

// A seed repeats a run, recorded or not; other seeds take other courses.
func TestSeedRepeats(t *testing.T) {
	for _, s := range scenarios() {
		digests := map[uint64]bool{}
		for seed := range uint64(50) {
			first, second := s.Run(seed, nil), s.Run(seed,
				func(string) trace.Sink { return trace.NewWriter(nothing{}) })
			if fmt.Sprintf("%+v", first) != fmt.Sprintf("%+v", second) {
				t.Fatalf("%s, seed %d:\n%+v\n%+v", s.Name, seed, first, second)
			}
			digests[first.Digest] = true
		}
		if len(digests) != 50 {
			t.Errorf("%s: 50 seeds took %d courses", s.Name, len(digests))
		}
	}
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }

// forgetful is a side that does not remember the third message.
type forgetful struct {
	*update.PeerRunner
	heard int
}

func (f *forgetful) Frame(from fsm.Peer, frame []byte) (fsm.Result, error) {
	if f.heard++; f.heard == 3 {
		return fsm.Result{Code: fsm.Ignored, Transition: fsm.NoTransition}, nil
	}
	return f.PeerRunner.Frame(from, frame)
}

// deaf is a pair of which one side forgets.
func deaf() *sim.Scenario {
	return &sim.Scenario{Name: "deaf", Setup: func(w *sim.World) {
		var side [2]*forgetful
		for i, name := range []string{"a", "b"} {
			side[i] = &forgetful{PeerRunner: update.NewPeerRunner(i == 0), heard: i * 1000}
			sim.Add(w, name, side[i], driver.Options[*forgetful]{}, sim.Command[*forgetful]{
				Do: func(w *sim.World, r *forgetful) fsm.Result { return r.Change(update.Value(w.Rand(3))) }})
		}
		w.Connect(0, 1, 0, 0)
		w.Goal = func() bool {
			return side[0].Machine.State == update.StateSettled && side[1].Machine.State == update.StateSettled
		}
	}}
}

// A machine that is stuck is found, and said where, and leaves traces.
func TestStuckIsFound(t *testing.T) {
	s := deaf()
	r := s.Run(1, nil)
	if r.Failure == nil || !r.Failure.Calm || !strings.Contains(r.Failure.Error(), "the goal is not reached") {
		t.Fatalf("%+v", r.Failure)
	}
	if !strings.Contains(r.Failure.States, " in open") && !strings.Contains(r.Failure.States, " in changed") {
		t.Errorf("%v", r.Failure)
	}
	files, again, err := s.Trace(1, t.TempDir())
	if err != nil || len(files) != 2 || again.Digest != r.Digest {
		t.Fatal(files, again, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), `"event":"UPDATE`) ||
		!strings.Contains(string(text), "the goal is not reached") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A protocol over a channel that it was not made for is found to be wrong.
func TestLossIsFound(t *testing.T) {
	s := readyScenario()
	s.Lossy, s.Worst = true, impair.Faults{Duplicate: 0, Loss: 0.3}
	failures := map[string]int{}
	for seed := range uint64(200) {
		if f := s.Run(seed, nil).Failure; f != nil {
			failures[f.What]++
		}
	}
	if len(failures) == 0 {
		t.Fatal("a barrier over a channel that loses READY was not found to be wrong")
	}
	t.Log(failures)
}

// recorder is a testing.TB that remembers what it was told last.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Fatal(args ...any) { r.said = fmt.Sprint(args...); panic(r) }

// A campaign that fails says how to repeat it.
func TestCampaignExplains(t *testing.T) {
	t.Setenv("PARLEY_SIM_TRACE", t.TempDir())
	t.Setenv("PARLEY_SIM_SEED", "7")
	r := &recorder{TB: t}
	func() {
		defer func() { recover() }()
		deaf().Campaign(r, 5)
	}()
	for _, want := range []string{"deaf, seed 7: at ", "PARLEY_SIM_SEED=7 go test",
		"-run '^TestCampaignExplains$'", "fsmviz --seq", "deaf-7-a.jsonl"} {
		if !strings.Contains(r.said, want) {
			t.Errorf("%q is missing in:\n%s", want, r.said)
		}
	}
}

// BenchmarkRun measures one run: a handshake, or several.
func BenchmarkRun(b *testing.B) {
	for _, s := range scenarios() {
		b.Run(s.Name, func(b *testing.B) {
			b.ReportAllocs()
			events := 0
			seed := uint64(0)
			for b.Loop() {
				r := s.Run(seed, nil)
				if r.Failure != nil {
					b.Fatal(r.Failure)
				}
				events += r.Events
				seed++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
