package golang_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/golang/base"
)

// sources parses the Go files below a folder, tests left out.
func sources(t *testing.T, dir string, mode parser.Mode, visit func(name string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		n++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, mode)
		if err != nil {
			return err
		}
		visit(name, fset, f)
		return nil
	})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
}

// TestLength: whoever reads a machine reads functions of a length that one can read.
func TestLength(t *testing.T) {
	long := func(name string, fset *token.FileSet, f *ast.File) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > base.Longest {
				t.Errorf("%s: %s has %d lines, more than %d", name, fn.Name.Name, n, base.Longest)
			}
		}
	}
	for _, dir := range []string{"../../machines", "../../proptest/conform/sample"} {
		sources(t, dir, parser.SkipObjectResolution, long)
	}
}

// TestNoSearch: the generator asks trees, and searches no text that it has composed itself. Only
// templates are parsed.
func TestNoSearch(t *testing.T) {
	sources(t, ".", parser.ImportsOnly, func(name string, _ *token.FileSet, f *ast.File) {
		for _, imp := range f.Imports {
			if slices.Contains([]string{`"regexp"`, `"go/scanner"`}, imp.Path.Value) {
				t.Errorf("%s imports %s", name, imp.Path.Value)
			}
			if imp.Path.Value == `"go/parser"` && name != filepath.Join("gotree", "template.go") {
				t.Errorf("%s parses Go", name)
			}
		}
	})
}

// TestSaidOnce: what netplay's specification says of all states at once is in its machine once.
func TestSaidOnce(t *testing.T) {
	content, err := os.ReadFile("../../machines/netplay/peer.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"fx.send(MessageAbort).Abort = AbortMessage{Reason: ev.Abort.Reason}",
		"fx.report(ReportAborted).Aborted = AbortedReport{Reason: ev.Message.Abort.Reason}"} {
		if n := strings.Count(string(content), s); n != 1 {
			t.Errorf("%q is there %d times", s, n)
		}
	}
}
