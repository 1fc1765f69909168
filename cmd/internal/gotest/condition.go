package gotest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/model"
)

// translator writes expressions of checks as Go over the members of generated machines. The
// expressions are those of a model that was narrowed for the check; the machines are those of the
// full one, so types are followed in both. Numbers become int64, values of enumerations and texts
// become strings.
type translator struct {
	w      *writer
	self   *model.Instance // the instance an environment rule is about
	locals map[*model.Local]term
}

// term is a translated expression.
type term struct {
	code string
	// full is the type in the full model if code is a member or an element as the generated package
	// has it; else nil, and code is a bool, int64 or string.
	full *model.Type
}

// untranslatable is why an expression has no translation.
type untranslatable string

// condition translates a condition; why says, if ok is false, what cannot be translated.
func (x *translator) condition(e core.Expr) (code, why string, ok bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case untranslatable:
			code, why, ok = "", string(r), false
		default:
			panic(r)
		}
	}()
	return x.plain(e), "", true
}

func (x *translator) no(e core.Expr) term { panic(untranslatable(model.ExprString(e.Node().From))) }

// plain translates a scalar expression to a bool, an int64 or a string.
func (x *translator) plain(e core.Expr) string { return x.scalar(e, x.term(e)) }

func (x *translator) scalar(e core.Expr, t term) string {
	if t.full == nil {
		return t.code
	}
	switch t.full.Kind {
	case model.KindBool:
		return t.code
	case model.KindEnum, model.KindBytes:
		return t.code + ".String()"
	case model.KindInt, model.KindNode, model.KindOpaque:
		return "int64(" + t.code + ")"
	case model.KindSet:
		return "uint64(" + t.code + ")"
	}
	return x.no(e).code
}

func (x *translator) term(e core.Expr) term {
	switch e := e.(type) {
	case *core.Const:
		switch {
		case e.IsText:
			return term{code: strconv.Quote(e.Text)}
		case e.T.Kind != model.KindOptional:
			return term{code: literal(e.T, e.Value)}
		}
	case *core.Local:
		if t, ok := x.locals[e.Local]; ok {
			return t
		}
	case *core.Read:
		return x.read(e)
	case *core.Field:
		if e.Field == nil {
			return x.unwrapped(e)
		}
		return x.field(e)
	case *core.Index:
		return x.index(e)
	case *core.Apply:
		return x.apply(e)
	case *core.If:
		return x.choice(e)
	case *core.Fold:
		switch e.How {
		case core.All, core.Some:
			return x.quantified(e)
		case core.Count:
			loop, with := x.loop(e)
			loop = round(loop, "if "+with+x.plain(e.Where)+" { n++ }")
			return term{code: "func() int64 { n := int64(0); " + loop + "; return n }()"}
		}
	case *core.Fit:
		return x.term(e.X)
	case *core.Observe:
		return term{code: "int64(" + x.length(e.Of) + ")"}
	}
	return x.no(e)
}

func (x *translator) read(e *core.Read) term {
	if e.What == core.ReadDown {
		return term{code: fmt.Sprintf("w.Crashed(%q)", e.Inst.Name)}
	}
	at, m := x.machine(&e.Place)
	switch e.What {
	case core.ReadTimer:
		return term{code: at + "." + Member(m, e.Timer.Name)}
	case core.ReadState:
		var list []string
		for _, st := range e.Is {
			list = append(list, fmt.Sprintf("%s.State.String() == %q", at, st.Name))
		}
		return term{code: "(" + strings.Join(list, " || ") + ")"}
	}
	return term{at + "." + Member(m, e.Var.Name), variable(m, e.Var.Name)}
}

func (x *translator) unwrapped(e *core.Field) term {
	if f, ok := first(e.X); ok && e.T.Scalar() {
		typ := goType(e.T)
		absent := map[string]string{"bool": "false", "string": `""`, "int64": "0"}[typ]
		return term{code: x.find(f, func(v string) string { return v }, typ, absent)}
	}
	t := x.term(e.X)
	if t.full == nil || t.full.Kind != model.KindOptional {
		return t
	}
	return term{t.code + ".Value", t.full.Elem}
}

func (x *translator) field(e *core.Field) term {
	t := x.term(e.X)
	if t.full == nil || t.full.Kind != model.KindRecord {
		return x.no(e)
	}
	names := make([]string, len(t.full.Fields))
	for i, f := range t.full.Fields {
		names[i] = f.Name
	}
	return term{t.code + "." + golang.GoNames(names...)[e.Field.Index], t.full.Fields[e.Field.Index].Type}
}

