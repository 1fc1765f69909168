// Package check resolves the checks of a specification: their instances, the rules of their
// environment, what may go wrong, and what is claimed. Start from [Resolve].
package check

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/machine"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// checker resolves the checks of one pass.
type checker struct{ *machine.Set }

// Resolve resolves a check. Its constants and domains must be those of the pass.
func Resolve(roles *machine.Set, e ast.Entry) *model.Check { return (&checker{roles}).oneCheck(e) }

func (r *checker) oneCheck(e ast.Entry) *model.Check {
	n := e.Value
	c := &model.Check{Name: e.Key.Text, Doc: pass.TextOf(n, "doc"), Span: e.Key.Span()}
	c.Channel, c.Beside = r.Channels(n)
	instances := r.instances(c, n.Get("instances"))
	instances.ghosts = convert.NewGhosts()
	r.hostile(c, instances, n)
	r.come(c, instances, n)
	r.Monitors(n.Get("monitors"))
	r.environment(c, n.Get("environment"))
	if len(instances.single)+len(instances.groups) == 0 {
		return c // which is reported; nothing can be said of no instances
	}
	r.joint(c, instances, n.Get("monitors"))
	r.faults(c, instances, n)
	r.comers(c, n)
	r.reliable(c, n)
	if t := n.Get("time"); t != nil {
		c.Time = &model.Time{Beat: 1, Delay: 1, Span: t.Span()}
	}
	if claims := n.Get("claims"); claims != nil {
		for _, cl := range claims.Entries {
			if m := r.claim(cl, c, instances); m != nil {
				c.Claims = append(c.Claims, m)
			}
		}
	}
	r.time(c, instances, n.Get("time"))
	if q := n.Get("quiet"); q != nil {
		s := instances.scope(r.Table)
		c.Quiet = s.Cond(r.Parse(q))
		c.QuietLocals = s.Slots
	}
	r.Remember(instances.ghosts)
	r.honestOnly(c)
	r.unmonitored(c)
	known := append(n.Get("claims").Keys(), model.BuiltinClaims()...)
	for _, it := range pass.Scalars(n.Get("expect")) {
		if !slices.Contains(known, it.Text) {
			r.Unknown("FSM082", it, "claim", known)
			continue
		}
		if cl := n.Get("claims").Entry(it.Text); cl != nil {
			r.Refer(it.Span(), cl.Key.Span())
		}
		c.Expect = append(c.Expect, model.Expectation{Name: it.Text, Span: it.Span()})
	}
	return c
}
