package golang

import (
	"fmt"
	"strconv"

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

// timerIndex composes which instance of a timer the keys select, as an index and as a number behind key.
func (c *body) timerIndex(t *model.Timer, keys []model.Expr) (index, key string) {
	key = c.ownKey()
	for i, k := range t.Keys {
		v := c.steadyAs(c.value(keys[i]), k.Name)
		if in := bounds(keys[i]); !in.within(k.Type) {
			c.rangeCheck(v, in, domain(k.Type))
			if v.lit {
				v.s = "0" // not reached
			}
		}
		index = nextIndex(index, c.g.index(v, k.Type), k)
		key = nextKey(key, c.g.index(v, k.Type), k)
	}
	return index, key
}

// nextIndex composes the index of an instance from that of the keys before and one more key.
func nextIndex(before, index string, k *model.Field) string {
	if before == "" {
		return index
	}
	return fmt.Sprintf("int(%s)*%d+int(%s)", before, k.Type.Count(), index)
}

func (c *body) startTimer(s *model.StartTimer) {
	t := s.Timer
	place, key := "m."+c.r.timers[t.Index], c.ownKey()
	if len(t.Keys) > 0 {
		var index string
		index, key = c.timerIndex(t, s.Keys)
		place += "[" + index + "]"
	}
	id := c.r.role.alarmOf(t, c.r).id
	call := fmt.Sprintf("fx.start(%s, %s)", id, key)
	if s.Ticks != nil {
		ticks := c.store(s.Ticks, t.Length)
		if _, err := strconv.ParseUint(ticks, 10, 32); err != nil {
			ticks = "uint32(" + ticks + ")"
		}
		call = fmt.Sprintf("fx.startFor(%s, %s, %s)", id, key, ticks)
	}
	c.out.p("%s = true\n%s", place, call)
	c.changed()
}

func (c *body) stopStmt(s *model.StopTimer) {
	if len(s.Keys) == 0 {
		c.stopTimer("m", c.r, s.Timer, c.ownKey())
		return
	}
	index, key := c.timerIndex(s.Timer, s.Keys)
	c.stopOne("m."+c.r.timers[s.Timer.Index]+"["+index+"]", c.r, s.Timer, key)
}

// stopTimer stops a timer, or all instances of a keyed one.
func (c *body) stopTimer(at string, r *machine, t *model.Timer, key string) {
	place := at + "." + r.timers[t.Index]
	if len(t.Keys) == 0 {
		c.stopOne(place, r, t, key)
		return
	}
	i := c.names.local("i")
	if key == "0" {
		key = "uint32(" + i + ")"
	} else {
		key = fmt.Sprintf("(%s*%d+uint32(%s))", key, t.Count, i)
	}
	c.out.p("for %s := range %s {\n%s}", i, place, c.inner(func() { c.stopOne(place+"["+i+"]", r, t, key) }))
}

func (c *body) stopOne(place string, r *machine, t *model.Timer, key string) {
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
