package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
)

// Run explores the system and reports what was found. base, if not nil, is the
// specification without the check's constants and domains, to name what the
// check replaced. The error is about the system only; limits and violations
// are in the report.
func (s *System) Run(ctx context.Context, o explore.Options, base *model.Protocol) (*Report, error) {
	o.KeepGoing = true
	if o.MaxConfigurations == 0 && o.MaxFlooded == 0 && !s.Check.Expects(Overflow) {
		o.MaxFlooded = maxFlooded
	}
	refused := s.reduce(o.Reduce)
	res, r, err := s.judged(ctx, o)
	if err != nil {
		return nil, err
	}
	r.Search = searchWords[o.Mode]
	r.Assumptions = append(s.assumptions(res, base), s.fairnessWords()...)
	if len(s.Frames.Unseen) > 0 {
		r.Assumptions = append(r.Assumptions, "texts and opaque numbers that the check does not look into fit into "+
			"frames; not all would: "+strings.Join(s.Frames.Unseen, "; "))
	}
	r.NotReduced = append(refused, res.Refused...)
	if s.Dead != nil {
		r.Reductions = append(r.Reductions, s.deadNames()...)
	}
	r.Limits = s.limitsOf(res, r)
	r.Assumptions = append(r.Assumptions, report.LimitWords(r.Limits)...)
	if r.Refused = s.Refusal; s.Refusal != "" {
		r.Assumptions = append(r.Assumptions, "a command that would be a fault is not given: "+s.Refusal)
	}
	if s.Faulty != "" {
		r.Assumptions = append(r.Assumptions,
			"a message of a hostile instance that would be a fault is refused: "+s.Faulty)
	}
	if s.Counted != nil {
		r.Uses = s.Covered(res)
	}
	r.Advice, r.Multiplied = append(s.advice(o, res), remedies(r)...), s.multiplied(res)
	return r, nil
}

// maxFlooded is about how many configurations are searched behind a full channel that no check expects. It is more
// than any small protocol has, and takes about a second.
const maxFlooded = 1_000_000

// First is Run for who only asks whether the check passes: the search of a check that expects nothing ends at the
// first violation. Then the report has no more than that, and it never has assumptions, limits or advice.
func (s *System) First(ctx context.Context, o explore.Options) (*Report, error) {
	o.KeepGoing = slices.ContainsFunc(s.Check.Expect, func(x model.Expectation) bool {
		return !slices.Contains(model.ClaimsOverAll(), x.Name) // those over all are not looked for here
	})
	s.reduce(o.Reduce)
	_, r, err := s.judged(ctx, o)
	return r, err
}

// judged searches and says what was found.
func (s *System) judged(ctx context.Context, o explore.Options) (*explore.Result, *Report, error) {
	if o.Checks == 0 {
		o.Checks = s.Checks
	}
	res, err := explore.Run(ctx, s.System, o)
	if err != nil {
		return nil, nil, err
	}
	r := s.report(res)
	s.coverage(r, res)
	r.Judge(res.Complete, res.Why, s.RuleFaults())
	return res, r, nil
}

var searchWords = map[explore.Mode]string{explore.BreadthFirst: "breadth-first",
	explore.DepthFirst: "depth-first", explore.Guided: "guided", explore.RandomWalk: report.Walks}

func (s *System) report(res *explore.Result) *Report {
	p := s.Protocol
	r := &Report{
		Protocol: p.Name, Check: s.Check.Name, Doc: s.Check.Doc, Hash: p.Text, Machines: p.Hash,
		Configurations: res.Configurations, Steps: res.Steps, Depth: res.Depth, Seconds: res.Seconds,
		PeakBytes: res.PeakBytes, TableBytes: res.TableBytes, Reductions: res.Reductions,
	}
	if len(p.Files) > 0 {
		r.Spec = p.Files[0]
	}
	r.Unexpanded, r.Within = res.Frontier, within(res)
	for _, p := range s.Procs {
		r.Instances = append(r.Instances, p.Inst.Name)
		if p.Inst.IsHostile() {
			r.Hostile = append(r.Hostile, p.Inst.Name)
		}
		r.Sampled = r.Sampled || slices.ContainsFunc(p.Attacks, func(a system.Attack) bool { return len(a.Left) > 0 })
	}
	for k, n := range res.Widest[:s.Own] {
		c := &s.System.Channels[k]
		r.Channels = append(r.Channels, Channel{Name: c.Name, Widest: n, Capacity: c.Cap})
		r.WidestChannel = max(r.WidestChannel, n)
	}
	for _, x := range s.Check.Expect {
		r.Expect = append(r.Expect, x.Name)
	}
	for i := range s.Claims {
		r.Claims = append(r.Claims, s.claimReport(&s.Claims[i], res))
	}
	s.builtIns(r, res)
	r.NoteErrors()
	for i := range r.Claims {
		r.Claims[i].Expected = slices.Contains(r.Expect, r.Claims[i].Name)
		if c := &r.Claims[i]; c.Name == Overflow && !c.Expected && c.Counterexample != nil {
			c.Why = flood(c.Counterexample)
		}
	}
	return r
}

