package second

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
)

// newWorld reads a check.
func newWorld(root *ast.Node, name string) *world {
	check := root.Get("checks").Get(name)
	if check == nil {
		panic(unsupported("no check " + name))
	}
	w := &world{check: check, groups: map[string]group{}, of: map[string]int{},
		memo: map[string]outcome{}, forged: map[int][]message{}, restart: faults{total: -1}}
	// How many instances there are has to be known before any type is.
	var specs []string
	scratch := newUnit(root, check, 1, nil)
	var bound []map[string]int64
	for _, e := range entries(check.Get("instances")) {
		g, _ := syntax.ParseGroup(e.Key.Text, e.Key.Part)
		if g == nil {
			w.groups[e.Key.Text] = group{0, []instance{instance(len(w.names))}, true}
			w.names, specs, bound = append(w.names, e.Key.Text), append(specs,
				e.Value.Text), append(bound, nil)
			continue
		}
		e0 := &env{u: scratch}
		lo, hi := number(e0.eval(g.Lo)), number(e0.eval(g.Hi))
		var all []instance
		for i := lo; i <= hi; i++ {
			all = append(all, instance(len(w.names)))
			w.names = append(w.names, fmt.Sprintf("%s[%d]", g.Name, i))
			specs, bound = append(specs, e.Value.Text), append(bound, map[string]int64{g.Var: i})
		}
		w.groups[g.Name] = group{lo, all, false}
	}
	n := len(w.names)
	u := newUnit(root, check, n, nil)
	w.u = u
	w.come, w.bad = make([]int, n), make([]bool, n)
	for i := range n {
		in, err := syntax.ParseInstance(specs[i], check.Part)
		if err != nil {
			panic(unsupported(specs[i]))
		}
		r := u.role(in.Role)
		e := &env{u: u, self: i, sender: -1}
		for k, v := range bound[i] {
			e = e.with(k, v)
		}
		var params []Value
		for _, p := range r.params {
			for _, a := range in.Args {
				if a.Name == p.name {
					params = append(params, p.t.fit(e.typed(a.Value, p.t)))
				}
			}
		}
		w.roles, w.as, w.params = append(w.roles, r), append(w.as, r), append(w.params, params)
	}
	w.hostile(check.Get("hostile"))
	w.channels(root, check)
	w.timing(root, check)
	w.faults(check.Get("faults"))
	w.links()
	for _, e := range entries(check.Get("come")) {
		panic(unsupported("parties that come: " + e.Key.Text))
	}
	if q := check.Get("quiet"); q != nil {
		w.quiet = u.expr(q)
	}
	w.readMonitors()
	w.readClaims()
	return w
}

// named returns the instances that a name of the check stands for: `c`, `p`, `p[1]`.
func (w *world) named(name string) []instance {
	if g, ok := w.groups[name]; ok {
		return g.all
	}
	if i := slices.Index(w.names, name); i >= 0 {
		return []instance{instance(i)}
	}
	panic(unsupported("the instance " + name))
}

func (w *world) hostile(n *ast.Node) {
	if n == nil {
		return
	}
	for _, name := range append(scalars(n), n.Keys()...) {
		for _, i := range w.named(name) {
			w.roles[i] = nil
			w.bad[i] = n.Get(name) != nil && n.Get(name).Text == "malformed"
		}
	}
}

func (w *world) channels(root, check *ast.Node) {
	read := func(name string, nodes ...*ast.Node) class {
		c := class{name: name, capacity: 8, full: "fault"}
		for _, n := range nodes {
			for _, e := range entries(n) {
				switch e.Key.Text {
				case "order":
					c.bag = e.Value.Text == "any"
				case "lossy":
					c.lossy = e.Value.Text == "true"
				case "duplicates":
					c.copies = e.Value.Text == "true"
				case "capacity":
					c.capacity = int(w.u.number(e.Value))
				case "full":
					c.full = e.Value.Text
				}
			}
		}
		return c
	}
	for _, e := range entries(root.Get("channels")) {
		w.classes = append(w.classes, read(e.Key.Text, e.Value, check.Get("channels").Get(e.Key.Text)))
	}
	if w.classes == nil {
		w.classes = []class{read("", root.Get("channel"), check.Get("channel"))}
	}
	for _, e := range entries(root.Get("messages")) {
		if c := e.Value.Get("channel"); c != nil {
			w.of[e.Key.Text] = slices.IndexFunc(w.classes, func(k class) bool { return k.name == c.Text })
		}
	}
}

// timing is how a check counts time; without a beat it does not.
type timing struct {
	beat  int64
	delay int
	drift []int64 // of each instance, in millionths
}

func (t *timing) counts() bool { return t != nil && t.beat > 0 }

