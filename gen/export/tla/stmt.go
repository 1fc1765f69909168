package tla

import (
	"fmt"
	"maps"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// A step of a machine is a record: v is what the machine remembers, fx are the effects so far, q are the events of
// parts that wait, n is how many have waited, err is "" or how the step has failed, ign says that the event was
// ignored. A statement is an expression over such a record, the one before, whose value is the next one. When one
// has failed, those behind it are not evaluated.

// body writes the statements of one branch or entry.
type body struct {
	*scope
	code *core.Machine
}

// run writes statements from the step cur on, and then what follows them.
func (b *body) run(list []core.Stmt, cur string, then func(cur string) string) string {
	if len(list) == 0 {
		return then(cur)
	}
	x := list[0]
	rest := func(cur string) string { return b.run(list[1:], cur, then) }
	if a, ok := x.(*core.Assign); ok && a.Local != nil {
		v := b.at(cur).eval(a.Value)
		name := b.m.fresh(a.Local.Name)
		b.locals[a.Local] = name
		return guard(v.ok, cur, "LET "+name+" == "+v.text+" IN\n"+rest(cur))
	}
	text := b.one(x, cur)
	if text == cur {
		return rest(cur)
	}
	if _, last := x.(*core.Refuse); last {
		return text
	}
	next := b.m.fresh("s")
	after := rest(next)
	if after == next {
		return text
	}
	if x.Node().CanFail || tells(x) {
		after = "IF " + next + ".err # \"\" THEN " + next + " ELSE\n" + after
	}
	return "LET " + next + " == " + text + " IN\n" + after
}

// tells reports whether a statement may fail because it queues too many events.
func tells(x core.Stmt) bool {
	e, ok := x.(*core.Emit)
	return ok && e.Report != nil
}

// guard writes text where a condition holds, and a fault elsewhere.
func guard(ok, cur, text string) string {
	if ok == "" {
		return text
	}
	return "IF " + negation(ok) + " THEN Faulted(" + cur + ") ELSE\n" + text
}

// at returns the scope of expressions that see the machine as it is in a step.
func (b *body) at(cur string) *scope {
	sc := *b.scope
	sc.self = cur + ".v"
	return &sc
}

// inner returns a body with locals of its own.
func (b *body) inner() *body { return &body{b.with(), b.code} }

func same(cur string) string { return cur }

// one writes a statement.
func (b *body) one(x core.Stmt, cur string) string {
	sc := b.at(cur)
	switch x := x.(type) {
	case *core.Assign:
		return b.assign(x, cur)
	case *core.Emit:
		return b.emit(x, cur)
	case *core.Timer:
		return b.timer(x, cur)
	case *core.Give:
		return b.give(x, cur)
	case *core.Reset:
		return b.reset(x, cur)
	case *core.Branch:
		c := sc.cond(x.Cond)
		return "(" + guard(c.ok, cur, "IF "+c.text+"\nTHEN "+b.inner().run(x.Then, cur, same)+"\nELSE "+
			b.inner().run(x.Else, cur, same)) + ")"
	case *core.For:
		return b.loop(x, cur)
	case *core.Refuse:
		return "Refused(" + cur + ")"
	}
	refuse("a statement of the kind %T (%s)", x, x.Node().Pos())
	return ""
}

// assign writes the assignment to a variable or a place in it.
func (b *body) assign(x *core.Assign, cur string) string {
	sc := b.at(cur)
	place := "." + b.m.field(b.mach, x.Var.Name)
	ok := ""
	for _, s := range x.Select {
		if s.Field != nil {
			if s.T.Kind == model.KindOptional {
				ok = all(ok, "("+cur+".v"+place+" # <<>>)")
				place += "[1]"
			}
			place += "." + identifier(s.Field.Name)
			continue
		}
		i := sc.eval(s.Index)
		ok = all(ok, i.ok)
		if s.T.Kind == model.KindArray {
			ok = all(ok, "("+paren(i.text)+" \\in "+b.m.domain(s.T.Index)+")")
			place += "[" + i.text + "]"
			continue
		}
		ok = all(ok, fmt.Sprintf("(%s \\in 0..(Len(%s.v%s) - 1))", paren(i.text), cur, place))
		place += "[" + paren(i.text) + " + 1]"
	}
	v := sc.eval(x.Value)
	return guarded(all(ok, v.ok), cur, "["+cur+" EXCEPT !.v"+place+" = "+v.text+"]")
}

// guarded is guard for an expression among others.
func guarded(ok, cur, text string) string {
	if ok == "" {
		return text
	}
	return "(" + guard(ok, cur, text) + ")"
}

// list writes several values as a sequence.
func (sc *scope) list(exprs []core.Expr) value {
	var texts []string
	ok := ""
	for _, e := range exprs {
		v := sc.eval(e)
		texts, ok = append(texts, v.text), all(ok, v.ok)
	}
	return value{"<<" + strings.Join(texts, ", ") + ">>", ok}
}

// message writes a message.
func (sc *scope) message(msg *model.Message, fields []core.Expr) value {
	v := sc.list(fields)
	if len(fields) == 0 {
		return value{"<<" + quoted(msg.Name) + ">>", v.ok}
	}
	return value{"<<" + quoted(msg.Name) + ", " + v.text[2:], v.ok}
}

// destination writes where a message goes: a number, ToPeer, or ToAll.
func (sc *scope) destination(d model.Dest, to core.Expr) value {
	switch d {
	case model.ToSender:
		return value{text: sc.sender}
	case model.ToBroadcast:
		return value{text: "ToAll"}
	case model.ToExpr:
		return sc.eval(to)
	}
	return value{text: "ToPeer"}
}

func (b *body) emit(x *core.Emit, cur string) string {
	sc := b.at(cur)
	switch {
	case x.Message != nil:
		v, to := sc.message(x.Message, x.Fields), sc.destination(x.Dest, x.To)
		return guarded(all(v.ok, to.ok), cur, "Send("+cur+", "+v.text+", "+to.text+")")
	case x.Report != nil:
		v := sc.list(x.Fields)
		if !b.m.part[b.mach] {
			return guarded(v.ok, cur, cur)
		}
		return guarded(v.ok, cur, "Tell("+cur+", "+quoted(x.Report.Name)+", "+v.text+")")
	}
	to := sc.destination(x.Dest, x.To)
	return guarded(to.ok, cur, "Close("+cur+", "+to.text+")")
}

func (b *body) timer(x *core.Timer, cur string) string {
	sc := b.at(cur)
	t := x.Timer
	place := b.m.field(b.mach, t.Name)
	set := b.m.stopped()
	ok := ""
	if x.Start {
		ticks := number2(t.Ticks)
		if x.Ticks != nil {
			v := sc.eval(x.Ticks)
			ticks, ok = v.text, v.ok
		}
		set = b.m.started(ticks)
	}
	switch {
	case len(t.Keys) == 0:
		return guarded(ok, cur, "["+cur+" EXCEPT !.v."+place+" = "+set+"]")
	case x.All:
		return "[" + cur + " EXCEPT !.v." + place + " = " + b.m.timers(t) + "]"
	}
	key, fine := sc.keyed(x.Keys)
	return guarded(all(fine, ok), cur, "["+cur+" EXCEPT !.v."+place+"["+key+"] = "+set+"]")
}

// number2 writes a duration; without time it does not matter how long it is.
func number2(n int64) string {
	if n > greatest {
		return "0"
	}
	return number(n)
}

// timers writes the timers of one name, none of which runs.
func (m *module) timers(t *model.Timer) string {
	if len(t.Keys) == 0 {
		return m.stopped()
	}
	keys := m.keys(t.Keys, t.Count, func(i int) []int64 { return interp.TimerKeys(t, i) })
	return "[" + m.fresh("k") + " \\in {" + strings.Join(keys, ", ") + "} |-> " + m.stopped() + "]"
}

// give writes that a part is given an event, at once.
func (b *body) give(x *core.Give, cur string) string {
	sc := b.at(cur)
	part := cur + ".v." + b.m.field(b.mach, x.Part.Model.Name)
	keys, ok := "<<>>", ""
	if len(x.Keys) > 0 {
		var key string
		key, ok = sc.keyed(x.Keys)
		part += "[" + key + "]"
		keys = keysOf(key, len(x.Keys))
	}
	args := sc.list(x.Args)
	r := b.m.fresh("r")
	text := "LET " + r + " == " + b.m.deliver(x.Part.Machine, x.Event, "Given("+part+", "+cur+")", sc.sender,
		args.text) +
		" IN\n" + b.m.prefix[b.mach] + "_" + identifier(x.Part.Model.Name) + "_After(" + cur + ", i, " + sc.sender +
		", " +
		keys + ", " + r + ")"
	return "(" + guard(all(ok, args.ok), cur, text) + ")"
}

// keysOf writes keys as a sequence.
func keysOf(key string, n int) string {
	if n == 1 {
		return "<<" + key + ">>"
	}
	return key
}

// deliver writes that a machine handles an event and all that its parts have to say.
func (m *module) deliver(code *core.Machine, ev *model.Event, s, f, args string) string {
	text := m.prefix[code.Model] + "_" + m.event(code.Model, ev) + "(" + s + ", i, " + f + ", " + args + ")"
	if len(m.partEvents(code.Model)) > 0 {
		text = m.prefix[code.Model] + "_Drain(" + text + ", i, " + f + ")"
	}
	return text
}

func (m *module) partEvents(mach *model.Machine) (list []*model.Event) {
	for _, ev := range mach.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished {
			list = append(list, ev)
		}
	}
	return list
}

