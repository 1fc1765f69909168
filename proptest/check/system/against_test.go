package system

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/proptest/race"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// The explorer has queues, faults of channels, time and rules of the environment in a form of its
// own, in which steps are looked up. Here its successors of a configuration are compared with the
// moves of the world from the same configuration.

type configuration = world.Configuration[interp.Value, string]

// comparison is a check as a system and as a world.
type comparison struct {
	*Machines
	w    *world.World[interp.Value, string]
	used [][]int64 // by instance: what rules count, in the configuration at hand
	// counts are the places in used where rules count, the rest is in the ends or of a claim.
	counts [][]int
	bytes  []byte
}

// keeping is a machine whose values last, and which takes commands by their place in a list.
type keeping struct{ stepper }

func (k keeping) Step(v interp.Value, ev world.Event[string]) world.Outcome[interp.Value, string] {
	if ev.Kind == world.Command {
		c, args := k.command(ev.Message)
		k.last.ev = interp.Event{Event: c.Event, Args: args}
	}
	out := k.stepper.Step(v, ev)
	out.Value = slices.Clone(out.Value)
	if ev.Kind == world.Command && out.Code != fsm.Took {
		out.Code = fsm.Refused // the check gives no command that is ignored
	}
	return out
}

func (k keeping) Commands(interp.Value) (names []string) {
	for i, c := range k.stepper.Process.Commands {
		for j := range c.Args {
			names = append(names, fmt.Sprint(i, " ", j))
		}
	}
	return names
}

// Forged implements [world.Forger], without what the process found for itself.
func (k keeping) Forged(to int) (list []string) {
	all, _, err := k.sys.hostile.Forgeries(k.Inst, k.sys.Procs[to].Inst)
	if err != nil {
		panic(err)
	}
	for _, f := range all {
		list = append(list, string(codec.PackMessage(f.Message, f.Slots)))
	}
	return list
}

func (k keeping) command(name string) (c *command, args []int64) {
	var i, j int
	fmt.Sscan(name, &i, &j)
	c = &k.stepper.Process.Commands[i]
	return c, c.Args[j]
}

// compared makes a comparison of a check; plant changes the system that the explorer gets.
func compared(p *model.Protocol, c *model.Check, plant func(*Machines)) (*comparison, error) {
	s, err := New(p, c)
	if err != nil {
		return nil, err
	}
	s.System.Claims, s.System.Watches, s.Checks = nil, nil, explore.CheckDeadlock
	s.System.Settle = nil // what monitors of several hear belongs to the watches
	x := &comparison{Machines: s, w: &world.World[interp.Value, string]{Rules: &s.Rules}}
	for _, q := range s.Procs {
		x.w.Machines = append(x.w.Machines, keeping{stepper{q}})
		x.counts = append(x.counts, q.Counts())
	}
	x.w.Allowed = x.allowed
	if plant != nil {
		plant(s)
	}
	return x, nil
}

// allowed evaluates the environment's rule for a command or a timer.
func (x *comparison) allowed(c *configuration, i int, ev world.Event[string]) bool {
	p := x.Procs[i]
	v := c.Values[i]
	var r *cond.Rule
	var args []int64
	count := -1
	if ev.Kind == world.Command {
		cmd, a := keeping{stepper{p}}.command(ev.Message)
		r, args, count = cmd.Rule, a, cmd.Count
	} else {
		t := &p.Timers[ev.Timer]
		r, args, count = t.Rule, t.args, t.Count
		v = v[t.base : t.base+t.size]
	}
	if r == nil {
		return true
	}
	if count >= 0 && x.used[i][count] >= int64(r.Env.Times) {
		return false
	}
	if r.Env.When == nil {
		return true
	}
	size := max(r.Env.Locals, interp.FieldSlots(r.Env.Command.Fields))
	locals, from := make([]int64, size), 0
	for _, l := range r.Env.Params {
		from += copy(locals[l.Offset:l.Offset+l.Type.Slots()], args[from:])
	}
	eval := interp.Eval{Strings: x.Texts, ChanLen: func(l *model.ChanLen) (n int64) {
		for k, q := range c.Queues {
			for _, item := range q {
				if x.Parts.LooksAt(p.Inst, l, k) && item.News == world.NoNews &&
					codec.Counts(x.Protocol, l.Message, false, []byte(item.Message)) {
					n++
				}
			}
		}
		return n
	}}
	ok, err := eval.Bool(core.Of(r.Env.When), v, locals)
	return ok && err == nil
}

