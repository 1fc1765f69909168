package body

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// returns are the statements that end a function which handles events, one for each result.
type returns struct {
	took     func(id int) gotree.Stmt
	ignored  func(id int) gotree.Stmt
	deferred func(id int) gotree.Stmt
	// refused is for a refusal after branch id was taken, unexplained for one
	// that no branch explains.
	refused     func(id int, dirty bool) *gotree.Return
	unexplained func(dirty bool) gotree.Stmt
	// settles: what parts reported is handled before the function ends.
	settles bool
	// saves: a branch that can refuse after a change keeps the old value.
	saves bool
	// keeps: the caller is told of deferring; it is a refusal elsewhere.
	keeps bool
}

// number composes a transition's number as a step returns it.
func number(id int) gotree.Expr {
	if id < 0 {
		return gotree.X("fsm.NoTransition")
	}
	return gotree.Int(id)
}

// result returns a function that makes the statement which ends a step in the given way.
func result(way string) func(id int) gotree.Stmt {
	return func(id int) gotree.Stmt { return gotree.Returns(gotree.X("$1($2)", way, number(id))) }
}

func refusedStep(id int, dirty bool) *gotree.Return {
	if dirty {
		return gotree.Returns(gotree.X("m.undo(&old, fx, $1)", number(id)))
	}
	return gotree.Returns(gotree.X("refused($1)", number(id)))
}

var stepReturns = returns{
	took: result("took"), ignored: result("ignored"), deferred: result("deferred"),
	refused:     refusedStep,
	unexplained: func(dirty bool) gotree.Stmt { return refusedStep(-1, dirty) },
	settles:     true, saves: true, keeps: true,
}

// fixed returns a function that makes the same return statement for every branch.
func fixed(x string) func(int) gotree.Stmt {
	return func(int) gotree.Stmt { return gotree.Returns(gotree.X(x)) }
}

func refusal(x string) (func(int, bool) *gotree.Return, func(bool) gotree.Stmt) {
	return func(int, bool) *gotree.Return { return gotree.Returns(gotree.X(x)) },
		func(bool) gotree.Stmt { return gotree.Returns(gotree.X(x)) }
}

// partReturns returns the ends of a part's method. done collects the ends without a refusal: their
// results are set when it is known whether the method can refuse.
func partReturns(done *[]*gotree.Return) returns {
	end := func(int) gotree.Stmt {
		r := &gotree.Return{}
		*done = append(*done, r)
		return r
	}
	ret := returns{took: end, ignored: end, deferred: fixed("false"), settles: true}
	ret.refused, ret.unexplained = refusal("false")
	return ret
}

func settleReturns() returns {
	next := func(int) gotree.Stmt { return &gotree.Branch{Word: "continue"} }
	ret := returns{took: next, ignored: next, deferred: fixed("false")}
	ret.refused, ret.unexplained = refusal("false")
	return ret
}

func expiryReturns() returns {
	ret := returns{took: fixed("fsm.Took"), ignored: fixed("fsm.Ignored"), deferred: fixed("fsm.Deferred"),
		settles: true, keeps: true}
	ret.refused, ret.unexplained = refusal("fsm.Refused")
	return ret
}

// saved returns the statement that keeps the machine's value for undo.
func saved() []gotree.Stmt { return gotree.S("old := *m") }

// handle appends what a state does with an event. args are the event's fields.
func (c *stmts) handle(h *core.Handler, args []val, ret returns) {
	ev := h.Model.Event
	early := ev.Kind == model.EventTimer // something changes before the branches
	if h.Model.Mode != model.Handle {
		if early {
			dirty := c.dirty
			c.expired(ev.Timer, args) // it does not run any more, whatever is done with the expiry
			c.dirty = dirty
		}
		c.mode(h.Model, ret)
		return
	}
	outer := c.f
	c.f = &types.Facts{}
	dirty := c.dirty
	code := c.inner(func() {
		if early {
			c.expired(ev.Timer, args)
		}
		guarded := true
		for _, t := range h.Branches {
			if c.branch(t, args, ret, !early); t.When == nil {
				guarded = false
				break
			}
		}
		if guarded {
			c.refuse = ret.unexplained
			c.out.Add(c.fault())
		}
	})
	if ret.saves && early && c.f.RefusesDirty {
		code = append(saved(), code...)
	}
	c.out.Add(code...)
	c.dirty = dirty
	outer.And(c.f)
	outer.Waits = outer.Waits || c.f.Waits
	c.f = outer
}

