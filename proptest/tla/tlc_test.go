package tla_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

var distinct = regexp.MustCompile(`(\d+) distinct states found, 0 states left on queue`)

// TestTLC has TLC itself visit the configurations of shipped checks, where the environment variable TLA2TOOLS names
// the file tla2tools.jar. It is a separate program.
func TestTLC(t *testing.T) {
	race.Skip(t)
	jar := os.Getenv("TLA2TOOLS")
	if jar == "" {
		t.Skip("TLA2TOOLS does not name the file tla2tools.jar, so TLC is not asked")
	}
	same := 0
	for n, file := range shipped(t) {
		if !race.Some(n, 12) {
			continue
		}
		t.Run(strings.TrimPrefix(file, "../../specs/"), func(t *testing.T) { same += askTLC(t, jar, file) })
	}
	t.Logf("TLC says the same of %d checks of at most %d configurations", same, bound())
}

// askTLC has TLC look at the checks of a file that are small enough.
func askTLC(t *testing.T, jar, file string) (same int) {
	r, _, err := check.Suite(t.Context(), file,
		check.Config{Explore: explore.Options{MaxConfigurations: uint64(bound())}})
	if err != nil || r == nil {
		return 0 // it has no checks
	}
	for _, c := range r.Checks {
		if c.Ended != "" {
			continue
		}
		p, _ := compile.Load(file, compile.Options{Check: c.Check})
		files, err := export.Export(p, p.Checks[0], "Model")
		if err != nil {
			continue
		}
		same++
		for i := range files.Configs {
			if len(files.Configs[i].Properties) == 0 {
				runTLC(t, jar, c, files, &files.Configs[i])
			}
		}
	}
	return same
}

// runTLC holds one run of TLC against what the checker says.
func runTLC(t *testing.T, jar string, c *report.Report, files *export.Files, config *export.Config) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"Model.tla": files.Module, "Model.cfg": config.Text()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "java", "-XX:+UseParallelGC", "-cp", jar, "tlc2.TLC", "-workers", "2",
		"-noGenerateSpecTE", "-metadir", filepath.Join(dir, "states"), "-config", "Model.cfg", "Model.tla")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // its exit code says whether something is violated; the text says what
	violated := map[string]bool{}
	for _, m := range regexp.MustCompile(`Invariant (\w+) is violated`).FindAllStringSubmatch(out.String(), -1) {
		violated[m[1]] = true
	}
	expected := expectedOf(c, files, config)
	if len(expected) > 0 {
		for name := range violated { // TLC stops at the first one
			if !expected[name] {
				t.Errorf("%s: TLC finds %s violated, and the checker does not", c.Check, name)
			}
		}
		if len(violated) == 0 {
			t.Errorf("%s: TLC finds none of %v violated\n%s", c.Check, expected, out.String())
		}
		return
	}
	m := distinct.FindStringSubmatch(out.String())
	if m == nil || len(violated) > 0 {
		t.Errorf("%s: TLC does not come to an end\n%s", c.Check, out.String())
	} else if n, _ := strconv.ParseUint(m[1], 10, 64); n != c.Configurations {
		t.Errorf("%s: TLC has %d configurations, and the checker %d", c.Check, n, c.Configurations)
	}
}

// expectedOf are the invariants of a configuration that do not hold for the checker.
func expectedOf(c *report.Report, files *export.Files, config *export.Config) map[string]bool {
	violated := map[string]bool{}
	for _, x := range c.Claims {
		is := x.Result == "violated"
		switch x.Name {
		case "deadlock":
			violated["NoDeadlock"] = is
		case "orphan-message":
			violated["NoOrphan"] = is
		case "unspecified-reception", "fault", "overflow", "deferred-overflow":
			violated["NoError"] = violated["NoError"] || is
		}
		for _, y := range files.Claims {
			if y.Name == x.Name {
				violated[y.Invariant] = y.Sometimes && x.Witness != nil || !y.Sometimes && is
			}
		}
	}
	out := map[string]bool{}
	for _, name := range config.Invariants {
		if violated[name] {
			out[name] = true
		}
	}
	return out
}
