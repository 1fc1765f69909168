package check

import "testing"

// hidden is a protocol in which fields have the names of variables: of a message that is handled, of one that is
// forwarded to a part with a key, and of a command with a rule.
const hidden = `protocol: hidden
messages: {PUT: {fields: {v: 0..3, k: bool}}, GIVE: {fields: {v: 0..3, k: bool}}}
channel: {capacity: 2}
roles:
  box:
    vars: {v: 0..3}
    initial: open
    states: {open: {GIVE: {set: {v: msg.v}}}}
  peer:
    vars: {v: {type: 0..3, init: 3}, k: {type: bool, init: true}, old: 0..3}
    parts: {box: {machine: box, key: {k: bool}}}
    commands: {put: {fields: {v: 0..3}}, give: {fields: {v: 0..3}}}
    initial: idle
    states:
      idle:
        put: {send: "PUT{v: msg.v, k: msg.v < v}"}
        give: {send: "GIVE{v: msg.v, k: false}"}
        PUT: {set: {old: v, v: msg.v, k: "msg.k && v == msg.v"}}
        forward: {box: [GIVE]}
checks:
  pair:
    instances: {a: peer, b: peer}
    environment: {put: {times: 1, when: msg.v == v - 1 && len(out) == 0}, give: {times: 1, when: msg.v == 1 && v == 3}}
    quiet: "true"
    claims:
      old: {always: "b.old == 0 && b.v == 3 || b.old == 3 && (b.v == 1 || b.v == 2) && b.k"}
      part: {always: "b.box[true].v == 0 && (b.box[false].v == 0 || b.box[false].v == 1)"}
      given: {sometimes: "b.box[false].v == 1 && b.old == 3 && a.v == 3 && a.k"}
      two: {sometimes: "b.v == 2 && a.v == 2"}
`

// TestHiddenFields: msg.v is the field of the event, v the variable; what is forwarded are the fields.
func TestHiddenFields(t *testing.T) {
	if r := checked(t, hidden); !r.Passes || r.Verdict != Holds {
		t.Errorf("%s", r.Text(true))
	}
}
