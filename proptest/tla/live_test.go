package tla_test

import (
	"testing"

	"github.com/parley-go/parley/proptest/tla"
)

// runs is a module in which x becomes 1 by Go, or where y is 1 by Leap, while y turns.
const runs = `---- MODULE M ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\ y = 0
Go == x = 0 /\ x' = 1 /\ y' = y
Leap == x = 0 /\ y = 1 /\ x' = 1 /\ y' = y
Turn == x' = x /\ y' = 1 - y
Next == Go \/ Leap \/ Turn
Spec == Init /\ [][Next]_vars
Free ==
  /\ Spec
  /\ WF_vars(Turn)
Going ==
  /\ Spec
  /\ \A i \in 1..2 : WF_vars(i = 1 /\ Go)
Weak ==
  /\ Spec
  /\ WF_vars(Leap)
  /\ WF_vars(Turn)
Strong ==
  /\ Spec
  /\ SF_vars(Leap)
  /\ WF_vars(Turn)
Idle ==
  /\ Spec
  /\ SF_vars(Leap)
Ends == <>(x = 1)
Leads == (y = 1) ~> (x = 1)
Turns == (y = 0) ~> (y = 1)
====
`

// TestRuns: properties hold and fail as fairness says, weak and strong, and a run may stutter.
func TestRuns(t *testing.T) {
	spec, err := tla.Parse(runs)
	if err != nil {
		t.Fatal(err)
	}
	g, err := spec.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		spec, property string
		violated       bool
	}{
		{"Free", "Ends", true}, {"Free", "Turns", false}, {"Going", "Ends", false}, {"Going", "Turns", true},
		{"Weak", "Ends", true}, {"Weak", "Leads", true}, {"Strong", "Ends", false}, {"Strong", "Leads", false},
		{"Idle", "Ends", true}, {"Idle", "Leads", true}, {"Idle", "Turns", true},
	} {
		is, err := g.Violated(x.spec, x.property)
		if err != nil || is != x.violated {
			t.Errorf("%s, %s: violated: %v, %v", x.spec, x.property, is, err)
		}
	}
	if _, err := g.Violated("Free", "Init"); err == nil {
		t.Error("what is no property is evaluated")
	}
}
