package stage_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
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
	all, left, err := stage.NewHostile(p, c, &interp.Strings{}).Forgeries(c.Instances[1], c.Instances[0])
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

// TestForgedTexts: beside the texts of the domain, those that machines name are sent, if the field takes them.
func TestForgedTexts(t *testing.T) {
	p, list := compile.Load("spec.yaml", compile.Options{Check: "pair", FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{
		Data: []byte(`protocol: named
types: {Name: text 4, Deep: {record: {name: Name, flag: bool}}}
messages: {A: {fields: {x: Name}}, B: {fields: {x: Deep}}}
roles:
  peer:
    vars: {long: text 20}
    initial: idle
    states:
      idle:
        A: [{when: "x == 'root'"}, {when: "long == 'administrator'"}, {when: "x == 'a'"}, {}]
        B: {}
  other: {commands: {go: }, initial: a, states: {a: {go: {send: "A{x: 'b'}"}}}}
checks:
  pair:
    instances: {a: peer, b: other}
    hostile: b
    domains: {Name: 0..1}
    claims: {rests: {always: a.idle}}
`)}}})
	if p == nil {
		t.Fatal(list)
	}
	strs := &interp.Strings{}
	strs.InternDomains(p)
	c := p.Checks[0]
	all, left, err := stage.NewHostile(p, c, strs).Forgeries(c.Instances[1], c.Instances[0])
	if err != nil || len(left) > 0 {
		t.Fatal(err, left)
	}
	var got []string
	for _, f := range all {
		got = append(got, string(interp.AppendMessage(nil, strs, f.Message, f.Slots)))
	}
	want := []string{`A{x: ""}`, `A{x: "a"}`, `A{x: "root"}`, `B{x: {name: "", flag: false}}`,
		`B{x: {name: "", flag: true}}`, `B{x: {name: "a", flag: false}}`, `B{x: {name: "a", flag: true}}`,
		`B{x: {name: "root", flag: false}}`, `B{x: {name: "root", flag: true}}`}
	if !slices.Equal(got, want) {
		t.Errorf("sent is %q", got)
	}
}
