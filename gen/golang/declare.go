package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
)

// machineFile holds the role's states, its struct, Step, and its parts.
func (g *gen) machineFile(r *machine) *jen.File {
	step := g.stepCode(r) // before the declarations: it decides what they need
	f := g.file(g.o.Package)
	g.declareMachine(f, r)
	f.Line()
	f.Add(raw(strings.TrimSpace(step)))
	g.code[r] = step + allMethods(r)
	for _, h := range []string{"took", "ignored", "deferred", "refused"} {
		g.helpers[h] = g.helpers[h] || strings.Contains(step, h+"(")
	}
	g.helpers["maxQueued"] = g.helpers["maxQueued"] || strings.Contains(g.code[r], "maxQueued")
	return f
}

// allMethods is the code of a machine's parts.
func allMethods(r *machine) string {
	s := ""
	for _, p := range r.parts {
		s += p.methods.String() + allMethods(p)
	}
	return s
}

// allParts lists the parts of a machine, each followed by its own parts.
func allParts(r *machine) []*machine {
	var out []*machine
	for _, p := range r.parts {
		out = append(append(out, p), allParts(p)...)
	}
	return out
}

// partFile holds one part of a role.
func (g *gen) partFile(p *machine) *jen.File {
	f := g.file(g.o.Package)
	g.declareMachine(f, p)
	if code := strings.TrimSpace(p.methods.String()); code != "" {
		f.Line()
		f.Add(raw(code))
	}
	return f
}

func (g *gen) declareMachine(f *jen.File, r *machine) {
	m := r.m
	what := "is the machine " + m.Name
	if r.part != nil {
		what = "is the part " + r.part.Name + ", machine " + m.Name + " of protocol " + m.Protocol
	}
	f.Comment(comment(r.state, "is the control state of "+r.typ+"."))
	f.Type().Id(r.state).Uint8()
	f.Line()
	f.Comment(comment("", "The states of "+r.typ+"."))
	docs := make([]string, len(m.States))
	for i, s := range m.States {
		docs[i] = s.Doc
		if s.Final {
			docs[i] = strings.TrimSuffix("final; "+s.Doc, "; ")
		}
	}
	g.enumConsts(f, r.state, r.states, docs)
	names := make([]string, len(m.States))
	for i, s := range m.States {
		names[i] = s.Name
	}
	g.stringer(f, r.state, names)
	f.Line()
	f.Comment(comment(r.typ, sentence(what)+" It is comparable: equal values have equal futures."))
	if m.Doc != "" {
		f.Comment(comment("", sentence(m.Doc)))
	}
	f.Type().Id(r.typ).StructFunc(func(s *jen.Group) { g.machineFields(s, r) })
	if r.part == nil || r.created {
		f.Line()
		f.Add(raw(strings.TrimSpace(g.constructor(r))))
	}
}

func (g *gen) machineFields(s *jen.Group, r *machine) {
	line := func(name, typ, doc string) {
		l := s.Id(name).Add(raw(typ))
		if doc != "" {
			l.Comment(strings.Join(strings.Fields(doc), " "))
		}
	}
	line("State", r.state, "")
	for i, v := range r.m.Params {
		line(r.params[i], g.typ(v.Type, "").name, v.Doc)
	}
	for i, v := range r.m.Vars {
		line(r.vars[i], g.typ(v.Type, "").name, v.Doc)
	}
	for i, t := range r.m.Timers {
		doc := "timer; true: armed"
		if t.Doc != "" {
			doc += "; " + t.Doc
		}
		typ := "bool"
		if len(t.Keys) > 0 {
			typ = fmt.Sprintf("[%d]bool", t.Count)
			doc = strings.Replace(doc, "timer; true", "timers by "+joined(t.Keys)+"; true", 1)
		}
		line(r.timers[i], typ, doc)
	}
	names := r.members[len(r.members)-len(r.parts):]
	for i, p := range r.parts {
		dims := ""
		for _, k := range p.part.Keys {
			dims += fmt.Sprintf("[%d]", k.Type.Count())
		}
		line(names[i], dims+p.typ, p.part.Doc)
	}
}

// member is the Go name of a part in its parent's struct.
func (r *machine) member(p *machine) string {
	for i, s := range r.parts {
		if s == p {
			return r.members[len(r.members)-len(r.parts)+i]
		}
	}
	panic("no such part")
}
