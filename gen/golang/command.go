package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// commandText composes Runner.Command, which reads what AppendEvent writes of commands.
func (g *gen) commandText(r *machine, t *text) {
	t.p("\n%s", comment("Command", "implements fsm.Commander: it gives a command as text, in the form that AppendEvent writes. If the text is none, the error says what is wrong with it, and nothing has happened."))
	t.p("func (r *%s) Command(text string) (fsm.Result, error) {\ns := wire.NewScanner(text)\nnone := fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}", r.runner)
	var cases text
	var all []string
	names := commandNames(r)
	for _, e := range r.events {
		if e.ev.Kind != model.EventCommand {
			continue
		}
		all = append(all, strconv.Quote(e.ev.Name))
		cases.p("case %q:", e.ev.Name)
		var args []string
		if len(e.ev.Fields) > 0 {
			cases.p("var c %s\n%s", e.typ, strings.TrimSuffix(g.readFields(e.ev.Fields, "c.", e.fields), "\n"))
		}
		for _, f := range e.fields {
			args = append(args, "c."+f)
		}
		cases.p("if err := s.End(); err != nil {\nreturn none, err\n}\nreturn r.%s(%s), nil", names[slices.Index(r.m.Commands, e.ev)], strings.Join(args, ", "))
	}
	if len(all) == 0 {
		t.p("return none, s.UnknownCommand(s.Name())\n}")
		return
	}
	t.p("switch name := s.Name(); name {\n%sdefault:\nreturn none, s.UnknownCommand(name, %s)\n}\n}", cases.String(), strings.Join(all, ", "))
}

// readFields composes statements that read `{name: value, …}`.
func (g *gen) readFields(fields []*model.Field, at string, names []string) string {
	var s strings.Builder
	s.WriteString("s.Open('{')\n")
	for i, f := range fields {
		fmt.Fprintf(&s, "s.Field(%q)\n%s", f.Name, g.read(f.Type, at+names[i]))
	}
	s.WriteString("s.Close('}')\n")
	return s.String()
}

// read composes statements that read x, of type t.
func (g *gen) read(t *model.Type, x string) string {
	gt := g.typ(t, "")
	switch t.Kind {
	case model.KindBool:
		return x + " = s.Bool()\n"
	case model.KindOpaque:
		return fmt.Sprintf("%s = %s(s.Uint(%s))\n", x, gt.name, uintLimit(t.Bits))
	case model.KindInt, model.KindNode:
		return fmt.Sprintf("%s = %s(s.Int(%d, %d))\n", x, gt.name, t.Lo, t.Hi)
	case model.KindBytes:
		return fmt.Sprintf("%s, _ = %s(s.Text(%d))\n", x, g.maker(gt.name), t.Cap)
	case model.KindOptional:
		return fmt.Sprintf("if !s.None() {\n%s%s.Present = true\n}\n", g.read(t.Elem, x+".Value"), x)
	}
	if k := key(t); !g.readers[k] {
		g.readers[k] = true
		g.readOrder = append(g.readOrder, gt)
	}
	return fmt.Sprintf("%s(s, &%s)\n", g.readFunc(gt), x)
}

// uintLimit is the largest number of so many bits as Go text.
func uintLimit(bits int) string {
	return strconv.FormatUint(^uint64(0)>>(64-max(bits, 8)), 10)
}

// readFunc is the name of the function that reads a type.
func (g *gen) readFunc(gt *goType) string {
	return g.top.own("read "+key(gt.t), "read"+textName(gt))
}

// typeReader emits the function that reads a type.
func (g *gen) typeReader(gt *goType, t *text) {
	t.p("\nfunc %s(s *wire.Scanner, v *%s) {", g.readFunc(gt), gt.name)
	switch gt.t.Kind {
	case model.KindEnum:
		quoted := make([]string, len(gt.t.Names))
		for i, n := range gt.t.Names {
			quoted[i] = strconv.Quote(n)
		}
		t.p("*v = %s(s.Word(%s))", gt.name, strings.Join(quoted, ", "))
	case model.KindRecord:
		t.p("%s", strings.TrimSuffix(g.readFields(gt.t.Fields, "v.", gt.fields), "\n"))
	case model.KindList:
		t.p("for s.Open('['); s.Next(']'); v.Len++ {\nif int(v.Len) >= len(v.Items) {\ns.Failf(\"a list of at most %%d has no room for more\", len(v.Items))\nreturn\n}\n%s}", g.read(gt.t.Elem, "v.Items[v.Len]"))
	case model.KindArray:
		t.p("s.Open('[')\nfor i := range v {\nif !s.Next(']') {\ns.Failf(\"want %%d elements, not %%d\", len(v), i)\nreturn\n}\n%s}\ns.Close(']')", g.read(gt.t.Elem, "v[i]"))
	case model.KindSet:
		t.p("for s.Open('['); s.Next(']'); {\nvar x %s\n%sif s.Err() == nil {\n%s}\n}", g.typ(gt.t.Elem, "").name, g.read(gt.t.Elem, "x"), addMember(gt.t.Elem))
	}
	t.p("}")
}

// addMember composes the statement that adds x to the set v.
func addMember(t *model.Type) string {
	switch {
	case t.Kind == model.KindBool:
		return "if x {\n*v |= 2\n} else {\n*v |= 1\n}\n"
	case lowest(t) != 0:
		return fmt.Sprintf("*v |= 1 << uint64(int64(x) - (%d))\n", lowest(t))
	}
	return "*v |= 1 << uint64(x)\n"
}
