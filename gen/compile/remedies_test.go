package compile

import (
	"strings"
	"testing"
	"testing/fstest"
)

const remedyLot = `protocol: lot
messages: {BID: {fields: {amount: 0..3}}, WON: }
roles:
  lot:
    commands: {bid: {fields: {amount: 0..3}}}
    reports: {sold: }
    initial: idle
    states:
      idle: {bid: {report: sold, goto: over}, BID: ignore, WON: ignore}
      over: {final: true}
`

const remedyBase = `protocol: house
tick: 10ms
import: {lot: lot/spec.yaml}
messages: {BYE: , PING: , WON: {fields: {lot: Lot}}}
types:
  Lot: 0..2
  Entry: {record: {x: 0..3}}
  Other: Lot
roles:
  house:
    vars: {total: 0..3, more: {list: Entry, max: 2}}
    timers: {again: {ticks: 20}}
    parts:
      lots: {machine: lot.lot, key: {lot: Lot}}
    commands: {add: {fields: {amount: 0..3}}, go: {fields: {lot: Lot}}}
    initial: idle
    states:
      idle:
        add: {when: total == amount, set: {total: amount}, goto: over}
        again: {goto: over}
        go: {run: "lots[lot].bid{amount: 2}"}
        forward: {lots: [WON]}
        BYE: {send: PING}
        PING: ignore
        lots.sold: ignore
      over: {final: true}
checks:
  c:
    instances: {a: house, b: house}
    claims:
      x: {sometimes: a.over}
      y: {always: empty(a -> b), why: nothing}
`

// TestRemedies makes one mistake at a time: each gives one error, with the remedy beside it.
func TestRemedies(t *testing.T) {
	tests := []struct{ old, new, message, hint string }{
		{"set: {total: amount}, goto: over", "do: [{set: {total: amount}, goto: over}]",
			"a statement has no key `goto`", "`goto` stands beside `do`"},
		{"bid{amount: 2}", "bdi{amount: 2}", "there is no message or command of part `lots` named `bdi`",
			"did you mean `bid`?"},
		{"total == amount", "total == 1 and amount == 1", "and is not an operator; write &&", ""},
		{"total == amount", "(total == 1 or amount == 1)", "or is not an operator; write ||", ""},
		{"total == amount", "not total", "not is not an operator; write !", ""},
		{"total == amount", "not (total == 1)", "not is not an operator; write !", ""},
		{"total == amount", "total = amount", "= is not an operator; write ==", ""},
		{"total == amount", "total <> amount", "<> is not an operator; write !=", ""},
		{"Other: Lot", "Other: list Entry", "a list is not written like this", "{list: Entry, max: n}"},
		{"Other: Lot", "Other: set Lot", "a set is not written like this", "{set: Lot}"},
		{"Other: Lot", "Other: 0...3", "a range has two dots: 0..3", ""},
		{"key: {lot: Lot}", "key: Lot", "keys: a map is needed here", "{lot: Lot}"},
		{"send: PING", "send: [PING, BYE]", "a single value is needed here, not a list",
			"do: [{send: A}, {send: B}]"},
		{"send: PING", "close: 0", "close has no value",
			"write `close:` and, for one peer of several, `to: EXPR` beside it"},
		{"send: PING", "close: s", "close has no value", "write `close:` and"},
		{"send: PING", "close: []", "close has no value", "write `close:` and"},
		{"instances: {a: house, b: house}", "instances: {a: house, b: house}\n    faults: {crash: a}",
			"`a` says who, and here it must be said how often", "write `crash: {a: 1}`"},
		{"instances: {a: house, b: house}", "instances: {a: house, b: house}\n    faults: {crash: house}",
			"`house` says who, and here it must be said how often", "write `crash: {a: 1}`"},
		{"instances: {a: house, b: house}", "instances: {a: house, b: house}\n    faults: {lose: b}",
			"`b` says who, and here it must be said how often", "write `lose: 1`; whom it meets cannot be chosen"},
		{"instances: {a: house, b: house}", "instances: {a: house, b: house}\n    environment: {go: {times: 0}}",
			"how often is 0, not within 1..1000", "write `go: false` if the program never gives the command here"},
		{"protocol: house", "protocol: house\nparties: house", "`parties` says how many instances take part, not who",
			"write `parties: 2`"},
		{"BYE: {send: PING}", "BYE: [{send: PING}, {goto: over}]", "this branch is never reached",
			"a list holds alternatives; to do all of it write `BYE: {send: PING, goto: over}`"},
		{"BYE: {send: PING}", "BYE: [send: PING, send: PING, goto: over]", "this branch is never reached",
			"write `BYE: {do: [{send: PING}, {send: PING}], goto: over}`"},
		{"BYE: {send: PING}", "BYE: [{do: [{send: PING}]}, {goto: over}]", "this branch is never reached",
			"give the one before a `when`"},
		{"BYE: {send: PING}", "exit: {goto: over}", "what is done when a state is left: a list is needed here",
			"`exit` is a key of every state, so an event needs another name"},
		{"instances: {a: house, b: house}", "instances: {}", "check `c` has no instances",
			"add `instances"},
		{"total: 0..3, more", "lots: 0..3, total: 0..3, more",
			"`lots` is already the name of a variable", ""},
		{"when: total == amount", "when: total == cmd.amount", "there is no name `cmd`", "or `msg.NAME` if the role"},
		{"sometimes: a.over", "sometimes: over", "there is no name `over` here", "`a.over` or `b.over`"},
		{"lot/spec.yaml", "lot", "lot cannot be read: it is a folder", "lot/spec.yaml"},
		{"import: {lot: lot/spec.yaml}", "import: lot/spec.yaml", "imports: a map is needed here",
			"{name: lot/spec.yaml}"},
		{"sometimes: a.over", "sometimes: a.total == 2.5", "`2.5` is not a whole number", ""},
		{"BYE: , PING: ", "BYE: {id: 1}, PING: ", "`id` means nothing without a `wire` section at the top",
			"`wire: {header: [length: u16, type: u16], max: 1200}`"},
		{"commands: {add", "commands: {start: , add",
			"every machine has the event `start`; a command needs another name", ""},
		{"vars: {total: 0..3", "vars: {total: 0..3, n: int", "there is no type `int`", "a range such as `0..9`"},
		{"vars: {total: 0..3", "vars: {total: 0..3, n: string", "there is no type `string`", "`text 30`"},
		{"vars: {total: 0..3", "vars: {total: 0..3, n: float64", "there is no type `float64`", "`f64`"},
		{"ticks: 20", "ticks: 200ms", "a number of ticks, not for 200ms", "`tick: 10ms` at the top"},
		{"{when: total == amount, set: {total: amount}", "{if: total == amount, set: {total: amount}",
			"`if` has no `then`", "`when: EXPR`"},
		{"{when: total == amount, set: {total: amount}", "{if: total == amount, do: [{set: {total: amount}}]",
			"`if` has no `then`", "`when: EXPR`"},
	}
	load := func(text string) (found []string) {
		files := fstest.MapFS{"spec.yaml": {Data: []byte(text)},
			"lot/spec.yaml": {Data: []byte(remedyLot)}}
		_, list := Load("spec.yaml", Options{FS: files})
		for _, d := range list.Errors() {
			found = append(found, d.Message+"\n"+d.Hint)
		}
		return found
	}
	if found := load(remedyBase); len(found) > 0 {
		t.Fatalf("without a mistake: %q", found)
	}
	for _, test := range tests {
		text := strings.Replace(remedyBase, test.old, test.new, 1)
		if found := load(text); text == remedyBase || len(found) != 1 ||
			!strings.Contains(found[0], test.message) || !strings.Contains(found[0], test.hint) {
			t.Errorf("%s: %q", test.new, found)
		}
	}
}

