package export

// option is one arm of a choice while it is written.
type option struct {
	cond *term
	note string
	body func()
}

// choose runs the first option whose condition holds, else otherwise (nil: nothing).
func (s *step) choose(options []option, exclusive bool, otherwise func()) {
	if s.b.dead {
		return
	}
	var open []option
	for _, o := range options {
		if o.cond.is(0) {
			continue
		}
		if o.cond.lo > 0 {
			if len(open) == 0 {
				o.body()
				return
			}
			otherwise = o.body
			break
		}
		open = append(open, o)
	}
	if len(open) == 0 {
		if otherwise != nil {
			otherwise()
		}
		return
	}
	before := s.b
	c := &choice{exclusive: exclusive}
	var ends []*block
	for _, o := range open {
		s.b = before.fork()
		s.assume(o.cond)
		o.body()
		ends = append(ends, s.b)
	}
	s.b = before.fork()
	if otherwise != nil {
		otherwise()
	}
	ends = append(ends, s.b)
	s.b = before
	s.join(c, open, ends)
}

// assume remembers what a condition says of variables.
func (s *step) assume(cond *term) {
	switch {
	case cond.op == "&&":
		s.assume(cond.x[0])
		s.assume(cond.x[1])
	case cond.op == "==" && cond.x[0].op == "var" && cond.x[1].constant():
		s.b.known[cond.x[0].v] = cond.x[1]
	case cond.op == "var" && cond.boolean():
		s.b.known[cond.v] = yes
	case cond.op == "!" && cond.x[0].op == "var" && cond.x[0].boolean():
		s.b.known[cond.x[0].v] = no
	}
}

// join puts the arms together behind what was known before. Events that only some arms leave pending
// get a flag each.
func (s *step) join(c *choice, open []option, ends []*block) {
	alive := 0
	for _, e := range ends {
		if !e.dead {
			alive++
		}
	}
	for _, e := range ends {
		if e.dead {
			continue
		}
		for _, p := range e.pend {
			if alive > 1 {
				flag := s.temp(1)
				s.emit(&assign{flag, no})
				e.list = append(e.list, &assign{flag, p.when})
				p.when = read(flag)
			}
			s.b.pend = append(s.b.pend, p)
		}
	}
	for i, o := range open {
		c.arms = append(c.arms, arm{o.cond, ends[i].list, o.note})
	}
	c.otherwise = ends[len(ends)-1].list
	s.emit(c)
	if alive == 0 {
		s.b.dead = true
		return
	}
	var known map[*variable]*term
	for _, e := range ends {
		switch {
		case e.dead:
		case known == nil:
			known = e.known
		default:
			for v, t := range known {
				if e.known[v] == nil || !same(e.known[v], t) {
					delete(known, v)
				}
			}
		}
	}
	s.b.known = known
}
