package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/prove/certify"
)

// maxRounds bounds how often the set of collapsed messages is enlarged.
const maxRounds = 200

// collapse closes the system by collapsing runs. Where the result is too coarse it tries again with
// more told apart.
func (p *prover) collapse() error {
	var best map[string]string
	for exact := range maxExact + 1 {
		s, why := p.closeCollapsed(int32(exact))
		if why != "" {
			p.r.Why = append(p.r.Why, why)
			break
		}
		cert := s.certificate(p.sys, header(p.sys, p.o.Lift, 0, provable))
		proto, err := p.load(p.name)
		if err != nil {
			return err
		}
		_, broken, err := cert.Audit(proto)
		if err != nil {
			p.r.Why = append(p.r.Why, "the certificate is not accepted: "+err.Error())
			break
		}
		if best == nil || len(broken) < len(best) {
			best, p.cert = broken, cert
			p.describe(s, exact)
		}
		if len(p.doubtful(best)) == 0 {
			break
		}
	}
	if err := p.seek(best); err != nil {
		return err
	}
	p.settle(best)
	if p.cert != nil {
		p.cert.Header = p.header()
		if len(p.cert.Claims) == 0 {
			p.cert, p.r.Verified = nil, false
		}
	}
	return nil
}

// closeCollapsed searches, and collapses more each time a channel grows too long.
func (p *prover) closeCollapsed(exact int32) (*search, string) {
	sys := p.sys.System
	for k := range sys.Channels {
		if sys.Channels[k].Swap {
			return nil, "channels that exchange messages cannot be collapsed"
		}
	}
	c := newCollapse(len(sys.Channels))
	c.exact = exact
	most := 0
	for _, ch := range p.check.Channels() {
		most = max(most, ch.Capacity)
	}
	s := newSearch(sys, c, max(most, int(exact)+4))
	for range maxRounds {
		if why := s.run(p.ctx, p.o.MaxConfigurations); why != "" {
			return nil, why
		}
		if s.full == nil {
			return s, ""
		}
		if !s.widen() {
			return nil, "no collapse keeps the channels short"
		}
		s.reset()
	}
	return nil, "too many kinds of messages would have to be collapsed"
}

// describe notes how the channels were collapsed.
func (p *prover) describe(s *search, exact int) {
	p.r.Method, p.r.Configurations, p.r.Steps, p.r.Exact, p.r.Verified = ByCollapse, len(s.parent), s.steps, exact, true
	p.r.Collapsed, p.r.Widest = nil, 0
	for _, w := range s.words.list {
		p.r.Widest = max(p.r.Widest, len(w))
	}
	for k, groups := range s.c.group {
		byGroup := map[int32][]string{}
		for l, g := range groups {
			m, slots := p.sys.Message(s.letters.list[l])
			byGroup[g] = append(byGroup[g], string(interp.AppendMessage(nil, p.sys.Strings(), m, slots)))
		}
		var texts []string
		for _, names := range byGroup {
			slices.Sort(names)
			texts = append(texts, strings.Join(names, "|"))
		}
		slices.Sort(texts)
		if len(texts) > 0 {
			p.r.Collapsed = append(p.r.Collapsed, s.sys.Channels[k].Name+": "+strings.Join(texts, ", "))
		}
	}
}

// real reports whether a run within a capacity that violates a claim of this kind violates it
// without a bound, too.
func real(c *check.ClaimReport) bool {
	if c.Kind == "built-in" {
		return c.Name != check.Overflow
	}
	return c.Kind == "always" || c.Kind == "agree"
}

// found is a real run that violates a claim, if one is known.
func (p *prover) found(name string) *check.ClaimReport {
	for _, r := range p.runs {
		for i := range r.Claims {
			if c := &r.Claims[i]; c.Name == name && c.Result == check.Violated && real(c) {
				return c
			}
		}
	}
	return nil
}

