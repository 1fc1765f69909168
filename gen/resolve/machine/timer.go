package machine

import (
	"time"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

func (ro *Role) declareTimers() {
	n := ro.Node.Get("timers")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		t := &model.Timer{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
			Index: len(ro.Machine.Timers), Ticks: 1, Count: 1, Span: e.Key.Span()}
		if ticks := e.Value.Get("ticks"); ticks != nil {
			ro.duration(t, ticks)
		} else {
			ro.Errorf("FSM009", e.Key.Span(), "timer %s has no `ticks`", diag.Quote(t.Name))
		}
		if keys, count, ok := ro.KeyFields(e.Value.Get("key"), "the timer"); ok {
			t.Keys, t.Count = keys, count
		}
		t.Absolute = pass.TextOf(e.Value, "deadline") == "absolute"
		if !ro.declare(e.Key, "timer", t) {
			continue
		}
		ro.Machine.Timers = append(ro.Machine.Timers, t)
	}
	if ro.Root.Get("tick") == nil && len(n.Entries) > 0 {
		ro.Errorf("FSM009", n.Entries[0].Key.Span(),
			"there are timers, but no `tick` at the top says how long a tick is").
			With("add `tick: 50ms`")
	}
}

// duration resolves how long a timer runs: a number, or the range within which its starts choose.
func (ro *Role) duration(t *model.Timer, n *ast.Node) {
	if n.Kind == ast.Scalar {
		if _, err := time.ParseDuration(n.Text); err == nil && n.Text != "0" {
			ro.Errorf("FSM020", n.Span(), "a timer runs for a number of ticks, not for %s", n.Text).
				With("write `tick: 10ms` at the top, and the number here: a timer of 20 such ticks runs for 200ms")
			return
		}
		if x, err := syntax.ParseOver(n.Text, n.Part); err == nil {
			if x, isRange := x.(*syntax.Range); isRange {
				ro.durations(t, x)
				return
			}
		}
	}
	if v, ok := ro.ConstIn(n, 1, maxTicks, "the duration in ticks"); ok {
		t.Ticks = v
	}
}

func (ro *Role) durations(t *model.Timer, x *syntax.Range) {
	lo, ok1 := ro.ConstNode(x.Lo, 0, maxTicks, "the least duration in ticks")
	hi, ok2 := ro.ConstNode(x.Hi, 0, maxTicks, "the greatest duration in ticks")
	if !ok1 || !ok2 {
		return
	}
	if lo > hi {
		ro.Errorf("FSM041", x.Pos(), "the range %d..%d is empty", lo, hi)
		return
	}
	t.Ticks, t.Length = hi, types.Int(lo, hi)
	t.Length.Span = x.Pos()
}

// maxTicks is the longest time that a timer can run.
const maxTicks = 1 << 31
