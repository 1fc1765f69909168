package prove

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/prove/certify"
)

// Options limit the work; the zero value has sensible limits.
type Options struct {
	Lift Lift
	// MaxConfigurations bounds each search, real or collapsed; 0: a million.
	MaxConfigurations int
	// MaxBytes bounds the memory of the searches for real runs; 0: two gigabytes.
	MaxBytes uint64
	// Workers is the number of goroutines of the searches for real runs; 0: one for each core.
	Workers int
}

// Limits of the attempts.
const (
	// growths is how often the capacity is doubled to see whether channels close by themselves.
	growths = 2
	// maxExact is how many equal messages in a row are told apart at most.
	maxExact = 2
	// maxVerified is how many real configurations are verified unasked.
	maxVerified = 200_000
)

// safety are the kinds of claim that say something about each configuration.
var safety = map[model.ClaimKind]bool{model.Always: true, model.Agree: true}

// provable are the kinds that the collapse can establish: of reachable claims it is verified that
// the way to the goal exists whatever the lengths are. For a closed set of real configurations the
// explorer has decided those, and the verifier, which is slow at it, is not asked again.
var provable = map[model.ClaimKind]bool{model.Always: true, model.Agree: true, model.Reachable: true}

// Loader compiles a specification for a check, anew for each call.
type Loader func(check string) (*model.Protocol, error)

// prover works on one check.
type prover struct {
	ctx   context.Context
	load  Loader
	name  string
	o     Options
	base  *model.Protocol
	check *model.Check // as it is written
	proto *model.Protocol
	r     *Report
	// runs are the searches for real runs, and sys the system of the last.
	runs []*check.Report
	sys  *check.System
	cert *certify.Certificate
}

// Check proves what it can of the check of the given name. base, if not nil, is the specification
// without the check's constants and domains, to name what the check replaced. The certificate is
// nil if nothing was established. An error is about a check that cannot be explored at all.
func Check(ctx context.Context, load Loader, name string, base *model.Protocol, o Options) (*Report,
	*certify.Certificate, error) {
	if o.MaxConfigurations == 0 {
		o.MaxConfigurations = 1_000_000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 2 << 30
	}
	began := time.Now()
	p := &prover{ctx: ctx, load: load, name: name, o: o, base: base}
	if err := p.reload(0); err != nil {
		return nil, nil, err
	}
	p.r = &Report{Protocol: p.proto.Name, Check: name, Hash: p.proto.Text, Lift: o.Lift}
	if len(p.proto.Files) > 0 {
		p.r.Spec = p.proto.Files[0]
	}
	if why := certify.Beyond(p.check); why != "" {
		p.r.Verdict = NotAttempted
		p.r.Why = []string{why, "fsmgen check --check " + name + " explores it"}
		return p.r, nil, nil
	}
	closed, err := p.closes()
	if err != nil {
		return nil, nil, err
	}
	if closed {
		err = p.closure()
	} else {
		err = p.collapse()
	}
	p.judge()
	p.r.Seconds = time.Since(began).Seconds()
	return p.r, p.cert, err
}

