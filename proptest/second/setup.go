package second

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
	"github.com/parley-go/parley/proptest/second/machine"
)

// newWorld reads a check.
func newWorld(root *ast.Node, name string) *world {
	check := root.Get("checks").Get(name)
	if check == nil {
		panic(machine.Unsupported("no check " + name))
	}
	w := &world{check: check, groups: map[string]machine.Group{}, of: map[string]int{},
		forged: map[[2]int][]*message{}, restart: faults{total: -1}, answers: map[string]*answers{},
		conditions: map[syntax.Node]int{}}
	// How many instances there are has to be known before any type is.
	var specs []string
	scratch := machine.NewUnit(root, check, 1, nil)
	var bound []map[string]int64
	for _, e := range machine.Entries(check.Get("instances")) {
		g, _ := syntax.ParseGroup(e.Key.Text, e.Key.Part)
		if g == nil {
			w.groups[e.Key.Text] = machine.Group{All: []machine.Instance{machine.Instance(len(w.names))}, Lone: true}
			w.names, specs, bound = append(w.names, e.Key.Text), append(specs,
				e.Value.Text), append(bound, nil)
			continue
		}
		e0 := &machine.Env{U: scratch}
		lo, hi := machine.Number(e0.Eval(g.Lo)), machine.Number(e0.Eval(g.Hi))
		var all []machine.Instance
		for i := lo; i <= hi; i++ {
			all = append(all, machine.Instance(len(w.names)))
			w.names = append(w.names, fmt.Sprintf("%s[%d]", g.Name, i))
			specs, bound = append(specs, e.Value.Text), append(bound, map[string]int64{g.Var: i})
		}
		w.groups[g.Name] = machine.Group{Lo: lo, All: all}
	}
	n := len(w.names)
	u := machine.NewUnit(root, check, n, nil)
	w.u = u
	w.store, w.memos = newStore(u, n), newMemos()
	w.come, w.bad = make([]int, n), make([]bool, n)
	var given [][]syntax.FieldValue
	for i := range n {
		in, err := syntax.ParseInstance(specs[i], check.Part)
		if err != nil {
			panic(machine.Unsupported(specs[i]))
		}
		r := u.Role(in.Role)
		e := &machine.Env{U: u, Self: i, Sender: -1}
		for k, v := range bound[i] {
			e = e.With(k, v)
		}
		var params []machine.Value
		for _, p := range r.Params {
			for _, a := range in.Args {
				if a.Name == p.Name {
					params = append(params, p.T.Fit(e.Typed(a.Value, p.T)))
				}
			}
		}
		given = append(given, in.Args)
		w.roles, w.as, w.params = append(w.roles, r), append(w.as, r), append(w.params, params)
	}
	w.hostile(check.Get("hostile"))
	for i, args := range given {
		if w.roles[i] != nil {
			for _, a := range args {
				w.args = machine.NamedIn(a.Value, w.args)
			}
		}
	}
	w.channels(root, check)
	w.timing(root, check)
	w.faults(check.Get("faults"))
	w.links()
	for _, e := range machine.Entries(check.Get("come")) {
		for _, i := range w.named(e.Key.Text) {
			w.come[i] = int(u.Number(e.Value))
		}
	}
	if q := check.Get("quiet"); q != nil {
		w.quiet = u.Expr(q)
	}
	w.readMonitors()
	w.readClaims()
	w.store.clocks = len(w.watches)
	for _, c := range w.classes {
		w.store.bags = append(w.store.bags, c.bag)
	}
	for _, m := range w.monitors {
		w.store.joint = append(w.store.joint, m.joint)
	}
	return w
}

// named returns the instances that a name of the check stands for: `c`, `p`, `p[1]`.
func (w *world) named(name string) []machine.Instance {
	if g, ok := w.groups[name]; ok {
		return g.All
	}
	if i := slices.Index(w.names, name); i >= 0 {
		return []machine.Instance{machine.Instance(i)}
	}
	panic(machine.Unsupported("the instance " + name))
}

func (w *world) hostile(n *ast.Node) {
	if n == nil {
		return
	}
	for _, name := range append(machine.Scalars(n), n.Keys()...) {
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
			for _, e := range machine.Entries(n) {
				switch e.Key.Text {
				case "order":
					c.bag = e.Value.Text == "any"
				case "lossy":
					c.lossy = e.Value.Text == "true"
				case "duplicates":
					c.copies = e.Value.Text == "true"
				case "capacity":
					c.capacity = int(w.u.Number(e.Value))
				case "full":
					c.full = e.Value.Text
				}
			}
		}
		return c
	}
	for _, e := range machine.Entries(root.Get("channels")) {
		w.classes = append(w.classes, read(e.Key.Text, e.Value, check.Get("channels").Get(e.Key.Text)))
	}
	if w.classes == nil {
		w.classes = []class{read("", root.Get("channel"), check.Get("channel"))}
	}
	for _, e := range machine.Entries(root.Get("messages")) {
		if c := e.Value.Get("channel"); c != nil {
			w.of[e.Key.Text] = slices.IndexFunc(w.classes, func(k class) bool { return k.name == c.Text })
		}
	}
}

