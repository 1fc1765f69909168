package tla

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// maxArguments is how many argument tuples a command may have.
const maxArguments = 1 << 12

// next writes the initial configuration and what can happen in one.
func (m *module) next() {
	n := len(m.c.Instances)
	m.section("the beginning, and what can happen then")
	m.watches()
	m.define("Init", m.first())
	m.commands()
	instance := fmt.Sprintf("\\E i \\in 0..%d : ", n-1)
	pair := instance + fmt.Sprintf("\\E j \\in 0..%d : ", n-1)
	channel := fmt.Sprintf("\\E k \\in 1..%d : ", len(m.rules.Channels))
	alarms := 0
	for _, in := range m.c.Instances {
		alarms = max(alarms, len(m.alarms(m.codes[in.Role])))
	}
	var calm, idle, commands []string
	put := func(list *[]string, words, text string) {
		if m.all(words) {
			*list = append(*list, text)
		}
	}
	put(&calm, "", instance+"Start(i)")
	put(&calm, "hold", instance+"OfferHeld(i)")
	put(&calm, "links", pair+"Up(i, j)")
	if alarms > 0 {
		put(&calm, "", instance+fmt.Sprintf("\\E n \\in 1..%d : Expiry(i, n)", alarms))
	}
	put(&calm, "comers", instance+"Go(i)")
	put(&calm, "", channel+"Receive(k)")
	put(&calm, "partition", channel+"Swallow(k)")
	put(&calm, "partition", "Heal")
	put(&calm, "partition", instance+"HearCutoff(i)")
	put(&calm, "time", "Tick")
	put(&calm, "time", instance+"Beat(i)")
	put(&commands, "", instance+"Command(i)")
	put(&idle, "comers", instance+"Come(i)")
	put(&idle, "break", pair+"Break(i, j)")
	put(&idle, "return", pair+"WantBack(i, j)")
	put(&idle, "crash", instance+"Crash(i)")
	put(&idle, "restart", instance+"Restart(i)")
	put(&idle, "copies", channel+"Copy(k)")
	put(&idle, "lossy", channel+"Lose(k)")
	put(&idle, "overtake", channel+"Overtake(k)")
	put(&idle, "tail", channel+"TailLost(k)")
	put(&idle, "hostile", pair+"Forge(i, j)")
	put(&idle, "hostile links", pair+"HangUp(i, j)")
	if m.has["partition"] {
		var sides []string
		for _, side := range m.rules.Sides() {
			sides = append(sides, bits(side, n))
		}
		idle = append(idle, "\\E side \\in {"+strings.Join(sides, ", ")+"} : Partition(side)")
	}
	// What must go on happening; what the programs may do; and what may go wrong.
	m.define("Calm", bullets("\\/", calm))
	m.define("Asked", bullets("\\/", commands))
	m.define("Wild", bullets("\\/", append(idle, "FALSE")))
	m.define("Next", "Still /\\ (Calm \\/ Asked \\/ Wild)"+m.watched())
	m.define("Spec", "Init /\\ [][Next]_vars")
}

// bullets writes a list of conditions, each on its line.
func bullets(op string, list []string) string {
	var b strings.Builder
	for i, x := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(op + " " + x)
	}
	return b.String()
}

