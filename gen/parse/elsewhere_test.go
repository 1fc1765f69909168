package parse

import (
	"fmt"
	"testing"
)

// TestElsewhere: each word of another language gets its remedy where somebody writes it, and none of them is a word
// of this one there.
func TestElsewhere(t *testing.T) {
	places := map[string]struct{ text, behind string }{
		"a branch":                        {"roles: {r: {states: {s: {e: [{%s: %s}]}}}}", "x"},
		"what a state does with an event": {"roles: {r: {states: {s: {e: {%s: %s}}}}}", "x"},
		"a state":                         {"roles: {r: {states: {s: {%s: %s}}}}", "deep"},
		"a role":                          {"roles: {r: {%s: %s}}", "x"},
		"a check":                         {"checks: {c: {%s: %s}}", "x"},
		"a claim":                         {"checks: {c: {claims: {d: {%s: %s}}}}", "x"},
		"a specification":                 {"%s: %s", "x"},
	}
	for what, table := range elsewhere {
		p, known := places[what]
		if !known || len(table) == 0 {
			t.Errorf("%s: %d words, and no place to try them", what, len(table))
		}
		for word, hint := range table {
			_, list := File("t.yaml", fmt.Appendf(nil, p.text, word, p.behind))
			if len(list) != 1 || list[0].Code != "FSM007" || list[0].Hint != hint {
				t.Errorf("%s, %s: %v", what, word, list)
			}
		}
	}
	// An event may have such a name.
	if _, list := File("t.yaml", []byte("roles: {r: {states: {s: {after: {goto: s}, on: ignore}}}}")); len(list) != 0 {
		t.Errorf("events: %v", list)
	}
}
