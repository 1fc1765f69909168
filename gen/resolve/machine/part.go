package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/expr"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

func (ro *Role) declareParts() {
	n := ro.Node.Get("parts")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		p := &model.Part{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
			Index: len(ro.Machine.Parts), Count: 1, Span: e.Key.Span()}
		if !ro.declare(e.Key, "part", p) {
			continue
		}
		ro.Machine.Parts = append(ro.Machine.Parts, p)
		if e.Value.Kind != ast.Map {
			ro.Errorf("FSM009", e.Key.Span(), "part %s has no `machine`", diag.Quote(p.Name))
			continue
		}
		ro.part(p, e.Value)
	}
}

func (ro *Role) part(p *model.Part, n *ast.Node) {
	keysOK := ro.partKeys(p, n.Get("key"))
	child := ro.partMachine(p, n)
	if child == nil || !keysOK {
		p.Machine = nil
		return
	}
	p.Machine = child.Machine
	ro.children[p], ro.Parts[p] = child, child.Names
	if ro.Machine.Sender == nil {
		ro.Machine.Sender = child.Machine.Sender
	}
	ro.partArgs(p, n, child)
	for _, rep := range child.Machine.Reports {
		ev := &model.Event{Kind: model.EventReport, Name: p.Name + "." + rep.Name, Doc: rep.Doc,
			Part: p, Report: rep, Span: p.Span}
		ev.Fields = append(append([]*model.Field{}, p.Keys...), rep.Fields...)
		ev.Fields = lineUp(ev.Fields)
		ro.addEvent(ev)
	}
	ev := &model.Event{Kind: model.EventFinished, Name: p.Name + ".finished", Part: p, Span: p.Span}
	ev.Fields = append([]*model.Field{}, p.Keys...)
	ro.addEvent(ev)
	ro.partTo(p, n.Get("to"))
	ro.partSends(p, n.Get("send"), child)
}

// partTo resolves who is the peer of the part.
func (ro *Role) partTo(p *model.Part, n *ast.Node) {
	if n == nil {
		return
	}
	s := expr.In(&convert.Scope{Table: ro.Table, Own: ro.Names, NoValues: true})
	s.Push(p.KeyLocals)
	if x := s.Number(ro.Parse(n)); x != nil {
		p.To = s.Coerce(x, ro.Basic("instance", n.Span()))
	}
	p.ToLocals = s.Slots
}

func (ro *Role) partKeys(p *model.Part, n *ast.Node) bool {
	fields, count, ok := ro.KeyFields(n, "the part")
	if !ok {
		return false
	}
	p.Keys, p.Count = fields, count
	for _, f := range fields {
		l := &model.Local{Name: f.Name, Type: f.Type, Offset: f.Offset}
		ro.NoteLocal(l, f.Span, false)
		p.KeyLocals = append(p.KeyLocals, l)
	}
	return true
}

// partMachine finds the role that the part runs.
func (ro *Role) partMachine(p *model.Part, n *ast.Node) *Role {
	machine := n.Get("machine")
	if machine == nil {
		ro.Errorf("FSM009", p.Span, "part %s has no `machine`", diag.Quote(p.Name))
		return nil
	}
	if !strings.Contains(machine.Text, ".") && ro.Root.Get("import").Entry(machine.Text) == nil {
		return ro.ownRole(p, n, machine)
	}
	return ro.importedRole(p, n, machine)
}

// EachPart visits the roles that a role's parts run, at any depth.
func (ro *Role) EachPart(visit func(*Role)) {
	for _, p := range ro.Machine.Parts {
		if child := ro.children[p]; child != nil {
			visit(child)
			child.EachPart(visit)
		}
	}
}

// ownRole finds a role of the same file. It completes the role first, since the part sends what the
// role sends.
func (ro *Role) ownRole(p *model.Part, n, machine *ast.Node) *Role {
	r := ro.r
	e := r.Root.Get("roles").Entry(machine.Text)
	if e == nil || e.Value.Kind != ast.Map {
		r.Unknown("FSM021", machine, "role or import",
			append(r.Root.Get("roles").Keys(), r.Root.Get("import").Keys()...))
		return nil
	}
	if t := n.Entry("types"); t != nil {
		r.Errorf("FSM061", t.Key.Span(), "the part is a role of this file and has its types").
			With("leave out `types`")
		return nil
	}
	child := r.role(*e)
	r.Refer(machine.Span(), child.Machine.Span)
	if child.declaring {
		r.Errorf("FSM064", machine.Span(), "role %s would be inside itself",
			diag.Quote(child.Machine.Name)).See(child.Machine.Span, "declared here").
			With("what two machines both need is a third one; parts tell their parents by reports")
		return nil
	}
	r.Use(child.Machine.Span)
	child.complete()
	return child
}

