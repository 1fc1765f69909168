package second

import (
	"fmt"
	"github.com/parley-go/parley/proptest/second/machine"
	"runtime/debug"
	"slices"
)

// Result is what the search of a check has found.
type Result struct {
	Configurations int
	Depth          int            // of the configuration that is furthest away
	Violated       map[string]int // by the name of the claim: the length of a shortest run that shows it
	Witness        map[string]int // of `sometimes`: the length of a shortest run to it
	Complete       bool
}

// Options of [Spec.Run].
type Options struct {
	Most int // configurations; 0 for no limit
}

type edge struct {
	to int // -1: the step is an error
	mv *move
}

type node struct {
	c     *config
	depth int
	edges []edge
}

// Run searches a check to its end. The error says what of the check this checker does not know.
func (s *Spec) Run(check string, o Options) (res *Result, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case machine.Unsupported:
			err = fmt.Errorf("%s", string(x))
		case machine.Fault:
			err = fmt.Errorf("a fault outside of a step: %s", x.Why)
		default:
			err = fmt.Errorf("%v\n%s", x, debug.Stack())
		}
	}()
	return (&search{w: newWorld(s.root, check), o: o}).run(), nil
}

type search struct {
	w     *world
	o     Options
	res   *Result
	nodes []*node
	index map[string]int
	list  []claim
}

func (s *search) violated(name string, length int) {
	if old, is := s.res.Violated[name]; !is || length < old {
		s.res.Violated[name] = length
	}
}

// add returns the number of a configuration, which it keeps if it is new.
func (s *search) add(c *config, depth int) int {
	for _, name := range s.w.settle(c) {
		s.violated(name, depth)
	}
	key := c.text(s.w)
	if i, known := s.index[key]; known {
		return i
	}
	i := len(s.nodes)
	s.index[key] = i
	s.nodes = append(s.nodes, &node{c: c, depth: depth})
	s.res.Depth = depth
	for _, cl := range s.list {
		s.look(c, cl, depth)
	}
	return i
}

func (s *search) run() *Result {
	w := s.w
	s.res = &Result{Violated: map[string]int{}, Witness: map[string]int{}, Complete: true}
	s.index = map[string]int{}
	s.list = w.claims()
	s.add(w.first(), 0)
	for at := 0; at < len(s.nodes); at++ {
		if s.o.Most > 0 && len(s.nodes) > s.o.Most {
			s.res.Complete = false
			break
		}
		n := s.nodes[at]
		moves := w.moves(n.c)
		for i := range moves {
			mv := &moves[i]
			if mv.violation != "" {
				s.violated(mv.violation, n.depth+1)
				n.edges = append(n.edges, edge{-1, mv})
				continue
			}
			to := s.add(mv.to, n.depth+1)
			mv.to = nil
			n.edges = append(n.edges, edge{to, mv})
		}
		s.rest(n)
	}
	s.res.Configurations = len(s.nodes)
	if s.res.Complete {
		for _, c := range s.list {
			switch c.kind {
			case "sometimes":
				if _, is := s.res.Witness[c.name]; !is {
					s.violated(c.name, 0)
				}
			case "reachable":
				s.reachable(c)
			case "eventually", "leadsTo":
				if c.within == 0 {
					s.live(c)
				}
			case "confluent":
				s.confluent(c)
			}
		}
	}
	return s.res
}

// look evaluates claims about single configurations.
func (s *search) look(c *config, cl claim, depth int) {
	w := s.w
	if cl.when != nil && cl.kind != "leadsTo" && !w.holds(c, cl.when) {
		return
	}
	if cl.quiescent && !(&view{w, c}).under(-1, -1, nil, true).(bool) {
		return
	}
	switch cl.kind {
	case "always":
		if !w.holds(c, cl.exprs[0]) {
			s.violated(cl.name, depth)
		}
	case "agree":
		if !s.agree(c, cl) {
			s.violated(cl.name, depth)
		}
	case "sometimes":
		if old, is := s.res.Witness[cl.name]; (!is || depth < old) && w.holds(c, cl.exprs[0]) {
			s.res.Witness[cl.name] = depth
		}
	}
}

func (s *search) agree(c *config, cl claim) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(machine.Fault); !is {
				panic(r)
			}
			ok = false
		}
	}()
	var vs []machine.Value
	e := s.w.see(c)
	for _, x := range cl.exprs {
		vs = append(vs, e.Eval(x))
	}
	if len(cl.exprs) == 1 {
		vs = machine.Elements(vs[0])
	}
	for _, v := range vs {
		if !machine.Equal(v, vs[0]) {
			return false
		}
	}
	return true
}

