package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

func (g *gen) looplabDir() string { return "looplab" + g.o.Package }

// looplabFile holds the adapter: the machine as a *fsm.FSM of looplab/fsm,
// whose transitions are the branches of the specification. What a branch does is not generated a second
// time: the callback before the event runs the machine's Step on a copy, which
// decides whether the branch is the one to take, and the callback after it keeps the copy.
func (g *gen) looplabFile(r *machine) *jen.File {
	f := jen.NewFilePathName(g.o.ImportPath+"/"+g.looplabDir(), g.looplabDir())
	f.HeaderComment(Header(g.o.Spec))
	f.HeaderComment("// fsmgen " + Version)
	f.PackageComment(comment("Package", g.looplabDir()+" runs the machines of package "+g.o.Package+
		" as machines of looplab/fsm, for programs that have those already. It is apart from "+g.o.Package+
		", so that who does without looplab/fsm does not link it."))
	const looplab = "github.com/looplab/fsm"
	f.ImportName(looplab, "fsm")
	f.ImportAlias(packages["fsm"], "parley")
	f.ImportName(g.o.ImportPath, g.o.Package)
	pkg := func(name string) *jen.Statement { return jen.Qual(g.o.ImportPath, name) }

	f.Comment(comment(r.typ, "is a "+g.o.Package+"."+r.typ+" behind a *fsm.FSM. FSM.Current is always the machine's state; the FSM's events are the transitions of the "+
		"specification by name, such as "+strconv.Quote(firstName(r))+". One goroutine owns it."))
	f.Type().Id(r.typ).Struct(
		jen.Comment("// FSM may be asked anything. Fire its events through Step or Fire: they cannot leave it between two"),
		jen.Comment("// states, as FSM.Event does when its context is cancelled at the wrong moment."),
		jen.Id("FSM").Op("*").Qual(looplab, "FSM"),
		jen.Line(),
		jen.Id("machine").Add(pkg(r.typ)),
		jen.Id("next").Add(pkg(r.typ)).Comment("the machine after the step that is being carried out"),
		jen.Id("effects").Add(pkg(r.effects)),
		jen.Id("result").Qual(packages["fsm"], "Result"),
		jen.Id("rest").Index().Uint16().Comment("transitions of the step that are still to be fired"),
		jen.Id("open").Bool().Comment("a step is being carried out"),
	)
	g.looplabNew(f, r, pkg)
	g.looplabSteps(f, r, pkg)
	g.looplabCallbacks(f, r, pkg)
	g.looplabTable(f, r)
	return f
}

func firstName(r *machine) string {
	for _, t := range r.m.Transitions {
		if t.Mode == model.Handle {
			return t.Name
		}
	}
	return "state EVENT"
}

func (g *gen) looplabNew(f *jen.File, r *machine, pkg func(string) *jen.Statement) {
	names := g.locals()
	for _, n := range []string{"p", "machine", "parley", "context", g.o.Package} {
		names.scope[n] = true
	}
	var params, args []jen.Code
	for _, p := range r.m.Params {
		n := names.local(p.Name)
		typ := g.qualified(p.Type, pkg)
		params, args = append(params, jen.Id(n).Add(typ)), append(args, jen.Id(n))
	}
	errs := strings.Contains(g.constructor(r), ", error)")
	build := jen.Id("p").Op(":=").Op("&").Id(r.typ).Values(jen.Id("machine").Op(":").Id("machine"))
	events := jen.Id("p").Dot("FSM").Op("=").Qual("github.com/looplab/fsm", "NewFSM").Call(
		jen.Id("machine").Dot("State").Dot("String").Call(), jen.Id(eventsTable(r)),
		jen.Qual("github.com/looplab/fsm", "Callbacks").Values(jen.Dict{
			jen.Lit("before_event"): jen.Id("p").Dot("before"), jen.Lit("leave_state"): jen.Id("p").Dot("leave"), jen.Lit("after_event"): jen.Id("p").Dot("after"),
		}))
	f.Line()
	doc := "makes a machine in its initial state."
	fn := jen.Func().Id(g.maker(r.typ)).Params(params...)
	create := pkg(g.maker(r.typ)).Call(args...)
	if errs {
		f.Comment(comment(g.maker(r.typ), doc+" The error says which parameter is wrong."))
		f.Add(fn.Params(jen.Op("*").Id(r.typ), jen.Error()).Block(
			jen.List(jen.Id("machine"), jen.Err()).Op(":=").Add(create),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
			build, events, jen.Return(jen.Id("p"), jen.Nil())))
		return
	}
	f.Comment(comment(g.maker(r.typ), doc))
	f.Add(fn.Op("*").Id(r.typ).Block(jen.Id("machine").Op(":=").Add(create), build, events, jen.Return(jen.Id("p"))))
}

