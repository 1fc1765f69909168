package export

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// The assertions that fail where the checker has a built-in claim.
const (
	unspecifiedFlag = "unspecified_reception"
	faultFlag       = "fault"
	deadlockFlag    = "deadlock"
	orphanFlag      = "orphan_message"
)

// generator holds what is written for one check.
type generator struct {
	p     *model.Protocol
	c     *model.Check
	strs  *interp.Strings
	names names
	insts []*instance

	messages []string     // by index, as Promela names them
	columns  [][]*term    // by message: its fields as they are received
	fields   []*variable  // the columns of channels
	chans    [][]*channel // [from][to]
	states   map[*model.Machine][]string
	enums    map[*model.Type][]string
	defines  [][2]string // name, number
	temps    []*variable
	opaque   int64 // greatest opaque value that the specification writes
	used     map[string]bool
	left     []string // claims that are not exported, with the reason
}

// instance is one machine of the check.
type instance struct {
	model   *model.Instance
	index   int
	name    string
	slots   []*variable // nil: a constant
	init    []int64
	started *variable                    // nil: start does nothing
	given   map[*model.EnvRule]*variable // how often a bounded command was given
}

// read is the term of a slot.
func (in *instance) read(s *step, k int) *term {
	if in.slots[k] == nil {
		return number(in.init[k])
	}
	return s.read(in.slots[k])
}

// channel is the path from one instance to another.
type channel struct {
	name     string
	from, to int
	used     bool
	sent     map[int]bool
	counts   map[int]*variable // by message: how many are in it, where somebody asks
}

func newGenerator(p *model.Protocol, c *model.Check) (*generator, error) {
	g := &generator{p: p, c: c, strs: &interp.Strings{}, states: map[*model.Machine][]string{}, enums: map[*model.Type][]string{}, used: map[string]bool{}}
	g.refuseWhole()
	g.names.init()
	for _, flag := range []string{unspecifiedFlag, faultFlag, deadlockFlag, orphanFlag, "m"} {
		g.names.take(flag)
	}
	g.strs.InternDomains(p)
	g.literals()
	model.EachType(p, func(t *model.Type) { g.enumNames(t) })
	for _, m := range p.Messages {
		g.messages = append(g.messages, g.names.take(m.Name))
	}
	for _, inst := range c.Instances {
		in := &instance{model: inst, index: len(g.insts), name: g.names.take(inst.Name), given: map[*model.EnvRule]*variable{}}
		if err := g.create(in); err != nil {
			return nil, err
		}
		g.insts = append(g.insts, in)
	}
	g.makeColumns()
	for i, a := range g.insts {
		g.chans = append(g.chans, nil)
		for j, b := range g.insts {
			ch := &channel{from: i, to: j, sent: map[int]bool{}, counts: map[int]*variable{}}
			if i != j {
				ch.name = g.names.take(a.name + "_to_" + b.name)
			}
			g.chans[i] = append(g.chans[i], ch)
		}
	}
	return g, nil
}

// refuseWhole refuses what no part of the export can say.
func (g *generator) refuseWhole() {
	switch c := g.c; {
	case len(c.Instances) == 0:
		refuse("no instances")
	case c.Faults != nil:
		refuse("faults")
	case c.Time != nil:
		refuse("time")
	case !c.Channel.Ordered:
		refuse("channels that keep no order")
	case c.Channel.Full == model.FullWait:
		refuse("channels that wait when they are full")
	case c.Channel.Capacity > 255:
		refuse("channels of more than 255 messages")
	case len(c.Instances) > 200:
		refuse("more than 200 instances")
	case len(g.p.Messages) > 250:
		refuse("more than 250 messages")
	}
}