// reset writes that a part begins anew.
func (b *body) reset(x *core.Reset, cur string) string {
	sc := b.at(cur)
	p := x.Part.Model
	place := "." + b.m.field(b.mach, p.Name)
	fresh := b.m.newPart(b.mach, x.Part, cur+".v")
	if len(p.Keys) == 0 || x.All {
		return "[" + cur + " EXCEPT !.v" + place + " = " + fresh + "]"
	}
	key, ok := sc.keyed(x.Keys)
	return guarded(ok, cur, "["+cur+" EXCEPT !.v"+place+"["+key+"] = "+paren(fresh)+"["+key+"]]")
}

// loop writes statements for each element of what a loop goes over.
func (b *body) loop(x *core.For, cur string) string {
	seq := b.at(cur).sequence(x.Values, x.Over)
	in := b.inner()
	q, f, j, t := b.m.fresh("q"), b.m.fresh("f"), b.m.fresh("j"), b.m.fresh("t")
	in.locals = maps.Clone(in.locals)
	in.locals[x.Local] = q + "[" + j + "]"
	round := in.run(x.Body, t, same)
	text := "LET " + q + " == " + seq.text + "\n" + f + "[" + j + " \\in 0..Len(" + q + ")] ==\nIF " + j +
		" = 0 THEN " +
		cur + " ELSE\nLET " + t + " == " + f + "[" + j + " - 1] IN\nIF " + t + ".err # \"\" THEN " + t + " ELSE\n" +
		round + "\nIN " + f + "[Len(" + q + ")]"
	return "(" + guard(seq.ok, cur, text) + ")"
}
