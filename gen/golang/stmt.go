package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// statements composes statements in order. It returns false if the code behind
// them cannot be reached.
func (c *body) statements(list []model.Stmt) bool {
	for _, s := range list {
		if !c.statement(s) {
			return false
		}
	}
	return true
}

func (c *body) statement(s model.Stmt) bool {
	switch s := s.(type) {
	case *model.Set:
		c.set(s)
	case *model.Send:
		c.send(s)
	case *model.ReportStmt:
		c.report(s)
	case *model.Run:
		c.run(s)
	case *model.Restart:
		c.restart(s)
	case *model.StartTimer:
		c.startTimer(s)
	case *model.StopTimer:
		c.stopStmt(s)
	case *model.If:
		return c.ifStmt(s)
	case *model.Each:
		if l, ok := s.Over.(*model.ListLit); ok && l.T.Kind == model.KindList && len(l.Elems) == 1 {
			return c.let(s, l.Elems[0])
		}
		c.each(s)
	case *model.Close:
		c.close(s)
	case *model.Refuse:
		if s.Reason != "" {
			c.out.p("// refused: %s", strings.Join(strings.Fields(s.Reason), " "))
		}
		c.out.p("%s", c.fault())
		return false
	default:
		c.g.fail(s.Pos(), "the generator does not know this kind of statement: %s", model.StmtString(s))
	}
	return true
}

func (c *body) set(s *model.Set) {
	place := "m." + c.r.varName(s.Var)
	t := s.Var.Type
	for _, sel := range s.Select {
		if sel.Field != nil {
			if t.Kind == model.KindOptional {
				c.check("!%s.Present", place)
				place, t = place+".Value", t.Elem
			}
			place += "." + c.g.typ(t, "").fields[sel.Field.Index]
			t = sel.Field.Type
			continue
		}
		v := c.element(val{s: place, prec: precPrimary, t: t, addr: true}, t, sel.Index)
		place, t = v.s, t.Elem
	}
	defer c.changed()
	if c.inPlace(s, place, t) {
		return
	}
	c.out.p("%s = %s", place, c.store(s.Value, t))
}

// inPlace composes x = x + 1, x = append(x, y) and the like as one would write them.
func (c *body) inPlace(s *model.Set, place string, t *model.Type) bool {
	self := func(e model.Expr) bool {
		v, ok := e.(*model.VarRef)
		return ok && len(s.Select) == 0 && len(v.Path) == 0 && v.Var == s.Var
	}
	switch e := s.Value.(type) {
	case *model.Binary:
		l, ok := e.Y.(*model.Lit)
		if !ok || !self(e.X) || t.Kind != model.KindInt || l.Value <= 0 || (e.Op != model.OpAdd && e.Op != model.OpSub) || !fits(t, l.Value) {
			return false
		}
		op, test := "+", fmt.Sprintf("%s > %d", place, t.Hi-l.Value)
		if e.Op == model.OpSub {
			op, test = "-", fmt.Sprintf("%s < %d", place, t.Lo+l.Value)
		}
		c.check("%s", test)
		if l.Value == 1 {
			c.out.p("%s%s%s", place, op, op)
		} else {
			c.out.p("%s %s= %d", place, op, l.Value)
		}
		return true
	case *model.Call:
		if len(e.Args) == 0 || !self(e.Args[0]) || t.Kind != model.KindList || !c.sameGo(e.T, t) {
			return false
		}
		switch e.Fn {
		case model.FnAppend, model.FnTail, model.FnWithout:
			c.edit(e, val{s: place, prec: precPrimary, t: t, addr: true})
			return true
		}
	}
	return false
}

// dest composes the peer that an effect goes to; "" means the only one.
func (c *body) dest(d model.Dest, to model.Expr) string {
	switch d {
	case model.ToSender:
		return "fx.from"
	case model.ToBroadcast:
		return "fsm.Broadcast"
	case model.ToExpr:
		v := c.value(to)
		if v.lit || !v.wide && c.goType(v.t) == "fsm.Peer" {
			return v.s
		}
		return "fsm.Peer(" + v.s + ")"
	}
	return ""
}

