package slow_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/internal/slow"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/runtime/fsm"
	"pgregory.net/rapid"
)

// drawer draws models: types, machines, expressions and statements, of the kinds and with the types
// that the resolver makes.
type drawer struct {
	*rapid.T
	types  []*model.Type
	m      *model.Machine
	vars   []*model.Var
	part   *model.Part // of m; nil: none
	locals []*model.Local
	offset int // of the next local
	frame  int // the slots that all locals need
	line   int // of the next expression: each has a place of its own
	name   int
	keyed  bool        // inside keys, which look at no part
	sender *model.Type // nil: there is no sender
	// insts are the instances that a claim looks at; nil: what is drawn belongs to the machine itself.
	insts []*model.Instance
}

var (
	boolType = &model.Type{Kind: model.KindBool}
	wide     = &model.Type{Kind: model.KindInt, Lo: -1 << 61, Hi: 1 << 61}
)

func (d *drawer) pick(n int, what string) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// inst draws the instance that an expression looks at.
func (d *drawer) inst() *model.Instance {
	if len(d.insts) == 0 {
		return nil
	}
	return d.insts[d.pick(len(d.insts), "instance")]
}

func (d *drawer) chance(n int, what string) bool { return d.pick(n, what) == 0 }

func (d *drawer) unique(prefix string) string {
	d.name++
	return fmt.Sprint(prefix, d.name)
}

func (d *drawer) span() diag.Span {
	d.line++
	return diag.Span{File: "drawn.yaml", Start: diag.Pos{Line: d.line, Col: 1}, End: diag.Pos{Line: d.line, Col: 2}}
}

func (d *drawer) base(t *model.Type) model.ExprBase { return model.ExprBase{T: t, Span: d.span()} }

// number draws a type of few numbers.
func (d *drawer) number() *model.Type {
	lo := rapid.Int64Range(-2, 2).Draw(d.T, "lo")
	t := &model.Type{Kind: model.KindInt, Lo: lo, Hi: lo + rapid.Int64Range(0, 3).Draw(d.T, "values")}
	if d.chance(2, "named") {
		t.Name = d.unique("Number")
	}
	return t
}

// key draws a type that selects, or whose values are in a set.
func (d *drawer) key() *model.Type {
	switch d.pick(4, "key") {
	case 0:
		return boolType
	case 1:
		return &model.Type{Kind: model.KindEnum, Name: d.unique("Enum"),
			Names: []string{"a", "b", "c"}[:1+d.pick(3, "names")]}
	}
	return d.number()
}

// drawTypes draws the types that variables have.
func (d *drawer) drawTypes() {
	scalars := []*model.Type{boolType, d.key(), d.number(), d.number(), wide,
		{Kind: model.KindBytes, Cap: 1 + d.pick(3, "cap")}, {Kind: model.KindBytes, Cap: 1},
		{Kind: model.KindOpaque, Name: d.unique("Opaque"), Bits: 8}, {Kind: model.KindNode, Lo: 0, Hi: 2}}
	d.types = scalars
	for range 8 {
		elem := d.types[d.pick(len(d.types), "elem")]
		switch d.pick(5, "kind") {
		case 0:
			if elem.Kind != model.KindOptional {
				d.types = append(d.types, &model.Type{Kind: model.KindOptional, Elem: elem})
			}
		case 1:
			var list []*model.Field
			for i := range 1 + d.pick(3, "fields") {
				list = append(list, &model.Field{Name: fmt.Sprint("f", i),
					Type: d.types[d.pick(len(d.types), "field")]})
			}
			d.types = append(d.types, &model.Type{Kind: model.KindRecord, Name: d.unique("Record"), Fields: laid(list)})
		case 2:
			d.types = append(d.types, &model.Type{Kind: model.KindArray, Index: d.key(), Elem: elem})
		case 3:
			d.types = append(d.types, &model.Type{Kind: model.KindList, Elem: elem, Cap: 1 + d.pick(3, "cap")})
		case 4:
			d.types = append(d.types, &model.Type{Kind: model.KindSet, Elem: d.key()})
		}
	}
	// A list or an array of numbers in other ranges can be put in the place of one.
	for _, t := range slices.Clone(d.types) {
		if (t.Kind == model.KindList || t.Kind == model.KindArray || t.Kind == model.KindOptional) &&
			t.Elem.Kind == model.KindInt {
			u := *t
			u.Elem = d.number()
			d.types = append(d.types, &u)
		}
	}
}

// laid numbers fields and lays them out.
func laid(list []*model.Field) []*model.Field {
	at := 0
	for i, f := range list {
		f.Index, f.Offset = i, at
		at += f.Type.Slots()
	}
	return list
}

// alike reports whether the resolver takes a value of one type for the other.
func alike(t, u *model.Type) bool {
	switch {
	case t == u:
		return true
	case !t.Same(u):
		return false
	}
	switch t.Kind {
	case model.KindList:
		return t.Cap == u.Cap && alike(t.Elem, u.Elem)
	case model.KindOptional:
		return alike(t.Elem, u.Elem)
	case model.KindArray:
		return t.Index == u.Index && alike(t.Elem, u.Elem)
	case model.KindSet:
		return t.Elem == u.Elem
	}
	return true
}

