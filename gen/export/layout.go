package export

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// layout holds the instances, variables, channels and names of one check.
type layout struct {
	p     *model.Protocol
	c     *model.Check
	strs  *interp.Strings
	names names
	insts []*instance

	messages []string     // by index, as Promela names them
	columns  [][]*term    // by message: its fields as they are received
	fields   []*variable  // the columns of channels
	chans    [][]*channel // by sender: those to each receiver, of each class
	states   map[*model.Machine][]string
	enums    map[*model.Type][]string
	defines  [][2]string // name, number
	temps    []*variable
	lost     *variable // how many messages have been lost, where that is bounded; nil elsewhere
	copied   *variable // how many have arrived again
	opaque   int64     // greatest opaque value that the specification writes
}

// instance is one machine of the check.
type instance struct {
	model   *model.Instance
	code    *core.Machine // of its role
	index   int
	name    string
	slots   []*variable // nil: a constant
	init    []int64
	started *variable                    // nil: start does nothing
	given   map[*model.EnvRule]*variable // how often a bounded command was given
	// Where parties come and go: whether nobody is there, and how many have come. nil where somebody is
	// there all the time.
	down, comes *variable
}

// there returns the condition that somebody is at an instance.
func (in *instance) there() *term {
	if in.down == nil {
		return yes
	}
	return not(read(in.down))
}

// begun returns the condition that an instance has begun.
func (in *instance) begun() *term {
	if in.started == nil {
		return in.there()
	}
	return and(in.there(), read(in.started))
}

// ended returns the condition that an instance is in a final state.
func (in *instance) ended() *term {
	is := no
	for _, st := range in.model.Role.States {
		if st.Final {
			is = or(is, compare("==", read(in.slots[0]), number(int64(st.Index))))
		}
	}
	return is
}

func newLayout(p *model.Protocol, c *model.Check) (*layout, error) {
	l := &layout{p: p, c: c, strs: &interp.Strings{}, states: map[*model.Machine][]string{},
		enums: map[*model.Type][]string{}}
	l.refuseWhole()
	l.names.init()
	for _, flag := range []string{unspecifiedFlag, faultFlag, deadlockFlag, orphanFlag, "m"} {
		l.names.take(flag)
	}
	l.strs.InternDomains(p)
	codes := l.literals()
	model.EachType(p, func(t *model.Type) { l.enumNames(t) })
	for _, m := range p.Messages {
		l.messages = append(l.messages, l.names.take(m.Name))
	}
	for _, inst := range c.Instances {
		in := &instance{model: inst, code: codes[inst.Role], index: len(l.insts), name: l.names.take(inst.Name),
			given: map[*model.EnvRule]*variable{}}
		if err := l.create(in); err != nil {
			return nil, err
		}
		l.insts = append(l.insts, in)
	}
	l.makeColumns()
	l.budgets()
	for i, a := range l.insts {
		l.chans = append(l.chans, nil)
		for j, b := range l.insts {
			for class, spec := range c.Channels() {
				spec = l.faulty(spec)
				ch := &channel{from: i, to: j, class: class, spec: spec,
					sent: map[int]bool{}, counts: map[int]*variable{}}
				if i != j {
					ch.name = a.name + "_to_" + b.name
					if c.Several() {
						ch.name += "_" + spec.Name
					}
					ch.name = l.names.take(ch.name)
				}
				l.chans[i] = append(l.chans[i], ch)
			}
		}
	}
	return l, nil
}

