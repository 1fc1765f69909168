package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/prove"
	"github.com/parley-go/parley/proptest/prove/certify"
)

func init() { commands = append(commands, proveCommand) }

const proveLong = `Prove establishes the claims of checks for channels without a bound, or says that it could not.

If the channels of a check close by themselves, so that none is ever full, what holds there holds for every capacity. Otherwise
runs of messages that grow without end are collapsed into blocks that stand for runs of any length. Every real run is then among
the collapsed ones, so what none of those violates is proved. What one of them violates is looked for among real runs, and
believed only if it is found.

Environment rules are part of the system. --lift leaves out what they say about lengths of channels, --lift=rules leaves out all of them:
every command at any moment.

Opaque types get more values than the check gives them, until more would make no difference, or until a run violates something:
it is shown. If neither is reached, the headline says for how many values the result is.

--certificate writes the closed set of configurations; --verify has a small checker that shares nothing with the search verify it.

Checks with faults, time, links that come up, or several honest instances beside a hostile one are of a sort that no proof is made for: they
are not attempted, and the report says why. That changes the exit code only if no other check is there, or if --check names one.

Exit code 0: everything is proved (or violated, where the check expects that) that could be attempted. 1: a claim is violated, with a real
run; a certificate is not accepted; a specification has errors. 2: a file cannot be read, wrong flags. 3: something is not established, or
nothing was attempted.`

type proveFlags struct {
	only                              check.Only
	lift, certificate, verify, memory string
	asJSON                            bool
	timeout                           time.Duration
	o                                 prove.Options
}

func proveCommand() *cobra.Command {
	var o proveFlags
	c := &cobra.Command{
		Use:   "prove SPEC",
		Short: "Prove claims for channels without a bound, with a certificate",
		Long:  proveLong,
		Args:  cli.Args(false, "a specification"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := cli.SpecFile(args[0])
			if err != nil {
				return err
			}
			if o.verify != "" {
				return verifyCertificate(cmd, o.verify, file)
			}
			if err := o.parse(); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd, terminal(cmd.ErrOrStderr()))
			defer stop()
			return runProve(ctx, cmd, file, &o)
		},
	}
	f := c.Flags()
	onlyFlag(f, &o.only, "prove only the check of this `name`")
	f.StringVar(&o.lift, "lift", "", "leave out what environment rules say about lengths of channels, or "+
		"(`rules`) all rules")
	f.Lookup("lift").NoOptDefVal = string(prove.LiftLengths)
	f.StringVar(&o.certificate, "certificate", "", "write the certificate to this `file` (one check only)")
	f.StringVar(&o.verify, "verify", "", "verify the certificate in this `file`, and do nothing else")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.IntVar(&o.o.MaxConfigurations, "max-configurations", 0,
		"stop each search at this `number` of configurations (default 1000000)")
	f.StringVar(&o.memory, "max-memory", "2G", "stop a search at this much `memory`, such as 800M or 4G")
	f.DurationVar(&o.timeout, "timeout", 0, "stop after this `time`, such as 30s")
	f.IntVar(&o.o.Workers, "workers", 0, "`number` of goroutines (default: one for each core); the result "+
		"does not depend on it")
	return c
}

// errTimeUp is why a search ends that has come to --timeout.
var errTimeUp = errors.New("the time was up (--timeout gives more)")

func (o *proveFlags) parse() error {
	o.o.Lift = prove.Lift(o.lift)
	switch o.o.Lift {
	case prove.LiftNothing, prove.LiftLengths, prove.LiftRules:
	default:
		return fmt.Errorf("--lift=%s: what can be left out is lengths (--lift) or rules", o.lift)
	}
	n, err := parseBytes(o.memory)
	o.o.MaxBytes = n
	return err
}

