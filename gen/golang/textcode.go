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

// textFile composes the file with functions that write and read values as text. The grammar is that of
// package interp.
func (g *gen) textFile() *jen.File {
	f := g.File(g.O.Package)
	list := []*gotree.Func{g.messageText()}
	for _, r := range g.Roles {
		list = append(list, g.machineText(r)...)
	}
	for i := 0; i < len(g.textOrder); i++ { // one may need others
		list = append(list, g.typeText(g.textOrder[i]))
	}
	for i := 0; i < len(g.readOrder); i++ {
		list = append(list, g.typeReader(g.readOrder[i]))
	}
	funcs(f, list)
	return f
}

// rendered composes statements that append some words and the text of x, of type t, to b.
func (g *gen) rendered(before string, t *model.Type, x gotree.Expr) []gotree.Stmt {
	words := gotree.Str(before)
	switch t.Kind {
	case model.KindBool:
		return gotree.S("b = wire.AppendBool(b, $1, $2)", words, x)
	case model.KindEnum:
		return gotree.S("b = wire.AppendWord(b, $1, $2.String())", words, x)
	case model.KindOpaque:
		return gotree.S("b = wire.AppendUint(b, $1, uint64($2))", words, x)
	case model.KindInt, model.KindNode:
		return gotree.S("b = wire.AppendInt(b, $1, int64($2))", words, x)
	case model.KindBytes:
		longer := gotree.X("false")
		if g.Invalid(t, x) != nil {
			longer = gotree.X("int($1.Len) > len($1.Data)", x)
		}
		return gotree.S("b = wire.AppendText(b, $1, $2.String(), $3)", words, x, longer)
	case model.KindOptional:
		return gotree.S("if $1.Present {\n$2\n} else {\nb = append(b, $3...)\n}",
			x, g.rendered(before, t.Elem, gotree.X("$1.Value", x)), gotree.Str(before+"none"))
	}
	gt := g.Typ(t, "")
	k := types.Key(t)
	if !g.texts[k] {
		g.texts[k] = true
		g.textOrder = append(g.textOrder, gt)
	}
	return gotree.S("b = $1($2, &$3)", g.textFunc(gt), after(before), x)
}

// after composes b with some words appended.
func after(before string) gotree.Expr {
	if before == "" {
		return gotree.X("b")
	}
	return gotree.X("append(b, $1...)", gotree.Str(before))
}

// textFunc returns the name of the function that writes values of a type.
func (g *gen) textFunc(gt *types.Type) string {
	return g.Top.Own("text "+types.Key(gt.T), "append"+textName(gt))
}

// machineFunc returns the name of the function that writes a machine.
func (g *gen) machineFunc(r *types.Machine) string {
	return g.Top.Own("text of "+r.Typ, "append"+r.Typ)
}

// textName returns the end of the name of the function that writes values of a type.
func textName(gt *types.Type) string {
	if gt.T.Kind == model.KindSet && !gt.Own {
		return "SetOf" + memberName(gt.T.Elem)
	}
	return types.SimpleName(gt.Name)
}

// memberName returns a name for the type of a set's elements. Different types have different names.
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

// typeText composes the function that writes values of a composite type.
func (g *gen) typeText(gt *types.Type) *gotree.Func {
	var code []gotree.Stmt
	elems := func(over, elem gotree.Expr, more []gotree.Stmt) {
		code = gotree.S(`b = append(b, '[')
			for i := range $1 {
				b = wire.Comma(b, i)
				$2
			}
			$3
			return append(b, ']')`, over, g.rendered("", gt.T.Elem, elem), more)
	}
	switch gt.T.Kind {
	case model.KindRecord:
		code = g.renderedFields(gt.T.Fields, gotree.X("v"), gt.Fields, "", give)
	case model.KindList: // what is no value of its type is not to look like one
		elems(gotree.X("v.Items[:min(int(v.Len), len(v.Items))]"), gotree.X("v.Items[i]"), gotree.S(`if int(v.Len) > len(v.Items) {
			b = append(b, ", ..."...)
		}`))
	case model.KindArray:
		elems(gotree.X("v"), gotree.X("v[i]"), nil)
	case model.KindSet:
		var beyond []gotree.Stmt
		if bad := g.Invalid(gt.T, gotree.X("uint64(*v)")); bad != nil {
			beyond = gotree.S("if $1 {\nb = append(append(b, sep...), \"...\"...)\nsep = \"\"\n}", bad)
		}
		code = gotree.S(`sep := "["
			for i := range $1 {
				if uint64(*v)>>i&1 == 0 {
					continue
				}
				b = append(b, sep...)
				sep = ", "
				x := $2
				$3
			}
			$4
			if sep == "[" {
				b = append(b, '[')
			}
			return append(b, ']')`, gt.T.Elem.Count(), g.FromIndex(gotree.X("i"), gt.T.Elem), g.rendered("", gt.T.Elem, gotree.X("x")), beyond)
	}
	return gotree.F("func $1(b []byte, v *$2) []byte {\n$3\n}", g.textFunc(gt), gt.X, code)
}

