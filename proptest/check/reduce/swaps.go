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
	tried := u.knowing() || u.toAll && u.receivers() > 1 && u.torn()
	for _, to := range permute(len(class)) {
		same := true
		for i, k := range to {
			same = same && class[i] == class[k]
		}
		if same && !slices.IsSorted(to) {
			f := Shuffle{Procs: to, Name: fmt.Sprintf("instances %v ", to), Tried: tried}
			if tried {
				f.indices = []permuted{{to: to}}
			}
			out = append(out, f)
		}
	}
	name = "the instances " + who + " are interchangeable"
	if tried {
		name += ", which was tried for each step, for machines know their numbers or a crash may cut short what " +
			"goes to several"
	}
	return out, name, nil
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
	for _, m := range u.machines {
		if why := selected(m.Model); why != "" {
			return why
		}
	}
	if why := u.said(); why != "" {
		return why
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

// knowing reports whether a machine can know the number of an instance.
func (u *uses) knowing() bool {
	known := u.addressed
	for _, inst := range u.check.Instances {
		known = known || !inst.IsHostile() && (looks(inst.Role) || numbered(inst.Role))
	}
	for _, m := range u.messages {
		known = known || slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return hasNode(f.Type) })
	}
	return known
}

// selected says what an instance selects together with something else, which is not exchanged.
func selected(m *model.Machine) string {
	several := func(keys []*model.Field) bool {
		return len(keys) > 1 && slices.ContainsFunc(keys, func(f *model.Field) bool { return hasNode(f.Type) })
	}
	for _, t := range m.Timers {
		if several(t.Keys) {
			return "the number of one is one of several keys of timer " + t.Name
		}
	}
	for _, p := range m.Parts {
		if several(p.Keys) {
			return "the number of one is one of several keys of part " + p.Name
		}
	}
	return ""
}

// said finds in claims what tells instances apart although each of them is named in the same way: their
// order, and their numbers in the place of others. What machines do with numbers is tried; see
// explore.Shuffle.
func (u *uses) said() string {
	for _, c := range u.check.Claims {
		for _, e := range append([]model.Expr{c.When, c.Expr}, c.Exprs...) {
			if tells(core.Of(e)) {
				return "claim " + c.Name + " orders them or computes with their numbers"
			}
		}
		for _, e := range c.Exprs {
			if hasNode(e.Type()) != hasNode(c.Exprs[0].Type()) {
				return "claim " + c.Name + " compares their numbers with others"
			}
		}
	}
	if tells(core.Of(u.check.Quiet)) {
		return "quiet orders them or computes with their numbers"
	}
	return ""
}

// tells reports whether e orders instances, computes with their numbers, or takes one for another number.
func tells(e core.Expr) bool {
	found := false
	core.Walk(e, func(x core.Expr) {
		t := x.Node().T
		switch x := x.(type) {
		case *core.Fit:
			found = found || hasNode(t) != hasNode(x.X.Node().T)
		case *core.Apply:
			use, of := x.Op.Info().Use, hasNode(x.Args[0].Node().T)
			for _, a := range x.Args {
				found = found || use == core.Computes && hasNode(a.Node().T)
			}
			if (use == core.Compares || use == core.Copies) && len(x.Args) == 2 && x.Op != core.Eq && x.Op != core.Ne {
				found = found || hasNode(x.Args[1].Node().T) && !of
			}
			if x.Op == core.Eq || x.Op == core.Ne {
				found = found || of != hasNode(x.Args[1].Node().T)
			}
		case *core.If:
			found = found || x.Form == core.FormIf && hasNode(x.Then.Node().T) != hasNode(x.Else.Node().T)
		case *core.Make:
			for i, y := range x.Elems {
				place := t.Elem
				if t.Kind == model.KindRecord {
					place = t.Fields[i].Type
				}
				found = found || hasNode(place) != hasNode(y.Node().T)
			}
		case *core.Fold:
			over := x.Values
			if x.Over != nil {
				over = x.Over.Node().T
			}
			found = found || x.How.Ordered() && hasNode(over)
		case *core.Index:
			if a := x.X.Node().T; a.Kind == model.KindArray {
				found = found || hasNode(a.Index) != hasNode(x.I.Node().T)
			} else {
				found = found || hasNode(x.I.Node().T)
			}
		case *core.Read:
			for _, step := range x.Path {
				for i, k := range step.Keys {
					found = found || hasNode(step.Part.Keys[i].Type) != hasNode(core.Bare(k).Node().T)
				}
			}
		}
	})
	return found
}

