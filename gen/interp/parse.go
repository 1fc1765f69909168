package interp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// ParseEvent reads an event of m as [AppendEvent] writes it. For the name of a
// message that a machine takes it gives the message's event.
func ParseEvent(m *model.Machine, strs *Strings, text string) (Event, error) {
	p := parser{text: text, strs: strs}
	at, owner := p.path(m)
	name := p.eventName()
	for _, ev := range owner.Events {
		if ev.Name != name {
			continue
		}
		e := Event{Event: ev, At: at, Args: p.fields(ev.Fields, false)}
		return e, p.end()
	}
	return Event{}, fmt.Errorf("%s has no event %s", m.Name, name)
}

// ParseRefused reads the event of a record whose values are outside their types, as generated code
// writes those. It gives the event itself, without arguments; it is an error if the text is none of
// an event of m, or if no value in it is outside.
func ParseRefused(m *model.Machine, text string) (*model.Event, error) {
	p := parser{text: text, strs: &Strings{}, loose: true}
	_, owner := p.path(m)
	name := p.eventName()
	for _, ev := range owner.Events {
		if ev.Name != name {
			continue
		}
		p.fields(ev.Fields, false)
		if p.end(); p.err == nil && !p.outside {
			p.failf("every value of %s is within its range", name)
		}
		return ev, p.err
	}
	return nil, fmt.Errorf("%s has no event %s", m.Name, name)
}

// ParseMessage reads a message of p as [AppendMessage] writes it.
func ParseMessage(pr *model.Protocol, strs *Strings, text string) (*model.Message, []int64, error) {
	p := parser{text: text, strs: strs}
	m, slots := p.message(pr.Messages)
	return m, slots, p.end()
}

// ParseEffect reads an effect of m as [AppendEffect] writes it.
func ParseEffect(m *model.Machine, strs *Strings, text string) (Effect, error) {
	p := parser{text: text, strs: strs}
	var e Effect
	switch word := p.name(); word {
	case "send":
		e.Kind = fsm.Send
		e.Message, e.Slots = p.message(m.Messages)
		p.dest(&e)
	case "report":
		e.Kind = fsm.Report
		name := p.name()
		for _, r := range m.Reports {
			if r.Name == name {
				e.Report, e.Slots = r, p.fields(r.Fields, false)
			}
		}
		if e.Report == nil {
			p.failf("%s has no report %s", m.Name, name)
		}
	case "close":
		e.Kind = fsm.Close
		p.dest(&e)
	case "start", "stop":
		e.Kind = fsm.StartTimer
		if word == "stop" {
			e.Kind = fsm.StopTimer
		}
		p.timer(m, &e)
	default:
		p.failf("an effect begins with send, report, start, stop or close, not with %q", word)
	}
	return e, p.end()
}

// ParseValue reads a value of type t as [AppendValue] writes it.
func ParseValue(t *model.Type, strs *Strings, text string) ([]int64, error) {
	p := parser{text: text, strs: strs}
	v := make([]int64, t.Slots())
	p.value(t, v)
	return v, p.end()
}

// ParseMachine reads a machine's value as [AppendMachine] writes it.
func ParseMachine(m *model.Machine, strs *Strings, text string) (Value, error) {
	p := parser{text: text, strs: strs}
	v := make(Value, m.Size)
	p.machine(m, v)
	return v, p.end()
}

// parser reads texts; the first error stays in err and everything after it reads nothing.
type parser struct {
	text string
	at   int
	strs *Strings
	err  error
	// loose: a value may be outside its type, which is noted in outside.
	loose, outside bool
}

func (p *parser) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("column %d: %s", p.at+1, fmt.Sprintf(format, args...))
		p.at = len(p.text)
	}
}

// beyond reports whether a value may be outside its type here, and notes it.
func (p *parser) beyond() bool {
	p.outside = p.outside || p.loose && p.err == nil
	return p.loose
}