// configuration is one of the explorer as one of the world.
func (x *comparison) configuration(c explore.Configuration) *configuration {
	n := len(x.Procs)
	u := c.Used
	out := &configuration{Splits: make([][]uint64, n), Spent: world.Spent{
		Lose: u.Loss, Duplicate: u.Dup, Overtake: u.Swap,
		Crash: u.Crash, Break: u.Break, Return: u.Return, Partition: u.Partition,
	}}
	x.used = nil
	for i, p := range x.Procs {
		l := p.Unpack(c.Locals[i])
		out.Ends = append(out.Ends, p.end(l))
		out.Values = append(out.Values, slices.Clone(l.Value))
		x.used = append(x.used, slices.Clone(l.Used))
	}
	for _, word := range c.Channels[:x.Own] {
		var q []world.Item[string]
		for _, msg := range word {
			q = append(q, codec.UnpackItem(x.Protocol, msg))
		}
		out.Queues = append(out.Queues, q)
	}
	for at, p := range x.System.Procs {
		switch b := p.(type) {
		case *parter:
			side := make([]int64, 1)
			codec.ReadSlots(c.Locals[at], side)
			out.Split = uint64(side[0])
			for i := range x.Procs {
				for _, msg := range c.Channels[b.first+i] {
					away := uint64(codec.Number(msg)) // whom it keeps away
					out.Splits[i] = append(out.Splits[i], x.Rules.Side(away))
				}
			}
		case *clock:
			for i := range x.Procs {
				if len(c.Channels[x.clockAt+i]) > 0 {
					out.Beats |= 1 << i
				}
			}
		}
	}
	return out
}

// key tells configurations apart, with what rules have counted.
func (x *comparison) key(c *configuration) string {
	b := x.bytes[:0]
	put := func(list ...uint64) {
		for _, v := range list {
			b = binary.AppendUvarint(b, v)
		}
	}
	for i, p := range x.Procs {
		e := c.Ends[i]
		if p.noStart && !e.Down {
			e.Started = true // a start that does nothing is no step
		}
		if x.Rules.Faults.CrashAll > 0 {
			e.Crashes = 0 // they are counted together
		}
		flags := byte(0)
		if e.Started {
			flags = 1
		}
		if e.Down {
			flags |= 2
		}
		if e.Absent {
			flags |= 4
		}
		b = codec.AppendSlots(append(b, flags), c.Values[i])
		for _, at := range x.counts[i] {
			put(uint64(x.used[i][at]))
		}
		put(e.Waiting, e.Up, e.Asked, e.Broken, e.Cutoff, e.Told, e.Heard)
		put(uint64(e.Crashes), uint64(e.Restarts), uint64(e.Comes), e.Returns, uint64(len(e.Held)))
		for _, h := range e.Held {
			put(uint64(h.From), uint64(len(h.Message)))
			b = append(b, h.Message...)
		}
		for _, left := range e.Left {
			put(uint64(left.Least+1), uint64(left.Most+1))
		}
	}
	for k, q := range c.Queues {
		items := q
		if x.System.Channels[k].Order == explore.Bag { // between two pieces of news the order means nothing
			items = slices.Clone(q)
			from := 0
			for at := range len(items) + 1 {
				if at == len(items) || items[at].News != world.NoNews {
					slices.SortFunc(items[from:at], func(a, b world.Item[string]) int {
						return cmp.Or(strings.Compare(a.Message, b.Message), cmp.Compare(a.Age, b.Age))
					})
					from = at + 1
				}
			}
		}
		put(uint64(len(items)))
		for _, item := range items {
			put(uint64(item.News), uint64(item.Number), uint64(item.Heard), uint64(item.Age), uint64(len(item.Message)))
			b = append(b, item.Message...)
		}
	}
	put(c.Split)
	for _, list := range c.Splits {
		put(uint64(len(list)))
		put(list...)
	}
	s := c.Spent
	put(c.Beats, uint64(s.Lose), uint64(s.Duplicate), uint64(s.Overtake))
	put(uint64(s.Crash), uint64(s.Break), uint64(s.Return), uint64(s.Partition))
	x.bytes = b
	return string(b)
}

