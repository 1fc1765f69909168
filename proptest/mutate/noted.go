package mutate

import (
	"cmp"
	"context"
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// noted is everything that a machine takes or refuses in a check as it is, each step once, and what surrounds the
// machines. If a mistake changes the outcome of none of them, the check reaches what it reached.
type noted struct {
	check  *model.Check
	strs   *interp.Strings // of the texts in values and events
	events []interp.Event
	steps  []step
	by     map[place][]int32 // the steps that a place of the text takes part in
	ids    map[string]int32  // of outcomes, and of the lines that lead to them
	tapes  []*tape           // by instance; nil: what it does is not kept

	rules   world.Rules
	attacks [][]system.Attack // by instance
}

// step is what a machine did somewhere.
type step struct {
	value          interp.Value
	inst, event    int32
	outcome, lines int32
	places         []place
}

// place is the handler of an event in a state of a role, or the entry of the state.
type place struct{ role, state, event int }

const entry = -1

// touched are the places of a role that a mistake has changed.
type touched struct {
	role   int // in Protocol.Roles
	places []place
	ids    []int // of the transitions now, by what they were
}

// kept is a machine before a mistake.
type kept struct {
	m           *model.Machine
	all         []*model.Transition
	transitions []model.Transition
	states      []model.State
}

// keep keeps a machine as it is now.
func keep(m *model.Machine) *kept {
	k := &kept{m: m, all: slices.Clone(m.Transitions)}
	for _, t := range m.Transitions {
		k.transitions = append(k.transitions, *t)
	}
	for _, st := range m.States {
		c := *st
		c.Handlers = slices.Clone(st.Handlers)
		k.states = append(k.states, c)
	}
	return k
}

// undo puts the machine back as it was.
func (k *kept) undo() {
	k.m.Transitions = k.all
	for i, t := range k.all {
		*t = k.transitions[i]
	}
	for i, st := range k.m.States {
		*st = k.states[i]
		st.Handlers = slices.Clone(st.Handlers) // what changes next leaves these alone
	}
}

// touched compares the machine with what it was. role is its place among the roles.
func (k *kept) touched(role int) *touched {
	out := &touched{role: role}
	add := func(state, event int) {
		if p := (place{role, state, event}); !slices.Contains(out.places, p) {
			out.places = append(out.places, p)
		}
	}
	for i, t := range k.all {
		was := &k.transitions[i]
		out.ids = append(out.ids, t.ID)
		if t.When != was.When || t.To != was.To || t.Mode != was.Mode || !slices.Equal(t.Body, was.Body) {
			add(was.From.Index, was.Event.Index)
		}
	}
	for i, st := range k.m.States {
		if !slices.Equal(st.Entry, k.states[i].Entry) {
			add(i, entry)
		}
		for e, h := range st.Handlers {
			if h != k.states[i].Handlers[e] {
				add(i, e)
			}
		}
	}
	return out
}

// note runs a check and notes every step that a machine takes or refuses in it. p is the check's model.
func note(ctx context.Context, p *model.Protocol, s *check.System) (*noted, *check.Report, error) {
	n := &noted{check: s.Check, strs: s.Strings(), by: map[place][]int32{}, ids: map[string]int32{}, rules: s.Rules}
	states := map[*model.State]place{}
	for i, role := range p.Roles {
		for _, st := range role.States {
			states[st] = place{role: i, state: st.Index}
		}
	}
	texts := n.strs.Len()
	for i, proc := range s.Procs {
		n.attacks = append(n.attacks, proc.Attacks)
		n.tapes = append(n.tapes, newTape(s, proc))
		if n.tapes[i] != nil {
			s.System.Procs[i] = &recorder{proc, n.tapes[i]}
		}
	}
	e := &eye{noted: n, strs: n.strs, machines: map[*model.Machine]*interp.Machine{}}
	known, events := map[string]int32{}, map[string]int32{}
	var key []byte
	var value interp.Value
	s.Saw = func(inst *model.Instance, v interp.Value, ev interp.Event) {
		key = appendEvent(appendSlots(append(append(key[:0], inst.Role.Name...), 0), v), ev)
		k, ok := known[string(key)] // by another instance of the role, too
		if !ok {
			k = int32(len(n.steps))
			known[string(key)] = k
			if !slices.Equal(value, v) {
				value = slices.Clone(v)
			}
			x := step{value: value, inst: int32(inst.Index)}
			key = appendEvent(append(append(key[:0], inst.Role.Name...), 0), ev)
			if x.event, ok = events[string(key)]; !ok {
				x.event = int32(len(n.events))
				events[string(key)] = x.event
				ev.Args, ev.At = slices.Clone(ev.Args), slices.Clone(ev.At)
				n.events = append(n.events, ev)
			}
			m := e.machine(inst.Role)
			outcome, lines := e.look(m, value, n.events[x.event])
			x.outcome, x.lines = n.id(outcome), n.id(lines)
			x.places = placesOf(m, states, inst.Role, value, n.events[x.event], e.fault)
			for _, p := range x.places {
				n.by[p] = append(n.by[p], k)
			}
			n.steps = append(n.steps, x)
		}
		if t := n.tapes[inst.Index]; t != nil {
			t.around(n.steps[k].places)
		}
	}
	rep, err := s.First(ctx, explore.Options{Workers: 1})
	if n.strs.Len() != texts {
		n.tapes = nil // handles of texts follow the order in which they are made
	}
	return n, rep, cmp.Or(err, ctx.Err())
}

// placesOf lists the places of the text that decided what the machine has just done with an event, each once. What
// a mistake cannot change is left out: parts of other files, and events that no state mentions.
func placesOf(m *interp.Machine, states map[*model.State]place, role *model.Machine, v interp.Value, ev interp.Event,
	fault *interp.Fault) (out []place) {
	add := func(st *model.State, event int) {
		p, ok := states[st]
		if p.event = event; ok && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, x := range m.Trail() {
		if x.Entry != nil {
			add(x.Entry, entry)
		} else {
			add(x.Transition.From, x.Transition.Event.Index)
		}
	}
	if fault != nil {
		add(fault.State, fault.Event.Index)
	}
	if len(ev.At) == 0 {
		add(role.States[v[0]], ev.Event.Index)
	}
	return out
}

func (n *noted) id(text []byte) int32 {
	id, ok := n.ids[string(text)]
	if !ok {
		id = int32(len(n.ids))
		n.ids[string(text)] = id
	}
	return id
}

// text tells where a step was.
func (n *noted) text(x *step) string {
	inst := n.check.Instances[x.inst]
	return inst.Name + " in " + interp.StatePath(inst.Role, x.value) + ": " +
		string(interp.AppendEvent(nil, n.strs, n.events[x.event]))
}

// surrounds reports whether the machines of a system have around them what they had without a mistake: links, and
// what hostile instances send, follow from what the machines mention.
func (n *noted) surrounds(s *check.System) bool {
	for i, proc := range s.Procs {
		if !reflect.DeepEqual(proc.Attacks, n.attacks[i]) {
			return false
		}
	}
	return reflect.DeepEqual(s.Rules, n.rules)
}

// eye looks at steps on one bench. Texts are its own, since a step may make new ones.
type eye struct {
	noted    *noted
	strs     *interp.Strings
	machines map[*model.Machine]*interp.Machine
	a, b     []byte
	fault    *interp.Fault // of the last step
}

func (e *eye) machine(role *model.Machine) *interp.Machine {
	m := e.machines[role]
	if m == nil {
		m = interp.New(role, e.strs)
		m.Follow = true
		e.machines[role] = m
	}
	return m
}

// other returns a step of a check that has another outcome with a mistake, the first one; nil if there is none. With
// lines it is one that goes another way, too, even if the outcome is the same.
func (b *bench) other(c *one, t *touched, lines bool) *step {
	if t == nil {
		return nil
	}
	n := c.noted
	e := b.eyes[n]
	if e == nil {
		e = &eye{noted: n, strs: n.strs.Clone()}
		b.eyes[n] = e
	}
	e.machines = map[*model.Machine]*interp.Machine{}
	insts := b.check(c.name).Instances
	first := int32(-1)
	look := func(list []int32) {
		for _, k := range list {
			if first >= 0 && k >= first {
				return // they are in order
			}
			x := &n.steps[k]
			outcome, by := e.look(e.machine(insts[x.inst].Role), x.value, n.events[x.event])
			id, ok := n.ids[string(outcome)]
			other := !ok || id != x.outcome
			if !other && lines {
				id, ok = n.ids[string(by)]
				other = !ok || id != x.lines
			}
			if other {
				first = k
				return
			}
		}
	}
	for _, p := range t.places {
		look(n.by[p])
	}
	if first < 0 {
		return nil
	}
	return &n.steps[first]
}

// look takes a step and tells what it does, and by which lines. Two steps with the same outcome do the same.
func (e *eye) look(m *interp.Machine, v interp.Value, ev interp.Event) (outcome, lines []byte) {
	next, effects, res, fault := m.Step(v, ev)
	e.fault = fault
	a, b := append(e.a[:0], byte(res.Code)), e.b[:0]
	if res.Code == fsm.Took {
		a = appendSlots(a, next)
		for i := range effects {
			a = appendEffect(a, &effects[i])
		}
		for _, t := range m.Fired() {
			b = append(append(b, report.LineKey(t)...), 0)
		}
	} else if fault != nil {
		b = append(b, byte(fault.Kind))
	}
	e.a, e.b = a, b
	return a, b
}

func appendSlots(b []byte, slots []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(slots)))
	for _, x := range slots {
		b = binary.AppendVarint(b, x)
	}
	return b
}

func appendEvent(b []byte, ev interp.Event) []byte {
	b = appendAt(binary.AppendUvarint(b, uint64(ev.Event.Index)), ev.At)
	return appendSlots(binary.AppendVarint(b, int64(ev.Sender)), ev.Args)
}

func appendAt(b []byte, at []interp.At) []byte {
	b = append(b, byte(len(at)))
	for _, x := range at {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(x.Part.Index)), uint64(x.Index))
	}
	return b
}

func appendEffect(b []byte, e *interp.Effect) []byte {
	b = append(b, byte(e.Kind), byte(e.Dest))
	for _, x := range []int64{int64(e.To), int64(e.Index), e.Ticks} {
		b = binary.AppendVarint(b, x)
	}
	b = appendAt(b, e.At)
	switch {
	case e.Message != nil:
		b = append(b, e.Message.Name...)
	case e.Report != nil:
		b = append(b, e.Report.Name...)
	case e.Timer != nil:
		b = append(b, e.Timer.Name...)
	}
	return appendSlots(append(b, 0), e.Slots)
}
