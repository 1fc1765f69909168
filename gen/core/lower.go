package core

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// Of lowers an expression; nil stays nil.
func Of(e model.Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *model.Lit:
		return number(e.T, e.Value, e)
	case *model.Text:
		return &Const{Base: base(e.T, e), Text: e.Value, IsText: true}
	case *model.None:
		return &Const{Base: base(e.T, e)}
	case *model.Some:
		return newMake([]Expr{some(e)}, e.T, e)
	case *model.Unwrap:
		return payload(Of(e.X), e)
	case *model.LocalRef:
		return &Local{Base: base(e.Local.Type, e), Local: e.Local}
	case *model.Sender:
		return &Local{Base: base(e.T, e)}
	case *model.VarRef, *model.StateTest, *model.TimerTest, *model.Down:
		return read(e)
	case *model.FieldRef:
		return newField(Of(e.X), e.Field, e)
	case *model.Index:
		return newIndex(Of(e.X), Of(e.I), e.T, e)
	case *model.Unary:
		return newApply(operators[e.Op], []Expr{Of(e.X)}, e.T, e)
	case *model.Binary:
		return binary(e)
	case *model.Call:
		return call(e)
	case *model.RecordLit:
		elems := make([]Expr, len(e.Fields))
		for i, f := range e.T.Fields {
			elems[i] = store(e.Fields[i], f.Type)
		}
		return newMake(elems, e.T, e)
	case *model.ListLit:
		elems := make([]Expr, len(e.Elems))
		for i, x := range e.Elems {
			elems[i] = element(x, e.T)
		}
		return newMake(elems, e.T, e)
	case *model.Build:
		f := Fold{How: List, Local: e.Local, Values: e.Values, Over: Of(e.Over), Where: Of(e.If)}
		switch e.T.Kind {
		case model.KindArray:
			f.How, f.Elem = Array, store(e.Elem, e.T.Elem)
			return newFold(f, e.T, e)
		case model.KindSet:
			f.How = Set
		}
		f.Elem = element(e.Elem, e.T)
		return newFold(f, e.T, e)
	case *model.Find:
		f := Fold{How: First, Local: e.Local, Values: e.Values, Over: Of(e.Over), Where: Of(e.X)}
		if e.Count {
			f.How = Count
		}
		return newFold(f, e.T, e)
	case *model.Quantified:
		f := Fold{How: Some, Local: e.Local, Values: e.Values, Over: Of(e.Over), Where: Of(e.X)}
		if e.All {
			f.How = All
		}
		return newFold(f, e.T, e)
	case *model.ChanLen:
		return observe(e)
	}
	panic(fmt.Sprintf("core: unknown expression %T", e))
}

// store lowers an expression whose value is stored in a place of type t.
func store(e model.Expr, t *model.Type) Expr { return fitted(Of(e), t, e.Pos(), "") }

// element lowers what becomes an element of a list or set of type t.
func element(e model.Expr, t *model.Type) Expr {
	words := ""
	if t.Kind == model.KindSet {
		words = "no element of the set: "
	}
	return fitted(Of(e), t.Elem, e.Pos(), words)
}

// some lowers the value of an optional. Its range is not checked, since it may be there only to be
// compared.
func some(e *model.Some) Expr {
	x := Of(e.X)
	if alike(x.Node().T, e.T.Elem) {
		return x
	}
	return store(e.X, e.T.Elem)
}

func binary(e *model.Binary) Expr {
	x, y := Of(e.X), Of(e.Y)
	switch e.Op {
	case model.OpAnd:
		return Join(FormAnd, x, y, e)
	case model.OpOr:
		return Join(FormOr, x, y, e)
	case model.OpImplies:
		return newIf(FormImplies, x, y, number(e.T, 1, e), e.T, e)
	}
	return newApply(operators[e.Op], []Expr{x, y}, e.T, e)
}

