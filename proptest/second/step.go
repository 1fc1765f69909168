package second

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
)

// machine is the value of a machine: nothing that it holds is changed once it is made.
type machine struct {
	r      *role
	self   int
	state  string
	params []Value
	vars   []Value
	timers map[string]clock    // those that are armed
	parts  map[string]*machine // by name and keys
	last   map[string]string   // the history of composite states that somebody resumes
	key    string
}

// clock is how many beats an armed timer has left, at least and at most; both are 0 without time.
type clock struct{ least, most int }

// timerRef is a timer with keys that are still to come.
type timerRef struct {
	m *machine
	t *timer
}

func keyText(name string, keys []Value) string {
	if len(keys) == 0 {
		return name
	}
	return name + "[" + texts(keys) + "]"
}

// machine makes a machine as it is in the beginning.
func (r *role) machine(self int, params []Value) *machine {
	m := &machine{r: r, self: self, params: params, timers: map[string]clock{}, parts: map[string]*machine{},
		last: map[string]string{}}
	for _, v := range r.vars {
		m.vars = append(m.vars, v.init)
	}
	m.state = r.innermost(r.initial).name
	for _, p := range r.parts {
		for _, keys := range p.tuples() {
			m.parts[keyText(p.name, keys)] = m.fresh(p, keys)
		}
	}
	return m
}

func (p *part) tuples() [][]Value {
	return product(len(p.keys), func(i int) []Value { return p.keys[i].t.values() })
}

// fresh makes a part's machine.
func (m *machine) fresh(p *part, keys []Value) *machine {
	e := &env{u: m.r.u, r: m.r, m: m, self: m.self, sender: -1}
	for i, k := range p.keys {
		e = e.with(k.name, keys[i])
	}
	var params []Value
	for _, v := range p.role.params {
		for _, w := range p.with {
			if w.Key.Text == v.name {
				params = append(params, v.t.fit(e.typed(m.r.u.expr(w.Value), v.t)))
			}
		}
	}
	return p.role.machine(m.self, params)
}

func (r *role) innermost(state string) *stateDef {
	s := r.states[state]
	if s == nil {
		panic(unsupported("the state " + state))
	}
	for s.initial != "" {
		s = r.states[s.initial]
	}
	return s
}

func (m *machine) clone() *machine {
	out := *m
	out.key = ""
	out.vars = slices.Clone(m.vars)
	out.timers = maps.Clone(m.timers)
	out.parts = maps.Clone(m.parts)
	out.last = maps.Clone(m.last)
	return &out
}

// text writes all that a machine remembers.
func (m *machine) text() string {
	if m.key == "" {
		var b strings.Builder
		b.WriteString(m.state + "(" + texts(m.vars) + ")")
		for _, k := range sorted(m.timers) {
			fmt.Fprintf(&b, "!%s:%d:%d", k, m.timers[k].least, m.timers[k].most)
		}
		for _, k := range sorted(m.parts) {
			b.WriteString("<" + m.parts[k].text() + ">")
		}
		for _, k := range sorted(m.last) {
			b.WriteString("@" + k + ":" + m.last[k])
		}
		m.key = b.String()
	}
	return m.key
}

func sorted[V any](in map[string]V) []string {
	keys := slices.Collect(maps.Keys(in))
	sort.Strings(keys)
	return keys
}

func (m *machine) armed(key string) bool { _, is := m.timers[key]; return is }

func (m *machine) part(p *part, keys []Value) *machine {
	out := m.parts[keyText(p.name, keys)]
	if out == nil {
		faultf("no part %s", keyText(p.name, keys))
	}
	return out
}

// in reports whether the machine is in a state or in one within it.
func (m *machine) in(state string) bool {
	for s := m.r.states[m.state]; s != nil; s = s.parent {
		if s.name == state {
			return true
		}
	}
	return false
}

// value returns what a name of the role stands for.
func (m *machine) value(name string) (Value, bool) {
	for i, v := range m.r.params {
		if v.name == name {
			return m.params[i], true
		}
	}
	for i, v := range m.r.vars {
		if v.name == name {
			return m.vars[i], true
		}
	}
	if t := m.r.timers[name]; t != nil {
		if len(t.keys) > 0 {
			return timerRef{m, t}, true
		}
		return m.armed(name), true
	}
	if p := m.r.partNamed(name); p != nil {
		if len(p.keys) > 0 {
			return keyed{m, p}, true
		}
		return partRef{m.parts[name]}, true
	}
	if m.r.states[name] != nil {
		return m.in(name), true
	}
	return nil, false
}

