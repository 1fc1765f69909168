package second

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/parley-go/parley/proptest/second/machine"
)

// Result is what the search of a check has found.
type Result struct {
	Configurations int
	Depth          int            // of the configuration that is furthest away
	Violated       map[string]int // by the name of the claim: the length of a shortest run that shows it
	Witness        map[string]int // of `sometimes`: the length of a shortest run to it
	// Waiting are the configurations that are a deadlock, or where a message is left, if no fault comes any more: a
	// fault that may still come counts as a step where the check says nothing of `quiet`.
	Waiting  int
	Complete bool
	Levels   []int // how many configurations are that far away, by the number of steps
}

// Options of [Spec.Run].
type Options struct {
	Most int // configurations; 0 for no limit
	// Only are the numbers that hostile instances send of fields with more than 64 values, by message and
	// field ("INIT.major"): an assumption of a check, which its report names.
	Only map[string][]int64
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
	w := newWorld(s.root, check)
	w.only = o.Only
	return (&search{w: w, o: o}).run(), nil
}

// search goes through a check level by level. Of a configuration it keeps its key, what claims about runs
// ask of it, and its steps where such a claim needs them.
type search struct {
	w     *world
	o     Options
	res   *Result
	list  []claim
	index map[string]int32
	level []string // the keys of one level, in the order found
	next  []string
	depth int
	buf   []byte
	graph graph
}

func (s *search) violated(name string, length int) {
	if old, is := s.res.Violated[name]; !is || length < old {
		s.res.Violated[name] = length
	}
}

// add returns the number of a configuration, which it keeps if it is new.
func (s *search) add(c *config, depth int) int32 {
	for _, name := range s.w.settle(c) {
		s.violated(name, depth)
	}
	s.w.number(c)
	s.buf = s.w.key(s.buf[:0], c)
	if i, known := s.index[string(s.buf)]; known {
		return i
	}
	i := int32(len(s.index))
	key := string(s.buf)
	s.index[key] = i
	s.next = append(s.next, key)
	s.res.Depth = depth
	s.w.recall(c)
	for k := range s.list {
		s.look(c, &s.list[k], depth)
	}
	if s.graph.wanted {
		s.graph.add(s.marks(c), depth)
	}
	s.w.now = nil
	return i
}

func (s *search) run() *Result {
	w := s.w
	s.res = &Result{Violated: map[string]int{}, Witness: map[string]int{}, Complete: true}
	s.index = map[string]int32{}
	s.list = w.claims()
	for _, c := range s.list {
		w.labels = w.labels || c.kind == "confluent"
		s.graph.wanted = s.graph.wanted || c.ofRuns()
	}
	s.graph.w, s.graph.numbers = w, map[desc]uint32{}
	s.add(w.first(), 0)
	for s.depth = 0; len(s.next) > 0 && s.res.Complete; s.depth++ {
		s.level, s.next = s.next, nil
		s.res.Levels = append(s.res.Levels, len(s.level))
		for _, key := range s.level {
			if s.o.Most > 0 && len(s.index) > s.o.Most {
				s.res.Complete = false
				break
			}
			s.expand(w.unkey(key))
		}
	}
	s.res.Configurations = len(s.index)
	if !s.res.Complete {
		return s.res
	}
	for k := range s.list {
		c := &s.list[k]
		switch {
		case c.kind == "sometimes":
			if _, is := s.res.Witness[c.name]; !is {
				s.violated(c.name, 0)
			}
		case c.ofRuns():
			if length, is := s.graph.violated(c); is {
				s.violated(c.name, length)
			}
		}
	}
	return s.res
}

// expand takes all steps of a configuration.
func (s *search) expand(c *config) {
	moves := s.w.moves(c)
	commands, faults, others := false, false, false
	for k := range moves {
		mv := &moves[k]
		switch mv.kind {
		case isCommand, isComing:
			commands = true
		case isBeat:
			others = others || s.w.waits(c)
		case isFault:
			faults = true
		case isMedium:
		default:
			others = true
		}
		if mv.violation != "" {
			s.violated(mv.violation, s.depth+1)
			if s.graph.wanted {
				s.graph.step(-1, mv.desc)
			}
			continue
		}
		to := s.add(mv.to, s.depth+1)
		if s.graph.wanted {
			s.graph.step(to, mv.desc)
		}
	}
	if s.graph.wanted {
		s.graph.end()
	}
	if !others {
		s.rest(c, commands, faults)
	}
}

// marks are what claims about runs ask of a configuration: of each its goal, and above that its `when`.
func (s *search) marks(c *config) (out uint64) {
	for k := range s.list {
		cl := &s.list[k]
		if !cl.ofRuns() || cl.kind == "confluent" {
			continue
		}
		if s.w.holds(c, cl.exprs[0]) {
			out |= 1 << cl.bit
		}
		if cl.when != nil && s.w.holds(c, cl.when) {
			out |= 1 << (cl.bit + 1)
		}
	}
	return out
}

// look evaluates claims about single configurations.
func (s *search) look(c *config, cl *claim, depth int) {
	w := s.w
	switch cl.kind {
	case "always", "agree", "sometimes":
	default:
		return
	}
	if cl.when != nil && !w.holds(c, cl.when) {
		return
	}
	if cl.quiescent && !(&view{w: w, c: c}).under(-1, -1, nil, true).(bool) {
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

func (s *search) agree(c *config, cl *claim) (ok bool) {
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

// rest judges a configuration from which nothing is possible but commands and faults.
func (s *search) rest(c *config, commands, faults bool) {
	w := s.w
	final := true
	for _, in := range c.in {
		final = final && (in.m == nil || in.down || in.m.R.States[in.m.State].Final)
	}
	quiet := w.quiet != nil && w.holds(c, w.quiet)
	messages, held := false, false
	for _, q := range c.ch {
		messages = messages || q.words > 0
	}
	for _, in := range c.in {
		held = held || len(in.held) > 0
	}
	switch {
	case messages && !final:
		s.violated("deadlock", s.depth)
	case !final && !quiet && (!commands && !faults || w.quiet != nil):
		s.violated("deadlock", s.depth)
	case !commands && !faults && (messages || held):
		s.violated("orphan-message", s.depth)
	case !commands && (!final && !quiet || messages || held):
		s.res.Waiting++
	}
}

// waits reports whether the passing of time can bring anything.
func (w *world) waits(c *config) bool {
	return slices.ContainsFunc(c.in, func(in *inst) bool { return in.m != nil && in.m.AnyTimer() }) ||
		slices.ContainsFunc(c.ch, func(q *queue) bool { return len(q.items) > 0 })
}
