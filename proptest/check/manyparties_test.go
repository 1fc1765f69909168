package check

import (
	"strings"
	"testing"
)

// quorum is a protocol in which somebody needs the answers of more than half of those who take part; a part counts
// them.
const quorum = `protocol: quorum
parties: 7
messages: {ASK: , YES: }
channel: {capacity: 4, full: lose}
roles:
  tally:
    vars: {votes: {type: 0..7, init: 1}}
    reports: {enough: }
    initial: open
    states:
      open:
        YES:
          - {when: votes + 1 > parties / 2, set: {votes: votes + 1}, report: enough}
          - {set: {votes: votes + 1}}
  node:
    parts: {tally: {machine: tally}}
    commands: {go: }
    initial: idle
    states:
      idle:
        go: {when: self == 0, send: ASK, to: all, goto: asks}
        ASK: {send: YES, to: sender}
      asks:
        forward: {tally: [YES]}
        tally.enough: {goto: done}
      done: {ignore: [YES]}
checks:
  c:
    instances: {"n[1..MANY]": node}
    quiet: "true"
    claims:
      enough: {always: "n[1].done => n[1].tally.votes == NEED"}
      many: {always: "n[1].parties == MANY && n[1].tally.parties == MANY"}
      comes: {sometimes: "n[1].done"}
`

// TestManyParties: parties is how many instances a check has, in parts too.
func TestManyParties(t *testing.T) {
	for many, need := range map[string]string{"2": "2", "3": "2", "4": "3", "5": "3"} {
		r := checked(t, strings.NewReplacer("MANY", many, "NEED", need).Replace(quorum))
		if !r.Passes || r.Verdict != Holds {
			t.Errorf("%s parties: %s", many, r.Text(true))
		}
	}
}
