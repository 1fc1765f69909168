package probe

import (
	"context"
	"slices"
)

// Bounds of making a script short: how often it is tried at all, and how often the whole of it.
const (
	mostTrials = 100
	mostAgain  = 3
)

// shrink makes the script of a finding short: acts are taken out while what is found stays the same, several at once
// first, then one by one (delta debugging). A program that does not do the same again keeps the script as it is.
// Honest are acts that may show it without what came before.
func (pr *prober) shrink(ctx context.Context, f *Finding, honest []act) {
	if len(f.acts) == 0 && f.Kind != Died {
		f.Steady = pr.again(ctx, f, f.acts)
		return
	}
	if f.After != "" && pr.target.start == "" { // an honest session may show it now, too
		g := *f
		if f.Stays = pr.again(ctx, &g, honest); f.Stays {
			return
		}
	}
	for n := 0; n < mostAgain && !f.Steady && ctx.Err() == nil; n++ {
		f.Steady = pr.again(ctx, f, f.acts)
	}
	if slower := slices.Clone(f.acts); !f.Steady && ctx.Err() == nil { // who was first may have been chance
		for i := range slower {
			slower[i].cross = false
		}
		f.Steady = pr.again(ctx, f, slower)
	}
	if !f.Steady {
		return
	}
	trials := 0
	for size := max(1, len(f.acts)/2); size > 0; {
		before := len(f.acts)
		for from := len(f.acts) - size; from >= 0 && trials < mostTrials; {
			shorter := slices.Delete(slices.Clone(f.acts), from, from+size)
			trials++
			if ctx.Err() != nil {
				return
			}
			pr.again(ctx, f, shorter)
			from = min(from-size, len(f.acts)-size)
		}
		if size > 1 || len(f.acts) == before { // single ones until none can go
			size /= 2
		}
	}
	for i := 0; i < len(f.acts) && trials < mostTrials && ctx.Err() == nil; i++ {
		if slower := slices.Clone(f.acts); slower[i].cross { // in the order of everybody else
			slower[i].cross = false
			trials++
			pr.again(ctx, f, slower)
		}
	}
}

// again does acts again and reports whether they show what a finding says. If so, the finding has that session.
func (pr *prober) again(ctx context.Context, f *Finding, acts []act) bool {
	if pr.target.start != "" && (pr.o.Fresh || f.Kind == Died || f.After != "") {
		pr.target.stop()
	}
	s, err := pr.newSession(ctx, pr.target, pr.o)
	if err != nil {
		return false
	}
	pr.report.Sessions++
	for _, a := range acts {
		if s.finding != nil || ctx.Err() != nil {
			break
		}
		s.do(a)
	}
	s.settle()
	s.stop()
	if f.Kind == Died && (s.finding == nil || s.finding.Kind != Died) && s.dead(true) && s.target.process.err != nil {
		s.finding = nil // what it said before it died matters less
	}
	pr.death(s)
	if !f.same(s.finding) {
		if s.finding != nil {
			pr.restart()
		}
		return false
	}
	f.acts = slices.Clone(s.acts)
	if f.Kind == Died && len(s.acts) < len(acts) {
		f.acts = slices.Clone(acts)
	}
	f.Why = s.finding.Why
	pr.keep(f, s)
	pr.restart()
	return true
}
