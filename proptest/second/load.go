package second

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/gen/parse"
	"github.com/parley-go/parley/gen/syntax"
)

// unsupported is the panic of what this checker does not know; [Check.Run] turns it into an error.
type unsupported string

// Spec is a specification with what it extends written out.
type Spec struct{ root *ast.Node }

// maxBytes bounds a file.
const maxBytes = 1 << 20

// Load reads a specification. It believes that `fsmgen vet` has nothing to say of it: an error of the
// author's is an error here without a place, or none.
func Load(file string) (*Spec, error) {
	root, err := tree(file, 0)
	if err != nil {
		return nil, err
	}
	return &Spec{root}, nil
}

// tree reads a file, writes out `like`, and lays it over what it extends.
func tree(file string, depth int) (*ast.Node, error) {
	if depth > 16 {
		return nil, fmt.Errorf("%s: extends itself", file)
	}
	data, err := files.Read(file, maxBytes)
	if err != nil {
		return nil, err
	}
	root, list := parse.File(file, data)
	if list.HasErrors() {
		return nil, fmt.Errorf("%s: %s", file, list[0].Message)
	}
	var base *ast.Node
	if e := root.Get("extends"); e != nil {
		if base, err = tree(beside(root, e.Text), depth+1); err != nil {
			return nil, err
		}
	}
	root, _ = parse.Like(root, base, nil, nil)
	if base != nil {
		root, _ = parse.Merge(base, root, nil)
	}
	return root, nil
}

func beside(n *ast.Node, to string) string {
	return filepath.FromSlash(path.Join(path.Dir(n.Src.Name), to))
}

// Checks returns the names of the checks, in the order written.
func (s *Spec) Checks() []string { return s.root.Get("checks").Keys() }

// unit is one protocol, with the constants and types that it has in one check.
type unit struct {
	root    *ast.Node
	parties int
	consts  map[string]*ast.Node
	domains map[string]*ast.Node
	given   map[string]*Type // types that are given to a part
	types   map[string]*Type
	roles   map[string]*role
	imports map[string]*ast.Node
	enums   map[string]*Type // the type of each name of an enumeration; nil where there are several
	parsed  map[*ast.Node]syntax.Node

	messages map[string][]field
}

func newUnit(root, check *ast.Node, parties int, given map[string]*Type) *unit {
	u := &unit{root: root, parties: parties, given: given, consts: map[string]*ast.Node{},
		domains: map[string]*ast.Node{},
		types:   map[string]*Type{}, roles: map[string]*role{}, imports: map[string]*ast.Node{},
		enums: map[string]*Type{}, parsed: map[*ast.Node]syntax.Node{},
		messages: map[string][]field{}}
	for _, e := range entries(root.Get("consts")) {
		u.consts[e.Key.Text] = e.Value
	}
	for _, e := range entries(check.Get("consts")) {
		u.consts[e.Key.Text] = e.Value
	}
	for _, e := range entries(check.Get("domains")) {
		u.domains[e.Key.Text] = e.Value
	}
	for _, e := range entries(root.Get("types")) {
		t := u.named(e.Key.Text)
		if t.kind == kOptional {
			t = t.elem
		}
		if t.kind != kEnum {
			continue
		}
		for _, n := range u.declared(e.Key.Text) {
			if _, twice := u.enums[n.S]; twice {
				u.enums[n.S] = nil
				continue
			}
			u.enums[n.S] = t
		}
	}
	return u
}

func entries(n *ast.Node) []ast.Entry {
	if n == nil || n.Kind != ast.Map {
		return nil
	}
	return n.Entries
}

// expr parses the expression that a node has.
func (u *unit) expr(n *ast.Node) syntax.Node {
	if x := u.parsed[n]; x != nil {
		return x
	}
	var x syntax.Node
	if n.Kind == ast.List {
		var elems []syntax.Node
		for _, it := range n.Items {
			elems = append(elems, u.expr(it))
		}
		x = syntax.At(n.Span(), elems)
	} else {
		var err *syntax.Error
		if x, err = syntax.Parse(n.Text, n.Part); err != nil {
			panic(unsupported(n.Text + ": " + err.Message))
		}
	}
	u.parsed[n] = x
	return x
}