// TestCandidatesOnce: a hint names each candidate once, also where several roles have it.
func TestCandidatesOnce(t *testing.T) {
	const spec = `protocol: pair
messages: {HELLO: }
roles:
  left: {commands: {go: }, initial: a, states: {a: {go: {send: HELLO}, HELLO: ignore}}}
  right: {commands: {go: }, initial: a, states: {a: {go: {send: HELLO}, HELLO: ignore}}}
checks:
  c: {instances: {a: left, b: right}, environment: {never: {times: 1}}, claims: {x: {always: a.a}}}
`
	_, list := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(spec)}}})
	if found := list.Errors(); len(found) != 1 || found[0].Hint != "there is `go`" {
		t.Errorf("%+v", found)
	}
}

const remedyWire = `protocol: screens
messages:
  ASK: {id: 1, fields: {color: "0..3?"}, wire: [bits: [present color: u1, pad: 7], if color: u8]}
  ANSWER: {id: 2, fields: {l: {list: 0..3, max: 2}}, wire: [count l: u8, each l: [item: u8]]}
  NEWS: {id: 1, channel: places, fields: {l: {list: 0..3, max: 2}}, wire: [each l: {to: end, row: [item: u8]}]}
channels:
  events: {order: fifo, wire: {header: [length: u8, type: u8], max: 64}}
  places: {order: any, lossy: true, wire: {header: [type: u8], max: 64}}
roles:
  peer:
    initial: idle
    states: {idle: {ASK: {}, ANSWER: {}, NEWS: {}, start: {send: "ASK{color: 1}"}}}
`

// TestWireRemedies makes one mistake at a time in the layout of messages: each gives one error.
func TestWireRemedies(t *testing.T) {
	for _, test := range []struct{ old, new, message, hint string }{
		{"if color: u8", "color: u8", "`color` is optional", "there is `present color`; write `if color: u8`"},
		{"if color: u8", "color: {as: u8}", "`color` is optional", "write `if color: u8`"},
		{"present color: u1, pad: 7], if color: u8", "pad: 8], color: u8", "`color` is optional", "none: 65535"},
		{"row: [item: u8]", "row: u8", "a list is needed here", "write `[item: u8]`"},
		{"channel: places", "channel: place", "there is no channel `place`", "`places`"},
		{"count l: u8", "count l: u9", "there is no width `u9`", ""},
		{"count l: u8", "cuont l: u8", "has no item or field `cuont l`", ""},
		{"count l: u8, ", "", "the list `l` has no count before it", "count l: u16"},
	} {
		text := strings.Replace(remedyWire, test.old, test.new, 1)
		_, list := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
		errs := list.Errors()
		if text == remedyWire || len(errs) != 1 || !strings.Contains(errs[0].Message, test.message) ||
			!strings.Contains(errs[0].Hint, test.hint) {
			t.Errorf("%s: %v", test.new, list)
		}
	}
}