func call(e *model.Call) Expr {
	switch e.Fn {
	case model.FnIf:
		a, b := Of(e.Args[1]), Of(e.Args[2])
		if !e.T.Scalar() || !alike(a.Node().T, e.T) || !alike(b.Node().T, e.T) {
			a, b = store(e.Args[1], e.T), store(e.Args[2], e.T)
		}
		return newIf(FormIf, Of(e.Args[0]), a, b, e.T, e)
	case model.FnAppend, model.FnWith:
		list := fitted(Of(e.Args[0]), e.T, e.Pos(), "")
		return newApply(functions[e.Fn], []Expr{list, element(e.Args[1], e.T)}, e.T, e)
	}
	args := make([]Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = Of(a)
	}
	return newApply(functions[e.Fn], args, e.T, e)
}

func observe(e *model.ChanLen) Expr {
	o := &Observe{Base: base(e.T, e), Of: e}
	o.In.Lo, o.In.Hi = 0, model.MaxConst
	return o
}

// read lowers what reads something of a machine.
func read(e model.Expr) Expr {
	r := &Read{}
	r.From = e
	switch e := e.(type) {
	case *model.VarRef:
		r.T, r.What, r.Var, r.Place = e.Var.Type, ReadVar, e.Var, placeOf(e.Inst, e.Path)
	case *model.StateTest:
		r.T, r.What, r.Is, r.Place = e.T, ReadState, e.States, placeOf(e.Inst, e.Path)
	case *model.TimerTest:
		r.T, r.What, r.Timer, r.Place = e.T, ReadTimer, e.Timer, placeOf(e.Inst, e.Path)
		r.Keys = selecting("timer", e.Timer.Name, e.Timer.Keys, e.Keys)
	case *model.Down:
		r.T, r.What, r.Place = e.T, ReadDown, Place{Inst: e.Inst}
	}
	return r.placed()
}

// placed fills in what follows from the place that is read.
func (r *Read) placed() *Read {
	r.Base = base(r.T, r.From, r.keys()...)
	switch r.What {
	case ReadVar:
		r.at(r.Var.Offset, nil, 0)
	case ReadTimer:
		r.at(r.Timer.Offset, r.Timer.Keys, 1)
	case ReadDown:
		r.at(r.Inst.Role.Size, nil, 0) // whoever explores faults keeps it behind the machine's value
	default:
		r.at(0, nil, 0)
	}
	return r
}

func placeOf(inst *model.Instance, path model.Path) Place {
	p := Place{Inst: inst}
	for _, s := range path {
		p.Path = append(p.Path, Step{s.Part, partKeys(s.Part, s.Keys)})
	}
	return p
}

func partKeys(p *model.Part, keys []model.Expr) []Expr {
	return selecting("part", p.Name, p.Keys, keys)
}

// selecting lowers the keys that select an instance of a part or timer.
func selecting(what, name string, fields []*model.Field, keys []model.Expr) []Expr {
	var out []Expr
	for i, k := range keys {
		words := "no instance of " + what + " " + name + ": key " + fields[i].Name + ": "
		out = append(out, fitted(Of(k), fields[i].Type, k.Pos(), words))
	}
	return out
}

// keys lists all keys of a place, in the order in which they are evaluated.
func (p *Place) keys() []Expr {
	var out []Expr
	for _, s := range p.Path {
		out = append(out, s.Keys...)
	}
	return append(out, p.Keys...)
}

// Lower lowers a machine, with the machines of its parts.
func Lower(m *model.Machine) *Machine { return Once()(m) }

// Once returns a Lower for several machines that lowers each of them once, however often it is asked.
func Once() func(m *model.Machine) *Machine {
	l := &lowering{machines: map[*model.Machine]*Machine{}}
	return l.machine
}

type lowering struct {
	machines map[*model.Machine]*Machine
	parts    map[*model.Part]*Part // of the machine at hand
}

