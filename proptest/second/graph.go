package second

import (
	"fmt"
	"slices"
	"strings"
)

// graph is what claims about runs need: all configurations by number, with their steps.
type graph struct {
	w       *world
	wanted  bool
	marks   []uint64
	depths  []int32
	from    []int64 // where the steps of a configuration begin in edges; one more at the end
	edges   []edge
	numbers map[desc]uint32
	descs   []desc
}

type edge struct {
	to   int32 // -1: the step is an error
	desc uint32
}

func (g *graph) add(marks uint64, depth int) {
	g.marks, g.depths = append(g.marks, marks), append(g.depths, int32(depth))
}

// step adds a step of the configuration that is next in turn; end ends it.
func (g *graph) step(to int32, d desc) {
	if !g.w.labels {
		d.label, d.took = "", ""
	}
	n, known := g.numbers[d]
	if !known {
		n = uint32(len(g.descs))
		g.numbers[d] = n
		g.descs = append(g.descs, d)
	}
	if len(g.from) == 0 {
		g.from = append(g.from, 0)
	}
	g.edges = append(g.edges, edge{to, n})
}

func (g *graph) end() {
	if len(g.from) == 0 {
		g.from = append(g.from, 0)
	}
	g.from = append(g.from, int64(len(g.edges)))
}

func (g *graph) steps(i int32) []edge { return g.edges[g.from[i]:g.from[i+1]] }

func (g *graph) goal(c *claim, i int32) bool { return g.marks[i]>>c.bit&1 == 1 }

// asked reports whether `when` holds; without it, that is everywhere.
func (g *graph) asked(c *claim, i int32) bool { return c.when == nil || g.marks[i]>>(c.bit+1)&1 == 1 }

// violated reports whether a claim about runs is violated, and how long a shortest run is that shows it,
// where that is known.
func (g *graph) violated(c *claim) (length int, is bool) {
	switch c.kind {
	case "reachable":
		return g.reachable(c)
	case "confluent":
		return g.confluent(c)
	}
	return 0, g.live(c)
}

// backwards spreads marks against the direction of steps, but not into configurations outside of within.
func (g *graph) backwards(marked []bool, within func(i int32) bool) {
	n := int32(len(g.marks))
	start := make([]int64, n+2)
	for i := range n {
		for _, e := range g.steps(i) {
			if e.to >= 0 {
				start[e.to+2]++
			}
		}
	}
	for i := range n {
		start[i+2] += start[i+1]
	}
	back := make([]int32, start[n+1])
	for i := range n {
		for _, e := range g.steps(i) {
			if e.to >= 0 {
				back[start[e.to+1]] = i
				start[e.to+1]++
			}
		}
	}
	var todo []int32
	for i := range n {
		if marked[i] {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range back[start[i]:start[i+1]] {
			if !marked[j] && within(j) {
				marked[j] = true
				todo = append(todo, j)
			}
		}
	}
}

// reachable: from every configuration, one that satisfies the claim can be reached.
func (g *graph) reachable(c *claim) (length int, is bool) {
	good := make([]bool, len(g.marks))
	for i := range good {
		good[i] = g.goal(c, int32(i))
	}
	g.backwards(good, func(int32) bool { return true })
	for i := range good {
		if !good[i] && g.asked(c, int32(i)) {
			return int(g.depths[i]), true
		}
	}
	return 0, false
}

// unit is what fairness is about: the transition or channel, or the message in it, and what programs promise.
type unit struct {
	no   int
	fair fairness
}

type fairness int

const (
	unfair fairness = iota // a run goes on while it is possible, and that is all
	weak                   // it happens if it stays possible
	strong                 // it happens if it is possible again and again
)

// units are what each kind of step is for the fairness of a claim, and how many there are.
func (g *graph) units(c *claim) (all [][]unit, n int) {
	known := map[string]int{}
	all = make([][]unit, len(g.descs))
	for k, d := range g.descs {
		for _, u := range g.unitNames(c, &d) {
			if _, is := known[u]; !is {
				known[u] = len(known)
			}
			how, _, _ := strings.Cut(u, " ")
			all[k] = append(all[k], unit{known[u], map[string]fairness{"weak": weak, "strong": strong}[how]})
		}
	}
	return all, len(known)
}

// unitNames names them. A name begins with whether it is strong or weak; of a claim without fairness with
// neither: then a run goes on while such a step is possible.
func (g *graph) unitNames(c *claim, d *desc) (out []string) {
	if d.kind == isCommand {
		r := g.w.roles[d.who]
		for _, name := range r.Commands {
			rule := g.w.rule(r, name)
			if rule.fair != "" && (name == d.event || slices.Contains(rule.or, d.event)) {
				out = append(out, fmt.Sprint(rule.fair, " promise ", d.who, name))
			}
		}
		return out
	}
	if d.kind == isFault || d.kind == isMedium || d.kind == isHostile || d.kind == isComing {
		return nil
	}
	fair := c.fair
	if fair == "messages" {
		fair = "strong"
		if d.message != "" {
			return []string{fmt.Sprint("strong ", d.who, d.class, d.message)}
		}
	}
	if d.kind == isBeat {
		return []string{fmt.Sprint("strong ", d.who, " beat")}
	}
	return []string{fmt.Sprint(fair, " ", d.who, d.class)}
}

// confluent: where two events are both possible, their order does not matter.
func (g *graph) confluent(c *claim) (length int, is bool) {
	event := func(e edge) *desc {
		d := &g.descs[e.desc]
		if e.to >= 0 && (d.kind == isCommand || d.kind == isTimer || d.kind == isReceive || d.kind == isStart) &&
			!slices.Contains(c.except, d.event) && !slices.Contains(c.except, d.took) {
			return d
		}
		return nil
	}
	after := func(i int32, d *desc) int32 {
		for _, e := range g.steps(i) {
			if x := &g.descs[e.desc]; e.to >= 0 && x.who == d.who && x.kind == d.kind && x.label == d.label {
				return e.to
			}
		}
		return -1
	}
	for i := range g.marks {
		steps := g.steps(int32(i))
		for k, a := range steps {
			x := event(a)
			if x == nil {
				continue
			}
			for _, b := range steps[k+1:] {
				y := event(b)
				if y == nil || x.who == y.who && x.kind == isCommand && y.kind == isCommand ||
					x.kind == isReceive && y.kind == isReceive && x.class == y.class {
					continue
				}
				p, q := after(a.to, y), after(b.to, x)
				if p >= 0 && q >= 0 && p != q {
					return int(g.depths[i]), true
				}
			}
		}
	}
	return 0, false
}
