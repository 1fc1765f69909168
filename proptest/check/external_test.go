package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/lint"
	"github.com/parley-go/parley/proptest/check"
)

const service = `protocol: service
messages: {ASK: {fields: {n: 0..3}}, BYE: {}, ANSWER: {}}
channel: {capacity: 4}
roles:
  client:
    commands: {ask: {fields: {n: 0..3}}, leave: {}}
    initial: idle
    states:
      idle: {ask: {send: "ASK{n}", goto: waiting}, leave: {send: BYE, goto: left}}
      waiting: {ANSWER: {goto: idle}, leave: {send: BYE, goto: left}}
      left: {ANSWER: ignore}
  server:
    external: EXTERNAL
    commands: {rest: {}}
    initial: open
    states:
      open: {ASK: {when: n < 3, send: ANSWER}, rest: {goto: resting}}
      resting: {}
      broken: {}
checks:
  both:
    instances: {c: client, s: server}
    quiet: true
    claims: {asks: {sometimes: c.waiting}}
`

// TestExternal: an external role ignores what it does not mention, and nobody asks that its lines are
// used; a role of ours refuses, and is asked.
func TestExternal(t *testing.T) {
	for _, external := range []string{"true", "false"} {
		file := filepath.Join(t.TempDir(), "service.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(service, "EXTERNAL", external)), 0o644); err != nil {
			t.Fatal(err)
		}
		p, list := compile.Load(file, compile.Options{})
		if p == nil {
			t.Fatal(list)
		}
		warned := false
		for _, d := range lint.Protocol(p) {
			warned = warned || strings.Contains(d.Message, "server") || strings.Contains(d.Message, "ASK")
		}
		r, list, err := check.Suite(t.Context(), file, check.Config{})
		if r == nil || err != nil {
			t.Fatal(list, err)
		}
		var bad []string
		for _, c := range r.Checks[0].Claims {
			if c.Result == check.Violated {
				bad = append(bad, c.Name)
			}
		}
		assumed := slices.Contains(r.Checks[0].Assumptions,
			"server is external: it does only what is described, and ignores what it does not mention")
		if external == "true" && (len(bad) > 0 || !r.Passes || !assumed || warned) {
			t.Errorf("external: %v are violated, passes %t, assumed %t, warned %t", bad, r.Passes, assumed, warned)
		}
		if external == "false" && (!slices.Equal(bad, []string{check.UnspecifiedReception}) || assumed) {
			t.Errorf("of ours: %v are violated, assumed %t", bad, assumed)
		}
	}
}
