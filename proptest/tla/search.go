package tla

import "context"

// Result is what a search has found.
type Result struct {
	// States are the distinct configurations, Failed those of them in which a variable of the name asked for is
	// not "".
	States, Failed int
	// Failures are the values that this variable had then, with the length of a shortest run to there.
	Failures map[string]int
	// Depth is that of the farthest configuration, from 0 on.
	Depth int
	// Violated are the invariants that do not hold somewhere, with the length of a shortest run to there.
	Violated map[string]int
	Complete bool
}

// Options of a search.
type Options struct {
	Invariants []string
	Failing    string          // the variable that is "" where no step has failed
	Most       int             // configurations; 0: no limit
	Context    context.Context // a search ends with it; nil: none
}

// Search visits all configurations, breadth first. The error is about what TLC would not evaluate either.
func (s *Spec) Search(o Options) (res *Result, err error) {
	defer s.caught(&err)
	res = &Result{Violated: map[string]int{}, Failures: map[string]int{}, Complete: true}
	failing := -1
	for i, v := range s.vars {
		if v == o.Failing {
			failing = i
		}
	}
	var ended func() bool
	if o.Context != nil {
		ended = func() bool { return o.Context.Err() != nil }
	}
	seen := map[string]bool{}
	var todo [][]Value
	add := func(now []Value, depth int) {
		key := string(text(now))
		if seen[key] {
			return
		}
		seen[key] = true
		res.States++
		res.Depth = depth
		if failing >= 0 && now[failing] != "" {
			res.Failed++
			if why := now[failing].(string); res.Failures[why] == 0 {
				res.Failures[why] = depth
			}
		}
		todo = append(todo, now)
		for _, name := range o.Invariants {
			if _, known := res.Violated[name]; !known && !s.holds(name, now, ended) {
				res.Violated[name] = depth
			}
		}
	}
	for _, now := range s.first() {
		add(now, 0)
	}
	next := s.op("Next")
	for depth := 1; len(todo) > 0; depth++ {
		level := todo
		todo = nil
		for _, now := range level {
			if o.Most > 0 && res.States > o.Most || ended != nil && ended() {
				res.Complete = false
				return res, nil
			}
			w := &walk{now: now, next: make([]Value, len(now)), ended: ended}
			next.act(&frame{w: w, slots: make([]any, next.slots)}, func() bool {
				add(s.whole(w), depth)
				return true
			})
		}
	}
	return res, nil
}

// text is that of a configuration: equal ones have equal texts.
func text(c []Value) (key []byte) {
	for _, v := range c {
		key = append(appendText(key, v), ';')
	}
	return key
}

// whole is the next configuration; each variable must have a value.
func (s *Spec) whole(w *walk) []Value {
	out := make([]Value, len(w.next))
	for i, v := range w.next {
		if v == nil {
			stopf("a step gives %s' no value", s.vars[i])
		}
		out[i] = v
	}
	return out
}

func (s *Spec) op(name string) *operator {
	op := s.ops[name]
	if op == nil || op.params > 0 {
		stopf("there is no %s", name)
	}
	return op
}

// Has reports whether the module defines an operator without parameters.
func (s *Spec) Has(name string) bool { op := s.ops[name]; return op != nil && op.params == 0 }

// holds evaluates an invariant.
func (s *Spec) holds(name string, now []Value, ended func() bool) bool {
	op := s.op(name)
	if op.level > state {
		stopf("%s is no invariant: it is an action or a temporal formula", name)
	}
	return asBool(op.eval(&frame{w: &walk{now: now, ended: ended}, slots: make([]any, op.slots)}), op.name)
}

// compiler compiles expressions that stand in no operator.
func (s *Spec) compiler() *compiler {
	return &compiler{spec: s, m: &module{recursive: map[string]int{}},
		scopes: []*scope{{names: map[string]*binding{}}}}
}

// first are the initial configurations: x = e gives x its value there.
func (s *Spec) first() (all [][]Value) {
	op := s.op("Init")
	w := &walk{now: make([]Value, len(s.vars))}
	body := op.body
	if body.op != "/\\" {
		stopf("Init is no list of conditions")
	}
	// Each condition is VARIABLE = expression, in which earlier variables may occur.
	for _, x := range body.x {
		i := -1
		for k, v := range s.vars {
			if x.op == "=" && x.x[0].op == "name" && x.x[0].text == v {
				i = k
			}
		}
		if i < 0 || w.now[i] != nil {
			stopf("line %d: a condition of Init that gives no variable its value", x.at.line)
		}
		c := s.compiler()
		e := c.expr(x.x[1])
		w.now[i] = e.eval(&frame{w: w, slots: make([]any, c.scopes[0].slots)})
	}
	for i, v := range w.now {
		if v == nil {
			stopf("Init gives %s no value", s.vars[i])
		}
	}
	return [][]Value{w.now}
}