func (c *body) send(s *model.Send) {
	if c.r.part == nil {
		to := c.dest(s.Dest, s.To)
		c.emit(s.Message, func() string { return c.fields(c.g.messages[s.Message.Index].fields, s.Message.Fields, s.Fields) }, to)
		return
	}
	values := make([]val, len(s.Fields))
	for i, f := range s.Message.Fields {
		values[i] = val{s: c.store(s.Fields[i], f.Type), prec: precLiteral, t: f.Type}
	}
	c.mapped(c.r, s.Message, values, c.dest(s.Dest, s.To))
}

// mapped sends what the machine around r makes of a message of r.
func (c *body) mapped(r *machine, m *model.Message, values []val, to string) {
	ps := r.part.Sends[m.Index]
	if ps == nil {
		return // the parent lets the message go
	}
	inner := c.locals
	c.locals = r.keyLocals()
	if to == "" && r.part.To != nil {
		to = c.dest(model.ToExpr, r.part.To)
	}
	for i, l := range ps.Params {
		c.locals[l] = values[i]
	}
	if ps.Send.Dest != model.ToPeer {
		to = c.dest(ps.Send.Dest, ps.Send.To)
	}
	msg := ps.Send.Message
	if r.up.part == nil {
		c.emit(msg, func() string { return c.fields(c.g.messages[msg.Index].fields, msg.Fields, ps.Send.Fields) }, to)
	} else {
		up := make([]val, len(msg.Fields))
		for i, f := range msg.Fields {
			up[i] = val{s: c.store(ps.Send.Fields[i], f.Type), prec: precLiteral, t: f.Type}
		}
		c.mapped(r.up, msg, up, to)
	}
	c.locals = inner
}

// keyLocals gives the keys of a part their names in its methods.
func (r *machine) keyLocals() map[*model.Local]val {
	locals := map[*model.Local]val{}
	for _, k := range r.keys {
		if k.part == r.part {
			locals[r.part.KeyLocals[k.index]] = val{s: k.name, prec: precPrimary, t: k.field.Type, addr: true}
		}
	}
	return locals
}

// emit appends a Send effect of the role.
func (c *body) emit(m *model.Message, fields func() string, to string) {
	n := c.g.messages[m.Index]
	call := "fx.send(" + n.kind + ")"
	if to != "" {
		c.r.role.named = true
		call = "fx.sendTo(" + n.kind + ", " + to + ")"
	}
	if n.member != "" {
		call += "." + n.member + " = " + n.typ + "{" + fields() + "}"
	}
	c.out.p("%s", call)
	c.changed()
}

func (c *body) report(s *model.ReportStmt) {
	if c.r.part == nil {
		for _, n := range c.r.reports {
			if n.r == s.Report {
				call := "fx.report(" + n.kind + ")"
				if n.member != "" {
					call += "." + n.member + " = " + n.typ + "{" + c.fields(n.fields, s.Report.Fields, s.Fields) + "}"
				}
				c.out.p("%s", call)
				c.changed()
				return
			}
		}
		c.g.fail(s.Pos(), "%s is no report of %s", s.Report.Name, c.r.m.Name)
	}
	values := make([]string, len(s.Fields))
	for i, f := range s.Report.Fields {
		values[i] = c.store(s.Fields[i], f.Type)
	}
	for _, w := range c.r.up.waiting {
		if w.ev.Kind == model.EventReport && w.ev.Part == c.r.part && w.ev.Report == s.Report {
			c.enqueue(w, values)
			return
		}
	}
	c.g.fail(s.Pos(), "the parent has no event for report %s", s.Report.Name)
}

// enqueue lets an event of this part wait for its parent.
func (c *body) enqueue(w waiting, values []string) {
	var all []string
	n := 0
	for _, k := range c.r.keys {
		if k.part == c.r.part {
			all = append(all, w.fields[n]+": "+k.name)
			n++
		}
	}
	for i, v := range values {
		all = append(all, w.fields[n+i]+": "+v)
	}
	item := "kind: " + w.kind
	if w.member != "" {
		item += ", " + w.member + ": " + c.g.fieldsType(w) + "{" + strings.Join(all, ", ") + "}"
	}
	c.out.p("fx.%s = append(fx.%s, %s{%s})", c.r.up.queue, c.r.up.queue, c.r.up.queued, item)
	c.changed()
	c.f.queues = true
}