// literals lowers the machines and notes the constants that they and their arguments name.
func (l *layout) literals() map[*model.Machine]*core.Machine {
	note := func(e core.Expr) {
		core.Walk(e, func(e core.Expr) {
			if c, ok := e.(*core.Const); ok {
				if c.IsText {
					l.strs.Intern([]byte(c.Text))
				}
				if c.T.Kind == model.KindOpaque {
					l.opaque = max(l.opaque, c.Value)
				}
			}
		})
	}
	var roles []*model.Machine
	for _, in := range l.c.Instances {
		roles = append(roles, in.Role)
		for _, a := range in.Args {
			note(core.Of(a))
		}
	}
	codes := map[*model.Machine]*core.Machine{}
	for _, m := range core.Machines(roles...) {
		codes[m.Model] = m
		m.Each(func(core.Stmt) {}, note)
	}
	return codes
}

// ofChannels reports whether the faults of a check are losses and copies alone. Crashes that nobody has are none.
func ofChannels(c *model.Check) bool {
	f := c.Faults
	some := func(n int) bool { return n > 0 }
	return !slices.ContainsFunc(f.Crash, some) && !slices.ContainsFunc(f.Restart, some) && f.CrashAll == 0 &&
		f.Break == 0 && f.Return == 0 && f.Partition == 0 && f.Overtake <= 0
}

// budgets makes what counts losses and copies, where faults bound them.
func (l *layout) budgets() {
	f := l.c.Faults
	if f == nil {
		return
	}
	if f.Lose > 0 {
		l.lost = &variable{name: l.names.take("messages_lost"), hi: int64(f.Lose)}
	}
	if f.Duplicate > 0 {
		l.copied = &variable{name: l.names.take("messages_copied"), hi: int64(f.Duplicate)}
	}
}

// faulty is a channel with what faults say of it. Of several channels, faults bound what a channel does by
// itself; a single one does what faults say.
func (l *layout) faulty(ch model.Channel) model.Channel {
	f := l.c.Faults
	if f == nil {
		return ch
	}
	if f.Lose >= 0 {
		ch.Lossy = f.Lose > 0 && (ch.Lossy || !l.c.Several())
	}
	if f.Duplicate >= 0 {
		ch.Duplicates = f.Duplicate > 0 && (ch.Duplicates || !l.c.Several())
	}
	return ch
}

// refuseWhole refuses a check that Promela cannot express at all.
func (l *layout) refuseWhole() {
	switch c := l.c; {
	case len(c.Instances) == 0:
		refuse("no instances")
	case c.Faults != nil && !ofChannels(c):
		refuse("%s (leave them out of a copy of the check for Spin; `fsmgen check` looks at them)", faultWords(c))
	case comesLinked(c):
		refuse("parties that come and go over links that others notice, in `up` or `lost` (`fsmgen check` looks at " +
			"them; for Spin, leave `come` out of a copy of the check, and all are there from the beginning)")
	case c.HasHostile():
		refuse("hostile instances, which send any message at any moment (`fsmgen check` looks at them; for Spin, " +
			"leave `hostile` out of a copy of the check, and all keep to their roles)")
	case len(c.Monitors) > 0:
		refuse("a monitor of several instances (`fsmgen check` looks at it; for Spin, say it in a copy of the check " +
			"with `reported` and `commanded`)")
	case c.Time != nil:
		refuse("time")
	case slices.ContainsFunc(c.Channels(), func(ch model.Channel) bool { return ch.Full == model.FullWait }):
		refuse("channels that wait when they are full")
	case slices.ContainsFunc(c.Channels(), func(ch model.Channel) bool { return ch.Capacity > 255 }):
		refuse("channels of more than 255 messages")
	case slices.ContainsFunc(c.Instances, func(in *model.Instance) bool { return in.Role.Defers() }):
		refuse("messages that are deferred")
	case slices.ContainsFunc(c.Instances, func(in *model.Instance) bool {
		return in.Role.Mentions(model.EventUp) || in.Role.Closes()
	}):
		refuse("links that come up or are closed")
	case ruledPart(c) != "":
		refuse("a rule for %s, a timer of a part "+
			"(leave the rule out, or export a check of the part's role by itself)", ruledPart(c))
	case len(c.Instances) > 200:
		refuse("more than 200 instances")
	case len(l.p.Messages) > 250:
		refuse("more than 250 messages")
	}
}

