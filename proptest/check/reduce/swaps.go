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
		class[i] = fmt.Sprint(inst.Role.Name, u.arguments(inst), u.fate(inst))
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

// fate is what may happen to an instance besides what its role says. A hostile one is like no other.
func (u *uses) fate(inst *model.Instance) string {
	if inst.IsHostile() {
		return "hostile " + inst.Name
	}
	at := func(list []int) int {
		if inst.Index < len(list) {
			return list[inst.Index]
		}
		return 0
	}
	out := []int{inst.Come}
	if f := u.check.Faults; f != nil {
		out = append(out, at(f.Crash), at(f.Restart), int(f.Bridge>>inst.Index&1))
	}
	if t := u.check.Time; t != nil {
		out = append(out, at(t.Drift))
	}
	return fmt.Sprint(out)
}

// unequal says why equal instances do not behave the same, or a claim does not
// speak of all of them in the same way.
func (u *uses) unequal(class []string) string {
	if u.addressed != "" {
		return "they are addressed by number (" + u.addressed + ")"
	}
	if most := u.receivers(); most > 1 && u.toAll != "" && u.torn() {
		return "a crash may cut short what goes to all (" + u.toAll + "), and that goes in their order"
	}
	for _, inst := range u.check.Instances {
		if inst.IsHostile() {
			continue
		}
		if looks(inst.Role) {
			return "role " + inst.Role.Name + " looks at self or sender"
		}
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
			if quiet := core.Of(u.check.Quiet); normal(quiet, nil, nil) != normal(quiet, a, b) {
				return "quiet does not say the same of them"
			}
		}
	}
	return ""
}

// receivers is to how many others at most something goes that is for all.
func (u *uses) receivers() int {
	n := -1
	for _, inst := range u.check.Instances {
		if !inst.IsHostile() {
			n++
		}
	}
	return n
}

// torn reports whether an instance may crash in the course of a step.
func (u *uses) torn() bool {
	f := u.check.Faults
	return f != nil && !f.Atomic && slices.ContainsFunc(f.Crash, func(n int) bool { return n > 0 })
}

// looks reports whether a machine knows its number or those of others.
func looks(m *model.Machine) bool {
	return m.Sender != nil || slices.ContainsFunc(m.Params, func(v *model.Var) bool { return v.Self })
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
	text := normal(core.Of(c.When), a, b) + " : " + normal(core.Of(c.Expr), a, b) + " :"
	var list []string
	for _, e := range c.Exprs {
		list = append(list, normal(core.Of(e), a, b))
	}
	slices.Sort(list)
	return text + strings.Join(list, " , ")
}

// normal writes e with a in the place of b and b in that of a (nil: as it is), so that the order of
// operands that may be exchanged does not matter. Equal texts mean the same; e has no locals but
// those that it binds. A nil e is empty.
func normal(e core.Expr, a, b *model.Instance) string {
	return (&exchange{a: a, b: b}).text(e)
}

// exchange writes two instances in each other's place, and locals as numbers, the outermost 0.
type exchange struct {
	a, b  *model.Instance
	bound []*model.Local
}

func (x *exchange) instance(i *model.Instance) string {
	switch {
	case i == nil:
		return ""
	case i == x.a:
		i = x.b
	case i == x.b:
		i = x.a
	}
	return i.Name
}

func (x *exchange) text(e core.Expr) string {
	if e == nil {
		return ""
	}
	if f, ok := e.(*core.Fold); ok {
		x.bound = append(x.bound, f.Local)
		defer func() { x.bound = x.bound[:len(x.bound)-1] }()
	}
	var list []string
	if form, ok := sorted(e); ok {
		list = x.operands(e, form)
		slices.Sort(list)
	} else {
		core.Operands(e, func(y core.Expr) { list = append(list, x.text(y)) })
		if op, ok := e.(*core.Apply); ok && (op.Op == core.Eq || op.Op == core.Ne) {
			slices.Sort(list)
		}
	}
	return x.itself(e) + "(" + strings.Join(list, ", ") + ")"
}

// sorted reports whether e is && or || of operands whose order does not matter: where one can fail
// it may decide what is evaluated.
func sorted(e core.Expr) (core.Form, bool) {
	i, ok := e.(*core.If)
	if !ok || i.CanFail || i.Form != core.FormAnd && i.Form != core.FormOr {
		return 0, false
	}
	return i.Form, true
}

// operands lists those of nested operations of one form.
func (x *exchange) operands(e core.Expr, form core.Form) []string {
	i, ok := e.(*core.If)
	switch {
	case ok && i.Form == form && form == core.FormAnd:
		return append(x.operands(i.Cond, form), x.operands(i.Then, form)...)
	case ok && i.Form == form:
		return append(x.operands(i.Cond, form), x.operands(i.Else, form)...)
	}
	return []string{x.text(e)}
}

// itself writes what e is, without its operands.
func (x *exchange) itself(e core.Expr) string {
	switch e := e.(type) {
	case *core.Const:
		return fmt.Sprintf("%d%q%v", e.Value, e.Text, e.IsText)
	case *core.Local:
		return fmt.Sprint("local ", slices.Index(x.bound, e.Local))
	case *core.Read:
		return x.read(e)
	case *core.Field:
		if e.Field == nil {
			return "value"
		}
		return "." + e.Field.Name
	case *core.Index:
		return "[]"
	case *core.Apply:
		return e.Op.String()
	case *core.If:
		return fmt.Sprint("if ", e.Form)
	case *core.Make:
		return "make " + model.TypeString(e.T)
	case *core.Fold:
		over := ""
		if e.Values != nil {
			over = model.TypeString(e.Values)
		}
		return fmt.Sprint("fold ", e.How, " ", over, e.Where != nil, e.Elem != nil)
	case *core.Fit:
		return "as " + model.TypeString(e.T)
	case *core.Observe:
		l := e.Of
		text := fmt.Sprint("len ", l.Self, l.Out, l.News, l.Over, x.instance(l.From), "->", x.instance(l.To))
		if l.Message != nil {
			text += " " + l.Message.Name
		}
		return text
	}
	panic(fmt.Sprintf("reduce: unknown expression %T", e))
}

func (x *exchange) read(e *core.Read) string {
	text := x.instance(e.Inst)
	for _, s := range e.Path {
		text += "." + s.Part.Name
	}
	switch e.What {
	case core.ReadVar:
		return text + "." + e.Var.Name
	case core.ReadTimer:
		return text + " timer " + e.Timer.Name
	case core.ReadDown:
		return text + " down"
	}
	for _, st := range e.Is {
		text += " in " + st.Name
	}
	return text
}