// first writes the initial configuration.
func (m *module) first() string {
	r, n := m.rules, len(m.c.Instances)
	ends := m.byInstance(func(i int) string {
		comes := m.c.Instances[i].Comes()
		waiting, up := r.Beginning(i)
		for _, l := range r.Links {
			other := l.A + l.B - i
			if l.A != i && l.B != i {
				continue
			}
			if comes || m.c.Instances[other].Comes() && !l.Datagrams {
				waiting, up = waiting&^(1<<other), up&^(1<<other)
			}
		}
		in := m.c.Instances[i]
		fields := []string{"started |-> " + boolean((in.IsHostile() || m.startless(in)) && !comes)}
		put := func(words, text string) {
			if m.all(words) {
				fields = append(fields, text)
			}
		}
		zero := fmt.Sprintf("[j \\in 0..%d |-> 0]", n-1)
		put("down", "down |-> "+boolean(comes))
		put("comers", "absent |-> "+boolean(comes))
		put("comers", "comes |-> 0")
		put("links", "waiting |-> "+bits(waiting, n))
		put("links", "up |-> "+bits(up, n))
		put("asked", "asked |-> {}")
		put("asked", "returns |-> "+zero)
		put("return", "broken |-> {}")
		put("partition", "cutoff |-> {}")
		put("links revive", "told |-> "+zero)
		put("links revive", "heard |-> "+zero)
		put("hold", "held |-> <<>>")
		put("crashes", "crashes |-> 0")
		put("restart", "restarts |-> 0")
		if m.counted != nil {
			put("", "given |-> <<"+strings.TrimSuffix(strings.Repeat("0, ", len(m.counted[i])), ", ")+">>")
		}
		return record(fields)
	})
	var net []string
	put := func(words, text string) {
		if m.all(words) {
			net = append(net, text)
		}
	}
	put("lossy countlosses", "lose |-> 0")
	put("copies countcopies", "duplicate |-> 0")
	put("overtake", "overtake |-> 0")
	put("crashall", "crash |-> 0")
	put("break", "break |-> 0")
	put("return countreturn", "return |-> 0")
	put("partition", "partition |-> 0")
	put("partition", "split |-> {}")
	put("partition", fmt.Sprintf("splits |-> [i \\in 0..%d |-> <<>>]", n-1))
	put("time", "beats |-> {}")
	list := []string{
		fmt.Sprintf("mach = [i \\in 0..%d |-> New(i)]", n-1), "ends = " + ends,
		fmt.Sprintf("chan = [k \\in 1..%d |-> <<>>]", len(r.Channels)), "net = " + record(net), "err = \"\""}
	if m.has["within"] {
		list = append(list, "watch = "+m.watching(func(int) string { return "0" }, ""))
	}
	return bullets("/\\", list)
}

// commands writes the commands that the environment may give to an instance.
func (m *module) commands() {
	var arms []string
	for i, in := range m.c.Instances {
		if in.IsHostile() {
			continue
		}
		var list []string
		for _, ev := range in.Role.Commands {
			if text := m.command(in, ev); text != "" {
				list = append(list, text)
			}
		}
		if len(list) > 0 {
			name := "Commands" + fmt.Sprint(i)
			m.define(name, bullets("\\/", list))
			arms = append(arms, fmt.Sprintf("i = %d /\\ %s", i, name))
		}
	}
	if len(arms) == 0 {
		arms = []string{"FALSE"}
	}
	m.define("Command(i)", bullets("\\/", arms))
}

// command writes one command of an instance.
func (m *module) command(in *model.Instance, ev *model.Event) string {
	rule := m.ruleOf(ev)
	if rule != nil && rule.Never() {
		return ""
	}
	tuples, err := interp.Domains(ev, maxArguments)
	if err != nil {
		refuse("too many different arguments of a command (%v)", err)
	}
	var args, texts []string
	for _, t := range tuples {
		var fields []string
		at := 0
		for _, f := range ev.Fields {
			fields = append(fields, m.literal(f.Type, t[at:]))
			at += f.Type.Slots()
		}
		args = append(args, "<<"+strings.Join(fields, ", ")+">>")
	}
	for k := range ev.Fields {
		texts = append(texts, fmt.Sprintf("a[%d]", k+1))
	}
	i := in.Index
	label := "command " + ev.Name
	end, cond := fmt.Sprintf("ends[%d]", i), "TRUE"
	if rule != nil {
		if c := m.allows(in, rule, fmt.Sprintf("mach[%d]", i), in.Role, texts, label); c != "" {
			cond = c
		}
		if place := m.placeIn(i, label); place > 0 {
			end = fmt.Sprintf("[ends[%d] EXCEPT !.given[%d] = @ + 1]", i, place)
		}
	}
	return fmt.Sprintf("\\E a \\in {%s} : %s /\\ Step(%d, Give(%d, %s, mach[%d], %s, a), chan, net)",
		strings.Join(args, ", "), cond, i, i, end, i, quoted(ev.Name))
}

