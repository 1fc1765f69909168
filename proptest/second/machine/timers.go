package machine

import (
	"slices"
	"strings"
)

// Timing is how a check counts time; without a beat it does not.
type Timing struct {
	Beat  int64
	Delay int
	Drift []int64 // of each instance, in millionths
}

func (t *Timing) Counts() bool { return t != nil && t.Beat > 0 }

// clock is how long a timer of so many ticks may take, in beats.
func (t *Timing) clock(self int, ticks int64) Clock {
	if !t.Counts() {
		return Clock{}
	}
	const whole = 1_000_000
	fast, slow := (whole+t.Drift[self])*t.Beat, (whole-t.Drift[self])*t.Beat
	return Clock{int(ticks * whole / fast), int((ticks*whole + slow - 1) / slow)}
}

// Where is one step of the way from a machine to a part of it.
type Where struct {
	Part *Part
	Keys []Value
}

// Expire has a timer of a machine, or of a part of it, expire.
func (m *Machine) Expire(path []Where, ev Event, time *Timing) (out Outcome) {
	if path == nil {
		return m.Step(ev, time)
	}
	s := &step{self: m.Self, sender: -1, time: time}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case Fault:
			out = Outcome{M: m, Fault: x.Why}
		case refusal:
			out = Outcome{M: m, Refused: true}
		default:
			panic(x)
		}
	}()
	frames := []*frame{{m: m.Clone()}}
	for _, at := range path {
		up := frames[len(frames)-1]
		frames = append(frames, &frame{m: up.m.part(at.Part, at.Keys).Clone(), parent: up, p: at.Part,
			keys: at.Keys})
	}
	s.handle(frames[len(frames)-1], ev)
	for k := len(frames) - 2; k >= 0; k-- {
		f := frames[k]
		f.m.Parts[KeyText(frames[k+1].p.Name, frames[k+1].keys)] = frames[k+1].m
		for len(f.queue) > 0 {
			next := f.queue[0]
			f.queue = f.queue[1:]
			if len(f.m.handlers(next.Name)) == 0 {
				panic(refusal{"no " + next.Name})
			}
			s.take(f, next)
		}
	}
	return Outcome{M: frames[0].m, Effects: s.effects, defensive: s.defensive}
}

// Values are the keys of a timer as the fields of its expiry.
func (t *timer) Values(key string) map[string]Value {
	out := map[string]Value{}
	for _, tuple := range Product(len(t.keys), func(i int) []Value { return t.keys[i].T.Values() }) {
		if KeyText(t.Name, tuple) == key {
			for i, k := range t.keys {
				out[k.Name] = tuple[i]
			}
		}
	}
	return out
}

func (m *Machine) StopParts() {
	for _, k := range Sorted(m.Parts) {
		p := m.Parts[k].Clone()
		p.Timers = map[string]Clock{}
		p.StopParts()
		m.Parts[k] = p
	}
}

func (m *Machine) NotOverdue() bool {
	for _, t := range m.Timers {
		if t.most == 0 {
			return false
		}
	}
	for _, p := range m.Parts {
		if !p.NotOverdue() {
			return false
		}
	}
	return true
}

func (m *Machine) Tick() {
	for k, t := range m.Timers {
		m.Timers[k] = Clock{max(0, t.Least-1), t.most - 1}
	}
	for k, p := range m.Parts {
		p = p.Clone()
		p.Tick()
		m.Parts[k] = p
	}
}

// StartDoes reports whether the start of a new machine does anything. Where variables are kept it may begin
// again with other values, and what does nothing at first may do something then.
func (m *Machine) StartDoes() bool {
	if hs := m.handlers("start"); len(hs) > 0 && hs[0].h.mode == "" {
		return true
	}
	at := m.R.States[m.State]
	for s := at.parent; s != nil; s = s.parent {
		if len(s.entry) > 0 {
			return true
		}
	}
	if len(at.entry) == 0 {
		return false
	}
	o := m.Step(Event{Name: "start", Sender: -1}, nil)
	return m.keeps() || o.Fault != "" || o.Refused || len(o.Effects) > 0 || o.M.Text() != m.Text()
}

// keeps reports whether variables of a machine or its parts outlive a crash.
func (m *Machine) keeps() bool {
	for _, p := range m.Parts {
		if p.keeps() {
			return true
		}
	}
	return slices.ContainsFunc(m.R.Vars, func(v variable) bool { return v.Kept })
}

func (m *Machine) AnyTimer() bool {
	if len(m.Timers) > 0 {
		return true
	}
	for _, p := range m.Parts {
		if p.AnyTimer() {
			return true
		}
	}
	return false
}

// TimerOf returns the timer of which an armed one has this name, with its keys.
func (r *Role) TimerOf(key string) *timer {
	name, _, _ := strings.Cut(key, "[")
	return r.Timers[name]
}
