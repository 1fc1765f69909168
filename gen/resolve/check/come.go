package check

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/syntax"
)

// maxCome bounds how many parties may come to one instance, so that what they ask of others is told apart.
const maxCome = 15

// come resolves at which instances nobody is at first, and how many parties may come there: {c: 2}. A
// group stands for all its members.
func (r *checker) come(c *model.Check, in *parties, check *ast.Node) {
	e := check.Entry("come")
	if e == nil {
		return
	}
	if e.Value.Kind != ast.Map || len(e.Value.Entries) == 0 {
		r.Errorf("FSM100", e.Value.Span(), "`come` says to which instances how many parties may come").
			With("write `come: {a: 2}`; a group stands for all its members")
		return
	}
	list, named := make([]int, len(c.Instances)), *e.Value
	named.Entries = slices.DeleteFunc(slices.Clone(named.Entries), func(x ast.Entry) bool {
		y, err := syntax.Parse(x.Key.Text, x.Key.Part)
		id, isName := y.(*syntax.Ident)
		return err == nil && isName && r.isRole("FSM100", in, id, "parties come to instances")
	})
	r.each(list, in, &named, func(n *ast.Node) (int, bool) {
		v, ok := r.ConstIn(n, 1, maxCome, "how many may come")
		return int(v), ok
	})
	for i, n := range list {
		if inst := c.Instances[i]; n > 0 && inst.IsHostile() {
			r.Errorf("FSM100", e.Key.Span(), "%s is hostile: it has no machine that could begin or end",
				diag.Quote(inst.Name)).With("leave it out of `come`; it may be silent as long as it likes anyhow")
		} else {
			inst.Come = n
		}
	}
}

// comers reports parties that never come, because nobody makes room for them. The faults of the check are
// known.
func (r *checker) comers(c *model.Check, check *ast.Node) {
	ends := func(st *model.State) bool { return st.Final }
	for i, inst := range c.Instances {
		if inst.Come < 2 || inst.Role == nil || slices.ContainsFunc(inst.Role.States, ends) ||
			c.Faults != nil && c.Faults.Crash[i] > 0 {
			continue
		}
		r.Errorf("FSM100", check.Entry("come").Key.Span(),
			"only one party can come to %s: its role %s has no final state in which it could go, and it does not crash",
			diag.Quote(inst.Name), diag.Quote(inst.Role.Name)).
			With("write 1, give the role a final state, or say under `crash` that it may crash")
		return
	}
}
