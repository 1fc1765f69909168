package explore

import (
	"fmt"
	"math/bits"
	"slices"
)

// Claims about fair runs, decided in another way: a run that goes on for ever visits some set of
// configurations again and again, and the best it can do for fairness is to take every step
// inside that set. So all sets are tried, which is possible where there are few configurations.

// fairGraph is what can be visited without meeting Eval.
type fairGraph struct {
	confs       []*conf
	edges       [][]fairEdge
	constraints map[int]Fairness // by unit
	starts      []int
}

// fairEdge is one step; to is -1 if it leads out, unit -1 if it need never happen.
type fairEdge struct{ to, unit int }

// fairGraph builds it for claim i.
func (n *naive) fairGraph(i int) *fairGraph { return n.fairGraphOf(&n.sys.Claims[i]) }

func (n *naive) fairGraphOf(cl *Claim) *fairGraph {
	g := &fairGraph{constraints: n.constraints()}
	number := map[string]int{}
	for at, c := range n.confs {
		if n.holds(c, cl, cl.Eval) {
			continue
		}
		if cl.Kind == Eventually && at == 0 || cl.Kind == LeadsTo &&
			(cl.Relevant == nil || n.holds(c, cl, cl.Relevant)) {
			g.starts = append(g.starts, len(g.confs))
		}
		number[c.key()] = len(g.confs)
		g.confs = append(g.confs, c)
	}
	for _, c := range g.confs {
		var edges []fairEdge
		for _, s := range n.succ[c.key()] {
			if s.spontaneous && cl.Calm {
				continue
			}
			to, ok := number[s.key]
			if !ok {
				to = -1
			}
			for _, u := range n.units(&s, cl.Fair) {
				edges = append(edges, fairEdge{to, u})
			}
		}
		g.edges = append(g.edges, edges)
	}
	return g
}

// units is what a step is for fairness: -1 alone if it need never happen.
func (n *naive) units(s *naiveStep, fair Fairness) (list []int) {
	if s.fault {
		return []int{-1}
	}
	for _, d := range s.step.Constraints {
		list = append(list, 1000+d)
	}
	switch {
	case s.spontaneous && len(list) == 0:
		return []int{-1}
	case s.spontaneous:
		return list
	case s.kind == LocalStep:
		return append(list, int(s.step.Label))
	case fair == StrongMessages:
		if n.messages == nil {
			n.messages = map[string]int{}
		}
		name := fmt.Sprint(s.ch, " ", s.msg[:1]) // whatever its age
		if _, ok := n.messages[name]; !ok {
			n.messages[name] = 2000 + len(n.messages)
		}
		return append(list, n.messages[name])
	}
	return append(list, len(n.sys.Labels)+s.ch)
}

// constraints says by unit how constraints are treated.
func (n *naive) constraints() map[int]Fairness {
	m := map[int]Fairness{}
	for d := range n.sys.Constraints {
		m[1000+d] = n.sys.Constraints[d].Fair
	}
	return m
}

// unfair reports whether it is unfair to unit u that it is not taken where it is possible at so many
// of all places.
func unfair(u, possible, all int, fair Fairness, constraints map[int]Fairness) bool {
	if f, ok := constraints[u]; ok {
		fair = f
	} else if fair == StrongMessages {
		fair = Strong
	}
	return u >= 0 && (fair == Strong && possible > 0 || fair == Weak && possible == all)
}

// reach is all that can be reached from the configurations in from, staying inside within.
func (g *fairGraph) reach(from, within uint64) uint64 {
	for todo := from; todo != 0; {
		v := bits.TrailingZeros64(todo)
		todo &^= 1 << v
		for _, e := range g.edges[v] {
			if e.to >= 0 && within>>e.to&1 != 0 && from>>e.to&1 == 0 {
				from |= 1 << e.to
				todo |= 1 << e.to
			}
		}
	}
	return from
}

// fails reports whether some fair run from a start stays in the graph; ok is false if
// that would take too long to find out.
func (g *fairGraph) fails(fair Fairness) (fails, ok bool) {
	if len(g.confs) > 64 {
		return false, false
	}
	from := uint64(0)
	for _, v := range g.starts {
		from |= 1 << v
	}
	from = g.reach(from, ^uint64(0))
	for v := range g.confs {
		if from>>v&1 != 0 && !slices.ContainsFunc(g.edges[v], func(e fairEdge) bool { return e.unit >= 0 }) {
			return true, true // it may stop here
		}
	}
	for v := range g.confs { // sets whose least member is v
		if from>>v&1 == 0 {
			continue
		}
		forward := g.reach(1<<v, from&^(1<<v-1))
		both := uint64(0)
		for x := range g.confs {
			if forward>>x&1 != 0 && g.reach(1<<x, from&^(1<<v-1))>>v&1 != 0 {
				both |= 1 << x
			}
		}
		if bits.OnesCount64(both) > 11 {
			return false, false
		}
		for set := both; set != 0; set = (set - 1) & both {
			if set>>v&1 != 0 && g.staysFair(set, fair) {
				return true, true
			}
		}
	}
	return false, true
}

// staysFair reports whether a run can visit exactly set again and again, and be fair.
func (g *fairGraph) staysFair(set uint64, fair Fairness) bool {
	possible, taken := map[int]int{}, map[int]bool{}
	inner := false
	for v := range g.confs {
		if set>>v&1 == 0 {
			continue
		}
		if g.reach(1<<v, set) != set {
			return false
		}
		here := map[int]bool{}
		for _, e := range g.edges[v] {
			here[e.unit] = true
			if e.to >= 0 && set>>e.to&1 != 0 {
				inner, taken[e.unit] = true, true
			}
		}
		for u := range here {
			possible[u]++
		}
	}
	for u, k := range possible {
		if !taken[u] && unfair(u, k, bits.OnesCount64(set), fair, g.constraints) {
			return false
		}
	}
	return inner
}
