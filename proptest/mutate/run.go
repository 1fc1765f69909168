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
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
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
	// With are variants that extend the specification and whose checks are run, too.
	With []string
	// Only names the checks that are run. Then nothing is judged over all checks together.
	Only check.Only
	// Operators are those to use; empty: all.
	Operators []Operator
	// Lines are those whose mutants to run, of whatever file; empty: all.
	Lines []int
	// Sample is how many mutants are run, drawn with Seed; 0: all.
	Sample int
	Seed   uint64
	// MaxConfigurations bounds the search for a mutant in each check; 0 means four times what the check has, and
	// 50,000 more.
	MaxConfigurations int
	// Workers is how many mutants are run at a time; 0 means one for each core. It changes no result.
	Workers int
	// Propose asks for a claim that would kill each mutant that survives.
	Propose bool
	// Progress, if set, is called after each mutant, by one goroutine at a time.
	Progress func(done, all int)

	// plain is for tests: every check is searched anew with every mutant.
	plain bool
	saw   func(m *Mutant, check string, r *check.Report) // each search
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

// one is a check as it is without a mistake.
type one struct {
	source
	name   string
	report *check.Report
	noted  *noted // what the machines do in it
}

// source says where a check is.
type source struct{ file, check string }

// big is how many configurations make a check one of which no more than bigAtOnce are searched at a time, so that
// memory is bounded however many cores there are.
const (
	big       = 300_000
	bigAtOnce = 2
)

type runner struct {
	path   string
	o      Options
	base   *model.Protocol // never has a mistake
	names  []string        // of the checks
	at     map[string]source
	checks []*one        // those with few steps first
	bigs   chan struct{} // a place for each big check at a time
	turn   sync.Mutex    // of Progress
	done   int
}

// bench is what one goroutine makes mistakes in: models of its own.
type bench struct {
	r      *runner
	base   *model.Protocol
	models map[string]*model.Protocol // by check
	eyes   map[*noted]*eye

	proposer proposer
}

