package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// maxDelay is how many beats a message can take at most.
const maxDelay = 16

// maxFaults bounds how often a fault may happen in one run.
const maxFaults = 255

// faults resolves what may go wrong in a check.
func (r *resolver) faults(c *model.Check, in *parties, check *ast.Node) {
	e := check.Entry("faults")
	if e == nil {
		return
	}
	n := e.Value
	f := &model.Faults{Lose: -1, Duplicate: -1, Overtake: -1, Span: e.Key.Span(),
		Crash: make([]int, len(c.Instances)), Restart: make([]int, len(c.Instances))}
	c.Faults = f
	bound := func(key string, to *int) {
		if v := n.Get(key); v != nil {
			if m, ok := r.constIn(v, 0, maxFaults, "how often"); ok {
				*to = int(m)
			}
		}
	}
	bound("break", &f.Break)
	bound("lose", &f.Lose)
	bound("duplicate", &f.Duplicate)
	bound("overtake", &f.Overtake)
	if v := n.Get("crash"); v != nil && v.Kind == ast.Scalar {
		bound("crash", &f.CrashAll)
		for i := range f.Crash {
			f.Crash[i] = f.CrashAll
		}
	} else {
		r.each(f.Crash, in, v)
	}
	if v := n.Get("restart"); v != nil && v.Kind == ast.Scalar {
		most := 0
		bound("restart", &most)
		for i := range f.Restart {
			f.Restart[i] = most
		}
	} else {
		r.each(f.Restart, in, v)
		r.restarts(f, n.Entry("restart"), c)
	}
	r.linked(c)
}

// restarts reports instances that may begin again without ever having crashed.
func (r *resolver) restarts(f *model.Faults, e *ast.Entry, c *model.Check) {
	for i, n := range f.Restart {
		if n > 0 && f.Crash[i] == 0 {
			r.Errorf("FSM087", e.Key.Span(), "%s may restart, but never crashes", diag.Quote(c.Instances[i].Name)).With("say under `crash` how often")
			return
		}
	}
}

// each resolves {c: 1, "p[2]": 1, p: 2}.
func (r *resolver) each(to []int, in *parties, n *ast.Node) {
	if n == nil {
		return
	}
	s := in.scope(r)
	for _, e := range n.Entries {
		x, err := expr.Parse(e.Key.Text, e.Key.Part)
		if err != nil {
			r.syntax(err)
			continue
		}
		v, ok := r.constIn(e.Value, 0, maxFaults, "how often")
		if !ok {
			continue
		}
		var which []*instance
		if id, isName := x.(*expr.Ident); isName && in.groups[id.Name] != nil {
			r.refer(id.Pos(), in.groups[id.Name].at)
			which = in.groups[id.Name].all
		} else if m := s.end(x); m != nil {
			which = []*instance{{m: m}}
		}
		for _, w := range which {
			if w.m.Index < len(to) {
				to[w.m.Index] = int(v)
			}
		}
	}
}

// linked reports channels on which the news that a link is up or lost would not arrive in their place.
func (r *resolver) linked(c *model.Check) {
	f := c.Faults
	if c.Channel.Ordered && !c.Channel.Lossy && !c.Channel.Duplicates && f.Lose <= 0 && f.Duplicate <= 0 && f.Overtake <= 0 {
		return
	}
	if !c.Channel.Ordered && f.Overtake > 0 {
		r.Errorf("FSM087", f.Span, "`overtake` means nothing where messages arrive in any order")
	}
	for _, in := range c.Instances {
		if in.Role == nil || !in.Role.Linked() {
			continue
		}
		r.Errorf("FSM087", f.Span, "role %s handles `up` or `lost`, which need a link that keeps messages in order and loses none", diag.Quote(in.Role.Name)).
			With("leave out lose, duplicate and overtake, and the channel's lossy, duplicates and order: any")
		return
	}
}

// time resolves how time passes in a check.
func (r *resolver) time(c *model.Check, n *ast.Node) {
	if n == nil {
		return
	}
	t := &model.Time{Beat: 1, Delay: 1, Span: n.Span()}
	c.Time = t
	if b := n.Get("beat"); b == nil {
		r.Errorf("FSM009", n.Span(), "`time` has no `beat`, its length in ticks")
	} else if v, ok := r.constIn(b, 1, 1<<31, "the length of a beat"); ok {
		t.Beat = v
	}
	if d := n.Get("delay"); d != nil {
		if v, ok := r.constIn(d, 1, maxDelay, "the delay in beats"); ok {
			t.Delay = int(v)
		}
		if f := c.Faults; t.Delay > 1 && (!c.Channel.Ordered || c.Channel.Lossy || c.Channel.Duplicates || f != nil && (f.Lose > 0 || f.Duplicate > 0 || f.Overtake > 0)) {
			r.Errorf("FSM088", d.Span(), "a message that takes several beats needs channels that keep messages in order and lose and copy none").
				With("leave out `delay` and make the beat as long as the longest delay")
		}
	}
}

// within resolves the bound of a leadsTo.
func (r *resolver) within(c *model.Claim, check *model.Check, n *ast.Node) {
	w := n.Entry("within")
	if w == nil {
		return
	}
	v, ok := r.constIn(w.Value, 1, 1<<40, "the bound in ticks")
	if !ok {
		return
	}
	c.Within = v
	if check.Time == nil {
		r.Errorf("FSM088", w.Key.Span(), "`within` counts ticks, but this check has no `time`").With("add `time: {beat: n}`")
	}
}
