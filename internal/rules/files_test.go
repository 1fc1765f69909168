package rules

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// root is the repository, seen from this package.
const root = "../.."

// forbidden are texts that no file of the repository may contain. They are
// put together from pieces so that this file may name them.
var forbidden = []struct{ text, why string }{
	{"/wo" + "rk/", "a path of one computer"},
	{"../sha" + "red", "a path outside the repository"},
	{"TO" + "DO", "do it, or open an issue"},
	{"FIX" + "ME", "fix it, or open an issue"},
	{"place" + "holder", "write the real thing"},
	{" for n" + "ow", "say what holds, not until when"},
	{"proxy.go" + "lang.org", "the name of a registry's host"},
}

// TestForbiddenWords keeps out what does not speak of the project.
func TestForbiddenWords(t *testing.T) {
	forEachFile(t, func(name string, data []byte) {
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, f := range forbidden {
				if strings.Contains(line, f.text) && !strings.Contains(line, f.text+`="`) { // HTML has the attribute
					t.Errorf("%s:%d: %q has no place here: %s", name, i+1, f.text, f.why)
				}
			}
		}
	})
}

// TestPackageComments asks every package for the sentence that says what it is for.
func TestPackageComments(t *testing.T) {
	documented, seen := map[string]bool{}, map[string]string{}
	comment := regexp.MustCompile(`(?m)^(// (Package|Command) [\w-]+ |Package \w+ )`)
	forEachFile(t, func(name string, data []byte) {
		dir := filepath.Dir(name)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.Contains(name, "testdata/") {
			return
		}
		seen[dir] = name
		if comment.Match(data) {
			documented[dir] = true
		}
	})
	for dir, file := range seen {
		if !documented[dir] {
			t.Errorf("%s: the package has no comment; say what it is for, what it must not know, and where "+
				"to start (%s)", dir, file)
		}
	}
}

// forEachFile visits every file of the repository, except what tools made.
func forEachFile(t *testing.T, visit func(name string, data []byte)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name == ".git" || name == "bin" || strings.HasSuffix(name, "testdata/fuzz") ||
				strings.HasSuffix(name, "testdata/rapid") {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name == ".git" { // the file that a second worktree has instead of the folder
			return nil
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // a temporary file of another process
		}
		if err != nil {
			return err
		}
		n++
		visit(name, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 10 {
		t.Fatalf("only %d files found below %s", n, root)
	}
}

// TestDecisionNumbers: the decisions are numbered from 1, without gaps.
func TestDecisionNumbers(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(err, pages)
	}
	for i, page := range pages {
		if name := filepath.Base(page); !strings.HasPrefix(name, fmt.Sprintf("%04d-", i+1)) {
			t.Errorf("docs/decisions/%s: the next number is %04d", name, i+1)
		}
	}
}

// besides are the files of gen, cmd and proptest that open files by themselves, each with its reason.
var besides = map[string]string{
	"cmd/fsmgen/memory_linux.go": "what the kernel says of memory is no file on a disk",
	"cmd/fsmgen/new.go":          "a file that is there must not be replaced, so it is made by its name",
	"cmd/fsmgen/generate.go":     "code that is no Go is kept in a file of its own, for a report",
	"cmd/internal/demo/play.go":  "a record grows while a machine runs",
}

// TestFilesAreBounded: gen, cmd and proptest read and write files through gen/files, which neither
// hangs nor grows and leaves nothing half written.
func TestFilesAreBounded(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(ReadFile|WriteFile|Open|OpenFile|Create|CreateTemp)\(`)
	found := map[string]bool{}
	forEachFile(t, func(name string, data []byte) {
		name = filepath.ToSlash(name)
		top, _, _ := strings.Cut(name, "/")
		if top != "gen" && top != "cmd" && top != "proptest" || !strings.HasSuffix(name, ".go") ||
			strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "gen/files/") ||
			strings.HasPrefix(name, "cmd/internal/clitest/") {
			return
		}
		if m := opens.Find(data); m != nil {
			found[name] = true
			if besides[name] == "" {
				t.Errorf("%s calls %s…: read and write with gen/files", name, m)
			}
		}
	})
	for name := range besides {
		if !found[name] {
			t.Errorf("%s opens no file itself any more: take it from the list", name)
		}
	}
}