// moves are the keys of all that the world makes of the configuration at hand, and its faults.
func (x *comparison) moves(c *configuration) (next map[string]world.Move[string], faults map[string]bool) {
	next, faults = map[string]world.Move[string]{}, map[string]bool{}
	for mv, t := range x.w.Moves(c) {
		if mv.Kind == world.MoveStart && x.Procs[mv.Who].noStart {
			continue
		}
		if t.What == world.Stepped && t.Code == fsm.Took && x.Procs[t.Who].last.lost != "" {
			faults[explore.OtherFault.String()] = true
			continue
		}
		switch t.Fault {
		case world.NoFault:
			used := slices.Clone(x.used)
			x.count(mv)
			next[x.key(t.Next)] = mv
			x.used = used
		case world.Refusal:
			if x.Procs[t.Who].last.fault.Kind == interp.Failed {
				faults[explore.OtherFault.String()] = true
			} else {
				faults[explore.UnspecifiedReception.String()] = true
			}
		case world.Overflow:
			faults[explore.ChannelOverflow.String()] = true
		case world.DeferredOverflow:
			faults[explore.DeferredOverflow.String()] = true
		}
	}
	return next, faults
}

// count counts what a rule counts of a move.
func (x *comparison) count(mv world.Move[string]) {
	at := -1
	x.used[mv.Who] = slices.Clone(x.used[mv.Who])
	switch mv.Kind {
	case world.MoveCommand:
		c, _ := keeping{stepper{x.Procs[mv.Who]}}.command(mv.Message)
		at = c.Count
	case world.MoveExpire:
		at = x.Procs[mv.Who].Timers[mv.Timer].Count
	case world.MoveCome, world.MoveGo: // another program
		for _, at := range x.counts[mv.Who] {
			x.used[mv.Who][at] = 0
		}
	}
	if at >= 0 {
		x.used[mv.Who][at]++
	}
}

// compare searches so many configurations and compares the successors of each. It returns how many
// it compared.
func (x *comparison) compare(t *testing.T, most uint64) (n int, err error) {
	options := explore.Options{KeepGoing: true, MaxConfigurations: most, Checks: x.Checks}
	res, err := explore.Run(t.Context(), x.System, options)
	if err != nil {
		return 0, err
	}
	type configurations = []explore.Configuration
	res.Space.ForEachExpansion(func(from explore.Configuration, list configurations, kinds []explore.Kind) bool {
		n++
		got, found := map[string]*configuration{}, map[string]bool{}
		for _, c := range list {
			next := x.configuration(c)
			got[x.key(next)] = next
		}
		for _, k := range kinds {
			found[k.String()] = true
		}
		c := x.configuration(from)
		self := x.key(c)
		want, faults := x.moves(c)
		delete(got, self) // whether a step that changes nothing is a step matters to nobody
		delete(want, self)
		for k, mv := range want {
			if got[k] == nil {
				err = fmt.Errorf("the explorer does not have %s, from\n%+v", mv, *c)
				return false
			}
		}
		for k, next := range got {
			if _, ok := want[k]; !ok {
				err = fmt.Errorf("the world does not have the step that leads to\n%+v\nfrom\n%+v", *next, *c)
				return false
			}
		}
		if !maps.Equal(found, faults) {
			err = fmt.Errorf("errors %v, in the world %v, of steps from\n%+v",
				slices.Collect(maps.Keys(found)), slices.Collect(maps.Keys(faults)), *c)
			return false
		}
		return true
	})
	return n, err
}

