package reduce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/model"
)

// swaps lists the permutations of instances that have the same role and the same
// arguments, without the identity.
func (u *uses) swaps() (out []Shuffle, name string, refused []string) {
	all := u.check.Instances
	class := make([]string, len(all)) // equal for equal instances
	var equal []string
	for i, inst := range all {
		class[i] = fmt.Sprint(inst.Role.Name, u.arguments(inst))
	}
	for i := range class {
		if slices.Index(class, class[i]) != i || slices.Contains(class[i+1:], class[i]) {
			equal = append(equal, all[i].Name)
		}
	}
	if len(equal) == 0 {
		return nil, "", nil
	}
	who := strings.Join(equal, ", ")
	if why := u.unequal(class); why != "" {
		return nil, "", []string{fmt.Sprintf("the instances %s are not interchangeable: %s", who, why)}
	}
	if len(class) > maxIndices {
		return nil, "", []string{fmt.Sprintf("the instances %s are too many to try all their permutations", who)}
	}
	for _, to := range permute(len(class)) {
		same := true
		for i, k := range to {
			same = same && class[i] == class[k]
		}
		if same && !slices.IsSorted(to) {
			out = append(out, Shuffle{Procs: to, Name: fmt.Sprintf("instances %v ", to)})
		}
	}
	return out, "the instances " + who + " are interchangeable", nil
}

// unequal says why equal instances do not behave the same, or a claim does not
// speak of all of them in the same way.
func (u *uses) unequal(class []string) string {
	if u.addressed != "" {
		return "they are addressed by number (" + u.addressed + ")"
	}
	for _, inst := range u.check.Instances {
		if v := numbered(inst.Role); v != "" {
			return v + " holds the number of an instance"
		}
	}
	for _, m := range u.messages {
		for _, f := range m.Fields {
			if hasNode(f.Type) {
				return m.Name + " carries the number of an instance"
			}
		}
	}
	for i := range class {
		for k := i + 1; k < len(class); k++ {
			if class[i] != class[k] {
				continue
			}
			a, b := u.check.Instances[i], u.check.Instances[k]
			for _, c := range u.check.Claims {
				if statement(c, nil, nil) != statement(c, a, b) {
					return "claim " + c.Name + " does not say the same of them"
				}
			}
			if normal(u.check.Quiet) != normal(exchanged(u.check.Quiet, a, b)) {
				return "quiet does not say the same of them"
			}
		}
	}
	return ""
}

// arguments are the values of an instance's parameters; nil if one faults, which New reports.
func (u *uses) arguments(inst *model.Instance) (args [][]int64) {
	for _, e := range inst.Args {
		d := make([]int64, e.Type().Slots())
		if u.eval.Into(core.Of(e), d, nil, nil) != nil {
			return nil
		}
		args = append(args, d)
	}
	return args
}

// numbered names a variable or field of m that holds the number of an instance.
func numbered(m *model.Machine) string {
	for _, v := range slices.Concat(m.Params, m.Vars) {
		if hasNode(v.Type) {
			return v.Name
		}
	}
	for _, ev := range m.Events {
		for _, f := range ev.Fields {
			if hasNode(f.Type) {
				return ev.Name
			}
		}
	}
	for _, p := range m.Parts {
		if v := numbered(p.Machine); v != "" {
			return v
		}
	}
	return ""
}

func hasNode(t *model.Type) bool {
	found := false
	leaves(t, func(t *model.Type) { found = found || t.Kind == model.KindNode })
	return found
}

// statement is a claim as text in a normal form, with two instances exchanged.
func statement(c *model.Claim, a, b *model.Instance) string {
	text := normal(exchanged(c.When, a, b)) + " : " + normal(exchanged(c.Expr, a, b)) + " :"
	var list []string
	for _, e := range c.Exprs {
		list = append(list, normal(exchanged(e, a, b)))
	}
	slices.Sort(list)
	return text + strings.Join(list, " , ")
}

// exchanged puts a in the place of b in e, and b in that of a.
func exchanged(e model.Expr, a, b *model.Instance) model.Expr {
	if e == nil || a == nil {
		return e
	}
	other := func(i *model.Instance) *model.Instance {
		switch i {
		case a:
			return b
		case b:
			return a
		}
		return i
	}
	out := model.Rewrite(e, func(c model.Expr) model.Expr { return exchanged(c, a, b) })
	switch x := out.(type) {
	case *model.VarRef:
		c := *x
		c.Inst = other(x.Inst)
		return &c
	case *model.StateTest:
		c := *x
		c.Inst = other(x.Inst)
		return &c
	case *model.TimerTest:
		c := *x
		c.Inst = other(x.Inst)
		return &c
	case *model.ChanLen:
		c := *x
		c.From, c.To = other(x.From), other(x.To)
		return &c
	}
	return out
}

// normal writes e so that the order of operands that may be exchanged does not
// matter.
func normal(e model.Expr) string {
	switch e := e.(type) {
	case *model.Binary:
		switch e.Op {
		case model.OpAnd, model.OpOr:
			list := operands(e, e.Op)
			if !canFault(e) { // else the order may decide what is evaluated
				slices.Sort(list)
			}
			return "(" + strings.Join(list, " "+e.Op.String()+" ") + ")"
		case model.OpEq, model.OpNe:
			list := []string{normal(e.X), normal(e.Y)}
			slices.Sort(list)
			return "(" + strings.Join(list, " "+e.Op.String()+" ") + ")"
		}
		return "(" + normal(e.X) + " " + e.Op.String() + " " + normal(e.Y) + ")"
	case *model.Unary:
		return e.Op.String() + normal(e.X)
	case *model.Find:
		q := *e
		q.X = &model.Lit{ExprBase: model.ExprBase{T: q.X.Type()}}
		return model.MeaningString(&q) + normal(e.X)
	case *model.Quantified:
		q := *e
		q.X = &model.Lit{ExprBase: model.ExprBase{T: e.T}}
		return model.MeaningString(&q) + normal(e.X)
	}
	return model.MeaningString(e)
}

// operands lists those of nested operations of one kind.
func operands(e model.Expr, op model.Op) []string {
	if b, ok := e.(*model.Binary); ok && b.Op == op {
		return append(operands(b.X, op), operands(b.Y, op)...)
	}
	return []string{normal(e)}
}

// canFault reports whether e may have no value.
func canFault(e model.Expr) bool {
	found := false
	model.Walk(e, func(e model.Expr) {
		switch e := e.(type) {
		case *model.Unwrap:
			found = true
		case *model.Index:
			found = found || e.X.Type().Kind == model.KindList
		case *model.Binary:
			found = found || e.Op == model.OpDiv || e.Op == model.OpMod
		case *model.Call:
			found = found || e.Fn == model.FnFirst || e.Fn == model.FnTail || e.Fn == model.FnAppend
		}
	})
	return found
}
