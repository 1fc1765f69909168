// Package conform holds generated code to the interpreter, which is the law:
// for every local value that a check reaches, and every event, both must give the same
// result, the same next value, the same effects and the same texts; the adapter for looplab/fsm and
// the codecs likewise. It is the only place where gen and machines meet, and knows
// no protocol but the table of packages in [Targets]. Start from [New] and [Pair.Compare].
//
// Generated structs are read by reflection: their members are named by
// golang.GoNames and stand in the order of the model.
package conform

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/wire"
)

// Pair is a role as the interpreter and as generated code know it. It is not
// safe for concurrent use.
type Pair struct {
	Protocol *model.Protocol
	Role     *model.Machine
	Strings  *interp.Strings

	target Target
	in     *interp.Machine
	x      mapper

	runner  fsm.Runner
	self    reflect.Value // *PeerRunner
	machine reflect.Value // its machine
	step    reflect.Value // its method Step
	event   reflect.Value // an event
	kinds   map[string]int
	lab     reflect.Value // the adapter
	slots   []int64
	// Fired are the transitions that compared steps have taken.
	Fired map[int]bool
	said  map[string]int // how often a command was given as text
	// streamed is how often a message was given as a stream, by control state; Answered are the answers that Stream wrote.
	streamed map[string]int
	Answered int
}

// New pairs the full model of a specification, compiled without a check, with its generated package.
func New(p *model.Protocol, t Target) (*Pair, error) {
	role := p.Roles[0]
	for _, r := range p.Roles {
		if r.Name == t.Role {
			role = r
		}
	}
	x := &Pair{Protocol: model.WithDefaultWire(p), Role: role, Strings: &interp.Strings{}, target: t, kinds: map[string]int{}, Fired: map[int]bool{}, slots: make([]int64, role.Size)}
	x.x = mapper{x.Strings}
	x.in = interp.New(role, x.Strings)
	x.self = x.construct(t.Runner)
	x.runner = x.self.Interface().(fsm.Runner)
	x.machine = x.self.Elem().FieldByName("Machine")
	x.step = x.self.MethodByName("Step")
	x.event = reflect.New(x.step.Type().In(0).Elem())
	x.lab = x.construct(t.Looplab)
	for i, name := range golang.EventNames(role) {
		x.kinds[name] = i
	}
	return x, errors.Join(checkNames(role, x.machine.Type()), x.checkInfo(p))
}

// construct calls a constructor with the least parameters; the machine it makes is
// replaced before use.
func (x *Pair) construct(fn any) reflect.Value {
	f := reflect.ValueOf(fn)
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		args[i] = reflect.New(f.Type().In(i)).Elem()
		t := x.Role.Params[i].Type
		least := make([]int64, t.Slots())
		interp.Zero(t, least)
		x.x.set(t, args[i], least)
	}
	return f.Call(args)[0]
}

// checkNames says where a generated struct does not have the members that the model asks for.
func checkNames(m *model.Machine, t reflect.Type) error {
	names := golang.MachineMembers(m)
	if t.NumField() != len(names) {
		return fmt.Errorf("%s has %d members, the model %d", t, t.NumField(), len(names))
	}
	for i, n := range names {
		if t.Field(i).Name != n {
			return fmt.Errorf("member %d of %s is %s, not %s", i, t, t.Field(i).Name, n)
		}
	}
	for i, p := range m.Parts {
		sub := t.Field(len(names) - len(m.Parts) + i).Type
		for range p.Keys {
			sub = sub.Elem()
		}
		if err := checkNames(p.Machine, sub); err != nil {
			return err
		}
	}
	return nil
}

// checkInfo compares what the runner says of itself with the model.
func (x *Pair) checkInfo(p *model.Protocol) error {
	info := x.runner.Info()
	if info.Hash != p.Hash {
		return fmt.Errorf("%s is generated from another specification (%s, not %s): run go generate", x.target.Spec, info.Hash, p.Hash)
	}
	if len(info.Transitions) != len(x.Role.Transitions) {
		return fmt.Errorf("%s: %d transitions, the model has %d", x.target.Spec, len(info.Transitions), len(x.Role.Transitions))
	}
	for i, t := range x.Role.Transitions {
		g, to := info.Transitions[i], t.From
		if t.To != nil {
			to = t.To
		}
		if g.Name != t.Name || int(g.From) != t.From.Index || int(g.To) != to.Index || g.Line != t.Span.Start.Line || g.Col != t.Span.Start.Col {
			return fmt.Errorf("%s: transition %d is %v, the model has %s", x.target.Spec, i, g, t.Name)
		}
	}
	return nil
}