// linked and plain are two small specifications that use all that the world has: one with links,
// one with channels that lose, copy and reorder.
const linked = `protocol: w
tick: 1s
messages: {A: , B: , X: }
channel: {capacity: 2}
roles:
  talker:
    vars: {n: 0..2}
    timers: {t: {ticks: 7}}
    commands: {go: , say: , off: }
    initial: s
    states:
      s: {go: {when: n < 2, set: {n: n + 1}, send: A, start: t}, say: {when: n < 2, set: {n: n + 1}, send: B}, off: {close: , goto: shut}, t: {send: A}, X: ignore, up: {}, lost: {goto: alone}}
      shut: {t: ignore, X: {goto: s}, lost: {goto: s}}
      alone: {t: {goto: shut}, X: {goto: s}, up: {goto: s}}
  hearer:
    deferred: 2
    commands: {wake: }
    timers: {u: {ticks: 12}}
    initial: s
    states:
      s: {defer: [A], B: {goto: awake}, wake: {start: u, goto: awake}, lost: {goto: s}, u: ignore}
      awake: {A: {send: X, goto: s}, B: ignore, u: {send: X}, lost: {goto: s}}
checks:
  c:
    instances: {a: talker, b: hearer}
    quiet: "true"
    HOW
`

const plain = `protocol: w
tick: 1s
messages: {A: {fields: {n: 0..1}}, X: }
channel: {capacity: 2}
roles:
  talker:
    vars: {n: 0..2}
    timers: {t: {ticks: 7}}
    commands: {go: {fields: {v: 0..1}}, again: }
    initial: s
    states:
      s: {go: {when: n < 2, do: [{set: {n: n + 1}}, {send: "A{n: v}"}, {start: t}]}, t: {send: "A{n: 0}"}, X: {goto: s}, again: {when: n > 0, do: [{set: {n: n - 1}}, {send: "A{n: 1}"}, {send: "A{n: 0}"}]}}
  hearer:
    deferred: 1
    timers: {u: {ticks: 12}}
    initial: s
    states:
      s: {A: [{when: n == 0, goto: awake, start: u}, {send: X}], u: {goto: s}}
      awake: {A: defer, u: {send: X, goto: s}}
checks:
  c:
    instances: {a: talker, b: hearer}
    quiet: "true"
    HOW
`

// patient refuses nothing, so that its link ends only where somebody ends it.
const patient = `protocol: w
messages: {A: {fields: {n: 0..2}}, X: }
channel: {capacity: 2}
roles:
  hearer:
    vars: {last: 0..2, b: 0..4}
    commands: {go: , shut: }
    initial: s
    states:
      s:
        A: {set: {last: n}}
        X: {send: "A{n: last}", to: sender}
        go: {when: b < 4, set: {b: b + 1}, send: X, to: all}
        shut: {close: , to: 0}
        up: ignore
        lost: {set: {b: sender}, goto: t}
      t: {A: {when: n > last, send: X, to: 1}, X: ignore, go: {goto: s}, up: {goto: s}}
checks:
  c:
    instances: {a: hearer, b: hearer, c: hearer}
    quiet: "true"
    HOW
`