func (p *parser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *parser) end() error {
	p.skip()
	if p.at < len(p.text) {
		p.failf("%q is too much", p.text[p.at:])
	}
	return p.err
}

// take skips s if it comes next.
func (p *parser) take(s string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) need(s string) {
	if !p.take(s) {
		p.failf("%q expected", s)
	}
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (p *parser) name() string {
	p.skip()
	from := p.at
	for p.at < len(p.text) && letter(p.text[p.at]) {
		p.at++
	}
	if from == p.at {
		p.failf("a name expected")
		return ""
	}
	return p.text[from:p.at]
}

// word takes s if it comes next as a whole name.
func (p *parser) word(s string) bool {
	old := p.at
	if p.take(s) && (p.at == len(p.text) || !letter(p.text[p.at])) {
		return true
	}
	p.at = old
	return false
}

// eventName reads a name that may be `part.report`.
func (p *parser) eventName() string {
	n := p.name()
	if p.take(".") {
		n += "." + p.name()
	}
	return n
}

func (p *parser) number() int64 {
	p.skip()
	from := p.at
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
	}
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	v, err := strconv.ParseInt(p.text[from:p.at], 10, 64)
	if err != nil {
		p.at = from
		p.failf("a number expected")
	}
	return v
}

func (p *parser) message(list []*model.Message) (*model.Message, []int64) {
	name := p.name()
	for _, m := range list {
		if m.Name == name {
			return m, p.fields(m.Fields, false)
		}
	}
	p.failf("there is no message %s", name)
	return nil, nil
}

func (p *parser) dest(e *Effect) {
	if !p.word("to") {
		return
	}
	if p.word("all") {
		e.Dest, e.To = model.ToBroadcast, int(fsm.Broadcast)
		return
	}
	e.Dest, e.To = model.ToExpr, int(p.number())
}

func (p *parser) timer(m *model.Machine, e *Effect) {
	at, owner := p.path(m)
	e.At = at
	name := p.name()
	for _, t := range owner.Timers {
		if t.Name == name {
			e.Timer, e.Index, e.Ticks = t, p.instance(t.Keys), t.Ticks
			if e.Kind == fsm.StopTimer {
				e.Ticks = 0
			} else if t.Length != nil && p.word("for") {
				e.Ticks = p.number()
			}
			return
		}
	}
	p.failf("%s has no timer %s", owner.Name, name)
}

// path reads `part[keys].` as often as it leads to a part whose timer is named
// behind it; `part.report` is left alone.
func (p *parser) path(m *model.Machine) ([]At, *model.Machine) {
	var path []At
	for {
		old, oldErr := p.at, p.err
		part, index := p.part(m)
		next := ""
		if part != nil && p.take(".") {
			mark := p.at
			next = p.name()
			p.at = mark
		}
		if part == nil || p.err != nil || !leadsToTimer(part.Machine, next) {
			p.at, p.err = old, oldErr
			return path, m
		}
		path = append(path, At{part, index})
		m = part.Machine
	}
}

func leadsToTimer(m *model.Machine, name string) bool {
	for _, t := range m.Timers {
		if t.Name == name {
			return true
		}
	}
	for _, p := range m.Parts {
		if p.Name == name {
			return true
		}
	}
	return false
}

// part reads `name[keys]` if name is a part of m.
func (p *parser) part(m *model.Machine) (*model.Part, int) {
	name := p.name()
	for _, part := range m.Parts {
		if part.Name != name {
			continue
		}
		return part, p.instance(part.Keys)
	}
	return nil, 0
}

// instance reads the keys that select an instance, if there are any: `[true, 3]`.
func (p *parser) instance(keys []*model.Field) int {
	if len(keys) == 0 {
		return 0
	}
	index := 0
	n := p.elems(len(keys), func(i int) {
		var k [1]int64
		t := keys[i].Type
		p.value(t, k[:])
		index = index*int(t.Count()) + int(k[0]-t.Lowest())
	})
	if n != len(keys) {
		p.failf("%d keys, %d needed", n, len(keys))
	}
	return index
}