// expired appends the statement that disarms the timer which has expired.
func (c *stmts) expired(t *model.Timer, args []val) {
	place := gotree.X("m.$1", c.r.Timers[t.Index])
	var index gotree.Expr
	for i, k := range t.Keys {
		index = nextIndex(index, c.g.index(args[i], k.Type), k)
	}
	if index != nil {
		place = gotree.X("$1[$2]", place, index)
	}
	c.out.P("$1 = false", place)
	c.changed(c.r.Timers[t.Index])
}

// mode appends what ignore and defer do.
func (c *stmts) mode(h *model.Handler, ret returns) {
	id, end := -1, ret.ignored
	if h.Mode == model.Defer {
		end = ret.deferred
		if !ret.keeps {
			c.f.Refuses = true
			c.f.RefusesDirty = c.f.RefusesDirty || c.dirty
		}
	}
	if len(h.Branches) > 0 {
		id = h.Branches[0].ID
		c.out.Comment(c.g.At(h.Branches[0].Span.File, h.Branches[0].Span.Start.Line))
	}
	c.out.Add(end(id))
}

// branch appends one branch: guard, statements, goto, entry.
func (c *stmts) branch(t *core.Transition, args []val, ret returns, saves bool) {
	m := t.Model
	c.locals = map[*model.Local]val{}
	for i, l := range m.Params {
		c.locals[l] = args[i]
	}
	dirty, changes := c.dirty, c.changes
	c.refuse = ret.unexplained
	note := c.g.At(m.Span.File, m.Span.Start.Line)
	if m.Doc != "" {
		note += " " + strings.Join(strings.Fields(m.Doc), " ")
	}
	c.out.Comment(note)
	var guard val
	if t.When != nil {
		guard = c.value(t.When)
	}
	var refusals []*gotree.Return
	c.refuse = func(dirty bool) gotree.Stmt {
		r := ret.refused(m.ID, dirty)
		refusals = append(refusals, r)
		return r
	}
	outer := c.f
	c.f = &types.Facts{}
	var code []gotree.Stmt
	if t.When == nil {
		code = c.inner(func() { c.taken(t, ret) })
	} else {
		c.assuming(guard.holds(), func() { code = c.block(func() { c.taken(t, ret) }) })
	}
	if ret.saves && saves && c.f.RefusesDirty {
		code = append(saved(), code...)
		for _, r := range refusals { // alike, so that one if statement takes several
			r.Results = ret.refused(m.ID, true).Results
		}
	}
	outer.And(c.f)
	outer.Waits = outer.Waits || c.f.Waits
	c.f = outer
	if t.When != nil {
		c.out.When(guard.x, code...)
		c.dirty = dirty
		c.changes = changes // the branch was not taken
		c.learn(gotree.Not(guard.x))
		return
	}
	c.out.Add(code...)
}

// taken appends what follows the guard.
func (c *stmts) taken(t *core.Transition, ret returns) {
	if c.r.Part == nil && c.r.Queue != "" {
		c.out.P("fx.fired = append(fx.fired, $1)", t.Model.ID)
	}
	if c.sharer != nil && c.sharer.shared[t] != nil {
		c.invoke(c.sharer.shared[t])
	} else if c.effects(t) {
		c.settle(ret)
	} else {
		return
	}
	c.out.Add(ret.took(t.Model.ID))
}

// effects appends what a branch does. The handling of what parts report is not included. It returns
// false if code after it cannot be reached.
func (c *stmts) effects(t *core.Transition) bool {
	if !c.statements(t.Body) {
		return false
	}
	if t.To != nil {
		c.out.P("m.State = $1", c.r.States[t.To.Model.Index])
		c.changed("State")
		if t.To.Model.Final && c.r.Part != nil {
			c.finished()
		}
	}
	st := entered(c.r, t)
	return st == nil || c.entry(st)
}

