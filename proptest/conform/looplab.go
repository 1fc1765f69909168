package conform

import (
	"fmt"
	"reflect"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/fsm"
)

// looplab compares the adapter: result, next value, the FSM's state, the number of effects.
func (x *Pair) looplab(v, next interp.Value, res fsm.Result, effects []interp.Effect) error {
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
	if n := x.lab.MethodByName("Effects").Call(nil)[0].MethodByName("Len").Call(nil)[0].Int(); int(n) != len(effects) {
		return fmt.Errorf("%d effects, not %d", n, len(effects))
	}
	return nil
}