// inline are the checks of these three.
var inline = func() (texts []string) {
	for _, how := range []string{
		"doc: no faults", "faults: {break: 1}", "faults: {break: 2, return: 2}",
		"faults: {crash: {b: 1}, restart: {b: 1}, break: 1, return: 1}", "faults: {partition: 1}",
		"faults: {crash: {a: 1}, atomic: true}", "faults: {crash: {a: 1, b: 1}, restart: {a: 1}}",
		"faults: {crash: {b: 1}, restart: {b: 1}, break: 1}",
		"faults: {crash: 2, restart: 1}", "time: {beat: 5}", "time: {beat: 5, delay: 3}",
		"time: {beat: 5, drift: 20%}", "time: {beat: 6, delay: 2, drift: {b: 150000 ppm}}",
		"time: {beat: 5, delay: 2}\n    faults: {crash: {b: 1}, restart: {b: 1}, break: 1}",
		"time: {beat: 5, delay: 3}\n    faults: {crash: {a: 1}, atomic: true}",
		"time: {beat: 9, delay: 2}\n    faults: {partition: 1}",
		"channel: {capacity: 2, full: wait}", "channel: {capacity: 1, full: lose}",
		"channel: {capacity: 1, full: lose}\n    faults: {crash: {a: 1, b: 1}, restart: {a: 1}}",
		"environment: {go: {when: len(out) < 1, times: 2}, say: {when: len(out) == 0}, " +
			"wake: {when: \"len(in, A) < 2\", times: 1}, t: {when: len(in) == 0, times: 1}}",
		"channel: {capacity: 2, lossy: true}\n    faults: {break: 1, return: 1}",
		"faults: {lose: 1, duplicate: 1, overtake: 1, break: 1}",
		"channel: {capacity: 2, order: any}\n    faults: {crash: {b: 1}, restart: {b: 1}, break: 1, return: 1}",
		"channel: {capacity: 2, duplicates: true}\n    faults: {partition: 1}",
		"hostile: a", "hostile: {a: malformed}", "hostile: {b: malformed}",
		"hostile: a\n    faults: {break: 1, return: 1}",
		"hostile: {a: malformed}\n    faults: {crash: {b: 1}, restart: {b: 1}}",
		"hostile: b\n    faults: {crash: 1, restart: 1, break: 1, return: 2}",
		"hostile: b\n    time: {beat: 5}", "hostile: a\n    faults: {partition: 1}",
	} {
		texts = append(texts, strings.Replace(linked, "HOW", how, 1))
	}
	for _, how := range []string{
		"channel: {capacity: 2, lossy: true}", "channel: {capacity: 2, duplicates: true, order: any}",
		"channel: {capacity: 3, order: any, lossy: true, full: lose}",
		"faults: {lose: 1, duplicate: 1, overtake: 2}",
		"faults: {partition: 1}", "faults: {partition: 1, duplicate: 1}",
		"channel: {capacity: 2, order: any, lossy: true}\n    faults: {partition: 1, lose: 1}",
		"faults: {overtake: 1, crash: {b: 1}, restart: {b: 1}}", "time: {beat: 5, delay: 2}",
		"time: {beat: 5, delay: 2}\n    " +
			"channel: {capacity: 2, order: any, lossy: true, duplicates: true, full: lose}",
		"time: {beat: 5, delay: 3, drift: 1%}\n    " +
			"faults: {lose: 1, duplicate: 1, overtake: 2, crash: {b: 1}}",
		"environment: {go: {when: \"v == 1 || len(out, A) == 0\", times: 2}, again: {when: len(in) > 0}, " +
			"u: {when: len(out) < 1, times: 2}}",
		"hostile: a", "hostile: {b: malformed}", "hostile: a\n    channel: {capacity: 2, lossy: true}",
		"hostile: a\n    time: {beat: 5, delay: 2}",
	} {
		texts = append(texts, strings.Replace(plain, "HOW", how, 1))
	}
	for _, how := range []string{
		"hostile: a", "hostile: {a: malformed}", "hostile: {a: malformed}\n    channel: {capacity: 1, lossy: true}",
		"faults: {partition: 2, return: 1, bridge: b}",
		"channel: {capacity: 2, order: any}\n    faults: {partition: 2, bridge: a}",
		"channel: {capacity: 2, lossy: true}\n    faults: {partition: 1, bridge: [c]}",
		"hostile: [a, c]", "hostile: a\n    faults: {crash: {b: 1}, restart: {b: 1}, break: 1, return: 1}",
	} {
		texts = append(texts, strings.Replace(patient, "HOW", how, 1))
	}
	for _, how := range []string{
		"come: {a: 2}", "come: {a: 2, b: 1}", "come: {b: 1}\n    faults: {crash: {b: 1}, restart: {b: 1}}",
		"come: {a: 2}\n    faults: {crash: {a: 1}, restart: {a: 1}, break: 1, return: 1}",
		"come: {a: 2, b: 1}\n    faults: {crash: {b: 1}, restart: {b: 1}, atomic: true}",
		"come: {a: 2}\n    faults: {partition: 1}", "come: {a: 2}\n    time: {beat: 5, delay: 2}",
		"come: {a: 3}\n    channel: {capacity: 2, lossy: true}\n    faults: {break: 1, return: 1}",
		"come: {a: 2}\n    environment: {off: {times: 1}, go: {times: 1}, t: {times: 1}}",
		"come: {a: 2}\n    hostile: {b: malformed}", "come: {a: 2}\n    channel: {capacity: 2, full: wait}",
	} {
		ends := strings.Replace(linked, "shut: {", "shut: {final: true, ", 1)
		texts = append(texts, strings.Replace(ends, "HOW", how, 1))
		if !strings.Contains(how, "off:") && !strings.Contains(how, "break") {
			ends = strings.NewReplacer("      awake: {A: defer", "      awake: {final: true, A: defer",
				"s: {go: {when", "s: {final: true, go: {when").Replace(plain)
			texts = append(texts, strings.Replace(ends, "HOW", how, 1))
		}
	}
	for _, beside := range []string{
		"{capacity: 2, order: any, lossy: true}", "{capacity: 1, full: lose, lossy: true, duplicates: true}",
		"{capacity: 1, full: wait}", "{capacity: 2, order: any, full: lose}",
	} {
		for _, how := range []string{
			"doc: no faults", "faults: {crash: {b: 1}}", "faults: {crash: {a: 1}, break: 1}",
			"faults: {crash: {b: 1}, restart: {b: 1}, break: 1, return: 1}", "faults: {partition: 1}",
			"time: {beat: 5, delay: 2}\n    faults: {crash: {a: 1}, atomic: true}",
			"time: {beat: 9}\n    faults: {partition: 1}", "hostile: {a: malformed}",
			"faults: {lose: 1, break: 1}",
		} {
			sure := !strings.Contains(beside, "any") && !strings.Contains(beside, "lossy")
			if sure && (strings.Contains(how, "restart") || strings.Contains(how, "partition")) ||
				!strings.Contains(beside, "lossy") && strings.Contains(how, "lose") {
				continue // refused
			}
			for _, text := range []string{linked, plain, patient, strings.Replace(linked, "up: {}, ", "", 1)} {
				text = strings.Replace(text, "messages: {A: ", "messages: {A: {channel: beside}, A2: ", 1)
				if text = strings.Replace(text, "A2: , ", "", 1); strings.Contains(text, "A2: {fields") {
					text = strings.Replace(text, "{channel: beside}, A2: {", "{channel: beside, ", 1)
				}
				if strings.Contains(how, "break") && !strings.Contains(text, "lost") {
					continue // there are no links
				}
				text = strings.Replace(text, "channel: {capacity: 2}",
					"channels: {first: {capacity: 2}, beside: "+beside+"}", 1)
				texts = append(texts, strings.Replace(text, "HOW", how, 1))
			}
		}
	}
	return texts
}()