// Run makes the mutants of a specification and runs its checks with each. It ends with ctx: then the others are
// [NotRun]. An error says that the specification cannot be checked, or that its checks do not pass as it is.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	began := time.Now()
	r := &runner{path: path, o: o, bigs: make(chan struct{}, bigAtOnce)}
	if err := r.compile(); err != nil {
		return nil, err
	}
	list := all(r.base)
	if len(o.Operators) > 0 {
		list = slices.DeleteFunc(list, func(m *Mutant) bool { return !slices.Contains(o.Operators, m.Operator) })
	}
	if len(o.Lines) > 0 {
		list = slices.DeleteFunc(list, func(m *Mutant) bool { return !slices.Contains(o.Lines, m.line) })
	}
	out := &Report{Spec: path, Checks: len(r.names), All: len(list), Mutants: list}
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
	for _, m := range out.Mutants {
		m.Result = NotRun
	}
	err := r.parallel(len(out.Mutants), func(b *bench, i int) error {
		m := out.Mutants[i]
		if ctx.Err() != nil {
			return nil
		}
		b.run(ctx, m)
		if m.Result == Survived {
			b.compare(m)
		}
		if m.Result == Survived && r.o.Propose {
			m.Proposal = b.proposer.propose(ctx, m)
		}
		r.progress(len(out.Mutants))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out.Count(NotRun, false)+out.Count(NotRun, true) > 0 {
		out.Unrun = "the time was up"
		if errors.Is(ctx.Err(), context.Canceled) {
			out.Unrun = "it was interrupted"
		}
	}
	out.Seconds = time.Since(began).Seconds()
	return out, nil
}

// parallel does n things, each on a bench of some goroutine. The error is that of the first of them that has one.
func (r *runner) parallel(n int, do func(b *bench, i int) error) error {
	workers := min(cmp.Or(r.o.Workers, runtime.GOMAXPROCS(0)), n)
	errs := make([]error, n+workers)
	next := make(chan int)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			b, err := r.bench()
			errs[n+w] = err
			for i := range next {
				if err == nil {
					errs[i] = do(b, i)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) progress(all int) {
	r.turn.Lock()
	defer r.turn.Unlock()
	if r.done++; r.o.Progress != nil {
		r.o.Progress(r.done, all)
	}
}

// compile reads the specification and finds the checks to run.
func (r *runner) compile() error {
	var list diag.List
	if r.base, list = compile.Load(r.path, r.o.Compile); r.base == nil {
		return &diag.Rejected{List: list}
	}
	for _, name := range r.o.Only {
		if !slices.ContainsFunc(r.base.Checks, func(c *model.Check) bool { return c.Name == name }) {
			return fmt.Errorf("%s has no check %s", r.path, name)
		}
	}
	r.at = map[string]source{}
	for _, c := range r.base.Checks {
		if r.o.Only.Has(c.Name) {
			r.names = append(r.names, c.Name)
			r.at[c.Name] = source{r.path, c.Name}
		}
	}
	for _, file := range r.o.With {
		p, list := compile.Load(file, r.o.Compile)
		if p == nil {
			return &diag.Rejected{List: list}
		}
		if !slices.Contains(p.Files[1:], filepath.ToSlash(filepath.Clean(r.path))) {
			return fmt.Errorf("%s does not extend %s: its checks are not about the same machines", file, r.path)
		}
		for _, c := range p.Checks {
			if name := filepath.Base(file) + " " + c.Name; len(r.o.Only) == 0 {
				r.names = append(r.names, name)
				r.at[name] = source{file, c.Name}
			}
		}
	}
	if len(r.names) == 0 {
		return fmt.Errorf("%s has no checks: nothing would notice a mistake", r.path)
	}
	return nil
}

// bench compiles the models that one goroutine needs.
func (r *runner) bench() (*bench, error) {
	b := &bench{r: r, models: map[string]*model.Protocol{}, eyes: map[*noted]*eye{}}
	b.proposer = proposer{b, map[string]*sight{}}
	load := func(x source) (*model.Protocol, error) {
		o := r.o.Compile
		o.Check = x.check
		p, list := compile.Load(x.file, o)
		if p == nil {
			return nil, &diag.Rejected{List: list}
		}
		return p, nil
	}
	var err error
	if b.base, err = load(source{r.path, ""}); err != nil {
		return nil, err
	}
	for _, name := range r.names {
		if b.models[name], err = load(r.at[name]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// system builds the system of a check with the mistakes that its model has.
func (b *bench) system(name string) (*check.System, error) {
	return check.New(b.models[name], b.check(name))
}

func (b *bench) check(name string) *model.Check {
	list := b.models[name].Checks
	return list[slices.IndexFunc(list, func(c *model.Check) bool { return c.Name == b.r.at[name].check })]
}

// begin runs the checks as they are: what they need, that they pass, and what the machines do.
func (r *runner) begin(ctx context.Context) error {
	r.checks = make([]*one, len(r.names))
	err := r.parallel(len(r.names), func(b *bench, i int) error {
		c := &one{name: r.names[i], source: r.at[r.names[i]]}
		r.checks[i] = c
		s, err := b.system(c.name)
		if err != nil {
			return fmt.Errorf("check %s: %w", c.name, err)
		}
		if c.noted, c.report, err = note(ctx, b.models[c.name], s); err != nil {
			return fmt.Errorf("check %s: %w", c.name, err)
		}
		if !c.report.Passes {
			why := c.report.Ended
			if !c.report.Open {
				why = killer(c.report)
			}
			return fmt.Errorf("check %s does not pass as it is (%s): what its mutants do says nothing", c.name, why)
		}
		for k := range c.report.Claims {
			c.report.Claims[k].Counterexample, c.report.Claims[k].Witness = nil, nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	suite := &check.SuiteReport{Passes: true, Complete: true}
	for _, c := range r.checks {
		if c.file == r.path {
			suite.Checks = append(suite.Checks, c.again())
		}
	}
	if suite.JudgeAll(r.base); !suite.Passes {
		return errors.New("over all checks together it does not pass as it is: what its mutants do says nothing")
	}
	slices.SortStableFunc(r.checks, func(a, b *one) int { return cmp.Compare(a.report.Steps, b.report.Steps) })
	return nil
}

// again is the report of a check whose machines do what they did without a mistake.
func (c *one) again() *check.Report {
	rep := *c.report
	return &rep
}

// with makes the mistake in every model of the bench, and returns what undoes it and what it touches in the model of
// each check.
func (b *bench) with(m *Mutant) (undo func(), touches map[string]*touched) {
	var undos []func()
	touches = map[string]*touched{}
	in := func(p *model.Protocol) *touched {
		k := slices.IndexFunc(p.Roles, func(role *model.Machine) bool { return role.Name == m.Role })
		if k < 0 {
			return nil
		}
		was := keep(p.Roles[k])
		undos = append(undos, was.undo)
		m.change(p.Roles[k])
		return was.touched(k)
	}
	in(b.base)
	for _, c := range b.r.checks {
		touches[c.name] = in(b.models[c.name])
	}
	return func() {
		for _, f := range undos {
			f()
		}
	}, touches
}

// run runs the checks with a mutant, those with few steps first, and leaves out those in which the machines do what
// they did. A mutant that no check notices has survived.
func (b *bench) run(ctx context.Context, m *Mutant) {
	undo, touches := b.with(m)
	defer undo()
	killed := func(check, claim string) { m.Result, m.Check, m.Claim = Killed, check, claim }
	suite := &check.SuiteReport{Passes: true, Complete: true}
	for _, c := range b.r.checks {
		s, err := b.system(c.name)
		if err != nil {
			killed(c.name, "the check cannot be run: "+err.Error())
			return
		}
		rep := c.again()
		if b.r.o.plain || b.other(c, touches[c.name], true) != nil || !c.noted.surrounds(s) {
			if !b.r.o.plain {
				c.noted.replay(s, touches[c.name], m.Role)
			}
			rep, err = b.search(ctx, c, s)
			switch {
			case err != nil:
				killed(c.name, "the check cannot be run: "+err.Error())
				return
			case ctx.Err() != nil:
				return
			case b.r.o.saw != nil:
				b.r.o.saw(m, c.name, rep)
			}
			if !rep.Passes && !rep.Open {
				killed(c.name, killer(rep))
				return
			}
		}
		suite.Complete = suite.Complete && !rep.Open
		if c.file == b.r.path {
			suite.Checks = append(suite.Checks, rep)
		}
	}
	if !suite.Complete {
		m.Result = Undecided
		return
	}
	if suite.JudgeAll(b.base); !suite.Passes {
		killed("(all checks)", check.NeverFires)
		if len(suite.NeverFires) == 0 {
			m.Claim = check.UnreachableState
		}
		return
	}
	m.Result = Survived
}

// search runs a check with the mistake that its model has. It waits where too many big ones are searched already.
func (b *bench) search(ctx context.Context, c *one, s *check.System) (*check.Report, error) {
	limit := uint64(b.r.o.MaxConfigurations)
	if limit == 0 {
		limit = 4*c.report.Configurations + 50_000
	}
	if c.report.Configurations > big {
		b.r.bigs <- struct{}{}
		defer func() { <-b.r.bigs }()
	}
	return s.First(ctx, explore.Options{Workers: 1, MaxConfigurations: limit})
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
func (b *bench) compare(m *Mutant) {
	undo, touches := b.with(m)
	defer undo()
	m.Result = Same
	for _, c := range b.r.checks {
		if x := b.other(c, touches[c.name], false); x != nil {
			m.Result, m.Differs = Survived, fmt.Sprintf("check %s, %s", c.name, c.noted.text(x))
			return
		}
	}
}