// create gives an instance its variables.
func (g *generator) create(in *instance) error {
	role := in.model.Role
	var args [][]int64
	x := interp.Eval{Strings: g.strs}
	for i, e := range in.model.Args {
		d := make([]int64, e.Type().Slots())
		if err := x.Into(e, d, nil, nil); err != nil {
			return fmt.Errorf("%s: instance %s, parameter %s: %w", in.model.Span, in.model.Name, role.Params[i].Name, err)
		}
		args = append(args, d)
	}
	v, err := interp.NewValue(role, g.strs, args...)
	if err != nil {
		return fmt.Errorf("%s: instance %s: %w", in.model.Span, in.model.Name, err)
	}
	in.init = v
	in.slots = make([]*variable, role.Size)
	g.lay(in, role, 0, in.name+"_")
	if !g.startsSilently(in) {
		in.started = &variable{name: g.names.take(in.name + "_started"), hi: 1, doc: "whether it has begun"}
	}
	for _, r := range g.c.Rules {
		if r.Times > 0 && slices.Contains(role.Events, r.Command) {
			in.given[r] = &variable{name: g.names.take(in.name + "_" + r.Command.Name + "_given"), hi: int64(r.Times), doc: "how often the environment gave it"}
		}
	}
	return nil
}

// startsSilently says whether the event start changes nothing and has no effect.
func (g *generator) startsSilently(in *instance) bool {
	for _, ev := range in.model.Role.Events {
		if ev.Kind != model.EventStart {
			continue
		}
		x := interp.New(in.model.Role, g.strs)
		next, effects, res, _ := x.Step(in.init, interp.Event{Event: ev})
		return res.Code != fsm.Refused && len(effects) == 0 && next.Equal(in.init) && len(x.Fired()) == 0
	}
	return true
}

// lay names the slots of a machine and of its parts.
func (g *generator) lay(in *instance, m *model.Machine, base int, prefix string) {
	in.slots[base] = &variable{name: g.names.take(prefix + "state"), hi: int64(len(m.States) - 1), init: in.init[base], names: g.stateNames(m)}
	for _, v := range m.Vars {
		g.layValue(in, v.Type, base+v.Offset, prefix+v.Name, v.Doc)
	}
	for _, t := range m.Timers {
		for i := range t.Count {
			in.slots[base+t.Offset+i] = &variable{name: g.names.take(prefix + interp.TimerName(t, i)), hi: 1, doc: t.Doc}
		}
	}
	for _, p := range m.Parts {
		for i := range p.Count {
			name := prefix + p.Name + "_"
			for _, k := range (&machine{part: p, index: i}).keys() {
				name += fmt.Sprint(k.lo, "_")
			}
			g.lay(in, p.Machine, base+p.Offset+i*p.Machine.Size, name)
		}
	}
}

// layValue names the slots of a variable.
func (g *generator) layValue(in *instance, t *model.Type, at int, name, doc string) {
	switch t.Kind {
	case model.KindOptional:
		in.slots[at] = &variable{name: g.names.take(name + "_is"), hi: 1, init: in.init[at], doc: "whether there is one"}
		g.layValue(in, t.Elem, at+1, name, doc)
		g.mayBeAbsent(in, at+1, t.Elem.Slots())
	case model.KindRecord:
		for _, f := range t.Fields {
			g.layValue(in, f.Type, at+f.Offset, name+"_"+f.Name, f.Doc)
		}
	case model.KindArray:
		for i := range int(t.Index.Count()) {
			g.layValue(in, t.Elem, at+i*t.Elem.Slots(), fmt.Sprint(name, "_", int64(i)+lowest(t.Index)), doc)
		}
	case model.KindList:
		in.slots[at] = &variable{name: g.names.take(name + "_n"), hi: int64(t.Cap), init: in.init[at], doc: "how many there are"}
		for i := range t.Cap {
			g.layValue(in, t.Elem, at+1+i*t.Elem.Slots(), fmt.Sprint(name, "_", i), doc)
		}
		g.mayBeAbsent(in, at+1, t.Cap*t.Elem.Slots())
	default:
		lo, hi := g.bounds(t)
		in.slots[at] = &variable{name: g.names.take(name), lo: lo, hi: hi, init: in.init[at], names: g.enumNames(t), doc: doc}
	}
}

