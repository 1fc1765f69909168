package compile

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// specFiles are the specifications that come with Parley.
func specFiles(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("../../specs")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		if e.IsDir() {
			files = append(files, "../../specs/"+e.Name()+"/spec.yaml")
		}
	}
	return files
}

// TestSameModel loads each specification twice: everything must be equal, in depth.
func TestSameModel(t *testing.T) {
	for _, f := range append(specFiles(t), "testdata/kitchen/spec.yaml") {
		p, l := Load(f, Options{})
		q, m := Load(f, Options{})
		if p == nil && strings.Contains(f, "kitchen") {
			t.Errorf("%s", l.Error())
		}
		if !reflect.DeepEqual(l, m) {
			t.Errorf("%s: two loads say different things:\n%s\n%s", f, l.Error(), m.Error())
		}
		if !reflect.DeepEqual(p, q) {
			t.Errorf("%s: two loads give different models", f)
		}
	}
}

// TestHash: layout, comments and the files' names do not count, everything else does.
func TestHash(t *testing.T) {
	hash := func(name, text string) string {
		p, l := Load(name, Options{FS: fstest.MapFS{name: {Data: []byte(text)}}})
		if p == nil {
			t.Fatal(l.Error())
		}
		return p.Hash + p.Text
	}
	const text = "protocol: one\nroles: {peer: {initial: a, states: {a: {final: true}}}}\n"
	const same = "# a comment\nprotocol: 'one'\nroles:\n  peer:\n    initial: a\n    states: {a: {final: true}}\n"
	const other = "protocol: one\nroles: {peer: {initial: a, states: {a: {final: false}}}}\n"
	if len(hash("x.yaml", text)) != 128 || hash("x.yaml", text) != hash("y/z.yaml", same) {
		t.Error("equal specifications have different hashes")
	}
	if hash("x.yaml", text) == hash("x.yaml", other) {
		t.Error("different specifications have the same hash")
	}
}

// TestHashOfFamily: where the files of a specification lie does not count, what they say does.
func TestHashOfFamily(t *testing.T) {
	hash := func(baseName, doc string) string {
		p, l := Load("a/x.yaml", Options{FS: fstest.MapFS{
			"a/x.yaml": {Data: []byte("protocol: one\nextends: " + baseName + "\nimport: {b: " + baseName +
				"}\n")},
			"a/" + baseName: {Data: []byte("protocol: two\ndoc: " + doc +
				"\nroles: {peer: {initial: a, states: {a: {}}}}\n")},
		}})
		if p == nil {
			t.Fatal(l.Error())
		}
		return p.Text
	}
	if hash("b.yaml", "x") != hash("c.yaml", "x") {
		t.Error("renaming a file changes the hash")
	}
	if hash("b.yaml", "x") == hash("b.yaml", "y") {
		t.Error("what an extended file says does not count")
	}
}

// TestHashOfMachines: checks and docs change the hash of the text and not that of the machines;
// everything that the machines depend on changes both, in imported files too.
func TestHashOfMachines(t *testing.T) {
	const text = `protocol: one
doc: a
source: b
import: {part: part.yaml}
consts: {n: 2}
types: {Doc: 0..n}
messages:
  M: {doc: c, fields: {doc: Doc}}
  N:
roles:
  peer:
    vars: {v: Doc}
    initial: a
    states:
      a: {doc: d, M: {doc: e, set: {v: doc}, report: told}, final: true}
    reports: {told: {doc: f}}
    parts: {p: {machine: part.peer}}
checks: {pair: {instances: {a: peer, b: peer}, claims: {x: {sometimes: a.a, why: g}}}}
`
	const part = "protocol: part\nroles: {peer: {initial: a, states: {a: {final: true}}}}\n"
	load := func(from, to string) *model.Protocol {
		fs := fstest.MapFS{}
		for name, old := range map[string]string{"x.yaml": text, "part.yaml": part} {
			fs[name] = &fstest.MapFile{Data: []byte(strings.Replace(old, from, to, 1))}
		}
		p, l := Load("x.yaml", Options{FS: fs})
		if p == nil {
			t.Fatalf("%s → %s: %s", from, to, l.Error())
		}
		return p
	}
	was := load("", "")
	for _, c := range [][2]string{
		{"doc: a", "doc: other"}, {"source: b", "source: other"}, {"doc: c, ", ""},
		{"doc: d, ", ""}, {"doc: e", "doc: other"},
		{"{doc: f}", ""}, {"why: g", "why: other"}, {"sometimes: a.a", "always: a.a"},
		{"N:", "N: {doc: more}"}, {"n: 2", "n: {value: 2, doc: more}"},
		{"v: Doc", "v: {type: Doc, doc: more}"}, {"part\nroles", "part\ndoc: more\nroles"},
		{"checks: {pair", "checks: {two"},
	} {
		if p := load(c[0], c[1]); p.Hash != was.Hash || p.Text == was.Text {
			t.Errorf("%s → %s: machines the same: %v, text the same: %v", c[0], c[1],
				p.Hash == was.Hash, p.Text == was.Text)
		}
	}
	for _, c := range [][2]string{
		{"n: 2", "n: 3"}, {"doc: Doc", "doc: 0..n"}, {"set: {v: doc}, ", ""},
		{"final: true}\n ", "final: false}\n "}, {"N:", "N: {fields: {n: Doc}}"},
		{"final: true}}}", "final: false}}}"}, {"v: Doc", "v: {type: Doc, init: 1}"},
		{"initial: a\n    states", "initial: a\n    common: []\n    states"},
	} {
		if p := load(c[0], c[1]); p.Hash == was.Hash || p.Text == was.Text {
			t.Errorf("%s → %s: machines the same: %v, text the same: %v", c[0], c[1],
				p.Hash == was.Hash, p.Text == was.Text)
		}
	}
}

