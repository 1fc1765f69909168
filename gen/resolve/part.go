package resolve

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// checkImports resolves each imported unit once by itself, so that its own
// faults are reported in its own file.
func (r *resolver) checkImports() {
	n := r.root.Get("import")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		r.importOK(r.unit.Imports[e.Key.Text])
	}
}

// importOK reports the faults of an imported unit and whether it has none.
func (r *resolver) importOK(u *Unit) bool {
	if u == nil {
		return false
	}
	key := use{diag.Span{File: u.Path}, "import"}
	bad := use{diag.Span{File: u.Path}, "bad import"}
	if r.used[key] {
		return !r.used[bad]
	}
	r.used[key] = true
	sub := r.sub(u, nil)
	sub.declarations()
	sub.checkImports()
	sub.bodies()
	if sub.HasErrors() {
		r.used[bad] = true
		r.Collector.Join(sub.Collector)
		return false
	}
	return true
}

// sub makes the resolver of an imported unit; subst replaces some of its types.
func (r *resolver) sub(u *Unit, subst map[string]*model.Type) *resolver {
	s := newResolver(u, Config{}, r.shared)
	s.imported, s.special, s.subst, s.nodeHi, s.outer = true, r.special, subst, r.nodeHi, true
	return s
}

func (ro *role) declareParts() {
	n := ro.node.Get("parts")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		p := &model.Part{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Index: len(ro.m.Parts), Count: 1, Span: e.Key.Span()}
		if !ro.declare(e.Key, "part", p) {
			continue
		}
		ro.m.Parts = append(ro.m.Parts, p)
		if e.Value.Kind != ast.Map {
			ro.r.Errorf("FSM009", e.Key.Span(), "part %s has no `machine`", diag.Quote(p.Name))
			continue
		}
		ro.part(p, e.Value)
	}
}

func (ro *role) part(p *model.Part, n *ast.Node) {
	r := ro.r
	keysOK := ro.partKeys(p, n.Get("key"))
	child := ro.partMachine(p, n)
	if child == nil || !keysOK {
		p.Machine = nil
		return
	}
	p.Machine = child.m
	if ro.m.Sender == nil {
		ro.m.Sender = child.m.Sender
	}
	ro.partArgs(p, n, child)
	p.Offset = int(ro.size)
	if !ro.grow(int64(p.Count)*int64(child.m.Size), p.Span) {
		p.Machine = nil
		return
	}
	for _, rep := range child.m.Reports {
		ev := &model.Event{Kind: model.EventReport, Name: p.Name + "." + rep.Name, Doc: rep.Doc, Part: p, Report: rep, Span: p.Span}
		ev.Fields = append(append([]*model.Field{}, p.Keys...), rep.Fields...)
		ev.Fields = r.lineUp(ev.Fields)
		ro.addEvent(ev)
	}
	ev := &model.Event{Kind: model.EventFinished, Name: p.Name + ".finished", Part: p, Span: p.Span}
	ev.Fields = append([]*model.Field{}, p.Keys...)
	ro.addEvent(ev)
	ro.partTo(p, n.Get("to"))
	ro.partSends(p, n.Get("send"), child)
}

// partTo resolves who the part's peer is.
func (ro *role) partTo(p *model.Part, n *ast.Node) {
	if n == nil {
		return
	}
	s := &scope{r: ro.r, ro: ro, noParts: true}
	s.push(p.KeyLocals)
	if x := s.number(ro.r.parse(n)); x != nil {
		p.To = s.coerce(x, ro.r.basicType("instance", n.Span()))
	}
	p.ToLocals = s.max
}

// lineUp gives fields that come from several owners one numbering.
func (r *resolver) lineUp(fields []*model.Field) []*model.Field {
	out := make([]*model.Field, len(fields))
	off := 0
	for i, f := range fields {
		c := *f
		c.Index, c.Offset = i, off
		off += f.Type.Slots()
		out[i] = &c
	}
	return out
}

func (ro *role) partKeys(p *model.Part, n *ast.Node) bool {
	fields, count, ok := ro.r.keyFields(n, "the part")
	if !ok {
		return false
	}
	p.Keys, p.Count = fields, count
	for _, f := range fields {
		l := &model.Local{Name: f.Name, Type: f.Type, Offset: f.Offset}
		ro.r.noteLocal(l, f.Span, false)
		p.KeyLocals = append(p.KeyLocals, l)
	}
	return true
}

// partMachine finds the role that the part runs.
func (ro *role) partMachine(p *model.Part, n *ast.Node) *role {
	machine := n.Get("machine")
	if machine == nil {
		ro.r.Errorf("FSM009", p.Span, "part %s has no `machine`", diag.Quote(p.Name))
		return nil
	}
	if !strings.Contains(machine.Text, ".") && ro.r.root.Get("import").Entry(machine.Text) == nil {
		return ro.ownRole(p, n, machine)
	}
	return ro.importedRole(p, n, machine)
}

