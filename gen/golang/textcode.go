package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// textFile holds the functions that render and read values, in the grammar of package interp.
func (g *gen) textFile() *jen.File {
	f := g.file(g.o.Package)
	var t text
	g.messageText(&t)
	for _, r := range g.roles {
		g.machineText(r, &t)
	}
	for i := 0; i < len(g.textOrder); i++ {
		g.typeText(g.textOrder[i], &t)
	}
	for i := 0; i < len(g.readOrder); i++ {
		g.typeReader(g.readOrder[i], &t)
	}
	f.Add(raw(strings.TrimSpace(t.String())))
	return f
}

// rendered composes statements that append the text of x, of type t, to b.
func (g *gen) rendered(t *model.Type, x string) string {
	switch t.Kind {
	case model.KindBool:
		return "b = strconv.AppendBool(b, " + x + ")\n"
	case model.KindEnum:
		return "b = append(b, " + x + ".String()...)\n"
	case model.KindOpaque:
		return "b = strconv.AppendUint(b, uint64(" + x + "), 10)\n"
	case model.KindInt, model.KindNode:
		return "b = strconv.AppendInt(b, int64(" + x + "), 10)\n"
	case model.KindBytes:
		s := "b = strconv.AppendQuote(b, " + x + ".String())\n"
		if g.invalid(t, x) != "" {
			s += fmt.Sprintf("if int(%s.Len) > len(%s.Data) {\nb = append(b, \"...\"...)\n}\n", x, x)
		}
		return s
	case model.KindOptional:
		return fmt.Sprintf("if %s.Present {\n%s} else {\nb = append(b, \"none\"...)\n}\n", x, g.rendered(t.Elem, x+".Value"))
	}
	gt := g.typ(t, "")
	k := key(t)
	if !g.texts[k] {
		g.texts[k] = true
		g.textOrder = append(g.textOrder, gt)
	}
	return fmt.Sprintf("b = %s(b, &%s)\n", g.textFunc(gt), x)
}

// textFunc is the name of the function that renders a type.
func (g *gen) textFunc(gt *goType) string {
	return g.top.own("text "+key(gt.t), "append"+textName(gt))
}

// machineFunc is the name of the function that renders a machine.
func (g *gen) machineFunc(r *machine) string { return g.top.own("text of "+r.typ, "append"+r.typ) }

// textName is the end of the name of the function that renders a type.
func textName(gt *goType) string {
	if gt.t.Kind == model.KindSet && !gt.own {
		return "SetOf" + memberName(gt.t.Elem)
	}
	return simpleName(gt.name)
}

// memberName names the type of a set's members, different for different types.
func memberName(t *model.Type) string {
	switch {
	case t.Name != "":
		return GoName(t.Name)
	case t.Kind == model.KindBool:
		return "Bool"
	case t.Kind == model.KindNode:
		return "Peer" + strconv.FormatInt(t.Hi, 10)
	}
	return strings.ReplaceAll(fmt.Sprintf("%dTo%d", t.Lo, t.Hi), "-", "Minus")
}

// typeText emits the function that renders a composite type.
func (g *gen) typeText(gt *goType, t *text) {
	t.p("\nfunc %s(b []byte, v *%s) []byte {", g.textFunc(gt), gt.name)
	elems := func(count, elem, more string) {
		t.p("b = append(b, '[')\nfor i := range %s {\nif i > 0 {\nb = append(b, \", \"...)\n}\n%s}\n%sreturn append(b, ']')\n}", count, g.rendered(gt.t.Elem, elem), more)
	}
	// What is no value of its type is not to look like one.
	const more = "if int(v.Len) > len(v.Items) {\nb = append(b, \", ...\"...)\n}\n"
	switch gt.t.Kind {
	case model.KindRecord:
		t.p("%sreturn b\n}", g.renderedFields(gt.t.Fields, "v.", gt.fields, ""))
	case model.KindList:
		elems("v.Items[:min(int(v.Len), len(v.Items))]", "v.Items[i]", more)
	case model.KindArray:
		elems("v", "v[i]", "")
	case model.KindSet:
		c := g.newBody(&machine{})
		beyond := ""
		if bad := g.invalid(gt.t, "uint64(*v)"); bad != "" {
			beyond = fmt.Sprintf("if %s {\nb = append(append(b, sep...), \"...\"...)\nsep = \"\"\n}\n", bad)
		}
		t.p("sep := \"[\"\nfor i := range %d {\nif uint64(*v)>>i&1 == 0 {\ncontinue\n}\nb = append(b, sep...)\nsep = \", \"\nx := %s\n%s}\n%sif sep == \"[\" {\nb = append(b, '[')\n}\nreturn append(b, ']')\n}",
			gt.t.Elem.Count(), c.fromIndex("i", gt.t.Elem), g.rendered(gt.t.Elem, "x"), beyond)
	}
}

