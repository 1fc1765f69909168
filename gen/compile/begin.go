package compile

import (
	"errors"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// begin reports arguments of instances that their parameters cannot have: constants outside the range
// that the check leaves, and expressions without a value. Types alone do not tell.
func begin(c *diag.Collector, p *model.Protocol) {
	said := map[diag.Span]bool{} // instances of a group have one place
	for _, check := range p.Checks {
		for _, in := range check.Instances {
			if in.IsHostile() {
				continue
			}
			for i, e := range in.Args {
				why := unfit(e, in.Role.Params[i].Type)
				if why == "" || said[e.Pos()] {
					continue
				}
				said[e.Pos()] = true
				c.Errorf("FSM080", e.Pos(), "instance %s: parameter %s of %s: %s", diag.Quote(in.Name),
					diag.Quote(in.Role.Params[i].Name), diag.Quote(in.Role.Name), why)
			}
		}
	}
}

// unfit says why an argument cannot be the value of a parameter; "" if it can.
func unfit(e model.Expr, t *model.Type) string {
	v := make([]int64, e.Type().Slots())
	x := interp.Eval{Strings: &interp.Strings{}}
	if err := x.Into(core.Of(e), v, nil, nil); err != nil {
		if ee := new(interp.EvalError); errors.As(err, &ee) {
			return ee.Reason
		}
		return err.Error()
	}
	return interp.Unfit(t, v)
}
