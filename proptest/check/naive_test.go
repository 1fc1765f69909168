package check

import (
	"context"
	"slices"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// naive explores a check of two instances over fifo channels without the
// explorer and without the adapter: values, queues of texts, and a map of
// what was seen. It knows commands, rules over lengths, and receptions.
type naive struct {
	p     *model.Protocol
	check *model.Check
	seen  map[string]bool
	queue []global
	steps int
	used  report.Uses // by place, if asked for
	roles interpreters
}

// interpreters has the interpreters of roles that were asked for.
type interpreters map[*model.Machine]*interp.Machine

// of returns the interpreter of a role. What a step of it returns holds until the next.
func (x *interpreters) of(role *model.Machine) *interp.Machine {
	m := (*x)[role]
	if m == nil {
		if *x == nil {
			*x = interpreters{}
		}
		m = interp.New(role, nil)
		(*x)[role] = m
	}
	return m
}

type global struct {
	v [2]interp.Value
	q [2][]string // q[i]: on the way to instance i
}

func (g global) key() string {
	var b []byte
	for i := range g.v {
		b = codec.AppendSlots(b, g.v[i])
		for _, text := range g.q[i] {
			b = append(append(b, text...), 0)
		}
		b = append(b, 0)
	}
	return string(b)
}

func (n *naive) add(g global) {
	n.steps++
	if k := g.key(); !n.seen[k] {
		n.seen[k] = true
		n.queue = append(n.queue, g)
	}
}

func (n *naive) run(t *testing.T) {
	n.seen = map[string]bool{}
	var g global
	for i, inst := range n.check.Instances {
		var args [][]int64
		for _, e := range inst.Args {
			args = append(args, []int64{e.(*model.Lit).Value})
		}
		v, err := interp.NewValue(inst.Role, nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		g.v[i] = v
	}
	n.seen[g.key()] = true
	n.queue = append(n.queue, g)
	for len(n.queue) > 0 {
		g, n.queue = n.queue[0], n.queue[1:]
		for i := range g.v {
			n.commands(t, g, i)
			if len(g.q[i]) > 0 {
				n.receive(t, g, i)
			}
		}
	}
}

func (n *naive) commands(t *testing.T, g global, i int) {
	for _, ev := range n.check.Instances[i].Role.Commands {
		all, err := interp.Domains(ev, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range all {
			if n.allowed(t, g, i, ev, args) {
				n.step(t, g, i, interp.Event{Event: ev, Args: args}, false)
			}
		}
	}
}

func (n *naive) allowed(t *testing.T, g global, i int, ev *model.Event, args []int64) bool {
	x := interp.Eval{ChanLen: func(l *model.ChanLen) int64 {
		to := i
		if l.Out {
			to = 1 - i
		}
		count := int64(0)
		for _, m := range g.q[to] {
			if l.Message == nil || m == l.Message.Name || len(m) > len(l.Message.Name) &&
				m[:len(l.Message.Name)+1] == l.Message.Name+"{" {
				count++
			}
		}
		return count
	}}
	for _, r := range n.check.Rules {
		if r.Command != ev || r.When == nil {
			continue
		}
		ok, err := x.Bool(core.Of(r.When), g.v[i], slices.Concat(args, make([]int64, r.Locals)))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	return true
}

func (n *naive) receive(t *testing.T, g global, i int) {
	ev, err := interp.ParseEvent(n.check.Instances[i].Role, nil, g.q[i][0])
	if err != nil {
		t.Fatal(err)
	}
	ev.Sender = 1 - i
	g.q[i] = g.q[i][1:]
	n.step(t, g, i, ev, true)
}

func (n *naive) step(t *testing.T, g global, i int, ev interp.Event, must bool) {
	role := n.check.Instances[i].Role
	m := n.roles.of(role)
	m.Follow = n.used != nil
	next, effects, res, fault := m.Step(g.v[i], ev)
	if res.Code == fsm.Refused {
		if must {
			t.Fatal(fault.Text())
		}
		return
	}
	if !must && res.Code != fsm.Took {
		return
	}
	if n.used != nil {
		n.follow(m.Trail())
	}
	g.v[i] = slices.Clone(next)
	for k := range effects {
		if e := &effects[k]; e.Kind == fsm.Send {
			g.q[1-i] = append(slices.Clone(g.q[1-i]), string(interp.AppendMessage(nil, nil, e.Message, e.Slots)))
		}
	}
	n.add(g)
}

// load compiles a specification for one check.
func load(t *testing.T, file, check string) (*model.Protocol, *model.Check) {
	t.Helper()
	p, list := compile.Load(file, compile.Options{Check: check})
	if p == nil || len(p.Checks) != 1 {
		t.Fatal(list)
	}
	return p, p.Checks[0]
}

// TestAgainstNaive counts the configurations and steps of whole specifications,
// parts and all, both ways.
func TestAgainstNaive(t *testing.T) {
	for _, c := range [][2]string{{"ready", "pair"}, {"confirm", "pair"}, {"update", "duel"}, {"setup", "all"}} {
		p, check := load(t, "../../specs/"+c[0]+"/spec.yaml", c[1])
		n := naive{p: p, check: check}
		n.run(t)
		s, err := New(p, check)
		if err != nil {
			t.Fatal(err)
		}
		res, err := explore.Run(context.Background(), s.System, explore.Options{Checks: s.Checks, KeepGoing: true})
		if err != nil {
			t.Fatal(err)
		}
		if res.Configurations != uint64(len(n.seen)) || res.Steps != uint64(n.steps) {
			t.Errorf("%s: %d configurations and %d steps, the naive way %d and %d", c[0], res.Configurations,
				res.Steps, len(n.seen), n.steps)
		}
		compareClaims(t, s, res)
	}
}

// compareClaims evaluates every claim in every configuration as it is written,
// and compares how often it held with what the classes gave.
func compareClaims(t *testing.T, s *System, res *explore.Result) {
	t.Helper()
	held := make([]uint64, len(s.Claims))
	said, when := make([]core.Expr, len(s.Claims)), make([]core.Expr, len(s.Claims))
	for i := range s.Claims {
		switch cl := s.Claims[i].Stated; {
		case cl == nil:
		case cl.Kind == model.Agree:
			said[i], when[i] = core.Of(cond.Equalities(cl)), core.Of(cl.When)
		default:
			said[i], when[i] = core.Of(cl.Expr), core.Of(cl.When)
		}
	}
	res.Space.ForEachConfiguration(func(_ int, c explore.Configuration) bool {
		x := interp.Eval{Strings: s.Texts, ChanLen: func(l *model.ChanLen) int64 {
			n := int64(0)
			for k, w := range c.Channels {
				for _, msg := range w {
					if s.Parts.LooksAt(nil, l, k) && (l.Message == nil || l.Message.Index == codec.MessageIndex(msg)) {
						n++
					}
				}
			}
			return n
		}}
		for i, v := range c.Locals {
			x.Instances = append(x.Instances, slices.Clone(s.Procs[i].Unpack(v).Value))
		}
		empty := !slices.ContainsFunc(c.Channels, func(w explore.Word) bool { return len(w) > 0 })
		for i := range s.Claims {
			cl := s.Claims[i].Stated
			if cl == nil || cl.Quiescent && !empty {
				continue
			}
			ok, err := x.Bool(said[i], nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if cl.When != nil && !ok {
				when, err := x.Bool(when[i], nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				ok = !when
			}
			if ok {
				held[s.Claims[i].Index]++
			}
		}
		return true
	})
	for i := range s.Claims {
		if k := s.Claims[i].Index; s.Claims[i].Stated != nil && res.Claims[k].Held != held[k] {
			t.Errorf("%s %s held in %d configurations, as written in %d", s.System.Name, s.Claims[i].Name,
				res.Claims[k].Held, held[k])
		}
	}
}