// claims writes invariants and properties, and returns the configurations for TLC.
func (m *module) claims() []Config {
	m.section("what must hold")
	main := Config{Spec: "Spec", Invariants: []string{"NoError", "NoDeadlock", "NoOrphan"}}
	m.builtin()
	var others []Config
	for _, c := range m.c.Claims {
		op := m.claimName(c.Name)
		switch {
		case c.Kind == model.Always || c.Kind == model.Agree:
			m.define(op, m.invariant(c))
			main.Invariants = append(main.Invariants, op)
			m.stated = append(m.stated, Claim{Invariant: op, Name: c.Name})
		case c.Kind == model.Sometimes:
			m.define("Not_"+op, "~("+m.holds(c, c.Expr)+")")
			m.stated = append(m.stated, Claim{Invariant: "Not_" + op, Name: c.Name, Sometimes: true})
			others = append(others, Config{Name: c.Name, Spec: "Spec", Invariants: []string{"Not_" + op},
				Doc: "the claim holds if TLC finds Not_" + op + " violated; the trace is the witness"})
		case c.Within > 0:
			k := slices.Index(m.bounded(), c)
			m.define(op, fmt.Sprintf("watch[%d] # Late(%d)", k+1, m.c.Time.Beats(c.Within)))
			main.Invariants = append(main.Invariants, op)
			m.stated = append(m.stated, Claim{Invariant: op, Name: c.Name})
		case c.Kind == model.Eventually || c.Kind == model.LeadsTo:
			if why := m.inTheEnd(c, op); why != "" {
				m.left = append(m.left, c.Name+": "+why)
				continue
			}
			others = append(others, Config{Name: c.Name, Spec: "Fair_" + op, Properties: []string{op}})
		default:
			why := "that something can be reached from everywhere is no formula of TLA+"
			if c.Kind == model.Confluent {
				why = "confluence is no formula of TLA+"
			}
			m.left = append(m.left, c.Name+": "+why)
		}
	}
	return append([]Config{main}, others...)
}

// claimName makes the name of a claim's operator.
func (m *module) claimName(name string) string {
	op := "Claim_" + identifier(name)
	for i := 2; m.defined[op] || m.defined["Not_"+op]; i++ {
		op = fmt.Sprintf("Claim_%s_%d", identifier(name), i)
	}
	return op
}

func (m *module) claimScope() *scope { return &scope{m: m, locals: map[*model.Local]string{}} }

// holds writes that a condition of a claim holds: one that faults does not.
func (m *module) holds(c *model.Claim, e model.Expr) string {
	v := m.claimScope().cond(core.Of(e))
	text := all(v.ok, v.text)
	if text == "" {
		text = "TRUE"
	}
	if c != nil && c.Quiescent {
		text = "(Empty /\\ " + text + ")"
	}
	return text
}

// invariant writes an `always` or `agree`.
func (m *module) invariant(c *model.Claim) string {
	var text string
	if c.Kind == model.Agree {
		sc := m.claimScope()
		first := sc.eval(core.Of(c.Exprs[0]))
		conds := []string{first.ok}
		for _, e := range c.Exprs[1:] {
			v := sc.eval(core.Of(e))
			conds = append(conds, v.ok, "("+paren(first.text)+" = "+paren(v.text)+")")
		}
		text = orTrue(all(conds...))
	} else {
		text = m.alwaysText(c)
	}
	var when []string
	if c.Quiescent {
		when = append(when, "Empty")
	}
	if c.When != nil {
		v := m.claimScope().cond(core.Of(c.When))
		when = append(when, v.ok, v.text)
	}
	if len(when) == 0 {
		return text
	}
	return all(when...) + " => " + text
}