// expr draws an expression that can be put where a value of type t is wanted.
func (d *drawer) expr(t *model.Type, depth int) model.Expr {
	if depth <= 0 || d.chance(3, "simple") {
		return d.leaf(t)
	}
	switch d.pick(10, "form") {
	case 0, 1:
		return d.leaf(t)
	case 2:
		args := []model.Expr{d.expr(boolType, depth-1), d.expr(t, depth-1), d.expr(t, depth-1)}
		if a, b := args[1].Type(), args[2].Type(); t.Kind == model.KindList || t.Kind == model.KindArray ||
			t.Kind == model.KindOptional {
			t = types.Common(types.Common(t, a), b)
		}
		return &model.Call{ExprBase: d.base(t), Fn: model.FnIf, Args: args}
	case 3:
		if t.Kind != model.KindOptional {
			o := &model.Type{Kind: model.KindOptional, Elem: t}
			x := d.expr(o, depth-1)
			return &model.Unwrap{ExprBase: d.base(x.Type().Elem), X: x}
		}
	case 4:
		l := &model.Type{Kind: model.KindList, Elem: t, Cap: 2}
		x := d.expr(l, depth-1)
		if d.chance(2, "first") {
			return &model.Call{ExprBase: d.base(x.Type().Elem), Fn: model.FnFirst, Args: []model.Expr{x}}
		}
		return &model.Index{ExprBase: d.base(x.Type().Elem), X: x, I: d.expr(wide, depth-1)}
	case 5:
		a := &model.Type{Kind: model.KindArray, Index: d.key(), Elem: t}
		x := d.expr(a, depth-1)
		return &model.Index{ExprBase: d.base(x.Type().Elem), X: x, I: d.expr(a.Index, depth-1)}
	case 6:
		for _, r := range d.types {
			for _, f := range r.Fields {
				if alike(f.Type, t) {
					return &model.FieldRef{ExprBase: d.base(f.Type), X: d.expr(r, depth-1), Field: f}
				}
			}
		}
	}
	return d.kind(t, depth)
}

// leaf draws a variable, a local or a constant.
func (d *drawer) leaf(t *model.Type) model.Expr {
	var found []model.Expr
	for _, v := range d.vars {
		if alike(v.Type, t) {
			found = append(found, &model.VarRef{ExprBase: d.base(v.Type), Inst: d.inst(), Var: v})
		}
	}
	for _, l := range d.locals {
		if alike(l.Type, t) {
			found = append(found, &model.LocalRef{ExprBase: d.base(l.Type), Local: l})
		}
	}
	if d.part != nil && !d.keyed {
		for _, v := range d.part.Machine.Vars {
			if alike(v.Type, t) {
				found = append(found, &model.VarRef{ExprBase: d.base(v.Type), Inst: d.inst(), Path: d.path(), Var: v})
			}
		}
	}
	if t.Kind == model.KindNode && d.sender != nil {
		found = append(found, &model.Sender{ExprBase: d.base(d.sender)})
	}
	if len(found) > 0 && !d.chance(4, "constant") {
		return found[d.pick(len(found), "leaf")]
	}
	return d.constant(t)
}

// path draws the way to the part.
func (d *drawer) path() model.Path { return model.Path{{Part: d.part, Keys: d.keys(d.part.Keys)}} }

// keys draws keys, now and then one that is outside.
func (d *drawer) keys(fields []*model.Field) []model.Expr {
	outer := d.keyed
	d.keyed = true
	defer func() { d.keyed = outer }()
	var out []model.Expr
	for _, f := range fields {
		out = append(out, d.expr(f.Type, 1))
	}
	return out
}

func (d *drawer) constant(t *model.Type) model.Expr {
	lit := func(lo, hi int64) model.Expr {
		return &model.Lit{ExprBase: d.base(t), Value: rapid.Int64Range(lo, hi).Draw(d.T, "value")}
	}
	switch t.Kind {
	case model.KindBool:
		return lit(0, 1)
	case model.KindInt:
		if t.Hi-t.Lo < 10 && !d.chance(8, "outside") {
			return &model.Lit{ExprBase: d.base(wide), Value: rapid.Int64Range(t.Lo, t.Hi).Draw(d.T, "value")}
		}
		if d.chance(12, "large") {
			return &model.Lit{ExprBase: d.base(wide),
				Value: rapid.SampledFrom([]int64{-1 << 62, 1 << 62, 1 << 40}).Draw(d.T, "large value")}
		}
		return &model.Lit{ExprBase: d.base(wide), Value: rapid.Int64Range(-4, 6).Draw(d.T, "value")}
	case model.KindNode:
		return lit(0, 3)
	case model.KindEnum:
		return lit(0, int64(len(t.Names))-1)
	case model.KindOpaque:
		return lit(0, 255)
	case model.KindBytes:
		text := rapid.StringN(0, t.Cap, t.Cap).Draw(d.T, "text")
		return &model.Text{ExprBase: d.base(&model.Type{Kind: model.KindBytes, Cap: len(text)}), Value: text}
	case model.KindOptional:
		if !d.chance(3, "none") {
			return &model.Some{ExprBase: d.base(t), X: d.constant(t.Elem)}
		}
		return &model.None{ExprBase: d.base(t)}
	case model.KindRecord:
		r := &model.RecordLit{ExprBase: d.base(t)}
		for _, f := range t.Fields {
			r.Fields = append(r.Fields, d.constant(f.Type))
		}
		return r
	case model.KindArray:
		l := d.local(t.Index)
		return &model.Build{ExprBase: d.base(t), Local: l, Values: t.Index, Elem: d.constant(t.Elem)}
	}
	e := &model.ListLit{ExprBase: d.base(t)}
	for range d.pick(3, "elements") {
		e.Elems = append(e.Elems, d.constant(t.Elem))
	}
	return e
}

