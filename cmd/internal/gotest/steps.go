package gotest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// wrong are the claims of which the last step is the error.
var wrong = []string{check.UnspecifiedReception, check.FaultClaim, check.Unencodable, check.Overflow,
	check.DeferredOverflow}

// steps writes the run.
func (w *writer) steps() (why string) {
	r := w.report.Counterexample
	for i := range r.Steps {
		if r.Loop > 0 && i == len(r.Stem()) {
			w.p("before := w.String() // from here the run repeats itself")
		}
		if i == len(r.Steps)-1 && w.report.Kind == "built-in" && slices.Contains(wrong, w.report.Name) {
			w.p("w.Wrong(%q)", strings.TrimPrefix(r.Problem, "✗ "))
		}
		call, why := w.move(&w.run.moves[i], &r.Steps[i])
		if why != "" {
			return fmt.Sprintf("step %d: %s", i+1, why)
		}
		if note := remark(&r.Steps[i]); note != "" {
			call += " // " + note
		}
		w.p("%s", call)
	}
	return ""
}

// remark tells a step behind its line.
func remark(s *run.Step) string {
	text := s.State
	if len(s.Effects) > 0 {
		text += ", " + strings.Join(s.Effects, ", ")
	}
	if s.Fault != "" {
		text += ", ✗ " + s.Fault
	}
	if s.Where != "" {
		text += " (" + s.Where + ")"
	}
	return strings.ReplaceAll(strings.TrimPrefix(text, ", "), "\n", " ")
}

// calls are the methods of the test's world for moves of one instance, or of a link.
var (
	calls = map[world.MoveKind]string{
		world.MoveStart: "Start", world.MoveOffer: "Offer", world.MoveCrash: "Crash",
		world.MoveRestart: "Restart", world.MoveCome: "Come", world.MoveGo: "Go",
		world.MoveBeat: "Beat", world.MoveCutoff: "Cutoff",
	}
	links = map[world.MoveKind]string{world.MoveUp: "Up", world.MoveLost: "Down", world.MoveReturn: "Return",
		world.MoveHangup: "Hangup", world.MoveMalformed: "Malformed"}
	mails = map[world.MoveKind]string{world.MoveDeliver: "Deliver", world.MoveCopy: "Copy", world.MoveLose: "Drop",
		world.MoveSwallow: "Swallow"}
)

// move writes a move, which is the step x of the run.
func (w *writer) move(m *move, x *run.Step) (call, why string) {
	if m.Torn > 0 {
		w.p("w.Torn(%d)", m.Torn-1)
		whole := *m
		whole.Torn = 0
		return w.move(&whole, x)
	}
	if f, ok := calls[m.Kind]; ok {
		return fmt.Sprintf("w.%s(%q)", f, w.name(m.Who)), ""
	}
	if f, ok := links[m.Kind]; ok {
		return fmt.Sprintf("w.%s(%q, %q)", f, w.name(m.Who), w.name(m.Peer)), ""
	}
	switch m.Kind {
	case world.MoveCommand:
		return w.command(x)
	case world.MoveExpire:
		return w.expire(x)
	case world.MoveForge:
		return fmt.Sprintf("w.Forge(%q, %q, %q, %q)", w.name(m.Peer), w.name(m.Who), m.Message, m.frame), ""
	case world.MoveTick:
		return "w.Tick()", ""
	case world.MoveHeal:
		return "w.Heal()", ""
	case world.MovePartition:
		var names []string
		for i := range w.vars {
			if m.Set>>i&1 != 0 {
				names = append(names, strconv.Quote(w.name(i)))
			}
		}
		return "w.Partition(" + strings.Join(names, ", ") + ")", ""
	}
	c := &w.run.rules.Channels[m.Channel]
	from, to, over := w.name(c.From), w.name(c.To), w.over(w.check.Channels()[c.Class].Name)
	switch {
	case m.Kind == world.MoveTail:
		return fmt.Sprintf("w.Tail(%q, %q%s)", from, to, over), ""
	case m.Kind == world.MoveOvertake:
		return fmt.Sprintf("w.Swap(%q, %q, %d)", from, to, m.At), ""
	case m.item.News != world.NoNews:
		return fmt.Sprintf("w.News(%q, %q%s)", from, to, over), ""
	}
	return fmt.Sprintf("w.%s(%q, %q, %q, %d)", mails[m.Kind], from, to, m.item.Message, m.At), ""
}

// over is the argument that names one of several channels.
func (w *writer) over(channel string) string {
	if !w.check.Several() || channel == "" {
		return ""
	}
	return fmt.Sprintf(", %q", channel)
}

func (w *writer) command(m *run.Step) (call, why string) {
	inst := w.check.Instances[m.Who]
	role := w.role(inst.Role.Name)
	ev, err := interp.ParseEvent(role, w.strs, m.Event)
	if err != nil {
		return "", err.Error()
	}
	return fmt.Sprintf("w.Command(%q, %q, %s)", inst.Name, m.Event, w.giving(m.Who, role, ev)), ""
}

