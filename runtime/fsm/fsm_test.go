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

func TestName(t *testing.T) {
	for _, x := range []struct {
		names []string
		i     int
		want  string
	}{
		{[]string{"a", "b"}, 1, "b"},
		{[]string{"a", "b"}, 2, "invalid"},
		{[]string{"a", "invalid"}, 2, "(invalid)"},
	} {
		if got := Name(x.names, x.i); got != x.want {
			t.Errorf("Name(%q, %d) = %q, not %q", x.names, x.i, got, x.want)
		}
	}
	if s := StopTimer.String() + Close.String(); s != "stopclose" {
		t.Error(s)
	}
}

func TestRefusal(t *testing.T) {
	table := [][]uint16{1: {0, 7}}
	for _, x := range []struct {
		state, event int
		want         Refusal
	}{
		{1, 1, Refusal{Reason: Unguarded, Branch: 6}},
		{1, 0, Refusal{Branch: NoTransition}},
		{1, 2, Refusal{Branch: NoTransition}},
		{0, 0, Refusal{Branch: NoTransition}},
		{9, 0, Refusal{Branch: NoTransition}},
	} {
		if got := Handled(table, x.state, x.event); got != x.want {
			t.Errorf("Handled(%d, %d) = %v", x.state, x.event, got)
		}
	}
	why := Handled(table, 1, 1)
	why.Outside(false, "first", "0..1")
	why.Outside(true, "second", "0..2")
	why.Outside(true, "third", "0..3")
	if want := (Refusal{Reason: OutOfRange, Branch: NoTransition, Field: "second", Type: "0..2"}); why != want {
		t.Errorf("%v, not %v", why, want)
	}
}
