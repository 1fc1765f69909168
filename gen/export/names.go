package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// names gives out names that are used once each and mean nothing to Spin or the C compiler.
type names struct{ taken map[string]bool }

const reserved = `active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan d_step D_proctype do else empty
	enabled eval false fi for full get_priority goto hidden if in init inline int len local ltl mtype nempty never nfull notrace np_ od of
	pc_value pid printf priority proctype provided return run select set_priority short show skip STDIN timeout trace true typedef
	unless unsigned xr xs end accept progress monitor auto case char const continue default double enum extern float long register signed sizeof static struct
	switch union void volatile while main now uchar ushort uint`

func (n *names) init() {
	n.taken = map[string]bool{}
	for _, w := range strings.Fields(reserved) {
		n.taken[w] = true
	}
}

// take gives a name like want.
func (n *names) take(want string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		if r == ']' {
			return -1
		}
		return '_'
	}, want)
	name := clean
	for i := 2; n.taken[name]; i++ {
		name = fmt.Sprint(clean, "_", i)
	}
	n.taken[name] = true
	return name
}

// define makes a name for a number.
func (g *generator) define(want string, n int) string {
	name := g.names.take(want)
	g.defines = append(g.defines, [2]string{name, fmt.Sprint(n)})
	return name
}

func (g *generator) stateNames(m *model.Machine) []string {
	if list, ok := g.states[m]; ok {
		return list
	}
	for other, list := range g.states {
		if other.Protocol == m.Protocol && other.Name == m.Name && slices.EqualFunc(other.States, m.States, func(a, b *model.State) bool { return a.Name == b.Name }) {
			g.states[m] = list
			return list
		}
	}
	var list []string
	for i, st := range m.States {
		prefix := m.Name
		if m.Protocol != g.p.Name {
			prefix = m.Protocol
		}
		list = append(list, g.define(prefix+"_"+st.Name, i))
	}
	g.states[m] = list
	return list
}

func (g *generator) enumNames(t *model.Type) []string {
	if t.Kind != model.KindEnum {
		return nil
	}
	if list, ok := g.enums[t]; ok {
		return list
	}
	var list []string
	for i, name := range t.Names {
		list = append(list, g.define(t.Name+"_"+name, i))
	}
	g.enums[t] = list
	return list
}

// literals finds the opaque numbers and texts that the specification writes.
func (g *generator) literals() {
	note := func(e model.Expr) {
		switch e := e.(type) {
		case *model.Lit:
			if e.T.Kind == model.KindOpaque {
				g.opaque = max(g.opaque, e.Value)
			}
		case *model.Text:
			g.strs.Intern([]byte(e.Value))
		}
	}
	seen := map[*model.Machine]bool{}
	var visit func(m *model.Machine)
	visit = func(m *model.Machine) {
		if seen[m] {
			return
		}
		seen[m] = true
		for _, v := range m.Vars {
			model.Walk(v.Init, note)
		}
		for _, st := range m.States {
			visitStmts(st.Entry, note)
		}
		for _, t := range m.Transitions {
			model.Walk(t.When, note)
			visitStmts(t.Body, note)
		}
		for _, p := range m.Parts {
			for _, a := range p.Args {
				model.Walk(a, note)
			}
			model.Walk(p.To, note)
			for _, ps := range p.Sends {
				if ps != nil {
					visitStmts([]model.Stmt{ps.Send}, note)
				}
			}
			visit(p.Machine)
		}
	}
	for _, in := range g.c.Instances {
		for _, a := range in.Args {
			model.Walk(a, note)
		}
		visit(in.Role)
	}
}

// visitStmts calls f for the expressions of statements.
func visitStmts(list []model.Stmt, f func(model.Expr)) {
	all := func(exprs ...model.Expr) {
		for _, e := range exprs {
			model.Walk(e, f)
		}
	}
	for _, x := range list {
		switch x := x.(type) {
		case *model.Set:
			all(x.Value)
			for _, sel := range x.Select {
				all(sel.Index)
			}
		case *model.Send:
			all(x.Fields...)
			all(x.To)
		case *model.ReportStmt:
			all(x.Fields...)
		case *model.Run:
			all(x.Keys...)
			all(x.Args...)
		case *model.Restart:
			all(x.Keys...)
		case *model.StartTimer:
			all(x.Keys...)
			all(x.Ticks)
		case *model.StopTimer:
			all(x.Keys...)
		case *model.If:
			all(x.Cond)
			visitStmts(x.Then, f)
			visitStmts(x.Else, f)
		case *model.Each:
			all(x.Over)
			visitStmts(x.Body, f)
		}
	}
}
