package opinions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/export"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/second"
)

// Opinion is what somebody says of a check.
type Opinion struct {
	// Agrees: the same was found.
	Agrees bool
	// Differs says what is different, a line for each difference.
	Differs []string
	// Refused says why there is no opinion.
	Refused string
	// Waiting are the configurations that only a fault would change, where the check has no `quiet`: those that
	// [Second] has found.
	Waiting int
}

// Second asks the second checker about a check of which the first one has made a report, whole and without
// reductions. It looks at no more than most configurations, unless that is 0.
func Second(spec *second.Spec, first *report.Report, most int) Opinion {
	got, err := spec.Run(first.Check, second.Options{Most: most, Only: only(first)})
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return Opinion{Refused: why}
	}
	if !got.Complete {
		return Opinion{Differs: []string{fmt.Sprintf("more than %d configurations, and the first checker has %d",
			most, first.Configurations)}}
	}
	differs := compare(first, got)
	return Opinion{Agrees: differs == nil, Differs: differs, Waiting: got.Waiting}
}

var (
	some   = regexp.MustCompile(`^of all values, \S+ sends (\S+) with (.*)$`)
	values = regexp.MustCompile(`(\S+) only ([-0-9 ]+)`)
)

// only are the numbers that hostile instances send, which the report names among what it assumes.
func only(r *report.Report) map[string][]int64 {
	out := map[string][]int64{}
	for _, a := range r.Assumptions {
		m := some.FindStringSubmatch(a)
		if m == nil {
			continue
		}
		for _, f := range values.FindAllStringSubmatch(m[2], -1) {
			for _, n := range strings.Fields(f[2]) {
				if x, err := strconv.ParseInt(n, 10, 64); err == nil {
					out[m[1]+"."+f[1]] = append(out[m[1]+"."+f[1]], x)
				}
			}
		}
	}
	return out
}

// compare holds what the second checker says of a check against what the first one does.
func compare(first *report.Report, got *second.Result) (out []string) {
	differs := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if n := int(first.Configurations); got.Configurations != n {
		differs("%d configurations, and the first checker has %d", got.Configurations, n)
	}
	if got.Depth != first.Depth {
		differs("the farthest configuration is %d steps away, and for the first checker %d", got.Depth, first.Depth)
	}
	violated := map[string]bool{}
	for _, c := range first.Claims {
		if c.Result == "violated" {
			violated[c.Name] = true
			n, ok := got.Violated[c.Name]
			if !ok {
				differs("%s is violated for the first checker alone", c.Name)
			} else if c.Counterexample != nil && n != 0 && n != len(c.Counterexample.Steps) {
				differs("%s is violated in %d steps, and for the first checker in %d", c.Name, n,
					len(c.Counterexample.Steps))
			}
		}
		if c.Witness != nil && got.Witness[c.Name] != len(c.Witness.Steps) {
			differs("%s is reached in %d steps, and for the first checker in %d", c.Name, got.Witness[c.Name],
				len(c.Witness.Steps))
		}
	}
	for _, claim := range slices.Sorted(maps.Keys(got.Violated)) {
		if !violated[claim] {
			differs("%s is violated for the second checker alone", claim)
		}
	}
	return out
}

var (
	storedStates = regexp.MustCompile(`([0-9.e+]+) states, stored`)
	foundErrors  = regexp.MustCompile(`errors: ([0-9]+)`)
	failedClaim  = regexp.MustCompile(`assertion violated \(?!?\(?([A-Za-z0-9_]+)`)
	vectorSize   = regexp.MustCompile(`-DVECTORSZ=[0-9]+`)
	uses         = regexp.MustCompile(`^.* cannot say what check \S+ uses: `)
)

// Spin has Spin search the export of a check without reductions, within so many megabytes. Where something is
// violated Spin stops at the first error, so that it has to be one of those that the first checker has found.
func Spin(ctx context.Context, file string, first *report.Report, megabytes int) Opinion {
	p, list := compile.Load(file, compile.Options{Check: first.Check})
	if p == nil {
		return Opinion{Refused: list[0].Message}
	}
	text, err := export.Promela(p, p.Checks[0])
	if err != nil {
		why := uses.ReplaceAllString(err.Error(), "")
		why, _, _ = strings.Cut(why, " (")
		return Opinion{Refused: brief(why)}
	}
	dir, err := os.MkdirTemp("", "parley-spin")
	if err != nil {
		return Opinion{Refused: err.Error()}
	}
	defer os.RemoveAll(dir)
	out, err := pan(ctx, dir, text, megabytes)
	stored, found := storedStates.FindSubmatch(out), foundErrors.FindSubmatch(out)
	switch {
	case ctx.Err() != nil:
		return Opinion{Refused: "the time that it was given"}
	case strings.Contains(string(out), "out of memory"), strings.Contains(string(out), "memory limit"):
		return Opinion{Refused: "the memory that it was given"}
	case strings.Contains(string(out), "max search depth too small"):
		return Opinion{Refused: "the depth that it was given"}
	case err != nil && stored == nil:
		return Opinion{Refused: cmp.Or(firstLine(out), err.Error())}
	case stored == nil || found == nil:
		return Opinion{Refused: "no figures: " + firstLine(out)}
	}
	return judge(first, string(stored[1]), string(found[1]), out)
}

// brief is a refusal without the names of instances, where it is about faults.
func brief(why string) string {
	var list []string
	for _, fault := range []string{"crashes", "restarts", "links that break", "links that come back", "partitions",
		"messages that overtake others"} {
		if strings.Contains(why, fault) {
			list = append(list, fault)
		}
	}
	return cmp.Or(strings.Join(list, ", "), why)
}

func judge(first *report.Report, stored, found string, out []byte) Opinion {
	differs := func(format string, args ...any) Opinion {
		return Opinion{Differs: []string{fmt.Sprintf(format, args...)}}
	}
	if found != "0" {
		claim := "deadlock"
		if m := failedClaim.FindSubmatch(out); m != nil {
			claim = string(m[1])
		}
		if claim == "nfull" {
			claim = "overflow"
		}
		for _, c := range first.Claims {
			if c.Result == "violated" && strings.ReplaceAll(c.Name, "-", "_") == claim {
				return Opinion{Agrees: true}
			}
		}
		return differs("%s fails", claim)
	}
	n, err := strconv.ParseFloat(stored, 64)
	if err != nil || uint64(n) != first.Configurations {
		return differs("%s states, and the first checker has %d configurations", stored, first.Configurations)
	}
	return Opinion{Agrees: true}
}

// pan makes a verifier of a model and runs it.
func pan(ctx context.Context, dir string, text []byte, megabytes int) ([]byte, error) {
	if err := files.Write(filepath.Join(dir, "model.pml"), text); err != nil {
		return nil, err
	}
	flags := []string{"-O1", "-w", "-DSAFETY", "-DNOREDUCE", fmt.Sprintf("-DMEMLIM=%d", megabytes), "-o", "pan",
		"pan.c"}
	if v := vectorSize.Find(text); v != nil {
		flags = append(flags, string(v))
	}
	if out, err := run(ctx, dir, "spin", "-o2", "-a", "model.pml"); err != nil {
		return out, err
	}
	if out, err := run(ctx, dir, "cc", flags...); err != nil {
		return out, err
	}
	return run(ctx, dir, "./pan", "-m2000000")
}

func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line[:min(len(line), 60)]
}
