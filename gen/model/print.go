package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ExprString writes e as an author would: with constants by name, and no more parentheses than
// needed. It leaves out what the resolver has added ([Some], [Unwrap]), and writes what the
// resolver has expanded in the author's words ([ExprBase.Written]). For a nil e it returns "".
func ExprString(e Expr) string { return author.whole(e) }

// ExprWith is ExprString with names in the place of some constants.
func ExprWith(e Expr, names map[*Lit]string) string {
	return printer{author: true, names: names}.whole(e)
}

// MeaningString writes all of e, including what the resolver has expanded. Expressions with equal
// texts mean the same. The author's words do not promise that, once a copy of e means something
// else.
func MeaningString(e Expr) string { return printer{}.whole(e) }

// MeaningAt is MeaningString with constants in the place of locals.
func MeaningAt(e Expr, values map[*Local]*Lit) string { return printer{values: values}.whole(e) }

// printer writes expressions, either in the author's words or in full.
type printer struct {
	author bool
	values map[*Local]*Lit // what locals are written as; nil: by their names
	names  map[*Lit]string // what constants are written as
}

func (p printer) whole(e Expr) string {
	if e == nil {
		return ""
	}
	return p.expr(e, precLowest)
}

// InstanceString writes the role of an instance and its arguments, with their names.
func InstanceString(in *Instance) string {
	if len(in.Role.Params) == 0 {
		return in.Role.Name
	}
	var args []string
	for i, p := range in.Role.Params {
		args = append(args, p.Name+": "+ExprString(in.Args[i]))
	}
	return in.Role.Name + "(" + strings.Join(args, ", ") + ")"
}

// TypeString writes t by its name, or as it is written where it has none.
func TypeString(t *Type) string {
	if t.Name != "" {
		return t.Name
	}
	switch t.Kind {
	case KindBool:
		return "bool"
	case KindInt:
		switch {
		case t.Lo == 0 && t.Hi == 1<<8-1:
			return "u8"
		case t.Lo == 0 && t.Hi == 1<<16-1:
			return "u16"
		case t.Lo == 0 && t.Hi == 1<<32-1:
			return "u32"
		}
		return fmt.Sprintf("%d..%d", t.Lo, t.Hi)
	case KindEnum:
		return "{enum: [" + strings.Join(t.Names, ", ") + "]}"
	case KindOpaque:
		return fmt.Sprintf("opaque u%d", t.Bits)
	case KindBytes:
		return BytesString(t)
	case KindOptional:
		return TypeString(t.Elem) + "?"
	case KindRecord:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = f.Name + ": " + TypeString(f.Type)
		}
		return "{record: {" + strings.Join(fields, ", ") + "}}"
	case KindArray:
		return "{array: " + TypeString(t.Index) + ", of: " + TypeString(t.Elem) + "}"
	case KindList:
		return fmt.Sprintf("{list: %s, max: %d}", TypeString(t.Elem), t.Cap)
	case KindSet:
		return "{set: " + TypeString(t.Elem) + "}"
	case KindNode:
		return "instance"
	}
	return "?"
}

// BytesString returns a type of texts or bytes as authors write it.
func BytesString(t *Type) string {
	switch {
	case t.Exact:
		return fmt.Sprintf("bytes %d", t.Cap)
	case t.Binary:
		return fmt.Sprintf("bytes up to %d", t.Cap)
	}
	return fmt.Sprintf("text %d", t.Cap)
}

// Precedences, loosest first.
const (
	precLowest = iota
	precImplies
	precOr
	precAnd
	precCompare
	precAdd
	precMul
	precUnary
	precPostfix
)

// operators has the text and precedence of each binary operator.
var operators = map[Op]struct {
	text string
	prec int
}{
	OpImplies: {"=>", precImplies},
	OpOr:      {"||", precOr}, OpAnd: {"&&", precAnd},
	OpEq: {"==", precCompare}, OpNe: {"!=", precCompare},
	OpLt: {"<", precCompare}, OpLe: {"<=", precCompare},
	OpGt: {">", precCompare}, OpGe: {">=", precCompare},
	OpAdd: {"+", precAdd}, OpSub: {"-", precAdd},
	OpMul: {"*", precMul}, OpDiv: {"/", precMul}, OpMod: {"%", precMul},
}

