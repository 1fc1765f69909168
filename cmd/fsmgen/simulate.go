package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/built"
	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/campaign"
	"github.com/parley-go/parley/proptest/check"
	runs "github.com/parley-go/parley/runtime/run"
)

func init() { commands = append(commands, simulateCommand) }

const simulateLong = `Simulate plays runs of the checks of a specification, each from a seed, and evaluates the claims along them. A seed says which of the
check's faults its run has, how likely everything is against everything else, and what happens. It goes where a search cannot: with
--set, --capacity and --faults the machines, channels and faults may be more than the check says. It proves nothing. With --generated
each different step is taken by generated code, too, which has to do the same.

A run that violates a claim that its check does not expect is made as short as can be; the checker repeats it. Without --runs and
--for there are 10,000 runs, or with --seed that one. The run of a seed is the same everywhere.

Exit code 0: nothing unexpected was found. 1: something was, or a specification has errors. 2: a file cannot be read, wrong flags.
3: it was interrupted, and nothing unexpected was found until then.`

type simulateFlags struct {
	unfit []check.Unfit // of the specification that was loaded last
	campaign.Options
	wanted                 time.Duration
	only                   check.Only
	set                    map[string]string
	beyond                 beyond
	out, again             string
	asJSON, all            bool
	generated              bool
	table                  bool
	seeded, sized, bounded bool
}

func simulateCommand() *cobra.Command {
	var o simulateFlags
	c := &cobra.Command{
		Use:   "simulate SPEC...",
		Short: "Play many random runs with faults, and make those that violate a claim short",
		Long:  simulateLong,
		Args:  cli.Args(true, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeded, o.sized = cmd.Flags().Changed("seed"), cmd.Flags().Changed("runs") || cmd.Flags().Changed("for")
			o.bounded = cmd.Flags().Changed("capacity")
			names, err := expandFiles(args)
			if err != nil {
				return err
			}
			if err := o.parse(names); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd, terminal(cmd.ErrOrStderr()))
			defer stop()
			if o.again != "" {
				return o.repeat(ctx, cmd, names[0])
			}
			return o.simulate(ctx, cmd, names)
		},
	}
	f := c.Flags()
	f.Uint64Var(&o.Runs, "runs", 0, "`number` of runs")
	f.DurationVar(&o.wanted, "for", 0, "play runs for this `time`, such as 30s")
	f.Uint64Var(&o.Seed, "seed", 1, "`seed` of the first run; the others follow")
	onlyFlag(f, &o.only, "play runs of the check of this `name`; default: of all in turn")
	f.IntVar(&o.Steps, "steps", campaign.DefaultSteps, "the greatest `number` of steps of a run")
	f.IntVar(&o.Workers, "workers", 0,
		"`number` of runs played at a time (default: one for each core); the result does not depend on it")
	f.StringToStringVar(&o.set, "set", nil, "replace a constant of the specification, as `NAME=3` (may be repeated)")
	f.IntVar(&o.beyond.capacity, "capacity", 0,
		"`number` of messages that a channel holds, in place of what the checks say")
	f.StringVar(&o.beyond.faults, "faults", "",
		"what may go wrong, in place of what the checks say, as a `text` like 'crash: 1, restart: 1, break: 2'")
	f.StringVar(&o.beyond.instances, "instances", "",
		"who takes part, in place of what the checks say, as a `text` like 'a: peer, b: peer, c: peer'")
	f.StringVar(&o.out, "out", "",
		"write the runs that violate something unexpected into this `folder`: as JSON for --run and fsmviz --seq, "+
			"and as scenarios")
	f.StringVar(&o.again, "run", "",
		"repeat the run in this `file`, which --out or check --trace-dir has written")
	f.BoolVar(&o.generated, "generated", false, "have generated code take each step, too: it is built in the "+
		"Go module around the specification, or the present one, and nothing is written there")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.BoolVarP(&o.all, "all", "e", false, "print the runs that the checks expect, too")
	f.BoolVar(&o.table, "table", false, "print one line for each specification")
	return c
}

// parse refuses what has no meaning.
func (o *simulateFlags) parse(names []string) error {
	switch {
	case o.Steps < 1:
		return fmt.Errorf("--steps %d: a run has at least 1 step", o.Steps)
	case o.sized && o.Runs == 0 && o.wanted == 0:
		return fmt.Errorf("--runs 0: there is at least 1 run")
	case len(names) > 1 && (o.out != "" || o.again != "" || o.beyond.is()):
		return fmt.Errorf("--out, --run, --capacity, --faults and --instances "+
			"are for a single specification; there are %d", len(names))
	case o.bounded && o.beyond.capacity < 1:
		return fmt.Errorf("--capacity %d: a channel holds at least 1 message", o.beyond.capacity)
	case o.again != "" && (o.seeded || o.sized || len(o.only) > 0):
		return fmt.Errorf("--run repeats one run; --seed, --runs, --for and --check are for others")
	case !o.sized && o.seeded:
		o.Runs = 1
	case !o.sized:
		o.Runs = 10_000
	}
	return o.beyond.parse()
}