// local draws a local that is bound for as long as the caller keeps it in d.locals.
func (d *drawer) local(t *model.Type) *model.Local {
	l := &model.Local{Name: d.unique("x"), Type: t, Offset: d.offset}
	d.offset += t.Slots()
	d.frame = max(d.frame, d.offset)
	return l
}

// binds runs do with a new local that goes over something.
func (d *drawer) binds(depth int, do func(l *model.Local, values *model.Type, over model.Expr)) {
	d.over(d.types[d.pick(len(d.types), "over")], depth, do)
}

func (d *drawer) over(t *model.Type, depth int, do func(l *model.Local, values *model.Type, over model.Expr)) {
	var values *model.Type
	var over model.Expr
	if t.Count() <= 4 {
		values = t
	}
	if t.Kind == model.KindList || t.Kind == model.KindSet || t.Kind == model.KindArray {
		if values == nil || d.chance(2, "elements") {
			values, over = nil, d.expr(t, depth-1)
		}
	} else if values == nil {
		values = boolType
	}
	bound := values
	if over != nil {
		bound = over.Type().Elem
	}
	offset, n := d.offset, len(d.locals)
	l := d.local(bound)
	d.locals = append(d.locals, l)
	do(l, values, over)
	d.locals, d.offset = d.locals[:n], offset
}

// kind draws what makes a value of a kind of type.
func (d *drawer) kind(t *model.Type, depth int) model.Expr {
	switch t.Kind {
	case model.KindBool:
		return d.truth(depth)
	case model.KindInt:
		return d.computed(t, depth)
	case model.KindOptional:
		if d.chance(3, "found") {
			var e model.Expr
			d.over(t.Elem, depth, func(l *model.Local, values *model.Type, over model.Expr) {
				if l.Type == t.Elem {
					e = &model.Find{ExprBase: d.base(t), Local: l, Values: values, Over: over,
						X: d.expr(boolType, depth-1)}
				}
			})
			if e != nil {
				return e
			}
		}
		x := d.expr(t.Elem, depth-1)
		if t.Elem.Kind == model.KindList || t.Elem.Kind == model.KindArray {
			t = &model.Type{Kind: model.KindOptional, Elem: types.Common(t.Elem, x.Type())}
		}
		return &model.Some{ExprBase: d.base(t), X: x}
	case model.KindRecord:
		r := &model.RecordLit{ExprBase: d.base(t)}
		for _, f := range t.Fields {
			r.Fields = append(r.Fields, d.expr(f.Type, depth-1))
		}
		return r
	case model.KindArray:
		offset, n := d.offset, len(d.locals)
		l := d.local(t.Index)
		d.locals = append(d.locals, l)
		e := &model.Build{ExprBase: d.base(t), Local: l, Values: t.Index, Elem: d.expr(t.Elem, depth-1)}
		if t.Elem.Kind == model.KindOptional && d.chance(2, "if") {
			e.If = d.expr(boolType, depth-1)
		}
		d.locals, d.offset = d.locals[:n], offset
		return e
	case model.KindList, model.KindSet:
		return d.collection(t, depth)
	}
	return d.leaf(t)
}

func (d *drawer) collection(t *model.Type, depth int) model.Expr {
	args := func(list ...model.Expr) []model.Expr { return list }
	switch form := d.pick(5, "collection"); {
	case form == 0:
		e := &model.ListLit{ExprBase: d.base(t)}
		for range d.pick(4, "elements") {
			e.Elems = append(e.Elems, d.expr(t.Elem, depth-1))
		}
		return e
	case form == 1:
		e := &model.Build{ExprBase: d.base(t)}
		d.binds(depth, func(l *model.Local, values *model.Type, over model.Expr) {
			e.Local, e.Values, e.Over, e.Elem = l, values, over, d.expr(t.Elem, depth-1)
			if d.chance(2, "if") {
				e.If = d.expr(boolType, depth-1)
			}
		})
		return e
	case form == 2:
		x := d.expr(t, depth-1)
		return &model.Call{ExprBase: d.base(x.Type()), Fn: model.FnWithout, Args: args(x, d.expr(t.Elem, depth-1))}
	case t.Kind == model.KindSet:
		fn := []model.Builtin{model.FnUnion, model.FnMinus, model.FnIntersect, model.FnWith}[d.pick(4, "function")]
		other := t
		if fn == model.FnWith {
			other = t.Elem
		}
		return &model.Call{ExprBase: d.base(t), Fn: fn, Args: args(d.expr(t, depth-1), d.expr(other, depth-1))}
	case form == 3:
		x := d.expr(t, depth-1)
		return &model.Call{ExprBase: d.base(x.Type()), Fn: model.FnTail, Args: args(x)}
	}
	return &model.Call{ExprBase: d.base(t), Fn: model.FnAppend, Args: args(d.expr(t, depth-1), d.expr(t.Elem, depth-1))}
}

