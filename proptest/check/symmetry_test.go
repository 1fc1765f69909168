package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/run"
)

// forEachCheck calls f for the checks of all specifications: for each if tests have all the time
// they want, for one in eight otherwise.
func forEachCheck(t *testing.T, f func(t *testing.T, s *System)) {
	n := 0
	for _, pattern := range []string{"../../specs/*/*.yaml", "testdata/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base, _ := compiled(file, "")
			if base == nil {
				continue
			}
			for _, c := range base.Checks {
				if n++; !race.Some(n, 8) {
					continue
				}
				p, list := compiled(file, c.Name)
				if p == nil {
					t.Fatal(list)
				}
				if s, err := New(p, p.Checks[0]); err == nil {
					t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)+"/"+c.Name,
						func(t *testing.T) { f(t, s) })
				}
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d checks are there", n)
	}
}

// compilations has what compiled has returned, by file and check.
var compilations = map[[2]string]*model.Protocol{}

// compiled returns the specification in a file, compiled for a check. Callers share it.
func compiled(file, check string) (*model.Protocol, diag.List) {
	if p, ok := compilations[[2]string{file, check}]; ok {
		return p, nil
	}
	p, list := compile.Load(file, compile.Options{Check: check})
	if p != nil {
		compilations[[2]string{file, check}] = p
	}
	return p, list
}

// TestSymmetryIsTrue tries what was derived from every specification out on the
// configurations nearest to the start: every renamed configuration must have
// exactly the renamed steps.
func TestSymmetryIsTrue(t *testing.T) {
	race.Skip(t)
	forEachCheck(t, func(t *testing.T, s *System) {
		for _, why := range s.FindSymmetry() {
			t.Log(why)
		}
		if s.System.Symmetry == nil {
			return
		}
		for _, n := range s.System.Symmetry.Names {
			t.Log("+", n)
		}
		if err := explore.CheckSymmetry(context.Background(), s.System, uint64(race.Draws(150, 500))); err != nil {
			t.Error(err)
		}
	})
}

// summary has the results that a reduction must not change. If it leaves out orders of steps,
// lengths of runs and of channels may change.
func summary(r *Report, lengths bool) string {
	text := fmt.Sprint(r.Verdict, r.Passes, r.Open)
	if lengths {
		text += fmt.Sprint(r.Channels)
	}
	for _, c := range r.Claims {
		text += fmt.Sprintf("\n%s %s %v %d", c.Name, c.Result, c.Vacuous, len(c.Conflicts))
		for _, x := range []*run.Run{c.Counterexample, c.Witness} {
			// a run that never comes to something leaves from the nearest place from where it need
			// not; of several equally near ones another may be taken
			if x != nil && lengths && c.Kind != "leadsTo" {
				text += fmt.Sprint(" in ", len(x.Steps))
			}
		}
	}
	for _, p := range r.NeverTaken {
		text += "\nnever " + p.Name
	}
	return text
}