// entered returns the state whose entry a branch runs. It returns nil if the branch stays in its state;
// but start in the initial state enters that state.
func entered(r *types.Machine, t *core.Transition) *core.State {
	if t.To == nil && t.Model.Event.Kind == model.EventStart && t.Model.From == r.M.Initial {
		return r.Core.States[r.M.Initial.Index]
	}
	return t.To
}

// handlerOf returns what a state does with an event. It returns nil if the state does not mention it.
func handlerOf(st *core.State, ev *model.Event) *core.Handler {
	if ev.Index < 0 || ev.Index >= len(st.Handlers) {
		return nil
	}
	return st.Handlers[ev.Index]
}

// entry appends the entry actions of a state. It returns false if code after them cannot be reached.
func (c *stmts) entry(s *core.State) bool {
	if len(s.Entry) == 0 {
		return true
	}
	if p := c.g.entryProc(c.r, s); p != nil {
		c.invoke(p)
		return true
	}
	at := s.Entry[0].Node().Pos()
	c.out.Comment(c.g.At(at.File, at.Start.Line) + " entry")
	c.locals = map[*model.Local]val{}
	return c.statements(s.Entry)
}

// finished queues the event that this part has finished, for its parent.
func (c *stmts) finished() {
	for _, w := range c.r.Up.Waiting {
		if w.Ev.Kind == model.EventFinished && w.Ev.Part == c.r.Part {
			c.enqueue(w, nil)
			return
		}
	}
}

// settle appends the call that handles what parts reported, if they can have reported something.
func (c *stmts) settle(ret returns) {
	if !ret.settles || !c.f.Waits {
		return
	}
	f := c.g.settleFacts(c.r)
	args := make([]gotree.Expr, len(c.r.Keys))
	for i, k := range c.r.Keys {
		args[i] = gotree.Name{Name: k.Name}
	}
	c.dirty = true
	if f.Changes {
		c.changed("")
	}
	c.f.Queues = c.f.Queues || f.Queues
	c.checkf("!m.settle(fx, $1)", args)
}

// handlerWords are the first words of the names of methods that handle events, and the words for their
// comments.
var handlerWords = map[model.EventKind]struct{ method, what string }{
	model.EventMessage: {"receive", "the message"}, model.EventCommand: {"command",
		"the command"}, model.EventTimer: {"expire", "the expiry of timer"},
	model.EventUp: {"link", "the event"}, model.EventLost: {"link", "the event"},
}

// method returns a method without a body. Its parameters are the effects and the keys.
func (g *Funcs) method(r *types.Machine, name string) *gotree.Func {
	f := &gotree.Func{Name: name, Recv: &gotree.Param{Name: "m", Type: gotree.X("*$1", r.Typ)},
		Params: []gotree.Param{{Name: "fx", Type: gotree.X("*$1", r.Role.Effects)}}}
	for _, k := range r.Keys {
		f.Params = append(f.Params, gotree.Param{Name: k.Name, Type: g.Typ(k.Field.Type, "").X})
	}
	return f
}

