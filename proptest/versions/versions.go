// Package versions asks whether two versions of a protocol can meet: an old client and a new server, and the reverse,
// as programs do while an update is under way. It compares what is on the wire, and lets the checker explore the
// checks of both with some instances of the old version and the others of the new one. Between these a message is what
// the receiver's codec makes of the sender's bytes; where no bytes are described it goes by its name and those of its
// fields.
//
// It must not know what a step or an expression means, or how a search works. Start from [Compare].
package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/run"
)

// The verdicts.
const (
	Same       = "same"       // the machines and all that they send are the same
	Compatible = "compatible" // programs of both versions can meet
	Breaking   = "breaking"   // they cannot
	Open       = "open"       // nothing was found until a search was cut off
)

// Options bound a comparison.
type Options struct {
	// Only names the checks to mix; empty: all.
	Only check.Only
	// MaxConfigurations bounds the search of each mixed pair; 0 means [DefaultConfigurations].
	MaxConfigurations uint64
	// Workers is the number of goroutines of each search; 0 means one for each core.
	Workers int
	// Mix asks for mixed pairs also of versions whose machines are the same.
	Mix bool
	// Progress, if set, is told which mixed pair is next.
	Progress func(check, who string)
}

// DefaultConfigurations is how many configurations the search of a mixed pair may reach.
const DefaultConfigurations = 300_000

// Report is what was found about two versions. The JSON names are stable.
type Report struct {
	Old     string `json:"old"`
	New     string `json:"new"`
	Verdict string `json:"verdict"`
	// Changes are what differs on the wire, Pairs what became of the mixed pairs.
	Changes []Change `json:"changes"`
	Pairs   []*Pair  `json:"pairs"`
	// Left are the claims that no mixed pair was held against, Unpaired the checks that were not mixed.
	Left     []Left     `json:"left_out,omitempty"`
	Unpaired []Unpaired `json:"unpaired,omitempty"`
	Seconds  float64    `json:"seconds"`
}

// Unpaired is a check that was not mixed.
type Unpaired struct {
	Check string `json:"check"`
	Why   string `json:"why"`
}

// The results of a mixed pair.
const (
	Works = "works"
	// Parts means that one end refuses the other by its protocol, and all that both promise holds.
	Parts  = "refuses"
	Breaks = "breaks"
	CutOff = "open"
)

// Pair is one check with instances of both versions.
type Pair struct {
	Check string `json:"check"`
	// Who says which instances are of which version: `OLD client with NEW server`.
	Who            string `json:"who"`
	Result         string `json:"result"`
	Configurations uint64 `json:"configurations"`
	// Broken are the claims that the pair violates and the old version alone does not, Known those that it does.
	Broken []Broken `json:"broken,omitempty"`
	Known  []string `json:"known,omitempty"`
	// Lost are sometimes claims that the pair never comes to, and Refusal where one end refuses the other.
	Lost    []string `json:"lost,omitempty"`
	Refusal string   `json:"refusal,omitempty"`
	// Ended says why the search was cut off.
	Ended string `json:"ended,omitempty"`
}

// Broken is a claim that a mixed pair violates.
type Broken struct {
	Claim string `json:"claim"`
	Why   string `json:"why,omitempty"`
	// Problem says what is wrong in one line, Remedy what to do.
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
	// Frame is there if one end cannot read what the other sends.
	Frame *Try `json:"frame,omitempty"`
	// Run is a shortest run that leads there; nil for what never happens.
	Run *run.Run `json:"run,omitempty"`
}

// comparison is the work on one comparison.
type comparison struct {
	src  [2]*Source
	base [2]*model.Protocol
	o    Options
	out  *Report
	// alone are the reports of the checks with all instances of one version, by version and check.
	alone map[string]*alone
	// met are messages that were sent from one version to the other, by version and name.
	met map[string]bool
}

// alone is a check with instances of one version.
type alone struct {
	rep  *check.Report
	sent map[string]bool
}

