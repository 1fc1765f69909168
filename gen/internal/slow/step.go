package slow

import (
	"math/big"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// arith computes with numbers of any size and fails where the result needs more than 64 bits.
func arith(e model.Expr, op string, x, y int64) int64 {
	a, b := big.NewInt(x), big.NewInt(y)
	if y == 0 && (op == "/" || op == "%") {
		fail(e.Pos(), "%s: division by zero", words(e))
	}
	switch op {
	case "+":
		a.Add(a, b)
	case "-":
		a.Sub(a, b)
	case "*":
		a.Mul(a, b)
	case "/":
		a.Quo(a, b)
	case "%":
		a.Rem(a, b)
	}
	if !a.IsInt64() {
		fail(e.Pos(), "the result does not fit 64 bits")
	}
	return a.Int64()
}

// machine is a machine at work.
type machine struct {
	model *model.Machine
	state *model.State
	vars  map[*model.Var]value // and parameters
	armed map[*model.Timer][]bool
	parts map[*model.Part][]*machine
	up    *machine
	at    interp.At
	down  bool
	queue []pending
}

// pending is an event of a part that waits.
type pending struct {
	ev   *model.Event
	args []value
}

// load makes a machine of slots.
func load(m *model.Machine, slots []int64, up *machine, at interp.At) *machine {
	out := &machine{model: m, state: m.States[slots[0]], vars: map[*model.Var]value{}, up: up, at: at,
		armed: map[*model.Timer][]bool{}, parts: map[*model.Part][]*machine{}}
	for _, v := range append(m.Params[:len(m.Params):len(m.Params)], m.Vars...) {
		out.vars[v] = read(v.Type, slots[v.Offset:])
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			out.armed[t] = append(out.armed[t], slots[t.Offset+i] != 0)
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			out.parts[p] = append(out.parts[p],
				load(p.Machine, slots[p.Offset+i*p.Machine.Size:], out, interp.At{Part: p, Index: i}))
		}
	}
	return out
}

// save makes slots of a machine.
func (m *machine) save() interp.Value {
	out := make(interp.Value, m.model.Size)
	out[0] = int64(m.state.Index)
	for v, x := range m.vars {
		copy(out[v.Offset:], write(v.Type, x))
	}
	for t, list := range m.armed {
		for i, is := range list {
			out[t.Offset+i] = truth(is).n
		}
	}
	for p, list := range m.parts {
		for i, q := range list {
			copy(out[p.Offset+i*p.Machine.Size:], q.save())
		}
	}
	return out
}

// path is the way from the outermost machine.
func (m *machine) path() []interp.At {
	if m.up == nil {
		return nil
	}
	return append(m.up.path(), m.at)
}

// keys are the keys of a part as the locals of its arguments.
func (m *machine) keys() map[*model.Local]value {
	locals := map[*model.Local]value{}
	for i, v := range keyValues(m.at.Part.Keys, m.at.Index) {
		locals[m.at.Part.KeyLocals[i]] = v
	}
	return locals
}

func keyValues(fields []*model.Field, index int) []value {
	out := make([]value, len(fields))
	for i := len(fields) - 1; i >= 0; i-- {
		t := fields[i].Type
		out[i] = number(t.Lowest() + int64(index)%t.Count())
		index /= int(t.Count())
	}
	return out
}

// begin puts a machine to its beginning; its parameters are set.
func (r *run) begin(m *machine) {
	m.state = m.model.Initial
	for _, v := range m.model.Vars {
		if m.vars[v] = zero(v.Type); v.Init != nil {
			m.vars[v] = r.store(scope{m, map[*model.Local]value{}}, v.Init, v.Type)
		}
	}
	for _, t := range m.model.Timers {
		m.armed[t] = make([]bool, t.Count)
	}
	for _, p := range m.model.Parts {
		for _, q := range m.parts[p] {
			r.beginPart(q)
		}
	}
}

func (r *run) beginPart(m *machine) {
	for i, v := range m.model.Params {
		m.vars[v] = r.store(scope{m.up, m.keys()}, m.at.Part.Args[i], v.Type)
	}
	r.begin(m)
}

// Eval evaluates an expression over a machine's value, or in claims over those of instances, with
// the locals in a frame. The error is an *interp.EvalError.
func Eval(e model.Expr, strs *interp.Strings, m *model.Machine, v interp.Value, locals map[*model.Local][]int64,
	instances [][]int64, chanLen func(*model.ChanLen) int64) (slots []int64, err error) {
	r := &run{strs: strs, chanLen: chanLen}
	r.machine = func(inst *model.Instance) *machine {
		m := load(inst.Role, instances[inst.Index], nil, interp.At{})
		m.down = len(instances[inst.Index]) > inst.Role.Size && instances[inst.Index][inst.Role.Size] != 0
		return m
	}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = &interp.EvalError{Reason: f.reason, Span: f.at}
		default:
			panic(f)
		}
	}()
	s := scope{locals: map[*model.Local]value{}}
	if m != nil {
		s.m = load(m, v, nil, interp.At{})
	}
	for l, slots := range locals {
		s.locals[l] = read(l.Type, slots)
	}
	return write(e.Type(), r.expr(s, e)), nil
}

