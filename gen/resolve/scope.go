package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// scope is what the names of an expression can mean, and the frame of its locals.
type scope struct {
	r  *resolver
	ro *role // the machine whose values are visible; nil: none

	locals []*model.Local
	frame  int // first free slot
	max    int // slots the frame needs

	constant   bool // only constants
	paramsOnly bool // of the machine only the parameters
	noParts    bool // of the machine nothing: parts' messages are mapped over keys and fields
	env        bool // len(out) and len(in) are channels of the machine
	instances  map[string]*instance
	groups     map[string]*group
	binds      []bound // names that stand for instances while a text is written out
	written    int     // how often what is resolved now is written out
	// lenient: the event's fields could not be resolved, so unknown names may be theirs.
	lenient bool
	// event is the one being handled; nil: none, or several.
	event *model.Event
	// together are the events of a key that names several: what is said of one is said of all.
	together []*model.Event
	// args are the fields of a routine whose values are known where it is called and stay as they are.
	args map[string]argument
}

// instance is an instance of a check with its role.
type instance struct {
	m  *model.Instance
	ro *role
}

// push makes locals visible that have their offsets already.
func (s *scope) push(ls []*model.Local) {
	for _, l := range ls {
		s.locals = append(s.locals, l)
		s.frame = max(s.frame, l.Offset+l.Type.Slots())
	}
	s.max = max(s.max, s.frame)
}

func (s *scope) local(name string) *model.Local {
	for i := len(s.locals) - 1; i >= 0; i-- {
		if s.locals[i].Name == name {
			return s.locals[i]
		}
	}
	return nil
}

// has reports whether a name is a field of the event or routine, or a loop's variable.
func (s *scope) has(name string) bool {
	_, arg := s.args[name]
	return arg || s.local(name) != nil
}

// declareLocal makes a new local visible until [scope.drop].
func (s *scope) declareLocal(name string, t *model.Type, at diag.Span) *model.Local {
	switch {
	case s.has(name):
		s.r.Errorf("FSM040", at, "%s is already the name of a field or loop variable here", diag.Quote(name))
	case s.ro != nil && !s.noParts && s.ro.values[name] != nil:
		what, first := valueKind(s.ro.values[name])
		s.r.hides(at, name, what, first)
	case s.instances[name] != nil:
		s.r.hides(at, name, "instance", s.instances[name].m.Span)
	case s.groups[name] != nil:
		s.r.hides(at, name, "instance", s.groups[name].at)
	case s.boundTo(name) != nil:
		s.r.Errorf("FSM040", at, "%s is already the name of a field or loop variable here", diag.Quote(name))
	}
	l := &model.Local{Name: name, Type: t, Offset: s.frame}
	s.r.noteLocal(l, at, true)
	s.push([]*model.Local{l})
	return l
}

// drop hides the newest local again and frees its slots.
func (s *scope) drop() {
	l := s.locals[len(s.locals)-1]
	s.locals = s.locals[:len(s.locals)-1]
	s.frame = l.Offset
}

// ref is what a name or a path means: an expression, a machine, a part that
// still lacks its keys, or a type.
type ref struct {
	e    model.Expr
	info *role // a machine, reached by inst and path
	inst *model.Instance
	path model.Path
	part *model.Part // a keyed part whose keys are missing
	// timer: a keyed timer, reached by inst and path, whose keys are missing
	timer *model.Timer
	t     *model.Type // a type, before a dot
	// group: instances by number, which lacks its number
	group *group
}

var errRef = ref{}

// ref resolves names, selections and indices; everything else is an expression.
func (s *scope) ref(n expr.Node, want *model.Type) ref {
	switch n := n.(type) {
	case *expr.Ident:
		return s.ident(n, want)
	case *expr.Select:
		return s.selection(n)
	case *expr.Index:
		return s.index(n)
	}
	return ref{e: s.operand(n, want)}
}

