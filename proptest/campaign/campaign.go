package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/run"
)

// DefaultSteps is how many moves a run has at most.
const DefaultSteps = 300

// Options say how many runs there are.
type Options struct {
	// Seed is that of the first run; those of the others follow.
	Seed uint64
	// Runs is their number; 0: until the context ends.
	Runs uint64
	// Steps is how many moves a run has at most; 0: DefaultSteps.
	Steps int
	// Workers is how many are played at a time; 0: one for each core. The result does not depend on it.
	Workers int
	// Compare, if set, gives what the machines are compared with.
	Compare Compare
}

// Compare gives for an instance of a check what compares its machine with another, such as the generated
// one; nil if it is compared with nothing. The check and the texts of values are those of the stage. Each
// worker asks for its own, and calls it in one goroutine.
type Compare func(s *stage.Stage, instance int) (Comparison, error)

// Campaign is the checks of a specification, each with the model that was compiled for it.
type Campaign struct {
	Models []*model.Protocol
	Checks []*model.Check
}

// Result is what a campaign has found.
type Result struct {
	Protocol string `json:"protocol"`
	Seed     uint64 `json:"seed"`
	Runs     uint64 `json:"runs"`
	Steps    uint64 `json:"steps"`
	// Most is how many moves a run had at most, Workers how many were played at a time.
	Most    int           `json:"most"`
	Workers int           `json:"workers"`
	Seconds float64       `json:"seconds"`
	Checks  []CheckResult `json:"checks"`
	// Transitions are those of all roles in the order of the files, with how often each was taken.
	Transitions []Use `json:"transitions"`
	// Compared is how many steps were compared with another machine.
	Compared uint64 `json:"compared,omitempty"`
}

// CheckResult is about the runs of one check.
type CheckResult struct {
	Name  string `json:"name"`
	Runs  uint64 `json:"runs"`
	Steps uint64 `json:"steps"`
	// Rested runs came to rest, Long ones went on at the bound; the others ended at a violation.
	Rested uint64 `json:"rested"`
	Long   uint64 `json:"long"`
	// Faults are those that may happen, with how often they did.
	Faults []FaultUse `json:"faults,omitempty"`
	// Reached are the claims that something can be reached, with the number of runs in which it was.
	Reached []Reached `json:"reached,omitempty"`
	Found   []Finding `json:"found,omitempty"`
	// Missed are the violations that the check expects, that a run can show, and that none has shown.
	Missed []string `json:"missed,omitempty"`
	// Unasked are the claims that runs cannot decide.
	Unasked []string `json:"unasked,omitempty"`
}

// FaultUse is how often a fault happened.
type FaultUse struct {
	Name  string `json:"name"`
	Times uint64 `json:"times"`
}

// Reached is in how many runs a claim's condition held.
type Reached struct {
	Claim string `json:"claim"`
	Runs  uint64 `json:"runs"`
}

// Use is how often a transition was taken.
type Use struct {
	// Machine is the role, or the machine of a part, Name the transition and Where its line.
	Machine string `json:"machine"`
	Name    string `json:"name"`
	Where   string `json:"where"`
	Taken   uint64 `json:"taken"`
}

// Finding is a violation.
type Finding struct {
	Claim    string `json:"claim"`
	Expected bool   `json:"expected"`
	// Runs is in how many runs it was, Seed the least of theirs, Moves how long that run was.
	Runs  uint64 `json:"runs"`
	Seed  uint64 `json:"seed"`
	Moves int    `json:"moves"`
	// Run is that run made short, as the checker repeats it.
	Run *run.Run `json:"run,omitempty"`
	// Trouble says that the world and the checker, or two machines, do not agree. Where it is machines,
	// the run goes as far as they agree, and one step more if there is one.
	Trouble string `json:"trouble,omitempty"`
}

// Failed reports whether something was found that is not expected.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Checks, func(c CheckResult) bool {
		return slices.ContainsFunc(c.Found, func(f Finding) bool { return !f.Expected || f.Trouble != "" })
	})
}