// Step is interp.Step. Of the fault, only Kind, Machine, Path, State, Event, Reason, Span and
// Guards are set.
func Step(m *model.Machine, strs *interp.Strings, v interp.Value, ev interp.Event) (next interp.Value,
	effects []interp.Effect, res fsm.Result, fault *interp.Fault) {
	r := &run{strs: strs, outer: ev, sender: ev.Sender}
	top := load(m, v, nil, interp.At{})
	res = fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *interp.Fault:
			next, effects, fault = v, nil, f
		default:
			panic(f)
		}
	}()
	args := r.arguments(top, ev)
	if t := m.Sender; t != nil && ev.Event.FromPeer() {
		if why := r.unfit(t, number(int64(ev.Sender))); why != "" {
			refuse(top, interp.Failed, ev.Event, "sender: "+why, diag.Span{})
		}
	}
	to := top
	for _, at := range ev.At {
		to = to.parts[at.Part][at.Index]
	}
	code, id := r.deliver(to, ev.Event, args, &res)
	for up := to.up; up != nil && code == fsm.Took; up = up.up {
		r.drain(up)
	}
	if len(ev.At) > 0 {
		id = fsm.NoTransition
	}
	res = fsm.Result{Code: code, Transition: id}
	switch {
	case code == fsm.Took:
		return top.save(), r.effects, res, nil
	case code == fsm.Ignored && ev.Event.Kind == model.EventTimer: // it is spent
		return top.save(), nil, res, nil
	}
	return v, nil, res, nil
}

// arguments reads the fields of the event.
func (r *run) arguments(m *machine, ev interp.Event) []value {
	var out []value
	at := 0
	for _, f := range ev.Event.Fields {
		v := read(f.Type, ev.Args[at:])
		if why := r.unfit(f.Type, v); why != "" {
			refuse(m, interp.Failed, ev.Event, "field "+f.Name+": "+why, diag.Span{})
		}
		out, at = append(out, v), at+f.Type.Slots()
	}
	return out
}

// refuse throws a fault.
func refuse(m *machine, kind interp.FaultKind, ev *model.Event, reason string, at diag.Span) {
	panic(&interp.Fault{Kind: kind, Machine: m.model, Path: m.path(), State: m.state, Event: ev, Reason: reason,
		Span: at})
}

// try runs what belongs to an event at a machine; a failure in it is the machine's fault.
func (r *run) try(m *machine, ev *model.Event, do func()) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			refuse(m, interp.Failed, ev, f.reason, f.at)
		default:
			panic(f)
		}
	}()
	do()
}

func (r *run) deliver(m *machine, ev *model.Event, args []value, res *fsm.Result) (fsm.Code, uint16) {
	code, id := r.handle(m, ev, args, res)
	if code == fsm.Took {
		r.drain(m)
	}
	return code, id
}

func (r *run) drain(m *machine) {
	for len(m.queue) > 0 {
		p := m.queue[0]
		m.queue = m.queue[1:]
		if code, _ := r.handle(m, p.ev, p.args, nil); code == fsm.Deferred {
			refuse(m, interp.Kept, p.ev, "", m.state.Span)
		}
	}
}

// handle handles one event; res gets the number of the branch before its statements run.
func (r *run) handle(m *machine, ev *model.Event, args []value, res *fsm.Result) (fsm.Code, uint16) {
	armed := func() *bool {
		index := 0
		for i, k := range ev.Timer.Keys {
			index = index*int(k.Type.Count()) + int(args[i].n-k.Type.Lowest())
		}
		return &m.armed[ev.Timer][index]
	}
	if ev.Kind == model.EventTimer {
		is := armed()
		if !*is {
			return fsm.Ignored, fsm.NoTransition
		}
		*is = false
	}
	var h *model.Handler
	if ev.Index < len(m.state.Handlers) {
		h = m.state.Handlers[ev.Index]
	}
	switch {
	case h == nil && (ev.Kind == model.EventUp || ev.Kind == model.EventLost):
		return fsm.Ignored, fsm.NoTransition
	case h == nil && ev.Kind == model.EventStart:
		if m.state == m.model.Initial {
			r.stmts(m, ev, m.state.Entry, map[*model.Local]value{})
		}
		return fsm.Took, fsm.NoTransition
	case h == nil:
		refuse(m, interp.NoHandler, ev, "", m.state.Span)
	case h.Mode == model.Ignore:
		return fsm.Ignored, uint16(h.Branches[0].ID)
	case h.Mode == model.Defer:
		return fsm.Deferred, uint16(h.Branches[0].ID)
	}
	var guards []diag.Span
	for _, t := range h.Branches {
		locals := map[*model.Local]value{}
		for i, l := range t.Params {
			locals[l] = args[i]
		}
		holds := t.When == nil
		if !holds {
			guards = append(guards, t.When.Pos())
			r.try(m, ev, func() { holds = r.holds(scope{m, locals}, t.When) })
		}
		if holds {
			if res != nil && len(r.outer.At) == 0 {
				res.Transition = uint16(t.ID)
			}
			r.take(m, t, locals)
			return fsm.Took, uint16(t.ID)
		}
	}
	panic(&interp.Fault{Kind: interp.NoBranch, Machine: m.model, Path: m.path(), State: m.state, Event: ev,
		Span: m.state.Span, Guards: guards})
}

