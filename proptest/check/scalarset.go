package check

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Which types have values that may be exchanged for each other? A type that is
// only copied and compared with itself is a set of interchangeable values. One
// that also selects parts and elements of arrays is a set of interchangeable
// indices: exchanging two of them must exchange what they select, too. This file
// looks at every expression and statement that a check can execute or evaluate
// and collects what speaks against either.

// Interchangeable types have this many values at most, indices so many.
const (
	maxValues  = 64
	maxIndices = 6
)

// use is how a named type is used.
type use struct {
	t *model.Type
	// fixed is the first reason why no two values may be exchanged at all; index
	// the first use as an index. Empty: none.
	fixed, index string
	// kept are functions that an exchange must not change, by value; a value that
	// is computed with is no interchangeable value, but may be an index.
	kept     [][]int64
	computed string
}

// uses are the types of a check by tag.
type uses struct {
	s    *System
	by   map[string]*use
	tags []string // in the order of first use
	seen map[*model.Machine]bool
	eval interp.Eval
	// addressed says where an instance is named by a number; empty: nowhere.
	addressed string
}

// tagOf identifies a type whose values could be interchangeable; empty: not one.
// Values of two types with one tag can be assigned to each other as they are.
func tagOf(t *model.Type) string {
	if t == nil || t.Name == "" {
		return ""
	}
	switch t.Kind {
	case model.KindInt, model.KindEnum, model.KindOpaque:
		if n := t.Count(); n >= 2 && n <= maxValues {
			return fmt.Sprintf("%d %s %d %d", t.Kind, t.Name, lowest(t), n)
		}
	}
	return ""
}

// lowest is the number of a type's first value.
func lowest(t *model.Type) int64 {
	if t.Kind == model.KindInt || t.Kind == model.KindNode {
		return t.Lo
	}
	return 0
}

// usesOf looks at everything in the check.
func usesOf(s *System) *uses {
	u := &uses{s: s, by: map[string]*use{}, seen: map[*model.Machine]bool{}}
	u.eval.Strings = s.strs
	for _, p := range s.procs {
		u.machine(p.role)
	}
	for _, r := range s.Check.Rules {
		u.visit(r.When)
		for i, f := range r.Command.Fields {
			u.pair(r.Params[i].Type, f.Type, r.Span)
		}
	}
	for _, c := range s.Check.Claims {
		u.visit(c.When)
		u.visit(c.Expr)
		for _, e := range c.Exprs {
			u.visit(e)
			u.pair(c.Exprs[0].Type(), e.Type(), c.Span)
		}
	}
	u.visit(s.Check.Quiet)
	return u
}

func (u *uses) use(t *model.Type) *use {
	tag := tagOf(t)
	if tag == "" {
		return nil
	}
	x := u.by[tag]
	if x == nil {
		x = &use{t: t}
		u.by[tag] = x
		u.tags = append(u.tags, tag)
	}
	return x
}

// fix says why the values of t, and of what is inside t, are not interchangeable.
func (u *uses) fix(t *model.Type, at diag.Span, why string) {
	leaves(t, func(t *model.Type) {
		if x := u.use(t); x != nil && x.fixed == "" {
			x.fixed = why + " (" + place(at) + ")"
		}
	})
}

// leaves visits the scalar types inside t, and the index types of its arrays.
func leaves(t *model.Type, visit func(*model.Type)) {
	if t == nil {
		return
	}
	if t.Kind == model.KindArray {
		leaves(t.Index, visit)
	}
	if t.Elem != nil {
		leaves(t.Elem, visit)
	}
	for _, f := range t.Fields {
		leaves(f.Type, visit)
	}
	if t.Elem == nil && t.Kind != model.KindRecord {
		visit(t)
	}
}

// pair notes that a value of one type is compared with, or put in the place of,
// a value of the other.
func (u *uses) pair(a, b *model.Type, at diag.Span) {
	if a == b {
		u.use(a)
		return
	}
	const mixed = "its values are mixed with those of another type"
	switch {
	case a.Kind != b.Kind || a.Scalar() && a.Kind != model.KindSet:
		if a.Kind != b.Kind || tagOf(a) != tagOf(b) {
			u.fix(a, at, mixed)
			u.fix(b, at, mixed)
		}
		return
	case a.Kind == model.KindArray:
		u.pair(a.Index, b.Index, at)
	}
	if a.Elem != nil && b.Elem != nil {
		u.pair(a.Elem, b.Elem, at)
	}
	for i := range min(len(a.Fields), len(b.Fields)) {
		u.pair(a.Fields[i].Type, b.Fields[i].Type, at)
	}
}

// selects notes that e selects one of what t numbers.
func (u *uses) selects(t *model.Type, e model.Expr) {
	u.visit(e)
	tag := tagOf(e.Type())
	switch x := u.use(t); {
	case x == nil:
	case tag != tagOf(t):
		u.fix(t, e.Pos(), "a fixed one of them is selected")
	case x.index == "":
		x.index = "it selects parts or elements of arrays (" + place(e.Pos()) + ")"
	}
	if tag != tagOf(t) {
		u.fix(e.Type(), e.Pos(), "it is used as a number")
	}
}

func (u *uses) path(p model.Path) {
	for _, step := range p {
		u.keys(step.Part, step.Keys)
	}
}

func (u *uses) keys(p *model.Part, keys []model.Expr) {
	for i, k := range keys {
		u.selects(p.Keys[i].Type, k)
		if len(p.Keys) > 1 {
			u.fix(p.Keys[i].Type, k.Pos(), "it is one of several keys of a part")
		}
	}
}

