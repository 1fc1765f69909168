package lint

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// What the checks of a specification leave out together. A verdict is worth what it assumes: a
// fault that the channel may have and no check has was never looked at, nor was a command that no
// check gives while the channel has it; of a kind of claim that no check makes nothing is known, and
// nothing of strangers if none is hostile. Checks that expect violations read a document literally,
// and nothing is asked of those.

// coverage warns about what all checks together leave out.
func (l *linter) coverage() {
	if len(l.p.Checks) == 0 && len(l.p.Roles) > 0 && !l.variant() &&
		strings.TrimSpace(l.p.Allow["FSM094"]) == "" {
		l.Warnf("FSM094", l.p.Roles[0].Span,
			"there are no checks, so nothing is known of what the machines do together").
			With("add `checks` with instances and claims, or say under `allow` why there are none")
	}
	if len(l.p.Checks) == 0 || slices.ContainsFunc(l.p.Checks, literal) || l.variant() {
		return
	}
	for _, f := range faults {
		switch {
		case !slices.ContainsFunc(l.p.Channels(), f.may):
		case !slices.ContainsFunc(l.p.Checks, f.has):
			l.missing("FSM093", "the channel says that "+f.what+", and no check has it").
				With("add a check with " + f.how)
		case f.meets:
			l.uncombined(&f)
		}
	}
	for _, m := range l.p.Roles {
		if m.Mentions(model.EventLost) && l.takesPart(m, breaks) == "no fault" {
			l.missing("FSM093", diag.Quote(m.Name)+
				" hears that a link is lost, and in no check one breaks or its other end crashes").
				With("add a check with `faults: {break: 1}`, `{crash: 1}` or `{partition: 1}`")
		}
	}
	l.silence()
	l.claimKinds()
	if !slices.ContainsFunc(l.p.Checks, (*model.Check).HasHostile) && l.talks() {
		l.missing("FSM095", "no check has a hostile peer, so all verdicts trust whoever sends").
			With("add a check with `hostile:` and the name of an instance, " +
				"or say under `allow` why nobody can send what they like")
	}
}

// silence warns about channels that lose messages, as datagrams do. No role need hear there that
// another one has stopped or is cut off, so what the roles mention does not tell what to look for.
func (l *linter) silence() {
	if !slices.ContainsFunc(l.p.Channels(), lossy) || !l.talks() {
		return
	}
	if !slices.ContainsFunc(l.p.Checks, crashes) {
		l.missing("FSM093", "messages may be lost, so nobody need hear that another program has stopped, and in "+
			"no check one crashes").With("add a check with `faults: {crash: 1}`")
	}
	if slices.ContainsFunc(l.p.Checks, faults[0].has) && !slices.ContainsFunc(l.p.Checks, parts) {
		l.missing("FSM093", "messages may be lost for as long as one likes, and in no check they are: each "+
			"limits how many").With("add a check with `faults: {partition: 1}`, or one that does not limit `lose`")
	}
}

// crashes reports whether somebody may crash in a check.
func crashes(c *model.Check) bool {
	return c.Faults != nil && (c.Faults.CrashAll > 0 ||
		slices.ContainsFunc(c.Faults.Crash, func(n int) bool { return n > 0 }))
}

// parts reports whether instances may be cut off from others in a check. What a channel may lose
// without a limit is lost then, too.
func parts(c *model.Check) bool {
	return c.Faults != nil && c.Faults.Partition > 0 ||
		slices.ContainsFunc(c.Channels(), lossy) && (c.Faults == nil || c.Faults.Lose < 0)
}

func lossy(c model.Channel) bool { return c.Lossy }

func disordered(c model.Channel) bool { return !c.Ordered }

func copies(c model.Channel) bool { return c.Duplicates }

// talks reports whether messages arrive in some check: one with a single instance, or with machines
// that hear nothing, has nobody who could be hostile.
func (l *linter) talks() bool {
	return slices.ContainsFunc(l.p.Checks, func(c *model.Check) bool {
		return len(c.Instances) > 1 && slices.ContainsFunc(c.Instances, func(i *model.Instance) bool {
			return i.Role.Mentions(model.EventMessage)
		})
	})
}

