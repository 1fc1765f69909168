package check

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// maxDelay is the most beats that a message can take.
const maxDelay = 16

// maxDrift is how far the rate of a clock may be from 1 at most, in millionths.
const maxDrift = model.Million / 2

// time resolves how time passes in a check. The bounds of claims are known already.
func (r *checker) time(c *model.Check, in *parties, n *ast.Node) {
	if n == nil {
		return
	}
	t := c.Time
	if b := n.Get("beat"); b == nil {
		r.chooseBeat(c, n)
	} else if v, ok := r.ConstIn(b, 1, 1<<31, "the length of a beat"); ok {
		t.Beat = v
	}
	if d := n.Get("delay"); d != nil {
		if v, ok := r.ConstIn(d, 1, maxDelay, "the delay in beats"); ok {
			t.Delay = int(v)
		}
		if n.Get("beat") == nil && t.Delay > 1 {
			r.Errorf("FSM088", d.Span(), "`delay` counts beats, and `time` does not say how long a beat is").
				With(fmt.Sprintf("add `beat: %d`, of which all timers and bounds are multiples, or another", t.Beat))
		}
	}
	if e := n.Entry("drift"); e != nil {
		r.drift(c, in, e.Value)
	}
}

// chooseBeat takes the longest beat of which all timers and bounds of the check are multiples.
func (r *checker) chooseBeat(c *model.Check, n *ast.Node) {
	all := c.Lengths()
	if i := slices.IndexFunc(all, func(l model.Length) bool { return l.Computed }); i >= 0 {
		r.Errorf("FSM088", n.Span(), "`time` has no `beat`, and none can be chosen: "+
			"each start of %s says how long it runs", diag.Quote(all[i].Name)).With("add `beat: n`, in ticks")
		return
	}
	if beat := model.CommonBeat(all); beat > 0 {
		c.Time.Beat = beat
	}
}

// drift resolves how far the rates of clocks may be from 1: of all instances, or of some.
func (r *checker) drift(c *model.Check, in *parties, n *ast.Node) {
	t := c.Time
	t.Drift = make([]int, len(c.Instances))
	if n.Kind != ast.Scalar {
		r.each(t.Drift, in, n, r.rate)
	} else if v, ok := r.rate(n); ok {
		for i := range t.Drift {
			t.Drift[i] = v
		}
	}
	if !slices.ContainsFunc(t.Drift, func(v int) bool { return v != 0 }) {
		t.Drift = nil
	}
}

// rate reads `1%`, `0.5 %` or `200 ppm`, in millionths.
func (r *checker) rate(n *ast.Node) (int, bool) {
	text, unit := strings.TrimSpace(n.Text), int64(0)
	for _, u := range []struct {
		name  string
		times int64
	}{{"%", model.Million / 100}, {"ppm", 1}} {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = strings.TrimSpace(rest), u.times
		}
	}
	v, ok := new(big.Rat).SetString(text)
	if text == "0" && unit == 0 {
		return 0, true
	}
	if !ok || unit == 0 || strings.ContainsAny(text, "eEpPxX/_") || len(text) > 16 {
		r.Errorf("FSM088", n.Span(), "%s is no drift: how far the rate of a clock may be from the right one",
			diag.Quote(n.Text)).With("write it as `1%` or `200 ppm`")
		return 0, false
	}
	v.Mul(v, new(big.Rat).SetInt64(unit))
	switch {
	case v.Sign() < 0 || v.Cmp(new(big.Rat).SetInt64(maxDrift)) > 0:
		r.Errorf("FSM088", n.Span(), "a drift is from 0 to %d%%", maxDrift*100/model.Million)
	case !v.IsInt():
		r.Errorf("FSM088", n.Span(), "%s is no whole number of millionths (ppm)", diag.Quote(n.Text))
	default:
		return int(v.Num().Int64()), true
	}
	return 0, false
}
