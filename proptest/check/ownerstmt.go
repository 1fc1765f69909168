package check

import "github.com/parley-go/parley/gen/model"

// machine checks a machine and its parts; self: all its values belong to one
// index of the machine around it.
func (o *owners) machine(m *model.Machine, self bool) {
	key := ownedMachine{m, self}
	if o.seen[key] || o.why != "" {
		return
	}
	o.seen[key] = true
	for _, v := range m.Vars {
		if o.holds(v.Type) && !self && !o.inArray(v.Type) {
			o.fail("%s belongs to none (%s)", v.Name, place(v.Span))
		}
	}
	for _, v := range m.Params {
		if o.holds(v.Type) && !self && !o.inArray(v.Type) {
			o.fail("%s belongs to none (%s)", v.Name, place(v.Span))
		}
	}
	for _, st := range m.States {
		o.stmts(frame{self, map[*model.Local]string{}}, st.Entry)
	}
	for _, t := range m.Transitions {
		f := frame{self, map[*model.Local]string{}}
		o.bind(f, t.Event.Fields, t.Params)
		o.check(f, t.When)
		o.stmts(f, t.Body)
	}
	for _, p := range m.Parts {
		o.part(p, self)
	}
}

// part checks a part and what its messages become.
func (o *owners) part(p *model.Part, self bool) {
	if o.keyed(p) && self {
		o.fail("parts with that index are inside each other (%s)", place(p.Span))
		return
	}
	o.machine(p.Machine, self || o.keyed(p))
	if p.To != nil {
		f := frame{self, map[*model.Local]string{}}
		o.bind(f, p.Keys, p.KeyLocals)
		o.check(f, p.To)
	}
	for i, ps := range p.Sends {
		if ps == nil {
			continue
		}
		f := frame{self, map[*model.Local]string{}}
		fields := append(append([]*model.Field{}, p.Keys...), p.Machine.Messages[i].Fields...)
		o.bind(f, fields, append(append([]*model.Local{}, p.KeyLocals...), ps.Params...))
		o.stmt(f, ps.Send)
	}
}

func (o *owners) stmts(f frame, list []model.Stmt) {
	for _, s := range list {
		o.stmt(f, s)
	}
}

func (o *owners) stmt(f frame, s model.Stmt) {
	switch s := s.(type) {
	case *model.Set:
		o.check(f, s.Value)
		o.same(o.place(f, s), o.owner(f, s.Value))
	case *model.Send:
		o.gives(f, f, s.Message.Fields, s.Fields, nobody)
		o.check(f, s.To)
	case *model.ReportStmt:
		o.gives(f, f, s.Report.Fields, s.Fields, nobody)
	case *model.Run:
		self := nobody
		to := frame{self: f.self}
		if o.keyed(s.Part) {
			self, to.self = o.name(f, s.Keys[0]), true
		}
		for _, k := range s.Keys {
			o.check(f, k)
		}
		o.gives(f, to, s.Event.Fields, s.Args, self)
	case *model.If:
		o.check(f, s.Cond)
		o.stmts(f, s.Then)
		o.stmts(f, s.Else)
	case *model.Each:
		o.check(f, s.Over)
		o.over(f, s.Local, s.Over)
		o.stmts(f, s.Body)
	}
}

// place says what the place that is set belongs to.
func (o *owners) place(f frame, s *model.Set) string {
	if !o.holds(s.Var.Type) {
		return nobody
	}
	w := o.variable(f, &model.VarRef{ExprBase: model.ExprBase{T: s.Var.Type, Span: s.Span}, Var: s.Var})
	t := s.Var.Type
	for _, sel := range s.Select {
		switch {
		case sel.Field != nil:
			t = sel.Field.Type
			continue
		case w == theirs && t.Kind == model.KindArray && tagOf(t.Index) == o.index:
			w = o.name(f, sel.Index)
		}
		o.check(f, sel.Index)
		t = t.Elem
	}
	if !o.holds(t) {
		return nobody
	}
	return w
}
