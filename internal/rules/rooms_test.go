package rules

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// maxKnot is the most lines that a set of files of one package may have in which every
// file needs every other. Such a set can only be read as one piece.
const maxKnot = 2500

// knots are the packages that are still above maxKnot, with the lines that they may have.
// These numbers only fall: a line leaves when its package comes below maxKnot.
var knots = map[string]int{}

// TestRooms measures each package's largest knot: a set of files that all need each other,
// directly or not. A file needs another if it uses a package-level object or a method
// declared there. Generated packages are left out.
func TestRooms(t *testing.T) {
	loaded := load(t)
	largest := map[string]knot{}
	for _, p := range loaded {
		dir := strings.TrimPrefix(p.PkgPath, module)
		if dir == "machines" || strings.HasPrefix(dir, "machines/") || strings.Contains(dir, "/sample/") {
			continue
		}
		largest[dir] = largestKnot(p)
	}
	for _, dir := range slices.Sorted(maps.Keys(largest)) {
		k, limit := largest[dir], max(knots[dir], maxKnot)
		switch {
		case k.lines > limit:
			t.Errorf("%s: %d files with %d lines all need each other, %d is the limit:\n\t%s\n"+
				"There are packages to be found in them: give each side data of its own.",
				dir, len(k.files), k.lines, limit, strings.Join(k.files, " "))
		case knots[dir] > 0 && k.lines <= maxKnot:
			t.Errorf("%s: its largest knot has %d lines; take it out of the list of exceptions", dir, k.lines)
		}
	}
	for dir := range knots {
		if _, ok := largest[dir]; !ok {
			t.Errorf("%s is no package; take it out of the list of exceptions", dir)
		}
	}
	top := slices.SortedFunc(maps.Keys(largest), func(a, b string) int {
		return cmp.Or(largest[b].lines-largest[a].lines, strings.Compare(a, b))
	})
	for _, dir := range top[:8] {
		t.Logf("%2d files, %4d lines: %s", len(largest[dir].files), largest[dir].lines, dir)
	}
}

// knot is a set of files that all need each other.
type knot struct {
	files []string
	lines int
}

// load reads all packages of the module with the types of what they use.
func load(t *testing.T) []*packages.Package {
	t.Helper()
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: root}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
	}
	return loaded
}

// largestKnot returns the set with the most lines, or none if no two files need each other.
func largestKnot(p *packages.Package) (largest knot) {
	needs, lines := uses(p)
	for _, files := range knotsOf(needs) {
		k := knot{files: files}
		for _, f := range files {
			k.lines += lines[f]
		}
		if len(files) > 1 && k.lines > largest.lines {
			largest = k
		}
	}
	slices.Sort(largest.files)
	return largest
}

// uses returns which files of a package use what others declare, and how long each file is.
func uses(p *packages.Package) (needs map[string]map[string]bool, lines map[string]int) {
	needs, lines = map[string]map[string]bool{}, map[string]int{}
	for _, f := range p.Syntax {
		tf := p.Fset.File(f.FileStart)
		name := filepath.Base(tf.Name())
		lines[name], needs[name] = tf.LineCount(), map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if from := declaredIn(p, p.TypesInfo.Uses[id]); from != "" && from != name {
				needs[name][from] = true
			}
			return true
		})
	}
	return needs, lines
}

// declaredIn returns the file of a package-level object or method of p, "" for all others.
func declaredIn(p *packages.Package, obj types.Object) string {
	if obj == nil || obj.Pkg() != p.Types {
		return ""
	}
	method := false
	if f, ok := obj.(*types.Func); ok {
		method = f.Signature().Recv() != nil
	}
	if !method && obj.Parent() != p.Types.Scope() {
		return ""
	}
	return filepath.Base(p.Fset.Position(obj.Pos()).Filename)
}

// knotsOf returns the strongly connected components of a graph (Tarjan 1972).
func knotsOf(needs map[string]map[string]bool) (found [][]string) {
	var stack []string
	number, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var visit func(string)
	visit = func(v string) {
		number[v] = len(number) + 1
		low[v] = number[v]
		stack, on[v] = append(stack, v), true
		for w := range needs[v] {
			if number[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], number[w])
			}
		}
		if low[v] != number[v] {
			return
		}
		at := slices.Index(stack, v)
		for _, w := range stack[at:] {
			on[w] = false
		}
		found = append(found, slices.Clone(stack[at:]))
		stack = stack[:at]
	}
	for _, v := range slices.Sorted(maps.Keys(needs)) {
		if number[v] == 0 {
			visit(v)
		}
	}
	return found
}

// TestRoomsNotice shows that a knot is found, and that a chain is none.
func TestRoomsNotice(t *testing.T) {
	graph := map[string]map[string]bool{
		"a": {"b": true}, "b": {"c": true}, "c": {"a": true}, // a knot of three
		"d": {"a": true}, "e": {"d": true}, // a chain that leads to it
	}
	var sizes []int
	for _, k := range knotsOf(graph) {
		sizes = append(sizes, len(k))
	}
	slices.Sort(sizes)
	if fmt.Sprint(sizes) != "[1 1 3]" {
		t.Errorf("the sets have %v files, not [1 1 3]", sizes)
	}
}

// TestFolders holds the table of folders in ARCHITECTURE.md against the packages there are.
// A row `x/…` stands for all folders below x.
func TestFolders(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := folderRows(string(page))
	if len(rows) < 20 {
		t.Fatalf("only %d folders in the table", len(rows))
	}
	used := map[string]bool{}
	for _, p := range ours(list(t)) {
		dir := name(p.ImportPath)
		row, ok := rowOf(rows, dir)
		if !ok {
			t.Errorf("docs/ARCHITECTURE.md: the table of folders has no row for %s", dir)
		}
		used[row] = true
	}
	for _, row := range rows {
		dir := filepath.Join(root, strings.TrimSuffix(row, "/…"))
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("docs/ARCHITECTURE.md: the table of folders has %s, which is not there", row)
		}
	}
}

// rowOf returns the row that speaks of a folder.
func rowOf(rows []string, dir string) (string, bool) {
	for _, row := range rows {
		below, all := strings.CutSuffix(row, "/…")
		if dir == row || all && strings.HasPrefix(dir+"/", below+"/") {
			return row, true
		}
	}
	return "", false
}

// folderRows returns the folders in the first column of the page's table of folders.
func folderRows(page string) (rows []string) {
	_, section, _ := strings.Cut(page, "\n## Folders\n")
	section, _, _ = strings.Cut(section, "\n## ")
	cell := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(section) {
		columns := strings.Split(line, "|")
		if len(columns) < 3 {
			continue
		}
		for _, m := range cell.FindAllStringSubmatch(columns[1], -1) {
			rows = append(rows, strings.TrimSuffix(m[1], "/"))
		}
	}
	return rows
}

// TestFoldersNotice shows that a folder without a row is noticed.
func TestFoldersNotice(t *testing.T) {
	rows := folderRows("\n## Folders\n| folder | what |\n|---|---|\n| `a/`, `b/c` | x |\n| `d/…` | y |\n\n" +
		"## More\n| `e` | z |\n")
	for dir, want := range map[string]bool{"a": true, "a/b": false, "b/c": true, "d": true, "d/e": true, "e": false} {
		if _, got := rowOf(rows, dir); got != want {
			t.Errorf("%s: has a row: %t, not %t", dir, got, want)
		}
	}
}