// worker plays some of the runs.
type worker struct {
	players []*Player
	found   []map[string]*Finding
}

// Run plays the runs. The run of a seed is the same whatever the options and the machine are, but for
// Steps; seeds take the checks in turn. If ctx ends it returns what was found until then.
func (c *Campaign) Run(ctx context.Context, o Options) (*Result, error) {
	if len(c.Checks) == 0 {
		return nil, errors.New("there are no checks")
	}
	if o.Steps <= 0 {
		o.Steps = DefaultSteps
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Runs > 0 {
		o.Workers = int(min(uint64(o.Workers), o.Runs))
	}
	workers := make([]*worker, o.Workers)
	for n := range workers {
		w, err := c.worker(o)
		if err != nil {
			return nil, err
		}
		workers[n] = w
	}
	began := time.Now()
	var wg sync.WaitGroup
	for n, w := range workers {
		wg.Go(func() { w.play(ctx, o, uint64(n)) })
	}
	wg.Wait()
	took := time.Since(began).Seconds()
	r := &Result{Seed: o.Seed, Most: o.Steps, Workers: o.Workers, Seconds: took}
	if len(c.Models) > 0 {
		r.Protocol = c.Models[0].Name
	}
	r.Transitions = c.transitions(workers) // before runs are played again
	for at := range c.Checks {
		r.Checks = append(r.Checks, c.check(at, workers, o))
		r.Runs, r.Steps = r.Runs+r.Checks[at].Runs, r.Steps+r.Checks[at].Steps
	}
	for _, w := range workers {
		for _, p := range w.players {
			for _, x := range p.parties {
				r.Compared += x.compared
			}
		}
	}
	return r, nil
}

func (c *Campaign) worker(o Options) (*worker, error) {
	w := &worker{}
	for at, check := range c.Checks {
		p, err := c.compared(at, o.Compare)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", check.Name, err)
		}
		w.players, w.found = append(w.players, p), append(w.found, map[string]*Finding{})
	}
	return w, nil
}