func (l *lowering) machine(m *model.Machine) *Machine {
	if done := l.machines[m]; done != nil {
		return done
	}
	out := &Machine{Model: m}
	l.machines[m] = out
	for _, v := range m.Vars {
		var init Expr
		if v.Init != nil {
			init = store(v.Init, v.Type)
		}
		out.Inits = append(out.Inits, init)
	}
	parts := map[*model.Part]*Part{}
	for _, p := range m.Parts {
		parts[p] = l.part(p)
		out.Parts = append(out.Parts, parts[p])
	}
	inner := lowering{l.machines, parts}
	for _, st := range m.States {
		out.States = append(out.States, &State{Model: st, Entry: inner.stmts(st.Entry)})
	}
	out.Transitions = make([]*Transition, len(m.Transitions))
	for i, st := range m.States {
		to := out.States[i]
		to.Handlers = make([]*Handler, len(st.Handlers))
		for k, h := range st.Handlers {
			if h == nil {
				continue
			}
			to.Handlers[k] = &Handler{Model: h}
			for _, t := range h.Branches {
				b := &Transition{Model: t, When: Of(t.When), Body: inner.stmts(t.Body)}
				if t.To != nil {
					b.To = out.States[t.To.Index]
				}
				to.Handlers[k].Branches = append(to.Handlers[k].Branches, b)
				out.Transitions[t.ID] = b
			}
		}
	}
	return out
}

func (l *lowering) part(p *model.Part) *Part {
	out := &Part{Model: p, Machine: l.machine(p.Machine), To: Of(p.To), Sends: make([]*PartSend, len(p.Sends))}
	for i, v := range p.Machine.Params {
		if i < len(p.Args) {
			out.Args = append(out.Args, store(p.Args[i], v.Type))
		}
	}
	for i, s := range p.Sends {
		if s != nil {
			out.Sends[i] = &PartSend{s, l.stmts([]model.Stmt{s.Send})[0].(*Emit)}
		}
	}
	return out
}

func (l *lowering) stmts(list []model.Stmt) []Stmt {
	var out []Stmt
	for _, s := range list {
		calls := s.Base().Calls
		if e, ok := s.(*model.Each); ok {
			if value := letOf(e); value != nil {
				let := newAssign(Assign{Local: e.Local, Value: store(value, e.Local.Type)}, e)
				let.Calls = calls
				out = append(out, let)
				for _, in := range l.stmts(e.Body) { // they stand behind it now, not in it
					in.Node().Calls = slices.Concat(calls, in.Node().Calls)
					out = append(out, in)
				}
				continue
			}
		}
		one := l.stmt(s)
		one.Node().Calls = calls
		out = append(out, one)
	}
	return out
}

// letOf returns the value that a loop over a list of one gives its local; nil if it is no such loop.
func letOf(e *model.Each) model.Expr {
	if list, ok := e.Over.(*model.ListLit); ok && list.T.Kind == model.KindList && len(list.Elems) == 1 &&
		list.T.Elem == e.Local.Type {
		return list.Elems[0]
	}
	return nil
}

func (l *lowering) stmt(s model.Stmt) Stmt {
	switch s := s.(type) {
	case *model.Set:
		return newAssign(l.set(s), s)
	case *model.Send:
		return newEmit(Emit{Message: s.Message, Fields: stored(s.Fields, s.Message.Fields), Dest: s.Dest,
			To: Of(s.To)}, s)
	case *model.ReportStmt:
		return newEmit(Emit{Report: s.Report, Fields: stored(s.Fields, s.Report.Fields)}, s)
	case *model.Close:
		return newEmit(Emit{Dest: s.Dest, To: Of(s.To)}, s)
	case *model.Run:
		g := Give{Part: l.parts[s.Part], Event: s.Event, Args: stored(s.Args, s.Event.Fields)}
		g.Place = ofPart(s.Part, s.Keys)
		return newGive(g, s)
	case *model.Restart:
		r := Reset{Part: l.parts[s.Part], All: len(s.Keys) == 0}
		r.Place = ofPart(s.Part, s.Keys)
		return newReset(r, s)
	case *model.StartTimer:
		t := Timer{Place: ofTimer(s.Timer, s.Keys), Timer: s.Timer, Start: true}
		if s.Ticks != nil {
			t.Ticks = store(s.Ticks, s.Timer.Length)
		}
		return newTimer(t, s)
	case *model.StopTimer:
		return newTimer(Timer{Place: ofTimer(s.Timer, s.Keys), Timer: s.Timer, All: len(s.Keys) == 0}, s)
	case *model.If:
		return newBranch(Branch{Cond: Of(s.Cond), Then: l.stmts(s.Then), Else: l.stmts(s.Else)}, s)
	case *model.Each:
		return newFor(For{Local: s.Local, Values: s.Values, Over: Of(s.Over), Body: l.stmts(s.Body)}, s)
	case *model.Refuse:
		return &Refuse{StmtBase: StmtBase{CanFail: true, From: s}, Reason: s.Reason}
	}
	panic(fmt.Sprintf("core: unknown statement %T", s))
}

