package machine

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
)

// Machine is the value of a machine: nothing that it holds is changed once it is made.
type Machine struct {
	R      *Role
	Self   int
	State  string
	Params []Value
	Vars   []Value
	Timers map[string]Clock    // those that are armed
	Parts  map[string]*Machine // by name and keys
	last   map[string]string   // the history of composite states that somebody resumes
	No     int                 // for who keeps machines: equal ones have equal numbers; 0: none
	key    string
}

// Clock is how many beats an armed timer has left, at least and at most; both are 0 without time.
type Clock struct{ Least, most int }

// timerRef is a timer with keys that are still to come.
type timerRef struct {
	m *Machine
	t *timer
}

func KeyText(name string, keys []Value) string {
	if len(keys) == 0 {
		return name
	}
	return name + "[" + Texts(keys) + "]"
}

// Machine makes a machine as it is in the beginning.
func (r *Role) Machine(self int, params []Value) *Machine {
	m := &Machine{R: r, Self: self, Params: params, Timers: map[string]Clock{}, Parts: map[string]*Machine{},
		last: map[string]string{}}
	for _, v := range r.Vars {
		m.Vars = append(m.Vars, v.init)
	}
	m.State = r.innermost(r.initial).name
	for _, p := range r.Parts {
		for _, keys := range p.Tuples() {
			m.Parts[KeyText(p.Name, keys)] = m.fresh(p, keys)
		}
	}
	return m
}

func (p *Part) Tuples() [][]Value {
	return Product(len(p.keys), func(i int) []Value { return p.keys[i].T.Values() })
}

// fresh makes a part's machine.
func (m *Machine) fresh(p *Part, keys []Value) *Machine {
	e := &Env{U: m.R.U, R: m.R, M: m, Self: m.Self, Sender: -1}
	for i, k := range p.keys {
		e = e.With(k.Name, keys[i])
	}
	var params []Value
	for _, v := range p.Role.Params {
		for _, w := range p.with {
			if w.Key.Text == v.Name {
				params = append(params, v.T.Fit(e.Typed(m.R.U.Expr(w.Value), v.T)))
			}
		}
	}
	return p.Role.Machine(m.Self, params)
}

func (r *Role) innermost(state string) *stateDef {
	s := r.States[state]
	if s == nil {
		panic(Unsupported("the state " + state))
	}
	for s.initial != "" {
		s = r.States[s.initial]
	}
	return s
}

func (m *Machine) Clone() *Machine {
	out := *m
	out.key, out.No = "", 0
	out.Vars = slices.Clone(m.Vars)
	out.Timers = maps.Clone(m.Timers)
	out.Parts = maps.Clone(m.Parts)
	out.last = maps.Clone(m.last)
	return &out
}

// Text writes all that a machine remembers.
func (m *Machine) Text() string {
	if m.key == "" {
		var b strings.Builder
		b.WriteString(m.State + "(" + Texts(m.Vars) + ")")
		for _, k := range Sorted(m.Timers) {
			fmt.Fprintf(&b, "!%s:%d:%d", k, m.Timers[k].Least, m.Timers[k].most)
		}
		for _, k := range Sorted(m.Parts) {
			b.WriteString("<" + m.Parts[k].Text() + ">")
		}
		for _, k := range Sorted(m.last) {
			b.WriteString("@" + k + ":" + m.last[k])
		}
		m.key = b.String()
	}
	return m.key
}

func Sorted[V any](in map[string]V) []string {
	keys := slices.Collect(maps.Keys(in))
	sort.Strings(keys)
	return keys
}

func (m *Machine) armed(key string) bool { _, is := m.Timers[key]; return is }

func (m *Machine) part(p *Part, keys []Value) *Machine {
	out := m.Parts[KeyText(p.Name, keys)]
	if out == nil {
		faultf("no part %s", KeyText(p.Name, keys))
	}
	return out
}

// in reports whether the machine is in a state or in one within it.
func (m *Machine) in(state string) bool {
	for s := m.R.States[m.State]; s != nil; s = s.parent {
		if s.name == state {
			return true
		}
	}
	return false
}

