package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/parse"
)

func init() { commands = append(commands, generateCommand) }

// generateFlags are the flags of fsmgen generate.
type generateFlags struct {
	out, pkg    string
	forCheck    string
	check, diff bool
	tests       bool
}

func generateCommand() *cobra.Command {
	var f generateFlags
	c := &cobra.Command{
		Use:   "generate [SPEC...]",
		Short: "Generate Go packages from specifications",
		Long: `Generate writes one Go package for each specification, in a folder of its own under --out: the machine of
every role, its runner, and the codecs of the messages. Only files that change are written, and each is named; files that
it wrote before from these specifications, and that they do not give any more, are removed; a folder or a pattern stands for those
that are gone from it, too. Other files are left alone: if one of them, or the package of
another specification, is in the way, nothing is written.

A SPEC is a file, a pattern, or a folder, which stands for the spec.yaml in it or in its folders. With --check nothing is written: each stale, missing or orphaned file is listed.

Exit code 0: done, or nothing to do. 1: a specification has errors, or --check found something. 2: wrong usage, or a file
cannot be read or written.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if _, err := os.Stat(specsFolder); err != nil {
					return fmt.Errorf("name a specification, such as fsmgen generate hello/spec.yaml: there "+
						"is no folder %s here", specsFolder)
				}
				args = []string{specsFolder}
			}
			return generate(cmd, f, args)
		},
	}
	c.Flags().StringVarP(&f.out, "out", "o", "machines", "`folder` that the packages go to")
	c.Flags().StringVar(&f.pkg, "pkg", "", "`name` of the package, for a single SPEC; default: the protocol's")
	c.Flags().StringVar(&f.forCheck, "for", "", "make machines of the size that the `check` explores, in a "+
		"package of their own; tests of its counterexamples use them")
	c.Flags().BoolVar(&f.tests, "tests", false, "write a test beside each package, verify_test.go, which holds it and "+
		"its specification to what they say; a file of that name stays as it is")
	c.Flags().BoolVar(&f.check, "check", false, "write nothing; list what is stale, missing or orphaned")
	c.Flags().BoolVarP(&f.diff, "diff", "d", false, "write nothing; show what would change")
	return c
}

// specsFolder is the folder that is generated from if no file is named.
const specsFolder = "specs"

func generate(cmd *cobra.Command, f generateFlags, args []string) error {
	specs, err := expandFiles(soundFiles(args))
	if err != nil {
		return err
	}
	if complaint := parse.PackageName(f.pkg); f.pkg != "" && complaint != "" {
		return &cli.Error{Code: cli.ExitUsage, Message: fmt.Sprintf("--pkg %q %s", f.pkg, complaint)}
	}
	if f.pkg != "" && len(specs) > 1 {
		return &cli.Error{Code: cli.ExitUsage, Message: "--pkg names one package, but there are several specifications"}
	}
	if f.tests && f.forCheck != "" {
		return &cli.Error{Code: cli.ExitUsage, Message: "--tests is for machines as the specification has them, " +
			"not of the size that a check explores (--for)"}
	}
	packages, err := generateAll(cmd, f, specs)
	if err != nil {
		return err
	}
	changes, err := compareTree(f.out, packages, gone(f.out, args))
	if err == nil {
		err = notOurs(f.out, packages, changes)
	}
	if err == nil && f.tests {
		var tests []change
		tests, err = verifyTests(f.out, packages)
		changes = append(changes, tests...)
	}
	if err != nil {
		return err
	}
	if f.check || f.diff {
		for _, c := range changes {
			if f.check {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", c.path, c.kind)
			}
			if f.diff {
				fmt.Fprint(cmd.OutOrStdout(), unifiedDiff(c.path, c.old, c.new))
			}
		}
		if len(changes) > 0 {
			return cli.Findings()
		}
		return nil
	}
	return applyChanges(cmd.OutOrStdout(), changes)
}

// soundFiles puts the specifications that packages are made from in the place of
// folders: their spec.yaml, or those of the folders inside; not the variants beside them.
func soundFiles(args []string) []string {
	var out []string
	for _, a := range args {
		own := filepath.Join(a, "spec.yaml")
		inside, _ := filepath.Glob(filepath.Join(a, "*", "spec.yaml"))
		if _, err := os.Stat(own); err == nil {
			out = append(out, own)
		} else if info, err := os.Stat(a); err == nil && info.IsDir() && len(inside) > 0 {
			out = append(out, inside...)
		} else {
			out = append(out, a)
		}
	}
	return out
}

// generated is one package: its folder under --out and its files.
type generated struct {
	dir, spec string
	file      string // the specification as it was named
	files     map[string][]byte
	protocol  *model.Protocol
	options   golang.Options
}

// generateAll compiles and generates every specification; all errors are
// shown before it gives up.
func generateAll(cmd *cobra.Command, f generateFlags, specs []string) ([]generated, error) {
	var found diag.List
	var out []generated
	taken := map[string]string{}
	for _, spec := range specs {
		p, diags := compile.Load(spec, compile.Options{Check: f.forCheck})
		found = append(found, diags...)
		if p == nil {
			continue
		}
		o := golang.Options{Spec: specName(spec), Package: f.pkg, Check: f.forCheck}
		if o.Package == "" {
			o.Package = packageFor(p, f.forCheck)
		}
		o.ImportPath = importPath(filepath.Join(f.out, o.Package))
		if other := taken[o.Package]; other != "" {
			return nil, &cli.Error{Code: cli.ExitUsage,
				Message: fmt.Sprintf("%s and %s both give the package %s; generate one of them with --pkg "+
					"or --out", other, spec, o.Package)}
		}
		taken[o.Package] = spec
		files, err := golang.Generate(p, o)
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), err)
			if bad := (*golang.NotGo)(nil); errors.As(err, &bad) {
				reportBug(cmd.ErrOrStderr(), bad)
			}
			return nil, cli.Findings()
		}
		out = append(out, generated{dir: o.Package, spec: o.Origin(), file: spec, files: files, protocol: p,
			options: o})
	}
	found.Sort()
	if err := found.Errors().WriteText(cmd.ErrOrStderr(),
		diag.Render{Excerpt: true, Limit: 20, More: "fsmgen vet --all shows them"}); err != nil {
		return nil, err
	}
	if found.HasErrors() {
		return nil, cli.Rejected(found)
	}
	return out, nil
}

// packageFor names the package of a specification, or of the machines of the size that one of its
// checks explores.
func packageFor(p *model.Protocol, check string) string {
	name := golang.PackageName(p)
	if check != "" {
		name += strings.ToLower(golang.GoName(check))
	}
	return name
}

// reportBug keeps generated code that is no Go for a report: it is too long for a terminal.
func reportBug(w io.Writer, bad *golang.NotGo) {
	f, err := os.CreateTemp("", "fsmgen-*.go.txt")
	if err != nil {
		return // the message says what is most important
	}
	defer f.Close()
	if _, err := f.Write(bad.Source); err == nil {
		fmt.Fprintf(w, "the code is in %s; please report it together with the specification\n", f.Name())
	}
}

// specName names a specification in generated files: relative to the module, so that the name does
// not depend on where fsmgen runs; outside modules as it was given, without its folder if that is
// absolute.
func specName(spec string) string {
	if abs, err := filepath.Abs(spec); err == nil {
		if root, ok := moduleRoot(filepath.Dir(abs)); ok {
			if rel, err := filepath.Rel(root, abs); err == nil {
				return filepath.ToSlash(rel)
			}
		}
	}
	if filepath.IsAbs(spec) {
		return filepath.Base(spec)
	}
	return path.Clean(filepath.ToSlash(spec))
}

// moduleRoot finds the folder of the module around an absolute path.
func moduleRoot(abs string) (string, bool) {
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// importPath is the Go import path of a folder: that of the module around it and the
// way from there. Outside modules it is the folder's name.
func importPath(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.ToSlash(dir)
	}
	root, ok := moduleRoot(abs)
	if !ok {
		return filepath.Base(dir)
	}
	mod, _ := files.Read(filepath.Join(root, "go.mod"), maxSource) // moduleRoot has just seen it
	rel, _ := filepath.Rel(root, abs)
	return path.Join(modulePath(string(mod)), filepath.ToSlash(rel))
}

func modulePath(mod string) string {
	for line := range strings.Lines(mod) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}