// truth draws a condition.
func (d *drawer) truth(depth int) model.Expr {
	base := d.base(boolType)
	switch d.pick(10, "condition") {
	case 0:
		return &model.Unary{ExprBase: base, Op: model.OpNot, X: d.expr(boolType, depth-1)}
	case 1, 2:
		op := rapid.SampledFrom([]model.Op{model.OpAnd, model.OpOr, model.OpImplies}).Draw(d.T, "op")
		return &model.Binary{ExprBase: base, Op: op, X: d.expr(boolType, depth-1), Y: d.expr(boolType, depth-1)}
	case 3:
		op := rapid.SampledFrom([]model.Op{model.OpEq, model.OpNe}).Draw(d.T, "op")
		t := d.types[d.pick(len(d.types), "compared")]
		return &model.Binary{ExprBase: base, Op: op, X: d.expr(t, depth-1), Y: d.expr(t, depth-1)}
	case 4:
		op := rapid.SampledFrom([]model.Op{model.OpLt, model.OpLe, model.OpGt, model.OpGe}).Draw(d.T, "op")
		return &model.Binary{ExprBase: base, Op: op, X: d.expr(wide, depth-1), Y: d.expr(wide, depth-1)}
	case 5:
		for _, t := range d.types {
			if t.Kind == model.KindList || t.Kind == model.KindSet {
				return &model.Call{ExprBase: base, Fn: model.FnContains,
					Args: []model.Expr{d.expr(t, depth-1), d.expr(t.Elem, depth-1)}}
			}
		}
	case 6:
		e := &model.Quantified{ExprBase: base, All: d.chance(2, "all")}
		d.binds(depth, func(l *model.Local, values *model.Type, over model.Expr) {
			e.Local, e.Values, e.Over, e.X = l, values, over, d.expr(boolType, depth-1)
		})
		return e
	case 7:
		e := &model.StateTest{ExprBase: base, Inst: d.inst(), States: d.m.States[:1+d.pick(len(d.m.States), "states")]}
		if d.part != nil && !d.keyed && d.chance(2, "of the part") {
			e.Path, e.States = d.path(), d.part.Machine.States[:1]
		}
		return e
	case 8:
		if !d.keyed && len(d.m.Timers) > 0 {
			t := d.m.Timers[d.pick(len(d.m.Timers), "timer")]
			return &model.TimerTest{ExprBase: base, Inst: d.inst(), Timer: t, Keys: d.keys(t.Keys)}
		}
	case 9:
		if len(d.insts) > 0 {
			return &model.Down{ExprBase: base, Inst: d.inst()}
		}
	}
	return d.leaf(boolType)
}

// computed draws a number.
func (d *drawer) computed(t *model.Type, depth int) model.Expr {
	base := d.base(wide)
	switch d.pick(6, "number") {
	case 0:
		if len(d.insts) > 0 && d.chance(2, "length") {
			from, to := d.inst(), d.inst()
			m := d.m.Messages[d.pick(len(d.m.Messages), "message")]
			return &model.ChanLen{ExprBase: base, From: from, To: to, Message: m}
		}
		return &model.Unary{ExprBase: base, Op: model.OpNeg, X: d.expr(wide, depth-1)}
	case 1, 2, 3:
		op := rapid.SampledFrom([]model.Op{model.OpAdd, model.OpSub, model.OpMul, model.OpDiv,
			model.OpMod}).Draw(d.T, "op")
		return &model.Binary{ExprBase: base, Op: op, X: d.expr(t, depth-1), Y: d.expr(t, depth-1)}
	case 4:
		fn := rapid.SampledFrom([]model.Builtin{model.FnMin, model.FnMax}).Draw(d.T, "function")
		return &model.Call{ExprBase: base, Fn: fn, Args: []model.Expr{d.expr(t, depth-1), d.expr(t, depth-1)}}
	}
	for _, c := range d.types {
		if (c.Kind == model.KindList || c.Kind == model.KindSet) && d.chance(2, "len") {
			return &model.Call{ExprBase: base, Fn: model.FnLen, Args: []model.Expr{d.expr(c, depth-1)}}
		}
	}
	e := &model.Find{ExprBase: base, Count: true}
	d.binds(depth, func(l *model.Local, values *model.Type, over model.Expr) {
		e.Local, e.Values, e.Over, e.X = l, values, over, d.expr(boolType, depth-1)
	})
	return e
}