// visit looks at an expression.
func (u *uses) visit(e model.Expr) {
	if e == nil || u.computes(e) {
		return
	}
	switch e := e.(type) {
	case *model.Lit:
		u.fix(e.T, e.Span, "there is a constant of it")
		return
	case *model.VarRef:
		u.path(e.Path)
		u.use(e.Var.Type)
		return
	case *model.StateTest:
		u.path(e.Path)
		return
	case *model.TimerTest:
		u.path(e.Path)
		u.timer(e.Keys)
		return
	case *model.Index:
		u.visit(e.X)
		if t := e.X.Type(); t.Kind == model.KindArray {
			u.selects(t.Index, e.I)
		} else {
			u.visit(e.I)
			u.fix(e.I.Type(), e.Span, "it is used as a number")
		}
		return
	case *model.Binary:
		u.binary(e)
	case *model.Unary:
		if e.Op == model.OpNeg {
			u.fix(e.X.Type(), e.Span, "it is computed with")
		}
	case *model.Call:
		u.call(e)
	case *model.RecordLit:
		for i, x := range e.Fields {
			u.pair(e.T.Fields[i].Type, x.Type(), x.Pos())
		}
	case *model.ListLit:
		for _, x := range e.Elems {
			u.pair(e.T.Elem, x.Type(), x.Pos())
		}
	case *model.Some:
		u.pair(e.T.Elem, e.X.Type(), e.Span)
	case *model.Build:
		u.loop(e.Local, e.Values, e.Over, e.Span, e.T.Kind == model.KindList)
		u.pair(e.T.Elem, e.Elem.Type(), e.Span)
		if e.T.Kind == model.KindArray {
			u.pair(e.T.Index, e.Local.Type, e.Span)
		}
	case *model.Find:
		u.loop(e.Local, e.Values, e.Over, e.Span, !e.Count)
		if !e.Count {
			u.pair(e.T.Elem, e.Local.Type, e.Span)
		}
	case *model.Quantified:
		u.loop(e.Local, e.Values, e.Over, e.Span, false)
	}
	for _, c := range children(e) {
		u.visit(c)
	}
}

func (u *uses) binary(e *model.Binary) {
	switch e.Op {
	case model.OpEq, model.OpNe:
		u.pair(e.X.Type(), e.Y.Type(), e.Span)
	case model.OpAnd, model.OpOr, model.OpImplies:
	default:
		u.fix(e.X.Type(), e.Span, "it is computed with or ordered")
		u.fix(e.Y.Type(), e.Span, "it is computed with or ordered")
	}
}

func (u *uses) call(e *model.Call) {
	switch e.Fn {
	case model.FnMin, model.FnMax:
		for _, a := range e.Args {
			u.fix(a.Type(), e.Span, "it is computed with or ordered")
		}
	case model.FnAppend, model.FnContains, model.FnWith, model.FnWithout:
		u.pair(e.Args[0].Type().Elem, e.Args[1].Type(), e.Span)
	case model.FnUnion, model.FnMinus, model.FnIntersect:
		u.pair(e.Args[0].Type(), e.Args[1].Type(), e.Span)
	case model.FnIf:
		u.pair(e.Args[1].Type(), e.Args[2].Type(), e.Span)
		u.pair(e.T, e.Args[1].Type(), e.Span)
	case model.FnFirst:
		if t := e.Args[0].Type(); t.Kind == model.KindSet {
			u.fix(t, e.Span, "the first of a set is taken")
		}
	}
}

// loop notes what a loop's local stands for; ordered: the order of rounds matters.
func (u *uses) loop(l *model.Local, values *model.Type, over model.Expr, at diag.Span, ordered bool) {
	const order = "there is a loop over its values in their order"
	if values != nil {
		u.pair(l.Type, values, at)
		if ordered {
			u.fix(values, at, order)
		}
		return
	}
	if over == nil {
		return
	}
	t := over.Type()
	u.pair(l.Type, t.Elem, at)
	if ordered && t.Kind == model.KindSet {
		u.fix(t, at, order)
	}
}

// computes says whether e is a function of one local alone, and then notes that
// exchanges must keep it.
func (u *uses) computes(e model.Expr) bool {
	switch e.(type) {
	case *model.Binary, *model.Unary, *model.Call:
	default:
		return false
	}
	var local *model.Local
	alone, literal := true, false
	walk(e, func(x model.Expr) {
		switch x := x.(type) {
		case *model.Lit:
			literal = true
		case *model.LocalRef:
			alone = alone && (local == nil || local == x.Local)
			local = x.Local
		case *model.Binary, *model.Unary, *model.Call:
		default:
			alone = false
		}
	})
	if !alone || !literal || local == nil || tagOf(e.Type()) != "" {
		return false
	}
	x := u.use(local.Type)
	if x == nil || e.Type().Slots() != 1 {
		return false
	}
	table := make([]int64, local.Type.Count())
	frame, d := make([]int64, local.Offset+1), make([]int64, 1)
	for i := range table {
		frame[local.Offset] = lowest(local.Type) + int64(i)
		if err := u.eval.Into(e, d, nil, frame); err != nil {
			return false
		}
		table[i] = d[0]
	}
	if slices.Max(table) == slices.Min(table) {
		return true
	}
	x.kept = append(x.kept, table)
	if x.computed == "" {
		x.computed = "it is computed with (" + place(e.Pos()) + ")"
	}
	return true
}