// looks reports whether a machine knows its number or those of others.
func looks(m *model.Machine) bool {
	return m.Sender != nil || slices.ContainsFunc(m.Params, func(v *model.Var) bool { return v.Self })
}

// arguments are the values of an instance's parameters but its own number; nil if one faults, which New
// reports.
func (u *uses) arguments(inst *model.Instance) (args [][]int64) {
	for i, e := range inst.Args {
		if inst.Role.Params[i].Self {
			continue
		}
		d := make([]int64, e.Type().Slots())
		if u.eval.Into(core.Of(e), d, nil, nil) != nil {
			return nil
		}
		args = append(args, d)
	}
	return args
}

// numbered reports whether a variable or field of m holds the number of an instance, or one selects
// something.
func numbered(m *model.Machine) bool {
	of := func(f *model.Field) bool { return hasNode(f.Type) }
	return slices.ContainsFunc(slices.Concat(m.Params, m.Vars), func(v *model.Var) bool { return hasNode(v.Type) }) ||
		slices.ContainsFunc(m.Events, func(ev *model.Event) bool { return slices.ContainsFunc(ev.Fields, of) }) ||
		slices.ContainsFunc(m.Timers, func(t *model.Timer) bool { return slices.ContainsFunc(t.Keys, of) }) ||
		slices.ContainsFunc(m.Parts, func(p *model.Part) bool {
			return slices.ContainsFunc(p.Keys, of) || numbered(p.Machine)
		})
}

func hasNode(t *model.Type) bool {
	if t == nil {
		return false
	}
	found := false
	leaves(t, func(t *model.Type) { found = found || t.Kind == model.KindNode })
	return found
}

// statement is a claim as text in a normal form, with two instances exchanged.
func statement(c *model.Claim, a, b *model.Instance) string {
	holds := normal(core.Of(c.Expr), a, b)
	if all, ok := core.Of(c.Expr).(*core.If); ok && c.Kind == model.Always && all.Form == core.FormAnd {
		// whichever of them fails or is false first, the claim is violated
		list := (&exchange{a: a, b: b}).operands(all, core.FormAnd)
		slices.Sort(list)
		holds = "all of " + strings.Join(list, ", ")
	}
	text := normal(core.Of(c.When), a, b) + " : " + holds + " :"
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

// number is the number of an instance, or of the one in whose place it is.
func (x *exchange) number(n int64) int64 {
	switch {
	case x.a == nil:
	case n == int64(x.a.Index):
		return int64(x.b.Index)
	case n == int64(x.b.Index):
		return int64(x.a.Index)
	}
	return n
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
	} else if isSum(e) {
		list = x.summands(e)
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

// isSum reports whether e is a sum whose order does not matter, as that of a count over instances.
func isSum(e core.Expr) bool {
	op, ok := e.(*core.Apply)
	return ok && op.Op == core.Add && !op.CanFail
}

// summands lists those of nested sums.
func (x *exchange) summands(e core.Expr) []string {
	if !isSum(e) {
		return []string{x.text(e)}
	}
	op := e.(*core.Apply)
	return append(x.summands(op.Args[0]), x.summands(op.Args[1])...)
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
		if e.T.Kind == model.KindNode && !e.IsText {
			return "instance " + fmt.Sprint(x.number(e.Value))
		}
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