// event is what a machine gets.
type event struct {
	name   string
	msg    map[string]Value
	sender int // -1: there is none
}

// message is what lies in a channel. Its text is its identity.
type message struct {
	name   string
	fields []Value
	text   string
}

func newMessage(name string, fields []Value) message {
	return message{name, fields, name + "{" + texts(fields) + "}"}
}

// effect is one thing that a step does: a message to somebody, the end of a link, or a report.
type effect struct {
	to     int // of a report: -1
	msg    message
	end    bool
	report string
	values map[string]Value
}

// outcome is what a step comes to.
type outcome struct {
	m         *machine
	effects   []effect
	refused   bool
	fault     string // "": none
	wrong     bool   // the fault is no refusal, whoever sent the message
	ignored   bool
	defensive bool
	changed   bool // the control state is another one
}

// frame is a machine in the course of a step, with the machine that it is a part of.
type frame struct {
	m      *machine
	parent *frame
	p      *part
	keys   []Value
	queue  []event
}

type step struct {
	self, sender int
	time         *timing
	effects      []effect
	defensive    bool
	n            int
}

// step has a machine handle an event to its end. It happens as a whole or not at all.
func (m *machine) step(ev event, time *timing) (out outcome) {
	s := &step{self: m.self, sender: ev.sender, time: time}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case fault:
			out = outcome{m: m, fault: x.why}
		case wrong:
			out = outcome{m: m, fault: x.why, wrong: true}
		case refusal:
			out = outcome{m: m, refused: true}
		default:
			panic(x)
		}
	}()
	f := &frame{m: m.clone()}
	ignored := s.handle(f, ev)
	return outcome{m: f.m, effects: s.effects, ignored: ignored, defensive: s.defensive,
		changed: f.m.state != m.state}
}

// mode is what the present state says first about an event: "handle", "ignore", "defer", or "" for nothing.
func (m *machine) mode(name string) string {
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
func (m *machine) handlers(name string) (out []placed) {
	at := m.r.states[m.state]
	for s := at; s != nil; s = s.parent {
		if h := s.on[name]; h != nil {
			out = append(out, placed{h, s})
		}
	}
	if out != nil {
		return out
	}
	for _, c := range m.r.common {
		if h := c.on[name]; h != nil && (c.in == nil || m.inAny(c.in)) && (c.except == nil ||
			!m.inAny(c.except)) {
			return []placed{{h, at}}
		}
	}
	return nil
}

func (m *machine) inAny(states []string) bool { return slices.ContainsFunc(states, m.in) }

func (s *step) env(f *frame, ev event) *env {
	return &env{u: f.m.r.u, r: f.m.r, m: f.m, self: s.self, sender: s.sender, msg: ev.msg}
}

// handle has a machine or part take an event, and then what its parts have to say.
func (s *step) handle(f *frame, ev event) (ignored bool) {
	if _, is := f.m.r.timers[strings.SplitN(ev.name, "[", 2)[0]]; is {
		delete(f.m.timers, ev.name)
		ev.name, _, _ = strings.Cut(ev.name, "[")
	}
	ignored = s.take(f, ev)
	for len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = f.queue[1:]
		if s.n++; s.n > 256 {
			faultf("more than 256 events of parts")
		}
		if len(f.m.handlers(next.name)) == 0 {
			panic(refusal{"no " + next.name})
		}
		s.take(f, next)
	}
	return ignored
}

func (s *step) take(f *frame, ev event) (ignored bool) {
	hs := f.m.handlers(ev.name)
	if ev.name == "start" {
		if len(hs) == 0 || hs[0].h.mode == "ignore" {
			s.enter(f, ev, nil, f.m.r.states[f.m.state])
			return false
		}
	}
	if len(hs) == 0 {
		if ev.name == "up" || ev.name == "lost" {
			return true
		}
		panic(refusal{"not mentioned"})
	}
	e := s.env(f, ev)
	for _, p := range hs {
		if p.h.mode != "" {
			return true
		}
		for _, b := range p.h.branches {
			if b.when != nil && !truth(e.eval(e.u.expr(b.when))) {
				continue
			}
			s.branch(f, ev, b, p.owner)
			if ev.name == "start" && b.to == "" {
				s.enter(f, ev, nil, f.m.r.states[f.m.state])
			}
			return false
		}
	}
	panic(refusal{"no branch"})
}

