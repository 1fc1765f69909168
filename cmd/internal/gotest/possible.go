package gotest

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/runtime/fsm"
)

// rehearsal does a run with the interpreter, on the machines that the test will drive: a check may explore smaller
// machines than the specification's own.
type rehearsal struct {
	check    *model.Check
	strs     *interp.Strings
	machines []*interp.Machine
	values   []interp.Value
	channels map[[2]int][]letter
}

type letter struct {
	message *model.Message
	slots   []int64
}

// possible says whether the run is one of the machines of full and shows there what it shows in the check, whose model is p: with the same
// constants, or if the machines end with the same values.
func possible(full, p *model.Protocol, cl *check.ClaimReport) bool {
	end, ok := rehearse(full, p.Checks[0], cl)
	if !ok || slices.EqualFunc(full.Consts, p.Consts, func(a, b *model.Const) bool { return a.Value == b.Value }) {
		return ok
	}
	small, ok := rehearse(p, p.Checks[0], cl)
	return ok && slices.Equal(end, small)
}

// rehearse does the run of a claim with the machines of a model and tells what they hold at the end.
func rehearse(p *model.Protocol, c *model.Check, cl *check.ClaimReport) (end []string, ok bool) {
	r := &rehearsal{check: c, strs: &interp.Strings{}, channels: map[[2]int][]letter{}}
	for _, inst := range c.Instances {
		i := slices.IndexFunc(p.Roles, func(m *model.Machine) bool { return m.Name == inst.Role.Name })
		args, err := arguments(inst, p.Roles[i], r.strs)
		if err != nil {
			return nil, false
		}
		v, err := interp.NewValue(p.Roles[i], r.strs, args...)
		if err != nil {
			return nil, false
		}
		r.machines = append(r.machines, interp.New(p.Roles[i], r.strs))
		r.values = append(r.values, v)
	}
	moves := cl.Counterexample.Moves()
	for i, m := range moves {
		last := i == len(moves)-1 && cl.Kind == "built-in" && slices.Contains(wrong, cl.Name)
		if !r.move(m, last) {
			return nil, false
		}
	}
	for i, m := range r.machines {
		end = append(end, string(interp.AppendMachine(nil, r.strs, m.Model, r.values[i])))
	}
	return end, true
}

// arguments are the parameters of an instance as values of its full role.
func arguments(inst *model.Instance, role *model.Machine, strs *interp.Strings) ([][]int64, error) {
	var args [][]int64
	for i, e := range inst.Args {
		v := make([]int64, e.Type().Slots())
		if err := (&interp.Eval{Strings: strs}).Into(e, v, nil, nil); err != nil {
			return nil, err
		}
		full, err := interp.ParseValue(role.Params[i].Type, strs, string(interp.AppendValue(nil, strs, e.Type(), v)))
		if err != nil {
			return nil, err
		}
		args = append(args, full)
	}
	return args, nil
}

func (r *rehearsal) move(m check.Move, last bool) bool {
	k := [2]int{m.From, m.Who}
	c := r.channels[k]
	switch m.Kind {
	case "crash":
		return true
	case "swapped":
		if len(c) > 1 {
			c[0], c[1] = c[1], c[0]
		}
		return len(c) > 1
	case "lost", "message", "copy":
		if m.At >= len(c) || string(interp.AppendMessage(nil, r.strs, c[m.At].message, c[m.At].slots)) != m.Event {
			return false
		}
		l := c[m.At]
		if m.Kind != "copy" {
			r.channels[k] = slices.Delete(c, m.At, m.At+1)
		}
		if m.Kind == "lost" {
			return true
		}
		for _, ev := range r.machines[m.Who].Model.Events {
			if ev.Kind == model.EventMessage && ev.Message.Name == l.message.Name {
				return r.step(m.Who, interp.Event{Event: ev, Args: l.slots, Sender: m.From}, last)
			}
		}
		return false
	}
	ev, err := interp.ParseEvent(r.machines[m.Who].Model, r.strs, m.Event)
	if err != nil {
		return false
	}
	ev.Sender = max(m.From, 0)
	return r.step(m.Who, ev, last)
}

// step does a step; last says that it should be an error.
func (r *rehearsal) step(i int, ev interp.Event, last bool) bool {
	next, effects, res, _ := r.machines[i].Step(r.values[i], ev)
	switch {
	case res.Code == fsm.Refused:
		return last
	case res.Code == fsm.Deferred, res.Code == fsm.Ignored && ev.Event.Kind == model.EventTimer:
		return false
	}
	r.values[i] = slices.Clone(next)
	room := true
	for k := range effects {
		e := &effects[k]
		if e.Kind != fsm.Send {
			continue
		}
		for to := range r.machines {
			if to == i || e.Dest != model.ToBroadcast && e.Dest != model.ToPeer && e.To != int(fsm.Broadcast) && to != e.To {
				continue
			}
			c := [2]int{i, to}
			if len(r.channels[c]) >= r.check.Channel.Capacity {
				room = false
				continue
			}
			r.channels[c] = append(r.channels[c], letter{e.Message, slices.Clone(e.Slots)})
		}
	}
	return room != last || r.check.Channel.Full == model.FullLose
}