func parsed(text string, n *ast.Node) syntax.Node {
	x, err := syntax.Parse(text, func(int, int) diag.Span { return n.Span() })
	if err != nil {
		panic(unsupported(text + ": " + err.Message))
	}
	return x
}

// number evaluates a constant expression.
func (u *unit) number(n *ast.Node) int64 {
	v, ok := (&env{u: u}).eval(u.expr(n)).(int64)
	if !ok {
		panic(unsupported(n.Text + " is no number"))
	}
	return v
}

func (u *unit) constant(name string) (int64, bool) {
	n := u.consts[name]
	if n == nil {
		return 0, false
	}
	if n.Kind == ast.Map {
		n = n.Get("value")
	}
	return u.number(n), true
}

func ints(lo, hi int64) *Type { return &Type{kind: kInt, lo: lo, hi: hi} }

var widths = map[string]int64{"u8": 1<<8 - 1, "u16": 1<<16 - 1, "u32": 1<<32 - 1}

// instances is the type of the numbers of instances.
func (u *unit) instances() *Type { return ints(0, int64(u.parties)-1) }

// named returns the type of a name.
func (u *unit) named(name string) *Type {
	if t := u.given[name]; t != nil {
		return t
	}
	if t := u.types[name]; t != nil {
		return t
	}
	var t *Type
	switch {
	case name == "bool":
		t = &Type{kind: kBool}
	case name == "instance":
		t = u.instances()
	case name == "f32" || name == "f64":
		t = &Type{kind: kInt, opaque: true}
	case widths[name] > 0:
		t = ints(0, widths[name])
	default:
		n := u.root.Get("types").Get(name)
		if n == nil {
			panic(unsupported("the type " + name))
		}
		t = u.typ(n)
		if d := u.domains[name]; d != nil {
			t = u.narrow(t, d)
		}
	}
	u.types[name] = t
	return t
}

// declared returns all names of an enumeration, also those that a domain leaves out.
func (u *unit) declared(name string) []Name {
	if n := u.root.Get("types").Get(name); n != nil {
		return u.typ(n).names
	}
	return nil
}

// narrow is t with the domain that a check gives it.
func (u *unit) narrow(t *Type, d *ast.Node) *Type {
	out := *t
	out.all = nil
	if t.kind == kOptional {
		out.elem = u.narrow(t.elem, d)
		return &out
	}
	if d.Kind == ast.List {
		out.names = nil
		for _, it := range d.Items {
			for _, n := range t.names {
				if n.S == it.Text {
					out.names = append(out.names, n)
				}
			}
		}
		slices.SortFunc(out.names, func(a, b Name) int { return a.N - b.N })
		return &out
	}
	r, err := syntax.ParseType(d.Text, d.Part)
	if err != nil || r.Form != syntax.Interval {
		panic(unsupported("the domain " + d.Text))
	}
	e := &env{u: u}
	lo, hi := e.eval(r.Lo).(int64), e.eval(r.Hi).(int64)
	if t.kind == kText {
		out.texts = hi + 1
	} else {
		out.lo, out.hi = lo, hi
	}
	return &out
}

// typ returns the type that a node declares.
func (u *unit) typ(n *ast.Node) *Type {
	if n.Kind == ast.Scalar {
		return u.short(n)
	}
	if t := n.Get("type"); t != nil {
		return u.typ(t)
	}
	if e := n.Get("enum"); e != nil {
		t := &Type{kind: kEnum}
		for i, name := range append(e.Keys(), scalars(e)...) {
			t.names = append(t.names, Name{name, i})
		}
		return t
	}
	if r := n.Get("record"); r != nil {
		return &Type{kind: kRecord, fields: u.fields(r)}
	}
	if s := n.Get("set"); s != nil {
		return &Type{kind: kSet, elem: u.typ(s)}
	}
	for _, key := range []string{"list", "queue"} {
		if l := n.Get(key); l != nil {
			return &Type{kind: kList, elem: u.typ(l), max: u.number(n.Get("max"))}
		}
	}
	if a := n.Get("array"); a != nil {
		return &Type{kind: kArray, key: u.typ(a), elem: u.typ(n.Get("of"))}
	}
	if m := n.Get("map"); m != nil {
		return &Type{kind: kArray, key: u.typ(m), elem: &Type{kind: kOptional, elem: u.typ(n.Get("of"))}}
	}
	panic(unsupported("a type with " + strings.Join(n.Keys(), ", ")))
}

