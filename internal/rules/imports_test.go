package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/parley-go/parley/"

// pkg is the output of `go list` for one package.
type pkg struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// A reach rule limits what a package may depend on, directly or not, tests left out.
type reach struct {
	who string   // pattern of packages of this module, see match
	may []string // patterns of what they may reach beside the standard library
	why string
}

// The table of docs/ARCHITECTURE.md. The first line that matches a package decides.
var reaches = []reach{
	{"runtime/world", []string{"runtime/fsm"},
		"what lies between machines is said without knowing who steps them"},
	{"runtime/looplab", []string{"runtime/fsm", "github.com/looplab/fsm/..."},
		"the adapter adds looplab/fsm to the contract and nothing else"},
	{"runtime/...", []string{"runtime/..."},
		"a game client links the runtime and gets no dependency with it"},
	{"machines/*", []string{"runtime/fsm", "runtime/wire"},
		"a generated machine is linked into games: it takes the contract and the codec's errors"},
	{"gen/core/...", []string{"gen/core/...", "gen/model", "gen/diag"},
		"the lowering is a function of the model alone"},
	{"proptest/second/...", []string{"proptest/second/...", "gen/syntax", "gen/parse", "gen/ast", "gen/diag",
		"gen/files", "go.yaml.in/yaml/v4", "go.yaml.in/yaml/v4/..."},
		"a second opinion shares nothing with the first checker but the reading of YAML and of expressions"},
	{"proptest/prove/certify", []string{"proptest/prove/certify", "gen/core/...", "gen/diag", "gen/interp",
		"gen/model", "gen/syntax", "runtime/fsm", "runtime/wire"},
		"who verifies a proof shares neither the search nor the world with who found it"},
	{"gen/parse", []string{"gen/...", "go.yaml.in/yaml/v4/...", "runtime/fsm", "runtime/run", "runtime/trace",
		"runtime/wire", "runtime/world"},
		"only the parser knows YAML"},
	{"gen/golang/...", []string{"gen/...", "github.com/dave/jennifer/jen/...", "runtime/fsm", "runtime/wire",
		"runtime/world"},
		"only the Go generator knows jennifer"},
	{"gen/compile", []string{"gen/...", "go.yaml.in/yaml/v4/...", "runtime/fsm", "runtime/run", "runtime/trace",
		"runtime/wire", "runtime/world"},
		"the compiler's front door runs the parser"},
	{"gen/...", []string{"gen/...", "runtime/fsm", "runtime/run", "runtime/trace", "runtime/wire", "runtime/world"},
		"behind the parser everything is a function of the tree or the model"},
}

// A direct rule says who alone may name an import, tests included.
type direct struct {
	what string
	who  []string
	why  string
}

var directs = []direct{
	{"go.yaml.in/yaml/v4", []string{"gen/parse", "internal/tools"}, "YAML is known to the parser alone"},
	{"github.com/dave/jennifer/jen", []string{"gen/golang/...", "internal/tools"},
		"jennifer is known to the Go generator alone"},
	{"github.com/spf13/cobra", []string{"cmd/...", "internal/tools"}, "flags belong to commands"},
	{"os/signal", []string{"internal/interrupt", "cmd/internal/cli", "cmd/fsmgen", "cmd/fsmviz"},
		"all programs learn in one way that they are to end"},
	{"github.com/looplab/fsm", []string{"runtime/looplab", "proptest/...", "internal/..."},
		"looplab/fsm is an adapter's business and something to compare with"},
	{module + "runtime/looplab", []string{"runtime/looplab", "proptest/...", "examples/..."},
		"who does without looplab/fsm does not link it"},
	{module + "cmd/...", []string{"cmd/..."}, "nothing builds on a command"},
	{module + "proptest/...", []string{"proptest/...", "cmd/...", "internal/..."},
		"the checker and the test machinery serve commands and tests"},
	{module + "internal/rules", []string{"internal/..."}, "rules serve nobody"},
	{module + "internal/doctest", []string{"internal/...", "examples/...", "cmd/..."},
		"pages are tested where they are, or beside the programs that they show"},
}

// meetings are where the compiler and what it generated may be linked together.
var meetings = []string{"proptest/conform", "proptest/drive", "cmd/...", "examples/..."}

func TestImports(t *testing.T) {
	pkgs := list(t)
	deps := closure(pkgs)
	for _, p := range ours(pkgs) {
		if err := checkReach(p, deps[p.ImportPath], pkgs); err != "" {
			t.Error(err)
		}
		for _, err := range checkDirect(p) {
			t.Error(err)
		}
		if err := checkMeeting(p, deps[p.ImportPath]); err != "" {
			t.Error(err)
		}
		if name(p.ImportPath) == "runtime/fsm" && len(p.Imports) > 0 {
			t.Errorf("runtime/fsm imports %v: the contract imports nothing", p.Imports)
		}
	}
}