// reload compiles the check anew, with so many values of each opaque type (0: as it says).
func (p *prover) reload(values int64) error {
	proto, err := p.load(p.name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(proto.Checks, func(c *model.Check) bool { return c.Name == p.name })
	if i < 0 {
		return fmt.Errorf("the specification has no check %s", p.name)
	}
	if values > 0 {
		certify.Widen(proto, values)
	}
	p.proto, p.check = proto, proto.Checks[i]
	return nil
}

// closes searches with growing capacity until no channel is ever full. Its reports are kept: what they
// found are real runs.
func (p *prover) closes() (bool, error) {
	capacity, limit := p.check.Channel.Capacity, p.o.MaxConfigurations
	for range growths {
		r, err := p.bounded(capacity, limit)
		if err != nil {
			return false, err
		}
		if builtIn(r, check.Overflow) == check.Holds {
			return true, nil
		}
		if builtIn(r, check.Overflow) != check.Violated || p.ctx.Err() != nil {
			return false, nil
		}
		capacity *= 2
		limit = min(limit, max(50_000, 10*int(r.Configurations)))
	}
	return false, nil
}

// bounded searches with a capacity, under the rules that remain.
func (p *prover) bounded(capacity, limit int) (*check.Report, error) {
	s, err := check.New(p.proto, lifted(p.check, p.o.Lift, capacity))
	if err != nil {
		return nil, err
	}
	o := p.options()
	o.MaxConfigurations = uint64(limit)
	r, err := s.Run(p.ctx, o, p.base)
	if err != nil {
		return nil, err
	}
	p.sys = s
	p.runs = append(p.runs, r)
	return r, nil
}

func (p *prover) options() explore.Options {
	return explore.Options{Workers: p.o.Workers, MaxConfigurations: uint64(p.o.MaxConfigurations),
		MaxBytes: p.o.MaxBytes}
}

// builtIn is the result of a built-in claim.
func builtIn(r *check.Report, name string) string {
	for i := range r.Claims {
		if r.Claims[i].Name == name && r.Claims[i].Kind == "built-in" {
			return r.Claims[i].Result
		}
	}
	return check.Incomplete
}

// closure takes over what was found where no channel was ever full.
func (p *prover) closure() error {
	more, err := p.moreValues()
	if err != nil {
		return err
	}
	last := p.runs[len(p.runs)-1]
	p.r.Method, p.r.Configurations, p.r.Steps, p.r.Widest = ByClosure, int(last.Configurations),
		int(last.Steps), last.WidestChannel
	for i := range last.Claims {
		c := &last.Claims[i]
		if c.Name == check.Overflow {
			continue // there is no capacity to exceed
		}
		out := Claim{Name: c.Name, Kind: c.Kind, Text: c.Text, Note: c.Note, Expected: c.Expected,
			Counterexample: c.Counterexample, Result: NotEstablished}
		switch {
		case c.NotBehind:
			out.Note = notBehind(last.Errors())
		case c.Result == check.Violated:
			out.Result = Violated
		case c.Result == check.Holds:
			out.Result = Proved
		}
		if k := slices.IndexFunc(more, func(m Claim) bool { return m.Name == c.Name }); k >= 0 {
			out.Result, out.Note, out.Counterexample = Violated, more[k].Note, more[k].Counterexample
		}
		p.r.Claims = append(p.r.Claims, out)
	}
	return p.writeClosure()
}

// notBehind says why what was visited proves nothing: runs ended at errors, and a program that does
// go on behind one comes to configurations that nobody has seen.
func notBehind(errors string) string {
	return "what happens behind " + errors + " was not looked at"
}

// writeClosure makes the certificate and, unless it is large, has it verified. There is none if it
// would prove nothing.
func (p *prover) writeClosure() error {
	if len(p.header().Claims) == 0 {
		return nil
	}
	opt := p.options()
	opt.Checks, opt.KeepGoing = p.sys.Checks, true
	res, err := explore.Run(p.ctx, p.sys.System, opt)
	if err != nil || !res.Complete {
		return err
	}
	p.cert = spaceCertificate(p.sys, res.Space, p.header())
	if len(p.cert.Configurations) <= maxVerified {
		return p.verify()
	}
	return nil
}

func (p *prover) header() certify.Header {
	kinds := safety
	if p.r.Method == ByCollapse {
		kinds = provable
	}
	h := header(p.sys, p.o.Lift, p.r.Values, kinds)
	h.Claims = slices.DeleteFunc(h.Claims, func(name string) bool {
		return !slices.ContainsFunc(p.r.Claims, func(c Claim) bool { return c.Name == name && c.Result == Proved })
	})
	return h
}

// verify gives the certificate to the independent verifier, with a specification compiled anew. If
// they disagree there is a mistake in one of the two, and nothing is established.
func (p *prover) verify() error {
	proto, err := p.load(p.name)
	if err != nil {
		return err
	}
	_, broken, err := p.cert.Audit(proto)
	for i := range p.r.Claims {
		c := &p.r.Claims[i]
		if !slices.Contains(p.cert.Claims, c.Name) {
			continue
		}
		why := broken[c.Name]
		if err != nil {
			why = err.Error()
		}
		if why != "" && c.Result == Proved {
			c.Result, c.Note = NotEstablished, "the verifier does not accept it: "+why
		}
	}
	if err != nil {
		p.r.Why = append(p.r.Why, "the certificate is not accepted: "+err.Error())
		p.cert = nil
		return nil
	}
	p.r.Verified = true
	return nil
}

// moreValues searches with more values of the opaque types until there are enough for any number of
// them, until one of the searches finds a violation that fewer values do not have, or until a limit.
// The last search that came to its end is the one that is reported; more has what the last of all
// found violated.
func (p *prover) moreValues() (more []Claim, err error) {
	o := opaqueTypes(p.proto, p.check)
	if o == nil || violatedUnexpected(p.runs[len(p.runs)-1]) {
		return nil, nil
	}
	if o.why != "" {
		return nil, p.onlySo("nothing follows for other numbers of values: " + o.why)
	}
	limit := min(p.o.MaxConfigurations, max(100_000, 2*int(p.runs[len(p.runs)-1].Configurations)))
	for {
		live, why, err := p.liveValues(o, limit)
		if err != nil {
			return nil, err
		}
		have := max(p.r.Values, p.fewest())
		switch {
		case why != "":
		case o.enough(have, live):
			p.r.AllValues, p.r.Live = true, live
			return nil, nil
		case p.arguments() > maxArguments:
			why = fmt.Sprintf("commands can be given in more than %d ways", maxArguments)
		}
		if why != "" {
			return nil, p.onlySo("more values were not explored: " + why)
		}
		values := max(have+1, int64(live+o.fresh), slices.Max(o.constants)+1)
		if values > maxValues {
			return nil, p.onlySo(fmt.Sprintf("more values were not explored: %d would be needed next, and "+
				"at most %d are tried", values, maxValues))
		}
		done, more, err := p.withValues(values, limit)
		if done || err != nil {
			return more, err
		}
	}
}

// liveValues counts the most different opaque values in one configuration of the last search, or
// says why that is not known.
func (p *prover) liveValues(o *opaque, limit int) (live int, why string, err error) {
	opt := p.options()
	opt.KeepGoing, opt.Checks, opt.MaxConfigurations = true, p.sys.Checks, uint64(limit)
	res, err := explore.Run(p.ctx, p.sys.System, opt)
	if err != nil {
		return 0, "", err
	}
	if !res.Complete {
		return 0, "which of them are in use was not counted (" + res.Why + ")", nil
	}
	return o.live(p.sys, res.Space), "", nil
}

// withValues searches with so many values of each opaque type. It is done if something is violated
// that was not before, which is more, or if the search did not come to its end with channels that
// close.
func (p *prover) withValues(values int64, limit int) (done bool, more []Claim, err error) {
	before, sys, had := len(p.runs), p.sys, p.r.Values
	if err := p.reload(values); err != nil {
		return true, nil, err
	}
	r, err := p.bounded(sys.Check.Channel.Capacity, limit)
	if err != nil {
		return true, nil, err
	}
	found, with := newlyViolated(p.runs[before-1], r), fmt.Sprintf("with %d values of each opaque type", values)
	for _, c := range found {
		more = append(more, Claim{Name: c.Name, Note: with, Counterexample: c.Counterexample})
	}
	if builtIn(r, check.Overflow) == check.Holds {
		p.r.Values = values
		return len(found) > 0, more, nil
	}
	why := r.Ended
	if builtIn(r, check.Overflow) == check.Violated {
		why = "a channel is full"
	}
	p.runs, p.sys = p.runs[:before], sys
	if err := p.reload(had); err != nil {
		return true, nil, err
	}
	return true, more, p.onlySo(with + " nothing is closed: " + why)
}

// onlySo notes why the result is for the numbers of values that were explored, and for no others.
func (p *prover) onlySo(why string) error {
	p.r.Why = append(p.r.Why, why)
	return nil
}

// violatedUnexpected reports whether a search found what settles the verdict.
func violatedUnexpected(r *check.Report) bool {
	return slices.ContainsFunc(r.Claims, func(c check.ClaimReport) bool {
		return c.Result == check.Violated && !c.Expected && c.Name != check.Overflow
	})
}

// newlyViolated lists the claims that r violates by a run, and before does not.
func newlyViolated(before, r *check.Report) []*check.ClaimReport {
	var out []*check.ClaimReport
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.Result != check.Violated || c.NotBehind || c.Counterexample == nil || c.Name == check.Overflow {
			continue
		}
		if !slices.ContainsFunc(before.Claims, func(x check.ClaimReport) bool {
			return x.Name == c.Name && x.Result == check.Violated
		}) {
			out = append(out, c)
		}
	}
	return out
}

