package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
)

// Reductions of checks whose links come up and are closed.

// linkedSpec writes a protocol of several peers of one role, of interchangeable values, whose links
// come up and are closed.
func linkedSpec(r *rand.Rand) string {
	three := r.IntN(2) == 0
	to, instances := "", "{a: peer, b: peer}"
	if three {
		to, instances = ", to: all", "{a: peer, b: peer, c: peer}"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `protocol: linked
types: {Value: opaque u8}
messages: {A: {fields: {v: Value}}, B: }
roles:
  peer:
    vars: {own: Value?}
    commands: {go: {fields: {v: Value}}, off: }
    initial: s0
    states:
`)
	for s := range 3 {
		fmt.Fprintf(&b, "      s%d:\n        doc: a state\n", s)
		next := func() string {
			if r.IntN(2) == 0 {
				return ""
			}
			return fmt.Sprintf(", goto: s%d", r.IntN(3))
		}
		switch s { // there is a state in which each is possible, so that runs end
		case 0:
			fmt.Fprintf(&b, "        go: {do: [{set: {own: v}}, {send: \"A{v}\"%s}], goto: s%d}\n", to, 1+r.IntN(2))
		case 1:
			fmt.Fprintf(&b, "        off: {do: [{close: %s}], goto: s2}\n", to)
		}
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "        up: {do: [{set: {own: none}}]%s}\n", next())
		} else if s == 2 {
			b.WriteString("        up: {goto: s2}\n")
		}
		if r.IntN(3) > 0 {
			fmt.Fprintf(&b, "        lost: {do: [{set: {own: none}}]%s}\n", next())
		}
		switch r.IntN(6) {
		case 0:
			b.WriteString("        A: ignore\n")
		case 1:
			fmt.Fprintf(&b, "        A: {do: [{close: %s}]%s}\n", to, next())
		case 2, 3:
			fmt.Fprintf(&b, "        A: [{when: own == v, send: B%s}, {set: {own: v}}]\n", to)
		default:
			fmt.Fprintf(&b, "        A: {set: {own: v}%s}\n", next())
		}
		if r.IntN(8) > 0 {
			fmt.Fprintf(&b, "        B: {do: []%s}\n", next())
		}
	}
	all := func(f string) string {
		list := []string{strings.ReplaceAll(f, "X", "a"), strings.ReplaceAll(f, "X", "b")}
		if three {
			list = append(list, strings.ReplaceAll(f, "X", "c"))
		}
		return strings.Join(list, " && ")
	}
	full := []string{"fault", "wait"}[r.IntN(2)]
	if r.IntN(3) > 0 {
		full = "fault"
	}
	fmt.Fprintf(&b, `checks:
  pair:
    instances: %s
    domains: {Value: 0..1}
    channel: {capacity: %d, full: %s}
    environment: {go: {times: 1}, off: {times: 1}}
    quiet: "true"
    claims:
      never: {always: "!(%s)", why: to have a claim}
      empty: {always: "empty() => !(%s)", why: to have a claim about news}
      some:  {sometimes: "%s", why: to have a claim}
`, instances, 1+r.IntN(2), full, all("X.s1"), all("X.s2"), all("X.s0"))
	return b.String()
}

// expanded is how many configurations a set stands for under the system's symmetry; or its first one, if
// first is set.
func expanded(sys *explore.System, space explore.Space, first bool) int {
	seen := map[string]bool{}
	key := func(c explore.Configuration) string { return fmt.Sprintf("%q %q %v", c.Locals, c.Channels, c.Used) }
	sorted := func(c explore.Configuration) explore.Configuration {
		for k := range c.Channels {
			if sys.Channels[k].Order == explore.Bag {
				c.Channels[k] = slices.SortedFunc(slices.Values(c.Channels[k]), slices.Compare)
			}
		}
		return c
	}
	var queue []explore.Configuration
	add := func(c explore.Configuration) {
		if k := key(sorted(c)); !seen[k] {
			seen[k] = true
			queue = append(queue, c)
		}
	}
	space.ForEachConfiguration(func(_ int, c explore.Configuration) bool { add(c); return !first })
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		for _, f := range sys.Symmetry.Shuffles {
			n := explore.Configuration{Locals: slices.Clone(c.Locals), Channels: slices.Clone(c.Channels), Used: c.Used}
			for i, v := range c.Locals {
				to := i
				if f.Procs != nil {
					to = f.Procs[i]
				}
				if f.Local != nil {
					v = f.Local(i, v)
				}
				n.Locals[to] = v
			}
			for k, w := range c.Channels {
				to := k
				if f.Chans != nil {
					to = f.Chans[k]
				}
				n.Channels[to] = nil
				for _, msg := range w {
					if f.Msg != nil {
						msg = f.Msg(k, msg)
					}
					n.Channels[to] = append(n.Channels[to], msg)
				}
			}
			add(n)
		}
		for d, dom := range sys.Symmetry.Domains {
			for v := range dom.Size - 1 {
				var names [][]uint8
				for _, other := range sys.Symmetry.Domains {
					var same []uint8
					for x := range other.Size {
						same = append(same, uint8(x))
					}
					names = append(names, same)
				}
				names[d][v], names[d][v+1] = names[d][v+1], names[d][v]
				n := explore.Configuration{Used: c.Used}
				for i, b := range c.Locals {
					n.Locals = append(n.Locals, sys.Symmetry.RenameLocal(i, b, names))
				}
				for k, w := range c.Channels {
					var word explore.Word
					for _, msg := range w {
						word = append(word, sys.Symmetry.RenameMsg(k, msg, names))
					}
					n.Channels = append(n.Channels, word)
				}
				add(n)
			}
		}
	}
	return len(seen)
}

