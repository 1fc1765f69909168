// Package mutate asks how much the checks of a specification see: it makes small mistakes in the machines, one at a
// time, and runs all checks with each. A mistake that some check notices is killed. Of one that none notices it is
// asked whether the machines do anything else at all in the checks; if not, no claim could notice it.
//
// It must not know how checks are searched, or what a step means. Start from [Run].
package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// Result says what became of a mutant.
type Result string

// The results. A mutant that is the same in every check counts for nothing: no claim of these checks can kill it.
const (
	Killed    Result = "killed"
	Survived  Result = "survived"
	Same      Result = "same"      // in every check the machines do what they did
	Undecided Result = "undecided" // some search was cut off, and nothing was found until then
	NotRun    Result = "not-run"   // the time was up
)

// Options bound a run.
type Options struct {
	Compile compile.Options
	// Only names the checks that are run. Then nothing is judged over all checks together.
	Only check.Only
	// Operators are those to use; empty: all.
	Operators []Operator
	// Sample is how many mutants are run, drawn with Seed; 0: all.
	Sample int
	Seed   uint64
	// MaxConfigurations bounds the search for a mutant in each check; 0 means four times what the check has, and
	// 50,000 more.
	MaxConfigurations int
	// Workers is the number of goroutines of each search; 0 means one for each core.
	Workers int
	// Progress, if set, is called after each mutant.
	Progress func(done, all int)
}

// Report is what was found about a specification.
type Report struct {
	Spec    string    `json:"spec"`
	Checks  int       `json:"checks"`
	Mutants []*Mutant `json:"mutants"` // those that were drawn
	All     int       `json:"all"`     // how many there are
	Seconds float64   `json:"seconds"`
	// Unrun is why not all were run; empty if they were.
	Unrun string `json:"unrun,omitempty"`
}

// Count returns how many mutants had a result: of the operators that are held back, or of the others.
func (r *Report) Count(result Result, held bool) (n int) {
	for _, m := range r.Mutants {
		if m.Result == result && slices.Contains(HeldBack, m.Operator) == held {
			n++
		}
	}
	return n
}

// Score returns the share of mutants that were killed, of those that were decided and are not the same in every
// check; 1 if there are none.
func (r *Report) Score(held bool) float64 {
	killed, survived := r.Count(Killed, held), r.Count(Survived, held)
	if killed+survived == 0 {
		return 1
	}
	return float64(killed) / float64(killed+survived)
}

// one is a check and its model.
type one struct {
	p     *model.Protocol
	check *model.Check
	most  uint64          // configurations without a mistake
	seen  []step          // what the machines do in it without a mistake; nil until somebody asks
	strs  *interp.Strings // of the texts in seen
}

// step is what a machine did in a check somewhere.
type step struct {
	inst    *model.Instance
	value   interp.Value
	event   interp.Event
	outcome string
}

type runner struct {
	o      Options
	base   *model.Protocol
	checks []*one
}

// Run makes the mutants of a specification and runs its checks with each. It ends with ctx: then the others are
// [NotRun]. An error says that the specification cannot be checked, or that its checks do not pass as it is.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	began := time.Now()
	r := &runner{o: o}
	if err := r.compile(path); err != nil {
		return nil, err
	}
	list := all(r.base)
	if len(o.Operators) > 0 {
		list = slices.DeleteFunc(list, func(m *Mutant) bool { return !slices.Contains(o.Operators, m.Operator) })
	}
	out := &Report{Spec: path, Checks: len(r.checks), All: len(list), Mutants: list}
	if o.Sample > 0 && o.Sample < len(list) {
		draw := rand.New(rand.NewPCG(o.Seed, 0)).Perm(len(list))[:o.Sample]
		slices.Sort(draw)
		out.Mutants = nil
		for _, k := range draw {
			out.Mutants = append(out.Mutants, list[k])
		}
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	for i, m := range out.Mutants {
		m.Result = NotRun
		if ctx.Err() != nil {
			out.Unrun = "the time was up"
			continue
		}
		r.run(ctx, m)
		if m.Result == Survived {
			if err := r.compare(ctx, m); ctx.Err() != nil {
				m.Result = NotRun
			} else if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", m.Where, m.Words, err)
			}
		}
		if o.Progress != nil {
			o.Progress(i+1, len(out.Mutants))
		}
	}
	out.Seconds = time.Since(began).Seconds()
	return out, nil
}