// take runs a branch.
func (r *run) take(m *machine, t *model.Transition, locals map[*model.Local]value) {
	r.stmts(m, t.Event, t.Body, locals)
	entry := t.Event.Kind == model.EventStart && t.From == m.model.Initial
	if t.To != nil {
		m.state, entry = t.To, true
		if t.To.Final && m.up != nil {
			for _, ev := range m.up.model.Events {
				if ev.Kind == model.EventFinished && ev.Part == m.at.Part {
					r.enqueue(m, ev, nil, t.Event)
				}
			}
		}
	}
	if entry {
		r.stmts(m, t.Event, m.state.Entry, map[*model.Local]value{})
	}
}

// enqueue lets an event of the part m wait at the machine around it.
func (r *run) enqueue(m *machine, ev *model.Event, args []value, cause *model.Event) {
	if r.queued++; r.queued > interp.MaxQueued {
		refuse(m, interp.Failed, cause, "the step queues too many events of parts", ev.Span)
	}
	m.up.queue = append(m.up.queue, pending{ev, append(keyValues(m.at.Part.Keys, m.at.Index), args...)})
}

func (r *run) stmts(m *machine, ev *model.Event, list []model.Stmt, locals map[*model.Local]value) {
	for _, s := range list {
		r.try(m, ev, func() { r.stmt(scope{m, locals}, ev, s) })
	}
}

func (r *run) fields(s scope, list []model.Expr, fields []*model.Field) []value {
	out := make([]value, len(fields))
	for i, f := range fields {
		out[i] = r.store(s, list[i], f.Type)
	}
	return out
}

func slotsOf(fields []*model.Field, list []value) []int64 {
	var out []int64
	for i, f := range fields {
		out = append(out, write(f.Type, list[i])...)
	}
	return out
}

// stmt runs one statement.
func (r *run) stmt(s scope, ev *model.Event, st model.Stmt) {
	m := s.m
	switch st := st.(type) {
	case *model.Set:
		r.set(s, st)
	case *model.Send:
		args := r.fields(s, st.Fields, st.Message.Fields)
		d, to := r.dest(s, st.Dest, st.To)
		r.send(m, st.Message, args, d, to)
	case *model.Close:
		d, to := r.dest(s, st.Dest, st.To)
		for up := m; up.up != nil; up = up.up {
			d, to = r.peer(up, d, to)
		}
		r.effects = append(r.effects, interp.Effect{Kind: fsm.Close, Dest: d, To: to})
	case *model.ReportStmt:
		args := r.fields(s, st.Fields, st.Report.Fields)
		if m.up == nil {
			r.effects = append(r.effects, interp.Effect{Kind: fsm.Report, Report: st.Report,
				Slots: slotsOf(st.Report.Fields, args)})
			return
		}
		for _, up := range m.up.model.Events {
			if up.Kind == model.EventReport && up.Part == m.at.Part && up.Report == st.Report {
				r.enqueue(m, up, args, ev)
				return
			}
		}
		fail(st.Span, "the parent has no event for report %s", st.Report.Name)
	case *model.Run:
		part := m.parts[st.Part][r.select_(s, "part", st.Part.Name, st.Part.Keys, st.Keys)]
		if code, _ := r.deliver(part, st.Event, r.fields(s, st.Args, st.Event.Fields), nil); code == fsm.Deferred {
			refuse(part, interp.Kept, st.Event, "", st.Span)
		}
	case *model.Restart:
		list := m.parts[st.Part]
		if len(st.Keys) > 0 {
			i := r.select_(s, "part", st.Part.Name, st.Part.Keys, st.Keys)
			list = list[i : i+1]
		}
		for _, p := range list {
			r.stopAll(p)
			r.beginPart(p)
		}
	case *model.StartTimer:
		k := r.select_(s, "timer", st.Timer.Name, st.Timer.Keys, st.Keys)
		ticks := st.Timer.Ticks
		if st.Ticks != nil {
			ticks = r.store(s, st.Ticks, st.Timer.Length).n
		}
		m.armed[st.Timer][k] = true
		r.effects = append(r.effects, interp.Effect{Kind: fsm.StartTimer, Timer: st.Timer, At: m.path(),
			Index: k, Ticks: ticks})
	case *model.StopTimer:
		if len(st.Keys) > 0 {
			r.stop(m, st.Timer, r.select_(s, "timer", st.Timer.Name, st.Timer.Keys, st.Keys))
			return
		}
		for k := range st.Timer.Count {
			r.stop(m, st.Timer, k)
		}
	case *model.If:
		if r.holds(s, st.Cond) {
			r.stmts(m, ev, st.Then, s.locals)
		} else {
			r.stmts(m, ev, st.Else, s.locals)
		}
	case *model.Each:
		r.each(s, st.Local, st.Values, st.Over, st.Span, func() bool {
			r.stmts(m, ev, st.Body, s.locals)
			return true
		})
	case *model.Refuse:
		refuse(m, interp.Refusal, ev, st.Reason, st.Span)
	}
}