// machine draws a machine, perhaps with a part.
func drawMachine(t *rapid.T, inner bool) *drawer {
	d := &drawer{T: t}
	if inner {
		d.name = 1000 // names are its own
	}
	d.drawTypes()
	m := &model.Machine{Name: "drawn", Size: 1, Span: d.span()}
	d.m = m
	for i := range 3 {
		m.States = append(m.States, &model.State{Name: fmt.Sprint("s", i), Index: i, Span: d.span()})
	}
	m.Initial = m.States[0]
	m.States[2].Final = true
	if d.chance(2, "sender") {
		m.Sender = &model.Type{Kind: model.KindNode, Lo: 0, Hi: 2}
		d.sender = m.Sender
	}
	for range 6 {
		v := &model.Var{Name: d.unique("v"), Type: d.types[d.pick(len(d.types), "type")], Offset: m.Size,
			Span: d.span()}
		m.Size += v.Type.Slots()
		m.Vars = append(m.Vars, v)
	}
	field := func() []*model.Field {
		var list []*model.Field
		for i := range d.pick(3, "fields") {
			list = append(list, &model.Field{Name: fmt.Sprint("g", i), Type: d.types[d.pick(len(d.types), "field")]})
		}
		return laid(list)
	}
	for i := range 2 {
		m.Messages = append(m.Messages, &model.Message{Name: fmt.Sprint("M", i), Index: i, Fields: field()})
		m.Reports = append(m.Reports, &model.Report{Name: fmt.Sprint("r", i), Index: i, Fields: field()})
		timer := &model.Timer{Name: fmt.Sprint("t", i), Index: i, Ticks: 3, Count: 1, Offset: m.Size}
		if i == 1 {
			timer.Keys = laid([]*model.Field{{Name: "k", Type: d.key()}, {Name: "l", Type: d.key()}})
			timer.Count = int(timer.Keys[0].Type.Count() * timer.Keys[1].Type.Count())
			timer.Length = &model.Type{Kind: model.KindInt, Lo: 1, Hi: 3}
		}
		m.Size += timer.Count
		m.Timers = append(m.Timers, timer)
	}
	event := func(e *model.Event) {
		e.Index, e.Span = len(m.Events), d.span()
		m.Events = append(m.Events, e)
	}
	event(&model.Event{Kind: model.EventStart, Name: "start"})
	for _, msg := range m.Messages {
		event(&model.Event{Kind: model.EventMessage, Name: msg.Name, Message: msg, Fields: msg.Fields})
	}
	for _, timer := range m.Timers {
		event(&model.Event{Kind: model.EventTimer, Name: timer.Name, Timer: timer, Fields: timer.Keys})
	}
	if !inner && d.chance(2, "part") {
		d.part = d.drawPart()
		for _, r := range d.part.Machine.Reports {
			fields := laid(append(copies(d.part.Keys), copies(r.Fields)...))
			event(&model.Event{Kind: model.EventReport, Name: "p." + r.Name, Part: d.part, Report: r, Fields: fields})
		}
		event(&model.Event{Kind: model.EventFinished, Name: "p.finished", Part: d.part, Fields: copies(d.part.Keys)})
	}
	// What statements need to know stands; now what they do.
	for _, v := range m.Vars {
		if d.chance(4, "init") {
			vars, part, sender := d.vars, d.part, d.sender
			d.vars, d.part, d.sender = nil, nil, nil
			v.Init = d.constant(v.Type)
			d.vars, d.part, d.sender = vars, part, sender
		}
	}
	d.vars = m.Vars
	for _, st := range m.States {
		d.frame, d.offset, d.locals = 0, 0, nil
		if d.chance(3, "entry") {
			st.Entry = d.stmts(2, false)
		}
		st.EntryLocals = d.frame
		st.Handlers = make([]*model.Handler, len(m.Events))
		for i, ev := range m.Events {
			if !d.chance(4, "unmentioned") {
				st.Handlers[i] = d.handler(st, ev)
			}
		}
	}
	return d
}

func copies(list []*model.Field) []*model.Field {
	var out []*model.Field
	for _, f := range list {
		g := *f
		out = append(out, &g)
	}
	return laid(out)
}

// drawPart draws a part of the machine and how it is created and sends.
func (d *drawer) drawPart() *model.Part {
	inner := drawMachine(d.T, true)
	p := &model.Part{Name: "p", Machine: inner.m, Count: 1, Offset: d.m.Size, Span: d.span()}
	if d.chance(2, "keyed") {
		p.Keys = laid([]*model.Field{{Name: "k", Type: d.key()}})
		p.Count = int(p.Keys[0].Type.Count())
		p.KeyLocals = []*model.Local{{Name: "k", Type: p.Keys[0].Type}}
	}
	d.m.Size += p.Count * p.Machine.Size
	if d.m.Sender == nil { // as the resolver has it: whose part looks at the sender does so itself
		d.m.Sender = inner.m.Sender
	}
	for i, msg := range inner.m.Messages {
		p.Sends = append(p.Sends, nil)
		if i > 0 {
			continue
		}
		d.frame, d.offset, d.locals = len(p.KeyLocals), len(p.KeyLocals), slices.Clone(p.KeyLocals)
		ps := &model.PartSend{}
		for _, f := range msg.Fields {
			l := d.local(f.Type)
			ps.Params = append(ps.Params, l)
			d.locals = append(d.locals, l)
		}
		ps.Send = d.send()
		ps.Locals = d.frame
		p.Sends[i] = ps
	}
	return p
}

