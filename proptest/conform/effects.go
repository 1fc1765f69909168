package conform

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/wire"
)

// effects compares the runner's effects with the interpreter's.
func (x *Pair) effects(want []interp.Effect) error {
	if n := x.runner.Effects(); n != len(want) {
		return fmt.Errorf("%d effects, the interpreter has %d", n, len(want))
	}
	for i := range want {
		w, g := &want[i], x.runner.Effect(i)
		if g.Kind != w.Kind || (g.Kind == fsm.Send || g.Kind == fsm.Close) && int(g.Peer) != w.To {
			return fmt.Errorf("effect %d is %v, the interpreter has %s", i, g, interp.AppendEffect(nil, x.Strings, w))
		}
		text, wanted := x.runner.AppendEffect(nil, i), interp.AppendEffect(nil, x.Strings, w)
		if !bytes.Equal(text, wanted) {
			return fmt.Errorf("effect %d is %q, the interpreter has %q", i, text, wanted)
		}
		if err := x.payload(i, w, g); err != nil {
			return fmt.Errorf("effect %d, %s: %w", i, wanted, err)
		}
	}
	if n := x.runner.Info().MaxEffects; len(want) > n {
		return fmt.Errorf("%d effects, more than MaxEffects = %d", len(want), n)
	}
	return nil
}

func (x *Pair) payload(i int, w *interp.Effect, g fsm.Effect) error {
	at := []reflect.Value{reflect.ValueOf(i)}
	switch w.Kind {
	case fsm.Send:
		m, slots := x.getMessage(x.self.MethodByName("Message").Call(at)[0].Elem())
		if m.Index != w.Message.Index || int(g.ID) != m.Index || !interp.Value(slots).Equal(w.Slots) {
			return fmt.Errorf("message %s %v, ID %d", m.Name, slots, g.ID)
		}
		frame, err := x.runner.AppendFrame(nil, i)
		wanted, werr := interp.AppendFrame(x.Protocol, x.Strings, nil, x.Protocol.Messages[m.Index], w.Slots)
		if !bytes.Equal(frame, wanted) || !sameError(err, werr) {
			return fmt.Errorf("frame % x, %v; the interpreter has % x, %v", frame, err, wanted, werr)
		}
	case fsm.Report:
		r := x.self.MethodByName("Report").Call(at)[0].Elem()
		if n := r.FieldByName("Kind").Uint(); n != uint64(w.Report.Index) || int(g.ID) != w.Report.Index {
			return fmt.Errorf("report %d, ID %d", n, g.ID)
		}
		if len(w.Report.Fields) > 0 {
			slots := x.getFields(r.FieldByName(memberOf(x.Role.Reports, w.Report.Index)), w.Report.Fields)
			if !interp.Value(slots).Equal(w.Slots) {
				return fmt.Errorf("fields %v", slots)
			}
		}
	case fsm.StartTimer:
		if int64(g.Ticks) != w.Ticks {
			return fmt.Errorf("%d ticks, not %d", g.Ticks, w.Ticks)
		}
	}
	return nil
}

// sameError compares an error of generated code with the interpreter's.
func sameError(err error, want wire.Error) bool {
	if err == nil {
		return want.Problem == 0
	}
	got, ok := err.(wire.Error)
	return ok && got == want
}
