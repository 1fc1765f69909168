package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/export"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/run"
)

// spinRun is the result of Spin for a model.
type spinRun struct {
	states uint64
	failed string // the assertion that failed, "" if none
	used   time.Duration
	memory int64 // bytes at most
}

var (
	storedStates = regexp.MustCompile(`([0-9.e+]+) states, stored`)
	foundErrors  = regexp.MustCompile(`errors: ([0-9]+)`)
	failedClaim  = regexp.MustCompile(`assertion violated \(?([A-Za-z0-9_]+)`)
	vectorSize   = regexp.MustCompile(`-DVECTORSZ=[0-9]+`)
)

// compileSpin makes a verifier of a model in dir, without reductions. args are for spin -a, flags
// for the compiler.
func compileSpin(dir string, text []byte, args []string, flags ...string) (pan string, err error) {
	if err := os.WriteFile(filepath.Join(dir, "model.pml"), text, 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("spin", append(append([]string{"-o2", "-a"}, args...), "model.pml")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("spin: %v\n%s", err, out)
	}
	flags = append(flags, "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
	if v := vectorSize.Find(text); v != nil {
		flags = append(flags, string(v))
	}
	cmd = exec.Command("cc", flags...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc: %v\n%s", err, out)
	}
	return filepath.Join(dir, "pan"), nil
}

// runSpin runs a verifier to its end or to the first failed assertion.
func runSpin(pan string, args ...string) (*spinRun, error) {
	cmd := exec.Command(pan, args...)
	cmd.Dir = filepath.Dir(pan)
	out, err := cmd.CombinedOutput()
	stored, found := storedStates.FindSubmatch(out), foundErrors.FindSubmatch(out)
	if stored == nil || found == nil || strings.Contains(string(out), "max search depth too small") {
		return nil, fmt.Errorf("pan: %v\n%s", err, out)
	}
	n, err := strconv.ParseFloat(string(stored[1]), 64)
	r := &spinRun{states: uint64(n), used: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = u.Maxrss << 10
	}
	if string(found[1]) != "0" {
		r.failed = "something"
		if m := failedClaim.FindSubmatch(out); m != nil {
			r.failed = string(m[1])
		}
	}
	return r, err
}

func needSpin(t testing.TB) {
	race.Skip(t)
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: what is exported to Promela is not compared with Spin", tool)
		}
	}
	if testing.Short() {
		t.Skip("compiles C")
	}
}