// agrees compares each reduction, and all together, with the plain search; it gives how
// many configurations each left, nil if there are too many.
func agrees(t *testing.T, s *System, most uint64) map[string]uint64 {
	o := explore.Options{MaxConfigurations: most}
	plain, err := s.Run(context.Background(), o, nil)
	if err != nil || plain.Configurations > o.MaxConfigurations {
		return nil
	}
	out := map[string]uint64{"none": plain.Configurations}
	for _, x := range []struct {
		name   string
		reduce explore.Reduction
	}{
		{"symmetry", explore.ReduceSymmetry}, {"dead-variables", explore.ReduceDead},
		{"both", explore.ReduceSymmetry | explore.ReduceDead}, {"local-steps", explore.ReduceLocal},
		{"partial-order", explore.ReduceLocal | explore.ReducePartialOrder},
		{"all", explore.ReduceSymmetry | explore.ReduceDead | explore.ReduceLocal | explore.ReducePartialOrder},
	} {
		if plain.Configurations > 3000 && !race.Long() && x.reduce&explore.ReduceLocal != 0 {
			continue // random specifications and the smaller checks have it
		}
		o.Reduce = x.reduce
		reduced, err := s.Run(context.Background(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		lengths := x.reduce&(explore.ReduceLocal|explore.ReducePartialOrder) == 0
		if got, want := summary(reduced, lengths), summary(plain, lengths); got != want {
			t.Errorf("reduced by %v\n%s\nplain\n%s", reduced.Reductions, got, want)
		}
		if len(reduced.Reductions) > 0 {
			out[x.name] = reduced.Configurations
			if reduced.Configurations > plain.Configurations {
				t.Errorf("%d configurations instead of %d", reduced.Configurations, plain.Configurations)
			}
		}
	}
	return out
}

// TestReducedAgrees compares reduced searches with the plain one on every
// check that is not too large.
func TestReducedAgrees(t *testing.T) {
	race.Skip(t)
	most := uint64(race.Draws(800, 9000))
	if os.Getenv("PARLEY_BIG") != "" {
		most = 1 << 22
	}
	used := map[string]int{}
	forEachCheck(t, func(t *testing.T, s *System) {
		most := most
		if s.Check.HasHostile() && !race.Long() {
			most = min(most, 100) // whoever sends anything takes a thousand steps in each of them
		}
		left := agrees(t, s, most)
		if left == nil {
			t.Skip("too large")
		}
		t.Log(left)
		for name := range left {
			used[name]++
		}
	})
	for _, name := range []string{"symmetry", "dead-variables", "both"} {
		if used[name] < race.Draws(1, 3) {
			t.Errorf("only %d checks were reduced by %s", used[name], name)
		}
	}
}

// carrier is a protocol whose values and slots are interchangeable, and whose
// instances are. Each variant spoils something.
const carrier = `protocol: carrier
types:
  Slot: 0..1
  Value: opaque u8
messages:
  PUT: {fields: {slot: Slot, value: Value}}
  GOT: {fields: {slot: Slot}}
channel: {order: fifo, capacity: 2}
roles:
  peer:
    vars:
      held: {type: {array: Slot, of: Value?}}
    commands:
      put: {fields: {slot: Slot, value: Value}}
    initial: run
    states:
      run:
        put: {set: {"held[slot]": value}, send: "PUT{slot, value}"}
        PUT: {set: {"held[slot]": value}, send: "GOT{slot}"}
        GOT: {}
checks:
  main:
    instances: {a: peer, b: peer}
    domains: {Value: 0..2}
    environment:
      put: {when: "held[slot] != value && len(out) < 1"}
    claims:
      ok:
        always: "all(s in Slot: a.held[s] == none || a.held[s] == a.held[s]) && all(s in Slot: b.held[s] == none || b.held[s] == b.held[s])"
`

// Old and new may have a second pair after a tab.
var carrierVariants = []struct{ name, old, new, want, gone string }{
	{"as it is", "", "", "the values of Value (for each Slot on its own) are interchangeable\nthe indices " +
		"Slot are interchangeable\nthe instances a, b are interchangeable", "not interchangeable"},
	{"values of two slots meet", `send: "GOT{slot}"`, `if: "held[0] == held[1]", then: [{send: "GOT{slot}"}]`,
		"the indices Slot are not interchangeable: a fixed one", "for each Slot"},
	{"a value is kept for both slots", "GOT: {}\tvars:\n",
		"GOT: {set: {last: \"held[slot]\"}}\tvars:\n      last: {type: Value?}\n",
		"the values of Value are interchangeable", "for each Slot"},
	{"a constant value", "value && len(out)", "value && value != 1 && len(out)",
		"the values of Value are not interchangeable: it is computed with", ""},
	{"a constant slot", "value && len(out)", "value && slot == 0 && len(out)",
		"the values of Value (for each Slot", "the indices Slot are interchangeable\n"},
	{"a loop over slots", `GOT: {}`, `GOT: {do: [{each: {s: Slot}, do: [{send: "GOT{slot: s}"}]}]}`,
		"the indices Slot are not interchangeable: there is a loop", ""},
	{"slots in order", "GOT: {}\tvars:\n", "GOT: [{when: slot > top, set: {top: slot}}, {}]\tvars:\n      " +
		"top: {type: Slot}\n", "the indices Slot are not interchangeable: it is computed with or ordered", ""},
	{"a claim about one instance", "&& all(s in Slot: b.held", "&& all(s in Slot: a.held",
		"the instances a, b are not interchangeable: claim ok", ""},
	{"a crash", "    claims:", "    faults: {crash: 1}\n    claims:",
		"the indices Slot are interchangeable\nthe instances a, b are interchangeable", "not interchangeable"},
	{"one crashes", "    claims:", "    faults: {crash: {a: 1}}\n    claims:",
		"the indices Slot are interchangeable\n", "the instances a, b"},
	{"a restart", "    claims:", "    faults: {crash: {a: 1}, restart: {a: 1}}\n    claims:",
		"the indices Slot are interchangeable\n", "not interchangeable"},
	{"a restart to a constant", "    claims:\tvalue}, send: \"GOT\tvars:\n",
		"    faults: {crash: {a: 1}, restart: {a: 1}}\n    claims:\tvalue, last: value}, send: \"GOT\tvars:\n" +
			"      last: {type: Value}\n",
		"the values of Value are not interchangeable: a restart sets it to a constant", ""},
	{"a hostile peer", "    claims:\t && all(s in Slot: b.held[s] == none || b.held[s] == b.held[s])",
		"    hostile: b\n    claims:\t", "the values of Value (for each Slot on its own) are interchangeable\n" +
			"the indices Slot are interchangeable\n", "instances"},
	{"a hostile peer sends some values", "    claims:\t && all(s in Slot: b.held[s] == none || " +
		"b.held[s] == b.held[s])\t  GOT: {f\tGOT: {}",
		"    hostile: b\n    claims:\t\t  ALL: {fields: {all: {list: Value, max: 4}}}\n  GOT: {f" +
			"\tGOT: {}\n        ALL: {set: {\"held[0]\": \"all[0]\"}}",
		"the values of Value are not interchangeable: a hostile instance sends only some of its values", ""},
	{"a claim about one slot", "all(s in Slot: a.held[s] == none", "all(s in Slot: a.held[0] == none",
		"the indices Slot are not interchangeable: a fixed one", ""},
}

// TestSymmetryFound spoils one symmetry after the other, and sees that just that
// one is no longer found. Whatever is found is tried out.
func TestSymmetryFound(t *testing.T) {
	race.Skip(t)
	for _, v := range carrierVariants {
		t.Run(v.name, func(t *testing.T) {
			text, news := carrier, strings.Split(v.new, "\t")
			for i, old := range strings.Split(v.old, "\t") {
				if !strings.Contains(text, old) {
					t.Fatal("nothing to replace")
				}
				text = strings.Replace(text, old, news[i], 1)
			}
			file := filepath.Join(t.TempDir(), "carrier.yaml")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			p, list := compile.Load(file, compile.Options{Check: "main"})
			if p == nil {
				t.Fatal(list)
			}
			s, err := New(p, p.Checks[0])
			if err != nil {
				t.Fatal(err)
			}
			found := strings.Join(s.FindSymmetry(), "\n") + "\n"
			if s.System.Symmetry != nil {
				found += strings.Join(s.System.Symmetry.Names, "\n") + "\n"
				most := uint64(race.Draws(150, 2000))
				if err := explore.CheckSymmetry(context.Background(), s.System, most); err != nil {
					t.Error(err)
				}
			}
			if !strings.Contains(found, v.want) || v.gone != "" && strings.Contains(found, v.gone) {
				t.Errorf("found\n%s\nwant %q and not %q", found, v.want, v.gone)
			}
		})
	}
}

// faultySpec writes a protocol of several peers of one role that defer messages, over links or without,
// with faults and perhaps with a hostile peer.
func faultySpec(r *rand.Rand) string {
	text := linkedSpec(r)
	three := strings.Contains(text, "c: peer")
	text = strings.Replace(text, "pair:\n", "pair:\n    faults: {"+[]string{
		"crash: {a: 1, b: 1, c: 1}", "crash: 1", "break: 1", "break: 1, return: 1", "partition: 1",
		"crash: {a: 1, b: 1, c: 1}, restart: {a: 1, b: 1, c: 1}", "lose: 1, break: 1",
		"crash: {a: 1, b: 1, c: 1}, atomic: true",
		"overtake: 1, lose: 1", "duplicate: 1, partition: 1",
	}[r.IntN(10)]+"}\n", 1)
	if !three {
		text = strings.ReplaceAll(text, ", c: 1}", "}")
	} else if r.IntN(2) == 0 {
		text = strings.Replace(text, "partition: 1", "partition: 1, bridge: c", 1)
	}
	if r.IntN(3) == 0 {
		text = strings.Replace(text, "vars: {own: Value?}", "vars: {own: {type: Value?, kept: true}}", 1)
	}
	if r.IntN(3) > 0 {
		lines := strings.SplitAfter(text, "\n")
		defers := r.IntN(3)
		for i, x := range lines {
			if strings.HasPrefix(x, "        A: ") {
				if defers == 0 {
					lines[i] = "        A: defer\n"
				}
				defers--
			}
		}
		text = strings.Join(lines, "")
	}
	if three && r.IntN(2) == 0 { // claims cannot look at it
		text = strings.NewReplacer(" && c.s1", "", " && c.s2", "", " && c.s0", "", ", c: 1}", "}").Replace(text)
		text = strings.Replace(text, "pair:\n", "pair:\n    hostile: "+
			[]string{"c", "{c: malformed}"}[r.IntN(2)]+"\n", 1)
	}
	return text
}

// TestReducedFaults compares what is reduced by symmetry with plain searches where much may go wrong.
func TestReducedFaults(t *testing.T) {
	race.Skip(t)
	runs, compared, moved, hostile := race.Draws(12, 30), 0, 0, 0
	for n := range runs {
		text := faultySpec(rand.New(rand.NewPCG(uint64(n), 8)))
		p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}},
			Check: "pair"})
		if p == nil {
			t.Fatalf("%v\n%s", list, text)
		}
		s, err := New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		s.FindSymmetry()
		y := s.System.Symmetry
		if y == nil {
			continue
		}
		if slices.ContainsFunc(y.Shuffles, func(f explore.Shuffle) bool { return f.Moves() }) {
			if moved++; s.Check.HasHostile() {
				hostile++
			}
		}
		if err := explore.CheckSymmetry(t.Context(), s.System, 300); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if agrees(t, s, 1500) != nil {
			compared++
		}
		orbits(t, s, 1500)
		if t.Failed() {
			t.Fatal(text)
		}
	}
	t.Logf("%d compared; instances move in %d, %d of them with a hostile one", compared, moved, hostile)
	if compared < runs/8 || moved < runs/4 || hostile < runs/20 {
		t.Error("too few")
	}
}

