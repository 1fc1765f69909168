package conform

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Lifted returns what compares values and events of the role as a check has narrowed it. Their texts are
// in strs. What the full role has more of is at its beginning.
func (x *Pair) Lifted(strs *interp.Strings, small *model.Machine) func(interp.Value, interp.Event) error {
	l := lifter{strs, x.Strings}
	return func(v interp.Value, ev interp.Event) error {
		base, err := x.beginning(l, small, v)
		if err != nil {
			return err
		}
		value := slices.Clone(base)
		l.machine(small, x.Role, v, value)
		event, err := l.event(x.Role, ev)
		if err == nil {
			_, err = x.Compare(value, event)
		}
		return err
	}
}

// beginning is the full machine at its beginning, with the parameters of v. It is not to be changed.
func (x *Pair) beginning(l lifter, small *model.Machine, v interp.Value) (interp.Value, error) {
	var args [][]int64
	for i, p := range small.Params {
		arg := make([]int64, x.Role.Params[i].Type.Slots())
		l.value(p.Type, x.Role.Params[i].Type, v[p.Offset:], arg)
		args = append(args, arg)
	}
	k := fmt.Sprint(args)
	if v, ok := x.begins[k]; ok {
		return v, nil
	}
	full, err := interp.NewValue(x.Role, x.Strings, args...)
	if x.begins == nil {
		x.begins = map[string]interp.Value{}
	}
	x.begins[k] = full
	return full, err
}
