package mutate

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
)

// A shop whose checks say what the seller is told, and nothing about what the buyer is told.
const shop = `protocol: shop
parties: 2
messages: {ASK: {fields: {n: 0..3}}, SOLD: {}, NO: {}}
roles:
  buyer:
    vars: {asked: 0..3, tries: 0..2}
    commands: {ask: {fields: {n: 1..3}}}
    reports: {got: }
    initial: idle
    states:
      idle: {ask: {when: tries < 2, set: {asked: n, tries: tries + 1}, send: "ASK{n}", goto: waiting}}
      waiting: {SOLD: {report: got, goto: done}, NO: {goto: idle}}
      done: {final: true}
  seller:
    vars: {left: {type: 0..3, init: 2}}
    reports: {sold: {fields: {n: 0..3}}}
    initial: open
    states:
      open:
        ASK:
          - {when: n <= left && n > 0, set: {left: left - n}, report: "sold{n}", send: SOLD}
          - {send: NO}
checks:
  one:
    instances: {b: buyer, s: seller}
    quiet: b.done || b.idle
    claims:
      stock: {always: "!reported(s.sold) || s.left + last(s.sold.n) == 2"}
      as-asked: {always: b.done => reported(s.sold) && last(s.sold.n) == b.asked}
      sells: {sometimes: b.done && s.left == 0}
`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func short(m *Mutant) string {
	words, _, _ := strings.Cut(m.Words, ": ")
	return fmt.Sprintf("%s %s %s", m.Operator, words, m.Result)
}