// String returns the operator as it is written.
func (o Op) String() string {
	switch o {
	case OpNot:
		return "!"
	case OpNeg:
		return "-"
	}
	return operators[o].text
}

var builtins = [...]string{
	FnLen: "len", FnMin: "min", FnMax: "max", FnAppend: "append", FnTail: "tail", FnFirst: "first",
	FnContains: "contains", FnWith: "with", FnWithout: "without", FnIf: "if",
	FnUnion: "union", FnMinus: "minus", FnIntersect: "intersect",
}

// String returns the function's name.
func (b Builtin) String() string { return builtins[b] }

// printExpr writes e, in parentheses if it binds less tightly than prec.
func (p printer) expr(e Expr, prec int) string {
	if w := e.written(); p.author && w.Text != "" {
		own := precPostfix
		if w.Loose {
			own = precCompare
		}
		return paren(w.Text, own, prec)
	}
	switch e := e.(type) {
	case *Lit:
		if name := p.names[e]; name != "" {
			return name
		}
		return printLit(e)
	case *Text:
		return strconv.Quote(e.Value)
	case *None:
		return "none"
	case *Some:
		return p.expr(e.X, prec)
	case *Unwrap:
		return p.expr(e.X, prec)
	case *VarRef:
		return p.path(e.Inst, e.Path) + e.Var.Name
	case *LocalRef:
		if v := p.values[e.Local]; v != nil {
			return printLit(v)
		}
		if e.Local.Hidden {
			return MsgName + "." + e.Local.Name
		}
		return e.Local.Name
	case *Down:
		return p.path(e.Inst, nil) + "down"
	case *Sender:
		return "sender"
	case *StateTest:
		return p.states(e, prec)
	case *TimerTest:
		return p.path(e.Inst, e.Path) + p.timer(e.Timer, e.Keys)
	case *FieldRef:
		return p.expr(e.X, precPostfix) + "." + e.Field.Name
	case *Index:
		return p.expr(e.X, precPostfix) + "[" + p.whole(e.I) + "]"
	case *Unary:
		return paren(e.Op.String()+p.expr(e.X, precUnary), precUnary, prec)
	case *Binary:
		return p.binary(e, prec)
	case *Call:
		return p.call(e, prec)
	}
	return p.compound(e)
}

// printCompound writes the kinds of expression that have brackets of their own.
func (p printer) compound(e Expr) string {
	switch e := e.(type) {
	case *RecordLit:
		return e.T.Name + p.fields(e.T.Fields, e.Fields)
	case *ListLit:
		return "[" + p.list(e.Elems) + "]"
	case *Build:
		text := "[" + p.whole(e.Elem) + " for " + e.Local.Name + " in " + p.over(e.Values, e.Over)
		if e.If != nil {
			text += " if " + p.whole(e.If)
		}
		return text + "]"
	case *Find:
		word := "first"
		if e.Count {
			word = "count"
		}
		return word + "(" + e.Local.Name + " in " + p.over(e.Values, e.Over) + ": " + p.whole(e.X) + ")"
	case *Quantified:
		word := "some"
		if e.All {
			word = "all"
		}
		return word + "(" + e.Local.Name + " in " + p.over(e.Values, e.Over) + ": " + p.whole(e.X) + ")"
	case *ChanLen:
		return p.chanLen(e)
	}
	return fmt.Sprintf("%T", e)
}

func paren(s string, own, prec int) string {
	if own < prec {
		return "(" + s + ")"
	}
	return s
}