// ownRole finds a role of the same file. It is completed first: what it sends is what the part sends.
func (ro *role) ownRole(p *model.Part, n, machine *ast.Node) *role {
	r := ro.r
	e := r.root.Get("roles").Entry(machine.Text)
	if e == nil || e.Value.Kind != ast.Map {
		r.unknown("FSM021", machine, "role or import", append(r.root.Get("roles").Keys(), r.root.Get("import").Keys()...))
		return nil
	}
	if t := n.Entry("types"); t != nil {
		r.Errorf("FSM061", t.Key.Span(), "the part is a role of this file and has its types").With("leave out `types`")
		return nil
	}
	child := r.role(*e)
	r.refer(machine.Span(), child.m.Span)
	if child.declaring {
		r.Errorf("FSM064", machine.Span(), "role %s would be inside itself", diag.Quote(child.m.Name)).See(child.m.Span, "declared here").
			With("what two machines both need is a third one; parts tell their parents by reports")
		return nil
	}
	r.use(child.m.Span)
	child.complete()
	return child
}

// importedRole resolves the imported unit anew with the part's types.
func (ro *role) importedRole(p *model.Part, n, machine *ast.Node) *role {
	r := ro.r
	name, roleName, _ := strings.Cut(machine.Text, ".")
	entry := r.root.Get("import").Entry(name)
	if entry == nil {
		r.unknownAt("FSM021", machine.Part(0, len(name)), name, "import", r.root.Get("import").Keys())
		return nil
	}
	r.use(entry.Key.Span())
	r.refer(machine.Part(0, len(name)), entry.Key.Span())
	u := r.unit.Imports[name]
	subst, ok := ro.substitution(n.Get("types"), u)
	if !r.importOK(u) || !ok {
		return nil
	}
	if r.shared.depth++; r.shared.depth > maxParts {
		r.Errorf("FSM042", p.Span, "parts of parts come to more than %d machines", maxParts)
		return nil
	}
	sub := r.sub(u, subst)
	sub.declarations()
	sub.bodies()
	if sub.HasErrors() {
		first := sub.List().Errors()[0]
		r.Errorf("FSM090", machine.Span(), "%s does not work with these types: %s", diag.Quote(name), first.Message).
			See(first.Span, "here")
		return nil
	}
	child := sub.roles[roleName]
	if child == nil {
		r.unknownAt("FSM021", machine.Part(min(len(name)+1, len(machine.Text)), len(machine.Text)), roleName, "role of "+diag.Quote(name)+" named", u.Root.Get("roles").Keys())
		return nil
	}
	r.refer(machine.Part(len(name)+1, len(machine.Text)), child.m.Span)
	return child
}

func (ro *role) substitution(n *ast.Node, u *Unit) (map[string]*model.Type, bool) {
	subst := map[string]*model.Type{}
	if n == nil || u == nil {
		return subst, true
	}
	ok := true
	for _, e := range n.Entries {
		if u.Root.Get("types").Entry(e.Key.Text) == nil {
			ro.r.unknown("FSM021", e.Key, "type of the part's protocol named", u.Root.Get("types").Keys())
			ok = false
			continue
		}
		ro.r.refer(e.Key.Span(), u.Root.Get("types").Entry(e.Key.Text).Key.Span())
		t := ro.r.typeOf(e.Value, "")
		ok = ok && t != nil
		subst[e.Key.Text] = t
	}
	return subst, ok
}

func (ro *role) partArgs(p *model.Part, n *ast.Node, child *role) {
	with := n.Get("with")
	s := &scope{r: ro.r, ro: ro, paramsOnly: true}
	s.push(p.KeyLocals)
	given := ro.arguments(p.Span, with, child, func(x expr.Node, t *model.Type) model.Expr { return s.value(x, t) })
	p.Args, p.ArgLocals = given, s.max
}

// arguments matches the entries of a map with the parameters of a machine.
func (ro *role) arguments(at diag.Span, n *ast.Node, child *role, resolve func(expr.Node, *model.Type) model.Expr) []model.Expr {
	args := make([]model.Expr, len(child.m.Params))
	var names []string
	for i, v := range child.m.Params {
		if v == child.self && ro.self != nil {
			args[i] = &model.VarRef{ExprBase: model.ExprBase{T: ro.self.Type, Span: at}, Var: ro.self}
			continue
		}
		names = append(names, v.Name)
		e := n.Entry(v.Name)
		if e == nil {
			ro.r.Errorf("FSM061", at, "parameter %s of %s is not given", diag.Quote(v.Name), diag.Quote(child.m.Name)).
				With(fmt.Sprintf("add `with: {%s: …}`", v.Name)).See(v.Span, "declared here")
			continue
		}
		ro.r.refer(e.Key.Span(), v.Span)
		args[i] = resolve(ro.r.parse(e.Value), v.Type)
	}
	if n != nil {
		for _, e := range n.Entries {
			if !containsString(names, e.Key.Text) {
				ro.r.unknown("FSM021", e.Key, "parameter", names)
			}
		}
	}
	return args
}