// handler returns the facts of the method by which a part handles an event. It composes the method at
// the first call.
func (g *Funcs) handler(r *types.Machine, ev *model.Event) *types.Facts {
	id := fmt.Sprintf("%d %s", ev.Kind, ev.Name)
	if f := r.Done[id]; f != nil {
		return f
	}
	c := g.newStmts(r)
	word := handlerWords[ev.Kind]
	c.f.Name = r.Calls.Take(word.method + base.GoName(ev.Name))
	r.Done[id] = c.f
	fn := g.method(r, c.f.Name)
	args := make([]val, len(ev.Fields))
	for i, f := range ev.Fields {
		name := c.names.Local(f.Name)
		g.Typ(f.Type, r.Prefix+base.GoName(ev.Name)+base.GoName(f.Name))
		fn.Params = append(fn.Params, gotree.Param{Name: name, Type: g.Typ(f.Type, "").X})
		args[i] = local(name, f.Type)
	}
	c.scope = fn.Params
	var done []*gotree.Return
	ret := partReturns(&done)
	if ev.Kind == model.EventTimer {
		ret = expiryReturns()
	}
	var list []handled
	for _, st := range r.Core.States {
		if h := handlerOf(st, ev); h != nil {
			list = append(list, handled{h, args})
		}
	}
	c.sharer = g.share(r, c.scope, ret, list)
	all := true
	states := &gotree.Switch{Tag: gotree.X("m.State")}
	for _, st := range r.Core.States {
		h := handlerOf(st, ev)
		if h == nil {
			all = false
			continue
		}
		c.dirty = false
		states.Cases = append(states.Cases, &gotree.Case{List: gotree.Names([]string{r.States[st.Model.Index]}),
			Body: c.block(func() { c.handle(h, args, ret) })})
	}
	silent := ev.Kind == model.EventUp || ev.Kind == model.EventLost // where they are not mentioned they are ignored
	if !all && !silent {
		c.f.Refuses = true
	}
	fn.Body = []gotree.Stmt{states}
	doc := fmt.Sprintf("gives the part %s %s.", word.what, ev.Name)
	switch {
	case ev.Kind == model.EventTimer:
		fn.Results = []gotree.Param{{Type: gotree.X("fsm.Code")}}
		fn.Body = append(fn.Body, gotree.Returns(gotree.X("fsm.Refused")))
	case c.f.Refuses:
		doc += " It returns false if the part refuses that."
		fn.Results = []gotree.Param{{Type: gotree.X("bool")}}
		for _, d := range done {
			d.Results = []gotree.Expr{gotree.X("true")}
		}
		fn.Body = append(fn.Body, gotree.Returns(gotree.X("$1", silent)))
	}
	fn.Doc = base.Comment(c.f.Name, doc)
	fn.Tidy()
	r.Methods = append(r.Methods, fn)
	return c.f
}

// settleFacts returns the facts of the method that handles queued events of parts. It composes the
// method at the first call.
func (g *Funcs) settleFacts(r *types.Machine) *types.Facts {
	if r.Settled != nil {
		return r.Settled
	}
	c := g.newStmts(r, "i", "next")
	c.dirty, c.f.Refuses, c.f.RefusesDirty = true, true, true
	r.Settled = c.f
	c.scope = append(g.always(r), gotree.Param{Name: "next", Type: gotree.X("*$1", r.Queued)})
	var list []handled
	for _, st := range r.Core.States {
		for _, w := range r.Waiting {
			if h := handlerOf(st, w.Ev); h != nil {
				list = append(list, handled{h, waitingArgs(w, "next")})
			}
		}
	}
	c.sharer = g.share(r, c.scope, settleReturns(), list)
	states, kinds := &gotree.Switch{Tag: gotree.X("m.State")}, &gotree.Switch{Tag: gotree.X("next.kind")}
	for _, st := range r.Core.States {
		state := gotree.Name{Name: r.States[st.Model.Index]}
		for _, w := range r.Waiting {
			if h := handlerOf(st, w.Ev); h != nil {
				body := c.block(func() { c.handle(h, waitingArgs(w, "next"), settleReturns()) })
				within(states, state, "next.kind", gotree.Name{Name: w.Kind}, body)
				within(kinds, gotree.Name{Name: w.Kind}, "m.State", state, body)
			}
		}
	}
	tidied := func(s gotree.Stmt) int { return gotree.Lines(gotree.Tidy([]gotree.Stmt{s})) }
	if tidied(kinds) < min(tidied(states), longest-20) {
		states = kinds // states that do the same stand together
	}
	one := gotree.S("$1\nreturn false", gotree.Stmt(states))
	if gotree.Lines([]gotree.Stmt{states}) > longest-20 {
		g.settleStates(r, states)
		one = gotree.S("ok := false\n$1\nif !ok {\nreturn false\n}", gotree.Stmt(states))
	}
	g.Helpers["maxQueued"] = true
	var next, end []gotree.Stmt
	if gotree.Uses(states, "next") {
		next = gotree.S("next := &fx.$1[i]", r.Queue)
	}
	if r.Part != nil {
		end = gotree.S("fx.$1 = fx.$1[:0]", r.Queue)
	}
	fn := g.method(r, "settle")
	fn.Doc = base.Comment("settle",
		"handles what the parts reported in this step, oldest first. It returns false if the step is refused.")
	fn.Results = []gotree.Param{{Type: gotree.X("bool")}}
	fn.Body = gotree.S(`for i := 0; i < len(fx.$1); i++ {
		if fx.settled++; fx.settled > maxQueued {
			return false
		}
		$2
		$3
	}
	$4
	return true`, r.Queue, next, one, end)
	fn.Tidy()
	r.Methods = append(r.Methods, fn)
	return c.f
}