// setEvent makes the generated event of one of the interpreter's.
func (x *Pair) setEvent(ev interp.Event) error {
	e := x.event.Elem()
	e.SetZero()
	name, key := ev.Event.Name, 0
	for i := len(ev.At) - 1; i >= 0; i-- {
		name = ev.At[i].Part.Name + "." + name
	}
	for _, at := range ev.At {
		key = key*at.Part.Count + at.Index
	}
	if ev.Event.Kind == model.EventTimer {
		key = key*ev.Event.Timer.Count + interp.TimerIndex(ev.Event.Timer, ev.Args)
	}
	kind, ok := x.kinds[name]
	if !ok {
		return fmt.Errorf("no event %s in the generated code", name)
	}
	e.FieldByName("Kind").SetUint(uint64(kind))
	e.FieldByName("From").SetInt(int64(ev.Sender))
	if f := e.FieldByName("Key"); f.IsValid() {
		f.SetUint(uint64(key))
	}
	switch ev.Event.Kind {
	case model.EventMessage:
		x.setMessage(e.FieldByName("Message"), ev.Event.Message, ev.Args)
	case model.EventCommand:
		if len(ev.Event.Fields) > 0 {
			x.setFields(e.FieldByName(x.commandMember(ev.Event)), ev.Event.Fields, ev.Args)
		}
	}
	return nil
}

func (x *Pair) commandMember(ev *model.Event) string {
	names := []string{"Kind", "From", "Key", "Message"}
	for _, c := range x.Role.Commands {
		names = append(names, c.Name)
	}
	names = golang.GoNames(names...)
	for i, c := range x.Role.Commands {
		if c.Name == ev.Name {
			return names[i+4]
		}
	}
	return ""
}

// memberOf names the member of Report for one of several reports.
func memberOf(list []*model.Report, index int) string {
	names := []string{"Kind"}
	for _, r := range list {
		names = append(names, r.Name)
	}
	return golang.GoNames(names...)[index+1]
}

func (x *Pair) setMessage(v reflect.Value, m *model.Message, slots []int64) {
	v.SetZero()
	v.FieldByName("Kind").SetUint(uint64(m.Index))
	if len(m.Fields) > 0 {
		x.setFields(v.FieldByName(golang.MessageMembers(x.Protocol.Messages)[m.Index]), m.Fields, slots)
	}
}

func (x *Pair) setFields(v reflect.Value, fields []*model.Field, slots []int64) {
	at := 0
	for i, f := range fields {
		x.x.set(f.Type, v.Field(i), slots[at:])
		at += f.Type.Slots()
	}
}

func (x *Pair) getFields(v reflect.Value, fields []*model.Field) []int64 {
	slots, at := make([]int64, interp.FieldSlots(fields)), 0
	for i, f := range fields {
		x.x.get(f.Type, v.Field(i), slots[at:])
		at += f.Type.Slots()
	}
	return slots
}

// getMessage reads a generated message: its index and slots.
func (x *Pair) getMessage(v reflect.Value) (*model.Message, []int64) {
	m := x.Protocol.Messages[v.FieldByName("Kind").Uint()]
	if len(m.Fields) == 0 {
		return m, nil
	}
	return m, x.getFields(v.FieldByName(golang.MessageMembers(x.Protocol.Messages)[m.Index]), m.Fields)
}

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
		return fmt.Errorf("%s in %s: %s%s", interp.AppendEvent(nil, x.Strings, ev), interp.AppendMachine(nil, x.Strings, x.Role, v), fmt.Sprintf(format, args...), why)
	}
	if got != res {
		return next, fail("result %v, the interpreter says %v", got, res)
	}
	x.x.getMachine(x.Role, x.machine, x.slots)
	if !interp.Value(x.slots).Equal(next) {
		return next, fail("next is %s, the interpreter says %s", interp.AppendMachine(nil, x.Strings, x.Role, x.slots), interp.AppendMachine(nil, x.Strings, x.Role, next))
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
		return fmt.Errorf("next is %s, the interpreter says %s", interp.AppendMachine(nil, x.Strings, x.Role, x.slots), interp.AppendMachine(nil, x.Strings, x.Role, next))
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