// handler draws what a state does with an event.
func (d *drawer) handler(st *model.State, ev *model.Event) *model.Handler {
	h := &model.Handler{Event: ev, Span: d.span()}
	branch := func() *model.Transition {
		t := &model.Transition{ID: len(d.m.Transitions), Name: "t", From: st, Event: ev, Span: d.span()}
		d.m.Transitions = append(d.m.Transitions, t)
		h.Branches = append(h.Branches, t)
		return t
	}
	if d.chance(10, "mode") {
		h.Mode = []model.Mode{model.Ignore, model.Defer}[d.pick(2, "which")]
		branch().Mode = h.Mode
		return h
	}
	for range 1 + d.pick(2, "branches") {
		t := branch()
		d.frame, d.offset, d.locals = 0, 0, nil
		for _, f := range ev.Fields {
			l := d.local(f.Type)
			t.Params = append(t.Params, l)
			d.locals = append(d.locals, l)
		}
		if d.chance(2, "guard") {
			t.When = d.expr(boolType, 3)
		}
		t.Body = d.stmts(3, false)
		if d.chance(2, "goto") {
			t.To = d.m.States[d.pick(len(d.m.States), "to")]
		}
		t.Locals = d.frame
	}
	return h
}

func (d *drawer) stmts(depth int, loop bool) []model.Stmt {
	var out []model.Stmt
	for range 1 + d.pick(3, "statements") {
		out = append(out, d.stmt(depth, loop))
	}
	return out
}

func (d *drawer) given(fields []*model.Field) []model.Expr {
	var out []model.Expr
	for _, f := range fields {
		out = append(out, d.expr(f.Type, 2))
	}
	return out
}

func (d *drawer) send() *model.Send {
	msg := d.m.Messages[d.pick(len(d.m.Messages), "message")]
	s := &model.Send{StmtBase: model.StmtBase{Span: d.span()}, Message: msg, Fields: d.given(msg.Fields)}
	s.Dest, s.To = d.dest()
	return s
}

func (d *drawer) dest() (model.Dest, model.Expr) {
	if d.chance(3, "to an instance") {
		return model.ToExpr, d.expr(&model.Type{Kind: model.KindNode, Lo: 0, Hi: 2}, 1)
	}
	return []model.Dest{model.ToPeer, model.ToSender, model.ToBroadcast}[d.pick(3, "dest")], nil
}

func (d *drawer) stmt(depth int, loop bool) model.Stmt {
	base := model.StmtBase{Span: d.span()}
	timer := d.m.Timers[d.pick(len(d.m.Timers), "timer")]
	switch d.pick(12, "statement") {
	case 0:
		return d.send()
	case 1:
		r := d.m.Reports[d.pick(len(d.m.Reports), "report")]
		return &model.ReportStmt{StmtBase: base, Report: r, Fields: d.given(r.Fields)}
	case 2:
		c := &model.Close{StmtBase: base}
		c.Dest, c.To = d.dest()
		return c
	case 3:
		s := &model.StartTimer{StmtBase: base, Timer: timer, Keys: d.keys(timer.Keys)}
		if timer.Length != nil {
			s.Ticks = d.expr(timer.Length, 2)
		}
		return s
	case 4:
		s := &model.StopTimer{StmtBase: base, Timer: timer}
		if d.chance(2, "one") {
			s.Keys = d.keys(timer.Keys)
		}
		return s
	case 5:
		if depth > 0 {
			return &model.If{StmtBase: base, Cond: d.expr(boolType, 2), Then: d.stmts(depth-1, loop),
				Else: d.stmts(depth-1, loop)}
		}
	case 6:
		if depth > 0 && !loop {
			e := &model.Each{StmtBase: base}
			d.binds(2, func(l *model.Local, values *model.Type, over model.Expr) {
				e.Local, e.Values, e.Over, e.Body = l, values, over, d.stmts(depth-1, true)
			})
			return e
		}
	case 7:
		if depth > 0 { // let
			t := d.types[d.pick(len(d.types), "let")]
			value := d.expr(t, 2)
			list := &model.ListLit{ExprBase: model.ExprBase{
				T: &model.Type{Kind: model.KindList, Elem: t, Cap: 1}, Span: value.Pos()}, Elems: []model.Expr{value}}
			offset, n := d.offset, len(d.locals)
			l := d.local(t)
			d.locals = append(d.locals, l)
			e := &model.Each{StmtBase: base, Local: l, Over: list, Body: d.stmts(depth-1, loop)}
			d.locals, d.offset = d.locals[:n], offset
			return e
		}
	case 8:
		if d.part != nil {
			ev := d.part.Machine.Events[1+d.pick(2, "event")]
			return &model.Run{StmtBase: base, Part: d.part, Keys: d.keys(d.part.Keys), Event: ev,
				Args: d.given(ev.Fields)}
		}
	case 9:
		if d.part != nil && d.chance(2, "restart") {
			s := &model.Restart{StmtBase: base, Part: d.part}
			if d.chance(2, "one") {
				s.Keys = d.keys(d.part.Keys)
			}
			return s
		}
		if d.chance(8, "refuse") {
			return &model.Refuse{StmtBase: base, Reason: "drawn"}
		}
	}
	return d.set(base)
}

