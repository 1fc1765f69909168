package suggest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// Options say how far to search.
type Options struct {
	// Only names the checks that are to pass; empty: all of them.
	Only check.Only
	// MaxEdits is the greatest number of edits at once, 1 or 2; 0: 2.
	MaxEdits int
	// Most is how many suggestions are wanted; 0: 10.
	Most int
	// MaxConfigurations bounds the check of one candidate; 0: 300,000. A candidate that needs more
	// is not suggested.
	MaxConfigurations int
	// Workers is the number of goroutines of each search; 0: one for each core.
	Workers int
	// IgnoreExpect are claims that are to hold though checks expect them to be violated; [check.AllClaims]: all of
	// these. What else is expected to be violated may then be, or hold.
	IgnoreExpect []string
	// FS is where files are read from; nil means the operating system's.
	FS fs.FS
}

// Edit is one change, in words.
type Edit struct {
	Words string `json:"words"`
	// Where is the file and the line of the state or the handler that is changed.
	Where string `json:"where"`
}

// Change is a file before and after.
type Change struct {
	File     string
	Old, New []byte
}

// Suggestion is a set of edits with which all checks pass, as the whole specification was checked
// again.
type Suggestion struct {
	Size  int    `json:"size"`
	Cost  int    `json:"cost"`
	Edits []Edit `json:"edits"`
	// Changes are the files that differ.
	Changes []Change `json:"-"`
	// Passes: the specification passes as a whole. Otherwise each check does, and Notes say what is
	// not used in any.
	Passes bool `json:"passes"`
	// Notes say what a reader has to weigh: a final state that is left, what never fires or is
	// never reached, and whether that was so before.
	Notes []string `json:"notes,omitempty"`
	// doubt orders suggestions before anything else, and then the number of notes: those with more
	// come later.
	doubt int
	// Keeps is the share of the runs of the specification that stay possible, of those that were followed.
	Keeps float64 `json:"keeps"`
	edits []edit
	// Diff is for those who print the changes.
	Diff string `json:"diff,omitempty"`
}