// Compare compares two versions. A specification with errors is a [diag.Rejected], in an [Error] that says which. It
// ends with ctx: what was not searched until then is open.
func Compare(ctx context.Context, before, now Source, o Options) (*Report, error) {
	began := time.Now()
	before.Name, now.Name = names[older], names[newer]
	c := &comparison{src: [2]*Source{&before, &now}, o: o, alone: map[string]*alone{}, met: map[string]bool{},
		out: &Report{Old: before.Path, New: now.Path, Changes: []Change{}, Pairs: []*Pair{}}}
	for v, s := range c.src {
		p, err := s.load("")
		if err != nil {
			return nil, &Error{Which: s.Name, Path: s.Path, Err: err}
		}
		c.base[v] = p
	}
	if c.base[older].Hash == c.base[newer].Hash && !o.Mix {
		c.out.Verdict = Same
		return c.out, nil
	}
	c.out.Changes = changes(c.base[older], c.base[newer])
	if c.out.Changes == nil {
		c.out.Changes = []Change{}
	}
	if err := c.mixes(ctx); err != nil {
		return nil, err
	}
	if err := c.judge(ctx); err != nil {
		return nil, err
	}
	c.out.Seconds = time.Since(began).Seconds()
	return c.out, nil
}

// Error says which of the two specifications cannot be compared.
type Error struct {
	Which, Path string
	Err         error
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%s): %v", e.Which, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// mixes mixes all checks that both versions have.
func (c *comparison) mixes(ctx context.Context) error {
	for v, p := range c.base {
		for _, ch := range p.Checks {
			other := c.base[1-v]
			if !c.o.Only.Has(ch.Name) || checkOf(other, ch.Name) != nil {
				continue
			}
			c.out.Unpaired = append(c.out.Unpaired, Unpaired{ch.Name, names[1-v] + " has no check of that name"})
		}
	}
	for _, ch := range c.base[newer].Checks {
		if !c.o.Only.Has(ch.Name) || checkOf(c.base[older], ch.Name) == nil {
			continue
		}
		for _, version := range assignments(ch) {
			x, err := c.mix(ch.Name, version)
			if why := (*unfit)(nil); errors.As(err, &why) {
				c.out.Unpaired = append(c.out.Unpaired, Unpaired{ch.Name, why.why})
				break
			} else if err != nil {
				return err
			}
			if err := c.pair(ctx, x); err != nil {
				return err
			}
		}
		if len(assignments(ch)) == 0 {
			c.out.Unpaired = append(c.out.Unpaired, Unpaired{ch.Name, "it has one instance, which meets nobody"})
		}
	}
	return nil
}