func compileInline(t *testing.T, text string) *model.Protocol {
	t.Helper()
	p, list := compile.Load("s.yaml", compile.Options{FS: fstest.MapFS{"s.yaml": {Data: []byte(text)}}, Check: "c"})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// TestAgainstWorld compares two small specifications under all that a check can say.
func TestAgainstWorld(t *testing.T) {
	for _, text := range inline {
		p := compileInline(t, text)
		x, err := compared(p, p.Checks[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := x.compare(t, bound(120, 1<<20))
		least := 50
		if p.Checks[0].HasHostile() {
			least = 5 // what it sends is never under way
		} else if p.Several() || strings.Contains(text, "bridge") {
			least = 20 // a full channel may leave little to do, three instances much in one step
		}
		if err != nil || n < least {
			t.Errorf("%d configurations: %v\n%s", n, err, text[strings.Index(text, "checks:"):])
		}
	}
}

// TestPlantsAgainstWorld breaks the explorer's form of one rule at a time.
func TestPlantsAgainstWorld(t *testing.T) {
	everywhere := func(change func(c *explore.Channel)) func(*Machines) {
		return func(s *Machines) {
			for k := range s.System.Channels {
				change(&s.System.Channels[k])
			}
		}
	}
	// where says what stands in the specifications that can tell, for those found late.
	where := map[string]string{"messages get as old as they like": "delay",
		"a copy of what a partition takes is taken again": "partition",
		"a partition takes nothing under way":             "partition",
		"nobody hears that somebody goes":                 "come"}
	for name, plant := range map[string]func(*Machines){
		"news takes room":                         everywhere(func(c *explore.Channel) { c.Free = nil }),
		"room for one more":                       everywhere(func(c *explore.Channel) { c.Cap++ }),
		"a step waits for room":                   everywhere(func(c *explore.Channel) { c.Block = true }),
		"a lossy channel copies":                  everywhere(func(c *explore.Channel) { c.Dup = c.Dup || c.Lossy }),
		"no message overtakes another":            everywhere(func(c *explore.Channel) { c.Swap = false }),
		"no rule looks at channels":               steps(func(s *explore.Step) { s.Lens = nil }),
		"a hostile instance leaves out a message": attacks(func(a *Attack) { a.Messages = a.Messages[1:] }),
		"a hostile instance sends one value of each": attacks(func(a *Attack) {
			a.Messages = slices.DeleteFunc(a.Messages, func(m []byte) bool { return len(m) > 1 && m[len(m)-1] != 0 })
		}),
		"a hostile instance never closes": attacks(func(a *Attack) { a.link = false }),
		"messages do not get older":       steps(func(s *explore.Step) { s.Ages = nil }),
		"messages get as old as they like": everywhere(func(c *explore.Channel) {
			if older := c.Older; older != nil {
				c.Older = func(msg []byte) ([]byte, bool) { b, _ := older(msg); return b, true }
			}
		}),
		"all messages go over the first channel": func(s *Machines) {
			steps(func(st *explore.Step) {
				for i := range st.Sends {
					if x := &st.Sends[i]; x.Channel < s.Own {
						x.Channel -= x.Channel % (1 + len(s.Check.Beside))
					}
				}
			})(s)
		},
		"the second channel is like the first": func(s *Machines) {
			for k := 1; k < s.Own && s.Check.Several(); k += 2 {
				a, b := &s.System.Channels[k-1], &s.System.Channels[k]
				b.Order, b.Lossy, b.Dup = a.Order, a.Lossy, a.Dup
			}
		},
		"a copy of what a partition takes is taken again": steps(func(s *explore.Step) { s.Once = false }),
		"a partition takes nothing under way": steps(func(s *explore.Step) {
			if kind, ok := codec.SpecialNote(s.Note); ok && kind == codec.NoteSwallow {
				s.Fault = &explore.Fault{Kind: explore.OtherFault}
			}
		}),
		"nobody hears that somebody comes": steps(func(s *explore.Step) {
			if kind, ok := codec.SpecialNote(s.Note); ok && kind == codec.NoteCome {
				s.Sends = nil
			}
		}),
		"nobody hears that somebody goes": steps(func(s *explore.Step) {
			if kind, ok := codec.SpecialNote(s.Note); ok && kind == codec.NoteGo {
				s.Sends = nil
			}
		}),
		"nobody goes": steps(func(s *explore.Step) {
			if kind, ok := codec.SpecialNote(s.Note); ok && kind == codec.NoteGo {
				s.Fault = &explore.Fault{Kind: explore.OtherFault}
			}
		}),
		"a crash leaves no news": steps(func(s *explore.Step) {
			if kind, ok := codec.SpecialNote(s.Note); ok && kind == codec.NoteCrash {
				s.Sends = nil
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, most := range []uint64{30, bound(500, 1<<20)} { // most are found nearby
				for _, text := range inline {
					if !strings.Contains(text, where[name]) {
						continue
					}
					p := compileInline(t, text)
					x, err := compared(p, p.Checks[0], plant)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := x.compare(t, most); err != nil {
						t.Logf("%.300v", err)
						return
					}
				}
			}
			t.Error("not found")
		})
	}
}

// attacks is a plant that changes what hostile instances do.
func attacks(change func(*Attack)) func(*Machines) {
	return func(s *Machines) {
		for _, p := range s.Procs {
			for k := range p.Attacks {
				change(&p.Attacks[k])
			}
		}
	}
}

// steps is a plant that changes the steps of all instances.
func steps(change func(*explore.Step)) func(*Machines) {
	return func(s *Machines) {
		for i := range s.Procs {
			s.System.Procs[i] = planted{s.System.Procs[i], change}
		}
	}
}

type planted struct {
	explore.Process
	change func(*explore.Step)
}

func (p planted) Local(v []byte, emit func(explore.Step)) {
	p.Process.Local(v, func(s explore.Step) { p.change(&s); emit(s) })
}

func (p planted) Receive(v []byte, ch int, msg []byte, emit func(explore.Step)) {
	p.Process.Receive(v, ch, msg, func(s explore.Step) { p.change(&s); emit(s) })
}

// configs is the variable that says how many configurations are compared.
const configs = "PARLEY_CONFIGS"

// bound is how many configurations a test compares of one check; PARLEY_CONFIGS says another number.
func bound(short, long uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(configs), 10, 64); err == nil {
		return n
	}
	if race.Nightly() {
		return long
	}
	return short
}

// shippedChecks are the checks of all specifications, each compiled for itself: every one if many
// configurations are compared, one in eight otherwise.
func shippedChecks(t *testing.T, visit func(name string, p *model.Protocol, c *model.Check)) {
	files, err := filepath.Glob("../../../specs/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	n := 0
	for _, file := range files {
		full, list := compile.Load(file, compile.Options{})
		if full == nil {
			t.Fatal(list)
		}
		for _, c := range full.Checks {
			if n++; !race.Some(n, 8) && os.Getenv(configs) == "" {
				continue
			}
			p, _ := compile.Load(file, compile.Options{Check: c.Name})
			i := slices.IndexFunc(p.Checks, func(x *model.Check) bool { return x.Name == c.Name })
			visit(strings.TrimPrefix(filepath.ToSlash(file), "../../../specs/")+" "+c.Name, p, p.Checks[i])
		}
	}
}

// TestShippedAgainstWorld compares the nearest configurations of each shipped check.
func TestShippedAgainstWorld(t *testing.T) {
	most := bound(15, 700)
	checks, all := 0, 0
	shippedChecks(t, func(name string, p *model.Protocol, c *model.Check) {
		x, err := compared(p, c, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		n, err := x.compare(t, most)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checks, all = checks+1, all+n
	})
	t.Logf("%d configurations of %d checks", all, checks)
}
