package fsm

import "testing"

func TestResultString(t *testing.T) {
	for r, want := range map[Result]string{
		{Took, 0}:               "took, transition 0",
		{Ignored, 10}:           "ignored, transition 10",
		{Deferred, 65534}:       "deferred, transition 65534",
		{Refused, 7}:            "refused, transition 7",
		{Refused, NoTransition}: "refused",
		{NotRun, NoTransition}:  "not run",
		{Code(9), NoTransition}: "invalid",
	} {
		if got := r.String(); got != want {
			t.Errorf("%d %d is %q, not %q", r.Code, r.Transition, got, want)
		}
	}
}
