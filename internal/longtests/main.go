// Command longtests prints the tests that do more if they have all the time they want, each with the
// folder of its package before it; .ci/run runs them with PARLEY_LONG=1. Such a test asks package
// race, or the variable itself, how long it may take; or something does that it uses. The command
// knows test files by their text alone. Start from find.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	found, err := find(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "longtests:", err)
		os.Exit(2)
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		for _, name := range found[dir] {
			fmt.Printf("./%s %s\n", filepath.ToSlash(dir), name)
		}
	}
}

// find lists the long tests below root by folder. It leaves out modules of their own.
func find(root string) (map[string][]string, error) {
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (err == nil || d.Name() == "testdata" || d.Name() == ".git") {
				return fs.SkipDir
			}
		case strings.HasSuffix(path, "_test.go"):
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			dir, _ := filepath.Rel(root, filepath.Dir(path))
			packages[dir] = append(packages[dir], f)
		}
		return nil
	})
	out := map[string][]string{}
	for dir, files := range packages {
		if list := long(files); len(list) > 0 {
			out[dir] = list
		}
	}
	return out, err
}

// long lists the long tests of one package.
func long(files []*ast.File) (tests []string) {
	uses, asks := map[string]map[string]bool{}, map[string]bool{}
	declare := func(name string, n ast.Node) {
		if uses[name] == nil { // methods of several types share a name
			uses[name] = map[string]bool{}
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				uses[name][n.Name] = true
			case *ast.BasicLit:
				asks[name] = asks[name] || n.Value == `"PARLEY_LONG"`
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				asks[name] = asks[name] || ok && x.Name == "race" &&
					slices.Contains([]string{"Long", "Draws", "Some", "SkipShort"}, n.Sel.Name)
			}
			return true
		})
	}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declare(d.Name.Name, d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							declare(name.Name, v)
						}
					}
				}
			}
		}
	}
	for more := true; more; {
		more = false
		for name, used := range uses {
			for other := range used {
				if asks[other] && !asks[name] {
					asks[name], more = true, true
				}
			}
		}
	}
	for name := range uses {
		if asks[name] && strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}
