package tla_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/proptest/tla"
)

// reasons are those for which a shipped check may be refused.
var reasons = regexp.MustCompile("cannot say what check \\S+ uses: " +
	"(a monitor of several instances \\(|" +
	"a timer of more than \\d+ lengths, by a clock|" +
	"the number -?\\d+, which TLC does not have)")

// TestExported: most shipped checks can be said in TLA+, in modules that are well formed, liveness and all.
// Others are refused for a reason that the page gives.
func TestExported(t *testing.T) {
	race.Skip(t)
	checks, exported := 0, 0
	for n, file := range shipped(t) {
		if !race.Some(n, 15) {
			continue
		}
		whole, _ := compile.Load(file, compile.Options{})
		if whole == nil {
			continue
		}
		for _, c := range whole.Checks {
			name := strings.TrimPrefix(file, "../../specs/") + " " + c.Name
			p, _ := compile.Load(file, compile.Options{Check: c.Name})
			checks++
			files, err := export.Export(p, p.Checks[0], "Model")
			if err != nil {
				if !reasons.MatchString(err.Error()) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			exported++
			if len(files.Module) > 100_000 && !race.Long() {
				continue
			}
			spec, err := tla.Parse(files.Module)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, c := range files.Configs {
				for _, op := range append(append([]string{c.Spec}, c.Invariants...), c.Properties...) {
					if !spec.Has(op) {
						t.Errorf("%s: the configuration asks for %s, which the module has not", name, op)
					}
				}
			}
		}
	}
	t.Logf("%d of %d checks are exported", exported, checks)
	if 2*exported < checks || race.Nightly() && 100*exported < 95*checks {
		t.Error("too few")
	}
}
