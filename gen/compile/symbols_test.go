package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/symbols"
)

// table compiles a file with its names.
func table(t *testing.T, file string) *symbols.Table {
	t.Helper()
	names := symbols.New()
	if p, l := Load(file, Options{Symbols: names}); p == nil {
		t.Fatal(l.Error())
	}
	return names
}

func linesOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

func textIn(lines []string, at diag.Span) string {
	line := lines[at.Start.Line-1]
	if at.Start.Line != at.End.Line {
		return line[at.Start.Col-1:]
	}
	return line[at.Start.Col-1 : at.End.Col-1]
}

// TestNamesAreWhereTheySay: every place of every name has the name's text. A wrong place would let
// a renaming destroy a file.
func TestNamesAreWhereTheySay(t *testing.T) {
	pattern := "../../specs/*/spec.yaml"
	if os.Getenv("PARLEY_LONG") != "" {
		pattern = "../../specs/*/*.yaml" // variants, too
	}
	files, _ := filepath.Glob(pattern)
	more, _ := filepath.Glob("../../proptest/check/testdata/*/*.yaml")
	files = append(append(files, more...), "testdata/kitchen/spec.yaml")
	places, lines := 0, map[string][]string{}
	for _, f := range files {
		names := symbols.New()
		if p, _ := Load(f, Options{Symbols: names}); p == nil {
			continue
		}
		for _, s := range names.Symbols() {
			for _, o := range names.Occurrences(s.At) {
				if lines[o.At.File] == nil {
					lines[o.At.File] = linesOf(t, o.At.File)
				}
				if got := strings.Trim(textIn(lines[o.At.File], o.At), `"'`); got != s.Name {
					t.Errorf("%s: the %s %s is said to be here, but here is %q", o.At, s.Kind,
						s.Name, got)
				}
				places++
			}
		}
	}
	if places < 2000 {
		t.Errorf("only %d places", places)
	}
}

// TestOccurrences: names that the tables count are found again by hand.
func TestOccurrences(t *testing.T) {
	const confirm = "../../specs/confirm/spec.yaml"
	names := table(t, confirm)
	count := map[string]int{}
	for _, s := range names.Symbols() {
		count[s.Kind.String()+" "+s.Name] = len(names.Occurrences(s.At))
	}
	for name, want := range map[string]int{
		"message CHANGE": 13, "message CANCELACK": 9, "state localOk": 5, "state done": 16,
		"report cancelled": 5,
		"command change":   10, "role peer": 4, "instance a": 23,
	} {
		if count[name] != want {
			t.Errorf("%s: %d places, not %d", name, count[name], want)
		}
	}
}

// TestOccurrencesAcrossFiles: what an extending or importing file says of a name counts too.
func TestOccurrencesAcrossFiles(t *testing.T) {
	for _, c := range []struct{ file, decl, kind, name string }{
		{"../../specs/confirm/coded.yaml", "../../specs/confirm/spec.yaml", "state", "remoteOk"},
		{"../../specs/netplay/documented.yaml", "../../specs/confirm/documented.yaml", "command",
			"change"},
	} {
		names := table(t, c.file)
		found, files := false, map[string]int{}
		for _, s := range names.Symbols() {
			if s.Kind.String() != c.kind || s.Name != c.name || names.Root(s.At).File != c.decl {
				continue
			}
			found = true
			for _, o := range names.Occurrences(s.At) {
				files[o.At.File]++
			}
		}
		if !found || files[c.file] == 0 || files[c.decl] == 0 {
			t.Errorf("%s: the %s %s of %s is found in %v", c.file, c.kind, c.name, c.decl, files)
		}
	}
}
