package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
)

func init() { commands = append(commands, scenarioCommand) }

func scenarioCommand() *cobra.Command {
	var update bool
	c := &cobra.Command{
		Use:   "scenario SPEC [FILE...]",
		Short: "Run scenarios: small stories of a protocol with their exact outcome",
		Long: `Scenario runs text files that tell what happens step by step, and compares what the machines do with what the files say.
Without FILEs: all scenarios/*.txt beside the specification. The form of the files is in docs/LANGUAGE.md, under Scenarios.

Exit code 0: all say what happens. 1: some say something else, or have a line that cannot be done.
2: a file cannot be read.`,
		Args: cli.Args(true, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := cli.SpecFile(args[0])
			if err != nil {
				return err
			}
			files := args[1:]
			if len(files) == 0 {
				pattern := filepath.Join(filepath.Dir(spec), "scenarios", "*.txt")
				if files, err = filepath.Glob(pattern); err != nil || len(files) == 0 {
					return fmt.Errorf("no scenarios: %s matches nothing", pattern)
				}
			}
			return runScenarios(cmd, spec, files, update)
		},
	}
	c.Flags().BoolVar(&update, "update", false, "write what happens into the files")
	return c
}

// loader compiles a specification for its checks, the first one for "".
func loader(spec string, cmd *cobra.Command) scenario.Load {
	return func(check string) (*model.Protocol, error) {
		if check == "" {
			names := checkNames(spec)
			if len(names) > 0 {
				check = names[0]
			}
		}
		p, diags := compile.Load(spec, compile.Options{Check: check})
		if p != nil {
			return p, nil
		}
		if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == "FSM085" }) {
			return nil, noCheck(spec, check) // its place is in the scenario, not in the specification
		}
		if err := diags.WriteText(cmd.ErrOrStderr(),
			diag.Render{Excerpt: true, Limit: 20, More: "fsmgen vet --all shows them"}); err != nil {
			return nil, err
		}
		return nil, cli.Rejected(diags)
	}
}

// checkNames are the checks of a specification, none if it has errors.
func checkNames(spec string) []string {
	var names []string
	if p, _ := compile.Load(spec, compile.Options{}); p != nil {
		for _, c := range p.Checks {
			names = append(names, c.Name)
		}
	}
	return names
}

// noCheck says which checks there are.
func noCheck(spec, check string) error {
	names := checkNames(spec)
	switch near := diag.Nearest(check, names); {
	case len(names) == 0:
		return fmt.Errorf("%s has no check %s", spec, check)
	case near != "":
		return fmt.Errorf("%s has no check %s; did you mean %s? The checks are %s", spec, check, near,
			strings.Join(names, ", "))
	}
	return fmt.Errorf("%s has no check %s; the checks are %s", spec, check, strings.Join(names, ", "))
}

func runScenarios(cmd *cobra.Command, spec string, names []string, update bool) error {
	differ := 0
	for _, name := range names {
		got, wrong, err := runScenario(cmd, spec, name)
		if err != nil {
			return err
		}
		switch {
		case len(wrong) == 0:
			fmt.Fprintf(cmd.OutOrStdout(), "ok      %s (%s)\n", name, diag.Counted(len(got), "block"))
		case update:
			if err := files.Write(name, []byte(scenario.Format(got))); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "updated %s (%s)\n", name, diag.Counted(len(wrong), "block"))
		default:
			differ++
			for _, w := range wrong {
				fmt.Fprintf(cmd.OutOrStdout(),
					"%s:%d: something else happens (- as the file says, + as it is)\n", name, w.Block.Line)
				for _, e := range lineDiff(splitLines([]byte(w.Want)), splitLines([]byte(w.Got))) {
					fmt.Fprintf(cmd.OutOrStdout(), "  %c %s\n", e.mark, e.line)
				}
			}
		}
	}
	if differ > 0 {
		return cli.Findings()
	}
	return nil
}

// maxScenario is the most bytes that are read of a scenario.
const maxScenario = 16 << 20

func runScenario(cmd *cobra.Command, spec, name string) ([]scenario.Block, []scenario.Mismatch, error) {
	text, err := files.Read(name, maxScenario)
	if err != nil {
		return nil, nil, err
	}
	blocks, err := scenario.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, nil, inScenario(cmd, name, text, err)
	}
	got, wrong, err := scenario.Run(blocks, loader(spec, cmd))
	if err != nil {
		return nil, nil, inScenario(cmd, name, text, err)
	}
	return got, wrong, nil
}

// inScenario tells what is wrong with a line of a scenario as diagnostics are told: with its place,
// and the line. What is wrong with the specification was told already.
func inScenario(cmd *cobra.Command, name string, text []byte, err error) error {
	var at *scenario.LineError
	if errors.As(err, new(*cli.Error)) || !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", name, err)
	}
	message := fmt.Sprintf("%s:%d:1: %v", name, at.Line, at.Err)
	if lines := splitLines(text); at.Line >= 1 && at.Line <= len(lines) {
		message += "\n    " + lines[at.Line-1]
	}
	fmt.Fprintln(cmd.ErrOrStderr(), diag.Visible(message))
	return cli.Findings()
}
