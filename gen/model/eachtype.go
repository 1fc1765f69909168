package model

import "slices"

// EachType visits each type of messages, commands, variables and keys once.
func EachType(p *Protocol, visit func(*Type)) {
	seen := map[*Type]bool{}
	var walk func(t *Type)
	walk = func(t *Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		visit(t)
		walk(t.Elem)
		walk(t.Index)
		eachField(t.Fields, walk)
	}
	var machine func(m *Machine)
	machine = func(m *Machine) {
		for _, d := range slices.Concat(m.Params, m.Vars) {
			walk(d.Type)
		}
		for _, ev := range m.Events {
			eachField(ev.Fields, walk)
		}
		for _, part := range m.Parts {
			eachField(part.Keys, walk)
			machine(part.Machine)
		}
	}
	for _, t := range p.Types {
		walk(t)
	}
	for _, m := range p.Messages {
		eachField(m.Fields, walk)
	}
	for _, r := range p.Roles {
		machine(r)
	}
}

func eachField(list []*Field, walk func(*Type)) {
	for _, f := range list {
		walk(f.Type)
	}
}