// Value returns what a name of the role stands for.
func (m *Machine) Value(name string) (Value, bool) {
	for i, v := range m.R.Params {
		if v.Name == name {
			return m.Params[i], true
		}
	}
	for i, v := range m.R.Vars {
		if v.Name == name {
			return m.Vars[i], true
		}
	}
	if t := m.R.Timers[name]; t != nil {
		if len(t.keys) > 0 {
			return timerRef{m, t}, true
		}
		return m.armed(name), true
	}
	if p := m.R.partNamed(name); p != nil {
		if len(p.keys) > 0 {
			return keyed{m, p}, true
		}
		return PartRef{m.Parts[name]}, true
	}
	if m.R.States[name] != nil {
		return m.in(name), true
	}
	return nil, false
}

// Event is what a machine gets.
type Event struct {
	Name   string
	Msg    map[string]Value
	Sender int // -1: there is none
}

// Message is what lies in a channel. Its text is its identity.
type Message struct {
	Name   string
	Fields []Value
	Text   string
}

func NewMessage(name string, fields []Value) Message {
	return Message{name, fields, name + "{" + Texts(fields) + "}"}
}

// Effect is one thing that a step does: a message to somebody, the end of a link, or a report.
type Effect struct {
	To     int // of a report: -1
	Msg    Message
	End    bool
	Report string
	Values map[string]Value
}

// Outcome is what a step comes to.
type Outcome struct {
	M         *Machine
	Effects   []Effect
	Refused   bool
	Fault     string // "": none
	Wrong     bool   // the fault is no refusal, whoever sent the message
	Ignored   bool
	defensive bool
	Took      string // the transition of the machine itself that the event took first: state, event and number
}

// frame is a machine in the course of a step, with the machine that it is a part of.
type frame struct {
	m      *Machine
	parent *frame
	p      *Part
	keys   []Value
	queue  []Event
}

type step struct {
	self, sender int
	time         *Timing
	effects      []Effect
	defensive    bool
	took         string
	n            int
}

// Step has a machine handle an event to its end. It happens as a whole or not at all.
func (m *Machine) Step(ev Event, time *Timing) (out Outcome) {
	s := &step{self: m.Self, sender: ev.Sender, time: time}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case Fault:
			out = Outcome{M: m, Fault: x.Why}
		case wrong:
			out = Outcome{M: m, Fault: x.why, Wrong: true}
		case refusal:
			out = Outcome{M: m, Refused: true}
		default:
			panic(x)
		}
	}()
	f := &frame{m: m.Clone()}
	ignored := s.handle(f, ev)
	return Outcome{M: f.m, Effects: s.effects, Ignored: ignored, defensive: s.defensive,
		Took: s.took}
}

// Mode is what the present state says first about an event: "handle", "ignore", "defer", or "" for nothing.
func (m *Machine) Mode(name string) string {
	hs := m.handlers(name)
	switch {
	case len(hs) == 0:
		return ""
	case hs[0].h.mode == "":
		return "handle"
	}
	return hs[0].h.mode
}

type placed struct {
	h     *handler
	owner *stateDef
}

// handlers returns what the present state and those around it say, innermost first; common comes last.
func (m *Machine) handlers(name string) (out []placed) {
	at := m.R.States[m.State]
	for s := at; s != nil; s = s.parent {
		if h := s.On[name]; h != nil {
			out = append(out, placed{h, s})
		}
	}
	if out != nil {
		return out
	}
	for _, c := range m.R.Common {
		if h := c.On[name]; h != nil && (c.in == nil || m.inAny(c.in)) && (c.except == nil ||
			!m.inAny(c.except)) {
			return []placed{{h, at}}
		}
	}
	return nil
}

func (m *Machine) inAny(states []string) bool { return slices.ContainsFunc(states, m.in) }

func (s *step) env(f *frame, ev Event) *Env {
	return &Env{U: f.m.R.U, R: f.m.R, M: f.m, Self: s.self, Sender: s.sender, Msg: ev.Msg}
}