// set draws an assignment to a variable or a place inside it.
func (d *drawer) set(base model.StmtBase) model.Stmt {
	v := d.m.Vars[d.pick(len(d.m.Vars), "variable")]
	s := &model.Set{StmtBase: base, Var: v}
	t := v.Type
	for d.chance(2, "inside") {
		inner := t
		if t.Kind == model.KindOptional {
			inner = t.Elem
		}
		switch {
		case inner.Kind == model.KindRecord:
			f := inner.Fields[d.pick(len(inner.Fields), "field")]
			s.Select, t = append(s.Select, model.Selector{Field: f}), f.Type
			continue
		case t.Kind == model.KindArray:
			s.Select, t = append(s.Select, model.Selector{Index: d.expr(t.Index, 2)}), t.Elem
			continue
		case t.Kind == model.KindList:
			s.Select, t = append(s.Select, model.Selector{Index: d.expr(wide, 2)}), t.Elem
			continue
		}
		break
	}
	s.Value = d.expr(t, 3)
	return s
}

// fill draws a value of a type.
func (d *drawer) fill(strs *interp.Strings, t *model.Type, dst []int64) {
	switch t.Kind {
	case model.KindBytes:
		dst[0] = strs.Intern([]byte(rapid.StringN(0, t.Cap, t.Cap).Draw(d.T, "text")))
	case model.KindOpaque:
		dst[0] = rapid.Int64Range(0, 255).Draw(d.T, "opaque")
	case model.KindInt, model.KindNode:
		dst[0] = rapid.Int64Range(t.Lo, t.Hi).Draw(d.T, "number")
	case model.KindBool, model.KindEnum, model.KindSet:
		dst[0] = rapid.Int64Range(0, t.Count()-1).Draw(d.T, "number")
	case model.KindRecord:
		for _, f := range t.Fields {
			d.fill(strs, f.Type, dst[f.Offset:])
		}
	default:
		n, at := 1, 1
		switch t.Kind {
		case model.KindArray:
			n, at = int(t.Index.Count()), 0
		case model.KindList:
			n = d.pick(t.Cap+1, "length")
			dst[0] = int64(n)
		case model.KindOptional:
			n = d.pick(2, "present")
			dst[0] = int64(n)
		}
		for i := range n {
			d.fill(strs, t.Elem, dst[at+i*t.Elem.Slots():])
		}
	}
}

// fillMachine draws a value of a machine, also such as no run leads to.
func (d *drawer) fillMachine(strs *interp.Strings, m *model.Machine, dst []int64) {
	dst[0] = int64(d.pick(len(m.States), "state"))
	for _, v := range slices.Concat(m.Params, m.Vars) {
		d.fill(strs, v.Type, dst[v.Offset:])
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			dst[t.Offset+i] = int64(d.pick(2, "armed"))
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			d.fillMachine(strs, p.Machine, dst[p.Offset+i*p.Machine.Size:])
		}
	}
}

// explain renders a fault in all that both interpreters say of it.
func explain(f *interp.Fault) string {
	if f == nil {
		return "no fault"
	}
	state, event, machine := "", "", ""
	if f.State != nil {
		state = f.State.Name
	}
	if f.Event != nil {
		event = f.Event.Name
	}
	if f.Machine != nil {
		machine = f.Machine.Name
	}
	return fmt.Sprint(f.Kind, " ", machine, f.Path, " ", state, " ", event, ": ", f.Reason, " at ", f.Span,
		" guards ", f.Guards)
}

// same compares one step of both interpreters.
func same(x *interp.Machine, strs *interp.Strings, v interp.Value, ev interp.Event) string {
	wantNext, wantEffects, wantRes, wantFault := slow.Step(x.Model, strs, v, ev)
	next, effects, res, fault := x.Step(v, ev)
	if got, want := explain(fault), explain(wantFault); got != want {
		return fmt.Sprintf("fault\n got %s\nwant %s", got, want)
	}
	if res != wantRes || !next.Equal(wantNext) {
		return fmt.Sprintf("result\n got %v %v\nwant %v %v", res, next, wantRes, wantNext)
	}
	text := func(list []interp.Effect) string {
		var b []byte
		for i := range list {
			b = append(interp.AppendEffect(b, strs, &list[i]), fmt.Sprintln(list[i].Dest, list[i].At)...)
		}
		return string(b)
	}
	if got, want := text(effects), text(wantEffects); got != want {
		return fmt.Sprintf("effects\n got %s\nwant %s", got, want)
	}
	return ""
}

// TestDrawn draws machines and compares what both interpreters make of drawn values and events.
func TestDrawn(t *testing.T) {
	took := 0
	defer func() {
		if !t.Failed() && took < 500 {
			t.Errorf("only %d steps were taken", took)
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		d := drawMachine(t, false)
		m := d.m
		if d.part != nil {
			m.Parts = []*model.Part{d.part}
		}
		strs := &interp.Strings{}
		x := interp.New(m, strs)
		for range 40 {
			v := make(interp.Value, m.Size)
			d.fillMachine(strs, m, v)
			ev := interp.Event{Event: m.Events[d.pick(len(m.Events), "event")], Sender: d.pick(4, "sender")}
			if ev.Event.Kind == model.EventReport || ev.Event.Kind == model.EventFinished {
				continue
			}
			if !ev.Event.FromPeer() {
				ev.Sender = 0
			}
			ev.Args = make([]int64, interp.FieldSlots(ev.Event.Fields))
			at := 0
			for _, f := range ev.Event.Fields {
				d.fill(strs, f.Type, ev.Args[at:])
				at += f.Type.Slots()
			}
			if why := same(x, strs, v, ev); why != "" {
				t.Fatalf("%s in %s, given %s: %s", ev.Event.Name, m.States[v[0]].Name,
					interp.AppendMachine(nil, strs, m, v), why+"\n"+text(m))
			}
			if _, _, res, _ := x.Step(v, ev); res.Code == fsm.Took {
				took++
			}
		}
	})
}