func eventsTable(r *machine) string { return unexported(r.typ) + "Events" }
func namesTable(r *machine) string  { return unexported(r.typ) + "Names" }

// qualified names a type from outside the package.
func (g *gen) qualified(t *model.Type, pkg func(string) *jen.Statement) *jen.Statement {
	gt := g.typ(t, "")
	switch {
	case gt.own:
		return pkg(gt.name)
	case t.Kind == model.KindOptional:
		return pkg("Optional").Index(g.qualified(t.Elem, pkg))
	case t.Kind == model.KindArray:
		return jen.Index(jen.Lit(int(t.Index.Count()))).Add(g.qualified(t.Elem, pkg))
	}
	return jen.Add(raw(gt.name))
}

// method starts a method of the adapter.
func (r *machine) method(name string) *jen.Statement {
	return jen.Func().Params(jen.Id("p").Op("*").Id(r.typ)).Id(name)
}

func (g *gen) looplabSteps(f *jen.File, r *machine, pkg func(string) *jen.Statement) {
	result := jen.Qual(packages["fsm"], "Result")
	f.Line()
	f.Comment("// Machine returns the machine's value.")
	f.Add(r.method("Machine").Params().Add(pkg(r.typ)).Block(jen.Return(jen.Id("p").Dot("machine"))))
	f.Line()
	f.Comment("// Restore puts the machine and the FSM to a value that Machine returned.")
	f.Add(r.method("Restore").Params(jen.Id("machine").Add(pkg(r.typ))).Block(
		jen.Id("p").Dot("machine").Op("=").Id("machine"),
		jen.Id("p").Dot("FSM").Dot("SetState").Call(jen.Id("machine").Dot("State").Dot("String").Call())))
	f.Line()
	f.Comment("// Effects returns the effects of the last step; they hold until the next.")
	f.Add(r.method("Effects").Params().Op("*").Add(pkg(r.effects)).Block(jen.Return(jen.Op("&").Id("p").Dot("effects"))))
	f.Line()
	f.Comment(comment("Step", "gives the machine an event: its guards choose the FSM's event, which is fired. The error is not nil only if the FSM was moved by other hands; "+
		"the machine has not changed then."))
	f.Add(r.method("Step").Params(jen.Id("ev").Op("*").Add(pkg(r.event))).Params(result.Clone(), jen.Error()).Block(raw(strings.TrimSpace(`
if now := p.FSM.Current(); now != p.machine.State.String() {
return fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}, errors.New("the FSM is in state " + now + ", the machine in " + p.machine.State.String())
}
p.next = p.machine
p.result = p.next.Step(ev, &p.effects)
if p.result.Code != fsm.Took {
return p.result, nil
}
p.rest = append(p.rest[:0], p.fired()...)
if len(p.rest) == 0 {
p.machine = p.next
return p.result, nil
}
p.open = true
err := p.fire()
p.open = false
if err != nil {
return fsm.Result{Code: fsm.Refused, Transition: fsm.NoTransition}, err
}
return p.result, nil`))))
	f.Line()
	f.Comment(comment("Fire", "fires an event of the FSM by name for an event of the machine. The error says that the FSM is in another state, that its guard chooses otherwise, or that ctx was cancelled before; "+
		"nothing has changed then. Once begun it is carried through."))
	f.Add(r.method("Fire").Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("name").String(), jen.Id("ev").Op("*").Add(pkg(r.event))).Error().Block(
		jen.If(jen.Err().Op(":=").Id("ctx").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		jen.Return(jen.Id("moved").Call(jen.Id("p").Dot("FSM").Dot("Event").Call(jen.Qual("context", "WithoutCancel").Call(jen.Id("ctx")), jen.Id("name"), jen.Id("ev"))))))
	f.Line()
	f.Comment("// fire fires the next transition of the step.")
	f.Add(r.method("fire").Params().Error().Block(
		jen.Return(jen.Id("moved").Call(jen.Id("p").Dot("FSM").Dot("Event").Call(jen.Qual("context", "Background").Call(), jen.Id(namesTable(r)).Index(jen.Id("p").Dot("rest").Index(jen.Lit(0))))))))
	f.Line()
	f.Comment("// fired lists the transitions of the step that was computed last.")
	if r.queue != "" {
		f.Add(r.method("fired").Params().Index().Uint16().Block(jen.Return(jen.Id("p").Dot("effects").Dot("Fired").Call())))
	} else {
		f.Add(r.method("fired").Params().Index().Uint16().Block(
			jen.If(jen.Id("p").Dot("result").Dot("Transition").Op("==").Qual(packages["fsm"], "NoTransition")).Block(jen.Return(jen.Nil())),
			jen.Return(jen.Index().Uint16().Values(jen.Id("p").Dot("result").Dot("Transition")))))
	}
	if r == g.roles[0] {
		looplabMoved(f)
	}
}