// importedRole resolves the imported unit once more with the types of the part.
func (ro *Role) importedRole(p *model.Part, n, machine *ast.Node) *Role {
	r := ro.r
	name, roleName, _ := strings.Cut(machine.Text, ".")
	entry := r.Root.Get("import").Entry(name)
	if entry == nil {
		r.UnknownAt("FSM021", machine.Part(0, len(name)), name, "import", r.Root.Get("import").Keys())
		return nil
	}
	r.Use(entry.Key.Span())
	r.Refer(machine.Part(0, len(name)), entry.Key.Span())
	u := r.Unit.Imports[name]
	subst, ok := ro.substitution(n.Get("types"), u)
	if !r.Imports.Check(u) || !ok {
		return nil
	}
	roles, first := r.Imports.Instantiate(u, subst)
	switch {
	case first != nil:
		r.Errorf("FSM090", machine.Span(), "%s does not work with these types: %s",
			diag.Quote(name), first.Message).
			See(first.Span, "here")
		return nil
	case roles == nil:
		r.Errorf("FSM042", p.Span, "parts of parts come to more than %d machines", pass.MaxParts)
		return nil
	}
	child := roles[roleName]
	if child == nil {
		r.UnknownAt("FSM021", machine.Part(min(len(name)+1, len(machine.Text)), len(machine.Text)),
			roleName, "role of "+diag.Quote(name)+" named", u.Root.Get("roles").Keys())
		return nil
	}
	r.Refer(machine.Part(len(name)+1, len(machine.Text)), child.Machine.Span)
	return child
}

func (ro *Role) substitution(n *ast.Node, u *pass.Unit) (map[string]*model.Type, bool) {
	subst := map[string]*model.Type{}
	if n == nil || u == nil {
		return subst, true
	}
	ok := true
	for _, e := range n.Entries {
		if u.Root.Get("types").Entry(e.Key.Text) == nil {
			ro.Unknown("FSM021", e.Key, "type of the part's protocol named", u.Root.Get("types").Keys())
			ok = false
			continue
		}
		ro.Refer(e.Key.Span(), u.Root.Get("types").Entry(e.Key.Text).Key.Span())
		t := ro.TypeOf(e.Value, "")
		ok = ok && t != nil
		subst[e.Key.Text] = t
	}
	return subst, ok
}

func (ro *Role) partArgs(p *model.Part, n *ast.Node, child *Role) {
	with := n.Get("with")
	s := expr.In(&convert.Scope{Table: ro.Table, Own: ro.Names, ParamsOnly: true})
	s.Push(p.KeyLocals)
	given := ro.arguments(p.Span, with, child, s.Value)
	p.Args, p.ArgLocals = given, s.Slots
}

// arguments matches the entries of `with` with the parameters of a machine.
func (ro *Role) arguments(at diag.Span, n *ast.Node, child *Role,
	resolve func(syntax.Node, *model.Type) model.Expr) []model.Expr {
	args := make([]model.Expr, len(child.Machine.Params))
	var names []string
	for i, v := range child.Machine.Params {
		if v.Self || v.Parties {
			if given := ro.UseGiven(v.Name); given != nil {
				args[i] = &model.VarRef{ExprBase: model.ExprBase{T: given.Type, Span: at}, Var: given}
				continue
			}
		}
		names = append(names, v.Name)
		e := n.Entry(v.Name)
		if e == nil {
			ro.Errorf("FSM061", at, "parameter %s of %s is not given", diag.Quote(v.Name),
				diag.Quote(child.Machine.Name)).
				With(fmt.Sprintf("add `with: {%s: …}`", v.Name)).See(v.Span, "declared here")
			continue
		}
		ro.Refer(e.Key.Span(), v.Span)
		args[i] = resolve(ro.Parse(e.Value), v.Type)
	}
	if n != nil {
		for _, e := range n.Entries {
			if !slices.Contains(names, e.Key.Text) {
				ro.Unknown("FSM021", e.Key, "parameter", names)
			}
		}
	}
	return args
}

