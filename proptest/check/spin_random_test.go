package check

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomSpec writes a protocol of two roles that holds as often as not: messages are mostly
// handled, numbers mostly stay in their ranges. A part with keys reports to its parent, which sends
// and changes variables of all kinds.
func randomSpec(r *rand.Rand) string {
	w := &specWriter{r: r}
	full := []string{"fault", "lose", "fault"}[r.IntN(3)]
	w.line("protocol: random\ntick: 1ms\ntypes: {N: 0..2, E: {enum: [red, green, blue]}, R: {record: {n: N, " +
		"e: E}}, S: {set: N}, L: {list: N, max: 2}}")
	w.line("messages: {A: , B: {fields: {n: N, o: \"E?\"}}, C: {fields: {r: R, t: S}}, D: {fields: {m: L}}}")
	w.line("channel: {capacity: %d, full: %s, lossy: %v, duplicates: %v}", 2+r.IntN(2), full, r.IntN(6) == 0,
		r.IntN(6) == 0)
	w.line("roles:")
	w.part()
	for _, role := range []string{"one", "two"} {
		w.role(role)
	}
	w.line("checks:\n  pair:\n    instances: {a: \"one(own: 0)\", b: \"two(own: %d)\"}", r.IntN(2))
	w.line("    domains: {N: 0..%d}", 1+r.IntN(2))
	w.line("    environment:\n      go: {when: \"len(out) < %d && n < 2\", times: %d}", 1+r.IntN(2), 2+r.IntN(2))
	w.line("      off: {when: \"len(out, A) + len(in, B) < 2\", times: 2}")
	if r.IntN(2) == 0 {
		w.line("    quiet: a.s0 || b.x.n > 0")
	}
	w.line("    claims:\n      c1: {always: \"len(a -> b, A) < 4\", why: lengths}\n      c2: {sometimes: " +
		"\"a.s1 && some(k in N: a.sub[k].hot)\", why: parts}")
	w.line("      c3: {agree: [\"len(a.l) <= 2\", \"true\"], when: a.s2, why: lists}")
	return w.String()
}

type specWriter struct {
	strings.Builder
	r *rand.Rand
}

func (w *specWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *specWriter) of(list ...string) string { return list[w.r.IntN(len(list))] }

// part writes the machine of the parts: it counts, may refuse, and reports.
func (w *specWriter) part() {
	w.line("  sub:\n    params: {first: bool}\n    vars: {n: N, seen: \"N?\"}\n    commands: {poke: " +
		"{fields: {k: N}}}\n    reports: {said: {fields: {n: N}}, over: {}}")
	w.line("    initial: cold\n    states:\n      cold:\n        poke: [{when: \"%s\", set: {n: k, seen: "+
		"k}, goto: hot}, {%s}]", w.of("k > 0", "first", "seen == none || k == seen"),
		w.of("report: \"said{n: k}\"", "send: A", "refuse: no", "set: {seen: none}"))
	w.line("        A: {%s}", w.of("report: over", "set: {n: 0}", "goto: hot"))
	w.line("      hot:\n        poke: {set: {n: \"min(n + k, 2)\"}, report: \"said{n}\", goto: cold}")
	if w.r.IntN(2) == 0 {
		w.line("        A: ignore")
	}
}

// role writes a role of three states.
func (w *specWriter) role(name string) {
	w.line("  %s:\n    params: {own: N}\n    vars: {x: R, l: L, g: {array: N, of: \"N?\"}, s: S, k: bool}", name)
	w.line("    timers: {wait: {ticks: 3}}\n    commands: {go: {fields: {n: N}}, off: {}}")
	w.line("    reports: {told: {fields: {n: N}}}\n    parts: {sub: {machine: sub, key: {j: N}, with: " +
		"{first: j == own}, send: {B: none, C: none, D: none}}}")
	w.line("    initial: s0\n    states:")
	for s := range 3 {
		w.line("      s%d:", s)
		if s == 2 && w.r.IntN(2) == 0 {
			w.line("        final: true")
		}
		if w.r.IntN(3) == 0 {
			w.line("        entry: [{%s}]", w.statement("own"))
		}
		w.line("        go: %s", w.handler("n"))
		w.line("        off: %s", w.handler("own"))
		w.line("        A: %s", w.handler("own"))
		w.line("        B: %s", w.handler("n"))
		w.line("        C: %s", w.handler("r.n"))
		w.line("        D: %s", w.handler("own"))
		w.line("        wait: %s", w.handler("x.n"))
		w.line("        sub.said: {%s}", w.of("set: {k: \"!k\"}", "set: {x.n: n}", "report: \"told{n}\"",
			"when: \"n >= 0\", set: {x.e: green}"))
		w.line("        sub.over: {%s}", w.of("set: {k: true}", "set: {\"g[j]\": none}"))
	}
}

// handler writes what is done with an event whose number is n.
func (w *specWriter) handler(n string) string {
	next := ""
	if w.r.IntN(2) == 0 {
		next = fmt.Sprintf(", goto: s%d", w.r.IntN(3))
	}
	if w.r.IntN(4) == 0 {
		return fmt.Sprintf("[{when: \"%s\", %s%s}, {%s}]", w.condition(n), w.statement(n), next, w.statement(n))
	}
	return fmt.Sprintf("{do: [{%s}, {%s}]%s}", w.statement(n), w.statement(n), next)
}

func (w *specWriter) condition(n string) string {
	return w.of("x.n == "+n, "contains(s, "+n+")", "len(l) > 0 && first(l) == "+n, "g["+n+"] != none",
		"all(i in N: i != "+n+" || k)",
		"sub["+n+"].hot", "count(i in s: i > 0) > 0", "k => wait", "x == R{n: own, e: red}")
}

// statement writes a statement, without its braces.
func (w *specWriter) statement(n string) string {
	return w.of("set: {x.n: "+n+"}", "set: {l: \"if(len(l) < 2, append(l, "+n+"), tail(l))\"}",
		"set: {\"g["+n+"]\": "+n+"}", "set: {s: \"with(s, "+n+")\"}",
		"set: {s: \"without(s, x.n)\"}", "set: {k: \"!k\"}", "set: {l: \"[i for i in l if i != "+n+
			"]\"}", "set: {x: \"R{n: "+n+", e: if(k, red, blue)}\"}",
		"if: k, then: [{set: {k: false}}], else: [{set: {x.n: \"(x.n + 1) % 2\"}}]",
		"each: {i: l}, do: [{set: {s: \"with(s, i)\"}}]", "set: {x.n: \"min(x.n, 1)\"}",
		"each: {i: N}, do: [{set: {\"g[i]\": none}}]", "run: \"sub["+n+"].poke{k: own}\"", "restart: \"sub["+n+
			"]\"", "start: wait", "stop: wait",
		"if: k, then: [{send: A}]", "if: \"!k\", then: [{send: \"B{n: "+n+", o: x.e}\"}]",
		"if: \"len(s) == 1\", then: [{send: \"C{r: x, t: s}\"}]", "if: k, then: [{send: \"D{m: l}\"}]",
		"set: {k: \"x.e != red\"}", "if: \"g["+n+"] != none\", then: [{set: {x.n: \"g["+n+
			"]\"}}]", "report: \"told{n: "+n+"}\"")
}