func scalars(n *ast.Node) (out []string) {
	if n == nil {
		return nil
	}
	if n.Kind == ast.Scalar && n.Text != "" {
		for _, s := range strings.Split(n.Text, ",") {
			out = append(out, strings.TrimSpace(s))
		}
	}
	for _, it := range n.Items {
		out = append(out, it.Text)
	}
	return out
}

func (u *unit) short(n *ast.Node) *Type {
	s, err := syntax.ParseType(n.Text, n.Part)
	if err != nil {
		panic(unsupported("the type " + n.Text))
	}
	var t *Type
	e := &env{u: u}
	switch s.Form {
	case syntax.Named:
		t = u.named(s.Name)
	case syntax.Interval:
		t = ints(e.eval(s.Lo).(int64), e.eval(s.Hi).(int64))
	case syntax.Opaque:
		t = &Type{kind: kInt, opaque: true}
	default:
		t = &Type{kind: kText, texts: 1}
	}
	if s.Optional {
		t = &Type{kind: kOptional, elem: t}
	}
	return t
}

func (u *unit) fields(n *ast.Node) (out []field) {
	for _, e := range entries(n) {
		out = append(out, field{e.Key.Text, u.typ(e.Value)})
	}
	return out
}

// variable is a parameter or variable.
type variable struct {
	name string
	t    *Type
	init Value
	kept bool
}

type timer struct {
	name  string
	keys  []field
	ticks *ast.Node // a number, or a range of them
}

type part struct {
	name string
	role *role
	keys []field
	with []ast.Entry
	send map[string]*ast.Node
	to   *ast.Node
}

type stateDef struct {
	name        string
	parent      *stateDef
	final       bool
	initial     string // of a composite state
	entry, exit []stmt
	on          map[string]*handler
}

type handler struct {
	mode     string // "", "ignore", "defer"
	branches []branch
	place    string
}

type branch struct {
	when      *ast.Node
	do        []stmt
	to        string // goto
	resume    string
	defensive bool
}

// role is a machine as it is written; it has flat names for all its states.
type role struct {
	u        *unit
	name     string
	params   []variable
	vars     []variable
	timers   map[string]*timer
	commands []string
	fields   map[string][]field // of commands and reports: "c:NAME", "r:NAME"
	parts    []*part
	routines map[string]*ast.Node
	bodies   map[string][]stmt // of routines that were called
	states   map[string]*stateDef
	order    []string
	initial  string
	common   []*common
	deferred int
	external bool
	resumed  map[string]bool
	node     *ast.Node
	clamps   bool // a monitor, whose numbers stay within their types
}

type common struct {
	in, except []string
	on         map[string]*handler
}

// role returns a role of the unit; it is read where it is first needed.
func (u *unit) role(name string) *role {
	if r := u.roles[name]; r != nil {
		return r
	}
	n := u.root.Get("roles").Get(name)
	if n == nil {
		panic(unsupported("the role " + name))
	}
	r := u.read(name, n)
	return r
}

