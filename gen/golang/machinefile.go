package golang

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
)

func (g *gen) machineFields(s *jen.Group, r *types.Machine) {
	line := func(name string, typ gotree.Expr, doc string) {
		l := s.Id(name).Add(gotree.Code(typ))
		if doc != "" {
			l.Comment(strings.Join(strings.Fields(doc), " "))
		}
	}
	line("State", gotree.X(r.State), "")
	for i, v := range r.M.Params {
		line(r.Params[i], g.Typ(v.Type, "").X, v.Doc)
	}
	for i, v := range r.M.Vars {
		doc := v.Doc
		if v.Kept {
			doc = strings.TrimSuffix("kept over a crash: write it down before its step sends; "+doc, "; ")
		}
		line(r.Vars[i], g.Typ(v.Type, "").X, doc)
	}
	for i, t := range r.M.Timers {
		doc := "timer; true: armed"
		if t.Doc != "" {
			doc += "; " + t.Doc
		}
		typ := gotree.X("bool")
		if len(t.Keys) > 0 {
			typ = gotree.X("[$1]bool", t.Count)
			doc = strings.Replace(doc, "timer; true", "timers by "+types.Joined(t.Keys)+"; true", 1)
		}
		line(r.Timers[i], typ, doc)
	}
	names := r.Members[len(r.Members)-len(r.Parts):]
	for i, p := range r.Parts {
		typ := gotree.X(p.Typ)
		for _, k := range slices.Backward(p.Part.Keys) {
			typ = gotree.X("[$1]$2", k.Type.Count(), typ)
		}
		line(names[i], typ, p.Part.Doc)
	}
}

func (g *gen) declareMachine(f *jen.File, r *types.Machine) {
	m := r.M
	what := "is the machine " + m.Name
	if r.Part != nil {
		what = "is the part " + r.Part.Name + ", machine " + m.Name + " of protocol " + m.Protocol
	}
	f.Comment(base.Comment(r.State, "is the control state of "+r.Typ+"."))
	f.Type().Id(r.State).Uint8()
	f.Line()
	f.Comment(base.Comment("", "The states of "+r.Typ+"."))
	docs := make([]string, len(m.States))
	for i, s := range m.States {
		docs[i] = s.Doc
		if s.Final {
			docs[i] = strings.TrimSuffix("final; "+s.Doc, "; ")
		}
	}
	g.enumConsts(f, r.State, r.States, docs)
	names := make([]string, len(m.States))
	for i, s := range m.States {
		names[i] = s.Name
	}
	g.stringer(f, r.State, names)
	f.Line()
	if m.Doc != "" {
		what += ": " + m.Doc
	}
	f.Comment(base.Comment(r.Typ, base.Sentence(what)+" It is comparable: equal values have equal futures."))
	f.Type().Id(r.Typ).StructFunc(func(s *jen.Group) { g.machineFields(s, r) })
	if r.Part == nil || r.Created {
		funcs(f, []*gotree.Func{g.Constructor(r)})
	}
}

// partFile composes the file of one part of a role.
func (g *gen) partFile(p *types.Machine) *jen.File {
	f := g.File(g.O.Package)
	g.declareMachine(f, p)
	funcs(f, p.Methods)
	return f
}

// machineFile composes the file with a role's states, its struct and Step.
func (g *gen) machineFile(r *types.Machine) *jen.File {
	step := g.Step(r) // before the declarations: it decides what they need
	f := g.File(g.O.Package)
	g.declareMachine(f, r)
	funcs(f, step)
	g.code[r] = step
	for _, p := range types.AllParts(r) {
		g.code[r] = append(g.code[r], p.Methods...)
	}
	return f
}

// messagesFile composes the file of the messages: their kinds, a struct for each message with fields,
// and the union of all.
func (g *gen) messagesFile() *jen.File {
	f := g.File(g.O.Package)
	f.Comment(base.Comment("MessageKind", "says which message it is; the number is the index in the specification."))
	f.Type().Id("MessageKind").Uint8()
	f.Line()
	f.Comment("// The messages of the protocol.")
	var kinds, docs, names []string
	fields := []jen.Code{jen.Id("Kind").Id("MessageKind")}
	for i, m := range g.P.Messages {
		n := g.Messages[i]
		kinds, docs, names = append(kinds, n.Kind), append(docs, m.Doc), append(names, m.Name)
		if n.Member != "" {
			fields = append(fields, jen.Id(n.Member).Id(n.Typ).Comment("for "+n.Kind))
		}
	}
	if len(kinds) > 0 {
		g.enumConsts(f, "MessageKind", kinds, docs)
	}
	g.stringer(f, "MessageKind", names)
	f.Line()
	f.Comment(base.Comment("Message", "is one message. Fields that do not belong to the kind are zero."))
	f.Type().Id("Message").Struct(fields...)
	funcs(f, []*gotree.Func{gotree.F("// String returns the message as text, for example `READY` or " +
		"`CHANGE{value: 2}`.\nfunc (m *Message) String() string { return string(appendMessage(nil, m)) }")})
	for i, m := range g.P.Messages {
		if n := g.Messages[i]; n.Member != "" {
			f.Line()
			f.Comment(base.Comment(n.Typ, "are the fields of "+m.Name+". "+base.Sentence(m.Doc)))
			f.Type().Id(n.Typ).StructFunc(func(s *jen.Group) { g.structFields(s, n.Fields, m.Fields) })
		}
	}
	return f
}