// giving is the Go function that gives a command.
func (w *writer) giving(who int, role *model.Machine, ev interp.Event) string {
	method := w.vars[who] + "." + w.src.API.Command(role.Name, ev.Event.Name)
	if len(ev.Event.Fields) == 0 {
		return method
	}
	var args []string
	at := 0
	for _, f := range ev.Event.Fields {
		args = append(args, w.src.API.Value(f.Type, w.strs, ev.Args[at:]))
		at += f.Type.Slots()
	}
	return fmt.Sprintf("func() fsm.Result { return %s(%s) }", method, strings.Join(args, ", "))
}

func (w *writer) expire(m *run.Step) (call, why string) {
	inst := w.check.Instances[m.Who]
	ev, err := interp.ParseEvent(w.role(inst.Role.Name), w.strs, m.Event)
	if err != nil {
		return "", err.Error()
	}
	name, key := ev.Keyed()
	return fmt.Sprintf("w.Expire(%q, %q, %d)", inst.Name, name, key), ""
}

// end writes what is wrong at the end of the run.
func (w *writer) end() (why string) {
	problem := strings.TrimPrefix(w.report.Counterexample.Problem, "✗ ")
	if w.report.Kind == "built-in" {
		switch w.report.Name {
		case check.Deadlock:
			return w.deadlock(problem)
		case check.OrphanMessage:
			return w.orphan(problem)
		}
		return ""
	}
	claim := w.claim()
	switch claim.Kind {
	case model.Always, model.Agree:
		return w.always(claim, problem)
	case model.Eventually, model.LeadsTo:
		return w.never(claim, problem)
	}
	return "a claim of the kind " + w.report.Kind +
		" speaks of all runs, and a test does one; --trace-dir keeps the run"
}

// claim is the claim that the run violates, as the author states it; nil if it is a built-in one.
func (w *writer) claim() *model.Claim {
	claims := w.check.Claims
	i := slices.IndexFunc(claims, func(c *model.Claim) bool { return c.Name == w.report.Name })
	if i < 0 {
		return nil
	}
	return claims[i]
}

// bound writes, before the run, how long it may take to come to the goal of a claim with a bound.
func (w *writer) bound() (why string) {
	c := w.claim()
	if c == nil || c.Within == 0 {
		return ""
	}
	x := &translator{w: w, locals: map[*model.Local]term{}}
	when, goal := core.Of(c.When), core.Of(c.Expr)
	var of []string
	for _, i := range core.Looked(len(w.check.Instances), when, goal) {
		of = append(of, strconv.Quote(w.name(i)))
	}
	w.p("w.Within(fsmtest.Bound{")
	w.p("Beats: %d, Of: []string{%s},", w.check.Time.Beats(c.Within), strings.Join(of, ", "))
	for _, e := range []struct {
		name string
		expr core.Expr
	}{{"When", when}, {"Goal", goal}} {
		code, what, ok := x.condition(e.expr)
		if !ok {
			return "the claim has no translation to Go: " + what
		}
		w.p("%s: func() bool { return %s },", e.name, code)
	}
	w.p("Why: %q,\n})\n", strings.TrimPrefix(w.report.Counterexample.Problem, "✗ "))
	return ""
}

// ruled names the timers for which the check has rules.
func (w *writer) ruled() {
	for _, i := range w.check.Instances {
		for _, r := range w.check.Rules {
			if r.Command.Kind == model.EventTimer && slices.Contains(i.Role.Events, r.Command) {
				w.p("w.Ruled(%q, %q)", i.Name, r.Command.Name)
			}
		}
	}
}

// deadlock fails if nothing is possible: no message, no timer, and no command where the check says
// nothing of rest.
func (w *writer) deadlock(problem string) (why string) {
	rest := "!w.Final() && !w.Possible()"
	if w.check.Quiet != nil {
		code, why := w.quiet()
		if why != "" {
			return why
		}
		w.p("if !w.Final() && !(%s) && !w.Possible() {\nw.Fail(%q)\n}", code, problem)
		return ""
	}
	w.p("resting := %s", rest)
	for i, inst := range w.check.Instances {
		for _, c := range inst.Role.Commands {
			if why := w.tryCommand(i, c); why != "" {
				return why
			}
		}
	}
	w.p("if resting {\nw.Fail(%q)\n}", problem)
	return ""
}

// quiet is the condition of the check's `quiet` in Go, or why there is none.
func (w *writer) quiet() (code, why string) {
	x := &translator{w: w, locals: map[*model.Local]term{}}
	code, what, ok := x.condition(core.Of(w.check.Quiet))
	if !ok {
		return "", "quiet has no translation to Go: " + what
	}
	return code, ""
}

