package body

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// callOf returns the call that the first statement was written out for, and how many statements were.
func callOf(list []core.Stmt, level int) (*model.RoutineCall, int) {
	call := list[0].Node().Calls[level]
	n := slices.IndexFunc(list, func(s core.Stmt) bool {
		return len(s.Node().Calls) <= level || s.Node().Calls[level] != call
	})
	if n < 0 {
		n = len(list)
	}
	return call, n
}

// routine makes a method of a routine's statements. It returns nil if they should be written out. A
// routine has more than one method if its arguments lead to different statements.
func (c *stmts) routine(call *model.RoutineCall, list []core.Stmt, calls int) *proc {
	all := c.g.calls(c.r)[call.Name]
	users := len(all)
	if users < 2 {
		return nil
	}
	var locals []*model.Local
	for l := range c.locals {
		locals = append(locals, l)
	}
	field := func(l *model.Local) string {
		for _, f := range call.Fields {
			if f.Local == l {
				return f.Name
			}
		}
		return l.Name
	}
	slices.SortFunc(locals, func(a, b *model.Local) int {
		return cmp.Or(strings.Compare(field(a), field(b)), a.Offset-b.Offset)
	})
	compose := func(dry bool, name func(i int, names base.LocalScope) string) *proc {
		f := c.g.newStmts(c.r)
		f.dry, f.scope = dry, slices.Clone(c.scope)
		for _, p := range f.scope {
			f.names.Take(p.Name)
		}
		for i, l := range locals {
			n := name(i, f.names)
			f.locals[l] = local(n, l.Type)
			p := gotree.Param{Name: n}
			if !dry {
				p.Type = c.goType(l.Type)
			}
			f.scope = append(f.scope, p)
		}
		f.refuse = func(bool) gotree.Stmt { return gotree.Returns(gotree.X("false")) }
		if !f.sequence(list, calls) {
			return nil
		}
		return f.proc(f.out.List, nil)
	}
	place := func(i int, _ base.LocalScope) string { return fmt.Sprintf("ª%d", i) }
	p := compose(true, place)
	if p == nil {
		return nil
	}
	lines := gotree.Lines(p.fn.Body)
	if lines < 3 || inlineCost(p.fn) > inlined && !long(lines, users) {
		return nil
	}
	i := -1 // only what the statements use gets a name
	locals = slices.DeleteFunc(locals, func(*model.Local) bool {
		i++
		return !gotree.Uses(p.fn.Body, place(i, base.LocalScope{}))
	})
	p = compose(c.dry, func(i int, names base.LocalScope) string { return names.Local(field(locals[i])) })
	for i, l := range locals {
		p.args[len(p.args)-len(locals)+i] = c.cast(c.locals[l], l.Type)
	}
	if c.dry {
		return p
	}
	for _, old := range c.g.procs[c.r] {
		if gotree.Alike(old.fn, p.fn) {
			return &proc{old.fn, p.facts, p.args, p.changes}
		}
	}
	name := base.Unexported(base.GoName(call.Name))
	if token.IsKeyword(name) {
		name += "Routine"
	}
	if bySender(call) && slices.ContainsFunc(all, func(c *model.RoutineCall) bool { return !bySender(c) }) {
		name += "Sender"
	}
	p.fn.Name = c.r.Calls.Take(name)
	doc := "is the routine " + call.Name
	if call.Doc != "" {
		doc += ": " + call.Doc
	}
	p.fn.Doc = base.Comment(p.fn.Name, base.Sentence(doc)+p.refusal())
	c.r.Methods = append(c.r.Methods, p.fn)
	c.g.procs[c.r] = append(c.g.procs[c.r], p)
	c.g.shared[p.fn] = true
	return p
}

// bySender reports whether one of a call's arguments is the sender. It has no parameter then.
func bySender(call *model.RoutineCall) bool {
	return slices.ContainsFunc(call.Fields, func(f model.RoutineField) bool { return f.Local == nil })
}

// calls returns the calls of each routine of a machine.
func (g *Funcs) calls(r *types.Machine) map[string][]*model.RoutineCall {
	if all := g.called[r]; all != nil {
		return all
	}
	all := map[string][]*model.RoutineCall{}
	r.Core.Each(func(s core.Stmt) {
		for _, c := range s.Node().Calls {
			if !slices.Contains(all[c.Name], c) {
				all[c.Name] = append(all[c.Name], c)
			}
		}
	}, func(core.Expr) {})
	g.called[r] = all
	return all
}
