package conform

import (
	"context"
	"fmt"
	"reflect"

	loop "github.com/looplab/fsm"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/fsm"
)

// looplab compares the adapter, if there is one: result, next value, the FSM's state, the number of effects.
func (x *Pair) looplab(v, next interp.Value, res fsm.Result, effects []interp.Effect) error {
	if !x.lab.IsValid() {
		return nil
	}
	start := reflect.New(x.machine.Type())
	x.x.setMachine(x.Role, start.Elem(), v)
	x.lab.MethodByName("Restore").Call([]reflect.Value{start.Elem()})
	out := x.lab.MethodByName("Step").Call([]reflect.Value{x.event})
	if err, _ := out[1].Interface().(error); err != nil {
		return err
	}
	if got := out[0].Interface().(fsm.Result); got != res {
		return fmt.Errorf("result %v, the interpreter says %v", got, res)
	}
	start.Elem().Set(x.lab.MethodByName("Machine").Call(nil)[0])
	x.x.getMachine(x.Role, start.Elem(), x.slots)
	if !interp.Value(x.slots).Equal(next) {
		return fmt.Errorf("next is %s", interp.AppendMachine(nil, x.Strings, x.Role, x.slots))
	}
	current := x.lab.Elem().FieldByName("FSM").MethodByName("Current").Call(nil)[0].String()
	if want := x.Role.States[next[0]].Name; current != want {
		return fmt.Errorf("the FSM is in %s, the machine in %s", current, want)
	}
	if n := x.lab.MethodByName("Effects").Call(nil)[0].Int(); int(n) != len(effects) {
		return fmt.Errorf("%d effects, not %d", n, len(effects))
	}
	if n := len(x.in.Fired()); res.Code == fsm.Took && n > 1 {
		return x.forbidden(v, n)
	}
	return nil
}

// forbidden gives the adapter the event again with a callback that cancels the last of the step's
// transitions: nothing must have happened then.
func (x *Pair) forbidden(v interp.Value, transitions int) error {
	start := reflect.New(x.machine.Type()).Elem()
	x.x.setMachine(x.Role, start, v)
	x.lab.MethodByName("Restore").Call([]reflect.Value{start})
	x.forbid = transitions
	out := x.lab.MethodByName("Step").Call([]reflect.Value{x.event})
	if left := x.forbid; left != 0 {
		return fmt.Errorf("%d of %d transitions were not fired", left, transitions)
	}
	res, err := out[0].Interface().(fsm.Result), out[1].Interface()
	after := x.lab.MethodByName("Machine").Call(nil)[0].Interface()
	current := x.lab.Elem().FieldByName("FSM").MethodByName("Current").Call(nil)[0].String()
	effects := x.lab.MethodByName("Effects").Call(nil)[0].Int()
	if err == nil || res.Code != fsm.Refused || effects != 0 || after != start.Interface() ||
		current != x.Role.States[v[0]].Name {
		return fmt.Errorf("cancelled at transition %d: %v, %v, %d effects, the FSM is in %s, the machine is %v",
			transitions, res, err, effects, current, after)
	}
	return nil
}

// countdown cancels the event of the FSM with which forbid becomes 0.
func (x *Pair) countdown(_ context.Context, e *loop.Event) {
	if x.forbid > 0 {
		if x.forbid--; x.forbid == 0 {
			e.Cancel()
		}
	}
}
