package rules

import (
	"slices"
	"testing"
)

// stages are the packages of the resolver in their order. Each uses only those before it, and
// what the resolver reads and writes.
var stages = []string{"pass", "types", "apart", "lines", "wire", "convert", "expr", "machine", "check"}

// fixtures are the packages that every stage may use.
var fixtures = []string{"gen/ast", "gen/core", "gen/core/interval", "gen/diag", "gen/model", "gen/symbols",
	"gen/syntax"}

// TestStages holds the imports of the resolver's packages against their order.
func TestStages(t *testing.T) {
	seen := 0
	for _, p := range ours(list(t)) {
		if i := stageOf(name(p.ImportPath)); i >= 0 {
			seen++
			for _, what := range strays(i, p.Imports) {
				t.Errorf("%s imports %s, which is no earlier stage", name(p.ImportPath), what)
			}
		}
	}
	if seen != len(stages) {
		t.Errorf("%d of %d stages are packages", seen, len(stages))
	}
	later := []string{"fmt", module + "gen/resolve/types", module + "gen/resolve/expr", module + "gen/lint"}
	if got := strays(stageOf("gen/resolve/convert"), later); len(got) != 2 {
		t.Errorf("two imports that are no earlier stage were not noticed: %v", got)
	}
}

func stageOf(pkg string) int {
	return slices.IndexFunc(stages, func(s string) bool { return pkg == "gen/resolve/"+s })
}

// strays returns the imports of a stage that are packages of ours and no earlier stage.
func strays(stage int, imports []string) []string {
	var out []string
	for _, path := range imports {
		if name(path) == path || slices.Contains(fixtures, name(path)) {
			continue
		}
		if i := stageOf(name(path)); i < 0 || i >= stage {
			out = append(out, name(path))
		}
	}
	return out
}
