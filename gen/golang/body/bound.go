package body

import (
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// boundless is the largest bound that is computed; greater ones become it.
const boundless = 1 << 16

// cost bounds what a piece of code can do: how many effects it appends, how many events it queues for
// the machine above, and how many for its own machine.
type cost struct{ effects, up, own int }

func (a cost) plus(b cost) cost {
	return cost{min(a.effects+b.effects, boundless), min(a.up+b.up, boundless), min(a.own+b.own, boundless)}
}

func (a cost) times(n int) cost {
	n = min(n, boundless)
	return cost{min(a.effects*n, boundless), min(a.up*n, boundless), min(a.own*n, boundless)}
}

func (a cost) most(b cost) cost {
	return cost{max(a.effects, b.effects), max(a.up, b.up), max(a.own, b.own)}
}

// MaxEffects returns an upper bound for the number of effects of one step.
func (g *Funcs) MaxEffects(r *types.Machine) int {
	worst := cost{}
	for _, st := range r.Core.States {
		for _, h := range st.Handlers {
			if h != nil {
				worst = worst.most(handlerCost(r, h))
			}
		}
		worst = worst.most(stmtsCost(r, st.Entry))
	}
	for _, a := range r.Alarms {
		if a.Of != r {
			c := eventCost(a.Of, types.TimerEvent(a.Of.M, a.Timer))
			worst = worst.most(cost{c.effects, 0, c.up})
		}
	}
	return worst.plus(settleCost(r, worst.own)).effects
}

// handlerCost bounds one handler. It does not count the handling of the events that are queued then.
func handlerCost(r *types.Machine, h *core.Handler) cost {
	worst := cost{}
	for _, t := range h.Branches {
		c := stmtsCost(r, t.Body)
		if entered := entered(r, t); entered != nil {
			c = c.plus(stmtsCost(r, entered.Entry))
		}
		if t.To != nil && t.To.Model.Final && r.Part != nil {
			c.up++
		}
		worst = worst.most(c)
	}
	return worst
}

// eventCost bounds what a part does with an event, the handling of queued events included.
func eventCost(r *types.Machine, ev *model.Event) cost {
	worst := cost{}
	for _, st := range r.Core.States {
		if h := handlerOf(st, ev); h != nil {
			worst = worst.most(handlerCost(r, h))
		}
	}
	worst = worst.plus(settleCost(r, worst.own))
	worst.own = 0
	return worst
}

// settleCost bounds the handling of n queued events, and of the events that they cause.
func settleCost(r *types.Machine, n int) cost {
	worst := cost{}
	for _, st := range r.Core.States {
		for _, w := range r.Waiting {
			if h := handlerOf(st, w.Ev); h != nil {
				worst = worst.most(handlerCost(r, h))
			}
		}
	}
	if n > 0 && worst.own > 0 { // events cause events: the limit of a step is all there is
		n = 256
	}
	c := worst.times(min(n, 256))
	c.own = 0
	return c
}

func stmtsCost(r *types.Machine, list []core.Stmt) cost {
	sum := cost{}
	for _, s := range list {
		sum = sum.plus(stmtCost(r, s))
	}
	return sum
}

func stmtCost(r *types.Machine, s core.Stmt) cost {
	switch s := s.(type) {
	case *core.Emit:
		if s.Report != nil && r.Part != nil {
			return cost{up: 1}
		}
		return cost{effects: 1}
	case *core.Timer:
		if s.All {
			return cost{effects: s.Timer.Count}
		}
		return cost{effects: 1}
	case *core.Give:
		c := eventCost(r.SubPart(s.Part.Model), s.Event)
		return cost{effects: c.effects, own: c.up}
	case *core.Reset:
		n := 1
		if s.All {
			n = s.Part.Model.Count
		}
		return cost{effects: countTimers(s.Part.Model.Machine)}.times(n)
	case *core.Branch:
		return stmtsCost(r, s.Then).most(stmtsCost(r, s.Else))
	case *core.For:
		return stmtsCost(r, s.Body).times(int(min(core.Rounds(s.Values, s.Over), boundless)))
	}
	return cost{}
}

func countTimers(m *model.Machine) int {
	n := 0
	for _, t := range m.Timers {
		n += t.Count
	}
	for _, p := range m.Parts {
		n += p.Count * countTimers(p.Machine)
	}
	return n
}