// loadFor compiles a specification for each check that is asked for; errors of the specification
// are reported on stderr.
func loadFor(file string, stderr io.Writer) func(check string) (*model.Protocol, error) {
	return func(check string) (*model.Protocol, error) {
		p, list := compile.Load(file, compile.Options{Check: check})
		if p != nil {
			return p, nil
		}
		return nil, errors.Join(cli.Rejected(list), list.WriteText(stderr, diag.Render{Excerpt: true}))
	}
}

func runProve(ctx context.Context, cmd *cobra.Command, file string, o *proveFlags) error {
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, errTimeUp)
		defer cancel()
	}
	load := loadFor(file, cmd.ErrOrStderr())
	base, err := load("")
	if err != nil {
		return err
	}
	names, err := checksOf(base, o.only)
	if err != nil {
		return err
	}
	if o.certificate != "" && len(names) != 1 {
		return fmt.Errorf("a certificate is about one check: choose one of %s with --check", strings.Join(names, ", "))
	}
	reports := []*prove.Report{}
	for _, name := range names {
		r, cert, err := prove.Check(ctx, load, name, base, o.o)
		if err != nil {
			return err
		}
		r.Spec = file
		reports = append(reports, r)
		if err := writeCertificate(o.certificate, cert, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	if err := printProofs(cmd.OutOrStdout(), reports, o.asJSON); err != nil {
		return err
	}
	return proveVerdict(reports)
}

// checksOf lists the names of the checks that were chosen.
func checksOf(p *model.Protocol, only check.Only) ([]string, error) {
	var names []string
	for _, c := range p.Checks {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no checks", p.Files[0])
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has no check %s%s", p.Files[0], name, nearChecks(name, names))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !only.Has(name) }), nil
}

func writeCertificate(file string, c *certify.Certificate, log io.Writer) error {
	if file == "" {
		return nil
	}
	if c == nil {
		fmt.Fprintln(log, "there is no certificate: nothing was established")
		return nil
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		return err
	}
	return files.Write(file, b.Bytes())
}

func printProofs(w io.Writer, reports []*prove.Report, asJSON bool) error {
	if asJSON {
		b, err := json.MarshalIndent(reports, "", "  ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(b, '\n'))
		return err
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := io.WriteString(w, r.Text(true)); err != nil {
			return err
		}
	}
	return nil
}

// proveVerdict gives the exit code.
func proveVerdict(reports []*prove.Report) error {
	partial, attempted := false, false
	for _, r := range reports {
		switch r.Verdict {
		case prove.Violated:
			return cli.Findings()
		case prove.NotEstablished:
			partial = true
		}
		attempted = attempted || r.Verdict != prove.NotAttempted
	}
	if partial || !attempted {
		return cli.Partial()
	}
	return nil
}

// verifyCertificate has the small checker look at a certificate.
func verifyCertificate(cmd *cobra.Command, file, spec string) error {
	f, err := files.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := certify.Verify(f, loadFor(spec, cmd.ErrOrStderr()))
	var e *cli.Error
	switch {
	case errors.As(err, &e):
		return err
	case err != nil:
		fmt.Fprintf(cmd.OutOrStdout(), "%s is not accepted: %s\n", file, cli.Describe(err))
		return cli.Findings()
	}
	lift := ""
	if r.Lift != "" {
		lift = ", without " + map[string]string{"lengths": "what rules say about lengths",
			"rules": "environment rules"}[r.Lift]
	}
	if r.Values > 0 {
		lift += fmt.Sprintf(", %s of each opaque type", diag.Counted(r.Values, "value"))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is accepted: check %s of %s, channels without a bound%s\n", file,
		r.Check, r.Spec, lift)
	fmt.Fprintf(cmd.OutOrStdout(), "  %s and closed under %s\n", holding(r.Configurations),
		diag.Counted(r.Steps, "step"))
	fmt.Fprintf(cmd.OutOrStdout(), "  proved: %s\n", strings.Join(r.Claims, ", "))
	return nil
}

// holding says what a certificate's configurations are.
func holding(n int) string {
	if n == 1 {
		return "1 configuration holds the beginning and is"
	}
	return fmt.Sprintf("%d configurations hold the beginning and are", n)
}
