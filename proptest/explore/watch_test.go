package explore

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// passive is the machine of a watch.
type passive struct{}

func (passive) Init() []byte                            { return []byte{0} }
func (passive) Final([]byte) bool                       { return true }
func (passive) Local([]byte, func(Step))                {}
func (passive) Receive([]byte, int, []byte, func(Step)) {}

// randomWatch adds a machine that remembers a number below 4, which changes with what class says of
// the machines there were, with channels' lengths, and with what it was.
func randomWatch(t *rapid.T, sys *System, class func(v []byte) uint32) {
	n := len(sys.Procs)
	w := Watch{Proc: n}
	for range n { // those of other watches are not seen
		w.Procs = append(w.Procs, class)
	}
	for range sys.Channels {
		w.Chans = append(w.Chans, func(w Word) uint32 { return uint32(len(w)) })
	}
	a, b, c := rapid.Uint32Range(0, 3).Draw(t, "times"), rapid.Uint32Range(0, 3).Draw(t, "plus"),
		rapid.Uint32Range(0, 1).Draw(t, "lengths")
	w.Next = func(v []byte, procs, chans []uint32) []byte {
		sum := a*uint32(v[0]) + b
		for _, x := range procs[:n] {
			sum += x
		}
		for _, x := range chans {
			sum += c * x
		}
		return []byte{byte(sum % 4)}
	}
	sys.Procs = append(sys.Procs, passive{})
	sys.Watches = append(sys.Watches, w)
}

// settled is the local value with which the machine of a step goes on.
func settled(sys *System, s TraceStep) []byte {
	if sys.Settle == nil || s.After == nil {
		return s.After
	}
	return sys.Settle(s.Proc, s.After)
}

// randomSettle makes machines go on with an even value where a step has led to the odd one behind it.
func randomSettle(t *rapid.T, sys *System) {
	if len(sys.Watches) > 0 && rapid.Bool().Draw(t, "settles") {
		sys.Settle = func(_ int, v []byte) []byte { return []byte{v[0] &^ 1} }
	}
}

// remember brings the watches of c to what they are after the step that led to it.
func (n *naive) remember(c *conf) *conf {
	was := slices.Clone(c.locals)
	for _, w := range n.sys.Watches {
		seen := slices.Clone(w.Procs)
		for _, x := range n.sys.Watches {
			if x.Proc < len(seen) {
				seen[x.Proc] = nil
			}
		}
		n.holds(&conf{locals: was, words: c.words}, &Claim{Procs: seen, Chans: w.Chans}, func(p, k []uint32) bool {
			c.locals[w.Proc] = slices.Clone(w.Next(was[w.Proc], p, k))
			return true
		})
	}
	if n.sys.Settle != nil {
		for p := range c.locals {
			is := func(w Watch) bool { return w.Proc == p }
			if !slices.ContainsFunc(n.sys.Watches, is) {
				c.locals[p] = slices.Clone(n.sys.Settle(p, c.locals[p]))
			}
		}
	}
	return c
}

// TestWatchFollowsTheRun has a machine that goes round three states, and a watch that counts how
// often it came by the second, up to two.
func TestWatchFollowsTheRun(t *testing.T) {
	p := &tableProc{final: []bool{false, false, false},
		local: [][]Step{{{Next: []byte{1}}}, {{Next: []byte{2}}}, {{Next: []byte{0}}}}}
	sys := &System{Procs: []Process{p, passive{}}, Labels: make([]Label, 1), Watches: []Watch{{Proc: 1,
		Procs: []func([]byte) uint32{func(v []byte) uint32 { return uint32(v[0]) }},
		Next: func(v []byte, procs, _ []uint32) []byte {
			if procs[0] == 1 && v[0] < 2 {
				return []byte{v[0] + 1}
			}
			return v
		}}},
		Claims: []Claim{{Name: "once", Procs: []func([]byte) uint32{nil, func(v []byte) uint32 { return uint32(v[0]) }},
			Eval: func(procs, _ []uint32) bool { return procs[1] < 2 }}},
	}
	for _, opt := range []Options{{Workers: 1}, {Mode: DepthFirst}, {Mode: Guided, Target: 1},
		{Reduce: ReduceLocal}, {Mode: RandomWalk, WalkLength: 20}} {
		opt.KeepGoing = true
		r := mustRun(t, sys, opt)
		if len(r.Violations) != 1 || len(r.Violations[0].Trace) != 4 {
			t.Fatalf("%+v: it comes by for the second time in four steps: %+v", opt, r.Violations)
		}
		if opt.Mode != RandomWalk && opt.Mode != Guided && r.Configurations != 7 {
			t.Errorf("%+v: %d configurations; by hand 1, 3 and 3", opt, r.Configurations)
		}
		if opt.Reduce != 0 && len(r.Refused) != 1 {
			t.Errorf("leaving out orders of steps is not refused: %q", r.Refused)
		}
	}
}

// TestConfluentForgets: two machines take a step each, and a watch remembers which was first.
func TestConfluentForgets(t *testing.T) {
	step := func(label uint32) *tableProc {
		return &tableProc{final: []bool{true, true}, local: [][]Step{{{Label: label, Next: []byte{1}}}, nil}}
	}
	class := func(v []byte) uint32 { return uint32(v[0]) }
	sys := &System{Procs: []Process{step(0), step(1), passive{}}, Labels: []Label{{Proc: 0}, {Proc: 1}},
		Claims: []Claim{{Name: "any order", Kind: Confluent}},
		Watches: []Watch{{Proc: 2, Procs: []func([]byte) uint32{class, class},
			Next: func(v []byte, procs, _ []uint32) []byte {
				if v[0] == 0 {
					return []byte{byte(procs[0] + 2*procs[1])}
				}
				return v
			}}}}
	if r := mustRun(t, sys, Options{}); r.Configurations != 5 || len(r.Conflicts) != 0 {
		t.Errorf("%d configurations, by hand 5; and the order matters to the memory alone, but %+v",
			r.Configurations, r.Conflicts)
	}
}
