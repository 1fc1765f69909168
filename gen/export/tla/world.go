package tla

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/world"
)

//go:embed world.tla.in
var worldText string

// features finds out what the check has, by the words with which lines of the world's text begin.
func (m *module) features() {
	r, c := m.rules, m.c
	f := &r.Faults
	some := func(list []int) bool { return slices.ContainsFunc(list, func(n int) bool { return n > 0 }) }
	channel := func(is func(ch *world.Channel) bool) bool {
		return slices.ContainsFunc(r.Channels, func(ch world.Channel) bool { return is(&ch) })
	}
	h := m.has
	h["links"] = len(r.Links) > 0
	h["crash"] = some(f.Crash)
	h["torn"] = h["crash"] && f.Torn
	h["crashall"] = h["crash"] && f.CrashAll > 0
	h["crashes"] = h["crash"] && f.CrashAll == 0
	h["restart"] = some(f.Restart)
	h["comers"] = c.HasComers()
	h["begins"] = h["restart"] || h["comers"]
	h["down"] = h["crash"] || h["comers"]
	h["partition"] = f.Partition > 0
	h["break"] = h["links"] && (f.Break != 0 || h["partition"])
	h["return"] = h["links"] && f.Return != 0
	h["countreturn"] = f.Return > 0
	h["revive"] = r.Revives()
	h["asked"] = h["begins"] || h["return"]
	h["asked"] = h["asked"] && slices.ContainsFunc(r.Links, func(l world.Link) bool { return !l.Datagrams })
	h["tail"] = h["break"] || h["torn"]
	h["hostile"] = c.HasHostile()
	h["time"] = c.Time != nil
	h["aged"] = h["time"] && c.Time.Delay > 1
	h["news"] = h["links"] || h["torn"]
	h["items"] = h["news"] || h["aged"]
	h["hold"] = slices.ContainsFunc(c.Instances, func(in *model.Instance) bool { return in.Role.Defers() })
	h["parts"] = slices.ContainsFunc(c.Instances, func(in *model.Instance) bool { return len(in.Role.Parts) > 0 })
	h["bag"] = channel(func(ch *world.Channel) bool { return ch.Order == world.Any })
	h["fifo"] = channel(func(ch *world.Channel) bool { return ch.Order == world.Fifo })
	h["lossy"] = channel(func(ch *world.Channel) bool { return ch.Lossy })
	h["countlosses"] = f.Lose >= 0
	h["copies"] = channel(func(ch *world.Channel) bool { return ch.Duplicates })
	h["countcopies"] = f.Duplicate >= 0
	h["overtake"] = channel(func(ch *world.Channel) bool { return ch.Overtakes && ch.Order == world.Fifo })
	h["given"] = len(m.counted) > 0
	h["within"] = slices.ContainsFunc(c.Claims, func(x *model.Claim) bool { return x.Within > 0 })
}

var inline = regexp.MustCompile(`<\?([a-z]+):(.*?)\?>`)

// world writes what lies between machines, without what the check has nothing of.
func (m *module) world() {
	before, behind, _ := strings.Cut(worldText, "@ROLES\n")
	m.text(before)
	if m.has["time"] {
		m.beats()
	}
	m.machines()
	m.tables()
	behind, last, _ := strings.Cut(behind, "@RULES\n")
	m.text(behind)
	m.rest()
	m.text(last)
}

// text writes the lines of a text that are for the check.
func (m *module) text(text string) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "{") {
			words, rest, _ := strings.Cut(line[1:], "}")
			if !m.all(words) {
				continue
			}
			line = rest
		}
		m.line(inline.ReplaceAllStringFunc(line, func(s string) string {
			part := inline.FindStringSubmatch(s)
			if m.has[part[1]] {
				return part[2]
			}
			return ""
		}))
	}
}

// all reports whether the check has all that some words say; a word may begin with a `!`.
func (m *module) all(words string) bool {
	for _, w := range strings.Fields(words) {
		if name, not := strings.CutPrefix(w, "!"); m.has[name] == not {
			return false
		}
	}
	return true
}

// byInstance writes a function of the instances.
func (m *module) byInstance(f func(i int) string) string {
	var keys, list []string
	for i := range m.c.Instances {
		keys, list = append(keys, fmt.Sprint(i)), append(list, f(i))
	}
	return m.function(keys, list)
}