// comesLinked reports whether somebody notices who comes and goes but by messages.
func comesLinked(c *model.Check) bool {
	for i, a := range c.Instances {
		for _, b := range c.Instances[i+1:] {
			if (a.Comes() || b.Comes()) && c.Links(a, b) {
				return true
			}
		}
	}
	return false
}

// ruledPart returns the name of a timer that the environment has a rule for and that belongs to a part of
// an instance. Such a rule reads the variables of the part.
func ruledPart(c *model.Check) string {
	for _, r := range c.Rules {
		part := func(in *model.Instance) bool { return inParts(in.Role, r.Command) }
		if r.Command.Kind == model.EventTimer && slices.ContainsFunc(c.Instances, part) {
			return r.Command.Name
		}
	}
	return ""
}

// inParts reports whether an event belongs to a part of m, at any depth.
func inParts(m *model.Machine, ev *model.Event) bool {
	return slices.ContainsFunc(m.Parts, func(p *model.Part) bool {
		return slices.Contains(p.Machine.Events, ev) || inParts(p.Machine, ev)
	})
}

// create makes the variables of an instance.
func (l *layout) create(in *instance) error {
	role := in.model.Role
	var args [][]int64
	x := interp.Eval{Strings: l.strs}
	for i, e := range in.model.Args {
		d := make([]int64, e.Type().Slots())
		if err := x.Into(core.Of(e), d, nil, nil); err != nil {
			return fmt.Errorf("%s: instance %s, parameter %s: %w", in.model.Span, in.model.Name,
				role.Params[i].Name, err)
		}
		args = append(args, d)
	}
	v, err := interp.NewValue(role, l.strs, args...)
	if err != nil {
		return fmt.Errorf("%s: instance %s: %w", in.model.Span, in.model.Name, err)
	}
	in.init = v
	in.slots = make([]*variable, role.Size)
	l.lay(in, role, 0, in.name+"_")
	if !l.startsSilently(in) {
		in.started = &variable{name: l.names.take(in.name + "_started"), hi: 1,
			doc: "whether it has begun"}
	}
	if in.model.Comes() {
		in.down = &variable{name: l.names.take(in.name + "_down"), hi: 1, init: 1, doc: "whether nobody is there"}
		in.comes = &variable{name: l.names.take(in.name + "_comes"), hi: int64(in.model.Come),
			doc: "how many have come"}
	}
	for _, r := range l.c.Rules {
		if r.Times > 0 && slices.Contains(role.Events, r.Command) {
			in.given[r] = &variable{name: l.names.take(in.name + "_" + r.Command.Name + "_given"),
				hi: int64(r.Times), doc: "how often the environment gave it"}
		}
	}
	return nil
}

// startsSilently reports whether the event start changes nothing and has no effect.
func (l *layout) startsSilently(in *instance) bool {
	for _, ev := range in.model.Role.Events {
		if ev.Kind != model.EventStart {
			continue
		}
		x := interp.New(in.model.Role, l.strs)
		next, effects, res, _ := x.Step(in.init, interp.Event{Event: ev})
		return res.Code != fsm.Refused && len(effects) == 0 && next.Equal(in.init) &&
			len(x.Fired()) == 0
	}
	return true
}

// lay makes variables for the slots of a machine and of its parts.
func (l *layout) lay(in *instance, m *model.Machine, base int, prefix string) {
	in.slots[base] = &variable{name: l.names.take(prefix + "state"), hi: int64(len(m.States) - 1),
		init: in.init[base], names: l.stateNames(m)}
	for _, v := range m.Vars {
		l.layValue(in, v.Type, base+v.Offset, prefix+v.Name, v.Doc)
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			name := l.names.take(prefix + interp.TimerName(t, i))
			in.slots[base+t.Offset+i] = &variable{name: name, hi: 1, doc: t.Doc}
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			name := prefix + p.Name + "_"
			for _, k := range interp.PartKeys(p, i) {
				name += fmt.Sprint(k, "_")
			}
			l.lay(in, p.Machine, base+p.Offset+i*p.Machine.Size, name)
		}
	}
}