// partSends maps what the part sends to the parent's messages.
func (ro *role) partSends(p *model.Part, n *ast.Node, child *role) {
	r := ro.r
	p.Sends = make([]*model.PartSend, len(child.m.Messages))
	if ro.peerless.IsZero() && p.To == nil {
		ro.peerless = child.peerless // what a part sends goes where the part sends it
	}
	var names []string
	for i, m := range child.m.Messages {
		names = append(names, m.Name)
		e := n.Entry(m.Name)
		if e != nil {
			r.refer(e.Key.Span(), m.Span)
		}
		if e != nil && e.Value.Kind == ast.Scalar && e.Value.Text == "none" {
			continue
		}
		if at, sent := child.sends[m]; e != nil || sent {
			p.Sends[i] = ro.partSend(p, m, e, at)
		}
	}
	if n != nil {
		for _, e := range n.Entries {
			if !containsString(names, e.Key.Text) {
				r.unknown("FSM021", e.Key, "message of the part's protocol named", names)
			}
		}
	}
}

func (ro *role) partSend(p *model.Part, m *model.Message, e *ast.Entry, sentAt diag.Span) *model.PartSend {
	r := ro.r
	s := &scope{r: r, ro: ro, noParts: true}
	s.push(p.KeyLocals)
	ps := &model.PartSend{}
	for _, f := range m.Fields {
		if s.local(f.Name) != nil {
			r.Errorf("FSM040", p.Span, "the key %s hides a field of the part's %s", diag.Quote(f.Name), diag.Quote(m.Name)).See(f.Span, "the field")
			return nil
		}
		l := s.declareLocal(f.Name, f.Type, p.Span)
		r.noteLocal(l, f.Span, false)
		ps.Params = append(ps.Params, l)
	}
	var x expr.Node
	at := p.Span
	if e != nil {
		at = e.Value.Span()
		x = r.parse(e.Value)
	} else {
		own := r.messages[m.Name]
		if own == nil {
			r.Errorf("FSM061", p.Span, "part %s sends %s, but this protocol has no such message", diag.Quote(p.Name), diag.Quote(m.Name)).
				With(fmt.Sprintf("say under `send` what is sent instead: `%s: OURS{…}`, or `%s: none`", m.Name, m.Name)).See(sentAt, "sent here")
			return nil
		}
		if !ro.sameFields(p, m, own, s) {
			return nil
		}
		x = literalOf(own.Name, own.Fields, at)
		defer r.mute()()
	}
	if x == nil {
		return nil
	}
	msg, fields := s.messageLiteral(x)
	if msg == nil {
		return nil
	}
	ro.sent(msg, at)
	ps.Send = &model.Send{StmtBase: model.StmtBase{Span: at}, Message: msg, Fields: fields}
	ps.Locals = s.max
	return ps
}

// sameFields checks that the part's message can be sent as ours of the same name.
func (ro *role) sameFields(p *model.Part, m, own *model.Message, s *scope) bool {
	for _, f := range own.Fields {
		l := s.local(f.Name)
		if l != nil && (compatible(l.Type, f.Type) || f.Type.Kind == model.KindOptional) {
			continue
		}
		d := ro.r.Errorf("FSM061", p.Span, "part %s sends %s, but this protocol's %s has other fields", diag.Quote(p.Name), diag.Quote(m.Name), diag.Quote(m.Name)).
			With(fmt.Sprintf("say under `send` what is sent instead: `%s: OURS{…}`, or `%s: none`", m.Name, m.Name)).See(f.Span, "this field")
		if l != nil {
			d.See(fieldNamed(m.Fields, f.Name).Span, "it is %s there", describe(l.Type))
		}
		return false
	}
	return true
}

// literalOf writes NAME{a, b} for a name and all fields of a declaration.
func literalOf(name string, fields []*model.Field, at diag.Span) expr.Node {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return expr.Shorthand(expr.Name(name, at), names, at)
}

func (ro *role) sent(m *model.Message, at diag.Span) {
	if _, ok := ro.sends[m]; !ok {
		ro.sends[m] = at
	}
	ro.r.use(m.Span)
}
