package diag

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite expected results")

// TestPage holds docs/DIAGNOSTICS.md against the table of codes.
func TestPage(t *testing.T) {
	const page = "../../docs/DIAGNOSTICS.md"
	if *update {
		if err := os.WriteFile(page, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Page() {
		t.Errorf("%s is not what gen/diag says; run go generate ./gen/diag", page)
	}
}

func TestCodesAreWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^FSM\d{3}$`)
	seen := map[string]bool{}
	for _, i := range Codes() {
		if !form.MatchString(i.Code) || seen[i.Code] {
			t.Errorf("%s is no code, or is there twice", i.Code)
		}
		seen[i.Code] = true
		if i.Title == "" || !strings.HasSuffix(i.Text, ".") || !strings.HasSuffix(i.Example, "\n") {
			t.Errorf("%s: title, text or example is incomplete", i.Code)
		}
		if _, ok := Lookup(i.Code); !ok {
			t.Errorf("%s cannot be looked up", i.Code)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"goto", "send", "report", "start", "stop", "CONFIRM1", "CONFIRM2", "BID",
		"bid", "open", "OPEN"}
	for name, want := range map[string]string{
		"gota": "goto", "snd": "send", "reprot": "report", "sotp": "stop", "CONFIRM3": "CONFIRM1",
		"bdi": "bid", "BDI": "BID", "OPN": "OPEN", "opn": "open", "confirm2": "CONFIRM2",
		"xyzzy": "", "": "", "a": "", strings.Repeat("long", 30): "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	letters := []string{"a", "B", "go"}
	for name, want := range map[string]string{"z": "", "b": "B", "c": "", "g": "", "og": "go", "gp": "go"} {
		if got := Nearest(name, letters); got != want {
			t.Errorf("among names of few letters Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func sample() List {
	at := func(line, col, end int) Span {
		return Span{File: "a/spec.yaml", Start: Pos{line, col}, End: Pos{line, end}}
	}
	return List{
		{Code: "FSM021", Span: at(12, 9, 13), Message: "there is no name `totl`",
			Hint: "did you mean `total`?", Line: "        totl == 3"},
		{Code: "FSM045", Severity: Warning, Span: at(3, 1, 5), Message: "not used",
			Line: "größe: 1", Related: []Related{{at(1, 1, 2), "declared here"}}},
		{Code: "FSM045", Severity: Warning, Span: at(3, 10, 11), Message: "later", Line: "größe: 1\t2"},
		{Code: "FSM021", Span: at(12, 9, 13), Message: "there is no name `totl`"},
	}
}

func TestText(t *testing.T) {
	l := sample()
	l.Sort()
	var b bytes.Buffer
	if err := l.WriteText(&b, Render{Excerpt: true, Limit: 2, More: "--all shows them"}); err != nil {
		t.Fatal(err)
	}
	const want = "a/spec.yaml:3:1: warning: not used [FSM045]\n" +
		"    größe: 1\n" +
		"    ^^^\n" + // four bytes, three characters
		"    a/spec.yaml:1:1: declared here\n" +
		"a/spec.yaml:3:10: warning: later [FSM045]\n" +
		"    größe: 1 2\n" +
		"           ^\n" +
		"1 more not shown; --all shows them\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if !l.HasErrors() || len(l.Errors()) != 1 || l[:2].HasErrors() || l[:2].Err() != nil || l.Err() == nil {
		t.Error("errors and warnings are confused")
	}
}

func TestLongLine(t *testing.T) {
	d := Diagnostic{Code: "FSM020", Message: "m", Span: Span{File: "f", Start: Pos{1, 301},
		End: Pos{1, 304}}, Line: strings.Repeat("é", 150) + "abc" + strings.Repeat("é", 200)}
	var b bytes.Buffer
	if err := (List{d}).WriteText(&b, Render{Excerpt: true}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	mark := strings.Index(lines[2], "^^^")
	if mark < 0 || string([]rune(lines[1])[mark:mark+3]) != "abc" || len(lines[1]) > 2*excerptWidth {
		t.Errorf("the mark is not below abc:\n%s", b.String())
	}
}

// TestControl: what stands in a file cannot command the terminal that shows it.
func TestControl(t *testing.T) {
	d := Diagnostic{Code: "FSM021", Message: "no " + Quote("\x1b[31m\u202ex"),
		Span: Span{File: "f", Start: Pos{1, 9}, End: Pos{1, 10}}, Line: "\x1b[2J\u0085\xff\ty"}
	var b bytes.Buffer
	if err := (List{d}).WriteText(&b, Render{Excerpt: true}); err != nil {
		t.Fatal(err)
	}
	const want = "f:1:9: no ` [31m\ufffdx` [FSM021]\n    \ufffd[2J\ufffd\ufffd y\n           ^\n"
	if b.String() != want {
		t.Errorf("got %q\nwant %q", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample()[:2].WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if len(out) != 2 || out[0]["code"] != "FSM021" || out[0]["line"] != 12.0 ||
		out[0]["col"] != 9.0 || out[1]["severity"] != "warning" {
		t.Errorf("got %s", b.String())
	}
	b.Reset()
	if err := (List{}).WriteJSON(&b); err != nil || strings.TrimSpace(b.String()) != "[]" {
		t.Errorf("an empty list is %q", b.String())
	}
}