// set writes the set of those numbers from lo up to n, n not included, for which is says so.
func set(lo, n int, is func(i int) bool) string {
	var list []string
	for i := lo; i < n; i++ {
		if is(i) {
			list = append(list, fmt.Sprint(i))
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func bits(set64 uint64, n int) string { return set(0, n, func(i int) bool { return set64>>i&1 != 0 }) }

// tables writes what the world's text needs to know of the check.
func (m *module) tables() {
	r, n := m.rules, len(m.c.Instances)
	f := &r.Faults
	m.section("the instances, and what is between them")
	for i, in := range m.c.Instances {
		m.line(fmt.Sprintf("\\* %d is %s, a %s", i, in.Name, model.InstanceString(in)))
	}
	m.define("Instances", fmt.Sprint(n))
	m.define("Channels", fmt.Sprint(len(r.Channels)))
	classes := len(m.c.Channels())
	m.define("Classes", fmt.Sprint(classes))
	column := func(of func(ch *world.Channel) int) string {
		var list []string
		for k := range r.Channels {
			list = append(list, fmt.Sprint(of(&r.Channels[k])))
		}
		return "<<" + strings.Join(list, ", ") + ">>"
	}
	m.define("From", column(func(ch *world.Channel) int { return ch.From }))
	m.define("To", column(func(ch *world.Channel) int { return ch.To }))
	m.define("Capacity", column(func(ch *world.Channel) int { return ch.Capacity }))
	m.define("ChannelOf", m.byInstance(func(i int) string {
		return m.byInstance(func(j int) string {
			var list []string
			for class := range classes {
				if k := r.Channel(i, j, class); k >= 0 {
					list = append(list, fmt.Sprint(k+1))
				}
			}
			return "<<" + strings.Join(list, ", ") + ">>"
		})
	}))
	chans := func(is func(ch *world.Channel) bool) string {
		return set(1, len(r.Channels)+1, func(k int) bool { return is(&r.Channels[k-1]) })
	}
	m.define("Bags", chans(func(ch *world.Channel) bool { return ch.Order == world.Any }))
	m.define("Waits", chans(func(ch *world.Channel) bool { return ch.Full == world.FullWait }))
	m.define("Loses", chans(func(ch *world.Channel) bool { return ch.Full == world.FullLose }))
	m.define("Losing", chans(func(ch *world.Channel) bool { return ch.Lossy }))
	m.define("Copying", chans(func(ch *world.Channel) bool { return ch.Duplicates }))
	m.define("Overtaking", chans(func(ch *world.Channel) bool { return ch.Overtakes && ch.Order == world.Fifo }))
	m.define("Loose", chans(func(ch *world.Channel) bool { return r.Datagrams(ch.From, ch.To, ch.Class) }))
	m.define("HeldUp", chans(r.HoldsUp))
	m.define("Keeping", chans(func(ch *world.Channel) bool {
		return ch.Order == world.Fifo && (!ch.Lossy || f.Lose >= 0)
	}))
	var names, of []string
	for _, msg := range m.p.Messages {
		names, of = append(names, quoted(msg.Name)), append(of, fmt.Sprint(msg.Channel+1))
	}
	m.define("ClassOf", m.function(names, of))
	for _, b := range []struct {
		name string
		most int
	}{{"MostLosses", f.Lose}, {"MostCopies", f.Duplicate}, {"MostOvertakes", f.Overtake}, {"MostBreaks", f.Break},
		{"MostReturns", f.Return}, {"MostPartitions", f.Partition}, {"MostCrashesOfAll", f.CrashAll}} {
		m.define(b.name, fmt.Sprint(max(b.most, 0)))
	}
	at := func(list []int) func(i int) string {
		return func(i int) string {
			if i < len(list) {
				return fmt.Sprint(list[i])
			}
			return "0"
		}
	}
	m.define("MostCrashes", m.byInstance(at(f.Crash)))
	m.define("MostRestarts", m.byInstance(at(f.Restart)))
	m.define("MostComes", m.byInstance(at(r.Come)))
	m.define("MostHeld", m.byInstance(at(r.Deferred)))
	m.define("Hostile", bits(r.Hostile, n))
	m.define("Malformed", bits(r.Malformed, n))
	m.define("Keepers", bits(^r.Hostile, n))
	m.define("Bridge", bits(f.Bridge, n))
	if m.has["time"] {
		m.define("Delay", fmt.Sprint(r.Time.Delay))
	}
	m.links()
	m.roles()
	m.given()
}

// links writes the tables of the links.
func (m *module) links() {
	r, n := m.rules, len(m.c.Instances)
	link := func(i, j int) *world.Link {
		for k := range r.Links {
			if l := &r.Links[k]; l.A == i && l.B == j || l.A == j && l.B == i {
				return l
			}
		}
		return nil
	}
	m.define("Peers", m.byInstance(func(i int) string { return bits(r.Peers(i), n) }))
	m.define("Datagrams", m.byInstance(func(i int) string {
		return set(0, n, func(j int) bool { l := link(i, j); return l != nil && l.Datagrams })
	}))
	m.define("Untold", m.byInstance(func(i int) string {
		return set(0, n, func(j int) bool {
			l := link(i, j)
			return l != nil && (l.A == i && l.Untold[0] || l.B == i && l.Untold[1])
		})
	}))
	m.define("LinkClass", m.byInstance(func(i int) string {
		return m.byInstance(func(j int) string { return fmt.Sprint(r.NewsClass(i, j) + 1) })
	}))
	m.define("FirstWaiting", m.byInstance(func(i int) string {
		waiting, _ := r.Beginning(i)
		return bits(waiting,
			n)
	}))
	m.define("FirstUp", m.byInstance(func(i int) string { _, up := r.Beginning(i); return bits(up, n) }))
}

// beats writes how long timers run that are started for so many ticks.
func (m *module) beats() {
	t := m.rules.Time
	beat := number(t.Beat)
	if !slices.ContainsFunc(t.Drift, func(n int) bool { return n != 0 }) {
		m.define("BeatsOf(i, t)", fmt.Sprintf("<<t \\div %s, (t + (%s - 1)) \\div %s>>", beat, beat, beat))
		return
	}
	lasts := map[int64]bool{}
	for _, code := range m.codes {
		for _, timer := range code.Model.Timers {
			lo, hi := timer.Ticks, timer.Ticks
			if timer.Length != nil {
				lo, hi = timer.Length.Lo, timer.Length.Hi
			}
			if hi-lo > maxDomain {
				refuse("a timer of more than %d lengths, by a clock that does not go right", maxDomain)
			}
			for x := lo; x <= hi; x++ {
				lasts[x] = true
			}
		}
	}
	ticks := slices.Sorted(maps.Keys(lasts))
	m.define("Lasting", m.byInstance(func(i int) string {
		var keys, list []string
		for _, x := range ticks {
			left := t.Beats(i, x)
			keys, list = append(keys, number(x)), append(list, fmt.Sprintf("<<%d, %d>>", left.Least, left.Most))
		}
		return m.function(keys, list)
	}))
	m.define("BeatsOf(i, t)", "Lasting[i][t]")
}

// byRole writes a text that depends on the role of instance i.
func (m *module) byRole(f func(in *model.Instance, prefix string) string) string {
	var arms []string
	byText := map[string][]string{}
	var order []string
	for i, in := range m.c.Instances {
		text := f(in, m.prefix[in.Role])
		if byText[text] == nil {
			order = append(order, text)
		}
		byText[text] = append(byText[text], fmt.Sprint(i))
	}
	if len(order) == 1 {
		return order[0]
	}
	for _, text := range order {
		arms = append(arms, among("i", byText[text])+" -> "+text)
	}
	return "CASE " + strings.Join(arms, "\n[] ")
}

// roles writes the operators that ask the role of an instance.
func (m *module) roles() {
	call := func(name, args string) string {
		return m.byRole(func(_ *model.Instance, prefix string) string {
			return prefix + "_" + name + "(" + args +
				")"
		})
	}
	m.define("StepOf(i, v, ev)", call("Step", "i, v, ev"))
	m.define("TimersOf(i, v)", call("Timers", "v"))
	if m.has["hold"] {
		m.define("Defers(i, v, x)", call("Defers", "v, x"))
	}
	if m.has["time"] {
		m.define("Older(i, v)", call("Older", "v"))
	}
	if m.has["crash"] {
		m.define("Crashed(i, b, v)", call("Crashed", "b, v"))
		m.define("Restarted(i, v, o)", call("Restarted", "v, o"))
	}
	m.define("Ended(i, v)", m.byRole(func(in *model.Instance, _ string) string {
		var final []string
		for _, st := range in.Role.States {
			if st.Final {
				final = append(final, quoted(st.Name))
			}
		}
		return "v." + stateField + " \\in {" + strings.Join(final, ", ") + "}"
	}))
	m.define("New(i)", m.byRole(func(in *model.Instance, prefix string) string {
		args, err := stage.Arguments(in, in.Role, m.strs)
		if err != nil {
			refuse("the parameters of %s: %v", in.Name, err)
		}
		var list []string
		for k, p := range in.Role.Params {
			list = append(list, m.literal(p.Type, args[k]))
		}
		return prefix + "_New(<<" + strings.Join(list, ", ") + ">>)"
	}))
	startless := m.byInstance(func(i int) string {
		in := m.c.Instances[i]
		return boolean(in.IsHostile() || m.startless(in))
	})
	m.define("Startless", startless)
}

func (m *module) startless(in *model.Instance) bool {
	args, err := stage.Arguments(in, in.Role, m.strs)
	if err != nil {
		refuse("the parameters of %s: %v", in.Name, err)
	}
	begin, err := interp.Begin(m.codes[in.Role], m.strs, args...)
	if err != nil {
		refuse("instance %s: %v", in.Name, err)
	}
	return stage.Startless(interp.Run(m.codes[in.Role], m.strs), begin)
}

// given writes how often what the environment counts was given in the beginning.
func (m *module) given() {
	m.define("FirstGiven", m.byInstance(func(i int) string {
		var list []string
		if m.counted != nil {
			for range m.counted[i] {
				list = append(list, "0")
			}
		}
		return "<<" + strings.Join(list, ", ") + ">>"
	}))
}

// rest writes what the environment does: which timers it lets expire, and what hostile instances may send.
func (m *module) rest() {
	var allowed, counted []string
	for i, in := range m.c.Instances {
		for k, a := range m.alarms(m.codes[in.Role]) {
			at := fmt.Sprintf("i = %d /\\ n = %d -> ", i, k+1)
			rule := m.ruleOf(a.ev)
			if in.IsHostile() || rule == nil {
				continue
			}
			if cond := m.allows(in, rule, m.path(m.codes[in.Role], a, fmt.Sprintf("mach[%d]", i)), a.owner.Model,
				a.keys,
				m.timerLabel(in, k)); cond != "" {
				allowed = append(allowed, at+cond)
			}
			if place := m.placeIn(i, m.timerLabel(in, k)); place > 0 {
				counted = append(counted, at+fmt.Sprintf("[ends[i] EXCEPT !.given[%d] = @ + 1]", place))
			}
		}
	}
	m.define("TimerAllowed(i, n)", cases(allowed, "TRUE"))
	m.define("CountedTimer(i, n)", cases(counted, "ends[i]"))
	if m.has["hostile"] {
		m.forged()
	}
}

func cases(arms []string, other string) string {
	if len(arms) == 0 {
		return other
	}
	return "CASE " + strings.Join(append(arms, "OTHER -> "+other), "\n[] ")
}

// forged writes what hostile instances may send to whom.
func (m *module) forged() {
	h := stage.NewHostile(m.p, m.c, m.strs)
	m.define("Forged", m.byInstance(func(i int) string {
		return m.byInstance(func(j int) string {
			to, from := m.c.Instances[i], m.c.Instances[j]
			if to.IsHostile() || !from.IsHostile() {
				return "{}"
			}
			list, _, err := h.Forgeries(from, to)
			if err != nil {
				refuse("%v", err)
			}
			var texts []string
			for _, f := range list {
				fields := []string{quoted(f.Message.Name)}
				for _, x := range f.Message.Fields {
					fields = append(fields, m.literal(x.Type, f.Slots[x.Offset:]))
				}
				texts = append(texts, "<<"+strings.Join(fields, ", ")+">>")
			}
			return "{" + strings.Join(texts, ",\n") + "}"
		})
	}))
}

func (m *module) ruleOf(ev *model.Event) *model.EnvRule {
	for _, r := range m.c.Rules {
		if r.Command == ev {
			return r
		}
	}
	return nil
}

// timerLabel names a timer of an instance among what the environment counts.
func (m *module) timerLabel(in *model.Instance, k int) string { return fmt.Sprint("timer ", k) }

// counts finds what the environment counts.
func (m *module) counts() {
	some := false
	counted := make([][]string, len(m.c.Instances))
	for i, in := range m.c.Instances {
		if in.IsHostile() {
			continue
		}
		for _, ev := range in.Role.Commands {
			if r := m.ruleOf(ev); r != nil && r.Times > 0 {
				counted[i], some = append(counted[i], "command "+ev.Name), true
			}
		}
		for k, a := range m.alarms(m.codes[in.Role]) {
			if r := m.ruleOf(a.ev); r != nil && r.Times > 0 {
				counted[i], some = append(counted[i], m.timerLabel(in, k)), true
			}
		}
	}
	if some {
		m.counted = counted
	}
}

// allows writes the condition under which the environment gives a command, or lets a timer expire, of the machine
// self.
func (m *module) allows(in *model.Instance, r *model.EnvRule, self string, mach *model.Machine, args []string,
	label string) string {
	var conds []string
	if place := m.placeIn(in.Index, label); place > 0 {
		conds = append(conds, fmt.Sprintf("ends[%d].given[%d] < %d", in.Index, place, r.Times))
	}
	if r.When != nil {
		sc := &scope{m: m, self: self, mach: mach, locals: map[*model.Local]string{}, inst: in.Index}
		for k, l := range r.Params {
			sc.locals[l] = args[k]
		}
		v := sc.cond(core.Of(r.When))
		conds = append(conds, v.ok, v.text)
	}
	return all(conds...)
}

// placeIn is the place of something that the environment counts, from 1 on; 0: it does not.
func (m *module) placeIn(i int, label string) int {
	if m.counted == nil {
		return 0
	}
	return slices.Index(m.counted[i], label) + 1
}