// handle has a machine or part take an event, and then what its parts have to say.
func (s *step) handle(f *frame, ev Event) (ignored bool) {
	if _, is := f.m.R.Timers[strings.SplitN(ev.Name, "[", 2)[0]]; is {
		delete(f.m.Timers, ev.Name)
		ev.Name, _, _ = strings.Cut(ev.Name, "[")
	}
	ignored = s.take(f, ev)
	for len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = f.queue[1:]
		if s.n++; s.n > 256 {
			faultf("more than 256 events of parts")
		}
		if len(f.m.handlers(next.Name)) == 0 {
			panic(refusal{"no " + next.Name})
		}
		s.take(f, next)
	}
	return ignored
}

func (s *step) take(f *frame, ev Event) (ignored bool) {
	hs := f.m.handlers(ev.Name)
	if ev.Name == "start" {
		if len(hs) == 0 || hs[0].h.mode == "ignore" {
			s.enter(f, ev, nil, f.m.R.States[f.m.State])
			return false
		}
	}
	if len(hs) == 0 {
		if ev.Name == "up" || ev.Name == "lost" {
			return true
		}
		panic(refusal{"not mentioned"})
	}
	e := s.env(f, ev)
	if f.parent == nil && s.took == "" {
		s.took = f.m.State + " " + ev.Name
	}
	all, n := 0, 0
	for _, p := range hs {
		all += len(p.h.branches)
	}
	for _, p := range hs {
		if p.h.mode != "" {
			return true
		}
		for _, b := range p.h.branches {
			n++
			if b.when != nil && !Truth(e.Eval(e.U.Expr(b.when))) {
				continue
			}
			if all > 1 && f.parent == nil && !strings.Contains(s.took, "/") {
				s.took += "/" + strconv.Itoa(n)
			}
			s.branch(f, ev, b, p.owner)
			if ev.Name == "start" && b.to == "" {
				s.enter(f, ev, nil, f.m.R.States[f.m.State])
			}
			return false
		}
	}
	panic(refusal{"no branch"})
}

func (s *step) branch(f *frame, ev Event, b branch, owner *stateDef) {
	s.defensive = s.defensive || b.defensive
	to := b.to
	if b.resume != "" {
		if to = f.m.last[b.resume]; to == "" {
			to = b.resume
		}
	}
	if to == "" {
		s.do(f, s.env(f, ev), b.do)
		return
	}
	// The states around both stay.
	target := f.m.R.States[to]
	stay := owner.parent
	for stay != nil && !around(stay, target) {
		stay = stay.parent
	}
	from := f.m.R.States[f.m.State]
	for x := from; x != stay; x = x.parent {
		s.do(f, s.env(f, ev), x.exit)
		if f.m.R.resumed[x.name] {
			f.m.last[x.name] = from.name
		}
	}
	s.do(f, s.env(f, ev), b.do)
	inner := f.m.R.innermost(to)
	f.m.State = inner.name
	s.enter(f, ev, stay, inner)
}

// around reports whether s is around x, and not x itself.
func around(s, x *stateDef) bool {
	for x = x.parent; x != nil; x = x.parent {
		if x == s {
			return true
		}
	}
	return false
}

// enter runs the entries of the states from below stay down to inner.
func (s *step) enter(f *frame, ev Event, stay, inner *stateDef) {
	var path []*stateDef
	for x := inner; x != stay; x = x.parent {
		path = append(path, x)
	}
	slices.Reverse(path)
	for _, x := range path {
		s.do(f, s.env(f, ev), x.entry)
	}
	if inner.Final && f.parent != nil && ev.Name != "start" {
		f.parent.queue = append(f.parent.queue, Event{Name: f.p.Name + ".finished",
			Msg: f.keyed(nil), Sender: s.sender})
	}
}

// keyed is fields with the keys of a part.
func (f *frame) keyed(fields map[string]Value) map[string]Value {
	out := map[string]Value{}
	maps.Copy(out, fields)
	for i, k := range f.p.keys {
		out[k.Name] = f.keys[i]
	}
	return out
}

func (s *step) do(f *frame, e *Env, list []stmt) {
	for i := range list {
		s.one(f, e, &list[i])
	}
}

