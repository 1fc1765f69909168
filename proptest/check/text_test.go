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
	r, list, err := Suite(context.Background(), file, Config{Only: check})
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
