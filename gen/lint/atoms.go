package lint

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// atom is something whose value a handler looks at: a variable, a timer, the state of a part, or a
// field of the event.
type atom struct {
	name   string
	t      *model.Type
	offset int
	local  bool // in the frame of locals, else in the machine's value
	values [][]int64
	exact  bool // the handler cannot tell other values from these
}

// gatherer collects the atoms of expressions, and what is needed to choose values for them.
type gatherer struct {
	t        *trial
	atoms    []*atom
	numbers  []int64 // constants that are mentioned
	texts    []int64 // handles of the texts that are mentioned
	computes bool    // there is arithmetic, so that a value cannot stand for its neighbours
	beyond   bool    // something whose value cannot be chosen
	loops    int64   // turns of loops, those within others multiplied
	depth    int64   // turns of the loops around what is collected now
}

// cost estimates how many evaluations one trial takes.
func (g *gatherer) cost() int64 { return 1 + g.loops/16 }

// loop collects inside a loop over the values of a type or the elements of a list.
func (g *gatherer) loop(values *model.Type, over core.Expr, inside func()) {
	n := int64(1)
	if values != nil {
		n = values.Count()
	} else if t := over.Node().T; t.Kind == model.KindSet {
		n = t.Elem.Count()
	} else {
		n = int64(t.Cap)
	}
	outer := max(1, g.depth)
	g.depth = min(outer*max(1, n), 1<<40)
	g.loops = min(g.loops+g.depth, 1<<40)
	inside()
	g.depth = outer
}

func (g *gatherer) add(a atom) {
	for _, b := range g.atoms {
		if b.offset == a.offset && b.local == a.local {
			return
		}
	}
	g.atoms = append(g.atoms, &a)
}

// base returns the first slot of the machine at a path, if no key has to be evaluated.
func (g *gatherer) base(path []core.Step) (int, bool) {
	at := 0
	for _, step := range path {
		if len(step.Keys) > 0 {
			g.beyond = true
			return 0, false
		}
		at += step.Part.Offset
	}
	return at, true
}

func pathName(path []core.Step, name string) string {
	for i := len(path) - 1; i >= 0; i-- {
		name = path[i].Part.Name + "." + name
	}
	return name
}

// expr collects from an expression.
func (g *gatherer) expr(e core.Expr) {
	switch e := e.(type) {
	case nil:
		return
	case *core.Const:
		switch {
		case e.IsText:
			g.texts = append(g.texts, g.t.strs.Intern([]byte(e.Text)))
		case e.Num && e.T.Kind != model.KindBool:
			g.numbers = append(g.numbers, e.Value)
		}
	case *core.Read:
		g.read(e)
		return // its keys are beyond, if it has any
	case *core.Local:
		g.beyond = g.beyond || e.Local == nil
		for _, p := range g.t.h.Branches[0].Params {
			if e.Local != nil && p.Offset == e.Local.Offset && p.Name == e.Local.Name {
				g.add(atom{name: p.Name, t: p.Type, offset: p.Offset, local: true})
			}
		}
	case *core.Index:
		g.computes = true // an index is a position, whatever it is compared with
	case *core.Apply:
		switch e.Op {
		case core.Not, core.Eq, core.Ne, core.Lt, core.Le, core.Gt, core.Ge, core.Has:
		case core.Len: // of a text: those that are tried stand for others of any length
			g.computes = true
			g.beyond = g.beyond || e.Args[0].Node().T.Kind == model.KindBytes
		default:
			g.computes = true
		}
	case *core.Fold:
		g.computes = true
		g.loop(e.Values, e.Over, func() { core.Operands(e, g.expr) })
		return
	case *core.Observe:
		g.beyond = true
	}
	core.Operands(e, g.expr)
}