// variant reports whether the specification extends another one, which is asked instead.
func (l *linter) variant() bool {
	own := func(at diag.Span) bool { return len(l.p.Files) == 0 || at.File == l.p.Files[0] }
	return slices.ContainsFunc(l.p.Messages, func(m *model.Message) bool { return !own(m.Span) }) ||
		slices.ContainsFunc(l.p.Roles, func(m *model.Machine) bool {
			return !own(m.Span) || slices.ContainsFunc(m.States, func(st *model.State) bool { return !own(st.Span) })
		})
}

// missing warns about the checks as a whole, unless the specification allows it.
func (l *linter) missing(code, text string) *diag.Diagnostic {
	if strings.TrimSpace(l.p.Allow[code]) != "" {
		return &diag.Diagnostic{}
	}
	return l.Warnf(code, l.p.Checks[0].Span, "%s", text)
}

// literal reports whether a check expects something to be violated, other than that lines are not
// used.
func literal(c *model.Check) bool {
	return slices.ContainsFunc(c.Expect, func(x model.Expectation) bool {
		return !slices.Contains(model.ClaimsOverAll(), x.Name)
	})
}

// fault is something that channels do to messages.
type fault struct {
	what, how string
	may       func(model.Channel) bool
	has       func(*model.Check) bool
	meets     bool // each command that sends is to meet it
}

var faults = []fault{
	{"messages may be lost", "`channel: {lossy: true}`, or `faults: {lose: 1}`",
		lossy,
		func(c *model.Check) bool {
			return swallows(c) || budgeted(c, slices.ContainsFunc(c.Channels(), lossy),
				func(f *model.Faults) int { return f.Lose })
		}, true},
	{"messages may arrive in any order", "`channel: {order: any}`, or `faults: {overtake: 1}`",
		disordered,
		func(c *model.Check) bool {
			return slices.ContainsFunc(c.Channels(), disordered) ||
				budgeted(c, false, func(f *model.Faults) int { return f.Overtake })
		}, true},
	{"messages may arrive twice", "`channel: {duplicates: true}`, or `faults: {duplicate: 1}`",
		copies,
		func(c *model.Check) bool {
			return budgeted(c, slices.ContainsFunc(c.Channels(), copies),
				func(f *model.Faults) int { return f.Duplicate })
		}, false},
}

// budgeted reports whether a check has a fault: as the channel says, if `faults` says nothing of it.
func budgeted(c *model.Check, channel bool, budget func(*model.Faults) int) bool {
	if c.Faults == nil || budget(c.Faults) < 0 {
		return channel
	}
	return budget(c.Faults) > 0
}

// swallows reports whether a partition takes messages in a check: between instances with a link it does not.
func swallows(c *model.Check) bool {
	if c.Faults == nil || c.Faults.Partition == 0 {
		return false
	}
	for i, a := range c.Instances {
		for _, b := range c.Instances[i+1:] {
			if a.Role != nil && b.Role != nil && c.Links(a, b) {
				return false
			}
		}
	}
	return true
}

// breaks reports whether links may end in a check without anybody closing them.
func breaks(c *model.Check) bool {
	return crashes(c) || c.HasComers() || c.Faults != nil && (c.Faults.Break > 0 || c.Faults.Partition > 0)
}

// takesPart says of a role in which checks it is an instance: in none, in one with a fault, or only
// in ones with no fault. A check has roles of its own, so they are the same if the name is.
func (l *linter) takesPart(m *model.Machine, fault func(*model.Check) bool) string {
	answer := "no check"
	for _, c := range l.p.Checks {
		if !plays(c, m) {
			continue
		}
		if fault(c) {
			return "a fault"
		}
		answer = "no fault"
	}
	return answer
}

func plays(c *model.Check, m *model.Machine) bool {
	return slices.ContainsFunc(c.Instances, func(i *model.Instance) bool { return i.Role.Name == m.Name })
}