// TestImportRulesNotice shows that each kind of rule can fail.
func TestImportRulesNotice(t *testing.T) {
	known := map[string]*pkg{
		"fmt":                {ImportPath: "fmt", Standard: true},
		"go.yaml.in/yaml/v4": {ImportPath: "go.yaml.in/yaml/v4"},
		module + "gen/model": {ImportPath: module + "gen/model"},
	}
	machine := &pkg{ImportPath: module + "machines/ready", Imports: []string{"fmt", module + "gen/model"}}
	if checkReach(machine, []string{"fmt"}, known) != "" {
		t.Error("a machine may import the standard library")
	}
	if checkReach(machine, []string{module + "gen/model"}, known) == "" {
		t.Error("a machine that reaches gen/model was not noticed")
	}
	if checkReach(&pkg{ImportPath: module + "gen/graph"}, []string{"go.yaml.in/yaml/v4"}, known) == "" {
		t.Error("YAML behind the parser was not noticed")
	}
	if len(checkDirect(&pkg{ImportPath: module + "gen/graph", TestImports: []string{"github.com/spf13/cobra"}})) != 1 {
		t.Error("cobra outside cmd was not noticed")
	}
	known[module+"runtime/world"] = &pkg{ImportPath: module + "runtime/world"}
	if checkReach(&pkg{ImportPath: module + "proptest/prove/certify"}, []string{module + "runtime/world"},
		known) == "" {
		t.Error("a verifier that steps the world was not noticed")
	}
	both := []string{module + "gen/model", module + "machines/ready"}
	if checkMeeting(&pkg{ImportPath: module + "proptest/explore"}, both) == "" {
		t.Error("a second meeting place was not noticed")
	}
	if checkMeeting(&pkg{ImportPath: module + "proptest/conform"}, both) != "" {
		t.Error("proptest/conform is the meeting place")
	}
}

func checkReach(p *pkg, deps []string, pkgs map[string]*pkg) string {
	for _, r := range reaches {
		if !match(r.who, name(p.ImportPath)) {
			continue
		}
		for _, d := range deps {
			if q := pkgs[d]; q == nil || q.Standard { // cgo's "C" is in no list
				continue
			}
			if !matchAny(r.may, name(d)) {
				return name(p.ImportPath) + " reaches " + name(d) + ": " + r.why
			}
		}
		return ""
	}
	return ""
}

func checkDirect(p *pkg) []string {
	var errs []string
	all := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	slices.Sort(all)
	for _, imp := range slices.Compact(all) {
		for _, r := range directs {
			if match(name(r.what), name(imp)) && !matchAny(r.who, name(p.ImportPath)) {
				errs = append(errs, name(p.ImportPath)+" imports "+name(imp)+": "+r.why)
			}
		}
	}
	return errs
}

func checkMeeting(p *pkg, deps []string) string {
	var gen, machine string
	for _, d := range append([]string{p.ImportPath}, deps...) {
		switch {
		case match("gen/...", name(d)):
			gen = name(d)
		case match("machines/...", name(d)):
			machine = name(d)
		}
	}
	if gen == "" || machine == "" || matchAny(meetings, name(p.ImportPath)) {
		return ""
	}
	return name(p.ImportPath) + " links " + gen + " and " + machine + ": they meet only in " +
		strings.Join(meetings, ", ")
}

// list asks the go command for all packages of the module and what they need.
func list(t *testing.T) map[string]*pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps",
		"-json=ImportPath,Standard,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	pkgs := map[string]*pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs[p.ImportPath] = p
	}
}

// ours returns the packages of this module, by name.
func ours(pkgs map[string]*pkg) []*pkg {
	var list []*pkg
	for path, p := range pkgs {
		if strings.HasPrefix(path, module) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return list
}

// closure returns everything each package imports, directly or not, sorted.
func closure(pkgs map[string]*pkg) map[string][]string {
	deps := map[string][]string{}
	var visit func(path string) []string
	visit = func(path string) []string {
		if d, ok := deps[path]; ok || pkgs[path] == nil {
			return d
		}
		deps[path] = nil // cuts cycles, which a broken tree may have
		var all []string
		for _, imp := range pkgs[path].Imports {
			all = append(append(all, imp), visit(imp)...)
		}
		slices.Sort(all)
		deps[path] = slices.Compact(all)
		return deps[path]
	}
	for path := range pkgs {
		visit(path)
	}
	return deps
}

// name is an import path without the module's own prefix.
func name(importPath string) string { return strings.TrimPrefix(importPath, module) }

// match compares a name with a pattern: `gen/...` is gen and all below, other
// patterns are those of path.Match.
func match(pattern, name string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == dir || strings.HasPrefix(name, dir+"/")
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) })
}
