package machine

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// composite is a state that has states of its own, as UML means it. The machine is always in one of
// the innermost states; all that an outer one says is written out there.
type composite struct {
	*model.Composite
	node  *ast.Node
	in    *composite
	first *model.State // where it begins
	last  *model.Var   // the state in it that was left last; nil if no branch resumes it
}

// declareIn declares the states of a section `states`, and those inside them.
func (ro *Role) declareIn(n *ast.Node, in *composite) {
	for _, e := range n.Entries {
		inner := e.Value.Get("states")
		if inner == nil {
			st := &model.State{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
				Index: len(ro.Machine.States), Final: pass.IsTrue(e.Value.Get("final")), Span: e.Key.Span()}
			if x := e.Value.Entry("initial"); x != nil {
				ro.Errorf("FSM059", x.Key.Span(), "%s has no states in which it could begin", diag.Quote(st.Name)).
					With("`initial` stands beside `states`")
			}
			if !ro.declare(e.Key, "state", st) {
				continue
			}
			ro.nodes[st] = e.Value
			ro.Machine.States = append(ro.Machine.States, st)
			if in != nil {
				st.In = in.Composite
			}
			for c := in; c != nil; c = c.in {
				c.States = append(c.States, st)
			}
			continue
		}
		c := &composite{Composite: &model.Composite{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
			Span: e.Key.Span()}, node: e.Value, in: in}
		if in != nil {
			c.In = in.Composite
		}
		if x := e.Value.Entry("final"); x != nil {
			ro.Errorf("FSM059", x.Key.Span(), "%s has states of its own, and one of them is where the machine ends",
				diag.Quote(c.Name)).With("write `final: true` in that state")
		}
		if len(inner.Entries) == 0 {
			ro.Errorf("FSM009", inner.Span(), "%s has no states", diag.Quote(c.Name))
			continue
		}
		if !ro.declare(e.Key, "state", c.Composite) {
			continue
		}
		ro.composites = append(ro.composites, c)
		ro.declareIn(inner, c)
	}
}

// initials finds the states in which the composite states begin, innermost first, and gives those that
// are resumed a variable.
func (ro *Role) initials() {
	for _, c := range slices.Backward(ro.composites) {
		in := c.node.Get("initial")
		if in == nil {
			ro.Errorf("FSM009", c.Span, "%s does not say in which of its states it begins", diag.Quote(c.Name)).
				With("add `initial: " + c.node.Get("states").Entries[0].Key.Text + "`")
			continue
		}
		if c.node.Get("states").Get(in.Text) == nil {
			if what, _ := convert.ValueKind(ro.Values[in.Text]); what == "state" {
				ro.Errorf("FSM051", in.Span(), "%s is not one of the states of %s", diag.Quote(in.Text),
					diag.Quote(c.Name)).With("it begins in " + diag.QuoteAll(c.node.Get("states").Keys()))
			} else {
				ro.Unknown("FSM051", in, "state", c.node.Get("states").Keys())
			}
			continue
		}
		c.first, _ = ro.stateOf(in)
	}
	var look func(n *ast.Node)
	look = func(n *ast.Node) {
		if n == nil {
			return
		}
		if r := n.Get("resume"); r != nil {
			if c := ro.compositeOf(r.Text); c != nil && c.last == nil && len(c.States) > 1 {
				c.last = ro.history(c)
			}
		}
		for _, e := range n.Entries {
			look(e.Value)
		}
		for _, it := range n.Items {
			look(it)
		}
	}
	look(ro.Node.Get("states"))
	look(ro.Node.Get("common"))
}

