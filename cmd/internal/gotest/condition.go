package gotest

import (
	"fmt"
	"strconv"
	"strings"

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
func (x *translator) condition(e model.Expr) (code, why string, ok bool) {
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

func (x *translator) no(e model.Expr) term { panic(untranslatable(model.ExprString(e))) }

// plain translates a scalar expression to a bool, an int64 or a string.
func (x *translator) plain(e model.Expr) string { return x.scalar(e, x.term(e)) }

func (x *translator) scalar(e model.Expr, t term) string {
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

func (x *translator) term(e model.Expr) term {
	switch e := e.(type) {
	case *model.Lit:
		return term{code: literal(e)}
	case *model.Text:
		return term{code: strconv.Quote(e.Value)}
	case *model.Unwrap:
		return x.unwrapped(e)
	case *model.VarRef:
		at, m := x.machine(e.Inst, e.Path)
		return term{at + "." + member(m, e.Var.Name), variable(m, e.Var.Name)}
	case *model.LocalRef:
		if t, ok := x.locals[e.Local]; ok {
			return t
		}
	case *model.StateTest:
		at, _ := x.machine(e.Inst, e.Path)
		var list []string
		for _, st := range e.States {
			list = append(list, fmt.Sprintf("%s.State.String() == %q", at, st.Name))
		}
		return term{code: "(" + strings.Join(list, " || ") + ")"}
	case *model.TimerTest:
		at, m := x.machine(e.Inst, e.Path)
		return term{code: at + "." + member(m, e.Timer.Name)}
	case *model.Down:
		return term{code: fmt.Sprintf("w.Crashed(%q)", e.Inst.Name)}
	case *model.FieldRef:
		return x.field(e)
	case *model.Index:
		return x.index(e)
	case *model.Unary:
		if e.Op == model.OpNot {
			return term{code: "!" + x.plain(e.X)}
		}
		return term{code: "(-" + x.plain(e.X) + ")"}
	case *model.Binary:
		return x.binary(e)
	case *model.Call:
		return x.call(e)
	case *model.Quantified:
		return x.quantified(e)
	case *model.Find:
		if e.Count {
			loop, with := x.loop(e, e.Local, e.Values, e.Over)
			return term{code: "func() int64 { n := int64(0); " +
				round(loop, "if "+with+x.plain(e.X)+" { n++ }") + "; return n }()"}
		}
	case *model.ChanLen:
		return term{code: "int64(" + x.length(e) + ")"}
	}
	return x.no(e)
}

func (x *translator) unwrapped(e *model.Unwrap) term {
	if f, ok := e.X.(*model.Find); ok && !f.Count && e.T.Scalar() {
		typ := goType(e.T)
		return term{code: x.find(f, func(v string) string { return v }, typ,
			map[string]string{"bool": "false", "string": `""`, "int64": "0"}[typ])}
	}
	t := x.term(e.X)
	if t.full == nil || t.full.Kind != model.KindOptional {
		return t
	}
	return term{t.code + ".Value", t.full.Elem}
}

func (x *translator) field(e *model.FieldRef) term {
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
func literal(e *model.Lit) string {
	switch e.T.Kind {
	case model.KindBool:
		return strconv.FormatBool(e.Value != 0)
	case model.KindEnum:
		return strconv.Quote(e.T.Names[e.Value])
	}
	return strconv.FormatInt(e.Value, 10)
}

// machine is the Go expression for the machine at the end of a path, and its model in the full
// specification.
func (x *translator) machine(inst *model.Instance, path model.Path) (string, *model.Machine) {
	if inst == nil {
		inst = x.self
	}
	m := x.w.role(inst.Role.Name)
	code := x.w.vars[inst.Index] + ".Machine"
	for _, step := range path {
		part := m.Parts[step.Part.Index]
		code += "." + member(m, part.Name)
		for i, k := range step.Keys {
			code += "[" + x.ordinal(k, part.Keys[i].Type) + "]"
		}
		m = part.Machine
	}
	return code, m
}

// ordinal is the place of a value of type t of the full model in an array.
func (x *translator) ordinal(e model.Expr, t *model.Type) string {
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

func (x *translator) index(e *model.Index) term {
	t := x.term(e.X)
	switch {
	case t.full == nil:
	case t.full.Kind == model.KindArray:
		return term{t.code + "[" + x.ordinal(e.I, t.full.Index) + "]", t.full.Elem}
	case t.full.Kind == model.KindList:
		return term{t.code + ".Items[" + x.plain(e.I) + "]", t.full.Elem}
	}
	return x.no(e)
}

var goOps = map[model.Op]string{model.OpAdd: "+", model.OpSub: "-", model.OpMul: "*", model.OpDiv: "/",
	model.OpMod: "%",
	model.OpLt:  "<", model.OpLe: "<=", model.OpGt: ">", model.OpGe: ">=", model.OpAnd: "&&", model.OpOr: "||"}

func (x *translator) binary(e *model.Binary) term {
	switch e.Op {
	case model.OpImplies:
		return term{code: "(!" + x.plain(e.X) + " || " + x.plain(e.Y) + ")"}
	case model.OpEq, model.OpNe:
		not := ""
		if e.Op == model.OpNe {
			not = "!"
		}
		return term{code: not + "(" + x.equal(e.X, e.Y) + ")"}
	}
	if e.X.Type().Kind == model.KindEnum {
		return x.no(e) // enumerations have no order here
	}
	return term{code: "(" + x.plain(e.X) + " " + goOps[e.Op] + " " + x.plain(e.Y) + ")"}
}

// equal compares two values.
func (x *translator) equal(a, b model.Expr) string {
	if _, ok := a.(*model.None); ok {
		a, b = b, a
	}
	if _, ok := a.(*model.Some); ok {
		a, b = b, a
	}
	if f, ok := b.(*model.Find); ok && !f.Count {
		a, b = b, a
	}
	if f, ok := a.(*model.Find); ok && !f.Count {
		return x.found(f, b)
	}
	if computed(a) || computed(b) {
		if code, ok := x.together(a, b); ok {
			return code
		}
	}
	switch b := b.(type) {
	case *model.None:
		return "!" + x.term(a).code + ".Present"
	case *model.Some:
		t := x.term(a)
		if t.full == nil || t.full.Kind != model.KindOptional {
			return x.equal(a, b.X)
		}
		return t.code + ".Present && " + x.scalar(a, term{t.code + ".Value", t.full.Elem}) + " == " + x.plain(b.X)
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

// computed reports whether a list or set is no variable, field or element, but made by the expression.
func computed(e model.Expr) bool {
	switch e := e.(type) {
	case *model.ListLit, *model.Build:
		return true
	case *model.Call:
		return e.T.Kind == model.KindSet
	}
	return false
}

func (x *translator) call(e *model.Call) term {
	switch e.Fn {
	case model.FnMin, model.FnMax:
		name := map[model.Builtin]string{model.FnMin: "min", model.FnMax: "max"}[e.Fn]
		return term{code: name + "(" + x.plain(e.Args[0]) + ", " + x.plain(e.Args[1]) + ")"}
	case model.FnIf:
		if e.T.Scalar() {
			typ := map[model.TypeKind]string{model.KindBool: "bool", model.KindEnum: "string",
				model.KindBytes: "string"}[e.T.Kind]
			if typ == "" {
				typ = "int64"
			}
			return term{code: fmt.Sprintf("func() %s { if %s { return %s }; return %s }()", typ,
				x.plain(e.Args[0]), x.plain(e.Args[1]), x.plain(e.Args[2]))}
		}
	case model.FnLen:
		if computed(e.Args[0]) {
			if e.Args[0].Type().Kind == model.KindSet {
				head, v := x.values(e.Args[0].Type().Elem, e)
				return term{code: fmt.Sprintf("func() int64 { n := int64(0); for %s { if %s { n++ } }; "+
					"return n }()", head, x.has(e.Args[0], v))}
			}
			if l, ok := x.list(e.Args[0]); ok {
				return term{code: "int64(len(" + l + "))"}
			}
		}
		t := x.term(e.Args[0])
		switch {
		case t.full == nil:
		case t.full.Kind == model.KindList:
			return term{code: "int64(" + t.code + ".Len)"}
		case t.full.Kind == model.KindSet:
			return term{code: "int64(bits.OnesCount64(uint64(" + t.code + ")))"}
		}
	case model.FnFirst:
		if l, ok := x.list(e.Args[0]); ok && computed(e.Args[0]) {
			return term{code: l + "[0]"}
		}
		if t := x.term(e.Args[0]); t.full != nil && t.full.Kind == model.KindList {
			return term{t.code + ".Items[0]", t.full.Elem}
		}
	case model.FnContains:
		if e.Args[0].Type().Kind == model.KindSet {
			return term{code: x.has(e.Args[0], x.plain(e.Args[1]))}
		}
		if l, ok := x.list(e.Args[0]); ok {
			return term{code: "slices.Contains(" + l + ", " + x.plain(e.Args[1]) + ")"}
		}
	}
	return x.no(e)
}

// length is the number of messages in the channels that an expression looks at.
func (x *translator) length(e *model.ChanLen) string {
	message := ""
	if e.Message != nil {
		message = e.Message.Name
	}
	if e.From == nil && e.To == nil && !e.Self {
		return fmt.Sprintf("w.Total(%q)", message)
	}
	var list []string
	for _, a := range x.w.check.Instances {
		for _, b := range x.w.check.Instances {
			from, to := e.From == nil || e.From == a, e.To == nil || e.To == b
			if e.Self {
				from, to = !e.Out || a == x.self, e.Out || b == x.self
			}
			if a != b && from && to {
				list = append(list, fmt.Sprintf("w.Len(%q, %q, %q)", a.Name, b.Name, message))
			}
		}
	}
	return strings.Join(list, " + ")
}

// member is the Go name of a variable, parameter, timer or part of a machine.
func member(m *model.Machine, name string) string {
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
