package versions

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// carrier moves the expressions of a check to the instances of a mixed pair: what they say of an instance is said of
// the machine of the version that the instance has there.
type carrier struct {
	instances []*model.Instance
	monitors  map[string]*model.Instance // of several instances, by name; those that are not in the mix are missing
	message   func(*model.Message) (*model.Message, string)
	// absent says that a state which the version has not is one in which it never is. Otherwise it is a reason.
	absent bool
	// watch, if set, is told of each instance, and nothing is carried.
	watch func(*model.Instance)
	// why is the first thing that the version has not, in words.
	why string
}

// lacks notes that something is not there.
func (c *carrier) lacks(format string, args ...any) {
	if c.why == "" {
		c.why = fmt.Sprintf(format, args...)
	}
}

// list carries expressions.
func (c *carrier) list(in []model.Expr) []model.Expr {
	out := make([]model.Expr, len(in))
	for i, e := range in {
		out[i] = c.expr(e)
	}
	return out
}

// expr carries an expression. What it returns is of no use if why is set afterwards.
func (c *carrier) expr(e model.Expr) model.Expr {
	switch e := e.(type) {
	case *model.Some:
		n := *e
		n.X = c.expr(e.X)
		return &n
	case *model.Unwrap:
		n := *e
		n.X = c.expr(e.X)
		return &n
	case *model.VarRef:
		return c.value(e)
	case *model.StateTest:
		return c.state(e)
	case *model.Down:
		n := *e
		n.Inst, _ = c.at(e.Inst, nil)
		return &n
	case *model.TimerTest:
		return c.timer(e)
	case *model.FieldRef:
		n := *e
		n.X = c.expr(e.X)
		return &n
	case *model.Index:
		n := *e
		n.X, n.I = c.expr(e.X), c.expr(e.I)
		return &n
	case *model.Unary:
		n := *e
		n.X = c.expr(e.X)
		return &n
	case *model.Binary:
		n := *e
		n.X, n.Y = c.expr(e.X), c.expr(e.Y)
		return &n
	case *model.Call:
		n := *e
		n.Args = c.list(e.Args)
		return &n
	case *model.RecordLit:
		n := *e
		n.Fields = c.list(e.Fields)
		return &n
	case *model.ListLit:
		n := *e
		n.Elems = c.list(e.Elems)
		return &n
	case *model.Build:
		n := *e
		n.Over, n.If, n.Elem = c.expr(e.Over), c.expr(e.If), c.expr(e.Elem)
		return &n
	case *model.Find:
		n := *e
		n.Over, n.X = c.expr(e.Over), c.expr(e.X)
		return &n
	case *model.Quantified:
		n := *e
		n.Over, n.X = c.expr(e.Over), c.expr(e.X)
		return &n
	case *model.ChanLen:
		return c.length(e)
	}
	return e // a constant, a local, the sender, or nothing
}

// at is the instance of the mix in the place of one of a check, and the machine there to which a path leads.
func (c *carrier) at(inst *model.Instance, path model.Path) (*model.Instance, *model.Machine) {
	if inst == nil {
		return nil, nil
	}
	if c.watch != nil {
		c.watch(inst)
		return inst, nil
	}
	if inst.Monitor {
		own := c.monitors[inst.Name]
		if own == nil {
			c.lacks("the monitor %s is not in both versions as it is", inst.Name)
			return inst, inst.Role
		}
		return own, own.Role
	}
	own := c.instances[inst.Index]
	m, _ := c.follow(inst.Name, own.Role, path)
	return own, m
}

// follow goes along a path by the names of parts. It returns the machine there, and the path with the parts of that
// version; nil if a part is missing.
func (c *carrier) follow(name string, m *model.Machine, path model.Path) (*model.Machine, model.Path) {
	var out model.Path
	for _, step := range path {
		k := slices.IndexFunc(m.Parts, func(p *model.Part) bool { return p.Name == step.Part.Name })
		if k < 0 || m.Parts[k].Count != step.Part.Count {
			c.lacks("%s has no part %s as in the other version", name, step.Part.Name)
			return nil, nil
		}
		out = append(out, model.PathStep{Part: m.Parts[k], Keys: c.list(step.Keys)})
		m = m.Parts[k].Machine
	}
	return m, out
}

// place is where an expression over an instance looks in the mix.
func (c *carrier) place(inst *model.Instance, path model.Path) (*model.Instance, *model.Machine, model.Path) {
	own, m := c.at(inst, nil)
	if m == nil {
		return own, nil, path
	}
	m, way := c.follow(inst.Name, m, path)
	return own, m, way
}

