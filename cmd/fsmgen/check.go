package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/lint"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

func init() { commands = append(commands, checkCommand) }

const checkLong = `Check explores every configuration that the instances of a check can reach and says which claims hold, with a shortest
counterexample for each that does not. SPEC is a file, a pattern, or a folder with specifications below it.

A check passes if exactly what it expects is violated (its expect, usually nothing).

Exit code 0: every check passes. 1: a check does not pass, or a specification has errors. 2: a file cannot be read, wrong flags.
3: a search ended before it was complete, and nothing unexpected was found until then.`

type checkFlags struct {
	asJSON, table, update bool
	all                   bool
	quiet                 bool
	set                   map[string]string
	memory, traceDir      string
	coverage              string // "": no, text, or a file
	strategy              strategy
	test                  testFlags
	scenarios             string
	timeout               time.Duration
	cfg                   check.Config
}

func checkCommand() *cobra.Command {
	var o checkFlags
	c := &cobra.Command{
		Use:   "check SPEC...",
		Short: "Search every reachable configuration for violated claims",
		Long:  checkLong,
		Args:  cli.Args(true, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(); err != nil {
				return err
			}
			if err := o.pageApart(args); err != nil {
				return err
			}
			files, err := expandFiles(args)
			if err != nil {
				return err
			}
			if err := o.test.parse(files); err != nil {
				return err
			}
			o.cfg.Command = commandLine()
			ctx, stop := interruptible(cmd, o.told(cmd))
			defer stop()
			return runChecks(ctx, cmd, files, &o)
		},
	}
	f := c.Flags()
	onlyFlag(f, &o.cfg.Only, "run only the check of this `name`")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.BoolVarP(&o.all, "all", "e", false,
		"print every way in which a built-in claim is violated in full, not only a shortest")
	f.BoolVar(&o.table, "table", false, "print the table only, no details")
	f.StringToStringVar(&o.set, "set", nil, "replace a constant of the specification, as `NAME=3` (may be repeated)")
	f.IntVar(&o.cfg.Explore.Workers, "workers", 0,
		"`number` of goroutines (default: one for each core); the result does not depend on it")
	f.StringVar(&o.memory, "max-memory", "4G", "stop a search at this much `memory`, such as 800M or 4G; 0 is no limit")
	f.Uint64Var(&o.cfg.Explore.MaxConfigurations, "max-configurations", 0,
		"stop a search at this `number` of configurations")
	f.DurationVar(&o.timeout, "timeout", 0, "stop each search after this `time`, such as 30s")
	f.StringVar(&o.traceDir, "trace-dir", "",
		"write every counterexample and witness into this `folder`, as text and as JSON for fsmviz --seq")
	f.StringVar(&o.coverage, "coverage", "",
		"show how often each line of the specification was used; as a page with --coverage=`FILE.html`")
	f.Lookup("coverage").NoOptDefVal = coverageText
	f.StringVar(&o.scenarios, "scenario-dir", "",
		"write every counterexample into this `folder` as a scenario, which fsmgen scenario runs")
	o.test.flags(f)
	o.strategy.flags(c, &o.cfg)
	f.BoolVar(&o.cfg.Assumptions, "assumptions", false,
		"say which assumptions about the channel each verdict needs: search again with one loss, one copy, "+
			"one exchange")
	f.BoolVar(&o.quiet, "quiet", false, "do not tell on the terminal how far a long search is")
	f.BoolVar(&o.update, "update", false,
		"write the counterexamples that checks expect to expected/ beside the specification")
	return c
}

// parse reads the flags that are not plain values.
func (o *checkFlags) parse() error {
	o.cfg.Explore.MaxTime = o.timeout
	o.cfg.Coverage = o.coverage != ""
	if o.coverage != "" && o.coverage != coverageText && filepath.Ext(o.coverage) != ".html" {
		return fmt.Errorf("--coverage=%s: name a page FILE.html, or no file for a listing", o.coverage)
	}
	if err := o.strategy.parse(&o.cfg); err != nil {
		return err
	}
	if o.memory != "0" {
		n, err := parseBytes(o.memory)
		if err != nil {
			return err
		}
		o.cfg.Explore.MaxBytes = n
	}
	most, err := withinProcess(o.cfg.Explore.MaxBytes)
	if err != nil {
		return err
	}
	o.cfg.Explore.MaxBytes = most
	o.cfg.Compile.More = lint.Whole
	o.cfg.Compile.Consts, err = setConsts(o.set)
	return err
}

