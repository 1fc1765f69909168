package reduce

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
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
	check    *model.Check
	messages []*model.Message
	by       map[string]*use
	tags     []string        // in the order of first use
	machines []*core.Machine // those of the instances and of their parts
	seen     map[*core.Machine]bool
	eval     interp.Eval
	// addressed: an instance is named by a number; toAll: something goes to all others.
	addressed, toAll bool
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
			return fmt.Sprintf("%d %s %d %d", t.Kind, t.Name, t.Lowest(), n)
		}
	}
	return ""
}

// usesOf looks at everything in the check.
func usesOf(p *model.Protocol, check *model.Check, strs *interp.Strings) *uses {
	u := &uses{check: check, messages: p.Messages, machines: machinesOf(check, honest), by: map[string]*use{},
		seen: map[*core.Machine]bool{}}
	u.eval.Strings = strs
	for _, m := range u.machines {
		u.machine(m)
	}
	u.restarts()
	u.forged(p)
	for _, r := range check.Rules {
		u.visit(core.Of(r.When))
		for i, f := range r.Command.Fields {
			u.pair(r.Params[i].Type, f.Type, r.Span)
		}
	}
	for _, c := range check.Claims {
		u.visit(core.Of(c.When))
		u.visit(core.Of(c.Expr))
		for _, e := range c.Exprs {
			u.visit(core.Of(e))
			u.pair(c.Exprs[0].Type(), e.Type(), c.Span)
		}
	}
	u.visit(core.Of(check.Quiet))
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
			x.fixed = why + " (" + at.Place() + ")"
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

// puts notes that e is put in a place of type t, or compared with a value of that type.
func (u *uses) puts(t *model.Type, e core.Expr, at diag.Span) { u.pair(t, core.Bare(e).Node().T, at) }

// selects notes that e selects one of what t numbers.
func (u *uses) selects(t *model.Type, e core.Expr) {
	u.visit(e)
	b := core.Bare(e).Node()
	tag := tagOf(b.T)
	switch x := u.use(t); {
	case x == nil:
	case tag != tagOf(t):
		u.fix(t, b.Pos(), "a fixed one of them is selected")
	case x.index == "":
		x.index = "it selects parts or elements of arrays (" + b.Pos().Place() + ")"
	}
	if tag != tagOf(t) {
		u.fix(b.T, b.Pos(), "it is used as a number")
	}
}

func (u *uses) path(p []core.Step) {
	for _, step := range p {
		u.keys(step.Part, step.Keys)
	}
}

func (u *uses) keys(p *model.Part, keys []core.Expr) {
	for i, k := range keys {
		u.selects(p.Keys[i].Type, k)
		if len(p.Keys) > 1 {
			u.fix(p.Keys[i].Type, k.Node().Pos(), "it is one of several keys of a part")
		}
	}
}

// visit looks at an expression.
func (u *uses) visit(e core.Expr) {
	if e == nil || u.computes(e) {
		return
	}
	at := e.Node().Pos()
	switch e := e.(type) {
	case *core.Const:
		if e.T.Kind != model.KindOptional {
			u.fix(e.T, at, "there is a constant of it")
		}
		return
	case *core.Read:
		u.path(e.Path)
		u.timer(e.Keys)
		if e.What == core.ReadVar {
			u.use(e.Var.Type)
		}
		return
	case *core.Index:
		u.visit(e.X)
		if t := e.X.Node().T; t.Kind == model.KindArray {
			u.selects(t.Index, e.I)
		} else {
			u.visit(e.I)
			u.fix(e.I.Node().T, at, "it is used as a number")
		}
		return
	case *core.Apply:
		u.apply(e)
	case *core.If:
		if e.Form == core.FormIf {
			u.puts(core.Bare(e.Then).Node().T, e.Else, at)
			u.puts(e.T, e.Then, at)
		}
	case *core.Make:
		for i, x := range e.Elems {
			switch e.T.Kind {
			case model.KindRecord:
				u.puts(e.T.Fields[i].Type, x, x.Node().Pos())
			case model.KindOptional:
				u.puts(e.T.Elem, x, at)
			default:
				u.puts(e.T.Elem, x, x.Node().Pos())
			}
		}
	case *core.Fold:
		u.loop(e.Local, e.Values, e.Over, at, e.How.Ordered())
		switch e.How {
		case core.First:
			u.pair(e.T.Elem, e.Local.Type, at)
		case core.Array:
			u.puts(e.T.Elem, e.Elem, at)
			u.pair(e.T.Index, e.Local.Type, at)
		case core.List, core.Set:
			u.puts(e.T.Elem, e.Elem, at)
		}
	}
	core.Operands(e, u.visit)
}

// apply looks at an operation: what it does with its operands is in the table of operations.
func (u *uses) apply(e *core.Apply) {
	at, t := e.Pos(), core.Bare(e.Args[0]).Node().T
	switch e.Op {
	case core.Append, core.With, core.Has, core.Without:
		u.puts(t.Elem, e.Args[1], at)
		return
	}
	use := e.Op.Info().Use
	if e.Op == core.Len && t.Kind == model.KindBytes {
		use = core.Computes // texts differ in their lengths
	}
	switch use {
	case core.Compares, core.Copies:
		if len(e.Args) == 2 {
			u.puts(t, e.Args[1], at)
		}
	case core.Computes:
		why := "it is computed with or ordered"
		if len(e.Args) == 1 {
			why = "it is computed with"
		}
		for _, x := range e.Args {
			u.fix(x.Node().T, at, why)
		}
	}
}

// loop notes what a loop's local stands for; ordered: the order of rounds matters.
func (u *uses) loop(l *model.Local, values *model.Type, over core.Expr, at diag.Span, ordered bool) {
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
	t := over.Node().T
	u.pair(l.Type, t.Elem, at)
	if ordered && t.Kind == model.KindSet {
		u.fix(t, at, order)
	}
}

// computes reports whether e is a function of one local alone, and then notes that
// exchanges must keep it.
func (u *uses) computes(e core.Expr) bool {
	switch e.(type) {
	case *core.Apply, *core.If:
	default:
		return false
	}
	var local *model.Local
	alone, literal := true, false
	core.Walk(e, func(x core.Expr) {
		switch x := x.(type) {
		case *core.Const:
			switch x.From.(type) {
			case *model.Lit:
				literal = true
			case *model.Text, *model.None:
				alone = false
			}
		case *core.Local:
			alone = alone && x.Local != nil && (local == nil || local == x.Local)
			local = x.Local
		case *core.Apply, *core.If, *core.Fit:
		default:
			alone = false
		}
	})
	t := e.Node().T
	if !alone || !literal || local == nil || tagOf(t) != "" {
		return false
	}
	x := u.use(local.Type)
	if x == nil || t.Slots() != 1 {
		return false
	}
	table := make([]int64, local.Type.Count())
	frame, d := make([]int64, local.Offset+1), make([]int64, 1)
	for i := range table {
		frame[local.Offset] = local.Type.Lowest() + int64(i)
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
		x.computed = "it is computed with (" + e.Node().Pos().Place() + ")"
	}
	return true
}

// machine looks at all that a machine and its parts can do after they began.
// What they begin with may be anything: a run of the reduced system begins with a
// renaming of it.
func (u *uses) machine(code *core.Machine) {
	if u.seen[code] {
		return
	}
	u.seen[code] = true
	m := code.Model
	for _, v := range m.Vars {
		leaves(v.Type, func(t *model.Type) { u.use(t) })
	}
	for _, st := range code.States {
		u.stmts(st.Entry)
	}
	for _, t := range m.Timers {
		for _, k := range t.Keys {
			u.fix(k.Type, t.Span, "it selects a timer")
		}
	}
	for _, b := range code.Transitions {
		if b == nil {
			continue // who edits a model has taken it out of its handler
		}
		u.visit(b.When)
		u.stmts(b.Body)
		for i, l := range b.Model.Params {
			u.pair(l.Type, b.Model.Event.Fields[i].Type, b.Model.Span)
		}
	}
	for _, ev := range m.Events {
		if ev.Kind == model.EventReport {
			own := ev.Fields[len(ev.Part.Keys):]
			for i, f := range ev.Report.Fields {
				u.pair(own[i].Type, f.Type, ev.Span)
			}
		}
	}
	for _, p := range code.Parts {
		u.machine(p.Machine)
		u.instance(p.To)
		for i, ps := range p.Sends {
			if ps == nil {
				continue
			}
			for k, f := range p.Model.Machine.Messages[i].Fields {
				u.pair(ps.Model.Params[k].Type, f.Type, ps.Send.Pos())
			}
			u.stmt(ps.Send)
		}
	}
}

func (u *uses) stmts(list []core.Stmt) {
	for _, s := range list {
		u.stmt(s)
	}
}

func (u *uses) stmt(s core.Stmt) {
	switch s := s.(type) {
	case *core.Assign:
		if s.Var != nil {
			u.puts(u.target(s), s.Value, s.Pos())
		} else {
			u.puts(s.Local.Type, s.Value, s.Value.Node().Pos())
		}
		u.visit(s.Value)
	case *core.Emit:
		switch {
		case s.Message != nil:
			u.fields(s.Message.Fields, s.Fields)
		case s.Report != nil:
			u.fields(s.Report.Fields, s.Fields)
		}
		u.instance(s.To)
		if s.To == nil && s.Report == nil {
			u.toAll = true
		}
	case *core.Give:
		u.keys(s.Part.Model, s.Keys)
		u.fields(s.Event.Fields, s.Args)
	case *core.Reset:
		u.keys(s.Part.Model, s.Keys)
		u.restart(s.Part, s.Pos(), false)
	case *core.Timer:
		u.timer(s.Keys)
		u.visit(s.Ticks)
		if s.Ticks != nil {
			u.fix(core.Bare(s.Ticks).Node().T, s.Pos(), "it says how long a timer runs")
		}
	case *core.Branch:
		u.visit(s.Cond)
		u.stmts(s.Then)
		u.stmts(s.Else)
	case *core.For:
		u.loop(s.Local, s.Values, s.Over, s.Pos(), true)
		u.visit(s.Over)
		u.stmts(s.Body)
	}
}

// target is the type of the place that is set.
func (u *uses) target(s *core.Assign) *model.Type {
	t := s.Var.Type
	for _, sel := range s.Select {
		switch {
		case sel.Field != nil:
			t = sel.Field.Type
			continue
		case t.Kind == model.KindArray:
			u.selects(t.Index, sel.Index)
		default:
			u.visit(sel.Index)
			u.fix(sel.Index.Node().T, s.Pos(), "it is used as a number")
		}
		t = t.Elem
	}
	return t
}

func (u *uses) fields(fields []*model.Field, values []core.Expr) {
	for i, e := range values {
		u.puts(fields[i].Type, e, e.Node().Pos())
		u.visit(e)
	}
}

// timer looks at the keys of a timer. Timers are not exchanged with what selects them.
func (u *uses) timer(keys []core.Expr) {
	for _, e := range keys {
		u.visit(e)
		u.fix(core.Bare(e).Node().T, e.Node().Pos(), "it selects a timer")
	}
}

// instance looks at an expression that says which instance is meant.
func (u *uses) instance(e core.Expr) {
	if e != nil {
		u.visit(e)
		u.fix(e.Node().T, e.Node().Pos(), "it says to which instance something goes")
		u.addressed = true
	}
}

// restarts looks at instances that begin again after a crash, or at which one after another begins.
func (u *uses) restarts() {
	f := u.check.Faults
	for i, inst := range u.check.Instances {
		switch {
		case inst.Comes():
			u.begins(core.Lower(inst.Role), inst.Span, false)
		case f != nil && i < len(f.Restart) && f.Restart[i] > 0:
			u.begins(core.Lower(inst.Role), f.Span, true)
		}
	}
}

// forged looks at what hostile instances send: of some types not all values.
func (u *uses) forged(p *model.Protocol) {
	hostile := stage.NewHostile(p, u.check, &interp.Strings{})
	for _, from := range u.check.Instances {
		for _, to := range u.check.Instances {
			if !from.IsHostile() || to.IsHostile() {
				continue
			}
			list, _, err := hostile.Forgeries(from, to)
			if err != nil {
				continue // the system says so
			}
			sent := map[*model.Message]int64{}
			for _, f := range list {
				sent[f.Message]++
			}
			for m, n := range sent {
				all := (&model.Type{Kind: model.KindRecord, Fields: m.Fields}).Count()
				if n == 1 || n == all { // one that the receiver refuses whatever is in it comes once
					continue
				}
				for _, x := range m.Fields {
					u.fix(x.Type, m.Span, "a hostile instance sends only some of its values")
				}
			}
		}
	}
}

// restart puts constants into the part that it restarts; see begins.
func (u *uses) restart(p *core.Part, at diag.Span, keeps bool) {
	if len(p.Machine.Model.Params) > 0 {
		for _, k := range p.Model.Keys {
			u.fix(k.Type, at, "a restart may give each part its own parameters")
		}
	}
	u.begins(p.Machine, at, keeps)
}

// begins puts constants into a machine that begins again, and into its parts; if keeps is set, not into
// what it keeps of its life before.
func (u *uses) begins(code *core.Machine, at diag.Span, keeps bool) {
	const why = "a restart sets it to a constant"
	m := code.Model
	for _, v := range m.Params {
		u.fix(v.Type, at, why)
	}
	for i, v := range m.Vars {
		if keeps && v.Kept {
			continue
		}
		init := code.Inits[i]
		if init == nil {
			u.zeroes(v.Type, at, why)
			continue
		}
		switch e := core.Bare(init).(type) {
		case *core.Const:
			if v.Type.Kind != model.KindOptional {
				u.fix(v.Type, at, why)
			}
		case *core.Make:
			if len(e.Elems) > 0 {
				u.fix(v.Type, at, why)
			}
		default:
			u.fix(v.Type, at, why)
		}
	}
	for _, q := range code.Parts {
		u.restart(q, at, keeps)
	}
}

// zeroes fixes the types that have a value in the zero of t: what is absent has
// none, and that of an array is the same for every index.
func (u *uses) zeroes(t *model.Type, at diag.Span, why string) {
	switch t.Kind {
	case model.KindOptional, model.KindList, model.KindSet:
	case model.KindArray:
		u.zeroes(t.Elem, at, why)
	case model.KindRecord:
		for _, f := range t.Fields {
			u.zeroes(f.Type, at, why)
		}
	default:
		u.fix(t, at, why)
	}
}
