package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// commandText composes Runner.Command, which reads what AppendEvent writes of commands.
func (g *gen) commandText(r *types.Machine, t *base.Text) {
	t.P("\n%s", base.Comment("Command", "implements fsm.Commander: it gives a command as text, in the form that AppendEvent writes. If the text is none, the error says what is wrong with it, and nothing has happened."))
	t.P("func (r *%s) Command(text string) (fsm.Result, error) {\ns := wire.NewScanner(text)", r.Runner)
	var cases base.Text
	var all []string
	names := commandNames(r)
	for _, e := range r.Events {
		if e.Ev.Kind != model.EventCommand {
			continue
		}
		all = append(all, strconv.Quote(e.Ev.Name))
		name := names[slices.Index(r.M.Commands, e.Ev)]
		if len(e.Ev.Fields) == 0 {
			cases.P("case %q:\ngive = r.%s", e.Ev.Name, name)
			continue
		}
		var args []string
		for _, f := range e.Fields {
			args = append(args, "c."+f)
		}
		cases.P("case %q:\nvar c %s\n%sgive = func() fsm.Result { return r.%s(%s) }",
			e.Ev.Name, e.Typ, g.readFields(e.Ev.Fields, "c.", e.Fields), name, strings.Join(args, ", "))
	}
	const none = "refused(fsm.NoTransition)"
	g.Helpers["refused"] = true
	if len(all) == 0 {
		t.P("return %s, s.UnknownCommand(s.Name())\n}", none)
		return
	}
	t.P("var give func() fsm.Result\nswitch name := s.Name(); name {\n%sdefault:\nreturn %s, s.UnknownCommand(name, %s)\n}", cases.String(), none, strings.Join(all, ", "))
	t.P("if err := s.End(); err != nil {\nreturn %s, err\n}\nreturn give(), nil\n}", none)
}

// readFields composes statements that read `{name: value, …}`.
func (g *gen) readFields(fields []*model.Field, at string, names []string) string {
	var s strings.Builder
	from := "s.Open('{')"
	for i, f := range fields {
		s.WriteString(g.read(fmt.Sprintf("%s.Field(%q)", from, f.Name), f.Type, at+names[i]))
		from = "s"
	}
	if len(fields) == 0 {
		s.WriteString(from + "\n")
	}
	s.WriteString("s.Close('}')\n")
	return s.String()
}

// read composes statements that read x, of type t, from a scanner.
func (g *gen) read(from string, t *model.Type, x string) string {
	gt := g.Typ(t, "")
	switch t.Kind {
	case model.KindBool:
		return fmt.Sprintf("%s = %s.Bool()\n", x, from)
	case model.KindOpaque:
		return fmt.Sprintf("%s = %s(%s.Uint(%s))\n", x, gt.Name, from, uintLimit(t.Bits))
	case model.KindInt, model.KindNode:
		return fmt.Sprintf("%s = %s(%s.Int(%d, %d))\n", x, gt.Name, from, t.Lo, t.Hi)
	case model.KindBytes:
		return fmt.Sprintf("%s, _ = %s(%s.Text(%d))\n", x, g.Maker(gt.Name), from, t.Cap)
	case model.KindOptional:
		return fmt.Sprintf("if !%s.None() {\n%s%s.Present = true\n}\n", from, g.read("s", t.Elem, x+".Value"), x)
	}
	if k := types.Key(t); !g.readers[k] {
		g.readers[k] = true
		g.readOrder = append(g.readOrder, gt)
	}
	return fmt.Sprintf("%s(%s, &%s)\n", g.readFunc(gt), from, x)
}

// uintLimit is the largest number of so many bits as Go text.
func uintLimit(bits int) string {
	return strconv.FormatUint(^uint64(0)>>(64-max(bits, 8)), 10)
}

// readFunc is the name of the function that reads a type.
func (g *gen) readFunc(gt *types.Type) string {
	return g.Top.Own("read "+types.Key(gt.T), "read"+textName(gt))
}

// typeReader emits the function that reads a type.
func (g *gen) typeReader(gt *types.Type, t *base.Text) {
	t.P("\nfunc %s(s *wire.Scanner, v *%s) {", g.readFunc(gt), gt.Name)
	switch gt.T.Kind {
	case model.KindEnum:
		quoted := make([]string, len(gt.T.Names))
		for i, n := range gt.T.Names {
			quoted[i] = strconv.Quote(n)
		}
		t.P("*v = %s(s.Word(%s))", gt.Name, strings.Join(quoted, ", "))
	case model.KindRecord:
		t.P("%s", strings.TrimSuffix(g.readFields(gt.T.Fields, "v.", gt.Fields), "\n"))
	case model.KindList:
		t.P("for s.Open('['); s.Next(']'); v.Len++ {\nif int(v.Len) >= len(v.Items) {\ns.Failf(\"a list of at most %%d has no room for more\", len(v.Items))\nreturn\n}\n%s}", g.read("s", gt.T.Elem, "v.Items[v.Len]"))
	case model.KindArray:
		t.P("s.Open('[')\nfor i := range v {\nif !s.Next(']') {\ns.Failf(\"want %%d elements, not %%d\", len(v), i)\nreturn\n}\n%s}\ns.Close(']')", g.read("s", gt.T.Elem, "v[i]"))
	case model.KindSet:
		t.P("for s.Open('['); s.Next(']'); {\nvar x %s\n%sif s.Err() == nil {\n%s}\n}", g.Typ(gt.T.Elem, "").Name, g.read("s", gt.T.Elem, "x"), addMember(gt.T.Elem))
	}
	t.P("}")
}

// addMember composes the statement that adds x to the set v.
func addMember(t *model.Type) string {
	switch {
	case t.Kind == model.KindBool:
		return "if x {\n*v |= 2\n} else {\n*v |= 1\n}\n"
	case types.Lowest(t) != 0:
		return fmt.Sprintf("*v |= 1 << uint64(int64(x) - (%d))\n", types.Lowest(t))
	}
	return "*v |= 1 << uint64(x)\n"
}
