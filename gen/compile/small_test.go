package compile

import (
	"testing"
	"testing/fstest"
)

// TestNothingToSay: specifications in which nothing is wrong, though it could seem so.
func TestNothingToSay(t *testing.T) {
	const head = "protocol: small\nmessages: {A: }\nroles:\n"
	for name, text := range map[string]string{
		"an event called on": head +
			`  peer: {commands: {on: }, initial: off, states: {off: {on: {send: A, goto: lit}, A: ignore}, lit: {A: ignore}}}
`,
		"a rule for a command that another role has, too": head +
			`  peer: {vars: {said: bool}, commands: {go: }, initial: idle, states: {idle: {go: {set: {said: true}, send: A}, A: ignore}}}
  other: {commands: {go: }, initial: idle, states: {idle: {go: {send: A}, A: ignore}}}
checks:
  two: {instances: {a: peer, b: peer}, environment: {go: {when: "!said"}}}
  others: {instances: {a: other, b: other}}
`,
		"loops that a constant makes empty": "consts: {nodes: 1}\n" + head + `  peer:
    vars: {seen: {array: 1..nodes, of: bool}, last: 0..9, who: "0..9?", all: {set: 0..9}}
    commands: {go: {fields: {n: 0..9}}}
    initial: idle
    states:
      idle:
        go:
          - {when: "some(i in 2..nodes: seen[i]) || who == n || n in all", send: A}
          - when: n > 5
            each: {i: 2..nodes}
            do: [{set: {"seen[i]": true, last: i}}]
          - {set: {last: "count(i in 2..nodes: seen[i]) + last % 2"}}
        A: {set: {who: "first(i in 2..nodes: seen[i])", all: "[i for i in 2..nodes if seen[i]]"}}
`,
		"a routine that only some uses make trivial": head + `  peer:
    vars: {n: 0..9, big: bool}
    routines: {put: {fields: {v: 0..9}, do: [{if: v > 3, then: [{set: {big: true}}], else: [{set: {n: v}}]}]}}
    commands: {go: {fields: {k: 0..3}}}
    initial: idle
    states: {idle: {go: [{when: "n == k && !big", call: "put{v: 1}"}, {call: "put{v: k}"}], "A, start": {call: "put{v: 5}", send: A}}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			_, found := Load("spec.yaml", Options{FS: fstest.MapFS{"spec.yaml": {Data: []byte(text)}}})
			if len(found) > 0 {
				t.Error(found)
			}
		})
	}
}
