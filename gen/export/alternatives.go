package export

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// system works out what the instances of a check can do, and which claims must hold.
type system struct {
	*layout
	left []string // claims that are not exported, with the reason
}

// alternative is one thing that an instance can do.
type alternative struct {
	note  string
	guard *term
	// take is the channel a message is taken from, or nil; keep leaves it there.
	take *channel
	keep bool
	lost bool // it is taken and nothing is done with it
	// exact are the fields of the message that is taken, of a channel without order.
	exact []int64
	// spends counts how often faults have done this, nil: nobody does.
	spends *variable
	body   []stmt
	// byMessage is the code for each message, where one is taken.
	byMessage []reception
}

// reception has the statements for one message.
type reception struct {
	msg  int
	body []stmt
}

// MaxArguments is the number of argument tuples that a command may have, as in a check.
const MaxArguments = 1 << 16

// alternatives returns what an instance can do: start, its commands, its timers, and then the messages
// that arrive.
func (sys *system) alternatives(in *instance) []alternative {
	out := sys.comings(in)
	for _, ev := range in.model.Role.Events {
		switch ev.Kind {
		case model.EventStart:
			if in.started != nil {
				s := newStep(sys.layout, in, 0, false)
				s.emit(&assign{in.started, yes})
				s.deliver(root(in), ev, nil)
				out = append(out, alternative{note: "start", guard: and(in.there(), not(read(in.started))),
					body: tidy(s.b.list, false)})
			}
		case model.EventCommand:
			out = append(out, sys.command(in, ev)...)
		}
	}
	out = append(out, sys.timers(in, root(in), nil)...)
	for k := range sys.insts {
		for _, ch := range sys.between(k, in.index) {
			if k != in.index && len(ch.sent) > 0 {
				out = append(out, sys.arrivals(in, ch)...)
			}
		}
	}
	return out
}

// comings returns that somebody comes to an instance, and that who has ended goes. Then all is as it was
// at the beginning, but for how many have come.
func (sys *system) comings(in *instance) []alternative {
	if in.down == nil {
		return nil
	}
	more, _ := arith("+", read(in.comes), yes)
	come := alternative{note: "somebody comes",
		guard: and(read(in.down), compare("<", read(in.comes), number(in.comes.hi))),
		body:  []stmt{&assign{in.down, no}, &assign{in.comes, more}}}
	gone := alternative{note: "who has ended goes", guard: and(in.begun(), in.ended()),
		body: []stmt{&assign{in.down, yes}}}
	if gone.guard.is(0) {
		return []alternative{come}
	}
	for _, v := range in.slots {
		if v != nil {
			gone.body = append(gone.body, &assign{v, number(v.init)})
		}
	}
	for _, r := range sys.c.Rules {
		if v := in.given[r]; v != nil {
			gone.body = append(gone.body, &assign{v, no})
		}
	}
	if in.started != nil {
		gone.body = append(gone.body, &assign{in.started, no})
	}
	return []alternative{come, gone}
}

func (sys *system) ruleFor(in *instance, ev *model.Event) *model.EnvRule {
	for _, r := range sys.c.Rules {
		if r.Command == ev {
			return r
		}
	}
	return nil
}

// allowed returns the condition of an environment rule. It is evaluated before the step. A condition
// that faults does not hold.
func (sys *system) allowed(in *instance, r *model.EnvRule, args []*term) *term {
	cond := yes
	if r == nil {
		return cond
	}
	if v := in.given[r]; v != nil {
		cond = compare("<", read(v), number(v.hi))
	}
	if r.When == nil {
		return cond
	}
	sc := &scope{l: sys.layout, inst: in, locals: make([]*term, r.Locals)}
	from := 0
	for _, l := range r.Params {
		n := l.Type.Slots()
		sc.bind(l, args[from:from+n])
		from += n
	}
	v, ok := sc.eval(core.Of(r.When))
	return and(cond, and(ok, asBool(v[0])))
}

