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
