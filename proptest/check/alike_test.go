package check

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/proptest/race"
)

// knowingSpec writes a protocol of a server and of clients that know each other by number: they keep who has
// sent, answer to it, compare, count and order. Clients may come and go, crash, and be restarted.
func knowingSpec(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	do := func() string {
		return pick(
			"set: {who: sender}", "set: {\"tab[sender]\": 1}", "set: {\"tab[sender]\": \"(tab[sender] + 1) % 2\"}",
			"set: {seen: \"with(seen, sender)\"}", "set: {seen: \"without(seen, sender)\"}", "send: B, to: sender",
			"do: [{if: who != none, then: [{send: \"C{n: sender}\", to: who}]}]", "send: \"C{n: sender}\", to: all",
			"send: B, to: \"[p for p in instance if p != sender && tab[p] == 1]\"", "send: B, to: seen",
			"do: [{each: {p: instance}, do: [{if: \"tab[p] == 1\", then: [{set: {\"tab[p]\": 0}}]}]}]",
			"do: [{each: {p: instance}, do: [{if: \"p != self\", then: [{set: {who: p}}]}]}]",
			"set: {who: \"first(p in instance: tab[p] == 1)\"}",
		)
	}
	when := func() string {
		return pick("who == none", "who == sender", "tab[sender] == 1", "sender in seen", "len(seen) > 1",
			"sender < who", "count(p in instance: tab[p] == 1) > 1", "sender == 1", "sender == 0")
	}
	if r.IntN(3) > 0 { // most are to be alike
		old := when
		when = func() string {
			for {
				if x := old(); !strings.Contains(x, "<") && !strings.Contains(x, "sender == 1") {
					return x
				}
			}
		}
	}
	branches := func() string {
		if r.IntN(2) == 0 {
			return "{" + do() + "}"
		}
		return fmt.Sprintf("[{when: %q, %s}, {%s}]", when(), do(), do())
	}
	come, faults, n := "", "", 2
	switch r.IntN(4) {
	case 0:
		come = "    come: {c: " + pick("1", "2") + "}\n"
	case 1:
		faults = "    faults: {crash: {c: 1}" + pick("", ", restart: {c: 1}", ", atomic: true") + "}\n"
	case 2:
		n = 3
	}
	return fmt.Sprintf(`protocol: knowing
messages: {A: , B: , C: {fields: {n: instance}}}
channel: {capacity: 1, full: %s}
roles:
  server:
    vars: {who: instance?, seen: {set: instance}, tab: {array: instance, of: 0..1}}
    initial: up
    states:
      up: {A: %s, B: %s, C: ignore}
  client:
    vars: {last: instance?}
    commands: {go: }
    initial: near
    states:
      near:
        go: {send: A, to: %s, goto: %s}
        A: ignore
        B: {goto: far}
        C: [{when: n == self, set: {last: n}, goto: far}, {when: %s, goto: far}, {set: {last: n}}]
      far: {go: {send: B, to: 0}, A: ignore, B: ignore, C: %s}
      over: {final: true, A: ignore, B: ignore, C: ignore}
checks:
  main:
    instances: {s: server, "c[1..%d]": client}
%s%s    environment: {go: {times: %s}}
    quiet: "true"
    claims:
      one: {always: "%s", why: to have a claim}
      two: {sometimes: "%s", why: to have another}
`, pick("lose", "wait"), branches(), branches(), pick("0", "all", "0"), pick("far", "near", "over"),
		pick("n == sender", "last == n", "last == none"),
		pick("ignore", "{set: {last: n}, goto: near}", "{goto: over}"),
		n, come, faults, pick("1", "2"),
		pick("all(x in c: x.far => s.tab[x] == 0)", "all(x in c: x in s.seen => x.near || x.far)",
			"all(x in c: s.who == x => x.last != x)", "count(x in c: x.last == x) < 2"),
		pick("some(x in c: x.last == x)", "some(x in c: s.who == x && x.over)", "all(x in c: x.far)",
			"count(p in instance: s.tab[p] == 1) > 1", "some(p in instance: p in s.seen && p > 1)",
			"s.who == first(p in instance: p in s.seen && p != 0)"))
}

// TestKnowingAlike: where machines know numbers of instances, a search that exchanges these finds the same, and
// refuses to exchange them where the machines tell them apart.
func TestKnowingAlike(t *testing.T) {
	race.Skip(t)
	runs, reduced, refused, come, half := race.Draws(60, 400), 0, 0, 0, 0
	for n := range runs {
		text := knowingSpec(rand.New(rand.NewPCG(uint64(n), 30)))
		p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}},
			Check: "main"})
		if p == nil {
			t.Fatalf("%v\n%s", list, text)
		}
		s, err := New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		left := agrees(t, s, 20_000)
		if t.Failed() {
			t.Fatal(text)
		}
		switch {
		case left == nil:
		case left["symmetry"] > 0 && left["symmetry"] < left["none"]:
			if reduced++; strings.Contains(text, "come:") {
				come++
			}
			if left["symmetry"]*3 < left["none"]*2 {
				half++
			}
		default:
			refused++
		}
	}
	t.Logf("%d reduced, %d of them with comers, %d by more than a third; %d refused", reduced, come, half, refused)
	if reduced < runs/2 || refused < runs/20 || come < runs/20 || half < runs/6 {
		t.Error("too few")
	}
}

// TestClaimsOfNumbers: claims that order instances, or take their numbers for others, tell them apart.
func TestClaimsOfNumbers(t *testing.T) {
	const text = `protocol: numbers
messages: {A: }
channel: {capacity: 1}
roles:
  server:
    vars: {who: instance?, at: 0..9, seen: {set: instance}, ages: {list: 0..9, max: 4}}
    initial: up
    states: {up: {A: {set: {who: sender, seen: "with(seen, sender)"}}}}
  client: {commands: {go: }, initial: near, states: {near: {go: {send: A, to: 0, goto: far}, A: ignore}, far: {final: true, A: ignore}}}
checks:
  main:
    instances: {s: server, "c[1..2]": client}
    quiet: "true"
    claims: {one: {always: CLAIM}}
`
	for claim, alike := range map[string]bool{
		"all(x in c: x in s.seen => x.far)": true, "count(x in c: s.who == x) < 2": true,
		"count(p in instance: p in s.seen) < 3": true, "s.who == none || some(x in c: s.who == x)": true,
		"all(p in instance: p in s.seen => p < 2)": false, "s.at < 1 || all(p in instance: p != s.at)": false,
		"s.who == none || s.who == first(p in instance: p in s.seen)": false, "s.who != 2": false,
		"all(p in instance: p in s.seen => p + 1 < 3)": false,
	} {
		s := suiteSystem(t, strings.Replace(text, "CLAIM", strconv.Quote(claim), 1))
		if n := agrees(t, s, 20_000); n == nil || (n["symmetry"] > 0) != alike {
			t.Errorf("%s: %v", claim, n)
		}
	}
}
