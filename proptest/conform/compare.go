package conform

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// Compare gives an event to a value in all implementations and says where they differ.
// It returns the next value as the interpreter has it; it holds until the next call.
func (x *Pair) Compare(v interp.Value, ev interp.Event) (interp.Value, error) {
	next, effects, res, fault := x.in.Step(v, ev)
	if err := x.setEvent(ev); err != nil {
		return next, err
	}
	x.x.setMachine(x.Role, x.machine, v)
	got := x.step.Call([]reflect.Value{x.event})[0].Interface().(fsm.Result)
	fail := func(format string, args ...any) error {
		why := ""
		if fault != nil {
			why = " (" + fault.Why() + ")"
		}
		return fmt.Errorf("%s in %s: %s%s", interp.AppendEvent(nil, x.Strings, ev),
			interp.AppendMachine(nil, x.Strings, x.Role, v), fmt.Sprintf(format, args...), why)
	}
	if got != res {
		return next, fail("result %v, the interpreter says %v", got, res)
	}
	x.x.getMachine(x.Role, x.machine, x.slots)
	if !interp.Value(x.slots).Equal(next) {
		return next, fail("next is %s, the interpreter says %s",
			interp.AppendMachine(nil, x.Strings, x.Role, x.slots), interp.AppendMachine(nil, x.Strings, x.Role, next))
	}
	if err := x.effects(effects); err != nil {
		return next, fail("%v", err)
	}
	if err := x.texts(v, next, ev); err != nil {
		return next, fail("%v", err)
	}
	if err := x.looplab(v, next, res, effects); err != nil {
		return next, fail("looplab: %v", err)
	}
	if err := x.fired(res); err != nil {
		return next, err
	}
	if err := x.asText(v, next, ev, res); err != nil {
		return next, fail("as text: %v", err)
	}
	if err := x.inPhases(v, next, ev, res); err != nil {
		return next, fail("%v", err)
	}
	if err := x.asStream(v, ev); err != nil {
		return next, fail("%v", err)
	}
	return next, nil
}

// asText gives a command once more, as text, which is refused as text if the
// interpreter cannot read it either. Each text is tried a few times.
func (x *Pair) asText(v, next interp.Value, ev interp.Event, res fsm.Result) error {
	text := string(interp.AppendEvent(nil, x.Strings, ev))
	if ev.Event.Kind != model.EventCommand || len(ev.At) > 0 || x.said[text] == 3 {
		return nil
	}
	if x.said == nil {
		x.said = map[string]int{}
	}
	x.said[text]++
	x.x.setMachine(x.Role, x.machine, v)
	_, unreadable := interp.ParseEvent(x.Role, x.Strings, text)
	switch got, err := x.runner.(fsm.Commander).Command(text); {
	case (err == nil) != (unreadable == nil):
		return fmt.Errorf("error %v, the interpreter has %v", err, unreadable)
	case got.Code != res.Code, err == nil && got != res:
		return fmt.Errorf("result %v, the interpreter says %v", got, res)
	}
	x.x.getMachine(x.Role, x.machine, x.slots)
	if !interp.Value(x.slots).Equal(next) {
		return fmt.Errorf("next is %s, the interpreter says %s",
			interp.AppendMachine(nil, x.Strings, x.Role, x.slots), interp.AppendMachine(nil, x.Strings, x.Role, next))
	}
	return nil
}

// fired compares the transitions of a step, where the generated code lists them.
func (x *Pair) fired(res fsm.Result) error {
	want := x.in.Fired()
	for _, t := range want {
		x.Fired[t.ID] = true
	}
	list := x.self.MethodByName("Fired")
	if !list.IsValid() || res.Code != fsm.Took {
		return nil
	}
	got := list.Call(nil)[0].Interface().([]uint16)
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = int(got[i]) == want[i].ID
	}
	if !same {
		return fmt.Errorf("fired %v, the interpreter has %d transitions", got, len(want))
	}
	return nil
}

// texts compares what the runner says of itself; of a machine that has not
// changed it was compared when it became what it is.
func (x *Pair) texts(v, next interp.Value, ev interp.Event) error {
	if g, w := x.runner.AppendEvent(nil), interp.AppendEvent(nil, x.Strings, ev); !bytes.Equal(g, w) {
		return fmt.Errorf("event text %q, the interpreter has %q", g, w)
	}
	if v.Equal(next) {
		return nil
	}
	if g, w := x.runner.AppendMachine(nil), interp.AppendMachine(nil, x.Strings, x.Role, next); !bytes.Equal(g, w) {
		return fmt.Errorf("machine text %q, the interpreter has %q", g, w)
	}
	var legal []byte
	for i, e := range interp.Legal(x.Role, next) {
		if i > 0 {
			legal = append(legal, ", "...)
		}
		legal = append(legal, e.Name...)
	}
	if g := x.runner.AppendLegal(nil); !bytes.Equal(g, legal) {
		return fmt.Errorf("legal %q, the interpreter has %q", g, legal)
	}
	if int64(x.runner.State()) != next[0] {
		return fmt.Errorf("State() is %d", x.runner.State())
	}
	return nil
}
