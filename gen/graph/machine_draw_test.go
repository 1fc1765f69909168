package graph

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/model"
)

var update = flag.Bool("update", false, "write the expected drawings anew; look at them before you commit them")

// TestDrawings compares whole drawings of a machine in which everything occurs.
func TestDrawings(t *testing.T) {
	draw := map[string]func() string{
		"confirm.dot": func() string { return DOT(confirmSketch(), Options{}) },
		"confirm.svg": func() string { return SVG(confirmSketch(), Options{}) },
		"confirm.mmd": func() string { return Mermaid(confirmSketch(), Options{}) },
		"names.mmd":   func() string { return Mermaid(confirmSketch(), Options{Detail: Names, Unfold: true}) },
		"chart.svg":   func() string { return ChartSVG(crossing()) },
		"chart.mmd":   func() string { return ChartMermaid(crossing()) },
	}
	for name, f := range draw {
		got := f()
		if got != f() {
			t.Errorf("%s: two drawings of one thing differ", name)
		}
		if strings.HasSuffix(name, ".svg") {
			wellFormed(t, got)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from testdata; if it should, run go test ./gen/graph -update and look at it\n"+
				"%s", name, got)
		}
	}
}

// TestDotAccepts gives what we write to Graphviz, if it is there.
func TestDotAccepts(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("dot is not installed")
	}
	k := newSketch(`a "b" <c>\`, `x & "y"`, "z")
	k.on(`x & "y"`, "A", `<>&"'\`, `send <X>`, "z")
	for _, m := range []*model.Machine{confirmSketch(), k.m} {
		cmd := exec.Command(dot, "-Tplain")
		cmd.Stdin = strings.NewReader(DOT(m, Options{}))
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "Warning") {
			t.Errorf("%s: %v\n%s", m.Name, err, out)
		}
	}
}

func TestFold(t *testing.T) {
	d := build(confirmSketch(), Options{})
	if len(d.notes) != 1 || d.notes[0].head != "in every state that is not final" || len(d.notes[0].rows) != 2 {
		t.Fatalf("notes: %+v, want one with two rows", d.notes)
	}
	for _, b := range d.boxes {
		for _, r := range b.rows {
			if strings.Contains(r.text(), "PING") {
				t.Errorf("%s shows PING, which is in the note", b.name)
			}
		}
	}
	open := build(confirmSketch(), Options{Unfold: true})
	if len(open.notes) != 0 {
		t.Errorf("unfolded, there are still notes: %+v", open.notes)
	}
	if got := len(open.edges) - len(d.edges); got != 2 {
		t.Errorf("unfolded, there are %d more edges; lost leads to committed from two states that have no "+
			"edge there otherwise", got)
	}
}

// TestNoteNamesTarget: a common goto says where, also if one of the states is there already.
func TestNoteNamesTarget(t *testing.T) {
	k := newSketch("n", "a", "b", "c", "d")
	k.common([]string{"a", "b", "c", "d"}, "RESET", "", "a")
	d := build(k.m, Options{})
	if len(d.notes) != 1 || d.notes[0].rows[0].text() != "RESET → a" {
		t.Errorf("notes: %+v, want RESET → a", d.notes)
	}
}

// TestNotOften keeps handlers at their states if only few states share them by chance.
func TestNotOften(t *testing.T) {
	k := newSketch("n", "a", "b", "c", "d", "e", "f", "g", "h")
	for _, s := range []string{"a", "b", "c", "d"} {
		k.on(s, "PING", "", "send ACK", "")
	}
	if d := build(k.m, Options{}); len(d.notes) != 0 {
		t.Errorf("equal handlers in half of the states were folded: %+v", d.notes)
	}
	k.on("e", "PING", "", "send ACK", "")
	if d := build(k.m, Options{}); len(d.notes) != 1 || d.notes[0].head != "in every state except f, g, h" {
		t.Errorf("equal handlers in most of the states were not folded: %+v", d.notes)
	}
}

func TestLabels(t *testing.T) {
	k := newSketch("n", "a", "b")
	k.on("a", "ONE", "", "send X", "b")
	k.on("a", "TWO", "", "send X", "b")
	k.on("a", "go", "", "send X", "b")
	k.on("a", "THREE", "fits", "", "b")
	k.on("a", "THREE", "", "report aVeryLongNameOfAReport, report another", "b")
	var got []string
	for _, r := range build(k.m, Options{}).edges[0].lines {
		got = append(got, r.text())
	}
	want := []string{"ONE, TWO / send X", "go / send X", "THREE [fits]", "THREE [else]",
		"   / report aVeryLongNameOfAReport,", "   report another"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAutoDetail: a machine too big for whole labels shows names only.
func TestAutoDetail(t *testing.T) {
	k := newSketch("big", "a", "b")
	for i := range manyHandlers + 1 {
		k.on("a", "M"+strings.Repeat("X", i), "", "send ANSWER", "b")
	}
	if s := Mermaid(k.m, Options{}); strings.Contains(s, "ANSWER") {
		t.Error("a big machine shows effects")
	}
	if s := Mermaid(k.m, Options{Detail: Effects}); !strings.Contains(s, "ANSWER") {
		t.Error("effects were asked for and are not shown")
	}
}

// TestMermaidTakesTexts: in a state diagram Mermaid shows entities as they are written, takes descriptions of no state
// with states inside, and stumbles over a colon at the end, a semicolon and what looks like a tag. All this was seen in
// Mermaid 11.
func TestMermaidTakesTexts(t *testing.T) {
	for text, want := range map[string]string{
		"send A{n: 1}": "send A{n: 1}", "[a < 3 && b <= c]": "[a < 3 && b <= c]", "for each k:": "for each k:\u200b",
		"a; b": "a\u037e b", "a <b> c": "a <\u200bb> c", "a::b": "a:\u200b:b", "100 %%": "100 %\u200b%",
	} {
		if got := stateText(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
	if got := stateName(`a "b"`); strings.Contains(got, `"`) {
		t.Error(got)
	}
	drawn := Mermaid(framed(t), Options{})
	if strings.Contains(drawn, "    c0 : ") || !strings.Contains(drawn, "    note right of c0\n") ||
		strings.Contains(drawn, "#") {
		t.Error(drawn)
	}
}