func (s *scope) ident(n *expr.Ident, want *model.Type) ref {
	base := model.ExprBase{Span: n.Pos()}
	switch n.Name {
	case "true", "false":
		base.T = boolType
		v := int64(0)
		if n.Name == "true" {
			v = 1
		}
		return ref{e: &model.Lit{ExprBase: base, Value: v}}
	case "none":
		return ref{e: &model.None{ExprBase: base}}
	}
	if a, ok := s.args[n.Name]; ok {
		s.r.refer(n.Pos(), a.at)
		return ref{e: a.value}
	}
	if l := s.local(n.Name); l != nil {
		if s.differs(n.Name, n.Pos()) {
			return errRef
		}
		base.T = l.Type
		s.r.refer(n.Pos(), s.r.localAt[l])
		return ref{e: &model.LocalRef{ExprBase: base, Local: l}}
	}
	if b := s.boundTo(n.Name); b != nil {
		return s.boundRef(b, n.Pos())
	}
	if g := s.groups[n.Name]; g != nil {
		s.r.refer(n.Pos(), g.at)
		return ref{group: g}
	}
	if in := s.instances[n.Name]; in != nil {
		s.r.refer(n.Pos(), in.m.Span)
		if in.ro == nil {
			return errRef
		}
		return ref{info: in.ro, inst: in.m}
	}
	enum := s.enumValue(n.Name, want)
	if s.ro != nil && !s.noParts && s.ro.taken[n.Name] {
		return errRef
	}
	if s.ro != nil && !s.noParts {
		v := s.ro.values[n.Name]
		if _, isState := v.(*model.State); v != nil && !(isState && enum != nil && wantsEnum(want)) {
			return s.value_(s.ro, nil, nil, n.Name, n.Pos())
		}
	}
	if n.Name == "sender" && s.hasSender() {
		if s.ro.m.Sender == nil {
			s.ro.m.Sender = s.r.basicType("instance", n.Pos())
		}
		return ref{e: &model.Sender{ExprBase: model.ExprBase{T: s.ro.m.Sender, Span: n.Pos()}}}
	}
	if c := s.r.consts[n.Name]; c != nil {
		s.r.use(c.m.Span)
		s.r.refer(n.Pos(), c.m.Span)
		v, ok := s.r.constValue(c)
		if !ok {
			return errRef
		}
		base.T = intType(v, v)
		lit := &model.Lit{ExprBase: base, Value: v, Const: n.Name}
		s.r.fromConst[lit] = true
		return ref{e: lit}
	}
	if enum != nil {
		return s.enumLit(n.Name, *enum, n.Pos(), n.Pos())
	}
	if nt := s.r.types[n.Name]; nt != nil {
		s.r.use(nt.key.Span())
		s.r.refer(n.Pos(), nt.key.Span())
		return ref{t: s.r.named(nt)}
	}
	if len(s.r.enums[n.Name]) > 1 {
		var ways []string
		for _, v := range s.r.enums[n.Name] {
			ways = append(ways, v.t.Name+"."+n.Name)
		}
		s.r.Errorf("FSM022", n.Pos(), "%s is a name of several enumerations", diag.Quote(n.Name)).With("write " + quoteAll(ways))
		return errRef
	}
	s.unknownName(n)
	return errRef
}

// hasSender reports whether what is handled comes from an instance.
func (s *scope) hasSender() bool {
	return s.event != nil && s.ro != nil && s.event.FromPeer()
}

func wantsEnum(t *model.Type) bool {
	return t != nil && (t.Kind == model.KindEnum || t.Kind == model.KindOptional && t.Elem.Kind == model.KindEnum)
}

// enumValue finds the enumeration a name belongs to: the wanted one, or the only one.
func (s *scope) enumValue(name string, want *model.Type) *enumValue {
	vs := s.r.enums[name]
	for i, v := range vs {
		if want != nil && (v.t == want || want.Kind == model.KindOptional && v.t == want.Elem || v.t.Name == want.Name && want.Name != "") {
			return &vs[i]
		}
	}
	if len(vs) == 1 {
		return &vs[0]
	}
	return nil
}

func (s *scope) enumLit(name string, v enumValue, at, nameAt diag.Span) ref {
	s.r.referEnum(nameAt, v.t, name)
	if v.index < 0 {
		s.r.Errorf("FSM083", at, "%s is not in the domain that this check gives %s, but is needed here", diag.Quote(name), v.t.Name)
		return errRef
	}
	return ref{e: &model.Lit{ExprBase: model.ExprBase{T: v.t, Span: at}, Value: int64(v.index)}}
}

func (s *scope) unknownName(n *expr.Ident) {
	if s.lenient || s.differs(n.Name, n.Pos()) {
		return
	}
	if s.args != nil && s.event != nil && fieldNamed(s.event.Fields, n.Name) != nil {
		s.r.Errorf("FSM021", n.Pos(), "there is no name %s here", diag.Quote(n.Name)).
			With("a routine sees its own fields and what the role has; let it be given this one: `fields: {" + n.Name + ": …}`")
		return
	}
	if n.Name == "sender" && s.ro != nil && !s.constant {
		s.r.Errorf("FSM021", n.Pos(), "only a message, `up` and `lost` have a sender")
		return
	}
	if s.constant && s.ro == nil && n.Name != "" {
		s.r.unknownAt("FSM021", n.Pos(), n.Name, "constant", append(s.r.root.Get("consts").Keys(), sortedKeys(s.r.enums)...))
		return
	}
	if ways := s.ofInstances(n.Name); len(ways) > 0 {
		s.r.Errorf("FSM021", n.Pos(), "there is no name %s here", diag.Quote(n.Name)).With("say of which instance: " + strings.Join(ways, " or "))
		return
	}
	s.r.unknownAt("FSM021", n.Pos(), n.Name, "name", s.names())
}

