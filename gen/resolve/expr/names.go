package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// ref is the meaning of a name or path: an expression, a machine, a part or timer that still lacks
// its keys, a type, or a group of instances.
type ref struct {
	e    model.Expr
	info *convert.Names // a machine, reached by inst and path
	inst *model.Instance
	path model.Path
	part *model.Part    // a keyed part whose keys are missing
	runs *convert.Names // the values of its machine
	// timer is a keyed timer, reached by inst and path, whose keys are missing
	timer *model.Timer
	t     *model.Type // a type, before a dot
	// group is not nil if the number of the instance is missing
	group *convert.Group
}

var errRef = ref{}

// ref resolves names, selections and indices; everything else is an expression.
func (s *Resolver) ref(n syntax.Node, want *model.Type) ref {
	switch n := n.(type) {
	case *syntax.Ident:
		return s.ident(n, want)
	case *syntax.Select:
		return s.selection(n)
	case *syntax.Index:
		return s.index(n)
	}
	return ref{e: s.operand(n, want)}
}

func (s *Resolver) ident(n *syntax.Ident, want *model.Type) ref {
	for _, look := range []func(*syntax.Ident, *model.Type) (ref, bool){s.word, s.nearName, s.roleName, s.globalName} {
		if r, ok := look(n, want); ok {
			return r
		}
	}
	s.unknownName(n)
	return errRef
}