// doubtful lists the claims that the collapsed system violates and no real run is known to, those
// left out that are expected to be violated.
func (p *prover) doubtful(broken map[string]string) []string {
	var out []string
	for name := range broken {
		if p.found(name) == nil && !p.check.Expects(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// seek looks for real runs to what is in doubt, with greater capacities.
func (p *prover) seek(broken map[string]string) error {
	capacity := p.runs[len(p.runs)-1].Channels
	if len(capacity) == 0 {
		return nil
	}
	if len(p.doubtful(broken)) == 0 || p.ctx.Err() != nil {
		return nil
	}
	_, err := p.bounded(2*capacity[0].Capacity, p.o.MaxConfigurations)
	return err
}

// settle gives each claim its result.
func (p *prover) settle(broken map[string]string) {
	last, errors := p.runs[0], p.errors(broken)
	for i := range last.Claims {
		c := &last.Claims[i]
		if c.Name == check.Overflow {
			continue
		}
		out := Claim{Name: c.Name, Kind: c.Kind, Text: c.Text, Expected: c.Expected, Result: NotEstablished}
		stated := c.Kind != "built-in"
		why, is := broken[c.Name]
		switch x := p.found(c.Name); {
		case x != nil:
			out.Result, out.Counterexample, out.Note = Violated, x.Counterexample, x.Note
		case c.Kind == "sometimes":
			p.witness(&out)
		case stated && !slices.Contains([]string{"always", "agree", "reachable"}, c.Kind):
			out.Note = "it speaks of what must happen, or of the order of steps; the collapsed system has " +
				"more runs than the real one"
		case broken == nil:
			out.Note = "no closed set was found"
		case is && c.Kind == "reachable":
			out.Note = "no way to it was found that exists whatever the lengths of the channels are: " + why
		case is:
			out.Note = fmt.Sprintf("the collapsed system violates it; no real run with at most %s "+
				"in a channel was found to: %s", diag.Counted(p.most(), "message"), why)
		case len(errors) > 0:
			out.Note = notBehind("errors (" + strings.Join(errors, ", ") + ")")
		default:
			out.Result = Proved
			if c.Kind == "reachable" {
				out.Note = "a way to it exists whatever the lengths of the channels are"
			}
		}
		p.r.Claims = append(p.r.Claims, out)
	}
}

// errors are the claims whose violations end runs, of real runs or collapsed ones: they are not
// proved, and nothing is visited behind such a step.
func (p *prover) errors(broken map[string]string) []string {
	var out []string
	for _, name := range certify.EndRuns {
		if _, is := broken[name]; is || p.found(name) != nil {
			out = append(out, name)
		}
	}
	return out
}

// witness looks for a run that satisfies a sometimes claim: a run within a capacity is one without.
func (p *prover) witness(out *Claim) {
	out.Note = fmt.Sprintf("no run with at most %s in a channel was found",
		diag.Counted(p.most(), "message"))
	for _, r := range p.runs {
		for i := range r.Claims {
			if c := &r.Claims[i]; c.Name == out.Name && c.Witness != nil {
				out.Result, out.Note = Proved, c.Note
				return
			}
		}
	}
}

// most is the greatest capacity of the searches for real runs.
func (p *prover) most() int {
	n := 0
	for _, r := range p.runs {
		for _, c := range r.Channels {
			n = max(n, c.Capacity)
		}
	}
	return n
}

// judge gives the verdict, and says in words what was established.
func (p *prover) judge() {
	p.r.Verdict = Proved
	for i := range p.r.Claims {
		c := &p.r.Claims[i]
		switch {
		case c.Result == Violated && !c.Expected, c.Result == Proved && c.Expected:
			p.r.Verdict = Violated
		case c.Result == NotEstablished && !c.Expected && p.r.Verdict == Proved:
			p.r.Verdict = NotEstablished
		}
	}
	if len(p.r.Claims) == 0 {
		p.r.Verdict = NotEstablished
	}
	p.r.For = p.explored()
	p.r.Established = p.words()
}

// words says what was established and for which class.
func (p *prover) words() []string {
	if !slices.ContainsFunc(p.r.Claims, func(c Claim) bool { return c.Result == Proved }) {
		return nil
	}
	var names []string
	for _, i := range p.check.Instances {
		args := make([]string, len(i.Args))
		for k, a := range i.Args {
			args[k] = model.ExprString(a)
		}
		name := i.Name + ": " + i.Role.Name
		if len(args) > 0 {
			name += "(" + strings.Join(args, ", ") + ")"
		}
		names = append(names, name)
	}
	out := []string{"for channels of every capacity, unbounded ones included, between these parties: " +
		strings.Join(names, ", ")}
	switch p.r.Method {
	case ByClosure:
		out = append(out, fmt.Sprintf("the channels close by themselves: never more than %s %s "+
			"under way in one", diag.Counted(p.r.Widest, "message"), diag.OneOr(p.r.Widest, "is", "are")))
	case ByCollapse:
		out = append(out, "runs of these messages stand for runs of any length: "+strings.Join(p.r.Collapsed, "; "))
		out = append(out, "the collapsed system has every run of the real one, and more")
	}
	out = append(out, p.rulesWords()...)
	switch {
	case p.r.AllValues:
		out = append(out,
			fmt.Sprintf("opaque types may have any number of values: %d were explored, at most %d are in "+
				"use at once, and nothing but equality is asked of them", max(p.r.Values, p.fewest()), p.r.Live))
	}
	assumptions := p.runs[len(p.runs)-1].Assumptions
	assumptions = slices.DeleteFunc(slices.Clone(assumptions), func(text string) bool {
		return strings.Contains(text, "under way in each direction") // it tells of the capacity
	})
	for _, ch := range p.check.Channels() {
		out = append(out, channelWords(ch))
	}
	return append(out, assumptions...)
}

// rulesWords says what became of rules that speak of lengths.
func (p *prover) rulesWords() []string {
	var out []string
	for _, r := range lengthRules(p.check) {
		text := fmt.Sprintf("the rule for %s speaks of the length of channels (%s)", r.Command.Name,
			model.ExprString(r.When))
		if p.o.Lift == LiftNothing {
			text += ": it is part of the system, and the result is for this environment; lift it to leave it out"
		} else {
			text += ": it is left out"
		}
		out = append(out, text)
	}
	return out
}

func channelWords(ch model.Channel) string {
	text := "messages arrive in order"
	if !ch.Ordered {
		text = "messages arrive in any order"
	}
	if ch.Name != "" {
		text = "over " + ch.Name + " " + text
	}
	if ch.Lossy {
		text += ", any may be lost"
	}
	if ch.Duplicates {
		text += ", any may arrive again"
	}
	return text
}