func (r *runner) compile(path string) error {
	var list diag.List
	o := r.o.Compile
	if r.base, list = compile.Load(path, o); r.base == nil {
		return &diag.Rejected{List: list}
	}
	for _, name := range r.o.Only {
		if !slices.ContainsFunc(r.base.Checks, func(c *model.Check) bool { return c.Name == name }) {
			return fmt.Errorf("%s has no check %s", path, name)
		}
	}
	for _, c := range r.base.Checks {
		if !r.o.Only.Has(c.Name) {
			continue
		}
		o.Check = c.Name
		p, list := compile.Load(path, o)
		if p == nil {
			return &diag.Rejected{List: list}
		}
		k := slices.IndexFunc(p.Checks, func(d *model.Check) bool { return d.Name == c.Name })
		r.checks = append(r.checks, &one{p: p, check: p.Checks[k]})
	}
	if len(r.checks) == 0 {
		return fmt.Errorf("%s has no checks: nothing would notice a mistake", path)
	}
	return nil
}

// begin runs the checks as they are: what they need, and that they pass.
func (r *runner) begin(ctx context.Context) error {
	suite := &check.SuiteReport{Passes: true, Complete: true}
	for _, c := range r.checks {
		rep, err := r.search(ctx, c, 0)
		if err != nil {
			return fmt.Errorf("check %s: %w", c.check.Name, err)
		}
		if !rep.Passes {
			why := rep.Ended
			if !rep.Open {
				why = killer(rep)
			}
			return fmt.Errorf("check %s does not pass as it is (%s): what its mutants do says nothing",
				c.check.Name, why)
		}
		c.most = rep.Configurations
		suite.Checks = append(suite.Checks, rep)
	}
	if suite.JudgeAll(r.base); !suite.Passes {
		return errors.New("over all checks together it does not pass as it is: what its mutants do says nothing")
	}
	slices.SortStableFunc(r.checks, func(a, b *one) int { return cmp.Compare(a.most, b.most) })
	return nil
}

func (r *runner) search(ctx context.Context, c *one, limit uint64) (*check.Report, error) {
	s, err := check.New(c.p, c.check)
	if err != nil {
		return nil, err
	}
	return s.First(ctx, explore.Options{Workers: r.o.Workers, MaxConfigurations: limit}, r.base)
}

// with makes the mistake in every model, and returns what undoes it.
func (r *runner) with(m *Mutant) (undo func()) {
	var undos []func()
	for _, p := range r.models() {
		for _, role := range p.Roles {
			if role.Name == m.Role {
				undos = append(undos, keep(role))
				m.change(role)
			}
		}
	}
	return func() {
		for _, f := range slices.Backward(undos) {
			f()
		}
	}
}

func (r *runner) models() []*model.Protocol {
	list := []*model.Protocol{r.base}
	for _, c := range r.checks {
		list = append(list, c.p)
	}
	return list
}

// keep returns what puts a machine back as it is now.
func keep(m *model.Machine) func() {
	transitions := make([]model.Transition, len(m.Transitions))
	for i, t := range m.Transitions {
		transitions[i] = *t
	}
	all := slices.Clone(m.Transitions)
	states := make([]model.State, len(m.States))
	for i, st := range m.States {
		states[i] = *st
		states[i].Handlers = slices.Clone(st.Handlers)
	}
	return func() {
		m.Transitions = all
		for i, t := range all {
			*t = transitions[i]
		}
		for i, st := range m.States {
			*st = states[i]
			st.Handlers = slices.Clone(st.Handlers) // what changes next leaves these alone
		}
	}
}