// load compiles the checks of a specification; list has the errors.
func (o *simulateFlags) load(spec string) (c *campaign.Campaign, list diag.List, err error) {
	consts, err := setConsts(o.set)
	if err != nil {
		return nil, nil, err
	}
	file, done, err := o.beyond.file(spec, o.only, consts)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	o.unfit = nil
	base, list := compile.LoadAll(file, compile.Options{Consts: consts})
	if base == nil {
		if err := unknownSet(spec, o.set, list); err != nil {
			return nil, nil, err
		}
		return nil, list, nil
	}
	c = &campaign.Campaign{}
	for _, x := range base.Checks {
		if !o.only.Has(x.Name) {
			continue
		}
		p, found := compile.Load(file, compile.Options{Check: x.Name, Consts: consts})
		if p == nil && list.HasErrors() {
			o.unfit = append(o.unfit, check.Unfit{Check: x.Name, Why: found.Errors()[0].String()})
			continue
		}
		if p == nil {
			return nil, found, nil
		}
		for _, y := range p.Checks {
			if y.Name == x.Name {
				c.Models, c.Checks = append(c.Models, p), append(c.Checks, y)
			}
		}
	}
	if len(o.unfit) > 0 && len(c.Checks) == 0 {
		return nil, list, unknownSet(spec, o.set, list)
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(base.Checks, func(x *model.Check) bool { return x.Name == name }) {
			return nil, nil, noCheck(spec, name)
		}
	}
	return c, nil, nil
}

// simulated is the result for one specification, or its errors.
type simulated struct {
	Spec string `json:"spec"`
	*campaign.Result
	Errors json.RawMessage `json:"errors,omitempty"`
}

// simulate plays the runs of all specifications.
func (o *simulateFlags) simulate(ctx context.Context, cmd *cobra.Command, names []string) error {
	var rejected diag.List
	all := []simulated{}
	failed := false
	for _, spec := range names {
		if ctx.Err() != nil {
			break
		}
		c, list, err := o.load(spec)
		if err != nil {
			return err
		}
		if c == nil {
			rejected = append(rejected, list...)
			x, err := o.refused(cmd, spec, list)
			if err != nil {
				return err
			}
			all = append(all, x)
			continue
		}
		for _, x := range o.unfit {
			fmt.Fprintln(cmd.ErrOrStderr(), unfit(x))
		}
		if len(c.Checks) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s has no checks: there is nothing to play\n", spec)
			continue
		}
		r, err := o.play(ctx, c, spec)
		if err != nil && ctx.Err() != nil {
			break // while it was built
		}
		if err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
		failed = failed || r.Failed()
		all = append(all, simulated{Spec: spec, Result: r})
		if err := o.tell(cmd, spec, r); err != nil {
			return err
		}
	}
	if o.asJSON {
		b, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		if _, err := cmd.OutOrStdout().Write(append(b, '\n')); err != nil {
			return err
		}
	}
	switch {
	case len(rejected) > 0:
		return cli.Rejected(rejected)
	case failed:
		return cli.Findings()
	case ctx.Err() != nil:
		return cli.Partial()
	}
	return nil
}

// play plays the runs of one specification.
func (o *simulateFlags) play(ctx context.Context, c *campaign.Campaign, spec string) (*campaign.Result, error) {
	run := o.Options
	compare, done, err := o.compare(ctx, c, spec)
	if err != nil {
		return nil, err
	}
	defer done()
	run.Compare = compare
	if o.wanted > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.wanted)
		defer stop()
	}
	return c.Run(ctx, run)
}

// compare builds the generated machines, if that was asked for. done ends them.
func (o *simulateFlags) compare(ctx context.Context, c *campaign.Campaign, spec string) (compare campaign.Compare,
	done func(), err error) {
	if !o.generated {
		return nil, func() {}, nil
	}
	at, err := moduleOf(spec)
	if err != nil {
		return nil, nil, err
	}
	m, err := built.Build(ctx, at, c.Models, c.Checks)
	if err != nil {
		return nil, nil, err
	}
	return m.Compare, m.Close, nil
}

// moduleOf finds the Go module around a specification, or else around the present folder.
func moduleOf(spec string) (at built.Module, err error) {
	for _, dir := range []string{filepath.Dir(spec), "."} {
		full, err := filepath.Abs(dir)
		if err != nil {
			return at, err
		}
		if root, ok := moduleRoot(full); ok {
			return built.Module{Root: root, Path: importPath(root)}, nil
		}
	}
	return at, errors.New("generated code is built in a Go module that requires github.com/parley-go/parley, " +
		"and there is none around the specification or the present folder: go mod init makes one")
}

