package draw

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// author writes random specifications.
type author struct {
	*rand.Rand
	three  bool // parties, which are addressed by number, by `sender` and all together
	parts  bool // roles have a part with a timer
	closes bool
	// hostile: the last instance keeps to no role, and states refuse more.
	hostile bool
}

// Besides are the second channels of protocols with two, over which C goes.
var Besides = []string{
	"{order: any, lossy: true, duplicates: true, capacity: 3, full: lose}",
	"{order: fifo, lossy: true, capacity: 2, full: lose}",
	"{order: any, capacity: 4}",
	"{order: fifo, capacity: 4}",
}

// Protocol writes the text of a protocol of two roles with four states each. The states handle some messages,
// ignore some, defer some, and refuse few. A third of the protocols have three parties, and a third
// have parts. With beside there is a second channel.
func Protocol(r *rand.Rand, hostile bool, beside string) string {
	w := author{Rand: r, three: r.IntN(3) == 0, parts: r.IntN(3) == 0, hostile: hostile}
	var b strings.Builder
	b.WriteString("protocol: random\ntick: 1s\nmessages: {A: , B: , C: " +
		map[bool]string{true: "{channel: beside}"}[beside != ""] + "}\n")
	if w.three {
		b.WriteString("parties: 3\n")
	}
	order := []string{"fifo", "fifo", "any"}[r.IntN(3)]
	channel := "channel: %s\n"
	if beside != "" {
		channel = "channels:\n  first: %s\n  beside: " + beside + "\n"
	}
	fmt.Fprintf(&b, channel, fmt.Sprintf("{order: %s, lossy: %v, duplicates: %v, capacity: %d, full: %s}",
		order, r.IntN(4) == 0, r.IntN(4) == 0, 2+r.IntN(8),
		[]string{"fault", "fault", "lose"}[r.IntN(3)]))
	b.WriteString("roles:\n")
	up, lost := r.IntN(2) == 0, r.IntN(3) > 0
	w.closes = r.IntN(3) == 0
	if w.parts {
		w.inner(&b)
	}
	for _, role := range []string{"one", "two"} {
		fmt.Fprintf(&b, "  %s:\n    vars: {n: {type: 0..3}, k: {type: 0..3, kept: true}}\n", role)
		fmt.Fprintf(&b, "    timers: {t: {ticks: %d}, u: {ticks: %d}}\n", 1+r.IntN(3), 1+r.IntN(3))
		if w.parts {
			b.WriteString("    parts: {q: {machine: inner}}\n")
		}
		b.WriteString("    commands: {go: {}, off: {}}\n    initial: s0\n    states:\n")
		for s := range 4 {
			fmt.Fprintf(&b, "      s%d:\n        doc: a state\n", s)
			if s == 3 {
				b.WriteString("        final: true\n")
			}
			patient := r.IntN(4) == 0 // defers nearly everything
			for _, ev := range []string{"start", "up", "lost", "go", "off", "t", "u", "A", "B", "C"} {
				switch message := ev <= "C"; {
				case ev == "start" && (s > 0 || r.IntN(2) == 0),
					ev == "up" && (!up || r.IntN(3) == 0),
					ev == "lost" && (!lost || r.IntN(3) == 0),
					(ev == "go" || ev == "off") && r.IntN(3) == 0,
					message && r.IntN(40) == 0,
					message && hostile && r.IntN(4) == 0:
				case message && (r.IntN(4) == 0 || patient && r.IntN(6) > 0):
					fmt.Fprintf(&b, "        %s: defer\n", ev)
				case ev != "start" && ev != "go" && ev != "off" && r.IntN(4) == 0:
					fmt.Fprintf(&b, "        %s: ignore\n", ev)
				default:
					fmt.Fprintf(&b, "        %s: {%s}\n", ev, w.does(ev, "stu", "nk", 4))
				}
			}
		}
	}
	instances := "{a: one, b: two}"
	if w.three {
		instances = "{a: one, b: two, c: one}"
	}
	const claim = "{c: {always: a.s0 || !a.s0, why: it has to claim something}}"
	fmt.Fprintf(&b, "checks:\n  pair: {instances: %s, claims: %s", instances, claim)
	if hostile {
		fmt.Fprintf(&b, ", hostile: {%s: malformed}", map[bool]string{false: "b", true: "c"}[w.three])
	}
	b.WriteString("}\n")
	return b.String()
}

// inner writes a role that is used only as a part. It takes every message and the command poke, and
// has a timer.
func (w author) inner(b *strings.Builder) {
	fmt.Fprintf(b, "  inner:\n    vars: {m: {type: 0..3}}\n    timers: {v: {ticks: %d}}\n", 1+w.IntN(3))
	b.WriteString("    commands: {poke: {}}\n    initial: p0\n    states:\n")
	for s := range 2 {
		fmt.Fprintf(b, "      p%d:\n        doc: a state\n", s)
		for _, ev := range []string{"poke", "v", "A", "B", "C"} {
			if w.IntN(3) == 0 {
				fmt.Fprintf(b, "        %s: ignore\n", ev)
			} else {
				fmt.Fprintf(b, "        %s: {%s}\n", ev, w.does(ev, "pv", "m", 2))
			}
		}
	}
}

// does writes what a branch does. names begins with the letter of the machine's states, and its
// timers follow; vars are the variables, and states is the number of states.
func (w author) does(ev, names, vars string, states int) string {
	message := ev <= "C"
	var list []string
	sends := 1 + w.IntN(2)
	if message && w.IntN(3) > 0 {
		sends = 0
	}
	for range sends {
		list = append(list, "send: "+string("ABC"[w.IntN(3)])+w.to(ev))
	}
	if w.IntN(3) == 0 {
		list = append(list, []string{"start: ", "stop: "}[w.IntN(2)]+string(names[1+w.IntN(len(names)-1)]))
	}
	if w.IntN(4) == 0 {
		v := string(vars[w.IntN(len(vars))])
		list = append(list, fmt.Sprintf("set: {%s: (%s + 1) %% 4}", v, v))
	}
	if w.closes && w.IntN(8) == 0 {
		list = append(list, "close: "+w.to(ev))
	}
	if w.parts && names[0] == 's' && w.IntN(3) == 0 {
		run := "q.poke"
		if message {
			run = "q." + ev
		}
		list = append(list, "run: "+run)
	}
	if len(list) == 0 && message {
		list = append(list, fmt.Sprintf("set: {%c: (%c + 1) %% 4}", vars[0], vars[0]))
	}
	w.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	end := ""
	if w.IntN(2) == 0 {
		end = fmt.Sprintf(", goto: %c%d", names[0], w.IntN(states))
	}
	return "do: [{" + strings.Join(list, "}, {") + "}]" + end
}

// to writes the destination of a send or close. It is empty where there are only two parties.
func (w author) to(ev string) string {
	if !w.three {
		return ""
	}
	list := []string{
		"all",
		"first(x in instance: x != self)",
		"first(x in instance: x != self && (x == 2 || self == 2 && x == 1))",
		"[x for x in instance if x > 0]",
	}
	if ev <= "C" || ev == "up" || ev == "lost" {
		list = append(list, "sender", "sender")
	}
	return `, to: "` + list[w.IntN(len(list))] + `"`
}
