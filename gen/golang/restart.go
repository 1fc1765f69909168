package golang

import (
	"fmt"

	"github.com/parley-go/parley/gen/model"
)

// ownKey composes the key of this part's timers: the number of the instance.
func (c *body) ownKey() string { return c.g.instanceNumber(c.r) }

func (g *gen) instanceNumber(r *machine) string {
	s := "0"
	for _, k := range r.keys {
		s = nextKey(s, g.index(val{s: k.name, prec: precPrimary, t: k.field.Type}, k.field.Type), k.field)
	}
	return s
}

func (c *body) startTimer(t *model.Timer) {
	c.out.p("m.%s = true", c.r.timers[t.Index])
	c.out.p("fx.start(%s, %s)", c.r.role.alarmOf(t, c.r).id, c.ownKey())
	c.changed()
}

func (c *body) stopTimer(at string, r *machine, t *model.Timer, key string) {
	place := at + "." + r.timers[t.Index]
	c.out.p("if %s {\n%s = false\nfx.stop(%s, %s)\n}", place, place, c.r.role.alarmOf(t, r).id, key)
	c.changed()
}

// restart puts a part, or all its instances, back to the beginning.
func (c *body) restart(s *model.Restart) {
	sub := c.r.subPart(s.Part)
	at := "m." + c.r.member(sub)
	keys := map[*model.Local]val{}
	if len(s.Part.Keys) > 0 && len(s.Keys) == 0 {
		c.restartAll(sub, at, keys, 0)
		return
	}
	for i, k := range s.Part.Keys {
		v := c.steadyAs(c.value(s.Keys[i]), k.Name)
		if in := bounds(s.Keys[i]); !in.within(k.Type) {
			c.rangeCheck(v, in, domain(k.Type))
		}
		at += "[" + c.g.index(v, k.Type) + "]"
		keys[s.Part.KeyLocals[i]] = val{s: c.cast(v, k.Type), prec: precPrimary, t: k.Type, addr: true}
	}
	c.restartOne(sub, at, keys)
}

func (c *body) restartAll(sub *machine, at string, keys map[*model.Local]val, level int) {
	if level == len(sub.part.Keys) {
		c.restartOne(sub, at, keys)
		return
	}
	k := sub.part.Keys[level]
	x := c.names.local(k.Name)
	keys[sub.part.KeyLocals[level]] = val{s: x, prec: precPrimary, t: k.Type, addr: true}
	head, first := c.valuesLoop(x, k.Type, &model.None{ExprBase: model.ExprBase{Span: sub.part.Span}})
	inside := c.inner(func() {
		c.restartAll(sub, at+"["+c.g.index(val{s: x, prec: precPrimary, t: k.Type}, k.Type)+"]", keys, level+1)
	})
	c.out.p("%s {\n%s%s}", head, first, inside)
}

func (c *body) restartOne(sub *machine, at string, keys map[*model.Local]val) {
	if c.g.timersIn(sub) {
		c.stopTimers(sub, at, keys)
	}
	outer := c.locals
	c.locals = keys
	c.out.p("%s = %s", at, c.creation(sub))
	c.locals = outer
	c.changed()
}

func (g *gen) timersIn(r *machine) bool {
	if len(r.m.Timers) > 0 {
		return true
	}
	for _, p := range r.parts {
		if g.timersIn(p) {
			return true
		}
	}
	return false
}

// stopTimers stops the armed timers of a part that is about to be restarted.
func (c *body) stopTimers(sub *machine, at string, keys map[*model.Local]val) {
	key := c.ownKey()
	for i, k := range sub.part.Keys {
		key = nextKey(key, c.g.index(keys[sub.part.KeyLocals[i]], k.Type), k)
	}
	c.stopInside(sub, at, key)
}

// nextKey composes the number of an instance from that of its parent and one more key.
func nextKey(key, index string, k *model.Field) string {
	if key == "0" {
		return "uint32(" + index + ")"
	}
	return fmt.Sprintf("(%s*%d+uint32(%s))", key, k.Type.Count(), index)
}

// stopInside stops the timers of a machine, then those of its parts.
func (c *body) stopInside(sub *machine, at, key string) {
	for _, t := range sub.m.Timers {
		c.stopTimer(at, sub, t, key)
	}
	for _, p := range sub.parts {
		if c.g.timersIn(p) {
			c.stopKeyed(p, at+"."+sub.member(p), key, 0)
		}
	}
}

// stopKeyed goes through the instances of a part, key by key.
func (c *body) stopKeyed(p *machine, at, key string, level int) {
	if level == len(p.part.Keys) {
		c.stopInside(p, at, key)
		return
	}
	k := p.part.Keys[level]
	x := c.names.local(k.Name)
	index := c.g.index(val{s: x, prec: precPrimary, t: k.Type}, k.Type)
	head, first := c.valuesLoop(x, k.Type, &model.None{ExprBase: model.ExprBase{Span: p.part.Span}})
	inside := c.inner(func() { c.stopKeyed(p, at+"["+index+"]", nextKey(key, index, k), level+1) })
	c.out.p("%s {\n%s%s}", head, first, inside)
}