// command returns the alternatives for a command: one for each state and each tuple of arguments.
func (sys *system) command(in *instance, ev *model.Event) []alternative {
	rule := sys.ruleFor(in, ev)
	if rule != nil && rule.Never() {
		return nil
	}
	tuples, err := interp.Domains(ev, MaxArguments)
	if err != nil {
		refuse("too many different arguments of a command (%v)", err)
	}
	var out []alternative
	for _, st := range in.code.States {
		h := handlerOf(st, ev)
		if h == nil || h.Model.Mode != model.Handle {
			continue
		}
		for _, tuple := range tuples {
			args := numbers(tuple)
			s := newStep(sys.layout, in, 0, true)
			at := compare("==", read(in.slots[0]), number(int64(st.Model.Index)))
			s.assume(at)
			before := and(and(in.begun(), at), sys.allowed(in, rule, args))
			if before.is(0) {
				continue
			}
			if v := in.given[rule]; rule != nil && v != nil {
				more, _ := arith("+", read(v), yes)
				s.emit(&assign{v, more})
			}
			s.deliver(root(in), ev, args)
			guard := and(before, possible(s.b.list, yes))
			if guard.is(0) {
				continue
			}
			note := st.Model.Name + " " + string(interp.AppendEvent(nil, sys.strs,
				interp.Event{Event: ev, Args: tuple})) + lineNote(h.Model.Span)
			out = append(out, alternative{note: note, guard: guard, body: tidy(s.b.list, true)})
		}
	}
	return out
}

// timers returns the alternatives for the expiry of timers, of a machine and of its parts.
func (sys *system) timers(in *instance, c *machine, way []*machine) []alternative {
	var out []alternative
	way = append(slices.Clone(way), c)
	for _, ev := range c.m.Model.Events {
		if ev.Kind == model.EventTimer {
			for i := range ev.Timer.Count {
				out = append(out, sys.expiry(in, way, ev, i)...)
			}
		}
	}
	for _, p := range c.m.Parts {
		for i := range p.Model.Count {
			out = append(out, sys.timers(in, c.enter(p, i), way)...)
		}
	}
	return out
}

// expiry returns the alternative for the expiry of one instance of a timer. way leads from the root to
// the timer's machine.
func (sys *system) expiry(in *instance, way []*machine, ev *model.Event, i int) []alternative {
	var rule *model.EnvRule
	c := way[len(way)-1]
	if c.up == nil {
		rule = sys.ruleFor(in, ev)
	}
	args := numbers(interp.TimerKeys(ev.Timer, i))
	armed := in.slots[c.base+ev.Timer.Offset+i]
	guard := and(and(in.begun(), read(armed)), sys.allowed(in, rule, args))
	if guard.is(0) {
		return nil
	}
	s := newStep(sys.layout, in, 0, false)
	s.assume(read(armed))
	if v := in.given[rule]; rule != nil && v != nil {
		more, _ := arith("+", read(v), yes)
		s.emit(&assign{v, more})
	}
	for _, x := range slices.Backward(way) {
		if x == c {
			s.handle(x, ev, args)
		}
		s.drain(x)
	}
	return []alternative{{note: interp.TimerName(ev.Timer, i) + " expires", guard: guard,
		body: tidy(s.b.list, false)}}
}

// maxInBag is how many different messages a channel without order may have.
const maxInBag = 256

// values lists the fields that a message can have.
func (sys *system) values(msg int) (all [][]int64) {
	all = [][]int64{{}}
	for _, t := range sys.columns[msg] {
		var next [][]int64
		for _, head := range all {
			for n := t.v.lo; n <= t.v.hi; n++ {
				if next = append(next, append(slices.Clone(head), n)); len(next) > maxInBag {
					refuse("channels without order in which more than %d different messages may be (smaller "+
						"`domains` in a copy of the check)", maxInBag)
				}
			}
		}
		all = next
	}
	return all
}

