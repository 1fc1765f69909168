package reduce

import (
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
)

// TestPartOfVariable: what is assigned in part keeps the rest, so it is alive before; what is
// assigned as a whole is not.
func TestPartOfVariable(t *testing.T) {
	const spec = `
protocol: kept
types: {Grid: {array: bool, of: bool}}
messages: {A: }
roles:
  peer:
    vars: {part: Grid, whole: bool}
    commands: {put: {fields: {v: bool}}, go: }
    initial: begun
    states:
      begun:
        put: {set: {"part[true]": v, whole: v}, goto: full}
        A: ignore
      full:
        go:
          - {when: "part[false] && whole", goto: begun}
          - {goto: begun}
        A: ignore
checks:
  pair:
    instances: {a: peer, b: peer}
`
	p, list := compile.Load("x.yaml", compile.Options{FS: fstest.MapFS{"x.yaml": {Data: []byte(spec)}}})
	if p == nil {
		t.Fatal(list)
	}
	dead, why := FindDead(p.Checks[0])
	m := p.Roles[0]
	for i, want := range []bool{false, true} {
		if got := dead.Is(m, int64(m.Initial.Index), m.Vars[i]); got != want {
			t.Errorf("%s is dead in begun: %t; %s", m.Vars[i].Name, got, why)
		}
	}
}