func (s *step) one(f *frame, e *Env, st *stmt) {
	switch st.op {
	case "set":
		e.assign(st.x, func(t *Type) Value { return e.Typed(e.U.Expr(st.value), t) })
	case "if":
		if Truth(e.Eval(st.x)) {
			s.do(f, e, st.then)
		} else {
			s.do(f, e, st.els)
		}
	case "each":
		for _, v := range e.over(st.x) {
			s.do(f, e.With(st.name, v), st.then)
		}
	case "refuse":
		panic(refusal{st.name})
	case "call":
		name, _, _ := literal(st.x)
		node := e.R.routines[name]
		if node == nil {
			panic(Unsupported("the routine " + name))
		}
		_, values := e.literal(st.x, e.U.fields(node.Get("fields")))
		in := *e
		in.Msg, in.locals = nil, nil
		inner := &in
		for k, v := range values {
			inner = inner.With(k, v)
		}
		s.do(f, inner, e.R.routine(name, node))
	case "send":
		name, fields := e.message(st.x)
		s.send(f, NewMessage(name, fields), s.receivers(e, st.to))
	case "close":
		s.close(f, s.receivers(e, st.to))
	case "report":
		name, _, _ := literal(st.x)
		_, values := e.literal(st.x, e.R.Fields["r:"+name])
		if f.parent == nil {
			s.effects = append(s.effects, Effect{To: -1, Report: name, Values: values})
		} else {
			f.parent.queue = append(f.parent.queue, Event{Name: f.p.Name + "." + name,
				Msg: f.keyed(values), Sender: s.sender})
		}
	case "run":
		s.run(f, e, st)
	case "restart":
		s.restart(f, e, st.x)
	case "start":
		s.start(f, e, st)
	case "stop":
		name, keys := e.timer(st.x)
		for _, k := range Sorted(f.m.Timers) {
			if k == KeyText(name, keys) || keys == nil && strings.HasPrefix(k, name+"[") {
				delete(f.m.Timers, k)
			}
		}
	default:
		panic(Unsupported("the statement " + st.op))
	}
}

// routine returns the statements of a routine, read once.
func (r *Role) routine(name string, node *ast.Node) []stmt {
	list, ok := r.bodies[name]
	if !ok {
		list = r.stmts(node.Get("do"))
		r.bodies[name] = list
	}
	return list
}

// literal takes NAME, PATH.NAME or either with fields apart.
func literal(n syntax.Node) (name string, path syntax.Node, fields []syntax.FieldValue) {
	if l, ok := n.(*syntax.Literal); ok {
		n, fields = l.X, l.Fields
	}
	switch x := n.(type) {
	case *syntax.Ident:
		return x.Name, nil, fields
	case *syntax.Select:
		return x.Name, x.X, fields
	}
	panic(Unsupported("the literal " + syntax.Source(n)))
}

// LiteralName is the name of a message, command or report in a statement.
func LiteralName(n syntax.Node) string {
	name, _, _ := literal(n)
	return name
}

// literal evaluates the fields of a literal.
func (e *Env) literal(n syntax.Node, fields []field) ([]Value, map[string]Value) {
	_, _, given := literal(n)
	list, values := make([]Value, len(fields)), map[string]Value{}
	for _, g := range given {
		for i, f := range fields {
			if f.Name == g.Name {
				list[i] = f.T.Fit(e.Typed(g.Value, f.T))
				values[f.Name] = list[i]
			}
		}
	}
	return list, values
}

// MessageFields returns the fields of a message.
func (u *Unit) MessageFields(name string) []field {
	fs, ok := u.messages[name]
	if !ok {
		fs = u.fields(u.Root.Get("messages").Get(name).Get("fields"))
		u.messages[name] = fs
	}
	return fs
}

func (e *Env) message(n syntax.Node) (string, []Value) {
	name, _, _ := literal(n)
	fields, _ := e.literal(n, e.U.MessageFields(name))
	return name, fields
}

