package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
)

// assumptions say in words what the verdict rests on.
func (s *System) assumptions(res *explore.Result, base *model.Protocol) []string {
	out := append(s.hostileWords(), s.externalWords()...)
	for class := range s.Check.Channels() {
		out = append(out, s.channelWords(class, res))
	}
	out = append(out, s.replaced(base)...)
	out = append(out, s.domainWords(base)...)
	out = append(out, s.unnarrowed(base)...)
	out = append(out, s.carriedInPlace()...)
	limited := false
	for _, env := range s.Check.Rules {
		if env.When != nil || env.Times > 0 {
			out, limited = append(out, s.ruleWords(env)), true
		}
	}
	timers, links := false, false
	for _, p := range s.Procs {
		timers = timers || len(p.Timers) > 0
		for _, t := range p.Role.Transitions {
			links = links || t.Mode == model.Handle && !report.Judged(t)
		}
	}
	out = append(out, "all other commands are given at any moment and as often as possible, or never")
	if !limited {
		out[len(out)-1] = "commands are given at any moment and as often as possible, or never"
	}
	if s.Check.Quiet != nil {
		out = append(out, "where only commands are possible, machines may rest if `quiet` holds ("+
			model.ExprString(s.Check.Quiet)+") and no message waits to be taken")
	}
	if s.Check.Time != nil {
		out = append(out, s.timeWords())
	} else if timers {
		out = append(out, "an armed timer may expire at any moment; its length does not matter")
	}
	out = append(out, s.comeWords()...)
	if s.Check.Faults != nil {
		out = append(out, s.faultWords()...)
	} else {
		out = append(out, "nobody crashes and no link breaks (`faults:` would let them)")
		if s.Check.HasComers() {
			return out
		} else if len(s.Rules.Links) > 0 {
			out = append(out, "each link comes up once, at any moment before the first message, "+
				"and ends where one of the ends closes it")
		} else if links {
			out = append(out, "no link ends: the event lost does not occur")
		}
	}
	return out
}