func checkOf(p *model.Protocol, name string) *model.Check {
	for _, c := range p.Checks {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// mix compiles both versions for a check and mixes them. They are compiled anew each time, since a mix changes them.
func (c *comparison) mix(name string, version []int) (*mix, error) {
	var p [2]*model.Protocol
	for v, s := range c.src {
		var err error
		if p[v], err = s.load(name); err != nil {
			return nil, &Error{Which: s.Name, Path: s.Path, Err: err}
		}
	}
	return newMix(p[older], p[newer], name, version)
}

// search explores a mix.
func (c *comparison) search(ctx context.Context, x *mix) (*check.Report, error) {
	s, err := x.system()
	if err != nil {
		return nil, fmt.Errorf("check %s, %s: %w", x.check.Name, x.label(), err)
	}
	most := c.o.MaxConfigurations
	if most == 0 {
		most = DefaultConfigurations
	}
	r, err := s.Run(ctx, explore.Options{Workers: c.o.Workers, MaxConfigurations: most}, nil)
	if err != nil {
		return nil, fmt.Errorf("check %s, %s: %w", x.check.Name, x.label(), err)
	}
	return r, nil
}

// pair searches one mixed pair and judges it.
func (c *comparison) pair(ctx context.Context, x *mix) error {
	p := &Pair{Check: x.check.Name, Who: x.label()}
	if c.o.Progress != nil {
		c.o.Progress(p.Check, p.Who)
	}
	rep, err := c.search(ctx, x)
	if err != nil {
		return err
	}
	for key, crossed := range x.crossed {
		c.met[key] = c.met[key] || crossed
	}
	for _, l := range x.left {
		if !slices.ContainsFunc(c.out.Left, func(o Left) bool { return o.Check == l.Check && o.Claim == l.Claim }) {
			c.out.Left = append(c.out.Left, l)
		}
	}
	p.Configurations, p.Ended = rep.Configurations, rep.Ended
	c.out.Pairs = append(c.out.Pairs, p)
	for i := range rep.Claims {
		if err := c.claim(ctx, x, p, &rep.Claims[i]); err != nil {
			return err
		}
	}
	if err := c.parting(ctx, x, p, rep); err != nil {
		return err
	}
	switch {
	case len(p.Broken) > 0:
		p.Result = Breaks
	case p.Ended != "":
		p.Result = CutOff
	case p.Refusal != "":
		p.Result = Parts
	default:
		p.Result = Works
	}
	return nil
}

// claim judges what was found about one claim.
func (c *comparison) claim(ctx context.Context, x *mix, p *Pair, r *check.ClaimReport) error {
	if r.Result != check.Violated || r.NotBehind { // what lies behind an error is that error's matter
		return nil
	}
	old, err := c.only(ctx, older, p.Check, x)
	if err != nil {
		return err
	}
	k := slices.IndexFunc(old.rep.Claims, func(o check.ClaimReport) bool {
		return o.Name == r.Name && (o.Kind == "built-in") == (r.Kind == "built-in")
	})
	var known *check.ClaimReport
	if k >= 0 && old.rep.Claims[k].Result == check.Violated {
		known = &old.rep.Claims[k]
	}
	if r.Kind == "sometimes" {
		if known == nil {
			p.Lost = append(p.Lost, r.Name)
		}
		return nil
	}
	found := append([]*run.Run{r.Counterexample}, r.Others...)
	if r.Kind == "built-in" && known != nil {
		// The old version has this error; what counts is another way to it.
		found = slices.DeleteFunc(found, func(a *run.Run) bool {
			return a == nil || slices.ContainsFunc(append([]*run.Run{known.Counterexample}, known.Others...),
				func(b *run.Run) bool { return b != nil && ending(a) == ending(b) })
		})
		known = nil
	}
	if known != nil || len(found) == 0 {
		p.Known = append(p.Known, r.Name)
		return nil
	}
	p.Broken = append(p.Broken, x.broken(r, found[0]))
	return nil
}

// ending is the last step of a run, without values: what kind of error it is.
func ending(r *run.Run) string {
	if len(r.Steps) == 0 {
		return r.Problem
	}
	s := &r.Steps[len(r.Steps)-1]
	if s.Fault == "" { // nothing happens any more: it is where, and not how it came there, that counts
		return strings.Join(r.End, "\n")
	}
	name, _, _ := strings.Cut(s.Event, "{")
	role := ""
	if s.Who >= 0 {
		role = r.Instances[s.Who].Role
	}
	return fmt.Sprint(role, " ", s.State, " ", name)
}

// only is a check with all instances of one version. The names of versions in x are those of the report.
func (c *comparison) only(ctx context.Context, v int, name string, like *mix) (*alone, error) {
	key := names[v] + " " + name
	if a := c.alone[key]; a != nil {
		return a, nil
	}
	version := make([]int, len(like.version))
	for i := range version {
		version[i] = v
	}
	x, err := c.mix(name, version)
	if err != nil {
		return nil, err
	}
	rep, err := c.search(ctx, x)
	if err != nil {
		return nil, err
	}
	a := &alone{rep, map[string]bool{}}
	for key := range x.crossed {
		a.sent[key] = true
	}
	c.alone[key] = a
	return a, nil
}

// parting finds where one end refuses the other, if the pair never comes to what both versions alone come to.
func (c *comparison) parting(ctx context.Context, x *mix, p *Pair, rep *check.Report) error {
	if len(p.Lost) == 0 || len(p.Broken) > 0 || rep.Ended != "" {
		return nil
	}
	for i, inst := range x.check.Instances {
		own, err := c.only(ctx, x.version[i], p.Check, x)
		if err != nil {
			return err
		}
		for _, t := range inst.Role.Transitions {
			key := report.LineKey(t)
			ends := t.To != nil && t.To.Final || closes(t.Body)
			if t.Event.Kind == model.EventMessage && rep.Taken[key] && !own.rep.Taken[key] && ends {
				p.Refusal = fmt.Sprintf("%s %s ends upon %s in %s (%s)", names[x.version[i]], inst.Name, t.Event.Name,
					t.From.Name, place(t.Span))
				return nil
			}
		}
	}
	for _, name := range p.Lost {
		b := Broken{Claim: name, Problem: "no run of the mixed pair comes to " + name +
			", as runs of the old version do, and nobody refuses the other",
			Remedy: "let the new version go on with old programs as the old one did, or let it refuse them: " +
				"exchange a version, and close the link or end on another one"}
		for i := range rep.Claims {
			if rep.Claims[i].Name == name {
				b.Why = rep.Claims[i].Why
			}
		}
		p.Broken = append(p.Broken, b)
	}
	return nil
}

// closes reports whether some of the statements closes a link.
func closes(list []model.Stmt) bool {
	return slices.ContainsFunc(list, func(s model.Stmt) bool {
		switch s := s.(type) {
		case *model.Close:
			return true
		case *model.If:
			return closes(s.Then) || closes(s.Else)
		case *model.Each:
			return closes(s.Body)
		}
		return false
	})
}

// broken tells a violated claim of a mixed pair.
func (x *mix) broken(r *check.ClaimReport, shown *run.Run) Broken {
	b := Broken{Claim: r.Name, Why: r.Why, Run: shown}
	for i := range shown.Instances {
		shown.Instances[i].Role = names[x.version[i]] + " " + shown.Instances[i].Role
	}
	b.Problem, _, _ = strings.Cut(strings.TrimPrefix(shown.Problem, "✗ "), "\n")
	b.Problem = strings.TrimPrefix(b.Problem, r.Name+": ")
	b.Remedy = "let the new version do in this run as the old one did, or refuse old programs by a version that both " +
		"exchange first"
	switch {
	case r.Kind != "built-in":
		return b
	case r.Name == check.Deadlock || r.Name == check.OrphanMessage:
		b.Remedy = "let the new version answer here as the old one did, or refuse old programs by a version"
		return b
	case r.Name != check.UnspecifiedReception || len(shown.Steps) == 0:
		return b
	}
	last := &shown.Steps[len(shown.Steps)-1]
	if last.Who < 0 || last.From < 0 {
		return b
	}
	who := func(i int) string { return names[x.version[i]] + " " + x.check.Instances[i].Name }
	message, _, _ := strings.Cut(last.Event, "{")
	message = strings.TrimSuffix(message, unreadable)
	handle := fmt.Sprintf("let NEW %s take %s in %s, or `ignore` it there, for as long as old programs send it",
		x.check.Instances[last.Who].Role.Name, message, last.State)
	if x.version[last.Who] == older {
		handle = fmt.Sprintf("OLD %s cannot be changed any more: let NEW %s send %s only to who knows it there; "+
			"exchange a version, or a set of features, first", x.check.Instances[last.Who].Role.Name,
			x.check.Instances[last.From].Role.Name, message)
	}
	b.Remedy = handle
	if !strings.Contains(last.Event, unreadable) {
		return b
	}
	b.Frame = x.frame(last)
	b.Problem = who(last.Who) + " cannot read " + b.Frame.Sent + " of " + who(last.From)
	if b.Frame.Frame != "" {
		b.Problem += fmt.Sprintf(": it refuses %s at byte %d", b.Frame.Frame, b.Frame.At)
	}
	b.Problem += ": " + b.Frame.Why
	if len(x.check.Instances) == 2 {
		b.Problem += "; a driver closes the link then"
	}
	readable(shown, b.Problem)
	return b
}

// frame is what the receiver of a step cannot read.
func (x *mix) frame(s *run.Step) *Try {
	v := x.version[s.From]
	t := &Try{Reader: names[1-v], Sent: strings.Replace(s.Event, unreadable, "", 1), Result: Refuses}
	m, slots, err := interp.ParseMessage(x.p[v], x.strs, t.Sent)
	if err != nil {
		t.Why = "its receiver has no such message"
		return t
	}
	r := x.reads(v, m, slots, x.roles[s.Who])
	t.Frame, t.Why, t.At = shortHex(r.frame), r.why, r.err.Offset
	return t
}

// readable takes the marks of the mix out of a run that ends with bytes which its receiver cannot read.
func readable(r *run.Run, problem string) {
	plain := func(s string) string { return strings.ReplaceAll(s, unreadable, "") }
	for i := range r.Steps {
		s := &r.Steps[i]
		for k := range s.Effects {
			s.Effects[k] = plain(s.Effects[k])
		}
		s.Sent = slices.Clone(s.Sent)
		for k := range s.Sent {
			s.Sent[k].Text = plain(s.Sent[k].Text)
		}
		s.Event = plain(s.Event)
	}
	for i := range r.End {
		r.End[i] = plain(r.End[i])
	}
	r.Problem, r.Steps[len(r.Steps)-1].Fault = "✗ "+problem, "cannot be read"
}

// judge says what the changes of the wire come to, and gives the verdict.
func (c *comparison) judge(ctx context.Context) error {
	partial := false
	for _, p := range c.out.Pairs {
		partial = partial || p.Ended != ""
	}
	for i := range c.out.Changes {
		x := &c.out.Changes[i]
		for _, t := range x.Tries {
			if t.Result == Reads || x.Breaks {
				continue
			}
			name, _, _ := strings.Cut(t.Sent, "{")
			v := 1 - slices.Index(names[:], t.Reader)
			apart, err := c.apart(ctx, v, name)
			if err != nil {
				return err
			}
			if partial || apart == "" {
				x.Breaks, x.Apart = true, ""
			} else {
				x.Apart = apart
			}
		}
		if x.Rule == NumbersShift || x.Rule == ChannelChanged {
			x.Remedy = remedies[x.Rule]
		}
		if x.Breaks {
			x.Remedy = remedies[x.Rule]
			if x.Rule == FieldAdded && slices.ContainsFunc(x.Tries, func(t Try) bool {
				return t.Reader == names[1] && t.Result == Reads
			}) { // it may be absent already
				x.Remedy = "send it only to who has said that it knows it, for old programs refuse frames with it; " +
					"those with `surplus: skip` under `wire` read over it"
			}
		}
	}
	breaks := slices.ContainsFunc(c.out.Changes, func(x Change) bool { return x.Breaks }) ||
		slices.ContainsFunc(c.out.Pairs, func(p *Pair) bool { return p.Result == Breaks })
	switch {
	case breaks:
		c.out.Verdict = Breaking
	case partial || len(c.out.Pairs) == 0:
		c.out.Verdict = Open
	default:
		c.out.Verdict = Compatible
	}
	return nil
}

// apart says why a message of one version never comes to the other: some check has it among programs of its own
// version, and no mixed pair of that check comes to send it. Empty if that cannot be said.
func (c *comparison) apart(ctx context.Context, v int, message string) (string, error) {
	key := fmt.Sprint(v, " ", message)
	if c.met[key] {
		return "", nil
	}
	done := map[string]bool{}
	for _, p := range c.out.Pairs {
		if done[p.Check] {
			continue
		}
		done[p.Check] = true
		like := &mix{version: make([]int, len(checkOf(c.base[newer], p.Check).Instances))}
		own, err := c.only(ctx, v, p.Check, like)
		if err != nil {
			return "", err
		}
		if own.sent[key] {
			return fmt.Sprintf("no mixed pair comes to send it: %s programs do so only among themselves (check %s)",
				names[v], p.Check), nil
		}
	}
	return "", nil
}

// Errors lists what is wrong with a specification that was rejected, if that is the error.
func Errors(err error) diag.List {
	var wrong *diag.Rejected
	if errors.As(err, &wrong) {
		return wrong.List
	}
	return nil
}