// alwaysText writes what always holds. Of an implication, one whose condition faults holds.
func (m *module) alwaysText(c *model.Claim) string {
	body := core.Of(c.Expr)
	if x, ok := body.(*core.If); ok && x.Form == core.FormImplies && c.When == nil {
		sc := m.claimScope()
		w, b := sc.cond(x.Cond), sc.cond(x.Then)
		return "(" + orTrue(all(w.ok, w.text)) + " => " + orTrue(all(b.ok, b.text)) + ")"
	}
	v := m.claimScope().cond(body)
	return orTrue(all(v.ok, v.text))
}

// builtin writes the claims that every check makes by itself.
func (m *module) builtin() {
	everyone := fmt.Sprintf("\\A i \\in 0..%d : ", len(m.c.Instances)-1)
	m.define("NoError", "err = \"\"")
	final := "Ended(i, mach[i])"
	if m.has["hostile"] {
		final = "i \\in Hostile \\/ " + final
	}
	if m.has["down"] {
		final = "ends[i].down \\/ " + final
	}
	m.define("Final", everyone+"("+final+")")
	empty := []string{"\\A k \\in 1..Channels : Idle(k)"}
	if m.has["hold"] {
		empty = append(empty, everyone+"ends[i].held = <<>>")
	}
	if m.has["partition"] {
		empty = append(empty, everyone+"net.splits[i] = <<>>")
	}
	if m.has["time"] {
		empty = append(empty, "net.beats = {}")
	}
	m.define("Empty", bullets("/\\", empty))
	m.define("Possible", "ENABLED Next")
	quiet := m.c.Quiet
	m.define("NoOrphan", "(err = \"\" /\\ ~Possible"+map[bool]string{true: "", false: " /\\ Final"}[quiet != nil &&
		m.c.Time == nil]+") => Empty")
	if quiet == nil && m.c.Time == nil {
		m.define("NoDeadlock", "(err = \"\" /\\ ~Final) => Possible")
		return
	}
	m.resting(quiet)
}

// resting writes that where nothing but commands is possible, all have ended or the check says that it may rest.
func (m *module) resting(quiet model.Expr) {
	n := len(m.c.Instances)
	everyone := fmt.Sprintf("\\A i \\in 0..%d : ", n-1)
	runs := "TimersOf(i, mach[i])[n]"
	if m.has["time"] {
		runs += " # Stopped"
	}
	still := []string{"ends[i].started", "\\A n \\in 1..Len(TimersOf(i, mach[i])) : ~(" + runs + ")"}
	if m.has["links"] {
		still = append(still, "ends[i].waiting = {}")
	}
	if m.has["hold"] {
		still = append(still, "DueOf(i, ends[i], mach[i]) = {}")
	}
	if m.has["comers"] {
		still = append(still, "~(MostComes[i] > 0 /\\ ~Blocked(i, ends[i], mach[i]) /\\ Ended(i, mach[i]))")
	}
	if quiet == nil {
		asked := "Command(i)"
		peers := fmt.Sprintf("\\E j \\in 0..%d : ", n-1)
		// A machine that mentions links nowhere does not notice what becomes of them.
		notices := "i \\in " + set(0, n, func(i int) bool { return m.c.Instances[i].Role.Linked() }) + " /\\ "
		if m.has["hostile"] {
			asked += " \\/ (" + peers + "Forge(i, j))"
		}
		if m.all("hostile links") {
			asked += " \\/ (" + notices + peers + "HangUp(i, j))"
		}
		if m.all("break partition") {
			asked += " \\/ (" + notices + peers + "j \\in ends[i].cutoff /\\ Break(i, j))"
		}
		still = append(still, "~ENABLED (Still /\\ ("+asked+"))")
	}
	for k := range still {
		still[k] = "(" + still[k] + ")"
	}
	text := strings.Join(still, " /\\ ")
	if m.has["down"] {
		down := "ends[i].down"
		if quiet == nil && m.has["comers"] {
			down = "(ends[i].down /\\ ends[i].comes >= MostComes[i])"
			text = "(~ends[i].down /\\ " + text + ")"
		}
		text = down + " \\/ (" + text + ")"
	}
	if m.has["hostile"] {
		text = "i \\in Hostile \\/ (" + text + ")"
	}
	rest := []string{everyone + "(" + text + ")", "\\A k \\in 1..Channels : Idle(k)"}
	if m.has["partition"] {
		rest = append(rest, everyone+"net.splits[i] = <<>>")
	}
	m.define("Resting", bullets("/\\", rest))
	allowed := "Final"
	if quiet != nil {
		allowed = "(Final \\/ " + m.holds(nil, quiet) + ")"
	}
	stuck := ""
	if slices.ContainsFunc(m.c.Channels(), func(ch model.Channel) bool { return ch.Full == model.FullWait }) {
		stuck = " /\\ ((err = \"\" /\\ \\E k \\in Waits : ~Idle(k)) => ENABLED (Still /\\ Calm))"
	}
	m.define("NoDeadlock", "((err = \"\" /\\ Resting) => "+allowed+")"+stuck)
}

