package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
)

// Config describes how a suite is run.
type Config struct {
	// Only names the checks to run. A specification without any of them gives a report without checks.
	Only Only
	// Compile is for the compiler; its Check is ignored.
	Compile compile.Options
	// IgnoreExpect are claims that checks shall not expect to be violated, though they say so; [AllClaims]: none.
	IgnoreExpect []string
	// Assumptions asks which assumptions about the channel each verdict needs.
	Assumptions bool
	// Command is the command line, for the reports.
	Command string
	// Coverage asks how often each line of the specification was used.
	Coverage bool
	// Aim names the claim that a guided search tries to violate; empty: any error.
	Aim string
	// Warn, if set, is told before each search what may keep it from coming to an end.
	Warn func(string)
	// Explore has the limits and the workers; Checks and KeepGoing are ignored.
	Explore explore.Options
}

// Only names some checks; empty: all.
type Only []string

// Has reports whether a check is among them.
func (o Only) Has(name string) bool { return len(o) == 0 || slices.Contains(o, name) }

// Suite compiles a specification and runs its checks one after the other. The list has the
// compiler's errors; then the report is nil. Other errors are about checks that cannot be explored
// at all; the report has the others. Checks that Compile.Consts do not fit are not run, and the report
// names them; if they fit none, the list says why. A specification without checks gives a report without checks.
func Suite(ctx context.Context, path string, cfg Config) (*SuiteReport, diag.List, error) {
	o := cfg.Compile
	base, list := compile.LoadAll(path, o)
	if base == nil {
		return nil, list, nil
	}
	cfg.unexpecting(base)
	some := list.HasErrors() // some check does not fit the constants
	o.More = nil             // it has been asked
	out := &SuiteReport{Warnings: len(list) - len(list.Errors()), Spec: path, Protocol: base.Name, Passes: true,
		Complete: true, Checks: []*Report{}}
	var failed []error
	for _, c := range base.Checks {
		out.Names = append(out.Names, c.Name)
		if !cfg.Only.Has(c.Name) {
			continue
		}
		o.Check = c.Name
		p, found := compile.Load(path, o)
		if p == nil && some {
			out.Unfit = append(out.Unfit, report.Unfit{Check: c.Name, Why: found.Errors()[0].String()})
			continue
		}
		if p == nil {
			return nil, found, nil
		}
		cfg.unexpecting(p)
		r, err := one(ctx, p, c.Name, base, cfg)
		if err != nil {
			failed = append(failed, fmt.Errorf("check %s: %w", c.Name, err))
			out.Passes, out.Complete = false, false
			continue
		}
		r.Spec, r.Command = path, cfg.Command
		out.Checks = append(out.Checks, r)
		out.Passes = out.Passes && r.Passes
		out.Complete = out.Complete && !r.Open && r.Ended == ""
	}
	if len(out.Unfit) > 0 && len(out.Checks) == 0 && len(failed) == 0 {
		return nil, list, nil
	}
	out.JudgeAll(base)
	if cfg.Coverage {
		out.Cover(base)
	}
	out.Verdict = out.Worst()
	return out, nil, errors.Join(failed...)
}

// AllClaims stands for all claims in Config.IgnoreExpect.
const AllClaims = "all"

func (cfg *Config) unexpecting(p *model.Protocol) { Unexpect(p, cfg.IgnoreExpect) }

// Unexpect takes claims out of what the checks of a model expect to be violated.
func Unexpect(p *model.Protocol, claims []string) {
	for _, c := range p.Checks {
		c.Expect = slices.DeleteFunc(slices.Clone(c.Expect), func(e model.Expectation) bool {
			return slices.Contains(claims, AllClaims) || slices.Contains(claims, e.Name)
		})
	}
}

func one(ctx context.Context, p *model.Protocol, name string, base *model.Protocol, cfg Config) (*Report, error) {
	for _, c := range p.Checks {
		if c.Name == name {
			s, err := New(p, c)
			if err != nil {
				return nil, err
			}
			o := cfg.Explore
			o.Checks = 0
			if err := s.aim(&o, cfg.Aim); err != nil {
				return nil, err
			}
			if cfg.Coverage {
				s.Cover()
			}
			if cfg.Warn != nil {
				for _, w := range s.Warnings() {
					cfg.Warn(w)
				}
			}
			r, err := s.Run(ctx, o, base)
			if err == nil && cfg.Assumptions {
				r.Needs, err = s.Needs(ctx, o, r)
			}
			return r, err
		}
	}
	return nil, fmt.Errorf("the compiled specification has no check %s", name)
}