// ofInstances lists how a name can be written that means something in some instances of the check.
func (s *scope) ofInstances(name string) []string {
	var ways []string
	add := func(prefix string, in *instance) {
		if len(ways) < 3 && in.ro != nil && in.ro.values[name] != nil {
			ways = append(ways, diag.Quote(prefix+"."+name))
		}
	}
	for _, in := range sortedKeys(s.instances) {
		add(in, s.instances[in])
	}
	for _, g := range sortedKeys(s.groups) {
		if all := s.groups[g].all; len(all) > 0 {
			add(fmt.Sprintf("%s[%d]", g, s.groups[g].lo), all[0])
		}
	}
	return ways
}

// names lists what could have been meant.
func (s *scope) names() []string {
	names := sortedKeys(s.args)
	for _, l := range s.locals {
		names = append(names, l.Name)
	}
	names = append(names, sortedKeys(s.instances)...)
	names = append(names, sortedKeys(s.groups)...)
	for _, b := range s.binds {
		names = append(names, b.name)
	}
	if s.ro != nil && !s.noParts {
		names = append(names, sortedKeys(s.ro.values)...)
	}
	names = append(names, sortedKeys(s.r.consts)...)
	names = append(names, sortedKeys(s.r.types)...)
	return append(names, sortedKeys(s.r.enums)...)
}

// value_ resolves a declared value of a machine reached by inst and path.
func (s *scope) value_(ro *role, inst *model.Instance, path model.Path, name string, at diag.Span) ref {
	base := model.ExprBase{Span: at}
	direct := inst == nil && len(path) == 0
	if v := ro.values[name]; v != nil {
		_, decl := valueKind(v)
		s.r.refer(at, decl)
	}
	switch v := ro.values[name].(type) {
	case *model.Var:
		s.r.use(v.Span)
		if v.Type == nil {
			return errRef
		}
		if direct && (s.constant || s.paramsOnly && !ro.params[v]) {
			s.r.Errorf("FSM025", at, "%s is a variable and may change; a constant is needed here", diag.Quote(name)).See(v.Span, "declared here")
			return errRef
		}
		base.T = v.Type
		return ref{e: &model.VarRef{ExprBase: base, Inst: inst, Path: path, Var: v}}
	case *model.Part:
		s.r.use(v.Span)
		if v.Machine == nil {
			return errRef
		}
		if direct && s.constant || s.paramsOnly {
			break
		}
		if len(v.Keys) > 0 {
			return ref{part: v, inst: inst, path: path}
		}
		return ref{info: s.r.info[v.Machine], inst: inst, path: append(slices.Clone(path), model.PathStep{Part: v})}
	case *model.State:
		base.T = boolType
		if !s.constant && !s.paramsOnly {
			return ref{e: &model.StateTest{ExprBase: base, Inst: inst, Path: path, States: []*model.State{v}}}
		}
	case *model.Timer:
		s.r.use(v.Span)
		base.T = boolType
		if !s.constant && !s.paramsOnly && len(v.Keys) > 0 {
			return ref{timer: v, inst: inst, path: path}
		}
		if !s.constant && !s.paramsOnly {
			return ref{e: &model.TimerTest{ExprBase: base, Inst: inst, Path: path, Timer: v}}
		}
	case nil:
		if ro.taken[name] {
			return errRef
		}
		if name == "down" && inst != nil && len(path) == 0 {
			base.T = boolType
			return ref{e: &model.Down{ExprBase: base, Inst: inst}}
		}
		s.r.unknownAt("FSM021", at, name, "variable or state of "+diag.Quote(ro.m.Name)+" named", sortedKeys(ro.values))
		return errRef
	}
	s.r.Errorf("FSM025", at, "%s may change; a constant is needed here", diag.Quote(name))
	return errRef
}

