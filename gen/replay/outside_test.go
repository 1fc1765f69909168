package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
)

const service = `protocol: service
wire: {header: [type: u8], max: 8}
types: {N: 0..9}
messages: {ASK: {id: 1, fields: {n: N}, wire: [n: u8]}, ANSWER: {id: 2, fields: {n: N}, wire: [n: u8]}}
roles:
  client:
    commands: {ask: {fields: {n: N}}}
    initial: idle
    states: {idle: {ask: {send: "ASK{n}"}, ANSWER: ignore}}
  server:
    external: true
    initial: open
    states: {open: {ASK: {send: "ANSWER{n}"}}}
`

// TestOutside: the party that sends what only an external role sends need not be explained, whatever it
// sends; the other one must be.
func TestOutside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.yaml")
	if err := os.WriteFile(file, []byte(service), 0o644); err != nil {
		t.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	var chunks []Chunk
	for i, b := range []string{"<\x01\x05", ">\x02\x07", ">\x02\x05", "<\x01\x04"} {
		from := strings.Index("<>", b[:1])
		chunks = append(chunks, Chunk{From: from, Packet: i + 1, Data: []byte(b[1:])})
	}
	rec := Split(p, chunks, true)
	if rec.Fault != nil || len(rec.Frames) != 4 {
		t.Fatal(rec.Fault, len(rec.Frames))
	}
	if m := Outside(rec, 1); m == nil || m.Name != "server" {
		t.Errorf("the server's side: %v", m)
	}
	if m := Outside(rec, 0); m != nil {
		t.Errorf("the client's side: %v", m)
	}
	for side, accepted := range []bool{true, false} {
		roles := Ours(p)
		if side == 1 {
			roles = p.Roles[1:]
		}
		s, err := Explain(t.Context(), rec, side, roles, Options{})
		if err != nil || s.Accepted != accepted {
			t.Errorf("side %d: accepted %t, %v", side, s.Accepted, err)
		}
	}
}
