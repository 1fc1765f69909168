package compile

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

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
		return p.Hash
	}
	const text = "protocol: one\nroles: {peer: {initial: a, states: {a: {final: true}}}}\n"
	const same = "# a comment\nprotocol: 'one'\nroles:\n  peer:\n    initial: a\n    states: {a: {final: true}}\n"
	const other = "protocol: one\nroles: {peer: {initial: a, states: {a: {final: false}}}}\n"
	if len(hash("x.yaml", text)) != 64 || hash("x.yaml", text) != hash("y/z.yaml", same) {
		t.Error("equal specifications have different hashes")
	}
	if hash("x.yaml", text) == hash("x.yaml", other) {
		t.Error("different specifications have the same hash")
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
		"Value": func(t *model.Type) bool { return t.Kind == model.KindOpaque && t.Hi == 2 && t.Bits == 8 },
		"Item":  func(t *model.Type) bool { return t.Lo == 1 && t.Hi == 2 },
		"Ship": func(t *model.Type) bool {
			return reflect.DeepEqual(t.Names, []string{"orz", "vux"}) && reflect.DeepEqual(t.Codes, []int64{0, 1})
		},
		"Name": func(t *model.Type) bool { return t.Kind == model.KindBytes && t.Hi == 1 && t.Cap == 8 },
	}
	for _, ty := range p.Types {
		if ok := want[ty.Name]; ok != nil && !ok(ty) {
			t.Errorf("type %s: %+v", ty.Name, ty)
		}
	}
	if len(p.Checks) != 1 || p.Checks[0].Name != "good" {
		t.Errorf("checks: %v", p.Checks)
	}
}