// layValue makes variables for the slots of one variable.
func (l *layout) layValue(in *instance, t *model.Type, at int, name, doc string) {
	switch t.Kind {
	case model.KindOptional:
		in.slots[at] = &variable{name: l.names.take(name + "_is"), hi: 1, init: in.init[at],
			doc: "whether there is one"}
		l.layValue(in, t.Elem, at+1, name, doc)
		l.mayBeAbsent(in, at+1, t.Elem.Slots())
	case model.KindRecord:
		for _, f := range t.Fields {
			l.layValue(in, f.Type, at+f.Offset, name+"_"+f.Name, f.Doc)
		}
	case model.KindArray:
		for i := range int(t.Index.Count()) {
			place := fmt.Sprint(name, "_", int64(i)+t.Index.Lowest())
			l.layValue(in, t.Elem, at+i*t.Elem.Slots(), place, doc)
		}
	case model.KindList:
		in.slots[at] = &variable{name: l.names.take(name + "_n"), hi: int64(t.Cap),
			init: in.init[at], doc: "how many there are"}
		for i := range t.Cap {
			l.layValue(in, t.Elem, at+1+i*t.Elem.Slots(), fmt.Sprint(name, "_", i), doc)
		}
		l.mayBeAbsent(in, at+1, t.Cap*t.Elem.Slots())
	default:
		lo, hi := l.bounds(t)
		in.slots[at] = &variable{name: l.names.take(name), lo: lo, hi: hi, init: in.init[at],
			names: l.enumNames(t), doc: doc}
	}
}

// mayBeAbsent allows variables to be 0, which they are while a value is absent.
func (l *layout) mayBeAbsent(in *instance, at, n int) {
	for _, v := range in.slots[at : at+n] {
		v.lo, v.hi = min(v.lo, 0), max(v.hi, 0)
	}
}

// bounds returns the least and the greatest number of a scalar type.
func (l *layout) bounds(t *model.Type) (lo, hi int64) {
	switch t.Kind {
	case model.KindBool:
		return 0, 1
	case model.KindEnum:
		return 0, int64(len(t.Names) - 1)
	case model.KindOpaque:
		return 0, max(t.Hi, l.opaque)
	case model.KindBytes:
		return 0, int64(l.strs.Len() - 1)
	case model.KindSet:
		if t.Elem.Count() > 31 {
			refuse("a set of more than 31 possible elements")
		}
		return 0, 1<<t.Elem.Count() - 1
	}
	if t.Lo < least {
		refuse("numbers of more than 31 bits")
	}
	return t.Lo, t.Hi
}

// makeColumns makes the columns of the channels. There are as many as the largest message needs.
func (l *layout) makeColumns() {
	for _, m := range l.p.Messages {
		var slots []*variable
		for _, f := range m.Fields {
			in := &instance{slots: make([]*variable, f.Type.Slots()),
				init: make([]int64, f.Type.Slots())}
			free := *l
			free.names.init()
			free.layValue(in, f.Type, 0, f.Name, "")
			slots = append(slots, in.slots...)
		}
		var terms []*term
		for i, v := range slots {
			v.kind = fieldVar
			if i == len(l.fields) {
				l.fields = append(l.fields, &variable{name: v.name, kind: fieldVar})
			}
			c := l.fields[i]
			c.lo, c.hi = min(c.lo, v.lo), max(c.hi, v.hi)
			if c.name != v.name {
				c.name = ""
			}
			terms = append(terms, read(v))
		}
		l.columns = append(l.columns, terms)
	}
	for i, c := range l.fields {
		if c.name == "" {
			c.name = fmt.Sprint("f", i)
		}
		c.name = l.names.take("m_" + c.name)
	}
	for _, terms := range l.columns {
		for i, t := range terms {
			t.v.name = l.fields[i].name
		}
	}
}