// fairnessWords say which runs liveness claims look at.
func (s *System) fairnessWords() []string {
	names := map[string][]string{}
	for _, c := range s.Check.Claims {
		if c.Kind == model.Eventually || c.Kind == model.LeadsTo && c.Within == 0 {
			names[c.Fair] = append(names[c.Fair], c.Name)
		}
	}
	var out []string
	for _, f := range [][2]string{
		{"", "all runs that go on while something has to happen; " +
			"what happens next is chosen freely, for ever"},
		{"weak", "runs in which whatever stays possible from some point on happens; " +
			"commands need not be given"},
		{"strong", "runs in which whatever is possible again and again happens, " +
			"and each channel that can deliver again and again does; commands need not be given"},
		{"messages", "runs in which whatever is possible again and again happens, " +
			"and each message that can arrive again and again does, however many are lost; " +
			"commands need not be given"},
	} {
		if list := names[f[0]]; len(list) > 0 {
			out = append(out, strings.Join(list, ", ")+": "+f[1])
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, env := range s.Check.Rules {
		if env.Fair != "" {
			out = append(out, s.dutyWords(env))
		}
	}
	return out
}

// dutyWords say what the programs do in the end.
func (s *System) dutyWords(env *model.EnvRule) string {
	var who []string
	for _, p := range s.Procs {
		if slices.Contains(p.Role.Commands, env.Command) {
			who = append(who, p.Inst.Name)
		}
	}
	where := map[string]string{
		"weak":   "where it may for ever",
		"strong": "where it may again and again",
	}[env.Fair]
	return fmt.Sprintf("in these runs the program of %s gives %s in the end, %s",
		strings.Join(who, ", and that of "), system.DutyNames(env), where)
}

// What channels that lose everything or nothing do to messages.
const anyLost, noneLost = "any message may be lost", "nothing is lost"

// channelWords say what the channels of a class do to messages.
func (s *System) channelWords(class int, res *explore.Result) string {
	ch := s.Check.Channels()[class]
	words := []string{"in order"}
	if !ch.Ordered {
		words[0] = "in any order"
	}
	f, several := s.Check.Faults, s.Check.Several()
	if f != nil && f.Lose >= 0 && (!several || ch.Lossy) {
		words = append(words, howOften(f.Lose, noneLost, "message is lost", "messages are lost"))
	} else if ch.Lossy {
		words = append(words, anyLost)
	} else {
		words = append(words, noneLost)
	}
	switch but := s.lostBesides(&ch); {
	case but == "" || words[1] == anyLost:
	case words[1] == noneLost:
		words[1] += " but " + but
	default:
		words[1] += " besides " + but
	}
	if f != nil && f.Duplicate >= 0 && (!several || ch.Duplicates) {
		words = append(words, howOften(f.Duplicate,
			"nothing arrives twice", "message arrives again", "messages arrive again"))
	} else if ch.Duplicates {
		words = append(words, "any message may arrive again")
	} else {
		words = append(words, "nothing arrives twice")
	}
	if f != nil && f.Overtake > 0 {
		words = append(words, howOften(f.Overtake,
			"", "message overtakes another", "messages overtake another"))
	}
	widest := 0
	for k, n := range res.Widest[:s.Own] {
		if s.Rules.Channels[k].Class == class {
			widest = max(widest, n)
		}
	}
	text := fmt.Sprintf("messages arrive %s; at most %d %s under way in each direction",
		strings.Join(words, ", "), ch.Capacity, diag.OneOr(ch.Capacity, "is", "are"))
	if several {
		text = "over " + ch.Name + " " + text
	}
	switch ch.Full {
	case model.FullLose:
		text += ", and what finds no room is lost"
	case model.FullWait:
		text += ", and who has no room waits"
	}
	if widest < ch.Capacity && res.Complete && len(s.System.Channels) > 0 {
		text += fmt.Sprintf("; never more than %d %s, so the result holds for every larger capacity",
			widest, diag.OneOr(widest, "was", "were"))
	}
	return text
}

// externalWords name the roles that somebody else's programs have.
func (s *System) externalWords() (out []string) {
	for _, m := range s.Protocol.Roles {
		if m.External && slices.ContainsFunc(s.Procs, func(p *system.Process) bool { return p.Role == m }) {
			out = append(out, m.Name+" is external: it does only what is described, and ignores what it does not "+
				"mention")
		}
	}
	return out
}

// replaced names the constants that differ from the specification's own.
func (s *System) replaced(base *model.Protocol) []string {
	if base == nil {
		return nil
	}
	var out []string
	for _, c := range s.Protocol.Consts {
		for _, b := range base.Consts {
			if b.Name == c.Name && b.Value != c.Value {
				out = append(out, fmt.Sprintf("%s is %d (the specification says %d)", c.Name, c.Value, b.Value))
			}
		}
	}
	return out
}

// domainWords names the types whose values were not all explored.
func (s *System) domainWords(base *model.Protocol) []string {
	own := map[string]*model.Type{}
	if base != nil {
		for _, t := range base.Types {
			own[t.Name] = t
		}
	}
	var out []string
	for _, t := range s.Protocol.Types {
		b := own[t.Name]
		switch {
		case t.Kind == model.KindBytes && s.SendsNamed():
			out = append(out, fmt.Sprintf("%s has %s; a hostile instance also sends the texts that the specification "+
				"names", t.Name, diag.Counted(t.Hi+1, "value")))
		case t.Kind == model.KindOpaque && t.Hi == 0, t.Kind == model.KindBytes && t.Hi == 0:
			out = append(out, t.Name+" is carried, not explored: it has one value")
		case t.Kind == model.KindBytes:
			out = append(out, fmt.Sprintf("%s has %d different values, none of them a text that the specification "+
				"names", t.Name, t.Hi+1))
		case t.Kind == model.KindOpaque:
			out = append(out, fmt.Sprintf("%s has %d different values", t.Name, t.Hi+1))
		case b == nil:
		case t.Kind == model.KindInt && (t.Lo != b.Lo || t.Hi != b.Hi):
			out = append(out, fmt.Sprintf("%s is %d..%d (the specification says %d..%d)",
				t.Name, t.Lo, t.Hi, b.Lo, b.Hi))
		case t.Kind == model.KindEnum && len(t.Names) != len(b.Names):
			out = append(out, fmt.Sprintf("%s is one of %s (the specification has %d)",
				t.Name, strings.Join(t.Names, ", "), len(b.Names)))
		}
	}
	return out
}

// ruleWords say what a rule of the environment assumes: of which role, since several may have a
// command of that name.
func (s *System) ruleWords(env *model.EnvRule) string {
	name, verb := env.Command.Name, " is given"
	for _, inst := range s.Check.Instances {
		if slices.Contains(inst.Role.Events, env.Command) {
			name = inst.Role.Name + "." + name
			break
		}
	}
	if env.Command.Kind == model.EventTimer {
		verb = " expires"
	}
	text := name + verb
	if env.Never() {
		if env.Command.Kind == model.EventTimer {
			return name + " never expires"
		}
		return name + " is never given"
	}
	if env.When != nil {
		text += " only where " + model.ExprString(env.When)
	}
	if env.Times > 0 {
		text += ", at most " + diag.Counted(env.Times, "time") + " by each instance"
	}
	return text
}

// lostBesides says what is lost besides what channels lose.
func (s *System) lostBesides(ch *model.Channel) string {
	f := s.Check.Faults
	if f == nil {
		return ""
	}
	var causes []string
	if !f.Atomic && (f.CrashAll > 0 || slices.Max(f.Crash) > 0) && ch.Ordered {
		causes = append(causes, "a crash")
	}
	if f.Break > 0 && len(s.Rules.Links) > 0 {
		causes = append(causes, "a link")
	}
	if f.Partition > 0 {
		causes = append(causes, "a partition")
	}
	if len(causes) == 0 {
		return ""
	}
	return "what goes with " + strings.Join(causes, " or ")
}

// faultWords say what may go wrong.
func (s *System) faultWords() []string {
	f := s.Check.Faults
	var out []string
	switch {
	case f.CrashAll == 0 && slices.Max(f.Crash) == 0:
		out = append(out, "nobody crashes")
	case f.CrashAll > 0:
		out = append(out, howOften(f.CrashAll, "", "instance crashes", "times an instance crashes")+", at any moment")
	default:
		for i, n := range f.Crash {
			if n > 0 {
				out = append(out, s.Procs[i].Inst.Name+" crashes "+times(n)+", at any moment, or not at all")
			}
		}
	}
	for i, n := range f.Restart {
		if n > 0 && (f.CrashAll > 0 || f.Crash[i] > 0) {
			out = append(out, s.Procs[i].Inst.Name+" begins again "+times(n)+" after a crash, or not at all")
		}
	}
	out = append(out, s.keptWords()...)
	if f.Atomic {
		out = append(out, "nobody crashes in the course of a step, and what was sent before a crash arrives")
	}
	if len(s.Rules.Links) > 0 {
		out = append(out, s.linkWords()...)
	}
	if f.Partition > 0 {
		out = append(out, "there is at most one partition at a time, "+times(f.Partition)+" in all, and each ends")
		if names := s.bridges(); len(names) > 0 {
			out = append(out, diag.And(names)+diag.OneOr(len(names), " hears", " hear")+" both sides of each partition")
		}
		return out
	}
	return append(out, "all instances reach each other at all times")
}

// bridges lists the instances that no partition cuts off.
func (s *System) bridges() (names []string) {
	for i, p := range s.Procs {
		if s.Rules.Faults.Bridge>>i&1 != 0 {
			names = append(names, p.Inst.Name)
		}
	}
	return names
}

// comeWords say who comes and goes.
func (s *System) comeWords() (out []string) {
	who := map[int][]string{}
	for _, p := range s.Procs {
		who[p.Inst.Come] = append(who[p.Inst.Come], p.Inst.Name)
	}
	for _, n := range slices.Sorted(maps.Keys(who)) {
		if n > 0 {
			text := diag.OneOr(n, "at most one comes", fmt.Sprintf("at most %d come, one after another", n))
			each := diag.OneOr(len(who[n]), "", ", to each")
			out = append(out, "nobody is at "+diag.And(who[n])+" at first; "+text+each+", at any moment")
		}
	}
	if len(out) > 0 {
		out = append(out, "who comes knows nothing of the one before; who has come to the end of its machine goes, "+
			"and its links end")
	}
	return out
}

// keptWords say what who begins again after a crash still has.
func (s *System) keptWords() (out []string) {
	f := s.Check.Faults
	for i, p := range s.Procs {
		if i >= len(f.Restart) || f.Restart[i] == 0 || f.CrashAll == 0 && f.Crash[i] == 0 {
			continue
		}
		kept := keptIn(p.Role, p.Inst.Name)
		text := p.Inst.Name + " then has lost all its variables"
		if len(kept) > 0 {
			text = "what is kept is written down before a step sends anything: " + diag.And(kept) +
				diag.OneOr(len(kept), " has", " have") + " then what the last step set"
			if !f.Atomic {
				text += ", though the crash cut that step short"
			}
		}
		out = append(out, text)
	}
	return out
}

// keptIn lists the variables of a machine and of its parts that are kept, by their names in claims.
func keptIn(m *model.Machine, name string) (out []string) {
	for _, v := range m.Vars {
		if v.Kept && v.Ghost == model.NoGhost {
			out = append(out, name+"."+v.Name)
		}
	}
	for _, p := range m.Parts {
		if !p.Monitor {
			out = append(out, keptIn(p.Machine, name+"."+p.Name)...)
		}
	}
	return out
}

// linkWords say what may become of links.
func (s *System) linkWords() (out []string) {
	f := s.Check.Faults
	switch {
	case f.Break > 0:
		broken := howOften(f.Break, "", "link is taken for dead", "links are taken for dead")
		out = append(out, broken+" though the other end lives, at any moment")
	case s.Rules.Links[0].Datagrams && f.Partition > 0:
		out = append(out,
			"no link is taken for dead but in a partition, and nobody hears that the other end has closed or crashed")
	case s.Rules.Links[0].Datagrams:
		out = append(out, "no link is taken for dead, and nobody hears that the other end has closed or crashed")
	case f.Partition > 0:
		out = append(out, "links break only in a partition, and where one of the ends closes them or crashes")
	default:
		out = append(out, "links break only where one of the ends closes them or crashes")
	}
	switch {
	case f.Break == 0 && f.Partition == 0 && f.Return == 0: // that they do not come back is said
		return out
	case f.Partition > 0:
		return append(out, "links that were lost may come back, or not")
	case f.Return > 0:
		return append(out, howOften(f.Return, "", "of the lost links comes back", "of the lost links come back"))
	}
	return append(out, "a link that was lost does not come back")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("up to %d times", n)
}

func howOften(n int, none, one, many string) string {
	switch n {
	case 0:
		return none
	case 1:
		return "at most one " + one
	}
	return fmt.Sprintf("at most %d %s", n, many)
}