// orphan writes that a message is left where all may rest: in final states, or as `quiet` allows.
func (w *writer) orphan(problem string) (why string) {
	rest := "w.Final()"
	if w.check.Quiet != nil {
		code, why := w.quiet()
		if why != "" {
			return why
		}
		rest = "(w.Final() || " + code + ")"
	}
	w.p("if %s && w.Orphans() > 0 && !w.Possible() {\nw.Fail(%q)\n}", rest, problem)
	return ""
}

// maxTried is how many values of a command's fields are tried.
const maxTried = 32

// tryCommand writes that there is no rest where the environment may give a command and the machine
// takes it.
func (w *writer) tryCommand(who int, c *model.Event) (why string) {
	inst := w.check.Instances[who]
	role := w.role(inst.Role.Name)
	for _, rule := range w.check.Rules {
		if rule.Command == c && rule.Never() {
			return "" // it is never given
		}
	}
	args, err := interp.Domains(c, maxTried)
	if err != nil {
		return "command " + c.Name + " has too many values to try"
	}
	for _, a := range args {
		text := string(interp.AppendEvent(nil, w.strs, interp.Event{Event: c, Args: a}))
		ev, err := interp.ParseEvent(role, w.strs, text)
		if err != nil {
			return err.Error()
		}
		allowed, why := w.allowed(inst, c, a)
		if why != "" {
			return why
		}
		w.p("resting = resting && !(%s(%s)().Code == fsm.Took)", allowed, w.giving(who, role, ev))
	}
	return ""
}

// allowed is the condition under which the environment gives a command, with && behind it.
func (w *writer) allowed(inst *model.Instance, c *model.Event, args []int64) (code, why string) {
	for _, rule := range w.check.Rules {
		if rule.Command != c || rule.When == nil {
			continue
		}
		x := &translator{w: w, self: inst, locals: map[*model.Local]term{}}
		at := 0
		for _, l := range rule.Params {
			if !l.Type.Scalar() || l.Type.Kind == model.KindBytes || l.Type.Kind == model.KindSet {
				return "", "the rule for " + c.Name + " has no translation to Go"
			}
			x.locals[l] = term{code: literal(l.Type, args[at])}
			at += l.Type.Slots()
		}
		code, what, ok := x.condition(core.Of(rule.When))
		if !ok {
			return "", "the rule for " + c.Name + " has no translation to Go: " + what
		}
		return code + " && ", ""
	}
	return "", ""
}

// always writes the claim as a condition over the machines.
func (w *writer) always(c *model.Claim, problem string) (why string) {
	x := &translator{w: w, locals: map[*model.Local]term{}}
	var terms []string
	if c.Quiescent {
		terms = append(terms, `w.Total("") > 0`)
	}
	if c.Kind == model.Agree {
		code, what, ok := x.agree(c)
		if !ok {
			return "the claim has no translation to Go: " + what
		}
		terms = append(terms, code)
	} else {
		code, what, ok := x.condition(core.Of(c.Expr))
		if !ok {
			return "the claim has no translation to Go: " + what
		}
		terms = append(terms, code)
	}
	w.p("if holds := %s; !holds {\nw.Fail(%q)\n}", strings.Join(terms, " || "), problem)
	return ""
}

func (x *translator) agree(c *model.Claim) (code, why string, ok bool) {
	defer func() {
		if r, is := recover().(untranslatable); is {
			code, why, ok = "", string(r), false
		}
	}()
	var list []string
	if c.When != nil {
		code, why, ok := x.condition(core.Of(c.When))
		if !ok {
			return "", why, false
		}
		list = append(list, "!"+code)
	}
	var same []string
	for _, e := range c.Exprs[1:] {
		same = append(same, x.equal(core.Of(c.Exprs[0]), core.Of(e)))
	}
	return strings.Join(append(list, "("+strings.Join(same, " && ")+")"), " || "), "", true
}

// never writes that the run may stop, or repeat itself for ever, without the claim's goal.
func (w *writer) never(c *model.Claim, problem string) (why string) {
	if c.Within > 0 {
		return "" // bound has said it before the run
	}
	x := &translator{w: w, locals: map[*model.Local]term{}}
	goal, what, ok := x.condition(core.Of(c.Expr))
	if !ok {
		return "the claim has no translation to Go: " + what
	}
	if w.report.Counterexample.Loop > 0 {
		w.p("if !(%s) && w.String() == before {\nw.Fail(%q)\n}", goal, problem)
		return ""
	}
	w.ruled()
	rest := "!w.Possible()"
	if w.report.NotBehind { // what is possible is an error, and the checker looks at nothing behind it
		rest = "w.Stuck()"
	}
	w.p("if !(%s) && %s {\nw.Fail(%q)\n}", goal, rest, problem)
	return ""
}