// looplabMoved writes the function that all machines of a package share.
func looplabMoved(f *jen.File) {
	f.Line()
	f.Comment("// moved takes the FSM's complaint about a transition that leads back to its own state for what it is: none.")
	f.Func().Id("moved").Params(jen.Err().Error()).Error().Block(
		jen.Var().Id("same").Qual("github.com/looplab/fsm", "NoTransitionError"),
		jen.If(jen.Qual("errors", "As").Call(jen.Err(), jen.Op("&").Id("same"))).Block(jen.Return(jen.Id("same").Dot("Err"))),
		jen.Return(jen.Err()))
}

func (g *gen) looplabCallbacks(f *jen.File, r *machine, pkg func(string) *jen.Statement) {
	params := func() []jen.Code {
		return []jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id("e").Op("*").Qual("github.com/looplab/fsm", "Event")}
	}
	cancelled := jen.If(jen.Err().Op(":=").Id("ctx").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(
		jen.Id("e").Dot("Cancel").Call(jen.Err()), jen.Return())
	f.Line()
	f.Comment("// before is the guard: it computes the step on a copy and cancels the FSM's event if the machine does not take\n// that transition first.")
	f.Add(r.method("before").Params(params()...).Block(
		jen.If(jen.Id("p").Dot("open")).Block(jen.Return()),
		cancelled,
		jen.Var().Id("ev").Op("*").Add(pkg(r.event)),
		jen.If(jen.Len(jen.Id("e").Dot("Args")).Op("==").Lit(1)).Block(
			jen.List(jen.Id("ev"), jen.Id("_")).Op("=").Id("e").Dot("Args").Index(jen.Lit(0)).Assert(jen.Op("*").Add(pkg(r.event)))),
		jen.If(jen.Id("ev").Op("==").Nil()).Block(
			jen.Id("e").Dot("Cancel").Call(jen.Qual("errors", "New").Call(jen.Lit("the FSM's event needs the machine's event as its only argument"))), jen.Return()),
		raw(fmt.Sprintf(strings.TrimSpace(`
p.next = p.machine
p.result = p.next.Step(ev, &p.effects)
fired := p.fired()
if p.result.Code != fsm.Took || len(fired) == 0 || %s[fired[0]] != e.Event {
e.Cancel(errors.New("the machine does not take " + e.Event + " for this event now"))
return
}
p.rest = append(p.rest[:0], fired...)
p.open = true`), namesTable(r)))))
	f.Line()
	f.Comment("// leave gives up while that is possible: the FSM would stay between two states if its context were cancelled later.")
	f.Add(r.method("leave").Params(params()...).Block(
		jen.If(jen.Err().Op(":=").Id("ctx").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(
			jen.Id("p").Dot("open").Op("=").False(), jen.Id("e").Dot("Cancel").Call(jen.Err()))))
	f.Line()
	f.Comment("// after fires the step's further transitions, which events of parts caused, and then keeps the new value.")
	f.Add(r.method("after").Params(jen.Id("_").Qual("context", "Context"), jen.Id("e").Op("*").Qual("github.com/looplab/fsm", "Event")).Block(
		raw("p.rest = p.rest[1:]\nif len(p.rest) > 0 {\nif err := p.fire(); err != nil {\ne.Err = err\n}\nreturn\n}\np.machine = p.next\np.open = false")))
}

// looplabTable emits the FSM's events, one for each transition.
func (g *gen) looplabTable(f *jen.File, r *machine) {
	var rows, names []string
	for _, t := range r.m.Transitions {
		names = append(names, strconv.Quote(t.Name))
		if t.Mode != model.Handle {
			continue
		}
		to := t.From
		if t.To != nil {
			to = t.To
		}
		rows = append(rows, fmt.Sprintf("%s\n{Name: %q, Src: []string{%q}, Dst: %q},", g.at(t.Span.File, t.Span.Start.Line), t.Name, t.From.Name, to.Name))
	}
	f.Line()
	f.Comment("// The transitions of the specification as events of the FSM.")
	f.Var().Id(eventsTable(r)).Op("=").Qual("github.com/looplab/fsm", "Events").Add(jen.Op("{\n" + strings.Join(rows, "\n") + "\n}"))
	f.Line()
	f.Comment("// The names of the transitions by their number.")
	f.Var().Id(namesTable(r)).Op("=").Index(jen.Op("...")).String().Add(jen.Op("{\n" + strings.Join(names, ",\n") + ",\n}"))
}
