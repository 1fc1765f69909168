package interp

import (
	"fmt"

	"github.com/parley-go/parley/gen/model"
)

// Helpers that build models without the compiler.

var (
	boolType = &model.Type{Kind: model.KindBool}
	intType  = &model.Type{Kind: model.KindInt, Lo: -1 << 62, Hi: 1 << 62}
)

func ranged(lo, hi int64) *model.Type { return &model.Type{Kind: model.KindInt, Lo: lo, Hi: hi} }
func optional(t *model.Type) *model.Type {
	return &model.Type{Kind: model.KindOptional, Elem: t}
}

func fields(list ...any) []*model.Field {
	var out []*model.Field
	at := 0
	for i := 0; i < len(list); i += 2 {
		t := list[i+1].(*model.Type)
		out = append(out, &model.Field{Name: list[i].(string), Index: i / 2, Type: t, Offset: at})
		at += t.Slots()
	}
	return out
}

// machine builds a machine whose states are named; messages, vars and the rest
// must be set before layout is called.
func machine(name string, states ...string) *model.Machine {
	m := &model.Machine{Name: name}
	for i, s := range states {
		m.States = append(m.States, &model.State{Name: s, Index: i})
	}
	m.Initial = m.States[0]
	return m
}

func state(m *model.Machine, name string) *model.State {
	for _, s := range m.States {
		if s.Name == name {
			return s
		}
	}
	panic("no state " + name)
}

func event(m *model.Machine, name string) *model.Event {
	for _, e := range m.Events {
		if e.Name == name {
			return e
		}
	}
	panic("no event " + name)
}

// layout numbers slots and makes the events of messages, commands, timers and parts.
func layout(m *model.Machine, messages []*model.Message) {
	m.Messages = messages
	m.Size = 1
	for _, list := range [][]*model.Var{m.Params, m.Vars} {
		for _, v := range list {
			v.Offset = m.Size
			m.Size += v.Type.Slots()
		}
	}
	for i, t := range m.Timers {
		t.Index, t.Offset = i, m.Size
		m.Size++
	}
	add := func(e *model.Event) {
		e.Index = len(m.Events)
		m.Events = append(m.Events, e)
	}
	add(&model.Event{Kind: model.EventStart, Name: "start"})
	add(&model.Event{Kind: model.EventLost, Name: "lost"})
	for i, msg := range messages {
		msg.Index = i
		add(&model.Event{Kind: model.EventMessage, Name: msg.Name, Message: msg, Fields: msg.Fields})
	}
	for _, c := range m.Commands {
		add(c)
	}
	for _, t := range m.Timers {
		add(&model.Event{Kind: model.EventTimer, Name: t.Name, Timer: t})
	}
	for i, p := range m.Parts {
		p.Index, p.Offset, p.Count = i, m.Size, 1
		list := []any{}
		for _, k := range p.Keys {
			p.Count *= int(k.Type.Count())
			list = append(list, k.Name, k.Type)
		}
		m.Size += p.Count * p.Machine.Size
		for _, r := range p.Machine.Reports {
			fl := list[:len(list):len(list)]
			for _, f := range r.Fields {
				fl = append(fl, f.Name, f.Type)
			}
			add(&model.Event{Kind: model.EventReport, Name: p.Name + "." + r.Name, Part: p, Report: r,
				Fields: fields(fl...)})
		}
		add(&model.Event{Kind: model.EventFinished, Name: p.Name + ".finished", Part: p, Fields: fields(list...)})
	}
}

func locals(fl []*model.Field) []*model.Local {
	var out []*model.Local
	at := 0
	for _, f := range fl {
		out = append(out, &model.Local{Name: f.Name, Type: f.Type, Offset: at})
		at += f.Type.Slots()
	}
	return out
}

// on adds a branch; to is empty for no goto.
func on(m *model.Machine, from, ev, to string, when func(t *model.Transition) model.Expr,
	body func(t *model.Transition) []model.Stmt) *model.Transition {
	st, e := state(m, from), event(m, ev)
	for len(st.Handlers) < len(m.Events) {
		st.Handlers = append(st.Handlers, nil)
	}
	h := st.Handlers[e.Index]
	if h == nil {
		h = &model.Handler{Event: e}
		st.Handlers[e.Index] = h
	}
	t := &model.Transition{ID: len(m.Transitions), Name: from + " " + ev, From: st, Event: e,
		Params: locals(e.Fields), Locals: FieldSlots(e.Fields) + 8}
	if to != "" {
		t.To = state(m, to)
	}
	if when != nil {
		t.When = when(t)
	}
	if body != nil {
		t.Body = body(t)
	}
	h.Branches = append(h.Branches, t)
	m.Transitions = append(m.Transitions, t)
	return t
}

func mode(m *model.Machine, from, ev string, md model.Mode) {
	t := on(m, from, ev, "", nil, nil)
	t.Mode = md
	t.From.Handlers[t.Event.Index].Mode = md
}

