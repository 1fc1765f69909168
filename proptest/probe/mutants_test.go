package probe

import (
	"os"
	"testing"
	"time"

	"github.com/parley-go/parley/proptest/mutate"
)

// TestMutants measures how many mutants of a machine are told from it over the wire. What its program is told nobody
// sees there, so reports are left out.
func TestMutants(t *testing.T) {
	if os.Getenv("PARLEY_BIG") == "" {
		t.Skip("this measures; PARLEY_BIG=1 runs it")
	}
	spec := "specs/confirm/spec.yaml"
	if s := os.Getenv("PARLEY_SPEC"); s != "" {
		spec = s
	}
	right := load(t, spec)
	all, found := 0, 0
	for i, m := range mutate.Mutants(right) {
		if m.Operator == mutate.DropReport || m.Operator == mutate.WrongReceiver {
			continue
		}
		p := load(t, spec)
		mutant := mutate.Mutants(p)[i]
		if !mutant.In(p) {
			t.Fatalf("%s: it has no place", m.Words)
		}
		all++
		o := options()
		o.Findings, o.Patience, o.Sessions, o.Hostile = 1, 300*time.Millisecond, 150, -1
		v := &server{p: p, seed: 3}
		r, err := Run(t.Context(), right, v.listen(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) > 0 {
			found++
			t.Logf("found after %d sessions: %s (%s): %s", r.Sessions, m.Words, m.Operator, r.Findings[0].Kind)
		} else {
			t.Logf("MISSED: %s (%s)", m.Words, m.Operator)
		}
	}
	t.Logf("%d of %d", found, all)
}