// within is how many steps lead only to configurations that a search in levels has gone on from; 0
// for others.
func within(res *explore.Result) int {
	expanded := res.Configurations - min(res.Frontier, res.Configurations)
	for depth, n := range res.Levels {
		if n > expanded {
			return max(0, depth-1)
		}
		expanded -= n
	}
	return 0
}

var kindWords = map[model.ClaimKind]string{
	model.Always: "always", model.Sometimes: "sometimes", model.Agree: "agree", model.Reachable: "reachable",
	model.Confluent: "confluent", model.Eventually: "eventually", model.LeadsTo: "leadsTo",
}

// claimReport tells one claim of the system; deadlock with quiet is among them.
func (s *System) claimReport(c *system.Claim, res *explore.Result) ClaimReport {
	out := ClaimReport{Name: c.Name, Kind: "built-in", Result: Incomplete}
	if c.Stated != nil {
		out.Kind, out.Why, out.Text, out.Where = kindWords[c.Stated.Kind], c.Stated.Why, claimText(c.Stated),
			c.Stated.Span.Place()
	}
	v := res.Claims[c.Index]
	out.Result = v.Verdict.String()
	out.Vacuous = slices.Contains(res.Vacuous, s.System.Claims[c.Index].Name) && c.Stated != nil
	for i := range res.Violations {
		if x := &res.Violations[i]; x.Kind == explore.ClaimViolated && x.Claim == c.Index && out.Counterexample == nil {
			out.Result = Violated
			s.counterexample(c, &out, x)
		}
	}
	if c.Stated == nil {
		s.stuck(&out, res)
	}
	for i := range res.Witnesses {
		if w := &res.Witnesses[i]; w.Claim == c.Index {
			out.Witness = s.run(w.Trace, nil, w.End, "")
			out.Note = "reached in " + diag.Counted(len(w.Trace), "step")
		}
	}
	for i := range res.Conflicts {
		if x := &res.Conflicts[i]; x.Claim == c.Index {
			out.Conflicts = append(out.Conflicts, s.conflict(x))
			out.Result = Violated
		}
	}
	if len(out.Conflicts) > 0 {
		s.conflictRun(c, &out, res)
	}
	noteVacuous(c, &out)
	if c.Stated != nil && out.Result == Holds && out.Note == "" {
		out.Note = oneValue(c.Stated)
	}
	return out
}

// stuck adds to deadlock where quiet says what rest is: there is none where messages wait for ever.
func (s *System) stuck(out *ClaimReport, res *explore.Result) {
	for i := range res.Violations {
		x := &res.Violations[i]
		if builtInOf[x.Kind] != Deadlock {
			continue
		}
		r := s.run(x.Trace, nil, x.End, s.problem(Deadlock, x))
		if old := out.Counterexample; old != nil && len(old.Steps) <= len(r.Steps) {
			out.Others = append(out.Others, r)
			continue
		} else if old != nil {
			out.Others = append(out.Others, old)
		}
		out.Result, out.Counterexample, out.NotBehind = Violated, r, x.Cut
	}
}

