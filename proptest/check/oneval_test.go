package check

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/explore"
)

const carriers = `protocol: carriers
types: {Name: {type: text 20}, Pair: {record: {name: Name, n: 0..1}}}
messages: {S: {fields: {p: Pair}}}
roles:
  a:
    vars: {mine: Pair, x: opaque}
    commands: {go: {fields: {p: Pair}}}
    initial: i
    states:
      i: {final: true, go: {set: {mine: p}, send: "S{p}", goto: d}, S: {set: {mine: p}}}
      d: {final: true, S: ignore}
checks:
  one:
    instances: {p: a, q: a}
    claims:
      names: {agree: [p.mine.name, q.mine.name]}
      pairs: {always: "p.i && q.i => p.mine == q.mine"}
      opaque: {always: p.x == q.x}
      numbers: {always: p.mine.n <= 1}
`

// TestOneValue: what holds because there is one value is not called true of all.
func TestOneValue(t *testing.T) {
	for _, x := range []struct{ add, names, opaque string }{
		{"", "values of Name, of which there is one in this check: nothing", "values of opaque, of which"},
		{"    domains: {Name: 0..1}\n    expect: [names]\n", "", "values of opaque, of which"},
	} {
		r, err := suiteSystem(t, carriers+x.add).Run(context.Background(), explore.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"names": x.names, "pairs": x.names, "opaque": x.opaque}
		for _, c := range r.Claims {
			if text := want[c.Name]; !strings.Contains(c.Note, text) || text == "" && strings.Contains(c.Note, "one") {
				t.Errorf("%s: %q, want %q", c.Name, c.Note, text)
			}
		}
	}
}