// read collects what an expression reads of the machine or a part.
func (g *gatherer) read(e *core.Read) {
	if e.What == core.ReadDown {
		g.beyond = true
		return
	}
	at, ok := g.base(e.Path)
	if !ok {
		return
	}
	switch e.What {
	case core.ReadVar:
		g.add(atom{name: pathName(e.Path, e.Var.Name), t: e.Var.Type, offset: at + e.Var.Offset})
	case core.ReadTimer:
		if len(e.Path) == 0 && e.Timer == g.t.h.Event.Timer {
			return
		}
		for i := range e.Timer.Count {
			g.add(atom{name: pathName(e.Path, interp.TimerName(e.Timer, i)), t: boolean,
				offset: at + e.Timer.Offset + i})
		}
	case core.ReadState: // the machine's own state is known
		if len(e.Path) > 0 {
			m := e.Path[len(e.Path)-1].Part.Machine
			g.add(atom{name: pathName(e.Path, "state"), t: states(m), offset: at})
		}
	}
}

var boolean = &model.Type{Kind: model.KindBool}

// states is a type whose values are a machine's states.
func states(m *model.Machine) *model.Type {
	t := &model.Type{Kind: model.KindEnum, Name: m.Name}
	for i, st := range m.States {
		t.Names, t.Codes = append(t.Names, st.Name), append(t.Codes, int64(i))
	}
	return t
}

// choose decides which values the atoms get.
func (g *gatherer) choose() {
	for _, a := range g.atoms {
		t := g.widened(a.t)
		if t.Count() <= maxValues {
			a.values, a.exact = all(t), true
			continue
		}
		a.values, a.exact = g.some(t)
	}
}

// widened gives opaque values and texts enough different values: one for each atom, and those that
// are mentioned.
func (g *gatherer) widened(t *model.Type) *model.Type {
	c := *t
	switch t.Kind {
	case model.KindOpaque, model.KindBytes:
		c.Lo, c.Hi = 0, int64(len(g.atoms))
		for i := int64(1); t.Kind == model.KindBytes && i <= c.Hi; i++ {
			g.t.strs.Intern([]byte{'a' + byte(i%26)})
		}
		for _, n := range append(g.numbers, g.texts...) {
			if n >= 0 && n < 64 {
				c.Hi = max(c.Hi, n)
			}
		}
		if t.Kind == model.KindOpaque && t.Bits < 8 {
			c.Hi = min(c.Hi, 1<<t.Bits-1)
		}
		return &c
	case model.KindOptional, model.KindArray, model.KindList:
		c.Elem = g.widened(t.Elem)
		return &c
	case model.KindRecord:
		c.Fields = nil
		for _, f := range t.Fields {
			w := *f
			w.Type = g.widened(f.Type)
			c.Fields = append(c.Fields, &w)
		}
		return &c
	}
	return t
}

// all lists the values of a small type.
func all(t *model.Type) [][]int64 {
	cur := make([]int64, t.Slots())
	interp.Zero(t, cur)
	var out [][]int64
	for {
		out = append(out, slices.Clone(cur))
		if !interp.Next(t, cur) {
			return out
		}
	}
}

// some picks values of a large type. Of a number it picks those near its bounds and near what it
// can be compared with, which are enough as long as nothing is computed.
func (g *gatherer) some(t *model.Type) (values [][]int64, exact bool) {
	inner, optional := t, t.Kind == model.KindOptional
	if optional {
		inner = t.Elem
	}
	if inner.Kind != model.KindInt && inner.Kind != model.KindNode {
		zero := make([]int64, t.Slots())
		interp.Zero(t, zero)
		return [][]int64{zero}, false
	}
	near := int64(len(g.atoms))
	seen := map[int64]bool{}
	for _, n := range append([]int64{inner.Lo, inner.Hi}, g.numbers...) {
		for d := -near; d <= near; d++ {
			if v := n + d; v >= inner.Lo && v <= inner.Hi {
				seen[v] = true
			}
		}
	}
	if optional {
		values = append(values, []int64{0, 0})
	}
	for _, v := range sorted(seen) {
		if optional {
			values = append(values, []int64{1, v})
		} else {
			values = append(values, []int64{v})
		}
	}
	return values, !g.computes
}

func sorted(set map[int64]bool) []int64 {
	out := make([]int64, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}