func printLit(e *Lit) string {
	switch t := e.T; {
	case e.Const != "":
		return e.Const
	case t == nil:
	case t.Kind == KindBool:
		return strconv.FormatBool(e.Value != 0)
	case t.Kind == KindEnum && e.Value >= 0 && e.Value < int64(len(t.Names)):
		return t.Names[e.Value]
	}
	return strconv.FormatInt(e.Value, 10)
}

func (p printer) binary(e *Binary, prec int) string {
	op := operators[e.Op]
	left, right := op.prec, op.prec+1
	switch op.prec {
	case precImplies: // groups to the right
		left, right = op.prec+1, op.prec
	case precCompare: // legal in Go without parentheses, but nobody can read it
		left = op.prec + 1
	}
	if c, ok := e.X.(*ChanLen); ok && e.Op == OpEq && c.News && isZero(e.Y) {
		return "empty" + strings.TrimPrefix(p.chanLen(c), "len")
	}
	return paren(p.expr(e.X, left)+" "+op.text+" "+p.expr(e.Y, right), op.prec, prec)
}

func isZero(e Expr) bool {
	l, ok := e.(*Lit)
	return ok && l.Value == 0
}

// states writes a test for several states as the tests for each, or as that for the composite state that
// has just these.
func (p printer) states(e *StateTest, prec int) string {
	if len(e.States) > 0 {
		for c := e.States[0].In; c != nil; c = c.In {
			if slices.Equal(c.States, e.States) {
				return p.path(e.Inst, e.Path) + c.Name
			}
		}
	}
	tests := make([]string, len(e.States))
	for i, s := range e.States {
		tests[i] = p.path(e.Inst, e.Path) + s.Name
	}
	if len(tests) == 1 {
		return tests[0]
	}
	return paren(strings.Join(tests, " || "), precOr, prec)
}

func (p printer) call(e *Call, prec int) string {
	if e.Fn == FnContains && len(e.Args) == 2 {
		if _, ok := e.Args[0].(*ListLit); ok {
			return paren(p.expr(e.Args[1], precAdd)+" in "+p.whole(e.Args[0]), precCompare, prec)
		}
	}
	return e.Fn.String() + "(" + p.list(e.Args) + ")"
}

func (p printer) list(list []Expr) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = p.whole(e)
	}
	return strings.Join(parts, ", ")
}

// printFields writes the fields of a literal: `{slot: 3, value}`, nothing without fields.
func (p printer) fields(fields []*Field, values []Expr) string {
	if len(fields) == 0 {
		return ""
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		v := ""
		if i < len(values) {
			v = p.whole(values[i])
		}
		if parts[i] = f.Name + ": " + v; v == f.Name {
			parts[i] = v
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p printer) over(values *Type, over Expr) string {
	if values != nil {
		return TypeString(values)
	}
	return p.whole(over)
}

// printPath writes the way to a machine with a dot behind it: `a.fleet[true, 0].`.
func (p printer) path(inst *Instance, path Path) string {
	var b strings.Builder
	if inst != nil {
		b.WriteString(inst.Name + ".")
	}
	for _, s := range path {
		b.WriteString(p.part(s.Part, s.Keys) + ".")
	}
	return b.String()
}

func (p printer) part(part *Part, keys []Expr) string {
	if len(keys) == 0 {
		return part.Name
	}
	return part.Name + "[" + p.list(keys) + "]"
}

func (p printer) timer(t *Timer, keys []Expr) string {
	if len(keys) == 0 {
		return t.Name
	}
	return t.Name + "[" + p.list(keys) + "]"
}

func (p printer) chanLen(e *ChanLen) string {
	var args []string
	switch {
	case e.Self && e.Out:
		args = append(args, "out")
	case e.Self:
		args = append(args, "in")
	case e.From != nil && e.To != nil:
		args = append(args, e.From.Name+" -> "+e.To.Name)
	}
	if e.Message != nil {
		args = append(args, e.Message.Name)
	}
	if e.Over != "" {
		args = append(args, e.Over)
	}
	return "len(" + strings.Join(args, ", ") + ")"
}