// word resolves true, false and none.
func (s *Resolver) word(n *syntax.Ident, _ *model.Type) (ref, bool) {
	base := model.ExprBase{T: types.Bool, Span: n.Pos()}
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

// nearName resolves what stands nearest: arguments, fields, variables of loops, and the instances
// of a check.
func (s *Resolver) nearName(n *syntax.Ident, _ *model.Type) (ref, bool) {
	if a, ok := s.Args[n.Name]; ok {
		s.Refer(n.Pos(), a.At)
		return ref{e: a.Value}, true
	}
	if l := s.Local(n.Name); l != nil {
		if s.differs(n.Name, n.Pos()) {
			return errRef, true
		}
		s.ReferLocal(n.Pos(), l)
		return ref{e: &model.LocalRef{ExprBase: model.ExprBase{T: l.Type, Span: n.Pos()}, Local: l}}, true
	}
	if b := s.BoundTo(n.Name); b != nil {
		return s.boundRef(b, n.Pos()), true
	}
	if g := s.Groups[n.Name]; g != nil {
		s.Refer(n.Pos(), g.At)
		return ref{group: g}, true
	}
	if in := s.Instances[n.Name]; in != nil {
		s.Refer(n.Pos(), in.Model.Span)
		if in.Names == nil {
			return errRef, true
		}
		return ref{info: in.Names, inst: in.Model}, true
	}
	if m := s.Monitors[n.Name]; m != nil {
		s.Refer(n.Pos(), m.Model.Span)
		return ref{info: m.Names, inst: m.Model}, true
	}
	return ref{}, false
}

// roleName resolves what the role declares, and the sender. Where an enumeration is wanted, its
// value comes before a state of the same name.
func (s *Resolver) roleName(n *syntax.Ident, want *model.Type) (ref, bool) {
	if s.Own != nil && !s.NoValues {
		if s.Own.Taken[n.Name] {
			return errRef, true
		}
		v := s.Own.Lookup(n.Name)
		_, isState := v.(*model.State)
		if _, is := v.(*model.Composite); is {
			isState = true
		}
		if v != nil {
			what, _ := convert.ValueKind(v)
			s.Plain(n.Name, what, n.Pos())
		}
		if v != nil && !(isState && wantsEnum(want) && s.enumValue(n.Name, want) != nil) {
			return s.valueOf(s.Own, nil, nil, n.Name, n.Pos()), true
		}
	}
	if n.Name == "sender" && s.hasSender() {
		if s.Own.Machine.Sender == nil {
			s.Own.Machine.Sender = s.Basic("instance", n.Pos())
		}
		return ref{e: &model.Sender{ExprBase: model.ExprBase{T: s.Own.Machine.Sender,
			Span: n.Pos()}}}, true
	}
	return ref{}, false
}

// globalName resolves constants, values of enumerations and types.
func (s *Resolver) globalName(n *syntax.Ident, want *model.Type) (ref, bool) {
	if v, known, ok := s.ConstNamed(n.Name, n.Pos()); known {
		if !ok {
			return errRef, true
		}
		lit := &model.Lit{ExprBase: model.ExprBase{T: types.Int(v, v), Span: n.Pos()}, Value: v,
			Const: n.Name}
		s.SetReplaceable(lit)
		return ref{e: lit}, true
	}
	if enum := s.enumValue(n.Name, want); enum != nil {
		return s.enumLit(n.Name, *enum, n.Pos(), n.Pos()), true
	}
	if t, known := s.TypeNamed(n.Name, n.Pos()); known {
		return ref{t: t}, true
	}
	if len(s.Enums[n.Name]) > 1 {
		var ways []string
		for _, v := range s.Enums[n.Name] {
			ways = append(ways, v.Type.Name+"."+n.Name)
		}
		s.Errorf("FSM022", n.Pos(), "%s is a name of several enumerations", diag.Quote(n.Name)).
			With("write " + diag.QuoteAll(ways))
		return errRef, true
	}
	return ref{}, false
}

// hasSender reports whether the event that is handled comes from an instance.
func (s *Resolver) hasSender() bool {
	return s.Event != nil && s.Own != nil && s.Event.FromPeer()
}

func wantsEnum(t *model.Type) bool {
	return t != nil && (t.Kind == model.KindEnum ||
		t.Kind == model.KindOptional && t.Elem.Kind == model.KindEnum)
}

// enumValue finds the enumeration to which a name belongs: the wanted one, or the only one.
func (s *Resolver) enumValue(name string, want *model.Type) *types.EnumValue {
	vs := s.Enums[name]
	for i, v := range vs {
		if want != nil && (v.Type == want || want.Kind == model.KindOptional &&
			v.Type == want.Elem || v.Type.Name == want.Name && want.Name != "") {
			return &vs[i]
		}
	}
	if len(vs) == 1 {
		return &vs[0]
	}
	return nil
}

func (s *Resolver) enumLit(name string, v types.EnumValue, at, nameAt diag.Span) ref {
	s.ReferEnum(nameAt, v.Type, name)
	if v.Index < 0 {
		s.Errorf("FSM083", at, "%s is not in the domain that this check gives %s, but is needed here",
			diag.Quote(name), v.Type.Name)
		return errRef
	}
	return ref{e: &model.Lit{ExprBase: model.ExprBase{T: v.Type, Span: at}, Value: int64(v.Index)}}
}

func (s *Resolver) unknownName(n *syntax.Ident) {
	if s.Lenient || s.differs(n.Name, n.Pos()) {
		return
	}
	if s.Args != nil && s.Event != nil && types.FieldNamed(s.Event.Fields, n.Name) != nil {
		s.Errorf("FSM021", n.Pos(), "there is no name %s here", diag.Quote(n.Name)).
			With("a routine sees its own fields and what the role has; let it be given this one: `fields: {" +
				n.Name + ": …}`")
		return
	}
	if n.Name == "sender" && s.Own != nil && !s.Constant {
		s.Errorf("FSM021", n.Pos(), "only a message, `up` and `lost` have a sender")
		return
	}
	if s.Constant && s.Own == nil && n.Name != "" {
		s.UnknownAt("FSM021", n.Pos(), n.Name, "constant",
			append(s.Root.Get("consts").Keys(), slices.Sorted(maps.Keys(s.Enums))...))
		return
	}
	if played := s.playing(n.Name); len(played) > 0 {
		s.Errorf("FSM021", n.Pos(), "%s is a role, and here are its instances meant", diag.Quote(n.Name)).
			With("write " + strings.Join(played, " or "))
		return
	}
	if ways := s.ofInstances(n.Name); len(ways) > 0 {
		s.Errorf("FSM021", n.Pos(), "there is no name %s here", diag.Quote(n.Name)).
			With("say of which instance: " + strings.Join(ways, " or "))
		return
	}
	if slices.Contains(wordsForEvent, n.Name) && s.HasFields() && !s.Own.Has(model.MsgName) {
		s.Errorf("FSM021", n.Pos(), "there is no name %s", diag.Quote(n.Name)).
			With("write the name of the field alone, or `" + model.MsgName +
				".NAME` if the role has a value of that name; that is so for messages and commands alike")
		return
	}
	s.UnknownAt("FSM021", n.Pos(), n.Name, "name", s.names())
}

// wordsForEvent are what authors write for the event that is handled.
var wordsForEvent = []string{"cmd", "command", "event", "ev", "message", "m", "args", "fields", "report"}

// playing lists the instances of a role in the check, as they are written; a few of them if there are many.
func (s *Resolver) playing(role string) []string {
	var list []string
	add := func(text string, in *convert.Instance) {
		if len(list) < 3 && in.Model != nil && in.Model.Role != nil && in.Model.Role.Name == role {
			list = append(list, diag.Quote(text))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Instances)) {
		add(name, s.Instances[name])
	}
	for _, g := range slices.Sorted(maps.Keys(s.Groups)) {
		for k, in := range s.Groups[g].All {
			add(fmt.Sprintf("%s[%d]", g, s.Groups[g].Lo+int64(k)), in)
		}
	}
	return list
}

// ofInstances lists ways to write a name so that it means something in some instance of the check.
func (s *Resolver) ofInstances(name string) []string {
	var ways []string
	add := func(prefix string, in *convert.Instance) {
		if len(ways) < 3 && in.Names != nil && in.Names.Values[name] != nil {
			ways = append(ways, diag.Quote(prefix+"."+name))
		}
	}
	for _, in := range slices.Sorted(maps.Keys(s.Instances)) {
		add(in, s.Instances[in])
	}
	for _, g := range slices.Sorted(maps.Keys(s.Groups)) {
		if all := s.Groups[g].All; len(all) > 0 {
			add(fmt.Sprintf("%s[%d]", g, s.Groups[g].Lo), all[0])
		}
	}
	return ways
}

// names lists the names that the author could have meant.
func (s *Resolver) names() []string {
	names := slices.Sorted(maps.Keys(s.Args))
	for _, l := range s.Locals {
		names = append(names, l.Name)
	}
	names = append(names, slices.Sorted(maps.Keys(s.Instances))...)
	names = append(names, slices.Sorted(maps.Keys(s.Groups))...)
	names = append(names, slices.Sorted(maps.Keys(s.Monitors))...)
	for _, b := range s.Bindings {
		names = append(names, b.Name)
	}
	if s.Own != nil && !s.NoValues {
		names = append(names, slices.Sorted(maps.Keys(s.Own.Values))...)
	}
	return append(names, s.Declared()...)
}

// valueOf resolves a declared value of the machine that inst and path lead to.
func (s *Resolver) valueOf(ro *convert.Names, inst *model.Instance, path model.Path, name string,
	at diag.Span) ref {
	base := model.ExprBase{Span: at}
	direct := inst == nil && len(path) == 0
	if v := ro.Values[name]; v != nil {
		_, decl := convert.ValueKind(v)
		s.Refer(at, decl)
	}
	switch v := ro.Values[name].(type) {
	case *model.Var:
		s.Use(v.Span)
		if v.Type == nil {
			return errRef
		}
		if direct && (s.Constant || s.ParamsOnly && !ro.Params[v]) {
			s.Errorf("FSM025", at, "%s is a variable and may change; a constant is needed here",
				diag.Quote(name)).See(v.Span, "declared here")
			return errRef
		}
		base.T = v.Type
		return ref{e: &model.VarRef{ExprBase: base, Inst: inst, Path: path, Var: v}}
	case *model.Part:
		s.Use(v.Span)
		if v.Machine == nil {
			return errRef
		}
		if direct && s.Constant || s.ParamsOnly {
			break
		}
		if len(v.Keys) > 0 {
			return ref{part: v, runs: ro.Parts[v], inst: inst, path: path}
		}
		return ref{info: ro.Parts[v], inst: inst, path: append(slices.Clone(path),
			model.PathStep{Part: v})}
	case *model.State:
		base.T = types.Bool
		if !s.Constant && !s.ParamsOnly {
			return ref{e: &model.StateTest{ExprBase: base, Inst: inst, Path: path,
				States: []*model.State{v}}}
		}
	case *model.Composite:
		base.T = types.Bool
		if !s.Constant && !s.ParamsOnly {
			return ref{e: &model.StateTest{ExprBase: base, Inst: inst, Path: path, States: v.States}}
		}
	case *model.Timer:
		s.Use(v.Span)
		base.T = types.Bool
		if !s.Constant && !s.ParamsOnly && len(v.Keys) > 0 {
			return ref{timer: v, inst: inst, path: path}
		}
		if !s.Constant && !s.ParamsOnly {
			return ref{e: &model.TimerTest{ExprBase: base, Inst: inst, Path: path, Timer: v}}
		}
	case nil:
		if ro.Taken[name] {
			return errRef
		}
		if name == "down" && inst != nil && !inst.Monitor && len(path) == 0 {
			base.T = types.Bool
			return ref{e: &model.Down{ExprBase: base, Inst: inst}}
		}
		s.UnknownAt("FSM021", at, name, "variable or state of "+diag.Quote(ro.Machine.Name)+" named",
			slices.Sorted(maps.Keys(ro.Values)))
		return errRef
	}
	s.Errorf("FSM025", at, "%s may change; a constant is needed here", diag.Quote(name))
	return errRef
}

// differs reports a name that does not mean the same field in all events of a key.
func (s *Resolver) differs(name string, at diag.Span) bool {
	var has, lacks *model.Event
	var first *model.Field
	for _, ev := range s.Together {
		f := types.FieldNamed(ev.Fields, name)
		switch {
		case f == nil:
			lacks = ev
		case first == nil:
			has, first = ev, f
		case !types.Compatible(first.Type, f.Type) || !types.SameDomain(first.Type, f.Type):
			s.Errorf("FSM079", at, "%s is %s in %s, but %s in %s", diag.Quote(name),
				types.Describe(first.Type), diag.Quote(has.Name), types.Describe(f.Type),
				diag.Quote(ev.Name)).
				See(first.Span, "the one").See(f.Span, "the other").
				With("say what to do with each of the events on its own")
			return true
		}
	}
	if has == nil || lacks == nil {
		return false
	}
	s.Errorf("FSM079", at, "%s is a field of %s, but not of %s, for which this stands, too",
		diag.Quote(name), diag.Quote(has.Name), diag.Quote(lacks.Name)).
		See(first.Span, "the field").With("say what to do with each of the events on its own")
	return true
}
