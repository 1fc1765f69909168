package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// textFile holds the functions that render and read values, in the grammar of package interp.
func (g *gen) textFile() *jen.File {
	f := g.File(g.O.Package)
	var t base.Text
	g.messageText(&t)
	for _, r := range g.Roles {
		g.machineText(r, &t)
	}
	for i := 0; i < len(g.textOrder); i++ {
		g.typeText(g.textOrder[i], &t)
	}
	for i := 0; i < len(g.readOrder); i++ {
		g.typeReader(g.readOrder[i], &t)
	}
	f.Add(base.Raw(strings.TrimSpace(t.String())))
	return f
}

// rendered composes statements that append to b some words and the text of x, of type t.
func (g *gen) rendered(before string, t *model.Type, x string) string {
	switch t.Kind {
	case model.KindBool:
		return fmt.Sprintf("b = wire.AppendBool(b, %q, %s)\n", before, x)
	case model.KindEnum:
		return fmt.Sprintf("b = wire.AppendWord(b, %q, %s.String())\n", before, x)
	case model.KindOpaque:
		return fmt.Sprintf("b = wire.AppendUint(b, %q, uint64(%s))\n", before, x)
	case model.KindInt, model.KindNode:
		return fmt.Sprintf("b = wire.AppendInt(b, %q, int64(%s))\n", before, x)
	case model.KindBytes:
		longer := "false"
		if g.Invalid(t, gotree.X("x")) != nil {
			longer = fmt.Sprintf("int(%s.Len) > len(%s.Data)", x, x)
		}
		return fmt.Sprintf("b = wire.AppendText(b, %q, %s.String(), %s)\n", before, x, longer)
	case model.KindOptional:
		return fmt.Sprintf("if %s.Present {\n%s} else {\nb = append(b, %q...)\n}\n",
			x, g.rendered(before, t.Elem, x+".Value"), before+"none")
	}
	gt := g.Typ(t, "")
	k := types.Key(t)
	if !g.texts[k] {
		g.texts[k] = true
		g.textOrder = append(g.textOrder, gt)
	}
	return fmt.Sprintf("b = %s(%s, &%s)\n", g.textFunc(gt), after(before), x)
}

// after composes b with some words behind it.
func after(before string) string {
	if before == "" {
		return "b"
	}
	return fmt.Sprintf("append(b, %q...)", before)
}

// textFunc is the name of the function that renders a type.
func (g *gen) textFunc(gt *types.Type) string {
	return g.Top.Own("text "+types.Key(gt.T), "append"+textName(gt))
}

// machineFunc is the name of the function that renders a machine.
func (g *gen) machineFunc(r *types.Machine) string {
	return g.Top.Own("text of "+r.Typ, "append"+r.Typ)
}

// textName is the end of the name of the function that renders a type.
func textName(gt *types.Type) string {
	if gt.T.Kind == model.KindSet && !gt.Own {
		return "SetOf" + memberName(gt.T.Elem)
	}
	return types.SimpleName(gt.Name)
}

// memberName names the type of a set's members, different for different types.
func memberName(t *model.Type) string {
	switch {
	case t.Name != "":
		return base.GoName(t.Name)
	case t.Kind == model.KindBool:
		return "Bool"
	case t.Kind == model.KindNode:
		return "Peer" + strconv.FormatInt(t.Hi, 10)
	}
	return strings.ReplaceAll(fmt.Sprintf("%dTo%d", t.Lo, t.Hi), "-", "Minus")
}

// typeText emits the function that renders a composite type.
func (g *gen) typeText(gt *types.Type, t *base.Text) {
	t.P("\nfunc %s(b []byte, v *%s) []byte {", g.textFunc(gt), gt.Name)
	elems := func(count, elem, more string) {
		t.P("b = append(b, '[')\nfor i := range %s {\nb = wire.Comma(b, i)\n%s}\n%sreturn append(b, ']')\n}", count, g.rendered("", gt.T.Elem, elem), more)
	}
	// What is no value of its type is not to look like one.
	const more = "if int(v.Len) > len(v.Items) {\nb = append(b, \", ...\"...)\n}\n"
	switch gt.T.Kind {
	case model.KindRecord:
		t.P("%s}", g.renderedFields(gt.T.Fields, "v.", gt.Fields, "", "return "))
	case model.KindList:
		elems("v.Items[:min(int(v.Len), len(v.Items))]", "v.Items[i]", more)
	case model.KindArray:
		elems("v", "v[i]", "")
	case model.KindSet:
		beyond := ""
		if bad := g.Invalid(gt.T, gotree.X("uint64(*v)")); bad != nil {
			beyond = fmt.Sprintf("if %s {\nb = append(append(b, sep...), \"...\"...)\nsep = \"\"\n}\n", gotree.Text(bad))
		}
		t.P("sep := \"[\"\nfor i := range %d {\nif uint64(*v)>>i&1 == 0 {\ncontinue\n}\nb = append(b, sep...)\nsep = \", \"\nx := %s\n%s}\n%sif sep == \"[\" {\nb = append(b, '[')\n}\nreturn append(b, ']')\n}",
			gt.T.Elem.Count(), gotree.Text(g.FromIndex(gotree.X("i"), gt.T.Elem)), g.rendered("", gt.T.Elem, "x"), beyond)
	}
}

