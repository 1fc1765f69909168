package prove

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/race"
)

// randomSpec writes a protocol of two roles with three states each; some messages are handled, some
// not. With beside there is a second channel, over which C goes.
func randomSpec(r *rand.Rand, beside string) string {
	var b strings.Builder
	order := []string{"fifo", "fifo", "any"}[r.IntN(3)]
	over, channel := "", "channel: %s"
	if beside != "" {
		over, channel = "{channel: beside}", "channels:\n  first: %s\n  beside: "+beside
	}
	fmt.Fprintf(&b, "protocol: random\nmessages: {A: , B: , C: %s}\n"+channel+"\nroles:\n", over,
		fmt.Sprintf("{order: %s, lossy: %v, duplicates: %v, capacity: 3}", order, r.IntN(5) == 0, r.IntN(6) == 0))
	for _, role := range []string{"one", "two"} {
		fmt.Fprintf(&b, "  %s:\n    commands: {go: {}, off: {}}\n    initial: s0\n    states:\n", role)
		for s := range 3 {
			fmt.Fprintf(&b, "      s%d:\n        doc: a state\n", s)
			if s == 2 && r.IntN(2) == 0 {
				b.WriteString("        final: true\n")
			}
			for _, ev := range []string{"go", "off", "A", "B", "C"} {
				command := ev == "go" || ev == "off"
				if r.IntN(10) < 3 && (command || r.IntN(4) == 0) {
					continue
				}
				var parts []string
				if n := r.IntN(10); command && n < 7 || n < 2 {
					parts = append(parts, "send: "+string("ABC"[r.IntN(3)]))
				}
				if r.IntN(2) == 0 {
					parts = append(parts, fmt.Sprintf("goto: s%d", r.IntN(3)))
				}
				fmt.Fprintf(&b, "        %s: {%s}\n", ev, strings.Join(parts, ", "))
			}
		}
	}
	b.WriteString(`checks:
  pair:
    instances: {a: one, b: two}
    claims:
      few: {always: "len(a -> b, A) < 3", why: a condition on lengths}
      either: {always: "a.s2 => !b.s1 || !empty(b -> a)", why: a condition on states and lengths}
      back: {reachable: a.s0 && b.s0, why: a way back}
      idle: {reachable: "empty(a -> b) && !a.s1", why: a way to an empty channel}
      near: {reachable: a.s0 && b.s0, when: "len(a -> b) == 1 || b.s1", why: a way back from some of them}
      next: {reachable: "empty(a -> b) && !a.s1", when: a.s2, why: a way from one state}
`)
	if beside != "" {
		b.WriteString(`      small: {always: "len(a -> b, beside) < 3", why: a condition on one of two channels}
      other: {always: "len(b -> a, first) <= len(b -> a, beside)", why: a condition on both}
      clear: {reachable: "empty(a -> b, beside) && len(b -> a, first) < 2", why: a way to an empty channel}
`)
	}
	return b.String()
}

// besides are the second channels of protocols with two; "" is none.
var besides = []string{"", "", "{order: any, lossy: true, capacity: 2, full: lose}", "",
	"{order: fifo, capacity: 3}", "", "{order: fifo, lossy: true, duplicates: true, capacity: 2}",
	"{order: any, capacity: 2}"}

// besideOf is the second channel of the protocol with a seed.
func besideOf(seed uint64) string { return besides[seed%uint64(len(besides))] }

// TestRandom collapses random protocols. What a real run violates the collapsed system violates,
// whatever is told apart; and where the channels close by themselves a goal that cannot be reached
// there is not found reachable.
func TestRandom(t *testing.T) {
	race.Skip(t)
	runs := race.Draws(40, 120)
	collapsed, violated, proved, unreachable := 0, 0, 0, 0
	for seed := range uint64(runs) {
		text := randomSpec(rand.New(rand.NewPCG(seed, 1)), besideOf(seed))
		load := func(name string) (*model.Protocol, error) {
			p, list := compile.Load("spec.yaml",
				compile.Options{Check: name, FS: fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}})
			if p == nil {
				return nil, fmt.Errorf("%v\n%s", list, text)
			}
			return p, nil
		}
		p := &prover{ctx: context.Background(), load: load, name: "pair", o: Options{MaxConfigurations: 20_000}}
		if err := p.reload(0); err != nil {
			t.Fatal(err)
		}
		closed, err := p.closes()
		if err != nil {
			t.Fatal(err)
		}
		s, why := p.closeCollapsed(int32(seed % 3))
		if why != "" {
			continue
		}
		proto, _ := load("pair")
		_, broken, err := s.certificate(p.sys, header(p.sys, "", 0, provable)).Audit(proto)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		for _, r := range p.runs {
			for i := range r.Claims {
				c := &r.Claims[i]
				_, doubted := broken[c.Name]
				switch {
				case c.Result == check.Violated && (real(c) || closed && c.Kind == "reachable"):
					if violated++; c.Kind == "reachable" {
						unreachable++
					}
					if !doubted {
						t.Errorf("seed %d: %s is violated by a real run and not by the collapsed system\n%s%s",
							seed, c.Name, text, c.Counterexample.Text())
					}
				case c.Name != check.Overflow && !doubted:
					proved++
				}
			}
		}
		if !closed {
			collapsed++
		}
	}
	t.Logf("%d systems were collapsed; %d violations, %d of them of reachable claims; %d claims proved",
		collapsed, violated, unreachable, proved)
	if collapsed < 2*runs/3 || violated < 5*runs/3 || unreachable < 1 || proved < 20*runs/3 {
		t.Error("too few of some kind to mean anything")
	}
}
