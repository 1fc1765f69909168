package check

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/fsm"
)

// timed is a configuration of a check that counts time, in the plainest form: for each instance its
// value, how many beats each timer has left at least and at most, and whether there is a beat that it has not felt; and
// the messages under way. felt is the number of the beat that each instance has felt last, where 0
// is the last that any of those that the claim looks at had felt when its waiting began; nil if it
// does not wait.
type timed struct {
	v     []interp.Value
	left  [][][2]int64
	ahead []bool
	q     [][][]string // from, to
	held  [][]deferred // by instance, oldest first
	felt  []int64
}

// deferred is a message that an instance holds.
type deferred struct {
	from int
	text string
}

func (g *timed) clone() *timed {
	n := &timed{ahead: slices.Clone(g.ahead), felt: slices.Clone(g.felt)}
	for i := range g.v {
		n.held = append(n.held, slices.Clone(g.held[i]))
		n.v, n.left = append(n.v, slices.Clone(g.v[i])), append(n.left, slices.Clone(g.left[i]))
		n.q = append(n.q, nil)
		for _, w := range g.q[i] {
			n.q[i] = append(n.q[i], slices.Clone(w))
		}
	}
	return n
}

func (g *timed) key() string {
	var b []byte
	text := func(s string) { b = append(append(b, s...), 0) }
	for i := range g.v {
		b = codec.AppendSlots(b, g.v[i])
		for _, left := range g.left[i] {
			b = codec.AppendSlots(b, left[:])
		}
		if g.ahead[i] {
			b = append(b, 1)
		}
		b = append(b, 0)
		for _, w := range g.q[i] {
			for _, msg := range w {
				text(msg)
			}
			b = append(b, 0)
		}
		for _, h := range g.held[i] {
			b = append(b, byte(h.from+1))
			text(h.text)
		}
		b = append(b, 0)
	}
	return string(codec.AppendSlots(b, g.felt))
}

// timedSearch goes through all runs, shortest first, with nothing but the interpreter and LANGUAGE.md.
type timedSearch struct {
	t     *testing.T
	check *model.Check
	claim *model.Claim // nil: none
	about []int        // instances that it looks at
	late  int          // steps to where it is violated, -1: nowhere
	waits bool         // whether it ever waited
	seen  map[string]bool
	next  []*timed
	roles interpreters
}

func (s *timedSearch) timers(i int) (out []*model.Event) {
	for _, ev := range s.check.Instances[i].Role.Events {
		if ev.Kind == model.EventTimer {
			out = append(out, ev)
		}
	}
	return out
}

// maxTimed is how many configurations a random check may have.
const maxTimed = 1500

