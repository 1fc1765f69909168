package probe

import (
	"testing"
	"time"
)

func options() Options {
	return Options{Seed: 1, Budget: 5 * time.Minute, Patience: time.Minute, Linger: 30 * time.Millisecond,
		Sessions: 110}
}

// TestHonestDatagrams: so does one that speaks UDP.
func TestHonestDatagrams(t *testing.T) {
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