// define makes a name for a number.
func (l *layout) define(want string, n int) string {
	name := l.names.take(want)
	l.defines = append(l.defines, [2]string{name, fmt.Sprint(n)})
	return name
}

func (l *layout) stateNames(m *model.Machine) []string {
	if list, ok := l.states[m]; ok {
		return list
	}
	for other, list := range l.states {
		named := func(a, b *model.State) bool { return a.Name == b.Name }
		if other.Protocol == m.Protocol && other.Name == m.Name &&
			slices.EqualFunc(other.States, m.States, named) {
			l.states[m] = list
			return list
		}
	}
	var list []string
	for i, st := range m.States {
		prefix := m.Name
		if m.Protocol != l.p.Name {
			prefix = m.Protocol
		}
		list = append(list, l.define(prefix+"_"+st.Name, i))
	}
	l.states[m] = list
	return list
}

func (l *layout) enumNames(t *model.Type) []string {
	if t.Kind != model.KindEnum {
		return nil
	}
	if list, ok := l.enums[t]; ok {
		return list
	}
	var list []string
	for i, name := range t.Names {
		list = append(list, l.define(t.Name+"_"+name, i))
	}
	l.enums[t] = list
	return list
}

// between are the channels from one instance to another, by class.
func (l *layout) between(from, to int) []*channel {
	n := 1 + len(l.c.Beside)
	return l.chans[from][to*n : to*n+n]
}

func (l *layout) channel(from, to, class int) *channel {
	ch := l.between(from, to)[class]
	ch.used = true
	return ch
}

// lengths returns the number of messages in transit, as a term.
func (l *layout) lengths(in *instance, n *model.ChanLen) *term {
	sum := no
	for i := range l.insts {
		for j := range l.insts {
			inRule := n.Self && (n.Out && i != in.index || !n.Out && j != in.index)
			if i == j || inRule || n.From != nil && n.From.Index != i ||
				n.To != nil && n.To.Index != j {
				continue
			}
			for _, ch := range l.between(i, j) {
				if n.Message != nil && n.Message.Channel != ch.class || n.Over != "" && n.Class != ch.class {
					continue
				}
				sum, _ = arith("+", sum, l.length(ch, n.Message))
			}
		}
	}
	return sum
}

func (l *layout) length(ch *channel, msg *model.Message) *term {
	most := int64(ch.spec.Capacity)
	if msg == nil {
		ch.used = true
		return raw("len("+ch.name+")", most)
	}
	i := l.messageIndex(msg)
	if ch.counts[i] == nil {
		ch.counts[i] = &variable{name: l.names.take(ch.name + "_" + l.messages[i]), kind: countVar,
			hi: most, doc: "how many of these are in it"}
	}
	ch.used = true
	return raw(ch.counts[i].name, most)
}

// messageIndex finds a message by its name, since claims can refer to another copy of the model.
func (l *layout) messageIndex(msg *model.Message) int {
	return slices.IndexFunc(l.p.Messages, func(m *model.Message) bool { return m.Name == msg.Name })
}

// temp returns variable number i for values inside a step.
func (l *layout) temp(i int) *variable {
	for i >= len(l.temps) {
		l.temps = append(l.temps, &variable{name: l.names.take(fmt.Sprint("t", len(l.temps))),
			kind: tempVar})
	}
	return l.temps[i]
}

// waiting returns the condition that a channel has a message.
func waiting(ch *channel) *term { return compare(">", raw("len("+ch.name+")", 255), no) }

// loses reports whether a message that is sent into a full channel is lost.
func (ch *channel) loses() bool { return ch.spec.Full == model.FullLose }