// parseBytes reads 4G, 800M, 64K or a number of bytes.
func parseBytes(s string) (uint64, error) {
	digits := strings.TrimRight(strings.ToUpper(s), "KMGIB")
	unit := strings.TrimRight(strings.ToUpper(s)[len(digits):], "IB")
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}[unit]
	n, err := strconv.ParseUint(digits, 10, 34)
	if err != nil || !ok || n == 0 {
		return 0, fmt.Errorf("--max-memory %s: write a number with K, M or G, such as 4G", s)
	}
	return n << shift, nil
}

// mostLooked is how many files and folders below a folder are looked at for specifications, and
// mostSpecs how many may be among them.
const (
	mostLooked = 50_000
	mostSpecs  = 1000
)

// specFiles lists the files, and those below the folders, of the arguments.
func specFiles(args []string) ([]string, error) {
	var found []string
	for _, a := range args {
		info, err := os.Stat(a)
		switch {
		case a == "":
			return nil, errors.New("the name of a file or folder is empty")
		case err != nil:
			return nil, fmt.Errorf("%s cannot be read: %s", a, cli.Reason(err))
		}
		if !info.IsDir() {
			found = append(found, a)
			continue
		}
		below, err := files.Walk(a, mostLooked, func(path string, d fs.DirEntry) bool {
			if d.IsDir() {
				return d.Name() != "expected"
			}
			return strings.HasSuffix(path, ".yaml")
		})
		if err != nil {
			return nil, err
		}
		if len(below) > mostSpecs {
			return nil, fmt.Errorf("%s has %d files *.yaml below it, and %d are the limit; "+
				"name the folder of the specifications, or the files", a, len(below), mostSpecs)
		}
		found = append(found, below...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no specification (*.yaml) in %s", strings.Join(args, ", "))
	}
	return found, nil
}

// outcome is the result for one specification: a report, or errors.
type outcome struct {
	spec   string
	report *check.SuiteReport
	errors diag.List
}

// runChecks runs the checks of all files and prints what was found. What cannot be written, or
// cannot be explored at all, is an error that is told behind the reports.
func runChecks(ctx context.Context, cmd *cobra.Command, files []string, o *checkFlags) error {
	var reports []*check.SuiteReport
	var found []outcome
	var failed []error
	var rejected diag.List
	for _, file := range files {
		o.cfg.Explore.Progress = o.progress(o.told(cmd), file)
		o.cfg.Warn = func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), diag.Visible(text)) }
		r, list, err := check.Suite(ctx, file, o.cfg)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", file, err))
		}
		if r == nil && err != nil {
			continue
		}
		found = append(found, outcome{file, r, list})
		if r == nil {
			if err := unknownSet(file, o.set, list); err != nil {
				failed = append(failed, err)
				continue
			}
			rejected = append(rejected, list...)
			if err := list.WriteText(cmd.ErrOrStderr(), diag.Render{Excerpt: true}); err != nil {
				return err
			}
			continue
		}
		reports = append(reports, r)
		for _, x := range r.Unfit {
			fmt.Fprintln(cmd.ErrOrStderr(), unfit(x))
		}
		if r.Warnings > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: fsmgen vet %s\n", diag.Counted(r.Warnings, "warning"), file)
		}
		if len(r.Names) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s has no checks, so nothing was checked\n", file)
		}
		failed = append(failed, o.keep(cmd.ErrOrStderr(), r), o.writeScenarios(cmd, r))
	}
	if len(rejected) == 0 && errors.Join(failed...) == nil {
		if err := missingCheck(o.cfg.Only, reports); err != nil {
			return err
		}
	}
	if !o.test.alone() {
		if err := o.print(cmd.OutOrStdout(), found, reports); err != nil {
			return err
		}
	}
	failed = append(failed, o.writeTest(cmd, reports))
	if !o.test.alone() {
		failed = append(failed, o.covered(cmd.OutOrStdout(), reports))
	}
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return verdict(reports, rejected)
}

