package second

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
	"github.com/parley-go/parley/proptest/second/machine"
)

// claim is a claim of the author's.
type claim struct {
	name, kind string
	exprs      []syntax.Node // agree has several, or one list
	when       syntax.Node
	quiescent  bool
	fair       string
	within     int64
	except     []string
	bit        int // of what claims ask of a configuration: the goal, and behind it `when`
}

// ofRuns reports whether a claim is about what can follow, so that it needs the steps.
func (c *claim) ofRuns() bool {
	switch c.kind {
	case "reachable", "confluent":
		return true
	}
	return (c.kind == "eventually" || c.kind == "leadsTo") && c.within == 0
}

func (w *world) claims() (out []claim) {
	bits := 0
	for _, e := range machine.Entries(w.check.Get("claims")) {
		c := claim{name: e.Key.Text}
		for _, kind := range []string{"always", "sometimes", "agree", "reachable", "confluent",
			"eventually", "leadsTo"} {
			n := e.Value.Get(kind)
			if n == nil {
				continue
			}
			c.kind = kind
			switch {
			case kind == "confluent":
			case kind == "agree" && n.Kind == ast.List:
				for _, it := range n.Items {
					c.exprs = append(c.exprs, w.u.Expr(it))
				}
			default:
				c.exprs = []syntax.Node{w.u.Expr(n)}
			}
		}
		if n := e.Value.Get("when"); n != nil {
			c.when = w.u.Expr(n)
		}
		if n := e.Value.Get("within"); n != nil {
			c.within = w.u.Number(n)
		}
		if n := e.Value.Get("fair"); n != nil {
			c.fair = n.Text
		}
		c.quiescent = e.Value.Get("quiescent") != nil && e.Value.Get("quiescent").Text == "true"
		c.except = machine.Scalars(e.Value.Get("except"))
		if c.ofRuns() {
			if c.bit = bits; bits > 62 {
				panic(machine.Unsupported("more than 32 claims about what can follow"))
			}
			bits += 2
		}
		out = append(out, c)
	}
	return out
}

// view is a configuration as claims see it.
type view struct {
	w   *world
	c   *config
	far bool // something was looked at that is no instance
}

func (w *world) see(c *config) *machine.Env { return (&view{w: w, c: c}).env() }

func (v *view) env() *machine.Env { return &machine.Env{U: v.w.u, Self: -1, Sender: -1, Out: v} }

// answers are which conditions hold where the instances have certain values, by their numbers: those that were asked
// for, and that look at nothing but instances.
type answers struct{ known, hold uint64 }

// mostAnswers is for how many tuples of instances they are kept.
const mostAnswers = 1 << 18

// recall begins with a configuration whose parts have numbers: what is known of its instances is not evaluated again.
func (w *world) recall(c *config) {
	w.buf = w.buf[:0]
	for _, in := range c.in {
		w.buf = binary.AppendUvarint(w.buf, in.no)
	}
	if w.now = w.answers[string(w.buf)]; w.now == nil {
		if len(w.answers) >= mostAnswers {
			clear(w.answers)
		}
		w.now = &answers{}
		w.answers[string(w.buf)] = w.now
	}
}

// holds evaluates a condition; what faults does not hold.
func (w *world) holds(c *config, x syntax.Node) bool {
	if x == nil {
		return true
	}
	v := &view{w: w, c: c}
	if w.now == nil {
		return v.holds(x)
	}
	n, is := w.conditions[x]
	if !is {
		n = len(w.conditions)
		w.conditions[x] = n
	}
	if n < 64 && w.now.known>>n&1 == 1 {
		return w.now.hold>>n&1 == 1
	}
	ok := v.holds(x)
	if n < 64 && !v.far {
		w.now.known |= 1 << n
		if ok {
			w.now.hold |= 1 << n
		}
	}
	return ok
}

func (v *view) holds(x syntax.Node) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(machine.Fault); !is {
				panic(r)
			}
			ok = false
		}
	}()
	return machine.Truth(v.env().Eval(x))
}

func (v *view) Name(name string) (machine.Value, bool) {
	if g, ok := v.w.groups[name]; ok {
		if g.Lone {
			return g.All[0], true
		}
		return g, true
	}
	for k, m := range v.w.monitors {
		if m.joint && m.name == name {
			v.far = true
			return machine.PartRef{M: v.c.joint[k]}, true
		}
	}
	return nil, false
}