// literal is a constant: an enumeration's by its name.
func literal(t *model.Type, v int64) string {
	switch t.Kind {
	case model.KindBool:
		return strconv.FormatBool(v != 0)
	case model.KindEnum:
		return strconv.Quote(t.Names[v])
	}
	return strconv.FormatInt(v, 10)
}

// machine is the Go expression for the machine that a place leads to, and its model in the full
// specification.
func (x *translator) machine(p *core.Place) (string, *model.Machine) {
	inst := p.Inst
	if inst == nil {
		inst = x.self
	}
	m := x.w.role(inst.Role.Name)
	code := x.w.vars[inst.Index] + ".Machine"
	for _, step := range p.Path {
		part := m.Parts[step.Part.Index]
		code += "." + Member(m, part.Name)
		for i, k := range step.Keys {
			code += "[" + x.ordinal(k, part.Keys[i].Type) + "]"
		}
		m = part.Machine
	}
	return code, m
}

// ordinal is the place of a value of type t of the full model in an array.
func (x *translator) ordinal(e core.Expr, t *model.Type) string {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		if t.Lo == 0 {
			return x.plain(e)
		}
		return fmt.Sprintf("%s-(%d)", x.plain(e), t.Lo)
	case model.KindEnum:
		return fmt.Sprintf("slices.Index(%s, %s)", stringList(t.Names), x.plain(e))
	case model.KindBool:
		return "map[bool]int{true: 1}[" + x.plain(e) + "]"
	}
	return x.no(e).code
}

func stringList(names []string) string { return fmt.Sprintf("%#v", names) }

func (x *translator) index(e *core.Index) term {
	t := x.term(e.X)
	switch {
	case t.full == nil:
	case t.full.Kind == model.KindArray:
		return term{t.code + "[" + x.ordinal(e.I, t.full.Index) + "]", t.full.Elem}
	case t.full.Kind == model.KindList, t.full.Kind == model.KindBytes:
		return term{t.code + ".Items[" + x.plain(e.I) + "]", t.full.Elem}
	}
	return x.no(e)
}

// choice is if(), &&, || and =>.
func (x *translator) choice(e *core.If) term {
	switch e.Form {
	case core.FormAnd:
		return term{code: "(" + x.plain(e.Cond) + " && " + x.plain(e.Then) + ")"}
	case core.FormOr:
		return term{code: "(" + x.plain(e.Cond) + " || " + x.plain(e.Else) + ")"}
	case core.FormImplies:
		return term{code: "(!" + x.plain(e.Cond) + " || " + x.plain(e.Then) + ")"}
	}
	if !e.T.Scalar() {
		return x.no(e)
	}
	return term{code: fmt.Sprintf("func() %s { if %s { return %s }; return %s }()", goType(e.T),
		x.plain(e.Cond), x.plain(e.Then), x.plain(e.Else))}
}

// apply is an operation.
func (x *translator) apply(e *core.Apply) term {
	a := core.Bare(e.Args[0])
	switch e.Op {
	case core.Not:
		return term{code: "!" + x.plain(a)}
	case core.Neg:
		return term{code: "(-" + x.plain(a) + ")"}
	case core.Eq:
		return term{code: "(" + x.equal(a, e.Args[1]) + ")"}
	case core.Ne:
		return term{code: "!(" + x.equal(a, e.Args[1]) + ")"}
	case core.Add, core.Sub, core.Mul, core.Div, core.Mod, core.Lt, core.Le, core.Gt, core.Ge:
		if a.Node().T.Kind != model.KindEnum { // enumerations have no order here
			return term{code: "(" + x.plain(a) + " " + e.Op.String() + " " + x.plain(e.Args[1]) + ")"}
		}
	case core.Min, core.Max:
		return term{code: e.Op.String() + "(" + x.plain(a) + ", " + x.plain(e.Args[1]) + ")"}
	case core.Len:
		return x.size(e, a)
	case core.Head:
		if l, ok := x.list(a); ok && computed(a) {
			return term{code: l + "[0]"}
		}
		if t := x.term(a); t.full != nil && t.full.Kind == model.KindList {
			return term{t.code + ".Items[0]", t.full.Elem}
		}
	case core.Has:
		if a.Node().T.Kind == model.KindSet {
			return term{code: x.has(a, x.plain(e.Args[1]))}
		}
		if l, ok := x.list(a); ok {
			return term{code: "slices.Contains(" + l + ", " + x.plain(e.Args[1]) + ")"}
		}
	}
	return x.no(e)
}