func (l *lowering) set(s *model.Set) Assign {
	a := Assign{Var: s.Var}
	t := s.Var.Type
	for _, sel := range s.Select {
		x := Select{T: t, Field: sel.Field, Index: Of(sel.Index)}
		if t = t.Elem; sel.Field != nil {
			t = sel.Field.Type
		}
		a.Select = append(a.Select, x)
	}
	a.Value = fitted(Of(s.Value), t, s.Span, s.Var.Name+": ")
	return a
}

func stored(list []model.Expr, fields []*model.Field) []Expr {
	out := make([]Expr, len(fields))
	for i, f := range fields {
		out[i] = store(list[i], f.Type)
	}
	return out
}

func ofPart(p *model.Part, keys []model.Expr) Place {
	out := Place{Keys: partKeys(p, keys)}
	out.at(p.Offset, p.Keys, p.Machine.Size)
	return out
}

func ofTimer(t *model.Timer, keys []model.Expr) Place {
	out := Place{Keys: selecting("timer", t.Name, t.Keys, keys)}
	out.at(t.Offset, t.Keys, 1)
	return out
}

// stmt fills in what follows from the parts of a statement.
func stmtBase(from model.Stmt, fails bool, operands ...Expr) StmtBase {
	for _, x := range operands {
		fails = fails || x != nil && x.Node().CanFail
	}
	return StmtBase{CanFail: fails, From: from}
}

func newAssign(a Assign, from model.Stmt) *Assign {
	fails := false
	for _, s := range a.Select {
		if s.Field != nil {
			fails = fails || s.T.Kind == model.KindOptional
			continue
		}
		i := s.Index.Node()
		fails = fails || i.CanFail || s.T.Kind != model.KindArray || !i.In.In(places(s.T.Index))
	}
	a.StmtBase = stmtBase(from, fails, a.Value)
	return &a
}

func newEmit(e Emit, from model.Stmt) *Emit {
	e.StmtBase = stmtBase(from, false, append(e.Fields[:len(e.Fields):len(e.Fields)], e.To)...)
	return &e
}

func newTimer(t Timer, from model.Stmt) *Timer {
	t.StmtBase = stmtBase(from, false, append(t.keys(), t.Ticks)...)
	return &t
}

func newGive(g Give, from model.Stmt) *Give {
	g.StmtBase = stmtBase(from, true)
	return &g
}

func newReset(r Reset, from model.Stmt) *Reset {
	r.StmtBase = stmtBase(from, resets(r.Part), r.keys()...)
	return &r
}

// resets reports whether putting a part back to the beginning can fail.
func resets(p *Part) bool {
	for _, list := range [][]Expr{p.Args, p.Machine.Inits} {
		for _, e := range list {
			if e != nil && e.Node().CanFail {
				return true
			}
		}
	}
	for _, q := range p.Machine.Parts {
		if resets(q) {
			return true
		}
	}
	return false
}

func newBranch(b Branch, from model.Stmt) *Branch {
	b.StmtBase = stmtBase(from, CanFail(b.Then) || CanFail(b.Else), b.Cond)
	return &b
}

func newFor(f For, from model.Stmt) *For {
	f.StmtBase = stmtBase(from, CanFail(f.Body), f.Over)
	return &f
}

// CanFail reports whether one of the statements can fault or refuse.
func CanFail(list []Stmt) bool {
	for _, s := range list {
		if s.Node().CanFail {
			return true
		}
	}
	return false
}
