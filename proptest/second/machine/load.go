package machine

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

// maxBytes bounds a file.
const maxBytes = 1 << 20

// Tree reads a file, writes out `like`, and lays it over what it extends.
func Tree(file string, depth int) (*ast.Node, error) {
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
		if base, err = Tree(beside(root, e.Text), depth+1); err != nil {
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

// Unit is one protocol, with the constants and types that it has in one check.
type Unit struct {
	Root    *ast.Node
	parties int
	consts  map[string]*ast.Node
	domains map[string]*ast.Node
	given   map[string]*Type // types that are given to a part
	types   map[string]*Type
	roles   map[string]*Role
	imports map[string]*ast.Node
	enums   map[string]*Type // the type of each name of an enumeration; nil where there are several
	parsed  map[*ast.Node]syntax.Node
	numbers map[string]int64  // constants that were asked for
	all     map[string][]Name // what declared returns

	messages map[string][]field
}

func NewUnit(root, check *ast.Node, parties int, given map[string]*Type) *Unit {
	u := &Unit{Root: root, parties: parties, given: given, consts: map[string]*ast.Node{},
		domains: map[string]*ast.Node{},
		types:   map[string]*Type{}, roles: map[string]*Role{}, imports: map[string]*ast.Node{},
		enums: map[string]*Type{}, parsed: map[*ast.Node]syntax.Node{}, numbers: map[string]int64{},
		all:      map[string][]Name{},
		messages: map[string][]field{}}
	for _, e := range Entries(root.Get("consts")) {
		u.consts[e.Key.Text] = e.Value
	}
	for _, e := range Entries(check.Get("consts")) {
		u.consts[e.Key.Text] = e.Value
	}
	for _, e := range Entries(check.Get("domains")) {
		u.domains[e.Key.Text] = e.Value
	}
	for _, e := range Entries(root.Get("types")) {
		t := u.named(e.Key.Text)
		if t.Kind == KOptional {
			t = t.Elem
		}
		if t.Kind != KEnum {
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

func Entries(n *ast.Node) []ast.Entry {
	if n == nil || n.Kind != ast.Map {
		return nil
	}
	return n.Entries
}

// Expr parses the expression that a node has.
func (u *Unit) Expr(n *ast.Node) syntax.Node {
	if x := u.parsed[n]; x != nil {
		return x
	}
	var x syntax.Node
	if n.Kind == ast.List {
		var elems []syntax.Node
		for _, it := range n.Items {
			elems = append(elems, u.Expr(it))
		}
		x = syntax.At(n.Span(), elems)
	} else {
		var err *syntax.Error
		if x, err = syntax.Parse(n.Text, n.Part); err != nil {
			panic(Unsupported(n.Text + ": " + err.Message))
		}
	}
	u.parsed[n] = x
	return x
}

// Children are the expressions in an expression.
func Children(n syntax.Node) (out []syntax.Node) {
	switch n := n.(type) {
	case *syntax.Unary:
		out = []syntax.Node{n.X}
	case *syntax.Binary:
		out = []syntax.Node{n.X, n.Y}
	case *syntax.Select:
		out = []syntax.Node{n.X}
	case *syntax.Index:
		out = append([]syntax.Node{n.X}, n.Args...)
	case *syntax.Call:
		out = n.Args
	case *syntax.List:
		out = n.Elems
	case *syntax.Literal:
		for _, f := range n.Fields {
			out = append(out, f.Value)
		}
	case *syntax.Quantified:
		out = []syntax.Node{n.Over, n.X}
	case *syntax.Build:
		out = []syntax.Node{n.Over, n.Elem}
		if n.If != nil {
			out = append(out, n.If)
		}
	case *syntax.Range:
		out = []syntax.Node{n.Lo, n.Hi}
	case *syntax.Arrow:
		out = []syntax.Node{n.X, n.Y}
	}
	return out
}

func parsed(text string, n *ast.Node) syntax.Node {
	x, err := syntax.Parse(text, func(int, int) diag.Span { return n.Span() })
	if err != nil {
		panic(Unsupported(text + ": " + err.Message))
	}
	return x
}

// Number evaluates a constant expression.
func (u *Unit) Number(n *ast.Node) int64 {
	v, ok := (&Env{U: u}).Eval(u.Expr(n)).(int64)
	if !ok {
		panic(Unsupported(n.Text + " is no number"))
	}
	return v
}

func (u *Unit) constant(name string) (int64, bool) {
	if x, known := u.numbers[name]; known {
		return x, true
	}
	n := u.consts[name]
	if n == nil {
		return 0, false
	}
	if n.Kind == ast.Map {
		n = n.Get("value")
	}
	x := u.Number(n)
	u.numbers[name] = x
	return x, true
}

func ints(lo, hi int64) *Type { return &Type{Kind: KInt, Lo: lo, Hi: hi} }

var widths = map[string]int64{"u8": 1<<8 - 1, "u16": 1<<16 - 1, "u32": 1<<32 - 1}

// instances is the type of the numbers of instances.
func (u *Unit) instances() *Type { return ints(0, int64(u.parties)-1) }

// named returns the type of a name.
func (u *Unit) named(name string) *Type {
	if t := u.given[name]; t != nil {
		return t
	}
	if t := u.types[name]; t != nil {
		return t
	}
	var t *Type
	switch {
	case name == "bool":
		t = &Type{Kind: KBool}
	case name == "instance":
		t = u.instances()
	case name == "f32" || name == "f64":
		t = &Type{Kind: KInt, opaque: true}
	case widths[name] > 0:
		t = ints(0, widths[name])
	default:
		n := u.Root.Get("types").Get(name)
		if n == nil {
			panic(Unsupported("the type " + name))
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
func (u *Unit) declared(name string) []Name {
	if list, known := u.all[name]; known {
		return list
	}
	var list []Name
	if n := u.Root.Get("types").Get(name); n != nil {
		list = u.typ(n).names
	}
	u.all[name] = list
	return list
}

// narrow is t with the domain that a check gives it.
func (u *Unit) narrow(t *Type, d *ast.Node) *Type {
	out := *t
	out.all = nil
	if t.Kind == KOptional {
		out.Elem = u.narrow(t.Elem, d)
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
		panic(Unsupported("the domain " + d.Text))
	}
	e := &Env{U: u}
	lo, hi := e.Eval(r.Lo).(int64), e.Eval(r.Hi).(int64)
	if t.Kind == KText {
		out.texts = hi + 1
	} else {
		out.Lo, out.Hi = lo, hi
	}
	return &out
}

// With is t with more texts, wherever there are texts in it that have room for them.
func (t *Type) With(texts []Text) *Type {
	if t == nil || len(texts) == 0 {
		return t
	}
	out := *t
	out.all, out.Elem = nil, t.Elem.With(texts)
	switch t.Kind {
	case KText:
		for _, x := range texts {
			if int64(len(x)) <= t.Max && !strings.ContainsAny(string(x), t.without) {
				out.more = append(out.more, x)
			}
		}
	case KRecord:
		out.fields = slices.Clone(t.fields)
		for k := range out.fields {
			out.fields[k].T = t.fields[k].T.With(texts)
		}
	}
	return &out
}

// HasText reports whether there are texts in values of t.
func (t *Type) HasText() bool {
	return t != nil && (t.Kind == KText || t.Elem.HasText() ||
		slices.ContainsFunc(t.fields, func(f field) bool { return f.T.HasText() }))
}

// typ returns the type that a node declares.
func (u *Unit) typ(n *ast.Node) *Type {
	if n.Kind == ast.Scalar {
		return u.short(n)
	}
	if t := n.Get("type"); t != nil {
		out := u.typ(t)
		if x := n.Get("without"); x != nil && out.Kind == KText {
			out.without = x.Text
		}
		return out
	}
	if e := n.Get("enum"); e != nil {
		t := &Type{Kind: KEnum}
		for i, name := range append(e.Keys(), Scalars(e)...) {
			t.names = append(t.names, Name{name, i})
		}
		return t
	}
	if r := n.Get("record"); r != nil {
		return &Type{Kind: KRecord, fields: u.fields(r)}
	}
	if s := n.Get("set"); s != nil {
		return &Type{Kind: KSet, Elem: u.typ(s)}
	}
	for _, key := range []string{"list", "queue"} {
		if l := n.Get(key); l != nil {
			return &Type{Kind: KList, Elem: u.typ(l), Max: u.Number(n.Get("max"))}
		}
	}
	if a := n.Get("array"); a != nil {
		return &Type{Kind: KArray, key: u.typ(a), Elem: u.typ(n.Get("of"))}
	}
	if m := n.Get("map"); m != nil {
		return &Type{Kind: KArray, key: u.typ(m), Elem: &Type{Kind: KOptional, Elem: u.typ(n.Get("of"))}}
	}
	panic(Unsupported("a type with " + strings.Join(n.Keys(), ", ")))
}

func Scalars(n *ast.Node) (out []string) {
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

func (u *Unit) short(n *ast.Node) *Type {
	s, err := syntax.ParseType(n.Text, n.Part)
	if err != nil {
		panic(Unsupported("the type " + n.Text))
	}
	var t *Type
	e := &Env{U: u}
	switch s.Form {
	case syntax.Named:
		t = u.named(s.Name)
	case syntax.Interval:
		t = ints(e.Eval(s.Lo).(int64), e.Eval(s.Hi).(int64))
	case syntax.Opaque:
		t = &Type{Kind: KInt, opaque: true}
	default:
		t = &Type{Kind: KText, texts: 1, Max: e.Eval(s.Hi).(int64)}
	}
	if s.Optional {
		t = &Type{Kind: KOptional, Elem: t}
	}
	return t
}

func (u *Unit) fields(n *ast.Node) (out []field) {
	for _, e := range Entries(n) {
		out = append(out, field{e.Key.Text, u.typ(e.Value)})
	}
	return out
}

// variable is a parameter or variable.
type variable struct {
	Name string
	T    *Type
	init Value
	Kept bool
}

type timer struct {
	Name  string
	keys  []field
	ticks *ast.Node // a number, or a range of them
}

type Part struct {
	Name string
	Role *Role
	keys []field
	with []ast.Entry
	Send map[string]*ast.Node
	To   *ast.Node
}

type stateDef struct {
	name        string
	parent      *stateDef
	Final       bool
	initial     string // of a composite state
	entry, exit []stmt
	On          map[string]*handler
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

// Role is a machine as it is written; it has flat names for all its states.
type Role struct {
	U        *Unit
	Name     string
	Params   []variable
	Vars     []variable
	Timers   map[string]*timer
	Commands []string
	Fields   map[string][]field // of commands and reports: "c:NAME", "r:NAME"
	Parts    []*Part
	routines map[string]*ast.Node
	bodies   map[string][]stmt // of routines that were called
	States   map[string]*stateDef
	order    []string
	initial  string
	Common   []*common
	Deferred int
	External bool
	resumed  map[string]bool
	Node     *ast.Node
	Clamps   bool // a monitor, whose numbers stay within their types
}

// Takes reports whether some state of the role handles or defers an event.
func (r *Role) Takes(event string) bool {
	for _, s := range r.States {
		if h := s.On[event]; h != nil && h.mode != "ignore" {
			return true
		}
	}
	for _, c := range r.Common {
		if h := c.On[event]; h != nil && h.mode != "ignore" {
			return true
		}
	}
	return false
}

type common struct {
	in, except []string
	On         map[string]*handler
}

// Role returns a role of the unit; it is read where it is first needed.
func (u *Unit) Role(name string) *Role {
	if r := u.roles[name]; r != nil {
		return r
	}
	n := u.Root.Get("roles").Get(name)
	if n == nil {
		panic(Unsupported("the role " + name))
	}
	r := u.Read(name, n)
	return r
}

// Read reads a role, or a monitor.
func (u *Unit) Read(name string, n *ast.Node) *Role {
	r := &Role{U: u, Name: name, Node: n, Timers: map[string]*timer{}, Fields: map[string][]field{},
		routines: map[string]*ast.Node{}, bodies: map[string][]stmt{},
		States: map[string]*stateDef{}, resumed: map[string]bool{}, Deferred: 8}
	if n.Get("of") == nil {
		u.roles[name] = r
	}
	for _, e := range Entries(n.Get("params")) {
		r.Params = append(r.Params, variable{Name: e.Key.Text, T: u.typ(e.Value)})
	}
	for _, e := range Entries(n.Get("vars")) {
		v := variable{Name: e.Key.Text, T: u.typ(e.Value)}
		v.init = v.T.Zero()
		if x := e.Value.Get("init"); e.Value.Kind == ast.Map && x != nil {
			v.init = v.T.Fit((&Env{U: u}).Typed(u.Expr(x), v.T))
		}
		if k := e.Value.Get("kept"); e.Value.Kind == ast.Map && k != nil {
			v.Kept = k.Text == "true"
		}
		r.Vars = append(r.Vars, v)
	}
	for _, e := range Entries(n.Get("timers")) {
		t := &timer{Name: e.Key.Text, ticks: e.Value.Get("ticks")}
		if e.Value.Kind == ast.Scalar {
			t.ticks = e.Value
		}
		t.keys = u.fields(e.Value.Get("key"))
		r.Timers[t.Name] = t
	}
	for _, e := range Entries(n.Get("commands")) {
		r.Commands = append(r.Commands, e.Key.Text)
		r.Fields["c:"+e.Key.Text] = u.fields(e.Value.Get("fields"))
	}
	for _, e := range Entries(n.Get("reports")) {
		r.Fields["r:"+e.Key.Text] = u.fields(e.Value.Get("fields"))
	}
	for _, e := range Entries(n.Get("routines")) {
		r.routines[e.Key.Text] = e.Value
	}
	for _, e := range Entries(n.Get("parts")) {
		r.Parts = append(r.Parts, u.part(e.Key.Text, e.Value))
	}
	if d := n.Get("deferred"); d != nil {
		r.Deferred = int(u.Number(d))
	}
	r.External = n.Get("external") != nil && n.Get("external").Text == "true"
	r.initial = n.Get("initial").Text
	r.readStates(nil, n.Get("states"))
	for _, it := range items(n.Get("common")) {
		c := &common{in: Scalars(it.Get("in")), except: Scalars(it.Get("except")), On: map[string]*handler{}}
		r.handlers(c.On, it.Get("on"), nil)
		r.listed(c.On, it)
		r.Common = append(r.Common, c)
	}
	return r
}

func items(n *ast.Node) []*ast.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

func (u *Unit) part(name string, n *ast.Node) *Part {
	p := &Part{Name: name, Send: map[string]*ast.Node{}, To: n.Get("to"), with: Entries(n.Get("with"))}
	p.keys = u.fields(n.Get("key"))
	machine, roleName, imported := strings.Cut(n.Get("machine").Text, ".")
	if !imported {
		p.Role = u.Role(machine)
	} else {
		at := u.Root.Entry("import").Value.Entry(machine)
		root, err := Tree(beside(at.Value, at.Value.Text), 0)
		if err != nil {
			panic(Unsupported(err.Error()))
		}
		given := map[string]*Type{}
		for _, e := range Entries(n.Get("types")) {
			given[e.Key.Text] = u.typ(e.Value)
		}
		p.Role = NewUnit(root, nil, u.parties, given).Role(roleName)
	}
	for _, e := range Entries(n.Get("send")) {
		p.Send[e.Key.Text] = e.Value
	}
	return p
}

func (r *Role) readStates(parent *stateDef, n *ast.Node) {
	for _, e := range Entries(n) {
		s := &stateDef{name: e.Key.Text, parent: parent, On: map[string]*handler{}}
		r.States[s.name] = s
		r.order = append(r.order, s.name)
		v := e.Value
		s.Final = v.Get("final") != nil && v.Get("final").Text == "true"
		if i := v.Get("initial"); i != nil {
			s.initial = i.Text
		}
		s.entry, s.exit = r.stmts(v.Get("entry")), r.stmts(v.Get("exit"))
		r.handlers(s.On, v, reserved)
		r.listed(s.On, v)
		r.readStates(s, v.Get("states"))
	}
}

var reserved = []string{"doc", "entry", "exit", "final", "ignore", "defer", "forward", "initial", "states"}

// handlers reads the lines of a state.
func (r *Role) handlers(on map[string]*handler, n *ast.Node, but []string) {
	for _, e := range Entries(n) {
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
func (r *Role) listed(on map[string]*handler, n *ast.Node) {
	for _, mode := range []string{"ignore", "defer"} {
		for _, name := range Scalars(n.Get(mode)) {
			on[name] = &handler{mode: mode}
		}
	}
	for _, e := range Entries(n.Get("forward")) {
		for _, name := range Scalars(e.Value) {
			x := parsed(e.Key.Text, e.Key)
			if id, ok := x.(*syntax.Ident); ok {
				var keys []syntax.Node
				for _, k := range r.partNamed(id.Name).keys {
					keys = append(keys, syntax.Name(k.Name, e.Key.Span()))
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

func (r *Role) partNamed(name string) *Part {
	for _, p := range r.Parts {
		if p.Name == name {
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

func (r *Role) branch(n *ast.Node) branch {
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

func (r *Role) stmts(n *ast.Node) (out []stmt) {
	for _, it := range items(n) {
		out = append(out, r.stmt(it)...)
	}
	return out
}

// stmt reads the statements of one map, in the order written.
func (r *Role) stmt(n *ast.Node) (out []stmt) {
	for _, e := range Entries(n) {
		key, v := e.Key.Text, e.Value
		switch key {
		case "set":
			for _, s := range Entries(v) {
				out = append(out, stmt{op: key, x: parsed(s.Key.Text, s.Key), value: s.Value})
			}
		case "send":
			out = append(out, stmt{op: key, x: r.U.Expr(v), to: n.Get("to")})
		case "report", "call", "run", "restart", "stop":
			out = append(out, stmt{op: key, x: r.U.Expr(v)})
		case "start":
			out = append(out, stmt{op: key, x: r.U.Expr(v), ticks: n.Get("ticks")})
		case "if":
			out = append(out, stmt{op: key, x: r.U.Expr(v), then: r.stmts(n.Get("then")),
				els: r.stmts(n.Get("else"))})
		case "each":
			over := v.Entries[0]
			x, err := syntax.ParseOver(over.Value.Text, over.Value.Part)
			if err != nil {
				panic(Unsupported(over.Value.Text))
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
