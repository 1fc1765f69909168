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
	for _, look := range []func(*expr.Ident, *model.Type) (ref, bool){s.word, s.nearName, s.roleName, s.globalName} {
		if r, ok := look(n, want); ok {
			return r
		}
	}
	s.unknownName(n)
	return errRef
}

// word resolves what is no name.
func (s *scope) word(n *expr.Ident, _ *model.Type) (ref, bool) {
	base := model.ExprBase{T: boolType, Span: n.Pos()}
	switch n.Name {
	case "true":
		return ref{e: &model.Lit{ExprBase: base, Value: 1}}, true
	case "false":
		return ref{e: &model.Lit{ExprBase: base}}, true
	case "none":
		return ref{e: &model.None{ExprBase: model.ExprBase{Span: n.Pos()}}}, true
	}
	return ref{}, false
}

// nearName resolves what the expression's surroundings name: arguments, fields and variables of loops, instances of a check.
func (s *scope) nearName(n *expr.Ident, _ *model.Type) (ref, bool) {
	if a, ok := s.args[n.Name]; ok {
		s.r.refer(n.Pos(), a.at)
		return ref{e: a.value}, true
	}
	if l := s.local(n.Name); l != nil {
		if s.differs(n.Name, n.Pos()) {
			return errRef, true
		}
		s.r.refer(n.Pos(), s.r.localAt[l])
		return ref{e: &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: n.Pos()}, Local: l}}, true
	}
	if b := s.boundTo(n.Name); b != nil {
		return s.boundRef(b, n.Pos()), true
	}
	if g := s.groups[n.Name]; g != nil {
		s.r.refer(n.Pos(), g.at)
		return ref{group: g}, true
	}
	if in := s.instances[n.Name]; in != nil {
		s.r.refer(n.Pos(), in.m.Span)
		if in.ro == nil {
			return errRef, true
		}
		return ref{info: in.ro, inst: in.m}, true
	}
	return ref{}, false
}

// roleName resolves what the role declares, and the sender. Where an enumeration is wanted its
// value comes before a state of the same name.
func (s *scope) roleName(n *expr.Ident, want *model.Type) (ref, bool) {
	if s.ro != nil && !s.noParts {
		if s.ro.taken[n.Name] {
			return errRef, true
		}
		v := s.ro.values[n.Name]
		_, isState := v.(*model.State)
		if v != nil && !(isState && wantsEnum(want) && s.enumValue(n.Name, want) != nil) {
			return s.value_(s.ro, nil, nil, n.Name, n.Pos()), true
		}
	}
	if n.Name == "sender" && s.hasSender() {
		if s.ro.m.Sender == nil {
			s.ro.m.Sender = s.r.basicType("instance", n.Pos())
		}
		return ref{e: &model.Sender{ExprBase: model.ExprBase{T: s.ro.m.Sender, Span: n.Pos()}}}, true
	}
	return ref{}, false
}

// globalName resolves constants, values of enumerations and types.
func (s *scope) globalName(n *expr.Ident, want *model.Type) (ref, bool) {
	if c := s.r.consts[n.Name]; c != nil {
		s.r.use(c.m.Span)
		s.r.refer(n.Pos(), c.m.Span)
		v, ok := s.r.constValue(c)
		if !ok {
			return errRef, true
		}
		lit := &model.Lit{ExprBase: model.ExprBase{T: intType(v, v), Span: n.Pos()}, Value: v, Const: n.Name}
		s.r.fromConst[lit] = true
		return ref{e: lit}, true
	}
	if enum := s.enumValue(n.Name, want); enum != nil {
		return s.enumLit(n.Name, *enum, n.Pos(), n.Pos()), true
	}
	if nt := s.r.types[n.Name]; nt != nil {
		s.r.use(nt.key.Span())
		s.r.refer(n.Pos(), nt.key.Span())
		return ref{t: s.r.named(nt)}, true
	}
	if len(s.r.enums[n.Name]) > 1 {
		var ways []string
		for _, v := range s.r.enums[n.Name] {
			ways = append(ways, v.t.Name+"."+n.Name)
		}
		s.r.Errorf("FSM022", n.Pos(), "%s is a name of several enumerations", diag.Quote(n.Name)).With("write " + quoteAll(ways))
		return errRef, true
	}
	return ref{}, false
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