func (s *step) branch(f *frame, ev event, b branch, owner *stateDef) {
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
	target := f.m.r.states[to]
	stay := owner.parent
	for stay != nil && !around(stay, target) {
		stay = stay.parent
	}
	from := f.m.r.states[f.m.state]
	for x := from; x != stay; x = x.parent {
		s.do(f, s.env(f, ev), x.exit)
		if f.m.r.resumed[x.name] {
			f.m.last[x.name] = from.name
		}
	}
	s.do(f, s.env(f, ev), b.do)
	inner := f.m.r.innermost(to)
	f.m.state = inner.name
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
func (s *step) enter(f *frame, ev event, stay, inner *stateDef) {
	var path []*stateDef
	for x := inner; x != stay; x = x.parent {
		path = append(path, x)
	}
	slices.Reverse(path)
	for _, x := range path {
		s.do(f, s.env(f, ev), x.entry)
	}
	if inner.final && f.parent != nil && ev.name != "start" {
		f.parent.queue = append(f.parent.queue, event{name: f.p.name + ".finished",
			msg: f.keyed(nil), sender: s.sender})
	}
}

// keyed is fields with the keys of a part.
func (f *frame) keyed(fields map[string]Value) map[string]Value {
	out := map[string]Value{}
	maps.Copy(out, fields)
	for i, k := range f.p.keys {
		out[k.name] = f.keys[i]
	}
	return out
}

func (s *step) do(f *frame, e *env, list []stmt) {
	for i := range list {
		s.one(f, e, &list[i])
	}
}

func (s *step) one(f *frame, e *env, st *stmt) {
	switch st.op {
	case "set":
		e.assign(st.x, func(t *Type) Value { return e.typed(e.u.expr(st.value), t) })
	case "if":
		if truth(e.eval(st.x)) {
			s.do(f, e, st.then)
		} else {
			s.do(f, e, st.els)
		}
	case "each":
		for _, v := range e.over(st.x) {
			s.do(f, e.with(st.name, v), st.then)
		}
	case "refuse":
		panic(refusal{st.name})
	case "call":
		name, _, _ := literal(st.x)
		node := e.r.routines[name]
		if node == nil {
			panic(unsupported("the routine " + name))
		}
		_, values := e.literal(st.x, e.u.fields(node.Get("fields")))
		in := *e
		in.msg, in.locals = nil, nil
		inner := &in
		for k, v := range values {
			inner = inner.with(k, v)
		}
		s.do(f, inner, e.r.routine(name, node))
	case "send":
		name, fields := e.message(st.x)
		s.send(f, newMessage(name, fields), s.receivers(e, st.to))
	case "close":
		s.close(f, s.receivers(e, st.to))
	case "report":
		name, _, _ := literal(st.x)
		_, values := e.literal(st.x, e.r.fields["r:"+name])
		if f.parent == nil {
			s.effects = append(s.effects, effect{to: -1, report: name, values: values})
		} else {
			f.parent.queue = append(f.parent.queue, event{name: f.p.name + "." + name,
				msg: f.keyed(values), sender: s.sender})
		}
	case "run":
		s.run(f, e, st)
	case "restart":
		s.restart(f, e, st.x)
	case "start":
		s.start(f, e, st)
	case "stop":
		name, keys := e.timer(st.x)
		for _, k := range sorted(f.m.timers) {
			if k == keyText(name, keys) || keys == nil && strings.HasPrefix(k, name+"[") {
				delete(f.m.timers, k)
			}
		}
	default:
		panic(unsupported("the statement " + st.op))
	}
}

// routine returns the statements of a routine, read once.
func (r *role) routine(name string, node *ast.Node) []stmt {
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
	panic(unsupported("the literal " + syntax.Source(n)))
}

// literal evaluates the fields of a literal.
func (e *env) literal(n syntax.Node, fields []field) ([]Value, map[string]Value) {
	_, _, given := literal(n)
	list, values := make([]Value, len(fields)), map[string]Value{}
	for _, g := range given {
		for i, f := range fields {
			if f.name == g.Name {
				list[i] = f.t.fit(e.typed(g.Value, f.t))
				values[f.name] = list[i]
			}
		}
	}
	return list, values
}

// messageFields returns the fields of a message.
func (u *unit) messageFields(name string) []field {
	fs, ok := u.messages[name]
	if !ok {
		fs = u.fields(u.root.Get("messages").Get(name).Get("fields"))
		u.messages[name] = fs
	}
	return fs
}

func (e *env) message(n syntax.Node) (string, []Value) {
	name, _, _ := literal(n)
	fields, _ := e.literal(n, e.u.messageFields(name))
	return name, fields
}

// receivers evaluates `to`; nil means that nothing is said.
func (s *step) receivers(e *env, to *ast.Node) []int {
	if to == nil {
		return nil
	}
	out := []int{}
	if to.Text == "all" {
		for i := range e.u.parties {
			if i != s.self {
				out = append(out, i)
			}
		}
		return out
	}
	switch v := e.eval(e.u.expr(to)).(type) {
	case Set:
		for _, x := range v {
			if int(number(x)) != s.self {
				out = append(out, int(number(x)))
			}
		}
	case List:
		for _, x := range setOf(v) {
			if int(number(x)) != s.self {
				out = append(out, int(number(x)))
			}
		}
	case nil:
		faultf("to none")
	default:
		n := int(number(v))
		if n == s.self || n < 0 || n >= e.u.parties {
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
	if f.parent != nil && f.p.to != nil {
		return s.receivers(f.outer(s), f.p.to)
	}
	if f.parent == nil {
		if f.m.r.u.parties != 2 {
			faultf("to nobody")
		}
		return []int{1 - s.self}
	}
	return nil
}

// outer is the machine around a part, with the part's keys in scope.
func (f *frame) outer(s *step) *env {
	e := s.env(f.parent, event{})
	for i, k := range f.p.keys {
		e = e.with(k.name, f.keys[i])
	}
	return e
}

// send sends a message, as the machines around a part say.
func (s *step) send(f *frame, m message, to []int) {
	to = s.peer(f, to)
	if f.parent == nil {
		for _, i := range to {
			s.effects = append(s.effects, effect{to: i, msg: m})
		}
		return
	}
	mapped := f.p.send[m.name]
	e := f.outer(s)
	fields := f.m.r.u.messageFields(m.name)
	switch {
	case mapped != nil && mapped.Text == "none":
		return
	case mapped != nil:
		for i, x := range fields {
			e = e.with(x.name, m.fields[i])
		}
		name, values := e.message(e.u.expr(mapped))
		m = newMessage(name, values)
	default:
		values := []Value{}
		for _, x := range e.u.messageFields(m.name) {
			for i, y := range fields {
				if y.name == x.name {
					values = append(values, x.t.fit(m.fields[i]))
				}
			}
		}
		m = newMessage(m.name, values)
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
		s.effects = append(s.effects, effect{to: i, end: true})
	}
}

// target finds the part that an expression names.
func (e *env) target(x syntax.Node) (*part, []Value) {
	var keys []Value
	if ix, ok := x.(*syntax.Index); ok {
		p := e.r.partNamed(ix.X.(*syntax.Ident).Name)
		for i, a := range ix.Args {
			keys = append(keys, p.keys[i].t.fit(e.typed(a, p.keys[i].t)))
		}
		return p, keys
	}
	return e.r.partNamed(x.(*syntax.Ident).Name), nil
}

// run gives a part an event, at once.
func (s *step) run(f *frame, e *env, st *stmt) {
	name, path, _ := literal(st.x)
	p, keys := e.target(path)
	if keys != nil || len(p.keys) == 0 {
		f.m.part(p, keys)
	}
	inner := &frame{m: f.m.part(p, keys).clone(), parent: f, p: p, keys: keys}
	ev := event{name: name, sender: s.sender, msg: map[string]Value{}}
	fields := p.role.eventFields(name)
	if st.pass {
		for _, x := range fields {
			ev.msg[x.name] = x.t.fit(e.msg[x.name])
		}
	} else {
		_, ev.msg = e.literal(st.x, fields)
	}
	if len(inner.m.handlers(name)) == 0 && name != "up" && name != "lost" {
		panic(refusal{"the part takes no " + name})
	}
	s.handle(inner, ev)
	f.m.parts[keyText(p.name, keys)] = inner.m
}

// eventFields returns the fields of a message or command.
func (r *role) eventFields(name string) []field {
	if fs, ok := r.fields["c:"+name]; ok {
		return fs
	}
	if r.u.root.Get("messages").Entry(name) != nil {
		return r.u.messageFields(name)
	}
	return nil
}

func (s *step) restart(f *frame, e *env, x syntax.Node) {
	p, keys := e.target(x)
	for _, k := range p.tuples() {
		if keys == nil || texts(k) == texts(keys) {
			f.m.parts[keyText(p.name, k)] = f.m.fresh(p, k)
		}
	}
}

// timer finds the timer that an expression names.
func (e *env) timer(x syntax.Node) (string, []Value) {
	if ix, ok := x.(*syntax.Index); ok {
		t := e.r.timers[ix.X.(*syntax.Ident).Name]
		var keys []Value
		for i, a := range ix.Args {
			keys = append(keys, t.keys[i].t.fit(e.typed(a, t.keys[i].t)))
		}
		return t.name, keys
	}
	return x.(*syntax.Ident).Name, nil
}

func (s *step) start(f *frame, e *env, st *stmt) {
	name, keys := e.timer(st.x)
	t := f.m.r.timers[name]
	lo, hi := t.bounds(f.m.r.u)
	ticks := lo
	if st.ticks != nil {
		ticks = number(e.eval(e.u.expr(st.ticks)))
		if ticks < lo || ticks > hi {
			faultf("%d ticks for %s", ticks, name)
		}
	}
	f.m.timers[keyText(name, keys)] = s.time.clock(s.self, ticks)
}

// bounds returns the least and the greatest length of a timer.
func (t *timer) bounds(u *unit) (lo, hi int64) {
	r, err := syntax.ParseType(t.ticks.Text, t.ticks.Part)
	if err == nil && r.Form == syntax.Interval {
		e := &env{u: u}
		return number(e.eval(r.Lo)), number(e.eval(r.Hi))
	}
	n := u.number(t.ticks)
	return n, n
}

// assign changes a variable, or a part of one.
func (e *env) assign(x syntax.Node, v func(t *Type) Value) {
	switch x := x.(type) {
	case *syntax.Ident:
		for i, d := range e.r.vars {
			if d.name == x.Name {
				x := v(d.t)
				if n, ok := x.(int64); ok && e.r.clamps && d.t.kind == kInt && !d.t.opaque {
					x = min(max(n, d.t.lo), d.t.hi)
				}
				e.m.vars[i] = d.t.fit(x)
				return
			}
		}
	case *syntax.Index:
		e.assign(x.X, func(t *Type) Value {
			old := e.eval(x.X)
			switch a := old.(type) {
			case *Array:
				i := a.T.place(e.typed(x.Args[0], a.T.key))
				out := &Array{a.T, slices.Clone(a.V)}
				out.V[i] = a.T.elem.fit(v(a.T.elem))
				return out
			case List:
				i := number(e.eval(x.Args[0]))
				if i < 0 || i >= int64(len(a)) {
					faultf("index %d of a list of %d", i, len(a))
				}
				out := slices.Clone(a)
				out[i] = plain(t).elem.fit(v(plain(t).elem))
				return out
			}
			faultf("none has no elements")
			return nil
		})
		return
	case *syntax.Select:
		e.assign(x.X, func(*Type) Value {
			r, ok := e.eval(x.X).(*Record)
			if !ok {
				faultf("none has no %s", x.Name)
			}
			i := r.T.fieldAt(x.Name)
			out := &Record{r.T, slices.Clone(r.V)}
			out.V[i] = r.T.fields[i].t.fit(v(r.T.fields[i].t))
			return out
		})
		return
	}
	panic(unsupported("the assignment to " + syntax.Source(x)))
}

// plain is t, or what is in it if it is optional.
func plain(t *Type) *Type {
	if t.kind == kOptional {
		return t.elem
	}
	return t
}