// receivers evaluates `to`; nil means that nothing is said.
func (s *step) receivers(e *Env, to *ast.Node) []int {
	if to == nil {
		return nil
	}
	out := []int{}
	if to.Text == "all" {
		for i := range e.U.parties {
			if i != s.self {
				out = append(out, i)
			}
		}
		return out
	}
	switch v := e.Eval(e.U.Expr(to)).(type) {
	case Set:
		for _, x := range v {
			if int(Number(x)) != s.self {
				out = append(out, int(Number(x)))
			}
		}
	case List:
		for _, x := range setOf(v) {
			if int(Number(x)) != s.self {
				out = append(out, int(Number(x)))
			}
		}
	case nil:
		faultf("to none")
	default:
		n := int(Number(v))
		if n == s.self || n < 0 || n >= e.U.parties {
			panic(wrong{fmt.Sprintf("to instance %d", n)})
		}
		out = append(out, n)
	}
	return out
}

// peer is the receiver where nothing is said: that of the part, or the only other one.
func (s *step) peer(f *frame, to []int) []int {
	if to != nil {
		return to
	}
	if f.parent != nil && f.p.To != nil {
		return s.receivers(f.outer(s), f.p.To)
	}
	if f.parent == nil {
		if f.m.R.U.parties != 2 {
			faultf("to nobody")
		}
		return []int{1 - s.self}
	}
	return nil
}

// outer is the machine around a part, with the part's keys in scope.
func (f *frame) outer(s *step) *Env {
	e := s.env(f.parent, Event{})
	for i, k := range f.p.keys {
		e = e.With(k.Name, f.keys[i])
	}
	return e
}

// send sends a message, as the machines around a part say.
func (s *step) send(f *frame, m Message, to []int) {
	to = s.peer(f, to)
	if f.parent == nil {
		for _, i := range to {
			s.effects = append(s.effects, Effect{To: i, Msg: m})
		}
		return
	}
	mapped := f.p.Send[m.Name]
	e := f.outer(s)
	fields := f.m.R.U.MessageFields(m.Name)
	switch {
	case mapped != nil && mapped.Text == "none":
		return
	case mapped != nil:
		for i, x := range fields {
			e = e.With(x.Name, m.Fields[i])
		}
		name, values := e.message(e.U.Expr(mapped))
		m = NewMessage(name, values)
	default:
		values := []Value{}
		for _, x := range e.U.MessageFields(m.Name) {
			for i, y := range fields {
				if y.Name == x.Name {
					values = append(values, x.T.Fit(m.Fields[i]))
				}
			}
		}
		m = NewMessage(m.Name, values)
	}
	s.send(f.parent, m, to)
}

func (s *step) close(f *frame, to []int) {
	to = s.peer(f, to)
	if f.parent != nil {
		s.close(f.parent, to)
		return
	}
	for _, i := range to {
		s.effects = append(s.effects, Effect{To: i, End: true})
	}
}

// target finds the part that an expression names.
func (e *Env) target(x syntax.Node) (*Part, []Value) {
	var keys []Value
	if ix, ok := x.(*syntax.Index); ok {
		p := e.R.partNamed(ix.X.(*syntax.Ident).Name)
		for i, a := range ix.Args {
			keys = append(keys, p.keys[i].T.Fit(e.Typed(a, p.keys[i].T)))
		}
		return p, keys
	}
	return e.R.partNamed(x.(*syntax.Ident).Name), nil
}

// run gives a part an event, at once.
func (s *step) run(f *frame, e *Env, st *stmt) {
	name, path, _ := literal(st.x)
	p, keys := e.target(path)
	if keys != nil || len(p.keys) == 0 {
		f.m.part(p, keys)
	}
	inner := &frame{m: f.m.part(p, keys).Clone(), parent: f, p: p, keys: keys}
	ev := Event{Name: name, Sender: s.sender, Msg: map[string]Value{}}
	fields := p.Role.eventFields(name)
	if st.pass {
		for _, x := range fields {
			ev.Msg[x.Name] = x.T.Fit(e.Msg[x.Name])
		}
	} else {
		_, ev.Msg = e.literal(st.x, fields)
	}
	if len(inner.m.handlers(name)) == 0 && name != "up" && name != "lost" {
		panic(refusal{"the part takes no " + name})
	}
	s.handle(inner, ev)
	f.m.Parts[KeyText(p.Name, keys)] = inner.m
}

