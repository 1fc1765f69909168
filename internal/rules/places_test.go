package rules

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// operators are what docs/decisions/0012 counts the places of: how the model and the core name an
// operator of numbers, a function of numbers and one of sets, and the files that may.
var operators = []struct {
	names string
	files []string
}{
	{`OpMod|core\.Mod`, []string{"cmd/internal/gotest/condition.go", "gen/core/op.go", "gen/export/eval.go",
		"gen/golang/body/expr.go", "gen/model/code.go", "gen/model/print.go", "gen/resolve/expr/operators.go"}},
	{`FnMin|core\.Min`, []string{"cmd/internal/gotest/condition.go", "gen/core/op.go", "gen/export/eval.go",
		"gen/golang/body/expr.go", "gen/model/code.go", "gen/model/print.go", "gen/resolve/expr/calls.go"}},
	{`FnIntersect|core\.Intersect`, []string{"cmd/internal/gotest/collection.go", "gen/core/op.go",
		"gen/export/eval.go", "gen/golang/body/expr.go", "gen/interp/expr.go", "gen/model/code.go",
		"gen/model/print.go",
		"gen/resolve/expr/calls.go"}},
}

// TestOperatorPlaces holds the files that name an operator against the list. Tests and the second
// interpreter are no back ends.
func TestOperatorPlaces(t *testing.T) {
	for _, op := range operators {
		named := regexp.MustCompile(`\b(` + op.names + `)\b`)
		var got []string
		forEachFile(t, func(name string, data []byte) {
			name = filepath.ToSlash(name)
			back := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
				!strings.HasPrefix(name, "gen/internal/")
			if back && named.Match(data) {
				got = append(got, name)
			}
		})
		slices.Sort(got)
		if !slices.Equal(got, op.files) {
			t.Errorf("%s is named in\n%s\nthe list has\n%s",
				op.names, strings.Join(got, "\n"), strings.Join(op.files, "\n"))
		}
	}
}