// counterexample fills in the run to a violated claim, and reports whether the claim could not be
// evaluated there at all.
func (s *System) counterexample(c *system.Claim, out *ClaimReport, x *explore.Violation) {
	problem := "✗ " + c.Name + " does not hold here"
	if c.Stated == nil {
		problem = "✗ deadlock: only commands are possible, not every machine is final, and quiet does not hold"
	} else {
		problem += ": " + out.Text
	}
	if c.Eval != nil && c.Eval.Fault != nil {
		out.Note = c.Faulted()
		problem += "\n  (" + out.Note + ")"
	}
	if c.Stated != nil {
		switch c.Stated.Kind {
		case model.Sometimes:
			if out.Note != "" {
				out.Note = "; " + out.Note
			}
			out.Note = "no reachable configuration satisfies it" + out.Note
			return
		case model.Reachable:
			problem = "✗ " + c.Name + ": from here no run can come to " + model.ExprString(c.Stated.Expr)
			if x.Cut {
				problem = "✗ " + c.Name + ": from here a run can come to " + model.ExprString(c.Stated.Expr) +
					" only behind an error, if at all"
			}
		case model.Eventually, model.LeadsTo:
			if c.Stated.Within > 0 {
				problem = fmt.Sprintf("✗ %s: more than %s may have passed, and it has not come to %s", c.Name,
					diag.Counted(c.Stated.Within, "tick"), model.ExprString(c.Stated.Expr))
				break
			}
			problem = "✗ " + c.Name + ": a run may stop here and never come to " + out.Text
			if len(x.Loop) > 0 {
				problem = "✗ " + c.Name + ": a run may repeat the last part for ever and never come to " + out.Text
			}
			if x.Cut {
				problem += "\n  but for an error that is possible, behind which nothing was looked at"
			}
		}
		if out.Why != "" {
			problem += "\n  " + out.Why
		}
	}
	out.Counterexample, out.NotBehind = s.run(x.Trace, x.Loop, x.End, problem), x.Cut
	if c.Stated != nil {
		s.explain(out.Counterexample, c.Stated, x.End)
	} else {
		out.Counterexample.Reads = s.reads(x.End, s.Check.Quiet)
	}
}

// conflict tells a pair of steps whose order matters:
// `a in localOk: after CHANGE, cancel is no longer possible`.
func (s *System) conflict(x *explore.Conflict) string {
	text, who := x.Text, ""
	for i, l := range [2]uint32{x.A, x.B} {
		p := s.Procs[[2]int{x.ProcA, x.ProcB}[i]]
		name, state := s.System.Labels[l].Name, ""
		if len(s.Taken[l]) > 0 {
			t := p.Role.Transitions[s.Taken[l][0]]
			text = strings.ReplaceAll(text, name, t.Event.Name)
			state = " in " + t.From.Name
		}
		switch {
		case i == 0:
			who = p.Inst.Name + state
		case x.ProcA != x.ProcB:
			who += " and " + p.Inst.Name + state
		}
	}
	return fmt.Sprintf("%s: %s (after %s)", who, text, diag.Counted(len(x.Trace), "step"))
}

// conflictRun is the counterexample of a confluence claim: the run to the
// nearest pair, and the list of all.
func (s *System) conflictRun(c *system.Claim, out *ClaimReport, res *explore.Result) {
	for i := range res.Conflicts {
		if x := &res.Conflicts[i]; x.Claim == c.Index {
			problem := "✗ " + c.Name + ": here the order of two steps matters" + "\n  " + out.Conflicts[0]
			if len(out.Conflicts) > 1 {
				problem += "\n  All pairs:\n    " + strings.Join(out.Conflicts, "\n    ")
			}
			out.Counterexample = s.run(x.Trace, nil, x.Before, problem)
			out.Note = diag.Counted(len(out.Conflicts), "pair") + " of steps whose order matters"
			return
		}
	}
}

// claimText prints what a claim says as an expression.
func claimText(c *model.Claim) string {
	when := ""
	if c.When != nil {
		when = model.ExprString(c.When) + " => "
	}
	switch c.Kind {
	case model.Agree:
		var list []string
		for _, e := range c.Exprs {
			list = append(list, model.ExprString(e))
		}
		return when + strings.Join(list, " == ")
	case model.Confluent:
		return "all"
	}
	text := model.ExprString(c.Expr)
	if c.Quiescent {
		text += " (where all channels are empty)"
	}
	return when + text
}