// maxArguments is how many commands with different arguments a check may have for more values to be
// tried: they are all given to every local value.
const maxArguments = 500

// arguments counts the commands of all instances, each with all its arguments.
func (p *prover) arguments() int64 {
	n := int64(0)
	for _, inst := range p.check.Instances {
		for _, ev := range inst.Role.Commands {
			given := int64(1)
			for _, f := range ev.Fields {
				given = min(given*f.Type.Count(), 1<<40)
			}
			n += given
		}
	}
	return n
}

// maxValues is how many values of an opaque type are tried.
const maxValues = 16

// explored says for how many values of its opaque types and texts the check was explored, where that
// matters; empty if the result is for any number of them.
func (p *prover) explored() string {
	names := map[int64][]string{}
	model.EachType(p.proto, func(t *model.Type) {
		name := t.Name
		switch {
		case t.Kind == model.KindOpaque && !p.r.AllValues:
			if name == "" {
				name = "opaque numbers"
			}
		case t.Kind == model.KindBytes:
			if name == "" {
				name = "texts"
			}
		default:
			return
		}
		if !slices.Contains(names[t.Hi+1], name) {
			names[t.Hi+1] = append(names[t.Hi+1], name)
		}
	})
	var out []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		of := strings.Join(names[n], ", ")
		if len(names[n]) > 3 {
			of = fmt.Sprintf("each of %d types", len(names[n]))
		}
		out = append(out, diag.Counted(n, "value")+" of "+of)
	}
	return strings.Join(out, ", ")
}

// fewest is the least number of values of an opaque type.
func (p *prover) fewest() int64 {
	n := int64(maxValues)
	model.EachType(p.proto, func(t *model.Type) {
		if t.Kind == model.KindOpaque {
			n = min(n, t.Hi+1)
		}
	})
	return n
}