// exported is a check of a specification as a model for Spin.
func exported(t testing.TB, file, check string, consts map[string]int64) (*model.Protocol, []byte) {
	t.Helper()
	p, list := compile.Load(file, compile.Options{Check: check, Consts: consts})
	if p == nil {
		t.Fatal(list)
	}
	text, err := export.Promela(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	return p, text
}

func ours(t testing.TB, p *model.Protocol) *Report {
	t.Helper()
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSpinCountsTheSame exports checks to Promela and lets Spin search them without reductions: it
// must store as many states as there are configurations.
func TestSpinCountsTheSame(t *testing.T) {
	needSpin(t)
	for i, x := range []struct {
		file, check string
		consts      map[string]int64
	}{
		{file: "confirm/spec.yaml", check: "pair"},
		{file: "startup/spec.yaml", check: "lossy"},
		{file: "setup/spec.yaml", check: "all"},
		{file: "reset/spec.yaml", check: "pair"},
		{file: "update/spec.yaml", check: "duel"},
		{file: "setup/big.yaml", check: "big", consts: map[string]int64{"properties": 2}},
		{file: "ready/spec.yaml", check: "pair"},
		{file: "../proptest/check/testdata/channels/spec.yaml", check: "pair"},
		{file: "setup/spec.yaml", check: "own"},
	} {
		if i == race.Draws(1, 8) {
			break // the C compiler takes most of the time
		}
		t.Run(x.file+" "+x.check, func(t *testing.T) {
			p, text := exported(t, "../../specs/"+x.file, x.check, x.consts)
			pan, err := compileSpin(t.TempDir(), text, nil)
			if err != nil {
				t.Fatal(err)
			}
			spin, err := runSpin(pan, "-m1000000", "-w20")
			if err != nil {
				t.Fatal(err)
			}
			r := ours(t, p)
			if spin.failed != "" || r.Verdict != Holds || spin.states != r.Configurations {
				t.Errorf("Spin: %d states, failed %q; ours: %d configurations, %s", spin.states, spin.failed,
					r.Configurations, r.Verdict)
			}
		})
	}
}

// TestSpinTakesLongSteps: Spin has a bound for the statements of a step, and the export divides those that
// come near it.
func TestSpinTakesLongSteps(t *testing.T) {
	needSpin(t)
	for _, check := range []string{"again", "full"}[:race.Draws(1, 2)] {
		_, text := exported(t, "../../specs/startup/spec.yaml", check, nil)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "model.pml"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("spin", "-a", "model.pml")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", check, err, out)
		}
	}
}

// TestSpinForSeveralCores: written for several cores a model has the same states, and Spin can
// build a verifier of it that uses them.
func TestSpinForSeveralCores(t *testing.T) {
	needSpin(t)
	race.SkipShort(t, "TestSpinCountsTheSame compares the same models for one core")
	for _, x := range [][2]string{
		{"setup/spec.yaml", "all"}, {"ready/spec.yaml", "pair"}, {"startup/spec.yaml", "lossy"},
	} {
		t.Run(x[0]+" "+x[1], func(t *testing.T) {
			p, text := exported(t, "../../specs/"+x[0], x[1], nil)
			if _, err := compileSpin(t.TempDir(), text, []string{"-DCORES"}, "-DNCORE=2"); err != nil {
				t.Fatal(err)
			}
			pan, err := compileSpin(t.TempDir(), text, []string{"-DCORES"})
			if err != nil {
				t.Fatal(err)
			}
			spin, err := runSpin(pan, "-m1000000", "-w20")
			if err != nil {
				t.Fatal(err)
			}
			if r := ours(t, p); spin.failed != "" || spin.states != r.Configurations {
				t.Errorf("Spin: %d states, failed %q; ours: %d configurations", spin.states, spin.failed,
					r.Configurations)
			}
		})
	}
}

// TestSpinKeepsWhatNothingReads has a variable that is written and never read: it tells
// configurations apart here, and Spin leaves it out of its states unless it is told not to.
func TestSpinKeepsWhatNothingReads(t *testing.T) {
	needSpin(t)
	const spec = `protocol: diary
messages: {HELLO: }
roles:
  one:
    vars: {last: 0..3}
    commands: {note: {fields: {n: 0..3}}}
    initial: open
    states: {open: {note: {set: {last: n}}, HELLO: ignore}}
checks: {pair: {instances: {a: one, b: one}}}
`
	p, list := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(spec)}},
		Check: "pair"})
	if p == nil {
		t.Fatal(list)
	}
	text, err := export.Promela(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	pan, err := compileSpin(t.TempDir(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	spin, err := runSpin(pan, "-m1000")
	if err != nil || spin.states != 16 || ours(t, p).Configurations != 16 {
		t.Errorf("%+v, %v; ours %d; there are 16 configurations", spin, err, ours(t, p).Configurations)
	}
}

// TestSpinBitstate: the searches by bitstate hashing of docs/EXPORT.md find all configurations where the table has
// much room.
func TestSpinBitstate(t *testing.T) {
	needSpin(t)
	race.SkipShort(t, "TestSpinCountsTheSame compares exact searches")
	p, text := exported(t, "../../specs/confirm/spec.yaml", "pair", nil)
	want := ours(t, p).Configurations
	for _, how := range []string{"-bitstate -safety -noreduce -w24 -k3", "-swarm4,4 -safety -noreduce -w24"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "confirm.pml"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "spin", slices.Concat([]string{"-o2", "-search"}, strings.Fields(how),
			[]string{"confirm.pml"})...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), fmt.Sprintf("%d states, stored", want)) {
			t.Errorf("spin -search %s (%v) has not %d states:\n%s", how, err, want, out)
		}
	}
}

// TestSpinFindsTheSame exports checks that are violated; Spin must violate one of the claims that
// we do. A sometimes claim is one that Spin violates by its witness.
func TestSpinFindsTheSame(t *testing.T) {
	needSpin(t)
	for i, x := range []struct {
		file, check, show string
	}{
		{file: "setup/coded.yaml", check: "own"},
		{file: "reset/coded.yaml", check: "pair"},
		{file: "confirm/spec.yaml", check: "pair", show: "both_done"},
		{file: "confirm/coded.yaml", check: "pair"},
		{file: "ready/coded.yaml", check: "pair"},
		{file: "update/coded-names.yaml", check: "duel"},
	} {
		if i == race.Draws(1, 6) {
			break
		}
		t.Run(x.file+" "+x.check, func(t *testing.T) {
			p, text := exported(t, "../../specs/"+x.file, x.check, nil)
			var args []string
			if x.show != "" {
				args = append(args, "-DSHOW_"+x.show)
			}
			pan, err := compileSpin(t.TempDir(), text, args)
			if err != nil {
				t.Fatal(err)
			}
			spin, err := runSpin(pan, "-m1000000", "-w20")
			if err != nil {
				t.Fatal(err)
			}
			violated := map[string]bool{x.show: true}
			for _, name := range serious(ours(t, p)) {
				violated[strings.ReplaceAll(name, "-", "_")] = true
			}
			if spin.failed == "" || !violated[spin.failed] {
				t.Errorf("Spin violates %q, ours %v", spin.failed, violated)
			}
			sameTrail(t, p, filepath.Dir(pan), string(text), spin.failed, args...)
		})
	}
}

