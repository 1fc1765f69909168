// Package conform holds generated code to the interpreter, which is the law:
// for every local value that a check reaches, and every event, both must give the same
// result, the same next value, the same effects and the same texts; the adapter for looplab/fsm and
// the codecs likewise. It is where gen and machines meet, and knows no protocol: it is given what
// makes a runner, see [Target]. Start from [New] and [Pair.Compare].
//
// Generated structs are read by reflection: their members are named by
// golang.GoNames and stand in the order of the model.
package conform

import (
	"errors"
	"fmt"
	"reflect"

	loop "github.com/looplab/fsm"

	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// Target is one role of a generated package. What is nil is not compared, but for the runner.
type Target struct {
	// Spec is the specification's path in the module.
	Spec string
	Role string
	// Runner is the constructor of the runner.
	Runner any
	// Looplab puts a runner behind looplab/fsm.
	Looplab func(runner any, callbacks loop.Callbacks) any
	// Decode, Append and FrameSize are the package's codec.
	Decode, Append any
	FrameSize      func([]byte) (int, error)
}

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
	forbid  int           // how many events of its FSM until one is cancelled
	slots   []int64
	begins  map[string]interp.Value // the role at its beginning, by parameters
	// Fired are the transitions that compared steps have taken.
	Fired map[int]bool
	said  map[string]int // how often a command was given as text
	// streamed is how often a message was given as a stream, by control state; Answered are the
	// answers that Stream wrote.
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
	x := &Pair{Protocol: model.WithDefaultWire(p), Role: role, Strings: &interp.Strings{}, target: t,
		kinds: map[string]int{}, Fired: map[int]bool{}, slots: make([]int64, role.Size)}
	x.x = mapper{x.Strings}
	x.in = interp.New(role, x.Strings)
	x.self = x.construct(t.Runner)
	x.runner = x.self.Interface().(fsm.Runner)
	x.machine = x.self.Elem().FieldByName("Machine")
	x.step = x.self.MethodByName("Step")
	x.event = reflect.New(x.step.Type().In(0).Elem())
	if t.Looplab != nil {
		x.lab = reflect.ValueOf(t.Looplab(x.construct(t.Runner).Interface(),
			loop.Callbacks{"before_event": x.countdown}))
	}
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

// Make makes a runner of the generated code with parameters for the role; texts among them are
// those of x.Strings.
func (x *Pair) Make(args [][]int64) (fsm.Runner, error) {
	f := reflect.ValueOf(x.target.Runner)
	in := make([]reflect.Value, f.Type().NumIn())
	for i := range in {
		in[i] = reflect.New(f.Type().In(i)).Elem()
		x.x.set(x.Role.Params[i].Type, in[i], args[i])
	}
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		return nil, out[1].Interface().(error)
	}
	return out[0].Interface().(fsm.Runner), nil
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
		return fmt.Errorf("%s is generated from another specification (%s, not %s): run go generate",
			x.target.Spec, info.Hash, p.Hash)
	}
	if len(info.Transitions) != len(x.Role.Transitions) {
		return fmt.Errorf("%s: %d transitions, the model has %d", x.target.Spec, len(info.Transitions),
			len(x.Role.Transitions))
	}
	for i, t := range x.Role.Transitions {
		g, to := info.Transitions[i], t.From
		if t.To != nil {
			to = t.To
		}
		if g.Name != t.Name || int(g.From) != t.From.Index || int(g.To) != to.Index ||
			g.Line != t.Span.Start.Line || g.Col != t.Span.Start.Col {
			return fmt.Errorf("%s: transition %d is %v, the model has %s", x.target.Spec, i, g, t.Name)
		}
	}
	return nil
}