// partSends maps the messages that the part sends to messages of the parent.
func (ro *Role) partSends(p *model.Part, n *ast.Node, child *Role) {
	r := ro.r
	p.Sends = make([]*model.PartSend, len(child.Machine.Messages))
	if ro.Peerless.IsZero() && p.To == nil {
		ro.Peerless = child.Peerless // what a part sends goes where the part sends it
	}
	var names []string
	for i, m := range child.Machine.Messages {
		names = append(names, m.Name)
		e := n.Entry(m.Name)
		if e != nil {
			r.Refer(e.Key.Span(), m.Span)
		}
		if e != nil && e.Value.Kind == ast.Scalar && e.Value.Text == "none" {
			continue
		}
		if at, sent := child.Sends[m]; e != nil || sent {
			p.Sends[i] = ro.partSend(p, m, e, at)
		}
	}
	if n != nil {
		for _, e := range n.Entries {
			if !slices.Contains(names, e.Key.Text) {
				r.Unknown("FSM021", e.Key, "message of the part's protocol named", names)
			}
		}
	}
}

func (ro *Role) partSend(p *model.Part, m *model.Message, e *ast.Entry,
	sentAt diag.Span) *model.PartSend {
	r := ro.r
	s := expr.In(&convert.Scope{Table: r.Table, Own: ro.Names, NoValues: true})
	s.Push(p.KeyLocals)
	ps := &model.PartSend{}
	for _, f := range m.Fields {
		if s.Local(f.Name) != nil {
			r.Errorf("FSM040", p.Span, "the key %s hides a field of the part's %s",
				diag.Quote(f.Name), diag.Quote(m.Name)).See(f.Span, "the field")
			return nil
		}
		l := s.DeclareLocal(f.Name, f.Type, p.Span)
		r.NoteLocal(l, f.Span, false)
		ps.Params = append(ps.Params, l)
	}
	var x syntax.Node
	at := p.Span
	if e != nil {
		at = e.Value.Span()
		x = r.Parse(e.Value)
	} else {
		own := r.Messages[m.Name]
		if own == nil {
			r.Errorf("FSM061", p.Span, "part %s sends %s, but this protocol has no such message",
				diag.Quote(p.Name), diag.Quote(m.Name)).
				With(fmt.Sprintf("say under `send` what is sent instead: `%s: OURS{…}`, or `%s: none`", m.Name,
					m.Name)).See(sentAt, "sent here")
			return nil
		}
		if !ro.sameFields(p, m, own, s) {
			return nil
		}
		x = literalOf(own.Name, own.Fields, at)
		defer r.Mute()()
	}
	if x == nil {
		return nil
	}
	msg, fields := s.MessageLiteral(x)
	if msg == nil {
		return nil
	}
	ro.sent(msg, at)
	ps.Send = &model.Send{StmtBase: model.StmtBase{Span: at}, Message: msg, Fields: fields}
	ps.Locals = s.Slots
	return ps
}

// sameFields reports whether a message of the part can be sent as the parent's message of the same
// name.
func (ro *Role) sameFields(p *model.Part, m, own *model.Message, s *expr.Resolver) bool {
	for _, f := range own.Fields {
		l := s.Local(f.Name)
		if l != nil && (types.Compatible(l.Type, f.Type) || f.Type.Kind == model.KindOptional) {
			continue
		}
		d := ro.Errorf("FSM061", p.Span, "part %s sends %s, but this protocol's %s has other fields",
			diag.Quote(p.Name), diag.Quote(m.Name), diag.Quote(m.Name)).
			With(fmt.Sprintf("say under `send` what is sent instead: `%s: OURS{…}`, or `%s: none`",
				m.Name, m.Name)).See(f.Span, "this field")
		if l != nil {
			d.See(types.FieldNamed(m.Fields, f.Name).Span, "it is %s there", types.Describe(l.Type))
		}
		return false
	}
	return true
}

func (ro *Role) sent(m *model.Message, at diag.Span) {
	if _, ok := ro.Sends[m]; !ok {
		ro.Sends[m] = at
	}
	ro.Use(m.Span)
}

// ownPart resolves a part of this machine with its keys. keys is nil if none are written; ok is
// false after an error.
func (w *stmts) ownPart(n syntax.Node) (p *model.Part, keys []model.Expr, ok bool) {
	id, args, indexed := splitKeys(n)
	if id == nil {
		w.Errorf("FSM061", n.Pos(), "a part is needed here: part or part[key]")
		return nil, nil, false
	}
	p, isPart := w.ro.Values[id.Name].(*model.Part)
	if w.ro.Taken[id.Name] {
		return nil, nil, false
	}
	if !isPart {
		w.UnknownAt("FSM021", id.Pos(), id.Name, "part", w.ro.partNames())
		return nil, nil, false
	}
	w.Use(p.Span)
	w.Refer(id.Pos(), p.Span)
	if p.Machine == nil {
		return nil, nil, false
	}
	if !indexed {
		return p, nil, true
	}
	keys = w.Keys(p, args, n.Pos())
	return p, keys, keys != nil
}