// run runs the checks with a mutant, those with few configurations first. One that none of them notices has
// survived.
func (r *runner) run(ctx context.Context, m *Mutant) {
	defer r.with(m)()
	suite := &check.SuiteReport{Passes: true, Complete: true}
	for _, c := range r.checks {
		limit := uint64(r.o.MaxConfigurations)
		if limit == 0 {
			limit = 4*c.most + 50_000
		}
		rep, err := r.search(ctx, c, limit)
		switch {
		case err != nil:
			m.Result, m.Check, m.Claim = Killed, c.check.Name, "the check cannot be run: "+err.Error()
			return
		case ctx.Err() != nil:
			return
		case !rep.Passes && !rep.Open:
			m.Result, m.Check, m.Claim = Killed, c.check.Name, killer(rep)
			return
		}
		suite.Complete = suite.Complete && !rep.Open
		suite.Checks = append(suite.Checks, rep)
	}
	if !suite.Complete {
		m.Result = Undecided
		return
	}
	if suite.JudgeAll(r.base); !suite.Passes {
		m.Result, m.Check, m.Claim = Killed, "(all checks)", check.NeverFires
		if len(suite.NeverFires) == 0 {
			m.Claim = check.UnreachableState
		}
		return
	}
	m.Result = Survived
}

// killer is the claim that failed although it should not, or held although it should not.
func killer(r *check.Report) string {
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.Result == check.Violated && !c.Expected || c.Expected && c.Result == check.Holds {
			return c.Name
		}
	}
	return r.Verdict
}

// compare says where a mutant first does something else than the machine does in some check. If nowhere it is the same.
func (r *runner) compare(ctx context.Context, m *Mutant) error {
	for _, c := range r.checks {
		if c.seen == nil {
			if err := r.look(ctx, c); err != nil {
				return err
			}
		}
	}
	defer r.with(m)()
	for _, c := range r.checks {
		machines := map[*model.Instance]*interp.Machine{}
		for i := range c.seen {
			x := &c.seen[i]
			if x.inst.Role.Name != m.Role {
				continue
			}
			mach := machines[x.inst]
			if mach == nil {
				mach = interp.New(x.inst.Role, c.strs)
				machines[x.inst] = mach
			}
			if outcome(mach, x.value, x.event) != x.outcome {
				m.Differs = fmt.Sprintf("check %s, %s in %s: %s", c.check.Name, x.inst.Name,
					interp.StatePath(x.inst.Role, x.value), interp.AppendEvent(nil, c.strs, x.event))
				return nil
			}
		}
	}
	m.Result = Same
	return nil
}

// look notes every step that a machine takes in a check.
func (r *runner) look(ctx context.Context, c *one) error {
	s, err := check.New(c.p, c.check)
	if err != nil {
		return err
	}
	res, err := explore.Run(ctx, s.System, explore.Options{Workers: r.o.Workers, KeepGoing: true, Checks: s.Checks})
	if err != nil {
		return err
	}
	machines := map[*model.Instance]*interp.Machine{}
	c.seen, c.strs = []step{}, s.Strings()
	s.ForEachStep(res.Space, func(inst *model.Instance, v interp.Value, ev interp.Event) bool {
		mach := machines[inst]
		if mach == nil {
			mach = interp.New(inst.Role, s.Strings())
			machines[inst] = mach
		}
		ev.Args = slices.Clone(ev.Args)
		c.seen = append(c.seen, step{inst, slices.Clone(v), ev, outcome(mach, v, ev)})
		return true
	})
	return ctx.Err()
}

// outcome is what a step does, as text: two steps with the same do the same.
func outcome(m *interp.Machine, v interp.Value, ev interp.Event) string {
	next, effects, res, _ := m.Step(v, ev)
	if res.Code != fsm.Took {
		return fmt.Sprint(res.Code)
	}
	b := fmt.Append(nil, next)
	for i := range effects {
		e := &effects[i]
		b = fmt.Append(b, e.Kind, e.Dest, e.To, e.Index, e.Ticks, e.Slots, e.At)
		switch {
		case e.Message != nil:
			b = append(b, e.Message.Name...)
		case e.Report != nil:
			b = append(b, e.Report.Name...)
		case e.Timer != nil:
			b = append(b, e.Timer.Name...)
		}
	}
	return string(b)
}