// uncombined warns about commands that send and that no check gives while messages have a fault.
func (l *linter) uncombined(f *fault) {
	if strings.TrimSpace(l.p.Allow["FSM092"]) != "" {
		return
	}
	for _, m := range l.p.Roles {
		if l.takesPart(m, func(*model.Check) bool { return true }) == "no check" {
			continue // it runs inside others
		}
		for _, ev := range m.Commands {
			gives := func(c *model.Check) bool { return f.has(c) && plays(c, m) && !forbidden(c, m, ev) }
			if l.sends(m, ev) && !slices.ContainsFunc(l.p.Checks, gives) {
				l.warn("FSM092", ev.Span, "%s sends, and no check gives it where %s", diag.Quote(ev.Name), f.what).
					With("let a check give it that has " + f.how)
			}
		}
	}
}

// forbidden reports whether a check never gives a command of a role.
func forbidden(c *model.Check, m *model.Machine, ev *model.Event) bool {
	return slices.ContainsFunc(c.Rules, func(r *model.EnvRule) bool {
		return r.Never() && r.Command.Name == ev.Name &&
			slices.ContainsFunc(c.Instances, func(i *model.Instance) bool {
				return i.Role.Name == m.Name && slices.Contains(i.Role.Events, r.Command)
			})
	})
}

// sends reports whether a step with a command may send: it says so, or runs a part, or the state it
// leads to does.
func (l *linter) sends(m *model.Machine, ev *model.Event) bool {
	found := false
	look := func(list []core.Stmt) {
		core.WalkStmts(list, func(s core.Stmt) {
			switch s := s.(type) {
			case *core.Emit:
				found = found || s.Message != nil
			case *core.Give:
				found = true
			}
		})
	}
	for _, t := range l.codes[m].Transitions {
		if t.Model.Event != ev {
			continue
		}
		look(t.Body)
		if t.To != nil {
			look(t.To.Entry)
		}
	}
	return found
}

// claimKinds are the kinds of claims that each specification should make.
var claimKinds = []struct {
	name  string
	how   string
	kinds []model.ClaimKind
}{
	{"safety, what must never happen", "`always` or `agree`", []model.ClaimKind{model.Always, model.Agree}},
	{"liveness, what must come in the end", "`eventually` or `leadsTo`",
		[]model.ClaimKind{model.Eventually, model.LeadsTo}},
}

// claimKinds warns about kinds of claims that no check makes.
func (l *linter) claimKinds() {
	for _, k := range claimKinds {
		empty := ""
		if !slices.ContainsFunc(l.p.Checks, func(c *model.Check) bool {
			return slices.ContainsFunc(c.Claims, func(x *model.Claim) bool {
				if !slices.Contains(k.kinds, x.Kind) {
					return false
				}
				if certain(x.Expr) {
					empty = "; `" + x.Name + "` says nothing, for it is true whatever happens"
					return false
				}
				return true
			})
		}) {
			l.missing("FSM094", "no check makes a claim of "+k.name+empty).
				With("add a claim with " + k.how + ", or say under `allow` why there is none")
		}
	}
}

// certain reports whether an expression is true by its form alone, whatever its parts are: `true`, or
// `a => a`. It says no if it cannot tell; a nil e is not certain.
func certain(e model.Expr) bool {
	const most = 10 // parts
	parts, places, unclear := map[string]int{}, map[diag.Span]bool{}, e == nil
	var eval func(e model.Expr, values int) bool
	eval = func(e model.Expr, values int) bool {
		switch e := e.(type) {
		case *model.Lit:
			return e.Value != 0
		case *model.Unary:
			if e.Op == model.OpNot {
				return !eval(e.X, values)
			}
		case *model.Binary:
			switch x, y := e.X, e.Y; e.Op {
			case model.OpAnd, model.OpOr, model.OpImplies:
				a, b := eval(x, values), eval(y, values) // both: their parts are collected
				return e.Op == model.OpAnd && a && b || e.Op == model.OpOr && (a || b) ||
					e.Op == model.OpImplies && (!a || b)
			}
		}
		text := model.ExprString(e)
		if _, known := parts[text]; !known {
			parts[text] = len(parts)
		}
		if values < 0 { // one place stands for several instances in a quantifier
			unclear = unclear || places[e.Pos()]
			places[e.Pos()] = true
		}
		return values>>parts[text]&1 != 0
	}
	if unclear {
		return false
	}
	if eval(e, -1); unclear || len(parts) > most {
		return false
	}
	for values := range 1 << len(parts) {
		if !eval(e, values) {
			return false
		}
	}
	return true
}
