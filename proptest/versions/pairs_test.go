package versions

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/parley-go/parley/gen/model"
)

// change is one place of a specification, and what stands there in the other version.
type change struct{ from, to string }

// changed is a file of testdata with some places changed, in a tree of its own.
func changed(t *testing.T, file string, list []change) Source {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	for _, c := range list {
		if strings.Count(s, c.from) != 1 {
			t.Fatalf("%s has %q %d times", file, c.from, strings.Count(s, c.from))
		}
		s = strings.Replace(s, c.from, c.to, 1)
	}
	return Source{FS: fstest.MapFS{file: {Data: []byte(s)}}, Path: file}
}

// known is a pair of versions with a known answer.
type known struct {
	file, verdict string
	list          []change // what the new version has in another way than the file
	said, never   []string // in the report
}

// readPair reads one from testdata/pairs: the file and what the pair is about, the verdict, and then sections: each
// `old` with the `new` that stands in its place, `said` and `not said` with lines of the report. A line of old or
// new that ends with a backslash ends without a line feed.
func readPair(t *testing.T, path string) (p known) {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := strings.Split(string(a.Comment), "\n")
	p.file, _, _ = strings.Cut(head[0], ":")
	p.verdict = head[1]
	for _, f := range a.Files {
		text := strings.ReplaceAll(string(f.Data), "\\\n", "")
		switch f.Name {
		case "old":
			p.list = append(p.list, change{from: text})
		case "new":
			p.list[len(p.list)-1].to = text
		case "said":
			p.said = strings.Split(strings.TrimSpace(text), "\n")
		case "not said":
			p.never = strings.Split(strings.TrimSpace(text), "\n")
		default:
			t.Fatalf("%s: section %s", path, f.Name)
		}
	}
	return p
}