// inTheEnd writes a claim about what comes in the end, and the fairness with which it is asked; or it says why not.
func (m *module) inTheEnd(c *model.Claim, op string) string {
	if c.Fair == "messages" {
		return "fairness to each message is not exported; fsmgen check decides it"
	}
	goal := m.holds(nil, c.Expr)
	text := "<>(" + goal + " \\/ err # \"\")"
	if c.Kind == model.LeadsTo {
		text = m.holds(nil, c.When) + " ~> (" + goal + " \\/ err # \"\")"
	}
	m.define(op, text)
	spec := []string{"Spec"}
	n := len(m.c.Instances)
	// Runs go on while something is possible, even where nothing is fair.
	fair := map[string]string{"weak": "WF_vars", "strong": "SF_vars"}[c.Fair]
	if fair == "" {
		spec = append(spec, "WF_vars(Next)")
	} else {
		every := fmt.Sprintf("\\A i \\in 0..%d : ", n-1)
		act := func(a string) string { return fair + "(Still /\\ " + a + m.watched() + ")" }
		put := func(words, text string) {
			if m.all(words) {
				spec = append(spec, text)
			}
		}
		put("", every+act("Start(i)"))
		put("hold", every+act("OfferHeld(i)"))
		put("links", every+fmt.Sprintf("\\A j \\in 0..%d : ", n-1)+act("Up(i, j)"))
		alarms := 0
		for _, in := range m.c.Instances {
			alarms = max(alarms, len(m.alarms(m.codes[in.Role])))
		}
		if alarms > 0 {
			spec = append(spec, every+fmt.Sprintf("\\A n \\in 1..%d : ", alarms)+act("Expiry(i, n)"))
		}
		put("comers", every+act("Go(i)"))
		put("", fmt.Sprintf("\\A k \\in 1..%d : ", len(m.rules.Channels))+act("Receive(k)"))
		put("partition", act("Heal"))
		put("partition", every+act("HearCutoff(i)"))
		put("time", act("Tick"))
		put("time", every+act("Beat(i)"))
	}
	for _, r := range m.c.Rules {
		if r.Fair == "" || r.Command.Kind != model.EventCommand {
			continue
		}
		for _, in := range m.c.Instances {
			if in.IsHostile() || !slices.Contains(in.Role.Commands, r.Command) {
				continue
			}
			var list []string
			for _, ev := range append([]*model.Event{r.Command}, r.Or...) {
				if slices.Contains(in.Role.Commands, ev) {
					if x := m.command(in, ev); x != "" {
						list = append(list, "("+x+")")
					}
				}
			}
			if len(list) > 0 {
				spec = append(spec, map[string]string{"weak": "WF_vars", "strong": "SF_vars"}[r.Fair]+"(Still /\\ ("+
					strings.Join(list, " \\/ ")+")"+m.watched()+")")
			}
		}
	}
	m.define("Fair_"+op, bullets("/\\", spec))
	return ""
}