// set assigns.
func (r *run) set(s scope, st *model.Set) {
	vars := map[*model.Var]value{st.Var: s.m.vars[st.Var].clone()}
	root := vars[st.Var]
	place, t := &root, st.Var.Type
	for k, sel := range st.Select {
		if sel.Field != nil {
			if t.Kind == model.KindOptional {
				if len(place.elems) == 0 {
					fail(st.Span, "%s is none", model.PlaceString(st, k))
				}
				place = &place.elems[0]
			}
			place, t = &place.elems[sel.Field.Index], sel.Field.Type
			continue
		}
		i, why := element(t, *place, r.expr(s, sel.Index).n)
		if why != "" {
			fail(sel.Index.Pos(), "%s: %s", model.PlaceString(st, k+1), why)
		}
		place, t = &place.elems[i], t.Elem
	}
	v := r.expr(s, st.Value)
	if why := r.unfit(t, v); why != "" {
		fail(st.Span, "%s: %s", st.Var.Name, why)
	}
	*place = v
	s.m.vars[st.Var] = root
}

func (v value) clone() value {
	out := value{n: v.n}
	for _, x := range v.elems {
		out.elems = append(out.elems, x.clone())
	}
	return out
}

// dest gives the destination of a statement.
func (r *run) dest(s scope, d model.Dest, to model.Expr) (model.Dest, int) {
	switch d {
	case model.ToSender:
		return d, r.sender
	case model.ToBroadcast:
		return d, int(fsm.Broadcast)
	case model.ToExpr:
		return d, int(r.expr(s, to).n)
	}
	return d, 0
}

// peer gives what the part m sends without a destination that of its peer.
func (r *run) peer(m *machine, d model.Dest, to int) (model.Dest, int) {
	if d != model.ToPeer || m.at.Part.To == nil {
		return d, to
	}
	return model.ToExpr, int(r.expr(scope{m.up, m.keys()}, m.at.Part.To).n)
}

// send sends a message, as the machines around a part map it.
func (r *run) send(m *machine, msg *model.Message, args []value, d model.Dest, to int) {
	if m.up == nil {
		r.effects = append(r.effects, interp.Effect{Kind: fsm.Send, Dest: d, To: to, Message: msg,
			Slots: slotsOf(msg.Fields, args)})
		return
	}
	ps := m.at.Part.Sends[msg.Index]
	if ps == nil {
		return
	}
	d, to = r.peer(m, d, to)
	s := scope{m.up, m.keys()}
	for i, l := range ps.Params {
		s.locals[l] = args[i]
	}
	mapped := r.fields(s, ps.Send.Fields, ps.Send.Message.Fields)
	if ps.Send.Dest != model.ToPeer {
		d, to = r.dest(s, ps.Send.Dest, ps.Send.To)
	}
	r.send(m.up, ps.Send.Message, mapped, d, to)
}

func (r *run) stop(m *machine, t *model.Timer, k int) {
	if m.armed[t][k] {
		m.armed[t][k] = false
		r.effects = append(r.effects, interp.Effect{Kind: fsm.StopTimer, Timer: t, At: m.path(), Index: k})
	}
}

func (r *run) stopAll(m *machine) {
	for _, t := range m.model.Timers {
		for k := range t.Count {
			r.stop(m, t, k)
		}
	}
	for _, p := range m.model.Parts {
		for _, q := range m.parts[p] {
			r.stopAll(q)
		}
	}
}
