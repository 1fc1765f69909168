package export

import (
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/model"
)

// The assertions that fail where the checker has a built-in claim.
const (
	unspecifiedFlag = "unspecified_reception"
	faultFlag       = "fault"
	deadlockFlag    = "deadlock"
	orphanFlag      = "orphan_message"
)

// stmt is a statement of a step, one of the types below. A variable in it means the variable's value at
// that point.
type stmt interface{}

type (
	// assign gives a variable a value.
	assign struct {
		v *variable
		x *term
	}
	// send puts a message into a channel.
	send struct {
		ch     *channel
		msg    int // index of the message
		fields []*term
		note   string
	}
	// require is an error unless the condition holds.
	require struct {
		cond *term
		fail failure
	}
	// failure is an error.
	failure struct {
		flag string // the assertion that fails
		why  string
	}
	// choice runs the first arm whose condition holds, else the last list. exclusive: at most one
	// holds.
	choice struct {
		arms      []arm
		otherwise []stmt
		exclusive bool
	}
	arm struct {
		cond *term
		body []stmt
		note string // which branch of the specification
	}
)

// channel is the path from one instance to another.
type channel struct {
	name     string
	from, to int
	class    int // its place in Protocol.Channels
	spec     model.Channel
	used     bool
	sent     map[int]bool
	counts   map[int]*variable // by message: how many are in it, where somebody asks
}

// written returns the variables that statements can assign to.
func written(list []stmt, into map[*variable]bool) {
	for _, s := range list {
		switch s := s.(type) {
		case *assign:
			into[s.v] = true
		case *choice:
			for _, a := range s.arms {
				written(a.body, into)
			}
			written(s.otherwise, into)
		}
	}
}

// readsAny reports whether t reads one of the variables.
func readsAny(t *term, set map[*variable]bool) bool {
	found := false
	t.visit(func(v *variable) { found = found || set[v] })
	return found
}

// maxGuard bounds how long the condition of a command can be, in terms.
const maxGuard = 20000

// possible returns the weakest precondition: the condition before the statements under which they run
// without an error, and under which after holds afterwards.
func possible(list []stmt, after *term) *term {
	for _, s := range slices.Backward(list) {
		switch s := s.(type) {
		case *assign:
			after = after.subst(map[*variable]*term{s.v: s.x})
		case *require:
			after = and(s.cond, after)
		case *failure:
			after = no
		case *choice:
			after = s.possible(after)
		}
		if after.size(maxGuard) >= maxGuard {
			refuse("a command whose condition has more than %d terms", maxGuard)
		}
	}
	return after
}

func (s *choice) possible(after *term) *term {
	set := map[*variable]bool{}
	written([]stmt{s}, set)
	rest := yes
	if readsAny(after, set) {
		rest, after = after, yes
	}
	some, none := no, yes
	for _, a := range s.arms {
		cond := a.cond
		if !s.exclusive {
			cond = and(none, cond)
		}
		some = or(some, and(cond, possible(a.body, rest)))
		none = and(none, not(a.cond))
	}
	some = or(some, and(none, possible(s.otherwise, rest)))
	return and(some, after)
}

// tidy removes statements without effect. sure says that the list runs without an error, so that checks
// for errors can go.
func tidy(list []stmt, sure bool) []stmt {
	used := map[*variable]bool{}
	var out []stmt
	for _, s := range slices.Backward(list) {
		s := tidyOne(s, sure, used)
		if s != nil {
			reads(s, used)
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// tidyOne tidies a statement. used has the temporaries that later statements read. It returns nil if the
// statement is not needed.
func tidyOne(s stmt, sure bool, used map[*variable]bool) stmt {
	switch s := s.(type) {
	case *assign:
		if s.v.kind == tempVar && !used[s.v] || s.x.op == "var" && s.x.v == s.v {
			return nil
		}
	case *require:
		if sure || s.cond.is(1) {
			return nil
		}
	case *failure:
		if sure {
			return nil
		}
	case *choice:
		return s.tidy(sure, used)
	}
	return s
}

func (s *choice) tidy(sure bool, used map[*variable]bool) stmt {
	c := &choice{exclusive: s.exclusive, otherwise: tidyAfter(s.otherwise, sure, used)}
	effect := len(c.otherwise) > 0
	for _, a := range s.arms {
		a.body = tidyAfter(a.body, sure, used)
		last := len(c.arms) - 1
		if last >= 0 && len(a.body) == 0 && len(c.arms[last].body) == 0 {
			c.arms[last].cond = or(c.arms[last].cond, a.cond)
			c.arms[last].note = joinNotes(c.arms[last].note, a.note)
			continue
		}
		effect = effect || len(a.body) > 0
		c.arms = append(c.arms, a)
	}
	if !effect {
		return nil
	}
	return c
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// tidyAfter tidies a list of statements. used has the temporaries that are read after it.
func tidyAfter(list []stmt, sure bool, used map[*variable]bool) []stmt {
	inner := maps.Clone(used)
	var out []stmt
	for _, s := range slices.Backward(list) {
		if s := tidyOne(s, sure, inner); s != nil {
			reads(s, inner)
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// reads adds the variables that a statement reads.
func reads(s stmt, into map[*variable]bool) {
	note := func(v *variable) { into[v] = true }
	switch s := s.(type) {
	case *assign:
		s.x.visit(note)
	case *send:
		for _, x := range s.fields {
			x.visit(note)
		}
	case *require:
		s.cond.visit(note)
	case *choice:
		for _, a := range s.arms {
			a.cond.visit(note)
			for _, s := range a.body {
				reads(s, into)
			}
		}
		for _, s := range s.otherwise {
			reads(s, into)
		}
	}
}

// length returns how many statements Spin finds in a list, about: those of its text, the inner ones
// included.
func length(list []stmt) int {
	n := 0
	for _, x := range list {
		switch x := x.(type) {
		case *choice:
			n += 2 + length(x.otherwise) // with its else
			for _, a := range x.arms {
				n += 1 + length(a.body)
			}
		case *require: // if :: it :: else -> assert fi
			n += 4
		case *send: // if :: there is room -> it; it is counted :: else fi
			n += 4
		default:
			n++
		}
	}
	return n
}