// size is len(a).
func (x *translator) size(e *core.Apply, a core.Expr) term {
	if computed(a) {
		if t := a.Node().T; t.Kind == model.KindSet {
			head, v := x.values(t.Elem, e)
			const count = "func() int64 { n := int64(0); for %s { if %s { n++ } }; return n }()"
			return term{code: fmt.Sprintf(count, head, x.has(a, v))}
		}
		if l, ok := x.list(a); ok {
			return term{code: "int64(len(" + l + "))"}
		}
	}
	t := x.term(a)
	switch {
	case t.full == nil:
	case t.full.Kind == model.KindList:
		return term{code: "int64(" + t.code + ".Len)"}
	case t.full.Kind == model.KindSet:
		return term{code: "int64(bits.OnesCount64(uint64(" + t.code + ")))"}
	}
	return x.no(e)
}

// equal compares two values.
func (x *translator) equal(a, b core.Expr) string {
	a, b = core.Bare(a), core.Bare(b)
	if none(a) || some(a) != nil && !none(b) {
		a, b = b, a
	}
	if f, ok := first(b); ok {
		return x.found(f, a)
	}
	if f, ok := first(a); ok {
		return x.found(f, b)
	}
	if computed(a) || computed(b) {
		if code, ok := x.together(a, b); ok {
			return code
		}
	}
	if none(b) {
		return "!" + x.term(a).code + ".Present"
	}
	if value := some(b); value != nil {
		t := x.term(a)
		if t.full == nil || t.full.Kind != model.KindOptional {
			return x.equal(a, value)
		}
		return t.code + ".Present && " + x.scalar(a, term{t.code + ".Value", t.full.Elem}) + " == " + x.plain(value)
	}
	s, t := x.term(a), x.term(b)
	if s.full == nil || s.full.Scalar() {
		return x.scalar(a, s) + " == " + x.scalar(b, t)
	}
	if t.full == nil || t.full != s.full && (t.full.Name == "" || t.full.Name != s.full.Name) &&
		model.TypeString(t.full) != model.TypeString(s.full) {
		x.no(a)
	}
	return s.code + " == " + t.code
}

// none reports whether e is the absent value.
func none(e core.Expr) bool {
	c, ok := e.(*core.Const)
	return ok && c.T.Kind == model.KindOptional
}

// some returns what an optional is made of; nil if e makes none.
func some(e core.Expr) core.Expr {
	if m, ok := e.(*core.Make); ok && m.T.Kind == model.KindOptional {
		return m.Elems[0]
	}
	return nil
}

// first reports whether e is first(x in T: C).
func first(e core.Expr) (*core.Fold, bool) {
	f, ok := core.Bare(e).(*core.Fold)
	return f, ok && f.How == core.First
}

// computed reports whether a list or set is no variable, field or element, but made by the expression.
func computed(e core.Expr) bool {
	switch e := e.(type) {
	case *core.Make:
		return e.T.Kind == model.KindList || e.T.Kind == model.KindSet
	case *core.Fold:
		return e.How >= core.List
	case *core.Apply, *core.If:
		return e.Node().T.Kind == model.KindSet
	}
	return false
}

// length is the number of messages in the channels that an expression looks at.
func (x *translator) length(e *model.ChanLen) string {
	message := ""
	if e.Message != nil {
		message = e.Message.Name
	}
	count := "Len"
	if e.News {
		count = "Pending"
	}
	if e.From == nil && e.To == nil && !e.Self && !e.News {
		return fmt.Sprintf("w.Total(%q%s)", message, x.w.over(e.Over))
	}
	var list []string
	for _, a := range x.w.check.Instances {
		for _, b := range x.w.check.Instances {
			from, to := e.From == nil || e.From == a, e.To == nil || e.To == b
			if e.Self {
				from, to = !e.Out || a == x.self, e.Out || b == x.self
			}
			if a != b && from && to {
				list = append(list, fmt.Sprintf("w.%s(%q, %q, %q%s)", count, a.Name, b.Name, message, x.w.over(e.Over)))
			}
		}
	}
	return strings.Join(list, " + ")
}

// Member is the Go name of a variable, parameter, timer or part of a machine.
func Member(m *model.Machine, name string) string {
	names := golang.MachineMembers(m)[1:]
	i := 0
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			if v.Name == name {
				return names[i]
			}
			i++
		}
	}
	for _, t := range m.Timers {
		if t.Name == name {
			return names[i]
		}
		i++
	}
	for _, p := range m.Parts {
		if p.Name == name {
			return names[i]
		}
		i++
	}
	panic(untranslatable(name))
}

// variable is the type of a variable or parameter.
func variable(m *model.Machine, name string) *model.Type {
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			if v.Name == name {
				return v.Type
			}
		}
	}
	panic(untranslatable(name))
}
