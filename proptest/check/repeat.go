package check

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
)

// Repeat follows a run of the world step by step and tells it as a counterexample to a claim, which may
// be a built-in one. It is an error if the checker has no such run, or if the claim holds where the
// run ends.
func (s *System) Repeat(moves []system.Move, claim string) (*run.Run, error) {
	trace, end, err := s.Follow(moves)
	if err != nil {
		return nil, err
	}
	x := &explore.Violation{Kind: explore.ClaimViolated, Trace: trace, End: end}
	at := slices.IndexFunc(s.Claims, func(c system.Claim) bool { return c.Name == claim })
	if at < 0 {
		if len(trace) > 0 && trace[len(trace)-1].Fault != nil {
			x.Text = trace[len(trace)-1].Fault.Text
		}
		for kind, name := range builtInOf {
			if name == claim && (kind == explore.Deadlock || kind == explore.Orphan) {
				x.Kind = kind
			}
		}
		return s.run(trace, nil, end, s.problem(claim, x)), nil
	}
	c := &s.Claims[at]
	x.Claim = c.Index
	if c.Stated == nil || (c.Stated.Kind == model.Always || c.Stated.Kind == model.Agree) {
		e := &s.System.Claims[c.Index]
		holds := e.Eval(s.classes(e, end))
		if holds && c.Stated == nil && s.Checks&explore.CheckStuck != 0 {
			x.Kind = explore.Stuck
			return s.run(trace, nil, end, s.problem(claim, x)), nil
		}
		if holds {
			return nil, fmt.Errorf("for the checker %s holds where the run ends", claim)
		}
	}
	out := ClaimReport{Name: claim}
	if c.Stated != nil {
		out.Why, out.Text = c.Stated.Why, claimText(c.Stated)
	}
	s.counterexample(c, &out, x)
	return out.Counterexample, nil
}

// classes are what a claim sees of a configuration.
func (s *System) classes(e *explore.Claim, c explore.Configuration) (procs, chans []uint32) {
	procs, chans = make([]uint32, len(s.System.Procs)), make([]uint32, len(s.System.Channels))
	for i, f := range e.Procs {
		if f != nil {
			procs[i] = f(c.Locals[i])
		}
	}
	for k, f := range e.Chans {
		if f != nil {
			chans[k] = f(c.Channels[k])
		}
	}
	return procs, chans
}