// read reads a role, or a monitor.
func (u *unit) read(name string, n *ast.Node) *role {
	r := &role{u: u, name: name, node: n, timers: map[string]*timer{}, fields: map[string][]field{},
		routines: map[string]*ast.Node{}, bodies: map[string][]stmt{},
		states: map[string]*stateDef{}, resumed: map[string]bool{}, deferred: 8}
	if n.Get("of") == nil {
		u.roles[name] = r
	}
	for _, e := range entries(n.Get("params")) {
		r.params = append(r.params, variable{name: e.Key.Text, t: u.typ(e.Value)})
	}
	for _, e := range entries(n.Get("vars")) {
		v := variable{name: e.Key.Text, t: u.typ(e.Value)}
		v.init = v.t.zero()
		if x := e.Value.Get("init"); e.Value.Kind == ast.Map && x != nil {
			v.init = v.t.fit((&env{u: u}).typed(u.expr(x), v.t))
		}
		if k := e.Value.Get("kept"); e.Value.Kind == ast.Map && k != nil {
			v.kept = k.Text == "true"
		}
		r.vars = append(r.vars, v)
	}
	for _, e := range entries(n.Get("timers")) {
		t := &timer{name: e.Key.Text, ticks: e.Value.Get("ticks")}
		if e.Value.Kind == ast.Scalar {
			t.ticks = e.Value
		}
		t.keys = u.fields(e.Value.Get("key"))
		r.timers[t.name] = t
	}
	for _, e := range entries(n.Get("commands")) {
		r.commands = append(r.commands, e.Key.Text)
		r.fields["c:"+e.Key.Text] = u.fields(e.Value.Get("fields"))
	}
	for _, e := range entries(n.Get("reports")) {
		r.fields["r:"+e.Key.Text] = u.fields(e.Value.Get("fields"))
	}
	for _, e := range entries(n.Get("routines")) {
		r.routines[e.Key.Text] = e.Value
	}
	for _, e := range entries(n.Get("parts")) {
		r.parts = append(r.parts, u.part(e.Key.Text, e.Value))
	}
	if d := n.Get("deferred"); d != nil {
		r.deferred = int(u.number(d))
	}
	r.external = n.Get("external") != nil && n.Get("external").Text == "true"
	r.initial = n.Get("initial").Text
	r.readStates(nil, n.Get("states"))
	for _, it := range items(n.Get("common")) {
		c := &common{in: scalars(it.Get("in")), except: scalars(it.Get("except")), on: map[string]*handler{}}
		r.handlers(c.on, it.Get("on"), nil)
		r.listed(c.on, it)
		r.common = append(r.common, c)
	}
	return r
}

func items(n *ast.Node) []*ast.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

func (u *unit) part(name string, n *ast.Node) *part {
	p := &part{name: name, send: map[string]*ast.Node{}, to: n.Get("to"), with: entries(n.Get("with"))}
	p.keys = u.fields(n.Get("key"))
	machine, roleName, imported := strings.Cut(n.Get("machine").Text, ".")
	if !imported {
		p.role = u.role(machine)
	} else {
		at := u.root.Entry("import").Value.Entry(machine)
		root, err := tree(beside(at.Value, at.Value.Text), 0)
		if err != nil {
			panic(unsupported(err.Error()))
		}
		given := map[string]*Type{}
		for _, e := range entries(n.Get("types")) {
			given[e.Key.Text] = u.typ(e.Value)
		}
		p.role = newUnit(root, nil, u.parties, given).role(roleName)
	}
	for _, e := range entries(n.Get("send")) {
		p.send[e.Key.Text] = e.Value
	}
	return p
}

func (r *role) readStates(parent *stateDef, n *ast.Node) {
	for _, e := range entries(n) {
		s := &stateDef{name: e.Key.Text, parent: parent, on: map[string]*handler{}}
		r.states[s.name] = s
		r.order = append(r.order, s.name)
		v := e.Value
		s.final = v.Get("final") != nil && v.Get("final").Text == "true"
		if i := v.Get("initial"); i != nil {
			s.initial = i.Text
		}
		s.entry, s.exit = r.stmts(v.Get("entry")), r.stmts(v.Get("exit"))
		r.handlers(s.on, v, reserved)
		r.listed(s.on, v)
		r.readStates(s, v.Get("states"))
	}
}

var reserved = []string{"doc", "entry", "exit", "final", "ignore", "defer", "forward", "initial", "states"}