// sameTrail does the run that Spin has found, as a scenario: each of its steps must be possible, and
// only the last one refused, if a refusal is what Spin has found.
func sameTrail(t *testing.T, p *model.Protocol, dir, text, failed string, args ...string) {
	t.Helper()
	cmd := exec.Command("spin", append(args, "-t", "-p", "model.pml")...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("spin -t: %v", err)
	}
	var instances []run.Instance
	for _, in := range p.Checks[0].Instances {
		instances = append(instances, run.Instance{Name: in.Name})
	}
	r, err := run.ReadTrail(text, string(out), instances)
	if err != nil {
		t.Fatal(err)
	}
	r.Check = p.Checks[0].Name
	lines, why := r.Scenario()
	if why != "" || len(r.Steps) == 0 {
		t.Fatalf("%d steps: %s", len(r.Steps), why)
	}
	lines[0] = "check " + r.Check // Spin does not tell what follows by itself
	blocks := []scenario.Block{{Line: 1, Input: lines[:len(lines)-1]}}
	got, _, err := scenario.Run(blocks, func(string) (*model.Protocol, error) { return p, nil })
	if err != nil {
		t.Fatalf("what Spin does is not possible here: %v", err)
	}
	told := strings.Split(strings.TrimSpace(got[0].Want), "\n")
	last := failed == "unspecified_reception" || failed == "fault"
	for i, line := range told {
		if refused := strings.Contains(line, "  refused"); refused != (last && i == len(told)-1) {
			t.Errorf("step %d of %d to %s: %s", i+1, len(told), failed, line)
		}
	}
}

// TestRandomSpecsWithSpin writes protocols at random, with all kinds of types and statements, and
// compares: where nothing fails the counts, elsewhere that Spin finds something, too.
// PARLEY_SPIN=100 runs a hundred, PARLEY_SEED says from where.
func TestRandomSpecsWithSpin(t *testing.T) {
	needSpin(t)
	runs, holds, fails := race.Draws(2, 8), 0, 0
	if n, err := strconv.Atoi(os.Getenv("PARLEY_SPIN")); err == nil {
		runs = n
	}
	from, _ := strconv.Atoi(os.Getenv("PARLEY_SEED"))
	for seed := uint64(from); holds+fails < runs; seed++ {
		spec := randomSpec(rand.New(rand.NewPCG(seed, 1)))
		p, list := compile.Load("spec.yaml",
			compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(spec)}}, Check: "pair"})
		if p == nil {
			t.Fatalf("seed %d: %v\n%s", seed, list, spec)
		}
		r := ours(t, p)
		if len(serious(r)) == 0 && r.Configurations < 20 || r.Configurations > 200000 {
			continue
		}
		if len(serious(r)) > 0 && fails > runs/4 {
			continue
		}
		text, err := export.Promela(p, p.Checks[0])
		if refused := (*export.Unsupported)(nil); errors.As(err, &refused) {
			t.Logf("seed %d: %v", seed, err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		pan, err := compileSpin(t.TempDir(), text, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, spec)
		}
		spin, err := runSpin(pan, "-m1000000", "-w20")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, spec)
		}
		if bad := serious(r); len(bad) > 0 {
			fails++
			if spin.failed == "" {
				t.Errorf("seed %d: Spin finds nothing, ours %v\n%s", seed, bad, spec)
			}
			continue
		}
		holds++
		if spin.failed != "" || spin.states != r.Configurations {
			t.Errorf("seed %d: Spin has %d states (failed: %q), ours %d configurations\n%s", seed, spin.states,
				spin.failed, r.Configurations, spec)
		}
	}
	t.Logf("%d hold, %d fail", holds, fails)
}

// serious lists the violated claims that are assertions in the exported model.
func serious(r *Report) []string {
	var out []string
	for _, c := range r.Claims {
		if c.Result == Violated && c.Name != NeverFires && c.Name != UnreachableState &&
			slices.Contains([]string{"always", "agree", "built-in"}, c.Kind) {
			out = append(out, c.Name)
		}
	}
	return out
}