func (w *world) timing(root, check *ast.Node) {
	n := check.Get("time")
	w.time = &machine.Timing{Drift: make([]int64, len(w.roles))}
	if n == nil {
		return
	}
	w.time.Delay = 1
	if d := n.Get("delay"); d != nil {
		w.time.Delay = int(w.u.Number(d))
	}
	if d := n.Get("drift"); d != nil {
		for i := range w.roles {
			if d.Kind == ast.Scalar {
				w.time.Drift[i] = millionths(d.Text)
			}
		}
		for _, e := range machine.Entries(d) {
			for _, i := range w.named(e.Key.Text) {
				w.time.Drift[i] = millionths(e.Value.Text)
			}
		}
	}
	if b := n.Get("beat"); b != nil {
		w.time.Beat = w.u.Number(b)
		return
	}
	for _, r := range w.as {
		for _, t := range r.Timers {
			lo, _ := t.Bounds(r.U)
			w.time.Beat = gcd(w.time.Beat, lo)
		}
	}
	for _, e := range machine.Entries(check.Get("claims")) {
		if b := e.Value.Get("within"); b != nil {
			w.time.Beat = gcd(w.time.Beat, w.u.Number(b))
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
	panic(machine.Unsupported("the drift " + s))
}

func (w *world) faults(n *ast.Node) {
	count := func(key string, otherwise int) int {
		if x := n.Get(key); x != nil {
			return int(w.u.Number(x))
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
			f.total = int(w.u.Number(x))
			return f
		}
		for _, e := range x.Entries {
			for _, i := range w.named(e.Key.Text) {
				f.each[i] = int(w.u.Number(e.Value))
			}
		}
		return f
	}
	if n != nil && n.Kind != ast.Map {
		n = nil
	}
	w.lose, w.copies, w.swaps = count("lose", -1), count("duplicate", -1), count("overtake", 0)
	w.breaks, w.returns = count("break", 0), count("return", 0)
	w.crash, w.restart = each("crash"), each("restart")
	if w.restart.total >= 0 { // a number alone is for each instance
		for i := range w.restart.each {
			w.restart.each[i] = w.restart.total
		}
		w.restart.total = -1
	}
	w.atomic = n.Get("atomic") != nil && n.Get("atomic").Text == "true"
	if w.partitions = count("partition", 0); w.partitions > 0 {
		w.returns = -1 // what a partition has cost may come back
	}
	for _, name := range append(machine.Scalars(n.Get("bridge")), n.Get("bridge").Keys()...) {
		for _, i := range w.named(name) {
			w.bridge.add(int(i))
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
	w.news = max(0, slices.IndexFunc(w.classes, func(c class) bool { return !c.bag && !c.lossy && !c.copies }))
	for k := range n * n * len(w.classes) {
		w.channelNames = append(w.channelNames, fmt.Sprint("channel ", k))
	}
}

func (w *world) mentions(i int, event string) bool { return roleMentions(w.as[i], event) }

func roleMentions(r *machine.Role, event string) bool {
	for _, s := range r.States {
		if s.On[event] != nil {
			return true
		}
	}
	for _, c := range r.Common {
		if c.On[event] != nil {
			return true
		}
	}
	return false
}

// linky reports whether an instance keeps to a role that mentions up or lost, or closes links.
func (w *world) linky(i int) bool {
	if w.roles[i] == nil {
		return false
	}
	if w.mentions(i, "up") || w.mentions(i, "lost") {
		return true
	}
	found := false
	eachStatement(w.as[i], nil, func(_ *machine.Role, _ []*machine.Part, n *ast.Node) {
		found = found || n.Entry("close") != nil
	})
	return found
}

// eachStatement visits all maps of a role and its parts that may be statements, with the parts in which
// they stand, the outermost first.
func eachStatement(r *machine.Role, path []*machine.Part,
	visit func(r *machine.Role, path []*machine.Part, n *ast.Node)) {
	var walk func(n *ast.Node)
	walk = func(n *ast.Node) {
		if n == nil {
			return
		}
		if n.Kind == ast.Map {
			visit(r, path, n)
		}
		for _, e := range n.Entries {
			if e.Key.Text != "parts" && e.Key.Text != "doc" {
				walk(e.Value)
			}
		}
		for _, it := range n.Items {
			walk(it)
		}
	}
	walk(r.Node)
	for _, p := range r.Parts {
		eachStatement(p.Role, append(slices.Clone(path), p), visit)
	}
}

// receiver is one `to` of a role, with the message that goes there.
type receiver struct {
	r   *machine.Role
	msg string
	to  *ast.Node // nil: nothing is said
}

func (w *world) receivers(i int) (out []receiver) {
	eachStatement(w.as[i], nil, func(r *machine.Role, path []*machine.Part, n *ast.Node) {
		e := n.Entry("send")
		if e == nil || e.Value.Kind != ast.Scalar || n.Get("machine") != nil {
			return
		}
		at := receiver{r, machine.LiteralName(r.U.Expr(e.Value)), n.Get("to")}
		for k := len(path) - 1; k >= 0; k-- {
			around := w.as[i]
			if k > 0 {
				around = path[k-1].Role
			}
			if at.to == nil && path[k].To != nil {
				at.r, at.to = around, path[k].To
			}
			if to := path[k].Send[at.msg]; to != nil {
				if to.Text == "none" {
					return
				}
				at.msg = machine.LiteralName(around.U.Expr(to))
			}
		}
		out = append(out, at)
	})
	return out
}

// mayGo reports whether what i sends may go to j, where somebody mentions it.
func (w *world) mayGo(i, j int, at receiver) bool {
	if !w.mentions(j, at.msg) {
		return false
	}
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
		e := &machine.Env{U: at.r.U, Self: i, Sender: -1}
		if at.r == w.as[i] {
			for k, p := range at.r.Params {
				e = e.With(p.Name, w.params[i][k])
			}
		}
		return machine.Number(e.Eval(at.r.U.Expr(at.to))), true
	}()
	return !known || to == int64(j)
}

// rule is what the environment says of a command or timer.
type rule struct {
	never bool
	times int // -1: as often as one likes
	when  syntax.Node
	alone bool // when looks at the machine alone
	fair  string
	or    []string
}

func (w *world) rule(r *machine.Role, name string) *rule {
	key := [2]string{r.Name, name}
	if w.ruled[key] == nil {
		w.ruled[key] = w.readRule(r, name)
	}
	return w.ruled[key]
}

func (w *world) readRule(r *machine.Role, name string) *rule {
	out := &rule{times: -1}
	env := w.check.Get("environment")
	n := env.Get(r.Name + "." + name)
	if n == nil {
		n = env.Get(name)
	}
	switch {
	case n == nil || n.IsNull():
	case n.Kind == ast.Scalar:
		out.never = n.Text == "false"
	default:
		out.or = machine.Scalars(n.Get("or"))
		if x := n.Get("when"); x != nil {
			out.when = w.u.Expr(x)
			out.alone = !looksOut(out.when)
		}
		if t := n.Get("times"); t != nil {
			out.times = int(w.u.Number(t))
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

// looksOut reports whether a rule looks at channels.
func looksOut(n syntax.Node) bool {
	if c, ok := n.(*syntax.Call); ok && c.Fn == "len" {
		if id, ok := c.Args[0].(*syntax.Ident); ok && (id.Name == "out" || id.Name == "in") {
			return true
		}
	}
	switch x := n.(type) {
	case *syntax.Quantified:
		return looksOut(x.Over) || looksOut(x.X)
	case *syntax.Build, *syntax.Literal:
		return true // nobody has looked
	}
	return slices.ContainsFunc(children(n), looksOut)
}

// allows reports whether a rule lets a machine have an event, whose text is what.
func (w *world) allows(r *rule, c *config, i int, m *machine.Machine, what string,
	msg map[string]machine.Value) bool {
	switch {
	case r.when == nil:
		return true
	case !r.alone:
		return w.judged(r, c, i, m, msg)
	}
	key := stepKey{m, what, i}
	ok, known := w.allowed[key]
	if !known {
		ok = w.judged(r, c, i, m, msg)
		w.allowed[key] = ok
	}
	return ok
}

func (w *world) judged(r *rule, c *config, i int, m *machine.Machine, msg map[string]machine.Value) (ok bool) {
	defer func() {
		if x := recover(); x != nil {
			if _, is := x.(machine.Fault); !is {
				panic(x)
			}
			ok = false
		}
	}()
	e := &machine.Env{U: m.R.U, R: m.R, M: m, Self: i, Sender: -1, Msg: msg, Out: &rules{w, c, i}}
	return machine.Truth(e.Eval(r.when))
}

func (r *rules) Name(string) (machine.Value, bool) { return nil, false }

func (r *rules) Of(machine.Instance, string) (machine.Value, bool) { return nil, false }

// Call is len(out), len(in, MSG) or len(out, channel).
func (r *rules) Call(_ *machine.Env, n *syntax.Call) (machine.Value, bool) {
	if n.Fn != "len" {
		return nil, false
	}
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
			for _, it := range r.c.ch[at].items {
				if it.news == "" && counts(n.Args[1:], it.msg.Name, cl.name) {
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
