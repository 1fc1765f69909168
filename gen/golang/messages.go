package golang

import (
	"github.com/dave/jennifer/jen"
)

// messagesFile holds the messages: their kinds, a struct for each that has
// fields, and the union of them all.
func (g *gen) messagesFile() *jen.File {
	f := g.file(g.o.Package)
	f.Comment(comment("MessageKind", "says which message it is; the number is the index in the specification."))
	f.Type().Id("MessageKind").Uint8()
	f.Line()
	f.Comment("// The messages of the protocol.")
	var kinds, docs, names []string
	fields := []jen.Code{jen.Id("Kind").Id("MessageKind")}
	for i, m := range g.p.Messages {
		n := g.messages[i]
		kinds, docs, names = append(kinds, n.kind), append(docs, m.Doc), append(names, m.Name)
		if n.member != "" {
			fields = append(fields, jen.Id(n.member).Id(n.typ).Comment("for "+n.kind))
		}
	}
	if len(kinds) > 0 {
		g.enumConsts(f, "MessageKind", kinds, docs)
	}
	g.stringer(f, "MessageKind", names)
	f.Line()
	f.Comment(comment("Message", "is one message. Fields that do not belong to the kind are zero."))
	f.Type().Id("Message").Struct(fields...)
	f.Line()
	f.Comment("// String returns the message as text, for example `READY` or `CHANGE{value: 2}`.")
	f.Add(raw("func (m *Message) String() string { return string(appendMessage(nil, m)) }"))
	for i, m := range g.p.Messages {
		if n := g.messages[i]; n.member != "" {
			f.Line()
			f.Comment(comment(n.typ, "are the fields of "+m.Name+". "+sentence(m.Doc)))
			f.Type().Id(n.typ).StructFunc(func(s *jen.Group) { g.structFields(s, n.fields, m.Fields) })
		}
	}
	return f
}
