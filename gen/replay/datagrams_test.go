package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
)

// protocolOf compiles the text of a specification.
func protocolOf(t *testing.T, text string) *model.Protocol {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

const counted = `protocol: counted
wire: {header: [type: u8], max: 8}
types: {N: 0..3}
channel: {order: ORDER, LOSSYduplicates: true, full: lose}
messages: {COUNT: {id: 1, fields: {n: N}, wire: [n: u8]}, YES: {id: 2, fields: {n: N}, wire: [n: u8]}}
roles:
  client:
    vars: {n: N}
    commands: {count: }
    initial: idle
    states: {idle: {count: {when: n < 3, set: {n: n + 1}, send: "COUNT{n}"}, YES: ignore}}
  server:
    vars: {n: N}
    initial: idle
    states:
      idle:
        COUNT:
          - {when: n == this, send: "YES{n}"}
          - {when: n > this, set: {this: n}, send: "YES{n}"}
          - {}
`

// TestDatagrams: of one datagram channel a frame may be lost behind the capture, may have been copied before it, and
// may have been overtaken, as far as the channel says. Digits are COUNTs of the client, letters the answers: a to 1.
func TestDatagrams(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(counted, "vars: {n: N}\n    initial", "vars: {this: N}\n    initial"),
		"LOSSY", "lossy: true, ")
	for _, test := range []struct {
		said           string
		client, server [2]bool // accepted where order is kept, and where it is not
	}{
		{"1a2b3c", [2]bool{true, true}, [2]bool{true, true}},
		{"12b3c", [2]bool{true, true}, [2]bool{true, true}},   // the 1 is lost
		{"11a22b", [2]bool{true, true}, [2]bool{true, true}},  // copies of the client's
		{"1aa2b", [2]bool{true, true}, [2]bool{true, true}},   // a copy of an answer
		{"1 1a", [2]bool{false, false}, [2]bool{true, true}},  // too long after for a copy
		{"21ba", [2]bool{false, true}, [2]bool{false, true}},  // overtaken
		{"1b2a", [2]bool{true, true}, [2]bool{false, false}},  // an answer to what was not asked yet
		{"13c", [2]bool{false, false}, [2]bool{true, true}},   // 2 was never sent
		{"123c1a", [2]bool{true, true}, [2]bool{false, true}}, // the copy of 1 comes late: 3 has gone before
		{"12a33c", [2]bool{true, true}, [2]bool{true, true}},  // the 2 is lost, or its answer before the capture
	} {
		for k, order := range []string{"fifo", "any"} {
			p := protocolOf(t, strings.ReplaceAll(text, "ORDER", order))
			at := time.Unix(1, 0)
			var chunks []Chunk
			for i, c := range test.said {
				at = at.Add(time.Millisecond)
				switch {
				case c == ' ':
					at = at.Add(longestQueue + time.Second)
				case c >= 'a':
					chunks = append(chunks, Chunk{From: 1, Packet: i + 1, Time: at, Data: []byte{2, byte(c - 'a' + 1)}})
				default:
					chunks = append(chunks, Chunk{Packet: i + 1, Time: at, Data: []byte{1, byte(c - '0')}})
				}
			}
			rec := Split(p, chunks, true)
			for side, want := range [2]bool{test.client[k], test.server[k]} {
				s, err := Explain(t.Context(), rec, side, p.Roles[side:side+1], Options{})
				if err != nil || s.Accepted != want {
					t.Errorf("%s, order %s, side %d: accepted %t, %v", test.said, order, side, s.Accepted, err)
				}
				if err := s.Run.Validate(); err != nil {
					t.Errorf("%s, order %s, side %d: %v", test.said, order, side, err)
				}
			}
		}
	}
}
