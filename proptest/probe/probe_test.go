package probe

import (
	"context"
	"testing"
	"time"
)

func options() Options {
	return Options{Seed: 1, Budget: 5 * time.Minute, Patience: time.Minute, Linger: 30 * time.Millisecond,
		Sessions: 110}
}

// patienceWith is for programs with a mistake. One that does hang is waited for in each session that shows it. Another
// has longer, since a computer that is busy must not make it look like one that hangs. One that is right has a minute.
func patienceWith(k Kind) time.Duration {
	if k == Hung {
		return time.Second
	}
	return 5 * time.Second
}

// TestHonestDatagrams: so does one that speaks UDP.
func TestHonestDatagrams(t *testing.T) {
	t.Parallel()
	p := load(t, "specs/confirm/spec.yaml")
	v := &server{p: p, seed: 1}
	r, err := Run(t.Context(), p, v.listenUDP(t), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("%s: %s\n%v\n%s", f.Kind, f.Why, f.Script, f.Run.Chart().Text())
	}
	if r.Transitions[0] < 12 || r.Hostile < 40 {
		t.Errorf("%v transitions, %d hostile sessions", r.Transitions, r.Hostile)
	}
}

// TestHonestServer: a program that keeps to its machine is right, and is covered.
func TestHonestServer(t *testing.T) {
	t.Parallel()
	p := load(t, "specs/confirm/spec.yaml")
	v := &server{p: p, seed: 1}
	r, err := Run(t.Context(), p, v.listen(t), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("%s: %s\n%v\n%s", f.Kind, f.Why, f.Script, f.Run.Chart().Text())
	}
	if r.Transitions[0] < 15 || r.Hostile < 40 {
		t.Errorf("%v transitions, %d hostile sessions", r.Transitions, r.Hostile)
	}
	t.Logf("%+v", r)
}

// TestInterrupted: who is interrupted has not used up a budget.
func TestInterrupted(t *testing.T) {
	p := load(t, "specs/confirm/spec.yaml")
	v := &server{p: p, seed: 1}
	address := v.listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	o.Progress = func(int, string) { cancel() }
	r, err := Run(ctx, p, address, o)
	if err != nil || r.Ended != "it was interrupted" {
		t.Errorf("%v, it ended since %q", err, r.Ended)
	}
	o.Budget, o.Progress = time.Nanosecond, nil
	r, err = Run(t.Context(), p, address, o)
	if err != nil || r.Ended != "the budget was used up" {
		t.Errorf("%v, it ended since %q", err, r.Ended)
	}
}