// bag returns what can happen to the messages of a channel without order. Spin keeps it sorted, so that it has
// one state for what lies in it; and each of its messages can be the next.
func (sys *system) bag(in *instance, ch *channel) (all []alternative) {
	for i, m := range sys.p.Messages {
		ev := receptionOf(in.model.Role, m)
		if !ch.sent[i] || ev == nil {
			continue
		}
		for _, fields := range sys.values(i) {
			var args []*term
			for _, n := range fields {
				args = append(args, number(n))
			}
			a := alternative{note: m.Name + " from " + sys.insts[ch.from].model.Name, take: ch, exact: fields}
			there := raw(sys.exactly("??[", ch, i, fields)+"]", 1)
			a.guard = and(there, in.begun())
			a.byMessage = []reception{{i, sys.receiveArgs(in, ch, ev, args)}}
			all = append(all, a)
			nothing := a
			nothing.byMessage, nothing.lost = []reception{{msg: i}}, true
			if in.down != nil {
				nothing.note, nothing.guard = a.note+", where nobody is", and(there, read(in.down))
				all = append(all, nothing)
			}
			if ch.spec.Duplicates {
				again := a
				again.note, again.keep = a.note+", which arrives again", true
				all = append(all, again.bounded(sys.copied))
			}
			if ch.spec.Lossy {
				nothing.note, nothing.guard = a.note+" is lost", there
				all = append(all, nothing.bounded(sys.lost))
			}
		}
	}
	return all
}

// exactly names a message with its fields behind a channel and what is done with it.
func (l *layout) exactly(does string, ch *channel, msg int, fields []int64) string {
	text := ch.name + does + l.messages[msg]
	for i := range l.fields {
		if i < len(fields) {
			text += "," + l.columns[msg][i].v.value(fields[i])
		} else {
			text += ",0"
		}
	}
	return text
}

// arrivals returns what can happen to the oldest message of a channel, or to each where there is no order.
func (sys *system) arrivals(in *instance, ch *channel) (all []alternative) {
	if !ch.spec.Ordered {
		return sys.bag(in, ch)
	}
	a := alternative{note: "a message from " + sys.insts[ch.from].model.Name, take: ch,
		guard: and(waiting(ch), in.begun())}
	for i, m := range sys.p.Messages {
		if !ch.sent[i] {
			continue
		}
		ev := receptionOf(in.model.Role, m)
		if ev == nil {
			continue
		}
		a.byMessage = append(a.byMessage, reception{i, sys.receive(in, ch, i, ev, yes)})
	}
	out := sys.cut(in, a)
	if in.down != nil {
		dropped := alternative{note: a.note + ", where nobody is", take: ch, lost: true,
			guard: and(waiting(ch), read(in.down))}
		for _, r := range a.byMessage {
			dropped.byMessage = append(dropped.byMessage, reception{msg: r.msg})
		}
		defer func() { all = append(all, dropped) }()
	}
	if ch.spec.Duplicates {
		for _, b := range slices.Clone(out) {
			b.note, b.keep = b.note+", which arrives again", true
			out = append(out, b.bounded(sys.copied))
		}
	}
	if ch.spec.Lossy {
		l := alternative{note: a.note + " is lost", take: ch, lost: true,
			guard: waiting(ch)}
		for _, r := range a.byMessage {
			l.byMessage = append(l.byMessage, reception{msg: r.msg})
		}
		out = append(out, l.bounded(sys.lost))
	}
	return out
}

// bounded is an alternative that is possible only so often as v can count.
func (a alternative) bounded(v *variable) alternative {
	if v != nil {
		a.guard, a.spends = and(a.guard, compare("<", read(v), number(v.hi))), v
	}
	return a
}

// receive writes what an instance does with a message if its state meets the condition at.
func (sys *system) receive(in *instance, ch *channel, msg int, ev *model.Event, at *term) []stmt {
	return sys.received(in, ch, ev, sys.columns[msg], at)
}