// mayBeAbsent lets variables be 0, as those of absent values are.
func (g *generator) mayBeAbsent(in *instance, at, n int) {
	for _, v := range in.slots[at : at+n] {
		v.lo, v.hi = min(v.lo, 0), max(v.hi, 0)
	}
}

// bounds are the least and greatest number of a scalar type.
func (g *generator) bounds(t *model.Type) (lo, hi int64) {
	switch t.Kind {
	case model.KindBool:
		return 0, 1
	case model.KindEnum:
		return 0, int64(len(t.Names) - 1)
	case model.KindOpaque:
		return 0, max(t.Hi, g.opaque)
	case model.KindBytes:
		return 0, int64(g.strs.Len() - 1)
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

// makeColumns makes the columns of the channels: one for each place that some message needs.
func (g *generator) makeColumns() {
	for _, m := range g.p.Messages {
		var slots []*variable
		for _, f := range m.Fields {
			in := &instance{slots: make([]*variable, f.Type.Slots()), init: make([]int64, f.Type.Slots())}
			free := *g
			free.names.init()
			free.layValue(in, f.Type, 0, f.Name, "")
			slots = append(slots, in.slots...)
		}
		var terms []*term
		for i, v := range slots {
			v.kind = fieldVar
			if i == len(g.fields) {
				g.fields = append(g.fields, &variable{name: v.name, kind: fieldVar})
			}
			c := g.fields[i]
			c.lo, c.hi = min(c.lo, v.lo), max(c.hi, v.hi)
			if c.name != v.name {
				c.name = ""
			}
			terms = append(terms, read(v))
		}
		g.columns = append(g.columns, terms)
	}
	for i, c := range g.fields {
		if c.name == "" {
			c.name = fmt.Sprint("f", i)
		}
		c.name = g.names.take("m_" + c.name)
	}
	for _, terms := range g.columns {
		for i, t := range terms {
			t.v.name = g.fields[i].name
		}
	}
}

func (g *generator) channel(from, to int) *channel {
	ch := g.chans[from][to]
	ch.used = true
	return ch
}

// lengths is a number of messages under way.
func (g *generator) lengths(in *instance, l *model.ChanLen) *term {
	sum := no
	for i := range g.insts {
		for j := range g.insts {
			inRule := l.Self && (l.Out && i != in.index || !l.Out && j != in.index)
			if i == j || inRule || l.From != nil && l.From.Index != i || l.To != nil && l.To.Index != j {
				continue
			}
			sum, _ = arith("+", sum, g.length(g.chans[i][j], l.Message))
		}
	}
	return sum
}

func (g *generator) length(ch *channel, msg *model.Message) *term {
	most := int64(g.c.Channel.Capacity)
	if msg == nil {
		ch.used = true
		return raw("len("+ch.name+")", most)
	}
	i := g.messageIndex(msg)
	if ch.counts[i] == nil {
		ch.counts[i] = &variable{name: g.names.take(ch.name + "_" + g.messages[i]), kind: countVar, hi: most, doc: "how many of these are in it"}
	}
	ch.used = true
	return raw(ch.counts[i].name, most)
}

// messageIndex finds a message by its name: the model that claims refer to may be another copy.
func (g *generator) messageIndex(msg *model.Message) int {
	return slices.IndexFunc(g.p.Messages, func(m *model.Message) bool { return m.Name == msg.Name })
}

// temp is the variable number i for values inside a step.
func (g *generator) temp(i int) *variable {
	for i >= len(g.temps) {
		g.temps = append(g.temps, &variable{name: g.names.take(fmt.Sprint("t", len(g.temps))), kind: tempVar})
	}
	return g.temps[i]
}

// loses says whether what is sent into a full channel is lost.
func (g *generator) loses() bool { return g.c.Channel.Full == model.FullLose }