func ref(v *model.Var) model.Expr { return &model.VarRef{ExprBase: model.ExprBase{T: v.Type}, Var: v} }
func local(l *model.Local) model.Expr {
	return &model.LocalRef{ExprBase: model.ExprBase{T: l.Type}, Local: l}
}
func num(v int64) model.Expr { return &model.Lit{ExprBase: model.ExprBase{T: intType}, Value: v} }
func bin(op model.Op, a, b model.Expr) model.Expr {
	t := intType
	if op >= model.OpEq {
		t = boolType
	}
	return &model.Binary{ExprBase: model.ExprBase{T: t}, Op: op, X: a, Y: b}
}
func some(e model.Expr) model.Expr {
	return &model.Some{ExprBase: model.ExprBase{T: optional(e.Type())}, X: e}
}
func none(t *model.Type) model.Expr { return &model.None{ExprBase: model.ExprBase{T: optional(t)}} }
func set(v *model.Var, e model.Expr) model.Stmt {
	return &model.Set{Var: v, Value: e}
}
func send(m *model.Message, args ...model.Expr) model.Stmt {
	return &model.Send{Message: m, Fields: args}
}
func report(r *model.Report, args ...model.Expr) model.Stmt {
	return &model.ReportStmt{Report: r, Fields: args}
}

// updatePeer is the Update machine: a value, kept equal at both ends.
func updatePeer(value *model.Type) (*model.Machine, *model.Message) {
	update := &model.Message{Name: "UPDATE", Fields: fields("value", value)}
	m := machine("peer", "settled", "open")
	wins := &model.Var{Name: "wins", Type: boolType}
	own, sent := &model.Var{Name: "own", Type: value}, &model.Var{Name: "sent", Type: optional(value)}
	m.Params, m.Vars = []*model.Var{wins}, []*model.Var{own, sent}
	changed := &model.Report{Name: "changed", Fields: fields("value", value)}
	m.Reports = []*model.Report{changed}
	m.Commands = []*model.Event{{Kind: model.EventCommand, Name: "change", Fields: fields("value", value)}}
	layout(m, []*model.Message{update})
	arg := func(t *model.Transition) model.Expr { return local(t.Params[0]) }
	on(m, "settled", "change", "open", nil, func(t *model.Transition) []model.Stmt {
		return []model.Stmt{set(own, arg(t)), set(sent, some(arg(t))), send(update, arg(t))}
	})
	on(m, "settled", "UPDATE", "", nil, func(t *model.Transition) []model.Stmt {
		return []model.Stmt{set(own, arg(t)), send(update, arg(t)), report(changed, arg(t))}
	})
	on(m, "open", "change", "", func(t *model.Transition) model.Expr { return bin(model.OpNe, arg(t), ref(own)) },
		func(t *model.Transition) []model.Stmt { return []model.Stmt{set(own, arg(t))} })
	on(m, "open", "UPDATE", "settled",
		func(t *model.Transition) model.Expr {
			return bin(model.OpOr, bin(model.OpEq, some(arg(t)), ref(sent)), ref(wins))
		},
		func(t *model.Transition) []model.Stmt { return []model.Stmt{set(sent, none(value))} })
	on(m, "open", "UPDATE", "settled", nil, func(t *model.Transition) []model.Stmt {
		return []model.Stmt{set(own, arg(t)), set(sent, none(value)), report(changed, arg(t))}
	})
	return m, update
}

// setupPeer runs one updatePeer for each of two properties.
func setupPeer(value *model.Type) (*model.Machine, *model.Message) {
	up, _ := updatePeer(value)
	prop := ranged(0, 1)
	change := &model.Message{Name: "CHANGE", Fields: fields("property", prop, "value", value)}
	m := machine("peer", "on", "off")
	key := &model.Local{Name: "property", Type: prop}
	arg := &model.Local{Name: "value", Type: value, Offset: 1}
	part := &model.Part{
		Name: "update", Machine: up, Keys: fields("property", prop), KeyLocals: []*model.Local{key},
		Args: []model.Expr{bin(model.OpEq, local(key), num(0))},
		Sends: []*model.PartSend{{Params: []*model.Local{arg},
			Send: send(change, local(key), local(arg)).(*model.Send)}},
	}
	m.Parts = []*model.Part{part}
	changed := &model.Report{Name: "changed", Fields: fields("property", prop, "value", value)}
	m.Reports = []*model.Report{changed}
	m.Commands = []*model.Event{
		{Kind: model.EventCommand, Name: "change", Fields: fields("property", prop, "value", value)},
		{Kind: model.EventCommand, Name: "leave"},
	}
	layout(m, []*model.Message{change})
	run := func(name string) func(t *model.Transition) []model.Stmt {
		return func(t *model.Transition) []model.Stmt {
			return []model.Stmt{&model.Run{Part: part, Keys: []model.Expr{local(t.Params[0])},
				Event: event(up, name), Args: []model.Expr{local(t.Params[1])}}}
		}
	}
	on(m, "on", "change", "", nil, run("change"))
	on(m, "on", "CHANGE", "", nil, run("UPDATE"))
	on(m, "on", "update.changed", "", nil, func(t *model.Transition) []model.Stmt {
		return []model.Stmt{report(changed, local(t.Params[0]), local(t.Params[1]))}
	})
	on(m, "on", "leave", "off", nil, nil)
	on(m, "off", "CHANGE", "", nil, run("UPDATE"))
	return m, change
}

// must panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("unexpected: ", err))
	}
	return v
}