// orbits compares how many configurations those stand for that are reached, and those that are kept by
// symmetry: if the first one is like no other, the former stand for themselves alone. It reports whether
// there is any symmetry.
func orbits(t *testing.T, s *System, most uint64) bool {
	t.Helper()
	s.Dead = nil
	s.FindSymmetry()
	if s.System.Symmetry == nil {
		return false
	}
	run := func(reduce explore.Reduction) *explore.Result {
		res, err := explore.Run(t.Context(), s.System,
			explore.Options{KeepGoing: true, MaxConfigurations: most, Reduce: reduce})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	whole := run(0)
	if !whole.Complete {
		return false
	}
	part := run(explore.ReduceSymmetry)
	if slices.ContainsFunc(part.Refused, func(why string) bool { return strings.HasPrefix(why, "symmetry:") }) {
		// what was tried was not true, and the search has begun again with what is known by itself
		if s.System.Symmetry = s.System.Symmetry.Believed(); s.System.Symmetry == nil {
			return false
		}
	}
	want := int(whole.Configurations)
	if expanded(s.System, whole.Space, true) > 1 {
		want = expanded(s.System, whole.Space, false)
	}
	if got := expanded(s.System, part.Space, false); !part.Complete || got != want {
		t.Errorf("%d configurations stand for %d, and not for %d", part.Configurations, got, want)
	}
	return true
}

// TestReducedLinks compares reduced searches with plain ones where links come up and are closed.
func TestReducedLinks(t *testing.T) {
	runs := 40
	if race.Long() {
		runs = 1000
	}
	compared, symmetric := 0, 0
	for n := range runs {
		text := linkedSpec(rand.New(rand.NewPCG(uint64(n), 7)))
		p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}},
			Check: "pair"})
		if p == nil {
			t.Fatalf("%v\n%s", list, text)
		}
		s, err := New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Rules.Links) == 0 {
			t.Fatalf("no links in\n%s", text)
		}
		if agrees(t, s, 5000) != nil {
			compared++
		}
		if orbits(t, s, 5000) {
			symmetric++
		}
		if t.Failed() {
			t.Fatal(text)
		}
	}
	t.Logf("%d compared, %d of them expanded", compared, symmetric)
	if compared < runs/4 || symmetric < runs/8 {
		t.Errorf("only %d specifications were compared, and %d expanded", compared, symmetric)
	}
}

// TestShippedOrbits does so for the shipped checks that are small enough, with links or without.
func TestShippedOrbits(t *testing.T) {
	race.SkipShort(t, "TestReducedAgrees")
	n, linked, faulty, hostile := 0, 0, 0, 0
	forEachCheck(t, func(t *testing.T, s *System) {
		if !orbits(t, s, 30_000) {
			return
		}
		n++
		for of, is := range map[*int]bool{&linked: len(s.Rules.Links) > 0, &faulty: s.Check.Faults != nil,
			&hostile: s.Check.HasHostile()} {
			if is {
				*of++
			}
		}
	})
	t.Logf("%d checks were expanded, %d of them with links, %d with faults, %d with a hostile instance",
		n, linked, faulty, hostile)
	if n < 12 || linked < 1 || hostile < 1 {
		t.Error("too few")
	}
}

