package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/check"
)

const door = `protocol: door
types: {Code: 0..20000, Day: 0..6}
messages: {OPEN: {fields: {code: Code}}, OPENED: {}}
channel: {capacity: 4}
roles:
  door:
    params: {key: Code, shift: 0..9}
    vars: {left: {type: Code, init: 7200}, table: {type: {array: Day, of: Code}, init: "[100 * d + 3 for d in Day]"}}
    initial: shut
    states:
      shut:
        OPEN: [{when: GUARD, send: OPENED, goto: open}, {}]
      open: {OPEN: ignore}
  guest:
    commands: {push: {fields: {code: Code}}}
    initial: out
    states: {out: {push: {send: "OPEN{code}"}, OPENED: ignore}}
checks:
  thief:
    instances: {d: "door(key: 8123, shift: 3)", g: guest}
    hostile: g
    claims: {safe: {always: "!d.open"}}
`

// TestGuessed: a hostile instance sends the numbers on which the guards of honest machines turn, however
// they stand there; of a number that is known only later the report says that it was not tried.
func TestGuessed(t *testing.T) {
	for guard, opens := range map[string]bool{
		"code == 8123":                             true,
		"code == 4000 * 2 + 123":                   true,
		"code - 123 == 8000":                       true,
		"code / 3 == 2707 && code % 3 == 1":        true,
		"code * 2 == 5000":                         true,
		"code == key":                              true,
		"code == key * 2 + shift":                  true,
		"code == left":                             true,
		"code == table[5]":                         true,
		"code > 15000":                             true,
		"code + left == 9000":                      true,
		"code < left && left < code + 3":           true,
		"code > 30 && code < 20":                   false,
		"code * code == 7 * left + 12345 && false": false,
	} {
		file := filepath.Join(t.TempDir(), "door.yaml")
		text := strings.ReplaceAll(door, "GUARD", `"`+guard+`"`)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, list, err := check.Suite(t.Context(), file, check.Config{})
		if r == nil || err != nil {
			t.Fatal(guard, list, err)
		}
		c := r.Checks[0]
		for _, x := range c.Claims {
			if x.Name == "safe" && (x.Result == check.Violated) != opens {
				t.Errorf("%s: %s", guard, x.Result)
			}
		}
		if !c.Sampled || !strings.Contains(c.Text(false), "g is hostile with some values") {
			t.Errorf("%s: the report does not say that values were left out", guard)
		}
	}
}

// TestHostileReaches: a hostile instance that reaches nobody is an error, since nothing follows from it.
func TestHostileReaches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "door.yaml")
	text := strings.ReplaceAll(strings.ReplaceAll(door, "GUARD", "code == 1"), "g: guest}", "i: mute}")
	text = strings.Replace(text, "hostile: g", "hostile: i", 1)
	text = strings.Replace(text, "  guest:\n", "  mute: {initial: out, states: {out: {}}}\n  guest:\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, list, err := check.Suite(t.Context(), file, check.Config{}); err == nil ||
		!strings.Contains(err.Error(), "i is hostile and reaches nobody") {
		t.Error(err, list)
	}
}

const asked = `protocol: asked
messages: {ASK: , NO: }
roles:
  server:
    vars: {n: {type: 0..3, kept: true}, left: {type: 0..2, init: 2}}
    initial: idle
    states:
      idle: {up: {set: {left: 2}, goto: open}}
      open:
        ASK: [{when: left > 0 && n < 3, set: {left: left - 1, n: n + 1}, send: NO}, {close: , goto: shut}]
        lost: {goto: idle}
      shut: {ASK: ignore, lost: ignore}
  client: {commands: {ask: }, initial: a, states: {a: {ask: {send: ASK}, NO: ignore, up: ignore, lost: ignore}}}
checks:
  stranger:
    instances: {s: server, c: client}
    hostile: c
    quiet: "true"
    faults: {FAULTS}
    claims: {limit: {always: s.n <= 2, why: two questions at most}}
`

// TestHostileComesBack: where links may come back, that of a hostile instance does, too, though nothing else
// breaks one.
func TestHostileComesBack(t *testing.T) {
	for faults, want := range map[string]string{"lose: 0": check.Holds, "return: 1": check.Violated} {
		file := filepath.Join(t.TempDir(), "asked.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(asked, "FAULTS", faults, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		r, list, err := check.Suite(t.Context(), file, check.Config{})
		if r == nil || err != nil {
			t.Fatal(list, err)
		}
		c := r.Checks[0]
		for _, x := range c.Claims {
			if x.Name == "limit" && x.Result != want {
				t.Errorf("%s: %s", faults, x.Result)
			}
		}
		told := strings.Contains(c.Text(false), "at most one of the lost links comes back")
		if told != (faults == "return: 1") {
			t.Errorf("%s: %s", faults, c.Text(false))
		}
	}
}
