package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs the only check of a specification.
func checked(t *testing.T, text string) *Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, list, err := Suite(context.Background(), file, Config{})
	if err != nil || r == nil || len(r.Checks) != 1 {
		t.Fatal(err, list)
	}
	return r.Checks[0]
}

const joins = `protocol: party
types:
  Named: text 12
  Card: {record: {title: text 12, seed: opaque u8?}}
messages: {JOIN: {fields: {name: text 12}}, SHOW: {fields: {card: Card, to: Named}}}
roles:
  guest:
    vars: {mine: text 12, his: text 12}
    commands: {join: {fields: {name: text 12}}, show: {fields: {card: Card, to: Named}}, never: {fields: {it: text 30}}}
    initial: idle
    states:
      idle:
        join: {set: {mine: name}, send: "JOIN{name: name}"}
        show: {send: "SHOW{card: card, to: to}"}
        never: {set: {mine: mine}}
        JOIN: {set: {his: name}}
        SHOW: ignore
checks:
  pair:
    instances: {a: guest, b: guest}
    channel: {capacity: 1}
    environment: {never: false, join: {times: 1}, show: {times: 1}}
    quiet: "true"
`

// TestCarriedInPlace: what is written in place has one value, and the report says where.
func TestCarriedInPlace(t *testing.T) {
	all := strings.Join(checked(t, joins).Assumptions, "\n")
	for _, want := range []string{
		"Named is carried, not explored: it has one value\n",
		"Card.title, guest.join.name, JOIN.name (text 12) are carried, not explored: they have one value; " +
			"name the type to give it a domain\n",
		"\nCard.seed (opaque u8) is carried, not explored: it has one value; name the type to give it a domain\n",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("not said: %s in\n%s", want, all)
		}
	}
	if strings.Contains(all, "text 30") {
		t.Errorf("a command that is never given explores nothing:\n%s", all)
	}
}

// TestCarriedMessages: where a text of a name has more values, a message may carry them.
func TestCarriedMessages(t *testing.T) {
	all := strings.Join(checked(t, joins+"    domains: {Named: 0..1}\n").Assumptions, "\n")
	if strings.Contains(all, "JOIN.name") || !strings.Contains(all,
		"Card.title, guest.join.name (text 12) are carried") {
		t.Errorf("%s", all)
	}
}