// eventFields returns the fields of a message or command.
func (r *Role) eventFields(name string) []field {
	if fs, ok := r.Fields["c:"+name]; ok {
		return fs
	}
	if r.U.Root.Get("messages").Entry(name) != nil {
		return r.U.MessageFields(name)
	}
	return nil
}

func (s *step) restart(f *frame, e *Env, x syntax.Node) {
	p, keys := e.target(x)
	for _, k := range p.Tuples() {
		if keys == nil || Texts(k) == Texts(keys) {
			f.m.Parts[KeyText(p.Name, k)] = f.m.fresh(p, k)
		}
	}
}

// timer finds the timer that an expression names.
func (e *Env) timer(x syntax.Node) (string, []Value) {
	if ix, ok := x.(*syntax.Index); ok {
		t := e.R.Timers[ix.X.(*syntax.Ident).Name]
		var keys []Value
		for i, a := range ix.Args {
			keys = append(keys, t.keys[i].T.Fit(e.Typed(a, t.keys[i].T)))
		}
		return t.Name, keys
	}
	return x.(*syntax.Ident).Name, nil
}

func (s *step) start(f *frame, e *Env, st *stmt) {
	name, keys := e.timer(st.x)
	t := f.m.R.Timers[name]
	lo, hi := t.Bounds(f.m.R.U)
	ticks := lo
	if st.ticks != nil {
		ticks = Number(e.Eval(e.U.Expr(st.ticks)))
		if ticks < lo || ticks > hi {
			faultf("%d ticks for %s", ticks, name)
		}
	}
	f.m.Timers[KeyText(name, keys)] = s.time.clock(s.self, ticks)
}

// Bounds returns the least and the greatest length of a timer.
func (t *timer) Bounds(u *Unit) (lo, hi int64) {
	r, err := syntax.ParseType(t.ticks.Text, t.ticks.Part)
	if err == nil && r.Form == syntax.Interval {
		e := &Env{U: u}
		return Number(e.Eval(r.Lo)), Number(e.Eval(r.Hi))
	}
	n := u.Number(t.ticks)
	return n, n
}

// assign changes a variable, or a part of one.
func (e *Env) assign(x syntax.Node, v func(t *Type) Value) {
	switch x := x.(type) {
	case *syntax.Ident:
		for i, d := range e.R.Vars {
			if d.Name == x.Name {
				x := v(d.T)
				if n, ok := x.(int64); ok && e.R.Clamps && d.T.Kind == KInt && !d.T.opaque {
					x = min(max(n, d.T.Lo), d.T.Hi)
				}
				e.M.Vars[i] = d.T.Fit(x)
				return
			}
		}
	case *syntax.Index:
		e.assign(x.X, func(t *Type) Value {
			old := e.Eval(x.X)
			switch a := old.(type) {
			case *Array:
				i := a.T.place(e.Typed(x.Args[0], a.T.key))
				out := &Array{a.T, slices.Clone(a.V)}
				out.V[i] = a.T.Elem.Fit(v(a.T.Elem))
				return out
			case List:
				i := Number(e.Eval(x.Args[0]))
				if i < 0 || i >= int64(len(a)) {
					faultf("index %d of a list of %d", i, len(a))
				}
				out := slices.Clone(a)
				out[i] = plain(t).Elem.Fit(v(plain(t).Elem))
				return out
			}
			faultf("none has no elements")
			return nil
		})
		return
	case *syntax.Select:
		e.assign(x.X, func(*Type) Value {
			r, ok := e.Eval(x.X).(*Record)
			if !ok {
				faultf("none has no %s", x.Name)
			}
			i := r.T.fieldAt(x.Name)
			out := &Record{r.T, slices.Clone(r.V)}
			out.V[i] = r.T.fields[i].T.Fit(v(r.T.fields[i].T))
			return out
		})
		return
	}
	panic(Unsupported("the assignment to " + syntax.Source(x)))
}

// plain is t, or what is in it if it is optional.
func plain(t *Type) *Type {
	if t.Kind == KOptional {
		return t.Elem
	}
	return t
}
