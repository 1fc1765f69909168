package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/cmd/internal/gotest"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/model"
	fsmparse "github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/proptest/check"
)

// testFlags say what becomes of --test.
type testFlags struct {
	on                 bool
	out, pkg, machines string
}

func (t *testFlags) flags(f *pflag.FlagSet) {
	f.BoolVar(&t.on, "test", false, "write every counterexample as a Go test of the generated machines, "+
		"which fails until they are mended")
	f.StringVarP(&t.out, "output", "o", "",
		"with --test: the `file` of the test, NAME_test.go; without it the test is printed, and nothing else")
	f.StringVar(&t.pkg, "pkg", "", "with --test: the `name` of the test's package; default: that of the "+
		"folder it goes to, or else of the machines, with _test")
	f.StringVar(&t.machines, "machines", "machines",
		"with --test: the `folder` that fsmgen generate wrote the package of the machines into")
}

// alone says that the test is all that is printed.
func (t *testFlags) alone() bool { return t.on && t.out == "" }

// parse refuses what has no meaning.
func (t *testFlags) parse(files []string) error {
	switch {
	case !t.on && t.out+t.pkg != "":
		return fmt.Errorf("--output and --pkg are for --test")
	case !t.on:
		return nil
	case len(files) > 1:
		return fmt.Errorf("--test is for a single specification; there are %d", len(files))
	case t.out != "" && !strings.HasSuffix(t.out, "_test.go"):
		return fmt.Errorf("--output %s: the file of a test ends in _test.go", t.out)
	}
	if complaint := fsmparse.PackageName(t.pkg); t.pkg != "" && complaint != "" {
		return fmt.Errorf("--pkg %q %s", t.pkg, complaint)
	}
	return nil
}

// packageName is the name of the test's package, if it is asked for or the folder of the file has one.
func (t *testFlags) packageName() string {
	if t.pkg != "" || t.out == "" {
		return t.pkg
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(t.out), "*.go")) // a folder that no pattern fits has none
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly); err == nil {
			return f.Name.Name + "_test"
		}
	}
	return ""
}

// writeTest writes the counterexamples as tests, if that was asked for.
func (o *checkFlags) writeTest(cmd *cobra.Command, reports []*check.SuiteReport) error {
	if !o.test.on || len(reports) == 0 {
		return nil
	}
	r := reports[0]
	src, err := o.testSource(r.Spec)
	if err != nil {
		return err
	}
	file, left, err := gotest.Write(src, r, gotest.Options{Package: o.test.packageName(),
		Command: "fsmgen check --test"})
	if err != nil {
		return err
	}
	for _, line := range left {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: no test for %s\n", r.Spec, line)
	}
	switch {
	case file == nil:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: there is no counterexample to write as a test\n", r.Spec)
		return nil
	case o.test.out == "":
		_, err := cmd.OutOrStdout().Write(file)
		return err
	}
	if err := files.Write(o.test.out, file); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", o.test.out)
	return nil
}

// testSource finds the machines that tests of a specification drive.
func (o *checkFlags) testSource(spec string) (gotest.Source, error) {
	load := func(check string) (*model.Protocol, error) {
		p, list := compile.Load(spec, compile.Options{Check: check, Consts: o.cfg.Compile.Consts})
		if p == nil {
			return nil, list
		}
		return p, nil
	}
	full, err := load("")
	if err != nil {
		return gotest.Source{}, err
	}
	machines, why, err := o.machines(full, spec, "")
	if err != nil {
		return gotest.Source{}, err
	}
	if why != "" {
		return gotest.Source{}, &cli.Error{Code: cli.ExitUsage, Message: why}
	}
	narrowed := func(check string) (gotest.Machines, string, error) {
		p, err := load(check)
		if err != nil {
			return gotest.Machines{}, "", err
		}
		return o.machines(p, spec, check)
	}
	return gotest.Source{Checked: load, Full: machines, Narrowed: narrowed}, nil
}

// machines finds a generated package; why says that it is not there.
func (o *checkFlags) machines(p *model.Protocol, spec, forCheck string) (m gotest.Machines, why string, err error) {
	name, flag := packageFor(p, forCheck), ""
	if forCheck != "" {
		flag = " --for " + forCheck
		why = "the check has machines of its own; "
	}
	folder := filepath.Join(o.test.machines, name)
	if !hasMachines(folder) {
		return m, fmt.Sprintf("%sthere are no machines in %s: fsmgen generate --out %s%s %s makes them; if "+
			"they are elsewhere, --machines says where",
			why, filepath.ToSlash(folder), filepath.ToSlash(o.test.machines), flag, spec), nil
	}
	api, err := golang.NewAPI(p, golang.Options{Spec: specName(spec), Package: name, ImportPath: importPath(folder)})
	return gotest.Machines{Model: p, API: api}, "", err
}

// hasMachines reports whether a folder has Go files that fsmgen wrote; others may lie there without
// any.
func hasMachines(folder string) bool {
	// the pattern is well formed unless the folder's name is not
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	return slices.ContainsFunc(names, func(f string) bool {
		content, err := files.Read(f, maxSource)
		return err == nil && ourHeader.Match(content)
	})
}
