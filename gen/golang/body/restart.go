package body

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

func (c *stmts) startTimer(s *core.Timer) {
	t := s.Timer
	place, key := gotree.X("m.$1", c.r.Timers[t.Index]), c.ownKey()
	if len(t.Keys) > 0 {
		var index gotree.Expr
		index, key = c.timerIndex(t, s.Keys)
		place = gotree.X("$1[$2]", place, index)
	}
	id := c.r.Role.AlarmOf(t, c.r).Id
	call := gotree.X("fx.start($1, $2)", id, key)
	if s.Ticks != nil {
		ticks := c.store(s.Ticks, t.Length)
		if _, ok := gotree.Number(ticks); !ok {
			ticks = gotree.X("uint32($1)", ticks)
		}
		call = gotree.X("fx.startFor($1, $2, $3)", id, key, ticks)
	}
	c.out.P("$1 = true\n$2", place, call)
	c.changed(c.r.Timers[t.Index])
}

// stopTimer stops a timer, or all instances of a keyed one.
func (c *stmts) stopTimer(at gotree.Expr, r *types.Machine, t *model.Timer, key gotree.Expr) {
	place := gotree.X("$1.$2", at, r.Timers[t.Index])
	if len(t.Keys) == 0 {
		c.stopOne(place, r, t, key)
		return
	}
	i := c.names.Local("i")
	defer c.release(i)
	if n, ok := gotree.Number(key); ok && n == 0 {
		key = gotree.X("uint32($1)", i)
	} else {
		key = gotree.X("$1*$2 + uint32($3)", key, t.Count, i)
	}
	c.out.P("for $1 := range $2 {\n$3\n}", i, place, c.block(func() {
		c.stopOne(gotree.X("$1[$2]", place, i), r,
			t, key)
	}))
}

func (c *stmts) stopOne(place gotree.Expr, r *types.Machine, t *model.Timer, key gotree.Expr) {
	c.out.P("if $1 {\n$1 = false\nfx.stop($2, $3)\n}", place, c.r.Role.AlarmOf(t, r).Id, key)
	c.changed(memberOf(place))
}

// memberOf returns the member of m that a place is in.
func memberOf(place gotree.Expr) string {
	switch x := place.(type) {
	case gotree.Index:
		return memberOf(x.X)
	case gotree.Sel:
		if gotree.Equal(x.X, gotree.Name{Name: "m"}) {
			return x.Name
		}
		return memberOf(x.X)
	}
	return ""
}

// restart puts one instance of a part, or all of them, back to the initial value.
func (c *stmts) restart(s *core.Reset) {
	sub := c.r.SubPart(s.Part.Model)
	at := gotree.X("m.$1", c.r.Member(sub))
	keys := map[*model.Local]val{}
	if s.All && len(sub.Part.Keys) > 0 {
		c.restartAll(sub, at, keys, 0)
		return
	}
	for i, k := range sub.Part.Keys {
		v := c.selecting(s.Keys[i], k)
		at = gotree.X("$1[$2]", at, c.g.index(v, k.Type))
		keys[sub.Part.KeyLocals[i]] = variable(c.cast(v, k.Type), k.Type)
	}
	c.restartOne(sub, at, keys)
}

// loopOver appends a loop over the values of a part's key.
func (c *stmts) loopOver(p *types.Machine, level int, inside func(key val)) {
	k := p.Part.Keys[level]
	x := c.names.Local(k.Name)
	defer c.release(x)
	c.values(x, k.Type, p.Part.Span, func() { inside(local(x, k.Type)) })
}

func (c *stmts) restartAll(sub *types.Machine, at gotree.Expr, keys map[*model.Local]val, level int) {
	if level == len(sub.Part.Keys) {
		c.restartOne(sub, at, keys)
		return
	}
	c.loopOver(sub, level, func(key val) {
		keys[sub.Part.KeyLocals[level]] = key
		c.restartAll(sub, gotree.X("$1[$2]", at, c.g.index(key, key.t)), keys, level+1)
	})
}

func (c *stmts) restartOne(sub *types.Machine, at gotree.Expr, keys map[*model.Local]val) {
	if c.g.timersIn(sub) {
		c.stopTimers(sub, at, keys)
	}
	outer := c.locals
	c.locals = keys
	c.out.P("$1 = $2", at, c.creation(sub))
	c.locals = outer
	c.changed(c.r.Member(sub))
}

func (g *Funcs) timersIn(r *types.Machine) bool {
	if len(r.M.Timers) > 0 {
		return true
	}
	for _, p := range r.Parts {
		if g.timersIn(p) {
			return true
		}
	}
	return false
}

// stopTimers stops the armed timers of a part that is about to be restarted.
func (c *stmts) stopTimers(sub *types.Machine, at gotree.Expr, keys map[*model.Local]val) {
	key := c.ownKey()
	for i, k := range sub.Part.Keys {
		key = nextKey(key, c.g.index(keys[sub.Part.KeyLocals[i]], k.Type), k)
	}
	c.stopInside(sub, at, key)
}

// stopInside stops the timers of a machine, then those of its parts.
func (c *stmts) stopInside(sub *types.Machine, at, key gotree.Expr) {
	for _, t := range sub.M.Timers {
		c.stopTimer(at, sub, t, key)
	}
	for _, p := range sub.Parts {
		if c.g.timersIn(p) {
			c.stopKeyed(p, gotree.X("$1.$2", at, sub.Member(p)), key, 0)
		}
	}
}

// stopKeyed goes through the instances of a part, key by key.
func (c *stmts) stopKeyed(p *types.Machine, at, key gotree.Expr, level int) {
	if level == len(p.Part.Keys) {
		c.stopInside(p, at, key)
		return
	}
	c.loopOver(p, level, func(k val) {
		index := c.g.index(k, k.t)
		c.stopKeyed(p, gotree.X("$1[$2]", at, index), nextKey(key, index, p.Part.Keys[level]), level+1)
	})
}

// creation composes the initial value of a part. The locals must be the part's keys.
func (c *stmts) creation(p *types.Machine) gotree.Expr {
	var args []gotree.Expr
	for i, param := range p.M.Params {
		args = append(args, c.store(p.Use.Args[i], param.Type))
	}
	p.Created = true
	return gotree.X("$1($2)", c.g.creator(p), args)
}

// creator returns the name of the function that makes a machine.
func (g *Funcs) creator(r *types.Machine) string {
	if r.Part == nil {
		return g.Maker(r.Typ)
	}
	return g.Top.Own("make "+r.Typ, "new"+r.Typ)
}
