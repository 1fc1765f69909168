package second

import "slices"

// live decides eventually and leadsTo: is there a fair run that never comes to the goal?
func (g *graph) live(c *claim) bool {
	n := int32(len(g.marks))
	f := &fair{graph: g, in: make([]int32, n), num: make([]int32, n), low: make([]int32, n)}
	var units int
	f.of, units = g.units(c)
	f.taken, f.possible, f.always = make([]bool, units), make([]fairness, units), make([]int, units)
	f.last = make([]int32, units)
	lasting := make([]bool, n) // a fair run stays here for ever, or stops
	var here []int32
	for i := range n {
		if g.goal(c, i) {
			continue
		}
		here = append(here, i)
		// A run ends at an error, so that a step which is one is nothing that has to happen.
		lasting[i] = !slices.ContainsFunc(g.steps(i), func(e edge) bool {
			return e.to >= 0 && len(f.of[e.desc]) > 0
		})
	}
	f.cycles(here, lasting)
	g.backwards(lasting, func(i int32) bool { return !g.goal(c, i) })
	for _, i := range here {
		if lasting[i] && (c.kind == "eventually" && i == 0 || c.kind == "leadsTo" && g.asked(c, i)) {
			return true
		}
	}
	return false
}

// fair looks for cycles that a fair run can stay in.
type fair struct {
	*graph
	of       [][]unit // of each kind of step
	in       []int32  // the set that a configuration is in, by its number
	sets     int32
	num, low []int32
	// Of the component that is looked at, for each unit:
	taken    []bool
	possible []fairness
	always   []int
	last     []int32
}

// set makes a set of configurations, which lasts until one of them is put into another.
func (f *fair) set(list []int32) int32 {
	f.sets++
	for _, i := range list {
		f.in[i] = f.sets
	}
	return f.sets
}

// cycles marks the configurations of those components in which a fair run can stay for ever.
func (f *fair) cycles(among []int32, mark []bool) {
	for _, comp := range f.components(among) {
		here := f.set(comp)
		cycle, seen := false, []int{}
		for _, i := range comp {
			for _, e := range f.steps(i) {
				if e.to < 0 {
					continue
				}
				inside := f.in[e.to] == here
				cycle = cycle || inside
				for _, u := range f.of[e.desc] {
					if f.possible[u.no] == unfair && f.last[u.no] == 0 {
						seen = append(seen, u.no)
					}
					f.possible[u.no] = u.fair
					f.taken[u.no] = f.taken[u.no] || inside
					if f.last[u.no] != i+1 {
						f.last[u.no] = i + 1
						f.always[u.no]++
					}
				}
			}
		}
		stays, without := cycle, []bool(nil)
		for _, u := range seen {
			switch {
			case f.taken[u]:
			case f.possible[u] == weak && f.always[u] == len(comp):
				stays = false // smaller cycles leave out no more of it
			case f.possible[u] == strong:
				if without == nil {
					without = make([]bool, len(f.taken))
				}
				without[u] = true
			}
		}
		for _, u := range seen {
			f.taken[u], f.possible[u], f.always[u], f.last[u] = false, unfair, 0, 0
		}
		switch {
		case !stays:
		case without == nil:
			for _, i := range comp {
				mark[i] = true
			}
		default:
			// A run that stays must keep away from where these are possible.
			var rest []int32
			for _, i := range comp {
				if !slices.ContainsFunc(f.steps(i), func(e edge) bool {
					return e.to >= 0 &&
						slices.ContainsFunc(f.of[e.desc], func(u unit) bool { return without[u.no] })
				}) {
					rest = append(rest, i)
				}
			}
			f.cycles(rest, mark)
		}
	}
}

// components are the strongly connected components of the graph among these configurations (Tarjan 1972).
func (f *fair) components(among []int32) (out [][]int32) {
	here := f.set(among)
	for _, i := range among {
		f.num[i] = 0
	}
	var stack []int32
	type frame struct {
		i    int32
		edge int
	}
	var work []frame
	count := int32(0)
	const done = int32(1<<31 - 1) // of low: it is on the stack no more
	visit := func(i int32) {
		count++
		f.num[i], f.low[i] = count, count
		stack = append(stack, i)
		work = append(work, frame{i, 0})
	}
	for _, root := range among {
		if f.num[root] > 0 {
			continue
		}
		visit(root)
		for len(work) > 0 {
			at := &work[len(work)-1]
			i, steps := at.i, f.steps(at.i)
			if at.edge < len(steps) {
				to := steps[at.edge].to
				at.edge++
				switch {
				case to < 0 || f.in[to] != here:
				case f.num[to] == 0:
					visit(to)
				case f.low[to] != done:
					f.low[i] = min(f.low[i], f.num[to])
				}
				continue
			}
			work = work[:len(work)-1]
			if f.low[i] == f.num[i] {
				k := len(stack) - 1
				for stack[k] != i {
					k--
				}
				out = append(out, slices.Clone(stack[k:]))
				for _, j := range stack[k:] {
					f.low[j] = done
				}
				stack = stack[:k]
			} else {
				up := work[len(work)-1].i
				f.low[up] = min(f.low[up], f.low[i])
			}
		}
	}
	return out
}
