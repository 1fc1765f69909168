package check

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/machine"
)

// joint resolves the monitors of several instances, `of: [a, b]`: each is a machine beside the others, which
// hears what the programs of these instances see and do, in the order in which it happens.
func (r *checker) joint(c *model.Check, in *parties, n *ast.Node) {
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		if of := e.Value.Get("of"); of != nil && of.Kind == ast.List {
			r.oneJoint(c, in, e, of)
		}
	}
}

func (r *checker) oneJoint(c *model.Check, in *parties, e ast.Entry, of *ast.Node) {
	name, at := e.Key.Text, e.Key.Span()
	switch {
	case in.single[name] != nil:
		r.NameTaken(at, name, "instance", in.single[name].Model.Span)
		return
	case in.groups[name] != nil:
		r.NameTaken(at, name, "instance", in.groups[name].At)
		return
	case len(of.Items) == 0:
		r.Errorf("FSM009", of.Span(), "monitor %s watches nobody", diag.Quote(name)).
			With("name instances of the check: `of: [a, b]`")
		return
	}
	before := r.Len()
	var heard []machine.Hearing
	var from [][]*convert.Instance // by place in heard: whose it is
	seen := map[string]bool{}
	for _, it := range of.Items {
		list := r.watched(in, it)
		if seen[it.Text] {
			r.Errorf("FSM040", it.Span(), "monitor %s watches %s twice", diag.Quote(name), diag.Quote(it.Text))
		}
		seen[it.Text] = true
		if len(list) == 0 || list[0].Names == nil {
			continue
		}
		at := list[0].Model.Span
		if g := in.groups[it.Text]; g != nil {
			at = g.At
		}
		for _, h := range machine.Heard(list[0].Model.Role, it.Text, at) {
			heard, from = append(heard, h), append(from, list)
		}
	}
	if r.Len() > before {
		return
	}
	mon := r.Watcher(e, heard)
	if r.Len() > before {
		return
	}
	inst := &model.Instance{Name: name, Index: len(c.Instances) + len(c.Monitors), Role: mon.Machine,
		Monitor: true, Span: at}
	m := &model.Monitor{Inst: inst}
	for i, h := range heard {
		ev := mon.Events[h.From+"."+h.Name()]
		for _, x := range from[i] {
			if mon.Handles(ev) {
				m.Hears = append(m.Hears,
					model.Hearing{Instance: x.Model.Index, Command: h.Command, Report: h.Report, Event: ev})
			}
		}
	}
	c.Monitors = append(c.Monitors, m)
	in.monitors[name] = &convert.Instance{Model: inst, Names: mon.Names}
}

// watched lists the instances that an item of `of` names; none after an error.
func (r *checker) watched(in *parties, it *ast.Node) (list []*convert.Instance) {
	switch g := in.groups[it.Text]; {
	case in.single[it.Text] != nil:
		r.Refer(it.Span(), in.single[it.Text].Model.Span)
		list = []*convert.Instance{in.single[it.Text]}
	case g != nil:
		r.Refer(it.Span(), g.At)
		list = g.All
	case r.Roles[it.Text] != nil:
		d := r.Errorf("FSM098", it.Span(), "%s is a role, and a list names instances", diag.Quote(it.Text))
		if names := playing(in, r.Roles[it.Text].Machine); len(names) > 0 {
			d.With("name those of that role: " + diag.QuoteAll(names) + "; `of: " + it.Text +
				"` makes one monitor for each of them")
		}
		return nil
	default:
		var names []string
		for name := range in.single {
			names = append(names, name)
		}
		for name := range in.groups {
			names = append(names, name)
		}
		slices.Sort(names)
		r.Unknown("FSM021", it, "instance", names)
		return nil
	}
	for _, x := range list {
		if x.Model.IsHostile() {
			r.Errorf("FSM096", it.Span(), "%s is hostile: it has no program that sees or does anything",
				diag.Quote(x.Model.Name)).With("watch the others")
			return nil
		}
	}
	return list
}

// unmonitored reports conditions that look at a monitor of several instances and must not.
func (r *checker) unmonitored(c *model.Check) {
	refuse := func(what string, list ...model.Expr) {
		said := false
		for _, e := range list {
			core.Walk(core.Of(e), func(x core.Expr) {
				if p, ok := x.(*core.Read); ok && p.Inst != nil && p.Inst.Monitor && !said {
					said = true
					r.Errorf("FSM098", x.Node().Pos(), "%s cannot look at a monitor of several instances", what).
						With("look at the instances themselves")
				}
			})
		}
	}
	refuse("`quiet`", c.Quiet)
	for _, cl := range c.Claims {
		if cl.Within > 0 {
			refuse("a claim with `within`", cl.Expr, cl.When)
		}
	}
}