// handlers reads the lines of a state.
func (r *role) handlers(on map[string]*handler, n *ast.Node, but []string) {
	for _, e := range entries(n) {
		if slices.Contains(but, e.Key.Text) {
			continue
		}
		h := &handler{place: e.Key.Span().Place()}
		switch {
		case e.Value.Kind == ast.List:
			for _, it := range e.Value.Items {
				h.branches = append(h.branches, r.branch(it))
			}
		case e.Value.Kind == ast.Scalar && !e.Value.IsNull():
			h.mode = e.Value.Text
		default:
			h.branches = []branch{r.branch(e.Value)}
		}
		for _, name := range strings.Split(e.Key.Text, ",") {
			on[strings.TrimSpace(name)] = h
		}
	}
}

// listed reads `ignore`, `defer` and `forward`.
func (r *role) listed(on map[string]*handler, n *ast.Node) {
	for _, mode := range []string{"ignore", "defer"} {
		for _, name := range scalars(n.Get(mode)) {
			on[name] = &handler{mode: mode}
		}
	}
	for _, e := range entries(n.Get("forward")) {
		for _, name := range scalars(e.Value) {
			x := parsed(e.Key.Text, e.Key)
			if id, ok := x.(*syntax.Ident); ok {
				var keys []syntax.Node
				for _, k := range r.partNamed(id.Name).keys {
					keys = append(keys, syntax.Name(k.name, e.Key.Span()))
				}
				if keys != nil {
					x = syntax.With(x, keys, e.Key.Span())
				}
			}
			// Its fields are passed by name: lit stays without fields, and passing is asked for.
			on[name] = &handler{branches: []branch{{do: []stmt{{op: "run", x: syntax.Of(x,
				name, e.Key.Span()),
				pass: true}}}}, place: e.Key.Span().Place()}
		}
	}
}

func (r *role) partNamed(name string) *part {
	for _, p := range r.parts {
		if p.name == name {
			return p
		}
	}
	return nil
}

// stmt is one statement.
type stmt struct {
	op        string // set, send, report, call, run, restart, start, stop, if, each, close, refuse
	x         syntax.Node
	value     *ast.Node // set
	to        *ast.Node // send, close
	ticks     *ast.Node // start
	name      string    // each: the variable; refuse: why
	then, els []stmt
	pass      bool // run: all fields of the event by name
}

func (r *role) branch(n *ast.Node) branch {
	b := branch{when: n.Get("when")}
	if g := n.Get("goto"); g != nil {
		b.to = g.Text
	}
	if g := n.Get("resume"); g != nil {
		b.resume = g.Text
		r.resumed[g.Text] = true
	}
	b.defensive = n.Get("defensive") != nil && n.Get("defensive").Text == "true"
	b.do = r.stmt(n)
	return b
}

func (r *role) stmts(n *ast.Node) (out []stmt) {
	for _, it := range items(n) {
		out = append(out, r.stmt(it)...)
	}
	return out
}

// stmt reads the statements of one map, in the order written.
func (r *role) stmt(n *ast.Node) (out []stmt) {
	for _, e := range entries(n) {
		key, v := e.Key.Text, e.Value
		switch key {
		case "set":
			for _, s := range entries(v) {
				out = append(out, stmt{op: key, x: parsed(s.Key.Text, s.Key), value: s.Value})
			}
		case "send":
			out = append(out, stmt{op: key, x: r.u.expr(v), to: n.Get("to")})
		case "report", "call", "run", "restart", "stop":
			out = append(out, stmt{op: key, x: r.u.expr(v)})
		case "start":
			out = append(out, stmt{op: key, x: r.u.expr(v), ticks: n.Get("ticks")})
		case "if":
			out = append(out, stmt{op: key, x: r.u.expr(v), then: r.stmts(n.Get("then")),
				els: r.stmts(n.Get("else"))})
		case "each":
			over := v.Entries[0]
			x, err := syntax.ParseOver(over.Value.Text, over.Value.Part)
			if err != nil {
				panic(unsupported(over.Value.Text))
			}
			out = append(out, stmt{op: key, name: over.Key.Text, x: x, then: r.stmts(n.Get("do"))})
		case "do":
			if n.Get("each") == nil {
				out = append(out, r.stmts(v)...)
			}
		case "close":
			out = append(out, stmt{op: key, to: n.Get("to")})
		case "refuse":
			out = append(out, stmt{op: key, name: v.Text})
		}
	}
	return out
}
