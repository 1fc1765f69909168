package check

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/check/report"
)

// TestBehindErrors: behind an error nothing is looked at, so no result that depends on what is
// there comes without saying so; what has a run to show is as sure as ever.
func TestBehindErrors(t *testing.T) {
	r := suite(t, "testdata/behind/spec.yaml", "racy")
	if !r.Passes || r.Verdict != Violated || len(r.EndedBy) != 1 ||
		r.EndedBy[0] != (report.Ending{Name: UnspecifiedReception, Ways: 4}) || r.Limited() != 6 {
		t.Errorf("passes %v, %s, %v, %d limited", r.Passes, r.Verdict, r.EndedBy, r.Limited())
	}
	text := r.Text(false)
	for _, want := range []string{
		"  ✓ both, sometimes: holds; reached in 4 steps\n",
		"  ✗~ robbed, sometimes: violated, as expected; no reachable configuration satisfies it as far as " +
			"was looked: not behind the 4 errors (unspecified-reception) above\n",
		"  ~ no-thief, always: holds as far as was looked: not behind the 4 errors (unspecified-reception) above\n",
		"  ~ can-end, reachable: holds as far as was looked: ",
		"  ~ fault: holds as far as", "  ~ overflow: holds as far as", "  ~ deadlock: holds as far as",
		"  ~ orphan-message: holds as far as",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"ended_by":[{"name":"unspecified-reception","ways":4}]`) ||
		strings.Count(string(b), `"not_behind_errors":true`) != 7 {
		t.Errorf("%v\n%s", err, b)
	}
}

// TestViolatedBehind: a claim about what follows that an error alone keeps from holding is not said
// to be violated for certain; one that is violated whatever comes behind the error is.
func TestViolatedBehind(t *testing.T) {
	text := suite(t, "testdata/behind/future.yaml", "stray").Text(false)
	for _, want := range []string{
		"  ✗~ answered, reachable: violated as far as was looked: not behind the error " +
			"(unspecified-reception) above, as expected\n",
		"✗ answered: from here a run can come to a.done || a.dead only behind an error, if at all\n",
		"  ✗ alive, reachable: violated, as expected\n",
		"✗ alive: from here no run can come to a.done\n",
		"  ✗~ ends, leadsTo: violated as far as was looked: not behind the error (unspecified-reception) " +
			"above, as expected\n",
		"  but for an error that is possible, behind which nothing was looked at\n",
		"  ✗ never, eventually: violated, as expected\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestNothingBehind: at a deadlock a run ends by itself, and where there is no error nothing is
// left out.
func TestNothingBehind(t *testing.T) {
	for _, c := range [][2]string{{"../../specs/ready/spec.yaml", "pair"}, {"testdata/faults/spec.yaml", "deadlock"}} {
		if r := suite(t, c[0], c[1]); len(r.EndedBy) > 0 || r.Limited() > 0 || strings.Contains(r.Text(false), "~") {
			t.Errorf("%s", r.Text(false))
		}
	}
}