// rest judges a configuration from which little or nothing is possible.
func (s *search) rest(n *node) {
	w := s.w
	commands, others := false, false
	for _, e := range n.edges {
		switch e.mv.kind {
		case isCommand, isComing:
			commands = true
		case isBeat:
			others = others || w.waits(n.c)
		case isFault:
		default:
			others = true
		}
	}
	if others {
		return
	}
	final := true
	for i := range n.c.in {
		in := &n.c.in[i]
		final = final && (in.m == nil || in.down || in.m.R.States[in.m.State].Final)
	}
	quiet := w.quiet != nil && w.holds(n.c, w.quiet)
	messages, held := false, false
	for _, items := range n.c.ch {
		messages = messages || slices.ContainsFunc(items, func(it item) bool { return it.news == "" })
	}
	for i := range n.c.in {
		held = held || len(n.c.in[i].held) > 0
	}
	switch {
	case messages && !final:
		s.violated("deadlock", n.depth)
	case !final && !quiet && (!commands || w.quiet != nil):
		s.violated("deadlock", n.depth)
	case !commands && (messages || held):
		s.violated("orphan-message", n.depth)
	}
}

// waits reports whether the passing of time can bring anything.
func (w *world) waits(c *config) bool {
	for i := range c.in {
		if c.in[i].m != nil && c.in[i].m.AnyTimer() {
			return true
		}
	}
	return slices.ContainsFunc(c.ch, func(items []item) bool { return len(items) > 0 })
}

