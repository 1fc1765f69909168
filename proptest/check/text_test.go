package check

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/proptest/explore"
)

func suite(t *testing.T, file, check string) *Report {
	t.Helper()
	r, list, err := Suite(context.Background(), file, Config{Only: Only{check}})
	if err != nil || r == nil || len(r.Checks) != 1 {
		t.Fatal(err, list)
	}
	return r.Checks[0]
}

// TestFaultyStepKeepsState: a step that is an error shows the state before it, in the list and in
// the chart.
func TestFaultyStepKeepsState(t *testing.T) {
	r := suite(t, "testdata/faults/spec.yaml", "overflow")
	for _, c := range r.Claims {
		if c.Name != Overflow {
			continue
		}
		last := c.Counterexample.Steps[len(c.Counterexample.Steps)-1]
		chart := c.Counterexample.Chart()
		if last.State != "idle" || len(last.Effects) > 0 || last.Fault == "" || last.Where == "" {
			t.Errorf("%+v", last)
		}
		if drawn := chart.Steps[len(chart.Steps)-1]; drawn.State != "idle" || len(drawn.Sends) > 0 {
			t.Errorf("%+v", drawn)
		}
	}
}

// TestOtherWays: each other way is one line, or all of it; causes come first.
func TestOtherWays(t *testing.T) {
	r := suite(t, "../../specs/confirm/coded.yaml", "pair")
	brief, full := r.Text(false), r.TextAll(false)
	if !strings.Contains(brief, "in 2 different ways") ||
		strings.Count(brief, " in done (spec.yaml:") != 1 ||
		!strings.Contains(brief, "after 6 steps: state done does not mention CANCEL\n") {
		t.Errorf("%s", brief)
	}
	if strings.Contains(full, "the other ways") || !strings.Contains(full, "\n      way 2 of 2\n") ||
		strings.Count(full, "✗ unspecified-reception: ") < 3 {
		t.Errorf("%s", full)
	}
	cause, claim := strings.Index(brief, "✗ unspecified-reception: violated"),
		strings.Index(brief, "✗~ can-end, reachable: violated")
	if cause < 0 || claim < 0 || cause > claim || r.Claims[len(r.Claims)-1].Kind != "built-in" {
		t.Errorf("causes do not come first: %d, %d", cause, claim)
	}
}

// TestNoChecks: nothing was verified, and the verdict says so.
func TestNoChecks(t *testing.T) {
	r, _, err := Suite(context.Background(), "testdata/never/part.yaml", Config{})
	if err != nil || r.Verdict != Unchecked || r.Checks == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLostIsDrawn: a message that finds its channel full is lost in the charts too.
func TestLostIsDrawn(t *testing.T) {
	const text = `protocol: full
messages: {A: }
channel: {capacity: 1, full: lose}
roles:
  peer: {vars: {n: 0..2}, commands: {go: }, initial: a, states: {a: {go: {when: n < 2, set: {n: n + 1}, send: A}, A: ignore}}}
checks:
  pair:
    instances: {x: peer, y: peer}
    claims: {two: {always: x.n < 2}}
    quiet: "true"
`
	p, list := compile.Load("a.yaml", compile.Options{Check: "pair", FS: fstest.MapFS{"a.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Claims {
		if c.Name != "two" {
			continue
		}
		chart := c.Counterexample.Chart()
		for name, drawn := range map[string]string{"text": chart.Text(), "SVG": graph.ChartSVG(chart),
			"Mermaid": strings.ReplaceAll(graph.ChartMermaid(chart), "#58;", ":")} {
			if !strings.Contains(drawn, "✗ A is lost: x -&gt; y is full") &&
				!strings.Contains(strings.ReplaceAll(drawn, "#62;", ">"), "✗ A is lost: x -> y is full") {
				t.Errorf("the %s does not say what is lost:\n%s", name, drawn)
			}
		}
	}
}

// drawn is the chart of the counterexample of claim `two` of a specification.
func drawn(t *testing.T, text string) string {
	t.Helper()
	p, list := compile.Load("a.yaml", compile.Options{FS: fstest.MapFS{"a.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), explore.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Claims {
		if c.Name == "two" && c.Counterexample != nil {
			return c.Counterexample.Chart().Text()
		}
	}
	t.Fatal("there is no counterexample")
	return ""
}

// TestCutOffIsDrawn: what a partition keeps away is not said to have found its channel full.
func TestCutOffIsDrawn(t *testing.T) {
	text := drawn(t, `protocol: parted
messages: {A: }
roles:
  peer: {commands: {go: }, initial: a, states: {a: {go: {send: A, goto: b}}, b: {}}}
  other: {initial: a, states: {a: {A: {goto: b}}, b: {A: ignore}}}
checks:
  pair:
    instances: {x: peer, y: other}
    faults: {partition: 1}
    claims: {two: {always: "!(x.b && y.a && empty())"}}
    quiet: "true"
`)
	if !strings.Contains(text, "✗ A is lost: x is cut off from y") {
		t.Errorf("the chart does not say what is lost:\n%s", text)
	}
}

// TestSwallowedIsDrawn: a partition takes a datagram that is under way, which a run tells as lost.
func TestSwallowedIsDrawn(t *testing.T) {
	text := drawn(t, `protocol: parted
messages: {A: , B: }
roles:
  peer: {commands: {go: }, initial: a, states: {a: {go: {do: [{send: A}, {send: B}], goto: b}}, b: {}}}
  other: {initial: a, states: {a: {A: {goto: b}, B: ignore}, b: {B: {goto: c}}, c: {}}}
checks:
  pair:
    instances: {x: peer, y: other}
    faults: {partition: 1}
    claims: {two: {always: "!(x.b && y.b && empty())"}}
    quiet: "true"
`)
	if !strings.Contains(text, "✗ B (#2) is lost") {
		t.Errorf("the chart does not say what is lost:\n%s", text)
	}
}

// TestTornWhereFull: in a step that is cut, what found no room does not hide what was sent after it.
func TestTornWhereFull(t *testing.T) {
	text := drawn(t, `protocol: torn
messages: {A: , B: }
channel: {capacity: 1, full: lose, order: any}
roles:
  peer: {commands: {go: }, reports: {begun: }, initial: a, states: {a: {go: {do: [{report: begun}, {send: A, to: 1}, {send: B, to: 1}, {send: A, to: 2}, {send: B, to: 2}], goto: b}}, b: {}}}
  other: {initial: a, states: {a: {"A, B": {goto: b}}, b: {"A, B": ignore}}}
checks:
  pair:
    instances: {x: peer, y: other, z: other}
    faults: {crash: {x: 1}}
    claims: {two: {always: "!(x.down && z.b)"}}
    quiet: "true"
`)
	for _, want := range []string{"✗ B is lost: x -> y is full", "→ A (#2)", "← A (#2)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the chart does not say %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "reports") {
		t.Errorf("the program sees a report of the step in which it crashed:\n%s", text)
	}
}