// within adds a case to the inner one of two nested switches.
func within(outer *gotree.Switch, first gotree.Expr, tag string, second gotree.Expr, body []gotree.Stmt) {
	inner := &gotree.Case{List: []gotree.Expr{second}, Body: body}
	for _, c := range outer.Cases {
		if gotree.Equal(c.List[0], first) {
			events := c.Body[0].(*gotree.Switch)
			events.Cases = append(events.Cases, inner)
			return
		}
	}
	events := &gotree.Switch{Tag: gotree.X(tag), Cases: []*gotree.Case{inner}}
	outer.Cases = append(outer.Cases, &gotree.Case{List: []gotree.Expr{first}, Body: []gotree.Stmt{events}})
}

// settleStates makes a method of what each state does with queued events.
func (g *Funcs) settleStates(r *types.Machine, states *gotree.Switch) {
	for i, c := range states.Cases {
		name := c.List[0].(gotree.Name).Name
		fn := g.method(r, "settle"+strings.TrimPrefix(name, r.State))
		fn.Params = append(fn.Params, gotree.Param{Name: "next", Type: gotree.X("*$1", r.Queued)})
		fn.Results = []gotree.Param{{Type: gotree.X("bool")}}
		fn.Doc = base.Comment(fn.Name,
			"handles one event of a part in the state "+base.Unexported(strings.TrimPrefix(name,
				r.State))+". It returns false if the step is refused.")
		fn.Body = append(gotree.Continued(c.Body, gotree.Returns(gotree.X("true"))), gotree.Returns(gotree.X("false")))
		r.Methods = append(r.Methods, fn)
		args := make([]gotree.Expr, len(fn.Params))
		for i, p := range fn.Params {
			args[i] = gotree.Name{Name: p.Name}
		}
		for gotree.Lines(fn.Body) > longest-5 {
			_, c := longestCase(fn.Body[0].(*gotree.Switch))
			if c == nil {
				break
			}
			part := *fn
			part.Name = r.Calls.Take(fn.Name + strings.TrimPrefix(c.List[0].(gotree.Name).Name, r.Queued))
			part.Doc = base.Comment(part.Name,
				"handles this event in the state "+base.Unexported(strings.TrimPrefix(name, r.State))+".")
			part.Body = c.Body
			r.Methods = append(r.Methods, &part)
			c.Body = gotree.S("return m.$1($2)", part.Name, args)
		}
		states.Cases[i] = &gotree.Case{List: c.List, Body: gotree.S("ok = m.$1($2)", fn.Name, args)}
	}
}

// waitingArgs returns the fields of a queued event.
func waitingArgs(w types.Waiting, from string) []val {
	out := make([]val, len(w.Ev.Fields))
	for i, f := range w.Ev.Fields {
		out[i] = variable(gotree.X("$1.$2.$3", from, w.Member, w.Fields[i]), f.Type)
	}
	return out
}

// args returns the fields of an event from outside.
func (g *Funcs) args(e types.RoleEvent) []val {
	out := make([]val, len(e.Ev.Fields))
	if e.Ev.Kind == model.EventTimer { // one of the role's own: the number of the instance is all there is
		for i, x := range types.KeysFrom(gotree.X("ev.Key"), e.Ev.Fields) {
			t := e.Ev.Fields[i].Type
			out[i] = val{x: g.FromIndex(x, t), t: t}
		}
		return out
	}
	for i, f := range e.Ev.Fields {
		out[i] = variable(e.Place(g.Gen, i), f.Type)
	}
	return out
}