// TestShop: what the claims speak of is killed, what they are silent about survives, and a mistake that changes
// nothing in the check is the same.
func TestShop(t *testing.T) {
	r, err := Run(t.Context(), write(t, shop), Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]Result{}
	for _, m := range r.Mutants {
		results[fmt.Sprint(m.Operator, " ", m.Words)] = m.Result
		if (m.Result == Killed) != (m.Claim != "") || (m.Result == Survived) != (m.Differs != "") {
			t.Errorf("%+v", m)
		}
	}
	for mutant, want := range map[string]Result{
		"drop-report open ASK: without report: sold{n}":                 Killed,
		"drop-report waiting SOLD: without report: got":                 Survived,
		"drop-send open ASK: without send: NO":                          Killed,
		"drop-set open ASK: without set: {left: left - n}":              Killed,
		"drop-set idle ask: without set: {asked: n}":                    Killed,
		"drop-set idle ask: without set: {tries: tries + 1}":            Survived,
		"weak-guard n <= left instead of n <= left && n > 0":            Same, // none is not asked for
		"weak-guard n > 0 instead of n <= left && n > 0":                Killed,
		"compare n < left instead of n <= left":                         Killed,
		"no-goto waiting NO: does not go to idle":                       Killed,
		"drop-branch waiting NO: the branch is missing":                 Killed,
		"weak-guard idle ask: is not conditional on tries < 2":          Same, // else it is a fault
		"off-by-one left instead of left - n":                           Killed,
		"other-goto waiting SOLD: goes to waiting instead of done":      Killed,
		"ignore waiting NO: is ignored":                                 Killed,
		"compare tries <= 2 instead of tries < 2":                       Same,
		"drop-send idle ask: without send: ASK{n}":                      Killed,
		"weak-guard open ASK: is not conditional on n <= left && n > 0": Killed,
	} {
		if got, ok := results[mutant]; got != want {
			t.Errorf("%s: %q, %t; it should be %s", mutant, got, ok, want)
		}
	}
	if t.Failed() {
		for name, result := range results {
			t.Log(result, name)
		}
	}
	again, err := Run(t.Context(), write(t, shop), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Mutants {
		if a, b := short(r.Mutants[i]), short(again.Mutants[i]); a != b {
			t.Errorf("%s, and again %s", a, b)
		}
	}
}

// TestPlaces: every mutant of shipped specifications finds its place in the model of every check, and what is undone
// is as it was.
func TestPlaces(t *testing.T) {
	used := map[Operator]bool{}
	for _, name := range []string{"confirm", "negotiation", "lockstep", "library/mqtt"} {
		r := &runner{path: "../../specs/" + name + "/spec.yaml"}
		if err := r.compile(); err != nil {
			t.Fatal(err)
		}
		b, err := r.bench()
		if err != nil {
			t.Fatal(err)
		}
		b.models[""] = b.base
		for _, m := range all(r.base) {
			used[m.Operator] = true
			for _, p := range b.models {
				k := slices.IndexFunc(p.Roles, func(role *model.Machine) bool { return role.Name == m.Role })
				before := ""
				if p == b.base {
					before = dump(p.Roles[k])
				}
				was := keep(p.Roles[k])
				if !m.change(p.Roles[k]) {
					t.Errorf("%s: %s: %s: it has no place in a check", name, m.Where, m.Words)
				} else if len(was.touched(k).places) == 0 {
					t.Errorf("%s: %s: %s: it touches nothing", name, m.Where, m.Words)
				}
				was.undo()
				if p == b.base && dump(p.Roles[k]) != before {
					t.Fatalf("%s: %s: %s: it is not undone", name, m.Where, m.Words)
				}
			}
		}
	}
	for _, op := range Operators {
		if !used[op] {
			t.Errorf("no mutant has the operator %s", op)
		}
	}
}

// dump is a machine as text, with everything that mutants change.
func dump(m *model.Machine) string {
	var b strings.Builder
	for _, st := range m.States {
		fmt.Fprintln(&b, st.Name, model.StmtsString(st.Entry))
		for _, h := range st.Handlers {
			if h == nil {
				continue
			}
			fmt.Fprintln(&b, h.Event.Name, h.Mode)
			for _, t := range h.Branches {
				fmt.Fprintln(&b, t.ID, t.Name, t.Mode, t.When == nil, model.StmtsString(t.Body), t.To != nil)
				if t.When != nil {
					fmt.Fprintln(&b, model.ExprString(t.When))
				}
				if t.To != nil {
					fmt.Fprintln(&b, t.To.Name)
				}
			}
		}
	}
	return b.String()
}

// TestShortcuts: to leave out checks in which a mistake does nothing, and to repeat what hostile instances do, changes
// no result. Texts, links, parts of the same file and several instances of a role are among these specifications.
func TestShortcuts(t *testing.T) {
	for name, sample := range map[string]int{"confirm": 30, "update": 0, "reset": 0, "setup": 0, "battle-end": 8,
		"snapshot": 8, "connection": 8, "negotiation": 8, "library/socks5": 8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shortcuts(t, "../../specs/"+name+"/spec.yaml", sample)
		})
	}
	// The link is there because the server closes it in a command that never comes. Without that, what a hostile client
	// sends in vain costs it nothing.
	t.Run("surroundings", func(t *testing.T) {
		shortcuts(t, write(t, `protocol: door
parties: 2
messages: {KNOCK: {}, SHOUT: {}}
roles:
  server:
    commands: {shut: }
    initial: open
    states:
      open: {KNOCK: {goto: done}, shut: {close: , to: all}}
      done: {ignore: [KNOCK]}
  client: {initial: idle, states: {idle: {start: {do: [{send: KNOCK}, {send: SHOUT}]}}}}
checks:
  one:
    instances: {s: server, c: client}
    hostile: c
    environment: {shut: false}
    quiet: "true"
    claims: {comes: {reachable: s.done}}
    expect: [comes, never-fires]
`), 0)
	})
}

// TestRefused: a mistake that lets through what is refused now, by a guard of the machine or of a part, is searched.
func TestRefused(t *testing.T) {
	shortcuts(t, write(t, `protocol: bell
parties: 2
messages: {RING: {}}
roles:
  counter:
    vars: {n: 0..3}
    commands: {count: }
    initial: on
    states: {on: {count: {when: n < 1, set: {n: n + 1}}}}
  guest:
    vars: {n: 0..3}
    parts: {counter: {machine: counter}}
    commands: {ring: , knock: }
    initial: out
    states: {out: {ring: {when: n < 1, set: {n: n + 1}, send: RING}, knock: {run: counter.count}}}
  host: {initial: home, states: {home: {RING: ignore}}}
checks:
  one:
    instances: {g: guest, h: host}
    quiet: "true"
    claims: {once: {always: g.n < 2}, part: {always: g.counter.n < 2}}
`), 0)
}