// receiveArgs is receive of a message whose fields are known.
func (sys *system) receiveArgs(in *instance, ch *channel, ev *model.Event, args []*term) []stmt {
	list := sys.received(in, ch, ev, args, yes)
	if n := length(list); n >= most {
		refuse("a step of %d statements, more than Spin takes in one", n)
	}
	return list
}

func (sys *system) received(in *instance, ch *channel, ev *model.Event, args []*term, at *term) []stmt {
	s := newStep(sys.layout, in, ch.from, false)
	s.assume(at)
	if t := in.model.Role.Sender; t != nil && (int64(ch.from) < t.Lo || int64(ch.from) > t.Hi) {
		s.fail(faultFlag, "the sender is outside its type")
	}
	s.deliver(root(in), ev, args)
	return tidy(s.b.list, false)
}

// longest is the number of statements from which on a step is divided, and most that from which on Spin takes
// it no more: its bound is 2,048, in a count of its own, which comes to some 1,800 of these.
const longest, most = 1500, 1750

// cut divides a reception that is too long for one step: into one for each message, or for each message
// and state.
func (sys *system) cut(in *instance, a alternative) []alternative {
	total := 0
	for _, r := range a.byMessage {
		total += length(r.body)
	}
	if total < longest {
		return []alternative{a}
	}
	var out []alternative
	for _, r := range a.byMessage {
		b := a
		b.guard = and(a.guard, raw(sys.poll(a.take, r.msg), 1))
		b.note += ": " + sys.p.Messages[r.msg].Name
		b.byMessage = []reception{r}
		if length(r.body) < longest {
			out = append(out, b)
			continue
		}
		ev := receptionOf(in.model.Role, sys.p.Messages[r.msg])
		for _, st := range in.model.Role.States {
			at := compare("==", read(in.slots[0]), number(int64(st.Index)))
			d := b
			d.guard = and(b.guard, at)
			d.note += " in " + st.Name
			d.byMessage = []reception{{r.msg, sys.receive(in, a.take, r.msg, ev, at)}}
			out = append(out, d)
		}
	}
	for _, b := range out {
		if n := length(b.byMessage[0].body); n >= most {
			refuse("a step of %d statements (%s), more than Spin takes in one (smaller `consts` or `domains` in "+
				"a copy of the check make it shorter)", n, b.note)
		}
	}
	return out
}

// poll returns the text that asks whether a message is the oldest of a channel.
func (sys *system) poll(ch *channel, msg int) string {
	text := ch.name + "?[" + sys.messages[msg]
	for range sys.fields {
		text += ",_"
	}
	return text + "]"
}

func receptionOf(role *model.Machine, m *model.Message) *model.Event {
	for _, ev := range role.Events {
		if ev.Kind == model.EventMessage && ev.Message.Name == m.Name {
			return ev
		}
	}
	return nil
}

// sends notes which messages go into which channels. It reports whether some are new.
func sends(list []stmt) (more bool) {
	for _, x := range list {
		switch x := x.(type) {
		case *send:
			more = more || !x.ch.sent[x.msg]
			x.ch.sent[x.msg] = true
		case *choice:
			for _, a := range x.arms {
				more = sends(a.body) || more
			}
			more = sends(x.otherwise) || more
		}
	}
	return more
}

// process is an instance, and all that it can do.
type process struct {
	in   *instance
	alts []alternative
}

// processes works out what all instances can do. What arrives depends on what is sent. So it repeats this
// until no message is new.
func (sys *system) processes() []process {
	for {
		var out []process
		more := false
		for _, in := range sys.insts {
			p := process{in, sys.alternatives(in)}
			for _, a := range p.alts {
				more = sends(a.body) || more
				for _, r := range a.byMessage {
					more = sends(r.body) || more
				}
			}
			out = append(out, p)
		}
		if !more {
			return out
		}
	}
}
