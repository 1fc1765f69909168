package tla

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/world"
)

// module is a module that is being written.
type module struct {
	p     *model.Protocol
	c     *model.Check
	rules *world.Rules
	strs  *interp.Strings
	codes map[*model.Machine]*core.Machine
	// part says which machines are parts of others; prefix is what the names of a machine's operators begin with.
	part   map[*model.Machine]bool
	prefix map[*model.Machine]string
	has    map[string]bool // what the check has: the words of world.tla.in
	need   map[string]bool // operators that expressions need
	// counted are, by instance, the commands and timers that the environment counts; nil if there are none at all.
	counted [][]string
	count   int // of fresh names
	lines   []string
	defined map[string]bool
	stated  []Claim
	left    []string
}

func newModule(p *model.Protocol, c *model.Check) *module {
	m := &module{p: p, c: c, rules: stage.Rules(c), strs: &interp.Strings{},
		codes: map[*model.Machine]*core.Machine{},
		part:  map[*model.Machine]bool{}, prefix: map[*model.Machine]string{}, has: map[string]bool{},
		need: map[string]bool{}, defined: map[string]bool{}}
	m.strs.InternDomains(p)
	var roles []*model.Machine
	for _, in := range c.Instances {
		roles = append(roles, in.Role)
	}
	taken := map[string]bool{}
	for _, code := range core.Machines(roles...) {
		m.codes[code.Model] = code
		name := "M_" + identifier(code.Model.Name)
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("M_%s_%d", identifier(code.Model.Name), i)
		}
		taken[name] = true
		m.prefix[code.Model] = name
		for _, part := range code.Model.Parts {
			m.part[part.Machine] = true
		}
	}
	return m
}

// fresh returns a name that no other is like: none is a part of another one.
func (m *module) fresh(base string) string {
	m.count++
	return fmt.Sprintf("%s_%d_", strings.ToLower(strings.Trim(identifier(base), "_")), m.count)
}

// field is the name of a variable, timer or part of a machine in its record.
func (m *module) field(mach *model.Machine, name string) string {
	var names []string
	for _, v := range mach.Params {
		names = append(names, v.Name)
	}
	for _, v := range mach.Vars {
		names = append(names, v.Name)
	}
	for _, t := range mach.Timers {
		names = append(names, t.Name)
	}
	for _, p := range mach.Parts {
		names = append(names, p.Name)
	}
	return distinct(names, name)
}

// event is the name of an event in the names of operators.
func (m *module) event(mach *model.Machine, ev *model.Event) string {
	var names []string
	for _, e := range mach.Events {
		names = append(names, e.Name)
	}
	return "On_" + distinct(names, ev.Name)
}

// distinct makes an identifier of a name among others that is none of theirs.
func distinct(names []string, name string) string {
	clean := identifier(name)
	n := 1
	for _, other := range names {
		if other == name {
			break
		}
		if identifier(other) == clean {
			n++
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s_x%d", clean, n)
	}
	return clean
}

// runs writes that a timer runs, stopped and started what it then is.
func (m *module) runs(timer string) string {
	if m.has["time"] {
		return "(" + timer + " # Stopped)"
	}
	return timer
}

func (m *module) stopped() string {
	if m.has["time"] {
		return "Stopped"
	}
	return "FALSE"
}

func (m *module) started(ticks string) string {
	if m.has["time"] {
		return "BeatsOf(i, " + ticks + ")"
	}
	return "TRUE"
}

func (m *module) line(text string) { m.lines = append(m.lines, text) }

func (m *module) section(format string, args ...any) {
	m.line(fmt.Sprintf("\\* ---- "+format, args...))
}

// define writes an operator.
func (m *module) define(head, body string) {
	name, _, _ := strings.Cut(head, "(")
	if m.defined[name] {
		panic("tla: " + name + " is defined twice")
	}
	m.defined[name] = true
	if !strings.Contains(body, "\n") && len(head)+len(body) < 110 {
		m.line(head + " == " + body)
		return
	}
	m.line(head + " ==")
	for _, line := range strings.Split(body, "\n") {
		m.line("  " + line)
	}
}

// refusal is the panic that ends an export. Export recovers from it.
type refusal string

func refuse(format string, args ...any) { panic(refusal(fmt.Sprintf(format, args...))) }