// TestFrames: loops one after the other share their slots, nested ones do not.
func TestFrames(t *testing.T) {
	const text = `protocol: frames
types: {N: 0..2}
messages: {A: {fields: {n: N}}}
roles:
  peer:
    initial: a
    states:
      a:
        A:
          when: "all(x in N: x == n) || some(y in N: all(z in N: z == y))"
          do:
            - {each: {i: N}, do: [{each: {j: N}, do: [{send: "A{n: i}"}]}]}
            - {each: {k: N}, do: [{send: "A{n: k}"}]}
`
	p, l := Load("x.yaml", Options{FS: fstest.MapFS{"x.yaml": {Data: []byte(text)}}})
	if p == nil {
		t.Fatal(l.Error())
	}
	tr := p.Roles[0].Transitions[0]
	outer, last := tr.Body[0].(*model.Each), tr.Body[1].(*model.Each)
	inner := outer.Body[0].(*model.Each)
	if tr.Params[0].Offset != 0 || outer.Local.Offset != 1 || inner.Local.Offset != 2 ||
		last.Local.Offset != 1 || tr.Locals != 3 {
		t.Errorf("offsets %d %d %d, frame of %d", outer.Local.Offset, inner.Local.Offset,
			last.Local.Offset, tr.Locals)
	}
}

// TestHints: what is said beside the message.
func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		"roles: {peer: {states: {busy: {HELLO: {goot: idle}}}}}": "did you mean `goto`?",
		"roles: {peer: {goto: idle}}": "`goto` belongs in what a state " +
			"does with an event or a branch",
		"roles: {peer: {states: {busy: {HELO: ignore}}}}":               "did you mean `HELLO`?",
		"roles: {peer: {states: {busy: {HELLO: {send: DATTA}}}}}":       "did you mean `DATA`?",
		"roles: {peer: {states: {busy: {HELLO: {when: totl == 1}}}}}":   "did you mean `total`?",
		"roles: {peer: {states: {busy: {HELLO: {set: {busy: true}}}}}}": "states change by `goto`",
		"checks: {pair: {claims: {ends: {sometimes: a.doen}}}}":         "did you mean `done`?",
		"types: {Extra: Colour}":                                        "did you mean `Color`?",
		"roles: {peer: {states: {busy: {HELLO: {when: a{b}}}}}}":        "write `when: \"a{b}\"`",
	} {
		_, l := Load("x.yaml", Options{FS: fstest.MapFS{"base.yaml": {Data: []byte(diag.Base)},
			"x.yaml": {Data: []byte("protocol: x\nextends: base.yaml\n" + text + "\n")}}})
		if !l.HasErrors() {
			t.Errorf("%s: no error", text)
			continue
		}
		if got := l.Errors()[0].Hint; got != want {
			t.Errorf("%s: %s\nhint %q, want %q", text, l.Errors()[0], got, want)
		}
	}
}

// TestSpecialised looks at what a check's constants and domains do to the model.
func TestSpecialised(t *testing.T) {
	const file = "testdata/errors/domains.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, l := Load(file, Options{Check: "good"})
	if len(l) > 0 {
		t.Fatalf("findings in the check that is right:\n%s\n%s", l.Error(), text)
	}
	p, _ := Load(file, Options{Check: "good"})
	want := map[string]func(*model.Type) bool{
		"Value": func(t *model.Type) bool {
			return t.Kind == model.KindOpaque && t.Hi == 2 && t.Bits == 8
		},
		"Item": func(t *model.Type) bool { return t.Lo == 1 && t.Hi == 2 },
		"Ship": func(t *model.Type) bool {
			return reflect.DeepEqual(t.Names, []string{"orz", "vux"}) &&
				reflect.DeepEqual(t.Codes, []int64{0, 1})
		},
		"Name": func(t *model.Type) bool { return t.Kind == model.KindBytes && t.Hi == 1 && t.Cap == 8 },
	}
	for _, ty := range p.Types {
		if ok := want[ty.Name]; ok != nil && !ok(ty) {
			t.Errorf("type %s: %+v", ty.Name, ty)
		}
	}
	q, _ := Load(file, Options{Check: "good", Consts: map[string]int64{"most": 7}})
	if q == nil || q.Consts[0].Value != 7 {
		t.Error("a constant was not replaced")
	}
	if len(p.Checks) != 1 || p.Checks[0].Name != "good" {
		t.Errorf("checks: %v", p.Checks)
	}
}