func (c *carrier) value(e *model.VarRef) model.Expr {
	if e.Inst == nil {
		return e
	}
	n := *e
	var m *model.Machine
	if n.Inst, m, n.Path = c.place(e.Inst, e.Path); m == nil {
		return e
	}
	for _, v := range slices.Concat(m.Params, m.Vars) {
		if v.Name != e.Var.Name {
			continue
		}
		if why := layout(e.Var.Type, v.Type); why != "" {
			c.lacks("%s.%s has another type in the two versions (%s)", e.Inst.Name, v.Name, why)
		}
		n.Var, n.T = v, v.Type
		return &n
	}
	c.lacks("%s has no %s in the other version", e.Inst.Name, e.Var.Name)
	return e
}

func (c *carrier) state(e *model.StateTest) model.Expr {
	if e.Inst == nil {
		return e
	}
	n := *e
	var m *model.Machine
	if n.Inst, m, n.Path = c.place(e.Inst, e.Path); m == nil {
		return e
	}
	n.States = counterparts(m, e.States)
	switch {
	case len(n.States) > 0:
		return &n
	case c.absent:
		return &model.Lit{ExprBase: model.ExprBase{T: e.T, Span: e.Span}}
	}
	c.lacks("%s has no state %s in the other version", e.Inst.Name, e.States[0].Name)
	return e
}

// counterparts are the states of a machine with the names of others. States that are all those of one state around
// them are all those of the state of its name.
func counterparts(m *model.Machine, list []*model.State) (out []*model.State) {
	for _, s := range list {
		for in := s.In; in != nil; in = in.In {
			if !slices.Equal(in.States, list) {
				continue
			}
			for _, t := range m.States {
				for own := t.In; own != nil; own = own.In {
					if own.Name == in.Name {
						return own.States
					}
				}
			}
		}
		for _, t := range m.States {
			if t.Name == s.Name {
				out = append(out, t)
			}
		}
	}
	return out
}

func (c *carrier) timer(e *model.TimerTest) model.Expr {
	if e.Inst == nil {
		return e
	}
	n := *e
	var m *model.Machine
	if n.Inst, m, n.Path = c.place(e.Inst, e.Path); m == nil {
		return e
	}
	k := slices.IndexFunc(m.Timers, func(t *model.Timer) bool { return t.Name == e.Timer.Name })
	if k < 0 || m.Timers[k].Count != e.Timer.Count {
		c.lacks("%s has no timer %s as in the other version", e.Inst.Name, e.Timer.Name)
		return e
	}
	n.Timer, n.Keys = m.Timers[k], c.list(e.Keys)
	return &n
}

func (c *carrier) length(e *model.ChanLen) model.Expr {
	n := *e
	n.From, _ = c.at(e.From, nil)
	n.To, _ = c.at(e.To, nil)
	if e.Message != nil {
		var why string
		if n.Message, why = c.message(e.Message); why != "" {
			c.lacks("%s", why)
		}
	}
	return &n
}

// layout says in words what keeps values of one type from being values of another, slot by slot; empty if nothing
// does. The ranges of numbers may differ, and an enumeration may have more names at its end.
func layout(a, b *model.Type) string {
	if a.Kind != b.Kind {
		if number(a) && number(b) {
			return ""
		}
		return "another kind of type"
	}
	switch a.Kind {
	case model.KindEnum:
		n := min(len(a.Names), len(b.Names))
		if !slices.Equal(a.Names[:n], b.Names[:n]) {
			return "other names"
		}
	case model.KindOpaque:
		if a.Bits != b.Bits || a.Float != b.Float {
			return "another width"
		}
	case model.KindBytes:
		if a.Binary != b.Binary {
			return "text, and bytes"
		}
	case model.KindRecord:
		return fields(a.Fields, b.Fields)
	case model.KindArray:
		if a.Index.Count() != b.Index.Count() || a.Index.Lowest() != b.Index.Lowest() {
			return "another number of elements"
		}
		return layout(a.Elem, b.Elem)
	case model.KindList:
		if a.Cap != b.Cap {
			return "another bound"
		}
		return layout(a.Elem, b.Elem)
	case model.KindSet:
		if a.Elem.Lowest() != b.Elem.Lowest() {
			return "other elements"
		}
		return layout(a.Elem, b.Elem)
	case model.KindOptional:
		return layout(a.Elem, b.Elem)
	}
	return ""
}

func number(t *model.Type) bool { return t.Kind == model.KindInt || t.Kind == model.KindNode }

// fields is [layout] for lists of fields, which must have the same names in the same order.
func fields(a, b []*model.Field) string {
	if !slices.EqualFunc(a, b, func(x, y *model.Field) bool { return x.Name == y.Name }) {
		return "other fields"
	}
	for i := range a {
		if why := layout(a[i].Type, b[i].Type); why != "" {
			return a[i].Name + ": " + why
		}
	}
	return ""
}
