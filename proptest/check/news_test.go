package check

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/explore"
)

// TestNewsInClaims sees that news of a link counts in `empty` and is no message for `len`.
func TestNewsInClaims(t *testing.T) {
	const text = `protocol: w
messages: {A: , X: }
roles:
  closer: {commands: {off: }, initial: s, states: {s: {off: {close: , goto: shut}, X: ignore, lost: ignore}, shut: {doc: the end, final: true}}}
  hearer: {commands: {say: }, initial: s, states: {s: {say: {when: "false", send: X}, A: ignore, lost: {goto: alone}}, alone: {final: true, A: ignore}}}
checks:
  c:
    instances: {a: closer, b: hearer}
    quiet: "true"
    expect: [told, all]
    claims:
      none:  {always: len(a -> b) == 0, why: nothing is sent}
      any:   {always: len() == 0, why: nothing is sent}
      few:   {always: len(a -> b) < 1, why: nothing is sent}
      told:  {always: empty(a -> b), why: but for the news that the link is closed}
      all:   {always: empty(), why: but for the news that the link is closed}
      back:  {always: empty(b -> a), why: which goes one way}
      heard: {always: a.shut && empty() => b.alone, why: who is told has heard it}
`
	p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}, Check: "c"})
	if p == nil {
		t.Fatal(list)
	}
	s, err := New(p, p.Checks[0])
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Run(t.Context(), explore.Options{}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Claims {
		if c.Name != "told" && c.Name != "all" {
			if c.Counterexample != nil {
				t.Errorf("%s is said to be violated", c.Name)
			}
			continue
		}
		if c.Counterexample == nil {
			t.Errorf("%s is said to hold", c.Name)
		} else if text := c.Counterexample.Text(); !strings.Contains(text, "empty(") {
			t.Errorf("%s: the run does not say that the channel is not empty:\n%s", c.Name, text)
		}
	}
}
