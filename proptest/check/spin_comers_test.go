package check

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/export"
	"github.com/parley-go/parley/proptest/race"
)

// TestSpinComers: where parties come and go Spin stores as many states of the exported model as there are
// configurations, and where something is violated it finds that, too, in a run that the check has.
func TestSpinComers(t *testing.T) {
	needSpin(t)
	runs, holds, fails := race.Draws(3, 25), 0, 0
	texts := []string{strings.Replace(coming, "COME", "{a: 2, b: 1}\n    environment: {greet: {times: 1}}", 1)}
	for seed := uint64(0); len(texts) < 40*runs; seed++ {
		text := knowingSpec(rand.New(rand.NewPCG(seed, 31)))
		text = strings.Replace(text, "full: lose", "full: fault", int(seed)%2)
		if strings.Contains(text, "come:") && !strings.Contains(text, "full: wait") {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		name := "main"
		if holds+fails == runs {
			break
		}
		p, list := compile.Load("spec.yaml",
			compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}, Check: name})
		if p == nil {
			t.Fatalf("%v\n%s", list, text)
		}
		r := ours(t, p)
		bad := serious(r)
		if len(bad) == 0 && r.Configurations < 30 || len(bad) > 0 && fails > runs/3 {
			continue
		}
		model, err := export.Promela(p, p.Checks[0])
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		pan, err := compileSpin(t.TempDir(), model, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		spin, err := runSpin(pan, "-m1000000", "-w20")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(bad) > 0 {
			if fails++; spin.failed == "" {
				t.Fatalf("Spin finds nothing, ours %v\n%s", bad, text)
			}
			// a scenario has no step that sends into a full channel
			if spin.failed != "nfull" && spin.failed != "something" {
				sameTrail(t, p, filepath.Dir(pan), string(model), spin.failed)
			}
			continue
		}
		if holds++; spin.failed != "" || spin.states != r.Configurations {
			t.Fatalf("Spin has %d states (failed: %q), ours %d configurations\n%s", spin.states, spin.failed,
				r.Configurations, text)
		}
	}
	t.Logf("%d hold, %d fail", holds, fails)
	if holds < runs/2 || fails == 0 && race.Long() {
		t.Error("too few")
	}
}
