package tla_test

import (
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	export "github.com/parley-go/parley/gen/export/tla"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// written are small protocols of what random ones seldom have.
var written = map[string]string{
	"partition": `protocol: parted
messages: {A: }
channel: {capacity: 2, full: lose}
roles:
  peer:
    vars: {n: 0..2}
    commands: {go: }
    initial: s0
    states: {s0: {go: {send: A}, A: {set: {n: "min(n + 1, 2)"}}}}
checks:
  pair: {instances: {a: peer, b: peer}, environment: {go: {times: 1}}, faults: {partition: 1}, quiet: "true",
	claims: {got: {sometimes: a.n == 1}}}
`,
	"within": `protocol: within
tick: 1s
messages: {A: }
channel: {capacity: 1, full: lose}
roles:
  peer:
    timers: {one: {ticks: 2}, two: {ticks: 3}}
    commands: {go: }
    initial: s0
    states:
      s0: {go: {send: A, start: one, goto: s1}, A: {start: two, goto: s1}}
      s1: {one: {goto: s2}, two: {goto: s2}, A: ignore}
      s2: {A: ignore}
checks:
  pair:
    instances: {a: peer, b: peer}
    environment: {go: {times: 1}}
    time: {beat: 1, delay: 1}
    faults: {crash: {b: 1}}
    quiet: "true"
    claims:
      soon: {leadsTo: a.s2 && b.s2 || b.down, when: a.s1 && b.s1, within: 3}
      sooner: {leadsTo: a.s2 && b.s2 || b.down, when: a.s1 && b.s1, within: 5}
      alone: {leadsTo: a.s2, when: a.s1, within: 3}
`,
	"reports": `protocol: reports
messages: {A: }
roles:
  inner:
    commands: {poke: }
    reports: {one: , two: }
    initial: p0
    states: {p0: {poke: {do: [{report: one}, {report: two}]}}}
  peer:
    vars: {l: {list: 0..1, max: 4}}
    commands: {go: }
    parts: {q: {machine: inner}}
    initial: s0
    states:
      s0:
        go: {do: [{send: A}, {run: q.poke}]}
        A: ignore
        q.one: {set: {l: "append(l, 0)"}}
        q.two: {set: {l: "append(l, 1)"}}
checks:
  pair:
    instances: {a: peer, b: peer}
    environment: {go: {times: 2}}
    quiet: "true"
    claims: {order: {sometimes: "len(a.l) == 2 && first(a.l) == 0"}}
`,
}

// TestWritten: modules of protocols written for what random ones seldom have, partitions, bounds in
// ticks and several reports of a part in one step, have the configurations of the checker.
func TestWritten(t *testing.T) {
	for name, text := range written {
		p, list := compile.Load("spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}},
			Check: "pair"})
		if p == nil {
			t.Fatalf("%s: %v", name, list)
		}
		sys, err := check.New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		first, err := sys.Run(t.Context(), explore.Options{KeepGoing: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		files, err := export.Export(p, p.Checks[0], "Model")
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, first, files)
	}
}