func (s *timedSearch) run() {
	n := len(s.check.Instances)
	g := &timed{ahead: make([]bool, n)}
	for i, inst := range s.check.Instances {
		v, err := interp.NewValue(inst.Role, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		g.held = append(g.held, nil)
		g.v, g.left, g.q = append(g.v, v), append(g.left, make([][2]int64, len(s.timers(i)))),
			append(g.q, make([][]string, n))
	}
	s.seen, s.late = map[string]bool{}, -1
	s.add(g)
	for depth := 1; len(s.next) > 0 && (s.claim != nil || len(s.seen) <= maxTimed); depth++ {
		level := s.next
		s.next = nil
		for _, g := range level {
			s.expand(g)
		}
		if s.late == 0 {
			s.late = depth
		}
		if s.late > 0 {
			return
		}
	}
}

// add judges a configuration that a step led to.
func (s *timedSearch) add(g *timed) {
	if s.claim != nil {
		switch {
		case s.holds(g, s.claim.Expr):
			g.felt = nil
		case g.felt == nil && s.holds(g, s.claim.When):
			g.felt = s.numbers(g)
		}
		s.waits = s.waits || g.felt != nil
		late := g.felt != nil
		for _, i := range s.about {
			late = late && g.felt[i] > s.most()
		}
		if late {
			s.late = 0
		}
	}
	if k := g.key(); !s.seen[k] {
		s.seen[k] = true
		s.next = append(s.next, g)
	}
}

// most is how many beats may pass.
func (s *timedSearch) most() int64 {
	return s.claim.Within/s.check.Time.Beat - 1
}

// lasts is how many whole beats a timer of an instance can take: its clock is a little too fast or too
// slow, and it may have been started at any moment between two beats.
func (s *timedSearch) lasts(i int, ticks int64) [2]int64 {
	off := 0.0
	if s.check.Time.Drift != nil {
		off = float64(s.check.Time.Drift[i]) / 1e6
	}
	beat := float64(s.check.Time.Beat)
	least, most := float64(ticks)/(1+off)/beat, float64(ticks)/(1-off)/beat
	return [2]int64{int64(math.Floor(least + 1e-9)), int64(math.Ceil(most - 1e-9))}
}

// numbers gives the numbers of the beats felt last.
func (s *timedSearch) numbers(g *timed) []int64 {
	last := make([]int64, len(g.v))
	for i := range last {
		if g.ahead[i] {
			last[i] = -1
		}
	}
	newest := int64(-1)
	for _, i := range s.about {
		newest = max(newest, last[i])
	}
	for i := range last {
		if last[i] -= newest; !slices.Contains(s.about, i) {
			last[i] = 0
		}
	}
	return last
}

func (s *timedSearch) holds(g *timed, e model.Expr) bool {
	x := interp.Eval{ChanLen: func(l *model.ChanLen) (n int64) {
		for i := range g.q {
			for j, w := range g.q[i] {
				if (l.From == nil || l.From.Index == i) && (l.To == nil || l.To.Index == j) {
					n += int64(len(w))
					for _, h := range g.held[j] {
						if h.from == i {
							n++
						}
					}
				}
			}
		}
		return n
	}}
	for _, v := range g.v {
		x.Instances = append(x.Instances, append(slices.Clone(v), 0))
	}
	ok, err := x.Bool(core.Of(e), nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return ok
}

func (s *timedSearch) expand(g *timed) {
	if !slices.Contains(g.ahead, true) {
		n := g.clone()
		for i := range n.ahead {
			n.ahead[i] = true
		}
		s.add(n)
	}
	for i, inst := range s.check.Instances {
		if k := slices.IndexFunc(g.held[i], func(h deferred) bool { return !s.defers(g, i, h) }); k >= 0 {
			n := g.clone()
			n.held[i] = slices.Delete(n.held[i], k, k+1)
			s.step(n, i, s.reception(i, g.held[i][k]), true)
			continue
		}
		for _, ev := range inst.Role.Commands {
			s.step(g.clone(), i, interp.Event{Event: ev}, false)
		}
		quiet := true
		for k, ev := range s.timers(i) {
			if g.v[i][ev.Timer.Offset] != 0 && g.left[i][k][0] == 0 {
				quiet = quiet && g.left[i][k][1] > 0
				n := g.clone()
				s.step(n, i, interp.Event{Event: ev}, true)
			}
		}
		for from := range g.q {
			if w := g.q[from][i]; len(w) > 0 {
				quiet = false
				n := g.clone()
				n.q[from][i] = n.q[from][i][1:]
				if x := (deferred{from, w[0]}); s.defers(g, i, x) {
					n.held[i] = append(n.held[i], x)
					if len(n.held[i]) <= model.DefaultDeferred {
						s.add(n)
					}
				} else {
					s.step(n, i, s.reception(i, x), true)
				}
			}
		}
		if quiet && g.ahead[i] {
			s.feel(g.clone(), i)
		}
	}
}

func (s *timedSearch) reception(i int, h deferred) interp.Event {
	ev, err := interp.ParseEvent(s.check.Instances[i].Role, nil, h.text)
	if err != nil {
		s.t.Fatal(err)
	}
	ev.Sender = h.from
	return ev
}

// defers reports whether instance i defers a message in its present state.
func (s *timedSearch) defers(g *timed, i int, h deferred) bool {
	_, _, res, _ := s.roles.of(s.check.Instances[i].Role).Step(g.v[i], s.reception(i, h))
	return res.Code == fsm.Deferred
}

func (s *timedSearch) feel(n *timed, i int) {
	n.ahead[i] = false
	for k := range n.left[i] {
		for j := range n.left[i][k] {
			n.left[i][k][j] = max(n.left[i][k][j]-1, 0)
		}
	}
	if n.felt != nil && slices.Contains(s.about, i) {
		n.felt[i] = min(n.felt[i]+1, s.most()+2)
	}
	s.add(n)
}

func (s *timedSearch) step(n *timed, i int, ev interp.Event, must bool) {
	next, effects, res, _ := s.roles.of(s.check.Instances[i].Role).Step(n.v[i], ev)
	if res.Code == fsm.Refused || !must && res.Code != fsm.Took {
		return
	}
	n.v[i] = slices.Clone(next)
	for _, e := range effects {
		switch e.Kind {
		case fsm.Send:
			for to := range n.q {
				if to == i {
					continue
				}
				if len(n.q[i][to]) == s.check.Channel.Capacity {
					return
				}
				n.q[i][to] = append(n.q[i][to], string(interp.AppendMessage(nil, nil, e.Message, e.Slots)))
			}
		case fsm.StartTimer:
			k := slices.IndexFunc(s.timers(i), func(ev *model.Event) bool { return ev.Timer == e.Timer })
			n.left[i][k] = s.lasts(i, e.Ticks)
		}
	}
	for k, t := range s.timers(i) {
		if n.v[i][t.Timer.Offset] == 0 {
			n.left[i][k] = [2]int64{}
		}
	}
	s.add(n)
}

// timedSpec writes a protocol with timers for two or three instances, and claims with bounds about
// them.
func timedSpec(r *rand.Rand) string {
	w := &specWriter{r: r}
	w.line("protocol: random\ntick: 1ms\nmessages: {A: , B: }\nchannel: {capacity: %d}\nroles:", 1+r.IntN(2))
	statement := func() string {
		list := []string{"send: A, to: all", "send: B, to: all", "start: t", "start: u", "stop: t",
			"set: {n: \"min(n + 1, 2)\"}", "set: {k: \"!k\"}"}
		return "{" + w.of(list...) + "}"
	}
	for _, role := range []string{"one", "two"} {
		w.line("  %s:\n    vars: {n: 0..2, k: bool, d: 0..2}\n    timers: {t: {ticks: %d}, u: {ticks: %d}}\n"+
			"    commands: {go: }\n    initial: s0\n    states:",
			role, 1+r.IntN(25), 1+r.IntN(25))
		for i := range 3 {
			w.line("      s%d:", i)
			w.line("        go: {when: \"n < 2\", do: [{set: {n: n + 1}}, %s, %s], goto: s%d}", statement(),
				statement(), r.IntN(3))
			for _, ev := range []string{"A", "B", "t", "u"} {
				switch r.IntN(6) {
				case 0:
					w.line("        %s: ignore", ev)
				case 1:
					w.line("        %s: %s", ev, map[bool]string{true: "defer", false: "ignore"}[ev < "C"])
				case 2:
					w.line("        %s: {set: {d: \"(d + 1) %% 3\"}}", ev) // d is dead
				default:
					w.line("        %s: {do: [%s], goto: s%d}", ev, statement(), r.IntN(3))
				}
			}
		}
	}
	names := []string{"a", "b", "c"}[:2+r.IntN(2)]
	w.line("checks:\n  all:\n    instances: {%s}\n    time: {beat: 10%s}\n    quiet: \"true\"\n    claims:",
		strings.Join([]string{"a: one", "b: two", "c: one"}[:len(names)], ", "),
		w.of("", "", ", drift: 20%", ", drift: {a: 5%, b: 30%}"))
	condition := func() string {
		order := r.Perm(len(names))
		x, y := names[order[0]], names[order[1]]
		return w.of(x+".s1", x+".s0 && "+y+".s2", x+".n == "+y+".n", x+".t || "+y+".u", "empty()",
			"len(a -> b) == 0", x+".k != "+y+".k", "all(i in 0..1: "+x+".n > i || "+y+".s1)",
			"!empty(b -> a) || "+x+".s2", x+".n == 2", x+".n == 1 && "+y+".n == 1", x+".n > 0 && "+y+".n > 0")
	}
	for i := range 5 {
		w.line("      c%d: {leadsTo: %q, when: %q, within: %d}", i, condition(), condition(), 20+r.IntN(80))
	}
	return w.String()
}

// aboutInstances says whose beats count, from the names in the text of the conditions.
func aboutInstances(c *model.Check, cl *model.Claim) (out []int) {
	text := model.ExprString(cl.When) + " " + model.ExprString(cl.Expr)
	for i, inst := range c.Instances {
		if strings.Contains(text, "empty()") || strings.Contains(text, inst.Name+".") ||
			strings.Contains(text, "-> "+inst.Name) || strings.Contains(text, inst.Name+" ->") {
			out = append(out, i)
		}
	}
	return out
}

// TestWithinAgainstNaive decides bounds of leadsTo in random checks that count time both ways, and
// compares the lengths of the shortest counterexamples.
func TestWithinAgainstNaive(t *testing.T) {
	specs, violated, held, vacuous := 0, 0, 0, 0
	for seed := uint64(0); specs < race.Draws(8, 60); seed++ {
		text := timedSpec(rand.New(rand.NewPCG(seed, 7)))
		p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}},
			Check: "all"})
		if p == nil {
			t.Fatalf("seed %d: %v\n%s", seed, list, text)
		}
		c := p.Checks[0]
		bare := *c
		bare.Claims = nil
		n := timedSearch{t: t, check: c}
		n.run()
		if len(n.seen) > maxTimed {
			continue
		}
		specs++
		if got := exploreTimed(t, p, &bare, explore.Options{Workers: 1}).res.Configurations; got != uint64(
			len(n.seen)) {
			t.Fatalf("seed %d: %d configurations, the naive way %d\n%s", seed, got, len(n.seen), text)
		}
		naive := make([]timedSearch, len(c.Claims))
		for i, cl := range c.Claims {
			naive[i] = timedSearch{t: t, check: c, claim: cl, about: aboutInstances(c, cl)}
			naive[i].run()
		}
		for _, o := range []explore.Options{{Workers: 1}, {Workers: 3},
			{Workers: 1, Reduce: explore.ReduceDead | explore.ReduceHash}, {Mode: explore.DepthFirst}} {
			s := exploreTimed(t, p, c, o)
			for i, cl := range c.Claims {
				n, late := naive[i], s.late(i)
				if late < 0 != (n.late < 0) || late != n.late && o.Mode == explore.BreadthFirst {
					t.Fatalf("seed %d, %+v, %s: too late after %d steps, the naive way %d (-1: never)\n%s",
						seed, o, cl.Name, late, n.late, text)
				}
				empty := slices.Contains(s.res.Vacuous, cl.Name)
				if n.late < 0 && empty == n.waits {
					t.Fatalf("seed %d, %s: vacuous %v, but waited %v\n%s", seed, cl.Name, empty, n.waits, text)
				}
				switch {
				case o.Workers != 3:
				case n.late >= 0:
					violated++
				case empty:
					vacuous++
				default:
					held++
				}
			}
		}
	}
	t.Logf("of all claims %d violated, %d hold, %d say nothing", violated, held, vacuous)
	if violated < race.Draws(10, 40) || held < race.Draws(1, 5) {
		t.Error("hardly anything was compared")
	}
}

// exploredTimed is a system with the result of its search.
type exploredTimed struct {
	*System
	res *explore.Result
}

func exploreTimed(t *testing.T, p *model.Protocol, c *model.Check, o explore.Options) exploredTimed {
	t.Helper()
	s, err := New(p, c)
	if err != nil {
		t.Fatal(err)
	}
	o.KeepGoing, o.Checks = true, s.Checks
	s.reduce(o.Reduce)
	res, err := explore.Run(context.Background(), s.System, o)
	if err != nil {
		t.Fatal(err)
	}
	return exploredTimed{s, res}
}

// late is the length of the counterexample of a stated claim, -1 if there is none.
func (s exploredTimed) late(i int) int {
	for _, v := range s.res.Violations {
		if v.Kind == explore.ClaimViolated && v.Claim == s.Claims[i].Index {
			return len(v.Trace)
		}
	}
	return -1
}