// TestSymmetryOfWords: what two instances may be exchanged in is what claims mean, not what they
// say: the words that a claim keeps of its author do not change when instances are exchanged in it.
func TestSymmetryOfWords(t *testing.T) {
	const text = `protocol: words
parties: 2
messages: {A: }
roles:
  peer: {vars: {m: {map: 0..1, of: bool}}, commands: {go: }, initial: a, states: {a: {go: {set: {"m[0]": "true"}}, A: ignore}}}
checks:
  pair:
    instances: {x: peer, y: peer}
    claims: {one: {always: CLAIM}}
    quiet: "true"
`
	for claim, want := range map[string]bool{
		"len(x.m) < 2": false, "!(1 in x.m)": false, "len(x.m) < 2 && len(y.m) < 2": true,
		"!(1 in x.m || 1 in y.m)": true,
	} {
		file := fstest.MapFS{"a.yaml": {Data: []byte(strings.Replace(text, "CLAIM", strconv.Quote(claim), 1))}}
		p, list := compile.Load("a.yaml", compile.Options{Check: "pair", FS: file})
		if p == nil {
			t.Fatal(list)
		}
		s, err := New(p, p.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		s.FindSymmetry()
		if got := s.System.Symmetry != nil; got != want {
			t.Errorf("%s: x and y may be exchanged: %v, want %v", claim, got, want)
		}
	}
}

// coming is a protocol of a counter and of clients that say when they come and are told how many have.
const coming = `protocol: coming
messages: {HELLO: , COUNT: {fields: {n: 0..1}}}
channel: {capacity: 1, full: lose}
parties: 4
roles:
  client:
    vars: {seen: 0..1}
    commands: {greet: }
    initial: new
    states:
      new: {greet: {send: HELLO, to: all, goto: waiting}, COUNT: ignore, HELLO: ignore}
      waiting: {COUNT: {set: {seen: n}, goto: over}, HELLO: ignore}
      over: {final: true, COUNT: ignore, HELLO: ignore}
  counter:
    vars: {n: 0..1}
    initial: up
    states:
      up: {HELLO: {set: {n: (n + 1) % 2}, send: "COUNT{n}", to: all}, COUNT: ignore}
checks:
  main:
    instances: {a: client, b: client, k: counter}
    come: COME
    quiet: "true"
    claims:
      seen: {always: "a.seen <= k.n && b.seen <= k.n || k.n == 0", why: nobody sees more than there is}
      over: {sometimes: a.over && b.over, why: both end}
`

// TestComersAlike: instances to which equally many come are interchangeable, others are not; a search that makes
// use of that finds the same.
func TestComersAlike(t *testing.T) {
	for come, alike := range map[string]bool{"{a: 2, b: 2}": true, "{a: 1, b: 1}": true, "{a: 2, b: 1}": false,
		"{a: 1}": false} {
		s := suiteSystem(t, strings.Replace(coming, "COME", come, 1))
		n := agrees(t, s, 20_000)
		switch {
		case n == nil:
			t.Errorf("come %s: too many configurations", come)
		case (n["symmetry"] > 0) != alike || alike && n["symmetry"] >= n["none"]:
			t.Errorf("come %s: %v", come, n)
		}
	}
}
