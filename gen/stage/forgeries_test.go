package stage_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
)

// forged has a field of each kind of type, all of them small.
const forged = `protocol: forged
types:
  Color: {enum: [red, green, blue]}
  Small: -1..1
  Pair: {record: {color: Color, flag: bool}}
messages:
  A: {}
  B: {fields: {n: Small, c: Color}}
  C: {fields: {p: Pair, o: "Small?"}}
  D: {fields: {l: {list: Color, max: 2}}}
  E: {fields: {s: {set: Color}, a: {array: Color, of: bool}}}
  F: {fields: {n: 0..99}}
roles:
  peer:
    commands: {go: {}}
    initial: idle
    states:
      idle: {final: true, go: {send: A}, ignore: [A, B, C, D, E], F: {when: n == 7}}
checks:
  pair:
    instances: {a: peer, b: peer}
    hostile: b
    claims: {rests: {always: a.idle}}
`

// values counts the values of a type from what the types say, and shares nothing with what lists them.
func values(t *model.Type) int {
	switch t.Kind {
	case model.KindRecord:
		n := 1
		for _, f := range t.Fields {
			n *= values(f.Type)
		}
		return n
	case model.KindOptional:
		return 1 + values(t.Elem)
	case model.KindArray:
		n := 1
		for range int(t.Index.Count()) {
			n *= values(t.Elem)
		}
		return n
	case model.KindList:
		n, all := 1, 0
		for range t.Cap + 1 {
			all, n = all+n, n*values(t.Elem)
		}
		return all
	case model.KindSet:
		return 1 << values(t.Elem)
	}
	return int(t.Count())
}

// TestForgeries: of messages with few values a hostile instance sends each one, once; of others those that
// are compared with, the ends, and what is next to them, and it says what is left out.
func TestForgeries(t *testing.T) {
	p, list := compile.Load("spec.yaml", compile.Options{Check: "pair",
		FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(forged)}}})
	if p == nil {
		t.Fatal(list)
	}
	c := p.Checks[0]
	all, left, err := stage.NewHostile(p, c).Forgeries(c.Instances[1], c.Instances[0])
	if err != nil {
		t.Fatal(err)
	}
	got, seen := map[string]int{}, map[string]bool{}
	var numbers []int64
	for _, f := range all {
		if text := fmt.Sprint(f.Message.Name, f.Slots); seen[text] {
			t.Errorf("%s comes twice", text)
		} else {
			seen[text] = true
		}
		got[f.Message.Name]++
		if f.Message.Name == "F" {
			numbers = append(numbers, f.Slots[0])
		}
	}
	for _, m := range p.Messages[:5] {
		if want := values(&model.Type{Kind: model.KindRecord, Fields: m.Fields}); got[m.Name] != want {
			t.Errorf("%s has %d values, and %d are sent", m.Name, want, got[m.Name])
		}
	}
	if want := []int64{0, 6, 7, 8, 99}; !slices.Equal(numbers, want) {
		t.Errorf("F with %v, not %v", numbers, want)
	}
	if want := []string{"F with n only 0 6 7 8 99"}; !slices.Equal(left, want) {
		t.Errorf("left out is %q, not %q", left, want)
	}
}