// text writes what a machine does.
func text(m *model.Machine) string {
	var b strings.Builder
	for _, st := range m.States {
		fmt.Fprintf(&b, "%s entry %s\n", st.Name, model.StmtsString(st.Entry))
		for _, h := range st.Handlers {
			if h == nil {
				continue
			}
			for _, t := range h.Branches {
				fmt.Fprintf(&b, "  %s when %s: %s\n", t.Event.Name, model.ExprString(t.When), model.StmtsString(t.Body))
			}
		}
	}
	return b.String()
}

// TestFailures draws expressions and asks that what the core says of them holds: a number lies in
// its interval, and what cannot fail does not.
func TestFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawMachine(t, true)
		d.locals, d.offset, d.frame = nil, 0, 0
		strs := &interp.Strings{}
		v := make(interp.Value, d.m.Size)
		d.fillMachine(strs, d.m, v)
		x := interp.Eval{Strings: strs}
		for range 20 {
			ty := d.types[d.pick(len(d.types), "type")]
			e := d.expr(ty, 4)
			core.Walk(core.Of(e), func(e core.Expr) {
				free := false
				core.Walk(e, func(e core.Expr) {
					_, local := e.(*core.Local)
					free = free || local
				})
				if free {
					return
				}
				b := e.Node()
				got := make([]int64, b.Slots)
				err := x.Into(e, got, v, make([]int64, d.frame))
				want, wantErr := slow.Eval(b.From, strs, d.m, v, nil, nil, nil)
				_, fit := e.(*core.Fit)
				_, constant := e.(*core.Const) // that of a && b comes from the whole
				switch {
				case err != nil && !b.CanFail:
					t.Fatalf("%s fails: %v", model.ExprString(b.From), err)
				case fit, constant:
				case fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !slices.Equal(got, want):
					t.Fatalf("%s\n got %v %v\nwant %v %v", model.ExprString(b.From), got, err, want, wantErr)
				}
				if err == nil && b.T.Kind == model.KindInt && !b.In.Has(got[0]) {
					t.Fatalf("%s = %d is outside %v", model.ExprString(b.From), got[0], b.In)
				}
				if err == nil && b.T.Kind == model.KindOptional && b.T.Elem.Kind == model.KindInt &&
					got[0] != 0 && !b.In.Has(got[1]) {
					t.Fatalf("%s has %d, outside %v", model.ExprString(b.From), got[1], b.In)
				}
			})
		}
	})
}

// TestSpecs compares both interpreters on the shipped specifications and the samples of the
// conformance test, with any value of each machine and any event.
func TestSpecs(t *testing.T) {
	pattern, least := "../../../specs/*/spec.yaml", 30
	if os.Getenv("PARLEY_LONG") != "" {
		pattern, least = "../../../specs/*/*.yaml", 50 // variants, too
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	samples, _ := filepath.Glob("../../../proptest/conform/testdata/*/*.yaml")
	var machines []*model.Machine
	for _, f := range append(files, samples...) {
		p, _ := compile.Load(f, compile.Options{})
		if p == nil {
			continue // a fragment
		}
		for _, m := range p.Roles {
			if m.Size < 4000 {
				machines = append(machines, m)
			}
		}
	}
	if len(machines) < least {
		t.Fatalf("only %d machines", len(machines))
	}
	slices.SortStableFunc(machines, func(a, b *model.Machine) int { return cmp.Compare(a.Size, b.Size) })
	for _, m := range machines {
		strs := &interp.Strings{}
		x := interp.New(m, strs)
		t.Run(m.Protocol+"/"+m.Name, func(t *testing.T) {
			n := 0
			rapid.Check(t, func(t *rapid.T) {
				if n++; n > 20 {
					return
				}
				d := &drawer{T: t, m: m}
				v := make(interp.Value, m.Size)
				d.fillMachine(strs, m, v)
				for _, e := range m.Events {
					if e.Kind == model.EventReport || e.Kind == model.EventFinished {
						continue
					}
					ev := interp.Event{Event: e, Args: make([]int64, interp.FieldSlots(e.Fields)),
						Sender: d.pick(3, "sender")}
					at := 0
					for _, f := range e.Fields {
						d.fill(strs, f.Type, ev.Args[at:])
						at += f.Type.Slots()
					}
					if why := same(x, strs, v, ev); why != "" {
						t.Fatalf("%s given %s: %s", e.Name, interp.AppendMachine(nil, strs, m, v), why)
					}
				}
			})
		})
	}
}