// history declares the variable that says which state of a composite one was left last.
func (ro *Role) history(c *composite) *model.Var {
	t := &model.Type{Kind: model.KindEnum, Name: title(ro.Machine.Name) + "Last" + title(c.Name)}
	for _, st := range c.States {
		t.Names = append(t.Names, st.Name)
	}
	v := &model.Var{Name: "last" + title(c.Name), Type: types.WithLayout(t), Span: c.Span,
		Doc: "the state in which " + c.Name + " was left"}
	if c.first != nil {
		v.Init = &model.Lit{ExprBase: model.ExprBase{T: t, Span: c.Span}, Value: int64(c.index(c.first))}
	}
	ro.UseAs(v.Span, pass.Looked)
	ro.UseSet(v.Span)
	if old, taken := ro.Values[v.Name]; taken {
		what, at := convert.ValueKind(old)
		ro.Errorf("FSM040", c.Span, "%s is resumed, and the variable that says where has the name of a %s: %s",
			diag.Quote(c.Name), what, diag.Quote(v.Name)).See(at, "declared here")
		return nil
	}
	ro.Values[v.Name] = v
	ro.Machine.Vars = append(ro.Machine.Vars, v)
	return v
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// index returns the number of a state among those of the composite one.
func (c *composite) index(st *model.State) int { return slices.Index(c.States, st) }

func (ro *Role) compositeOf(name string) *composite {
	for _, c := range ro.composites {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// around lists the composite states that a state is in, innermost first.
func (ro *Role) around(st *model.State) []*composite {
	if st.In == nil {
		return nil
	}
	return ro.compositeOf(st.In.Name).outwards()
}

// outwards lists a composite state and those around it; none for nil.
func (c *composite) outwards() (list []*composite) {
	for ; c != nil; c = c.in {
		list = append(list, c)
	}
	return list
}

// stateOf finds the state that a name leads to: where a composite state begins, or a state without
// states of its own. c is the composite state.
func (ro *Role) stateOf(n *ast.Node) (st *model.State, c *composite) {
	if c = ro.compositeOf(n.Text); c != nil {
		ro.Refer(n.Span(), c.Span)
		return c.first, c
	}
	return ro.state(n), nil
}

// statesOf finds the states that a name stands for: all of a composite state, or the one.
func (ro *Role) statesOf(n *ast.Node) []*model.State {
	if c := ro.compositeOf(n.Text); c != nil {
		ro.Refer(n.Span(), c.Span)
		return c.States
	}
	if st := ro.state(n); st != nil {
		return []*model.State{st}
	}
	return nil
}

// way is a change of state: the composite states that are left, innermost first, and those that are
// come into, outermost first.
type way struct {
	from  *model.State
	leave []*composite
	enter []*composite
}

// wayTo finds how a branch of a state leads to another. The branch may stand in a composite state
// around from, which is left then. The target may be a composite state, which is left and come into
// anew where the machine is inside already.
func (ro *Role) wayTo(from *model.State, owner *composite, to *model.State, target *composite) way {
	keep := func(c *composite) bool { // stays, and is neither left nor come into
		inOwner := owner == nil || c != owner && slices.Contains(owner.in.outwards(), c)
		inTarget := target == nil || c != target && slices.Contains(target.in.outwards(), c)
		return inOwner && inTarget && slices.Contains(ro.around(from), c) && slices.Contains(ro.around(to), c)
	}
	w := way{from: from}
	for _, c := range ro.around(from) {
		if !keep(c) {
			w.leave = append(w.leave, c)
		}
	}
	for _, c := range slices.Backward(ro.around(to)) {
		if !keep(c) {
			w.enter = append(w.enter, c)
		}
	}
	return w
}

// leaving writes out what is done before the statements of a branch that leaves states.
func (w *stmts) leaving(x way) (out []model.Stmt) {
	if x.from == nil {
		return nil
	}
	out = w.action("leave", x.from.Name, w.ro.nodes[x.from].Get("exit"))
	for _, c := range x.leave {
		out = append(out, w.action("leave", c.Name, c.node.Get("exit"))...)
		if c.last != nil {
			set := &model.Set{StmtBase: model.StmtBase{Span: c.Span}, Var: c.last,
				Value: w.Literal(c.last.Type, int64(c.index(x.from)), c.Span)}
			set.Calls = []*model.RoutineCall{{Name: "leave" + title(c.Name), Action: true}}
			out = append(out, set)
		}
	}
	return out
}

// entering writes out what is done after them. The entry of the new state itself runs behind that.
func (w *stmts) entering(x way) (out []model.Stmt) {
	for _, c := range x.enter {
		out = append(out, w.action("enter", c.Name, c.node.Get("entry"))...)
	}
	return out
}

// action writes out an entry or exit action. What is wrong in it was reported where it stands.
func (w *stmts) action(verb, state string, n *ast.Node) []model.Stmt {
	if n == nil {
		return nil
	}
	outer := w.Collector
	w.Collector = &diag.Collector{}
	defer func() { w.Collector = outer }()
	inner := *w.Scope
	inner.Locals, inner.Together, inner.Args, inner.Lenient, inner.Event = nil, nil, nil, false, nil
	body := (&stmts{Resolver: expr.In(&inner), ro: w.ro}).list(n)
	call := &model.RoutineCall{Name: verb + title(state), Action: true}
	for _, s := range body {
		s.Base().Calls = append([]*model.RoutineCall{call}, s.Base().Calls...)
	}
	w.Slots = max(w.Slots, inner.Slots)
	return body
}

// actions resolves the actions of composite states, and exit actions, once for themselves: what is wrong in
// them is reported here.
func (ro *Role) actions() {
	list := func(n *ast.Node) []model.Stmt {
		if n == nil {
			return nil
		}
		return (&stmts{Resolver: expr.In(&convert.Scope{Table: ro.Table, Own: ro.Names}), ro: ro}).list(n)
	}
	for _, c := range ro.composites {
		c.Entry, c.Exit = list(c.node.Get("entry")), list(c.node.Get("exit"))
	}
	for _, st := range ro.Machine.States {
		st.Exit = list(ro.nodes[st].Get("exit"))
	}
}

// inherited gives a state the handlers of the composite states around it. What the state itself says
// comes first. If it has no branch left whose guard holds, those of the state around it are tried.
func (ro *Role) inherited(st *model.State) {
	for _, c := range ro.around(st) {
		mine := map[*model.Event]bool{}
		for _, m := range ro.mentions(c.node) {
			m.owner = c
			ev := ro.event(m)
			if ev == nil {
				continue
			}
			if mine[ev] {
				ro.Errorf("FSM052", m.at, "state %s mentions %s twice", diag.Quote(c.Name), diag.Quote(ev.Name))
				continue
			}
			mine[ev] = true
			if ev.Kind == model.EventStart && st != ro.Machine.Initial {
				continue
			}
			old := st.Handlers[ev.Index]
			if old == nil || old.Mode == model.Handle && m.mode == model.Handle && len(old.Branches) > 0 &&
				old.Branches[len(old.Branches)-1].When != nil {
				ro.handler(st, ev, m)
			}
		}
	}
}

// begins has the machine do the entry actions of the composite states in which it begins.
func (ro *Role) begins(st *model.State) {
	ev := ro.Events["start"]
	if ev == nil {
		return // a monitor
	}
	for _, c := range ro.around(st) {
		if st == ro.Machine.Initial && st.Handlers[ev.Index] == nil && c.node.Get("entry") != nil {
			n := &ast.Node{Kind: ast.Map, Src: c.node.Src, Start: c.node.Start, End: c.node.End}
			ro.handler(st, ev, mention{event: ev.Name, at: c.Span, node: n})
		}
	}
}
