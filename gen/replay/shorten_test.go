package replay

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
)

const silent = `
protocol: silent
types: {N: 0..3}
messages: {HELLO: {fields: {n: N}}, BYE: }
roles:
  peer:
    vars: {n: N, warm: bool}
    commands: {choose: {fields: {to: N}}, warmUp: {}, hello: {}, bye: {}}
    initial: idle
    states:
      idle:
        choose: {set: {n: to}}
        warmUp: {set: {warm: "true"}}
        hello: {send: "HELLO{n}"}
        bye: {when: warm, send: BYE, goto: done}
        ignore: [HELLO, BYE]
      done: {final: true, ignore: [HELLO, BYE]}
`

// TestShorten: commands that send nothing are in a run only where something depends on them.
func TestShorten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(silent), 0o666); err != nil {
		t.Fatal(err)
	}
	p, list := compile.Load(file, compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	rec := &Recording{Protocol: p, Strings: &interp.Strings{}, Names: SideNames[:]}
	for i, n := range []int64{0, 2, 2, 1} {
		rec.Frames = append(rec.Frames, Frame{From: 0, To: 1, Packet: i + 1, Message: p.Messages[0], Slots: []int64{n}})
	}
	rec.Frames = append(rec.Frames, Frame{From: 0, To: 1, Packet: 5, Message: p.Messages[1]})
	s, err := Explain(context.Background(), rec, 0, p.Roles, Options{})
	if err != nil || !s.Accepted {
		t.Fatal(s, err)
	}
	if err := s.Run.Validate(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, step := range s.Run.Of(0) {
		got = append(got, step.Event)
	}
	want := "hello, choose{to: 2}, hello, hello, choose{to: 1}, hello, warmUp, bye"
	moved := "hello, choose{to: 2}, hello, hello, warmUp, choose{to: 1}, hello, bye"
	if text := strings.Join(got, ", "); len(got) != 8 || strings.Count(text, "choose") != 2 ||
		strings.Count(text, "warmUp") != 1 {
		t.Errorf("the run is %s; expected something like %s or %s", text, want, moved)
	}
}