// compared makes a player of a check.
func (c *Campaign) compared(at int, compare Compare) (*Player, error) {
	p, err := NewPlayer(c.Models[at], c.Checks[at])
	if err != nil || compare == nil {
		return p, err
	}
	for i, x := range p.parties {
		if x.compare, err = compare(p.stage, i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// play plays every run whose place, counted from first, is one of the worker's.
func (w *worker) play(ctx context.Context, o Options, first uint64) {
	for n := first; (o.Runs == 0 || n < o.Runs) && ctx.Err() == nil; n += uint64(o.Workers) {
		seed := o.Seed + n
		at := int(seed % uint64(len(w.players)))
		p := w.players[at]
		for _, v := range p.Play(seed, o.Steps) {
			f := w.found[at][v.Claim]
			if f == nil {
				f = &Finding{Claim: v.Claim, Expected: p.check.Expects(v.Claim), Seed: seed}
				w.found[at][v.Claim] = f
			}
			f.Runs++
		}
	}
}

// check puts together what the workers have found of a check. Its violations are found again and made
// short.
func (c *Campaign) check(at int, workers []*worker, o Options) CheckResult {
	check := c.Checks[at]
	out := CheckResult{Name: check.Name}
	found := map[string]*Finding{}
	seen := map[string]uint64{}
	var faults [Faults]uint64
	for _, w := range workers {
		n := &w.players[at].Counts
		out.Runs, out.Steps, out.Rested, out.Long = out.Runs+n.Runs, out.Steps+n.Steps, out.Rested+n.Rested,
			out.Long+n.Long
		for f, times := range n.Faults {
			faults[f] += times
		}
		for name, runs := range n.Seen {
			seen[name] += runs
		}
		for name, f := range w.found[at] {
			if old := found[name]; old != nil {
				old.Runs, old.Seed = old.Runs+f.Runs, min(old.Seed, f.Seed)
			} else {
				found[name] = f
			}
		}
	}
	p := workers[0].players[at]
	for f, is := range p.faults {
		if is {
			out.Faults = append(out.Faults, FaultUse{Fault(f).String(), faults[f]})
		}
	}
	for _, cl := range check.Claims {
		switch {
		case cl.Kind == model.Sometimes:
			out.Reached = append(out.Reached, Reached{cl.Name, seen[cl.Name]})
		case !looksAt(cl):
			out.Unasked = append(out.Unasked, cl.Name)
		}
	}
	for _, x := range check.Expect {
		if found[x.Name] == nil && canShow(check, x.Name) {
			out.Missed = append(out.Missed, x.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f := found[name]
		p.explain(f, o.Steps)
		out.Found = append(out.Found, *f)
	}
	return out
}

// canShow reports whether a single run can show a violation.
func canShow(c *model.Check, name string) bool {
	for _, cl := range c.Claims {
		if cl.Name == name {
			return looksAt(cl) && cl.Kind != model.Sometimes
		}
	}
	return !slices.Contains(model.ClaimsOverAll(), name)
}

// maxTries bounds how often a run is tried to make it short.
const maxTries = 20_000

// explain plays the run of a violation again, makes it short, and has the checker repeat it.
func (p *Player) explain(f *Finding, most int) {
	defer func(c Counts) { p.Counts = c }(p.Counts.own())
	found := p.Play(f.Seed, most)
	at := slices.IndexFunc(found, func(v *Violation) bool { return v.Claim == f.Claim })
	if at < 0 {
		f.Trouble = "the run of the seed does not show it again; this is a bug of Parley"
		return
	}
	moves := slices.Clone(p.run)
	f.Moves = len(moves)
	if found[at].Kind == Differs {
		f.Trouble = found[at].Why
	}
	r, err := p.Tell(p.Shrink(moves, found[at], maxTries), found[at])
	if err != nil {
		f.Trouble = "the checker does not repeat the run: " + err.Error() + "; this is a bug of Parley"
		return
	}
	f.Run = r
}

// transitions adds up how often each was taken, over all checks.
func (c *Campaign) transitions(workers []*worker) []Use {
	type key struct{ name, where string }
	taken, first := map[key]*Use{}, map[key]diag.Span{}
	var list []key
	put := func(m *model.Machine) {
		if m.External {
			return // nobody wants its lines looked at: what it ignores is implied
		}
		for _, t := range m.Transitions {
			k := key{m.Name + " " + t.Name, t.Span.String()}
			if taken[k] == nil {
				taken[k], first[k] = &Use{Machine: m.Name, Name: t.Name, Where: t.Span.Place()}, t.Span
				list = append(list, k)
			}
			for _, w := range workers {
				for _, p := range w.players {
					taken[k].Taken += p.Counts.taken[t]
				}
			}
		}
	}
	for _, w := range workers {
		for _, p := range w.players {
			p.count()
		}
	}
	for at, check := range c.Checks {
		seen := map[*model.Machine]bool{}
		for _, inst := range check.Instances {
			for _, role := range c.Models[at].Roles {
				if role.Name == inst.Role.Name {
					each(role, seen, put)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b key) int {
		x, y := first[a], first[b]
		return cmp.Or(cmp.Compare(x.File, y.File), x.Start.Line-y.Start.Line, x.Start.Col-y.Start.Col,
			cmp.Compare(a.name, b.name))
	})
	var out []Use
	for _, k := range list {
		out = append(out, *taken[k])
	}
	return out
}

// each visits a machine and those of its parts but monitors, each once.
func each(m *model.Machine, seen map[*model.Machine]bool, visit func(*model.Machine)) {
	if seen[m] {
		return
	}
	seen[m] = true
	visit(m)
	for _, p := range m.Parts {
		if !p.Monitor {
			each(p.Machine, seen, visit)
		}
	}
}