// Of is what a name means behind an instance.
func (v *view) Of(i machine.Instance, name string) (machine.Value, bool) {
	in := v.c.in[i]
	if name == "down" {
		return in.down, true
	}
	if m := in.mons[name]; m != nil {
		return machine.PartRef{M: m}, true
	}
	if in.m == nil {
		return nil, false
	}
	return in.m.Value(name)
}

// Call evaluates what only claims have.
func (v *view) Call(e *machine.Env, n *syntax.Call) (machine.Value, bool) {
	switch n.Fn {
	case "empty", "len":
		if len(n.Args) == 0 {
			return v.under(-1, -1, nil, n.Fn == "empty"), true
		}
		if a, ok := n.Args[0].(*syntax.Arrow); ok {
			from, to := machine.Number(e.Eval(a.X)), machine.Number(e.Eval(a.Y))
			return v.under(int(from), int(to), n.Args[1:], n.Fn == "empty"), true
		}
	case "reported", "commanded", "last", "pending":
		inst, key, least := v.ghost(e, n)
		x := v.c.in[inst].seen[key]
		if n.Fn == "reported" || n.Fn == "commanded" {
			return x.(int64) >= least, true
		}
		return x, true
	}
	return nil, false
}

// under counts what is under way from one instance to another (-1: all), with what is held, or says that
// there is none; then news counts too.
func (v *view) under(from, to int, rest []syntax.Node, empty bool) machine.Value {
	w, n := v.w, int64(0)
	v.far = true
	for i := range w.roles {
		for j := range w.roles {
			if from >= 0 && from != i || to >= 0 && to != j {
				continue
			}
			for k, cl := range w.classes {
				for _, it := range v.c.ch[w.at(i, j, k)].items {
					if it.news != "" && empty && len(rest) == 0 || it.news == "" &&
						counts(rest, it.msg.Name, cl.name) {
						n++
					}
				}
				for _, h := range v.c.in[j].held {
					if h.from == i && w.of[h.msg.Name] == k && counts(rest, h.msg.Name, cl.name) {
						n++
					}
				}
			}
		}
	}
	if empty {
		return n == 0
	}
	return n
}

// ghosts are what claims remember of what programs saw and did: for each role its keys. The value is how far
// a count goes; of others it is 0.
type ghosts map[*machine.Role]map[string]int64

func (g ghosts) begin(r *machine.Role) map[string]machine.Value {
	out := map[string]machine.Value{}
	for k := range g[r] {
		switch {
		case strings.HasPrefix(k, "last "):
			out[k] = nil
		case strings.HasPrefix(k, "pending "):
			out[k] = false
		default:
			out[k] = int64(0)
		}
	}
	return out
}

// which says whether a name of a role is a report ("r:") or a command ("c:").
func which(r *machine.Role, n syntax.Node) (prefix, name string, of syntax.Node) {
	if c, ok := n.(*syntax.Call); ok {
		s := c.Args[0].(*syntax.Select)
		return map[string]string{"commanded": "c:", "reported": "r:"}[c.Fn], s.Name, s.X
	}
	s := n.(*syntax.Select)
	if _, is := r.Fields["r:"+s.Name]; is {
		return "r:", s.Name, s.X
	}
	return "c:", s.Name, s.X
}

// subject is the instance that a function of the past is about, and the key of what it asks for.
func (w *world) subject(n *syntax.Call, roleOf func(syntax.Node) *machine.Role) (
	at syntax.Node, key string, least int64,
) {
	switch n.Fn {
	case "reported", "commanded":
		s := n.Args[0].(*syntax.Select)
		least = 1
		if len(n.Args) > 1 {
			least = machine.Number((&machine.Env{U: w.u}).Eval(n.Args[1])) // a constant
		}
		return s.X, n.Fn + " " + s.Name, least
	case "last":
		s := n.Args[0].(*syntax.Select)
		r := roleOf(base(s.X))
		prefix, name, of := which(r, s.X)
		return of, "last " + prefix + name + "." + s.Name, 0
	}
	key = "pending "
	for _, a := range n.Args {
		r := roleOf(base(a))
		prefix, name, of := which(r, a)
		at, key = of, key+prefix+name+" "
	}
	return at, key, 0
}

// base is the instance of `a.report`, `commanded(a.x)` or `p[1].report`.
func base(n syntax.Node) syntax.Node {
	if c, ok := n.(*syntax.Call); ok {
		n = c.Args[0]
	}
	return n.(*syntax.Select).X
}

func (v *view) ghost(e *machine.Env, n *syntax.Call) (inst int, key string, least int64) {
	role := func(x syntax.Node) *machine.Role { return v.w.as[machine.Number(e.Eval(x))] }
	at, key, least := v.w.subject(n, role)
	return int(machine.Number(e.Eval(at))), key, least
}

