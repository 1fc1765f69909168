package graph_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
)

const rewritten = `protocol: muster
parties: 4
consts: {n: 3}
types: {Seat: 0..2}
messages: {IN: {fields: {s: Seat}}, GO: {fields: {seats: {set: Seat}}}, NO: }
roles:
  host:
    vars: {seats: {map: Seat, of: instance}, ready: {set: instance}}
    commands: {begin: , stop: }
    initial: open
    states:
      open:
        IN:
          - {when: "(s in seats) == (s in [1, 2])", do: [{send: NO, to: sender}]}
          - {when: sender in ready && len(seats) < 2, do: [{set: {"seats[s]": sender}}]}
          - {when: "all(k in seats: seats[k] != self)", do: [{set: {ready: "with(ready, sender)"}}]}
          - do: [{send: NO, to: all}]
        begin: {do: [{send: "GO{seats: [k for k in seats]}", to: ready}], goto: off}
        stop: {do: [{close: , to: "minus(ready, [1])"}, {each: {k: seats}, do: [{send: NO, to: "1"}]}], goto: off}
      off: {IN: ignore}
  guest:
    vars: {seated: 0..2}
    commands: {sit: }
    initial: out
    states:
      out: {sit: {do: [{send: "IN{s: 1}", to: "0"}], goto: sat}, GO: ignore, NO: ignore}
      sat: {GO: ignore, NO: ignore}
checks:
  three:
    instances: {h: host, "g[1..n]": guest}
    claims:
      few: {always: "count(x in g: x.sat) <= 1 || len([x for x in g if x.sat && len(h.seats) > 0]) < 2 || h.off"}
      who: {sometimes: "first(x in g: x.sat) == none && all(x in g: x.out) && 1 in h.seats"}
`

// TestWords: pictures and claims have the words of the author where the compiler writes something
// out in others.
func TestWords(t *testing.T) {
	p, list := compile.Load("a.yaml", compile.Options{FS: fstest.MapFS{"a.yaml": {Data: []byte(rewritten)}}})
	if p == nil {
		t.Fatal(list)
	}
	picture := graph.Mermaid(p.Roles[0], graph.Options{Detail: graph.Everything, Unfold: true})
	picture = strings.NewReplacer("#58;", ":", "#60;", "<").Replace(picture)
	for _, want := range []string{
		"(s in seats) == (s in [1, 2])", "sender in ready && len(seats) < 2", "all(k in seats: seats[k] != self)",
		"send GO{seats: [k for k in seats]} to ready", "close minus(ready, [1])", "for each k: send NO to 1",
		"send NO to sender", "send NO to all",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture does not say %s", want)
		}
	}
	for _, other := range []string{"for each peer", "none", "contains"} {
		if strings.Contains(picture, other) {
			t.Errorf("the picture says %s", other)
		}
	}
	if t.Failed() {
		t.Log(picture)
	}
	var body []string
	for _, h := range p.Roles[0].States[0].Handlers {
		if h != nil {
			body = append(body, model.StmtsString(h.Branches[0].Body))
		}
	}
	if text := strings.Join(body, "\n"); !strings.Contains(text,
		"{each: {k: seats}, do: [{send: NO, to: 1}]}") || !strings.Contains(text, "{close: minus(ready, [1])}") {
		t.Errorf("statements read\n%s", text)
	}
	for i, want := range []string{
		"count(x in g: x.sat) <= 1 || len([x for x in g if x.sat && len(h.seats) > 0]) < 2 || h.off",
		"first(x in g: x.sat) == none && all(x in g: x.out) && 1 in h.seats",
	} {
		e := p.Checks[0].Claims[i].Expr
		if got := model.ExprString(e); got != want {
			t.Errorf("claim %d reads %s", i, got)
		}
		if meant := model.MeaningString(e); !strings.Contains(meant, "g[2].sat") || !strings.Contains(meant, "seats[") {
			t.Errorf("what claim %d means is %s", i, meant)
		}
	}
}