// Report says what was searched and found. The JSON names are stable.
type Report struct {
	Spec string `json:"spec"`
	// Passes: there is nothing to repair.
	Passes bool `json:"passes"`
	// Violated says what is wrong, check by check.
	Violated    []string     `json:"violated,omitempty"`
	Suggestions []Suggestion `json:"suggestions"`
	// Tried counts the candidates of each size, Possible those of size 1 that the counterexamples
	// allow. Complete says up to which size all were tried.
	Tried    []int `json:"tried"`
	Possible int   `json:"possible"`
	Complete int   `json:"complete"`
	// Rejected counts candidates that are not shown: with them every check passes alone, but not
	// the specification as a whole (something never fires in any check that fired before), and
	// there are better ones. Unwritten counts those that could not be written into the text.
	Rejected  int `json:"rejected,omitempty"`
	Unwritten int `json:"unwritten,omitempty"`
	// Undecided counts candidates that need more configurations than allowed.
	Undecided int `json:"undecided,omitempty"`
	// Why says why the search ended early.
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// searcher works on one specification.
type searcher struct {
	ctx    context.Context
	o      Options
	path   string
	base   *model.Protocol
	models []*model.Protocol // one for each check
	twins  []*model.Protocol // the same, to be compared with models
	files  *texts
	places map[part]string // where the states and transitions stand, before any edit
	r      *Report
	memo   map[[2]edit]bool // failed, in both orders
	enough map[edit]bool    // pass alone: what has them besides others is left out
	most   uint64           // configurations that a candidate may need, by what the specification needs; 0: not known
	idle   map[string]bool  // what never fires or is never reached as it is
	spoils []Suggestion     // every check passes with them, but something never fires any more
}

// Search looks for edits of the specification at path that make its checks pass. It ends with ctx;
// then the report says how far it came. A *diag.Rejected says that the specification does not compile.
func Search(ctx context.Context, path string, o Options) (*Report, error) {
	began := time.Now()
	o.MaxEdits, o.Most = cmp.Or(o.MaxEdits, 2), cmp.Or(o.Most, 10)
	o.MaxConfigurations = cmp.Or(o.MaxConfigurations, 300_000)
	s := &searcher{ctx: ctx, o: o, path: path, memo: map[[2]edit]bool{}, enough: map[edit]bool{},
		r: &Report{Spec: path, Suggestions: []Suggestion{}}}
	if err := s.compile(); err != nil {
		return nil, err
	}
	err := s.search()
	s.r.Seconds = time.Since(began).Seconds()
	return s.r, err
}

// compile makes a model for each check.
func (s *searcher) compile() error {
	var list diag.List
	if s.base, list = compile.Load(s.path, compile.Options{FS: s.o.FS}); s.base == nil {
		return &diag.Rejected{List: list}
	}
	s.places = places(s.base)
	for _, c := range s.base.Checks {
		if !s.o.Only.Has(c.Name) {
			continue
		}
		p, list := compile.Load(s.path, compile.Options{FS: s.o.FS, Check: c.Name})
		if p == nil {
			return &diag.Rejected{List: list}
		}
		s.models = append(s.models, p)
		q, _ := compile.Load(s.path, compile.Options{FS: s.o.FS, Check: c.Name})
		s.twins = append(s.twins, q)
		check.Unexpect(p, s.o.IgnoreExpect)
	}
	for _, name := range s.o.Only {
		if !slices.ContainsFunc(s.base.Checks, func(c *model.Check) bool { return c.Name == name }) {
			return fmt.Errorf("%s has no check %s", s.path, name)
		}
	}
	if len(s.models) == 0 {
		return fmt.Errorf("%s has no checks: there is nothing that an edit could make pass", s.path)
	}
	var err error
	s.files, err = readFiles(s.path, s.o.FS)
	return err
}

func (s *searcher) search() error {
	r, err := s.suite(nil)
	if err != nil {
		return err
	}
	for _, c := range r.Checks {
		s.most = max(s.most, 4*c.Configurations+20_000)
	}
	if s.r.Passes = r.Passes && r.Complete; s.r.Passes {
		return nil
	}
	g := newGuide(s.base)
	if err := s.learn(g); err != nil {
		return err
	}
	if len(g.spots) == 0 {
		g.all = true // something never fires, which has no counterexample
	}
	first := g.edits()
	s.r.Possible = len(first)
	s.r.Tried = make([]int, s.o.MaxEdits)
	failed, done, err := s.singles(first)
	if err != nil {
		return err
	}
	if done {
		s.r.Complete = 1
	}
	if done && len(s.r.Suggestions) == 0 && s.o.MaxEdits > 1 {
		if done, err = s.pairs(failed); done {
			s.r.Complete = 2
		}
	}
	s.rank()
	return err
}

// rank sorts the suggestions: those without doubt first, then those of few edits, then simple ones.
// The sort is stable: equals stay in the order of the search. Where there are few, those that spoil
// something follow.
func (s *searcher) rank() {
	n := max(0, min(len(s.spoils), s.o.Most-len(s.r.Suggestions)))
	s.r.Suggestions = append(s.r.Suggestions, s.spoils[:n]...)
	s.r.Rejected += len(s.spoils) - n
	for i := range s.r.Suggestions {
		s.keeps(&s.r.Suggestions[i])
	}
	slices.SortStableFunc(s.r.Suggestions, better)
}

// better orders suggestions.
func better(a, b Suggestion) int {
	return cmp.Or(cmp.Compare(a.doubt, b.doubt), cmp.Compare(len(a.Notes), len(b.Notes)),
		cmp.Compare(a.Size, b.Size), -cmp.Compare(roughly(a.Keeps), roughly(b.Keeps)),
		cmp.Compare(a.Cost, b.Cost), -cmp.Compare(a.Keeps, b.Keeps))
}

// littleKept is the share of runs below which a suggestion is doubtful.
const littleKept = 0.5

// percent is a share in whole percent.
func percent(share float64) int { return int(math.Round(100 * share)) }

// roughly is a share in steps of five percent: what differs by less is told apart by how simple it is.
func roughly(share float64) int { return int(math.Round(20 * share)) }

// keeps finds out how much behaviour a suggestion keeps: the mean over the checks.
func (s *searcher) keeps(x *Suggestion) {
	sum, n := 0.0, 0
	for k, p := range s.models {
		before, err := check.New(p, p.Checks[0])
		if err != nil {
			continue
		}
		q := s.twins[k]
		var undo []func()
		for _, e := range x.edits {
			undo = append(undo, e.apply(q))
		}
		if after, err := check.New(q, q.Checks[0]); err == nil {
			sum, n = sum+kept(before, after), n+1
		}
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	if x.Keeps = 1; n > 0 {
		x.Keeps = sum / float64(n)
	}
	if x.Keeps < littleKept {
		x.Notes = append(x.Notes,
			"it takes away most of what was possible: perhaps nothing goes wrong because little happens")
		x.doubt = max(x.doubt, leavesLittle)
	}
}

// stopped notes that the time is up.
func (s *searcher) stopped() bool {
	switch {
	case errors.Is(s.ctx.Err(), context.DeadlineExceeded):
		s.r.Why = "the time was up (--timeout gives more)"
	case s.ctx.Err() != nil:
		s.r.Why = "it was interrupted"
	}
	return s.ctx.Err() != nil
}

// singles tries every edit alone. It returns those that failed, and whether all were tried.
func (s *searcher) singles(list []edit) ([]edit, bool, error) {
	var failed []edit
	held := map[int]bool{} // roles for which a bound of deferred messages was found
	for _, e := range list {
		if e.kind == holdMore && held[e.role] {
			continue // the least that passes is enough
		}
		if s.stopped() {
			return failed, false, nil
		}
		s.r.Tried[0]++
		ok, err := s.try(e)
		if err != nil {
			return nil, false, err
		}
		if ok {
			held[e.role] = held[e.role] || e.kind == holdMore
			s.enough[e] = true
			s.accept(e)
		} else {
			failed = append(failed, e)
		}
	}
	return failed, true, nil
}

// pairs tries what the counterexample of each edit that failed touches, together with it.
func (s *searcher) pairs(failed []edit) (bool, error) {
	for _, a := range failed {
		undo := s.apply(a)
		g := newGuide(s.base)
		err := s.learn(g)
		more := g.edits()
		undo()
		if err != nil {
			return false, err
		}
		for _, b := range more {
			same := b.role == a.role && b.state == a.state && b.event == a.event
			if a == b || s.memo[[2]edit{b, a}] || same && !(a.precise() && b.precise()) || s.enough[b] {
				continue
			}
			if s.stopped() {
				return false, nil
			}
			s.memo[[2]edit{a, b}] = true
			s.r.Tried[1]++
			ok, err := s.try(a, b)
			if err != nil {
				return false, err
			}
			if ok {
				s.accept(a, b)
			}
			if len(s.r.Suggestions) >= s.o.Most {
				s.r.Why = diag.Counted(len(s.r.Suggestions), "suggestion") + " found"
				return false, nil
			}
		}
	}
	return true, nil
}

// apply makes edits in the model of every check and in that without a check.
func (s *searcher) apply(edits ...edit) (undo func()) {
	var all []func()
	for _, p := range append(slices.Clone(s.models), s.base) {
		for _, e := range edits {
			all = append(all, e.apply(p))
		}
	}
	return func() {
		for _, f := range slices.Backward(all) {
			f()
		}
	}
}

// try reports whether all checks pass with the edits.
func (s *searcher) try(edits ...edit) (bool, error) {
	undo := s.apply(edits...)
	defer undo()
	for _, p := range s.models {
		ok, err := s.passes(p)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// passes runs one check. If it expects nothing the search stops at the first violation.
func (s *searcher) passes(p *model.Protocol) (bool, error) {
	sys, err := check.New(p, p.Checks[0])
	if err != nil {
		return false, err
	}
	if len(p.Checks[0].Expect) > 0 {
		r, err := sys.Run(s.ctx, s.limits(), nil)
		if err == nil && r.Ended != "" {
			s.r.Undecided++
		}
		return err == nil && s.fine(r), err
	}
	o := s.limits()
	o.Checks = sys.Checks
	res, err := explore.Run(s.ctx, sys.System, o)
	if err != nil {
		return false, err
	}
	if res.Verdict == explore.Incomplete {
		s.r.Undecided++
	}
	return res.Verdict == explore.Holds, nil
}

// fine reports whether a check passes; where expectations are ignored, what is still expected may hold as well.
func (s *searcher) fine(r *check.Report) bool {
	if len(s.o.IgnoreExpect) == 0 {
		return r.Passes
	}
	return r.Ended == "" && !slices.ContainsFunc(r.Claims, func(c check.ClaimReport) bool {
		return c.Result != check.Holds && !(c.Result == check.Violated && c.Expected)
	})
}

func (s *searcher) limits() explore.Options {
	most := uint64(s.o.MaxConfigurations)
	if s.most > 0 {
		most = min(most, s.most)
	}
	return explore.Options{Workers: s.o.Workers, MaxConfigurations: most}
}

// learn runs all checks on the models as they are and notes what their counterexamples touch.
func (s *searcher) learn(g *guide) error {
	for _, p := range s.models {
		sys, err := check.New(p, p.Checks[0])
		if err != nil {
			return err
		}
		r, err := sys.Run(s.ctx, s.limits(), nil)
		if err != nil {
			return err
		}
		g.report(r)
	}
	return nil
}

// accept writes edits into the text and has it checked as a whole.
func (s *searcher) accept(edits ...edit) {
	x := Suggestion{Size: len(edits), edits: edits}
	for _, e := range edits {
		x.Cost += e.cost()
		x.Edits = append(x.Edits, Edit{Words: e.words(s.base), Where: s.where(e)})
	}
	changed, err := s.files.write(s.base, edits)
	var r *check.SuiteReport
	if err == nil {
		r, err = s.suite(changed)
	}
	if err != nil {
		s.r.Unwritten++
		return
	}
	x.Changes = s.files.changes(changed)
	sound, spoils := s.weigh(&x, r, edits)
	switch {
	case !sound:
		s.r.Rejected++
	case spoils:
		s.spoils = append(s.spoils, x)
	default:
		s.r.Suggestions = append(s.r.Suggestions, x)
	}
}

func (s *searcher) where(e edit) string {
	m := s.base.Roles[e.role]
	if e.kind == holdMore {
		return fmt.Sprintf("%s:%d", m.Span.File, m.Span.Start.Line)
	}
	st := m.States[e.state]
	at := st.Span
	if !e.adds() {
		at = st.Handlers[e.event].Branches[e.branch].Span
	}
	return fmt.Sprintf("%s:%d", at.File, at.Start.Line)
}

// suite compiles the specification, with some files replaced, and runs all its checks. On the first
// call it notes what is violated and what is not used.
func (s *searcher) suite(changed map[string][]byte) (*check.SuiteReport, error) {
	cfg := check.Config{Only: s.o.Only, IgnoreExpect: s.o.IgnoreExpect,
		Compile: compile.Options{FS: overlay{s.o.FS, changed}}, Explore: s.limits()}
	r, list, err := check.Suite(s.ctx, s.path, cfg)
	switch {
	case err != nil:
		return nil, err
	case r == nil && changed == nil:
		return nil, &diag.Rejected{List: list}
	case r == nil:
		return nil, errors.New("the text does not compile: " + list[0].Message)
	}
	if changed == nil {
		for _, c := range r.Checks {
			for _, why := range c.Why {
				s.r.Violated = append(s.r.Violated, "check "+c.Check+": "+why)
			}
		}
		s.r.Violated = append(s.r.Violated, r.Why...)
		s.idle = map[string]bool{}
		for _, u := range s.unused(r) {
			s.idle[u.key] = true
		}
	}
	return r, nil
}