// builtIns adds the claims that are always checked.
func (s *System) builtIns(r *Report, res *explore.Result) {
	names := []string{UnspecifiedReception, FaultClaim, Overflow, Deadlock, OrphanMessage}
	if s.Holds() {
		names = slices.Insert(names, 3, DeferredOverflow)
	}
	if s.Protocol.Wire != nil {
		names = slices.Insert(names, 2, Unencodable)
	}
	for _, name := range names {
		if slices.ContainsFunc(r.Claims, func(c ClaimReport) bool { return c.Name == name && c.Kind == "built-in" }) {
			continue
		}
		c := ClaimReport{Name: name, Kind: "built-in", Result: Holds}
		if !res.Complete {
			c.Result = Incomplete
		}
		var runs []*run.Run
		for i := range res.Violations {
			if x := &res.Violations[i]; builtInOf[x.Kind] == name {
				runs = append(runs, s.run(x.Trace, nil, x.End, s.problem(name, x)))
				c.NotBehind = x.Cut
			}
		}
		slices.SortStableFunc(runs, func(a, b *run.Run) int { return len(a.Steps) - len(b.Steps) })
		if len(runs) > 0 {
			c.Result, c.Counterexample, c.Others = Violated, runs[0], runs[1:]
		}
		if len(runs) > 1 {
			c.Note = fmt.Sprintf("in %d different ways; this is a shortest", len(runs))
			if !res.Complete {
				c.Note = fmt.Sprintf("in %d different ways until the search was cut off", len(runs))
			}
		}
		r.Claims = append(r.Claims, c)
	}
}

// flood says what helps against a run that ends in a full channel, if a command has filled it.
func flood(r *run.Run) string {
	if len(r.Steps) == 0 || r.Steps[len(r.Steps)-1].Kind != run.Command {
		return ""
	}
	name, _, _ := strings.Cut(r.Steps[len(r.Steps)-1].Event, "{")
	return fmt.Sprintf("nothing bounds how often %s is given: let the protocol wait for an answer, or bound it in the "+
		"check, for example with environment: {%[1]s: {times: 2}}", name)
}

var builtInOf = map[explore.Kind]string{
	explore.UnspecifiedReception: UnspecifiedReception, explore.Refused: UnspecifiedReception,
	explore.RangeOverflow: FaultClaim, explore.OtherFault: FaultClaim,
	explore.ChannelOverflow: Overflow, explore.DeferredOverflow: DeferredOverflow, explore.Deadlock: Deadlock,
	explore.Orphan: OrphanMessage, explore.Stuck: Deadlock, explore.Unencodable: Unencodable,
}

// problem says what went wrong at the end of a run.
func (s *System) problem(name string, x *explore.Violation) string {
	switch x.Kind {
	case explore.Deadlock:
		if x.Cut {
			return "✗ deadlock: no step is possible but an error, and not every machine is in a final state"
		}
		return "✗ deadlock: no step is possible, and not every machine is in a final state"
	case explore.Orphan:
		if s.Check.Quiet != nil && s.Check.Time == nil {
			return "✗ orphan-message: nothing can happen any more, and a message is still under way or held"
		}
		return "✗ orphan-message: every machine is in a final state, nothing can happen any more, and a " +
			"message is still under way or held"
	case explore.Stuck:
		return "✗ deadlock: messages are under way that nobody takes, since there is no room for what their " +
			"receivers would send; nothing else is possible, but for commands and faults"
	}
	if len(x.Trace) == 0 {
		return "✗ " + name + ": " + x.Text
	}
	last := &x.Trace[len(x.Trace)-1]
	text := x.Text
	if last.Fault != nil {
		text = last.Fault.Text
	}
	return "✗ " + name + ": " + s.System.ProcNames[last.Proc] + ": " + text
}

// noteVacuous notes that the condition of a claim was never true. If it could not be evaluated, it
// notes that instead.
func noteVacuous(c *system.Claim, out *ClaimReport) {
	switch faulted := c.Eval != nil && c.Eval.Fault != nil; {
	case !out.Vacuous:
	case faulted && out.Result == Violated:
		out.Vacuous = false
	case faulted:
		out.Note = "its condition never held where it can be evaluated, so it says nothing; " + c.Faulted()
	default:
		out.Note = "its condition never held, so it says nothing"
	}
}