// shortcuts compares results with those of full searches, and the lines that were taken where both searched.
func shortcuts(t *testing.T, file string, sample int) {
	t.Helper()
	type search struct {
		words, check string
	}
	taken := [2]map[search]map[string]bool{{}, {}}
	var reports [2]*Report
	for k := range reports {
		var err error
		reports[k], err = Run(t.Context(), file, Options{Sample: sample, Seed: 7, Workers: 1, plain: k == 1,
			saw: func(m *Mutant, check string, r *check.Report) {
				taken[k][search{m.Where + m.Words, check}] = r.Taken
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for x, lines := range taken[0] {
		if !maps.Equal(lines, taken[1][x]) {
			t.Errorf("%s in check %s: it takes %v, and in full %v", x.words, x.check, lines, taken[1][x])
		}
	}
	for i, m := range reports[0].Mutants {
		n := reports[1].Mutants[i]
		if m.Result != n.Result || m.Check != n.Check || m.Claim != n.Claim {
			t.Errorf("%s: %s: %s by %s %s, and in full %s by %s %s", m.Where, m.Words, m.Result,
				m.Check, m.Claim, n.Result, n.Check, n.Claim)
		}
	}
}

// TestParts: a role that is a part alone has mutants as others have: what nobody is told of it survives, and is not
// taken for a mistake that does nothing.
func TestParts(t *testing.T) {
	r, err := Run(t.Context(), write(t, `protocol: desk
parties: 2
messages: {ASK: {}, YES: {}}
roles:
  session:
    vars: {asked: bool}
    initial: fresh
    states: {fresh: {ASK: {set: {asked: "true"}, send: YES, goto: told}}, told: {}}
  server:
    parts: {session: {machine: session, key: {c: instance}, to: c}}
    initial: open
    states: {open: {forward: {"session[sender]": [ASK]}}}
  client:
    initial: waiting
    states:
      waiting: {start: {send: ASK}, YES: {goto: done}}
      done: {final: true}
checks:
  one: {instances: {s: server, c: client}, quiet: "true", claims: {answered: {eventually: c.done}}}
`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]Result{}
	for _, m := range r.Mutants {
		results[m.Words] = m.Result
	}
	for words, want := range map[string]Result{"fresh ASK: without send: YES": Killed,
		"fresh ASK: without set: {asked: true}": Survived, "fresh ASK: does not go to told": Survived} {
		if got := results[words]; got != want {
			t.Errorf("%s: %q; it should be %s", words, got, want)
		}
	}
	if t.Failed() {
		t.Log(results)
	}
}

// TestProposals: for a mistake that survives there is a claim of the kind that can see it, and with that claim in the
// specification it is killed.
func TestProposals(t *testing.T) {
	turns := `protocol: turns
parties: 2
messages: {GO: {}}
roles:
  peer:
    commands: {next: }
    reports: {told: }
    initial: one
    states:
      one: {next: {report: told, goto: two}}
      two: {next: {report: told, goto: one}}
  other: {initial: idle, states: {idle: {}}}
checks:
  pair: {instances: {a: peer, b: other}, quiet: "true", claims: {turn: {sometimes: a.two}, told: {always: "a.two => reported(a.told)"}}}
`
	lost := `protocol: lost
parties: 2
messages: {ASK: {}, YES: {}}
channel: {lossy: true, capacity: 2, full: lose}
tick: 10ms
roles:
  client:
    timers: {again: {ticks: 100}}
    initial: waiting
    states:
      waiting: {start: {send: ASK, start: again}, again: {send: ASK, start: again}, YES: {stop: again, goto: done}}
      done: {YES: ignore}
  server: {initial: idle, states: {idle: {ASK: {send: YES}}}}
checks:
  pair: {instances: {c: client, s: server}, quiet: "true", claims: {some: {sometimes: c.done}}}
`
	for _, x := range []struct{ name, spec, words, want string }{
		{"states", shop, "drop-set idle ask: without set: {tries: tries + 1}", `{always: "!(b.done && b.tries == 0)"}`},
		{"reports", shop, "drop-report waiting SOLD: without report: got", `{always: "b.done => reported(b.got)"}`},
		{"order", turns, "drop-report two next: without report: told", `{always: "!a.order.wrong"}`},
		{"coming", lost, "drop-timer waiting again: without start: again", `{reachable: c.done}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			r, err := Run(t.Context(), write(t, x.spec), Options{Propose: true})
			if err != nil {
				t.Fatal(err)
			}
			find := func(r *Report) *Mutant {
				for _, m := range r.Mutants {
					if fmt.Sprint(m.Operator, " ", m.Words) == x.words {
						return m
					}
				}
				return &Mutant{}
			}
			m := find(r)
			if m.Result != Survived || m.Proposal == nil || m.Proposal.Claim != x.want {
				for _, m := range r.Mutants {
					t.Log(m.Operator, m.Words, m.Result, m.Proposal)
				}
				t.Fatalf("%+v, proposed %+v", m, m.Proposal)
			}
			text := x.spec + "  more:\n    like: " + m.Proposal.Check + "\n    claims: {proposed: " +
				m.Proposal.Claim + "}\n"
			if m.Proposal.Monitor != "" {
				text += "    monitors: {order: " + m.Proposal.Monitor + "}\n"
			}
			if r, err = Run(t.Context(), write(t, text), Options{}); err != nil {
				t.Fatal(err)
			}
			if m := find(r); m.Result != Killed || m.Claim != "proposed" {
				t.Errorf("%s %s by %s", m.Words, m.Result, m.Claim)
			}
		})
	}
}

// TestKills: a proposal is one that holds without the mistake and is violated with it.
func TestKills(t *testing.T) {
	r := &runner{path: write(t, shop), o: Options{Workers: 1}, bigs: make(chan struct{}, bigAtOnce)}
	if err := r.compile(); err != nil {
		t.Fatal(err)
	}
	if err := r.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := r.bench()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all(r.base) {
		if m.Words != "waiting SOLD: without report: got" {
			continue
		}
		for claim, want := range map[string]bool{
			"{always: b.done => reported(b.got)}":    true,
			"{always: b.idle => reported(b.got)}":    false, // violated without the mistake, too
			"{sometimes: b.done}":                    false, // holds with it
			"{always: b.lost => b.done}":             false, // there is no such state
			"{sometimes: reported(b.got) && b.done}": true,
		} {
			if got := b.proposer.kills(t.Context(), m, r.checks[0], candidate{claim: claim}); got != want {
				t.Errorf("%s: %t", claim, got)
			}
		}
	}
}

// TestWith: the checks of a variant notice mistakes in what it has of the specification, and in nothing else.
func TestWith(t *testing.T) {
	file := write(t, shop)
	variant := filepath.Join(filepath.Dir(file), "variant.yaml")
	text := `protocol: shop
extends: spec.yaml
roles:
  buyer:
    states: {idle: {ask: {set: {asked: n}, send: "ASK{n}", goto: waiting}}}
checks:
  one: null
  other:
    instances: {b: buyer, s: seller}
    quiet: b.done || b.idle
    claims: {told: {always: b.done => reported(b.got)}}
    expect: [never-fires, unreachable-state]
`
	if err := os.WriteFile(variant, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), file, Options{With: []string{variant}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Checks != 2 {
		t.Errorf("%d checks", r.Checks)
	}
	for words, want := range map[string]string{
		"waiting SOLD: without report: got":             "killed by variant.yaml other told",
		"idle ask: without set: {tries: tries + 1}":     "survived by  ",
		"waiting SOLD: goes to waiting instead of done": "killed by variant.yaml other deadlock",
	} {
		k := slices.IndexFunc(r.Mutants, func(m *Mutant) bool { return m.Words == words })
		if k < 0 {
			t.Fatal(words)
		}
		m := r.Mutants[k]
		if got := fmt.Sprintf("%s by %s %s", m.Result, m.Check, m.Claim); got != want {
			t.Errorf("%s: %s; it should be %s", words, got, want)
		}
	}
	if _, err := Run(t.Context(), variant, Options{With: []string{file}}); err == nil ||
		!strings.Contains(err.Error(), "does not extend") {
		t.Errorf("the other way round: %v", err)
	}
}

// TestRefusals: what cannot be judged is an error with a reason.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(shop, "b.done || b.idle", "b.done", 1):                        "does not pass as it is",
		shop[:strings.Index(shop, "checks:")]:                                         "has no checks",
		strings.Replace(shop, "initial: open", "initial: shut", 1):                    "has errors",
		strings.Replace(shop, "      done: {final: true}", "      done: {NO: {}}", 1): "over all checks together",
	} {
		if _, err := Run(t.Context(), write(t, text), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: it should say: %s", err, want)
		}
	}
}

// TestSample: a sample is some of all, and the same each time.
func TestSample(t *testing.T) {
	file := write(t, shop)
	var lists [2]string
	for i := range lists {
		r, err := Run(t.Context(), file, Options{Sample: 7, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Mutants) != 7 || r.All <= 7 {
			t.Fatal(len(r.Mutants), r.All)
		}
		for _, m := range r.Mutants {
			lists[i] += short(m) + "\n"
		}
	}
	if lists[0] != lists[1] {
		t.Errorf("%s\n%s", lists[0], lists[1])
	}
	if _, list := compile.Load(file, compile.Options{}); list.HasErrors() {
		t.Error(list)
	}
}

// TestWords: mistakes are those that an author can make in the text, not in what it was written out as, and those in a
// routine are said to be there.
func TestWords(t *testing.T) {
	p, list := compile.Load(write(t, `protocol: seats
parties: 2
types: {Seat: 0..2}
messages: {ASK: {}}
roles:
  buyer:
    vars: {who: {map: Seat, of: bool}, tries: 0..9}
    commands: {ask: , other: }
    initial: idle
    routines: {count: {do: [{set: {tries: tries + 1}}, {if: "len(who) == 1", then: [{send: ASK}]}]}}
    states:
      idle:
        ask: {when: "some(s in who: s<2) && tries < 2", call: count, goto: waiting}
        other: {when: "!(1 in who)", call: count}
      waiting: {ask: {call: count}}
  seller: {initial: open, states: {open: {ASK: ignore}}}
checks:
  one: {instances: {b: buyer, s: seller}, quiet: "true"}
`), compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	var got []string
	for _, m := range all(p) {
		if m.Role != "buyer" {
			continue
		}
		was := keep(p.Roles[0])
		if !m.change(p.Roles[0]) {
			t.Errorf("%s: it has no place", m.Words)
		}
		was.undo()
		if slices.Contains([]Operator{Compare, OffByOne, DropSet, DropSend, WeakGuard}, m.Operator) {
			got = append(got, string(m.Operator)+" "+m.Words)
		}
	}
	want := []string{
		"weak-guard idle ask: is not conditional on some(s in who: s<2) && tries < 2",
		"weak-guard some(s in who: s<2) instead of some(s in who: s<2) && tries < 2",
		"weak-guard tries < 2 instead of some(s in who: s<2) && tries < 2",
		"compare s <= 2 instead of s < 2",
		"compare tries <= 2 instead of tries < 2",
		"drop-set count: without set: {tries: tries + 1}",
		"off-by-one tries instead of tries + 1",
		"weak-guard count: always does what is conditional on len(who) == 1",
		"compare len(who) != 1 instead of len(who) == 1",
		"drop-send count: without send: ASK",
		"weak-guard idle other: is not conditional on !(1 in who)",
		"compare 1 in who instead of !(1 in who)",
		"compare !(1 in who) instead of 1 in who",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