// keysOf composes the indices and arguments that select an instance of a part.
func (c *body) keysOf(sub *machine, keys []model.Expr) (index string, args []string) {
	for _, k := range sub.up.keys {
		args = append(args, k.name)
	}
	for i, k := range sub.part.Keys {
		v := c.steadyAs(c.value(keys[i]), k.Name)
		if in := bounds(keys[i]); !in.within(k.Type) {
			c.rangeCheck(v, in, domain(k.Type))
		}
		index += "[" + c.g.index(v, k.Type) + "]"
		args = append(args, c.cast(v, k.Type))
	}
	return index, args
}

func (c *body) run(s *model.Run) {
	sub := c.r.subPart(s.Part)
	index, args := c.keysOf(sub, s.Keys)
	for i, f := range s.Event.Fields {
		args = append(args, c.store(s.Args[i], f.Type))
	}
	f := c.g.handler(sub, s.Event)
	call := fmt.Sprintf("m.%s%s.%s(%s)", c.r.member(sub), index, f.name, strings.Join(append([]string{"fx"}, args...), ", "))
	before := c.dirty
	c.dirty = c.dirty || f.refusesDirty
	if f.refuses {
		c.check("!%s", call)
	} else {
		c.out.p("%s", call)
	}
	c.dirty = before
	if f.changes {
		c.changed()
	}
	c.f.waits = c.f.waits || f.queues
}

func (c *body) ifStmt(s *model.If) bool {
	cond := c.value(s.Cond)
	before := c.dirty
	live := false
	var branch func(list []model.Stmt) string
	after := before
	branch = func(list []model.Stmt) string {
		c.dirty = before
		text := c.inner(func() { live = c.statements(list) || live })
		after = after || c.dirty
		return text
	}
	then := branch(s.Then)
	if len(s.Else) == 0 {
		c.out.p("if %s {\n%s}", cond.s, then)
		live = true
	} else {
		ended := !live
		other := branch(s.Else)
		if ended { // nothing comes after the first list, so that the second needs no else
			c.out.p("if %s {\n%s}\n%s", cond.s, then, strings.TrimSuffix(other, "\n"))
		} else {
			c.out.p("if %s {\n%s} else {\n%s}", cond.s, then, other)
		}
	}
	c.dirty = after
	return live
}

func (c *body) each(s *model.Each) {
	// What one round changes is a change before the next round's refusal.
	probe := &body{g: c.g, r: c.r, out: &text{}, names: c.g.locals(), locals: copied(c.locals), refuse: c.refuse, f: &facts{}}
	var at model.Expr = &model.None{ExprBase: model.ExprBase{Span: s.Span}}
	probe.iterate(s.Local, s.Values, s.Over, at, true, func() { probe.statements(s.Body) })
	dirty := c.dirty
	if probe.f.changes {
		c.dirty = true
	}
	c.iterate(s.Local, s.Values, s.Over, at, probe.f.changes && !fromEvent(s.Over), func() { c.statements(s.Body) })
	c.dirty = dirty || probe.f.changes
}

// let runs the statements of a loop over one value without a loop.
func (c *body) let(s *model.Each, value model.Expr) bool {
	x := c.names.local(s.Local.Name)
	c.locals[s.Local] = val{s: x, prec: precPrimary, t: s.Local.Type, addr: true}
	v := c.store(value, s.Local.Type)
	live := false
	text := c.inner(func() { live = c.statements(s.Body) })
	if mentions(text, x) { // Go wants variables to be used
		if _, err := strconv.ParseInt(v, 10, 64); err == nil {
			v = c.goType(s.Local.Type) + "(" + v + ")"
		}
		c.out.p("%s := %s", x, v)
	}
	c.out.p("%s", strings.TrimSuffix(text, "\n"))
	return live
}

// fromEvent says whether a list is part of the event, which no statement changes.
func fromEvent(e model.Expr) bool {
	switch e := e.(type) {
	case *model.LocalRef:
		return true
	case *model.FieldRef:
		return fromEvent(e.X)
	}
	return false
}

func copied(m map[*model.Local]val) map[*model.Local]val {
	n := make(map[*model.Local]val, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}

func (c *body) close(s *model.Close) {
	to := c.dest(s.Dest, s.To)
	for r := c.r; to == "" && r.part != nil; r = r.up {
		if r.part.To != nil {
			inner := c.locals
			c.locals = r.keyLocals()
			to = c.dest(model.ToExpr, r.part.To)
			c.locals = inner
		}
	}
	if to == "" {
		c.out.p("fx.close()")
	} else {
		c.r.role.named = true
		c.out.p("fx.closeTo(%s)", to)
	}
	c.changed()
}