// readClaims finds what claims ask of the past, and which need a stopwatch.
func (w *world) readClaims() {
	w.watched = ghosts{}
	add := func(x syntax.Node) { w.findGhosts(x, map[string]*machine.Role{}) }
	for _, c := range w.claims() {
		for _, x := range c.exprs {
			add(x)
		}
		if c.when != nil {
			add(c.when)
		}
		if c.kind == "leadsTo" && c.within > 0 {
			w.watches = append(w.watches, w.newWatch(c))
		}
	}
	if w.quiet != nil {
		add(w.quiet)
	}
}

func (w *world) findGhosts(n syntax.Node, bound map[string]*machine.Role) {
	roleOf := func(x syntax.Node) *machine.Role {
		if ix, ok := x.(*syntax.Index); ok {
			x = ix.X
		}
		id := x.(*syntax.Ident).Name
		if r := bound[id]; r != nil {
			return r
		}
		return w.as[w.named(id)[0]]
	}
	switch x := n.(type) {
	case *syntax.Quantified:
		w.findGhosts(x.Over, bound)
		inner := maps.Clone(bound)
		if id, ok := x.Over.(*syntax.Ident); ok {
			if g, ok := w.groups[id.Name]; ok && !g.Lone {
				inner[x.Var] = w.as[g.All[0]]
			}
		}
		w.findGhosts(x.X, inner)
		return
	case *syntax.Build:
		inner := maps.Clone(bound)
		if id, ok := x.Over.(*syntax.Ident); ok {
			if g, ok := w.groups[id.Name]; ok && !g.Lone {
				inner[x.Var] = w.as[g.All[0]]
			}
		}
		w.findGhosts(x.Elem, inner)
		if x.If != nil {
			w.findGhosts(x.If, inner)
		}
		return
	case *syntax.Call:
		switch x.Fn {
		case "reported", "commanded", "last", "pending":
			at, key, least := w.subject(x, roleOf)
			r := roleOf(at)
			if w.watched[r] == nil {
				w.watched[r] = map[string]int64{}
			}
			w.watched[r][key] = max(w.watched[r][key], least)
			return
		}
	}
	for _, k := range children(n) {
		w.findGhosts(k, bound)
	}
}

func children(n syntax.Node) []syntax.Node {
	switch n := n.(type) {
	case *syntax.Unary:
		return []syntax.Node{n.X}
	case *syntax.Binary:
		return []syntax.Node{n.X, n.Y}
	case *syntax.Select:
		return []syntax.Node{n.X}
	case *syntax.Index:
		return append([]syntax.Node{n.X}, n.Args...)
	case *syntax.Call:
		return n.Args
	case *syntax.List:
		return n.Elems
	}
	return nil
}

// monitor is a machine of the check that sees reports and commands.
type monitor struct {
	name  string
	of    []string
	joint bool
	role  *machine.Role
}

func (w *world) readMonitors() {
	for _, e := range machine.Entries(w.check.Get("monitors")) {
		of := e.Value.Get("of")
		m := &monitor{name: e.Key.Text, of: machine.Scalars(of), joint: of.Kind == ast.List}
		m.role = w.u.Read(m.name, e.Value)
		m.role.Clamps = true
		w.monitors = append(w.monitors, m)
	}
}

// observe tells ghosts and monitors that an instance took a command ("c:") or made a report ("r:").
func (w *world) observe(c *config, i int, prefix, name string, values map[string]machine.Value) {
	if len(w.watched) == 0 && len(w.monitors) == 0 {
		return
	}
	in := c.own(i)
	in.seen = maps.Clone(in.seen)
	for key, most := range w.watched[w.roles[i]] {
		what, rest, _ := strings.Cut(key, " ")
		switch {
		case what == "commanded" && prefix == "c:" && rest == name, what == "reported" &&
			prefix == "r:" && rest == name:
			in.seen[key] = min(most, in.seen[key].(int64)+1)
		case what == "last":
			if f, ok := strings.CutPrefix(rest, prefix+name+"."); ok {
				in.seen[key] = values[f]
			}
		case what == "pending":
			switch slices.Index(strings.Fields(rest), prefix+name) {
			case -1:
			case 0:
				in.seen[key] = true
			default:
				in.seen[key] = false
			}
		}
	}
	for k, m := range w.monitors {
		if !m.joint {
			if old := in.mons[m.name]; old != nil {
				in.mons = maps.Clone(in.mons)
				in.mons[m.name] = w.tell(w.names[i]+m.name, old, machine.Event{Name: name, Msg: values, Sender: -1})
			}
			continue
		}
		for _, of := range m.of {
			if !slices.Contains(w.named(of), machine.Instance(i)) {
				continue
			}
			c.joint = slices.Clone(c.joint)
			c.joint[k] = w.tell(m.name, c.joint[k], machine.Event{Name: of + "." + name, Msg: values, Sender: i})
		}
	}
}

