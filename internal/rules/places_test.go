package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// operator is an operator of numbers, a function of numbers or one of sets, and where code names
// it besides the places that every operator has.
type operator struct {
	model, core string // its names in gen/model and in gen/core
	places      []string
}

// operators are those whose places docs/decisions/0012 lists.
var operators = []operator{
	{"OpMod", "Mod", []string{
		"gen/resolve/expr/operators.go: row",
		"gen/core/op.go: case", // how it is computed
		"gen/export/eval.go: case",
		"gen/export/tla/expr.go: case",
		"gen/golang/body/expr.go: case",
		"cmd/internal/gotest/condition.go: case",
	}},
	{"FnMin", "Min", []string{
		"gen/resolve/expr/calls.go: row",
		"gen/resolve/expr/calls.go: use", // its type
		"gen/core/op.go: case",
		"gen/export/eval.go: case",
		"gen/export/tla/expr.go: case",
		"gen/golang/body/expr.go: case",
		"cmd/internal/gotest/condition.go: case",
	}},
	{"FnIntersect", "Intersect", []string{
		"gen/resolve/expr/calls.go: row",
		"gen/interp/expr.go: case",
		"gen/export/eval.go: case",
		"gen/export/tla/expr.go: row",
		"gen/golang/body/expr.go: case",
		"cmd/internal/gotest/collection.go: case",
	}},
}

// everyOperator are the places that each operator has: its constants, its text, its row in the
// table of the core and the name that the model has for that.
var everyOperator = []string{
	"gen/model/code.go: constant",
	"gen/model/print.go: row",
	"gen/core/op.go: constant",
	"gen/core/op.go: row",
	"gen/core/op.go: row",
}

// TestOperatorPlaces holds the places that name an operator against the list: an operator is
// written once, and each back end has one case for it. Tests and the second interpreter are no back
// ends.
func TestOperatorPlaces(t *testing.T) {
	got := make([][]string, len(operators))
	forEachFile(t, func(name string, data []byte) {
		name = filepath.ToSlash(name)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "gen/internal/") {
			return
		}
		for i, op := range operators {
			if !regexp.MustCompile(`\b(` + op.model + `|` + op.core + `)\b`).Match(data) {
				continue
			}
			places, err := op.in(name, data)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = append(got[i], places...)
		}
	})
	for i, op := range operators {
		want := slices.Concat(everyOperator, op.places)
		slices.Sort(want)
		slices.Sort(got[i])
		if !slices.Equal(got[i], want) {
			t.Errorf("%s stands in\n\t%s\nthe list has\n\t%s", op.core,
				strings.Join(got[i], "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

// in lists where a file names an operator, one place for each line: in a declaration of constants,
// in a row of a table, in a case of a switch, or otherwise in a use.
func (op operator) in(name string, data []byte) (places []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := map[int]string{}
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if op.is(path.Dir(name), n) {
			lines[fset.Position(n.Pos()).Line] = kind(stack, n)
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			if _, ok := s.X.(*ast.Ident); ok {
				return false // a name behind a dot belongs to another package, or is a field
			}
		}
		stack = append(stack, n)
		return true
	})
	for _, kind := range lines {
		places = append(places, name+": "+kind)
	}
	return places, nil
}

// is reports whether a node is a name of the operator, in a file of a folder.
func (op operator) is(folder string, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		return ok && (pkg.Name == "model" && n.Sel.Name == op.model || pkg.Name == "core" && n.Sel.Name == op.core)
	case *ast.Ident:
		return folder == "gen/model" && n.Name == op.model || folder == "gen/core" && n.Name == op.core
	}
	return false
}

// kind says what a name is part of, which is inside the nodes of a stack.
func kind(stack []ast.Node, n ast.Node) string {
	for _, outer := range slices.Backward(stack) {
		switch outer := outer.(type) {
		case *ast.ValueSpec:
			return "constant"
		case *ast.KeyValueExpr:
			return "row"
		case *ast.CaseClause:
			if n.Pos() < outer.Colon {
				return "case"
			}
			return "use"
		case ast.Stmt:
			return "use"
		}
	}
	return fmt.Sprintf("use in a %T", n)
}