func (s *scope) selection(n *expr.Select) ref {
	x := s.ref(n.X, nil)
	switch {
	case x.info != nil:
		return s.value_(x.info, x.inst, x.path, n.Name, spanOf(n, n.NamePos))
	case x.part != nil:
		s.r.Errorf("FSM061", n.X.Pos(), "part %s has several instances; say which", diag.Quote(x.part.Name)).
			With(keysHint(x.part))
		return errRef
	case x.timer != nil:
		s.r.Errorf("FSM023", n.NamePos, "a timer has nothing behind a dot")
		return errRef
	case x.group != nil:
		s.r.Errorf("FSM023", n.X.Pos(), "%s is several instances; say which", diag.Quote(x.group.name)).With(x.group.hint())
		return errRef
	case x.t != nil:
		return s.qualified(x.t, n)
	case x.e == nil:
		return errRef
	}
	e := s.present(x.e)
	if e.Type() == nil || e.Type().Kind != model.KindRecord {
		s.r.Errorf("FSM023", n.NamePos, "only records, parts and enumerations have something behind a dot, not %s", describe(e.Type()))
		return errRef
	}
	f := fieldNamed(e.Type().Fields, n.Name)
	if f == nil {
		s.r.unknownAt("FSM021", n.NamePos, n.Name, "field of "+describe(e.Type())+" named", fieldNames(e.Type().Fields))
		return errRef
	}
	s.r.refer(n.NamePos, f.Span)
	return ref{e: &model.FieldRef{ExprBase: model.ExprBase{T: f.Type, Span: n.Pos()}, X: e, Field: f}}
}

// spanOf is where a path's end is blamed: at its last name.
func spanOf(_ *expr.Select, name diag.Span) diag.Span { return name }

func keysHint(p *model.Part) string {
	return "write `" + p.Name + "[" + joinNames(p.Keys) + "]`"
}

// qualified resolves Type.name.
func (s *scope) qualified(t *model.Type, n *expr.Select) ref {
	if t.Kind != model.KindEnum {
		s.r.Errorf("FSM023", n.X.Pos(), "%s is no enumeration and has no names", describe(t))
		return errRef
	}
	for _, v := range s.r.enums[n.Name] {
		if v.t == t || v.t.Name == t.Name {
			return s.enumLit(n.Name, v, n.Pos(), n.NamePos)
		}
	}
	s.r.unknownAt("FSM021", n.NamePos, n.Name, "value of "+diag.Quote(t.Name)+" named", t.Names)
	return errRef
}

func (s *scope) index(n *expr.Index) ref {
	x := s.ref(n.X, nil)
	switch {
	case x.part != nil:
		keys := s.keys(x.part, n.Args, n.Pos())
		if keys == nil {
			return errRef
		}
		path := append(slices.Clone(x.path), model.PathStep{Part: x.part, Keys: keys})
		return ref{info: s.r.info[x.part.Machine], inst: x.inst, path: path}
	case x.timer != nil:
		keys := s.timerKeys(x.timer, n.Args, n.Pos())
		if keys == nil {
			return errRef
		}
		return ref{e: &model.TimerTest{ExprBase: model.ExprBase{T: boolType, Span: n.Pos()}, Inst: x.inst, Path: x.path, Timer: x.timer, Keys: keys}}
	case x.group != nil:
		in := s.instanceIndex(x.group, n.Args, n.Pos())
		if in == nil || in.ro == nil {
			return errRef
		}
		return ref{info: in.ro, inst: in.m}
	case x.info != nil || x.t != nil:
		s.r.Errorf("FSM023", n.X.Pos(), "this has no index")
		return errRef
	case x.e == nil:
		return errRef
	}
	e := s.present(x.e)
	for _, a := range n.Args {
		if e = s.element(e, a, n.Pos()); e == nil {
			return errRef
		}
	}
	return ref{e: e}
}

// keys resolves the keys of a part, one for each; nil after an error.
func (s *scope) keys(p *model.Part, args []expr.Node, at diag.Span) []model.Expr {
	if len(args) != len(p.Keys) {
		s.r.Errorf("FSM061", at, "part %s has %d key%s, not %d", diag.Quote(p.Name), len(p.Keys), plural(len(p.Keys)), len(args)).With(keysHint(p))
		return nil
	}
	keys := make([]model.Expr, len(args))
	ok := true
	for i, a := range args {
		keys[i] = s.value(a, p.Keys[i].Type)
		ok = ok && keys[i] != nil
	}
	if !ok {
		return nil
	}
	return keys
}

// element resolves one index into an array or list.
func (s *scope) element(x model.Expr, a expr.Node, at diag.Span) model.Expr {
	t := x.Type()
	if t == nil || t.Kind != model.KindArray && t.Kind != model.KindList {
		s.r.Errorf("FSM023", at, "only arrays, lists and keyed parts have an index, not %s", describe(t))
		return nil
	}
	want := t.Index
	if t.Kind == model.KindList {
		want = intType(0, int64(t.Cap)-1)
	}
	i := s.value(a, want)
	if i == nil {
		return nil
	}
	e := &model.Index{ExprBase: model.ExprBase{T: t.Elem, Span: at}, X: x, I: i}
	s.carry(e, x, i)
	return e
}

func fieldNamed(fields []*model.Field, name string) *model.Field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func fieldNames(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

func joinNames(fields []*model.Field) string {
	out := ""
	for i, f := range fields {
		if i > 0 {
			out += ", "
		}
		out += f.Name
	}
	return out
}