// give returns a statement that returns the text, keep one that goes on with it.
func give(x gotree.Expr) gotree.Stmt { return gotree.Returns(x) }
func keep(x gotree.Expr) gotree.Stmt { return gotree.S("b = $1", x)[0] }

// renderedFields composes `before{name: value, …}` for the fields of at. end is called with the
// expression that appends the end.
func (g *gen) renderedFields(fields []*model.Field, at gotree.Expr, names []string, before string,
	end func(gotree.Expr) gotree.Stmt) []gotree.Stmt {
	if len(fields) == 0 {
		return []gotree.Stmt{end(after(before + "{}"))}
	}
	var out []gotree.Stmt
	pending := before + "{"
	for i, f := range fields {
		out = append(out, g.rendered(pending+f.Name+": ", f.Type, gotree.X("$1.$2", at, names[i]))...)
		pending = ", "
	}
	return append(out, end(gotree.X("append(b, '}')")))
}

// choice composes a switch. It composes nothing if there are no cases.
func choice(tag gotree.Expr, cases []*gotree.Case) []gotree.Stmt {
	if len(cases) == 0 {
		return nil
	}
	return []gotree.Stmt{&gotree.Switch{Tag: tag, Cases: cases}}
}

// when returns a case for constants.
func when(body []gotree.Stmt, names ...string) *gotree.Case {
	return &gotree.Case{List: gotree.Names(names), Body: body}
}

func (g *gen) messageText() *gotree.Func {
	var cases []*gotree.Case
	for i, n := range g.Messages {
		if n.Member != "" {
			m := g.P.Messages[i]
			text := g.renderedFields(m.Fields, gotree.X("m.$1", n.Member), n.Fields, m.Name, give)
			cases = append(cases, when(text, n.Kind))
		}
	}
	return gotree.F(`// appendMessage appends a message as text, for example `+"`READY` or `CHANGE{value: 2}`"+`.
func appendMessage(b []byte, m *Message) []byte {
	$1
	return append(b, m.Kind.String()...)
}`, choice(gotree.X("m.Kind"), cases))
}

// armedText composes the text that says whether a timer is armed. A timer with keys has one for each
// instance.
func armedText(before string, t *model.Timer, x gotree.Expr) []gotree.Stmt {
	if len(t.Keys) == 0 {
		return gotree.S("b = wire.AppendBool(b, $1, $2)", gotree.Str(before), x)
	}
	return gotree.S("b = wire.AppendBools(b, $1, $2[:])", gotree.Str(before), x)
}

// machineText composes the functions that write a machine and its parts.
func (g *gen) machineText(r *types.Machine) []*gotree.Func {
	name := g.machineFunc(r)
	code := gotree.S("b = append(b, m.State.String()...)")
	pending := "{"
	member := func(name string, render func(before string) []gotree.Stmt) {
		code = append(code, render(pending+name+": ")...)
		pending = ", "
	}
	at := func(name string) gotree.Expr { return gotree.X("m.$1", name) }
	for i, v := range r.M.Params {
		member(v.Name, func(before string) []gotree.Stmt { return g.rendered(before, v.Type, at(r.Params[i])) })
	}
	for i, v := range r.M.Vars {
		member(v.Name, func(before string) []gotree.Stmt { return g.rendered(before, v.Type, at(r.Vars[i])) })
	}
	for i, v := range r.M.Timers {
		member(v.Name, func(before string) []gotree.Stmt { return armedText(before, v, at(r.Timers[i])) })
	}
	for _, p := range r.Parts {
		member(p.Part.Name, func(before string) []gotree.Stmt { return g.partText(before, p, at(r.Member(p))) })
	}
	if pending == "{" {
		code = append(code, give(gotree.X("b")))
	} else {
		code = append(code, give(gotree.X("append(b, '}')")))
	}
	f := gotree.F("func $1(b []byte, m *$2) []byte {\n$3\n}", name, r.Typ, code)
	f.Doc = "// " + name + " appends the machine's state, parameters, variables, timers and parts."
	out := []*gotree.Func{f}
	for _, p := range r.Parts {
		out = append(out, g.machineText(p)...)
	}
	return out
}

func (g *gen) partText(before string, p *types.Machine, at gotree.Expr) []gotree.Stmt {
	if len(p.Part.Keys) == 0 {
		return gotree.S("b = $1($2, &$3)", g.machineFunc(p), after(before), at)
	}
	var sum gotree.Expr
	over := []gotree.Expr{}
	for i := range p.Part.Keys {
		n := gotree.Name{Name: string(rune('i' + i))}
		over = append(over, at)
		at = gotree.X("$1[$2]", at, n)
		if sum == nil {
			sum = n
		} else {
			sum = gotree.X("$1 + $2", sum, n)
		}
	}
	code := gotree.S("b = $1(wire.Comma(b, $2), &$3)", g.machineFunc(p), sum, at)
	for i := len(over) - 1; i >= 0; i-- {
		code = gotree.S("for $1 := range $2 {\n$3\n}", string(rune('i'+i)), over[i], code)
	}
	return gotree.S("b = append(b, $1...)\n$2\nb = append(b, ']')", gotree.Str(before+"["), code)
}