// renderedFields composes `before{name: value, …}`; without fields only before.
func (g *gen) renderedFields(fields []*model.Field, at string, names []string, before string) string {
	var s strings.Builder
	pending := before + "{"
	for i, f := range fields {
		pending += f.Name + ": "
		s.WriteString("b = append(b, " + strconv.Quote(pending) + "...)\n")
		s.WriteString(g.rendered(f.Type, at+names[i]))
		pending = ", "
	}
	if len(fields) == 0 {
		if before == "" {
			before = "{}"
		}
		return "b = append(b, " + strconv.Quote(before) + "...)\n"
	}
	s.WriteString("b = append(b, '}')\n")
	return s.String()
}

func (g *gen) messageText(t *text) {
	t.p("// appendMessage appends a message as text, for example `READY` or `CHANGE{value: 2}`.")
	t.p("func appendMessage(b []byte, m *Message) []byte {\nswitch m.Kind {")
	for i, n := range g.messages {
		if n.member != "" {
			m := g.p.Messages[i]
			t.p("case %s:\n%s", n.kind, strings.TrimSuffix(g.renderedFields(m.Fields, "m."+n.member+".", n.fields, m.Name), "\n"))
		}
	}
	t.p("default:\nb = append(b, m.Kind.String()...)\n}\nreturn b\n}")
}

// armedText composes whether a timer is armed, of a keyed one for each instance.
func armedText(t *model.Timer, x string) string {
	if len(t.Keys) == 0 {
		return "b = strconv.AppendBool(b, " + x + ")"
	}
	return "for i, armed := range " + x + " {\nif i > 0 {\nb = append(b, \", \"...)\n} else {\nb = append(b, '[')\n}\nb = strconv.AppendBool(b, armed)\n}\nb = append(b, ']')"
}

// machineText emits the functions that render a machine and its parts.
func (g *gen) machineText(r *machine, t *text) {
	name := g.machineFunc(r)
	t.p("\n// %s appends the machine's state, parameters, variables, timers and parts.", name)
	t.p("func %s(b []byte, m *%s) []byte {\nb = append(b, m.State.String()...)", name, r.typ)
	pending := "{"
	member := func(name, code string) {
		t.p("b = append(b, %s...)\n%s", strconv.Quote(pending+name+": "), strings.TrimSuffix(code, "\n"))
		pending = ", "
	}
	for i, v := range r.m.Params {
		member(v.Name, g.rendered(v.Type, "m."+r.params[i]))
	}
	for i, v := range r.m.Vars {
		member(v.Name, g.rendered(v.Type, "m."+r.vars[i]))
	}
	for i, v := range r.m.Timers {
		member(v.Name, armedText(v, "m."+r.timers[i]))
	}
	for _, p := range r.parts {
		member(p.part.Name, g.partText(p, "m."+r.member(p)))
	}
	if pending == "{" {
		t.p("return b\n}")
	} else {
		t.p("return append(b, '}')\n}")
	}
	for _, p := range r.parts {
		g.machineText(p, t)
	}
}

func (g *gen) partText(p *machine, at string) string {
	if len(p.part.Keys) == 0 {
		return fmt.Sprintf("b = %s(b, &%s)", g.machineFunc(p), at)
	}
	head, tail, names := "", "", []string{}
	for i := range p.part.Keys {
		n := string(rune('i' + i))
		head += fmt.Sprintf("for %s := range %s {\n", n, at)
		at += "[" + n + "]"
		tail += "}\n"
		names = append(names, n)
	}
	first := strings.Join(names, "+") + " > 0"
	return fmt.Sprintf("b = append(b, '[')\n%sif %s {\nb = append(b, \", \"...)\n}\nb = %s(b, &%s)\n%sb = append(b, ']')", head, first, g.machineFunc(p), at, tail)
}