// renderedFields composes `before{name: value, …}`; end stands before what appends the end.
func (g *gen) renderedFields(fields []*model.Field, at string, names []string, before, end string) string {
	if len(fields) == 0 {
		return fmt.Sprintf("%sappend(b, %q...)\n", end, before+"{}")
	}
	var s strings.Builder
	pending := before + "{"
	for i, f := range fields {
		s.WriteString(g.rendered(pending+f.Name+": ", f.Type, at+names[i]))
		pending = ", "
	}
	return s.String() + end + "append(b, '}')\n"
}

func (g *gen) messageText(t *base.Text) {
	t.P("// appendMessage appends a message as text, for example `READY` or `CHANGE{value: 2}`.")
	t.P("func appendMessage(b []byte, m *Message) []byte {")
	var cases base.Text
	for i, n := range g.Messages {
		if n.Member != "" {
			m := g.P.Messages[i]
			cases.P("case %s:\n%s", n.Kind, strings.TrimSpace(g.renderedFields(m.Fields, "m."+n.Member+".", n.Fields, m.Name, "return ")))
		}
	}
	if cases.Len() > 0 {
		t.P("switch m.Kind {\n%s}", cases.String())
	}
	t.P("return append(b, m.Kind.String()...)\n}")
}

// armedText composes whether a timer is armed, of a keyed one for each instance.
func armedText(before string, t *model.Timer, x string) string {
	if len(t.Keys) == 0 {
		return fmt.Sprintf("b = wire.AppendBool(b, %q, %s)", before, x)
	}
	return fmt.Sprintf("b = wire.AppendBools(b, %q, %s[:])", before, x)
}

// machineText emits the functions that render a machine and its parts.
func (g *gen) machineText(r *types.Machine, t *base.Text) {
	name := g.machineFunc(r)
	t.P("\n// %s appends the machine's state, parameters, variables, timers and parts.", name)
	t.P("func %s(b []byte, m *%s) []byte {\nb = append(b, m.State.String()...)", name, r.Typ)
	pending := "{"
	member := func(name string, code func(before string) string) {
		t.P("%s", strings.TrimSuffix(code(pending+name+": "), "\n"))
		pending = ", "
	}
	for i, v := range r.M.Params {
		member(v.Name, func(before string) string { return g.rendered(before, v.Type, "m."+r.Params[i]) })
	}
	for i, v := range r.M.Vars {
		member(v.Name, func(before string) string { return g.rendered(before, v.Type, "m."+r.Vars[i]) })
	}
	for i, v := range r.M.Timers {
		member(v.Name, func(before string) string { return armedText(before, v, "m."+r.Timers[i]) })
	}
	for _, p := range r.Parts {
		member(p.Part.Name, func(before string) string { return g.partText(before, p, "m."+r.Member(p)) })
	}
	if pending == "{" {
		t.P("return b\n}")
	} else {
		t.P("return append(b, '}')\n}")
	}
	for _, p := range r.Parts {
		g.machineText(p, t)
	}
}

func (g *gen) partText(before string, p *types.Machine, at string) string {
	if len(p.Part.Keys) == 0 {
		return fmt.Sprintf("b = %s(%s, &%s)", g.machineFunc(p), after(before), at)
	}
	head, tail, names := "", "", []string{}
	for i := range p.Part.Keys {
		n := string(rune('i' + i))
		head += fmt.Sprintf("for %s := range %s {\n", n, at)
		at += "[" + n + "]"
		tail += "}\n"
		names = append(names, n)
	}
	return fmt.Sprintf("b = append(b, %q...)\n%sb = %s(wire.Comma(b, %s), &%s)\n%sb = append(b, ']')",
		before+"[", head, g.machineFunc(p), strings.Join(names, "+"), at, tail)
}
