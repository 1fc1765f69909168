package body

import (
	"maps"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// stmts composes statements. It embeds a body, which composes the expressions in them.
type stmts struct {
	*body
	sharer *sharer // of branches, nil if they are written out
}

// newStmts starts the composition of a function of machine r.
func (g *Funcs) newStmts(r *types.Machine, extra ...string) *stmts {
	return &stmts{body: g.newBody(r, extra...)}
}

// statements appends statements in order. It returns false if code after them cannot be reached.
func (c *stmts) statements(list []core.Stmt) bool { return c.sequence(list, 0) }

// sequence is statements inside so many calls of routines.
func (c *stmts) sequence(list []core.Stmt, calls int) bool {
	for len(list) > 0 {
		s := list[0]
		if len(s.Node().Calls) > calls {
			call, n := callOf(list, calls)
			if p := c.routine(call, list[:n], calls+1); p != nil {
				c.invoke(p)
			} else if !c.sequence(list[:n], calls+1) {
				return false
			}
			list = list[n:]
			continue
		}
		list = list[1:]
		if a, ok := s.(*core.Assign); ok && a.Local != nil {
			return c.let(a, list, calls)
		}
		if !c.statement(s) {
			return false
		}
	}
	return true
}

func (c *stmts) statement(s core.Stmt) bool {
	switch s := s.(type) {
	case *core.Assign:
		c.assign(s)
	case *core.Emit:
		switch {
		case s.Message != nil:
			c.send(s)
		case s.Report != nil:
			c.report(s)
		default:
			c.close(s)
		}
	case *core.Give:
		c.give(s)
	case *core.Reset:
		c.restart(s)
	case *core.Timer:
		switch {
		case s.Start:
			c.startTimer(s)
		case s.All:
			c.stopTimer(gotree.X("m"), c.r, s.Timer, c.ownKey())
		default:
			index, key := c.timerIndex(s.Timer, s.Keys)
			c.stopOne(gotree.X("m.$1[$2]", c.r.Timers[s.Timer.Index], index), c.r, s.Timer, key)
		}
	case *core.Branch:
		return c.branchStmt(s)
	case *core.For:
		c.each(s)
	case *core.Refuse:
		if s.Reason != "" {
			c.out.Comment("// refused: " + strings.Join(strings.Fields(s.Reason), " "))
		}
		c.out.Add(c.fault())
		return false
	default:
		c.g.Fail(s.Node().Pos(), "the generator does not know this kind of statement: %s",
			model.StmtString(s.Node().From))
	}
	return true
}

func (c *stmts) assign(s *core.Assign) {
	place := gotree.X("m.$1", c.r.VarName(s.Var))
	t := s.Var.Type
	for _, sel := range s.Select {
		if sel.Field != nil {
			if t.Kind == model.KindOptional {
				c.checkf("!$1.Present", place)
				place, t = gotree.X("$1.Value", place), t.Elem
			}
			place = gotree.X("$1.$2", place, c.g.Typ(t, "").Fields[sel.Field.Index])
			t = sel.Field.Type
			continue
		}
		v := c.element(variable(place, t), t, sel.Index)
		place, t = v.x, t.Elem
	}
	defer c.changed(c.r.VarName(s.Var))
	if c.inPlace(s, place, t) {
		return
	}
	var x gotree.Expr
	c.named(s.Var.Name, func() { x = c.store(s.Value, t) })
	c.out.P("$1 = $2", place, x)
}

// reads reports whether an expression reads the place of v that sel leads to. The indexes must be
// locals.
func reads(e core.Expr, v *model.Var, sel []core.Select) bool {
	if len(sel) == 0 {
		x, ok := e.(*core.Read)
		return ok && x.What == core.ReadVar && len(x.Path) == 0 && x.Var == v
	}
	last, rest := sel[len(sel)-1], sel[:len(sel)-1]
	switch e := e.(type) {
	case *core.Index:
		i, ok := e.I.(*core.Local)
		j, same := last.Index.(*core.Local)
		return ok && same && i.Local == j.Local && reads(e.X, v, rest)
	case *core.Field:
		return last.Field != nil && e.Field != nil && last.Field.Index == e.Field.Index && reads(e.X, v, rest)
	}
	return false
}

// inPlace appends x = x + 1, x = append(x, y) and the like as one would write them by hand. It returns
// false if the assignment has no such form.
func (c *stmts) inPlace(s *core.Assign, place gotree.Expr, t *model.Type) bool {
	e, ok := core.Bare(s.Value).(*core.Apply)
	if !ok || !reads(e.Args[0], s.Var, s.Select) {
		return false
	}
	switch e.Op {
	case core.Add, core.Sub:
		return c.count(e, place, t)
	case core.With:
		if t.Kind == model.KindSet && c.sameGo(e.T, t) {
			c.out.P("$1 |= $2($3)", place, c.goType(t), c.bit(e.Args[1], e.T))
			return true
		}
	case core.Append, core.Tail, core.Without:
		if t.Kind == model.KindList && c.sameGo(e.T, t) {
			c.edit(e, variable(place, t))
			return true
		}
	}
	return false
}

// count appends x = x + 1 and the like. It returns false if the operand is not a constant.
func (c *stmts) count(e *core.Apply, place gotree.Expr, t *model.Type) bool {
	l, ok := e.Args[1].(*core.Const)
	if !ok || t.Kind != model.KindInt || l.Value <= 0 || !types.Fits(t, l.Value) {
		return false
	}
	up := e.Op == core.Add
	if bound := map[bool]int64{true: t.Hi - l.Value, false: t.Lo + l.Value}[up]; !types.Fits(t, bound) {
		return false // it never stays in the type
	}
	in := narrowed(c.facts(), place, interval.Of(t))
	switch {
	case up && in.Hi+l.Value <= t.Hi, !up && in.Lo-l.Value >= t.Lo:
	case up && l.Value == 1:
		c.checkf("$1 >= $2", place, t.Hi)
	case up:
		c.checkf("$1 > $2", place, t.Hi-l.Value)
	case t.Lo == 0 && l.Value == 1 && types.Width(t)[0] == 'u':
		c.checkf("$1 == 0", place)
	default:
		c.checkf("$1 < $2", place, t.Lo+l.Value)
	}
	op := e.Op.String()
	step := &gotree.Assign{Left: []gotree.Expr{place}, Op: op + op}
	if l.Value != 1 {
		step.Op, step.Right = op+"=", []gotree.Expr{gotree.Int(l.Value)}
	}
	c.out.Add(step)
	return true
}

// dest composes the peer that an effect goes to. It returns nil for the only peer.
func (c *stmts) dest(d model.Dest, to core.Expr) gotree.Expr {
	switch d {
	case model.ToSender:
		return gotree.X("fx.from")
	case model.ToBroadcast:
		return gotree.X("fsm.Broadcast")
	case model.ToExpr:
		v := c.value(to)
		peer := gotree.X("fsm.Peer")
		if v.lit || !v.wide && gotree.Equal(c.goType(v.t), peer) {
			return v.x
		}
		return gotree.Conv(peer, v.x)
	}
	return nil
}

func (c *stmts) send(s *core.Emit) {
	if c.r.Part == nil {
		to := c.dest(s.Dest, s.To)
		c.emit(s.Message, s.Fields, to)
		return
	}
	values := make([]val, len(s.Fields))
	for i, f := range s.Message.Fields {
		c.named(f.Name, func() { values[i] = val{x: c.store(s.Fields[i], f.Type), t: f.Type} })
	}
	c.mapped(c.r, s.Message, values, c.dest(s.Dest, s.To))
}

// mapped appends the message that the machine around r sends in place of a message of r.
func (c *stmts) mapped(r *types.Machine, m *model.Message, values []val, to gotree.Expr) {
	ps := r.Use.Sends[m.Index]
	if ps == nil {
		return // the parent lets the message go
	}
	inner := c.locals
	c.locals = keyLocals(r)
	if to == nil && r.Use.To != nil {
		to = c.dest(model.ToExpr, r.Use.To)
	}
	for i, l := range ps.Model.Params {
		c.locals[l] = values[i]
	}
	if ps.Send.Dest != model.ToPeer {
		to = c.dest(ps.Send.Dest, ps.Send.To)
	}
	msg := ps.Send.Message
	if r.Up.Part == nil {
		c.emit(msg, ps.Send.Fields, to)
	} else {
		up := make([]val, len(msg.Fields))
		for i, f := range msg.Fields {
			up[i] = val{x: c.store(ps.Send.Fields[i], f.Type), t: f.Type}
		}
		c.mapped(r.Up, msg, up, to)
	}
	c.locals = inner
}

// keyLocals returns the keys of a part as its methods know them.
func keyLocals(r *types.Machine) map[*model.Local]val {
	locals := map[*model.Local]val{}
	for _, k := range r.Keys {
		if k.Part == r.Part {
			locals[r.Part.KeyLocals[k.Index]] = local(k.Name, k.Field.Type)
		}
	}
	return locals
}

// emit appends a Send effect of the role.
func (c *stmts) emit(m *model.Message, fields []core.Expr, to gotree.Expr) {
	n := c.g.Messages[m.Index]
	call := gotree.X("fx.send($1)", n.Kind)
	if to != nil {
		c.r.Role.Named = true
		call = gotree.X("fx.sendTo($1, $2)", n.Kind, to)
	}
	c.effect(call, n.Member, n.Typ, func() []gotree.Elem { return c.fields(n.Fields, m.Fields, fields) })
}

// effect appends the call that makes an effect, and the assignment of its fields.
func (c *stmts) effect(call gotree.Expr, member, typ string, fields func() []gotree.Elem) {
	if member == "" {
		c.out.P("$1", call)
	} else {
		c.out.P("$1.$2 = $3{$4}", call, member, typ, fields())
	}
	c.changed()
}

func (c *stmts) report(s *core.Emit) {
	if c.r.Part == nil {
		for _, n := range c.r.Reports {
			if n.R == s.Report {
				c.effect(gotree.X("fx.report($1)", n.Kind), n.Member, n.Typ,
					func() []gotree.Elem { return c.fields(n.Fields, s.Report.Fields, s.Fields) })
				return
			}
		}
		c.g.Fail(s.Pos(), "%s is no report of %s", s.Report.Name, c.r.M.Name)
	}
	values := make([]gotree.Expr, len(s.Fields))
	for i, f := range s.Report.Fields {
		c.named(f.Name, func() { values[i] = c.store(s.Fields[i], f.Type) })
	}
	for _, w := range c.r.Up.Waiting {
		if w.Ev.Kind == model.EventReport && w.Ev.Part == c.r.Part && w.Ev.Report == s.Report {
			c.enqueue(w, values)
			return
		}
	}
	c.g.Fail(s.Pos(), "the parent has no event for report %s", s.Report.Name)
}

// enqueue queues an event of this part for its parent.
func (c *stmts) enqueue(w types.Waiting, values []gotree.Expr) {
	var all []gotree.Elem
	for _, k := range c.r.Keys {
		if k.Part == c.r.Part {
			all = append(all, gotree.Field(w.Fields[len(all)], gotree.Name{Name: k.Name}))
		}
	}
	for _, v := range values {
		all = append(all, gotree.Field(w.Fields[len(all)], v))
	}
	item := []gotree.Elem{gotree.Field("kind", gotree.Name{Name: w.Kind})}
	if w.Member != "" {
		item = append(item, gotree.Field(w.Member, gotree.X("$1{$2}", c.g.FieldsType(w), all)))
	}
	c.out.P("fx.$1 = append(fx.$1, $2{$3})", c.r.Up.Queue, c.r.Up.Queued, item)
	c.changed()
	c.f.Queues = true
}

// keysOf composes the place of an instance of a part, and its keys as arguments.
func (c *stmts) keysOf(sub *types.Machine, keys []core.Expr) (at gotree.Expr, args []gotree.Expr) {
	at = gotree.X("m.$1", c.r.Member(sub))
	for _, k := range sub.Up.Keys {
		args = append(args, gotree.Name{Name: k.Name})
	}
	for i, k := range sub.Part.Keys {
		v := c.selecting(keys[i], k)
		at = gotree.X("$1[$2]", at, c.g.index(v, k.Type))
		args = append(args, c.cast(v, k.Type))
	}
	return at, args
}

func (c *stmts) give(s *core.Give) {
	sub := c.r.SubPart(s.Part.Model)
	at, args := c.keysOf(sub, s.Keys)
	for i, f := range s.Event.Fields {
		args = append(args, c.store(s.Args[i], f.Type))
	}
	f := c.g.handler(sub, s.Event)
	call := gotree.X("$1.$2(fx, $3)", at, f.Name, args)
	before := c.dirty
	c.dirty = c.dirty || f.RefusesDirty
	if f.Refuses {
		c.checkf("!$1", call)
	} else {
		c.out.P("$1", call)
	}
	c.dirty = before
	if f.Changes {
		c.changed(c.r.Member(sub))
	}
	c.f.Waits = c.f.Waits || f.Queues
}

func (c *stmts) branchStmt(s *core.Branch) bool {
	cond := c.value(s.Cond)
	before, after := c.dirty, c.dirty
	branch := func(holds []gotree.Expr, list []core.Stmt, apart func(func()) []gotree.Stmt) (code []gotree.Stmt,
		live bool) {
		c.dirty = before
		c.assuming(holds, func() { code = apart(func() { live = c.statements(list) }) })
		after = after || c.dirty
		return code, live
	}
	then, live := branch(cond.holds(), s.Then, c.block)
	n := &gotree.If{Cond: cond.x, Then: then}
	c.out.Add(n)
	if len(s.Else) == 0 {
		live = true
	} else {
		other, alive := branch([]gotree.Expr{gotree.Not(cond.x)}, s.Else, c.inner)
		if live {
			n.Else = other
		} else { // nothing comes after the first list, so that the second needs no else
			c.out.Add(other...)
		}
		live = live || alive
	}
	c.dirty = after
	return live
}

func (c *stmts) each(s *core.For) {
	// What one round changes is a change before the next round's refusal.
	probe := &stmts{body: &body{g: c.g, r: c.r, out: &gotree.Block{}, names: c.g.Locals(),
		locals: maps.Clone(c.locals), refuse: c.refuse, f: &types.Facts{}, scope: c.scope, dry: true}}
	probe.iterate(s.Local, s.Values, s.Over, s.Pos(), true, func() { probe.statements(s.Body) })
	dirty := c.dirty
	if probe.f.Changes {
		c.changed(probe.changes...)
	}
	copied := probe.f.Changes && !fromEvent(s.Over)
	c.iterate(s.Local, s.Values, s.Over, s.Pos(), copied, func() { c.statements(s.Body) })
	if c.dirty = dirty || probe.f.Changes; probe.f.Changes {
		c.changes = append(c.changes, probe.changes...)
	}
}

// let declares a local, and appends the statements that follow. The declaration is left out if none of
// them uses the local.
func (c *stmts) let(s *core.Assign, rest []core.Stmt, calls int) bool {
	x := c.names.Local(s.Local.Name)
	c.locals[s.Local] = local(x, s.Local.Type)
	v := c.store(s.Value, s.Local.Type)
	live := false
	code := c.inner(func() { live = c.sequence(rest, calls) })
	if gotree.Uses(code, x) { // Go wants variables to be used
		if _, ok := gotree.Number(v); ok {
			v = gotree.Conv(c.goType(s.Local.Type), v)
		}
		c.out.P("$1 := $2", x, v)
	}
	c.out.Add(code...)
	return live
}

// fromEvent reports whether a list is a part of the event, which no statement changes.
func fromEvent(e core.Expr) bool {
	switch e := e.(type) {
	case *core.Local:
		return true
	case *core.Field:
		return e.Field != nil && fromEvent(e.X)
	}
	return false
}

func (c *stmts) close(s *core.Emit) {
	to := c.dest(s.Dest, s.To)
	for r := c.r; to == nil && r.Part != nil; r = r.Up {
		if r.Use.To != nil {
			inner := c.locals
			c.locals = keyLocals(r)
			to = c.dest(model.ToExpr, r.Use.To)
			c.locals = inner
		}
	}
	if to == nil {
		c.out.P("fx.close()")
	} else {
		c.r.Role.Named = true
		c.out.P("fx.closeTo($1)", to)
	}
	c.changed()
}