// clock is how long a timer of so many ticks may take, in beats.
func (t *timing) clock(self int, ticks int64) clock {
	if !t.counts() {
		return clock{}
	}
	const whole = 1_000_000
	fast, slow := (whole+t.drift[self])*t.beat, (whole-t.drift[self])*t.beat
	return clock{int(ticks * whole / fast), int((ticks*whole + slow - 1) / slow)}
}

func (w *world) timing(root, check *ast.Node) {
	n := check.Get("time")
	w.time = &timing{drift: make([]int64, len(w.roles))}
	if n == nil {
		return
	}
	w.time.delay = 1
	if d := n.Get("delay"); d != nil {
		w.time.delay = int(w.u.number(d))
	}
	if d := n.Get("drift"); d != nil {
		for i := range w.roles {
			if d.Kind == ast.Scalar {
				w.time.drift[i] = millionths(d.Text)
			}
		}
		for _, e := range entries(d) {
			for _, i := range w.named(e.Key.Text) {
				w.time.drift[i] = millionths(e.Value.Text)
			}
		}
	}
	if b := n.Get("beat"); b != nil {
		w.time.beat = w.u.number(b)
		return
	}
	for _, r := range w.as {
		for _, t := range r.timers {
			lo, _ := t.bounds(r.u)
			w.time.beat = gcd(w.time.beat, lo)
		}
	}
	for _, e := range entries(check.Get("claims")) {
		if b := e.Value.Get("within"); b != nil {
			w.time.beat = gcd(w.time.beat, w.u.number(b))
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func millionths(s string) int64 {
	for unit, factor := range map[string]float64{"%": 10000, "ppm": 1} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err == nil {
				return int64(math.Round(f * factor))
			}
		}
	}
	panic(unsupported("the drift " + s))
}

func (w *world) faults(n *ast.Node) {
	count := func(key string, otherwise int) int {
		if x := n.Get(key); x != nil {
			return int(w.u.number(x))
		}
		return otherwise
	}
	each := func(key string) faults {
		f := faults{total: -1, each: make([]int, len(w.roles))}
		x := n.Get(key)
		if x == nil {
			return f
		}
		if x.Kind == ast.Scalar {
			f.total = int(w.u.number(x))
			return f
		}
		for _, e := range x.Entries {
			for _, i := range w.named(e.Key.Text) {
				f.each[i] = int(w.u.number(e.Value))
			}
		}
		return f
	}
	if n != nil && n.Kind != ast.Map {
		n = nil
	}
	w.lose, w.copies, w.swaps = count("lose", -1), count("duplicate", -1), count("overtake", 0)
	w.breaks = count("break", 0)
	w.crash, w.restart = each("crash"), each("restart")
	if w.restart.total >= 0 { // a number alone is for each instance
		for i := range w.restart.each {
			w.restart.each[i] = w.restart.total
		}
		w.restart.total = -1
	}
	w.atomic = n.Get("atomic") != nil && n.Get("atomic").Text == "true"
	for _, key := range []string{"return", "partition"} {
		if count(key, 0) > 0 {
			panic(unsupported("the fault " + key))
		}
	}
}

// links finds out between which instances there are links: where one can send the other what its role
// mentions, and one of the two has something to do with links.
func (w *world) links() {
	n := len(w.as)
	w.reach, w.linked = make([][]bool, n), make([][]bool, n)
	for i := range n {
		w.reach[i], w.linked[i] = make([]bool, n), make([]bool, n)
	}
	for range n { // `to: sender` depends on who may send there
		for i := range n {
			for _, to := range w.receivers(i) {
				for j := range n {
					w.reach[i][j] = w.reach[i][j] || j != i && w.mayGo(i, j, to)
				}
			}
		}
	}
	for i := range n {
		for j := range n {
			if i != j && (w.reach[i][j] || w.reach[j][i]) && (w.linky(i) || w.linky(j)) {
				w.linked[i][j] = true
			}
		}
	}
	w.dgram = !slices.ContainsFunc(w.classes, func(c class) bool {
		return !c.bag && !c.lossy && !c.copies && w.lose <= 0 && w.copies <= 0 && w.swaps == 0
	})
}

func (w *world) mentions(i int, event string) bool { return roleMentions(w.as[i], event) }

func roleMentions(r *role, event string) bool {
	for _, s := range r.states {
		if s.on[event] != nil {
			return true
		}
	}
	for _, c := range r.common {
		if c.on[event] != nil {
			return true
		}
	}
	return false
}

// linky reports whether a role mentions up or lost, or closes links.
func (w *world) linky(i int) bool {
	if w.mentions(i, "up") || w.mentions(i, "lost") {
		return true
	}
	found := false
	eachStatement(w.as[i], func(_ *role, _ *part, n *ast.Node) { found = found || n.Entry("close") != nil })
	return found
}

// eachStatement visits all maps of a role and its parts that may be statements.
func eachStatement(r *role, visit func(r *role, p *part, n *ast.Node)) {
	var walk func(r *role, p *part, n *ast.Node)
	walk = func(r *role, p *part, n *ast.Node) {
		if n == nil {
			return
		}
		if n.Kind == ast.Map {
			visit(r, p, n)
		}
		for _, e := range n.Entries {
			if e.Key.Text != "parts" && e.Key.Text != "doc" {
				walk(r, p, e.Value)
			}
		}
		for _, it := range n.Items {
			walk(r, p, it)
		}
	}
	walk(r, nil, r.node)
	for _, p := range r.parts {
		inner := p
		eachStatement(p.role, func(r *role, q *part, n *ast.Node) {
			if q == nil {
				q = inner
			}
			visit(r, q, n)
		})
	}
}

// receiver is one `to` of a role, with the part in which it stands.
type receiver struct {
	r  *role
	to *ast.Node // nil: nothing is said
}

func (w *world) receivers(i int) (out []receiver) {
	eachStatement(w.as[i], func(r *role, p *part, n *ast.Node) {
		for _, key := range []string{"send", "close"} {
			e := n.Entry(key)
			if e == nil || key == "send" && (e.Value.Kind != ast.Scalar || n.Get("machine") != nil) {
				continue
			}
			at := receiver{r, n.Get("to")}
			if at.to == nil && p != nil && p.to != nil {
				at = receiver{w.as[i], p.to}
			}
			out = append(out, at)
		}
	})
	return out
}

// mayGo reports whether what i sends may go to j.
func (w *world) mayGo(i, j int, at receiver) bool {
	if at.to == nil || at.to.Text == "all" {
		return true
	}
	if at.to.Text == "sender" {
		return w.reach[j][i]
	}
	to, known := func() (n int64, known bool) {
		defer func() {
			if recover() != nil {
				known = false
			}
		}()
		e := &env{u: at.r.u, self: i, sender: -1}
		if at.r == w.as[i] {
			for k, p := range at.r.params {
				e = e.with(p.name, w.params[i][k])
			}
		}
		return number(e.eval(at.r.u.expr(at.to))), true
	}()
	return !known || to == int64(j)
}

// rule is what the environment says of a command or timer.
type rule struct {
	never bool
	times int // -1: as often as one likes
	when  *ast.Node
	fair  string
	or    []string
}

func (w *world) rule(r *role, name string) rule {
	out := rule{times: -1}
	env := w.check.Get("environment")
	n := env.Get(r.name + "." + name)
	if n == nil {
		n = env.Get(name)
	}
	switch {
	case n == nil || n.IsNull():
	case n.Kind == ast.Scalar:
		out.never = n.Text == "false"
	default:
		out.when, out.or = n.Get("when"), scalars(n.Get("or"))
		if t := n.Get("times"); t != nil {
			out.times = int(w.u.number(t))
		}
		if f := n.Get("fair"); f != nil {
			out.fair = f.Text
		}
	}
	return out
}

// rules says what len(out) and len(in) are in a rule.
type rules struct {
	w *world
	c *config
	i int
}

func (w *world) allows(r rule, c *config, i int, m *machine, msg map[string]Value) (ok bool) {
	if r.when == nil {
		return true
	}
	defer func() {
		if x := recover(); x != nil {
			if _, is := x.(fault); !is {
				panic(x)
			}
			ok = false
		}
	}()
	e := &env{u: m.r.u, r: m.r, m: m, self: i, sender: -1, msg: msg, rule: &rules{w, c, i}}
	return truth(e.eval(w.u.expr(r.when)))
}

// length is len(out), len(in, MSG) or len(out, channel).
func (r *rules) length(n *syntax.Call) (Value, bool) {
	id, ok := n.Args[0].(*syntax.Ident)
	if !ok || id.Name != "out" && id.Name != "in" {
		return nil, false
	}
	count := int64(0)
	for j := range r.w.roles {
		for k, cl := range r.w.classes {
			at := r.w.at(r.i, j, k)
			if id.Name == "in" {
				at = r.w.at(j, r.i, k)
			}
			for _, it := range r.c.ch[at] {
				if it.news == "" && counts(n.Args[1:], it.msg.name, cl.name) {
					count++
				}
			}
		}
	}
	return count, true
}

// counts reports whether a message of a channel is meant by what stands behind the comma.
func counts(args []syntax.Node, message, channel string) bool {
	if len(args) == 0 {
		return true
	}
	id, ok := args[0].(*syntax.Ident)
	return ok && (id.Name == message || id.Name == channel)
}
