package explore

import (
	"context"
	"testing"
)

// failer is what tests, benchmarks and rapid have in common.
type failer interface {
	Helper()
	Fatal(...any)
}

func mustRun(t failer, sys *System, opt Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), sys, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTmp(t *testing.T) {
	for _, x := range []struct {
		d, p int
		own  bool
		k    int
	}{{2, 1, true, 1}, {2, 1, false, 1}, {3, 1, true, 1}, {2, 2, true, 1}, {3, 2, true, 1}} {
		for _, st := range []int{1, 2} {
			r := mustRun(t, confirmUpdate(x.d, x.p, x.own, x.k), Options{minStride: st})
			t.Logf("%v %s %s n=%d steps=%d depth=%d widest=%v loc=%v words=%v bits=%d %.2fs viol=%d", x, r.Verdict, r.Why, r.Configurations, r.Steps, r.Depth, r.Widest, r.Locals, r.Words, r.KeyBits, r.Seconds, len(r.Violations))
			for _, v := range r.Violations {
				t.Logf("%v %s %d", v.Kind, v.Text, len(v.Trace))
			}
		}
	}
}
