package campaign

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/scenario"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/world"
)

// load compiles the checks of a file.
func load(t *testing.T, file string, o compile.Options) *Campaign {
	return some(t, file, o, func() bool { return true })
}

// some compiles those checks of a file that are wanted.
func some(t *testing.T, file string, o compile.Options, wanted func() bool) *Campaign {
	t.Helper()
	full, list := compile.Load(file, o)
	if full == nil {
		t.Fatal(list)
	}
	c := &Campaign{}
	for _, x := range full.Checks {
		if !wanted() {
			continue
		}
		o.Check = x.Name
		p, list := compile.Load(file, o)
		if p == nil {
			t.Fatal(list)
		}
		i := slices.IndexFunc(p.Checks, func(y *model.Check) bool { return y.Name == x.Name })
		c.Models, c.Checks = append(c.Models, p), append(c.Checks, p.Checks[i])
	}
	return c
}

// written compiles the checks of a text.
func written(t *testing.T, text string) *Campaign {
	t.Helper()
	return load(t, "spec.yaml", compile.Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
}

// player makes a player of a check of a campaign.
func (c *Campaign) player(t *testing.T, at int) *Player {
	t.Helper()
	p, err := NewPlayer(c.Models[at], c.Checks[at])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestShipped plays runs of every shipped check, or of one in eight unless tests have all the time
// they want. Nothing but what the check expects is violated; what
// is gets as short as can be, and the checker repeats it.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("../../specs/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	runs, n := uint64(10), 0
	if race.Nightly() {
		runs = 300
	}
	eighth := func() bool { n++; return race.Some(n, 8) }
	checks, shown, missed := 0, 0, 0
	for _, file := range files {
		c := some(t, file, compile.Options{}, eighth)
		if len(c.Checks) == 0 {
			continue
		}
		r, err := c.Run(t.Context(), Options{Seed: 1, Runs: runs * uint64(len(c.Checks))})
		if err != nil {
			t.Fatal(file, err)
		}
		for _, x := range r.Checks {
			checks++
			missed += len(x.Missed)
			for _, f := range x.Found {
				if !f.Expected || f.Trouble != "" {
					t.Errorf("%s, check %s: %s with seed %d: %s\n%s", file, x.Name, f.Claim, f.Seed, f.Trouble,
						f.Run.Text())
				}
				shown++
				if f.Run == nil {
					continue
				}
				if _, err := scenario.Of(f.Run, checked(file)); err != nil {
					t.Errorf("%s, check %s: %s with seed %d: %v\n%s", file, x.Name, f.Claim, f.Seed, err, f.Run.Text())
				}
			}
		}
	}
	t.Logf("%d checks, %d violations that they expect shown, %d not", checks, shown, missed)
	if checks < race.Draws(30, 120) || shown < race.Draws(4, 20) {
		t.Error("too few")
	}
}

// TestMinimal: of a run that was made short no step can be left out.
func TestMinimal(t *testing.T) {
	for _, file := range []string{"confirm/coded.yaml", "startup/coded.yaml", "reset/coded.yaml",
		"masterserver/documented.yaml", "update/coded-names.yaml"} {
		c := load(t, "../../specs/"+file, compile.Options{})
		shown := 0
		for at := range c.Checks {
			p := c.player(t, at)
			for seed := range uint64(60) {
				found := p.Play(seed, DefaultSteps)
				run := slices.Clone(p.run)
				for _, v := range found {
					short := p.Shrink(run, v, maxTries)
					if len(short) > len(run) {
						t.Errorf("%s: %d moves became %d", file, len(run), len(short))
					}
					for k := range short {
						if p.replay(slices.Delete(slices.Clone(short), k, k+1), v, nil) != nil {
							t.Errorf("%s, seed %d, %s: step %d of %d can be left out", file, seed, v.Claim, k+1,
								len(short))
						}
					}
					shown++
				}
			}
		}
		if shown == 0 {
			t.Error(file, "shows nothing")
		}
	}
}

// racy is a protocol in which two commands may cross, and a server takes a word for a promise.
const racy = `protocol: racy
messages: {ASK: , GIVE: , BACK: }
channel: {capacity: 4}
roles:
  user:
    commands: {ask: , back: }
    initial: idle
    states:
      idle: {ask: {send: ASK, goto: asking}, GIVE: ignore}
      asking: {GIVE: {goto: has}, back: {send: BACK, goto: idle}}
      has: {back: {send: BACK, goto: idle}, GIVE: ignore}
  keeper:
    initial: free
    states:
      free: {ASK: {send: GIVE, goto: taken}, BACK: ignore}
      taken: {BACK: {goto: free}, ASK: ignore}
checks:
  c:
    instances: {u: user, k: keeper}
    quiet: "true"
    environment: {ask: {when: len(out) < 2 && len(in) < 2}, back: {when: len(out) < 2}}
    claims:
      told: {always: u.has => k.taken, why: who has it is known to the keeper}
    HOW
`

// TestRace: a race is found within a few runs, and is told in the fewest steps that there are.
func TestRace(t *testing.T) {
	c := written(t, strings.Replace(racy, "HOW", "doc: none", 1))
	r, err := c.Run(t.Context(), Options{Seed: 1, Runs: 200})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Checks[0].Found; len(f) != 1 || f[0].Claim != "told" || f[0].Expected || !r.Failed() {
		t.Fatalf("%+v", f)
	}
	if n := len(r.Checks[0].Found[0].Run.Steps); n != 6 {
		t.Errorf("the run has %d steps:\n%s", n, r.Checks[0].Found[0].Run.Text())
	}
	for _, text := range []string{r.Text("racy.yaml", func(string, uint64) string { return "AGAIN" }, false, false)} {
		for _, want := range []string{"✗  c", "check c: told, not as expected, in ", "; ", "shrunk to 6\n",
			"      ✗ told does not hold here", "  again: AGAIN\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
}

// TestSame: a campaign finds the same with any number of workers, and in any order of seeds.
func TestSame(t *testing.T) {
	c := load(t, "../../specs/masterserver/documented.yaml", compile.Options{})
	var texts []string
	for _, workers := range []int{1, 2, 5} {
		r, err := c.Run(t.Context(), Options{Seed: 7, Runs: 120, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		r.Seconds, r.Workers = 0, 0
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Error("the results differ")
	}
	p, q := c.player(t, 0), c.player(t, 0)
	for seed := range uint64(20) {
		q.Play(19-seed, 100)
	}
	for seed := range uint64(20) {
		p.Play(seed, 100)
		q.Play(seed, 100)
		if !slices.EqualFunc(p.run, q.run, func(a, b move) bool { return a.String() == b.String() }) {
			t.Fatal("the run of a seed depends on those before it", seed)
		}
	}
}

// TestFaults: what the swarm of a run leaves out does not happen in it, and neither does what the
// check does not have.
func TestFaults(t *testing.T) {
	for _, how := range []string{"doc: none", "faults: {crash: {k: 1}}", "faults: {crash: 2, restart: 1}",
		"faults: {lose: 2}", "faults: {overtake: 1, duplicate: 2}",
		"channel: {capacity: 4, lossy: true}", "faults: {crash: 1, atomic: true}"} {
		p := written(t, strings.Replace(racy, "HOW", how, 1)).player(t, 0)
		left := 0
		for seed := range uint64(300) {
			before := p.Counts.Faults
			p.Play(seed, 100)
			for f := range Faults {
				n, w := p.Counts.Faults[f]-before[f], p.swarm.faults[f]
				if n > 0 && (w == 0 || !p.faults[f]) {
					t.Fatalf("%s, seed %d: %d times %v", how, seed, n, f)
				}
				if w == 0 && p.faults[f] {
					left++
				}
			}
		}
		some := false
		for f := range Faults {
			if some = some || p.faults[f]; p.faults[f] && p.Counts.Faults[f] == 0 {
				t.Errorf("%s: no %v", how, f)
			}
		}
		if some && left == 0 {
			t.Errorf("%s: nothing was ever left out", how)
		}
	}
}

// TestAllMoves: whatever a world lets happen can be drawn. The moves are compared in the
// configurations of random runs with all faults.
func TestAllMoves(t *testing.T) {
	linked := strings.NewReplacer("idle: {ask:", "idle: {up: ignore, lost: {}, ask:", "HOW",
		"faults: {crash: 2, restart: 1, break: 2, return: 2, partition: 1}").Replace(racy)
	datagrams := strings.NewReplacer("capacity: 4", "capacity: 4, order: any, lossy: true, duplicates: true",
		"HOW", "faults: {crash: 1, restart: 1, partition: 1, lose: 2}").Replace(racy)
	crossed := strings.Replace(racy, "HOW",
		"faults: {crash: 1, overtake: 2, lose: 2, duplicate: 1}\n    time: {beat: 1}", 1)
	crossed = strings.NewReplacer("keeper:\n", "keeper:\n    timers: {t: {ticks: 2}}\n", "ASK: {send: GIVE,",
		"t: ignore, ASK: {start: t, send: GIVE,", "taken: {", "taken: {t: {send: GIVE}, ", "free: {",
		"free: {start: {send: GIVE}, ").Replace("tick: 1s\n" + crossed)
	hostile := strings.NewReplacer("idle: {ask:", "idle: {up: ignore, lost: {}, ask:", "u.has => k.taken",
		"u.has || !u.has",
		"HOW", "hostile: {k: malformed}").Replace(racy)
	coming := strings.NewReplacer("idle: {ask:", "idle: {final: true, up: ignore, lost: {}, ask:", "HOW",
		"come: {u: 3}\n    faults: {crash: {u: 1}, restart: {u: 1}}").Replace(racy)
	kinds := map[world.MoveKind]bool{}
	for _, text := range []string{linked, datagrams, crossed, hostile, coming} {
		p := written(t, text).player(t, 0)
		compared := 0
		for seed := range uint64(200) {
			p.rand.seed(seed, "all")
			c, _ := p.start()
			for range 60 {
				p.draw(100)
				for f := range Faults {
					p.swarm.faults[f] = 8
				}
				for i := range p.swarm.commands {
					for k := range p.swarm.commands[i] {
						p.swarm.commands[i][k] = 8
					}
				}
				drawn := map[string]bool{}
				for _, x := range slices.Clone(p.classes(c, false)) {
					for _, mv := range p.members(c, x) {
						drawn[mv.String()] = true
					}
				}
				for mv := range p.world.Moves(c) {
					kinds[mv.Kind] = true
					if mv.Torn = 0; !drawn[mv.String()] {
						t.Fatalf("%v is possible, and cannot be drawn, in %+v", mv, *c)
					}
					compared++
				}
				next, _, ok := p.step(c, false)
				if !ok || next == nil {
					break
				}
				c = next
			}
		}
		if compared < 1000 {
			t.Errorf("%d moves compared", compared)
		}
	}
	for kind := world.MoveStart; kind <= world.MoveMalformed; kind++ {
		if !kinds[kind] && kind != world.MoveCommand && kind != world.MoveOffer {
			t.Errorf("there was no %v", kind)
		}
	}
}

// TestSwallowed: a message that only a partition can have taken is told as that, and taken again.
func TestSwallowed(t *testing.T) {
	c := written(t, `protocol: parted
messages: {A: , B: }
roles:
  peer: {commands: {go: }, initial: a, states: {a: {go: {do: [{send: A}, {send: B}], goto: b}}, b: {}}}
  other: {initial: a, states: {a: {A: {goto: b}, B: ignore}, b: {B: {goto: c}}, c: {}}}
checks:
  pair:
    instances: {x: peer, y: other}
    faults: {partition: 1, lose: 1}
    claims: {both: {always: "!(x.b && y.a && empty())"}}
    quiet: "true"
`)
	told := 0
	for seed := range uint64(300) {
		p := c.player(t, 0)
		found := p.Play(seed, 60)
		for _, v := range found {
			r, err := p.Tell(p.run, v)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.Text(), "is lost: the partition takes it") {
				continue
			}
			told++
			if again, err := c.Repeat(r, nil); err != nil || len(again) != 1 {
				t.Fatalf("%v, %d findings:\n%s", err, len(again), r.Text())
			}
		}
	}
	if told == 0 {
		t.Error("no partition took a message")
	}
}

// TestRepeat: the run that a campaign tells can be repeated from its JSON, in each step and fault.
func TestRepeat(t *testing.T) {
	repeated := 0
	for _, file := range []string{"startup/documented.yaml", "snapshot/documented.yaml",
		"lobby/documented.yaml", "clock/documented.yaml", "registration/documented.yaml",
		"library/gne/naive.yaml"} {
		before := repeated
		c := load(t, "../../specs/"+file, compile.Options{})
		r, err := c.Run(t.Context(), Options{Seed: 1, Runs: 200 * uint64(len(c.Checks))})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Checks {
			for _, f := range x.Found {
				again, err := c.Repeat(f.Run, nil)
				if err != nil || !slices.ContainsFunc(again,
					func(g Finding) bool { return g.Claim == f.Claim && g.Run.Text() == f.Run.Text() }) {
					t.Errorf("%s, check %s, %s: %v, %d findings\n%s", file, x.Name, f.Claim, err, len(again),
						f.Run.Text())
				}
				repeated++
			}
		}
		if repeated == before && strings.HasPrefix(file, "library") {
			t.Errorf("%s: nothing is found", file)
		}
	}
	if repeated < 8 {
		t.Errorf("%d runs repeated", repeated)
	}
	c := written(t, strings.Replace(racy, "HOW", "doc: none", 1))
	r, err := c.Run(t.Context(), Options{Seed: 1, Runs: 200})
	if err != nil {
		t.Fatal(err)
	}
	run := *r.Checks[0].Found[0].Run
	run.Steps = slices.Delete(slices.Clone(run.Steps), 0, 1)
	if _, err := c.Repeat(&run, nil); err == nil || !strings.Contains(err.Error(),
		"step 1 of the run, ASK, is not possible: ASK") {
		t.Error(err)
	}
	run.Check = "other"
	if _, err := c.Repeat(&run, nil); err == nil || !strings.Contains(err.Error(), `the check "other"`) {
		t.Error(err)
	}
}

// checked gives the protocol of a file as a check has narrowed it.
func checked(file string) scenario.Load {
	return func(check string) (*model.Protocol, error) {
		p, list := compile.Load(file, compile.Options{Check: check})
		if p == nil {
			return nil, list
		}
		return p, nil
	}
}

// TestWithoutFrame: a message that has no frame is found as such, and the run is a scenario.
func TestWithoutFrame(t *testing.T) {
	c := written(t, `protocol: framed
types: {Kind: {enum: [one, two]}}
wire: {header: [type: u8], max: 64}
messages:
  TAG: {id: 0, fields: {kind: Kind, a: "0..1?"}, wire: [kind: u8, case kind: [one: [a: u8], two: []]]}
roles:
  asker:
    commands: {ask: {fields: {kind: Kind}}}
    initial: idle
    states:
      idle: {ask: {send: "TAG{kind, a: 1}", goto: done}}
      done: {final: true}
  hearer: {initial: idle, states: {idle: {final: true, ignore: TAG}}}
checks:
  pair: {instances: {a: asker, b: hearer}, quiet: "true", claims: {done: {sometimes: a.done}}}
`)
	p := c.player(t, 0)
	for seed := range uint64(50) {
		if found := p.Play(seed, DefaultSteps); len(found) > 0 {
			if v := found[0]; v.Claim != model.Unencodable || !strings.Contains(v.Why, "field a is set") {
				t.Errorf("seed %d: %+v", seed, v)
			}
			return
		}
	}
	t.Error("never found")
}

// TestExternalUses: the lines of a role that somebody else's program has, what it ignores too, are not told
// as never taken.
func TestExternalUses(t *testing.T) {
	c := written(t, `protocol: lists
messages: {HELLO: {}, COUNT: {}, DRAIN: {}}
roles:
  server:
    commands: {count: }
    initial: on
    states:
      on: {count: {send: COUNT}, DRAIN: {goto: over}, HELLO: {goto: over}}
      over: {final: true, ignore: [DRAIN]}
  master:
    external: true
    commands: {drain: }
    initial: on
    states: {on: {COUNT: {}, drain: {send: DRAIN}}}
checks: {pair: {instances: {s: server, m: master}, quiet: true}}
`)
	r, err := c.Run(t.Context(), Options{Seed: 1, Runs: 20, Steps: 20, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text("", func(string, uint64) string { return "" }, false, false)
	if strings.Contains(text, "never: master") || !strings.Contains(text, "never: server: on HELLO") {
		t.Error(text)
	}
}