func (w *stmts) run(v *ast.Node) model.Stmt {
	x := w.Parse(v)
	if x == nil {
		return nil
	}
	if r := w.runExpr(x, v.Span()); r != nil {
		return r
	}
	return nil
}

// runExpr resolves part[keys].EVENT{fields}.
func (w *stmts) runExpr(x syntax.Node, at diag.Span) *model.Run {
	target, given := expr.SplitLiteral(x)
	sel, ok := target.(*syntax.Select)
	if !ok {
		w.Errorf("FSM062", x.Pos(), "`run` needs part.EVENT or part.EVENT{field: value}")
		return nil
	}
	p, keys, ok := w.ownPart(sel.X)
	if !ok {
		return nil
	}
	if keys == nil && len(p.Keys) > 0 {
		w.Errorf("FSM061", sel.X.Pos(), "part %s has several instances; say which",
			diag.Quote(p.Name)).With(expr.KeysHint(p))
		return nil
	}
	child := w.ro.children[p]
	ev := child.Events[sel.Name]
	if ev == nil || !forwarded(ev.Kind) && ev.Kind != model.EventCommand {
		w.UnknownAt("FSM062", sel.NamePos, sel.Name,
			"message or command of part "+diag.Quote(p.Name)+" named", child.runnable())
		return nil
	}
	w.Refer(sel.NamePos, ev.Span)
	args := w.FieldValues(given, ev.Fields, eventWord(ev.Kind)+" "+diag.Quote(ev.Name), x.Pos())
	if args == nil {
		return nil
	}
	return &model.Run{StmtBase: model.StmtBase{Span: at}, Part: p, Keys: keys, Event: ev, Args: args}
}

func (w *stmts) restart(v *ast.Node, base model.StmtBase) model.Stmt {
	x := w.Parse(v)
	if x == nil {
		return nil
	}
	p, keys, ok := w.ownPart(x)
	if !ok {
		return nil
	}
	return &model.Restart{StmtBase: base, Part: p, Keys: keys}
}

// forward gives an event to a part. The fields are matched by name, and so are keys that are not
// written.
func (w *stmts) forward(m mention) []model.Stmt {
	x, err := syntax.Parse(m.place.Text, m.place.Part)
	if err != nil {
		w.SyntaxError(err)
		return nil
	}
	p, given, ok := w.ownPart(x)
	if !ok {
		return nil
	}
	child := w.ro.children[p]
	ev := child.Events[m.event]
	if ev == nil || !forwarded(ev.Kind) {
		w.UnknownAt("FSM062", m.at, m.event, "message of part "+diag.Quote(p.Name)+" named",
			child.forwardable())
		return nil
	}
	if given == nil && len(p.Keys) > 0 {
		var keys []syntax.Node
		for _, k := range p.Keys {
			if w.Local(k.Name) == nil {
				w.Errorf("FSM061", m.place.Span(),
					"part %s has several instances, and %s has no field %s that says which",
					diag.Quote(p.Name), diag.Quote(ev.Name), diag.Quote(k.Name)).
					With("write the key: `\"" + p.Name + "[sender]\": [" + ev.Name + "]`")
				return nil
			}
			keys = append(keys, syntax.Name(k.Name, m.at))
		}
		x = syntax.With(x, keys, m.at)
	}
	var names []string
	for _, f := range ev.Fields {
		names = append(names, f.Name)
	}
	defer w.Mute()()
	run := w.runExpr(syntax.Shorthand(syntax.Of(x, m.event, m.at), names, m.at), m.at)
	if run == nil {
		return nil
	}
	return []model.Stmt{run}
}

// forwarded reports whether an event of this kind can be forwarded: both the machine and its part
// can have it.
func forwarded(k model.EventKind) bool {
	return k == model.EventMessage || k == model.EventUp || k == model.EventLost
}

// forwardable lists the events that can be forwarded to the machine.
func (ro *Role) forwardable() []string {
	var names []string
	for _, e := range ro.Machine.Events {
		if forwarded(e.Kind) {
			names = append(names, e.Name)
		}
	}
	return names
}

func (ro *Role) partNames() []string {
	var names []string
	for _, p := range ro.Machine.Parts {
		names = append(names, p.Name)
	}
	return names
}

// runnable lists the events that a parent may give to the machine.
func (ro *Role) runnable() []string {
	var names []string
	for _, e := range ro.Machine.Events {
		if forwarded(e.Kind) || e.Kind == model.EventCommand {
			names = append(names, e.Name)
		}
	}
	return names
}
