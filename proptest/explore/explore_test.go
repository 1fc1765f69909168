package explore

import "context"

// failer is the part of testing.TB that rapid has, too.
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