// told is the terminal on which it is told how far a search is; nil if nobody looks, or wants to know.
func (o *checkFlags) told(cmd *cobra.Command) *os.File {
	if o.quiet {
		return nil
	}
	return terminal(cmd.ErrOrStderr())
}

// progress tells on w, if there is such a terminal, how far a long search is.
func (o *checkFlags) progress(w *os.File, file string) func(explore.Progress) {
	if w == nil {
		return nil
	}
	told := time.Duration(0)
	return func(p explore.Progress) {
		if p.Elapsed < told { // the next check has begun
			told = 0
		}
		if p.Elapsed < time.Second || told > 0 && p.Elapsed < told+2*time.Second {
			return
		}
		told = p.Elapsed
		fmt.Fprintf(w, "%s: %d configurations, %d to go on from, depth %d, %d MB, %d s\n", file,
			p.Configurations, p.Frontier, p.Depth, p.Bytes>>20, int(p.Elapsed.Seconds()))
	}
}

// keep writes what the flags ask to be written.
func (o *checkFlags) keep(log io.Writer, r *check.SuiteReport) error {
	if o.traceDir != "" {
		if _, err := r.WriteRuns(o.traceDir); err != nil {
			return err
		}
	}
	if !o.update {
		return nil
	}
	names, err := r.UpdateExpected()
	for _, n := range names {
		fmt.Fprintf(log, "%s: expected/%s\n", r.Spec, n)
	}
	return err
}

// jsonReport is the JSON of one specification: its report, or its errors.
type jsonReport struct {
	Spec string `json:"spec"`
	*check.SuiteReport
	Errors json.RawMessage `json:"errors,omitempty"`
}

// printJSON prints an array with an element for each specification, in the order of the arguments.
func printJSON(w io.Writer, found []outcome) error {
	out := []jsonReport{}
	for _, f := range found {
		j := jsonReport{Spec: f.spec, SuiteReport: f.report}
		if f.report == nil {
			var b bytes.Buffer
			if err := f.errors.WriteJSON(&b); err != nil {
				return err
			}
			j.Errors = b.Bytes()
		}
		out = append(out, j)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func (o *checkFlags) print(w io.Writer, found []outcome, reports []*check.SuiteReport) error {
	if o.asJSON {
		return printJSON(w, found)
	}
	if slices.ContainsFunc(reports, func(r *check.SuiteReport) bool { return len(r.Checks) > 0 }) {
		if err := printTable(w, reports); err != nil {
			return err
		}
	}
	for _, r := range reports {
		if len(r.Names) == 0 && len(o.cfg.Only) == 0 {
			fmt.Fprintf(w, "%s has no checks: nothing was verified\n", r.Spec)
		}
	}
	if o.table {
		return nil
	}
	for _, r := range reports {
		for _, c := range r.Checks {
			text := c.Text
			if o.all {
				text = c.TextAll
			}
			if _, err := io.WriteString(w, "\n"+text(true)); err != nil {
				return err
			}
		}
	}
	return nil
}

// verdict gives the exit code; rejected are the errors of specifications without a report.
func verdict(reports []*check.SuiteReport, rejected diag.List) error {
	if len(rejected) > 0 {
		return cli.Rejected(rejected)
	}
	partial, broken := false, false
	for _, r := range reports {
		failed := slices.ContainsFunc(r.Checks, func(c *check.Report) bool { return !c.Passes && !c.Open })
		broken = broken || failed || r.Complete && !r.Passes
		partial = partial || !r.Complete
	}
	switch {
	case broken:
		return cli.Findings()
	case partial:
		return cli.Partial()
	}
	return nil
}