// refused tells the errors of a specification.
func (o *simulateFlags) refused(cmd *cobra.Command, spec string, list diag.List) (x simulated, err error) {
	x.Spec = spec
	var b strings.Builder
	if o.asJSON {
		err = list.WriteJSON(&b)
		x.Errors = json.RawMessage(b.String())
		return x, err
	}
	if err := list.WriteText(&b, diag.Render{Excerpt: true}); err != nil {
		return x, err
	}
	_, err = io.WriteString(cmd.ErrOrStderr(), o.beyond.named(b.String()))
	return x, err
}

// tell prints a result, and writes the runs.
func (o *simulateFlags) tell(cmd *cobra.Command, spec string, r *campaign.Result) error {
	again := func(check string, seed uint64) string {
		return "fsmgen simulate " + spec + o.flags() + fmt.Sprintf(" --check %s --seed %d", check, seed)
	}
	var err error
	switch {
	case o.asJSON:
	case o.table:
		_, err = io.WriteString(cmd.OutOrStdout(), r.Line(spec)+"\n")
	default:
		_, err = io.WriteString(cmd.OutOrStdout(), r.Text(spec, again, o.all, true))
	}
	if err != nil || o.out == "" {
		return err
	}
	return o.write(cmd, spec, r)
}

// flags are those that decide what the run of a seed is.
func (o *simulateFlags) flags() string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(o.set)) {
		text += " --set " + name + "=" + o.set[name]
	}
	if o.generated {
		text += " --generated"
	}
	if text += o.beyond.flags(); o.Steps != campaign.DefaultSteps {
		text += fmt.Sprint(" --steps ", o.Steps)
	}
	return text
}

// write writes the runs of unexpected violations, with --all of all.
func (o *simulateFlags) write(cmd *cobra.Command, spec string, r *campaign.Result) error {
	kept := ""
	for _, c := range r.Checks {
		for i := range c.Found {
			f := &c.Found[i]
			if f.Run == nil || f.Expected && !o.all {
				continue
			}
			if kept == "" {
				var err error
				if kept, err = o.beyond.keep(spec, o.out, o.only, o.set); err != nil {
					return err
				}
			}
			if err := o.writeRun(cmd, kept, c.Name+"."+f.Claim, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeRun writes a run of a specification, or of the variant that was kept.
func (o *simulateFlags) writeRun(cmd *cobra.Command, spec, name string, f *campaign.Finding) error {
	log := cmd.ErrOrStderr()
	name = filepath.Join(o.out, name)
	b, err := json.MarshalIndent(f.Run, "", "  ")
	if err != nil {
		return err
	}
	list := []files.File{{Path: name + ".json", Content: append(b, '\n')}}
	text, why := scenario.Of(f.Run, loader(spec, cmd))
	if why == nil {
		list = append(list, files.File{Path: name + ".txt", Content: []byte(text)})
	} else {
		fmt.Fprintf(log, "%s: no scenario for %s: %v\n", spec, name, why)
	}
	if err := files.WriteAll(list); err != nil {
		return err
	}
	for _, x := range list {
		fmt.Fprintf(log, "wrote %s\n", x.Path)
	}
	fmt.Fprintf(log, "again: fsmgen simulate %s --run %s.json\n", spec, name)
	if why == nil {
		fmt.Fprintf(log, "again: fsmgen scenario %s %s.txt\n", spec, name)
	}
	return nil
}

// maxRun is the most bytes that are read of a run.
const maxRun = 64 << 20

// repeat repeats the run in a file.
func (o *simulateFlags) repeat(ctx context.Context, cmd *cobra.Command, spec string) error {
	text, err := files.Read(o.again, maxRun)
	if err != nil {
		return err
	}
	r, err := runs.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.again, err)
	}
	c, list, err := o.load(spec)
	if err != nil {
		return err
	}
	if c == nil {
		if _, err := o.refused(cmd, spec, list); err != nil {
			return err
		}
		return cli.Rejected(list)
	}
	compare, done, err := o.compare(ctx, c, spec)
	if err != nil {
		return err
	}
	defer done()
	found, err := c.Repeat(r, compare)
	if err != nil {
		return fmt.Errorf("%s: %w", o.again, err)
	}
	w := cmd.OutOrStdout()
	if len(found) == 0 {
		fmt.Fprintf(w, "%s: %s of check %s, which violate nothing\n", o.again,
			diag.Counted(len(r.Steps), "step"), r.Check)
		return nil
	}
	unexpected := false
	for _, f := range found {
		unexpected = unexpected || !f.Expected
		fmt.Fprintf(w, "%s: check %s violates %s%s\n%s", o.again, r.Check, f.Claim,
			map[bool]string{true: ", as expected"}[f.Expected], f.Run.Text())
	}
	if unexpected {
		return cli.Findings()
	}
	return nil
}
