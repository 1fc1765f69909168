package tla

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/export"
	"github.com/parley-go/parley/gen/model"
)

// Export writes a check as the module of this name, which must be a [ModuleName]. p must have been compiled for
// the check (its constants and domains
// applied). The error is an [*export.Unsupported].
func Export(p *model.Protocol, c *model.Check, name string) (files *Files, err error) {
	defer func() {
		if r := recover(); r != nil {
			why, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			err = &export.Unsupported{Check: c.Name, Language: "TLA+", What: string(why)}
		}
	}()
	m := newModule(p, c)
	m.refuseWhole()
	m.counts()
	m.features()
	m.world()
	m.next()
	configs := m.claims()
	return &Files{Name: name, Module: m.whole(name), Configs: configs, Claims: m.stated, Left: m.left}, nil
}

// ModuleName reports whether a text can be the name of a module.
func ModuleName(name string) bool { return name != "" && identifier(name) == name }

// refuseWhole refuses a check that cannot be expressed at all.
func (m *module) refuseWhole() {
	c := m.c
	switch {
	case len(c.Instances) == 0:
		refuse("no instances")
	case len(c.Monitors) > 0:
		refuse("a monitor of several instances (%s; say it in a copy of the check with `reported` and `commanded`)",
			c.Monitors[0].Inst.Span)
	}
	for _, e := range c.Expect {
		if e.Name == model.Unencodable {
			refuse("messages that have no frame (%s), which only codecs know", e.Span)
		}
	}
}

// whole puts the module together.
func (m *module) whole(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---- MODULE %s ----\n", name)
	fmt.Fprintf(&b, "\\* %s, check %s, written by `fsmgen export --to tla`.\n", m.p.Name, m.c.Name)
	for _, x := range m.left {
		fmt.Fprintf(&b, "\\* left out: %s\n", x)
	}
	b.WriteString("EXTENDS Integers, Sequences, FiniteSets, TLC\n")
	b.WriteString("VARIABLES\n  mach, \\* the machines, by instance\n  ends, \\* what else an instance remembers\n" +
		"  chan, \\* what is under way, by channel\n  net,  \\* what has gone wrong, and what is heard of it\n" +
		map[bool]string{true: "  watch, \\* how long what has a bound has not come, by claim\n"}[m.has["within"]] +
		"  err   \\* \"\", or how a step has failed: nothing happens after that\n")
	for _, x := range m.helpers() {
		b.WriteString(x + "\n")
	}
	for _, x := range reached(m.lines, m.roots()) {
		b.WriteString(x + "\n")
	}
	b.WriteString("====\n")
	return b.String()
}

// roots are the operators that somebody asks for.
func (m *module) roots() []string {
	list := []string{"vars", "Spec", "NoError", "NoDeadlock", "NoOrphan"}
	for name := range m.defined {
		for _, prefix := range []string{"Claim_", "Not_Claim_", "Fair_"} {
			if strings.HasPrefix(name, prefix) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// helpers are operators that expressions need.
func (m *module) helpers() (list []string) {
	if m.need["Quotient"] || m.need["Remainder"] {
		list = append(list, "\\* Division goes toward zero.",
			"Absolute(a) == IF a < 0 THEN 0 - a ELSE a",
			"Quotient(a, b) == IF (a < 0) = (b < 0) "+
				"THEN Absolute(a) \\div Absolute(b) ELSE 0 - (Absolute(a) \\div Absolute(b))",
			"Remainder(a, b) == a - b * Quotient(a, b)")
	}
	if m.need["Bytes"] {
		keys, values := []string{`""`}, []string{"0"}
		for h := 1; h < m.strs.Len(); h++ {
			text := m.strs.Get(int64(h))
			keys, values = append(keys, quoted(text)), append(values, fmt.Sprint(len(text)))
		}
		list = append(list, "\\* how long each text is", "Bytes == "+m.function(keys, values))
	}
	return list
}