// tell gives a monitor an event; what it does not mention is nothing to it.
func (w *world) tell(owner string, m *machine.Machine, ev machine.Event) *machine.Machine {
	o := m.Step(ev, nil)
	if o.Fault != "" {
		panic(machine.Unsupported("a monitor that faults: " + o.Fault))
	}
	return w.numbered(owner, o.M)
}

// watch is the stopwatch of a claim with `within`.
type watch struct {
	c    claim
	all  []int // whose beats it counts
	most int64 // how many beats may pass
	at   int
}

func (w *world) newWatch(c claim) *watch {
	s := &watch{c: c, at: len(w.watches)}
	if !w.time.Counts() {
		panic(machine.Unsupported("within without time"))
	}
	s.most = c.within/w.time.Beat - 1
	seen := map[int]bool{}
	var walk func(n syntax.Node)
	walk = func(n syntax.Node) {
		switch x := n.(type) {
		case *syntax.Ident:
			for _, i := range w.groups[x.Name].All {
				seen[int(i)] = true
			}
		case *syntax.Index:
			if id, ok := x.X.(*syntax.Ident); ok {
				if g, ok := w.groups[id.Name]; ok {
					if k, ok := x.Args[0].(*syntax.Number); ok {
						seen[int(g.All[k.Value-g.Lo])] = true
						return
					}
				}
			}
			walk(x.X)
			for _, a := range x.Args {
				if id, ok := a.(*syntax.Ident); !ok || !w.groups[id.Name].Lone {
					walk(a) // an instance as an index is a number
				}
			}
			return
		case *syntax.Arrow:
			walk(x.X)
			walk(x.Y)
			return
		case *syntax.Quantified:
			walk(x.Over)
			walk(x.X)
			return
		case *syntax.Call:
			if x.Fn == "empty" && len(x.Args) == 0 {
				for i := range w.roles {
					seen[i] = true
				}
			}
		}
		for _, k := range children(n) {
			walk(k)
		}
	}
	walk(c.exprs[0])
	walk(c.when)
	for i := range w.roles {
		if seen[i] {
			s.all = append(s.all, i)
		}
	}
	return s
}

// A stopwatch is -1 for ever once it was too late, and 0 while nothing waits. Else it is 1 + 2 times
// the beats that have passed, and 1 more where the
// present beat does not count, since one of those that it looks at had felt it before.
func (w *world) stopwatches(before, c *config, felt int) {
	for _, s := range w.watches {
		v := c.clocks[s.at]
		if v <= 0 || !slices.Contains(s.all, felt) {
			continue
		}
		if w.last(before, s, felt) {
			if (v-1)%2 == 1 {
				v-- // this beat was not whole
			} else {
				v += 2
			}
			c.clocks[s.at] = v
		}
	}
}

// last reports whether the one who feels the beat is the last of those that the stopwatch looks at.
func (w *world) last(before *config, s *watch, felt int) bool {
	for _, i := range s.all {
		in := before.in[i]
		if i != felt && in.beat {
			return false
		}
	}
	return true
}

// settle starts and stops the stopwatches of a configuration that a step has led to. It names the claim
// whose bound is passed.
func (w *world) settle(c *config) (violated []string) {
	for _, s := range w.watches {
		v := c.clocks[s.at]
		if v < 0 {
			continue // the run has been too late, and that stays so
		}
		reached := w.holds(c, s.c.exprs[0])
		switch {
		case reached:
			v = 0
		case v == 0 && w.holds(c, s.c.when):
			v = 1
			some, all := false, true
			for _, i := range s.all {
				if in := c.in[i]; in.m != nil {
					some, all = some || in.beat, all && in.beat
				}
			}
			if some && !all {
				v++
			}
		}
		c.clocks[s.at] = v
		if v > 0 && int64(v-1)/2 > s.most {
			violated = append(violated, s.c.name)
			c.clocks[s.at] = -1
		}
	}
	return violated
}

func (c claim) String() string { return fmt.Sprint(c.name, " (", c.kind, ")") }