// TestPairs holds versions with a known answer against what is said of them. What is the same is the same from new to
// old, too, and so is what is compatible: the same pairs are mixed.
func TestPairs(t *testing.T) {
	paths, err := filepath.Glob("testdata/pairs/*.txt")
	if err != nil || len(paths) < 30 {
		t.Fatal(paths, err)
	}
	verdicts := map[string]int{}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			p := readPair(t, path)
			verdicts[p.verdict]++
			old, now := changed(t, p.file, nil), changed(t, p.file, p.list)
			r, err := Compare(context.Background(), old, now, Options{Workers: 1})
			if err != nil {
				t.Fatal(err, Errors(err))
			}
			text := r.Text()
			if r.Verdict != p.verdict {
				t.Errorf("verdict %s, want %s", r.Verdict, p.verdict)
			}
			for _, w := range p.said {
				if !strings.Contains(text, w) {
					t.Errorf("%q is not said", w)
				}
			}
			for _, w := range p.never {
				if strings.Contains(text, w) {
					t.Errorf("%q is said", w)
				}
			}
			back, err := Compare(context.Background(), now, old, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := r.Verdict, back.Verdict; (a == Same) != (b == Same) || a == Compatible && b != Compatible {
				t.Errorf("from new to old it is %s:\n%s", b, back.Text())
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
	for _, v := range []string{Same, Compatible, Breaking} {
		if verdicts[v] == 0 {
			t.Errorf("no pair is %s", v)
		}
	}
}

// TestNeverThere: a pair that rests where both may rest, and never comes to what the old version comes to, breaks
// unless one end refuses the other.
func TestNeverThere(t *testing.T) {
	rests := change{"quiet: (b.idle", "quiet: (b.idle || b.asking"}
	old := changed(t, "shop.yaml", []change{rests})
	now := changed(t, "shop.yaml", []change{rests, {"consts: {spoken: 1}", "consts: {spoken: 2}"},
		{"          - {send: OTHER, goto: over}\n", "          - {goto: waiting}\n"}})
	r, err := Compare(context.Background(), old, now, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text()
	for _, w := range []string{"OLD buyer with NEW seller: they break",
		"sells: no run of the mixed pair comes to sells, as runs of the old version do, and nobody refuses the " +
			"other",
		"OLD seller with NEW buyer: they refuse each other cleanly"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not said:\n%s", w, text)
		}
	}
}

// TestLeftOut: claims that name what one version has not are left out and named, and so are checks that the other
// version has not, or that have other instances.
func TestLeftOut(t *testing.T) {
	old := changed(t, "meet.yaml", nil)
	now := changed(t, "meet.yaml", []change{
		{"      never-alone:", "      calm: {always: \"!a.upset\"}\n      never-alone:"},
		{"      asking:\n", "      upset: {final: true}\n      asking:\n"},
		{"checks:\n", "checks:\n  alone: {instances: {a: peer, c: peer}}\n"}})
	r, err := Compare(context.Background(), old, now, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text()
	for _, w := range []string{"calm of check pair: a has no state upset in the other version",
		"alone: OLD has no check of that name", "✓ check pair, OLD a with NEW b: they work together"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not said:\n%s", w, text)
		}
	}
	other := changed(t, "meet.yaml", []change{{"instances: {a: peer, b: peer}", "instances: {a: peer, c: peer}"},
		{"a.met && b.met", "a.met && c.met"}, {"!b.apart", "!c.apart"}})
	if r, err = Compare(context.Background(), old, other, Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if text := r.Text(); r.Verdict != Same && !strings.Contains(text, "its instances are not the same") {
		t.Error(text)
	}
	if r, err = Compare(context.Background(), old, other, Options{Workers: 1, Mix: true}); err != nil {
		t.Fatal(err)
	}
	if text := r.Text(); r.Verdict != Open ||
		!strings.Contains(text, "pair: its instances are not the same (a: peer, b: peer, and a: peer, c: peer)") {
		t.Error(r.Verdict, text)
	}
}

// TestRejected: a version with errors is named.
func TestRejected(t *testing.T) {
	old := changed(t, "meet.yaml", nil)
	now := changed(t, "meet.yaml", []change{{"goto: heard}", "goto: herd}"}})
	_, err := Compare(context.Background(), old, now, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "NEW (meet.yaml): ") || len(Errors(err)) == 0 {
		t.Error(err)
	}
}

// TestAnotherWay: that the old version has an error of some kind does not excuse another one of that kind.
func TestAnotherWay(t *testing.T) {
	some := change{"        ASK: {send: \"ANSWER{word: no}\"}\n", ""}
	old := changed(t, "meet.yaml", []change{some})
	now := changed(t, "meet.yaml", []change{some, {"        ASK: {send: \"ANSWER{word: yes}\", goto: met}\n", ""}})
	r, err := Compare(context.Background(), old, now, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Text(); r.Verdict != Breaking || !strings.Contains(text, "state met does not mention ASK") {
		t.Error(text)
	}
}

// TestLayout: what keeps the values of a type from being those of another.
func TestLayout(t *testing.T) {
	number := func(hi int64) *model.Type { return &model.Type{Kind: model.KindInt, Hi: hi} }
	enum := func(names ...string) *model.Type { return &model.Type{Kind: model.KindEnum, Names: names} }
	list := func(n int, of *model.Type) *model.Type { return &model.Type{Kind: model.KindList, Cap: n, Elem: of} }
	record := func(name string, of *model.Type) *model.Type {
		return &model.Type{Kind: model.KindRecord, Fields: []*model.Field{{Name: name, Type: of}}}
	}
	for _, x := range []struct {
		a, b *model.Type
		same bool
	}{
		{number(3), number(9), true},
		{number(3), &model.Type{Kind: model.KindBool}, false},
		{enum("a", "b"), enum("a", "b", "c"), true},
		{enum("a", "b"), enum("b", "a"), false},
		{list(2, number(1)), list(3, number(1)), false},
		{list(2, number(1)), list(2, enum("a")), false},
		{record("x", number(1)), record("x", number(2)), true},
		{record("x", number(1)), record("y", number(1)), false},
		{&model.Type{Kind: model.KindOpaque, Bits: 8}, &model.Type{Kind: model.KindOpaque, Bits: 16}, false},
	} {
		if why := layout(x.a, x.b); (why == "") != x.same {
			t.Errorf("%v and %v: %q", x.a, x.b, why)
		}
	}
}

// TestOtherType: a claim over a variable that has another type in one version is left out.
func TestOtherType(t *testing.T) {
	with := func(kind string) Source {
		return changed(t, "meet.yaml", []change{
			{"    initial: apart\n", "    initial: apart\n    vars: {list: " + kind + "}\n"},
			{"      never-alone:", "      short: {always: len(a.list) == 0}\n      never-alone:"}})
	}
	two, three := with("{list: bool, max: 2}"), with("{list: bool, max: 3}")
	r, err := Compare(context.Background(), two, three, Options{Workers: 1})
	if err != nil {
		t.Fatal(err, Errors(err))
	}
	if text := r.Text(); !strings.Contains(text,
		"short of check pair: a.list has another type in the two versions (another bound)") {
		t.Error(text)
	}
}