// TestNothingOld holds that over a link that has come back nothing is heard of what was sent before, and
// nothing is lost without a word: in `again` no answer is under way, and who waits gets one or hears
// that the link is lost.
func TestNothingOld(t *testing.T) {
	const spec = `protocol: stale
messages: {PING: , PONG: }
roles:
  a:
    commands: {ask: }
    initial: idle
    states:
      idle: {final: true, lost: {goto: fresh}}
      fresh: {final: true, up: {goto: again}}
      again: {final: true, lost: {goto: fresh}, ask: {send: PING, goto: wait}}
      wait: {PONG: {goto: again}, lost: {goto: fresh}}
  b:
    initial: s
    states:
      s: {final: true, PING: {send: PONG}, up: ignore, lost: ignore}
checks:
  c:
    instances: {x: a, y: b}
    environment: {ask: {times: 2}}
    faults: FAULTS
`
	for _, faults := range []string{"{break: 2, return: 2}", "{break: 3, return: 3}", "{partition: 1}",
		"{crash: {y: 1}, restart: {y: 1}, break: 1, return: 1}",
		"{crash: {x: 1}, restart: {x: 1}, break: 1, return: 1}", "{crash: {x: 1, y: 1}, restart: {x: 1, y: 1}}"} {
		text := strings.Replace(spec, "FAULTS", faults, 1)
		p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}, Check: "c"})
		if p == nil {
			t.Fatal(list)
		}
		s, err := New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		res, err := explore.Run(t.Context(), s.System, explore.Options{Checks: s.Checks})
		if err != nil || !res.Complete || len(res.Violations) > 0 {
			t.Errorf("%s: %v, %v", faults, err, res.Violations)
		}
	}
}

// TestSilence: over channels that lose, an end takes its link for dead though the other lives, as often as
// `break` says. A crash alone nobody hears.
func TestSilence(t *testing.T) {
	const spec = `protocol: silence
tick: 1s
messages: {PING: , PONG: }
channel: {capacity: 1, lossy: true, full: lose}
roles:
  a:
    timers: {again: {ticks: 1}}
    initial: s
    states:
      s:
        start, again: {send: PING, start: again}
        PONG, up: ignore
        lost: {stop: again, goto: alone}
      alone: {final: true, PONG: ignore, up: {send: PING, start: again, goto: s}}
  b:
    initial: s
    states:
      s: {final: true, PING: {send: PONG}, up: ignore, lost: ignore}
checks:
  c:
    instances: {x: a, y: b}
    faults: FAULTS
    claims:
      mistaken: {sometimes: "x.alone && !y.down"}
      right: {sometimes: "x.alone && y.down"}
      back: {sometimes: "x.s && y.down"}
    quiet: "true"
`
	for faults, want := range map[string]string{
		"{break: 1}": "mistaken", "{break: 1, return: 1}": "mistaken", "{crash: {y: 1}}": "back",
		"{crash: {y: 1}, break: 1}": "mistaken right back", "{partition: 1}": "mistaken",
		"{crash: {y: 1}, restart: {y: 1}, break: 1, return: 1}": "mistaken right back",
	} {
		s := suiteSystem(t, strings.Replace(spec, "FAULTS", faults, 1))
		res, err := explore.Run(t.Context(), s.System, explore.Options{Checks: s.Checks, KeepGoing: true})
		if err != nil || !res.Complete {
			t.Fatal(faults, err)
		}
		var got []string
		for _, c := range res.Claims {
			if c.Held > 0 && slices.Contains([]string{"mistaken", "right", "back"}, c.Name) {
				got = append(got, c.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", faults, got, want)
		}
	}
}

// TestKeptWords: the report says what somebody still has who begins again.
func TestKeptWords(t *testing.T) {
	const spec = `protocol: keeping
messages: {A: }
roles:
  s: {vars: {n: {type: 0..3, KEPT}, m: 0..3}, commands: {go: }, initial: up,
      states: {up: {final: true, go: {when: n < 3, do: [{send: A}, {set: {n: n + 1}}]}}}}
  r: {initial: up, states: {up: {final: true, A: ignore}}}
checks:
  main: {instances: {a: s, b: r}, faults: {crash: {a: 1}, restart: 1, ATOMIC}}
`
	for _, x := range []struct{ kept, atomic, want string }{
		{"kept: true", "", "a.n has then what the last step set, though the crash cut that step short"},
		{"kept: true", "atomic: true", "a.n has then what the last step set\n"},
		{"kept: false", "", "a then has lost all its variables"},
	} {
		text := strings.NewReplacer("KEPT", x.kept, ", ATOMIC", strings.TrimSuffix(", "+x.atomic, ", ")).Replace(spec)
		r, err := suiteSystem(t, text).Run(t.Context(), explore.Options{}, nil)
		if err != nil || !strings.Contains(strings.Join(r.Assumptions, "\n")+"\n", x.want) {
			t.Errorf("%s %s: %v, %q, want %q", x.kept, x.atomic, err, r.Assumptions, x.want)
		}
		if strings.Contains(strings.Join(r.Assumptions, "\n"), "b begins again") {
			t.Errorf("b cannot crash: %q", r.Assumptions)
		}
	}
}