// reachable: from every configuration, one that satisfies the claim can be reached.
func (s *search) reachable(c claim) {
	good := make([]bool, len(s.nodes))
	back := make([][]int, len(s.nodes))
	var todo []int
	for i, n := range s.nodes {
		for _, e := range n.edges {
			if e.to >= 0 {
				back[e.to] = append(back[e.to], i)
			}
		}
		if s.w.holds(n.c, c.exprs[0]) {
			good[i] = true
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range back[i] {
			if !good[j] {
				good[j] = true
				todo = append(todo, j)
			}
		}
	}
	for i, n := range s.nodes {
		if !good[i] && (c.when == nil || s.w.holds(n.c, c.when)) {
			s.violated(c.name, n.depth)
		}
	}
}

// units are what a step is for fairness: the transition or channel, or the message in it, and what programs
// promise. A unit begins with whether it has to happen again and again ("strong") or without pause ("weak").
func (s *search) units(c claim, mv *move) (out []string) {
	if mv.kind == isCommand {
		r := s.w.roles[mv.who]
		for _, name := range r.Commands {
			rule := s.w.rule(r, name)
			if rule.fair != "" && (name == mv.event || slices.Contains(rule.or, mv.event)) {
				out = append(out, fmt.Sprint(rule.fair, " promise ", mv.who, name))
			}
		}
		return out
	}
	if mv.kind == isFault || mv.kind == isHostile || mv.kind == isComing {
		return nil
	}
	fair := c.fair
	if fair == "messages" {
		fair = "strong"
		if mv.message != "" {
			return []string{fmt.Sprint("strong ", mv.who, mv.class, mv.message)}
		}
	}
	if mv.kind == isBeat {
		return []string{fmt.Sprint("strong ", mv.who, " beat")}
	}
	return []string{fmt.Sprint(fair, " ", mv.who, mv.class)}
}

// live decides eventually and leadsTo: is there a fair run that never comes to the goal?
func (s *search) live(c claim) {
	bad := make([]bool, len(s.nodes))
	for i, n := range s.nodes {
		bad[i] = !s.w.holds(n.c, c.exprs[0])
	}
	lasting := make([]bool, len(s.nodes)) // a fair run stays here for ever, or stops
	var here []int
	for i, n := range s.nodes {
		if !bad[i] {
			continue
		}
		here = append(here, i)
		must := slices.ContainsFunc(n.edges, func(e edge) bool { return len(s.units(c, e.mv)) > 0 })
		if !must {
			lasting[i] = true
		}
	}
	s.fairCycles(c, here, lasting)
	// Which configurations lead there without the goal on the way?
	back := map[int][]int{}
	var todo []int
	for _, i := range here {
		for _, e := range s.nodes[i].edges {
			if e.to >= 0 && bad[e.to] {
				back[e.to] = append(back[e.to], i)
			}
		}
		if lasting[i] {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range back[i] {
			if !lasting[j] {
				lasting[j] = true
				todo = append(todo, j)
			}
		}
	}
	for _, i := range here {
		if !lasting[i] {
			continue
		}
		if c.kind == "eventually" && i == 0 || c.kind == "leadsTo" && s.w.holds(s.nodes[i].c, c.when) {
			s.violated(c.name, 0)
		}
	}
}

// fairCycles marks the configurations of those components in which a fair run can stay for ever.
func (s *search) fairCycles(c claim, among []int, mark []bool) {
	for _, comp := range s.components(among) {
		in := map[int]bool{}
		for _, i := range comp {
			in[i] = true
		}
		taken, possible, always := map[string]bool{}, map[string]bool{}, map[string]int{}
		cycle := false
		for _, i := range comp {
			own := map[string]bool{}
			for _, e := range s.nodes[i].edges {
				for _, u := range s.units(c, e.mv) {
					own[u] = true
				}
				if e.to >= 0 && in[e.to] {
					cycle = true
					for _, u := range s.units(c, e.mv) {
						taken[u] = true
					}
				}
			}
			for u := range own {
				possible[u] = true
				always[u]++
			}
		}
		if !cycle {
			continue
		}
		fair := true
		without := map[string]bool{}
		for u := range possible {
			switch {
			case taken[u]:
			case len(u) > 5 && u[:5] == "weak " && always[u] == len(comp):
				fair = false
			case len(u) > 7 && u[:7] == "strong ":
				without[u] = true
			}
		}
		if !fair {
			continue // smaller cycles leave out no more of it
		}
		if len(without) == 0 {
			for _, i := range comp {
				mark[i] = true
			}
			continue
		}
		// A run that stays must keep away from where these are possible.
		var rest []int
		for _, i := range comp {
			if !slices.ContainsFunc(s.nodes[i].edges, func(e edge) bool {
				return slices.ContainsFunc(s.units(c, e.mv),
					func(u string) bool { return without[u] })
			}) {
				rest = append(rest, i)
			}
		}
		s.fairCycles(c, rest, mark)
	}
}

// components are the strongly connected components of the graph among these configurations (Tarjan 1972).
func (s *search) components(among []int) (out [][]int) {
	in := map[int]bool{}
	for _, i := range among {
		in[i] = true
	}
	num, low, on := map[int]int{}, map[int]int{}, map[int]bool{}
	var stack []int
	type frame struct{ i, edge int }
	for _, root := range among {
		if num[root] > 0 {
			continue
		}
		work := []frame{{root, 0}}
		for len(work) > 0 {
			f := &work[len(work)-1]
			i := f.i
			if f.edge == 0 {
				num[i] = len(num) + 1
				low[i] = num[i]
				stack, on[i] = append(stack, i), true
			}
			descended := false
			for f.edge < len(s.nodes[i].edges) {
				to := s.nodes[i].edges[f.edge].to
				f.edge++
				if to < 0 || !in[to] {
					continue
				}
				if num[to] == 0 {
					work = append(work, frame{to, 0})
					descended = true
					break
				}
				if on[to] {
					low[i] = min(low[i], num[to])
				}
			}
			if descended {
				continue
			}
			if len(s.nodes[i].edges) == 0 || f.edge >= len(s.nodes[i].edges) {
				if low[i] == num[i] {
					var comp []int
					for {
						j := stack[len(stack)-1]
						stack, on[j] = stack[:len(stack)-1], false
						comp = append(comp, j)
						if j == i {
							break
						}
					}
					out = append(out, comp)
				}
				work = work[:len(work)-1]
				if len(work) > 0 {
					up := work[len(work)-1].i
					low[up] = min(low[up], low[i])
				}
			}
		}
	}
	return out
}

// confluent: where two events are both possible, their order does not matter.
func (s *search) confluent(c claim) {
	event := func(e edge) bool {
		k := e.mv.kind
		return e.to >= 0 && (k == isCommand || k == isTimer || k == isReceive || k == isStart) &&
			!slices.Contains(c.except, e.mv.event)
	}
	after := func(i int, mv *move) int {
		for _, e := range s.nodes[i].edges {
			if e.to >= 0 && e.mv.who == mv.who && e.mv.kind == mv.kind && e.mv.label == mv.label {
				return e.to
			}
		}
		return -1
	}
	for _, n := range s.nodes {
		for i, a := range n.edges {
			for _, b := range n.edges[i+1:] {
				if !event(a) || !event(b) || a.mv.who == b.mv.who &&
					a.mv.kind == isCommand && b.mv.kind == isCommand ||
					a.mv.kind == isReceive && b.mv.kind == isReceive && a.mv.class == b.mv.class {
					continue
				}
				x, y := after(a.to, b.mv), after(b.to, a.mv)
				if x >= 0 && y >= 0 && x != y {
					s.violated(c.name, n.depth)
				}
			}
		}
	}
}
